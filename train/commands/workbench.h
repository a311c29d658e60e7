/* workbench.h -- a model on random data: what bench and gradcheck work on. */
#ifndef HEED_WORKBENCH_H
#define HEED_WORKBENCH_H

#include "cli/program.h"

typedef struct {
    heed_batch b; /* its arrays are the ones below */
    int32_t *ids, *labels, *masked_positions, *source;
    heed_real *x;
} random_batch;

typedef struct {
    heed_ctx *c;
    const heed_model *model;
    heed_config *f;
    heed_store *store;
    heed_tape *tape;
    void *self;
    int rows, len, vocab; /* of a batch: (rows,len); of pictures: len numbers, vocab classes */
    int masked_positions; /* of a row: mlm alone */
    int sources;          /* vocabulary of a source beside each row, as long; 0: no source */
    int labels;           /* of a text's classes: the source alone is read; 0: none */
    bool dense;           /* reads numbers, not tokens: pictures, or batches of its own */
} workbench;

/* What a batch looks like by the settings of w->f. */
void workbench_sizes(workbench *w);
/* Whether the built model has attention layers of that stack. */
bool workbench_has(const workbench *w, heed_stack stack);
/* Builds the model by the settings of w->f, which is freed by workbench_close. */
bool workbench_open(workbench *w);
void workbench_close(workbench *w);
/* The settings of a model at their defaults. */
heed_config *workbench_config(heed_ctx *c, const heed_model *m);
/* The model's own batch, or uniform tokens (or pixels) and labels; masked models: picks of each row
 * at random, id 0 as [MASK]. */
bool random_batch_make(const workbench *w, uint64_t index, random_batch *out);
void random_batch_free(random_batch *r);

#endif
