/* removed.c -- what would change without a step: the head is computed again without it. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cell of a part that differs most between two heads. */
static double most_changed(const heed_lesson *a, const heed_lesson *b, heed_lesson_part part,
                           int *row, int *col) {
    const heed_matrix *m = &a->part[part], *n = &b->part[part];
    double most = -1;
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++) {
            double d = fabs(heed_matrix_at(m, i, j) - heed_matrix_at(n, i, j));
            if (d > most) most = d, *row = i, *col = j;
        }
    return most;
}

/* Writes a change: "in to lion from 0.58 to 0.84". */
static void write_change(explaining *e, const heed_lesson *other, const char *lead) {
    int row = 0, col = 0;
    const heed_lesson *l = &e->w.lesson;
    char before[32], after[32], from[64], to[64];
    int digits = e->look.precision > 1 ? e->look.precision : 2;
    double most = most_changed(l, other, HEED_LESSON_WEIGHTS, &row, &col);
    if (most < 0.5 * pow(10, -digits)) {
        draw_aside(&e->out, &e->look, "%s the weights would be the same here.", lead);
        return;
    }
    number_text(before, heed_matrix_at(&l->part[HEED_LESSON_WEIGHTS], row, col), digits);
    number_text(after, heed_matrix_at(&other->part[HEED_LESSON_WEIGHTS], row, col), digits);
    short_label(from, e->w.tokens[row]);
    short_label(to, e->w.sources[col]);
    draw_aside(&e->out, &e->look, "%s the weight of \"%s\" on \"%s\" would be %s instead of %s.",
               lead, from, to, after, before);
}

void without_scale(explaining *e) {
    heed_lesson other;
    heed_lesson_args a = e->w.lesson.args;
    char lead[96];
    double usual = 1 / sqrt(a.key);
    a.beta = fabs(a.beta - 1) < 1e-12 ? usual : 1;
    if (a.beta == 1)
        snprintf(lead, sizeof lead, "Without this line (--no-scale)");
    else
        snprintf(lead, sizeof lead, "With beta = 1/sqrt(%d) = %.4g", a.key, usual);
    if (heed_lesson_make(e->c, &a, &other)) write_change(e, &other, lead);
    heed_lesson_free(&other);
}

void without_mask(explaining *e) {
    heed_lesson other;
    heed_lesson_args a = e->w.lesson.args;
    a.causal = false, a.hide = NULL;
    if (heed_lesson_make(e->c, &a, &other))
        write_change(e, &other, "Without this line (--no-mask)");
    heed_lesson_free(&other);
}

void without_softness(explaining *e) {
    heed_lesson other;
    heed_lesson_args a = e->w.lesson.args;
    a.hard = !a.hard;
    const char *lead = a.hard ? "With all weight on the largest score (--hard)" : "With softmax";
    if (heed_lesson_make(e->c, &a, &other)) write_change(e, &other, lead);
    heed_lesson_free(&other);
}

/* Uses the first query whose weights are informative: neither all on one key nor all equal. */
void without_values(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    draw_aside(&e->out, &e->look,
               "Without this line a token would pass on its own %d numbers, all that it is, "
               "instead of these %d.",
               a->memory, a->value);
}

void without_projections(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    if (!e->w.lesson.self || a->features != a->memory) return;
    draw_aside(&e->out, &e->look,
               "Without W_Q and W_K the scores would be %s: every token would look for what "
               "resembles itself, and i would mean to j what j means to i.",
               e->columns ? "X' X" : "X X'");
}

/* ---- ties ---- */

/* A character for each cell: '*' is chosen by a hard selection, '=' ties with it. The caller frees
 * it; NULL: there are none. */
char *tie_marks(const explaining *e) {
    const heed_lesson *l = &e->w.lesson;
    const heed_matrix *m = &l->part[HEED_LESSON_SCORES];
    char *marks = malloc((size_t)m->rows * (size_t)m->cols);
    for (int i = 0; marks && i < m->rows; i++) {
        int first, count = heed_lesson_ties(l, i, &first);
        double top = heed_matrix_at(m, i, first);
        for (int j = 0; j < m->cols; j++) {
            bool tie = count && heed_matrix_at(m, i, j) == top;
            marks[i * m->cols + j] = j == first && count ? '*' : tie ? '=' : ' ';
        }
    }
    return marks;
}

void write_ties(explaining *e) {
    const heed_lesson *l = &e->w.lesson;
    heed_text list = {.c = e->c};
    for (int i = 0; i < l->args.tokens; i++) {
        int first, count = heed_lesson_ties(l, i, &first);
        char token[64], key[64];
        if (count < 2) continue;
        heed_text_add(&list, "%s%s (%d keys, first %s)", list.n ? ", " : "",
                      short_label(token, e->w.tokens[i]), count,
                      short_label(key, e->w.sources[first]));
    }
    if (list.n)
        draw_words(&e->out, &e->look,
                   "* is chosen, = ties with it: the first of equal scores wins. Ties in the %s "
                   "of: %s.",
                   e->columns ? "columns" : "rows", list.s);
    else
        draw_words(&e->out, &e->look, "* is chosen; no two keys tie.");
    heed_text_free(&list);
}
