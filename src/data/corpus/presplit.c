/* presplit.c -- divides texts into words by the splitters ("pre-tokenizers") of a tokenizer.json.
 */
#include "data/corpus/pipeline.h"
#include "text/text.h"

#include <string.h>

bool heed__ranges_add(heed_ctx *c, heed__ranges *r, size_t begin, size_t end) {
    if (!heed__grow(c, &r->of, &r->capacity, r->count + 1, sizeof *r->of)) return false;
    r->of[r->count++] = (heed__range){begin, end};
    return true;
}

/* ---- GPT-2's pattern:
 *  's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ ---- */

typedef enum { SPACE, LETTER, NUMERAL, OTHER } gpt2_class;

/* The class of the character at s, which has n bytes; *length: of the character. */
static inline gpt2_class class_at(const char *s, size_t n, size_t *length) {
    unsigned char b = (unsigned char)*s;
    *length = 1;
    if ((unsigned char)((b | 32) - 'a') < 26) return LETTER;
    if (b < 128)
        return b == ' ' || (b >= 9 && b <= 13) ? SPACE
               : (unsigned char)(b - '0') < 10 ? NUMERAL
                                               : OTHER;
    int32_t c;
    *length = heed_utf8_read(s, n, &c);
    return heed__in_class(HEED__LETTER, c)    ? LETTER
           : heed__in_class(HEED__NUMERAL, c) ? NUMERAL
           : heed__in_class(HEED__SPACE, c)   ? SPACE
                                              : OTHER;
}

static size_t contraction(const char *s, size_t n) {
    if (n > 1 && (s[1] == 's' || s[1] == 't' || s[1] == 'm' || s[1] == 'd')) return 2;
    if (n < 3) return 0;
    bool long_one = (s[1] == 'r' && s[2] == 'e') || (s[1] == 'v' && s[2] == 'e') ||
                    (s[1] == 'l' && s[2] == 'l');
    return long_one ? 3 : 0;
}

/* After a run of white space: all of it at the end of the text, else all but the last character,
 * or that one alone. */
static size_t space_end(const char *s, size_t n, size_t at) {
    size_t last = at, length;
    size_t i = at;
    for (; i < n && class_at(s + i, n - i, &length) == SPACE; i += length) last = i;
    return i == n || last == at ? i : last;
}

size_t heed__gpt2_end(const char *s, size_t n, size_t at) {
    size_t length, short_one = s[at] == '\'' ? contraction(s + at, n - at) : 0;
    if (short_one) return at + short_one;
    size_t i = at + (s[at] == ' ' && at + 1 < n);
    gpt2_class k = class_at(s + i, n - i, &length);
    if (k == SPACE) return space_end(s, n, at);
    do {
        i += length;
    } while (i < n && class_at(s + i, n - i, &length) == k);
    return i;
}

/* ---- matches ---- */

/* The end of the match at `at`, or -1. */
static ptrdiff_t match_at(const heed__step *k, const char *s, size_t n, size_t at) {
    int32_t c;
    size_t length = heed_utf8_read(s + at, n - at, &c), end = at + length;
    switch (k->kind) {
    case HEED__BY_CLASS:
        return heed__in_class(k->class, c) ? (ptrdiff_t)end : -1;
    case HEED__BY_TEXT:
        return k->n <= n - at && memcmp(s + at, k->text, k->n) == 0 ? (ptrdiff_t)(at + k->n) : -1;
    case HEED__BY_PATTERN:
        return heed__pattern_match(k->pattern, s, n, at);
    case HEED__BY_GPT2:
        return (ptrdiff_t)heed__gpt2_end(s, n, at);
    default:
        break;
    }
    if (heed__in_class(HEED__SPACE, c)) return -1;
    for (bool word = heed__in_class(HEED__WORD_CHAR, c); end < n; end += length) {
        length = heed_utf8_read(s + end, n - end, &c);
        if (heed__in_class(HEED__WORD_CHAR, c) != word || heed__in_class(HEED__SPACE, c)) break;
    }
    return (ptrdiff_t)end;
}

/* Adds what matches, or lies between matches, as the behaviour has it. matched: the one before. */
static bool add(heed_ctx *c, const heed__step *k, heed__range x, bool match, bool *matched,
                size_t first, heed__ranges *out) {
    bool joins = false, before = *matched, any = out->count > first;
    *matched = match;
    if (k->behavior == HEED__REMOVED && match) return true;
    if (k->behavior == HEED__WITH_PREVIOUS) joins = match && !before && any;
    if (k->behavior == HEED__WITH_NEXT) joins = !match && before && any;
    if (k->behavior == HEED__CONTIGUOUS) joins = match == before && any;
    if (!joins) return heed__ranges_add(c, out, x.begin, x.end);
    out->of[out->count - 1].end = x.end;
    return true;
}

/* Divides a word further. */
static bool divide(heed_ctx *c, const heed__step *k, const char *s, heed__range word,
                   heed__ranges *out) {
    size_t first = out->count, n = word.end, from = word.begin;
    bool matched = false;
    for (size_t at = from, length; at < n; at += length) {
        int32_t ch;
        ptrdiff_t end = match_at(k, s + word.begin, n - word.begin, at - word.begin);
        if (end == HEED__TOO_SLOW)
            return heed_fail(c, HEED_DATA, "the tokenizer's pattern takes too long on this text");
        if (end > 0) end += (ptrdiff_t)word.begin;
        length = heed_utf8_read(s + at, n - at, &ch);
        if (end <= (ptrdiff_t)at) continue; /* no match, or an empty one */
        if (at > from && !add(c, k, (heed__range){from, at}, k->invert, &matched, first, out))
            return false;
        from = (size_t)end;
        length = from - at;
        if (!add(c, k, (heed__range){at, from}, !k->invert, &matched, first, out)) return false;
    }
    return from == n || add(c, k, (heed__range){from, n}, k->invert, &matched, first, out);
}

bool heed__presplit(heed_ctx *c, const heed__steps *steps, const char *s, size_t n,
                    heed__ranges *out) {
    out->count = 0;
    if (n && !heed__ranges_add(c, out, 0, n)) return false;
    for (size_t i = 0; i < steps->count; i++) {
        heed__ranges next = {0};
        bool good = true;
        for (size_t j = 0; good && j < out->count; j++)
            good = divide(c, &steps->of[i], s, out->of[j], &next);
        heed__free(out->of);
        *out = next;
        if (!good) return false;
    }
    return true;
}
