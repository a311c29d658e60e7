/* attribution.h -- whether what a model attends to matters: maps that are added to the record of a
 * subject, beside its attention. */
#ifndef HEED_MATTERS_H
#define HEED_MATTERS_H

#include "kinds/example.h"

/* Stands beside whatever shows attention or its worth. */
#define NO_EXPLANATION                                                                             \
    "Attention alone is no explanation: it shows where a head looks, not why the model answers"

typedef struct {
    bool max;       /* heads fused by their largest weight; else by their mean */
    double discard; /* share of each row's weakest weights that is dropped */
} rollout_wish;
/* "rollout": attention of all layers, followed back to the input, of the encoder or of gpt's
 * blocks, over all heads whatever the record holds. Of a pair of texts that of its encoder. False,
 * with an error: there is no self-attention to follow. */
bool rollout_add(const heed_example *s, const rollout_wish *w, heed_record *record);

typedef struct {
    int window; /* pictures: side, in patches, of the square that is covered at a time; 0: 1 */
    bool quiet; /* without progress */
} occlusion_wish;
/* "occlusion": the probability of what the model says at each of its questions, minus the same
 * where one token of the input is [MASK] (mlm) or [UNK], or a patch has the mean colour; and
 * "occlusion, log-odds", the same of ln p / (1 - p). What is positive speaks for the prediction. A
 * row of what is said of the whole input stands in all rows. Of a pair: of the target's tokens. */
bool occlusion_add(program *p, const heed_example *s, const occlusion_wish *w, heed_record *record);

typedef struct {
    int question; /* of the subject, whose maps of single layers are added, too; -1: the last */
    bool only;    /* that question's row alone: one backward pass instead of one a heed_question */
    bool by_head; /* these are of each head; else summed over a layer's heads */
    bool quiet;
} gradient_wish;
/* "gradient": attention times the gradient of the logit y of the question's prediction,
 * G_l = sum over heads of (A_l x dy/dA_l)+ by layer. Over all layers, R = (I + G_L) .. (I + G_1)
 * minus the I that stands for the token itself: row q of the question at q. Chefer et al. 2021,
 * "Generic attention-model explainability", eqs. 5 and 6. Of a pair the same over source and target
 * as one sequence, in which the encoder's layers mix the source, the decoder's own the target, and
 * the cross layers bring one to the other: "gradient" is its part over the source, "gradient,
 * target" that over what the decoder read. */
bool gradient_add(program *p, const heed_example *s, const gradient_wish *w, heed_record *record);

/* False, with an error, where the model is asked nothing: mlm without [MASK]. */
bool has_questions(const heed_example *s);
/* Patches of a picture (numbered row by row) become the mean colour. */
void hide_patches(const heed_example *s, heed_real *x, const int *patches, int count);

#endif
