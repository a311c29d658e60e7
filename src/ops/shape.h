/* shape.h -- shared by shape rules: broadcasting, dims counted from the end, norms. */
#ifndef HEED_OPS_SHAPE_H
#define HEED_OPS_SHAPE_H

#include "core/tape.h"
#include "kernels/kernels.h"
#include <heed/ops.h>
#include <string.h>

/* affine.c: computes g, C (m,n) += or = A' B, the gradient of a weight summed over k rows. Small
 * ones of many rows are computed in two halves. */
void heed__grad_product(heed_node *n, const heed_gemm *g);

/* The size of dim d counted from the last; 1 if it does not exist. */
static inline int heed__from_last(const heed_tensor *x, int d) {
    return d < x->dims ? x->shape[x->dims - 1 - d] : 1;
}

/* Creates the output with the shape that all inputs [0, n->inputs) broadcast to. */
static inline bool heed__out_broadcast(heed_node *n) {
    int dims = 0, shape[HEED_DIMS], owner[HEED_DIMS] = {0};
    for (int i = 0; i < n->inputs; i++)
        if (n->in[i]->dims > dims) dims = n->in[i]->dims;
    for (int d = 0; d < dims; d++) {
        int *size = &shape[dims - 1 - d];
        *size = 1;
        for (int i = 0; i < n->inputs; i++) {
            int own = heed__from_last(n->in[i], d);
            if (own == 1 || own == *size) continue;
            if (*size != 1)
                return heed__bad_shapes(n, owner[d], i, "sizes %d and %d do not broadcast", *size,
                                        own);
            *size = own;
            owner[d] = i;
        }
    }
    return heed_op_output(n, dims, shape);
}

/* The strides of x broadcast over HEED_DIMS dims, aligned at the last dim. */
static inline void heed__strides(const heed_tensor *x, size_t stride[HEED_DIMS]) {
    size_t step = 1;
    for (int d = 0; d < HEED_DIMS; d++) {
        int size = heed__from_last(x, d);
        stride[HEED_DIMS - 1 - d] = size == 1 ? 0 : step;
        step *= (size_t)size;
    }
}

/* Writes a dim given by the user, negative from the end, to *axis; an error if out of range. */
static inline bool heed__axis(heed_node *n, int dim, int *axis) {
    int dims = n->in[0]->dims;
    *axis = dim < 0 ? dim + dims : dim;
    if (*axis >= 0 && *axis < dims) return true;
    return heed__bad_shape(n, 0, "there is no dim %d", dim);
}

/* That dim, counted from 0, of an op whose arguments begin with it. */
static inline int heed__axis_of(const heed_node *n) {
    int dim = *(const int *)n->args;
    return dim < 0 ? dim + n->in[0]->dims : dim;
}

/* The rows (...) of a tensor (...,width). */
static inline size_t heed__rows(const heed_tensor *x) { return heed__extent(x, 0, x->dims - 1); }

/* The values of an optional input; NULL: it is absent. */
static inline const heed_real *heed__values(const heed_tensor *x) { return x ? x->x : NULL; }

/* A tensor viewed as (outer, size, inner) around one of its dims. */
typedef struct {
    size_t outer, size, inner;
} heed__slab;

static inline heed__slab heed__slab_of(const heed_tensor *x, int axis) {
    return (heed__slab){heed__extent(x, 0, axis), (size_t)x->shape[axis],
                        heed__extent(x, axis + 1, x->dims)};
}

/* y = or += x, of the shape of `part`, where x and y are in arrays like these. */
static inline void heed__copy(const heed_node *n, const heed_tensor *part, heed_real *y,
                              const heed_tensor *like_y, const heed_real *x,
                              const heed_tensor *like_x, bool add) {
    heed_walk w = {.shape = {1, 1, 1, 1}};
    for (int d = 0, to = HEED_DIMS - part->dims; d < part->dims; d++, to++) {
        w.shape[to] = part->shape[d];
        w.a[to] = heed__extent(like_x, d + 1, like_x->dims);
        w.c[to] = heed__extent(like_y, d + 1, like_y->dims);
    }
    n->k->permute(n->k, y, x, &w, add);
}

#endif
