/* text.h -- internal functions of text for the folders above it. */
#ifndef HEED_TEXT_INTERNAL_H
#define HEED_TEXT_INTERNAL_H

#include "core/core.h"

#include <heed/text.h>
#include <jansson.h>

HEED_EXPORT_BEGIN

/* ---- characters ---- */

/* Writes 1 to 4 bytes and returns how many. character: a code point, unchecked. */
size_t heed__utf8_write(int32_t character, char out[4]);
/* The number of bytes before the first that is not valid UTF-8; n if all are valid. */
size_t heed__utf8_valid(const char *text, size_t n);
/* Characters in n bytes of valid UTF-8. */
size_t heed__utf8_count(const char *text, size_t n);
/* Appends n bytes as valid UTF-8: an invalid byte becomes the text "\xE2". */
bool heed__utf8_put(heed_text *out, const char *text, size_t n);
int heed__char_width(int32_t c);      /* columns of a terminal: 0, 1 or 2 */
bool heed__is_mark(int32_t c);        /* category Mn: placed on the character before it */
bool heed__is_seen_mark(int32_t c);   /* category M, except variation selectors and U+034F */
bool heed__is_blank(int32_t c);       /* a space of any width, or a letter drawn as nothing */
int heed__combining_class(int32_t c); /* Unicode's; 0 for letters and variation selectors */
int32_t heed__lower(int32_t c);
/* The canonical decomposition (NFD) of c; returns its length, at most HEED__DECOMPOSED. */
enum { HEED__DECOMPOSED = 8 };
int heed__decompose(int32_t c, int32_t parts[HEED__DECOMPOSED]);
/* Whether a character may be shown unchanged in a line. DIRECTION: marks that change the direction
 * of writing and would reorder the entire line. CONTROL: also c < 0, a byte that is not UTF-8. */
typedef enum { HEED__PLAIN, HEED__CONTROL, HEED__DIRECTION } heed__char_kind;
heed__char_kind heed__kind_of_char(int32_t c);

/* Whether two names look equal but for their case: as composed (NFC) or decomposed characters. */
bool heed__same_name(const char *a, size_t n, const char *b, size_t m);
/* Sets out to a valid text in composed form (NFC), which may be longer: U+0958 is decomposed. */
bool heed__compose(heed_text *out, const char *s, size_t n);

/* The place of the first byte that is NUL or not UTF-8; n: there is none. */
size_t heed__text_flaw(const char *text, size_t n);
/* The number of the line, from 1, that holds the byte `at`. */
size_t heed__line_of(const char *text, size_t at);
/* The bytes of the first line of n bytes, without its LF. */
size_t heed__line_length(const char *text, size_t n);

/* ---- labels, as heed_label_text shows them ---- */

/* The glyphs (characters with their marks) of a label; appends one, and returns its columns. */
int heed__label_glyphs(const char *label);
int heed__label_glyph(const char *label, int index, heed_text *out);
/* Appends the label in exactly `columns` columns; right: aligned right, else left. */
void heed__put_label(heed_text *out, const char *label, int columns, bool right);
/* Ends the line, without trailing blanks. */
void heed__end_line(heed_text *out);

/* ---- numbers and words ---- */

/* Appends the shortest decimal text that reads back to the same double; nothing for a NaN. */
bool heed__put_number(heed_text *out, double value);
/* Appends the words of text, broken into lines of at most width columns; `column` is where the
 * first line begins, each later one begins with indent. */
bool heed__put_wrapped(heed_text *out, const char *text, size_t column, const char *indent,
                       size_t width);

/* Whether text ends in `end` after at least one character, ignoring case: "a.JPG" in ".jpg". */
bool heed__ends_in(const char *text, const char *end);

/* ---- JSON files ---- */

/* Strict: one value, no duplicate keys, nothing after it. Free with json_decref. Errors name path,
 * line and column. */
json_t *heed__json_read(heed_ctx *c, const char *path);
json_t *heed__json_parse(heed_ctx *c, const char *path, const char *text, size_t n);
/* Writes value indented, with a final newline, atomically. */
bool heed__json_write(heed_ctx *c, const char *path, const json_t *value);

/* ---- tables ---- */

const char *heed__csv_separator(const heed_csv *r); /* its name: "comma" */

/* ---- metrics.csv ---- */

/* Appends the row "1,0.5,train"; a new file gets the header "step,loss,split" first. */
bool heed__csv_append(heed_ctx *c, const char *path, const char *header, const char *row);
/* Keeps the header and the rows whose first field is at most `last` and that do not contain
 * `without`; the file is rewritten atomically. An absent file is not an error. */
bool heed__csv_cut(heed_ctx *c, const char *path, double last, const char *without);

HEED_EXPORT_END

#endif
