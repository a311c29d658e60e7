/* softmax.c -- softmax over rows. Masked entries are 0; a fully masked row is zeros with zero
 * gradients; a row with a NaN is NaN throughout. */
#include "set.h"
#include "vmath.h"

typedef struct {
    heed_real *y; /* the output, or gx */
    const heed_real *x, *gy;
    const heed_softmax_args *a;
} rows_job;

static const int32_t *mask_row(const heed_softmax_args *a, size_t r) {
    return a->mask ? a->mask + (r / a->mask_div) % a->mask_rows * (size_t)a->n : NULL;
}

/* Lanes that exist and are not masked. */
INLINE vmask shown(const int32_t *mask, int i, size_t left) {
    return mask ? nonzero(mask + i, left) : lanes_below(left);
}
/* beta x, -inf at masked entries. */
INLINE vec score(const rows_job *j, const heed_real *x, const int32_t *mask, int i) {
    size_t left = (size_t)(j->a->n - i);
    return pick(shown(mask, i, left), splat(j->a->beta) * get(x + i, left), splat(-INFINITY));
}

/* The largest score, or 0 if there is none: then all exponentials are 0, or NaN. */
static heed_real top(const rows_job *j, const heed_real *x, const int32_t *mask) {
    vec m = splat(-INFINITY);
    for (int i = 0; i < j->a->n; i += VL) m = vmax(score(j, x, mask, i), m);
    heed_real most = max_lanes(m);
    return most == -INFINITY ? 0 : most;
}

static void softmax_row(const rows_job *j, size_t r) {
    const heed_real *x = j->x + r * (size_t)j->a->n;
    heed_real *y = j->y + r * (size_t)j->a->n;
    const int32_t *mask = mask_row(j->a, r);
    heed_real most = top(j, x, mask);
    vec sums = {0};
    for (int i = 0; i < j->a->n; i += VL) {
        vec e = vexp_term(score(j, x, mask, i) - splat(most));
        sums += e;
        put(y + i, e, (size_t)(j->a->n - i));
    }
    heed_real sum = sum_lanes(sums);
    vec inverse = splat(sum == 0 ? 0 : 1 / sum);
    for (int i = 0; i < j->a->n; i += VL) {
        size_t left = (size_t)(j->a->n - i);
        put(y + i, get(y + i, left) * inverse, left);
    }
}

static void log_softmax_row(const rows_job *j, size_t r) {
    const heed_real *x = j->x + r * (size_t)j->a->n;
    heed_real *y = j->y + r * (size_t)j->a->n;
    const int32_t *mask = mask_row(j->a, r);
    heed_real most = top(j, x, mask);
    vec sums = {0};
    for (int i = 0; i < j->a->n; i += VL) sums += vexp_term(score(j, x, mask, i) - splat(most));
    vec log_sum = vlog(splat(sum_lanes(sums))); /* subtract most first, because it may be large */
    for (int i = 0; i < j->a->n; i += VL) {
        size_t left = (size_t)(j->a->n - i);
        put(y + i,
            pick(shown(mask, i, left), score(j, x, mask, i) - splat(most) - log_sum, splat(0)),
            left);
    }
}

/* gx += beta y (gy - sum y gy) */
static void softmax_grad_row(const rows_job *j, size_t r) {
    size_t at = r * (size_t)j->a->n;
    const heed_real *y = j->x + at, *gy = j->gy + at;
    heed_real *gx = j->y + at;
    vec dots = {0};
    for (int i = 0; i < j->a->n; i += VL) {
        size_t left = (size_t)(j->a->n - i);
        dots += get(y + i, left) * get(gy + i, left);
    }
    vec dot = splat(sum_lanes(dots)), beta = splat(j->a->beta);
    for (int i = 0; i < j->a->n; i += VL) {
        size_t left = (size_t)(j->a->n - i);
        vec g = beta * get(y + i, left) * (get(gy + i, left) - dot);
        put(gx + i, get(gx + i, left) + g, left);
    }
}

/* gx += beta (gy - exp(y) sum gy) over the unmasked entries */
static void log_softmax_grad_row(const rows_job *j, size_t r) {
    size_t at = r * (size_t)j->a->n;
    const heed_real *y = j->x + at, *gy = j->gy + at;
    heed_real *gx = j->y + at;
    const int32_t *mask = mask_row(j->a, r);
    vec sums = {0};
    for (int i = 0; i < j->a->n; i += VL) {
        size_t left = (size_t)(j->a->n - i);
        sums += pick(shown(mask, i, left), get(gy + i, left), splat(0));
    }
    vec sum = splat(sum_lanes(sums)), beta = splat(j->a->beta);
    for (int i = 0; i < j->a->n; i += VL) {
        size_t left = (size_t)(j->a->n - i);
        vec g = beta * (get(gy + i, left) - vexp(get(y + i, left)) * sum);
        put(gx + i, get(gx + i, left) + pick(shown(mask, i, left), g, splat(0)), left);
    }
}

#define ROWS_PART(name, row)                                                                       \
    static void name(const void *job, size_t from, size_t to, int thread) {                        \
        (void)thread;                                                                              \
        for (size_t r = from; r < to; r++) row(job, r);                                            \
    }
ROWS_PART(softmax_part, softmax_row)
ROWS_PART(log_softmax_part, log_softmax_row)
ROWS_PART(softmax_grad_part, softmax_grad_row)
ROWS_PART(log_softmax_grad_part, log_softmax_grad_row)

static void share_rows(const heed_kernels *k, double each, heed__part *part, const rows_job *j) {
    heed__share(k, j->a->rows, each * (double)j->a->rows * j->a->n, part, j);
}

void K(softmax)(const heed_kernels *k, heed_real *y, const heed_real *x,
                const heed_softmax_args *a) {
    share_rows(k, 20, softmax_part, &(rows_job){.y = y, .x = x, .a = a});
}
void K(log_softmax)(const heed_kernels *k, heed_real *y, const heed_real *x,
                    const heed_softmax_args *a) {
    share_rows(k, 20, log_softmax_part, &(rows_job){.y = y, .x = x, .a = a});
}
void K(softmax_grad)(const heed_kernels *k, heed_real *gx, const heed_real *y, const heed_real *gy,
                     const heed_softmax_args *a) {
    share_rows(k, 6, softmax_grad_part, &(rows_job){.y = gx, .x = y, .gy = gy, .a = a});
}
void K(log_softmax_grad)(const heed_kernels *k, heed_real *gx, const heed_real *y,
                         const heed_real *gy, const heed_softmax_args *a) {
    share_rows(k, 20, log_softmax_grad_part, &(rows_job){.y = gx, .x = y, .gy = gy, .a = a});
}
