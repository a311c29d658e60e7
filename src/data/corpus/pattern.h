/* pattern.h -- classes of characters, and the regular expressions that split texts into words. */
#ifndef HEED_DATA_PATTERN_H
#define HEED_DATA_PATTERN_H

#include "core/core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    HEED__SPACE,       /* the property White_Space: \s */
    HEED__LETTER,      /* \p{L} */
    HEED__NUMERAL,     /* \p{N} */
    HEED__DECIMAL,     /* \p{Nd}: \d */
    HEED__PUNCTUATION, /* ASCII except letters, digits, space and controls; category P* */
    HEED__WORD_CHAR,   /* \w: alphabetic, marks, Nd, Pc, joiners */
    HEED__MARK,        /* \p{M} */
    HEED__UPPER,       /* \p{Lu} */
    HEED__LOWER_CASE,  /* \p{Ll} */
    HEED__TITLE,       /* \p{Lt} */
    HEED__MODIFIER,    /* \p{Lm} */
    HEED__OTHER,       /* \p{Lo} */
    HEED__SYMBOL,      /* \p{S} */
    HEED__POINT,       /* \p{P} */
    HEED__ONE          /* the character of a step's text */
} heed__class;
/* character: -1, which is in no class, where a text is not UTF-8. */
bool heed__in_class(heed__class k, int32_t character);

/* A regular expression over characters: alternatives, groups (?:a|b), (?i:a|b) and either with ?,
 * sets [^\s\p{L}a-z], \p{L} and the like, \s \S \d \w \r \n \t, the quantifiers ? * + {m,n} of
 * characters and sets, each with + for no backtracking, and (?!a), (?=a). */
typedef struct heed__pattern heed__pattern;
/* *refused: what of it is not supported, where the result is NULL without an error of c. */
heed__pattern *heed__pattern_new(heed_ctx *c, const char *text, const char **refused);
void heed__pattern_free(heed__pattern *p);
enum { HEED__NO_MATCH = -1, HEED__TOO_SLOW = -2 };
/* The end of the match that begins at `at`; HEED__NO_MATCH, or HEED__TOO_SLOW. */
ptrdiff_t heed__pattern_match(const heed__pattern *p, const char *s, size_t n, size_t at);

#endif
