/* heed/graph.h -- the ops that a step recorded, as a graph to draw: ops with their parameters,
 * grouped in boxes by layer name.
 *
 *     heed_graph g;
 *     heed_text svg = {.c = c};
 *     if (heed_graph_read(t, &g)) heed_graph_svg(&g, &(heed_graph_view){.title = "gpt"}, &svg);
 *     heed_graph_free(&g); */
#ifndef HEED_GRAPH_H
#define HEED_GRAPH_H

#include <heed/io.h>
#include <heed/tape.h>

HEED_EXPORT_BEGIN

/* An op, or an input that no op computed. Its output y is one tensor, which belongs to the tape. */
typedef struct {
    heed_recorded op; /* op.op NULL: an input of the step */
    const heed_tensor *y;
    const char *activation; /* that an affine op applies to its sums: "gelu"; NULL: none */
    bool grad;              /* backward goes through it */
    int group;              /* the innermost box that contains it */
    int in_count;           /* its input nodes, one for each input that is not a parameter */
    const int *in;          /* (in_count) */
    int params;             /* parameters and states that it reads */
    const heed_tensor *const *param; /* (params) */
} heed_graph_node;

/* A box: the ops of one layer, "decoder.0.attn". If a layer is applied again after ops that depend
 * on it (a recurrent cell), each application is a separate box. */
typedef struct {
    const char *path; /* "" for box 0, which contains all nodes */
    int parent;       /* -1 for box 0; always less than its own index */
    int nodes;        /* in it and in the boxes inside it */
    int like; /* an earlier box of the same parent with the same ops on the same shapes; -1 */
} heed_graph_group;

typedef struct {
    heed_ctx *c;
    int count, group_count;
    heed_graph_node *nodes; /* inputs first, then ops in the order of the forward pass */
    heed_graph_group *groups;
    void *memory, *names; /* storage of the lists in nodes; of the paths */
} heed_graph;

/* Reads the step that t recorded last; the graph is valid until the next begin. Returns false on
 * error or if nothing was recorded; heed_graph_free then has no effect. */
bool heed_graph_read(const heed_tape *t, heed_graph *out);
void heed_graph_free(heed_graph *g);
/* Whether the node is in the group or in one inside it. */
static inline bool heed_graph_inside(const heed_graph *g, int node, int group) {
    if (!g || node < 0 || node >= g->count) return false;
    int at = g->nodes[node].group;
    while (at > group) at = g->groups[at].parent;
    return at == group;
}

typedef struct {
    const char *title; /* or NULL */
    int depth;         /* boxes at this depth and below are closed; 0: no limit */
    bool unfold;       /* draws every repeated layer; else only the first is open */
    bool backward;     /* draws the backward pass beside it, from the loss up */
} heed_graph_view;
/* Appends the graph as one self-contained SVG picture, for light and dark pages. */
bool heed_graph_svg(const heed_graph *g, const heed_graph_view *v, heed_text *out);

HEED_EXPORT_END
#endif
