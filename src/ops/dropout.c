/* dropout.c -- in training each element is 0 with probability p, else x / (1 - p); in eval y is x,
 * as a view. Srivastava et al. 2014, sec. 10, inverted. Word i of the node's random stream decides
 * on element i, so backward draws it again instead of storing a mask. */
#include "ops/shape.h"

static bool drops(const heed_node *n) {
    const heed_real *p = n->args;
    return n->training && *p > 0;
}

static bool infer(heed_node *n) {
    const heed_real *p = n->args;
    if (!(*p >= 0 && *p < 1))
        return heed_wrong(n, "the probability %g is not in [0, 1)", (double)*p);
    if (!heed__accepts(n, "r")) return false;
    return drops(n) ? heed_out_like(n, 0) : heed_out_view(n, 0, 0, n->in[0]->dims, n->in[0]->shape);
}

static void forward(heed_node *n) {
    const heed_real *p = n->args;
    heed_random r = heed_node_random(n);
    if (drops(n)) n->k->dropout(n->k, n->y->x, n->in[0]->x, *p, &r, n->y->size, false);
}

static void backward(heed_node *n) {
    if (!drops(n)) {
        heed_view_backward(n);
        return;
    }
    const heed_real *p = n->args;
    heed_random r = heed_node_random(n);
    bool add;
    heed_real *gx = heed_grad_into(n, 0, &add);
    if (gx) n->k->dropout(n->k, gx, n->y->g, *p, &r, n->y->size, add);
}

static const heed_real tenth = (heed_real)0.1, half = (heed_real)0.5, none = 0;
static const heed_case cases[] = {{.shapes = "7x9", .args = &half},
                                  {.shapes = "2x3x4x5", .args = &tenth},
                                  {.shapes = "s", .args = &tenth},
                                  {.shapes = "3x5", .args = &none},
                                  {.shapes = "3x5", .args = &half, .eval = true},
                                  {0}};

const heed_op heed_ops_dropout[] = {
    {"dropout", 1, infer, forward, backward, cases, sizeof(heed_real), 0}, {0}};

heed_tensor *heed_dropout(heed_tape *t, heed_tensor *x, heed_real p) {
    return heed_push(t, heed_ops_dropout, &p, x);
}
