/* sum_rows.c -- column sums of a matrix, in the order of columns.h, alone or in one pass with the
 * backward of an activation. */
#include "columns.h"
#include "set.h"
#include "vmath.h"

#define STRIP (2 * COLUMN_STRIP)

typedef struct {
    heed_act f;
    heed_real *gy;      /* multiplied by f' and summed; NULL: x is summed */
    const heed_real *x; /* what f' is a function of */
    size_t rows, block_rows;
    int stride, strip, width; /* columns [strip, strip + width) */
    heed_real *sum;           /* (blocks, STRIP) */
} sums;

INLINE void sum_block(const sums *j, heed_act f, size_t block, bool grad) {
    heed_real *sum = j->sum + block * STRIP;
    size_t first = block * j->block_rows, last = first + j->block_rows;
    if (last > j->rows) last = j->rows;
    for (int c = 0; c < j->width; c += VL) store(sum + c, splat(0));
    for (size_t r = first; r < last; r++) {
        size_t at = r * (size_t)j->stride + (size_t)j->strip;
        for (int c = 0; c < j->width; c += VL) {
            size_t i = at + (size_t)c, left = (size_t)(j->width - c);
            vec v = get(j->x + i, left);
            if (grad) put(j->gy + i, v = act_slope(f, v, v) * get(j->gy + i, left), left);
            store(sum + c, load(sum + c) + v);
        }
    }
}

static void sum_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t b = from; b < to; b++) sum_block(job, HEED_IDENTITY, b, false);
}
static void grad_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t b = from; b < to; b++) {
#define ACT_BODY(f) sum_block(job, f, b, true)
        HEED__EACH_ACT(((const sums *)job)->f)
#undef ACT_BODY
    }
}

static void sum_all(const heed_kernels *k, sums *j, heed_real *out, heed__part *part) {
    _Alignas(64) heed_real sum[COLUMN_BLOCKS * STRIP];
    size_t blocks = column_blocks(j->rows, &j->block_rows);
    j->sum = sum;
    for (j->strip = 0; j->strip < j->stride; j->strip += STRIP) {
        int left = j->stride - j->strip;
        j->width = left < STRIP ? left : STRIP;
        double work = (j->gy ? 24.0 : 4.0) * (double)j->rows * j->width;
        heed__share(k, blocks, work, part, j);
        for (int c = 0; out && c < j->width; c++) {
            double all = 0;
            for (size_t b = 0; b < blocks; b++) all += (double)sum[b * STRIP + (size_t)c];
            out[j->strip + c] += (heed_real)all;
        }
    }
}

void K(sum_rows)(const heed_kernels *k, heed_real *gy, const heed_real *x, size_t rows, int c) {
    sum_all(k, &(sums){.x = x, .rows = rows, .stride = c}, gy, sum_part);
}

void K(activate_grad_rows)(const heed_kernels *k, heed_act f, heed_real *gy, heed_real *gb,
                           const heed_real *x, const heed_real *y, size_t rows, int c) {
    sums j = {.f = f, .gy = gy, .x = heed__act_uses_value(f) ? y : x, .rows = rows, .stride = c};
    sum_all(k, &j, gb, grad_part);
}
