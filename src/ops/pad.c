/* pad.c -- x with `before` and `after` elements of one value added at the ends of a dim. */
#include "ops/args.h"
#include "ops/shape.h"

static bool infer(heed_node *n) {
    const heed__pad_args *a = n->args;
    int axis, shape[HEED_DIMS];
    if (!heed__axis(n, a->dim, &axis)) return false;
    memcpy(shape, n->in[0]->shape, sizeof shape);
    int capacity = INT32_MAX - shape[axis];
    if (a->before < 0 || a->after < 0 || a->before > capacity || a->after > capacity - a->before)
        return heed__bad_shape(n, 0, "cannot pad dim %d by %d and %d", axis, a->before, a->after);
    shape[axis] += a->before + a->after;
    return heed_op_output(n, n->in[0]->dims, shape);
}

static void forward(heed_node *n) {
    const heed__pad_args *a = n->args;
    heed__slab s = heed__slab_of(n->in[0], heed__axis_of(n));
    size_t run = s.size * s.inner, skip = (size_t)a->before * s.inner;
    size_t all = run + skip + (size_t)a->after * s.inner;
    n->k->fill(n->k, n->y->x, a->value, n->y->size);
    for (size_t o = 0; o < s.outer; o++)
        memcpy(n->y->x + o * all + skip, n->in[0]->x + o * run, run * sizeof(heed_real));
}

static void backward(heed_node *n) {
    const heed__pad_args *a = n->args;
    heed__slab s = heed__slab_of(n->in[0], heed__axis_of(n));
    size_t run = s.size * s.inner, skip = (size_t)a->before * s.inner;
    size_t all = run + skip + (size_t)a->after * s.inner;
    heed_real *gx = heed_grad(n, 0);
    for (size_t o = 0; gx && o < s.outer; o++)
        n->k->axpy(n->k, gx + o * run, n->y->g + o * all + skip, 1, run);
}

static const heed__pad_args rows = {0, 1, 2, 0}, cols = {-1, 0, 3, 7}, none = {0, 0, 0, 0},
                            inner = {2, 2, 0, -1};
static const heed_case cases[] = {
    {.shapes = "3", .args = &rows},        {.shapes = "1", .args = &none},
    {.shapes = "2x3", .args = &rows},      {.shapes = "2x3", .args = &cols},
    {.shapes = "2x3x4x5", .args = &inner}, {0}};

const heed_op heed_ops_pad[] = {
    {"pad", "r", infer, forward, backward, cases, sizeof(heed__pad_args)}, {0}};

heed_tensor *heed_pad(heed_tape *t, heed_tensor *x, int dim, int before, int after,
                      heed_real value) {
    return heed_push(t, heed_ops_pad, &(heed__pad_args){dim, before, after, value}, x);
}
