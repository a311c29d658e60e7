/* config_when.c -- settings that have no effect beside certain values of others are refused. */
#include "io/config.h"

#include <string.h>

/* The length of the word at s, which spaces end, or `|` as well. */
static size_t word(const char *s, bool bar) { return strcspn(s, bar ? " |" : " "); }

static bool one_of(const char *value, const char *list) {
    for (size_t n;; list += n + 1) {
        n = word(list, true);
        if (strlen(value) == n && strncmp(value, list, n) == 0) return true;
        if (list[n] != '|') return false;
    }
}

/* Calls see for the alternatives about settings that exist, until one returns true. */
typedef bool see_alternative(const heed__setting *s, const char *values, bool other,
                             heed_text *out);
static bool each(const heed_config *f, const char *when, see_alternative *see, heed_text *out) {
    for (const char *at = when; *at; at += word(at, false), at += strspn(at, " ")) {
        size_t n = strcspn(at, "!=");
        const heed__setting *s = heed__setting_find(f, at, n);
        bool other = at[n] == '!';
        if (s && see(s, at + n + 1 + other, other, out)) return true;
    }
    return false;
}

static bool holds(const heed__setting *s, const char *values, bool other, heed_text *out) {
    (void)out;
    return one_of(s->text, values) != other;
}

static bool exists(const heed__setting *s, const char *values, bool other, heed_text *out) {
    (void)s, (void)values, (void)other, (void)out;
    return true;
}

/* "`kind = dense` or `kind = conv`", "`tokenizer` other than char or byte", "`freeze`" */
static bool expect(const heed__setting *s, const char *values, bool other, heed_text *out) {
    for (const char *v = values;; v++) {
        size_t n = word(v, true);
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

static bool find(const heed__setting *s, const char *values, bool other, heed_text *out) {
    (void)values, (void)other;
    if (*s->text) heed_text_add(out, "%s`%s = %s`", out->n ? " and " : "", s->o->name, s->text);
    return false;
}

static bool refuse(const heed_config *f, const heed__setting *s, const char *when) {
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

bool heed_config_check(const heed_config *f, const heed_condition *list) {
    if (!f || heed__stopped(f->c)) return false;
    for (; list && list->settings; list++) {
        bool applies = !*list->when || each(f, list->when, exists, NULL);
        if (!applies || each(f, list->when, holds, NULL)) continue;
        for (const char *at = list->settings; *at; at += word(at, false), at += strspn(at, " ")) {
            const heed__setting *s = heed__setting_find(f, at, word(at, false));
            if (s && s->rank == HEED_FROM_FLAG) return refuse(f, s, list->when);
        }
    }
    return true;
}
