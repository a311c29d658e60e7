/* tensors.c -- the names, shapes and values of published tensors. */
#include "core/core.h"
#include "core/os.h"
#include "core/store.h"
#include "exchange/exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A published tensor, and the rows of the parameter that it holds. */
typedef struct {
    char name[HEED__WORD_SIZE];
    int dims, shape[HEED_DIMS + 1];
    int from, rows, paired; /* paired: columns of a head, in pairs; 0: as they are here */
    heed_published_form form;
} published_part;

/* ---- names ---- */

/* Whether name is the pattern, in which # is a number. */
static bool fits(const char *pattern, const char *name, char number[12]) {
    number[0] = 0;
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*name++ != *pattern) return false;
            continue;
        }
        size_t digits = strspn(name, "0123456789");
        if (!digits || digits > 11) return false;
        snprintf(number, 12, "%.*s", (int)digits, name);
        name += digits;
    }
    return !*name;
}

/* The row of p's table for a parameter, from `row` on; NULL: there is none. number: what # is. */
static const heed_published_tensor *row_for(const heed_published_tensor *row, const char *name,
                                            char number[12]) {
    for (; row->name; row++)
        if (fits(row->name, name, number)) return row;
    return NULL;
}

/* Replaces the # of a name by the number. */
static void put_number(char name[HEED__WORD_SIZE], const char *number) {
    char *at = strchr(name, '#'), rest[HEED__WORD_SIZE];
    if (!at) return;
    snprintf(rest, sizeof rest, "%s", at + 1);
    snprintf(at, (size_t)(HEED__WORD_SIZE - (at - name)), "%s%s", number, rest);
}

/* ---- shapes ---- */

/* The ranges of e, or, for a bias, of its weight. */
static const heed_range *ranges_of(const heed_store *s, const heed_entry *e) {
    char weight[HEED__WORD_SIZE];
    size_t n = strlen(e->name), ending = strlen(".bias");
    if (e->ranges[0].count || n <= ending || strcmp(e->name + n - ending, ".bias") != 0)
        return e->ranges;
    snprintf(weight, sizeof weight, "%.*s.weight", (int)(n - ending), e->name);
    const heed_entry *beside = heed_store_find(s, weight);
    return beside ? beside->ranges : e->ranges;
}

static void set_shape(published_part *part, const heed_tensor *own) {
    part->dims = 0;
    if (part->form == HEED_PUBLISHED_LEADING) part->shape[part->dims++] = 1;
    for (int i = 0; i < own->dims; i++) part->shape[part->dims++] = i ? own->shape[i] : part->rows;
    if (part->form != HEED_PUBLISHED_TRANSPOSED || part->dims != 2) return;
    part->shape[0] = own->shape[1];
    part->shape[1] = part->rows;
}

/* The tensors of a row for an entry of s; returns how many, 0 if its ranges do not fit. */
static int parts_of(const heed_published_tensor *row, const char *number, const heed_config *f,
                    const heed_store *s, const heed_entry *e, published_part parts[HEED_RANGES]) {
    const heed_range *ranges = ranges_of(s, e);
    bool paired = row->form == HEED_PUBLISHED_PAIRED;
    int head = paired ? (int)(heed_config_int(f, "width") / heed_config_int(f, "heads")) : 0;
    int count = 0, from = 0, all = e->tensor->shape[0];
    char word[HEED__WORD_SIZE];
    for (const char *list = row->published; heed__list_word(&list, word); count++) {
        if (count == HEED_RANGES) return 0;
        published_part *part = &parts[count];
        bool several = strchr(row->published, ' ') != NULL;
        int rows = several ? ranges[count].count : all;
        *part = (published_part){.form = row->form, .from = from, .rows = rows};
        part->paired = count < 2 ? head : 0; /* queries and keys, but not values */
        memcpy(part->name, word, sizeof word);
        put_number(part->name, number);
        if (several && ranges[count].from != from) return 0;
        from += part->rows;
        set_shape(part, e->tensor);
    }
    return from == all ? count : 0;
}

/* The row of the parameter that is row r of its tensor. */
static size_t own_row(const published_part *part, size_t r) {
    size_t head = (size_t)part->paired, within = head ? r % head : 0;
    return r - within + within % 2 * (head / 2) + within / 2;
}

/* Copies between a parameter and the values of one of its tensors. */
static void copy_part(const published_part *part, heed_tensor *own, heed_real *values, bool out) {
    size_t width = own->size / (size_t)own->shape[0], rows = (size_t)part->rows;
    heed_real *x = own->x + (size_t)part->from * width;
    bool transposed = part->form == HEED_PUBLISHED_TRANSPOSED;
    for (size_t r = 0; r < rows; r++) {
        heed_real *row = x + own_row(part, r) * width;
        for (size_t i = 0; i < width; i++) {
            heed_real *mine = &row[i], *theirs = &values[transposed ? i * rows + r : r * width + i];
            *(out ? theirs : mine) = *(out ? mine : theirs);
        }
    }
}

/* ---- the tensors of a folder ---- */

/* name: as the tables have it, but without the prefix. */
typedef struct {
    char name[HEED__WORD_SIZE];
    const heed_safetensors *file;
    const heed_array *array;
    bool used;
} found;

enum { SHARDS = 1024 };
struct heed__weights {
    heed_ctx *c;
    const heed_published *p;
    const char *dir;
    heed_safetensors *files[SHARDS];
    int file_count;
    found *list;
    size_t count, capacity;
};

static const char *without_prefix(const heed_published *p, const char *name) {
    size_t n = p->prefix ? strlen(p->prefix) : 0;
    return n && strncmp(name, p->prefix, n) == 0 ? name + n : name;
}

/* Replaces the parts of a name that the tables know by others. */
static bool rename_parts(const heed_published *p, char name[HEED__WORD_SIZE]) {
    for (const char *const *pair = p->renames; pair && pair[0]; pair += 2) {
        char *at = strstr(name, pair[0]), rest[HEED__WORD_SIZE];
        if (!at) continue;
        snprintf(rest, sizeof rest, "%s", at + strlen(pair[0]));
        if (strlen(name) + strlen(pair[1]) >= HEED__WORD_SIZE) return false;
        snprintf(at, (size_t)(HEED__WORD_SIZE - (at - name)), "%s%s", pair[1], rest);
    }
    return true;
}

/* Of names, or of tensors, which begin with theirs. */
static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* Sorts the tensors by name; none may be there twice. */
static bool sort_tensors(heed__weights *w) {
    char quoted[HEED_QUOTE];
    if (w->count) qsort(w->list, w->count, sizeof *w->list, by_name);
    for (size_t i = 1; i < w->count; i++)
        if (strcmp(w->list[i - 1].name, w->list[i].name) == 0)
            return heed_fail(
                w->c, HEED_DATA, "tensor is there twice: %s: %s", w->dir,
                heed_quote(quoted, w->list[i].array->name, strlen(w->list[i].array->name)));
    return true;
}

static found *find(const heed__weights *w, const char *name) {
    name = without_prefix(w->p, name);
    return w->count ? bsearch(name, w->list, w->count, sizeof *w->list, by_name) : NULL;
}

static bool add_tensor(heed__weights *w, const heed_safetensors *file, const heed_array *a) {
    char quoted[HEED_QUOTE], name[HEED__WORD_SIZE];
    heed_quote(quoted, a->name, strlen(a->name));
    bool ok = strlen(a->name) < sizeof name;
    if (ok) {
        snprintf(name, sizeof name, "%s", a->name);
        ok = rename_parts(w->p, name);
    }
    if (!ok)
        return heed_fail(w->c, HEED_DATA, "name of a tensor is too long: %s: %s", w->dir, quoted);
    if (!heed__grow(w->c, &w->list, &w->capacity, w->count + 1, sizeof *w->list)) return false;
    found *to = &w->list[w->count++];
    *to = (found){.file = file, .array = a};
    snprintf(to->name, sizeof to->name, "%s", without_prefix(w->p, name));
    return true;
}

static bool add_file(heed__weights *w, const char *name) {
    heed_text path = {.c = w->c};
    if (w->file_count == SHARDS)
        return heed_fail(w->c, HEED_DATA, "too many files of weights: %s: expected at most %d",
                         w->dir, SHARDS);
    bool plain = heed_text_add(&path, "%s/%s", w->dir, name) && heed__plain_file(w->c, path.s);
    heed_safetensors *f = plain ? heed__safetensors_head(w->c, path.s) : NULL;
    heed_text_free(&path);
    if (!f) return false;
    w->files[w->file_count++] = f;
    for (int i = 0; i < heed_safetensors_count(f); i++)
        if (!add_tensor(w, f, heed_safetensors_at(f, i))) return false;
    return true;
}

/* ---- shards ---- */

/* {"weight_map": {"TENSOR": "FILE"}}; the files lie in the same folder. */
static bool add_shards(heed__weights *w, const char *path) {
    json_t *index = heed__plain_json(w->c, path), *value, *seen = json_object();
    const json_t *map = json_object_get(index, "weight_map");
    const char *key;
    bool ok = index && seen;
    if (ok && !json_is_object(map))
        ok = heed_fail(w->c, HEED_DATA,
                       "list of weights is wrong: %s: expected an object weight_map", path);
    json_object_foreach(ok ? (json_t *)(uintptr_t)map : NULL, key, value) {
        const char *file = json_string_value(value);
        char quoted[HEED_QUOTE];
        if (!file || !*file || strchr(file, '/') || file[0] == '.')
            ok = heed_fail(w->c, HEED_DATA,
                           "list of weights is wrong: %s: %s: expected a file of this folder", path,
                           heed_quote(quoted, key, strlen(key)));
        if (ok && !json_object_get(seen, file))
            ok = add_file(w, file) && json_object_set_new(seen, file, json_true()) == 0;
        if (!ok) break;
    }
    json_decref(index);
    json_decref(seen);
    return ok || heed_fail(w->c, HEED_FAILED, "cannot read %s: out of memory", path);
}

/* model.safetensors, or the shards that model.safetensors.index.json lists. */
static bool add_files(heed__weights *w) {
    heed_text whole = {.c = w->c}, index = {.c = w->c};
    bool ok = heed_text_add(&whole, "%s/model.safetensors", w->dir) &&
              heed_text_add(&index, "%s/model.safetensors.index.json", w->dir);
    if (ok && heed__os_exists(whole.s))
        ok = add_file(w, "model.safetensors");
    else if (ok && heed__os_exists(index.s))
        ok = add_shards(w, index.s);
    else if (ok)
        ok = heed_fail(w->c, HEED_DATA,
                       "weights are missing: %s: expected model.safetensors or "
                       "model.safetensors.index.json; hint: transformers writes it by "
                       "save_pretrained",
                       w->dir);
    heed_text_free(&whole);
    heed_text_free(&index);
    return ok;
}

heed__weights *heed__weights_open(heed_ctx *c, const heed_published *p, const char *dir) {
    heed__weights *w = heed__alloc(c, sizeof *w);
    if (!w) return NULL;
    *w = (heed__weights){.c = c, .p = p, .dir = dir};
    if (add_files(w) && sort_tensors(w)) return w;
    heed__weights_close(w);
    return NULL;
}

void heed__weights_close(heed__weights *w) {
    if (!w) return;
    for (int i = 0; i < w->file_count; i++) heed_safetensors_close(w->files[i]);
    heed__free(w->list);
    heed__free(w);
}

/* ---- copies ---- */

/* Whether a copy is no copy, as a parameter has the tensor. */
static bool is_owned(const heed_published *p, const heed_store *s,
                     const heed_published_tensor *row) {
    if (row->form != HEED_PUBLISHED_COPY) return false;
    for (const heed_published_tensor *other = p->tensors; other->name; other++)
        if (other->form != HEED_PUBLISHED_COPY && strcmp(other->published, row->published) == 0 &&
            heed_store_find(s, other->name))
            return true;
    return false;
}

/* Whether an output layer is not tied to the embeddings: then other copies are no copies, either,
 * and it is they that are used. */
static bool is_untied(const heed_published *p, const heed_store *s) {
    for (const heed_published_tensor *row = p->tensors; row->name; row++)
        if (is_owned(p, s, row)) return true;
    return false;
}

/* ---- reading ---- */

enum { SHAPE = 100 };
/* "(2,3)"; of more dimensions than a tensor may have, the first ones. */
static const char *shape_text(char out[SHAPE], const heed_array *a) {
    int used = snprintf(out, SHAPE, "(");
    for (int i = 0; i < a->dims && i < 4; i++)
        used += snprintf(out + used, (size_t)(SHAPE - used), "%s%lld", i ? "," : "",
                         (long long)a->shape[i]);
    snprintf(out + used, (size_t)(SHAPE - used), ")");
    return out;
}

/* The size of a tensor in a dimension of its parameter. */
static int64_t size_of(const heed_array *a, heed_published_form form, int dim) {
    int at = dim + (form == HEED_PUBLISHED_LEADING || form == HEED_PUBLISHED_TRANSPOSED);
    return at < a->dims ? a->shape[at] : 0;
}

/* Whether the tensor has the size in a dimension: then its shape may be wrong, but not the key. */
static bool has_size(const heed_array *a, int64_t size) {
    for (int i = 0; i < a->dims && a->bytes; i++)
        if (a->shape[i] == size) return true;
    return false;
}

bool heed__weights_check(const heed__weights *w, const heed_config *f, const char *path) {
    char number[12], setting[HEED__WORD_SIZE], name[HEED__WORD_SIZE], shape[SHAPE];
    for (const heed_published_key *k = w->p->keys; k->key; k++) {
        const heed_published_tensor *row = k->rows ? row_for(w->p->tensors, k->rows, number) : NULL;
        const char *list = k->settings;
        if (!row || !heed__list_word(&list, setting)) continue;
        snprintf(name, sizeof name, "%s", row->published);
        put_number(name, number);
        const found *k_found = find(w, name);
        int64_t said = heed_config_int(f, setting);
        int64_t rows = k_found ? size_of(k_found->array, row->form, k->dim) : 0;
        if (!k_found && said)
            return heed_fail(w->c, HEED_DATA, "tensor is missing: %s: expected %s", w->dir, name);
        if (said != rows && (said || !heed__key_null(k)) && !has_size(k_found->array, said))
            return heed_fail(w->c, HEED_DATA,
                             "%s of the model does not fit its weights: %s: expected %lld, as %s "
                             "has the shape %s, found %lld",
                             k->key, path, (long long)rows, name, shape_text(shape, k_found->array),
                             (long long)said);
    }
    return true;
}

bool heed__weights_present(const heed__weights *w, heed_config *f) {
    const char *equal = w->p->present ? strchr(w->p->present, '=') : NULL;
    char setting[HEED__WORD_SIZE];
    if (!equal) return true;
    snprintf(setting, sizeof setting, "%.*s", (int)(equal - w->p->present), w->p->present);
    return heed_config_set(f, setting, find(w, equal + 1) ? "true" : "false", w->dir,
                           HEED_FROM_FILE);
}

static bool same_shape(heed_ctx *c, const published_part *part, const heed_array *a) {
    bool same = a->dims == part->dims;
    for (int i = 0; same && i < a->dims; i++) same = a->shape[i] == part->shape[i];
    if (same) return true;
    char given[SHAPE], expected[SHAPE] = "(";
    for (int i = 0; i < part->dims; i++)
        snprintf(expected + strlen(expected), 20, "%s%d", i ? "," : "", part->shape[i]);
    return heed_fail(c, HEED_DATA, "tensor has another shape: %s: expected %s), found %s",
                     part->name, expected, shape_text(given, a));
}

static bool all_finite(const heed__weights *w, const char *name, const heed_real *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return heed_fail(w->c, HEED_DATA,
                             "tensor is damaged: %s: %s: expected finite numbers in the range of "
                             "F32, found %g at index %zu",
                             w->dir, name, (double)x[i], i);
    return true;
}

/* Reads one tensor into its rows of own; of a copy, compares them. */
static bool read_part(const heed__weights *w, const published_part *part, const found *from,
                      heed_tensor *own, bool copy) {
    if (!same_shape(w->c, part, from->array)) return false;
    size_t n = own->size / (size_t)own->shape[0] * (size_t)part->rows;
    heed_real *values = heed__alloc_untouched(w->c, n, sizeof *values);
    bool ok = values && heed__safetensors_reals(w->c, from->file, from->array, values) &&
              all_finite(w, part->name, values, n);
    if (ok && copy)
        ok = memcmp(values, own->x, n * sizeof *values) == 0 ||
             heed_fail(w->c, HEED_DATA,
                       "model cannot be represented: %s: %s: expected the values that it is tied "
                       "to, found others; hint: tie_word_embeddings in config.json",
                       w->dir, part->name);
    else if (ok)
        copy_part(part, own, values, false);
    heed__free(values);
    return ok;
}

/* A parameter from the tensors of one row; copies may be absent. */
static bool read_row(heed__weights *w, const heed_config *f, heed_store *s, heed_entry *e,
                     const heed_published_tensor *row, const char *number) {
    published_part parts[HEED_RANGES];
    int count = parts_of(row, number, f, s, e, parts);
    bool copy = row->form == HEED_PUBLISHED_COPY && !is_untied(w->p, s);
    for (int i = 0; i < count; i++) {
        found *from = find(w, parts[i].name);
        if (!from && row->form == HEED_PUBLISHED_COPY) return true;
        if (!from)
            return heed_fail(w->c, HEED_DATA, "tensor is missing: %s: expected %s", w->dir,
                             parts[i].name);
        from->used = true;
        if (!read_part(w, &parts[i], from, e->tensor, copy)) return false;
    }
    return count || heed_fail(w->c, HEED_DATA, "rows of %s do not fit %s", e->name, row->published);
}

static bool read_entry(heed__weights *w, const heed_config *f, heed_store *s, heed_entry *e) {
    char number[12];
    bool any = false;
    const heed_published_tensor *row = w->p->tensors;
    for (; (row = row_for(row, e->name, number)); row++) {
        if (!is_owned(w->p, s, row) && !read_row(w, f, s, e, row, number)) return false;
        any = true;
    }
    heed__store_known(e);
    return any || heed_fail(w->c, HEED_DATA,
                            "model cannot be represented: %s has no published name", e->name);
}

/* Whether one of the patterns matches the name, with the prefix or without it. */
static bool is_of(const heed__weights *w, const char *patterns, const char *name) {
    heed_text full = {.c = w->c};
    bool is = heed__matches_any(patterns, name) ||
              (heed_text_add(&full, "%s%s", w->p->prefix ? w->p->prefix : "", name) &&
               heed__matches_any(patterns, full.s));
    heed_text_free(&full);
    return is;
}

/* Tensors without a parameter must be known; those that the model lacks are named. */
static bool check_unused(const heed__weights *w) {
    char quoted[HEED_QUOTE];
    heed_text left = {.c = w->c};
    bool ok = true;
    for (size_t i = 0; ok && i < w->count; i++) {
        const found *k = &w->list[i];
        const char *name = heed_quote(quoted, k->array->name, strlen(k->array->name));
        if (k->used || is_of(w, w->p->ignored, k->name)) continue;
        ok = is_of(w, w->p->dropped, k->name)
                 ? heed_text_add(&left, "%s%s", left.n ? ", " : "", name)
                 : heed_fail(w->c, HEED_DATA,
                             "model cannot be represented: %s: tensor %s: expected none of that "
                             "name",
                             w->dir, name);
    }
    if (ok && left.n)
        heed_message(w->c, HEED_WARN, "tensors of %s are left out, as the model has none: %s",
                     w->dir, left.s);
    heed_text_free(&left);
    return ok;
}

bool heed__weights_read(heed__weights *w, const heed_config *f, heed_store *s) {
    for (int i = 0; i < heed_store_count(s); i++)
        if (!read_entry(w, f, s, heed_store_at(s, i))) return false;
    return check_unused(w);
}

/* ---- writing ---- */

/* Adds the tensors of one row for e. */
static bool put_row(heed_store *out, const heed_run *r, const heed_entry *e,
                    const heed_published_tensor *row, const char *number) {
    published_part parts[HEED_RANGES];
    int count = parts_of(row, number, r->config, r->store, e, parts);
    for (int i = 0; i < count; i++) {
        heed_tensor *to = heed_state_new(out, parts[i].name, "zero", parts[i].dims, parts[i].shape);
        if (!to) return false;
        copy_part(&parts[i], e->tensor, to->x, true);
    }
    return count > 0;
}

static bool put_entry(heed_store *out, const heed_run *r, const heed_published *p,
                      const heed_entry *e) {
    char number[12];
    bool any = false, untied = is_untied(p, r->store);
    const heed_published_tensor *row = p->tensors;
    for (; (row = row_for(row, e->name, number)); row++) {
        bool stored = row->form != HEED_PUBLISHED_COPY || (untied && !is_owned(p, r->store, row));
        if (stored && !put_row(out, r, e, row, number)) return false;
        any |= stored;
    }
    return any ||
           heed_fail(r->c, HEED_USAGE, "run cannot be exported: %s has no published name", e->name);
}

bool heed__weights_write(const heed_run *r, const heed_published *p, const char *path) {
    heed_store *out = heed_store_new(r->c);
    bool ok = out && heed__angles_write(out, r, p);
    for (int i = 0; ok && i < heed_store_count(r->store); i++)
        ok = put_entry(out, r, p, heed_store_at(r->store, i));
    ok = ok && heed_save(out, path);
    heed_store_free(out);
    return ok;
}
