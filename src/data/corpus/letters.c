/* letters.c -- how often each character of a text occurs. */
#include "data/corpus/letters.h"

#include "core/core.h"
#include "text/text.h"

#include <stdlib.h>

enum { PAGE_BITS = 8, PAGE = 1 << PAGE_BITS, PAGES = 0x110000 >> PAGE_BITS };

/* Counts by code point, in pages that are allocated when their first character is seen. */
struct heed__letters {
    heed_ctx *c;
    size_t distinct;
    uint64_t *pages[PAGES];
};

typedef struct {
    uint64_t count;
    int32_t character;
} letter;

heed__letters *heed__letters_new(heed_ctx *c) {
    heed__letters *k = heed__alloc(c, sizeof *k);
    if (k) k->c = c;
    return k;
}

void heed__letters_free(heed__letters *k) {
    for (int i = 0; k && i < PAGES; i++) heed__free(k->pages[i]);
    heed__free(k);
}

bool heed__letters_count(heed__letters *k, const char *text, size_t n, uint64_t times) {
    int32_t c;
    for (size_t at = 0; at < n;) {
        at += heed_utf8_read(text + at, n - at, &c);
        if (c < 0) continue;
        uint64_t **page = &k->pages[c >> PAGE_BITS];
        if (!*page && !(*page = heed__alloc_array(k->c, PAGE, sizeof **page))) return false;
        uint64_t *count = &(*page)[c & (PAGE - 1)];
        k->distinct += *count == 0;
        *count += times;
    }
    return true;
}

static int by_count(const void *a, const void *b) {
    const letter *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->character > y->character) - (x->character < y->character);
}

static int by_character(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* All characters, most frequent first; ties by code point. */
static letter *by_frequency(const heed__letters *k) {
    letter *all = heed__alloc_array(k->c, k->distinct, sizeof *all);
    size_t n = 0;
    for (int32_t i = 0; all && i < PAGES; i++)
        for (int32_t j = 0; k->pages[i] && j < PAGE; j++)
            if (k->pages[i][j]) all[n++] = (letter){k->pages[i][j], i * PAGE + j};
    if (n) qsort(all, n, sizeof *all, by_count);
    return all;
}

int32_t *heed__letters_top(const heed__letters *k, size_t most, size_t *count) {
    letter *all = by_frequency(k);
    int32_t *top = all ? heed__alloc_array(k->c, k->distinct, sizeof *top) : NULL;
    *count = top ? (k->distinct < most ? k->distinct : most) : 0;
    for (size_t i = 0; i < *count; i++) top[i] = all[i].character;
    if (*count) qsort(top, *count, sizeof *top, by_character);
    heed__free(all);
    return top;
}

static bool has(const heed__letters *k, int32_t c) {
    const uint64_t *page = k->pages[c >> PAGE_BITS];
    return page && page[c & (PAGE - 1)];
}

size_t heed__letters_fit(const heed__letters *k, const heed__letters *later, size_t places) {
    letter *all = by_frequency(k);
    size_t count = 0, used = 0;
    for (; all && count < k->distinct; count++) {
        used += has(later, all[count].character) ? 2 : 1;
        if (used > places) break;
    }
    heed__free(all);
    return count;
}
