/* list.c -- fills a list of steps: its texts, its matrices, and the library's layers on them. */
#include "explain/explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

void *room(explaining *e, size_t count, size_t size) {
    void **more = realloc(e->owned, (size_t)(e->owned_count + 1) * sizeof *more);
    if (more) e->owned = more;
    void *block = more ? calloc(count + 1, size) : NULL;
    if (block)
        e->owned[e->owned_count++] = block;
    else
        heed_fail(e->c, HEED_FAILED, "out of memory: a worked example");
    return block;
}

bool failed(const explaining *e) { return heed_ctx_status(e->c) != HEED_OK; }

void explaining_free(explaining *e) {
    heed_attention_trace_free(&e->w.lesson);
    heed_attention_trace_gradient_free(&e->back.g);
    heed_tape_free(e->tape);
    heed_params_free(e->store);
    for (int i = 0; i < e->owned_count; i++) free(e->owned[i]);
    free(e->owned);
    free(e->list);
    json_decref(e->w.file);
    json_decref(e->learned);
}

const char *text_of(explaining *e, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    char *text = room(e, (size_t)n, 1);
    if (text) vsnprintf(text, (size_t)n + 1, format, again);
    va_end(list);
    va_end(again);
    return text ? text : "";
}

const char *const *numbered(explaining *e, const char *format, int from, int count) {
    const char **list = room(e, (size_t)count, sizeof *list), *hole = strstr(format, "%d");
    for (int i = 0; list && i < count; i++)
        list[i] =
            text_of(e, "%.*s%d%s", (int)(hole - format), format, from + i, hole + strlen("%d"));
    return list;
}

const char *const *keep_labels(explaining *e, const char *const *labels, int count) {
    const char **list = room(e, (size_t)count, sizeof *list);
    if (list) memcpy(list, labels, (size_t)count * sizeof *list);
    return list;
}

bool is_label(const char *label, const char *text, size_t n) {
    return strlen(label) == n && memcmp(label, text, n) == 0;
}

/* ---- steps ---- */

lesson_step *add_step(explaining *e, const char *title, const char *formula, const char *words) {
    lesson_step *list = !failed(e) ? realloc(e->list, (size_t)(e->count + 1) * sizeof *list) : NULL;
    if (list) e->list = list;
    if (!list) heed_fail(e->c, HEED_FAILED, "out of memory: a worked example");
    lesson_step *s = list ? &list[e->count++] : &e->no_step;
    *s = (lesson_step){.title = title, .formula = formula, .words = words, .row = -1, .col = -1};
    return s;
}

matrix_view *show_view(explaining *e, const char *sign, matrix_view v) {
    lesson_step *s = e->count && !failed(e) ? &e->list[e->count - 1] : NULL;
    matrix_view *to = s && s->count < STEP_VIEWS ? &s->view[s->count++] : &e->no_view;
    *to = v;
    to->sign = sign;
    if (s && strcmp(sign, "=") == 0) s->made = MADE_SUM;
    return to;
}

matrix_view *show(explaining *e, const char *sign, const char *name, heed_matrix m,
                  const char *const *rows, const char *const *cols) {
    return show_view(e, sign,
                     (matrix_view){.name = name, .m = m, .row_labels = rows, .col_labels = cols});
}

const heed_chart *chart_of(explaining *e, const char *title, const char *x_label,
                           const char *const *names, const unsigned *colors, heed_matrix curves) {
    heed_chart *chart = room(e, 1, sizeof *chart);
    heed_series *lines = room(e, (size_t)curves.rows, sizeof *lines);
    if (!chart || !lines || !curves.x) return NULL;
    for (int i = 1; i < curves.rows; i++)
        lines[i - 1] =
            (heed_series){names[i - 1], curves.cols, curves.x, curves.x + i * curves.cols};
    *chart = (heed_chart){.title = title,
                          .x_label = x_label,
                          .y_label = "",
                          .colors = colors,
                          .series_count = curves.rows - 1,
                          .series = lines};
    return chart;
}

/* Tokens as columns: a b = y becomes b' a' = y'. */
void turn_list(explaining *e) {
    for (lesson_step *s = e->list; s < e->list + e->count; s++) {
        bool product = s->count > 2 && strcmp(s->view[1].sign, "·") == 0;
        for (int i = 0; i < s->count; i++) {
            matrix_view *v = &s->view[i];
            const char *const *rows = v->row_labels;
            v->row_labels = v->col_labels, v->col_labels = rows;
            v->transposed = !v->transposed;
            if (v->key == NULL) v->key = v->name;
            size_t n = strlen(v->name);
            if (n && v->name[n - 1] == '\'')
                v->name = text_of(e, "%.*s", (int)n - 1, v->name);
            else if (n && !strchr(v->name, ' '))
                v->name = text_of(e, "%s'", v->name);
        }
        if (product) {
            matrix_view first = s->view[0];
            s->view[0] = s->view[1], s->view[1] = first;
            s->view[1].sign = s->view[0].sign, s->view[0].sign = first.sign;
        }
    }
    if (e->words)
        e->words = text_of(e,
                           "%s Tokens are columns here: every matrix is drawn with its rows as "
                           "columns.",
                           e->words);
}

/* ---- matrices ---- */

heed_matrix matrix_new(explaining *e, int rows, int cols) {
    double *x = room(e, (size_t)rows * (size_t)cols, sizeof *x);
    return x ? (heed_matrix){rows, cols, x} : (heed_matrix){0};
}

heed_matrix matrix_of(explaining *e, int rows, int cols, const double *x) {
    heed_matrix m = matrix_new(e, rows, cols);
    if (m.x && x) memcpy(m.x, x, (size_t)rows * (size_t)cols * sizeof *x);
    return m;
}

heed_matrix matrix_random(explaining *e, const heed_random *r, uint64_t *at, int rows, int cols) {
    heed_matrix m = matrix_new(e, rows, cols);
    for (int i = 0; i < m.rows * m.cols; i++) m.x[i] = heed_random_normal(r, (*at)++);
    return m;
}

heed_matrix product_of(explaining *e, heed_matrix a, heed_matrix b) {
    heed_matrix m = matrix_new(e, a.rows, b.cols);
    if (m.x && a.x && b.x) heed_matrix_product(&a, &b, (heed_matmul_how){0}, &m);
    return m;
}

heed_matrix transpose_of(explaining *e, heed_matrix a) {
    heed_matrix m = matrix_new(e, a.cols, a.rows);
    for (int i = 0; m.x && i < a.rows * a.cols; i++) m.x[i % a.cols * a.rows + i / a.cols] = a.x[i];
    return m;
}

heed_matrix softmax_of(explaining *e, heed_matrix a) {
    heed_matrix m = matrix_new(e, a.rows, a.cols);
    if (m.x) heed_matrix_softmax(&a, false, &m);
    return m;
}

heed_matrix scores_of(explaining *e, heed_matrix q, heed_matrix k) {
    heed_matrix m = product_of(e, q, transpose_of(e, k));
    for (int i = 0; i < m.rows * m.cols; i++) m.x[i] /= sqrt(q.cols);
    return m;
}

heed_matrix sum_of(explaining *e, heed_matrix a, double factor, heed_matrix b) {
    heed_matrix m = matrix_of(e, a.rows, a.cols, a.x);
    for (int i = 0; m.x && b.x && i < a.rows * a.cols; i++) m.x[i] += factor * b.x[i];
    return m;
}

heed_matrix rows_of_matrix(heed_matrix m, int from, int count) {
    return m.x ? (heed_matrix){count, m.cols, m.x + from * m.cols} : m;
}

double largest_gap(heed_matrix a, heed_matrix b) {
    double worst = 0;
    for (int i = 0; a.x && b.x && i < a.rows * a.cols; i++)
        if (!(a.x[i] == b.x[i]))
            worst = fmax(worst, isfinite(a.x[i] - b.x[i]) ? fabs(a.x[i] - b.x[i]) : INFINITY);
    return worst;
}

double entropy_of(const double *p, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (p[i] > 0) sum -= p[i] * log2(p[i]);
    return sum;
}

/* ---- the library ---- */

heed_params *library(explaining *e) {
    heed_tape_free(e->tape);
    heed_params_free(e->store);
    e->tape = heed_tape_new(e->c);
    return e->store = heed_params_new(e->c);
}

heed_tensor *input_of(explaining *e, heed_matrix m) {
    size_t n = (size_t)m.rows * (size_t)m.cols;
    heed_real *x = room(e, n, sizeof *x);
    for (size_t i = 0; x && i < n; i++) x[i] = (heed_real)m.x[i];
    return heed_input(e->tape, x, 3, (int[]){1, m.rows, m.cols});
}

heed_matrix result_of(explaining *e, const heed_tensor *x, int rows, int cols) {
    heed_matrix m = matrix_new(e, rows, cols);
    for (int i = 0; x && i < m.rows * m.cols; i++) m.x[i] = (double)x->x[i];
    return m;
}

void set_parameter(heed_tensor *p, heed_matrix m, bool transposed) {
    for (int i = 0; p && i < m.rows * m.cols; i++)
        p->x[transposed ? i % m.cols * m.rows + i / m.cols : i] = (heed_real)m.x[i];
}
