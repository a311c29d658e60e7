/* heed/view.h -- numbers and records to look at: heat maps, curves and pages. */
#ifndef HEED_VIEW_H
#define HEED_VIEW_H

#include <heed/record.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { HEED_ASCII, HEED_COLOR256, HEED_TRUECOLOR } heed_terminal;

/* A matrix with labels. values[r * cols + c] in [lo, hi]. */
typedef struct {
    const char *title;
    int rows, cols;
    const heed_real *values;
    const char *const *row_labels, *const *col_labels; /* or NULL */
    heed_real hi; /* full scale; 0: the largest value. What is above it has its last colour, and the
                     legend says so */
    heed_real lo; /* start of the scale */
    const char *unit; /* of the values, in the legend; NULL: attention, in percent of a row's */
    bool numbers;     /* print numbers instead of shades */
    heed_terminal terminal;
    int width;    /* columns of the terminal; 0: 100 */
    bool percent; /* with a unit: values are shares, and the terminal has their percents */
} heed_heatmap;
/* Appends the drawn map, with column labels above and a legend below; no line is wider than the
 * width or ends with a blank. Cells have their percents inside where they fit, a few long rows go
 * on in bands below. Else cells are two columns wide, their labels read from top to bottom; or one,
 * with two rows in a line of half blocks; or several values are drawn as one, and it says so. */
HEED_API bool heed_heatmap_text(const heed_heatmap *m, heed_text *out);

typedef struct {
    const char *label;
    int count;
    const double *x, *y; /* not finite: a gap */
} heed_series;
typedef struct {
    const char *title, *x_label, *y_label;
    int series_count;
    const heed_series *series;
} heed_chart;
/* Curves with axes, numbers and legend. */
HEED_API bool heed_chart_text(const heed_chart *p, int width, int height, bool color,
                              heed_text *out);
HEED_API bool heed_chart_png(heed_ctx *c, const heed_chart *p, int width, int height,
                             const char *path);
/* Several, each of that size, one below the other. */
HEED_API bool heed_charts_png(heed_ctx *c, const heed_chart *charts, int count, int width,
                              int height, const char *path);

/* ---- pictures ---- */

/* A tile of a contact sheet: (H,W,C) bytes, C 1 or 3, and up to two lines of text under it. */
typedef struct {
    const unsigned char *pixels;
    int width, height, channels;
    const char *caption, *second; /* or NULL */
} heed_tile;
typedef struct {
    const char *title;
    int count, columns; /* columns 0: as many as fit 1000 pixels */
    int side; /* of a tile in pixels; 0: 96. Small pictures are enlarged by whole numbers */
    const heed_tile *tiles;
} heed_sheet;
HEED_API bool heed_sheet_png(heed_ctx *c, const heed_sheet *s, const char *path);

/* A heat map as a picture: integer cells, labels, a legend. With numbers, each cell that is not 0
 * shows its value; values above hi have the last colour. */
HEED_API bool heed_heatmap_png(heed_ctx *c, const heed_heatmap *m, const char *path);
/* Several, side by side, each with a scale of its own. */
HEED_API bool heed_heatmaps_png(heed_ctx *c, const heed_heatmap *maps, int count, const char *path);
/* Several of equal sizes and one scale, each under its own title; their labels, scale and numbers
 * are those of the first. As SVG: text is text, and nothing outside the file is referred to. */
typedef struct {
    const char *title, *note; /* above and below all; or NULL */
    int count, columns;       /* columns 0: about a square */
    const heed_heatmap *maps;
} heed_panels;
HEED_API bool heed_panels_png(heed_ctx *c, const heed_panels *all, const char *path);
HEED_API bool heed_panels_svg(heed_ctx *c, const heed_panels *all, const char *path);

/* Weights of a grid over a picture, side by side: the picture, then one panel per map. */
typedef struct {
    const char *title;
    const unsigned char *pixels; /* (H,W,C) */
    int width, height, channels;
    int rows, cols; /* of the grid */
    int count;
    const heed_real *const *maps; /* (rows,cols) each; NAN: left out. One scale for all but
                                     measures: it ends at the largest value, at least at twice the
                                     uniform one */
    const char *const *captions;  /* or NULL */
    bool cells;                   /* each cell flat; else smooth between the cells' middles */
    double
        uniform; /* what a cell has where all are alike; 0: 1 / (rows cols). Marked in the legend */
    int measures; /* the last so many maps are not shares of attention: each has a scale of its own,
                     from 0 to its largest value */
} heed_overlay;
HEED_API bool heed_overlay_png(heed_ctx *c, const heed_overlay *o, const char *path);
/* The same as SVG: text is text; each panel is a picture within the file. */
HEED_API bool heed_overlay_svg(heed_ctx *c, const heed_overlay *o, const char *path);
/* The same in so many columns of a terminal, patch by patch; in half blocks, or in letters. */
HEED_API bool heed_overlay_text(const heed_overlay *o, heed_terminal terminal, int width,
                                heed_text *out);

/* ---- the page ---- */

/* One HTML file that needs nothing beside it: every view of the records, which are of one input;
 * several are snapshots of it over training steps. */
typedef struct {
    int count;
    const heed_record *records;
    const heed_chart *curves; /* of the training, or NULL */
    const char *steps;   /* a worked example, as `heed explain --json` prints it: JSON, which has no
                            NUL of its own; or NULL */
    const char *opening; /* what is shown first, in the words of the page's links:
                            "view=matrix&stack=cross&layer=2&head=4&row=1"; or NULL */
    bool no_qk;          /* without q and k: smaller */
    bool force;          /* whatever the size */
} heed_page;
#define HEED_PAGE_WARN  12e6 /* bytes: a warning goes to heed_options.log */
#define HEED_PAGE_LIMIT 64e6 /* bytes: refused without force */
/* Bytes that the file will have, at most a few percent more: known before anything is written. */
HEED_API double heed_page_size(const heed_page *p);
/* Writes it, whole or not at all. Weights are kept to 1/65535 with 0 and 1 exact, what leaves [0,1]
 * to 1/65534 of its range, q and k as halves. An error names how many layers, heads or tokens would
 * fit. */
HEED_API bool heed_page_write(heed_ctx *c, const heed_page *p, const char *path);

#ifdef __cplusplus
}
#endif
#endif
