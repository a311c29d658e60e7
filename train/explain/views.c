/* views.c -- the parts of a head for drawing: names, labels, orientation. */
#include "explain/explain.h"

#include <heed/view.h>
#include <string.h>

const char *const *row_labels_of(const worked *w, heed_lesson_part part) {
    switch (part) {
    case HEED_LESSON_W_Q:
        return w->features;
    case HEED_LESSON_W_K:
    case HEED_LESSON_W_V:
        return w->memory;
    case HEED_LESSON_Z:
    case HEED_LESSON_K:
    case HEED_LESSON_V:
        return w->sources;
    case HEED_LESSON_B_Q:
    case HEED_LESSON_B_K:
    case HEED_LESSON_B_V:
    case HEED_LESSON_B_O:
    case HEED_LESSON_GAIN:
    case HEED_LESSON_BIAS:
        return NULL;
    case HEED_LESSON_W_H:
        return w->v;
    default:
        return w->tokens;
    }
}

const char *const *col_labels_of(const worked *w, heed_lesson_part part) {
    switch (part) {
    case HEED_LESSON_X:
        return w->features;
    case HEED_LESSON_Z:
        return w->memory;
    case HEED_LESSON_W_Q:
    case HEED_LESSON_W_K:
    case HEED_LESSON_B_Q:
    case HEED_LESSON_B_K:
    case HEED_LESSON_Q:
    case HEED_LESSON_K:
        return w->q;
    case HEED_LESSON_RAW:
    case HEED_LESSON_SCALED:
    case HEED_LESSON_SCORES:
    case HEED_LESSON_WEIGHTS:
        return w->sources;
    case HEED_LESSON_W_V:
    case HEED_LESSON_B_V:
    case HEED_LESSON_V:
    case HEED_LESSON_OUTPUT:
        return w->v;
    default:
        return w->stream;
    }
}

/* The name of a part in the notation with tokens as columns. */
static const char *column_name(heed_lesson_part part) {
    switch (part) {
    case HEED_LESSON_W_Q:
        return "W_Q'";
    case HEED_LESSON_W_K:
        return "W_K'";
    case HEED_LESSON_W_V:
        return "W_V'";
    case HEED_LESSON_W_H:
        return "W_h'";
    case HEED_LESSON_WEIGHTS:
        return "A";
    case HEED_LESSON_OUTPUT:
        return "H";
    default:
        return heed_lesson_name(part);
    }
}

static const char *name_of(const explaining *e, heed_lesson_part part, bool turned) {
    if (part == HEED_LESSON_K && turned) return "K'";
    if (part == HEED_LESSON_Z && e->w.lesson.self) return "X";
    if (part == HEED_LESSON_ALL) return "all heads";
    if (part == HEED_LESSON_NORMED) return "LN(X + all heads)";
    return e->columns ? column_name(part) : heed_lesson_name(part);
}

static int most_of(const explaining *e, const char *const *labels) {
    bool tokens = labels == e->w.tokens || labels == e->w.sources;
    return tokens ? e->most_tokens : e->most_width;
}

matrix_view worked_view(const explaining *e, heed_lesson_part part, bool turned) {
    const char *const *rows = row_labels_of(&e->w, part), *const *cols = col_labels_of(&e->w, part);
    bool across = turned != e->columns;
    return (matrix_view){.name = name_of(e, part, turned),
                         .m = &e->w.lesson.part[part],
                         .blank = e->blank[part],
                         .transposed = across,
                         .most_rows = most_of(e, across ? cols : rows),
                         .most_cols = most_of(e, across ? rows : cols),
                         .row_labels = across ? cols : rows,
                         .col_labels = across ? rows : cols};
}

const char *shown_title(heed_text *out, const char *title) {
    enum { MOST = 400 };
    out->n = 0;
    heed_label_text(title, MOST, out);
    return out->s ? out->s : "";
}

const char *short_label(char text[64], const char *label) {
    size_t n = strlen(heed_format_token(text, 64, label)), cut = heed_label_cut(text, 20);
    if (cut < n) memcpy(text + heed_label_cut(text, 19), "…", sizeof "…");
    return text;
}

bool has_layer(const worked *w) { return w->lesson.part[HEED_LESSON_W_H].x != NULL; }

bool has_norm(const worked *w) { return w->lesson.part[HEED_LESSON_NORMED].x != NULL; }

bool has_bias(const explaining *e, heed_lesson_part bias) {
    const heed_matrix *m = &e->w.lesson.part[bias];
    bool found = false;
    for (int j = 0; bias >= HEED_LESSON_B_Q && j < m->cols; j++) found |= m->x[j] != 0;
    return found;
}
