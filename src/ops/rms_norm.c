/* rms_norm.c -- y = x / sqrt(mean(x^2) + eps) gain over the last dim. Zhang & Sennrich 2019, eq. 4.
 * With h = x rstd and gh = gy gain: gx = rstd (gh - h mean(gh h)), ggain = sum of gy h. */
#include "ops/shape.h"

enum { X, GAIN };

/* scratch: rstd of each row */
static void compute(heed_node *n) {
    const heed_real *eps = n->args;
    n->k->layer_norm(n->k, n->y->x, NULL, n->scratch, n->in[X]->x, heed__values(n->in[GAIN]), NULL,
                     heed__rows(n->y), heed__from_last(n->y, 0), *eps);
}

static void again(heed_node *n) {
    n->y->x = heed_scratch(n, n->y->size * sizeof *n->y->x);
    if (n->y->x) compute(n);
}

static void forward(heed_node *n) {
    n->scratch = heed_scratch(n, heed__rows(n->y) * sizeof(heed_real));
    if (n->scratch) compute(n);
    n->again = again;
}

static void backward(heed_node *n) {
    bool add;
    heed_real *gx = heed_grad_into(n, X, &add);
    n->k->layer_norm_grad(n->k, gx, heed_grad(n, GAIN), NULL, n->y->g, n->in[X]->x, NULL,
                          n->scratch, heed__values(n->in[GAIN]), heed__rows(n->y),
                          heed__from_last(n->y, 0), add);
}

static const heed_real llama = (heed_real)1e-5, wide = (heed_real)0.1;
static const heed_case cases[] = {{.shapes = "3x5 5", .args = &llama},
                                  {.shapes = "3x5 -", .args = &llama},
                                  {.shapes = "7 7", .args = &wide},
                                  {.shapes = "4x1 1", .args = &wide},
                                  {.shapes = "2x3x33 33", .args = &llama},
                                  {.shapes = "2x2x3x4 4", .args = &wide},
                                  {0}};

const heed_op heed_ops_rms_norm[] = {
    {"rms_norm", "rr?", heed__infer_norm, forward, backward, cases, sizeof(heed_real)}, {0}};

heed_tensor *heed_rms_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_real eps) {
    return heed_push(t, heed_ops_rms_norm, &eps, x, gain);
}
