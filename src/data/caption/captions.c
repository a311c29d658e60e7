/* captions.c -- joins captions with their pictures: the pairs hold lines and tokens, the set of
 * pictures makes the batches' pixels. */
#include "data/sets.h"

#include "data/image/images.h"
#include "data/pair/pairs.h"

#include <stdio.h>
#include <string.h>

struct heed__captions {
    heed__owned owned;
    heed_ctx *c;
    heed__pairs *pairs;
    heed_images *images;
    heed__captions_info info;
    size_t *begin;         /* per item: where its captions begin in `caption`; then the end */
    uint32_t *caption;     /* numbers of pairs */
    uint32_t *pictures[2]; /* items of the training part, and of the part that evaluation reads */
};

/* ---- memory ---- */

static void captions_free(heed__owned *object) {
    heed__captions *k = (heed__captions *)object;
    void *all[] = {k->begin, k->caption, k->pictures[0], k->pictures[1], k};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) heed__free(all[i]);
}

void heed__captions_close(heed__captions *k) {
    if (!k) return;
    heed__images_close(k->images);
    heed__pairs_close(k->pairs);
    heed__release(k->c, &k->owned);
}

/* ---- the list of pictures ---- */

typedef struct {
    heed_ctx *c;
    const heed__pairs *pairs;
    heed__names
        names[3];        /* files as written: of the training part, of others, of the second file */
    uint32_t *number[3]; /* their pictures in the list */
    size_t number_capacity[3];
    char *folder[2]; /* of the two files, ended by a slash; "": the current one */
    heed__image_list list;
    size_t use_capacity;
} lister;

/* The picture of a pair, added to the list if it is new there; false on error. */
static bool picture_of(lister *l, const heed__pair *p, bool second, uint32_t *out) {
    int of = second ? 2 : !p->trains;
    heed__names *names = &l->names[of];
    heed__cut file = p->text[HEED__SOURCE];
    heed__image_list *list = &l->list;
    size_t before = names->count;
    int32_t name = heed__names_add(names, file.s, file.n);
    if (name < 0) return false;
    if (names->count > before) {
        if (!heed__grow(l->c, &l->number[of], &l->number_capacity[of], names->count,
                        sizeof **l->number) ||
            !heed__grow(l->c, &list->pictures, &list->capacity, list->count + 1,
                        sizeof *list->pictures))
            return false;
        char *path = heed__images_path(l->c, l->folder[second], heed__names_text(names, before));
        if (!path) return false;
        l->number[of][name] = (uint32_t)list->count;
        list->pictures[list->count++] =
            (struct heed__listed){path, p->trains ? HEED_TRAIN_PART : HEED_VAL_PART};
    }
    *out = l->number[of][name];
    return true;
}

static bool add_uses(lister *l, const size_t *numbers, size_t count) {
    heed__image_list *list = &l->list;
    for (size_t i = 0; i < count; i++) {
        const heed__pair *p = &l->pairs->pairs[numbers[i]];
        heed__use use = {.label = (uint32_t)numbers[i]};
        if (!picture_of(l, p, numbers[i] >= l->pairs->own, &use.item) ||
            !heed__grow(l->c, &list->uses, &l->use_capacity, list->use_count + 1,
                        sizeof *list->uses))
            return false;
        list->uses[list->use_count++] = use;
    }
    return true;
}

static bool list_pictures(lister *l) {
    const heed__pairs *p = l->pairs;
    for (int i = 0; i < 2 && p->path[i]; i++) {
        char *folder = l->folder[i] = heed__copy_text(l->c, p->path[i]);
        char *slash = folder ? strrchr(folder, '/') : NULL;
        if (!folder) return false;
        folder[slash ? slash + 1 - folder : 0] = 0;
    }
    return add_uses(l, p->train, p->info.pairs) &&
           (!p->has_val || add_uses(l, p->val, p->info.val_pairs));
}

static void free_lister(lister *l) {
    for (int i = 0; i < 3; i++) {
        heed__names_free(&l->names[i]);
        heed__free(l->number[i]);
    }
    for (int i = 0; i < 2; i++) heed__free(l->folder[i]);
}

static void free_list(heed__image_list *list) {
    for (size_t i = 0; i < list->count; i++) heed__free(list->pictures[i].path);
    heed__free(list->pictures);
    heed__free(list->uses);
}

/* ---- captions of each picture ---- */

/* Groups the captions by picture, in the order of the lines. */
static bool group(heed__captions *k) {
    const heed_images *images = k->images;
    size_t *next = k->begin = heed__alloc_array(k->c, images->count + 2, sizeof *k->begin);
    k->caption = heed__alloc_array(k->c, images->use_count, sizeof *k->caption);
    if (heed__stopped(k->c)) return false;
    for (size_t i = 0; i < images->use_count; i++) next[images->uses[i].item + 2]++;
    for (size_t i = 2; i < images->count + 2; i++) next[i] += next[i - 1];
    for (size_t i = 0; i < images->use_count; i++)
        k->caption[next[images->uses[i].item + 1]++] = images->uses[i].label;
    return true;
}

static bool count(heed__captions *k) {
    heed__captions_info *f = &k->info;
    size_t counts[HEED_PARTS] = {0};
    for (int i = 0; i < 2; i++)
        k->pictures[i] = heed__alloc_array(k->c, k->images->count, sizeof **k->pictures);
    if (heed__stopped(k->c)) return false;
    for (size_t i = 0; i < k->images->count; i++) {
        const heed__item *item = &k->images->items[i];
        size_t captions = k->begin[i + 1] - k->begin[i];
        if (item->why) continue;
        if (captions > f->most) f->most = captions;
        if (!f->fewest || captions < f->fewest) f->fewest = captions;
        k->pictures[item->part][counts[item->part]++] = (uint32_t)i;
    }
    const size_t *rows = k->images->info.count;
    bool val = rows[HEED_VAL_PART] > 0;
    f->pictures = counts[HEED_TRAIN_PART];
    f->captions = rows[HEED_TRAIN_PART];
    f->val_pictures = counts[val];
    f->val_captions = rows[val];
    if (!val) memcpy(k->pictures[1], k->pictures[0], counts[0] * sizeof **k->pictures);
    return true;
}

/* ---- opening ---- */

/* Sets sided by the captions that are trained on: mirroring a picture would make such a caption
 * wrong. */
static void judge_sides(const heed__pairs *p, char sided[200]) {
    size_t begin, n;
    for (size_t i = 0; i < p->info.pairs; i++) {
        heed__cut text = p->pairs[p->train[i]].text[HEED__TARGET];
        if (!heed__names_side(text.s, text.n, &begin, &n)) continue;
        snprintf(sided, 200, "captions say \"%.*s\"", n < 100 ? (int)n : 100, text.s + begin);
        return;
    }
}

static bool may_mirror(heed__captions *k, const heed__images_args *a) {
    char *sided = k->images->info.sided;
    judge_sides(k->pairs, sided);
    return !*sided || !(a->augment.flip > 0) ||
           heed_fail(k->c, HEED_USAGE,
                     "%s: %s: expected `flip = 0`, found %g: the caption of a mirrored picture "
                     "would be wrong",
                     sided, k->pairs->path[0], a->augment.flip);
}

static bool open_images(heed__captions *k, const heed__images_args *a) {
    lister l = {.c = k->c, .pairs = k->pairs, .names = {{.c = k->c}, {.c = k->c}, {.c = k->c}}};
    if (list_pictures(&l))
        k->images = heed__images_open_list(k->c, k->pairs->path[0], a, &l.list);
    else
        free_list(&l.list);
    free_lister(&l);
    return k->images != NULL;
}

static bool open_captions(heed__captions *k, const heed__images_args *a) {
    const uint64_t prime = 1099511628211u;
    if (!open_images(k, a) || !may_mirror(k, a) || !group(k) || !count(k)) return false;
    k->info.checksum = (k->pairs->info.checksum ^ k->images->info.checksum) * prime;
    return true;
}

static bool are_captions(heed_ctx *c, const heed__pairs *pairs) {
    return (pairs->a.kind == HEED_TARGET_CAPTIONS && pairs->encoded) ||
           heed_fail(c, HEED_USAGE, "expected lines of %s that are tokens already",
                     heed__pairs_form(HEED_TARGET_CAPTIONS));
}

heed__captions *heed__captions_open(heed_ctx *c, heed__pairs *pairs, const heed__images_args *a) {
    if (heed__stopped(c) || !pairs || !a || !are_captions(c, pairs)) {
        heed__pairs_close(pairs);
        return NULL;
    }
    heed__captions *k = heed__alloc(c, sizeof *k);
    if (!k) {
        heed__pairs_close(pairs);
        return NULL;
    }
    k->c = c;
    k->pairs = pairs;
    heed__own(c, &k->owned, captions_free);
    if (open_captions(k, a)) return k;
    heed__captions_close(k);
    return NULL;
}

/* ---- contents ---- */

const heed__captions_info *heed__captions_about(const heed__captions *k) {
    return k ? &k->info : NULL;
}

heed_images *heed__captions_images(const heed__captions *k) { return k ? k->images : NULL; }

const heed__pairs *heed__captions_pairs(const heed__captions *k) { return k ? k->pairs : NULL; }

static size_t pictures_of(const heed__captions *k, bool val) {
    return val ? k->info.val_pictures : k->info.pictures;
}

bool heed__captions_get(heed__captions *k, bool val, size_t index, heed__captioned *out,
                        heed_picture *picture) {
    if (out) *out = (heed__captioned){0};
    if (picture) *picture = (heed_picture){0};
    if (!k || !out || heed__stopped(k->c)) return false;
    if (index >= pictures_of(k, val))
        return heed_fail(k->c, HEED_USAGE, "there is no picture %zu: expected less than %zu", index,
                         pictures_of(k, val));
    uint32_t number = k->pictures[val][index];
    const heed__item *item = &k->images->items[number];
    *out = (heed__captioned){item->path, k->begin[number + 1] - k->begin[number]};
    return !picture || heed__images_copy(k->images, item, picture);
}

const char *heed__captions_text(const heed__captions *k, bool val, size_t index, size_t i,
                                size_t *n) {
    if (n) *n = 0;
    if (!k || index >= pictures_of(k, val)) return NULL;
    uint32_t number = k->pictures[val][index];
    if (i >= k->begin[number + 1] - k->begin[number]) return NULL;
    heed__cut text = k->pairs->pairs[k->caption[k->begin[number] + i]].text[HEED__TARGET];
    if (n) *n = text.n;
    return text.s;
}

/* ---- batches ---- */

/* The labels of the pictures' batch are numbers of pairs. */
bool heed__caption_batch(heed__captions *k, heed_batch_at at, heed_batch *out) {
    if (out) *out = (heed_batch){0};
    return k && heed__image_batch(k->images, at, out) &&
           heed__pairs_put_targets(k->pairs, out->labels, out);
}

uint64_t heed__captions_eval_batches(const heed__captions *k, int rows) {
    return k ? heed__images_eval_batches(k->images, rows) : 0;
}

uint64_t heed__captions_epoch_batches(const heed__captions *k, int rows) {
    return k ? heed__images_epoch_batches(k->images, rows) : 0;
}
