/* images_class.c -- the classes of a set: collected by name, then numbered as labels. */
#include "data/image/images.h"
#include "text/text.h"

#include <ctype.h>
#include <string.h>

enum { MOST_CLASSES = 65536 };

/* ---- names ---- */

/* Names must be valid as lines of labels.txt and strings of JSON. */
static bool name_fits(heed_ctx *c, const char *name, const char *where) {
    size_t n = strlen(name);
    char quote[HEED_QUOTE];
    const char *why = n ? NULL : "is empty";
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)name[i])) why = "holds a control character";
    if (heed_utf8_valid(name, n) < n) why = "is not UTF-8";
    if (n >= 1024) why = "is longer than 1023 bytes";
    return !why || heed_fail(c, HEED_DATA, "class name %s: %s: found %s", why, where,
                             heed_quote(quote, name, n));
}

/* The number of a name in composed form, so that names that look equal are equal; -1: it is new. */
static int32_t look(const heed_images *k, const char *name, heed_text *composed) {
    if (!heed__compose(composed, name, strlen(name))) return -1;
    return heed__names_look(&k->names, composed->s, composed->n);
}

static int64_t add_class(heed_images *k, const char *name, size_t n, const char *where) {
    if (k->names.count == MOST_CLASSES) {
        heed_fail(k->c, HEED_DATA, "too many classes: %s: expected at most %d", where,
                  (int)MOST_CLASSES);
        return -1;
    }
    if (!heed__grow(k->c, &k->classes, &k->class_capacity, k->names.count + 1, sizeof *k->classes))
        return -1;
    return heed__names_add(&k->names, name, n);
}

int64_t heed__images_class(heed_images *k, const char *name, const char *where) {
    heed_text composed = {.c = k->c};
    if (!name_fits(k->c, name, where)) return -1;
    int64_t number = look(k, name, &composed);
    if (number < 0 && !heed__stopped(k->c)) number = add_class(k, composed.s, composed.n, where);
    heed_text_free(&composed);
    return number;
}

/* ---- items ---- */

bool heed__images_keep(heed_images *k, unsigned char *bytes) {
    bool ok =
        heed__grow(k->c, &k->blocks, &k->block_capacity, k->block_count + 1, sizeof *k->blocks);
    if (ok)
        k->blocks[k->block_count++] = bytes;
    else
        heed__free(bytes);
    return ok;
}

bool heed__images_add(heed_images *k, int64_t class, heed_part part, char *path,
                      heed_picture picture) {
    bool ok =
        class >= 0 && heed__grow(k->c, &k->items, &k->capacity, k->count + 1, sizeof *k->items);
    if (ok && k->count >= UINT32_MAX)
        ok = heed_fail(k->c, HEED_DATA, "too many pictures: expected fewer than 2^32");
    if (!ok) {
        heed__free(path);
        return false;
    }
    k->classes[class].count[part]++;
    k->items[k->count++] =
        (heed__item){path, picture, !path, .label = (uint32_t) class, .part = part};
    return true;
}

char *heed__images_path(heed_ctx *c, const char *folder, const char *name) {
    size_t n = strlen(folder), m = strlen(name) + 1;
    if (*name == '/') return heed__copy_text(c, name);
    char *path = heed__alloc(c, n + 1 + m);
    if (!path) return NULL;
    memcpy(path, folder, n);
    if (n && path[n - 1] != '/') path[n++] = '/';
    memcpy(path + n, name, m);
    return path;
}

/* ---- labels ---- */

const char *const heed__part_words[HEED_PARTS] = {"training", "validation", "test"};

/* Matches classes to a run's labels by name. */
static bool match_labels(heed_images *k, const char *path) {
    for (size_t i = 0; i < k->names.count; i++) k->classes[i].label = UINT32_MAX;
    heed_text composed = {.c = k->c};
    for (size_t i = 0; i < k->label_count; i++) {
        int32_t class = look(k, k->labels[i], &composed);
        if (class >= 0) k->classes[class].label = (uint32_t)i;
    }
    heed_text_free(&composed);
    for (size_t i = 0; i < k->names.count; i++)
        if (k->classes[i].label == UINT32_MAX)
            return heed_fail(k->c, HEED_DATA,
                             "class \"%s\" is unknown: %s: expected one of the %zu classes that "
                             "the run was trained on (\"%s\", ..)",
                             heed__names_text(&k->names, i), path, k->label_count, *k->labels);
    return true;
}

/* Makes labels of the classes in the training part; others are errors. */
static bool make_labels(heed_images *k, const char *path) {
    size_t in[HEED_PARTS] = {0};
    for (size_t i = 0; i < k->names.count; i++)
        for (int part = 0; part < HEED_PARTS; part++) in[part] += k->classes[i].count[part];
    const char *found = "only validation and test";
    if (!k->count)
        found = "no pictures";
    else if (!in[HEED_VAL_PART])
        found = "only test";
    else if (!in[HEED_TEST_PART])
        found = "only validation";
    if (!in[HEED_TRAIN_PART])
        return heed_fail(k->c, HEED_DATA,
                         "there is no training part: %s: found %s; hint: call the folder of the "
                         "training pictures train",
                         path, found);
    if (k->names.count < 2 && !k->a.unlabelled)
        return heed_fail(k->c, HEED_DATA,
                         "too few classes: %s: expected at least 2, found %zu%s%s; hint: a folder "
                         "of pictures for each class",
                         path, k->names.count, k->names.count ? ", " : "",
                         k->names.count ? heed__names_text(&k->names, 0) : "");
    size_t n = k->names.count;
    const char **texts = heed__names_list(&k->names, !k->ordered);
    k->labels = heed__alloc_array(k->c, n, sizeof *k->labels);
    for (size_t i = 0; texts && k->labels && i < n && !heed__stopped(k->c); i++) {
        heed__picture_class *class =
            &k->classes[heed__names_look(&k->names, texts[i], strlen(texts[i]))];
        class->label = (uint32_t)i;
        k->labels[i] = heed__copy_text(k->c, texts[i]);
        k->label_count = i + 1;
        heed_part part = class->count[HEED_VAL_PART] ? HEED_VAL_PART : HEED_TEST_PART;
        if (class->count[HEED_TRAIN_PART] || k->a.unlabelled) continue;
        if (class->count[part])
            heed_fail(
                k->c, HEED_DATA,
                "class \"%s\" of the %s part is not in the training part: %s; hint: move some "
                "of its pictures to the training part, or leave the class out",
                texts[i], heed__part_words[part], path);
        else
            heed_fail(k->c, HEED_DATA, "class \"%s\" has no pictures: %s", texts[i], path);
    }
    heed__free(texts);
    return !heed__stopped(k->c);
}

bool heed__images_label(heed_images *k, const char *path) {
    if (!(k->labels ? match_labels(k, path) : make_labels(k, path))) return false;
    for (size_t i = 0; i < k->count; i++) k->items[i].label = k->classes[k->items[i].label].label;
    k->info.classes = (int)k->label_count;
    k->info.labels = (const char *const *)k->labels;
    return true;
}
