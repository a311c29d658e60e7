/* What the rooms above io may use of it beyond heed/io.h: texts for messages, numbers, JSON, CSV.
 */
#ifndef HEED_IO_INTERNAL_H
#define HEED_IO_INTERNAL_H

#include "core/core.h"

#include <heed/io.h>
#include <jansson.h>

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

/* Appends base64: RFC 4648, sec. 4, padded, without line breaks. */
bool heed__put_base64(heed_text *out, const unsigned char *bytes, size_t n);

/* ---- packed bytes ---- */
/* Raw deflate (RFC 1951) of at most 4 GB into exactly size bytes; false: damaged, of another size,
 * or no memory. */
bool heed__inflate(const unsigned char *from, size_t n, void *to, size_t size);

/* ---- pictures ---- */
/* A PNG file in memory, of RGB rows; NULL: see c, whose error says name. Free with heed__png_free.
 */
unsigned char *heed__png_bytes(heed_ctx *c, const char *name, const unsigned char *rgb, int width,
                               int height, size_t *n);
void heed__png_free(unsigned char *png);

/* IEEE half precision: sign 1, exponent 5 (bias 15), fraction 10 bits. */
double heed__half(uint16_t h);

/* ---- safetensors ---- */
/* The file at path, whose n bytes are at hand: takes data (heed__free), also when it fails. */
heed_safetensors *heed__safetensors_parse(heed_ctx *c, const char *path, unsigned char *data,
                                          size_t n);
/* heed_load from an open file. */
bool heed__load_parsed(heed_store *s, const char *path, const heed_safetensors *f);

/* ---- settings ---- */
/* heed_config_read of a zero-terminated text at hand, which is cut into pieces; path stands in the
 * errors. */
bool heed__config_parse(heed_config *f, const char *path, char *text, size_t n, heed_rank rank);

/* ---- JSON ---- */
/* Strict: one value, no duplicate keys, nothing behind it. Free with json_decref. Errors name path,
 * line and column. */
json_t *heed__json_read(heed_ctx *c, const char *path);
json_t *heed__json_parse(heed_ctx *c, const char *path, const char *text, size_t n);
/* Indented, ends with a newline, whole or not at all. */
bool heed__json_write(heed_ctx *c, const char *path, const json_t *value);

/* ---- NPZ ---- */
typedef enum { HEED__NPZ_REAL, HEED__NPZ_INT, HEED__NPZ_BYTE } heed__npz_kind;
typedef struct {
    const char *name;
    heed__npz_kind kind;
    int dims, shape[HEED_DIMS];
    const void *data;
} heed__npz_array;
/* heed_npz_save of arrays that are no tensors. */
bool heed__npz_write(heed_ctx *c, const char *path, int count, const heed__npz_array *arrays);

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

#endif
