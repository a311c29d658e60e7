/* resize.c -- converts channels, and resizes: a filter with antialiasing along each axis.
 *
 * Output pixel i of an axis is at center = start + (i + 1/2) scale of the source, scale = box /
 * size; source pixel j weighs filter((j + 1/2 - center) / max(1, scale)), divided by the sum of the
 * weights. Pixels beyond the picture's edge have weight 0. Columns are blended first, then rows:
 * the same as Pillow's resize(box=...) of numbers and PyTorch's interpolate(antialias=True).
 *
 * Pictures of bytes are resized by Pillow 13 in whole levels from 0 to 255 after each axis, rows
 * first, or columns first if the height shrinks by more than twice as many pixels as the width. */
#include "data/image/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- channels: removes alpha and colour, or repeats grey ---- */

/* v over white: v a + 255 (1 - a), with alpha 0 .. 255 as a = 0 .. 1. */
static unsigned over_white(unsigned v, unsigned alpha) {
    return (v * alpha + 255 * (255 - alpha) + 127) / 255;
}

/* ITU-R BT.601, in 2^-16: 0.299 R + 0.587 G + 0.114 B, rounded. */
static unsigned grey_of(const unsigned rgb[3]) {
    return (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + (1u << 15)) >> 16;
}

static void convert_pixel(const unsigned char *from, int before, unsigned char *to, int after) {
    bool colour = before >= 3, alpha = before % 2 == 0;
    unsigned rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = from[colour ? i : 0];
        if (alpha) rgb[i] = over_white(rgb[i], from[before - 1]);
    }
    if (after == 1)
        to[0] = (unsigned char)(colour ? grey_of(rgb) : rgb[0]);
    else
        for (int i = 0; i < 3; i++) to[i] = (unsigned char)rgb[i];
}

heed_status heed_picture_convert(heed_picture *p, int channels) {
    if (!p || !p->pixels || (channels != 1 && channels != 3)) return HEED_USAGE;
    if (p->channels == channels) return HEED_OK;
    size_t pixels = (size_t)p->width * (size_t)p->height, before = (size_t)p->channels;
    unsigned char *to = malloc(pixels * (size_t)channels);
    if (!to) return HEED_FAILED;
    for (size_t i = 0; i < pixels; i++)
        convert_pixel(p->pixels + i * before, p->channels, to + i * (size_t)channels, channels);
    free(p->pixels);
    p->pixels = to;
    p->channels = channels;
    return HEED_OK;
}

/* ---- size ---- */

#define PI 3.14159265358979323846
static const double reach[] = {1, 2, 3, 0.5}; /* of a filter, at scale 1 */

static double sinc(double x) { return x == 0 ? 1 : sin(PI * x) / (PI * x); }

static double weight_at(heed_filter filter, double x) {
    x = fabs(x);
    if (filter == HEED_NEAREST) return 1;
    if (x >= reach[filter]) return 0;
    if (filter == HEED_BILINEAR) return 1 - x;
    if (filter == HEED_LANCZOS) return sinc(x) * sinc(x / 3);
    return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((2.5 - 0.5 * x) * x - 4) * x + 2; /* bicubic */
}

/* `size` pixels are wanted, `first` those before them; the source has `limit`. */
typedef struct {
    heed_filter filter;
    double start, scale;
    int first, size, limit;
} axis;

static double stretch(const axis *a) { return a->scale > 1 ? a->scale : 1; }

/* Upper bound on the source pixels that one output pixel reads. */
static size_t taps_of(const axis *a) { return 2 * (size_t)ceil(reach[a->filter] * stretch(a)) + 2; }

static int clip_index(double x, int limit) { return x < 0 ? 0 : x > limit ? limit : (int)x; }

/* The weights of output pixel i; returns their number. first: the source pixel of the first. */
static int weigh(const axis *a, int i, heed_real *weights, int *first) {
    double center = a->start + (a->first + i + 0.5) * a->scale, wide = stretch(a), sum = 0;
    double radius = reach[a->filter] * wide;
    int from = clip_index(center - radius + 0.5, a->limit - 1);
    int to = clip_index(center + radius + 0.5, a->limit);
    if (a->filter == HEED_NEAREST) from = clip_index(center, a->limit - 1), to = from + 1;
    for (int j = from; j < to; j++) {
        double w = weight_at(a->filter, (j + 0.5 - center) / wide);
        weights[j - from] = (heed_real)w;
        sum += w;
    }
    for (int j = from; j < to; j++) weights[j - from] /= (heed_real)sum;
    *first = from;
    return to - from;
}

/* For each output pixel of an axis its first source pixel, their number, the weights. */
typedef struct {
    size_t stride; /* numbers per output pixel */
    heed_real *table;
} columns;

enum { HEAD = 2 }; /* first and count, stored as ints in the space of numbers */

static columns columns_of(const axis *a, heed_real *table) {
    columns t = {HEAD + taps_of(a), table};
    for (int i = 0; i < a->size; i++) {
        heed_real *entry = table + (size_t)i * t.stride;
        int first, count = weigh(a, i, entry + HEAD, &first);
        memcpy(entry, &first, sizeof first);
        memcpy(entry + 1, &count, sizeof count);
    }
    return t;
}

/* row[x] = sum of weights[k] pixels[(first + k) row][x], for the numbers from .. to-1 of a row. */
static void blend_rows(const heed_picture *p, int first, int count, const heed_real *weights,
                       heed_real *restrict row, size_t from, size_t to) {
    size_t stride = (size_t)p->width * (size_t)p->channels;
    const unsigned char *restrict pixels = p->pixels + (size_t)first * stride;
    for (size_t x = from; x < to; x++) row[x] = weights[0] * (heed_real)pixels[x];
    for (int k = 1; k < count; k++) {
        pixels += stride;
        for (size_t x = from; x < to; x++) row[x] += weights[k] * (heed_real)pixels[x];
    }
}

static inline void blend_columns_of(const columns *t, const heed_real *row, int channels, int width,
                                    heed_real *out) {
    for (int i = 0; i < width; i++, out += channels) {
        const heed_real *entry = t->table + (size_t)i * t->stride, *weights = entry + HEAD;
        int first, count;
        memcpy(&first, entry, sizeof first);
        memcpy(&count, entry + 1, sizeof count);
        const heed_real *from = row + (size_t)first * (size_t)channels;
        heed_real sum[4] = {0};
        for (int k = 0; k < count; k++, from += channels)
            for (int c = 0; c < channels; c++) sum[c] += weights[k] * from[c];
        for (int c = 0; c < channels; c++) out[c] = sum[c];
    }
}

/* The common numbers of channels are constants to the compiler. */
static void blend_columns(const columns *t, const heed_real *row, int channels, int width,
                          heed_real *out) {
    if (channels == 1)
        blend_columns_of(t, row, 1, width, out);
    else if (channels == 3)
        blend_columns_of(t, row, 3, width, out);
    else
        blend_columns_of(t, row, channels, width, out);
}

static heed_real level(heed_real x) {
    return x < 0 ? 0 : x > 255 ? 255 : (heed_real)floor((double)x + 0.5);
}

static size_t work_of(const heed_picture *p, const axis *across, const axis *down) {
    size_t row = (size_t)(p->width > across->size ? p->width : across->size) * (size_t)p->channels;
    return (size_t)across->size * (HEAD + taps_of(across)) + taps_of(down) + row;
}

/* Columns first. levels: round to whole levels after each axis. */
static void resize(const heed_picture *p, const axis *across, const axis *down, bool levels,
                   heed_real *out, heed_real *work) {
    columns t = columns_of(across, work);
    heed_real *weights = work + (size_t)across->size * t.stride, *row = weights + taps_of(down);
    size_t channels = (size_t)p->channels, wide = (size_t)across->size * channels;
    double radius = reach[across->filter] * stretch(across);
    double left = across->start + across->first * across->scale;
    size_t from = (size_t)fmax(floor(left - radius), 0) * channels;
    size_t to =
        (size_t)fmin(ceil(left + across->size * across->scale + radius), p->width) * channels;
    for (int y = 0; y < down->size; y++, out += wide) {
        int first, count = weigh(down, y, weights, &first);
        blend_rows(p, first, count, weights, row, from, to);
        for (size_t x = from; levels && x < to; x++) row[x] = level(row[x]);
        blend_columns(&t, row, p->channels, across->size, out);
        for (size_t x = 0; levels && x < wide; x++) out[x] = level(out[x]);
    }
}

/* Rows first, in whole levels: middle, bytes, becomes a picture as wide as the result. */
static void resize_rows_first(const heed_picture *p, const axis *across, const axis *down,
                              unsigned char *middle, heed_real *out, heed_real *work) {
    columns t = columns_of(across, work);
    heed_real *weights = work + (size_t)across->size * t.stride, *row = weights + taps_of(down);
    size_t wide = (size_t)across->size * (size_t)p->channels;
    for (int y = 0; y < p->height; y++) {
        const heed_real whole = 1;
        blend_rows(p, y, 1, &whole, row, 0, (size_t)p->width * (size_t)p->channels);
        blend_columns(&t, row, p->channels, across->size, out);
        for (size_t x = 0; x < wide; x++)
            middle[(size_t)y * wide + x] = (unsigned char)level(out[x]);
    }
    heed_picture half = {across->size, p->height, p->channels, middle};
    for (int y = 0; y < down->size; y++, out += wide) {
        int first, count = weigh(down, y, weights, &first);
        blend_rows(&half, first, count, weights, out, 0, wide);
        for (size_t x = 0; x < wide; x++) out[x] = level(out[x]);
    }
}

/* Clips to 0 .. limit, also if not a number. */
static axis axis_of(double start, double length, int size, int limit) {
    double end = fmin(fmax(start + length, 0), limit);
    start = fmin(fmax(start, 0), limit);
    return (axis){HEED_BILINEAR, start, end > start ? (end - start) / size : 0, 0, size, limit};
}

size_t heed_resize_work(const heed_picture *p, int width, int height) {
    if (!p || width < 1 || height < 1 || p->width < 1 || p->height < 1) return 0;
    axis across = axis_of(0, p->width, width, p->width),
         down = axis_of(0, p->height, height, p->height);
    return work_of(p, &across, &down);
}

void heed_picture_resize(const heed_picture *p, heed_box box, int width, int height, heed_real *out,
                         heed_real *work) {
    if (!p || !p->pixels || !out || !work || width < 1 || height < 1) return;
    axis across = axis_of(box.x, box.width, width, p->width);
    axis down = axis_of(box.y, box.height, height, p->height);
    resize(p, &across, &down, false, out, work);
}

/* The sides of the whole picture as Pillow resizes it: the long one by the same factor as the short
 * one, rounded down. */
static int side_of(const heed_image_transform *v, int side, const heed_picture *p) {
    int least = p->width < p->height ? p->width : p->height, to = v->resize_to;
    if (to == 0) to = v->size;
    return to < 0 ? v->size : side == least ? to : (int)fmin((double)to * side / least, 1 << 30);
}

/* The crop of the centre begins at a whole pixel. */
static axis centre_of(const heed_image_transform *v, int side, const heed_picture *p) {
    int to = side_of(v, side, p);
    return (axis){v->filter, 0, (double)side / to, (to - v->size) / 2, v->size, side};
}

size_t heed__resample_work(const heed_picture *p, const heed_image_transform *v) {
    axis across = centre_of(v, p->width, p), down = centre_of(v, p->height, p);
    size_t middle = (size_t)p->height * (size_t)v->size * (size_t)p->channels;
    return work_of(p, &across, &down) + middle / sizeof(heed_real) + 1;
}

void heed__resample(const heed_picture *p, const heed_image_transform *v, heed_real *out,
                    heed_real *work) {
    axis across = centre_of(v, p->width, p), down = centre_of(v, p->height, p);
    int narrower = p->width - side_of(v, p->width, p);
    int shorter = p->height - side_of(v, p->height, p);
    unsigned char *middle = (unsigned char *)(work + work_of(p, &across, &down));
    if (shorter > 0 && shorter > 2 * narrower)
        resize(p, &across, &down, true, out, work);
    else
        resize_rows_first(p, &across, &down, middle, out, work);
}
