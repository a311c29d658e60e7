/* from.c -- --from FILE: a teacher's own numbers, checked. */
#include "cli/files.h"
#include "explain/explain.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 128, MOST_WIDTH = 1024 };

typedef struct {
    explaining *e;
    const char *path;
    json_t *root;
} reader;

static const char *const known[] = {
    "example", "title",  "tokens",  "sources",   "features", "memory",   "notes",  "X",
    "Z",       "W_Q",    "W_K",     "W_V",       "B_Q",      "B_K",      "B_V",    "beta",
    "causal",  "hard",   "hidden",  "target",    "Q",        "K",        "V",      "raw",
    "scaled",  "scores", "weights", "output",    "notation", "backward", "learn",  "layer",
    "head",    "W_h",    "share",   "all_heads", "normed",   "units",    "blanks", "stages",
    "choices", "B_O",    "others",  "gain",      "bias",     "eps",      NULL};

static bool refuse(const reader *r, const char *key, const char *format, ...) HEED_PRINTF(3, 4);
static bool refuse(const reader *r, const char *key, const char *format, ...) {
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return heed_fail(r->e->c, HEED_DATA, "%s is wrong: %s: %s; hint: `help explain`", key, r->path,
                     text);
}

static bool check_keys(reader *r) {
    const char *key;
    json_t *value;
    json_object_foreach(r->root, key, value) {
        int i = 0;
        char shown[80];
        while (known[i] && strcmp(known[i], key) != 0) i++;
        if (known[i]) continue;
        const char *near = heed_closest(key, known);
        short_label(shown, key);
        return refuse(r, shown, near ? "unknown name: did you mean %s?" : "unknown name",
                      near ? near : "");
    }
    return true;
}

/* ---- matrices ---- */

/* The required numbers of rows and columns; 0: any up to the limit. */
typedef struct {
    int rows, cols;
    const char *why_rows, *why_cols; /* "a row for each column of X" */
} shape;

static bool number_at(reader *r, const char *key, const json_t *row, int i, int j, double *x) {
    const json_t *v = json_array_get(row, (size_t)j);
    if (!json_is_number(v))
        return refuse(r, key, "row %d, column %d: expected a number", i + 1, j + 1);
    *x = json_number_value(v);
    if (fabs(*x) <= LARGEST_NUMBER) return true;
    return refuse(r, key, "row %d, column %d: expected a number from -%g to %g, found %g", i + 1,
                  j + 1, LARGEST_NUMBER, LARGEST_NUMBER, *x);
}

/* A matrix with one row may be a plain list of numbers. */
static const json_t *row_at(const json_t *v, const shape *s, int i) {
    bool plain = s->rows == 1 && json_is_number(json_array_get(v, 0));
    return plain ? v : json_array_get(v, (size_t)i);
}

static bool check_shape(reader *r, const char *key, const json_t *v, shape *s) {
    const json_t *first = row_at(v, s, 0);
    int rows = first == v ? 1 : (int)json_array_size(v), cols = (int)json_array_size(first);
    int most = s->rows ? s->rows : strcmp(key, "X") && strcmp(key, "Z") ? MOST_WIDTH : MOST_TOKENS;
    if (!rows || !cols) return refuse(r, key, "expected a list of rows, each a list of numbers");
    if (s->rows ? rows != s->rows : rows > most)
        return refuse(r, key,
                      s->rows ? "expected %d rows, %s; found %d"
                              : "expected at most %d rows%s; found %d",
                      most, s->rows ? s->why_rows : "", rows);
    if (s->cols ? cols != s->cols : cols > MOST_WIDTH)
        return refuse(r, key,
                      s->cols ? "expected %d columns, %s; found %d"
                              : "expected at most %d columns%s; found %d",
                      s->cols ? s->cols : MOST_WIDTH, s->cols ? s->why_cols : "", cols);
    s->rows = rows, s->cols = cols;
    return true;
}

/* Reads the matrix `key` as numbers that the head owns; s gets its sizes. */
static const double *read_matrix(reader *r, const char *key, shape *s) {
    const json_t *v = json_object_get(r->root, key);
    if (!v) {
        refuse(r, key, "missing: expected a matrix, as a list of rows");
        return NULL;
    }
    if (!check_shape(r, key, v, s)) return NULL;
    double *x =
        worked_keep(r->e->c, &r->e->w, malloc((size_t)s->rows * (size_t)s->cols * sizeof *x));
    for (int i = 0; x && i < s->rows; i++) {
        const json_t *row = row_at(v, s, i);
        if ((int)json_array_size(row) != s->cols) {
            refuse(r, key, "row %d: expected %d numbers as in row 1, found %d", i + 1, s->cols,
                   (int)json_array_size(row));
            return NULL;
        }
        for (int j = 0; j < s->cols; j++)
            if (!number_at(r, key, row, i, j, &x[i * s->cols + j])) return NULL;
    }
    return x;
}

static const double *read_optional(reader *r, const char *key, shape s) {
    return json_object_get(r->root, key) ? read_matrix(r, key, &s) : NULL;
}

/* ---- labels and settings ---- */

static const char *const *read_labels(reader *r, const json_t *v, const char *key, int count) {
    if (!v || json_is_null(v)) return NULL;
    if ((int)json_array_size(v) != count) {
        refuse(r, key, "expected a list of %d labels, found %d", count, (int)json_array_size(v));
        return NULL;
    }
    const char **list = worked_keep(r->e->c, &r->e->w, malloc((size_t)count * sizeof *list));
    for (int i = 0; list && i < count; i++) {
        list[i] = json_string_value(json_array_get(v, (size_t)i));
        if (list[i]) continue;
        refuse(r, key, "label %d: expected a text", i + 1);
        return NULL;
    }
    return list;
}

static bool read_flag(reader *r, const char *key, bool *flag) {
    const json_t *v = json_object_get(r->root, key);
    if (v && !json_is_boolean(v)) return refuse(r, key, "expected true or false");
    *flag = json_is_true(v);
    return true;
}

static bool read_settings(reader *r, heed_lesson_args *a) {
    const json_t *beta = json_object_get(r->root, "beta"), *h = json_object_get(r->root, "hidden");
    if (beta && (!json_is_number(beta) || fabs(json_number_value(beta)) > LARGEST_NUMBER))
        return refuse(r, "beta", "expected a number from -%g to %g", LARGEST_NUMBER,
                      LARGEST_NUMBER);
    a->beta = beta ? json_number_value(beta) : (double)NAN;
    if (!read_flag(r, "causal", &a->causal) || !read_flag(r, "hard", &a->hard)) return false;
    if (!h) return true;
    if ((int)json_array_size(h) != a->sources)
        return refuse(r, "hidden", "expected a list of %d numbers, 0 or 1, found %d", a->sources,
                      (int)json_array_size(h));
    unsigned char *hide = worked_keep(r->e->c, &r->e->w, malloc((size_t)a->sources));
    for (int i = 0; hide && i < a->sources; i++) {
        const json_t *v = json_array_get(h, (size_t)i);
        if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > 1)
            return refuse(r, "hidden", "number %d: expected 0 or 1", i + 1);
        hide[i] = json_integer_value(v) == 1;
    }
    a->hide = hide;
    return hide != NULL;
}

/* Reads the object under key, or NULL if there is none. False: it is not an object. */
static bool read_object(reader *r, const char *key, const json_t **out) {
    *out = json_object_get(r->root, key);
    if (*out && json_is_null(*out)) *out = NULL;
    return !*out || json_is_object(*out) || refuse(r, key, "expected an object of lists of labels");
}

static bool read_notes(reader *r, const heed_lesson_args *a, worked *w) {
    static const char *const names[] = {"W_Q", "W_K", "W_V"};
    const json_t *notes;
    if (!read_object(r, "notes", &notes)) return false;
    for (int i = 0; i < 3; i++)
        w->notes[i] =
            read_labels(r, json_object_get(notes, names[i]), names[i], i ? a->memory : a->features);
    return heed_ctx_status(r->e->c) == HEED_OK;
}

/* ---- the head ---- */

static bool needs(const reader *r, const char *key, const char *other) {
    if (!json_object_get(r->root, key) || json_object_get(r->root, other)) return true;
    return refuse(r, key, "expected %s beside it", other);
}

/* Reads W_h and the other parts of a layer. */
static bool read_layer(reader *r, heed_lesson_args *a) {
    const json_t *eps = json_object_get(r->root, "eps");
    if (!needs(r, "B_O", "W_h") || !needs(r, "others", "W_h") || !needs(r, "gain", "W_h") ||
        !needs(r, "bias", "gain"))
        return false;
    if (!json_object_get(r->root, "W_h")) return true;
    shape h = {.rows = a->value, .why_rows = "one for each column of W_V"};
    shape all = {a->tokens, 0, "one for each token", "as many as W_h has"};
    shape one = {1, 0, "of numbers for every token", "as many as W_h has"};
    if (json_object_get(r->root, "gain"))
        h.cols = a->features, h.why_cols = "as many as X has, for the norm";
    if (!(a->w_h = read_matrix(r, "W_h", &h))) return false;
    a->width = all.cols = one.cols = h.cols;
    a->b_o = read_optional(r, "B_O", one);
    a->others = read_optional(r, "others", all);
    a->gain = read_optional(r, "gain", one);
    a->norm_bias = read_optional(r, "bias", one);
    a->eps = eps ? json_number_value(eps) : 1e-5;
    if (eps && (!json_is_number(eps) || !(a->eps >= 0 && a->eps <= 1)))
        return refuse(r, "eps", "expected a number from 0 to 1");
    return heed_ctx_status(r->e->c) == HEED_OK;
}

static bool read_numbers(reader *r, heed_lesson_args *a) {
    shape x = {0}, z, q, k, v;
    if (!(a->x = read_matrix(r, "X", &x))) return false;
    z = x;
    if (json_object_get(r->root, "Z")) {
        z = (shape){0};
        if (!(a->z = read_matrix(r, "Z", &z))) return false;
    }
    q = (shape){.rows = x.cols, .why_rows = "one for each column of X"};
    if (!(a->w_q = read_matrix(r, "W_Q", &q))) return false;
    k = (shape){z.cols, q.cols, a->z ? "one for each column of Z" : "one for each column of X",
                "as many as W_Q has"};
    if (!(a->w_k = read_matrix(r, "W_K", &k))) return false;
    v = (shape){.rows = z.cols,
                .why_rows = a->z ? "one for each column of Z" : "one for each column of X"};
    if (!(a->w_v = read_matrix(r, "W_V", &v))) return false;
    a->tokens = x.rows, a->features = x.cols, a->sources = z.rows, a->memory = z.cols;
    a->key = q.cols, a->value = v.cols;
    shape qk = {1, a->key, "of numbers that are added", "as many as W_Q has"};
    shape vv = {1, a->value, "of numbers that are added", "as many as W_V has"};
    a->b_q = read_optional(r, "B_Q", qk);
    a->b_k = read_optional(r, "B_K", qk);
    a->b_v = read_optional(r, "B_V", vv);
    return heed_ctx_status(r->e->c) == HEED_OK && read_layer(r, a);
}

static bool read_text(const reader *r, const char *key, const char *otherwise, const char **out) {
    const json_t *v = json_object_get(r->root, key);
    *out = v && !json_is_null(v) ? json_string_value(v) : otherwise;
    return *out || refuse(r, key, "expected a text");
}

static bool read_head(reader *r) {
    worked *w = &r->e->w;
    heed_lesson_args a = {0};
    if (!check_keys(r) || !read_numbers(r, &a) || !read_settings(r, &a)) return false;
    shape target = {a.tokens, a.value, "one for each token", "as many as W_V has"};
    w->target = read_optional(r, "target", target);
    if (!read_text(r, "example", r->path, &w->example) ||
        !read_text(r, "title", w->example, &w->title))
        return false;
    w->tokens = read_labels(r, json_object_get(r->root, "tokens"), "tokens", a.tokens);
    w->features = read_labels(r, json_object_get(r->root, "features"), "features", a.features);
    if (a.z) {
        w->sources = read_labels(r, json_object_get(r->root, "sources"), "sources", a.sources);
        w->memory = read_labels(r, json_object_get(r->root, "memory"), "memory", a.memory);
    }
    const json_t *units;
    if (!read_object(r, "units", &units)) return false;
    w->q = read_labels(r, json_object_get(units, "q"), "units", a.key);
    w->v = read_labels(r, json_object_get(units, "v"), "units", a.value);
    if (!read_notes(r, &a, w)) return false;
    return worked_make(r->e, &a, *w);
}

/* ---- the file ---- */

/* Reads the head in r->root; if that is NULL, errno and error say why. */
static bool read_root(reader *r, const json_error_t *error) {
    char text[200], found[200];
    r->e->w.file = r->root;
    if (json_is_object(r->root)) return read_head(r);
    if (r->root)
        return heed_fail(
            r->e->c, HEED_DATA,
            "%s is no example: expected an object with X, W_Q, W_K and W_V; hint: `help "
            "explain`",
            r->path);
    if (error->line < 0)
        return heed_fail(r->e->c, HEED_DATA, "cannot read %s: %s", r->path, strerror(errno));
    snprintf(text, sizeof text, "%s", error->text);
    heed_format_token(found, sizeof found, text);
    return heed_fail(r->e->c, HEED_DATA, "%s is no valid JSON: line %d, column %d: %s", r->path,
                     error->line, error->column, found);
}

bool example_parse(explaining *e, const char *path, const char *json, size_t n) {
    json_error_t error;
    reader r = {.e = e, .path = path};
    r.root = json_loadb(json, n, JSON_REJECT_DUPLICATES, &error);
    return read_root(&r, &error);
}

bool example_read(explaining *e, const char *path) {
    json_error_t error;
    reader r = {.e = e, .path = path};
    if (strcmp(path, "-") == 0) {
        heed_text typed = {.c = e->c};
        bool ok =
            read_stdin(e->c, &typed) && example_parse(e, path, typed.s ? typed.s : "", typed.n);
        heed_text_free(&typed);
        return ok;
    }
    if (is_directory(path))
        return heed_fail(e->c, HEED_DATA, "cannot read %s: it is a folder", path);
    r.root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    return read_root(&r, &error);
}
