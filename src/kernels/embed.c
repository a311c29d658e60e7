/* embed.c -- lookup of table rows, and its gradient. */
#include "set.h"

typedef struct {
    heed_real *y;
    const heed_real *x;
    const int32_t *ids;
    size_t rows;
    int d;
} lookup;

static void embed_row(const void *job, size_t r) {
    const lookup *j = job;
    size_t d = (size_t)j->d;
    memcpy(j->y + r * d, j->x + (size_t)j->ids[r] * d, d * sizeof *j->y);
}
HEED__PART(embed_part, embed_row)
void K(embed)(const heed_kernels *k, heed_real *y, const heed_real *table, const int32_t *ids,
              size_t rows, int d) {
    heed__share(k, rows, 2.0 * (double)rows * d, embed_part,
                &(lookup){.y = y, .x = table, .ids = ids, .rows = rows, .d = d});
}

/* Divided by columns, one cache line each, so that equal ids add in the order of their rows. */
#define LINE (64 / (int)sizeof(heed_real))

static void embed_grad_part(const void *job, size_t from, size_t to, int thread) {
    const lookup *j = job;
    size_t d = (size_t)j->d, first = from * LINE, last = to * LINE < d ? to * LINE : d;
    (void)thread;
    for (size_t r = 0; r < j->rows; r++) {
        heed_real *gx = j->y + (size_t)j->ids[r] * d;
        const heed_real *gy = j->x + r * d;
        for (size_t c = first; c < last; c += (size_t)VL) {
            size_t left = last - c;
            put(gx + c, get(gx + c, left) + get(gy + c, left), left);
        }
    }
}
void K(embed_grad)(const heed_kernels *k, heed_real *gtable, const heed_real *gy,
                   const int32_t *ids, size_t rows, int d) {
    heed__share(k, ((size_t)d + LINE - 1) / LINE, 2.0 * (double)rows * d, embed_grad_part,
                &(lookup){.y = gtable, .x = gy, .ids = ids, .rows = rows, .d = d});
}
