/* vec.c -- elementwise kernels and sums. */
#include "columns.h"
#include "gemm_tile.h"
#include "set.h"
#include "vmath.h"

/* Elementwise work is divided into runs of this many elements. */
#define RUN ((size_t)2048)

/* Long sums request what they read this many elements ahead. */
#define AHEAD 256

static size_t runs(size_t n) { return (n + RUN - 1) / RUN; }

typedef struct {
    heed_act f;
    heed_real *y;
    const heed_real *x, *gy, *fx;
    heed_real a, b;
    size_t n;
} each;

/* A vector at index i of the units [from, to), of which end - i elements exist. */
#define EACH(j)                                                                                    \
    const each *j = job;                                                                           \
    size_t end = to * RUN < j->n ? to * RUN : j->n;                                                \
    (void)thread;                                                                                  \
    for (size_t i = from * RUN; i < end; i += (size_t)VL)

static void fill_part(const void *job, size_t from, size_t to, int thread) {
    EACH(j) put(j->y + i, splat(j->a), end - i);
}
void K(fill)(const heed_kernels *k, heed_real *y, heed_real v, size_t n) {
    heed__share(k, runs(n), 2.0 * (double)n, fill_part, &(each){.y = y, .a = v, .n = n});
}

static void copy_part(const void *job, size_t from, size_t to, int thread) {
    EACH(j) put(j->y + i, get(j->x + i, end - i), end - i);
}
void K(copy)(const heed_kernels *k, heed_real *y, const heed_real *x, size_t n) {
    heed__share(k, runs(n), 2.0 * (double)n, copy_part, &(each){.y = y, .x = x, .n = n});
}

static void axpy_part(const void *job, size_t from, size_t to, int thread) {
    EACH(j) {
        size_t left = end - i;
        put(j->y + i, get(j->y + i, left) + splat(j->a) * get(j->x + i, left), left);
    }
}
void K(axpy)(const heed_kernels *k, heed_real *y, const heed_real *x, heed_real a, size_t n) {
    heed__share(k, runs(n), 4.0 * (double)n, axpy_part, &(each){.y = y, .x = x, .a = a, .n = n});
}

static void scale_part(const void *job, size_t from, size_t to, int thread) {
    EACH(j) put(j->y + i, splat(j->a) * get(j->x + i, end - i) + splat(j->b), end - i);
}
void K(scale)(const heed_kernels *k, heed_real *y, const heed_real *x, heed_real a, heed_real b,
              size_t n) {
    heed__share(k, runs(n), 4.0 * (double)n, scale_part,
                &(each){.y = y, .x = x, .a = a, .b = b, .n = n});
}

INLINE void activate_as(heed_act f, heed_real *y, size_t ldy, const heed_real *x, size_t ldx,
                        int rows, size_t width) {
    for (; rows > 0; rows--, y += ldy, x += ldx)
        for (size_t i = 0; i < width; i += (size_t)VL)
            put(y + i, act_value(f, get(x + i, width - i)), width - i);
}
void K(activate_block)(heed_act f, heed_real *y, size_t ldy, const heed_real *x, size_t ldx,
                       int rows, size_t width) {
    if (f == HEED_IDENTITY && x == y) return;
#define ACT_BODY(f) activate_as(f, y, ldy, x, ldx, rows, width)
    HEED__EACH_ACT(f)
#undef ACT_BODY
}
static void activate_part(const void *job, size_t from, size_t to, int thread) {
    const each *j = job;
    size_t i = from * RUN, end = to * RUN < j->n ? to * RUN : j->n;
    (void)thread;
    K(activate_block)(j->f, j->y + i, 0, j->x + i, 0, 1, end - i);
}
void K(activate)(const heed_kernels *k, heed_act f, heed_real *y, const heed_real *x, size_t n) {
    heed__share(k, runs(n), 16.0 * (double)n, activate_part,
                &(each){.f = f, .y = y, .x = x, .n = n});
}

INLINE void activate_grad_run(heed_act f, const void *job, size_t from, size_t to, int thread) {
    EACH(j) {
        size_t left = end - i;
        vec at = get(j->fx + i, left), gy = get(j->gy + i, left);
        put(j->y + i, act_slope(f, at, at) * gy, left);
    }
}
static void activate_grad_part(const void *job, size_t from, size_t to, int thread) {
#define ACT_BODY(f) activate_grad_run(f, job, from, to, thread)
    HEED__EACH_ACT(((const each *)job)->f)
#undef ACT_BODY
}
void K(activate_grad)(const heed_kernels *k, heed_act f, heed_real *gx, const heed_real *x,
                      const heed_real *y, const heed_real *gy, size_t n) {
    if (f == HEED_IDENTITY) {
        K(copy)(k, gx, gy, n);
        return;
    }
    heed__share(k, runs(n), 24.0 * (double)n, activate_grad_part,
                &(each){.f = f, .y = gx, .fx = heed__act_uses_value(f) ? y : x, .gy = gy, .n = n});
}

/* Sums, as in kernels.h. */
typedef struct {
    const heed_real *x;
    size_t n, step; /* elements of a partial sum */
    double *sum;
} sums;

static double total(const heed_kernels *k, const heed_real *x, size_t n, heed__part *part) {
    double sum[HEED__SUMS], all = 0;
    size_t step = heed__sum_step(n), parts = (n + step - 1) / step;
    heed__share(k, parts, 2.0 * (double)n, part, &(sums){x, n, step, sum});
    for (size_t i = 0; i < parts; i++) all += sum[i];
    return all;
}

INLINE double sum_of(const heed_real *x, size_t n, bool squares) {
    dvec sum[4] = {{0}};
    double lanes[HALF], all = 0;
    size_t i = 0;
    for (; n - i >= 4 * HALF; i += 4 * HALF) {
        UNROLL for (int s = 0; s < 4; s++) {
            dvec v = load_doubles(x + i + s * HALF);
            __builtin_prefetch(address(x, i + (size_t)(AHEAD + s * HALF)));
            sum[s] += squares ? v * v : v;
        }
    }
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    memcpy(lanes, &sum[0], sizeof lanes);
    for (int l = 0; l < HALF; l++) all += lanes[l];
    for (; i < n; i++) all += squares ? (double)x[i] * (double)x[i] : (double)x[i];
    return all;
}

#define SUM_PART(name, squares)                                                                    \
    static void name(const void *job, size_t from, size_t to, int thread) {                        \
        const sums *j = job;                                                                       \
        (void)thread;                                                                              \
        for (size_t s = from; s < to; s++) {                                                       \
            size_t at = s * j->step, left = j->n - at;                                             \
            j->sum[s] = sum_of(j->x + at, left < j->step ? left : j->step, squares);               \
        }                                                                                          \
    }
SUM_PART(sum_part, false)
SUM_PART(squares_part, true)

double K(sum)(const heed_kernels *k, const heed_real *x, size_t n) {
    return total(k, x, n, sum_part);
}
double K(sum_squares)(const heed_kernels *k, const heed_real *x, size_t n) {
    return total(k, x, n, squares_part);
}
double K(some_squares)(const heed_kernels *k, const heed_real *x, size_t n) {
    (void)k;
    return sum_of(x, n, true);
}

/* ---- column sums, alone or in one pass with the backward of an activation ---- */

#define STRIP COLUMN_STRIP

typedef struct {
    heed_act f;
    heed_real *gy;      /* multiplied by f' and summed; NULL: x is summed */
    const heed_real *x; /* what f' is a function of */
    size_t rows, block_rows;
    int stride, strip, width; /* columns [strip, strip + width) */
    heed_real *sum;           /* (blocks, STRIP) */
} column_job;

#if HEED__AVX512 || HEED__AVX2
/* The columns of a row that fill several vectors; returns their number. The next row is requested:
 * it lies too far away for the CPU to foresee it. */
static int gelu_grad_row(const column_job *j, heed_act f, size_t at, heed_real *sum) {
    enum { N = 4, STEP = N * VL };
    int c = 0;
    for (; c + STEP <= j->width; c += STEP) {
        vec v[N];
        heed_real *gy = j->gy + at + (size_t)c;
        UNROLL for (int i = 0; i < N; i++) {
            v[i] = load(j->x + at + (size_t)(c + i * VL));
            __builtin_prefetch(address(j->x, at + (size_t)(j->stride + c + i * VL)));
            __builtin_prefetch(address(gy, (size_t)(j->stride + i * VL)), 1);
        }
        gelu_slopes(f, v, N);
        UNROLL for (int i = 0; i < N; i++) {
            v[i] = v[i] * load(gy + i * VL);
            store(gy + i * VL, v[i]);
            store(sum + c + i * VL, load(sum + c + i * VL) + v[i]);
        }
    }
    return c;
}
#endif

INLINE void columns_block(const column_job *j, heed_act f, size_t block, bool grad) {
    heed_real *sum = j->sum + block * STRIP;
    size_t first = block * j->block_rows, last = first + j->block_rows;
    if (last > j->rows) last = j->rows;
    for (int c = 0; c < j->width; c += VL) store(sum + c, splat(0));
    for (size_t r = first; r < last; r++) {
        size_t at = r * (size_t)j->stride + (size_t)j->strip;
        int c = 0;
#if HEED__AVX512 || HEED__AVX2
        if (grad && (f == HEED_GELU || f == HEED_GELU_TANH)) c = gelu_grad_row(j, f, at, sum);
#endif
        for (; c < j->width; c += VL) {
            size_t i = at + (size_t)c, left = (size_t)(j->width - c);
            vec v = get(j->x + i, left);
            __builtin_prefetch(j->x + i + j->stride);
            if (grad) put(j->gy + i, v = act_slope(f, v, v) * get(j->gy + i, left), left);
            store(sum + c, load(sum + c) + v);
        }
    }
}

static void columns_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t b = from; b < to; b++) columns_block(job, HEED_IDENTITY, b, false);
}
static void grad_part(const void *job, size_t from, size_t to, int thread) {
    (void)thread;
    for (size_t b = from; b < to; b++) {
#define ACT_BODY(f) columns_block(job, f, b, true)
        HEED__EACH_ACT(((const column_job *)job)->f)
#undef ACT_BODY
    }
}

static void add_columns(const heed_kernels *k, column_job *j, heed_real *out, heed__part *part) {
    _Alignas(64) heed_real sum[COLUMN_BLOCKS * STRIP];
    size_t blocks = column_blocks(j->rows, &j->block_rows);
    j->sum = sum;
    for (j->strip = 0; j->strip < j->stride; j->strip += STRIP) {
        int left = j->stride - j->strip;
        j->width = left < STRIP ? left : STRIP;
        double work = (j->gy ? 24.0 : 4.0) * (double)j->rows * j->width;
        heed__share(k, blocks, work, part, j);
        add_blocks(out ? out + j->strip : NULL, sum, STRIP, blocks, j->width);
    }
}

void K(sum_rows)(const heed_kernels *k, heed_real *gy, const heed_real *x, size_t rows, int c) {
    add_columns(k, &(column_job){.x = x, .rows = rows, .stride = c}, gy, columns_part);
}

void K(activate_grad_rows)(const heed_kernels *k, heed_act f, heed_real *gy, heed_real *gb,
                           const heed_real *x, const heed_real *y, size_t rows, int c) {
    column_job j = {
        .f = f, .gy = gy, .x = heed__act_uses_value(f) ? y : x, .rows = rows, .stride = c};
    add_columns(k, &j, gb, grad_part);
}
