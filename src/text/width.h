/* width.h -- labels in a terminal, in its columns. */
#ifndef HEED_TEXT_WIDTH_H
#define HEED_TEXT_WIDTH_H

#include <heed/text.h>

HEED_EXPORT_BEGIN

/* What is shown for a code point: itself, or a sign for it. */
typedef struct {
    const char *text;
    size_t bytes;
    char buffer[4];
} heed__sign;
/* The next code point of *text, which is moved on; its columns. */
int heed__glyph(const char **text, heed__sign *out);
/* The same with the combining marks on it, appended to out; out NULL: only passed over. */
int heed__cluster(const char **text, heed_text *out);

/* Of a label as heed_label_text shows it: columns, characters, and one of them, whose columns are
 * returned (0: there is none). */
int heed__label_width(const char *label);
int heed__label_glyphs(const char *label);
int heed__label_glyph(const char *label, int index, heed_text *out);
/* The label in exactly so many columns, filled with blanks on the right or on the left. */
void heed__put_label(heed_text *out, const char *label, int columns, bool right);
/* Ends the line, without blanks before its end. */
void heed__end_line(heed_text *out);

HEED_EXPORT_END

#endif
