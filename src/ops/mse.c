/* mse.c -- mean of (a - b)^2 over all elements; 0 if there are none. */
#include "ops/shape.h"

static bool infer(heed_node *n) {
    if (!heed__same_shape(n->in[0], n->in[1]))
        return heed__bad_shapes(n, 0, 1, "the shapes differ");
    return heed_op_output(n, 0, NULL);
}

static double count_of(const heed_node *n) { return n->in[0]->size ? (double)n->in[0]->size : 1; }

static void forward(heed_node *n) {
    const heed_real *a = n->in[0]->x, *b = n->in[1]->x;
    double sum = 0;
    for (size_t i = 0; i < n->in[0]->size; i++) {
        double d = (double)a[i] - (double)b[i];
        sum += d * d;
    }
    n->y->x[0] = (heed_real)(sum / count_of(n));
}

static void backward(heed_node *n) {
    const heed_real *a = n->in[0]->x, *b = n->in[1]->x;
    heed_real *ga = heed_grad(n, 0), *gb = heed_grad(n, 1);
    heed_real scale = (heed_real)(2 * (double)n->y->g[0] / count_of(n));
    size_t size = n->in[0]->size;
    for (size_t i = 0; ga && i < size; i++) ga[i] += scale * (a[i] - b[i]);
    for (size_t i = 0; gb && i < size; i++) gb[i] -= scale * (a[i] - b[i]);
}

static const heed_case cases[] = {{.shapes = "s s"},
                                  {.shapes = "1 1"},
                                  {.shapes = "3x5 3x5"},
                                  {.shapes = "2x3x4x5 2x3x4x5"},
                                  {0}};

const heed_op heed_ops_mse[] = {{"mse", "rr", infer, forward, backward, cases, 0}, {0}};

heed_tensor *heed_mse(heed_tape *t, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, heed_ops_mse, NULL, a, b);
}
