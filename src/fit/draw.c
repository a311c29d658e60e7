/* draw.c -- chooses one token: top-k, then the nucleus of what is left. Holtzman et al. 2020, sec.
 * 3.1. */
#include "fit/fit.h"

#include <math.h>

/* Tokens by probability. The most probable ones are taken off a heap and kept behind it, last
 * first: few are wanted of a large vocabulary. Williams 1964 (heapsort). */
typedef struct {
    heed__choice *at;
    int n, taken;
} ranking;

static bool before(heed__choice a, heed__choice b) {
    return a.p > b.p || (a.p == b.p && a.id < b.id);
}

static void sift(heed__choice *at, int n, int i) {
    for (int child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(at[child + 1], at[child])) child++;
        if (!before(at[child], at[i])) return;
        heed__choice swapped = at[i];
        at[i] = at[child];
        at[child] = swapped;
    }
}

/* The token of rank i, from 0; ties by lowest id. */
static heed__choice ranked(ranking *r, int i) {
    while (r->taken <= i) {
        int last = r->n - 1 - r->taken++;
        heed__choice top = r->at[0];
        r->at[0] = r->at[last];
        r->at[last] = top;
        sift(r->at, last, 0);
    }
    return r->at[r->n - 1 - i];
}

/* Sets probabilities exp((logit - largest) / temperature), and returns their sum. */
static double weigh(ranking *r, const heed_generation *a, const heed_real *logits) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < r->n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < r->n; i++)
        r->at[i] = (heed__choice){exp(((double)logits[i] - top) / a->temperature), i};
    for (int i = 0; i < r->n; i++) sum += r->at[i].p;
    for (int i = r->n / 2 - 1; i >= 0; i--) sift(r->at, r->n, i);
    return sum;
}

static int32_t most_probable(const heed_real *logits, int n) {
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

int32_t heed__draw(const heed_generation *a, const heed_real *logits, int n, heed_random random,
                   heed__choice *capacity) {
    if (a->temperature <= 0) return most_probable(logits, n);
    ranking r = {.at = capacity, .n = n};
    double sum = weigh(&r, a, logits);
    int keep = a->top_k > 0 && a->top_k < n ? a->top_k : n;
    if (keep < n) {
        sum = 0;
        for (int i = 0; i < keep; i++) sum += ranked(&r, i).p;
    }
    if (a->top_p > 0 && a->top_p < 1) {
        double part = 0, goal = a->top_p * sum;
        int k = 0;
        while (k < keep && part < goal) part += ranked(&r, k++).p;
        keep = k;
        sum = part;
    }
    double left = heed_random_uniform(&random, 0) * sum;
    for (int i = 0; i < keep - 1; i++) {
        if (left < ranked(&r, i).p) return ranked(&r, i).id;
        left -= ranked(&r, i).p;
    }
    while (keep > 1 && ranked(&r, keep - 1).p <= 0) keep--;
    return ranked(&r, keep > 0 ? keep - 1 : 0).id;
}
