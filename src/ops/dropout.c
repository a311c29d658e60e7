/* dropout.c -- in training each element is 0 with probability p, else x / (1 - p); in eval y is x,
 * as a view. Srivastava et al. 2014, sec. 10, inverted. Word i of the node's random stream decides
 * on element i, so backward draws it again instead of storing a mask. */
#include "ops/shape.h"

typedef struct {
    heed_real p;
} drop_args;

static bool drops(const heed_node *n) {
    const drop_args *a = n->args;
    return n->training && a->p > 0;
}

static bool infer(heed_node *n) {
    const drop_args *a = n->args;
    if (!(a->p >= 0 && a->p < 1))
        return heed_wrong(n, "the probability %g is not in [0, 1)", (double)a->p);
    if (!heed__accepts(n, "r")) return false;
    return drops(n) ? heed_out_like(n, 0) : heed_out_view(n, 0, 0, n->in[0]->dims, n->in[0]->shape);
}

static void forward(heed_node *n) {
    const drop_args *a = n->args;
    heed_random r = heed_node_random(n);
    if (drops(n)) n->k->dropout(n->k, n->y->x, n->in[0]->x, a->p, &r, n->y->size, false);
}

static void backward(heed_node *n) {
    if (!drops(n)) {
        heed_view_backward(n);
        return;
    }
    const drop_args *a = n->args;
    heed_random r = heed_node_random(n);
    bool add;
    heed_real *gx = heed_grad_into(n, 0, &add);
    if (gx) n->k->dropout(n->k, gx, n->y->g, a->p, &r, n->y->size, add);
}

static const drop_args tenth = {(heed_real)0.1}, half = {(heed_real)0.5}, none = {0};
static const heed_case cases[] = {{.shapes = "7x9", .args = &half},
                                  {.shapes = "2x3x4x5", .args = &tenth},
                                  {.shapes = "s", .args = &tenth},
                                  {.shapes = "3x5", .args = &none},
                                  {.shapes = "3x5", .args = &half, .eval = true},
                                  {0}};

const heed_op heed_ops_dropout[] = {
    {"dropout", 1, infer, forward, backward, cases, sizeof(drop_args), 0}, {0}};

heed_tensor *heed_dropout(heed_tape *t, heed_tensor *x, heed_real p) {
    return heed_push(t, heed_ops_dropout, &(drop_args){p}, x);
}
