/* balance.c -- weights of classes by the inverse of their frequency. */
#include "core/core.h"
#include "data/kind.h"

heed_real *heed__balance(heed_ctx *c, size_t (*count)(const void *data, int label),
                         const void *data, int classes) {
    heed_real *weights = heed__alloc_array(c, (size_t)classes, sizeof *weights);
    double all = 0, present = 0;
    for (int i = 0; i < classes; i++) {
        all += (double)count(data, i);
        present += count(data, i) > 0;
    }
    for (int i = 0; weights && i < classes; i++)
        if (count(data, i) > 0) weights[i] = (heed_real)(all / (present * (double)count(data, i)));
    return weights;
}

void heed__balance_batch(const heed_real *weights, int classes, size_t n, heed_batch *out) {
    if (!weights) return;
    out->class_weights = weights;
    out->classes = classes;
    for (size_t i = 0; i < n; i++)
        if (out->labels[i] >= 0) out->label_weight += (double)weights[out->labels[i]];
}
