/* page_data.c -- the numbers of records as the page reads them (src/view/page/data.js): base64 of
 * 16 bits per number. */
#include "core/core.h"
#include "io/io.h"
#include "view/canvas.h"
#include "view/page.h"

#include <math.h>
#include <string.h>

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
    heed_ctx *c;
    heed_text *out;
    unsigned char *bytes; /* of one head */
    size_t n, capacity;
} packer;

static void pack(packer *p, uint16_t u) {
    p->bytes[p->n++] = (unsigned char)(u & 255);
    p->bytes[p->n++] = (unsigned char)(u >> 8);
}

static bool reserve(packer *p, size_t numbers) {
    p->n = 0;
    return heed__grow(p->c, &p->bytes, &p->capacity, 2 * numbers + 1, 1);
}

static bool put_element(packer *p) {
    return heed__put_base64(p->out, p->bytes, p->n) && heed_text_add(p->out, "</script>\n");
}

#define ELEMENT "<script type=\"application/octet-stream+b64\" id=\""

static bool put_plane(packer *p, const heed_real *x, int rows, int cols, heed__page_code k) {
    if (!reserve(p, (size_t)rows * (size_t)cols)) return false;
    for (int q = 0; q < rows; q++)
        for (int i = 0; i < (k.triangle ? q + 1 : cols); i++)
            pack(p, code_of((double)x[(size_t)q * (size_t)cols + (size_t)i], k));
    return put_element(p);
}

static bool put_halves(packer *p, const heed_real *x, size_t n) {
    if (!reserve(p, n)) return false;
    for (size_t i = 0; i < n; i++) pack(p, half_of((double)x[i]));
    return put_element(p);
}

static int head_of(const heed_record_block *b, int i) { return b->head ? b->head[i] : i; }

static bool put_qk(packer *p, const heed_record_block *b, int rows, int cols, int r, int k, int h) {
    size_t q = (size_t)rows * (size_t)b->key, e = (size_t)cols * (size_t)b->key;
    return heed_text_add(p->out, ELEMENT "x%d.%d.q.%d\">", r, k, head_of(b, h)) &&
           put_halves(p, b->q + (size_t)h * q, q) &&
           heed_text_add(p->out, ELEMENT "x%d.%d.k.%d\">", r, k, head_of(b, h)) &&
           put_halves(p, b->k + (size_t)h * e, e);
}

static bool put_block(packer *p, const heed_page *page, int r, int k) {
    const heed_record_block *b = &page->records[r].blocks[k];
    int rows = page->records[r].axes[b->queries].count, cols = page->records[r].axes[b->keys].count;
    heed__page_code code = heed__page_code_of(b->weights, b->heads, rows, cols, b->causal);
    bool ok = true;
    for (int h = 0; ok && h < b->heads; h++) {
        ok = heed_text_add(p->out, ELEMENT "w%d.%d.%d\">", r, k, head_of(b, h)) &&
             put_plane(p, b->weights + (size_t)h * (size_t)rows * (size_t)cols, rows, cols, code);
        if (ok && heed__page_has_qk(page, b)) ok = put_qk(p, b, rows, cols, r, k, h);
    }
    return ok;
}

static bool put_map(packer *p, const heed_page *page, int r, int i) {
    const heed_record_map *m = &page->records[r].maps[i];
    int rows = page->records[r].axes[m->queries].count, cols = page->records[r].axes[m->keys].count;
    return heed_text_add(p->out, ELEMENT "m%d.%d\">", r, i) &&
           put_plane(p, m->values, rows, cols, heed__page_code_of(m->values, 1, rows, cols, false));
}

bool heed__page_numbers(heed_ctx *c, const heed_page *p, heed_text *out) {
    packer k = {.c = c, .out = out};
    bool ok = true;
    for (int r = 0; ok && r < p->count; r++) {
        const heed_record *of = &p->records[r];
        for (int b = 0; ok && b < of->block_count; b++) ok = put_block(&k, p, r, b);
        for (int m = 0; ok && m < of->map_count; m++) ok = put_map(&k, p, r, m);
        heed__pixels picture = {of->pixels, of->width, of->height, of->channels};
        if (ok && heed__page_picture(p, r) == r)
            ok = heed_text_add(out, ELEMENT "p%d\">", r) &&
                 heed__put_png(out, "the page's picture", picture) &&
                 heed_text_add(out, "</script>\n");
    }
    heed__free(k.bytes);
    return ok;
}
