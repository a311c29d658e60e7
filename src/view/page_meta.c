/* The texts of a page as JSON: titles, tokens, which layers and heads there are, guesses, curves.
 */
#include "core/core.h"
#include "io/io.h"
#include "view/page.h"

#include <math.h>
#include <string.h>

bool heed__page_has_qk(const heed_page *p, const heed_record_block *b) {
    return !p->no_qk && b->q && b->k && b->key > 0 && (!b->additive || b->align);
}

int heed__page_picture(const heed_page *p, int r) {
    const heed_record *a = &p->records[r];
    if (!a->pixels) return -1;
    size_t n = (size_t)a->width * (size_t)a->height * (size_t)a->channels;
    for (int i = 0; i < r; i++) {
        const heed_record *b = &p->records[i];
        if (b->pixels && a->width == b->width && a->height == b->height &&
            a->channels == b->channels && memcmp(a->pixels, b->pixels, n) == 0)
            return i;
    }
    return r;
}

/* ---- values ---- */

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

/* Bytes that are no UTF-8 become "\xE2", as text. */
static json_t *text(heed_ctx *c, const char *s) {
    size_t n = s ? strlen(s) : 0, at = 0;
    if (heed__utf8_valid(s ? s : "", n) == n) return json_stringn(s ? s : "", n);
    heed_text out = {.c = c};
    while (at < n) {
        size_t good = heed__utf8_valid(s + at, n - at);
        heed_text_put(&out, s + at, good);
        at += good;
        if (at < n) heed_text_add(&out, "\\x%02X", (unsigned)(unsigned char)s[at++]);
    }
    json_t *v = json_stringn(out.s ? out.s : "", out.n);
    heed_text_free(&out);
    return v;
}

static json_t *id(const char *kind, int r, int i) { return json_sprintf("%s%d.%d", kind, r, i); }

/* ---- parts of a record ---- */

static json_t *axis(heed_ctx *c, const heed_record_axis *a) {
    json_t *labels = json_array(), *special = json_array();
    for (int i = 0; i < a->count; i++) {
        json_array_append_new(labels,
                              a->labels ? text(c, a->labels[i]) : json_sprintf("%d", i + 1));
        if (a->special && a->special[i]) json_array_append_new(special, json_integer(i));
    }
    bool fits = a->rows > 0 && a->cols > 0 && a->first >= 0 &&
                a->first + (int64_t)a->rows * a->cols <= a->count;
    json_t *grid = fits ? json_pack("[iii]", a->rows, a->cols, a->first) : json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "name", text(c, a->name), "labels", labels, "special",
                     special, "grid", grid);
}

/* Keys that no query of any head may attend to, by the scores: padding. */
static json_t *masked(const heed_record_block *b, int rows, int cols) {
    json_t *list = json_array();
    for (int k = 0; b->scores && k < cols; k++) {
        bool all = true;
        for (int i = 0; all && i < b->heads * rows; i++)
            all = (double)b->scores[(size_t)i * (size_t)cols + (size_t)k] == -(double)INFINITY;
        if (all) json_array_append_new(list, json_integer(k));
    }
    return list;
}

static json_t *scale_of(heed__page_code k) {
    return k.plain ? json_null() : json_pack("[ff]", k.lo, k.hi);
}

/* A list a head of what the additive form weighs its units by; null: q and k are multiplied. */
static json_t *aligned(const heed_record_block *b) {
    if (!b->align) return json_null();
    json_t *heads = json_array();
    for (int h = 0; h < b->heads; h++) {
        json_t *list = json_array();
        for (int i = 0; i < b->key; i++)
            json_array_append_new(list, number((double)b->align[h * b->key + i]));
        json_array_append_new(heads, list);
    }
    return heads;
}

static json_t *block(heed_ctx *c, const heed_page *p, int r, int i) {
    const heed_record *of = &p->records[r];
    const heed_record_block *b = &of->blocks[i];
    int rows = of->axes[b->queries].count, cols = of->axes[b->keys].count;
    heed__page_code k = heed__page_code_of(b->weights, b->heads, rows, cols, b->causal);
    json_t *heads = json_array();
    for (int h = 0; h < b->heads; h++)
        json_array_append_new(heads, json_integer(b->head ? b->head[h] : h));
    bool qk = heed__page_has_qk(p, b);
    return json_pack("{s:o, s:s, s:i, s:o, s:i, s:i, s:f, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:i, "
                     "s:b, s:o}",
                     "path", text(c, b->path), "stack", heed_stack_name(b->stack), "layer",
                     b->layer, "heads", heads, "queries", b->queries, "keys", b->keys, "beta",
                     b->beta, "causal", b->causal, "hard", b->hard, "triangle", k.triangle, "scale",
                     scale_of(k), "masked", masked(b, rows, cols), "id", id("w", r, i), "qk",
                     qk ? id("x", r, i) : json_null(), "width", qk ? b->key : 0, "additive",
                     b->additive, "align", qk ? aligned(b) : json_null());
}

static json_t *map(heed_ctx *c, const heed_page *p, int r, int i) {
    const heed_record *of = &p->records[r];
    const heed_record_map *m = &of->maps[i];
    int rows = of->axes[m->queries].count, cols = of->axes[m->keys].count;
    heed__page_code k = heed__page_code_of(m->values, 1, rows, cols, false);
    return json_pack("{s:o, s:o, s:i, s:i, s:s, s:i, s:i, s:o, s:o}", "name", text(c, m->name),
                     "help", text(c, m->help), "layer", m->layer, "head", m->head, "stack",
                     heed_stack_name(m->stack), "queries", m->queries, "keys", m->keys, "scale",
                     scale_of(k), "id", id("m", r, i));
}

static json_t *guess(heed_ctx *c, const heed_record_guess *g) {
    json_t *tokens = json_array();
    for (int i = 0; i < g->count; i++) {
        json_t *pair = json_array();
        json_array_append_new(pair, text(c, g->labels[i]));
        json_array_append_new(pair, number((double)g->p[i]));
        json_array_append_new(tokens, pair);
    }
    return json_pack("{s:i, s:i, s:o, s:o}", "axis", g->axis, "query", g->query, "says",
                     text(c, g->says), "tokens", tokens);
}

static json_t *record(heed_ctx *c, const heed_page *p, int r) {
    const heed_record *k = &p->records[r];
    json_t *axes = json_array(), *blocks = json_array(), *maps = json_array(), *told = json_array();
    for (int i = 0; i < k->axis_count; i++) json_array_append_new(axes, axis(c, &k->axes[i]));
    for (int i = 0; i < k->block_count; i++) json_array_append_new(blocks, block(c, p, r, i));
    for (int i = 0; i < k->map_count; i++) json_array_append_new(maps, map(c, p, r, i));
    for (int i = 0; i < k->guess_count; i++) json_array_append_new(told, guess(c, &k->guesses[i]));
    int shown = heed__page_picture(p, r);
    json_t *picture = shown < 0 ? json_null()
                                : json_pack("{s:o, s:i, s:i}", "id", json_sprintf("p%d", shown),
                                            "width", k->width, "height", k->height);
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "title",
                     text(c, k->title), "model", text(c, k->model), "task", text(c, k->task),
                     "note", text(c, k->note), "step", (json_int_t)k->step, "axes", axes, "blocks",
                     blocks, "maps", maps, "guesses", told, "picture", picture);
}

static json_t *curves(heed_ctx *c, const heed_chart *k) {
    json_t *series = json_array();
    for (int s = 0; s < k->series_count; s++) {
        json_t *x = json_array(), *y = json_array();
        for (int i = 0; i < k->series[s].count; i++) {
            json_array_append_new(x, number(k->series[s].x[i]));
            json_array_append_new(y, number(k->series[s].y[i]));
        }
        json_array_append_new(series, json_pack("{s:o, s:o, s:o}", "label",
                                                text(c, k->series[s].label), "x", x, "y", y));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "title", text(c, k->title), "x", text(c, k->x_label),
                     "y", text(c, k->y_label), "series", series);
}

/* ---- the whole ---- */

bool heed__page_escape(heed_text *out, const char *json, size_t n) {
    bool ok = true;
    for (size_t at = 0; ok && at < n;) {
        const char *next = memchr(json + at, '<', n - at);
        size_t end = next ? (size_t)(next - json) : n;
        ok = heed_text_put(out, json + at, end - at) && (!next || heed_text_put(out, "\\u003c", 6));
        at = next ? end + 1 : n;
    }
    return ok;
}

bool heed__page_meta(heed_ctx *c, const heed_page *p, heed_text *out) {
    json_t *records = json_array();
    for (int r = 0; r < p->count; r++) json_array_append_new(records, record(c, p, r));
    json_t *all = json_pack(
        "{s:s, s:s, s:o, s:o, s:o}", "heed", "page 1", "version", HEED_VERSION, "records", records,
        "curves", p->curves ? curves(c, p->curves) : json_null(), "opening", text(c, p->opening));
    char *json = all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    bool ok = json ? heed__page_escape(out, json, strlen(json))
                   : heed_fail(c, HEED_FAILED, "cannot make a page: out of memory");
    free(json);
    json_decref(all);
    return ok;
}
