/* load.c -- a safetensors file into a store: everything is checked before anything is written. */
#include "core/core.h"
#include "core/store.h"
#include "io/io.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    bool upper; /* the upper half of a float */
} types[] = {{"F32", 4, false}, {"F64", 8, false}, {"F16", 2, false}, {"BF16", 2, true}};

static int type_of(const heed_array *a) {
    for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
        if (strcmp(types[i].name, a->dtype) == 0) return i;
    return -1;
}

/* What a double beyond the range of heed_real becomes. */
static heed_real narrow(double value) {
#ifndef HEED_F64
    if (fabs(value) > (double)FLT_MAX) return (heed_real)copysign((double)INFINITY, value);
#endif
    return (heed_real)value;
}

/* Values of another type are converted from a buffer; those of heed_real are read into place. */
bool heed__safetensors_reals(heed_ctx *c, const heed_safetensors *f, const heed_array *a,
                             heed_real *out) {
    int type = type_of(a);
    if (type < 0)
        return heed_fail(c, HEED_DATA, "tensor %s: expected F32, F64, F16 or BF16, found %s",
                         a->name, a->dtype);
    size_t each = types[type].bytes;
    if (each == sizeof(heed_real)) return heed__safetensors_values(f, a, out);
    unsigned char *data = heed__alloc(c, a->bytes);
    bool ok = data && heed__safetensors_values(f, a, data);
    for (size_t i = 0; ok && i < a->bytes / each; i++) {
        uint64_t bits = heed__little(data + i * each, each);
        out[i] =
            narrow(types[type].upper ? heed__real_of(bits << 16, 4) : heed__real_of(bits, each));
    }
    heed__free(data);
    return ok;
}

/* "(2,3)", as heed_shape_text writes it. */
static void put_shape(char *text, size_t size, const heed_array *a) {
    int used = snprintf(text, size, "(");
    for (int i = 0; i < a->dims; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%lld", i ? "," : "",
                         (long long)a->shape[i]);
    snprintf(text + used, size - (size_t)used, ")");
}

static bool check(heed_ctx *c, const char *path, const heed_entry *e, const heed_array *a) {
    if (!a)
        return heed_fail(c, HEED_DATA,
                         "cannot load %s: tensor %s: expected, but not found; hint: the file "
                         "belongs to a model of another kind or depth",
                         path, e->name);
    if (type_of(a) < 0)
        return heed_fail(c, HEED_DATA,
                         "cannot load %s: tensor %s: expected F32, F64, F16 or BF16, found %s",
                         path, e->name, a->dtype);
    char wanted[64], found[8 * 22];
    put_shape(found, sizeof found, a);
    return strcmp(found, heed_shape_text(e->tensor, wanted, sizeof wanted)) == 0 ||
           heed_fail(c, HEED_DATA,
                     "cannot load %s: tensor %s: expected shape %s, found %s; hint: the file "
                     "belongs to a model with other settings",
                     path, e->name, wanted, found);
}

static bool no_extra(heed_ctx *c, const char *path, const heed_store *s,
                     const heed_safetensors *f) {
    char quoted[HEED_QUOTE];
    for (int i = 0; i < heed_safetensors_count(f); i++) {
        const char *name = heed_safetensors_at(f, i)->name;
        if (heed_store_find(s, name)) continue;
        return heed_fail(c, HEED_DATA,
                         "cannot load %s: tensor %s: found, but this model has none of that name; "
                         "hint: the file belongs to a model of another kind or depth",
                         path, heed_quote(quoted, name, strlen(name)));
    }
    return true;
}

bool heed__load_parsed(heed_store *s, const char *path, const heed_safetensors *f) {
    heed_ctx *c = heed_store_ctx(s);
    if (heed__stopped(c) || !path || !f) return false;
    bool ok = no_extra(c, path, s, f);
    for (int i = 0; ok && i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        const heed_array *a = heed_safetensors_find(f, e->name);
        ok = (!a && heed__of(e->tensor)->optional) || check(c, path, e, a);
    }
    for (int i = 0; ok && i < heed_store_count(s); i++) {
        heed_entry *e = heed_store_at(s, i);
        const heed_array *a = heed_safetensors_find(f, e->name);
        if (a)
            ok = heed__safetensors_reals(c, f, a, e->tensor->x);
        else
            e->tensor->x[0] = 0;
        if (ok) heed__store_known(e);
    }
    return ok;
}

static bool load_and_close(heed_store *s, const char *path, heed_safetensors *f) {
    bool ok = heed__load_parsed(s, path, f);
    heed_safetensors_close(f);
    return ok;
}

bool heed_load(heed_store *s, const char *path) {
    return load_and_close(s, path, heed__safetensors_head(heed_store_ctx(s), path));
}

bool heed_load_bytes(heed_store *s, const void *bytes, size_t n) {
    static const char path[] = "weights in memory";
    heed_ctx *c = heed_store_ctx(s);
    if (heed__stopped(c)) return false;
    if (!bytes) return heed_fail(c, HEED_USAGE, "cannot load %s: expected bytes, found NULL", path);
    unsigned char *copy = heed__alloc(c, n);
    if (!copy) return false;
    memcpy(copy, bytes, n);
    return load_and_close(s, path, heed__safetensors_parse(c, path, copy, n));
}
