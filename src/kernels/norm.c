/* norm.c -- normalisation over rows (Ba et al. 2016) and columns (Ioffe & Szegedy 2015). */
#include "columns.h"
#include "set.h"
#include "vmath.h"

typedef heed_norm_job norm;

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
    const heed_real *x = j->x + r * (size_t)j->c;
    vec sum = {0};
    for (int i = 0; i < j->c; i += VL) sum += get(x + i, (size_t)(j->c - i));
    return sum_lanes(sum) / (heed_real)j->c;
}
INLINE heed_real row_variance(const norm *j, size_t r, heed_real mean) {
    const heed_real *x = j->x + r * (size_t)j->c;
    vec squares = {0};
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        vec d = centred(get(x + i, left), mean, left);
        squares += d * d;
    }
    return sum_lanes(squares) / (heed_real)j->c;
}
INLINE void normalize_row(const norm *j, size_t r, heed_real mean, heed_real rstd) {
    const heed_real *x = j->x + r * (size_t)j->c;
    heed_real *y = j->y + r * (size_t)j->c;
    for (int i = 0, c = j->c; i < c; i += VL) {
        size_t left = (size_t)(c - i);
        vec hat = (get(x + i, left) - splat(mean)) * splat(rstd);
        put(y + i, hat * or_else(j->gain, i, left, 1) + or_else(j->bias, i, left, 0), left);
    }
}
static void layer_norm_rows(const norm *j, size_t first, int rows) {
    heed_real mean[TOGETHER] = {0}, rstd[TOGETHER];
    for (int r = 0; j->mean && r < rows; r++)
        j->mean[first + (size_t)r] = mean[r] = row_mean(j, first + (size_t)r);
    for (int r = 0; r < rows; r++) rstd[r] = row_variance(j, first + (size_t)r, mean[r]) + j->eps;
    for (int r = 0; r < rows; r++)
        j->rstd[first + (size_t)r] = rstd[r] = (heed_real)(1 / sqrt((double)rstd[r]));
    for (int r = 0; r < rows; r++) normalize_row(j, first + (size_t)r, mean[r], rstd[r]);
}
static void layer_norm_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t r = from; r < to; r += TOGETHER) layer_norm_rows(job, r, rows_from(r, to));
}
void K(layer_norm)(const heed_kernels *k, const heed_norm_job *j) {
    heed__share(k, j->rows, 10.0 * (double)j->rows * j->c, layer_norm_part, j);
}

INLINE heed_real mean_of(const heed_real *mean, size_t r) { return mean ? mean[r] : 0; }

/* For g = gy gain, the means in gx = or += rstd (g - mean(g) - xhat mean(g xhat)), the second one
 * times rstd. RMS norm subtracts neither mean. */
INLINE void row_means(const norm *j, size_t r, heed_real means[2]) {
    const heed_real *x = j->x + r * (size_t)j->c, *gy = j->gy + r * (size_t)j->c;
    heed_real mean = mean_of(j->mean, r), rstd = j->rstd[r];
    vec sum = {0}, dot = {0};
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i);
        __builtin_prefetch(address(x, (size_t)TOGETHER * (size_t)j->c + (size_t)i));
        vec g = get(gy + i, left) * or_else(j->gain, i, left, 1);
        sum += g;
        dot += g * centred(get(x + i, left), mean, left);
    }
    means[0] = j->mean ? sum_lanes(sum) / (heed_real)j->c : 0;
    means[1] = sum_lanes(dot) * rstd * rstd / (heed_real)j->c;
}
INLINE void grad_row(const norm *j, size_t r, const heed_real means[2]) {
    const heed_real *x = j->x + r * (size_t)j->c, *gy = j->gy + r * (size_t)j->c;
    heed_real *gx = j->gx + r * (size_t)j->c, mean = mean_of(j->mean, r), rstd = j->rstd[r];
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
    const norm *rows;
} norm_grad;

static void norm_grad_rows(const norm_grad *j, heed_real *out, size_t first, int rows) {
    layer_norm_grad_rows(j->rows, first, rows);
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

static heed__columns columns_of(const norm *j) {
    return (heed__columns){.rows = j->rows,
                           .stride = (size_t)j->c,
                           .width = j->c,
                           .x = j->x,
                           .gy = j->gy,
                           .mean = j->mean,
                           .rstd = j->rstd,
                           .out = {j->gbias, j->ggain}};
}

void K(layer_norm_grad)(const heed_kernels *k, const heed_norm_job *j) {
    norm_grad both = {columns_of(j), j};
    bool wanted = j->ggain || j->gbias;
    if (wanted && j->gx && j->c <= COLUMN_STRIP) {
        column_sums(k, &both.sums, norm_grad_part);
        return;
    }
    if (wanted) column_sums(k, &both.sums, row_terms_part);
    if (j->gx) heed__share(k, j->rows, 12.0 * (double)j->rows * j->c, layer_norm_grad_part, j);
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

static void batch_norm_row(const void *job, size_t r) {
    const norm *j = job;
    for (int i = 0; i < j->c; i += VL) {
        size_t left = (size_t)(j->c - i), at = r * (size_t)j->c + (size_t)i;
        vec hat = (get(j->x + at, left) - get(j->mean + i, left)) * get(j->rstd + i, left);
        put(j->y + at, hat * or_else(j->gain, i, left, 1) + or_else(j->bias, i, left, 0), left);
    }
}
HEED__PART(batch_norm_part, batch_norm_row)
void K(batch_norm)(const heed_kernels *k, const heed_norm_job *j) {
    heed__share(k, j->rows, 6.0 * (double)j->rows * j->c, batch_norm_part, j);
}

/* The terms gy and gy xhat, with the column's statistics. */
INLINE void column_terms(const heed__columns *j, size_t r, int c, size_t left, vec term[2]) {
    size_t at = r * j->stride + (size_t)c;
    term[0] = get(j->gy + at, left);
    term[1] = term[0] * (get(j->x + at, left) - get(j->mean + c, left)) * get(j->rstd + c, left);
}
HEED__COLUMN_PART(column_terms_part, column_terms)

/* The columns [from, from + width). */
typedef struct {
    const norm *j;
    int from, width;
    const heed_real *mean_gy, *mean_gx; /* means of gy and of gy xhat */
} strip;

/* gx = or += gain rstd (gy - mean(gy) - xhat mean(gy xhat)); the means are subtracted only if the
 * statistics are the batch's. */
static void batch_norm_grad_row(const void *job, size_t r) {
    const strip *s = job;
    const norm *j = s->j;
    for (int i = 0; i < s->width; i += VL) {
        int c = s->from + i;
        size_t left = (size_t)(s->width - i), at = r * (size_t)j->c + (size_t)c;
        vec rstd = get(j->rstd + c, left), g = get(j->gy + at, left);
        if (j->batch) {
            vec hat = (get(j->x + at, left) - get(j->mean + c, left)) * rstd;
            g = g - get(s->mean_gy + i, left) - hat * get(s->mean_gx + i, left);
        }
        g = g * rstd * or_else(j->gain, c, left, 1);
        put(j->gx + at, j->add ? get(j->gx + at, left) + g : g, left);
    }
}
HEED__PART(batch_norm_grad_part, batch_norm_grad_row)

static void add_to(heed_real *y, const heed_real *x, int n) {
    for (int i = 0; y && i < n; i++) y[i] += x[i];
}

void K(batch_norm_grad)(const heed_kernels *k, const heed_norm_job *j) {
    for (int i = 0; i < j->c; i += COLUMN_STRIP) {
        heed_real sum_gy[COLUMN_STRIP] = {0}, sum_gx[COLUMN_STRIP] = {0};
        int width = j->c - i < COLUMN_STRIP ? j->c - i : COLUMN_STRIP;
        heed__columns sums = columns_of(j);
        sums.width = width;
        sums.x += i, sums.gy += i, sums.mean += i, sums.rstd += i;
        sums.out[0] = sum_gy, sums.out[1] = sum_gx;
        column_sums(k, &sums, column_terms_part);
        add_to(j->gbias ? j->gbias + i : NULL, sum_gy, width);
        add_to(j->ggain ? j->ggain + i : NULL, sum_gx, width);
        if (!j->gx) continue;
        divide(sum_gy, j->rows, width);
        divide(sum_gx, j->rows, width);
        heed__share(k, j->rows, 10.0 * (double)j->rows * width, batch_norm_grad_part,
                    &(strip){j, i, width, sum_gy, sum_gx});
    }
}
