/* weights_own.c -- reads a record from a JSON or NPZ file written by this program. Everything is
 * checked against the axes before use. */
#include "core/core.h"
#include "record/weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const heed__source *s;
    heed_record *r;
} reader;

static bool wrong(const reader *k, const char *what) {
    return heed_fail(k->s->c, HEED_DATA, "record is wrong: %s: %s", k->s->path, what);
}

static const char *text(const json_t *v, const char *key) {
    return json_string_value(json_object_get(v, key));
}

/* Reads an integer in [lo, hi]; `without` if it is missing. */
static bool integer(const reader *k, const json_t *v, const char *key, int lo, int hi, int without,
                    int *out) {
    const json_t *n = json_object_get(v, key);
    json_int_t value = json_is_integer(n) ? json_integer_value(n) : without;
    *out = (int)value;
    return (value >= lo && value <= hi) ||
           heed_fail(k->s->c, HEED_DATA, "record is wrong: %s: %s: expected %d to %d, found %lld",
                     k->s->path, key, lo, hi, (long long)value);
}

/* Reads the number of a layer, head or position, which counts from 1; -1, meaning all, if it is
 * missing or null. */
static bool place(const reader *k, const json_t *v, const char *key, int most, int *out) {
    bool ok = integer(k, v, key, 0, most + 1, 0, out);
    --*out;
    return ok;
}

heed_stack heed__stack_of(const json_t *v) {
    const char *name = text(v, "stack");
    return !name || strcmp(name, "encoder") == 0 ? HEED_ENCODER
           : strcmp(name, "cross") == 0          ? HEED_CROSS
                                                 : HEED_DECODER;
}

static bool add_axis(reader *k, const json_t *v) {
    enum { MOST = 1 << 20 };
    const json_t *list = json_object_get(v, "labels"), *marks = json_object_get(v, "special"),
                 *grid = json_object_get(v, "grid");
    heed_record_axis a = {.name = text(v, "name")};
    size_t n = json_array_size(list);
    if (!integer(k, v, "count", 1, MOST, n > MOST ? -1 : (int)n, &a.count)) return false;
    if (list && n != (size_t)a.count) return wrong(k, "an axis has another count than labels");
    if (grid && !(integer(k, grid, "rows", 1, MOST, 0, &a.rows) &&
                  integer(k, grid, "cols", 1, MOST, 0, &a.cols) &&
                  integer(k, grid, "first", 0, MOST, 0, &a.first)))
        return false;
    if ((int64_t)a.first + (int64_t)a.rows * a.cols > a.count)
        return wrong(k, "a grid has more patches than its axis has tokens");
    const char **labels = heed__alloc_array(k->s->c, n + 1, sizeof *labels);
    unsigned char *special = heed__alloc(k->s->c, (size_t)a.count);
    bool ok = labels && special;
    for (size_t i = 0; ok && i < n; i++) {
        labels[i] = json_string_value(json_array_get(list, i));
        ok = labels[i] || wrong(k, "a label is not a text");
    }
    for (int i = 0; ok && i < a.count; i++)
        special[i] = json_integer_value(json_array_get(marks, (size_t)i)) != 0;
    a.labels = list ? labels : NULL;
    a.special = json_array_size(marks) ? special : NULL;
    ok = ok && heed_record_add_axis(k->r, &a) >= 0;
    heed__free(labels);
    heed__free(special);
    return ok;
}

/* Reads the array `key` of the part v, named `name` in an archive, of that shape (shape[0] 0: two
 * dimensions). Sets *x to NULL if there is none. */
static bool fetch(const reader *k, const json_t *v, const char *name, const char *key,
                  double missing, const int64_t shape[3], heed_real **x) {
    char full[HEED__NPY_NAME], found[HEED__SHAPE];
    heed__numbers n = {0};
    const json_t *list = json_object_get(v, key);
    snprintf(full, sizeof full, "%s%s%s", name, *name ? "." : "", key);
    const heed__npy *a = heed__npz_find(&k->s->npz, full);
    *x = NULL;
    if (!a && !list) return true;
    if (a && a->kind != 'f') return wrong(k, "an array holds no real numbers");
    if (!(a ? heed__numbers_npy(k->s, a, &n) : heed__numbers_json(k->s, key, list, missing, &n)))
        return false;
    int skip = shape[0] ? 0 : 1;
    bool fits = n.dims == 3 - skip;
    for (int i = 0; fits && i < n.dims; i++) fits = n.shape[i] == shape[i + skip];
    *x = n.x;
    return fits || heed_fail(k->s->c, HEED_DATA,
                             "array %s is wrong: %s: expected the sizes %lld, %lld and %lld of its "
                             "axes, found %s",
                             full, k->s->path, (long long)shape[0], (long long)shape[1],
                             (long long)shape[2], heed__numbers_shape(found, &n));
}

/* ---- blocks, maps, guesses ---- */

static bool read_heads(const reader *k, const json_t *v, heed_record_block *b, int heads[]) {
    enum { MOST = 4096 };
    const json_t *list = json_object_get(v, "heads");
    b->heads = (int)json_array_size(list);
    if (b->heads < 1 || b->heads > MOST) return wrong(k, "a layer has no heads, or over 4096");
    for (int i = 0; i < b->heads; i++) {
        json_int_t h = json_integer_value(json_array_get(list, (size_t)i)) - 1;
        if (h < 0 || h > MOST || (i && h <= heads[i - 1]))
            return wrong(k, "heads are not numbered upwards");
        heads[i] = (int)h;
    }
    b->head = heads;
    return true;
}

static bool add_block(reader *k, const json_t *v) {
    int axes = k->r->axis_count - 1, heads[4097];
    heed_record_block b = {.path = text(v, "path") ? text(v, "path") : "",
                           .stack = heed__stack_of(v),
                           .causal = json_is_true(json_object_get(v, "causal")),
                           .hard = json_is_true(json_object_get(v, "hard")),
                           .additive = json_is_true(json_object_get(v, "additive")),
                           .beta = json_number_value(json_object_get(v, "beta")),
                           .rotary = json_number_value(json_object_get(v, "rotary"))};
    if (!read_heads(k, v, &b, heads) || !integer(k, v, "layer", 1, 1 << 20, 1, &b.layer) ||
        !integer(k, v, "queries", 0, axes, -1, &b.queries) ||
        !integer(k, v, "keys", 0, axes, -1, &b.keys) ||
        !integer(k, v, "kv_heads", 0, 1 << 20, 0, &b.kv_heads) ||
        !integer(k, v, "key", 0, 1 << 20, 0, &b.key) ||
        !integer(k, v, "value", 0, 1 << 20, 0, &b.value))
        return false;
    b.layer--;
    heed__array a[HEED__ARRAYS];
    heed_real *x[HEED__ARRAYS] = {0};
    bool ok = true;
    heed__block_arrays(k->r->axes, &b, a);
    for (int i = 0; ok && i < HEED__ARRAYS; i++) {
        double missing = a[i].x == &b.scores ? -(double)INFINITY : (double)NAN;
        int64_t shape[] = {b.heads, a[i].rows, a[i].cols};
        ok = fetch(k, v, b.path, a[i].name, missing, shape, &x[i]);
        *a[i].x = x[i];
    }
    if (ok && !b.weights) ok = wrong(k, "a layer has no weights");
    ok = ok && heed_record_add_block(k->r, &b) >= 0;
    for (int i = 0; i < HEED__ARRAYS; i++) heed__free(x[i]);
    return ok;
}

static bool add_map(reader *k, const json_t *v, size_t index) {
    heed_record_map m = {.name = text(v, "name") ? text(v, "name") : "",
                         .help = text(v, "help"),
                         .stack = heed__stack_of(v)};
    int axes = k->r->axis_count - 1;
    char name[32];
    heed_real *x = NULL;
    if (!place(k, v, "layer", 1 << 20, &m.layer) || !place(k, v, "head", 1 << 20, &m.head) ||
        !integer(k, v, "queries", 0, axes, -1, &m.queries) ||
        !integer(k, v, "keys", 0, axes, -1, &m.keys))
        return false;
    int64_t shape[3] = {0, k->r->axes[m.queries].count, k->r->axes[m.keys].count};
    snprintf(name, sizeof name, "maps.%zu", index);
    const heed__npy *a = heed__npz_find(&k->s->npz, name);
    bool ok = a ? fetch(k, NULL, "", name, (double)NAN, shape, &x)
                : fetch(k, v, "", "values", (double)NAN, shape, &x);
    if (ok && !x) ok = wrong(k, "a map has no values");
    m.values = x;
    ok = ok && heed_record_add_map(k->r, &m) >= 0;
    heed__free(x);
    return ok;
}

static bool add_guess(reader *k, const json_t *v) {
    enum { MOST = 1000 };
    const json_t *list = json_object_get(v, "tokens");
    const char *labels[MOST];
    heed_real p[MOST];
    heed_record_guess g = {
        .says = text(v, "says") ? text(v, "says") : "", .labels = labels, .p = p};
    g.count = (int)(json_array_size(list) < MOST ? json_array_size(list) : MOST);
    for (int i = 0; i < g.count; i++) {
        const json_t *one = json_array_get(list, (size_t)i);
        labels[i] = text(one, "token") ? text(one, "token") : "";
        p[i] = (heed_real)json_number_value(json_object_get(one, "p"));
    }
    return integer(k, v, "axis", 0, k->r->axis_count - 1, -1, &g.axis) &&
           place(k, v, "position", k->r->axes[g.axis].count - 1, &g.query) &&
           heed_record_add_guess(k->r, &g) >= 0;
}

static bool add_picture(reader *k) {
    const heed__npy *a = heed__npz_find(&k->s->npz, "picture");
    if (!a) return true;
    bool fits = a->kind == 'u' && a->size == 1 && a->dims == 3 && !a->fortran && a->count > 0;
    for (int i = 0; fits && i < 2; i++) fits = a->shape[i] <= 1 << 15;
    if (!fits || (a->shape[2] != 1 && a->shape[2] != 3))
        return wrong(k, "the picture is not (height, width, 1 or 3) of bytes");
    return heed_record_picture(k->r, a->data, (int)a->shape[1], (int)a->shape[0], (int)a->shape[2]);
}

bool heed__weights_own(const heed__source *s, const json_t *meta, heed_record *r) {
    reader k = {s, r};
    const json_t *axes = json_object_get(meta, "axes"), *blocks = json_object_get(meta, "blocks"),
                 *maps = json_object_get(meta, "maps"), *guesses = json_object_get(meta, "guesses");
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_size(axes); i++)
        ok = add_axis(&k, json_array_get(axes, i));
    for (size_t i = 0; ok && i < json_array_size(blocks); i++)
        ok = add_block(&k, json_array_get(blocks, i));
    for (size_t i = 0; ok && i < json_array_size(maps); i++)
        ok = add_map(&k, json_array_get(maps, i), i);
    for (size_t i = 0; ok && i < json_array_size(guesses); i++)
        ok = add_guess(&k, json_array_get(guesses, i));
    if (ok && !r->block_count && !r->map_count) ok = wrong(&k, "it has neither layers nor maps");
    r->step = json_is_integer(json_object_get(meta, "step"))
                  ? json_integer_value(json_object_get(meta, "step"))
                  : -1;
    return ok && add_picture(&k) &&
           heed_record_describe(r, (heed_record_texts){text(meta, "title"), text(meta, "model"),
                                                       text(meta, "task"), text(meta, "note"),
                                                       text(meta, "run")});
}
