/* text.h -- what the rooms above text may use of it beyond heed/text.h: texts for messages,
 * numbers, JSON, CSV. */
#ifndef HEED_TEXT_INTERNAL_H
#define HEED_TEXT_INTERNAL_H

#include "core/core.h"

#include <heed/text.h>
#include <jansson.h>

HEED_EXPORT_BEGIN

/* ---- text ---- */
enum { HEED__QUOTE = 80 };
/* Foreign text for a message: in double quotes, control characters and bad bytes as '?', cut with
 * "..." to fit HEED__QUOTE bytes. Returns out. */
const char *heed__quote(char out[HEED__QUOTE], const char *text, size_t n);
/* Bytes before the first one that is no UTF-8; n if all is. */
size_t heed__utf8_valid(const char *text, size_t n);
/* Appends the shortest decimal text that reads back to the same double; nothing for a NaN. */
bool heed__put_number(heed_text *out, double value);
/* Appends text as a JSON string; text that is no UTF-8 is an error. */
bool heed__put_json(heed_text *out, const char *text);
/* Appends the words of text, broken into lines of at most width columns; `column` is where the
 * first line stands, each later one begins with indent. */
bool heed__put_wrapped(heed_text *out, const char *text, size_t column, const char *indent,
                       size_t width);

/* ---- JSON ---- */
/* Strict: one value, no duplicate keys, nothing behind it. Free with json_decref. Errors name path,
 * line and column. */
json_t *heed__json_read(heed_ctx *c, const char *path);
json_t *heed__json_parse(heed_ctx *c, const char *path, const char *text, size_t n);
/* Indented, ends with a newline, whole or not at all. */
bool heed__json_write(heed_ctx *c, const char *path, const json_t *value);

/* ---- CSV: a header, then rows of plain fields (no quotes) ---- */
typedef struct {
    size_t rows, cols;  /* rows without the header */
    const char **cells; /* (1 + rows, cols), the header first; "" where a row is short */
    char *memory;       /* what cells point into */
} heed__csv;
/* Appends the row "1,0.5,train"; a new file gets the header "step,loss,split" first. */
bool heed__csv_append(heed_ctx *c, const char *path, const char *header, const char *row);
/* A last line without a newline, torn by a kill, is left out. */
bool heed__csv_read(heed_ctx *c, const char *path, heed__csv *out);
/* The same for a zero-terminated text at hand, which is taken (heed__free), also on failure. */
bool heed__csv_parse(heed_ctx *c, const char *path, char *text, size_t n, heed__csv *out);
void heed__csv_free(heed__csv *t);
int heed__csv_column(const heed__csv *t, const char *name);             /* -1: there is none */
const char *heed__csv_text(const heed__csv *t, size_t row, int column); /* "" outside */
double heed__csv_number(const heed__csv *t, size_t row, int column); /* NAN: empty, or no number */
/* Keeps the header and the rows whose first field is at most `last` and that do not hold `without`;
 * rewritten whole or not at all. An absent file is fine. */
bool heed__csv_cut(heed_ctx *c, const char *path, double last, const char *without);

HEED_EXPORT_END

#endif
