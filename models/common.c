/* common.c -- what all models share: settings read, predictions judged. */
#include "common.h"

#include <string.h>

bool model_is(const heed_config *f, const char *key, const char *choice) {
    const char *text = heed_config_text(f, key);
    return text && strcmp(text, choice) == 0;
}

int model_int(const heed_config *f, const char *key) { return (int)heed_config_int(f, key); }

heed_real model_real(const heed_config *f, const char *key) {
    return (heed_real)heed_config_real(f, key);
}

heed_act model_activation(const heed_config *f) {
    static const struct {
        const char *name;
        heed_act act;
    } names[] = {{"gelu", HEED_GELU},        {"gelu-tanh", HEED_GELU_TANH},
                 {"relu", HEED_RELU},        {"silu", HEED_SILU},
                 {"tanh", HEED_TANH},        {"sigmoid", HEED_SIGMOID},
                 {"identity", HEED_IDENTITY}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (model_is(f, "activation", names[i].name)) return names[i].act;
    return HEED_GELU;
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
