/* record_view.c -- what of a record is shown, as heat maps: the matrix of a head, or rows of a
 * query or of words, each of a head or of another map, over the tokens or over the picture; and
 * their pictures. */
#include "core/core.h"
#include "view/draw.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static const heed_record_axis *queries_of(const heed_record_view *v) {
    return &v->record->axes[v->block->queries];
}

static const heed_record_axis *keys_of(const heed_record_view *v) {
    return &v->record->axes[v->block->keys];
}

static int number_of(const heed_record_block *b, int head) {
    return (b->head ? b->head[head] : head) + 1;
}

const char *heed_head_words(const heed_record_block *b, int head, char text[HEED_WORDS]) {
    if (!b || !text) return "";
    bool kept = b->heads == 1 && b->head; /* only this head of several was kept */
    if (head >= 0 || kept)
        snprintf(text, HEED_WORDS, "head %d", number_of(b, kept ? 0 : head));
    else if (b->heads == 1)
        snprintf(text, HEED_WORDS, "its one head");
    else
        snprintf(text, HEED_WORDS, "%s of %d heads", head == HEED_HEAD_LARGEST ? "largest" : "mean",
                 b->heads);
    return text;
}

const char *heed_place_words(const heed_record_axis *a, int at, char text[HEED_WORDS]) {
    if (!a || !text) return "";
    heed_text label = {.c = NULL};
    heed_label_text(a->labels[at], 40, &label);
    const char *own = label.s ? label.s : "";
    if (a->rows && at >= a->first)
        snprintf(text, HEED_WORDS, "patch %s (row, column)", own);
    else if (a->rows)
        snprintf(text, HEED_WORDS, "%s", own);
    else
        snprintf(text, HEED_WORDS, "token %d, %s", at + 1, own);
    heed_text_free(&label);
    return text;
}

const char *heed_focus_words(const heed_record_view *v, char text[HEED_WORDS]) {
    if (!v || !v->block || !text) return "";
    char layers[40] = "";
    bool passed = v->focus.score < 0.5 && v->focus.positional < v->focus.score;
    if (v->focus.count > v->block->heads)
        snprintf(layers, sizeof layers, " in %d layers", v->focus.count / v->block->heads);
    snprintf(text, HEED_WORDS, "most concentrated of %d heads%s%.60s%s", v->focus.count, layers,
             v->over ? v->over : "", passed ? " except for those that follow positions" : "");
    return text;
}

static const char *layer_words(const heed_record_view *v, char text[HEED_WORDS]) {
    snprintf(text, HEED_WORDS, "%s, layer %d of %d%s", heed_stack_name(v->block->stack),
             v->block->layer + 1, v->layers, v->block->hard ? ", hard" : "");
    return text;
}

const char *heed_view_words(const heed_record_view *v, int head, char text[HEED_WORDS]) {
    if (!v || !v->block || !text) return "";
    char what[HEED_WORDS], where[HEED_WORDS], why[HEED_WORDS];
    bool focused = !v->chosen && head >= 0 && head == v->focus.head && v->focus.count > 1;
    snprintf(text, HEED_WORDS, "%.60s, %.48s%s%.120s%s", layer_words(v, where),
             heed_head_words(v->block, head, what), focused ? " (" : "",
             focused ? heed_focus_words(v, why) : "", focused ? ")" : "");
    return text;
}

/* The tokens that are chosen, of which the first is the query or the key. */
static int first_chosen(const heed_record_view *v) { return v->key >= 0 ? v->key : v->query; }
static int chosen_at(const heed_record_view *v, int i) {
    return v->count > 1 ? v->several[i] : first_chosen(v);
}
static int chosen_count(const heed_record_view *v) {
    return v->count > 1 ? v->count : first_chosen(v) >= 0;
}

static const char *chosen_words(const heed_record_view *v, char text[HEED_WORDS]) {
    char one[HEED_WORDS];
    size_t n = 0;
    for (int i = 0; i < chosen_count(v) && n < HEED_WORDS; i++)
        n += (size_t)snprintf(
            text + n, HEED_WORDS - n, "%s%s", i ? ", and " : "",
            heed_place_words(v->key >= 0 ? keys_of(v) : queries_of(v), chosen_at(v, i), one));
    if (n >= HEED_WORDS) snprintf(text, HEED_WORDS, "%d tokens", v->count);
    return text;
}

heed_record_view heed_record_view_of(const heed_record *r, int query) {
    heed_record_view v = {.record = r,
                          .block = r ? r->blocks : NULL,
                          .head = HEED_HEAD_MEAN,
                          .query = query,
                          .key = -1};
    if (r && r->block_count && heed__record_focus(r, v.block->stack, -1, query, &v.focus))
        v.block = &r->blocks[v.focus.block];
    for (int i = 0; r && i < r->block_count; i++)
        if (r->blocks[i].stack == v.block->stack && r->blocks[i].layer >= v.layers)
            v.layers = r->blocks[i].layer + 1;
    return v;
}

/* ---- maps ---- */

bool heed_map_is_main(const heed_record_map *m) {
    return m && m->layer < 0 && m->head < 0 && !strstr(m->name, "log-odds");
}

/* What its values measure; NULL: shares of attention, as rollout's. */
static const char *unit_of(const char *name) {
    if (strcmp(name, "occlusion") == 0) return "fall of the probability if hidden";
    return strcmp(name, "gradient") == 0 ? "attention times gradient of the logit" : NULL;
}

/* Whether the rows are over the picture; and whether they are of words of a caption. */
static bool is_over(const heed_record_view *v) { return v->record->pixels && keys_of(v)->rows > 0; }
static bool has_words(const heed_record_view *v) {
    return v->block->queries != v->block->keys && v->query < 0;
}

bool heed_view_shows(const heed_record_view *v, const heed_record_map *m) {
    return v && v->block && heed_map_is_main(m) && m->keys == v->block->keys &&
           (is_over(v) ||
            (m->queries == v->block->queries && (v->block->stack != HEED_CROSS || v->query >= 0)));
}

static bool shows_maps(const heed_record_view *v) {
    for (int i = 0; i < v->record->map_count; i++)
        if (heed_view_shows(v, &v->record->maps[i])) return true;
    return false;
}

int heed_view_query(const heed_record_view *v) {
    if (!v || !v->record || !v->block) return -1;
    const heed_record *r = v->record;
    const heed_record_guess *last = r->guess_count ? &r->guesses[r->guess_count - 1] : NULL;
    return v->query < 0 && last && last->axis == v->block->queries ? last->query : v->query;
}

/* ---- heat maps ---- */

heed_real heed_fused_weight(const heed_real *weights, int heads, size_t square, int head,
                            size_t at) {
    double sum = 0, most = 0;
    if (!weights) return 0;
    if (head >= 0) return weights[(size_t)head * square + at];
    for (int h = 0; h < heads; h++) {
        double x = (double)weights[(size_t)h * square + at];
        sum += x;
        most = fmax(most, x);
    }
    return (heed_real)(head == HEED_HEAD_LARGEST ? most : sum / heads);
}

/* What a row shows: a map, or a head or all heads of the layer, its mean over some queries. */
typedef struct {
    const heed_record_map *map; /* or NULL */
    int head, from, end;
    const int *list; /* of queries, from `from` to before `end`; NULL: they are these numbers */
} source;

static double value_at(const heed_record_view *v, const source *s, int query, int key) {
    size_t queries = (size_t)queries_of(v)->count, keys = (size_t)keys_of(v)->count;
    size_t at = (size_t)query * keys + (size_t)key;
    return (double)(s->map ? s->map->values[at]
                           : heed_fused_weight(v->block->weights, v->block->heads, queries * keys,
                                               s->head, at));
}

/* Memory that heed_view_map_free frees. */
static void *take(heed_view_map *s, heed_ctx *c, size_t count, size_t each) {
    void *p = heed__alloc_array(c, count + 1, each);
    if (p) s->own[s->owned++] = p;
    return p;
}

void heed_view_map_free(heed_view_map *s) {
    if (!s) return;
    while (s->owned) heed__free(s->own[--s->owned]);
    *s = (heed_view_map){.weights = 0};
}

static bool begin(heed_ctx *c, const heed_record_view *v, heed_view_map *out) {
    if (!out) return false;
    *out = (heed_view_map){.weights = 0};
    return v && v->record && v->block && !heed__stopped(c);
}

/* Takes the tokens of an axis from `from` to before `end` as columns, or as rows; those that are
 * hidden are left out. */
static bool take_tokens(heed_ctx *c, const heed_record_view *v, int axis, int from, int end,
                        heed_view_map *s, bool rows) {
    const heed_record_axis *a = &v->record->axes[axis];
    int n = 0, *list = take(s, c, (size_t)a->count, sizeof *list);
    const char **labels = take(s, c, (size_t)a->count, sizeof *labels);
    for (int i = from; list && labels && i < a->count && i < end; i++) {
        if (v->hide && a->special && a->special[i]) continue;
        labels[n] = a->labels[i];
        list[n++] = i;
    }
    if (rows)
        s->row = list, s->map.row_labels = labels, s->map.rows = n;
    else
        s->col = list, s->map.col_labels = labels, s->map.cols = n;
    return n > 0 || heed_fail(c, HEED_USAGE, "`hide-special` leaves no token to show");
}

/* Whether all rows that may attend to several tokens are nearly uniform. */
static bool is_even(const heed_record_view *v, const heed_view_map *m) {
    int rows = 0;
    for (int i = 0; i < m->map.rows; i++) {
        int keys = 0;
        while (keys < m->map.cols && !(v->block->causal && m->col[keys] > m->row[i])) keys++;
        if (keys < 2) continue;
        if (!heed__nearly_uniform(m->map.values + (size_t)i * (size_t)m->map.cols, keys))
            return false;
        rows++;
    }
    return rows > 0;
}

bool heed_view_matrix(heed_ctx *c, const heed_record_view *v, int head, heed_view_map *out) {
    char name[HEED_WORDS];
    if (!begin(c, v, out)) return false;
    if (!take_tokens(c, v, v->block->queries, 0, INT_MAX, out, true) ||
        !take_tokens(c, v, v->block->keys, 0, INT_MAX, out, false))
        return false;
    heed_heatmap *m = &out->map;
    heed_real *x = take(out, c, (size_t)m->rows * (size_t)m->cols, sizeof *x);
    for (int i = 0; x && i < m->rows * m->cols; i++)
        x[i] = (heed_real)value_at(v, &(source){.head = head}, out->row[i / m->cols],
                                   out->col[i % m->cols]);
    m->values = out->values = x;
    m->uniform = heed__record_uniform(v->record, v->block, -1);
    m->uniform_mean = v->block->causal;
    m->hi = (heed_real)(v->end > 0 ? v->end : heed_record_scale(v->record, v->block));
    m->numbers = v->numbers;
    out->weights = m->rows;
    out->even = x && is_even(v, out);
    snprintf(out->title, sizeof out->title, "%s%s: a row is a token, over what it attends to",
             heed_view_words(v, head, name), out->even ? ", nearly uniform" : "");
    m->title = out->title;
    return x != NULL;
}

/* Rows with their scales, while they are added. */
typedef struct {
    const heed_record_view *v;
    heed_view_map *s;
    char (*names)[HEED_WORDS];
    const char **labels, **units;
    heed_real *ends;
    bool *shares;
} row_list;

/* apart: the row has its own scale, also if it is of weights. */
static void add_row(const row_list *k, source of, bool apart, const char *name) {
    heed_heatmap *m = &k->s->map;
    bool key = k->v->key >= 0;
    heed_real *to = k->s->values + (size_t)m->rows * (size_t)m->cols;
    double size = 0;
    for (int i = 0; i < m->cols; i++) {
        int at = k->s->col[i];
        double sum = 0;
        for (int q = of.from; q < of.end; q++) {
            int other = of.list ? of.list[q] : q;
            sum += key ? value_at(k->v, &of, at, other)
                       : value_at(k->v, &of, other, at) / (of.end - of.from);
        }
        to[i] = (heed_real)sum;
        if (isfinite((double)to[i])) size = fmax(size, fabs((double)to[i]));
    }
    const char *unit = of.map ? unit_of(of.map->name) : NULL;
    double least = unit ? heed_map_least(of.map->name) : fmin(2 * m->uniform, 1);
    k->units[m->rows] = unit;
    k->shares[m->rows] = !unit;
    if (of.map || apart) k->ends[m->rows] = (heed_real)fmax(size, least);
    heed_format_token(k->names[m->rows], 32, name);
    k->labels[m->rows] = k->names[m->rows];
    m->rows++;
    if (!of.map) k->s->weights = m->rows;
}

static void add_heads(const row_list *k, source of, bool each, bool maps) {
    const heed_record_view *v = k->v;
    bool over = is_over(v), all = each && !v->chosen;
    const char *mean = over ? "mean of heads" : "mean";
    char name[24];
    of.head = all ? HEED_HEAD_MEAN : v->head;
    if (of.head >= 0) snprintf(name, sizeof name, "head %d", number_of(v->block, of.head));
    if (!all || v->block->heads > 1)
        add_row(k, of, over && all,
                !all && maps && !over          ? "attention"
                : of.head >= 0                 ? name
                : of.head == HEED_HEAD_LARGEST ? "largest"
                                               : mean);
    for (of.head = 0; all && of.head < v->block->heads; of.head++) {
        snprintf(name, sizeof name, "head %d", number_of(v->block, of.head));
        add_row(k, of, false, name);
    }
}

static int by_size(const void *a, const void *b) {
    heed_real x = *(const heed_real *)a, y = *(const heed_real *)b;
    return (x < y) - (x > y);
}

/* Keeps the strongest patches that together have this share of the total; the others become NAN. */
static void keep_mass(heed_real *x, heed_real *sorted, size_t n, double mass) {
    double all = 0, held = 0;
    size_t k = 0;
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, by_size);
    for (size_t i = 0; i < n; i++) all += fmax((double)x[i], 0);
    while (k < n && held < mass * all) held += (double)sorted[k++];
    heed_real least = k ? sorted[k - 1] : 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] < least) x[i] = (heed_real)NAN;
}

/* Over a picture all heads have one scale, also if only one is shown, as on the page: up to the
 * largest weight on the patches that any head has, at the query that is shown or at any word. The
 * rows of all patches are shown as their mean, and so count as they are drawn. */
static double end_over(const heed_record_view *v, const heed_view_map *s) {
    const heed_record_axis *a = keys_of(v);
    int queries = queries_of(v)->count;
    double most = fmin(2 * s->map.uniform, 1);
    bool words = v->block->queries != v->block->keys;
    for (int i = 0; i < s->weights * s->map.cols; i++) most = fmax(most, (double)s->map.values[i]);
    for (int i = 0; i < v->block->heads * queries && (words || v->query >= 0); i++)
        for (int k = a->first; k < a->count; k++) {
            double w = (double)v->block->weights[(size_t)i * (size_t)a->count + (size_t)k];
            if (words || i % queries == v->query) most = fmax(most, w);
        }
    return most;
}

static void set_picture(const heed_record_view *v, heed_view_map *s) {
    const heed_record *r = v->record;
    s->tile = (heed_tile){r->pixels, r->width, r->height, r->channels, {0}};
    s->map.picture = &s->tile;
    s->map.grid_cols = keys_of(v)->cols;
    s->map.cells = v->cells || v->mass > 0;
    if (v->end <= 0 && (has_words(v) || !v->chosen || v->head >= 0))
        s->map.hi = (heed_real)end_over(v, s);
}

/* What the rows are, for a terminal; over a picture, "attention of patch 2,5, layer 1 of 2". */
static void set_title(const heed_record_view *v, heed_view_map *s) {
    char token[HEED_WORDS] = "all patches", name[HEED_WORDS] = "", mass[64] = "";
    const heed_record_axis *a = queries_of(v);
    s->map.title = s->title;
    if (!is_over(v)) {
        heed_view_words(v, v->chosen ? v->head : HEED_HEAD_MEAN, name);
        if (v->key >= 0)
            snprintf(s->title, sizeof s->title, "which tokens attend to %s: %s",
                     chosen_words(v, token), name);
        else if (v->query >= 0)
            snprintf(s->title, sizeof s->title, "what %s, attend%s to: %s", chosen_words(v, token),
                     v->count > 1 ? " (their mean)" : "s", name);
        return;
    }
    if (has_words(v)) {
        snprintf(token, sizeof token, "each word");
        if (v->block->heads > 1) heed_head_words(v->block, v->head, name);
    } else if (v->query >= 0 && a->rows)
        snprintf(token, sizeof token, "%s%.32s", v->query < a->first ? "" : "patch ",
                 a->labels[v->query]);
    else if (v->query >= 0)
        heed_place_words(a, v->query, token);
    if (v->mass > 0)
        snprintf(mass, sizeof mass, "; the strongest patches that hold %g %% of it", 100 * v->mass);
    snprintf(s->title, sizeof s->title, "%sattention of %s, layer %d of %d%s%.48s%s%s",
             v->block->hard ? "hard " : "", token, v->block->layer + 1, v->layers,
             *name ? ", " : "", name, mass,
             v->record->map_count ? " (other measures: the whole model)" : "");
}

bool heed_view_rows(heed_ctx *c, const heed_record_view *v, bool each, bool maps,
                    heed_view_map *out) {
    if (!begin(c, v, out)) return false;
    const heed_record *r = v->record;
    const heed_record_block *b = v->block;
    const heed_record_axis *a = queries_of(v);
    bool over = is_over(v), words = over && has_words(v), key = v->key >= 0;
    int query = maps && !over ? heed_view_query(v) : v->query, count = chosen_count(v);
    int first = over ? keys_of(v)->first : 0, end = INT_MAX;
    for (int i = 0; b->causal && i < count; i++) {
        int at = chosen_at(v, i);
        if (key) first = i ? (at < first ? at : first) : at;
        if (!key && !maps) end = i && at < end ? end : at + 1;
    }
    if (!take_tokens(c, v, key ? b->queries : b->keys, first, end, out, false)) return false;
    heed_heatmap *m = &out->map;
    size_t most = (size_t)((words ? a->count : b->heads + 1) + r->map_count);
    row_list k = {.v = v,
                  .s = out,
                  .names = take(out, c, most, sizeof *k.names),
                  .labels = take(out, c, most, sizeof *k.labels),
                  .units = take(out, c, most, sizeof *k.units),
                  .ends = take(out, c, most, sizeof *k.ends),
                  .shares = take(out, c, most, sizeof *k.shares)};
    out->values = take(out, c, (most + 1) * (size_t)m->cols, sizeof *out->values);
    if (heed__stopped(c)) return false;
    m->uniform = heed__record_uniform(r, b, key ? -1 : query) * (key ? count : 1);
    m->uniform_mean = key && b->causal;
    source of = {.from = query < 0 ? 0 : query, .end = query < 0 ? a->count : query + 1};
    if (key) of.from = v->key, of.end = v->key + 1;
    if (count > 1) of.from = 0, of.end = count, of.list = v->several;
    if (count > 1 && !key) m->uniform = 0;
    for (int i = 0; count > 1 && !key && i < count; i++)
        m->uniform += heed__record_uniform(r, b, v->several[i]) / count;
    for (int q = 0; words && q < a->count; q++)
        if (!v->hide || !a->special || !a->special[q])
            add_row(&k, (source){.head = v->head, .from = q, .end = q + 1}, false, a->labels[q]);
    if (!words) add_heads(&k, of, each, maps);
    for (int i = 0; (maps || over) && i < r->map_count; i++) {
        int queries = r->axes[r->maps[i].queries].count;
        of.map = &r->maps[i];
        of.from = query >= 0 && query < queries ? query : 0;
        of.end = queries == 1 || query >= 0 ? of.from + 1 : queries;
        if (heed_view_shows(v, of.map)) add_row(&k, of, true, of.map->name);
    }
    m->values = out->values;
    m->row_labels = k.labels;
    m->hi = (heed_real)(over || v->end > 0 ? v->end : heed_record_scale(r, b));
    m->numbers = v->numbers;
    m->units = k.units;
    m->shares = k.shares;
    if (over || maps) m->ends = k.ends;
    m->percent = key;
    if (key)
        m->unit = v->numbers ? "share of each token's attention (1 = 100 %)"
                             : "percent of each token's attention";
    if (maps && !over && query < 0) m->unit = "of attention, mean of the rows (1 = 100 %)";
    if (over) set_picture(v, out);
    for (int i = 0; v->mass > 0 && i < m->rows; i++)
        keep_mass(out->values + i * m->cols, out->values + (size_t)most * (size_t)m->cols,
                  (size_t)m->cols, v->mass);
    set_title(v, out);
    return true;
}

/* ---- pictures ---- */

/* The answer at a query, of the whole input, or the only one. */
static const heed_record_guess *answer_of(const heed_record_view *v, int query) {
    const heed_record *r = v->record;
    const heed_record_guess *found = NULL;
    for (int i = 0; i < r->guess_count; i++) {
        const heed_record_guess *g = &r->guesses[i];
        bool here = g->axis == v->block->queries && g->query == query;
        if (here || g->query < 0 || (query < 0 && r->guess_count == 1)) found = g;
    }
    return found && found->count ? found : NULL;
}

/* The layer, the head if one was chosen, the query and the answer there: "decoder, layer 1 of 2,
 * token 7, [MASK]: France 0.99". */
static void add_place(const heed_record_view *v, int query, bool measured, heed_text *out) {
    bool one = v->chosen || v->block->heads == 1;
    char words[HEED_WORDS], p[16];
    const heed_record_guess *g = answer_of(v, query);
    heed_text_add(out, "%s", one ? heed_view_words(v, v->head, words) : layer_words(v, words));
    if (v->key >= 0)
        heed_text_add(out, ": which tokens attend to %s", chosen_words(v, words));
    else if (v->count > 1)
        heed_text_add(out, ": mean of %s", chosen_words(v, words));
    else {
        int at = query < 0 && g && g->axis == v->block->queries ? g->query : query;
        if (at >= 0) heed_text_add(out, ", %s", heed_place_words(queries_of(v), at, words));
        if (g && strcmp(g->says, "[MASK]") != 0 && g->axis == 0)
            heed_text_add(out, "; predicts %s", g->says);
        if (g) heed_text_add(out, ": ");
        if (g) heed_label_text(g->labels[0], 24, out);
        if (g) heed_text_add(out, " %s", heed_format_share(p, (double)g->p[0], 1, 2, 4));
    }
    if (measured) heed_text_add(out, " (other measures: the whole model)");
    if (v->hide) heed_text_add(out, " (special tokens hidden)");
}

/* The name of the file that a title begins with, without its folder, and what is predicted of it.
 */
static void add_file(const heed_record_view *v, heed_text *out) {
    const heed_record *r = v->record;
    const char *title = r->title ? r->title : "", *own = title,
               *end = strstr(title, " \xe2\x86\x92 ");
    char p[16];
    for (const char *s = title; *s && s != end; s++)
        if (*s == '/') own = s + 1;
    heed_text_add(out, "%.200s", own);
    if (v->block->queries == v->block->keys && r->guess_count && r->guesses->count)
        heed_text_add(out, ": predicted %.60s, probability %s", r->guesses->labels[0],
                      heed_format_share(p, (double)r->guesses->p[0], 1, 2, 4));
}

static bool save(heed_ctx *c, const heed_record_view *v, const heed_heatmap *maps, int count,
                 int query, heed_picture_form form, const char *path) {
    char words[HEED_WORDS], why[HEED_WORDS];
    heed_text title = {.c = c}, place = {.c = c}, note = {.c = c};
    bool over = maps->picture != NULL, one = v->chosen || v->block->heads == 1;
    if (!over && !one && v->focus.count > 1)
        heed_text_add(&note, "The %s: layer %d, %s. ", heed_focus_words(v, why),
                      v->block->layer + 1, heed_head_words(v->block, v->focus.head, words));
    heed_text_add(&note, "%s%s" HEED_NO_EXPLANATION ".", v->record->note ? v->record->note : "",
                  v->record->note ? " " : "");
    if (over) {
        add_file(v, &title);
        heed_text_add(&place, "%s", maps->title);
    } else {
        heed_text_add(&title, "%s", v->record->title ? v->record->title : "");
        add_place(v, query, maps->ends != NULL, &place);
    }
    heed_panels all = {
        .title = title.s, .subtitle = place.s, .count = count, .maps = maps, .note = note.s};
    bool ok = !heed__stopped(c) && heed_panels_save(c, &all, form, path);
    heed_text_free(&title);
    heed_text_free(&place);
    heed_text_free(&note);
    return ok;
}

static bool draw_rows(heed_ctx *c, const heed_record_view *v, heed_picture_form form,
                      const char *path) {
    bool maps = shows_maps(v);
    heed_view_map s;
    bool ok = heed_view_rows(c, v, true, maps, &s);
    s.map.percent = false;
    if (v->key >= 0) s.map.unit = "of each token's attention (1 = 100 %)";
    ok = ok && save(c, v, &s.map, 1, maps ? heed_view_query(v) : v->query, form, path);
    heed_view_map_free(&s);
    return ok;
}

/* A matrix for each head. */
static bool draw_matrices(heed_ctx *c, const heed_record_view *v, heed_picture_form form,
                          const char *path) {
    int count = v->chosen ? 1 : v->block->heads;
    heed_heatmap *maps = heed__alloc_array(c, (size_t)count, sizeof *maps);
    heed_view_map *parts = heed__alloc_array(c, (size_t)count, sizeof *parts);
    bool ok = maps && parts;
    for (int i = 0; ok && i < count; i++) {
        char words[HEED_WORDS];
        int head = v->chosen ? v->head : i;
        ok = heed_view_matrix(c, v, head, &parts[i]);
        snprintf(parts[i].title, sizeof parts[i].title, "%.28s%s",
                 heed_head_words(v->block, head, words), parts[i].even ? ", nearly uniform" : "");
        maps[i] = parts[i].map;
    }
    ok = ok && save(c, v, maps, count, v->query, form, path);
    for (int i = 0; parts && i < count; i++) heed_view_map_free(&parts[i]);
    heed__free(maps);
    heed__free(parts);
    return ok;
}

bool heed_view_save(heed_ctx *c, const heed_record_view *v, heed_picture_form form,
                    const char *path) {
    if (!v || !v->record || !v->block || heed__stopped(c)) return false;
    bool rows = v->query >= 0 || v->key >= 0 || is_over(v) || shows_maps(v);
    return (rows ? draw_rows : draw_matrices)(c, v, form, path);
}
