/* draw.c -- top-k, then the nucleus of what is left. Holtzman et al. 2020, sec. 3.1. */
#include "fit/draw.h"

#include <math.h>
#include <stdlib.h>

static int by_probability(const void *a, const void *b) {
    const heed__choice *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Probabilities exp((logit - largest) / temperature), most probable first; returns the sum. */
static double weigh(heed__choice *order, const heed_real *logits, int n, double temperature) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++) {
        order[i] = (heed__choice){exp(((double)logits[i] - top) / temperature), i};
        sum += order[i].p;
    }
    qsort(order, (size_t)n, sizeof *order, by_probability);
    return sum;
}

static int32_t most_probable(const heed_real *logits, int n) {
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

int32_t heed__draw(const heed_generation *a, const heed_real *logits, int n, heed_random r,
                   heed__choice *order) {
    if (a->temperature <= 0) return most_probable(logits, n);
    double sum = weigh(order, logits, n, a->temperature);
    int keep = a->top_k > 0 && a->top_k < n ? a->top_k : n;
    if (keep < n) {
        sum = 0;
        for (int i = 0; i < keep; i++) sum += order[i].p;
    }
    if (a->top_p > 0 && a->top_p < 1) {
        double part = 0, goal = a->top_p * sum;
        int k = 0;
        while (k < keep && part < goal) part += order[k++].p;
        keep = k;
        sum = part;
    }
    double left = heed_random_uniform(&r, 0) * sum;
    for (int i = 0; i < keep - 1; i++) {
        if (left < order[i].p) return order[i].id;
        left -= order[i].p;
    }
    return order[keep > 0 ? keep - 1 : 0].id;
}
