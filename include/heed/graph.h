/* heed/graph.h -- what a step recorded, as a graph to look at: ops with their parameters, in boxes
 * by the names of layers.
 *
 *     heed_graph g;
 *     heed_text svg = {.c = c};
 *     if (heed_graph_read(t, &g)) heed_graph_svg(&g, &(heed_graph_view){.title = "gpt"}, &svg);
 *     heed_graph_free(&g);
 */
#ifndef HEED_GRAPH_H
#define HEED_GRAPH_H

#include <heed/io.h>
#include <heed/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An op, or an input that no op made. It gives one tensor, y, which belongs to the tape. */
typedef struct {
    heed_recorded op; /* op.op NULL: an input of the step */
    const heed_tensor *y;
    bool grad;     /* backward goes through it */
    int group;     /* the innermost box that it stands in */
    int in_count;  /* nodes that it takes from, one for each input that is no parameter */
    const int *in; /* (in_count) */
    int params;    /* parameters and states that it takes */
    const heed_tensor *const *param; /* (params) */
} heed_graph_node;

/* A box: the ops of one layer, "decoder.0.attn". Where a layer is used again after ops that wait
 * for it (a cell, step by step), each use is a box. */
typedef struct {
    const char *path; /* "" of box 0, which holds all */
    int parent;       /* -1 of box 0; always before it */
    int nodes;        /* in it and in the boxes inside */
    int like; /* an earlier box of the same parent with the same ops on the same shapes; -1 */
} heed_graph_group;

typedef struct {
    heed_ctx *c;
    int count, group_count;
    heed_graph_node *nodes; /* inputs first, then ops in the order of the forward pass */
    heed_graph_group *groups;
    void *memory, *names; /* of the lists in nodes; of the paths */
} heed_graph;

/* The step that t recorded last, until the next begin. False in error, and where nothing was
 * recorded; heed_graph_free then has nothing to do. */
HEED_API bool heed_graph_read(const heed_tape *t, heed_graph *out);
HEED_API void heed_graph_free(heed_graph *g);
/* Whether the node is in the group or in one inside it. */
HEED_API bool heed_graph_inside(const heed_graph *g, int node, int group);

typedef struct {
    const char *title; /* or NULL */
    int depth;         /* boxes this deep and deeper are closed; 0: none for their depth */
    bool unfold;       /* repeated layers are drawn each; else the first of them alone is open */
    bool backward;     /* beside it the backward pass, from the loss up */
} heed_graph_view;
/* Appends it as one SVG picture that needs nothing beside it, for light and dark pages. */
HEED_API bool heed_graph_svg(const heed_graph *g, const heed_graph_view *v, heed_text *out);

#ifdef __cplusplus
}
#endif
#endif
