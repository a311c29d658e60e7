/* weights.c -- reads a record from a file written by this program, or attention weights from other
 * programs. */
#include "record/weights.h"

#include "core/core.h"
#include "core/os.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1 << 28, FILE_LIMIT = 1 << 30 };

const char *heed__numbers_shape(char text[HEED__SHAPE], const heed__numbers *n) {
    heed__npy a = {.dims = n->dims};
    memcpy(a.shape, n->shape, sizeof a.shape);
    return heed__npy_shape(text, &a);
}

/* ---- nested lists ---- */

static bool measure(const json_t *v, heed__numbers *n) {
    n->count = 1;
    for (n->dims = 0; json_is_array(v); n->dims++, v = json_array_get(v, 0)) {
        if (n->dims == HEED__NPY_DIMS || json_array_size(v) == 0) return false;
        n->shape[n->dims] = (int64_t)json_array_size(v);
        if (n->count > MOST / json_array_size(v)) return false;
        n->count *= json_array_size(v);
    }
    return n->dims > 0;
}

static bool flatten(const json_t *v, int dim, const heed__numbers *n, double missing, size_t *at) {
    if (dim == n->dims) {
        if (!json_is_number(v) && !json_is_null(v)) return false;
        n->x[(*at)++] = (heed_real)(json_is_number(v) ? json_number_value(v) : missing);
        return true;
    }
    if (!json_is_array(v) || (int64_t)json_array_size(v) != n->shape[dim]) return false;
    for (size_t i = 0; i < json_array_size(v); i++)
        if (!flatten(json_array_get(v, i), dim + 1, n, missing, at)) return false;
    return true;
}

bool heed__numbers_json(const heed__source *s, const char *name, const json_t *v, double missing,
                        heed__numbers *out) {
    char quote[HEED_QUOTE];
    size_t at = 0;
    *out = (heed__numbers){0};
    bool ok = measure(v, out);
    if (ok && !(out->x = heed__alloc_array(s->c, out->count, sizeof *out->x))) return false;
    if (ok && flatten(v, 0, out, missing, &at)) return true;
    heed__free(out->x);
    *out = (heed__numbers){0};
    return heed_fail(
        s->c, HEED_DATA,
        "array %s is wrong: %s: expected nested lists of numbers, all of one length at "
        "each depth",
        heed_quote(quote, name, strlen(name)), s->path);
}

bool heed__numbers_npy(const heed__source *s, const heed__npy *a, heed__numbers *out) {
    *out = (heed__numbers){.dims = a->dims, .count = a->count};
    memcpy(out->shape, a->shape, sizeof out->shape);
    if (a->count > MOST)
        return heed_fail(s->c, HEED_DATA, "array %s is too large: %s: expected at most %d numbers",
                         a->name, s->path, MOST);
    out->x = heed__alloc_array(s->c, a->count, sizeof *out->x);
    for (size_t i = 0; out->x && i < a->count; i++) out->x[i] = (heed_real)heed__npy_number(a, i);
    return out->x != NULL;
}

/* ---- which kind of file ---- */

static bool is_blank(char b) { return memchr(" \t\r\n", b, 4) != NULL; }

/* Whether an object at the end of a line is followed by another, which no JSON text has; lines
 * between them may be blank. */
static bool has_lines(const char *text, size_t n) {
    const char *end = text + n, *at = text;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        const char *last = at;
        while (last > text && is_blank(last[-1])) last--;
        while (at < end && is_blank(*at)) at++;
        if (at < end && *at == '{' && last > text && last[-1] == '}') return true;
    }
    return false;
}

/* Cuts the text after a line, and replaces those before it by blanks: messages about the JSON still
 * name the line and column of the file. */
static bool choose_line(const heed__source *s, int line, char *text, size_t *n) {
    char *end = text + *n, *at = text;
    for (int i = 1; i < line && at < end; at++) {
        if (*at == '\n')
            i++;
        else
            *at = ' ';
    }
    if (at == end) return heed_fail(s->c, HEED_DATA, "%s has fewer than %d lines", s->path, line);
    char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop) *n = (size_t)(stop - text);
    while (at < text + *n && is_blank(*at)) at++;
    return at < text + *n ||
           heed_fail(s->c, HEED_DATA, "line %d of %s is blank: expected an object", line, s->path);
}

/* ---- worked examples ---- */

/* Adds a matrix of a single head to its block if it has that size; cols 0: any, which is returned.
 */
static size_t add_matrix(json_t *block, const char *key, json_t *x, size_t rows, size_t cols) {
    const json_t *first = json_array_get(x, 0);
    size_t n = json_array_size(first);
    bool fits = json_array_size(x) == rows && n && (!cols || n == cols) &&
                !json_is_array(json_array_get(first, 0));
    if (fits) json_object_set_new(block, key, json_pack("[O]", x));
    return fits ? n : 0;
}

/* The place of a trained head in its model; an example of numbers has none. */
static bool add_place(const heed__source *s, json_t *block, json_t *place) {
    const char *stack = json_string_value(json_object_get(place, "stack"));
    json_int_t layer = json_integer_value(json_object_get(place, "layer"));
    if (!place) return true;
    if (!stack || layer < 1 || layer > 1 << 20 ||
        strcmp(stack, heed_stack_name(heed__stack_of(place))))
        return heed_fail(s->c, HEED_DATA,
                         "place is wrong: %s: expected a stack (encoder, decoder or cross) and a "
                         "layer from 1",
                         s->path);
    return json_object_update(block, place) == 0;
}

/* Reads what heed explain prints, one JSON object with its matrices under their names (X, W_Q, ...,
 * Q, K, scores, weights), as a record of one layer: its attention is `weights`, (queries, keys) or
 * (heads, queries, keys), labelled by `tokens` and, if the keys are others, `sources`. */
static bool read_lesson(const heed__source *s, heed_record *r) {
    json_t *json = s->json, *w = json_object_get(json, "weights"), *list[2], *heads = json_array(),
           *title = json_object_get(json, "title"), *path = json_object_get(json, "layer");
    bool several = json_is_array(json_array_get(json_array_get(w, 0), 0)), ok = true;
    const json_t *rows = several ? json_array_get(w, 0) : w;
    size_t size[2] = {json_array_size(rows), json_array_size(json_array_get(rows, 0))};
    json_int_t number = json_integer_value(json_object_get(json, "head"));
    list[0] = json_object_get(json, "tokens");
    list[1] = json_object_get(json, "sources");
    bool other = list[1] != NULL;
    if (!json_is_string(path)) path = json_object_get(json, "example");
    for (size_t i = 0; i < (several ? json_array_size(w) : 1); i++)
        json_array_append_new(
            heads,
            json_integer(!several && number > 0 && number <= 4096 ? number : (json_int_t)i + 1));
    json_t *block =
        json_pack("{s:O, s:o, s:i, s:i, s:s}", "path", path, "heads", heads, "queries", 0, "keys",
                  (int)other, "stack", heed_stack_name(other ? HEED_CROSS : HEED_ENCODER));
    if (!size[1])
        ok = heed_fail(s->c, HEED_DATA,
                       "no weights: %s: a worked example: expected its attention under `weights`, "
                       "(queries, keys) or (heads, queries, keys)",
                       s->path);
    for (int i = 0; ok && i < 2; i++)
        if (json_array_size(list[i && other]) != size[i])
            ok = heed_fail(s->c, HEED_DATA, "%s is wrong: %s: expected %zu texts, as `weights` has",
                           i ? "sources" : "tokens", s->path, size[i]);
    if (ok && several) json_object_set(block, "weights", w);
    if (ok && !several) {
        static const char *const names[] = {"weights", "raw", "scores"};
        for (int i = 0; i < 3; i++)
            add_matrix(block, names[i], json_object_get(json, names[i]), size[0], size[1]);
        json_t *q = json_object_get(json, "Q"), *k = json_object_get(json, "K");
        size_t width = json_array_size(json_array_get(q, 0));
        if (add_matrix(block, "k", k, size[1], width) && width &&
            add_matrix(block, "q", q, size[0], width))
            json_object_set_new(block, "key", json_integer((json_int_t)width));
        else
            json_object_del(block, "k");
    }
    static const char *const same[] = {"beta", "causal", "hard"};
    for (int i = 0; i < 3; i++)
        if (json_object_get(json, same[i]))
            json_object_set(block, same[i], json_object_get(json, same[i]));
    json_t *meta = json_pack("{s:[{s:s, s:O*}], s:[o]}", "axes", "name", "tokens", "labels",
                             list[0], "blocks", block);
    if (other)
        json_array_append_new(json_object_get(meta, "axes"),
                              json_pack("{s:s, s:O}", "name", "sources", "labels", list[1]));
    if (title) json_object_set(meta, "title", title);
    ok = ok && add_place(s, block, json_object_get(json, "place")) && heed__weights_own(s, meta, r);
    json_decref(meta);
    return ok;
}

static bool read_json(heed__source *s, int line, char *text, size_t n, heed_record *r) {
    if (!line && has_lines(text, n))
        return heed_fail(s->c, HEED_DATA,
                         "%s has several objects, one on each line: expected one, of one input; "
                         "hint: `line = 1` reads the first",
                         s->path);
    if (line && !choose_line(s, line, text, &n)) return false;
    s->json = heed__json_parse(s->c, s->path, text, n);
    if (!s->json) return false;
    const char *mark = json_string_value(json_object_get(s->json, "heed"));
    bool own = mark && strncmp(mark, "attention", 9) == 0;
    bool ok = own ? heed__weights_own(s, s->json, r)
              : json_is_string(json_object_get(s->json, "example")) ? read_lesson(s, r)
                                                                    : heed__weights_foreign(s, r);
    json_decref(s->json);
    return ok;
}

static bool read_npz(heed__source *s, unsigned char *bytes, size_t n, heed_record *r) {
    bool ok = heed__npz_parse(s->c, s->path, bytes, n, &s->npz);
    const heed__npy *record = ok ? heed__npz_find(&s->npz, "record") : NULL;
    if (record && record->kind == 'u' && record->size == 1) {
        json_t *meta = heed__json_parse(s->c, s->path, (const char *)record->data, record->count);
        ok = meta && heed__weights_own(s, meta, r);
        json_decref(meta);
    } else
        ok = ok && heed__weights_foreign(s, r);
    heed__npz_free(&s->npz);
    return ok;
}

static bool starts(const unsigned char *bytes, size_t n, const char *with) {
    return n >= strlen(with) && memcmp(bytes, with, strlen(with)) == 0;
}

/* torch.save writes a ZIP archive whose first entry is NAME/data.pkl, or earlier a pickle. */
static bool is_of_torch(const unsigned char *bytes, size_t n) {
    enum { HEAD = 30, LENGTH = 26 };
    static const char entry[] = "/data.pkl";
    size_t end = n < HEAD ? 0 : HEAD + bytes[LENGTH] + 256 * (size_t)bytes[LENGTH + 1];
    bool zip = starts(bytes, n, "PK\3\4") && end >= HEAD + strlen(entry) && end <= n &&
               memcmp(bytes + end - strlen(entry), entry, strlen(entry)) == 0;
    return zip || starts(bytes, n, "\x80\2\x8a\x0a");
}

/* Which of its bytes are which tensor's only a program of Python's says. */
static bool refuse_torch(const heed__source *s) {
    const char *path = s->path, *dot = strrchr(path, '.');
    int n = dot && !strchr(dot, '/') ? (int)(dot - path) : (int)strlen(path);
    return heed_fail(s->c, HEED_DATA,
                     "%s is a file of torch.save: expected NPZ, NPY or JSON; hint: `python3 -c "
                     "\"import torch as t, numpy; f = lambda a, k: {k or 'attention': "
                     "a.detach().float().numpy()} if t.is_tensor(a) else {n: x for i, v in "
                     "(a.items() if isinstance(a, dict) else enumerate(a) if isinstance(a, (list, "
                     "tuple)) else ()) for n, x in f(v, f'{k}.{i}'.strip('.')).items()}; "
                     "numpy.savez('%.*s.npz', **f(t.load('%s', 'cpu'), ''))\"` writes %.*s.npz",
                     path, n, path, path, n, path);
}

/* If the first bytes match no known format, the file's name decides which one was intended. */
static bool unknown_format(const heed__source *s, const unsigned char *bytes, size_t n) {
    static const struct {
        const char *end, *kind, *expected;
    } kinds[] = {{".npz", "an NPZ file", "PK"},
                 {".npy", "an NPY file", "\\x93NUMPY"},
                 {".json", "a JSON file", "{ or ["},
                 {"", "a file of weights", "PK of NPZ, \\x93NUMPY of NPY, or { or [ of JSON"}};
    char quote[HEED_QUOTE];
    size_t length = strlen(s->path), i = 0;
    while (length < strlen(kinds[i].end) ||
           strcmp(s->path + length - strlen(kinds[i].end), kinds[i].end) != 0)
        i++;
    heed_quote(quote, (const char *)bytes, n < 8 ? n : 8);
    return heed_fail(s->c, HEED_DATA, "%s is not %s: expected %s at its start, found %s", s->path,
                     kinds[i].kind, kinds[i].expected, n ? quote : "an empty file");
}

static bool has_no_lines(const heed__source *s) {
    return heed_fail(s->c, HEED_DATA, "%s has no lines: expected a JSON file for `line`", s->path);
}

heed_record *heed__record_parse(heed_ctx *c, const char *path, int line, unsigned char *bytes,
                                size_t n) {
    heed_record *r = heed_record_new(c);
    heed__source s = {.c = c, .path = path};
    size_t at = 0;
    while (at < n && is_blank((char)bytes[at])) at++;
    bool json = at < n && (bytes[at] == '{' || bytes[at] == '[');
    bool packed = starts(bytes, n, "PK") || starts(bytes, n, "\x93NUMPY"), ok = false;
    if (r && is_of_torch(bytes, n)) {
        refuse_torch(&s);
        heed__free(bytes);
    } else if (r && packed && !line) {
        ok = read_npz(&s, bytes, n, r);
    } else {
        ok = r && (json     ? read_json(&s, line, (char *)bytes, n, r)
                   : packed ? has_no_lines(&s)
                            : unknown_format(&s, bytes, n));
        heed__free(bytes);
    }
    if (ok) return r;
    heed_record_free(r);
    return NULL;
}

heed_record *heed_record_read_line(heed_ctx *c, const char *path, int line) {
    size_t n;
    if (heed__stopped(c) || !path) return NULL;
    if (line < 0) {
        heed_fail(c, HEED_USAGE, "line is wrong: expected 0 or more, found %d", line);
        return NULL;
    }
    unsigned char *bytes = heed__os_read(c, path, FILE_LIMIT, &n);
    return bytes ? heed__record_parse(c, path, line, bytes, n) : NULL;
}

heed_record *heed_record_read(heed_ctx *c, const char *path) {
    return heed_record_read_line(c, path, 0);
}
