/* heatmap.h -- the layout of a heat map in a terminal. */
#ifndef HEED_HEATMAP_H
#define HEED_HEATMAP_H

#include <heed/view.h>

typedef struct {
    const heed_heatmap *m;
    heed_text *out;
    double lo, hi;
    bool above;         /* some value is above hi */
    int width, head;    /* columns of the terminal, and of the row labels */
    const char *format; /* of the numbers in cells; digits: columns of the widest */
    int digits;
} heed__map;
/* Position of a value on the scale, 0 to 1; 0 for unknown values. */
double heed__map_share(const heed__map *p, double v);
double heed__map_value(const heed__map *p, int row, int col);
/* Without numbers: one or two characters per cell, column labels from top to bottom; if there are
 * too many cells, several are drawn as one with their largest value. */
void heed__put_dense(const heed__map *p);

#endif
