/* detokenize.c -- the decoders of a tokenizer.json: tokens to text. */
#include "text/text.h"
#include "tokenizer/pipeline.h"

#include <stdlib.h>
#include <string.h>

/* Texts, one after the other, of at most so many bytes. */
typedef struct {
    heed_ctx *c;
    heed_text bytes;
    heed__ranges parts;
    size_t most;
} list;

typedef struct {
    const char *s;
    size_t n;
} view;

static view at(const list *l, size_t i) {
    heed__range r = l->parts.of[i];
    return (view){l->bytes.s + r.begin, r.end - r.begin};
}

/* Ends a part that begins at `begin`. */
static bool end_part(list *l, size_t begin) {
    return heed__ranges_add(l->c, &l->parts, begin, l->bytes.n);
}

static bool put(list *l, const char *s, size_t n) {
    size_t begin = l->bytes.n;
    return heed_text_put(&l->bytes, s, n) && end_part(l, begin);
}

static void list_free(list *l) {
    heed_text_free(&l->bytes);
    heed__free(l->parts.of);
}

static bool starts(view v, const char *s, size_t n) { return v.n >= n && memcmp(v.s, s, n) == 0; }

/* Appends `s` with each `what` replaced, up to `most` bytes. */
static bool put_replaced(heed_text *out, size_t most, view s, view what, view by) {
    while (s.n) {
        bool found = what.n && starts(s, what.s, what.n);
        if (out->n + by.n > most)
            return heed_fail(out->c, HEED_DATA,
                             "the tokenizer makes the text too long: expected at most %zu bytes "
                             "after its decoders",
                             most);
        if (!(found ? heed_text_put(out, by.s, by.n) : heed_text_put(out, s.s, 1))) return false;
        size_t n = found ? what.n : 1;
        s.s += n;
        s.n -= n;
    }
    return true;
}

/* ---- bytes ---- */

/* How many of n bytes begin a character, or could; *whole: all of it is there. */
static size_t character(const char *s, size_t n, bool *whole) {
    int32_t c;
    size_t length = heed_utf8_read(s, n, &c);
    unsigned char b = (unsigned char)s[0], second = n > 1 ? (unsigned char)s[1] : 0;
    *whole = c >= 0;
    if (c >= 0 || b < 0xC2 || b > 0xF4 || (second & 0xC0) != 0x80) return length;
    if ((b == 0xE0 && second < 0xA0) || (b == 0xED && second > 0x9F) ||
        (b == 0xF0 && second < 0x90) || (b == 0xF4 && second > 0x8F))
        return 1;
    return b >= 0xF0 && n > 2 && ((unsigned char)s[2] & 0xC0) == 0x80 ? 3 : 2;
}

/* Each longest part of bytes that is not UTF-8 becomes U+FFFD: The Unicode Standard, sec. 3.9. */
static bool put_lossy(heed_text *out, const char *s, size_t n) {
    bool whole;
    for (size_t i = 0, length; i < n; i += length) {
        length = character(s + i, n - i, &whole);
        if (!heed_text_put(out, whole ? s + i : "\xEF\xBF\xBD", whole ? length : 3)) return false;
    }
    return true;
}

static bool from_bytes(const list *in, list *out) {
    heed_text bytes = {.c = in->c};
    bool good = true;
    for (size_t i = 0; good && i < in->parts.count; i++)
        good = heed__put_char_bytes(&bytes, at(in, i).s, at(in, i).n);
    good = good && put_lossy(&out->bytes, bytes.s, bytes.n) && end_part(out, 0);
    heed_text_free(&bytes);
    return good;
}

/* The byte of "<0x41>", or -1. */
static int fallback_byte(view v) {
    char digits[3] = {0}, *end;
    if (v.n != 6 || memcmp(v.s, "<0x", 3) != 0 || v.s[5] != '>') return -1;
    memcpy(digits, v.s + 3, 2);
    long byte = strtol(digits, &end, 16);
    return *end || end == digits || digits[0] == '-' || digits[0] == '+' ? -1 : (int)byte;
}

/* Bytes in a row that are UTF-8 become that text, else each becomes U+FFFD. */
static bool from_fallback(const list *in, list *out) {
    size_t count = in->parts.count;
    for (size_t i = 0; i < count; i++) {
        size_t begin = out->bytes.n, end = i;
        for (int byte; end < count && (byte = fallback_byte(at(in, end))) >= 0; end++)
            if (!heed_text_put(&out->bytes, &(char){(char)byte}, 1)) return false;
        bool valid = heed_utf8_valid(out->bytes.s + begin, end - i) == end - i;
        if (end > i && !valid) {
            out->bytes.n = begin;
            for (; i < end; i++)
                if (!put(out, "\xEF\xBF\xBD", 3)) return false;
        } else if (end > i && !end_part(out, begin)) {
            return false;
        }
        i = end;
        if (i < count && !put(out, at(in, i).s, at(in, i).n)) return false;
    }
    return true;
}

/* ---- texts ---- */

static bool put_cleaned(heed_text *out, view v) {
    static const char *const pairs[][2] = {{" .", "."},     {" ?", "?"},           {" !", "!"},
                                           {" ,", ","},     {" ' ", "'"},          {" n't", "n't"},
                                           {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                                           {" 've", "'ve"}, {" 're", "'re"}};
    heed_text a = {.c = out->c}, b = {.c = out->c};
    bool good = heed_text_put(&a, v.s, v.n);
    for (size_t i = 0; good && i < sizeof pairs / sizeof *pairs; i++) {
        view what = {pairs[i][0], strlen(pairs[i][0])}, by = {pairs[i][1], strlen(pairs[i][1])};
        b.n = 0;
        good = put_replaced(&b, SIZE_MAX, (view){a.s, a.n}, what, by);
        heed_text swap = a;
        a = b;
        b = swap;
    }
    good = good && heed_text_put(out, a.s, a.n);
    heed_text_free(&a);
    heed_text_free(&b);
    return good;
}

static bool from_piece(const heed__step *k, view v, bool first, heed_text *out) {
    heed_text text = {.c = out->c};
    bool later = !first && k->n && starts(v, k->text, k->n);
    if (later) v.s += k->n, v.n -= k->n;
    bool good = (first || later || heed_text_put(&text, " ", 1)) && heed_text_put(&text, v.s, v.n);
    view made = {text.s, text.n};
    good = good && (k->left ? put_cleaned(out, made) : heed_text_put(out, made.s, made.n));
    heed_text_free(&text);
    return good;
}

static view stripped(const heed__step *k, view v) {
    for (int i = 0; i < k->start && starts(v, k->text, k->n); i++) v.s += k->n, v.n -= k->n;
    for (int i = 0;
         i < k->stop && v.n >= k->n && starts((view){v.s + v.n - k->n, k->n}, k->text, k->n); i++)
        v.n -= k->n;
    return v;
}

/* Appends what a part becomes. */
static bool decode_part(const heed__step *k, view v, bool first, bool last, list *l) {
    heed_text *out = &l->bytes;
    view what = {k->text, k->n}, space = {" ", 1}, none = {"", 0}, with = {k->with, k->with_n};
    switch (k->kind) {
    case HEED__FROM_PIECES:
        return from_piece(k, v, first, out);
    case HEED__FROM_PREFIX:
        return put_replaced(out, l->most, v, what, first && k->left ? none : space);
    case HEED__FROM_SUFFIX:
        return put_replaced(out, l->most, v, what, last ? none : space);
    case HEED__FROM_REPLACED:
        return put_replaced(out, l->most, v, what, with);
    default:
        break;
    }
    v = stripped(k, v);
    return heed_text_put(out, v.s, v.n);
}

static bool apply(const heed__step *k, const list *in, list *out) {
    size_t count = in->parts.count;
    if (k->kind == HEED__FROM_BYTES) return from_bytes(in, out);
    if (k->kind == HEED__FROM_FALLBACK) return from_fallback(in, out);
    if (k->kind == HEED__FUSE) return put(out, in->bytes.s ? in->bytes.s : "", in->bytes.n);
    for (size_t i = 0; i < count; i++) {
        size_t begin = out->bytes.n;
        if (!decode_part(k, at(in, i), i == 0, i + 1 == count, out) || !end_part(out, begin))
            return false;
    }
    return true;
}

/* An added token is as the normalizers leave it. */
static view text_of(const heed_tokenizer *k, int32_t id) {
    const heed__pipeline *p = k->pipeline;
    const heed__added *a = p->added_of[id] < 0 ? NULL : &p->added[p->added_of[id]];
    if (a && a->normalized) return (view){a->text, a->n};
    return (view){heed__names_text(&k->names, (size_t)id),
                  heed__names_length(&k->names, (size_t)id)};
}

bool heed__pipeline_decode(const heed_tokenizer *k, const int32_t *ids, size_t n, heed_text *out) {
    const heed__pipeline *p = k->pipeline;
    list now = {.c = k->c, .bytes.c = k->c};
    bool good = heed_text_put(&now.bytes, "", 0);
    for (size_t i = 0; good && i < n; i++) {
        if (ids[i] < 0 || (size_t)ids[i] >= k->names.count) continue;
        if (i && !p->decoders.count) good = heed_text_put(&now.bytes, " ", 1);
        view token = text_of(k, ids[i]);
        good = good && put(&now, token.s, token.n);
    }
    size_t most = now.bytes.n + heed__spare(now.bytes.n);
    for (size_t i = 0; good && i < p->decoders.count; i++) {
        list next = {.c = k->c, .bytes.c = k->c, .most = most};
        good = heed_text_put(&next.bytes, "", 0) && apply(&p->decoders.of[i], &now, &next);
        list_free(&now);
        now = next;
    }
    good = good && heed_text_put(out, now.bytes.s, now.bytes.n);
    list_free(&now);
    return good;
}
