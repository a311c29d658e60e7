/* views.c -- the parts of a head for drawing: names, labels, orientation. */
#include "explain/explain.h"

#include <heed/view.h>
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

static const char *name_of(const explaining *e, heed_lesson_part part, bool turned) {
    if (part == HEED_LESSON_K && turned) return "K'";
    if (part == HEED_LESSON_K_R && turned) return "K_R'";
    if (part == HEED_LESSON_Z && e->w.lesson.self) return "X";
    bool same = part == HEED_LESSON_ALL || part == HEED_LESSON_NORMED;
    return same || e->columns ? parts[part].column_name : heed_lesson_name(part);
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

matrix_view chosen_view(const explaining *e, heed_lesson_part part, bool turned, int row, int col) {
    matrix_view v = worked_view(e, part, turned);
    v.row = 1 + (v.transposed ? col : row);
    v.col = 1 + (v.transposed ? row : col);
    return v;
}

int product_views(const explaining *e, heed_lesson_part out, int row, int col,
                  matrix_view views[4]) {
    heed_lesson_part left, right;
    bool turned = out == HEED_LESSON_RAW;
    int n = 2;
    factors_of(&e->w, out, &left, &right);
    views[e->columns ? 1 : 0] = chosen_view(e, left, false, row, -1);
    views[e->columns ? 0 : 1] = chosen_view(e, right, turned, turned ? col : -1, turned ? -1 : col);
    if (has_bias(e, bias_of(out))) views[n++] = worked_view(e, bias_of(out), false);
    views[n++] = chosen_view(e, out, false, row, col);
    return n;
}

void factors_of(const worked *w, heed_lesson_part out, heed_lesson_part *left,
                heed_lesson_part *right) {
    static const heed_lesson_part factors[][2] = {
        [HEED_LESSON_Q] = {HEED_LESSON_X, HEED_LESSON_W_Q},
        [HEED_LESSON_K] = {HEED_LESSON_Z, HEED_LESSON_W_K},
        [HEED_LESSON_V] = {HEED_LESSON_Z, HEED_LESSON_W_V},
        [HEED_LESSON_RAW] = {HEED_LESSON_Q, HEED_LESSON_K},
        [HEED_LESSON_OUTPUT] = {HEED_LESSON_WEIGHTS, HEED_LESSON_V},
        [HEED_LESSON_SHARE] = {HEED_LESSON_OUTPUT, HEED_LESSON_W_H},
    };
    *left = factors[out][0], *right = factors[out][1];
    if (out == HEED_LESSON_RAW && is_rotary(w)) *left = HEED_LESSON_Q_R, *right = HEED_LESSON_K_R;
}

heed_lesson_part bias_of(heed_lesson_part out) {
    bool projected = out >= HEED_LESSON_Q && out <= HEED_LESSON_V;
    return projected ? (heed_lesson_part)(out - HEED_LESSON_Q + HEED_LESSON_B_Q) : HEED_LESSON_X;
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

bool is_rotary(const worked *w) { return w->lesson.part[HEED_LESSON_Q_R].x != NULL; }

bool has_layer(const worked *w) { return w->lesson.part[HEED_LESSON_W_H].x != NULL; }

bool has_norm(const worked *w) { return w->lesson.part[HEED_LESSON_NORMED].x != NULL; }

bool is_bias(heed_lesson_part part) {
    return part == HEED_LESSON_B_O || (part >= HEED_LESSON_B_Q && part <= HEED_LESSON_B_V);
}

bool has_bias(const explaining *e, heed_lesson_part bias) {
    const heed_matrix *m = &e->w.lesson.part[bias];
    bool found = false;
    for (int j = 0; bias >= HEED_LESSON_B_Q && j < m->cols; j++) found |= m->x[j] != 0;
    return found;
}
