/* tile.c -- the inner loop of all products, and the packing of its operands. */
#include "gemm_tile.h"

/* Stores the registers to c, row by row; a partial last vector goes through memory. */
INLINE void tile_store(const heed__tile *t, heed_real *c, vec sum[TILE_ROWS][TILE_VECS],
                       const int rows, const int vecs) {
    heed_real rest[TILE_ROWS * PANEL];
    bool full = t->width == vecs * VL;
    heed_real *to = full ? c : rest;
    size_t ld = full ? t->ldc : PANEL;
    if (full && t->add) {
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int v = 0; v < vecs; v++) sum[i][v] =
                load(c + (size_t)i * ld + v * VL) + sum[i][v];
        }
    }
    if (full && t->bias) {
        UNROLL for (int v = 0; v < vecs; v++) {
            vec bias = load(t->bias + v * VL);
            UNROLL for (int i = 0; i < rows; i++) sum[i][v] += bias;
        }
    }
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int v = 0; v < vecs; v++) store(to + (size_t)i * ld + v * VL, sum[i][v]);
    }
    if (full) return;
    for (int i = 0; i < rows; i++, c += t->ldc)
        for (int j = 0; j < t->width; j += VL) {
            size_t left = (size_t)(t->width - j);
            vec x = load(rest + i * PANEL + j);
            if (t->add) x = get(c + j, left) + x;
            if (t->bias) x += get(t->bias + j, left);
            put(c + j, x, left);
        }
}

INLINE void request(heed__soon *s) {
    for (int n = s->rows > 0 ? s->each : 0; n > 0; n--) {
        __builtin_prefetch(s->at + s->line, 0, 2);
        s->line += LINE;
        if (s->line < s->width) continue;
        s->line = 0;
        s->at += s->step;
        if (--s->rows == 0) return;
    }
}

/* Computes the tile that starts at `row`; `end` is the end of all rows. */
INLINE void tile_rows(const heed__tile *t, int row, const int rows, int end, const int vecs,
                      const size_t a_row, const size_t a_step) {
    vec sum[TILE_ROWS][TILE_VECS];
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int v = 0; v < vecs; v++) sum[i][v] = splat(0);
    }
    size_t a_tile = t->a_tile ? t->a_tile : TILE_ROWS * a_row, b_step = t->b_step;
    const heed_real *next = row + rows < end ? t->c + (size_t)(row + rows) * t->ldc : t->c + PANEL;
    const heed_real *a = t->a + (size_t)(row / TILE_ROWS) * a_tile, *b = t->b;
    a += (size_t)(row % TILE_ROWS) * a_row;
    for (int left = t->depth; left > 0; left -= SOON_TERMS) {
        if (HEED__SET && rows == TILE_ROWS && t->soon) request(t->soon), request(t->soon + 1);
        for (int j = 0; j < vecs * VL; j += LINE) __builtin_prefetch(next + j, 1);
        next += t->ldc;
        for (int p = left < SOON_TERMS ? left : SOON_TERMS; p > 0; p--) {
            vec line[TILE_VECS];
            UNROLL for (int v = 0; v < vecs; v++) line[v] = load(b + v * VL);
            UNROLL for (int i = 0; i < rows; i++) {
                vec x = splat(a[(size_t)i * a_row]);
                UNROLL for (int v = 0; v < vecs; v++) sum[i][v] += x * line[v];
            }
            a += a_step;
            b += b_step;
        }
    }
    tile_store(t, t->c + (size_t)row * t->ldc, sum, rows, vecs);
}
INLINE void tile_all_rows(const heed__tile *t, int rows, const int vecs, const size_t a_row,
                          const size_t a_step) {
    int row = 0;
    for (; rows - row >= TILE_ROWS; row += TILE_ROWS)
        tile_rows(t, row, TILE_ROWS, rows, vecs, a_row, a_step);
    for (; rows - row >= 2; row += 2) tile_rows(t, row, 2, rows, vecs, a_row, a_step);
    if (row < rows) tile_rows(t, row, 1, rows, vecs, a_row, a_step);
}
#define TILE_OF(name, vecs, a_row, a_step)                                                         \
    static __attribute__((noinline)) void name(const heed__tile *t, int rows) {                    \
        tile_all_rows(t, rows, vecs, a_row, a_step);                                               \
    }
/* Variants for A stored by rows or by columns, and for a full panel of B or its first vector. They
 * are not inlined: the loop over the depth needs all registers. */
TILE_OF(tile_wide, 2, t->a_row, 1)
TILE_OF(tile_wide_turned, 2, 1, t->a_step)
TILE_OF(tile_slim, 1, t->a_row, 1)
TILE_OF(tile_slim_turned, 1, 1, t->a_step)
#undef TILE_OF

void K(tile_run)(const heed__tile *t, int rows) {
    bool turned = t->a_step != 1;
    if (t->width > VL)
        (turned ? tile_wide_turned : tile_wide)(t, rows);
    else
        (turned ? tile_slim_turned : tile_slim)(t, rows);
}

/* Packs VL columns of a panel from rows of x, with zeros beyond width. */
static void pack_turned(heed_real *panel, const heed_real *x, size_t step, int width, int depth) {
    for (int p = 0; p < depth; p += VL, panel += (size_t)VL * PANEL) {
        vec r[VL];
        heed_real rest[VL * VL];
        bool full = width >= VL && depth - p >= VL;
        if (!full)
            for (int j = 0; j < VL; j++)
                store(rest + j * VL,
                      j < width ? get(x + (size_t)j * step + p, (size_t)(depth - p)) : splat(0));
        const heed_real *from = full ? x + p : rest;
        size_t apart = full ? step : VL;
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

void K(pack_panel)(heed_real *panel, const heed_real *b, size_t step, bool turned, int width,
                   int depth) {
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

/* Rows of an operand that packing requests before it copies them. */
#define AHEAD 8

void K(pack_panels)(heed_real *panels, size_t apart, const heed_real *b, size_t step, int count,
                    int depth) {
    for (int p = 0; p < depth; p++, b += step, panels += PANEL) {
        const heed_real *next = b + (p + AHEAD < depth ? AHEAD * step : 0);
        for (int j = 0; j < count; j++) {
            heed_real *to = panels + (size_t)j * apart;
            for (int v = 0; v < PANEL; v += LINE) __builtin_prefetch(next + j * PANEL + v);
            UNROLL for (int v = 0; v < PANEL; v += VL) store(to + v, load(b + j * PANEL + v));
        }
    }
}

void K(pack_tiles)(heed_real *tiles, const heed_real *a, size_t step, int rows, int depth,
                   size_t apart) {
    int full = rows / TILE_ROWS, rest = rows % TILE_ROWS;
    for (int p = 0; p < depth; p++, a += step, tiles += TILE_ROWS) {
        heed_real *to = tiles;
        for (int i = 0; i < full; i++, to += apart)
            memcpy(to, a + i * TILE_ROWS, TILE_ROWS * sizeof *a);
        for (int r = 0; r < rest; r++) to[r] = a[full * TILE_ROWS + r];
    }
}
