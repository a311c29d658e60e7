/* heed/view.h -- heat maps, curves, pictures and pages from numbers and records. */
#ifndef HEED_VIEW_H
#define HEED_VIEW_H

#include <heed/record.h>

HEED_EXPORT_BEGIN

typedef enum { HEED_ASCII, HEED_COLOR256, HEED_TRUECOLOR } heed_terminal;
/* In an SVG, text stays text, and the file is self-contained. */
typedef enum { HEED_PNG, HEED_SVG } heed_picture_form;

enum { HEED_TILE_LINES = 3 };
/* A picture, (H,W,C) bytes, C 1 or 3, and on a contact sheet the lines of text under it. */
typedef struct {
    const unsigned char *pixels;
    int width, height, channels;
    const char *captions[HEED_TILE_LINES]; /* or NULL */
} heed_tile;

/* A matrix with labels. values[r * cols + c] in [lo, hi]. */
typedef struct {
    const char *title;
    int rows, cols;
    const heed_real *values;
    const char *const *row_labels, *const *col_labels; /* (rows), (cols), or NULL */
    heed_real hi; /* end of the scale; 0: the largest value. Larger values have the last colour, and
                     the legend says so */
    heed_real lo; /* start of the scale; of a picture, if it is below 0, from -hi to hi, blue below
                     0 and orange above */
    const char *unit; /* shown in the legend; NULL: attention, in percent of a row */
    bool numbers;     /* print numbers instead of shades */
    heed_terminal terminal;
    int width;         /* columns of the terminal; 0: 100 */
    bool percent;      /* with a unit: values are shares, shown as percentages on a terminal */
    double uniform;    /* of weights: what each would be if all were equal. The scale ends at twice
                          that or more, and the legend of a picture marks it. 0: no weights */
    bool uniform_mean; /* uniform is the mean of rows that differ, and the legend says so */
    const heed_real *ends;    /* of a picture: (rows), NULL or the ends of rows that have their own
                                 scale, from -end to end, blue below 0 and orange above; 0: others */
    const char *const *units; /* (rows): what those rows measure, for the legend; or NULL */
    const bool *shares;       /* (rows): those of these rows that have the colours of the others,
                                 from 0 to end; or NULL */
    int grid_cols;    /* if above 0, the map's columns are the patches of a grid of so many columns,
                         row by row: where not all labels fit, those shown tell where the others
                         are */
    const char *note; /* below a picture of this map; or NULL. heed_panels has its own */
    const heed_tile *picture; /* each row is drawn over it, and the legend names the rows' own
                                 scales; the columns are the patches of its grid; or NULL */
    bool cells;  /* over a picture: one colour per patch; else interpolated between their centres */
    bool pixels; /* of a picture: values are brightness, drawn in grey, black at lo */
    bool continues; /* of a picture beside others: its rows continue those of the map before */
} heed_heatmap;
/* The head that is worth looking at first: the one with the lowest evenness, among the layers of a
 * stack, or in one layer (from 0; -1: all). Evenness: that of the query's row (from 0), or with -1
 * the mean over all rows and the mean over those at which something is predicted (in a causal layer
 * the last of them), half each. Heads that put most of their weight on the same, the previous or
 * the next token, or on the first and special tokens, come after all others with an evenness below
 * 0.5, that is, which attend to less than half of what they may. Heads with weights in these rows
 * that are not finite are left out. Returns false if the record has no such layer. */
typedef struct {
    int block, head;   /* indices in the record */
    int count;         /* heads that were compared */
    double score;      /* by which they were compared; the head has the lowest */
    double positional; /* the lowest evenness of those that follow positions; 1: there are none.
                          They are passed over if it is below the score, and that below 0.5 */
} heed_focus;
/* For several inputs that are to be compared, of which the records hold the same layers, the head
 * with the lowest mean score counts. records and queries have `count` elements; a query is a row of
 * its record, or -1. Layers that a record lacks, or has with another number of heads, are left out.
 * Returns false if none is left. */
bool heed_records_focus(const heed_record *const *records, const int *queries, int count,
                        heed_stack stack, int layer, heed_focus *out);
/* Where the scale of a block's weights ends, in the terminal, in pictures and on the page: at the
 * largest weight of any of its heads, but at twice the uniform weight (query -1) or more, up to 1.
 * In a causal layer the first token can only attend to itself; its row is left out, as it would
 * make all others pale. */
double heed_record_scale(const heed_record *r, const heed_record_block *b);
/* The least end of the scale of a map of a record, by its name: HEED_LEAST_OCCLUSION for occlusion,
 * which is in probabilities, so that changes of a few ten-thousandths look like the nothing that
 * they are; 0 for others. */
double heed_map_least(const char *name);
#define HEED_LEAST_OCCLUSION 0.02
/* Appends the drawn map, with column labels above and a legend below; no line is wider than the
 * width or ends with a blank. Cells contain their percentages if these fit; a few long rows are
 * continued in bands below. Otherwise cells are two columns wide and column labels read from top to
 * bottom; or one column wide, with two rows per line of half blocks; or several values are merged
 * into one cell, and the legend says so. */
bool heed_heatmap_text(const heed_heatmap *m, heed_text *out);

/* ---- a record as heat maps and as a picture ---- */

/* Instead of a head: one matrix that combines all heads of a layer. */
enum { HEED_HEAD_MEAN = -1, HEED_HEAD_LARGEST = -2, HEED_SEVERAL = 32 };
/* What of a record is shown. */
typedef struct {
    const heed_record *record;
    const heed_record_block *block; /* the layer, one of the record's */
    int head;                       /* index in the layer, or one of those above: of a matrix */
    bool chosen;    /* that head alone; else all heads where there is space for them */
    int query, key; /* what a token or patch looks at, or what looks at one; -1: all */
    int several[HEED_SEVERAL], count; /* with a count above 1 these instead: what queries look at on
                                         average, or what looks at any of these keys */
    int layers;                       /* of the model in this stack */
    heed_focus focus; /* the most concentrated head, which is said to be; count 0: none */
    const char *over; /* in what it was compared, " over both inputs"; or NULL */
    double end;       /* end of the scale of weights; 0: that of the layer, heed_record_scale */
    double mass;      /* over a picture: the strongest patches that have this share; 0: all */
    bool numbers;     /* instead of shades */
    bool hide;        /* special tokens are left out */
    bool cells;       /* over a picture: patch by patch instead of smoothly */
} heed_record_view;
/* The layer of the most concentrated head at a query (-1: all), and the mean of its heads. */
heed_record_view heed_record_view_of(const heed_record *r, int query);

/* A heat map that owns its arrays. */
typedef struct {
    heed_heatmap map; /* of these arrays, with a title for a terminal */
    heed_real *values;
    int *row, *col; /* indices of tokens in the record; row NULL: rows are not of tokens */
    int weights;    /* the first so many rows are weights; the others are of the record's maps */
    bool even;      /* of a matrix: all rows are nearly uniform */
    heed_tile tile; /* the picture under the map */
    char title[640];
    void *own[10];
    int owned;
} heed_view_map;
/* The matrix of a head. Call heed_view_map_free in any case; here and below, out must not be moved.
 */
bool heed_view_matrix(heed_ctx *c, const heed_record_view *v, int head, heed_view_map *out);
/* Rows over the tokens, or over the picture if the keys are its patches: with `each` the mean of
 * the heads and all heads, unless one is chosen, else the head alone; then, if `maps` or over a
 * picture, the record's maps that heed_view_shows. A row is that of the query (with maps and
 * without a query, that of heed_view_query), or the mean of all; of words over a picture there is a
 * row for each. */
bool heed_view_rows(heed_ctx *c, const heed_record_view *v, bool each, bool maps,
                    heed_view_map *out);
void heed_view_map_free(heed_view_map *s);
/* Whether a map has a row there: it is about a single prediction, and of the same tokens. */
bool heed_view_shows(const heed_record_view *v, const heed_record_map *m);
/* Whether a map is of the entire model, and in probabilities. */
bool heed_map_is_main(const heed_record_map *m);
/* The query, else that of the last prediction if that is about a row of the layer; or -1. */
int heed_view_query(const heed_record_view *v);
/* Writes what is shown as a picture: over the picture if the keys are its patches; with a query, a
 * key or maps of one prediction a row for each head and map; else a matrix for each head. */
bool heed_view_save(heed_ctx *c, const heed_record_view *v, heed_picture_form form,
                    const char *path);
/* What is written below every picture of attention. */
#define HEED_NO_EXPLANATION                                                                        \
    "Attention alone is no explanation: it shows where a head looks, not why the model answers"

/* Names, written to text, which is returned. */
enum { HEED_WORDS = 256 };
/* "head 2", "mean of 4 heads", "its one head" */
const char *heed_head_words(const heed_record_block *b, int head, char text[HEED_WORDS]);
/* "token 2, Paris"; "patch 2,3 (row, column)" */
const char *heed_place_words(const heed_record_axis *a, int at, char text[HEED_WORDS]);
/* "encoder, layer 2 of 2, mean of 4 heads" or "..., head 3 (most concentrated of 4 heads)" */
const char *heed_view_words(const heed_record_view *v, int head, char text[HEED_WORDS]);
/* "most concentrated of 8 heads in 2 layers over both inputs" */
const char *heed_focus_words(const heed_record_view *v, char text[HEED_WORDS]);
/* The weight at index `at` of a head, or the mean or maximum over all heads, each of which has
 * `square` weights. */
heed_real heed_fused_weight(const heed_real *weights, int heads, size_t square, int head,
                            size_t at);

/* ---- curves ---- */

typedef struct {
    const char *label;
    int count;
    const double *x, *y; /* (count); not finite: a gap in the curve */
} heed_series;
typedef struct {
    const char *title, *x_label, *y_label;
    int series_count;
    const heed_series *series;
    bool from_zero;              /* the vertical axis includes 0 */
    bool log2_x;                 /* x are logarithms to base 2: the horizontal axis shows 2^x */
    const char *mark;            /* what a point is that is marked, with its values in the legend:
                                    "best evaluation". NULL: none */
    int mark_series, mark_point; /* its indices */
    bool points;                 /* of a picture: points instead of curves */
    const unsigned
        *colors; /* (series_count) 0xRRGGBB; NULL: a palette for colour-blind readers, too */
} heed_chart;
/* Curves with axes, numbers and legend. */
bool heed_chart_text(const heed_chart *p, int width, int height, bool color, heed_text *out);
/* Writes charts, each of that size, one below the other. */
bool heed_charts_save(heed_ctx *c, const heed_chart *charts, int count, int width, int height,
                      heed_picture_form form, const char *path);

/* ---- pictures ---- */

/* A contact sheet. */
typedef struct {
    const char *title;
    int count, columns; /* columns 0: as many as fit in 1000 pixels */
    int side; /* of a tile in pixels; 0: 96. Small pictures are enlarged by integer factors */
    const heed_tile *tiles;
} heed_sheet;
bool heed_sheet_save(heed_ctx *c, const heed_sheet *s, heed_picture_form form, const char *path);

/* Writes heat maps with cells of whole pixels, labels and a legend, side by side, each with its own
 * scale. With numbers, each cell that is not 0 shows its value; values above hi have the last
 * colour. */
bool heed_heatmaps_save(heed_ctx *c, const heed_heatmap *maps, int count, heed_picture_form form,
                        const char *path);
/* Several heat maps of equal size on one scale, each under its own title; labels, scale and numbers
 * are those of the first. */
typedef struct {
    const char *title, *subtitle, *note; /* two lines above and one below all panels; or NULL */
    int count, columns;                  /* columns 0: nearly square */
    const heed_heatmap *maps;
} heed_panels;
bool heed_panels_save(heed_ctx *c, const heed_panels *all, heed_picture_form form,
                      const char *path);

/* ---- the page ---- */

/* One self-contained HTML file with every view of the records. All records are of one input;
 * several of them are snapshots over training steps. */
typedef struct {
    int count;
    const heed_record *records;
    const heed_chart *curves; /* curves of the training, or NULL */
    const char *steps;   /* a worked example, the JSON text of `heed explain --json`; or NULL */
    const char *opening; /* the first view, in the syntax of the page's links:
                            "view=matrix&stack=cross&layer=2&head=4&row=1"; or NULL */
    bool no_qk;          /* without q and k: smaller */
    bool force;          /* allow any size */
} heed_page;
#define HEED_PAGE_WARN  12e6 /* bytes: a warning goes to heed_options.log */
#define HEED_PAGE_LIMIT 64e6 /* bytes: refused without force */
/* Returns the estimated size of the file in bytes, without writing anything; the actual size
 * exceeds it by a few percent at most. */
double heed_page_size(const heed_page *p);
/* Writes the page completely or not at all. Weights are stored in steps of 1/65535, with 0 and 1
 * exact; values outside [0,1] in steps of 1/65534 of their range; q and k in half precision. If the
 * page is too large, the error says how many layers, heads or tokens would fit. */
bool heed_page_write(heed_ctx *c, const heed_page *p, const char *path);

HEED_EXPORT_END
#endif
