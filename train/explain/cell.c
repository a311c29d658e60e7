/* cell.c -- the computation of one cell of a matrix, written out. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 12 };

/* ---- which cell ---- */

int largest_in_row(const heed_matrix *m, int row) {
    int best = 0;
    for (int j = 1; j < m->cols; j++)
        if (fabs(heed_matrix_at(m, row, j)) > fabs(heed_matrix_at(m, row, best))) best = j;
    return best;
}

/* The row to write out: the given one or, if it is all zeros, that of the largest number. */
static int telling_row(const explaining *e, const heed_matrix *m, int row) {
    double least = 0.5 * pow(10, -matrix_digits(m, e->look.precision));
    int best = row;
    if (fabs(heed_matrix_at(m, row, largest_in_row(m, row))) >= least) return row;
    for (int i = 0; i < m->rows; i++)
        if (fabs(heed_matrix_at(m, i, largest_in_row(m, i))) >
            fabs(heed_matrix_at(m, best, largest_in_row(m, best))))
            best = i;
    return best;
}

/* The query and the key that were asked for, or the example's. The default is the middle query,
 * unless its numbers are zeros, and the key with its largest weight. */
static void pair_of(const explaining *e, int *query, int *key) {
    const worked *w = &e->w;
    const heed_matrix *weights = &w->lesson.part[HEED_LESSON_WEIGHTS];
    *query =
        w->query ? w->query - 1 : telling_row(e, &w->lesson.part[HEED_LESSON_Q], weights->rows / 2);
    *key = w->key ? w->key - 1 : largest_in_row(weights, *query);
    if (e->row) *query = e->row - 1, *key = e->col - 1;
}

bool chosen_cell(const explaining *e, heed_lesson_part part, int *row, int *col) {
    if (e->row && e->part >= 0) {
        *row = e->row - 1, *col = e->col - 1;
        return e->part == (int)part;
    }
    int query, key;
    pair_of(e, &query, &key);
    bool of_keys = part == HEED_LESSON_K || part == HEED_LESSON_V;
    bool of_pairs = part >= HEED_LESSON_RAW && part <= HEED_LESSON_WEIGHTS;
    const heed_matrix *m = &e->w.lesson.part[part];
    *row = of_keys ? key : query;
    if (!of_pairs && !e->row) *row = telling_row(e, m, *row);
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
    double least; /* terms smaller than this are not written out */
} sum_of;

static void put_sum(heed_text *out, const sum_of *s) {
    int shown = 0, small = 0;
    for (int i = 0; i < s->count; i++) {
        double a = s->left[i * s->left_step], b = s->right[i * s->right_step];
        if (a == 0) continue;
        if (shown == MOST_TERMS || fabs(a * b) < s->least) {
            small++;
            continue;
        }
        heed_text_add(out, "%s", shown++ ? " + " : "");
        put_factor(out, a, s->left_digits);
        heed_text_add(out, "·");
        put_factor(out, b, s->right_digits);
    }
    if (small)
        heed_text_add(out, "%s(%d smaller term%s)", shown ? " + " : "", small,
                      small > 1 ? "s" : "");
    if (!shown && !small) heed_text_add(out, "0 (all %d terms are 0)", s->count);
}

static sum_of sum_at(const explaining *e, const dot_product *d, int row, int col) {
    const heed_matrix *a = d->left, *b = d->right;
    bool at = d->how.left_transposed, bt = d->how.right_transposed;
    bool whole = matrix_digits(d->out, 1) == 0;
    return (sum_of){.count = at ? a->rows : a->cols,
                    .left_step = at ? a->cols : 1,
                    .right_step = bt ? 1 : b->cols,
                    .left_digits = matrix_digits(a, e->look.precision),
                    .right_digits = matrix_digits(b, e->look.precision),
                    .least = whole ? 0 : 0.5 * pow(10, -matrix_digits(d->out, e->look.precision)),
                    .left = at ? a->x + row : a->x + (size_t)row * (size_t)a->cols,
                    .right = bt ? b->x + (size_t)col * (size_t)b->cols : b->x + col};
}

static dot_product product_of(const explaining *e, heed_lesson_part part) {
    const heed_matrix *p = e->w.lesson.part;
    heed_lesson_part left = HEED_LESSON_Z, right = HEED_LESSON_W_K;
    if (part == HEED_LESSON_Q) left = HEED_LESSON_X, right = HEED_LESSON_W_Q;
    if (part == HEED_LESSON_V) right = HEED_LESSON_W_V;
    if (part == HEED_LESSON_RAW) left = HEED_LESSON_Q, right = HEED_LESSON_K;
    if (part == HEED_LESSON_OUTPUT) left = HEED_LESSON_WEIGHTS, right = HEED_LESSON_V;
    if (part == HEED_LESSON_SHARE) left = HEED_LESSON_OUTPUT, right = HEED_LESSON_W_H;
    return (dot_product){.left = &p[left],
                         .right = &p[right],
                         .out = &p[part],
                         .how = {.right_transposed = part == HEED_LESSON_RAW}};
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
    if (from != 0) snprintf(shift, sizeof shift, "-%.*f", e->look.precision, from);
    int digits = matrix_digits(m, e->look.precision);
    heed_text_add(out, "exp(%s%s) / sum of exp = ", number_text(text, s, digits), shift);
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
        dot_product d = product_of(e, part);
        s = sum_at(e, &d, row, col);
        put_sum(out, &s);
    }
    double bias = bias_of(e, part, col);
    if (bias == 0 || fabs(bias) < 0.5 * pow(10, -e->look.precision)) return;
    heed_text_add(out, " + ");
    put_factor(out, bias, e->look.precision);
}

void cell_name(const explaining *e, heed_lesson_part part, int row, int col, char *text,
               size_t size) {
    char first[64], second[64];
    short_label(first, row_labels_of(&e->w, part)[row]);
    short_label(second, col_labels_of(&e->w, part)[col]);
    snprintf(text, size, "%s[%s, %s]", worked_view(e, part, false).name,
             e->columns ? second : first, e->columns ? first : second);
}

/* Writes "Q[lion, 2] = 1·0 + 3·2 = 6". */
static void write_line(explaining *e, const char *name, const heed_text *terms, double x,
                       int digits) {
    char text[32];
    draw_words(&e->out, &e->look, "%s = %s = %s", name, terms->s ? terms->s : "",
               number_text(text, x, digits));
}

void write_dot(explaining *e, const char *name, const dot_product *d, int row, int col) {
    heed_text terms = {.c = e->c};
    sum_of s = sum_at(e, d, row, col);
    put_sum(&terms, &s);
    write_line(e, name, &terms, heed_matrix_at(d->out, row, col),
               matrix_digits(d->out, e->look.precision));
    heed_text_free(&terms);
}

/* Writes a weight that has no terms: of a hard selection, or of a row whose keys are all hidden. */
static void write_choice(explaining *e, const char *name, int row, int col) {
    const heed_lesson *l = &e->w.lesson;
    int first, count = heed_lesson_ties(l, row, &first);
    if (!count)
        draw_words(&e->out, &e->look, "%s = 0: all its keys are hidden.", name);
    else if (col == first)
        draw_words(&e->out, &e->look, "%s = 1: the largest of its scores.", name);
    else
        draw_words(&e->out, &e->look, "%s = 0: not the first of its largest scores.", name);
}

void write_cell(explaining *e, heed_lesson_part part, int row, int col) {
    const heed_lesson *l = &e->w.lesson;
    heed_text terms = {.c = e->c};
    char name[256];
    int first;
    cell_name(e, part, row, col, name, sizeof name);
    if (part == HEED_LESSON_WEIGHTS && (l->args.hard || !heed_lesson_ties(l, row, &first))) {
        write_choice(e, name, row, col);
        return;
    }
    put_terms(&terms, e, part, row, col);
    write_line(e, name, &terms, heed_matrix_at(&l->part[part], row, col),
               matrix_digits(&l->part[part], e->look.precision));
    heed_text_free(&terms);
}
