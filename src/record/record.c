/* record.c -- a record that owns copies of its parts, which are added one by one. */
#include "core/core.h"
#include "record/weights.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    heed__owned own;
    heed_ctx *c;
    heed_record r;
    heed_record_axis *axes;
    heed_record_block *blocks;
    heed_record_map *maps;
    heed_record_guess *guesses;
    heed_record_table *tables;
    heed_record_column *columns; /* of the last table */
    size_t axis_capacity, block_capacity, map_capacity, guess_capacity, table_capacity;
    void **pieces; /* all memory to which the parts point */
    size_t piece_count, piece_capacity;
} keeper;

enum { COLUMNS = 32 }; /* most of a table */

static keeper *keeper_of(heed_record *r) {
    return (keeper *)(void *)((char *)r - offsetof(keeper, r));
}

static void free_keeper(heed__owned *own) {
    keeper *k = (keeper *)own;
    for (size_t i = 0; i < k->piece_count; i++) heed__free(k->pieces[i]);
    heed__free(k->pieces);
    heed__free(k->axes);
    heed__free(k->blocks);
    heed__free(k->maps);
    heed__free(k->guesses);
    heed__free(k->tables);
    heed__free(k);
}

heed_record *heed_record_new(heed_ctx *c) {
    if (heed__stopped(c)) return NULL;
    keeper *k = heed__alloc(c, sizeof *k);
    if (!k) return NULL;
    k->c = c;
    k->r.step = -1;
    heed__own(c, &k->own, free_keeper);
    return &k->r;
}

void heed_record_free(heed_record *r) {
    if (!r) return;
    keeper *k = keeper_of(r);
    heed__disown(k->c, &k->own);
    free_keeper(&k->own);
}

/* ---- copies ---- */

/* Reserves an entry for the next piece of memory that the record will free. */
static bool reserve_piece(keeper *k) {
    return heed__grow(k->c, &k->pieces, &k->piece_capacity, k->piece_count + 1, sizeof *k->pieces);
}

static void *new_piece(keeper *k, size_t count, size_t each) {
    void *p = reserve_piece(k) ? heed__alloc_array(k->c, count ? count : 1, each) : NULL;
    if (p) k->pieces[k->piece_count++] = p;
    return p;
}

static bool check_size(const keeper *k, const char *what, int size, int least) {
    return size >= least ||
           heed_fail(k->c, HEED_USAGE, "record: %s: expected at least %d, found %d", what, least,
                     size);
}

/* Replaces the pointer *at by one to a copy of its data; NULL is kept. */
static bool own(keeper *k, void *at, size_t count, size_t each) {
    const void *from;
    memcpy(&from, at, sizeof from);
    if (!from) return true;
    void *copy = new_piece(k, count, each);
    if (!copy) return false;
    if (count) memcpy(copy, from, count * each);
    memcpy(at, &copy, sizeof copy);
    return true;
}

/* Like own, for a text, with invalid UTF-8 escaped. */
static bool own_text(keeper *k, const char **text) {
    if (!*text) return true;
    heed_text copy = {.c = k->c};
    if (!reserve_piece(k) || !heed__utf8_put(&copy, *text, strlen(*text))) {
        heed_text_free(&copy);
        return false;
    }
    k->pieces[k->piece_count++] = copy.s;
    *text = copy.s;
    return true;
}

static bool own_texts(keeper *k, const char *const **list, int count) {
    if (!*list) return true;
    const char **copy = new_piece(k, (size_t)count, sizeof *copy);
    for (int i = 0; copy && i < count; i++) {
        copy[i] = (*list)[i] ? (*list)[i] : "";
        if (!own_text(k, &copy[i])) return false;
    }
    *list = copy;
    return copy != NULL;
}

/* ---- parts ---- */

int heed_record_add_axis(heed_record *r, const heed_record_axis *a) {
    keeper *k = r && a ? keeper_of(r) : NULL;
    if (!k || heed__stopped(k->c) || !check_size(k, "count of an axis", a->count, 0) ||
        !heed__grow(k->c, &k->axes, &k->axis_capacity, (size_t)r->axis_count + 1, sizeof *k->axes))
        return -1;
    r->axes = k->axes;
    heed_record_axis *own_axis = &k->axes[r->axis_count];
    *own_axis = *a;
    if (!own_text(k, &own_axis->name) || !own_texts(k, &own_axis->labels, a->count) ||
        !own_texts(k, &own_axis->words, a->count) ||
        !own(k, &own_axis->special, (size_t)a->count, 1))
        return -1;
    return r->axis_count++;
}

static bool has_axes(keeper *k, int queries, int keys) {
    int n = k->r.axis_count;
    return (queries >= 0 && queries < n && keys >= 0 && keys < n) ||
           heed_fail(k->c, HEED_USAGE,
                     "a record lacks an axis: expected queries and keys among %d, found %d and %d",
                     n, queries, keys);
}

void heed__block_arrays(const heed_record_axis *axes, heed_record_block *b,
                        heed__array out[HEED__ARRAYS]) {
    int queries = axes[b->queries].count, keys = axes[b->keys].count;
    const heed__array all[HEED__ARRAYS] = {{"weights", queries, keys, &b->weights},
                                           {"raw", queries, keys, &b->raw},
                                           {"scores", queries, keys, &b->scores},
                                           {"q", queries, b->key, &b->q},
                                           {"k", keys, b->key, &b->k},
                                           {"v", keys, b->value, &b->v},
                                           {"align", 1, b->key, &b->align}};
    memcpy(out, all, sizeof all);
}

int heed_record_add_block(heed_record *r, const heed_record_block *b) {
    keeper *k = r && b ? keeper_of(r) : NULL;
    if (!k || heed__stopped(k->c) || !has_axes(k, b->queries, b->keys) ||
        !check_size(k, "heads", b->heads, 0) || !check_size(k, "key", b->key, 0) ||
        !check_size(k, "value", b->value, 0) ||
        !heed__grow(k->c, &k->blocks, &k->block_capacity, (size_t)r->block_count + 1,
                    sizeof *k->blocks))
        return -1;
    r->blocks = k->blocks;
    heed_record_block *own_b = &k->blocks[r->block_count];
    heed__array a[HEED__ARRAYS];
    *own_b = *b;
    size_t heads = (size_t)b->heads;
    heed__block_arrays(k->axes, own_b, a);
    for (int i = 0; i < HEED__ARRAYS; i++)
        if (!own(k, a[i].x, heads * (size_t)a[i].rows * (size_t)a[i].cols, sizeof(heed_real)))
            return -1;
    if (!own(k, &own_b->head, heads, sizeof *b->head) || !own_text(k, &own_b->path)) return -1;
    return r->block_count++;
}

int heed_record_add_map(heed_record *r, const heed_record_map *m) {
    keeper *k = r && m ? keeper_of(r) : NULL;
    if (!k || heed__stopped(k->c) || !has_axes(k, m->queries, m->keys) ||
        !heed__grow(k->c, &k->maps, &k->map_capacity, (size_t)r->map_count + 1, sizeof *k->maps))
        return -1;
    r->maps = k->maps;
    heed_record_map *own_map = &k->maps[r->map_count];
    *own_map = *m;
    size_t n = (size_t)k->axes[m->queries].count * (size_t)k->axes[m->keys].count;
    if (!own_text(k, &own_map->name) || !own_text(k, &own_map->help) ||
        !own(k, &own_map->values, n, sizeof *m->values))
        return -1;
    return r->map_count++;
}

int heed_record_add_guess(heed_record *r, const heed_record_guess *g) {
    keeper *k = r && g ? keeper_of(r) : NULL;
    if (!k || heed__stopped(k->c) || !has_axes(k, g->axis, g->axis) || g->count < 0 ||
        (g->count && (!g->labels || !g->p)) ||
        !heed__grow(k->c, &k->guesses, &k->guess_capacity, (size_t)r->guess_count + 1,
                    sizeof *k->guesses))
        return -1;
    r->guesses = k->guesses;
    heed_record_guess *own_guess = &k->guesses[r->guess_count];
    *own_guess = *g;
    if (!own_text(k, &own_guess->says) || !own_texts(k, &own_guess->labels, g->count) ||
        !own(k, &own_guess->p, (size_t)g->count, sizeof *g->p))
        return -1;
    return r->guess_count++;
}

bool heed_record_add_table(heed_record *r, const char *name, const char *by, int rows) {
    keeper *k = r ? keeper_of(r) : NULL;
    if (!k || heed__stopped(k->c) || !check_size(k, "rows of a table", rows, 0) ||
        !heed__grow(k->c, &k->tables, &k->table_capacity, (size_t)r->table_count + 1,
                    sizeof *k->tables))
        return false;
    r->tables = k->tables;
    heed_record_table *t = &k->tables[r->table_count];
    *t = (heed_record_table){.name = name, .by = by, .rows = rows};
    t->columns = k->columns = new_piece(k, COLUMNS, sizeof *k->columns);
    if (!k->columns || !own_text(k, &t->name) || !own_text(k, &t->by)) return false;
    r->table_count++;
    return true;
}

double *heed_record_add_column(heed_record *r, heed_record_column c) {
    keeper *k = r && r->table_count ? keeper_of(r) : NULL;
    if (!k || heed__stopped(k->c)) return NULL;
    heed_record_table *t = &k->tables[r->table_count - 1];
    size_t rows = (size_t)t->rows;
    double *numbers = c.texts ? NULL : new_piece(k, rows, sizeof *numbers);
    if (t->count == COLUMNS)
        heed_fail(k->c, HEED_USAGE, "record: a table has more than %d columns", COLUMNS);
    if (!own_text(k, &c.key) || !own_text(k, &c.head) || !own_text(k, &c.help) ||
        !own_text(k, &c.format) || !own_texts(k, &c.texts, t->rows) || heed__stopped(k->c))
        return NULL;
    if (numbers && c.values) memcpy(numbers, c.values, rows * sizeof *numbers);
    c.values = numbers;
    k->columns[t->count++] = c;
    return numbers;
}

/* Swaps a row of an array, which is a piece of the record, with the one before it. */
static void swap_rows(const void *array, size_t each, int row) {
    char *at, kept[sizeof(double)];
    memcpy(&at, &array, sizeof at);
    at += (size_t)row * each;
    memcpy(kept, at, each);
    memcpy(at, at - each, each);
    memcpy(at - each, kept, each);
}

bool heed_record_sort(heed_record *r, const char *table, const char *key) {
    const heed_record_column *by = heed_record_find(r, table, key);
    const heed_record_table *t = r ? r->tables : NULL;
    if (!by || !by->values) return false;
    while (by < t->columns || by >= t->columns + t->count) t++;
    for (int i = 1; i < t->rows; i++)
        for (int k = i; k > 0 && (by->values[k] > by->values[k - 1] ||
                                  (isnan(by->values[k - 1]) && !isnan(by->values[k])));
             k--)
            for (const heed_record_column *c = t->columns; c < t->columns + t->count; c++)
                if (c->texts)
                    swap_rows(c->texts, sizeof *c->texts, k);
                else
                    swap_rows(c->values, sizeof *c->values, k);
    return true;
}

bool heed_record_describe(heed_record *r, heed_record_texts t) {
    if (!r) return false;
    keeper *k = keeper_of(r);
    const char **own_texts_of[] = {&t.title, &t.model, &t.task, &t.note, &t.run};
    const char **to[] = {&r->title, &r->model, &r->task, &r->note, &r->run};
    for (int i = 0; i < 5; i++) {
        if (!own_text(k, own_texts_of[i])) return false;
        if (*own_texts_of[i]) *to[i] = *own_texts_of[i];
    }
    return true;
}

bool heed_record_picture(heed_record *r, const unsigned char *pixels, int width, int height,
                         int channels) {
    if (!r || !pixels) return false;
    keeper *k = keeper_of(r);
    if (!check_size(k, "width", width, 1) || !check_size(k, "height", height, 1) ||
        !check_size(k, "channels", channels, 1) ||
        !own(k, &pixels, (size_t)width * (size_t)height * (size_t)channels, 1))
        return false;
    r->pixels = pixels;
    r->width = width;
    r->height = height;
    r->channels = channels;
    return true;
}

double heed_record_bytes(const heed_record *r) {
    double n = 0;
    for (int i = 0; r && i < r->block_count; i++) {
        heed_record_block b = r->blocks[i];
        heed__array a[HEED__ARRAYS];
        heed__block_arrays(r->axes, &b, a);
        for (int k = 0; k < HEED__ARRAYS; k++)
            if (*a[k].x) n += (double)b.heads * a[k].rows * a[k].cols;
    }
    for (int i = 0; r && i < r->map_count; i++)
        n += (double)r->axes[r->maps[i].queries].count * r->axes[r->maps[i].keys].count;
    return n * sizeof(heed_real) + (r ? (double)r->width * r->height * r->channels : 0);
}

const char *heed_stack_name(heed_stack s) {
    return s == HEED_CROSS ? "cross" : s == HEED_DECODER ? "decoder" : "encoder";
}
