/* A labelled matrix in the terminal: shaded cells with numbers inside, labels cut to the columns at
 * hand. */
#include "core/core.h"
#include "inspect/canvas.h"

#include <heed/inspect.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

enum { MIN_CELL = 4, MAX_CELL = 12, MAX_LABEL = 16 };

/* Terminal columns of a code point; control and broken bytes count one, for the sign put in their
 * place. */
static int code_width(const char *text, int *bytes, bool *odd) {
    utf8proc_int32_t code;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text, -1, &code);
    *bytes = n > 0 ? (int)n : 1;
    *odd = n <= 0 || code < 32 || code == 127;
    return *odd ? 1 : utf8proc_charwidth(code);
}

static int text_width(const char *text) {
    int width = 0, bytes;
    bool odd;
    for (; *text; text += bytes) width += code_width(text, &bytes, &odd);
    return width;
}

/* text in exactly `width` columns: cut with "…", or filled with blanks on the left or right. */
static void put_label(heed_text *out, const char *text, int width, bool right) {
    int total = text_width(text), used = 0, bytes, room = total > width ? width - 1 : width;
    bool odd;
    if (right && total < width) heed_text_add(out, "%*s", width - total, "");
    for (; *text; text += bytes) {
        int w = code_width(text, &bytes, &odd);
        if (used + w > room) break;
        if (odd)
            heed_text_put(out, *text == '\n' ? "⏎" : "·",
                          *text == '\n' ? strlen("⏎") : strlen("·"));
        else
            heed_text_put(out, text, (size_t)bytes);
        used += w;
    }
    if (total > width) {
        heed_text_put(out, "…", strlen("…"));
        used++;
    }
    if (used < width && (!right || total > width)) heed_text_add(out, "%*s", width - used, "");
}

static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

static int label_width(const char *const *labels, int count, int lo, int hi) {
    int widest = lo;
    for (int i = 0; labels && i < count; i++) widest = clamp(text_width(labels[i]), widest, hi);
    return labels ? widest : lo;
}

/* The nearest of the 6x6x6 colours of a 256-colour terminal. */
static int color256(heed__rgb c) {
    int r = (c.r * 5 + 127) / 255, g = (c.g * 5 + 127) / 255, b = (c.b * 5 + 127) / 255;
    return 16 + 36 * r + 6 * g + b;
}

static void open_color(heed_text *out, heed_terminal terminal, double v) {
    heed__rgb c = heed__viridis(v);
    int dark = v > 0.6 ? 16 : 231; /* black on light, white on dark */
    if (terminal == HEED_TRUECOLOR)
        heed_text_add(out, "\033[48;2;%d;%d;%d;38;5;%dm", c.r, c.g, c.b, dark);
    if (terminal == HEED_COLOR256) heed_text_add(out, "\033[48;5;%d;38;5;%dm", color256(c), dark);
}

/* Percent of the value itself; without colours a bar of the ramp stands beside it. */
static void put_cell(heed_text *out, const heed_heatmap *m, double v, double hi, int width) {
    double share = hi > 0 ? v / hi : 0;
    char number[32];
    snprintf(number, sizeof number, m->numbers ? "%.3f" : "%.0f", m->numbers ? v : 100 * v);
    if (!m->numbers && (v < 0.005 || (int)strlen(number) > width - 1)) number[0] = 0;
    if (m->terminal == HEED_ASCII) {
        char shade = " .:-=+*#%@"[clamp((int)floor(share * 9.999), 0, 9)];
        int n = width - 1 - (int)strlen(number);
        for (int i = 0; i < n; i++) heed_text_put(out, m->numbers ? " " : &shade, 1);
        heed_text_add(out, "%s ", number);
        return;
    }
    open_color(out, m->terminal, share);
    heed_text_add(out, "%*s \033[0m", width - 1, number);
}

static void put_legend(heed_text *out, const heed_heatmap *m, double hi, int indent) {
    heed_text_add(out, "%*s 0 ", indent, "");
    for (int i = 0; i < 20; i++) {
        double v = i / 19.0;
        if (m->terminal == HEED_ASCII) {
            heed_text_put(out, &" .:-=+*#%@"[clamp((int)floor(v * 9.999), 0, 9)], 1);
            continue;
        }
        open_color(out, m->terminal, v);
        heed_text_put(out, " \033[0m", 5);
    }
    heed_text_add(out, " %.3g  %s\n", m->unit ? hi : 100 * hi,
                  m->unit ? m->unit : "percent of a row's attention");
}

static double full_scale(const heed_heatmap *m) {
    double hi = (double)m->hi;
    for (size_t i = 0; m->hi == 0 && i < (size_t)m->rows * (size_t)m->cols; i++)
        if ((double)m->values[i] > hi) hi = (double)m->values[i];
    return hi;
}

/* Columns [from, to) of the map; a wide one is drawn in several such bands. */
static void put_band(heed_text *out, const heed_heatmap *m, int from, int to, int head, int cell,
                     double hi) {
    heed_text_add(out, "%*s ", head, "");
    for (int j = from; m->col_labels && j < to; j++) {
        put_label(out, m->col_labels[j], cell - 1, true);
        heed_text_put(out, " ", 1);
    }
    heed_text_put(out, "\n", 1);
    for (int i = 0; i < m->rows; i++) {
        put_label(out, m->row_labels ? m->row_labels[i] : "", head, false);
        heed_text_put(out, " ", 1);
        for (int j = from; j < to; j++)
            put_cell(out, m, (double)m->values[(size_t)i * (size_t)m->cols + (size_t)j], hi, cell);
        heed_text_put(out, "\n", 1);
    }
}

bool heed_heatmap_text(const heed_heatmap *m, heed_text *out) {
    if (!m || !m->values || m->rows < 1 || m->cols < 1) return false;
    int width = m->width > 20 ? m->width : 100;
    int head = label_width(m->row_labels, m->rows, 4, MAX_LABEL);
    int cell = 1 + label_width(m->col_labels, m->cols, m->numbers ? 5 : MIN_CELL - 1, MAX_CELL - 1);
    int per_band = clamp((width - head - 1) / cell, 1, m->cols);
    double hi = full_scale(m);
    if (m->title) heed_text_add(out, "%s\n", m->title);
    for (int from = 0; from < m->cols; from += per_band)
        put_band(out, m, from, clamp(from + per_band, 0, m->cols), head, cell, hi);
    put_legend(out, m, hi, head);
    return heed_state(out->c) == HEED_OK;
}
