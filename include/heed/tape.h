/* heed/tape.h -- define-by-run recording and reverse-mode differentiation.
 *
 *     heed_tape_begin(t, HEED_TRAIN, step);
 *     heed_tensor *loss = heed_xent(t, model(t, ids), labels, NULL);
 *     heed_backward(t, loss);
 *
 * All tensors made between two calls of heed_tape_begin live in the tape's arena, which keeps its
 * memory: from the third step of equal size on, no allocator is called. */
#ifndef HEED_TAPE_H
#define HEED_TAPE_H

#include <heed/params.h>

HEED_EXPORT_BEGIN

typedef enum {
    HEED_EVAL, /* dropout off, running statistics, nothing recorded */
    HEED_TRAIN,
    HEED_TRACE /* as HEED_EVAL, but recorded, to inspect the gradients of a trained model.
                  Parameters get no gradients, except those passed to heed_want_grad, so that
                  inspection does not change training */
} heed_mode;

/* Makes an empty tape. The context owns it; heed_tape_free frees it earlier. NULL: out of memory.
 * heed_tape_ctx returns the context. */
heed_tape *heed_tape_new(heed_ctx *c);
void heed_tape_free(heed_tape *t);
heed_ctx *heed_tape_ctx(const heed_tape *t);

/* Starts a step and invalidates all tensors of the previous one. step seeds dropout. */
void heed_tape_begin(heed_tape *t, heed_mode mode, uint64_t step);
/* The same for one of several micro-batches whose gradients are added. */
void heed_tape_begin_micro(heed_tape *t, heed_mode mode, uint64_t step, uint32_t micro);
heed_mode heed_tape_mode(const heed_tape *t);

/* Names one node: heed_affine(heed_name_scope(t, "head"), x, w, b). The first node recorded through
 * the returned tape gets the name; t itself is not changed, so the other arguments may record
 * nodes, too. The name seeds dropout, appears in error messages and is the prefix of the node's
 * probes. The name is not copied: it must remain valid until the next heed_tape_begin, as the
 * returned tape does. */
heed_tape *heed_name_scope(heed_tape *t, const char *name) HEED_USE_RESULT;

/* Input tensors, copied into the tape's arena. shape has dims entries, and x or ids as many
 * elements as the product of these. x NULL: zeros. ids NULL: none, and the result is NULL without
 * an error, as for an optional mask; see heed_new_ids for zeros. */
heed_tensor *heed_input(heed_tape *t, const heed_real *x, int dims, const int *shape);
heed_tensor *heed_input_ids(heed_tape *t, const int32_t *ids, int dims, const int *shape);
heed_tensor *heed_ids(heed_tape *t, const int32_t *ids, int rows, int len); /* (rows,len) */
/* An index tensor of zeros, whose elements the caller writes before an op reads them. */
heed_tensor *heed_new_ids(heed_tape *t, int dims, const int *shape);

/* An input tensor like that of heed_input, but x is not copied: it must remain valid until the next
 * heed_tape_begin. x NULL: the result is NULL without an error. */
heed_tensor *heed_wrap(heed_tape *t, heed_real *x, int dims, const int *shape);

/* Requests the gradient of a tensor of this step that is not a parameter; under HEED_TRACE, x may
 * be a parameter, too. Call it before x is used. Returns x. After backward the gradient is in x->g;
 * a view gets a separate gradient, not a part of its base's. */
heed_tensor *heed_want_grad(heed_tape *t, heed_tensor *x);

/* Computes the gradient of loss with respect to every tensor x that wants a gradient. loss has one
 * element. Parameters accumulate into g until heed_optim_step or heed_zero_grads; a trained
 * parameter that got no gradient is logged by name, once. To differentiate several losses that
 * share values, add them and call this once on the sum. False on error: HEED_USAGE if loss has
 * several elements, or depends on no tensor that wants a gradient, as under HEED_EVAL. */
bool heed_backward(heed_tape *t, heed_tensor *loss);
/* The same from any tensor y, given its gradient gy, which has y's size. */
bool heed_backward_from(heed_tape *t, heed_tensor *y, const heed_real *gy);

/* Probes: from now on until heed_probe_clear, keep each named value of an op (attention names q k v
 * scores weights) whose path "NODE NAME.VALUE NAME" matches the pattern, in eval mode, too. If grad
 * is true, backward keeps d loss / d value as well. */
void heed_probe(heed_tape *t, const char *pattern, bool grad);
void heed_probe_clear(heed_tape *t);
/* True if there are probes. Lets callers skip rows that no result depends on but that a probe would
 * show. */
bool heed_probe_active(const heed_tape *t);
int heed_probe_count(const heed_tape *t); /* the number of values kept in this step */
heed_tensor *heed_probe_at(const heed_tape *t, int index, const char **path);
heed_tensor *heed_probe_find(const heed_tape *t, const char *path); /* NULL if absent */

/* An op of the step, for drawing or listing the graph. */
typedef struct {
    const char *op, *name; /* "affine"; the layer's name, or NULL */
    int index;             /* its position among the ops of the step */
    int inputs;
    heed_tensor *const *in; /* entries of omitted optional inputs are NULL */
    heed_tensor *y;
    int kept;
    const char *const *kept_name; /* (kept) names of the values kept for backward and probes */
    size_t bytes[2]; /* by how much forward (output, kept values, scratch) and backward (gradients
                    of inputs) increased the memory of the step; memory that is used again does not
                    count */
} heed_recorded;
HEED_EXPORT_END
#endif
