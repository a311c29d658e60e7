/* page_data.c -- the data of a page as its scripts read it (src/view/page/data.js): JSON, and
 * beside it the numbers of weights, maps, q and k, in base64 of 16 bits per number. */
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

/* ---- numbers ---- */

/* Rounds to the nearest half, ties to even; infinity beyond its range. */
static uint16_t half_of(double x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double size = fabs(x);
    if (isnan(x)) return 0x7E00;
    if (size >= 65520) return sign | 0x7C00;
    int exponent = -13;
    if (size > 0) frexp(size, &exponent); /* size in [2^(e-1), 2^e) */
    int scale = exponent - 11 < -24 ? -24 : exponent - 11;
    double steps = nearbyint(ldexp(size, -scale)); /* up to 2048, which carries into the exponent */
    if (scale == -24) return (uint16_t)(sign | (uint16_t)steps);
    return (uint16_t)(sign + ((scale + 24) << 10) + (int)steps);
}

static uint16_t code_of(double x, heed__page_code k) {
    if (k.plain) return (uint16_t)lround(x * 65535);
    if (!isfinite(x)) return 65535;
    return k.hi > k.lo ? (uint16_t)lround((x - k.lo) / (k.hi - k.lo) * 65534) : 0;
}

static bool is_triangle(const heed_real *x, int planes, int rows, int cols) {
    if (rows != cols) return false;
    for (int h = 0; h < planes; h++)
        for (int q = 0; q < rows; q++)
            for (int k = q + 1; k < cols; k++)
                if (!(x[((size_t)h * (size_t)rows + (size_t)q) * (size_t)cols + (size_t)k] == 0))
                    return false;
    return true;
}

heed__page_code heed__page_code_of(const heed_real *x, int planes, int rows, int cols,
                                   bool causal) {
    size_t n = (size_t)planes * (size_t)rows * (size_t)cols;
    heed__page_code k = {.plain = true};
    for (size_t i = 0; i < n; i++) {
        double v = (double)x[i];
        if (!(v >= 0 && v <= 1)) k.plain = false;
        if (isfinite(v)) k.lo = fmin(k.lo, v), k.hi = fmax(k.hi, v);
    }
    if (k.lo < 0) k.hi = fmax(k.hi, -k.lo), k.lo = -k.hi; /* 0 is exact, and at the centre */
    k.triangle = causal && is_triangle(x, planes, rows, cols);
    return k;
}

typedef struct {
    const heed_page *page;
    heed_text *json, *out;
    unsigned char *bytes; /* of one element */
    size_t n, capacity;
} writer;

static bool reserve(writer *w, size_t numbers) {
    w->n = 0;
    return heed__grow(w->out->c, &w->bytes, &w->capacity, 2 * numbers + 1, 1);
}

static void pack(writer *w, uint16_t u) {
    w->bytes[w->n++] = (unsigned char)(u & 255);
    w->bytes[w->n++] = (unsigned char)(u >> 8);
}

#define ELEMENT "<script type=\"application/octet-stream+b64\" id=\""

static void end_element(writer *w) {
    heed__put_base64(w->out, w->bytes, w->n);
    heed_text_add(w->out, "</script>\n");
}

static void put_plane(writer *w, const heed_real *x, int rows, int cols, heed__page_code k) {
    if (!reserve(w, (size_t)rows * (size_t)cols)) return;
    for (int q = 0; q < rows; q++)
        for (int i = 0; i < (k.triangle ? q + 1 : cols); i++)
            pack(w, code_of((double)x[(size_t)q * (size_t)cols + (size_t)i], k));
    end_element(w);
}

static void put_halves(writer *w, const heed_real *x, size_t n) {
    if (!reserve(w, n)) return;
    for (size_t i = 0; i < n; i++) pack(w, half_of((double)x[i]));
    end_element(w);
}

/* ---- records ---- */

static void put_values(heed_text *out, const char *key, const double *x, int count) {
    heed_json_open(out, key, '[');
    for (int i = 0; i < count; i++) heed_json_real(out, NULL, x[i], 9);
    heed_json_close(out, ']');
}

/* [lo,hi] of values outside [0,1], or null. */
static void put_scale(heed_text *out, heed__page_code k) {
    if (k.plain)
        heed_json_text(out, "scale", NULL);
    else
        put_values(out, "scale", (const double[]){k.lo, k.hi}, 2);
}

/* The prefix of element ids: "w0.1". */
static void put_id(heed_text *out, const char *key, char kind, int r, int i) {
    char id[32];
    snprintf(id, sizeof id, "%c%d.%d", kind, r, i);
    heed_json_text(out, key, id);
}

/* The keys that no query may attend to, the uniform weight, and the end of the scale. */
static void put_masked(heed_text *out, const heed_record *r, const heed_record_block *b) {
    heed_json_open(out, "masked", '[');
    for (int k = 0; k < r->axes[b->keys].count; k++)
        if (heed__key_masked(r, b, k)) heed_json_int(out, NULL, k);
    heed_json_close(out, ']');
    heed_json_real(out, "uniform", heed_record_uniform(r, b, -1), 9);
    heed_json_real(out, "end", heed_record_scale(r, b), 9);
}

/* The layer's head to look at first, and how even it is, and those that follow positions. */
static void put_focus(heed_text *out, const heed_record *r, const heed_record_block *b) {
    heed_focus f;
    bool found = heed_record_focus(r, b->stack, b->layer, -1, &f) && &r->blocks[f.block] == b;
    /* Else it is that of the other of two blocks of one layer. */
    if (!found) f = (heed_focus){.score = 1, .positional = 1};
    heed_json_open(out, "focus", '{');
    heed_json_int(out, "head", b->head ? b->head[f.head] : f.head);
    heed_json_real(out, "score", f.score, 6);
    heed_json_real(out, "positional", f.positional, 6);
    heed_json_close(out, '}');
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

static void put_heads(writer *w, const heed_record_block *b, int r, int i, int rows, int cols,
                      heed__page_code k) {
    size_t plane = (size_t)rows * (size_t)cols;
    size_t q = (size_t)rows * (size_t)b->key, e = (size_t)cols * (size_t)b->key;
    for (int h = 0; h < b->heads; h++) {
        int head = b->head ? b->head[h] : h;
        heed_text_add(w->out, ELEMENT "w%d.%d.%d\">", r, i, head);
        put_plane(w, b->weights + (size_t)h * plane, rows, cols, k);
        if (!heed__page_has_qk(w->page, b)) continue;
        heed_text_add(w->out, ELEMENT "x%d.%d.q.%d\">", r, i, head);
        put_halves(w, b->q + (size_t)h * q, q);
        heed_text_add(w->out, ELEMENT "x%d.%d.k.%d\">", r, i, head);
        put_halves(w, b->k + (size_t)h * e, e);
    }
}

static void put_block(writer *w, int r, int i) {
    const heed_record *of = &w->page->records[r];
    const heed_record_block *b = &of->blocks[i];
    int rows = of->axes[b->queries].count, cols = of->axes[b->keys].count;
    heed__page_code k = heed__page_code_of(b->weights, b->heads, rows, cols, b->causal);
    heed_json_open(w->json, NULL, '{');
    put_id(w->json, "id", 'w', r, i);
    put_scale(w->json, k);
    heed_json_bool(w->json, "triangle", k.triangle);
    put_masked(w->json, of, b);
    put_focus(w->json, of, b);
    if (heed__page_has_qk(w->page, b)) {
        put_id(w->json, "qk", 'x', r, i);
        if (b->align) put_align(w->json, b);
    }
    heed_json_close(w->json, '}');
    put_heads(w, b, r, i, rows, cols, k);
}

static void put_map(writer *w, int r, int i) {
    const heed_record *of = &w->page->records[r];
    const heed_record_map *m = &of->maps[i];
    int rows = of->axes[m->queries].count, cols = of->axes[m->keys].count;
    heed__page_code k = heed__page_code_of(m->values, 1, rows, cols, false);
    heed_json_open(w->json, NULL, '{');
    put_id(w->json, "id", 'm', r, i);
    put_scale(w->json, k);
    heed_json_real(w->json, "least", heed_map_least(m->name), 6);
    heed_json_close(w->json, '}');
    heed_text_add(w->out, ELEMENT "m%d.%d\">", r, i);
    put_plane(w, m->values, rows, cols, k);
}

static void put_record(writer *w, int r) {
    const heed_record *of = &w->page->records[r];
    int picture = heed__page_picture(w->page, r);
    char id[16];
    heed_json_open(w->json, NULL, '{');
    heed_json_open(w->json, "blocks", '[');
    for (int i = 0; i < of->block_count; i++) put_block(w, r, i);
    heed_json_close(w->json, ']');
    heed_json_open(w->json, "maps", '[');
    for (int i = 0; i < of->map_count; i++) put_map(w, r, i);
    heed_json_close(w->json, ']');
    snprintf(id, sizeof id, "p%d", picture);
    heed_json_text(w->json, "picture", picture < 0 ? NULL : id);
    heed_json_close(w->json, '}');
    if (picture != r) return;
    heed_text_add(w->out, ELEMENT "p%d\">", r);
    heed__put_png(w->out, "the page's picture",
                  (heed__pixels){of->pixels, of->width, of->height, of->channels});
    heed_text_add(w->out, "</script>\n");
}

/* ---- curves ---- */

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
        bool marked = k->mark_point >= 0 && k->mark_point < k->series[s].count;
        if (k->mark && s == k->mark_series && marked) {
            put_text(out, "mark", k->mark);
            heed_json_int(out, "marked", k->mark_point);
        }
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

bool heed__page_data(heed_ctx *c, const heed_page *p, heed_text *json, heed_text *numbers) {
    writer w = {.page = p, .json = json, .out = numbers};
    heed_json_open(json, NULL, '{');
    put_text(json, "heed", "page 2");
    put_text(json, "version", HEED_VERSION);
    heed_json_open(json, "records", '[');
    for (int r = 0; r < p->count; r++) heed_record_json(&p->records[r], false, json);
    heed_json_close(json, ']');
    heed_json_open(json, "stored", '[');
    for (int r = 0; r < p->count; r++) put_record(&w, r);
    heed_json_close(json, ']');
    if (p->curves)
        put_curves(json, p->curves);
    else
        heed_json_text(json, "curves", NULL);
    put_text(json, "opening", p->opening);
    heed_json_close(json, '}');
    heed__free(w.bytes);
    return !heed__stopped(c);
}
