/* names.c -- distinct byte strings, numbered in the order in which they came. */
#include "text/names.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const heed__names *k, uint64_t hash) {
    return (size_t)(hash ^ hash >> 32) & (k->slot_count - 1);
}

/* Most different strings have different ones, and need not be compared. */
static uint32_t tag_of(uint64_t hash) { return (uint32_t)(hash >> 32); }

int32_t heed__names_find(const heed__names *k, const char *s, size_t n, uint64_t hash) {
    if (!k->slot_count) return -1;
    for (size_t i = slot_of(k, hash); k->slots[i].next; i = (i + 1) & (k->slot_count - 1)) {
        size_t number = k->slots[i].next - 1;
        if (k->slots[i].tag == tag_of(hash) && heed__names_length(k, number) == n &&
            memcmp(k->bytes + k->at[number], s, n) == 0)
            return (int32_t)number;
    }
    return -1;
}

int32_t heed__names_look(const heed__names *k, const char *s, size_t n) {
    return heed__names_find(k, s, n, heed__hash64(s, n, 0));
}

static void enter(heed__names *k, size_t number) {
    uint64_t hash = heed__hash64(heed__names_text(k, number), heed__names_length(k, number), 0);
    size_t i = slot_of(k, hash);
    while (k->slots[i].next) i = (i + 1) & (k->slot_count - 1);
    k->slots[i].next = (uint32_t)number + 1;
    k->slots[i].tag = tag_of(hash);
}

static bool widen(heed__names *k) {
    size_t wanted = k->slot_count ? 2 * k->slot_count : 1024;
    heed__name_slot *slots = heed__alloc_array(k->c, wanted, sizeof *slots);
    if (!slots) return false;
    heed__free(k->slots);
    k->slots = slots;
    k->slot_count = wanted;
    for (size_t i = 0; i < k->count; i++) enter(k, i);
    return true;
}

int32_t heed__names_add(heed__names *k, const char *s, size_t n) {
    int32_t found = heed__names_look(k, s, n);
    if (found >= 0) return found;
    if (k->count >= INT32_MAX - 1) {
        heed_fail(k->c, HEED_FAILED, "too many distinct words: expected fewer than 2^31");
        return -1;
    }
    if (2 * (k->count + 1) > k->slot_count && !widen(k)) return -1;
    if (!heed__grow(k->c, &k->at, &k->at_capacity, k->count + 1, sizeof *k->at) ||
        !heed__grow(k->c, &k->bytes, &k->bytes_capacity, k->used + n + 1, 1))
        return -1;
    if (n) memcpy(k->bytes + k->used, s, n);
    k->bytes[k->used + n] = 0;
    k->at[k->count++] = k->used;
    k->used += n + 1;
    enter(k, k->count - 1);
    return (int32_t)k->count - 1;
}

static int bytewise(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_number(const void *a, const void *b) {
    double x = strtod(*(const char *const *)a, NULL), y = strtod(*(const char *const *)b, NULL);
    return x != y ? (x > y) - (x < y) : bytewise(a, b);
}

/* A decimal number: digits, maybe with a sign and a point, as in 10, -1 and 1.5. */
static bool is_number(const char *s) {
    s += *s == '-' || *s == '+';
    size_t digits = strspn(s, "0123456789"), point = s[digits] == '.';
    size_t more = point ? strspn(s + digits + 1, "0123456789") : 0;
    return digits && point == (more > 0) && !s[digits + point + more];
}

const char **heed__names_list(const heed__names *k, bool sorted) {
    const char **texts = heed__alloc_array(k->c, k->count, sizeof *texts);
    for (size_t i = 0; texts && i < k->count; i++) texts[i] = heed__names_text(k, i);
    bool numbers = texts && sorted;
    for (size_t i = 0; numbers && i < k->count; i++) numbers = is_number(texts[i]);
    if (texts && sorted) qsort(texts, k->count, sizeof *texts, numbers ? by_number : bytewise);
    return texts;
}

void heed__names_clear(heed__names *k) {
    if (k->slots) memset(k->slots, 0, k->slot_count * sizeof *k->slots);
    k->count = k->used = 0;
}

void heed__names_free(heed__names *k) {
    heed__free(k->bytes);
    heed__free(k->at);
    heed__free(k->slots);
    *k = (heed__names){.c = k->c};
}
