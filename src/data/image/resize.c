/* resize.c -- converts channels, and resizes: bilinear with antialiasing, separable: rows first,
 * which run along memory, then columns.
 *
 * Output pixel i of an axis is at center = start + (i + 1/2) scale of the source, scale = box /
 * size; source pixel j weighs triangle((j + 1/2 - center) / radius), radius = max(1, scale),
 * divided by the sum of the weights. Pixels beyond the picture's edge have weight 0. The same as
 * Pillow's resize(box=...) and PyTorch's interpolate(antialias=True). */
#include <heed/image.h>

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

typedef struct {
    double start, scale, radius;
    int limit; /* pixels of the source */
} axis;

static axis axis_of(double start, double length, int size, int limit) {
    double scale = length / size;
    return (axis){start, scale, scale > 1 ? scale : 1, limit};
}

/* Upper bound on the source pixels that one output pixel reads. */
static size_t taps_of(int limit, int size) {
    double scale = (double)limit / size;
    return 2 * (size_t)ceil(scale > 1 ? scale : 1) + 2;
}

static int clip_index(double x, int limit) { return x < 0 ? 0 : x > limit ? limit : (int)x; }

/* The weights of output pixel i; returns their number. first: the source pixel of the first. */
static int weigh(const axis *a, int i, heed_real *weights, int *first) {
    double center = a->start + (i + 0.5) * a->scale, sum = 0;
    int from = clip_index(center - a->radius + 0.5, a->limit - 1);
    int to = clip_index(center + a->radius + 0.5, a->limit);
    for (int j = from; j < to; j++) {
        double w = 1 - fabs(j + 0.5 - center) / a->radius;
        sum += w > 0 ? w : 0;
        weights[j - from] = (heed_real)(w > 0 ? w : 0);
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

size_t heed_resize_work(const heed_picture *p, int width, int height) {
    if (!p || width < 1 || height < 1 || p->width < 1 || p->height < 1) return 0;
    return (size_t)width * (HEAD + taps_of(p->width, width)) + taps_of(p->height, height) +
           (size_t)p->width * (size_t)p->channels;
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

/* Clips to 0 .. limit, also if not a number. */
static void clip(double *start, double *length, int limit) {
    double end = fmin(fmax(*start + *length, 0), limit);
    *start = fmin(fmax(*start, 0), limit);
    *length = end > *start ? end - *start : 0;
}

void heed_picture_resize(const heed_picture *p, heed_box box, int width, int height, heed_real *out,
                         heed_real *work) {
    if (!p || !p->pixels || !out || !work || width < 1 || height < 1) return;
    clip(&box.x, &box.width, p->width);
    clip(&box.y, &box.height, p->height);
    axis across = axis_of(box.x, box.width, width, p->width);
    axis down = axis_of(box.y, box.height, height, p->height);
    columns t = {HEAD + taps_of(p->width, width), work};
    heed_real *weights = work + (size_t)width * t.stride;
    heed_real *row = weights + taps_of(p->height, height);
    for (int i = 0; i < width; i++) {
        heed_real *entry = t.table + (size_t)i * t.stride;
        int first, count = weigh(&across, i, entry + HEAD, &first);
        memcpy(entry, &first, sizeof first);
        memcpy(entry + 1, &count, sizeof count);
    }
    size_t channels = (size_t)p->channels;
    size_t from = (size_t)fmax(floor(box.x - across.radius), 0) * channels;
    size_t to = (size_t)fmin(ceil(box.x + box.width + across.radius), p->width) * channels;
    for (int y = 0; y < height; y++) {
        int first, count = weigh(&down, y, weights, &first);
        blend_rows(p, first, count, weights, row, from, to);
        blend_columns(&t, row, p->channels, width, out + (size_t)y * (size_t)width * channels);
    }
}
