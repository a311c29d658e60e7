/* format.c -- formats numbers, words, tokens and messages, and finds words close to another. */
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- numbers ---- */

bool heed__put_number(heed_text *out, double value) {
    char text[HEED__NUMBER];
    return isnan(value) || heed_text_add(out, "%s", heed__number_text(text, value, 0));
}

char *heed_format_count(char text[32], uint64_t n) {
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

char *heed_format_bytes(char text[32], double bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 1000 && unit < 4) bytes /= 1000, unit++;
    snprintf(text, 32, unit && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

char *heed_format_duration(char text[32], double seconds) {
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

/* ---- words ---- */

const char *heed_format_shell(char *text, size_t size, const char *word) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
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

const char *heed_format_share(char text[16], double p, double all, int least, int most) {
    double shown = 0;
    if (isnan(p)) return "nan";
    for (int digits = least; digits <= most; digits++) {
        snprintf(text, 16, "%.*f", digits, all * p);
        shown = strtod(text, NULL);
        if ((shown > 0 || p <= 0) && (shown < all || p >= 1)) return text;
    }
    double small = pow(10, -most);
    snprintf(text, 16, "%s%.*f", shown > 0 ? ">" : "<", most, shown > 0 ? all - small : small);
    return text;
}

char *heed_format_token(char *text, size_t size, const char *token) {
    size_t at = 0;
    while (*token && at + 5 < size) {
        int32_t code;
        size_t n = heed_utf8_read(token, SIZE_MAX, &code);
        const char *shown = *token == '\n' ? "\\n" : *token == '\t' ? "\\t" : NULL;
        if (!shown && *token == ' ' && !token[1] && at == 0) shown = "␣";
        if (!shown && heed__kind_of_char(code) != HEED__PLAIN) shown = "?";
        at += (size_t)(shown ? snprintf(text + at, size - at, "%s", shown)
                             : snprintf(text + at, size - at, "%.*s", (int)n, token));
        token += n;
    }
    text[at] = 0;
    return text;
}

char *heed_format_line(char *text, size_t size, const char *message) {
    size_t at = 0;
    while (*message && at + 5 < size) {
        int32_t code;
        size_t n = heed_utf8_read(message, SIZE_MAX, &code);
        if (heed__kind_of_char(code) == HEED__PLAIN) {
            memcpy(text + at, message, n);
            at += n;
            message += n;
        } else
            at += (size_t)snprintf(text + at, 5, "\\x%02x", (unsigned)(unsigned char)*message++);
    }
    text[at] = 0;
    return text;
}

bool heed__ends_in(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcasecmp(text + n - m, end) == 0;
}

/* ---- did you mean ---- */

size_t heed_text_edits(const char *a, size_t n, const char *b, size_t m) {
    enum { MOST = 40 };
    size_t d[MOST + 1][MOST + 1];
    if (!a || !b || n > MOST || m > MOST) return MOST;
    for (size_t i = 0; i <= n; i++) d[i][0] = i;
    for (size_t j = 0; j <= m; j++) d[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            size_t shift = (d[i - 1][j] < d[i][j - 1] ? d[i - 1][j] : d[i][j - 1]) + 1;
            d[i][j] = change < shift ? change : shift;
            bool swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swap && d[i - 2][j - 2] + 1 < d[i][j]) d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[n][m];
}

const char *heed_closest(const char *word, const char *const *candidates) {
    size_t n = strlen(word), best = 1 + n / 3;
    const char *found = NULL;
    for (; *candidates; candidates++) {
        if (strcasecmp(word, *candidates) == 0) return *candidates;
        size_t e = heed_text_edits(word, n, *candidates, strlen(*candidates));
        if (e < best || (e == best && !found)) best = e, found = *candidates;
    }
    return found;
}

/* ---- messages ---- */

const char *heed_quote(char out[HEED_QUOTE], const char *text, size_t n) {
    size_t used = 0, at = 0;
    out[used++] = '"';
    while (at < n) {
        int32_t c;
        size_t length = heed_utf8_read(text + at, n - at, &c);
        bool plain = c >= 32 && c != 127;
        if (used + length + sizeof "...\"" > HEED_QUOTE) break;
        memcpy(out + used, plain ? text + at : "?", plain ? length : 1);
        used += plain ? length : 1;
        at += length;
    }
    snprintf(out + used, HEED_QUOTE - used, at < n ? "...\"" : "\"");
    return out;
}

bool heed_reject(heed_ctx *c, heed_status status, heed_problem p) {
    char quoted[HEED_QUOTE], line[32] = "";
    if (!p.found && p.text) p.found = heed_quote(quoted, p.text, p.n);
    if (p.line) snprintf(line, sizeof line, ":%zu", p.line);
    return heed_fail(c, status, "%s: %s%s%sexpected %s%s%s%s%s", p.what, p.where ? p.where : "",
                     line, p.where ? ": " : "", p.expected, p.found ? ", found " : "",
                     p.found ? p.found : "", p.hint ? "; hint: " : "", p.hint ? p.hint : "");
}
