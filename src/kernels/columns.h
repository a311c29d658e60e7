/* columns.h -- sums over the columns of a matrix in a fixed order: rows are divided into at most
 * COLUMN_BLOCKS blocks, each with a partial sum, and columns into strips. */
#ifndef HEED_COLUMNS_H
#define HEED_COLUMNS_H

#include "isa.h"

#define COLUMN_BLOCKS 32
#define COLUMN_STRIP  512

typedef struct {
    size_t rows, stride; /* stride: elements between rows */
    int width;
    const heed_real *x, *gy, *mean, *rstd; /* inputs of the terms */
    heed_real *out[2];                     /* the sums are added to these; either may be NULL */
    /* set by column_sums */
    size_t block_rows;
    int strip, strip_width;
    heed_real *partial; /* (blocks, 2, COLUMN_STRIP) */
} heed__columns;

/* The two terms of row r in columns [c, c + VL), of which left exist. */
typedef void heed__term(const heed__columns *j, size_t r, int c, size_t left, vec term[2]);

INLINE void column_block(const heed__columns *j, size_t block, heed__term *term) {
    size_t first = block * j->block_rows, last = first + j->block_rows;
    heed_real *out = j->partial + block * 2 * COLUMN_STRIP;
    if (last > j->rows) last = j->rows;
    for (int c = 0; c < j->strip_width; c += VL) {
        vec sum[2] = {{0}}, add[2];
        for (size_t r = first; r < last; r++) {
            term(j, r, j->strip + c, (size_t)(j->strip_width - c), add);
            sum[0] += add[0];
            sum[1] += add[1];
        }
        store(out + c, sum[0]);
        store(out + COLUMN_STRIP + c, sum[1]);
    }
}

/* Defines the heed__part of a term. */
#define HEED__COLUMN_PART(name, term)                                                              \
    static void name(const void *job, size_t from, size_t to, int thread) {                        \
        (void)thread;                                                                              \
        for (size_t b = from; b < to; b++) column_block(job, b, term);                             \
    }

/* The number of blocks of rows, and the rows of a block. */
static inline size_t column_blocks(size_t rows, size_t *block_rows) {
    size_t each = (rows + COLUMN_BLOCKS - 1) / COLUMN_BLOCKS;
    *block_rows = each < 32 ? 32 : each;
    return (rows + *block_rows - 1) / *block_rows;
}

/* Sums in double: the numbers of a vector of doubles. */
#ifdef HEED_F64
#define HALF VL
#else
#define HALF (VL / 2)
#endif
typedef heed_real hvec __attribute__((vector_size(HALF * sizeof(heed_real))));
INLINE dvec load_doubles(const heed_real *p) {
    hvec h;
    memcpy(&h, p, sizeof h);
    return __builtin_convertvector(h, dvec);
}

/* out[c] += the sum over the blocks of sum[b][c], blocks being `step` elements apart. */
static inline void add_blocks(heed_real *out, const heed_real *sum, size_t step, size_t blocks,
                              int width) {
    for (int c = 0; out && c < width; c += HALF) {
        dvec all = {0};
        for (size_t b = 0; b < blocks; b++) all += load_doubles(sum + b * step + (size_t)c);
        hvec add = __builtin_convertvector(all, hvec);
        for (int i = 0; i < HALF && c + i < width; i++) out[c + i] += add[i];
    }
}

/* out[i][c] += sum over rows of term i. */
static inline void column_sums(const heed_kernels *k, heed__columns *j, heed__part *part) {
    heed_real partial[COLUMN_BLOCKS * 2 * COLUMN_STRIP];
    j->partial = partial;
    size_t blocks = column_blocks(j->rows, &j->block_rows);
    for (j->strip = 0; j->strip < j->width; j->strip += COLUMN_STRIP) {
        int left = j->width - j->strip;
        j->strip_width = left < COLUMN_STRIP ? left : COLUMN_STRIP;
        heed__share(k, blocks, 4.0 * (double)j->rows * j->strip_width, part, j);
        for (int i = 0; i < 2; i++)
            add_blocks(j->out[i] ? j->out[i] + j->strip : NULL, partial + i * COLUMN_STRIP,
                       2 * COLUMN_STRIP, blocks, j->strip_width);
    }
}

#endif
