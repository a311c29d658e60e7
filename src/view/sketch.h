/* sketch.h -- a drawing of boxes, cells and labels, as PNG or as SVG: the same layout for both. */
#ifndef HEED_SKETCH_H
#define HEED_SKETCH_H

#include "view/canvas.h"

typedef struct {
    heed_ctx *c;
    bool vector;         /* SVG */
    bool boxed;          /* letters that the font lacks are drawn as boxes */
    heed__canvas canvas; /* of a PNG */
    heed_text svg;
} heed__sketch;

/* White. */
bool heed__sketch_new(heed_ctx *c, heed__sketch *s, bool vector, int width, int height);
void heed__sketch_free(heed__sketch *s);
void heed__sketch_box(heed__sketch *s, int x, int y, int width, int height, heed__rgb color);
/* A line of one pixel around that box. */
void heed__sketch_frame(heed__sketch *s, int x, int y, int width, int height);
/* A grid of squares, each `cell` pixels from the next and `line` less wide; shares of the
 * paper's colours, NAN: left white. */
typedef struct {
    int x, y, rows, cols, cell, line;
    const float *share; /* (rows,cols) */
} heed__cells;
void heed__sketch_cells(heed__sketch *s, const heed__cells *g);
/* Pixels as they are, their left upper corner at (x,y). */
void heed__sketch_picture(heed__sketch *s, int x, int y, const heed__canvas *from);
/* Text from its left upper corner (x,y), in letters 6 scale wide and 9 scale high, cut to `room`
 * pixels; to the right end at x; from bottom to top. Control characters become visible. */
typedef enum { HEED__LEFT, HEED__RIGHT, HEED__MIDDLE, HEED__UP } heed__place;
void heed__sketch_text(heed__sketch *s, int x, int y, int scale, heed__rgb color, heed__place place,
                       int capacity, const char *text);
/* Pixels of a label; a wide character is as wide as two letters. */
int heed__sketch_width(const char *text, int scale);
bool heed__sketch_save(heed__sketch *s, const char *path);

#endif
