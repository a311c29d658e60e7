/* confusion.c -- predictions of a classifier for single items, and its confusion table. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>

heed_prediction heed_prediction_of(const heed_real *logits, int classes, int label) {
    int best = heed__largest(logits, classes), better = 0;
    double sum = 0;
    for (int i = 0; i < classes; i++) {
        sum += exp((double)logits[i] - (double)logits[best]);
        better += i != label && logits[i] >= logits[label];
    }
    return (heed_prediction){.label = label,
                             .predicted = best,
                             .rank = better,
                             .p = 1 / sum,
                             .loss = log(sum) + (double)logits[best] - (double)logits[label]};
}

size_t *heed_confusion(heed_ctx *c, const heed_prediction *list, size_t count, int classes) {
    size_t n = (size_t)(classes > 0 ? classes : 0),
           *counts = heed__alloc_array(c, n * n, sizeof *counts);
    for (size_t i = 0; counts && i < count; i++)
        counts[(size_t)list[i].label * n + (size_t)list[i].predicted]++;
    return counts;
}

heed_class_score heed_confusion_class(const size_t *confusion, int classes, int label) {
    size_t n = (size_t)classes, at = (size_t)label;
    heed_class_score s = {.correct = confusion[at * n + at]};
    for (size_t i = 0; i < n; i++) {
        s.count += confusion[at * n + i];
        s.predicted += confusion[i * n + at];
    }
    s.recall = s.count ? (double)s.correct / (double)s.count : (double)NAN;
    s.precision = s.predicted ? (double)s.correct / (double)s.predicted : (double)NAN;
    return s;
}
