/* heatmap_dense.c -- the dense form of a heat map: two characters per cell, or half blocks if there
 * are colours. */
#include "text/text.h"
#include "view/heatmap.h"
#include "view/shade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TALLEST = 12 };

typedef struct {
    const heed__map *p;
    int rows, cols;      /* drawn */
    int pool, pool_rows; /* columns and rows of the map per drawn cell */
    int cell;            /* columns of a cell */
    bool half;           /* two rows per line */
} dense;

static dense plan_of(const heed__map *p) {
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
static double share_at(const dense *d, int row, int col) {
    const heed_heatmap *m = d->p->m;
    double most = 0;
    for (int i = row * d->pool_rows; i < (row + 1) * d->pool_rows && i < m->rows; i++)
        for (int j = col * d->pool; j < (col + 1) * d->pool && j < m->cols; j++)
            most = fmax(most, heed__map_share(d->p, heed__map_value(d->p, i, j)));
    return most;
}

/* ---- labels ---- */

/* A label needs two columns: if cells have one column, every second cell has a label. */
/* Column labels from top to bottom, with their ends next to the map; labels that are too long end
 * with a sign. */
static void put_columns(const dense *d) {
    const heed_heatmap *m = d->p->m;
    int step = d->cell == 2 ? 1 : 2, tall = 0;
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
            heed_text_add(d->p->out, "%*s", used < 2 ? 2 - used : 0, "");
        }
        heed__end_line(d->p->out);
    }
}

/* The label of a line: that of its row, or those of its two rows. */
static void put_head(const dense *d, int row) {
    const char *const *labels = d->p->m->row_labels;
    heed_text both = {.c = d->p->out->c};
    int lower = (row + 1) * d->pool_rows;
    bool second = labels && d->half && row + 1 < d->rows && lower < d->p->m->rows;
    if (labels) {
        heed_label_text(labels[row * d->pool_rows], second ? (d->p->head - 1) / 2 : d->p->head,
                        &both);
        if (second) {
            heed_text_put(&both, " ", 1);
            heed_label_text(labels[lower], d->p->head - heed_label_columns(both.s), &both);
        }
    }
    heed__put_label(d->p->out, both.s ? both.s : "", d->p->head, false);
    heed_text_put(d->p->out, " ", 1);
    heed_text_free(&both);
}

/* ---- lines ---- */

static void put_plain(const dense *d, int row) {
    for (int j = 0; j < d->cols; j++) {
        char letter = heed__ramp(share_at(d, row, j));
        for (int i = 0; i < d->cell; i++) heed_text_put(d->p->out, &letter, 1);
    }
}

static void put_whole(const dense *d, int row) {
    for (int j = 0; j < d->cols; j++) {
        heed__put_back(d->p->out, d->p->m->terminal, heed__viridis(share_at(d, row, j)));
        heed_text_put(d->p->out, "  ", 2);
    }
    heed_text_put(d->p->out, "\033[0m", 4);
}

static void put_halves(const dense *d, int row) {
    heed_terminal kind = d->p->m->terminal;
    for (int j = 0; j < d->cols; j++) {
        heed__rgb upper = heed__viridis(share_at(d, row, j));
        heed__rgb lower = row + 1 < d->rows ? heed__viridis(share_at(d, row + 1, j)) : upper;
        heed__put_half(d->p->out, kind, upper, lower);
    }
    heed_text_put(d->p->out, "\033[0m", 4);
}

void heed__put_dense(const heed__map *p) {
    dense d = plan_of(p);
    if (p->m->col_labels) put_columns(&d);
    for (int i = 0; i < d.rows; i += d.half ? 2 : 1) {
        put_head(&d, i);
        if (d.half)
            put_halves(&d, i);
        else if (p->m->terminal == HEED_ASCII)
            put_plain(&d, i);
        else
            put_whole(&d, i);
        heed__end_line(p->out);
    }
    if (d.pool == 1) return;
    char note[64];
    snprintf(note, sizeof note, "each cell: the largest of %d x %d", d.pool_rows, d.pool);
    heed_label_text(note, p->width, p->out);
    heed__end_line(p->out);
}
