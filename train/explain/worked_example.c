/* worked_example.c -- a head with its labels, and the same as JSON. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels ---- */

void *worked_keep(heed_ctx *c, worked *w, void *block) {
    void **more = block ? realloc(w->owned, (size_t)(w->owned_count + 1) * sizeof *more) : NULL;
    if (!more) {
        heed_fail(c, HEED_FAILED, "no memory for an example");
        free(block);
        return NULL;
    }
    w->owned = more;
    return w->owned[w->owned_count++] = block;
}

/* Labels (count) of a letter and a number from 1, "q1", "q2", ..., which live as long as w. */
static const char *const *numbered(heed_ctx *c, worked *w, const char *letter, int count) {
    size_t each = strlen(letter) + 12;
    /* one block: the pointers, then the texts */
    char *block = worked_keep(c, w, malloc((size_t)count * (sizeof(char *) + each)));
    if (!block) return NULL;
    const char **list = (const char **)(void *)block;
    char *text = block + (size_t)count * sizeof(char *);
    for (int i = 0; i < count; i++, text += each) {
        snprintf(text, each, "%s%d", letter, i + 1);
        list[i] = text;
    }
    return list;
}

bool worked_make(explaining *e, const heed_lesson_args *a, worked labels) {
    e->w = labels;
    return heed_lesson_make(e->c, a, &e->w.lesson) && worked_label(e);
}

bool worked_label(explaining *e) {
    worked *w = &e->w;
    const heed_lesson_args *l = &w->lesson.args;
    if (!w->tokens) w->tokens = numbered(e->c, w, "", l->tokens);
    if (w->lesson.self) w->sources = w->tokens;
    if (!w->features) w->features = numbered(e->c, w, "x", l->features);
    if (w->lesson.self) w->memory = w->features;
    if (!w->sources) w->sources = numbered(e->c, w, "", l->sources);
    if (!w->memory) w->memory = numbered(e->c, w, "z", l->memory);
    if (!w->q) w->q = numbered(e->c, w, "", l->key);
    if (!w->v) w->v = numbered(e->c, w, "", l->value);
    if (has_layer(w)) w->stream = numbered(e->c, w, "", l->width);
    return heed_ctx_status(e->c) == HEED_OK;
}

void worked_free(worked *w) {
    heed_lesson_free(&w->lesson);
    for (int i = 0; i < w->owned_count; i++) free(w->owned[i]);
    free(w->owned);
    json_decref(w->file);
    *w = (worked){0};
}

/* ---- JSON ---- */

static json_t *rows_json(const double *x, int rows, int cols) {
    json_t *list = json_array(), *row = NULL;
    for (int i = 0; i < rows * cols; i++) {
        if (i % cols == 0) json_array_append_new(list, row = json_array());
        json_array_append_new(row, json_number(x[i]));
    }
    return list;
}

json_t *matrix_json(const heed_matrix *m) { return rows_json(m->x, m->rows, m->cols); }

/* NULL if there are no labels. */
static json_t *labels_json(const char *const *labels, int count) {
    json_t *list = labels ? json_array() : NULL;
    for (int i = 0; labels && i < count; i++) json_array_append_new(list, json_text(labels[i]));
    return list;
}

/* Where a trained head is. */
static void put_place(json_t *o, const explaining *e) {
    const trained_place *p = &e->place;
    json_object_set_new(o, "layer", json_string(e->w.layer));
    json_object_set_new(o, "head", json_integer(p->head + 1));
    json_object_set_new(
        o, "place",
        json_pack("{s:s, s:i}", "stack", heed_stack_name(p->stack), "layer", p->layer + 1));
}

/* What the model does with the sum of all heads. */
static void put_norm(json_t *o, const worked *w) {
    json_object_set_new(o, "pre_norm", json_boolean(w->pre));
    json_object_set_new(o, "rms_norm", json_boolean(w->rms));
    json_object_set_new(o, "custom", json_boolean(w->custom));
}

json_t *worked_json(const explaining *e) {
    const worked *w = &e->w;
    const heed_lesson_args *a = &w->lesson.args;
    bool self = w->lesson.self;
    json_t *hidden = json_array();
    for (int i = 0; i < a->sources; i++) json_array_append_new(hidden, json_integer(a->hide[i]));
    json_t *o = json_pack(
        "{s:o, s:o, s:o, s:o, s:o*, s:o, s:b, s:b, s:o*, s:{s:o, s:o}, s:o, s:s, s:{s:o*, s:o*, "
        "s:o*}}",
        "example", json_text(w->example), "title", json_text(w->title), "tokens",
        labels_json(w->tokens, a->tokens), "features", labels_json(w->features, a->features),
        "sources", self ? NULL : labels_json(w->sources, a->sources), "beta", json_number(a->beta),
        "causal", a->causal, "hard", a->hard, "memory",
        self ? NULL : labels_json(w->memory, a->memory), "units", "q", labels_json(w->q, a->key),
        "v", labels_json(w->v, a->value), "hidden", hidden, "notation",
        e->columns ? "columns" : "rows", "notes", "W_Q", labels_json(w->notes[0], a->features),
        "W_K", labels_json(w->notes[1], a->memory), "W_V", labels_json(w->notes[2], a->memory));
    for (int i = 0; i < HEED_LESSON_COUNT; i++) {
        heed_lesson_part part = (heed_lesson_part)i;
        if (w->lesson.part[i].x && (part != HEED_LESSON_Z || !self) &&
            (!is_bias(part) || has_bias(e, part)))
            json_object_set_new(o, heed_lesson_name(part), matrix_json(&w->lesson.part[i]));
    }
    if (is_rotary(w)) json_object_set_new(o, "rotary", json_number(a->rotary));
    if (w->target) json_object_set_new(o, "target", rows_json(w->target, a->tokens, a->value));
    if (has_norm(w)) json_object_set_new(o, "eps", json_number(a->eps));
    if (has_layer(w)) put_norm(o, w);
    if (w->layer) put_place(o, e);
    if (e->own_json) json_object_update_new(o, e->own_json(e));
    if (e->learned) json_object_set(o, "learn", e->learned);
    return o;
}

void print_exact(explaining *e, json_t *v) {
    if (!write_json(stdout, v, 17)) heed_fail(e->c, HEED_FAILED, "cannot write the result as JSON");
    json_decref(v);
}
