/* concat.c -- concatenation along a dim; all other sizes must be equal. */
#include "ops/shape.h"

static bool infer(heed_node *n) {
    const int *dim = n->args;
    int axis, shape[HEED_DIMS];
    if (n->inputs < 1) return heed_op_error(n, "the list is empty");
    if (!heed__axis(n, *dim, &axis)) return false;
    memcpy(shape, n->in[0]->shape, sizeof shape);
    for (int i = 1; i < n->inputs; i++) {
        const heed_tensor *x = n->in[i];
        bool fits = x->dims == n->in[0]->dims && x->shape[axis] <= INT32_MAX - shape[axis];
        for (int d = 0; fits && d < x->dims; d++) fits = d == axis || x->shape[d] == shape[d];
        if (!fits) return heed__bad_shapes(n, 0, i, "they differ in more than dim %d", axis);
        shape[axis] += x->shape[axis];
    }
    return heed_op_output(n, n->in[0]->dims, shape);
}

static void forward(heed_node *n) {
    size_t at = 0;
    for (int i = 0; i < n->inputs; i++) {
        const heed_tensor *x = n->in[i];
        heed__copy(n, x, n->y->x + at, n->y, x->x, x, false);
        at += heed__extent(x, heed__axis_of(n), x->dims);
    }
}

static void backward(heed_node *n) {
    size_t at = 0;
    for (int i = 0; i < n->inputs; i++) {
        const heed_tensor *x = n->in[i];
        bool add;
        heed_real *gx = heed_grad_into(n, i, &add);
        if (gx) heed__copy(n, x, gx, x, n->y->g + at, n->y, add);
        at += heed__extent(x, heed__axis_of(n), x->dims);
    }
}

static const int first = 0, second = 1, last = -1;
static const heed_case cases[] = {{.shapes = "3 1 2", .args = &first},
                                  {.shapes = "2x3 4x3", .args = &first},
                                  {.shapes = "2x3 2x1 2x4", .args = &last},
                                  {.shapes = "2x3x4x2 2x1x4x2", .args = &second},
                                  {.shapes = "2x3x4x2 2x3x4x7", .args = &last},
                                  {.shapes = "3x5", .args = &last},
                                  {0}};

const heed_op heed_ops_concat[] = {{"concat", "r*", infer, forward, backward, cases, sizeof(int)},
                                   {0}};

heed_tensor *heed_concat(heed_tape *t, int dim, int count, heed_tensor *const *x) {
    return heed_push_list(t, heed_ops_concat, &dim, count, x);
}
