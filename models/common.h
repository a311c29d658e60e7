/* common.h -- what the transformer models share: settings, embeddings, a stack of blocks, scores.
 */
#ifndef MODELS_COMMON_H
#define MODELS_COMMON_H

#include "models.h"

#define MODEL_LAYERS 64

/* One table row, and the rows that every transformer has; the families differ in the given
 * defaults. */
#define MODEL_GROUP "model"
#define TRANSFORMER_OPTIONS(norm_, activation_, eps_, types_)                                       \
    {"layers", HEED_INT, "4", 1, MODEL_LAYERS, NULL, "blocks", MODEL_GROUP},                        \
        {"heads", HEED_INT, "4", 1, 4096, NULL, "attention heads per block", MODEL_GROUP},          \
        {"width", HEED_INT, "128", 1, 1 << 20, NULL, "width of the residual stream", MODEL_GROUP},  \
        {"ff",                                                                                      \
         HEED_INT,                                                                                  \
         "0",                                                                                       \
         0,                                                                                         \
         1 << 24,                                                                                   \
         NULL,                                                                                      \
         "width inside the feed-forward network; 0: 4 width",                                       \
         MODEL_GROUP},                                                                              \
        {"key-width",                                                                               \
         HEED_INT,                                                                                  \
         "0",                                                                                       \
         0,                                                                                         \
         1 << 20,                                                                                   \
         NULL,                                                                                      \
         "width of queries and keys per head; 0: width / heads",                                    \
         MODEL_GROUP},                                                                              \
        {"value-width",                                                                             \
         HEED_INT,                                                                                  \
         "0",                                                                                       \
         0,                                                                                         \
         1 << 20,                                                                                   \
         NULL,                                                                                      \
         "width of values per head; 0: width / heads",                                              \
         MODEL_GROUP},                                                                              \
        {"block", HEED_INT, "64", 2, 1 << 20, NULL, "tokens in a sequence, at most", MODEL_GROUP},  \
        {"vocab",                                                                                   \
         HEED_INT,                                                                                  \
         "0",                                                                                       \
         0,                                                                                         \
         1 << 24,                                                                                   \
         NULL,                                                                                      \
         "upper bound of the vocabulary; 0: the tokenizer's own",                                   \
         MODEL_GROUP},                                                                              \
        {"norm",                                                                                    \
         HEED_CHOICE,                                                                               \
         norm_,                                                                                     \
         0,                                                                                         \
         0,                                                                                         \
         "pre|post",                                                                                \
         "layer norm before or after each sublayer",                                                \
         MODEL_GROUP},                                                                              \
        {"norm-eps", HEED_REAL, eps_, 0, 1, NULL, "added to the variance in layer norm",            \
         MODEL_GROUP},                                                                              \
        {"activation",                                                                              \
         HEED_CHOICE,                                                                               \
         activation_,                                                                               \
         0,                                                                                         \
         0,                                                                                         \
         "gelu|gelu-tanh|relu|silu|tanh",                                                           \
         "of the feed-forward network",                                                             \
         MODEL_GROUP},                                                                              \
        {"positions",                                                                               \
         HEED_CHOICE,                                                                               \
         "learned",                                                                                 \
         0,                                                                                         \
         0,                                                                                         \
         "learned|sinusoidal|none",                                                                 \
         "how places are told apart",                                                               \
         MODEL_GROUP},                                                                              \
        {"token-types",                                                                             \
         HEED_INT,                                                                                  \
         types_,                                                                                    \
         0,                                                                                         \
         1 << 16,                                                                                   \
         NULL,                                                                                      \
         "kinds of segments with an embedding each; 0: none",                                       \
         MODEL_GROUP},                                                                              \
        {"dropout",                                                                                 \
         HEED_REAL,                                                                                 \
         "0",                                                                                       \
         0,                                                                                         \
         0.99,                                                                                      \
         NULL,                                                                                      \
         "of embeddings, attention weights and sublayers",                                          \
         MODEL_GROUP},                                                                              \
        {"beta",                                                                                    \
         HEED_REAL,                                                                                 \
         "-1",                                                                                      \
         -1,                                                                                        \
         1e6,                                                                                       \
         NULL,                                                                                      \
         "inverse temperature of attention; -1: 1 / sqrt(key width)",                               \
         MODEL_GROUP},                                                                              \
        {"hard", HEED_BOOL, "false", 0, 0, NULL, "attend to the largest score alone", MODEL_GROUP}, \
        {"attention",                                                                               \
         HEED_CHOICE,                                                                               \
         "fused",                                                                                   \
         0,                                                                                         \
         0,                                                                                         \
         "fused|explicit",                                                                          \
         "one fused op, or its plain composition",                                                  \
         MODEL_GROUP},                                                                              \
        {"attn-out", HEED_BOOL, "true", 0, 0, NULL, "project the heads' values back (W_h)",         \
         MODEL_GROUP},                                                                              \
        {"bias", HEED_BOOL, "true", 0, 0, NULL, "biases in projections and norms", MODEL_GROUP},    \
        {"tie",      HEED_BOOL, "true", 0, 0, NULL, "the head's weights are the token embeddings",  \
         MODEL_GROUP},                                                                              \
    {                                                                                               \
        "init-std", HEED_REAL, "0.02", 0, 10, NULL,                                                 \
            "deviation of initial weights; 0: uniform by fan-in", MODEL_GROUP                       \
    }

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
