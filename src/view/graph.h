/* graph.h -- the graph of a step, drawn: what layout and drawing share. */
#ifndef HEED_VIEW_GRAPH_H
#define HEED_VIEW_GRAPH_H

#include <heed/graph.h>

/* ---- graph_frame.c ---- */

/* What is drawn how. */
typedef struct {
    const heed_graph *g;
    const heed_graph_view *view;
    bool *closed; /* (group_count) drawn as one small box */
} heed__plan;

/* What has a place in a box: an op, a box inside, where a tensor comes in or leaves, and a
 * bend of a line that passes a row. */
typedef enum { HEED__OP, HEED__BOX, HEED__IN, HEED__OUT, HEED__BEND } heed__item_kind;
typedef struct heed__frame heed__frame;
typedef struct {
    heed__item_kind kind;
    int ref;            /* BOX: the group; others: the node */
    heed__frame *inner; /* of an open box */
    double x, y, w, h;  /* of its upper left corner, within its frame */
    double foot;        /* where its row ends */
    int rank, order;    /* row from the top, place in it */
    double wish, pull;  /* where it wants to be, and how much */
} heed__item;

/* A piece of a line from a row to the next: from item to item, carrying what a node gives. */
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

/* Fills and places the box and all open ones inside. */
bool heed__frame_build(const heed__plan *p, heed__frame *f);
void heed__frame_free(heed__frame *f);
/* Where the line of a node meets the upper or lower edge of an item, from the item's left. */
double heed__item_port(const heed__frame *f, int item, int node, bool above);

/* ---- graph_place.c ---- */

/* Rows, the order within them, and coordinates, of a frame that has items and lines. */
bool heed__frame_place(heed_ctx *c, heed__frame *f);
bool heed__frame_line(heed_ctx *c, heed__frame *f, heed__line line);
int heed__frame_item(heed_ctx *c, heed__frame *f, heed__item item);

/* ---- graph_svg.c ---- */

/* Pixels of an op or a closed box. */
void heed__graph_size(const heed__plan *p, heed__item *item);

#endif
