/* labels.c -- labels.txt of a run: one class name per line, in the order of their numbers. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

#include <string.h>

uint64_t heed__labels_digest(const char *const *labels, int count) {
    uint64_t h = 0;
    for (int i = 0; i < count; i++) h = heed__hash64(labels[i], strlen(labels[i]) + 1, h);
    return h;
}

bool heed__labels_write(heed_ctx *c, const char *run, const char *const *labels, int count) {
    heed_text text = {.c = c};
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        bool empty = !labels[i] || !*labels[i];
        if (empty || strchr(labels[i], '\n'))
            ok = heed_fail(c, HEED_DATA,
                           "name of class %d cannot be kept in labels.txt: expected one line of "
                           "text, found %s; hint: rename the class",
                           i, empty ? "nothing" : "a line break in it");
        ok = ok && heed_text_add(&text, "%s\n", labels[i]);
    }
    ok = ok && heed__run_write(c, run, "labels.txt", text.s, text.n);
    heed_text_free(&text);
    return ok;
}

bool heed__labels_cut(heed_ctx *c, const char *path, heed__labels *l) {
    for (char *line = l->text.s, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        if (!*line)
            return heed_fail(c, HEED_DATA, "%s is damaged: line %d: expected a name, found nothing",
                             path, l->count + 1);
        size_t need = (size_t)l->count + 1;
        if (!heed__grow(c, &l->list, &l->capacity, need, sizeof *l->list)) return false;
        l->list[l->count++] = line;
    }
    return true;
}

bool heed__labels_read(heed_ctx *c, const char *run, int expected, heed__labels *l) {
    heed_text path = {.c = c};
    size_t n = 0;
    *l = (heed__labels){.text = {.c = c}};
    if (!heed__os_exists(heed__run_path(&path, run, "labels.txt"))) {
        heed_text_free(&path);
        return !heed__stopped(c);
    }
    unsigned char *bytes = heed__os_read(c, path.s, 1 << 24, &n);
    bool ok = bytes && heed_text_put(&l->text, (const char *)bytes, n);
    if (ok && (n == 0 || strlen(l->text.s) != n))
        ok = heed_fail(c, HEED_DATA, "%s is damaged: expected a name a line, found %s", path.s,
                       n ? "a zero byte" : "nothing");
    ok = ok && heed__labels_cut(c, path.s, l);
    if (ok && expected && l->count != expected)
        ok = heed_fail(
            c, HEED_DATA,
            "%s is damaged: expected the names of %d classes, found %d; hint: restore a copy of it",
            path.s, expected, l->count);
    heed__free(bytes);
    heed_text_free(&path);
    return ok;
}

void heed__labels_free(heed__labels *l) {
    heed_text_free(&l->text);
    heed__free((void *)(uintptr_t)l->list);
    *l = (heed__labels){0};
}
