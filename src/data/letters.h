/* How often each character occurs: the alphabets of char and wordpiece vocabularies. */
#ifndef HEED_DATA_LETTERS_H
#define HEED_DATA_LETTERS_H

#include <heed/ctx.h>

typedef struct {
    uint64_t count;
    int32_t character;
} heed__letter;

/* A table with a row for every code point (heed__free); NULL without memory. */
heed__letter *heed__letters_new(heed_ctx *c);
/* Counts each character of text `times` times. */
void heed__letters_count(heed__letter *k, const char *text, size_t n, uint64_t times);
/* Moves the `most` most frequent characters (of equal ones the lowest code points) to the front,
 * sorted by code point, and returns how many there are. To be called once, last. */
size_t heed__letters_top(heed__letter *k, size_t most);

#endif
