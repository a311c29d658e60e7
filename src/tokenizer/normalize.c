/* normalize.c -- the normalizers: Unicode's normal forms, lower case, marks, replaced texts. Each
 * byte of the result knows the part of the text that it was made from. */
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

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
    bool ascii = c >= ' ' && c < 127, chinese = is_plain_chinese(c);
    to[0] = ascii && kind == HEED__LOWER && c >= 'A' && c <= 'Z' ? c | 32 : c;
    if (ascii || (chinese && kind != HEED__CHINESE)) return 1;
    if (kind == HEED__NFD) return heed__decompose(c, to);
    if (kind == HEED__CLEAN && heed__is_dropped(c)) return 0;
    if (kind == HEED__CLEAN && heed__is_space(c)) c = ' ';
    if (kind == HEED__UNACCENT && heed__is_mark(c)) return 0;
    if (kind == HEED__UNMARK && heed__in_class(HEED__MARK, c)) return 0;
    bool alone = kind == HEED__CHINESE && heed__is_ideograph(c);
    if (alone) to[n++] = ' ';
    to[n++] = kind == HEED__LOWER ? heed__lower(c) : c;
    if (alone) to[n++] = ' ';
    if (kind == HEED__LOWER && c == 0x130) to[n++] = 0x307;
    return n;
}

static bool by_characters(const heed__step *k, const heed__spelling *from, heed__spelling *out) {
    int32_t c, to[HEED__DECOMPOSED];
    char text[4 * HEED__DECOMPOSED];
    for (size_t at = 0, length; at < from->n; at += length) {
        length = heed_utf8_read(from->s + at, from->n - at, &c);
        size_t n = 0;
        int count = c < 0 ? 0 : change(k->kind, c, to);
        for (int i = 0; i < count; i++) n += heed_utf8_write(to[i], text + n);
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

/* Applies all steps to each character, where that is the same: if each is of characters alone, and
 * the text has none that NFD would order. */
static bool by_all(const heed__steps *steps, const heed__spelling *from, heed__spelling *out,
                   bool *same) {
    enum { MOST = 64 };
    int32_t of[2][MOST], *now = of[0];
    char text[4 * MOST];
    for (size_t i = 0; *same && i < steps->count; i++) {
        heed__step_kind kind = steps->of[i].kind;
        *same = kind <= HEED__LOWER && (kind < HEED__NFC || kind > HEED__NFKD || kind == HEED__NFD);
    }
    for (size_t at = 0, length; *same && at < from->n; at += length) {
        length = heed_utf8_read(from->s + at, from->n - at, now);
        *same = *now >= 0 && !goes_on(*now);
        int count = 1;
        for (size_t i = 0; *same && i < steps->count; i++) {
            int made = 0;
            int32_t *next = now == of[0] ? of[1] : of[0];
            for (int j = 0; j < count && (*same = made <= MOST - HEED__DECOMPOSED); j++)
                made += change(steps->of[i].kind, now[j], next + made);
            count = made;
            now = next;
        }
        size_t n = 0;
        for (int i = 0; *same && i < count; i++) n += heed_utf8_write(now[i], text + n);
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

static bool apply(const heed__step *k, bool first, const heed__spelling *from,
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
    bool good = !steps->count || s->n <= UINT32_MAX || too_long(s->c), at_once = true;
    *scratch = (heed__spelling){.c = s->c};
    s->most = s->n + *spare;
    for (size_t i = 0; good && i < steps->count; i++) {
        next.c = s->c;
        next.s = "";
        next.n = 0;
        next.most = s->most;
        if (i == 0) good = by_all(steps, s, &next, &at_once);
        if (i || !at_once) next.n = 0, good = good && apply(&steps->of[i], first, s, &next);
        heed__spelling before = *s;
        *s = next;
        next = before.own ? before : (heed__spelling){.c = s->c};
        if (s->n > longest) longest = s->n;
        if (i == 0 && at_once) break;
    }
    heed__spelling_free(&next);
    *spare -= longest - begun;
    return good;
}

bool heed__respell_words(const heed__step *k, size_t base, heed__spelling *s, heed__ranges *words,
                         size_t *spare) {
    heed__spelling out = {.c = s->c, .s = "", .most = s->n + *spare};
    bool good = s->n <= UINT32_MAX || too_long(s->c);
    for (size_t i = 0; good && i < words->count; i++) {
        heed__range *w = &words->of[i];
        heed__spelling word = {.c = s->c, .s = s->s + w->begin, .n = w->end - w->begin};
        size_t begin = out.n, start = s->from ? s->from[w->begin].begin : w->begin;
        if (s->from) word.from = s->from + w->begin;
        good = apply(k, base + start == 0, &word, &out);
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
