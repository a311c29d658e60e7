/* config_read.c -- `key = value` files. */
#include "core/os.h"
#include "io/config.h"

#include <stdio.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 20 };

typedef struct {
    heed_config *f;
    const char *path;
    size_t line;  /* counted from 1 */
    size_t *seen; /* per setting: the line that set it, 0 none */
    size_t capacity;
    heed_rank rank;
    const char *const *gone; /* settings that no table has are kept as texts, except these; NULL:
                                they are errors */
} reading;

static bool syntax(const reading *r, const char *expected, const char *found, size_t n) {
    return heed_reject(
        r->f->c, HEED_DATA,
        (heed_problem){"config is wrong", r->path, r->line, expected, .text = found, .n = n});
}

static bool is_blank(char ch) { return ch == ' ' || ch == '\t'; }

static char *skip_blanks(char *p) {
    while (is_blank(*p)) p++;
    return p;
}

/* The text quoted from p on, unescaped in place; NULL on error. Single quotes have no escapes. */
static char *quoted_value(const reading *r, char *p) {
    char quote = *p, *to = p, *from = p + 1;
    for (; *from && *from != quote; from++, to++) {
        bool escape = quote == '"' && *from == '\\';
        *to = escape ? heed__escape(*++from, true) : *from;
        if (*to) continue;
        syntax(r, "one of \\n \\r \\t \\\" \\\\ in a quoted value", from - 1, *from ? 2 : 1);
        return NULL;
    }
    if (!*from) {
        syntax(r, "a closing quote", p, strlen(p));
        return NULL;
    }
    char *rest = skip_blanks(from + 1);
    if (*rest && (*rest != '#' || rest == from + 1)) {
        syntax(r, "nothing behind the quoted value", rest, strlen(rest));
        return NULL;
    }
    *to = 0;
    return p;
}

/* The text up to a # after a blank, without surrounding blanks. */
static char *plain_value(char *p) {
    char *end = p;
    while (*end && !(*end == '#' && (end == p || is_blank(end[-1])))) end++;
    while (end > p && is_blank(end[-1])) end--;
    *end = 0;
    return p;
}

/* A line without "=": the hint corrects it if it begins with the name of a setting. */
static bool lacks_equals(const reading *r, const char *line) {
    char hint[HEED_QUOTE] = "a comment begins with #";
    const char *key = line + strspn(line, "-"), *value;
    size_t n = strcspn(key, " \t:=");
    value = key + n + strspn(key + n, " \t:=");
    if (heed__setting_find(r->f, key, n))
        snprintf(hint, sizeof hint, "%.*s = %.40s", (int)n, key, *value ? value : "VALUE");
    return heed_reject(r->f->c, HEED_DATA,
                       (heed_problem){"config is wrong", r->path, r->line, "key = value",
                                      .text = line, .n = strlen(line), .hint = hint});
}

static bool read_line(reading *r, char *line) {
    char *key = skip_blanks(line), *equals = strchr(key, '=');
    if (!*key || *key == '#') return true;
    if (!equals || equals == key) return lacks_equals(r, key);
    size_t n = (size_t)(equals - key);
    while (n && is_blank(key[n - 1])) n--;
    char where[512];
    snprintf(where, sizeof where, "%.480s:%zu", r->path, r->line);
    heed__setting *s = heed__setting_find(r->f, key, n);
    for (const char *const *gone = s ? NULL : r->gone; gone && *gone; gone++)
        if (strncmp(*gone, key, n) == 0 && !(*gone)[n]) return true;
    if (!s && (!r->gone || strcspn(key, " \t#") < n))
        return heed__setting_unknown(r->f, key, n, where, r->rank);
    if (!s && (!(s = heed__setting_add(r->f, key, n)) ||
               !heed__grow(r->f->c, &r->seen, &r->capacity, r->f->count, sizeof *r->seen)))
        return false;
    size_t *seen = &r->seen[s - r->f->settings];
    if (*seen)
        return heed_fail(r->f->c, HEED_DATA, "%s is set twice: %s: lines %zu and %zu", s->o->name,
                         r->path, *seen, r->line);
    *seen = r->line;
    char *value = skip_blanks(equals + 1);
    value = *value == '"' || *value == '\'' ? quoted_value(r, value) : plain_value(value);
    return value && heed__setting_put(r->f, s, value, where, r->rank);
}

static bool read_lines(reading *r, char *text, size_t n) {
    size_t flaw = heed__text_flaw(text, n); /* without one, lines can be treated as C strings */
    if (flaw < n)
        return heed_fail(r->f->c, HEED_DATA,
                         "config is wrong: %s:%zu: expected UTF-8 text, found the byte 0x%02X",
                         r->path, heed__line_of(text, flaw), (unsigned char)text[flaw]);
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3; /* a byte order mark */
    for (char *next; text; text = next, r->line++) {
        size_t length = strcspn(text, "\n");
        next = text[length] ? text + length + 1 : NULL;
        text[length] = 0;
        if (length && text[length - 1] == '\r') text[length - 1] = 0;
        if (length > HEED__LINE_LIMIT)
            return syntax(r, "a line of at most 65536 bytes", text, strlen(text));
        if (!read_line(r, text)) return false;
    }
    return true;
}

static bool parse(reading r, char *text, size_t n) {
    r.line = 1;
    bool ok = heed__grow(r.f->c, &r.seen, &r.capacity, r.f->count, sizeof *r.seen) &&
              read_lines(&r, text, n);
    heed__free(r.seen);
    return ok;
}

bool heed__config_parse(heed_config *f, const char *path, char *text, size_t n, heed_rank rank) {
    if (!f || heed__stopped(f->c)) return false;
    return parse((reading){.f = f, .path = path, .rank = rank}, text, n);
}

static bool read_file(reading r) {
    size_t n;
    char *text = (char *)heed__os_read(r.f->c, r.path, FILE_LIMIT, &n);
    bool ok = text && parse(r, text, n);
    heed__free(text);
    return ok;
}

bool heed_config_read(heed_config *f, const char *path, heed_rank rank) {
    return f && !heed__stopped(f->c) && path &&
           read_file((reading){.f = f, .path = path, .rank = rank});
}

bool heed__config_read_open(heed_config *f, const char *path, const char *const *gone) {
    return f && !heed__stopped(f->c) &&
           read_file((reading){.f = f, .path = path, .rank = HEED_FROM_FILE, .gone = gone});
}
