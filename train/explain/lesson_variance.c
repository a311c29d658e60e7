/* lesson_variance.c -- why scores are divided by sqrt(d): the variance of a dot product of random
 * vectors grows as d, softmax then selects a single key and passes on almost no gradient. Vaswani
 * et al. 2017, sec. 3.2.1, note 4. */
#include "explain/lesson.h"

#include <math.h>

enum { WIDTHS = 9, QUERIES = 64, KEYS = 16, WIDEST = 1024 };

typedef struct {
    int d;
    double variance, margin; /* of q'k, and 1.96 standard deviations of its measurement */
    double entropy[2];       /* of the weights in bits, raw and scaled; log2(KEYS) at most */
    double slope[2];         /* norm of d weights / d scores */
} measured;

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

static void add_softmax(measured *m, const double *scores, double beta, int which) {
    double scaled[KEYS], p[KEYS];
    for (int j = 0; j < KEYS; j++) scaled[j] = beta * scores[j];
    heed_matrix in = lesson_matrix(1, KEYS, scaled), out = lesson_matrix(1, KEYS, p);
    heed_matrix_softmax(&in, false, &out);
    m->entropy[which] += lesson_entropy(p, KEYS) / QUERIES;
    m->slope[which] += lesson_slope(p, KEYS) / QUERIES;
}

/* The mean of (q'k)^2 is an unbiased estimate of the variance, d, as q'k has mean 0. The estimate's
 * own variance: 2 d / QUERIES from the queries' lengths, the rest from the keys. */
static measured measure(uint64_t seed, int d) {
    measured m = {.d = d};
    heed_random r = heed_random_at(seed, "explain.variance", (uint64_t)d, 0);
    double scores[KEYS], pairs = QUERIES * KEYS;
    for (int i = 0; i < QUERIES; i++) {
        draw_scores(&r, d, i, scores);
        for (int j = 0; j < KEYS; j++) m.variance += scores[j] * scores[j] / pairs;
        add_softmax(&m, scores, 1, 0);
        add_softmax(&m, scores, 1 / sqrt(d), 1);
    }
    double square = (double)d * d;
    m.margin = 1.96 * sqrt(2.0 * d / QUERIES + 2 * square * (1 + 2.0 / d) / pairs);
    return m;
}

static json_t *as_json(const measured *m) {
    json_t *rows = json_array();
    for (int i = 0; i < WIDTHS; i++)
        json_array_append_new(rows, json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "d",
                                              m[i].d, "variance", m[i].variance, "margin",
                                              m[i].margin, "scaled_variance",
                                              m[i].variance / m[i].d, "entropy", m[i].entropy[0],
                                              "entropy_scaled", m[i].entropy[1], "gradient",
                                              m[i].slope[0], "gradient_scaled", m[i].slope[1]));
    return json_pack("{s:s, s:i, s:i, s:f, s:o}", "example", "variance", "queries", QUERIES, "keys",
                     KEYS, "most_entropy", log2(KEYS), "widths", rows);
}

/* Draws the variance, the entropy and the gradient, side by side if they fit, with one row per
 * width d. */
static void draw_table(explaining *e, const measured *m) {
    static const char *const variance[] = {"raw", "+/-", "scaled"}, *const both[] = {"raw",
                                                                                     "scaled"};
    double v[WIDTHS * 3], h[WIDTHS * 2], g[WIDTHS * 2];
    char text[WIDTHS][16];
    const char *rows[WIDTHS];
    for (int i = 0; i < WIDTHS; i++) {
        snprintf(text[i], sizeof text[i], "d = %d", m[i].d);
        rows[i] = text[i];
        v[3 * i] = m[i].variance, v[3 * i + 1] = m[i].margin;
        v[3 * i + 2] = m[i].variance / m[i].d;
        for (int k = 0; k < 2; k++) h[2 * i + k] = m[i].entropy[k], g[2 * i + k] = m[i].slope[k];
    }
    lesson_columns(e, 3,
                   (lesson_block[]){{"variance of q'k", lesson_matrix(WIDTHS, 3, v), variance},
                                    {"entropy, bits", lesson_matrix(WIDTHS, 2, h), both},
                                    {"gradient", lesson_matrix(WIDTHS, 2, g), both}},
                   rows);
}

static void draw_curves(explaining *e, const measured *m) {
    double x[WIDTHS], y[5][WIDTHS];
    for (int i = 0; i < WIDTHS; i++) {
        x[i] = log2(m[i].d);
        y[0][i] = log2(m[i].variance) / log2(WIDEST);
        for (int k = 0; k < 2; k++) {
            y[1 + k][i] = m[i].entropy[k] / log2(KEYS);
            y[3 + k][i] = m[i].slope[k];
        }
    }
    heed_series lines[5] = {{"log2 variance / 10", WIDTHS, x, y[0]},
                            {"entropy, raw", WIDTHS, x, y[1]},
                            {"entropy, scaled", WIDTHS, x, y[2]},
                            {"gradient, raw", WIDTHS, x, y[3]},
                            {"gradient, scaled", WIDTHS, x, y[4]}};
    lesson_chart(e,
                 &(heed_chart){"dot products by width, and their softmax (entropy / 4 bits)",
                               "log2 of d", "", 5, lines},
                 14);
}

void explain_variance(explaining *e) {
    measured m[WIDTHS];
    for (int i = 0; i < WIDTHS; i++) m[i] = measure(e->seed, 4 << i);
    if (lesson_json(e, as_json(m))) return;
    draw_heading(&e->out, &e->look, "The variance of q'k grows as d");
    lesson_say(e,
               "q and k are vectors of d independent standard normal numbers. Their dot product "
               "is a sum of d terms of variance 1, so its variance is d; divided by sqrt(d) it "
               "is 1 at every width. Measured from %d queries with %d keys each:",
               QUERIES, KEYS);
    draw_table(e, m);
    lesson_say(e, "Look at d = 1024: unscaled, the softmax gives nearly all its weight to one key "
                  "(an entropy near 0), and its derivative by the scores has all but vanished, so "
                  "nothing is learned through it. Scaled, neither depends on d.");
    draw_curves(e, m);
    lesson_try(
        e, (const char *[]){"explain variance --seed 2", "explain variance --png variance.png"}, 2);
}
