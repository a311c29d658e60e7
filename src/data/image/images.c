/* images.c -- sets of pictures: opening them, the contents of each part, and batches, of
 * which a row depends only on (seed, step, micro-batch, row), not on the thread. */
#include "data/image/images.h"

#include "data/kind.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* ---- memory ---- */

static void images_free(heed__owned *object) {
    heed_images *k = (heed_images *)object;
    heed__ring_free(&k->ring);
    for (size_t i = 0; i < k->count; i++) {
        heed__item *item = &k->items[i];
        if (!item->lies_in_block) heed_picture_free(&item->picture);
        heed__free(item->path);
        heed__free(item->why);
    }
    heed__names_free(&k->names);
    for (size_t i = 0; i < k->label_count; i++) heed__free(k->labels[i]);
    for (size_t i = 0; i < k->block_count; i++) heed__free(k->blocks[i]);
    for (int i = 0; i < HEED_PARTS; i++) heed__free(k->part[i]);
    void *rest[] = {k->items,  k->classes, k->labels, k->blocks, k->bad,
                    k->counts, k->weights, k->uses,   k->other,  k};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
}

void heed_images_close(heed_images *k) {
    if (k) heed__release(k->c, &k->owned);
}

/* ---- opening ---- */

enum { CACHE = 1 << 30 };

static bool args_fit(heed_ctx *c, const heed_images_args *a) {
    enum { MOST_WORKERS = 64 };
    if (!heed__in_range(c, "size is", a->size, 0, HEED__MOST_SIZE) ||
        !heed__is_share(c, a->val_split) ||
        !heed__in_range(c, "workers are", a->workers, 0, MOST_WORKERS))
        return false;
    if (a->channels != 0 && a->channels != 1 && a->channels != 3)
        return heed_fail(c, HEED_USAGE, "channels are wrong: expected 0, 1 or 3, found %d",
                         a->channels);
    for (int i = 0; a->deviation[0] != 0 && i < (a->channels == 1 ? 1 : 3); i++)
        if (!(a->deviation[i] > 0 && a->deviation[i] < 1e6 && a->mean[i] > -1e6 &&
              a->mean[i] < 1e6))
            return heed_fail(c, HEED_USAGE,
                             "mean or deviation is wrong: channel %d: expected a finite mean and a "
                             "deviation above 0, found %g and %g",
                             i, a->mean[i], a->deviation[i]);
    return true;
}

static bool copy_labels(heed_images *k) {
    bool given = k->a.labels && k->a.label_count > 0 && !k->a.unlabelled;
    size_t n = given ? (size_t)k->a.label_count : 0;
    if (n) k->labels = heed__alloc_array(k->c, n, sizeof *k->labels);
    for (size_t i = 0; k->labels && i < n; i++) {
        k->labels[i] = heed__copy_text(k->c, k->a.labels[i]);
        k->label_count = i + 1;
    }
    return !heed__stopped(k->c);
}

/* The first source that finds its files names the kind of the set. */
static bool read_source(heed_images *k, const char *path) {
    if (heed__os_is_dir(path))
        return heed__images_idx(k, path) && (k->info.kind || heed__images_cifar(k, path)) &&
               (k->info.kind || heed__images_folder(k, path));
    if (!heed__os_exists(path) || heed__ends_in(path, ".csv") || heed__ends_in(path, ".tsv"))
        return heed__images_list(k, path);
    return heed_fail(
        k->c, HEED_DATA,
        "no set of pictures: %s: expected a folder or a CSV file of path,label lines (its name "
        "ending in .csv), found another file; hint: give the folder that holds it",
        path);
}

/* An empty set. */
static heed_images *start(heed_ctx *c, const heed_images_args *a) {
    heed_images *k = args_fit(c, a) ? heed__alloc(c, sizeof *k) : NULL;
    if (!k) return NULL;
    k->c = k->names.c = c;
    k->a = *a;
    if (!k->a.cache) k->a.cache = CACHE;
    heed__own(c, &k->owned, images_free);
    return k;
}

heed_images *heed_images_open(heed_ctx *c, const char *path, const heed_images_args *a) {
    if (heed__stopped(c) || !path || !a) return NULL;
    heed_images *k = start(c, a);
    if (!k) return NULL;
    bool ok = copy_labels(k) && read_source(k, path) && heed__images_label(k, path) &&
              heed__images_split(k) && heed__images_measure(k) && heed__images_finalize(k, path);
    k->a.labels = NULL; /* these belong to the caller, and are no longer needed */
    k->a.columns = k->a.header = NULL;
    if (ok) return k;
    heed_images_close(k);
    return NULL;
}

heed_images *heed__images_open_list(heed_ctx *c, const char *name, const heed_images_args *a,
                                    const heed__image_list *list) {
    heed_images *k = heed__stopped(c) ? NULL : start(c, a);
    if (k) {
        k->info.kind = "list";
        k->uses = list->uses;
        k->use_count = list->use_count;
        k->a.labels = NULL;
        k->items = heed__alloc_array(c, list->count, sizeof *k->items);
    } else {
        heed__free(list->uses);
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct heed__listed *p = &list->pictures[i];
        if (k && k->items)
            k->items[k->count++] = (heed__item){.path = p->path, .part = p->part};
        else
            heed__free(p->path);
    }
    heed__free(list->pictures);
    if (!heed__stopped(c) && heed__images_measure(k) && heed__images_finalize(k, name)) return k;
    heed_images_close(k);
    return NULL;
}

/* ---- contents ---- */

const heed_images_info *heed_images_about(const heed_images *k) { return k ? &k->info : NULL; }

bool heed_images_bad(const heed_images *k, size_t i, const char **path, const char **why) {
    if (!k || i >= k->info.bad) return false;
    const heed__item *item = &k->items[k->bad[i]];
    if (path) *path = item->path;
    if (why) *why = item->why;
    return true;
}

bool heed_images_duplicate(const heed_images *k, heed_duplicate *out) {
    if (!k || k->info.overlap[HEED_VAL_PART] + k->info.overlap[HEED_TEST_PART] == 0) return false;
    if (out) *out = k->duplicate;
    return true;
}

size_t heed_images_conflicts(const heed_images *k, heed_images_conflict *out, size_t most) {
    typedef struct {
        heed_part part;
        size_t index;
        uint32_t label;
        bool counted;
    } meeting;
    if (!k || heed__stopped(k->c)) return 0;
    size_t found = 0, all = 0;
    for (int part = 0; part < HEED_PARTS; part++) all += k->info.count[part];
    heed__names pixels = {.c = k->c};
    meeting *first = heed__alloc_array(k->c, all, sizeof *first);
    for (int part = 0; first && part < HEED_PARTS; part++)
        for (size_t i = 0; i < k->info.count[part] && !heed__stopped(k->c); i++) {
            heed__use use = heed__images_use(k, (heed_part)part, i);
            const uint64_t *hash = &k->items[use.item].hash;
            size_t before = pixels.count;
            int32_t number = heed__names_add(&pixels, (const char *)hash, sizeof *hash);
            if (number < 0) continue;
            meeting *one = &first[number], now = {(heed_part)part, i, use.label, false};
            if (pixels.count > before) *one = now;
            if (one->counted || one->label == use.label) continue;
            one->counted = true;
            if (found < most)
                out[found] = (heed_images_conflict){{one->part, now.part}, {one->index, i}};
            found++;
        }
    heed__names_free(&pixels);
    heed__free(first);
    return heed__stopped(k->c) ? 0 : found;
}

static bool in_part(const heed_images *k, heed_part part, uint64_t index) {
    return (int)part >= 0 && part < HEED_PARTS && index < k->info.count[part];
}

size_t heed_images_count(const heed_images *k, heed_part part, int label) {
    if (!k || !in_part(k, part, 0) || (label >= 0 && label >= k->info.classes)) return 0;
    return label < 0 ? k->info.count[part] : k->counts[(size_t)label * HEED_PARTS + part];
}

bool heed__images_copy(const heed_images *k, const heed__item *item, heed_picture *out) {
    const heed_picture *p = NULL;
    char why[HEED_WHY] = "";
    heed_status s = heed__images_pixels(k, item, out, &p, why);
    if (s != HEED_OK) return heed_fail(k->c, s, "picture cannot be read: %s: %s", item->path, why);
    if (p == out) return true;
    size_t n = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
    unsigned char *copy = heed__alloc(k->c, n);
    if (!copy) return false;
    *out = (heed_picture){p->width, p->height, p->channels, memcpy(copy, p->pixels, n)};
    return true;
}

static size_t trained(const void *k, int label) {
    return heed_images_count(k, HEED_TRAIN_PART, label);
}

const heed_real *heed_images_balance(heed_images *k) {
    if (!k || heed__stopped(k->c)) return NULL;
    if (!k->weights) k->weights = heed__balance(k->c, trained, k, k->info.classes);
    return k->weights;
}

bool heed_images_get(heed_images *k, heed_part part, size_t index, heed_picture *out, int *label,
                     const char **name) {
    if (out) *out = (heed_picture){0};
    if (!k || heed__stopped(k->c)) return false;
    if (!in_part(k, part, index))
        return heed_fail(k->c, HEED_USAGE, "there is no picture %zu: expected a part and its index",
                         index);
    heed__use use = heed__images_use(k, part, index);
    const heed__item *item = &k->items[use.item];
    snprintf(k->name, sizeof k->name, "%s %zu", heed_part_name(part), index);
    if (label) *label = (int)use.label;
    if (name) *name = item->path ? item->path : k->name;
    return !out || heed__images_copy(k, item, out);
}

void heed_images_set_eval_part(heed_images *k, heed_part part) {
    if (!k || heed__stopped(k->c)) return;
    if (in_part(k, part, 0))
        k->eval_part = part;
    else
        heed_fail(k->c, HEED_USAGE,
                  "the part to be evaluated has no pictures: expected one that has");
}

void heed_images_augment(heed_images *k, const heed_augment *a) {
    if (!k || !a || heed__stopped(k->c)) return;
    if (k->ring.monitor) /* worker threads read it */
        heed_fail(k->c, HEED_USAGE, "augmentation cannot change: expected before the first batch");
    else
        k->a.augment = *a;
}

/* ---- batches ---- */

uint64_t heed_images_eval_batches(const heed_images *k, int rows) {
    return k ? heed__batches(k->info.count[k->eval_part], rows) : 0;
}

uint64_t heed_images_epoch_batches(const heed_images *k, int rows) {
    return k ? heed__epoch(k->info.count[HEED_TRAIN_PART], rows) : 0;
}

bool heed_image_batch(heed_images *k, heed_batch_at at, heed_batch *out) {
    if (out) *out = (heed_batch){0};
    if (!k || !out || heed__stopped(k->c)) return false;
    const heed_image_transform *v = &k->info.view;
    int len = v->size * v->size * v->channels;
    heed_part part = at.val ? k->eval_part : HEED_TRAIN_PART;
    if (!k->info.count[part])
        return heed_fail(k->c, HEED_USAGE,
                         at.val ? "there is neither a validation nor a training part to evaluate"
                                : "there is no training part for batches");
    if (!heed__batch_rows(k->c, at, k->info.count[part], INT32_MAX / len)) return false;
    double start = heed__os_seconds();
    const heed__slot *s = heed__ring_get(k, part, at);
    k->ring.waited += heed__os_seconds() - start;
    if (!s) return false;
    *out = (heed_batch){
        .rows = s->rows, .len = len, .x = s->x, .labels = s->labels, .items = (size_t)s->rows};
    if (!at.val) heed__balance_batch(k->weights, k->info.classes, (size_t)s->rows, out);
    return true;
}

double heed_images_waited(const heed_images *k) { return k ? k->ring.waited : 0; }
