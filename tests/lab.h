/* A store and a tape to try layers on. */
#ifndef HEED_TEST_LAB_H
#define HEED_TEST_LAB_H

#include "test.h"

#define SHAPE(...) ((int[]){__VA_ARGS__})

static const bool is_double = sizeof(heed_real) == 8;
static const double tiny = sizeof(heed_real) == 8 ? 1e-12 : 2e-6;

typedef struct {
    heed_ctx *c;
    heed_params *s;
    heed_tape *t;
} lab;

static inline lab lab_open(heed_mode mode) {
    lab l = {.c = heed_open(&(heed_options){.seed = 7, .threads = 1})};
    l.s = heed_params_new(l.c);
    l.t = heed_tape_new(l.c);
    heed_tape_begin(l.t, mode, 0);
    return l;
}

/* Normal numbers that depend on the name alone. */
static inline heed_tensor *normal(heed_tape *t, const char *name, int dims, const int *shape) {
    heed_tensor *x = heed_input(t, NULL, dims, shape);
    heed_random r = heed_random_at(1, name, 0, 0);
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)heed_random_normal(&r, i);
    return x;
}

/* Largest difference of n values. */
static inline double apart(const heed_real *a, const heed_real *b, size_t n) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (!(d <= worst)) worst = d;
    }
    return worst;
}

static inline void check_same(const heed_tensor *a, const heed_tensor *b, double tolerance) {
    CHECK(a && b && a->size == b->size);
    if (a && b && a->size == b->size) CHECK_CLOSE(apart(a->x, b->x, a->size), 0, tolerance);
}

/* Makes every parameter differ from its neutral start, so that a forgotten bias or gain shows. */
static inline void shake(heed_params *s) {
    for (int i = 0; i < heed_params_count(s); i++) {
        heed_tensor *x = heed_params_at(s, i)->tensor;
        heed_random r = heed_random_at(3, x->name, 0, 0);
        for (size_t j = 0; j < x->size; j++)
            x->x[j] += (heed_real)(0.3 * heed_random_normal(&r, j));
    }
}

static const heed_mha_args small = {.width = 8, .heads = 2};

/* A small block, pre-norm or post-norm. */
static inline heed_block_args block_args(bool pre) {
    return (heed_block_args){.attn = small,
                             .mlp = {.width = 8, .inner = 16, .act = HEED_GELU_TANH},
                             .pre_norm = pre,
                             .eps = (heed_real)1e-5};
}

#endif
