/* heed/op.h -- what an op is made of. Ops of the library and of a user's own file have the same
 * rights. See examples/own_op.c. */
#ifndef HEED_OP_H
#define HEED_OP_H

#include <heed/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One set of inputs that the gradient, instruction-set and thread checks run an op on. A list ends
 * with {0}. */
typedef struct {
    const char *shapes; /* a word per input: "3x5" reals, "i2x3:10" indices below 10, "m2x3" a 0/1
                           mask, "-" absent, "s" scalar */
    double lo, hi;      /* reals are uniform in [lo, hi); both 0: [-1, 1) */
    const void *args;   /* handed to heed_push */
    const char *away;   /* kinks that inputs keep 0.05 away from: "0" or "-1 1" */
    bool apart;         /* all values of an input differ by at least 0.01: for maxima */
    const heed_op *surrogate;   /* the backward is declared, not the derivative (hard selection): it
                                   must equal this op's for the same upstream gradient */
    const void *surrogate_args; /* what that op is pushed with */
    bool eval; /* pushed under HEED_TRACE instead of HEED_TRAIN (batch norm with running statistics)
                */
    const char *fixed; /* a '1' per input that is not differentiated: "001" */
} heed_case;

struct heed_op {
    const char *name;
    int inputs; /* how many tensors heed_push takes; -1: a list, by heed_push_list */
    bool (*infer)(heed_node *n);    /* checks shapes, makes the output by heed_out; false with
                                       heed_wrong on bad shapes */
    void (*forward)(heed_node *n);  /* NULL: nothing to compute (views) */
    void (*backward)(heed_node *n); /* adds to what heed_grad returns; NULL: recording it in
                                       training is an error */
    const heed_case *cases;
    size_t args_size;  /* bytes of args, copied when pushed */
    unsigned optional; /* bit i: input i may be NULL */
};

struct heed_node {
    const heed_op *op;
    heed_tape *tape;
    heed_ctx *ctx;
    const heed_kernels *k; /* the library's kernels; opaque outside it */
    const char *name;      /* layer's name from heed_at, else the op's */
    bool named;            /* by heed_at */
    int index;             /* how many nodes were pushed before it in this step */
    heed_tensor **in;
    int inputs;
    heed_tensor *y;       /* output */
    const void *args;     /* the tape's copy of the op's arguments, NULL if none */
    heed_tensor *kept[8]; /* named values, in the order of heed_keep; also for backward */
    const char *kept_name[8];
    int kept_count;
    void *scratch;  /* the op's own between forward and backward */
    bool training;  /* HEED_TRAIN */
    bool recording; /* backward will be called */
};

/* Runs the op on its inputs and records it when any input wants a gradient. Variadic: op->inputs
 * tensors. NULL on error. */
HEED_API heed_tensor *heed_push(heed_tape *t, const heed_op *op, const void *args, ...);
HEED_API heed_tensor *heed_push_list(heed_tape *t, const heed_op *op, const void *args, int count,
                                     heed_tensor *const *in);

/* Inside infer: the output. heed_out_like copies the shape of input i; heed_out_view shares the
 * memory of input i from offset. Each returns false when out of memory or the size overflows. */
HEED_API bool heed_out(heed_node *n, int dims, const int *shape);
HEED_API bool heed_out_like(heed_node *n, int i);
HEED_API bool heed_out_view(heed_node *n, int i, size_t offset, int dims, const int *shape);

/* Inside infer: records "op at NAME: MESSAGE" and returns false. Shapes print by heed_shape_text.
 */
HEED_API bool heed_wrong(heed_node *n, const char *format, ...) HEED_PRINTF(2, 3);

/* Inside backward: where to add the gradient of input i; NULL if nobody wants it. */
HEED_API heed_real *heed_grad(heed_node *n, int i);
/* The same for a backward that can write as well as add: where nothing was added yet, *add is false
 * and the memory is not zeroed, so that every element must be written. */
HEED_API heed_real *heed_grad_into(heed_node *n, int i, bool *add);

/* In infer or forward: a value kept for backward and for probes under name. Memory of the tape's
 * step, not zeroed. */
HEED_API heed_tensor *heed_keep(heed_node *n, const char *name, int dims, const int *shape);
/* True if a probe asks for this node's value of that name, so that a fused op must produce it. */
HEED_API bool heed_probed(const heed_node *n, const char *name);

/* Uninitialised memory of this step; NULL after heed_fail when there is none. */
HEED_API void *heed_scratch(heed_node *n, size_t bytes);
/* Hands it back, of the same bytes, before the step ends, so that later nodes use the memory again
 * while it is in cache. p may be NULL. */
HEED_API void heed_scratch_done(heed_node *n, void *p, size_t bytes);

/* The name that t has by heed_at, NULL if none; taken: nodes recorded through t have none from now
 * on. For functions that record several ops under one name. */
HEED_API const char *heed_take_name(heed_tape *t);

/* The node's random stream: seed, its name, step and micro-batch. */
HEED_API heed_random heed_node_random(const heed_node *n);

/* The backward of views: their gradient is a part of their base's, so there is nothing to add,
 * unless heed_want_grad asked for the view's own. */
HEED_API void heed_view_backward(heed_node *n);

/* The library's table of ops, ended by NULL. Each entry is a list of ops ended by {0}: one family,
 * one file. */
HEED_API const heed_op *const *heed_op_table(void);

/* Largest disagreement between backward and central differences (both in heed_real, so meant for
 * the double build) over the op's cases: per tensor |a-n| / max(|a|, |n|, 1e-3 max|g|), where the
 * largest gradient counts as at least a thousandth of the largest of all tensors. error is negative
 * when the context is in error; an op without cases is one. worst: "case 2, input 1, element 7". */
HEED_API heed_check heed_gradcheck(heed_ctx *c, const heed_op *op);

/* The same for a whole model: loss(user, tape) records one training step on a tape that was begun
 * and returns its scalar; up to `samples` elements of every trained entry of s are varied. cases
 * counts the entries. worst: "block.0.attn.qkv.weight, element 7". Gradients are zero afterwards.
 */
HEED_API heed_check heed_gradcheck_store(heed_ctx *c, heed_store *s,
                                         heed_tensor *(*loss)(void *user, heed_tape *t), void *user,
                                         int samples);

#ifdef __cplusplus
}
#endif
#endif
