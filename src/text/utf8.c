/* utf8.c -- reads UTF-8 strictly, and writes it; Unicode properties. Only this file, classes.c and
 * the tokenizers' encode.c use utf8proc. */
#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>

size_t heed_utf8_read(const char *s, size_t n, int32_t *character) {
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* by length; below: overlong */
    const unsigned char *p = (const unsigned char *)s;
    int32_t c = p[0];
    *character = c;
    if (c < 0x80) return 1;
    *character = -1;
    size_t len = c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (!len || len > n) return 1;
    c &= 0x7F >> len;
    for (size_t i = 1; i < len; i++) { /* ends at a zero byte, which continues no character */
        if ((p[i] & 0xC0) != 0x80) return 1;
        c = c << 6 | (p[i] & 0x3F);
    }
    if (c < least[len] || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF) return 1;
    *character = c;
    return len;
}

size_t heed__utf8_write(int32_t character, char out[4]) {
    uint32_t c = (uint32_t)character;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)((0xF00u >> len & 0xF0u) | c);
    return len;
}

/* The first place from `at` on where one of 8 bytes is not ASCII. */
static size_t skip_ascii(const char *text, size_t at, size_t n) {
    for (uint64_t eight; n - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & 0x8080808080808080u) break;
    }
    return at;
}

size_t heed__utf8_valid(const char *text, size_t n) {
    int32_t c = 0;
    for (size_t at = skip_ascii(text, 0, n), length; at < n; at += length) {
        if (text[at] == ' ') at = skip_ascii(text, at, n);
        if (at == n) break;
        length = heed_utf8_read(text + at, n - at, &c);
        if (c < 0) return at;
    }
    return n;
}

size_t heed__text_flaw(const char *text, size_t n) {
    const char *zero = n ? memchr(text, 0, n) : NULL;
    return heed__utf8_valid(text, zero ? (size_t)(zero - text) : n);
}

size_t heed__line_of(const char *text, size_t at) {
    size_t line = 1;
    for (size_t i = 0; i < at; i++) line += text[i] == '\n';
    return line;
}

size_t heed__line_length(const char *text, size_t n) {
    const char *end = memchr(text, '\n', n);
    return end ? (size_t)(end - text) : n;
}

size_t heed__utf8_count(const char *text, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

bool heed__utf8_put(heed_text *out, const char *text, size_t n) {
    bool ok = heed_text_put(out, "", 0);
    for (size_t at = 0; ok && at < n; at++) {
        size_t good = heed__utf8_valid(text + at, n - at);
        ok = heed_text_put(out, text + at, good);
        at += good;
        if (ok && at < n) ok = heed_text_add(out, "\\x%02X", (unsigned)(unsigned char)text[at]);
    }
    return ok;
}

/* ---- properties of characters ---- */

int heed__char_width(int32_t c) { return utf8proc_charwidth(c); }

bool heed__is_mark(int32_t c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_MN; }

bool heed__is_seen_mark(int32_t c) {
    utf8proc_category_t kind = utf8proc_category(c);
    bool selector = (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF) ||
                    (c >= 0x180B && c <= 0x180F);
    return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME && !selector && c != 0x34F;
}

bool heed__is_blank(int32_t c) {
    return utf8proc_category(c) == UTF8PROC_CATEGORY_ZS || c == 0x2800 || c == 0x3164 ||
           c == 0xFFA0;
}

int heed__combining_class(int32_t c) { return utf8proc_get_property(c)->combining_class; }

int32_t heed__lower(int32_t c) { return utf8proc_tolower(c); }

int heed__decompose(int32_t c, int32_t parts[HEED__DECOMPOSED]) {
    int boundary = 0;
    utf8proc_ssize_t n = c < 128 ? 0
                                 : utf8proc_decompose_char(c, parts, HEED__DECOMPOSED,
                                                           UTF8PROC_DECOMPOSE, &boundary);
    if (n >= 1 && n <= HEED__DECOMPOSED) return (int)n;
    parts[0] = c;
    return 1;
}

/* UAX #9, sec. 2. */
static bool is_direction(int32_t c) {
    return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

heed__char_kind heed__kind_of_char(int32_t c) {
    if (is_direction(c)) return HEED__DIRECTION;
    return c < 32 || (c >= 127 && c < 160) ? HEED__CONTROL : HEED__PLAIN;
}

/* ---- names that look equal ---- */

/* In composed form, and with `fold` without case; free it with free. NULL: without memory. */
static char *composed(const char *s, size_t n, bool fold) {
    utf8proc_uint8_t *out = NULL;
    utf8proc_option_t how = UTF8PROC_STABLE | UTF8PROC_COMPOSE | (fold ? UTF8PROC_CASEFOLD : 0);
    return utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &out, how) < 0
               ? NULL
               : (char *)out;
}

static bool is_ascii(const char *text, size_t n) {
    while (n && (unsigned char)text[n - 1] < 128) n--;
    return n == 0;
}

bool heed__same_name(const char *a, size_t n, const char *b, size_t m) {
    if (n == m && strncasecmp(a, b, n) == 0) return true;
    if (is_ascii(a, n) && is_ascii(b, m)) return false;
    char *x = composed(a, n, true), *y = composed(b, m, true);
    bool same = x && y && strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

bool heed__compose(heed_text *out, const char *s, size_t n) {
    char *made = is_ascii(s, n) ? NULL : composed(s, n, false);
    out->n = 0;
    bool ok = made ? heed_text_put(out, made, strlen(made)) : heed_text_put(out, s, n);
    free(made);
    return ok;
}
