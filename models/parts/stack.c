/* stack.c -- the stack of transformer blocks. Vaswani et al. 2017, sec. 3.1. */
#include "parts.h"

#include <math.h>
#include <stdio.h>

const char *heed__stack_init_or(const block_stack *m, const char *otherwise) {
    return m->init[0] ? m->init : otherwise;
}

#define NORM_KIND(kind, setting, ...) setting

const heed_option heed__stack_options[] = {
    HEED_ROW(stack_settings, layers, "layers", "4", .min = 1, .max = MODEL_LAYERS,
             .help = "blocks"),
    HEED_ROW(stack_settings, block.attn.heads, "heads", "4", .min = 1, .max = 4096,
             .help = "attention heads per block"),
    HEED_ROW(stack_settings, width, "width", "128", .min = 1, .max = 1 << 20,
             .help = "width of the residual stream"),
    HEED_ROW(stack_settings, block.attn.kv_heads, "kv-heads", "0", .max = 4096,
             .help = "heads of keys and values, shared by the attention heads; 0: as many as "
                     "heads"),
    HEED_ROW(stack_settings, block.mlp.inner, "ff", "0", .max = 1 << 24,
             .help = "width inside the feed-forward network; 0: 4 times width, or for swiglu 8/3 "
                     "times width, rounded up to a multiple of 8"),
    HEED_ROW(stack_settings, ff_kind, "ff-kind", "plain", .choices = "plain|swiglu",
             .help = "feed-forward network: down(activation(up(x))), or down(silu(gate(x)) up(x))"),
    HEED_ROW(stack_settings, block.attn.key, "key-width", "0", .max = 1 << 20,
             .help = "of queries and keys per head; 0: width / heads"),
    HEED_ROW(stack_settings, block.attn.value, "value-width", "0", .max = 1 << 20,
             .help = "of values per head; 0: width / heads"),
    HEED_ROW(stack_settings, norm, "norm", "pre", .choices = "pre|post",
             .help = "norm before or after each sublayer"),
    HEED_ROW(stack_settings, norm_kind, "norm-kind", "layer",
             .choices = &(HEED_NORMS(NORM_KIND))[1],
             .help = "layer norm, or RMS norm (no mean, no bias)"),
    HEED_ROW(stack_settings, block.eps, "norm-eps", "1e-5", .max = 1,
             .help = "added to the variance in norms"),
    HEED_ROW(stack_settings, activation, "activation", "gelu", .choices = ACTIVATIONS,
             .help = "of the plain feed-forward network"),
    HEED_ROW(stack_settings, rope_theta, "rope-theta", "10000", .min = 1e-3, .max = 1e12,
             .help = "base of the angles of rotary positions, theta^(-2i / key width)"),
    HEED_ROW(stack_settings, block.dropout, "dropout", "0", .max = 0.99,
             .help = "of embeddings, attention weights and sublayers"),
    HEED_ROW(stack_settings, beta, "beta", "-1", .min = -1, .max = 1e6,
             .help = "inverse temperature of attention; -1: 1/sqrt(key width)"),
    HEED_ROW(stack_settings, block.attn.hard, "hard", "false",
             .help = "attend only to the largest score"),
    HEED_ROW(stack_settings, attention, "attention", "fused", .choices = "fused|explicit",
             .help = "one op, or its plain composition"),
    HEED_ROW(stack_settings, attn_out, "attn-out", "true",
             .help = "project the heads' values back (W_h)"),
    HEED_ROW(stack_settings, bias, "bias", "true", .help = "biases in projections and norms"),
    HEED_ROW(stack_settings, init_std, "init-std", "0.02", .max = 10,
             .help = "deviation of initial weights; 0: uniform by fan-in"),
    HEED_SHARED(stack_settings, recompute, "recompute"),
    HEED_SHARED(stack_settings, all_rows, "all-rows"),
    HEED_WHEN("rope-theta", "positions=rotary"),
    {0}};

/* Radford et al. 2019, sec. 2.3: projections onto the residual stream are scaled by its depth. */
void heed__stack_read(block_stack *m, const stack_settings *set) {
    double std = set->init_std, out = set->residual_std > 0 ? set->residual_std : std;
    m->layers = set->layers;
    m->width = set->width;
    m->beta = set->beta;
    m->recompute = set->recompute;
    m->all_rows = set->all_rows;
    if (std <= 0) return;
    snprintf(m->init, sizeof m->init, "normal:%.9g", std);
    snprintf(m->out_init, sizeof m->out_init, "normal:%.9g",
             set->scale_residual ? out / sqrt(2 * m->layers) : out);
}

heed_norm_args heed__stack_norm_args(const stack_settings *set, int width) {
    return heed__norm_args(set->norm_kind, width, set->block.eps, set->bias);
}

heed_block_args heed__stack_block_args(const block_stack *m, const stack_settings *set,
                                       bool causal) {
    heed_block_args a = set->block;
    bool gated = is(set->ff_kind, "swiglu");
    /* 4 d, and with a gate 8/3 d, which gives three matrices about as many weights as two; rounded
     * up to a multiple of 8. Shazeer 2020, sec. 3.1. */
    int usual = gated ? (m->width + 2) / 3 * 8 : 4 * m->width;
    a.attn.width = a.mlp.width = m->width;
    a.attn.causal = causal;
    a.attn.no_out = !set->attn_out;
    a.attn.no_bias = a.mlp.no_bias = a.norm_no_bias = !set->bias;
    a.attn.explicit_path = is(set->attention, "explicit");
    a.attn.has_beta = set->beta >= 0;
    a.attn.beta = (heed_real)set->beta;
    a.attn.rotary = is(set->positions, "rotary") ? set->rope_theta : 0;
    a.attn.dropout = a.dropout;
    a.attn.init = a.mlp.init = heed__stack_init_or(m, NULL);
    a.attn.out_init = a.mlp.out_init = m->out_init[0] ? m->out_init : NULL;
    if (!a.mlp.inner) a.mlp.inner = usual;
    a.mlp.gated = gated;
    a.mlp.act = gated ? HEED_SILU : heed__activation(set->activation);
    a.pre_norm = is(set->norm, "pre");
    a.norm = heed__stack_norm_args(set, m->width).kind;
    return a;
}

void heed__stack_make(block_stack *m, heed_params *s, const stack_settings *set, const char *name,
                      bool causal) {
    heed_block_args args = heed__stack_block_args(m, set, causal);
    if (m->beta < 0 && m->beta != -1)
        heed_fail(heed_params_ctx(s), HEED_USAGE,
                  "beta is out of range: expected at least 0, or -1 for 1/sqrt(key width), found "
                  "%g; hint: `beta = 1`",
                  m->beta);
    for (int i = 0; i < m->layers; i++) {
        char path[48];
        snprintf(path, sizeof path, "%s.%d", name, i);
        heed_block_init(&m->block[i], s, path, args);
    }
    if (set->final_norm)
        heed_norm_init(&m->final_norm, s, "norm", heed__stack_norm_args(set, m->width));
}

static heed_tensor *block(const void *self, heed_tape *t, heed_tensor *const in[HEED_RECOMPUTE]) {
    return heed_block_apply(self, t, in[0], &(heed_block_inputs){.pad = in[1]});
}

/* The first `count` blocks. */
static heed_tensor *blocks(const block_stack *m, int count, heed_tape *t, heed_tensor *x,
                           heed_tensor *pad) {
    bool again = m->recompute && heed_tape_mode(t) != HEED_TRACE && !heed_probe_active(t);
    for (int i = 0; i < count; i++)
        x = again ? heed_recompute(t, block, &m->block[i], (heed_tensor *[HEED_RECOMPUTE]){x, pad})
                  : heed_block_apply(&m->block[i], t, x, &(heed_block_inputs){.pad = pad});
    return x;
}

heed_tensor *heed__stack_apply(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                               heed_cache *caches) {
    if (!caches) return blocks(m, m->layers, t, x, pad);
    for (int i = 0; i < m->layers; i++)
        x = heed_block_apply(&m->block[i], t, x,
                             &(heed_block_inputs){.pad = pad, .caches = &caches[i]});
    return x;
}

bool heed__stack_all_rows(const block_stack *m, const heed_tape *t) {
    return m->all_rows || heed_probe_active(t) || heed_tape_mode(t) == HEED_TRACE;
}

heed_tensor *heed__stack_rows(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *rows,
                              heed_tensor *pad) {
    int last = m->layers - 1;
    if (heed__stack_all_rows(m, t))
        return heed_gather(t, heed__stack_apply(m, t, x, pad, NULL), rows);
    x = blocks(m, last, t, x, pad);
    return heed_block_apply(&m->block[last], t, x, &(heed_block_inputs){.rows = rows, .pad = pad});
}

bool heed__stack_attending(const block_stack *m, heed_stack stack, int index,
                           heed_attention_info *out) {
    if (index < 0 || index >= m->layers) return false;
    heed__model_attending(&m->block[index].attn, stack, index, m->beta, out);
    return true;
}

heed_tensor *heed__stack_norm(const block_stack *m, heed_tape *t, heed_tensor *x) {
    return m->final_norm.gain ? heed_norm_apply(&m->final_norm, t, x) : x;
}
