/* y.shape[i] = x.shape[order[i]]: y is a copy with its dims in another order. */
#include "ops/shape.h"

typedef struct {
    int order[HEED_DIMS];
} permute_args;

static bool infer(heed_node *n) {
    const int *order = ((const permute_args *)n->args)->order;
    const heed_tensor *x = n->in[0];
    int shape[HEED_DIMS];
    unsigned seen = 0;
    if (!heed__takes(n, "r")) return false;
    for (int i = 0; i < x->dims; i++) {
        if (order[i] < 0 || order[i] >= x->dims || (seen >> order[i] & 1u))
            return heed__misfit(n, 0, "order[%d] = %d: each of 0 .. %d is wanted once", i, order[i],
                                x->dims - 1);
        seen |= 1u << order[i];
        shape[i] = x->shape[order[i]];
    }
    return heed_out(n, x->dims, shape);
}

/* Strides in x of y's dims, aligned at the last of HEED_DIMS. */
static void strides(const heed_node *n, size_t stride[HEED_DIMS], size_t size[HEED_DIMS]) {
    const int *order = ((const permute_args *)n->args)->order;
    const heed_tensor *x = n->in[0];
    int lead = HEED_DIMS - x->dims;
    for (int i = 0; i < HEED_DIMS; i++) {
        stride[i] = i < lead ? 0 : heed_extent(x, order[i - lead] + 1, x->dims);
        size[i] = i < lead ? 1 : (size_t)n->y->shape[i - lead];
    }
}

/* Calls row(y offset, x offset) for each row of y's last dim. */
static void walk(heed_node *n, heed_real *gx) {
    size_t step[HEED_DIMS], size[HEED_DIMS], at = 0;
    const heed_real *x = n->in[0]->x;
    strides(n, step, size);
    for (size_t a = 0; a < size[0]; a++)
        for (size_t b = 0; b < size[1]; b++)
            for (size_t c = 0; c < size[2]; c++) {
                size_t from = a * step[0] + b * step[1] + c * step[2];
                if (gx)
                    for (size_t d = 0; d < size[3]; d++) gx[from + d * step[3]] += n->y->g[at + d];
                else
                    for (size_t d = 0; d < size[3]; d++) n->y->x[at + d] = x[from + d * step[3]];
                at += size[3];
            }
}

static void forward(heed_node *n) { walk(n, NULL); }

static void backward(heed_node *n) {
    heed_real *gx = heed_grad(n, 0);
    if (gx) walk(n, gx);
}

static const permute_args swap = {{1, 0}}, same = {{0}}, heads = {{0, 2, 1, 3}},
                          turn = {{3, 0, 2, 1}}, last = {{0, 2, 1}};
static const heed_case cases[] = {{.shapes = "s", .args = &same},
                                  {.shapes = "5", .args = &same},
                                  {.shapes = "3x5", .args = &swap},
                                  {.shapes = "2x3x4x5", .args = &heads},
                                  {.shapes = "2x3x4x5", .args = &turn},
                                  {.shapes = "1x7x2", .args = &last},
                                  {0}};

const heed_op heed_ops_permute[] = {
    {"permute", 1, infer, forward, backward, cases, sizeof(permute_args), 0}, {0}};

heed_tensor *heed_permute(heed_tape *t, heed_tensor *x, const int *order) {
    permute_args a = {{0}};
    if (!x) return NULL;
    if (x->dims) memcpy(a.order, order, (size_t)x->dims * sizeof *order);
    return heed_push(t, heed_ops_permute, &a, x);
}
