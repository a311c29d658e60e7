/* permute.c -- y.shape[i] = x.shape[order[i]]: y is a copy with permuted dims. */
#include "ops/args.h"
#include "ops/shape.h"

static bool infer(heed_node *n) {
    const int *order = ((const heed__permute_args *)n->args)->order;
    const heed_tensor *x = n->in[0];
    int shape[HEED_DIMS];
    unsigned seen = 0;
    for (int i = 0; i < x->dims; i++) {
        if (order[i] < 0 || order[i] >= x->dims || (seen >> order[i] & 1u))
            return heed__bad_shape(n, 0, "order[%d] = %d: expected each of 0 .. %d once", i,
                                   order[i], x->dims - 1);
        seen |= 1u << order[i];
        shape[i] = x->shape[order[i]];
    }
    return heed_op_output(n, x->dims, shape);
}

/* to (contiguous) = or += from, where dim i of `to` is dim order[i] of `from`. */
static void reorder(heed_node *n, heed_real *to, const heed_tensor *like, const int *order,
                    const heed_real *from, const heed_tensor *source, bool add) {
    int lead = HEED_DIMS - source->dims;
    heed_walk w = {.shape = {1, 1, 1, 1}};
    for (int i = 0; i < source->dims; i++) {
        w.shape[lead + i] = like->shape[i];
        w.a[lead + i] = heed__extent(source, order[i] + 1, source->dims);
        w.c[lead + i] = heed__extent(like, i + 1, like->dims);
    }
    n->k->permute(n->k, to, from, &w, add);
}

static void forward(heed_node *n) {
    const heed__permute_args *a = n->args;
    reorder(n, n->y->x, n->y, a->order, n->in[0]->x, n->in[0], false);
}

static void backward(heed_node *n) {
    const int *order = ((const heed__permute_args *)n->args)->order;
    heed_real *gx = heed_grad(n, 0);
    int inverse[HEED_DIMS] = {0};
    for (int i = 0; i < n->y->dims; i++) inverse[order[i]] = i;
    if (gx) reorder(n, gx, n->in[0], inverse, n->y->g, n->y, true);
}

static const heed__permute_args swap = {{1, 0}}, same = {{0}}, heads = {{0, 2, 1, 3}},
                                turn = {{3, 0, 2, 1}}, last = {{0, 2, 1}};
static const heed_case cases[] = {{.shapes = "s", .args = &same},
                                  {.shapes = "5", .args = &same},
                                  {.shapes = "3x5", .args = &swap},
                                  {.shapes = "2x3x4x5", .args = &heads},
                                  {.shapes = "2x3x4x5", .args = &turn},
                                  {.shapes = "1x7x2", .args = &last},
                                  {0}};

const heed_op heed_ops_permute[] = {
    {"permute", "r", infer, forward, backward, cases, sizeof(heed__permute_args)}, {0}};

heed_tensor *heed_permute(heed_tape *t, heed_tensor *x, const int *order) {
    heed__permute_args a = {{0}};
    if (!x) return NULL;
    if (!order) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "permute: expected an order of dims, found NULL");
        return NULL;
    }
    if (x->dims) memcpy(a.order, order, (size_t)x->dims * sizeof *order);
    return heed_push(t, heed_ops_permute, &a, x);
}
