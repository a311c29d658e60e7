/* graph.h -- the graph of a step, read from a tape: shared by reading and grouping. */
#ifndef HEED_INSPECT_GRAPH_H
#define HEED_INSPECT_GRAPH_H

#include <heed/graph.h>

/* Sorts the nodes into boxes by the names of their layers. */
bool heed__graph_group(heed_graph *g);

#endif
