/* embed.c -- lookup of rows: y[r] = table[ids[r]]; the gradient is added to the selected rows, in
 * the order of r. embed reads a table (V,d), gather any x viewed as rows (N,d). */
#include "ops/shape.h"

enum { TABLE, IDS };

static bool infer(heed_node *n) {
    const heed_tensor *table = n->in[TABLE], *ids = n->in[IDS];
    if (table->dims < 1 || ids->dims >= HEED_DIMS)
        return heed__bad_shapes(n, TABLE, IDS, "expected rows (N,d) and at most %d dims of indices",
                                HEED_DIMS - 1);
    size_t rows = heed__rows(table);
    for (size_t r = 0; r < ids->size; r++)
        if (ids->i[r] < 0 || (size_t)ids->i[r] >= rows)
            return heed__bad_shapes(n, TABLE, IDS, "index %d at position %zu is not in 0 .. %zd",
                                    (int)ids->i[r], r, (ptrdiff_t)rows - 1);
    int shape[HEED_DIMS];
    memcpy(shape, ids->shape, sizeof shape);
    shape[ids->dims] = heed__from_last(table, 0);
    return heed_op_output(n, ids->dims + 1, shape);
}

static bool infer_embed(heed_node *n) {
    if (n->in[TABLE]->dims != 2) return heed__bad_shape(n, TABLE, "the table needs 2 dims, (V,d)");
    return infer(n);
}

static void forward(heed_node *n) {
    n->k->embed(n->k, n->y->x, n->in[TABLE]->x, n->in[IDS]->i, n->in[IDS]->size,
                heed__from_last(n->y, 0));
}

static void backward(heed_node *n) {
    heed_real *g = heed_grad(n, TABLE);
    if (g)
        n->k->embed_grad(n->k, g, n->y->g, n->in[IDS]->i, n->in[IDS]->size,
                         heed__from_last(n->y, 0));
}

static const heed_case cases[] = {{.shapes = "5x3 i4:5"},   {.shapes = "1x1 i1:1"},
                                  {.shapes = "2x7 i2x9:2"}, {.shapes = "4x17 i2x3x2:4"},
                                  {.shapes = "3x4 is:3"},   {0}};
static const heed_case gather_cases[] = {{.shapes = "5x3 i4:5"},
                                         {.shapes = "2x3x4 i5:6"},
                                         {.shapes = "2x2x2x3 i9:8"},
                                         {.shapes = "4 i3:1"},
                                         {0}};

const heed_op heed_ops_embed[] = {{"embed", "ri", infer_embed, forward, backward, cases, 0},
                                  {"gather", "ri", infer, forward, backward, gather_cases, 0},
                                  {0}};

heed_tensor *heed_embed(heed_tape *t, heed_tensor *table, heed_tensor *ids) {
    return heed_push(t, &heed_ops_embed[0], NULL, table, ids);
}
heed_tensor *heed_gather(heed_tape *t, heed_tensor *x, heed_tensor *rows_wanted) {
    return heed_push(t, &heed_ops_embed[1], NULL, x, rows_wanted);
}
