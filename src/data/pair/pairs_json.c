/* pairs_json.c -- lines of JSON objects:
 * {"src": "...", "tgt": "..."}, {"label": "...", "text": "..."}, {"tokens": [..], "tags": [..]},
 * {"image": "...", "caption": "..."}. */
#include "data/pair/pairs.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS = 24 };

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
    if (json_is_null(value)) return true; /* no text */
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

/* Chooses the keys of both sides: of each object anew, as any may lack some. */
static bool choose(heed__line *l, const json_t *object, heed__cut *keys) {
    size_t count = 0;
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *key = json_object_iter_key(at);
        keys[count++] = (heed__cut){key, strlen(key)};
    }
    l->table.rows.line = l->number;
    return heed__table_choose(&l->table, keys, count);
}

/* An item of a list is a word or the label of one: with white space in it, or empty, it would shift
 * the labels after it. */
static bool items_are_words(heed__line *l, const char *key, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        heed__cut rest = {json_string_value(item), json_string_length(item)}, word;
        char found[HEED_QUOTE], expected[80];
        if (!rest.s ? !json_is_null(item)
                    : heed__next_word(&rest, &word) && word.n == json_string_length(item))
            continue;
        snprintf(expected, sizeof expected, "one word as item %zu of \"%.24s\"", i + 1, key);
        return heed__pairs_wrong(l, expected,
                                 json_is_null(item) ? "null"
                                                    : heed_quote(found, json_string_value(item),
                                                                 json_string_length(item)));
    }
    return true;
}

/* A value that is no text, in words. */
static const char *kind_of(const json_t *value) {
    return json_is_true(value)     ? "true"
           : json_is_false(value)  ? "false"
           : json_is_real(value)   ? "a number with a fraction"
           : json_is_object(value) ? "an object"
                                   : "a list that holds more than texts";
}

/* Values are never longer than their JSON text in the line, which they overwrite. */
static bool put_values(heed__line *l, const json_t *object, const heed__cut *keys) {
    heed__cut text[HEED__SIDES];
    char *to = l->s;
    for (int side = 0; side < HEED__SIDES; side++) {
        const char *key = keys[l->table.column[side]].s;
        const json_t *value = json_object_get(object, key);
        text[side].s = to;
        if (l->k->a.kind == HEED_TARGET_TAGS && !items_are_words(l, key, value)) return false;
        if (!put_value(value, &to))
            return heed_fail(l->k->c, HEED_DATA,
                             "line is wrong: %s:%zu: expected an object with text under \"%s\", "
                             "found %s; hint: write it as text, in \"quotes\"",
                             l->path, l->number, key, kind_of(value));
        text[side].n = (size_t)(to - text[side].s);
    }
    size_t part = l->table.column[HEED__PART];
    const json_t *of = part == HEED__ABSENT ? NULL : json_object_get(object, keys[part].s);
    l->part =
        heed__table_part(&l->table, (heed__cut){json_is_string(of) ? json_string_value(of) : "",
                                                json_string_length(of)});
    if (l->part < 0) return false;
    l->k->info.extra_columns += json_object_size(object) > heed__table_roles(&l->table);
    return heed__pairs_add(l, text);
}

static bool add_object(heed__line *l, const json_t *object) {
    heed__cut *keys = heed__alloc_array(l->k->c, json_object_size(object), sizeof *keys);
    bool ok = keys && choose(l, object, keys) && put_values(l, object, keys);
    heed__free(keys);
    return ok;
}

bool heed__pairs_json(heed__line *l) {
    json_error_t e;
    json_t *value = json_loadb(l->s, l->n, JSON_REJECT_DUPLICATES, &e);
    char found[HEED_QUOTE];
    if (!value && !*e.text) /* as jansson says it */
        return heed_fail(l->k->c, HEED_FAILED, "cannot read %s: out of memory", l->path);
    if (!value)
        return heed__pairs_wrong(l, "a JSON object", heed_quote(found, e.text, strlen(e.text)));
    bool ok = json_is_object(value) ? add_object(l, value)
                                    : heed__pairs_wrong(l, "a JSON object a line", "a list");
    json_decref(value);
    return ok;
}
