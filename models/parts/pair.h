/* pair.h -- code shared by the pair models, seq2seq and rnn: settings, embeddings, loss. */
#ifndef MODELS_PAIR_H
#define MODELS_PAIR_H

#include "stack.h"

#include <heed/pairs.h>

typedef struct {
    token_settings tokens;
    bool share_vocab;
    int source_vocab;
    heed_real smoothing;
} pair_settings;
extern const heed_option heed__pair_options[];

/* The plain settings of the benchmarks, and small sizes for the gradient check. */
#define PAIR_PLAIN "dropout=0 share-vocab=false lr=1e-3 "

/* The first member of each model's struct, so that the functions below take any of them as self. */
typedef struct pair_model pair_model;
struct pair_model {
    model_result result;
    int source_vocab, vocab, len;
    bool shared; /* one vocabulary and one embedding table */
    heed_real smoothing;
    const heed_linear *head; /* the output layer */
    /* source (B,S), pad (B,S) or NULL, ids (B,T) -> (B,T,d), what the output layer reads */
    heed_tensor *(*features)(const pair_model *self, heed_tape *t, heed_tensor *source,
                             heed_tensor *pad, heed_tensor *ids);
};

/* Reads the settings; fails if the data has not filled in the sizes. */
bool heed__pair_read(pair_model *m, heed_ctx *c, const pair_settings *set);
/* Embeddings of both sides, (V,width): embed.token.weight, or embed.{source target}.weight. */
void heed__pair_embeddings(const pair_model *m, heed_store *s, int width, const char *init,
                           heed_tensor **source, heed_tensor **target);

/* Members of heed_model. */
heed_tensor *heed__pair_logits(const void *self, heed_tape *t, const heed_model_input *in);
heed_tensor *heed__pair_loss(void *self, heed_tape *t, const heed_batch *b);
#define PAIR_MEMBERS                                                                               \
    .data = &heed_text_pairs, .embedding = "embed.source", .logits = heed__pair_logits,            \
    .loss = heed__pair_loss, .metrics = heed__model_text_metrics
/* The member of heed_steps. */
int heed__pair_length(const void *self);

#endif
