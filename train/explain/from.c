/* from.c -- --from FILE: a teacher's own numbers, checked. */
#include "cli/os_files.h"
#include "explain/explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 128, MOST_WIDTH = 1024 };

/* The sizes of a head; 0: any up to the limit, and the first matrix that has it decides. */
enum { ONE, TOKENS, SOURCES, FEATURES, MEMORY, KEY, VALUE, WIDTH, SIZES };

typedef struct {
    explaining *e;
    const char *path;
    json_t *root;
    int size[SIZES];
} reader;

static const char *const known[] = {
    "example", "title",    "tokens",   "sources",   "features", "memory",   "notes",  "X",
    "Z",       "W_Q",      "W_K",      "W_V",       "B_Q",      "B_K",      "B_V",    "beta",
    "causal",  "hard",     "hidden",   "target",    "Q",        "K",        "V",      "raw",
    "scaled",  "scores",   "weights",  "output",    "notation", "backward", "learn",  "layer",
    "head",    "W_h",      "share",    "all_heads", "normed",   "units",    "blanks", "B_O",
    "others",  "gain",     "bias",     "eps",       "rotary",   "steps",    "Q_R",    "K_R",
    "place",   "pre_norm", "rms_norm", "custom",    NULL};

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

typedef struct {
    const char *key;
    int rows, cols;                  /* of the sizes above */
    const char *why_rows, *why_cols; /* for messages, when a size is known */
} shape;

/* A matrix with one row may be a plain list of numbers. */
static const json_t *row_at(const json_t *v, bool one, int i) {
    return one && json_is_number(json_array_get(v, 0)) ? v : json_array_get(v, (size_t)i);
}

/* Whether a matrix has the sizes that are known; sets those that are not. */
static bool check_shape(reader *r, const json_t *v, const shape *s) {
    const json_t *first = row_at(v, r->size[s->rows] == 1, 0);
    int rows = first == v ? 1 : (int)json_array_size(v), cols = (int)json_array_size(first);
    int *known_rows = &r->size[s->rows], *known_cols = &r->size[s->cols];
    int most = s->rows == TOKENS || s->rows == SOURCES ? MOST_TOKENS : MOST_WIDTH;
    if (!rows || !cols) return refuse(r, s->key, "expected a list of rows, each a list of numbers");
    if (*known_rows && rows != *known_rows)
        return refuse(r, s->key, "expected %d rows, %s; found %d", *known_rows, s->why_rows, rows);
    if (!*known_rows && rows > most)
        return refuse(r, s->key, "expected at most %d rows; found %d", most, rows);
    if (*known_cols && cols != *known_cols)
        return refuse(r, s->key, "expected %d columns, %s; found %d", *known_cols, s->why_cols,
                      cols);
    if (!*known_cols && cols > MOST_WIDTH)
        return refuse(r, s->key, "expected at most %d columns; found %d", MOST_WIDTH, cols);
    *known_rows = rows, *known_cols = cols;
    return true;
}

/* Reads a matrix as numbers that the head owns. NULL: an error. */
static const double *read_matrix(reader *r, const shape *s) {
    const json_t *v = json_object_get(r->root, s->key);
    if (!check_shape(r, v, s)) return NULL;
    int rows = r->size[s->rows], cols = r->size[s->cols];
    double *x = room(r->e, (size_t)rows * (size_t)cols, sizeof *x);
    for (int i = 0; x && i < rows; i++) {
        const json_t *row = row_at(v, rows == 1, i);
        if ((int)json_array_size(row) != cols) {
            refuse(r, s->key, "row %d: expected %d numbers as in row 1, found %d", i + 1, cols,
                   (int)json_array_size(row));
            return NULL;
        }
        for (int j = 0; j < cols; j++) {
            const json_t *number = json_array_get(row, (size_t)j);
            x[i * cols + j] = json_number_value(number);
            if (json_is_number(number) && fabs(x[i * cols + j]) <= LARGEST_NUMBER) continue;
            if (json_is_number(number))
                refuse(r, s->key, "row %d, column %d: expected a number from -%g to %g, found %g",
                       i + 1, j + 1, LARGEST_NUMBER, LARGEST_NUMBER, x[i * cols + j]);
            else
                refuse(r, s->key, "row %d, column %d: expected a number", i + 1, j + 1);
            return NULL;
        }
    }
    return x;
}

/* ---- labels and settings ---- */

static const char *const *read_labels(reader *r, const json_t *v, const char *key, int count) {
    if (!v || json_is_null(v)) return NULL;
    if ((int)json_array_size(v) != count) {
        refuse(r, key, "expected a list of %d labels, found %d", count, (int)json_array_size(v));
        return NULL;
    }
    const char **list = room(r->e, (size_t)count, sizeof *list);
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

static bool read_settings(reader *r, heed_attention_trace_args *a) {
    const json_t *beta = json_object_get(r->root, "beta"), *eps = json_object_get(r->root, "eps");
    const json_t *h = json_object_get(r->root, "hidden");
    const json_t *theta = json_object_get(r->root, "rotary");
    if (beta && (!json_is_number(beta) || fabs(json_number_value(beta)) > LARGEST_NUMBER))
        return refuse(r, "beta", "expected a number from -%g to %g", LARGEST_NUMBER,
                      LARGEST_NUMBER);
    a->beta = beta ? json_number_value(beta) : (double)NAN;
    if (a->w_h) a->eps = eps ? json_number_value(eps) : 1e-5;
    if (a->w_h && eps && (!json_is_number(eps) || !(a->eps >= 0 && a->eps <= 1)))
        return refuse(r, "eps", "expected a number from 0 to 1");
    if (theta && !(json_is_number(theta) && (a->rotary = json_number_value(theta)) > 0))
        return refuse(r, "rotary", "expected a number above 0, theta");
    if (!read_flag(r, "causal", &a->causal) || !read_flag(r, "hard", &a->hard)) return false;
    if (!h) return true;
    if ((int)json_array_size(h) != a->sources)
        return refuse(r, "hidden", "expected a list of %d numbers, 0 or 1, found %d", a->sources,
                      (int)json_array_size(h));
    unsigned char *hide = room(r->e, (size_t)a->sources, 1);
    for (int i = 0; hide && i < a->sources; i++) {
        const json_t *v = json_array_get(h, (size_t)i);
        if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > 1)
            return refuse(r, "hidden", "number %d: expected 0 or 1", i + 1);
        hide[i] = json_integer_value(v) == 1;
    }
    a->hide = hide;
    return true;
}

/* Reads the object under key, or NULL if there is none. False: it is not an object. */
static bool read_object(reader *r, const char *key, const json_t **out) {
    *out = json_object_get(r->root, key);
    if (*out && json_is_null(*out)) *out = NULL;
    return !*out || json_is_object(*out) || refuse(r, key, "expected an object of lists of labels");
}

/* ---- the head ---- */

/* Reads all matrices, each after those whose sizes it must have. */
static bool read_numbers(reader *r, heed_attention_trace_args *a) {
    bool z = json_object_get(r->root, "Z"), norm = json_object_get(r->root, "gain");
    const char *source = z ? "one for each column of Z" : "one for each column of X";
    const char *added = "of numbers that are added", *each = "of numbers for every token";
    const char *queries = "as many as W_Q has", *values = "as many as W_V has";
    const char *layer = "as many as W_h has", *normed = "as many as X has, for the norm";
    int sources = z ? SOURCES : TOKENS, memory = z ? MEMORY : FEATURES;
    int width = norm ? FEATURES : WIDTH;
    const struct {
        const double **to;
        bool required;
        const char *needs; /* what must be given, too; or NULL */
        shape s;
    } all[] = {
        {&a->x, true, NULL, {"X", TOKENS, FEATURES, "", ""}},
        {&a->z, false, NULL, {"Z", SOURCES, MEMORY, "", ""}},
        {&a->w_q, true, NULL, {"W_Q", FEATURES, KEY, "one for each column of X", ""}},
        {&a->w_k, true, NULL, {"W_K", memory, KEY, source, queries}},
        {&a->w_v, true, NULL, {"W_V", memory, VALUE, source, ""}},
        {&a->b_q, false, NULL, {"B_Q", ONE, KEY, added, queries}},
        {&a->b_k, false, NULL, {"B_K", ONE, KEY, added, queries}},
        {&a->b_v, false, NULL, {"B_V", ONE, VALUE, added, values}},
        {&a->w_h, false, NULL, {"W_h", VALUE, width, "one for each column of W_V", normed}},
        {&a->b_o, false, "W_h", {"B_O", ONE, width, each, layer}},
        {&a->others, false, "W_h", {"others", TOKENS, width, "one for each token", layer}},
        {&a->gain, false, "W_h", {"gain", ONE, width, each, layer}},
        {&a->norm_bias, false, "gain", {"bias", ONE, width, each, layer}},
        {&r->e->w.target, false, NULL, {"target", TOKENS, VALUE, "one for each token", values}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *key = all[i].s.key, *needs = all[i].needs;
        bool given = json_object_get(r->root, key);
        if (all[i].required && !given)
            return refuse(r, key, "missing: expected a matrix, as a list of rows");
        if (given && needs && !json_object_get(r->root, needs))
            return refuse(r, key, "expected %s beside it", needs);
        if (given && !(*all[i].to = read_matrix(r, &all[i].s))) return false;
    }
    a->tokens = r->size[TOKENS], a->features = r->size[FEATURES];
    a->sources = r->size[sources], a->memory = r->size[memory];
    a->key = r->size[KEY], a->value = r->size[VALUE];
    a->width = a->w_h ? r->size[width] : 0;
    return true;
}

static bool read_text(const reader *r, const char *key, const char *otherwise, const char **out) {
    const json_t *v = json_object_get(r->root, key);
    *out = v && !json_is_null(v) ? json_string_value(v) : otherwise;
    return *out || refuse(r, key, "expected a text");
}

static bool read_head(reader *r) {
    worked *w = &r->e->w;
    heed_attention_trace_args a = {0};
    r->size[ONE] = 1;
    if (!check_keys(r) || !read_numbers(r, &a) || !read_settings(r, &a)) return false;
    if (!read_text(r, "example", r->path, &w->example) ||
        !read_text(r, "title", w->example, &w->title))
        return false;
    w->tokens = read_labels(r, json_object_get(r->root, "tokens"), "tokens", a.tokens);
    w->features = read_labels(r, json_object_get(r->root, "features"), "features", a.features);
    if (a.z) {
        w->sources = read_labels(r, json_object_get(r->root, "sources"), "sources", a.sources);
        w->memory = read_labels(r, json_object_get(r->root, "memory"), "memory", a.memory);
    }
    if (!read_flag(r, "pre_norm", &w->pre) || !read_flag(r, "rms_norm", &w->rms) ||
        !read_flag(r, "custom", &w->custom))
        return false;
    if (w->pre && a.gain) return refuse(r, "gain", "expected none with pre_norm");
    const json_t *units, *notes;
    if (!read_object(r, "units", &units) || !read_object(r, "notes", &notes)) return false;
    w->q = read_labels(r, json_object_get(units, "q"), "units", a.key);
    w->v = read_labels(r, json_object_get(units, "v"), "units", a.value);
    for (int i = 0; i < 3; i++) {
        const char *key =
            heed_attention_trace_name((heed_attention_trace_part)(HEED_TRACE_W_Q + i));
        w->notes[i] = read_labels(r, json_object_get(notes, key), key, i ? a.memory : a.features);
    }
    return heed_ctx_status(r->e->c) == HEED_OK && worked_make(r->e, &a, *w);
}

/* ---- the file ---- */

bool example_parse(explaining *e, const char *path, const char *json, size_t n) {
    json_error_t error;
    char found[200];
    reader r = {.e = e, .path = path};
    e->w.file = r.root = json_loadb(json, n, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(r.root)) return read_head(&r);
    if (r.root)
        return heed_fail(e->c, HEED_DATA,
                         "%s is not an example: expected an object with X, W_Q, W_K and W_V; hint: "
                         "`help explain`",
                         path);
    heed_format_token(found, sizeof found, error.text);
    return heed_fail(e->c, HEED_DATA, "%s is not valid JSON: line %d, column %d: %s", path,
                     error.line, error.column, found);
}

bool example_read(explaining *e, const char *path) {
    heed_text typed = {.c = e->c};
    char *text = NULL;
    size_t n = 0;
    bool input = strcmp(path, "-") == 0;
    bool ok = input ? read_stdin(e->c, &typed) : (text = heed_text_read(e->c, path, &n)) != NULL;
    if (input) n = typed.n;
    ok = ok && example_parse(e, path, text ? text : typed.s ? typed.s : "", n);
    heed_text_free(&typed);
    free(text);
    return ok;
}
