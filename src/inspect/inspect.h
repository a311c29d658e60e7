/* inspect.h -- what the analyses share: an inspected input as the inputs of its model. */
#ifndef HEED_INSPECT_PRIVATE_H
#define HEED_INSPECT_PRIVATE_H

#include <heed/inspect.h>

/* Whether s is open and nothing has failed: what every function of one asks first. */
bool heed__inspectable(const heed_inspection *s);
/* Inputs of the model on t: so many rows, each of them the input. all: of a model of masks, the
 * logits of all positions instead of those of the masks. */
bool heed__inspection_inputs(const heed_inspection *s, heed_tape *t, int rows, bool all,
                             heed_model_input *out);
/* The stack that answers: that of a pair's cross attention, else of the model's first layer. */
heed_stack heed__inspection_stack(const heed_inspection *s);
/* False, with an error, where nothing is predicted: a model of masks, and a text without [MASK]. */
bool heed__inspection_asked(const heed_inspection *s);

/* Calls progress, unless it is NULL. False, with HEED_INTERRUPTED, where it says so. */
bool heed__progress(heed_ctx *c, heed_progress progress, void *user, uint64_t done, uint64_t all);

#endif
