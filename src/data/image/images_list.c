/* images_list.c -- a CSV or TSV file of pictures, their labels and perhaps their parts; paths are
 * relative to the file. */
#include "data/image/images.h"
#include "data/table.h"

#include <string.h>

/* A text of the row, ended by a zero byte. */
static char *copy_cut(heed_ctx *c, heed__cut t) {
    char *copy = heed__alloc(c, t.n + 1);
    if (copy) memcpy(copy, t.s, t.n);
    return copy;
}

/* The part that the row names: of the training, if there is no column of parts. -1: an error. */
static int part_of(const heed__table *t) {
    char quoted[HEED_QUOTE];
    heed__cut name = heed__table_field(t, HEED__PART);
    if (t->column[HEED__PART] == HEED__ABSENT) return HEED_TRAIN_PART;
    int part = heed__images_part(name.s, name.n);
    if (part < 0)
        heed_fail(t->c, HEED_DATA,
                  "list of pictures is wrong: %s:%zu: expected train, val or test in the column of "
                  "parts, found %s; hint: `columns` with two names reads no parts",
                  t->path, t->rows.line, heed_quote(quoted, name.s, name.n));
    return part;
}

/* Rows without a path or a label are left out and counted. */
static bool add_row(heed_images *k, const heed__table *t, const char *folder) {
    heed__cut path = heed__table_field(t, HEED__SOURCE), label = heed__table_field(t, HEED__TARGET);
    bool labelled = t->column[HEED__TARGET] != HEED__ABSENT;
    int part = part_of(t);
    if (part < 0) return false;
    if (!path.n || (labelled && !label.n)) {
        k->info.empty += path.n || label.n;
        return true;
    }
    if (part == HEED_TEST_PART && k->a.no_test) return true;
    char *class = labelled ? copy_cut(k->c, label) : heed__copy_text(k->c, HEED_UNLABELLED);
    char *name = copy_cut(k->c, path), *full = name ? heed__images_path(k->c, folder, name) : NULL;
    k->own_val |= part == HEED_VAL_PART;
    bool ok = class && full &&
              heed__images_add(k, heed__images_class(k, class, t->path), (heed_part)part, full,
                               (heed_picture){0});
    heed__free(class);
    heed__free(name);
    return ok;
}

static bool read_rows(heed_images *k, heed__table *t, const char *folder, char *text, size_t n) {
    bool ok = heed__table_open(t, text, n);
    while (ok && heed__table_next(t)) ok = add_row(k, t, folder);
    ok = ok && !heed__stopped(k->c);
    if (ok && t->named && t->width > HEED__SIDES) {
        char *names = heed__table_names(t);
        heed_message(k->c, HEED_INFO, "columns of %s that are read: %s", t->path,
                     names ? names : "");
        heed__free(names);
    }
    size_t empty = k->info.empty;
    if (ok && empty)
        heed_message(k->c, HEED_WARN, "%zu row%s of %s without a path or a label %s left out",
                     empty, empty == 1 ? "" : "s", t->path, empty == 1 ? "is" : "are");
    if (!ok || k->count) return ok;
    t->rows.line = t->rows.next;
    return heed__table_reject(t, "lines of path,label", "none");
}

bool heed__images_list(heed_images *k, const char *path) {
    size_t n = 0;
    heed__table t = {.c = k->c,
                     .schema = &heed__picture_schema,
                     .columns = k->a.columns,
                     .header = k->a.header,
                     .prefix = "",
                     .alone = k->a.unlabelled,
                     .path = path};
    k->info.kind = "csv";
    char *text = heed_text_read(k->c, path, &n);
    char *folder = heed__copy_text(k->c, path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (folder) folder[slash ? slash + 1 - folder : 0] = 0;
    bool ok = text && folder && read_rows(k, &t, folder, text, n);
    heed__free(folder);
    heed__free(text);
    return ok;
}
