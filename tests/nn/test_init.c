/* test_init.c -- initial values: what each word draws, and words that are none. */
#include "test.h"

/* A weight of a convolution: 48 numbers go into an output, 384 come out of an input. */
static const int shape[] = {64, 8, 3, 2};
enum { FAN_IN = 8 * 3 * 2, FAN_OUT = 64 * 3 * 2 };

typedef struct {
    double least, most, mean, deviation;
} moments;

static moments of(const heed_tensor *x) {
    moments m = {INFINITY, -INFINITY, 0, 0};
    double n = (double)x->size;
    for (size_t i = 0; i < x->size; i++) {
        m.least = fmin(m.least, (double)x->x[i]);
        m.most = fmax(m.most, (double)x->x[i]);
        m.mean += (double)x->x[i] / n;
    }
    for (size_t i = 0; i < x->size; i++) m.deviation += pow((double)x->x[i] - m.mean, 2) / n;
    m.deviation = sqrt(m.deviation);
    return m;
}

TEST_IN(init_draws_in_the_bounds_of_each_word, heed_open(&(heed_options){.seed = 3})) {
    heed_params *s = heed_params_new(c);
    const struct {
        const char *word;
        double bound;
    } uniform[] = {{"uniform:0.3", 0.3},
                   {"kaiming", 1 / sqrt(FAN_IN)},
                   {"kaiming:9", 1.0 / 3},
                   {"xavier", sqrt(6.0 / (FAN_IN + FAN_OUT))}};
    for (size_t i = 0; i < sizeof uniform / sizeof *uniform; i++) {
        moments m = of(heed_param_new(s, uniform[i].word, uniform[i].word, 4, shape));
        double bound = uniform[i].bound;
        CHECK(m.most <= bound * 1.000001 && m.most > 0.99 * bound);
        CHECK(m.least >= -bound * 1.000001 && m.least < -0.99 * bound);
        CHECK_CLOSE(m.mean, 0, 0.05 * bound);
        CHECK_CLOSE(m.deviation, bound / sqrt(3), 0.03 * bound);
    }
    moments m = of(heed_param_new(s, "normal", "normal:0.02", 4, shape));
    CHECK_CLOSE(m.mean, 0, 0.001);
    CHECK_CLOSE(m.deviation, 0.02, 0.001);
    CHECK(m.most > 0.05 && m.least < -0.05);
    const struct {
        const char *word;
        double value;
    } fixed[] = {{"zero", 0}, {"one", 1}, {"const:-2.5", -2.5}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        m = of(heed_param_new(s, fixed[i].word, fixed[i].word, 4, shape));
        CHECK(m.least == fixed[i].value && m.most == fixed[i].value);
    }
    /* of a matrix and of a vector */
    m = of(heed_param_new(s, "matrix", "xavier", 2, (int[]){40, 60}));
    CHECK(m.most <= sqrt(0.06) && m.most > 0.99 * sqrt(0.06));
    m = of(heed_param_new(s, "vector", "kaiming", 1, (int[]){500}));
    CHECK(m.most <= 1 && m.most > 0.98);
}

TEST_IN(init_refuses_other_words, heed_open(NULL)) {
    heed_params *s = heed_params_new(c);
    static const char *const wrong[] = {"",           "ones",       "kaiming:0", "kaiming:-3",
                                        "kaiming:x",  "kaiming:",   "normal",    "normal:",
                                        "uniform:1y", "constant:1", "const",     "xavier:2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(!heed_param_new(s, "w", wrong[i], 1, (int[]){2}));
        CHECK(heed_ctx_status(c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(c), "initial value of w is wrong: expected zero, one, const:V");
        heed_clear(c);
    }
}
