/* nn/block.c -- feed-forward network and encoder block. Vaswani et al. 2017, sec. 3.1 and 3.3;
 * pre-norm: Radford et al. 2019, sec. 2.3. */
#include "nn/block.h"

void heed_ff_init(heed_ff *l, heed_store *s, const char *name, heed_ff_args a) {
    heed_linear_args up = {a.width, a.inner, a.no_bias, a.init};
    heed_linear_args down = {a.inner, a.width, a.no_bias, a.out_init};
    heed_scope(s, "%s", name);
    heed_linear_init(&l->up, s, "up", up);
    heed_linear_init(&l->down, s, "down", down);
    heed_unscope(s);
    l->act = a.act;
}

heed_tensor *heed_ff_apply(const heed_ff *l, heed_tape *t, heed_tensor *x) {
    return heed_linear_apply(&l->down, t, heed_linear_act(&l->up, t, x, l->act));
}

void heed__check_sum(heed_store *s, const heed_mha *l) {
    const heed_mha_args *a = &l->args;
    if (a->no_out && a->heads * a->value != a->width)
        heed_fail(heed_store_ctx(s), HEED_USAGE,
                  "attention without output projection does not fit: %s: expected heads x value "
                  "width = width %d, found %d x %d; hint: another --value-width",
                  l->name, a->width, a->heads, a->value);
}

void heed_block_init(heed_block *l, heed_store *s, const char *name, heed_block_args a) {
    int width = a.attn.width;
    l->args = a;
    heed_scope(s, "%s", name);
    heed_mha_init(&l->attn, s, "attn", a.attn);
    heed__check_sum(s, &l->attn);
    heed_drop_init(&l->drop1, s, "drop1", a.dropout);
    heed_norm_init(&l->norm1, s, "norm1", width, a.eps, !a.norm_no_bias);
    heed_ff_init(&l->mlp, s, "mlp", a.mlp);
    heed_drop_init(&l->drop2, s, "drop2", a.dropout);
    heed_norm_init(&l->norm2, s, "norm2", width, a.eps, !a.norm_no_bias);
    heed_unscope(s);
}

heed_tensor *heed_block_apply(const heed_block *l, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                              heed_cache *cache) {
    if (l->args.pre_norm) {
        heed_tensor *h = heed_norm_apply(&l->norm1, t, x);
        x = heed_residual(t, x, heed_mha_apply(&l->attn, t, h, NULL, pad, cache), &l->drop1, NULL);
        h = heed_norm_apply(&l->norm2, t, x);
        return heed_residual(t, x, heed_ff_apply(&l->mlp, t, h), &l->drop2, NULL);
    }
    heed_tensor *fx = heed_mha_apply(&l->attn, t, x, NULL, pad, cache);
    x = heed_residual(t, x, fx, &l->drop1, &l->norm1);
    return heed_residual(t, x, heed_ff_apply(&l->mlp, t, x), &l->drop2, &l->norm2);
}
