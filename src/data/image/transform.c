/* transform.c -- a picture as an input: channels, size, and the augmentation of training.
 *
 * Output pixel i of an axis is at center = start + (i + 1/2) scale of the source, scale = box /
 * size; source pixel j weighs filter((j + 1/2 - center) / max(1, scale)), divided by the sum of the
 * weights. Pixels beyond the picture's edge have weight 0. Columns are blended first, then rows:
 * the same as Pillow's resize(box=...) of numbers and PyTorch's interpolate(antialias=True).
 *
 * Pictures of bytes are resized by Pillow 13 in whole levels from 0 to 255 after each axis, rows
 * first, or columns first if the height shrinks by more than twice as many pixels as the width.  *
 * The draws of an augmentation stand each at its own number in the stream, so that one does not
 * change the others. IEEE arithmetic alone: the same bits. */
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

/* The centre of p as v says where it has resize_to or filter: out (size,size,channels), levels from
 * 0 to 255. work: resample_work numbers. */
static size_t resample_work(const heed_picture *p, const heed_image_transform *v) {
    axis across = centre_of(v, p->width, p), down = centre_of(v, p->height, p);
    size_t middle = (size_t)p->height * (size_t)v->size * (size_t)p->channels;
    return work_of(p, &across, &down) + middle / sizeof(heed_real) + 1;
}

static void resample(const heed_picture *p, const heed_image_transform *v, heed_real *out,
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

/* ---- augmentation ---- */

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
    size_t other = v->resize_to || v->filter ? resample_work(p, v) : 0;
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
        resample(p, v, work, work + n);
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
