/* common.c -- the transformer body that the models share. */
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

heed_act model_activation(const heed_config *f) {
    static const struct {
        const char *name;
        heed_act act;
    } names[] = {{"gelu", HEED_GELU},
                 {"gelu-tanh", HEED_GELU_TANH},
                 {"relu", HEED_RELU},
                 {"silu", HEED_SILU},
                 {"tanh", HEED_TANH}};
    const char *text = heed_config_text(f, "activation");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text && strcmp(text, names[i].name) == 0) return names[i].act;
    return HEED_GELU;
}

static bool is(const heed_config *f, const char *key, const char *value) {
    const char *text = heed_config_text(f, key);
    return text && strcmp(text, value) == 0;
}

static int number(const heed_config *f, const char *key) { return (int)heed_config_int(f, key); }

const char *model_init_or_null(const char *init) { return init[0] ? init : NULL; }

static heed_position_kind position_kind(const heed_config *f) {
    if (is(f, "positions", "sinusoidal")) return HEED_SINUSOIDAL;
    return is(f, "positions", "none") ? HEED_NO_POSITIONS : HEED_LEARNED;
}

static heed_mha_args attention_args(const transformer *m, const heed_config *f, bool causal) {
    double beta = heed_config_real(f, "beta");
    return (heed_mha_args){.width = m->width,
                           .heads = number(f, "heads"),
                           .key = number(f, "key-width"),
                           .value = number(f, "value-width"),
                           .causal = causal,
                           .hard = heed_config_bool(f, "hard"),
                           .no_out = !heed_config_bool(f, "attn-out"),
                           .no_bias = !heed_config_bool(f, "bias"),
                           .explicit_path = is(f, "attention", "explicit"),
                           .has_beta = beta >= 0,
                           .beta = (heed_real)beta,
                           .dropout = (heed_real)heed_config_real(f, "dropout"),
                           .init = model_init_or_null(m->init),
                           .out_init = model_init_or_null(m->out_init)};
}

static heed_block_args block_args(const transformer *m, const heed_config *f, bool causal) {
    int ff = number(f, "ff");
    bool bias = heed_config_bool(f, "bias");
    return (heed_block_args){.attn = attention_args(m, f, causal),
                             .mlp = {.width = m->width,
                                     .inner = ff ? ff : 4 * m->width,
                                     .act = model_activation(f),
                                     .no_bias = !bias,
                                     .init = model_init_or_null(m->init),
                                     .out_init = model_init_or_null(m->out_init)},
                             .pre_norm = is(f, "norm", "pre"),
                             .norm_no_bias = !bias,
                             .eps = (heed_real)heed_config_real(f, "norm-eps"),
                             .dropout = (heed_real)heed_config_real(f, "dropout")};
}

static void embeddings(transformer *m, heed_store *s, const heed_config *f) {
    int types = number(f, "token-types");
    const char *init = m->init[0] ? m->init : "normal:0.02";
    heed_scope(s, "embed");
    m->token = heed_param(s, "token.weight", init, 2, (int[]){m->vocab, m->width});
    heed_position_init(&m->position, s, "position", position_kind(f), m->len, m->width);
    if (types) m->type = heed_param(s, "type.weight", init, 2, (int[]){types, m->width});
    if (heed_config_bool(f, "embed-norm"))
        heed_norm_init(&m->embed_norm, s, "norm", m->width,
                       (heed_real)heed_config_real(f, "norm-eps"), heed_config_bool(f, "bias"));
    heed_drop_init(&m->drop, s, "drop", (heed_real)heed_config_real(f, "dropout"));
    heed_unscope(s);
}

/* Radford et al. 2019, sec. 2.3: projections onto the residual stream are scaled by its number of
 * additions. */
static void choose_inits(transformer *m, double std, bool scale) {
    if (std <= 0) return;
    snprintf(m->init, sizeof m->init, "normal:%.9g", std);
    snprintf(m->out_init, sizeof m->out_init, "normal:%.9g",
             scale ? std / sqrt(2 * m->layers) : std);
}

bool transformer_init(transformer *m, heed_store *s, const heed_config *f, transformer_kind kind) {
    heed_ctx *c = heed_store_ctx(s);
    m->layers = number(f, "layers");
    m->width = number(f, "width");
    m->vocab = number(f, "vocab");
    m->len = number(f, "block");
    if (m->vocab < 1 || m->layers < 1 || m->layers > MODEL_LAYERS)
        return heed_fail(
            c, HEED_USAGE,
            "model has no size: expected vocab of at least 1 and 1 to %d layers, found "
            "vocab %d, layers %d; hint: --vocab, --layers",
            MODEL_LAYERS, m->vocab, m->layers);
    choose_inits(m, heed_config_real(f, "init-std"), kind.scale_residual);
    embeddings(m, s, f);
    heed_block_args args = block_args(m, f, kind.causal);
    for (int i = 0; i < m->layers; i++) {
        char name[48];
        snprintf(name, sizeof name, "%s.%d", kind.stack, i);
        heed_block_init(&m->block[i], s, name, args);
    }
    if (heed_config_bool(f, "final-norm"))
        heed_norm_init(&m->final_norm, s, "norm", m->width, args.eps, !args.norm_no_bias);
    return heed_state(c) == HEED_OK;
}

heed_tensor *transformer_embed(const transformer *m, heed_tape *t, heed_tensor *ids,
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

heed_tensor *transformer_blocks(const transformer *m, heed_tape *t, heed_tensor *x,
                                heed_tensor *pad, heed_cache *caches) {
    for (int i = 0; i < m->layers; i++)
        x = heed_block_apply(&m->block[i], t, x, pad, caches ? &caches[i] : NULL);
    return x;
}

heed_tensor *transformer_final(const transformer *m, heed_tape *t, heed_tensor *x) {
    return m->final_norm.gain ? heed_norm_apply(&m->final_norm, t, x) : x;
}

void output_head_init(output_head *l, heed_store *s, const transformer *m, const heed_config *f) {
    const char *init = m->init[0] ? m->init : "kaiming";
    l->name = heed_scope(s, "head");
    l->w = m->token;
    if (!heed_config_bool(f, "tie"))
        l->w = heed_param(s, "weight", init, 2, (int[]){m->vocab, m->width});
    l->b = heed_config_bool(f, "head-bias") ? heed_param(s, "bias", "zero", 1, &m->vocab) : NULL;
    heed_unscope(s);
}

heed_tensor *output_head_apply(const output_head *l, heed_tape *t, heed_tensor *x) {
    return heed_affine(heed_at(t, l->name), x, l->w, l->b);
}

/* How many entries stand before the label's in the order of probability; ties and NaN count. */
static int rank_of(const heed_real *row, int classes, int32_t label) {
    int rank = 0;
    for (int j = 0; j < classes; j++)
        if (j != label && !(row[j] < row[label] || (row[j] == row[label] && j > label))) rank++;
    return rank;
}

void model_score(const heed_tensor *logits, const heed_tensor *loss, const int32_t *labels,
                 heed_score *score) {
    if (!logits || !loss) return;
    int classes = logits->shape[logits->dims - 1];
    size_t rows = logits->size / (size_t)classes, counted = 0;
    for (size_t r = 0; r < rows; r++) {
        if (labels[r] < 0 || labels[r] >= classes) continue;
        int rank = rank_of(logits->x + r * (size_t)classes, classes, labels[r]);
        score->right += rank < 1;
        score->right5 += rank < 5;
        counted++;
    }
    score->judged += (double)counted;
    score->weight += (double)counted;
    score->loss += (double)loss->x[0] * (double)counted;
}

uint64_t text_evals(void *self, void *data, int rows) {
    (void)self;
    return heed_corpus_evals(data, rows);
}

uint64_t text_epoch(void *self, void *data, int rows) {
    (void)self;
    return heed_corpus_epoch(data, rows);
}
