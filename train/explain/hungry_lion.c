/* hungry_lion.c -- the worked example of the lecture notes, shared by the page, the terminal and
 * the tests. */
#include "explain/hungry_lion.h"

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

/* The matrix w (LION_FEATURES, cols) applied to x (1,T,d) -> (1,T,cols). */
static heed_tensor *project(heed_tape *t, heed_tensor *x, const double *w, int cols) {
    heed_real copy[LION_FEATURES * LION_KEY];
    for (int i = 0; i < LION_FEATURES * cols; i++) copy[i] = (heed_real)w[i];
    return heed_matmul(t, x, heed_input(t, copy, 3, (int[]){1, LION_FEATURES, cols}));
}

heed_tensor *lion_apply(heed_tape *t) {
    heed_real copy[LION_TOKENS * LION_FEATURES];
    for (int i = 0; i < LION_TOKENS * LION_FEATURES; i++) copy[i] = (heed_real)lion_x[i];
    heed_tensor *x = heed_input(t, copy, 3, (int[]){1, LION_TOKENS, LION_FEATURES});
    heed_tensor *q = project(t, x, lion_w_q, LION_KEY);
    heed_tensor *k = project(t, x, lion_w_k, LION_KEY);
    heed_tensor *v = project(t, x, lion_w_v, LION_VALUE);
    heed_attention_args a = {.heads = 1, .key = LION_KEY, .value = LION_VALUE};
    return heed_attention(heed_at(t, "lion"), q, k, v, NULL, NULL, &a);
}
