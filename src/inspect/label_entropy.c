/* label_entropy.c -- the loss of a model that ignores its input. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>

typedef struct {
    heed_ctx *c;
    double *counts; /* by label */
    size_t size, capacity;
    double all;
} tally;

static bool count(tally *t, size_t label, double n) {
    if (!heed__grow(t->c, &t->counts, &t->capacity, label + 1, sizeof *t->counts)) return false;
    while (t->size <= label) t->counts[t->size++] = 0;
    t->counts[label] += n;
    t->all += n;
    return true;
}

/* H = -sum p ln p, and (K - 1) / 2N for the K of N labels that were seen: a sample of labels has
 * less entropy than its source. Miller 1955. */
static double entropy(const tally *t, bool sample) {
    double sum = 0, seen = 0;
    for (size_t i = 0; i < t->size; i++) {
        if (t->counts[i] <= 0) continue;
        sum -= t->counts[i] / t->all * log(t->counts[i] / t->all);
        seen++;
    }
    return t->all > 0 ? sum + (sample ? (seen - 1) / (2 * t->all) : 0) : (double)NAN;
}

static bool count_batch(tally *t, const heed_batch *b) {
    int n = b->masked_positions ? b->masked_count : b->rows * b->len;
    for (int i = 0; b->labels && i < n; i++)
        if (b->labels[i] >= 0 && !count(t, (size_t)b->labels[i], 1)) return false;
    return true;
}

double heed_label_entropy(const heed_model *m, void *self, const heed_data *d, int rows) {
    enum { BATCHES = 200, LABELS = 50000 };
    tally t = {.c = d ? d->c : NULL};
    if (!m || !d || rows < 1 || heed__stopped(d->c)) return (double)NAN;
    bool classes = d->label_count > 0, texts = d->kind->perplexity && !d->kind->images;
    bool ok = classes || texts;
    for (int i = 0; ok && i < d->label_count; i++)
        ok = count(&t, (size_t)i, (double)heed_data_count(d, i));
    for (uint64_t i = 0; ok && !classes && i < BATCHES && t.all < LABELS; i++) {
        heed_batch b = {0};
        ok = heed_model_batch(m, self, d, (heed_batch_at){.index = i, .rows = rows}, &b) &&
             count_batch(&t, &b);
    }
    double h = ok ? entropy(&t, !classes) : (double)NAN;
    heed__free(t.counts);
    return h;
}
