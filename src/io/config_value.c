/* config_value.c -- the check of one value, and the message when it fails. */
#include "io/config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char heed__escape(char c, bool back) {
    static const char codes[] = "\n\r\t\"\\", letters[] = "nrt\"\\";
    const char *from = back ? letters : codes, *at = c ? strchr(from, c) : NULL;
    return at ? (back ? codes : letters)[at - from] : '\0';
}

/* Wrong values of files are bad data. */
static heed_status status_of(heed_rank rank) {
    return rank == HEED_FROM_FILE ? HEED_DATA : HEED_USAGE;
}

static bool bounded(const heed_option *o) { return o->min != 0 || o->max != 0; }

bool heed__option_expects(const heed_option *o, heed_text *out) {
    static const char *const kinds[] = {[HEED_BOOL] = "true or false",
                                        [HEED_INT] = "a whole number",
                                        [HEED_REAL] = "a number",
                                        [HEED_TEXT] = "a text",
                                        [HEED_CHOICE] = "one of "};
    bool ok = heed_text_add(out, "%s", kinds[o->kind]);
    for (const char *at = o->kind == HEED_CHOICE && o->choices ? o->choices : ""; ok && *at; at++)
        ok = *at == '|' ? heed_text_put(out, ", ", 2) : heed_text_put(out, at, 1);
    if ((o->kind != HEED_INT && o->kind != HEED_REAL) || !bounded(o)) return ok;
    ok = ok && heed_text_add(out, isinf(o->max) ? " of at least " : " from ") &&
         heed__put_number(out, o->min);
    if (ok && !isinf(o->max)) ok = heed_text_add(out, " to ") && heed__put_number(out, o->max);
    return ok;
}

static bool wrong(heed_config *f, const heed__setting *s, const char *text, const char *where,
                  heed_rank rank) {
    char found[HEED_QUOTE];
    heed_text expected = {.c = f->c};
    if (heed__option_expects(s->o, &expected)) {
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

static bool is_one_of(const char *text, const char *choices) {
    size_t n = strlen(text);
    for (const char *at = choices; at && *at;) {
        size_t part = strcspn(at, "|");
        if (part == n && memcmp(at, text, n) == 0) return true;
        at += part + (at[part] == '|');
    }
    return false;
}

/* Fills the parsed fields of s; false if its option does not accept text. */
static bool parse(heed__setting *s, const char *text) {
    const heed_option *o = s->o;
    bool ok = true;
    switch (o->kind) {
    case HEED_INT:
        ok = read_whole(text, &s->whole);
        s->real = (double)s->whole;
        break;
    case HEED_REAL:
        ok = heed__number(text, &s->real);
        break;
    case HEED_BOOL:
        s->on = is_one_of(text, "true|yes|on|1");
        return s->on || is_one_of(text, "false|no|off|0");
    case HEED_CHOICE:
        return is_one_of(text, o->choices);
    case HEED_TEXT:
        return true;
    }
    return ok && (!bounded(o) || (s->real >= o->min && s->real <= o->max));
}

static char *canonical(heed_ctx *c, const heed__setting *s, const char *text) {
    if (s->o->kind == HEED_BOOL) return heed__copy_text(c, s->on ? "true" : "false");
    if (s->o->kind != HEED_INT) return heed__copy_text(c, text);
    heed_text digits = {.c = c};
    return heed_text_add(&digits, "%lld", (long long)s->whole) ? digits.s : NULL;
}

bool heed__setting_put(heed_config *f, heed__setting *s, const char *text, const char *where,
                       heed_rank rank) {
    heed__setting now = {.o = s->o, .group = s->group, .initial = s->initial, .rank = rank};
    size_t n = strlen(text);
    if (n > HEED__VALUE_LIMIT || heed_utf8_valid(text, n) < n)
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

bool heed__setting_unknown(const heed_config *f, const char *key, size_t n, const char *where,
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
