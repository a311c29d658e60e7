/* rnn.c -- recurrent layers: the contribution of the input to the gates as one product over all
 * time steps, then the recurrence. */
#include "nn/nn.h"

#include <stdio.h>

static int ways_of(const heed_rnn_args *a) { return a->bidirectional ? 2 : 1; }

static bool check(heed_ctx *c, const char *name, const heed_rnn_args *a) {
    if (a->in >= 1 && a->width >= 1 && a->layers >= 1 && a->layers <= HEED_RNN_LAYERS) return true;
    return heed_fail(c, HEED_USAGE,
                     "size of a recurrent layer is wrong: %s: expected positive widths and 1 to %d "
                     "layers, found in %d, width %d, layers %d",
                     name, HEED_RNN_LAYERS, a->in, a->width, a->layers);
}

static heed_tensor *param(heed_params *s, const char *what, int part, const heed_rnn_args *a,
                          int columns) {
    char name[48], init[32];
    int ways = ways_of(a), gates = a->cell == HEED_CELL_LSTM ? 4 : a->cell == HEED_CELL_GRU ? 3 : 1;
    snprintf(name, sizeof name, "%s_l%d%s", what, part / ways, part % ways ? "_reverse" : "");
    snprintf(init, sizeof init, "kaiming:%d", a->width);
    return heed_param_new(s, name, a->init ? a->init : init, columns ? 2 : 1,
                          (int[]){gates * a->width, columns});
}

static heed_rnn_part make_part(heed_params *s, int part, const heed_rnn_args *a) {
    int in = part < ways_of(a) ? a->in : a->width * ways_of(a);
    heed_rnn_part p = {.w_in = param(s, "weight_ih", part, a, in),
                       .w = param(s, "weight_hh", part, a, a->width),
                       .b_in = param(s, "bias_ih", part, a, 0)};
    if (!a->one_bias) p.b = param(s, "bias_hh", part, a, 0);
    return p;
}

void heed_rnn_init(heed_rnn *l, heed_params *s, const char *name, heed_rnn_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    if (!a.layers) a.layers = 1;
    *l = (heed_rnn){.name = heed_scope_push(s, "%s", name)};
    if (l->name && check(heed_params_ctx(s), l->name, &a)) {
        l->args = a;
        for (int i = 0; i < a.layers * ways_of(&a); i++) l->part[i] = make_part(s, i, &a);
        for (int i = 0; i + 1 < a.layers; i++) {
            char drop[24];
            snprintf(drop, sizeof drop, "drop_l%d", i);
            heed_dropout_layer_init(&l->drop[i], s, drop, a.dropout);
        }
    }
    heed_scope_pop(s);
}

/* One direction of one layer. Returns the states (B,T,S) and the last state in *last (B,S). */
static heed_tensor *run(const heed_rnn *l, heed_tape *t, int part, heed_tensor *x, heed_tensor *pad,
                        heed_tensor *first, heed_tensor **last) {
    const heed_rnn_part *p = &l->part[part];
    heed_recurrent_args a = {l->args.cell, l->args.act, part % ways_of(&l->args) == 1};
    heed_tensor *gates = heed_affine(heed_name_scope(t, l->name), x, p->w_in, p->b_in);
    heed_tensor *y = heed_recurrent(heed_name_scope(t, l->name), gates, p->w, p->b, first, pad, &a);
    if (!y || !last) return y;
    heed_tensor *end = heed_slice(t, y, 1, a.reverse ? 0 : y->shape[1] - 1, 1);
    *last = heed_reshape(t, end, 2, (int[]){y->shape[0], y->shape[2]});
    return y;
}

/* The h part of the states: the complete state, except for the LSTM, where c is left out. */
static heed_tensor *outputs(const heed_rnn *l, heed_tape *t, heed_tensor *y) {
    return l->args.cell == HEED_CELL_LSTM ? heed_slice(t, y, 2, 0, l->args.width) : y;
}

heed_tensor *heed_rnn_apply(const heed_rnn *l, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                            heed_tensor *const *first, heed_tensor **last) {
    if (!heed__layer_given(l, t)) return NULL;
    int ways = ways_of(&l->args);
    for (int i = 0; i < l->args.layers; i++) {
        heed_tensor *y[2] = {NULL, NULL};
        for (int w = 0, part = i * ways; w < ways; w++, part++)
            y[w] = outputs(
                l, t,
                run(l, t, part, x, pad, first ? first[part] : NULL, last ? &last[part] : NULL));
        x = ways == 2 ? heed_concat(t, 2, 2, y) : y[0];
        if (i + 1 < l->args.layers) x = heed_dropout_layer_apply(&l->drop[i], t, x);
    }
    return x;
}

/* ---- check cases ---- */

static void init(void *self, heed_params *s, const void *args) {
    heed_rnn_init(self, s, "rnn", *(const heed_rnn_args *)args);
}

/* All outputs and the last states; the third token of the first row is padding. */
static heed_tensor *apply(const void *self, heed_tape *t, heed_tensor *x) {
    heed_tensor *last[4],
        *pad = heed_ids(t, (int32_t[]){1, 1, 0, 1, 1, 1}, HEED_CASE_ROWS, HEED_CASE_LEN);
    heed_tensor *y = heed_rnn_apply(self, t, x, pad, NULL, last);
    for (int i = 0; y && i < 4; i++) y = heed_add(t, y, heed_sum(t, last[i]));
    return y;
}

#define CASE(name, ...)                                                                            \
    {                                                                                              \
        name, sizeof(heed_rnn), init, apply, &(const heed_rnn_args) {                              \
            .in = HEED_CASE_WIDTH, .width = 3, .act = HEED_TANH, .layers = 2,                      \
            .bidirectional = true, .dropout = (heed_real)0.2, __VA_ARGS__                          \
        }                                                                                          \
    }
const heed_layer_case heed_layers_rnn[] = {
    CASE("recurrent", .cell = HEED_CELL_TANH, .one_bias = true),
    CASE("recurrent gru", .cell = HEED_CELL_GRU),
    CASE("recurrent lstm", .cell = HEED_CELL_LSTM),
    {0}};
