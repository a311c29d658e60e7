/* thin.c -- products of few rows with a transposed matrix, as in a step that makes one token. B is
 * read once and transposed in registers; packing it would cost more than the product. The sums have
 * the order of gemm.c, so that a row has the same bits in a product of any number of rows. */
#include "gemm_tile.h"

/* Adds `depth` terms of a panel's columns to the sums of some rows, in order. */
INLINE void add_terms(const heed__thin *t, const heed_real *a, const heed_real *b, int depth,
                      vec sum[THIN_ROWS][TILE_VECS], const int rows, const int vecs) {
    for (int p = 0; p < depth; p += VL) {
        size_t left = (size_t)(depth - p);
        UNROLL for (int v = 0; v < vecs; v++) {
            vec r[VL];
            const heed_real *from = b + (size_t)(v * VL) * t->ldb + p;
            bool full = left >= VL && t->width >= (v + 1) * VL;
            UNROLL for (int j = 0; j < VL; j++, from += t->ldb) {
                bool inside = v * VL + j < t->width;
                r[j] = full ? load(from) : inside ? get(from, left) : splat(0);
                __builtin_prefetch(from + t->ahead, 0, 2);
            }
            transpose(r);
            UNROLL for (int q = 0; q < VL; q++) {
                if ((size_t)q >= left) break;
                UNROLL for (int i = 0; i < rows; i++) sum[i][v] +=
                    splat(a[(size_t)i * t->lda + (size_t)(p + q)]) * r[q];
            }
        }
    }
}

/* c (rows, width) = or += A B' for one panel: sums over at most t->depth terms are added to c. */
INLINE void thin_rows(const heed__thin *t, int row, const int rows, const int vecs) {
    const heed_real *a = t->a + (size_t)row * t->lda;
    heed_real *c = t->c + (size_t)row * t->ldc;
    bool add = t->add;
    for (int p = 0; p < t->terms; p += t->depth, add = true) {
        vec sum[THIN_ROWS][TILE_VECS];
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int v = 0; v < vecs; v++) sum[i][v] = splat(0);
        }
        int depth = t->terms - p < t->depth ? t->terms - p : t->depth;
        add_terms(t, a + p, t->b + p, depth, sum, rows, vecs);
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int v = 0; v < vecs; v++) {
                heed_real *to = c + (size_t)i * t->ldc + v * VL;
                size_t left = (size_t)(t->width - v * VL);
                put(to, add ? get(to, left) + sum[i][v] : sum[i][v], left);
            }
        }
    }
}

void K(thin_run)(const heed__thin *t, int rows) {
    bool wide = t->width > VL;
    int row = 0;
    for (; rows - row >= THIN_ROWS; row += THIN_ROWS)
        wide ? thin_rows(t, row, THIN_ROWS, 2) : thin_rows(t, row, THIN_ROWS, 1);
    for (; rows - row >= 1; row++) wide ? thin_rows(t, row, 1, 2) : thin_rows(t, row, 1, 1);
}
