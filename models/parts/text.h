/* text.h -- code shared by the models of tokens: settings, embeddings and a stack of blocks. */
#ifndef MODELS_TEXT_H
#define MODELS_TEXT_H

#include "stack.h"

typedef struct {
    stack_settings stack;
    token_settings tokens;
    int token_types;
    bool embed_norm; /* a row of each model */
} text_settings;
extern const heed_option heed__text_options[]; /* of the tokens, positions and token types */

/* The plain stack for benchmarks: pre-norm with biases, erf GELU, final norm, tied head. */
#define TEXT_PLAIN                                                                                 \
    "norm=pre norm-eps=1e-5 activation=gelu final-norm=true embed-norm=false token-types=0 "       \
    "transform-head=false head-bias=false scale-residual=false dropout=0 lr=1e-3 "
/* Small sizes for the gradient check. */
#define TINY "width=8 layers=2 heads=2 ff=16 block=6 vocab=13 batch=2 init-std=0.3 "

/* The embedding of tokens: token + position + segment, then a norm and dropout. */
typedef struct {
    heed_tensor *token, *type; /* (V,d), (types,d) or NULL */
    heed_position position;
    heed_norm norm; /* gain NULL: absent */
    heed_drop drop;
} token_embedding;

/* In the scope "embed". init: initial values of tokens and segments. */
void heed__embedding_init(token_embedding *e, heed_store *s, const text_settings *set,
                          const char *init, heed_position_kind positions);
/* ids (B,T) at positions [from, from+T), types (B,T) or NULL: all 0 -> (B,T,d) */
heed_tensor *heed__embedding_apply(const token_embedding *e, heed_tape *t, heed_tensor *ids,
                                   heed_tensor *types, int from);

/* x (B,S,d) -> (B,d): the mean over the tokens that are not padding, or the last such token; as
 * (B,1,S) times (B,S,d). */
heed_tensor *heed__tokens_pooled(heed_tape *t, heed_tensor *x, const heed_tensor *pad, bool last);

/* Embeddings, blocks and final norm. */
typedef struct {
    token_embedding embed;
    int vocab, len;
    block_stack stack;
} transformer;

/* name: of the blocks; NULL: none are made, and there are no positions. */
bool heed__transformer_init(transformer *m, heed_store *s, const text_settings *set,
                            const char *name, bool causal);

#endif
