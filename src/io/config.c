/* config.c -- settings: tables of rows, what overrides what, files and command lines, structs that
 * are filled, settings without effect, --help. */
#include "core/core.h"
#include "core/os.h"
#include "io/io.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value longer than this is refused, so that its escaped line stays readable. */
enum { HEED__VALUE_LIMIT = 16384, HEED__LINE_LIMIT = 4 * HEED__VALUE_LIMIT };

typedef struct {
    const heed_option *o;
    heed_option *own; /* o, where no table has it; else NULL */
    const char *group;
    char *initial; /* the default if heed_config_set_list gave one; else NULL */
    char *text;    /* canonical: true or false, whole numbers without an exponent */
    double real;
    int64_t whole;
    bool on;
    bool by_data; /* chosen from the data of a training run, where it is at its default */
    heed_rank rank;
} setting;

struct heed_config {
    heed__owned owned;
    heed_ctx *c;
    setting *settings; /* in the order of the tables */
    size_t capacity, count;
    size_t key_width;               /* bytes of the longest key */
    const heed_option **conditions; /* rows of HEED_WHEN */
    size_t condition_capacity, condition_count;
};

static setting *find_setting(const heed_config *f, const char *key, size_t n) {
    for (size_t i = 0; i < f->count; i++) {
        setting *s = &f->settings[i];
        if (strncmp(s->o->name, key, n) == 0 && s->o->name[n] == 0) return s;
    }
    return NULL;
}

static const char *initial_of(const setting *s) { return s->initial ? s->initial : s->o->value; }

/* ---- a value ---- */

static char escape(char c, bool back) {
    static const char codes[] = "\n\r\t\"\\", letters[] = "nrt\"\\";
    const char *from = back ? letters : codes, *at = c ? strchr(from, c) : NULL;
    return at ? (back ? codes : letters)[at - from] : '\0';
}

/* Wrong values of files are bad data. */
static heed_status status_of(heed_rank rank) {
    return rank == HEED_FROM_FILE ? HEED_DATA : HEED_USAGE;
}

static bool bounded(const heed_option *o) { return o->min != 0 || o->max != 0; }

static bool add_expected(const heed_option *o, heed_text *out) {
    static const char *const kinds[] = {[HEED_OPTION_BOOL] = "true or false",
                                        [HEED_OPTION_INT] = "a whole number",
                                        [HEED_OPTION_REAL] = "a number",
                                        [HEED_OPTION_STRING] = "a text"};
    bool ok = heed_text_add(out, "%s", o->choices ? "one of " : kinds[o->kind]);
    for (const char *at = o->choices ? o->choices : ""; ok && *at; at++)
        ok = *at == '|' ? heed_text_put(out, ", ", 2) : heed_text_put(out, at, 1);
    if ((o->kind != HEED_OPTION_INT && o->kind != HEED_OPTION_REAL) || !bounded(o)) return ok;
    ok = ok && heed_text_add(out, isinf(o->max) ? " of at least " : " from ") &&
         heed__put_number(out, o->min);
    if (ok && !isinf(o->max)) ok = heed_text_add(out, " to ") && heed__put_number(out, o->max);
    return ok;
}

static bool wrong(heed_config *f, const setting *s, const char *text, const char *where,
                  heed_rank rank) {
    char found[HEED_QUOTE];
    heed_text expected = {.c = f->c};
    if (add_expected(s->o, &expected)) {
        bool flag = where && strncmp(where, "--", 2) == 0;
        heed_fail(f->c, status_of(rank), "%s is wrong: %s%sexpected %s, found %s",
                  flag ? where : s->o->name, flag || !where ? "" : where,
                  flag || !where ? "" : ": ", expected.s, heed_quote(found, text, strlen(text)));
    }
    heed_text_free(&expected);
    return false;
}

/* "12", or "1e6" if it is an integer that a double represents exactly. */
static bool read_whole(const char *text, int64_t *value) {
    const char *digits = text + (*text == '-' || *text == '+');
    if (*digits && digits[strspn(digits, "0123456789")] == 0) {
        errno = 0;
        long long got = strtoll(text, NULL, 10);
        *value = got;
        return errno == 0;
    }
    double real;
    bool ok = heed__number(text, &real) && fabs(real) <= 9007199254740992.0 && floor(real) == real;
    if (ok) *value = (int64_t)real;
    return ok;
}

/* Whether the value is one of a list, "pre|post", that a space may end. */
static bool is_one_of(const char *value, const char *list) {
    for (size_t n;; list += n + 1) {
        n = strcspn(list, " |");
        if (strlen(value) == n && strncmp(value, list, n) == 0) return true;
        if (list[n] != '|') return false;
    }
}

/* Fills the parsed fields of s; false if its option does not accept text. */
static bool parse(setting *s, const char *text) {
    const heed_option *o = s->o;
    bool ok = true;
    switch (o->kind) {
    case HEED_OPTION_INT:
        ok = read_whole(text, &s->whole);
        s->real = (double)s->whole;
        break;
    case HEED_OPTION_REAL:
        ok = heed__number(text, &s->real);
        break;
    case HEED_OPTION_BOOL:
        s->on = is_one_of(text, "true|yes|on|1");
        return s->on || is_one_of(text, "false|no|off|0");
    case HEED_OPTION_STRING:
        return !o->choices || is_one_of(text, o->choices);
    }
    return ok && (!bounded(o) || (s->real >= o->min && s->real <= o->max));
}

static char *canonical(heed_ctx *c, const setting *s, const char *text) {
    if (s->o->kind == HEED_OPTION_BOOL) return heed__copy_text(c, s->on ? "true" : "false");
    if (s->o->kind != HEED_OPTION_INT) return heed__copy_text(c, text);
    heed_text digits = {.c = c};
    return heed_text_add(&digits, "%lld", (long long)s->whole) ? digits.s : NULL;
}

static bool put_setting(heed_config *f, setting *s, const char *text, const char *where,
                        heed_rank rank) {
    setting now = {
        .o = s->o, .group = s->group, .initial = s->initial, .own = s->own, .rank = rank};
    size_t n = strlen(text);
    if (n > HEED__VALUE_LIMIT || heed__utf8_valid(text, n) < n)
        return heed_fail(f->c, status_of(rank),
                         "%s is wrong: %s: expected at most %d bytes of UTF-8, found %zu bytes%s",
                         s->o->name, where ? where : "its value", HEED__VALUE_LIMIT, n,
                         n > HEED__VALUE_LIMIT ? "" : " that are not UTF-8");
    bool unset = !*text && (!s->o->value || !*s->o->value); /* as by default */
    if (!unset && !parse(&now, text)) return wrong(f, s, text, where, rank);
    if (s->text && rank < s->rank) return true;
    now.text = unset ? heed__copy_text(f->c, "") : canonical(f->c, &now, text);
    if (!now.text) return false;
    heed__free(s->text);
    *s = now;
    return true;
}

/* ---- did you mean ---- */

/* The key nearest to a misspelt one, or one that begins with it; NULL if none is near. */
static const char *nearest(const heed_config *f, const char *key, size_t n) {
    size_t best = n < 4 ? 2 : n / 3 + 1; /* the distance must be less */
    const char *found = NULL;
    for (size_t i = 0; i < f->count; i++) {
        const char *name = f->settings[i].o->name;
        size_t far = heed_text_edits(key, n, name, strlen(name));
        if (n >= 3 && far > 1 && strncmp(name, key, n) == 0) far = 1;
        if (far >= best) continue;
        best = far;
        found = name;
    }
    return found;
}

/* What the program knows of the name, as the end of an error; false: nothing. */
static bool explained(const heed_config *f, const char *key, size_t n, char text[HEED_EXPLAIN]) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, key);
    return *name && heed__ctx_explain(f->c, f, name, text);
}

static bool unknown(const heed_config *f, const char *key, size_t n, const char *where,
                    heed_rank rank) {
    char quoted[HEED_QUOTE], hint[HEED_EXPLAIN] = "";
    if (where && strcmp(where, "settings") == 0) where = NULL; /* a place that says nothing */
    bool flag = where && strncmp(where, "--", 2) == 0;
    heed_status status = status_of(rank);
    const char *near = nearest(f, key, n), *no = "";
    if (!near && flag && n > 3 && strncmp(key, "no-", 3) == 0) {
        near = nearest(f, key + 3, n - 3);
        no = "no-";
    }
    if (!explained(f, key, n, hint) && near)
        snprintf(hint, sizeof hint, ": did you mean %s%s%s?", flag ? "--" : "", no, near);
    if (flag)
        return heed_fail(f->c, status, "unknown option %s%s", where,
                         *hint ? hint : "; hint: `--help` lists the options");
    return heed_fail(f->c, status, "unknown setting %s%s%s%s", heed_quote(quoted, key, n),
                     where ? ": " : "", where ? where : "", hint);
}

/* ---- tables ---- */

static void destroy(heed__owned *object) {
    heed_config *f = (heed_config *)object;
    for (size_t i = 0; i < f->count; i++) {
        heed__free(f->settings[i].initial);
        heed__free(f->settings[i].text);
        heed__free(f->settings[i].own);
    }
    heed__free(f->settings);
    heed__free(f->conditions);
    heed__free(f);
}

void heed_config_free(heed_config *f) {
    if (f) heed__release(f->c, &f->owned);
}

/* Whether the row only reads a setting of another table: HEED_SHARED. */
static bool is_shared(const heed_option *o) { return o->size && !o->value; }

const heed_option *heed_option_find(const heed_option *table, const char *name) {
    const heed_option *found = NULL;
    for (const heed_option *o = table; name && o && o->name && !found; o++) {
        if (o->rows)
            found = heed_option_find(o->rows, name);
        else if (!o->when && !is_shared(o) && strcmp(o->name, name) == 0)
            found = o;
    }
    return found;
}

/* If an earlier table has the same row, it only moves after the others, into another group. */
static bool add(heed_config *f, const heed_option *o, const char *group) {
    size_t n = strlen(o->name);
    setting *s = find_setting(f, o->name, n);
    if (s) {
        setting moved = *s, *last = f->settings + f->count - 1;
        memmove(s, s + 1, (size_t)(last - s) * sizeof *s);
        *last = moved;
        last->group = group;
        return true;
    }
    if (!heed__grow(f->c, &f->settings, &f->capacity, f->count + 1, sizeof *f->settings))
        return false;
    s = &f->settings[f->count++];
    *s = (setting){.o = o, .group = group};
    if (n > f->key_width) f->key_width = n;
    return put_setting(f, s, o->value ? o->value : "", "default", HEED_FROM_DEFAULT);
}

/* Adds a setting that no table has, as a text. */
static setting *add_unknown(heed_config *f, const char *key, size_t n) {
    heed_option *o = heed__alloc(f->c, sizeof *o + n + 1);
    if (!o) return NULL;
    *o = (heed_option){.name = memcpy(o + 1, key, n), .kind = HEED_OPTION_STRING, .value = ""};
    if (!add(f, o, "Settings")) {
        heed__free(o);
        return NULL;
    }
    f->settings[f->count - 1].own = o;
    return &f->settings[f->count - 1];
}

/* A row without a group belongs to the group of the row before it, which *group is. */
static bool add_table(heed_config *f, const heed_option *o, const char **group) {
    for (bool ok = true; o->name; o++) {
        if (o->group) *group = o->group;
        if (o->rows)
            ok = add_table(f, o->rows, group) &&
                 heed_config_set_list(f, o->value, "default", HEED_FROM_DEFAULT);
        else if (o->when) {
            ok = heed__grow(f->c, &f->conditions, &f->condition_capacity, f->condition_count + 1,
                            sizeof *f->conditions);
            if (ok) f->conditions[f->condition_count++] = o;
        } else if (!is_shared(o))
            ok = add(f, o, *group);
        if (!ok) return false;
    }
    return true;
}

heed_config *heed_config_new(heed_ctx *c, const heed_option *const *tables) {
    if (heed__stopped(c) || !tables) return NULL;
    heed_config *f = heed__alloc(c, sizeof *f);
    if (!f) return NULL;
    f->c = c;
    heed__own(c, &f->owned, destroy);
    for (; *tables; tables++) {
        const char *group = "Model";
        if (add_table(f, *tables, &group)) continue;
        heed_config_free(f);
        return NULL;
    }
    return f;
}

/* ---- values ---- */

/* The setting; NULL with an error if the tables have no such key or it is of another kind. */
static const setting *get(const heed_config *f, const char *key, heed_option_kind kind) {
    static const char *const kinds[] = {[HEED_OPTION_INT] = "a whole number",
                                        [HEED_OPTION_REAL] = "a number",
                                        [HEED_OPTION_BOOL] = "a switch",
                                        [HEED_OPTION_STRING] = "a value"};
    if (!f || !key) return NULL;
    const setting *s = find_setting(f, key, strlen(key));
    if (s && (kind == HEED_OPTION_STRING || s->o->kind == kind ||
              (kind == HEED_OPTION_REAL && s->o->kind == HEED_OPTION_INT)))
        return s;
    heed_fail(f->c, HEED_USAGE, "setting %s is wrong: expected %s in the option table, found %s",
              key, kinds[kind], s ? "another kind" : "none");
    return NULL;
}

int64_t heed_config_int(const heed_config *f, const char *key) {
    const setting *s = get(f, key, HEED_OPTION_INT);
    return s ? s->whole : 0;
}

double heed_config_real(const heed_config *f, const char *key) {
    const setting *s = get(f, key, HEED_OPTION_REAL);
    return s ? s->real : 0;
}

bool heed_config_bool(const heed_config *f, const char *key) {
    const setting *s = get(f, key, HEED_OPTION_BOOL);
    return s && s->on;
}

const char *heed_config_text(const heed_config *f, const char *key) {
    const setting *s = get(f, key, HEED_OPTION_STRING);
    return s && s->text ? s->text : "";
}

/* Sets the member at `to` that a row describes; s NULL: to 0, false or "". */
static bool bind(heed_ctx *c, const heed_option *o, const setting *s, unsigned char *to) {
    int64_t whole = s ? s->whole : 0;
    double real = s ? s->real : 0;
    bool on = s && s->on;
    const char *text = s ? s->text : "";
    if (o->kind == HEED_OPTION_INT && o->size == sizeof(int)) {
        int narrow = (int)whole;
        if (narrow != whole)
            return heed_fail(c, HEED_USAGE, "%s is wrong: expected at most %d, found %lld", o->name,
                             INT_MAX, (long long)whole);
        memcpy(to, &narrow, sizeof narrow);
    } else if (o->kind == HEED_OPTION_REAL && o->size == sizeof(float)) {
        float narrow = (float)real;
        memcpy(to, &narrow, sizeof narrow);
    } else {
        const void *from = o->kind == HEED_OPTION_INT    ? (const void *)&whole
                           : o->kind == HEED_OPTION_REAL ? (const void *)&real
                           : o->kind == HEED_OPTION_BOOL ? (const void *)&on
                                                         : (const void *)&text;
        memcpy(to, from, o->size);
    }
    return true;
}

bool heed__config_bind(const heed_config *f, const heed_option *table, void *set) {
    if (!f || !set || heed__stopped(f->c)) return false;
    bool ok = true;
    for (const heed_option *o = table; ok && o && o->name; o++) {
        unsigned char *to = (unsigned char *)set + o->offset;
        bool absent = is_shared(o) && !heed_config_has(f, o->name);
        if (o->rows)
            ok = heed__config_bind(f, o->rows, to);
        else if (o->size) {
            const setting *s = absent ? NULL : get(f, o->name, o->kind);
            ok = (s || absent) && bind(f->c, o, s, to);
        }
    }
    return ok;
}

const char *heed_config_default(const heed_config *f, const char *key) {
    const setting *s = get(f, key, HEED_OPTION_STRING);
    const char *initial = s ? initial_of(s) : NULL;
    return initial ? initial : "";
}

heed_rank heed_config_rank(const heed_config *f, const char *key) {
    const setting *s = get(f, key, HEED_OPTION_STRING);
    return s ? s->rank : HEED_FROM_DEFAULT;
}

bool heed_config_has(const heed_config *f, const char *key) {
    return f && key && find_setting(f, key, strlen(key));
}

int heed_config_count(const heed_config *f) { return f ? (int)f->count : 0; }

const heed_option *heed_config_at(const heed_config *f, int index, const char **value) {
    bool inside = f && index >= 0 && (size_t)index < f->count;
    if (value) *value = inside ? f->settings[index].text : "";
    return inside ? f->settings[index].o : NULL;
}

const char *heed_config_group(const heed_config *f, int index) {
    return f && index >= 0 && (size_t)index < f->count ? f->settings[index].group : "";
}

void heed_config_by_data(heed_config *f, const char *keys) {
    for (size_t n; f && keys && *keys; keys += n + strspn(keys + n, " ")) {
        n = strcspn(keys, " ");
        setting *s = find_setting(f, keys, n);
        if (s) s->by_data = true;
    }
}

bool heed_config_set(heed_config *f, const char *key, const char *value, const char *where,
                     heed_rank rank) {
    if (!f || heed__stopped(f->c) || !key || !value) return false;
    setting *s = find_setting(f, key, strlen(key));
    if (!s) return unknown(f, key, strlen(key), where, rank);
    return put_setting(f, s, value, where, rank);
}

bool heed_config_set_list(heed_config *f, const char *settings, const char *where, heed_rank rank) {
    if (!f || heed__stopped(f->c)) return false;
    heed_text value = {.c = f->c};
    bool ok = true;
    if (settings) settings += strspn(settings, " ");
    for (const char *key = settings; ok && key && *key; key += strspn(key, " ")) {
        size_t n = strcspn(key, " "), name = strcspn(key, "= ");
        if (key[name] != '=') {
            ok = heed_fail(f->c, HEED_USAGE, "%s is wrong: expected KEY=VALUE, found %.*s",
                           where ? where : "a list of settings", (int)n, key);
            break;
        }
        setting *s = find_setting(f, key, name);
        value.n = 0;
        if (s)
            ok = heed_text_put(&value, key + name + 1, n - name - 1) &&
                 put_setting(f, s, value.s, where, rank);
        else if (rank == HEED_FROM_FLAG)
            ok = unknown(f, key, name, where, rank);
        if (s && ok && rank == HEED_FROM_DEFAULT) {
            heed__free(s->initial);
            s->initial = heed__copy_text(f->c, s->text);
            ok = s->initial != NULL;
        }
        key += n;
    }
    heed_text_free(&value);
    return ok;
}

/* ---- files ---- */

enum { FILE_LIMIT = 1 << 20 };

typedef struct {
    heed_config *f;
    const char *path;
    size_t line;  /* counted from 1 */
    size_t *seen; /* per setting: the line that set it, 0 none */
    size_t capacity;
    bool open; /* settings that no table has are kept as texts; else they are errors */
    heed_rank rank;
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
        bool escaped = quote == '"' && *from == '\\';
        *to = escaped ? escape(*++from, true) : *from;
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
    if (find_setting(r->f, key, n))
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
    setting *s = find_setting(r->f, key, n);
    if (!s && (!r->open || strcspn(key, " \t#") < n)) return unknown(r->f, key, n, where, r->rank);
    if (!s && (!(s = add_unknown(r->f, key, n)) ||
               !heed__grow(r->f->c, &r->seen, &r->capacity, r->f->count, sizeof *r->seen)))
        return false;
    size_t *seen = &r->seen[s - r->f->settings];
    if (*seen)
        return heed_fail(r->f->c, HEED_DATA, "%s is set twice: %s: lines %zu and %zu", s->o->name,
                         r->path, *seen, r->line);
    *seen = r->line;
    char *value = skip_blanks(equals + 1);
    value = *value == '"' || *value == '\'' ? quoted_value(r, value) : plain_value(value);
    return value && put_setting(r->f, s, value, where, r->rank);
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

static bool parse_file(reading r, char *text, size_t n) {
    r.line = 1;
    bool ok = heed__grow(r.f->c, &r.seen, &r.capacity, r.f->count, sizeof *r.seen) &&
              read_lines(&r, text, n);
    heed__free(r.seen);
    return ok;
}

bool heed__config_parse(heed_config *f, const char *path, char *text, size_t n, heed_rank rank) {
    if (!f || heed__stopped(f->c)) return false;
    return parse_file((reading){.f = f, .path = path, .rank = rank}, text, n);
}

static bool read_file(reading r) {
    size_t n;
    char *text = (char *)heed__os_read(r.f->c, r.path, FILE_LIMIT, &n);
    bool ok = text && parse_file(r, text, n);
    heed__free(text);
    return ok;
}

bool heed__config_read(heed_config *f, const char *path, heed_rank rank) {
    return f && !heed__stopped(f->c) && path &&
           read_file((reading){.f = f, .path = path, .rank = rank});
}

bool heed__config_read_open(heed_config *f, const char *path) {
    return f && !heed__stopped(f->c) &&
           read_file((reading){.f = f, .path = path, .rank = HEED_FROM_FILE, .open = true});
}

/* ---- command lines ---- */

typedef struct {
    heed_config *f;
    int count, at; /* number of arguments, index of the next one */
    char **args;
} arguments;

/* The value of a flag; what looks like a flag itself is refused: the value was forgotten. NULL: of
 * -c. */
static const char *next_value(arguments *a, const char *flag, const heed_option *o) {
    const char *value = a->at < a->count ? a->args[a->at] : NULL;
    if (value && strncmp(value, "--", 2) != 0) {
        a->at++;
        return value;
    }
    heed_text expected = {.c = a->f->c};
    if (o ? add_expected(o, &expected) : heed_text_add(&expected, "a file of settings"))
        heed_fail(a->f->c, HEED_USAGE, "%s is wrong: expected %s, found %s; hint: %s%s", flag,
                  expected.s, value ? value : "the end of the line", flag,
                  o ? "=VALUE" : " settings.conf");
    heed_text_free(&expected);
    return NULL;
}

/* Reads one --flag and removes it and its value from the arguments. */
static bool take_flag(arguments *a, const char *arg) {
    const char *key = arg + 2, *equals = strchr(key, '=');
    size_t n = equals ? (size_t)(equals - key) : strlen(key);
    char flag[128], dashed[128];
    snprintf(flag, sizeof flag, "--%.*s", n < 100 ? (int)n : 100, key);
    snprintf(dashed, sizeof dashed, "%.*s", n < 100 ? (int)n : 100, key);
    for (char *at = dashed; (at = strchr(at, '_')) != NULL;) *at = '-';
    setting *s = find_setting(a->f, key, n);
    if (!s) s = find_setting(a->f, dashed, strlen(dashed)); /* "--top_k" */
    bool off = !s && strncmp(dashed, "no-", 3) == 0;
    if (off) s = find_setting(a->f, dashed + 3, strlen(dashed) - 3);
    if (!s) return unknown(a->f, key, n, flag, HEED_FROM_FLAG);
    if (off && s->o->kind != HEED_OPTION_BOOL)
        return heed_fail(a->f->c, HEED_USAGE, "%s is wrong: not a switch: expected --%s=VALUE",
                         flag, s->o->name);
    bool is_switch = s->o->kind == HEED_OPTION_BOOL;
    if (is_switch && equals)
        return heed_fail(a->f->c, HEED_USAGE,
                         "%s is wrong: expected no value, found %s; hint: --%s or --no-%s", flag,
                         equals, s->o->name, s->o->name);
    const char *value = is_switch ? (off ? "false" : "true")
                        : equals  ? equals + 1
                                  : next_value(a, flag, s->o);
    heed_text joined = {.c = a->f->c};
    if (value && s->o->kind == HEED_OPTION_STRING && s->o->max > 1 && s->rank == HEED_FROM_FLAG &&
        *s->text)
        value = heed_text_add(&joined, "%s\x1E%s", s->text, value) ? joined.s : NULL;
    bool ok = value && put_setting(a->f, s, value, flag, HEED_FROM_FLAG);
    heed_text_free(&joined);
    return ok;
}

bool heed_config_args(heed_config *f, int *argc, char **argv) {
    if (!f || heed__stopped(f->c) || !argc || !argv) return false;
    arguments a = {.f = f, .count = *argc, .args = argv};
    int kept = 0;
    bool ok = true, flags = true;
    while (ok && a.at < a.count && argv[a.at]) {
        char *arg = argv[a.at++];
        if (flags && strcmp(arg, "--") == 0)
            flags = false;
        else if (flags && strncmp(arg, "--", 2) == 0)
            ok = take_flag(&a, arg);
        else if (flags && strcmp(arg, "-c") == 0) {
            const char *path = next_value(&a, arg, NULL);
            ok = path && heed__config_read(f, path, HEED_FROM_FILE);
        } else
            argv[kept++] = arg;
    }
    if (!ok) return false;
    if (kept < *argc) argv[kept] = NULL;
    *argc = kept;
    return true;
}

/* ---- settings without effect ---- */

/* Calls see for the alternatives about settings that exist, until one returns true. */
typedef bool see_alternative(const setting *s, const char *values, bool other, heed_text *out);
static bool each(const heed_config *f, const char *when, see_alternative *see, heed_text *out) {
    for (const char *at = when; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        size_t n = strcspn(at, "!=");
        const setting *s = find_setting(f, at, n);
        bool other = at[n] == '!';
        if (s && see(s, at + n + 1 + other, other, out)) return true;
    }
    return false;
}

static bool holds(const setting *s, const char *values, bool other, heed_text *out) {
    (void)out;
    return is_one_of(s->text, values) != other;
}

static bool exists(const setting *s, const char *values, bool other, heed_text *out) {
    (void)s, (void)values, (void)other, (void)out;
    return true;
}

/* "`kind = dense` or `kind = conv`", "`tokenizer` other than char or byte", "`freeze`" */
static bool expect(const setting *s, const char *values, bool other, heed_text *out) {
    for (const char *v = values;; v++) {
        size_t n = strcspn(v, " |");
        bool more = other && v > values;
        if (!more) heed_text_add(out, "%s`%s", out->n ? " or " : "", s->o->name);
        heed_text_add(out,
                      more     ? " or %.*s"
                      : !other ? " = %.*s`"
                      : n      ? "` other than %.*s"
                               : "`",
                      (int)n, v);
        v += n;
        if (*v != '|') return false;
    }
}

static bool find(const setting *s, const char *values, bool other, heed_text *out) {
    (void)values, (void)other;
    if (*s->text) heed_text_add(out, "%s`%s = %s`", out->n ? " and " : "", s->o->name, s->text);
    return false;
}

static bool refuse(const heed_config *f, const setting *s, const char *when) {
    heed_text expected = {.c = f->c}, found = {.c = f->c};
    each(f, when, expect, &expected);
    each(f, when, find, &found);
    heed_fail(f->c, HEED_USAGE, "`%s` has no effect here: expected %s%s%s", s->o->name,
              expected.s ? expected.s : "another model", found.n ? ", found " : "",
              found.n ? found.s : "");
    heed_text_free(&expected);
    heed_text_free(&found);
    return false;
}

bool heed_config_check(const heed_config *f) {
    if (!f || heed__stopped(f->c)) return false;
    for (size_t i = 0; i < f->condition_count; i++) {
        const heed_option *o = f->conditions[i];
        bool applies = !*o->when || each(f, o->when, exists, NULL);
        if (!applies || each(f, o->when, holds, NULL)) continue;
        for (const char *at = o->name; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
            const setting *s = find_setting(f, at, strcspn(at, " "));
            if (s && s->rank == HEED_FROM_FLAG) return refuse(f, s, o->when);
        }
    }
    return true;
}

/* ---- writing ---- */

static const setting *next_setting(const heed_config *f, const setting *after) {
    size_t i = after ? (size_t)(after - f->settings) + 1 : 0;
    const char *group = after ? after->group : f->count ? f->settings[0].group : "";
    for (; i < f->count; i++)
        if (strcmp(f->settings[i].group, group) == 0) return &f->settings[i];
    /* The next group begins with the next setting whose group did not occur earlier. */
    size_t start = 0;
    while (start < f->count && strcmp(f->settings[start].group, group) != 0) start++;
    for (i = start + 1; i < f->count; i++) {
        size_t k = 0;
        while (strcmp(f->settings[k].group, f->settings[i].group) != 0) k++;
        if (k == i) return &f->settings[i];
    }
    return NULL;
}

enum { WIDTH = 100 }; /* columns of a file */

/* True if text must be quoted to read back unchanged. */
static bool needs_quotes(const char *text) {
    size_t n = strlen(text);
    if (!n) return false;
    bool edges = strchr(" \t\"'", text[0]) || strchr(" \t", text[n - 1]);
    return edges || strpbrk(text, "#\n\r") != NULL;
}

static bool put_value(heed_text *out, const char *text) {
    if (!needs_quotes(text)) return heed_text_add(out, "%s%s", *text ? " " : "", text);
    bool ok = heed_text_add(out, " \"");
    for (; ok && *text; text++) {
        char letter = escape(*text, false);
        ok = letter ? heed_text_add(out, "\\%c", letter) : heed_text_put(out, text, 1);
    }
    return ok && heed_text_add(out, "\"");
}

#define BY_DATA "chosen from the data, else "

/* " (a whole number from 1 to 96; default 4)"; the kind of a text is left out. */
static bool put_rule(heed_text *out, const setting *s) {
    const char *initial = initial_of(s);
    bool text = s->o->kind == HEED_OPTION_STRING && !s->o->choices, given = initial && *initial;
    if (text && !given) return true;
    return heed_text_add(out, " (") && (text || add_expected(s->o, out)) &&
           (!given || heed_text_add(out, "%s%s%s", text ? "" : "; ",
                                    s->by_data ? BY_DATA : "default ", initial)) &&
           heed_text_add(out, ")");
}

static bool put_comment(heed_text *out, const setting *s) {
    heed_text line = {.c = out->c};
    bool ok = heed_text_add(&line, "%s", s->o->help ? s->o->help : s->o->name) &&
              put_rule(&line, s) && heed_text_add(out, "# ") &&
              heed__put_wrapped(out, line.s, 2, "# ", WIDTH) && heed_text_add(out, "\n");
    heed_text_free(&line);
    return ok;
}

bool heed_config_write(const heed_config *f, heed_text *out, bool comments) {
    if (!f || !out || heed__stopped(f->c)) return false;
    const char *group = "";
    bool ok = true;
    for (const setting *s = NULL; ok && (s = next_setting(f, s)) != NULL;) {
        if (comments && strcmp(group, s->group) != 0)
            ok = heed_text_add(out, "%s# ---- %s ----\n", *group ? "\n" : "", s->group);
        group = s->group;
        if (comments) ok = ok && put_comment(out, s);
        bool chosen = s->by_data && s->rank == HEED_FROM_DEFAULT;
        ok = ok && heed_text_add(out, "%s%s =", chosen ? "# " : "", s->o->name) &&
             put_value(out, s->text) && heed_text_add(out, "\n");
    }
    return ok;
}

/* ---- --help ---- */

/* " pre|post"; a list that is too long continues in the next line. */
static bool put_choices(heed_text *out, const heed_option *o, size_t width) {
    size_t used = strlen("  --") + strlen(o->name) + 1;
    bool ok = heed_text_add(out, "  --%s ", o->name);
    for (const char *at = o->choices; ok && *at;) {
        size_t n = strcspn(at, "|");
        n += at[n] != 0;
        if (used + n > width) ok = heed_text_add(out, "\n      ");
        used = used + n > width ? 6 + n : used + n;
        ok = ok && heed_text_put(out, at, n);
        at += n;
    }
    return ok;
}

/* "--layers N", "--norm pre|post", "--[no-]tie" */
static bool put_flag(heed_text *out, const heed_option *o, size_t width) {
    static const char *const values[] = {[HEED_OPTION_BOOL] = "",
                                         [HEED_OPTION_INT] = " N",
                                         [HEED_OPTION_REAL] = " X",
                                         [HEED_OPTION_STRING] = " TEXT"};
    if (o->choices) return put_choices(out, o, width);
    return heed_text_add(out, "  --%s%s%s", o->kind == HEED_OPTION_BOOL ? "[no-]" : "", o->name,
                         values[o->kind]);
}

static bool put_help(heed_text *out, const setting *s, size_t width, const char *indent) {
    const heed_option *o = s->o;
    const char *initial = initial_of(s);
    size_t column = strlen(indent), start = out->n;
    heed_text line = {.c = out->c};
    bool ok = put_flag(out, o, width);
    size_t used = out->n - start;
    bool below = used + 2 > column; /* a long flag has a line of its own */
    ok = ok &&
         heed_text_add(out, "%s%*s", below ? "\n" : "", (int)(below ? column : column - used), "");
    ok = ok && heed_text_add(&line, "%s", o->help ? o->help : "");
    if (ok && initial && *initial)
        ok = heed_text_add(&line, " [%s%s]", s->by_data ? BY_DATA : "", initial);
    if (ok && line.n) ok = heed__put_wrapped(out, line.s, column, indent, width);
    heed_text_free(&line);
    return ok && heed_text_add(out, "\n");
}

bool heed_config_help(const heed_config *f, heed_text *out, int width) {
    if (!f || !out || heed__stopped(f->c)) return false;
    enum { LEAST = 20, MOST = 32, BELOW = 6, NARROW = 30 };
    size_t column = f->key_width + 10; /* two blanks, "--", "[no-]" or " N", two blanks */
    if (column < LEAST) column = LEAST;
    if (column > MOST) column = MOST;
    if (width < 60) column = BELOW; /* then the help of every flag has lines of its own */
    char indent[MOST + 1] = "";
    memset(indent, ' ', column);
    const char *group = "";
    bool ok = true;
    for (const setting *s = NULL; ok && (s = next_setting(f, s)) != NULL;) {
        if (strcmp(group, s->group) != 0)
            ok = heed_text_add(out, "%s%s:\n", *group ? "\n" : "", s->group);
        group = s->group;
        ok = ok && put_help(out, s, (size_t)(width > NARROW ? width : NARROW), indent);
    }
    return ok;
}
