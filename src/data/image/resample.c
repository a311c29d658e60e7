/* resample.c -- resizes and crops as Pillow and torchvision do: a filter with antialiasing, first
 * along the rows, then along the columns, each rounded to whole levels from 0 to 255. Output pixel
 * i of an axis weighs source pixel j by filter((j + 1/2 - (i + 1/2) scale) / max(1, scale)),
 * divided by the sum of the weights. */
#include "data/image/image.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
static const double reach[] = {1, 2, 3, 0.5}; /* of a filter, at scale 1 */

static double sinc(double x) { return x == 0 ? 1 : sin(PI * x) / (PI * x); }

static double weight_at(heed_filter filter, double x) {
    x = fabs(x);
    if (x >= reach[filter]) return 0;
    if (filter == HEED_BILINEAR) return 1 - x;
    if (filter == HEED_LANCZOS) return sinc(x) * sinc(x / 3);
    return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((2.5 - 0.5 * x) * x - 4) * x + 2; /* bicubic */
}

/* An axis: `from` pixels become `to`, of which `size` are wanted from `first` on. */
typedef struct {
    heed_filter filter;
    int from, to, first, size;
} axis;

static double radius_of(const axis *a) {
    double scale = (double)a->from / a->to;
    return reach[a->filter] * (scale > 1 ? scale : 1);
}

/* Weights of wanted pixel i; returns their number. first: the source pixel of the first. */
static int weigh(const axis *a, int i, heed_real *weights, int *first) {
    double scale = (double)a->from / a->to, wide = scale > 1 ? scale : 1, sum = 0;
    double center = (a->first + i + 0.5) * scale, radius = radius_of(a);
    int from = (int)fmax(center - radius + 0.5, 0), to = (int)fmin(center + radius + 0.5, a->from);
    if (a->filter == HEED_NEAREST) from = (int)fmin(center, a->from - 1), to = from + 1;
    for (int j = from; j < to; j++) {
        double w = a->filter == HEED_NEAREST ? 1 : weight_at(a->filter, (j + 0.5 - center) / wide);
        weights[j - from] = (heed_real)w;
        sum += w;
    }
    for (int j = from; j < to; j++) weights[j - from] /= (heed_real)sum;
    *first = from;
    return to - from;
}

static heed_real level(heed_real x) {
    return x < 0 ? 0 : x > 255 ? 255 : (heed_real)floor((double)x + 0.5);
}

/* Along the rows of p: middle (height, size, channels). */
static void across(const axis *a, const heed_picture *p, heed_real *weights, heed_real *middle) {
    int channels = p->channels, first;
    for (int i = 0; i < a->size; i++) {
        int count = weigh(a, i, weights, &first);
        for (int y = 0; y < p->height; y++) {
            const unsigned char *from =
                p->pixels + ((size_t)y * (size_t)p->width + (size_t)first) * (size_t)channels;
            heed_real *to = middle + ((size_t)y * (size_t)a->size + (size_t)i) * (size_t)channels;
            for (int c = 0; c < channels; c++) {
                heed_real sum = 0;
                for (int k = 0; k < count; k++)
                    sum += weights[k] * (heed_real)from[k * channels + c];
                to[c] = level(sum);
            }
        }
    }
}

/* Along the columns: out (size, row), of middle (height, row). */
static void down(const axis *a, const heed_real *middle, size_t row, heed_real *weights,
                 heed_real *out) {
    int first;
    for (int i = 0; i < a->size; i++, out += row) {
        int count = weigh(a, i, weights, &first);
        const heed_real *from = middle + (size_t)first * row;
        for (size_t x = 0; x < row; x++) out[x] = 0;
        for (int k = 0; k < count; k++, from += row)
            for (size_t x = 0; x < row; x++) out[x] += weights[k] * from[x];
        for (size_t x = 0; x < row; x++) out[x] = level(out[x]);
    }
}

/* The long side is resized by the same factor, rounded down; the crop begins at a whole pixel. */
static axis axis_of(const heed_image_transform *v, int side, int least) {
    int to = v->resize_to ? v->resize_to : v->size;
    to = to < 0 ? v->size : side == least ? to : (int)fmin((double)to * side / least, 1 << 30);
    return (axis){v->filter, side, to, (to - v->size) / 2, v->size};
}

static size_t taps(const axis *a) { return 2 * (size_t)ceil(radius_of(a)) + 2; }

size_t heed__resample_work(const heed_picture *p, const heed_image_transform *v) {
    int least = p->width < p->height ? p->width : p->height;
    axis x = axis_of(v, p->width, least), y = axis_of(v, p->height, least);
    return taps(&x) + taps(&y) + (size_t)p->height * (size_t)v->size * (size_t)p->channels;
}

void heed__resample(const heed_picture *p, const heed_image_transform *v, heed_real *out,
                    heed_real *work) {
    int least = p->width < p->height ? p->width : p->height;
    axis x = axis_of(v, p->width, least), y = axis_of(v, p->height, least);
    heed_real *middle = work + taps(&x) + taps(&y);
    across(&x, p, work, middle);
    down(&y, middle, (size_t)v->size * (size_t)p->channels, work, out);
}
