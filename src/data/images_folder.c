/* A folder of folders: train/CLASS/.., val|valid/CLASS/.., test/CLASS/.., or CLASS/.. alone.
 * Classes may have folders inside; links are followed, each folder once. */
#include "data/images.h"

#include <string.h>

/* ---- a class ---- */

typedef struct {
    heed_images *k;
    int64_t class;
    heed_part part;
    uint64_t (*seen)[2]; /* folders of this class: a link may lead back to one */
    size_t seen_count, seen_room;
    size_t others; /* files that are no pictures */
} scan;

/* True if the folder was not seen before. */
static bool is_new(scan *s, const char *folder) {
    uint64_t id[2];
    if (!heed__os_identity(folder, id)) return false;
    for (size_t i = 0; i < s->seen_count; i++)
        if (s->seen[i][0] == id[0] && s->seen[i][1] == id[1]) return false;
    if (!heed__grow(s->k->c, &s->seen, &s->seen_room, s->seen_count + 1, sizeof *s->seen))
        return false;
    memcpy(s->seen[s->seen_count++], id, sizeof id);
    return true;
}

static bool add_tree(scan *s, const char *folder) {
    heed__listing l;
    if (!is_new(s, folder)) return !heed__stopped(s->k->c);
    bool ok = heed__os_list(s->k->c, folder, &l);
    for (size_t i = 0; ok && i < l.count; i++) {
        const heed__entry *e = &l.entries[i];
        if (!e->folder && !heed__images_is_picture(e->name)) {
            s->others++;
            continue;
        }
        char *path = heed__images_path(s->k->c, folder, e->name);
        ok = path != NULL;
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
    size_t before = k->count;
    bool ok = s.class >= 0 && path && add_tree(&s, path);
    if (ok && k->count == before)
        ok = heed_fail(k->c, HEED_DATA,
                       "class \"%s\" has no pictures: %s: expected JPEG, PNG, BMP or TGA files, "
                       "found %zu others; hint: fill the folder or remove it",
                       name, path, s.others);
    heed__free(s.seen);
    heed__free(path);
    return ok;
}

static bool add_part(heed_images *k, heed_part part, const char *folder) {
    heed__listing l;
    size_t classes = 0;
    bool ok = heed__os_list(k->c, folder, &l);
    for (size_t i = 0; ok && i < l.count; i++) {
        if (!l.entries[i].folder) continue;
        classes++;
        ok = add_class(k, part, folder, l.entries[i].name);
    }
    if (ok && !classes)
        ok = heed_fail(k->c, HEED_DATA,
                       "no pictures: %s: expected a folder for each class, found %zu files and no "
                       "folder; hint: other data are IDX files "
                       "({train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz]), CIFAR's *.bin, or a "
                       "CSV file of path,label",
                       folder, l.count);
    heed__os_list_free(&l);
    return ok;
}

/* ---- parts ---- */

typedef struct {
    const char *name;
    heed_part part;
    bool there, full; /* full: it holds folders */
} folder_part;
enum { TRAIN, VAL, VALID, TEST, NAMES };

static bool holds_folders(heed_ctx *c, const char *folder, const char *name) {
    heed__listing l;
    bool found = false;
    char *path = heed__images_path(c, folder, name);
    if (path && heed__os_list(c, path, &l)) {
        for (size_t i = 0; i < l.count; i++) found |= l.entries[i].folder;
        heed__os_list_free(&l);
    }
    heed__free(path);
    return found;
}

/* The parts that the folder has; false: its folders are classes. One called "train" beside others,
 * with no folder inside, is a class of vehicles. */
static bool find_parts(heed_ctx *c, const char *path, folder_part *parts) {
    heed__listing l;
    size_t folders = 0, known = 0;
    if (!heed__os_list(c, path, &l)) return false;
    for (size_t i = 0; i < l.count; i++) {
        if (!l.entries[i].folder) continue;
        folders++;
        for (int p = 0; p < NAMES; p++) {
            if (strcmp(l.entries[i].name, parts[p].name) != 0) continue;
            known++;
            parts[p].there = true;
            parts[p].full = holds_folders(c, path, parts[p].name);
        }
    }
    heed__os_list_free(&l);
    return parts[TRAIN].full || (known && known == folders);
}

static bool add_named(heed_images *k, const char *path, const folder_part *p) {
    if (!p->there || (p->part == HEED_TEST_PART && k->a.no_test)) return true;
    char *folder = heed__images_path(k->c, path, p->name);
    bool ok = folder != NULL;
    if (ok && (p->full || p->part == HEED_TRAIN_PART)) {
        if (p->part == HEED_VAL_PART) k->own_val = true;
        ok = add_part(k, p->part, folder);
    } else if (ok) {
        heed_log(k->c, HEED_WARN, "%s holds no folder of a class: it is left out", folder);
    }
    heed__free(folder);
    return ok;
}

bool heed__images_folder(heed_images *k, const char *path) {
    folder_part parts[NAMES] = {[TRAIN] = {"train", HEED_TRAIN_PART, false, false},
                                [VAL] = {"val", HEED_VAL_PART, false, false},
                                [VALID] = {"valid", HEED_VAL_PART, false, false},
                                [TEST] = {"test", HEED_TEST_PART, false, false}};
    k->info.kind = "folder";
    bool found = find_parts(k->c, path, parts), ok = !heed__stopped(k->c);
    if (ok && !found) return add_part(k, HEED_TRAIN_PART, path);
    if (parts[VAL].full && parts[VALID].full)
        ok = heed_fail(k->c, HEED_DATA,
                       "two validation parts: %s: expected val/ or valid/, found both", path);
    for (int p = 0; ok && p < NAMES; p++) ok = add_named(k, path, &parts[p]);
    return ok;
}
