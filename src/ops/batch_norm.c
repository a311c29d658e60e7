/* batch_norm.c -- y = (x - mean) / sqrt(var + eps) gain + bias per column, over all but the last
 * dim (channels last). Ioffe & Szegedy 2015, alg. 1. In training, mean and biased var are the
 * batch's, and the running statistics are updated: running = (1 - momentum) running + momentum
 * batch, with the unbiased var, as in PyTorch. In eval, the running statistics are used. */
#include "ops/args.h"
#include "ops/shape.h"
#include <math.h>

enum { X, GAIN, BIAS, MEAN, VAR };

static bool infer(heed_node *n) {
    if (!heed__infer_norm(n)) return false;
    return !n->training || heed__rows(n->y) >= 2 ||
           heed__bad_shape(
               n, X, "training needs at least 2 rows to have a variance; hint: another `batch`");
}

/* scratch: mean and rstd of each column */
static void forward(heed_node *n) {
    const heed__batch_norm_args *a = n->args;
    size_t rows = heed__rows(n->y);
    int width = heed__from_last(n->y, 0);
    heed_real *mean = n->scratch = heed_scratch(n, 2 * (size_t)width * sizeof *mean);
    if (!mean) return;
    heed_real *var = mean + width;
    if (n->training) {
        n->k->column_stats(n->k, mean, var, n->in[X]->x, rows, width);
        double m = (double)a->momentum, unbiased = (double)rows / (double)(rows - 1);
        heed_update_state(n, MEAN, 1 - m, m, mean);
        heed_update_state(n, VAR, 1 - m, m * unbiased, var);
    } else {
        memcpy(mean, n->in[MEAN]->x, (size_t)width * sizeof *mean);
        memcpy(var, n->in[VAR]->x, (size_t)width * sizeof *var);
    }
    for (int j = 0; j < width; j++) var[j] = (heed_real)(1 / sqrt((double)(var[j] + a->eps)));
    n->k->batch_norm(n->k, n->y->x, n->in[X]->x, mean, var, heed__values(n->in[GAIN]),
                     heed__values(n->in[BIAS]), rows, width);
}

static void backward(heed_node *n) {
    int width = heed__from_last(n->y, 0);
    const heed_real *mean = n->scratch;
    bool add;
    heed_real *gx = heed_grad_into(n, X, &add);
    n->k->batch_norm_grad(n->k, gx, heed_grad(n, GAIN), heed_grad(n, BIAS), n->y->g, n->in[X]->x,
                          mean, mean + width, heed__values(n->in[GAIN]), heed__rows(n->y), width,
                          n->training, add);
}

static const heed__batch_norm_args usual = {(heed_real)1e-5, (heed_real)0.1},
                                   wide = {(heed_real)0.1, 1};
#define CASE(text, a, mode)                                                                        \
    { .shapes = text, .args = &(a), .lo = 0.5f, .hi = 2, .eval = mode, .fixed = 3u << 3 }
static const heed_case cases[] = {CASE("6x3 3 3 3 3", usual, false),
                                  CASE("2x1 1 1 1 1", wide, false),
                                  CASE("2x3x4 4 - 4 4", usual, false),
                                  CASE("2x2x3x17 17 17 17 17", usual, false),
                                  CASE("9x5 - 5 5 5", wide, false),
                                  CASE("6x3 3 3 3 3", usual, true),
                                  CASE("4 4 4 4 4", usual, true),
                                  CASE("2x3x4 - - 4 4", wide, true),
                                  {0}};

const heed_op heed_ops_batch_norm[] = {
    {"batch_norm", "rr?r?rr", infer, forward, backward, cases, sizeof(heed__batch_norm_args)}, {0}};

heed_tensor *heed_batch_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_tensor *bias,
                             heed_tensor *mean, heed_tensor *var, heed_real eps,
                             heed_real momentum) {
    return heed_push(t, heed_ops_batch_norm, &(heed__batch_norm_args){eps, momentum}, x, gain, bias,
                     mean, var);
}
