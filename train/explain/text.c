/* text.c -- a list of steps on the terminal, where --step asks the reader for numbers, and as JSON;
 * and a cell that is a sum of products, written out. */
#include "cli/os_files.h"
#include "explain/explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static void gap(explaining *e) { heed_text_put(&e->out, "\n", 1); }

static void paragraph(explaining *e, words_style how, const char *words) {
    if (!words) return;
    draw_words(&e->out, &e->look, how, words);
    if (how != HEADING) gap(e);
}

void put_words(explaining *e, const char *format, ...) {
    char words[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    draw_words(&e->out, &e->look, PLAIN_WORDS, words);
}

/* Copies a command's next word, or a flag with its value, to words; returns the rest. */
static const char *next_words(const char *s, char words[128]) {
    size_t n = strcspn(s, " \n");
    if (*s == '-' && s[n] == ' ' && s[n + 1] != '-') n += 1 + strcspn(s + n + 1, " \n");
    snprintf(words, 128, "%.*s", (int)n, s);
    return s + n + (s[n] == ' ');
}

static void put_commands(explaining *e, const char *commands) {
    char words[128];
    for (const char *s = commands; *s; s += *s == '\n') {
        heed_text_add(&e->out, s > commands ? "    " : "try:");
        add_typed(&e->out, e->look.width, program_name());
        while (*s && *s != '\n') {
            s = next_words(s, words);
            add_typed(&e->out, e->look.width, words);
        }
        gap(e);
    }
}

/* ---- a cell written out ---- */

enum { MOST_TERMS = 12 };

int largest_in_row(const heed_matrix *m, int row) {
    int best = 0;
    for (int j = 1; j < m->cols; j++)
        if (fabs(heed_matrix_at(m, row, j)) > fabs(heed_matrix_at(m, row, best))) best = j;
    return best;
}

int largest_row(const heed_matrix *m) {
    int best = 0;
    double most = -1;
    for (int i = 0; i < m->rows; i++) {
        double x = fabs(heed_matrix_at(m, i, largest_in_row(m, i)));
        if (x > most) most = x, best = i;
    }
    return best;
}

const char *cell_name(explaining *e, const matrix_view *v, int row, int col) {
    char first[64], second[64];
    short_label(first, v->row_labels ? v->row_labels[row] : text_of(e, "%d", row + 1));
    short_label(second, v->col_labels ? v->col_labels[col] : text_of(e, "%d", col + 1));
    bool one = rows_of(v) == 1 && !v->row_labels;
    return text_of(e, "%s[%s%s%s]", v->name, one ? "" : first, one ? "" : ", ", second);
}

/* Appends a number as a factor, negative ones in brackets, and returns what it is as shown. */
static double put_factor(heed_text *out, const matrix_view *v, int row, int col, int precision) {
    char text[32];
    number_text(text, view_at(v, row, col), view_digits(v, precision));
    heed_text_add(out, text[0] == '-' ? "(%s)" : "%s", text);
    return strtod(text, NULL);
}

static double term_of(const lesson_step *s, int i) {
    return view_at(&s->view[0], s->row, i) * view_at(&s->view[1], i, s->col);
}

/* Whether term i is one of the largest MOST_TERMS; of equal ones the first are. */
static bool is_large(const lesson_step *s, int i, int count) {
    int before = 0;
    for (int j = 0; j < count && before < MOST_TERMS; j++) {
        double more = fabs(term_of(s, j)) - fabs(term_of(s, i));
        before += more > 0 || (more == 0 && j < i && term_of(s, j) != 0);
    }
    return before < MOST_TERMS;
}

static bool is_product(const lesson_step *s) {
    return s->count > 2 && strcmp(s->view[1].sign, "·") == 0 &&
           strcmp(s->view[s->count - 1].sign, "=") == 0;
}

/* Writes the largest terms of a sum of products that can be seen in the result. */
static double put_sum(heed_text *out, explaining *e, const lesson_step *s) {
    const matrix_view *a = &s->view[0], *b = &s->view[1], *y = &s->view[s->count - 1];
    int shown = 0, small = 0, count = cols_of(a), precision = e->look.precision;
    double least = matrix_digits(&y->m, 1) ? 0.5 * pow(10, -view_digits(y, precision)) : 0, sum = 0;
    for (int i = 0; i < count; i++) {
        if (view_at(e->columns ? b : a, e->columns ? i : s->row, e->columns ? s->col : i) == 0)
            continue;
        if (fabs(term_of(s, i)) < least || !is_large(s, i, count)) {
            small++;
            sum += term_of(s, i);
            continue;
        }
        /* a token's number stands first in either notation */
        heed_text_add(out, "%s", shown++ ? " + " : "");
        double first = e->columns ? put_factor(out, b, i, s->col, precision)
                                  : put_factor(out, a, s->row, i, precision);
        heed_text_add(out, "·");
        sum += first * (e->columns ? put_factor(out, a, s->row, i, precision)
                                   : put_factor(out, b, i, s->col, precision));
    }
    if (small)
        heed_text_add(out, "%s(%d smaller term%s)", shown ? " + " : "", small,
                      small > 1 ? "s" : "");
    if (!shown && !small) heed_text_add(out, "0 (all %d terms are 0)", count);
    return sum;
}

const char *written_line(explaining *e, const matrix_view *v, int row, int col, const char *terms,
                         double sum) {
    char text[32], shown[32], given[32];
    double x = view_at(v, row, col);
    int digits = view_digits(v, e->look.precision), fine = digits ? digits : e->look.precision;
    bool same = strcmp(number_text(shown, x, fine), number_text(given, sum, fine)) == 0;
    return text_of(e, "%s = %s %s %s", cell_name(e, v, row, col), terms, same ? "=" : "≈",
                   number_text(text, x, digits));
}

const char *written_cell(explaining *e, const lesson_step *s) {
    if (s->cell || s->row < 0 || !is_product(s)) return s->cell;
    heed_text terms = {.c = e->c};
    double sum = put_sum(&terms, e, s);
    if (s->count > 3) {
        const matrix_view *bias = &s->view[2];
        int row = rows_of(bias) > 1 ? s->row : 0, col = cols_of(bias) > 1 ? s->col : 0;
        if (fabs(view_at(bias, row, col)) >= 0.5 * pow(10, -e->look.precision)) {
            heed_text_add(&terms, " + ");
            sum += put_factor(&terms, bias, row, col, e->look.precision);
        } else
            sum += view_at(bias, row, col);
    }
    const char *line = written_line(e, &s->view[s->count - 1], s->row, s->col, terms.s, sum);
    heed_text_free(&terms);
    return line;
}

/* ---- --step ---- */

/* Shows what was written so far and returns the line typed, or "" at the end of the input, after
 * which nothing more is asked. */
static const char *read_answer(explaining *e) {
    heed_text line = {.c = e->c};
    print_text(&e->out);
    fflush(stdout);
    e->step = read_stdin_line(e->c, &line);
    if (!is_terminal(stdin)) gap(e);
    const char *answer = text_of(e, "%s", e->step ? line.s : "");
    heed_text_free(&line);
    if (strcmp(answer, "q") == 0) e->step = false;
    return answer;
}

/* A number as people type it, with a point or a comma. */
static bool read_number(const char *text, double *x) {
    char number[64], *comma, *end;
    snprintf(number, sizeof number, "%s", text);
    if ((comma = strchr(number, ',')) != NULL) *comma = '.';
    *x = strtod(number, &end);
    while (*end == ' ' || *end == '\t') end++;
    return end != number && !*end;
}

/* Reports whether the number typed is that of the cell, to the digits shown. */
static void ask(explaining *e, const matrix_view *v, int row, int col) {
    double guess;
    char shown[32], guessed[32];
    int digits = view_digits(v, e->look.precision);
    const char *name = cell_name(e, v, row, col);
    heed_text_add(&e->out, "What is %s", name);
    if (digits) heed_text_add(&e->out, ", to %d digits", digits);
    heed_text_add(&e->out, "? ");
    const char *line = read_answer(e);
    number_text(shown, view_at(v, row, col), digits);
    if (!line[strspn(line, " \t\r")] || !e->step) return;
    if (!read_number(line, &guess)) {
        put_words(e, "That is not a number: %s is %s.", name, shown);
        return;
    }
    bool right = strcmp(number_text(guessed, guess, digits), shown) == 0;
    e->asked++;
    e->right += right;
    put_words(e, "%s: %s is %s.", right ? "Right" : "Not this time", name, shown);
}

/* ---- the list ---- */

static bool is_large_map(const matrix_view *v) { return v->heat && rows_of(v) * cols_of(v) >= 144; }

static void draw_map(explaining *e, const matrix_view *v) {
    int n = v->m.rows * v->m.cols;
    heed_real *share = keep(e, malloc((size_t)n * sizeof *share));
    double top = 0;
    for (int i = 0; i < n; i++) top = fmax(top, v->m.x[i]);
    for (int i = 0; i < n; i++) share[i] = (heed_real)(v->m.x[i] / (v->pixels ? 1 : top));
    heed_heatmap_text(
        &(heed_heatmap){.title = v->name,
                        .rows = v->m.rows,
                        .cols = v->m.cols,
                        .values = share,
                        .row_labels = v->row_labels,
                        .col_labels = v->col_labels,
                        .hi = 1,
                        .unit = v->pixels ? "brightness, percent" : "percent of the largest",
                        .percent = true,
                        .terminal = terminal_kind(stdout),
                        .width = e->look.width},
        &e->out);
}

/* Draws those of the matrices that are not drawn above. */
static void draw_views(explaining *e, const matrix_view *v, int count, bool all) {
    matrix_view drawn[STEP_VIEWS];
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (v[i].seen && !all) continue;
        if (is_large_map(&v[i])) {
            draw_map(e, &v[i]);
            gap(e);
        } else
            drawn[n++] = v[i];
    }
    if (!n) return;
    if (!drawn[0].sign || count == 1 || n < count) drawn[0].sign = "";
    draw_equation(&e->out, &e->look, n, drawn);
    gap(e);
}

static void highlight(lesson_step *s) {
    matrix_view *y = &s->view[s->count - 1];
    if (s->row < 0 || !s->count) return;
    y->row = s->row + 1, y->col = s->col + 1;
    if (is_product(s)) s->view[0].row = s->row + 1, s->view[1].col = s->col + 1;
}

/* Returns whether a number was asked for. */
static bool draw_step(explaining *e, lesson_step *s) {
    bool asks = e->step && s->count && s->formula && !e->sheet;
    matrix_view *y = s->count ? &s->view[s->count - 1] : NULL;
    if (asks && s->row < 0) { /* any cell that says something */
        s->row = rows_of(y) / 2;
        for (int j = s->col = 0; j < cols_of(y); j++)
            if (fabs(view_at(y, s->row, j)) > fabs(view_at(y, s->row, s->col))) s->col = j;
    }
    asks = asks && isfinite(view_at(y, s->row, s->col)) && !y->brief;
    highlight(s);
    if (!e->sheet) paragraph(e, PLAIN_WORDS, s->words);
    paragraph(e, PLAIN_WORDS, s->now);
    if (asks) {
        draw_views(e, s->view, s->count - 1, true);
        ask(e, y, s->row, s->col);
        gap(e);
        y->sign = "";
        draw_views(e, y, 1, false);
    } else
        draw_views(e, s->view, s->count, false);
    if (e->sheet) return false;
    paragraph(e, PLAIN_WORDS, written_cell(e, s));
    paragraph(e, PLAIN_WORDS, s->after);
    paragraph(e, DIM_WORDS, s->aside);
    if (s->chart) {
        int width = e->look.width - heed_label_columns(s->chart->x_label) - 2;
        heed_chart_text(s->chart, width < 24 ? 24 : width, 14, e->look.color, &e->out);
        gap(e);
    }
    return asks;
}

void list_text(explaining *e) {
    bool asked = true;
    int number = 0;
    paragraph(e, HEADING, e->title);
    paragraph(e, PLAIN_WORDS, e->words);
    for (int i = 0; i < e->count; i++) {
        lesson_step *s = &e->list[i];
        if (s->title && !asked && e->step) {
            heed_text_add(&e->out, "(Enter continues, q shows the rest) ");
            read_answer(e);
        }
        if (s->title) {
            paragraph(e, HEADING,
                      text_of(e, "%d. %s%s%s", ++number, s->title, s->formula ? ": " : "",
                              s->formula ? s->formula : ""));
            asked = false;
        }
        asked |= draw_step(e, s);
    }
    if (e->asked) put_words(e, "%d of %d predictions were right.", e->right, e->asked);
    if (e->commands) put_commands(e, e->commands);
    while (e->out.n > 1 && e->out.s[e->out.n - 2] == '\n') e->out.s[--e->out.n] = 0;
}

/* ---- JSON ---- */

json_t *rows_json(const double *x, int rows, int cols) {
    json_t *list = json_array(), *row = NULL;
    for (int i = 0; i < rows * cols; i++) {
        if (i % cols == 0) json_array_append_new(list, row = json_array());
        json_array_append_new(row, json_number(x[i]));
    }
    return list;
}

json_t *matrix_json(const heed_matrix *m) { return rows_json(m->x, m->rows, m->cols); }

json_t *labels_json(const char *const *labels, int count) {
    json_t *list = labels ? json_array() : NULL;
    for (int i = 0; labels && i < count; i++) json_array_append_new(list, json_text(labels[i]));
    return list;
}

/* A step, with those that go on with it: its matrices and their labels under their names. */
static json_t *step_json(const lesson_step *s, const lesson_step *end) {
    const lesson_step *first = s;
    json_t *matrices = json_object(), *rows = json_object(), *columns = json_object();
    do {
        for (const matrix_view *v = s->view; v < s->view + s->count; v++) {
            const char *key = v->key ? v->key : v->name;
            if (v->seen) continue;
            json_object_set_new(matrices, key, matrix_json(&v->m));
            json_t *down = labels_json(v->transposed ? v->col_labels : v->row_labels, v->m.rows);
            json_t *across = labels_json(v->transposed ? v->row_labels : v->col_labels, v->m.cols);
            if (down) json_object_set_new(rows, key, down);
            if (across) json_object_set_new(columns, key, across);
        }
    } while (++s < end && !s->title);
    return json_pack("{s:s*, s:s*, s:o, s:o, s:o}", "title", first->title, "formula",
                     first->formula, "matrices", matrices, "rows", rows, "columns", columns);
}

json_t *list_json(const explaining *e) {
    json_t *list = json_array();
    for (const lesson_step *s = e->list, *end = s + e->count; s < end; s++)
        if (s->title || s == e->list) json_array_append_new(list, step_json(s, end));
    return list;
}

/* The weights of attention that a list without a head shows, (heads, queries, keys), as a viewer
 * reads them: the pictures of the first step that has some. Nothing for other lists. */
void put_weights_json(const explaining *e, json_t *o) {
    if (!e->unit || strcmp(e->unit, "weight") != 0) return;
    for (const lesson_step *s = e->list; s < e->list + e->count; s++) {
        json_t *heads = json_array();
        const matrix_view *first = NULL;
        for (const matrix_view *v = s->view; v < s->view + s->count; v++) {
            if (!v->picture || !v->row_labels || !v->col_labels) continue;
            if (!first) first = v;
            if (v->m.rows == first->m.rows && v->m.cols == first->m.cols)
                json_array_append_new(heads, matrix_json(&v->m));
        }
        if (first) {
            json_object_set_new(o, "tokens", labels_json(first->row_labels, first->m.rows));
            if (first->col_labels != first->row_labels)
                json_object_set_new(o, "sources", labels_json(first->col_labels, first->m.cols));
            json_object_set(o, "weights", heads);
        }
        json_decref(heads);
        if (first) return;
    }
}

void print_exact(explaining *e, json_t *v) {
    if (!write_json(stdout, v, 17)) heed_fail(e->c, HEED_FAILED, "cannot write the result as JSON");
    json_decref(v);
}
