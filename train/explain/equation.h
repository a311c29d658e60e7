/* equation.h -- matrices with labels, side by side as an equation, in text of a given width. */
#ifndef HEED_EQUATION_H
#define HEED_EQUATION_H

#include "cli/program.h"

#include <heed/lesson.h>

typedef struct {
    int width;     /* columns at hand */
    int precision; /* digits behind the point; whole matrices of whole numbers have none */
    bool color;    /* bold and dim, nothing else */
} text_style;

/* What is drawn of a matrix. Labels are literal; they are cut where the columns do not suffice. */
typedef struct {
    const char *name; /* above it: "Q", "K'" */
    const heed_matrix *m;
    bool transposed; /* m is drawn with rows and columns exchanged */
    const char *const *row_labels, *const *col_labels; /* as drawn; or NULL */
    const char *const *row_notes; /* behind the rows, where there is room; or NULL */
    const unsigned char *blank;   /* a flag a cell of m: 1 left blank, 2 filled in; or NULL */
    const char *marks;            /* a sign behind each cell of m, or NULL */
    int most_rows, most_cols;     /* of what is drawn: the first so many; 0: all */
    int row, col;                 /* from 1, the row and the column that stand out; 0: none */
} matrix_view;

/* A number as a matrix shows it: "-inf", "3", "0.25". */
char *number_text(char text[32], double x, int precision);
/* Digits for a matrix: 0 where all its numbers are whole, else `precision`, and more where all are
 * below 0.1, so that what is small is not all zeros. */
int matrix_digits(const heed_matrix *m, int precision);

/* Appends parts[0] between[1] parts[1] ... with their shapes below: on one line if that fits, else
 * on several, and a matrix too wide for one in bands of columns. between[0] stands before the
 * first; "" where nothing does. */
void draw_equation(heed_text *out, const text_style *s, int count, const matrix_view *parts,
                   const char *const *between);
/* The same for one matrix. */
void draw_matrix(heed_text *out, const text_style *s, const matrix_view *m);

/* A heading with a line under it; a paragraph wrapped at the width, indented; both end a line. */
void draw_heading(heed_text *out, const text_style *s, const char *format, ...) HEED_PRINTF(3, 4);
void draw_words(heed_text *out, const text_style *s, const char *format, ...) HEED_PRINTF(3, 4);
/* The same, dim on a terminal: an aside. */
void draw_aside(heed_text *out, const text_style *s, const char *format, ...) HEED_PRINTF(3, 4);

/* A label in exactly `width` columns, cut with "…" or filled with blanks before or behind it.
 * Control characters are shown as heed_format_token does. */
void put_label(heed_text *out, const char *label, int width, bool right);
int label_columns(const char *label);

#endif
