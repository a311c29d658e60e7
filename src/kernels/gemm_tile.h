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
    const heed_real *a; /* element (i, p) at a[i * a_row + p * a_step]; one of the steps is 1 */
    size_t a_row, a_step, a_tile; /* a_tile: between tiles of rows; 0: TILE_ROWS * a_row */
    const heed_real *b;           /* row p at b + p * b_step; whole vectors are read */
    size_t b_step;
    heed_real *c;
    size_t ldc;
    int width, depth;
    bool add;
} heed__tile;

/* What stands in the registers goes to c, row by row; a ragged end by way of memory. */
INLINE void tile_store(const heed__tile *t, heed_real *c, vec sum[TILE_ROWS][TILE_VECS],
                       const int rows, const int vecs) {
    heed_real rest[TILE_ROWS * PANEL];
    bool whole = t->width == vecs * VL;
    heed_real *to = whole ? c : rest;
    size_t ld = whole ? t->ldc : PANEL;
    if (whole && t->add) {
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int v = 0; v < vecs; v++) sum[i][v] =
                load(c + (size_t)i * ld + v * VL) + sum[i][v];
        }
    }
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int v = 0; v < vecs; v++) store(to + (size_t)i * ld + v * VL, sum[i][v]);
    }
    if (whole) return;
    for (int i = 0; i < rows; i++, c += t->ldc)
        for (int j = 0; j < t->width; j += VL) {
            size_t left = (size_t)(t->width - j);
            vec x = load(rest + i * PANEL + j);
            put(c + j, t->add ? get(c + j, left) + x : x, left);
        }
}

/* Tiles from `row` on, each of as many rows. Called, not made part of what calls it: the loop over
 * the depth needs every register for itself. */
INLINE void tile_rows(const heed__tile *t, int row, const int rows, const int vecs,
                      const size_t a_row, const size_t a_step) {
    vec sum[TILE_ROWS][TILE_VECS];
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int v = 0; v < vecs; v++) sum[i][v] = splat(0);
    }
    size_t a_tile = t->a_tile ? t->a_tile : TILE_ROWS * a_row, b_step = t->b_step;
    const heed_real *a = t->a + (size_t)(row / TILE_ROWS) * a_tile, *b = t->b;
    a += (size_t)(row % TILE_ROWS) * a_row;
    for (int p = t->depth; p > 0; p--) {
        vec line[TILE_VECS];
        UNROLL for (int v = 0; v < vecs; v++) line[v] = load(b + v * VL);
        UNROLL for (int i = 0; i < rows; i++) {
            vec x = splat(a[(size_t)i * a_row]);
            UNROLL for (int v = 0; v < vecs; v++) sum[i][v] += x * line[v];
        }
        a += a_step;
        b += b_step;
    }
    tile_store(t, t->c + (size_t)row * t->ldc, sum, rows, vecs);
}
#define TILE_OF(name, rows, vecs, a_row, a_step)                                                   \
    static __attribute__((noinline)) void name(const heed__tile *t, int row) {                     \
        tile_rows(t, row, rows, vecs, a_row, a_step);                                              \
    }
/* Rows of A that lie as rows, or as columns; a whole panel of B, or its first vector. */
TILE_OF(tile_wide, TILE_ROWS, 2, t->a_row, 1)
TILE_OF(tile_wide_turned, TILE_ROWS, 2, 1, t->a_step)
TILE_OF(tile_slim, TILE_ROWS, 1, t->a_row, 1)
TILE_OF(tile_slim_turned, TILE_ROWS, 1, 1, t->a_step)
#undef TILE_OF

/* The rows that fill no tile. */
INLINE void tile_rest(const heed__tile *t, int row, int rows, const int vecs, const size_t a_row,
                      const size_t a_step) {
    for (; rows - row >= 2; row += 2) tile_rows(t, row, 2, vecs, a_row, a_step);
    if (row < rows) tile_rows(t, row, 1, vecs, a_row, a_step);
}

/* Any number of rows against one panel. */
static void tile_run(const heed__tile *t, int rows) {
    bool wide = t->width > VL, turned = t->a_step != 1;
    int row = 0;
    for (; rows - row >= TILE_ROWS; row += TILE_ROWS)
        if (wide && !turned)
            tile_wide(t, row);
        else if (wide)
            tile_wide_turned(t, row);
        else if (!turned)
            tile_slim(t, row);
        else
            tile_slim_turned(t, row);
    if (row == rows) return;
    if (wide && !turned)
        tile_rest(t, row, rows, 2, t->a_row, 1);
    else if (wide)
        tile_rest(t, row, rows, 2, 1, t->a_step);
    else if (!turned)
        tile_rest(t, row, rows, 1, t->a_row, 1);
    else
        tile_rest(t, row, rows, 1, 1, t->a_step);
}

/* The transpose of VL rows: log2 VL perfect shuffles. */
INLINE void transpose(vec r[VL]) {
    UNROLL for (int stage = VL; stage > 1; stage /= 2) {
        vec t[VL];
        UNROLL for (int i = 0; i < VL / 2; i++) {
            t[2 * i] = zip_low(r[i], r[i + VL / 2]);
            t[2 * i + 1] = zip_high(r[i], r[i + VL / 2]);
        }
        UNROLL for (int i = 0; i < VL; i++) r[i] = t[i];
    }
}

/* VL columns of a panel from rows of x, zeros beyond width. */
static inline void pack_turned(heed_real *panel, const heed_real *x, size_t step, int width,
                               int depth) {
    for (int p = 0; p < depth; p += VL, panel += (size_t)VL * PANEL) {
        vec r[VL];
        heed_real rest[VL * VL];
        bool whole = width >= VL && depth - p >= VL;
        if (!whole)
            for (int j = 0; j < VL; j++)
                store(rest + j * VL,
                      j < width ? get(x + (size_t)j * step + p, (size_t)(depth - p)) : splat(0));
        const heed_real *from = whole ? x + p : rest;
        size_t apart = whole ? step : VL;
        UNROLL for (int j = 0; j < VL; j++) r[j] = load(from + (size_t)j * apart);
        transpose(r);
        if (depth - p >= VL) {
            UNROLL for (int q = 0; q < VL; q++) store(panel + q * PANEL, r[q]);
            continue;
        }
        UNROLL for (int q = 0; q < VL; q++) {
            if (q < depth - p) store(panel + q * PANEL, r[q]);
        }
    }
}

/* A panel of B: (depth, PANEL), zeros beyond width. B element (p, j) at b[p * step + j], or at
 * b[j * step + p] when turned. */
static inline void pack_panel(heed_real *panel, const heed_real *b, size_t step, bool turned,
                              int width, int depth) {
    for (int v = 0; v < PANEL; v += VL) {
        if (turned) {
            pack_turned(panel + v, b + (size_t)v * step, step, width - v, depth);
            continue;
        }
        size_t left = width > v ? (size_t)(width - v) : 0;
        for (int p = 0; p < depth; p++)
            store(panel + (size_t)p * PANEL + v,
                  left ? get(b + (size_t)p * step + v, left) : splat(0));
    }
}

/* Rows of A that lie as columns, (depth, rows) of stride step, in tiles of (depth, TILE_ROWS),
 * `apart` elements from the next. The rows that the last tile lacks stay as they are. */
static inline void pack_tiles(heed_real *tiles, const heed_real *a, size_t step, int rows,
                              int depth, size_t apart) {
    int whole = rows / TILE_ROWS, rest = rows % TILE_ROWS;
    for (size_t p = 0; p < (size_t)depth; p++, a += step, tiles += TILE_ROWS) {
        heed_real *to = tiles;
        for (int i = 0; i < whole; i++, to += apart)
            memcpy(to, a + i * TILE_ROWS, TILE_ROWS * sizeof *a);
        for (int r = 0; r < rest; r++) to[r] = a[whole * TILE_ROWS + r];
    }
}

/* ---- operands that several products share ---- */

INLINE size_t whole_panels(int n) { return ((size_t)n + PANEL - 1) / PANEL * PANEL; }

/* A right operand of products, cut in panels: element (p, j) of panel c stands at
 * at[c * panel + p * step + j]. */
typedef struct {
    const heed_real *at;
    size_t step, panel;
    int width;
} heed__operand;

/* Rows x (n, width) of stride ld as a right operand: as they lie when whole vectors may be read,
 * else packed into room. */
static inline heed__operand operand(heed_real *room, const heed_real *x, size_t ld, int n,
                                    int width) {
    if (width % VL == 0) return (heed__operand){x, ld, PANEL, width};
    for (int j = 0; j < width; j += PANEL)
        pack_panel(room + (size_t)j * (size_t)n, x + j, ld, false,
                   width - j < PANEL ? width - j : PANEL, n);
    return (heed__operand){room, PANEL, (size_t)n * PANEL, width};
}

/* c (rows, x.width) = or += A (rows, depth) x, A element (i, p) at a[i * a_row + p * a_step]. */
static inline void times(const heed_real *a, size_t a_row, size_t a_step, int rows, int depth,
                         const heed__operand *x, heed_real *c, size_t ldc, bool add) {
    for (int j = 0; j < x->width; j += PANEL) {
        int left = x->width - j;
        heed__tile t = {.a = a,
                        .a_row = a_row,
                        .a_step = a_step,
                        .b = x->at + (size_t)(j / PANEL) * x->panel,
                        .b_step = x->step,
                        .c = c + j,
                        .ldc = ldc,
                        .width = left < PANEL ? left : PANEL,
                        .depth = depth,
                        .add = add};
        tile_run(&t, rows);
    }
}

#endif
