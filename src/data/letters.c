#include "data/letters.h"

#include "core/core.h"
#include "data/utf8.h"

#include <stdlib.h>

enum { CODE_POINTS = 0x110000 };

heed__letter *heed__letters_new(heed_ctx *c) {
    return heed__alloc_array(c, CODE_POINTS, sizeof(heed__letter));
}

void heed__letters_count(heed__letter *k, const char *text, size_t n, uint64_t times) {
    int32_t character;
    for (size_t at = 0; at < n;) {
        at += heed__utf8_read(text + at, n - at, &character);
        if (character >= 0) k[character].count += times;
    }
}

static int by_character(const void *a, const void *b) {
    const heed__letter *x = a, *y = b;
    return (x->character > y->character) - (x->character < y->character);
}

static int by_count(const void *a, const void *b) {
    const heed__letter *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return by_character(a, b);
}

size_t heed__letters_top(heed__letter *k, size_t most) {
    size_t count = 0;
    for (int32_t i = 0; i < CODE_POINTS; i++)
        if (k[i].count) k[count++] = (heed__letter){k[i].count, i};
    qsort(k, count, sizeof *k, by_count);
    if (count > most) count = most;
    qsort(k, count, sizeof *k, by_character);
    return count;
}
