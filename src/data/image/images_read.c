/* images_read.c -- decodes every picture once, in several threads: finds the bad ones, the ones to
 * cache, the sums and hashes of their bytes. The results do not depend on the threads. */
#include "data/image/images.h"

#include <string.h>

enum { GRAIN = 16 };

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

/* Brings a picture to the channels requested, or to its own without alpha, which is blended over
 * white: others are not known before all pictures have been read. */
static heed_status keep_channels(const heed_images *k, heed__item *item) {
    item->colour = item->picture.channels >= 3;
    return heed__images_convert(item, k->a.channels ? k->a.channels : item->colour ? 3 : 1);
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

heed_status heed__images_convert(heed__item *item, int channels) {
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

static void run(void *data) {
    job *j = data;
    heed_images *k = j->k;
    heed__sums sums = {0};
    heed_status s = HEED_OK;
    heed__monitor_enter(j->monitor);
    while (j->next < k->count && j->status == HEED_OK) {
        size_t from = j->next, to = k->count - from < GRAIN ? k->count : from + GRAIN;
        j->next = to;
        heed__monitor_leave(j->monitor);
        for (size_t i = from; s == HEED_OK && i < to; i++) s = measure(j, &k->items[i], &sums);
        heed__monitor_enter(j->monitor);
        if (s != HEED_OK) j->status = s;
    }
    join_sums(&k->sums, &sums);
    heed__monitor_leave(j->monitor);
}

bool heed__images_measure(heed_images *k) {
    enum { MOST = 64 };
    heed__thread *threads[MOST] = {0};
    size_t count = (size_t)heed_threads(k->c), pieces = k->count / GRAIN + 1;
    if (count > MOST) count = MOST;
    if (count > pieces) count = pieces;
    job j = {.k = k, .monitor = heed__monitor_new(k->c)};
    if (!j.monitor) return false;
    for (size_t i = 1; i < count && !heed__stopped(k->c); i++)
        threads[i] = heed__thread_start(k->c, run, &j);
    run(&j);
    for (size_t i = 1; i < count; i++) heed__thread_join(threads[i]);
    heed__monitor_free(j.monitor);
    return !heed__stopped(k->c) &&
           (j.status == HEED_OK ||
            heed_fail(k->c, j.status, "out of memory: cannot decode pictures"));
}
