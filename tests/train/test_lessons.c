/* What docs/notes.md says of the worked example: the sizes, and which rows the word "in" uses. */
#include "explain/hungry_lion.h"
#include "test.h"

#include <heed/lesson.h>

enum { LION = 2, IN = 7, GRASS = 10, DET = 4, PREP = 7, ADJ = 9 };

/* x (LION_TOKENS,LION_FEATURES) -> the query of "in", and its weight for "lion". */
static double query_of_in(heed_ctx *c, const double *x, double q[LION_KEY]) {
    heed_attention_trace_args a = lion_args(x);
    heed_attention_trace l;
    double weight = -1;
    if (heed_attention_trace_make(c, &a, &l)) {
        for (int k = 0; k < LION_KEY; k++) q[k] = heed_matrix_at(&l.part[HEED_TRACE_Q], IN, k);
        weight = heed_matrix_at(&l.part[HEED_TRACE_WEIGHTS], IN, LION);
    }
    heed_attention_trace_free(&l);
    return weight;
}

TEST(notes_the_lions_sizes) {
    CHECK(LION_TOKENS == 11 && LION_FEATURES == 10);
    heed_ctx *c = heed_open(NULL);
    heed_attention_trace_args a = lion_args(lion_x);
    heed_attention_trace l;
    CHECK(heed_attention_trace_make(c, &a, &l));
    CHECK_CLOSE(l.args.beta, 1 / sqrt(3), 1e-15);
    heed_attention_trace_free(&l);
    CLOSE(c);
}

TEST(notes_in_asks_as_an_adjective) {
    for (int k = 0; k < LION_FEATURES; k++)
        CHECK(lion_x[IN * LION_FEATURES + k] == (k == DET ? 2 : k == ADJ ? 1 : 0));
    for (int i = 0; i < LION_TOKENS; i++)
        CHECK(lion_x[i * LION_FEATURES + PREP] == (i == GRASS ? 1 : 0));
    heed_ctx *c = heed_open(NULL);
    double q[LION_KEY], x[LION_TOKENS * LION_FEATURES];
    CHECK_CLOSE(query_of_in(c, lion_x, q), 0.58, 0.005);
    CHECK(q[0] == 1 && q[1] == 0 && q[2] == 0);
    memcpy(x, lion_x, sizeof x);
    x[IN * LION_FEATURES + DET] = x[IN * LION_FEATURES + ADJ] = 0;
    x[IN * LION_FEATURES + PREP] = 1;
    query_of_in(c, x, q);
    CHECK(q[0] == 0 && q[1] == 1 && q[2] == 1);
    CLOSE(c);
}
