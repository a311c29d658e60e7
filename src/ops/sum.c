/* sum.c -- sum and mean of all elements, as a scalar; the mean of no elements is 0. */
#include "ops/shape.h"

static bool infer(heed_node *n) { return heed_op_output(n, 0, NULL); }

static void add_all(heed_node *n, heed_real v) {
    heed_real *gx = heed_grad(n, 0);
    for (size_t i = 0; gx && i < n->in[0]->size; i++) gx[i] += v;
}

static void sum(heed_node *n) {
    n->y->x[0] = (heed_real)n->k->sum(n->k, n->in[0]->x, n->in[0]->size);
}
static void sum_back(heed_node *n) { add_all(n, n->y->g[0]); }

static void mean(heed_node *n) {
    size_t size = n->in[0]->size;
    n->y->x[0] = (heed_real)(n->k->sum(n->k, n->in[0]->x, size) / (double)(size ? size : 1));
}
static void mean_back(heed_node *n) {
    size_t size = n->in[0]->size;
    add_all(n, n->y->g[0] * (heed_real)(1.0 / (double)(size ? size : 1)));
}

static const heed_case cases[] = {{.shapes = "s"},       {.shapes = "1"},   {.shapes = "3x5"},
                                  {.shapes = "2x3x4x5"}, {.shapes = "131"}, {0}};

const heed_op heed_ops_sum[] = {{"sum", "r", infer, sum, sum_back, cases, 0},
                                {"mean", "r", infer, mean, mean_back, cases, 0},
                                {0}};

heed_tensor *heed_sum(heed_tape *t, heed_tensor *x) {
    return heed_push(t, &heed_ops_sum[0], NULL, x);
}
heed_tensor *heed_mean(heed_tape *t, heed_tensor *x) {
    return heed_push(t, &heed_ops_sum[1], NULL, x);
}
