/* where.c -- y = mask ? a : b, elementwise and broadcasting; the gradient goes to the one used. */
#include "ops/shape.h"

enum { MASK, A, B };

/* The offset in each input that an element of the output comes from. */
typedef struct {
    size_t stride[3][HEED_DIMS];
    int shape[HEED_DIMS];
} places;

static places places_of(const heed_node *n) {
    places p;
    for (int i = 0; i < 3; i++) heed__strides(n->in[i], p.stride[i]);
    for (int i = 0; i < HEED_DIMS; i++) p.shape[i] = heed__from_last(n->y, HEED_DIMS - 1 - i);
    return p;
}

static size_t place(const places *p, int input, size_t element) {
    size_t at = 0;
    for (int i = HEED_DIMS - 1; i >= 0; i--) {
        at += element % (size_t)p->shape[i] * p->stride[input][i];
        element /= (size_t)p->shape[i];
    }
    return at;
}

static void forward(heed_node *n) {
    places p = places_of(n);
    for (size_t e = 0; e < n->y->size; e++) {
        int from = n->in[MASK]->i[place(&p, MASK, e)] ? A : B;
        n->y->x[e] = n->in[from]->x[place(&p, from, e)];
    }
}

static void backward(heed_node *n) {
    places p = places_of(n);
    heed_real *g[3] = {NULL, heed_grad(n, A), heed_grad(n, B)};
    for (size_t e = 0; e < n->y->size; e++) {
        int from = n->in[MASK]->i[place(&p, MASK, e)] ? A : B;
        if (g[from]) g[from][place(&p, from, e)] += n->y->g[e];
    }
}

static const heed_case cases[] = {{.shapes = "m3x5 3x5 3x5"},       {.shapes = "m5 3x5 s"},
                                  {.shapes = "m2x1x4 4 2x3x1"},     {.shapes = "ms s s"},
                                  {.shapes = "m2x3x2x2 1x3x1x2 2"}, {0}};

const heed_op heed_ops_where[] = {
    {"where", "irr", heed__out_broadcast, forward, backward, cases, 0}, {0}};

heed_tensor *heed_where(heed_tape *t, heed_tensor *mask, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, heed_ops_where, NULL, mask, a, b);
}
