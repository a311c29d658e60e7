/* attend_maps.c -- rollout, occlusion and gradient, shown beside the attention: whether attention
 * matters. */
#include "commands/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- computing maps ---- */

/* Occlusion and gradient need a prediction at the query that is shown, unless a question is about
 * the entire input or none is on this axis. */
static bool is_predicted(const attend_view *v, const heed_inspection *s) {
    bool occlude = flag_on(v->p, "occlude"), any = false;
    if (v->query < 0 || !(occlude || flag_on(v->p, "gradient"))) return true;
    for (int i = 0; i < s->question_count; i++) {
        const heed_question *q = &s->questions[i];
        if (q->axis != v->block->queries) continue;
        if (q->query < 0 || q->query == v->query) return true;
        any = true;
    }
    if (!any) return true;
    const heed_question *last = &s->questions[s->question_count - 1];
    char here[QUERY_SIZE], there[QUERY_SIZE];
    return heed_fail(v->p->c, HEED_USAGE,
                     "--query %s: nothing is predicted at %s: %s is of a prediction, as at %s; "
                     "hint: --query %d",
                     flag_text(v->p, "query"), query_words(v, v->query, here),
                     occlude ? "--occlude" : "--gradient", query_words(v, last->query, there),
                     last->query + 1);
}

static bool add_occlusion(const attend_view *v, const heed_inspection *s, heed_record *record) {
    inspect_progress g = {v->p, s->x ? "hidden patch" : "hidden token"};
    heed_occlusion_args a = {
        .window = flag_int(v->p, "window"), .progress = inspect_advance, .user = &g};
    bool ok = heed_occlusion_add(s, &a, record);
    eval_loop_progress(v->p, "", 1, 1);
    return ok;
}

/* The gradient of the question at the query that is shown; otherwise of the last one. For a pair
 * whose matrix is shown, it has a row for each token of the target. */
static bool add_gradient(const attend_view *v, const heed_inspection *s, heed_record *record,
                         bool whole) {
    inspect_progress g = {v->p, "gradient"};
    bool matrix = s->read && v->query < 0;
    heed_gradient_args a = {.question = s->question_count - 1,
                            .only = !whole && !matrix,
                            .by_head = whole,
                            .progress = inspect_advance,
                            .user = &g};
    for (int i = 0; v->query >= 0 && i < s->question_count; i++)
        if (s->questions[i].axis == v->block->queries && s->questions[i].query == v->query)
            a.question = i;
    bool ok = heed_gradient_add(s, &a, record);
    eval_loop_progress(v->p, "", 1, 1);
    return ok;
}

/* The query that is shown, else that of the last guess, if that is about a row of the block. */
static int query_of_answer(const attend_view *v) {
    const heed_record *r = v->record;
    const heed_record_guess *last = r->guess_count ? &r->guesses[r->guess_count - 1] : NULL;
    return v->query < 0 && last && last->axis == v->block->queries ? last->query : v->query;
}

/* Whether a single prediction is shown; for a pair, only if a token of the target was asked for. */
static bool is_one(const attend_view *v) { return v->block->stack != HEED_CROSS || v->query >= 0; }

/* The probability of the answer at a query, or of the whole input; NAN: nothing is predicted. */
static double answer_at(const attend_view *v, int query) {
    for (int i = 0; i < v->record->guess_count; i++) {
        const heed_record_guess *g = &v->record->guesses[i];
        bool here = g->query < 0 || (g->axis == v->block->queries && g->query == query);
        if (here && g->count) return (double)g->p[0];
    }
    return (double)NAN;
}

/* The key at which a row of a map is the largest by its size, as *most; -1: the map has no values
 * there. */
static int largest_at(const heed_record *r, const heed_record_map *m, int query, double *most) {
    int keys = r->axes[m->keys].count, best = -1;
    const heed_real *row = m->values + (size_t)(query < 0 ? 0 : query) * (size_t)keys;
    for (int i = 0; i < keys; i++)
        if (isfinite((double)row[i]) && (best < 0 || fabs((double)row[i]) > fabs(*most)))
            best = i, *most = (double)row[i];
    return best;
}

/* The largest change of the log-odds by hiding a key. */
typedef struct {
    int key;
    double change, probability; /* probability: by how much that changes at most */
} odds_change;

/* Whether the probability is so near 1 that it hardly changes whatever is hidden: occlusion then
 * tells nothing apart. */
static bool is_saturated(const attend_view *v, odds_change *out) {
    const heed_record *r = v->record;
    int query = query_of_answer(v);
    *out = (odds_change){.key = -1};
    for (int i = 0; i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        if (m->queries != v->block->queries || m->keys != v->block->keys) continue;
        if (strcmp(m->name, "occlusion") == 0) largest_at(r, m, query, &out->probability);
        if (strcmp(m->name, "occlusion, log-odds") == 0)
            out->key = largest_at(r, m, query, &out->change);
    }
    out->probability = fabs(out->probability);
    return out->key >= 0 && answer_at(v, query) > 0.99 && out->probability <= HEED_LEAST_OCCLUSION;
}

/* Adds to the record's note, which the terminal, pictures and pages show, that occlusion says
 * little where it does. */
static bool note_saturated(const attend_view *v, heed_record *record) {
    odds_change odds;
    char place[QUERY_SIZE], at[QUERY_SIZE + 4] = "";
    int query = query_of_answer(v);
    heed_text note = {.c = v->p->c};
    if (!is_one(v) || !is_saturated(v, &odds)) return true;
    if (record->note && *record->note) heed_text_add(&note, "%s ", record->note);
    if (record->guess_count > 1 && query >= 0)
        snprintf(at, sizeof at, " at %s", query_words(v, query, place));
    heed_text_add(&note,
                  "The probability%s is so near 1 that it changes by less than %.4f whatever is "
                  "hidden: occlusion says little here. The log-odds, ln p / (1 - p), change the "
                  "most if this is hidden: %s (by %+.2f).",
                  at, ceil(odds.probability * 1e4 + 1e-6) / 1e4,
                  place_words(v->p->c, &record->axes[v->block->keys], odds.key, place),
                  -odds.change);
    bool ok = heed_record_describe(record, (heed_record_texts){.note = note.s});
    heed_text_free(&note);
    return ok;
}

bool maps_add(const attend_view *v, const heed_inspection *s, heed_record *record, bool whole) {
    heed_rollout_add_args rollout = {.max = strcmp(flag_text(v->p, "fuse"), "max") == 0,
                                     .discard = heed_config_real(v->p->flags, "discard")};
    bool ok = is_predicted(v, s);
    if (flag_on(v->p, "rollout")) ok = ok && heed_rollout_add(s, &rollout, record);
    if (flag_on(v->p, "occlude")) ok = ok && add_occlusion(v, s, record);
    if (flag_on(v->p, "gradient")) ok = ok && add_gradient(v, s, record, whole);
    return ok && note_saturated(v, record);
}

bool map_is_main(const heed_record_map *m) {
    return m->layer < 0 && m->head < 0 && !strstr(m->name, "log-odds");
}

const char *map_unit(const char *name) {
    if (strcmp(name, "occlusion") == 0) return "fall of the probability if hidden";
    return strcmp(name, "gradient") == 0 ? "attention times gradient of the logit" : NULL;
}

/* ---- one prediction: a column for each measure, a row for each token ---- */

enum { LABEL = 16 };
typedef struct {
    int count, tokens, label; /* label: width of the labels */
    int weights;              /* the first so many columns are of the block, the others maps */
    int query; /* of the prediction: the one that is shown, else that of the last guess; -1: the
                  attention is the mean of all rows */
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
    heed_real *row = allocate(v->p->c, (size_t)k->tokens, sizeof *row, "tokens");
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

static void columns_close(columns *k) {
    free(k->name);
    free(k->values);
    free(k->sign);
}

/* False: out of memory; call columns_close also then. each: every head has a column. */
static bool columns_open(const attend_view *v, bool each, columns *k) {
    const heed_record *r = v->record;
    *k = (columns){.axis = &r->axes[v->block->keys], .query = query_of_answer(v)};
    k->tokens = k->axis->count;
    size_t most = (size_t)v->block->heads + 1 + (size_t)r->map_count;
    k->name = allocate(v->p->c, most, sizeof *k->name, "columns");
    k->sign = allocate(v->p->c, most, sizeof *k->sign, "columns");
    k->values = allocate(v->p->c, most * (size_t)k->tokens, sizeof *k->values, "numbers");
    if (!k->values || !k->name || !k->sign) return false;
    for (int i = 0; i < k->tokens; i++) {
        int n = heed_label_columns(k->axis->labels[i]);
        if (n > k->label) k->label = n < LABEL ? n : LABEL;
    }
    take_heads(v, k, each);
    k->weights = k->count;
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

/* The value of a full bar of a column, and the digits of its numbers. */
static double full_bar(const columns *k, int c, int *digits) {
    double most = 0;
    for (int i = 0; i < k->tokens; i++) {
        double size = fabs((double)k->values[c * k->tokens + i]);
        if (size > most) most = size;
    }
    *digits = most < 0.01 ? 4 : 3;
    return fmax(most, heed_map_least(k->name[c]));
}

/* "  +0.912 ########  ", with another digit in a column of small numbers. A value that is rounded
 * to 0 has neither sign nor bar. */
static void put_cell(heed_text *out, const columns *k, int c, int token, int bar) {
    int digits;
    double x = (double)k->values[c * k->tokens + token], most = full_bar(k, c, &digits);
    bool none = fabs(x) < 0.5 * pow(10, -digits);
    if (isnan(x))
        heed_text_add(out, "  %7s %*s", "-", bar, "");
    else {
        heed_text_add(out, k->sign[c] && !none ? "  %+7.*f " : "  %7.*f ", digits, none ? 0 : x);
        put_bar(out, none ? 0 : x / most, bar);
    }
}

static bool is_hidden(const attend_view *v, const columns *k, int token) {
    return v->hide && k->axis->special && k->axis->special[token];
}

/* Prints columns under their names, in as many bands as the terminal needs, with bars as wide as
 * fit. */
static void print_columns(const attend_view *v, const columns *k) {
    int capacity = terminal_width() - k->label - 2, least = 14, each = capacity / least;
    int band = each < 1 ? 1 : each < k->count ? each : k->count, bar = capacity / band - 10;
    heed_text line = {.c = v->p->c};
    bar = bar > 16 ? 16 : bar < 1 ? 1 : bar;
    for (int from = 0; from < k->count; from += band) {
        int end = from + band < k->count ? from + band : k->count;
        heed_text_add(&line, "\n  %-*s", k->label, "");
        for (int c = from; c < end; c++) heed_text_add(&line, "  %-*s", bar + 8, k->name[c]);
        print_line(&line);
        for (int i = 0; i < k->tokens; i++) {
            if (is_hidden(v, k, i)) continue;
            heed_text_add(&line, "  ");
            int used = heed_label_text(k->axis->labels[i], k->label, &line);
            heed_text_add(&line, "%*s", k->label - used, "");
            for (int c = from; c < end; c++) put_cell(&line, k, c, i, bar);
            print_line(&line);
        }
    }
    heed_text_free(&line);
}

/* What the attention is of, and the scales of the bars. */
static void explain_columns(const attend_view *v, const columns *k) {
    char name[NAME_SIZE];
    heed_text full = {.c = v->p->c};
    for (int c = 0; c < k->count; c++) {
        int digits;
        double most = full_bar(k, c, &digits);
        heed_text_add(&full, "%s%s %.*f", c ? ", " : "", k->name[c], digits, most);
    }
    putchar('\n');
    print_wrapped(v->p, "A full bar is %s: each column has its own scale.", full.s ? full.s : "");
    print_wrapped(v->p, "attention: %s (1 = 100 %%), %s.",
                  k->query < 0 ? "shares of a row, mean of the rows" : "shares of a row",
                  view_name(v, v->head, name));
    heed_text_free(&full);
}

static bool print_matrix(const attend_view *v, const heed_record_map *m) {
    heed_heatmap map = heatmap_of_map(v->record, m, m->name);
    for (int i = 0; i < map.rows * map.cols; i++)
        if (m->values[i] > map.hi) map.hi = m->values[i];
    map.numbers = v->numbers;
    map.unit = m->name;
    putchar('\n');
    return print_heatmap(v->p->c, map);
}

/* " (attention, rollout)": the columns that are of a row, or those that are of a prediction. */
static int add_names(heed_text *out, const columns *k, bool of_prediction) {
    int count = 0;
    for (int c = 0; c < k->count; c++)
        if ((map_unit(k->name[c]) != NULL) == of_prediction)
            heed_text_add(out, "%s%s", count++ ? ", " : " (", k->name[c]);
    if (count) heed_text_put(out, ")", 1);
    return count;
}

/* A prediction is at the token that is shown, or of the whole input, which only some of the columns
 * are about. */
static void print_heading(const attend_view *v, const columns *k) {
    const heed_record *r = v->record;
    bool here = false, whole = false;
    for (int i = 0; i < r->guess_count; i++) {
        here |= r->guesses[i].axis == v->block->queries && r->guesses[i].query == k->query;
        whole |= r->guesses[i].query < 0;
    }
    heed_text row = {.c = v->p->c}, all = {.c = v->p->c};
    add_names(&row, k, false);
    whole = add_names(&all, k, true) > 0 && whole;
    putchar('\n');
    if (k->query < 0 && r->guess_count && r->guesses[r->guess_count - 1].query >= 0)
        print_wrapped(v->p, "each token, as the mean of the rows:"); /* no row is predicted */
    else if (k->query < 0)
        print_wrapped(v->p, "what each token has to do with the prediction:");
    else if (whole)
        print_wrapped(v->p, "what each token has to do with token %d%s and with the prediction%s:",
                      k->query + 1, row.s ? row.s : "", all.s ? all.s : "");
    else
        print_wrapped(v->p, "what each token has to do with %stoken %d:",
                      here ? "the prediction at " : "", k->query + 1);
    heed_text_free(&row);
    heed_text_free(&all);
}

static bool any_fits(const attend_view *v) {
    for (int i = 0; i < v->record->map_count; i++)
        if (fits_block(v, &v->record->maps[i])) return true;
    return false;
}

bool maps_print(const attend_view *v) {
    const heed_record *r = v->record;
    odds_change odds;
    bool ok = true, patches = r->pixels && v->block->queries == v->block->keys;
    bool table = is_one(v) && any_fits(v) && !patches;
    columns k;
    if (table && columns_open(v, false, &k)) {
        print_heading(v, &k);
        print_columns(v, &k);
        explain_columns(v, &k);
    }
    if (table) columns_close(&k);
    for (int i = 0; ok && !patches && i < r->map_count; i++)
        if (map_is_main(&r->maps[i]) && !(table && fits_block(v, &r->maps[i])))
            ok = print_matrix(v, &r->maps[i]);
    if (r->map_count && !table) putchar('\n');
    for (int i = 0; i < r->map_count; i++)
        if (map_is_main(&r->maps[i]))
            print_wrapped(v->p, "%s: %s.", r->maps[i].name, r->maps[i].help);
    if (is_one(v) && is_saturated(v, &odds))
        print_wrapped(v->p, "--json and --npz have the log-odds of all%s.",
                      flag_on(v->p, "gradient") ? ""
                                                : ", and --gradient shows what moves the logit");
    return ok && heed_ctx_status(v->p->c) == HEED_OK;
}

/* ---- as a picture ---- */

bool maps_drawable(const attend_view *v) {
    return is_one(v) && any_fits(v) && !(v->record->pixels && v->block->queries == v->block->keys);
}

bool maps_need_query(const attend_view *v) { return !is_one(v) && any_fits(v); }

void maps_omitted(const attend_view *v, heed_text *out) {
    const heed_record *r = v->record;
    if (r->axes[v->block->keys].rows) return; /* a picture */
    for (int i = 0; i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        if (map_is_main(m) && !fits_block(v, m))
            heed_text_add(out, "%s%s (%s over %s)", out->n ? "; " : "", m->name,
                          r->axes[m->queries].name, r->axes[m->keys].name);
    }
}

/* Whether the row is a map of shares of attention, such as rollout. */
static bool is_share(const columns *k, int row) {
    return row >= k->weights && !map_unit(k->name[row]);
}

/* The end of the row's own scale, for shares at least twice `uniform`; 0: it is of heads, which
 * have a common one. */
static heed_real own_end(const columns *k, int row, double uniform) {
    double least = is_share(k, row) ? fmin(2 * uniform, 1) : heed_map_least(k->name[row]);
    heed_real end = (heed_real)least;
    heed_real *x = k->values + (size_t)row * (size_t)k->tokens;
    for (int i = 0; row >= k->weights && i < k->tokens; i++)
        if (fabs((double)x[i]) > (double)end) end = (heed_real)fabs((double)x[i]);
    return end;
}

heed_real maps_end(const attend_view *v) {
    columns k;
    bool ok = columns_open(v, !v->chosen, &k);
    heed_real most = (heed_real)heed_record_scale(v->record, v->block);
    for (int c = 0; ok && c < k.weights; c++)
        for (int i = 0; i < k.tokens; i++)
            if (!is_hidden(v, &k, i) && k.values[c * k.tokens + i] > most)
                most = k.values[c * k.tokens + i];
    columns_close(&k);
    return most;
}

bool maps_draw(const attend_view *v, bool svg, const char *path) {
    heed_ctx *c = v->p->c;
    columns k;
    bool ok = columns_open(v, !v->chosen, &k);
    const char **rows = allocate(c, (size_t)k.count, sizeof *rows, "rows");
    const char **cols = allocate(c, (size_t)k.tokens, sizeof *cols, "columns");
    const char **units = allocate(c, (size_t)k.count, sizeof *units, "rows");
    heed_real *ends = allocate(c, (size_t)k.count, sizeof *ends, "rows");
    bool *shares = allocate(c, (size_t)k.count, sizeof *shares, "rows");
    double uniform = heed_record_uniform(v->record, v->block, k.query);
    ok = ok && rows && cols && ends && units && shares;
    int visible = 0, at = 0; /* tokens and values that are not hidden */
    for (int i = 0; ok && i < k.count; i++) {
        rows[i] = k.name[i];
        ends[i] = own_end(&k, i, uniform);
        shares[i] = is_share(&k, i);
        units[i] = map_unit(k.name[i]);
    }
    for (int i = 0; ok && i < k.tokens; i++)
        if (!is_hidden(v, &k, i)) cols[visible++] = k.axis->labels[i];
    for (int i = 0; ok && i < k.count * k.tokens; i++)
        if (!is_hidden(v, &k, i % k.tokens)) k.values[at++] = k.values[i];
    heed_heatmap map = {.rows = k.count,
                        .cols = visible,
                        .values = k.values,
                        .row_labels = rows,
                        .col_labels = cols,
                        .numbers = v->numbers,
                        .hi = scale_end(v, SCALE_MAPS),
                        .unit = k.query < 0 ? "of attention, mean of the rows (1 = 100 %)" : NULL,
                        .uniform = uniform,
                        .ends = ends,
                        .units = units,
                        .shares = shares};
    ok = ok && draw_panels(v, k.query, &map, 1, svg, path);
    free((void *)rows);
    free((void *)cols);
    free((void *)units);
    free(ends);
    free(shares);
    columns_close(&k);
    return ok;
}
