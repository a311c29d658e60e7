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

/* A term of a sum: x y or, of one number, x. */
typedef struct {
    double x, y;
    int x_digits, y_digits;
    bool pair, minus;
} term;

static double value_of(const term *t) { return (t->minus ? -t->x : t->x) * t->y; }

static void put_number(heed_text *out, double x, int digits, double *shown) {
    char text[32];
    number_text(text, x, digits);
    heed_text_add(out, text[0] == '-' ? "(%s)" : "%s", text);
    if (shown) *shown = strtod(text, NULL);
}

/* The terms of the cell's sum, *count of them; NULL: no memory. A token's number stands first in
 * either notation. */
static term *terms_of(explaining *e, const lesson_step *s, int row, int col, int *count) {
    const matrix_view *first = s->view, *y = first + s->count - 1, *b;
    int precision = e->look.precision, n = 0, most = s->made == MADE_ROWS ? first->m.rows : 0;
    for (const matrix_view *a = first; a < y; a++) most += cols_of(a);
    term *t = room(e, (size_t)most, sizeof *t);
    for (int i = 0; t && s->made == MADE_ROWS && i < first->m.rows; i++)
        t[n++] = (term){.x = heed_matrix_at(&first->m, i, s->col),
                        .y = 1,
                        .x_digits = view_digits(first, precision)};
    for (const matrix_view *a = first; t && s->made == MADE_SUM && a < y; a = b + 1) {
        bool pair = strcmp(a[1].sign, "·") == 0, turned = pair && e->columns;
        b = pair ? a + 1 : a;
        for (int k = 0; k < (pair ? cols_of(a) : 1); k++) {
            double left = view_at(a, rows_of(a) > 1 ? row : 0, pair ? k : cols_of(a) > 1 ? col : 0);
            double right = pair ? view_at(b, k, col) : 1;
            t[n++] = (term){.x = turned ? right : left,
                            .y = turned ? left : right,
                            .x_digits = view_digits(turned ? b : a, precision),
                            .y_digits = view_digits(turned ? a : b, precision),
                            .pair = pair,
                            .minus = *a->sign == '-'};
        }
    }
    *count = n;
    return t;
}

/* Writes the largest terms that can be seen in the result, and returns what they give as they are
 * shown, with the exact sum of the others. */
static double put_sum(heed_text *out, explaining *e, const lesson_step *s, int row, int col) {
    const matrix_view *y = &s->view[s->count - 1];
    int count = 0, shown = 0, small = 0;
    const term *t = terms_of(e, s, row, col, &count);
    double least = matrix_digits(&y->m, 1) ? 0.5 * pow(10, -view_digits(y, e->look.precision)) : 0;
    double sum = 0, a, b = 1;
    for (int i = 0; i < count; i++) {
        double size = fabs(value_of(&t[i]));
        int before = 0; /* of equal ones the first are the largest */
        if (t[i].x == 0) continue;
        for (int j = 0; j < count; j++) {
            double more = fabs(value_of(&t[j])) - size;
            before += more > 0 || (more == 0 && j < i && size > 0);
        }
        if (size < least || before >= MOST_TERMS) {
            small++;
            sum += value_of(&t[i]);
            continue;
        }
        heed_text_add(out, "%s", shown || t[i].minus ? (t[i].minus ? " - " : " + ") : "");
        put_number(out, t[i].x, t[i].x_digits, &a);
        if (t[i].pair) heed_text_add(out, "·");
        if (t[i].pair) put_number(out, t[i].y, t[i].y_digits, &b);
        sum += (t[i].minus ? -a : a) * (t[i].pair ? b : 1);
        shown++;
    }
    if (shown == 1 && !small && out->n && !strstr(out->s, "·")) out->n = 0; /* it is that number */
    if (small)
        heed_text_add(out, "%s(%d smaller term%s)", shown ? " + " : "", small,
                      small > 1 ? "s" : "");
    if (!shown && !small) heed_text_add(out, "0 (all %d terms are 0)", count);
    return sum;
}

static double put_weight(heed_text *out, const explaining *e, const lesson_step *s) {
    const heed_matrix *m = &s->view[0].m;
    double top = -(double)INFINITY, sum = 0, x = heed_matrix_at(m, s->row, s->col), part;
    char text[32], shift[32] = "";
    for (int j = 0; j < m->cols; j++) top = fmax(top, heed_matrix_at(m, s->row, j));
    double from = fabs(top) > 12 && isfinite(top) ? top : 0;
    for (int j = 0; j < m->cols; j++) sum += exp(heed_matrix_at(m, s->row, j) - from);
    if (from != 0) snprintf(shift, sizeof shift, "-%.*f", e->look.precision, from);
    int digits = matrix_digits(m, e->look.precision);
    heed_text_add(out, "exp(%s%s) / sum of exp = ", number_text(text, x, digits), shift);
    put_number(out, exp(x - from), e->look.precision, &part);
    heed_text_add(out, " / ");
    put_number(out, sum, e->look.precision, &sum);
    return part / sum;
}

/* The two numbers of a pair, of which the rotated one is made. */
static double put_rotation(heed_text *out, const explaining *e, const lesson_step *s) {
    const heed_matrix *m = &s->view[0].m;
    int half = m->cols / 2, i = s->col % half, digits = matrix_digits(m, e->look.precision);
    bool low = s->col < half;
    double theta = e->w.lesson.args.rotary, turn, x, y;
    char angle[32];
    number_text(angle, s->row * pow(theta, -2.0 * i / m->cols), 4);
    turn = strtod(angle, NULL);
    put_number(out, heed_matrix_at(m, s->row, s->col), digits, &x);
    heed_text_add(out, "·cos(%s) %c ", angle, low ? '-' : '+');
    put_number(out, heed_matrix_at(m, s->row, (s->col + half) % m->cols), digits, &y);
    heed_text_add(out, "·sin(%s)", angle);
    return x * cos(turn) + (low ? -y : y) * sin(turn);
}

const char *written_cell(explaining *e, const lesson_step *s) {
    if (!s->count || s->row < 0 || s->view[s->count - 1].seen) return NULL;
    const matrix_view *v = s->view, *y = &s->view[s->count - 1];
    int row = y->transposed ? s->col : s->row, col = y->transposed ? s->row : s->col;
    heed_text terms = {.c = e->c};
    const char *name = cell_name(e, y, row, col);
    double sum = 0, beta = e->w.lesson.args.beta, x;
    char text[32], shown[32], given[32];
    int first = 0, best = s->made == MADE_SOFTMAX
                              ? heed_attention_trace_ties(&e->w.lesson, s->row, &first)
                              : 1;
    if (!best) return text_of(e, "%s = 0: all its keys are hidden.", name);
    if (s->made == MADE_SOFTMAX && e->w.lesson.args.hard)
        return text_of(e, "%s = %s.", name,
                       s->col == first ? "1: the largest of its scores"
                                       : "0: not the first of its largest scores");
    if (s->made == MADE_SUM || s->made == MADE_ROWS)
        sum = put_sum(&terms, e, s, row, col);
    else if (s->made == MADE_SOFTMAX)
        sum = put_weight(&terms, e, s);
    else if (s->made == MADE_ROTATED)
        sum = put_rotation(&terms, e, s);
    else if (s->made == MADE_SCALED) {
        heed_text_add(&terms, "%s·", number_text(text, beta, 4));
        sum = strtod(text, NULL);
        put_number(&terms, heed_matrix_at(&v->m, s->row, s->col),
                   matrix_digits(&v->m, e->look.precision), &x);
        sum *= x;
    }
    if (!terms.n) return NULL;
    x = view_at(y, row, col);
    int digits = view_digits(y, e->look.precision), fine = digits ? digits : e->look.precision;
    bool same = strcmp(number_text(shown, x, fine), number_text(given, sum, fine)) == 0;
    name =
        text_of(e, "%s = %s %s %s", name, terms.s, same ? "=" : "≈", number_text(text, x, digits));
    heed_text_free(&terms);
    return name;
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
    heed_real *share = room(e, (size_t)n, sizeof *share);
    double top = 0;
    if (!share) return;
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
    matrix_view *y = &s->view[s->count - 1], *v = s->view;
    if (s->row < 0 || !s->count) return;
    y->row = 1 + (y->transposed ? s->col : s->row), y->col = 1 + (y->transposed ? s->row : s->col);
    if (s->count > 2 && strcmp(v[1].sign, "·") == 0 && !v->seen)
        v[0].row = y->row, v[1].col = y->col;
}

/* Returns whether a number was asked for. */
static bool draw_step(explaining *e, lesson_step *s) {
    bool asks = e->step && s->count && s->formula && !e->sheet;
    matrix_view *y = s->count ? &s->view[s->count - 1] : NULL;
    if (asks && s->row < 0) { /* any cell that says something */
        int row = rows_of(y) / 2, col = 0;
        for (int j = 0; j < cols_of(y); j++)
            if (fabs(view_at(y, row, j)) > fabs(view_at(y, row, col))) col = j;
        s->row = y->transposed ? col : row, s->col = y->transposed ? row : col;
    }
    asks = asks && isfinite(heed_matrix_at(&y->m, s->row, s->col)) && !y->brief;
    highlight(s);
    if (!e->sheet) paragraph(e, PLAIN_WORDS, s->words);
    paragraph(e, PLAIN_WORDS, s->now);
    if (asks) {
        draw_views(e, s->view, s->count - 1, true);
        ask(e, y, y->row - 1, y->col - 1);
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
