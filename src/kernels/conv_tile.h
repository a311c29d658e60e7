/* conv_tile.h -- the tile of a convolution: rows of A are read in place, tap by tap, so no patch is
 * copied. Dukhan 2019, "The indirect convolution algorithm", without the indirection buffer. */
#ifndef HEED_CONV_TILE_H
#define HEED_CONV_TILE_H

#include "gemm_tile.h"

/* c (rows, width) = or += the sum over o < outer, i < inner, p < len of a[row][o * outer_jump + i *
 * inner_jump + p * step] times the next row of b. */
typedef struct {
    int outer, inner, len;
    size_t outer_jump, inner_jump, step;
    const heed_real *b; /* rows b_step apart; full vectors are read */
    size_t b_step;
    const heed_real *bias; /* (width), added, or NULL */
    size_t ldc;
    int width; /* at most PANEL */
    bool add;
} heed__taps;

/* Only rows and columns that exist are written to c. */
INLINE void taps_store(const heed__taps *t, heed_real *c, const heed_real *from, int rows) {
    for (int i = 0; i < rows; i++, c += t->ldc, from += PANEL)
        for (int j = 0; j < t->width; j += VL) {
            size_t left = (size_t)(t->width - j);
            vec x = load(from + j);
            put(c + j, t->add ? get(c + j, left) + x : x, left);
        }
}

INLINE void taps_as(const heed__taps *t, const heed_real *const a[TILE_ROWS], int rows,
                    heed_real *c, const int vecs) {
    vec sum[TILE_ROWS][TILE_VECS];
    UNROLL for (int v = 0; v < vecs; v++) {
        vec from = splat(0);
        if (t->bias && t->width > v * VL) from = get(t->bias + v * VL, (size_t)(t->width - v * VL));
        UNROLL for (int i = 0; i < TILE_ROWS; i++) sum[i][v] = from;
    }
    const heed_real *b = t->b, *row[TILE_ROWS];
    UNROLL for (int i = 0; i < TILE_ROWS; i++) row[i] = a[i];
    size_t step = t->step, b_step = t->b_step;
    for (int o = 0; o < t->outer; o++)
        for (int n = 0; n < t->inner; n++) {
            size_t at = (size_t)o * t->outer_jump + (size_t)n * t->inner_jump;
            for (int p = t->len; p > 0; p--, at += step, b += b_step) {
                vec line[TILE_VECS];
                UNROLL for (int v = 0; v < vecs; v++) line[v] = load(b + v * VL);
                UNROLL for (int i = 0; i < TILE_ROWS; i++) {
                    vec x = splat(row[i][at]);
                    UNROLL for (int v = 0; v < vecs; v++) sum[i][v] += x * line[v];
                }
            }
        }
    if (rows == TILE_ROWS && t->width == vecs * VL) {
        if (t->add) {
            UNROLL for (int i = 0; i < TILE_ROWS; i++) {
                UNROLL for (int v = 0; v < vecs; v++) sum[i][v] +=
                    load(c + (size_t)i * t->ldc + v * VL);
            }
        }
        UNROLL for (int i = 0; i < TILE_ROWS; i++) {
            UNROLL for (int v = 0; v < vecs; v++) store(c + (size_t)i * t->ldc + v * VL, sum[i][v]);
        }
        return;
    }
    heed_real rest[TILE_ROWS * PANEL];
    UNROLL for (int i = 0; i < TILE_ROWS; i++) {
        UNROLL for (int v = 0; v < vecs; v++) store(rest + i * PANEL + v * VL, sum[i][v]);
    }
    taps_store(t, c, rest, rows);
}

/* The first `rows` entries of a are valid; the others repeat a valid one. */
static void taps_run(const heed__taps *t, const heed_real *const a[TILE_ROWS], int rows,
                     heed_real *c) {
    if (t->width > VL)
        taps_as(t, a, rows, c, 2);
    else
        taps_as(t, a, rows, c, 1);
}

#endif
