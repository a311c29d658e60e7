/* width.c -- labels in columns of a terminal; what is invisible or moves the cursor has a sign. */
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* The sign for a character; NULL: it is shown as it is. */
static const char *sign_of(int32_t code, char buffer[4]) {
    heed__char_kind kind = heed__kind_of_char(code);
    if (kind == HEED__DIRECTION) return "↔";
    if (code == 0x2028 || code == 0x2029 || code == 0xAD) return "·"; /* breaks; a soft hyphen */
    if (kind == HEED__PLAIN) return NULL;
    if (code == '\n') return "⏎";
    if (code == '\t') return "⇥";
    if (code == 127) return "␡";
    if (code < 0 || code > 127) return "·";
    buffer[heed__utf8_write(0x2400 + code, buffer)] =
        0; /* U+2400: pictures of control characters */
    return buffer;
}

/* Appends (out NULL: skips) what is shown for the character at *text; returns its columns. */
static int next_glyph(const char **text, heed_text *out) {
    int32_t code;
    char buffer[4];
    const char *s = *text;
    size_t n = heed_utf8_read(s, SIZE_MAX, &code);
    const char *sign = sign_of(code, buffer);
    *text = s + n;
    if (out) heed_text_put(out, sign ? sign : s, sign ? strlen(sign) : n);
    return sign ? 1 : heed__char_width(code);
}

/* The same for a character without width that has none before it to be placed on: a mark on a
 * circle, U+25CC, as in Unicode's charts; others, such as joiners, by their number. */
static int next_alone(int32_t code, const char **text, heed_text *out) {
    char number[16];
    if (heed__is_seen_mark(code)) {
        heed_text_put(out, "◌", strlen("◌"));
        next_glyph(text, out);
        return 1;
    }
    next_glyph(text, NULL);
    snprintf(number, sizeof number, "U+%04X", (unsigned)code);
    heed_text_put(out, number, strlen(number));
    return (int)strlen(number);
}

/* The same for a base character with its marks. */
static int next_cluster(const char **text, heed_text *out) {
    int32_t code;
    const char *start = *text;
    heed_utf8_read(start, SIZE_MAX, &code);
    int width = next_glyph(&start, NULL);
    width = width > 0 ? next_glyph(text, out) : next_alone(code, text, out);
    for (const char *next = *text; *next; next = *text) {
        if (next_glyph(&next, NULL) > 0) break;
        next_glyph(text, out);
    }
    return width;
}

static const char *skip_blanks(const char *s) {
    int32_t code;
    for (size_t n; *s; s += n) {
        n = heed_utf8_read(s, SIZE_MAX, &code);
        if (code < 0 || !heed__is_blank(code)) break;
    }
    return s;
}

/* The next cluster of a label, where a space at either end is shown as a sign. */
static int next_of_label(const char *label, const char **at, heed_text *out) {
    const char *s = *at, *after = skip_blanks(s);
    bool hidden = after > s && (skip_blanks(label) > s || !*after);
    if (!hidden) return next_cluster(at, out);
    if (out) heed_text_put(out, "␣", strlen("␣"));
    next_glyph(at, NULL);
    return 1;
}

int heed_label_columns(const char *label) {
    int width = 0;
    for (const char *at = label; at && *at;) width += next_of_label(label, &at, NULL);
    return width;
}

size_t heed_label_cut(const char *text, int columns) {
    const char *at = text;
    for (const char *next = at; *at; at = next)
        if ((columns -= next_cluster(&next, NULL)) < 0) break;
    return (size_t)(at - text);
}

int heed__label_glyphs(const char *label) {
    int n = 0;
    for (const char *at = label; *at; n++) next_of_label(label, &at, NULL);
    return n;
}

int heed__label_glyph(const char *label, int index, heed_text *out) {
    const char *at = label;
    for (; *at && index > 0; index--) next_of_label(label, &at, NULL);
    return *at ? next_of_label(label, &at, out) : 0;
}

int heed_label_text(const char *label, int columns, heed_text *out) {
    if (!label) return 0;
    int total = heed_label_columns(label), used = 0,
        capacity = total > columns ? columns - 1 : columns;
    for (const char *at = label; *at;) {
        const char *next = at;
        int width = next_of_label(label, &next, NULL);
        if (used + width > capacity) break;
        next_of_label(label, &at, out);
        used += width;
    }
    if (total <= columns) return used;
    heed_text_put(out, "…", strlen("…"));
    return used + 1;
}

/* The bytes of the first word; a command in backticks is one word if it fits in a line. */
static size_t word_bytes(const char *text, int columns) {
    const char *end = *text == '`' ? strchr(text + 1, '`') : NULL;
    size_t n = end ? (size_t)(end - text) + strcspn(end, " ") : 0;
    return n > 0 && n <= (size_t)columns ? n : strcspn(text, " ");
}

void heed_label_words(const char *text, int indent, int columns, heed_text *out) {
    if (!text || !out) return;
    int used = 0, capacity = columns > indent ? columns - indent : 1;
    for (size_t n; *text; text += n + strspn(text + n, " ")) {
        heed_text word = {.c = out->c};
        n = word_bytes(text, capacity);
        if (n == 0 || !heed_text_put(&word, text, n)) continue;
        int width = heed_label_columns(word.s);
        if (used && used + 1 + width > capacity) {
            heed_text_add(out, "\n%*s", indent, "");
            used = 0;
        }
        if (used) heed_text_put(out, " ", 1);
        used += (used > 0) + heed_label_text(word.s, capacity, out);
        heed_text_free(&word);
    }
}

void heed__put_label(heed_text *out, const char *label, int columns, bool right) {
    int used = heed_label_text(label, columns, NULL), blanks = used < columns ? columns - used : 0;
    bool before = right && heed_label_columns(label) <= columns;
    heed_text_add(out, "%*s", before ? blanks : 0, "");
    heed_label_text(label, columns, out);
    heed_text_add(out, "%*s", before ? 0 : blanks, "");
}

void heed__end_line(heed_text *out) {
    while (out->n && out->s[out->n - 1] == ' ') out->s[--out->n] = 0;
    heed_text_put(out, "\n", 1);
}
