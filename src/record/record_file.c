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

/* The columns of a line before the query: names contain neither quotes nor commas. */
static void put_matrix(heed_text *out, const heed_record *r, const char *head, int queries,
                       int keys, const heed_real *x) {
    const heed_record_axis *q = &r->axes[queries], *k = &r->axes[keys];
    char number[HEED__NUMBER];
    for (int i = 0; i < q->count; i++)
        for (int j = 0; j < k->count; j++) {
            heed_text_add(out, "%s,%d,%d", head, i + 1, j + 1);
            put_label(out, q, i);
            put_label(out, k, j);
            double v = (double)x[(size_t)i * (size_t)k->count + (size_t)j];
            heed_text_add(out, ",%s\n", heed__number_text(number, v, 9));
        }
}

static void put_blocks(heed_text *out, const heed_record *r) {
    for (int i = 0; i < r->block_count; i++) {
        const heed_record_block *b = &r->blocks[i];
        size_t square = (size_t)r->axes[b->queries].count * (size_t)r->axes[b->keys].count;
        for (int h = 0; b->weights && h < b->heads; h++) {
            heed_text head = {.c = out->c};
            if (heed_text_add(&head, "%s,%s,%d,%d", b->path ? b->path : "",
                              heed_stack_name(b->stack), b->layer + 1,
                              (b->head ? b->head[h] : h) + 1))
                put_matrix(out, r, head.s, b->queries, b->keys, b->weights + (size_t)h * square);
            heed_text_free(&head);
        }
    }
}

static void put_maps(heed_text *out, const heed_record *r) {
    for (int i = 0; i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        char layer[16] = "", number[16] = "";
        heed_text head = {.c = out->c};
        if (m->layer >= 0) snprintf(layer, sizeof layer, "%d", m->layer + 1);
        if (m->head >= 0) snprintf(number, sizeof number, "%d", m->head + 1);
        if (m->values && heed_text_add(&head, "%s,%s,%s,%s", m->name ? m->name : "",
                                       heed_stack_name(m->stack), layer, number))
            put_matrix(out, r, head.s, m->queries, m->keys, m->values);
        heed_text_free(&head);
    }
}

bool heed_record_csv(heed_ctx *c, const heed_record *r, const char *path) {
    heed_text out = {.c = c};
    if (heed__stopped(c) || !r || !path) return false;
    heed_text_add(&out, "path,stack,layer,head,query_position,key_position,query_token,"
                        "key_token,weight\n");
    put_blocks(&out, r);
    put_maps(&out, r);
    bool ok = heed_text_save(&out, path);
    heed_text_free(&out);
    return ok;
}

/* ---- NPZ ---- */

typedef struct {
    heed__npz_array *list;
    char (*names)[HEED__NPY_NAME];
    int count;
} archive;

static void add(archive *a, const char *path, const char *value, heed__npz_array array) {
    snprintf(a->names[a->count], sizeof *a->names, "%s%s%s", path, *value ? "." : "", value);
    array.name = a->names[a->count];
    if (array.data) a->list[a->count++] = array;
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
    size_t most = HEED__ARRAYS * (size_t)r->block_count + (size_t)r->map_count + 2;
    archive a = {heed__alloc_array(c, most, sizeof *a.list),
                 heed__alloc_array(c, most, sizeof *a.names), 0};
    heed_text json = {.c = c};
    bool ok = a.list && a.names && heed_record_json(r, false, &json);
    for (int i = 0; ok && i < r->block_count; i++) add_block(&a, r, i);
    for (int i = 0; ok && i < r->map_count; i++) {
        const heed_record_map *m = &r->maps[i];
        char name[32];
        snprintf(name, sizeof name, "maps.%d", i);
        add(&a, name, "",
            (heed__npz_array){.kind = HEED__NPZ_REAL,
                              .dims = 2,
                              .shape = {r->axes[m->queries].count, r->axes[m->keys].count},
                              .data = m->values});
    }
    if (ok) {
        add(&a, "picture", "",
            (heed__npz_array){.kind = HEED__NPZ_BYTE,
                              .dims = 3,
                              .shape = {r->height, r->width, r->channels},
                              .data = r->pixels});
        add(&a, "record", "",
            (heed__npz_array){
                .kind = HEED__NPZ_BYTE, .dims = 1, .shape = {(int)json.n}, .data = json.s});
    }
    ok = ok && heed__npz_write(c, path, a.count, a.list);
    heed_text_free(&json);
    heed__free(a.list);
    heed__free(a.names);
    return ok;
}
