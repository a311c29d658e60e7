/* params.c -- parameters: named entries in order, naming scopes, patterns. */
#include "core/params.h"
#include "core/tape.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct heed_params {
    heed__owned owned;
    heed_ctx *c;
    heed_param **entries;
    size_t capacity, count;
    char **names; /* names of scopes, freed with the store */
    size_t name_capacity, name_count;
    const char **scopes; /* open scopes, outermost first; each is a full prefix */
    size_t scope_capacity, depth, unopened; /* unopened: scopes that failed, until heed_scope_pop */
    heed__store_ref *refs;
    bool expecting; /* values of a run or a file: heed__store_expect */
    const heed_params *from;
};

static void free_entry(heed_param *e) {
    if (e->tensor) {
        heed__free(heed__of(e->tensor)->undrawn);
        heed__free(e->tensor->x);
        heed__free(e->tensor->g);
        heed__free(heed__of(e->tensor)->adapter);
        heed__free(e->tensor);
    }
    heed__free((void *)(uintptr_t)e->name);
    heed__free(e);
}

static void destroy(heed__owned *object) {
    heed_params *s = (heed_params *)object;
    for (heed__store_ref *r = s->refs; r; r = r->next) r->store = NULL;
    for (size_t i = 0; i < s->count; i++) free_entry(s->entries[i]);
    for (size_t i = 0; i < s->name_count; i++) heed__free(s->names[i]);
    heed__free(s->entries);
    heed__free(s->names);
    heed__free(s->scopes);
    heed__free(s);
}

heed_params *heed_params_new(heed_ctx *c) {
    if (heed__stopped(c)) return NULL;
    heed_params *s = heed__alloc(c, sizeof *s);
    if (!s) return NULL;
    s->c = c;
    heed__own(c, &s->owned, destroy);
    return s;
}

void heed_params_free(heed_params *s) {
    if (!s) return;
    heed__disown(s->c, &s->owned);
    destroy(&s->owned);
}

void heed__store_refer(heed__store_ref *r, heed_params *s) {
    *r = (heed__store_ref){.store = s, .next = s->refs};
    s->refs = r;
}

void heed__store_release(heed__store_ref *r) {
    heed__store_ref **at = r->store ? &r->store->refs : NULL;
    while (at && *at != r) at = &(*at)->next;
    if (at) *at = r->next;
    r->store = NULL;
}

heed_ctx *heed_params_ctx(const heed_params *s) { return s ? s->c : NULL; }

/* "prefix.name", or the non-empty one of the two; NULL when out of memory. */
static char *join(heed_ctx *c, const char *prefix, const char *name) {
    size_t a = strlen(prefix), b = strlen(name);
    char *full = heed__alloc(c, a + b + 2);
    if (full) snprintf(full, a + b + 2, "%s%s%s", prefix, a && b ? "." : "", name);
    return full;
}

static const char *prefix_of(const heed_params *s) {
    return s->depth ? s->scopes[s->depth - 1] : "";
}

const char *heed_scope_push(heed_params *s, const char *format, ...) {
    if (!s) return NULL;
    s->unopened++;
    if (heed__stopped(s->c)) return NULL;
    if (!format) heed_fail(s->c, HEED_USAGE, "scope: expected a name, found NULL");
    if (!format) return NULL;
    char text[256];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n < 0 || strlen(prefix_of(s)) + (size_t)n + 1 >= sizeof text) {
        heed_fail(s->c, HEED_USAGE, "scope is too long: %.40s..: expected at most 254 bytes", text);
        return NULL;
    }
    if (!heed__grow(s->c, &s->names, &s->name_capacity, s->name_count + 1, sizeof *s->names) ||
        !heed__grow(s->c, &s->scopes, &s->scope_capacity, s->depth + 1, sizeof *s->scopes))
        return NULL;
    char *full = join(s->c, prefix_of(s), text);
    if (!full) return NULL;
    s->names[s->name_count++] = full;
    s->scopes[s->depth++] = full;
    s->unopened--;
    return full;
}

void heed_scope_pop(heed_params *s) {
    if (s && s->unopened)
        s->unopened--;
    else if (s && s->depth)
        s->depth--;
}

/* ---- initial values ---- */

static void fill(heed_tensor *t, double v) {
    for (size_t i = 0; i < t->size; i++) t->x[i] = (heed_real)v;
}

static void uniform(const heed_random *r, heed_tensor *t, double a) {
    double u[4];
    for (size_t i = 0; i < t->size; i++) {
        if (i % 4 == 0) heed__random_uniforms(r, i / 4, u);
        t->x[i] = (heed_real)(a * (2 * u[i % 4] - 1));
    }
}

static void normal(const heed_random *r, heed_tensor *t, double deviation) {
    double z[2];
    for (size_t i = 0; i < t->size; i++) {
        if (i % 2 == 0) heed__random_normals(r, i / 2, z);
        t->x[i] = (heed_real)(deviation * z[i % 2]);
    }
}

static double fan_in(const heed_tensor *t) { return (double)heed__extent(t, 1, t->dims); }

/* Convolutions (out, in, k..): the kernel's size multiplies both. */
static double fan_out(const heed_tensor *t) {
    return (double)heed__extent(t, 0, 1) * (double)heed__extent(t, 2, t->dims);
}

/* The number after "word:", if init has that form. Models format it with printf, so it may have the
 * locale's decimal point. */
static bool argument(const char *init, const char *word, double *v) {
    size_t n = strlen(word);
    char number[HEED__NUMBER];
    if (strncmp(init, word, n) != 0 || init[n] != ':') return false;
    if (strlen(init + n + 1) >= sizeof number) return false;
    char *point = strchr(strcpy(number, init + n + 1), *localeconv()->decimal_point);
    if (point) *point = '.';
    return heed__number(number, v);
}

static bool init_values(heed_ctx *c, heed_tensor *t, const char *init) {
    heed_random r = heed_random_at(heed_seed(c), t->name, 0, 0);
    double v = 0;
    if (!strcmp(init, "zero")) return true;
    if (!strcmp(init, "one"))
        fill(t, 1);
    else if (argument(init, "const", &v))
        fill(t, v);
    else if (argument(init, "normal", &v))
        normal(&r, t, v);
    else if (argument(init, "uniform", &v))
        uniform(&r, t, v);
    else if (argument(init, "kaiming", &v) && v > 0)
        uniform(&r, t, 1 / sqrt(v));
    else if (!strcmp(init, "kaiming"))
        uniform(&r, t, 1 / sqrt(fan_in(t)));
    else if (!strcmp(init, "xavier"))
        uniform(&r, t, sqrt(6 / (fan_in(t) + fan_out(t))));
    else
        return heed_fail(c, HEED_USAGE,
                         "initial value of %s is wrong: expected zero, one, const:V, "
                         "normal:S, uniform:A, kaiming[:N] or xavier, found \"%s\"",
                         t->name, init);
    return true;
}

/* ---- values that are not drawn ---- */

void heed__store_expect(heed_params *s, bool on, const heed_params *from) {
    s->expecting = on;
    s->from = from;
}

static bool is_random(const char *init) {
    static const char *const words[] = {"normal", "uniform", "kaiming", "xavier"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(init, words[i], strlen(words[i])) == 0) return true;
    return false;
}

static bool is_expected(const heed_params *s, const heed_tensor *t, const char *init) {
    if (!s->expecting || !is_random(init)) return false;
    const heed_param *e = s->from ? heed_params_find(s->from, t->name) : NULL;
    return !s->from || (e && e->rows == HEED_ROWS_UNITS && e->tensor->dims == t->dims &&
                        memcmp(e->tensor->shape, t->shape, sizeof t->shape) == 0);
}

void heed__store_known(heed_param *e) {
    heed__free(heed__of(e->tensor)->undrawn);
    heed__of(e->tensor)->undrawn = NULL;
}

void heed__store_set(heed_param *e, const heed_tensor *from) {
    memcpy(e->tensor->x, from->x, from->size * sizeof *from->x);
    heed__store_known(e);
}

bool heed__store_draw(heed_params *s, heed_param *e) {
    bool ok =
        !heed__of(e->tensor)->undrawn || init_values(s->c, e->tensor, heed__of(e->tensor)->undrawn);
    heed__store_known(e);
    return ok;
}

bool heed__store_draw_all(heed_params *s) {
    bool ok = true;
    for (size_t i = 0; ok && i < s->count; i++) ok = heed__store_draw(s, s->entries[i]);
    return ok;
}

/* ---- entries ---- */

/* Without values. */
static heed_tensor *new_tensor(heed_ctx *c, const char *name, int dims, const int *shape) {
    size_t size;
    char text[64];
    heed_tensor t = {.dims = dims, .shape = {1, 1, 1, 1}, .name = name};
    for (int i = 0; shape && i < dims && i < HEED_DIMS; i++) t.shape[i] = shape[i];
    if (!heed__shape_size(dims, shape, &size) || size == 0) {
        heed_fail(c, HEED_USAGE, "parameter %s: shape %s is empty or too large", name,
                  heed_shape_text(&t, text, sizeof text));
        return NULL;
    }
    t.size = size;
    heed__tensor *p = heed__alloc(c, sizeof *p);
    if (!p) return NULL;
    p->t = t;
    return &p->t;
}

/* Memory for the values of a file is filled at once. */
static bool give_values(heed_params *s, heed_param *e, const char *init) {
    heed_tensor *t = e->tensor;
    if (is_expected(s, t, init)) {
        t->x = (s->from ? heed__alloc_array : heed__alloc_untouched)(s->c, t->size, sizeof *t->x);
        heed__of(e->tensor)->undrawn = t->x ? heed__copy_text(s->c, init) : NULL;
        return heed__of(e->tensor)->undrawn != NULL;
    }
    t->x = heed__alloc_array(s->c, t->size, sizeof *t->x);
    return t->x && init_values(s->c, t, init);
}

static heed_tensor *add_entry(heed_params *s, const char *name, const char *init, int dims,
                              const int *shape, bool state) {
    if (s && (!name || !init || (dims && !shape)))
        heed_fail(s->c, HEED_USAGE,
                  "parameter %s cannot be made: expected a name, an init and a shape, found NULL",
                  name ? name : "");
    if (!s || heed__stopped(s->c) ||
        !heed__grow(s->c, &s->entries, &s->capacity, s->count + 1, sizeof *s->entries))
        return NULL;
    heed_param *e = heed__alloc(s->c, sizeof *e);
    if (!e) return NULL;
    char *full = join(s->c, prefix_of(s), name);
    e->name = full;
    if (full && heed_params_find(s, full))
        heed_fail(s->c, HEED_USAGE, "parameter %s exists already", full);
    if (full && !heed__stopped(s->c)) e->tensor = new_tensor(s->c, full, dims, shape);
    if (!e->tensor || !give_values(s, e, init)) {
        free_entry(e);
        return NULL;
    }
    e->trained = !state;
    e->state = state;
    e->decay = !state && dims >= 2;
    e->lr_scale = 1;
    e->tensor->wants_grad = heed__of(e->tensor)->keep_grad = !state;
    s->entries[s->count++] = e;
    return e->tensor;
}

heed_tensor *heed_param_new(heed_params *s, const char *name, const char *init, int dims,
                            const int *shape) {
    return add_entry(s, name, init, dims, shape, false);
}

heed_tensor *heed_buffer_new(heed_params *s, const char *name, const char *init, int dims,
                             const int *shape) {
    return add_entry(s, name, init, dims, shape, true);
}

bool heed__name_rows(heed_params *s, const heed_tensor *w, const char *name, int from, int count) {
    heed_param *e = w ? heed_params_find(s, w->name) : NULL;
    if (!e || !name || heed__stopped(s->c)) return false;
    int n = 0;
    while (n < HEED_RANGES && e->ranges[n].name) n++;
    if (n == HEED_RANGES || from < 0 || count < 1 || from > w->shape[0] - count)
        return heed_fail(s->c, HEED_USAGE,
                         "rows %s cannot be named: %s: expected at most %d ranges within %d rows, "
                         "found %d rows from row %d on",
                         name, e->name, HEED_RANGES, w->shape[0], count, from);
    e->ranges[n] = (heed_range){name, from, count};
    return true;
}

void heed__store_drop_adapters(heed_params *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        heed_param *e = s->entries[i];
        heed__free(heed__of(e->tensor)->adapter);
        heed__of(e->tensor)->adapter = NULL;
        if (e->adapter)
            free_entry(e);
        else
            s->entries[kept++] = e;
    }
    s->count = kept;
}

int heed_params_count(const heed_params *s) { return s ? (int)s->count : 0; }

heed_param *heed_params_at(const heed_params *s, int index) {
    return s && index >= 0 && (size_t)index < s->count ? s->entries[index] : NULL;
}

heed_param *heed_params_find(const heed_params *s, const char *name) {
    for (size_t i = 0; s && name && i < s->count; i++)
        if (!strcmp(s->entries[i]->name, name)) return s->entries[i];
    return NULL;
}

size_t heed_params_numel(const heed_params *s) {
    size_t sum = 0;
    for (size_t i = 0; s && i < s->count; i++)
        if (!s->entries[i]->state) sum += s->entries[i]->tensor->size;
    return sum;
}

/* Matches with backtracking to the last star only: linear time for one star, at most the product of
 * the lengths. */
bool heed_match(const char *pattern, const char *text) {
    const char *star = NULL, *mark = text;
    if (!pattern || !text) return false;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            mark = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++mark;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

/* The first entry from index *at on that matches; sets *at to the index after it. */
static heed_param *next_match(const heed_params *s, const char *pattern, int *at) {
    for (; s && *at < (int)s->count; (*at)++)
        if (!s->entries[*at]->state && heed_match(pattern, s->entries[*at]->name))
            return s->entries[(*at)++];
    return NULL;
}

static void set_trained(heed_param *e, bool trained) {
    e->trained = e->tensor->wants_grad = heed__of(e->tensor)->keep_grad = trained;
}

int heed_freeze(heed_params *s, const char *pattern) {
    int n = 0, at = 0;
    for (heed_param *e; (e = next_match(s, pattern, &at)); n++) {
        set_trained(e, false);
        e->thaw = 0;
    }
    return n;
}

int heed__freeze_for(heed_params *s, const char *pattern, int64_t updates) {
    int n = 0, at = 0;
    for (heed_param *e; (e = next_match(s, pattern, &at)); n++) {
        if (!e->trained || updates < 1) continue;
        set_trained(e, false);
        e->thaw = updates;
    }
    return n;
}

int heed__thaw(heed_params *s, int64_t updates) {
    int n = 0;
    for (size_t i = 0; s && i < s->count; i++) {
        heed_param *e = s->entries[i];
        if (e->trained || e->thaw < 1 || e->thaw > updates) continue;
        set_trained(e, true);
        n++;
    }
    return n;
}

int heed_set_decay(heed_params *s, const char *pattern, bool decay) {
    int n = 0, at = 0;
    for (heed_param *e; (e = next_match(s, pattern, &at)); n++) e->decay = decay;
    return n;
}

int heed_set_lr_scale(heed_params *s, const char *pattern, heed_real scale) {
    int n = 0, at = 0;
    for (heed_param *e; (e = next_match(s, pattern, &at)); n++) e->lr_scale = scale;
    return n;
}

int heed_set_rows(heed_params *s, const char *pattern, heed_row_kind rows) {
    int n = 0, at = 0;
    if (s && ((int)rows < 0 || rows > HEED_ROWS_CLASSES)) {
        heed_fail(s->c, HEED_USAGE, "kind of rows is wrong: %s: expected a heed_row_kind, found %d",
                  pattern ? pattern : "", (int)rows);
        return 0;
    }
    for (heed_param *e; (e = next_match(s, pattern, &at)); n++) e->rows = rows;
    return n;
}

void heed__store_drop_grads(heed_params *s) {
    for (size_t i = 0; i < s->count; i++) {
        heed__free(s->entries[i]->tensor->g);
        s->entries[i]->tensor->g = NULL;
    }
}

void heed_zero_grads(heed_params *s) {
    for (size_t i = 0; s && i < s->count; i++) {
        heed_tensor *t = s->entries[i]->tensor;
        if (t->g && heed__of(t)->touched) memset(t->g, 0, t->size * sizeof *t->g);
        heed__of(t)->touched = false;
    }
}

void heed__report_missing(heed_ctx *c) {
    heed__owned *o = NULL;
    while ((o = heed__owned_next(c, o, destroy))) {
        const heed_params *s = (const heed_params *)o;
        bool used = false;
        for (size_t i = 0; i < s->count; i++) used |= heed__of(s->entries[i]->tensor)->touched;
        for (size_t i = 0; used && i < s->count; i++) {
            heed_param *e = s->entries[i];
            if (!e->trained || heed__of(e->tensor)->touched || heed__of(e->tensor)->reported)
                continue;
            heed__of(e->tensor)->reported = true;
            heed_message(c, HEED_WARN,
                         "parameter %s gets no gradient: the loss does not depend on it; "
                         "hint: use it, or freeze it",
                         e->name);
        }
    }
}
