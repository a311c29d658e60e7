/* classes.c -- the names of classes in config.json. */
#include "core/core.h"
#include "exchange/exchange.h"

#include <stdio.h>
#include <string.h>

enum { CLASSES = 1 << 16, NAME = 24 };

static bool allocate(heed_ctx *c, size_t count, heed__class_names *out) {
    out->names = heed__alloc_array(c, count + 1, sizeof *out->names);
    out->own = heed__alloc_array(c, count + 1, NAME);
    out->count = (int)count;
    return out->names && out->own;
}

static bool refuse(heed_ctx *c, const char *path, const char *key, const char *expected,
                   const json_t *v) {
    char found[HEED_QUOTE];
    return heed_fail(c, HEED_DATA, "classes are wrong: %s: %s: expected %s, found %s", path, key,
                     expected, heed__json_quote(found, v));
}

/* Class i is called LABEL_i, as transformers does, if there are no names. */
static bool name_class(heed_ctx *c, const json_t *names, int i, const char *path,
                       heed__class_names *out) {
    char *own = out->own + (size_t)i * NAME, number[12], key[32];
    snprintf(number, sizeof number, "%d", i);
    snprintf(own, NAME, "LABEL_%d", i);
    snprintf(key, sizeof key, "id2label: %d", i);
    const json_t *given = json_object_get(names, number);
    const char *name = names ? json_string_value(given) : own;
    out->names[i] = name;
    return (name && *name && !strchr(name, '\n')) ||
           refuse(c, path, key, "one line of text", given);
}

bool heed__classes_read(heed_ctx *c, const json_t *config, const char *path,
                        heed__class_names *out) {
    const json_t *names = json_object_get(config, "id2label");
    const json_t *number = json_object_get(config, "num_labels");
    *out = (heed__class_names){.count = 0};
    if (json_is_null(names)) names = NULL;
    if (names && !json_is_object(names)) return refuse(c, path, "id2label", "an object", names);
    if (number && !json_is_integer(number))
        return refuse(c, path, "num_labels", "a whole number", number);
    int64_t count = names    ? (int64_t)json_object_size(names)
                    : number ? json_integer_value(number)
                             : 2;
    if (count < 1 || count > CLASSES)
        return heed_fail(c, HEED_DATA,
                         "classes are wrong: %s: id2label: expected 1 to %d, found %lld", path,
                         CLASSES, (long long)count);
    if (!allocate(c, (size_t)count, out)) return false;
    for (int i = 0; i < out->count; i++)
        if (!name_class(c, names, i, path, out)) return false;
    return true;
}

void heed__classes_free(heed__class_names *k) {
    heed__free((void *)(uintptr_t)k->names);
    heed__free(k->own);
    *k = (heed__class_names){.count = 0};
}
