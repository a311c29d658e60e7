/* Attention rollout against its formula in NumPy. */
#include "golden.h"
#include "values.h"
#include <heed/inspect.h>

enum { LAYERS = 3, HEADS = 2, TOKENS = 7, SQUARE = TOKENS * TOKENS };

/* The weights of tests/golden/make_numbers.py. */
static void fill(heed_real (*w)[HEADS * SQUARE], bool causal) {
    for (int at = 0; at < LAYERS * HEADS * TOKENS; at++) {
        int l = at / TOKENS / HEADS, h = at / TOKENS % HEADS, i = at % TOKENS;
        double e[TOKENS], sum = 0;
        for (int j = 0; j < TOKENS; j++) {
            e[j] = exp(3 * sin(1.3 * l + 0.7 * h + 0.9 * i + 2.1 * j + 0.4 * i * j));
            if (causal && j > i) e[j] = 0;
            sum += e[j];
        }
        for (int j = 0; j < TOKENS; j++)
            w[l][h * SQUARE + i * TOKENS + j] = (heed_real)(e[j] / sum);
    }
}

/* Makes the rollout of layers of weights (heads,T,T). */
static bool rollout(heed_ctx *c, heed_rollout_args a, int layers, const heed_real *const *w,
                    int heads, int tokens, heed_real *out) {
    heed_record *r = heed_record_new(c);
    heed_record_add_axis(r, &(heed_record_axis){.name = "text", .count = tokens});
    for (int l = 0; l < layers; l++)
        heed_record_add_block(
            r, &(heed_record_block){.path = "attn", .layer = l, .heads = heads, .weights = w[l]});
    bool ok = heed_rollout(c, r, &a, r);
    if (ok) memcpy(out, r->maps->values, (size_t)(tokens * tokens) * sizeof *out);
    heed_record_free(r);
    return ok;
}

static void roll(heed_ctx *c, heed_rollout_args a, bool causal, heed_real *out) {
    static heed_real w[LAYERS][HEADS * SQUARE];
    fill(w, causal);
    CHECK(rollout(c, a, LAYERS, (const heed_real *const[]){w[0], w[1], w[2]}, HEADS, TOKENS, out));
    for (int i = 0; i < TOKENS; i++) {
        double sum = 0;
        for (int j = 0; j < TOKENS; j++) sum += (double)out[i * TOKENS + j];
        CHECK_CLOSE(sum, 1, 1e-6);
    }
}

TEST(rollout_equals_the_formula) {
    heed_ctx *c = heed_open(NULL);
    heed_real r[SQUARE];
    double tolerance = sizeof(heed_real) == 8 ? 1e-13 : 1e-6;
    roll(c, (heed_rollout_args){0}, false, r);
    check_array(__FILE__, __LINE__, "mean", r, tolerance,
                golden_numbers(NULL, "rollout.mean", SQUARE), SQUARE);
    roll(c, (heed_rollout_args){.max = true}, false, r);
    check_array(__FILE__, __LINE__, "max", r, tolerance,
                golden_numbers(NULL, "rollout.max", SQUARE), SQUARE);
    roll(c, (heed_rollout_args){.discard = 0.3}, false, r);
    check_array(__FILE__, __LINE__, "discard", r, tolerance,
                golden_numbers(NULL, "rollout.discard", SQUARE), SQUARE);
    roll(c, (heed_rollout_args){0}, true, r);
    check_array(__FILE__, __LINE__, "causal", r, tolerance,
                golden_numbers(NULL, "rollout.causal", SQUARE), SQUARE);
    CLOSE(c);
}

/* However much is discarded, each row keeps its strongest weight and a sum of 1. */
TEST(rollout_rows_survive_any_discard) {
    heed_ctx *c = heed_open(NULL);
    const heed_real w[] = {0, 1, 0, (heed_real)0.2, (heed_real)0.2, (heed_real)0.6, 0, 0, 0};
    heed_real r[9];
    CHECK(rollout(c, (heed_rollout_args){.discard = 0.99}, 1, (const heed_real *const[]){w}, 1, 3,
                  r));
    check_array(__FILE__, __LINE__, "r", r, 1e-6, (double[]){.5, .5, 0, 0, .5, .5, 0, 0, 1}, 9);
    CHECK(
        !rollout(c, (heed_rollout_args){.discard = 1}, 1, (const heed_real *const[]){w}, 1, 3, r));
    CHECK_HAS(heed_ctx_error(c), "less than 1");
    heed_clear(c);
    CHECK(!rollout(c, (heed_rollout_args){0}, 0, NULL, 1, 3, r));
    CHECK_HAS(heed_ctx_error(c), "no self-attention to follow");
    heed_clear(c);
    CLOSE(c);
}
