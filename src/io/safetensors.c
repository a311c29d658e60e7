/* safetensors.c -- safetensors: u64 header length | JSON header | data. Reading accepts the files
 * that the reference reader does, except duplicate keys and more than 8 dimensions; everything is
 * checked before a store is filled. A store is written byte for byte as the reference writer does:
 * metadata first, tensors by dtype (one here) and name, the header padded with blanks to a multiple
 * of 8. */
#include "core/core.h"
#include "core/os.h"
#include "core/params.h"
#include "io/io.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors files are little-endian: this machine needs a byte swap in src/io"
#endif

enum { LENGTH = 8, HEADER_LIMIT = 100000000, RANK = 8 };

struct heed_safetensors {
    heed__owned owned;
    heed_ctx *c;
    char *path;
    unsigned char *file;       /* all of it, or its header */
    const unsigned char *data; /* after the header; NULL: not in memory */
    size_t start, bytes;       /* where the data begins, and its size */
    heed__file open;           /* where data that is not in memory is read from */
    json_t *root, *meta;       /* root holds the names */
    heed_array *arrays;        /* in the order of their data */
    size_t count;
};

static const struct {
    const char *name;
    unsigned bits;
} types[] = {{"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
             {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
             {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
             {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
             {"I64", 64},        {"U64", 64}};
enum { TYPES = sizeof types / sizeof *types };

static void destroy(heed__owned *object) {
    heed_safetensors *f = (heed_safetensors *)object;
    json_decref(f->root);
    heed__free(f->arrays);
    heed__free(f->path);
    heed__free(f->file);
    heed__file_close(&f->open);
    heed__free(f);
}

void heed_safetensors_close(heed_safetensors *f) {
    if (f) heed__release(f->c, &f->owned);
}

/* Always false. name: the tensor's name, or NULL. */
static bool damaged(const heed_safetensors *f, const char *name, const char *what) {
    char quoted[HEED_QUOTE] = "";
    if (name) heed_quote(quoted, name, strlen(name));
    return heed_fail(f->c, HEED_DATA,
                     "safetensors file is wrong: %s: %s%s%s; hint: the file is damaged or cut off: "
                     "copy or write it again",
                     f->path, name ? "tensor " : "", quoted, what);
}

/* ---- one entry: {"dtype":"F32","shape":[2,3],"data_offsets":[0,24]} ---- */

/* A list of at most `most` integers of at least 0; returns their number, -1 for anything else. */
static int read_naturals(const json_t *list, int most, int64_t *out) {
    int n = (int)json_array_size(list);
    if (!json_is_array(list) || json_array_size(list) > (size_t)most) return -1;
    for (int i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        out[i] = json_integer_value(value);
        if (!json_is_integer(value) || out[i] < 0) return -1;
    }
    return n;
}

/* Bytes of a shape; false if they overflow or are not an integer. */
static bool count_bytes(const heed_array *a, unsigned bits, uint64_t *bytes) {
    uint64_t count = 1;
    for (int i = 0; i < a->dims; i++) {
        uint64_t dim = (uint64_t)a->shape[i];
        if (dim && count > UINT64_MAX / dim) return false;
        count *= dim;
    }
    if (count > UINT64_MAX / bits || count * bits % 8) return false;
    *bytes = count * bits / 8;
    return true;
}

static bool read_entry(const heed_safetensors *f, heed_array *a, const json_t *entry) {
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    size_t type = 0;
    while (dtype && type < TYPES && strcmp(types[type].name, dtype) != 0) type++;
    if (!dtype || type == TYPES)
        return damaged(f, a->name, ": expected an object with a known dtype");
    a->dtype = types[type].name;
    a->dims = read_naturals(json_object_get(entry, "shape"), RANK, a->shape);
    if (a->dims < 0) return damaged(f, a->name, ": expected a shape of at most 8 whole numbers");
    int64_t range[2];
    if (read_naturals(json_object_get(entry, "data_offsets"), 2, range) != 2)
        return damaged(f, a->name, ": expected data_offsets of two whole numbers");
    if (range[0] > range[1] || (uint64_t)range[1] > f->bytes)
        return damaged(f, a->name, ": its data_offsets lie outside of the file");
    a->offset = (size_t)range[0];
    a->data = f->data ? f->data + range[0] : NULL;
    a->bytes = (size_t)(range[1] - range[0]);
    uint64_t bytes;
    if (!count_bytes(a, types[type].bits, &bytes) || bytes != a->bytes)
        return damaged(f, a->name, ": its data_offsets do not fit dtype and shape");
    return true;
}

/* ---- the header ---- */

static bool read_meta(heed_safetensors *f, json_t *meta) {
    const char *key;
    json_t *value;
    if (json_is_null(meta)) return true;
    if (!json_is_object(meta)) return damaged(f, NULL, "__metadata__ is not an object");
    json_object_foreach(meta, key, value) {
        if (!json_is_string(value))
            return damaged(f, NULL, "__metadata__ holds a value that is not a text");
    }
    f->meta = meta;
    return true;
}

static bool read_entries(heed_safetensors *f) {
    const char *key;
    json_t *value;
    f->arrays = heed__alloc_array(f->c, json_object_size(f->root), sizeof *f->arrays);
    if (!f->arrays) return false;
    json_object_foreach(f->root, key, value) {
        if (strcmp(key, "__metadata__") == 0) {
            if (!read_meta(f, value)) return false;
            continue;
        }
        heed_array *a = &f->arrays[f->count++];
        a->name = key;
        if (!read_entry(f, a, value)) return false;
    }
    return true;
}

/* By begin, then end, as the reference does: an empty tensor comes before the next one's data. */
static int by_place(const void *x, const void *y) {
    const heed_array *a = x, *b = y;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* True if the tensors tile the data: no hole, no overlap, nothing after them. */
static bool tiles(heed_safetensors *f) {
    size_t at = 0;
    qsort(f->arrays, f->count, sizeof *f->arrays, by_place);
    for (size_t i = 0; i < f->count; i++) {
        if (f->arrays[i].offset != at)
            return damaged(f, f->arrays[i].name, " overlaps another one or leaves a hole");
        at += f->arrays[i].bytes;
    }
    if (at != f->bytes) return damaged(f, NULL, "bytes follow the last tensor");
    return true;
}

/* The size of the header of a file of n bytes, of which `first` is the start. */
static bool header_size(const heed_safetensors *f, const unsigned char *first, size_t n,
                        uint64_t *header) {
    if (n < LENGTH) return damaged(f, NULL, "expected at least 8 bytes");
    memcpy(header, first, LENGTH);
    bool too_long = *header > HEADER_LIMIT || *header > n - LENGTH;
    if (too_long && n > LENGTH && first[LENGTH] != '{')
        return heed_fail(f->c, HEED_DATA,
                         "not a .safetensors file: %s: expected a JSON header after its length in "
                         "8 bytes, found neither",
                         f->path);
    return !too_long || damaged(f, NULL, "its header is longer than the file or 100000000 bytes");
}

/* f->file holds the header of a file of n bytes, or all of it. */
static bool parse(heed_safetensors *f, size_t n) {
    uint64_t header = 0;
    if (!header_size(f, f->file, n, &header)) return false;
    f->start = LENGTH + (size_t)header;
    f->bytes = n - f->start;
    if (f->open.fd < 0) f->data = f->file + f->start;
    heed_text where = {.c = f->c};
    if (heed_text_add(&where, "safetensors header of %s", f->path))
        f->root = heed__json_parse(f->c, where.s, (const char *)f->file + LENGTH, (size_t)header);
    heed_text_free(&where);
    if (!f->root) return false;
    if (!json_is_object(f->root)) return damaged(f, NULL, "its header is not a JSON object");
    return read_entries(f) && tiles(f);
}

static heed_safetensors *new_file(heed_ctx *c, const char *path) {
    heed_safetensors *f = heed__stopped(c) ? NULL : heed__alloc(c, sizeof *f);
    if (!f) return NULL;
    f->c = c;
    f->open.fd = -1;
    heed__own(c, &f->owned, destroy);
    f->path = heed__copy_text(c, path);
    if (f->path) return f;
    heed_safetensors_close(f);
    return NULL;
}

heed_safetensors *heed__safetensors_parse(heed_ctx *c, const char *path, unsigned char *data,
                                          size_t n) {
    heed_safetensors *f = new_file(c, path);
    if (!f) {
        heed__free(data);
        return NULL;
    }
    f->file = data;
    if (parse(f, n)) return f;
    heed_safetensors_close(f);
    return NULL;
}

heed_safetensors *heed_safetensors_open(heed_ctx *c, const char *path) {
    if (heed__stopped(c) || !path) return NULL;
    size_t n;
    unsigned char *data = heed__os_read(c, path, 0, &n);
    return data ? heed__safetensors_parse(c, path, data, n) : NULL;
}

static bool read_header(heed_safetensors *f) {
    unsigned char first[LENGTH + 1] = {0};
    size_t n = f->open.size, have = n < sizeof first ? n : sizeof first;
    uint64_t header = 0;
    if (!heed__file_read_at(f->c, &f->open, 0, first, have) || !header_size(f, first, n, &header))
        return false;
    f->file = heed__alloc(f->c, LENGTH + (size_t)header);
    if (!f->file) return false;
    memcpy(f->file, first, LENGTH); /* not read again: the file may have changed */
    return heed__file_read_at(f->c, &f->open, LENGTH, f->file + LENGTH, (size_t)header) &&
           parse(f, n);
}

heed_safetensors *heed__safetensors_head(heed_ctx *c, const char *path) {
    if (heed__stopped(c) || !path) return NULL;
    if (!heed__os_is_file(path)) return heed_safetensors_open(c, path);
    heed_safetensors *f = new_file(c, path);
    if (f && heed__file_open(c, path, &f->open) && read_header(f)) return f;
    heed_safetensors_close(f);
    return NULL;
}

bool heed__safetensors_values(const heed_safetensors *f, const heed_array *a, void *to) {
    if (!f->data) return heed__file_read_at(f->c, &f->open, f->start + a->offset, to, a->bytes);
    if (a->bytes) memcpy(to, a->data, a->bytes);
    return true;
}

/* ---- access ---- */

int heed_safetensors_count(const heed_safetensors *f) { return f ? (int)f->count : 0; }

const heed_array *heed_safetensors_at(const heed_safetensors *f, int index) {
    return f && index >= 0 && (size_t)index < f->count ? &f->arrays[index] : NULL;
}

const heed_array *heed__safetensors_find(const heed_safetensors *f, const char *name) {
    for (size_t i = 0; f && name && i < f->count; i++)
        if (strcmp(f->arrays[i].name, name) == 0) return &f->arrays[i];
    return NULL;
}

const char *heed__safetensors_meta(const heed_safetensors *f, const char *key) {
    return f && key ? json_string_value(json_object_get(f->meta, key)) : NULL;
}

/* ---- loading the entries of a store ---- */

static const struct {
    const char *name;
    size_t bytes;
    bool upper; /* the upper half of a float */
} reals[] = {{"F32", 4, false}, {"F64", 8, false}, {"F16", 2, false}, {"BF16", 2, true}};

static int type_of(const heed_array *a) {
    for (int i = 0; i < (int)(sizeof reals / sizeof *reals); i++)
        if (strcmp(reals[i].name, a->dtype) == 0) return i;
    return -1;
}

/* What a double beyond the range of heed_real becomes. */
static heed_real narrow(double value) {
#ifndef HEED_F64
    if (fabs(value) > (double)FLT_MAX) return (heed_real)copysign((double)INFINITY, value);
#endif
    return (heed_real)value;
}

/* Values of another type are converted from a buffer; those of heed_real are read into place. */
bool heed__safetensors_reals(heed_ctx *c, const heed_safetensors *f, const heed_array *a,
                             heed_real *out) {
    int type = type_of(a);
    if (type < 0)
        return heed_fail(c, HEED_DATA, "tensor %s: expected F32, F64, F16 or BF16, found %s",
                         a->name, a->dtype);
    size_t each = reals[type].bytes;
    if (each == sizeof(heed_real)) return heed__safetensors_values(f, a, out);
    unsigned char *data = heed__alloc(c, a->bytes);
    bool ok = data && heed__safetensors_values(f, a, data);
    for (size_t i = 0; ok && i < a->bytes / each; i++) {
        uint64_t bits = heed__little(data + i * each, each);
        out[i] =
            narrow(reals[type].upper ? heed__real_of(bits << 16, 4) : heed__real_of(bits, each));
    }
    heed__free(data);
    return ok;
}

/* "(2,3)", as heed_shape_text writes it. */
static void put_shape(char *text, size_t size, const heed_array *a) {
    int used = snprintf(text, size, "(");
    for (int i = 0; i < a->dims; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%lld", i ? "," : "",
                         (long long)a->shape[i]);
    snprintf(text + used, size - (size_t)used, ")");
}

static bool check(heed_ctx *c, const char *path, const heed_param *e, const heed_array *a) {
    if (!a)
        return heed_fail(c, HEED_DATA,
                         "cannot load %s: tensor %s: expected, but not found; hint: the file "
                         "belongs to a model of another kind or depth",
                         path, e->name);
    if (type_of(a) < 0)
        return heed_fail(c, HEED_DATA,
                         "cannot load %s: tensor %s: expected F32, F64, F16 or BF16, found %s",
                         path, e->name, a->dtype);
    char wanted[64], found[8 * 22];
    put_shape(found, sizeof found, a);
    return strcmp(found, heed_shape_text(e->tensor, wanted, sizeof wanted)) == 0 ||
           heed_fail(c, HEED_DATA,
                     "cannot load %s: tensor %s: expected shape %s, found %s; hint: the file "
                     "belongs to a model with other settings",
                     path, e->name, wanted, found);
}

static bool no_extra(heed_ctx *c, const char *path, const heed_params *s,
                     const heed_safetensors *f) {
    char quoted[HEED_QUOTE];
    for (int i = 0; i < heed_safetensors_count(f); i++) {
        const char *name = heed_safetensors_at(f, i)->name;
        if (heed_params_find(s, name)) continue;
        return heed_fail(c, HEED_DATA,
                         "cannot load %s: tensor %s: found, but this model has none of that name; "
                         "hint: the file belongs to a model of another kind or depth",
                         path, heed_quote(quoted, name, strlen(name)));
    }
    return true;
}

bool heed__load_parsed(heed_params *s, const char *path, const heed_safetensors *f) {
    heed_ctx *c = heed_params_ctx(s);
    if (heed__stopped(c) || !path || !f) return false;
    bool ok = no_extra(c, path, s, f);
    for (int i = 0; ok && i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        const heed_array *a = heed__safetensors_find(f, e->name);
        ok = (!a && heed__of(e->tensor)->optional) || check(c, path, e, a);
    }
    for (int i = 0; ok && i < heed_params_count(s); i++) {
        heed_param *e = heed_params_at(s, i);
        const heed_array *a = heed__safetensors_find(f, e->name);
        if (a)
            ok = heed__safetensors_reals(c, f, a, e->tensor->x);
        else
            e->tensor->x[0] = 0;
        if (ok) heed__store_known(e);
    }
    return ok;
}

static bool load_and_close(heed_params *s, const char *path, heed_safetensors *f) {
    bool ok = heed__load_parsed(s, path, f);
    heed_safetensors_close(f);
    return ok;
}

bool heed_load(heed_params *s, const char *path) {
    return load_and_close(s, path, heed__safetensors_head(heed_params_ctx(s), path));
}

bool heed_load_bytes(heed_params *s, const void *bytes, size_t n) {
    static const char path[] = "weights in memory";
    heed_ctx *c = heed_params_ctx(s);
    if (heed__stopped(c)) return false;
    if (!bytes) return heed_fail(c, HEED_USAGE, "cannot load %s: expected bytes, found NULL", path);
    unsigned char *copy = heed__alloc(c, n);
    if (!copy) return false;
    memcpy(copy, bytes, n);
    return load_and_close(s, path, heed__safetensors_parse(c, path, copy, n));
}

/* ---- saving them ---- */

#ifdef HEED_F64
#define DTYPE "F64"
#else
#define DTYPE "F32"
#endif

typedef struct {
    const char *key, *value;
} pair;

static int by_key(const void *a, const void *b) {
    return strcmp(((const pair *)a)->key, ((const pair *)b)->key);
}

static int by_name(const void *a, const void *b) {
    const heed_param *x = *(heed_param *const *)a, *y = *(heed_param *const *)b;
    return strcmp(x->name, y->name);
}

/* Names must read back unchanged, which only valid UTF-8 does. */
static bool is_utf8(heed_ctx *c, const char *name) {
    size_t n = strlen(name);
    return heed__utf8_valid(name, n) == n ||
           heed_reject(c, HEED_USAGE,
                       (heed_problem){"name is wrong", .expected = "UTF-8", .text = name, .n = n});
}

/* Loaders of Hugging Face models require "format":"pt". */
static bool put_meta(heed_text *out, const char *const *meta) {
    size_t count = 0, given = 0;
    while (meta && meta[given] && meta[given + 1]) given += 2;
    pair *pairs = heed__alloc_array(out->c, given / 2 + 1, sizeof *pairs);
    if (!pairs) return false;
    bool format = false;
    for (; count < given / 2; count++) {
        pairs[count] = (pair){meta[2 * count], meta[2 * count + 1]};
        format = format || strcmp(pairs[count].key, "format") == 0;
    }
    if (!format) pairs[count++] = (pair){"format", "pt"};
    qsort(pairs, count, sizeof *pairs, by_key);
    bool ok = true;
    heed_json_open(out, "__metadata__", '{');
    for (size_t i = 0; ok && i < count; i++) {
        if (i && strcmp(pairs[i - 1].key, pairs[i].key) == 0)
            ok = heed_fail(out->c, HEED_USAGE, "metadata key %s is given twice", pairs[i].key);
        ok = ok && is_utf8(out->c, pairs[i].key) && is_utf8(out->c, pairs[i].value);
        if (ok) heed_json_text(out, pairs[i].key, pairs[i].value);
    }
    heed_json_close(out, '}');
    heed__free(pairs);
    return ok;
}

static bool put_entry(heed_text *out, const heed_param *e, size_t *offset) {
    const heed_tensor *t = e->tensor;
    if (!is_utf8(out->c, e->name)) return false;
    heed_json_open(out, e->name, '{');
    heed_json_text(out, "dtype", DTYPE);
    heed_json_open(out, "shape", '[');
    for (int i = 0; i < t->dims; i++) heed_json_int(out, NULL, t->shape[i]);
    heed_json_close(out, ']');
    heed_json_open(out, "data_offsets", '[');
    heed_json_int(out, NULL, (int64_t)*offset);
    *offset += t->size * sizeof(heed_real);
    heed_json_int(out, NULL, (int64_t)*offset);
    heed_json_close(out, ']');
    heed_json_close(out, '}');
    return !heed__stopped(out->c);
}

static bool put_header(heed_text *out, heed_param *const *entries, size_t count,
                       const char *const *meta) {
    size_t offset = 0;
    heed_json_open(out, NULL, '{');
    bool ok = put_meta(out, meta);
    for (size_t i = 0; ok && i < count; i++) ok = put_entry(out, entries[i], &offset);
    heed_json_close(out, '}');
    while (ok && out->n % 8) ok = heed_text_put(out, " ", 1);
    return ok;
}

bool heed__save_meta(const heed_params *s, const char *path, const char *const *meta) {
    heed_ctx *c = heed_params_ctx(s);
    if (heed__stopped(c) || !path) return false;
    size_t all = (size_t)heed_params_count(s), count = 0;
    heed_text header = {.c = c};
    heed_param **entries = heed__alloc_array(c, all, sizeof(heed_param *));
    heed__piece *pieces = heed__alloc_array(c, all + 2, sizeof *pieces);
    for (size_t i = 0; entries && i < all; i++) {
        heed_param *e = heed_params_at(s, (int)i);
        if (heed__saves(e)) entries[count++] = e;
    }
    if (entries) qsort(entries, count, sizeof(heed_param *), by_name);
    bool ok = entries && pieces && put_header(&header, entries, count, meta);
    for (size_t i = 0; ok && i < count; i++) {
        const heed_tensor *t = entries[i]->tensor;
        pieces[i + 2] = (heed__piece){t->x, t->size * sizeof(heed_real)};
    }
    uint64_t length = header.n;
    if (ok) pieces[0] = (heed__piece){&length, sizeof length};
    if (ok) pieces[1] = (heed__piece){header.s, header.n};
    ok = ok && heed__os_write(c, path, pieces, (int)count + 2);
    heed_text_free(&header);
    heed__free(entries);
    heed__free(pieces);
    return ok;
}

bool heed_save(const heed_params *s, const char *path) { return heed__save_meta(s, path, NULL); }
