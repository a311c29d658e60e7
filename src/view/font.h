/* font.h -- the letters of pictures: what .ci/letters.c drew from a TrueType font at build time,
 * and font.c reads. */
#ifndef HEED_FONT_H
#define HEED_FONT_H

#include <stdbool.h>
#include <stdint.h>

/* A glyph in one size: its place in heed__letter_bits, its advance, its pixels, and where the upper
 * left one is from the pen on the base line, in pixels. */
typedef struct {
    uint16_t at;
    uint8_t advance, width, height;
    int8_t left, top;
} heed__glyph;

/* Code points in rising order; for each its glyph of scale 1, then for each that of scale 2. */
extern const int heed__letter_count;
extern const uint16_t heed__letter_codes[];
extern const heed__glyph heed__letter_glyphs[];
extern const unsigned char heed__letter_bits[];

/* A letter with the marks above and below it: one character of text. Glyphs are places in
 * heed__letter_codes. */
enum { HEED__MARKS = 4 };
typedef struct {
    int glyph;
    bool boxed; /* the font lacks it: the glyph is a box */
    int marks;
    int mark[HEED__MARKS];
} heed__letter;

/* Reads the next letter and advances *text; each invalid byte counts as one letter. What has no
 * form of its own, such as a joiner, belongs to the letter before it. */
heed__letter heed__next_letter(const char **text);
/* Its advance in pixels, at scale 1 or 2. */
int heed__letter_width(const heed__letter *g, int scale);
/* Its parts, the letter (0) and its marks (1 to g->marks), as ink from 0 to 1 a pixel, row by row;
 * left and top are from the pen on the base line. */
enum { HEED__LARGEST_LETTER = 32 * 32 };
typedef struct {
    int left, top, width, height;
    float ink[HEED__LARGEST_LETTER];
} heed__inked;
void heed__letter_draw(const heed__letter *g, int part, int scale, heed__inked *out);
/* Whether any letter of the text is drawn as a box. */
bool heed__text_boxed(const char *text);

#endif
