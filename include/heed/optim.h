/* heed/optim.h -- optimizers, schedules and clipping. They walk the store and know no model. */
#ifndef HEED_OPTIM_H
#define HEED_OPTIM_H

#include <heed/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heed_optim heed_optim;

typedef enum {
    HEED_SGD,      /* also gradient descent, when a batch is the whole data set */
    HEED_MOMENTUM, /* v = mu v + g; x -= lr v (Nesterov: x -= lr (g + mu v)). Sutskever et al. 2013
                    */
    HEED_RMSPROP,  /* v = alpha v + (1-alpha) g^2; x -= lr g / (sqrt(v) + eps). Hinton 2012, lecture
                      6e */
    HEED_ADAM,     /* Kingma & Ba 2015, alg. 1; decay is added to the gradient */
    HEED_ADAMW     /* Loshchilov & Hutter 2019, alg. 2; x -= lr decay x */
} heed_optim_kind;

/* Zero fields take PyTorch's defaults: momentum 0.9, alpha 0.99, beta1 0.9, beta2 0.999, eps 1e-8.
 */
typedef struct {
    heed_optim_kind kind;
    heed_real lr;
    heed_real decay; /* for entries with decay set */
    heed_real momentum, alpha, beta1, beta2, eps;
    bool nesterov;
} heed_optim_args;

HEED_API heed_optim *heed_optim_new(heed_store *s, heed_optim_args a);
HEED_API void heed_optim_free(heed_optim *o);

/* One update with learning rate args.lr * lr_scale * entry scale; gradients are then zero. Refuses
 * in error, and when a gradient is not finite (HEED_DIVERGED, naming the parameter), before any
 * value changes. */
HEED_API bool heed_step(heed_optim *o, heed_real lr_scale);

/* The slots as a store of their own ("adam.m.PARAMETER"), to be saved and loaded like any; the
 * count of updates is in it ("adam.count"). Parameters frozen when the optimizer is made have none.
 */
HEED_API heed_store *heed_optim_slots(heed_optim *o);

/* sqrt of the sum of squares of all trained gradients. */
HEED_API double heed_grad_norm(const heed_store *s);
/* Scales all gradients so that their norm is at most max, and by scale before that (1/accumulated
 * micro-batches); returns the norm before clipping, after scale. max 0: no clipping. Folded into
 * the next heed_step: no extra pass. */
HEED_API double heed_clip(heed_optim *o, heed_real max, heed_real scale);

/* Learning-rate schedules: the factor for update `step` (from 0) of `steps`, peak 1. */
typedef enum {
    HEED_CONSTANT,
    HEED_COSINE,  /* from 1 to floor over the steps after warm-up */
    HEED_LINEAR,  /* the same, straight */
    HEED_INVSQRT, /* min(s^-0.5, s w^-1.5) w^0.5 with s = step + 1: Vaswani et al. 2017, eq. 3,
                     scaled to peak 1 */
    HEED_STEPS    /* times gamma every `every` steps */
} heed_schedule_kind;
typedef struct {
    heed_schedule_kind kind;
    int64_t steps, warmup; /* linear warm-up: (step + 1) / warmup while step < warmup */
    heed_real floor;       /* last factor of cosine and linear: lr_min / lr */
    int64_t every;
    heed_real gamma;
} heed_schedule;
HEED_API heed_real heed_schedule_at(const heed_schedule *s, int64_t step);

#ifdef __cplusplus
}
#endif
#endif
