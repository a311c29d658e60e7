/* common.h -- what the transformer models share: settings, embeddings, a stack of blocks, scores.
 */
#ifndef MODELS_COMMON_H
#define MODELS_COMMON_H

#include "models.h"

#define MODEL_LAYERS 64

/* Rows of a table of settings. */
#define WHOLE(name, value, min, max, help)                                                         \
    { name, HEED_INT, value, min, max, NULL, help, "Model" }
#define NUMBER(name, value, min, max, help)                                                        \
    { name, HEED_REAL, value, min, max, NULL, help, "Model" }
#define CHOICE(name, value, choices, help)                                                         \
    { name, HEED_CHOICE, value, 0, 0, choices, help, "Model" }
#define YES(name, help)                                                                            \
    { name, HEED_BOOL, "true", 0, 0, NULL, help, "Model" }
#define NO(name, help)                                                                             \
    { name, HEED_BOOL, "false", 0, 0, NULL, help, "Model" }

#define ACTIVATIONS "gelu|gelu-tanh|relu|silu|tanh"

/* What every transformer has; the families differ in the defaults given. */
#define TRANSFORMER_OPTIONS(norm, activation, eps, types)                                          \
    WHOLE("layers", "4", 1, MODEL_LAYERS, "blocks"),                                               \
        WHOLE("heads", "4", 1, 4096, "attention heads per block"),                                 \
        WHOLE("width", "128", 1, 1 << 20, "width of the residual stream"),                         \
        WHOLE("ff", "0", 0, 1 << 24, "width inside the feed-forward network; 0: 4 width"),         \
        WHOLE("key-width", "0", 0, 1 << 20, "of queries and keys per head; 0: width / heads"),     \
        WHOLE("value-width", "0", 0, 1 << 20, "of values per head; 0: width / heads"),             \
        WHOLE("block", "64", 2, 1 << 20, "tokens in a sequence, at most"),                         \
        WHOLE("vocab", "0", 0, 1 << 24, "upper bound of the vocabulary; 0: the tokenizer's own"),  \
        CHOICE("norm", norm, "pre|post", "layer norm before or after each sublayer"),              \
        NUMBER("norm-eps", eps, 0, 1, "added to the variance in layer norm"),                      \
        CHOICE("activation", activation, ACTIVATIONS, "of the feed-forward network"),              \
        CHOICE("positions", "learned", "learned|sinusoidal|none", "how places are told apart"),    \
        WHOLE("token-types", types, 0, 1 << 16, "segment embeddings; 0: none"),                    \
        NUMBER("dropout", "0", 0, 0.99, "of embeddings, attention weights and sublayers"),         \
        NUMBER("beta", "-1", -1, 1e6, "inverse temperature of attention; -1: 1/sqrt(key width)"),  \
        NO("hard", "attend to the largest score alone"),                                           \
        CHOICE("attention", "fused", "fused|explicit", "one op, or its plain composition"),        \
        YES("attn-out", "project the heads' values back (W_h)"),                                   \
        YES("bias", "biases in projections and norms"),                                            \
        YES("tie", "the head's weights are the token embeddings"),                                 \
        NUMBER("init-std", "0.02", 0, 10, "deviation of initial weights; 0: uniform by fan-in")

/* Embeddings, blocks and final norm. */
typedef struct {
    heed_tensor *token, *type; /* (V,d), (types,d) or NULL */
    heed_position position;
    heed_norm embed_norm, final_norm; /* gain NULL: absent */
    heed_drop drop;
    int layers, width, vocab, len;
    char init[32], out_init[32]; /* of projections; "": the layers' own */
    heed_block block[MODEL_LAYERS];
} transformer;

/* What a family adds to the settings. */
typedef struct {
    const char *stack; /* name of the blocks: "encoder" */
    bool causal;
    bool scale_residual; /* projections onto the residual stream start at init-std / sqrt(2 layers)
                          */
} transformer_kind;

bool transformer_init(transformer *m, heed_store *s, const heed_config *f, transformer_kind kind);
/* ids (B,T) at places [from, from+T) -> (B,T,d), embedded */
heed_tensor *transformer_embed(const transformer *m, heed_tape *t, heed_tensor *ids,
                               heed_tensor *types, int from);
/* The blocks; caches (one a layer) or NULL. */
heed_tensor *transformer_blocks(const transformer *m, heed_tape *t, heed_tensor *x,
                                heed_tensor *pad, heed_cache *caches);
heed_tensor *transformer_final(const transformer *m, heed_tape *t, heed_tensor *x);

/* The output layer: weights (V,d) of its own or the token embeddings, bias (V) or NULL. */
typedef struct {
    const char *name;
    heed_tensor *w, *b;
} output_head;
void output_head_init(output_head *l, heed_store *s, const transformer *m, const heed_config *f);
heed_tensor *output_head_apply(const output_head *l, heed_tape *t, heed_tensor *x);

heed_act model_activation(const heed_config *f);
const char *model_init_or_null(const char *init); /* "" -> NULL */

/* Adds a batch to the score: logits (...,V) and the mean loss over the n labels that are not
 * negative. */
void model_score(const heed_tensor *logits, const heed_tensor *loss, const int32_t *labels,
                 heed_score *score);

/* Batches of a text corpus. */
uint64_t text_evals(void *self, void *data, int rows);
uint64_t text_epoch(void *self, void *data, int rows);

#endif
