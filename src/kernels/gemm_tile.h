/* The heart of every product: a tile of C held in registers while the depth runs by. */
#ifndef HEED_GEMM_TILE_H
#define HEED_GEMM_TILE_H

#include "isa.h"

/* Rows of a tile and vectors in a row of it, as the registers of the set allow: 32 on AVX-512 and
 * NEON, else 16. */
#if HEED__SET == 2 || HEED__SET == 3
#define TILE_ROWS 8
#elif HEED__SET == 1
#define TILE_ROWS 6
#else
#define TILE_ROWS 4
#endif
#define TILE_VECS 2
#define PANEL     (TILE_VECS * VL) /* columns of a tile */

/* c (rows, width) = or += A (rows, depth) B (depth, width), width at most PANEL. */
typedef struct {
    const heed_real *a; /* element (i, p) at a[i * a_row + p * a_step] */
    size_t a_row, a_step;
    const heed_real *b; /* row p at b + p * b_step; whole vectors are read */
    size_t b_step;
    heed_real *c;
    size_t ldc;
    int width, depth;
    bool add;
} heed__tile;

INLINE void tile_rows(const heed__tile *t, int row, const int rows, const int vecs,
                      const size_t a_step) {
    vec sum[TILE_ROWS][TILE_VECS];
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++) sum[i][v] = splat(0);
    const heed_real *a = t->a + (size_t)row * t->a_row, *b = t->b;
    for (int p = 0; p < t->depth; p++) {
        vec line[TILE_VECS];
        for (int v = 0; v < vecs; v++) line[v] = load(b + v * VL);
        for (int i = 0; i < rows; i++) {
            vec x = splat(a[(size_t)i * t->a_row]);
            for (int v = 0; v < vecs; v++) sum[i][v] += x * line[v];
        }
        a += a_step;
        b += t->b_step;
    }
    heed_real *c = t->c + (size_t)row * t->ldc;
    for (int i = 0; i < rows; i++, c += t->ldc) {
        for (int v = 0; v < vecs; v++) {
            size_t left = (size_t)(t->width - v * VL);
            put(c + v * VL, t->add ? get(c + v * VL, left) + sum[i][v] : sum[i][v], left);
        }
    }
}

INLINE void tile_all_rows(const heed__tile *t, int rows, const int vecs, const size_t a_step) {
    int row = 0;
    for (; rows - row >= TILE_ROWS; row += TILE_ROWS) tile_rows(t, row, TILE_ROWS, vecs, a_step);
    for (; rows - row >= 2; row += 2) tile_rows(t, row, 2, vecs, a_step);
    if (row < rows) tile_rows(t, row, 1, vecs, a_step);
}

/* Any number of rows against one panel. */
static void tile_run(const heed__tile *t, int rows) {
    if (t->width > VL) {
        if (t->a_step == 1)
            tile_all_rows(t, rows, 2, 1);
        else
            tile_all_rows(t, rows, 2, t->a_step);
    } else {
        if (t->a_step == 1)
            tile_all_rows(t, rows, 1, 1);
        else
            tile_all_rows(t, rows, 1, t->a_step);
    }
}

/* A panel of B: (depth, PANEL), zeros beyond width. B element (p, j) at b[p * step + j], or at
 * b[j * step + p] when turned. */
static inline void pack_panel(heed_real *panel, const heed_real *b, size_t step, bool turned,
                              int width, int depth) {
    for (int p = 0; p < depth; p++) {
        heed_real *row = panel + (size_t)p * PANEL;
        for (int j = 0; j < width; j++)
            row[j] = turned ? b[(size_t)j * step + (size_t)p] : b[(size_t)p * step + (size_t)j];
        for (int j = width; j < PANEL; j++) row[j] = 0;
    }
}

#endif
