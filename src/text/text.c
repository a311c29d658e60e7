/* Growing texts, and the small text work that every reader and writer here shares. */
#include "text/text.h"
#include "core/core.h"
#include "core/os.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static bool reserve(heed_text *t, size_t more) {
    if (more > SIZE_MAX / 4 || t->n > SIZE_MAX / 4)
        return heed_fail(t->c, HEED_FAILED, "out of memory: a text of %zu bytes more", more);
    return heed__grow(t->c, &t->s, &t->capacity, t->n + more + 1, 1);
}

bool heed_text_put(heed_text *t, const char *bytes, size_t n) {
    if (!t || (!bytes && n) || !reserve(t, n)) return false;
    if (n) memcpy(t->s + t->n, bytes, n);
    t->n += n;
    t->s[t->n] = 0;
    return true;
}

bool heed_text_add(heed_text *t, const char *format, ...) {
    if (!t || !reserve(t, 0)) return false;
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    size_t left = t->capacity - t->n;
    int need = vsnprintf(t->s + t->n, left, format, list);
    bool ok = need >= 0;
    if (ok && (size_t)need >= left) {
        t->s[t->n] = 0;
        ok = reserve(t, (size_t)need);
        if (ok) vsnprintf(t->s + t->n, t->capacity - t->n, format, again);
    }
    if (ok) t->n += (size_t)need;
    t->s[t->n] = 0;
    va_end(again);
    va_end(list);
    return ok;
}

void heed_text_free(heed_text *t) {
    if (!t) return;
    heed__free(t->s);
    *t = (heed_text){.c = t->c};
}

bool heed_text_save(const heed_text *t, const char *path) {
    if (!t || !path || heed__stopped(t->c)) return false;
    return heed__os_write(t->c, path, &(heed__piece){t->s, t->n}, 1);
}

/* Length of the character at text, 0 if there is none in UTF-8. */
static size_t char_length(const char *text, size_t n) {
    utf8proc_int32_t code;
    utf8proc_ssize_t part = n < 8 ? (utf8proc_ssize_t)n : 8;
    utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)text, part, &code);
    return used > 0 ? (size_t)used : 0;
}

size_t heed__utf8_valid(const char *text, size_t n) {
    size_t at = 0;
    while (at < n) {
        size_t used = (unsigned char)text[at] < 0x80 ? 1 : char_length(text + at, n - at);
        if (!used) break;
        at += used;
    }
    return at;
}

const char *heed__quote(char out[HEED__QUOTE], const char *text, size_t n) {
    size_t used = 0, at = 0;
    out[used++] = '"';
    while (at < n) {
        size_t step = char_length(text + at, n - at);
        if (used + (step ? step : 1) + sizeof "...\"" > HEED__QUOTE) break;
        bool plain = step > 1 || (step == 1 && !iscntrl((unsigned char)text[at]));
        if (plain)
            memcpy(out + used, text + at, step);
        else
            out[used] = '?';
        used += plain ? step : 1;
        at += step ? step : 1;
    }
    snprintf(out + used, HEED__QUOTE - used, at < n ? "...\"" : "\"");
    return out;
}

bool heed__put_number(heed_text *out, double value) {
    char text[HEED__NUMBER];
    return isnan(value) || heed_text_add(out, "%s", heed__number_text(text, value, 0));
}

static size_t columns(const char *text, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

bool heed__put_wrapped(heed_text *out, const char *text, size_t column, const char *indent,
                       size_t width) {
    bool ok = true, first = true;
    for (text += strspn(text, " \n\t"); ok && *text; text += strspn(text, " \n\t")) {
        size_t n = strcspn(text, " \n\t"), wide = columns(text, n);
        bool breaks = !first && column + 1 + wide > width;
        if (breaks) {
            ok = heed_text_add(out, "\n%s", indent);
            column = columns(indent, strlen(indent));
        } else if (!first) {
            ok = heed_text_put(out, " ", 1);
            column++;
        }
        ok = ok && heed_text_put(out, text, n);
        column += wide;
        first = false;
        text += n;
    }
    return ok;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t heed_text_edits(const char *a, size_t n, const char *b, size_t m) {
    enum { MOST = 40 };
    size_t d[MOST + 1][MOST + 1];
    if (n > MOST || m > MOST) return MOST;
    for (size_t i = 0; i <= n; i++) d[i][0] = i;
    for (size_t j = 0; j <= m; j++) d[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least(change, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

bool heed__put_json(heed_text *out, const char *text) {
    static const char codes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    size_t n = strlen(text);
    if (heed__utf8_valid(text, n) < n) {
        char quoted[HEED__QUOTE];
        return heed_fail(out->c, HEED_USAGE, "name is wrong: expected UTF-8, found %s",
                         heed__quote(quoted, text, n));
    }
    bool ok = heed_text_put(out, "\"", 1);
    for (; ok && *text; text++) {
        const char *code = strchr(codes, *text);
        if (code)
            ok = heed_text_add(out, "\\%c", letters[code - codes]);
        else if ((unsigned char)*text < 0x20)
            ok = heed_text_add(out, "\\u%04x", *text);
        else
            ok = heed_text_put(out, text, 1);
    }
    return ok && heed_text_put(out, "\"", 1);
}
