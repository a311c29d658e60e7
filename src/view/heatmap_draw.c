/* heatmap_draw.c -- labelled matrices as a picture, PNG or SVG: cells of whole pixels, row labels
 * on the left, column labels above (rotated if some are wider than a cell), one legend for all. */
#include "core/core.h"
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MARGIN = 20,
    GAP = 8,
    BETWEEN = 28,
    RAMP = 160,
    LEGEND = 44,
    TITLE = 34,
    CAPTION = 26,
    LINE = HEED__NOTE_LINE
};
enum { LETTER = 10, LONGEST_LABEL = 240, PANEL = 360, MANY = 64, LONGEST_TITLE = 1600 };
enum { MOST = 12000, VECTOR_CELLS = 400000 };
static const heed__rgb INK = {40, 40, 40}, SOFT = {110, 110, 110};

typedef struct {
    const heed_panels *all;
    const heed_heatmap *map;    /* the first map, which determines the sizes */
    const heed_heatmap *beside; /* a map in the same rows; or NULL */
    bool vector;
    heed__sketch sketch;
    double lo, hi;
    bool fractions, above;               /* some value is not an integer; some value is above hi */
    bool both;                           /* values on both sides of 0: from -hi to hi */
    int own;                             /* number of rows with their own scale */
    int scale, cell;                     /* scale of letters; side of a cell in pixels */
    int left, top;                       /* position of the first cell in its panel */
    int columns, rows;                   /* of panels */
    int wide, tall;                      /* size of a panel */
    bool turned;                         /* column labels of several letters are rotated */
    char from[32], to[128], uniform[48]; /* of the legend; uniform: "" if there is no mark */
    heed_text note;                      /* in lines that fit the picture */
    int lines;
} plan;

/* Unknown values have the colour of nothing. */
static double value_at(const plan *p, const heed_heatmap *m, int cell) {
    double v = (double)m->values[cell];
    return isfinite(v) ? v : p->both ? 0 : p->lo;
}

static void number_text(const plan *p, double v, char text[32]) {
    if (v < 0 && v > -0.005) v = 0;
    snprintf(text, 32, p->fractions ? fabs(v) < 0.995 ? "%.2f" : "%.3g" : "%.0f", v);
}

/* The end of the scale of a cell's row if it is not the common one, else 0. */
static double end_of(const heed_heatmap *m, int cell) {
    return m->ends ? (double)m->ends[cell / m->cols] : 0;
}

/* Sets the scale and returns the width of the widest number in letters of size 1. */
static int measure(plan *p) {
    double top = p->lo = (double)p->map->lo;
    int widest = 0;
    char text[32];
    for (int i = 0; p->map->ends && i < p->map->rows; i++) p->own += p->map->ends[i] > 0;
    for (int k = 0; k < p->all->count; k++) {
        const heed_heatmap *m = &p->all->maps[k];
        for (int i = 0; i < m->rows * m->cols; i++) {
            double v = value_at(p, m, i);
            if (!(end_of(m, i) > 0)) top = fmax(top, v);
            p->fractions |= v != floor(v);
        }
    }
    p->hi = fmax(p->map->hi > 0 ? (double)p->map->hi : top, fmin(2 * p->map->uniform, 1));
    p->both = p->lo < 0;
    if (p->both) {
        p->hi = fmax(p->hi, -p->lo);
        p->lo = -p->hi;
    }
    p->above = top > p->hi;
    for (int i = 0; p->map->numbers && i < p->map->rows * p->map->cols; i++) {
        number_text(p, value_at(p, p->map, i), text);
        widest = heed__larger(widest, heed__text_width(text, 1));
    }
    return widest;
}

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
    p->wide = p->left + p->cell * m->cols;
    p->tall = p->top + p->cell * m->rows;
    int count = p->all->count, columns = p->all->columns;
    if (columns == 0) columns = (int)ceil(sqrt(count));
    p->columns = columns < 1 ? 1 : columns > count ? count : columns;
    p->rows = (count + p->columns - 1) / p->columns;
}

/* "0" and "0.51 and more  added to the loss", left and right of the colours, then what the mark
 * shows. Returns its width. */
static int write_legend(plan *p) {
    const char *unit = p->map->unit;
    if (!unit && p->map->uniform > 0) unit = "of a row's attention (1 = 100 %)";
    snprintf(p->from, sizeof p->from, fabs(p->lo) < 1000 ? "%.3g" : "%.0f", p->lo);
    snprintf(p->to, sizeof p->to, p->hi < 1000 ? "%.3g%s%s%.60s" : "%.0f%s%s%.60s", p->hi,
             p->above ? " and more" : "", unit ? "  " : "", unit ? unit : "");
    if (p->map->uniform > 0)
        snprintf(p->uniform, sizeof p->uniform, "uniform = %.3g%s", p->map->uniform,
                 p->map->uniform_mean ? ", mean of rows" : "");
    return p->left + heed__text_width(p->from, 2) + 8 + RAMP + 8 + heed__text_width(p->to, 2) +
           (*p->uniform ? 32 + heed__text_width(p->uniform, 2) : 0);
}

/* Where a row's own scale begins: below 0 only if it has a value there. */
static double start_of(const heed_heatmap *m, int row) {
    bool below = false;
    for (int j = 0; j < m->cols; j++) below |= m->values[row * m->cols + j] < 0;
    return below ? -(double)m->ends[row] : 0;
}

/* The width of the legends of rows with their own scale, which are drawn one below the other from
 * (x,y) if s is not NULL. */
static int put_own_legends(const plan *p, heed__sketch *s, int x, int y) {
    const heed_heatmap *m = p->map;
    int widest = 0;
    for (int i = 0; p->own && i < m->rows; i++) {
        if (!(m->ends[i] > 0)) continue;
        int width = heed__sketch_scale(s, x, y,
                                       (heed__scale){.name = m->row_labels ? m->row_labels[i] : "",
                                                     .unit = m->units ? m->units[i] : NULL,
                                                     .from = start_of(m, i),
                                                     .end = (double)m->ends[i],
                                                     .shares = m->shares && m->shares[i]});
        widest = heed__larger(widest, width);
        y += LINE + 2;
    }
    return widest;
}

/* Upper edge of a row of panels. */
static int panel_top(const plan *p, int row) {
    return MARGIN + (p->all->title ? TITLE : 0) + (p->all->subtitle ? LINE : 0) +
           row * (p->tall + BETWEEN);
}

/* Narrow panels are drawn in fewer rows, all equally long, if their title and legend are as wide.
 */
static void fill_rows(plan *p, int width) {
    int count = p->all->count, most = (width + BETWEEN) / (p->wide + BETWEEN);
    for (int n = p->columns + 1; p->all->columns == 0 && n <= most && n <= count; n++)
        if (count % n == 0) p->columns = n;
}

/* Cells of small maps grow until their row is as wide as title and legend, and their letters with
 * them. */
static void fill_width(plan *p, int width) {
    int columns = p->columns, panel = (width + BETWEEN) / columns - BETWEEN;
    int cell = (panel - p->left) / p->map->cols, most = 3 * p->cell;
    int side = heed__larger(p->map->rows, p->map->cols);
    if (p->all->count > 1 && most > PANEL / side) most = heed__larger(PANEL / side, p->cell);
    if (!p->map->numbers && !p->beside && cell > p->cell) {
        p->cell = cell < most ? cell : most;
        if (p->cell >= 14 * 2) p->scale = 2;
        p->top = 0; /* labels of wider cells may no longer be turned */
        size_panels(p);
    }
    p->columns = columns;
    p->rows = (p->all->count + columns - 1) / columns;
}

/* If a letter is higher than a cell, labels are at regular intervals of several cells. */
static int label_step(const plan *p) { return (7 * p->scale + p->cell - 1) / p->cell; }

/* How to read the colours and the labels, and what the caller says; returns the number of lines. */
static int write_note(plan *p, int width) {
    const heed_heatmap *m = p->map;
    int step = label_step(p);
    heed_text all = {.c = p->note.c};
    heed_text_add(&all, m->pixels ? "Brighter is more."
                        : p->both ? "Blue is below 0, orange above."
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

static int letters(const plan *p) {
    const heed_heatmap *m = p->map;
    bool many = p->all->count > 1 && m->numbers; /* then cells grow with the letters */
    return heed__larger(m->rows, m->cols) <= (many ? 12 : 24) ? 2 : 1;
}

/* Two maps in the same rows: the smaller letters, the larger cells and the lower place. */
static void share_rows(plan *p) {
    heed_panels one = {.count = 1, .maps = p->beside};
    plan other = {.all = &one, .map = p->beside};
    int number = measure(&other);
    p->scale = other.scale = letters(&other) < p->scale ? 1 : p->scale;
    int cell = heed__larger(cell_size(p, measure(p)), cell_size(&other, number));
    int side = heed__larger(p->map->rows, heed__larger(p->map->cols, p->beside->cols));
    p->cell = other.cell = cell < MOST / side ? cell : MOST / side;
    size_panels(&other);
    p->top = other.top;
}

static bool lay_out(heed_ctx *c, plan *p) {
    const heed_heatmap *m = p->map;
    const char *title = p->all->title;
    int number = measure(p);
    p->scale = letters(p);
    p->cell = cell_size(p, number);
    if (p->beside) share_rows(p);
    size_panels(p);
    int least = title ? heed__text_width(title, 2) : RAMP + 120;
    if (p->all->subtitle) least = heed__larger(least, heed__text_width(p->all->subtitle, 2));
    if (least > LONGEST_TITLE) least = LONGEST_TITLE;
    least = heed__larger(least, write_legend(p));
    least = heed__larger(least, p->left + 24 + put_own_legends(p, NULL, 0, 0));
    fill_rows(p, least);
    fill_width(p, least);
    int width = heed__larger(least, p->columns * (p->wide + BETWEEN) - BETWEEN);
    p->lines = write_note(p, width);
    if (p->vector && (double)p->all->count * m->rows * m->cols > VECTOR_CELLS)
        return heed_fail(
            c, HEED_USAGE,
            "too many cells for an SVG: expected at most %d, found %d x %d x %d; hint: "
            "`png`, or one `head`",
            VECTOR_CELLS, p->all->count, m->rows, m->cols);
    return heed__sketch_new(c, &p->sketch, p->vector, 2 * MARGIN + width,
                            panel_top(p, p->rows) - BETWEEN + LEGEND + p->lines * LINE +
                                p->own * (LINE + 2) + MARGIN);
}

/* ---- a panel ---- */

static double share_of(const plan *p, double v) {
    return p->hi > p->lo ? (v - p->lo) / (p->hi - p->lo) : 0;
}

static heed__rgb grey_of(double share) {
    unsigned char grey = (unsigned char)lround(255 * fmax(0, fmin(share, 1)));
    return (heed__rgb){grey, grey, grey};
}

static heed__rgb color_of(const plan *p, const heed_heatmap *m, int cell) {
    double v = value_at(p, m, cell), end = p->both ? p->hi : end_of(m, cell);
    if (m->pixels) return grey_of(share_of(p, v));
    if (m->shares && m->shares[cell / m->cols] && end > 0) return heed__paper(v / end);
    return end > 0 ? heed__signed(v / end) : heed__paper(share_of(p, v));
}

static void draw_numbers(plan *p, const heed_heatmap *m, int x, int y) {
    for (int i = 0; i < m->rows * m->cols; i++) {
        char text[32];
        double v = value_at(p, m, i);
        number_text(p, v, text);
        if (v == 0 || heed__text_width(text, p->scale) + 2 > p->cell) continue;
        heed__sketch_text(&p->sketch, x + i % m->cols * p->cell + p->cell / 2,
                          y + i / m->cols * p->cell + (p->cell - 7 * p->scale) / 2, p->scale,
                          heed__ink(color_of(p, m, i)), HEED__MIDDLE, p->cell, text);
    }
}

static void draw_cells(plan *p, const heed_heatmap *m, int x, int y) {
    int side = p->cell - (p->cell > 6 && !m->pixels);
    for (int i = 0; i < m->rows * m->cols; i++) {
        int left = x + i % m->cols * p->cell, top = y + i / m->cols * p->cell;
        if (p->both || m->pixels || end_of(m, i) > 0)
            heed__sketch_box(&p->sketch, left, top, side, side, color_of(p, m, i));
        else
            heed__sketch_cell(&p->sketch, left, top, side,
                              (float)fmax(0, fmin(share_of(p, value_at(p, m, i)), 1)));
    }
    heed__sketch_end_cells(&p->sketch);
    heed__sketch_frame(&p->sketch, x, y, m->cols * p->cell, m->rows * p->cell);
    if (m->numbers) draw_numbers(p, m, x, y);
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

static void draw_panel(plan *p, int index) {
    const heed_heatmap *m = &p->all->maps[index];
    int x = MARGIN + index % p->columns * (p->wide + BETWEEN);
    int y = panel_top(p, index / p->columns);
    if (p->all->count > 1 && m->title)
        heed__sketch_text(&p->sketch, x + p->left, y,
                          heed__text_width(m->title, 2) <= p->wide - p->left ? 2 : 1, INK,
                          HEED__LEFT, p->wide, m->title);
    draw_cells(p, m, x + p->left, y + p->top);
    draw_labels(p, m, x + p->left, y + p->top);
}

/* ---- the picture ---- */

static void draw_legend(plan *p) {
    int x = MARGIN + p->left, y = panel_top(p, p->rows) - BETWEEN + 24;
    heed__sketch_text(&p->sketch, x, y + 2, 2, SOFT, HEED__LEFT, 100, p->from);
    x += heed__text_width(p->from, 2) + 8;
    int step = p->vector ? 4 : 1;
    for (int i = 0; i < RAMP; i += step) {
        double share = i / (double)(RAMP - step);
        heed__sketch_box(&p->sketch, x + i, y, step, 18,
                         p->map->pixels ? grey_of(share)
                         : p->both      ? heed__signed(2 * share - 1)
                                        : heed__paper(share));
    }
    heed__sketch_text(&p->sketch, x + 8 + RAMP, y + 2, 2, SOFT, HEED__LEFT, MOST, p->to);
    heed__sketch_frame(&p->sketch, x, y, RAMP, 18);
    if (*p->uniform)
        heed__sketch_uniform(&p->sketch, x, RAMP, share_of(p, p->map->uniform), y,
                             x + 32 + RAMP + heed__text_width(p->to, 2), p->uniform);
    put_own_legends(p, &p->sketch, x, y + LINE + 2);
    y += LEGEND - LINE + 10 + p->own * (LINE + 2);
    heed__sketch_note(&p->sketch, MARGIN, y, &p->note);
}

static bool check(heed_ctx *c, const heed_panels *all) {
    bool ok = all && all->maps && all->count > 0 && all->count <= 4096;
    for (int i = 0; ok && i < all->count; i++) {
        const heed_heatmap *m = &all->maps[i];
        ok = m->values && m->rows >= 1 && m->cols >= 1 && m->rows <= MOST && m->cols <= MOST &&
             m->rows == all->maps->rows && m->cols == all->maps->cols;
    }
    return ok ||
           heed_fail(c, HEED_USAGE,
                     "heat map is wrong: expected values of 1 to %d rows and columns, and equal "
                     "sizes of several maps",
                     MOST);
}

/* Draws without saving; the sketch must be freed in any case. */
static bool draw(heed_ctx *c, const heed_panels *all, const heed_heatmap *beside, bool vector,
                 heed__sketch *out) {
    *out = (heed__sketch){.vector = vector};
    if (heed__stopped(c) || !check(c, all)) return false;
    plan p = {.all = all, .map = all->maps, .beside = beside, .vector = vector, .note = {.c = c}};
    bool ok = lay_out(c, &p);
    if (ok && all->title)
        heed__sketch_text(&p.sketch, MARGIN, MARGIN, 2, INK, HEED__LEFT, LONGEST_TITLE, all->title);
    if (ok && all->subtitle)
        heed__sketch_text(&p.sketch, MARGIN, MARGIN + (all->title ? LINE : 0), 2, SOFT, HEED__LEFT,
                          LONGEST_TITLE, all->subtitle);
    for (int i = 0; ok && i < all->count; i++) draw_panel(&p, i);
    if (ok) draw_legend(&p);
    heed_text_free(&p.note);
    *out = p.sketch;
    return ok && !heed__stopped(c);
}

static bool draw_file(heed_ctx *c, const heed_panels *all, bool vector, const char *path) {
    heed__sketch s;
    bool ok = draw(c, all, NULL, vector, &s) && heed__sketch_save(&s, path);
    heed__sketch_free(&s);
    return ok;
}

bool heed_panels_png(heed_ctx *c, const heed_panels *all, const char *path) {
    return draw_file(c, all, false, path);
}

bool heed_panels_svg(heed_ctx *c, const heed_panels *all, const char *path) {
    return draw_file(c, all, true, path);
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

static bool draw_maps(heed_ctx *c, const heed_heatmap *maps, int count, bool vector,
                      const char *path) {
    heed_panels list = {.count = count, .maps = maps};
    return heed__sketches_save(c, draw_map, &list, count, false, vector, path);
}

bool heed_heatmaps_png(heed_ctx *c, const heed_heatmap *maps, int count, const char *path) {
    return draw_maps(c, maps, count, false, path);
}

bool heed_heatmaps_svg(heed_ctx *c, const heed_heatmap *maps, int count, const char *path) {
    return draw_maps(c, maps, count, true, path);
}

bool heed_heatmap_png(heed_ctx *c, const heed_heatmap *m, const char *path) {
    return heed_heatmaps_png(c, m, 1, path);
}
