/* resample.c -- resizes and crops as Pillow 13 does: a filter with antialiasing along the rows,
 * then along the columns, or the columns first if the height shrinks by more than twice as many
 * pixels as the width; each rounded to whole levels from 0 to 255. Output pixel i of an axis weighs
 * source pixel j by filter((j + 1/2 - (i + 1/2) scale) / max(1, scale)), divided by the sum of the
 * weights. */
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

/* Of x (outer, a->from, inner), or of as many bytes: out (outer, a->size, inner). */
static void resize_axis(const axis *a, const unsigned char *bytes, const heed_real *x, size_t outer,
                        size_t inner, heed_real *weights, heed_real *out) {
    int first;
    for (int i = 0; i < a->size; i++) {
        int count = weigh(a, i, weights, &first);
        for (size_t o = 0; o < outer; o++) {
            size_t from = (o * (size_t)a->from + (size_t)first) * inner;
            heed_real *to = out + (o * (size_t)a->size + (size_t)i) * inner;
            for (size_t k = 0; k < inner; k++) to[k] = 0;
            for (int j = 0; j < count; j++, from += inner)
                for (size_t k = 0; k < inner; k++)
                    to[k] += weights[j] * (bytes ? (heed_real)bytes[from + k] : x[from + k]);
            for (size_t k = 0; k < inner; k++) to[k] = level(to[k]);
        }
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
    size_t most = (size_t)(p->width < p->height ? p->height : p->width);
    axis x = axis_of(v, p->width, least), y = axis_of(v, p->height, least);
    return taps(&x) + taps(&y) + most * (size_t)v->size * (size_t)p->channels;
}

/* Which axis is first changes how the result is rounded, and cut off at 0 and 255. */
void heed__resample(const heed_picture *p, const heed_image_transform *v, heed_real *out,
                    heed_real *work) {
    int least = p->width < p->height ? p->width : p->height;
    axis x = axis_of(v, p->width, least), y = axis_of(v, p->height, least);
    size_t channels = (size_t)p->channels, size = (size_t)v->size;
    heed_real *middle = work + taps(&x) + taps(&y);
    int shorter = y.from - y.to, narrower = x.from - x.to;
    if (shorter > 0 && shorter > 2 * narrower) {
        resize_axis(&y, p->pixels, NULL, 1, (size_t)p->width * channels, work, middle);
        resize_axis(&x, NULL, middle, size, channels, work, out);
    } else {
        resize_axis(&x, p->pixels, NULL, (size_t)p->height, channels, work, middle);
        resize_axis(&y, NULL, middle, 1, size * channels, work, out);
    }
}
