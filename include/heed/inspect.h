/* heed/inspect.h -- numbers about a model and an input. */
#ifndef HEED_INSPECT_H
#define HEED_INSPECT_H

#include <heed/base.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
