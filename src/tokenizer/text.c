/* text.c -- text files: UTF-8 without BOM, LF line ends, or an error that says how to fix it. */
#include "io/io.h"
#include "tokenizer/reading.h"

#include <string.h>

/* Detects UTF-16 and UTF-32 by their byte order marks, or by the zeros in Latin text. */
static const char *wide_encoding(const unsigned char *b, size_t n) {
    if (n >= 4 && (memcmp(b, "\xFF\xFE\0\0", 4) == 0 || memcmp(b, "\0\0\xFE\xFF", 4) == 0))
        return "UTF-32";
    if (n >= 2 && (memcmp(b, "\xFF\xFE", 2) == 0 || memcmp(b, "\xFE\xFF", 2) == 0)) return "UTF-16";
    if (n < 4) return NULL;
    if (b[0] && !b[1] && b[2] && !b[3]) return "UTF-16LE";
    return !b[0] && b[1] && !b[2] && b[3] ? "UTF-16BE" : NULL;
}

/* Whether over 1 byte in 20 is a control byte that no text has; in random data 1 in 10 is. */
static bool is_binary(const unsigned char *b, size_t n) {
    size_t strange = 0;
    if (n > 4096) n = 4096;
    for (size_t i = 0; i < n; i++) strange += b[i] < 32 && !(b[i] >= 8 && b[i] <= 13);
    return n >= 256 && strange * 20 > n;
}

/* What the first bytes of a picture say; NULL: it is none of these. */
static const char *picture_format(const unsigned char *b, size_t n) {
    if (n >= 3 && memcmp(b, "\xFF\xD8\xFF", 3) == 0) return "JPEG";
    return n >= 8 && memcmp(b, "\x89PNG\r\n\x1A\n", 8) == 0 ? "PNG" : NULL;
}

/* The length of the path without its extension: "dir/a.csv" is converted to "dir/a.utf8.csv". */
static int stem_of(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? (int)(dot - path) : (int)strlen(path);
}

bool heed__text_begins(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n) {
    if (n == 0)
        return heed_fail(c, HEED_DATA, "text is empty: %s: expected UTF-8 text, found 0 bytes",
                         path);
    const char *picture = picture_format(bytes, n), *wide = wide_encoding(bytes, n);
    int stem = stem_of(path);
    if (picture)
        return heed_fail(c, HEED_DATA,
                         "this is not a text: %s: expected UTF-8 text, found a picture (%s)", path,
                         picture);
    if (wide)
        return heed_fail(
            c, HEED_DATA,
            "text is not UTF-8: %s:1: expected UTF-8, found %s at byte 0; hint: `iconv "
            "-f %s -t UTF-8 '%s' > '%.*s.utf8%s'`",
            path, wide, wide, path, stem, path, path + stem);
    if (memchr(bytes, '\r', n) && !memchr(bytes, '\n', n))
        return heed_fail(c, HEED_DATA,
                         "lines end with CR, as on old Macs: %s: expected LF or CR LF; hint: `tr "
                         "'\\r' '\\n' < '%s' > '%.*s.lf%s'`",
                         path, path, stem, path, path + stem);
    return !is_binary(bytes, n) ||
           heed_fail(c, HEED_DATA, "this is not a text: %s: expected UTF-8 text, found bytes",
                     path);
}

bool heed__text_refuse(heed_ctx *c, const char *path, unsigned char byte, size_t at, size_t line) {
    int stem = stem_of(path);
    if (!byte)
        return heed_fail(c, HEED_DATA,
                         "text holds a NUL byte: %s:%zu: expected UTF-8 text, found 0x00 at byte "
                         "%zu; hint: `tr -d '\\000' < '%s' > '%.*s.clean%s'`",
                         path, line, at, path, stem, path, path + stem);
    return heed_fail(c, HEED_DATA,
                     "text is not UTF-8: %s:%zu: expected UTF-8, found 0x%02X at byte %zu; "
                     "hint: `iconv -f ISO-8859-1 -t UTF-8 '%s' > '%.*s.utf8%s'`",
                     path, line, byte, at, path, stem, path, path + stem);
}

static bool check(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n) {
    if (!heed__text_begins(c, path, bytes, n)) return false;
    const char *text = (const char *)bytes;
    size_t at = heed__text_flaw(text, n);
    return at == n || heed__text_refuse(c, path, bytes[at], at, heed__line_of(text, at));
}

size_t heed__text_straighten(unsigned char *b, size_t n, bool bom, size_t *returns) {
    size_t from = bom && n >= 3 && memcmp(b, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0, to = 0, count = 0;
    if (returns) *returns = 0;
    if (!from && !memchr(b, '\r', n)) return n;
    for (; from < n; from++) {
        bool returns_line = b[from] == '\r' && from + 1 < n && b[from + 1] == '\n';
        count += returns_line;
        if (!returns_line) b[to++] = b[from];
    }
    b[to] = 0;
    if (returns) *returns = count;
    return to;
}

/* heed__free is free: the caller may use either. */
char *heed_text_read(heed_ctx *c, const char *path, size_t *n) {
    if (n) *n = 0;
    if (heed__stopped(c) || !path || !n) return NULL;
    size_t size;
    unsigned char *bytes = heed__os_read(c, path, 0, &size);
    if (!bytes) return NULL;
    if (check(c, path, bytes, size)) {
        *n = heed__text_straighten(bytes, size, true, NULL);
        if (*n || check(c, path, bytes, 0)) return (char *)bytes;
    }
    heed__free(bytes);
    return NULL;
}

bool heed__text_refuse_blank(heed_ctx *c, const char *path, const char *text, size_t n) {
    size_t at = 0;
    char *read = path ? heed_text_read(c, path, &n) : NULL;
    if (path) text = read;
    while (text && at < n && strchr(" \t\n\v\f\r", text[at])) at++;
    if (text && at == n)
        heed_fail(c, HEED_DATA, "text has only blank lines%s%s: expected words", path ? ": " : "",
                  path ? path : "");
    heed__free(read);
    return text && at == n;
}
