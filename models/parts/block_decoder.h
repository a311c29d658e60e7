/* block_decoder.h -- the Transformer's decoder, of seq2seq and caption: blocks with causal
 * self-attention and attention to a memory. Vaswani et al. 2017, sec. 3.1. */
#ifndef MODELS_BLOCK_DECODER_H
#define MODELS_BLOCK_DECODER_H

#include "stack.h"

typedef struct {
    heed_tensor *target; /* (V,d): embeddings */
    heed_real scale;     /* factor of the embeddings: sqrt(d), or 1 */
    heed_position place;
    heed_dropout_layer drop; /* of embeddings */
    int layers, len;
    bool recompute; /* as in block_stack */
    double beta;    /* as in block_stack */
    heed_block block[MODEL_LAYERS];
    heed_norm norm; /* pre-norm only; else gain NULL */
    heed_linear head;
} block_decoder;

/* Makes decoder.N, with attention to memory like that to the target itself except for a.cross. The
 * caller sets or makes the other fields. */
void heed__block_decoder_init(block_decoder *m, heed_params *s, heed_block_args a);
/* ids (B,T) at positions [from, from + T), memory (B,S,d), pad (B,S) or NULL -> (B,T,d), what the
 * head reads; caches: two per layer, or NULL. */
heed_tensor *heed__block_decoder_apply(const block_decoder *m, heed_tape *t, heed_tensor *memory,
                                       heed_tensor *pad, heed_tensor *ids, int from,
                                       heed_cache *caches);
/* Describes self-attention layers from index 0, then those attending to the memory. */
bool heed__block_decoder_attending(const block_decoder *m, int index, heed_attention_info *out);

/* The members of heed_steps. heed__block_decoder_keep is called at the end of `read`. */
bool heed__block_decoder_keep(const block_decoder *m, heed_tape *t, heed_tensor *memory,
                              heed_source *out);
size_t heed__block_decoder_state(const block_decoder *m);
heed_tensor *heed__block_decoder_next(const block_decoder *m, heed_tape *t,
                                      const heed_source *source, heed_real *state, int at,
                                      heed_tensor *ids);

#endif
