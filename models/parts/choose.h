/* choose.h -- settings that models choose by the data of a training run: members `choose` and
 * `choices` of heed_model. */
#ifndef MODELS_CHOOSE_H
#define MODELS_CHOOSE_H

#include "common.h"

/* What the beginning of a text file looks like. */
typedef struct {
    double bytes;                         /* of the file */
    size_t lines, sentences;              /* lines that are not blank; those that end like one */
    size_t words, longest, longest_bytes; /* words and marks; of the longest line */
} text_look;
/* Looks at the first MiB. False: there is nothing to see, or it is not a text. */
bool heed__look_at_text(const char *path, text_look *out);

/* A smaller batch in more steps, of as many examples, where neither was given, and the settings
 * `more` that suit it: "lr=0.0014", or "". */
bool heed__choose_batch(heed_choices *k, int batch, const char *more);

/* Masked and causal language models. */
bool heed__choose_mlm(heed_choices *k);
bool heed__choose_gpt(heed_choices *k);
#define TEXT_CHOICES                                                                               \
    "packing block val-split layers width norm init-std batch steps lr warmup dropout decay"

bool heed__choose_seq2seq(heed_choices *k);
bool heed__choose_rnn(heed_choices *k);
#define SEQ2SEQ_CHOICES "tokenizer vocab batch steps lr"
#define RNN_CHOICES     "tokenizer vocab batch steps"

bool heed__choose_cnn(heed_choices *k);
#define CNN_CHOICES "batch steps lr"
bool heed__choose_caption(heed_choices *k);
#define CAPTION_CHOICES "batch steps"
bool heed__choose_vit(heed_choices *k);
#define VIT_CHOICES "steps dropout"

#endif
