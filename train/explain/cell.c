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

static double largest_of(const heed_matrix *m, int row) {
    return fabs(heed_matrix_at(m, row, largest_in_row(m, row)));
}

int largest_row(const heed_matrix *m) {
    int best = 0;
    for (int i = 1; i < m->rows; i++)
        if (largest_of(m, i) > largest_of(m, best)) best = i;
    return best;
}

/* The row to write out: the given one or, if it is all zeros, that of the largest number. */
static int row_of_numbers(const explaining *e, const heed_matrix *m, int row) {
    double least = 0.5 * pow(10, -matrix_digits(m, e->look.precision));
    int best = largest_row(m);
    return largest_of(m, row) < least && largest_of(m, best) > largest_of(m, row) ? best : row;
}

/* The query and the key are those asked for, or the example's. The default is the middle query,
 * unless its numbers are zeros, and the key with its largest weight. */
bool chosen_cell(const explaining *e, heed_lesson_part part, int *row, int *col) {
    const worked *w = &e->w;
    const heed_matrix *p = w->lesson.part, *m = &p[part], *weights = &p[HEED_LESSON_WEIGHTS];
    int query = e->row - 1, key = e->col - 1;
    if (e->row && e->part >= 0) {
        *row = query, *col = key;
        return e->part == (int)part;
    }
    if (!e->row) {
        query = w->query ? w->query - 1 : row_of_numbers(e, &p[HEED_LESSON_Q], weights->rows / 2);
        key = w->key ? w->key - 1 : largest_in_row(weights, query);
    }
    bool of_keys = part == HEED_LESSON_K || part == HEED_LESSON_V || part == HEED_LESSON_K_R;
    bool of_pairs = part >= HEED_LESSON_RAW && part <= HEED_LESSON_WEIGHTS;
    *row = of_keys ? key : query;
    if (!of_pairs && !e->row) *row = row_of_numbers(e, m, *row);
    *col = of_pairs ? key : largest_in_row(m, *row);
    return true;
}

/* ---- writing it out ---- */

/* Each of these returns what the numbers give as they are shown, rounded. */

/* A number as a factor: negative ones in brackets. */
static double put_factor(heed_text *out, double x, int digits) {
    char text[32];
    number_text(text, x, digits);
    heed_text_add(out, text[0] == '-' ? "(%s)" : "%s", text);
    return strtod(text, NULL);
}

typedef struct {
    double x, y;
} product;

static product term_of(const dot_product *d, int row, int col, int i) {
    bool at = d->how.left_transposed, bt = d->how.right_transposed;
    return (product){.x = at ? heed_matrix_at(d->left, i, row) : heed_matrix_at(d->left, row, i),
                     .y = bt ? heed_matrix_at(d->right, col, i) : heed_matrix_at(d->right, i, col)};
}

/* Whether term i is one of the largest MOST_TERMS; of equal ones the first are. */
static bool is_large(const dot_product *d, int row, int col, int i, int count) {
    product term = term_of(d, row, col, i);
    int before = 0;
    for (int j = 0; j < count && before < MOST_TERMS; j++) {
        product other = term_of(d, row, col, j);
        double more = fabs(other.x * other.y) - fabs(term.x * term.y);
        before += more > 0 || (more == 0 && j < i && other.x != 0);
    }
    return before < MOST_TERMS;
}

/* Writes the largest terms of a sum of products that can be seen in the result. */
static double put_sum(heed_text *out, const explaining *e, const dot_product *d, int row, int col) {
    const heed_matrix *a = d->left, *b = d->right;
    int shown = 0, small = 0, count = d->how.left_transposed ? a->rows : a->cols;
    int precision = e->look.precision;
    bool whole = matrix_digits(d->out, 1) == 0;
    double least = whole ? 0 : 0.5 * pow(10, -matrix_digits(d->out, precision)), sum = 0;
    for (int i = 0; i < count; i++) {
        double x = term_of(d, row, col, i).x, y = term_of(d, row, col, i).y;
        if (x == 0) continue;
        if (fabs(x * y) < least || !is_large(d, row, col, i, count)) {
            small++;
            sum += x * y;
            continue;
        }
        heed_text_add(out, "%s", shown++ ? " + " : "");
        double shown_x = put_factor(out, x, matrix_digits(a, precision));
        heed_text_add(out, "·");
        sum += shown_x * put_factor(out, y, matrix_digits(b, precision));
    }
    if (small)
        heed_text_add(out, "%s(%d smaller term%s)", shown ? " + " : "", small,
                      small > 1 ? "s" : "");
    if (!shown && !small) heed_text_add(out, "0 (all %d terms are 0)", count);
    return sum;
}

static double put_weight(heed_text *out, const explaining *e, int row, int col) {
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
    double part = put_factor(out, exp(s - from), e->look.precision);
    heed_text_add(out, " / ");
    return part / put_factor(out, sum, e->look.precision);
}

/* The two numbers of a pair, of which the rotated one is made. */
static double put_rotation(heed_text *out, const explaining *e, heed_lesson_part part, int row,
                           int col) {
    const heed_lesson *l = &e->w.lesson;
    const heed_matrix *m = &l->part[part == HEED_LESSON_Q_R ? HEED_LESSON_Q : HEED_LESSON_K];
    int half = m->cols / 2, i = col % half, digits = matrix_digits(m, e->look.precision);
    char angle[32];
    number_text(angle, row * pow(l->args.rotary, -2.0 * i / m->cols), 4);
    double turn = strtod(angle, NULL), x = put_factor(out, heed_matrix_at(m, row, col), digits);
    heed_text_add(out, "·cos(%s) %c ", angle, col < half ? '-' : '+');
    double y = put_factor(out, heed_matrix_at(m, row, (col + half) % m->cols), digits);
    heed_text_add(out, "·sin(%s)", angle);
    return x * cos(turn) + (col < half ? -y : y) * sin(turn);
}

static double put_terms(heed_text *out, const explaining *e, heed_lesson_part part, int row,
                        int col) {
    const heed_matrix *p = e->w.lesson.part, *raw = &p[HEED_LESSON_RAW];
    char text[32];
    double sum;
    if (part == HEED_LESSON_WEIGHTS) {
        sum = put_weight(out, e, row, col);
    } else if (part == HEED_LESSON_SCALED) {
        heed_text_add(out, "%s·", number_text(text, e->w.lesson.args.beta, 4));
        sum = strtod(text, NULL) *
              put_factor(out, heed_matrix_at(raw, row, col), matrix_digits(raw, e->look.precision));
    } else if (part == HEED_LESSON_Q_R || part == HEED_LESSON_K_R) {
        sum = put_rotation(out, e, part, row, col);
    } else {
        heed_lesson_part left, right;
        factors_of(&e->w, part, &left, &right);
        sum = put_sum(
            out, e,
            &(dot_product){
                &p[left], &p[right], &p[part], {.right_transposed = part == HEED_LESSON_RAW}},
            row, col);
    }
    double bias = bias_of(part) ? p[bias_of(part)].x[col] : 0;
    if (bias == 0 || fabs(bias) < 0.5 * pow(10, -e->look.precision)) return sum + bias;
    heed_text_add(out, " + ");
    return sum + put_factor(out, bias, e->look.precision);
}

void cell_name(const explaining *e, heed_lesson_part part, int row, int col, char *text,
               size_t size) {
    char first[64], second[64];
    short_label(first, row_labels_of(&e->w, part)[row]);
    short_label(second, col_labels_of(&e->w, part)[col]);
    snprintf(text, size, "%s[%s, %s]", worked_view(e, part, false).name,
             e->columns ? second : first, e->columns ? first : second);
}

/* Writes "Q[lion, 2] = 1·0 + 3·2 = 6"; "≈ 6.01" if the rounded terms, which give `sum`, do not. */
static void write_line(explaining *e, const char *name, const heed_text *terms, double sum,
                       const heed_matrix *m, int row, int col) {
    char text[32], shown[32], given[32];
    double x = heed_matrix_at(m, row, col);
    int digits = matrix_digits(m, e->look.precision), fine = digits ? digits : e->look.precision;
    bool same = strcmp(number_text(shown, x, fine), number_text(given, sum, fine)) == 0;
    put_words(e, "%s = %s %s %s", name, terms->s ? terms->s : "", same ? "=" : "≈",
              number_text(text, x, digits));
}

void write_dot(explaining *e, const char *name, const dot_product *d, int row, int col) {
    heed_text terms = {.c = e->c};
    double sum = put_sum(&terms, e, d, row, col);
    write_line(e, name, &terms, sum, d->out, row, col);
    heed_text_free(&terms);
}

void write_cell(explaining *e, heed_lesson_part part, int row, int col) {
    const heed_lesson *l = &e->w.lesson;
    heed_text terms = {.c = e->c};
    char name[256];
    bool weight = part == HEED_LESSON_WEIGHTS;
    int first = 0, count = weight ? heed_lesson_ties(l, row, &first) : 0;
    cell_name(e, part, row, col, name, sizeof name);
    if (weight && !count)
        put_words(e, "%s = 0: all its keys are hidden.", name);
    else if (weight && l->args.hard)
        put_words(e, "%s = %s.", name,
                  col == first ? "1: the largest of its scores"
                               : "0: not the first of its largest scores");
    else {
        double sum = put_terms(&terms, e, part, row, col);
        write_line(e, name, &terms, sum, &l->part[part], row, col);
    }
    heed_text_free(&terms);
}
