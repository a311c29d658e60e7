/* lesson_variance.c -- why scores are divided by sqrt(d): the variance of a dot product of random
 * vectors grows as d, softmax then selects a single key and passes on almost no gradient. Vaswani
 * et al. 2017, sec. 3.2.1, note 4. */
#include "explain/explain.h"

#include <math.h>

enum { WIDTHS = 9, QUERIES = 64, KEYS = 16, WIDEST = 1024 };

/* Draws the scores of query i with separate keys; all numbers are standard normal. */
static void draw_scores(const heed_random *r, int d, int i, double *scores) {
    uint64_t each = (uint64_t)(KEYS + 1) * (uint64_t)d, at = (uint64_t)i * each;
    double q[WIDEST];
    for (int k = 0; k < d; k++) q[k] = heed_random_normal(r, at++);
    for (int j = 0; j < KEYS; j++) {
        scores[j] = 0;
        for (int k = 0; k < d; k++) scores[j] += q[k] * heed_random_normal(r, at++);
    }
}

/* Frobenius norm of the softmax's derivative diag(p) - p p', for the shares p. */
static double slope(const double *p) {
    double sum = 0;
    for (int i = 0; i < KEYS; i++)
        for (int j = 0; j < KEYS; j++) {
            double d = (i == j ? p[i] : 0) - p[i] * p[j];
            sum += d * d;
        }
    return sqrt(sum);
}

/* Fills a row of each: the variance of q'k raw, its margin of 95 %, and scaled; entropy and slope
 * raw and scaled. The mean of (q'k)^2 is an unbiased estimate of the variance, d, as q'k has mean
 * 0. The estimate's own variance: 2 d / QUERIES from the queries' lengths, the rest from the keys.
 */
static void measure(uint64_t seed, int d, double variance[3], double entropy[2],
                    double gradient[2]) {
    heed_random r = heed_random_at(seed, "explain.variance", (uint64_t)d, 0);
    double scores[KEYS], p[KEYS], pairs = QUERIES * KEYS, square = (double)d * d;
    heed_matrix in = {1, KEYS, scores}, out = {1, KEYS, p};
    for (int i = 0; i < QUERIES; i++) {
        draw_scores(&r, d, i, scores);
        for (int j = 0; j < KEYS; j++) variance[0] += scores[j] * scores[j] / pairs;
        for (int scaled = 0; scaled < 2; scaled++) {
            for (int j = 0; scaled && j < KEYS; j++) scores[j] = 1 / sqrt(d) * scores[j];
            heed_matrix_softmax(&in, false, &out);
            entropy[scaled] += entropy_of(p, KEYS) / QUERIES;
            gradient[scaled] += slope(p) / QUERIES;
        }
    }
    variance[1] = 1.96 * sqrt(2.0 * d / QUERIES + 2 * square * (1 + 2.0 / d) / pairs);
    variance[2] = variance[0] / d;
}

void variance_steps(explaining *e) {
    static const char *const of_variance[] = {"raw", "+/-", "scaled"}, *const both[] = {"raw",
                                                                                        "scaled"};
    static const char *const curves[] = {"log2 variance / 10", "entropy, raw", "entropy, scaled",
                                         "gradient, raw", "gradient, scaled"};
    heed_matrix variance = matrix_new(e, WIDTHS, 3), entropy = matrix_new(e, WIDTHS, 2);
    heed_matrix gradient = matrix_new(e, WIDTHS, 2), curve = matrix_new(e, 6, WIDTHS);
    const char *rows[WIDTHS];
    for (int i = 0; i < WIDTHS && !failed(e); i++) {
        int d = 4 << i;
        double *v = variance.x + 3 * i, *h = entropy.x + 2 * i, *g = gradient.x + 2 * i;
        measure(e->seed, d, v, h, g);
        rows[i] = text_of(e, "d = %d", d);
        const double y[] = {
            log2(d), log2(v[0]) / log2(WIDEST), h[0] / log2(KEYS), h[1] / log2(KEYS), g[0], g[1]};
        for (int k = 0; k < 6; k++) curve.x[k * WIDTHS + i] = y[k];
    }
    e->title = "The variance of q'k grows as d";
    e->words = "q and k are vectors of d independent standard normal numbers. Their dot product is "
               "a sum of d terms of variance 1, so its variance is d; divided by sqrt(d) it is 1 "
               "at every width. Measured from 64 queries with 16 keys each:";
    e->commands = "explain variance --seed 2\n"
                  "explain variance --png variance.png";
    lesson_step *s = add_step(e, NULL, NULL, NULL);
    const char *const *labels = keep_labels(e, rows, WIDTHS);
    show(e, "", "variance of q'k", variance, labels, of_variance);
    show(e, "", "entropy, bits", entropy, labels, both);
    show(e, "", "gradient", gradient, labels, both);
    s->after = "Look at d = 1024: unscaled, the softmax gives nearly all its weight to one key (an "
               "entropy near 0), and its derivative by the scores has all but vanished, so nothing "
               "is learned through it. Scaled, neither depends on d.";
    s->chart = chart_of(e, "dot products by width, and their softmax (entropy / 4 bits)",
                        "log2 of d", curves, NULL, curve);
}
