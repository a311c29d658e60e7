/* chart.c -- curves as a picture: axes with numbers, a faint grid, a legend. */
#include "view/chart.h"

#include "core/core.h"
#include "view/canvas.h"

#include <math.h>
#include <string.h>

heed__range heed__chart_range(const heed_chart *p) {
    heed__range r = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int s = 0; s < p->series_count; s++)
        for (int i = 0; i < p->series[s].count; i++) {
            double x = p->series[s].x[i], y = p->series[s].y[i];
            if (!isfinite(x) || !isfinite(y)) continue;
            r = (heed__range){fmin(r.x0, x), fmax(r.x1, x), fmin(r.y0, y), fmax(r.y1, y)};
        }
    if (r.x0 > r.x1) return (heed__range){0, 1, 0, 1};
    if (r.x0 == r.x1) r.x0 -= 0.5, r.x1 += 0.5;
    double pad = r.y1 > r.y0 ? (r.y1 - r.y0) * 0.04 : fmax(fabs(r.y0) * 0.05, 0.5);
    r.y0 -= pad;
    r.y1 += pad;
    return r;
}

enum { SCALE = 2, LEFT = 96, MARGIN = 24, WIDEST = 300, TOP = 68, BOTTOM = 72 };
static const heed__rgb INK = {40, 40, 40}, GRID = {228, 228, 228};

typedef struct {
    heed__canvas canvas;
    heed__range range;
    int right; /* columns of the legend */
} surface;

static double at_x(const surface *s, double x) {
    return LEFT +
           (x - s->range.x0) / (s->range.x1 - s->range.x0) * (s->canvas.width - LEFT - s->right);
}

static double at_y(const surface *s, double y) {
    return s->canvas.height - BOTTOM -
           (y - s->range.y0) / (s->range.y1 - s->range.y0) * (s->canvas.height - TOP - BOTTOM);
}

static void draw_axes(surface *s, const heed_chart *p) {
    heed__canvas *c = &s->canvas;
    double ticks[12], step;
    char text[32];
    int bottom = c->height - BOTTOM, n = heed__ticks(s->range.y0, s->range.y1, 6, ticks, &step);
    for (int i = 0; i < n; i++) {
        int y = (int)lround(at_y(s, ticks[i]));
        heed__canvas_fill(c, LEFT, y, c->width - LEFT - s->right, 1, GRID);
        heed__tick_text(ticks[i], step, text, sizeof text);
        heed__canvas_text(c, LEFT - 10 - heed__text_width(text, SCALE), y - 7, SCALE, INK, text);
    }
    n = heed__ticks(s->range.x0, s->range.x1, c->width > 600 ? 8 : 5, ticks, &step);
    for (int i = 0; i < n; i++) {
        int x = (int)lround(at_x(s, ticks[i]));
        heed__canvas_fill(c, x, bottom, 1, 6, INK);
        heed__tick_text(ticks[i], step, text, sizeof text);
        heed__canvas_text(c, x - heed__text_width(text, SCALE) / 2, bottom + 12, SCALE, INK, text);
    }
    heed__canvas_fill(c, LEFT, bottom, c->width - LEFT - s->right, 1, INK);
    heed__canvas_fill(c, LEFT, TOP, 1, bottom - TOP, INK);
    if (p->x_label)
        heed__canvas_text(c, c->width - s->right - heed__text_width(p->x_label, SCALE), bottom + 40,
                          SCALE, INK, p->x_label);
    if (p->y_label) heed__canvas_text(c, 8, TOP - 36, SCALE, INK, p->y_label);
    if (p->title) heed__canvas_text(c, LEFT, 8, SCALE, INK, p->title);
}

/* Draws a straight segment of series `index`; series beyond the last colour are dashed. `along`:
 * length of the curve so far, so that dashes continue across its points. */
static void stroke(surface *s, int index, double x0, double y0, double x1, double y1, double thick,
                   double *along) {
    enum { DASH = 9 };
    heed__rgb color = heed__series_color(index);
    double length = hypot(x1 - x0, y1 - y0);
    if (index < HEED__SERIES_COLORS || length == 0) {
        heed__canvas_line(&s->canvas, x0, y0, x1, y1, thick, color);
        return;
    }
    for (double at = 0, next; at < length; at = next) {
        double place = fmod(*along + at, 2 * DASH);
        next = fmin(length, at + (place < DASH ? DASH : 2 * DASH) - place + 1e-6);
        if (place < DASH)
            heed__canvas_line(&s->canvas, x0 + (x1 - x0) * at / length,
                              y0 + (y1 - y0) * at / length, x0 + (x1 - x0) * next / length,
                              y0 + (y1 - y0) * next / length, thick, color);
    }
    *along += length;
}

static void draw_curve(surface *s, const heed_series *e, int index) {
    enum { SHORT = 24 };
    double along = 0, low = INFINITY, high = -INFINITY;
    int last = -1;
    for (int i = 0; i < e->count; i++) {
        if (!isfinite(e->x[i]) || !isfinite(e->y[i])) continue;
        low = fmin(low, at_x(s, e->x[i]));
        high = fmax(high, at_x(s, e->x[i]));
    }
    double dot = high - low < SHORT ? 9 : 4; /* a run of a few steps beside one of thousands */
    for (int i = 0; i < e->count; i++) {
        if (!isfinite(e->x[i]) || !isfinite(e->y[i])) {
            last = -1;
            continue;
        }
        int from = last < 0 ? i : last;
        stroke(s, index, at_x(s, e->x[from]), at_y(s, e->y[from]), at_x(s, e->x[i]),
               at_y(s, e->y[i]), last < 0 ? dot : 2.4, &along);
        last = i;
    }
}

/* The legend is to the right of the curves, so that it hides none of them. */
static void draw_legend(surface *s, const heed_chart *p) {
    char cut[HEED__LABEL];
    int x = s->canvas.width - s->right + 16, y = TOP;
    for (int i = 0; i < p->series_count; i++, y += 24) {
        stroke(s, i, x, y + 8, x + 28, y + 8, 4, &(double){0});
        heed__canvas_text(&s->canvas, x + 40, y + 1, SCALE, INK,
                          heed__text_fold(cut, p->series[i].label, SCALE, WIDEST));
    }
}

static int legend_width(const heed_chart *p) {
    int widest = 0;
    for (int i = 0; i < p->series_count; i++) {
        int w = heed__text_width(p->series[i].label, SCALE);
        if (w > widest) widest = w;
    }
    return 16 + 40 + (widest < WIDEST ? widest : WIDEST) + MARGIN;
}

typedef struct {
    const heed_chart *charts;
    int width, height;
} sheet;

static bool draw_chart(heed_ctx *c, const void *list, int index, heed__canvas *out) {
    const sheet *e = list;
    const heed_chart *p = &e->charts[index];
    surface s = {.range = heed__chart_range(p), .right = legend_width(p)};
    if (!heed__canvas_new(c, &s.canvas, e->width > 640 ? e->width : 640,
                          e->height > 240 ? e->height : 240))
        return false;
    draw_axes(&s, p);
    for (int i = 0; i < p->series_count; i++) draw_curve(&s, &p->series[i], i);
    draw_legend(&s, p);
    *out = s.canvas;
    return true;
}

bool heed_charts_png(heed_ctx *c, const heed_chart *charts, int count, int width, int height,
                     const char *path) {
    return charts &&
           heed__canvas_save(c, draw_chart, &(sheet){charts, width, height}, count, true, path);
}

bool heed_chart_png(heed_ctx *c, const heed_chart *p, int width, int height, const char *path) {
    return heed_charts_png(c, p, 1, width, height, path);
}
