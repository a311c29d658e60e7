/* Pooling, channels last: windows of pixels, vectors of channels. */
#include "set.h"

typedef struct {
    heed_real *y;
    int32_t *from;
    const heed_real *x;
    const int32_t *taken;
    const heed_pool_job *j;
} pool;

/* The part of a window that lies in the image. */
typedef struct {
    int row, rows_end, col, cols_end;
} window;

static window window_at(const heed_pool_job *j, size_t pixel) {
    int row = (int)(pixel / (size_t)j->ow) * j->stride[0] - j->pad[0];
    int col = (int)(pixel % (size_t)j->ow) * j->stride[1] - j->pad[1];
    int below = row + j->size[0], right = col + j->size[1];
    return (window){row < 0 ? 0 : row, below < j->h ? below : j->h, col < 0 ? 0 : col,
                    right < j->w ? right : j->w};
}
static size_t in_pixels(const heed_pool_job *j) { return (size_t)j->h * (size_t)j->w; }
static size_t out_pixels(const heed_pool_job *j) { return (size_t)j->oh * (size_t)j->ow; }
/* Output rows are the units of what reads, images of what adds: windows may overlap. */
static size_t lines(const heed_pool_job *j) { return (size_t)j->batch * (size_t)j->oh; }
static double work_of(const heed_pool_job *j) {
    return (double)j->batch * (double)out_pixels(j) * j->c * j->size[0] * j->size[1];
}

static void put_indices(int32_t *to, ivec v, size_t left) {
    heed_lane lanes[VL];
    memcpy(lanes, &v, sizeof v);
    for (size_t i = 0; i < VL && i < left; i++) to[i] = (int32_t)lanes[i];
}

/* The first of the largest of a window, in channels [i, i + VL); NaN counts as the largest. */
INLINE vec largest(const heed_pool_job *j, const heed_real *x, window w, size_t left, ivec *from) {
    size_t c = (size_t)j->c;
    heed_lane first = w.row * j->w + w.col;
    vec best = get(x + (size_t)first * c, left), at = (vec)isplat(first);
    for (int r = w.row; r < w.rows_end; r++)
        for (int q = w.col; q < w.cols_end; q++) {
            heed_lane pixel = r * j->w + q;
            vec v = get(x + (size_t)pixel * c, left);
            vmask number = eq(best, best), holds = ge(best, v); /* v may be NaN */
            at = pick(number, pick(holds, at, (vec)isplat(pixel)), at);
            best = pick(number, pick(holds, best, v), best);
        }
    *from = (ivec)at;
    return best;
}

static void max_part(const void *job, size_t from, size_t to, int thread) {
    const pool *p = job;
    const heed_pool_job *j = p->j;
    size_t c = (size_t)j->c, ow = (size_t)j->ow;
    (void)thread;
    for (size_t pixel = from * ow; pixel < to * ow; pixel++) {
        window w = window_at(j, pixel % out_pixels(j));
        const heed_real *x = p->x + pixel / out_pixels(j) * in_pixels(j) * c;
        for (size_t i = 0; i < c; i += VL) {
            ivec at;
            put(p->y + pixel * c + i, largest(j, x + i, w, c - i, &at), c - i);
            put_indices(p->from + pixel * c + i, at, c - i);
        }
    }
}
void K(max_pool)(const heed_kernels *k, heed_real *y, int32_t *from, const heed_real *x,
                 const heed_pool_job *j) {
    heed__share(k, lines(j), 4 * work_of(j), max_part,
                &(pool){.y = y, .from = from, .x = x, .j = j});
}

static void max_grad_part(const void *job, size_t from, size_t to, int thread) {
    const pool *p = job;
    const heed_pool_job *j = p->j;
    size_t c = (size_t)j->c;
    (void)thread;
    for (size_t pixel = from * out_pixels(j); pixel < to * out_pixels(j); pixel++) {
        heed_real *gx = p->y + pixel / out_pixels(j) * in_pixels(j) * c;
        for (size_t i = 0; i < c; i++)
            gx[(size_t)p->taken[pixel * c + i] * c + i] += p->x[pixel * c + i];
    }
}
void K(max_pool_grad)(const heed_kernels *k, heed_real *gx, const int32_t *from,
                      const heed_real *gy, const heed_pool_job *j) {
    heed__share(k, (size_t)j->batch, work_of(j), max_grad_part,
                &(pool){.y = gx, .taken = from, .x = gy, .j = j});
}

static heed_real share_of(const heed_pool_job *j) {
    return (heed_real)(1.0 / ((double)j->size[0] * j->size[1]));
}

static void avg_part(const void *job, size_t from, size_t to, int thread) {
    const pool *p = job;
    const heed_pool_job *j = p->j;
    size_t c = (size_t)j->c, ow = (size_t)j->ow;
    (void)thread;
    for (size_t pixel = from * ow; pixel < to * ow; pixel++) {
        window w = window_at(j, pixel % out_pixels(j));
        const heed_real *x = p->x + pixel / out_pixels(j) * in_pixels(j) * c;
        for (size_t i = 0; i < c; i += VL) {
            vec sum = splat(0);
            for (int r = w.row; r < w.rows_end; r++)
                for (int q = w.col; q < w.cols_end; q++)
                    sum += get(x + (size_t)(r * j->w + q) * c + i, c - i);
            put(p->y + pixel * c + i, sum * splat(share_of(j)), c - i);
        }
    }
}
void K(avg_pool)(const heed_kernels *k, heed_real *y, const heed_real *x, const heed_pool_job *j) {
    heed__share(k, lines(j), work_of(j), avg_part, &(pool){.y = y, .x = x, .j = j});
}

static void avg_grad_part(const void *job, size_t from, size_t to, int thread) {
    const pool *p = job;
    const heed_pool_job *j = p->j;
    size_t c = (size_t)j->c;
    (void)thread;
    for (size_t pixel = from * out_pixels(j); pixel < to * out_pixels(j); pixel++) {
        window w = window_at(j, pixel % out_pixels(j));
        heed_real *gx = p->y + pixel / out_pixels(j) * in_pixels(j) * c;
        for (size_t i = 0; i < c; i += VL) {
            vec g = get(p->x + pixel * c + i, c - i) * splat(share_of(j));
            for (int r = w.row; r < w.rows_end; r++)
                for (int q = w.col; q < w.cols_end; q++) {
                    heed_real *at = gx + (size_t)(r * j->w + q) * c + i;
                    put(at, get(at, c - i) + g, c - i);
                }
        }
    }
}
void K(avg_pool_grad)(const heed_kernels *k, heed_real *gx, const heed_real *gy,
                      const heed_pool_job *j) {
    heed__share(k, (size_t)j->batch, 2 * work_of(j), avg_grad_part,
                &(pool){.y = gx, .x = gy, .j = j});
}
