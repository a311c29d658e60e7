/* images_batch.c -- batches of pictures: a row depends only on (seed, step, micro-batch, row), not
 * on the thread. */
#include "data/image/images.h"
#include "data/place.h"

#include <stdio.h>

int heed__images_rows(const heed_images *k, heed_part part, heed_batch_at at) {
    return at.val || at.full_batch ? heed__rows_of(at, k->info.count[part]) : at.rows;
}

heed_status heed__images_row(const heed_images *k, heed_part part, heed_batch_at at, int row,
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
    *number = k->part[part][index];
    const heed__item *item = &k->items[*number];
    const heed_picture *p;
    heed_picture own;
    heed_status s = heed__images_lend(k, item, &own, &p, why);
    if (s != HEED_OK) return s;
    heed_random draws = heed_random_at(seed, "augment", epoch, (uint32_t)index);
    heed_picture_view(p, &k->info.view, at.val ? NULL : &k->a.augment, &draws, x, work);
    *label = (int32_t)item->label;
    heed_picture_free(&own);
    return HEED_OK;
}

static bool at_fits(heed_images *k, heed_batch_at at, int len) {
    heed_part part = at.val ? k->judged : HEED_TRAIN_PART;
    if (at.rows < 1 || at.rows > INT32_MAX / len)
        return heed_fail(k->c, HEED_USAGE, "batch is out of range: expected 1 to %d rows, found %d",
                         INT32_MAX / len, at.rows);
    if (!k->info.count[part])
        return heed_fail(k->c, HEED_USAGE,
                         at.val ? "there is neither a validation nor a training part to judge by"
                                : "there is no training part to take batches from");
    if (!heed__images_rows(k, part, at))
        return heed_fail(k->c, HEED_USAGE, "%s has no batch %llu: expected less than %llu",
                         at.val ? "evaluation" : "an epoch", (unsigned long long)at.index,
                         (unsigned long long)(at.val ? heed_images_evals(k, at.rows)
                                                     : heed_images_epoch(k, at.rows)));
    return true;
}

bool heed_image_batch(heed_images *k, heed_batch_at at, heed_batch *out) {
    if (out) *out = (heed_batch){0};
    if (!k || !out || heed__stopped(k->c)) return false;
    const heed_image_transform *v = &k->info.view;
    int len = v->size * v->size * v->channels;
    if (!at_fits(k, at, len)) return false;
    double start = heed__os_seconds();
    const heed__slot *s = heed__ring_ask(k, at.val ? k->judged : HEED_TRAIN_PART, at);
    k->ring.waited += heed__os_seconds() - start;
    if (!s) return false;
    *out = (heed_batch){
        .rows = s->rows, .len = len, .x = s->x, .labels = s->labels, .items = (size_t)s->rows};
    return true;
}

double heed_images_waited(const heed_images *k) { return k ? k->ring.waited : 0; }
