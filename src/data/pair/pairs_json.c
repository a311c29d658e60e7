/* pairs_json.c -- lines that are JSON objects: {"src": "...", "tgt": "..."}, {"label": "...",
 * "text": "..."} or {"tokens": ["..."], "tags": ["..."]}. */
#include "data/pair/pairs.h"
#include "io/io.h"

#include <stdio.h>
#include <string.h>

enum { NAMES = 2, DIGITS = 24 };
static const char *const keys[][HEED__SIDES][NAMES] = {
    [HEED_TRANSLATION] = {{"src", "source"}, {"tgt", "target"}},
    [HEED_CLASSES] = {{"text", "sentence"}, {"label", "class"}},
    [HEED_TAGS] = {{"tokens", "words"}, {"tags", "labels"}},
};

/* Appends the text of a string or a whole number; false for any other value. */
static bool put_plain(const json_t *value, char **to) {
    char digits[DIGITS];
    const char *s = json_string_value(value);
    size_t n = json_string_length(value);
    if (json_is_integer(value)) {
        n = (size_t)snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT,
                             json_integer_value(value));
        s = digits;
    }
    if (!s) return false;
    memcpy(*to, s, n);
    *to += n;
    return true;
}

/* Also accepts a list, whose elements are separated by spaces. */
static bool put_value(const json_t *value, char **to) {
    if (!json_is_array(value)) return put_plain(value, to);
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (i) *(*to)++ = ' ';
        if (!put_plain(json_array_get(value, i), to)) return false;
    }
    return true;
}

static bool lacks(const heed__line *l, const char *key, const char *found) {
    return heed_fail(l->k->c, HEED_DATA,
                     "line is wrong: %s:%zu: expected an object with text under \"%s\", found %s",
                     l->path, l->number, key, found);
}

/* Values are never longer than their JSON text in the line, which they overwrite. */
static bool take(heed__line *l, const json_t *object) {
    heed__cut text[HEED__SIDES];
    char *to = l->s;
    for (int side = 0; side < HEED__SIDES; side++) {
        const char *const *names = keys[l->k->a.kind][side];
        const json_t *value = NULL;
        for (int i = 0; i < NAMES && !value; i++) value = json_object_get(object, names[i]);
        if (!value) return lacks(l, names[0], "no such key");
        text[side].s = to;
        if (!put_value(value, &to)) return lacks(l, names[0], "another kind of value");
        text[side].n = (size_t)(to - text[side].s);
    }
    l->k->info.extra_columns += json_object_size(object) > HEED__SIDES;
    return heed__pairs_add(l, text);
}

/* jansson gives no message when it is out of memory. */
static bool refuse(const heed__line *l, const json_error_t *e) {
    char found[HEED_QUOTE];
    if (!*e->text) return heed_fail(l->k->c, HEED_FAILED, "cannot read %s: out of memory", l->path);
    return heed__pairs_wrong(l, "a JSON object", heed_quote(found, e->text, strlen(e->text)));
}

bool heed__pairs_json(heed__line *l) {
    json_error_t e;
    json_t *value = json_loadb(l->s, l->n, JSON_REJECT_DUPLICATES, &e);
    if (!value) return refuse(l, &e);
    bool ok = json_is_object(value) ? take(l, value)
                                    : heed__pairs_wrong(l, "a JSON object a line", "a list");
    json_decref(value);
    return ok;
}
