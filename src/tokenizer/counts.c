/* counts.c -- distinct words, letters or lines with their counts. */
#include "text/text.h"
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b) {
    const heed__ranked *x = a, *y = b;
    return strcmp(x->text, y->text);
}

static int by_count(const void *a, const void *b) {
    const heed__ranked *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return by_text(a, b);
}

heed__ranked *heed__rank(const heed__counts *w, uint64_t least) {
    size_t count = 0;
    heed__ranked *r = heed__alloc_array(w->names.c, w->names.count + 1, sizeof *r);
    if (!r) return NULL;
    for (size_t i = 0; i < w->names.count; i++)
        if (w->counts[i] >= least)
            r[count++] = (heed__ranked){w->counts[i], heed__names_text(&w->names, i)};
    qsort(r, count, sizeof *r, by_count);
    return r;
}

void heed__rank_by_text(heed__ranked *r, size_t n) { qsort(r, n, sizeof *r, by_text); }

bool heed__counts_add(heed__counts *w, const char *s, size_t n, uint64_t times) {
    int32_t i = heed__names_add(&w->names, s, n);
    if (i < 0 ||
        !heed__grow(w->names.c, &w->counts, &w->capacity, (size_t)i + 1, sizeof *w->counts))
        return false;
    w->counts[i] += times;
    return true;
}

void heed__counts_clear(heed__counts *w) {
    heed__names_clear(&w->names);
    if (w->counts) memset(w->counts, 0, w->capacity * sizeof *w->counts);
}

void heed__counts_free(heed__counts *w) {
    heed__names_free(&w->names);
    heed__free(w->counts);
    w->counts = NULL;
    w->capacity = 0;
}

bool heed__count_letters(heed__counts *out, const char *text, size_t n, uint64_t times) {
    uint64_t ascii[128] = {0}; /* most letters of most texts need no look-up */
    int32_t c;
    for (size_t at = 0, length; at < n; at += length) {
        length = heed_utf8_read(text + at, n - at, &c);
        if (c >= 0 && c < 128)
            ascii[c] += times;
        else if (c >= 0 && !heed__counts_add(out, text + at, length, times))
            return false;
    }
    for (int i = 0; i < 128; i++)
        if (ascii[i] && !heed__counts_add(out, &(char){(char)i}, 1, ascii[i])) return false;
    return true;
}
