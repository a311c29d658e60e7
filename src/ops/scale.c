/* scale.c -- y = scale x + shift */
#include "ops/args.h"
#include "ops/shape.h"

static void forward(heed_node *n) {
    const heed__scale_args *l = n->args;
    n->k->scale(n->k, n->y->x, n->in[0]->x, l->scale, l->shift, n->y->size);
}

static void backward(heed_node *n) {
    const heed__scale_args *l = n->args;
    heed_real *gx = heed_grad(n, 0);
    if (gx) n->k->axpy(n->k, gx, n->y->g, l->scale, n->y->size);
}

static const heed__scale_args half = {(heed_real)0.5, 3}, minus = {-2, 0}, none = {0, 1};
static const heed_case cases[] = {{.shapes = "3x5", .args = &half},
                                  {.shapes = "s", .args = &minus},
                                  {.shapes = "1", .args = &none},
                                  {.shapes = "2x3x4x5", .args = &minus},
                                  {0}};

const heed_op heed_ops_scale[] = {
    {"scale", "r", NULL, forward, backward, cases, sizeof(heed__scale_args)}, {0}};

heed_tensor *heed_scale(heed_tape *t, heed_tensor *x, heed_real scale, heed_real shift) {
    return heed_push(t, heed_ops_scale, &(heed__scale_args){scale, shift}, x);
}
