/* pair.h -- what the models of pairs, seq2seq and rnn, share: settings, batches, loss, and what
 * decode.c asks of them. */
#ifndef MODELS_PAIR_H
#define MODELS_PAIR_H

#include "stack.h"

#include <heed/pairs.h>

enum { PAIR_STEPS = 4096 }; /* tokens in a sequence, at most */

#define PAIR_OPTIONS(share)                                                                        \
    WHOLE("block", "64", 2, PAIR_STEPS, "tokens in a source, and in a target, at most"),           \
        WHOLE("vocab", "0", 0, 1 << 24, "upper bound of the vocabulary; 0: the tokenizer's own"),  \
        {"share-vocab",                                                                            \
         HEED_BOOL,                                                                                \
         share,                                                                                    \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "source and target have one vocabulary and the same embeddings",                          \
         "Model"},                                                                                 \
        WHOLE("source-vocab", "0", 0, 1 << 24,                                                     \
              "without share-vocab: upper bound of the source's; 0: as vocab"),                    \
        NUMBER("smoothing", "0", 0, 0.99,                                                          \
               "share of the target that goes to all tokens alike, in training")

/* A source that was read. What is kept lives on the tape that it was read on, until the next begin
 * of that. */
typedef struct {
    int n;        /* its tokens */
    int len;      /* tokens that a hypothesis may have */
    size_t state; /* numbers that tell where a hypothesis is */
    heed_tensor *kept[2 * MODEL_LAYERS];
} pair_source;

/* The first member of each model's struct, so that the functions below take any of them as self. */
struct pair_model {
    int source_vocab, vocab, len;
    bool shared; /* one vocabulary, one table of embeddings */
    heed_real smoothing;
    /* source (B,S), pad (B,S) or NULL, ids (B,T) -> logits (B,T,V) */
    heed_tensor *(*logits)(const pair_model *self, heed_tape *t, heed_tensor *source,
                           heed_tensor *pad, heed_tensor *ids);
    /* Reads one source (1,S); out->len is given. */
    bool (*read)(const pair_model *self, heed_tape *t, heed_tensor *source, pair_source *out);
    /* The state before the first token; NULL: its values do not matter. */
    void (*start)(const pair_model *self, const pair_source *s, heed_real *state);
    /* Logits (V) after token id at place `at`, whose state goes on. */
    heed_tensor *(*next)(const pair_model *self, heed_tape *t, const pair_source *s,
                         heed_real *state, int at, int32_t id);
    heed_tensor *out, *loss; /* of the last batch, for metrics */
};

/* Reads the settings; refuses what the data has not filled in. */
bool pair_read(pair_model *m, heed_ctx *c, const heed_config *f);
/* Embeddings of both sides, (V,width): embed.token.weight, or embed.source.weight and
 * embed.target.weight. */
void pair_embeddings(const pair_model *m, heed_store *s, int width, const char *init,
                     heed_tensor **source, heed_tensor **target);

/* Members of heed_model; data is a heed_pairs. */
bool pair_batch(void *self, void *data, heed_batch_at at, heed_batch *out);
uint64_t pair_evals(void *self, void *data, int rows);
uint64_t pair_epoch(void *self, void *data, int rows);
heed_tensor *pair_loss(void *self, heed_tape *t, const heed_batch *b);
void pair_metrics(void *self, const heed_batch *b, heed_score *score);
#define PAIR_MEMBERS                                                                               \
    .batch = pair_batch, .eval_batches = pair_evals, .epoch_batches = pair_epoch,                  \
    .loss = pair_loss, .metrics = pair_metrics

#endif
