/* Elementwise kernels, transcendental functions, sums, dropout, updates, tables. */
#include "kernel_case.h"

/* --- Accuracy of the functions, in units of the last place of the right value --- */

#ifndef HEED_F64
static double f_exp(double x) { return exp(x); }
static double f_log(double x) { return log(x); }
static double f_tanh(double x) { return tanh(x); }
static double f_erf_gelu(double x) { return erf(x); }

static double ulps(float got, double want) {
    double a = fabs(want), unit = a < 0x1p-126 ? 0x1p-149 : 0x1p-23 * exp2(floor(log2(a)));
    return fabs((double)got - want) / unit;
}

static void check_ulps(heed_act f, double (*want)(double), float from, float to, double most) {
    enum { N = 60001 };
    float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int i = 0; i < N; i++) x[i] = from + (to - from) * (float)i / (N - 1);
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        heed_kernels k;
        heed__kernels_choose(&k, *isa, 1);
        k.activate(&k, f, y, x, N);
        double worst = 0;
        int at = 0;
        for (int i = 0; i < N; i++) {
            double u = ulps(y[i], want((double)x[i]));
            if (u > worst) worst = u, at = i;
        }
        if (worst > most)
            test_fail(__FILE__, __LINE__, "%s, act %d: %.2f ulp at %.9g", *isa, (int)f, worst,
                      (double)x[at]);
    }
    free(x);
    free(y);
}

TEST(kernels_exp_is_within_2_ulp) {
    check_ulps(HEED_EXP, f_exp, -87, 88.7f, 2);
    check_ulps(HEED_EXP, f_exp, -1, 1, 2);
    check_ulps(HEED_EXP, f_exp, -104, -87, 2); /* denormals */
}
/* The ratio of two weights is the exponential of the difference of their scores, with a relative
 * error in units of 2^-23. */
TEST(kernels_softmax_is_exact_where_weights_are_large) {
    enum { N = 4001 };
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        heed_kernels k;
        heed__kernels_choose(&k, *isa, 1);
        for (int i = 0; i < N; i++) {
            float x[2] = {0, -86.0f * (float)i / (N - 1)}, y[2];
            k.softmax(&k, &(heed_softmax_job){.rows = 1, .n = 2, .beta = 1, .x = x, .y = y});
            double error = fabs((double)y[1] / (double)y[0] / exp((double)x[1]) - 1) * 0x1p23;
            if (!(error <= 3 - (double)x[1] * 2 / 3))
                test_fail(__FILE__, __LINE__, "%s: %.2f at %.9g", *isa, error, (double)x[1]);
        }
    }
}
TEST(kernels_log_is_within_4_ulp) {
    check_ulps(HEED_LOG, f_log, 0.5f, 2, 4);
    check_ulps(HEED_LOG, f_log, 1e-30f, 1000, 4);
    check_ulps(HEED_LOG, f_log, 1e-44f, 1e-37f, 4);
    check_ulps(HEED_LOG, f_log, 1e30f, 3e38f, 4);
}
TEST(kernels_tanh_is_within_4_ulp) {
    check_ulps(HEED_TANH, f_tanh, -1, 1, 4);
    check_ulps(HEED_TANH, f_tanh, -12, 12, 4);
    check_ulps(HEED_TANH, f_tanh, -1e-4f, 1e-4f, 4);
}
static double sigmoid_of(double x) { return 1 / (1 + exp(-x)); }
/* Where it is small, its relative error grows with |x|, as that of a softmax's exponentials. */
TEST(kernels_sigmoid_is_within_4_ulp_where_it_is_not_small) {
    check_ulps(HEED_SIGMOID, sigmoid_of, -1, 40, 4);
    check_ulps(HEED_SIGMOID, sigmoid_of, -8, -1, 16);
    check_ulps(HEED_SIGMOID, sigmoid_of, -1e-3f, 1e-3f, 4);
}
static double gelu_of(double x) { return 0.5 * x * (1 + f_erf_gelu(x * sqrt(0.5))); }
TEST(kernels_erf_is_within_4_ulp) { /* through gelu, where 1 + erf does not cancel */
    check_ulps(HEED_GELU, gelu_of, 0, 8, 4);
    check_ulps(HEED_GELU, gelu_of, 0, 1e-3f, 4);
}
#endif

/* --- Special values --- */

static heed_real act_of(const heed_kernels *k, heed_act f, double x) {
    heed_real in = (heed_real)x, out;
    k->activate(k, f, &out, &in, 1);
    return out;
}
/* NaN of any payload is kept, alone and among weights. */
static void check_nan(const heed_kernels *k, const heed_act *all, size_t count) {
#ifndef HEED_F64
    static const uint32_t bits[] = {0x7fc00000, 0xffc00000, 0x7fc00001, 0x7fffffff, 0xffffffff};
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
        float nan, x[2] = {0, 0}, y[2];
        memcpy(&nan, &bits[b], sizeof nan);
        for (size_t i = 0; i < count; i++) {
            k->activate(k, all[i], y, &nan, 1);
            CHECK(isnan(y[0]));
        }
        x[1] = nan;
        k->softmax(k, &(heed_softmax_job){.rows = 1, .n = 2, .beta = 1, .x = x, .y = y});
        CHECK(isnan(y[0]) && isnan(y[1]));
    }
#endif
    for (size_t i = 0; i < count; i++) CHECK(isnan(act_of(k, all[i], (double)NAN)));
}
TEST(kernels_functions_keep_infinities_and_nan) {
    static const heed_act all[] = {HEED_RELU, HEED_GELU,    HEED_GELU_TANH, HEED_SILU, HEED_TANH,
                                   HEED_EXP,  HEED_SIGMOID, HEED_LOG,       HEED_SQRT};
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        heed_kernels k;
        heed__kernels_choose(&k, *isa, 1);
        check_nan(&k, all, sizeof all / sizeof *all);
        CHECK(act_of(&k, HEED_EXP, -INFINITY) == 0);
        CHECK(act_of(&k, HEED_EXP, INFINITY) == (heed_real)INFINITY);
        CHECK(act_of(&k, HEED_EXP, 0) == 1);
        CHECK(act_of(&k, HEED_LOG, 0) == (heed_real)-INFINITY);
        CHECK(act_of(&k, HEED_LOG, 1) == 0);
        CHECK(act_of(&k, HEED_LOG, INFINITY) == (heed_real)INFINITY);
        CHECK(isnan(act_of(&k, HEED_LOG, -1)));
        CHECK(isnan(act_of(&k, HEED_SQRT, -1)));
        CHECK(act_of(&k, HEED_TANH, INFINITY) == 1);
        CHECK(act_of(&k, HEED_TANH, -INFINITY) == -1);
        CHECK(act_of(&k, HEED_SIGMOID, -INFINITY) == 0);
        CHECK(act_of(&k, HEED_GELU, INFINITY) == (heed_real)INFINITY);
    }
}

/* --- Elementwise --- */

typedef struct {
    heed_act f;
    size_t n;
} unary;

static double slope(heed_act f, double x) {
    double s = 1 / (1 + exp(-x)), t;
    switch (f) {
    case HEED_RELU:
        return x > 0;
    case HEED_GELU:
        return 0.5 * (1 + erf(x * sqrt(0.5))) + x * exp(-x * x / 2) * 0.3989422804014327;
    case HEED_GELU_TANH:
        t = tanh(0.79788456080286536 * (x + 0.044715 * x * x * x));
        return 0.5 * (1 + t) +
               0.5 * x * (1 - t * t) * 0.79788456080286536 * (1 + 3 * 0.044715 * x * x);
    case HEED_SILU:
        return s + x * s * (1 - s);
    case HEED_TANH:
        return 1 - tanh(x) * tanh(x);
    case HEED_SIGMOID:
        return s * (1 - s);
    case HEED_EXP:
        return exp(x);
    case HEED_LOG:
        return 1 / x;
    case HEED_SQRT:
        return 0.5 / sqrt(x);
    case HEED_IDENTITY:
        break;
    }
    return 1;
}
static heed_real *unary_input(const unary *u) {
    heed_real *x = kernel_numbers(7, u->n);
    for (size_t i = 0; i < u->n; i++) x[i] = u->f >= HEED_LOG ? x[i] + (heed_real)1.5 : 4 * x[i];
    return x;
}
static void run_grad(const heed_kernels *k, const void *args, heed_real *out) {
    const unary *u = args;
    heed_real *x = unary_input(u), *gy = kernel_numbers(8, u->n);
    heed_real *y = malloc((u->n + 1) * sizeof *y);
    bool by_value = heed__act_uses_value(u->f);
    k->activate(k, u->f, y, x, u->n);
    k->activate_grad(k, u->f, out, by_value ? NULL : x, by_value ? y : NULL, gy, u->n);
    free(y);
}
static void want_grad(const void *args, double *out) {
    const unary *u = args;
    heed_real *x = unary_input(u), *gy = kernel_numbers(8, u->n);
    for (size_t i = 0; i < u->n; i++) out[i] = slope(u->f, (double)x[i]) * (double)gy[i];
}
TEST(kernels_activation_gradients) {
    static const size_t sizes[] = {17, 19, 33, 65, 20001};
    for (int f = HEED_IDENTITY; f <= HEED_SQRT; f++)
        for (int i = 0; i < 5; i++)
            kernel_check(&(kernel_case){"activate_grad", sizes[i], run_grad, want_grad,
                                        &(unary){(heed_act)f, sizes[i]}, 16});
}

static void run_linear(const heed_kernels *k, const void *args, heed_real *out) {
    size_t n = *(const size_t *)args;
    heed_real *x = kernel_numbers(9, n);
    k->scale(k, out, x, 3, (heed_real)0.5, n);
    k->axpy(k, out, x, (heed_real)-0.75, n);
    k->copy(k, out + n, out, n);
}
static void want_linear(const void *args, double *out) {
    size_t n = *(const size_t *)args;
    heed_real *x = kernel_numbers(9, n);
    for (size_t i = 0; i < n; i++) out[i] = out[n + i] = 2.25 * (double)x[i] + 0.5;
}
TEST(kernels_scale_axpy_copy) {
    static const size_t sizes[] = {1, 3, 17, 65, 100003};
    for (int i = 0; i < 5; i++)
        kernel_check(&(kernel_case){"scale, axpy, copy", 2 * sizes[i], run_linear, want_linear,
                                    &sizes[i], 3});
}

/* --- Broadcasting --- */

typedef struct {
    heed_binary f;
    int shape[HEED_DIMS];
    unsigned a, b; /* bit d: this input has size 1 in dim d */
    size_t size_a, size_b, size;
} pair;

static heed_walk walk_of(pair *p) {
    heed_walk w;
    p->size = p->size_a = p->size_b = 1;
    for (int d = HEED_DIMS - 1; d >= 0; d--) {
        size_t n = (size_t)p->shape[d];
        bool one_a = p->a >> d & 1, one_b = p->b >> d & 1;
        w.shape[d] = p->shape[d];
        w.c[d] = p->size;
        w.a[d] = one_a ? 0 : p->size_a;
        w.b[d] = one_b ? 0 : p->size_b;
        p->size *= n;
        p->size_a *= one_a ? 1 : n;
        p->size_b *= one_b ? 1 : n;
    }
    return w;
}
static double combine(heed_binary f, double a, double b) {
    return f == HEED_BIN_ADD   ? a + b
           : f == HEED_BIN_SUB ? a - b
           : f == HEED_BIN_MUL ? a * b
                               : a / b;
}
static void pair_inputs(const pair *p, heed_real **a, heed_real **b, heed_real **gc) {
    *a = kernel_numbers(10, p->size_a);
    *b = kernel_numbers(11, p->size_b);
    *gc = kernel_numbers(12, p->size);
    for (size_t i = 0; i < p->size_b; i++) (*b)[i] += 2; /* a divisor */
}
static void run_pair(const heed_kernels *k, const void *args, heed_real *out) {
    pair p = *(const pair *)args;
    heed_walk w = walk_of(&p);
    heed_real *a, *b, *gc;
    pair_inputs(&p, &a, &b, &gc);
    k->binary(k, p.f, out, a, b, &w);
    k->binary_grad(k, p.f, out + p.size, out + p.size + p.size_a, a, b, gc, &w);
    k->binary_grad(k, p.f, NULL, out + p.size + p.size_a, a, b, gc, &w);
}
static void want_pair(const void *args, double *out) {
    pair p = *(const pair *)args;
    heed_walk w = walk_of(&p);
    heed_real *a, *b, *gc;
    pair_inputs(&p, &a, &b, &gc);
    double *ga = out + p.size, *gb = ga + p.size_a;
    for (size_t i = 0; i < p.size; i++) {
        size_t at_a = 0, at_b = 0, rest = i;
        for (int d = HEED_DIMS - 1; d >= 0; d--) {
            at_a += rest % (size_t)p.shape[d] * w.a[d];
            at_b += rest % (size_t)p.shape[d] * w.b[d];
            rest /= (size_t)p.shape[d];
        }
        double x = (double)a[at_a], y = (double)b[at_b], g = (double)gc[i];
        out[i] = combine(p.f, x, y);
        ga[at_a] += p.f == HEED_BIN_MUL ? g * y : p.f == HEED_BIN_DIV ? g / y : g;
        gb[at_b] += 2 * (p.f == HEED_BIN_ADD   ? g
                         : p.f == HEED_BIN_SUB ? -g
                         : p.f == HEED_BIN_MUL ? g * x
                                               : -g * x / (y * y));
    }
}
TEST(kernels_binary_broadcasts_and_sums_gradients) {
    static const pair pairs[] = {{.shape = {1, 1, 1, 1}},
                                 {.shape = {1, 1, 1, 70001}},
                                 {.shape = {1, 1, 3, 17}, .b = 4},
                                 {.shape = {1, 1, 700, 65}, .b = 7},
                                 {.shape = {1, 1, 65, 700}, .b = 8},
                                 {.shape = {2, 3, 17, 65}, .a = 5, .b = 10},
                                 {.shape = {2, 3, 17, 65}, .a = 15},
                                 {.shape = {4, 5, 33, 66}, .a = 2, .b = 12},
                                 {.shape = {1, 3, 1, 5}, .a = 8, .b = 2}};
    for (int f = HEED_BIN_ADD; f <= HEED_BIN_DIV; f++)
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            pair p = pairs[i];
            p.f = (heed_binary)f;
            walk_of(&p);
            kernel_check(&(kernel_case){"binary", p.size + p.size_a + p.size_b, run_pair, want_pair,
                                        &p, 32});
        }
}

/* --- Sums --- */

static void run_sums(const heed_kernels *k, const void *args, heed_real *out) {
    size_t n = *(const size_t *)args;
    heed_real *x = kernel_numbers(13, n);
    out[0] = (heed_real)k->sum(k, x, n);
    out[1] = (heed_real)k->sum_squares(k, x, n);
}
static void want_sums(const void *args, double *out) {
    size_t n = *(const size_t *)args;
    heed_real *x = kernel_numbers(13, n);
    for (size_t i = 0; i < n; i++) out[0] += (double)x[i], out[1] += (double)x[i] * (double)x[i];
}
TEST(kernels_sums_of_all) {
    static const size_t sizes[] = {1, 3, 17, 65, 4097, 2000003};
    for (int i = 0; i < 6; i++)
        kernel_check(&(kernel_case){"sum", 2, run_sums, want_sums, &sizes[i], 1});
}
TEST(kernels_sum_of_squares_tells_what_is_not_finite) {
    heed_real x[70] = {0};
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        heed_kernels k;
        heed__kernels_choose(&k, *isa, 1);
        for (int i = 0; i < 70; i += 23) {
            x[i] = NAN;
            CHECK(!isfinite(k.sum_squares(&k, x, 70)));
            x[i] = (heed_real)1e30; /* large, but finite: no false alarm */
            CHECK(isfinite(k.sum_squares(&k, x, 70)));
            x[i] = INFINITY;
            CHECK(!isfinite(k.sum_squares(&k, x, 70)));
            x[i] = 0;
        }
    }
}

/* --- Dropout --- */

typedef struct {
    size_t n;
    double p;
} drop;
static const heed_random drop_random = {77, 5, 6, 7};

static void run_drop(const heed_kernels *k, const void *args, heed_real *out) {
    const drop *d = args;
    heed_real *x = kernel_numbers(14, d->n);
    uint32_t *words = malloc((d->n / 32 + 1) * sizeof *words);
    const heed_real p = (heed_real)d->p;
    k->dropout(k, out, x, NULL, p, &drop_random, words, d->n);
    k->dropout(k, out, x, out, p, &drop_random, words, d->n);
    k->dropout_grad(k, out, x, p, words, d->n, true);
    free(words);
}
static void want_drop(const void *args, double *out) {
    const drop *d = args;
    heed_real *x = kernel_numbers(14, d->n);
    double p = (double)(heed_real)d->p;
    for (size_t i = 0; i < d->n; i++)
        if (kernel_keeps(&drop_random, i, p)) out[i] = 3 * (double)x[i] / (1 - kernel_dropped(p));
}
TEST(kernels_dropout_draws_the_stream) {
    static const drop drops[] = {{0, 0.5},  {1, 0.5},      {3, 0.1}, {17, 0.9},
                                 {65, 0.3}, {70001, 0.25}, {40, 1}};
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++)
        kernel_check(&(kernel_case){"dropout", drops[i].n, run_drop, want_drop, &drops[i], 2});
}

/* --- Tables --- */

enum { VOCABULARY = 19 };
typedef struct {
    size_t rows;
    int d;
} table;
static void run_table(const heed_kernels *k, const void *args, heed_real *out) {
    const table *t = args;
    size_t size = t->rows * (size_t)t->d;
    heed_real *x = kernel_numbers(15, (size_t)(VOCABULARY * t->d)), *gy = kernel_numbers(16, size);
    int32_t *ids = kernel_indices(17, t->rows, VOCABULARY);
    k->embed(k, out, x, ids, t->rows, t->d);
    k->embed_grad(k, out + size, gy, ids, t->rows, t->d);
}
static void want_table(const void *args, double *out) {
    const table *t = args;
    size_t d = (size_t)t->d, size = t->rows * d;
    heed_real *x = kernel_numbers(15, VOCABULARY * d), *gy = kernel_numbers(16, size);
    int32_t *ids = kernel_indices(17, t->rows, VOCABULARY);
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < d; c++) {
            out[r * d + c] = (double)x[(size_t)ids[r] * d + c];
            out[size + (size_t)ids[r] * d + c] += (double)gy[r * d + c];
        }
}
TEST(kernels_embed) {
    static const table tables[] = {{1, 1}, {3, 17}, {65, 65}, {2001, 130}};
    for (size_t i = 0; i < 4; i++) {
        const table *t = &tables[i];
        kernel_check(&(kernel_case){"embed", (t->rows + VOCABULARY) * (size_t)t->d, run_table,
                                    want_table, t, 32});
    }
}
