/* heed/tensor.h -- contiguous row-major arrays of at most four dimensions. */
#ifndef HEED_TENSOR_H
#define HEED_TENSOR_H

#include <heed/ctx.h>

HEED_EXPORT_BEGIN

/* Callers may read all fields, may write only the elements of the arrays, and make none
 * themselves. A tensor holds reals
 * (x) or indices and masks (i), never both. A store's tensors live as long as the store; all others
 * live until the tape's next heed_tape_begin, and are rejected by ops of another tape or of a later
 * step. */
struct heed_tensor {
    int dims;             /* 0 (a scalar) to HEED_DIMS */
    int shape[HEED_DIMS]; /* the first dims entries are used; the rest are 1 */
    size_t size;          /* product of the shape */
    heed_real *x;         /* values, or NULL */
    int32_t *i;           /* indices, or masks (nonzero: included), or NULL */
    heed_real *g;         /* d loss / dx, same size; NULL until backward reaches it */
    bool wants_grad;      /* backward propagates through it */
    const char *name;     /* a parameter's full name; NULL for others */
    heed_node *node; /* the node that computed it in this step; NULL: it is an input or parameter */
    char made_by[40]; /* op and layer, truncated to fit: "matmul at head"; "" for inputs */
};

/* Writes "(2,3,4)" into text and returns text; a size of 64 is always enough. */
char *heed_shape_text(const heed_tensor *t, char *text, size_t size);

HEED_EXPORT_END
#endif
