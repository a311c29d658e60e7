/* reader.c -- a text encoder: a stack of blocks, recurrent layers, or convolutions. */
#include "parts.h"

const heed_option heed__reader_options[] = {
    HEED_ROW(reader_settings, encoder, "encoder", "attention", .choices = "rnn|attention|conv",
             .help = "encoder of the text"),
    HEED_ROWS(reader_settings, text.stack, heed__stack_options, "layers=2 width=64"),
    HEED_ROWS(reader_settings, cells, heed__cell_options, ""),
    HEED_ROW(reader_settings, bidirectional, "bidirectional", "true",
             .help = "bidirectional recurrent layers"),
    HEED_ROW(reader_settings, kernel, "kernel", "3", .min = 1, .max = 1024,
             .help = "kernel size of the convolutions, in tokens"),
    HEED_ROW(reader_settings, causal, "causal", "false",
             .help = "attention and convolution: no token sees later ones"),
    HEED_ROW(reader_settings, text.tokens.block, "block", "64", .min = 2, .max = 1 << 20,
             .help = "tokens in a text, at most"),
    HEED_ROWS(reader_settings, text, heed__text_options, ""),
    HEED_ROW(reader_settings, segment_token, "segment-token", "-1", .min = -1, .max = 1 << 24,
             .help = "tokens after the first of this id are of the second segment; -1: of the "
                     "first"),
    HEED_ROW(reader_settings, text.embed_norm, "embed-norm", "false",
             .help = "layer norm of the embeddings"),
    HEED_ROW(reader_settings, bracket, "bracket", "false", .help = "texts begin with [CLS]"),
    HEED_ROW(reader_settings, final_norm, "final-norm", "auto", .choices = "auto|true|false",
             .help = "layer norm after the last block; auto: with norm pre"),
    HEED_ROW(reader_settings, classes, "classes", "0", .max = 1 << 24,
             .help = "number of labels; 0: from the data"),
    HEED_ROW(reader_settings, smoothing, "smoothing", "0", .max = 0.99,
             .help = "share of the target spread over all classes, in training"),
    HEED_WHEN(STACK_SETTINGS " positions init-std final-norm recompute", "encoder=attention"),
    HEED_WHEN("norm-kind norm-eps activation bias causal", "encoder=attention|conv"),
    HEED_WHEN("activation", "encoder=conv ff-kind=plain"),
    HEED_WHEN("segment-token", "token-types!=0|1"),
    HEED_WHEN("kernel", "encoder=conv"),
    HEED_WHEN("cell one-bias cell-activation bidirectional", "encoder=rnn"),
    {0}};

static void convolutions(conv_stack *k, heed_params *s, const reader_settings *set) {
    const stack_settings *stack = &set->text.stack;
    int width = stack->width;
    heed_conv_layer_args a = {.in = width, .out = width, .size = {0, set->kernel}};
    k->layers = stack->layers;
    k->act = heed__activation(stack->activation);
    k->causal = set->causal;
    for (int i = 0; i < k->layers; i++) {
        heed_scope_push(s, "encoder.%d", i);
        heed_norm_args norm = heed__stack_norm_args(stack, width);
        norm.no_bias = false; /* the setting is for attention */
        heed_norm_init(&k->norm[i], s, "norm", norm);
        heed_conv_init(&k->conv[i], s, "conv", a);
        heed_dropout_layer_init(&k->drop[i], s, "drop", stack->block.dropout);
        heed_scope_pop(s);
    }
}

static void attention(block_stack *m, heed_params *s, const reader_settings *set) {
    stack_settings stack = set->text.stack;
    stack.final_norm =
        is(set->final_norm, "auto") ? is(stack.norm, "pre") : is(set->final_norm, "true");
    heed__stack_read(m, &stack);
    heed__stack_make(m, s, &stack, "encoder", set->causal);
}

static void recurrent_layers(text_model *m, heed_params *s, const reader_settings *set) {
    const stack_settings *stack = &set->text.stack;
    heed_rnn_args a =
        heed__cells(&set->cells, m->width, m->width, stack->layers, stack->block.dropout);
    a.bidirectional = set->bidirectional;
    heed_rnn_init(&m->rnn, s, "encoder", a);
    if (a.bidirectional) m->width *= 2;
}

bool heed__reader_init(text_model *m, heed_params *s, const reader_settings *set, int neurons) {
    bool attends = is(set->encoder, "attention");
    m->vocab = set->text.tokens.vocab;
    m->classes = set->classes;
    m->smoothing = set->smoothing;
    m->separator = set->text.token_types > 1 ? set->segment_token : -1;
    m->width = set->text.stack.width;
    if (m->vocab < 1 || m->classes < 1)
        return heed_fail(
            heed_params_ctx(s), HEED_USAGE,
            "size of the model is wrong: expected vocab and classes of at least 1, found %d "
            "and %d; hint: `vocab`, `classes`",
            m->vocab, m->classes);
    heed__embedding_init(&m->embed, s, &set->text, attends ? "normal:0.02" : "normal:1",
                         attends ? heed__positions(set->text.stack.positions) : HEED_NO_POSITIONS);
    if (attends)
        attention(&m->stack, s, set);
    else if (is(set->encoder, "rnn"))
        recurrent_layers(m, s, set);
    else {
        convolutions(&m->conv, s, set);
        heed__stack_read(&m->stack, &set->text.stack);
        heed_norm_init(&m->stack.final_norm, s, "norm",
                       heed__stack_norm_args(&set->text.stack, m->width));
    }
    heed_linear_init(&m->head, s, "head", (heed_linear_args){.in = m->width, .out = neurons});
    heed_set_rows(s, "head.*", HEED_ROWS_CLASSES);
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
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
        y = heed_dropout_layer_apply(&k->drop[i], t, heed_activate(t, y, k->act));
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

bool heed__reader_attending(const void *self, int index, heed_attention_info *out) {
    const text_model *m = self;
    bool attends = !m->rnn.args.layers && !m->conv.layers;
    return attends && heed__stack_attending(&m->stack, HEED_ENCODER, index, out);
}
