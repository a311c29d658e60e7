/* draw.h -- what the pictures and the texts of this room are drawn with. */
#ifndef HEED_DRAW_H
#define HEED_DRAW_H

#include "io/io.h"
#include "view/font.h"

#include <heed/view.h>

static inline int heed__larger(int a, int b) { return a > b ? a : b; }

/* ---- canvas.c: RGB pixels, anti-aliased lines and letters ---- */

typedef struct {
    unsigned char r, g, b;
} heed__rgb;

typedef struct {
    int width, height;
    unsigned char *rgb; /* 3 * width * height */
} heed__canvas;

/* Makes a white canvas. Returns false on error; heed__free(rgb) frees it. */
bool heed__canvas_new(heed_ctx *c, heed__canvas *p, int width, int height);
void heed__canvas_fill(heed__canvas *p, int x, int y, int width, int height, heed__rgb color);
/* Draws a line into a mask of the canvas's size, 0 to 255: where lines overlap, the larger share of
 * a pixel counts, so that the joints of a curve are no darker than the rest. */
void heed__mask_line(const heed__canvas *p, unsigned char *mask, double x0, double y0, double x1,
                     double y1, double thick);
/* Paints what the mask covers, and clears it. */
void heed__canvas_mask(heed__canvas *p, unsigned char *mask, heed__rgb color);
/* Scale is 1 or 2. The base line is 7*scale pixels below y, the lowest letters reach 9*scale;
 * characters that the font lacks are drawn as boxes. up: from bottom to top, rotated. */
void heed__canvas_text(heed__canvas *p, int x, int y, int scale, heed__rgb color, bool up,
                       const char *text);
int heed__text_width(const char *text, int scale);
/* Copies text to out, cut with ".." if it is wider than `width` pixels, and returns out.
 * heed__text_cut cuts at the end, heed__text_fold in the middle. */
enum { HEED__LABEL = 256 };
const char *heed__text_cut(char out[HEED__LABEL], const char *text, int scale, int width);
const char *heed__text_fold(char out[HEED__LABEL], const char *text, int scale, int width);
/* Draws (H,W,C) bytes scaled to the box: nearest neighbour when enlarging, the mean of the pixels
 * covered when reducing. */
void heed__canvas_pixels(heed__canvas *p, int x, int y, int width, int height, heed__pixels from);

/* The largest size of a picture in a square: enlarged by an integer factor, or reduced. */
void heed__fit_size(int side, int *width, int *height);

/* Colours of curves: the first seven are distinct for colour-blind readers, too, by Okabe & Ito
 * 2008. Any index is valid. */
enum { HEED__SERIES_COLORS = 10 };
heed__rgb heed__series_color(int index);
/* In both scales, large values contrast with the background. For a dark background, a terminal's:
 * viridis, 0 dark to 1 light, with evenly rising lightness. */
heed__rgb heed__viridis(double v);
/* For a white background, a picture's or the light page's: the colours reversed, 0 white to 1 dark.
 */
heed__rgb heed__paper(double v);
/* Also for a white background: -1 blue, 0 white, 1 orange, as on the page. */
heed__rgb heed__signed(double v);
/* The same for a dark background: 0 is black. */
heed__rgb heed__signed_dark(double v);
/* Black or white, whichever has the higher contrast with c: at least 4.5:1 (WCAG 2.1). */
heed__rgb heed__ink(heed__rgb c);

/* Round numbers for an axis: fills ticks (at most 12) between lo and hi, returns how many; step is
 * their distance. */
int heed__ticks(double lo, double hi, int want, double ticks[12], double *step);
/* Writes a number with the digits needed for that step: "0.25", "1,000", "2e-05". */
void heed__tick_text(double v, double step, char text[32]);
/* Inserts a comma between groups of three digits of the whole part, as heed_format_count does, and
 * returns text, which needs the capacity for them. */
char *heed__group_digits(char *text);
/* The width of the widest of these numbers: in pixels, or with scale 0 in columns. */
int heed__ticks_width(double lo, double hi, int want, int scale);

/* ---- sketch.c: boxes, cells and labels, as PNG or as SVG: the same layout for both ---- */
/* Letters of an SVG have the sizes and, where the viewer has DejaVu Sans, the widths of a PNG's. */

enum { HEED__LEVELS = 256 };
typedef struct {
    heed_ctx *c;
    bool vector;         /* SVG */
    bool boxed;          /* letters that the font lacks are drawn as boxes */
    heed__canvas canvas; /* for a PNG; of an SVG the size only */
    heed_text svg;
    heed_text cells[HEED__LEVELS]; /* paths of the cells of each colour */
} heed__sketch;

/* Makes a white sketch. */
bool heed__sketch_new(heed_ctx *c, heed__sketch *s, bool vector, int width, int height);
void heed__sketch_free(heed__sketch *s);
void heed__sketch_box(heed__sketch *s, int x, int y, int width, int height, heed__rgb color);
/* Draws a line of one pixel around a box. */
void heed__sketch_frame(heed__sketch *s, int x, int y, int width, int height);
/* A square coloured by heed__paper of its share. heed__sketch_end_cells after the last one: in SVG
 * all cells of a colour are one path. */
void heed__sketch_cell(heed__sketch *s, int x, int y, int side, float share);
void heed__sketch_end_cells(heed__sketch *s);
/* Draws a canvas at its own size, its upper left corner at (x,y). */
void heed__sketch_picture(heed__sketch *s, int x, int y, const heed__canvas *from);
/* Draws text as heed__canvas_text does, cut to `capacity` pixels: with its upper
 * left corner at (x,y), ending at x, centred at x, or from bottom to top. Control characters are
 * made visible. */
typedef enum { HEED__LEFT, HEED__RIGHT, HEED__MIDDLE, HEED__UP } heed__place;
void heed__sketch_text(heed__sketch *s, int x, int y, int scale, heed__rgb color, heed__place place,
                       int capacity, const char *text);
/* Breaks a note, which may be NULL, into lines of at most `width` pixels at scale 2, and returns
 * how many. heed__sketch_note draws them, the first one at (x,y), and cuts the text into its lines.
 */
enum { HEED__NOTE_LINE = 24 };
int heed__wrap_note(const char *note, int width, heed_text *out);
void heed__sketch_note(heed__sketch *s, int x, int y, heed_text *note);
/* Marks the uniform weight, at that share of a ramp of colours that begins at (x,y), and at `right`
 * says what the mark means. */
void heed__sketch_uniform(heed__sketch *s, int x, int ramp, double share, int y, int right,
                          const char *text);
/* A ramp at (x,y) of heed__signed from -end, or from 0, or of shares, of heed__paper, and beside it
 * what it is of: "occlusion: -0.99 to 0.99, unit". Returns the width. NULL s: measures it. */
typedef struct {
    const char *name, *unit; /* unit: or NULL */
    double from, end;
    bool shares;
} heed__scale;
int heed__sketch_scale(heed__sketch *s, int x, int y, heed__scale k);
bool heed__sketch_save(heed__sketch *s, const char *path);
/* Draws item `index` of a list into a new sketch, which must be freed in any case. */
typedef bool heed__drawer(heed_ctx *c, const void *list, int index, bool vector, heed__sketch *out);
/* Writes all items as one picture: side by side or, if down, one below the other. */
bool heed__sketches_save(heed_ctx *c, heed__drawer *draw, const void *list, int count, bool down,
                         bool vector, const char *path);
/* Appends text as XML; control characters, which it does not allow even escaped, become '?'. */
void heed__put_escaped(heed_text *out, const char *text);

/* ---- shade.c: values as colours or letters of a terminal ---- */

/* `width` blanks on the colour of a share of the scale, or without colours as many letters: below
 * 0, which only those show, a to i. */
void heed__put_shade(heed_text *out, heed_terminal terminal, double share, int width);
/* A number, aligned right and followed by a blank, in black or white on that colour. */
void heed__put_on_shade(heed_text *out, heed_terminal terminal, double share, int width,
                        const char *number);
/* A half block: two points, one above the other. */
void heed__put_half(heed_text *out, heed_terminal terminal, heed__rgb upper, heed__rgb lower);
/* Ends the colours of a line. */
void heed__put_plain(heed_text *out, heed_terminal terminal);
/* "   0 [colours] 42  percent of a row's attention; brighter is more", without colours less the
 * last: a picture says that darker is more. */
typedef struct {
    double lo, hi, times;
    bool above; /* some values are above hi */
    const char *unit;
    int indent, width; /* width of the blanks before it, and of the terminal */
} heed__legend;
void heed__put_legend(heed_text *out, heed_terminal terminal, heed__legend l);

#endif
