/* overlay.c -- weights of a grid over a picture: the picture, then a panel for each map, in which
 * the grey picture shows through the map's colours. */
#include "view/overlay.h"

#include "core/core.h"
#include "view/sketch.h"

#include <heed/view.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MARGIN = 20,
    GAP = 20,
    ROOM = 1500,
    SIDE = 224,
    TITLE = 34,
    CAPTION = 56,
    LEGEND = 40,
    LINE = 16,
    LEAST = 480
};
static const heed__rgb INK = {40, 40, 40}, SOFT = {110, 110, 110};

typedef struct {
    const heed_overlay *o;
    heed__sketch sketch;
    int full_width, full_height;
    int width, height, columns; /* of a panel; panels per row */
    double top, uniform;        /* end of the scale; weight of a cell if all are equal */
    int digits;                 /* decimals of weights */
} plan;

/* A small picture is enlarged by an integer factor; a large one is reduced to SIDE. */
static void panel_size(plan *p) {
    const heed_overlay *o = p->o;
    int most = o->width > o->height ? o->width : o->height, times = SIDE / most;
    p->width = times ? o->width * times : (int)((int64_t)o->width * SIDE / most);
    p->height = times ? o->height * times : (int)((int64_t)o->height * SIDE / most);
    if (p->width < 1) p->width = 1;
    if (p->height < 1) p->height = 1;
}

static bool lay_out(heed_ctx *c, plan *p, bool vector) {
    int panels = p->o->count + 1, cell;
    panel_size(p);
    cell = (p->width > 120 ? p->width : 120) + GAP;
    p->columns = (ROOM - 2 * MARGIN + GAP) / cell;
    if (p->columns > panels) p->columns = panels;
    int rows = (panels + p->columns - 1) / p->columns;
    p->columns = (panels + rows - 1) / rows;
    int width = 2 * MARGIN - GAP + p->columns * cell;
    int title = p->o->title ? heed__text_width(p->o->title, 2) + 2 * MARGIN : 0;
    if (title < LEAST) title = LEAST;
    p->full_width = width > title ? width : title;
    p->full_height = 2 * MARGIN + (p->o->title ? TITLE : 0) + LEGEND + (p->o->measures ? LINE : 0) +
                     rows * (p->height + CAPTION);
    return heed__sketch_new(c, &p->sketch, vector, p->full_width, p->full_height);
}

static double weight_at(const heed_overlay *o, const heed_real *map, int row, int col) {
    row = row < 0 ? 0 : row >= o->rows ? o->rows - 1 : row;
    col = col < 0 ? 0 : col >= o->cols ? o->cols - 1 : col;
    double v = (double)map[(size_t)row * (size_t)o->cols + (size_t)col];
    return isfinite(v) && v > 0 ? v : 0;
}

/* The map at (u,v) of the unit square: its cell, or interpolated between the centres of four cells.
 */
static double sample(const heed_overlay *o, const heed_real *map, double u, double v) {
    if (o->cells) return weight_at(o, map, (int)(v * o->rows), (int)(u * o->cols));
    double x = u * o->cols - 0.5, y = v * o->rows - 0.5;
    int col = (int)floor(x), row = (int)floor(y);
    double fx = x - col, fy = y - row;
    double above = weight_at(o, map, row, col) * (1 - fx) + weight_at(o, map, row, col + 1) * fx;
    double below =
        weight_at(o, map, row + 1, col) * (1 - fx) + weight_at(o, map, row + 1, col + 1) * fx;
    return above * (1 - fy) + below * fy;
}

double heed__overlay_largest(const heed_overlay *o, int map) {
    double top = -INFINITY;
    for (int i = 0; i < o->rows * o->cols; i++)
        if (isfinite((double)o->maps[map][i])) top = fmax(top, (double)o->maps[map][i]);
    return isfinite(top) ? top : 0;
}

bool heed__is_measure(const heed_overlay *o, int map) { return map >= o->count - o->measures; }

/* A head with uniform attention has a uniform medium colour, so the scale ends at twice the uniform
 * weight or more. */
static void set_scale(plan *p) {
    const heed_overlay *o = p->o;
    p->uniform = o->uniform > 0 ? o->uniform : 1 / ((double)o->rows * o->cols);
    p->digits = 1 - (int)floor(log10(p->uniform));
    if (p->digits < 1) p->digits = 1;
    p->top = 2 * p->uniform;
    for (int i = 0; i < o->count; i++)
        if (!heed__is_measure(o, i)) p->top = fmax(p->top, heed__overlay_largest(o, i));
}

static double top_of(const plan *p, int map) {
    double own = heed__is_measure(p->o, map) ? heed__overlay_largest(p->o, map) : p->top;
    return own > 0 ? own : 1;
}

/* Colour over grey (0.299 R + 0.587 G + 0.114 B): the picture is pale where the weight is 0 or a
 * map leaves a cell out. */
static void tint(const plan *p, int map, heed__canvas *panel) {
    double top = top_of(p, map);
    for (int j = 0; j < p->height; j++)
        for (int i = 0; i < p->width; i++) {
            unsigned char *at = panel->rgb + 3 * ((size_t)j * (size_t)p->width + (size_t)i);
            double w = sample(p->o, p->o->maps[map], (i + 0.5) / p->width, (j + 0.5) / p->height);
            double grey = 0.299 * at[0] + 0.587 * at[1] + 0.114 * at[2];
            double share = w / top, opacity = 0.6 + 0.15 * share;
            heed__rgb c = heed__paper(share);
            at[0] = (unsigned char)lround(grey + (c.r - grey) * opacity);
            at[1] = (unsigned char)lround(grey + (c.g - grey) * opacity);
            at[2] = (unsigned char)lround(grey + (c.b - grey) * opacity);
        }
}

static void write_line(plan *p, int x, int y, const char *text) {
    int capacity = (p->width > 120 ? p->width : 120) + GAP / 2;
    int scale = heed__text_width(text, 2) <= capacity ? 2 : 1;
    heed__sketch_text(&p->sketch, x, y, scale, INK, HEED__LEFT, capacity, text);
}

/* Panel 0 is the picture, panel i map i - 1. */
static void draw_panel(plan *p, int index) {
    const heed_overlay *o = p->o;
    char second[48] = "";
    int x = MARGIN + index % p->columns * ((p->width > 120 ? p->width : 120) + GAP);
    int y = MARGIN + (o->title ? TITLE : 0) + index / p->columns * (p->height + CAPTION);
    heed__canvas panel;
    if (!heed__canvas_new(p->sketch.c, &panel, p->width, p->height)) return;
    heed__canvas_pixels(&panel, 0, 0, p->width, p->height,
                        (heed__pixels){o->pixels, o->width, o->height, o->channels});
    if (index > 0) tint(p, index - 1, &panel);
    heed__sketch_picture(&p->sketch, x, y, &panel);
    heed__free(panel.rgb);
    if (index == 0) {
        write_line(p, x, y + p->height + 6, "picture");
        return;
    }
    snprintf(second, sizeof second, "largest %.*f", p->digits, heed__overlay_largest(o, index - 1));
    if (o->captions && o->captions[index - 1])
        write_line(p, x, y + p->height + 6, o->captions[index - 1]);
    write_line(p, x, y + p->height + 28, second);
}

/* "0 [colours] 0.210  | uniform 0.016": a mark shows the uniform weight. This is the scale of
 * attention. */
static void draw_legend(plan *p) {
    enum { RAMP = 160 };
    char end[32], uniform[48];
    int below = p->o->measures ? LINE : 0, y = p->full_height - MARGIN - 20 - below;
    int mark = MARGIN + 20 + (int)lround((RAMP - 1) * p->uniform / p->top);
    snprintf(end, sizeof end, "%.*f", p->digits, p->top);
    snprintf(uniform, sizeof uniform, "uniform = %.*f", p->digits, p->uniform);
    heed__sketch_text(&p->sketch, MARGIN, y + 2, 2, SOFT, HEED__LEFT, p->full_width, "0");
    for (int i = 0; i < RAMP; i++)
        heed__sketch_box(&p->sketch, MARGIN + 20 + i, y, 1, 18, heed__paper(i / (RAMP - 1.0)));
    heed__sketch_frame(&p->sketch, MARGIN + 20, y, RAMP, 18);
    int x = MARGIN + 28 + RAMP;
    heed__sketch_box(&p->sketch, mark, y - 3, 2, 24, INK);
    heed__sketch_text(&p->sketch, x, y + 2, 2, SOFT, HEED__LEFT, p->full_width, end);
    x += heed__text_width(end, 2) + 24;
    heed__sketch_box(&p->sketch, x, y - 3, 2, 24, INK);
    heed__sketch_text(&p->sketch, x + 8, y + 2, 2, INK, HEED__LEFT, p->full_width, uniform);
    if (below)
        heed__sketch_text(&p->sketch, MARGIN, y + 26, 1, INK, HEED__LEFT, p->full_width,
                          HEED__OWN_SCALES);
}

bool heed__overlay_check(heed_ctx *c, const heed_overlay *o) {
    bool ok = o && o->pixels && o->width > 0 && o->height > 0 &&
              (o->channels == 1 || o->channels == 3) && o->rows > 0 && o->cols > 0 &&
              o->count > 0 && o->count <= 1024 && o->maps && o->measures >= 0 &&
              o->measures <= o->count;
    for (int i = 0; ok && i < o->count; i++) ok = o->maps[i] != NULL;
    return ok || heed_fail(c, HEED_USAGE,
                           "an overlay lacks something: expected a picture of 1 or 3 channels and "
                           "1 to 1024 maps of a grid");
}

static bool draw(heed_ctx *c, const heed_overlay *o, bool vector, const char *path) {
    plan p = {.o = o};
    if (heed__stopped(c) || !heed__overlay_check(c, o)) return false;
    bool ok = lay_out(c, &p, vector);
    set_scale(&p);
    if (ok && o->title)
        heed__sketch_text(&p.sketch, MARGIN, MARGIN, 2, INK, HEED__LEFT, p.full_width, o->title);
    for (int i = 0; ok && i <= o->count; i++) draw_panel(&p, i);
    if (ok) draw_legend(&p);
    ok = ok && heed__sketch_save(&p.sketch, path);
    heed__sketch_free(&p.sketch);
    return ok;
}

bool heed_overlay_png(heed_ctx *c, const heed_overlay *o, const char *path) {
    return draw(c, o, false, path);
}

bool heed_overlay_svg(heed_ctx *c, const heed_overlay *o, const char *path) {
    return draw(c, o, true, path);
}
