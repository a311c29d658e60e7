/* pairs_tsv.c -- reads a line of columns separated by tabs, and a first line that names them. */
#include "data/pair/pairs.h"

#include <string.h>
#include <strings.h>

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

/* ---- the header ---- */

/* What a column's name says: it is the source, the target, or text in some language. */
typedef enum { UNKNOWN, SOURCE, TARGET, LANGUAGE } role;

static const struct {
    role role;
    const char *names;
} known[] = {
    {SOURCE, " src source input from text sentence document question prompt tokens words "},
    {TARGET,
     " tgt target output to translation answer response label labels class category tag tags "},
    {LANGUAGE, " eng fra deu spa ita por rus cmn jpn kor en fr de es it pt ru zh ja ko english "
               "french german spanish italian portuguese russian chinese japanese korean "},
};

/* True if the list of words between spaces contains the name, ignoring case. */
static bool lists(const char *list, heed__cut name) {
    while ((list = strchr(list, ' ')) && *++list)
        if (strncasecmp(list, name.s, name.n) == 0 && list[name.n] == ' ') return true;
    return false;
}

static role role_of(heed__cut name) {
    heed__cut rest = name, second;
    bool one_word = heed__next_word(&rest, &name) && !heed__next_word(&rest, &second);
    for (size_t i = 0; one_word && i < sizeof known / sizeof *known; i++)
        if (lists(known[i].names, name)) return known[i].role;
    return UNKNOWN;
}

/* A header has a column named as a source and one named as a target, in any columns; or its first
 * two columns are names of languages, which say nothing about the direction. */
bool heed__pairs_header(heed__line *l) {
    heed__cut rest = {l->s, l->n}, column;
    size_t where[HEED__SIDES] = {0}, languages = 0;
    bool found[HEED__SIDES] = {false};
    for (size_t i = 0; next_column(&rest, &column); i++) {
        role r = role_of(column);
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
