/* args.h -- arguments of ops whose constructors take numbers, for those who read recorded nodes. */
#ifndef HEED_OPS_ARGS_H
#define HEED_OPS_ARGS_H

#include <heed/ops.h>

typedef struct {
    heed_real eps, momentum;
} heed__batch_norm_args;

typedef struct {
    heed_real lo, hi;
} heed__clamp_args;

typedef struct {
    heed_real scale;
    int from;
} heed__lora_args;

typedef struct {
    int dim, before, after;
    heed_real value;
} heed__pad_args;

typedef struct {
    int order[HEED_DIMS];
} heed__permute_args;

typedef struct {
    heed_real scale, shift;
} heed__scale_args;

typedef struct {
    int dim, from, size;
} heed__slice_args;

#endif
