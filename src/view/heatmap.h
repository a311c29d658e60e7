/* heatmap.h -- the layout of a heat map in a terminal. */
#ifndef HEED_HEATMAP_H
#define HEED_HEATMAP_H

#include <heed/view.h>

typedef struct {
    const heed_heatmap *m;
    heed_text *out;
    double lo, hi;
    bool above;         /* some value is above hi */
    int width, head;    /* of the terminal, and of the row labels */
    const char *format; /* of the numbers in cells, and the columns of the widest */
    int digits;
} heed__map;
/* Where a value is on the scale, 0 to 1; what is unknown at its start. */
double heed__map_share(const heed__map *p, double v);
double heed__map_value(const heed__map *p, int row, int col);
/* Without numbers: a character or two a cell, column labels from top to bottom; more than fit are
 * drawn together, by their largest. */
void heed__put_dense(const heed__map *p);

#endif
