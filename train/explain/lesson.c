/* lesson.c -- the text of heed explain, and functions shared by its examples. */
#include "explain/explain.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

heed_matrix lesson_matrix(int rows, int cols, double *x) { return (heed_matrix){rows, cols, x}; }

void lesson_draw(explaining *e, const char *name, heed_matrix m, const char *const *rows,
                 const char *const *cols) {
    matrix_view v = {.name = name, .m = &m, .row_labels = rows, .col_labels = cols};
    draw_matrix(&e->out, &e->look, &v);
    gap(e);
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
    gap(e);
}

void gap(explaining *e) { heed_text_put(&e->out, "\n", 1); }

static void put_format(explaining *e, words_style how, const char *format, va_list list) {
    char words[4096];
    vsnprintf(words, sizeof words, format, list);
    draw_words(&e->out, &e->look, how, words);
}

void heading(explaining *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_format(e, HEADING, format, list);
    va_end(list);
}

void put_words(explaining *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_format(e, PLAIN_WORDS, format, list);
    va_end(list);
}

void aside(explaining *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_format(e, DIM_WORDS, format, list);
    va_end(list);
}

void say(explaining *e, const char *format, ...) {
    va_list list;
    va_start(list, format);
    put_format(e, PLAIN_WORDS, format, list);
    va_end(list);
    gap(e);
}

/* Copies a command's next word, or a flag with its value, to words; returns the rest. */
static const char *next_words(const char *s, char words[128]) {
    size_t n = strcspn(s, " \n");
    if (*s == '-' && s[n] == ' ' && s[n + 1] != '-') n += 1 + strcspn(s + n + 1, " \n");
    snprintf(words, 128, "%.*s", (int)n, s);
    return s + n + (s[n] == ' ');
}

void lesson_try(explaining *e, const char *commands) {
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

bool lesson_json(explaining *e, json_t *o) {
    if (e->json)
        print_exact(e, o);
    else
        json_decref(o);
    return e->json;
}

/* The first given setting that is neither for text in general nor accepted by every example; NULL:
 * none. */
static const char *setting_of_heads(const explaining *e) {
    static const char *const any[] = {"list", "precision", "seed",  "png",
                                      "json", "patch",     "whole", NULL};
    const heed_config *f = e->p->flags;
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *value, *name = heed_config_at(f, i, &value)->name;
        int k = 0;
        while (any[k] && strcmp(any[k], name) != 0) k++;
        if (!any[k] && heed_config_rank(f, name) > HEED_FROM_DEFAULT) return name;
    }
    return NULL;
}

bool lesson_accepts(explaining *e, const example *k) {
    const char *name = k->kind == SHOWS_HEAD ? NULL : setting_of_heads(e);
    if (e->input && k->kind != READS_PICTURE)
        return heed_fail(e->c, HEED_USAGE, "one argument too many: %s: example %s has no input",
                         e->input, k->name);
    if (heed_config_rank(e->p->flags, "patch") > HEED_FROM_DEFAULT && k->kind != READS_PICTURE)
        return heed_fail(e->c, HEED_USAGE,
                         "--patch: example %s has no patches; hint: `explain patches`", k->name);
    if (*heed_config_text(e->p->flags, "png") && k->kind == SHOWS_WORDS)
        return heed_fail(e->c, HEED_USAGE,
                         "--png: example %s has no picture; hint: `explain beta --png FILE`",
                         k->name);
    if (!name) return true;
    bool page = strcmp(name, "html") == 0;
    return heed_fail(e->c, HEED_USAGE,
                     "--%s: example %s has no single head to show%s; hint: %s%s`explain "
                     "paris%s` (or lion, mix, store)",
                     name, k->name, page ? ", and no page" : "",
                     page && k->kind > SHOWS_WORDS ? "--png FILE draws its picture; " : "",
                     page ? "pages: " : "", page ? " --html FILE" : "");
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

void lesson_set(heed_tensor *p, const double *x) {
    for (size_t i = 0; p && i < p->size; i++) p->x[i] = (heed_real)x[i];
}

heed_tensor *lesson_input(heed_tape *t, const double *x, int rows, int cols) {
    enum { MOST = 64 };
    heed_real copy[MOST];
    for (int i = 0; i < rows * cols && i < MOST; i++) copy[i] = (heed_real)x[i];
    return heed_input(t, copy, 3, (int[]){1, rows, cols});
}

/* The matrices of a step under their names. */
static json_t *step_json(const lesson_step *s) {
    json_t *o = json_object();
    for (int i = 0; i < s->count; i++) json_object_set_new(o, s->m[i].name, matrix_json(s->m[i].m));
    return json_pack("{s:s, s:s*, s:o}", "title", s->title, "formula", s->formula, "matrices", o);
}

void lesson_steps(explaining *e, const lesson_head *h, int count, const lesson_step *steps) {
    matrix_view maps[LESSON_MAPS];
    int n = 0;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, step_json(&steps[i]));
        for (int k = 0; k < steps[i].pictures && n < LESSON_MAPS; k++) {
            maps[n] = steps[i].m[k];
            maps[n].most_rows = maps[n].most_cols = 0;
            n++;
        }
    }
    json_t *o = json_pack("{s:o, s:o}", "example", json_text(h->name), "steps", list);
    if (n && !lesson_maps(e, h->scale, n, maps)) {
        json_decref(o);
        return;
    }
    if (lesson_json(e, o)) return;
    heading(e, "%s", h->title);
    say(e, "%s", h->words);
    for (int i = 0; i < count; i++) {
        const lesson_step *s = &steps[i];
        const char *between[4];
        for (int k = 0; k < 4; k++) between[k] = s->between[k] ? s->between[k] : "";
        heading(e, "%d. %s%s%s", i + 1, s->title, s->formula ? ": " : "",
                s->formula ? s->formula : "");
        if (s->words) say(e, "%s", s->words);
        if (s->count) {
            draw_equation(&e->out, &e->look, s->count, s->m, between);
            gap(e);
        }
        if (s->after) say(e, "%s", s->after);
    }
    if (h->commands) lesson_try(e, h->commands);
}

void lesson_chart(explaining *e, const heed_chart *k, int height) {
    const char *path = heed_config_text(e->p->flags, "png");
    if (*path && !heed_chart_png(e->c, k, 900, 560, path)) return;
    int width = e->look.width - heed_label_columns(k->x_label) - 2;
    heed_chart_text(k, width < 24 ? 24 : width, height, e->look.color, &e->out);
    gap(e);
}

double lesson_entropy(const double *p, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (p[i] > 0) sum -= p[i] * log2(p[i]);
    return sum;
}
