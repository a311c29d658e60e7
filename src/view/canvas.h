/* canvas.h -- a picture in memory: RGB pixels, anti-aliased lines, text in a built-in font of 5x9
 * points. */
#ifndef HEED_CANVAS_H
#define HEED_CANVAS_H

#include "io/io.h"

typedef struct {
    unsigned char r, g, b;
} heed__rgb;

typedef struct {
    int width, height;
    unsigned char *rgb; /* 3 * width * height */
} heed__canvas;

/* White. False in error; heed__free(rgb) frees it. */
bool heed__canvas_new(heed_ctx *c, heed__canvas *p, int width, int height);
void heed__canvas_fill(heed__canvas *p, int x, int y, int width, int height, heed__rgb color);
void heed__canvas_line(heed__canvas *p, double x0, double y0, double x1, double y1, double thick,
                       heed__rgb color);
/* Characters are 6*scale wide and 9*scale high, the last two rows below the line; what the font
 * lacks is drawn as a box. */
void heed__canvas_text(heed__canvas *p, int x, int y, int scale, heed__rgb color, const char *text);
/* The same from bottom to top: its first character begins at (x,y), its glyphs are rotated.
 */
void heed__canvas_text_up(heed__canvas *p, int x, int y, int scale, heed__rgb color,
                          const char *text);
int heed__text_width(const char *text, int scale);
/* text, cut with ".." where it is wider than `width` pixels, into out, which is returned: at its
 * end, or in its middle. */
enum { HEED__LABEL = 256 };
const char *heed__text_cut(char out[HEED__LABEL], const char *text, int scale, int width);
const char *heed__text_fold(char out[HEED__LABEL], const char *text, int scale, int width);
/* (H,W,C) bytes brought to the box: nearest where it grows, the mean of what falls into a pixel
 * where it shrinks. */
void heed__canvas_pixels(heed__canvas *p, int x, int y, int width, int height, heed__pixels from);

/* Draws what item `index` of a list shows into a canvas that it makes. */
typedef bool heed__drawer(heed_ctx *c, const void *list, int index, heed__canvas *out);
/* All items as one PNG: side by side, or one below the other. */
bool heed__canvas_save(heed_ctx *c, heed__drawer *draw, const void *list, int count, bool down,
                       const char *path);

/* A letter and the marks over and under it, as one character of text. */
enum { HEED__MARKS = 4 };
typedef struct {
    int32_t code;
    int marks;
    int32_t mark[HEED__MARKS];
} heed__letter;
/* The next one of *text, which moves on; broken bytes count as one each. */
heed__letter heed__next_letter(const char **text);
/* One of its 5 columns, 9 bits, the lowest at the top: Latin letters with their marks, Greek,
 * Cyrillic, and the signs of texts in them; else a box. */
unsigned heed__letter_column(const heed__letter *g, int column);
/* One of its letters is such a box. */
bool heed__text_boxed(const char *text);

/* Colours that colour-blind eyes distinguish, too. Okabe & Ito 2008. Any index. */
enum { HEED__SERIES_COLORS = 8 };
heed__rgb heed__series_color(int index);
/* Large values contrast with the background. On a dark one, a terminal's: viridis, 0 dark to 1
 * light, evenly rising in lightness. */
heed__rgb heed__viridis(double v);
/* On white, a picture's and the light page's: the same colours backwards, 0 white to 1 dark. */
heed__rgb heed__paper(double v);
/* Black or white, whichever is read better on c: at least 4.5:1 (WCAG 2.1). */
heed__rgb heed__ink(heed__rgb c);

/* Round numbers for an axis: fills ticks (at most 12) between lo and hi, returns how many; step is
 * their distance. */
int heed__ticks(double lo, double hi, int want, double ticks[12], double *step);
/* A number with the digits that steps of that size need: "0.25", "1,000" is "1000", "2e-05". */
void heed__tick_text(double v, double step, char *text, size_t size);

#endif
