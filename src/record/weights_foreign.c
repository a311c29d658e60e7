/* weights_foreign.c -- weights of other programs: arrays of (queries, keys), (heads, queries, keys)
 * or (layers, heads, queries, keys), with labels if there are any. Nothing is corrected: unusual
 * values are reported in the note. A picture of the patches is `picture` in bytes, (height, width)
 * or (height, width, 1 or 3), and, if the patches do not form a square, `grid`, their rows and
 * columns.
 */
#include "core/core.h"
#include "record/weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The patches of the picture; rows 0: they form a square. */
typedef struct {
    bool there;
    int rows, cols;
} patches;

typedef struct {
    const heed__source *s;
    heed_record *r;
    heed_text note, unread; /* unread: names of arrays */
    int unread_count;
    int next[3]; /* number of the next layer in each stack */
    patches patches;
} reader;

/* ---- the picture ---- */

static bool fetch(const heed__source *s, const char *name, heed__numbers *out) {
    const json_t *list = json_object_get(s->json, name);
    const heed__npy *a = heed__npz_find(&s->npz, name);
    *out = (heed__numbers){0};
    if (list) return heed__numbers_json(s, name, list, (double)NAN, out);
    return !a || !strchr("fiub", a->kind) || heed__numbers_npy(s, a, out);
}

/* NULL if the numbers are not bytes. */
static unsigned char *bytes_of(const heed__source *s, const heed__numbers *n) {
    bool fits = n->dims == 2 || (n->dims == 3 && (n->shape[2] == 1 || n->shape[2] == 3));
    for (int i = 0; i < 2; i++) fits = fits && n->shape[i] > 0 && n->shape[i] <= 1 << 15;
    unsigned char *bytes = fits ? heed__alloc(s->c, n->count) : NULL;
    for (size_t i = 0; bytes && i < n->count; i++) {
        double v = (double)n->x[i];
        bytes[i] = (unsigned char)(v >= 0 && v <= 255 ? v : 0);
        if ((double)bytes[i] != v) {
            heed__free(bytes);
            bytes = NULL;
        }
    }
    return bytes;
}

static bool read_grid(const heed__source *s, patches *out) {
    heed__numbers n;
    if (!fetch(s, "grid", &n)) return false;
    bool fits = n.dims == 1 && n.count == 2;
    for (int i = 0; fits && i < 2; i++) fits = (double)n.x[i] >= 1 && (double)n.x[i] <= 1 << 10;
    out->rows = fits ? (int)n.x[0] : 0;
    out->cols = fits ? (int)n.x[1] : 0;
    bool absent = !n.x;
    heed__free(n.x);
    return absent || fits ||
           heed_fail(s->c, HEED_DATA,
                     "grid is wrong: %s: expected its rows and columns, such as [14, 14]", s->path);
}

static bool read_picture(const heed__source *s, heed_record *r, patches *out) {
    char shape[HEED__SHAPE];
    heed__numbers n;
    *out = (patches){0};
    if (!fetch(s, "picture", &n)) return false;
    if (!n.x) return true;
    unsigned char *bytes = bytes_of(s, &n);
    bool ok = bytes && heed_record_picture(r, bytes, (int)n.shape[1], (int)n.shape[0],
                                           n.dims == 3 ? (int)n.shape[2] : 1);
    if (!bytes)
        heed_fail(s->c, HEED_DATA,
                  "picture is wrong: %s: expected (height, width) or (height, width, 3) of whole "
                  "numbers from 0 to 255, found %s; hint: np.asarray(image.convert('RGB'))",
                  s->path, heed__numbers_shape(shape, &n));
    heed__free(bytes);
    heed__free(n.x);
    out->there = ok;
    return ok && read_grid(s, out);
}

/* Patches are the last tokens, row by row, after special tokens such as [CLS]. A square is assumed
 * only if at most one token precedes it. */
static bool place_patches(const reader *k, const char *array, heed_record_axis *out) {
    char quote[HEED_QUOTE];
    bool given = k->patches.rows > 0;
    int side = (int)sqrt((double)out->count);
    out->rows = given ? k->patches.rows : side;
    out->cols = given ? k->patches.cols : side;
    out->first = out->count - out->rows * out->cols;
    return (out->first >= 0 && (given || out->first <= 1)) ||
           heed_fail(
               k->s->c, HEED_DATA,
               "grid is wrong: %s: array %s has %d tokens, which do not form %d x %d patches; "
               "hint: grid=[rows, columns]",
               k->s->path, heed_quote(quote, array, strlen(array)), out->count, out->rows,
               out->cols);
}

/* ---- labels ---- */

typedef struct {
    heed_text text; /* each followed by a NUL */
    const char **list;
    int count;
} labels;

static bool add_label(labels *l, const heed__source *s, const json_t *v, const heed__npy *a,
                      size_t i) {
    if (a) return heed__npy_text(a, i, &l->text) && heed_text_put(&l->text, "", 1);
    const json_t *one = json_array_get(v, i);
    char number[32];
    if (json_is_integer(one)) {
        int n = snprintf(number, sizeof number, "%lld", (long long)json_integer_value(one));
        return heed_text_put(&l->text, number, (size_t)n + 1);
    }
    if (!json_is_string(one))
        return heed_fail(s->c, HEED_DATA, "labels are wrong: %s: expected texts", s->path);
    return heed_text_put(&l->text, json_string_value(one), json_string_length(one) + 1);
}

/* Reads the labels of that name; count -1: none found. */
static bool read_labels(const heed__source *s, const char *name, labels *l) {
    enum { MOST = 1 << 20 };
    const json_t *v = json_object_get(s->json, name);
    const heed__npy *a = heed__npz_find(&s->npz, name);
    *l = (labels){.text = {.c = s->c}, .count = -1};
    if (a && a->kind != 'U' && a->kind != 'S')
        return heed_fail(s->c, HEED_DATA,
                         "labels are wrong: %s: array %s: expected texts; hint: "
                         "np.array(tokens, dtype=str)",
                         s->path, name);
    if (!a && !json_is_array(v)) return true;
    size_t n = a ? a->count : json_array_size(v);
    if (n > MOST) return heed_fail(s->c, HEED_DATA, "too many labels: %s: %zu", s->path, n);
    l->count = (int)n;
    l->list = heed__alloc_array(s->c, n + 1, sizeof *l->list);
    bool ok = l->list != NULL;
    for (size_t i = 0; ok && i < n; i++) ok = add_label(l, s, v, a, i);
    const char *at = l->text.s;
    for (size_t i = 0; ok && i < n; i++, at += strlen(at) + 1) l->list[i] = at;
    return ok;
}

static void free_labels(labels *l) {
    heed_text_free(&l->text);
    heed__free(l->list);
}

static bool is_special(const char *label) {
    static const char *const known[] = {"[CLS]", "[SEP]", "[PAD]", "[BOS]", "[EOS]",        "<s>",
                                        "</s>",  "<pad>", "<bos>", "<eos>", "<|endoftext|>"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(label, known[i]) == 0) return true;
    return false;
}

/* ---- axes ---- */

/* Possible names for the labels of a side, the most specific first. */
static const char *const names[3][2][5] = {{{"queries", "encoder_tokens", "source", "tokens"},
                                            {"keys", "encoder_tokens", "source", "tokens"}},
                                           {{"queries", "decoder_tokens", "target", "tokens"},
                                            {"keys", "decoder_tokens", "target", "tokens"}},
                                           {{"queries", "decoder_tokens", "target", "tokens"},
                                            {"keys", "encoder_tokens", "source", "tokens"}}};

/* Adds an axis with its labels, if they have its size, with the places of its patches, or with
 * numbers. Returns its index, or -1 on error. */
static int add_axis(reader *k, heed_record_axis a, const labels *l) {
    heed_ctx *c = k->s->c;
    size_t size = (size_t)a.count;
    char(*texts)[24] = heed__alloc_array(c, size, sizeof *texts);
    const char **list = heed__alloc_array(c, size, sizeof *list);
    unsigned char *special = heed__alloc(c, size);
    bool ok = texts && list && special;
    for (int i = 0; ok && i < a.count; i++) {
        int patch = i - a.first;
        if (a.rows && patch >= 0)
            snprintf(texts[i], sizeof *texts, "%d,%d", patch / a.cols + 1, patch % a.cols + 1);
        else
            snprintf(texts[i], sizeof *texts, !a.rows ? "%d" : i ? "[%d]" : "[CLS]", i);
        list[i] = l->count == a.count ? l->list[i] : texts[i];
        special[i] = patch < 0 || (l->count == a.count && is_special(list[i]));
    }
    a.labels = list;
    a.special = special;
    int axis = ok ? heed_record_add_axis(k->r, &a) : -1;
    heed__free(texts);
    heed__free(list);
    heed__free(special);
    return axis;
}

static bool wrong_count(const reader *k, const char *name, int found, const char *array,
                        const char *side, int wanted) {
    char quote[HEED_QUOTE];
    return heed_fail(k->s->c, HEED_DATA,
                     "token count is wrong: %s: %s has %d labels, but array %s has %d %s; hint: "
                     "label the very tokens that the weights were computed for, special ones "
                     "included",
                     k->s->path, name, found, heed_quote(quote, array, strlen(array)), wanted,
                     side);
}

/* The axis of one side of an array of weights, shared where name and size are the same. With a
 * picture, encoders attend within it, and cross attention attends to it. `tokens` may label a
 * single side if the other one has a different size. */
static int axis_for(reader *k, const char *array, int stack, int side, int size, int other) {
    labels l = {.count = -1};
    bool in_patches =
        k->patches.there && (stack == HEED_ENCODER || (stack == HEED_CROSS && side == 1));
    const char *name = in_patches ? "picture" : NULL;
    for (int i = 0; !in_patches && names[stack][side][i] && l.count < 0; i++) {
        free_labels(&l);
        if (!read_labels(k->s, name = names[stack][side][i], &l)) return free_labels(&l), -1;
    }
    int axis = -1;
    if (!in_patches && l.count < 0) name = side == 0 && size != other ? "queries" : "tokens";
    for (int i = 0; i < k->r->axis_count; i++)
        if (k->r->axes[i].count == size && strcmp(k->r->axes[i].name, name) == 0) axis = i;
    bool loose = strcmp(name, "tokens") == 0 && l.count == other;
    if (l.count >= 0 && l.count != size && !loose)
        wrong_count(k, name, l.count, array, side ? "keys" : "queries", size);
    else if (axis < 0) {
        heed_record_axis a = {.name = name, .count = size};
        if (!in_patches || place_patches(k, array, &a)) axis = add_axis(k, a, &l);
    }
    free_labels(&l);
    return heed__stopped(k->s->c) ? -1 : axis;
}

/* ---- weights ---- */

static heed_text *begin_note(reader *k, const char *array) {
    heed_text_add(&k->note, "%sArray %s: ", k->note.n ? " " : "", array);
    return &k->note;
}

/* Notes how many values are outside [0, 1] and how many rows do not sum to 1; they are kept
 * unchanged. */
static void note_unusual(reader *k, const char *name, const heed__numbers *n, size_t rows,
                         size_t cols) {
    size_t outside = 0, unequal = 0, none = 0;
    double low = INFINITY, high = -INFINITY;
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;
        for (size_t i = r * cols; i < (r + 1) * cols; i++) {
            none += isnan((double)n->x[i]) != 0;
            outside += (double)n->x[i] < 0 || (double)n->x[i] > 1.000001;
            sum += (double)n->x[i];
        }
        unequal += fabs(sum - 1) > 0.005;
        if (fabs(sum - 1) > 0.005) low = fmin(low, sum), high = fmax(high, sum);
    }
    if (none)
        heed_text_add(begin_note(k, name), "%zu of %zu values are not numbers.", none, n->count);
    if (outside)
        heed_text_add(begin_note(k, name), "%zu of %zu values are not in [0, 1].", outside,
                      n->count);
    if (unequal)
        heed_text_add(begin_note(k, name), "%zu of %zu rows do not sum to 1 (%.3g to %.3g).",
                      unequal, rows, low, high);
}

/* Whether weights are 0 above the diagonal and mostly not 0 below it. */
static bool is_causal(const heed_real *x, int heads, int size) {
    size_t below = 0, n = (size_t)size;
    for (size_t h = 0; h < (size_t)heads; h++)
        for (size_t q = 0; q < n; q++)
            for (size_t i = 0; i < n; i++) {
                bool some = x[(h * n + q) * n + i] != 0;
                if (i > q && some) return false;
                below += some && i < q;
            }
    return n > 1 && below > (size_t)heads * n * (n - 1) / 4;
}

static bool add_layers(reader *k, const char *name, const heed__numbers *n) {
    int lead = n->dims - 2, layers = lead == 2 ? (int)n->shape[0] : 1;
    int heads = lead ? (int)n->shape[lead - 1] : 1, rows = (int)n->shape[lead],
        cols = (int)n->shape[lead + 1];
    /* By its name; else square arrays are self-attention. */
    int stack = strstr(name, "cross") ? HEED_CROSS
                : strstr(name, "dec") ? HEED_DECODER
                : rows == cols        ? HEED_ENCODER
                                      : HEED_CROSS;
    int queries = axis_for(k, name, stack, 0, rows, cols);
    int keys = queries < 0 ? -1 : axis_for(k, name, stack, 1, cols, rows);
    if (keys < 0) return false;
    note_unusual(k, name, n, n->count / (size_t)cols, (size_t)cols);
    for (int i = 0; i < layers; i++) {
        const heed_real *x = n->x + (size_t)i * (size_t)heads * (size_t)rows * (size_t)cols;
        char path[HEED__NPY_NAME + 16];
        snprintf(path, sizeof path, layers > 1 ? "%s.%d" : "%s", name, i);
        heed_record_block b = {.path = path,
                               .stack = (heed_stack)stack,
                               .layer = k->next[stack]++,
                               .heads = heads,
                               .queries = queries,
                               .keys = keys,
                               .weights = x,
                               .causal = queries == keys && is_causal(x, heads, rows)};
        if (heed_record_add_block(k->r, &b) < 0) return false;
    }
    return true;
}

/* Drops a batch dimension of 1 between layers and heads, as models output it. */
static bool add_numbers(reader *k, const char *name, heed__numbers *n) {
    char shape[HEED__SHAPE], quote[HEED_QUOTE];
    if (n->dims == 5 && n->shape[1] == 1) {
        memmove(n->shape + 1, n->shape + 2, 3 * sizeof *n->shape);
        n->dims = 4;
    }
    bool fits = n->dims >= 2 && n->dims <= 4 && n->count > 0;
    for (int i = 0; i < n->dims; i++) fits = fits && n->shape[i] <= 1 << 20;
    return fits ? add_layers(k, name, n)
                : heed_fail(k->s->c, HEED_DATA,
                            "array %s is wrong: %s: expected (queries, keys), (heads, queries, "
                            "keys) or (layers, heads, queries, keys), found %s; hint: take one "
                            "item of a batch: attention[:, 0]",
                            heed_quote(quote, name, strlen(name)), k->s->path,
                            heed__numbers_shape(shape, n));
}

/* ---- the file ---- */

enum { SHOWN = 4 }; /* names of arrays in a message */

/* Lists what the file contains instead of weights: names, types and shapes of the first arrays. */
static void list_found(const heed__source *s, heed_text *out) {
    char shape[HEED__SHAPE], quote[HEED_QUOTE], type[HEED_QUOTE];
    const char *name;
    json_t *v;
    size_t at = 0, count = s->json ? json_object_size(s->json) : s->npz.count;
    json_object_foreach(s->json, name, v) {
        if (at == SHOWN) break;
        heed_text_add(out, "%s%s", at++ ? ", " : "; found ", heed_quote(quote, name, strlen(name)));
    }
    for (; !s->json && at < count && at < SHOWN; at++) {
        const heed__npy *a = &s->npz.arrays[at];
        heed_text_add(out, "%s%s %s of type %s", at ? ", " : "; found ",
                      heed_quote(quote, a->name, strlen(a->name)), heed__npy_shape(shape, a),
                      heed_quote(type, a->type, strlen(a->type)));
    }
    if (count > SHOWN) heed_text_add(out, " and %zu more", count - SHOWN);
}

/* All arrays except the picture are weights. */
static bool is_weights(const char *name) { return strcmp(name, "picture") != 0; }

static bool no_weights(const heed__source *s) {
    heed_text found = {.c = s->c};
    bool hinted = false;
    list_found(s, &found);
    for (size_t i = 0; !hinted && i < s->npz.count; i++) {
        const heed__npy *a = &s->npz.arrays[i];
        hinted = a->dims >= 2 && is_weights(a->name) && a->type[0] && strchr("iubf", a->type[1]);
        if (hinted)
            heed_text_add(&found, "; hint: make it real in NumPy: %s.astype(float)", a->name);
    }
    heed_fail(s->c, HEED_DATA,
              "no weights: %s: expected an array of real numbers (little-endian, 16, 32 or 64 "
              "bits) of (queries, keys), (heads, queries, keys) or (layers, heads, queries, keys)"
              "%s",
              s->path, found.s ? found.s : "");
    heed_text_free(&found);
    return false;
}

/* An array that is neither weights nor known labels may be labels under another name. */
static void note_unread(reader *k, const char *name) {
    char quote[HEED_QUOTE];
    bool known = !is_weights(name) || strcmp(name, "grid") == 0;
    for (int i = 0; i < 6; i++)
        for (const char *const *n = names[i / 2][i % 2]; *n; n++)
            known = known || strcmp(name, *n) == 0;
    if (known || ++k->unread_count > SHOWN) return;
    heed_text_add(&k->unread, "%s%s", k->unread_count > 1 ? ", " : "",
                  heed_quote(quote, name, strlen(name)));
}

static bool is_matrix(const json_t *v) {
    const json_t *row = json_array_get(v, 0), *x = json_array_get(row, 0);
    return json_is_array(x) || json_is_number(x);
}

static bool add_list(reader *k, const char *name, const json_t *v) {
    heed__numbers n;
    bool ok = heed__numbers_json(k->s, name, v, (double)NAN, &n) && add_numbers(k, name, &n);
    heed__free(n.x);
    return ok;
}

static bool from_json(reader *k, json_t *json) {
    const char *name;
    json_t *v;
    if (json_is_array(json)) return add_list(k, "weights", json);
    json_object_foreach(json, name, v) {
        if (is_weights(name) && is_matrix(v)) {
            if (!add_list(k, name, v)) return false;
        } else if (json_is_array(v))
            note_unread(k, name);
    }
    return true;
}

static bool from_npz(reader *k) {
    bool ok = true;
    for (size_t i = 0; ok && i < k->s->npz.count; i++) {
        const heed__npy *a = &k->s->npz.arrays[i];
        heed__numbers n = {0};
        if (a->kind != 'f' || a->dims < 2 || !is_weights(a->name)) {
            note_unread(k, a->name);
            continue;
        }
        ok = heed__numbers_npy(k->s, a, &n) && add_numbers(k, a->name, &n);
        heed__free(n.x);
    }
    return ok;
}

bool heed__weights_foreign(const heed__source *s, heed_record *r) {
    reader k = {.s = s, .r = r, .note = {.c = s->c}, .unread = {.c = s->c}};
    const char *file = strrchr(s->path, '/') ? strrchr(s->path, '/') + 1 : s->path;
    bool ok = read_picture(s, r, &k.patches) && (s->json ? from_json(&k, s->json) : from_npz(&k));
    if (ok && !r->block_count) ok = no_weights(s);
    if (k.unread_count)
        heed_text_add(&k.note,
                      "%sNot read: %s%s; labels are read from tokens, queries and keys, or source "
                      "and target.",
                      k.note.n ? " " : "", k.unread.s ? k.unread.s : "",
                      k.unread_count > SHOWN ? " and others" : "");
    ok = ok && heed_record_describe(r, (heed_record_texts){.title = file, .note = k.note.s});
    heed_text_free(&k.note);
    heed_text_free(&k.unread);
    return ok;
}
