/* pairs_line.c -- lines of columns separated by tabs, whose first may name them, or of JSON
 * objects:
 * {"src": "...", "tgt": "..."}, {"label": "...", "text": "..."}, {"tokens": [..], "tags": [..]},
 * {"image": "...", "caption": "..."}. */
#include "data/pair/pairs.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* ---- columns ---- */

/* The next column of rest; false when the line has no more. */
static bool next_column(heed__cut *rest, heed__cut *column) {
    if (!rest->s) return false;
    const char *tab = rest->n ? memchr(rest->s, '\t', rest->n) : NULL;
    *column = (heed__cut){rest->s, tab ? (size_t)(tab - rest->s) : rest->n};
    *rest = tab ? (heed__cut){tab + 1, rest->n - column->n - 1} : (heed__cut){NULL, 0};
    return true;
}

bool heed__pairs_tsv(heed__line *l) {
    heed__cut rest = {l->s, l->n}, column, text[HEED__SIDES] = {{NULL, 0}};
    size_t count = 0;
    l->note = (heed__cut){NULL, 0};
    for (; next_column(&rest, &column); count++) {
        bool further = true;
        for (int side = 0; side < HEED__SIDES; side++)
            if (l->column[side] == count) text[side] = column, further = false;
        if (further && !l->note.s) l->note = column;
    }
    if (!text[HEED__SOURCE].s || !text[HEED__TARGET].s)
        return heed__pairs_wrong(l, heed__pairs_form(l->k->a.kind),
                                 count < 2 ? "no tab in it" : "fewer columns than in the header");
    l->k->info.extra_columns += count > HEED__SIDES;
    return heed__pairs_add(l, text);
}

bool heed__pairs_tsv_header(heed__line *l, bool *header) {
    heed__cut rest = {l->s, l->n}, column, names[HEED_CSV_FIELDS];
    size_t count = 0;
    while (count < HEED_CSV_FIELDS && next_column(&rest, &column))
        names[count++] = heed__trimmed(column);
    return heed__pairs_header(l, names, count, header);
}

/* ---- JSON ---- */

enum { NAMES = 3, DIGITS = 24 };
static const char *const keys[][HEED__SIDES][NAMES] = {
    [HEED_TRANSLATION] = {{"src", "source"}, {"tgt", "target"}},
    [HEED_CLASSES] = {{"text", "sentence"}, {"label", "class"}},
    [HEED_TAGS] = {{"tokens", "words"}, {"tags", "labels"}},
    [HEED_CAPTIONS] = {{"image", "file", "file_name"}, {"caption", "text"}},
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

/* An item of a list is a word or the label of one: with white space in it, or empty, it would shift
 * the labels after it. */
static bool items_are_words(heed__line *l, const char *key, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        heed__cut rest = {json_string_value(item), json_string_length(item)}, word;
        char found[HEED_QUOTE], expected[80];
        if (!rest.s || (heed__next_word(&rest, &word) && word.n == json_string_length(item)))
            continue;
        snprintf(expected, sizeof expected, "one word as item %zu of \"%.24s\"", i + 1, key);
        return heed__pairs_wrong(
            l, expected, heed_quote(found, json_string_value(item), json_string_length(item)));
    }
    return true;
}

/* Values are never longer than their JSON text in the line, which they overwrite. */
static bool add_object(heed__line *l, const json_t *object) {
    heed__cut text[HEED__SIDES];
    char *to = l->s;
    for (int side = 0; side < HEED__SIDES; side++) {
        const char *const *names = keys[l->k->a.kind][side];
        const json_t *value = NULL;
        heed__cut given = l->k->columns[side];
        char key[HEED_QUOTE];
        snprintf(key, sizeof key, "%.*s", (int)given.n, given.s ? given.s : names[0]);
        if (given.s) value = json_object_get(object, key);
        for (int i = 0; i < NAMES && !value && !given.s; i++)
            value = json_object_get(object, names[i]);
        if (!value) return lacks(l, given.s ? key : names[0], "no such key");
        text[side].s = to;
        if (l->k->a.kind == HEED_TAGS && !items_are_words(l, given.s ? key : names[0], value))
            return false;
        if (!put_value(value, &to)) return lacks(l, names[0], "another kind of value");
        text[side].n = (size_t)(to - text[side].s);
    }
    l->k->info.extra_columns += json_object_size(object) > HEED__SIDES;
    return heed__pairs_add(l, text);
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
