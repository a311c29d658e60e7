/* fit.h -- shared by the files of this folder: settings, checkpoints, the record of a run. */
#ifndef HEED_FIT_INTERNAL_H
#define HEED_FIT_INTERNAL_H

#include "core/core.h"
#include "core/os.h"
#include "data/kind.h"
#include "fit/sum.h"

#include <heed/decode.h>
#include <heed/fit.h>

/* ---- options.c ---- */

typedef struct {
    int rows, accumulate;
    int64_t steps; /* exactly one of these three is positive: the length of the training */
    double epochs, minutes;
    heed_optim_args optim;
    bool sequence;   /* micro-batches are added one after another, not by the tree */
    bool full_batch; /* full-batch gradient descent: every update uses all batches of an epoch */
    heed_schedule_kind schedule;
    double lr_min, warmup, step_gamma, clip; /* warmup below 1 is a share of the steps */
    int64_t step_every, eval_every, eval_batches, save_every, log_every, patience; /* 0: default */
    int64_t evals;                 /* evaluations in the run, if eval_every is 0 */
    bool by_metric;                /* the best weights have the best metric, not the lowest loss */
    const char *freeze, *lr_scale; /* lists of patterns */
    int64_t freeze_steps;          /* 0: what `freeze` matches is never trained */
    bool lora;
    const char *lora_train; /* trained besides the adapters: a list of patterns */
} heed__settings;
bool heed__settings_read(heed_ctx *c, const heed_config *f, heed__settings *s);
heed_schedule heed__settings_schedule(const heed__settings *s, int64_t steps);
bool heed__settings_apply(const heed__settings *s, heed_store *store); /* freeze and lr-scale */
/* Sets key, if f has it, as by a flag. where: for errors. */
bool heed__settings_number(heed_config *f, const char *key, int64_t value, const char *where);
/* The number of tokens, or that of rows if there are more (the setting vocab-rows). */
int64_t heed__settings_rows(const heed_config *f, const heed_tokenizer *k);

/* ---- patterns.c ---- */

enum { HEED__ITEM = 512 };
/* Copies the next item of a comma-separated list, without the spaces around it; false at the end,
 * and with an error for an item that is too long. */
bool heed__next_item(heed_ctx *c, const char **list, char item[HEED__ITEM]);
bool heed__matches(const heed_store *s, const char *pattern); /* the name of a parameter of s */
/* Fails: the setting `key` has a pattern that matches nothing in s. */
bool heed__no_match(const char *key, const char *pattern, const heed_store *s);

/* ---- lora.c ---- */

/* The settings of the adapters, ended by NULL. */
extern const char *const heed__lora_settings[];
/* Sets `lora-alpha`, unless it was given. */
bool heed__lora_complete(heed_config *f);
/* Adds adapters by these settings, if f has them. */
bool heed__lora_attach(heed_store *s, const heed_config *f);
int heed__lora_count(const heed_store *s); /* adapters of s */
/* Freezes everything except the adapters and what the patterns match; "none": nothing. */
bool heed__lora_freeze(heed_store *s, const char *patterns);

/* ---- draw.c ---- */

typedef struct {
    double p;
    int32_t id;
} heed__choice;
/* One of n tokens by the temperature, top_k and top_p of a; capacity: (n). */
int32_t heed__draw(const heed_generation *a, const heed_real *logits, int n, heed_random random,
                   heed__choice *capacity);

/* ---- checkpoint.c ---- */

typedef struct {
    double sum;
    int64_t count;
} heed__mean;

/* All that a training run needs to resume, besides weights, optimizer slots and config.conf. */
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
    double clock;     /* time limit of the training in seconds; NAN: its steps are given */
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
    const char *const *labels;                /* names of the classes, or NULL */
    int label_count;
} heed__checkpoint;

/* The file that heed__adapters_save writes in RUN. */
#define HEED__ADAPTER_FILE "adapter.safetensors"

/* Writes the path of a file of a run, RUN HEED_INSIDE NAME, to t and returns its text. */
const char *heed__run_path(heed_text *t, const char *run, const char *name);
/* RUN/NAME: whether it exists; removes it; writes it. Removing also works after an error. */
bool heed__run_has(heed_ctx *c, const char *run, const char *name);
/* Fails because there is no run at dir: there is nothing, a file, or another folder. */
bool heed__run_refuse(heed_ctx *c, const char *dir);
bool heed__run_remove(heed_ctx *c, const char *run, const char *name);
bool heed__run_write(heed_ctx *c, const char *run, const char *name, const void *bytes, size_t n);
/* The folder of the newest complete checkpoint: "last", or what an interrupted swap left; NULL:
 * none. Does not change files. */
const char *heed__checkpoint_find(heed_ctx *c, const char *run);
/* Completes an interrupted swap. */
bool heed__checkpoint_recover(heed_ctx *c, const char *run);
/* Writes `last`, and model.safetensors when best. If interrupted at any moment, a complete
 * checkpoint remains, and model.safetensors has the weights that it records as best. */
bool heed__checkpoint_save(const heed__checkpoint *k, const heed__state *s, bool best);
/* Loads the weights and optimizer of `last`. */
bool heed__checkpoint_load(const heed__checkpoint *k);
bool heed__state_read(heed_ctx *c, const char *path, heed__state *s);
/* Refuses settings that differ from the checkpoint's, except those given by a flag, which set
 * *changed. For a training run by the clock, the checkpoint's plans apply, because config.conf may
 * be newer. Checkpoints of early versions have no settings, or none that says in which order they
 * add micro-batches. */
bool heed__state_settings(heed_ctx *c, const char *path, heed_config *f, bool *changed);
/* If the context has `edited`: sets what differs from the checkpoint of the run `dir`, if any. */
bool heed__state_restore(heed_ctx *c, const char *dir, heed_config *f);
/* Adds why a run whose config.conf has another value than the one it was trained with is refused.
 */
void heed__setting_edited(heed_text *out, const char *key, const char *was, const char *now);

/* ---- weights.c ---- */

/* Writes s as RUN/NAME, with metadata. */
bool heed__weights_save(const heed__checkpoint *k, const heed_store *s, const char *name);
/* Writes all that a training run with adapters changes as RUN/NAME, with metadata from which, and
 * from the base, the run can be made again. */
bool heed__adapters_save(const heed__checkpoint *k, const char *name);
/* A digest of what a training run of s does not change. */
uint64_t heed__base_digest(const heed_store *s);
/* The first number that is not finite; 0: there is none. */
double heed__first_nonfinite(const heed_real *x, size_t n);
/* The first parameter with a value (or gradient) that is not finite, and that number; or NULL. */
const char *heed__first_bad(const heed_store *s, bool gradient, double *found);
/* An error that names the file and the first parameter with a number that is not finite, which
 * would make every answer meaningless; digests show damage, not what was written on purpose. */
HEED_EXPORT_BEGIN
bool heed__weights_are_finite(const heed_store *s, const char *path);
HEED_EXPORT_END
/* Fills s from a file of heed__weights_save, and verifies that the file is unchanged and its
 * numbers are finite. */
bool heed__weights_load(heed_store *s, const char *path);
/* The same from RUN/NAME. */
bool heed__run_read_weights(heed_store *s, const char *run, const char *name);
/* The same from an open file of that path. */
bool heed__weights_take(heed_store *s, const char *path, const heed_safetensors *f);

/* ---- run_config.c ---- */

/* config.conf of a run; settings unknown to the library are kept as text. */
typedef struct {
    heed_config *config;  /* refers to the other members, so it is freed first, by the caller or by
                             the context */
    heed_text text;       /* of the file, cut into keys */
    heed_option *foreign; /* keys that are in no table of the library */
    size_t capacity;
} heed__run_config;
HEED_EXPORT_BEGIN
bool heed__run_config_read(heed_ctx *c, const heed_model *m, const char *dir,
                           heed__run_config *out);
void heed__run_config_free(heed__run_config *k); /* everything except the config */
HEED_EXPORT_END
bool heed__model_usable(const heed_model *m); /* has what every model must have */
bool heed__size_of_data(const char *key);     /* the tokenizer or labels.txt gives it */

/* ---- labels.c ---- */

typedef struct {
    heed_text text; /* of labels.txt, cut into lines */
    const char **list;
    size_t capacity;
    int count;
} heed__labels;
/* A digest of the names in their order; 0 for none. */
uint64_t heed__labels_digest(const char *const *labels, int count);
bool heed__labels_write(heed_ctx *c, const char *run, const char *const *labels, int count);
/* expected: the required number, 0 for any. A run without the file has no labels. */
bool heed__labels_read(heed_ctx *c, const char *run, int expected, heed__labels *l);
/* Cuts the text into its lines, the names. path: for errors. */
bool heed__labels_cut(heed_ctx *c, const char *path, heed__labels *l);
void heed__labels_free(heed__labels *l);

/* ---- journal.c ---- */

/* metrics.csv and train.log of a run. run NULL: nothing is written. */
typedef struct {
    heed_ctx *c;
    const char *run;
    heed_text metrics, log, line; /* two paths, and the line being written */
} heed__journal;
/* Removes the rows of metrics.csv after step `last` and those about the test part. */
bool heed__journal_open(heed__journal *j, heed_ctx *c, const char *run, int64_t last);
void heed__journal_close(heed__journal *j);
void heed__journal_row(heed__journal *j, const char *split, double loss, double metric,
                       const heed_report *r);
void heed__journal_report(heed__journal *j, const heed_report *r);
/* A line for each entry. */
void heed__journal_start(heed__journal *j, const heed_start *start);
void heed__journal_note(heed__journal *j, int64_t step, const char *note);

/* ---- run.c: evaluation ---- */

/* Evaluates batches 0 .. count-1 of data. False if stopped or on error. */
typedef struct {
    heed_tape *tape;
    const heed_model *model;
    void *self;
    const heed_data *data;
    int rows;
    uint64_t count;
    bool sample; /* count is less than the number available */
    bool (*stop)(void *user);
    void *user;
} heed__evaluation;
bool heed__evaluate(const heed__evaluation *e, heed_score *score);
/* The number of items that the loss of a batch averages. */
double heed__batch_weight(const heed_batch *b);

/* ---- plan.c ---- */

/* A plan: from `step` on, `left` updates follow. */
typedef struct {
    int64_t step, left;
    bool longer; /* progress starts again at step / (step + left), as in a longer training */
    double from; /* progress at step, from 0 to 1; unless longer, the previous plan's */
} heed__plan;
enum { HEED__PLANS = 512, HEED__LOG_ROWS = 100 };
typedef struct {
    heed__plan plan[HEED__PLANS];
    int count; /* 0: the length is not planned, and the functions below do not apply */
} heed__plans;
/* False if there are too many. Of two plans at one step, the second applies. */
bool heed__plans_add(heed__plans *p, int64_t step, int64_t left, bool longer);
/* The total number of updates. */
int64_t heed__plans_end(const heed__plans *p);
/* The completed share of the training after `step` updates. */
double heed__plans_progress(const heed__plans *p, int64_t step);
/* Whether update number `step`, from 1, completed one of `count` equal shares of the training. */
bool heed__plans_due(const heed__plans *p, int64_t step, int64_t count);
/* The factor of the learning rate at update `step`, from 0: heed_schedule_at by progress. */
heed_real heed__plans_rate(const heed__plans *p, const heed__settings *s, int64_t step);
/* As text: "0:1000 40+960", STEP:LEFT, or STEP+LEFT where the training became longer. */
bool heed__plans_write(const heed__plans *p, heed_text *out);
bool heed__plans_read(heed_ctx *c, const char *text, int64_t steps, heed__plans *p);

/* The clock of a training run with a time limit, evaluations included. */
typedef struct {
    double budget; /* 0: no clock */
    double eval;   /* seconds of an evaluation, averaged with more weight on recent ones */
    int64_t evals, eval_every; /* number of evaluations, or the steps between them */
    double planned;            /* seconds at the last plan */
    double mark;               /* the clock when the last update or evaluation ended */
    int64_t updates;           /* number counted */
    double recent_steps, recent_seconds;
} heed__clock;
/* Counts an update with everything around it except evaluations. */
void heed__clock_count(heed__clock *k, double took);
/* How many updates fit into the time left after `elapsed` seconds, at `step` seconds per step. */
int64_t heed__clock_left(const heed__clock *k, double elapsed, double step, double progress);
/* After an update: the updates left by a new plan; 0: the present plan still applies. */
int64_t heed__clock_plan(heed__clock *k, double elapsed, int64_t left, double progress);

/* ---- a training in progress ---- */

struct heed__fitting {
    heed_ctx *c;
    const heed_fit_args *a;
    heed__settings set;
    heed_schedule schedule;
    int64_t schedule_from; /* the step from which it counts */
    heed__plans plans;
    heed__clock clock;
    bool replanned;                           /* config.conf does not contain the last plan yet */
    int64_t steps, eval_every, log_every;     /* 0 while unknown */
    uint32_t micros;                          /* forward and backward passes of an update */
    uint64_t epoch_batches, evals, all_evals; /* batches of an evaluation; of the validation part */
    heed_tape *tape;
    heed_store *store;
    heed_optim *optim;
    void *self;
    heed_memory memory;
    heed_text settings;
    int64_t bound[2]; /* requested bounds of the vocabulary and of the source's */
    heed__state state;
    heed__journal journal;
    heed__lock lock; /* on the run directory, held from the first write to the end */
    heed_text lock_path;
    bool fresh;             /* no checkpoint to resume from */
    bool changed;           /* a flag gave a setting that differs from the checkpoint's */
    uint64_t labels_digest; /* of the run's labels.txt; 0: it has none */
    int64_t saved_step;     /* -1: none yet */
    double loss;            /* the last step's */
    const heed_run *from; /* the run whose weights it starts from; NULL: new weights, or a resume */
    heed_run *opened;     /* the same, if it is to be closed */
    heed_start begun;     /* what was taken from it */
    double first[2];      /* as in heed_fit_result */
    double start, before; /* clock at the start; seconds of training before a resume */
    double step_seconds, step_items, eval_seconds; /* of one; the first two smoothed */
    heed__pass *passes;                            /* (micros) of the present update */
    heed__gradients gradients;                     /* of an update in several passes */
    heed__group group;                             /* the processes; group.k NULL: one */
};

/* join.c: agreements of all processes before the first step. Each also passes on errors. */
/* After rank 0 has read the run: refuses other programs, data and settings, and takes its state. */
bool heed__join_state(heed__fitting *f);
/* Reads the weights of a run that is resumed, for the trial. */
bool heed__join_read(heed__fitting *f);
/* Sets the process's share of an update, and allocates memory for its sums. */
bool heed__join_share(heed__fitting *f);
/* After the trial: takes rank 0's plans. */
bool heed__join_plans(heed__fitting *f);
/* When the run directory is ready: takes rank 0's weights. */
bool heed__join_weights(heed__fitting *f);

/* plan.c: makes the first plan of a training run, or that by which a resumed one continues for
 * more minutes, from the rate so far or `step` seconds per step. The clock later makes new plans.
 */
bool heed__fit_plan_first(heed__fitting *f, double step);

/* lora.c: replaces `lora-train = auto` by the names of the parameters that are new. */
bool heed__lora_choose(heed__fitting *f);
/* Notes what the adapters leave untrained although no run has trained it. */
void heed__lora_warn(heed__fitting *f);

/* build.c */
bool heed__fit_build(heed__fitting *f); /* model, store and optimizer by the settings */
/* Builds a new model in place of the tried one, with the same parameters. */
bool heed__fit_build_again(heed__fitting *f);
void heed__fit_unbuild(heed__fitting *f);

/* prepare.c: prepares training up to its first step. False on error or if nothing is to do. */
bool heed__fit_prepare(heed__fitting *f);
void heed__fit_release(heed__fitting *f);
bool heed__fit_fix_length(heed__fitting *f, double steps);
/* Whether this is a process of several, except the first. */
static inline bool heed__fit_helps(const heed__fitting *f) {
    return f->group.k && f->group.k->rank > 0;
}
/* trial.c: tries model and data before anything is written, and with a clock measures them. The
 * trial's changes are discarded: a new model is built. */
bool heed__fit_try(heed__fitting *f);
/* Writes the plans and the resulting steps to the settings. */
bool heed__fit_keep_plans(heed__fitting *f);
bool heed__fit_write_config(heed__fitting *f);

/* loop.c */
bool heed__fit_finished(const heed__fitting *f);
void heed__fit_report(heed__fitting *f, heed_fit_event event, const char *note);
void heed__fit_note(heed__fitting *f, const char *format, ...) HEED_PRINTF(2, 3);
bool heed__fit_save(heed__fitting *f, bool best);
/* Evaluates, reports and saves. False if stopped or on error. */
bool heed__fit_evaluate(heed__fitting *f);
/* Makes the pass over one micro-batch of an update, which sets f->passes[micro]. */
bool heed__fit_pass(heed__fitting *f, uint32_t micro);
/* An evaluation with the training's settings. */
heed__evaluation heed__fit_evaluation(const heed__fitting *f);

/* ---- start_run.c: the run that training starts from ---- */

/* Whether a run has these classes, in any order. */
bool heed__start_same_classes(const heed_run *run, const char *const *labels, int count);
/* A head for other classes than those of a->from is new, so its kind, `head`, becomes the model's
 * default unless it was given. */
bool heed__start_head(const heed_fit_args *a);
/* Whether the weights that the training begins with are the run's, except adapters and rows of new
 * tokens or positions: they are then evaluated, as the first candidate for the best ones. */
bool heed__start_is_whole(const heed__fitting *f);
/* Of all values. */
uint64_t heed__start_digest(const heed_store *s);
/* Finds the run, if the training is new: sets `from`, and its record in the settings. */
bool heed__start_find(heed__fitting *f);
/* Takes its weights into the new store. */
bool heed__start_apply(heed__fitting *f);

/* ---- forget.c ---- */

/* At the end of a training run that started from a run: sets f->first, and writes it to train.log;
 * NAN if the two runs do not compare or the first one's data is not there. Never fails. */
void heed__fit_forgetting(heed__fitting *f);

/* ---- gradcheck.c ---- */

enum { HEED__CASE_INPUTS = 16 }; /* at most */
/* Runs one case of op, forward and backward, as heed_gradcheck does: values gets its output and the
 * gradients of its inputs, allocated on `memory`, which it begins. Returns their number, 0 on
 * error. For tests that compare instruction sets and team sizes. */
int heed__case_run(heed_ctx *c, const heed_op *op, int index, heed_tape *memory,
                   heed_tensor *values[HEED__CASE_INPUTS + 1]);

/* ---- run.c and run_make.c ---- */

/* An open run. */
typedef struct {
    heed_run run; /* first member: what the caller sees */
    heed__owned owned;
    heed__run_config file; /* config.conf */
    char architecture[64];
    uint64_t digest, labels_digest; /* of the tokenizer and of labels.txt; 0: none */
    heed_text dir, settings;
    heed_text edited; /* why config.conf does not fit the weights; "": it does */
    heed__labels labels;
} heed__opened;
/* An empty one, which c owns; heed_run_close also frees what was added. */
heed__opened *heed__run_new(heed_ctx *c, const char *dir);
/* Steps of opening one. Reads the metadata of an open weights file, and chooses the model. */
bool heed__run_read_meta(heed__opened *o, const heed_model *const *models,
                         const heed_safetensors *f, const char *path);
/* Sets the settings in a text of heed__settings_text, which it cuts into words. path: for errors.
 */
bool heed__run_apply_settings(heed__opened *o, char *settings, const char *path);
/* Opens the tokenizers in dir, and checks that they are those of the metadata. */
bool heed__run_read_tokenizers(heed__opened *o, const char *dir);

HEED_EXPORT_BEGIN

/* heed_run_new without the model, which heed__run_build builds. */
heed_run *heed__run_start(heed_ctx *c, const heed_model *m, heed_config *f,
                          heed_tokenizer *tokenizer, const char *const *labels, int label_count);
/* Builds the model by the settings, with initial weights, except those that are then taken from
 * `from`, or, from NULL, read from a file: see heed__store_expect. */
bool heed__run_build(heed_run *r, const heed_store *from);

HEED_EXPORT_END

/* Merges its adapters. */
bool heed__run_merge(heed_run *r);
/* The settings of f that determine the model as ";layers=4;heads=2": stored in a weights file's
 * metadata. */
bool heed__settings_text(const heed_model *m, const heed_config *f, heed_text *out);
/* All settings, and a list of texts, in this form. */
bool heed__list_settings(const heed_config *f, heed_text *out);
bool heed__list_texts(const char *const *list, int count, heed_text *out);
/* Refuses if a new run would remove its own training data. */
bool heed__run_check_outside(heed_ctx *c, const heed_fit_args *a);
/* A digest of both tokenizers of a run; the first one's if source is NULL, 0 if there is none. */
uint64_t heed__tokenizers_digest(const heed_tokenizer *tokenizer, const heed_tokenizer *source);
/* Moves a run at dir to a backup, so that a new one can be created: heed__run_commit removes the
 * backup when the new run has a checkpoint, heed__run_abandon restores it. */
bool heed__run_backup(heed_ctx *c, const char *dir);
bool heed__run_commit(heed_ctx *c, const char *dir);
/* Completes an interrupted replacement if the new run has a checkpoint, else undoes it and, if
 * resumes, fails: settings read before may be those of the other run. */
bool heed__run_recover(heed_ctx *c, const char *dir, bool resumes);
/* Writes to t the folder in which the run at dir is read: dir, or its backup while the new run has
 * no checkpoint. Changes nothing. */
const char *heed__run_source(heed_text *t, const char *dir);
/* Whether only a part of the run at dir is in its backup, so that it must be restored first. */
bool heed__run_is_torn(heed_ctx *c, const char *dir);
/* Writes the settings, tokenizers and labels of a new run, replacing what a run left there. */
bool heed__run_make(heed_ctx *c, const heed_fit_args *a);
/* Removes what heed__run_make and a first checkpoint wrote. */
void heed__run_abandon(heed_ctx *c, const char *dir);
bool heed__run_write_config(heed_ctx *c, const heed_fit_args *a);

#endif
