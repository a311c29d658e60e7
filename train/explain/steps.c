/* steps.c -- the steps of a head, one after the other. */
#include "explain/explain.h"

#include <heed/view.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how a step is drawn ---- */

static void draw_product(explaining *e, heed_lesson_part out) {
    int row = -1, col = -1;
    matrix_view parts[4];
    if (!chosen_cell(e, out, &row, &col)) row = col = -1;
    int last = product_views(e, out, row, col, parts) - 1;
    const char *const between[] = {"", "·", last > 2 ? "+" : "=", "="};
    if (row >= 0 && ask_cell(e, out, row, col, last, parts, between))
        draw_matrix(&e->out, &e->look, &parts[last]);
    else
        draw_equation(&e->out, &e->look, last + 1, parts, between);
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

/* Writes the remarks on the rows of W_Q, W_K or W_V, each once. */
static void write_notes(explaining *e, heed_lesson_part w) {
    const char *const *notes = e->w.notes[w - HEED_LESSON_W_Q];
    const char *const *labels = row_labels_of(&e->w, w);
    heed_text list = {.c = e->c};
    for (int i = 0; notes && i < e->w.lesson.part[w].rows; i++) {
        bool again = !*notes[i];
        for (int j = 0; j < i && !again; j++)
            again = strcmp(labels[i], labels[j]) == 0 && strcmp(notes[i], notes[j]) == 0;
        if (!again) heed_text_add(&list, "%s%s %s", list.n ? "; " : "", labels[i], notes[i]);
    }
    if (list.n) {
        gap(e);
        put_words(e, "The rows of %s: %s.", heed_lesson_name(w), list.s);
    }
    heed_text_free(&list);
}

/* ---- what would change without a step: the head is computed again without it ---- */

/* The weight that differs most from another head's; returns by how much. A row whose largest score
 * several keys share is taken only if no other differs: which of them is chosen means nothing. */
static double most_changed(const heed_lesson *l, const heed_matrix *b, int *row, int *col) {
    const heed_matrix *a = &l->part[HEED_LESSON_WEIGHTS];
    double most[2] = {-1, -1}; /* of rows with one largest score, of the others */
    int at[2][2] = {{0}}, first;
    for (int i = 0; i < a->rows; i++) {
        bool tied = heed_lesson_ties(l, i, &first) > 1;
        for (int j = 0; j < a->cols; j++) {
            double d = fabs(heed_matrix_at(a, i, j) - heed_matrix_at(b, i, j));
            if (d > most[tied]) most[tied] = d, at[tied][0] = i, at[tied][1] = j;
        }
    }
    bool tied = most[0] < 0.005; /* too little to be shown */
    *row = at[tied][0], *col = at[tied][1];
    return most[tied];
}

/* Writes what other arguments would change: "the weight of "in" on "lion" would be 0.84 instead of
 * 0.58". */
static void write_change(explaining *e, const heed_lesson_args *a, const char *lead) {
    const heed_matrix *before = &e->w.lesson.part[HEED_LESSON_WEIGHTS], *after;
    heed_lesson other;
    char was[32], would_be[32], from[64], to[64];
    int row = 0, col = 0, digits = e->look.precision > 1 ? e->look.precision : 2;
    if (heed_lesson_make(e->c, a, &other)) {
        after = &other.part[HEED_LESSON_WEIGHTS];
        if (most_changed(&e->w.lesson, after, &row, &col) < 0.5 * pow(10, -digits))
            aside(e, "%s the weights would be the same here.", lead);
        else
            aside(e, "%s the weight of \"%s\" on \"%s\" would be %s instead of %s.", lead,
                  short_label(from, e->w.tokens[row]), short_label(to, e->w.sources[col]),
                  number_text(would_be, heed_matrix_at(after, row, col), digits),
                  number_text(was, heed_matrix_at(before, row, col), digits));
    }
    heed_lesson_free(&other);
}

/* ---- the steps ---- */

/* "1 Paris, 2 is" */
static void list_tokens(explaining *e, const char *lead, const char *const *labels, int count) {
    heed_text list = {.c = e->c};
    for (int i = 0; i < count; i++) {
        char token[64];
        heed_text_add(&list, "%s%d\xc2\xa0%s", i ? ", " : "", i + 1, short_label(token, labels[i]));
    }
    if (list.s) put_words(e, "%s%s", lead, list.s);
    heed_text_free(&list);
}

static void tokens(explaining *e) {
    const worked *w = &e->w;
    const heed_lesson_args *a = &w->lesson.args;
    if (w->lesson.self) {
        say(e,
            "The %s is cut into %d token%s. Attention reads all of them at once; here they are "
            "numbered.",
            w->picture ? "picture" : "text", a->tokens, a->tokens == 1 ? "" : "s");
        list_tokens(e, "", w->tokens, a->tokens);
        return;
    }
    const char *line = e->columns ? "column" : "row";
    say(e,
        "Cross-attention: the queries come from one list of tokens, the keys and values from "
        "another, the inputs. Scores, weights and the output have a %s for each query; scores and "
        "weights have a %s for each input.",
        line, e->columns ? "row" : "column");
    list_tokens(e, "Queries: ", w->tokens, a->tokens);
    list_tokens(e, "Inputs: ", w->sources, a->sources);
}

static void vectors(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    say(e, "Each %s becomes a vector of %d numbers: a %s of X.",
        e->w.lesson.self ? "token" : "query's token", a->features, e->columns ? "column" : "row");
    draw_part(e, HEED_LESSON_X);
    if (e->w.alike) {
        gap(e);
        aside(e, "%s", e->w.alike);
    }
    if (e->w.lesson.self) return;
    gap(e);
    say(e, "Keys and values are computed from the inputs' vectors of %d numbers: Z.", a->memory);
    draw_part(e, HEED_LESSON_Z);
}

static void after_keys(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    gap(e);
    if (!e->w.lesson.self || a->features != a->memory) return;
    aside(e,
          "Without W_Q and W_K the scores would be %s: every token would look for what resembles "
          "itself, and the score of i on j would be that of j on i.",
          e->columns ? "X' X" : "X X'");
}

static void after_values(explaining *e) {
    gap(e);
    aside(e,
          "Without this step a token would pass on its own %d numbers, all that it is, instead of "
          "these %d.",
          e->w.lesson.args.memory, e->w.lesson.args.value);
}

static void rotate(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    static const heed_lesson_part parts[] = {HEED_LESSON_Q_R, HEED_LESSON_K_R};
    say(e,
        "Rotary positions: the numbers i and i + %d of a query and of a key are a pair, which is "
        "rotated by the angle p theta^(-2(i-1)/%d) for the place p of its token, from 0, and theta "
        "= %g. What two tokens then score depends on how far apart they are, not on where.",
        a->key / 2, a->key, a->rotary);
    for (int i = 0; i < 2; i++) {
        int row, col;
        bool chosen = chosen_cell(e, parts[i], &row, &col);
        matrix_view v = chosen_view(e, parts[i], false, chosen ? row : -1, chosen ? col : -1);
        if (i) gap(e);
        draw_matrix(&e->out, &e->look, &v);
        if (!chosen) continue;
        gap(e);
        write_cell(e, parts[i], row, col);
    }
}

static void scale(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    double usual = 1 / sqrt(a->key);
    char lead[96];
    if (fabs(a->beta - usual) < 1e-12)
        put_words(e,
                  "All scores are multiplied by beta = 1/sqrt(%d) = %.4f. Their variance grows "
                  "with the width of a query; this factor makes it independent of the width.",
                  a->key, usual);
    else
        put_words(
            e,
            "All scores are multiplied by beta = %.4g instead of the usual 1/sqrt(%d) = %.4f. The "
            "larger beta is, the sharper softmax chooses; at 0 all weights are equal.",
            a->beta, a->key, usual);
    if (a->hard) put_words(e, "A hard selection is the same with every beta above 0.");
    gap(e);
    draw_result(e, HEED_LESSON_SCALED, HEED_LESSON_RAW, NULL);
    gap(e);
    heed_lesson_args other = *a;
    bool unscaled = fabs(a->beta - 1) < 1e-12;
    other.beta = unscaled ? usual : 1;
    snprintf(lead, sizeof lead, "With beta = 1/sqrt(%d) = %.4g", a->key, usual);
    write_change(e, &other, unscaled && a->key > 1 ? lead : "Without this step (--no-scale)");
}

int hidden_scores(const explaining *e) {
    const heed_matrix *m = &e->w.lesson.part[HEED_LESSON_SCORES];
    int count = 0;
    for (int i = 0; i < m->rows * m->cols; i++) count += isinf(m->x[i]) && m->x[i] < 0;
    return count;
}

static void mask(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    int hidden = hidden_scores(e), n = a->tokens;
    if (!hidden && !e->w.lesson.self) {
        put_words(e, "Nothing is hidden here: every query sees every key.");
        return;
    }
    if (!hidden) {
        put_words(e,
                  "Nothing is hidden here: every query sees every key. A model that writes from "
                  "left to right hides what comes later (--causal), %d of these %d scores.",
                  n * (n - 1) / 2, n * a->sources);
        return;
    }
    say(e,
        "The mask sets the score of every key that a query must not see to -inf, so that its "
        "weight is exactly 0. It hides %d of %d scores.",
        hidden, n * a->sources);
    draw_result(e, HEED_LESSON_SCORES, HEED_LESSON_SCALED, NULL);
    gap(e);
    heed_lesson_args other = *a;
    other.causal = false, other.hide = NULL;
    write_change(e, &other, "Without this step (--no-mask)");
}

char *tie_marks(const explaining *e) {
    const heed_lesson *l = &e->w.lesson;
    const heed_matrix *m = &l->part[HEED_LESSON_SCORES];
    char *marks = malloc((size_t)m->rows * (size_t)m->cols);
    for (int i = 0; marks && i < m->rows; i++) {
        int first, count = heed_lesson_ties(l, i, &first);
        double top = heed_matrix_at(m, i, first);
        for (int j = 0; j < m->cols; j++) {
            bool tie = count && heed_matrix_at(m, i, j) == top;
            marks[i * m->cols + j] = j == first && count ? '*' : tie ? '=' : ' ';
        }
    }
    return marks;
}

void write_ties(explaining *e) {
    const heed_lesson *l = &e->w.lesson;
    heed_text list = {.c = e->c};
    for (int i = 0; i < l->args.tokens; i++) {
        int first, count = heed_lesson_ties(l, i, &first);
        char token[64], key[64];
        if (count < 2) continue;
        heed_text_add(&list, "%s%s (%d keys, first %s)", list.n ? ", " : "",
                      short_label(token, e->w.tokens[i]), count,
                      short_label(key, e->w.sources[first]));
    }
    if (list.n)
        put_words(
            e,
            "* is chosen, = ties with it: the first of equal scores wins. Ties in the %s of: %s.",
            e->columns ? "columns" : "rows", list.s);
    else
        put_words(e, "* is chosen; no two keys tie.");
    heed_text_free(&list);
}

/* How many weights of a query are not 0: ||a||_0. */
static void write_nonzeros(explaining *e, const char *line) {
    const heed_matrix *m = &e->w.lesson.part[HEED_LESSON_WEIGHTS];
    int least = m->cols, most = 0;
    for (int i = 0; i < m->rows; i++) {
        int count = 0;
        for (int j = 0; j < m->cols; j++) count += heed_matrix_at(m, i, j) > 0;
        least = count < least ? count : least, most = count > most ? count : most;
    }
    if (least < most)
        put_words(e, "Of the %d weights of a %s, %d to %d are not 0.", m->cols, line, least, most);
    else
        put_words(e, "Of the %d weights of a %s, %d %s not 0.", m->cols, line, most,
                  most == 1 ? "is" : "are");
}

static void softmax(explaining *e) {
    const char *line = e->columns ? "column" : "row";
    char *marks = e->w.lesson.args.hard ? tie_marks(e) : NULL;
    bool blind = false;
    for (int i = 0, first; i < e->w.lesson.args.tokens; i++)
        blind |= !heed_lesson_ties(&e->w.lesson, i, &first);
    if (marks)
        put_words(e, "A hard selection gives all weight of a %s to its largest score.", line);
    else
        put_words(e,
                  "Softmax turns each %s of scores into weights that sum to 1: exp(score) over the "
                  "sum of the %s's.",
                  line, line);
    write_nonzeros(e, line);
    if (blind)
        put_words(e,
                  "A %s whose scores are all hidden has nothing to choose from: its weights are 0, "
                  "and sum to 0.",
                  line);
    gap(e);
    draw_result(e, HEED_LESSON_WEIGHTS, HEED_LESSON_SCORES, marks);
    gap(e);
    if (marks) write_ties(e);
    heed_lesson_args other = e->w.lesson.args;
    other.hard = !other.hard;
    write_change(e, &other,
                 marks ? "With softmax" : "With all weight on the largest score (--hard)");
    free(marks);
}

static void output(explaining *e) {
    say(e,
        e->w.lesson.args.hard ? "Each token receives the one value that its %s chooses."
                              : "Each token receives the mean of all values, weighted by its %s.",
        e->columns ? "column of A" : "row of weights");
    draw_product(e, HEED_LESSON_OUTPUT);
}

/* ---- after a trained head ---- */

/* W_h, and share + others + B_O = all heads. */
static void shares(explaining *e, int step) {
    const heed_lesson *l = &e->w.lesson;
    matrix_view parts[4] = {worked_view(e, HEED_LESSON_SHARE, false)};
    bool others = false, bias = has_bias(e, HEED_LESSON_B_O);
    int n = 1;
    for (int i = 0; i < l->args.tokens * l->args.width; i++)
        others |= l->part[HEED_LESSON_OTHERS].x[i] != 0;
    gap(e);
    heading(e, "%d. W_h: %s", step, e->columns ? "share = W_h' H" : "share = output W_h");
    say(e,
        "%d numbers become %d again: what this head adds to each token. W_h here is this head's "
        "part of the layer's output matrix.",
        l->args.value, l->args.width);
    draw_product(e, HEED_LESSON_SHARE);
    if (others) parts[n++] = worked_view(e, HEED_LESSON_OTHERS, false);
    if (bias) parts[n++] = worked_view(e, HEED_LESSON_B_O, false);
    if (n == 1) return;
    gap(e);
    if (others)
        say(e, "The other heads%s theirs. All together:",
            bias ? " and the layer's bias B_O add" : " add");
    else
        say(e, "With the layer's bias B_O:");
    parts[n++] = worked_view(e, HEED_LESSON_ALL, false);
    draw_equation(&e->out, &e->look, n, parts,
                  (const char *[]){"", n > 2 ? "+" : "=", n > 3 ? "+" : "=", "="});
}

static void add_and_norm(explaining *e, int step) {
    gap(e);
    heading(e, "%d. Add%s", step, has_norm(&e->w) ? " and norm: LN(X + all heads)" : "");
    if (e->w.pre)
        put_words(e,
                  "This model norms before attention: X above is %s(stream), and all heads "
                  "together are added to the stream, which goes on to the rest of the model.",
                  e->w.rms ? "RMS norm" : "LN");
    else if (!has_norm(&e->w))
        put_words(e, "All heads together are added to X%s.",
                  e->w.rms ? ", and an RMS norm follows" : "");
    if (!has_norm(&e->w)) return;
    say(e, "The layer adds to what each token was before, so that nothing is lost; then each token "
           "is brought to mean 0 and deviation 1, times gain, plus bias.");
    draw_part(e, HEED_LESSON_GAIN);
    gap(e);
    draw_part(e, HEED_LESSON_BIAS);
    gap(e);
    draw_part(e, HEED_LESSON_NORMED);
}

static void after_head(explaining *e, int step) {
    if (has_layer(&e->w)) {
        shares(e, step);
        if (!e->w.custom) add_and_norm(e, step + 1);
    }
    if (!e->w.layer || heed_config_int(e->p->flags, "learn")) return;
    gap(e);
    aside(e,
          "Worked out in double from the model's own numbers; its weights, in float, differ by "
          "%.1e at most.%s",
          e->place.off,
          e->most_width ? " Wide matrices are cut for the screen (…): --whole, --json." : "");
}

/* A projection is drawn, with the remarks on its matrix, after its words and before what draw()
 * adds. */
static const struct {
    const char *name, *rows, *columns; /* the formula in either notation; %s: see fill() */
    void (*draw)(explaining *e);
    const char *words;
    heed_lesson_part product; /* HEED_LESSON_X: draw() draws what there is */
} steps[] = {
    {"Tokens", "", "", tokens, NULL, HEED_LESSON_X},
    {"Vectors", "", "", vectors, NULL, HEED_LESSON_X},
    {"Queries", ": Q = X W_Q", ": Q = W_Q' X", NULL, "A query says what a token looks for.",
     HEED_LESSON_Q},
    {"Keys", ": K = %s W_K", ": K = W_K' %s", after_keys,
     "A key says what a token offers to the queries.", HEED_LESSON_K},
    {"Values", ": V = %s W_V", ": V = W_V' %s", after_values,
     "A value is what a token passes on to the tokens that attend to it.", HEED_LESSON_V},
    {"Positions", ": Q_R, K_R", ": Q_R, K_R", rotate, NULL, HEED_LESSON_X},
    {"Scores", ": raw = %s", ": raw = %s", NULL,
     "Every query is compared with every key. Their dot product is large where the query looks "
     "for what the key offers.",
     HEED_LESSON_RAW},
    {"Scale", ": scaled = beta raw", ": scaled = beta raw", scale, NULL, HEED_LESSON_X},
    {"Mask", "", "", mask, NULL, HEED_LESSON_X},
    {"Weights", ": weights = %s of each row", ": A = %s of each column", softmax, NULL,
     HEED_LESSON_X},
    {"Output", ": output = weights V", ": H = V A", output, NULL, HEED_LESSON_X},
};

static void draw_step(explaining *e, int i) {
    heed_lesson_part part = steps[i].product;
    if (steps[i].words) say(e, "%s", steps[i].words);
    if (part) draw_product(e, part);
    if (bias_of(part)) write_notes(e, (heed_lesson_part)(HEED_LESSON_W_Q + part - HEED_LESSON_Q));
    if (steps[i].draw) steps[i].draw(e);
}

/* Explains the three sets of symbols that are in use for the same four sizes. */
static void symbols(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    static const char *const names[][4] = {{"m", "t", "N_X", "tokens, each with a key and a value"},
                                           {"", "", "N_Q", "queries"},
                                           {"d", "n", "D_X", "width of a token"},
                                           {"e", "d'", "D_Q", "width of a query and of a key"},
                                           {"d2", "d''", "D_V", "width of a value"}};
    const int sizes[] = {a->sources, a->tokens, a->memory, a->key, a->value};
    heading(e, "Symbols of the notes");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        heed_text_add(&e->out, "%-3s %-4s %-5s%4d ", names[i][0], names[i][1], names[i][2],
                      sizes[i]);
        heed_label_words(names[i][3], 19, e->look.width, &e->out);
        gap(e);
    }
    say(e, "%s",
        e->columns ? "Tokens are columns: H = V A, and the columns of A sum to 1. Without W_V that "
                     "is H = X A. W_Q' is W_Q with rows and columns exchanged."
                   : "Tokens are rows: output = weights V, and the rows of the weights sum to 1. "
                     "Notes that write H = X A mean the transpose: --notation columns.");
}

/* The text for %s in a step's formula: how weights or scores are computed, or what keys and values
 * are computed from. */
static const char *fill(const explaining *e, int i) {
    if (steps[i].draw == softmax) return e->w.lesson.args.hard ? "1 at the largest" : "softmax";
    if (steps[i].product == HEED_LESSON_RAW)
        return is_rotary(&e->w) ? e->columns ? "K_R' Q_R" : "Q_R K_R'"
               : e->columns     ? "K' Q"
                                : "Q K'";
    return e->w.lesson.self ? "X" : "Z";
}

static void step_heading(explaining *e, int number, int i) {
    heed_lesson_part bias = bias_of(steps[i].product);
    const char *format = e->columns ? steps[i].columns : steps[i].rows;
    const char *hole = strstr(format, "%s");
    int before = hole ? (int)(hole - format) : (int)strlen(format);
    bool biased = has_bias(e, bias);
    heading(e, "%d. %s%.*s%s%s%s%s", number, steps[i].name, before, format, hole ? fill(e, i) : "",
            hole ? hole + 2 : "", biased ? " + " : "", biased ? heed_lesson_name(bias) : "");
}

static void introduce(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    heed_text run = {.c = e->c}, title = {.c = e->c};
    heading(e, "Layer %d, head %d of %d (%s)", e->place.layer + 1, e->place.head + 1,
            e->place.heads, e->w.layer);
    put_words(e, "%s: %s", shown_title(&run, e->w.example), shown_title(&title, e->w.title));
    heed_text_free(&run);
    heed_text_free(&title);
    put_words(e, "Tokens have %d numbers, queries and keys of this head %d, values %d.",
              a->features, a->key, a->value);
    if (e->place.kv_heads) {
        int group = e->place.heads / e->place.kv_heads, first = e->place.head / group * group;
        put_words(e, "Heads %d to %d share their keys and values; their queries differ.", first + 1,
                  first + group);
    }
    gap(e);
}

void explain_summary(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    heed_text title = {.c = e->c};
    char name[48];
    const char *sheet = sheet_name(e, name);
    if (*sheet) put_words(e, "%s, %d blanks", sheet, sheet_blanks(e));
    if (e->w.layer)
        introduce(e);
    else
        say(e, "%s: %d tokens have %d numbers, queries and keys %d, values %d%s.",
            shown_title(&title, e->w.title), a->sources, a->memory, a->key, a->value,
            e->w.lesson.self ? "" : "; the queries come from other tokens");
    say(e, "Without --html, --tex and --png the steps are printed.");
    heed_text_free(&title);
}

void explain_steps(explaining *e) {
    enum { STEPS = sizeof steps / sizeof *steps };
    int number = 0;
    if (heed_config_rank(e->p->flags, "notation") == HEED_FROM_FLAG) symbols(e);
    if (e->w.layer) introduce(e);
    for (int i = 0; i < STEPS; i++) {
        if (steps[i].draw == rotate && !is_rotary(&e->w)) continue;
        if (i == 1 || i == 2) ask_next(e);
        if (i) gap(e);
        step_heading(e, ++number, i);
        draw_step(e, i);
    }
    after_head(e, number + 1);
    if (heed_config_bool(e->p->flags, "backward"))
        explain_backward(e, number + 1 + (has_layer(&e->w) ? 2 : 0));
    ask_end(e);
}
