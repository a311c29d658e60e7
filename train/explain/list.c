/* list.c -- fills a list of steps: its texts, its matrices, and the library's layers on them. */
#include "explain/explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

void *keep(explaining *e, void *block) {
    void **more = block ? realloc(e->owned, (size_t)(e->owned_count + 1) * sizeof *more) : NULL;
    if (!more) {
        fputs("heed: no memory for a worked example\n", stderr);
        exit(1);
    }
    e->owned = more;
    return e->owned[e->owned_count++] = block;
}

void explaining_free(explaining *e) {
    heed_lesson_free(&e->w.lesson);
    heed_tape_free(e->tape);
    heed_store_free(e->store);
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
    char *text = keep(e, malloc((size_t)n + 1));
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(list);
    va_end(again);
    return text;
}

const char *const *numbered(explaining *e, const char *format, int from, int count) {
    const char **list = keep(e, malloc((size_t)count * sizeof *list));
    const char *hole = strstr(format, "%d");
    for (int i = 0; i < count; i++)
        list[i] =
            text_of(e, "%.*s%d%s", (int)(hole - format), format, from + i, hole + strlen("%d"));
    return list;
}

const char *const *keep_labels(explaining *e, const char *const *labels, int count) {
    const char **list = keep(e, malloc((size_t)count * sizeof *list));
    memcpy(list, labels, (size_t)count * sizeof *list);
    return list;
}

/* ---- steps ---- */

lesson_step *add_step(explaining *e, const char *title, const char *formula, const char *words) {
    lesson_step *list = realloc(e->list, (size_t)(e->count + 1) * sizeof *list);
    if (!list) keep(e, NULL);
    e->list = list;
    list[e->count] =
        (lesson_step){.title = title, .formula = formula, .words = words, .row = -1, .col = -1};
    return &list[e->count++];
}

matrix_view *show_view(explaining *e, const char *sign, matrix_view v) {
    lesson_step *s = &e->list[e->count - 1];
    matrix_view *to = &s->view[s->count < STEP_VIEWS ? s->count++ : STEP_VIEWS - 1];
    *to = v;
    to->sign = sign;
    return to;
}

matrix_view *show(explaining *e, const char *sign, const char *name, heed_matrix m,
                  const char *const *rows, const char *const *cols) {
    return show_view(e, sign,
                     (matrix_view){.name = name, .m = m, .row_labels = rows, .col_labels = cols});
}

const heed_chart *chart_of(explaining *e, const char *title, const char *x_label,
                           const char *const *names, const unsigned *colors, heed_matrix curves) {
    heed_chart *chart = keep(e, calloc(1, sizeof *chart));
    heed_series *lines = keep(e, calloc((size_t)curves.rows, sizeof *lines));
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
    size_t n = (size_t)rows * (size_t)cols;
    return (heed_matrix){rows, cols, keep(e, calloc(n + 1, sizeof(double)))};
}

heed_matrix matrix_of(explaining *e, int rows, int cols, const double *x) {
    heed_matrix m = matrix_new(e, rows, cols);
    memcpy(m.x, x, (size_t)rows * (size_t)cols * sizeof *x);
    return m;
}

heed_matrix matrix_random(explaining *e, const heed_random *r, uint64_t *at, int rows, int cols) {
    heed_matrix m = matrix_new(e, rows, cols);
    for (int i = 0; i < rows * cols; i++) m.x[i] = heed_random_normal(r, (*at)++);
    return m;
}

heed_matrix product_of(explaining *e, heed_matrix a, heed_matrix b) {
    heed_matrix m = matrix_new(e, a.rows, b.cols);
    heed_matrix_product(&a, &b, (heed_matmul_how){0}, &m);
    return m;
}

heed_matrix transpose_of(explaining *e, heed_matrix a) {
    heed_matrix m = matrix_new(e, a.cols, a.rows);
    for (int i = 0; i < a.rows * a.cols; i++) m.x[i % a.cols * a.rows + i / a.cols] = a.x[i];
    return m;
}

heed_matrix softmax_of(explaining *e, heed_matrix a) {
    heed_matrix m = matrix_new(e, a.rows, a.cols);
    heed_matrix_softmax(&a, false, &m);
    return m;
}

heed_matrix scores_of(explaining *e, heed_matrix q, heed_matrix k) {
    heed_matrix m = product_of(e, q, transpose_of(e, k));
    for (int i = 0; i < m.rows * m.cols; i++) m.x[i] /= sqrt(q.cols);
    return m;
}

heed_matrix sum_of(explaining *e, heed_matrix a, double factor, heed_matrix b) {
    heed_matrix m = matrix_of(e, a.rows, a.cols, a.x);
    for (int i = 0; i < a.rows * a.cols; i++) m.x[i] += factor * b.x[i];
    return m;
}

heed_matrix rows_of_matrix(heed_matrix m, int from, int count) {
    return (heed_matrix){count, m.cols, m.x + from * m.cols};
}

double largest_gap(heed_matrix a, heed_matrix b) {
    double worst = 0;
    for (int i = 0; i < a.rows * a.cols; i++)
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

heed_store *library(explaining *e) {
    heed_tape_free(e->tape);
    heed_store_free(e->store);
    e->tape = heed_tape_new(e->c);
    return e->store = heed_store_new(e->c);
}

heed_tensor *input_of(explaining *e, heed_matrix m) {
    size_t n = (size_t)m.rows * (size_t)m.cols;
    heed_real *x = keep(e, malloc(n * sizeof *x));
    for (size_t i = 0; i < n; i++) x[i] = (heed_real)m.x[i];
    return heed_input(e->tape, x, 3, (int[]){1, m.rows, m.cols});
}

heed_matrix result_of(explaining *e, const heed_tensor *x, int rows, int cols) {
    heed_matrix m = matrix_new(e, rows, cols);
    for (int i = 0; x && i < rows * cols; i++) m.x[i] = (double)x->x[i];
    return m;
}

void set_parameter(heed_tensor *p, heed_matrix m, bool transposed) {
    for (int i = 0; p && i < m.rows * m.cols; i++)
        p->x[transposed ? i % m.cols * m.rows + i / m.cols : i] = (heed_real)m.x[i];
}
