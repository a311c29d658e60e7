/* workbench.h -- a model on random data, for bench, gradcheck and graph. */
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
    heed_params *store;
    heed_tape *tape;
    void *self;
    int rows, len, vocab; /* batch (rows,len); of pictures: len numbers, vocab classes */
    int pixels;           /* numbers of a picture, where one is read; 0: none */
    int masked_positions; /* per row; used only by mlm */
    int sources;       /* vocabulary of the sources, which are as long as the rows; 0: no sources */
    int labels;        /* classes of texts, where only the source is read; 0: none */
    const char *reads; /* settings of training that the command reads, besides those of a step */
    bool dense;        /* reads numbers, not tokens: pictures, or the model's custom batches */
} workbench;

/* Sets the sizes of a batch from the settings of w->f. */
void workbench_sizes(workbench *w);
/* Whether the built model has attention layers of that stack. */
bool workbench_has(const workbench *w, heed_stack stack);
/* Fails if a setting that was given has no effect on a step of the model, or on the command. */
bool workbench_check(const workbench *w);
/* Builds the model from the settings of w->f, which workbench_close frees. */
bool workbench_open(workbench *w);
void workbench_close(workbench *w);
/* The settings of a model, at their defaults. */
heed_config *workbench_config(heed_ctx *c, const heed_model *m);
/* Makes the model's custom batch, or one of uniformly random tokens (or pixels) and labels. For
 * masked models, random positions of each row are replaced by id 0 as [MASK]. */
bool random_batch_make(const workbench *w, uint64_t index, random_batch *out);
void random_batch_free(random_batch *r);

#endif
