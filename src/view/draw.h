/* draw.h -- what the pictures and the texts of this room are drawn with. */
#ifndef HEED_DRAW_H
#define HEED_DRAW_H

#include "io/io.h"
#include "view/font.h"

#include <heed/view.h>

static inline int heed__larger(int a, int b) { return a > b ? a : b; }
static inline bool heed__has_pixels(const heed_tile *t) {
    return t->pixels && t->width > 0 && t->height > 0 && (t->channels == 1 || t->channels == 3);
}
/* Whether the columns of a map are the patches of a grid. */
static inline bool heed__has_grid(const heed_heatmap *m) {
    return m->grid_cols > 0 && m->cols % m->grid_cols == 0;
}

/* ---- focus.c: how even weights are, and the head that is shown first ---- */

/* How evenly weights (n) are spread: 2^H / n, where H is the entropy in bits of the weights divided
 * by their sum. It is 1/n if one has all, 1 if all are equal, and 0 if none is above 0. Negative
 * and unknown ones count as 0. */
double heed__evenness(const heed_real *weights, int n);
/* Whether pictures and pages say "nearly uniform": the evenness is HEED_NEARLY_UNIFORM or more, and
 * no weight is twice the mean or more, which is where the scale of uniform weights ends. */
bool heed__nearly_uniform(const heed_real *weights, int n);
#define HEED_NEARLY_UNIFORM 0.9
/* heed_records_focus for one record. */
bool heed__record_focus(const heed_record *r, heed_stack stack, int layer, int query,
                        heed_focus *out);
/* The uniform weight of a block: 1 / the number of keys that a query may attend to. With query -1
 * the mean over the queries that may attend to several keys; 1 if there are none. */
double heed__record_uniform(const heed_record *r, const heed_record_block *b, int query);

/* ---- figure.c: the scales of a heat map ---- */

/* The common scale of maps, which is that of the first: from lo, or from -hi if that is below 0, to
 * hi. Rows with their own scale do not count. */
typedef struct {
    double lo, hi;
    bool both, above; /* on both sides of 0; some value is above hi */
} heed__scale;
heed__scale heed__scale_of(const heed_heatmap *maps, int count);
/* The end of a row's own scale; 0: it has the common one. */
double heed__row_end(const heed_heatmap *m, int row);
/* Where it begins: below 0 only if a value is. */
double heed__row_start(const heed_heatmap *m, int row);
/* Whether it is of shares, which have the colours of the common scale. */
bool heed__row_is_share(const heed_heatmap *m, int row);
/* Whether it is shown besides the common one, up to hi: shares may end where that ends. */
bool heed__row_is_apart(const heed_heatmap *m, int row, double hi);

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

/* Pixel i, and the lightness of a colour, from 0 to 1. */
heed__rgb heed__canvas_at(const heed__canvas *p, int i);
double heed__grey(heed__rgb c);
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
 * how many. */
enum { HEED__NOTE_LINE = 24 };
int heed__wrap_note(const char *note, int width, heed_text *out);
bool heed__sketch_save(heed__sketch *s, const char *path);
/* Draws item `index` of a list into a new sketch, which must be freed in any case. */
typedef bool heed__drawer(heed_ctx *c, const void *list, int index, bool vector, heed__sketch *out);
/* Writes all items as one picture: side by side or, if down, one below the other. */
bool heed__sketches_save(heed_ctx *c, heed__drawer *draw, const void *list, int count, bool down,
                         bool vector, const char *path);
/* Appends text as XML; control characters, which it does not allow even escaped, become '?'. */
void heed__put_escaped(heed_text *out, const char *text);

#endif
