/* head.c -- a head with its labels, and its steps as one table: from the tokens to the output or,
 * in a trained model, to the end of the layer, and with --backward the gradients of a loss back to
 * the tokens. A row names the matrices that its own is made of; the formula in either notation and
 * the sum of a cell follow from them. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

/* What the rows or columns of a part stand for. */
enum { NOTHING, TOKENS, SOURCES, FEATURES, MEMORY, QUERY_UNITS, VALUE_UNITS, STREAM, LABELS };
static const char *const label_names[LABELS] = {NULL,     "tokens", "sources", "features",
                                                "memory", "q",      "v",       "stream"};

static const struct {
    int rows, cols;
    const char *gradient;       /* its name */
    const char *name, *columns; /* of the part, where that is not heed_attention_trace_name's; in
                                   the notation with tokens as columns, where it is another one */
} parts[] = {
    [HEED_TRACE_X] = {TOKENS, FEATURES, "dX"},
    [HEED_TRACE_Z] = {SOURCES, MEMORY, "dZ"},
    [HEED_TRACE_W_Q] = {FEATURES, QUERY_UNITS, "dW_Q"},
    [HEED_TRACE_W_K] = {MEMORY, QUERY_UNITS, "dW_K"},
    [HEED_TRACE_W_V] = {MEMORY, VALUE_UNITS, "dW_V"},
    [HEED_TRACE_B_Q] = {NOTHING, QUERY_UNITS, "dB_Q"},
    [HEED_TRACE_B_K] = {NOTHING, QUERY_UNITS, "dB_K"},
    [HEED_TRACE_B_V] = {NOTHING, VALUE_UNITS, "dB_V"},
    [HEED_TRACE_Q] = {TOKENS, QUERY_UNITS, "dQ"},
    [HEED_TRACE_K] = {SOURCES, QUERY_UNITS, "dK"},
    [HEED_TRACE_V] = {SOURCES, VALUE_UNITS, "dV"},
    [HEED_TRACE_Q_R] = {TOKENS, QUERY_UNITS, "dQ_R"},
    [HEED_TRACE_K_R] = {SOURCES, QUERY_UNITS, "dK_R"},
    [HEED_TRACE_RAW] = {TOKENS, SOURCES, "dR"},
    [HEED_TRACE_SCALED] = {TOKENS, SOURCES, ""},
    [HEED_TRACE_SCORES] = {TOKENS, SOURCES, "dS"},
    [HEED_TRACE_WEIGHTS] = {TOKENS, SOURCES, "dP", NULL, "A"},
    [HEED_TRACE_OUTPUT] = {TOKENS, VALUE_UNITS, "dO", NULL, "H"},
    [HEED_TRACE_W_H] = {VALUE_UNITS, STREAM, "dW_h"},
    [HEED_TRACE_B_O] = {NOTHING, STREAM, "dB_O"},
    [HEED_TRACE_OTHERS] = {TOKENS, STREAM, ""},
    [HEED_TRACE_GAIN] = {NOTHING, STREAM, "dgain"},
    [HEED_TRACE_BIAS] = {NOTHING, STREAM, "dbias"},
    [HEED_TRACE_SHARE] = {TOKENS, STREAM, ""},
    [HEED_TRACE_ALL] = {TOKENS, STREAM, "dU", "all heads"},
    [HEED_TRACE_NORMED] = {TOKENS, STREAM, "dY", "LN(X + all heads)"},
};

static const char *const *labels_of(const worked *w, int what) {
    const char *const *const labels[LABELS] = {NULL,      w->tokens, w->sources, w->features,
                                               w->memory, w->q,      w->v,       w->stream};
    return labels[what];
}

const char *label_set(const worked *w, const char *const *labels) {
    for (int i = TOKENS; labels && i < LABELS; i++)
        if (labels_of(w, i) == labels) return label_names[i];
    return NULL;
}

static bool is_bias(heed_attention_trace_part part) {
    return part == HEED_TRACE_B_O || (part >= HEED_TRACE_B_Q && part <= HEED_TRACE_B_V);
}

/* W_Q, W_K, W_V or W_h, which are transposed in the notation with tokens as columns. */
static bool is_weight(heed_attention_trace_part part) {
    return part == HEED_TRACE_W_H || (part >= HEED_TRACE_W_Q && part <= HEED_TRACE_W_V);
}

/* Whether a part is there and, of what is added, has a number that is not 0. On the page the other
 * heads may come to have some. */
static bool has(const explaining *e, heed_attention_trace_part part) {
    const heed_matrix *m = &e->w.lesson.part[part];
    bool found = !is_bias(part) && (part != HEED_TRACE_OTHERS || e->page);
    for (int i = 0; m->x && i < m->rows * m->cols; i++) found |= m->x[i] != 0;
    return m->x && found;
}

/* The part of a name or of its gradient's, of n bytes; -1: none. */
static int part_named(const char *name, size_t n, bool *slope) {
    for (int i = 0; i < HEED_TRACE_COUNT; i++) {
        *slope = is_label(parts[i].gradient, name, n);
        if (*slope || is_label(heed_attention_trace_name((heed_attention_trace_part)i), name, n))
            return i;
    }
    return -1;
}

/* A part or, with slope, its gradient. */
static matrix_view view_of(explaining *e, heed_attention_trace_part part, bool slope, bool turned) {
    if (part == HEED_TRACE_Z && e->w.lesson.self && !slope) part = HEED_TRACE_X;
    const char *const *rows = labels_of(&e->w, parts[part].rows);
    const char *const *cols = labels_of(&e->w, parts[part].cols);
    bool across = turned != e->columns, prime = turned != (e->columns && is_weight(part));
    bool of_rows = rows == e->w.tokens || rows == e->w.sources;
    bool of_cols = cols == e->w.tokens || cols == e->w.sources;
    int most_rows = of_rows ? e->most_tokens : e->most_width;
    int most_cols = of_cols ? e->most_tokens : e->most_width;
    const char *key = slope ? parts[part].gradient : heed_attention_trace_name(part), *name = key;
    if (!slope && parts[part].name) name = parts[part].name;
    if (!slope && parts[part].columns && e->columns) name = parts[part].columns;
    return (matrix_view){.name = prime ? text_of(e, "%s'", name) : name,
                         .key = key,
                         .sign = "",
                         .m = slope ? e->back.g.part[part] : e->w.lesson.part[part],
                         .blank = slope ? NULL : e->blank[part],
                         .transposed = across,
                         .most_rows = across ? most_cols : most_rows,
                         .most_cols = across ? most_rows : most_cols,
                         .row_labels = across ? cols : rows,
                         .col_labels = across ? rows : cols};
}

matrix_view worked_view(explaining *e, heed_attention_trace_part part) {
    return view_of(e, part, false, false);
}

/* ---- making ---- */

bool worked_make(explaining *e, const heed_attention_trace_args *a, worked labels) {
    e->w = labels;
    e->head = heed_attention_trace_make(e->c, a, &e->w.lesson) && worked_label(e);
    return e->head;
}

bool worked_label(explaining *e) {
    worked *w = &e->w;
    const heed_attention_trace_args *l = &w->lesson.args;
    if (!w->tokens) w->tokens = numbered(e, "%d", 1, l->tokens);
    if (w->lesson.self) w->sources = w->tokens;
    if (!w->features) w->features = numbered(e, "x%d", 1, l->features);
    if (w->lesson.self) w->memory = w->features;
    if (!w->sources) w->sources = numbered(e, "%d", 1, l->sources);
    if (!w->memory) w->memory = numbered(e, "z%d", 1, l->memory);
    if (!w->q) w->q = numbered(e, "%d", 1, l->key);
    if (!w->v) w->v = numbered(e, "%d", 1, l->value);
    if (w->lesson.part[HEED_TRACE_W_H].x) w->stream = numbered(e, "%d", 1, l->width);
    return heed_ctx_status(e->c) == HEED_OK;
}

/* ---- JSON ---- */

json_t *worked_json(const explaining *e) {
    const worked *w = &e->w;
    const heed_attention_trace_args *a = &w->lesson.args;
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
    for (int i = 0; i < HEED_TRACE_COUNT; i++) {
        heed_attention_trace_part part = (heed_attention_trace_part)i;
        if (w->lesson.part[i].x && (part != HEED_TRACE_Z || !self) &&
            (!is_bias(part) || has(e, part)))
            json_object_set_new(o, heed_attention_trace_name(part),
                                matrix_json(&w->lesson.part[i]));
    }
    if (a->rotary > 0) json_object_set_new(o, "rotary", json_number(a->rotary));
    if (w->target) json_object_set_new(o, "target", rows_json(w->target, a->tokens, a->value));
    if (w->lesson.part[HEED_TRACE_NORMED].x) json_object_set_new(o, "eps", json_number(a->eps));
    if (w->lesson.part[HEED_TRACE_W_H].x) { /* what the model does with the sum of all heads */
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

/* ---- settings ---- */

/* The index of the first label that equals the text, or of a number from 1 to count; -1: none. */
static int place_of(const char *text, size_t n, const char *const *labels, int count) {
    char *end;
    for (int i = 0; labels && i < count; i++)
        if (is_label(labels[i], text, n)) return i;
    long number = strtol(text, &end, 10);
    return end != text + n || number < 1 || number > count ? -1 : (int)number - 1;
}

static bool hide_keys(explaining *e) {
    heed_attention_trace *l = &e->w.lesson;
    for (const char *text = heed_config_text(e->p->flags, "hide"); *text;) {
        size_t n = strcspn(text, ",");
        int at = place_of(text, n, e->w.sources, l->args.sources);
        if (at < 0)
            return heed_fail(
                e->c, HEED_USAGE,
                "--hide is wrong: expected tokens of the text or numbers from 1 to %d, found %.*s",
                l->args.sources, (int)(n < 40 ? n : 40), text);
        for (int i = 0; i < l->args.sources; i++) /* all tokens with that text */
            if (i == at || is_label(e->w.sources[i], text, n)) l->hidden[i] = 1;
        text += n + (text[n] == ',');
    }
    return true;
}

/* Without a part, the cell is one of the scores, and of every part that has such a cell. */
static bool choose_cell(explaining *e) {
    const char *given = heed_config_text(e->p->flags, "cell"), *text = given;
    const char *colon = strchr(text, ':'), *comma;
    if (!*text) return true;
    bool slope = false;
    e->part = colon ? part_named(text, (size_t)(colon - text), &slope) : -1;
    if (slope || e->part < HEED_TRACE_Q || e->part > HEED_TRACE_OUTPUT ||
        e->part == HEED_TRACE_SCORES || !e->w.lesson.part[e->part].x)
        e->part = -1;
    if (e->part >= 0) text = colon + 1;
    heed_attention_trace_part part =
        e->part < 0 ? HEED_TRACE_RAW : (heed_attention_trace_part)e->part;
    const heed_matrix *m = &e->w.lesson.part[part];
    if ((comma = strchr(text, ',')) != NULL) {
        const char *row = e->columns ? comma + 1 : text, *col = e->columns ? text : comma + 1;
        size_t before = (size_t)(comma - text), after = strlen(comma + 1);
        e->row = 1 + place_of(row, e->columns ? after : before, labels_of(&e->w, parts[part].rows),
                              m->rows);
        e->col = 1 + place_of(col, e->columns ? before : after, labels_of(&e->w, parts[part].cols),
                              m->cols);
        if (e->row > 0 && e->col > 0) return true;
    }
    return heed_fail(
        e->c, HEED_USAGE,
        "--cell is wrong: expected ROW,COLUMN or one of Q K V %sraw scaled weights output, a "
        "colon and ROW,COLUMN, by tokens or by numbers up to %d,%d; found %.60s",
        e->w.lesson.part[HEED_TRACE_Q_R].x ? "Q_R K_R " : "", e->columns ? m->cols : m->rows,
        e->columns ? m->rows : m->cols, given);
}

bool apply_settings(explaining *e) {
    heed_attention_trace *l = &e->w.lesson;
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
    heed_attention_trace_compute(l);
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

/* Sets the cell of the step's result, a part or its gradient, that is written out. The query and
 * the key are those asked for, or the example's. The default is the middle query, unless its
 * numbers are zeros, and the key with its largest weight; going back, those with the largest
 * gradient of a score, and of a weight matrix its largest. */
static void choose(const explaining *e, lesson_step *s, heed_attention_trace_part part,
                   bool slope) {
    const worked *w = &e->w;
    const heed_matrix *p = w->lesson.part, *m = &s->view[s->count - 1].m, *d = e->back.g.part;
    int query = e->row - 1, key = e->col - 1;
    if (e->row && e->part >= 0) {
        if (e->part == (int)part) s->row = query, s->col = key;
        return;
    }
    if (!e->row && slope) {
        query = largest_row(&d[HEED_TRACE_SCORES]);
        key = largest_in_row(&d[HEED_TRACE_SCORES], query);
    } else if (!e->row) {
        query = w->query ? w->query - 1
                         : row_of_numbers(e, &p[HEED_TRACE_Q], p[HEED_TRACE_WEIGHTS].rows / 2);
        key = w->key ? w->key - 1 : largest_in_row(&p[HEED_TRACE_WEIGHTS], query);
    }
    bool of_pairs = part >= HEED_TRACE_RAW && part <= HEED_TRACE_WEIGHTS;
    s->row = m->rows == 1 ? 0 : parts[part].rows == SOURCES ? key : query;
    if (is_weight(part)) s->row = largest_row(m);
    if (!of_pairs && !e->row && m->rows > 1)
        s->row = row_of_numbers(e, slope && !is_weight(part) ? &p[part] : m, s->row);
    s->col = of_pairs ? key : largest_in_row(m, s->row);
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
static const char *notes_of(explaining *e, heed_attention_trace_part w) {
    const char *const *notes = e->w.notes[w - HEED_TRACE_W_Q];
    const char *const *labels = labels_of(&e->w, parts[w].rows);
    heed_text list = {.c = e->c};
    for (int i = 0; notes && i < e->w.lesson.part[w].rows; i++) {
        bool again = !*notes[i];
        for (int j = 0; j < i && !again; j++)
            again = strcmp(labels[i], labels[j]) == 0 && strcmp(notes[i], notes[j]) == 0;
        if (!again) heed_text_add(&list, "%s%s %s", list.n ? "; " : "", labels[i], notes[i]);
    }
    const char *text =
        list.n ? text_of(e, "The rows of %s: %s.", heed_attention_trace_name(w), list.s) : NULL;
    heed_text_free(&list);
    return text;
}

/* ---- what would change without a step: the head is computed again without it ---- */

/* The weight that differs most from another head's; returns by how much. A row whose largest score
 * several keys share is taken only if no other differs: which of them is chosen means nothing. */
static double most_changed(const heed_attention_trace *l, const heed_matrix *b, int *row,
                           int *col) {
    const heed_matrix *a = &l->part[HEED_TRACE_WEIGHTS];
    double most[2] = {-1, -1}; /* of rows with one largest score, of the others */
    int at[2][2] = {{0}}, first;
    for (int i = 0; i < a->rows; i++) {
        bool tied = heed_attention_trace_ties(l, i, &first) > 1;
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
static const char *change_by(explaining *e, const heed_attention_trace_args *a, const char *lead) {
    const heed_matrix *before = &e->w.lesson.part[HEED_TRACE_WEIGHTS];
    heed_attention_trace other;
    char was[32], would_be[32], from[64], to[64];
    const char *text = NULL;
    int row = 0, col = 0, digits = e->look.precision > 1 ? e->look.precision : 2;
    if (heed_attention_trace_make(e->c, a, &other)) {
        const heed_matrix *after = &other.part[HEED_TRACE_WEIGHTS];
        if (most_changed(&e->w.lesson, after, &row, &col) < 0.5 * pow(10, -digits))
            text = text_of(e, "%s the weights would be the same here.", lead);
        else
            text = text_of(e, "%s the weight of \"%s\" on \"%s\" would be %s instead of %s.", lead,
                           short_label(from, e->w.tokens[row]), short_label(to, e->w.sources[col]),
                           number_text(would_be, heed_matrix_at(after, row, col), digits),
                           number_text(was, heed_matrix_at(before, row, col), digits));
    }
    heed_attention_trace_free(&other);
    return text;
}

char *tie_marks(explaining *e) {
    const heed_attention_trace *l = &e->w.lesson;
    const heed_matrix *m = &l->part[HEED_TRACE_SCORES];
    char *marks = room(e, (size_t)m->rows * (size_t)m->cols, 1);
    for (int i = 0; marks && i < m->rows; i++) {
        int first, count = heed_attention_trace_ties(l, i, &first);
        double top = heed_matrix_at(m, i, first);
        for (int j = 0; j < m->cols; j++) {
            bool tie = count && heed_matrix_at(m, i, j) == top;
            marks[i * m->cols + j] = j == first && count ? '*' : tie ? '=' : ' ';
        }
    }
    return marks;
}

const char *ties_of(explaining *e) {
    const heed_attention_trace *l = &e->w.lesson;
    heed_text list = {.c = e->c};
    for (int i = 0; i < l->args.tokens; i++) {
        int first, count = heed_attention_trace_ties(l, i, &first);
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
static const char *nonzeros(explaining *e) {
    const char *line = e->columns ? "column" : "row";
    const heed_matrix *m = &e->w.lesson.part[HEED_TRACE_WEIGHTS];
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

/* ---- the table of steps ---- */

/* When a step is taken: what the head must be, besides having the matrix that the step makes. */
enum {
    NO_SHEET = 1,
    SHEET = 2,
    SELF = 4,
    CROSS = 8,
    ROTARY = 16,
    UNROTATED = 32,
    PRE = 64,        /* of a layer's end: the stream goes on */
    POST = 128,      /* or a norm follows that is not computed */
    KNOWN = 256,     /* it is known what the model does there */
    MORE = 512,      /* other heads or a bias are added */
    NORMED = 1024,   /* by a norm that is computed */
    UNNORMED = 2048, /* or none */
    BACK = 4096,     /* --backward */
    OF_HEAD = 8192,  /* the loss is of the head's output */
    OF_LAYER = 16384 /* of what the layer makes of it */
};

/* Texts have values in braces: see fill. */
typedef struct {
    int when;
    const char *title, *formula; /* formula NULL: the views'; with a comma first: and this */
    const char *views;           /* "dX = ~dQ ~W_Q' + ~dK ~W_K'": what factors next to one another
                                    and sums make; ~ is drawn above, ' transposed, a comma comes
                                    before what is shown besides */
    made_by made;
    const char *words;
} step_row;

static const step_row rows[] = {
    {NO_SHEET | SELF, "Vectors", NULL, "X", MADE_ELSEWHERE,
     "Each token becomes a vector of {d} numbers: a {row} of X."},
    {NO_SHEET | CROSS, "Vectors", NULL, "X", MADE_ELSEWHERE,
     "Each query's token becomes a vector of {d} numbers: a {row} of X."},
    {NO_SHEET | CROSS, NULL, NULL, "Z", MADE_ELSEWHERE,
     "Keys and values are computed from the inputs' vectors of {m} numbers: Z."},
    {0, "Queries", NULL, "Q = X W_Q + B_Q", MADE_SUM, "A query says what a token looks for."},
    {0, "Keys", NULL, "K = Z W_K + B_K", MADE_SUM,
     "A key says what a token offers to the queries."},
    {0, "Values", NULL, "V = Z W_V + B_V", MADE_SUM,
     "A value is what a token passes on to the tokens that attend to it."},
    {NO_SHEET, "Positions", "Q_R, K_R", "Q_R = ~Q", MADE_ROTATED,
     "Rotary positions: the numbers i and i + {half} of a query and of a key are a pair, which is "
     "rotated by the angle p theta^(-2(i-1)/{e}) for the place p of its token, from 0, and theta = "
     "{theta}. What two tokens then score depends on how far apart they are, not on where."},
    {NO_SHEET, NULL, "K_R", "K_R = ~K", MADE_ROTATED, NULL},
    {SHEET | ROTARY, NULL, NULL, NULL, MADE_ELSEWHERE,
     "Q_R and K_R are Q and K rotated by their places, from 0: numbers i and i + {half} are a "
     "pair, "
     "rotated by the angle p {theta}^(-2(i-1)/{e}). They are given."},
    {0, "Scores", NULL, "raw = Q_R K_R'", MADE_SUM,
     "Every query is compared with every key. Their dot product is large where the query looks for "
     "what the key offers."},
    {NO_SHEET, "Scale", "scaled = beta raw", "scaled = ~raw", MADE_SCALED,
     "All scores are multiplied by beta, usually the inverse root of the width of a query: their "
     "variance grows with that width. The larger beta is, the sharper softmax chooses; at 0 all "
     "weights are equal."},
    {NO_SHEET, "Mask", NULL, "scores = ~scaled", MADE_MASKED,
     "The mask sets the score of every key that a query must not see to -inf, so that its weight "
     "is exactly 0."},
    {0, "Weights", "{A} = {choice} of each {row}", "weights = ~scores", MADE_SOFTMAX, NULL},
    {0, "Output", NULL, "output = weights V", MADE_SUM, NULL},
    {NO_SHEET, "W_h", NULL, "share = output W_h", MADE_SUM,
     "{v} numbers become {w} again: what this head adds to each token. W_h here is this head's "
     "part of the layer's output matrix."},
    {NO_SHEET | MORE, NULL, NULL, "all_heads = share + others + B_O", MADE_SUM, "{added}"},
    {NO_SHEET | PRE, "Add", NULL, NULL, MADE_ELSEWHERE,
     "This model norms before attention: X above is {LN}(stream), and all heads together are added "
     "to the stream, which goes on to the rest of the model."},
    {NO_SHEET | POST, "Add", NULL, NULL, MADE_ELSEWHERE,
     "All heads together are added to X{follows}."},
    {NO_SHEET | KNOWN, "Add and norm", "LN(X + all heads)", "normed = ~X, ~all_heads, gain, bias",
     MADE_NORMED,
     "The layer adds to what each token was before, so that nothing is lost; then each token is "
     "brought to mean 0 and deviation 1, times gain, plus bias."},

    {BACK | OF_HEAD, "Loss", NULL, "dO = ~output - ~target", MADE_SUM, NULL},
    {BACK | OF_LAYER, "Loss", "dY = Y - X", "dY = ~normed - ~X", MADE_SUM, NULL},
    {BACK | OF_LAYER, "Gain", "dgain = sum of the {row}s of dY N", "dgain = ~dY", MADE_GAIN,
     "N is LN(X + all heads) before gain and bias, which act on every token and hear from all of "
     "them."},
    {BACK | OF_LAYER, "Bias", "dbias = sum of the {row}s of dY", "dbias = ~dY", MADE_ROWS, NULL},
    {BACK | OF_LAYER | NORMED, "Norm", "dU = (G - mean G - N mean(G N)) / deviation, G = dY gain",
     "dU = ~dY, ~gain", MADE_NORM_BACK,
     "U is X + all heads; means are of one token. What moves all numbers of a token alike the norm "
     "takes back, so each token's numbers of dU sum to 0. The addition hands dU on to both: to the "
     "heads, and past them to X."},
    {BACK | OF_LAYER | UNNORMED, "Loss", NULL, "dU = ~all_heads", MADE_SUM, NULL},
    {BACK | OF_LAYER, "B_O", "dB_O = sum of the {row}s of dU", "dB_O = ~dU", MADE_ROWS,
     "The layer's bias is added to every token, and hears from all of them."},
    {BACK | OF_LAYER, "W_h", NULL, "dW_h = output' dU", MADE_SUM,
     "This head's part of the output matrix; the other heads have theirs, by their own outputs."},
    {BACK | OF_LAYER, "Output", NULL, "dO = dU W_h'", MADE_SUM, NULL},
    {BACK, "Values", NULL, "dV = weights' dO", MADE_SUM,
     "A value hears from every token that looked at it, as much as it looked."},
    {BACK, "Weights", NULL, "dP = dO V'", MADE_SUM,
     "A weight should grow where the value points against dO."},
    {BACK, "Softmax", "dS = {P} (dP - sum of {P} dP in the {row})", "dS = ~weights, ~dP",
     MADE_SOFTMAX_BACK,
     "The weights of a {row} sum to 1: what one gains the others lose, so each {row} of dS sums to "
     "0. Where a weight is 0 or 1 nothing flows: attention that is all or nothing learns no more."},
    {BACK, NULL, NULL, "~dR = ~dS", MADE_SCALED, NULL},
    {BACK | UNROTATED, "Queries", ", dR = beta dS", "dQ = dR K", MADE_SUM, NULL},
    {BACK | UNROTATED, "Keys", NULL, "dK = dR' Q", MADE_SUM, NULL},
    {BACK | ROTARY, "Rotated queries", ", dR = beta dS", "dQ_R = dR K_R", MADE_SUM, NULL},
    {BACK | ROTARY, "Rotated keys", NULL, "dK_R = dR' Q_R", MADE_SUM, NULL},
    {BACK | ROTARY, "Queries", "dQ is dQ_R rotated back", "dQ = ~dQ_R", MADE_ROTATED_BACK,
     "Each row is rotated by the opposite angles: what a rotation turned forward, its gradient "
     "turns back."},
    {BACK | ROTARY, "Keys", "dK is dK_R rotated back", "dK = ~dK_R", MADE_ROTATED_BACK, NULL},
    {BACK, "W_Q", NULL, "dW_Q = X' dQ", MADE_SUM, "A weight matrix hears from all tokens at once."},
    {BACK, "W_K", NULL, "dW_K = Z' dK", MADE_SUM, NULL},
    {BACK, "W_V", NULL, "dW_V = Z' dV", MADE_SUM, NULL},
    {BACK, "B_Q", "dB_Q = sum of the {row}s of dQ", "dB_Q = ~dQ", MADE_ROWS,
     "A bias is added to every token, and hears from all of them."},
    {BACK, "B_K", "dB_K = sum of the {row}s of dK", "dB_K = ~dK", MADE_ROWS,
     "Always 0: what is added to all keys moves all scores of a query alike, and softmax does not "
     "see that."},
    {BACK, "B_V", "dB_V = sum of the {row}s of dV", "dB_V = ~dV", MADE_ROWS, NULL},
    {BACK | SELF, "Inputs", NULL, "dX = ~dQ ~W_Q' + ~dK ~W_K' + ~dV ~W_V'", MADE_SUM, "{back}"},
    {BACK | CROSS, "Inputs", NULL, "dX = ~dQ ~W_Q'", MADE_SUM, "{back}"},
    {BACK | CROSS, "Memory", NULL, "dZ = ~dK ~W_K' + ~dV ~W_V'", MADE_SUM, NULL},
};

/* What the head is, of the conditions above. */
static int facts(const explaining *e) {
    const worked *w = &e->w;
    bool layer = w->lesson.part[HEED_TRACE_W_H].x, norm = w->lesson.part[HEED_TRACE_NORMED].x;
    bool ends = layer && !norm && !w->custom;
    return (e->sheet ? SHEET : NO_SHEET) | (w->lesson.self ? SELF : CROSS) |
           (w->lesson.part[HEED_TRACE_Q_R].x ? ROTARY : UNROTATED) |
           (ends ? (w->pre ? PRE : POST) : 0) | (w->custom ? 0 : KNOWN) |
           (norm ? NORMED : UNNORMED) |
           (has(e, HEED_TRACE_OTHERS) || has(e, HEED_TRACE_B_O) ? MORE : 0) |
           (e->back.g.memory ? BACK | (e->back.layer ? OF_LAYER : OF_HEAD) : 0);
}

/* A text with its values in place of their names in braces. */
static const char *fill(explaining *e, const char *text) {
    const worked *w = &e->w;
    const heed_attention_trace_args *a = &w->lesson.args;
    bool others = has(e, HEED_TRACE_OTHERS), bias = has(e, HEED_TRACE_B_O);
    const struct {
        const char *name, *text;
        int number; /* if there is no text */
    } values[] = {
        {"row", e->columns ? "column" : "row"},
        {"column", e->columns ? "row" : "column"},
        {"T", NULL, a->tokens},
        {"S", NULL, a->sources},
        {"d", NULL, a->features},
        {"m", NULL, a->memory},
        {"e", NULL, a->key},
        {"half", NULL, a->key / 2},
        {"v", NULL, a->value},
        {"w", NULL, a->width},
        {"s", a->tokens == 1 ? "" : "s"},
        {"theta", text_of(e, "%g", a->rotary)},
        {"beta", text_of(e, "%.4g", a->beta)},
        {"usual", text_of(e, "%.4f", 1 / sqrt(a->key))},
        {"input", w->picture ? "picture" : "text"},
        {"A", e->columns ? "A" : "weights"},
        {"P", e->columns ? "A" : "P"},
        {"XX", e->columns ? "X' X" : "X X'"},
        {"choice", a->hard ? "1 at the largest" : "softmax"},
        {"LN", w->rms ? "RMS norm" : "LN"},
        {"follows", w->rms ? ", and an RMS norm follows" : ""},
        {"added", !others ? "With the layer's bias B_O:"
                  : bias  ? "The other heads and the layer's bias B_O add theirs. All together:"
                          : "The other heads add theirs. All together:"},
        {"back", e->back.layer
                     ? "What goes back through this head to the layer before, or to the word "
                       "vectors; dU goes there too, past the heads."
                     : "What goes back to the layer before, or to the word vectors."}};
    heed_text out = {.c = e->c};
    for (const char *end; text && *text; text = end) {
        end = text + strcspn(text, "{");
        heed_text_put(&out, text, (size_t)(end - text));
        if (!*end) break;
        size_t n = strcspn(++end, "}");
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            if (is_label(values[i].name, end, n)) {
                if (values[i].text)
                    heed_text_put(&out, values[i].text, strlen(values[i].text));
                else
                    heed_text_add(&out, "%d", values[i].number);
            }
        end += n + 1;
    }
    text = out.n ? text_of(e, "%s", out.s) : NULL;
    heed_text_free(&out);
    return text;
}

/* Reads a name of a row, "~dW_Q'", of n bytes: the part, whether it is its gradient, and how it is
 * drawn. False: the head has no such matrix. */
static bool read_view(explaining *e, const char *name, size_t n, matrix_view *v, int *part,
                      bool *slope) {
    bool seen = *name == '~', turned = name[n - 1] == '\'';
    *part = part_named(name + seen, n - seen - turned, slope);
    const heed_matrix *p = e->w.lesson.part;
    if (!*slope && *part == HEED_TRACE_Q_R && !p[*part].x) *part = HEED_TRACE_Q;
    if (!*slope && *part == HEED_TRACE_K_R && !p[*part].x) *part = HEED_TRACE_K;
    if (*part < 0) { /* the target */
        *v = view_of(e, HEED_TRACE_OUTPUT, false, false);
        v->name = v->key = "target";
        v->m = matrix_of(e, v->m.rows, v->m.cols, e->w.target);
    } else if (!has(e, (heed_attention_trace_part)*part))
        return false;
    else
        *v = view_of(e, (heed_attention_trace_part)*part, *slope, turned);
    v->seen = seen;
    return true;
}

/* Adds a row's matrices to the last step, what the head lacks left out, and its formula. */
static void add_views(explaining *e, lesson_step *s, const step_row *r) {
    const char *sign = "", *at = r->views + strcspn(r->views, "=");
    matrix_view v, y;
    heed_text formula = {.c = e->c};
    int part, made;
    bool slope, of;
    read_view(e, r->views, strcspn(r->views, " "), &y, &made, &slope);
    at += strspn(at, "= ");
    for (size_t n; *at; at += n + (at[n] == ' ')) {
        n = strcspn(at, " ");
        if (n == 1 && (*at == '+' || *at == '-')) {
            sign = *at == '+' ? "+" : "-";
            continue;
        }
        bool comma = at[n - 1] == ',';
        if (read_view(e, at, n - comma, &v, &part, &of)) {
            matrix_view *last = show_view(e, sign, v);
            if (e->columns && strcmp(sign, "·") == 0) { /* a b = y becomes b' a' = y' */
                *last = last[-1], last[-1] = v;
                last[-1].sign = last->sign, last->sign = sign;
            }
        }
        sign = comma ? "" : "·";
    }
    if (r->made == MADE_SUM)
        for (int i = 0; i < s->count; i++)
            heed_text_add(&formula, "%s%s%s%s", i ? "" : y.name, i ? "" : " = ",
                          !i                                  ? ""
                          : strcmp(s->view[i].sign, "·") == 0 ? " "
                          : *s->view[i].sign == '+'           ? " + "
                                                              : " - ",
                          s->view[i].name);
    if (!r->formula || *r->formula == ',')
        s->formula = formula.n ? text_of(e, "%s%s", formula.s, r->formula ? r->formula : "") : NULL;
    heed_text_free(&formula);
    show_view(e, r->made == MADE_SUM ? "=" : "", y);
    if (r->made != MADE_ELSEWHERE) choose(e, s, (heed_attention_trace_part)made, slope);
}

/* ---- what some steps say besides ---- */

static void describe_scale(explaining *e, lesson_step *s) {
    heed_attention_trace_args other = e->w.lesson.args;
    double usual = 1 / sqrt(other.key);
    bool unscaled = fabs(other.beta - 1) < 1e-12;
    s->now = fill(e, fabs(other.beta - usual) < 1e-12
                         ? "Here beta = 1/sqrt({e}) = {usual}."
                         : "Here beta = {beta} instead of the usual 1/sqrt({e}) = {usual}.");
    if (other.hard)
        s->now = text_of(e, "%s\nA hard selection is the same with every beta above 0.", s->now);
    other.beta = unscaled ? usual : 1;
    s->aside = change_by(e, &other,
                         unscaled && other.key > 1
                             ? text_of(e, "With beta = 1/sqrt(%d) = %.4g", other.key, usual)
                             : "Without this step (--no-scale)");
}

static void describe_mask(explaining *e, lesson_step *s) {
    const heed_matrix *m = &e->w.lesson.part[HEED_TRACE_SCORES];
    heed_attention_trace_args other = e->w.lesson.args;
    int hidden = 0, n = other.tokens, all = n * other.sources;
    for (int i = 0; i < all; i++) hidden += isinf(m->x[i]) && m->x[i] < 0;
    other.causal = false, other.hide = NULL;
    s->now = "Nothing is hidden here: every query sees every key.";
    if (hidden) s->aside = change_by(e, &other, "Without this step (--no-mask)");
    if (hidden)
        s->now = text_of(e, "Here it hides %d of %d scores.", hidden, all);
    else if (e->w.lesson.self)
        s->now = text_of(e,
                         "%s A model that writes from left to right hides what comes later "
                         "(--causal), %d of these %d scores.",
                         s->now, n * (n - 1) / 2, all);
    if (!hidden && !e->page) s->count = 0;
}

static void describe_weights(explaining *e, lesson_step *s) {
    heed_attention_trace_args other = e->w.lesson.args;
    matrix_view *v = &s->view[s->count - 1];
    bool blind = false, hard = other.hard;
    for (int i = 0, first; i < other.tokens; i++)
        blind |= !heed_attention_trace_ties(&e->w.lesson, i, &first);
    v->picture = true;
    if (e->sheet) { /* scale and mask are no steps of it; marks would reveal answers */
        s->formula = text_of(e, "%s%s", fill(e, "{choice} of each {row} of {beta} raw"),
                             other.causal ? ", later tokens hidden" : "");
        s->now = hard ? "Of equal numbers the first is the largest." : NULL;
        return;
    }
    s->words = fill(e, hard ? "A hard selection gives all weight of a {row} to its largest score."
                            : "Softmax turns each {row} of scores into weights that sum to 1: "
                              "exp(score) over the sum of the {row}'s.");
    s->now = text_of(e, "%s%s", nonzeros(e),
                     !blind ? ""
                            : fill(e, "\nA {row} whose scores are all hidden has nothing to choose "
                                      "from: its weights are 0, and sum to 0."));
    if (hard) {
        v->marks = tie_marks(e);
        s->after = ties_of(e);
    }
    other.hard = !hard;
    s->aside = change_by(e, &other,
                         hard ? "With softmax" : "With all weight on the largest score (--hard)");
}

static void describe_projection(explaining *e, lesson_step *s, heed_attention_trace_part part) {
    const heed_attention_trace_args *a = &e->w.lesson.args;
    s->after = notes_of(e, part + HEED_TRACE_W_Q - HEED_TRACE_Q);
    if (part == HEED_TRACE_K && e->w.lesson.self && a->features == a->memory)
        s->aside = fill(e, "Without W_Q and W_K the scores would be {XX}: every token would look "
                           "for what resembles itself, and the score of i on j would be that of j "
                           "on i.");
    if (part == HEED_TRACE_V)
        s->aside = fill(e, "Without this step a token would pass on its own {m} numbers, all that "
                           "it is, instead of these {v}.");
}

static void describe_loss(explaining *e, lesson_step *s) {
    const backward_pass *b = &e->back;
    heed_matrix one = {1, 1, (double[]){b->loss}};
    char loss[32];
    const char *of = b->norm ? "Y" : b->layer ? "all heads" : e->columns ? "H" : "output";
    s->words = text_of(
        e,
        "Backward from here. The loss is L = 1/2 sum (%s%s)^2%s. %s says how L changes with each "
        "number of %s; every gradient below has the shape of what it belongs to.%s",
        of,
        b->norm    ? " - X"
        : b->layer ? ""
                   : " - target",
        b->norm    ? ", for Y = LN(X + all heads): how far the layer moves its tokens"
        : b->layer ? ": how far the layer moves its tokens"
                   : "",
        parts[b->end].gradient, b->layer ? of : "the output",
        e->w.lesson.part[HEED_TRACE_W_H].x && !b->layer
            ? " W_h stands behind the output and has no part in this loss: a target is given."
            : "");
    s->now =
        text_of(e, "L = %s%s.", number_text(loss, b->loss, matrix_digits(&one, e->look.precision)),
                b->target || b->layer ? "" : ", with a target of 0");
    s->loss = true;
}

static void describe(explaining *e, lesson_step *s, heed_attention_trace_part part, bool slope) {
    bool hard = e->w.lesson.args.hard;
    if (slope && part == e->back.end)
        describe_loss(e, s);
    else if (slope && part == HEED_TRACE_SCORES && hard)
        s->words = text_of(e,
                           "%s A hard selection has no slope; here, as in training, dS is that of "
                           "the softmax of the same scores.",
                           s->words);
    else if (slope)
        return;
    else if (part == HEED_TRACE_X)
        s->aside = e->w.alike;
    else if (part >= HEED_TRACE_Q && part <= HEED_TRACE_V)
        describe_projection(e, s, part);
    else if (part == HEED_TRACE_SCALED)
        describe_scale(e, s);
    else if (part == HEED_TRACE_SCORES)
        describe_mask(e, s);
    else if (part == HEED_TRACE_WEIGHTS)
        describe_weights(e, s);
    else if (part == HEED_TRACE_OUTPUT)
        s->words = text_of(e,
                           hard ? "Each token receives the one value that its %s chooses."
                                : "Each token receives the mean of all values, weighted by its %s.",
                           e->columns ? "column of A" : "row of weights");
}

/* Adds the rows that the head takes, those that go forward or back. */
static void add_rows(explaining *e, bool back) {
    int now = facts(e), part = -1;
    bool slope = false;
    for (const step_row *r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
        if (r->when & ~now || !(r->when & BACK) == back) continue;
        if (r->views) {
            const char *name = r->views + (*r->views == '~');
            part = part_named(name, strcspn(name, " "), &slope);
            if (!has(e, (heed_attention_trace_part)part) || (slope && !e->back.g.part[part].x))
                continue;
        }
        lesson_step *s = add_step(e, r->title, fill(e, r->formula), fill(e, r->words));
        s->made = r->made;
        if (r->when & SHEET) s->now = s->words, s->words = NULL;
        if (!r->views) continue;
        add_views(e, s, r);
        describe(e, s, (heed_attention_trace_part)part, slope);
    }
}

/* ---- --backward ---- */

/* The loss of l, a head like that of e. d: gets its gradient by the part that it is of, or NULL. */
static double loss_of(const backward_pass *b, const heed_attention_trace *l, double *d) {
    const heed_matrix *y = &l->part[b->end];
    double sum = 0;
    for (int i = 0; i < y->rows * y->cols; i++) {
        double off = y->x[i] - (b->target ? b->target[i] : 0);
        if (d) d[i] = off;
        sum += 0.5 * off * off;
    }
    return sum;
}

static bool go_back(explaining *e) {
    const heed_attention_trace *l = &e->w.lesson;
    backward_pass *b = &e->back;
    heed_attention_trace_gradient_free(&b->g);
    *b = (backward_pass){.end = HEED_TRACE_OUTPUT, .target = e->w.target};
    b->layer = l->part[HEED_TRACE_W_H].x && !e->w.target;
    b->norm = b->layer && l->part[HEED_TRACE_NORMED].x;
    if (b->layer) b->end = b->norm ? HEED_TRACE_NORMED : HEED_TRACE_ALL;
    if (b->norm) b->target = l->part[HEED_TRACE_X].x;
    heed_matrix d = matrix_new(e, l->part[b->end].rows, l->part[b->end].cols);
    if (!d.x) return false;
    b->loss = loss_of(b, l, d.x);
    return b->layer ? heed_attention_trace_backward_layer(e->c, l, d.x, &b->g)
                    : heed_attention_trace_backward(e->c, l, d.x, NULL, &b->g);
}

/* ---- a cell by finite difference ---- */

typedef struct {
    int row, col;
    double value, gradient, up, down, difference;
} check;
static const double CHANGE = 1e-5;

static double loss_with(explaining *e, heed_attention_trace_part part, int at, double change) {
    heed_attention_trace l;
    double loss = (double)NAN;
    if (heed_attention_trace_make(e->c, &e->w.lesson.args, &l)) {
        l.part[part].x[at] += change;
        heed_attention_trace_compute(&l);
        loss = loss_of(&e->back, &l, NULL);
    }
    heed_attention_trace_free(&l);
    return loss;
}

/* Checks the cell with the largest gradient by (L(w + h) - L(w - h)) / 2h. */
static check check_of(explaining *e, heed_attention_trace_part part) {
    const heed_matrix *d = &e->back.g.part[part];
    check k = {.row = largest_row(d)};
    k.col = largest_in_row(d, k.row);
    int at = k.row * d->cols + k.col;
    k.value = e->w.lesson.part[part].x[at];
    k.gradient = d->x[at];
    k.up = loss_with(e, part, at, CHANGE);
    k.down = loss_with(e, part, at, -CHANGE);
    k.difference = (k.up - k.down) / (2 * CHANGE);
    return k;
}

/* The parts of which a cell is checked: W_Q, whose gradient depends on all others, and each matrix
 * that only a layer has. */
static int checked_parts(const explaining *e, heed_attention_trace_part list[5]) {
    int n = 0;
    list[n++] = HEED_TRACE_W_Q;
    if (e->back.layer) list[n++] = HEED_TRACE_W_H;
    if (e->back.layer && has(e, HEED_TRACE_B_O)) list[n++] = HEED_TRACE_B_O;
    if (e->back.norm) list[n++] = HEED_TRACE_GAIN, list[n++] = HEED_TRACE_BIAS;
    return n;
}

static void add_check(explaining *e, heed_attention_trace_part part, bool first, bool more) {
    check k = check_of(e, part);
    matrix_view v = view_of(e, part, false, e->columns);
    const char *const labels[] = {"L(w + h)", "L(w - h)", "difference / 2h",
                                  text_of(e, "d%s above", v.key)};
    v.name = v.key;
    lesson_step *s = add_step(e, first ? "Check" : NULL,
                              !first ? NULL
                              : more ? "a cell of each by finite difference"
                                     : "one cell by finite difference",
                              text_of(e, "%s = %.6g, moved by h = %g to both sides:",
                                      cell_name(e, &v, k.row, k.col), k.value, CHANGE));
    show(e, "", "check", matrix_of(e, 4, 1, (double[]){k.up, k.down, k.difference, k.gradient}),
         keep_labels(e, labels, 4), NULL)
        ->digits = 12;
    s->after = e->w.lesson.args.hard && part == HEED_TRACE_W_Q
                   ? "They need not agree: the selection is hard, and the gradient is that of the "
                     "softmax in its place."
                   : text_of(e, "They differ by %.1e.", fabs(k.difference - k.gradient));
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
    const heed_attention_trace_args *a = &e->w.lesson.args;
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
    const heed_attention_trace_args *a = &e->w.lesson.args;
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
    for (int k = 0; k < HEED_TRACE_COUNT; k++) {
        const heed_matrix *m = &e->w.lesson.part[k];
        for (int i = 0; e->blank[k] && i < m->rows * m->cols; i++) count += e->blank[k][i] != 0;
    }
    return count;
}

static void add_tokens(explaining *e) {
    const worked *w = &e->w;
    const heed_attention_trace_args *a = &w->lesson.args;
    lesson_step *s = add_step(
        e, "Tokens", NULL,
        fill(e, w->lesson.self
                    ? "The {input} is cut into {T} token{s}. Attention reads all of them at once; "
                      "here they are numbered."
                    : "Cross-attention: the queries come from one list of tokens, the keys and "
                      "values from another, the inputs. Scores, weights and the output have a "
                      "{row} for each query; scores and weights have a {column} for each input."));
    list_tokens(e, s, w->lesson.self ? "" : "Queries: ", w->tokens, a->tokens);
    if (!w->lesson.self)
        list_tokens(e, add_step(e, NULL, NULL, NULL), "Inputs: ", w->sources, a->sources);
}

void head_steps(explaining *e) {
    bool backward = heed_config_bool(e->p->flags, "backward");
    heed_attention_trace_gradient_free(&e->back.g);
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
        add_tokens(e);
    add_rows(e, false);
    if (e->sheet) return;
    if (e->w.layer && !heed_config_int(e->p->flags, "learn") && e->count)
        e->list[e->count - 1].aside = text_of(
            e,
            "Worked out in double from the model's own numbers; its weights, in float, differ by "
            "%.1e at most.%s",
            e->place.off,
            e->most_width ? " Wide matrices are cut for the screen (…): --whole, --json." : "");
    if (!backward || !go_back(e)) return;
    add_rows(e, true);
    heed_attention_trace_part checked[5];
    int n = e->page ? 0 : checked_parts(e, checked);
    for (int i = 0; i < n; i++) add_check(e, checked[i], i == 0, n > 1);
}

/* What head_steps found. */
json_t *backward_json(explaining *e) {
    const backward_pass *b = &e->back;
    json_t *o = json_object(), *checks = json_array();
    heed_attention_trace_part checked[5];
    json_object_set_new(o, "loss", json_number(b->loss));
    json_object_set_new(o, "dR", matrix_json(&b->g.part[HEED_TRACE_RAW]));
    for (const lesson_step *s = e->list; s < e->list + e->count; s++)
        for (int i = 0; s->count && i < HEED_TRACE_COUNT; i++)
            if (*parts[i].gradient && s->view[s->count - 1].key == parts[i].gradient)
                json_object_set_new(o, parts[i].gradient, matrix_json(&b->g.part[i]));
    for (int i = 0, n = checked_parts(e, checked); i < n; i++) {
        check k = check_of(e, checked[i]);
        json_array_append_new(checks, json_pack("{s:s, s:i, s:i, s:f, s:f}", "of",
                                                heed_attention_trace_name(checked[i]), "row",
                                                k.row + 1, "column", k.col + 1, "gradient",
                                                k.gradient, "difference", k.difference));
    }
    json_object_set_new(o, "check", checks);
    return o;
}
