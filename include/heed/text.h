/* heed/text.h -- words and numbers for people and files: growing texts, UTF-8, columns of a
 * terminal, tables, CSV, JSON and messages. */
#ifndef HEED_TEXT_H
#define HEED_TEXT_H

#include <heed/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- growing texts ---- */

/* A growing text, always zero-terminated. Zero-initialise; free with heed_text_free. On no memory
 * it fails c and keeps what it has. */
typedef struct {
    char *s; /* NULL while empty */
    size_t n, capacity;
    heed_ctx *c;
} heed_text;
/* These append, by printf's rules or n bytes; false: no memory, or t is NULL. */
HEED_API bool heed_text_add(heed_text *t, const char *format, ...) HEED_PRINTF(2, 3);
HEED_API bool heed_text_put(heed_text *t, const char *bytes, size_t n);
HEED_API void heed_text_free(heed_text *t);
/* Writes it to path, whole or not at all. */
HEED_API bool heed_text_save(const heed_text *t, const char *path);

/* ---- UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF (RFC 3629) ---- */

/* The character at s, of which n >= 1 bytes are left (SIZE_MAX: up to the zero byte that ends s),
 * and its length; -1 and length 1 where s is not UTF-8. */
HEED_API size_t heed_utf8_read(const char *s, size_t n, int32_t *character);
/* Writes 1 to 4 bytes and returns how many. character: a code point, unchecked. */
HEED_API size_t heed_utf8_write(int32_t character, char out[4]);
/* Bytes before the first one that is not UTF-8; n if all is. */
HEED_API size_t heed_utf8_valid(const char *text, size_t n);
/* Characters in n bytes of valid UTF-8. */
HEED_API size_t heed_utf8_count(const char *text, size_t n);
/* Appends n bytes as valid UTF-8: a byte that is not becomes the text "\xE2". */
HEED_API bool heed_utf8_put(heed_text *out, const char *text, size_t n);

/* ---- columns of a terminal ---- */

/* Appends a token as a terminal shows it: control characters, spaces at its ends and marks that
 * change the direction of writing as signs; cut with "…" to so many columns. Returns its columns.
 * out NULL: only measures. */
HEED_API int heed_label_text(const char *label, int columns, heed_text *out);
/* Columns of the whole label as heed_label_text shows it. */
HEED_API int heed_label_columns(const char *label);
/* Bytes of text that fit into so many columns; combining marks stay with their letter. */
HEED_API size_t heed_label_cut(const char *text, int columns);
/* The same of several words, in as many lines of `columns` columns as they need, broken at blanks;
 * each line except the first begins with `indent` blanks, which the first has already. A word that
 * is longer than a line is cut. */
HEED_API void heed_label_words(const char *text, int indent, int columns, heed_text *out);

/* ---- tables ---- */

typedef struct {
    const char *head;
    int width;
    bool left; /* cells are aligned at its left end; else at its right end */
} heed_table_column;

enum { HEED_TABLE_NAME = -1, HEED_TABLE_CELL = 64 };
/* Rows with a name and `count` cells each. */
typedef struct {
    const char *head; /* over the names of the rows */
    int rows, count;
    int name;   /* width of the names where all columns fit side by side */
    int gap;    /* blanks between columns; 0: two */
    bool top;   /* nothing is above the table: no empty line before it */
    bool flush; /* names begin at the start of the line; else after two blanks */
    const heed_table_column *columns; /* (count) */
    const char *const *names; /* (rows) where they are foreign texts, shown as labels; or NULL */
    /* Writes a cell, or, where names is NULL, the name of the row (column HEED_TABLE_NAME). */
    void (*cell)(const void *of, int row, int column, char text[HEED_TABLE_CELL]);
    const void *of; /* passed to cell */
} heed_table;
/* Appends the table for a terminal of `width` columns: in one block of columns, or in as many as
 * it needs, each with the names of the rows; names that leave no space for a column are cut, no
 * line has blanks at its end. */
HEED_API void heed_table_text(const heed_table *t, int width, heed_text *out);

/* ---- numbers and words as people read them ---- */
/* Into text, which is returned. */

HEED_API char *heed_format_count(char text[32], uint64_t n);        /* "1,234,567" */
HEED_API char *heed_format_bytes(char text[32], double bytes);      /* "12.3 MB" */
HEED_API char *heed_format_duration(char text[32], double seconds); /* "1m 05s", "?" */
/* A word as a POSIX shell reads it: in quotes where that is needed; cut to fit size. */
HEED_API const char *heed_format_shell(char *text, size_t size, const char *word);
/* A token in a line of text: a newline as \n, a tab as \t, a lone space as "␣", what is neither
 * visible nor UTF-8 as "?"; cut to fit size. */
HEED_API char *heed_format_token(char *text, size_t size, const char *token);
/* A message in a line of a terminal or a log: control characters, marks that change the direction
 * of writing and bytes that are not UTF-8 as \x1b, so that a foreign name neither moves the cursor
 * nor begins a line; cut to fit size. */
HEED_API char *heed_format_line(char *text, size_t size, const char *message);

/* Insertions, deletions, changes and swaps of neighbours that lead from n bytes at a to m at b: the
 * restricted Damerau-Levenshtein distance, for "did you mean". 40 for words longer than that. */
HEED_API size_t heed_text_edits(const char *a, size_t n, const char *b, size_t m);
/* The closest of the candidates (ended by NULL) to a word, whatever its case: at most one edit more
 * than a third of its length away; NULL: none is. */
HEED_API const char *heed_closest(const char *word, const char *const *candidates);

/* ---- messages ---- */

enum { HEED_QUOTE = 80 };
/* Foreign text for a message: in double quotes, control characters and bytes that are not UTF-8 as
 * '?', cut with "..." to fit HEED_QUOTE bytes. Returns out. */
HEED_API const char *heed_quote(char out[HEED_QUOTE], const char *text, size_t n);

/* What is wrong with something that was given. */
typedef struct {
    const char *what;     /* "config is wrong" */
    const char *where;    /* a file, a setting, a tensor; NULL: left out */
    size_t line;          /* of the file, from 1; 0: left out */
    const char *expected; /* "a number" */
    const char *found;    /* the program's own words: "the end of the file"; or NULL, and then */
    const char *text;     /* foreign text of n bytes, which is quoted by heed_quote */
    size_t n;
    const char *hint; /* what to do; NULL: left out */
} heed_problem;
/* Fails c with "WHAT: WHERE:LINE: expected EXPECTED, found FOUND; hint: HINT". Always false. */
HEED_API bool heed_reject(heed_ctx *c, heed_status status, heed_problem p);

/* ---- CSV: RFC 4180 ---- */

enum { HEED_CSV_FIELDS = 64, HEED_CSV_LONGEST = 4096 };
/* Reads a text row by row. Fields are separated by commas and cut out of the text in place. One in
 * double quotes may hold commas, line ends and, doubled, quotes; blanks around one that is not
 * quoted are dropped. Lines end with LF or CR LF; blank lines and a byte order mark are skipped. */
typedef struct {
    heed_ctx *c;
    const char *what, *path;       /* of errors: "WHAT is wrong: PATH:LINE: ..." */
    size_t line;                   /* where the row begins, from 1 */
    size_t count;                  /* fields of the row */
    char *fields[HEED_CSV_FIELDS]; /* the first ones; further ones are only counted */
    bool ended;                    /* by a line end; false: the last line, which has none */
    char *at, *end;                /* what is left of the text */
    size_t next;                   /* line at `at` */
} heed_csv;
/* The n bytes of text are followed by a zero byte, are changed by reading, and outlive r. A NUL
 * byte among them is an error. what is the subject of errors: "list of pictures is wrong". */
HEED_API bool heed_csv_open(heed_csv *r, heed_ctx *c, const char *what, const char *path,
                            char *text, size_t n);
/* The next row; false at the end of the text, or on an error: a quote that does not end, text
 * behind one, or a field of HEED_CSV_LONGEST bytes or more. */
HEED_API bool heed_csv_next(heed_csv *r);
/* The index of the field that is `name`, -1 if there is none: of the first row, a column. */
HEED_API int heed_csv_find(const heed_csv *r, const char *name);
/* Fails: "WHAT: PATH:LINE: expected EXPECTED, found FOUND". Always false. */
HEED_API bool heed_csv_reject(const heed_csv *r, const char *expected, const char *found);
/* Appends a field in double quotes, quotes doubled, control characters as \x1B. */
HEED_API bool heed_csv_put(heed_text *out, const char *field);

/* ---- JSON: RFC 8259 ---- */
/* These append to a text; a comma comes by itself before what follows another value. key: NULL in a
 * list and for the outermost value. */

/* bracket: '{' or '[', and '}' or ']'. */
HEED_API void heed_json_open(heed_text *out, const char *key, char bracket);
HEED_API void heed_json_close(heed_text *out, char bracket);
/* A string, NULL as null; in it, a byte that is not UTF-8 as the text "\xE2" (heed_utf8_put). */
HEED_API void heed_json_text(heed_text *out, const char *key, const char *text);
HEED_API void heed_json_int(heed_text *out, const char *key, int64_t value);
/* With so many significant digits (17 bring any double back, 9 any float); null if not finite. */
HEED_API void heed_json_real(heed_text *out, const char *key, double value, int digits);
HEED_API void heed_json_bool(heed_text *out, const char *key, bool value);

#ifdef __cplusplus
}
#endif
#endif
