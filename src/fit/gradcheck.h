/* gradcheck.h -- for the tests that compare instruction sets and team sizes on the cases of the
 * gradient check. */
#ifndef HEED_FIT_GRADCHECK_H
#define HEED_FIT_GRADCHECK_H

#include <heed/op.h>

enum { HEED__CASE_INPUTS = 16 }; /* at most */

/* Runs one case of op, forward and backward, as heed_gradcheck does: values gets its output and the
 * gradients of its inputs, allocated on `memory`, which it begins. Returns their number, 0 on
 * error. */
int heed__case_run(heed_ctx *c, const heed_op *op, int index, heed_tape *memory,
                   heed_tensor *values[HEED__CASE_INPUTS + 1]);

#endif
