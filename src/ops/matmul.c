/* matmul.c -- matrix products over the last two dims: a b, a b', a' b; the batch dims are equal, or
 * one operand has none. d(op(a) op(b)) gives ga = gc op(b)', gb = op(a)' gc, transposed back where
 * op transposes. */
#include "ops/shape.h"

#include <limits.h>

/* An operand: its rows and columns as stored, and whether the product reads it transposed. */
typedef struct {
    heed_real *x;
    int rows, cols;
    bool flip;
    size_t stride; /* distance between batches; 0: the same matrix for all */
} side;

static int matrices(const heed_tensor *x) { return (int)heed__extent(x, 0, x->dims - 2); }

static side side_of(const heed_tensor *x, heed_real *memory, bool flip) {
    int rows = heed__from_last(x, 1), cols = heed__from_last(x, 0);
    size_t stride = x->dims > 2 ? (size_t)rows * (size_t)cols : 0;
    return (side){memory, rows, cols, flip, stride};
}

/* c = a b for each batch, or c += a b. A sum over batches (c.stride 0) is added in their order. */
static void product(const heed_node *n, side c, side a, side b, int batch, bool add) {
    heed_gemm g = {.m = c.rows,
                   .n = c.cols,
                   .k = a.flip ? a.rows : a.cols,
                   .add = add,
                   .a = a.x,
                   .lda = a.cols,
                   .ta = a.flip,
                   .b = b.x,
                   .ldb = b.cols,
                   .tb = b.flip,
                   .c = c.x,
                   .ldc = c.cols,
                   .bf16 = n->training};
    bool folds = !a.flip && a.stride && c.stride && !b.stride; /* treats the batches as more rows */
    bool sums = batch > 1 && !c.stride;
    if (folds) g.m *= batch;
    if (!folds && !sums) {
        g.batch = batch;
        g.stride_a = a.stride, g.stride_b = b.stride, g.stride_c = c.stride;
    }
    if (batch > 0) n->k->gemm(n->k, &g);
    g.add = true;
    for (int i = 1; sums && i < batch; i++) {
        g.a += a.stride, g.b += b.stride;
        n->k->gemm(n->k, &g);
    }
}

static bool infer(heed_node *n, bool ta, bool tb) {
    const heed_tensor *a = n->in[0], *b = n->in[1];
    if (a->dims < 2 || b->dims < 2) return heed__bad_shapes(n, 0, 1, "both need at least 2 dims");
    int inner_a = heed__from_last(a, ta), inner_b = heed__from_last(b, !tb);
    if (inner_a != inner_b) return heed__bad_shapes(n, 0, 1, "inner %d != %d", inner_a, inner_b);
    bool same = a->dims == b->dims;
    for (int i = 0; same && i < a->dims - 2; i++) same = a->shape[i] == b->shape[i];
    if (!same && a->dims > 2 && b->dims > 2) return heed__bad_shapes(n, 0, 1, "the batches differ");
    const heed_tensor *batches = a->dims > 2 ? a : b;
    int shape[HEED_DIMS];
    memcpy(shape, batches->shape, sizeof shape);
    shape[batches->dims - 2] = heed__from_last(a, !ta);
    shape[batches->dims - 1] = heed__from_last(b, tb);
    size_t rows = heed__extent(batches, 0, batches->dims - 2) * (size_t)shape[batches->dims - 2];
    if (rows > INT_MAX) return heed__bad_shapes(n, 0, 1, "more than 2^31 - 1 rows");
    return heed_op_output(n, batches->dims, shape);
}

static void forward(heed_node *n, bool ta, bool tb) {
    const heed_tensor *a = n->in[0], *b = n->in[1];
    product(n, side_of(n->y, n->y->x, false), side_of(a, a->x, ta), side_of(b, b->x, tb),
            matrices(n->y), false);
}

/* For c = op(a) op(b), where op transposes if flip is set: the gradient of the first operand, in
 * its stored form, is gc op(b)', or op(b) gc' if it is read transposed. */
static void backward(heed_node *n, bool ta, bool tb) {
    const heed_tensor *a = n->in[0], *b = n->in[1];
    int batch = matrices(n->y);
    bool add_a, add_b;
    heed_real *ga = heed_grad_into(n, 0, &add_a), *gb = heed_grad_into(n, 1, &add_b);
    side gc = side_of(n->y, n->y->g, false), gc_t = side_of(n->y, n->y->g, true);
    if (ga && !ta) product(n, side_of(a, ga, false), gc, side_of(b, b->x, !tb), batch, add_a);
    if (ga && ta) product(n, side_of(a, ga, false), side_of(b, b->x, tb), gc_t, batch, add_a);
    if (gb && !tb) product(n, side_of(b, gb, false), side_of(a, a->x, !ta), gc, batch, add_b);
    if (gb && tb) product(n, side_of(b, gb, false), gc_t, side_of(a, a->x, ta), batch, add_b);
}

static bool infer_nn(heed_node *n) { return infer(n, false, false); }
static void forward_nn(heed_node *n) { forward(n, false, false); }
static void backward_nn(heed_node *n) { backward(n, false, false); }
static bool infer_nt(heed_node *n) { return infer(n, false, true); }
static void forward_nt(heed_node *n) { forward(n, false, true); }
static void backward_nt(heed_node *n) { backward(n, false, true); }
static bool infer_tn(heed_node *n) { return infer(n, true, false); }
static void forward_tn(heed_node *n) { forward(n, true, false); }
static void backward_tn(heed_node *n) { backward(n, true, false); }

static const heed_case nn[] = {{.shapes = "1x1 1x1"},
                               {.shapes = "3x5 5x4"},
                               {.shapes = "1x7 7x1"},
                               {.shapes = "5x1 1x3"},
                               {.shapes = "17x9 9x33"},
                               {.shapes = "2x3x5 2x5x4"},
                               {.shapes = "2x3x4x5 2x3x5x2"},
                               {.shapes = "2x3x4x5 5x2"},
                               {.shapes = "3x4 2x4x5"},
                               {.shapes = "1x3x4 4x2"},
                               {0}};
static const heed_case nt[] = {
    {.shapes = "1x1 1x1"},     {.shapes = "3x5 4x5"},     {.shapes = "1x7 1x7"},
    {.shapes = "17x9 33x9"},   {.shapes = "2x3x5 2x4x5"}, {.shapes = "2x3x4x5 2x3x2x5"},
    {.shapes = "2x3x4x5 2x5"}, {.shapes = "3x4 2x5x4"},   {0}};
static const heed_case tn[] = {
    {.shapes = "1x1 1x1"},     {.shapes = "5x3 5x4"},     {.shapes = "7x1 7x1"},
    {.shapes = "9x17 9x33"},   {.shapes = "2x5x3 2x5x4"}, {.shapes = "2x3x5x4 2x3x5x2"},
    {.shapes = "2x3x5x4 5x2"}, {.shapes = "4x3 2x4x5"},   {0}};

const heed_op heed_ops_matmul[] = {{"matmul", "rr", infer_nn, forward_nn, backward_nn, nn, 0},
                                   {"matmul_nt", "rr", infer_nt, forward_nt, backward_nt, nt, 0},
                                   {"matmul_tn", "rr", infer_tn, forward_tn, backward_tn, tn, 0},
                                   {0}};

heed_tensor *heed_matmul(heed_tape *t, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, &heed_ops_matmul[0], NULL, a, b);
}
heed_tensor *heed_matmul_nt(heed_tape *t, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, &heed_ops_matmul[1], NULL, a, b);
}
heed_tensor *heed_matmul_tn(heed_tape *t, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, &heed_ops_matmul[2], NULL, a, b);
}
