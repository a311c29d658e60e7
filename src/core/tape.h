/* tape.h -- the internals of the tape and its arena, shared by recording, backward and probes. */
#ifndef HEED_CORE_TAPE_H
#define HEED_CORE_TAPE_H

#include "core/core.h"

#include <heed/op.h>

/* ---- memory for one step: allocated in order, released at once, reused by the next ---- */

enum { HEED__BINS = 32 };

typedef struct heed__block {
    struct heed__block *next;
    size_t capacity, used;
    size_t mapped; /* bytes of heed__os_map; 0: of malloc */
} heed__block;

/* Blocks returned during a step, by exact size. */
typedef struct {
    size_t bytes;
    void *first; /* a linked list: each block holds the address of the next */
} heed__bin;

typedef struct {
    heed_ctx *c;
    heed__block *blocks; /* newest first: the one in use */
    size_t used;         /* used in the older blocks */
    heed__bin bins[HEED__BINS];
    int bin_count;
} heed__arena;

/* Releases all allocations. If the last step needed several blocks, they are replaced by a single
 * block an eighth larger than the step needed, so that from the third step of equal size on no
 * allocator is called. */
void heed__arena_reset(heed__arena *a);
void heed__arena_free(heed__arena *a);
void *heed__arena_take(heed__arena *a, size_t bytes); /* aligned, not zeroed; NULL on error */
void heed__arena_give(heed__arena *a, void *p, size_t bytes); /* reusable in this step */
size_t heed__arena_used(const heed__arena *a);
size_t heed__arena_reserved(const heed__arena *a);

/* ---- recording ---- */

typedef struct {
    char *pattern;
    bool grad;
} heed__probe_pattern;

typedef struct {
    const char *path;
    heed_tensor *tensor;
} heed__probe;

typedef struct heed__recording heed__recording;

/* Computes what ops read in the place of parameter w, on t. Allocated by heed__alloc, and freed
 * with the parameter. */
struct heed_adapter {
    heed_tensor *(*apply)(const heed_adapter *a, heed_tape *t, heed_tensor *w);
};

/* An adapted parameter, and what ops of this step read instead. */
typedef struct {
    const heed_tensor *of;
    heed_tensor *value;
} heed__adapted;

/* An update of a state: keep * of + scale * x. */
typedef struct {
    heed_tensor *of;
    double keep, scale;
    const heed_real *x;
} heed__state_update;

/* The handle that callers hold: the recording, with a name for the next node or none.
 * heed_name_scope makes a new handle, so a name applies only to the call that it was passed to. */
struct heed_tape {
    heed__recording *r;
    const char *name;
};

/* Tensors of a step. Those of the previous step are kept, so that using one is detected. */
typedef struct {
    heed__tensor **blocks;
    size_t capacity, count, used; /* of blocks; of tensors */
} heed__tensors;

struct heed__recording {
    heed__owned owned;
    heed_ctx *c;
    heed_tape plain; /* the unnamed handle, which heed_tape_new returns and nodes refer to */
    heed__arena arena;
    heed__tensors tensors[2]; /* of this step and of the previous one, indexed by begun % 2 */
    uint64_t begun;           /* number of steps so far */
    heed_mode mode;
    uint64_t step;
    uint32_t micro;
    int pushed;        /* number of nodes of this step, recorded or not */
    heed_node **nodes; /* recorded nodes, in order */
    size_t node_capacity, node_count;
    size_t walked;     /* in backward: the position of the node whose backward runs */
    heed_tensor *lent; /* whose gradient is an array of another tensor; or NULL */
    heed__probe_pattern *patterns;
    size_t pattern_capacity, pattern_count;
    heed__probe *probes; /* of this step */
    size_t probe_capacity, probe_count;
    heed_tensor **asked; /* parameters whose gradient this step wants under HEED_TRACE */
    size_t asked_capacity, asked_count;
    heed__adapted *adapted; /* of this step */
    size_t adapted_capacity, adapted_count;
    heed__recording *inner; /* of heed__tape_inner, or NULL */
    size_t inner_most;      /* the most memory that an ended recording of `inner` used */
    bool is_inner;
    size_t cheap; /* bytes of a value, at most, that is kept instead of being computed again */
    size_t spare; /* bytes of larger values that this step may still keep */
    bool defers;  /* updates of states are listed instead of made */
    heed__state_update *updates; /* of this step */
    size_t update_capacity, update_count;
    void (*final)(void *user, heed_tensor *x); /* of heed__tape_on_final; or NULL */
    void *final_user;
};

bool heed__tape_stopped(const heed_tape *t);
size_t heed__tape_bytes(const heed__recording *r); /* of the step so far, and of the inner tape */
/* A second tape, of the same step and mode, which begins anew at each call: for a part of a step
 * that is recorded, differentiated and forgotten by itself. NULL in error. */
heed_tape *heed__tape_inner(heed_tape *t);
/* After the last op of forward that reads x: gives its memory back, if the ops that read it need it
 * no more, or its op can compute it again for them. Nothing else may read x->x from now on. Not
 * under HEED_TRACE or while probing, when values are looked at. */
void heed__let_go(heed_tape *t, heed_tensor *x);
/* The same for x that backward reads, so that it must be computed again: only if x is large and
 * many such values are kept already, or under HEED_EVAL, which has no backward. */
void heed__let_go_if_large(heed_tape *t, heed_tensor *x);
/* True if backward propagates to x: under HEED_TRACE not to parameters, unless requested. */
bool heed__wants_grad(const heed__recording *r, const heed_tensor *x);
/* True if the tensor is NULL, of this step, or of a store. Otherwise false, with an error that
 * names op, its name unless NULL, what made the tensor and whose it is. */
bool heed__tape_owns(const heed__recording *r, const heed_tensor *x, const char *op,
                     const char *name);
/* The node's name, or "node 3" with its index, written into text, if it has none. */
enum { HEED__NODE_TEXT = 32 };
const char *heed__node_text(const heed_node *n, char text[HEED__NODE_TEXT]);
/* Fails: "OP at NAME: MESSAGE", or "OP: MESSAGE" if name is NULL. Always false. */
bool heed__fail_at(heed_ctx *c, heed_status status, const char *op, const char *name,
                   const char *format, ...) HEED_PRINTF(5, 6);
/* Records the error "(2,3) x (4): WHY" for inputs a and b. Returns false. */
HEED_PRINTF(4, 5)
bool heed__bad_shapes(heed_node *n, int a, int b, const char *why, ...);
/* Records the error "(2,3): WHY" for input a. Returns false. */
HEED_PRINTF(3, 4)
bool heed__bad_shape(heed_node *n, int a, const char *why, ...);
/* Removes the name that heed_name_scope gave t and returns it; NULL if none. Nodes recorded through
 * t afterwards are unnamed. For functions that record several ops under one name. */
const char *heed__take_name(heed_tape *t);
/* True if a probe requests the value "NODE NAME.VALUE NAME". Lets callers skip values that are
 * computed only for probes. */
bool heed__is_probed(const heed_tape *t, const char *name, const char *value);
/* The memory and nodes that a step used, for reports. */
typedef struct {
    size_t bytes;    /* peak use of the arena during the step */
    size_t reserved; /* size of the arena */
    int nodes;
} heed__tape_usage;
heed__tape_usage heed__tape_used(const heed_tape *t);
/* The recorded op at index, 0 .. heed__tape_used(t).nodes - 1, in the order of the forward pass;
 * backward visits them in reverse. op is NULL if index is out of range. */
heed_recorded heed__recorded_at(const heed_tape *t, int index);
/* The op that computed y in this step, recorded or not; op is NULL for an input or a parameter. */
heed_recorded heed__recorded_by(const heed_tensor *y);
/* The number of inputs of an op; -1: a list. */
int heed__op_inputs(const heed_op *op);
/* From now on, updates of states are listed instead of made; the list is that of the step. */
void heed__tape_defer_updates(heed_tape *t);
size_t heed__tape_updates(const heed_tape *t, const heed__state_update **list);
void heed__update_state(const heed__state_update *u);
/* During each backward, calls `final` for each parameter whose gradient no further op of the step
 * adds to; for none if the tape has an inner one. final NULL: no longer. */
void heed__tape_on_final(heed_tape *t, void (*final)(void *user, heed_tensor *x), void *user);
/* Called after forward: records the node's kept values that match the probe patterns. */
bool heed__collect_probes(heed_node *n);

/* ---- gradients that need no copy (backward.c) ---- */

/* Whether input i can take over the gradient array of n's output: it has no gradient yet, and needs
 * none that is separate. For ops whose gradient of that input is the output's. */
bool heed__grad_may_take(const heed_node *n, int i);
/* Hands the array on to input i, as the last act of n's backward: n's output has none afterwards.
 */
void heed__grad_take(heed_node *n, int i);
/* Before input `owner` takes the array: lets input i read it in place of a separate gradient.
 * False unless the node that computed input i is the next of backward, and adds nothing to the
 * gradient of the owner. */
bool heed__grad_lend(heed_node *n, int i, int owner);
/* Whether n's output reads its gradient in the array of another tensor: n must not change it. */
bool heed__grad_lent(const heed_node *n);

#endif
