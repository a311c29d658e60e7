/* decode.c -- the decoders: tokens to text. */
#include "tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *s;
    size_t n;
} view;

/* Texts: those of n tokens, or parts of bytes, one after the other, of at most so many bytes. */
typedef struct {
    heed_ctx *c;
    const heed_tokenizer *k;
    const int32_t *ids; /* NULL: parts */
    size_t count;
    heed_text bytes;
    heed__ranges parts;
    size_t most;
} list;

/* An added token is as the normalizers leave it. */
static view text_of(const heed_tokenizer *k, int32_t id) {
    const heed__added *a = k->added_of[id] < 0 ? NULL : &k->added[k->added_of[id]];
    if (a && a->normalized) return (view){a->text, a->n};
    return (view){heed__names_text(&k->names, (size_t)id),
                  heed__names_length(&k->names, (size_t)id)};
}

static view at(const list *l, size_t i) {
    if (l->ids) return text_of(l->k, l->ids[i]);
    heed__range r = l->parts.of[i];
    return (view){l->bytes.s + r.begin, r.end - r.begin};
}

/* Ends a part that begins at `begin`. */
static bool end_part(list *l, size_t begin) {
    l->count++;
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
    bool whole, good = true;
    for (size_t i = 0; good && i < n;) {
        size_t valid = heed__utf8_valid(s + i, n - i);
        good = heed_text_put(out, s + i, valid);
        i += valid;
        if (good && i < n) good = heed_text_put(out, "\xEF\xBF\xBD", 3);
        if (i < n) i += character(s + i, n - i, &whole);
    }
    return good;
}

/* Of tokens, the bytes are known, except those of normalized ones and, of a byte tokenizer, of some
 * that are shown otherwise: "<0xE2>". */
static bool from_bytes(const list *in, list *out) {
    heed_text bytes = {.c = in->c};
    bool good = true, single = in->ids && in->k->kind == HEED__BYTE;
    for (size_t i = 0; good && i < in->count; i++) {
        if (single && in->ids[i] < 256 && bytes.n + 1 < bytes.capacity) {
            bytes.s[bytes.n++] = (char)in->ids[i];
            continue;
        }
        bool odd = single && in->ids[i] < 256;
        view v = odd ? (view){&(char){(char)in->ids[i]}, 1} : at(in, i);
        bool shown = in->ids && in->k->bytes && !odd &&
                     v.s == heed__names_text(&in->k->names, (size_t)in->ids[i]);
        if (shown) v.s = heed__shown(in->k, (size_t)in->ids[i], &v.n);
        good =
            odd || shown ? heed_text_put(&bytes, v.s, v.n) : heed__put_char_bytes(&bytes, v.s, v.n);
    }
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
    size_t count = in->count;
    for (size_t i = 0; i < count; i++) {
        size_t begin = out->bytes.n, end = i;
        for (int byte; end < count && (byte = fallback_byte(at(in, end))) >= 0; end++)
            if (!heed_text_put(&out->bytes, &(char){(char)byte}, 1)) return false;
        bool valid = heed__utf8_valid(out->bytes.s + begin, end - i) == end - i;
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

/* ---- words ---- */

static bool is_one_of(const char *s, size_t n, const char *characters) {
    return n == 1 && strchr(characters, *s);
}

typedef struct {
    const char *s;
    size_t n;
    bool joins;  /* a later piece of a word */
    bool bound;  /* an apostrophe comes before it */
    bool closes; /* an apostrophe joined to both neighbours */
} part;

static part part_of(const heed__step *k, const list *l, size_t i) {
    if (i >= l->count) return (part){.s = ""};
    view v = at(l, i);
    bool joins = k->n && v.n > k->n && starts(v, k->text, k->n);
    return (part){.s = v.s + (joins ? k->n : 0), .n = v.n - (joins ? k->n : 0), .joins = joins};
}

static int32_t first_of(const part *p) {
    int32_t c;
    heed_utf8_read(p->s, p->n, &c);
    return c;
}

static int32_t last_of(const part *p) {
    size_t at = p->n;
    while (at > 1 && ((unsigned char)p->s[at - 1] & 0xC0) == 0x80) at--;
    int32_t c;
    heed_utf8_read(p->s + at - 1, p->n - at + 1, &c);
    return c;
}

static bool is_apostrophe(const part *p) {
    return is_one_of(p->s, p->n, "'") || (p->n == 3 && memcmp(p->s, "\u2019", 3) == 0);
}

/* don't, it's, I'm, we've, they're, I'd, you'll, aujourd'hui */
static bool is_contraction(const part *p) {
    static const char *const ends[] = {"t", "s", "m", "ve", "re", "d", "ll", "hui"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (p->n == strlen(ends[i]) && memcmp(p->s, ends[i], p->n) == 0) return true;
    return false;
}

/* l'eau, qu'il: French drops a vowel. */
static bool is_elided(const part *p) {
    if (p->n > 1) return is_one_of(p->s + p->n - 2, 1, "qQ") && p->s[p->n - 1] == 'u';
    return !p->joins && !p->bound && is_one_of(p->s, p->n, "cdjlmnstCDJLMNST");
}

/* Tokens are separated by a space unless punctuation attaches: `word.` `(word` `a-b` `don't`.
 * Chinese and Japanese are written without spaces, also where another script begins. */
static bool spaced(const part *a, const part *b, const part *next) {
    if (heed__is_unspaced(last_of(a)) || heed__is_unspaced(first_of(b))) return false;
    if (b->joins || is_one_of(b->s, b->n, ".,!?;:)]}%") || is_one_of(a->s, a->n, "([{$#@"))
        return false;
    if (a->closes || b->closes || (is_apostrophe(b) && is_contraction(next))) return false;
    if (is_apostrophe(a) && is_contraction(b)) return false;
    return !is_one_of(a->s, a->n, "-/_") && !is_one_of(b->s, b->n, "-/_");
}

static bool from_words(const heed__step *k, const list *in, list *out) {
    part before = {.s = ""}, now = before, next = part_of(k, in, 0);
    bool good = true;
    for (size_t i = 0; good && i < in->count; i++, before = now) {
        now = next;
        now.bound = is_apostrophe(&before);
        now.closes = is_apostrophe(&now) && is_elided(&before);
        next = part_of(k, in, i + 1);
        good = (!before.n || !spaced(&before, &now, &next) || heed_text_put(&out->bytes, " ", 1)) &&
               heed_text_put(&out->bytes, now.s, now.n);
    }
    return good && end_part(out, 0);
}

/* ---- all ---- */

/* Appends what a part becomes. */
static bool decode_part(const heed__step *k, view v, bool first, bool last, list *l) {
    if (k->kind == HEED__FROM_PIECES) return from_piece(k, v, first, &l->bytes);
    if (k->kind == HEED__FROM_REPLACED) {
        bool drops = (first && k->left) || (last && k->right);
        return put_replaced(&l->bytes, l->most, v, (view){k->text, k->n},
                            drops ? (view){"", 0} : (view){k->with, k->with_n});
    }
    v = stripped(k, v);
    return heed_text_put(&l->bytes, v.s, v.n);
}

static bool apply(const heed__step *k, const list *in, list *out) {
    bool good = true;
    if (k->kind == HEED__FROM_BYTES) return from_bytes(in, out);
    if (k->kind == HEED__FROM_WORDS) return from_words(k, in, out);
    if (k->kind == HEED__FROM_FALLBACK) return from_fallback(in, out);
    for (size_t i = 0; good && i < in->count; i++) {
        size_t begin = out->bytes.n;
        view v = at(in, i);
        good = k->kind == HEED__FUSE
                   ? heed_text_put(&out->bytes, v.s, v.n)
                   : decode_part(k, v, i == 0, i + 1 == in->count, out) && end_part(out, begin);
    }
    return good && (k->kind != HEED__FUSE || end_part(out, 0));
}

/* The bytes that decoders may make of tokens. */
static size_t most_bytes(const list *tokens) {
    size_t bytes = 0;
    for (size_t i = 0; i < tokens->count; i++) bytes += at(tokens, i).n;
    return bytes + heed__spare(bytes);
}

bool heed_decode(const heed_tokenizer *k, const int32_t *ids, size_t n, heed_text *out) {
    if (!k || !out || (n && !ids) || heed__stopped(k->c)) return false;
    if (!out->c) out->c = k->c;
    list now = {.c = k->c, .k = k, .bytes.c = k->c};
    int32_t *tokens = heed__alloc_untouched(k->c, n, sizeof *tokens);
    for (size_t i = 0; tokens && i < n; i++)
        if (ids[i] >= 0 && (size_t)ids[i] < k->names.count) tokens[now.count++] = ids[i];
    size_t most = 0;
    bool good = (now.ids = tokens) != NULL;
    for (size_t i = 0; good && i < k->decoders.count; i++)
        if (k->decoders.of[i].kind == HEED__FROM_REPLACED && !most) most = most_bytes(&now);
    for (size_t i = 0; good && i < k->decoders.count; i++) {
        list next = {.c = k->c, .bytes.c = k->c, .most = most};
        good = heed_text_put(&next.bytes, "", 0) && apply(&k->decoders.of[i], &now, &next);
        list_free(&now);
        now = next;
    }
    for (size_t i = 0; good && !k->decoders.count && i < now.count; i++)
        good = (!i || heed_text_put(&now.bytes, " ", 1)) &&
               heed_text_put(&now.bytes, at(&now, i).s, at(&now, i).n);
    good = good && heed_text_put(out, now.bytes.s, now.bytes.n);
    heed__free(tokens);
    list_free(&now);
    return good;
}
