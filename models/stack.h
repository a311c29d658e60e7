/* stack.h -- a stack of transformer blocks and the norm after them, for text and for pictures. */
#ifndef MODELS_STACK_H
#define MODELS_STACK_H

#include "common.h"

#define MODEL_LAYERS 64

/* Settings of every transformer; the families differ in the defaults given. */
#define STACK_OPTIONS(layer_count, head_count, stream, norm, activation, eps)                      \
    WHOLE("layers", layer_count, 1, MODEL_LAYERS, "blocks"),                                       \
        WHOLE("heads", head_count, 1, 4096, "attention heads per block"),                          \
        WHOLE("width", stream, 1, 1 << 20, "width of the residual stream"),                        \
        WHOLE("ff", "0", 0, 1 << 24, "width inside the feed-forward network; 0: 4 width"),         \
        WHOLE("key-width", "0", 0, 1 << 20, "of queries and keys per head; 0: width / heads"),     \
        WHOLE("value-width", "0", 0, 1 << 20, "of values per head; 0: width / heads"),             \
        CHOICE("norm", norm, "pre|post", "norm before or after each sublayer"),                    \
        CHOICE("norm-kind", "layer", "layer|rms", "layer norm, or RMS norm (no mean, no bias)"),   \
        NUMBER("norm-eps", eps, 0, 1, "added to the variance in norms"),                           \
        CHOICE("activation", activation, ACTIVATIONS, "of the feed-forward network"),              \
        NUMBER("dropout", "0", 0, 0.99, "of embeddings, attention weights and sublayers"),         \
        NUMBER("beta", "-1", -1, 1e6, "inverse temperature of attention; -1: 1/sqrt(key width)"),  \
        NO("hard", "attend to the largest score alone"),                                           \
        CHOICE("attention", "fused", "fused|explicit", "one op, or its plain composition"),        \
        YES("attn-out", "project the heads' values back (W_h)"),                                   \
        YES("bias", "biases in projections and norms")
#define INIT_STD(value)                                                                            \
    NUMBER("init-std", value, 0, 10, "deviation of initial weights; 0: uniform by fan-in")

typedef struct {
    int layers, width;
    double beta;                 /* as the settings say: -1 for 1/sqrt(key width) */
    char init[32], out_init[32]; /* of projections; "": the layers' own */
    heed_norm final_norm;        /* gain NULL: absent */
    heed_block block[MODEL_LAYERS];
} block_stack;

/* What a family adds to the settings. */
typedef struct {
    const char *name; /* of the blocks: "encoder" */
    bool causal;
    bool recurrent;      /* recurrent layers stand instead of the blocks, and no positions */
    bool scale_residual; /* projections onto the residual stream start at residual_std / sqrt(2
                            layers) */
    double residual_std; /* 0: init-std */
    bool final_norm;
} stack_kind;

/* What one block is made of by the settings. */
heed_block_args heed__stack_block_args(const block_stack *m, const heed_config *f, bool causal);
/* Reads sizes and initial values; the parameters come with heed__stack_make, after the embeddings'.
 */
void heed__stack_read(block_stack *m, const heed_config *f, stack_kind kind);
void heed__stack_make(block_stack *m, heed_store *s, const heed_config *f, stack_kind kind);
/* How the model's other parameters start: the setting init-std, or `otherwise`. */
const char *heed__stack_init_or(const block_stack *m, const char *otherwise);

/* x (B,T,d) through the blocks; pad (B,T) or NULL; caches (one a layer) or NULL. */
heed_tensor *heed__stack_apply(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                               heed_cache *caches);
/* Block `index` as one of the stack's attending layers. False: there is none. */
bool heed__stack_attending(const block_stack *m, heed_stack stack, int index, heed_attending *out);
/* The norm after the blocks, if there is one. */
heed_tensor *heed__stack_norm(const block_stack *m, heed_tape *t, heed_tensor *x);

#endif
