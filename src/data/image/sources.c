/* sources.c -- where sets of pictures come from: a folder of classes, a list, IDX files (MNIST) and
 * CIFAR's files of records. */
#include "data/image/images.h"
#include "data/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

/* ---- folders: train/CLASS/.., val/CLASS/.., test/CLASS/.., or only CLASS/... Classes may contain
 * folders. Without classes also pictures in the place of classes. Links are followed, but each
 * folder is read once, and no parent folder ---- */

typedef struct {
    heed_images *k;
    int64_t class;
    heed_part part;
    uint64_t (*seen)[2]; /* folders of this class and its parents: a link may lead back to one */
    size_t seen_count, seen_capacity;
} scan;

/* True if the folder was not seen before. */
static bool is_new(scan *s, const char *folder) {
    uint64_t id[2];
    if (!heed__os_identity(folder, id)) return false;
    for (size_t i = 0; i < s->seen_count; i++)
        if (s->seen[i][0] == id[0] && s->seen[i][1] == id[1]) return false;
    if (!heed__grow(s->k->c, &s->seen, &s->seen_capacity, s->seen_count + 1, sizeof *s->seen))
        return false;
    memcpy(s->seen[s->seen_count++], id, sizeof id);
    return true;
}

/* Marks the folders from folder/name up to the root (its own parent) as seen. */
static bool see_above(scan *s, const char *folder, const char *name) {
    char *at = heed__images_path(s->k->c, folder, name);
    while (at && is_new(s, at)) {
        char *above = heed__images_path(s->k->c, at, "..");
        heed__free(at);
        at = above;
    }
    heed__free(at);
    return !heed__stopped(s->k->c);
}

/* Includes formats that cannot be read: such pictures are reported, not silently ignored. */
static bool is_picture(const char *name) {
    return heed__is_picture_name((heed__cut){name, strlen(name)});
}

/* Takes ownership of the path. */
static void skip_other(heed_images *k, char *path) {
    if (k->info.others++)
        heed__free(path);
    else
        k->info.other = k->other = path;
}

static bool add_tree(scan *s, const char *folder) {
    heed__listing l;
    if (!is_new(s, folder)) return !heed__stopped(s->k->c);
    bool ok = heed__os_list(s->k->c, folder, &l);
    for (size_t i = 0; ok && i < l.count; i++) {
        const heed__entry *e = &l.entries[i];
        char *path = heed__images_path(s->k->c, folder, e->name);
        ok = path != NULL;
        if (ok && !e->folder && !is_picture(e->name)) {
            skip_other(s->k, path);
            continue;
        }
        if (ok && e->folder) {
            ok = add_tree(s, path);
            heed__free(path);
        } else if (ok) {
            ok = heed__images_add(s->k, s->class, s->part, path, (heed_picture){0});
        }
    }
    heed__os_list_free(&l);
    return ok;
}

static bool add_class_folder(heed_images *k, heed_part part, const char *folder, const char *name) {
    scan s = {.k = k, .part = part, .class = heed__images_class(k, name, folder)};
    char *path = heed__images_path(k->c, folder, name);
    size_t before = k->count, others = k->info.others;
    bool ok = s.class >= 0 && path && see_above(&s, folder, ".") && see_above(&s, path, "..") &&
              add_tree(&s, path);
    if (ok && k->count == before)
        ok = heed_fail(k->c, HEED_DATA,
                       "class \"%s\" has no pictures: %s: expected JPEG, PNG or BMP files, "
                       "found %s; hint: put pictures there, or move the folder away",
                       name, path, k->info.others > others ? "only others" : "none");
    heed__free(s.seen);
    heed__free(path);
    return ok;
}

static bool holds_pictures(const heed__listing *l) {
    for (size_t i = 0; i < l->count; i++)
        if (!l->entries[i].folder && is_picture(l->entries[i].name)) return true;
    return false;
}

int heed__images_part(const char *name, size_t n) {
    static const struct {
        const char *name;
        heed_part part;
    } words[] = {{"train", HEED_TRAIN_PART}, {"training", HEED_TRAIN_PART}, {"val", HEED_VAL_PART},
                 {"valid", HEED_VAL_PART},   {"validation", HEED_VAL_PART}, {"dev", HEED_VAL_PART},
                 {"test", HEED_TEST_PART},   {"testing", HEED_TEST_PART}};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strlen(words[w].name) == n && strncasecmp(name, words[w].name, n) == 0)
            return (int)words[w].part;
    return -1;
}

/* Fails because the folder has no folders of classes. One with pictures may be a class itself: then
 * the folder above it is meant, unless it is called like a part. */
static bool refuse_flat(heed_images *k, const char *folder, const heed__listing *l) {
    size_t n = strlen(folder), name, above;
    while (n > 1 && folder[n - 1] == '/') n--;
    for (name = n; name > 0 && folder[name - 1] != '/';) name--;
    for (above = name; above > 1 && folder[above - 1] == '/';) above--;
    if (!holds_pictures(l))
        return heed_fail(
            k->c, HEED_DATA,
            "no pictures: %s: expected a folder for each class, found %zu file%s and no folder; "
            "hint: other data are IDX files ({train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz]), "
            "CIFAR's *.bin, or a CSV file of path,label",
            folder, l->count, l->count == 1 ? "" : "s");
    if (folder[name] == '.' || heed__images_part(folder + name, n - name) >= 0)
        return heed_fail(k->c, HEED_DATA,
                         "no classes: %s: expected a folder for each class, found pictures and no "
                         "folder; hint: put the pictures of each class into a folder of its name",
                         folder);
    return heed_fail(k->c, HEED_DATA,
                     "no classes: %s: expected a folder for each class, found pictures and no "
                     "folder; hint: if these are of one class, name the folder above, \"%.*s\"",
                     folder, above ? (int)above : 1, above ? folder : ".");
}

/* All pictures of the folder and below it, without classes. */
static bool add_unlabelled(heed_images *k, heed_part part, const char *folder) {
    scan s = {.k = k, .part = part, .class = heed__images_class(k, HEED_UNLABELLED, folder)};
    bool ok = s.class >= 0 && see_above(&s, folder, "..") && add_tree(&s, folder);
    heed__free(s.seen);
    return ok;
}

static bool add_part(heed_images *k, heed_part part, const char *folder) {
    heed__listing l;
    size_t classes = 0;
    bool ok = heed__os_list(k->c, folder, &l);
    if (ok && k->a.unlabelled && holds_pictures(&l)) {
        heed__os_list_free(&l);
        return add_unlabelled(k, part, folder);
    }
    for (size_t i = 0; ok && i < l.count; i++) {
        if (!l.entries[i].folder) continue;
        classes++;
        ok = add_class_folder(k, part, folder, l.entries[i].name);
    }
    if (ok && !classes && k->a.unlabelled)
        ok = heed_fail(k->c, HEED_DATA,
                       "no pictures: %s: expected JPEG, PNG or BMP files, or folders of them, "
                       "found %zu other files",
                       folder, l.count);
    if (ok && !classes) ok = refuse_flat(k, folder, &l);
    heed__os_list_free(&l);
    return ok;
}

/* ---- parts ---- */

static int part_of_folder(const heed__entry *e) {
    return e->folder ? heed__images_part(e->name, strlen(e->name)) : -1;
}

/* True if a word of the name means a part: "seg_train", "test2017". */
static bool sounds_like_part(const char *name) {
    while (*name) {
        size_t n = 0;
        while (isalpha((unsigned char)name[n])) n++;
        if (heed__images_part(name, n) >= 0) return true;
        name += n ? n : 1;
    }
    return false;
}

/* Whether the folder may be a part: it holds folders of classes or, without classes, pictures. */
static bool holds_part(const heed_images *k, const char *path) {
    heed__listing l;
    bool found = false;
    if (heed__os_list(k->c, path, &l)) {
        for (size_t i = 0; i < l.count; i++) found |= l.entries[i].folder;
        found |= k->a.unlabelled && holds_pictures(&l);
    }
    heed__os_list_free(&l);
    return found;
}

/* False: classes. One called "train" beside others, without folders, is a class of vehicles. */
static bool has_parts(const heed_images *k, const char *path, const heed__listing *l) {
    size_t folders = 0, known = 0;
    bool trains = false;
    for (size_t i = 0; i < l->count; i++) {
        int part = part_of_folder(&l->entries[i]);
        folders += l->entries[i].folder;
        known += part >= 0;
        if (part != HEED_TRAIN_PART) continue;
        char *folder = heed__images_path(k->c, path, l->entries[i].name);
        trains |= folder && holds_part(k, folder);
        heed__free(folder);
    }
    return trains || (known && known == folders);
}

/* *taken: the name of the folder already used for this part, or NULL. */
static bool add_named(heed_images *k, heed_part part, const char *path, const char *name,
                      const char **taken) {
    char *folder = heed__images_path(k->c, path, name);
    bool ok = folder != NULL, full = ok && holds_part(k, folder);
    if (ok && full && *taken) {
        ok = heed_fail(k->c, HEED_DATA, "two %s parts: %s: expected one, found both %s/ and %s/",
                       heed__part_words[part], path, *taken, name);
    } else if (ok && (full || part == HEED_TRAIN_PART)) {
        if (part == HEED_VAL_PART) k->own_val = true;
        *taken = name;
        ok = add_part(k, part, folder);
    } else if (ok) {
        heed_message(k->c, HEED_WARN,
                     k->a.unlabelled ? "%s holds no pictures: it is left out"
                                     : "%s holds no folder of a class: it is left out",
                     folder);
    }
    heed__free(folder);
    return ok;
}

static bool add_parts(heed_images *k, const char *path, const heed__listing *l) {
    bool ok = true;
    for (heed_part part = HEED_TRAIN_PART; ok && part < HEED_PARTS; part++) {
        const char *taken = NULL;
        if (part == HEED_TEST_PART && k->a.no_test) continue;
        for (size_t i = 0; ok && i < l->count; i++)
            if (part_of_folder(&l->entries[i]) == (int)part)
                ok = add_named(k, part, path, l->entries[i].name, &taken);
    }
    for (size_t i = 0; ok && i < l->count; i++)
        if (l->entries[i].folder && part_of_folder(&l->entries[i]) < 0)
            heed_message(k->c, HEED_WARN,
                         "%s/%s is left out: a folder beside the parts is not a class; hint: parts "
                         "are called train, val and test",
                         path, l->entries[i].name);
    return ok;
}

/* Parts under other names would be learned as classes: refuses them. */
static bool are_classes(heed_images *k, const char *path, const heed__listing *l) {
    const char *first = NULL;
    for (size_t i = 0; i < l->count; i++) {
        if (!l->entries[i].folder) continue;
        if (!sounds_like_part(l->entries[i].name)) return true;
        if (!first) first = l->entries[i].name;
    }
    return !first || heed_fail(k->c, HEED_DATA,
                               "folders are called like parts, not classes: %s: found %s/ and no "
                               "other kind; hint: call them train, val and test",
                               path, first);
}

bool heed__images_folder(heed_images *k, const char *path) {
    heed__listing l;
    k->info.kind = "folder";
    bool ok = heed__os_list(k->c, path, &l);
    bool parts = ok && has_parts(k, path, &l);
    if (ok && !heed__stopped(k->c))
        ok = parts ? add_parts(k, path, &l)
                   : (k->a.unlabelled || are_classes(k, path, &l)) &&
                         add_part(k, HEED_TRAIN_PART, path);
    heed__os_list_free(&l);
    return ok && !heed__stopped(k->c);
}

/* ---- lists: a CSV or TSV file of pictures, their labels and perhaps their parts; paths are
 * relative to the file ---- */

/* A text of the row, ended by a zero byte. */
static char *copy_cut(heed_ctx *c, heed__cut t) {
    char *copy = heed__alloc(c, t.n + 1);
    if (copy) memcpy(copy, t.s, t.n);
    return copy;
}

/* Rows without a path or a label are left out and counted. */
static bool add_row(heed_images *k, const heed__table *t, const char *folder) {
    heed__cut path = heed__table_field(t, HEED__SOURCE), label = heed__table_field(t, HEED__TARGET);
    bool labelled = t->column[HEED__TARGET] != HEED__ABSENT;
    int part = heed__table_part(t, heed__table_field(t, HEED__PART));
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

/* ---- IDX files (such as MNIST): big-endian, 0 0 TYPE DIMS, then the dims, then the elements;
 * plain or gzipped. http://yann.lecun.com/exdb/mnist/ ---- */

enum { U8 = 0x08, I8 = 0x09, I16 = 0x0B, I32 = 0x0C, F32 = 0x0D, F64 = 0x0E, MOST_DIMS = 4 };

/* A complete file: its dims, and elements as bytes. */
typedef struct {
    int type, dims;
    size_t dim[MOST_DIMS];
    size_t count;         /* product of the dims */
    unsigned char *bytes; /* the file; elements follow the header */
    size_t header, width; /* bytes of the header and of an element */
} idx;

/* Bytes of an element; 0: there is no such type. */
static size_t width_of(unsigned type) {
    static const unsigned char widths[] = {
        [U8] = 1, [I8] = 1, [I16] = 2, [I32] = 4, [F32] = 4, [F64] = 8};
    return type < sizeof widths ? widths[type] : 0;
}

static uint64_t big_endian(const unsigned char *p, size_t n) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v = v << 8 | p[i];
    return v;
}

/* The element i, whatever its type. */
static double element(const idx *f, size_t i) {
    uint64_t v = big_endian(f->bytes + f->header + i * f->width, f->width);
    if (f->type >= F32) return heed__real_of(v, f->width);
    return f->type == U8 ? (double)v : heed__signed_of(v, f->width);
}

/* ---- reading ---- */

static bool wrong(heed_ctx *c, const char *path, const char *expected, const char *found) {
    return heed_fail(c, HEED_DATA, "IDX file is wrong: %s: expected %s, found %s", path, expected,
                     found);
}

/* The header in the first n bytes of a file. */
static bool read_header(heed_ctx *c, const char *path, const unsigned char *p, size_t n, idx *out) {
    if (n < 4 || p[0] || p[1] || !width_of(p[2]))
        return wrong(c, path, "two zero bytes and a type (08 09 0B 0C 0D 0E) at its start",
                     n < 4 ? "an end" : "other bytes");
    int dims = p[3];
    if (dims < 1 || dims > MOST_DIMS || n < 4 + 4 * (size_t)dims)
        return wrong(c, path, "1 to 4 dimensions, 4 bytes each",
                     dims < 1 || dims > MOST_DIMS ? "another number of them" : "an end");
    *out = (idx){p[2], dims, .count = 1, .header = 4 + 4 * (size_t)dims};
    out->width = width_of(p[2]);
    for (int i = 0; i < dims; i++) {
        out->dim[i] = (size_t)big_endian(p + 4 + 4 * i, 4);
        if (out->dim[i] && out->count > SIZE_MAX / 16 / out->dim[i])
            return wrong(c, path, "dimensions that fit in memory", "a product that does not");
        out->count *= out->dim[i];
    }
    return true;
}

/* Inflates into out[] of n bytes; returns how many were written. A file may consist of several
 * concatenated streams. The caller passes one byte more than expected, to detect excess data. */
static size_t inflate_all(z_stream *z, unsigned char *out, size_t n, bool *whole) {
    size_t have = 0;
    int state = Z_OK;
    while (have < n && state == Z_OK) {
        size_t part = n - have < 1u << 30 ? n - have : 1u << 30;
        z->next_out = out + have;
        z->avail_out = (uInt)part;
        state = inflate(z, Z_NO_FLUSH);
        have += part - z->avail_out;
        if (state == Z_STREAM_END && z->avail_in) state = inflateReset(z);
    }
    *whole = state == Z_STREAM_END;
    return have;
}

/* deflate compresses by at most 1032:1: no memory is allocated for a header that promises more. */
static bool unzip(heed_ctx *c, const char *path, const unsigned char *in, size_t n, idx *out,
                  size_t *size) {
    enum { HEADER = 4 + 4 * MOST_DIMS, RATIO = 1032 };
    unsigned char head[HEADER];
    bool whole = false;
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)in, .avail_in = (uInt)n};
    if (n > UINT32_MAX) return wrong(c, path, "less than 4 GB by gzip", "more");
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return heed_fail(c, HEED_FAILED, "out of memory: cannot unzip %s", path);
    size_t have = inflate_all(&z, head, HEADER, &whole);
    bool ok = read_header(c, path, head, have, out);
    size_t need = ok ? out->header + out->count * out->width : 0;
    if (ok && need / RATIO > n)
        ok = heed_fail(c, HEED_DATA,
                       "IDX file is wrong: %s: its header promises %zu bytes, which %zu bytes by "
                       "gzip cannot hold",
                       path, need, n);
    size_t capacity = need + 1 > HEADER ? need + 1 : HEADER;
    unsigned char *bytes = ok ? heed__alloc(c, capacity) : NULL;
    if (bytes) {
        memcpy(bytes, head, have);
        out->bytes = bytes;
        if (!whole) have += inflate_all(&z, bytes + have, capacity - have, &whole);
        ok = whole || have > need ||
             wrong(c, path, "a whole gzip stream", z.msg ? z.msg : "an end too early");
        *size = have;
    }
    inflateEnd(&z);
    return ok && bytes;
}

static bool read_idx(heed_ctx *c, const char *path, idx *out) {
    size_t n;
    unsigned char *bytes = heed__os_read(c, path, 0, &n);
    *out = (idx){0};
    if (!bytes) return false;
    bool zipped = n > 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
    bool ok = zipped ? unzip(c, path, bytes, n, out, &n) : read_header(c, path, bytes, n, out);
    if (zipped)
        heed__free(bytes);
    else
        out->bytes = bytes;
    size_t need = out->header + out->count * out->width;
    if (ok && n != need)
        ok = heed_fail(c, HEED_DATA,
                       "IDX file is wrong: %s: expected %zu bytes, as its header says, found %s%zu",
                       path, need, n > need ? "more than " : "", n > need ? need : n);
    if (!ok) heed__free(out->bytes);
    return ok;
}

/* ---- pictures ---- */

/* How elements become bytes: (v - low) * scale. */
typedef struct {
    double low, scale;
    bool known;
} range;

/* Values from 0 to 255 are kept; fractions from 0 to 1 are multiplied by 255. All others are scaled
 * linearly so that the lowest and highest value become 0 and 255. */
static bool find_range(heed_ctx *c, const char *path, const idx *f, range *out) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < f->count; i++) {
        double v = element(f, i);
        if (!isfinite(v)) return wrong(c, path, "finite values", "one that is not");
        low = fmin(low, v);
        high = fmax(high, v);
    }
    bool share = f->type >= F32 && high <= 1, bytes = low >= 0 && high <= 255;
    *out = (range){0, share ? 255 : 1, true};
    if (bytes) return true;
    *out = (range){low, high > low ? 255 / (high - low) : 0, true};
    heed_message(c, HEED_INFO, "%s: values of %g to %g are brought to 0 to 255", path, low, high);
    return true;
}

/* The training file's range is also used for the test file. */
static bool to_bytes(heed_ctx *c, const char *path, idx *f, range *r) {
    if (f->type == U8) return true;
    if (!r->known && !find_range(c, path, f, r)) return false;
    for (size_t i = 0; i < f->count; i++) { /* in place: an element is no shorter than a byte */
        double v = (element(f, i) - r->low) * r->scale;
        f->bytes[f->header + i] = (unsigned char)(v > 0 ? v < 255 ? v + 0.5 : 255 : 0);
    }
    return true;
}

static bool pictures_fit(heed_ctx *c, const char *path, const idx *f) {
    size_t channels = f->dims == 4 ? f->dim[3] : 1;
    if (f->dims < 3 || (channels != 1 && channels != 3))
        return wrong(c, path, "dimensions (pictures, height, width) or (.., 1 or 3)", "others");
    if (!f->count || f->dim[0] > INT32_MAX)
        return wrong(c, path, "pictures", f->count ? "more than 2^31" : "none");
    if (f->dim[1] > 1u << 26 || f->dim[2] > (1u << 26) / f->dim[1])
        return wrong(c, path, "at most 2^26 pixels", "larger pictures");
    return true;
}

/* ---- labels ---- */

enum { NUMBER = 32, PREFIX = 64, NAME = 160 };

/* Reads the names of the classes 0, 1, .. from labels.txt in the folder, if there is one. A name
 * that is repeated would join two classes: such a file has something else, as the label of each
 * picture. */
static bool read_names(heed_ctx *c, const char *folder, heed__names *out) {
    char *path = heed__images_path(c, folder, "labels.txt"), *text = NULL;
    size_t n = 0;
    bool ok = path != NULL;
    if (ok && heed__os_exists(path)) ok = (text = heed_text_read(c, path, &n)) != NULL;
    for (const char *line = text; ok && line && *line; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        ok =
            (n && heed__names_look(out, line, n) < 0) ||
            heed_fail(c, HEED_DATA,
                      "class name is wrong: %s:%zu: expected one that is in no earlier line, found "
                      "%.*s; hint: rename the file if it does not name the classes",
                      path, out->count + 1, n ? (int)(n < 60 ? n : 60) : 7, n ? line : "nothing");
        ok = ok && heed__names_add(out, line, n) >= 0;
    }
    heed__free(text);
    heed__free(path);
    return ok;
}

/* Reads the names of the classes from EMNIST's list, if there is one: of each class a line of its
 * number and of code points, of which the first one is its name. Numbers that it lacks have none.
 */
static bool read_mapping(heed_ctx *c, const char *folder, const char *prefix, heed__names *out) {
    char name[PREFIX + 16], found[HEED_QUOTE];
    snprintf(name, sizeof name, "%smapping.txt", prefix);
    char *path = heed__images_path(c, folder, name), *text = NULL;
    size_t n = 0, line = 1;
    bool ok = path != NULL;
    if (ok && heed__os_exists(path)) ok = (text = heed_text_read(c, path, &n)) != NULL;
    for (const char *at = text; ok && at && *at; at += n + (at[n] == '\n'), line++) {
        char letter[8] = "";
        unsigned class, code;
        n = strcspn(at, "\n");
        bool read = sscanf(at, "%5u%*1[ \t]%7u", &class, &code) == 2 && class < 65536 &&
                    class >= out->count && code > ' ' && code < 0xD800;
        if (!n) continue;
        for (char absent[NUMBER]; read && ok && out->count < class;) {
            snprintf(absent, sizeof absent, "class %zu", out->count);
            ok = heed__names_add(out, absent, strlen(absent)) >= 0;
        }
        if (read) heed__utf8_write((int32_t)code, letter);
        ok = ok && ((read && heed__names_look(out, letter, strlen(letter)) < 0) ||
                    heed_fail(c, HEED_DATA,
                              "list of classes is wrong: %s:%zu: expected a class above those "
                              "before it and the code of a new letter, as 1 65, found %s; hint: "
                              "without this file classes have numbers",
                              path, line, heed_quote(found, at, n)));
        ok = ok && heed__names_add(out, letter, strlen(letter)) >= 0;
    }
    heed__free(text);
    heed__free(path);
    return ok;
}

/* The name of the class of a value. */
static const char *name_of(const heed__names *s, int64_t value, char number[NUMBER]) {
    if (s->count) return heed__names_text(s, (size_t)value);
    snprintf(number, NUMBER, "%lld", (long long)value);
    return number;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Adds the class of each value, in the order of the values. */
static bool add_classes(heed_images *k, const heed__names *s, const char *path,
                        const int64_t *values, size_t n) {
    int64_t *sorted = heed__alloc_array(k->c, n, sizeof *sorted);
    if (!sorted) return false;
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    bool ok = !n || !s->count || (uint64_t)sorted[n - 1] < s->count ||
              heed_fail(k->c, HEED_DATA,
                        "label is wrong: %s: expected less than %zu, as the list of classes "
                        "beside it ends, found %lld; hint: rename labels.txt if it does not name "
                        "the classes",
                        path, s->count, (long long)sorted[n - 1]);
    for (size_t i = 0; ok && i < n; i++) {
        char number[NUMBER];
        if (i && sorted[i] == sorted[i - 1]) continue;
        ok = heed__images_class(k, name_of(s, sorted[i], number), path) >= 0;
    }
    heed__free(sorted);
    return ok;
}

/* Labels may be of any type: floats may hold whole numbers. */
#define MOST_LABEL 0x1p31
static bool read_labels(heed_images *k, const char *path, int64_t **out, size_t *n) {
    idx f;
    if (!read_idx(k->c, path, &f)) return false;
    bool ok = f.dims == 1 || wrong(k->c, path, "labels in 1 dimension", "more dimensions");
    *out = ok ? heed__alloc_array(k->c, f.count, sizeof **out) : NULL;
    for (size_t i = 0; *out && ok && i < f.count; i++) {
        double v = element(&f, i);
        ok = (v >= 0 && v <= MOST_LABEL && v == floor(v)) ||
             heed_fail(k->c, HEED_DATA,
                       "label is wrong: %s: expected a whole number of 0 to %.0f, "
                       "found %.9g at picture %zu",
                       path, MOST_LABEL, v, i);
        (*out)[i] = ok ? (int64_t)v : 0;
    }
    *n = f.count;
    heed__free(f.bytes);
    return ok && *out;
}

/* ---- the folder ---- */

typedef struct {
    const char *words[2]; /* as the part is called in names */
    heed_part part;
} pair;
static const pair pairs[] = {{{"train", "train"}, HEED_TRAIN_PART},
                             {{"t10k", "test"}, HEED_TEST_PART}};

/* The path of "emnist-letters-train-images-idx3-ubyte", with a point for the last but one mark or
 * gzipped, which the caller frees; NULL: absent, or an error. */
static char *find_file(heed_ctx *c, const char *folder, const char *prefix, const pair *p,
                       const char *what, const char *form) {
    for (int i = 0; i < 8; i++) {
        char name[NAME];
        snprintf(name, sizeof name, "%s%s-%s%c%s-ubyte%s", prefix, p->words[i & 1], what,
                 i & 2 ? '.' : '-', form, i & 4 ? ".gz" : "");
        char *path = heed__images_path(c, folder, name);
        if (!path || heed__os_exists(path)) return path;
        heed__free(path);
    }
    return NULL;
}

/* What comes before "train-images-idx3-ubyte" in the names of the folder's files: "emnist-letters-"
 * of those of EMNIST. Two sets in one folder are an error. */
static bool find_prefix(heed_ctx *c, const char *folder, char prefix[PREFIX]) {
    heed__listing l;
    bool any = false, ok = heed__os_list(c, folder, &l);
    *prefix = 0;
    for (size_t i = 0; ok && i < l.count; i++) {
        const char *name = l.entries[i].name, *at = strstr(name, "train-images");
        size_t n = at ? (size_t)(at - name) : PREFIX;
        if (n >= PREFIX || (n && at[-1] != '-') || !strstr(at, "idx3-ubyte")) continue;
        if (any && (strlen(prefix) != n || memcmp(prefix, name, n) != 0))
            ok = heed_fail(c, HEED_DATA,
                           "several sets of IDX files in one folder: %s: expected one, found "
                           "%strain-images-idx3-ubyte and %s; hint: put the files of one set into "
                           "a folder of their own",
                           folder, prefix, name);
        snprintf(prefix, PREFIX, "%.*s", (int)n, name);
        any = true;
    }
    heed__os_list_free(&l);
    return ok;
}

/* Exchanges the rows and columns of square pictures of a byte a pixel, in place. */
static void transpose(const idx *f) {
    size_t side = f->dim[1];
    for (size_t i = 0; f->dims == 3 && side == f->dim[2] && i < f->dim[0]; i++) {
        unsigned char *p = f->bytes + f->header + i * side * side;
        for (size_t y = 0; y < side; y++)
            for (size_t x = 0; x < y; x++) {
                unsigned char pixel = p[y * side + x];
                p[y * side + x] = p[x * side + y];
                p[x * side + y] = pixel;
            }
    }
}

static bool add_pictures(heed_images *k, const heed__names *s, const pair *p, const idx *f,
                         const int64_t *labels) {
    size_t height = f->dim[1], width = f->dim[2], channels = f->dims == 4 ? f->dim[3] : 1;
    for (size_t i = 0; i < f->dim[0]; i++) {
        char number[NUMBER];
        const char *name = labels ? name_of(s, labels[i], number) : HEED_UNLABELLED;
        heed_picture picture = {(int)width, (int)height, (int)channels,
                                f->bytes + f->header + i * height * width * channels};
        if (!heed__images_add(k, heed__images_class(k, name, p->words[0]), p->part, NULL, picture))
            return false;
    }
    return true;
}

/* A set that is being read. */
typedef struct {
    heed__names names;
    range range;
    bool transposed;
} set;

/* label_path NULL: the pictures have no labels. */
static bool read_pair(heed_images *k, set *s, const pair *p, const char *image_path,
                      const char *label_path) {
    idx f;
    int64_t *labels = NULL;
    size_t count = 0;
    if (!read_idx(k->c, image_path, &f) || !heed__images_keep(k, f.bytes)) return false;
    bool ok = pictures_fit(k->c, image_path, &f) && to_bytes(k->c, image_path, &f, &s->range) &&
              (!label_path || read_labels(k, label_path, &labels, &count));
    if (ok && labels && count != f.dim[0])
        ok = heed_fail(k->c, HEED_DATA,
                       "labels and pictures differ in number: %s: expected %zu labels, as there "
                       "are pictures in %s, found %zu",
                       label_path, f.dim[0], image_path, count);
    if (ok && s->transposed) transpose(&f);
    ok = ok && (!labels || add_classes(k, &s->names, label_path, labels, count)) &&
         add_pictures(k, &s->names, p, &f, labels);
    heed__free(labels);
    return ok;
}

bool heed__images_idx(heed_images *k, const char *path) {
    set s = {.names = {.c = k->c}};
    char prefix[PREFIX];
    bool ok = find_prefix(k->c, path, prefix);
    s.transposed = strncmp(prefix, "emnist-", 7) == 0;
    for (int i = 0; ok && i < 2; i++) {
        const pair *p = &pairs[i];
        char *images = find_file(k->c, path, prefix, p, "images", "idx3"),
             *labels = find_file(k->c, path, prefix, p, "labels", "idx1");
        if (images || labels) {
            k->info.kind = "idx";
            k->ordered = true;
        }
        if (p->part == HEED_TEST_PART && k->a.no_test)
            ok = true;
        else if (images && (labels || k->a.unlabelled))
            ok = (!labels || s.names.count || read_names(k->c, path, &s.names)) &&
                 (!s.transposed || s.names.count || read_mapping(k->c, path, prefix, &s.names)) &&
                 read_pair(k, &s, p, images, labels);
        else if (images || labels)
            ok = heed_fail(k->c, HEED_DATA,
                           "IDX files are not complete: %s: expected %s%s-%s-ubyte, too (plain or "
                           ".gz)",
                           path, prefix, p->words[i && *prefix],
                           images ? "labels-idx1" : "images-idx3");
        heed__free(images);
        heed__free(labels);
    }
    if (ok && k->info.kind && s.transposed)
        heed_message(k->c, HEED_INFO,
                     "EMNIST's files hold pictures with rows and columns exchanged: these are "
                     "exchanged again");
    heed__names_free(&s.names);
    return ok && !heed__stopped(k->c);
}

/* ---- CIFAR-10 and -100, binary version: records of one label (10) or a coarse and a fine one
 * (100), then 32 x 32 red, green and blue bytes. Krizhevsky 2009;
 * https://www.cs.toronto.edu/~kriz/cifar.html ---- */

enum { SIDE = 32, PLANE = SIDE * SIDE, CHANNELS = 3, PICTURE = PLANE * CHANNELS };

typedef struct {
    const char *kind, *names; /* the file of class names, one per line */
    int classes, labels;      /* label bytes of a record; the last one is used */
} format;
static const format ten = {"cifar-10", "batches.meta.txt", 10, 1};
static const format hundred = {"cifar-100", "fine_label_names.txt", 100, 2};

/* HEED_PARTS: not a file of either set. */
static heed_part part_of_cifar(const char *name, const format **f) {
    *f = &hundred;
    if (strcmp(name, "train.bin") == 0) return HEED_TRAIN_PART;
    if (strcmp(name, "test.bin") == 0) return HEED_TEST_PART;
    *f = &ten;
    if (strcmp(name, "test_batch.bin") == 0) return HEED_TEST_PART;
    bool batch = strncmp(name, "data_batch_", 11) == 0 && heed__ends_in(name + 11, ".bin");
    return batch ? HEED_TRAIN_PART : HEED_PARTS;
}

/* Reads the names from the file's lines that are not blank; without it, classes are numbered. */
static bool read_cifar_names(heed_images *k, const char *folder, const format *f) {
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
    heed_part part = part_of_cifar(name, &f);
    if (part == HEED_PARTS) return true;
    k->ordered = true;
    if (!k->info.kind) k->info.kind = f->kind;
    if (part == HEED_TEST_PART && k->a.no_test) return true;
    if (strcmp(k->info.kind, f->kind) != 0)
        return heed_fail(k->c, HEED_DATA,
                         "two sets in one folder: %s: expected files of CIFAR-10 or of CIFAR-100",
                         folder);
    if (!k->names.count && !read_cifar_names(k, folder, f)) return false;
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
