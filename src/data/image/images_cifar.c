/* images_cifar.c -- CIFAR-10 and -100, binary version: records of one label (10) or a coarse and a
 * fine one (100), then 32 x 32 red, green and blue bytes. Krizhevsky 2009;
 * https://www.cs.toronto.edu/~kriz/cifar.html */
#include "data/image/images.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 32, PLANE = SIDE * SIDE, CHANNELS = 3, PICTURE = PLANE * CHANNELS };

typedef struct {
    const char *kind, *names; /* the file of class names, one per line */
    int classes, labels;      /* label bytes of a record; the last one is used */
} format;
static const format ten = {"cifar-10", "batches.meta.txt", 10, 1};
static const format hundred = {"cifar-100", "fine_label_names.txt", 100, 2};

/* HEED_PARTS: not a file of either set. */
static heed_part part_of(const char *name, const format **f) {
    *f = &hundred;
    if (strcmp(name, "train.bin") == 0) return HEED_TRAIN_PART;
    if (strcmp(name, "test.bin") == 0) return HEED_TEST_PART;
    *f = &ten;
    if (strcmp(name, "test_batch.bin") == 0) return HEED_TEST_PART;
    bool batch = strncmp(name, "data_batch_", 11) == 0 && heed__ends_in(name + 11, ".bin");
    return batch ? HEED_TRAIN_PART : HEED_PARTS;
}

/* ---- names ---- */

/* Reads the names from the file's lines that are not blank; without it, classes are numbered. */
static bool read_names(heed_images *k, const char *folder, const format *f) {
    char *path = heed__images_path(k->c, folder, f->names);
    if (!path) return false;
    size_t n = 0;
    bool there = heed__os_exists(path);
    char *text = there ? heed_text_read(k->c, path, &n) : NULL, *at = text;
    int count = 0;
    while (text && *at && !heed__stopped(k->c)) {
        size_t length = strcspn(at, "\n"), end = length;
        char *next = at + length + (at[length] != 0);
        while (end && (at[end - 1] == ' ' || at[end - 1] == '\t')) end--;
        at[end] = 0;
        if (end && heed__images_class(k, at, path) == count) count++;
        at = next;
    }
    for (; !there && count < f->classes; count++) {
        char name[24];
        snprintf(name, sizeof name, "class %d", count); /* a number alone would name a digit */
        heed__images_class(k, name, path);
    }
    if (count != f->classes)
        heed_fail(k->c, HEED_DATA,
                  "names of classes are wrong: %s: expected %d, one a line, found %d", path,
                  f->classes, count);
    heed__free(text);
    heed__free(path);
    return !heed__stopped(k->c);
}

/* ---- records ---- */

/* Converts red, green and blue planes to pixels, in place. */
static void interleave(unsigned char *p) {
    unsigned char planes[PICTURE];
    memcpy(planes, p, PICTURE);
    for (int i = 0; i < PLANE; i++)
        for (int c = 0; c < CHANNELS; c++) p[i * CHANNELS + c] = planes[c * PLANE + i];
}

static bool add_records(heed_images *k, const format *f, heed_part part, const char *path,
                        unsigned char *bytes, size_t n) {
    size_t record = (size_t)f->labels + PICTURE;
    if (!n || n % record)
        return heed_fail(k->c, HEED_DATA,
                         "CIFAR file is wrong: %s: expected records of %zu bytes, found %zu bytes",
                         path, record, n);
    for (size_t i = 0; i < n / record; i++) {
        unsigned char *p = bytes + i * record;
        int label = p[f->labels - 1];
        if (label >= f->classes)
            return heed_fail(k->c, HEED_DATA,
                             "label is wrong: %s: expected less than %d, found %d in record %zu",
                             path, f->classes, label, i);
        interleave(p + f->labels);
        if (!heed__images_add(k, label, part, NULL,
                              (heed_picture){SIDE, SIDE, CHANNELS, p + f->labels}))
            return false;
    }
    return true;
}

static bool read_records(heed_images *k, const char *folder, const char *name) {
    const format *f;
    heed_part part = part_of(name, &f);
    if (part == HEED_PARTS) return true;
    k->ordered = true;
    if (!k->info.kind) k->info.kind = f->kind;
    if (part == HEED_TEST_PART && k->a.no_test) return true;
    if (strcmp(k->info.kind, f->kind) != 0)
        return heed_fail(k->c, HEED_DATA,
                         "two sets in one folder: %s: expected files of CIFAR-10 or of CIFAR-100",
                         folder);
    if (!k->names.count && !read_names(k, folder, f)) return false;
    char *path = heed__images_path(k->c, folder, name);
    size_t n = 0;
    unsigned char *bytes = path ? heed__os_read(k->c, path, 0, &n) : NULL;
    bool ok = bytes && heed__images_keep(k, bytes) && add_records(k, f, part, path, bytes, n);
    heed__free(path);
    return ok;
}

bool heed__images_cifar(heed_images *k, const char *path) {
    heed__listing l;
    bool ok = heed__os_list(k->c, path, &l);
    for (size_t i = 0; ok && i < l.count; i++)
        ok = l.entries[i].folder || read_records(k, path, l.entries[i].name);
    heed__os_list_free(&l);
    return ok;
}
