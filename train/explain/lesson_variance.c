/* lesson_variance.c -- why scores are divided by sqrt(d): the variance of a dot product of random
 * vectors grows as d, softmax then selects a single key and passes on almost no gradient. Vaswani
 * et al. 2017, sec. 3.2.1, note 4. */
#include "explain/explain.h"

#include <math.h>

enum { WIDTHS = 9, QUERIES = 64, KEYS = 16, WIDEST = 1024 };

/* Of each width d = 4, 8, ..., 1024, raw and scaled by 1/sqrt(d). */
typedef struct {
    double variance[WIDTHS][3]; /* of q'k: raw, 1.96 standard deviations of it, scaled */
    double entropy[WIDTHS][2];  /* of the weights in bits; log2(KEYS) at most */
    double slope[WIDTHS][2];    /* norm of d weights / d scores */
} measured;

static int width_at(int i) { return 4 << i; }

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

/* The mean of (q'k)^2 is an unbiased estimate of the variance, d, as q'k has mean 0. The estimate's
 * own variance: 2 d / QUERIES from the queries' lengths, the rest from the keys. */
static void measure(uint64_t seed, int at, measured *m) {
    int d = width_at(at);
    heed_random r = heed_random_at(seed, "explain.variance", (uint64_t)d, 0);
    double scores[KEYS], p[KEYS], pairs = QUERIES * KEYS, square = (double)d * d;
    double *variance = m->variance[at];
    heed_matrix in = lesson_matrix(1, KEYS, scores), out = lesson_matrix(1, KEYS, p);
    for (int i = 0; i < QUERIES; i++) {
        draw_scores(&r, d, i, scores);
        for (int j = 0; j < KEYS; j++) variance[0] += scores[j] * scores[j] / pairs;
        for (int scaled = 0; scaled < 2; scaled++) {
            for (int j = 0; scaled && j < KEYS; j++) scores[j] = 1 / sqrt(d) * scores[j];
            heed_matrix_softmax(&in, false, &out);
            m->entropy[at][scaled] += lesson_entropy(p, KEYS) / QUERIES;
            m->slope[at][scaled] += slope(p) / QUERIES;
        }
    }
    variance[1] = 1.96 * sqrt(2.0 * d / QUERIES + 2 * square * (1 + 2.0 / d) / pairs);
    variance[2] = variance[0] / d;
}

static json_t *as_json(const measured *m) {
    json_t *rows = json_array();
    for (int i = 0; i < WIDTHS; i++)
        json_array_append_new(rows, json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "d",
                                              width_at(i), "variance", m->variance[i][0], "margin",
                                              m->variance[i][1], "scaled_variance",
                                              m->variance[i][2], "entropy", m->entropy[i][0],
                                              "entropy_scaled", m->entropy[i][1], "gradient",
                                              m->slope[i][0], "gradient_scaled", m->slope[i][1]));
    return json_pack("{s:s, s:i, s:i, s:f, s:o}", "example", "variance", "queries", QUERIES, "keys",
                     KEYS, "most_entropy", log2(KEYS), "widths", rows);
}

/* Draws the variance, the entropy and the gradient, side by side if they fit, with one row per
 * width d. */
static void draw_table(explaining *e, measured *m) {
    static const char *const variance[] = {"raw", "+/-", "scaled"};
    static const char *const both[] = {"raw", "scaled"};
    char text[WIDTHS][16];
    const char *rows[WIDTHS];
    for (int i = 0; i < WIDTHS; i++) {
        snprintf(text[i], sizeof text[i], "d = %d", width_at(i));
        rows[i] = text[i];
    }
    lesson_columns(
        e, 3,
        (lesson_block[]){{"variance of q'k", lesson_matrix(WIDTHS, 3, m->variance[0]), variance},
                         {"entropy, bits", lesson_matrix(WIDTHS, 2, m->entropy[0]), both},
                         {"gradient", lesson_matrix(WIDTHS, 2, m->slope[0]), both}},
        rows);
}

static void draw_curves(explaining *e, const measured *m) {
    double x[WIDTHS], y[5][WIDTHS];
    for (int i = 0; i < WIDTHS; i++) {
        x[i] = log2(width_at(i));
        y[0][i] = log2(m->variance[i][0]) / log2(WIDEST);
        for (int k = 0; k < 2; k++) {
            y[1 + k][i] = m->entropy[i][k] / log2(KEYS);
            y[3 + k][i] = m->slope[i][k];
        }
    }
    heed_series lines[5] = {{"log2 variance / 10", WIDTHS, x, y[0]},
                            {"entropy, raw", WIDTHS, x, y[1]},
                            {"entropy, scaled", WIDTHS, x, y[2]},
                            {"gradient, raw", WIDTHS, x, y[3]},
                            {"gradient, scaled", WIDTHS, x, y[4]}};
    lesson_chart(
        e,
        &(heed_chart){.title = "dot products by width, and their softmax (entropy / 4 bits)",
                      .x_label = "log2 of d",
                      .y_label = "",
                      .series_count = 5,
                      .series = lines},
        14);
}

void explain_variance(explaining *e) {
    measured m = {.entropy = {{0}}};
    for (int i = 0; i < WIDTHS; i++) measure(e->seed, i, &m);
    if (lesson_json(e, as_json(&m))) return;
    heading(e, "The variance of q'k grows as d");
    say(e,
        "q and k are vectors of d independent standard normal numbers. Their dot product is a sum "
        "of d terms of variance 1, so its variance is d; divided by sqrt(d) it is 1 at every "
        "width. Measured from %d queries with %d keys each:",
        QUERIES, KEYS);
    draw_table(e, &m);
    say(e, "Look at d = 1024: unscaled, the softmax gives nearly all its weight to one key (an "
           "entropy near 0), and its derivative by the scores has all but vanished, so nothing is "
           "learned through it. Scaled, neither depends on d.");
    draw_curves(e, &m);
    lesson_try(e, "explain variance --seed 2\n"
                  "explain variance --png variance.png");
}
