/* heed/profile.h -- where the time of training steps goes: phases, ops, products of matrices, and
 * threads that wait.
 *
 * While a profile is attached to a context, tapes and optimizers of the context record their times
 * in it; only one thread may then record, train or step. Without one, nothing is measured. */
#ifndef HEED_PROFILE_H
#define HEED_PROFILE_H

#include <heed/ctx.h>

HEED_EXPORT_BEGIN

typedef struct heed_profile heed_profile;

/* Forward lasts from heed_tape_begin to heed_backward, optimizer is heed_clip_grad_norm and
 * heed_optim_step. */
typedef enum {
    HEED_PHASE_OUTSIDE,
    HEED_PHASE_FORWARD,
    HEED_PHASE_BACKWARD,
    HEED_PHASE_OPTIMIZER,
    HEED_PHASES
} heed_phase;

/* Sums over all calls of an op in one phase, or over its products of one shape. */
typedef struct {
    heed_phase phase;
    const char *op;      /* "affine"; in the optimizer: "adamw", "clip" */
    const char *product; /* NULL: the complete op. Else its products of this shape: "forward"; of
                            gradients "dW" if the left operand is transposed, else "dX".
                            affine_xent computes its gradients in the forward phase */
    int m, n, k;         /* of a product: C (m,n) = A (m,k) B (k,n) */
    uint64_t calls;
    double seconds;
    double flops; /* of matrix products, convolutions and attention: 2 m n k per product. Attention
                     counts masked scores, too, and in backward the scores computed again */
    double bytes; /* of the arrays that the op reads and writes, each counted once */
    uint64_t regions; /* of code that ran on several threads */
    double parallel;  /* seconds in regions; in the others one thread worked alone */
    double uneven;    /* seconds in which the mean thread waited for the slowest to finish */
    double sync;      /* seconds spent on starting and ending regions */
} heed_profile_row;

/* Attaches a profile to the context, which owns it. NULL, with an error, if one is attached. */
heed_profile *heed_profile_new(heed_ctx *c);
/* Detaches the profile and frees it. */
void heed_profile_free(heed_profile *p);
/* The number of updates so far, and the seconds spent in a phase. */
uint64_t heed_profile_steps(const heed_profile *p);
double heed_profile_seconds(const heed_profile *p, heed_phase phase);
/* The rows, in the order in which they first occurred; valid until the next step. */
int heed_profile_rows(const heed_profile *p, const heed_profile_row **rows);

/* Floating-point operations a second of a loop of multiply-adds in registers on all threads, with
 * the context's instruction set: the limit of every kernel. The best of many short measurements in
 * `seconds`, or in up to 20 times as long while other programs take turns with the threads. */
double heed_peak_flops(heed_ctx *c, double seconds);

HEED_EXPORT_END
#endif
