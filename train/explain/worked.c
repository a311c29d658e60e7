/* worked.c -- a head with its labels: its parts as matrices to draw, and the whole as JSON. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

/* What the rows or columns of a part stand for. */
enum { NOTHING, TOKENS, SOURCES, FEATURES, MEMORY, QUERY_UNITS, VALUE_UNITS, STREAM };

static const struct {
    int rows, cols;
    const char *column_name; /* in the notation with tokens as columns */
} parts[] = {
    [HEED_LESSON_X] = {TOKENS, FEATURES, "X"},
    [HEED_LESSON_Z] = {SOURCES, MEMORY, "Z"},
    [HEED_LESSON_W_Q] = {FEATURES, QUERY_UNITS, "W_Q'"},
    [HEED_LESSON_W_K] = {MEMORY, QUERY_UNITS, "W_K'"},
    [HEED_LESSON_W_V] = {MEMORY, VALUE_UNITS, "W_V'"},
    [HEED_LESSON_B_Q] = {NOTHING, QUERY_UNITS, "B_Q"},
    [HEED_LESSON_B_K] = {NOTHING, QUERY_UNITS, "B_K"},
    [HEED_LESSON_B_V] = {NOTHING, VALUE_UNITS, "B_V"},
    [HEED_LESSON_Q] = {TOKENS, QUERY_UNITS, "Q"},
    [HEED_LESSON_K] = {SOURCES, QUERY_UNITS, "K"},
    [HEED_LESSON_V] = {SOURCES, VALUE_UNITS, "V"},
    [HEED_LESSON_Q_R] = {TOKENS, QUERY_UNITS, "Q_R"},
    [HEED_LESSON_K_R] = {SOURCES, QUERY_UNITS, "K_R"},
    [HEED_LESSON_RAW] = {TOKENS, SOURCES, "raw"},
    [HEED_LESSON_SCALED] = {TOKENS, SOURCES, "scaled"},
    [HEED_LESSON_SCORES] = {TOKENS, SOURCES, "scores"},
    [HEED_LESSON_WEIGHTS] = {TOKENS, SOURCES, "A"},
    [HEED_LESSON_OUTPUT] = {TOKENS, VALUE_UNITS, "H"},
    [HEED_LESSON_W_H] = {VALUE_UNITS, STREAM, "W_h'"},
    [HEED_LESSON_B_O] = {NOTHING, STREAM, "B_O"},
    [HEED_LESSON_OTHERS] = {TOKENS, STREAM, "others"},
    [HEED_LESSON_GAIN] = {NOTHING, STREAM, "gain"},
    [HEED_LESSON_BIAS] = {NOTHING, STREAM, "bias"},
    [HEED_LESSON_SHARE] = {TOKENS, STREAM, "share"},
    [HEED_LESSON_ALL] = {TOKENS, STREAM, "all heads"},
    [HEED_LESSON_NORMED] = {TOKENS, STREAM, "LN(X + all heads)"},
};

static const char *const *labels_of(const worked *w, int what) {
    const char *const *const labels[] = {NULL,      w->tokens, w->sources, w->features,
                                         w->memory, w->q,      w->v,       w->stream};
    return labels[what];
}

const char *const *row_labels_of(const worked *w, heed_lesson_part part) {
    return labels_of(w, parts[part].rows);
}

const char *const *col_labels_of(const worked *w, heed_lesson_part part) {
    return labels_of(w, parts[part].cols);
}

static int most_of(const explaining *e, const char *const *labels) {
    bool tokens = labels == e->w.tokens || labels == e->w.sources;
    return tokens ? e->most_tokens : e->most_width;
}

matrix_view worked_view(const explaining *e, heed_lesson_part part, bool turned) {
    if (part == HEED_LESSON_Z && e->w.lesson.self) part = HEED_LESSON_X;
    const char *const *rows = row_labels_of(&e->w, part), *const *cols = col_labels_of(&e->w, part);
    bool across = turned != e->columns;
    bool same = part == HEED_LESSON_ALL || part == HEED_LESSON_NORMED;
    const char *key = heed_lesson_name(part);
    return (matrix_view){.name = turned && part == HEED_LESSON_K     ? "K'"
                                 : turned && part == HEED_LESSON_K_R ? "K_R'"
                                 : same || e->columns                ? parts[part].column_name
                                                                     : key,
                         .key = key,
                         .sign = "",
                         .m = e->w.lesson.part[part],
                         .blank = e->blank[part],
                         .transposed = across,
                         .most_rows = most_of(e, across ? cols : rows),
                         .most_cols = most_of(e, across ? rows : cols),
                         .row_labels = across ? cols : rows,
                         .col_labels = across ? rows : cols};
}

bool has_part(const worked *w, heed_lesson_part part) { return w->lesson.part[part].x != NULL; }

bool is_bias(heed_lesson_part part) {
    return part == HEED_LESSON_B_O || (part >= HEED_LESSON_B_Q && part <= HEED_LESSON_B_V);
}

bool has_bias(const explaining *e, heed_lesson_part bias) {
    const heed_matrix *m = &e->w.lesson.part[bias];
    bool found = false;
    for (int j = 0; m->x && j < m->cols; j++) found |= m->x[j] != 0;
    return found;
}

/* ---- making ---- */

bool worked_make(explaining *e, const heed_lesson_args *a, worked labels) {
    e->w = labels;
    e->head = heed_lesson_make(e->c, a, &e->w.lesson) && worked_label(e);
    return e->head;
}

bool worked_label(explaining *e) {
    worked *w = &e->w;
    const heed_lesson_args *l = &w->lesson.args;
    if (!w->tokens) w->tokens = numbered(e, "%d", 1, l->tokens);
    if (w->lesson.self) w->sources = w->tokens;
    if (!w->features) w->features = numbered(e, "x%d", 1, l->features);
    if (w->lesson.self) w->memory = w->features;
    if (!w->sources) w->sources = numbered(e, "%d", 1, l->sources);
    if (!w->memory) w->memory = numbered(e, "z%d", 1, l->memory);
    if (!w->q) w->q = numbered(e, "%d", 1, l->key);
    if (!w->v) w->v = numbered(e, "%d", 1, l->value);
    if (has_part(w, HEED_LESSON_W_H)) w->stream = numbered(e, "%d", 1, l->width);
    return heed_ctx_status(e->c) == HEED_OK;
}

/* ---- JSON ---- */

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
        if (has_part(w, part) && (part != HEED_LESSON_Z || !self) &&
            (!is_bias(part) || has_bias(e, part)))
            json_object_set_new(o, heed_lesson_name(part), matrix_json(&w->lesson.part[i]));
    }
    if (a->rotary > 0) json_object_set_new(o, "rotary", json_number(a->rotary));
    if (w->target) json_object_set_new(o, "target", rows_json(w->target, a->tokens, a->value));
    if (has_part(w, HEED_LESSON_NORMED)) json_object_set_new(o, "eps", json_number(a->eps));
    if (has_part(w, HEED_LESSON_W_H)) { /* what the model does with the sum of all heads */
        json_object_set_new(o, "pre_norm", json_boolean(w->pre));
        json_object_set_new(o, "rms_norm", json_boolean(w->rms));
        json_object_set_new(o, "custom", json_boolean(w->custom));
    }
    if (w->layer) {
        json_object_set_new(o, "layer", json_string(w->layer));
        json_object_set_new(o, "head", json_integer(e->place.head + 1));
        json_object_set_new(o, "place",
                            json_pack("{s:s, s:i}", "stack", heed_stack_name(e->place.stack),
                                      "layer", e->place.layer + 1));
    }
    if (e->learned) json_object_set(o, "learn", e->learned);
    return o;
}
