/* overlay_text.c -- weights of a grid over a picture, in the terminal: a small picture, and a panel
 * for each map beside it, or below it if the terminal is narrow. */
#include "core/core.h"
#include "text/text.h"
#include "view/overlay.h"
#include "view/shade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 28, GAP = 2 };

typedef struct {
    const heed_overlay *o;
    heed_terminal terminal;
    heed_text *out;
    int width, height; /* of a panel, in points of one column by half a line */
    double top;
} plan;

/* Points are square: a cell of the grid covers a whole number of them. */
static plan plan_of(const heed_overlay *o, heed_terminal terminal, int columns, heed_text *out) {
    int most = o->rows > o->cols ? o->rows : o->cols, capacity = columns < SIDE ? columns : SIDE;
    int times = capacity / most > 1 ? capacity / most : 1;
    plan p = {.o = o, .terminal = terminal, .out = out, .top = 1e-30};
    p.width = o->cols * times;
    p.height = o->rows * times;
    for (int i = 0; i < o->count; i++)
        if (!heed__is_measure(o, i)) p.top = fmax(p.top, heed__overlay_largest(o, i));
    return p;
}

/* The mean colour of the area that a point covers. */
static heed__rgb point_of(const plan *p, int x, int y) {
    const heed_overlay *o = p->o;
    int x0 = x * o->width / p->width, x1 = (x + 1) * o->width / p->width;
    int y0 = y * o->height / p->height, y1 = (y + 1) * o->height / p->height, n = 0;
    double sum[3] = {0};
    if (x1 <= x0) x1 = x0 + 1;
    if (y1 <= y0) y1 = y0 + 1;
    for (int j = y0; j < y1; j++)
        for (int i = x0; i < x1; i++, n++)
            for (int k = 0; k < 3; k++)
                sum[k] +=
                    o->pixels[((size_t)j * (size_t)o->width + (size_t)i) * (size_t)o->channels +
                              (o->channels == 3 ? (size_t)k : 0)];
    return (heed__rgb){(unsigned char)lround(sum[0] / n), (unsigned char)lround(sum[1] / n),
                       (unsigned char)lround(sum[2] / n)};
}

static double grey_of(heed__rgb c) { return (0.299 * c.r + 0.587 * c.g + 0.114 * c.b) / 255; }

/* The share on the scale of map i - 1, shown in panel i; NAN: left out. */
static double map_share(const plan *p, int panel, int x, int y) {
    const heed_overlay *o = p->o;
    int at = y * o->rows / p->height * o->cols + x * o->cols / p->width, map = panel - 1;
    double top = heed__is_measure(o, map) ? heed__overlay_largest(o, map) : p->top;
    return (double)o->maps[map][at] / (top > 0 ? top : 1);
}

/* Panel 0 is the picture; cells that a map leaves out show the picture in dark grey. */
static heed__rgb color_at(const plan *p, int panel, int x, int y) {
    heed__rgb c = point_of(p, x, y);
    if (panel == 0) return c;
    double share = map_share(p, panel, x, y);
    if (isfinite(share)) return heed__viridis(share);
    unsigned char grey = (unsigned char)(110 * grey_of(c));
    return (heed__rgb){grey, grey, grey};
}

static double share_at(const plan *p, int panel, int x, int y) {
    if (panel == 0) return grey_of(point_of(p, x, y));
    double share = map_share(p, panel, x, y);
    return isfinite(share) ? fmax(share, 0) : 0;
}

static void put_line(const plan *p, int panel, int line) {
    int below = 2 * line + 1 < p->height ? 2 * line + 1 : 2 * line;
    for (int x = 0; x < p->width; x++) {
        if (p->terminal == HEED_ASCII) {
            double sum = share_at(p, panel, x, 2 * line) + share_at(p, panel, x, below);
            char letter = heed__ramp(sum / 2);
            heed_text_put(p->out, &letter, 1);
        } else
            heed__put_half(p->out, p->terminal, color_at(p, panel, x, 2 * line),
                           color_at(p, panel, x, below));
    }
    if (p->terminal != HEED_ASCII) heed_text_put(p->out, "\033[0m", 4);
}

static void put_names(const plan *p, int from, int to) {
    for (int i = from; i < to; i++) {
        const char *name = i ? p->o->captions ? p->o->captions[i - 1] : "" : "picture";
        heed__put_label(p->out, name ? name : "", p->width, false);
        heed_text_add(p->out, "%*s", GAP, "");
    }
    heed__end_line(p->out);
}

/* Panels [from, to) side by side. */
static void put_row(const plan *p, int from, int to) {
    int lines = (p->height + 1) / 2;
    put_names(p, from, to);
    for (int line = 0; line < lines; line++) {
        for (int i = from; i < to; i++) {
            put_line(p, i, line);
            heed_text_add(p->out, "%*s", GAP, "");
        }
        heed__end_line(p->out);
    }
}

bool heed_overlay_text(const heed_overlay *o, heed_terminal terminal, int width, heed_text *out) {
    if (!o || !out || !heed__overlay_check(out->c, o)) return false;
    if (width < 20) width = 100;
    plan p = plan_of(o, terminal, width, out);
    int per_row = (width + GAP) / (p.width + GAP), panels = o->count + 1;
    if (per_row < 1) per_row = 1;
    if (o->title) {
        heed_label_text(o->title, width, out);
        heed__end_line(out);
    }
    for (int from = 0; from < panels; from += per_row)
        put_row(&p, from, from + per_row < panels ? from + per_row : panels);
    heed__put_legend(
        out, terminal,
        (heed__legend){
            .hi = p.top, .times = 100, .unit = "percent of a row's attention", .width = width});
    if (o->measures) {
        heed_label_words(HEED__OWN_SCALES, 0, width, out);
        heed__end_line(out);
    }
    return !heed__stopped(out->c);
}
