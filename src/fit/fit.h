/* fit.h -- what the files of this room share: settings, checkpoints, the record of a run. */
#ifndef HEED_FIT_INTERNAL_H
#define HEED_FIT_INTERNAL_H

#include "core/os.h"

#include <heed/fit.h>

/* ---- options.c ---- */

typedef struct {
    int rows, accumulate;
    int64_t steps; /* one of these three is above 0: the length of the training */
    double epochs, minutes;
    heed_optim_args optim;
    bool full_batch; /* gradient descent: every update sees all batches of an epoch */
    heed_schedule_kind schedule;
    double lr_min, warmup, step_gamma, clip; /* warmup below 1 is a share of the steps */
    int64_t step_every, eval_every, eval_batches, save_every, log_every, patience; /* 0: default */
    int64_t evals;  /* in the run, where eval_every is 0 */
    bool by_metric; /* the best weights are those of the best metric, not of the lowest loss */
    const char *freeze, *lr_scale; /* lists of patterns */
} heed__settings;
bool heed__settings_read(heed_ctx *c, const heed_config *f, heed__settings *s);
heed_schedule heed__settings_schedule(const heed__settings *s, int64_t steps);
bool heed__settings_apply(const heed__settings *s, heed_store *store); /* freeze and lr-scale */
/* The length is known: f says steps = N, and neither epochs nor minutes. */
bool heed__settings_fix(heed_config *f, int64_t steps);

/* ---- checkpoint.c ---- */

typedef struct {
    double sum;
    int64_t count;
} heed__mean;

/* All that a training needs to go on besides weights, optimizer slots and config.conf. */
typedef struct {
    int64_t step, steps;
    int64_t eval_step;             /* of the last evaluation */
    int64_t best_step, stale;      /* evaluations since the best one */
    double best_loss, best_metric; /* of the best evaluation; NAN: none yet */
    double loss, val_loss, metric; /* of the last evaluation */
    double norm;                   /* of the last gradient */
    heed__mean since_eval,
        since_row; /* training losses since the last evaluation, row of metrics */
    double seconds;
    double clock;     /* seconds that the training is to take; NAN: its steps are given */
    int64_t row_step; /* of the last row in metrics.csv */
    uint64_t seed, data_checksum, tokenizer_digest;
    char version[16], isa[16];
} heed__state;

typedef struct {
    heed_ctx *c;
    const char *run;
    heed_store *store, *slots;
    const char *architecture, *settings;      /* the model's name; its settings as text */
    uint64_t tokenizer_digest, labels_digest; /* 0: none */
    const heed_config *config;                /* all settings */
} heed__checkpoint;

/* RUN/NAME into t, which is returned as text. */
const char *heed__run_path(heed_text *t, const char *run, const char *name);
/* The folder of the newest whole checkpoint: "last", or what an interrupted swap left; NULL: none.
 * Writes nothing. */
const char *heed__checkpoint_find(heed_ctx *c, const char *run);
/* Brings an interrupted swap to its end. */
bool heed__checkpoint_recover(heed_ctx *c, const char *run);
/* Writes `last`, and model.safetensors when best. Whatever moment it is stopped at, a whole
 * checkpoint remains, and model.safetensors is the one that it calls best. */
bool heed__checkpoint_save(const heed__checkpoint *k, const heed__state *s, bool best);
/* Weights and optimizer of `last`. */
bool heed__checkpoint_load(const heed__checkpoint *k);
bool heed__state_read(heed_ctx *c, const char *path, heed__state *s);
/* Refuses settings that are not those of the checkpoint, but for those that a flag gave, which set
 * *changed. Of a training by the clock the checkpoint's plans hold: config.conf may be ahead of it.
 * A checkpoint of an early heed names none. */
bool heed__state_settings(heed_ctx *c, const char *path, heed_config *f, bool *changed);
/* Fills s from a file of heed__checkpoint_save, and checks that not a bit of it has changed. */
bool heed__weights_load(heed_store *s, const char *path);

/* ---- run_config.c ---- */

/* config.conf of a run, with the settings that the library does not know as texts. */
typedef struct {
    heed_config *config;  /* refers to the rest: freed before, by the caller or by the context */
    heed_text text;       /* of the file, cut into keys */
    heed_option *foreign; /* keys that no table of the library has */
    size_t capacity;
} heed__run_config;
bool heed__run_config_read(heed_ctx *c, const heed_model *m, const char *path,
                           heed__run_config *out);
void heed__run_config_free(heed__run_config *k);             /* all but the config */
bool heed__option_in(const heed_option *o, const char *key); /* of a table ended by {0}, or NULL */

/* ---- labels.c ---- */

typedef struct {
    heed_text text; /* of labels.txt, cut into lines */
    const char **list;
    size_t capacity;
    int count;
} heed__labels;
/* Of the names in their order; 0 for none. */
uint64_t heed__labels_digest(const char *const *labels, int count);
bool heed__labels_write(heed_ctx *c, const char *run, const char *const *labels, int count);
/* expected: how many there must be, 0 for any. A run without the file has none. */
bool heed__labels_read(heed_ctx *c, const char *run, int expected, heed__labels *l);
void heed__labels_free(heed__labels *l);

/* ---- journal.c ---- */

/* metrics.csv and train.log of a run. run NULL: nothing is written. */
typedef struct {
    heed_ctx *c;
    const char *run;
    heed_text metrics, log, line; /* two paths, a line being made */
} heed__journal;
/* Rows of metrics.csv behind step `last` are cut off, and what was said of the test part at the
 * end: the training goes on from there. */
bool heed__journal_open(heed__journal *j, heed_ctx *c, const char *run, int64_t last);
void heed__journal_close(heed__journal *j);
void heed__journal_row(heed__journal *j, const char *split, double loss, double metric,
                       const heed_report *r);
void heed__journal_report(heed__journal *j, const heed_report *r);
void heed__journal_note(heed__journal *j, int64_t step, const char *note);

/* ---- run.c: evaluation ---- */

/* Evaluation batches 0 .. count-1 of data. False when stopped or in error. */
typedef struct {
    heed_tape *tape;
    const heed_model *model;
    void *self, *data;
    int rows;
    uint64_t count;
    bool sample; /* count is less than there is */
    bool (*stop)(void *user);
    void *user;
} heed__evaluation;
bool heed__evaluate(const heed__evaluation *e, heed_score *score);
/* How many items the loss of a batch is the mean of. */
double heed__batch_weight(const heed_batch *b);

/* ---- plan.c ---- */

/* From step on, `left` updates are to be made. */
typedef struct {
    int64_t step, left;
    bool longer; /* progress starts again at step / (step + left), as in a longer training */
    double from; /* progress at step, from 0 to 1; else that of the plan before */
} heed__plan;
enum { HEED__PLANS = 512, HEED__LOG_ROWS = 100 };
typedef struct {
    heed__plan plan[HEED__PLANS];
    int count; /* 0: the length is not planned, the functions below do not apply */
} heed__plans;
/* False where there are too many. Of two plans at one step the second holds. */
bool heed__plans_add(heed__plans *p, int64_t step, int64_t left, bool longer);
/* Updates in all. */
int64_t heed__plans_end(const heed__plans *p);
/* The share of the training that is done after so many updates. */
double heed__plans_progress(const heed__plans *p, int64_t step);
/* Whether update number `step`, from 1, passed one of `count` equal shares of the training. */
bool heed__plans_due(const heed__plans *p, int64_t step, int64_t count);
/* The factor of the learning rate at update `step`, from 0: heed_schedule_at by progress. */
heed_real heed__plans_rate(const heed__plans *p, const heed__settings *s, int64_t step);
/* As text: "0:1000 40+960", a colon before what is left, a plus where the training got longer. */
bool heed__plans_write(const heed__plans *p, heed_text *out);
bool heed__plans_read(heed_ctx *c, const char *text, int64_t steps, heed__plans *p);

/* A training of so many seconds, evaluations included. */
typedef struct {
    double budget;             /* 0: no clock */
    double eval;               /* seconds of an evaluation, the last ones weighing most */
    int64_t evals, eval_every; /* how many there are, or the steps between them */
    double planned;            /* seconds at the last plan */
    double mark;               /* the clock when the last update or evaluation ended */
    int64_t updates;           /* counted */
    double recent_steps, recent_seconds;
} heed__clock;
/* Counts an update and all that came with it but evaluations. */
void heed__clock_count(heed__clock *k, double took);
/* The updates that fit into what is left after `elapsed` seconds, at so many seconds a step. */
int64_t heed__clock_left(const heed__clock *k, double elapsed, double step, double progress);
/* After an update: how many are left by a new plan; 0: the present one, of `left`, holds. */
int64_t heed__clock_plan(heed__clock *k, double elapsed, int64_t left, double progress);

/* ---- a training under way ---- */

typedef struct {
    heed_ctx *c;
    const heed_fit_args *a;
    heed__settings set;
    heed_schedule schedule;
    heed__plans plans;
    heed__clock clock;
    bool replanned;                           /* config.conf does not have the last plan yet */
    int64_t steps, eval_every, log_every;     /* 0 while unknown */
    uint32_t micros;                          /* forward and backward passes of an update */
    uint64_t epoch_batches, evals, all_evals; /* batches of an evaluation; of the validation part */
    heed_tape *tape;
    heed_store *store;
    heed_optim *optim;
    void *self;
    size_t bytes;
    heed_text settings;
    int64_t bound[2]; /* of the vocabulary and the source's, as asked for */
    heed__state state;
    heed__journal journal;
    heed__lock lock; /* on the run directory, held from the first write to the end */
    heed_text lock_path;
    bool fresh;             /* no checkpoint to go on from */
    bool changed;           /* a flag gave another setting than the checkpoint's */
    uint64_t labels_digest; /* of the run's labels.txt; 0: it has none */
    int64_t saved_step;     /* -1: none yet */
    double loss;            /* of the last step */
    double start, before;   /* clock at the start; seconds of training before a resume */
    double step_seconds, step_items, eval_seconds; /* of one; the first two smoothed */
} heed__fitting;

/* plan.c: the first plan of a training, or the one by which it goes on for so many minutes more: at
 * the rate until now, or `step` seconds a step. The clock then plans again. */
bool heed__fit_plan_first(heed__fitting *f, double step);

/* prepare.c: from the arguments to a training about to take its first step. False in error, and
 * when there is nothing to do. */
bool heed__fit_prepare(heed__fitting *f);
void heed__fit_release(heed__fitting *f);
/* The plans and the steps that they make go into the settings. */
bool heed__fit_keep_plans(heed__fitting *f);
bool heed__fit_write_config(heed__fitting *f);

/* loop.c */
bool heed__fit_finished(const heed__fitting *f);
void heed__fit_report(heed__fitting *f, heed_fit_event event, const char *note);
bool heed__fit_save(heed__fitting *f, bool best);
/* The sums over the passes of an update. Each pass is weighted by the number of items that its loss
 * is the mean of, so that the update does not depend on how its rows are divided into
 * micro-batches. */
typedef struct {
    double loss, weight; /* loss: the sum of weight times loss */
    double unit;         /* weights are counted in this many items: those of the first pass, so that
                            passes of equal weight have the weight 1; 1 in gradient descent */
    size_t items;
} heed__passes;
/* One update; its passes alone are given by micro-batch. */
bool heed__fit_update(heed__fitting *f);
bool heed__fit_pass(heed__fitting *f, uint32_t micro, heed__passes *sum);
/* The evaluation's batches from 0 to count. */
heed__evaluation heed__fit_evaluation(const heed__fitting *f);

/* ---- run.c and run_make.c ---- */

/* The model's settings of f as ";layers=4;heads=2": what a weights file says of itself. */
bool heed__settings_text(const heed_model *m, const heed_config *f, heed_text *out);
/* Refuses when a new run would remove what it is trained on. */
bool heed__run_check_outside(heed_ctx *c, const heed_fit_args *a);
/* Where a tokenizer of the source's side stands in a run. */
#define HEED__SOURCE_FOLDER "source-tokenizer"
/* Of both tokenizers of a run; the first one's own where source is NULL, 0 for none at all. */
uint64_t heed__tokenizers_digest(const heed_tokenizer *tokenizer, const heed_tokenizer *source);
/* Sets a run at dir aside, so that a new one may be made: heed__run_commit removes it when the new
 * one has a checkpoint, heed__run_abandon brings it back. */
bool heed__run_backup(heed_ctx *c, const char *dir);
bool heed__run_commit(heed_ctx *c, const char *dir);
/* Brings a replacement that was interrupted to its end if the new run has a checkpoint, or undoes
 * it; back: config.conf may have been another run's before. */
bool heed__run_recover(heed_ctx *c, const char *dir, bool *back);
/* Fails: says that the run is back. */
bool heed__run_is_back(heed_ctx *c, const char *dir);
/* Whether a run is set aside at dir and none stands in its place yet. */
bool heed__run_is_backed_up(heed_ctx *c, const char *dir);
/* Settings, tokenizers and labels of a new run, in the place of whatever a run left there. */
bool heed__run_make(heed_ctx *c, const heed_fit_args *a);
/* Takes back what heed__run_make and a first checkpoint left; made: the folder itself is new. */
void heed__run_abandon(heed_ctx *c, const char *dir, bool made);
bool heed__run_write_config(heed_ctx *c, const heed_fit_args *a);

#endif
