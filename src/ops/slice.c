/* slice.c -- a range of one dim: y = x[.., from : from + size, ..]. A view if the range is
 * contiguous (all dims before it have size 1), else a copy. */
#include "ops/args.h"
#include "ops/shape.h"

/* Where the range begins in x. */
static size_t begin(const heed_node *n) {
    const heed__slice_args *a = n->args;
    const heed_tensor *x = n->in[0];
    return (size_t)a->from * heed__extent(x, heed__axis_of(n) + 1, x->dims);
}

static bool is_view(const heed_node *n) { return heed__extent(n->in[0], 0, heed__axis_of(n)) == 1; }

static bool infer(heed_node *n) {
    const heed__slice_args *a = n->args;
    const heed_tensor *x = n->in[0];
    int axis, shape[HEED_DIMS];
    if (!heed__axis(n, a->dim, &axis)) return false;
    if (a->from < 0 || a->size < 0 || a->from > x->shape[axis] - a->size)
        return heed__bad_shape(n, 0, "from %d, size %d exceeds dim %d", a->from, a->size, axis);
    memcpy(shape, x->shape, sizeof shape);
    shape[axis] = a->size;
    if (!is_view(n)) return heed_op_output(n, x->dims, shape);
    return heed_op_output_view(n, 0, begin(n), x->dims, shape);
}

static void forward(heed_node *n) {
    const heed_tensor *x = n->in[0];
    if (!is_view(n)) heed__copy(n, n->y, n->y->x, n->y, x->x + begin(n), x, false);
}

static void backward(heed_node *n) {
    if (is_view(n)) {
        heed_view_backward(n);
        return;
    }
    heed_real *gx = heed_grad(n, 0);
    if (gx) heed__copy(n, n->y, gx + begin(n), n->in[0], n->y->g, n->y, true);
}

static const heed__slice_args head = {0, 0, 2}, middle = {0, 1, 1}, tail = {-1, 3, 2},
                              all = {1, 0, 3}, inner = {2, 1, 2}, lead = {1, 1, 2};
static const heed_case cases[] = {{.shapes = "5", .args = &head},
                                  {.shapes = "3x5", .args = &middle},
                                  {.shapes = "3x5", .args = &tail},
                                  {.shapes = "2x3", .args = &all},
                                  {.shapes = "2x3x4x5", .args = &inner},
                                  {.shapes = "1x3x4", .args = &lead},
                                  {0}};

const heed_op heed_ops_slice[] = {
    {"slice", "r", infer, forward, backward, cases, sizeof(heed__slice_args)}, {0}};

heed_tensor *heed_slice(heed_tape *t, heed_tensor *x, int dim, int from, int size) {
    return heed_push(t, heed_ops_slice, &(heed__slice_args){dim, from, size}, x);
}
