/* images_finalize.c -- computes the parts, the common view and the counts of the pictures read. */
#include "data/image/images.h"

#include <math.h>
#include <string.h>

/* ---- the split ---- */

/* The same share of each class, at least one picture and not all, by selection sampling: Knuth,
 * vol. 2, 3.4.2, algorithm S. */
bool heed__images_split(heed_images *k) {
    if (k->own_val || k->a.val_split <= 0) return true;
    size_t *left = heed__alloc_array(k->c, 2 * k->label_count, sizeof *left);
    if (!left) return false;
    size_t *wanted = left + k->label_count;
    for (size_t i = 0; i < k->count; i++)
        left[k->items[i].label] += k->items[i].part == HEED_TRAIN_PART;
    for (size_t i = 0; i < k->label_count; i++) {
        size_t n = (size_t)lround(k->a.val_split * (double)left[i]);
        wanted[i] = left[i] < 2 ? 0 : n < 1 ? 1 : n > left[i] - 1 ? left[i] - 1 : n;
    }
    for (size_t i = 0; i < k->count; i++) {
        heed__item *item = &k->items[i];
        uint32_t label = item->label;
        if (item->part != HEED_TRAIN_PART) continue;
        heed_random r = heed_random_at(heed_seed(k->c), "images.split", label, 0);
        if (heed_random_below(&r, left[label], (uint32_t)left[label]) < wanted[label]) {
            item->part = HEED_VAL_PART;
            wanted[label]--;
        }
        left[label]--;
    }
    heed__free(left);
    return true;
}

/* ---- parts and counts ---- */

static bool gather(heed_images *k) {
    heed_images_info *f = &k->info;
    k->bad = heed__alloc_array(k->c, k->count, sizeof *k->bad);
    k->counts = heed__alloc_array(k->c, k->label_count * HEED_PARTS, sizeof *k->counts);
    size_t rows = k->uses ? k->use_count : k->count;
    for (int p = 0; p < HEED_PARTS; p++)
        k->part[p] = heed__alloc_array(k->c, rows, sizeof **k->part);
    if (heed__stopped(k->c)) return false;
    for (size_t i = 0; i < k->count; i++)
        if (k->items[i].why) k->bad[f->bad++] = (uint32_t)i;
    for (size_t i = 0; i < rows; i++) {
        const heed__item *item = &k->items[k->uses ? k->uses[i].item : i];
        if (item->why) continue;
        k->part[item->part][f->count[item->part]++] = (uint32_t)i;
        if (!k->uses) k->counts[item->label * HEED_PARTS + item->part]++;
    }
    return true;
}

/* A checksum of names, labels, training and validation pictures, in the source's order. */
static uint64_t checksum(const heed_images *k) {
    const uint64_t prime = 1099511628211u;
    uint64_t h = 0;
    for (size_t i = 0; i < k->label_count; i++)
        h = heed__hash64(k->labels[i], strlen(k->labels[i]) + 1, h);
    for (size_t i = 0; i < k->count; i++) {
        const heed__item *item = &k->items[i];
        if (item->part != HEED_TEST_PART && !item->why)
            h = ((h ^ item->hash) * prime ^ item->label) * prime;
    }
    return h;
}

/* Counts the pictures of other parts that are also in the training part. */
static bool count_overlap(heed_images *k) {
    size_t n = k->info.count[HEED_TRAIN_PART];
    heed__names seen = {.c = k->c};
    size_t *first = heed__alloc_array(k->c, n, sizeof *first); /* training picture of each hash */
    for (size_t i = 0; first && i < n && !heed__stopped(k->c); i++) {
        const uint64_t *hash = &k->items[heed__images_use(k, HEED_TRAIN_PART, i).item].hash;
        size_t before = seen.count;
        heed__names_add(&seen, (const char *)hash, sizeof *hash);
        if (seen.count > before) first[before] = i;
    }
    for (heed_part p = HEED_VAL_PART; !heed__stopped(k->c) && p < HEED_PARTS; p++)
        for (size_t i = 0; i < k->info.count[p]; i++) {
            const uint64_t *hash = &k->items[heed__images_use(k, p, i).item].hash;
            int32_t same = heed__names_look(&seen, (const char *)hash, sizeof *hash);
            if (same < 0) continue;
            if (!heed_images_duplicate(k, NULL)) k->duplicate = (heed_duplicate){p, i, first[same]};
            k->info.overlap[p]++;
        }
    heed__names_free(&seen);
    heed__free(first);
    return !heed__stopped(k->c);
}

/* In a list, every part that is named has pictures: evaluation never falls back to another. */
static bool parts_have_pictures(heed_images *k, const char *path) {
    for (size_t i = 0; i < k->info.bad; i++) {
        const heed__item *bad = &k->items[k->bad[i]];
        if (!k->info.count[bad->part])
            return heed_fail(k->c, HEED_DATA,
                             "no picture of the %s part can be read: %s: the first is %s: %s",
                             heed__part_words[bad->part], path, bad->path, bad->why);
    }
    return true;
}

static bool enough(heed_images *k, const char *path) {
    const heed_images_info *f = &k->info;
    const heed__item *bad = f->bad ? &k->items[*k->bad] : NULL;
    if (bad && k->a.strict)
        return heed_fail(k->c, HEED_DATA,
                         "picture cannot be read: %s: %s; hint: without `strict` it is skipped",
                         bad->path, bad->why);
    if (!k->count)
        return heed_fail(k->c, HEED_DATA, "no pictures: %s: expected some in a part to be read",
                         path);
    if (bad && f->bad == k->count)
        return heed_fail(k->c, HEED_DATA, "no picture can be read: %s: the first is %s: %s", path,
                         bad->path, bad->why);
    if (k->uses) return parts_have_pictures(k, path);
    for (size_t i = 0; i < k->names.count; i++) {
        const heed__picture_class *class = &k->classes[i];
        if (!class->count[HEED_TRAIN_PART] ||
            heed_images_count(k, HEED_TRAIN_PART, (int)class->label))
            continue;
        const heed__item *own = NULL;
        for (size_t j = f->bad; j-- > 0;)
            if (k->items[k->bad[j]].label == class->label) own = &k->items[k->bad[j]];
        return heed_fail(k->c, HEED_DATA,
                         "class \"%s\" has no picture that can be read: %s: the first is %s: %s",
                         heed__names_text(&k->names, i), path, own ? own->path : "?",
                         own ? own->why : "?");
    }
    return true;
}

/* ---- the view ---- */

/* One picture in colour makes the others colour, too, in which nothing is lost. */
static void choose_channels(heed_images *k) {
    size_t count[2] = {0}; /* grey, in colour */
    for (size_t i = 0; i < k->count; i++)
        if (!k->items[i].why) count[k->items[i].colour]++;
    int channels = k->a.channels ? k->a.channels : count[1] ? 3 : 1;
    k->info.view.channels = channels;
    k->info.converted = count[channels == 1];
    if (!k->info.converted || k->a.convert) return;
    heed_message(k->c, HEED_INFO, "%zu of %zu pictures %s %s: converted to %s%s", k->info.converted,
                 count[0] + count[1], k->info.converted == 1 ? "is" : "are",
                 channels == 1 ? "in colour" : "grey", channels == 1 ? "grey" : "colour",
                 count[0] > count[1] && !k->a.channels
                     ? "; hint: `channels = 1` converts the others to grey instead"
                     : "");
}

static void measure_sizes(heed_images *k) {
    heed_images_info *f = &k->info;
    f->low_width = f->low_height = INT32_MAX;
    for (size_t i = 0; i < k->count; i++) {
        const heed_picture *p = &k->items[i].picture;
        if (k->items[i].why) continue;
        if (p->width < f->low_width) f->low_width = p->width;
        if (p->width > f->high_width) f->high_width = p->width;
        if (p->height < f->low_height) f->low_height = p->height;
        if (p->height > f->high_height) f->high_height = p->height;
    }
}

/* The median of the pictures' short sides, at most 64, rounded down to a multiple of 4, which
 * divides into patches. */
static int middle_size(const heed_images *k) {
    enum { MOST = 64 };
    size_t of_side[MOST + 1] = {0}, below = 0, count = 0;
    for (size_t i = 0; i < k->count; i++) {
        const heed_picture *p = &k->items[i].picture;
        int side = p->width < p->height ? p->width : p->height;
        if (k->items[i].why) continue;
        of_side[side < MOST ? side : MOST]++;
        count++;
    }
    int size = 0;
    while (size < MOST && (below += of_side[size]) * 2 <= count) size++;
    return size < 4 ? size : size / 4 * 4;
}

static bool choose_size(heed_images *k, const char *path) {
    heed_images_info *f = &k->info;
    heed_image_transform *v = &f->view;
    enum { LEAST = 4 }; /* of what is left of a longer side nothing can be seen */
    measure_sizes(k);
    bool same = f->low_width == f->high_width && f->low_height == f->high_height &&
                f->low_width == f->low_height && f->low_width <= HEED__MOST_SIZE;
    f->sized = !k->a.size && !same;
    v->size = k->a.size ? k->a.size : same ? f->low_width : middle_size(k);
    v->resize_to = k->a.resize_to;
    v->filter = k->a.filter;
    if (!k->a.size && v->resize_to > 0 && v->size > v->resize_to) v->size = v->resize_to;
    return !f->sized || v->size >= LEAST ||
           heed_fail(k->c, HEED_DATA,
                     "pictures are too narrow: %s: the median of their short sides is %d: expected "
                     "at least %d pixels; hint: `image-size = 32` enlarges them",
                     path, v->size, LEAST);
}

/* E[x] and sqrt(E[x^2] - E[x]^2) of x/255; grey pictures as colour have three equal channels. */
static void choose_scale(heed_images *k) {
    heed_image_transform *v = &k->info.view;
    const heed__sums *s = &k->sums;
    double n = (double)s->pixels[0] + (double)s->pixels[1];
    for (int c = 0; c < v->channels; c++) {
        double sum = (double)(s->sum[0][0] + s->sum[1][c]);
        double square = (double)(s->square[0][0] + s->square[1][c]);
        double mean = sum / n / 255, variance = square / n / (255.0 * 255) - mean * mean;
        v->mean[c] = mean;
        v->deviation[c] = variance > 1e-9 ? sqrt(variance) : 1;
    }
}

static bool normalise(heed_images *k, const char *path) {
    heed_image_transform *v = &k->info.view;
    if (k->a.deviation[0] != 0) {
        memcpy(v->mean, k->a.mean, sizeof v->mean);
        memcpy(v->deviation, k->a.deviation, sizeof v->deviation);
        return true;
    }
    if (!k->info.count[HEED_TRAIN_PART])
        return heed_fail(k->c, HEED_DATA,
                         "mean and deviation are not known: %s: expected a training part", path);
    choose_scale(k);
    return true;
}

/* Converts the cached pictures, and finds the work memory of the largest view. */
static bool prepare(heed_images *k) {
    const heed_image_transform *v = &k->info.view;
    size_t again = 0;
    for (size_t i = 0; i < k->count; i++) {
        heed__item *item = &k->items[i];
        if (item->why) continue;
        if (item->picture.pixels && heed__images_convert(item, v->channels) != HEED_OK)
            return heed_fail(k->c, HEED_FAILED, "out of memory: cannot convert pictures");
        item->picture.channels = v->channels;
        size_t work = heed_image_transform_work(&item->picture, v);
        if (work > k->work) k->work = work;
        again += !item->picture.pixels;
    }
    if (again)
        heed_message(k->c, HEED_WARN,
                     "%zu of %zu pictures are decoded anew each time: they do not fit in %zu MB; "
                     "hint: smaller copies of them, or a larger `cache-mb`",
                     again, k->count, k->a.cache / 1000000);
    return true;
}

bool heed__images_finalize(heed_images *k, const char *path) {
    heed_images_info *f = &k->info;
    if (!gather(k) || !enough(k, path)) return false;
    choose_channels(k);
    if (!choose_size(k, path) || !normalise(k, path) || !prepare(k) || !count_overlap(k))
        return false;
    f->checksum = checksum(k);
    k->eval_part = f->count[HEED_VAL_PART] ? HEED_VAL_PART : HEED_TRAIN_PART;
    return true;
}
