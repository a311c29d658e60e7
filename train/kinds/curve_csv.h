/* curve_csv.h -- a table of numbers in a CSV file, as curves. */
#ifndef HEED_TABLE_H
#define HEED_TABLE_H

#include "cli/program.h"

/* The first line names the columns. The first column is x, and each further column is a curve; an
 * empty field is a gap. */
typedef struct {
    char *text;      /* the file's text, cut into names */
    char title[256]; /* the file's name without folder and extension */
    const char *x;   /* name of the first column */
    int curves, rows;
    double *values; /* x and the curves, one column of `rows` after the other */
    heed_series *series;
} curve_csv;
bool is_curve_csv(const char *path); /* ends with .csv */
bool curve_csv_read(heed_ctx *c, const char *path, curve_csv *out);
void curve_csv_free(curve_csv *k);
heed_chart curve_csv_chart(const curve_csv *k); /* uses k's memory */

#endif
