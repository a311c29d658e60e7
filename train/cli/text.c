/* text.c -- words, numbers and tokens as people read them. */
#include "cli/program.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* jansson leaves out what it has no memory for, so a result would lack parts without a word. */
static void *json_memory(size_t size) {
    void *p = malloc(size);
    if (p || size == 0) return p;
    fprintf(stderr, "heed: out of memory: %zu bytes for JSON\n", size);
    exit(HEED_FAILED);
}

void whole_json(void) { json_set_alloc_funcs(json_memory, free); }

void print_json(program *p, json_t *v) {
    if (!v || json_dumpf(v, stdout, JSON_REAL_PRECISION(9) | JSON_COMPACT) != 0)
        heed_fail(p->c, HEED_FAILED, "cannot write the result as JSON");
    else
        putchar('\n');
    json_decref(v);
}

json_t *json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *json_text(const char *text) {
    json_t *whole = text ? json_string(text) : json_null();
    heed_text mended = {.c = NULL};
    for (const char *s = text; !whole && *s;) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s, -1, &code);
        heed_text_put(&mended, n > 0 ? s : "\xEF\xBF\xBD", n > 0 ? (size_t)n : 3);
        s += n > 0 ? n : 1;
    }
    if (!whole) whole = json_string(mended.s ? mended.s : "");
    heed_text_free(&mended);
    return whole;
}

void print_text(heed_text *t) {
    if (t->n) fwrite(t->s, 1, t->n, stdout);
    heed_text_free(t);
}

void print_hanging(program *p, const char *text, int indent) {
    heed_text t = {.c = p->c};
    heed_label_words(text, indent, terminal_width(), &t);
    puts(t.s ? t.s : "");
    heed_text_free(&t);
}

void print_wrapped(program *p, const char *text) { print_hanging(p, text, 0); }

void print_fact(int at, const char *label, const char *format, ...) {
    heed_text text = {.c = NULL}, shown = {.c = NULL};
    char line[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    heed_text_add(&shown, "%-*s", at, label);
    if (at + heed_label_text(line, INT_MAX, &text) <= line_width(stdout))
        heed_text_put(&shown, text.s, text.n);
    else
        heed_label_words(line, at, line_width(stdout), &shown);
    heed_text_free(&text);
    heed_text_put(&shown, "\n", 1);
    print_text(&shown);
}

char *with_commas(char text[32], uint64_t n) {
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

char *as_bytes(char text[32], double bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 1000 && unit < 4) bytes /= 1000, unit++;
    snprintf(text, 32, unit && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

char *as_duration(char text[32], double seconds) {
    if (!isfinite(seconds) || seconds < 0)
        snprintf(text, 32, "?");
    else if (seconds < 99.5)
        snprintf(text, 32, seconds < 9.95 ? "%.1fs" : "%.0fs", seconds);
    else if (seconds < 5940)
        snprintf(text, 32, "%dm %02ds", (int)(seconds / 60), (int)fmod(seconds, 60));
    else
        snprintf(text, 32, "%.0fh %02dm", floor(seconds / 3600), (int)fmod(seconds / 60, 60));
    return text;
}

const char *shell_word(char *text, size_t size, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    if (*word && !word[strspn(word, plain)]) {
        snprintf(text, size, "%s", word);
        return text;
    }
    size_t n = (size_t)snprintf(text, size, "'");
    for (; *word && n + 7 < size; word++)
        if (*word == '\'')
            n += (size_t)snprintf(text + n, size - n, "'\\''");
        else
            text[n++] = *word;
    snprintf(text + n, size - n, "'");
    return text;
}

void add_typed(heed_text *out, int width, const char *words) {
    const char *end = out->s ? strrchr(out->s, '\n') : NULL, *line = end ? end + 1 : out->s;
    int used = line ? text_columns(line) : 0;
    if (used > 0 && used + 1 + text_columns(words) + 2 > width) heed_text_add(out, " \\\n     ");
    heed_text_add(out, " %s", words);
}

static size_t columns(const char *text, int most, int *taken) {
    const utf8proc_uint8_t *s = (const utf8proc_uint8_t *)text;
    size_t at = 0;
    for (*taken = 0; s[at];) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n = utf8proc_iterate(s + at, -1, &code);
        int width = n > 0 ? utf8proc_charwidth(code) : 1;
        if (*taken + width > most) break;
        *taken += width;
        at += n > 0 ? (size_t)n : 1;
    }
    return at;
}

int text_columns(const char *text) {
    int taken;
    columns(text, 1 << 30, &taken);
    return taken;
}

size_t text_cut(const char *text, int most) {
    int taken;
    return columns(text, most, &taken);
}

int name_columns(const char *name, int most) {
    return heed_label_text(name, most ? most : INT_MAX, NULL);
}

void print_name(const char *name, int least, int most) {
    heed_text shown = {.c = NULL};
    int used = heed_label_text(name, most ? most : INT_MAX, &shown);
    print_text(&shown);
    if (used < least) printf("%*s", least - used, "");
}

/* Neither a control character nor a mark that turns the direction of the line. */
static bool is_plain(utf8proc_int32_t code) {
    bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                 (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return code >= 32 && (code < 127 || code >= 160) && !turns;
}

char *show_token(char *text, size_t size, const char *token) {
    size_t at = 0;
    while (*token && at + 5 < size) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)token, -1, &code);
        const char *shown = *token == '\n' ? "\\n" : *token == '\t' ? "\\t" : NULL;
        if (!shown && *token == ' ' && !token[1] && at == 0) shown = "\xe2\x90\xa3"; /* open box */
        if (!shown && (n <= 0 || !is_plain(code))) shown = "?";
        at += (size_t)(shown ? snprintf(text + at, size - at, "%s", shown)
                             : snprintf(text + at, size - at, "%.*s", (int)n, token));
        token += n > 0 ? n : 1;
    }
    text[at] = 0;
    return text;
}

char *show_plain(char text[PLAIN], const char *message) {
    const utf8proc_uint8_t *s = (const utf8proc_uint8_t *)message;
    size_t at = 0;
    while (*s && at + 5 < PLAIN) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n = utf8proc_iterate(s, -1, &code);
        if (n > 0 && is_plain(code)) {
            memcpy(text + at, s, (size_t)n);
            at += (size_t)n;
            s += n;
        } else
            at += (size_t)snprintf(text + at, 5, "\\x%02x", *s++);
    }
    text[at] = 0;
    return text;
}

void print_note(const char *kind, const char *message) {
    char text[PLAIN];
    fprintf(stderr, "heed: %s%s\n", kind, show_plain(text, message));
}
