/* stack.h -- a stack of transformer blocks and the norm after them, for text and for pictures. */
#ifndef MODELS_STACK_H
#define MODELS_STACK_H

#include "common.h"

#define MODEL_LAYERS 64

#define NORM_SETTING(kind, setting, ...) setting
#define NORM_KINDS                       (&(HEED_NORMS(NORM_SETTING))[1])

/* Settings of every transformer; each family of models passes its own defaults. Of these, caption
 * has other rows between the same pieces. */
#define STACK_OPTIONS(layer_count, head_count, stream, norm, activation, eps)                      \
    WHOLE("layers", layer_count, 1, MODEL_LAYERS, "blocks"),                                       \
        STACK_SIZE_OPTIONS(head_count, stream),                                                    \
        WHOLE("key-width", "0", 0, 1 << 20, "of queries and keys per head; 0: width / heads"),     \
        WHOLE("value-width", "0", 0, 1 << 20, "of values per head; 0: width / heads"),             \
        STACK_NORM_OPTIONS(norm, activation, eps), NO("hard", "attend only to the largest score"), \
        CHOICE("attention", "fused", "fused|explicit", "one op, or its plain composition"),        \
        STACK_OUT_OPTIONS
#define STACK_SIZE_OPTIONS(head_count, stream)                                                     \
    WHOLE("heads", head_count, 1, 4096, "attention heads per block"),                              \
        WHOLE("width", stream, 1, 1 << 20, "width of the residual stream"),                        \
        WHOLE("kv-heads", "0", 0, 4096,                                                            \
              "heads of keys and values, shared by the attention heads; 0: as many as heads"),     \
        WHOLE("ff", "0", 0, 1 << 24,                                                               \
              "width inside the feed-forward network; 0: 4 times width, or for swiglu 8/3 times "  \
              "width, rounded up to a multiple of 8"),                                             \
        CHOICE("ff-kind", "plain", "plain|swiglu",                                                 \
               "feed-forward network: down(activation(up(x))), or down(silu(gate(x)) up(x))")
#define STACK_NORM_OPTIONS(norm, activation, eps)                                                  \
    CHOICE("norm", norm, "pre|post", "norm before or after each sublayer"),                        \
        CHOICE("norm-kind", "layer", NORM_KINDS, "layer norm, or RMS norm (no mean, no bias)"),    \
        NUMBER("norm-eps", eps, 0, 1, "added to the variance in norms"),                           \
        CHOICE("activation", activation, ACTIVATIONS, "of the plain feed-forward network"),        \
        NUMBER("rope-theta", "10000", 1e-3, 1e12,                                                  \
               "base of the angles of rotary positions, theta^(-2i / key width)"),                 \
        NUMBER("dropout", "0", 0, 0.99, "of embeddings, attention weights and sublayers"),         \
        NUMBER("beta", "-1", -1, 1e6, "inverse temperature of attention; -1: 1/sqrt(key width)")
#define STACK_OUT_OPTIONS                                                                          \
    YES("attn-out", "project the heads' values back (W_h)"),                                       \
        YES("bias", "biases in projections and norms")
/* Of these, the names of what only blocks use; and what two settings need of others. */
#define STACK_SETTINGS                                                                             \
    "heads kv-heads ff ff-kind key-width value-width norm rope-theta beta hard attention attn-out"
#define STACK_CONDITIONS                                                                           \
    HEED_WHEN("rope-theta", "positions=rotary"), HEED_WHEN("activation", "ff-kind=plain")
#define POSITIONS_OPTION(value, help)                                                              \
    CHOICE("positions", value, "learned|sinusoidal|none|rotary", help)
/* The blocks of LLaMA. Touvron et al. 2023, sec. 2.2; Ainslie et al. 2023. */
#define LLAMA "norm=pre norm-kind=rms positions=rotary ff-kind=swiglu bias=false "
#define INIT_STD(value)                                                                            \
    NUMBER("init-std", value, 0, 10, "deviation of initial weights; 0: uniform by fan-in")

typedef struct {
    int layers, width;
    bool recompute;              /* blocks are computed again in backward */
    bool all_rows;               /* of the last block, even where only some are read */
    double beta;                 /* from the settings; -1: 1/sqrt(key width) */
    char init[32], out_init[32]; /* initial values of projections; "": the layers' defaults */
    heed_norm final_norm;        /* gain NULL: absent */
    heed_block block[MODEL_LAYERS];
} block_stack;

/* What a family of models specifies besides the settings. */
typedef struct {
    const char *name; /* name of the blocks: "encoder" */
    bool causal;
    bool recurrent;      /* recurrent layers replace the blocks and positions */
    bool scale_residual; /* projections onto the residual stream start at residual_std / sqrt(2
                            layers) */
    double residual_std; /* 0: init-std */
    bool final_norm;
} stack_kind;

/* The arguments of one block, from the settings. */
heed_block_args heed__stack_block_args(const block_stack *m, const heed_config *f, bool causal);
/* Reads sizes and initial values; heed__stack_make adds parameters, after those of embeddings. */
void heed__stack_read(block_stack *m, const heed_config *f, stack_kind kind);
void heed__stack_make(block_stack *m, heed_store *s, const heed_config *f, stack_kind kind);
/* Initial values of the model's other parameters: by the setting init-std, or `otherwise`. */
const char *heed__stack_init_or(const block_stack *m, const char *otherwise);

/* Passes x (B,T,d) through the blocks; pad (B,T) or NULL; caches (one per layer) or NULL. */
heed_tensor *heed__stack_apply(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                               heed_cache *caches);
/* The outputs (n,d) of some positions alone: rows, an index (n) of flat positions b T + t. The last
 * block is computed for those only, unless the setting all-rows, a probe or HEED_TRACE asks for
 * all.
 */
heed_tensor *heed__stack_rows(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *rows,
                              heed_tensor *pad);
/* Whether that computes all rows. */
bool heed__stack_all_rows(const block_stack *m, const heed_tape *t);
/* Describes the attention layer of block `index`. Returns false if there is none. */
bool heed__stack_attending(const block_stack *m, heed_stack stack, int index, heed_attending *out);
/* The norm after the blocks, if there is one. */
heed_tensor *heed__stack_norm(const block_stack *m, heed_tape *t, heed_tensor *x);

#endif
