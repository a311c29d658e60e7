/* heed/base.h -- the real type, status codes, version and opaque types that every header shares. */
#ifndef HEED_BASE_H
#define HEED_BASE_H

#include <heed/activations.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEED_VERSION "0.1.0"
#define HEED_DIMS    4 /* the maximum number of dimensions of a tensor */

#ifdef __cplusplus
#define HEED__C_BEGIN extern "C" {
#define HEED__C_END   }
#else
#define HEED__C_BEGIN
#define HEED__C_END
#endif

/* Placed around a group of exported declarations. */
#if defined(__GNUC__)
#define HEED_EXPORT_BEGIN      HEED__C_BEGIN _Pragma("GCC visibility push(default)")
#define HEED_EXPORT_END        _Pragma("GCC visibility pop") HEED__C_END
#define HEED_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define HEED_USE_RESULT        __attribute__((warn_unused_result))
#else
#define HEED_EXPORT_BEGIN HEED__C_BEGIN
#define HEED_EXPORT_END   HEED__C_END
#define HEED_PRINTF(fmt, args)
#define HEED_USE_RESULT
#endif

/* The number type of every value and gradient. float, except in the double build for tests. */
#ifdef HEED_F64
typedef double heed_real;
#else
typedef float heed_real;
#endif

typedef enum {
    HEED_OK = 0,
    HEED_FAILED,     /* the operating system refused: no memory, no space, cannot write */
    HEED_USAGE,      /* an argument, shape or setting is wrong */
    HEED_DATA,       /* a file or an input is wrong */
    HEED_DIVERGED,   /* a loss or a gradient is not finite */
    HEED_INTERRUPTED /* a callback asked to stop */
} heed_status;       /* the program's exit statuses 0 to 4, and 130 for the last */

/* An activation, alone (heed_activate) or fused into an affine map: HEED_IDENTITY, HEED_RELU and so
 * on; heed/activations.h lists them. */
#define HEED__ENUMERATOR(f, ...) f,
#define HEED__ONE(...)           +1
typedef enum { HEED_ACTIVATIONS(HEED__ENUMERATOR) } heed_act;
enum { HEED_ACT_COUNT = 0 HEED_ACTIVATIONS(HEED__ONE) };

/* A cell of a recurrent layer. */
typedef enum { HEED_CELL_TANH, HEED_CELL_GRU, HEED_CELL_LSTM } heed_cell;

/* The kind of attention that a layer computes. */
typedef enum { HEED_ENCODER, HEED_DECODER, HEED_CROSS } heed_stack;

/* The result of checking an op, a layer, a model or an optimizer. */
typedef struct {
    double error; /* largest error; negative: check failed to run, see context */
    int cases;
    char worst[96]; /* where the largest error is */
} heed_check;

typedef struct heed_ctx heed_ctx;
typedef struct heed_tensor heed_tensor;
typedef struct heed_params heed_params;
typedef struct heed_tape heed_tape;
typedef struct heed_node heed_node;
typedef struct heed_op heed_op;
typedef struct heed_kernels heed_kernels;

#endif
