/* gemm_bf16.c -- products whose operands are rounded to bf16 and whose sums are floats, with
 * AVX512-BF16. One instruction adds two terms to each of 16 sums: so a pair of bf16 numbers, terms
 * 2p and 2p + 1, takes the place that one float has in the other products. Both operands are
 * packed, which is when they are rounded. Every element of C is the sum, in order, of sums over
 * 2 PAIRS terms. */
#include "gemm_tile.h"
#include "set.h"

#if !HEED__AVX512

void K(gemm_bf16)(const heed_gemm *g, const heed__gemm_part *part) { (void)g, (void)part; }

#else

#define BF16 __attribute__((target("avx512bf16")))

#define PAIRS       192 /* pairs of terms summed in registers */
#define DEPTH       (2 * PAIRS)
#define GROUP       384              /* most columns packed at a time: 288 KiB */
#define BLOCK       (16 * TILE_ROWS) /* rows of A multiplied with a panel at a time */
#define STAY        (8 * BLOCK)      /* rows of C that are completed together */
/* Distances of packed panels, rows and tiles: no whole pages, as in gemm.c. */
#define PANEL_APART (PAIRS * PANEL + PANEL)
#define ROW_APART   (PAIRS + VL)
#define TILE_APART  (TILE_ROWS * ROW_APART)

/* Pairs of the same lanes of two vectors. */
INLINE BF16 vec pairs_of(vec even, vec odd) {
    static const uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                       21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                       11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    __m512i both = (__m512i)_mm512_cvtne2ps_pbh((__m512)odd, (__m512)even);
    return (vec)_mm512_permutexvar_epi16(_mm512_loadu_si512(order), both);
}

/* Pairs of neighbours: x[0] x[1], x[2] x[3], ... */
INLINE BF16 vec pairs_along(const heed_real *x) {
    return (vec)_mm512_cvtne2ps_pbh((__m512)load(x + VL), (__m512)load(x));
}

/* The same with zeros from x[left] on. */
static BF16 __attribute__((noinline)) vec some_pairs_along(const heed_real *x, int left) {
    heed_real all[2 * VL] = {0};
    memcpy(all, x, (size_t)at_most(left, 2 * VL) * sizeof *x);
    return pairs_along(all);
}

/* Pairs of elements of a row, zeros up to a whole vector. */
INLINE BF16 void pack_row(heed_real *to, const heed_real *x, int depth) {
    for (; depth >= 2 * VL; depth -= 2 * VL, x += 2 * VL, to += VL) store(to, pairs_along(x));
    if (depth > 0) store(to, some_pairs_along(x, depth));
}

/* VL columns of a panel from rows of x, zeros from column `width` on. */
static BF16 void pack_turned(heed_real *panel, const heed_real *x, size_t step, int width,
                             int depth) {
    heed_real edge[VL * VL] = {0};
    for (; depth > 0; depth -= 2 * VL, x += 2 * VL, panel += (size_t)VL * PANEL) {
        vec r[VL];
        if (width >= VL && depth >= 2 * VL) {
            UNROLL for (int j = 0; j < VL; j++) r[j] = pairs_along(x + (size_t)j * step);
        } else {
            for (int j = 0; j < at_most(width, VL); j++)
                store(edge + j * VL, some_pairs_along(x + (size_t)j * step, depth));
            UNROLL for (int j = 0; j < VL; j++) r[j] = load(edge + j * VL);
        }
        transpose(r);
        UNROLL for (int i = 0; i < VL; i++) {
            if (2 * i < depth) store(panel + i * PANEL, r[i]);
        }
    }
}

/* B (depth, cols) in panels of (pairs, PANEL), with zeros beyond its edges. */
static BF16 void pack_b(const heed_gemm *g, heed_real *packed, const heed__gemm_part *part, int p,
                        int depth) {
    size_t step = (size_t)g->ldb, row = (size_t)p, col = (size_t)part->col;
    const heed_real *b = g->b + part->batch * g->stride_b;
    int cols = (part->cols + PANEL - 1) / PANEL * PANEL;
    if (g->tb) {
        for (int j = 0; j < cols; j += VL)
            pack_turned(packed + (size_t)(j / PANEL) * PANEL_APART + j % PANEL,
                        b + (col + (size_t)j) * step + row, step, part->cols - j, depth);
        return;
    }
    for (int q = 0; 2 * q < depth; q++) {
        const heed_real *even = b + (row + 2 * (size_t)q) * step + col, *odd = even + step;
        for (int j = 0; j < cols; j += VL) {
            size_t left = j < part->cols ? (size_t)(part->cols - j) : 0;
            vec first = get(even + j, left);
            vec second = 2 * q + 1 < depth ? get(odd + j, left) : splat(0);
            store(packed + (size_t)(j / PANEL) * PANEL_APART + q * PANEL + j % PANEL,
                  pairs_of(first, second));
        }
    }
}

/* Tiles of A (rows, depth): TILE_ROWS rows of pairs, or (pairs, TILE_ROWS) if A is transposed;
 * zeros beyond its depth. The values of missing rows do not matter. */
static BF16 heed__tile pack_a(const heed_gemm *g, heed_real *packed, size_t batch, int row,
                              int rows, int p, int depth) {
    size_t step = (size_t)g->lda;
    const heed_real *a = g->a + batch * g->stride_a;
    if (!g->ta) {
        a += (size_t)row * step + (size_t)p;
        for (int i = 0; i < rows; i++, a += step) pack_row(packed + i * ROW_APART, a, depth);
        return (heed__tile){.a = packed, .a_row = ROW_APART, .a_step = 1, .a_tile = TILE_APART};
    }
    for (int q = 0; 2 * q < depth; q++) {
        const heed_real *even = a + (size_t)(p + 2 * q) * step + row, *odd = even + step;
        for (int i = 0; i < rows; i += VL) {
            heed_real *to = packed + (size_t)(i / TILE_ROWS) * TILE_APART + q * TILE_ROWS;
            size_t left = (size_t)(rows - i);
            vec second = 2 * q + 1 < depth ? get(odd + i, left) : splat(0);
            __m512 v = (__m512)pairs_of(get(even + i, left), second);
            _mm256_storeu_ps(to, _mm512_castps512_ps256(v));
            _mm256_storeu_ps(to + TILE_APART, _mm512_extractf32x8_ps(v, 1));
        }
    }
    return (heed__tile){.a = packed, .a_row = 1, .a_step = TILE_ROWS, .a_tile = TILE_APART};
}

/* ---- elements that are requested from memory while others are multiplied ---- */

/* A part of an operand: lines of `width` elements at a distance of ld. */
typedef struct {
    const heed_real *at;
    size_t ld;
    int lines, width;
} region;

static region region_of_a(const heed_gemm *g, size_t batch, int row, int rows, int p, int depth) {
    const heed_real *a = g->a + batch * g->stride_a;
    size_t ld = (size_t)g->lda;
    if (g->ta) return (region){a + (size_t)p * ld + (size_t)row, ld, depth, rows};
    return (region){a + (size_t)row * ld + (size_t)p, ld, rows, depth};
}
static region region_of_b(const heed_gemm *g, size_t batch, int col, int cols, int p, int depth) {
    const heed_real *b = g->b + batch * g->stride_b;
    size_t ld = (size_t)g->ldb;
    if (g->tb) return (region){b + (size_t)col * ld + (size_t)p, ld, cols, depth};
    return (region){b + (size_t)p * ld + (size_t)col, ld, depth, cols};
}
static int cache_lines(const region *r) { return r->lines * ((r->width + LINE - 1) / LINE); }

/* What remains to be requested: `each` cache lines for EVERY pairs of a tile. */
#define EVERY       8
typedef struct {
    region now, then;
    int col, each;
} ahead;

INLINE void request(ahead *w) {
    for (int i = w->each; i > 0 && w->now.lines > 0; i--) {
        __builtin_prefetch(w->now.at + w->col, 0, 2);
        w->col += LINE;
        if (w->col < w->now.width) continue;
        w->col = 0;
        w->now.at += w->now.ld;
        if (--w->now.lines > 0) continue;
        w->now = w->then;
        w->then.lines = 0;
    }
}

static void request_rows(const heed_real *x, size_t ld, int rows, int width) {
    for (; rows > 0; rows--, x += ld)
        for (int j = 0; j < width; j += LINE) __builtin_prefetch(x + j, 1);
}

/* c (TILE_ROWS, PANEL) = or += a tile of A times a panel. */
INLINE BF16 void tile_of(const heed__tile *t, const heed_real *a, heed_real *c, size_t ldc,
                         bool add, ahead *w, const size_t a_row, const size_t a_step) {
    vec sum[TILE_ROWS][TILE_VECS];
    const heed_real *b = t->b;
    UNROLL for (int i = 0; i < TILE_ROWS; i++) {
        UNROLL for (int v = 0; v < TILE_VECS; v++) sum[i][v] = splat(0);
    }
    for (int left = t->depth; left > 0; left -= EVERY) {
        request(w);
        for (int p = at_most(left, EVERY); p > 0; p--, a += a_step, b += PANEL) {
            vec line[TILE_VECS];
            UNROLL for (int v = 0; v < TILE_VECS; v++) line[v] = load(b + v * VL);
            UNROLL for (int i = 0; i < TILE_ROWS; i++) {
                vec x = splat(a[(size_t)i * a_row]);
                UNROLL for (int v = 0; v < TILE_VECS; v++) sum[i][v] =
                    (vec)_mm512_dpbf16_ps((__m512)sum[i][v], (__m512bh)x, (__m512bh)line[v]);
            }
        }
    }
    UNROLL for (int i = 0; i < TILE_ROWS; i++) {
        UNROLL for (int v = 0; v < TILE_VECS; v++) {
            heed_real *to = c + (size_t)i * ldc + v * VL;
            store(to, add ? load(to) + sum[i][v] : sum[i][v]);
        }
    }
}

static BF16 __attribute__((noinline)) void
tile_turned(const heed__tile *t, const heed_real *a, heed_real *c, size_t ldc, bool add, ahead *w) {
    tile_of(t, a, c, ldc, add, w, 1, TILE_ROWS);
}
static BF16 __attribute__((noinline)) void
tile_plain(const heed__tile *t, const heed_real *a, heed_real *c, size_t ldc, bool add, ahead *w) {
    tile_of(t, a, c, ldc, add, w, ROW_APART, 1);
}
static void tile(const heed__tile *t, const heed_real *a, heed_real *c, size_t ldc, bool add,
                 ahead *w) {
    (t->a_step == 1 ? tile_plain : tile_turned)(t, a, c, ldc, add, w);
}

/* A tile at the edge of C, of which `rows` and t->width exist. */
static void edge_tile(const heed__tile *t, const heed_real *a, heed_real *c, int rows, ahead *w) {
    _Alignas(64) heed_real whole[TILE_ROWS * PANEL];
    tile(t, a, whole, PANEL, false, w);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < t->width; j += VL) {
            size_t left = (size_t)(t->width - j);
            heed_real *to = c + (size_t)i * t->ldc + j;
            vec x = load(whole + i * PANEL + j);
            put(to, t->add ? get(to, left) + x : x, left);
        }
}

/* Multiplies rows, which begin at element `at` of C, with a panel. Bias and activation of complete
 * sums are computed before these are stored to C for the first time. */
static void panel_product(const heed_gemm *g, const heed__tile *t, size_t at, int col, int rows,
                          bool last, ahead *w) {
    _Alignas(64) heed_real sums[TILE_ROWS * PANEL];
    const heed_real *a = t->a;
    bool finishes = last && gemm_finishes(g);
    for (int i = 0; i < rows; i += TILE_ROWS, a += t->a_tile, at += TILE_ROWS * t->ldc) {
        int some = at_most(TILE_ROWS, rows - i);
        heed_real *c = g->c + at;
        if (finishes && !t->add) {
            tile(t, a, sums, PANEL, false, w);
            K(gemm_finish)(g, sums, PANEL, at, col, some, t->width);
            continue;
        }
        request_rows(c, t->ldc, some, t->width);
        if (some == TILE_ROWS && t->width == PANEL)
            tile(t, a, c, t->ldc, t->add, w);
        else
            edge_tile(t, a, c, some, w);
        if (finishes) K(gemm_finish)(g, c, t->ldc, at, col, some, t->width);
    }
}

/* The terms [p, p + depth) of a rectangle of C. */
typedef struct {
    heed__gemm_part c;
    int p, depth;
} piece;

/* What is packed after the rows before `row` of a piece. */
static ahead ahead_of(const heed_gemm *g, const piece *now, const piece *next, int row) {
    ahead w = {{0}, {0}, 0, 0};
    size_t batch = now->c.batch;
    int end = now->c.row + now->c.rows;
    if (row < end)
        w.now = region_of_a(g, batch, row, at_most(BLOCK, end - row), now->p, now->depth);
    else if (next) {
        w.now = region_of_b(g, batch, next->c.col, next->c.cols, next->p, next->depth);
        w.then =
            region_of_a(g, batch, next->c.row, at_most(BLOCK, next->c.rows), next->p, next->depth);
    }
    return w;
}

/* Multiplies the rows of a piece with its packed columns. */
static void group_product(const heed_gemm *g, const heed_real *packed, const piece *now,
                          const piece *next) {
    _Alignas(64) heed_real capacity[BLOCK / TILE_ROWS * TILE_APART];
    const heed__gemm_part *part = &now->c;
    int end = part->row + part->rows, panels = (part->cols + PANEL - 1) / PANEL;
    for (int i = part->row; i < end; i += BLOCK) {
        int rows = at_most(BLOCK, end - i);
        heed__tile t = pack_a(g, capacity, part->batch, i, rows, now->p, now->depth);
        ahead w = ahead_of(g, now, next, i + rows);
        t.ldc = (size_t)g->ldc;
        t.depth = (now->depth + 1) / 2;
        t.add = g->add || now->p > 0;
        int times = panels * ((rows + TILE_ROWS - 1) / TILE_ROWS) * ((t.depth + EVERY - 1) / EVERY);
        if (times) w.each = (cache_lines(&w.now) + cache_lines(&w.then) + times - 1) / times;
        for (int j = 0; j < panels; j++) {
            int col = part->col + j * PANEL;
            size_t at = part->batch * g->stride_c + (size_t)i * t.ldc + (size_t)col;
            t.width = at_most(PANEL, part->cols - j * PANEL);
            t.b = packed + (size_t)j * PANEL_APART;
            panel_product(g, &t, at, col, rows, now->p + now->depth >= g->k, &w);
        }
    }
}

/* Goes to the next piece of a part: its next terms, rows, columns. False: it was the last. */
static bool advance(const heed_gemm *g, const heed__gemm_part *part, piece *at) {
    int stay = g->k > DEPTH ? STAY : part->rows, group = gemm_group(part->cols, GROUP);
    at->p += at->depth;
    if (at->p >= g->k) {
        at->p = 0;
        at->c.row += at->c.rows;
    }
    if (at->c.row >= part->row + part->rows) {
        at->c.row = part->row;
        at->c.col += at->c.cols;
    }
    at->depth = at_most(DEPTH, g->k - at->p);
    at->c.rows = at_most(stay, part->row + part->rows - at->c.row);
    at->c.cols = at_most(group, part->col + part->cols - at->c.col);
    return at->c.cols > 0;
}

void K(gemm_bf16)(const heed_gemm *g, const heed__gemm_part *part) {
    _Alignas(64) heed_real packed[GROUP / PANEL * PANEL_APART];
    piece now = {{part->batch, part->row, 0, part->col, 0}, 0, 0};
    for (bool more = advance(g, part, &now); more;) {
        piece next = now;
        more = advance(g, part, &next);
        pack_b(g, packed, &now.c, now.p, now.depth);
        group_product(g, packed, &now, more ? &next : NULL);
        now = next;
    }
}

#endif
