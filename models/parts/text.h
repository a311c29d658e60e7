/* text.h -- code shared by the models of tokens: settings, embeddings and a stack of blocks. */
#ifndef MODELS_TEXT_H
#define MODELS_TEXT_H

#include "stack.h"

#define TEXT_OPTIONS(norm, activation, eps, types)                                                 \
    STACK_OPTIONS("4", "4", "128", norm, activation, eps), INIT_STD("0.02"),                       \
        WHOLE("block", "64", 2, 1 << 20, "tokens in a sequence, at most"), VOCAB_OPTION,           \
        POSITIONS_OPTION("learned", "encoding of positions"),                                      \
        WHOLE("token-types", types, 0, 1 << 16, "segment embeddings; 0: none"),                    \
        YES("tie", "the head's weights are the token embeddings")

/* Presets of every language model. nano, tiny: embeddings of 0.02 are small compared with Adam's
 * first ten updates, and the loss jumped once in the warm-up (nano on a book in characters:
 * gradient norm 19.7 in step 18; with 0.05 or more it is at most 1.5, and the validation loss after
 * 300 steps is 2.23 instead of 2.42). */
#define TEXT_PRESETS                                                                               \
    {"nano", "2 layers, 4 heads, width 64, block 64",                                              \
     "layers=2 heads=4 width=64 ff=256 block=64 batch=32 init-std=0.05", false},                   \
        {"tiny", "4 layers, 4 heads, width 128, block 64",                                         \
         "layers=4 heads=4 width=128 ff=512 block=64 batch=32 init-std=0.05", false},              \
    {                                                                                              \
        "small", "4 layers, 4 heads, width 128, block 128, WordPiece vocabulary of 8192",          \
            "layers=4 heads=4 width=128 ff=512 block=128 batch=32 tokenizer=wordpiece vocab=8192", \
            false                                                                                  \
    }
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

/* By the settings width, vocab, block, token-types, embed-norm and dropout, in the scope "embed".
 * init: initial values of tokens and segments. */
void heed__embedding_init(token_embedding *e, heed_store *s, const heed_config *f, const char *init,
                          heed_position_kind positions);
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

bool heed__transformer_init(transformer *m, heed_store *s, const heed_config *f, stack_kind kind);

#endif
