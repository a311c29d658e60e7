/* pairs_columns.c -- which columns of a file, or keys of its objects, are the source and the
 * target: as the caller names them, or by their usual names. */
#include "data/pair/pairs.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- usual names ---- */

/* What a column's name says: it is the source, the target, text in some language, or a number of
 * the row. */
typedef enum { UNKNOWN, SOURCE, TARGET, LANGUAGE, NUMBER } role;

typedef struct {
    role role;
    const char *names;
} column_names;
static const column_names text_columns[] = {
    {SOURCE, " src source input from text sentence document question prompt tokens words review "
             "comment tweet message content "},
    {TARGET, " tgt target output to translation answer response label labels class category tag "
             "tags sentiment intent emotion topic "},
    {LANGUAGE, " eng fra deu spa ita por rus cmn jpn kor en fr de es it pt ru zh ja ko english "
               "french german spanish italian portuguese russian chinese japanese korean "},
    {NUMBER, " id index idx no nr number "},
    {UNKNOWN, NULL}};
static const column_names caption_columns[] = {{SOURCE, " file image path filename picture "},
                                               {TARGET, " caption text description sentence "},
                                               {UNKNOWN, NULL}};

/* True if the list of words between spaces contains the name, ignoring case. */
static bool lists(const char *list, heed__cut name) {
    while ((list = strchr(list, ' ')) && *++list)
        if (strncasecmp(list, name.s, name.n) == 0 && list[name.n] == ' ') return true;
    return false;
}

/* The role of a name's first word with one; of several words nothing is sure, but they suggest it.
 */
static role role_of(heed_pair_kind kind, heed__cut name, bool suggested) {
    heed__cut rest = name, word, second;
    if (!suggested && heed__next_word(&rest, &word) && heed__next_word(&rest, &second))
        return UNKNOWN;
    for (rest = name; heed__next_word(&rest, &word);)
        for (const column_names *known = kind == HEED_CAPTIONS ? caption_columns : text_columns;
             known->names; known++)
            if (lists(known->names, word)) return known->role;
    return UNKNOWN;
}

/* A header has a column named as a source and one named as a target, in any columns; or its first
 * two columns are names of languages, which say nothing about the direction. */
static bool recognize(heed__line *l, const heed__cut *names, size_t count) {
    size_t where[HEED__SIDES] = {0}, languages = 0;
    bool found[HEED__SIDES] = {false};
    for (size_t i = 0; i < count; i++) {
        role r = role_of(l->k->a.kind, names[i], false);
        int side = r == SOURCE ? HEED__SOURCE : HEED__TARGET;
        languages += i < 2 && r == LANGUAGE;
        if ((r != SOURCE && r != TARGET) || found[side]) continue;
        found[side] = true;
        where[side] = i;
    }
    bool both = found[HEED__SOURCE] && found[HEED__TARGET];
    if (both) memcpy(l->column, where, sizeof where);
    return both || languages == 2;
}

/* ---- names and numbers of the caller ---- */

bool heed__pairs_named(heed_pairs *k) {
    heed__cut *to = k->columns;
    const char *text = k->a.columns, *comma = text ? strchr(text, ',') : NULL;
    if (!text || !*text) return true;
    if (comma) to[HEED__SOURCE] = heed__trimmed((heed__cut){text, (size_t)(comma - text)});
    if (comma) to[HEED__TARGET] = heed__trimmed((heed__cut){comma + 1, strlen(comma + 1)});
    bool two = comma && !strchr(comma + 1, ',') && to[HEED__SOURCE].n && to[HEED__TARGET].n;
    bool same = two && to[HEED__SOURCE].n == to[HEED__TARGET].n &&
                memcmp(to[HEED__SOURCE].s, to[HEED__TARGET].s, to[HEED__SOURCE].n) == 0;
    return (two && !same) ||
           heed_fail(k->c, HEED_USAGE,
                     "`columns` is wrong: expected two names or numbers with a comma, as %s, found "
                     "%s",
                     k->a.kind == HEED_TRANSLATION ? "source,target" : "text,label", text);
}

/* The column that a number from 1 names; 0: it is no number. */
static size_t number_of(heed__cut name) {
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (name.s[i] < '0' || name.s[i] > '9' || n > HEED_CSV_FIELDS) return 0;
        n = 10 * n + (size_t)(name.s[i] - '0');
    }
    return n;
}

/* What the two columns are, and the words for columns of unknown names. */
static const struct {
    const char *what[HEED__SIDES], *unnamed[HEED__SIDES];
} sides[] = {[HEED_TRANSLATION] = {{"source", "target"}, {"SOURCE", "TARGET"}},
             [HEED_CLASSES] = {{"text", "label"}, {"TEXT", "LABEL"}},
             [HEED_TAGS] = {{"text", "label"}, {"TEXT", "LABEL"}},
             [HEED_CAPTIONS] = {{"image", "caption"}, {"IMAGE", "CAPTION"}}};

/* The columns that are probably meant: where one is known by its name, the other one is the only
 * column besides it that does not number the rows. */
static void suggest(heed_pair_kind kind, const heed__cut *names, size_t count,
                    heed__cut out[HEED__SIDES]) {
    bool found[HEED__SIDES] = {false};
    size_t others = 0, other = 0;
    for (int side = 0; side < HEED__SIDES; side++)
        out[side] = (heed__cut){sides[kind].unnamed[side], strlen(sides[kind].unnamed[side])};
    for (size_t i = 0; i < count; i++) {
        role r = role_of(kind, names[i], true);
        int side = r == SOURCE ? HEED__SOURCE : HEED__TARGET;
        if ((r == SOURCE || r == TARGET) && !found[side]) {
            found[side] = true;
            out[side] = names[i];
        } else if (r != NUMBER && names[i].n) {
            others++;
            other = i;
        }
    }
    if (others == 1 && found[HEED__SOURCE] != found[HEED__TARGET])
        out[found[HEED__SOURCE] ? HEED__TARGET : HEED__SOURCE] = names[other];
}

bool heed__pairs_lacks(heed__line *l, const heed__cut *names, size_t count) {
    enum { SHOWN = 12 };
    heed_pair_kind kind = l->k->a.kind;
    const char *const *what = sides[kind].what;
    heed__cut likely[HEED__SIDES];
    heed_text list = {.c = l->k->c}, wanted = {.c = l->k->c};
    for (size_t i = 0; i < count && i < SHOWN; i++)
        heed_text_add(&list, "%s%.*s", i ? ", " : "", (int)names[i].n, names[i].s);
    if (l->k->columns[HEED__SOURCE].s)
        heed_text_add(&wanted, "%s", l->k->a.columns);
    else
        heed_text_add(&wanted, "%s and %s", what[HEED__SOURCE], what[HEED__TARGET]);
    suggest(kind, names, count, likely);
    heed_fail(l->k->c, HEED_DATA,
              "columns are not known: %s:%zu: expected a first line that names %.200s, found "
              "%.200s; hint: `columns = %.*s,%.*s`, the names or numbers of %s and %s",
              l->path, l->number, wanted.s ? wanted.s : "", list.s ? list.s : "",
              (int)likely[HEED__SOURCE].n, likely[HEED__SOURCE].s, (int)likely[HEED__TARGET].n,
              likely[HEED__TARGET].s, what[HEED__SOURCE], what[HEED__TARGET]);
    heed_text_free(&list);
    heed_text_free(&wanted);
    return false;
}

/* The first column from `at` of that name; count: there is none. */
static size_t next_named(const heed__cut *names, size_t at, size_t count, heed__cut wanted) {
    while (at < count &&
           (names[at].n != wanted.n || strncasecmp(names[at].s, wanted.s, wanted.n) != 0))
        at++;
    return at;
}

static bool find_named(heed__line *l, const heed__cut *names, size_t count) {
    for (int side = 0; side < HEED__SIDES; side++) {
        size_t i = next_named(names, 0, count, l->k->columns[side]);
        if (i == count) return heed__pairs_lacks(l, names, count);
        l->column[side] = i;
    }
    return true;
}

/* Of two columns of one name, one would be ignored. */
static bool are_unique(const heed__line *l, const heed__cut *names, size_t count) {
    for (int side = 0; side < HEED__SIDES; side++) {
        size_t own = l->column[side], other = next_named(names, own + 1, count, names[own]);
        if (other < count)
            return heed_fail(l->k->c, HEED_DATA,
                             "two columns have one name: %s:%zu: columns %zu and %zu are named "
                             "%.*s; hint: `columns` accepts numbers, too, `columns = 1,2`",
                             l->path, l->number, own + 1, other + 1, (int)names[own].n,
                             names[own].s);
    }
    return true;
}

bool heed__pairs_header(heed__line *l, const heed__cut *names, size_t count, bool *header) {
    const heed__cut *given = l->k->columns;
    size_t source = number_of(given[HEED__SOURCE]), target = number_of(given[HEED__TARGET]);
    *header = recognize(l, names, count);
    if (!given[HEED__SOURCE].s) return !*header || are_unique(l, names, count);
    if (source && target) { /* no labelled text is the word "comment" alone */
        bool named = l->k->a.kind == HEED_CLASSES && source <= count;
        *header |= named && role_of(HEED_CLASSES, names[source - 1], false) == SOURCE;
        l->column[HEED__SOURCE] = source - 1;
        l->column[HEED__TARGET] = target - 1;
        return true;
    }
    *header = true;
    return find_named(l, names, count) && are_unique(l, names, count);
}
