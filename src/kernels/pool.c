/* pool.c -- pooling, channels last: windows of pixels, vectors of channels. */
#include "set.h"

/* The part of a window that is inside the image. */
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

/* Units are strips of channels: of output lines; in backward of images, as windows may overlap. */
#define STRIP ((size_t)64)
static size_t strips(const heed_pool_job *j) { return (j->c + STRIP - 1) / STRIP; }

/* A unit of several output pixels of a strip. */
typedef struct {
    size_t first, last; /* output pixels, counted over all images */
    size_t begin, end;  /* channels */
} piece;

static piece piece_at(const heed_pool_job *j, size_t unit, size_t pixels) {
    size_t at = unit / strips(j) * pixels, c = unit % strips(j) * STRIP;
    return (piece){at, at + pixels, c, c + STRIP < j->c ? c + STRIP : j->c};
}

static double work_of(const heed_pool_job *j) {
    return (double)j->batch * (double)out_pixels(j) * (double)j->c * j->size[0] * j->size[1];
}
static void share_lines(const heed_kernels *k, heed__part *part, const heed_pool_job *j) {
    heed__share(k, j->batch * (size_t)j->oh * strips(j), 4 * work_of(j), part, j);
}
static void share_images(const heed_kernels *k, heed__part *part, const heed_pool_job *j) {
    heed__share(k, j->batch * strips(j), 2 * work_of(j), part, j);
}

/* ---- maximum ---- */

static void put_indices(int32_t *to, ivec v, size_t left) {
    heed_lane lanes[VL];
    memcpy(lanes, &v, sizeof v);
    for (size_t i = 0; i < VL && i < left; i++) to[i] = (int32_t)lanes[i];
}

/* The first of the largest of a window, in channels [i, i + VL); NaN counts as the largest. */
INLINE vec largest(const heed_pool_job *j, const heed_real *x, window w, size_t left, ivec *from) {
    heed_lane first = w.row * j->w + w.col;
    vec best = get(x + (size_t)first * j->c, left), at = (vec)isplat(first);
    for (int r = w.row; r < w.rows_end; r++)
        for (int q = w.col; q < w.cols_end; q++) {
            heed_lane pixel = r * j->w + q;
            vec v = get(x + (size_t)pixel * j->c, left);
            vmask number = eq(best, best), holds = ge(best, v); /* v may be NaN */
            at = pick(number, pick(holds, at, (vec)isplat(pixel)), at);
            best = pick(number, pick(holds, best, v), best);
        }
    *from = (ivec)at;
    return best;
}

static void max_unit(const void *job, size_t u) {
    const heed_pool_job *j = job;
    piece s = piece_at(j, u, (size_t)j->ow);
    for (size_t pixel = s.first; pixel < s.last; pixel++) {
        window w = window_at(j, pixel % out_pixels(j));
        const heed_real *x = j->x + pixel / out_pixels(j) * in_pixels(j) * j->c;
        for (size_t i = s.begin; i < s.end; i += VL) {
            ivec at;
            put(j->y + pixel * j->c + i, largest(j, x + i, w, s.end - i, &at), s.end - i);
            put_indices(j->from + pixel * j->c + i, at, s.end - i);
        }
    }
}
HEED__PART(max_part, max_unit)
void K(max_pool)(const heed_kernels *k, const heed_pool_job *j) { share_lines(k, max_part, j); }

static void max_grad_unit(const void *job, size_t u) {
    const heed_pool_job *j = job;
    piece s = piece_at(j, u, out_pixels(j));
    for (size_t pixel = s.first; pixel < s.last; pixel++) {
        heed_real *gx = j->x + pixel / out_pixels(j) * in_pixels(j) * j->c;
        for (size_t i = s.begin; i < s.end; i++)
            gx[(size_t)j->from[pixel * j->c + i] * j->c + i] += j->y[pixel * j->c + i];
    }
}
HEED__PART(max_grad_part, max_grad_unit)
void K(max_pool_grad)(const heed_kernels *k, const heed_pool_job *j) {
    share_images(k, max_grad_part, j);
}

/* ---- sum ---- */

INLINE vec sum_of(const heed_pool_job *j, const heed_real *x, window w, size_t left) {
    vec sum = splat(0);
    for (int r = w.row; r < w.rows_end; r++)
        for (int q = w.col; q < w.cols_end; q++)
            sum += get(x + ((size_t)r * (size_t)j->w + (size_t)q) * j->c, left);
    return sum;
}
/* For one channel, whose pixels are contiguous. */
static heed_real sum_of_one(const heed_pool_job *j, const heed_real *x, window w) {
    vec sum = splat(0);
    for (int r = w.row; r < w.rows_end; r++)
        for (int q = w.col; q < w.cols_end; q += VL)
            sum += get(x + (size_t)r * (size_t)j->w + (size_t)q, (size_t)(w.cols_end - q));
    return sum_lanes(sum);
}
static void sum_unit(const void *job, size_t u) {
    const heed_pool_job *j = job;
    piece s = piece_at(j, u, (size_t)j->ow);
    for (size_t pixel = s.first; pixel < s.last; pixel++) {
        window w = window_at(j, pixel % out_pixels(j));
        const heed_real *x = j->x + pixel / out_pixels(j) * in_pixels(j) * j->c;
        heed_real *y = j->y + pixel * j->c;
        if (j->c == 1) *y = j->scale * sum_of_one(j, x, w);
        for (size_t i = s.begin; j->c > 1 && i < s.end; i += VL)
            put(y + i, splat(j->scale) * sum_of(j, x + i, w, s.end - i), s.end - i);
    }
}
HEED__PART(sum_part, sum_unit)
void K(sum_pool)(const heed_kernels *k, const heed_pool_job *j) { share_lines(k, sum_part, j); }

INLINE void add_to(heed_real *gx, vec g, size_t left) { put(gx, get(gx, left) + g, left); }

static void sum_grad_pixel(const heed_pool_job *j, size_t pixel, const piece *s) {
    window w = window_at(j, pixel % out_pixels(j));
    heed_real *gx = j->x + pixel / out_pixels(j) * in_pixels(j) * j->c;
    const heed_real *gy = j->y + pixel * j->c;
    for (int r = w.row; r < w.rows_end; r++) {
        heed_real *line = gx + (size_t)r * (size_t)j->w * j->c;
        for (int q = w.col; j->c == 1 && q < w.cols_end; q += VL)
            add_to(line + q, splat(*gy * j->scale), (size_t)(w.cols_end - q));
        for (int q = w.col; j->c > 1 && q < w.cols_end; q++)
            for (size_t i = s->begin; i < s->end; i += VL)
                add_to(line + (size_t)q * j->c + i, get(gy + i, s->end - i) * splat(j->scale),
                       s->end - i);
    }
}
static void sum_grad_unit(const void *job, size_t u) {
    const heed_pool_job *j = job;
    piece s = piece_at(j, u, out_pixels(j));
    for (size_t pixel = s.first; pixel < s.last; pixel++) sum_grad_pixel(j, pixel, &s);
}
HEED__PART(sum_grad_part, sum_grad_unit)
void K(sum_pool_grad)(const heed_kernels *k, const heed_pool_job *j) {
    share_images(k, sum_grad_part, j);
}
