/* lesson_bias.c -- a head with biases on the patches of one observation: Q = z W_q + B_q, K = z W_k
 * + B_k, V = z W_v + B_v. The sizes all differ, so that each formula shows its own. */
#include "explain/explain.h"

#include <math.h>

enum { PATCHES = 3, WIDTH = 4, KEY = 2, VALUE = 3 };
static const char *const patches[] = {"patch 1", "patch 2", "patch 3"};

/* clang-format off */
static const double z[] = {1, 0, 2, 0,   0, 1, 0, 1,   1, 1, 0, 0};
static const double w_q[] = {1, 0,   0, 1,   1, 1,   0, 2};
static const double w_k[] = {0, 1,   1, 0,   1, 0,   1, 2};
static const double w_v[] = {1, 0, 0,   0, 1, 0,   0, 0, 1,   1, 1, 0};
static const double b_q[] = {0.5, -0.5}, b_k[] = {-1, 0}, b_v[] = {0, 1, -1};
/* clang-format on */

bool bias_head(explaining *e) {
    heed_attention_trace_args a = {.tokens = PATCHES,
                                   .features = WIDTH,
                                   .key = KEY,
                                   .value = VALUE,
                                   .x = z,
                                   .w_q = w_q,
                                   .w_k = w_k,
                                   .w_v = w_v,
                                   .b_q = b_q,
                                   .b_k = b_k,
                                   .b_v = b_v,
                                   .beta = (double)NAN};
    return worked_make(e, &a,
                       (worked){.example = "bias",
                                .title = "three patches of one observation, with biases",
                                .tokens = patches,
                                .picture = true});
}
