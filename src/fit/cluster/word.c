/* word.c -- what each process says to the others at the end of an update: whether it failed or
 * leaves, its losses, which parameters have a gradient, and its updates of states. */
#include "core/tape.h"
#include "fit/fit.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    int32_t status, leaves;
    double norm; /* of the last update's gradient: equal everywhere */
    char why[1008];
} head;

/* An update of a state; its values follow. */
typedef struct {
    int32_t entry, size;
    double keep, scale;
} update;

/* A multiple of 8 bytes. */
static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static uint32_t most_micros(const heed__fitting *f) {
    uint32_t ranks = (uint32_t)f->group.k->ranks;
    return f->micros / ranks + (f->micros % ranks != 0);
}

/* The parts of a word, in this order: head, passes, a byte for each part, updates. */
static size_t passes_at(void) { return sizeof(head); }
static size_t touched_at(const heed__fitting *f) {
    return passes_at() + most_micros(f) * sizeof(heed__pass);
}
static size_t updates_at(const heed__fitting *f) {
    return touched_at(f) + padded(f->gradients.count);
}
size_t heed__word_bytes(const heed__fitting *f) {
    return updates_at(f) + most_micros(f) * f->group.update_bytes;
}

static unsigned char *word_of(const heed__fitting *f, int rank) {
    return f->group.words + (size_t)rank * f->group.word;
}

/* ---- updates of states ---- */

size_t heed__word_updates(const heed_tape *t) {
    const heed__state_update *list;
    size_t bytes = 0, n = heed__tape_updates(t, &list);
    for (size_t i = 0; i < n; i++)
        bytes += sizeof(update) + padded(list[i].of->size * sizeof(heed_real));
    return bytes;
}

static int entry_of(const heed_store *s, const heed_tensor *x) {
    int i = 0;
    while (i < heed_store_count(s) && heed_store_at(s, i)->tensor != x) i++;
    return i;
}

bool heed__word_keep(heed__fitting *f, uint32_t micro) {
    heed__group *g = &f->group;
    const heed__state_update *list;
    size_t n = heed__tape_updates(f->tape, &list);
    if (heed__word_updates(f->tape) != g->update_bytes)
        return heed_fail(f->c, HEED_FAILED,
                         "model %s cannot be trained by several processes: its passes update "
                         "different states",
                         f->a->model->name);
    unsigned char *at =
        word_of(f, g->k->rank) + updates_at(f) + (micro - g->from) * g->update_bytes;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = list[i].of->size * sizeof(heed_real);
        update u = {entry_of(f->store, list[i].of), (int32_t)list[i].of->size, list[i].keep,
                    list[i].scale};
        memcpy(at, &u, sizeof u);
        memcpy(at + sizeof u, list[i].x, bytes);
        at += sizeof u + padded(bytes);
    }
    return true;
}

/* Makes the updates of one pass. */
static void make_updates(const heed__fitting *f, const unsigned char *at) {
    const unsigned char *end = at + f->group.update_bytes;
    while (at < end) {
        update u;
        memcpy(&u, at, sizeof u);
        heed_tensor *of = heed_store_at(f->store, u.entry)->tensor;
        const void *values = at + sizeof u;
        heed__update_state(&(heed__state_update){of, u.keep, u.scale, values});
        at += sizeof u + padded((size_t)u.size * sizeof(heed_real));
    }
}

/* ---- the whole word ---- */

void heed__word_write(heed__fitting *f, bool leaves) {
    const heed__group *g = &f->group;
    unsigned char *w = word_of(f, g->k->rank);
    head h = {.status = (int32_t)heed_ctx_status(f->c), .leaves = leaves, .norm = f->state.norm};
    snprintf(h.why, sizeof h.why, "%s", heed_ctx_error(f->c));
    memcpy(w, &h, sizeof h);
    memcpy(w + passes_at(), f->passes + g->from, (g->to - g->from) * sizeof *f->passes);
    for (size_t i = 0; i < f->gradients.count; i++)
        w[touched_at(f) + i] = f->gradients.parts[i].entry->tensor->touched;
}

/* Fails if any process failed, or if they do not agree. */
static bool check(heed__fitting *f, bool leaves) {
    for (int r = 0; r < f->group.k->ranks; r++) {
        head h;
        memcpy(&h, word_of(f, r), sizeof h);
        if (h.status != HEED_OK)
            return heed_fail(f->c, (heed_status)h.status, "process %d: %.*s", r,
                             (int)sizeof h.why - 1, h.why);
        if (h.leaves != leaves || memcmp(&h.norm, &f->state.norm, sizeof h.norm) != 0)
            return heed_fail(f->c, HEED_FAILED,
                             "processes %d and %d have come to different results at step %lld; "
                             "hint: the same program and data on every machine",
                             f->group.k->rank, r, (long long)f->state.step);
    }
    return true;
}

bool heed__word_read(heed__fitting *f, bool leaves) {
    if (!check(f, leaves)) return false;
    for (int r = 0; r < f->group.k->ranks && !leaves; r++) {
        const unsigned char *w = word_of(f, r);
        uint32_t from = heed__tree_first(f->micros, f->group.k->ranks, r);
        uint32_t to = heed__tree_first(f->micros, f->group.k->ranks, r + 1);
        memcpy(f->passes + from, w + passes_at(), (to - from) * sizeof *f->passes);
        for (size_t i = 0; i < f->gradients.count; i++)
            if (w[touched_at(f) + i]) f->gradients.parts[i].entry->tensor->touched = true;
        for (uint32_t i = from; i < to; i++)
            make_updates(f, w + updates_at(f) + (i - from) * f->group.update_bytes);
    }
    return true;
}
