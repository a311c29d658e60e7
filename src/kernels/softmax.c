/* softmax.c -- softmax over rows. Masked entries are 0; a fully masked row is zeros with zero
 * gradients; a row with a NaN is NaN throughout. */
#include "set.h"
#include "vmath.h"

typedef heed_softmax_job softmax;

static const int32_t *mask_row(const softmax *j, size_t r) {
    return j->mask ? j->mask + (r / j->mask_div) % j->mask_rows * (size_t)j->n : NULL;
}

/* Lanes that exist and are not masked. */
INLINE vmask shown(const int32_t *mask, int i, size_t left) {
    return mask ? nonzero(mask + i, left) : lanes_below(left);
}
/* beta x, -inf at masked entries. */
INLINE vec score(const softmax *j, const heed_real *x, const int32_t *mask, int i) {
    size_t left = (size_t)(j->n - i);
    return pick(shown(mask, i, left), splat(j->beta) * get(x + i, left), splat(-INFINITY));
}

/* The largest score, or 0 if there is none: then all exponentials are 0, or NaN. */
static heed_real top(const softmax *j, const heed_real *x, const int32_t *mask) {
    vec m = splat(-INFINITY);
    for (int i = 0; i < j->n; i += VL) m = vmax(score(j, x, mask, i), m);
    heed_real most = max_lanes(m);
    return most == -INFINITY ? 0 : most;
}

static void softmax_row(const void *args, size_t r) {
    const softmax *j = args;
    const heed_real *x = j->x + r * (size_t)j->n;
    heed_real *y = j->y + r * (size_t)j->n;
    const int32_t *mask = mask_row(j, r);
    heed_real most = top(j, x, mask);
    vec sums = {0};
    for (int i = 0; i < j->n; i += VL) {
        vec e = vexp_term(score(j, x, mask, i) - splat(most));
        sums += e;
        put(y + i, e, (size_t)(j->n - i));
    }
    heed_real sum = sum_lanes(sums);
    vec inverse = splat(sum == 0 ? 0 : 1 / sum);
    for (int i = 0; i < j->n; i += VL) {
        size_t left = (size_t)(j->n - i);
        put(y + i, get(y + i, left) * inverse, left);
    }
}

static void log_softmax_row(const void *args, size_t r) {
    const softmax *j = args;
    const heed_real *x = j->x + r * (size_t)j->n;
    heed_real *y = j->y + r * (size_t)j->n;
    const int32_t *mask = mask_row(j, r);
    heed_real most = top(j, x, mask);
    vec sums = {0};
    for (int i = 0; i < j->n; i += VL) sums += vexp_term(score(j, x, mask, i) - splat(most));
    vec log_sum = vlog(splat(sum_lanes(sums))); /* subtract most first, because it may be large */
    for (int i = 0; i < j->n; i += VL) {
        size_t left = (size_t)(j->n - i);
        put(y + i,
            pick(shown(mask, i, left), score(j, x, mask, i) - splat(most) - log_sum, splat(0)),
            left);
    }
}

/* gx += beta y (gy - sum y gy) */
static void softmax_grad_row(const void *args, size_t r) {
    const softmax *j = args;
    size_t at = r * (size_t)j->n;
    const heed_real *y = j->y + at, *gy = j->gy + at;
    heed_real *gx = j->gx + at;
    vec dots = {0};
    for (int i = 0; i < j->n; i += VL) {
        size_t left = (size_t)(j->n - i);
        dots += get(y + i, left) * get(gy + i, left);
    }
    vec dot = splat(sum_lanes(dots)), beta = splat(j->beta);
    for (int i = 0; i < j->n; i += VL) {
        size_t left = (size_t)(j->n - i);
        vec g = beta * get(y + i, left) * (get(gy + i, left) - dot);
        put(gx + i, get(gx + i, left) + g, left);
    }
}

/* gx += beta (gy - exp(y) sum gy) over the unmasked entries */
static void log_softmax_grad_row(const void *args, size_t r) {
    const softmax *j = args;
    size_t at = r * (size_t)j->n;
    const heed_real *y = j->y + at, *gy = j->gy + at;
    heed_real *gx = j->gx + at;
    const int32_t *mask = mask_row(j, r);
    vec sums = {0};
    for (int i = 0; i < j->n; i += VL) {
        size_t left = (size_t)(j->n - i);
        sums += pick(shown(mask, i, left), get(gy + i, left), splat(0));
    }
    vec sum = splat(sum_lanes(sums)), beta = splat(j->beta);
    for (int i = 0; i < j->n; i += VL) {
        size_t left = (size_t)(j->n - i);
        vec g = beta * (get(gy + i, left) - vexp(get(y + i, left)) * sum);
        put(gx + i, get(gx + i, left) + pick(shown(mask, i, left), g, splat(0)), left);
    }
}

HEED__PART(softmax_part, softmax_row)
HEED__PART(log_softmax_part, log_softmax_row)
HEED__PART(softmax_grad_part, softmax_grad_row)
HEED__PART(log_softmax_grad_part, log_softmax_grad_row)

static void share_rows(const heed_kernels *k, double each, heed__part *part, const softmax *j) {
    heed__share(k, j->rows, each * (double)j->rows * j->n, part, j);
}
void K(softmax)(const heed_kernels *k, const heed_softmax_job *j) {
    share_rows(k, 20, j->log ? log_softmax_part : softmax_part, j);
}
void K(softmax_grad)(const heed_kernels *k, const heed_softmax_job *j) {
    share_rows(k, j->log ? 20 : 6, j->log ? log_softmax_grad_part : softmax_grad_part, j);
}
