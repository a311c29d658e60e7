/* Labels in a terminal: widths of characters, and signs for what would not be seen or would move
 * the cursor. */
#include "text/width.h"

#include <string.h>
#include <utf8proc.h>

/* Marks that turn the direction of writing would reorder the whole line. Unicode UAX #9, sec. 2. */
static bool turns(int32_t code) {
    return code == 0x61C || code == 0x200E || code == 0x200F ||
           (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

static const char *sign_of(int32_t code, char sign[4]) {
    if (code == '\n') return "⏎";
    if (code == '\t') return "⇥";
    if (code == 127) return "␡";
    if (code < 0 || (code >= 0x80 && code < 0xA0) || code == 0x2028 || code == 0x2029) return "·";
    if (turns(code)) return "↔";
    if (code >= 32) return NULL;
    memcpy(sign, (char[]){'\xe2', '\x90', (char)(0x80 + code), 0}, 4); /* U+2400: pictures */
    return sign;
}

int heed__glyph(const char **text, heed__sign *out) {
    utf8proc_int32_t code;
    const char *s = *text;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s, -1, &code);
    if (n <= 0) n = 1, code = -1;
    const char *sign = sign_of(code, out->buffer);
    *text = s + n;
    out->text = sign ? sign : s;
    out->bytes = sign ? strlen(sign) : (size_t)n;
    return sign ? 1 : utf8proc_charwidth(code);
}

/* A base with the marks that stand on it. */
int heed__cluster(const char **text, heed_text *out) {
    heed__sign g;
    int width = heed__glyph(text, &g);
    if (out) heed_text_put(out, g.text, g.bytes);
    for (const char *next = *text; *next; *text = next) {
        if (heed__glyph(&next, &g) > 0) break;
        if (out) heed_text_put(out, g.text, g.bytes);
    }
    return width;
}

/* A space at either end is not seen. */
static bool is_hidden_space(const char *label, const char *at) {
    return *at == ' ' && (strspn(label, " ") > (size_t)(at - label) || at[strspn(at, " ")] == 0);
}

static int one(const char *label, const char **at, heed_text *out) {
    if (!is_hidden_space(label, *at)) return heed__cluster(at, out);
    if (out) heed_text_put(out, "␣", strlen("␣"));
    ++*at;
    return 1;
}

int heed__label_width(const char *label) {
    int width = 0;
    for (const char *at = label; *at;) width += one(label, &at, NULL);
    return width;
}

int heed__label_glyphs(const char *label) {
    int n = 0;
    for (const char *at = label; *at; n++) one(label, &at, NULL);
    return n;
}

int heed__label_glyph(const char *label, int index, heed_text *out) {
    const char *at = label;
    for (; *at && index > 0; index--) one(label, &at, NULL);
    return *at ? one(label, &at, out) : 0;
}

int heed_label_text(const char *label, int columns, heed_text *out) {
    int total = heed__label_width(label), used = 0,
        buffer = total > columns ? columns - 1 : columns;
    for (const char *at = label; *at;) {
        const char *next = at;
        int width = one(label, &next, NULL);
        if (used + width > buffer) break;
        one(label, &at, out);
        used += width;
    }
    if (total <= columns) return used;
    heed_text_put(out, "…", strlen("…"));
    return used + 1;
}

void heed_label_words(const char *text, int indent, int columns, heed_text *out) {
    int used = 0, buffer = columns > indent ? columns - indent : 1;
    for (size_t n; *text; text += n + strspn(text + n, " ")) {
        heed_text word = {.c = out->c};
        n = strcspn(text, " ");
        if (n == 0 || !heed_text_put(&word, text, n)) continue;
        int width = heed__label_width(word.s);
        if (used && used + 1 + width > buffer) {
            heed_text_add(out, "\n%*s", indent, "");
            used = 0;
        }
        if (used) heed_text_put(out, " ", 1);
        used += (used > 0) + heed_label_text(word.s, buffer, out);
        heed_text_free(&word);
    }
}

void heed__put_label(heed_text *out, const char *label, int columns, bool right) {
    int total = heed__label_width(label);
    if (right && total < columns) heed_text_add(out, "%*s", columns - total, "");
    int used = heed_label_text(label, columns, out);
    if (used < columns && !(right && total < columns))
        heed_text_add(out, "%*s", columns - used, "");
}

void heed__end_line(heed_text *out) {
    while (out->n && out->s[out->n - 1] == ' ') out->s[--out->n] = 0;
    heed_text_put(out, "\n", 1);
}
