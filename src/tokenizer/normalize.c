/* normalize.c -- the normalizers of a tokenizer.json: Unicode's normal forms, lower case, marks,
 * replaced texts. Each byte of the result knows the part of the text that it was made from. */
#include "text/text.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/words.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

void heed__spelling_free(heed__spelling *s) {
    if (!s->own) return;
    heed__free(s->own);
    heed__free(s->begin);
    heed__free(s->end);
    *s = (heed__spelling){.c = s->c};
}

static bool put(heed__spelling *out, const char *bytes, size_t n, uint32_t begin, uint32_t end) {
    size_t need = out->n + n;
    if (need > out->most)
        return heed_fail(out->c, HEED_DATA,
                         "the tokenizer makes the text too long: expected at most %zu bytes after "
                         "its normalizers",
                         out->most);
    if (!heed__grow(out->c, &out->own, &out->capacity, need + 1, 1) ||
        !heed__grow(out->c, &out->begin, &out->begin_capacity, need + 1, sizeof *out->begin) ||
        !heed__grow(out->c, &out->end, &out->end_capacity, need + 1, sizeof *out->end))
        return false;
    out->s = out->own;
    for (size_t i = 0; i < n; i++) {
        out->own[out->n] = bytes[i];
        out->begin[out->n] = begin;
        out->end[out->n++] = end;
    }
    return true;
}

/* Bytes at to end of `from`, as they are. */
static bool keep(const heed__spelling *from, size_t at, size_t end, heed__spelling *out) {
    int32_t c;
    for (size_t length; at < end; at += length) {
        length = heed_utf8_read(from->s + at, end - at, &c);
        uint32_t first = from->begin ? from->begin[at] : (uint32_t)at;
        uint32_t last = from->end ? from->end[at + length - 1] : (uint32_t)(at + length);
        if (!put(out, from->s + at, length, first, last)) return false;
    }
    return true;
}

/* Bytes that were made from at to end of `from`, which is not empty. */
static bool make(const heed__spelling *from, size_t at, size_t end, const char *bytes, size_t n,
                 heed__spelling *out) {
    return put(out, bytes, n, from->begin ? from->begin[at] : (uint32_t)at,
               from->end ? from->end[end - 1] : (uint32_t)end);
}

/* ---- by characters ---- */

/* What a character becomes; the length of `text`. */
static size_t change(heed__step_kind kind, int32_t c, char text[12]) {
    if (kind == HEED__CLEAN && heed__is_dropped(c)) return 0;
    if (kind == HEED__CLEAN && heed__is_space(c)) c = ' ';
    if (kind == HEED__UNACCENT && heed__is_mark(c)) return 0;
    if (kind == HEED__UNMARK && heed__in_class(HEED__MARK, c)) return 0;
    size_t n = kind == HEED__CHINESE && heed__is_ideograph(c);
    text[0] = ' ';
    n += heed_utf8_write(kind == HEED__LOWER ? heed__lower(c) : c, text + n);
    if (kind == HEED__CHINESE && heed__is_ideograph(c)) text[n++] = ' ';
    if (kind == HEED__LOWER && c == 0x130) n += heed_utf8_write(0x307, text + n);
    return n;
}

static bool by_characters(const heed__step *k, const heed__spelling *from, heed__spelling *out) {
    int32_t c;
    char text[12];
    for (size_t at = 0, length; at < from->n; at += length) {
        length = heed_utf8_read(from->s + at, from->n - at, &c);
        bool good = c < 0 ? keep(from, at, at + length, out)
                          : make(from, at, at + length, text, change(k->kind, c, text), out);
        if (!good) return false;
    }
    return true;
}

/* ---- normal forms ---- */

/* A character that may change together with those before it. The halfwidth sound marks of kana
 * are letters, but what they become are marks. */
static bool goes_on(int32_t c) {
    if (c == 0xFF9E || c == 0xFF9F) return true;
    return c >= 0x300 && (heed__in_class(HEED__MARK, c) || (c >= 0x1160 && c <= 0x11FF));
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
    bool wanted =
        from->n && (k->kind == HEED__PREPEND || !begins) && (k->kind != HEED__FIRST || first);
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
    case HEED__FIRST:
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

bool heed__respell(const heed__steps *steps, bool first, heed__spelling *s, size_t *spare) {
    size_t begun = s->n, longest = s->n;
    s->most = s->n + *spare;
    if (steps->count && s->n > UINT32_MAX) return too_long(s->c);
    for (size_t i = 0; i < steps->count; i++) {
        heed__spelling out = {.c = s->c, .most = s->most};
        bool good = apply(&steps->of[i], first, s, &out);
        heed__spelling_free(s);
        *s = out;
        if (!good) return false;
        if (s->n > longest) longest = s->n;
    }
    *spare -= longest - begun;
    return true;
}

bool heed__respell_words(const heed__step *k, size_t base, heed__spelling *s, heed__ranges *words,
                         size_t *spare) {
    heed__spelling out = {.c = s->c, .most = s->n + *spare};
    bool good = s->n <= UINT32_MAX || too_long(s->c);
    for (size_t i = 0; good && i < words->count; i++) {
        heed__range *w = &words->of[i];
        heed__spelling word = {.c = s->c, .s = s->s + w->begin, .n = w->end - w->begin};
        size_t begin = out.n, start = s->begin ? s->begin[w->begin] : w->begin;
        if (s->begin) word.begin = s->begin + w->begin, word.end = s->end + w->begin;
        good = apply(k, base + start == 0, &word, &out);
        for (size_t j = begin; !s->begin && j < out.n; j++) {
            out.begin[j] += (uint32_t)w->begin;
            out.end[j] += (uint32_t)w->begin;
        }
        *w = (heed__range){begin, out.n};
    }
    *spare -= out.n > s->n ? out.n - s->n : 0;
    heed__spelling_free(s);
    *s = out;
    return good;
}
