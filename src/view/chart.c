/* chart.c -- curves as a picture: axes with numbers, a faint grid, a legend; and in the terminal:
 * braille dots in colour, or a letter per series. */
#include "core/core.h"
#include "text/text.h"
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    double x0, x1, y0, y1;
} range;

static bool is_complete(const heed_chart *p) {
    for (int i = 0; i < p->series_count; i++)
        if (!p->series || !p->series[i].label ||
            (p->series[i].count > 0 && (!p->series[i].x || !p->series[i].y)))
            return false;
    return true;
}

static bool is_point(const heed_series *e, int i) {
    return i >= 0 && i < e->count && isfinite(e->x[i]) && isfinite(e->y[i]);
}

static heed__rgb color_of(const heed_chart *p, int index) {
    if (!p->colors) return heed__series_color(index);
    unsigned c = p->colors[index];
    return (heed__rgb){(unsigned char)(c >> 16), (unsigned char)(c >> 8), (unsigned char)c};
}

/* The values of the marked point if it is of this series: "loss 0.1027, step 918". Else "". */
static bool mark_text(const heed_chart *p, int series, char text[96]) {
    const heed_series *e = &p->series[series];
    char at[32];
    *text = 0;
    if (!p->mark || p->mark_series != series || !is_point(e, p->mark_point)) return false;
    double x = e->x[p->mark_point];
    snprintf(at, 24, "%.9g", p->log2_x ? exp2(x) : x);
    snprintf(text, 96, "%.30s %.4g, %.30s %s", p->y_label ? p->y_label : "y", e->y[p->mark_point],
             p->x_label ? p->x_label : "x", heed__group_digits(at));
    return true;
}

/* Range of the finite points, widened if empty in one direction; {0,1,0,1} without points. */
static range range_of(const heed_chart *p) {
    range r = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int s = 0; s < p->series_count; s++)
        for (int i = 0; i < p->series[s].count; i++) {
            double x = p->series[s].x[i], y = p->series[s].y[i];
            if (!is_point(&p->series[s], i)) continue;
            r = (range){fmin(r.x0, x), fmax(r.x1, x), fmin(r.y0, y), fmax(r.y1, y)};
        }
    if (r.x0 > r.x1) return (range){0, 1, 0, 1};
    if (r.x0 == r.x1) r.x0 -= 0.5, r.x1 += 0.5;
    if (p->from_zero) r.y0 = fmin(r.y0, 0), r.y1 = fmax(r.y1, 0);
    double pad = r.y1 > r.y0 ? (r.y1 - r.y0) * 0.04 : fmax(fabs(r.y0) * 0.05, 0.5);
    if (!p->from_zero || r.y0 < 0) r.y0 -= pad;
    if (!p->from_zero || r.y1 > 0) r.y1 += pad;
    return r;
}

/* The number at a tick of the horizontal axis. On a logarithmic scale there is none between powers
 * of 2. */
static void x_text(const heed_chart *p, double x, double step, char text[32]) {
    *text = 0;
    if (!p->log2_x)
        heed__tick_text(x, step, text);
    else if (fabs(x - round(x)) < 1e-9) {
        snprintf(text, 24, "%.9g", exp2(round(x)));
        heed__group_digits(text);
    }
}

/* ---- a picture ---- */

enum { SCALE = 2, LEFT = 96, MARGIN = 24, WIDEST = 300, TOP = 68, BOTTOM = 72, ENTRY = 24 };
enum { Y_TICKS = 8 }; /* about so many lines across */
static const heed__rgb INK = {40, 40, 40}, GRID = {228, 228, 228};

typedef struct {
    const heed_chart *chart;
    heed__sketch sketch;
    unsigned char *mask; /* of a PNG: of the curve that is drawn */
    range r;
    int width, height;
    int left, right; /* columns of the numbers at ticks, and of the legend */
} surface;

static double at_x(const surface *s, double x) {
    return s->left + (x - s->r.x0) / (s->r.x1 - s->r.x0) * (s->width - s->left - s->right);
}

static double at_y(const surface *s, double y) {
    return s->height - BOTTOM - (y - s->r.y0) / (s->r.y1 - s->r.y0) * (s->height - TOP - BOTTOM);
}

static void write(surface *s, int x, int y, heed__place place, const char *text) {
    heed__sketch_text(&s->sketch, x, y, SCALE, INK, place, s->width, text);
}

static void draw_axes(surface *s, const heed_chart *p) {
    double ticks[12], step;
    char text[32];
    int bottom = s->height - BOTTOM, end = s->width - s->right;
    int n = heed__ticks(s->r.y0, s->r.y1, Y_TICKS, ticks, &step);
    for (int i = 0; i < n; i++) {
        int y = (int)lround(at_y(s, ticks[i]));
        heed__sketch_box(&s->sketch, s->left, y, end - s->left, 1, GRID);
        heed__tick_text(ticks[i], step, text);
        write(s, s->left - 10, y - 7, HEED__RIGHT, text);
    }
    n = heed__ticks(s->r.x0, s->r.x1, s->width > 600 ? 9 : 5, ticks, &step);
    for (int i = 0; i < n; i++) {
        int x = (int)lround(at_x(s, ticks[i]));
        heed__sketch_box(&s->sketch, x, bottom, 1, 6, INK);
        x_text(p, ticks[i], step, text);
        write(s, x, bottom + 12, HEED__MIDDLE, text);
    }
    heed__sketch_box(&s->sketch, s->left, bottom, end - s->left, 1, INK);
    heed__sketch_box(&s->sketch, s->left, TOP, 1, bottom - TOP, INK);
    if (p->x_label) write(s, end, bottom + 40, HEED__RIGHT, p->x_label);
    if (p->y_label) {
        int x = s->left - 10 - heed__text_width(p->y_label, SCALE);
        write(s, x > 8 ? x : 8, TOP - 34, HEED__LEFT, p->y_label);
    }
    if (p->title) write(s, s->left, 8, HEED__LEFT, p->title);
}

enum { DASH = 9 };

/* Draws a straight segment of series `index`; series beyond the last colour are dashed. `along`:
 * length of the curve so far, so that dashes continue across its points. */
static void stroke(surface *s, int index, double x0, double y0, double x1, double y1, double thick,
                   double *along) {
    const heed__canvas *c = &s->sketch.canvas;
    double length = hypot(x1 - x0, y1 - y0);
    if (index < HEED__SERIES_COLORS || length == 0) {
        heed__mask_line(c, s->mask, x0, y0, x1, y1, thick);
        return;
    }
    for (double at = 0, next; at < length; at = next) {
        double place = fmod(*along + at, 2 * DASH);
        next = fmin(length, at + (place < DASH ? DASH : 2 * DASH) - place + 1e-6);
        if (place < DASH)
            heed__mask_line(c, s->mask, x0 + (x1 - x0) * at / length, y0 + (y1 - y0) * at / length,
                            x0 + (x1 - x0) * next / length, y0 + (y1 - y0) * next / length, thick);
    }
    *along += length;
}

/* Draws a point of series `index`: a dot of 3, 5 or 9 pixels (size 0, 1, 2), or a cross for series
 * beyond the last colour. Whole pixels keep a picture of thousands of points small. */
static void mark(surface *s, int index, double at_column, double at_row, int size) {
    heed__sketch *c = &s->sketch;
    heed__rgb color = color_of(s->chart, index);
    int x = (int)lround(at_column), y = (int)lround(at_row);
    if (index < HEED__SERIES_COLORS) {
        if (size == 0) heed__sketch_box(c, x - 1, y - 1, 3, 3, color);
        if (size > 0)
            heed__sketch_box(c, x - size, y - 2 * size, 2 * size + 1, 4 * size + 1, color);
        if (size > 0)
            heed__sketch_box(c, x - 2 * size, y - size, 4 * size + 1, 2 * size + 1, color);
        return;
    }
    for (int d = -2; d <= 2; d++) {
        heed__sketch_box(c, x + d, y + d, 2, 1, color);
        heed__sketch_box(c, x + d, y - d, 2, 1, color);
    }
}

/* In turns, so that no series covers the others. */
static void draw_points(surface *s, const heed_chart *p) {
    enum { FEW = 200, MANY = 3000 };
    bool more = true;
    int points = 0;
    for (int k = 0; k < p->series_count; k++) points += p->series[k].count;
    int size = points <= FEW ? 2 : points <= MANY;
    for (int i = 0; more; i++) {
        more = false;
        for (int k = 0; k < p->series_count; k++) {
            const heed_series *e = &p->series[k];
            if (i >= e->count) continue;
            more = true;
            if (is_point(e, i)) mark(s, k, at_x(s, e->x[i]), at_y(s, e->y[i]), size);
        }
    }
}

/* Begins an SVG path in the colour of a series; its points and PATH_END follow. */
static heed_text *begin_path(surface *s, int index, double thick) {
    heed_text *svg = &s->sketch.svg;
    heed__rgb c = color_of(s->chart, index);
    heed_text_add(svg,
                  "<path fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"%g\"%s "
                  "stroke-linejoin=\"round\" shape-rendering=\"auto\" d=\"",
                  c.r, c.g, c.b, thick,
                  index < HEED__SERIES_COLORS ? " stroke-linecap=\"round\""
                                              : " stroke-dasharray=\"9\"");
    return svg;
}
#define PATH_END "\"/>\n"

/* A disc. */
static void draw_dot(surface *s, double x, double y, double wide, heed__rgb k) {
    if (s->sketch.vector) {
        heed_text_add(&s->sketch.svg,
                      "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"#%02x%02x%02x\" "
                      "shape-rendering=\"auto\"/>\n",
                      x, y, wide / 2, k.r, k.g, k.b);
        return;
    }
    heed__mask_line(&s->sketch.canvas, s->mask, x, y, x, y, wide);
    heed__canvas_mask(&s->sketch.canvas, s->mask, k);
}

static void draw_ring(surface *s, double x, double y, int index) {
    draw_dot(s, x, y, 13, color_of(s->chart, index));
    draw_dot(s, x, y, 8, (heed__rgb){255, 255, 255});
}

/* Points that no line shows: those between gaps, and the first of a curve of a few pixels, a run of
 * a few steps beside one of thousands. */
static void draw_lone_points(surface *s, const heed_series *e, int index) {
    enum { SHORT = 16 };
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < e->count; i++) {
        if (!is_point(e, i)) continue;
        low = fmin(low, at_x(s, e->x[i]));
        high = fmax(high, at_x(s, e->x[i]));
    }
    bool brief = high - low < SHORT;
    for (int i = 0; i < e->count; i++)
        if (is_point(e, i) && !is_point(e, i - 1) && (brief || !is_point(e, i + 1)))
            draw_dot(s, at_x(s, e->x[i]), at_y(s, e->y[i]), brief ? 9 : 4,
                     color_of(s->chart, index));
}

static void draw_curve(surface *s, const heed_chart *p, int index) {
    static const double THICK = 2;
    const heed_series *e = &p->series[index];
    char text[96];
    double along = 0;
    heed_text *svg = s->sketch.vector ? begin_path(s, index, THICK) : NULL;
    for (int i = 0; i < e->count; i++) {
        int from = is_point(e, i - 1) ? i - 1 : i;
        if (!is_point(e, i)) continue;
        double x = at_x(s, e->x[i]), y = at_y(s, e->y[i]);
        if (svg)
            heed_text_add(svg, from == i ? "M%.1f %.1f" : "L%.1f %.1f", x, y);
        else
            stroke(s, index, at_x(s, e->x[from]), at_y(s, e->y[from]), x, y, THICK, &along);
    }
    if (svg)
        heed_text_add(svg, PATH_END);
    else
        heed__canvas_mask(&s->sketch.canvas, s->mask, color_of(s->chart, index));
    draw_lone_points(s, e, index);
    if (mark_text(p, index, text))
        draw_ring(s, at_x(s, e->x[p->mark_point]), at_y(s, e->y[p->mark_point]), index);
}

/* What a series is, in the legend from y on. Returns the y of the next one. */
static int draw_entry(surface *s, const heed_chart *p, int index, bool points, int y) {
    const heed_series *e = &p->series[index];
    char cut[HEED__LABEL], text[96];
    int x = s->width - s->right + 16;
    if (points)
        mark(s, index, x + 14, y + 8, 2);
    else if (s->sketch.vector)
        heed_text_add(begin_path(s, index, 4), "M%d %dh28" PATH_END, x, y + 8);
    else
        stroke(s, index, x, y + 8, x + 28, y + 8, 4, &(double){0});
    if (!s->sketch.vector) heed__canvas_mask(&s->sketch.canvas, s->mask, color_of(s->chart, index));
    write(s, x + 40, y + 1, HEED__LEFT, heed__text_fold(cut, e->label, SCALE, WIDEST));
    y += ENTRY;
    if (points || !mark_text(p, index, text)) return y;
    draw_ring(s, x + 14, y + 8, index);
    write(s, x + 40, y + 1, HEED__LEFT, heed__text_fold(cut, p->mark, SCALE, WIDEST));
    write(s, x + 40, y + ENTRY + 1, HEED__LEFT, heed__text_fold(cut, text, SCALE, WIDEST));
    return y + 2 * ENTRY;
}

static int legend_width(const heed_chart *p, bool points) {
    int widest = 0;
    char text[96];
    for (int i = 0; i < p->series_count; i++) {
        bool marked = !points && mark_text(p, i, text);
        const char *lines[] = {p->series[i].label, p->mark, text};
        for (int k = 0; k < (marked ? 3 : 1); k++)
            widest = heed__larger(widest, heed__text_width(lines[k], SCALE));
    }
    return 16 + 40 + (widest < WIDEST ? widest : WIDEST) + MARGIN;
}

typedef struct {
    const heed_chart *charts;
    int width, height;
} column;

static bool draw_chart(heed_ctx *c, const void *list, int index, bool vector, heed__sketch *out) {
    const column *e = list;
    const heed_chart *p = &e->charts[index];
    surface s = {.chart = p, .r = range_of(p), .right = legend_width(p, p->points)};
    s.left = heed__larger(LEFT, heed__ticks_width(s.r.y0, s.r.y1, Y_TICKS, SCALE) + 14);
    double pad = 0.02 * (s.r.x1 - s.r.x0);
    s.r.x0 -= pad, s.r.x1 += pad;
    s.width = e->width > 640 ? e->width : 640;
    s.height = e->height > 240 ? e->height : 240;
    bool ok = heed__sketch_new(c, &s.sketch, vector, s.width, s.height);
    if (ok && !vector) {
        s.mask = heed__alloc_array(c, (size_t)s.width, (size_t)s.height);
        ok = s.mask != NULL;
    }
    if (ok) {
        draw_axes(&s, p);
        if (p->points) draw_points(&s, p);
        for (int i = 0; !p->points && i < p->series_count; i++) draw_curve(&s, p, i);
        for (int i = 0, y = TOP; i < p->series_count; i++) /* right of the curves, to hide none */
            y = draw_entry(&s, p, i, p->points, y);
    }
    heed__free(s.mask);
    *out = s.sketch;
    return ok && !heed__stopped(c);
}

bool heed_charts_save(heed_ctx *c, const heed_chart *charts, int count, int width, int height,
                      heed_picture_form form, const char *path) {
    for (int i = 0; charts && i < count; i++)
        if (!is_complete(&charts[i]))
            return heed_fail(c, HEED_USAGE, "a series of chart %d lacks its label, x or y", i + 1);
    return charts && heed__sketches_save(c, draw_chart, &(column){charts, width, height}, count,
                                         true, form == HEED_SVG, path);
}

/* ---- in the terminal ---- */

enum { LEAST_GUTTER = 9 };
static const char signs[] = "*o+x#@%&"; /* of the series, without colours */

/* A character: 2x4 points as braille bits, and the last series that drew there. */
typedef struct {
    unsigned char dots;
    int owner;
} cell;

typedef struct {
    int width, height;
    int gutter; /* columns before it, of the numbers at ticks */
    cell *cells;
} grid;

static void point(grid *g, int x, int y, int series) {
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= 2 * g->width || y >= 4 * g->height) return;
    cell *at = &g->cells[y / 4 * g->width + x / 2];
    at->dots |= bits[y % 4][x % 2];
    at->owner = series;
}

static void segment(grid *g, double x0, double y0, double x1, double y1, int series) {
    int n = 1 + (int)fmax(fabs(x1 - x0), fabs(y1 - y0));
    for (int i = 0; i <= n; i++)
        point(g, (int)lround(x0 + (x1 - x0) * i / n), (int)lround(y0 + (y1 - y0) * i / n), series);
}

static void plot(grid *g, const heed_chart *p, range r) {
    double sx = (2 * g->width - 1) / (r.x1 - r.x0), sy = (4 * g->height - 1) / (r.y1 - r.y0);
    for (int s = 0; s < p->series_count; s++) {
        const heed_series *e = &p->series[s];
        for (int i = 0; i < e->count; i++) {
            int from = is_point(e, i - 1) ? i - 1 : i;
            if (is_point(e, i))
                segment(g, (e->x[from] - r.x0) * sx, (r.y1 - e->y[from]) * sy,
                        (e->x[i] - r.x0) * sx, (r.y1 - e->y[i]) * sy, s);
        }
    }
}

static bool put_cell(const heed_chart *p, cell of, bool color, heed_text *out) {
    if (!of.dots) return heed_text_put(out, " ", 1);
    if (!color) return heed_text_add(out, "%c", signs[of.owner % 8]);
    heed__rgb c = color_of(p, of.owner);
    char braille[4];
    int n = (int)heed__utf8_write(0x2800 + of.dots, braille);
    return heed_text_add(out, "\033[38;2;%d;%d;%dm%.*s\033[0m", c.r, c.g, c.b, n, braille);
}

static int y_ticks(const grid *g) { return g->height / 3 > 2 ? g->height / 3 : 2; }

/* The tick on this row, where a curve of its value is drawn, if any; else blanks. */
static void put_gutter(const grid *g, range r, int row, heed_text *out) {
    double ticks[12], step;
    char text[32] = "";
    int n = heed__ticks(r.y0, r.y1, y_ticks(g), ticks, &step);
    for (int i = 0; i < n; i++)
        if (lround((r.y1 - ticks[i]) / (r.y1 - r.y0) * (4 * g->height - 1)) / 4 == row)
            heed__tick_text(ticks[i], step, text);
    heed_text_add(out, "%*s %s", g->gutter - 2, text, text[0] ? "┤" : "│");
}

/* A sign and a label per series, and what is marked, in lines as wide as the curves. */
static void put_legend(const heed_chart *p, const grid *g, bool color, heed_text *out) {
    int used = 0;
    heed_text_add(out, "%*s", g->gutter, "");
    for (int s = 0; s < p->series_count; s++) {
        heed__rgb c = color_of(p, s);
        heed_text words = {.c = out->c};
        char text[96];
        heed_text_add(&words, "%s", p->series[s].label);
        if (mark_text(p, s, text)) heed_text_add(&words, ", %s: %s", p->mark, text);
        int own = heed_label_columns(words.s) + 6;
        if (used > 0 && used + own > g->width) {
            heed__end_line(out);
            heed_text_add(out, "%*s", g->gutter, "");
            used = 0;
        }
        if (color)
            heed_text_add(out, "\033[38;2;%d;%d;%dm━━\033[0m ", c.r, c.g, c.b);
        else
            heed_text_add(out, "%c ", signs[s % 8]);
        heed_label_words(words.s, g->gutter + (color ? 3 : 2), g->gutter + g->width, out);
        heed_text_free(&words);
        heed_text_add(out, "   ");
        used += own;
    }
}

static void put_footer(const heed_chart *p, const grid *g, range r, bool color, heed_text *out) {
    double ticks[12], step;
    char text[32], line[512];
    int width = g->width;
    heed_text_add(out, "%*s└", g->gutter - 1, "");
    for (int i = 0; i < width; i++) heed_text_put(out, "─", strlen("─"));
    memset(line, ' ', sizeof line);
    int n = heed__ticks(r.x0, r.x1, width / 14 > 2 ? width / 14 : 2, ticks, &step), end = 0;
    for (int i = 0; i < n; i++) {
        x_text(p, ticks[i], step, text);
        int size = (int)strlen(text),
            at = (int)lround((ticks[i] - r.x0) / (r.x1 - r.x0) * (width - 1)) - size / 2;
        if (at < end) at = end;
        if (at + size > width || at + size >= (int)sizeof line) break;
        memcpy(line + at, text, (size_t)size);
        end = at + size + 1;
    }
    const char *label = p->x_label ? p->x_label : "";
    int capacity = width - heed_label_columns(label);
    heed_text_add(out, "\n%*s%.*s", g->gutter, "", end, line);
    bool apart = end >= capacity; /* a number occupies the place of the label */
    if (apart) heed__end_line(out);
    heed_text_add(out, "%*s%s", apart ? g->gutter + capacity : 1, "", label);
    heed__end_line(out);
    put_legend(p, g, color, out);
    heed__end_line(out);
}

bool heed_chart_text(const heed_chart *p, int width, int height, bool color, heed_text *out) {
    if (!p || !out || !is_complete(p)) return false;
    range r = range_of(p);
    width = width < 30 ? 30 : width > 200 ? 200 : width;
    height = height < 4 ? 4 : height > 100 ? 100 : height;
    grid g = {.height = height};
    g.gutter = heed__larger(LEAST_GUTTER, heed__ticks_width(r.y0, r.y1, y_ticks(&g), 0) + 2);
    g.width = width - g.gutter;
    g.cells = heed__alloc_array(out->c, (size_t)g.width * (size_t)height, sizeof *g.cells);
    if (!g.cells) return false;
    plot(&g, p, r);
    if (p->title) {
        heed_text_add(out, "%*s", g.gutter, "");
        heed_label_words(p->title, g.gutter, width, out);
        heed__end_line(out);
    }
    for (int row = 0; row < height; row++) {
        put_gutter(&g, r, row, out);
        for (int i = 0; i < g.width; i++) put_cell(p, g.cells[row * g.width + i], color, out);
        heed__end_line(out);
    }
    put_footer(p, &g, r, color, out);
    heed__free(g.cells);
    return !heed__stopped(out->c);
}
