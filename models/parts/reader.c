/* reader.c -- a text encoder: a stack of blocks, recurrent layers, or convolutions. */
#include "reader.h"

static void convolutions(conv_stack *k, heed_store *s, const heed_config *f) {
    int width = heed__model_int(f, "width");
    heed_conv_layer_args a = {.in = width, .out = width, .size = {0, heed__model_int(f, "kernel")}};
    k->layers = heed__model_int(f, "layers");
    k->act = heed__model_activation(f, "activation");
    k->causal = heed_config_bool(f, "causal");
    for (int i = 0; i < k->layers; i++) {
        heed_scope(s, "encoder.%d", i);
        heed_norm_args norm = heed__model_norm(f, width);
        norm.no_bias = false; /* the setting is for attention */
        heed_norm_init(&k->norm[i], s, "norm", norm);
        heed_conv_init(&k->conv[i], s, "conv", a);
        heed_drop_init(&k->drop[i], s, "drop", heed__model_real(f, "dropout"));
        heed_unscope(s);
    }
}

/* As the setting says; by default, that of pre-norm blocks. */
static bool has_final_norm(const heed_config *f) {
    if (heed__model_is(f, "final-norm", "auto")) return heed__model_is(f, "norm", "pre");
    return heed__model_is(f, "final-norm", "true");
}

static void encoder(text_model *m, heed_store *s, const heed_config *f) {
    bool conv = heed__model_is(f, "encoder", "conv");
    stack_kind kind = {.name = "encoder",
                       .causal = heed_config_bool(f, "causal"),
                       .recurrent = conv,
                       .final_norm = conv || has_final_norm(f)};
    m->width = heed__model_int(f, "width");
    if (conv) convolutions(&m->conv, s, f);
    if (!heed__model_is(f, "encoder", "rnn")) {
        heed__stack_read(&m->stack, f, kind);
        heed__stack_make(&m->stack, s, f, kind);
        return;
    }
    heed_rnn_args a = heed__model_cells(f, m->width);
    a.bidirectional = heed_config_bool(f, "bidirectional");
    heed_rnn_init(&m->rnn, s, "encoder", a);
    if (a.bidirectional) m->width *= 2;
}

bool heed__reader_init(text_model *m, heed_store *s, const heed_config *f, int neurons) {
    m->vocab = heed__model_int(f, "vocab");
    m->classes = heed__model_int(f, "classes");
    m->smoothing = heed__model_real(f, "smoothing");
    m->separator = heed__model_int(f, "token-types") > 1 ? heed__model_int(f, "segment-token") : -1;
    if (m->vocab < 1 || m->classes < 1)
        return heed_fail(
            heed_store_ctx(s), HEED_USAGE,
            "size of the model is wrong: expected vocab and classes of at least 1, found %d "
            "and %d; hint: `vocab`, `classes`",
            m->vocab, m->classes);
    bool attends = heed__model_is(f, "encoder", "attention");
    heed__embedding_init(&m->embed, s, f, attends ? "normal:0.02" : "normal:1",
                         attends ? heed__model_positions(f) : HEED_NO_POSITIONS);
    encoder(m, s, f);
    heed_linear_init(&m->head, s, "head", (heed_linear_args){.in = m->width, .out = neurons});
    heed_set_rows(s, "head.*", HEED_ROWS_CLASSES);
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
}

/* ---- forward ---- */

/* Each convolution sees padding as zeros, like positions beyond the ends of the text. */
static heed_tensor *convolved(const conv_stack *k, heed_tape *t, heed_tensor *x,
                              const heed_tensor *pad) {
    heed_tensor *there = NULL;
    if (pad && x) {
        there = heed_input(t, NULL, 3, (int[]){pad->shape[0], pad->shape[1], 1});
        for (size_t i = 0; there && i < pad->size; i++) there->x[i] = (heed_real)(pad->i[i] != 0);
    }
    for (int i = 0; i < k->layers; i++) {
        int around = k->conv[i].args.size[1] - 1, before = k->causal ? around : around / 2;
        heed_tensor *y = heed_norm_apply(&k->norm[i], t, x);
        if (there) y = heed_mul(t, y, there);
        y = heed_conv_apply(&k->conv[i], t, heed_pad(t, y, 1, before, around - before, 0));
        y = heed_drop_apply(&k->drop[i], t, heed_activate(t, y, k->act));
        x = heed_add(t, x, y);
    }
    return x;
}

static heed_tensor *recurrent(const text_model *m, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                              heed_tensor **ends) {
    heed_tensor *last[2 * HEED_RNN_LAYERS];
    x = heed_rnn_apply(&m->rnn, t, x, pad, NULL, last);
    if (x && ends) *ends = heed__model_last_state(&m->rnn, t, last);
    return x;
}

/* The last token of each text that is not padding. */
static heed_tensor *last_tokens(heed_tape *t, const heed_tensor *x, const heed_tensor *pad) {
    int len = x->shape[1];
    heed_tensor *rows = heed_new_ids(t, 1, &x->shape[0]);
    for (int r = 0; rows && r < x->shape[0]; r++) {
        int end = len - 1;
        while (pad && end > 0 && !pad->i[r * len + end]) end--;
        rows->i[r] = r * len + end;
    }
    return rows;
}

/* Types of tokens: 1 after the first separator. NULL: all 0. */
static heed_tensor *segments(const text_model *m, heed_tape *t, const heed_tensor *ids) {
    heed_tensor *types = m->separator < 0 ? NULL : heed_new_ids(t, 2, ids->shape);
    int len = ids->shape[1];
    for (int r = 0; types && r < ids->shape[0]; r++)
        for (int i = 0, type = 0; i < len; i++) {
            types->i[r * len + i] = type;
            type |= ids->i[r * len + i] == m->separator;
        }
    return types;
}

heed_tensor *heed__reader_apply(const text_model *m, heed_tape *t, const heed_model_input *in,
                                heed_tensor **ends) {
    if (!in->x) return NULL;
    heed_tensor *pad = in->pad, *types = in->types ? in->types : segments(m, t, in->x);
    heed_tensor *x = heed__embedding_apply(&m->embed, t, in->x, types, 0);
    if (m->rnn.args.layers) return recurrent(m, t, x, pad, ends);
    if (x && ends && m->last && !m->conv.layers && !heed__stack_all_rows(&m->stack, t)) {
        x = heed__stack_rows(&m->stack, t, x, last_tokens(t, x, pad), pad);
        return *ends = heed__stack_norm(&m->stack, t, x);
    }
    x = m->conv.layers ? convolved(&m->conv, t, x, pad)
                       : heed__stack_apply(&m->stack, t, x, pad, NULL);
    x = heed__stack_norm(&m->stack, t, x);
    if (x && ends)
        *ends = m->first ? heed_reshape(t, heed_slice(t, x, 1, 0, 1), 2, (int[]){-1, m->width})
                         : heed__tokens_pooled(t, x, pad, m->last);
    return x;
}

/* ---- members of heed_model ---- */

bool heed__reader_attending(const void *self, int index, heed_attending *out) {
    const text_model *m = self;
    bool attends = !m->rnn.args.layers && !m->conv.layers;
    return attends && heed__stack_attending(&m->stack, HEED_ENCODER, index, out);
}
