/* text.c -- the transformer on tokens shared by the language models. */
#include "text.h"

static void embeddings(transformer *m, heed_store *s, const heed_config *f, stack_kind kind) {
    int types = heed__model_int(f, "token-types"), width = m->stack.width;
    const char *init = heed__stack_init_or(&m->stack, "normal:0.02");
    heed_scope(s, "embed");
    m->token = heed_param(s, "token.weight", init, 2, (int[]){m->vocab, width});
    heed_position_init(&m->position, s, "position",
                       kind.recurrent ? HEED_NO_POSITIONS : heed__model_positions(f), m->len,
                       width);
    if (types) m->type = heed_param(s, "type.weight", init, 2, (int[]){types, width});
    if (heed_config_bool(f, "embed-norm"))
        heed_norm_init(&m->embed_norm, s, "norm", heed__model_norm(f, width));
    heed_drop_init(&m->drop, s, "drop", heed__model_real(f, "dropout"));
    heed_unscope(s);
}

bool heed__transformer_init(transformer *m, heed_store *s, const heed_config *f, stack_kind kind) {
    heed_ctx *c = heed_store_ctx(s);
    heed__stack_read(&m->stack, f, kind);
    m->vocab = heed__model_int(f, "vocab");
    m->len = heed__model_int(f, "block");
    if (m->vocab < 1 || m->stack.layers < 1 || m->stack.layers > MODEL_LAYERS)
        return heed_fail(c, HEED_USAGE,
                         "model has no size: expected vocab of at least 1 and 1 to %d layers, "
                         "found vocab %d, layers %d; hint: `vocab`, `layers`",
                         MODEL_LAYERS, m->vocab, m->stack.layers);
    embeddings(m, s, f, kind);
    heed__stack_make(&m->stack, s, f, kind);
    return heed_ctx_status(c) == HEED_OK;
}

heed_tensor *heed__transformer_embed(const transformer *m, heed_tape *t, heed_tensor *ids,
                                     heed_tensor *types, int from) {
    heed_tensor *x = heed_embed(heed_at(t, "embed.token"), m->token, ids);
    if (m->type && types)
        x = heed_add(t, x, heed_embed(heed_at(t, "embed.type"), m->type, types));
    else if (m->type)
        x = heed_add(t, x, heed_slice(t, m->type, 0, 0, 1));
    x = heed_position_apply(&m->position, t, x, from);
    if (m->embed_norm.gain) x = heed_norm_apply(&m->embed_norm, t, x);
    return heed_drop_apply(&m->drop, t, x);
}
