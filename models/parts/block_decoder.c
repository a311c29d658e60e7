/* block_decoder.c -- the Transformer's decoder over a complete target and token by token. Vaswani
 * et al. 2017, sec. 3.1. */
#include "parts.h"

#include <stdio.h>

void heed__block_decoder_init(block_decoder *m, heed_params *s, heed_block_args a) {
    a.cross.rotary = 0; /* memory and target have no common positions */
    for (int i = 0; i < m->layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "decoder.%d", i);
        heed_block_init(&m->block[i], s, name, a);
    }
}

static heed_tensor *block(const void *self, heed_tape *t, heed_tensor *const in[HEED_RECOMPUTE]) {
    return heed_block_apply(self, t, in[0],
                            &(heed_block_inputs){.memory = in[1], .memory_pad = in[2]});
}

heed_tensor *heed__block_decoder_apply(const block_decoder *m, heed_tape *t, heed_tensor *memory,
                                       heed_tensor *pad, heed_tensor *ids, int from,
                                       heed_cache *caches) {
    heed_tensor *x = heed_embed(heed_name_scope(t, "embed.target"), m->target, ids);
    if (m->scale != 1) x = heed_scale(t, x, m->scale, 0);
    x = heed_position_apply(&m->place, t, x, from);
    x = heed_dropout_layer_apply(&m->drop, t, x);
    bool again =
        m->recompute && !caches && heed_tape_mode(t) != HEED_TRACE && !heed_probe_active(t);
    for (int i = 0; i < m->layers; i++)
        x = again
                ? heed_recompute(t, block, &m->block[i],
                                 (heed_tensor *[HEED_RECOMPUTE]){x, memory, pad})
                : heed_block_apply(&m->block[i], t, x,
                                   &(heed_block_inputs){.memory = memory,
                                                        .memory_pad = pad,
                                                        .caches = caches ? &caches[2 * i] : NULL});
    return m->norm.gain ? heed_norm_apply(&m->norm, t, x) : x;
}

bool heed__block_decoder_attending(const block_decoder *m, int index, heed_attention_info *out) {
    if (index < 0 || index >= 2 * m->layers) return false;
    bool cross = index >= m->layers;
    int layer = cross ? index - m->layers : index;
    const heed_block *b = &m->block[layer];
    heed__model_attending(cross ? &b->cross : &b->attn, cross ? HEED_CROSS : HEED_DECODER, layer,
                          m->beta, out);
    return true;
}

/* ---- decoding step by step ---- */

/* The data kept of a source: keys and values of the memory, for each layer. */
bool heed__block_decoder_keep(const block_decoder *m, heed_tape *t, heed_tensor *memory,
                              heed_source *out) {
    const heed_mha_args *a = &m->block[0].cross.args;
    heed_rows k = heed_mha_rows(a, HEED_KEYS, -1), v = heed_mha_rows(a, HEED_VALUES, -1);
    for (int i = 0; i < m->layers; i++) {
        heed_tensor *kv = heed_linear_apply(&m->block[i].cross.kv, t, memory);
        out->kept[2 * i] = kv ? heed_slice(t, kv, 2, k.from, k.count) : NULL;
        out->kept[2 * i + 1] = kv ? heed_slice(t, kv, 2, v.from, v.count) : NULL;
    }
    out->count = memory ? memory->shape[1] : 0;
    return out->kept[2 * m->layers - 1] != NULL;
}

size_t heed__block_decoder_state(const block_decoder *m) {
    size_t k, v;
    heed__model_cache(&m->block[0].attn, m->len, &k, &v);
    return (size_t)m->layers * (k + v);
}

/* The state: keys and values of the tokens so far, layer by layer. */
heed_tensor *heed__block_decoder_next(const block_decoder *m, heed_tape *t,
                                      const heed_source *source, heed_real *state, int at,
                                      heed_tensor *ids) {
    size_t k, v, size = heed__block_decoder_state(m);
    heed_cache caches[2 * MODEL_LAYERS];
    heed__model_cache(&m->block[0].attn, m->len, &k, &v);
    for (int i = 0; i < m->layers; i++, state += k + v) {
        heed_tensor *const *kept = &source->kept[2 * i];
        caches[2 * i] = (heed_cache){at, m->len, state, state + k, size};
        caches[2 * i + 1] = (heed_cache){source->count, source->count, kept[0]->x, kept[1]->x, 0};
    }
    heed_tensor *x = heed__block_decoder_apply(m, t, NULL, NULL, ids, at, caches);
    return heed_linear_apply(&m->head, t, x);
}
