/* steps.c -- the steps of a head, one after the other. */
#include "explain/explain.h"

#include <heed/view.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void gap(explaining *e) { heed_text_put(&e->out, "\n", 1); }

/* ---- how a step is drawn ---- */

/* The view with a highlighted row, column or cell; -1: none. */
static matrix_view chosen_view(const explaining *e, heed_lesson_part part, bool turned, int row,
                               int col) {
    matrix_view v = worked_view(e, part, turned);
    v.row = 1 + (v.transposed ? col : row);
    v.col = 1 + (v.transposed ? row : col);
    return v;
}

/* Draws left right = out, with a bias unless `bias` is HEED_LESSON_X. */
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
    if (has_bias(e, bias)) {
        between[n] = "+";
        parts[n++] = worked_view(e, bias, false);
    }
    parts[n] = chosen_view(e, out, false, row, col);
    between[n] = "=";
    if (row >= 0 && ask_cell(e, out, row, col, n, parts, between))
        draw_matrix(&e->out, &e->look, &parts[n]);
    else
        draw_equation(&e->out, &e->look, n + 1, parts, between);
    if (row < 0) return;
    gap(e);
    write_cell(e, out, row, col);
}

static void draw_part(explaining *e, heed_lesson_part part) {
    matrix_view v = worked_view(e, part, false);
    draw_matrix(&e->out, &e->look, &v);
}

static void draw_result(explaining *e, heed_lesson_part part, heed_lesson_part from,
                        const char *marks) {
    int row, col;
    if (!chosen_cell(e, part, &row, &col)) row = col = -1;
    matrix_view before = chosen_view(e, from, false, row, part == HEED_LESSON_WEIGHTS ? -1 : col);
    if (row >= 0) ask_cell(e, part, row, col, 1, &before, (const char *[]){""});
    matrix_view v = chosen_view(e, part, false, row, col);
    v.marks = marks;
    draw_matrix(&e->out, &e->look, &v);
    if (row < 0 || part == HEED_LESSON_SCORES) return;
    gap(e);
    write_cell(e, part, row, col);
}

/* Writes the remarks on the rows of W, each once. */
static void write_notes(explaining *e, int which, const char *name) {
    const char *const *notes = e->w.notes[which];
    const char *const *labels = which ? e->w.memory : e->w.features;
    int count = which ? e->w.lesson.args.memory : e->w.lesson.args.features;
    heed_text list = {.c = e->c};
    for (int i = 0; notes && i < count; i++) {
        bool again = !*notes[i];
        for (int j = 0; j < i && !again; j++)
            again = strcmp(labels[i], labels[j]) == 0 && strcmp(notes[i], notes[j]) == 0;
        if (!again) heed_text_add(&list, "%s%s %s", list.n ? "; " : "", labels[i], notes[i]);
    }
    if (list.n) {
        gap(e);
        draw_words(&e->out, &e->look, "The rows of %s: %s.", name, list.s);
    }
    heed_text_free(&list);
}

/* ---- the steps ---- */

static void tokens(explaining *e) {
    const worked *w = &e->w;
    heed_text list = {.c = e->c};
    for (int i = 0; i < w->lesson.args.tokens; i++) {
        char token[64];
        heed_text_add(&list, "%s%d\xc2\xa0%s", i ? ", " : "", i + 1,
                      short_label(token, w->tokens[i]));
    }
    draw_words(
        &e->out, &e->look,
        "The %s is cut into %d token%s. Attention looks at all of them at once; here each has "
        "its number.",
        w->picture ? "picture" : "text", w->lesson.args.tokens,
        w->lesson.args.tokens == 1 ? "" : "s");
    gap(e);
    if (list.s) draw_words(&e->out, &e->look, "%s", list.s);
    heed_text_free(&list);
}

static void vectors(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    draw_words(&e->out, &e->look, "Each token becomes a vector of %d numbers: a %s of X.",
               a->features, e->columns ? "column" : "row");
    gap(e);
    draw_part(e, HEED_LESSON_X);
    if (e->w.lesson.self) return;
    gap(e);
    draw_words(&e->out, &e->look, "Keys and values are made of other vectors: Z.");
    gap(e);
    draw_part(e, HEED_LESSON_Z);
}

static void queries(explaining *e) {
    draw_words(&e->out, &e->look, "A query says what a token looks for.");
    gap(e);
    draw_product(e, HEED_LESSON_X, HEED_LESSON_W_Q, HEED_LESSON_Q, HEED_LESSON_B_Q);
    write_notes(e, 0, "W_Q");
}

static void keys(explaining *e) {
    draw_words(&e->out, &e->look, "A key says what a token has to offer to those who look.");
    gap(e);
    draw_product(e, HEED_LESSON_Z, HEED_LESSON_W_K, HEED_LESSON_K, HEED_LESSON_B_K);
    write_notes(e, 1, "W_K");
    gap(e);
    without_projections(e);
}

static void values(explaining *e) {
    draw_words(&e->out, &e->look, "A value is what a token passes on to those who look at it.");
    gap(e);
    draw_product(e, HEED_LESSON_Z, HEED_LESSON_W_V, HEED_LESSON_V, HEED_LESSON_B_V);
    write_notes(e, 2, "W_V");
    gap(e);
    without_values(e);
}

static void scores(explaining *e) {
    draw_words(&e->out, &e->look,
               "Every query meets every key. Their dot product is large where the one looks for "
               "what the other offers.");
    gap(e);
    draw_product(e, HEED_LESSON_Q, HEED_LESSON_K, HEED_LESSON_RAW, HEED_LESSON_X);
}

static void scale(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    double usual = 1 / sqrt(a->key);
    if (fabs(a->beta - usual) < 1e-12)
        draw_words(&e->out, &e->look,
                   "All scores are multiplied by beta = 1/sqrt(%d) = %.4f. Sums of %d products "
                   "grow with their number; this takes back what they grow by the width alone.",
                   a->key, usual, a->key);
    else
        draw_words(&e->out, &e->look,
                   "All scores are multiplied by beta = %.4g instead of the usual 1/sqrt(%d) = "
                   "%.4f. The larger beta is, the sharper softmax chooses; at 0 all weights are "
                   "equal.",
                   a->beta, a->key, usual);
    if (a->hard)
        draw_words(&e->out, &e->look, "A hard selection is the same with every beta above 0.");
    gap(e);
    draw_result(e, HEED_LESSON_SCALED, HEED_LESSON_RAW, NULL);
    gap(e);
    without_scale(e);
}

static int hidden_cells(const explaining *e) {
    const heed_matrix *m = &e->w.lesson.part[HEED_LESSON_SCORES];
    int count = 0;
    for (int i = 0; i < m->rows * m->cols; i++) count += isinf(m->x[i]) && m->x[i] < 0;
    return count;
}

static void mask(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    int hidden = hidden_cells(e), n = a->tokens;
    if (!hidden && !e->w.lesson.self) {
        draw_words(&e->out, &e->look, "Nothing is hidden here: every query sees every key.");
        return;
    }
    if (!hidden) {
        draw_words(&e->out, &e->look,
                   "Nothing is hidden here: every query sees every key. A model that writes from "
                   "left to right hides what comes later (--causal), %d of these %d scores.",
                   n * (n - 1) / 2, n * a->sources);
        return;
    }
    draw_words(&e->out, &e->look,
               "What a query must not see gets the score -inf, so that its weight is exactly 0: "
               "%d of %d scores.",
               hidden, n * a->sources);
    gap(e);
    draw_result(e, HEED_LESSON_SCORES, HEED_LESSON_SCALED, NULL);
    gap(e);
    without_mask(e);
}

static bool has_blind_query(const explaining *e) {
    int first;
    for (int i = 0; i < e->w.lesson.args.tokens; i++)
        if (!heed_lesson_ties(&e->w.lesson, i, &first)) return true;
    return false;
}

static void softmax(explaining *e) {
    const char *line = e->columns ? "column" : "row";
    char *marks = e->w.lesson.args.hard ? tie_marks(e) : NULL;
    if (marks)
        draw_words(&e->out, &e->look,
                   "A hard selection gives all weight of a %s to its largest score.", line);
    else
        draw_words(&e->out, &e->look,
                   "Softmax turns each %s of scores into weights that sum to 1: exp(score) over "
                   "the sum of the %s's.",
                   line, line);
    if (has_blind_query(e))
        draw_words(&e->out, &e->look,
                   "A %s whose scores are all hidden has nothing to choose from: its weights are "
                   "0, and sum to 0.",
                   line);
    gap(e);
    draw_result(e, HEED_LESSON_WEIGHTS, HEED_LESSON_SCORES, marks);
    gap(e);
    if (marks) write_ties(e);
    without_softness(e);
    free(marks);
}

static void output(explaining *e) {
    const char *line = e->columns ? "column of A" : "row of weights";
    if (e->w.lesson.args.hard)
        draw_words(&e->out, &e->look, "Each token receives the one value that its %s chooses.",
                   line);
    else
        draw_words(&e->out, &e->look,
                   "Each token receives the mean of all values, weighted by its %s.", line);
    gap(e);
    draw_product(e, HEED_LESSON_WEIGHTS, HEED_LESSON_V, HEED_LESSON_OUTPUT, HEED_LESSON_X);
}

/* ---- after a trained head ---- */

/* share + others + B_O = all heads */
static void all_heads(explaining *e, bool others, bool bias) {
    matrix_view parts[4] = {worked_view(e, HEED_LESSON_SHARE, false)};
    int n = 1;
    if (others) parts[n++] = worked_view(e, HEED_LESSON_OTHERS, false);
    if (bias) parts[n++] = worked_view(e, HEED_LESSON_B_O, false);
    if (n == 1) return;
    gap(e);
    if (others)
        draw_words(&e->out, &e->look, "The other heads%s theirs. All together:",
                   bias ? " and the layer's bias B_O add" : " add");
    else
        draw_words(&e->out, &e->look, "With the layer's bias B_O:");
    gap(e);
    parts[n++] = worked_view(e, HEED_LESSON_ALL, false);
    draw_equation(&e->out, &e->look, n, parts,
                  (const char *[]){"", n > 2 ? "+" : "=", n > 3 ? "+" : "=", "="});
}

static void shares(explaining *e, int step) {
    const heed_lesson *l = &e->w.lesson;
    bool others = false;
    gap(e);
    draw_heading(&e->out, &e->look, "%d. W_h: %s", step,
                 e->columns ? "share = W_h' H" : "share = output W_h");
    draw_words(&e->out, &e->look,
               "%d numbers become %d again: what this head adds to each token. W_h here is this "
               "head's part of the layer's output matrix.",
               l->args.value, l->args.width);
    gap(e);
    draw_product(e, HEED_LESSON_OUTPUT, HEED_LESSON_W_H, HEED_LESSON_SHARE, HEED_LESSON_X);
    for (int i = 0; i < l->args.tokens * l->args.width; i++)
        others |= l->part[HEED_LESSON_OTHERS].x[i] != 0;
    all_heads(e, others, has_bias(e, HEED_LESSON_B_O));
}

static void add_and_norm(explaining *e, int step) {
    gap(e);
    draw_heading(&e->out, &e->look, "%d. Add%s", step,
                 has_norm(&e->w) ? " and norm: LN(X + all heads)" : "");
    if (e->w.pre)
        draw_words(&e->out, &e->look,
                   "This model norms before attention: X above is LN(stream), and all heads "
                   "together are added to the stream, which goes on to the rest of the model.");
    else if (!has_norm(&e->w))
        draw_words(&e->out, &e->look, "All heads together are added to X.");
    if (!has_norm(&e->w)) return;
    draw_words(&e->out, &e->look,
               "The layer adds to what each token was before, so that nothing is lost; then each "
               "token is brought to mean 0 and deviation 1, times gain, plus bias.");
    gap(e);
    draw_part(e, HEED_LESSON_GAIN);
    gap(e);
    draw_part(e, HEED_LESSON_BIAS);
    gap(e);
    draw_part(e, HEED_LESSON_NORMED);
}

static void behind(explaining *e, int step) {
    if (has_layer(&e->w)) {
        shares(e, step);
        if (!e->w.custom) add_and_norm(e, step + 1);
    }
    if (!e->w.layer || heed_config_int(e->p->flags, "learn")) return;
    gap(e);
    draw_aside(&e->out, &e->look,
               "Worked out in double from the model's own numbers; its weights, in float, differ "
               "by %.1e at most.%s",
               e->place.off,
               e->most_width ? " Wide matrices are cut for the screen (…): --whole, --json." : "");
}

static const struct {
    const char *name, *rows, *columns; /* the formula in either notation; %s: fill() */
    void (*draw)(explaining *e);
} steps[] = {
    {"Tokens", "", "", tokens},
    {"Vectors", "", "", vectors},
    {"Queries", ": Q = X W_Q", ": Q = W_Q' X", queries},
    {"Keys", ": K = %s W_K", ": K = W_K' %s", keys},
    {"Values", ": V = %s W_V", ": V = W_V' %s", values},
    {"Scores", ": raw = Q K'", ": raw = K' Q", scores},
    {"Scale", ": scaled = beta raw", ": scaled = beta raw", scale},
    {"Mask", "", "", mask},
    {"Weights", ": weights = %s of each row", ": A = %s of each column", softmax},
    {"Output", ": output = weights V", ": H = V A", output},
};

/* Explains the three sets of symbols that are in use for the same four sizes. */
static void symbols(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    static const char *const names[4][4] = {{"m", "t", "N_X", "tokens"},
                                            {"d", "n", "D_X", "numbers of a token"},
                                            {"e", "d'", "D_Q", "numbers of a query and of a key"},
                                            {"d2", "d''", "D_V", "numbers of a value"}};
    const int sizes[4] = {a->tokens, a->features, a->key, a->value};
    draw_heading(&e->out, &e->look, "Symbols of the notes");
    for (int i = 0; i < 4; i++) {
        heed_text_add(&e->out, "%-3s %-4s %-5s%4d ", names[i][0], names[i][1], names[i][2],
                      sizes[i]);
        heed_label_words(names[i][3], 19, e->look.width, &e->out);
        gap(e);
    }
    draw_words(&e->out, &e->look, "%s",
               e->columns ? "Tokens are columns: H = V A, and the columns of A sum to 1. Without "
                            "W_V that is H = X A. W_Q' is W_Q with rows and columns exchanged."
                          : "Tokens are rows: output = weights V, and the rows of the weights sum "
                            "to 1. Notes that write H = X A mean the transpose: --notation "
                            "columns.");
    gap(e);
}

/* " + B_Q" if the step has a bias, otherwise "". */
static const char *bias_term(const explaining *e, int step) {
    static const char *const terms[] = {" + B_Q", " + B_K", " + B_V"};
    int k = step - 2;
    return k >= 0 && k < 3 && has_bias(e, HEED_LESSON_B_Q + (unsigned)k) ? terms[k] : "";
}

/* The text for %s in a step's formula: how weights are computed, or what keys and values are
 * computed from. */
static const char *fill(const explaining *e, int i) {
    if (steps[i].draw == softmax) return e->w.lesson.args.hard ? "1 at the largest" : "softmax";
    return e->w.lesson.self ? "X" : "Z";
}

static void step_heading(explaining *e, int i) {
    char formula[80];
    const char *format = e->columns ? steps[i].columns : steps[i].rows,
               *hole = strstr(format, "%s");
    int before = hole ? (int)(hole - format) : (int)strlen(format);
    snprintf(formula, sizeof formula, "%.*s%s%s", before, format, hole ? fill(e, i) : "",
             hole ? hole + 2 : "");
    draw_heading(&e->out, &e->look, "%d. %s%s%s", i + 1, steps[i].name, formula, bias_term(e, i));
}

static void introduce(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    heed_text run = {.c = e->c}, title = {.c = e->c};
    draw_heading(&e->out, &e->look, "Layer %d, head %d of %d (%s)", e->place.layer + 1,
                 e->place.head + 1, e->place.heads, e->w.layer);
    draw_words(&e->out, &e->look, "%s: %s", shown_title(&run, e->w.example),
               shown_title(&title, e->w.title));
    heed_text_free(&run);
    heed_text_free(&title);
    draw_words(&e->out, &e->look,
               "Tokens have %d numbers, queries and keys of this head %d, values %d.", a->features,
               a->key, a->value);
    gap(e);
}

void explain_steps(explaining *e) {
    enum { STEPS = sizeof steps / sizeof *steps };
    if (heed_config_rank(e->p->flags, "notation") == HEED_FROM_FLAG) symbols(e);
    if (e->w.layer) introduce(e);
    for (int i = 0; i < STEPS; i++) {
        if (i == 1 || i == 2) ask_next(e);
        if (i) gap(e);
        step_heading(e, i);
        steps[i].draw(e);
    }
    behind(e, STEPS + 1);
    if (heed_config_bool(e->p->flags, "backward"))
        explain_backward(e, STEPS + 1 + (has_layer(&e->w) ? 2 : 0));
    ask_end(e);
}
