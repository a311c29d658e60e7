/* augment.c -- turns a picture into an input, with the draws of training, each at its own number in
 * the stream, so that one does not change the others. IEEE arithmetic alone: the same bits. */
#include "data/image/image.h"

#include <heed/image.h>

#include <math.h>
#include <string.h>

enum { FLIP, BRIGHTNESS, CONTRAST, SATURATION, SHIFT_X, SHIFT_Y, CROP = 8 };
enum { TRIES = 10, PER_TRY = 4 }; /* area, ratio, x, y */

static heed_box centre(const heed_picture *p, double width, double height) {
    return (heed_box){(p->width - width) / 2, (p->height - height) / 2, width, height};
}

static double uniform(const heed_random *r, uint64_t index, double low, double high) {
    return low + (high - low) * heed_random_uniform(r, index);
}

/* base^t for t in [0, 1), by t's binary digits: libm's pow differs between machines. */
static double power(double base, double t) {
    double result = 1;
    for (int i = 0; i < 32; i++) {
        base = sqrt(base);
        t *= 2;
        if (t < 1) continue;
        result *= base;
        t -= 1;
    }
    return result;
}

/* The largest centred box whose ratio is allowed. */
static heed_box widest(const heed_picture *p, double ratio) {
    double width = p->width, height = p->height;
    if (width > height * ratio) width = floor(height * ratio + 0.5);
    if (height > width * ratio) height = floor(width * ratio + 0.5);
    return centre(p, width, height);
}

/* A share of the area in [scale, 1] and a ratio, log-uniform, until the box fits, as in
 * torchvision's RandomResizedCrop. */
static heed_box random_box(const heed_picture *p, const heed_augment *a, const heed_random *r) {
    double ratio = a->ratio > 0 ? a->ratio : 4.0 / 3;
    if (ratio < 1) ratio = 1 / ratio;
    for (uint64_t i = CROP; i < CROP + TRIES * PER_TRY; i += PER_TRY) {
        double area = (double)p->width * p->height * uniform(r, i, a->scale, 1);
        double shape = power(ratio * ratio, heed_random_uniform(r, i + 1)) / ratio;
        double width = floor(sqrt(area * shape) + 0.5), height = floor(sqrt(area / shape) + 0.5);
        if (width < 1 || height < 1 || width > p->width || height > p->height) continue;
        uint32_t right = (uint32_t)(p->width - width), below = (uint32_t)(p->height - height);
        return (heed_box){heed_random_below(r, i + 2, right + 1),
                          heed_random_below(r, i + 3, below + 1), width, height};
    }
    return widest(p, ratio);
}

/* x = factor x + (1 - factor) grey, clamped to 0 .. 255. */
static heed_real blend(heed_real x, heed_real grey, heed_real factor) {
    heed_real y = factor * x + (1 - factor) * grey;
    return y < 0 ? 0 : y > 255 ? 255 : y;
}

static heed_real grey_at(const heed_real *pixel, int channels) {
    if (channels == 1) return pixel[0];
    return (heed_real)0.299 * pixel[0] + (heed_real)0.587 * pixel[1] + (heed_real)0.114 * pixel[2];
}

static heed_real grey_mean(const heed_real *image, size_t n, int channels) {
    double sum = 0;
    for (size_t i = 0; i < n; i += (size_t)channels) sum += (double)grey_at(image + i, channels);
    return (heed_real)(sum * channels / (double)n);
}

static heed_real factor_of(const heed_random *r, uint64_t index, double strength) {
    return (heed_real)uniform(r, index, strength < 1 ? 1 - strength : 0, 1 + strength);
}

static void colours(heed_real *image, size_t n, int channels, const heed_augment *a,
                    const heed_random *r) {
    if (a->brightness > 0) {
        heed_real factor = factor_of(r, BRIGHTNESS, a->brightness);
        for (size_t i = 0; i < n; i++) image[i] = blend(image[i], 0, factor);
    }
    if (a->contrast > 0) {
        heed_real factor = factor_of(r, CONTRAST, a->contrast);
        heed_real mean = grey_mean(image, n, channels);
        for (size_t i = 0; i < n; i++) image[i] = blend(image[i], mean, factor);
    }
    if (a->saturation > 0 && channels == 3) {
        heed_real factor = factor_of(r, SATURATION, a->saturation);
        for (size_t i = 0; i < n; i += 3) {
            heed_real grey = grey_at(image + i, 3);
            for (size_t c = i; c < i + 3; c++) image[c] = blend(image[c], grey, factor);
        }
    }
}

typedef struct {
    int right, down; /* the shift */
    bool flip;
} placing;

static int shift_of(const heed_random *r, uint64_t index, int pad, int size) {
    if (pad > size) pad = size;
    return pad > 0 ? (int)heed_random_below(r, index, 2 * (uint32_t)pad + 1) - pad : 0;
}

/* A row of the image, flipped and shifted, as (x/255 - mean) / deviation; zeros beyond its ends. */
static void place_row(const heed_real *row, const heed_image_transform *v, placing at,
                      heed_real *out) {
    int channels = v->channels;
    heed_real gain[3], offset[3];
    for (int c = 0; c < channels; c++) {
        gain[c] = (heed_real)(1 / (255 * v->deviation[c]));
        offset[c] = (heed_real)(-v->mean[c] / v->deviation[c]);
    }
    for (int x = 0; x < v->size; x++, out += channels) {
        int from = x - at.right;
        if (from < 0 || from >= v->size) {
            for (int c = 0; c < channels; c++) out[c] = 0;
            continue;
        }
        if (at.flip) from = v->size - 1 - from;
        const heed_real *pixel = row + (size_t)from * (size_t)channels;
        for (int c = 0; c < channels; c++) out[c] = pixel[c] * gain[c] + offset[c];
    }
}

size_t heed_image_transform_work(const heed_picture *p, const heed_image_transform *v) {
    if (!p || !v || v->size < 1 || v->channels < 1 || p->width < 1 || p->height < 1) return 0;
    size_t work = heed_resize_work(p, v->size, v->size);
    size_t other = v->resize_to || v->filter ? heed__resample_work(p, v) : 0;
    return (size_t)v->size * (size_t)v->size * (size_t)v->channels + (work > other ? work : other);
}

/* A picture that already has the output's size is copied. */
static void crop(const heed_picture *p, heed_box box, int size, heed_real *image, heed_real *work) {
    if (p->width != size || p->height != size || box.width != size || box.height != size) {
        heed_picture_resize(p, box, size, size, image, work);
        return;
    }
    size_t n = (size_t)size * (size_t)size * (size_t)p->channels;
    for (size_t i = 0; i < n; i++) image[i] = p->pixels[i];
}

void heed_picture_transform(const heed_picture *p, const heed_image_transform *v,
                            const heed_augment *a, const heed_random *r, heed_real *out,
                            heed_real *work) {
    if (!p || !p->pixels || !v || !out || !work || v->size < 1 || p->channels != v->channels ||
        (v->channels != 1 && v->channels != 3))
        return;
    size_t row = (size_t)v->size * (size_t)v->channels, n = row * (size_t)v->size;
    bool draw = a && r;
    int least = p->width < p->height ? p->width : p->height;
    heed_box box = draw && a->scale > 0 ? random_box(p, a, r) : centre(p, least, least);
    if ((v->resize_to || v->filter) && !(draw && a->scale > 0))
        heed__resample(p, v, work, work + n);
    else
        crop(p, box, v->size, work, work + n);
    placing at = {0};
    if (draw) {
        colours(work, n, v->channels, a, r);
        at = (placing){shift_of(r, SHIFT_X, a->pad, v->size), shift_of(r, SHIFT_Y, a->pad, v->size),
                       a->flip > 0 && heed_random_uniform(r, FLIP) < a->flip};
    }
    for (int y = 0; y < v->size; y++, out += row) {
        int from = y - at.down;
        if (from < 0 || from >= v->size)
            memset(out, 0, row * sizeof *out);
        else
            place_row(work + (size_t)from * row, v, at, out);
    }
}
