/* letters.h -- how often each character occurs: the alphabets of char and wordpiece vocabularies.
 */
#ifndef HEED_DATA_LETTERS_H
#define HEED_DATA_LETTERS_H

#include <heed/ctx.h>

typedef struct heed__letters heed__letters;
heed__letters *heed__letters_new(heed_ctx *c);
void heed__letters_free(heed__letters *k);
/* Counts each character of text `times` times. */
bool heed__letters_count(heed__letters *k, const char *text, size_t n, uint64_t times);
/* The `most` most frequent characters (ties: lowest code points first), ordered by code point;
 * *count: their number. Free with heed__free. */
int32_t *heed__letters_top(const heed__letters *k, size_t most, size_t *count);

/* How many of the most frequent characters fit into `places`, where a character that is also in
 * `later` uses two. 0 if out of memory. */
size_t heed__letters_fit(const heed__letters *k, const heed__letters *later, size_t places);

#endif
