/* heed/model.h -- what a model tells heed_fit, the program and the tests about itself: one const
 * heed_model. */
#ifndef HEED_MODEL_H
#define HEED_MODEL_H

#include <heed/data.h>
#include <heed/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over evaluation batches; fit divides. */
typedef struct {
    double loss, weight;   /* sum of loss * items that the loss averages over, and of those items */
    double correct, total; /* correct predictions, and all */
    double top5;           /* label among the five most probable */
    double bytes; /* text bytes, all of them predicted: bits per byte = loss / ln 2 / bytes */
} heed_score;

typedef struct {
    const char *name, *help;
    const heed_option *options; /* the model's own settings, ended by {0} */
    size_t size;                /* bytes of the model's struct, zeroed before init */
    /* Makes the parameters in s by the settings. `vocab` is the tokenizer's real size. False, or an
     * error in s's ctx: refused. */
    bool (*init)(void *self, heed_store *s, const heed_config *f);
    /* The batch at a place of the data (a heed_corpus for text models). */
    bool (*batch)(void *self, void *data, heed_batch_at at, heed_batch *out);
    uint64_t (*eval_batches)(void *self, void *data, int rows);  /* evaluation batches */
    uint64_t (*epoch_batches)(void *self, void *data, int rows); /* training batches in an epoch */
    heed_tensor *(*loss)(void *self, heed_tape *t, const heed_batch *b); /* a scalar */
    void (*metrics)(void *self, const heed_batch *b,
                    heed_score *score); /* after loss, in eval mode */
} heed_model;

#ifdef __cplusplus
}
#endif
#endif
