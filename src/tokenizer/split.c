/* split.c -- the splitters ("pre-tokenizers"): divide texts into words. */
#include "tokenizer/tokenizer.h"

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

/* The end of the word at `at` by GPT-2's pattern: Radford et al. 2019, encoder.py. */
static size_t gpt2_end(const char *s, size_t n, size_t at) {
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

/* A division of a text by one step. */
typedef struct {
    heed_ctx *c;
    const heed__step *k;
    heed__search search; /* of a pattern */
    bool matched;        /* the part before was a match */
    size_t first;        /* in `out`: of the word */
    heed__ranges *out;
} division;

/* The end of the match at `at` of a word, or -1. */
static ptrdiff_t match_at(division *d, const char *s, size_t n, size_t at) {
    int32_t c;
    const heed__step *k = d->k;
    size_t length = heed_utf8_read(s + at, n - at, &c), end = at + length;
    switch (k->kind) {
    case HEED__BY_CLASS:
        return heed__in_class(k->class, c) ? (ptrdiff_t)end : -1;
    case HEED__BY_TEXT:
        return k->n <= n - at && memcmp(s + at, k->text, k->n) == 0 ? (ptrdiff_t)(at + k->n) : -1;
    case HEED__BY_PATTERN:
        return heed__search_at(&d->search, at);
    case HEED__BY_GPT2:
        return (ptrdiff_t)gpt2_end(s, n, at);
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

/* Adds what matches, or lies between matches, as the behaviour has it. */
static bool add(division *d, size_t begin, size_t end, bool match) {
    const heed__step *k = d->k;
    heed__ranges *out = d->out;
    bool joins = false, before = d->matched, any = out->count > d->first;
    d->matched = match;
    if (k->behavior == HEED__REMOVED && match) return true;
    if (k->behavior == HEED__WITH_PREVIOUS) joins = match && !before && any;
    if (k->behavior == HEED__WITH_NEXT) joins = !match && before && any;
    if (k->behavior == HEED__CONTIGUOUS) joins = match == before && any;
    if (!joins) return heed__ranges_add(d->c, out, begin, end);
    out->of[out->count - 1].end = end;
    return true;
}

/* Empty matches divide, but are no words. */
static void drop_empty(division *d) {
    size_t kept = d->first;
    for (size_t i = d->first; i < d->out->count; i++)
        if (d->out->of[i].begin < d->out->of[i].end) d->out->of[kept++] = d->out->of[i];
    d->out->count = kept;
}

/* Divides a word further. An empty match counts, except where the match before it ends. */
static bool divide(division *d, const char *text, heed__range word) {
    const char *s = text + word.begin;
    bool invert = d->k->invert, begun = false;
    size_t n = word.end - word.begin, from = 0;
    d->first = d->out->count;
    d->matched = false;
    if (d->k->kind == HEED__BY_PATTERN) heed__search_text(&d->search, s, n);
    for (size_t at = 0, length; at < n; at += length) {
        int32_t c;
        ptrdiff_t end = match_at(d, s, n, at);
        if (end == HEED__TOO_SLOW)
            return heed_fail(d->c, HEED_DATA,
                             "the tokenizer's pattern takes too long on this text");
        length = heed_utf8_read(s + at, n - at, &c);
        if (end < 0 || ((size_t)end == at && begun && at == from)) continue;
        if (at > from && !add(d, word.begin + from, word.begin + at, invert)) return false;
        if (!add(d, word.begin + at, word.begin + (size_t)end, !invert)) return false;
        from = (size_t)end;
        begun = true;
        if (from > at) length = from - at;
    }
    if (from < n && !add(d, word.begin + from, word.end, invert)) return false;
    drop_empty(d);
    return true;
}

/* Divides all words of a text of n bytes by a step. */
static bool divide_all(heed_ctx *c, const heed__step *k, const char *s, size_t n,
                       const heed__ranges *words, heed__ranges *out) {
    division d = {.c = c, .k = k, .out = out};
    bool good = k->kind != HEED__BY_PATTERN || heed__search_begin(c, k->pattern, n, &d.search);
    for (size_t i = 0; good && i < words->count; i++) good = divide(&d, s, words->of[i]);
    heed__search_end(&d.search);
    return good;
}

static bool is_class(const heed__step *k, heed__class class, heed__behavior behavior) {
    return k->kind == HEED__BY_CLASS && k->class == class && k->behavior == behavior && !k->invert;
}

bool heed__divides_as_bert(const heed__steps *s) {
    return s->count == 2 && is_class(s->of, HEED__SPACE, HEED__REMOVED) &&
           is_class(s->of + 1, HEED__PUNCTUATION, HEED__ISOLATED);
}

bool heed__divides_characters(const heed__steps *s) {
    return s->count == 1 && is_class(s->of, HEED__ANY, HEED__ISOLATED);
}

/* What dividing by white space and then by punctuation gives. */
static bool by_punctuation(heed_ctx *c, const char *s, size_t n, heed__ranges *out) {
    int32_t character;
    size_t begin = 0;
    bool good = true;
    for (size_t at = 0, length; good && at < n; at += length) {
        length = heed_utf8_read(s + at, n - at, &character);
        bool space = heed__in_class(HEED__SPACE, character);
        if (!space && !heed__in_class(HEED__PUNCTUATION, character)) continue;
        if (begin < at) good = heed__ranges_add(c, out, begin, at);
        if (!space) good = good && heed__ranges_add(c, out, at, at + length);
        begin = at + length;
    }
    return good && (begin == n || heed__ranges_add(c, out, begin, n));
}

bool heed__presplit(const heed__steps *steps, size_t base, heed__spelling *s, size_t *spare,
                    heed__ranges words[2]) {
    words->count = 0;
    if (heed__divides_as_bert(steps)) return by_punctuation(s->c, s->s, s->n, words);
    bool good = s->n == 0 || heed__ranges_add(s->c, words, 0, s->n);
    for (size_t i = 0; good && i < steps->count; i++) {
        const heed__step *k = &steps->of[i];
        if (k->kind < HEED__BY_CLASS) {
            good = heed__respell_words(k, base, s, words, spare);
            continue;
        }
        words[1].count = 0;
        good = divide_all(s->c, k, s->s, s->n, words, words + 1);
        heed__ranges swap = words[0];
        words[0] = words[1];
        words[1] = swap;
    }
    return good;
}
