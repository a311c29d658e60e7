/* images_csv.c -- path,label lines with or without a header; paths are relative to the file. */
#include "data/image/images.h"

#include <string.h>
#include <strings.h>

enum { FIELDS = 2, LIMIT = 1 << 30 };

static bool is_one_of(const char *text, const char *const *words) {
    while (*words && strcasecmp(text, *words) != 0) words++;
    return *words != NULL;
}

static bool is_header(char *const *fields, size_t count) {
    static const char *const paths[] = {"path", "file", "filename", "image", "name", NULL};
    static const char *const labels[] = {"label", "class", "category", "target", NULL};
    return is_one_of(fields[0], paths) && (count < FIELDS || is_one_of(fields[1], labels));
}

static bool add_row(heed_images *k, const heed_csv *r, const char *folder, bool first) {
    char *const *fields = r->fields;
    bool alone = r->count == 1 && k->a.unlabelled;
    if (r->count != FIELDS && !alone)
        return heed_csv_reject(r, "2 fields, path and label (a comma inside one needs \"quotes\")",
                               r->count < FIELDS ? "1" : "more");
    if (first && is_header(fields, r->count)) return true;
    if (!*fields[0] || (!alone && !*fields[1]))
        return heed_csv_reject(r, "a path and a label", *fields[0] ? "no label" : "no path");
    const char *label = alone ? HEED_UNLABELLED : fields[1];
    char *path = heed__images_path(k->c, folder, fields[0]);
    return path && heed__images_add(k, heed__images_class(k, label, r->path), HEED_TRAIN_PART, path,
                                    (heed_picture){0});
}

bool heed__images_csv(heed_images *k, const char *path) {
    size_t n = 0;
    heed_csv r;
    k->info.kind = "csv";
    char *text = (char *)heed__os_read(k->c, path, LIMIT, &n);
    char *folder = heed__copy_text(k->c, path), *slash = folder ? strrchr(folder, '/') : NULL;
    bool ok = folder && heed_csv_open(&r, k->c, "list of pictures is wrong", path, text, n);
    if (ok) folder[slash ? slash + 1 - folder : 0] = 0;
    for (bool first = true; ok && heed_csv_next(&r); first = false)
        ok = add_row(k, &r, folder, first);
    ok = ok && !heed__stopped(k->c);
    if (ok && !k->count) {
        r.line = r.next;
        ok = heed_csv_reject(&r, "lines of path,label", "none");
    }
    heed__free(folder);
    heed__free(text);
    return ok;
}
