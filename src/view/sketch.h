/* sketch.h -- a drawing of boxes, cells and labels, as PNG or as SVG: the same layout for both. */
#ifndef HEED_SKETCH_H
#define HEED_SKETCH_H

#include "view/canvas.h"

typedef struct {
    heed_ctx *c;
    bool vector;         /* SVG */
    bool boxed;          /* letters that the font lacks are drawn as boxes */
    heed__canvas canvas; /* for a PNG */
    heed_text svg;
} heed__sketch;

/* Makes a white sketch. */
bool heed__sketch_new(heed_ctx *c, heed__sketch *s, bool vector, int width, int height);
void heed__sketch_free(heed__sketch *s);
void heed__sketch_box(heed__sketch *s, int x, int y, int width, int height, heed__rgb color);
/* Draws a line of one pixel around a box. */
void heed__sketch_frame(heed__sketch *s, int x, int y, int width, int height);
/* A grid of squares, `cell` pixels apart, with gaps of `line` pixels, coloured by heed__paper of
 * their share; NAN: left white. */
typedef struct {
    int x, y, rows, cols, cell, line;
    const float *share; /* (rows,cols) */
} heed__cells;
void heed__sketch_cells(heed__sketch *s, const heed__cells *g);
/* Draws a canvas at its own size, its upper left corner at (x,y). */
void heed__sketch_picture(heed__sketch *s, int x, int y, const heed__canvas *from);
/* Draws text in letters 6*scale wide and 9*scale high, cut to `capacity` pixels: with its upper
 * left corner at (x,y), ending at x, centred at x, or from bottom to top. Control characters are
 * made visible. */
typedef enum { HEED__LEFT, HEED__RIGHT, HEED__MIDDLE, HEED__UP } heed__place;
void heed__sketch_text(heed__sketch *s, int x, int y, int scale, heed__rgb color, heed__place place,
                       int capacity, const char *text);
/* Width of a label in pixels; a wide character counts as two letters. */
int heed__sketch_width(const char *text, int scale);
bool heed__sketch_save(heed__sketch *s, const char *path);

#endif
