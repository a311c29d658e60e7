/* arena.c -- memory for one step, in blocks that are reused by the next. */
#include "core/os.h"
#include "core/tape.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, HEAD = 64, FIRST = 1 << 16 };

static size_t round_up(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* heed__alloc is not used because it zeroes memory: no page should be touched before it is used. */
static bool add_block(heed__arena *a, size_t capacity) {
    bool large = capacity >= 2 * HEED__LARGE_PAGE;
    size_t align = large ? HEED__LARGE_PAGE : ALIGN;
    size_t bytes = capacity < SIZE_MAX / 2 ? (HEAD + capacity + align - 1) / align * align : 0;
    heed__block *b = !bytes ? NULL : large ? heed__os_map(bytes) : aligned_alloc(align, bytes);
    if (!b)
        return heed_fail(a->c, HEED_FAILED,
                         "out of memory: a step needs %zu MB more; hint: a smaller `batch` or "
                         "`block` needs less",
                         capacity / 1000000 + 1);
    if (a->blocks) a->used += a->blocks->used;
    *b = (heed__block){.next = a->blocks, .capacity = capacity, .mapped = large ? bytes : 0};
    a->blocks = b;
    return true;
}

void *heed__arena_take(heed__arena *a, size_t bytes) {
    if (bytes > SIZE_MAX / 4) bytes = SIZE_MAX / 4;
    bytes = round_up(bytes ? bytes : 1);
    for (int i = 0; i < a->bin_count; i++) {
        void *p = a->bins[i].first;
        if (a->bins[i].bytes != bytes || !p) continue;
        memcpy(&a->bins[i].first, p, sizeof p);
        return p;
    }
    if (!a->blocks || a->blocks->capacity - a->blocks->used < bytes) {
        size_t capacity = heed__arena_reserved(a);
        if (capacity < FIRST) capacity = FIRST;
        if (!add_block(a, capacity > bytes ? capacity : bytes)) return NULL;
    }
    char *p = (char *)a->blocks + HEAD + a->blocks->used;
    a->blocks->used += bytes;
    return p;
}

void heed__arena_give(heed__arena *a, void *p, size_t bytes) {
    bytes = round_up(bytes ? bytes : 1);
    int i = 0;
    while (i < a->bin_count && a->bins[i].bytes != bytes) i++;
    if (i == HEED__BINS) return; /* memory of other sizes is reclaimed at the reset */
    if (i == a->bin_count) a->bins[a->bin_count++] = (heed__bin){.bytes = bytes};
    memcpy(p, &a->bins[i].first, sizeof p);
    a->bins[i].first = p;
}

void heed__arena_free(heed__arena *a) {
    while (a->blocks) {
        heed__block *next = a->blocks->next;
        if (a->blocks->mapped)
            heed__os_unmap(a->blocks, a->blocks->mapped);
        else
            free(a->blocks);
        a->blocks = next;
    }
    a->used = 0;
    a->bin_count = 0;
}

void heed__arena_reset(heed__arena *a) {
    size_t used = heed__arena_used(a);
    if (a->blocks && a->blocks->next) {
        heed__arena_free(a);
        if (!heed__stopped(a->c)) add_block(a, round_up(used + used / 8));
    }
    if (a->blocks) a->blocks->used = 0;
    a->used = 0;
    a->bin_count = 0;
}

size_t heed__arena_used(const heed__arena *a) {
    return a->used + (a->blocks ? a->blocks->used : 0);
}

size_t heed__arena_reserved(const heed__arena *a) {
    size_t sum = 0;
    for (const heed__block *b = a->blocks; b; b = b->next) sum += b->capacity;
    return sum;
}
