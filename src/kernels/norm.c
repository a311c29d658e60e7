/* norm.c -- normalisation over rows (Ba et al. 2016) and columns (Ioffe & Szegedy 2015). */
#include "columns.h"
#include "set.h"
#include "vmath.h"

typedef struct {
    heed_real *y, *mean_out, *rstd_out;
    const heed_real *x, *gy, *mean, *rstd, *gain, *bias;
    /* batch norm backward: column means of gy and of gy xhat, or NULL */
    const heed_real *mean_gy, *mean_gx;
    size_t stride; /* elements between rows */
    int c;
    heed_real eps;
    bool add;
} norm;

INLINE vec or_else(const heed_real *p, int i, size_t left, heed_real absent) {
    return p ? get(p + i, left) : splat(absent);
}
INLINE vec centred(vec x, heed_real mean, size_t left) {
    return pick(lanes_below(left), x - splat(mean), splat(0));
}

static void layer_norm_row(const norm *j, size_t r) {
    const heed_real *x = j->x + r * j->stride;
    heed_real *y = j->y + r * j->stride;
    vec sum = {0}, squares = {0};
    for (int i = 0; i < j->c; i += VL) { /* of the next row */
        __builtin_prefetch(x + j->stride + i);
        __builtin_prefetch(y + j->stride + i, 1);
    }
    for (int i = 0; j->mean_out && i < j->c; i += VL) sum += get(x + i, (size_t)(j->c - i));
    heed_real mean = sum_lanes(sum) / (heed_real)j->c;
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec d = centred(get(x + i, left), mean, left);
        squares += d * d;
    }
    heed_real var = sum_lanes(squares) / (heed_real)j->c;
    heed_real rstd = (heed_real)(1 / sqrt((double)(var + j->eps)));
    if (j->mean_out) j->mean_out[r] = mean;
    j->rstd_out[r] = rstd;
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec hat = (get(x + i, left) - splat(mean)) * splat(rstd);
        put(y + i, hat * or_else(j->gain, i, left, 1) + or_else(j->bias, i, left, 0), left);
    }
}
static void layer_norm_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t r = from; r < to; r++) layer_norm_row(job, r);
}
void K(layer_norm)(const heed_kernels *k, heed_real *y, heed_real *mean, heed_real *rstd,
                   const heed_real *x, const heed_real *gain, const heed_real *bias, size_t rows,
                   int c, heed_real eps) {
    norm j = {.y = y,
              .mean_out = mean,
              .rstd_out = rstd,
              .x = x,
              .gain = gain,
              .bias = bias,
              .stride = (size_t)c,
              .c = c,
              .eps = eps};
    heed__share(k, rows, 10.0 * (double)rows * c, layer_norm_part, &j);
}

/* gx = or += rstd (g - mean(g) - xhat mean(g xhat)), g = gy gain. */
static void layer_norm_grad_row(const norm *j, size_t r) {
    const heed_real *x = j->x + r * j->stride, *gy = j->gy + r * j->stride;
    heed_real *gx = j->y + r * j->stride, mean = j->mean ? j->mean[r] : 0, rstd = j->rstd[r];
    vec sum = {0}, dot = {0};
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        __builtin_prefetch(x + j->stride + i);
        __builtin_prefetch(gy + j->stride + i);
        __builtin_prefetch(gx + j->stride + i, 1);
        vec g = get(gy + i, left) * or_else(j->gain, i, left, 1);
        sum += g;
        dot += g * centred(get(x + i, left), mean, left);
    }
    heed_real a = j->mean ? sum_lanes(sum) / (heed_real)j->c : 0;
    heed_real b = sum_lanes(dot) * rstd * rstd / (heed_real)j->c;
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec g = get(gy + i, left) * or_else(j->gain, i, left, 1);
        vec d = g - splat(a) - (get(x + i, left) - splat(mean)) * splat(b);
        vec into = j->add ? get(gx + i, left) : splat(0);
        put(gx + i, into + d * splat(rstd), left);
    }
}
static void layer_norm_grad_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t r = from; r < to; r++) layer_norm_grad_row(job, r);
}

/* The terms gy and gy xhat, with the row's statistics. */
INLINE void row_terms(const heed__columns *j, size_t r, int c, size_t left, vec term[2]) {
    size_t at = r * j->stride + (size_t)c;
    term[0] = get(j->gy + at, left);
    term[1] = term[0] * (get(j->x + at, left) - splat(j->mean[r])) * splat(j->rstd[r]);
}
HEED__COLUMN_PART(row_terms_part, row_terms)

/* The same with a mean of 0. */
INLINE void rms_terms(const heed__columns *j, size_t r, int c, size_t left, vec term[2]) {
    size_t at = r * j->stride + (size_t)c;
    term[0] = get(j->gy + at, left);
    term[1] = term[0] * get(j->x + at, left) * splat(j->rstd[r]);
}
HEED__COLUMN_PART(rms_terms_part, rms_terms)

/* Both in one pass over the rows, while a row is in the cache, if all columns are one strip. */
typedef struct {
    heed__columns sums; /* must be first: column_sums hands it to the part */
    norm rows;
} norm_grad;

INLINE void norm_grad_block(const norm_grad *j, size_t b, heed__term *term) {
    const heed__columns *s = &j->sums;
    size_t first = b * s->block_rows, last = first + s->block_rows;
    heed_real *out = s->partial + b * 2 * COLUMN_STRIP;
    memset(out, 0, 2 * COLUMN_STRIP * sizeof *out);
    for (size_t r = first; r < last && r < s->rows; r++) {
        layer_norm_grad_row(&j->rows, r);
        for (int c = 0; c < s->width; c += VL) {
            vec add[2];
            term(s, r, c, (size_t)(s->width - c), add);
            store(out + c, load(out + c) + add[0]);
            store(out + COLUMN_STRIP + c, load(out + COLUMN_STRIP + c) + add[1]);
        }
    }
}
static void norm_grad_part(const void *job, size_t from, size_t to, int thread) {
    const norm_grad *j = job;
    (void)thread;
    for (size_t b = from; b < to; b++)
        if (j->sums.mean)
            norm_grad_block(j, b, row_terms);
        else
            norm_grad_block(j, b, rms_terms);
}

void K(layer_norm_grad)(const heed_kernels *k, heed_real *gx, heed_real *ggain, heed_real *gbias,
                        const heed_real *gy, const heed_real *x, const heed_real *mean,
                        const heed_real *rstd, const heed_real *gain, size_t rows, int c,
                        bool add) {
    heed__columns sums = {.rows = rows,
                          .stride = (size_t)c,
                          .width = c,
                          .x = x,
                          .gy = gy,
                          .mean = mean,
                          .rstd = rstd,
                          .out = {gbias, ggain}};
    bool wanted = ggain || gbias, both = wanted && gx && c <= COLUMN_STRIP;
    if (wanted && !both) column_sums(k, &sums, mean ? row_terms_part : rms_terms_part);
    if (!gx) return;
    norm j = {.y = gx,
              .x = x,
              .gy = gy,
              .mean = mean,
              .rstd = rstd,
              .gain = gain,
              .stride = (size_t)c,
              .c = c,
              .add = add};
    if (both) {
        column_sums(k, &(norm_grad){sums, j}.sums, norm_grad_part);
        return;
    }
    heed__share(k, rows, 12.0 * (double)rows * c, layer_norm_grad_part, &j);
}

INLINE void squares_term(const heed__columns *j, size_t r, int c, size_t left, vec term[2]) {
    vec d = get(j->x + r * j->stride + (size_t)c, left) - get(j->mean + c, left);
    term[0] = d * d;
    term[1] = splat(0);
}
HEED__COLUMN_PART(squares_part, squares_term)

static void divide(heed_real *x, size_t rows, int c) {
    for (int i = 0; i < c; i++) x[i] /= (heed_real)rows;
}
void K(column_stats)(const heed_kernels *k, heed_real *mean, heed_real *var, const heed_real *x,
                     size_t rows, int c) {
    memset(mean, 0, sizeof *mean * (size_t)c);
    memset(var, 0, sizeof *var * (size_t)c);
    if (!rows) return;
    K(sum_rows)(k, mean, x, rows, c);
    divide(mean, rows, c);
    heed__columns j = {
        .rows = rows, .stride = (size_t)c, .width = c, .x = x, .mean = mean, .out = {var, NULL}};
    column_sums(k, &j, squares_part);
    divide(var, rows, c);
}

static void batch_norm_part(const void *job, size_t from, size_t to, int thread) {
    const norm *j = job;
    (void)thread;
    for (size_t r = from; r < to; r++) {
        for (int i = 0; i < j->c; i += VL) {
            size_t left = (size_t)(j->c - i), at = r * j->stride + (size_t)i;
            vec hat = (get(j->x + at, left) - get(j->mean + i, left)) * get(j->rstd + i, left);
            put(j->y + at, hat * or_else(j->gain, i, left, 1) + or_else(j->bias, i, left, 0), left);
        }
    }
}
void K(batch_norm)(const heed_kernels *k, heed_real *y, const heed_real *x, const heed_real *mean,
                   const heed_real *rstd, const heed_real *gain, const heed_real *bias, size_t rows,
                   int c) {
    norm j = {.y = y,
              .x = x,
              .mean = mean,
              .rstd = rstd,
              .gain = gain,
              .bias = bias,
              .stride = (size_t)c,
              .c = c};
    heed__share(k, rows, 6.0 * (double)rows * c, batch_norm_part, &j);
}

/* The terms gy and gy xhat, with the column's statistics. */
INLINE void column_terms(const heed__columns *j, size_t r, int c, size_t left, vec term[2]) {
    size_t at = r * j->stride + (size_t)c;
    term[0] = get(j->gy + at, left);
    term[1] = term[0] * (get(j->x + at, left) - get(j->mean + c, left)) * get(j->rstd + c, left);
}
HEED__COLUMN_PART(column_terms_part, column_terms)

/* gx = or += gain rstd (gy - mean(gy) - xhat mean(gy xhat)); the means are subtracted only if the
 * statistics are the batch's. */
static void batch_norm_grad_part(const void *job, size_t from, size_t to, int thread) {
    const norm *j = job;
    (void)thread;
    for (size_t r = from; r < to; r++) {
        for (int i = 0; i < j->c; i += VL) {
            size_t left = (size_t)(j->c - i), at = r * j->stride + (size_t)i;
            vec rstd = get(j->rstd + i, left), g = get(j->gy + at, left);
            if (j->mean_gy) {
                vec hat = (get(j->x + at, left) - get(j->mean + i, left)) * rstd;
                g = g - get(j->mean_gy + i, left) - hat * get(j->mean_gx + i, left);
            }
            g = g * rstd * or_else(j->gain, i, left, 1);
            put(j->y + at, j->add ? get(j->y + at, left) + g : g, left);
        }
    }
}

static void add_to(heed_real *y, const heed_real *x, int n) {
    for (int i = 0; y && i < n; i++) y[i] += x[i];
}

void K(batch_norm_grad)(const heed_kernels *k, heed_real *gx, heed_real *ggain, heed_real *gbias,
                        const heed_real *gy, const heed_real *x, const heed_real *mean,
                        const heed_real *rstd, const heed_real *gain, size_t rows, int c,
                        bool batch, bool add) {
    for (int i = 0; i < c; i += COLUMN_STRIP) {
        heed_real sum_gy[COLUMN_STRIP] = {0}, sum_gx[COLUMN_STRIP] = {0};
        int width = c - i < COLUMN_STRIP ? c - i : COLUMN_STRIP;
        heed__columns sums = {.rows = rows,
                              .stride = (size_t)c,
                              .width = width,
                              .x = x + i,
                              .gy = gy + i,
                              .mean = mean + i,
                              .rstd = rstd + i,
                              .out = {sum_gy, sum_gx}};
        column_sums(k, &sums, column_terms_part);
        add_to(gbias ? gbias + i : NULL, sum_gy, width);
        add_to(ggain ? ggain + i : NULL, sum_gx, width);
        if (!gx) continue;
        divide(sum_gy, rows, width);
        divide(sum_gx, rows, width);
        norm j = {.y = gx + i,
                  .x = x + i,
                  .gy = gy + i,
                  .mean = mean + i,
                  .rstd = rstd + i,
                  .gain = gain ? gain + i : NULL,
                  .stride = (size_t)c,
                  .c = width,
                  .mean_gy = batch ? sum_gy : NULL,
                  .mean_gx = sum_gx,
                  .add = add};
        heed__share(k, rows, 10.0 * (double)rows * width, batch_norm_grad_part, &j);
    }
}
