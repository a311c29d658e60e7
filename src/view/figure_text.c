/* figure_text.c -- a labelled matrix in the terminal, as colours or letters. Cells contain numbers
 * if these fit, with a few long rows split into bands; else cells are one or two characters wide,
 * and if these are too many, several are drawn as one. Over a picture each row is a small panel. */
#include "core/core.h"
#include "text/text.h"
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIN_CELL = 4, MAX_CELL = 12, MAX_LABEL = 16, READABLE = 6, FEW_ROWS = 17, TALLEST = 12 };

/* ---- colours and letters ---- */

/* The nearest of the 6x6x6 colours of a 256-colour terminal. Its steps are 0, 95, 135 .. 255. */
static int color256(heed__rgb c) {
    int part[3] = {c.r, c.g, c.b}, level[3];
    for (int i = 0; i < 3; i++) {
        level[i] = part[i] < 48 ? 0 : part[i] < 115 ? 1 : (part[i] - 35) / 40;
        if (level[i] > 5) level[i] = 5;
    }
    return 16 + 36 * level[0] + 6 * level[1] + level[2];
}

static void put_color(heed_text *out, heed_terminal terminal, int ground, heed__rgb c) {
    if (terminal == HEED_TRUECOLOR)
        heed_text_add(out, "\033[%d;2;%d;%d;%dm", ground, c.r, c.g, c.b);
    else
        heed_text_add(out, "\033[%d;5;%dm", ground, color256(c));
}

/* `width` blanks on the colour of a share of the scale, or without colours as many letters: below
 * 0, which only those show, a to i. */
static void put_shade(heed_text *out, heed_terminal terminal, double share, int width) {
    bool below = share < 0;
    int at = (int)floor((share == share ? fmin(fabs(share), 1) : 0) * 9.999);
    char letter = terminal != HEED_ASCII ? ' ' : (below ? " abcdefghi" : " .:-=+*#%@")[at];
    if (terminal != HEED_ASCII) put_color(out, terminal, 48, heed__viridis(share));
    for (int i = 0; i < width; i++) heed_text_put(out, &letter, 1);
}

/* A number, aligned right and followed by a blank, in black or white on that colour. */
static void put_on_shade(heed_text *out, heed_terminal terminal, double share, int width,
                         const char *number) {
    put_color(out, terminal, 48, heed__viridis(share));
    heed_text_add(out, "\033[38;5;%dm%*s \033[0m", share > 0.6 ? 16 : 231, width - 1, number);
}

/* A half block: two points, one above the other. */
static void put_half(heed_text *out, heed_terminal terminal, heed__rgb upper, heed__rgb lower) {
    put_color(out, terminal, 38, upper);
    put_color(out, terminal, 48, lower);
    heed_text_put(out, "▀", strlen("▀"));
}

/* Ends the colours of a line. */
static void put_plain(heed_text *out, heed_terminal terminal) {
    if (terminal != HEED_ASCII) heed_text_put(out, "\033[0m", 4);
}

/* "   0 [colours] 42  percent of a row's attention; brighter is more", without colours less the
 * last: a picture says that darker is more. */
typedef struct {
    double lo, hi, times;
    bool above; /* some values are above hi */
    const char *unit;
    int indent, width; /* width of the blanks before it, and of the terminal */
} legend;

static void put_legend(heed_text *out, heed_terminal terminal, legend l) {
    char lo[32], hi[32], unit[160];
    snprintf(lo, sizeof lo, "%.3g", l.times * l.lo);
    snprintf(hi, sizeof hi, "%.3g%s", l.times * l.hi, l.above ? " and more" : "");
    snprintf(unit, sizeof unit, "%.120s%s", l.unit,
             terminal == HEED_ASCII ? "" : "; brighter is more");
    int steps = 20, rest = (int)(strlen(lo) + strlen(hi)) + 5 + heed_label_columns(unit);
    if (l.indent + rest + steps > l.width) l.indent = 0;
    if (rest + steps > l.width) steps = l.width - rest < 8 ? 8 : l.width - rest;
    bool below = rest + steps > l.width;
    heed_text_add(out, "%*s %s ", l.indent, "", lo);
    for (int i = 0; i < steps; i++) put_shade(out, terminal, i / (steps - 1.0), 1);
    put_plain(out, terminal);
    heed_text_add(out, " %s  ", hi);
    if (below) {
        heed__end_line(out);
        heed_text_put(out, " ", 1);
    }
    heed_label_words(unit, below, l.width, out);
    heed__end_line(out);
}

/* ---- the scale ---- */

typedef struct {
    const heed_heatmap *m;
    heed_text *out;
    double lo, hi;
    bool above;         /* some value is above hi */
    int width, head;    /* columns of the terminal, and of the row labels */
    const char *format; /* of the numbers in cells */
    int digits;         /* columns of the widest number */
    int cell;  /* columns of a cell with a number; 0: as many as its column's label needs */
    int least; /* then: at least so many */
    int band;  /* columns of the cells of a band together */
} plan;

static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

static int label_width(const char *const *labels, int count, int lo, int hi) {
    int widest = lo;
    for (int i = 0; labels && i < count; i++)
        widest = clamp(heed_label_columns(labels[i]), widest, hi);
    return widest;
}

static double value_at(const plan *p, int row, int col) {
    return (double)p->m->values[(size_t)row * (size_t)p->m->cols + (size_t)col];
}

/* Position of a value on the scale, 0 to 1; 0 for unknown values. */
static double share_of(const plan *p, double v) {
    double share = p->hi > p->lo ? (v - p->lo) / (p->hi - p->lo) : 0;
    return share > 0 ? fmin(share, 1) : 0;
}

/* ---- cells with numbers ---- */

static bool is_percent(const heed_heatmap *m) { return !m->numbers && (!m->unit || m->percent); }

/* "" for unknown values and for a share that would be 0 %; never -0.00. */
static void number_text(const plan *p, double v, char text[32]) {
    bool percent = is_percent(p->m);
    *text = 0;
    if (!isfinite(v) || (percent && v < 0.005)) return;
    snprintf(text, 32, p->format, percent ? 100 * v : v);
    if (v < 0 && !text[strspn(text, "-0.")]) snprintf(text, 32, p->format, 0.0);
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

/* Sets the scale and the format of the numbers. */
static void measure(plan *p) {
    const heed_heatmap *m = p->m;
    double least = 0, most = 0;
    char low[32], high[32];
    heed__scale s = heed__scale_of(m, 1);
    p->lo = s.lo;
    p->hi = s.hi;
    p->above = s.above;
    for (size_t i = 0; i < (size_t)m->rows * (size_t)m->cols; i++) {
        double v = (double)m->values[i];
        if (!isfinite(v)) continue;
        least = fmin(least, v);
        most = fmax(most, v);
    }
    p->format = format_for(m, fmax(most, -least));
    number_text(p, least, low);
    number_text(p, most, high);
    p->digits = (int)(strlen(low) > strlen(high) ? strlen(low) : strlen(high));
}

/* ---- bands of columns ---- */

static int column_width(const plan *p, int col) {
    return p->cell ? p->cell
                   : 1 + label_width(p->m->col_labels ? p->m->col_labels + col : NULL, 1,
                                     p->least - 1, MAX_CELL - 1);
}

/* The end of the band that begins at a column and is at most `width` columns wide. */
static int band_end(const plan *p, int from, int width) {
    int to = from + 1;
    for (int used = column_width(p, from); to < p->m->cols; to++) {
        used += column_width(p, to);
        if (used > width) break;
    }
    return to;
}

static int count_bands(const plan *p, int width) {
    int count = 0;
    for (int from = 0; from < p->m->cols; from = band_end(p, from, width)) count++;
    return count;
}

/* The least width at which there are no more bands than at `capacity`: all are equally long. */
static int even_bands(const plan *p, int capacity) {
    int least = p->least, count = count_bands(p, capacity);
    while (least < capacity && count_bands(p, least) > count) least++;
    return least;
}

/* Chooses the widths of cells with numbers and of their bands: of all cells, if they have space for
 * every label; of a few long rows, and of numbers, as each label needs; else labels are cut. False:
 * cells without numbers are better. */
static bool choose_cells(plan *p) {
    const heed_heatmap *m = p->m;
    bool letters = m->terminal == HEED_ASCII && !m->numbers; /* beside the numbers */
    int least = p->digits + (letters ? 3 : 1), capacity = p->width - p->head - 1;
    if (least < MIN_CELL) least = MIN_CELL;
    int wanted = 1 + label_width(m->col_labels, m->cols, least - 1, MAX_CELL - 1);
    int readable = wanted < READABLE ? wanted : clamp(least, READABLE, MAX_CELL);
    bool few = m->numbers || m->rows < FEW_ROWS / 2;
    p->band = capacity;
    p->cell = wanted;
    if (m->cols <= capacity / wanted) return true;
    p->cell = 0;
    p->least = readable;
    p->band = even_bands(p, capacity);
    if (few || count_bands(p, capacity) == 1) return true;
    bool fits = m->cols <= capacity / readable;
    p->cell = fits ? capacity / m->cols : readable;
    p->band = even_bands(p, capacity);
    return m->cols <= 2 * capacity / readable;
}

/* ---- cells ---- */

/* A number at the right end, followed by a blank; without colours, letters for its share precede
 * it, separated from the widest number by a blank. */
static void put_cell(const plan *p, double v, int width) {
    const heed_heatmap *m = p->m;
    double share = share_of(p, v);
    char number[32];
    number_text(p, v, number);
    if (m->terminal != HEED_ASCII) {
        put_on_shade(p->out, m->terminal, share, width, number);
        return;
    }
    int letters = (p->cell ? width : p->least) - p->digits - 2;
    if (m->numbers || letters < 0) letters = 0;
    heed_text_add(p->out, "%*s", p->cell ? 0 : width - p->least, "");
    put_shade(p->out, HEED_ASCII, share, letters);
    heed_text_add(p->out, "%*s ", (p->cell ? width : p->least) - 1 - letters, number);
}

/* Columns [from, to). */
static void put_band(const plan *p, int from, int to) {
    const heed_heatmap *m = p->m;
    if (m->col_labels) {
        heed_text_add(p->out, "%*s ", p->head, "");
        for (int j = from; j < to; j++) {
            heed__put_label(p->out, m->col_labels[j], column_width(p, j) - 1, true);
            heed_text_put(p->out, " ", 1);
        }
        heed__end_line(p->out);
    }
    for (int i = 0; i < m->rows; i++) {
        heed__put_label(p->out, m->row_labels ? m->row_labels[i] : "", p->head, false);
        heed_text_put(p->out, " ", 1);
        for (int j = from; j < to; j++) put_cell(p, value_at(p, i, j), column_width(p, j));
        heed__end_line(p->out);
    }
}

/* ---- cells without numbers: of two columns, or half blocks if there are colours ---- */

typedef struct {
    const plan *p;
    int rows, cols;      /* drawn */
    int pool, pool_rows; /* columns and rows of the map per drawn cell */
    int cell;            /* columns of a cell */
    bool half;           /* two rows per line */
} dense;

static dense dense_of(const plan *p) {
    const heed_heatmap *m = p->m;
    int capacity = p->width - p->head - 1;
    dense d = {.p = p, .cell = 2 * m->cols <= capacity ? 2 : 1, .pool = 1};
    d.half = d.cell == 1 && m->terminal != HEED_ASCII;
    while ((m->cols + d.pool - 1) / d.pool > capacity) d.pool++;
    d.cols = (m->cols + d.pool - 1) / d.pool;
    d.pool_rows = 2 * m->rows > m->cols ? d.pool : 1;
    d.rows = (m->rows + d.pool_rows - 1) / d.pool_rows;
    return d;
}

/* The largest share of the values that are drawn as one. */
static double largest_share(const dense *d, int row, int col) {
    const heed_heatmap *m = d->p->m;
    double most = 0;
    for (int i = row * d->pool_rows; i < (row + 1) * d->pool_rows && i < m->rows; i++)
        for (int j = col * d->pool; j < (col + 1) * d->pool && j < m->cols; j++)
            most = fmax(most, share_of(d->p, value_at(d->p, i, j)));
    return most;
}

/* The cells for each label: two if a cell is one column wide and letters are two, so that only
 * every second cell has its label; else one. */
static int label_step(const dense *d) {
    bool wide = false;
    for (int j = 0; d->cell == 1 && d->p->m->col_labels && j < d->cols; j++) {
        const char *label = d->p->m->col_labels[j * d->pool];
        wide |= heed_label_columns(label) > heed__label_glyphs(label);
    }
    return wide ? 2 : 1;
}

/* The cells from one label of a patch to the next, beside each other: enough for the widest label,
 * and if possible so many that each row of the grid begins with one. */
static int patch_step(const dense *d) {
    const heed_heatmap *m = d->p->m;
    int widest = 1 + label_width(m->col_labels, m->cols, 1, MAX_LABEL), cols = m->grid_cols;
    int step = (widest + d->cell - 1) / d->cell;
    while (step * d->pool < cols && cols % (step * d->pool)) step++;
    return step;
}

/* The labels of some patches; what lies before the grid, such as [CLS], has none. */
static void put_patches(const dense *d, int step) {
    const heed_heatmap *m = d->p->m;
    int before = m->cols % m->grid_cols / d->pool;
    heed_text_add(d->p->out, "%*s ", d->p->head + before * d->cell, "");
    for (int j = before; j + step <= d->cols; j += step)
        heed__put_label(d->p->out, m->col_labels[j * d->pool], step * d->cell, false);
    heed__end_line(d->p->out);
}

/* Column labels from top to bottom, with their ends next to the map; labels that are too long end
 * with a sign. */
static void put_columns(const dense *d) {
    const heed_heatmap *m = d->p->m;
    int step = label_step(d), width = d->cell * step, tall = 0;
    for (int j = 0; j < d->cols; j += step) {
        int n = heed__label_glyphs(m->col_labels[j * d->pool]);
        if (n > tall) tall = n < TALLEST ? n : TALLEST;
    }
    for (int line = 0; line < tall; line++) {
        heed_text_add(d->p->out, "%*s ", d->p->head, "");
        for (int j = 0; j < d->cols; j += step) {
            const char *label = m->col_labels[j * d->pool];
            int n = heed__label_glyphs(label), shown = n < TALLEST ? n : TALLEST;
            int at = line - (tall - shown), used = 0;
            if (at >= 0 && n > TALLEST && at == TALLEST - 1)
                used = heed_label_text("…", 1, d->p->out);
            else if (at >= 0)
                used = heed__label_glyph(label, at, d->p->out);
            heed_text_add(d->p->out, "%*s", used < width ? width - used : 0, "");
        }
        heed__end_line(d->p->out);
    }
}

/* The label of a line: that of its row, or those of its two rows. */
static void put_head(const dense *d, int row) {
    const char *const *labels = d->p->m->row_labels;
    heed_text both = {.c = d->p->out->c};
    bool second = d->half && row + 1 < d->rows;
    if (labels) {
        heed_label_text(labels[row * d->pool_rows], second ? (d->p->head - 1) / 2 : d->p->head,
                        &both);
        if (second) {
            heed_text_put(&both, " ", 1);
            heed_label_text(labels[(row + 1) * d->pool_rows],
                            d->p->head - heed_label_columns(both.s), &both);
        }
    }
    heed__put_label(d->p->out, both.s ? both.s : "", d->p->head, false);
    heed_text_put(d->p->out, " ", 1);
    heed_text_free(&both);
}

static void put_line(const dense *d, int row) {
    heed_terminal kind = d->p->m->terminal;
    for (int j = 0; j < d->cols; j++) {
        double share = largest_share(d, row, j);
        double below = d->half && row + 1 < d->rows ? largest_share(d, row + 1, j) : share;
        if (d->half)
            put_half(d->p->out, kind, heed__viridis(share), heed__viridis(below));
        else
            put_shade(d->p->out, kind, share, d->cell);
    }
    put_plain(d->p->out, kind);
    heed__end_line(d->p->out);
}

static void put_dense(const plan *p) {
    dense d = dense_of(p);
    int patches = p->m->grid_cols && p->m->col_labels ? patch_step(&d) : 0;
    if (patches)
        put_patches(&d, patches);
    else if (p->m->col_labels)
        put_columns(&d);
    for (int i = 0; i < d.rows; i += d.half ? 2 : 1) {
        put_head(&d, i);
        put_line(&d, i);
    }
    char merged[64] = "", some[80] = "";
    const char *second = patches               ? some
                         : label_step(&d) == 2 ? "every second column has its label"
                                               : "";
    if (patches > 1)
        snprintf(some, sizeof some, "labels are ROW,COLUMN; one column in %d has its label",
                 patches);
    if (d.pool > 1)
        snprintf(merged, sizeof merged, "each cell: the largest of %d x %d", d.pool_rows, d.pool);
    if (!*merged && !*second) return;
    heed_text note = {.c = p->out->c};
    heed_text_add(&note, "%s%s%s", merged, *merged && *second ? "; " : "", second);
    heed_label_words(note.s ? note.s : "", 0, p->width, p->out);
    heed__end_line(p->out);
    heed_text_free(&note);
}

/* ---- the heat map ---- */

/* Numbers without shades have their unit alone. */
static void put_unit(const plan *p) {
    const heed_heatmap *m = p->m;
    const char *unit = m->unit      ? m->unit
                       : m->numbers ? "share of a row's attention (1 = 100 %)"
                                    : "percent of a row's attention";
    if (m->numbers && m->terminal == HEED_ASCII) {
        int indent = p->head + heed_label_columns(unit) < p->width ? p->head + 1 : 0;
        heed_text_add(p->out, "%*s", indent, "");
        heed_label_words(unit, 0, p->width - indent, p->out);
        heed__end_line(p->out);
        return;
    }
    put_legend(p->out, m->terminal,
               (legend){.lo = p->lo,
                        .hi = p->hi,
                        .above = p->above,
                        .times = is_percent(m) ? 100 : 1,
                        .unit = unit,
                        .indent = p->head,
                        .width = p->width});
}

/* ---- over a picture ---- */

enum { POINTS = 28, APART = 2 };

/* A panel shows the picture (row -1), or a row of the map over it. A point is one column by half a
 * line. */
typedef struct {
    const plan *p;
    heed__canvas points; /* the picture */
} over;

/* The end of the scale of a row, which may be its own. */
static double row_end(const plan *p, int row) {
    double end = heed__row_end(p->m, row);
    return end > 0 ? end : p->hi > 0 ? p->hi : 1;
}

/* The share of the scale at a point, of the picture its lightness; NAN: left out. */
static double share_at(const over *o, int row, int x, int y) {
    const heed_heatmap *m = o->p->m;
    if (row < 0) return heed__grey(heed__canvas_at(&o->points, y * o->points.width + x));
    int at = y * (m->cols / m->grid_cols) / o->points.height * m->grid_cols +
             x * m->grid_cols / o->points.width;
    return value_at(o->p, row, at) / row_end(o->p, row);
}

/* Points that a map leaves out show the picture in dark grey. */
static heed__rgb color_at(const over *o, int row, int x, int y) {
    heed__rgb c = heed__canvas_at(&o->points, y * o->points.width + x);
    double share = share_at(o, row, x, y);
    unsigned char grey = (unsigned char)(110 * heed__grey(c));
    if (row < 0) return c;
    if (!isfinite(share)) return (heed__rgb){grey, grey, grey};
    return heed__row_is_share(o->p->m, row) ? heed__viridis(share) : heed__signed_dark(share);
}

static void put_points(const over *o, int row, int line) {
    int above = 2 * line, below = above + 1 < o->points.height ? above + 1 : above;
    for (int x = 0; x < o->points.width; x++)
        if (o->p->m->terminal == HEED_ASCII) {
            double a = share_at(o, row, x, above), b = share_at(o, row, x, below);
            put_shade(o->p->out, HEED_ASCII, ((isfinite(a) ? a : 0) + (isfinite(b) ? b : 0)) / 2,
                      1);
        } else
            put_half(o->p->out, o->p->m->terminal, color_at(o, row, x, above),
                     color_at(o, row, x, below));
    put_plain(o->p->out, o->p->m->terminal);
}

static const char *row_name(const heed_heatmap *m, int row) {
    return row < 0 ? "picture" : m->row_labels ? m->row_labels[row] : "";
}

/* Panels [from, to) side by side. */
static void put_panels(const over *o, int from, int to) {
    heed_text *out = o->p->out;
    for (int line = -1; line < (o->points.height + 1) / 2; line++) {
        for (int i = from; i < to; i++) {
            if (line < 0)
                heed__put_label(out, row_name(o->p->m, i), o->points.width, false);
            else
                put_points(o, i, line);
            heed_text_add(out, "%*s", APART, "");
        }
        heed__end_line(out);
    }
}

/* "Other scales: mean of heads 0 to 0.25, occlusion -0.9 to 0.9; letters a to i are below 0.":
 * those that end elsewhere than the common one. */
static void put_scales(const plan *p) {
    const heed_heatmap *m = p->m;
    heed_text line = {.c = p->out->c};
    bool below = false;
    for (int i = 0; i < m->rows; i++) {
        if (!heed__row_is_apart(m, i, p->hi)) continue;
        heed_text_add(&line, "%s %s %.3g to %.3g", line.n ? "," : "Other scales:", row_name(m, i),
                      heed__row_start(m, i), heed__row_end(m, i));
        below |= heed__row_start(m, i) < 0;
    }
    if (below)
        heed_text_add(&line, "; %s below 0",
                      m->terminal == HEED_ASCII ? "letters a to i are" : "blue is");
    if (!line.n) return;
    heed_text_add(&line, ".");
    heed_label_words(line.s, 0, p->width, p->out);
    heed__end_line(p->out);
    heed_text_free(&line);
}

/* Points are square: a cell of the grid covers a whole number of them. */
static void put_over(plan *p) {
    const heed_heatmap *m = p->m;
    const heed_tile *t = m->picture;
    int cols = m->grid_cols, rows = m->cols / cols, most = rows > cols ? rows : cols;
    int capacity = p->width < POINTS ? p->width : POINTS;
    int times = capacity / most > 1 ? capacity / most : 1;
    over o = {.p = p};
    if (!heed__canvas_new(p->out->c, &o.points, cols * times, rows * times)) return;
    heed__canvas_pixels(&o.points, 0, 0, o.points.width, o.points.height,
                        (heed__pixels){t->pixels, t->width, t->height, t->channels});
    int per_row = (p->width + APART) / (o.points.width + APART);
    if (per_row < 1) per_row = 1;
    for (int from = -1; from < m->rows; from += per_row)
        put_panels(&o, from, from + per_row < m->rows ? from + per_row : m->rows);
    p->head = 0;
    p->above = false;
    put_unit(p);
    put_scales(p);
    heed__free(o.points.rgb);
}

bool heed_heatmap_text(const heed_heatmap *m, heed_text *out) {
    if (!m || !m->values || m->rows < 1 || m->cols < 1) return false;
    if (m->picture && (!heed__has_pixels(m->picture) || !heed__has_grid(m))) return false;
    plan p = {.m = m, .out = out, .width = m->width >= 20 ? m->width : 100};
    p.head = label_width(m->row_labels, m->rows, 4, clamp(p.width / 4, 8, MAX_LABEL));
    measure(&p);
    if (m->title) {
        heed_label_words(m->title, 0, p.width, out);
        heed__end_line(out);
    }
    if (m->picture)
        put_over(&p);
    else if (!choose_cells(&p))
        put_dense(&p);
    else
        for (int from = 0, to; from < m->cols; from = to) {
            to = band_end(&p, from, p.band);
            put_band(&p, from, to);
        }
    if (!m->picture) put_unit(&p);
    return heed_ctx_status(out->c) == HEED_OK;
}
