/* heed/tensor.h -- contiguous row-major arrays of at most four dimensions. */
#ifndef HEED_TENSOR_H
#define HEED_TENSOR_H

#include <heed/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fields are for reading, the arrays for reading and writing. A tensor holds reals (x) or indices
 * and masks (i), never both. Tensors of a store live as long as the store; all others until the
 * tape's next heed_tape_begin: an op of another tape, or of the step after, refuses them. */
struct heed_tensor {
    int dims;             /* 0 (a scalar) to HEED_DIMS */
    int shape[HEED_DIMS]; /* the first dims entries count; the rest are 1 */
    size_t size;          /* product of the shape */
    heed_real *x;         /* values, or NULL */
    int32_t *i;           /* indices, or masks (nonzero: attend, take, use), or NULL */
    heed_real
        *g; /* gradient of the loss with respect to x, same size; NULL before backward reached it */
    bool wants_grad;   /* backward goes on through it */
    bool keep_grad;    /* g is kept after backward: parameters, and what heed_want_grad or a probe
                          asked for */
    bool touched;      /* a backward wrote g since it was last zeroed (parameters) */
    heed_tensor *base; /* of a view: the tensor that its gradient is a part of, else NULL */
    size_t offset;     /* of a view in its base, in elements */
    heed_node *node;   /* what computed it on a recording tape; NULL for leaves */
    const char *name;  /* a parameter's full name; NULL for others */
    const void *owner; /* the recording that it belongs to; NULL: a store, or the caller */
    uint64_t begun;    /* which of its steps made it */
    char made_by[40];  /* the op and its layer's name, as far as they fit: "matmul at head"; "" for
                          inputs */
};

/* Writes "(2,3,4)" into text and returns text; size 64 is always enough. */
HEED_API char *heed_shape_text(const heed_tensor *t, char *text, size_t size);

/* True if both have the same dims and shape. */
HEED_API bool heed_same_shape(const heed_tensor *a, const heed_tensor *b);

/* Product of the dims in [from, to): rows = heed_extent(t, 0, t->dims - 1). */
HEED_API size_t heed_extent(const heed_tensor *t, int from, int to);

#ifdef __cplusplus
}
#endif
#endif
