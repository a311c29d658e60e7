/* lesson.h -- what the further examples of heed explain share. */
#ifndef HEED_LESSON_EXAMPLES_H
#define HEED_LESSON_EXAMPLES_H

#include "explain/explain.h"

/* A matrix on numbers of the caller's; rows of arrays lie one after the other. */
heed_matrix lesson_matrix(int rows, int cols, double *x);
/* Appends it with its labels (each NULL: none) and an empty line. */
void lesson_draw(explaining *e, const char *name, heed_matrix m, const char *const *rows,
                 const char *const *cols);
/* Matrices of equal rows side by side, as many as fit, and an empty line. At most 4. */
typedef struct {
    const char *name;
    heed_matrix m;
    const char *const *cols;
} lesson_block;
void lesson_columns(explaining *e, int count, const lesson_block *blocks, const char *const *rows);
/* Appends a paragraph and an empty line. */
void lesson_say(explaining *e, const char *format, ...) HEED_PRINTF(2, 3);
/* Ends an example: "try:" and commands that change something, each a line of its own. */
void lesson_try(explaining *e, const char *const *commands, int count);
/* Refuses settings that the example has no use for. */
bool lesson_takes(explaining *e, const example *k);
/* Prints o where JSON is asked for; else frees it. True: it was printed, so no text is wanted. */
bool lesson_json(explaining *e, json_t *o);
json_t *lesson_list(const double *x, int n);
json_t *lesson_grid(int rows, int cols, double *x);

/* Writes the chart to --png FILE where that is asked for, and draws it. */
void lesson_chart(explaining *e, const heed_chart *k, int height);

/* -sum p log2 p of n shares, in bits. */
double lesson_entropy(const double *p, int n);
/* Frobenius norm of the softmax's derivative diag(p) - p p' at n shares. */
double lesson_slope(const double *p, int n);
/* The largest |a - b| of n numbers. */
double lesson_gap(const double *a, const double *b, int n);

#endif
