/* pattern.h -- regular expressions that split texts into words. */
#ifndef HEED_DATA_PATTERN_H
#define HEED_DATA_PATTERN_H

#include "core/core.h"
#include "data/corpus/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
