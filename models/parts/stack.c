/* stack.c -- the stack of transformer blocks. Vaswani et al. 2017, sec. 3.1. */
#include "stack.h"

#include <math.h>
#include <stdio.h>

const char *heed__stack_init_or(const block_stack *m, const char *otherwise) {
    return m->init[0] ? m->init : otherwise;
}

/* Radford et al. 2019, sec. 2.3: projections onto the residual stream are scaled by its depth. */
void heed__stack_read(block_stack *m, const heed_config *f, stack_kind kind) {
    double std = heed_config_real(f, "init-std");
    double out = kind.residual_std > 0 ? kind.residual_std : std;
    m->layers = heed__model_int(f, "layers");
    m->width = heed__model_int(f, "width");
    m->beta = heed_config_real(f, "beta");
    m->recompute = heed__model_on(f, "recompute");
    m->all_rows = heed__model_on(f, "all-rows");
    if (std <= 0) return;
    snprintf(m->init, sizeof m->init, "normal:%.9g", std);
    snprintf(m->out_init, sizeof m->out_init, "normal:%.9g",
             kind.scale_residual ? out / sqrt(2 * m->layers) : out);
}

/* theta of rotary positions; 0: the model has other positions. */
static heed_real rotary(const heed_config *f) {
    bool on = heed_config_has(f, "positions") && heed__model_is(f, "positions", "rotary");
    return on ? heed__model_real(f, "rope-theta") : 0;
}

static heed_mha_args attention_args(const block_stack *m, const heed_config *f, bool causal) {
    double beta = heed_config_real(f, "beta");
    return (heed_mha_args){.width = m->width,
                           .heads = heed__model_int(f, "heads"),
                           .key = heed__model_int(f, "key-width"),
                           .value = heed__model_int(f, "value-width"),
                           .causal = causal,
                           .hard = heed_config_bool(f, "hard"),
                           .no_out = !heed_config_bool(f, "attn-out"),
                           .no_bias = !heed_config_bool(f, "bias"),
                           .explicit_path = heed__model_is(f, "attention", "explicit"),
                           .has_beta = beta >= 0,
                           .beta = (heed_real)beta,
                           .kv_heads = heed__model_int(f, "kv-heads"),
                           .rotary = rotary(f),
                           .dropout = heed__model_real(f, "dropout"),
                           .init = heed__stack_init_or(m, NULL),
                           .out_init = m->out_init[0] ? m->out_init : NULL};
}

/* The usual widths: 4 d, and with a gate 8/3 d, which gives three matrices about as many weights as
 * two; rounded up to a multiple of 8. Shazeer 2020, sec. 3.1. */
static heed_ff_args feed_forward(const heed_config *f, int width) {
    bool gated = heed__model_is(f, "ff-kind", "swiglu");
    int inner = heed__model_int(f, "ff"), usual = gated ? (width + 2) / 3 * 8 : 4 * width;
    return (heed_ff_args){.width = width,
                          .inner = inner ? inner : usual,
                          .gated = gated,
                          .act = gated ? HEED_SILU : heed__model_activation(f, "activation"),
                          .no_bias = !heed_config_bool(f, "bias")};
}

heed_block_args heed__stack_block_args(const block_stack *m, const heed_config *f, bool causal) {
    heed_ff_args mlp = feed_forward(f, m->width);
    heed_mha_args attn = attention_args(m, f, causal);
    heed_norm_args norm = heed__model_norm(f, m->width);
    mlp.init = attn.init;
    mlp.out_init = attn.out_init;
    return (heed_block_args){.attn = attn,
                             .mlp = mlp,
                             .pre_norm = heed__model_is(f, "norm", "pre"),
                             .norm_no_bias = norm.no_bias,
                             .norm = norm.kind,
                             .eps = norm.eps,
                             .dropout = heed__model_real(f, "dropout")};
}

void heed__stack_make(block_stack *m, heed_store *s, const heed_config *f, stack_kind kind) {
    if (m->beta < 0 && m->beta != -1)
        heed_fail(heed_store_ctx(s), HEED_USAGE,
                  "beta is out of range: expected at least 0, or -1 for 1/sqrt(key width), found "
                  "%g; hint: `beta = 1`",
                  m->beta);
    heed_block_args args = heed__stack_block_args(m, f, kind.causal);
    for (int i = 0; i < m->layers && !kind.recurrent; i++) {
        char name[48];
        snprintf(name, sizeof name, "%s.%d", kind.name, i);
        heed_block_init(&m->block[i], s, name, args);
    }
    if (kind.final_norm) heed_norm_init(&m->final_norm, s, "norm", heed__model_norm(f, m->width));
}

static heed_tensor *block(const void *self, heed_tape *t, heed_tensor *const in[HEED_RECOMPUTE]) {
    return heed_block_apply(self, t, in[0], in[1], NULL);
}

/* The first `count` blocks. */
static heed_tensor *blocks(const block_stack *m, int count, heed_tape *t, heed_tensor *x,
                           heed_tensor *pad) {
    bool again = m->recompute && heed_tape_mode(t) != HEED_TRACE && !heed_is_probing(t);
    for (int i = 0; i < count; i++)
        x = again ? heed_recompute(t, block, &m->block[i], (heed_tensor *[HEED_RECOMPUTE]){x, pad})
                  : heed_block_apply(&m->block[i], t, x, pad, NULL);
    return x;
}

heed_tensor *heed__stack_apply(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                               heed_cache *caches) {
    if (!caches) return blocks(m, m->layers, t, x, pad);
    for (int i = 0; i < m->layers; i++) x = heed_block_apply(&m->block[i], t, x, pad, &caches[i]);
    return x;
}

bool heed__stack_all_rows(const block_stack *m, const heed_tape *t) {
    return m->all_rows || heed_is_probing(t) || heed_tape_mode(t) == HEED_TRACE;
}

heed_tensor *heed__stack_rows(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *rows,
                              heed_tensor *pad) {
    int last = m->layers - 1;
    if (heed__stack_all_rows(m, t))
        return heed_gather(t, heed__stack_apply(m, t, x, pad, NULL), rows);
    x = blocks(m, last, t, x, pad);
    return heed_block_rows_apply(&m->block[last], t, x, rows, pad);
}

bool heed__stack_attending(const block_stack *m, heed_stack stack, int index, heed_attending *out) {
    if (index < 0 || index >= m->layers) return false;
    heed__model_attending(&m->block[index].attn, stack, index, m->beta, out);
    return true;
}

heed_tensor *heed__stack_norm(const block_stack *m, heed_tape *t, heed_tensor *x) {
    return m->final_norm.gain ? heed_norm_apply(&m->final_norm, t, x) : x;
}
