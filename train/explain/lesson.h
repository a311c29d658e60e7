/* lesson.h -- functions shared by the examples of heed explain. */
#ifndef HEED_LESSON_EXAMPLES_H
#define HEED_LESSON_EXAMPLES_H

#include "explain/explain.h"

/* A matrix over the caller's numbers, which are stored row by row. */
heed_matrix lesson_matrix(int rows, int cols, double *x);
/* Appends a matrix with its labels (NULL: none) and an empty line. */
void lesson_draw(explaining *e, const char *name, heed_matrix m, const char *const *rows,
                 const char *const *cols);
/* Draws up to 4 matrices with the same number of rows side by side, as far as they fit, and an
 * empty line. */
typedef struct {
    const char *name;
    heed_matrix m;
    const char *const *cols;
} lesson_block;
void lesson_columns(explaining *e, int count, const lesson_block *blocks, const char *const *rows);
/* Appends a paragraph and an empty line. */
void lesson_say(explaining *e, const char *format, ...) HEED_PRINTF(2, 3);
/* Ends an example with "try:" and variations of the command, one per line. */
void lesson_try(explaining *e, const char *const *commands, int count);
/* Refuses settings that the example has no use for. */
bool lesson_takes(explaining *e, const example *k);
/* Prints o if JSON was asked for, and frees it. True: it was printed, and the example prints no
 * text. */
bool lesson_json(explaining *e, json_t *o);
json_t *lesson_list(const double *x, int n);
json_t *lesson_grid(int rows, int cols, double *x);

/* Draws the chart, and writes it to a file if --png was given. */
void lesson_chart(explaining *e, const heed_chart *k, int height);

/* -sum p log2 p of n shares, in bits. */
double lesson_entropy(const double *p, int n);
/* Frobenius norm of the softmax's derivative diag(p) - p p', for n shares p. */
double lesson_slope(const double *p, int n);
/* The largest |a - b| over n numbers. */
double lesson_gap(const double *a, const double *b, int n);

#endif
