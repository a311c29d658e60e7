/* explain_steps.c -- the steps of a head, one after the other. */
#include "explain.h"

#include <math.h>
#include <string.h>

/* ---- views ---- */

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
        return NULL;
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
    default:
        return w->v;
    }
}

/* How the notation that writes tokens as columns calls a part, plain and turned. */
static const char *column_name(heed_lesson_part part, bool turned) {
    switch (part) {
    case HEED_LESSON_W_Q:
        return "W_Q'";
    case HEED_LESSON_W_K:
        return "W_K'";
    case HEED_LESSON_W_V:
        return "W_V'";
    case HEED_LESSON_K:
        return turned ? "K'" : "K";
    case HEED_LESSON_WEIGHTS:
        return "A";
    case HEED_LESSON_OUTPUT:
        return "H";
    default:
        return heed_lesson_name(part);
    }
}

matrix_view worked_view(const explaining *e, heed_lesson_part part, bool turned) {
    const char *const *rows = row_labels_of(&e->w, part), *const *cols = col_labels_of(&e->w, part);
    bool across = turned != e->columns;
    return (matrix_view){.name = e->columns                        ? column_name(part, turned)
                                 : turned && part == HEED_LESSON_K ? "K'"
                                                                   : heed_lesson_name(part),
                         .m = &e->w.lesson.part[part],
                         .transposed = across,
                         .row_labels = across ? cols : rows,
                         .col_labels = across ? rows : cols};
}

/* The view with the row, the column or the cell that stands out; -1: none. */
static matrix_view chosen_view(const explaining *e, heed_lesson_part part, bool turned, int row,
                               int col) {
    matrix_view v = worked_view(e, part, turned);
    v.row = 1 + (v.transposed ? col : row);
    v.col = 1 + (v.transposed ? row : col);
    return v;
}

/* ---- the parts of a step ---- */

static void blank_line(explaining *e) { heed_text_put(&e->out, "\n", 1); }

static void draw_product(explaining *e, heed_lesson_part left, heed_lesson_part right,
                         heed_lesson_part out, heed_lesson_part bias) {
    int row = -1, col = -1, n = 0;
    bool turned = out == HEED_LESSON_RAW;
    matrix_view parts[4];
    const char *between[4] = {"", "·", "=", "="};
    if (!chosen_cell(e, out, &row, &col)) row = col = -1;
    matrix_view a = chosen_view(e, left, false, row, -1);
    matrix_view b = chosen_view(e, right, turned, turned ? col : -1, turned ? -1 : col);
    parts[n++] = e->columns ? b : a;
    parts[n++] = e->columns ? a : b;
    if (bias != HEED_LESSON_X) {
        between[n] = "+";
        parts[n++] = worked_view(e, bias, false);
    }
    parts[n++] = chosen_view(e, out, false, row, col);
    draw_equation(&e->out, &e->look, n, parts, between);
    if (row < 0) return;
    blank_line(e);
    write_cell(e, out, row, col);
}

static void draw_result(explaining *e, heed_lesson_part part, const char *marks) {
    int row, col;
    if (!chosen_cell(e, part, &row, &col)) row = col = -1;
    matrix_view v = chosen_view(e, part, false, row, col);
    v.marks = marks;
    draw_matrix(&e->out, &e->look, &v);
    if (row < 0 || part == HEED_LESSON_SCORES) return;
    blank_line(e);
    write_cell(e, part, row, col);
}

/* ---- the steps ---- */

static void tokens(explaining *e) {
    const worked *w = &e->w;
    heed_text list = {.c = e->c};
    for (int i = 0; i < w->lesson.args.tokens; i++) {
        heed_text_add(&list, "%s%d ", i ? "  " : "", i + 1);
        put_label(&list, w->tokens[i], label_columns(w->tokens[i]), false);
    }
    draw_words(&e->out, &e->look,
               "The text is cut into %d tokens. Attention looks at all of them "
               "at once.",
               w->lesson.args.tokens);
    blank_line(e);
    if (list.s) draw_words(&e->out, &e->look, "%s", list.s);
    heed_text_free(&list);
}

static void vectors(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    draw_words(&e->out, &e->look, "Each token becomes %d numbers: a %s of X.", a->features,
               e->columns ? "column" : "row");
    blank_line(e);
    matrix_view v = worked_view(e, HEED_LESSON_X, false);
    draw_matrix(&e->out, &e->look, &v);
}

static void queries(explaining *e) {
    draw_words(&e->out, &e->look, "A query says what a token looks for.");
    blank_line(e);
    draw_product(e, HEED_LESSON_X, HEED_LESSON_W_Q, HEED_LESSON_Q, HEED_LESSON_X);
}

static void keys(explaining *e) {
    draw_words(&e->out, &e->look, "A key says what a token offers to be found by.");
    blank_line(e);
    draw_product(e, HEED_LESSON_Z, HEED_LESSON_W_K, HEED_LESSON_K, HEED_LESSON_X);
}

static void values(explaining *e) {
    draw_words(&e->out, &e->look, "A value is what a token passes on when it is looked at.");
    blank_line(e);
    draw_product(e, HEED_LESSON_Z, HEED_LESSON_W_V, HEED_LESSON_V, HEED_LESSON_X);
}

static void scores(explaining *e) {
    draw_words(&e->out, &e->look,
               "Every query meets every key: the dot product is large where they point the same "
               "way.");
    blank_line(e);
    draw_product(e, HEED_LESSON_Q, HEED_LESSON_K, HEED_LESSON_RAW, HEED_LESSON_X);
}

static void scale(explaining *e) {
    draw_words(&e->out, &e->look, "All scores are multiplied by beta = %.4g.",
               e->w.lesson.args.beta);
    blank_line(e);
    draw_result(e, HEED_LESSON_SCALED, NULL);
}

static void mask(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    if (!a->causal && !a->hide) {
        draw_words(&e->out, &e->look, "Nothing is hidden here: every query sees every key.");
        return;
    }
    draw_words(&e->out, &e->look, "What a query must not see gets the score -inf.");
    blank_line(e);
    draw_result(e, HEED_LESSON_SCORES, NULL);
}

static void softmax(explaining *e) {
    draw_words(&e->out, &e->look, "Softmax turns a row of scores into shares that sum to 1.");
    blank_line(e);
    draw_result(e, HEED_LESSON_WEIGHTS, NULL);
}

static void output(explaining *e) {
    draw_words(&e->out, &e->look, "Each token takes the mean of all values, by its weights.");
    blank_line(e);
    draw_product(e, HEED_LESSON_WEIGHTS, HEED_LESSON_V, HEED_LESSON_OUTPUT, HEED_LESSON_X);
}

static const struct {
    const char *name;
    void (*draw)(explaining *e);
} steps[] = {{"Tokens", tokens},   {"Vectors", vectors}, {"Queries", queries}, {"Keys", keys},
             {"Values", values},   {"Scores", scores},   {"Scale", scale},     {"Mask", mask},
             {"Softmax", softmax}, {"Output", output}};

void explain_steps(explaining *e) {
    enum { STEPS = sizeof steps / sizeof *steps };
    for (int i = 0; i < STEPS; i++) {
        if (i) blank_line(e);
        draw_heading(&e->out, &e->look, "%d. %s", i + 1, steps[i].name);
        steps[i].draw(e);
    }
}
