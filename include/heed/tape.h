/* heed/tape.h -- define-by-run recording and reverse-mode differentiation.
 *
 *     heed_tape_begin(t, HEED_TRAIN, step);
 *     heed_tensor *loss = heed_xent(t, model(t, ids), labels, NULL);
 *     heed_backward(t, loss);
 *
 * Everything between two begins lives in the tape's arena, which keeps its memory: from the third
 * step of equal size on, no allocator is called. */
#ifndef HEED_TAPE_H
#define HEED_TAPE_H

#include <heed/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HEED_EVAL, /* dropout off, running statistics, nothing recorded */
    HEED_TRAIN,
    HEED_TRACE /* as HEED_EVAL, but recorded: gradients of a finished model. Parameters get none,
                  but for those that heed_want_grad names, so that a look changes no training */
} heed_mode;

HEED_API heed_tape *heed_tape_new(heed_ctx *c);
HEED_API void heed_tape_free(heed_tape *t);
HEED_API heed_ctx *heed_tape_ctx(const heed_tape *t);

/* Forgets the step before (its tensors are gone) and starts one. step seeds dropout. */
HEED_API void heed_tape_begin(heed_tape *t, heed_mode mode, uint64_t step);
/* The same for one of several micro-batches whose gradients add up. */
HEED_API void heed_tape_begin_micro(heed_tape *t, heed_mode mode, uint64_t step, uint32_t micro);
HEED_API heed_mode heed_tape_mode(const heed_tape *t);

/* The tape under a name, for one node: heed_affine(heed_at(t, "head"), x, w, b). The first node
 * recorded through what this returns has the name; t itself has none, so the other arguments may
 * record nodes, too. The name seeds dropout, stands in errors and is the prefix of the node's
 * probes. It is not copied: it must stay, and what this returns stays, until the next begin. */
HEED_API heed_tape *heed_at(heed_tape *t, const char *name) HEED_USE_RESULT;

/* Inputs: copies into the arena. Shapes have dims entries; x may be NULL for zeros. */
HEED_API heed_tensor *heed_input(heed_tape *t, const heed_real *x, int dims, const int *shape);
HEED_API heed_tensor *heed_input_ids(heed_tape *t, const int32_t *ids, int dims, const int *shape);
HEED_API heed_tensor *heed_ids(heed_tape *t, const int32_t *ids, int rows,
                               int len); /* (rows,len); NULL for ids NULL */

/* A leaf on memory of the caller's, not copied, which must stay until the next begin. */
HEED_API heed_tensor *heed_wrap(heed_tape *t, heed_real *x, int dims, const int *shape);

/* Asks for the gradient with respect to a tensor of this step that is not a parameter, or under
 * HEED_TRACE to a parameter, too; call it before it is used. Returns its argument. After backward
 * the gradient is in tensor->g; a view's is its own, not its base's. */
HEED_API heed_tensor *heed_want_grad(heed_tape *t, heed_tensor *x);

/* d loss / d everything that wants it. loss has one element. Parameters accumulate into g until
 * heed_step or heed_zero_grads; a trained parameter that got none is logged by name, once. Losses
 * that share values are added up and walked once, not one by one. */
HEED_API bool heed_backward(heed_tape *t, heed_tensor *loss);
/* The same from any tensor, given the gradient gy of its size. */
HEED_API bool heed_backward_from(heed_tape *t, heed_tensor *y, const heed_real *gy);

/* Probes: keep what ops name (attention names q k v scores weights) under "NODE NAME.VALUE NAME"
 * where the pattern matches, in eval mode too, until heed_unprobe. With grad, backward keeps d loss
 * / d value as well. */
HEED_API void heed_probe(heed_tape *t, const char *pattern, bool grad);
HEED_API void heed_unprobe(heed_tape *t);
/* Whether a probe asks for the value "NODE NAME.VALUE NAME": what is noted for probes alone. */
HEED_API bool heed_is_probed(const heed_tape *t, const char *name, const char *value);
HEED_API int heed_probe_count(const heed_tape *t); /* of this step */
HEED_API heed_tensor *heed_probe_at(const heed_tape *t, int index, const char **path);
HEED_API heed_tensor *heed_probe_find(const heed_tape *t, const char *path); /* NULL if absent */

/* What a step took, for reports. */
typedef struct {
    size_t bytes;    /* of arena in use at the step's peak */
    size_t reserved; /* of arena held */
    int nodes;
} heed_tape_usage;
HEED_API heed_tape_usage heed_tape_used(const heed_tape *t);

/* An op of the step, for drawings and listings of it. */
typedef struct {
    const char *op, *name; /* "affine"; the layer's name, NULL without one */
    int index;             /* how many ops the step had before it */
    int inputs;
    heed_tensor *const *in; /* NULL where an optional one was left out */
    heed_tensor *y;
    int kept;
    const char *const *kept_name; /* (kept) what it keeps for backward and probes */
} heed_recorded;
/* The recorded op at index, 0 .. heed_tape_used(t).nodes - 1, in the order of the forward pass;
 * backward goes through them in reverse. Outside: op NULL. */
HEED_API heed_recorded heed_recorded_at(const heed_tape *t, int index);
/* What computed y in this step, recorded or not; op NULL for an input or a parameter. */
HEED_API heed_recorded heed_recorded_by(const heed_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
