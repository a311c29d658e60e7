/* encode.c -- text to tokens: added tokens are found first; what lies between them is normalised
 * (Unicode's normal forms, lower case, marks, replaced texts) and split into words, which the model
 * divides: by merges (byte-pair encoding: Sennrich et al. 2016, sec. 3.2; over bytes: Radford et
 * al. 2019, sec. 2.2), by longest match or as a whole, as Hugging Face's models do. Each byte of a
 * normalised text knows the part of the text that it was made from.
 */
#include "tokenizer/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- where texts may be cut ---- */

static bool has_space(const char *s, size_t n) {
    int32_t c;
    for (size_t i = 0; i < n; i += heed_utf8_read(s + i, n - i, &c)) {
        heed_utf8_read(s + i, n - i, &c);
        if (heed__in_class(HEED__SPACE, c)) return true;
    }
    return false;
}

/* Whether a step does the same to both sides of white space that a letter comes before, as to the
 * whole. *splits: it divides them. */
static bool is_local(const heed__step *k, bool *splits) {
    switch (k->kind) {
    case HEED__BY_GPT2:
    case HEED__BY_WORDS:
        *splits = true;
        return true;
    case HEED__BY_CLASS:
        *splits |= k->class == HEED__SPACE || k->class == HEED__ANY;
        return true;
    case HEED__REPLACE:
        return !has_space(k->text, k->n);
    default:
        return k->kind <= HEED__LOWER;
    }
}

heed__cutting heed__cut_of(const heed_tokenizer *k) {
    bool splits = false, local = true;
    if (k->preset && k->kind != HEED__BPE)
        return k->kind >= HEED__WORD ? HEED__CUT_WORDS : HEED__CUT_CHARACTERS;
    for (size_t i = 0; i < k->normalizers.count; i++)
        local &= is_local(&k->normalizers.of[i], &splits);
    for (size_t i = 0; i < k->splitters.count; i++) local &= is_local(&k->splitters.of[i], &splits);
    for (size_t i = 0; i < k->added_count; i++)
        local &= !k->added[i].rstrip && !has_space(k->added[i].text, k->added[i].n);
    return local && splits ? HEED__CUT_SPACES : HEED__CUT_NOWHERE;
}

/* ---- normalizers ---- */

void heed__spelling_free(heed__spelling *s) {
    if (!s->own) return;
    heed__free(s->own);
    heed__free(s->from);
    *s = (heed__spelling){.c = s->c};
}

static inline heed__origin origin_of(const heed__spelling *from, size_t at, size_t end) {
    if (!from->from) return (heed__origin){(uint32_t)at, (uint32_t)end};
    return (heed__origin){from->from[at].begin, from->from[end - 1].end};
}

/* Appends bytes that were made from at to end of `from`, which is not empty. */
static bool make(const heed__spelling *from, size_t at, size_t end, const char *bytes, size_t n,
                 heed__spelling *out) {
    size_t need = out->n + n;
    heed__origin origin = origin_of(from, at, end);
    if (need > out->most)
        return heed_fail(out->c, HEED_DATA,
                         "the tokenizer makes the text too long: expected at most %zu bytes after "
                         "its normalizers",
                         out->most);
    if (need >= out->capacity || need >= out->from_capacity)
        if (!heed__grow(out->c, &out->own, &out->capacity, need + 32, 1) ||
            !heed__grow(out->c, &out->from, &out->from_capacity, need + 32, sizeof origin))
            return false;
    out->s = out->own;
    for (size_t i = 0; i < n; i++) {
        out->own[out->n] = bytes[i];
        out->from[out->n++] = origin;
    }
    return true;
}

/* Appends the characters at to end of `from`, as they are. */
static bool keep(const heed__spelling *from, size_t at, size_t end, heed__spelling *out) {
    int32_t c;
    for (size_t length; at < end; at += length) {
        length = heed_utf8_read(from->s + at, end - at, &c);
        if (!make(from, at, at + length, from->s + at, length, out)) return false;
    }
    return true;
}

/* ---- by characters ---- */

/* Most ideographs: no normalizer but one changes them, and to look that up would take its time. */
static bool is_plain_chinese(int32_t c) { return c >= 0x3400 && c < 0xA000; }

/* What a character becomes; returns how many. */
static int change(heed__step_kind kind, int32_t c, int32_t to[HEED__DECOMPOSED]) {
    int n = 0;
    bool ascii = c >= ' ' && c < 127;
    to[0] = ascii && kind == HEED__LOWER && c >= 'A' && c <= 'Z' ? c | 32 : c;
    if (ascii || (is_plain_chinese(c) && kind != HEED__CHINESE)) return 1;
    switch (kind) {
    case HEED__CLEAN:
        if (heed__is_space(c)) to[0] = ' ';
        return !heed__is_dropped(c);
    case HEED__NFD:
        return heed__decompose(c, to);
    case HEED__UNACCENT:
        return !heed__is_mark(c);
    case HEED__UNMARK:
        return !heed__in_class(HEED__MARK, c);
    case HEED__CHINESE:
        if (!heed__is_ideograph(c)) return 1;
        to[n++] = ' ';
        to[n++] = c;
        to[n++] = ' ';
        return n;
    default:
        to[n++] = heed__lower(c);
        if (c == 0x130) to[n++] = 0x307;
        return n;
    }
}

static bool by_characters(const heed__step *k, const heed__spelling *from, heed__spelling *out) {
    int32_t c, to[HEED__DECOMPOSED];
    char text[4 * HEED__DECOMPOSED];
    for (size_t at = 0, length; at < from->n; at += length) {
        length = heed_utf8_read(from->s + at, from->n - at, &c);
        size_t n = 0;
        int count = c < 0 ? 0 : change(k->kind, c, to);
        for (int i = 0; i < count; i++) n += heed__utf8_write(to[i], text + n);
        bool as_it_is = c < 0 && k->kind != HEED__CLEAN;
        if (!(as_it_is ? keep(from, at, at + length, out)
                       : make(from, at, at + length, text, n, out)))
            return false;
    }
    return true;
}

/* ---- normal forms ---- */

/* A character that may change together with those before it. The halfwidth sound marks of kana
 * are letters, but what they become are marks. */
static bool goes_on(int32_t c) {
    if (c == 0xFF9E || c == 0xFF9F) return true;
    return c >= 0x300 && !is_plain_chinese(c) &&
           (heed__in_class(HEED__MARK, c) || (c >= 0x1160 && c <= 0x11FF));
}

static bool compose(heed__step_kind kind, const heed__spelling *from, size_t at, size_t end,
                    heed__spelling *out) {
    unsigned compat = kind >= HEED__NFKC ? UTF8PROC_COMPAT : 0;
    bool joins = kind == HEED__NFC || kind == HEED__NFKC;
    utf8proc_uint8_t *made = NULL;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)from->s + at, (utf8proc_ssize_t)(end - at), &made,
                     (utf8proc_option_t)(UTF8PROC_STABLE | compat) |
                         (joins ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE));
    bool same = n == (utf8proc_ssize_t)(end - at) && memcmp(made, from->s + at, end - at) == 0;
    bool good = n < 0 || same ? keep(from, at, end, out)
                              : make(from, at, end, (const char *)made, (size_t)n, out);
    free(made);
    return good;
}

static bool to_normal_form(const heed__step *k, const heed__spelling *from, heed__spelling *out) {
    enum { MOST_BYTES = 1 << 13 }; /* ordering marks takes the square of their number */
    int32_t c;
    size_t start = 0;
    for (size_t at = 0, length; at < from->n; at += length) {
        length = heed_utf8_read(from->s + at, from->n - at, &c);
        bool plain = (unsigned char)from->s[start] < 128 && at == start + 1;
        if (at - start > MOST_BYTES)
            return heed_fail(from->c, HEED_DATA,
                             "a character of the text has too many marks: expected at most %d "
                             "bytes, which the tokenizer normalizes together",
                             MOST_BYTES);
        if (at == start || (c >= 0 && goes_on(c))) continue;
        if (!(plain ? keep(from, start, at, out) : compose(k->kind, from, start, at, out)))
            return false;
        start = at;
    }
    return start == from->n || compose(k->kind, from, start, from->n, out);
}

/* What the steps, each of single characters, make of one; returns how many, at most FOLDED, or -1:
 * they have to be applied one by one. */
enum { FOLDED = 64 };
static int fold(const heed__steps *steps, int32_t c, int32_t to[FOLDED]) {
    int32_t from[FOLDED];
    int count = 1;
    to[0] = c;
    for (size_t i = 0; i < steps->count && count; i++) {
        heed__step_kind kind = steps->of[i].kind;
        int made = 0;
        if (count == 1) {
            count = change(kind, to[0], to);
            continue;
        }
        memcpy(from, to, (size_t)count * sizeof *to);
        for (int j = 0; j < count; j++) {
            if (made > FOLDED - HEED__DECOMPOSED) return -1;
            made += change(kind, from[j], to + made);
        }
        count = made;
    }
    return count;
}

/* Whether each step is of single characters, unless what they become has to be ordered. */
static bool folds(const heed__steps *steps) {
    for (size_t i = 0; i < steps->count; i++) {
        heed__step_kind k = steps->of[i].kind;
        if (k > HEED__LOWER || (k >= HEED__NFC && k <= HEED__NFKD && k != HEED__NFD)) return false;
    }
    return true;
}

/* Applies all steps to each character, if that is the same: *same. */
static bool fold_all(const heed__steps *steps, const heed__spelling *from, heed__spelling *out,
                     bool *same) {
    int32_t c, to[FOLDED];
    char text[4 * FOLDED];
    *same = folds(steps);
    for (size_t at = 0, length; *same && at < from->n; at += length) {
        length = heed_utf8_read(from->s + at, from->n - at, &c);
        int count = c >= 0 && !goes_on(c) ? fold(steps, c, to) : -1;
        size_t n = 0;
        for (int i = 0; i < count; i++) n += heed__utf8_write(to[i], text + n);
        *same = count >= 0;
        if (*same && !make(from, at, at + length, text, n, out)) return false;
    }
    return true;
}

/* ---- texts ---- */

static bool replace(const heed__step *k, const heed__spelling *from, heed__spelling *out) {
    for (size_t at = 0; at < from->n;) {
        bool found = k->n <= from->n - at && memcmp(from->s + at, k->text, k->n) == 0;
        size_t end = at + (found ? k->n : 1);
        while (!found && end < from->n && ((unsigned char)from->s[end] & 0xC0) == 0x80) end++;
        if (!(found ? make(from, at, end, k->with, k->with_n, out) : keep(from, at, end, out)))
            return false;
        at = end;
    }
    return true;
}

static bool prepend(const heed__step *k, const heed__spelling *from, bool first,
                    heed__spelling *out) {
    bool begins = k->n <= from->n && memcmp(from->s, k->text, k->n) == 0;
    bool wanted = from->n && (k->kind == HEED__PREPEND || !begins) &&
                  (k->kind != HEED__PREFIX_FIRST || first);
    int32_t c;
    size_t length = from->n ? heed_utf8_read(from->s, from->n, &c) : 0;
    return (!wanted || make(from, 0, length, k->text, k->n, out)) && keep(from, 0, from->n, out);
}

static bool trim(const heed__step *k, const heed__spelling *from, heed__spelling *out) {
    size_t begin = 0, end = 0, length;
    bool inside = !k->left;
    int32_t c;
    for (size_t at = 0; at < from->n; at += length) {
        length = heed_utf8_read(from->s + at, from->n - at, &c);
        bool blank = heed__in_class(HEED__SPACE, c);
        if (!inside && !blank) begin = at;
        inside |= !blank;
        if (!blank || (!k->right && inside)) end = at + length;
    }
    return !inside || end <= begin || keep(from, begin, end, out);
}

static bool normalize(const heed__step *k, bool first, const heed__spelling *from,
                      heed__spelling *out) {
    switch (k->kind) {
    case HEED__REPLACE:
        return replace(k, from, out);
    case HEED__PREPEND:
    case HEED__PREFIX:
    case HEED__PREFIX_FIRST:
        return prepend(k, from, first, out);
    case HEED__TRIM:
        return trim(k, from, out);
    case HEED__NFC:
    case HEED__NFD:
    case HEED__NFKC:
    case HEED__NFKD:
        return to_normal_form(k, from, out);
    default:
        return by_characters(k, from, out);
    }
}

static bool too_long(heed_ctx *c) {
    return heed_fail(c, HEED_DATA, "text is too long to be normalised: expected under 4 GB");
}

bool heed__respell(const heed__steps *steps, bool first, heed__spelling *s, size_t *spare,
                   heed__spelling *scratch) {
    size_t begun = s->n, longest = s->n;
    heed__spelling next = *scratch;
    bool good = !steps->count || s->n <= UINT32_MAX || too_long(s->c), at_once = false;
    *scratch = (heed__spelling){.c = s->c};
    s->most = s->n + *spare;
    for (size_t i = 0; good && i < steps->count; i++) {
        next.c = s->c;
        next.s = "";
        next.n = 0;
        next.most = s->most;
        if (i == 0) good = fold_all(steps, s, &next, &at_once);
        if (!at_once) next.n = 0, good = good && normalize(&steps->of[i], first, s, &next);
        heed__spelling before = *s;
        *s = next;
        next = before.own ? before : (heed__spelling){.c = s->c};
        if (s->n > longest) longest = s->n;
        if (at_once) break;
    }
    heed__spelling_free(&next);
    *spare -= longest - begun;
    return good;
}

static bool respell_words(const heed__step *k, size_t base, heed__spelling *s, heed__ranges *words,
                          size_t *spare) {
    heed__spelling out = {.c = s->c, .s = "", .most = s->n + *spare};
    bool good = s->n <= UINT32_MAX || too_long(s->c);
    for (size_t i = 0; good && i < words->count; i++) {
        heed__range *w = &words->of[i];
        heed__spelling word = {.c = s->c, .s = s->s + w->begin, .n = w->end - w->begin};
        size_t begin = out.n, start = s->from ? s->from[w->begin].begin : w->begin;
        if (s->from) word.from = s->from + w->begin;
        good = normalize(k, base + start == 0, &word, &out);
        for (size_t j = begin; !s->from && j < out.n; j++) {
            out.from[j].begin += (uint32_t)w->begin;
            out.from[j].end += (uint32_t)w->begin;
        }
        *w = (heed__range){begin, out.n};
    }
    *spare -= out.n > s->n ? out.n - s->n : 0;
    heed__spelling_free(s);
    *s = out;
    return good;
}
/* ---- splitters ---- */

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
static bool divide_range(division *d, const char *text, heed__range word) {
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
    for (size_t i = 0; good && i < words->count; i++) good = divide_range(&d, s, words->of[i]);
    heed__search_end(&d.search);
    return good;
}

static bool is_class(const heed__step *k, heed__class class, heed__behavior behavior) {
    return k->kind == HEED__BY_CLASS && k->class == class && k->behavior == behavior && !k->invert;
}

static bool divides_as_bert(const heed__steps *s) {
    return s->count == 2 && is_class(s->of, HEED__SPACE, HEED__REMOVED) &&
           is_class(s->of + 1, HEED__PUNCTUATION, HEED__ISOLATED);
}

static bool divides_characters(const heed__steps *s) {
    return s->count == 1 && is_class(s->of, HEED__ANY, HEED__ISOLATED);
}

/* Divides a spelling into words[0] by the steps, which may make words longer. */
static bool presplit(const heed__steps *steps, size_t base, heed__spelling *s, size_t *spare,
                     heed__ranges words[2]) {
    words->count = 0;
    bool good = s->n == 0 || heed__ranges_add(s->c, words, 0, s->n);
    for (size_t i = 0; good && i < steps->count; i++) {
        const heed__step *k = &steps->of[i];
        if (k->kind < HEED__BY_CLASS) {
            good = respell_words(k, base, s, words, spare);
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
/* ---- merges ---- */

bool heed__merge_add(heed_tokenizer *k, int32_t a, int32_t b, int32_t joined) {
    int32_t pair[2] = {a, b};
    size_t before = k->merges.count;
    int32_t rank = heed__names_add(&k->merges, (const char *)pair, sizeof pair);
    if (rank < 0 || (size_t)rank < before ||
        !heed__grow(k->c, &k->joined, &k->joined_capacity, before + 1, sizeof *k->joined))
        return false;
    k->joined[rank] = joined;
    return true;
}

typedef struct {
    int32_t id, previous, next; /* -1: none */
    uint32_t bytes;             /* 0: it was merged into another */
} symbol;
typedef struct {
    int32_t rank, at;
} candidate;
typedef struct {
    const heed_tokenizer *k;
    symbol *symbols;
    candidate *heap; /* lowest rank first, then the first one in the word */
    size_t count;
} merging;

static bool comes_before(candidate x, candidate y) {
    return x.rank != y.rank ? x.rank < y.rank : x.at < y.at;
}

static int32_t rank_of(const merging *m, int32_t at) {
    const symbol *s = &m->symbols[at];
    if (at < 0 || s->next < 0) return -1;
    int32_t pair[2] = {s->id, m->symbols[s->next].id};
    return heed__names_look(&m->k->merges, (const char *)pair, sizeof pair);
}

static void offer(merging *m, int32_t at) {
    candidate x = {at < 0 ? -1 : rank_of(m, at), at};
    if (x.rank < 0) return;
    size_t i = m->count++;
    for (; i && comes_before(x, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = x;
}

static candidate take(merging *m) {
    candidate top = m->heap[0], x = m->heap[--m->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < m->count; i = child) {
        if (child + 1 < m->count && comes_before(m->heap[child + 1], m->heap[child])) child++;
        if (!comes_before(m->heap[child], x)) break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = x;
    return top;
}

/* Joins the symbol at `at` and the next one. */
static void join(merging *m, int32_t at, int32_t joined) {
    symbol *a = &m->symbols[at], *b = &m->symbols[a->next];
    a->id = joined;
    a->bytes += b->bytes;
    b->bytes = 0;
    a->next = b->next;
    if (a->next >= 0) m->symbols[a->next].previous = at;
    offer(m, a->previous);
    offer(m, at);
}

static void merge_all(merging *m, size_t n) {
    const int32_t *joined = m->k->joined;
    for (size_t i = 0; i < n; i++) offer(m, (int32_t)i);
    while (m->count) {
        candidate top = take(m);
        int32_t rank = m->symbols[top.at].bytes ? rank_of(m, top.at) : -1;
        if (rank >= 0 && joined[rank] == joined[top.rank]) join(m, top.at, joined[rank]);
    }
}

/* ---- a word to symbols ---- */

typedef struct {
    symbol *out;
    size_t count;
    uint32_t unknown; /* bytes of an unknown symbol that is not added yet */
    uint32_t skipped; /* bytes before the next symbol that have no token */
} spelled;

static void put_symbol(spelled *s, int32_t id, uint32_t bytes) {
    int32_t i = (int32_t)s->count++;
    s->out[i] = (symbol){id, i - 1, i + 1, bytes + s->skipped};
    s->skipped = 0;
}

static void put_missing(const heed_tokenizer *k, spelled *s, uint32_t bytes) {
    if (k->unk < 0) {
        s->skipped += bytes;
    } else {
        if (s->unknown && !k->fuse_unk) {
            put_symbol(s, k->unk, s->unknown);
            s->unknown = 0;
        }
        s->unknown += bytes;
    }
}

static int32_t look(const heed_tokenizer *k, const char *s, size_t n) {
    int32_t id = heed__names_look(&k->names, s, n);
    return id < k->own ? id : -1;
}

/* The token of a character alone, with the prefix and suffix of its place. */
static int32_t token_of(const heed_tokenizer *k, const char *s, size_t n, bool first, bool last) {
    const char *before = first || !k->prefix ? "" : k->prefix;
    const char *after = last && k->suffix ? k->suffix : "";
    char coded[4];
    if (!*before && !*after && k->bytes) return k->byte_ids[(unsigned char)*s];
    if (!*before && !*after) return look(k, s, n);
    if (k->bytes) {
        n = heed__utf8_write(heed__byte_char((unsigned char)*s), coded);
        s = coded;
    }
    char text[2 * HEED__TOKEN_BYTES + 8];
    int length = snprintf(text, sizeof text, "%s%.*s%s", before, (int)n, s, after);
    return look(k, text, (size_t)length);
}

static bool falls_back(const heed_tokenizer *k, const char *s, size_t n, spelled *out) {
    if (!k->byte_fallback || k->bytes) return false;
    for (size_t i = 0; i < n; i++)
        if (k->byte_ids[(unsigned char)s[i]] < 0) return false;
    for (size_t i = 0; i < n; i++) put_symbol(out, k->byte_ids[(unsigned char)s[i]], 1);
    return true;
}

static size_t spell(const heed_tokenizer *k, const char *s, size_t n, symbol *symbols) {
    spelled out = {.out = symbols};
    int32_t c;
    for (size_t at = 0, length = 1; at < n; at += length) {
        if (!k->bytes) length = heed_utf8_read(s + at, n - at, &c);
        int32_t id = token_of(k, s + at, length, at == 0, at + length == n);
        if (id < 0 && falls_back(k, s + at, length, &out)) continue;
        if (id >= 0 && out.unknown) put_symbol(&out, k->unk, out.unknown), out.unknown = 0;
        if (id >= 0)
            put_symbol(&out, id, (uint32_t)length);
        else
            put_missing(k, &out, (uint32_t)length);
    }
    if (out.unknown) put_symbol(&out, k->unk, out.unknown);
    if (out.count) symbols[out.count - 1].next = -1;
    return out.count;
}

static bool divide_bpe(const heed_tokenizer *k, const char *word, size_t n, heed__word_piece *out,
                       size_t *count) {
    enum { SHORT = 128 };
    symbol near[SHORT];
    candidate heap[3 * SHORT]; /* each symbol once, and two for each join */
    merging m = {k, near, heap, 0};
    if (n > INT32_MAX / 4) return heed_fail(k->c, HEED_DATA, "a word of 500 MB or more");
    if (n > SHORT) {
        m.symbols = heed__alloc_array(k->c, n, sizeof *m.symbols);
        m.heap = heed__alloc_array(k->c, n, 3 * sizeof *m.heap);
    }
    bool good = m.symbols && m.heap;
    if (good) {
        size_t symbols = spell(k, word, n, m.symbols);
        merge_all(&m, symbols);
        for (int32_t i = symbols ? 0 : -1; i >= 0; i = m.symbols[i].next)
            out[(*count)++] = (heed__word_piece){m.symbols[i].id, m.symbols[i].bytes};
    }
    if (n > SHORT) {
        heed__free(m.symbols);
        heed__free(m.heap);
    }
    return good;
}

/* ---- longest match, and whole words ---- */

/* The longest token that n bytes of a word begin with, after the prefix of later pieces; *length:
 * its bytes of the word. */
static int32_t longest_piece(const heed_tokenizer *k, const char *s, size_t n, bool later,
                             size_t *length) {
    const char *prefix = later && k->prefix ? k->prefix : "", *text = s;
    size_t before = strlen(prefix), most = k->longest > before ? k->longest - before : 0;
    char prefixed[2 * HEED__TOKEN_BYTES];
    uint64_t hash[HEED__TOKEN_BYTES]; /* of the text up to the end of each character */
    if (n > most) n = most;
    if (before) {
        memcpy(prefixed, prefix, before);
        memcpy(prefixed + before, s, n);
        text = prefixed;
    }
    hash[0] = before ? heed__hash64(prefix, before, 0) : 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ((unsigned char)s[end] & 0xC0) == 0x80;) end++;
        hash[end] = heed__hash64(s + i, end - i, hash[i]);
    }
    for (*length = n; *length; --*length) {
        if (*length < n && ((unsigned char)s[*length] & 0xC0) == 0x80) continue;
        int32_t id = heed__names_find(&k->names, text, before + *length, hash[*length]);
        if (id >= 0 && id < k->own) return id;
    }
    return -1;
}

/* False: a part has no token, and so the word is unknown. */
static bool divide_longest(const heed_tokenizer *k, const char *word, size_t n,
                           heed__word_piece *out, size_t *count) {
    if (n > k->most_chars && heed__utf8_count(word, n) > k->most_chars) return false;
    for (size_t at = 0, length; at < n; at += length) {
        int32_t id = longest_piece(k, word + at, n - at, at > 0, &length);
        if (id < 0) return false;
        out[(*count)++] = (heed__word_piece){id, (uint32_t)length};
    }
    return true;
}

static bool divide_word(const heed_tokenizer *k, const char *word, size_t n, heed__word_piece *out,
                        size_t *count) {
    int32_t whole = -1;
    *count = 0;
    if (k->ignore_merges && k->bytes) {
        heed_text text = {.c = k->c};
        if (heed__put_byte_chars(&text, word, n)) whole = look(k, text.s, text.n);
        heed_text_free(&text);
    } else if (k->ignore_merges || k->model == HEED__WORD) {
        whole = look(k, word, n);
    }
    if (whole < 0 && k->model == HEED__BPE) return divide_bpe(k, word, n, out, count);
    if (whole < 0 && k->model == HEED__WORDPIECE && divide_longest(k, word, n, out, count))
        return true;
    out[0] = (heed__word_piece){whole < 0 ? k->unk : whole, (uint32_t)n};
    *count = 1;
    return true;
}
/* ---- words that occurred before ---- */

/* Keeps the pieces of the word that was added to `words` last. */
static bool memo_keep(heed__memo *m, const heed__word_piece *pieces, size_t count) {
    size_t number = m->words.count - 1, at = number ? m->end[number - 1] : 0;
    if (!heed__grow(m->words.c, &m->end, &m->end_capacity, number + 1, sizeof *m->end) ||
        !heed__grow(m->words.c, &m->pieces, &m->piece_capacity, at + count, sizeof *m->pieces))
        return false;
    memcpy(m->pieces + at, pieces, count * sizeof *pieces);
    m->end[number] = at + count;
    return true;
}

static const heed__word_piece *memo_recall(const heed__memo *m, const char *word, size_t n,
                                           size_t *count) {
    int32_t i = heed__names_look(&m->words, word, n);
    if (i < 0) return NULL;
    size_t at = i ? m->end[i - 1] : 0;
    *count = m->end[i] - at;
    return m->pieces + at;
}

void heed__memo_free(heed__memo *m) {
    heed__names_free(&m->words);
    heed__free(m->end);
    heed__free(m->pieces);
}

/* ---- added tokens ---- */

typedef struct {
    const heed__added *token;
    size_t begin;
} place;

/* Places of added tokens in a text, the first one last; how far it has been searched, and how far
 * it belongs to tokens: also the white space after one, which may begin another. */
typedef struct {
    place *of;
    size_t count, capacity, searched, used;
} search;

typedef struct {
    const heed_tokenizer *k;
    heed__memo *memo;
    heed__special_text special;
    heed__sink *sink; /* of tokens; or, to count words: */
    heed__counts *counts;
    search found[2]; /* [1]: in the normalised text */
    heed__ranges words[2];
    heed__word_piece *pieces; /* of a word that is not short */
    size_t piece_capacity;
    heed__spelling word, scratch; /* word: that is being read, by characters */
    size_t base;                  /* of the spelling, in the text */
    size_t spare; /* bytes by which the spellings may still be longer than the text */
} encoder;

static unsigned char byte_from_end(const heed__added *a, size_t at) {
    return (unsigned char)a->text[a->n - 1 - at];
}

static int compare(const void *x, const void *y) {
    const heed__added *a = x, *b = y;
    if (a->normalized != b->normalized) return a->normalized ? 1 : -1;
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (byte_from_end(a, i) != byte_from_end(b, i))
            return byte_from_end(a, i) < byte_from_end(b, i) ? -1 : 1;
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    if (a->special != b->special) return a->special ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* The state after one more byte, towards the start of a text. */
static uint32_t next_state(const heed__automaton *m, uint32_t at, unsigned char byte) {
    for (; at; at = m->of[at].fail) {
        uint32_t low = m->of[at].first, end = m->of[at + 1].first;
        for (uint32_t high = end, middle; low < high;) {
            middle = low + (high - low) / 2;
            if (m->of[middle].byte < byte)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < end && m->of[low].byte == byte) return low;
    }
    return m->of_byte[byte];
}

static bool add_state(heed_ctx *c, heed__automaton *m, heed__finder_state state) {
    if (m->count >= INT32_MAX) return heed_fail(c, HEED_DATA, "added tokens of 2 GB or more");
    if (!heed__grow(c, &m->of, &m->capacity, m->count + 1, sizeof *m->of)) return false;
    m->of[m->count++] = state;
    return true;
}

/* Makes the states of the sorted tokens from `low` to `high`. Until its turn, a state holds in
 * first, fail and token: the state that it is one byte longer than, and from where to where the
 * tokens are that end with it. */
static bool build(heed_tokenizer *k, heed__automaton *m, size_t low, size_t high) {
    size_t length = 0, longer = 1; /* of states; where longer ones begin */
    m->count = 0;
    bool good = add_state(k->c, m, (heed__finder_state){0, (uint32_t)low, (int32_t)high, 0});
    for (size_t i = 0; good && i < m->count; i++) {
        if (i == longer) length++, longer = m->count;
        heed__finder_state *s = &m->of[i];
        uint32_t before = s->first;
        low = s->fail;
        high = (size_t)s->token;
        s->first = (uint32_t)m->count;
        s->fail = length > 1 ? next_state(m, m->of[before].fail, s->byte) : 0;
        s->token = i ? m->of[s->fail].token : -1;
        if (low < high && k->added[low].n == length) s->token = (int32_t)low;
        while (low < high && k->added[low].n == length) low++; /* the first of equal ones counts */
        for (size_t end; good && low < high; low = end) {
            unsigned char byte = byte_from_end(&k->added[low], length);
            for (end = low + 1; end < high && byte_from_end(&k->added[end], length) == byte;) end++;
            if (!i) m->of_byte[byte] = (uint32_t)m->count;
            good = add_state(k->c, m,
                             (heed__finder_state){(uint32_t)i, (uint32_t)low, (int32_t)end, byte});
        }
    }
    return good && add_state(k->c, m, (heed__finder_state){(uint32_t)m->count, 0, -1, 0});
}

/* Finds what the steps do to most texts, unless added tokens are found between them. */
static void find_path(heed_tokenizer *k) {
    const heed__steps *n = &k->normalizers, *s = &k->splitters;
    for (size_t i = 0; i < n->count; i++) {
        k->lower |= n->of[i].kind == HEED__LOWER;
        k->ideographs |= n->of[i].kind == HEED__CHINESE;
    }
    bool bytes = !n->count && !s->count && k->bytes && !k->merges.count && !k->ignore_merges &&
                 !k->prefix && !k->suffix;
    for (int i = 0; i < 256; i++) bytes &= k->byte_ids[i] >= 0;
    k->path = k->added_count && k->added[k->added_count - 1].normalized      ? HEED__BY_STEPS
              : !n->count && k->model == HEED__WORD && divides_characters(s) ? HEED__CHARACTERS
              : bytes                                                        ? HEED__BYTES
              : folds(n) && divides_as_bert(s)                               ? HEED__BERT_WORDS
                                                                             : HEED__BY_STEPS;
}

bool heed__encode_prepare(heed_tokenizer *k) {
    size_t written = 0;
    for (size_t i = 0; i < k->names.count; i++)
        if (heed__names_length(&k->names, i) > k->longest)
            k->longest = heed__names_length(&k->names, i);
    for (int i = 0; i < 256; i++) {
        char text[8];
        if (i < 128) k->ascii[i] = look(k, &(char){(char)i}, 1);
        k->byte_ids[i] = -1;
        if (!k->bytes && !k->byte_fallback) continue;
        size_t n = (size_t)snprintf(text, sizeof text, "<0x%02X>", (unsigned)i);
        if (k->bytes) n = heed__utf8_write(heed__byte_char(i), text);
        k->byte_ids[i] = heed__names_look(&k->names, text, n);
    }
    if (k->added_count) qsort(k->added, k->added_count, sizeof *k->added, compare);
    while (written < k->added_count && !k->added[written].normalized) written++;
    for (size_t i = 0; i < k->added_count; i++) k->plain_added |= !k->added[i].special;
    find_path(k);
    return build(k, &k->finders[0], 0, written) &&
           build(k, &k->finders[1], written, k->added_count);
}

/* The last place before *at of a text where an added token begins, and the longest one there; NULL:
 * none. *state: of the search, 0 at the end of the text. */
static const heed__added *added_before(const heed_tokenizer *k, bool normalized, const char *s,
                                       size_t *at, uint32_t *state) {
    const heed__automaton *m = &k->finders[normalized];
    while (*at > 0) {
        *state = next_state(m, *state, (unsigned char)s[--*at]);
        if (*state && m->of[*state].token >= 0) return &k->added[m->of[*state].token];
    }
    return NULL;
}

bool heed__finds_special(const heed_tokenizer *k, const char *text, size_t n) {
    for (int normalized = 0; normalized < 2; normalized++) {
        uint32_t state = 0;
        const heed__added *a = NULL;
        for (size_t at = n; (a = added_before(k, normalized, text, &at, &state));)
            if (a->special) return true;
    }
    return false;
}

/* The character before s[at]; -1 at the start. */
static int32_t char_before(const char *s, size_t at, size_t *length) {
    int32_t c = -1;
    *length = 0;
    if (!at) return -1;
    *length = 1;
    while (*length < 4 && *length < at && ((unsigned char)s[at - *length] & 0xC0) == 0x80)
        ++*length;
    if (heed_utf8_read(s + at - *length, *length, &c) != *length) *length = 1;
    return c;
}

static bool stands_alone(const char *s, size_t n, heed__range at) {
    size_t length;
    int32_t after = -1;
    if (at.end < n) heed_utf8_read(s + at.end, n - at.end, &after);
    return !heed__in_class(HEED__WORD_CHAR, char_before(s, at.begin, &length)) &&
           !heed__in_class(HEED__WORD_CHAR, after);
}

/* Adds the white space around a token, but not before `from`; of a token with lstrip nothing is
 * left if all of it lies before. */
static heed__range widen(const heed__added *a, const char *s, size_t n, heed__range at,
                         size_t from) {
    size_t length;
    int32_t c;
    while (a->lstrip && at.begin > from &&
           heed__in_class(HEED__SPACE, char_before(s, at.begin, &length)))
        at.begin -= length;
    if (a->lstrip && at.begin < from) at.begin = from;
    while (a->rstrip && at.end < n) {
        length = heed_utf8_read(s + at.end, n - at.end, &c);
        if (!heed__in_class(HEED__SPACE, c)) break;
        at.end += length;
    }
    return at;
}

/* Finds all places of added tokens in the normalised text or in the text itself. It is read from
 * its end: then one pass knows the longest token at each place, and none is read twice. */
static bool find_added(const encoder *e, bool normalized, const char *s, size_t n, search *out) {
    uint32_t state = 0;
    const heed__added *a;
    out->count = out->searched = out->used = 0;
    if (e->special == HEED__SPECIAL_IS_TEXT && !e->k->plain_added) return true;
    for (size_t at = n; (a = added_before(e->k, normalized, s, &at, &state));) {
        if (!heed__grow(e->k->c, &out->of, &out->capacity, out->count + 1, sizeof *out->of))
            return false;
        out->of[out->count++] = (place){a, at};
    }
    return true;
}

/* The next added token, and its place; NULL, and the end of the text: none. */
static const heed__added *added_next(const encoder *e, const char *s, size_t n, search *to,
                                     heed__range *at) {
    while (to->count) {
        place found = to->of[--to->count];
        const heed__added *a = found.token;
        if (found.begin < to->searched) continue;
        *at = (heed__range){found.begin, found.begin + a->n};
        to->searched = at->end;
        bool text = a->special && e->special == HEED__SPECIAL_IS_TEXT;
        if (text || (a->single_word && !stands_alone(s, n, *at))) continue;
        *at = widen(a, s, n, *at, to->used);
        return a;
    }
    *at = (heed__range){n, n};
    return NULL;
}

/* Where a token begins: not in what belongs to the one before, unless all of it is there. */
static size_t begin_of(heed__range at, size_t used) {
    size_t begin = at.begin > used ? at.begin : used;
    return begin < at.end ? begin : at.begin;
}

/* ---- words ---- */

/* Puts a token of bytes begin to end of a spelling. */
static bool put(const encoder *e, const heed__spelling *s, int32_t id, size_t begin, size_t end) {
    size_t first = begin, last = end;
    if (s->from && end > begin) first = s->from[begin].begin, last = s->from[end - 1].end;
    return e->sink->put(e->sink, id, e->base + first, e->base + last);
}

enum { SHORT = 64 }; /* bytes of a word whose pieces are kept */

/* The pieces of a word that did not occur before; NULL: an error. */
static const heed__word_piece *divide(encoder *e, const char *text, size_t n, size_t *count) {
    enum { LIMIT = 1 << 16 };
    heed__memo *m = e->memo;
    bool keeps = m && n <= SHORT && m->words.count < LIMIT;
    size_t most = n > SHORT ? n : SHORT;
    return heed__grow(e->k->c, &e->pieces, &e->piece_capacity, most, sizeof *e->pieces) &&
                   (!keeps || heed__names_add(&m->words, text, n) >= 0) &&
                   divide_word(e->k, text, n, e->pieces, count) &&
                   (!keeps || memo_keep(m, e->pieces, *count))
               ? e->pieces
               : NULL;
}

static bool put_pieces(encoder *e, const heed__spelling *s, heed__range word) {
    size_t n = word.end - word.begin, count;
    const char *text = s->s + word.begin;
    const heed__word_piece *of =
        e->memo && n <= SHORT ? memo_recall(e->memo, text, n, &count) : NULL;
    if (!of && !(of = divide(e, text, n, &count))) return false;
    for (size_t i = 0, at = word.begin; i < count; at += of[i++].bytes)
        if (!put(e, s, of[i].id, at, at + of[i].bytes)) return false;
    return true;
}

/* Puts a word, or counts it. */
static inline bool put_word(encoder *e, const heed__spelling *s, heed__range word) {
    size_t n = word.end - word.begin;
    const char *text = s->s + word.begin;
    if (!e->counts) return put_pieces(e, s, word);
    return (n > HEED__WORD_CHARS && e->k->model != HEED__BPE &&
            heed__utf8_count(text, n) > HEED__WORD_CHARS) ||
           heed__count_word(e->counts, text, n);
}

static bool is_alphanumeric(unsigned char c) {
    return (unsigned char)((c | 32) - 'a') < 26 || (unsigned char)(c - '0') < 10;
}

/* Vertical tabs and form feeds are dropped as controls. */
static bool is_blank(unsigned char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool is_ascii_point(int32_t c) {
    return c > 32 && c < 127 && !is_alphanumeric((unsigned char)c);
}

/* Ends the word that was read by characters. */
static bool end_word(encoder *e) {
    size_t n = e->word.n;
    e->word.n = 0;
    return !n || put_word(e, &e->word, (heed__range){0, n});
}

/* Takes a character of n bytes that was made from a part of the text. */
static bool take_character(encoder *e, const char *s, size_t n, int32_t c, heed__range from) {
    heed__spelling *w = &e->word;
    bool space = c == ' ' || ((c < 32 || c > 127) && heed__is_space(c));
    bool alone = c < 128 ? is_ascii_point(c) : heed__in_class(HEED__PUNCTUATION, c);
    if ((space || alone) && !end_word(e)) return false;
    if (space) return true;
    if (!w->n) e->base = from.begin;
    if (w->n + n > w->capacity || w->n + n > w->from_capacity)
        if (!heed__grow(e->k->c, &w->own, &w->capacity, w->n + 64, 1) ||
            !heed__grow(e->k->c, &w->from, &w->from_capacity, w->n + 64, sizeof *w->from))
            return false;
    w->s = w->own;
    for (size_t i = 0; i < n; i++, w->n++) {
        w->own[w->n] = s[i];
        w->from[w->n] =
            (heed__origin){(uint32_t)(from.begin - e->base), (uint32_t)(from.end - e->base)};
    }
    return !alone || end_word(e);
}

/* Takes the characters of a spelling, which begins at `base` of the text. */
static bool take_all(encoder *e, const heed__spelling *s, size_t base) {
    bool good = true;
    int32_t c;
    for (size_t i = 0, length; good && i < s->n; i += length) {
        length = heed_utf8_read(s->s + i, s->n - i, &c);
        heed__origin from = origin_of(s, i, i + length);
        good = take_character(e, s->s + i, length, c,
                              (heed__range){base + from.begin, base + from.end});
    }
    return good;
}

/* Puts the words of a part of a spelling between added tokens. */
static bool put_part(encoder *e, const heed__spelling *of, heed__range part) {
    heed__spelling s = {.c = e->k->c, .s = of->s + part.begin, .n = part.end - part.begin};
    size_t base = e->base;
    if (of->from)
        s.from = of->from + part.begin;
    else
        e->base += part.begin;
    bool good, bert = divides_as_bert(&e->k->splitters);
    if (bert)
        good = take_all(e, &s, e->base) && end_word(e);
    else
        good = presplit(&e->k->splitters, e->base, &s, &e->spare, e->words);
    for (size_t i = 0; good && !bert && i < e->words->count; i++)
        good = put_word(e, &s, e->words->of[i]);
    heed__spelling_free(&s);
    e->base = base;
    return good;
}

static bool put_text(encoder *e, const heed__spelling *of, heed__range part);

/* Puts a spelling, which is the text itself or, between the added tokens of that, what it became:
 * its added tokens, and what lies between them. */
static bool put_all(encoder *e, bool normalized, const heed__spelling *s) {
    search *to = &e->found[normalized];
    heed__range at;
    bool good = find_added(e, normalized, s->s, s->n, to);
    for (const heed__added *a = NULL; good; to->used = at.end) {
        a = added_next(e, s->s, s->n, to, &at);
        if (at.begin > to->used)
            good = (normalized ? put_part : put_text)(e, s, (heed__range){to->used, at.begin});
        if (!a) break;
        if (good && at.begin < at.end) good = put(e, s, a->id, begin_of(at, to->used), at.end);
    }
    return good;
}

/* ---- texts ---- */

/* Puts a part of the text by all steps. */
static bool put_steps(encoder *e, const char *text, heed__range part) {
    heed__spelling s = {.c = e->k->c, .s = text + part.begin, .n = part.end - part.begin};
    e->base = part.begin;
    bool good = heed__respell(&e->k->normalizers, part.begin == 0, &s, &e->spare, &e->scratch) &&
                put_all(e, true, &s);
    if (s.own) heed__spelling_free(&e->scratch), e->scratch = s;
    return good;
}

static bool put_characters(encoder *e, const char *text, heed__range part) {
    const heed_tokenizer *k = e->k;
    if (e->counts)
        return heed__count_letters(e->counts, text + part.begin, part.end - part.begin, 1);
    for (size_t at = part.begin, length; at < part.end; at += length) {
        int32_t id = (unsigned char)text[at], c;
        length = 1;
        if (id < 128) {
            id = k->ascii[id];
        } else {
            length = heed_utf8_read(text + at, part.end - at, &c);
            id = look(k, text + at, length);
        }
        if (!e->sink->put(e->sink, id < 0 ? k->unk : id, at, at + length)) return false;
    }
    return true;
}

static bool put_bytes(encoder *e, const char *text, heed__range part) {
    for (size_t i = part.begin; i < part.end; i++)
        if (!e->sink->put(e->sink, e->k->byte_ids[(unsigned char)text[i]], i, i + 1)) return false;
    return true;
}

/* The bytes of a character that may change together with those before it, also because it is
 * dropped between them and later ones; 0: it does not. */
static size_t joined_at(const char *s, size_t n) {
    unsigned char b = (unsigned char)*s;
    int32_t c;
    if ((b >= ' ' && b < 127) || is_blank(b) || (b >= 0xE4 && b <= 0xE9)) return 0;
    size_t length = heed_utf8_read(s, n, &c);
    return c < 0 || goes_on(c) || heed__is_dropped(c) ? length : 0;
}

/* Takes the characters at `at`, to which the normalizers are applied together. */
static bool take_together(encoder *e, const char *text, heed__range at) {
    heed__spelling s = {.c = e->k->c, .s = text + at.begin, .n = at.end - at.begin};
    bool good = heed__respell(&e->k->normalizers, at.begin == 0, &s, &e->spare, &e->scratch);
    good = good && take_all(e, &s, at.begin);
    if (s.own) heed__spelling_free(&e->scratch), e->scratch = s;
    return good;
}

/* Takes the characters from *at on until a word ends. */
static bool put_folded(encoder *e, const char *text, size_t *at, size_t end) {
    bool good = true;
    do {
        int32_t c, to[FOLDED];
        size_t begin = *at, length = heed_utf8_read(text + begin, end - begin, &c), more;
        bool together = c < 0;
        for (*at += length; *at < end && (more = joined_at(text + *at, end - *at)); *at += more)
            together = true;
        heed__range from = {begin, *at};
        if (!together && e->k->ideographs && is_plain_chinese(c)) {
            good = end_word(e);
            e->base = begin;
            good = good && put_word(e, &(heed__spelling){.s = text + begin, .n = length},
                                    (heed__range){0, length});
            continue;
        }
        bool ascii = !together && c >= ' ' && c < 127;
        int count = together ? -1 : ascii ? 1 : fold(&e->k->normalizers, c, to);
        if (ascii) to[0] = e->k->lower && c >= 'A' && c <= 'Z' ? c | 32 : c;
        if (count < 0) good = take_together(e, text, from);
        for (int i = 0; good && i < count; i++) {
            char s[4];
            size_t n = heed__utf8_write(to[i], s);
            good = take_character(e, s, n, to[i], from);
        }
    } while (good && e->word.n && *at < end);
    return good && (*at < end || end_word(e));
}

/* Puts a part of the text by words as BERT's: those of ASCII letters and digits, and ASCII
 * punctuation, at once, others by characters. */
static bool put_bert_words(encoder *e, const char *text, heed__range part) {
    char word[HEED__WORD_CHARS];
    bool good = true, lower = e->k->lower;
    for (size_t at = part.begin, end = part.end; good;) {
        while (at < end && is_blank((unsigned char)text[at])) at++;
        if (at == end) break;
        size_t n = 0;
        for (; at + n < end && n < sizeof word && is_alphanumeric((unsigned char)text[at + n]);
             n++) {
            bool capital = lower && text[at + n] >= 'A' && text[at + n] <= 'Z';
            word[n] = (char)(capital ? text[at + n] | 32 : text[at + n]);
        }
        unsigned char next = at + n < end ? (unsigned char)text[at + n] : ' ';
        bool punctuation = is_ascii_point(next);
        if (n == 0 && punctuation) word[n++] = (char)next;
        if (n && (punctuation || is_blank(next))) {
            e->base = at;
            good = put_word(e, &(heed__spelling){.s = word, .n = n}, (heed__range){0, n});
            at += n;
        } else {
            good = put_folded(e, text, &at, end);
        }
    }
    return good;
}

static bool put_text(encoder *e, const heed__spelling *of, heed__range part) {
    static bool (*const by_path[])(encoder * e, const char *text,
                                   heed__range part) = {[HEED__BY_STEPS] = put_steps,
                                                        [HEED__CHARACTERS] = put_characters,
                                                        [HEED__BYTES] = put_bytes,
                                                        [HEED__BERT_WORDS] = put_bert_words};
    bool good = by_path[e->k->path](e, of->s, part);
    e->base = 0;
    return good;
}

static bool run(encoder *e, const char *text, size_t n) {
    e->spare = heed__spare(n);
    bool good = put_all(e, false, &(heed__spelling){.s = text, .n = n});
    heed__free(e->found[0].of);
    heed__free(e->found[1].of);
    heed__spelling_free(&e->scratch);
    heed__spelling_free(&e->word);
    heed__free(e->words[0].of);
    heed__free(e->words[1].of);
    heed__free(e->pieces);
    return good;
}

bool heed__encode_by(const heed_tokenizer *k, heed__memo *memo, heed__special_text special,
                     const char *text, size_t n, heed__sink *sink) {
    if (memo) memo->words.c = k->c;
    return run(&(encoder){.k = k, .memo = memo, .special = special, .sink = sink}, text, n);
}

bool heed__count_words(const heed_tokenizer *k, const char *text, size_t n, heed__counts *out) {
    return heed__letters_end(out, run(&(encoder){.k = k, .counts = out}, text, n));
}

bool heed__encode(const heed_tokenizer *k, const char *text, size_t n, heed__sink *sink) {
    return heed__encode_by(k, NULL, HEED__SPECIAL_IS_TEXT, text, n, sink);
}

bool heed__tokens_put(heed_tokens *t, int32_t id, size_t begin, size_t end) {
    size_t need = t->count + 1, a = t->capacity, b = t->capacity, capacity = t->capacity;
    if (!heed__grow(t->c, &t->ids, &a, need, sizeof *t->ids) ||
        !heed__grow(t->c, &t->begin, &b, need, sizeof *t->begin) ||
        !heed__grow(t->c, &t->end, &capacity, need, sizeof *t->end))
        return false;
    t->capacity = capacity;
    t->ids[t->count] = id;
    t->begin[t->count] = begin;
    t->end[t->count++] = end;
    return true;
}

typedef struct {
    heed__sink sink;
    heed_tokens *out;
} collector;

static bool collect(heed__sink *sink, int32_t id, size_t begin, size_t end) {
    return heed__tokens_put(((collector *)sink)->out, id, begin, end);
}

static bool encode(const heed_tokenizer *k, heed__special_text special, const char *text, size_t n,
                   heed_tokens *out) {
    if (!k || !text || !out || heed__stopped(k->c)) return false;
    out->c = k->c;
    return heed__encode_by(k, NULL, special, text, n, &(collector){{collect}, out}.sink);
}

bool heed_encode(const heed_tokenizer *k, const char *text, size_t n, heed_tokens *out) {
    return encode(k, HEED__SPECIAL_IS_TOKEN, text, n, out);
}

bool heed_encode_text(const heed_tokenizer *k, const char *text, size_t n, heed_tokens *out) {
    return encode(k, HEED__SPECIAL_IS_TEXT, text, n, out);
}

void heed_tokens_free(heed_tokens *t) {
    if (!t) return;
    heed__free(t->ids);
    heed__free(t->begin);
    heed__free(t->end);
    *t = (heed_tokens){.c = t->c};
}
