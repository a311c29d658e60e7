/* images_ring.c -- a ring of batches: the one that the caller holds, and those that threads prepare
 * ahead. The next ones are predicted from the last one requested. A batch that was not predicted or
 * is not ready yet is made at once, by the caller and the threads together. */
#include "data/image/images.h"
#include "data/kind.h"

#include <string.h>

enum { GRAIN = 8 }; /* rows handed to a thread at a time */

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
    int from = s->next, to = s->rows - from < GRAIN ? s->rows : from + GRAIN, row = from;
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

void heed__ring_free(heed__ring *r) {
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
static bool start(heed_images *k) {
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
    if (heed__stopped(k->c)) heed__ring_free(r);
    return !heed__stopped(k->c);
}

/* ---- what is made: the lock is held ---- */

typedef struct {
    heed_part part;
    heed_batch_at at;
} request;

static bool same(const heed__slot *s, const request *w) {
    return s->rows && s->part == w->part && s->at.val == w->at.val && s->at.index == w->at.index &&
           s->at.micro == w->at.micro && s->at.micros == w->at.micros && s->at.rows == w->at.rows &&
           s->at.full_batch == w->at.full_batch && s->at.sample == w->at.sample;
}

/* The batch likely to be requested next; after the last evaluation batch, training again. */
static bool after(const heed_images *k, request *w) {
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
static bool assign(heed_images *k, heed__slot *s, const request *w) {
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
        if (same(&r->slots[i], w)) return &r->slots[i];
    return NULL;
}

/* Finds slots for the requests; the first always gets one: the caller's, the only one certainly
 * idle, before a later request can claim the batch there. Slots of no request are released. */
static bool plan(heed_images *k, const request *requests, int count, heed__slot **found) {
    heed__ring *r = &k->ring;
    bool used[HEED__SLOTS] = {false};
    found[0] = slot_with(r, requests);
    bool ok = found[0] || assign(k, found[0] = r->held, requests);
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
            ok = assign(k, found[w], &requests[w]);
        }
        if (found[w]) found[w]->turn = ++r->turn;
    }
    return ok;
}

const heed__slot *heed__ring_get(heed_images *k, heed_part part, heed_batch_at at) {
    heed__ring *r = &k->ring;
    heed__slot *found[HEED__SLOTS] = {NULL};
    request requests[HEED__SLOTS] = {{part, at}};
    if (!start(k)) return NULL;
    if (!at.val) r->train = at;
    int count = 1, most = k->a.workers ? HEED__SLOTS : 1;
    for (; count < most; count++) {
        requests[count] = requests[count - 1];
        if (!after(k, &requests[count])) break;
    }
    heed__monitor_enter(r->monitor);
    bool ok = plan(k, requests, count, found);
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
