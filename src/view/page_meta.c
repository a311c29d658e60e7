/* page_meta.c -- everything in a page except numbers, as JSON: the records as heed_record_json
 * writes them, how their numbers are stored (page_data.c), curves. */
#include "core/core.h"
#include "io/io.h"
#include "view/page.h"

#include <math.h>
#include <stdio.h>
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

/* ---- how numbers are stored ---- */

/* [lo,hi] of values outside [0,1], or null. */
static void put_scale(heed_text *out, heed__page_code k) {
    if (k.plain) {
        heed_json_text(out, "scale", NULL);
        return;
    }
    heed_json_open(out, "scale", '[');
    heed_json_real(out, NULL, k.lo, 9);
    heed_json_real(out, NULL, k.hi, 9);
    heed_json_close(out, ']');
}

/* The prefix of element ids: "w0.1". */
static void put_id(heed_text *out, const char *key, char kind, int r, int i) {
    char id[32];
    snprintf(id, sizeof id, "%c%d.%d", kind, r, i);
    heed_json_text(out, key, id);
}

/* Keys that no query of any head may attend to, according to the scores: padding. */
static void put_masked(heed_text *out, const heed_record_block *b, int rows, int cols) {
    heed_json_open(out, "masked", '[');
    for (int k = 0; b->scores && k < cols; k++) {
        bool all = true;
        for (int i = 0; all && i < b->heads * rows; i++)
            all = (double)b->scores[(size_t)i * (size_t)cols + (size_t)k] == -(double)INFINITY;
        if (all) heed_json_int(out, NULL, k);
    }
    heed_json_close(out, ']');
}

/* For the additive form, a list per head of the weights of its units; absent if q and k are
 * multiplied. */
static void put_align(heed_text *out, const heed_record_block *b) {
    heed_json_open(out, "align", '[');
    for (int h = 0; h < b->heads; h++) {
        heed_json_open(out, NULL, '[');
        for (int i = 0; i < b->key; i++)
            heed_json_real(out, NULL, (double)b->align[h * b->key + i], 9);
        heed_json_close(out, ']');
    }
    heed_json_close(out, ']');
}

static void put_block(heed_text *out, const heed_page *p, int r, int i) {
    const heed_record *of = &p->records[r];
    const heed_record_block *b = &of->blocks[i];
    int rows = of->axes[b->queries].count, cols = of->axes[b->keys].count;
    heed__page_code k = heed__page_code_of(b->weights, b->heads, rows, cols, b->causal);
    heed_json_open(out, NULL, '{');
    put_id(out, "id", 'w', r, i);
    put_scale(out, k);
    heed_json_bool(out, "triangle", k.triangle);
    put_masked(out, b, rows, cols);
    if (heed__page_has_qk(p, b)) {
        put_id(out, "qk", 'x', r, i);
        if (b->align) put_align(out, b);
    }
    heed_json_close(out, '}');
}

static void put_map(heed_text *out, const heed_page *p, int r, int i) {
    const heed_record *of = &p->records[r];
    const heed_record_map *m = &of->maps[i];
    int rows = of->axes[m->queries].count, cols = of->axes[m->keys].count;
    heed_json_open(out, NULL, '{');
    put_id(out, "id", 'm', r, i);
    put_scale(out, heed__page_code_of(m->values, 1, rows, cols, false));
    heed_json_close(out, '}');
}

static void put_stored(heed_text *out, const heed_page *p, int r) {
    const heed_record *k = &p->records[r];
    char id[16];
    heed_json_open(out, NULL, '{');
    heed_json_open(out, "blocks", '[');
    for (int i = 0; i < k->block_count; i++) put_block(out, p, r, i);
    heed_json_close(out, ']');
    heed_json_open(out, "maps", '[');
    for (int i = 0; i < k->map_count; i++) put_map(out, p, r, i);
    heed_json_close(out, ']');
    snprintf(id, sizeof id, "p%d", heed__page_picture(p, r));
    heed_json_text(out, "picture", k->pixels ? id : NULL);
    heed_json_close(out, '}');
}

/* ---- curves ---- */

static void put_values(heed_text *out, const char *key, const double *x, int count) {
    heed_json_open(out, key, '[');
    for (int i = 0; i < count; i++) heed_json_real(out, NULL, x[i], 9);
    heed_json_close(out, ']');
}

static void put_text(heed_text *out, const char *key, const char *text) {
    heed_json_text(out, key, text ? text : "");
}

static void put_curves(heed_text *out, const heed_chart *k) {
    heed_json_open(out, "curves", '{');
    put_text(out, "title", k->title);
    put_text(out, "x", k->x_label);
    put_text(out, "y", k->y_label);
    heed_json_open(out, "series", '[');
    for (int s = 0; s < k->series_count; s++) {
        heed_json_open(out, NULL, '{');
        put_text(out, "label", k->series[s].label);
        put_values(out, "x", k->series[s].x, k->series[s].count);
        put_values(out, "y", k->series[s].y, k->series[s].count);
        heed_json_close(out, '}');
    }
    heed_json_close(out, ']');
    heed_json_close(out, '}');
}

/* ---- all parts ---- */

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
    heed_text json = {.c = c};
    heed_json_open(&json, NULL, '{');
    put_text(&json, "heed", "page 2");
    put_text(&json, "version", HEED_VERSION);
    heed_json_open(&json, "records", '[');
    for (int r = 0; r < p->count; r++) heed_record_json(&p->records[r], false, &json);
    heed_json_close(&json, ']');
    heed_json_open(&json, "stored", '[');
    for (int r = 0; r < p->count; r++) put_stored(&json, p, r);
    heed_json_close(&json, ']');
    if (p->curves)
        put_curves(&json, p->curves);
    else
        heed_json_text(&json, "curves", NULL);
    put_text(&json, "opening", p->opening);
    heed_json_close(&json, '}');
    bool ok = !heed__stopped(c) && heed__page_escape(out, json.s, json.n);
    heed_text_free(&json);
    return ok;
}
