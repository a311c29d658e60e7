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

#define PAIRS       192              /* pairs of terms summed in registers */
#define GROUP       384              /* most columns packed at a time: 288 KiB */
#define BLOCK       (16 * TILE_ROWS) /* rows of A multiplied with a panel at a time */
#define STAY        (8 * BLOCK)      /* rows of C that are completed together */
/* Distances of packed panels, rows and tiles: no whole pages, as in gemm.c. */
#define PANEL_APART (PAIRS * PANEL + PANEL)
#define ROW_APART   (PAIRS + VL)
#define TILE_APART  (TILE_ROWS * ROW_APART)

/* Pairs of the same lanes of two vectors. */
static inline BF16 vec pairs_of(vec even, vec odd) {
    static const uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                       21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                       11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    __m512i both = (__m512i)_mm512_cvtne2ps_pbh((__m512)odd, (__m512)even);
    return (vec)_mm512_permutexvar_epi16(_mm512_loadu_si512(order), both);
}

/* Pairs of neighbours: x[0] x[1], x[2] x[3], ...; zeros from x[left] on. */
static inline BF16 vec pairs_along(const heed_real *x, int left) {
    vec low = left > 0 ? get(x, (size_t)left) : splat(0);
    vec high = left > VL ? get(x + VL, (size_t)(left - VL)) : splat(0);
    return (vec)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
}

/* VL columns of a panel from rows of x, zeros from column `width` on. */
static BF16 void pack_turned(heed_real *panel, const heed_real *x, size_t step, int width,
                             int depth) {
    int pairs = (depth + 1) / 2;
    for (int q = 0; q < pairs; q += VL, panel += (size_t)VL * PANEL) {
        vec r[VL];
        UNROLL for (int j = 0; j < VL; j++) r[j] =
            j < width ? pairs_along(x + (size_t)j * step + 2 * q, depth - 2 * q) : splat(0);
        transpose(r);
        UNROLL for (int i = 0; i < VL; i++) {
            if (q + i < pairs) store(panel + i * PANEL, r[i]);
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
 * zeros beyond its edges. */
static BF16 heed__tile pack_a(const heed_gemm *g, heed_real *packed, size_t batch, int row,
                              int rows, int p, int depth) {
    size_t step = (size_t)g->lda;
    const heed_real *a = g->a + batch * g->stride_a;
    if (!g->ta) {
        for (int i = 0; i < (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS; i++) {
            const heed_real *x = a + (size_t)(row + i) * step + p;
            for (int q = 0; 2 * q < depth; q += VL)
                store(packed + i * ROW_APART + q,
                      i < rows ? pairs_along(x + 2 * q, depth - 2 * q) : splat(0));
        }
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

/* c (TILE_ROWS, PANEL) = or += a tile of A times a panel. */
static BF16 __attribute__((noinline)) void tile(const heed__tile *t, const heed_real *a,
                                                heed_real *c, size_t ldc, bool add) {
    vec sum[TILE_ROWS][TILE_VECS];
    const heed_real *b = t->b;
    size_t a_row = t->a_row, a_step = t->a_step;
    UNROLL for (int i = 0; i < TILE_ROWS; i++) {
        UNROLL for (int v = 0; v < TILE_VECS; v++) {
            sum[i][v] = splat(0);
            __builtin_prefetch(c + (size_t)i * ldc + v * VL, 1);
        }
    }
    for (int p = t->depth; p > 0; p--, a += a_step, b += PANEL) {
        vec line[TILE_VECS];
        UNROLL for (int v = 0; v < TILE_VECS; v++) line[v] = load(b + v * VL);
        UNROLL for (int i = 0; i < TILE_ROWS; i++) {
            vec x = splat(a[(size_t)i * a_row]);
            UNROLL for (int v = 0; v < TILE_VECS; v++) sum[i][v] =
                (vec)_mm512_dpbf16_ps((__m512)sum[i][v], (__m512bh)x, (__m512bh)line[v]);
        }
    }
    if (add) {
        UNROLL for (int i = 0; i < TILE_ROWS; i++) {
            UNROLL for (int v = 0; v < TILE_VECS; v++) sum[i][v] +=
                load(c + (size_t)i * ldc + v * VL);
        }
    }
    UNROLL for (int i = 0; i < TILE_ROWS; i++) {
        UNROLL for (int v = 0; v < TILE_VECS; v++) store(c + (size_t)i * ldc + v * VL, sum[i][v]);
    }
}

/* A tile at the edge of C, of which `rows` and t->width exist. */
static void edge_tile(const heed__tile *t, const heed_real *a, heed_real *c, int rows) {
    _Alignas(64) heed_real whole[TILE_ROWS * PANEL];
    tile(t, a, whole, PANEL, false);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < t->width; j += VL) {
            size_t left = (size_t)(t->width - j);
            heed_real *to = c + (size_t)i * t->ldc + j;
            vec x = load(whole + i * PANEL + j);
            put(to, t->add ? get(to, left) + x : x, left);
        }
}

/* Multiplies rows, which begin at element `at` of C, with a panel. */
static void panel_product(const heed_gemm *g, const heed__tile *t, size_t at, int col, int rows,
                          bool last) {
    const heed_real *a = t->a;
    for (int i = 0; i < rows; i += TILE_ROWS, a += t->a_tile, at += TILE_ROWS * t->ldc) {
        int some = at_most(TILE_ROWS, rows - i);
        if (some == TILE_ROWS && t->width == PANEL)
            tile(t, a, g->c + at, t->ldc, t->add);
        else
            edge_tile(t, a, g->c + at, some);
        if (last && gemm_finishes(g)) K(gemm_finish)(g, g->c + at, t->ldc, at, col, some, t->width);
    }
}

/* Multiplies rows with a group of packed columns. */
static void group_product(const heed_gemm *g, const heed_real *packed, const heed__gemm_part *part,
                          int p, int depth) {
    _Alignas(64) heed_real capacity[BLOCK / TILE_ROWS * TILE_APART];
    int end = part->row + part->rows, panels = (part->cols + PANEL - 1) / PANEL;
    for (int i = part->row; i < end; i += BLOCK) {
        int rows = at_most(BLOCK, end - i), next = at_most(BLOCK, end - i - rows);
        heed__tile t = pack_a(g, capacity, part->batch, i, rows, p, depth);
        t.ldc = (size_t)g->ldc;
        t.depth = (depth + 1) / 2;
        t.add = g->add || p > 0;
        for (int j = 0; j < panels; j++) {
            int col = part->col + j * PANEL;
            size_t at = part->batch * g->stride_c + (size_t)i * t.ldc + (size_t)col;
            t.width = at_most(PANEL, part->cols - j * PANEL);
            t.b = packed + (size_t)j * PANEL_APART;
            gemm_request(g, part->batch, i + rows, next, p, depth, j, panels);
            panel_product(g, &t, at, col, rows, p + depth >= g->k);
        }
    }
}

void K(gemm_bf16)(const heed_gemm *g, const heed__gemm_part *part) {
    _Alignas(64) heed_real packed[GROUP / PANEL * PANEL_APART];
    int stay = g->k > 2 * PAIRS ? STAY : part->rows, group = gemm_group(part->cols, GROUP);
    for (int j = 0; j < part->cols; j += group) {
        for (int i = 0; i < part->rows; i += stay) {
            heed__gemm_part piece = {part->batch, part->row + i, at_most(stay, part->rows - i),
                                     part->col + j, at_most(group, part->cols - j)};
            for (int p = 0; p < g->k; p += 2 * PAIRS) {
                int depth = at_most(2 * PAIRS, g->k - p);
                pack_b(g, packed, &piece, p, depth);
                group_product(g, packed, &piece, p, depth);
            }
        }
    }
}

#endif
