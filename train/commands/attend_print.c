/* attend_print.c -- what of a record is shown, in the terminal: heat maps, the strongest tokens or
 * patches, bars for other measures, predictions. */
#include "commands/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prints external text, made safe for the terminal and cut to its width. */
static void print_label(const attend_view *a, const char *text) {
    heed_text line = {.c = a->p->c};
    heed_label_text(text ? text : "", terminal_width(), &line);
    print_line(&line);
    heed_text_free(&line);
}

static void add_share(heed_text *out, heed_real p) {
    char number[16];
    heed_text_add(out, " %s", probability_text(number, (double)p, PROBABILITY));
}

/* Adds an item to a line, or begins another one after `indent` blanks. */
static void add_item(heed_text *line, int gap, heed_text *item, int indent) {
    add_piece(line, gap, item->s ? item->s : "", indent, terminal_width());
    heed_text_free(item);
}

/* ---- the strongest of a row ---- */

/* Whether a token occurs more than once, so that its number must be shown. */
static bool is_repeated(const heed_heatmap *m, int col) {
    for (int j = 0; j < m->cols; j++)
        if (j != col && strcmp(m->col_labels[j], m->col_labels[col]) == 0) return true;
    return false;
}

/* "  mean    Paris 0.42  is 0.20"; of patches "  mean of heads   2,5 0.120  3,5 0.100": the largest
 * values of a row, in descending order. */
static void print_top(const attend_view *a, const heed_view_map *s, int row, int width) {
    const heed_heatmap *m = &s->map;
    heed_real *x = s->values + (size_t)row * (size_t)m->cols;
    heed_text line = {.c = a->p->c};
    bool share = !m->units[row];
    heed_text_add(&line, "  ");
    int used = heed_label_text(m->row_labels[row], m->picture ? width : 64, &line);
    heed_text_add(&line, "%*s", used < width ? width - used : 0, "");
    for (int k = 0; k < a->top && k < m->cols; k++) {
        int best = -1;
        for (int j = 0; j < m->cols; j++)
            if (isfinite((double)x[j]) && (best < 0 || x[j] > x[best])) best = j;
        if (best < 0) break;
        heed_text item = {.c = a->p->c};
        heed_label_text(m->col_labels[best], 24, &item);
        if (!m->picture && is_repeated(m, best)) heed_text_add(&item, "(%d)", s->col[best] + 1);
        if (!m->picture)
            add_share(&item, x[best]);
        else if (share && x[best] > 0 && (double)x[best] < 0.0005)
            heed_text_add(&item, " <0.001");
        else
            heed_text_add(&item, " %.3f", (double)x[best]);
        add_item(&line, 2, &item, m->picture ? 2 + width + 2 : 4 + width);
        x[best] = (heed_real)NAN; /* done with this one */
    }
    print_line(&line);
    heed_text_free(&line);
}

static bool print_matrix(const attend_view *a) {
    heed_view_map s;
    bool ok = heed_view_matrix(a->p->c, &a->v, a->v.head, &s) && print_heatmap(a->p->c, s.map);
    heed_view_map_free(&s);
    return ok;
}

static bool print_rows(const attend_view *a) {
    heed_view_map s;
    bool ok = heed_view_rows(a->p->c, &a->v, true, false, &s) && print_heatmap(a->p->c, s.map);
    bool over = s.map.picture != NULL;
    if (ok && over) puts("strongest patches, row,column from 1:");
    for (int i = 0; ok && i < s.map.rows; i++)
        print_top(a, &s, i, over ? 14 : s.map.rows > 10 ? 8 : 7);
    heed_view_map_free(&s);
    return ok;
}

/* ---- a single row, for other commands ---- */

bool attend_print_row(program *p, const heed_record_view *v, const char *made) {
    char head[HEED_WORDS], why[HEED_WORDS];
    heed_text title = {.c = p->c};
    heed_view_map s;
    heed_text_add(&title, "attention of token %d, \"", v->query + 1);
    heed_label_text(v->record->axes[v->block->queries].labels[v->query], 40, &title);
    heed_text_add(&title, "\"");
    if (made) {
        heed_text_add(&title, ", which made \"");
        heed_label_text(made, 40, &title);
        heed_text_add(&title, "\"");
    }
    heed_text_add(&title, ", layer %d", v->block->layer + 1);
    if (v->focus.count > 1)
        heed_text_add(&title, "; here %s is the %s", heed_head_words(v->block, v->focus.head, head),
                      heed_focus_words(v, why));
    bool ok = heed_view_rows(p->c, v, true, false, &s);
    s.map.title = title.s;
    s.map.hi = 1;
    ok = ok && print_heatmap(p->c, s.map);
    heed_text_free(&title);
    heed_view_map_free(&s);
    return ok;
}

json_t *attend_row_json(program *p, const heed_record_view *v) {
    heed_view_map s;
    json_t *o = json_null();
    if (heed_view_rows(p->c, v, true, false, &s)) {
        json_t *heads = json_array();
        for (int i = v->block->heads > 1; i < s.map.rows; i++)
            json_array_append_new(heads, json_numbers(s.values + i * s.map.cols, s.map.cols));
        o = json_pack("{s:i, s:i, s:o, s:o}", "layer", v->block->layer + 1, "position",
                      v->query + 1, "mean", json_numbers(s.values, s.map.cols), "heads", heads);
    }
    heed_view_map_free(&s);
    return o;
}

/* ---- other measures of one prediction: a column for each, a line for each token ---- */

/* The value of a full bar of a measure, and the digits of its numbers. */
static double full_bar(const heed_heatmap *m, int row, int *digits) {
    double most = 0;
    for (int i = row * m->cols; i < (row + 1) * m->cols; i++)
        if (isfinite((double)m->values[i])) most = fmax(most, fabs((double)m->values[i]));
    *digits = most < 0.01 ? 4 : 3;
    return fmax(most, heed_map_least(m->row_labels[row]));
}

/* "  +0.912 ########  ", with another digit in a column of small numbers. A value that is rounded
 * to 0 has neither sign nor bar. */
static void put_cell(heed_text *out, const heed_heatmap *m, int row, int token, int width) {
    int digits;
    double x = (double)m->values[row * m->cols + token], most = full_bar(m, row, &digits);
    bool color = has_color(stdout), sign = strcmp(m->row_labels[row], "occlusion") == 0;
    bool none = !(fabs(x) >= 0.5 * pow(10, -digits));
    int full = none ? 0 : (int)lround(fabs(x / most) * width);
    if (isnan(x))
        heed_text_add(out, "  %7s ", "-");
    else
        heed_text_add(out, sign && !none ? "  %+7.*f " : "  %7.*f ", digits, none ? 0 : x);
    if (color && !isnan(x)) heed_text_add(out, x < 0 && !none ? "\033[31m" : "\033[36m");
    for (int i = 0; i < full; i++)
        heed_text_add(out, "%s", x < 0 ? "-" : color ? "\xe2\x96\x88" : "#");
    if (color && !isnan(x)) heed_text_add(out, "\033[0m");
    heed_text_add(out, "%*s", width - full, "");
}

/* Prints columns under their names, in as many bands as the terminal needs, with bars as wide as
 * fit. */
static void print_columns(const attend_view *a, const heed_heatmap *m) {
    enum { LABEL = 16, LEAST = 14 };
    int label = 0;
    for (int i = 0; i < m->cols; i++) {
        int n = heed_label_columns(m->col_labels[i]);
        if (n > label) label = n < LABEL ? n : LABEL;
    }
    int capacity = terminal_width() - label - 2, each = capacity / LEAST;
    int band = each < 1 ? 1 : each < m->rows ? each : m->rows, bar = capacity / band - 10;
    heed_text line = {.c = a->p->c};
    bar = bar > 16 ? 16 : bar < 1 ? 1 : bar;
    for (int from = 0; from < m->rows; from += band) {
        int end = from + band < m->rows ? from + band : m->rows;
        heed_text_add(&line, "\n  %-*s", label, "");
        for (int c = from; c < end; c++) heed_text_add(&line, "  %-*s", bar + 8, m->row_labels[c]);
        print_line(&line);
        for (int i = 0; i < m->cols; i++) {
            heed_text_add(&line, "  ");
            int used = heed_label_text(m->col_labels[i], label, &line);
            heed_text_add(&line, "%*s", label - used, "");
            for (int c = from; c < end; c++) put_cell(&line, m, c, i, bar);
            print_line(&line);
        }
    }
    heed_text_free(&line);
}

/* " (attention, rollout)": the columns that are of a row, or those that are of a prediction. */
static bool add_names(heed_text *out, const heed_heatmap *m, bool of_prediction) {
    int count = 0;
    for (int c = 0; c < m->rows; c++)
        if ((m->units[c] != NULL) == of_prediction)
            heed_text_add(out, "%s%s", count++ ? ", " : " (", m->row_labels[c]);
    if (count) heed_text_put(out, ")", 1);
    return count > 0;
}

/* A prediction is at the token that is shown, or of the whole input, which only some of the columns
 * are about. */
static void print_heading(const attend_view *a, const heed_heatmap *m) {
    const heed_record *r = a->v.record;
    int query = heed_view_query(&a->v);
    bool here = false, whole = false;
    for (int i = 0; i < r->guess_count; i++) {
        here |= r->guesses[i].axis == a->v.block->queries && r->guesses[i].query == query;
        whole |= r->guesses[i].query < 0;
    }
    heed_text row = {.c = a->p->c}, all = {.c = a->p->c};
    add_names(&row, m, false);
    whole = add_names(&all, m, true) && whole;
    putchar('\n');
    if (query < 0 && r->guess_count && r->guesses[r->guess_count - 1].query >= 0)
        print_wrapped(a->p, "each token, as the mean of the rows:"); /* no row is predicted */
    else if (query < 0)
        print_wrapped(a->p, "what each token has to do with the prediction:");
    else if (whole)
        print_wrapped(a->p, "what each token has to do with token %d%s and with the prediction%s:",
                      query + 1, row.s ? row.s : "", all.s ? all.s : "");
    else
        print_wrapped(a->p, "what each token has to do with %stoken %d:",
                      here ? "the prediction at " : "", query + 1);
    heed_text_free(&row);
    heed_text_free(&all);
}

static bool print_measures(const attend_view *a) {
    char name[HEED_WORDS];
    heed_text full = {.c = a->p->c};
    heed_view_map s;
    bool ok = heed_view_rows(a->p->c, &a->v, false, true, &s);
    if (ok) {
        print_heading(a, &s.map);
        print_columns(a, &s.map);
    }
    for (int c = 0; c < s.map.rows; c++) {
        int digits;
        double most = full_bar(&s.map, c, &digits);
        heed_text_add(&full, "%s%s %.*f", c ? ", " : "", s.map.row_labels[c], digits, most);
    }
    putchar('\n');
    print_wrapped(a->p, "A full bar is %s: each column has its own scale.", full.s ? full.s : "");
    print_wrapped(a->p, "attention: %s (1 = 100 %%), %s.",
                  heed_view_query(&a->v) < 0 ? "shares of a row, mean of the rows"
                                             : "shares of a row",
                  heed_view_words(&a->v, a->v.head, name));
    heed_text_free(&full);
    heed_view_map_free(&s);
    return ok;
}

/* What has no row is shown as a matrix. */
static bool print_maps(const attend_view *a) {
    const heed_record *r = a->v.record;
    bool ok = true, over = r->pixels && r->axes[a->v.block->keys].rows > 0, rows = false;
    for (int i = 0; i < r->map_count; i++) rows |= heed_view_shows(&a->v, &r->maps[i]);
    if (rows && !over) ok = print_measures(a);
    for (int i = 0; ok && i < r->map_count; i++) {
        if (!heed_map_is_main(&r->maps[i]) || heed_view_shows(&a->v, &r->maps[i])) continue;
        heed_heatmap map = heatmap_of_map(r, &r->maps[i], r->maps[i].name);
        map.numbers = a->v.numbers;
        map.unit = r->maps[i].name;
        putchar('\n');
        ok = print_heatmap(a->p->c, map);
    }
    if (r->map_count && !(rows && !over)) putchar('\n');
    for (int i = 0; i < r->map_count; i++)
        if (heed_map_is_main(&r->maps[i]))
            print_wrapped(a->p, "%s: %s.", r->maps[i].name, r->maps[i].help);
    if (a->saturated)
        print_wrapped(a->p, "--json and --npz have the log-odds of all%s.",
                      flag_on(a->p, "gradient") ? ""
                                                : ", and --gradient shows what moves the logit");
    return ok && heed_ctx_status(a->p->c) == HEED_OK;
}

/* ---- predictions ---- */

static void print_guess(const attend_view *a, const heed_record_guess *g) {
    heed_text line = {.c = a->p->c};
    if (g->axis > 0)
        heed_text_add(&line, "%s", g->says);
    else if (g->query >= 0) {
        heed_text_add(&line, "%d ", g->query + 1);
        heed_label_text(a->v.record->axes[0].labels[g->query], 16, &line);
    }
    if (strcmp(g->says, "[MASK]") != 0 && g->axis == 0)
        heed_text_add(&line, "%spredicts %s", g->query >= 0 ? " " : "", g->says);
    heed_text_add(&line, ":");
    for (int i = 0; i < a->top && i < g->count; i++) {
        heed_text item = {.c = a->p->c};
        heed_label_text(g->labels[i], 24, &item);
        add_share(&item, g->p[i]);
        add_item(&line, i ? 2 : 1, &item, 5);
    }
    print_line(&line);
    heed_text_free(&line);
}

/* Prints the most probable token of each row, "a→b 0.98": b follows a. A row of a target is
 * labelled with its token, so it is named twice only where another one is more probable: "4 0.98
 * 7→1 0.51".
 */
static void print_each_guess(const attend_view *a) {
    const heed_record *r = a->v.record;
    heed_text line = {.c = a->p->c};
    heed_text_add(&line, "most probable, row by row:");
    for (int i = 0; i < r->guess_count; i++) {
        const heed_record_guess *g = &r->guesses[i];
        const char *row = g->query >= 0 ? r->axes[g->axis].labels[g->query] : "";
        heed_text item = {.c = a->p->c};
        if (g->count == 0) continue;
        if (g->axis == 0 || strcmp(row, g->labels[0]) != 0) {
            heed_label_text(row, 16, &item);
            heed_text_add(&item, "→");
        }
        heed_label_text(g->labels[0], 16, &item);
        add_share(&item, g->p[0]);
        add_item(&line, 2, &item, 2);
    }
    print_line(&line);
    heed_text_free(&line);
}

/* Prints the guesses at the query that is shown, or without a query all of them: many of them
 * briefly, and then the one that continues a text. */
static void print_guesses(const attend_view *a) {
    enum { FEW = 12, MOST = 200 };
    const heed_record *r = a->v.record;
    int query = a->v.query;
    bool first = true, target = r->guess_count > 0 && r->guesses[0].axis > 0;
    bool many = query < 0 && !r->pixels && r->guess_count > 1 &&
                (target || a->v.block->stack != HEED_ENCODER || r->guess_count > FEW);
    if (many && r->guess_count <= MOST) {
        putchar('\n');
        print_each_guess(a);
        if (target) return;
    }
    for (int i = many ? r->guess_count - 1 : 0; i < r->guess_count; i++) {
        const heed_record_guess *g = &r->guesses[i];
        bool mine = g->axis == a->v.block->queries && g->query == query;
        for (int k = 1; k < a->v.count; k++)
            mine |= g->axis == a->v.block->queries && g->query == a->v.several[k];
        if (query >= 0 && !mine && g->query >= 0 && !r->pixels) continue;
        if (first) putchar('\n');
        first = false;
        print_guess(a, g);
    }
}

/* ---- everything ---- */

/* Advice that was not followed yet. */
static bool may_occlude(const heed_record *r) {
    for (int i = 0; i < r->map_count; i++)
        if (strcmp(r->maps[i].name, "occlusion") == 0) return false;
    return !r->pixels || r->axes[0].rows; /* --occlude hides patches */
}

bool attend_print(const attend_view *a) {
    const heed_record *r = a->v.record;
    print_label(a, r->title);
    print_label(a, r->model);
    putchar('\n');
    bool over = r->pixels && r->axes[a->v.block->keys].rows > 0;
    bool ok = over || a->v.query >= 0 || a->v.key >= 0 ? print_rows(a) : print_matrix(a);
    if (a->v.hide) print_wrapped(a->p, "Special tokens are hidden; the rest is shown as it is.");
    if (r->note) print_wrapped(a->p, "%s", r->note);
    ok = ok && print_maps(a);
    if (ok) print_guesses(a);
    if (ok && a->unmasked && r->guess_count == 0) {
        putchar('\n');
        print_wrapped(a->p, "Nothing is predicted: %s", a->unmasked);
    }
    putchar('\n');
    print_wrapped(a->p, NO_EXPLANATION "%s", may_occlude(r) ? "; compare with --occlude." : ".");
    return ok && fflush(stdout) == 0;
}
