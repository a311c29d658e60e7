/* save.c -- a store as a safetensors file, byte for byte as the reference writer makes it: metadata
 * first, tensors by dtype (one here) and name, the header padded with blanks to a multiple of 8. */
#include "core/core.h"
#include "core/os.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

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
    const heed_entry *x = *(heed_entry *const *)a, *y = *(heed_entry *const *)b;
    return strcmp(x->name, y->name);
}

/* Names must read back unchanged, which only valid UTF-8 does. */
static bool is_utf8(heed_ctx *c, const char *name) {
    size_t n = strlen(name);
    return heed_utf8_valid(name, n) == n ||
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

static bool put_entry(heed_text *out, const heed_entry *e, size_t *offset) {
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

static bool put_header(heed_text *out, heed_entry *const *entries, size_t count,
                       const char *const *meta) {
    size_t offset = 0;
    heed_json_open(out, NULL, '{');
    bool ok = put_meta(out, meta);
    for (size_t i = 0; ok && i < count; i++) ok = put_entry(out, entries[i], &offset);
    heed_json_close(out, '}');
    while (ok && out->n % 8) ok = heed_text_put(out, " ", 1);
    return ok;
}

bool heed_save_meta(const heed_store *s, const char *path, const char *const *meta) {
    heed_ctx *c = heed_store_ctx(s);
    if (heed__stopped(c) || !path) return false;
    size_t all = (size_t)heed_store_count(s), count = 0;
    heed_text header = {.c = c};
    heed_entry **entries = heed__alloc_array(c, all, sizeof(heed_entry *));
    heed__piece *pieces = heed__alloc_array(c, all + 2, sizeof *pieces);
    for (size_t i = 0; entries && i < all; i++) {
        heed_entry *e = heed_store_at(s, (int)i);
        if (heed__saves(e)) entries[count++] = e;
    }
    if (entries) qsort(entries, count, sizeof(heed_entry *), by_name);
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

bool heed_save(const heed_store *s, const char *path) { return heed_save_meta(s, path, NULL); }
