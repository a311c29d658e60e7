/* figure.c -- heat maps, maps over a picture and contact sheets as PNG or SVG: panels in a grid
 * under a title, then the scales and a note. A heat map has cells of whole pixels, row labels on
 * the left and column labels above (rotated if some are wider than a cell). Over a picture each row
 * of a map is a panel: the grey picture shows through the map's colours. */
#include "core/core.h"
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 20, GAP = 8, RAMP = 160, BAR = 18, LEGEND = 44, TITLE = 34, CAPTION = 26 };
enum { LINE = HEED__NOTE_LINE, MOST = 12000, VECTOR_CELLS = 400000, LONGEST_TITLE = 1600 };
enum { LETTER = 10, LONGEST_LABEL = 240, PANEL = 360, MANY = 64 }; /* of heat maps */
enum {
    WIDTH = 1500,
    SIDE = 224,
    LEAST_PANEL = 120,
    LEAST_WIDTH = 600,
    BELOW = 22
}; /* of pictures */
/* Of the picture under a map: the most contrast, the mean lightness to which it is brightened and
 * then the one to which it is paled, both of 1; and the most opacity of the map. */
static const double PALE = 0.7, MIDDLE = 0.5, LEAST_GAMMA = 0.5, LIGHT = 0.71, OPAQUE = 0.75;
static const heed__rgb INK = {40, 40, 40}, SOFT = {110, 110, 110}, FRAME = {243, 243, 240};

typedef struct {
    const heed_panels *all;
    const heed_heatmap *map;    /* the first map, which determines the sizes */
    const heed_heatmap *beside; /* a map in the same rows; or NULL */
    heed__sketch sketch;
    heed__scale of;                      /* all rows but those with their own scale */
    bool fractions;                      /* some value is not an integer */
    int own;                             /* number of rows with their own scale */
    int scale, cell;                     /* scale of letters; side of a cell in pixels */
    int width, height;                   /* of the cells or the picture in a panel, */
    int left, top;                       /* which begin there */
    int count, columns, rows, between;   /* panels, and the space between them */
    int wide, tall;                      /* size of a panel */
    bool turned;                         /* column labels of several letters are rotated */
    char from[32], to[128], uniform[48]; /* of the legend; uniform: "" if there is no mark */
    heed_text note;                      /* in lines that fit the figure */
    int lines;
} plan;

/* ---- scales and colours ---- */

typedef enum { SHADES, SIGNED, RISING, GREY } palette; /* RISING: the half of SIGNED above 0 */

static heed__rgb color_of(palette k, double share) {
    unsigned char grey = (unsigned char)lround(255 * fmax(0, fmin(share, 1)));
    if (k == GREY) return (heed__rgb){grey, grey, grey};
    return k == SHADES ? heed__paper(share) : heed__signed(k == SIGNED ? 2 * share - 1 : share);
}

double heed__row_end(const heed_heatmap *m, int row) { return m->ends ? (double)m->ends[row] : 0; }

/* The largest value of `sign` times a row, or 0. */
static double largest(const heed_heatmap *m, int row, int sign) {
    double top = 0;
    for (int i = row * m->cols; i < (row + 1) * m->cols; i++)
        if (isfinite((double)m->values[i])) top = fmax(top, sign * (double)m->values[i]);
    return top;
}

double heed__row_start(const heed_heatmap *m, int row) {
    return largest(m, row, -1) > 0 ? -heed__row_end(m, row) : 0;
}

bool heed__row_is_share(const heed_heatmap *m, int row) {
    return !(heed__row_end(m, row) > 0) || (m->shares && m->shares[row]);
}

bool heed__row_is_apart(const heed_heatmap *m, int row, double hi) {
    double end = heed__row_end(m, row);
    return end > 0 && !(heed__row_is_share(m, row) && fabs(end - hi) < 1e-6 * hi);
}

heed__scale heed__scale_of(const heed_heatmap *maps, int count) {
    heed__scale s = {.lo = (double)maps->lo, .both = maps->lo < 0};
    double top = s.both ? 0 : s.lo;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < maps[k].rows; i++)
            if (!(heed__row_end(&maps[k], i) > 0)) top = fmax(top, largest(&maps[k], i, 1));
    s.hi = fmax(maps->hi > 0 ? (double)maps->hi : top, fmin(2 * maps->uniform, 1));
    if (s.both) {
        s.hi = fmax(s.hi, -s.lo);
        s.lo = -s.hi;
    }
    s.above = top > s.hi;
    return s;
}

/* Unknown values have the colour of nothing. */
static double value_at(const plan *p, const heed_heatmap *m, int cell) {
    double v = (double)m->values[cell];
    return isfinite(v) ? v : p->of.both ? 0 : p->of.lo;
}

static void number_text(const plan *p, double v, char text[32]) {
    if (v < 0 && v > -0.005) v = 0;
    snprintf(text, 32, p->fractions ? fabs(v) < 0.995 ? "%.2f" : "%.3g" : "%.0f", v);
}

/* Sets the scale and returns the width of the widest number in letters of size 1. */
static int measure(plan *p) {
    int widest = 0;
    char text[32];
    p->of = heed__scale_of(p->all->maps, p->all->count);
    for (int k = 0; k < p->all->count; k++) {
        const heed_heatmap *m = &p->all->maps[k];
        for (int i = 0; i < m->rows * m->cols; i++)
            p->fractions |= value_at(p, m, i) != floor(value_at(p, m, i));
    }
    for (int i = 0; i < p->map->rows; i++) p->own += heed__row_is_apart(p->map, i, p->of.hi);
    for (int i = 0; p->map->numbers && i < p->map->rows * p->map->cols; i++) {
        number_text(p, value_at(p, p->map, i), text);
        widest = heed__larger(widest, heed__text_width(text, 1));
    }
    return widest;
}

static double share_of(const plan *p, double v) {
    return p->of.hi > p->of.lo ? (v - p->of.lo) / (p->of.hi - p->of.lo) : 0;
}

static heed__rgb cell_color(const plan *p, const heed_heatmap *m, int cell) {
    double v = value_at(p, m, cell), end = heed__row_end(m, cell / m->cols);
    if (m->pixels || (!p->of.both && !(end > 0)))
        return color_of(m->pixels ? GREY : SHADES, share_of(p, v));
    if (end > 0 && heed__row_is_share(m, cell / m->cols)) return heed__paper(v / end);
    return heed__signed(v / (p->of.both ? p->of.hi : end));
}

/* ---- sizes of heat maps ---- */

static int widest_label(const plan *p, const char *const *labels, int count) {
    int widest = 0;
    for (int i = 0; labels && i < count; i++)
        widest = heed__larger(widest, labels[i] ? heed__text_width(labels[i], p->scale) : 0);
    return widest < LONGEST_LABEL ? widest : LONGEST_LABEL;
}

/* Cells of many panels are smaller, but those of a text of usual length as high as its letters. */
static int cell_size(const plan *p, int number) {
    int side = heed__larger(p->map->rows, p->map->cols), most = MOST / side;
    int cell = (6 + heed__larger(number, 8)) * p->scale;
    if (p->all->count > 1 && !p->map->numbers && cell * side > PANEL)
        cell = heed__larger(PANEL / side, side <= MANY ? 9 : 3);
    return cell < most ? cell : most;
}

static void size_panels(plan *p) {
    const heed_heatmap *m = p->map;
    int head = widest_label(p, m->col_labels, m->cols);
    p->turned = head > p->cell - 4;
    if (!p->turned || head < 8 * p->scale) head = 8 * p->scale;
    p->left = widest_label(p, m->row_labels, m->rows) + GAP;
    p->top = heed__larger(p->top, (p->all->count > 1 ? CAPTION : 0) + head + GAP);
    p->width = p->cell * m->cols;
    p->height = p->cell * m->rows;
    p->wide = p->left + p->width;
    p->tall = p->top + p->height;
}

/* Panels that are narrower than the title or the legend are in fewer rows, all equally long, and
 * cells of small maps then grow until their row is as wide, and their letters with them. */
static void fill(plan *p, int width) {
    int count = p->count, fits = (width + p->between) / (p->wide + p->between);
    for (int n = p->columns + 1; p->all->columns == 0 && n <= fits && n <= count; n++)
        if (count % n == 0) p->columns = n;
    int panel = (width + p->between) / p->columns - p->between;
    int cell = (panel - p->left) / p->map->cols, most = 3 * p->cell;
    int side = heed__larger(p->map->rows, p->map->cols);
    if (count > 1 && most > PANEL / side) most = heed__larger(PANEL / side, p->cell);
    if (p->map->numbers || p->beside || cell <= p->cell) return;
    p->cell = cell < most ? cell : most;
    if (p->cell >= 14 * 2) p->scale = 2;
    p->top = 0; /* labels of wider cells may no longer be turned */
    size_panels(p);
}

static int letters(const plan *p) {
    const heed_heatmap *m = p->map;
    bool many = p->all->count > 1 && m->numbers; /* then cells grow with the letters */
    return heed__larger(m->rows, m->cols) <= (many ? 12 : 24) ? 2 : 1;
}

/* Two maps in the same rows: the smaller letters, the larger cells and the lower place. */
static void share_rows(plan *p, int number) {
    heed_panels one = {.count = 1, .maps = p->beside};
    plan other = {.all = &one, .map = p->beside};
    int widest = measure(&other);
    p->scale = other.scale = letters(&other) < p->scale ? 1 : p->scale;
    int cell = heed__larger(cell_size(p, number), cell_size(&other, widest));
    int side = heed__larger(p->map->rows, heed__larger(p->map->cols, p->beside->cols));
    p->cell = other.cell = cell < MOST / side ? cell : MOST / side;
    size_panels(&other);
    p->top = other.top;
}

/* If a letter is higher than a cell, labels are at regular intervals of several cells. */
static int label_step(const plan *p) { return (7 * p->scale + p->cell - 1) / p->cell; }

/* ---- all sizes ---- */

/* The lines below a panel over a picture: its name, its largest value and whether it is even. */
static int captions(const plan *p, int row, char text[3][64]) {
    const heed_heatmap *m = p->map;
    int digits = m->uniform > 0 ? heed__larger(1 - (int)floor(log10(m->uniform)), 1) : 3;
    snprintf(text[0], 64, "%.60s", row < 0 ? "picture" : m->row_labels ? m->row_labels[row] : "");
    if (row < 0) return 1;
    if (heed__row_is_share(m, row))
        snprintf(text[1], 64, "largest %.*f", digits, largest(m, row, 1));
    else
        snprintf(text[1], 64, "%.3g to %.3g", fmin(0 - largest(m, row, -1), 0), largest(m, row, 1));
    snprintf(text[2], 64, "nearly uniform");
    return 2 +
           (heed__row_is_share(m, row) && heed__nearly_uniform(m->values + row * m->cols, m->cols));
}

static void size_over(plan *p) {
    char text[3][64];
    int lines = 2;
    p->width = p->map->picture->width;
    p->height = p->map->picture->height;
    heed__fit_size(SIDE, &p->width, &p->height);
    for (int i = 0; i < p->map->rows; i++) lines = heed__larger(lines, captions(p, i, text));
    p->wide = heed__larger(p->width, LEAST_PANEL);
    p->tall = p->height + lines * BELOW;
    p->between = 20;
    p->count = 1 + p->map->rows;
    int columns = (WIDTH - 2 * MARGIN + p->between) / (p->wide + p->between);
    int rows = (p->count + columns - 1) / columns;
    p->columns = (p->count + rows - 1) / rows;
}

/* "0" and "0.51 and more  added to the loss", left and right of the colours, then what the mark
 * shows. Returns its width. */
static int write_legend(plan *p) {
    const char *unit = p->map->unit;
    if (!unit && p->map->uniform > 0) unit = "of a row's attention (1 = 100 %)";
    snprintf(p->from, sizeof p->from, fabs(p->of.lo) < 1000 ? "%.3g" : "%.0f", p->of.lo);
    snprintf(p->to, sizeof p->to, p->of.hi < 1000 ? "%.3g%s%s%.60s" : "%.0f%s%s%.60s", p->of.hi,
             p->of.above ? " and more" : "", unit ? "  " : "", unit ? unit : "");
    if (p->map->uniform > 0)
        snprintf(p->uniform, sizeof p->uniform, "uniform = %.3g%s", p->map->uniform,
                 p->map->uniform_mean ? ", mean of rows" : "");
    return p->left + heed__text_width(p->from, 2) + 8 + RAMP + 8 + heed__text_width(p->to, 2) +
           (*p->uniform ? 32 + heed__text_width(p->uniform, 2) : 0);
}

static void put_ramp(heed__sketch *s, int x, int y, palette k) {
    int step = s->vector ? 4 : 1;
    for (int i = 0; i < RAMP; i += step)
        heed__sketch_box(s, x + i, y, step, BAR, color_of(k, i / (double)(RAMP - step)));
    heed__sketch_frame(s, x, y, RAMP, BAR);
}

/* The width of the legends of rows with their own scale, "occlusion: -0.99 to 0.99, unit", which
 * are drawn one below the other from (x,y) if s is not NULL. It begins below 0 only if a value
 * does. */
static int put_own_legends(const plan *p, heed__sketch *s, int x, int y) {
    const heed_heatmap *m = p->map;
    int widest = 0;
    char text[200];
    for (int i = 0; p->own && i < m->rows; i++) {
        if (!heed__row_is_apart(p->map, i, p->of.hi)) continue;
        bool unit = m->units && m->units[i];
        double start = heed__row_start(m, i);
        snprintf(text, sizeof text, "%.60s: %.3g to %.3g%s%.90s",
                 m->row_labels ? m->row_labels[i] : "", start, heed__row_end(m, i),
                 unit ? ", " : "", unit ? m->units[i] : "");
        widest = heed__larger(widest, RAMP + 8 + heed__text_width(text, 2));
        if (!s) continue;
        put_ramp(s, x, y, heed__row_is_share(m, i) ? SHADES : start < 0 ? SIGNED : RISING);
        heed__sketch_text(s, x + 8 + RAMP, y + 2, 2, SOFT, HEED__LEFT, MOST, text);
        y += LINE + 2;
    }
    return widest;
}

/* Upper edge of a row of panels. */
static int panel_top(const plan *p, int row) {
    return MARGIN + (p->all->title ? TITLE : 0) + (p->all->subtitle ? LINE : 0) +
           row * (p->tall + p->between);
}

/* How to read the colours and the labels, and what the caller says; returns the number of lines. */
static int write_note(plan *p, int width) {
    const heed_heatmap *m = p->map;
    int step = m->picture ? 1 : label_step(p);
    heed_text all = {.c = p->note.c};
    heed_text_add(&all, m->pixels    ? "Brighter is more."
                        : p->of.both ? "Blue is below 0, orange above."
                                     : "Darker is more.");
    if (step > 1 && (m->row_labels || m->col_labels))
        heed_text_add(&all, " Every %d%s label is shown.", step,
                      step == 2   ? "nd"
                      : step == 3 ? "rd"
                                  : "th");
    if (p->all->note) heed_text_add(&all, " %s", p->all->note);
    int lines = heed__wrap_note(all.s, width, &p->note);
    heed_text_free(&all);
    return lines;
}

static bool lay_out(heed_ctx *c, plan *p, bool vector) {
    const heed_heatmap *m = p->map;
    int number = measure(p), columns = p->all->columns, count = p->count = p->all->count;
    p->between = 28;
    p->columns = columns ? columns : (int)ceil(sqrt(count));
    p->columns = p->columns < 1 ? 1 : p->columns > count ? count : p->columns;
    if (m->picture)
        size_over(p);
    else {
        p->scale = letters(p);
        p->cell = cell_size(p, number);
        if (p->beside) share_rows(p, number);
        size_panels(p);
    }
    int least = m->picture ? LEAST_WIDTH : p->all->title ? 0 : RAMP + 120;
    const char *lines[] = {p->all->title, p->all->subtitle};
    for (int i = 0; i < 2; i++)
        if (lines[i]) least = heed__larger(least, heed__text_width(lines[i], 2));
    if (least > LONGEST_TITLE) least = LONGEST_TITLE;
    least = heed__larger(least, write_legend(p));
    least = heed__larger(least, p->left + 24 + put_own_legends(p, NULL, 0, 0));
    if (!m->picture) fill(p, least);
    p->rows = (p->count + p->columns - 1) / p->columns;
    int width = heed__larger(least, p->columns * (p->wide + p->between) - p->between);
    p->lines = write_note(p, width);
    if (vector && (double)p->all->count * m->rows * m->cols > VECTOR_CELLS)
        return heed_fail(
            c, HEED_USAGE,
            "too many cells for an SVG: expected at most %d, found %d x %d x %d; hint: "
            "`png`, or one `head`",
            VECTOR_CELLS, p->all->count, m->rows, m->cols);
    return heed__sketch_new(c, &p->sketch, vector, 2 * MARGIN + width,
                            panel_top(p, p->rows) - p->between + LEGEND + p->lines * LINE +
                                p->own * (LINE + 2) + MARGIN);
}

/* ---- a panel: cells and labels ---- */

static void draw_cells(plan *p, const heed_heatmap *m, int x, int y) {
    int side = p->cell - (p->cell > 6 && !m->pixels);
    for (int i = 0; i < m->rows * m->cols; i++) {
        int left = x + i % m->cols * p->cell, top = y + i / m->cols * p->cell;
        if (p->of.both || m->pixels || heed__row_end(m, i / m->cols) > 0)
            heed__sketch_box(&p->sketch, left, top, side, side, cell_color(p, m, i));
        else
            heed__sketch_cell(&p->sketch, left, top, side,
                              (float)fmax(0, fmin(share_of(p, value_at(p, m, i)), 1)));
    }
    heed__sketch_end_cells(&p->sketch);
    heed__sketch_frame(&p->sketch, x, y, m->cols * p->cell, m->rows * p->cell);
    for (int i = 0; m->numbers && i < m->rows * m->cols; i++) {
        char text[32];
        double v = value_at(p, m, i);
        number_text(p, v, text);
        if (v == 0 || heed__text_width(text, p->scale) + 2 > p->cell) continue;
        heed__sketch_text(&p->sketch, x + i % m->cols * p->cell + p->cell / 2,
                          y + i / m->cols * p->cell + (p->cell - 7 * p->scale) / 2, p->scale,
                          heed__ink(cell_color(p, m, i)), HEED__MIDDLE, p->cell, text);
    }
}

static void draw_labels(plan *p, const heed_heatmap *m, int x, int y) {
    int letter = 9 * p->scale, step = label_step(p);
    int middle = (p->cell - 7 * p->scale) / 2;
    for (int i = 0; m->row_labels && i < m->rows; i += step)
        heed__sketch_text(&p->sketch, x - GAP, y + i * p->cell + middle, p->scale, INK, HEED__RIGHT,
                          LONGEST_LABEL, m->row_labels[i] ? m->row_labels[i] : "");
    for (int j = 0; m->col_labels && j < m->cols; j += step) {
        const char *label = m->col_labels[j] ? m->col_labels[j] : "";
        int at = x + j * p->cell;
        if (p->turned && heed_label_columns(label) > 1)
            heed__sketch_text(&p->sketch, at + middle, y - GAP, p->scale, INK, HEED__UP,
                              LONGEST_LABEL, label);
        else
            heed__sketch_text(&p->sketch, at + p->cell / 2, y - GAP - letter, p->scale, INK,
                              HEED__MIDDLE, heed__larger(p->cell, LETTER * p->scale), label);
    }
}

/* ---- a panel: a picture, and a row over it ---- */

/* A picture in that size. */
static bool picture_canvas(heed_ctx *c, const heed_tile *t, int width, int height,
                           heed__canvas *out) {
    if (!heed__canvas_new(c, out, width, height)) return false;
    heed__canvas_pixels(out, 0, 0, width, height,
                        (heed__pixels){t->pixels, t->width, t->height, t->channels});
    return true;
}

static double weight_at(const heed_heatmap *m, int map, int row, int col) {
    int cols = m->grid_cols, rows = m->cols / cols;
    row = row < 0 ? 0 : row >= rows ? rows - 1 : row;
    col = col < 0 ? 0 : col >= cols ? cols - 1 : col;
    double v = (double)m->values[map * m->cols + row * cols + col];
    return isfinite(v) ? v : 0;
}

/* A row of the map at (u,v) of the unit square: the cell there, or interpolated between the centres
 * of four cells. */
static double sample(const heed_heatmap *m, int map, double u, double v) {
    int cols = m->grid_cols, rows = m->cols / cols;
    if (m->cells) return weight_at(m, map, (int)(v * rows), (int)(u * cols));
    double x = u * cols - 0.5, y = v * rows - 0.5;
    int col = (int)floor(x), row = (int)floor(y);
    double fx = x - col, fy = y - row;
    double above = weight_at(m, map, row, col) * (1 - fx) + weight_at(m, map, row, col + 1) * fx;
    double below =
        weight_at(m, map, row + 1, col) * (1 - fx) + weight_at(m, map, row + 1, col + 1) * fx;
    return above * (1 - fy) + below * fy;
}

static double mean_of(const heed__canvas *picture, double gamma) {
    double sum = 0;
    int n = picture->width * picture->height;
    for (int i = 0; i < n; i++) sum += pow(heed__grey(heed__canvas_at(picture, i)), gamma);
    return sum / n;
}

/* The picture in grey, paler than it is, of lightness 1 - contrast (1 - grey^gamma): dark colours,
 * which are much, are not seen over a dark picture, so that is lightened and, where this is not
 * enough, paler. Over it the colour of the weight, the more opaque the more it is above uniform, so
 * that the picture is recognised everywhere. The page does the same (picture.js). Of other
 * measures, what differs from 0 is coloured, also the more opaque; pale colours would hide dark
 * parts of the picture. */
static void tint(const plan *p, int map, heed__canvas *panel) {
    const heed_heatmap *m = p->map;
    bool measure = !heed__row_is_share(m, map);
    double end = heed__row_end(m, map), top = end > 0 ? end : p->of.hi > 0 ? p->of.hi : 1;
    double from = measure ? 0 : m->uniform, mean = mean_of(panel, 1), gamma = 1;
    if (mean < MIDDLE) gamma = fmax(LEAST_GAMMA, log(MIDDLE) / log(fmax(mean, 1e-3)));
    double contrast = fmin(PALE, (1 - LIGHT) / fmax(1 - mean_of(panel, gamma), 1e-3));
    for (int i = 0; i < p->width * p->height; i++) {
        unsigned char *at = panel->rgb + 3 * (size_t)i;
        double w =
            sample(m, map, (i % p->width + 0.5) / p->width, (i / p->width + 0.5) / p->height);
        double grey =
            255 * (1 - contrast * (1 - pow(heed__grey(heed__canvas_at(panel, i)), gamma)));
        double above = top > from ? ((measure ? fabs(w) : w) - from) / (top - from) : 0;
        above = fmax(0, fmin(above, 1));
        double opacity = OPAQUE * (measure ? above : sqrt(above));
        heed__rgb c = measure ? heed__signed(w < 0 ? -1 : 1) : heed__paper(w / top);
        at[0] = (unsigned char)lround(grey + (c.r - grey) * opacity);
        at[1] = (unsigned char)lround(grey + (c.g - grey) * opacity);
        at[2] = (unsigned char)lround(grey + (c.b - grey) * opacity);
    }
}

/* row -1: the picture itself. */
static void draw_over(plan *p, int row, int x, int y) {
    char text[3][64];
    heed__canvas panel;
    if (!picture_canvas(p->sketch.c, p->map->picture, p->width, p->height, &panel)) return;
    if (row >= 0) tint(p, row, &panel);
    heed__sketch_picture(&p->sketch, x, y, &panel);
    heed__free(panel.rgb);
    int lines = captions(p, row, text), capacity = p->wide + p->between / 2;
    for (int i = 0; i < lines; i++)
        heed__sketch_text(&p->sketch, x, y + p->height + 6 + i * BELOW,
                          heed__text_width(text[i], 2) <= capacity ? 2 : 1, INK, HEED__LEFT,
                          capacity, text[i]);
}

static void draw_panel(plan *p, int index) {
    int x = MARGIN + index % p->columns * (p->wide + p->between);
    int y = panel_top(p, index / p->columns);
    if (p->map->picture) {
        draw_over(p, index - 1, x, y);
        return;
    }
    const heed_heatmap *m = &p->all->maps[index];
    if (p->count > 1 && m->title)
        heed__sketch_text(&p->sketch, x + p->left, y,
                          heed__text_width(m->title, 2) <= p->width ? 2 : 1, INK, HEED__LEFT,
                          p->wide, m->title);
    draw_cells(p, m, x + p->left, y + p->top);
    draw_labels(p, m, x + p->left, y + p->top);
}

/* ---- the figure ---- */

static void draw_legend(plan *p) {
    heed__sketch *s = &p->sketch;
    int x = MARGIN + p->left, y = panel_top(p, p->rows) - p->between + 24;
    heed__sketch_text(s, x, y + 2, 2, SOFT, HEED__LEFT, 100, p->from);
    x += heed__text_width(p->from, 2) + 8;
    put_ramp(s, x, y, p->map->pixels ? GREY : p->of.both ? SIGNED : SHADES);
    heed__sketch_text(s, x + 8 + RAMP, y + 2, 2, SOFT, HEED__LEFT, MOST, p->to);
    if (*p->uniform) { /* a mark at the uniform weight, and what it means */
        int right = x + 32 + RAMP + heed__text_width(p->to, 2);
        int at = x + (int)lround((RAMP - 1) * share_of(p, p->map->uniform));
        heed__sketch_box(s, at, y - 3, 2, BAR + 6, INK);
        heed__sketch_box(s, right, y - 3, 2, BAR + 6, INK);
        heed__sketch_text(s, right + 8, y + 2, 2, INK, HEED__LEFT, 400, p->uniform);
    }
    put_own_legends(p, s, x, y + LINE + 2);
    y += LEGEND - LINE + 10 + p->own * (LINE + 2);
    for (char *line = p->note.s, *next; line; line = next, y += LINE) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        heed__sketch_text(s, MARGIN, y, 2, SOFT, HEED__LEFT, MOST, line);
    }
}

static bool check(heed_ctx *c, const heed_panels *all) {
    bool ok = all && all->maps && all->count > 0 && all->count <= 4096;
    for (int i = 0; ok && i < all->count; i++) {
        const heed_heatmap *m = &all->maps[i];
        ok = m->values && m->rows >= 1 && m->cols >= 1 && m->rows <= MOST && m->cols <= MOST &&
             m->rows == all->maps->rows && m->cols == all->maps->cols;
    }
    if (!ok)
        return heed_fail(
            c, HEED_USAGE,
            "heat map is wrong: expected values of 1 to %d rows and columns, and equal "
            "sizes of several maps",
            MOST);
    const heed_tile *t = all->maps->picture;
    return !t || (heed__has_pixels(t) && all->count == 1 && heed__has_grid(all->maps)) ||
           heed_fail(c, HEED_USAGE,
                     "a map over a picture is wrong: expected one map, whose columns are the "
                     "patches of a grid, over pixels of 1 or 3 channels");
}

/* Draws without saving; the sketch must be freed in any case. */
static bool draw(heed_ctx *c, const heed_panels *all, const heed_heatmap *beside, bool vector,
                 heed__sketch *out) {
    *out = (heed__sketch){.vector = vector};
    if (heed__stopped(c) || !check(c, all)) return false;
    plan p = {.all = all, .map = all->maps, .beside = beside, .note = {.c = c}};
    bool ok = lay_out(c, &p, vector);
    if (ok && all->title)
        heed__sketch_text(&p.sketch, MARGIN, MARGIN, 2, INK, HEED__LEFT, LONGEST_TITLE, all->title);
    if (ok && all->subtitle)
        heed__sketch_text(&p.sketch, MARGIN, MARGIN + (all->title ? LINE : 0), 2, SOFT, HEED__LEFT,
                          LONGEST_TITLE, all->subtitle);
    for (int i = 0; ok && i < p.count; i++) draw_panel(&p, i);
    if (ok) draw_legend(&p);
    heed_text_free(&p.note);
    *out = p.sketch;
    return ok && !heed__stopped(c);
}

bool heed_panels_save(heed_ctx *c, const heed_panels *all, heed_picture_form form,
                      const char *path) {
    heed__sketch s;
    bool ok = draw(c, all, NULL, form == HEED_SVG, &s) && heed__sketch_save(&s, path);
    heed__sketch_free(&s);
    return ok;
}

/* The map before or after this one that has the same rows; or NULL. */
static const heed_heatmap *beside(const heed_panels *list, int index) {
    const heed_heatmap *m = list->maps + index, *other = NULL;
    if (index > 0 && m->continues)
        other = m - 1;
    else if (index + 1 < list->count && m[1].continues)
        other = m + 1;
    bool fits = other && other->values && other->cols >= 1 && other->cols <= MOST;
    return fits && other->rows == m->rows ? other : NULL;
}

static bool draw_map(heed_ctx *c, const void *maps, int index, bool vector, heed__sketch *out) {
    const heed_panels *list = maps;
    const heed_heatmap *m = list->maps ? list->maps + index : NULL;
    heed_panels one = {.count = m != NULL, .maps = m};
    if (m) one.title = m->title, one.note = m->note;
    return draw(c, &one, m ? beside(list, index) : NULL, vector, out);
}

bool heed_heatmaps_save(heed_ctx *c, const heed_heatmap *maps, int count, heed_picture_form form,
                        const char *path) {
    heed_panels list = {.count = count, .maps = maps};
    return heed__sketches_save(c, draw_map, &list, count, false, form == HEED_SVG, path);
}

/* ---- contact sheets ---- */

static bool check_sheet(heed_ctx *c, const heed_sheet *s, int side) {
    if (!s || s->count < 1 || !s->tiles)
        return heed_fail(c, HEED_USAGE, "a contact sheet needs pictures: found none");
    for (int i = 0; i < s->count; i++) {
        const heed_tile *t = &s->tiles[i];
        if (!heed__has_pixels(t))
            return heed_fail(c, HEED_USAGE,
                             "picture %d of the sheet: expected pixels of 1 or 3 channels, found "
                             "%d x %d of %d",
                             i, t->width, t->height, t->channels);
    }
    return side <= MOST || heed_fail(c, HEED_USAGE, "tiles of %d pixels are too large", side);
}

static void draw_tile(heed__sketch *out, const heed_tile *t, int side, int scale, int x, int y) {
    int width = t->width, height = t->height;
    heed__canvas picture;
    heed__fit_size(side, &width, &height);
    heed__sketch_box(out, x, y, side, side, FRAME);
    if (!picture_canvas(out->c, t, width, height, &picture)) return;
    heed__sketch_picture(out, x + (side - width) / 2, y + (side - height) / 2, &picture);
    heed__free(picture.rgb);
    for (int k = 0; k < HEED_TILE_LINES; k++)
        if (t->captions[k])
            heed__sketch_text(out, x + side / 2, y + side + 4 + k * (9 * scale + 4), scale,
                              k ? SOFT : INK, HEED__MIDDLE, side, t->captions[k]);
}

bool heed_sheet_save(heed_ctx *c, const heed_sheet *s, heed_picture_form form, const char *path) {
    enum { ACROSS = 1000, APART = 14, LARGEST = 16384 };
    int side = s && s->side > 0 ? s->side : 96, lines = 0, scale = 2;
    heed__sketch out;
    if (heed__stopped(c) || !check_sheet(c, s, side)) return false;
    int columns = s->columns > 0 ? s->columns : (ACROSS - 2 * MARGIN + APART) / (side + APART);
    columns = columns < 1 ? 1 : columns > s->count ? s->count : columns;
    /* Captions are of larger letters if every one then fits under its picture. */
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < HEED_TILE_LINES; k++) {
            const char *text = s->tiles[i].captions[k];
            if (text) lines = heed__larger(lines, k + 1);
            if (text && heed__text_width(text, 2) > side) scale = 1;
        }
    int head = MARGIN + (s->title ? TITLE : 0), tall = side + APART + lines * (9 * scale + 4);
    int64_t width = 2 * MARGIN - APART + ((int64_t)side + APART) * columns,
            height = head + MARGIN - APART + (int64_t)tall * ((s->count + columns - 1) / columns);
    if (s->title && width < heed__text_width(s->title, 2) + 2 * MARGIN)
        width = heed__text_width(s->title, 2) + 2 * MARGIN;
    if (width > LARGEST || height > LARGEST)
        return heed_fail(c, HEED_USAGE, "a sheet of %d pictures of %d pixels is too large",
                         s->count, side);
    bool ok = heed__sketch_new(c, &out, form == HEED_SVG, (int)width, (int)height);
    if (ok && s->title) heed__sketch_text(&out, MARGIN, MARGIN, 2, INK, HEED__LEFT, MOST, s->title);
    for (int i = 0; ok && i < s->count; i++)
        draw_tile(&out, &s->tiles[i], side, scale, MARGIN + i % columns * (side + APART),
                  head + i / columns * tall);
    ok = ok && heed__sketch_save(&out, path);
    heed__sketch_free(&out);
    return ok;
}
