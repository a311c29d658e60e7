/* inspect.h -- one input of a run, read for the analyses of heed/inspect.h. */
#ifndef HEED_INSPECT_PROGRAM_H
#define HEED_INSPECT_PROGRAM_H

#include "cli/program.h"

/* A text, numbers ("1 0; 0.5 1": those of a position up to a semicolon), or a source with its
 * target (NULL: what the model makes of it). False: see the context; heed_inspection_free in any
 * case. */
bool inspect_text(heed_inspection *s, heed_run *r, const char *text, size_t n, const char *target);

/* False, with an error, where the text names a picture and the model reads texts. */
bool is_text_for(heed_ctx *c, const heed_model *m, const char *text);

/* A line on the terminal of how far an analysis is; user: an inspect_progress. Ends with the call
 * for done = all. */
typedef struct {
    program *p;
    const char *what; /* "hidden token" */
} inspect_progress;
bool inspect_advance(void *user, uint64_t done, uint64_t all);

/* Stands beside whatever shows attention or its worth. */
#define NO_EXPLANATION                                                                             \
    "Attention alone is no explanation: it shows where a head looks, not why the model answers"

/* Whether a stack of the run's attention has the layer of a flag --layer: from 1, or 0 for the
 * last; its index into *index. */
bool layer_index(const heed_run *r, int layer, int *index);
/* Whether the layers are of more than one stack. */
bool has_stacks(const heed_record_block *list, int count);
/* "layer 2, head 3", "cross layer 1, head 2" where a model has several stacks. */
char *head_name(char text[64], const heed_record_block *l, int head, bool stacks);

#endif
