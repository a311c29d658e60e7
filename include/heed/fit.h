/* heed/fit.h -- training, a step at a time or whole, checkpoints and run directories. */
#ifndef HEED_FIT_H
#define HEED_FIT_H

#include <heed/decode.h>
#include <heed/optim.h>

HEED_EXPORT_BEGIN

/* The memory of a training run, in bytes. */
enum { HEED_MEMORY_OPS = 24 };
typedef struct {
    const char *op;           /* "affine"; NULL: inputs of the step, and all other ops */
    int count;                /* ops of this name in a step */
    size_t forward, backward; /* bytes of the step's memory that they use */
} heed_memory_op;
typedef struct {
    size_t before; /* resident before the model was made: the program and its data */
    size_t weights, gradients, optimizer;
    size_t step;       /* values and gradients of one step: the sum of ops */
    size_t other;      /* other resident memory after the step: code, stacks, unused ends */
    size_t evaluation; /* memory that an evaluation needs beyond a step; 0 from heed_memory_of */
    size_t total;      /* the sum of all these: the expected peak */
    heed_memory_op ops[HEED_MEMORY_OPS];
    int op_count;
} heed_memory;
/* The memory of a training run of s with optimizer o and tape t. Call it after heed_backward on t
 * and before the next heed_tape_begin. before: heed_memory_resident() before s was made. */
heed_memory heed_memory_of(const heed_params *s, heed_optim *o, const heed_tape *t, size_t before);
/* The resident memory of the process now, in bytes; its peak if that is not known; 0 if neither is
 * known. */
size_t heed_memory_resident(void);

/* The settings of every training run: batch accumulate steps epochs minutes optimizer lr ... Ended
 * by {0}. */
extern const heed_option heed_fit_options[];

typedef struct heed_run heed_run;
typedef struct heed_transfer heed_transfer;

typedef enum {
    HEED_FIT_START, /* once, when params, memory and steps are known */
    HEED_FIT_STEP,  /* after every update */
    HEED_FIT_EVAL,  /* after every evaluation */
    HEED_FIT_SAVED, /* a checkpoint is on disk */
    HEED_FIT_NOTE   /* note holds a sentence to show */
} heed_fit_event;

typedef struct {
    heed_fit_event event;
    int64_t step, steps; /* updates done, and in total; with --minutes an estimate */
    double progress;     /* completed share of the training, from 0 to 1 */
    double epoch;
    double loss; /* STEP: this step's; EVAL: the mean training loss since the last evaluation */
    double val_loss, metric; /* EVAL: validation loss, accuracy; NAN without validation data */
    double val_total;        /* EVAL: the number of answers that the accuracy is a share of */
    double bits_per_byte;    /* EVAL; NAN if unknown */
    bool best;               /* EVAL: the best so far by the setting `best` */
    double lr, grad_norm, items_per_s;
    double seconds, seconds_left; /* since the start or the resume; to the end */
    size_t params, bytes;         /* START: numbers of parameters; memory.total - memory.before */
    uint64_t epoch_batches;
    const heed_params *store;
    void *self; /* the model's struct, to sample from: in eval mode, on a separate tape */
    const heed_transfer *start; /* START: what was copied from a run's weights; NULL: nothing */
    const heed_memory *memory;  /* START, and of heed_train_report: what the training needs */
    const char *note;
} heed_report;

/* The processes that train one model together: each makes its own micro-batches of an update, all
 * have the same weights. An engine such as MPI provides the two functions; every process opens one.
 * `user` is passed to both, which return false if the others cannot be reached. */
typedef struct {
    int rank, ranks; /* this process, from 0; how many there are */
    /* Sends n bytes at `out` to process `to`, and receives m bytes at `in` from process `from`,
     * which may be two processes. n or m 0: nothing is sent or received. Messages from one process
     * to another arrive in the order in which they were sent. May return before both are done:
     * the memory is then not touched until `wait`. */
    bool (*exchange)(void *user, int to, const void *out, size_t n, int from, void *in, size_t m);
    /* Waits until at most the last `pending` exchanges are not done. NULL: exchange returns when
     * its messages have been delivered or copied. */
    bool (*wait)(void *user, size_t pending);
    void *user;
} heed_cluster;

/* Every process of k calls it at the same point: if a context is in error, all are afterwards, with
 * the error of the first such process, "process 2: ...". Call it after opening data, for example,
 * before heed_train_new. False: c is in error. k NULL: there are no others. */
bool heed_cluster_agree(heed_ctx *c, const heed_cluster *k);

/* What is trained, on what, and where it is kept. */
typedef struct {
    const heed_model *model;
    heed_run *net; /* an open model that is trained in place, by its own model, settings, tokenizers
                      and classes; what `freeze` and `lr-scale` set stays set. NULL: a new one. Not
                      with `resume` */

    /* the data: a path, or what is open */
    const char *data; /* a file or folder of the kind that the model reads; when resuming, NULL or
                         its new path */
    const heed_data *opened; /* heed_train_data's, by complete settings in `config`; for a model
                                with a `batch` of its own whatever that takes, in `batches`, or
                                NULL. NULL: `data` is opened */
    const char *keep; /* where the data of a new training run is until it is moved to `data`, which
                     is RUN/heed-data.txt, .tsv, .csv or .jsonl, or a folder RUN/heed-data: for data
                     from memory. NULL: at `data` */

    /* the settings: complete ones, to which the length of a --minutes run is written, or those that
     * are not at their defaults */
    heed_config *config;       /* of heed_train_config; or NULL */
    const char *settings;      /* "steps=300 width=64"; or NULL */
    const char *const *values; /* the same as keys and values in turn, ended by NULL, which may
                                  contain blanks: "val", "my text.txt"; or NULL */
    const char *preset;        /* of the model: its settings, which those given replace; or NULL */

    const char *run;      /* a folder for the results; NULL: nothing is written */
    bool resume;          /* continue from the checkpoint of `run` */
    bool force;           /* replace an existing run */
    const heed_run *from; /* the run whose weights a new training run starts from. NULL: the one
                             that the setting `from` names, which may be empty */
    const heed_model *const *models; /* to open that run by; NULL: only `model` */

    void (*report)(void *user, const heed_report *r); /* or NULL */
    bool (*stop)(void *user); /* called after each step and while data is read and evaluated; true:
                                 save `last`, HEED_INTERRUPTED. Or NULL */
    void *user;
    const heed_cluster *cluster; /* NULL: one process */
} heed_train_args;

typedef struct {
    int64_t step;
    double loss, val_loss, best_loss, metric;
    double best_metric; /* of the best evaluation, like best_loss */
    double first[2];   /* how much was forgotten of the run that the training started from: the loss
                      on   the validation part of that run's data, with its weights [0] and with the
                      new   ones [1]; NAN: not measured */
    int64_t best_step; /* of the weights that are kept as the best */
} heed_fit_result;

/* A training that goes a step at a time. */
typedef struct heed_training heed_training;

/* clang-format off */
/* Prepares a training: opens the data by the kind that the model reads, chooses (heed_model.choose)
 * and completes the settings by what is found there, trains or opens a tokenizer, and tries model
 * and data on one batch before anything is written. If the setting `from` names a run, its weights,
 * settings and tokenizer are taken first (heed_transfer_settings). The seed is the context's.
 *
 * The run directory, if there is one, contains
 *     config.conf            all settings, with the length in steps: read back, they give this run
 *     model.safetensors      the best weights on the validation part, by loss or accuracy as the
 *                            setting `best` says; without a validation part, by training loss
 *     adapter.safetensors    with the setting `lora`: what the training changed of those weights
 *     last/                  model.safetensors, optimizer.safetensors and state.json, to resume from
 *     metrics.csv train.log labels.txt source-tokenizer/ and the files of the tokenizer
 * and is consistent at any moment, also if the process is killed. A resumed training ends with the
 * same bits as one that never stopped, for any number of threads.
 *
 * Several processes (a->cluster) call these functions alike, with equal settings and data, at most
 * as many as the setting `accumulate`. The weights have the same bits for every number of
 * processes. Only the first process uses the run directory and calls `report` and `stop`.
 *
 * The context owns the result; what the arguments point to must outlive it. NULL on error:
 * HEED_USAGE for settings and for a run that exists; HEED_DATA for data, a damaged checkpoint,
 * changed data or another tokenizer; HEED_FAILED for a full disk and for a run in which another
 * training is active. */
/* clang-format on */
heed_training *heed_train_new(heed_ctx *c, const heed_train_args *a);
/* Makes one update, and the evaluation and the checkpoints that are then due. Between two steps the
 * caller may look at the model, wait as long as it likes, for --minutes does not count that, or end
 * the training: steps made one by one give the bits of an uninterrupted training. True if a step
 * was made; false if nothing is left to do, or if the context is in error: HEED_DIVERGED if a loss
 * or gradient is not finite, with step and name, before the update; HEED_INTERRUPTED if stop
 * returned true; HEED_FAILED for a full disk. The last checkpoint is valid in any case. */
bool heed_train_step(heed_training *t);
/* Writes a checkpoint of the present step, from which the run can be resumed. */
bool heed_train_save(heed_training *t);
/* How far the training is: the report of its last step. */
heed_report heed_train_report(const heed_training *t);
/* The results of the last evaluation; NAN if there was none. */
heed_fit_result heed_train_result(const heed_training *t);
/* The model in training, with its settings, tokenizers and the weights of the last step: for
 * heed_generate and all analyses, on its tape or another one. It belongs to t. */
heed_run *heed_train_net(heed_training *t);
/* Ends the training, at any step; its run keeps the last checkpoint. */
void heed_train_free(heed_training *t);
/* All of that: heed_train_new, heed_train_step until nothing is left, heed_train_free. With a run
 * directory, the result is that of `heed train`. */
heed_fit_result heed_train(heed_ctx *c, const heed_train_args *a);

/* Opens the data of a training run of m with the settings f, and chooses by it those that were not
 * given (chosen: gets them; or NULL). With how->run, the run that is resumed, nothing is chosen,
 * and classes have the numbers that its labels.txt gives them. NULL on error. */
heed_data *heed_train_data(heed_ctx *c, const heed_model *m, heed_config *f, heed_data_args *how,
                           heed_choices *chosen);
/* All settings of such a training run, at the model's defaults. */
heed_config *heed_train_config(heed_ctx *c, const heed_model *m);
/* The settings that name the model, the data and the run to start from: task, data, from. Ended by
 * {0}. */
extern const heed_option heed_train_options[];

/* Reads config.conf of the run `dir` into f. If heed_options.edited is set, changed settings have
 * the values of the run's checkpoint, if there is one, except where the data is and sizes that the
 * data gives, and a message lists them. Data that was moved into the run (heed_train_args.keep) is
 * found there, also if the run itself has been moved since. */
bool heed_run_settings(heed_ctx *c, const char *dir, heed_config *f);
/* Writes to `path`, which it returns, where the file `name` of the run `dir` is read: dir
 * HEED_INSIDE name; for a run whose replacement has no checkpoint yet, in the folder .heed-replaced
 * in dir. */
const char *heed_run_file(const char *dir, const char *name, char *path, size_t size);
/* Fails if these settings of the run `dir` read inputs in another way than the run's checkpoint, if
 * there is one: mean, std, resize-to, resample or packing. Opening and resuming a run check this.
 */
bool heed_run_check(heed_ctx *c, const char *dir, heed_config *f);

/* A model with its parameters, new or read from a run. */
struct heed_run {
    heed_ctx *c;
    const char *dir; /* as given to heed_run_open or heed_import; "" of a run in memory */
    const heed_model *model;
    heed_config *config;
    heed_params *store;
    heed_tape *tape;
    heed_tokenizer *tokenizer; /* NULL for models without text */
    heed_tokenizer *source;    /* for the source side; NULL: it has no separate one */
    const char *const *labels; /* names of the classes, from labels.txt; NULL without it */
    int label_count;
    void *self;   /* the model's struct */
    int64_t step; /* step of the weights that were read; -1: unknown */
    int adapters; /* the adapters of the run that were merged into the weights on opening */
    uint64_t data_checksum; /* of the data that it was trained on; 0: unknown */
};

/* Whether a run may be created at dir: dir is absent, an empty folder (hidden files do not count)
 * or, with force, a run, which training then replaces. Else false with HEED_USAGE. A run is a
 * folder with config.conf and weights, a checkpoint, or the lock of a training run. Training
 * checks this itself; call it to check before reading data. */
bool heed_run_path_is_free(heed_ctx *c, const char *dir, bool force);

/* Restores the run at dir if a training run that was replacing it (force) died before its first
 * checkpoint, and then fails with an error that says so, because settings read so far may be those
 * of the dead training. It is not an error if there is nothing to do or a training run is active.
 */
bool heed_run_recover(heed_ctx *c, const char *dir);

/* Whether the run at dir has a training to resume: a checkpoint, or no weights yet. Else false with
 * HEED_DATA: an import and what heed_run_save wrote have none, and a checkpoint may be lost.
 * Resuming checks this itself; call it to check before reading data. */
bool heed_run_resumable(heed_ctx *c, const char *dir);

/* Whether path is a file of the run at dir, or in a folder of it such as last/. A new run replaces
 * these files; nothing else should write them. */
bool heed_run_path_is_inside(heed_ctx *c, const char *dir, const char *path);

/* Checks that a run at dir, existing or not, is outside the folder of pictures, where it would
 * later be read as a class. False with an error if it is inside. */
bool heed_run_path_is_outside(heed_ctx *c, const char *dir, const char *folder);

/* Reads the run at dir, whose model must be one of the models (ended by NULL). which: "best" (or
 * NULL), "last". Owned by c; heed_run_close frees it before. NULL on error: HEED_USAGE for another
 * `which`; HEED_DATA if there is no run, if its model is not in the list, or if a file is damaged
 * or was changed (see heed_options.edited). */
heed_run *heed_run_open(heed_ctx *c, const char *dir, const heed_model *const *models,
                        const char *which);
void heed_run_close(heed_run *r);
/* Returns a run with the weights and tokenizers of `base`, changed by `file`: the
 * adapter.safetensors of a training run with adapters that started from these weights. The adapters
 * are merged. HEED_DATA if the file is damaged or belongs to another base. */
heed_run *heed_run_adapt(const heed_run *base, const char *file, const heed_model *const *models);
/* Writes settings, weights, tokenizers and labels of an open run to a new folder dir, or with
 * `force` in place of another run. Adapters are merged and not in the settings. The new run has no
 * checkpoint to resume from. */
bool heed_run_save(heed_run *r, const char *dir, bool force);
/* The reader of the run's inputs, for heed_example_text and heed_example_picture (kind.h). */
heed_reader heed_run_reader(const heed_run *r);

/* ---- starting from the weights of a run ---- */

/* What happened to a parameter or a state of the new model. */
typedef enum {
    HEED_TRANSFER_TAKEN,   /* copied from the run */
    HEED_TRANSFER_MATCHED, /* `rows` of its rows are those of the same tokens, positions or classes
                           in the run; the others are new */
    HEED_TRANSFER_RESIZED, /* positions on a grid of another size are interpolated */
    HEED_TRANSFER_NEW,     /* the run has none of this name: it is new */
    HEED_TRANSFER_UNFIT, /* the run's has another shape, or its rows belong to something else, such
                         as other classes: it is new */
    HEED_TRANSFER_UNUSED /* only the run has it */
} heed_transfer_how;
typedef struct {
    const char *name;
    heed_transfer_how how;
    int rows;                     /* MATCHED: rows copied from the run */
    const heed_tensor *to, *from; /* of the new model, and of the run; NULL: absent */
} heed_transfer_entry;
struct heed_transfer {
    const heed_run *run;
    heed_transfer_entry *entries; /* in the order of the new store, then those of the run only */
    int count;
    size_t capacity;
};

/* Prepares the settings f of a training run of m that starts from a run. Settings of the model that
 * both have and that were not given (their rank is HEED_FROM_DEFAULT) get the run's values; so do
 * mean and std of pixels. `from` and `tokenizer` become the run's folder. how, for opening the
 * data: its `extend` is set if the tokenizer is the run's. said: gets the settings that changed, as
 * "width = 64, layers = 2"; or NULL. HEED_USAGE if the run reads or predicts another kind of data.
 */
bool heed_transfer_settings(heed_config *f, const heed_model *m, const heed_run *run,
                            heed_data_args *how, heed_text *said);

/* Opens the best weights of a run to start from. Fails if the run is being trained, or if `out`,
 * the run to be made (or NULL), is the same one. */
heed_run *heed_transfer_open(heed_ctx *c, const char *dir, const heed_model *const *models,
                             const char *out);

/* Evaluates one batch, at.index, on t and adds to score; a model without metrics adds only its
 * loss. batch: gets the batch, valid until the next one; or NULL. False on error. */
bool heed_evaluate_batch(heed_tape *t, const heed_model *m, void *self, const heed_data *data,
                         heed_batch_at at, heed_batch *batch, heed_score *score);

HEED_EXPORT_END
#endif
