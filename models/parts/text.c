/* text.c -- the embedding of tokens, and the transformer on tokens shared by the language models.
 */
#include "parts.h"

const heed_option heed__text_options[] = {
    HEED_ROWS(text_settings, tokens, heed__token_options, ""),
    HEED_ROW(text_settings, stack.positions, "positions", "learned",
             .choices = "learned|sinusoidal|none|rotary", .help = "encoding of positions"),
    HEED_ROW(text_settings, token_types, "token-types", "0", .max = 1 << 16,
             .help = "segment embeddings; 0: none"),
    {0}};

void heed__embedding_init(token_embedding *e, heed_params *s, const text_settings *set,
                          const char *init, heed_position_kind positions) {
    int types = set->token_types, width = set->stack.width;
    heed_scope_push(s, "embed");
    e->token = heed_param_new(s, "token.weight", init, 2, (int[]){set->tokens.vocab, width});
    heed_position_init(&e->position, s, "position", positions, set->tokens.block, width);
    if (types) e->type = heed_param_new(s, "type.weight", init, 2, (int[]){types, width});
    if (set->embed_norm)
        heed_norm_init(&e->norm, s, "norm", heed__stack_norm_args(&set->stack, width));
    heed_dropout_layer_init(&e->drop, s, "drop", set->stack.block.dropout);
    heed_scope_pop(s);
    heed_set_rows(s, "embed.token.weight", HEED_ROWS_TOKENS);
}

heed_tensor *heed__embedding_apply(const token_embedding *e, heed_tape *t, heed_tensor *ids,
                                   heed_tensor *types, int from) {
    heed_tensor *x = heed_embed(heed_name_scope(t, "embed.token"), e->token, ids);
    if (e->type && types)
        x = heed_add(t, x, heed_embed(heed_name_scope(t, "embed.type"), e->type, types));
    else if (e->type)
        x = heed_add(t, x, heed_slice(t, e->type, 0, 0, 1));
    x = heed_position_apply(&e->position, t, x, from);
    if (e->norm.gain) x = heed_norm_apply(&e->norm, t, x);
    return heed_dropout_layer_apply(&e->drop, t, x);
}

heed_tensor *heed__tokens_pooled(heed_tape *t, heed_tensor *x, const heed_tensor *pad, bool last) {
    if (!x) return NULL;
    int rows = x->shape[0], len = x->shape[1];
    heed_tensor *share = heed_input(t, NULL, 3, (int[]){rows, 1, len});
    for (int r = 0; share && r < rows; r++) {
        heed_real *to = share->x + r * len;
        int count = 0, end = 0;
        for (int i = 0; i < len; i++)
            if (!pad || pad->i[r * len + i]) count++, end = i;
        for (int i = last ? end : 0; i <= end; i++)
            if (!pad || pad->i[r * len + i]) to[i] = last ? 1 : 1 / (heed_real)count;
    }
    return heed_reshape(t, heed_matmul(t, share, x), 2, (int[]){rows, x->shape[2]});
}

bool heed__transformer_init(transformer *m, heed_params *s, const text_settings *set,
                            const char *name, bool causal) {
    heed_ctx *c = heed_params_ctx(s);
    heed__stack_read(&m->stack, &set->stack);
    m->vocab = set->tokens.vocab;
    m->len = set->tokens.block;
    if (m->vocab < 1)
        return heed_fail(
            c, HEED_USAGE,
            "size of the model is wrong: expected vocab of at least 1, found %d; hint: `vocab`",
            m->vocab);
    heed__embedding_init(&m->embed, s, set, heed__stack_init_or(&m->stack, "normal:0.02"),
                         name ? heed__positions(set->stack.positions) : HEED_NO_POSITIONS);
    if (name)
        heed__stack_make(&m->stack, s, &set->stack, name, causal);
    else if (set->stack.final_norm)
        heed_norm_init(&m->stack.final_norm, s, "norm",
                       heed__stack_norm_args(&set->stack, m->stack.width));
    return heed_ctx_status(c) == HEED_OK;
}
