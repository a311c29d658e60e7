/* eval_loop.h -- the evaluation data of any task, batch by batch, for what heads do and what is
 * lost without them. */
#ifndef HEED_EVAL_LOOP_H
#define HEED_EVAL_LOOP_H

#include "kinds/image.h"
#include "kinds/inputs.h"
#include "kinds/pairs.h"

/* A row of the table of a command that sweeps. */
#define EVAL_LOOP_OPTIONS                                                                          \
    {                                                                                              \
        "batches", HEED_INT, "0", 0, 1e9, NULL,                                                    \
            "evaluation batches that are read, a seeded sample; 0: all", "Data"                    \
    }

typedef struct {
    heed_evaluation e; /* what is read; of questions each one is a batch */
    const heed_model *model;
    heed_config *f;   /* the run's settings */
    heed_data *open;  /* the data of a run; */
    cloze *questions; /* instead; NULL: none */
    uint64_t all;     /* batches that there are */
    heed_part part;   /* of pictures */
    char what[512];   /* of which data they are */
} eval_loop;

/* Opens a run and DATA, or what it was trained on, by the arguments of the command. */
bool eval_loop_open(program *p, eval_loop *s);
void eval_loop_close(eval_loop *s);
/* A line on the terminal of how far it is: "batch 3 of 10", which goes when the last is done. */
void eval_loop_progress(program *p, const char *what, uint64_t done, uint64_t all);

#endif
