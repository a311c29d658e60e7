/* bce.c -- binary cross entropy on logits: mean of max(x, 0) - x y + log(1 + exp(-|x|)), which does
 * not overflow for any x. gx = (sigmoid(x) - y) / n, gy = -x / n. */
#include "ops/shape.h"

enum { X, Y };

static bool infer(heed_node *n) {
    if (!heed__same_shape(n->in[X], n->in[Y]))
        return heed__bad_shapes(n, X, Y, "logits and targets differ in shape");
    return heed_op_output(n, 0, NULL);
}

/* log(1 + e) = log(u) e / (u - 1) with u = 1 + e rounded, accurate even if e is far below 1.
 * Goldberg 1991, theorem 4. */
static double log_one_plus(heed_real e, heed_real u, heed_real log_u) {
    return u == 1 ? (double)e : (double)log_u * (double)e / ((double)u - 1);
}

static void forward(heed_node *n) {
    const heed_real *x = n->in[X]->x, *y = n->in[Y]->x;
    size_t size = n->in[X]->size;
    heed_real *e = heed_scratch(n, 3 * size * sizeof *e);
    if (!e) return;
    heed_real *u = e + size, *log_u = u + size;
    for (size_t i = 0; i < size; i++) u[i] = x[i] > 0 ? -x[i] : x[i];
    n->k->activate(n->k, HEED_EXP, e, u, size);
    for (size_t i = 0; i < size; i++) u[i] = 1 + e[i];
    n->k->activate(n->k, HEED_LOG, log_u, u, size);
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += (double)(x[i] > 0 ? x[i] : 0) - (double)x[i] * (double)y[i] +
               log_one_plus(e[i], u[i], log_u[i]);
    n->y->x[0] = (heed_real)(sum / (double)(size ? size : 1));
    heed_scratch_done(n, e, 3 * size * sizeof *e);
}

static void backward(heed_node *n) {
    const heed_real *x = n->in[X]->x, *y = n->in[Y]->x;
    heed_real *gx = heed_grad(n, X), *gy = heed_grad(n, Y);
    size_t size = n->in[X]->size;
    heed_real scale = n->y->g[0] * (heed_real)(1.0 / (double)(size ? size : 1));
    if (gy) n->k->axpy(n->k, gy, x, -scale, size);
    heed_real *p = gx ? heed_scratch(n, size * sizeof *p) : NULL;
    if (!p) return;
    n->k->activate(n->k, HEED_SIGMOID, p, x, size);
    for (size_t i = 0; i < size; i++) gx[i] += scale * (p[i] - y[i]);
    heed_scratch_done(n, p, size * sizeof *p);
}

static const heed_case cases[] = {{.shapes = "s s", .lo = 0.1f, .hi = 0.9f},
                                  {.shapes = "1 1", .lo = 0.1f, .hi = 0.9f},
                                  {.shapes = "3x5 3x5", .lo = -3, .hi = 3},
                                  {.shapes = "2x3x4x5 2x3x4x5", .lo = 0.1f, .hi = 0.9f},
                                  {.shapes = "7 7", .lo = -9, .hi = 9, .fixed = 1u << 1},
                                  {0}};

const heed_op heed_ops_bce[] = {{"bce", "rr", infer, forward, backward, cases, 0}, {0}};

heed_tensor *heed_bce(heed_tape *t, heed_tensor *logits, heed_tensor *targets) {
    return heed_push(t, heed_ops_bce, NULL, logits, targets);
}
