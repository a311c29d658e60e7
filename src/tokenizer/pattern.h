/* pattern.h -- regular expressions that split texts into words. */
#ifndef HEED_TOKENIZER_PATTERN_H
#define HEED_TOKENIZER_PATTERN_H

#include "core/core.h"
#include "text/classes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A regular expression over characters: alternatives, groups (?:a|b), (?i:a|b) and either with ?,
 * sets [^\s\p{L}a-z], \p{L} and the like, \s \S \d \w \r \n \t, the quantifiers ? * + {m,n} of
 * characters and sets, each with ? for as few as possible, and ? * + with + for no backtracking;
 * (?!a), (?=a), (?<!a), (?<=a) of one character before, ^ $ \b \B \A \z \Z. */
typedef struct heed__pattern heed__pattern;
/* *refused: what of it is not supported, where the result is NULL without an error of c. */
heed__pattern *heed__pattern_new(heed_ctx *c, const char *text, const char **refused);
void heed__pattern_free(heed__pattern *p);

/* A search of a text that is divided into words. */
typedef struct {
    const heed__pattern *p;
    const char *s; /* the word */
    size_t n;
    uint64_t steps_left; /* for the whole text */
    struct heed__set_run *runs;
} heed__search;
/* Begins the search of a text of n bytes, and that of a word of it. End it, also on failure. */
bool heed__search_begin(heed_ctx *c, const heed__pattern *p, size_t n, heed__search *m);
void heed__search_text(heed__search *m, const char *s, size_t n);
void heed__search_end(heed__search *m);
/* The end of the match that begins at `at`; HEED__NO_MATCH, or HEED__TOO_SLOW. */
enum { HEED__NO_MATCH = -1, HEED__TOO_SLOW = -2 };
ptrdiff_t heed__search_at(heed__search *m, size_t at);

#endif
