/* classes.h -- classes of characters, as patterns, BERT and Unicode name them. */
#ifndef HEED_TEXT_CLASSES_H
#define HEED_TEXT_CLASSES_H

#include <heed/base.h>

#include <stdbool.h>
#include <stdint.h>

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
    HEED__ANY           /* every one, also bytes that are not UTF-8 */
} heed__class;
/* character: -1, which is in no class but ANY, where a text is not UTF-8. */
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
