/* A record as one JSON object: what `heed attend --json` prints and `heed view` reads. Layers,
 * heads and positions count from 1 as on the screen, the axes that a part names from 0, as list
 * indices. */
#include "core/core.h"
#include "io/io.h"

#include <heed/record.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Digits that bring a value back to the same bits. */
enum { DIGITS = sizeof(heed_real) == 4 ? 9 : 17 };

static void put_key(heed_text *out, const char *key) { heed_text_add(out, ",\"%s\":", key); }

static void put_text(heed_text *out, const char *key, const char *text) {
    if (!text) return;
    put_key(out, key);
    heed__put_json(out, text);
}

static void put_int(heed_text *out, const char *key, int64_t value) {
    put_key(out, key);
    heed_text_add(out, "%lld", (long long)value);
}

/* What counts from 0 here counts from 1 there; null: of the whole model or input. */
static void put_place(heed_text *out, const char *key, int value) {
    put_key(out, key);
    if (value < 0)
        heed_text_put(out, "null", 4);
    else
        heed_text_add(out, "%d", value + 1);
}

static void put_bool(heed_text *out, const char *key, bool value) {
    put_key(out, key);
    heed_text_add(out, "%s", value ? "true" : "false");
}

static void put_number(heed_text *out, double value) {
    char text[HEED__NUMBER];
    if (value == 0 || value == 1)
        heed_text_put(out, value == 0 ? "0" : "1", 1);
    else if (isfinite(value))
        heed_text_add(out, "%s", heed__number_text(text, value, DIGITS));
    else
        heed_text_put(out, "null", 4);
}

static void put_labels(heed_text *out, const char *key, const char *const *labels, int count) {
    put_key(out, key);
    heed_text_put(out, "[", 1);
    for (int i = 0; i < count; i++) {
        if (i) heed_text_put(out, ",", 1);
        heed__put_json(out, labels && labels[i] ? labels[i] : "");
    }
    heed_text_put(out, "]", 1);
}

/* Nested lists: sizes[0] lists of sizes[1] lists ... */
static void put_array(heed_text *out, const heed_real *x, const size_t *sizes, int dims) {
    size_t each = 1;
    for (int i = 1; i < dims; i++) each *= sizes[i];
    heed_text_put(out, "[", 1);
    for (size_t i = 0; i < sizes[0]; i++) {
        if (i) heed_text_put(out, ",", 1);
        if (dims == 1)
            put_number(out, (double)x[i]);
        else
            put_array(out, x + i * each, sizes + 1, dims - 1);
    }
    heed_text_put(out, "]", 1);
}

static void put_matrices(heed_text *out, const char *key, const heed_real *x, int heads, int rows,
                         int cols) {
    if (!x) return;
    put_key(out, key);
    put_array(out, x, (size_t[]){(size_t)heads, (size_t)rows, (size_t)cols}, 3);
}

/* ---- parts ---- */

static void put_axis(heed_text *out, const heed_record_axis *a) {
    heed_text_add(out, "{\"count\":%d", a->count);
    put_text(out, "name", a->name);
    if (a->labels) put_labels(out, "labels", a->labels, a->count);
    if (a->special) {
        put_key(out, "special");
        for (int i = 0; i < a->count; i++)
            heed_text_add(out, "%c%d", i ? ',' : '[', a->special[i] != 0);
        heed_text_put(out, a->count ? "]" : "[]", a->count ? 1 : 2);
    }
    if (a->rows)
        heed_text_add(out, ",\"grid\":{\"rows\":%d,\"cols\":%d,\"first\":%d}", a->rows, a->cols,
                      a->first);
    heed_text_put(out, "}", 1);
}

static void put_block(heed_text *out, const heed_record *r, const heed_record_block *b,
                      bool arrays) {
    int q = r->axes[b->queries].count, k = r->axes[b->keys].count;
    heed_text_add(out, "{\"stack\":\"%s\"", heed_stack_name(b->stack));
    put_text(out, "path", b->path);
    put_place(out, "layer", b->layer);
    put_key(out, "heads");
    for (int i = 0; i < b->heads; i++)
        heed_text_add(out, "%c%d", i ? ',' : '[', (b->head ? b->head[i] : i) + 1);
    heed_text_put(out, b->heads ? "]" : "[]", b->heads ? 1 : 2);
    put_int(out, "queries", b->queries);
    put_int(out, "keys", b->keys);
    put_int(out, "key", b->key);
    put_int(out, "value", b->value);
    put_key(out, "beta");
    put_number(out, b->beta);
    put_bool(out, "causal", b->causal);
    put_bool(out, "hard", b->hard);
    put_bool(out, "additive", b->additive);
    if (arrays) {
        put_matrices(out, "weights", b->weights, b->heads, q, k);
        put_matrices(out, "raw", b->raw, b->heads, q, k);
        put_matrices(out, "scores", b->scores, b->heads, q, k);
        put_matrices(out, "q", b->q, b->heads, q, b->key);
        put_matrices(out, "k", b->k, b->heads, k, b->key);
        put_matrices(out, "v", b->v, b->heads, k, b->value);
        put_matrices(out, "align", b->align, b->heads, 1, b->key);
    }
    heed_text_put(out, "}", 1);
}

static void put_map(heed_text *out, const heed_record *r, const heed_record_map *m, bool arrays) {
    size_t sizes[] = {(size_t)r->axes[m->queries].count, (size_t)r->axes[m->keys].count};
    heed_text_add(out, "{\"stack\":\"%s\"", heed_stack_name(m->stack));
    put_text(out, "name", m->name);
    put_text(out, "help", m->help);
    put_place(out, "layer", m->layer);
    put_place(out, "head", m->head);
    put_int(out, "queries", m->queries);
    put_int(out, "keys", m->keys);
    if (arrays && m->values) {
        put_key(out, "values");
        put_array(out, m->values, sizes, 2);
    }
    heed_text_put(out, "}", 1);
}

static void put_guess(heed_text *out, const heed_record_guess *g) {
    heed_text_add(out, "{\"axis\":%d", g->axis);
    put_place(out, "position", g->query);
    put_text(out, "says", g->says);
    put_key(out, "tokens");
    heed_text_put(out, "[", 1);
    for (int i = 0; i < g->count; i++) {
        heed_text_add(out, "%s{\"token\":", i ? "," : "");
        heed__put_json(out, g->labels[i]);
        put_key(out, "p");
        put_number(out, (double)g->p[i]);
        heed_text_put(out, "}", 1);
    }
    heed_text_put(out, "]}", 2);
}

static void put_picture(heed_text *out, const heed_record *r, bool arrays) {
    heed_text_add(out, ",\"picture\":{\"width\":%d,\"height\":%d,\"channels\":%d", r->width,
                  r->height, r->channels);
    if (arrays) {
        heed_text_add(out, ",\"png_base64\":\"");
        heed__put_png(out, "the picture",
                      (heed__pixels){r->pixels, r->width, r->height, r->channels});
        heed_text_put(out, "\"", 1);
    }
    heed_text_put(out, "}", 1);
}

bool heed_record_json(const heed_record *r, bool arrays, heed_text *out) {
    if (!r || !out) return false;
    heed_text_add(out, "{\"heed\":\"attention 2\"");
    put_text(out, "title", r->title);
    put_text(out, "model", r->model);
    put_text(out, "task", r->task);
    put_text(out, "note", r->note);
    put_int(out, "step", r->step);
    heed_text_add(out, ",\"axes\":[");
    for (int i = 0; i < r->axis_count; i++) {
        if (i) heed_text_put(out, ",", 1);
        put_axis(out, &r->axes[i]);
    }
    heed_text_add(out, "],\"blocks\":[");
    for (int i = 0; i < r->block_count; i++) {
        if (i) heed_text_put(out, ",", 1);
        put_block(out, r, &r->blocks[i], arrays);
    }
    heed_text_add(out, "],\"maps\":[");
    for (int i = 0; i < r->map_count; i++) {
        if (i) heed_text_put(out, ",", 1);
        put_map(out, r, &r->maps[i], arrays);
    }
    heed_text_add(out, "],\"guesses\":[");
    for (int i = 0; i < r->guess_count; i++) {
        if (i) heed_text_put(out, ",", 1);
        put_guess(out, &r->guesses[i]);
    }
    heed_text_put(out, "]", 1);
    if (r->pixels) put_picture(out, r, arrays);
    return heed_text_put(out, "}", 1) && heed_ctx_status(out->c) == HEED_OK;
}
