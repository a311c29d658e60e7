/* heed/inspect.h -- numbers to look at: heat maps and curves, as text and as pictures. */
#ifndef HEED_INSPECT_H
#define HEED_INSPECT_H

#include <heed/io.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { HEED_ASCII, HEED_COLOR256, HEED_TRUECOLOR } heed_terminal;

/* A matrix with labels. values[r * cols + c] in [0, hi]. */
typedef struct {
    const char *title;
    int rows, cols;
    const heed_real *values;
    const char *const *row_labels, *const *col_labels; /* or NULL */
    heed_real hi;                                      /* full scale; 0: the largest value */
    bool numbers;                                      /* print numbers instead of shades */
    heed_terminal terminal;
    int width; /* columns at hand; 0: 100 */
} heed_heatmap;
/* Appends the drawn map, a line a row, with column labels above and a legend below. */
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

#ifdef __cplusplus
}
#endif
#endif
