/* heed/op.h -- the definition of an op. Custom ops use the same interface: examples/own_op.c. */
#ifndef HEED_OP_H
#define HEED_OP_H

#include <heed/tape.h>

HEED_EXPORT_BEGIN

/* For a backward that is not the derivative (hard selection): it must equal the backward of this op
 * with these args for the same upstream gradient. */
typedef struct {
    const heed_op *op;
    const void *args;
} heed_surrogate;

/* Inputs on which the gradient, instruction-set and thread checks run an op. A list ends with {0}.
 */
typedef struct {
    const char *shapes; /* one word per input: "3x5" reals, "i2x3:10" indices below 10, "m2x3" a 0/1
                           mask, "-" absent, "s" scalar */
    const void *args;   /* passed to heed_push */
    const char *away;   /* kinks: inputs keep a distance of 0.05 from them: "0" or "-1 1" */
    const heed_surrogate *surrogate;
    float lo, hi;   /* reals are uniform in [lo, hi); both 0: [-1, 1) */
    unsigned fixed; /* bit i: input i is not differentiated */
    bool apart;     /* all values of an input differ by at least 0.01, for maxima */
    bool eval; /* run under HEED_TRACE instead of HEED_TRAIN (batch norm with running statistics) */
} heed_case;

struct heed_op {
    const char *name;
    const char *inputs; /* a letter for each: r reals, i indices, x either, followed by ? if it may
                           be NULL; "r*": a list, passed to heed_push_list */
    bool (*infer)(
        heed_node *n); /* checks shapes and creates the output with heed_op_output; returns
                          heed_op_error(...) on bad shapes. NULL: the shape of input 0 */
    void (*forward)(heed_node *n);  /* NULL if there is nothing to compute (views) */
    void (*backward)(heed_node *n); /* adds to the arrays that heed_grad returns, and leaves y->g
                                       as it is; NULL: recording the op in training is an error */
    const heed_case *cases;
    size_t args_size; /* bytes of args, copied when pushed */
};

struct heed_node {
    const heed_op *op;
    heed_tape *tape;
    heed_ctx *ctx;
    const heed_kernels *k; /* the library's kernels; opaque outside it */
    const char *name;      /* the layer's name from heed_name_scope, else the op's */
    bool named;            /* name comes from heed_name_scope */
    int index;             /* its position among the nodes of this step */
    heed_tensor **in;
    int inputs;
    heed_tensor *y;       /* output */
    const void *args;     /* the tape's copy of the op's arguments, NULL if none */
    heed_tensor *kept[8]; /* named values, in the order of heed_op_save; also for backward */
    const char *kept_name[8];
    int kept_count;
    void *scratch;  /* private to the op, kept from forward to backward */
    bool training;  /* HEED_TRAIN */
    bool recording; /* backward will be called */
    /* Set by forward if the op's backward does not read y->x, so that it need not be kept: takes
     * memory for it and computes it again for the backward of the ops that read it; does nothing
     * where none does. NULL: it is kept. */
    void (*again)(heed_node *n);
};

/* Runs the op on its inputs and records it when any input wants a gradient. The variadic arguments
 * are the op's inputs, of type heed_tensor *; an optional one may be NULL. heed_push_list passes
 * `count` of them instead, for an op of a list. Returns the output; NULL on error. */
heed_tensor *heed_push(heed_tape *t, const heed_op *op, const void *args, ...);
heed_tensor *heed_push_list(heed_tape *t, const heed_op *op, const void *args, int count,
                            heed_tensor *const *in);

/* In infer: create the output. heed_op_output_like copies the shape of input i; heed_op_output_view
 * shares the memory of input i from offset. Each returns false when out of memory or the size
 * overflows. */
bool heed_op_output(heed_node *n, int dims, const int *shape);
bool heed_op_output_like(heed_node *n, int i);
bool heed_op_output_view(heed_node *n, int i, size_t offset, int dims, const int *shape);

/* In infer: records the error "op at NAME: MESSAGE" and returns false. See heed_shape_text. */
bool heed_op_error(heed_node *n, const char *format, ...) HEED_PRINTF(2, 3);

/* In backward: the array to which the gradient of input i is added; NULL if it is not wanted. */
heed_real *heed_grad(heed_node *n, int i);
/* The same for a backward that can write as well as add: if nothing has been added yet, *add is
 * false and the memory is not zeroed, so every element must be written. */
heed_real *heed_grad_into(heed_node *n, int i, bool *add);

/* In infer or forward: creates a value that is kept under name for backward and for probes. The
 * memory lasts as long as the step and is not zeroed. */
heed_tensor *heed_op_save(heed_node *n, const char *name, int dims, const int *shape);
/* True if a probe requests this node's value of that name, so that a fused op must compute it. */
bool heed_probe_get(const heed_node *n, const char *name);

/* Uninitialised memory that lasts as long as the step; NULL, with an error, when out of memory. */
void *heed_scratch(heed_node *n, size_t bytes);
/* Releases memory from heed_scratch before the step ends; bytes must be the size requested. Then
 * later nodes reuse it while it is in cache. p may be NULL. */
void heed_scratch_done(heed_node *n, void *p, size_t bytes);

/* The node's random stream: seed, its name, step and micro-batch. */
heed_random heed_node_random(const heed_node *n);

/* The backward of views. A view's gradient is a part of its base's, so there is nothing to add
 * unless heed_want_grad requested a separate one. */
void heed_view_backward(heed_node *n);

/* In forward, for a state such as running statistics: input i becomes keep * input + scale * x,
 * computed in double precision; x has the input's size. A training run divided among processes
 * copies x and makes the update later, in the order of the micro-batches. */
void heed_update_state(heed_node *n, int i, double keep, double scale, const heed_real *x);

/* The library's ops, ended by NULL: each entry a list, ended by {0}, of the family in one file. */
const heed_op *const *heed_op_table(void);

/* Largest disagreement between backward and central differences (both in heed_real, so intended for
 * the double-precision build) over the op's cases: per tensor |a-n| / max(|a|, |n|, 1e-3 max|g|),
 * where max|g| is at least a thousandth of the largest gradient of all tensors. Each case runs
 * twice: with inputs that have no gradient yet, and with some to which backward must add. error is
 * negative when the context is in error; an op without cases is an error. worst is, for example,
 * "case 2, input 1, element 7". */
heed_check heed_gradcheck(heed_ctx *c, const heed_op *op);

/* The same for a whole model: loss(user, tape) records one training step on a tape on which
 * heed_tape_begin was called, and returns a scalar loss; up to `samples` elements of every trained
 * entry of s are varied. The gradients are the mean of two passes, the second of which adds. cases
 * is the number of entries checked. worst is, for example, "block.0.attn.qkv.weight, element 7".
 * Gradients are zero afterwards. */
heed_check heed_gradcheck_store(heed_ctx *c, heed_params *s,
                                heed_tensor *(*loss)(void *user, heed_tape *t), void *user,
                                int samples);

HEED_EXPORT_END
#endif
