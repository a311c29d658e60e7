/* table.h -- a table of cells, a row a line, in the columns that the terminal has. */
#ifndef HEED_LISTING_H
#define HEED_LISTING_H

#include "cli/program.h"

typedef struct {
    const char *head;
    int width;
    bool left; /* cells stand at its left end; else at its right one */
} table_column;

enum { TABLE_NAME = -1, TABLE_CELL = 64 };
typedef struct {
    const char *head;      /* over the names of rows */
    int rows, count, name; /* rows, columns, width of names where all columns stand side by side */
    int gap;               /* blanks between columns; 0: two */
    bool top;              /* nothing stands above: no empty line before it */
    bool flush;            /* names begin at the line's start; else two blanks from it */
    const table_column *columns;
    const char *const *names; /* of the rows, where they are foreign texts; or NULL */
    /* The text of a cell, or, without names, of the row's name. */
    void (*cell)(const void *of, int row, int column, char text[TABLE_CELL]);
    const void *of;
} table;
/* In one block, or in as many as the terminal needs, each with the names of the rows; a name that
 * leaves no room for a column is cut. */
void print_table(heed_ctx *c, const table *l);

#endif
