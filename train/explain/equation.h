/* equation.h -- matrices with labels, side by side as an equation, in text of a given width. */
#ifndef HEED_EQUATION_H
#define HEED_EQUATION_H

#include "cli/program.h"

#include <heed/lesson.h>

typedef struct {
    int width;     /* columns available */
    int precision; /* digits after the decimal point; none in matrices of integers */
    bool color;    /* bold and dim text, no other colors */
} text_style;

/* How a matrix is drawn. Labels are printed as they are, and cut where they do not fit. */
typedef struct {
    const char *name; /* drawn above it: "Q", "K'" */
    const heed_matrix *m;
    bool transposed; /* m is drawn with rows and columns exchanged */
    const char *const *row_labels, *const *col_labels; /* in the drawing's orientation; or NULL */
    const unsigned char *blank; /* for each cell of m: 1 left blank, 2 filled in; or NULL */
    const char *marks;          /* a character after each cell of m; or NULL */
    bool pixels, continues;     /* in a PNG: drawn in grey; in the rows of the matrix before it */
    int most_rows, most_cols;   /* only this many rows and columns are drawn; 0: all */
    int row, col;               /* the row and the column that are highlighted, from 1; 0: none */
} matrix_view;
/* The rows and columns of the drawing, and where a cell of it is in m. */
int rows_of(const matrix_view *v);
int cols_of(const matrix_view *v);
size_t cell_of(const matrix_view *v, int row, int col);

/* A number as it is shown in a matrix: "-inf", "3", "0.25". */
char *number_text(char text[32], double x, int precision);
/* Digits for a matrix: 0 if all its numbers are integers, otherwise `precision`, or more if all are
 * below 0.1, so that small numbers are not shown as zeros. */
int matrix_digits(const heed_matrix *m, int precision);

/* Appends parts[0] between[1] parts[1] ... with their shapes below: on one line if they fit,
 * otherwise on several. A matrix that is too wide for a line is split into bands of columns.
 * between[0] is drawn before the first part; "" for nothing. */
void draw_equation(heed_text *out, const text_style *s, int count, const matrix_view *parts,
                   const char *const *between);
void draw_matrix(heed_text *out, const text_style *s, const matrix_view *m);

/* A paragraph wrapped at the width, with a line break at its end: plain, dim on a terminal, or a
 * heading, bold and with a line under it. */
typedef enum { PLAIN_WORDS, DIM_WORDS, HEADING } words_style;
void draw_words(heed_text *out, const text_style *s, words_style how, const char *words);

#endif
