/* table.h -- files of examples: the rows of CSV and TSV, and the keys of JSON objects. */
#ifndef HEED_DATA_TABLE_H
#define HEED_DATA_TABLE_H

#include "core/core.h"

#include <heed/text.h>

enum { HEED__FIRST = 64 }; /* fields of a first row that are kept */
enum { HEED__SOURCE, HEED__TARGET, HEED__SIDES, HEED__PART = HEED__SIDES, HEED__ROLES };

typedef struct {
    const char *s; /* in the text of a file */
    size_t n;
} heed__cut;
heed__cut heed__trimmed(heed__cut t); /* without ASCII white space around it */
/* Removes the next word, ended by ASCII white space, from rest; false when none is left. */
bool heed__next_word(heed__cut *rest, heed__cut *word);

/* What a kind of data reads from the columns of a table, and the names by which it knows them. */
typedef struct {
    const char *form;                /* of a line of TSV: "source TAB target" */
    const char *what[HEED__SIDES];   /* "source", "target" */
    const char *usual[HEED__SIDES];  /* between spaces: the first one found is the column */
    const char *others[HEED__SIDES]; /* the only one found is, if there is no usual one */
    bool labels;                     /* the target is a class, or labels of words */
    bool words;                      /* labels of words */
    bool languages;                  /* two names of languages are the columns, in order */
    bool files;                      /* the source is the file of a picture */
    bool parts;                      /* a column may name the part of the row */
    size_t order[HEED__SIDES];       /* the columns of a TSV whose first line names none */
    const char *unit;                /* of what a row is: "pair" */
} heed__schema;
extern const heed__schema heed__pair_schemas[], heed__picture_schema; /* [heed_target_kind] */

typedef struct {
    heed_ctx *c;
    const heed__schema *schema;
    const char *columns, *header; /* settings; NULL or "": none. header: "auto", "yes" or "no" */
    const char *prefix;           /* of the settings' names in hints: "" or "val-" */
    bool alone;                   /* the target may be absent */
    const char *path;
    /* Found by opening. */
    heed_csv rows;              /* of CSV and TSV: the current row; line: also of JSON */
    size_t width;               /* fields of the first row */
    size_t column[HEED__ROLES]; /* HEED__ABSENT: there is none */
    bool named;                 /* the first row names the columns, and is no data */
    bool held;                  /* the first row is data that is still to be read */
    size_t hints;               /* fields of an unnamed first row that a name of a column has */
    size_t shown;
    heed__cut first[HEED__FIRST]; /* the first of its fields */
} heed__table;
#define HEED__ABSENT SIZE_MAX

/* Opens a text of n bytes and a zero byte, which reading modifies, and chooses the columns by its
 * first row. The caller has set c to path. */
bool heed__table_open(heed__table *t, char *text, size_t n);
/* Reads the next row; false at the end or on an error. */
bool heed__table_next(heed__table *t);
/* A field of the row by its role, trimmed, with spaces for line ends and tabs; without bytes: it is
 * empty or absent. */
heed__cut heed__table_field(const heed__table *t, int role);
/* The part that a row, with this text in the column of parts, is of; the training part, if there is
 * no such column. -1: an error. */
int heed__table_part(const heed__table *t, heed__cut name);
/* How many columns are read. */
static inline size_t heed__table_roles(const heed__table *t) {
    return HEED__SIDES + (t->column[HEED__PART] != HEED__ABSENT);
}
/* The first further field of the row. */
heed__cut heed__table_note(const heed__table *t);

/* Chooses the columns among the names of the first row, or the keys of an object. */
bool heed__table_choose(heed__table *t, const heed__cut *names, size_t count);
/* "text, label": the names of the columns that were chosen, to be freed; NULL on error. */
char *heed__table_names(const heed__table *t);
/* Fails: "line is wrong: PATH:LINE: expected EXPECTED, found FOUND". */
bool heed__table_reject(const heed__table *t, const char *expected, const char *found);

/* Whether a name ends like that of a picture, readable or not. */
bool heed__is_picture_name(heed__cut name);
/* A file's name without the number of its caption: "dog.jpg#2", as in Flickr8k. */
heed__cut heed__without_number(heed__cut file);

#endif
