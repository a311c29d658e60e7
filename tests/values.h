/* Tensors from lists of numbers, and comparisons with such lists. */
#ifndef HEED_TEST_VALUES_H
#define HEED_TEST_VALUES_H

#include "test.h"

/* Shape and values as arguments: reals(t, S(2, 3), 1., 2., ...) */
#define S(...)                                                                                     \
    (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]) { __VA_ARGS__ }
#define SCALAR 0, NULL
#define REALS(t, shape, ...)                                                                       \
    reals(t, (double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double), shape)
#define IDS(t, shape, ...) heed_input_ids(t, (int32_t[]){__VA_ARGS__}, shape)
#define CHECK_VALUES(y, tolerance, ...)                                                            \
    check_values(__FILE__, __LINE__, #y, y, tolerance, (double[]){__VA_ARGS__},                    \
                 sizeof((double[]){__VA_ARGS__}) / sizeof(double))

static const double tiny = sizeof(heed_real) == sizeof(double) ? 1e-12 : 2e-6;

static inline heed_tensor *reals(heed_tape *t, const double *x, size_t n, int dims,
                                 const int *shape) {
    heed_tensor *y = heed_input(t, NULL, dims, shape);
    if (!y || y->size != n) test_fail(__FILE__, __LINE__, "%zu values for a shape", n);
    for (size_t i = 0; y && i < y->size && i < n; i++) y->x[i] = (heed_real)x[i];
    return y;
}

static inline void check_array(const char *file, int line, const char *what, const heed_real *x,
                               double tolerance, const double *want, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)x[i] - want[i]) <= tolerance * fmax(1, fabs(want[i]))))
            test_fail(file, line, "%s[%zu] = %.9g, expected %.9g", what, i, (double)x[i], want[i]);
}

static inline void check_values(const char *file, int line, const char *what, const heed_tensor *y,
                                double tolerance, const double *want, size_t n) {
    if (!y || y->size != n)
        test_fail(file, line, "%s has not %zu values", what, n);
    else
        check_array(file, line, what, y->x, tolerance, want, n);
}

#define CHECK_GRADS(y, tolerance, ...)                                                             \
    check_grads(__FILE__, __LINE__, #y, y, tolerance, (double[]){__VA_ARGS__},                     \
                sizeof((double[]){__VA_ARGS__}) / sizeof(double))
static inline void check_grads(const char *file, int line, const char *what, const heed_tensor *y,
                               double tolerance, const double *want, size_t n) {
    if (!y || !y->g || y->size != n)
        test_fail(file, line, "%s has not %zu gradients", what, n);
    else
        check_array(file, line, what, y->g, tolerance, want, n);
}

static inline heed_tape *begin(heed_ctx **c, heed_mode mode) {
    *c = heed_open(&(heed_options){.seed = 3, .threads = 1});
    heed_tape *t = heed_tape_new(*c);
    heed_tape_begin(t, mode, 5);
    return t;
}

/* The op must have failed with this message; the context is fit for use again afterwards. */
static inline void refused(heed_ctx *c, const heed_tensor *y, const char *message, int line) {
    if (y) test_fail(__FILE__, line, "not refused: %s", message);
    if (!strstr(heed_ctx_error(c), message))
        test_fail(__FILE__, line, "\"%s\" lacks \"%s\"", heed_ctx_error(c), message);
    heed_clear(c);
}
#define REFUSED(y, message) refused(c, y, message, __LINE__)

#endif
