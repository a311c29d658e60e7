/* common.c -- code shared by all models: settings, heads, scores of predictions. */
#include "parts.h"

#include <math.h>
#include <string.h>

/* ---- settings ---- */

#define CHOICE_IF_VALUE(setting) setting
#define CHOICE_IF_INPUT(setting)
#define CHOICE_OF_CELL(act, name, setting, from, ...) CHOICE_IF_##from(setting)

const heed_option heed__token_options[] = {
    HEED_ROW(token_settings, block, "block", "64", .min = 2, .max = 1 << 20,
             .help = "tokens in a sequence, at most"),
    HEED_ROW(token_settings, vocab, "vocab", "0", .max = 1 << 24,
             .help = "upper bound of the vocabulary; 0: the tokenizer's own"),
    HEED_ROW(token_settings, vocab_rows, "vocab-rows", "0", .max = 1 << 24,
             .help = "rows of the embeddings and the output, if more than tokens; 0: as many"),
    {0}};

const heed_option heed__cell_options[] = {
    HEED_ROW(cell_settings, cell, "cell", "gru", .choices = "rnn|gru|lstm",
             .help = "of recurrent layers"),
    HEED_ROW(cell_settings, activation, "cell-activation", "tanh",
             .choices = &(HEED_ACTIVATIONS(CHOICE_OF_CELL))[1], .help = "g of cell rnn"),
    HEED_ROW(cell_settings, one_bias, "one-bias", "false",
             .help = "one bias per gate, h = g(W_h [x ; h] + b_h); else two, as in PyTorch"),
    HEED_WHEN("cell-activation", "cell=rnn"),
    {0}};

/* The row of a list whose setting, after the "|", is the name. */
static int row_of(const char *name, const char *const *settings, int rows) {
    for (int i = 0; i < rows; i++)
        if (*settings[i] && is(name, settings[i] + 1)) return i;
    return 0;
}

heed_act heed__activation(const char *name) {
#define ACTIVATION(act, word, setting, ...) setting,
    static const char *const settings[] = {HEED_ACTIVATIONS(ACTIVATION)};
    return (heed_act)row_of(name, settings, HEED_ACT_COUNT);
}

heed_norm_args heed__norm_args(const char *kind, int width, heed_real eps, bool bias) {
#define NORM(kind, setting, ...) setting,
    static const char *const settings[] = {HEED_NORMS(NORM)};
    int kinds = sizeof settings / sizeof *settings;
    return (heed_norm_args){.kind = (heed_norm_kind)row_of(kind, settings, kinds),
                            .width = width,
                            .eps = eps,
                            .no_bias = !bias};
}

heed_position_kind heed__positions(const char *name) {
    if (is(name, "sinusoidal")) return HEED_SINUSOIDAL;
    return is(name, "learned") ? HEED_LEARNED : HEED_NO_POSITIONS;
}

heed_rnn_args heed__cells(const cell_settings *set, int in, int width, int layers,
                          heed_real dropout) {
    return (heed_rnn_args){.in = in,
                           .width = width,
                           .cell = is(set->cell, "lstm")  ? HEED_CELL_LSTM
                                   : is(set->cell, "gru") ? HEED_CELL_GRU
                                                          : HEED_CELL_TANH,
                           .act = heed__activation(set->activation),
                           .layers = layers,
                           .one_bias = set->one_bias,
                           .dropout = dropout};
}

/* ---- head with one neuron ---- */

bool heed__model_two_classes(heed_ctx *c, int classes) {
    return classes == 2 || heed_fail(c, HEED_USAGE,
                                     "`head = binary` has one neuron: expected 2 classes, found "
                                     "%d; hint: `head = softmax`",
                                     classes);
}

heed_tensor *heed__model_by_class(heed_tape *t, heed_tensor *z) {
    if (!z) return NULL;
    heed_tensor *zero = heed_input(t, NULL, 2, (int[]){z->shape[0], 1});
    return heed_concat(t, 1, 2, (heed_tensor *[]){zero, z});
}

static heed_tensor *targets(heed_tape *t, const int32_t *labels, int rows, heed_real smoothing) {
    heed_tensor *y = heed_input(t, NULL, 2, (int[]){rows, 1});
    for (int i = 0; y && i < rows; i++) {
        if (labels[i] < 0 || labels[i] > 1) {
            heed_fail(heed_tape_ctx(t), HEED_DATA,
                      "label of the one neuron: expected 0 or 1, found %d", (int)labels[i]);
            return NULL;
        }
        y->x[i] = (1 - smoothing) * (heed_real)labels[i] + smoothing / 2;
    }
    return y;
}

heed_tensor *heed__model_class_loss(model_result *r, heed_tape *t, heed_tensor *z, bool binary,
                                    const heed_batch *b, heed_real smoothing) {
    r->logits = binary ? heed__model_by_class(t, z) : z;
    if (!binary || b->class_weights)
        return heed__model_label_xent(r, t, heed_input_ids(t, b->labels, 1, &b->rows), b,
                                      smoothing);
    if (heed_tape_mode(t) != HEED_TRAIN) smoothing = 0;
    return r->loss = heed_bce(t, z, targets(t, b->labels, b->rows, smoothing));
}

/* ---- parts ---- */

heed_linear heed__model_head(heed_params *s, heed_tensor *embeddings, bool tie, bool bias,
                             const char *init) {
    const int *shape = embeddings ? embeddings->shape : NULL;
    heed_linear l = {.name = heed_scope_push(s, "head"), .w = embeddings};
    if (!tie) l.w = heed_param_new(s, "weight", init, 2, shape);
    if (bias) l.b = heed_param_new(s, "bias", "zero", 1, shape);
    heed_scope_pop(s);
    heed_set_rows(s, "head.weight", HEED_ROWS_TOKENS);
    heed_set_rows(s, "head.bias", HEED_ROWS_TOKENS);
    return l;
}

heed_tensor *heed__model_last_state(const heed_rnn *l, heed_tape *t, heed_tensor *const *last) {
    heed_tensor *h[2];
    int ways = l->args.bidirectional ? 2 : 1, from = (l->args.layers - 1) * ways;
    for (int i = 0; i < ways; i++) h[i] = heed_slice(t, last[from + i], 1, 0, l->args.width);
    return ways == 2 ? heed_concat(t, 1, 2, h) : h[0];
}

/* ---- attention ---- */

void heed__model_attending(const heed_mha *l, heed_stack stack, int layer, double beta,
                           heed_attention_info *out) {
    const heed_mha_args *a = &l->args;
    *out = (heed_attention_info){.path = l->name,
                                 .stack = stack,
                                 .layer = layer,
                                 .heads = a->heads,
                                 .kv_heads = a->kv_heads,
                                 .rotary = a->rotary,
                                 .key = a->key,
                                 .value = a->value,
                                 .beta = beta >= 0 ? beta : 1 / sqrt(a->key),
                                 .causal = a->causal,
                                 .hard = a->hard};
}

void heed__model_cache(const heed_mha *l, int len, size_t *k, size_t *v) {
    size_t rows = (size_t)len * (size_t)l->args.kv_heads;
    *k = rows * (size_t)l->args.key;
    *v = rows * (size_t)l->args.value;
}

heed_tensor *heed__model_states(heed_tape *t, const heed_real *from, size_t stride, int rows,
                                int size) {
    heed_tensor *x = heed_input(t, NULL, 2, (int[]){rows, size});
    for (int i = 0; x && i < rows; i++)
        memcpy(x->x + i * size, from + (size_t)i * stride, (size_t)size * sizeof *from);
    return x;
}

void heed__model_keep_states(const heed_tensor *x, heed_real *to, size_t stride) {
    size_t size = x ? (size_t)x->shape[1] : 0;
    for (size_t i = 0; x && i < (size_t)x->shape[0]; i++)
        memcpy(to + i * stride, x->x + i * size, size * sizeof *to);
}

/* ---- scores ---- */

/* How many entries rank before the label's by probability; ties at a lower index and NaN do. */
static int rank_of(const heed_real *row, int classes, int32_t label) {
    int rank = 0;
    for (int j = 0; j < classes; j++)
        if (j != label && !(row[j] < row[label] || (row[j] == row[label] && j > label))) rank++;
    return rank;
}

/* Cross entropy of the result's logits; smoothing is for training, evaluation is without it. */
static heed_tensor *model_xent(model_result *r, heed_tape *t, heed_tensor *labels,
                               heed_real smoothing) {
    if (heed_tape_mode(t) != HEED_TRAIN) smoothing = 0;
    return r->loss = heed_xent(t, r->logits, labels, &(heed_xent_args){.smoothing = smoothing});
}

heed_tensor *heed__model_head_loss(model_result *r, heed_tape *t, const heed_linear *head,
                                   heed_tensor *x, heed_tensor *labels, heed_real smoothing) {
    bool in_blocks = heed_tape_mode(t) == HEED_TRAIN && !heed_probe_active(t);
    r->logits = in_blocks ? NULL : heed_linear_apply(head, t, x);
    if (!in_blocks) return model_xent(r, t, labels, smoothing);
    heed_xent_args a = {.smoothing = smoothing};
    return r->loss =
               heed_affine_xent(heed_name_scope(t, head->name), x, head->w, head->b, labels, &a);
}

heed_tensor *heed__model_label_xent(model_result *r, heed_tape *t, heed_tensor *labels,
                                    const heed_batch *b, heed_real smoothing) {
    const heed_tensor *y = r->logits;
    if (!b->class_weights) return model_xent(r, t, labels, smoothing);
    if (y && y->shape[y->dims - 1] != b->classes) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "balanced classes do not fit the model: expected %d, found %d",
                  y->shape[y->dims - 1], b->classes);
        return NULL;
    }
    if (heed_tape_mode(t) != HEED_TRAIN) smoothing = 0;
    heed_xent_args a = {.smoothing = smoothing, .weights = b->class_weights};
    return r->loss = heed_xent(t, r->logits, labels, &a);
}

void heed__model_metrics(void *self, const heed_batch *b, heed_score *score) {
    const heed_tensor *y = ((model_result *)self)->logits, *loss = ((model_result *)self)->loss;
    if (!y || !loss) return;
    int classes = y->shape[y->dims - 1];
    size_t rows = y->size / (size_t)classes, counted = 0;
    for (size_t r = 0; r < rows; r++) {
        int32_t label = b->labels[r];
        if (label < 0 || label >= classes) continue;
        int rank = rank_of(y->x + r * (size_t)classes, classes, label);
        score->correct += rank < 1;
        score->top5 += rank < 5;
        counted++;
    }
    score->total += (double)counted;
    score->weight += (double)counted;
    score->loss += (double)loss->x[0] * (double)counted;
}

void heed__model_text_metrics(void *self, const heed_batch *b, heed_score *score) {
    heed__model_metrics(self, b, score);
    score->bytes += (double)b->label_bytes;
}
