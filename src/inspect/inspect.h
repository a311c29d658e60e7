/* inspect.h -- shared by the analyses: an inspected input as the inputs of its model. */
#ifndef HEED_INSPECT_PRIVATE_H
#define HEED_INSPECT_PRIVATE_H

#include <heed/inspect.h>

/* Whether s is open and nothing has failed; every function of an inspection checks this first. */
bool heed__inspectable(const heed_inspection *s);
/* Makes inputs of the model on t: `rows` rows, each a copy of the input. all: for a masked model,
 * logits of all positions instead of the masks only. */
bool heed__inspection_inputs(const heed_inspection *s, heed_tape *t, int rows, bool all,
                             heed_model_input *out);
/* The stack of the predictions: for a pair, that of the cross attention, else that of the model's
 * first layer. */
heed_stack heed__inspection_stack(const heed_inspection *s);
/* Fails if nothing is predicted: a masked model and a text without [MASK]. */
bool heed__inspection_has_questions(const heed_inspection *s);

/* Index of the first largest of n numbers. */
static inline int heed__largest(const heed_real *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Calls progress, unless it is NULL. Fails with HEED_INTERRUPTED if it returns false. */
bool heed__progress(heed_ctx *c, heed_progress progress, void *user, int64_t done, int64_t all);

#endif
