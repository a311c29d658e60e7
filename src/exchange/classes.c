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

/* Class i is called LABEL_i, as transformers does, where it has no name. */
static void name_class(const json_t *names, int i, heed__class_names *out) {
    char *own = out->own + (size_t)i * NAME, number[12];
    snprintf(number, sizeof number, "%d", i);
    snprintf(own, NAME, "LABEL_%d", i);
    const char *given = json_string_value(json_object_get(names, number));
    out->names[i] = given ? given : own;
}

bool heed__classes_read(heed_ctx *c, const json_t *config, const char *path,
                        heed__class_names *out) {
    const json_t *names = json_object_get(config, "id2label");
    const json_t *number = json_object_get(config, "num_labels");
    int64_t count = (int64_t)json_object_size(names);
    *out = (heed__class_names){.count = 0};
    if (!json_is_object(names)) count = json_is_integer(number) ? json_integer_value(number) : 2;
    if (count < 1 || count > CLASSES)
        return heed_fail(c, HEED_DATA,
                         "classes are wrong: %s: id2label: expected 1 to %d, found %lld", path,
                         CLASSES, (long long)count);
    if (!allocate(c, (size_t)count, out)) return false;
    for (int i = 0; i < out->count; i++) {
        name_class(names, i, out);
        if (!*out->names[i] || strchr(out->names[i], '\n'))
            return heed_fail(c, HEED_DATA,
                             "classes are wrong: %s: id2label: %d: expected one line of text", path,
                             i);
    }
    return true;
}

void heed__classes_free(heed__class_names *k) {
    heed__free((void *)(uintptr_t)k->names);
    heed__free(k->own);
    *k = (heed__class_names){.count = 0};
}
