/* gemm_tile.h -- the tile of products: a part of C held in registers during the loop over the
 * depth. See tile.c. */
#ifndef HEED_GEMM_TILE_H
#define HEED_GEMM_TILE_H

#include "isa.h"

/* The rows of a tile and the vectors in one of its rows, limited by the number of registers: 32 for
 * AVX-512 and NEON, else 16. */
#if HEED__SET == 2 || HEED__SET == 3
#define TILE_ROWS 8
#elif HEED__SET == 1
#define TILE_ROWS 6
#else
#define TILE_ROWS 4
#endif
#define TILE_VECS 2
/* Two panels at a time are multiplied with fewer rows, where that many registers hold more columns:
 * A is read half as often. 0: never. */
#define PAIR_ROWS (HEED__SET == 2 ? 6 : 0)
/* Rows of an extra tile for the last rows: of 64 rows, tiles of 6 leave 4, and two tiles of 2 rows
 * take twice the time of one of 4. 0: none. */
#define REST_ROWS (HEED__SET == 1 ? 4 : 0)
#define PANEL     (TILE_VECS * VL)                /* columns of a tile */
#define LINE      ((int)(64 / sizeof(heed_real))) /* elements of a cache line */

/* Rows of elements that are needed soon. Tiles request a few of their cache lines every SOON_TERMS
 * terms, so that they arrive while other elements are multiplied. AVX2's tile has few
 * multiplications a term, and loses 3 % of its speed if it is interrupted twice as often. */
#define SOON_TERMS (HEED__SET == 1 ? 32 : 16)
typedef struct {
    const heed_real *at; /* the current row */
    size_t step;
    int rows, width, line; /* rows left; elements of a row; the first of the next line */
    int each;              /* lines requested at a time */
} heed__soon;

/* c (rows, width) = or += A (rows, depth) B (depth, width) + bias, width at most PANEL; or 2 PANEL,
 * if PAIR_ROWS, A is not transposed and nothing is copied. */
typedef struct {
    const heed_real *a; /* element (i, p) at a[i * a_row + p * a_step]; one of the steps is 1 */
    size_t a_row, a_step, a_tile; /* a_tile: distance between tiles of rows; 0: TILE_ROWS * a_row */
    const heed_real *b;           /* row p at b + p * b_step; full vectors are read */
    size_t b_step, b_apart;       /* b_apart: to the second panel */
    /* Unless NULL, these receive what is read of a transposed A and of B of at least TILE_ROWS rows
     * and of PANEL columns: tiles (depth, TILE_ROWS) at a distance of `apart`, and (depth, PANEL),
     * which all tiles but the first read instead of b. */
    heed_real *a_copy, *b_copy;
    size_t apart;
    heed_real *c;
    size_t ldc;
    const heed_real *bias; /* (width), added last to every row; or NULL */
    int width, depth;
    bool add;
    heed__soon *soon; /* two of them, or NULL */
} heed__tile;

/* Multiplies any number of rows with one panel. */
void K(tile_run)(const heed__tile *t, int rows);
/* A panel of B: (depth, PANEL), zeros beyond width. B element (p, j) is b[p * step + j], or
 * b[j * step + p] if transposed. */
void K(pack_panel)(heed_real *panel, const heed_real *b, size_t step, bool turned, int width,
                   int depth);

/* ---- what the products of all precisions share ---- */

/* A rectangle of product number `batch`. */
typedef struct {
    size_t batch;
    int row, rows, col, cols;
} heed__gemm_part;

INLINE int at_most(int a, int b) { return a < b ? a : b; }

INLINE bool gemm_finishes(const heed_gemm *g) {
    return g->bias || g->pre || g->act != HEED_IDENTITY;
}
/* Applies bias and activation to a block of C at element `at`, whose complete sums are in rows of
 * stride ldf at `from`, C itself or memory of the caller. */
void K(gemm_finish)(const heed_gemm *g, const heed_real *from, size_t ldf, size_t at, int col,
                    int rows, int width);

/* vec.c: y = f(x), in rows of strides ldy and ldx; y may be x. */
void K(activate_block)(heed_act f, heed_real *y, size_t ldy, const heed_real *x, size_t ldx,
                       int rows, size_t width);

/* The columns of one group of at most `most`: whole panels, divided evenly. */
INLINE int gemm_group(int cols, int most) {
    int groups = (cols + most - 1) / most, panels = (cols + PANEL - 1) / PANEL;
    return groups > 0 ? (panels + groups - 1) / groups * PANEL : PANEL;
}

/* gemm_bf16.c: the part of a product whose operands are rounded to bf16. */
void K(gemm_bf16)(const heed_gemm *g, const heed__gemm_part *part);

/* ---- products of few rows ---- */

#define GEMM_DEPTH 192 /* terms summed in registers, in all products */
#define THIN_ROWS  8   /* the most rows with which a matrix is not packed */

/* Computes the product if it has few rows; else returns false. */
bool K(gemm_thin)(const heed_kernels *k, const heed_gemm *g);

/* ---- operands that several products share ---- */

INLINE size_t whole_vectors(int n) { return ((size_t)n + VL - 1) / VL * VL; }
INLINE size_t whole_panels(int n) { return ((size_t)n + PANEL - 1) / PANEL * PANEL; }

/* A right operand of products, divided into panels: element (p, j) of panel c is
 * at[c * panel + p * step + j]. */
typedef struct {
    const heed_real *at;
    size_t step, panel;
    int width;
} heed__operand;

/* Rows x (n, width) of stride ld as a right operand: in place if full vectors can be read, else
 * packed into `capacity`. */
static inline heed__operand operand(heed_real *capacity, const heed_real *x, size_t ld, int n,
                                    int width) {
    if (width % VL == 0) return (heed__operand){x, ld, PANEL, width};
    for (int j = 0; j < width; j += PANEL) K(pack_panel)
    (capacity + (size_t)j * (size_t)n, x + j, ld, false, width - j < PANEL ? width - j : PANEL, n);
    return (heed__operand){capacity, PANEL, (size_t)n * PANEL, width};
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
        K(tile_run)(&t, rows);
    }
}

#endif
