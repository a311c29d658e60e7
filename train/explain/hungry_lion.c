/* hungry_lion.c -- the worked example of the lecture notes, shared by the page, the terminal and
 * the tests. */
#include "explain/hungry_lion.h"

#include <math.h>

const char *const lion_tokens[] = {"The",   "hungry", "lion", "attacked", "the",  "slow",
                                   "zebra", "in",     "the",  "tall",     "grass"};

const char *const lion_features[] = {"DET", "ADJ", "NOUN", "VERB", "DET",
                                     "ADJ", "OBJ", "PREP", "DET",  "ADJ"};

/* clang-format off */
const double lion_x[] = {
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* The */
    0, 2, 0, 0, 0, 0, 0, 0, 0, 0, /* hungry */
    0, 1, 3, 0, 0, 0, 0, 0, 0, 0, /* lion */
    0, 0, 1, 3, 0, 0, 1, 0, 0, 0, /* attacked */
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* the */
    0, 2, 0, 0, 0, 0, 0, 0, 0, 0, /* slow */
    0, 0, 0, 0, 0, 1, 3, 0, 0, 0, /* zebra */
    0, 0, 0, 0, 2, 0, 0, 0, 0, 1, /* in */
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* the */
    0, 2, 0, 0, 0, 0, 0, 0, 0, 0, /* tall */
    0, 0, 1, 0, 0, 2, 0, 1, 0, 0, /* grass */
};

const double lion_w_q[] = {
    0, 0, 0, /* DET */
    1, 0, 0, /* ADJ */
    0, 2, 0, /* NOUN */
    1, 1, 1, /* VERB */
    0, 0, 0, /* DET */
    1, 0, 0, /* ADJ */
    0, 0, 2, /* OBJ */
    0, 1, 1, /* PREP */
    0, 0, 0, /* DET */
    1, 0, 0, /* ADJ */
};
const char *const lion_queries[] = {
    "", "queries NOUN", "queries VERB", "queries NOUN, OBJ, CONTEXT", "",
    "queries NOUN", "queries VERB", "queries CONTEXT", "", "queries NOUN"};

const double lion_w_k[] = {
    0, 0, 0,
    2, 0, 0,
    2, 0, 0,
    0, 2, 2,
    0, 0, 0,
    2, 0, 0,
    0, 0, 3,
    0, 1, 1,
    0, 0, 0,
    2, 0, 0,
};
const char *const lion_offers[] = {
    "", "offers descriptive info", "offers identity", "offers strong verb/action", "",
    "offers descriptive info", "offers identity", "", "", "offers descriptive info"};

const double lion_w_v[] = {
    0, 0,
    1, 0,
    1, 0,
    1, 1,
    0, 0,
    1, 0,
    0, 1,
    0, 1,
    0, 0,
    1, 0,
};
const char *const lion_passes[] = {
    "", "passes on ADJ info", "passes on NOUN info", "passes on VERB info", "",
    "passes on ADJ info", "passes on OBJ info", "passes on PREP/CONTEXT", "",
    "passes on ADJ info"};
/* clang-format on */

heed_lesson_args lion_args(const double *x) {
    return (heed_lesson_args){.tokens = LION_TOKENS,
                              .features = LION_FEATURES,
                              .key = LION_KEY,
                              .value = LION_VALUE,
                              .x = x,
                              .w_q = lion_w_q,
                              .w_k = lion_w_k,
                              .w_v = lion_w_v,
                              .beta = (double)NAN};
}

static heed_tensor *input(heed_tape *t, const double *x, int rows, int cols) {
    heed_real copy[LION_TOKENS * LION_FEATURES];
    for (int i = 0; i < rows * cols; i++) copy[i] = (heed_real)x[i];
    return heed_input(t, copy, 3, (int[]){1, rows, cols});
}

heed_tensor *lion_apply(heed_tape *t) {
    heed_tensor *x = input(t, lion_x, LION_TOKENS, LION_FEATURES);
    heed_tensor *q = heed_matmul(t, x, input(t, lion_w_q, LION_FEATURES, LION_KEY));
    heed_tensor *k = heed_matmul(t, x, input(t, lion_w_k, LION_FEATURES, LION_KEY));
    heed_tensor *v = heed_matmul(t, x, input(t, lion_w_v, LION_FEATURES, LION_VALUE));
    heed_attention_args a = {.heads = 1, .key = LION_KEY, .value = LION_VALUE};
    return heed_attention(heed_at(t, "lion"), q, k, v, NULL, NULL, &a);
}
