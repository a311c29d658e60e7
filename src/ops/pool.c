/* pool.c -- maximum and average over windows of an image, channels last, and the mean of an entire
 * image. The gradient of a maximum goes to the first maximum of its window; NaN counts as the
 * largest. */
#include "ops/shape.h"

#define MOST (1 << 20) /* of a setting */

static bool check_args(heed_node *n) {
    const heed_pool_args *a = n->args;
    for (int d = 0; d < 2; d++) {
        if (a->size[d] < 1 || a->size[d] > MOST || a->stride[d] < 1 || a->stride[d] > MOST)
            return heed_op_error(n, "a window of %d and stride of %d are not in 1 .. %d",
                                 a->size[d], a->stride[d], MOST);
        if (a->pad[d] < 0 || a->pad[d] > a->size[d] / 2)
            return heed_op_error(n, "pad %d is not in 0 .. half of the window, %d", a->pad[d],
                                 a->size[d] / 2);
    }
    return true;
}

/* Pixels of an image are counted in 32 bits. */
static bool fits(heed_node *n) {
    const heed_tensor *x = n->in[0];
    return (double)x->shape[1] * x->shape[2] <= INT32_MAX ||
           heed__bad_shape(n, 0, "the image is too large");
}

static bool infer(heed_node *n) {
    const heed_pool_args *a = n->args;
    const heed_tensor *x = n->in[0];
    if (!check_args(n)) return false;
    if (x->dims != 4) return heed__bad_shape(n, 0, "x needs 4 dims, (B,H,W,C)");
    if (!fits(n)) return false;
    int shape[4] = {x->shape[0], 0, 0, x->shape[3]};
    for (int d = 0; d < 2; d++) {
        long long padded = (long long)x->shape[1 + d] + 2LL * a->pad[d];
        if (x->shape[1 + d] < 1 || padded > INT32_MAX || padded < a->size[d])
            return heed__bad_shape(n, 0, "a window of %d %s does not fit", a->size[d],
                                   d ? "columns" : "rows");
        shape[1 + d] = (int)((padded - a->size[d]) / a->stride[d]) + 1;
    }
    return heed_op_output(n, 4, shape);
}

static bool infer_max(heed_node *n) {
    if (!infer(n)) return false;
    n->scratch = heed_scratch(n, n->y->size * sizeof(int32_t));
    return n->scratch != NULL;
}

/* Without arguments, the entire image is a single window. */
static heed_pool_job job_of(const heed_node *n) {
    const heed_tensor *x = n->in[0], *y = n->y;
    const heed_pool_args full = {.size = {x->shape[1], x->shape[2]}, .stride = {1, 1}};
    const heed_pool_args *a = n->args ? n->args : &full;
    return (heed_pool_job){.batch = (size_t)x->shape[0],
                           .h = x->shape[1],
                           .w = x->shape[2],
                           .c = (size_t)x->shape[3],
                           .oh = n->args ? y->shape[1] : 1,
                           .ow = n->args ? y->shape[2] : 1,
                           .size = {a->size[0], a->size[1]},
                           .stride = {a->stride[0], a->stride[1]},
                           .pad = {a->pad[0], a->pad[1]},
                           .scale = (heed_real)(1 / ((double)a->size[0] * a->size[1])),
                           .x = x->x,
                           .y = y->x,
                           .from = n->scratch};
}

/* The same of the gradients. */
static heed_pool_job back_of(heed_node *n) {
    heed_pool_job j = job_of(n);
    j.x = heed_grad(n, 0);
    j.y = n->y->g;
    return j;
}

/* scratch: for each output, the pixel of its image that it came from */
static void max(heed_node *n) {
    heed_pool_job j = job_of(n);
    n->k->max_pool(n->k, &j);
}
static void max_back(heed_node *n) {
    heed_pool_job j = back_of(n);
    if (j.x) n->k->max_pool_grad(n->k, &j);
}

static void avg(heed_node *n) {
    heed_pool_job j = job_of(n);
    n->k->sum_pool(n->k, &j);
}
static void avg_back(heed_node *n) {
    heed_pool_job j = back_of(n);
    if (j.x) n->k->sum_pool_grad(n->k, &j);
}

static bool infer_global(heed_node *n) {
    const heed_tensor *x = n->in[0];
    if (x->dims != 4) return heed__bad_shape(n, 0, "x needs 4 dims, (B,H,W,C)");
    if (!x->shape[1] || !x->shape[2]) return heed__bad_shape(n, 0, "there are no pixels");
    if (!fits(n)) return false;
    return heed_op_output(n, 2, (int[]){x->shape[0], x->shape[3]});
}

static const heed_pool_args two = {{2, 2}, {2, 2}, {0, 0}}, padded = {{3, 3}, {2, 2}, {1, 1}},
                            dense = {{3, 2}, {1, 1}, {1, 0}}, lone = {{1, 1}, {1, 1}, {0, 0}},
                            sparse = {{1, 2}, {2, 3}, {0, 1}};
static const heed_case max_cases[] = {{.shapes = "1x4x6x3", .args = &two, .apart = true},
                                      {.shapes = "1x5x4x3", .args = &padded, .apart = true},
                                      {.shapes = "1x4x4x5", .args = &dense, .apart = true},
                                      {.shapes = "2x3x2x2", .args = &lone, .apart = true},
                                      {.shapes = "1x5x7x2", .args = &sparse, .apart = true},
                                      {.shapes = "1x2x2x19", .args = &two, .apart = true},
                                      {0}};
static const heed_case avg_cases[] = {
    {.shapes = "2x4x6x3", .args = &two},    {.shapes = "2x5x4x3", .args = &padded},
    {.shapes = "1x4x4x17", .args = &dense}, {.shapes = "2x3x2x2", .args = &lone},
    {.shapes = "2x5x7x2", .args = &sparse}, {0}};
static const heed_case global_cases[] = {
    {.shapes = "2x3x4x5"}, {.shapes = "1x1x1x1"}, {.shapes = "3x2x2x17"}, {0}};

const heed_op heed_ops_pool[] = {
    {"max_pool", "r", infer_max, max, max_back, max_cases, sizeof(heed_pool_args)},
    {"avg_pool", "r", infer, avg, avg_back, avg_cases, sizeof(heed_pool_args)},
    {"global_pool", "r", infer_global, avg, avg_back, global_cases, 0},
    {0}};

static heed_tensor *pooled(heed_tape *t, const heed_op *op, heed_tensor *x,
                           const heed_pool_args *a) {
    if (!a) return NULL;
    heed_pool_args all = *a;
    for (int d = 0; d < 2; d++)
        if (!all.stride[d]) all.stride[d] = all.size[d];
    return heed_push(t, op, &all, x);
}
heed_tensor *heed_max_pool(heed_tape *t, heed_tensor *x, const heed_pool_args *a) {
    return pooled(t, &heed_ops_pool[0], x, a);
}
heed_tensor *heed_avg_pool(heed_tape *t, heed_tensor *x, const heed_pool_args *a) {
    return pooled(t, &heed_ops_pool[1], x, a);
}
heed_tensor *heed_global_pool(heed_tape *t, heed_tensor *x) {
    return heed_push(t, &heed_ops_pool[2], NULL, x);
}
