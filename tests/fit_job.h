/* A small model, training runs of it set up by words, and files to compare. */
#ifndef HEED_FIT_JOB_H
#define HEED_FIT_JOB_H

#include "test.h"

typedef struct {
    heed_linear hidden, head;
    heed_dropout_layer drop;
    heed_tensor *logits, *loss;
} tiny;

/* The data: a batch is a function of its place. */
typedef struct {
    uint64_t seed;
    int per_step;   /* examples that one step sees, by whatever micro-batches */
    int64_t poison; /* in this step an input is `bad`; -1: never */
    heed_real bad;
    uint64_t evals, epoch;
    int samples, others; /* evaluation batches, of samples and of whole parts */
    heed_real x[512];
    int32_t labels[256];
} points;

extern const heed_model tiny_model;
extern const heed_model *const tiny_models[];
bool tiny_init(void *self, heed_params *s, const void *f);

typedef struct {
    heed_ctx *c;
    points data;
    heed_train_args args;
    heed_data open; /* args.opened */
    heed_fit_result result;
    int count[5]; /* of events */
    heed_report last[5];
    int64_t stop_at; /* step after which to stop; 0: never */
    char notes[2048], run[128];
} job;

/* settings: "steps=40 batch=8". run: NULL, or a name in the test's folder. */
void job_open(job *j, const char *run, const char *settings, heed_options o);
/* The run's own settings, as `heed resume` reads them, and others over them. */
void job_open_resume(job *j, const char *run, const char *settings, heed_options o);
void job_fit(job *j);
/* All of that in one, on one thread; must end well. */
void train_run(const char *run, const char *settings);
void resume_run(const char *run);

/* Loss and metrics over the evaluation batches of data, in order; zeros on an error. */
heed_score evaluate_all(heed_tape *t, const heed_model *m, void *self, const heed_data *data,
                        int rows);

/* Files of a run in the test's folder. */
char *path_of(char path[256], const char *run, const char *name);
bool exists(const char *run, const char *name);
char *slurp(const char *run, const char *name, size_t *n); /* to be freed; NULL if absent */
void spill(const char *run, const char *name, const char *data, size_t n);
bool equal_files(const char *a, const char *b, const char *name);
/* Equal weights, optimizers and metrics, except for the times in these. */
bool same_run(const char *a, const char *b);
/* From now on no file may have more bytes; 0: any number. SIGXFSZ must be ignored. */
void limit_files(size_t bytes);
void command(const char *format, ...) HEED_PRINTF(1, 2); /* of the shell; must succeed */

#endif
