/* pairs_conll.c -- sentences of words with labels as CoNLL files have them: a line for each word,
 * an empty line after each sentence. CoNLL: two or more columns between tabs or spaces, the word
 * first, its label last, and -DOCSTART- between documents (Tjong Kim Sang & De Meulder 2003).
 * CoNLL-U: ten columns between tabs, comments after #, ranges 1-2 of words that are written as one,
 * and nodes 1.1 that are not written (universaldependencies.org/format.html). */
#include "data/pair/pairs.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS = 64, UD_COLUMNS = 10 };
static const char *const ud_names[UD_COLUMNS] = {"id",    "form", "lemma",  "upos", "xpos",
                                                 "feats", "head", "deprel", "deps", "misc"};

/* The columns of a line, of at most COLUMNS; between tabs, or else between white space. */
static size_t cut_columns(heed__cut line, bool tabs, heed__cut out[COLUMNS]) {
    size_t count = 0;
    heed__cut word;
    while (!tabs && count < COLUMNS && heed__next_word(&line, &word)) out[count++] = word;
    for (bool more = tabs; more && count < COLUMNS;) {
        const char *tab = line.n ? memchr(line.s, '\t', line.n) : NULL;
        size_t n = tab ? (size_t)(tab - line.s) : line.n;
        out[count++] = heed__trimmed((heed__cut){line.s, n});
        more = tab != NULL;
        if (more) line = (heed__cut){tab + 1, line.n - n - 1};
    }
    return count;
}

static bool starts_with(heed__cut t, const char *start) {
    size_t n = strlen(start);
    return t.n >= n && memcmp(t.s, start, n) == 0;
}

static bool has_space(heed__cut t) {
    heed__cut word;
    return heed__next_word(&t, &word) && word.n && t.n > 0;
}

/* The next line; false at the end of the text. */
static bool next_line(const char *text, size_t n, size_t *at, heed__cut *line) {
    if (*at >= n) return false;
    line->s = text + *at;
    line->n = heed__line_length(line->s, n - *at);
    *at += line->n + 1;
    return true;
}

/* ---- whether a file is of this form ---- */

/* How its lines are divided. */
typedef struct {
    bool tabs, ud;
    size_t columns, column[HEED__SIDES]; /* column: of word and label, from 0 */
    heed__cut first[COLUMNS];            /* the columns of the first line, unless ud */
    bool named;                          /* the caller has chosen columns by these */
    bool comments; /* a line "# ..." before the first word of a sentence is one, whatever its length
                    */
} form;

static bool is_comment(heed__cut line, const form *f, bool inside) {
    heed__cut column[COLUMNS];
    return starts_with(line, "#") &&
           (f->ud || (f->comments && !inside && starts_with(line, "# ")) ||
            cut_columns(line, f->tabs, column) != f->columns);
}

static bool is_break(heed__cut line) { return !line.n || starts_with(line, "-DOCSTART-"); }

/* Comments are before the first word of a sentence, as in CoNLL-U: those with as many columns as
 * words have are found by others with more or fewer, or by such a line before every sentence, as
 * "# id 1 domain=en". */
static bool has_comments(const char *text, size_t n, const form *f) {
    heed__cut line;
    size_t sentences = 0, begun = 0, at = 0;
    for (bool inside = false; next_line(text, n, &at, &line);) {
        heed__cut content = heed__trimmed(line);
        bool mark = !inside && starts_with(content, "# ");
        if (mark && is_comment(content, f, inside)) return true;
        sentences += !inside && !is_break(content);
        begun += mark;
        inside = !is_break(content);
    }
    return sentences > 1 && begun == sentences;
}

/* Looks at all lines: in each, the first column is one word; there are as many columns in all; and
 * an empty line ends a sentence. TSV of words and labels has spaces in its columns. */
static bool find_form(const char *path, const char *text, size_t n, form *f) {
    heed__cut line, column[COLUMNS];
    size_t words = 0, sentences = 0, at = 0;
    bool named = heed__ends_in(path, ".conll") || heed__ends_in(path, ".conllu"), inside = false;
    *f = (form){.ud = heed__ends_in(path, ".conllu"), .columns = UD_COLUMNS, .tabs = true};
    if (f->ud) return true;
    while (next_line(text, n, &at, &line)) {
        heed__cut content = heed__trimmed(line);
        if (is_break(content)) {
            inside = false;
            continue;
        }
        if (!words && starts_with(content, "# ")) continue;
        if (!words++) {
            f->tabs = memchr(content.s, '\t', content.n) != NULL;
            f->columns = cut_columns(content, f->tabs, f->first);
            f->ud = f->tabs && f->columns == UD_COLUMNS && strtol(f->first->s, NULL, 10) == 1;
            if (f->columns < 2) return false;
            f->comments = has_comments(text, n, f);
        }
        if (named || f->ud) return true;
        if (is_comment(content, f, inside)) continue;
        sentences += !inside;
        inside = true;
        if (cut_columns(content, f->tabs, column) != f->columns || has_space(*column) ||
            has_space(column[f->columns - 1]))
            return false;
    }
    return sentences > 1 && words > sentences;
}

/* ---- which columns ---- */

/* The place of a column that a number from 1 or a name gives, which is one of CoNLL-U or of the
 * first line; f->columns: none. */
static size_t place_of(form *f, heed__cut name) {
    char *end;
    unsigned long number = strtoul(name.s, &end, 10);
    if (end == name.s + name.n && number >= 1 && number <= f->columns) return number - 1;
    for (size_t i = 0; i < f->columns; i++) {
        heed__cut own = f->ud ? (heed__cut){ud_names[i], strlen(ud_names[i])} : f->first[i];
        if (!heed__same_name(own.s, own.n, name.s, name.n)) continue;
        f->named = !f->ud;
        return i;
    }
    return f->columns;
}

static bool choose_columns(const heed__line *l, form *f) {
    const char *given = l->table.columns, *comma = given ? strchr(given, ',') : NULL;
    f->column[HEED__SOURCE] = f->ud ? 1 : 0;
    f->column[HEED__TARGET] = f->ud ? 3 : f->columns - 1;
    if (!given || !*given) return true;
    if (comma) {
        heed__cut source = {given, (size_t)(comma - given)},
                  target = {comma + 1, strlen(comma + 1)};
        f->column[HEED__SOURCE] = place_of(f, heed__trimmed(source));
        f->column[HEED__TARGET] = place_of(f, heed__trimmed(target));
    }
    bool there = comma && f->column[HEED__SOURCE] < f->columns &&
                 f->column[HEED__TARGET] < f->columns &&
                 f->column[HEED__SOURCE] != f->column[HEED__TARGET];
    char hint[24];
    snprintf(hint, sizeof hint, "%d,%zu", f->ud ? 2 : 1, f->ud ? (size_t)4 : f->columns);
    return there || heed_fail(l->k->c, HEED_USAGE,
                              "`%scolumns = %s`: %s is a CoNLL file of %zu columns: expected the "
                              "numbers or names of word and label, two columns%s; hint: "
                              "`%scolumns = %s`",
                              l->table.prefix, given, l->path, f->columns,
                              f->ud ? ", as form,upos" : "", l->table.prefix, hint);
}

/* Whether the first line names the columns: "word pos tag". */
static bool is_header(const heed__line *l, const form *f, heed__cut line) {
    static const char *const names[HEED__SIDES][8] = {
        {"word", "words", "token", "tokens", "form", "text"},
        {"tag", "tags", "label", "labels", "ner", "pos", "ner_tag", "ner_tags"}};
    heed__cut column[COLUMNS];
    const char *given = l->table.header;
    if (f->ud || cut_columns(line, f->tabs, column) != f->columns) return false;
    if (f->named || (given && strcmp(given, "auto") != 0))
        return f->named || strcmp(given, "yes") == 0;
    for (int side = 0; side < HEED__SIDES; side++) {
        heed__cut name = column[f->column[side]];
        bool known = false;
        for (int i = 0; i < 8 && names[side][i]; i++)
            known |= strlen(names[side][i]) == name.n &&
                     strncasecmp(names[side][i], name.s, name.n) == 0;
        if (!known) return false;
    }
    return true;
}

/* ---- sentences ---- */

/* A space in a form of CoNLL-U, "10 000", does not break: a sentence is divided at spaces. */
static bool put_word(heed_text *out, heed__cut word) {
    bool ok = heed_text_put(out, " ", out->n > 0);
    for (size_t i = 0; ok && i < word.n; i++)
        ok = word.s[i] == ' ' ? heed_text_put(out, "\xC2\xA0", 2)
                              : heed_text_put(out, word.s + i, 1);
    return ok;
}

/* Adds the sentence, which begins at `from`, and writes it in the place of its lines, which are
 * longer. */
static bool add_sentence(heed__line *l, heed_text side[HEED__SIDES], char *from) {
    heed__cut text[HEED__SIDES];
    for (int i = 0; i < HEED__SIDES; i++) {
        text[i] = (heed__cut){from, side[i].n};
        if (side[i].n) memcpy(from, side[i].s, side[i].n);
        from += side[i].n;
        side[i].n = 0;
    }
    return !text[HEED__SOURCE].n || heed__pairs_add(l, text);
}

/* A number alone is the id of a word: "1-2" and "1.1" are none. */
static bool is_word_id(heed__cut id) {
    for (size_t i = 0; i < id.n; i++)
        if (id.s[i] == '-' || id.s[i] == '.') return false;
    return true;
}

static bool add_word(heed__line *l, const form *f, heed__cut line, heed_text side[HEED__SIDES]) {
    heed__cut column[COLUMNS];
    char expected[64], found[HEED_QUOTE];
    size_t count = cut_columns(line, f->tabs, column);
    if (count != f->columns) {
        snprintf(expected, sizeof expected, "%zu columns in every line", f->columns);
        snprintf(found, sizeof found, "%zu", count);
        return heed__pairs_wrong(l, expected, found);
    }
    if (f->ud && !is_word_id(column[0])) return true;
    for (int i = 0; i < HEED__SIDES; i++) {
        heed__cut word = column[f->column[i]];
        if (!word.n || (has_space(word) && !f->ud))
            return heed__pairs_wrong(l, i == HEED__SOURCE ? "one word" : "one label",
                                     heed_quote(found, word.s, word.n));
        if (!put_word(&side[i], word)) return false;
    }
    return true;
}

static bool read_sentences(heed__line *l, const form *f, char *text, size_t n) {
    heed_text side[HEED__SIDES] = {{.c = l->k->c}, {.c = l->k->c}};
    heed__cut line;
    size_t at = 0, first = 0, number = 0, from = 0, before = 0;
    bool ok = true, begun = false;
    for (; ok && next_line(text, n, &at, &line); before = at) {
        heed__cut content = heed__trimmed(line);
        l->number = ++number;
        if (is_break(content)) {
            l->number = first;
            ok = add_sentence(l, side, text + from);
            first = 0;
            continue;
        }
        if (is_comment(content, f, first > 0)) continue;
        bool named = !begun && is_header(l, f, content);
        begun = true;
        if (named) {
            l->k->info.header = true;
            continue;
        }
        if (!first) first = number, from = before;
        ok = add_word(l, f, content, side);
    }
    l->number = first;
    ok = ok && add_sentence(l, side, text + from);
    for (int i = 0; i < HEED__SIDES; i++) heed_text_free(&side[i]);
    return ok;
}

bool heed__pairs_conll(heed__line *l, char *text, size_t n, bool *is) {
    form f;
    *is = find_form(l->path, text, n, &f);
    if (!*is) return true;
    l->k->info.conll = f.columns;
    if (!choose_columns(l, &f)) return false;
    for (int i = 0; i < HEED__SIDES; i++) l->k->info.column[i] = (int)f.column[i] + 1;
    return read_sentences(l, &f, text, n);
}
