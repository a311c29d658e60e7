/* inspect.h -- one input of a run, read for the analyses of heed/inspect.h. */
#ifndef HEED_INSPECT_PROGRAM_H
#define HEED_INSPECT_PROGRAM_H

#include "cli/program.h"

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

#endif
