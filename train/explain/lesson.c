/* lesson.c -- functions shared by the examples of heed explain. */
#include "explain/lesson.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

heed_matrix lesson_matrix(int rows, int cols, double *x) { return (heed_matrix){rows, cols, x}; }

void lesson_draw(explaining *e, const char *name, heed_matrix m, const char *const *rows,
                 const char *const *cols) {
    matrix_view v = {.name = name, .m = &m, .row_labels = rows, .col_labels = cols};
    draw_matrix(&e->out, &e->look, &v);
    heed_text_put(&e->out, "\n", 1);
}

void lesson_columns(explaining *e, int count, const lesson_block *blocks, const char *const *rows) {
    enum { ONE_LINE = 72 }; /* columns; on a narrower terminal each may be on a separate line */
    matrix_view v[4];
    for (int i = 0; i < count; i++)
        v[i] = (matrix_view){.name = blocks[i].name,
                             .m = &blocks[i].m,
                             .row_labels = i && e->look.width >= ONE_LINE ? NULL : rows,
                             .col_labels = blocks[i].cols};
    draw_equation(&e->out, &e->look, count, v, (const char *[]){"", "", "", ""});
    heed_text_put(&e->out, "\n", 1);
}

void lesson_say(explaining *e, const char *format, ...) {
    char words[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    draw_words(&e->out, &e->look, "%s", words);
    heed_text_put(&e->out, "\n", 1);
}

/* Copies a command's next word, or a flag with its value, to words; returns the rest. */
static const char *next_words(const char *s, char words[128]) {
    size_t n = strcspn(s, " ");
    if (*s == '-' && s[n] && s[n + 1] != '-') n += 1 + strcspn(s + n + 1, " ");
    snprintf(words, 128, "%.*s", (int)n, s);
    return s + n + (s[n] == ' ');
}

void lesson_try(explaining *e, const char *const *commands, int count) {
    for (int i = 0; i < count; i++) {
        char words[128];
        heed_text line = {.c = e->c};
        heed_text_add(&line, i ? "    " : "try:");
        add_typed(&line, e->look.width, program_name());
        for (const char *s = commands[i]; *s;) {
            s = next_words(s, words);
            add_typed(&line, e->look.width, words);
        }
        heed_text_add(&e->out, "%s\n", line.s ? line.s : "");
        heed_text_free(&line);
    }
}

bool lesson_json(explaining *e, json_t *o) {
    if (e->json)
        print_exact(e, o);
    else
        json_decref(o);
    return e->json;
}

/* The first given setting that is neither for text in general nor accepted by every example; NULL:
 * none. */
static const char *asked(const explaining *e) {
    static const char *const any[] = {"list", "precision", "seed", "png", "json", NULL};
    const heed_config *f = e->p->flags;
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *value, *name = heed_config_at(f, i, &value)->name;
        int k = 0;
        while (any[k] && strcmp(any[k], name) != 0) k++;
        if (!any[k] && heed_config_rank(f, name) > HEED_FROM_DEFAULT) return name;
    }
    return NULL;
}

bool lesson_takes(explaining *e, const example *k) {
    const char *name = asked(e);
    if (*heed_config_text(e->p->flags, "png") && k->kind != SHOWS_CHART)
        return heed_fail(e->c, HEED_USAGE,
                         "--png: example %s has no chart; hint: `explain beta --png FILE`",
                         k->name);
    if (name && k->kind != SHOWS_HEAD) {
        bool page = strcmp(name, "html") == 0;
        return heed_fail(e->c, HEED_USAGE,
                         "--%s: example %s has no single head to show%s; hint: %s%s`explain "
                         "lion|paris|mix|store%s`",
                         name, k->name, page ? ", and no page" : "",
                         page && k->kind == SHOWS_CHART ? "--png FILE draws its chart; " : "",
                         page ? "pages: " : "", page ? " --html FILE" : "");
    }
    return true;
}

json_t *lesson_list(const double *x, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_number(x[i]));
    return list;
}

json_t *lesson_grid(int rows, int cols, double *x) {
    heed_matrix m = lesson_matrix(rows, cols, x);
    return matrix_json(&m);
}

void lesson_chart(explaining *e, const heed_chart *k, int height) {
    const char *path = heed_config_text(e->p->flags, "png");
    if (*path && !heed_chart_png(e->c, k, 900, 560, path)) return;
    int width = e->look.width - heed_label_columns(k->x_label) - 2;
    heed_chart_text(k, width < 24 ? 24 : width, height, e->look.color, &e->out);
    heed_text_put(&e->out, "\n", 1);
}

double lesson_entropy(const double *p, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (p[i] > 0) sum -= p[i] * log2(p[i]);
    return sum;
}

double lesson_slope(const double *p, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double d = (i == j ? p[i] : 0) - p[i] * p[j];
            sum += d * d;
        }
    return sqrt(sum);
}

double lesson_gap(const double *a, const double *b, int n) {
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}
