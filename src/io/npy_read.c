/* npy_read.c -- reads one NumPy array: magic, version, a Python dictionary, elements. */
#include "core/core.h"
#include "io/npz.h"

#include <stdio.h>
#include <string.h>

/* ---- the dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ---- */

typedef struct {
    const char *at, *end;
} scanner;

static void skip(scanner *s) {
    while (s->at < s->end && strchr(" \t\r\n", *s->at)) s->at++;
}

static bool accept(scanner *s, const char *word) {
    size_t n = strlen(word);
    skip(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0) return false;
    s->at += n;
    return true;
}

static bool quoted(scanner *s, char *out, size_t capacity) {
    skip(s);
    if (s->at >= s->end || (*s->at != '\'' && *s->at != '"')) return false;
    char mark = *s->at++;
    size_t n = 0;
    while (s->at < s->end && *s->at != mark && n + 1 < capacity) out[n++] = *s->at++;
    out[n] = 0;
    return s->at < s->end && *s->at++ == mark;
}

static bool whole(scanner *s, int64_t *value) {
    enum { DIGITS = 15 };
    int digits = 0;
    skip(s);
    for (*value = 0; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (++digits > DIGITS) return false;
        *value = *value * 10 + (*s->at - '0');
    }
    return digits > 0;
}

static bool shape(scanner *s, heed__npy *a) {
    if (!accept(s, "(")) return false;
    for (a->dims = 0; !accept(s, ")"); a->dims++) {
        if (a->dims == HEED__NPY_DIMS || !whole(s, &a->shape[a->dims])) return false;
        accept(s, ",");
    }
    return true;
}

/* "<f4": byte order, kind, bytes (for text, characters). */
static bool type(const char *descr, heed__npy *a) {
    static const struct {
        char kind;
        int sizes;
    } known[] = {{'f', 2 | 4 | 8}, {'i', 1 | 2 | 4 | 8}, {'u', 1 | 2 | 4 | 8}, {'b', 1}};
    a->kind = '?';
    if (strlen(descr) < 3 || !strchr("<|=>", descr[0])) return descr[0] == '[' || descr[0] == '|';
    int n = 0;
    for (const char *p = descr + 2; *p >= '0' && *p <= '9' && n < 1 << 20; p++)
        n = n * 10 + (*p - '0');
    a->size = n;
    if (descr[0] == '>') return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == descr[1] && (n & (n - 1)) == 0 && n & known[i].sizes)
            a->kind = known[i].kind;
    if (descr[1] == 'U' || descr[1] == 'S') {
        a->kind = descr[1];
        a->size = descr[1] == 'U' ? 4 * n : n;
    }
    return true;
}

static bool dictionary(scanner *s, heed__npy *a) {
    char key[20];
    int found = 0;
    if (!accept(s, "{")) return false;
    while (!accept(s, "}")) {
        bool ok = quoted(s, key, sizeof key) && accept(s, ":");
        if (ok && strcmp(key, "descr") == 0)
            ok = quoted(s, a->type, sizeof a->type) && type(a->type, a);
        else if (ok && strcmp(key, "fortran_order") == 0)
            ok = (a->fortran = accept(s, "True")) || accept(s, "False");
        else
            ok = ok && strcmp(key, "shape") == 0 && shape(s, a);
        if (!ok || ++found > 3) return false;
        accept(s, ",");
    }
    return found == 3;
}

/* ---- the file ---- */

static bool count(heed__npy *a, size_t left) {
    a->count = 1;
    for (int i = 0; i < a->dims; i++) {
        if (a->shape[i] && a->count > ((size_t)1 << 40) / (size_t)a->shape[i]) return false;
        a->count *= (size_t)a->shape[i];
    }
    return a->kind == '?' || !a->count || !a->size || a->count <= left / (size_t)a->size;
}

static bool damaged(heed_ctx *c, const char *path, const heed__npy *a, const char *what) {
    char quote[HEED_QUOTE];
    return heed_fail(c, HEED_DATA, "array %s is damaged: %s: %s",
                     heed_quote(quote, a->name, strlen(a->name)), path, what);
}

bool heed__npy_parse(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n,
                     heed__npy *a) {
    if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return damaged(c, path, a, "expected NumPy's magic");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return damaged(c, path, a, "expected version 1.0, 2.0 or 3.0");
    size_t wide = bytes[6] >= 2 ? 4 : 2;
    size_t size = n < 8 + wide ? 0 : (size_t)heed__little(bytes + 8, wide);
    if (size > n || 8 + wide + size > n) return damaged(c, path, a, "its header has no end");
    const char *head = (const char *)bytes + 8 + wide;
    scanner s = {head, head + size};
    a->data = bytes + 8 + wide + size;
    if (!dictionary(&s, a)) return damaged(c, path, a, "its header is not a description");
    char quote[HEED_QUOTE];
    size_t left = n - 8 - wide - size;
    if (!count(a, left))
        return heed_fail(c, HEED_DATA, "array %s is cut short: %s: %zu bytes are too few",
                         heed_quote(quote, a->name, strlen(a->name)), path, n);
    return a->kind == '?' || a->count * (size_t)a->size == left ||
           damaged(c, path, a, "bytes follow its elements");
}

/* ---- elements ---- */

/* The place in memory of an index in C order. */
static size_t place(const heed__npy *a, size_t index) {
    if (!a->fortran) return index;
    size_t at = 0, stride = a->count;
    for (int i = a->dims - 1; i >= 0; i--) {
        size_t n = (size_t)a->shape[i];
        stride /= n;
        at += index % n * stride;
        index /= n;
    }
    return at;
}

double heed__npy_number(const heed__npy *a, size_t index) {
    size_t size = (size_t)a->size;
    uint64_t bits = heed__little(a->data + place(a, index) * size, size);
    if (a->kind == 'f') return heed__real_of(bits, size);
    return a->kind == 'i' ? heed__signed_of(bits, size) : (double)bits;
}

bool heed__npy_text(const heed__npy *a, size_t index, heed_text *out) {
    size_t step = a->kind == 'U' ? 4 : 1, n = (size_t)a->size;
    const unsigned char *p = a->data + place(a, index) * n;
    while (n > 0 && heed__little(p + n - step, step) == 0) n -= step;
    bool ok = heed_text_put(out, "", 0);
    for (size_t i = 0; ok && i < n; i += step) {
        uint64_t code = heed__little(p + i, step);
        char text[4] = {(char)p[i]};
        if (code == 0) code = 0x2400;
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
        bool byte = step == 1 && p[i];
        ok = heed_text_put(out, text, byte ? 1 : heed_utf8_write((int32_t)code, text));
    }
    return ok;
}

const char *heed__npy_shape(char text[HEED__SHAPE], const heed__npy *a) {
    int used = snprintf(text, HEED__SHAPE, "(");
    for (int i = 0; i < a->dims && used < HEED__SHAPE; i++)
        used += snprintf(text + used, (size_t)(HEED__SHAPE - used), "%s%lld", i ? ", " : "",
                         (long long)a->shape[i]);
    if (used < HEED__SHAPE) snprintf(text + used, (size_t)(HEED__SHAPE - used), ")");
    return text;
}
