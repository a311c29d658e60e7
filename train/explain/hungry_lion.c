/* hungry_lion.c -- the worked example of the notes "Hungry lion" in docs/notes.md (they begin
 * "Previously we had CNNs & RNNs"): its words and numbers, for the program and the tests. */
#include "explain/hungry_lion.h"

#include "explain/explain.h"

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
static const char *const lion_queries[] = {
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
static const char *const lion_offers[] = {
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
static const char *const lion_passes[] = {
    "", "passes on ADJ info", "passes on NOUN info", "passes on VERB info", "",
    "passes on ADJ info", "passes on OBJ info", "passes on PREP/CONTEXT", "",
    "passes on ADJ info"};
/* clang-format on */

heed_attention_trace_args lion_args(const double *x) {
    return (heed_attention_trace_args){.tokens = LION_TOKENS,
                                       .features = LION_FEATURES,
                                       .key = LION_KEY,
                                       .value = LION_VALUE,
                                       .x = x,
                                       .w_q = lion_w_q,
                                       .w_k = lion_w_k,
                                       .w_v = lion_w_v,
                                       .beta = (double)NAN};
}

bool lion_head(explaining *e) {
    heed_attention_trace_args a = lion_args(lion_x);
    return worked_make(
        e, &a,
        (worked){.example = "lion",
                 .title = "The hungry lion attacked the slow zebra in the tall grass",
                 .tokens = lion_tokens,
                 .features = lion_features,
                 .notes = {lion_queries, lion_offers, lion_passes},
                 .alike = "The features have the names of the sentence's first ten words, in "
                          "order, so DET and ADJ occur three times: features of the same name "
                          "are different numbers.",
                 .query = 3,
                 .key = 4});
}
