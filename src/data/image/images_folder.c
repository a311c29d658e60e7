/* images_folder.c -- train/CLASS/.., val/CLASS/.., test/CLASS/.., or only CLASS/... Classes may
 * contain folders. Without classes also pictures in the place of classes. Links are followed, but
 * each folder is read once, and no parent folder. */
#include "data/image/images.h"
#include "data/table.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- a class ---- */

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

static bool add_class(heed_images *k, heed_part part, const char *folder, const char *name) {
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
        ok = add_class(k, part, folder, l.entries[i].name);
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

static int part_of(const heed__entry *e) {
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
        int part = part_of(&l->entries[i]);
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
            if (part_of(&l->entries[i]) == (int)part)
                ok = add_named(k, part, path, l->entries[i].name, &taken);
    }
    for (size_t i = 0; ok && i < l->count; i++)
        if (l->entries[i].folder && part_of(&l->entries[i]) < 0)
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
