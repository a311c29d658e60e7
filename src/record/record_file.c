/* record_file.c -- writes a record to a file: CSV or a NumPy archive. */
#include "core/core.h"
#include "record/weights.h"

#include <stdio.h>
#include <string.h>

/* ---- CSV ---- */

static void put_label(heed_text *out, const heed_record_axis *a, int index) {
    heed_text_put(out, ",", 1);
    heed_csv_put(out, a->labels && a->labels[index] ? a->labels[index] : "");
}

/* A line for each number. layer, head: from 0; negative: empty. */
static void put_matrix(heed_text *out, const heed_record *r, const char *name, heed_stack stack,
                       int layer, int head, int queries, int keys, const heed_real *x) {
    const heed_record_axis *q = &r->axes[queries], *k = &r->axes[keys];
    char number[HEED__NUMBER], of[2][16] = {"", ""};
    if (layer >= 0) snprintf(of[0], sizeof *of, "%d", layer + 1);
    if (head >= 0) snprintf(of[1], sizeof *of, "%d", head + 1);
    for (int i = 0; x && i < q->count; i++)
        for (int j = 0; j < k->count; j++) {
            heed_text_add(out, "%s,%s,%s,%s,%d,%d", name ? name : "", heed_stack_name(stack), of[0],
                          of[1], i + 1, j + 1);
            put_label(out, q, i);
            put_label(out, k, j);
            double v = (double)x[(size_t)i * (size_t)k->count + (size_t)j];
            heed_text_add(out, ",%s\n", heed__number_text(number, v, 9));
        }
}

bool heed_record_csv(heed_ctx *c, const heed_record *r, const char *path) {
    heed_text out = {.c = c};
    if (heed__stopped(c) || !r || !path) return false;
    if (r->table_count)
        heed__table_csv(r, &out);
    else {
        heed_text_add(&out, "path,stack,layer,head,query_position,key_position,query_token,"
                            "key_token,weight\n");
        for (int i = 0; i < r->block_count; i++) {
            const heed_record_block *b = &r->blocks[i];
            size_t square = (size_t)r->axes[b->queries].count * (size_t)r->axes[b->keys].count;
            for (int h = 0; b->weights && h < b->heads; h++)
                put_matrix(&out, r, b->path, b->stack, b->layer, b->head ? b->head[h] : h,
                           b->queries, b->keys, b->weights + (size_t)h * square);
        }
        for (int i = 0; i < r->map_count; i++) {
            const heed_record_map *m = &r->maps[i];
            put_matrix(&out, r, m->name, m->stack, m->layer, m->head, m->queries, m->keys,
                       m->values);
        }
    }
    bool ok = heed_text_save(&out, path);
    heed_text_free(&out);
    return ok;
}

/* ---- NPZ ---- */

typedef struct {
    heed_ctx *c;
    heed__npz_array *list;
    char (*names)[HEED__NPY_NAME];
    int32_t **own; /* memory that the archive frees */
    int count, owned;
} archive;

static int32_t *take(archive *a, size_t count) {
    return a->own[a->owned++] = heed__alloc_array(a->c, count, sizeof **a->own);
}

static void add(archive *a, const char *path, const char *value, heed__npz_array array) {
    snprintf(a->names[a->count], sizeof *a->names, "%s%s%s", path, *value ? "." : "", value);
    array.name = a->names[a->count];
    if (array.data) a->list[a->count++] = array;
}

/* Writes the characters of a label, at most LABEL of them, unless out is NULL; returns how many. */
enum { LABEL = 256 };
static int spell(const char *label, int32_t *out) {
    int n = 0;
    for (int32_t one; label && *label && n < LABEL; n++) {
        label += heed_utf8_read(label, SIZE_MAX, &one);
        if (out) out[n] = one < 0 ? 0xFFFD : one;
    }
    return n;
}

static void add_texts(archive *a, const char *path, const char *value, int count,
                      const char *const *labels) {
    int width = 1;
    if (!labels || count == 0) return;
    for (int i = 0; i < count; i++) {
        int n = spell(labels[i], NULL);
        if (n > width) width = n;
    }
    int32_t *x = take(a, (size_t)count * (size_t)width);
    for (int i = 0; x && i < count; i++) spell(labels[i], x + (size_t)i * (size_t)width);
    add(a, path, value,
        (heed__npz_array){
            .kind = HEED__NPZ_TEXT, .dims = 1, .shape = {count}, .width = width, .data = x});
}

/* Adds the labels of the rows and columns of the arrays at path. */
static void add_labels(archive *a, const heed_record *r, const char *path, int queries, int keys) {
    const heed_record_axis *q = &r->axes[queries], *k = &r->axes[keys];
    add_texts(a, path, "queries", q->count, q->labels);
    add_texts(a, path, "keys", k->count, k->labels);
}

static void add_block(archive *to, const heed_record *r, int index) {
    char path[HEED__NPY_NAME];
    heed_record_block b = r->blocks[index];
    heed__array a[HEED__ARRAYS];
    if (b.path)
        snprintf(path, sizeof path, "%s", b.path);
    else
        snprintf(path, sizeof path, "block.%d", index);
    heed__block_arrays(r->axes, &b, a);
    for (int i = 0; i < HEED__ARRAYS; i++)
        add(to, path, a[i].name,
            (heed__npz_array){.kind = HEED__NPZ_REAL,
                              .dims = 3,
                              .shape = {b.heads, a[i].rows, a[i].cols},
                              .data = *a[i].x});
    add_labels(to, r, path, b.queries, b.keys);
    int32_t *heads = take(to, (size_t)b.heads);
    for (int h = 0; heads && h < b.heads; h++) heads[h] = b.head ? b.head[h] : h;
    add(to, path, "heads",
        (heed__npz_array){.kind = HEED__NPZ_INT, .dims = 1, .shape = {b.heads}, .data = heads});
}

static void add_maps(archive *to, const heed_record *r) {
    const char **names = heed__alloc_array(to->c, (size_t)r->map_count, sizeof *names);
    for (int i = 0; names && i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        char path[32];
        snprintf(path, sizeof path, "maps.%d", i);
        names[i] = m->name;
        add(to, path, "",
            (heed__npz_array){.kind = HEED__NPZ_REAL,
                              .dims = 2,
                              .shape = {r->axes[m->queries].count, r->axes[m->keys].count},
                              .data = m->values});
        add_labels(to, r, path, m->queries, m->keys);
    }
    add_texts(to, "maps", "", r->map_count, names);
    heed__free((void *)names);
}

/* A truncated name would not be found on reading. */
static bool names_fit(heed_ctx *c, const heed_record *r) {
    enum { MOST = HEED__NPY_NAME - (int)sizeof ".weights" };
    for (int i = 0; i < r->block_count; i++) {
        const char *path = r->blocks[i].path;
        if (path && strlen(path) > MOST)
            return heed_fail(c, HEED_USAGE,
                             "name of a layer is too long: %s: expected at most %d bytes, found "
                             "%zu",
                             path, (int)MOST, strlen(path));
    }
    return true;
}

bool heed_record_npz(heed_ctx *c, const heed_record *r, const char *path) {
    if (heed__stopped(c) || !r || !path || !names_fit(c, r)) return false;
    size_t most = (HEED__ARRAYS + 3) * (size_t)r->block_count + 3 * (size_t)r->map_count + 3;
    archive a = {.c = c,
                 .list = heed__alloc_array(c, most, sizeof *a.list),
                 .names = heed__alloc_array(c, most, sizeof *a.names),
                 .own = heed__alloc_array(c, most, sizeof *a.own)};
    heed_text json = {.c = c};
    bool ok = a.list && a.names && a.own && heed_record_json(r, false, &json);
    for (int i = 0; ok && i < r->block_count; i++) add_block(&a, r, i);
    if (ok) {
        add_maps(&a, r);
        add(&a, "picture", "",
            (heed__npz_array){.kind = HEED__NPZ_BYTE,
                              .dims = 3,
                              .shape = {r->height, r->width, r->channels},
                              .data = r->pixels});
        add(&a, "record", "",
            (heed__npz_array){
                .kind = HEED__NPZ_BYTE, .dims = 1, .shape = {(int)json.n}, .data = json.s});
    }
    ok = ok && heed_ctx_status(c) == HEED_OK && heed__npz_write(c, path, a.count, a.list);
    while (a.owned) heed__free(a.own[--a.owned]);
    heed__free(a.own);
    heed_text_free(&json);
    heed__free(a.list);
    heed__free(a.names);
    return ok;
}
