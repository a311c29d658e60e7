/* inspect.h -- one input of a run, read for the analyses of heed/inspect.h. */
#ifndef HEED_INSPECT_PROGRAM_H
#define HEED_INSPECT_PROGRAM_H

#include "kinds/training.h"

/* Reads a text, numbers ("1 0; 0.5 1", positions separated by semicolons), or a source with its
 * target (NULL: the model's own translation). False: see the context; call heed_inspection_free
 * also then. */
bool inspect_text(heed_inspection *s, heed_run *r, const char *text, size_t n, const char *target);

/* False, with an error, if the text names a picture but the model reads texts. */
bool is_text_for(heed_ctx *c, const heed_model *m, const char *text);

/* Shows the progress of an analysis on the terminal; user is an inspect_progress *. The line is
 * removed by the call with done = all. */
typedef struct {
    program *p;
    const char *what; /* "hidden token" */
} inspect_progress;
bool inspect_advance(void *user, uint64_t done, uint64_t all);

/* Printed with everything that shows attention or its importance. */
#define NO_EXPLANATION                                                                             \
    "Attention alone is no explanation: it shows where a head looks, not why the model answers"

/* Whether some attention stack of the run has the layer that --layer gives, from 1, or 0 for the
 * last. Sets *index to the layer's index. */
bool layer_index(const heed_run *r, int layer, int *index);
/* Whether the layers belong to more than one stack. */
bool has_stacks(const heed_record_block *list, int count);
/* "layer 2, head 3"; or "cross layer 1, head 2" if the model has several stacks. */
char *head_name(char text[64], const heed_record_block *l, int head, bool stacks);

/* Prints a heat map, as wide as the terminal. */
bool print_heatmap(heed_ctx *c, heed_heatmap map);
/* Prints a record as one JSON object. */
bool print_record(heed_ctx *c, const heed_record *r);
/* Reads a picture file; "-" is the standard input. */
bool read_picture(heed_ctx *c, const char *path, heed_picture *out);
/* Reads an argument: a picture's file if the model reads pictures, else as inspect_text. convert: a
 * picture of other channels becomes grey or colour. */
bool inspect_input(heed_inspection *s, heed_run *r, const char *text, const char *target,
                   bool convert);
/* A record of the weights of one layer alone, given as in layer_index. */
heed_record *capture_layer(const heed_inspection *s, int layer, int top);

/* ---- pages ---- */
/* What a page shows when it opens. */
typedef struct {
    const char *view; /* NULL: the page's default */
    heed_stack stack;
    int layer;        /* from 0 */
    const char *head; /* "3", "mean", "max"; NULL: the first */
    int query;        /* from 0; -1: none */
} page_link;
enum { PAGE_LINK_SIZE = 160 };
/* Writes the link's text, for heed_page, to text and returns it. */
const char *page_link_text(const page_link *o, char text[PAGE_LINK_SIZE]);
/* Checks, before other files are written, that the page can be written. False: the error that
 * writing it would give. */
bool page_fits(heed_ctx *c, const heed_page *p, const char *path);
/* Adds the run's curves to the page, if it has any: an imported model has none. k must outlive the
 * page; free k->curves also after an error. */
typedef struct {
    run_curves curves;
    heed_series series[2];
    heed_chart chart;
} page_curves;
bool page_add_curves(heed_ctx *c, heed_page *page, const char *run, page_curves *k);

#endif
