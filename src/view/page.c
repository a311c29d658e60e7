/* page.c -- the page: one HTML file with every view. The records are inserted into the sources
 * under src/view/page. */
#include "view/page.h"

#include "core/core.h"
#include "core/os.h"
#include "io/io.h"

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

/* ---- estimated size ---- */

static double coded(double bytes) { return 4 * ceil(bytes / 3) + 80; }

static double block_size(const heed_page *p, const heed_record *r, const heed_record_block *b) {
    double rows = r->axes[b->queries].count, cols = r->axes[b->keys].count;
    double cells = b->causal && rows == cols ? rows * (rows + 1) / 2 : rows * cols;
    double each = coded(2 * cells);
    if (heed__page_has_qk(p, b)) each += coded(2 * rows * b->key) + coded(2 * cols * b->key);
    if (heed__page_has_qk(p, b) && b->align) each += 24.0 * b->key;
    return each * b->heads + 400;
}

/* Size as JSON, with '<' escaped, too. Invalid UTF-8 is written byte by byte. */
static double label_size(const char *label) {
    size_t n = label ? strlen(label) : 0;
    bool good = heed_utf8_valid(label ? label : "", n) == n;
    double size = 6; /* quotes, comma, and the flag of special tokens */
    for (size_t i = 0; i < n; i++) {
        unsigned char at = (unsigned char)label[i];
        size += at < 32 || at == '<' ? 6 : at == '"' || at == '\\' ? 2 : at < 128 || good ? 1 : 5;
    }
    return size;
}

static double record_size(const heed_page *p, int i) {
    const heed_record *r = &p->records[i];
    double size = 1000;
    for (int a = 0; a < r->axis_count; a++)
        for (int t = 0; t < r->axes[a].count; t++)
            size += r->axes[a].labels ? label_size(r->axes[a].labels[t]) : 10;
    for (int b = 0; b < r->block_count; b++) size += block_size(p, r, &r->blocks[b]);
    for (int m = 0; m < r->map_count; m++)
        size +=
            400 + coded(2.0 * r->axes[r->maps[m].queries].count * r->axes[r->maps[m].keys].count);
    for (int g = 0; g < r->guess_count; g++) size += 80 + 50.0 * r->guesses[g].count;
    if (heed__page_picture(p, i) == i) size += coded((double)r->width * r->height * r->channels);
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
    const heed_record *r = NULL;
    const heed_record_block *b = NULL; /* the largest layer of all */
    double limit = HEED_PAGE_LIMIT;
    int maps = 0;
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < p->records[i].block_count; k++) {
            const heed_record_block *at = &p->records[i].blocks[k];
            maps += at->heads;
            if (b && block_size(p, &p->records[i], at) <= block_size(p, r, b)) continue;
            r = &p->records[i];
            b = at;
        }
    if (!b)
        return heed_fail(c, HEED_USAGE,
                         "page is too large: %s: expected at most %.0f MB, found %.0f", path,
                         limit / 1e6, size / 1e6);
    int rows = r->axes[b->queries].count, cols = r->axes[b->keys].count;
    double fits = floor(limit / (block_size(p, r, b) / b->heads));
    double layers = floor(fits / b->heads), tokens = floor(sqrt(limit * 0.98 / size) * rows);
    return heed_fail(c, HEED_USAGE,
                     "page is too large: %s: expected at most %.0f MB, found about %.0f MB (%d "
                     "heads of %d x %d weights in %d record%s); hint: %.0f layer%s of %d heads "
                     "fit, or %.0f heads in all, or the first %.0f tokens: `layers` and `heads` "
                     "choose them, `qk = false` leaves out q and k, `force` writes everything",
                     path, limit / 1e6, size / 1e6, maps, rows, cols, p->count,
                     p->count == 1 ? "" : "s", layers, layers == 1 ? "" : "s", b->heads, fits,
                     tokens);
}

/* ---- writing ---- */

static bool put_json(heed_text *out, const char *id, const char *json, size_t n) {
    return heed_text_add(out, "<script type=\"application/json\" id=\"%s\">\n", id) &&
           heed__page_escape(out, json, n) && heed_text_add(out, "\n</script>\n");
}

static bool put_data(heed_ctx *c, const heed_page *p, heed_text *data, heed_text *numbers) {
    heed_text json = {.c = c};
    bool ok = heed__page_data(c, p, &json, numbers) && put_json(data, "meta", json.s, json.n);
    if (p->steps) ok = ok && put_json(data, "steps-data", p->steps, strlen(p->steps));
    heed_text_free(&json);
    return ok;
}

/* All parts, one after the other; zero-terminated. */
static char *unpack(heed_ctx *c) {
    size_t size = 0;
    for (int i = 0; i < HEED__PAGE_PARTS; i++) size += heed__page_sizes[i];
    char *source = heed__alloc(c, size + 1);
    if (source && !heed__inflate(heed__page_packed, heed__page_packed_size, source, size)) {
        heed_fail(c, HEED_FAILED, "out of memory: cannot unpack the page");
        heed__free(source);
        return NULL;
    }
    return source;
}

/* What the frame has between two markers; NULL: from its beginning, or to its end. */
static heed__piece between(heed__piece frame, const char *after, const char *before) {
    const char *start = frame.data, *end = start + frame.n;
    if (before) end = strstr(start, before);
    if (after) start = strstr(start, after) + strlen(after);
    return (heed__piece){start, (size_t)(end - start)};
}

#define STYLE  "<!--style-->\n"
#define DATA   "<!--data-->\n"
#define SCRIPT "<!--script-->\n"

static bool put_page(heed_ctx *c, const heed_page *p, const heed_text *data,
                     const heed_text *numbers, const char *path) {
    char *source = unpack(c);
    if (!source) return false;
    heed__piece part[HEED__PAGE_PARTS];
    size_t at = 0;
    for (int i = 0; i < HEED__PAGE_PARTS; at += heed__page_sizes[i++])
        part[i] = (heed__piece){source + at, heed__page_sizes[i]};
    if (!p->steps) part[HEED__PAGE_STEPS].n = 0;
    const heed__piece frame = part[HEED__PAGE_HTML];
    const heed__piece pieces[] = {
        between(frame, NULL, STYLE), part[HEED__PAGE_CSS],     between(frame, STYLE, DATA),
        {data->s, data->n},          {numbers->s, numbers->n}, between(frame, DATA, SCRIPT),
        part[HEED__PAGE_JS],         part[HEED__PAGE_STEPS],   between(frame, SCRIPT, NULL),
    };
    bool ok = heed__os_write(c, path, pieces, (int)(sizeof pieces / sizeof *pieces));
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
    bool ok = put_data(c, p, &data, &numbers) && put_page(c, p, &data, &numbers, path);
    heed_text_free(&data);
    heed_text_free(&numbers);
    return ok;
}
