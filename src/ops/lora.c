/* lora.c -- a low-rank change of rows of a weight: y = w with y[from + i] += scale (B A)[i], for w
 * (out,in..), A (r,in..) and B (rows,r), where in.. is the product of the other dims. gw = gy and,
 * with G = gy[from .. from + rows), gA = scale B' G and gB = scale G A'. Hu et al. 2022, eq. 3. */
#include "ops/args.h"
#include "ops/shape.h"

enum { W, A, B };

static bool infer(heed_node *n) {
    const heed__lora_args *p = n->args;
    const heed_tensor *w = n->in[W], *a = n->in[A], *b = n->in[B];
    if (w->dims < 2) return heed__bad_shape(n, W, "the weight needs at least 2 dims, (out,in)");
    if (a->dims != 2 || (size_t)a->shape[1] != heed__extent(w, 1, w->dims))
        return heed__bad_shapes(n, W, A, "A is not (rank,%zu)", heed__extent(w, 1, w->dims));
    if (b->dims != 2 || b->shape[1] != a->shape[0])
        return heed__bad_shapes(n, A, B, "B is not (rows,%d)", a->shape[0]);
    if (p->from < 0 || p->from > w->shape[0] || b->shape[0] > w->shape[0] - p->from)
        return heed__bad_shapes(n, W, B, "the weight has no %d rows from %d on", b->shape[0],
                                p->from);
    return heed_op_output_like(n, W);
}

/* The first changed element. */
static size_t first(const heed_node *n) {
    return (size_t)((const heed__lora_args *)n->args)->from * (size_t)n->in[A]->shape[1];
}

static void forward(heed_node *n) {
    const heed__lora_args *p = n->args;
    const heed_tensor *a = n->in[A], *b = n->in[B];
    int rank = a->shape[0], in = a->shape[1];
    heed_real *scaled = n->scratch = heed_scratch(n, b->size * sizeof *scaled);
    if (!scaled) return;
    if (n->y->size) memcpy(n->y->x, n->in[W]->x, n->y->size * sizeof *n->y->x);
    n->k->scale(n->k, scaled, b->x, p->scale, 0, b->size);
    heed_gemm g =
        heed__gemm_of(b->shape[0], in, rank, scaled, rank, a->x, in, n->y->x + first(n), in);
    g.add = true;
    n->k->gemm(n->k, &g);
}

static void backward(heed_node *n) {
    const heed__lora_args *p = n->args;
    const heed_tensor *a = n->in[A], *b = n->in[B];
    const heed_real *gy = n->y->g + first(n);
    int rows = b->shape[0], rank = a->shape[0], in = a->shape[1];
    heed_real *gw = heed_grad(n, W), *ga = heed_grad(n, A), *gb = heed_grad(n, B);
    if (gw) n->k->axpy(n->k, gw, n->y->g, 1, n->y->size);
    if (ga) {
        heed_gemm g = heed__gemm_of(rank, in, rows, n->scratch, rank, gy, in, ga, in);
        g.ta = g.add = true;
        n->k->gemm(n->k, &g);
    }
    heed_real *product = gb ? heed_scratch(n, b->size * sizeof *product) : NULL;
    if (!product) return;
    heed_gemm g = heed__gemm_of(rows, rank, in, gy, in, a->x, in, product, rank);
    g.tb = true;
    n->k->gemm(n->k, &g);
    n->k->axpy(n->k, gb, product, p->scale, b->size);
    heed_scratch_done(n, product, b->size * sizeof *product);
}

static const heed__lora_args all = {2, 0}, last = {(heed_real)0.5, 4};
static const heed_case cases[] = {{.shapes = "4x5 2x5 4x2", .args = &all},
                                  {.shapes = "7x5 3x5 2x3", .args = &last},
                                  {.shapes = "1x1 1x1 1x1", .args = &all},
                                  {.shapes = "33x18 4x18 29x4", .args = &last},
                                  {.shapes = "4x3x2x2 2x12 3x2", .args = &all},
                                  {.shapes = "5x6 1x6 5x1", .args = &all, .fixed = 1u << 0},
                                  {0}};

const heed_op heed_ops_lora[] = {
    {"lora", "rrr", infer, forward, backward, cases, sizeof(heed__lora_args)}, {0}};

heed_tensor *heed_lora(heed_tape *t, heed_tensor *w, heed_tensor *a, heed_tensor *b, int from,
                       heed_real scale) {
    return heed_push(t, heed_ops_lora, &(heed__lora_args){scale, from}, w, a, b);
}
