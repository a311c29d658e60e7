/* images_idx.c -- IDX files (such as MNIST): big-endian, 0 0 TYPE DIMS, then the dims, then the
 * elements; plain or gzipped. http://yann.lecun.com/exdb/mnist/ */
#include "data/image/images.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { U8 = 0x08, I8 = 0x09, I16 = 0x0B, I32 = 0x0C, F32 = 0x0D, F64 = 0x0E, MOST_DIMS = 4 };

/* A complete file: its dims, and elements as bytes. */
typedef struct {
    int type, dims;
    size_t dim[MOST_DIMS];
    size_t count;         /* product of the dims */
    unsigned char *bytes; /* the file; elements follow the header */
    size_t header, width; /* bytes of the header and of an element */
} idx;

/* Bytes of an element; 0: there is no such type. */
static size_t width_of(unsigned type) {
    static const unsigned char widths[] = {
        [U8] = 1, [I8] = 1, [I16] = 2, [I32] = 4, [F32] = 4, [F64] = 8};
    return type < sizeof widths ? widths[type] : 0;
}

static uint64_t big_endian(const unsigned char *p, size_t n) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v = v << 8 | p[i];
    return v;
}

/* The element i, whatever its type. */
static double element(const idx *f, size_t i) {
    uint64_t v = big_endian(f->bytes + f->header + i * f->width, f->width);
    if (f->type >= F32) return heed__real_of(v, f->width);
    return f->type == U8 ? (double)v : heed__signed_of(v, f->width);
}

/* ---- reading ---- */

static bool wrong(heed_ctx *c, const char *path, const char *expected, const char *found) {
    return heed_fail(c, HEED_DATA, "IDX file is wrong: %s: expected %s, found %s", path, expected,
                     found);
}

/* The header in the first n bytes of a file. */
static bool read_header(heed_ctx *c, const char *path, const unsigned char *p, size_t n, idx *out) {
    if (n < 4 || p[0] || p[1] || !width_of(p[2]))
        return wrong(c, path, "two zero bytes and a type (08 09 0B 0C 0D 0E) at its start",
                     n < 4 ? "an end" : "other bytes");
    int dims = p[3];
    if (dims < 1 || dims > MOST_DIMS || n < 4 + 4 * (size_t)dims)
        return wrong(c, path, "1 to 4 dimensions, 4 bytes each",
                     dims < 1 || dims > MOST_DIMS ? "another number of them" : "an end");
    *out = (idx){p[2], dims, .count = 1, .header = 4 + 4 * (size_t)dims};
    out->width = width_of(p[2]);
    for (int i = 0; i < dims; i++) {
        out->dim[i] = (size_t)big_endian(p + 4 + 4 * i, 4);
        if (out->dim[i] && out->count > SIZE_MAX / 16 / out->dim[i])
            return wrong(c, path, "dimensions that fit in memory", "a product that does not");
        out->count *= out->dim[i];
    }
    return true;
}

/* Inflates into out[] of n bytes; returns how many were written. A file may consist of several
 * concatenated streams. The caller passes one byte more than expected, to detect excess data. */
static size_t inflate_all(z_stream *z, unsigned char *out, size_t n, bool *whole) {
    size_t have = 0;
    int state = Z_OK;
    while (have < n && state == Z_OK) {
        size_t part = n - have < 1u << 30 ? n - have : 1u << 30;
        z->next_out = out + have;
        z->avail_out = (uInt)part;
        state = inflate(z, Z_NO_FLUSH);
        have += part - z->avail_out;
        if (state == Z_STREAM_END && z->avail_in) state = inflateReset(z);
    }
    *whole = state == Z_STREAM_END;
    return have;
}

/* deflate compresses by at most 1032:1: no memory is allocated for a header that promises more. */
static bool unzip(heed_ctx *c, const char *path, const unsigned char *in, size_t n, idx *out,
                  size_t *size) {
    enum { HEADER = 4 + 4 * MOST_DIMS, RATIO = 1032 };
    unsigned char head[HEADER];
    bool whole = false;
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)in, .avail_in = (uInt)n};
    if (n > UINT32_MAX) return wrong(c, path, "less than 4 GB by gzip", "more");
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return heed_fail(c, HEED_FAILED, "out of memory: cannot unzip %s", path);
    size_t have = inflate_all(&z, head, HEADER, &whole);
    bool ok = read_header(c, path, head, have, out);
    size_t need = ok ? out->header + out->count * out->width : 0;
    if (ok && need / RATIO > n)
        ok = heed_fail(c, HEED_DATA,
                       "IDX file is wrong: %s: its header promises %zu bytes, which %zu bytes by "
                       "gzip cannot hold",
                       path, need, n);
    size_t capacity = need + 1 > HEADER ? need + 1 : HEADER;
    unsigned char *bytes = ok ? heed__alloc(c, capacity) : NULL;
    if (bytes) {
        memcpy(bytes, head, have);
        out->bytes = bytes;
        if (!whole) have += inflate_all(&z, bytes + have, capacity - have, &whole);
        ok = whole || have > need ||
             wrong(c, path, "a whole gzip stream", z.msg ? z.msg : "an end too early");
        *size = have;
    }
    inflateEnd(&z);
    return ok && bytes;
}

static bool read_idx(heed_ctx *c, const char *path, idx *out) {
    size_t n;
    unsigned char *bytes = heed__os_read(c, path, 0, &n);
    *out = (idx){0};
    if (!bytes) return false;
    bool zipped = n > 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
    bool ok = zipped ? unzip(c, path, bytes, n, out, &n) : read_header(c, path, bytes, n, out);
    if (zipped)
        heed__free(bytes);
    else
        out->bytes = bytes;
    size_t need = out->header + out->count * out->width;
    if (ok && n != need)
        ok = heed_fail(c, HEED_DATA,
                       "IDX file is wrong: %s: expected %zu bytes, as its header says, found %s%zu",
                       path, need, n > need ? "more than " : "", n > need ? need : n);
    if (!ok) heed__free(out->bytes);
    return ok;
}

/* ---- pictures ---- */

/* How elements become bytes: (v - low) * scale. */
typedef struct {
    double low, scale;
    bool known;
} range;

/* Values from 0 to 255 are kept; fractions from 0 to 1 are multiplied by 255. All others are scaled
 * linearly so that the lowest and highest value become 0 and 255. */
static bool find_range(heed_ctx *c, const char *path, const idx *f, range *out) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < f->count; i++) {
        double v = element(f, i);
        if (!isfinite(v)) return wrong(c, path, "finite values", "one that is not");
        low = fmin(low, v);
        high = fmax(high, v);
    }
    bool share = f->type >= F32 && high <= 1, bytes = low >= 0 && high <= 255;
    *out = (range){0, share ? 255 : 1, true};
    if (bytes) return true;
    *out = (range){low, high > low ? 255 / (high - low) : 0, true};
    heed_message(c, HEED_INFO, "%s: values of %g to %g are brought to 0 to 255", path, low, high);
    return true;
}

/* The training file's range is also used for the test file. */
static bool to_bytes(heed_ctx *c, const char *path, idx *f, range *r) {
    if (f->type == U8) return true;
    if (!r->known && !find_range(c, path, f, r)) return false;
    for (size_t i = 0; i < f->count; i++) { /* in place: an element is no shorter than a byte */
        double v = (element(f, i) - r->low) * r->scale;
        f->bytes[f->header + i] = (unsigned char)(v > 0 ? v < 255 ? v + 0.5 : 255 : 0);
    }
    return true;
}

static bool pictures_fit(heed_ctx *c, const char *path, const idx *f) {
    size_t channels = f->dims == 4 ? f->dim[3] : 1;
    if (f->dims < 3 || (channels != 1 && channels != 3))
        return wrong(c, path, "dimensions (pictures, height, width) or (.., 1 or 3)", "others");
    if (!f->count || f->dim[0] > INT32_MAX)
        return wrong(c, path, "pictures", f->count ? "more than 2^31" : "none");
    if (f->dim[1] > 1u << 26 || f->dim[2] > (1u << 26) / f->dim[1])
        return wrong(c, path, "at most 2^26 pixels", "larger pictures");
    return true;
}

/* ---- labels ---- */

enum { NUMBER = 32, PREFIX = 64, NAME = 160 };

/* Reads the names of the classes 0, 1, .. from labels.txt in the folder, if there is one. A name
 * that is repeated would join two classes: such a file has something else, as the label of each
 * picture. */
static bool read_names(heed_ctx *c, const char *folder, heed__names *out) {
    char *path = heed__images_path(c, folder, "labels.txt"), *text = NULL;
    size_t n = 0;
    bool ok = path != NULL;
    if (ok && heed__os_exists(path)) ok = (text = heed_text_read(c, path, &n)) != NULL;
    for (const char *line = text; ok && line && *line; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        ok =
            (n && heed__names_look(out, line, n) < 0) ||
            heed_fail(c, HEED_DATA,
                      "class name is wrong: %s:%zu: expected one that is in no earlier line, found "
                      "%.*s; hint: rename the file if it does not name the classes",
                      path, out->count + 1, n ? (int)(n < 60 ? n : 60) : 7, n ? line : "nothing");
        ok = ok && heed__names_add(out, line, n) >= 0;
    }
    heed__free(text);
    heed__free(path);
    return ok;
}

/* Reads the names of the classes from EMNIST's list, if there is one: of each class a line of its
 * number and of code points, of which the first one is its name. Numbers that it lacks have none.
 */
static bool read_mapping(heed_ctx *c, const char *folder, const char *prefix, heed__names *out) {
    char name[PREFIX + 16], found[HEED_QUOTE];
    snprintf(name, sizeof name, "%smapping.txt", prefix);
    char *path = heed__images_path(c, folder, name), *text = NULL;
    size_t n = 0, line = 1;
    bool ok = path != NULL;
    if (ok && heed__os_exists(path)) ok = (text = heed_text_read(c, path, &n)) != NULL;
    for (const char *at = text; ok && at && *at; at += n + (at[n] == '\n'), line++) {
        char letter[8] = "";
        unsigned class, code;
        n = strcspn(at, "\n");
        bool read = sscanf(at, "%5u%*1[ \t]%7u", &class, &code) == 2 && class < 65536 &&
                    class >= out->count && code > ' ' && code < 0xD800;
        if (!n) continue;
        for (char absent[NUMBER]; read && ok && out->count < class;) {
            snprintf(absent, sizeof absent, "class %zu", out->count);
            ok = heed__names_add(out, absent, strlen(absent)) >= 0;
        }
        if (read) heed_utf8_write((int32_t)code, letter);
        ok = ok && ((read && heed__names_look(out, letter, strlen(letter)) < 0) ||
                    heed_fail(c, HEED_DATA,
                              "list of classes is wrong: %s:%zu: expected a class above those "
                              "before it and the code of a new letter, as 1 65, found %s; hint: "
                              "without this file classes have numbers",
                              path, line, heed_quote(found, at, n)));
        ok = ok && heed__names_add(out, letter, strlen(letter)) >= 0;
    }
    heed__free(text);
    heed__free(path);
    return ok;
}

/* The name of the class of a value. */
static const char *name_of(const heed__names *s, int64_t value, char number[NUMBER]) {
    if (s->count) return heed__names_text(s, (size_t)value);
    snprintf(number, NUMBER, "%lld", (long long)value);
    return number;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Adds the class of each value, in the order of the values. */
static bool add_classes(heed_images *k, const heed__names *s, const char *path,
                        const int64_t *values, size_t n) {
    int64_t *sorted = heed__alloc_array(k->c, n, sizeof *sorted);
    if (!sorted) return false;
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    bool ok = !n || !s->count || (uint64_t)sorted[n - 1] < s->count ||
              heed_fail(k->c, HEED_DATA,
                        "label is wrong: %s: expected less than %zu, as the list of classes "
                        "beside it ends, found %lld; hint: rename labels.txt if it does not name "
                        "the classes",
                        path, s->count, (long long)sorted[n - 1]);
    for (size_t i = 0; ok && i < n; i++) {
        char number[NUMBER];
        if (i && sorted[i] == sorted[i - 1]) continue;
        ok = heed__images_class(k, name_of(s, sorted[i], number), path) >= 0;
    }
    heed__free(sorted);
    return ok;
}

/* Labels may be of any type: floats may hold whole numbers. */
#define MOST_LABEL 0x1p31
static bool read_labels(heed_images *k, const char *path, int64_t **out, size_t *n) {
    idx f;
    if (!read_idx(k->c, path, &f)) return false;
    bool ok = f.dims == 1 || wrong(k->c, path, "labels in 1 dimension", "more dimensions");
    *out = ok ? heed__alloc_array(k->c, f.count, sizeof **out) : NULL;
    for (size_t i = 0; *out && ok && i < f.count; i++) {
        double v = element(&f, i);
        ok = (v >= 0 && v <= MOST_LABEL && v == floor(v)) ||
             heed_fail(k->c, HEED_DATA,
                       "label is wrong: %s: expected a whole number of 0 to %.0f, "
                       "found %.9g at picture %zu",
                       path, MOST_LABEL, v, i);
        (*out)[i] = ok ? (int64_t)v : 0;
    }
    *n = f.count;
    heed__free(f.bytes);
    return ok && *out;
}

/* ---- the folder ---- */

typedef struct {
    const char *words[2]; /* as the part is called in names */
    heed_part part;
} pair;
static const pair pairs[] = {{{"train", "train"}, HEED_TRAIN_PART},
                             {{"t10k", "test"}, HEED_TEST_PART}};

/* The path of "emnist-letters-train-images-idx3-ubyte", with a point for the last but one mark or
 * gzipped, which the caller frees; NULL: absent, or an error. */
static char *find_file(heed_ctx *c, const char *folder, const char *prefix, const pair *p,
                       const char *what, const char *form) {
    for (int i = 0; i < 8; i++) {
        char name[NAME];
        snprintf(name, sizeof name, "%s%s-%s%c%s-ubyte%s", prefix, p->words[i & 1], what,
                 i & 2 ? '.' : '-', form, i & 4 ? ".gz" : "");
        char *path = heed__images_path(c, folder, name);
        if (!path || heed__os_exists(path)) return path;
        heed__free(path);
    }
    return NULL;
}

/* What comes before "train-images-idx3-ubyte" in the names of the folder's files: "emnist-letters-"
 * of those of EMNIST. Two sets in one folder are an error. */
static bool find_prefix(heed_ctx *c, const char *folder, char prefix[PREFIX]) {
    heed__listing l;
    bool any = false, ok = heed__os_list(c, folder, &l);
    *prefix = 0;
    for (size_t i = 0; ok && i < l.count; i++) {
        const char *name = l.entries[i].name, *at = strstr(name, "train-images");
        size_t n = at ? (size_t)(at - name) : PREFIX;
        if (n >= PREFIX || (n && at[-1] != '-') || !strstr(at, "idx3-ubyte")) continue;
        if (any && (strlen(prefix) != n || memcmp(prefix, name, n) != 0))
            ok = heed_fail(c, HEED_DATA,
                           "several sets of IDX files in one folder: %s: expected one, found "
                           "%strain-images-idx3-ubyte and %s; hint: put the files of one set into "
                           "a folder of their own",
                           folder, prefix, name);
        snprintf(prefix, PREFIX, "%.*s", (int)n, name);
        any = true;
    }
    heed__os_list_free(&l);
    return ok;
}

/* Exchanges the rows and columns of square pictures of a byte a pixel, in place. */
static void transpose(const idx *f) {
    size_t side = f->dim[1];
    for (size_t i = 0; f->dims == 3 && side == f->dim[2] && i < f->dim[0]; i++) {
        unsigned char *p = f->bytes + f->header + i * side * side;
        for (size_t y = 0; y < side; y++)
            for (size_t x = 0; x < y; x++) {
                unsigned char pixel = p[y * side + x];
                p[y * side + x] = p[x * side + y];
                p[x * side + y] = pixel;
            }
    }
}

static bool add_pictures(heed_images *k, const heed__names *s, const pair *p, const idx *f,
                         const int64_t *labels) {
    size_t height = f->dim[1], width = f->dim[2], channels = f->dims == 4 ? f->dim[3] : 1;
    for (size_t i = 0; i < f->dim[0]; i++) {
        char number[NUMBER];
        const char *name = labels ? name_of(s, labels[i], number) : HEED_UNLABELLED;
        heed_picture picture = {(int)width, (int)height, (int)channels,
                                f->bytes + f->header + i * height * width * channels};
        if (!heed__images_add(k, heed__images_class(k, name, p->words[0]), p->part, NULL, picture))
            return false;
    }
    return true;
}

/* A set that is being read. */
typedef struct {
    heed__names names;
    range range;
    bool transposed;
} set;

/* label_path NULL: the pictures have no labels. */
static bool read_pair(heed_images *k, set *s, const pair *p, const char *image_path,
                      const char *label_path) {
    idx f;
    int64_t *labels = NULL;
    size_t count = 0;
    if (!read_idx(k->c, image_path, &f) || !heed__images_keep(k, f.bytes)) return false;
    bool ok = pictures_fit(k->c, image_path, &f) && to_bytes(k->c, image_path, &f, &s->range) &&
              (!label_path || read_labels(k, label_path, &labels, &count));
    if (ok && labels && count != f.dim[0])
        ok = heed_fail(k->c, HEED_DATA,
                       "labels and pictures differ in number: %s: expected %zu labels, as there "
                       "are pictures in %s, found %zu",
                       label_path, f.dim[0], image_path, count);
    if (ok && s->transposed) transpose(&f);
    ok = ok && (!labels || add_classes(k, &s->names, label_path, labels, count)) &&
         add_pictures(k, &s->names, p, &f, labels);
    heed__free(labels);
    return ok;
}

bool heed__images_idx(heed_images *k, const char *path) {
    set s = {.names = {.c = k->c}};
    char prefix[PREFIX];
    bool ok = find_prefix(k->c, path, prefix);
    s.transposed = strncmp(prefix, "emnist-", 7) == 0;
    for (int i = 0; ok && i < 2; i++) {
        const pair *p = &pairs[i];
        char *images = find_file(k->c, path, prefix, p, "images", "idx3"),
             *labels = find_file(k->c, path, prefix, p, "labels", "idx1");
        if (images || labels) {
            k->info.kind = "idx";
            k->ordered = true;
        }
        if (p->part == HEED_TEST_PART && k->a.no_test)
            ok = true;
        else if (images && (labels || k->a.unlabelled))
            ok = (!labels || s.names.count || read_names(k->c, path, &s.names)) &&
                 (!s.transposed || s.names.count || read_mapping(k->c, path, prefix, &s.names)) &&
                 read_pair(k, &s, p, images, labels);
        else if (images || labels)
            ok = heed_fail(k->c, HEED_DATA,
                           "IDX files are not complete: %s: expected %s%s-%s-ubyte, too (plain or "
                           ".gz)",
                           path, prefix, p->words[i && *prefix],
                           images ? "labels-idx1" : "images-idx3");
        heed__free(images);
        heed__free(labels);
    }
    if (ok && k->info.kind && s.transposed)
        heed_message(k->c, HEED_INFO,
                     "EMNIST's files hold pictures with rows and columns exchanged: these are "
                     "exchanged again");
    heed__names_free(&s.names);
    return ok && !heed__stopped(k->c);
}
