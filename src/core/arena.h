/* arena.h -- memory of one step: taken in order, forgotten at once, kept for the next step. */
#ifndef HEED_ARENA_H
#define HEED_ARENA_H

#include "core/core.h"

enum { HEED__BINS = 32 };

typedef struct heed__block {
    struct heed__block *next;
    size_t capacity, used;
} heed__block;

/* Blocks given back during a step, by exact size. */
typedef struct {
    size_t bytes;
    void *first; /* each holds the address of the next */
} heed__bin;

typedef struct {
    heed_ctx *c;
    heed__block *blocks; /* the one in use first */
    size_t used;         /* of the blocks before it */
    heed__bin bins[HEED__BINS];
    int bin_count;
} heed__arena;

/* Forgets all. When the last step needed several blocks they become one that holds it with an
 * eighth to spare, so that steps of equal size call no allocator from the third on. */
void heed__arena_reset(heed__arena *a);
void heed__arena_free(heed__arena *a);
void *heed__arena_take(heed__arena *a, size_t bytes); /* aligned, not zeroed; NULL in error */
void heed__arena_give(heed__arena *a, void *p, size_t bytes); /* to be taken again in this step */
size_t heed__arena_used(const heed__arena *a);
size_t heed__arena_reserved(const heed__arena *a);

#endif
