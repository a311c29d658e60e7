/* words.h -- text cut into words as BERT does it: Devlin et al. 2019, and the fast tokenizer of
 * Hugging Face, whose rules (Unicode classes, lower-casing by character) are kept. */
#ifndef HEED_DATA_WORDS_H
#define HEED_DATA_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEED__WORD_CHARS = 100, HEED__WORD_BYTES = 4 * HEED__WORD_CHARS };

/* A word after normalising. Beyond HEED__WORD_CHARS characters only `chars` and `last` go on. */
typedef struct {
    char buffer[2 + HEED__WORD_BYTES]; /* two bytes before the word: for the ## of a later piece */
    size_t chars;
    size_t at[HEED__WORD_CHARS + 1]; /* in room: where each character begins; at[chars]: the end */
    size_t begin[HEED__WORD_CHARS], end[HEED__WORD_CHARS]; /* in the text: what it was made of */
    size_t last;                                           /* end of the word in the text */
} heed__word;

/* Reads words from text. Set text, n, lower, strip (decompose and drop accents); leave the rest 0.
 */
typedef struct {
    const char *text;
    size_t n, next;
    bool lower, strip;
    int32_t queue[8]; /* what the character before `next` became */
    int queued, taken;
    bool alone; /* it is a word of its own (CJK) */
    size_t begin;
} heed__words;

/* The next word; false at the end of the text. */
bool heed__words_next(heed__words *k, heed__word *out);

bool heed__is_space(int32_t character);

#endif
