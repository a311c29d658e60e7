/* affine.c -- y = act(x W' + b): a dense layer in one pass over the output. With p = x W' + b and
 * gp = act'(p) gy: gx = gp W, gW = gp' x, gb = sum of the rows of gp. */
#include "ops/shape.h"

#include <limits.h>

enum { X, W, B };

static bool infer(heed_node *n) {
    const heed_tensor *x = n->in[X], *w = n->in[W], *b = n->in[B];
    if (x->dims < 1) return heed__bad_shape(n, X, "x needs at least 1 dim");
    if (w->dims != 2) return heed__bad_shapes(n, X, W, "the weight needs 2 dims, (out,in)");
    int in = heed__from_last(x, 0);
    if (in != w->shape[1]) return heed__bad_shapes(n, X, W, "inner %d != %d", in, w->shape[1]);
    if (heed__extent(x, 0, x->dims - 1) > INT_MAX)
        return heed__bad_shape(n, X, "x has more than 2^31 - 1 rows");
    if (b && (b->dims != 1 || b->shape[0] != w->shape[0]))
        return heed__bad_shapes(n, W, B, "the bias is not (%d)", w->shape[0]);
    int shape[HEED_DIMS];
    memcpy(shape, x->shape, sizeof shape);
    shape[x->dims - 1] = w->shape[0];
    return heed_op_output(n, x->dims, shape);
}

static int rows_of(const heed_tensor *x) { return (int)heed__extent(x, 0, x->dims - 1); }

/* Without an activation nothing reads the values that were dropped. */
static void again(heed_node *n) {
    const heed_act *f = n->args;
    if (*f == HEED_IDENTITY) return;
    n->y->x = heed_scratch(n, n->y->size * sizeof *n->y->x);
    if (n->y->x) n->k->activate(n->k, *f, n->y->x, n->scratch, n->y->size);
}

static void forward(heed_node *n) {
    const heed_act *f = n->args;
    const heed_tensor *w = n->in[W], *b = n->in[B];
    int in = w->shape[1], out = w->shape[0];
    if (n->recording && !heed__act_uses_value(*f)) {
        n->scratch = heed_scratch(n, n->y->size * sizeof(heed_real));
        if (!n->scratch) return;
    }
    heed_gemm g = heed__gemm_of(rows_of(n->y), out, in, n->in[X]->x, in, w->x, in, n->y->x, out);
    g.tb = true;
    g.bias = b ? b->x : NULL;
    g.act = *f;
    g.pre = n->scratch;
    g.bf16 = n->training;
    n->k->gemm(n->k, &g);
    if (*f == HEED_IDENTITY || n->scratch) n->again = again;
}

/* act'(p) gy: in place, unless gy is read again. Adds the gradient of the bias. */
static heed_real *grad_before_act(heed_node *n, heed_real *gb) {
    const heed_act *f = n->args;
    const heed_tensor *y = n->y;
    size_t rows = (size_t)rows_of(y);
    int out = heed__from_last(y, 0);
    heed_real *gp = y->g;
    if (*f == HEED_IDENTITY) {
        if (gb) n->k->sum_rows(n->k, gb, gp, rows, out);
        return gp;
    }
    if (heed__of(y)->keep_grad || heed__grad_lent(n)) {
        gp = heed_scratch(n, y->size * sizeof *gp);
        if (!gp) return NULL;
        n->k->copy(n->k, gp, y->g, y->size);
    }
    n->k->activate_grad_rows(n->k, *f, gp, gb, n->scratch, y->x, rows, out);
    return gp;
}

/* Of a small product of many rows, each thread would compute some rows, and so read all rows of B
 * and some columns of A. Of the halves of the sums it reads other rows of both, which are probably
 * in its cache, because the ops before divided them in the same way. */
void heed__grad_product(heed_node *n, const heed_gemm *product) {
    enum { LEAST_TERMS = 256, MOST = 1 << 16 };
    heed_gemm g[2] = {*product, *product};
    size_t size = (size_t)g->m * (size_t)g->n, first = (size_t)g->k / 2;
    g->ta = g[1].ta = true;
    if (g->k < LEAST_TERMS || size > MOST || g->m < 16 || g->ldc != g->n) {
        n->k->gemm(n->k, g);
        return;
    }
    g->twin = true;
    g->k = (int)first;
    g[1].k -= (int)first;
    g[1].a += first * (size_t)g->lda;
    g[1].b += first * (size_t)g->ldb;
    g[1].add = false;
    g[1].c = heed_scratch(n, size * sizeof *g->c);
    if (!g[1].c) return;
    n->k->gemm(n->k, g);
    n->k->axpy(n->k, g->c, g[1].c, 1, size);
    heed_scratch_done(n, g[1].c, size * sizeof *g->c);
}

static void backward(heed_node *n) {
    const heed_tensor *x = n->in[X], *w = n->in[W];
    int rows = rows_of(n->y), in = w->shape[1], out = w->shape[0];
    heed_real *gp = grad_before_act(n, heed_grad(n, B));
    if (!gp) return;
    bool add;
    heed_real *gx = heed_grad_into(n, X, &add), *gw = heed_grad(n, W);
    if (gx) {
        heed_gemm g = heed__gemm_of(rows, in, out, gp, out, w->x, in, gx, in);
        g.add = add, g.bf16 = n->training;
        n->k->gemm(n->k, &g);
    }
    if (gw) {
        heed_gemm g = heed__gemm_of(out, in, rows, gp, out, x->x, in, gw, in);
        g.add = true, g.bf16 = n->training;
        heed__grad_product(n, &g);
    }
    if (gp != n->y->g) heed_scratch_done(n, gp, n->y->size * sizeof *gp);
}

#define ARGS(act)                                                                                  \
    .args = &(const heed_act) { act }
/* Inputs are positive, as log and sqrt require; the second case is on one side of 0. */
#define CASE(act, name, setting, slope_from, value, slope, from, ...)                              \
    {.shapes = "3x5 4x5 4", ARGS(act), .lo = (from) < 0 ? -1 : 0.5f, .hi = 1},                     \
        {.shapes = "2x3x5 4x5 -", ARGS(act), .lo = (from) < 0 ? 0.1f : 0.5f, .hi = 1},
static const heed_case cases[] = {{.shapes = "3x5 4x5 4", ARGS(HEED_IDENTITY)},
                                  {.shapes = "5 4x5 4", ARGS(HEED_IDENTITY)},
                                  {.shapes = "1x1 1x1 1", ARGS(HEED_IDENTITY)},
                                  {.shapes = "2x3x5 4x5 -", ARGS(HEED_IDENTITY)},
                                  {.shapes = "2x2x3x5 17x5 17", ARGS(HEED_IDENTITY)},
                                  {.shapes = "9x33 18x33 18", ARGS(HEED_GELU)},
                                  {.shapes = "2x3x5 4x5 -", ARGS(HEED_GELU)},
                                  {.shapes = "6x5 4x5 4", ARGS(HEED_RELU)},
                                  HEED_ACTIVATIONS(CASE){0}};

const heed_op heed_ops_affine[] = {
    {"affine", "rrr?", infer, forward, backward, cases, sizeof(heed_act)}, {0}};

heed_tensor *heed_affine_act(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                             heed_act act) {
    if ((unsigned)act >= HEED_ACT_COUNT) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "affine: there is no activation %d", (int)act);
        return NULL;
    }
    return heed_push(t, heed_ops_affine, &act, x, w, b);
}

heed_tensor *heed_affine(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b) {
    return heed_affine_act(t, x, w, b, HEED_IDENTITY);
}
