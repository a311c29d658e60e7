/* words.h -- classes of characters; splits text into words as BERT does (Devlin et al. 2019), by
 * the rules of Hugging Face's fast tokenizer (Unicode classes, lower-casing by character). */
#ifndef HEED_TOKENIZER_WORDS_H
#define HEED_TOKENIZER_WORDS_H

#include <heed/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEED__WORD_CHARS = 100, HEED__WORD_BYTES = 4 * HEED__WORD_CHARS };

/* A normalised word. Beyond HEED__WORD_CHARS characters only `chars` and `last` are updated. */
typedef struct {
    char buffer[2 + HEED__WORD_BYTES]; /* two bytes before the word: for the ## of a later piece */
    size_t chars;
    size_t at[HEED__WORD_CHARS + 1]; /* in buffer: where a character begins; at[chars]: the end */
    size_t begin[HEED__WORD_CHARS], end[HEED__WORD_CHARS]; /* in the text: what it was made from */
    size_t last;                                           /* end of the word in the text */
} heed__word;

/* Reads words. Set text, n, lower, strip (decompose and drop accents); the rest must be 0. */
typedef struct {
    const char *text;
    size_t n, next;
    bool lower, strip;
    int32_t queue[8]; /* what the character before `next` became */
    int queued, taken;
    bool alone; /* it is a separate word (CJK) */
    size_t begin;
} heed__words;

/* The next word; false at the end of the text. */
bool heed__words_next(heed__words *k, heed__word *out);
/* Reads the next word only if it is of ASCII letters and digits, or one ASCII punctuation mark, and
 * at most HEED__WORD_CHARS long: most words of most texts. Writes it, lower-cased as set, and where
 * it begins; returns its length, 0 if heed__words_next has to read what comes next. */
size_t heed__words_plain(heed__words *k, char word[HEED__WORD_CHARS], size_t *begin);
/* Sets a word to one that heed__words_plain read. */
void heed__word_set(heed__word *w, const char *word, size_t n, size_t begin);

typedef enum {
    HEED__SPACE,        /* the property White_Space: \s */
    HEED__LETTER,       /* \p{L} */
    HEED__NUMERAL,      /* \p{N} */
    HEED__DECIMAL,      /* \p{Nd}: \d */
    HEED__PUNCTUATION,  /* ASCII except letters, digits, space and controls; category P* */
    HEED__WORD_CHAR,    /* \w: alphabetic, marks, Nd, Pc, joiners */
    HEED__PATTERN_WORD, /* \w of a pattern: without joiners, with the numerals of Latin-1 */
    HEED__SET_WORD,     /* \w in a set of a pattern: without these numerals */
    HEED__MARK,         /* \p{M} */
    HEED__UPPER,        /* \p{Lu} */
    HEED__LOWER_CASE,   /* \p{Ll} */
    HEED__TITLE,        /* \p{Lt} */
    HEED__MODIFIER,     /* \p{Lm} */
    HEED__OTHER,        /* \p{Lo} */
    HEED__SYMBOL,       /* \p{S} */
    HEED__POINT,        /* \p{P} */
    HEED__ONE           /* the character of a step's text */
} heed__class;
/* character: -1, which is in no class, where a text is not UTF-8. */
bool heed__in_class(heed__class k, int32_t character);

HEED_EXPORT_BEGIN
bool heed__is_space(int32_t character);
/* Whether a character is a word by itself: punctuation, or an ideograph. */
bool heed__is_single(int32_t character);
HEED_EXPORT_END
/* What BERT removes from texts: controls and the like. An ideograph is a word by itself. */
bool heed__is_dropped(int32_t character);
bool heed__is_ideograph(int32_t character);
/* Whether a character is written without a space beside it: Chinese, and kana. */
bool heed__is_unspaced(int32_t character);

#endif
