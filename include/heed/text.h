/* heed/text.h -- words and numbers for people and files: growing texts, UTF-8, columns of a
 * terminal, tables, CSV, JSON and messages. */
#ifndef HEED_TEXT_H
#define HEED_TEXT_H

#include <heed/ctx.h>

HEED_EXPORT_BEGIN

/* ---- growing texts ---- */

/* A growing text, zero-terminated unless it is empty. Zero-initialise it except for c; free it with
 * heed_text_free. When memory runs out, c gets the error and the text keeps its contents. c may be
 * NULL: then no error is recorded. */
typedef struct {
    char *s; /* NULL while empty */
    size_t n, capacity;
    heed_ctx *c;
} heed_text;
/* Append formatted as by printf, or n bytes; false: out of memory, or t is NULL. */
bool heed_text_add(heed_text *t, const char *format, ...) HEED_PRINTF(2, 3);
bool heed_text_put(heed_text *t, const char *bytes, size_t n);
void heed_text_free(heed_text *t);
/* Writes the text to path atomically: the complete file or nothing. False on error, or if t->c is
 * NULL. */
bool heed_text_save(const heed_text *t, const char *path);
/* Adds the text to the end of a file, which is made if absent; nothing of it on error. The file
 * must be a plain one, no link; of a file with several names, the others keep the old content. */
bool heed_text_append(const heed_text *t, const char *path);

/* ---- UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF (RFC 3629) ---- */

/* Reads the character at s, where n >= 1 bytes are left (SIZE_MAX: up to the terminating zero
 * byte), and returns its length; *character is -1 and the length 1 where s is not valid UTF-8. */
size_t heed_utf8_read(const char *s, size_t n, int32_t *character);

/* ---- columns of a terminal ---- */

/* Appends a token as a terminal should show it: control characters, leading and trailing spaces and
 * bidirectional marks become visible signs; a longer one is cut with "…" to `columns` columns.
 * Returns the columns used. out NULL: only measures. */
int heed_label_text(const char *label, int columns, heed_text *out);
/* The columns that heed_label_text needs for the uncut label. */
int heed_label_columns(const char *label);
/* The bytes of text that fit into `columns` columns; combining marks stay with their letter. */
size_t heed_label_cut(const char *text, int columns);
/* Appends several words as labels, wrapped at blanks into lines of `columns` columns. Each line
 * except the first is indented by `indent` blanks; the caller has indented the first. A word that
 * is longer than a line is cut. A command in backticks is one word if it fits in a line. */
void heed_label_words(const char *text, int indent, int columns, heed_text *out);

/* ---- tables ---- */

typedef struct {
    const char *head;
    int width;
    bool left; /* cells are aligned left; else right */
} heed_table_column;

enum { HEED_TABLE_NAME = -1, HEED_TABLE_CELL = 64 };
/* Rows with a name and `count` cells each. */
typedef struct {
    const char *head; /* heading of the row names */
    int rows, count;
    int name;   /* width of the row names when all columns fit side by side */
    int gap;    /* blanks between columns; 0: two */
    bool top;   /* the table comes first: no empty line before it */
    bool flush; /* names begin at the start of the line; else after two blanks */
    const heed_table_column *columns; /* (count) */
    const char *const *names;         /* (rows) texts of the user's, shown as labels; or NULL */
    /* Writes a cell, or the name of the row (column HEED_TABLE_NAME) when names is NULL. */
    void (*cell)(const void *of, int row, int column, char text[HEED_TABLE_CELL]);
    const void *of; /* passed to cell */
} heed_table;
/* Appends the table for a terminal of `width` columns: in one block of columns, or in as many
 * blocks as needed, each of which repeats the row names. Names that leave no space for a column are
 * cut. Lines have no trailing blanks. */
void heed_table_text(const heed_table *t, int width, heed_text *out);

/* ---- numbers and words as people read them ---- */
/* Written to text, which is returned. */

char *heed_format_count(char text[32], uint64_t n);        /* "1,234,567" */
char *heed_format_bytes(char text[32], double bytes);      /* "12.3 MB" */
char *heed_format_duration(char text[32], double seconds); /* "65s", "2m 05s", "2h 03m"; "?" */
/* A share p of `all`, 1 or 100, with as many decimals, `least` to `most`, as show that it is
 * neither 0 nor all: "0.99", ">0.9999". */
const char *heed_format_share(char text[16], double p, double all, int least, int most);
/* A word for a POSIX shell, quoted if needed; cut to fit size. */
const char *heed_format_shell(char *text, size_t size, const char *word);
/* A token in a line of text: a newline as \n, a tab as \t, a lone space as "␣", anything invisible
 * or not UTF-8 as "?"; cut to fit size. */
char *heed_format_token(char *text, size_t size, const char *token);
/* A message as one line of a terminal or a log: control characters, bidirectional marks and bytes
 * that are not UTF-8 are escaped like \x1b, so that an untrusted name can neither move the cursor
 * nor start a line; cut to fit size. */
char *heed_format_line(char *text, size_t size, const char *message);

/* The restricted Damerau-Levenshtein distance between the n bytes at a and the m bytes at b: the
 * number of insertions, deletions, substitutions and swaps of neighbours. 40 for longer words. */
size_t heed_text_edits(const char *a, size_t n, const char *b, size_t m);
/* The candidate (list ended by NULL) closest to a word, ignoring case, if it is at most 1 + length
 * / 3 edits away; else NULL. */
const char *heed_closest(const char *word, const char *const *candidates);

/* ---- messages ---- */

enum { HEED_QUOTE = 80 };
/* Quotes untrusted text for a message: in double quotes, with '?' for control characters and bytes
 * that are not UTF-8, cut with "..." to fit HEED_QUOTE bytes. Returns out. */
const char *heed_quote(char out[HEED_QUOTE], const char *text, size_t n);

/* What is wrong with an input. */
typedef struct {
    const char *what;     /* "config is wrong" */
    const char *where;    /* a file, a setting, a tensor; NULL: left out */
    size_t line;          /* of the file, counted from 1; 0: left out */
    const char *expected; /* "a number" */
    const char *found;    /* a description: "the end of the file"; if NULL, `text` is used */
    const char *text;     /* n bytes of the input, quoted by heed_quote */
    size_t n;
    const char *hint; /* what to do, as in heed_fail; NULL: left out */
} heed_problem;
/* Fails c with "WHAT: WHERE:LINE: expected EXPECTED, found FOUND; hint: HINT". Always false. */
bool heed_reject(heed_ctx *c, heed_status status, heed_problem p);

/* ---- tables: CSV by RFC 4180, TSV ---- */

enum { HEED_CSV_FIELDS = 1024, HEED_CSV_LONGEST = 4096 };
/* Reads a text row by row. Fields are cut out of the text in place. Their separator is the one that
 * the first line has outside quotes: of several, the first of comma, semicolon, bar and tab in a
 * file whose name ends in .csv, otherwise a tab before these. A field in double quotes may contain
 * separators, line ends and doubled quotes; in a text of tabs quotes are text if those of any field
 * break this rule. Blanks around an unquoted field are dropped. Lines end with LF or CR LF; blank
 * lines and a byte order mark are skipped. */
typedef struct {
    heed_ctx *c;
    const char *what, *path;       /* for errors: "WHAT is wrong: PATH:LINE: ..." */
    size_t line;                   /* line where the row begins, counted from 1 */
    size_t count;                  /* number of fields in the row */
    char *fields[HEED_CSV_FIELDS]; /* the first fields; further ones are only counted */
    size_t longest; /* the bytes that a field must not reach; HEED_CSV_LONGEST, may be changed */
    bool ended;     /* the row ends with a line end; false: a last line without one */
    char separator; /* ',', ';', '|' or a tab */
    bool plain;     /* quotes are text */
    char *at, *end; /* what is left of the text */
    size_t next;    /* the line number at `at` */
    size_t blank;   /* blank lines that were skipped */
} heed_csv;
/* text: n bytes followed by a zero byte; reading modifies them, and they must outlive r. A NUL byte
 * among them is an error. what: the subject of errors, as in "list of pictures is wrong". */
bool heed_csv_open(heed_csv *r, heed_ctx *c, const char *what, const char *path, char *text,
                   size_t n);
/* Reads the next row; false at the end of the text, or on an error: an unterminated quote, text
 * after a closing quote, or a field of `longest` bytes or more. */
bool heed_csv_next(heed_csv *r);
/* The index of the field equal to `name`, -1 if absent. On the header row this finds a column. */
int heed_csv_find(const heed_csv *r, const char *name);
/* Fails: "WHAT: PATH:LINE: expected EXPECTED, found FOUND". Always false. */
bool heed_csv_reject(const heed_csv *r, const char *expected, const char *found);
/* Appends a field in double quotes, with quotes doubled and control characters as \x1B. A text that
 * begins with = + - or @ and is no number gets an apostrophe before it: spreadsheets would run it
 * as a formula. */
bool heed_csv_put(heed_text *out, const char *field);

/* ---- JSON: RFC 8259 ---- */
/* Append to a text; commas are added. key: NULL in a list and for the outermost value. */

/* bracket: '{' or '[', and '}' or ']'. */
void heed_json_open(heed_text *out, const char *key, char bracket);
void heed_json_close(heed_text *out, char bracket);
/* A string; NULL becomes null, and a byte that is not UTF-8 the text "\xE2". */
void heed_json_text(heed_text *out, const char *key, const char *text);
void heed_json_int(heed_text *out, const char *key, int64_t value);
/* Written with `digits` significant digits (17 restore any double, 9 any float), or null. */
void heed_json_real(heed_text *out, const char *key, double value, int digits);
void heed_json_bool(heed_text *out, const char *key, bool value);

/* ---- facts: what is to be said of something ---- */

typedef enum {
    HEED_FACT,         /* a line with a label; "": it goes on from the line before */
    HEED_FACT_HEADING, /* of a list or a table that follows */
    HEED_FACT_ITEM,    /* a line of a list: one text, maybe long, cut to the terminal */
    HEED_FACT_MATRIX,  /* a text about a table of counts: the ROWs after it, and as many columns */
    HEED_FACT_COLUMNS, /* of a table: the heading of its names, and of its cells, between tabs */
    HEED_FACT_ROW      /* a name and its cells, between tabs */
} heed_fact_kind;
typedef struct {
    heed_fact_kind kind;
    char *label, *text; /* settings in text are in backquotes: `lr`, `lr = 0.1` */
} heed_fact;
/* Lines for people, and the same for programs. Zero-initialise but for c and brief; free with
 * heed_facts_free. */
typedef struct {
    heed_ctx *c;
    bool brief; /* only what a training run shows */
    heed_fact *list;
    size_t count, capacity;
    heed_text json;      /* members of an object, whose keys do not change */
    char suggestion[64]; /* a setting to try: "block 40"; "": none */
} heed_facts;
/* False: out of memory. */
bool heed_fact_add(heed_facts *f, heed_fact_kind kind, const char *label, const char *format, ...)
    HEED_PRINTF(4, 5);
/* Adds a member of the object and, unless value is not finite or format NULL, a line with it. */
bool heed_fact_number(heed_facts *f, const char *key, const char *label, double value,
                      const char *format);
/* Adds the share right / all with its interval, as KEY and KEY_95, and a line in percent that ends
 * with `after` (NULL: no line). Without any, null. */
bool heed_fact_share(heed_facts *f, const char *key, const char *label, double right, double all,
                     const char *after);
/* The 95 % confidence interval of the share right / all. Wilson 1927. */
void heed_share_interval(double right, double all, double *low, double *high);
void heed_facts_free(heed_facts *f);

HEED_EXPORT_END
#endif
