/* arena.h -- memory for one step: allocated in order, released at once, reused by the next. */
#ifndef HEED_ARENA_H
#define HEED_ARENA_H

#include "core/core.h"

enum { HEED__BINS = 32 };

typedef struct heed__block {
    struct heed__block *next;
    size_t capacity, used;
    size_t mapped; /* bytes of heed__os_map; 0: of malloc */
} heed__block;

/* Blocks returned during a step, by exact size. */
typedef struct {
    size_t bytes;
    void *first; /* a linked list: each block holds the address of the next */
} heed__bin;

typedef struct {
    heed_ctx *c;
    heed__block *blocks; /* newest first: the one in use */
    size_t used;         /* used in the older blocks */
    heed__bin bins[HEED__BINS];
    int bin_count;
} heed__arena;

/* Releases all allocations. If the last step needed several blocks, they are replaced by a single
 * block an eighth larger than the step needed, so that from the third step of equal size on no
 * allocator is called. */
void heed__arena_reset(heed__arena *a);
void heed__arena_free(heed__arena *a);
void *heed__arena_take(heed__arena *a, size_t bytes); /* aligned, not zeroed; NULL on error */
void heed__arena_give(heed__arena *a, void *p, size_t bytes); /* reusable in this step */
size_t heed__arena_used(const heed__arena *a);
size_t heed__arena_reserved(const heed__arena *a);

#endif
