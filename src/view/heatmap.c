/* heatmap.c -- a labelled matrix in the terminal. Cells contain numbers if these fit, with a few
 * long rows split into bands; else cells are one or two characters wide. */
#include "view/heatmap.h"

#include "core/core.h"
#include "text/text.h"
#include "view/shade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIN_CELL = 4, MAX_CELL = 12, MAX_LABEL = 16, READABLE = 6, FEW_ROWS = 17 };

static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

static int label_width(const char *const *labels, int count, int lo, int hi) {
    int widest = lo;
    for (int i = 0; labels && i < count; i++)
        widest = clamp(heed_label_columns(labels[i]), widest, hi);
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

static bool is_percent(const heed_heatmap *m) { return !m->numbers && (!m->unit || m->percent); }

/* Without colours, letters of the ramp are beside the numbers. */
static bool has_ramp(const heed_heatmap *m) { return m->terminal == HEED_ASCII && !m->numbers; }

/* "" for unknown values and for a share that would be 0 %. A cell with a shade never shows -0.00.
 */
static void number_text(const heed__map *p, double v, char text[32]) {
    bool percent = is_percent(p->m);
    *text = 0;
    if (!isfinite(v) || (percent && v < 0.005)) return;
    snprintf(text, 32, p->format, percent ? 100 * v : v);
    if (v < 0 && !p->m->numbers && !text[strspn(text, "-0.")]) snprintf(text, 32, p->format, 0.0);
}

/* Two significant digits for the largest number, and as many decimals for all others, so that their
 * decimal points align. */
static const char *format_for(const heed_heatmap *m, double most) {
    static const char *const decimals[] = {"%.0f", "%.1f", "%.2f", "%.3f", "%.4f"};
    if (is_percent(m)) return decimals[0];
    if (m->numbers) return most < 1e6 ? decimals[3] : "%.2e";
    if (most > 0 && (most < 1e-3 || most >= 1e5)) return "%.0e";
    return decimals[most > 0 ? clamp(1 - (int)floor(log10(most)), 0, 4) : 1];
}

static void set_numbers(heed__map *p) {
    double least = 0, most = 0;
    char low[32], high[32];
    for (size_t i = 0; i < (size_t)p->m->rows * (size_t)p->m->cols; i++) {
        double v = (double)p->m->values[i];
        if (isfinite(v)) least = fmin(least, v), most = fmax(most, v);
    }
    p->format = format_for(p->m, fmax(most, -least));
    number_text(p, least, low);
    number_text(p, most, high);
    p->digits = (int)(strlen(low) > strlen(high) ? strlen(low) : strlen(high));
}

/* A number at the right end, followed by a blank; without colours, letters of the ramp precede it,
 * separated from the widest number by a blank. */
static void put_cell(const heed__map *p, double v, int width) {
    const heed_heatmap *m = p->m;
    double share = heed__map_share(p, v);
    char number[32];
    number_text(p, v, number);
    if (m->terminal == HEED_ASCII) {
        char shade = has_ramp(m) ? heed__ramp(share) : ' ';
        int ramp = width - p->digits - 2;
        for (int i = 0; i < ramp; i++) heed_text_put(p->out, &shade, 1);
        heed_text_add(p->out, "%*s ", width - 1 - (ramp > 0 ? ramp : 0), number);
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

/* Returns the columns of a cell, or 0 if cells without numbers are better. */
static int cell_width(const heed__map *p) {
    const heed_heatmap *m = p->m;
    int least = p->digits + (has_ramp(m) ? 3 : 1), capacity = p->width - p->head - 1;
    if (least < MIN_CELL) least = MIN_CELL;
    int wanted = 1 + label_width(m->col_labels, m->cols, least - 1, MAX_CELL - 1);
    int readable = wanted < READABLE ? wanted : clamp(least, READABLE, MAX_CELL);
    if (m->cols <= capacity / wanted) return wanted;
    if (m->cols <= capacity / readable) return capacity / m->cols;
    return m->numbers || m->rows < FEW_ROWS / 2 || m->cols <= 2 * capacity / readable ? readable
                                                                                      : 0;
}

/* ---- the heat map ---- */

static void set_scale(heed__map *p) {
    const heed_heatmap *m = p->m;
    p->hi = (double)m->hi;
    p->lo = (double)m->lo;
    for (size_t i = 0; i < (size_t)m->rows * (size_t)m->cols; i++) {
        double v = (double)m->values[i];
        if (m->hi != 0)
            p->above |= v > p->hi;
        else if (v > p->hi)
            p->hi = v;
    }
}

bool heed_heatmap_text(const heed_heatmap *m, heed_text *out) {
    if (!m || !m->values || m->rows < 1 || m->cols < 1) return false;
    heed__map p = {.m = m, .out = out, .width = m->width >= 20 ? m->width : 100};
    p.head = label_width(m->row_labels, m->rows, 4, clamp(p.width / 4, 8, MAX_LABEL));
    set_scale(&p);
    set_numbers(&p);
    if (m->title) {
        heed_label_words(m->title, 0, p.width, out);
        heed__end_line(out);
    }
    int cell = cell_width(&p),
        per_band = cell ? clamp((p.width - p.head - 1) / cell, 1, m->cols) : 0;
    for (int from = 0; cell && from < m->cols; from += per_band)
        put_band(&p, from, clamp(from + per_band, 0, m->cols), cell);
    if (!cell) heed__put_dense(&p);
    heed__put_legend(out, m->terminal,
                     (heed__legend){.lo = p.lo,
                                    .hi = p.hi,
                                    .above = p.above,
                                    .times = !m->unit || m->percent ? 100 : 1,
                                    .unit = m->unit ? m->unit : "percent of a row's attention",
                                    .indent = p.head,
                                    .width = p.width});
    return heed_ctx_status(out->c) == HEED_OK;
}
