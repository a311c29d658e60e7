/* heed/fit.h -- the training loop, checkpoints and run directories. The program's own loop is this
 * one. */
#ifndef HEED_FIT_H
#define HEED_FIT_H

#include <heed/decode.h>
#include <heed/optim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Settings that every training shares: batch accumulate steps epochs minutes optimizer lr lr-min
 * schedule warmup ... */
HEED_API extern const heed_option heed_fit_options[];

typedef enum {
    HEED_FIT_START, /* once: params, memory, steps are known */
    HEED_FIT_STEP,  /* after every update */
    HEED_FIT_EVAL,  /* after every evaluation */
    HEED_FIT_SAVED, /* a checkpoint is on disk */
    HEED_FIT_NOTE   /* note holds a sentence to show */
} heed_fit_event;

typedef struct {
    heed_fit_event event;
    int64_t step, steps; /* updates done, and to do: with --minutes as far as the clock knows */
    double progress;     /* share of the training that is done, from 0 to 1 */
    double epoch;
    double loss; /* STEP: of this step; EVAL: mean of training losses since the last evaluation */
    double val_loss, metric; /* EVAL: validation loss, accuracy; NAN without a validation part */
    double bits_per_byte;    /* EVAL; NAN if unknown */
    bool best;               /* EVAL: the best so far, by the setting `best` */
    double lr, grad_norm, items_per_s, seconds,
        seconds_left; /* seconds since start, without what came before a resume */
    size_t params,
        bytes; /* START: parameters; memory for weights, gradients, optimizer and one step */
    uint64_t epoch_batches;
    const heed_store *store;
    void *self; /* the model's struct: samples and snapshots, in eval mode on a tape of one's own */
    const char *note;
} heed_report;

typedef struct {
    const heed_model *model;
    heed_config *config; /* resolved; a --minutes run gets its steps and plans written into it */
    void *data;          /* handed to model->batch */
    uint64_t data_checksum;
    const heed_tokenizer *tokenizer; /* saved into the run; NULL: none */
    const heed_tokenizer *source;    /* of the source's side where it has a vocabulary of its own,
                                        saved into RUN/source-tokenizer; its size becomes the setting
                                        `source-vocab`, which is 0 without it. NULL: none */
    uint64_t tokenizer_digest;       /* for tokenizer NULL: of what made the data, or 0 */
    const char *run;                 /* directory, or NULL: nothing is written */
    const char *const *labels; /* names of the classes, saved as labels.txt; NULL: none. The setting
                                  `classes` becomes their number */
    int label_count;
    bool no_val; /* the data has no validation part (model->evals may count the
                    training text then): best by training loss */
    bool resume; /* go on from run/last */
    bool force;  /* replace an existing run */
    void (*report)(void *user, const heed_report *r);
    bool (*stop)(void *user); /* asked after each step; true: save last, return HEED_INTERRUPTED */
    void *user;
} heed_fit_args;

typedef struct {
    int64_t step;
    double loss, val_loss, best_loss, metric;
    double best_metric; /* of the best evaluation, as best_loss */
} heed_fit_result;

/* Trains a->model by a->config. Model and data are tried on one batch before anything is written;
 * the run directory then holds
 *     config.conf            all settings, with the length in steps: read back, they give this run
 *     model.safetensors      the best weights on the validation part, by loss or accuracy as the
 *                            setting `best` says; without that part by training loss
 *     last/                  model.safetensors optimizer.safetensors state.json: to go on from
 *     metrics.csv train.log  the tokenizer's files, source-tokenizer/, labels.txt
 * and holds them whole at any moment it may die at. Resumed, a training ends with the same bits as
 * one that never stopped, at any thread count. Without a run directory the weights are seen by
 * report alone. Errors: USAGE for settings and a run that exists; DATA for a damaged checkpoint,
 * changed data or tokenizer; FAILED for a full disk or another training at work in the run;
 * DIVERGED when a loss or gradient is not finite, with step and name, before the update;
 * INTERRUPTED when stop said so. In the last three the last checkpoint stays good. Returns what the
 * last evaluation found; NAN where there was none.
 */
HEED_API heed_fit_result heed_fit(heed_ctx *c, const heed_fit_args *a);

/* ---- a training in one call ---- */

typedef struct {
    const heed_model *model; /* of a kind of input that is not HEED_INPUT_DENSE */
    const char *data;        /* a file or folder of that kind; resumed: NULL, or where it is now */
    const char *run;         /* as in heed_fit_args */
    const char *settings;    /* "steps=300 width=64", of heed_train_config; or NULL */
    bool resume, force;
    void (*report)(void *user, const heed_report *r);
    bool (*stop)(void *user);
    void *user;
} heed_train_args;
/* Opens the data by the kind that the model reads, completes the settings by what is found there,
 * makes or opens a tokenizer, and trains as heed_fit does: with a run, what `heed train` makes. The
 * context's seed is the training's. */
HEED_API heed_fit_result heed_train(heed_ctx *c, const heed_train_args *a);
/* All settings of such a training, at the model's defaults. */
HEED_API heed_config *heed_train_config(heed_ctx *c, const heed_model *m);
/* Those that name what is trained, and on what: task, data. Ended by {0}. */
HEED_API extern const heed_option heed_train_options[];

/* A model with its parameters, built or read. */
typedef struct heed_run {
    heed_ctx *c;
    const heed_model *model;
    heed_config *config;
    heed_store *store;
    heed_tape *tape;
    heed_tokenizer *tokenizer; /* NULL for models without text */
    heed_tokenizer *source;    /* of the source's side; NULL: it has none of its own */
    const char *const *labels; /* names of the classes, from labels.txt; NULL without it */
    int label_count;
    void *self;   /* the model's struct */
    int64_t step; /* of the weights read; -1 unknown */
} heed_run;

/* Whether a run may be made at dir: there is nothing, or an empty folder (hidden files do not
 * count), or with force a run, which heed_fit then replaces. Else HEED_USAGE. A run is a folder
 * with config.conf and weights, a checkpoint, or the lock of a training. heed_fit asks by itself;
 * this is for asking before data is read. */
HEED_API bool heed_run_vacant(heed_ctx *c, const char *dir, bool force);

/* Brings back the run at dir where a training that was to replace it (force) died before its first
 * checkpoint, and then fails and says so: settings read until now may be those of the dead one.
 * Nothing to do is no error, nor is a training at work. */
HEED_API bool heed_run_recover(heed_ctx *c, const char *dir);

/* Whether path is a file of the run at dir, or in a folder of it such as last/: what a new run
 * replaces, and nothing else should. */
HEED_API bool heed_run_owns(heed_ctx *c, const char *dir, const char *path);

/* Whether a run at dir, made already or not, lies outside the folder: among pictures it would be
 * read as one of their classes the next time. False with an error. */
HEED_API bool heed_run_outside(heed_ctx *c, const char *dir, const char *folder);

/* Reads a run directory with one of the models (list ended by NULL). which: "best" (NULL too) or
 * "last". Owned by c. */
HEED_API heed_run *heed_run_open(heed_ctx *c, const char *dir, const heed_model *const *models,
                                 const char *which);
HEED_API void heed_run_close(heed_run *r);
/* How the run reads its inputs: heed_example_text, heed_example_picture (kind.h). */
HEED_API heed_reader heed_run_reader(const heed_run *r);

/* Loss and metrics over the evaluation batches of data, in order. */
HEED_API heed_score heed_evaluate(heed_tape *t, const heed_model *m, void *self, void *data,
                                  int rows);
/* The same of one batch, at.index, on t: added to score, which a model without metrics gives its
 * loss alone. batch: what it was made of, until the next one; or NULL. False: see t's context. */
HEED_API bool heed_evaluate_batch(heed_tape *t, const heed_model *m, void *self, void *data,
                                  heed_batch_at at, heed_batch *batch, heed_score *score);

#ifdef __cplusplus
}
#endif
#endif
