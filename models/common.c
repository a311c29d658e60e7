/* common.c -- code shared by all models: reading settings, scoring predictions. */
#include "common.h"

#include <math.h>
#include <string.h>

bool heed__model_is(const heed_config *f, const char *key, const char *choice) {
    const char *text = heed_config_text(f, key);
    return text && strcmp(text, choice) == 0;
}

int heed__model_int(const heed_config *f, const char *key) { return (int)heed_config_int(f, key); }

heed_real heed__model_real(const heed_config *f, const char *key) {
    return (heed_real)heed_config_real(f, key);
}

static heed_act activation_named(const heed_config *f, const char *key) {
#define SETTING(act, name, setting, ...) setting,
    static const char *const settings[] = {HEED_ACTIVATIONS(SETTING)}; /* "|gelu" */
#undef SETTING
    for (int i = 0; i < HEED_ACT_COUNT; i++)
        if (*settings[i] && heed__model_is(f, key, settings[i] + 1)) return (heed_act)i;
    return HEED_GELU;
}

heed_act heed__model_activation(const heed_config *f) { return activation_named(f, "activation"); }

heed_norm_args heed__model_norm(const heed_config *f, int width) {
    return (heed_norm_args){.kind = heed__model_is(f, "norm-kind", "rms") ? HEED_RMS_NORM
                                                                          : HEED_LAYER_NORM,
                            .width = width,
                            .eps = heed__model_real(f, "norm-eps"),
                            .no_bias = !heed_config_bool(f, "bias")};
}

heed_position_kind heed__model_positions(const heed_config *f) {
    if (heed__model_is(f, "positions", "sinusoidal")) return HEED_SINUSOIDAL;
    return heed__model_is(f, "positions", "none") ? HEED_NO_POSITIONS : HEED_LEARNED;
}

heed_rnn_args heed__model_cells(const heed_config *f, int in) {
    heed_cell cell = heed__model_is(f, "cell", "lstm")  ? HEED_LSTM
                     : heed__model_is(f, "cell", "gru") ? HEED_GRU
                                                        : HEED_RNN;
    return (heed_rnn_args){.in = in,
                           .width = heed__model_int(f, "width"),
                           .cell = cell,
                           .act = activation_named(f, "cell-activation"),
                           .layers = heed__model_int(f, "layers"),
                           .one_bias = heed_config_bool(f, "one-bias"),
                           .dropout = heed__model_real(f, "dropout")};
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

heed_tensor *heed__model_targets(heed_tape *t, const int32_t *labels, int rows,
                                 heed_real smoothing) {
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

/* ---- attention ---- */

void heed__model_attending(const heed_mha *l, heed_stack stack, int layer, double beta,
                           heed_attending *out) {
    const heed_mha_args *a = &l->args;
    *out = (heed_attending){.path = l->name,
                            .stack = stack,
                            .layer = layer,
                            .heads = a->heads,
                            .key = a->key,
                            .value = a->value,
                            .beta = beta >= 0 ? beta : 1 / sqrt(a->key),
                            .causal = a->causal,
                            .hard = a->hard};
}

/* ---- scores ---- */

/* Returns how many entries rank before the label's by probability; ties at a lower index and NaN
 * count as before it. */
static int rank_of(const heed_real *row, int classes, int32_t label) {
    int rank = 0;
    for (int j = 0; j < classes; j++)
        if (j != label && !(row[j] < row[label] || (row[j] == row[label] && j > label))) rank++;
    return rank;
}

void heed__model_score(const heed_tensor *logits, const heed_tensor *loss, const int32_t *labels,
                       heed_score *score) {
    if (!logits || !loss) return;
    int classes = logits->shape[logits->dims - 1];
    size_t rows = logits->size / (size_t)classes, counted = 0;
    for (size_t r = 0; r < rows; r++) {
        if (labels[r] < 0 || labels[r] >= classes) continue;
        int rank = rank_of(logits->x + r * (size_t)classes, classes, labels[r]);
        score->correct += rank < 1;
        score->top5 += rank < 5;
        counted++;
    }
    score->total += (double)counted;
    score->weight += (double)counted;
    score->loss += (double)loss->x[0] * (double)counted;
}
