/* record_json.c -- a record as one JSON object: what `heed attend --json` prints and `heed view`
 * and the page read. Layers, heads and positions count from 1, as on the screen; indices of axes
 * count from 0, as list indices. */
#include "core/core.h"
#include "record/weights.h"

/* Digits from which a value is read back to the same bits. */
enum { DIGITS = sizeof(heed_real) == 4 ? 9 : 17 };

static void put_text(heed_text *out, const char *key, const char *text) {
    if (text) heed_json_text(out, key, text);
}

/* Writes a number that counts from 0 as one that counts from 1; negative: null, the entire model or
 * input. */
static void put_place(heed_text *out, const char *key, int value) {
    if (value < 0)
        heed_json_text(out, key, NULL);
    else
        heed_json_int(out, key, value + 1);
}

/* Nested lists: sizes[0] lists of sizes[1] lists ... */
static void put_array(heed_text *out, const char *key, const heed_real *x, const size_t *sizes,
                      int dims) {
    size_t each = 1;
    for (int i = 1; i < dims; i++) each *= sizes[i];
    heed_json_open(out, key, '[');
    for (size_t i = 0; i < sizes[0]; i++)
        if (dims == 1)
            heed_json_real(out, NULL, (double)x[i], DIGITS);
        else
            put_array(out, NULL, x + i * each, sizes + 1, dims - 1);
    heed_json_close(out, ']');
}

/* ---- parts ---- */

static void put_axis(heed_text *out, const heed_record_axis *a) {
    heed_json_open(out, NULL, '{');
    heed_json_int(out, "count", a->count);
    put_text(out, "name", a->name);
    if (a->labels) {
        heed_json_open(out, "labels", '[');
        for (int i = 0; i < a->count; i++)
            heed_json_text(out, NULL, a->labels[i] ? a->labels[i] : "");
        heed_json_close(out, ']');
    }
    if (a->special) {
        heed_json_open(out, "special", '[');
        for (int i = 0; i < a->count; i++) heed_json_int(out, NULL, a->special[i] != 0);
        heed_json_close(out, ']');
    }
    if (a->rows) {
        heed_json_open(out, "grid", '{');
        heed_json_int(out, "rows", a->rows);
        heed_json_int(out, "cols", a->cols);
        heed_json_int(out, "first", a->first);
        heed_json_close(out, '}');
    }
    heed_json_close(out, '}');
}

static void put_block(heed_text *out, const heed_record *r, const heed_record_block *b,
                      bool arrays) {
    heed_record_block copy = *b;
    heed__array a[HEED__ARRAYS];
    heed__block_arrays(r->axes, &copy, a);
    heed_json_open(out, NULL, '{');
    heed_json_text(out, "stack", heed_stack_name(b->stack));
    put_text(out, "path", b->path);
    put_place(out, "layer", b->layer);
    heed_json_open(out, "heads", '[');
    for (int i = 0; i < b->heads; i++) heed_json_int(out, NULL, (b->head ? b->head[i] : i) + 1);
    heed_json_close(out, ']');
    heed_json_int(out, "queries", b->queries);
    heed_json_int(out, "keys", b->keys);
    heed_json_int(out, "key", b->key);
    heed_json_int(out, "value", b->value);
    if (b->kv_heads) heed_json_int(out, "kv_heads", b->kv_heads);
    heed_json_real(out, "beta", b->beta, DIGITS);
    if (b->rotary > 0) heed_json_real(out, "rotary", b->rotary, DIGITS);
    heed_json_bool(out, "causal", b->causal);
    heed_json_bool(out, "hard", b->hard);
    heed_json_bool(out, "additive", b->additive);
    for (int i = 0; arrays && i < HEED__ARRAYS; i++) {
        size_t sizes[] = {(size_t)b->heads, (size_t)a[i].rows, (size_t)a[i].cols};
        if (*a[i].x) put_array(out, a[i].name, *a[i].x, sizes, 3);
    }
    heed_json_close(out, '}');
}

static void put_map(heed_text *out, const heed_record *r, const heed_record_map *m, bool arrays) {
    size_t sizes[] = {(size_t)r->axes[m->queries].count, (size_t)r->axes[m->keys].count};
    heed_json_open(out, NULL, '{');
    heed_json_text(out, "stack", heed_stack_name(m->stack));
    put_text(out, "name", m->name);
    put_text(out, "help", m->help);
    put_place(out, "layer", m->layer);
    put_place(out, "head", m->head);
    heed_json_int(out, "queries", m->queries);
    heed_json_int(out, "keys", m->keys);
    if (arrays && m->values) put_array(out, "values", m->values, sizes, 2);
    heed_json_close(out, '}');
}

static void put_guess(heed_text *out, const heed_record_guess *g) {
    heed_json_open(out, NULL, '{');
    heed_json_int(out, "axis", g->axis);
    put_place(out, "position", g->query);
    put_text(out, "says", g->says);
    heed_json_open(out, "tokens", '[');
    for (int i = 0; i < g->count; i++) {
        heed_json_open(out, NULL, '{');
        put_text(out, "token", g->labels[i]);
        heed_json_real(out, "p", (double)g->p[i], DIGITS);
        heed_json_close(out, '}');
    }
    heed_json_close(out, ']');
    heed_json_close(out, '}');
}

static void put_picture(heed_text *out, const heed_record *r, bool arrays) {
    heed_json_open(out, "picture", '{');
    heed_json_int(out, "width", r->width);
    heed_json_int(out, "height", r->height);
    heed_json_int(out, "channels", r->channels);
    if (arrays) {
        heed_text_add(out, ",\"png_base64\":\"");
        heed__put_png(out, "the picture",
                      (heed__pixels){r->pixels, r->width, r->height, r->channels});
        heed_text_put(out, "\"", 1);
    }
    heed_json_close(out, '}');
}

bool heed_record_json(const heed_record *r, bool arrays, heed_text *out) {
    if (!r || !out) return false;
    heed_json_open(out, NULL, '{');
    heed_json_text(out, "heed", "attention 2");
    put_text(out, "title", r->title);
    put_text(out, "model", r->model);
    put_text(out, "task", r->task);
    put_text(out, "note", r->note);
    put_text(out, "run", r->run);
    if (r->step >= 0) heed_json_int(out, "step", r->step);
    heed_json_open(out, "axes", '[');
    for (int i = 0; i < r->axis_count; i++) put_axis(out, &r->axes[i]);
    heed_json_close(out, ']');
    heed_json_open(out, "blocks", '[');
    for (int i = 0; i < r->block_count; i++) put_block(out, r, &r->blocks[i], arrays);
    heed_json_close(out, ']');
    heed_json_open(out, "maps", '[');
    for (int i = 0; i < r->map_count; i++) put_map(out, r, &r->maps[i], arrays);
    heed_json_close(out, ']');
    heed_json_open(out, "guesses", '[');
    for (int i = 0; i < r->guess_count; i++) put_guess(out, &r->guesses[i]);
    heed_json_close(out, ']');
    if (r->pixels) put_picture(out, r, arrays);
    if (r->table_count) heed_record_table_json(r, "tables", out);
    heed_json_close(out, '}');
    return heed_ctx_status(out->c) == HEED_OK;
}
