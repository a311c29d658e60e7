/* hungry_lion.h -- the worked example of the lecture notes: one head of attention over eleven
 * words, small enough for paper. */
#ifndef HUNGRY_LION_H
#define HUNGRY_LION_H

#include <heed/lesson.h>
#include <heed/nn.h>

enum { LION_TOKENS = 11, LION_FEATURES = 10, LION_KEY = 3, LION_VALUE = 2 };

extern const char *const lion_tokens[LION_TOKENS];
extern const char *const lion_features[LION_FEATURES]; /* columns of X, rows of W */
extern const double lion_x[LION_TOKENS * LION_FEATURES];
extern const double lion_w_q[LION_FEATURES * LION_KEY];
extern const double lion_w_k[LION_FEATURES * LION_KEY];
extern const double lion_w_v[LION_FEATURES * LION_VALUE];

/* The lecture notes' remarks on the rows of W_Q, W_K and W_V; "" where there is none. */
extern const char *const lion_queries[LION_FEATURES], *const lion_offers[LION_FEATURES],
                                                          *const lion_passes[LION_FEATURES];

/* The head with these numbers, or with others for X. */
heed_lesson_args lion_args(const double *x);
/* The same head computed by the library's ops, (1,T,d2): softmax(Q K' / sqrt(e)) V. */
heed_tensor *lion_apply(heed_tape *t);

#endif
