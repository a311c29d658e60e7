/* names.h -- distinct byte strings, numbered in the order in which they came. */
#ifndef HEED_TEXT_NAMES_H
#define HEED_TEXT_NAMES_H

#include "core/core.h"

/* next: the number of a string + 1, 0: free; tag: some bits of its hash. */
typedef struct {
    uint32_t next, tag;
} heed__name_slot;

/* Distinct byte strings, numbered in the order in which they came. */
typedef struct {
    heed_ctx *c;
    char *bytes; /* all strings, each ended by a zero byte */
    size_t used, bytes_capacity;
    size_t *at; /* where each begins in bytes */
    size_t count, at_capacity;
    heed__name_slot *slots; /* open addressing; a power of two of them */
    size_t slot_count;
} heed__names;

/* The number of the string, -1 if absent. hash = heed__hash64(s, n, 0). */
int32_t heed__names_find(const heed__names *k, const char *s, size_t n, uint64_t hash);
int32_t heed__names_look(const heed__names *k, const char *s, size_t n);
/* The number of the string, which is added if absent; -1 with an error if out of memory. */
int32_t heed__names_add(heed__names *k, const char *s, size_t n);
static inline const char *heed__names_text(const heed__names *k, size_t number) {
    return k->bytes + k->at[number];
}
static inline size_t heed__names_length(const heed__names *k, size_t number) {
    size_t end = number + 1 < k->count ? k->at[number + 1] : k->used;
    return end - k->at[number] - 1;
}
/* All texts, in their order or sorted: by value if all are decimal numbers (1.5, 2, 10), otherwise
 * bytewise; free with heed__free. NULL on error. */
const char **heed__names_list(const heed__names *k, bool sorted);
void heed__names_clear(heed__names *k); /* keeps the memory */
void heed__names_free(heed__names *k);

#endif
