/* xent.c -- cross entropy over rows of logits, with the softmax that its gradient needs, or with
 * the gradient in place of the logits. */
#include "set.h"
#include "vmath.h"

typedef heed_xent_job xent;

/* An invalid label gives a NaN loss instead of reading beyond the row. */
static bool inside(const xent *j, int32_t label) { return label >= 0 && label < j->c; }
static heed_real weight(const xent *j, int32_t label) { return j->weights ? j->weights[label] : 1; }

/* log sum_c exp x_c = most + log_sum: kept separately, because most may be large. */
typedef struct {
    heed_real most, log_sum;
} row_sum;

static heed_real largest(const heed_real *x, int c) {
    vec m = splat(-INFINITY);
    for (int i = 0; i < c; i += VL) {
        size_t left = (size_t)(c - i);
        m = vmax(pick(lanes_below(left), get(x + i, left), splat(-INFINITY)), m);
    }
    return max_lanes(m);
}

/* p = exp(x - most), which may be x itself; returns the sum. */
static heed_real exponentials(heed_real *p, const heed_real *x, heed_real most, int c) {
    vec sums = {0};
    for (int i = 0; i < c; i += VL) {
        size_t left = (size_t)(c - i);
        vec e = vexp_term(get(x + i, left) - splat(most));
        sums += pick(lanes_below(left), e, splat(0));
        put(p + i, e, left);
    }
    return sum_lanes(sums);
}

/* Writes the softmax of the row into p. */
static row_sum softmax(heed_real *p, const heed_real *x, int c) {
    heed_real most = largest(x, c), sum = exponentials(p, x, most, c);
    vec inverse = splat(1 / sum);
    for (int i = 0; i < c; i += VL) {
        size_t left = (size_t)(c - i);
        put(p + i, get(p + i, left) * inverse, left);
    }
    return (row_sum){most, vlog(splat(sum))[0]};
}

/* (smoothing / C) sum_c w_c (lse - x_c) */
static heed_real smooth_loss(const xent *j, const heed_real *x, row_sum s) {
    vec sums = {0};
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec term = splat(s.log_sum) - (get(x + i, left) - splat(s.most));
        if (j->weights) term *= get(j->weights + i, left);
        sums += pick(lanes_below(left), term, splat(0));
    }
    return sum_lanes(sums) * j->smoothing / (heed_real)j->c;
}

static void xent_row(const void *job, size_t r) {
    const xent *j = job;
    const heed_real *x = j->logits + r * (size_t)j->c;
    int32_t label = j->labels[r];
    row_sum s = softmax(j->p + r * (size_t)j->c, x, j->c);
    if (label == j->ignore) {
        j->loss[r] = 0;
    } else if (!inside(j, label)) {
        j->loss[r] = NAN;
    } else {
        j->loss[r] = (1 - j->smoothing) * weight(j, label) * (s.log_sum - (x[label] - s.most));
        if (j->smoothing != 0) j->loss[r] += smooth_loss(j, x, s);
    }
}
HEED__PART(xent_part, xent_row)

static void share_rows(const heed_kernels *k, double each, heed__part *part, const xent *j) {
    heed__share(k, j->rows, each * (double)j->rows * j->c, part, j);
}
void K(xent)(const heed_kernels *k, const heed_xent_job *j) { share_rows(k, 24, xent_part, j); }

/* With t = (1-eps) onehot + eps/C: gx_c += scale (p_c sum_d w_d t_d - w_c t_c). */
static void xent_grad_row(const xent *j, size_t r, heed_real weight_sum) {
    const heed_real *p = j->p + r * (size_t)j->c;
    heed_real *gx = j->gx + r * (size_t)j->c;
    int32_t label = j->labels[r];
    heed_real spread = j->smoothing / (heed_real)j->c;
    heed_real own = (1 - j->smoothing) * weight(j, label);
    vec all = splat(j->scale * (own + spread * weight_sum)), part = splat(j->scale * spread);
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec w = j->weights ? get(j->weights + i, left) : splat(1);
        put(gx + i, get(gx + i, left) + get(p + i, left) * all - w * part, left);
    }
    gx[label] -= j->scale * own;
}

static heed_real sum_of_weights(const xent *j) {
    heed_real sum = 0;
    if (!j->weights) return (heed_real)j->c;
    for (int i = 0; i < j->c; i++) sum += j->weights[i];
    return sum;
}

static void xent_grad_part(const void *job, size_t from, size_t to, int thread) {
    const xent *j = job;
    heed_real weight_sum = sum_of_weights(j);
    (void)thread;
    for (size_t r = from; r < to; r++)
        if (j->labels[r] != j->ignore && inside(j, j->labels[r])) xent_grad_row(j, r, weight_sum);
}

void K(xent_grad)(const heed_kernels *k, const heed_xent_job *j) {
    share_rows(k, 5, xent_grad_part, j);
}

/* ---- in place ---- */

/* sum_c w_c (x_c - most) */
static heed_real weighted_sum(const xent *j, const heed_real *x, heed_real most) {
    vec sums = {0};
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec term = get(x + i, left) - splat(most);
        if (j->weights) term *= get(j->weights + i, left);
        sums += pick(lanes_below(left), term, splat(0));
    }
    return sum_lanes(sums);
}

/* Replaces the logits z by their gradient, as in xent_grad_row; returns the loss. */
static heed_real in_place_row(const xent *j, heed_real *z, int32_t label, heed_real weight_sum) {
    heed_real most = largest(z, j->c), at_label = z[label] - most;
    heed_real own = (1 - j->smoothing) * weight(j, label);
    heed_real spread = j->smoothing / (heed_real)j->c;
    heed_real spread_sum = j->smoothing != 0 ? spread * weighted_sum(j, z, most) : 0;
    heed_real sum = exponentials(z, z, most, j->c), log_sum = vlog(splat(sum))[0];
    vec all = splat(j->scale * (own + spread * weight_sum) / sum), part = splat(j->scale * spread);
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec w = j->weights ? get(j->weights + i, left) : splat(1);
        put(z + i, get(z + i, left) * all - w * part, left);
    }
    z[label] -= j->scale * own;
    return own * (log_sum - at_label) + spread * weight_sum * log_sum - spread_sum;
}

static void in_place_part(const void *job, size_t from, size_t to, int thread) {
    const xent *j = job;
    heed_real weight_sum = sum_of_weights(j);
    (void)thread;
    for (size_t r = from; r < to; r++)
        j->loss[r] = in_place_row(j, j->p + r * (size_t)j->c, j->labels[r], weight_sum);
}

void K(xent_in_place)(const heed_kernels *k, const heed_xent_job *j) {
    share_rows(k, 24, in_place_part, j);
}
