/* layer_norm.c -- y = (x - mean) / sqrt(var + eps) gain + bias over the last dim, var biased. Ba,
 * Kiros & Hinton 2016, eq. 4. With h = (x - mean) rstd and gh = gy gain: gx = rstd (gh - mean(gh) -
 * h mean(gh h)). */
#include "ops/shape.h"

enum { X, GAIN, BIAS };

/* scratch: mean and rstd of each row */
static void compute(heed_node *n) {
    const heed_real *eps = n->args;
    size_t rows = heed__rows(n->y);
    heed_real *mean = n->scratch;
    n->k->layer_norm(n->k, n->y->x, mean, mean + rows, n->in[X]->x, heed__values(n->in[GAIN]),
                     heed__values(n->in[BIAS]), rows, heed__from_last(n->y, 0), *eps);
}

static void again(heed_node *n) {
    n->y->x = heed_scratch(n, n->y->size * sizeof *n->y->x);
    if (n->y->x) compute(n);
}

static void forward(heed_node *n) {
    n->scratch = heed_scratch(n, 2 * heed__rows(n->y) * sizeof(heed_real));
    if (n->scratch) compute(n);
    n->again = again;
}

static void backward(heed_node *n) {
    size_t rows = heed__rows(n->y);
    const heed_real *mean = n->scratch;
    bool add;
    heed_real *gx = heed_grad_into(n, X, &add);
    n->k->layer_norm_grad(n->k, gx, heed_grad(n, GAIN), heed_grad(n, BIAS), n->y->g, n->in[X]->x,
                          mean, mean + rows, heed__values(n->in[GAIN]), rows,
                          heed__from_last(n->y, 0), add);
}

static const heed_real bert = (heed_real)1e-5, wide = (heed_real)0.1;
static const heed_case cases[] = {{.shapes = "3x5 5 5", .args = &bert},
                                  {.shapes = "3x5 - -", .args = &bert},
                                  {.shapes = "3x5 5 -", .args = &bert},
                                  {.shapes = "3x5 - 5", .args = &bert},
                                  {.shapes = "7 7 7", .args = &wide},
                                  {.shapes = "4x1 1 1", .args = &wide},
                                  {.shapes = "2x3x33 33 33", .args = &bert},
                                  {.shapes = "2x2x3x4 4 4", .args = &wide},
                                  {0}};

const heed_op heed_ops_layer_norm[] = {
    {"layer_norm", "rr?r?", heed__infer_norm, forward, backward, cases, sizeof(heed_real)}, {0}};

heed_tensor *heed_layer_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_tensor *bias,
                             heed_real eps) {
    return heed_push(t, heed_ops_layer_norm, &eps, x, gain, bias);
}
