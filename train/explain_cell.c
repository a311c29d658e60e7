/* explain_cell.c -- how one cell of a matrix comes about, written out. */
#include "explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 12 };

/* ---- which cell ---- */

static int largest_in_row(const heed_matrix *m, int row) {
    int best = 0;
    for (int j = 1; j < m->cols; j++)
        if (fabs(heed_matrix_at(m, row, j)) > fabs(heed_matrix_at(m, row, best))) best = j;
    return best;
}

/* The query and the key of the example, or the middle query and the key that it sees most. */
static void pair_of(const worked *w, int *query, int *key) {
    const heed_matrix *weights = &w->lesson.part[HEED_LESSON_WEIGHTS];
    *query = w->query ? w->query - 1 : weights->rows / 2;
    *key = w->key ? w->key - 1 : largest_in_row(weights, *query);
}

bool chosen_cell(const explaining *e, heed_lesson_part part, int *row, int *col) {
    const heed_matrix *m = &e->w.lesson.part[part];
    if (e->row) {
        *row = e->row - 1, *col = e->col - 1;
        return (e->part < 0 || e->part == (int)part) && *row < m->rows && *col < m->cols;
    }
    int query, key;
    pair_of(&e->w, &query, &key);
    bool of_keys = part == HEED_LESSON_K || part == HEED_LESSON_V;
    bool of_pairs = part >= HEED_LESSON_RAW && part <= HEED_LESSON_WEIGHTS;
    *row = of_keys ? key : query;
    *col = of_pairs ? key : largest_in_row(m, *row);
    return true;
}

/* ---- writing it out ---- */

/* A number as a factor: negative ones in brackets. */
static void put_factor(heed_text *out, double x, int digits) {
    char text[32];
    number_text(text, x, digits);
    heed_text_add(out, text[0] == '-' ? "(%s)" : "%s", text);
}

/* One sum of products: left[i] right[i], with the labels of i. */
typedef struct {
    int count, left_step, right_step, left_digits, right_digits;
    const double *left, *right;
    const char *const *labels;
} sum_of;

static void put_sum(heed_text *out, const sum_of *s) {
    int shown = 0, zero = 0, rest = 0;
    for (int i = 0; i < s->count; i++) {
        double a = s->left[i * s->left_step], b = s->right[i * s->right_step];
        if (a == 0) {
            zero++;
            continue;
        }
        if (shown == MOST_TERMS) {
            rest++;
            continue;
        }
        heed_text_add(out, "%s", shown++ ? " + " : "");
        put_factor(out, a, s->left_digits);
        heed_text_add(out, "·");
        put_factor(out, b, s->right_digits);
    }
    if (rest) heed_text_add(out, " + ... (%d more)", rest);
    if (!shown) heed_text_add(out, "0 (all %d terms are 0)", zero);
}

static void product_of(const explaining *e, heed_lesson_part part, int row, int col, sum_of *s) {
    const heed_matrix *p = e->w.lesson.part;
    heed_lesson_part left = HEED_LESSON_Z, right = HEED_LESSON_W_K;
    bool turned = part == HEED_LESSON_RAW;
    if (part == HEED_LESSON_Q) left = HEED_LESSON_X, right = HEED_LESSON_W_Q;
    if (part == HEED_LESSON_V) right = HEED_LESSON_W_V;
    if (part == HEED_LESSON_RAW) left = HEED_LESSON_Q, right = HEED_LESSON_K;
    if (part == HEED_LESSON_OUTPUT) left = HEED_LESSON_WEIGHTS, right = HEED_LESSON_V;
    const heed_matrix *a = &p[left], *b = &p[right];
    *s = (sum_of){.count = a->cols,
                  .left_step = 1,
                  .right_step = turned ? 1 : b->cols,
                  .left_digits = matrix_digits(a, e->look.precision),
                  .right_digits = matrix_digits(b, e->look.precision),
                  .left = a->x + (size_t)row * (size_t)a->cols,
                  .right = turned ? b->x + (size_t)col * (size_t)b->cols : b->x + col};
}

static double bias_of(const explaining *e, heed_lesson_part part, int col) {
    const heed_matrix *p = e->w.lesson.part;
    if (part == HEED_LESSON_Q) return p[HEED_LESSON_B_Q].x[col];
    if (part == HEED_LESSON_K) return p[HEED_LESSON_B_K].x[col];
    return part == HEED_LESSON_V ? p[HEED_LESSON_B_V].x[col] : 0;
}

static void put_weight(heed_text *out, const explaining *e, int row, int col) {
    const heed_lesson *l = &e->w.lesson;
    const heed_matrix *m = &l->part[HEED_LESSON_SCORES];
    double top = -(double)INFINITY, sum = 0, s = heed_matrix_at(m, row, col);
    char text[32], shift[32] = "";
    for (int j = 0; j < m->cols; j++) top = fmax(top, heed_matrix_at(m, row, j));
    double from = fabs(top) > 12 && isfinite(top) ? top : 0;
    for (int j = 0; j < m->cols; j++) sum += exp(heed_matrix_at(m, row, j) - from);
    if (l->args.hard || !isfinite(top)) {
        heed_text_add(out, isinf(top) ? "0: every key of the row is hidden"
                           : heed_matrix_at(&l->part[HEED_LESSON_WEIGHTS], row, col) == 1
                               ? "1: the largest score of the row"
                               : "0: not the first largest score of the row");
        return;
    }
    if (from != 0) snprintf(shift, sizeof shift, "-%.*f", e->look.precision, from);
    int digits = matrix_digits(m, e->look.precision);
    heed_text_add(out, "exp(%s%s) / sum of the row's exp = ", number_text(text, s, digits), shift);
    heed_text_add(out, "%s / ", number_text(text, exp(s - from), e->look.precision));
    heed_text_add(out, "%s", number_text(text, sum, e->look.precision));
}

static void put_terms(heed_text *out, const explaining *e, heed_lesson_part part, int row,
                      int col) {
    char text[32];
    sum_of s;
    if (part == HEED_LESSON_WEIGHTS) {
        put_weight(out, e, row, col);
    } else if (part == HEED_LESSON_SCALED) {
        const heed_matrix *raw = &e->w.lesson.part[HEED_LESSON_RAW];
        heed_text_add(out, "%s·", number_text(text, e->w.lesson.args.beta, 4));
        put_factor(out, heed_matrix_at(raw, row, col), matrix_digits(raw, e->look.precision));
    } else {
        product_of(e, part, row, col, &s);
        put_sum(out, &s);
    }
    double bias = bias_of(e, part, col);
    if (bias == 0) return;
    heed_text_add(out, " + ");
    put_factor(out, bias, e->look.precision);
}

/* A label short enough for a sentence. */
static void put_short(heed_text *out, const char *label) {
    int n = label_columns(label);
    put_label(out, label, n < 20 ? n : 20, false);
}

void write_cell(explaining *e, heed_lesson_part part, int row, int col) {
    const heed_matrix *m = &e->w.lesson.part[part];
    heed_text line = {.c = e->c};
    char text[32];
    int first = e->columns ? col : row, second = e->columns ? row : col;
    const char *const *rows = row_labels_of(&e->w, part), *const *cols = col_labels_of(&e->w, part);
    heed_text_add(&line, "%s[", worked_view(e, part, false).name);
    put_short(&line, e->columns ? cols[first] : rows[first]);
    heed_text_add(&line, ", ");
    put_short(&line, e->columns ? rows[second] : cols[second]);
    heed_text_add(&line, "] = ");
    put_terms(&line, e, part, row, col);
    heed_text_add(
        &line, " = %s",
        number_text(text, heed_matrix_at(m, row, col), matrix_digits(m, e->look.precision)));
    if (line.s) draw_words(&e->out, &e->look, "%s", line.s);
    heed_text_free(&line);
}
