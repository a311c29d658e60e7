/* chart_text.c -- curves in the terminal: braille dots in colour, or a letter per series. */
#include "view/chart.h"

#include "core/core.h"
#include "text/text.h"
#include "view/canvas.h"

#include <math.h>
#include <string.h>

enum { GUTTER = 9 };

/* A grid of characters; each holds 2x4 points as braille bits, and the last series that drew there.
 */
typedef struct {
    int width, height;
    unsigned char *dots;
    signed char *owner;
} grid;

static void point(grid *g, int x, int y, int series) {
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= 2 * g->width || y >= 4 * g->height) return;
    size_t at = (size_t)(y / 4) * (size_t)g->width + (size_t)(x / 2);
    g->dots[at] |= bits[y % 4][x % 2];
    g->owner[at] = (signed char)series;
}

static void segment(grid *g, double x0, double y0, double x1, double y1, int series) {
    int n = 1 + (int)fmax(fabs(x1 - x0), fabs(y1 - y0));
    for (int i = 0; i <= n; i++)
        point(g, (int)lround(x0 + (x1 - x0) * i / n), (int)lround(y0 + (y1 - y0) * i / n), series);
}

static void plot(grid *g, const heed_chart *p, heed__range r) {
    double sx = (2 * g->width - 1) / (r.x1 - r.x0), sy = (4 * g->height - 1) / (r.y1 - r.y0);
    for (int s = 0; s < p->series_count; s++) {
        const heed_series *e = &p->series[s];
        bool joined = false;
        double px = 0, py = 0;
        for (int i = 0; i < e->count; i++) {
            bool ok = isfinite(e->x[i]) && isfinite(e->y[i]);
            double x = ok ? (e->x[i] - r.x0) * sx : 0, y = ok ? (r.y1 - e->y[i]) * sy : 0;
            if (ok) segment(g, joined ? px : x, joined ? py : y, x, y, s);
            joined = ok;
            px = x, py = y;
        }
    }
}

static bool put_cell(const grid *g, size_t at, bool color, heed_text *out) {
    if (!g->dots[at]) return heed_text_put(out, " ", 1);
    if (!color) return heed_text_add(out, "%c", "*o+x#@%&"[g->owner[at] % 8]);
    heed__rgb c = heed__series_color(g->owner[at]);
    char braille[4];
    int n = (int)heed_utf8_write(0x2800 + g->dots[at], braille);
    return heed_text_add(out, "\033[38;2;%d;%d;%dm%.*s\033[0m", c.r, c.g, c.b, n, braille);
}

/* The tick on this row, if any, else blanks. */
static void put_gutter(heed__range r, int row, int height, heed_text *out) {

    double ticks[12], step;
    char text[32] = "";
    int n = heed__ticks(r.y0, r.y1, height / 3 > 2 ? height / 3 : 2, ticks, &step);
    for (int i = 0; i < n; i++)
        if ((int)lround((r.y1 - ticks[i]) / (r.y1 - r.y0) * (height - 1)) == row)
            heed__tick_text(ticks[i], step, text, sizeof text);
    heed_text_add(out, "%*s %s", GUTTER - 2, text, text[0] ? "┤" : "│");
}

/* A sign and a label per series, in lines of `width` columns. */
static void put_legend(const heed_chart *p, int width, bool color, heed_text *out) {
    int used = 0;
    heed_text_add(out, "%*s", GUTTER, "");
    for (int s = 0; s < p->series_count; s++) {
        heed__rgb c = heed__series_color(s);
        const char *label = p->series[s].label;
        int own = heed__text_width(label, 1) / 6 + 6;
        if (used > 0 && used + own > width) {
            heed__end_line(out);
            heed_text_add(out, "%*s", GUTTER, "");
            used = 0;
        }
        if (color)
            heed_text_add(out, "\033[38;2;%d;%d;%dm━━\033[0m %s   ", c.r, c.g, c.b, label);
        else
            heed_text_add(out, "%c %s   ", "*o+x#@%&"[s % 8], label);
        used += own;
    }
}

static void put_footer(const heed_chart *p, heed__range r, int width, bool color, heed_text *out) {
    double ticks[12], step;
    char text[32], line[512];
    heed_text_add(out, "%*s└", GUTTER - 1, "");
    for (int i = 0; i < width; i++) heed_text_put(out, "─", strlen("─"));
    memset(line, ' ', sizeof line);
    int n = heed__ticks(r.x0, r.x1, width / 14 > 2 ? width / 14 : 2, ticks, &step), end = 0;
    for (int i = 0; i < n; i++) {
        heed__tick_text(ticks[i], step, text, sizeof text);
        int size = (int)strlen(text),
            at = (int)lround((ticks[i] - r.x0) / (r.x1 - r.x0) * (width - 1)) - size / 2;
        if (at < end) at = end;
        if (at + size > width || at + size >= (int)sizeof line) break;
        memcpy(line + at, text, (size_t)size);
        end = at + size + 1;
    }
    const char *label = p->x_label ? p->x_label : "";
    int capacity = width - heed_label_columns(label);
    heed_text_add(out, "\n%*s%.*s", GUTTER, "", end, line);
    bool apart = end >= capacity; /* a number occupies the place of the label */
    if (apart) heed__end_line(out);
    heed_text_add(out, "%*s%s", apart ? GUTTER + capacity : 1, "", label);
    heed__end_line(out);
    put_legend(p, width, color, out);
    heed__end_line(out);
}

bool heed_chart_text(const heed_chart *p, int width, int height, bool color, heed_text *out) {
    if (!p || !out) return false;
    heed__range r = heed__chart_range(p);
    width = width < 30 ? 30 : width > 200 ? 200 : width;
    height = height < 4 ? 4 : height > 100 ? 100 : height;
    grid g = {.width = width - GUTTER, .height = height};
    size_t cells = (size_t)g.width * (size_t)height;
    g.dots = heed__alloc(out->c, cells);
    g.owner = heed__alloc(out->c, cells);
    if (g.dots && g.owner) {
        plot(&g, p, r);
        if (p->title) {
            heed_text_add(out, "%*s", GUTTER, "");
            heed_label_words(p->title, GUTTER, width, out);
            heed__end_line(out);
        }
        for (int row = 0; row < height; row++) {
            put_gutter(r, row, height, out);
            for (int i = 0; i < g.width; i++)
                put_cell(&g, (size_t)row * (size_t)g.width + (size_t)i, color, out);
            heed__end_line(out);
        }
        put_footer(p, r, g.width, color, out);
    }
    bool ok = g.dots && g.owner;
    heed__free(g.dots);
    heed__free(g.owner);
    return ok;
}
