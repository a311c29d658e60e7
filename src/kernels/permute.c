/* permute.c -- copies with permuted dims. */
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

/* Units are rows of y's last dim. */
static void permute_part(const void *job, size_t from, size_t to, int thread) {
    const permute *p = job;
    const heed_walk *w = p->w;
    size_t n = (size_t)w->shape[3], lines = (size_t)w->shape[2], planes = (size_t)w->shape[1];
    (void)thread;
    for (size_t u = from; u < to; u++) {
        const heed_real *x = p->x + u % lines * w->a[2] + u / lines % planes * w->a[1] +
                             u / lines / planes * w->a[0];
        if (p->add)
            row(p->y + u * n, x, n, w->a[3], true);
        else
            row(p->y + u * n, x, n, w->a[3], false);
    }
}

void K(permute)(const heed_kernels *k, heed_real *y, const heed_real *x, const heed_walk *w,
                bool add) {
    size_t rows = 1;
    for (int d = 0; d < 3; d++) rows *= (size_t)w->shape[d];
    heed__share(k, rows, 4.0 * (double)rows * w->shape[3], permute_part, &(permute){y, x, w, add});
}
