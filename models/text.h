/* text.h -- what the models of text share: settings, embeddings around a stack of blocks, the
 * output layer, batches of a corpus. */
#ifndef MODELS_TEXT_H
#define MODELS_TEXT_H

#include "stack.h"

#define TEXT_OPTIONS(norm, activation, eps, types)                                                 \
    STACK_OPTIONS("4", "4", "128", norm, activation, eps), INIT_STD("0.02"),                       \
        WHOLE("block", "64", 2, 1 << 20, "tokens in a sequence, at most"),                         \
        WHOLE("vocab", "0", 0, 1 << 24, "upper bound of the vocabulary; 0: the tokenizer's own"),  \
        CHOICE("positions", "learned", "learned|sinusoidal|none", "how places are told apart"),    \
        WHOLE("token-types", types, 0, 1 << 16, "segment embeddings; 0: none"),                    \
        YES("tie", "the head's weights are the token embeddings")

/* Embeddings, blocks and final norm. */
typedef struct {
    heed_tensor *token, *type; /* (V,d), (types,d) or NULL */
    heed_position position;
    heed_norm embed_norm; /* gain NULL: absent */
    heed_drop drop;
    int vocab, len;
    block_stack stack;
} transformer;

bool transformer_init(transformer *m, heed_store *s, const heed_config *f, stack_kind kind);
/* ids (B,T) at places [from, from+T) -> (B,T,d), embedded */
heed_tensor *transformer_embed(const transformer *m, heed_tape *t, heed_tensor *ids,
                               heed_tensor *types, int from);

/* The output layer: weights (V,d) of its own or the token embeddings, bias (V) or NULL. */
typedef struct {
    const char *name;
    heed_tensor *w, *b;
} output_head;
void output_head_init(output_head *l, heed_store *s, const transformer *m, const heed_config *f);
heed_tensor *output_head_apply(const output_head *l, heed_tape *t, heed_tensor *x);

/* Batches of a corpus. */
uint64_t text_evals(void *self, void *data, int rows);
uint64_t text_epoch(void *self, void *data, int rows);

#endif
