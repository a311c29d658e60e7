/* attend_maps.c -- rollout, occlusion and gradient, shown beside the attention: whether attention
 * matters. */
#include "commands/attend.h"
#include "kinds/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- computing maps ---- */

/* The question at the query that is shown; otherwise the last one. */
static int question_of(const attend_view *v, const heed_inspection *s) {
    int found = s->question_count - 1;
    for (int i = 0; i < s->question_count; i++)
        if (v->query >= 0 && s->questions[i].axis == v->block->queries &&
            s->questions[i].query == v->query)
            found = i;
    return found;
}

static bool is_set(const attend_view *v, const char *key) {
    return heed_config_bool(v->p->flags, key);
}

/* Whether the query that is shown is among the questions. Also true if a question is about the
 * entire input, or if none is on this axis. */
static bool is_asked(const attend_view *v, const heed_inspection *s) {
    bool any = false;
    for (int i = 0; i < s->question_count; i++) {
        const heed_question *q = &s->questions[i];
        if (q->axis != v->block->queries) continue;
        if (q->query < 0 || q->query == v->query) return true;
        any = true;
    }
    return !any;
}

/* Occlusion and gradient need a prediction. */
static bool is_predicted(const attend_view *v, const heed_inspection *s) {
    if (v->query < 0 || !(is_set(v, "occlude") || is_set(v, "gradient")) || is_asked(v, s))
        return true;
    const heed_question *last = &s->questions[s->question_count - 1];
    char here[QUERY_SIZE], there[QUERY_SIZE];
    return heed_fail(v->p->c, HEED_USAGE,
                     "--query %s: nothing is predicted at %s: %s is of a prediction, as at %s; "
                     "hint: --query %d",
                     heed_config_text(v->p->flags, "query"), query_words(v, v->query, here),
                     is_set(v, "occlude") ? "--occlude" : "--gradient",
                     query_words(v, last->query, there), last->query + 1);
}

static bool add_rollout(const attend_view *v, const heed_inspection *e, heed_record *record) {
    const heed_config *f = v->p->flags;
    return heed_rollout_add(
        e,
        &(heed_rollout_add_args){.max = strcmp(heed_config_text(f, "fuse"), "max") == 0,
                                 .discard = heed_config_real(f, "discard")},
        record);
}

static bool add_occlusion(const attend_view *v, const heed_inspection *e, heed_record *record) {
    inspect_progress g = {v->p, e->x ? "hidden patch" : "hidden token"};
    heed_occlusion_args a = {.window = (int)heed_config_int(v->p->flags, "window"),
                             .progress = inspect_advance,
                             .user = &g};
    bool ok = heed_occlusion_add(e, &a, record);
    eval_loop_progress(v->p, "", 1, 1);
    return ok;
}

/* For a pair whose matrix is shown, the gradient has a row for each token of the target. */
static bool add_gradient(const attend_view *v, const heed_inspection *e, heed_record *record,
                         bool whole) {
    inspect_progress g = {v->p, "gradient"};
    bool matrix = e->read && v->query < 0;
    heed_gradient_args a = {.question = question_of(v, e),
                            .only = !whole && !matrix,
                            .by_head = whole,
                            .progress = inspect_advance,
                            .user = &g};
    bool ok = heed_gradient_add(e, &a, record);
    eval_loop_progress(v->p, "", 1, 1);
    return ok;
}

bool maps_add(const attend_view *v, const heed_inspection *e, heed_record *record, bool whole) {
    if (!is_predicted(v, e)) return false;
    return (!is_set(v, "rollout") || add_rollout(v, e, record)) &&
           (!is_set(v, "occlude") || add_occlusion(v, e, record)) &&
           (!is_set(v, "gradient") || add_gradient(v, e, record, whole));
}

bool map_is_main(const heed_record_map *m) {
    return m->layer < 0 && m->head < 0 && !strstr(m->name, "log-odds");
}

/* The positive part of n values, scaled to a sum of 1. */
static void as_shares(heed_real *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0)) x[i] = 0;
        sum += (double)x[i];
    }
    for (size_t i = 0; i < n && sum > 0; i++) x[i] = (heed_real)((double)x[i] / sum);
}

/* ---- one prediction: a column for each measure, a row for each token ---- */

enum { LABEL = 16 };
typedef struct {
    int count, tokens, query, label; /* label: width of the labels */
    const heed_record_axis *axis;
    char (*name)[24];
    heed_real *values; /* (columns, tokens); NAN: unknown */
    bool *sign;
} columns;

static heed_real *column(columns *k, const char *name, bool sign) {
    snprintf(k->name[k->count], sizeof k->name[0], "%s", name);
    k->sign[k->count] = sign;
    return k->values + (size_t)k->count++ * (size_t)k->tokens;
}

/* Row `query` of (Q,K); without a query, the mean of all rows. */
static void take_row(const heed_real *values, int queries, int keys, int query, heed_real *out) {
    int from = query < 0 ? 0 : query, end = query < 0 ? queries : query + 1;
    for (int i = 0; i < keys; i++) {
        double sum = 0;
        for (int q = from; q < end; q++)
            sum += (double)values[(size_t)q * (size_t)keys + (size_t)i] / (end - from);
        out[i] = (heed_real)sum;
    }
}

static void take_heads(const attend_view *v, columns *k, bool each) {
    const heed_record_block *b = v->block;
    int queries = v->record->axes[b->queries].count;
    size_t square = (size_t)queries * (size_t)k->tokens;
    heed_real *mean = NULL; /* or, on a terminal, the head that is shown, or the maximum over all */
    bool largest = !each && v->head == MAX_HEAD;
    if (!each || b->heads > 1) mean = column(k, each ? "mean" : "attention", false);
    for (int i = 0; mean && i < k->tokens; i++) mean[i] = 0;
    heed_real *row = malloc((size_t)k->tokens * sizeof *row);
    for (int h = 0; row && h < b->heads; h++) {
        char name[24];
        snprintf(name, sizeof name, "head %d", (b->head ? b->head[h] : h) + 1);
        take_row(b->weights + (size_t)h * square, queries, k->tokens, k->query, row);
        heed_real *own = each ? column(k, name, false) : NULL;
        if (own) memcpy(own, row, (size_t)k->tokens * sizeof *own);
        bool counts = each || v->head < 0 || h == v->head;
        double share = each || v->head < 0 ? 1.0 / b->heads : 1;
        for (int i = 0; mean && counts && i < k->tokens; i++)
            mean[i] = largest ? (heed_real)fmax((double)mean[i], (double)row[i])
                              : mean[i] + (heed_real)(share * (double)row[i]);
    }
    free(row);
}

/* Whether the first map can be shown beside the block: they have the same axes. */
static bool fits_block(const attend_view *v, const heed_record_map *m) {
    return map_is_main(m) && m->queries == v->block->queries && m->keys == v->block->keys;
}

/* The query of the prediction: the one that is shown, otherwise that of the last guess. */
static int predicted_query(const attend_view *v) {
    const heed_record *r = v->record;
    return v->query >= 0 || !r->guess_count ? v->query : r->guesses[r->guess_count - 1].query;
}

static void columns_close(columns *k) {
    free(k->name);
    free(k->values);
    free(k->sign);
}

/* False: out of memory; call columns_close also then. each: every head has a column. */
static bool columns_open(const attend_view *v, bool each, columns *k) {
    const heed_record *r = v->record;
    *k = (columns){.axis = &r->axes[v->block->keys], .query = predicted_query(v)};
    k->tokens = k->axis->count;
    size_t most = (size_t)v->block->heads + 1 + (size_t)r->map_count;
    k->name = malloc(most * sizeof *k->name);
    k->sign = malloc(most * sizeof *k->sign);
    k->values = malloc(most * (size_t)k->tokens * sizeof *k->values);
    if (!k->values || !k->name || !k->sign)
        return heed_fail(v->p->c, HEED_FAILED, "no memory for %d tokens", k->tokens);
    for (int i = 0; i < k->tokens; i++) {
        int n = heed_label_columns(k->axis->labels[i]);
        if (n > k->label) k->label = n < LABEL ? n : LABEL;
    }
    take_heads(v, k, each);
    for (int i = 0; i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        bool sign = strcmp(m->name, "occlusion") == 0;
        heed_real *to = fits_block(v, m) ? column(k, m->name, sign) : NULL;
        if (to) take_row(m->values, r->axes[m->queries].count, k->tokens, k->query, to);
    }
    return true;
}

static void put_bar(heed_text *out, double share, int width) {
    bool color = has_color(stdout);
    int full = (int)lround(fabs(share) * width);
    const char *fill = share < 0 ? "-" : color ? "\xe2\x96\x88" : "#";
    if (color) heed_text_add(out, share < 0 ? "\033[31m" : "\033[36m");
    for (int i = 0; i < full; i++) heed_text_put(out, fill, strlen(fill));
    if (color) heed_text_add(out, "\033[0m");
    heed_text_add(out, "%*s", width - full, "");
}

static double largest(const columns *k, int c) {
    double most = 0;
    for (int i = 0; i < k->tokens; i++) {
        double x = fabs((double)k->values[c * k->tokens + i]);
        if (x > most) most = x;
    }
    return most;
}

/* "  +0.912 ########  ", with another digit in a column of small numbers. A value that is rounded
 * to 0 has neither sign nor bar. */
static void put_cell(heed_text *out, const columns *k, int c, int token, int bar) {
    double x = (double)k->values[c * k->tokens + token], most = largest(k, c);
    int digits = most < 0.01 ? 4 : 3;
    bool none = fabs(x) < 0.5 * pow(10, -digits);
    if (isnan(x))
        heed_text_add(out, "  %7s %*s", "-", bar, "");
    else {
        heed_text_add(out, k->sign[c] && !none ? "  %+7.*f " : "  %7.*f ", digits, none ? 0 : x);
        put_bar(out, none ? 0 : x / most, bar);
    }
}

static void put_line(heed_text *line) {
    while (line->n > 0 && line->s[line->n - 1] == ' ') line->s[--line->n] = 0;
    puts(line->s ? line->s : "");
    line->n = 0;
}

static bool is_hidden(const attend_view *v, const columns *k, int token) {
    return v->hide && k->axis->special && k->axis->special[token];
}

/* Prints columns [from, to) under their names, with bars as wide as fit the terminal. */
static void print_band(const attend_view *v, const columns *k, int from, int to, int bar) {
    heed_text line = {.c = v->p->c};
    heed_text_add(&line, "  %-*s", k->label, "");
    for (int c = from; c < to; c++) heed_text_add(&line, "  %-*s", bar + 8, k->name[c]);
    put_line(&line);
    for (int i = 0; i < k->tokens; i++) {
        if (is_hidden(v, k, i)) continue;
        heed_text_add(&line, "  ");
        int used = heed_label_text(k->axis->labels[i], k->label, &line);
        heed_text_add(&line, "%*s", k->label - used, "");
        for (int c = from; c < to; c++) put_cell(&line, k, c, i, bar);
        put_line(&line);
    }
    heed_text_free(&line);
}

static void print_columns(const attend_view *v, const columns *k) {
    int capacity = terminal_width() - k->label - 2, least = 14, each = capacity / least;
    int band = each < 1 ? 1 : each < k->count ? each : k->count, bar = capacity / band - 10;
    bar = bar > 16 ? 16 : bar < 1 ? 1 : bar;
    for (int from = 0; from < k->count; from += band) {
        putchar('\n');
        print_band(v, k, from, from + band < k->count ? from + band : k->count, bar);
    }
}

/* ---- explanations ---- */

/* Prints "occlusion: by how much ..." for each map of the record. */
static void print_helps(const attend_view *v) {
    const heed_record *r = v->record;
    for (int i = 0; i < r->map_count; i++) {
        char line[400];
        if (!map_is_main(&r->maps[i])) continue;
        snprintf(line, sizeof line, "%s: %s.", r->maps[i].name, r->maps[i].help);
        print_wrapped(v->p, line);
    }
}

static bool print_matrix(const attend_view *v, const heed_record_map *m) {
    const heed_record_axis *q = &v->record->axes[m->queries], *k = &v->record->axes[m->keys];
    double most = 0;
    for (int i = 0; i < q->count * k->count; i++) most = fmax(most, (double)m->values[i]);
    putchar('\n');
    return print_map(v, (heed_heatmap){.title = m->name,
                                       .rows = q->count,
                                       .cols = k->count,
                                       .values = m->values,
                                       .row_labels = q->labels,
                                       .col_labels = k->labels,
                                       .hi = (heed_real)most,
                                       .numbers = v->numbers,
                                       .unit = m->name});
}

/* Whether a single prediction is shown; for a pair, only if a token of the target was asked for. */
static bool is_one(const attend_view *v) { return v->block->stack != HEED_CROSS || v->query >= 0; }

static bool any_fits(const attend_view *v) {
    for (int i = 0; i < v->record->map_count; i++)
        if (fits_block(v, &v->record->maps[i])) return true;
    return false;
}

static bool is_guessed(const attend_view *v, int query) {
    bool any = false;
    for (int i = 0; i < v->record->guess_count; i++)
        any |=
            v->record->guesses[i].axis == v->block->queries && v->record->guesses[i].query == query;
    return any;
}

bool maps_print(const attend_view *v) {
    const heed_record *r = v->record;
    bool ok = true, patches = r->pixels && v->block->queries == v->block->keys;
    bool table = is_one(v) && any_fits(v) && !patches;
    columns k;
    if (table && columns_open(v, false, &k)) {
        char what[80] = "what each token has to do with the prediction:";
        if (k.query >= 0)
            snprintf(what, sizeof what, "what each token has to do with %stoken %d:",
                     is_guessed(v, k.query) ? "the prediction at " : "", k.query + 1);
        putchar('\n');
        print_wrapped(v->p, what);
        print_columns(v, &k);
    }
    if (table) columns_close(&k);
    for (int i = 0; ok && !patches && i < r->map_count; i++)
        if (map_is_main(&r->maps[i]) && !(table && fits_block(v, &r->maps[i])))
            ok = print_matrix(v, &r->maps[i]);
    if (r->map_count) {
        putchar('\n');
        print_helps(v);
    }
    return ok && heed_ctx_status(v->p->c) == HEED_OK;
}

/* ---- as a picture ---- */

bool maps_drawable(const attend_view *v) {
    return is_one(v) && any_fits(v) && !(v->record->pixels && v->block->queries == v->block->keys);
}

bool maps_need_query(const attend_view *v) { return !is_one(v) && any_fits(v); }

/* Keeps only the tokens that are shown, and returns their number; labels gets their labels. */
static int keep_visible(const attend_view *v, columns *k, const char **labels) {
    int count = 0, at = 0;
    for (int i = 0; i < k->tokens; i++)
        if (!is_hidden(v, k, i)) labels[count++] = k->axis->labels[i];
    for (int i = 0; i < k->count * k->tokens; i++)
        if (!is_hidden(v, k, i % k->tokens)) k->values[at++] = k->values[i];
    return count;
}

bool maps_draw(const attend_view *v, bool svg, const char *path) {
    columns k;
    char title[TITLE_SIZE];
    bool ok = columns_open(v, !v->chosen, &k);
    const char **rows = ok ? malloc((size_t)k.count * sizeof *rows) : NULL;
    const char **cols = ok ? malloc((size_t)k.tokens * sizeof *cols) : NULL;
    if (ok && !(rows && cols))
        ok = heed_fail(v->p->c, HEED_FAILED, "no memory for %d rows", k.count);
    for (int i = 0; ok && i < k.count; i++) {
        rows[i] = k.name[i];
        as_shares(k.values + (size_t)i * (size_t)k.tokens, (size_t)k.tokens);
    }
    heed_heatmap map = {.title = "share of each row",
                        .rows = k.count,
                        .cols = ok ? keep_visible(v, &k, cols) : 0,
                        .values = k.values,
                        .row_labels = rows,
                        .col_labels = cols,
                        .numbers = v->numbers,
                        .unit = "of what is positive in a row"};
    ok = ok && draw_panels(v, drawn_title(v, k.query, title), &map, 1, svg, path);
    free((void *)rows);
    free((void *)cols);
    columns_close(&k);
    return ok;
}
