/* page.c -- the page: one HTML file with every view. It is the sources under src/view/page and what
 * their data.js reads: JSON, and beside it the numbers of weights, maps, q and k, in base64 of 16
 * bits per number. */
#include "view/page.h"

#include "core/core.h"
#include "core/os.h"
#include "io/io.h"
#include "view/draw.h"

#include <math.h>
#include <string.h>

/* ---- checks ---- */

static bool refuse(heed_ctx *c, int r, const char *what, const char *name) {
    return heed_fail(c, HEED_USAGE, "cannot make a page: record %d: %s%s%s", r + 1, what,
                     name ? ": " : "", name ? name : "");
}

static bool has_axis(const heed_record *r, int axis) {
    return axis >= 0 && axis < r->axis_count && r->axes[axis].count > 0;
}

static bool check_record(heed_ctx *c, const heed_page *p, int i) {
    const heed_record *r = &p->records[i];
    for (int b = 0; b < r->block_count; b++) {
        const heed_record_block *k = &r->blocks[b];
        if (!has_axis(r, k->queries) || !has_axis(r, k->keys))
            return refuse(c, i, "a layer without axes", k->path);
        if (!k->weights || k->heads < 1) return refuse(c, i, "a layer without weights", k->path);
    }
    for (int m = 0; m < r->map_count; m++)
        if (!has_axis(r, r->maps[m].queries) || !has_axis(r, r->maps[m].keys) || !r->maps[m].values)
            return refuse(c, i, "a map without axes or values", r->maps[m].name);
    for (int g = 0; g < r->guess_count; g++)
        if (!has_axis(r, r->guesses[g].axis)) return refuse(c, i, "a guess without its axis", NULL);
    if (r->pixels && (r->width < 1 || r->height < 1 || (r->channels != 1 && r->channels != 3)))
        return refuse(c, i, "a picture: expected 1 or 3 channels and sides of 1 or more", NULL);
    return true;
}

/* Whether q and k of the block go into the page. */
static bool has_qk(const heed_page *p, const heed_record_block *b) {
    return !p->no_qk && b->q && b->k && b->key > 0 && (!b->additive || b->align);
}

/* The record whose picture record r shows: the first one with the same pixels; -1: none. */
static int picture_of(const heed_page *p, int r) {
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

/* ---- estimated size ---- */

static double coded(double bytes) { return 4 * ceil(bytes / 3) + 80; }

static double block_size(const heed_page *p, const heed_record *r, const heed_record_block *b) {
    double rows = r->axes[b->queries].count, cols = r->axes[b->keys].count;
    double cells = b->causal && rows == cols ? rows * (rows + 1) / 2 : rows * cols;
    double each = coded(2 * cells);
    if (has_qk(p, b)) each += coded(2 * rows * b->key) + coded(2 * cols * b->key);
    if (has_qk(p, b) && b->align) each += 24.0 * b->key;
    return each * b->heads + 400;
}

/* JSON with '<' written as an escape, so that no text can end its element. */
static bool put_escaped(heed_text *out, const char *json, size_t n) {
    bool ok = true;
    for (const char *end = json + n; ok && json < end;) {
        const char *next = memchr(json, '<', (size_t)(end - json));
        ok = heed_text_put(out, json, (size_t)((next ? next : end) - json)) &&
             (!next || heed_text_put(out, "\\u003c", 6));
        json = next ? next + 1 : end;
    }
    return ok;
}

static double record_size(const heed_page *p, int i) {
    const heed_record *r = &p->records[i];
    heed_text json = {0}, escaped = {0};
    heed_record_json(r, false, &json);
    put_escaped(&escaped, json.s, json.n);
    double size = 400 + (double)escaped.n;
    heed_text_free(&json);
    heed_text_free(&escaped);
    for (int b = 0; b < r->block_count; b++) size += block_size(p, r, &r->blocks[b]);
    for (int m = 0; m < r->map_count; m++)
        size +=
            200 + coded(2.0 * r->axes[r->maps[m].queries].count * r->axes[r->maps[m].keys].count);
    if (picture_of(p, i) == i) size += coded((double)r->width * r->height * r->channels);
    return size;
}

double heed_page_size(const heed_page *p) {
    double size = 0;
    if (!p || (p->count > 0 && !p->records)) return 0;
    for (int i = 0; i < HEED__PAGE_PARTS; i++)
        if (i != HEED__PAGE_STEPS || p->steps) size += (double)heed__page_sizes[i];
    for (int i = 0; i < p->count; i++) size += record_size(p, i);
    for (int s = 0; p->curves && s < p->curves->series_count; s++)
        size += 100 + 28.0 * p->curves->series[s].count;
    return size + (p->steps ? (double)strlen(p->steps) : 0);
}

static bool too_large(heed_ctx *c, const heed_page *p, const char *path, double size) {
    double limit = HEED_PAGE_LIMIT, most = 0;
    int maps = 0, heads = 0, rows = 0, cols = 0; /* of all layers; of the largest one */
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < p->records[i].block_count; k++) {
            const heed_record_block *b = &p->records[i].blocks[k];
            double own = block_size(p, &p->records[i], b);
            maps += b->heads;
            if (own <= most) continue;
            most = own, heads = b->heads;
            rows = p->records[i].axes[b->queries].count, cols = p->records[i].axes[b->keys].count;
        }
    if (!maps)
        return heed_fail(c, HEED_USAGE,
                         "page is too large: %s: expected at most %.0f MB, found %.0f", path,
                         limit / 1e6, size / 1e6);
    double fits = floor(limit / (most / heads)), layers = floor(fits / heads);
    return heed_fail(c, HEED_USAGE,
                     "page is too large: %s: expected at most %.0f MB, found about %.0f MB (%d "
                     "heads of %d x %d weights in %d record%s); hint: %.0f layer%s of %d heads "
                     "fit, or %.0f heads in all, or the first %.0f tokens: `layers` and `heads` "
                     "choose them, `qk = false` leaves out q and k, `force` writes everything",
                     path, limit / 1e6, size / 1e6, maps, rows, cols, p->count,
                     p->count == 1 ? "" : "s", layers, layers == 1 ? "" : "s", heads, fits,
                     floor(sqrt(limit * 0.98 / size) * rows));
}

/* ---- numbers ---- */

/* How the numbers of a matrix are written: w in [0,1] as w * 65535; q and k as IEEE halves;
 * anything else as (w - lo) / (hi - lo) * 65534, with 65535 for values that are not finite. */
typedef struct {
    bool plain, half;
    double lo, hi;
    bool triangle; /* Q = K and 0 wherever k > q: the rest is left out */
} code;

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

static uint16_t word_of(double x, code k) {
    if (k.half) return half_of(x);
    if (k.plain) return (uint16_t)lround(x * 65535);
    if (!isfinite(x)) return 65535;
    return k.hi > k.lo ? (uint16_t)lround((x - k.lo) / (k.hi - k.lo) * 65534) : 0;
}

static code code_of(const heed_real *x, int planes, int rows, int cols, bool causal) {
    code k = {.plain = true, .triangle = causal && rows == cols};
    for (int i = 0; i < planes * rows; i++)
        for (int j = 0; j < cols; j++) {
            double v = (double)*x++;
            if (!(v >= 0 && v <= 1)) k.plain = false;
            if (isfinite(v)) k.lo = fmin(k.lo, v), k.hi = fmax(k.hi, v);
            if (j > i % rows && v != 0) k.triangle = false;
        }
    if (k.lo < 0) k.hi = fmax(k.hi, -k.lo), k.lo = -k.hi; /* 0 is exact, and at the centre */
    return k;
}

typedef struct {
    const heed_page *page;
    heed_text *json, *out;
    heed_text bytes; /* of one element */
} writer;

#define ELEMENT "<script type=\"application/octet-stream+b64\" id=\""

/* Writes rows of `cols` numbers as an element, whose beginning is written. */
static void put_numbers(writer *w, const heed_real *x, int rows, int cols, code k) {
    w->bytes.n = 0;
    for (int q = 0; q < rows; q++)
        for (int i = 0; i < (k.triangle ? q + 1 : cols); i++) {
            uint16_t word = word_of((double)x[(size_t)q * (size_t)cols + (size_t)i], k);
            heed_text_put(&w->bytes, (char[]){(char)(word & 255), (char)(word >> 8)}, 2);
        }
    heed__put_base64(w->out, (const unsigned char *)w->bytes.s, w->bytes.n);
    heed_text_add(w->out, "</script>\n");
}

/* ---- how records are stored ---- */

static void put_values(heed_text *out, const char *key, const double *x, int count) {
    heed_json_open(out, key, '[');
    for (int i = 0; i < count; i++) heed_json_real(out, NULL, x[i], 9);
    heed_json_close(out, ']');
}

/* The prefix of an element's name, "w0.1", and [lo,hi] of values outside [0,1]. */
static void put_code(heed_text *out, const char *kind, int r, int i, code k) {
    heed_text id = {.c = out->c};
    heed_text_add(&id, "%s%d.%d", kind, r, i);
    heed_json_text(out, "id", id.s);
    heed_text_free(&id);
    if (!k.plain) put_values(out, "scale", (double[]){k.lo, k.hi}, 2);
    heed_json_bool(out, "triangle", k.triangle);
}

/* The layer's head to look at first, and how even it is, and those that follow positions. */
static void put_focus(heed_text *out, const heed_record *r, const heed_record_block *b) {
    heed_focus f;
    bool found = heed__record_focus(r, b->stack, b->layer, -1, &f) && &r->blocks[f.block] == b;
    /* Else it is that of the other of two blocks of one layer. */
    if (!found) f = (heed_focus){.score = 1, .positional = 1};
    heed_json_open(out, "focus", '{');
    heed_json_int(out, "head", b->head ? b->head[f.head] : f.head);
    heed_json_real(out, "score", f.score, 6);
    heed_json_real(out, "positional", f.positional, 6);
    heed_json_close(out, '}');
}

/* Its code, the keys that no query may attend to, the uniform weight, the end of the scale; for the
 * additive form a list per head of the weights of its units. */
static void put_block(writer *w, int r, int i) {
    const heed_record *of = &w->page->records[r];
    const heed_record_block *b = &of->blocks[i];
    int rows = of->axes[b->queries].count, cols = of->axes[b->keys].count;
    bool qk = has_qk(w->page, b);
    code k = code_of(b->weights, b->heads, rows, cols, b->causal);
    heed_json_open(w->json, NULL, '{');
    put_code(w->json, "w", r, i, k);
    heed_json_bool(w->json, "qk", qk);
    heed_json_open(w->json, "masked", '[');
    for (int j = 0; j < cols; j++)
        if (heed__key_masked(of, b, j)) heed_json_int(w->json, NULL, j);
    heed_json_close(w->json, ']');
    heed_json_real(w->json, "uniform", heed__record_uniform(of, b, -1), 9);
    heed_json_real(w->json, "end", heed_record_scale(of, b), 9);
    put_focus(w->json, of, b);
    if (qk && b->align) heed_json_open(w->json, "align", '[');
    for (int h = 0; h < b->heads; h++) {
        int head = b->head ? b->head[h] : h;
        size_t row = (size_t)h * (size_t)rows, col = (size_t)h * (size_t)cols;
        heed_text_add(w->out, ELEMENT "w%d.%d.%d\">", r, i, head);
        put_numbers(w, b->weights + row * (size_t)cols, rows, cols, k);
        if (!qk) continue;
        heed_text_add(w->out, ELEMENT "w%d.%d.q.%d\">", r, i, head);
        put_numbers(w, b->q + row * (size_t)b->key, rows, b->key, (code){.half = true});
        heed_text_add(w->out, ELEMENT "w%d.%d.k.%d\">", r, i, head);
        put_numbers(w, b->k + col * (size_t)b->key, cols, b->key, (code){.half = true});
        if (!b->align) continue;
        heed_json_open(w->json, NULL, '[');
        for (int u = 0; u < b->key; u++)
            heed_json_real(w->json, NULL, (double)b->align[h * b->key + u], 9);
        heed_json_close(w->json, ']');
    }
    if (qk && b->align) heed_json_close(w->json, ']');
    heed_json_close(w->json, '}');
}

static void put_map(writer *w, int r, int i) {
    const heed_record *of = &w->page->records[r];
    const heed_record_map *m = &of->maps[i];
    int rows = of->axes[m->queries].count, cols = of->axes[m->keys].count;
    code k = code_of(m->values, 1, rows, cols, false);
    heed_json_open(w->json, NULL, '{');
    put_code(w->json, "m", r, i, k);
    heed_json_real(w->json, "least", heed_map_least(m->name), 6);
    heed_json_close(w->json, '}');
    heed_text_add(w->out, ELEMENT "m%d.%d\">", r, i);
    put_numbers(w, m->values, rows, cols, k);
}

static void put_record(writer *w, int r) {
    const heed_record *of = &w->page->records[r];
    int picture = picture_of(w->page, r);
    heed_json_open(w->json, NULL, '{');
    heed_json_open(w->json, "blocks", '[');
    for (int i = 0; i < of->block_count; i++) put_block(w, r, i);
    heed_json_close(w->json, ']');
    heed_json_open(w->json, "maps", '[');
    for (int i = 0; i < of->map_count; i++) put_map(w, r, i);
    heed_json_close(w->json, ']');
    heed_json_int(w->json, "picture", picture);
    heed_json_close(w->json, '}');
    if (picture != r) return;
    heed_text_add(w->out, ELEMENT "p%d\">", r);
    heed__put_png(w->out, "the page's picture",
                  (heed__pixels){of->pixels, of->width, of->height, of->channels});
    heed_text_add(w->out, "</script>\n");
}

/* ---- all parts ---- */

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

static bool put_json(heed_text *out, const char *id, const char *json, size_t n) {
    return heed_text_add(out, "<script type=\"application/json\" id=\"%s\">\n", id) &&
           put_escaped(out, json, n) && heed_text_add(out, "\n</script>\n");
}

bool heed__page_data(heed_ctx *c, const heed_page *p, heed_text *data, heed_text *numbers) {
    heed_text json = {.c = c};
    writer w = {.page = p, .json = &json, .out = numbers, .bytes = {.c = c}};
    heed_json_open(&json, NULL, '{');
    put_text(&json, "heed", "page 2");
    put_text(&json, "version", HEED_VERSION);
    heed_json_open(&json, "viridis", '[');
    for (int i = 0; i <= 8; i++) {
        heed__rgb k = heed__viridis(i / 8.0);
        put_values(&json, NULL, (double[]){k.r, k.g, k.b}, 3);
    }
    heed_json_close(&json, ']');
    heed_json_open(&json, "records", '[');
    for (int r = 0; r < p->count; r++) heed_record_json(&p->records[r], false, &json);
    heed_json_close(&json, ']');
    heed_json_open(&json, "stored", '[');
    for (int r = 0; r < p->count; r++) put_record(&w, r);
    heed_json_close(&json, ']');
    if (p->curves) put_curves(&json, p->curves);
    put_text(&json, "opening", p->opening);
    heed_json_close(&json, '}');
    bool ok = put_json(data, "meta", json.s, json.n) &&
              (!p->steps || put_json(data, "steps-data", p->steps, strlen(p->steps)));
    heed_text_free(&json);
    heed_text_free(&w.bytes);
    return ok && !heed__stopped(c);
}

/* The sources, inflated, around the data. */
static bool put_page(heed_ctx *c, const heed_page *p, const heed_text *data,
                     const heed_text *numbers, const char *path) {
    size_t size = 0, at = 0;
    for (int i = 0; i < HEED__PAGE_PARTS; i++) size += heed__page_sizes[i];
    char *source = heed__alloc(c, size + 1);
    bool ok = source && heed__inflate(heed__page_packed, heed__page_packed_size, source, size);
    if (source && !ok) heed_fail(c, HEED_FAILED, "out of memory: cannot unpack the page");
    heed__piece part[HEED__PAGE_PARTS];
    for (int i = 0; ok && i < HEED__PAGE_PARTS; at += heed__page_sizes[i++])
        part[i] = (heed__piece){source + at, heed__page_sizes[i]};
    if (ok && !p->steps) part[HEED__PAGE_STEPS].n = 0;
    ok = ok && heed__os_write(c, path,
                              (heed__piece[]){part[HEED__PAGE_BEGIN],
                                              {data->s, data->n},
                                              {numbers->s, numbers->n},
                                              part[HEED__PAGE_JS],
                                              part[HEED__PAGE_STEPS],
                                              part[HEED__PAGE_END]},
                              6);
    heed__free(source);
    return ok;
}

bool heed_page_write(heed_ctx *c, const heed_page *p, const char *path) {
    if (heed__stopped(c) || !p || !path || (p->count > 0 && !p->records)) return false;
    for (int i = 0; i < p->count; i++)
        if (!check_record(c, p, i)) return false;
    double size = heed_page_size(p);
    if (size > HEED_PAGE_LIMIT && !p->force) return too_large(c, p, path, size);
    if (size > HEED_PAGE_WARN)
        heed_message(c, HEED_WARN, "%s will have about %.0f MB: a browser may be slow to open it",
                     path, size / 1e6);
    heed_text data = {.c = c}, numbers = {.c = c};
    bool ok = heed__page_data(c, p, &data, &numbers) && put_page(c, p, &data, &numbers, path);
    heed_text_free(&data);
    heed_text_free(&numbers);
    return ok;
}
