/* nn/decoder.c -- the transformer's decoder block. Vaswani et al. 2017, sec. 3.1 and fig. 1. */
#include "nn/block.h"

void heed_decoder_block_init(heed_decoder_block *l, heed_store *s, const char *name,
                             heed_decoder_block_args a) {
    int width = a.attn.width;
    a.attn.causal = true;
    a.cross.cross = true;
    l->args = a;
    heed_scope(s, "%s", name);
    heed_mha_init(&l->attn, s, "attn", a.attn);
    heed__check_sum(s, &l->attn);
    heed_drop_init(&l->drop1, s, "drop1", a.dropout);
    heed_norm_init(&l->norm1, s, "norm1", width, a.eps, !a.norm_no_bias);
    heed_mha_init(&l->cross, s, "cross", a.cross);
    heed__check_sum(s, &l->cross);
    heed_drop_init(&l->drop2, s, "drop2", a.dropout);
    heed_norm_init(&l->norm2, s, "norm2", width, a.eps, !a.norm_no_bias);
    heed_ff_init(&l->mlp, s, "mlp", a.mlp);
    heed_drop_init(&l->drop3, s, "drop3", a.dropout);
    heed_norm_init(&l->norm3, s, "norm3", width, a.eps, !a.norm_no_bias);
    heed_unscope(s);
}

/* What a sublayer sees: norm(x) when the norm comes before it. */
static heed_tensor *before(const heed_decoder_block *l, heed_tape *t, heed_tensor *x,
                           const heed_norm *norm) {
    return l->args.pre_norm ? heed_norm_apply(norm, t, x) : x;
}

static heed_tensor *after(const heed_decoder_block *l, heed_tape *t, heed_tensor *x,
                          heed_tensor *fx, const heed_drop *drop, const heed_norm *norm) {
    return heed_residual(t, x, fx, drop, l->args.pre_norm ? NULL : norm);
}

heed_tensor *heed_decoder_block_apply(const heed_decoder_block *l, heed_tape *t, heed_tensor *x,
                                      heed_tensor *pad, heed_tensor *memory,
                                      heed_tensor *memory_pad, heed_cache *caches) {
    heed_tensor *h = before(l, t, x, &l->norm1);
    h = heed_mha_apply(&l->attn, t, h, NULL, pad, caches);
    x = after(l, t, x, h, &l->drop1, &l->norm1);
    h = before(l, t, x, &l->norm2);
    h = heed_mha_apply(&l->cross, t, h, memory, memory_pad, caches ? caches + 1 : NULL);
    x = after(l, t, x, h, &l->drop2, &l->norm2);
    h = heed_ff_apply(&l->mlp, t, before(l, t, x, &l->norm3));
    return after(l, t, x, h, &l->drop3, &l->norm3);
}
