/* csv.c -- tables by RFC 4180, separated by commas, semicolons, bars or tabs, read row by row and
 * written; the lines of metrics.csv. */
#include "core/os.h"
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

static bool reject(const heed_csv *r, size_t line, const char *expected, const char *found) {
    return heed_reject(r->c, HEED_DATA,
                       (heed_problem){r->what, r->path, line, expected, .found = found});
}

bool heed_csv_reject(const heed_csv *r, const char *expected, const char *found) {
    return r && reject(r, r->line, expected, found);
}

/* The separator in the first line, outside quotes, which open at the start of a field: of several
 * the first of `order`, without one the first of all. */
static char separator_of(const char *text, const char *order) {
    bool quoted = false, start = true;
    size_t best = strlen(order);
    for (text += strspn(text, " \t\r\n"); *text && (quoted || *text != '\n'); text++) {
        if (*text == '"' && (quoted || start)) quoted = !quoted;
        const char *found = quoted ? NULL : strchr(order, *text);
        if (found && (size_t)(found - order) < best) best = (size_t)(found - order);
        start = !quoted && (found || (start && *text == ' '));
    }
    return order[best] ? order[best] : *order;
}

static bool is_blank(const heed_csv *r, char c) {
    return c == ' ' || (c == '\t' && r->separator != c);
}

/* Whether all lines have as many separators, those in quotes counted. */
static bool is_regular(const heed_csv *r) {
    size_t first = SIZE_MAX;
    for (const char *s = r->at, *end; s < r->end; s = end + 1) {
        size_t count = 0;
        end = memchr(s, '\n', (size_t)(r->end - s));
        if (!end) end = r->end;
        for (const char *at = s; at < end; at++) count += *at == r->separator;
        if (end - s < 1 + (end > s && end[-1] == '\r')) continue; /* an empty line */
        if (first == SIZE_MAX) first = count;
        if (count != first) return false;
    }
    return true;
}

/* Whether the quotes of a text of tabs are those of RFC 4180: around whole fields, and doubled
 * within. Texts that were never quoted have others, which are text; also if one at the start of a
 * field and one at the end of a field of a later line seem to be a pair. */
static bool are_quotes(const heed_csv *r) {
    bool start = true, spans = false;
    for (const char *s = r->at; s < r->end; s++) {
        if (*s == '"' && !start) return false;
        if (*s != '"') {
            start = *s == r->separator || *s == '\n' || (start && *s == ' ');
            continue;
        }
        for (s++; s < r->end && (*s != '"' || s[1] == '"'); s++) {
            spans = spans || *s == '\n';
            s += *s == '"';
        }
        if (s >= r->end) return false;
        s += s[1] == '\r' ? 2 : 1;
        if (s < r->end && *s != r->separator && *s != '\n') return false;
        start = true;
    }
    return !spans || !is_regular(r);
}

bool heed_csv_open(heed_csv *r, heed_ctx *c, const char *what, const char *path, char *text,
                   size_t n) {
    if (!r) return false;
    *r = (heed_csv){.c = c,
                    .what = what,
                    .path = path,
                    .longest = HEED_CSV_LONGEST,
                    .at = text,
                    .end = text,
                    .next = 1};
    if (heed__stopped(c) || !text) return false;
    const char *nul = memchr(text, 0, n);
    if (nul) return reject(r, heed__line_of(text, (size_t)(nul - text)), "text", "a NUL byte");
    r->end = text + n;
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r->at += 3;
    r->separator = separator_of(r->at, heed__ends_in(path, ".csv") ? ",;|\t" : "\t,;|");
    r->plain = r->separator == '\t' && !are_quotes(r);
    return true;
}

const char *heed__csv_separator(const heed_csv *r) {
    return r->separator == ','   ? "comma"
           : r->separator == ';' ? "semicolon"
           : r->separator == '|' ? "bar"
                                 : "tab";
}

/* A field in double quotes, where two quotes mean one; unescaped in place. */
static char *quoted_field(heed_csv *r) {
    char *from = r->at + 1, *to = r->at, *field = to;
    size_t line = r->next;
    for (; from < r->end; from++) {
        if (*from == '"' && from[1] == '"')
            from++;
        else if (*from == '"')
            break;
        r->next += *from == '\n';
        *to++ = *from;
    }
    if (from == r->end) {
        reject(r, line, "a double quote that ends the field", "the end of the file");
        return NULL;
    }
    r->at = from + 1;
    if (*r->at == '\r') r->at++;
    if (r->at < r->end && *r->at != r->separator && *r->at != '\n') {
        char expected[64];
        snprintf(expected, sizeof expected, "a %s or the end of the line after a quoted field",
                 heed__csv_separator(r));
        reject(r, r->next, expected, "something else");
        return NULL;
    }
    *to = 0; /* the closing quote comes after it */
    return field;
}

/* The next field, ended by a zero byte that replaces *after at r->at; NULL on error. */
static char *next_field(heed_csv *r, char *after) {
    const char ends[] = {r->separator, '\n', 0};
    while (is_blank(r, *r->at)) r->at++;
    char *field = r->at, *stop;
    bool quotes = *field == '"' && !r->plain;
    if (quotes && !(field = quoted_field(r))) return NULL;
    if (!quotes) r->at += strcspn(r->at, ends);
    stop = r->at;
    *after = *stop;
    if (!quotes) {
        while (stop > field && (is_blank(r, stop[-1]) || stop[-1] == '\r')) stop--;
        *stop = 0;
    }
    if (strlen(field) < r->longest) return field;
    char expected[48];
    snprintf(expected, sizeof expected, "fields of less than %zu bytes", r->longest);
    reject(r, r->next, expected, "a longer one");
    return NULL;
}

bool heed_csv_next(heed_csv *r) {
    while (r && r->at < r->end && !heed__stopped(r->c)) {
        char after = r->separator;
        r->line = r->next;
        r->count = 0;
        while (after == r->separator) {
            char *field = next_field(r, &after);
            if (!field) return false;
            if (r->count < HEED_CSV_FIELDS) r->fields[r->count] = field;
            r->count++;
            r->at += after != 0;
        }
        r->ended = after == '\n';
        r->next += r->ended;
        if (r->count > 1 || *r->fields[0]) return true;
        r->blank++;
    }
    return false;
}

int heed_csv_find(const heed_csv *r, const char *name) {
    for (size_t i = 0; r && name && i < r->count && i < HEED_CSV_FIELDS; i++)
        if (strcmp(r->fields[i], name) == 0) return (int)i;
    return -1;
}

/* ---- writing ---- */

/* A spreadsheet would run such a text as a formula. A number is none. */
static bool is_formula(const char *field) {
    double value;
    return *field && strchr("=+-@", *field) && !heed__number(field, &value);
}

bool heed_csv_put(heed_text *out, const char *field) {
    bool ok = field && heed_text_put(out, "\"'", is_formula(field) ? 2 : 1);
    for (; ok && *field; field++) {
        unsigned char c = (unsigned char)*field;
        ok = c == '"'             ? heed_text_put(out, "\"\"", 2)
             : c < 32 || c == 127 ? heed_text_add(out, "\\x%02X", (unsigned)c)
                                  : heed_text_put(out, field, 1);
    }
    return ok && heed_text_put(out, "\"", 1);
}

/* ---- metrics.csv ---- */

enum { METRICS_LIMIT = 1 << 30 };

bool heed__csv_append(heed_ctx *c, const char *path, const char *header, const char *row) {
    if (heed__stopped(c)) return false;
    heed_text text = {.c = c};
    bool ok = heed__os_exists(path) || heed_text_add(&text, "%s\n", header);
    ok = ok && heed_text_add(&text, "%s\n", row) && heed__os_append(c, path, text.s, text.n);
    heed_text_free(&text);
    return ok;
}

/* The first field of a line, NAN if it is not a number. */
static double first_field(const char *line) {
    char field[64] = "";
    size_t n = strcspn(line, ",\r\n");
    double value;
    if (n < sizeof field) memcpy(field, line, n);
    return heed__number(field, &value) ? value : (double)NAN;
}

bool heed__csv_cut(heed_ctx *c, const char *path, double last, const char *without) {
    if (heed__stopped(c)) return false;
    if (!heed__os_exists(path)) return true;
    size_t n;
    char *text = (char *)heed__os_read(c, path, METRICS_LIMIT, &n);
    if (!text) return false;
    char *from = text, *to = text, *end;
    while ((end = strchr(from, '\n')) != NULL) {
        size_t length = (size_t)(end - from) + 1;
        *end = 0;
        bool keep = to == text || (first_field(from) <= last && !strstr(from, without));
        *end = '\n';
        if (keep) memmove(to, from, length);
        if (keep) to += length;
        from = end + 1;
    }
    heed__piece piece = {text, (size_t)(to - text)};
    bool ok = piece.n == 0 ? heed__os_remove(c, path) /* not even the header was complete */
                           : piece.n == n || heed__os_write(c, path, &piece, 1);
    heed__free(text);
    return ok;
}
