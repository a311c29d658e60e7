/* permute.c -- copies between arrays of other strides. */
#include "set.h"

typedef struct {
    heed_real *y;
    const heed_real *x;
    const heed_walk *w;
    bool add;
} permute;

/* Copies n elements of x, step apart, to y. */
INLINE void row(heed_real *y, const heed_real *x, size_t n, size_t step, const bool add) {
    if (step == 1)
        for (size_t i = 0; i < n; i += VL) {
            vec v = get(x + i, n - i);
            put(y + i, add ? get(y + i, n - i) + v : v, n - i);
        }
    else
        for (size_t i = 0; i < n; i++) y[i] = add ? y[i] + x[i * step] : x[i * step];
}

/* Units are rows of the last dim, which is contiguous in y. */
static void permute_row(const void *job, size_t u) {
    const permute *p = job;
    const heed_walk *w = p->w;
    size_t n = (size_t)w->shape[3], lines = (size_t)w->shape[2], planes = (size_t)w->shape[1];
    size_t i[3] = {u / lines / planes, u / lines % planes, u % lines};
    heed_real *y = p->y + i[0] * w->c[0] + i[1] * w->c[1] + i[2] * w->c[2];
    const heed_real *x = p->x + i[0] * w->a[0] + i[1] * w->a[1] + i[2] * w->a[2];
    if (p->add)
        row(y, x, n, w->a[3], true);
    else
        row(y, x, n, w->a[3], false);
}
HEED__PART(permute_part, permute_row)

void K(permute)(const heed_kernels *k, heed_real *y, const heed_real *x, const heed_walk *w,
                bool add) {
    size_t rows = 1;
    for (int d = 0; d < 3; d++) rows *= (size_t)w->shape[d];
    heed__share(k, rows, 4.0 * (double)rows * w->shape[3], permute_part, &(permute){y, x, w, add});
}
