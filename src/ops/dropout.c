/* dropout.c -- in training each element is 0 with probability p, else x / (1 - p); in eval y is x,
 * as a view. Srivastava et al. 2014, sec. 10, inverted. 16 bits of the node's random stream decide
 * on an element, so both p are rounded to 1/65536; a bit per element is kept for backward.
 * dropout_add adds x to another tensor. */
#include "ops/shape.h"

static bool drops(const heed_node *n) {
    const heed_real *p = n->args;
    return n->training && *p > 0;
}

static bool check(heed_node *n) {
    const heed_real *p = n->args;
    return (*p >= 0 && *p < 1) ||
           heed_op_error(n, "the probability %g is not in [0, 1)", (double)*p);
}

static bool infer(heed_node *n) {
    if (!check(n)) return false;
    return drops(n) ? heed_op_output_like(n, 0)
                    : heed_op_output_view(n, 0, 0, n->in[0]->dims, n->in[0]->shape);
}

static void drop(heed_node *n, const heed_tensor *x, const heed_tensor *onto) {
    const heed_real *p = n->args;
    heed_random r = heed_node_random(n);
    n->scratch = heed_scratch(n, (x->size + 31) / 32 * sizeof(uint32_t));
    if (n->scratch)
        n->k->dropout(n->k, n->y->x, x->x, heed__values(onto), n->training ? *p : 0, &r, n->scratch,
                      x->size);
}
static void drop_back(heed_node *n, int i) {
    const heed_real *p = n->args;
    bool add;
    heed_real *gx = heed_grad_into(n, i, &add);
    if (gx)
        n->k->dropout_grad(n->k, gx, n->y->g, n->training ? *p : 0, n->scratch, n->y->size, add);
}

static void forward(heed_node *n) {
    if (drops(n)) drop(n, n->in[0], NULL);
}

static void backward(heed_node *n) {
    if (drops(n))
        drop_back(n, 0);
    else
        heed_view_backward(n);
}

enum { ONTO, X };

static bool infer_add(heed_node *n) {
    if (!check(n)) return false;
    const heed_tensor *onto = n->in[ONTO], *x = n->in[X];
    if (onto->dims != x->dims || memcmp(onto->shape, x->shape, sizeof x->shape) != 0)
        return heed__bad_shapes(n, ONTO, X, "the shapes differ");
    return heed_op_output_like(n, ONTO);
}

static void forward_add(heed_node *n) { drop(n, n->in[X], n->in[ONTO]); }

static void backward_add(heed_node *n) {
    drop_back(n, X);
    if (heed__grad_may_take(n, ONTO)) {
        heed__grad_take(n, ONTO);
        return;
    }
    heed_real *g = heed_grad(n, ONTO);
    if (g) n->k->axpy(n->k, g, n->y->g, 1, n->y->size);
}

static const heed_real tenth = (heed_real)0.1, half = (heed_real)0.5, none = 0;
static const heed_case cases[] = {{.shapes = "7x9", .args = &half},
                                  {.shapes = "2x3x4x5", .args = &tenth},
                                  {.shapes = "s", .args = &tenth},
                                  {.shapes = "3x5", .args = &none},
                                  {.shapes = "3x5", .args = &half, .eval = true},
                                  {0}};

static const heed_case sums[] = {{.shapes = "7x9 7x9", .args = &half},
                                 {.shapes = "2x3x4x5 2x3x4x5", .args = &tenth},
                                 {.shapes = "s s", .args = &none},
                                 {.shapes = "3x5 3x5", .args = &half, .eval = true},
                                 {0}};

const heed_op heed_ops_dropout[] = {
    {"dropout", "r", infer, forward, backward, cases, sizeof(heed_real)},
    {"dropout_add", "rr", infer_add, forward_add, backward_add, sums, sizeof(heed_real)},
    {0}};

heed_tensor *heed_dropout(heed_tape *t, heed_tensor *x, heed_real p) {
    return heed_push(t, heed_ops_dropout, &p, x);
}

heed_tensor *heed_dropout_add(heed_tape *t, heed_tensor *onto, heed_tensor *x, heed_real p) {
    return heed_push(t, &heed_ops_dropout[1], &p, onto, x);
}
