/* graph.h -- drawing the graph of a step: shared by layout and drawing. */
#ifndef HEED_VIEW_GRAPH_H
#define HEED_VIEW_GRAPH_H

#include <heed/graph.h>

/* ---- graph_layout.c ---- */

/* A drawing: the graph, its view and the closed boxes. */
typedef struct {
    const heed_graph *g;
    const heed_graph_view *view;
    bool *closed; /* (group_count) drawn as one small box */
} heed__plan;

/* An item in a box: an op, an inner box, the point where a tensor enters or leaves, or a bend of a
 * line that crosses a row. */
typedef enum { HEED__OP, HEED__BOX, HEED__IN, HEED__OUT, HEED__BEND } heed__item_kind;
typedef struct heed__frame heed__frame;
typedef struct {
    heed__item_kind kind;
    int ref;            /* BOX: the group; others: the node */
    heed__frame *inner; /* contents of an open box */
    double x, y, w, h;  /* upper left corner, within its frame, and size */
    double foot;        /* lower end of its row */
    int rank, order;    /* row from the top, position in the row */
    double wish, pull;  /* preferred position, and its weight */
} heed__item;

/* A piece of a line from one row to the next, between two items, for the output of a node. */
typedef struct {
    int node, from, to;
} heed__line;

/* The contents of an open box. */
struct heed__frame {
    int group;
    int count, line_count, ranks;
    heed__item *items;
    heed__line *lines;
    size_t item_capacity, line_capacity;
    double w, h;
};

/* Fills and lays out the box and all open boxes inside it. */
bool heed__frame_build(const heed__plan *p, heed__frame *f);
void heed__frame_free(heed__frame *f);
/* Where the line of a node meets the upper or lower edge of an item, measured from the item's left
 * edge. */
double heed__item_port(const heed__frame *f, int item, int node, bool above);

/* ---- graph_svg.c ---- */

/* Computes the size of an op or a closed box in pixels. */
void heed__graph_size(const heed__plan *p, heed__item *item);

#endif
