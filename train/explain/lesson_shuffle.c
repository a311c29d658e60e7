/* lesson_shuffle.c -- permutation equivariance: shuffle the words, and the output is shuffled the
 * same way, f(s(x)) = s(f(x)); with positions or a causal mask it is not. */
#include "explain/lesson.h"

#include "explain/hungry_lion.h"

#include <math.h>
#include <string.h>

enum { CASES = 3, X_SIZE = LION_TOKENS * LION_FEATURES };
static const char *const names[CASES] = {"as it is", "positions", "causal mask"};

/* Largest differences between f(s(x)) and s(f(x)). */
typedef struct {
    double scores, weights, output;
} gaps;

static heed_lesson_args lion(const double *x, bool causal) {
    return (heed_lesson_args){.tokens = LION_TOKENS,
                              .features = LION_FEATURES,
                              .key = LION_KEY,
                              .value = LION_VALUE,
                              .x = x,
                              .w_q = lion_w_q,
                              .w_k = lion_w_k,
                              .w_v = lion_w_v,
                              .beta = (double)NAN,
                              .causal = causal};
}

/* Row i of out is row order[i] of x; positions: adds a number that grows with i. */
static void order_rows(const double *x, const int *order, bool positions, double *out) {
    for (int i = 0; i < LION_TOKENS; i++)
        for (int k = 0; k < LION_FEATURES; k++)
            out[i * LION_FEATURES + k] =
                x[order[i] * LION_FEATURES + k] + (positions ? 0.1 * i : 0);
}

static double gap(const heed_matrix *moved, const heed_matrix *plain, const int *order, bool both) {
    double worst = 0;
    for (int i = 0; i < moved->rows; i++)
        for (int j = 0; j < moved->cols; j++) {
            double a = heed_matrix_at(moved, i, j);
            double b = heed_matrix_at(plain, order[i], both ? order[j] : j);
            if (a != b) worst = fmax(worst, isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY);
        }
    return worst;
}

/* f(x) and f(s(x)); both must be freed, also after a failure. */
typedef struct {
    heed_lesson plain, moved;
} both;

static void close_both(both *b) {
    heed_lesson_free(&b->plain);
    heed_lesson_free(&b->moved);
}

static bool open_both(explaining *e, const int *order, bool positions, bool causal, both *out) {
    int same[LION_TOKENS];
    double x[X_SIZE], moved[X_SIZE];
    for (int i = 0; i < LION_TOKENS; i++) same[i] = i;
    order_rows(lion_x, same, positions, x);
    order_rows(lion_x, order, positions, moved);
    heed_lesson_args a = lion(x, causal), b = lion(moved, causal);
    *out = (both){.plain = {.self = true}};
    return heed_lesson_make(e->c, &a, &out->plain) && heed_lesson_make(e->c, &b, &out->moved);
}

static bool compare(explaining *e, const int *order, bool positions, bool causal, gaps *g) {
    both b;
    bool ok = open_both(e, order, positions, causal, &b);
    if (ok) {
        const heed_matrix *p = b.plain.part, *m = b.moved.part;
        g->scores = gap(&m[HEED_LESSON_SCORES], &p[HEED_LESSON_SCORES], order, true);
        g->weights = gap(&m[HEED_LESSON_WEIGHTS], &p[HEED_LESSON_WEIGHTS], order, true);
        g->output = gap(&m[HEED_LESSON_OUTPUT], &p[HEED_LESSON_OUTPUT], order, false);
    }
    close_both(&b);
    return ok;
}

static json_t *as_json(const int *order, const gaps *g) {
    json_t *places = json_array(), *cases = json_array();
    for (int i = 0; i < LION_TOKENS; i++) json_array_append_new(places, json_integer(order[i]));
    for (int i = 0; i < CASES; i++)
        json_array_append_new(cases, json_pack("{s:s, s:o, s:o, s:o}", "name", names[i], "scores",
                                               json_number(g[i].scores), "weights",
                                               json_number(g[i].weights), "output",
                                               json_number(g[i].output)));
    return json_pack("{s:s, s:o, s:o}", "example", "shuffle", "order", places, "cases", cases);
}

static void draw_words_in(explaining *e, const int *order) {
    heed_text line = {.c = e->c};
    for (int i = 0; i < LION_TOKENS; i++)
        heed_text_add(&line, "%s%s", i ? " " : "", lion_tokens[order[i]]);
    if (line.s) lesson_say(e, "%s", line.s);
    heed_text_free(&line);
}

/* Draws the word's output at its old place and at its new place. */
static bool draw_outputs(explaining *e, const int *order) {
    both b;
    bool ok = open_both(e, order, false, false, &b);
    const char *labels[LION_TOKENS];
    for (int i = 0; i < LION_TOKENS; i++) labels[i] = lion_tokens[order[i]];
    if (ok) {
        matrix_view v[2] = {
            {.name = "f(x)", .m = &b.plain.part[HEED_LESSON_OUTPUT], .row_labels = lion_tokens},
            {.name = "f(s(x))", .m = &b.moved.part[HEED_LESSON_OUTPUT], .row_labels = labels}};
        draw_equation(&e->out, &e->look, 2, v, (const char *[]){"", "    "});
        heed_text_put(&e->out, "\n", 1);
    }
    close_both(&b);
    return ok;
}

static void draw_gaps(explaining *e, const gaps *g) {
    heed_text_add(&e->out, "  largest |f(s(x)) - s(f(x))| of\n  %-11s %8s %8s %8s\n", "", "scores",
                  "weights", "output");
    for (int i = 0; i < CASES; i++)
        heed_text_add(&e->out, "  %-11s %8.1g %8.1g %8.1g\n", names[i], g[i].scores, g[i].weights,
                      g[i].output);
    heed_text_put(&e->out, "\n", 1);
}

void explain_shuffle(explaining *e) {
    heed_random r = heed_random_at(e->seed, "explain.shuffle", 0, 0);
    int order[LION_TOKENS];
    gaps g[CASES];
    for (int i = 0; i < LION_TOKENS; i++)
        order[i] = (int)heed_random_permute(&r, (uint64_t)i, LION_TOKENS);
    if (!compare(e, order, false, false, &g[0]) || !compare(e, order, true, false, &g[1]) ||
        !compare(e, order, false, true, &g[2]))
        return;
    if (lesson_json(e, as_json(order, g))) return;
    draw_heading(&e->out, &e->look, "Attention knows no order");
    lesson_say(e, "The words of the hungry lion, shuffled by a permutation s (another --seed, "
                  "another order):");
    draw_words_in(e, order);
    if (!draw_outputs(e, order)) return;
    lesson_say(e, "Look at any word: its output moved with it and has not changed, f(s(x)) = "
                  "s(f(x)). Scores are equal to the last bit; weights and outputs to the rounding "
                  "of sums whose terms come in another order. A position added to each word, or a "
                  "causal mask, ends that: then the order counts.");
    draw_gaps(e, g);
    draw_aside(&e->out, &e->look, "inf: a score that the mask hides in one of the two alone");
    heed_text_put(&e->out, "\n", 1);
    lesson_try(e, (const char *[]){"explain shuffle --seed 7", "explain lion --html lion.html"}, 2);
}
