/* reduce.c -- sum, mean and maximum over one dim, which is kept with size 1. The gradient of a
 * maximum goes to the lowest index of the largest value; NaN counts as the largest. */
#include "ops/shape.h"

static bool infer(heed_node *n) {
    const int *dim = n->args;
    int axis, shape[HEED_DIMS];
    if (!heed__axis(n, *dim, &axis)) return false;
    memcpy(shape, n->in[0]->shape, sizeof shape);
    shape[axis] = 1;
    return heed_op_output(n, n->in[0]->dims, shape);
}

/* Treats the dim as a pooling window: (outer, size, inner) are images, pixels and channels; with a
 * single channel, the pixels form one line. */
static heed_pool_job job_of(const heed_node *n, heed_real scale) {
    heed__slab s = heed__slab_of(n->in[0], heed__axis_of(n));
    int rows = s.inner == 1 ? 1 : (int)s.size, cols = s.inner == 1 ? (int)s.size : 1;
    return (heed_pool_job){.batch = s.outer,
                           .c = s.inner,
                           .h = rows,
                           .w = cols,
                           .oh = 1,
                           .ow = 1,
                           .size = {rows, cols},
                           .stride = {1, 1},
                           .scale = scale,
                           .x = n->in[0]->x,
                           .y = n->y->x,
                           .from = n->scratch};
}

static heed_pool_job back_of(heed_node *n, heed_real scale) {
    heed_pool_job j = job_of(n, scale);
    j.x = heed_grad(n, 0);
    j.y = n->y->g;
    return j;
}

static void sums(heed_node *n, heed_real scale) {
    heed_pool_job j = job_of(n, scale);
    n->k->sum_pool(n->k, &j);
}
static void spread(heed_node *n, heed_real scale) {
    heed_pool_job j = back_of(n, scale);
    if (j.x) n->k->sum_pool_grad(n->k, &j);
}

static heed_real share(const heed_node *n) {
    int size = n->in[0]->shape[heed__axis_of(n)];
    return (heed_real)(1.0 / (size ? size : 1));
}

static void sum(heed_node *n) { sums(n, 1); }
static void sum_back(heed_node *n) { spread(n, 1); }
static void mean(heed_node *n) { sums(n, share(n)); }
static void mean_back(heed_node *n) { spread(n, share(n)); }

static bool infer_max(heed_node *n) {
    if (!infer(n)) return false;
    if (n->in[0]->shape[heed__axis_of(n)] == 0)
        return heed__bad_shape(n, 0, "there are no elements");
    n->scratch = heed_scratch(n, n->y->size * sizeof(int32_t));
    return n->scratch != NULL;
}

/* scratch: for each output, the index in the reduced dim that it came from */
static void max(heed_node *n) {
    heed_pool_job j = job_of(n, 1);
    n->k->max_pool(n->k, &j);
}
static void max_back(heed_node *n) {
    heed_pool_job j = back_of(n, 1);
    if (j.x) n->k->max_pool_grad(n->k, &j);
}

static const int dim0 = 0, dim1 = 1, dim2 = 2, last = -1;
static const heed_case cases[] = {{.shapes = "5", .args = &dim0},
                                  {.shapes = "1", .args = &dim0},
                                  {.shapes = "3x5", .args = &dim0},
                                  {.shapes = "3x5", .args = &last},
                                  {.shapes = "3x1x2", .args = &dim1},
                                  {.shapes = "2x3x4x5", .args = &dim2},
                                  {.shapes = "2x3x4x5", .args = &dim0},
                                  {.shapes = "2x3x4x9", .args = &last},
                                  {0}};
static const heed_case max_cases[] = {{.shapes = "5", .args = &dim0, .apart = true},
                                      {.shapes = "1", .args = &dim0, .apart = true},
                                      {.shapes = "3x5", .args = &dim0, .apart = true},
                                      {.shapes = "3x5", .args = &last, .apart = true},
                                      {.shapes = "2x3x4x5", .args = &dim2, .apart = true},
                                      {.shapes = "2x9x4", .args = &dim1, .apart = true},
                                      {0}};

const heed_op heed_ops_reduce[] = {
    {"sum_dim", "r", infer, sum, sum_back, cases, sizeof(int)},
    {"mean_dim", "r", infer, mean, mean_back, cases, sizeof(int)},
    {"max_dim", "r", infer_max, max, max_back, max_cases, sizeof(int)},
    {0}};

heed_tensor *heed_sum_dim(heed_tape *t, heed_tensor *x, int dim) {
    return heed_push(t, &heed_ops_reduce[0], &dim, x);
}
heed_tensor *heed_mean_dim(heed_tape *t, heed_tensor *x, int dim) {
    return heed_push(t, &heed_ops_reduce[1], &dim, x);
}
heed_tensor *heed_max_dim(heed_tape *t, heed_tensor *x, int dim) {
    return heed_push(t, &heed_ops_reduce[2], &dim, x);
}
