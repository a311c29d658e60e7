/* inspect.h -- shared by the analyses: the pass of an example through its model. */
#ifndef HEED_INSPECT_PRIVATE_H
#define HEED_INSPECT_PRIVATE_H

#include <heed/inspect.h>

/* Whether an example of a run is complete and nothing has failed; every analysis checks this first.
 */
bool heed__inspectable(const heed_run *r, const heed_example *e);
/* A pass of an example through its model. Zeros: as it is, in eval mode, with nothing kept. */
typedef struct {
    const int32_t *ids;      /* these ids instead of its own, and these numbers or pixels, */
    const heed_real *x;      /* of the same size */
    const char *const *keep; /* (keep_count) patterns of the places whose values are kept; none: as
                                the tape is probed */
    int keep_count;
    bool gradients; /* with their gradients; the pass is recorded */
    heed_tensor *const *want;
    int want_count; /* parameters that get gradients, so that what depends on them does */
    int rows;       /* above 0: a batch of so many copies, and all positions' logits as the model
                       gives them */
    heed_tensor **input; /* of such a batch: its numbers, which get gradients; or NULL */
} heed__passing;
/* Returns the logits; NULL on error. They and what is kept are valid until the next pass. */
heed_tensor *heed__run_example(const heed_run *r, const heed_example *e, const heed__passing *how);
/* The attention weights that the last pass kept at the path of a layer. size: of them; 0: any. */
const heed_tensor *heed__kept(const heed_run *r, const char *path, size_t size);
/* The stack of the predictions: for a pair, that of the cross attention, else that of the model's
 * first layer. */
heed_stack heed__example_stack(const heed_run *r, const heed_example *e);
/* Sets patches (count) of a picture, numbered row by row from 0, to 0, the mean colour, in x, a
 * copy of e->x. */
void heed__hide_patches(const heed_example *e, heed_real *x, const int *patches, int count);
/* Fails if nothing is predicted: a masked model and a text without [MASK]. */
bool heed__has_questions(const heed_run *r, const heed_example *e);
/* The class or token that a question is about: for a pair or caption, the target's own token, else
 * the first guess by the logits y. */
int heed__class_of(const heed_run *r, const heed_example *e, const heed_example_question *q,
                   const heed_tensor *y);

/* Index of the first largest of n numbers. */
static inline int heed__largest(const heed_real *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Calls progress, unless it is NULL. Fails with HEED_INTERRUPTED if it returns false. */
bool heed__progress(heed_ctx *c, heed_progress progress, void *user, int64_t done, int64_t all);

/* The heads of all attention layers of a run as rows of a table. */
enum { HEED__ABOUT = 5 };
typedef struct {
    int layer_count, count;
    heed_record_block *layers; /* as returned by heed_attention_layers */
    int *first;                /* (layer_count) row of each layer's head 0 */
    int *layer, *number;       /* (count) index of a head's layer, and the head within it */
    bool stacks;               /* the layers belong to several */
    heed_record_column about[HEED__ABOUT]; /* name for people, path, stack, layer, head */
    void *memory[4];
} heed__heads;
/* Call heed__heads_free in any case. */
bool heed__heads_open(const heed_run *r, heed__heads *out);
void heed__heads_free(heed__heads *h);

/* Makes the record of an analysis of data: its title is what was read, and a table without a name
 * has the name of the row, or NULL, the model and the data. Free with heed_record_free. */
heed_record *heed__measured(const heed_run *r, const char *what, const char *note,
                            const heed_record_column *name);
/* Returns the record, or frees it and returns NULL if c has failed. */
heed_record *heed__record_done(heed_ctx *c, heed_record *r);

#endif
