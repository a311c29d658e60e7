/* tile.c -- a matrix as the pixels of a tile of a sheet. */
#include "pictures.h"

#include <math.h>
#include <stdlib.h>

unsigned char *tile_pixels(const heed_real *x, size_t n, heed_real top, bool roots) {
    unsigned char *rgb = malloc(3 * n);
    for (size_t i = 0; rgb && i < n; i++) {
        double v = top > 0 ? (double)(x[i] / top) : 0;
        if (roots) v = sqrt(v);
        rgb[3 * i] = (unsigned char)lround(255 - 247 * v);
        rgb[3 * i + 1] = (unsigned char)lround(255 - 207 * v);
        rgb[3 * i + 2] = (unsigned char)lround(255 - 148 * v);
    }
    return rgb;
}
