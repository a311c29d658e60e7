/* head.c -- the steps of a head: the settings that change it, the cell that is written out, and the
 * list from the tokens to the output or, in a trained model, to the end of the layer. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings ---- */

static bool same_text(const char *label, const char *text, size_t n) {
    return strlen(label) == n && memcmp(label, text, n) == 0;
}

/* The index of the first label that equals the text, or of a number from 1 to count; -1: none. */
static int place_of(const char *text, size_t n, const char *const *labels, int count) {
    char *end;
    for (int i = 0; labels && i < count; i++)
        if (same_text(labels[i], text, n)) return i;
    long number = strtol(text, &end, 10);
    return end != text + n || number < 1 || number > count ? -1 : (int)number - 1;
}

static bool hide_keys(explaining *e) {
    heed_lesson *l = &e->w.lesson;
    for (const char *text = heed_config_text(e->p->flags, "hide"); *text;) {
        size_t n = strcspn(text, ",");
        int at = place_of(text, n, e->w.sources, l->args.sources);
        if (at < 0)
            return heed_fail(
                e->c, HEED_USAGE,
                "--hide is wrong: expected tokens of the text or numbers from 1 to %d, found %.*s",
                l->args.sources, (int)(n < 40 ? n : 40), text);
        for (int i = 0; i < l->args.sources; i++) /* all tokens with that text */
            if (i == at || same_text(e->w.sources[i], text, n)) l->hidden[i] = 1;
        text += n + (text[n] == ',');
    }
    return true;
}

/* A part that --cell may name; -1: none. */
static int part_named(const worked *w, const char *text, size_t n) {
    for (int i = HEED_LESSON_Q; i <= HEED_LESSON_OUTPUT; i++)
        if (i != HEED_LESSON_SCORES && w->lesson.part[i].x &&
            same_text(heed_lesson_name((heed_lesson_part)i), text, n))
            return i;
    return -1;
}

/* Without a part, the cell is one of the scores, and of every part that has such a cell. */
static bool choose_cell(explaining *e) {
    const char *given = heed_config_text(e->p->flags, "cell"), *text = given;
    const char *colon = strchr(text, ':'), *comma;
    if (!*text) return true;
    e->part = colon ? part_named(&e->w, text, (size_t)(colon - text)) : -1;
    if (e->part >= 0) text = colon + 1;
    heed_lesson_part part = e->part < 0 ? HEED_LESSON_RAW : (heed_lesson_part)e->part;
    const heed_matrix *m = &e->w.lesson.part[part];
    if ((comma = strchr(text, ',')) != NULL) {
        const char *row = e->columns ? comma + 1 : text, *col = e->columns ? text : comma + 1;
        size_t before = (size_t)(comma - text), after = strlen(comma + 1);
        e->row =
            1 + place_of(row, e->columns ? after : before, row_labels_of(&e->w, part), m->rows);
        e->col =
            1 + place_of(col, e->columns ? before : after, col_labels_of(&e->w, part), m->cols);
        if (e->row > 0 && e->col > 0) return true;
    }
    return heed_fail(
        e->c, HEED_USAGE,
        "--cell is wrong: expected ROW,COLUMN or one of Q K V %sraw scaled weights output, a "
        "colon and ROW,COLUMN, by tokens or by numbers up to %d,%d; found %.60s",
        has_part(&e->w, HEED_LESSON_Q_R) ? "Q_R K_R " : "", e->columns ? m->cols : m->rows,
        e->columns ? m->rows : m->cols, given);
}

bool apply_settings(explaining *e) {
    heed_lesson *l = &e->w.lesson;
    heed_config *f = e->p->flags;
    const char *beta = heed_config_text(f, "beta");
    char *end;
    if (!heed_config_bool(f, "scale")) l->args.beta = 1;
    if (*beta) l->args.beta = strtod(beta, &end);
    if (*beta && (end == beta || *end || !(fabs(l->args.beta) <= LARGEST_NUMBER)))
        return heed_fail(e->c, HEED_USAGE,
                         "--beta is wrong: expected a number from -%g to %g, found %.60s",
                         LARGEST_NUMBER, LARGEST_NUMBER, beta);
    if (!hide_keys(e)) return false;
    if (heed_config_bool(f, "causal") && !l->self)
        return heed_fail(e->c, HEED_USAGE,
                         "--causal: the keys of %s are of another text than the queries, so none "
                         "comes later; hint: --hide KEYS",
                         e->w.example);
    if (heed_config_bool(f, "causal")) l->args.causal = true;
    if (heed_config_bool(f, "hard")) l->args.hard = true;
    if (!heed_config_bool(f, "mask")) {
        l->args.causal = false;
        memset(l->hidden, 0, (size_t)l->args.sources);
    }
    heed_lesson_compute(l);
    return choose_cell(e);
}

/* ---- which cell ---- */

/* The row to write out: the given one or, if it is all zeros, that of the largest number. */
static int row_of_numbers(const explaining *e, const heed_matrix *m, int row) {
    double least = 0.5 * pow(10, -matrix_digits(m, e->look.precision));
    int best = largest_row(m);
    double here = fabs(heed_matrix_at(m, row, largest_in_row(m, row)));
    double there = fabs(heed_matrix_at(m, best, largest_in_row(m, best)));
    return here < least && there > here ? best : row;
}

/* The query and the key are those asked for, or the example's. The default is the middle query,
 * unless its numbers are zeros, and the key with its largest weight. */
bool chosen_cell(const explaining *e, heed_lesson_part part, int *row, int *col) {
    const worked *w = &e->w;
    const heed_matrix *p = w->lesson.part, *m = &p[part], *weights = &p[HEED_LESSON_WEIGHTS];
    int query = e->row - 1, key = e->col - 1;
    if (e->row && e->part >= 0) {
        *row = query, *col = key;
        return e->part == (int)part;
    }
    if (!e->row) {
        query = w->query ? w->query - 1 : row_of_numbers(e, &p[HEED_LESSON_Q], weights->rows / 2);
        key = w->key ? w->key - 1 : largest_in_row(weights, query);
    }
    bool of_keys = part == HEED_LESSON_K || part == HEED_LESSON_V || part == HEED_LESSON_K_R;
    bool of_pairs = part >= HEED_LESSON_RAW && part <= HEED_LESSON_WEIGHTS;
    *row = of_keys ? key : query;
    if (!of_pairs && !e->row) *row = row_of_numbers(e, m, *row);
    *col = of_pairs ? key : largest_in_row(m, *row);
    return true;
}

void choose_step_cell(explaining *e, bool chosen, int row, int col) {
    lesson_step *s = &e->list[e->count - 1];
    if (!chosen) return;
    s->row = e->columns ? col : row;
    s->col = e->columns ? row : col;
}

/* ---- a cell that is no sum of products, written out ---- */

static double put_number(heed_text *out, double x, int digits) {
    char text[32];
    number_text(text, x, digits);
    heed_text_add(out, text[0] == '-' ? "(%s)" : "%s", text);
    return strtod(text, NULL);
}

static double put_weight(heed_text *out, const explaining *e, int row, int col) {
    const heed_matrix *m = &e->w.lesson.part[HEED_LESSON_SCORES];
    double top = -(double)INFINITY, sum = 0, s = heed_matrix_at(m, row, col);
    char text[32], shift[32] = "";
    for (int j = 0; j < m->cols; j++) top = fmax(top, heed_matrix_at(m, row, j));
    double from = fabs(top) > 12 && isfinite(top) ? top : 0;
    for (int j = 0; j < m->cols; j++) sum += exp(heed_matrix_at(m, row, j) - from);
    if (from != 0) snprintf(shift, sizeof shift, "-%.*f", e->look.precision, from);
    int digits = matrix_digits(m, e->look.precision);
    heed_text_add(out, "exp(%s%s) / sum of exp = ", number_text(text, s, digits), shift);
    double part = put_number(out, exp(s - from), e->look.precision);
    heed_text_add(out, " / ");
    return part / put_number(out, sum, e->look.precision);
}

/* The two numbers of a pair, of which the rotated one is made. */
static double put_rotation(heed_text *out, const explaining *e, heed_lesson_part part, int row,
                           int col) {
    const heed_lesson *l = &e->w.lesson;
    const heed_matrix *m = &l->part[part == HEED_LESSON_Q_R ? HEED_LESSON_Q : HEED_LESSON_K];
    int half = m->cols / 2, i = col % half, digits = matrix_digits(m, e->look.precision);
    char angle[32];
    number_text(angle, row * pow(l->args.rotary, -2.0 * i / m->cols), 4);
    double turn = strtod(angle, NULL), x = put_number(out, heed_matrix_at(m, row, col), digits);
    heed_text_add(out, "·cos(%s) %c ", angle, col < half ? '-' : '+');
    double y = put_number(out, heed_matrix_at(m, row, (col + half) % m->cols), digits);
    heed_text_add(out, "·sin(%s)", angle);
    return x * cos(turn) + (col < half ? -y : y) * sin(turn);
}

static const char *special_cell(explaining *e, heed_lesson_part part, int row, int col) {
    const heed_lesson *l = &e->w.lesson;
    const heed_matrix *raw = &l->part[HEED_LESSON_RAW];
    matrix_view v = worked_view(e, part, false);
    int first, r = e->columns ? col : row, c = e->columns ? row : col;
    const char *name = cell_name(e, &v, r, c);
    if (part == HEED_LESSON_WEIGHTS && !heed_lesson_ties(l, row, &first))
        return text_of(e, "%s = 0: all its keys are hidden.", name);
    if (part == HEED_LESSON_WEIGHTS && l->args.hard)
        return text_of(e, "%s = %s.", name,
                       col == first ? "1: the largest of its scores"
                                    : "0: not the first of its largest scores");
    heed_text terms = {.c = e->c};
    char beta[32];
    double sum;
    if (part == HEED_LESSON_WEIGHTS)
        sum = put_weight(&terms, e, row, col);
    else if (part == HEED_LESSON_SCALED) {
        heed_text_add(&terms, "%s·", number_text(beta, l->args.beta, 4));
        sum = strtod(beta, NULL) * put_number(&terms, heed_matrix_at(raw, row, col),
                                              matrix_digits(raw, e->look.precision));
    } else
        sum = put_rotation(&terms, e, part, row, col);
    const char *line = written_line(e, &v, r, c, terms.s, sum);
    heed_text_free(&terms);
    return line;
}

/* ---- parts of steps ---- */

static lesson_step *begin(explaining *e, const char *title, const char *rows, const char *columns,
                          const char *words) {
    return add_step(e, title, e->columns ? columns : rows, words);
}

/* left right + bias = out. */
static void show_product(explaining *e, heed_lesson_part out) {
    static const heed_lesson_part factors[][2] = {
        [HEED_LESSON_Q] = {HEED_LESSON_X, HEED_LESSON_W_Q},
        [HEED_LESSON_K] = {HEED_LESSON_Z, HEED_LESSON_W_K},
        [HEED_LESSON_V] = {HEED_LESSON_Z, HEED_LESSON_W_V},
        [HEED_LESSON_RAW] = {HEED_LESSON_Q, HEED_LESSON_K},
        [HEED_LESSON_OUTPUT] = {HEED_LESSON_WEIGHTS, HEED_LESSON_V},
        [HEED_LESSON_SHARE] = {HEED_LESSON_OUTPUT, HEED_LESSON_W_H},
    };
    bool raw = out == HEED_LESSON_RAW, rotary = has_part(&e->w, HEED_LESSON_Q_R);
    heed_lesson_part left = raw && rotary ? HEED_LESSON_Q_R : factors[out][0];
    heed_lesson_part right = raw && rotary ? HEED_LESSON_K_R : factors[out][1];
    matrix_view a = worked_view(e, left, false), b = worked_view(e, right, raw);
    int row, col;
    show_view(e, "", e->columns ? b : a);
    show_view(e, "·", e->columns ? a : b);
    if (out >= HEED_LESSON_Q && out <= HEED_LESSON_V) {
        heed_lesson_part bias = (heed_lesson_part)(HEED_LESSON_B_Q + out - HEED_LESSON_Q);
        if (has_bias(e, bias)) show_view(e, "+", worked_view(e, bias, false));
    }
    show_view(e, "=", worked_view(e, out, false));
    bool chosen = chosen_cell(e, out, &row, &col);
    choose_step_cell(e, chosen, row, col);
}

/* A part made of the one before it, cell by cell or row by row. */
static matrix_view *show_result(explaining *e, heed_lesson_part from, heed_lesson_part part) {
    int row, col;
    bool chosen = chosen_cell(e, part, &row, &col);
    show_view(e, "", worked_view(e, from, false))->seen = true;
    matrix_view *v = show_view(e, "", worked_view(e, part, false));
    choose_step_cell(e, chosen, row, col);
    if (chosen && part != HEED_LESSON_SCORES)
        e->list[e->count - 1].cell = special_cell(e, part, row, col);
    return v;
}

/* "1 Paris, 2 is" */
static void list_tokens(explaining *e, lesson_step *s, const char *lead, const char *const *labels,
                        int count) {
    heed_text list = {.c = e->c};
    for (int i = 0; i < count; i++) {
        char token[64];
        heed_text_add(&list, "%s%d\xc2\xa0%s", i ? ", " : "", i + 1, short_label(token, labels[i]));
    }
    s->now = text_of(e, "%s%s", lead, list.s);
    s->listed = labels;
    s->listed_count = count;
    heed_text_free(&list);
}

/* The remarks on the rows of W_Q, W_K or W_V, each once; NULL: there are none. */
static const char *notes_of(explaining *e, heed_lesson_part w) {
    const char *const *notes = e->w.notes[w - HEED_LESSON_W_Q];
    const char *const *labels = row_labels_of(&e->w, w);
    heed_text list = {.c = e->c};
    for (int i = 0; notes && i < e->w.lesson.part[w].rows; i++) {
        bool again = !*notes[i];
        for (int j = 0; j < i && !again; j++)
            again = strcmp(labels[i], labels[j]) == 0 && strcmp(notes[i], notes[j]) == 0;
        if (!again) heed_text_add(&list, "%s%s %s", list.n ? "; " : "", labels[i], notes[i]);
    }
    const char *text =
        list.n ? text_of(e, "The rows of %s: %s.", heed_lesson_name(w), list.s) : NULL;
    heed_text_free(&list);
    return text;
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

/* What other arguments would change: "the weight of "in" on "lion" would be 0.84 instead of 0.58".
 */
static const char *change_by(explaining *e, const heed_lesson_args *a, const char *lead) {
    const heed_matrix *before = &e->w.lesson.part[HEED_LESSON_WEIGHTS];
    heed_lesson other;
    char was[32], would_be[32], from[64], to[64];
    const char *text = NULL;
    int row = 0, col = 0, digits = e->look.precision > 1 ? e->look.precision : 2;
    if (heed_lesson_make(e->c, a, &other)) {
        const heed_matrix *after = &other.part[HEED_LESSON_WEIGHTS];
        if (most_changed(&e->w.lesson, after, &row, &col) < 0.5 * pow(10, -digits))
            text = text_of(e, "%s the weights would be the same here.", lead);
        else
            text = text_of(e, "%s the weight of \"%s\" on \"%s\" would be %s instead of %s.", lead,
                           short_label(from, e->w.tokens[row]), short_label(to, e->w.sources[col]),
                           number_text(would_be, heed_matrix_at(after, row, col), digits),
                           number_text(was, heed_matrix_at(before, row, col), digits));
    }
    heed_lesson_free(&other);
    return text;
}

/* ---- the steps ---- */

static void tokens_and_vectors(explaining *e) {
    const worked *w = &e->w;
    const heed_lesson_args *a = &w->lesson.args;
    const char *line = e->columns ? "column" : "row";
    lesson_step *s = add_step(e, "Tokens", NULL, NULL);
    if (w->lesson.self) {
        s->words = text_of(e,
                           "The %s is cut into %d token%s. Attention reads all of them at once; "
                           "here they are numbered.",
                           w->picture ? "picture" : "text", a->tokens, a->tokens == 1 ? "" : "s");
        list_tokens(e, s, "", w->tokens, a->tokens);
    } else {
        s->words = text_of(e,
                           "Cross-attention: the queries come from one list of tokens, the keys "
                           "and values from another, the inputs. Scores, weights and the output "
                           "have a %s for each query; scores and weights have a %s for each input.",
                           line, e->columns ? "row" : "column");
        list_tokens(e, s, "Queries: ", w->tokens, a->tokens);
        list_tokens(e, add_step(e, NULL, NULL, NULL), "Inputs: ", w->sources, a->sources);
    }
    s = add_step(e, "Vectors", NULL,
                 text_of(e, "Each %s becomes a vector of %d numbers: a %s of X.",
                         w->lesson.self ? "token" : "query's token", a->features, line));
    s->aside = w->alike;
    show_view(e, "", worked_view(e, HEED_LESSON_X, false));
    if (w->lesson.self) return;
    add_step(e, NULL, NULL,
             text_of(e, "Keys and values are computed from the inputs' vectors of %d numbers: Z.",
                     a->memory));
    show_view(e, "", worked_view(e, HEED_LESSON_Z, false));
}

static void projections(explaining *e) {
    static const struct {
        const char *title, *words;
    } all[] = {{"Queries", "A query says what a token looks for."},
               {"Keys", "A key says what a token offers to the queries."},
               {"Values", "A value is what a token passes on to the tokens that attend to it."}};
    const heed_lesson_args *a = &e->w.lesson.args;
    for (int i = 0; i < 3; i++) {
        const char letter = "QKV"[i], *from = i && !e->w.lesson.self ? "Z" : "X";
        heed_lesson_part bias = (heed_lesson_part)(HEED_LESSON_B_Q + i);
        const char *formula = e->columns ? text_of(e, "%c = W_%c' %s", letter, letter, from)
                                         : text_of(e, "%c = %s W_%c", letter, from, letter);
        if (has_bias(e, bias)) formula = text_of(e, "%s + B_%c", formula, letter);
        lesson_step *s = add_step(e, all[i].title, formula, all[i].words);
        show_product(e, (heed_lesson_part)(HEED_LESSON_Q + i));
        s->after = notes_of(e, (heed_lesson_part)(HEED_LESSON_W_Q + i));
        if (i == 1 && e->w.lesson.self && a->features == a->memory)
            s->aside = text_of(e,
                               "Without W_Q and W_K the scores would be %s: every token would look "
                               "for what resembles itself, and the score of i on j would be that "
                               "of j on i.",
                               e->columns ? "X' X" : "X X'");
        if (i == 2)
            s->aside = text_of(e,
                               "Without this step a token would pass on its own %d numbers, all "
                               "that it is, instead of these %d.",
                               a->memory, a->value);
    }
}

static void positions(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    if (!has_part(&e->w, HEED_LESSON_Q_R)) return;
    begin(e, "Positions", "Q_R, K_R", "Q_R, K_R",
          text_of(e,
                  "Rotary positions: the numbers i and i + %d of a query and of a key are a pair, "
                  "which is rotated by the angle p theta^(-2(i-1)/%d) for the place p of its "
                  "token, from 0, and theta = %g. What two tokens then score depends on how far "
                  "apart they are, not on where.",
                  a->key / 2, a->key, a->rotary));
    show_result(e, HEED_LESSON_Q, HEED_LESSON_Q_R);
    begin(e, NULL, "K_R", "K_R", NULL);
    show_result(e, HEED_LESSON_K, HEED_LESSON_K_R);
}

static void scale(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    heed_lesson_args other = *a;
    double usual = 1 / sqrt(a->key);
    bool unscaled = fabs(a->beta - 1) < 1e-12, is_usual = fabs(a->beta - usual) < 1e-12;
    lesson_step *s = begin(e, "Scale", "scaled = beta raw", "scaled = beta raw", NULL);
    const char *varies = text_of(e,
                                 "All scores are multiplied by beta = 1/sqrt(%d) = %.4f. Their "
                                 "variance grows with the width of a query; this factor makes it "
                                 "independent of the width.",
                                 a->key, usual);
    s->now = is_usual ? varies
                      : text_of(e,
                                "All scores are multiplied by beta = %.4g instead of the usual "
                                "1/sqrt(%d) = %.4f. The larger beta is, the sharper softmax "
                                "chooses; at 0 all weights are equal.%s",
                                a->beta, a->key, usual,
                                a->hard ? "\nA hard selection is the same with every beta above 0."
                                        : "");
    if (e->page)
        s->words = text_of(e,
                           "%s The larger beta is, the sharper softmax chooses; at 0 "
                           "all weights are equal.",
                           "All scores are multiplied by beta, usually the inverse root of the "
                           "width of a query: their variance grows with that width.");
    show_result(e, HEED_LESSON_RAW, HEED_LESSON_SCALED);
    other.beta = unscaled ? usual : 1;
    s->aside = change_by(e, &other,
                         unscaled && a->key > 1
                             ? text_of(e, "With beta = 1/sqrt(%d) = %.4g", a->key, usual)
                             : "Without this step (--no-scale)");
}

static void mask(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    const heed_matrix *m = &e->w.lesson.part[HEED_LESSON_SCORES];
    heed_lesson_args other = *a;
    int hidden = 0, n = a->tokens;
    for (int i = 0; i < m->rows * m->cols; i++) hidden += isinf(m->x[i]) && m->x[i] < 0;
    lesson_step *s = add_step(e, "Mask", NULL, NULL);
    const char *words = "The mask sets the score of every key that a query must not see to -inf, "
                        "so that its weight is exactly 0.";
    if (e->page)
        s->words = words;
    else if (hidden)
        s->now = text_of(e, "%s It hides %d of %d scores.", words, hidden, n * a->sources);
    else
        s->now = text_of(e, "Nothing is hidden here: every query sees every key.%s",
                         !e->w.lesson.self ? ""
                                           : text_of(e,
                                                     " A model that writes from left to right "
                                                     "hides what comes later (--causal), %d of "
                                                     "these %d scores.",
                                                     n * (n - 1) / 2, n * a->sources));
    if (hidden || e->page) show_result(e, HEED_LESSON_SCALED, HEED_LESSON_SCORES);
    other.causal = false, other.hide = NULL;
    if (hidden) s->aside = change_by(e, &other, "Without this step (--no-mask)");
}

char *tie_marks(explaining *e) {
    const heed_lesson *l = &e->w.lesson;
    const heed_matrix *m = &l->part[HEED_LESSON_SCORES];
    char *marks = keep(e, malloc((size_t)m->rows * (size_t)m->cols));
    for (int i = 0; i < m->rows; i++) {
        int first, count = heed_lesson_ties(l, i, &first);
        double top = heed_matrix_at(m, i, first);
        for (int j = 0; j < m->cols; j++) {
            bool tie = count && heed_matrix_at(m, i, j) == top;
            marks[i * m->cols + j] = j == first && count ? '*' : tie ? '=' : ' ';
        }
    }
    return marks;
}

const char *ties_of(explaining *e) {
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
    const char *text =
        list.n ? text_of(e,
                         "* is chosen, = ties with it: the first of equal scores wins. Ties in the "
                         "%s of: %s.",
                         e->columns ? "columns" : "rows", list.s)
               : "* is chosen; no two keys tie.";
    heed_text_free(&list);
    return text;
}

/* How many weights of a query are not 0: ||a||_0. */
static const char *nonzeros(explaining *e, const char *line) {
    const heed_matrix *m = &e->w.lesson.part[HEED_LESSON_WEIGHTS];
    int least = m->cols, most = 0;
    for (int i = 0; i < m->rows; i++) {
        int count = 0;
        for (int j = 0; j < m->cols; j++) count += heed_matrix_at(m, i, j) > 0;
        least = count < least ? count : least, most = count > most ? count : most;
    }
    if (least < most)
        return text_of(e, "Of the %d weights of a %s, %d to %d are not 0.", m->cols, line, least,
                       most);
    return text_of(e, "Of the %d weights of a %s, %d %s not 0.", m->cols, line, most,
                   most == 1 ? "is" : "are");
}

static void weights(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    const char *line = e->columns ? "column" : "row", *name = e->columns ? "A" : "weights";
    const char *choice = a->hard ? "1 at the largest" : "softmax";
    bool blind = false;
    for (int i = 0, first; i < a->tokens; i++) blind |= !heed_lesson_ties(&e->w.lesson, i, &first);
    lesson_step *s =
        add_step(e, "Weights", text_of(e, "%s = %s of each %s", name, choice, line), NULL);
    s->words =
        a->hard
            ? text_of(e, "A hard selection gives all weight of a %s to its largest score.", line)
            : text_of(e,
                      "Softmax turns each %s of scores into weights that sum to 1: "
                      "exp(score) over the sum of the %s's.",
                      line, line);
    s->now = blind ? text_of(e,
                             "%s\nA %s whose scores are all hidden has nothing to choose from: its "
                             "weights are 0, and sum to 0.",
                             nonzeros(e, line), line)
                   : nonzeros(e, line);
    if (e->sheet) { /* scale and mask are no steps of it */
        s->formula = text_of(e, "%s of each %s of %.4g raw%s", choice, line, a->beta,
                             a->causal ? ", later tokens hidden" : "");
        s->now = a->hard ? "Of equal numbers the first is the largest." : NULL;
    }
    matrix_view *v = show_result(e, HEED_LESSON_SCORES, HEED_LESSON_WEIGHTS);
    v->picture = true;
    if (a->hard && !e->sheet) { /* on a sheet the marks would reveal answers */
        v->marks = tie_marks(e);
        s->after = ties_of(e);
    }
    heed_lesson_args other = *a;
    other.hard = !other.hard;
    s->aside = change_by(
        e, &other, a->hard ? "With softmax" : "With all weight on the largest score (--hard)");
}

static void output(explaining *e) {
    begin(e, "Output", "output = weights V", "H = V A",
          text_of(e,
                  e->w.lesson.args.hard ? "Each token receives the one value that its %s chooses."
                                        : "Each token receives the mean of all values, weighted by "
                                          "its %s.",
                  e->columns ? "column of A" : "row of weights"));
    show_product(e, HEED_LESSON_OUTPUT);
}

/* ---- after a head: the rest of its layer ---- */

static void rest_of_layer(explaining *e) {
    const worked *w = &e->w;
    const heed_lesson *l = &w->lesson;
    bool others = e->page, bias = has_bias(e, HEED_LESSON_B_O);
    bool norm = has_part(w, HEED_LESSON_NORMED);
    for (int i = 0; i < l->args.tokens * l->args.width; i++)
        others |= l->part[HEED_LESSON_OTHERS].x[i] != 0;
    begin(e, "W_h", "share = output W_h", "share = W_h' H",
          text_of(e,
                  "%d numbers become %d again: what this head adds to each token. W_h here is this "
                  "head's part of the layer's output matrix.",
                  l->args.value, l->args.width));
    show_product(e, HEED_LESSON_SHARE);
    if (others || bias) {
        add_step(e, NULL, NULL,
                 !others ? "With the layer's bias B_O:"
                 : bias  ? "The other heads and the layer's bias B_O add theirs. All together:"
                         : "The other heads add theirs. All together:");
        show_view(e, "", worked_view(e, HEED_LESSON_SHARE, false));
        if (others) show_view(e, "+", worked_view(e, HEED_LESSON_OTHERS, false));
        if (bias) show_view(e, "+", worked_view(e, HEED_LESSON_B_O, false));
        show_view(e, "=", worked_view(e, HEED_LESSON_ALL, false));
    }
    if (w->custom) return;
    if (!norm) {
        add_step(e, "Add", NULL,
                 w->pre ? text_of(e,
                                  "This model norms before attention: X above is %s(stream), and "
                                  "all heads together are added to the stream, which goes on to "
                                  "the rest of the model.",
                                  w->rms ? "RMS norm" : "LN")
                        : text_of(e, "All heads together are added to X%s.",
                                  w->rms ? ", and an RMS norm follows" : ""));
        return;
    }
    begin(e, "Add and norm", "LN(X + all heads)", "LN(X + all heads)",
          "The layer adds to what each token was before, so that nothing is lost; then each token "
          "is brought to mean 0 and deviation 1, times gain, plus bias.");
    for (heed_lesson_part part = HEED_LESSON_GAIN; part <= HEED_LESSON_BIAS; part++)
        show_view(e, "", worked_view(e, part, false));
    show_view(e, "", worked_view(e, HEED_LESSON_NORMED, false));
}

/* ---- the whole ---- */

const char *safe_title(explaining *e, const char *title) {
    heed_text out = {.c = e->c};
    heed_label_text(title, 400, &out);
    const char *text = text_of(e, "%s", out.s ? out.s : "");
    heed_text_free(&out);
    return text;
}

/* The three sets of symbols that are in use for the same sizes. */
const char *symbols_of(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    return text_of(
        e,
        "m = t = N_X = %d tokens, each with a key and a value; N_Q = %d queries; d = n = D_X = %d, "
        "the width of a token; e = d' = D_Q = %d, of a query and of a key; d2 = d'' = D_V = %d, of "
        "a value. %s",
        a->sources, a->tokens, a->memory, a->key, a->value,
        e->columns ? "Tokens are columns: H = V A, and the columns of A sum to 1. Without W_V that "
                     "is H = X A. W_Q' is W_Q with rows and columns exchanged."
                   : "Tokens are rows: output = weights V, and the rows of the weights sum to 1. "
                     "Notes that write H = X A mean the transpose: --notation columns.");
}

static void introduce(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    const trained_place *p = &e->place;
    const char *shared = "";
    if (p->kv_heads) {
        int group = p->heads / p->kv_heads, first = p->head / group * group;
        shared = text_of(e, " Heads %d to %d share their keys and values; their queries differ.",
                         first + 1, first + group);
    }
    e->title =
        text_of(e, "Layer %d, head %d of %d (%s)", p->layer + 1, p->head + 1, p->heads, e->w.layer);
    e->words = text_of(e,
                       "%s: %s\nTokens have %d numbers, queries and keys of this head %d, values "
                       "%d.%s%s%s",
                       safe_title(e, e->w.example), safe_title(e, e->w.title), a->features, a->key,
                       a->value, shared, e->words ? "\n" : "", e->words ? e->words : "");
}

const char *sheet_name(explaining *e) {
    return !e->sheet ? ""
                     : text_of(e, "%s %llu", e->solution ? "Solution" : "Exercise",
                               (unsigned long long)e->seed);
}

int sheet_blanks(const explaining *e) {
    int count = 0;
    for (int k = 0; k < HEED_LESSON_COUNT; k++) {
        const heed_matrix *m = &e->w.lesson.part[k];
        for (int i = 0; e->blank[k] && i < m->rows * m->cols; i++) count += e->blank[k][i] != 0;
    }
    return count;
}

void head_steps(explaining *e) {
    const heed_lesson_args *a = &e->w.lesson.args;
    bool rotary = has_part(&e->w, HEED_LESSON_Q_R);
    e->title = e->words = NULL;
    if (heed_config_rank(e->p->flags, "notation") == HEED_FROM_FLAG)
        e->title = "Symbols of the notes", e->words = symbols_of(e);
    if (e->w.layer) introduce(e);
    if (e->learned && !e->page && !e->sheet) learn_step(e);
    if (e->sheet) {
        e->title = text_of(e, "%s: %s", sheet_name(e), safe_title(e, e->w.title));
        e->words = text_of(
            e,
            e->solution ? "The %d numbers that exercise %llu leaves blank are filled in."
                        : "One head of attention. Fill in the %d blanks, in the order of the "
                          "steps. The sheet has number %llu: --solution with the same --seed "
                          "prints the answers.",
            sheet_blanks(e), (unsigned long long)e->seed);
    } else
        tokens_and_vectors(e);
    projections(e);
    if (!e->sheet)
        positions(e);
    else if (rotary)
        add_step(e, NULL, NULL, NULL)->now = text_of(
            e,
            "Q_R and K_R are Q and K rotated by their places, from 0: numbers i and i + %d are a "
            "pair, rotated by the angle p %g^(-2(i-1)/%d). They are given.",
            a->key / 2, a->rotary, a->key);
    begin(e, "Scores", rotary ? "raw = Q_R K_R'" : "raw = Q K'",
          rotary ? "raw = K_R' Q_R" : "raw = K' Q",
          "Every query is compared with every key. Their dot product is large where the query "
          "looks for what the key offers.");
    show_product(e, HEED_LESSON_RAW);
    if (!e->sheet) {
        scale(e);
        mask(e);
    }
    weights(e);
    output(e);
    if (e->sheet) return;
    if (has_part(&e->w, HEED_LESSON_W_H)) rest_of_layer(e);
    if (e->w.layer && !heed_config_int(e->p->flags, "learn"))
        e->list[e->count - 1].aside = text_of(
            e,
            "Worked out in double from the model's own numbers; its weights, in float, differ by "
            "%.1e at most.%s",
            e->place.off,
            e->most_width ? " Wide matrices are cut for the screen (…): --whole, --json." : "");
    if (heed_config_bool(e->p->flags, "backward")) backward_steps(e);
}
