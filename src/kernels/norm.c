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

/* Rows whose sums are computed one after the other before they are used, so that none waits for
 * the end of another's. */
#define TOGETHER 8
static int rows_from(size_t r, size_t end) {
    return end - r < TOGETHER ? (int)(end - r) : TOGETHER;
}

INLINE heed_real row_mean(const norm *j, size_t r) {
    const heed_real *x = j->x + r * j->stride;
    vec sum = {0};
    for (int i = 0; i < j->c; i += VL) sum += get(x + i, (size_t)(j->c - i));
    return sum_lanes(sum) / (heed_real)j->c;
}
INLINE heed_real row_variance(const norm *j, size_t r, heed_real mean) {
    const heed_real *x = j->x + r * j->stride;
    vec squares = {0};
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec d = centred(get(x + i, left), mean, left);
        squares += d * d;
    }
    return sum_lanes(squares) / (heed_real)j->c;
}
INLINE void normalize_row(const norm *j, size_t r, heed_real mean, heed_real rstd) {
    const heed_real *x = j->x + r * j->stride;
    heed_real *y = j->y + r * j->stride;
    for (int i = 0, c = j->c; i < c; i += VL) {
        size_t left = (size_t)(c - i);
        vec hat = (get(x + i, left) - splat(mean)) * splat(rstd);
        put(y + i, hat * or_else(j->gain, i, left, 1) + or_else(j->bias, i, left, 0), left);
    }
}
static void layer_norm_rows(const norm *j, size_t first, int rows) {
    heed_real mean[TOGETHER] = {0}, rstd[TOGETHER];
    for (int r = 0; j->mean_out && r < rows; r++)
        j->mean_out[first + (size_t)r] = mean[r] = row_mean(j, first + (size_t)r);
    for (int r = 0; r < rows; r++) rstd[r] = row_variance(j, first + (size_t)r, mean[r]) + j->eps;
    for (int r = 0; r < rows; r++)
        j->rstd_out[first + (size_t)r] = rstd[r] = (heed_real)(1 / sqrt((double)rstd[r]));
    for (int r = 0; r < rows; r++) normalize_row(j, first + (size_t)r, mean[r], rstd[r]);
}
static void layer_norm_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t r = from; r < to; r += TOGETHER) layer_norm_rows(job, r, rows_from(r, to));
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

INLINE heed_real mean_of(const heed_real *mean, size_t r) { return mean ? mean[r] : 0; }

/* For g = gy gain, the means in gx = or += rstd (g - mean(g) - xhat mean(g xhat)), the second one
 * times rstd. RMS norm subtracts neither mean. */
INLINE void row_means(const norm *j, size_t r, heed_real means[2]) {
    const heed_real *x = j->x + r * j->stride, *gy = j->gy + r * j->stride;
    heed_real mean = mean_of(j->mean, r), rstd = j->rstd[r];
    vec sum = {0}, dot = {0};
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        __builtin_prefetch(address(x, (size_t)TOGETHER * j->stride + (size_t)i));
        vec g = get(gy + i, left) * or_else(j->gain, i, left, 1);
        sum += g;
        dot += g * centred(get(x + i, left), mean, left);
    }
    means[0] = j->mean ? sum_lanes(sum) / (heed_real)j->c : 0;
    means[1] = sum_lanes(dot) * rstd * rstd / (heed_real)j->c;
}
INLINE void grad_row(const norm *j, size_t r, const heed_real means[2]) {
    const heed_real *x = j->x + r * j->stride, *gy = j->gy + r * j->stride;
    heed_real *gx = j->y + r * j->stride, mean = mean_of(j->mean, r), rstd = j->rstd[r];
    for (int i = 0, c = j->c; i < c; i += VL) {
        size_t left = (size_t)(c - i);
        vec g = get(gy + i, left) * or_else(j->gain, i, left, 1);
        vec d = g - splat(means[0]) - (get(x + i, left) - splat(mean)) * splat(means[1]);
        vec into = j->add ? get(gx + i, left) : splat(0);
        put(gx + i, into + d * splat(rstd), left);
    }
}
static void layer_norm_grad_rows(const norm *j, size_t first, int rows) {
    heed_real means[TOGETHER][2];
    for (int r = 0; r < rows; r++) row_means(j, first + (size_t)r, means[r]);
    for (int r = 0; r < rows; r++) grad_row(j, first + (size_t)r, means[r]);
}
static void layer_norm_grad_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t r = from; r < to; r += TOGETHER) layer_norm_grad_rows(job, r, rows_from(r, to));
}

/* The terms gy and gy xhat, with the row's statistics. */
INLINE void row_terms(const heed__columns *j, size_t r, int c, size_t left, vec term[2]) {
    size_t at = r * j->stride + (size_t)c;
    term[0] = get(j->gy + at, left);
    term[1] = term[0] * (get(j->x + at, left) - splat(mean_of(j->mean, r))) * splat(j->rstd[r]);
}
HEED__COLUMN_PART(row_terms_part, row_terms)

/* Both in one pass over the rows, while they are in the cache, if all columns are one strip. */
typedef struct {
    heed__columns sums; /* must be first: column_sums hands it to the part */
    norm rows;
} norm_grad;

static void norm_grad_rows(const norm_grad *j, heed_real *out, size_t first, int rows) {
    layer_norm_grad_rows(&j->rows, first, rows);
    for (int c = 0; c < j->sums.width; c += VL) {
        vec sum[2] = {load(out + c), load(out + COLUMN_STRIP + c)}, add[2];
        for (int r = 0; r < rows; r++) {
            row_terms(&j->sums, first + (size_t)r, c, (size_t)(j->sums.width - c), add);
            sum[0] += add[0];
            sum[1] += add[1];
        }
        store(out + c, sum[0]);
        store(out + COLUMN_STRIP + c, sum[1]);
    }
}
static void norm_grad_part(const void *job, size_t from, size_t to, int thread) {
    const norm_grad *j = job;
    (void)thread;
    for (size_t b = from; b < to; b++) {
        size_t first = b * j->sums.block_rows, end = first + j->sums.block_rows;
        heed_real *out = j->sums.partial + b * 2 * COLUMN_STRIP;
        memset(out, 0, 2 * COLUMN_STRIP * sizeof *out);
        if (end > j->sums.rows) end = j->sums.rows;
        for (size_t r = first; r < end; r += TOGETHER) norm_grad_rows(j, out, r, rows_from(r, end));
    }
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
    if (wanted && !both) column_sums(k, &sums, row_terms_part);
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
