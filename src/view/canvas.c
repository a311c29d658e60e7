/* canvas.c -- a picture in memory: points, lines, areas and letters in RGB. */
#include "core/core.h"
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool heed__canvas_new(heed_ctx *c, heed__canvas *p, int width, int height) {
    *p = (heed__canvas){width, height, NULL};
    if (width < 1 || height < 1 || width > 16384 || height > 16384)
        return heed_fail(c, HEED_USAGE, "a picture of %d x %d is too small or too large", width,
                         height);
    p->rgb = heed__alloc_array(c, (size_t)width * (size_t)height, 3);
    if (p->rgb) memset(p->rgb, 255, 3 * (size_t)width * (size_t)height);
    return p->rgb != NULL;
}

static unsigned char mix(double from, double to, double share) {
    return (unsigned char)(from + (to - from) * share + 0.5);
}

static void blend(heed__canvas *p, int x, int y, heed__rgb color, double share) {
    if (x < 0 || y < 0 || x >= p->width || y >= p->height || !(share > 0)) return;
    unsigned char *at = p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    if (share >= 1) {
        memcpy(at, &(unsigned char[3]){color.r, color.g, color.b}, 3);
        return;
    }
    at[0] = mix(at[0], color.r, share);
    at[1] = mix(at[1], color.g, share);
    at[2] = mix(at[2], color.b, share);
}

void heed__canvas_fill(heed__canvas *p, int x, int y, int width, int height, heed__rgb color) {
    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++) blend(p, i, j, color, 1);
}

/* Distance from a point to the segment, which determines how much of a pixel the stroke covers. */
static double distance(double px, double py, double x0, double y0, double x1, double y1) {
    double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    double t = length > 0 ? ((px - x0) * dx + (py - y0) * dy) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - x0 - t * dx, py - y0 - t * dy);
}

static void cover(const heed__canvas *p, unsigned char *mask, int x, int y, double share) {
    if (x < 0 || y < 0 || x >= p->width || y >= p->height || !(share > 0)) return;
    unsigned char *at = mask + (size_t)y * (size_t)p->width + (size_t)x;
    long ink = lround(255 * fmin(share, 1));
    if (ink > *at) *at = (unsigned char)ink;
}

void heed__mask_line(const heed__canvas *p, unsigned char *mask, double x0, double y0, double x1,
                     double y1, double thick) {
    /* Values at the ends of double's range have no finite places. */
    if (!(fabs(x0) + fabs(y0) + fabs(x1) + fabs(y1) < 1e6)) return;
    double r = thick / 2 + 1;
    int left = (int)floor(fmin(x0, x1) - r), right = (int)ceil(fmax(x0, x1) + r);
    for (int x = left; x <= right; x++) {
        double span = x1 - x0, low = fmin(y0, y1), high = fmax(y0, y1);
        if (fabs(span) > 1) { /* only the part of the stroke near this column */
            double slope = (y1 - y0) / span, a = y0 + slope * (x - 2 * r - x0),
                   b = y0 + slope * (x + 2 * r - x0);
            low = fmax(low, fmin(a, b));
            high = fmin(high, fmax(a, b));
        }
        for (int y = (int)floor(low - r); y <= (int)ceil(high + r); y++)
            cover(p, mask, x, y, thick / 2 + 0.5 - distance(x, y, x0, y0, x1, y1));
    }
}

void heed__canvas_mask(heed__canvas *p, unsigned char *mask, heed__rgb color) {
    size_t width = (size_t)p->width;
    for (int y = 0; y < p->height; y++, mask += width) {
        if (!mask[0] && memcmp(mask, mask + 1, width - 1) == 0) continue; /* a blank row */
        for (int x = 0; x < p->width; x++) blend(p, x, y, color, mask[x] / 255.0);
        memset(mask, 0, width);
    }
}

/* ---- text ---- */

int heed__text_width(const char *text, int scale) {
    int width = 0;
    while (*text) {
        heed__letter g = heed__next_letter(&text);
        width += heed__letter_width(&g, scale);
    }
    return width;
}

/* Draws a part of a letter; `at` is the pen's distance from the beginning of the text. */
static void blend_ink(heed__canvas *p, int x, int y, heed__rgb color, bool up, int at,
                      const heed__inked *part) {
    for (int j = 0; j < part->height; j++)
        for (int i = 0; i < part->width; i++) {
            int along = at + part->left + i, down = part->top + j;
            blend(p, up ? x + down : x + along, up ? y - along - 1 : y + down, color,
                  (double)part->ink[j * part->width + i]);
        }
}

void heed__canvas_text(heed__canvas *p, int x, int y, int scale, heed__rgb color, bool up,
                       const char *text) {
    int base = 7 * scale; /* the base line */
    for (int at = 0; *text;) {
        heed__letter g = heed__next_letter(&text);
        for (int i = 0; i <= g.marks; i++) {
            heed__inked part;
            heed__letter_draw(&g, i, scale, &part);
            blend_ink(p, up ? x + base : x, up ? y : y + base, color, up, at, &part);
        }
        at += heed__letter_width(&g, scale);
    }
}

/* Returns where the first letter begins that does not fit into `width` pixels and `capacity`
 * bytes. */
static const char *fitting(const char *text, int scale, int width, size_t capacity) {
    const char *end = text;
    for (const char *next = text; *end; end = next) {
        heed__letter g = heed__next_letter(&next);
        width -= heed__letter_width(&g, scale);
        if (width < 0 || (size_t)(next - text) > capacity) break;
    }
    return end;
}

enum { CAPACITY = HEED__LABEL - 3 }; /* bytes beside ".." */

const char *heed__text_cut(char out[HEED__LABEL], const char *text, int scale, int width) {
    const char *end = fitting(text, scale, width, CAPACITY);
    bool whole = !*end;
    if (!whole) end = fitting(text, scale, width - heed__text_width("..", scale), CAPACITY);
    snprintf(out, HEED__LABEL, "%.*s%s", (int)(end - text), text, whole ? "" : "..");
    return out;
}

const char *heed__text_fold(char out[HEED__LABEL], const char *text, int scale, int width) {
    int rest = width - heed__text_width("..", scale);
    if (!*fitting(text, scale, width, CAPACITY) || rest <= 0)
        return heed__text_cut(out, text, scale, width);
    const char *end = fitting(text, scale, rest - rest / 2, CAPACITY / 2), *tail = end;
    while (*tail && (heed__text_width(tail, scale) > rest / 2 || strlen(tail) > CAPACITY / 2))
        heed__next_letter(&tail);
    snprintf(out, HEED__LABEL, "%.*s..%s", (int)(end - text), text, tail);
    return out;
}

/* The mean of channel c over the columns [x0,x1) and rows [y0,y1); both ranges are nonempty. */
static unsigned char mean_of(heed__pixels f, int c, int x0, int x1, int y0, int y1) {
    uint64_t sum = 0, n = (uint64_t)(x1 - x0) * (uint64_t)(y1 - y0);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            sum += f.pixels[((size_t)y * (size_t)f.width + (size_t)x) * (size_t)f.channels +
                            (size_t)c];
    return (unsigned char)((sum + n / 2) / n);
}

/* The pixels of the source that target pixel i of n covers. */
static void span_of(int i, int n, int size, int *from, int *to) {
    *from = (int)((int64_t)i * size / n);
    *to = (int)((int64_t)(i + 1) * size / n);
    if (*to <= *from) *to = *from + 1;
}

void heed__canvas_pixels(heed__canvas *p, int x, int y, int width, int height, heed__pixels from) {
    for (int j = 0; j < height; j++) {
        int y0, y1, x0, x1;
        span_of(j, height, from.height, &y0, &y1);
        for (int i = 0; i < width; i++) {
            span_of(i, width, from.width, &x0, &x1);
            heed__rgb c = {mean_of(from, 0, x0, x1, y0, y1), 0, 0};
            c.g = from.channels > 1 ? mean_of(from, 1, x0, x1, y0, y1) : c.r;
            c.b = from.channels > 1 ? mean_of(from, 2, x0, x1, y0, y1) : c.r;
            blend(p, x + i, y + j, c, 1);
        }
    }
}

heed__rgb heed__canvas_at(const heed__canvas *p, int i) {
    const unsigned char *at = p->rgb + 3 * (size_t)i;
    return (heed__rgb){at[0], at[1], at[2]};
}

double heed__grey(heed__rgb c) { return (0.299 * c.r + 0.587 * c.g + 0.114 * c.b) / 255; }

void heed__fit_size(int side, int *width, int *height) {
    int most = *width > *height ? *width : *height, times = side / most;
    *width = times ? *width * times : (int)((int64_t)*width * side / most);
    *height = times ? *height * times : (int)((int64_t)*height * side / most);
    if (*width < 1) *width = 1;
    if (*height < 1) *height = 1;
}

/* ---- colours ---- */

heed__rgb heed__series_color(int index) {
    static const heed__rgb colors[HEED__SERIES_COLORS] = {
        {0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {204, 121, 167}, {86, 180, 233},
        {230, 159, 0}, {0, 0, 0},    {120, 60, 20}, {112, 48, 160},  {150, 150, 150}};
    return colors[(unsigned)index % HEED__SERIES_COLORS];
}

/* Nine samples of the published map (van der Walt & Smith 2015), interpolated linearly. */
heed__rgb heed__viridis(double v) {
    static const unsigned char map[9][3] = {{68, 1, 84},    {71, 45, 123},  {59, 82, 139},
                                            {44, 114, 142}, {33, 145, 140}, {40, 174, 128},
                                            {94, 201, 98},  {173, 220, 48}, {253, 231, 37}};
    double at = (v > 0 ? v < 1 ? v : 1 : 0) * 8;
    int i = at >= 8 ? 7 : (int)at;
    const unsigned char *a = map[i], *b = map[i + 1];
    return (heed__rgb){mix(a[0], b[0], at - i), mix(a[1], b[1], at - i), mix(a[2], b[2], at - i)};
}

heed__rgb heed__paper(double v) {
    double at = v > 0 ? fmin(v, 1) : 0, cover = pow(fmin(1, 5 * at), 0.6);
    heed__rgb c = heed__viridis(0.9 - 0.9 * at);
    return (heed__rgb){mix(255, c.r, cover), mix(255, c.g, cover), mix(255, c.b, cover)};
}

heed__rgb heed__signed(double v) {
    heed__rgb c = v < 0 ? (heed__rgb){20, 84, 160} : (heed__rgb){168, 72, 0};
    double cover = pow(fmin(1, fabs(v)), 0.8);
    return (heed__rgb){mix(255, c.r, cover), mix(255, c.g, cover), mix(255, c.b, cover)};
}

heed__rgb heed__signed_dark(double v) {
    heed__rgb c = v < 0 ? (heed__rgb){110, 176, 255} : (heed__rgb){255, 163, 72};
    double cover = pow(fmin(1, fabs(v)), 0.8);
    return (heed__rgb){mix(0, c.r, cover), mix(0, c.g, cover), mix(0, c.b, cover)};
}

heed__rgb heed__ink(heed__rgb c) {
    const double part[3] = {c.r / 255.0, c.g / 255.0, c.b / 255.0};
    static const double share[3] = {0.2126, 0.7152, 0.0722};
    double light = 0;
    for (int i = 0; i < 3; i++)
        light +=
            share[i] * (part[i] <= 0.03928 ? part[i] / 12.92 : pow((part[i] + 0.055) / 1.055, 2.4));
    return light > 0.179 ? (heed__rgb){0, 0, 0} : (heed__rgb){255, 255, 255};
}

/* ---- axes ---- */

int heed__ticks(double lo, double hi, int want, double ticks[12], double *step) {
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double rough = (hi - lo) / want, power = pow(10, floor(log10(rough)));
    int n = 0;
    *step = 10 * power;
    for (int i = 0; i < 5; i++)
        if (steps[i] * power >= rough * 0.999) {
            *step = steps[i] * power;
            break;
        }
    for (double v = ceil(lo / *step - 1e-9) * *step; v <= hi + 1e-9 * *step && n < 12; v += *step)
        ticks[n++] = fabs(v) < 1e-9 * *step ? 0 : v;
    return n;
}

char *heed__group_digits(char *text) {
    int least = *text == '-';
    for (int at = (int)strcspn(text, ".e") - 3; at > least; at -= 3) {
        memmove(text + at + 1, text + at, strlen(text + at) + 1);
        text[at] = ',';
    }
    return text;
}

void heed__tick_text(double v, double step, char text[32]) {
    enum { LEAST = 3, MOST = 9 };                             /* significant digits */
    int digits = (int)ceil(-log10(step) - 1e-9), all = LEAST; /* digits: decimals of the step */
    if (fabs(step * pow(10, digits) - round(step * pow(10, digits))) > 1e-6) digits++;
    if (v != 0) all = heed__larger(LEAST, digits + 1 + (int)floor(log10(fabs(v)) + 1e-9));
    if (fabs(v) >= 1e7 || step < 1e-4)
        snprintf(text, 24, "%.*g", all < MOST ? all : MOST, v);
    else
        snprintf(text, 24, "%.*f", digits > 0 ? digits : 0, v);
    heed__group_digits(text);
}

int heed__ticks_width(double lo, double hi, int want, int scale) {
    double ticks[12], step;
    char text[32];
    int widest = 0, n = heed__ticks(lo, hi, want, ticks, &step);
    for (int i = 0; i < n; i++) {
        heed__tick_text(ticks[i], step, text);
        widest = heed__larger(widest, scale ? heed__text_width(text, scale) : (int)strlen(text));
    }
    return widest;
}
