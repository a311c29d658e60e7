/* images.c -- sets of pictures: their classes and labels, opening them, the contents of each part,
 * and batches, of which a row depends only on (seed, step, micro-batch, row), not on the thread.
 *
 * Every picture is decoded once, in several threads, to find the bad ones, the ones to cache, the
 * sums and hashes of their bytes; the results do not depend on the threads. Batches lie in a ring:
 * the one that the caller holds, and those that threads prepare ahead. The next ones are predicted
 * from the last one requested. A batch that was not predicted or is not ready yet is made at once,
 * by the caller and the threads together. */
#include "data/image/images.h"

#include "data/kind.h"
#include "text/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
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
    if (heed__utf8_valid(name, n) < n) why = "is not UTF-8";
    if (n >= 1024) why = "is longer than 1023 bytes";
    return !why || heed_fail(c, HEED_DATA, "class name %s: %s: found %s", why, where,
                             heed_quote(quote, name, n));
}

/* The number of a name in composed form, so that names that look_class equal are equal; -1: it is
 * new. */
static int32_t look_class(const heed_images *k, const char *name, heed_text *composed) {
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
    int64_t number = look_class(k, name, &composed);
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
        int32_t class = look_class(k, k->labels[i], &composed);
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

static bool label(heed_images *k, const char *path) {
    if (!(k->labels ? match_labels(k, path) : make_labels(k, path))) return false;
    for (size_t i = 0; i < k->count; i++) k->items[i].label = k->classes[k->items[i].label].label;
    k->info.classes = (int)k->label_count;
    k->info.labels = (const char *const *)k->labels;
    return true;
}

enum { DECODED = 16 }; /* pictures handed to a thread at a time */

static uint64_t hash_picture(const heed_picture *p) {
    uint64_t h = 14695981039346656037u;
    uint64_t size[3] = {(uint64_t)p->width, (uint64_t)p->height, (uint64_t)p->channels};
    for (int i = 0; i < 3; i++) h = (h ^ size[i]) * 1099511628211u;
    size_t n = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
    return heed__hash64(p->pixels, n, h);
}

static void add_sums(heed__sums *s, const heed_picture *p) {
    size_t n = (size_t)p->width * (size_t)p->height, channels = (size_t)p->channels;
    int kind = channels == 3;
    for (size_t c = 0; c < channels; c++) {
        uint64_t sum = 0, square = 0;
        const unsigned char *x = p->pixels + c;
        for (size_t i = 0; i < n; i++, x += channels) {
            sum += *x;
            square += (uint64_t)*x * *x;
        }
        s->sum[kind][c] += sum;
        s->square[kind][c] += square;
    }
    s->pixels[kind] += n;
}

static void join_sums(heed__sums *to, const heed__sums *from) {
    for (int kind = 0; kind < 2; kind++) {
        for (int c = 0; c < 3; c++) {
            to->sum[kind][c] += from->sum[kind][c];
            to->square[kind][c] += from->square[kind][c];
        }
        to->pixels[kind] += from->pixels[kind];
    }
}

/* ---- one picture ---- */

/* Converts a cached picture to 1 or 3 channels; pixels that lie in a block are copied first. */
static heed_status convert(heed__item *item, int channels) {
    heed_picture *p = &item->picture;
    if (p->channels == channels) return HEED_OK;
    if (item->lies_in_block) {
        size_t n = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
        unsigned char *copy = heed__alloc(NULL, n);
        if (!copy) return HEED_FAILED;
        p->pixels = memcpy(copy, p->pixels, n);
        item->lies_in_block = false;
    }
    return heed_picture_convert(p, channels);
}

/* Brings a picture to the channels requested, or to its own without alpha, which is blended over
 * white: others are not known before all pictures have been read. */
static heed_status keep_channels(const heed_images *k, heed__item *item) {
    item->colour = item->picture.channels >= 3;
    return convert(item, k->a.channels ? k->a.channels : item->colour ? 3 : 1);
}

static heed_status read_picture(const char *path, heed_picture *out, uint64_t *hash,
                                char why[HEED_WHY]) {
    *out = (heed_picture){0};
    if (!heed__os_is_file(path)) { /* reading a pipe could block */
        strcpy(why, heed__os_exists(path) ? "it is no file" : "there is no such file");
        return HEED_DATA;
    }
    heed_status s = heed_picture_read(path, out, why);
    if (s == HEED_OK) *hash = hash_picture(out);
    return s;
}

heed_status heed__images_pixels(const heed_images *k, const heed__item *item, heed_picture *own,
                                const heed_picture **out, char why[HEED_WHY]) {
    *own = (heed_picture){0};
    *out = &item->picture;
    if (item->picture.pixels) return HEED_OK;
    *out = own;
    uint64_t hash = 0;
    heed_status s = read_picture(item->path, own, &hash, why);
    if (s == HEED_OK) s = heed_picture_convert(own, k->info.view.channels);
    if (s == HEED_OK && hash == item->hash) return s;
    heed_picture_free(own);
    if (s != HEED_OK) return s;
    strcpy(why, "it has changed since it was read first");
    return HEED_DATA;
}

/* ---- all ---- */

typedef struct {
    heed_images *k;
    heed__monitor *monitor; /* guards the members below */
    size_t next;
    heed_status status;
} job;

/* The pixels of a file of records are already in memory, unless their channels change. */
static heed_status measure_pixels(const heed_images *k, heed__item *item) {
    char why[HEED_WHY] = "";
    if (!item->path) {
        item->hash = hash_picture(&item->picture);
        return keep_channels(k, item);
    }
    heed_status s = read_picture(item->path, &item->picture, &item->hash, why);
    if (s == HEED_OK) return keep_channels(k, item);
    if (s != HEED_DATA) return s;
    item->why = heed__copy_text(NULL, why);
    return item->why ? HEED_OK : HEED_FAILED;
}

static heed_status measure(job *j, heed__item *item, heed__sums *sums) {
    heed_status s = measure_pixels(j->k, item);
    if (s != HEED_OK || item->why) return s;
    heed_picture *p = &item->picture, size = *p;
    if (item->part == HEED_TRAIN_PART) add_sums(sums, p);
    if (!item->path) return HEED_OK;
    heed_images *k = j->k;
    size_t bytes = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
    heed__monitor_enter(j->monitor);
    bool fits = bytes <= k->a.cache && k->cached <= k->a.cache - bytes;
    if (fits) k->cached += bytes;
    heed__monitor_leave(j->monitor);
    if (fits) return HEED_OK;
    heed_picture_free(p);
    *p = (heed_picture){size.width, size.height, size.channels, NULL};
    return HEED_OK;
}

static void run_decoder(void *data) {
    job *j = data;
    heed_images *k = j->k;
    heed__sums sums = {0};
    heed_status s = HEED_OK;
    heed__monitor_enter(j->monitor);
    while (j->next < k->count && j->status == HEED_OK) {
        size_t from = j->next, to = k->count - from < DECODED ? k->count : from + DECODED;
        j->next = to;
        heed__monitor_leave(j->monitor);
        for (size_t i = from; s == HEED_OK && i < to; i++) s = measure(j, &k->items[i], &sums);
        heed__monitor_enter(j->monitor);
        if (s != HEED_OK) j->status = s;
    }
    join_sums(&k->sums, &sums);
    heed__monitor_leave(j->monitor);
}

static bool measure_all(heed_images *k) {
    enum { MOST = 64 };
    heed__thread *threads[MOST] = {0};
    size_t count = (size_t)heed_threads(k->c), pieces = k->count / DECODED + 1;
    if (count > MOST) count = MOST;
    if (count > pieces) count = pieces;
    job j = {.k = k, .monitor = heed__monitor_new(k->c)};
    if (!j.monitor) return false;
    for (size_t i = 1; i < count && !heed__stopped(k->c); i++)
        threads[i] = heed__thread_start(k->c, run_decoder, &j);
    run_decoder(&j);
    for (size_t i = 1; i < count; i++) heed__thread_join(threads[i]);
    heed__monitor_free(j.monitor);
    return !heed__stopped(k->c) &&
           (j.status == HEED_OK ||
            heed_fail(k->c, j.status, "out of memory: cannot decode pictures"));
}

/* ---- the split ---- */

/* The same share of each class, at least one picture and not all, by selection sampling: Knuth,
 * vol. 2, 3.4.2, algorithm S. */
static bool split(heed_images *k) {
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

static bool gather_parts(heed_images *k) {
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
static uint64_t checksum_of(const heed_images *k) {
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
            if (!heed__images_duplicate(k, NULL))
                k->duplicate = (heed__duplicate){p, i, first[same]};
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

static bool are_enough(heed_images *k, const char *path) {
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
            heed__images_count(k, HEED_TRAIN_PART, (int)class->label))
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

static bool choose_numbers(heed_images *k, const char *path) {
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
static bool prepare_view(heed_images *k) {
    const heed_image_transform *v = &k->info.view;
    size_t again = 0;
    for (size_t i = 0; i < k->count; i++) {
        heed__item *item = &k->items[i];
        if (item->why) continue;
        if (item->picture.pixels && convert(item, v->channels) != HEED_OK)
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

static bool finalize(heed_images *k, const char *path) {
    heed_images_info *f = &k->info;
    if (!gather_parts(k) || !are_enough(k, path)) return false;
    choose_channels(k);
    if (!choose_size(k, path) || !choose_numbers(k, path) || !prepare_view(k) || !count_overlap(k))
        return false;
    f->checksum = checksum_of(k);
    k->eval_part = f->count[HEED_VAL_PART] ? HEED_VAL_PART : HEED_TRAIN_PART;
    return true;
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

bool heed__images_duplicate(const heed_images *k, heed__duplicate *out) {
    if (!k || k->info.overlap[HEED_VAL_PART] + k->info.overlap[HEED_TEST_PART] == 0) return false;
    if (out) *out = k->duplicate;
    return true;
}

size_t heed__images_conflicts(const heed_images *k, heed__images_conflict *out, size_t most) {
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
                out[found] = (heed__images_conflict){{one->part, now.part}, {one->index, i}};
            found++;
        }
    heed__names_free(&pixels);
    heed__free(first);
    return heed__stopped(k->c) ? 0 : found;
}

static bool in_part(const heed_images *k, heed_part part, uint64_t index) {
    return (int)part >= 0 && part < HEED_PARTS && index < k->info.count[part];
}

size_t heed__images_count(const heed_images *k, heed_part part, int label) {
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
    return heed__images_count(k, HEED_TRAIN_PART, label);
}

const heed_real *heed__images_balance(heed_images *k) {
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

void heed__images_augment(heed_images *k, const heed_augment *a) {
    if (!k || !a || heed__stopped(k->c)) return;
    if (k->ring.monitor) /* worker threads read it */
        heed_fail(k->c, HEED_USAGE, "augmentation cannot change: expected before the first batch");
    else
        k->a.augment = *a;
}

/* ---- the ring of batches ---- */

enum { MADE = 8 }; /* rows handed to a thread at a time */

static size_t row_length(const heed_images *k) {
    const heed_image_transform *v = &k->info.view;
    return (size_t)v->size * (size_t)v->size * (size_t)v->channels;
}

/* Makes one row: x (size size channels), and its label. May run in any thread. */
static heed_status make_row(const heed_images *k, heed_part part, heed_batch_at at, int row,
                            heed_real *x, int32_t *label, heed_real *work, uint32_t *number,
                            char why[HEED_WHY]) {
    uint64_t seed = heed_seed(k->c), count = k->info.count[part], epoch = 0;
    uint64_t index = heed__eval_row(k->c, at, (uint64_t)row, count);
    if (!at.val) {
        uint64_t draw = heed__draw_of(at, (uint64_t)row);
        epoch = draw / count;
        heed_random order = heed_random_at(seed, "images.order", epoch, 0);
        index = heed_random_permute(&order, draw % count, count);
    }
    heed__use use = heed__images_use(k, part, index);
    const heed__item *item = &k->items[use.item];
    const heed_picture *p;
    heed_picture own;
    *number = use.item;
    heed_status s = heed__images_pixels(k, item, &own, &p, why);
    if (s != HEED_OK) return s;
    heed_random draws = heed_random_at(seed, "augment", epoch, (uint32_t)index);
    heed_picture_transform(p, &k->info.view, at.val ? NULL : &k->a.augment, &draws, x, work);
    *label = (int32_t)use.label;
    heed_picture_free(&own);
    return HEED_OK;
}

/* ---- making rows: the lock is held before and after ---- */

static void make_some(heed_images *k, heed__slot *s, heed_real *work) {
    heed__ring *r = &k->ring;
    const heed__slot own = *s; /* the slot may be reassigned meanwhile, but its memory stays */
    int from = s->next, to = s->rows - from < MADE ? s->rows : from + MADE, row = from;
    heed_status status = HEED_OK;
    uint32_t item = 0;
    char why[HEED_WHY] = "";
    s->next = to;
    heed__monitor_leave(r->monitor);
    for (; row < to; row++) {
        status = make_row(k, own.part, own.at, row, own.x + (size_t)row * row_length(k),
                          &own.labels[row], work, &item, why);
        if (status != HEED_OK) break;
    }
    heed__monitor_enter(r->monitor);
    s->done += to - from;
    if (status != HEED_OK && (s->status == HEED_OK || row < s->bad_row)) {
        s->status = status;
        s->bad_row = row;
        s->bad_item = item;
        memcpy(s->why, why, sizeof why);
    }
    if (s->done == s->next) heed__monitor_broadcast(r->monitor);
}

/* The earliest batch with rows to hand out. */
static heed__slot *unfinished(heed__ring *r) {
    heed__slot *found = NULL;
    for (int i = 0; i < HEED__SLOTS; i++) {
        heed__slot *s = &r->slots[i];
        if (s->next < s->rows && (!found || s->turn < found->turn)) found = s;
    }
    return found;
}

static void run_worker(void *data) {
    heed_images *k = data;
    heed__ring *r = &k->ring;
    heed__monitor_enter(r->monitor);
    heed_real *work = r->work[++r->running];
    while (!r->stop) {
        heed__slot *s = unfinished(r);
        if (s)
            make_some(k, s, work);
        else
            heed__monitor_wait(r->monitor);
    }
    heed__monitor_leave(r->monitor);
}

/* ---- start and end ---- */

static void ring_free(heed__ring *r) {
    if (r->monitor) {
        heed__monitor_enter(r->monitor);
        r->stop = true;
        heed__monitor_broadcast(r->monitor);
        heed__monitor_leave(r->monitor);
    }
    for (int i = 0; r->threads && i < r->workers; i++) heed__thread_join(r->threads[i]);
    for (int i = 0; r->work && i <= r->workers; i++) heed__free(r->work[i]);
    for (int i = 0; i < HEED__SLOTS; i++) {
        heed__free(r->slots[i].x);
        heed__free(r->slots[i].labels);
    }
    heed__free(r->threads);
    heed__free(r->work);
    heed__monitor_free(r->monitor);
    *r = (heed__ring){0};
}

/* The first batch starts the threads. */
static bool start_ring(heed_images *k) {
    heed__ring *r = &k->ring;
    size_t workers = (size_t)k->a.workers;
    if (r->monitor) return true;
    r->workers = k->a.workers;
    r->held = r->slots;
    r->monitor = heed__monitor_new(k->c);
    r->work = heed__alloc_array(k->c, workers + 1, sizeof *r->work);
    r->threads = heed__alloc_array(k->c, workers, sizeof *r->threads);
    for (size_t i = 0; r->work && i <= workers; i++)
        r->work[i] = heed__alloc_array(k->c, k->work, sizeof **r->work);
    for (size_t i = 0; i < workers && !heed__stopped(k->c); i++)
        r->threads[i] = heed__thread_start(k->c, run_worker, k);
    if (heed__stopped(k->c)) ring_free(r);
    return !heed__stopped(k->c);
}

/* ---- what is made: the lock is held ---- */

typedef struct {
    heed_part part;
    heed_batch_at at;
} request;

static bool same_batch(const heed__slot *s, const request *w) {
    return s->rows && s->part == w->part && s->at.val == w->at.val && s->at.index == w->at.index &&
           s->at.micro == w->at.micro && s->at.micros == w->at.micros && s->at.rows == w->at.rows &&
           s->at.full_batch == w->at.full_batch && s->at.sample == w->at.sample;
}

/* The batch likely to be requested next; after the last evaluation batch, training again. */
static bool next_batch(const heed_images *k, request *w) {
    if (w->at.val) {
        w->at.index++;
        if (heed__rows_of(w->at, k->info.count[w->part])) return true;
        *w = (request){HEED_TRAIN_PART, k->ring.train};
        if (!w->at.rows) return false;
    }
    if (++w->at.micro < w->at.micros) return true;
    w->at.micro = 0;
    w->at.index++;
    if (!heed__rows_of(w->at, k->info.count[w->part]))
        w->at.index = 0; /* the epoch from its start */
    return true;
}

/* Assigns the slot, which is idle, to the requested batch. */
static bool assign_slot(heed_images *k, heed__slot *s, const request *w) {
    size_t need = (size_t)w->at.rows;
    s->rows = s->next = s->done = 0;
    if (!heed__grow(k->c, &s->x, &s->capacity, need * row_length(k), sizeof *s->x) ||
        !heed__grow(k->c, &s->labels, &s->label_capacity, need, sizeof *s->labels))
        return false;
    s->part = w->part;
    s->at = w->at;
    s->status = HEED_OK;
    s->rows = heed__rows_of(w->at, k->info.count[w->part]);
    return true;
}

static heed__slot *slot_with(heed__ring *r, const request *w) {
    for (int i = 0; i < HEED__SLOTS; i++)
        if (same_batch(&r->slots[i], w)) return &r->slots[i];
    return NULL;
}

/* Finds slots for the requests; the first always gets one: the caller's, the only one certainly
 * idle, before a later request can claim the batch there. Slots of no request are released. */
static bool plan_batches(heed_images *k, const request *requests, int count, heed__slot **found) {
    heed__ring *r = &k->ring;
    bool used[HEED__SLOTS] = {false};
    found[0] = slot_with(r, requests);
    bool ok = found[0] || assign_slot(k, found[0] = r->held, requests);
    r->held = found[0];
    for (int w = 0; w < count; w++)
        if ((found[w] = slot_with(r, &requests[w]))) used[found[w] - r->slots] = true;
    for (int i = 0; i < HEED__SLOTS; i++)
        if (!used[i]) {
            r->slots[i].rows = r->slots[i].next;
            r->slots[i].at.rows = 0; /* matches no other batch */
        }
    for (int w = 0; ok && w < count; w++) {
        for (int i = 0; ok && !found[w] && i < HEED__SLOTS; i++) {
            if (used[i] || r->slots[i].next != r->slots[i].done) continue;
            found[w] = &r->slots[i];
            used[i] = true;
            ok = assign_slot(k, found[w], &requests[w]);
        }
        if (found[w]) found[w]->turn = ++r->turn;
    }
    return ok;
}

static const heed__slot *ring_get(heed_images *k, heed_part part, heed_batch_at at) {
    heed__ring *r = &k->ring;
    heed__slot *found[HEED__SLOTS] = {NULL};
    request requests[HEED__SLOTS] = {{part, at}};
    if (!start_ring(k)) return NULL;
    if (!at.val) r->train = at;
    int count = 1, most = k->a.workers ? HEED__SLOTS : 1;
    for (; count < most; count++) {
        requests[count] = requests[count - 1];
        if (!next_batch(k, &requests[count])) break;
    }
    heed__monitor_enter(r->monitor);
    bool ok = plan_batches(k, requests, count, found);
    heed__monitor_broadcast(r->monitor);
    heed__slot *s = found[0];
    while (s && s->next < s->rows) make_some(k, s, r->work[0]);
    while (s && s->done < s->rows) heed__monitor_wait(r->monitor);
    bool lost = s && s->status != HEED_OK;
    if (lost) s->rows = s->next = s->done = 0; /* discarded, and made again if requested again */
    heed__monitor_leave(r->monitor);
    if (lost)
        heed_fail(k->c, s->status, "picture cannot be read: %s: %s", k->items[s->bad_item].path,
                  s->why);
    return ok && !lost ? s : NULL;
}

/* ---- batches ---- */

uint64_t heed__images_eval_batches(const heed_images *k, int rows) {
    return k ? heed__batches(k->info.count[k->eval_part], rows) : 0;
}

uint64_t heed__images_epoch_batches(const heed_images *k, int rows) {
    return k ? heed__epoch(k->info.count[HEED_TRAIN_PART], rows) : 0;
}

bool heed__image_batch(heed_images *k, heed_batch_at at, heed_batch *out) {
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
    const heed__slot *s = ring_get(k, part, at);
    k->ring.waited += heed__os_seconds() - start;
    if (!s) return false;
    *out = (heed_batch){
        .rows = s->rows, .len = len, .x = s->x, .labels = s->labels, .items = (size_t)s->rows};
    if (!at.val) heed__balance_batch(k->weights, k->info.classes, (size_t)s->rows, out);
    return true;
}

double heed_images_waited(const heed_images *k) { return k ? k->ring.waited : 0; }

/* ---- hidden patches: He et al. 2022, sec. 3 ---- */

/* Selection sampling: Knuth, vol. 2, 3.4.2, algorithm S. */
void heed_masked_patches(heed_ctx *c, heed_batch_at at, int row, int patches, int hidden,
                         int32_t *out) {
    if (!c || !out) return;
    const char *site = at.val ? "patches.eval" : "patches";
    heed_random r = heed_random_at(heed_seed(c), site, heed__draw_of(at, (uint64_t)row), 0);
    int count = 0;
    for (int i = 0; i < patches && count < hidden; i++)
        if ((int)heed_random_below(&r, (uint64_t)i, (uint32_t)(patches - i)) < hidden - count)
            out[count++] = i;
}

/* ---- memory ---- */

static void images_free(heed__owned *object) {
    heed_images *k = (heed_images *)object;
    ring_free(&k->ring);
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

void heed__images_close(heed_images *k) {
    if (k) heed__release(k->c, &k->owned);
}

/* ---- opening ---- */

enum { CACHE = 1 << 30 };

static bool args_fit(heed_ctx *c, const heed__images_args *a) {
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
static heed_images *start(heed_ctx *c, const heed__images_args *a) {
    heed_images *k = args_fit(c, a) ? heed__alloc(c, sizeof *k) : NULL;
    if (!k) return NULL;
    k->c = k->names.c = c;
    k->a = *a;
    if (!k->a.cache) k->a.cache = CACHE;
    heed__own(c, &k->owned, images_free);
    return k;
}

heed_images *heed__images_open(heed_ctx *c, const char *path, const heed__images_args *a) {
    if (heed__stopped(c) || !path || !a) return NULL;
    heed_images *k = start(c, a);
    if (!k) return NULL;
    bool ok = copy_labels(k) && read_source(k, path) && label(k, path) && split(k) &&
              measure_all(k) && finalize(k, path);
    k->a.labels = NULL; /* these belong to the caller, and are no longer needed */
    k->a.columns = k->a.header = NULL;
    if (ok) return k;
    heed__images_close(k);
    return NULL;
}

heed_images *heed__images_open_list(heed_ctx *c, const char *name, const heed__images_args *a,
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
    if (!heed__stopped(c) && measure_all(k) && finalize(k, name)) return k;
    heed__images_close(k);
    return NULL;
}
