/* hungry_lion.h -- the worked example of the notes "Hungry lion" in docs/notes.md: one head of
 * attention over eleven words, small enough for paper. */
#ifndef HUNGRY_LION_H
#define HUNGRY_LION_H

#include <heed/lesson.h>

enum { LION_TOKENS = 11, LION_FEATURES = 10, LION_KEY = 3, LION_VALUE = 2 };

extern const char *const lion_tokens[LION_TOKENS];
extern const char *const lion_features[LION_FEATURES]; /* columns of X, rows of W */
extern const double lion_x[LION_TOKENS * LION_FEATURES];
extern const double lion_w_q[LION_FEATURES * LION_KEY];
extern const double lion_w_k[LION_FEATURES * LION_KEY];
extern const double lion_w_v[LION_FEATURES * LION_VALUE];

/* The head with these numbers, or with others for X. */
heed_attention_trace_args lion_args(const double *x);

#endif
