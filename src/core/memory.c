/* memory.c -- aligned memory, zeroed or not, and growing arrays; hashes. */
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

static size_t rounded(size_t bytes) { return ((bytes ? bytes : 1) + (ALIGN - 1)) / ALIGN * ALIGN; }

static void *take(heed_ctx *c, size_t bytes) {
    void *p = bytes <= SIZE_MAX / 2 ? aligned_alloc(ALIGN, rounded(bytes)) : NULL;
    if (p) return p;
    heed_fail(c, HEED_FAILED,
              "out of memory: cannot allocate %zu MB; hint: a smaller `batch`, `block` or `width` "
              "needs less",
              bytes / 1000000 + 1);
    return NULL;
}

void *heed__alloc(heed_ctx *c, size_t bytes) {
    void *p = take(c, bytes);
    return p ? memset(p, 0, rounded(bytes)) : NULL;
}

void *heed__alloc_untouched(heed_ctx *c, size_t count, size_t each) {
    return take(c, each && count > SIZE_MAX / 2 / each ? SIZE_MAX : count * each);
}

void *heed__alloc_array(heed_ctx *c, size_t count, size_t each) {
    if (each && count > SIZE_MAX / 2 / each) return heed__alloc(c, SIZE_MAX);
    return heed__alloc(c, count * each);
}

void heed__free(void *p) { free(p); }

char *heed__copy_text(heed_ctx *c, const char *text) {
    size_t n = strlen(text) + 1;
    char *copy = heed__alloc(c, n);
    return copy ? memcpy(copy, text, n) : NULL;
}

bool heed__grow(heed_ctx *c, void *array, size_t *capacity, size_t need, size_t each) {
    if (need <= *capacity) return true;
    size_t count = need > *capacity + *capacity / 2 ? need : *capacity + *capacity / 2;
    if (count < 16) count = 16;
    void *now = heed__alloc_array(c, count, each), *before;
    if (!now) return false;
    memcpy(&before, array, sizeof before);
    if (before) memcpy(now, before, *capacity * each);
    memcpy(array, &now, sizeof now);
    *capacity = count;
    heed__free(before);
    return true;
}

uint32_t heed__hash(const char *text) {
    uint32_t h = 2166136261u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

uint64_t heed__hash64(const void *bytes, size_t n, uint64_t start) {
    uint64_t h = start ? start : 14695981039346656037u;
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u;
    return h;
}
