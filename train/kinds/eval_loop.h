/* eval_loop.h -- the evaluation data of any task, batch by batch, for heads and ablate. */
#ifndef HEED_EVAL_LOOP_H
#define HEED_EVAL_LOOP_H

#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

/* A row of the table of a command that uses the loop. */
#define EVAL_LOOP_OPTIONS                                                                          \
    COUNT("batches", "0", 0, 1e9, "evaluation batches that are read, a seeded sample; 0: all",     \
          "Data")

typedef struct {
    heed_evaluation e; /* what is read; each question is a batch */
    const heed_model *model;
    heed_config *f;   /* the run's settings */
    heed_data *open;  /* the run's data; or NULL */
    cloze *questions; /* questions instead of data; or NULL */
    uint64_t all;     /* number of batches */
    heed_part part;   /* the part of a set of pictures */
    char what[512];   /* description of the data */
} eval_loop;

/* Opens the run and the DATA of the command's arguments; without DATA, the data that the run was
 * trained on. */
bool eval_loop_open(program *p, eval_loop *s);
void eval_loop_close(eval_loop *s);
/* Shows the progress on the terminal, "batch 3 of 10"; the line is removed when all are done. */
void eval_loop_progress(program *p, const char *what, uint64_t done, uint64_t all);

#endif
