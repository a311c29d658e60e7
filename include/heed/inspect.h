/* heed/inspect.h -- numbers about a model and an input: what it attends to, and whether that
 * matters. */
#ifndef HEED_INSPECT_H
#define HEED_INSPECT_H

#include <heed/fit.h>
#include <heed/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one input of a run ---- */

/* A prediction of the model on an input: row `row` of its logits, which is about a position of an
 * axis. */
typedef struct {
    int axis, query, row; /* query -1: about the whole input */
    char says[32];        /* what is predicted there: "token 5", "the class", "[MASK]" */
} heed_question;

/* One input of a run, ready to be passed through its model, with the axes of its record and the
 * predictions that the model makes on it. A copy of the struct whose ids or x point to other
 * numbers, as many, is another input with the same axes: occlusion passes those. */
enum { HEED_INSPECTION_AXES = 3 };
typedef struct {
    heed_run *run;        /* must outlive it */
    heed_example example; /* what was read */
    char *title;          /* the input in a line; of a pair "source -> target" */
    int axis_count;
    /* "text", "picture" or "input"; of a pair "source", "target" and "target input", which is what
     * the decoder reads. None for a model of pictures without a grid of patches. */
    heed_record_axis axes[HEED_INSPECTION_AXES];
    char **labels; /* of an axis that the example has none for, and which of them are special */
    unsigned char *special;
    int question_count; /* as model->answers says: of HEED_ANSWER_MASKED one for each [MASK] */
    heed_question *questions;
    int count; /* tokens of the text, or of the source */
    int32_t *ids;
    int target_count; /* of a pair: the target, and the same shifted right behind [CLS] */
    int32_t *target, *read;
    heed_real *x; /* pixels (1,size,size,channels), or numbers (1,T) or (1,T,d) */
    int dims, shape[HEED_DIMS];
} heed_inspection;

/* Takes over an example that was read by heed_run_reader, which is left empty; title: the text, or
 * the name of the picture. False: see the context. Freed by heed_inspection_free in any case, as
 * after the functions below. */
HEED_API bool heed_inspection_open(heed_inspection *s, heed_run *r, heed_example *example,
                                   const char *title);
/* A text of n bytes, or a source with its target: a text, or for NULL what the model makes of it,
 * the most probable token each time. */
HEED_API bool heed_inspection_text(heed_inspection *s, heed_run *r, const char *text, size_t n,
                                   const char *target);
/* Tokens of a text that are known already. */
HEED_API bool heed_inspection_tokens(heed_inspection *s, heed_run *r, const int32_t *ids,
                                     int count);
/* A picture, which is brought to the channels of the run if they agree or convert says so. name:
 * to show. */
HEED_API bool heed_inspection_picture(heed_inspection *s, heed_run *r, heed_picture *p,
                                      const char *name, bool convert);
/* Numbers (1,T) or (1,T,d), copied, of a model of HEED_INPUT_DENSE: positions are labelled 1 to T.
 */
HEED_API bool heed_inspection_numbers(heed_inspection *s, heed_run *r, const heed_real *x, int dims,
                                      const int *shape, const char *title);
HEED_API void heed_inspection_free(heed_inspection *s);
/* Passes it through its model on a tape that has begun: logits (rows, classes or tokens), with a
 * row for each question at its `row`. NULL: see the context. */
HEED_API heed_tensor *heed_inspection_logits(const heed_inspection *s, heed_tape *t);
/* The class or token that a question is about: of a pair the target's own token, else the most
 * probable one by the logits y. */
HEED_API int heed_inspection_class(const heed_inspection *s, const heed_question *q,
                                   const heed_tensor *y);
/* The name of an output of the run's model: a token's text, or the name of a class. number: memory
 * for the text of a class without a name. */
HEED_API const char *heed_class_label(const heed_run *r, int class_index, char number[16]);

/* ---- what a model attends to ---- */

/* The attention layers of a run as blocks without arrays, in the model's order; their queries and
 * keys are axes of an example of it. To be freed by free(). A layer of fixed weights (attending's
 * `fixed`) is none. NULL, and HEED_USAGE, for a model without attention. */
HEED_API heed_record_block *heed_attention_layers(const heed_run *r, int *count);

/* What a record keeps. Zeros: everything. Layers and heads are numbered from 0, layers within each
 * stack. */
typedef struct {
    int layer_count, head_count;
    const int *layers, *heads;
    const heed_stack *stack; /* this stack alone */
    bool lean;               /* the weights alone: no q, k, v, raw, scores */
    int top;                 /* guesses of each prediction; 0: 5, at most 1000 */
    double most;             /* bytes that the record may take; 0: 256 MB, negative: any number */
} heed_capture_args;
/* Passes s through its model in eval mode, on the run's tape, and records what it attended to and
 * answered. args NULL: everything. To be freed by heed_record_free; NULL: see the context. */
HEED_API heed_record *heed_capture(const heed_inspection *s, const heed_capture_args *args);
/* The same in parts, for a pass on a tape of the caller's own: heed_capture_probe before the tape
 * begins, heed_capture_read after y = heed_inspection_logits on it. */
HEED_API void heed_capture_probe(const heed_inspection *s, const heed_capture_args *args,
                                 heed_tape *t);
HEED_API heed_record *heed_capture_read(const heed_inspection *s, const heed_capture_args *args,
                                        const heed_tape *t, const heed_tensor *y);

/* ---- what attention adds up to ---- */

/* Attention of several layers, followed back to the input. */
typedef struct {
    int layers, heads, tokens;
    const heed_real *const *weights; /* (layers) of (heads,T,T), the first layer first */
    bool max;       /* heads are fused by their largest weight, and rows brought back to a sum of 1;
                       else by their mean */
    double discard; /* share of each row's weights that is dropped, the weakest first, before the
                       rest is brought back to a sum of 1; in [0, 1) */
} heed_rollout_args;
/* Attention rollout: R = A'_L ... A'_1 (T,T) into out, where A'_l = (A_l + I) / 2 and A_l is layer
 * l's attention with its heads fused. Row t tells how much of token t after the last layer comes
 * from each token of the input, as if a token were a mixture of the tokens that it attends to and,
 * by the residual connection, of itself: what values and feed-forward networks do is not seen.
 * Rows sum to 1; a row that attends to nothing is itself. For a picture without [CLS] take the mean
 * of the rows. In a causal model products of triangles leave ever more to token 0, whatever it
 * means. In double; HEED_USAGE for sizes that are none. Abnar & Zuidema 2020, sec. 4. */
HEED_API bool heed_rollout(heed_ctx *c, const heed_rollout_args *a, heed_real *out);

/* ---- what a classifier takes for what ---- */

/* What is predicted of one thing whose label is known. */
typedef struct {
    int label, predicted;
    int rank; /* classes besides the label that are at least as probable as it: 0 is correct */
    double p, loss; /* of what was predicted; -log p of the label */
} heed_prediction;
/* From a row of logits (classes); the lowest index wins a tie. 0 <= label < classes. */
HEED_API heed_prediction heed_prediction_of(const heed_real *logits, int classes, int label);
/* How often each class was predicted for each: counts (classes,classes), rows by label, columns by
 * prediction. The caller's to free(). NULL: no memory. */
HEED_API size_t *heed_confusion(heed_ctx *c, const heed_prediction *list, size_t count,
                                int classes);
/* A class of such a table. */
typedef struct {
    size_t count, predicted, correct; /* things of it; times it was predicted, and correctly */
    double recall, precision;         /* correct / count, correct / predicted; NAN: of nothing */
} heed_class_score;
HEED_API heed_class_score heed_confusion_class(const size_t *confusion, int classes, int label);

/* ---- maps beside the attention: does it matter? ---- */

/* Is told of progress; false stops the analysis with HEED_INTERRUPTED. */
typedef bool (*heed_progress)(void *user, uint64_t done, uint64_t all);

typedef struct {
    bool max;       /* heads are fused by their largest weight; else by their mean */
    double discard; /* share of each row's weakest weights that is dropped, in [0, 1) */
} heed_rollout_add_args;
/* Adds the map "rollout" to the record of s: heed_rollout of all layers of self-attention over the
 * first axis, of all heads, whatever the record holds; of a pair that of its encoder. args NULL:
 * zeros. HEED_USAGE where there is no such attention. */
HEED_API bool heed_rollout_add(const heed_inspection *s, const heed_rollout_add_args *args,
                               heed_record *record);

typedef struct {
    int window; /* pictures: side, in patches, of the square that is hidden at a time; 0: 1 */
    heed_progress progress; /* or NULL */
    void *user;
} heed_occlusion_args;
/* Adds the map "occlusion": the probability of what the model says at each of its questions, minus
 * the same where a token of the input is [MASK] (a model of masks), else [UNK], or a patch has the
 * mean colour, or a position's numbers are 0; and "occlusion, log-odds", the same of ln p / (1 -
 * p); both of the value itself where the model has one output. What is positive speaks for the
 * prediction. What is said of the whole input is in all rows. Of a pair the rows are the target's
 * tokens. args NULL: zeros. Zeiler & Fergus 2014, sec. 4.2. */
HEED_API bool heed_occlusion_add(const heed_inspection *s, const heed_occlusion_args *args,
                                 heed_record *record);
/* Patches of a picture, numbered row by row, become 0 in x, a copy of s->x: the mean colour. */
HEED_API void heed_hide_patches(const heed_inspection *s, heed_real *x, const int *patches,
                                int count);

typedef struct {
    int question; /* whose maps of single layers are added, too; negative: the last */
    bool only;    /* that question's row alone: one backward pass instead of one a question */
    bool by_head; /* these maps are of each head; else summed over a layer's heads */
    heed_progress progress; /* or NULL */
    void *user;
} heed_gradient_args;
/* Adds the map "gradient": attention times the gradient of the logit y of a question's class,
 * G_l = sum over heads of (A_l x dy/dA_l)+ by layer. Over all layers, R = (I + G_L) .. (I + G_1)
 * minus the I that is the token itself: row q of the question at q. Chefer et al. 2021, "Generic
 * attention-model explainability", eqs. 5 and 6. Of a pair the same over source and target as one
 * sequence, in which the encoder's layers mix the source, the decoder's own the target, and the
 * cross layers bring one to the other: "gradient" is its part over the source, "gradient, target"
 * that over what the decoder read. Gradients of some parameters change: not for use between
 * heed_backward and heed_step of a training. */
HEED_API bool heed_gradient_add(const heed_inspection *s, const heed_gradient_args *args,
                                heed_record *record);

/* ---- influence: how far each place of the output moves with each place of the input ---- */

typedef struct {
    int draws;              /* random directions of y_t; 0: exact where that takes at most
                               HEED_INFLUENCE_EXACT directions, else HEED_INFLUENCE_DRAWS */
    bool exact;             /* exact, however long it takes */
    heed_progress progress; /* or NULL */
    void *user;
} heed_influence_args;
enum { HEED_INFLUENCE_EXACT = 4096, HEED_INFLUENCE_DRAWS = 16 };
/* A record with the map "influence": the Frobenius norm of d y_t / d x_s, a row for each place t of
 * the output and a column for each place s of the input. y_t is what the output layer reads at t
 * (before the mean, or the choice of [CLS], that makes one vector of it); x_s the embedding of
 * token or patch s, as model->embedding names it; without one the input itself, of a picture the
 * pixels that lie under a cell of its last feature map. An estimate's squares are unbiased: E |u'
 * J|^2 = |J|_F^2 for u of independent signs. Hutchinson 1990. The map's help says which it is. To
 * be freed by heed_record_free; NULL: see the context. */
HEED_API heed_record *heed_influence(const heed_inspection *s, const heed_influence_args *args);

#ifdef __cplusplus
}
#endif
#endif
