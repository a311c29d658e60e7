/* tile.c -- the inner loop of all products, and the packing of its operands. */
#include "gemm_tile.h"

/* Stores sums of stride PANEL to c: for the tiles at the edges of a product. */
static __attribute__((noinline)) void edge_store(const heed__tile *t, heed_real *c,
                                                 const heed_real *sums, int rows) {
    for (int i = 0; i < rows; i++, c += t->ldc, sums += PANEL)
        for (int j = 0; j < t->width; j += VL) {
            size_t left = (size_t)(t->width - j);
            vec x = load(sums + j);
            if (t->add) x = get(c + j, left) + x;
            if (t->bias) x += get(t->bias + j, left);
            put(c + j, x, left);
        }
}

#define MOST_VECS (2 * TILE_VECS)

/* Stores the registers to c, row by row. */
INLINE void tile_store(const heed__tile *t, heed_real *c, vec sum[TILE_ROWS][MOST_VECS],
                       const int rows, const int vecs) {
    if (vecs <= TILE_VECS && (rows < TILE_ROWS || t->width < vecs * VL)) {
        _Alignas(64) heed_real sums[TILE_ROWS * PANEL];
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int v = 0; v < vecs; v++) store(sums + i * PANEL + v * VL, sum[i][v]);
        }
        edge_store(t, c, sums, rows);
        return;
    }
    if (t->add) {
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int v = 0; v < vecs; v++) sum[i][v] =
                load(c + (size_t)i * t->ldc + v * VL) + sum[i][v];
        }
    }
    if (t->bias) {
        UNROLL for (int v = 0; v < vecs; v++) {
            vec bias = load(t->bias + v * VL);
            UNROLL for (int i = 0; i < rows; i++) sum[i][v] += bias;
        }
    }
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int v = 0; v < vecs; v++) store(c + (size_t)i * t->ldc + v * VL, sum[i][v]);
    }
}

INLINE void request(heed__soon *s) {
    for (int n = s->rows > 0 ? s->each : 0; n > 0; n--) {
        __builtin_prefetch(s->at + s->line, 0, 2);
        s->line += LINE;
        if (s->line < s->width) continue;
        s->line = 0;
        if (--s->rows == 0) return;
        s->at += s->step;
    }
}

/* Where a tile reads and, unless NULL, where it copies what it reads. */
typedef struct {
    const heed_real *a, *b;
    heed_real *a_copy, *b_copy;
    size_t b_step;
} tile_place;

/* What is copied is read at distances that no prefetcher follows, and that share a few sets of the
 * first level of the cache: it is requested not long before. */
#define COPY_AHEAD 8

/* Adds a term to the sums, and moves to the next. */
INLINE void term(const heed__tile *t, vec sum[TILE_ROWS][MOST_VECS], const int rows, const int vecs,
                 const size_t a_row, const size_t a_step, tile_place *at) {
    vec line[MOST_VECS];
    UNROLL for (int v = 0; v < vecs; v++) line[v] =
        load(v < TILE_VECS ? at->b + v * VL : at->b + t->b_apart + (v - TILE_VECS) * VL);
    UNROLL for (int i = 0; i < rows; i++) {
        vec x = splat(at->a[(size_t)i * a_row]);
        UNROLL for (int v = 0; v < vecs; v++) sum[i][v] += x * line[v];
    }
    if (at->a_copy) {
        __builtin_prefetch(address(at->a, COPY_AHEAD * a_step));
        memcpy(at->a_copy, at->a, (size_t)rows * sizeof *at->a);
        at->a_copy += TILE_ROWS;
    }
    if (at->b_copy) {
        for (int j = 0; j < vecs * VL; j += LINE)
            __builtin_prefetch(address(at->b, COPY_AHEAD * at->b_step + (size_t)j));
        UNROLL for (int v = 0; v < vecs; v++) store(at->b_copy + v * VL, line[v]);
        at->b_copy += PANEL;
    }
    at->a += a_step;
    at->b += at->b_step;
}

/* AVX2's tile has so few multiplications a term that the other instructions limit its speed, above
 * all where two threads share a core: full tiles compute BURST terms in a loop that is
 * unrolled by 4. */
#define BURST (HEED__SET == 1 ? 8 : 0)

/* Computes the tile that starts at `row`, of rows that end at `end`. burst: 0 or BURST. a_copy and
 * b_copy: NULL, or receive what is read of a transposed A and of B. The part of C that comes next
 * is requested a row at a time: all at once, its lines would keep those of A and B waiting. */
INLINE void tile_rows(const heed__tile *t, int row, const int rows, int end, const int vecs,
                      const size_t a_row, const size_t a_step, const int burst, heed_real *a_copy,
                      heed_real *b_copy) {
    const bool in_rows = __builtin_constant_p(a_step) && a_step == 1 && rows > 2;
    vec sum[TILE_ROWS][MOST_VECS];
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int v = 0; v < vecs; v++) sum[i][v] = splat(0);
    }
    size_t a_tile = t->a_tile ? t->a_tile : TILE_ROWS * a_row;
    const void *next =
        address(t->c, row + rows < end ? (size_t)(row + rows) * t->ldc : (size_t)(vecs * VL));
    tile_place at = {t->a + (size_t)(row / TILE_ROWS) * a_tile, t->b, a_copy, b_copy, t->b_step};
    at.a += (size_t)(row % TILE_ROWS) * a_row;
    for (int left = t->depth; left > 0; left -= SOON_TERMS) {
        if (HEED__SET && rows > 2 && t->soon) request(t->soon), request(t->soon + 1);
        for (int j = 0; j < vecs * VL; j += LINE) __builtin_prefetch(address(next, (size_t)j), 1);
        next = address(next, t->ldc);
        const void *a_soon = address(at.a, 2 * SOON_TERMS);
        int p = left < SOON_TERMS ? left : SOON_TERMS;
        for (; burst && p >= burst; p -= burst) {
            if (in_rows) {
                UNROLL for (int q = 0; q < burst; q += 2) {
                    __builtin_prefetch(a_soon);
                    a_soon = address(a_soon, a_row);
                }
            }
            _Pragma("GCC unroll 4") for (int q = 0; q < burst; q++)
                term(t, sum, rows, vecs, a_row, a_step, &at);
        }
        for (; p > 0; p--) {
            if (in_rows && p % 2) {
                __builtin_prefetch(a_soon);
                a_soon = address(a_soon, a_row);
            }
            term(t, sum, rows, vecs, a_row, a_step, &at);
        }
    }
    tile_store(t, t->c + (size_t)row * t->ldc, sum, rows, vecs);
}
INLINE void tile_all_rows(const heed__tile *t, int rows, const int vecs, const size_t a_row,
                          const size_t a_step) {
    const bool in_rows = __builtin_constant_p(a_step) && a_step == 1;
    int row = 0;
    for (; rows - row >= TILE_ROWS; row += TILE_ROWS)
        tile_rows(t, row, TILE_ROWS, rows, vecs, a_row, a_step, vecs == TILE_VECS ? BURST : 0, NULL,
                  NULL);
    if (REST_ROWS && in_rows && vecs == TILE_VECS && rows - row >= REST_ROWS) {
        tile_rows(t, row, REST_ROWS, rows, vecs, a_row, a_step, 0, NULL, NULL);
        row += REST_ROWS;
    }
    for (; rows - row >= 2; row += 2)
        tile_rows(t, row, 2, rows, vecs, a_row, a_step, 0, NULL, NULL);
    if (row < rows) tile_rows(t, row, 1, rows, vecs, a_row, a_step, 0, NULL, NULL);
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

#if PAIR_ROWS
static __attribute__((noinline)) void tile_pair(const heed__tile *t, int rows) {
    for (int row = 0; row < rows; row += PAIR_ROWS)
        tile_rows(t, row, PAIR_ROWS, rows, MOST_VECS, t->a_row, 1, 0, NULL, NULL);
}

/* Two panels. One or two tiles of TILE_ROWS rows leave a multiple of PAIR_ROWS, if rows are even.
 */
static void run_pair(const heed__tile *t, int rows) {
    int rest = rows % PAIR_ROWS;
    if (rest % 2 == 0 && 4 * rest <= rows) rest *= 4;
    heed__tile half = *t;
    tile_pair(t, rows - rest);
    half.width = PANEL;
    half.a += (size_t)(rows - rest) * t->a_row;
    half.c += (size_t)(rows - rest) * t->ldc;
    for (int i = 0; i < 2 && rest > 0; i++) {
        tile_wide(&half, rest);
        half.b += t->b_apart;
        half.c += PANEL;
        if (half.bias) half.bias += PANEL;
    }
}
#endif

static __attribute__((noinline)) void tile_copying(const heed__tile *t, int row, int end,
                                                   heed_real *a_copy, heed_real *b_copy) {
    if (t->a_step == 1)
        tile_rows(t, row, TILE_ROWS, end, TILE_VECS, t->a_row, 1, 0, NULL, b_copy);
    else
        tile_rows(t, row, TILE_ROWS, end, TILE_VECS, 1, t->a_step, 0, a_copy, b_copy);
}

/* The same with copies. Copying takes no time of its own while the tile waits for multiplications.
 */
static void run_copying(const heed__tile *t, int rows) {
    heed__tile now = *t;
    int row = 0;
    now.a_copy = now.b_copy = NULL;
    for (; rows - row >= TILE_ROWS && (row == 0 || t->a_copy); row += TILE_ROWS) {
        heed_real *a_copy = t->a_copy ? t->a_copy + (size_t)(row / TILE_ROWS) * t->apart : NULL;
        tile_copying(&now, row, rows, a_copy, row == 0 ? t->b_copy : NULL);
        if (t->b_copy) now.b = t->b_copy, now.b_step = PANEL;
    }
    now.a += t->a_tile ? (size_t)(row / TILE_ROWS) * t->a_tile : (size_t)row * t->a_row;
    now.c += (size_t)row * t->ldc;
    if (t->a_copy) {
        heed_real *to = t->a_copy + (size_t)(row / TILE_ROWS) * t->apart;
        for (int p = 0; p < t->depth; p++, to += TILE_ROWS)
            for (int r = 0; r < rows - row; r++) to[r] = now.a[(size_t)p * t->a_step + (size_t)r];
    }
    if (row < rows) K(tile_run)(&now, rows - row);
}

void K(tile_run)(const heed__tile *t, int rows) {
    bool turned = t->a_step != 1;
#if PAIR_ROWS
    if (t->width > PANEL) {
        run_pair(t, rows);
        return;
    }
#endif
    if (t->a_copy || t->b_copy)
        run_copying(t, rows);
    else if (t->width > VL)
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
