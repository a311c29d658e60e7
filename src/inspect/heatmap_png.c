/* A labelled matrix as a picture: cells of whole pixels, row labels on the left, column labels
 * above (on their side where they are wider than a cell), a legend below. */
#include "core/core.h"
#include "inspect/canvas.h"

#include <heed/inspect.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 20, GAP = 8, RAMP = 160, LEGEND = 44, TITLE = 34, LONGEST = 240, MOST = 12000 };
static const heed__rgb INK = {40, 40, 40}, SOFT = {110, 110, 110}, WHITE = {255, 255, 255};

typedef struct {
    const heed_heatmap *map;
    heed__canvas canvas;
    double hi;
    bool fractions, above; /* some value is no whole number; some value is above hi */
    int scale, cell;       /* of letters; pixels of a cell's side */
    int left, top;         /* of the first cell */
    bool upright;          /* column labels lie on their side */
} plan;

static double value_at(const heed_heatmap *m, int row, int col) {
    double v = (double)m->values[(size_t)row * (size_t)m->cols + (size_t)col];
    return isfinite(v) && v > 0 ? v : 0;
}

static void number_text(const plan *p, double v, char text[32]) {
    snprintf(text, 32, p->fractions ? v < 0.995 ? "%.2f" : "%.3g" : "%.0f", v);
}

/* Full scale, and how wide the widest number is in letters of size 1. */
static int measure(plan *p) {
    const heed_heatmap *m = p->map;
    double top = 0;
    int widest = 0;
    char text[32];
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++) {
            top = fmax(top, value_at(m, i, j));
            p->fractions |= value_at(m, i, j) != floor(value_at(m, i, j));
        }
    p->hi = m->hi > 0 ? (double)m->hi : top;
    p->above = top > p->hi;
    for (int i = 0; m->numbers && i < m->rows * m->cols; i++) {
        number_text(p, value_at(m, i / m->cols, i % m->cols), text);
        widest = (int)fmax(widest, heed__text_width(text, 1));
    }
    return widest;
}

static int widest_label(const char *const *labels, int count, int scale) {
    int widest = 0;
    for (int i = 0; labels && i < count; i++) {
        int w = labels[i] ? heed__text_width(labels[i], scale) : 0;
        if (w > widest) widest = w;
    }
    return widest < LONGEST ? widest : LONGEST;
}

static bool lay_out(heed_ctx *c, plan *p) {
    const heed_heatmap *m = p->map;
    int number = measure(p), side = m->rows > m->cols ? m->rows : m->cols;
    p->scale = side <= 24 ? 2 : 1;
    p->cell = 6 * p->scale + (number > 8 ? number : 8) * p->scale;
    if (p->cell * side > MOST) p->cell = MOST / side;
    int head = widest_label(m->col_labels, m->cols, p->scale);
    p->upright = head > p->cell - 4;
    p->left = MARGIN + widest_label(m->row_labels, m->rows, p->scale) + GAP;
    p->top = MARGIN + (m->title ? TITLE : 0) + (p->upright ? head : 8 * p->scale) + GAP;
    int width = p->left + p->cell * m->cols + MARGIN;
    int least = (m->title ? heed__text_width(m->title, 2) : RAMP + 120) + 2 * MARGIN;
    if (p->cell < 1)
        return heed_fail(c, HEED_USAGE, "a heat map of %d x %d cells is too large", m->rows,
                         m->cols);
    return heed__canvas_new(c, &p->canvas, width > least ? width : least,
                            p->top + p->cell * m->rows + LEGEND + MARGIN);
}

static void draw_cell(plan *p, int row, int col) {
    char text[32];
    double v = value_at(p->map, row, col), share = p->hi > 0 ? fmin(v / p->hi, 1) : 0;
    int x = p->left + col * p->cell, y = p->top + row * p->cell, line = p->cell > 6;
    heed__canvas_fill(&p->canvas, x, y, p->cell - line, p->cell - line, heed__viridis(share));
    number_text(p, v, text);
    int width = heed__text_width(text, p->scale) - p->scale;
    if (!p->map->numbers || v == 0 || width + 2 > p->cell) return;
    heed__canvas_text(&p->canvas, x + (p->cell - width) / 2, y + (p->cell - 7 * p->scale) / 2,
                      p->scale, share > 0.6 ? INK : WHITE, text);
}

static void draw_labels(plan *p) {
    const heed_heatmap *m = p->map;
    char cut[HEED__LABEL];
    int middle = (p->cell - 7 * p->scale) / 2;
    bool room = p->cell >= 7 * p->scale;
    for (int i = 0; room && m->row_labels && i < m->rows; i++) {
        heed__text_cut(cut, m->row_labels[i] ? m->row_labels[i] : "", p->scale, LONGEST);
        heed__canvas_text(&p->canvas, p->left - GAP - heed__text_width(cut, p->scale),
                          p->top + i * p->cell + middle, p->scale, INK, cut);
    }
    for (int j = 0; room && m->col_labels && j < m->cols; j++) {
        int x = p->left + j * p->cell;
        heed__text_cut(cut, m->col_labels[j] ? m->col_labels[j] : "", p->scale, LONGEST);
        if (p->upright)
            heed__canvas_text_up(&p->canvas, x + middle, p->top - GAP, p->scale, INK, cut);
        else
            heed__canvas_text(&p->canvas, x + (p->cell - heed__text_width(cut, p->scale)) / 2,
                              p->top - GAP - 9 * p->scale, p->scale, INK, cut);
    }
}

static void draw_legend(plan *p) {
    char text[128];
    int y = p->top + p->cell * p->map->rows + 24, x = p->left;
    heed__canvas_text(&p->canvas, x, y + 2, 2, SOFT, "0");
    for (int i = 0; i < RAMP; i++)
        heed__canvas_fill(&p->canvas, x + 20 + i, y, 1, 18, heed__viridis(i / (RAMP - 1.0)));
    snprintf(text, sizeof text, "%.4g%s%s%.60s", p->hi, p->above ? " and more" : "",
             p->map->unit ? "  " : "", p->map->unit ? p->map->unit : "");
    heed__canvas_text(&p->canvas, x + 28 + RAMP, y + 2, 2, SOFT, text);
}

static bool draw_map(heed_ctx *c, const void *maps, int index, heed__canvas *out) {
    const heed_heatmap *m = maps ? (const heed_heatmap *)maps + index : NULL;
    plan p = {.map = m};
    if (!m || !m->values || m->rows < 1 || m->cols < 1 || m->rows > MOST || m->cols > MOST)
        return heed_fail(c, HEED_USAGE, "a heat map needs values of 1 to %d rows and columns",
                         MOST);
    if (!lay_out(c, &p)) return false;
    if (m->title) heed__canvas_text(&p.canvas, MARGIN, MARGIN, 2, INK, m->title);
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++) draw_cell(&p, i, j);
    draw_labels(&p);
    draw_legend(&p);
    *out = p.canvas;
    return true;
}

bool heed_heatmaps_png(heed_ctx *c, const heed_heatmap *maps, int count, const char *path) {
    return heed__canvas_save(c, draw_map, maps, count, false, path);
}

bool heed_heatmap_png(heed_ctx *c, const heed_heatmap *m, const char *path) {
    return heed_heatmaps_png(c, m, 1, path);
}
