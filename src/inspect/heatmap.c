/* A labelled matrix in the terminal. Where it fits, cells with numbers inside; a few long rows in
 * bands; else cells of a character or two. */
#include "inspect/heatmap.h"

#include "core/core.h"
#include "inspect/label.h"
#include "inspect/shade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIN_CELL = 4, MAX_CELL = 12, MAX_LABEL = 16, READABLE = 6, FEW_ROWS = 17 };

static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

static int label_width(const char *const *labels, int count, int lo, int hi) {
    int widest = lo;
    for (int i = 0; labels && i < count; i++)
        widest = clamp(heed__label_width(labels[i]), widest, hi);
    return widest;
}

double heed__map_value(const heed__map *p, int row, int col) {
    return (double)p->m->values[(size_t)row * (size_t)p->m->cols + (size_t)col];
}

double heed__map_share(const heed__map *p, double v) {
    double share = p->hi > p->lo ? (v - p->lo) / (p->hi - p->lo) : 0;
    return share > 0 ? fmin(share, 1) : 0;
}

/* ---- cells with numbers ---- */

static bool is_percent(const heed_heatmap *m) { return !m->unit || m->percent; }

/* Percent of the value itself, or the value; without colours a bar of the ramp stands beside it. */
static void put_cell(const heed__map *p, double v, int width) {
    const heed_heatmap *m = p->m;
    double share = heed__map_share(p, v);
    char number[32] = "";
    bool percent = is_percent(m) && !m->numbers;
    if (percent && v >= 0.005) snprintf(number, sizeof number, "%.0f", 100 * v);
    if (!percent && isfinite(v)) snprintf(number, sizeof number, m->numbers ? "%.3f" : "%.2g", v);
    if ((int)strlen(number) > width - 1) number[0] = 0;
    if (m->terminal == HEED_ASCII) {
        char shade = m->numbers ? ' ' : heed__ramp(share);
        for (int i = width - 1 - (int)strlen(number); i > 0; i--) heed_text_put(p->out, &shade, 1);
        heed_text_add(p->out, "%s ", number);
        return;
    }
    heed__put_back(p->out, m->terminal, heed__viridis(share));
    heed__put_ink(p->out, share);
    heed_text_add(p->out, "%*s \033[0m", width - 1, number);
}

/* Columns [from, to). */
static void put_band(const heed__map *p, int from, int to, int cell) {
    const heed_heatmap *m = p->m;
    if (m->col_labels) {
        heed_text_add(p->out, "%*s ", p->head, "");
        for (int j = from; j < to; j++) {
            heed__put_label(p->out, m->col_labels[j], cell - 1, true);
            heed_text_put(p->out, " ", 1);
        }
        heed__end_line(p->out);
    }
    for (int i = 0; i < m->rows; i++) {
        heed__put_label(p->out, m->row_labels ? m->row_labels[i] : "", p->head, false);
        heed_text_put(p->out, " ", 1);
        for (int j = from; j < to; j++) put_cell(p, heed__map_value(p, i, j), cell);
        heed__end_line(p->out);
    }
}

/* Columns of a cell, or 0: cells without numbers are better. */
static int cell_width(const heed__map *p) {
    const heed_heatmap *m = p->m;
    int least = m->numbers || m->unit ? 6 : MIN_CELL, room = p->width - p->head - 1;
    int wanted = 1 + label_width(m->col_labels, m->cols, least - 1, MAX_CELL - 1);
    int readable = wanted < READABLE ? wanted : READABLE;
    if (m->cols <= room / wanted) return wanted;
    if (m->cols <= room / readable) return room / m->cols;
    return m->numbers || m->rows < FEW_ROWS / 2 || m->cols <= 2 * room / readable ? readable : 0;
}

/* ---- the whole ---- */

static void set_scale(heed__map *p) {
    const heed_heatmap *m = p->m;
    p->hi = (double)m->hi;
    p->lo = (double)m->lo;
    for (size_t i = 0; m->hi == 0 && i < (size_t)m->rows * (size_t)m->cols; i++)
        if ((double)m->values[i] > p->hi) p->hi = (double)m->values[i];
}

bool heed_heatmap_text(const heed_heatmap *m, heed_text *out) {
    if (!m || !m->values || m->rows < 1 || m->cols < 1) return false;
    heed__map p = {.m = m, .out = out, .width = m->width >= 20 ? m->width : 100};
    p.head = label_width(m->row_labels, m->rows, 4, clamp(p.width / 4, 8, MAX_LABEL));
    set_scale(&p);
    if (m->title) {
        heed_label_words(m->title, 0, p.width, out);
        heed__end_line(out);
    }
    int cell = cell_width(&p), per_band = cell ? (p.width - p.head - 1) / cell : 0;
    for (int from = 0; cell && from < m->cols; from += per_band)
        put_band(&p, from, clamp(from + per_band, 0, m->cols), cell);
    if (!cell) heed__put_dense(&p);
    heed__put_legend(out, m->terminal,
                     (heed__legend){.lo = p.lo,
                                    .hi = p.hi,
                                    .times = is_percent(m) ? 100 : 1,
                                    .unit = m->unit ? m->unit : "percent of a row's attention",
                                    .indent = p.head,
                                    .width = p.width});
    return heed_state(out->c) == HEED_OK;
}
