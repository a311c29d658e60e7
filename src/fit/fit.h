/* fit.h -- shared by the files of this folder. train.c prepares a training, loop.c makes its steps,
 * run.c keeps it in a folder. */
#ifndef HEED_FIT_INTERNAL_H
#define HEED_FIT_INTERNAL_H

#include "core/core.h"
#include "core/os.h"
#include "data/kind.h"

#include <heed/decode.h>
#include <heed/fit.h>

typedef struct heed_training heed_training;

/* ---- settings.c ---- */

/* The settings of a training, bound to the rows of heed_fit_options; the last ones follow from
 * them. */
typedef struct {
    int rows, accumulate, lora;
    int64_t steps; /* exactly one of these three is positive: the length of the training */
    double epochs, minutes;
    double lr_min, warmup, step_gamma, clip; /* warmup below 1 is a share of the steps */
    int64_t step_every, eval_every, eval_batches, save_every, log_every, patience; /* 0: default */
    int64_t evals;        /* evaluations in the run, if eval_every is 0 */
    int64_t freeze_steps; /* 0: what `freeze` matches is never trained */
    const char *optimizer, *falls, *precision, *best; /* falls: the setting `schedule` */
    const char *freeze, *lr_scale, *lora_train;       /* lists of patterns */
    heed_optim_args optim;
    heed_schedule_kind schedule;
    bool full_batch; /* full-batch gradient descent: every update uses all batches of an epoch */
    bool by_metric;  /* the best weights have the best metric, not the lowest loss */
} heed__settings;
bool heed__settings_read(heed_ctx *c, const heed_config *f, heed__settings *s);
heed_schedule heed__settings_schedule(const heed__settings *s, int64_t steps);
bool heed__settings_apply(const heed__settings *s, heed_params *store); /* freeze and lr-scale */
/* Sets key, if f has it, as by a flag. where: for errors. */
bool heed__settings_number(heed_config *f, const char *key, int64_t value, const char *where);
/* The number of tokens, or that of rows if there are more (the setting vocab-rows). */
int64_t heed__settings_rows(const heed_config *f, const heed_tokenizer *k);

enum { HEED__ITEM = 512 };
/* Copies the next item of a comma-separated list, without the spaces around it; false at the end,
 * and with an error for an item that is too long. */
bool heed__next_item(heed_ctx *c, const char **list, char item[HEED__ITEM]);
/* Fails: the setting `key` has a pattern that matches nothing in s. */
bool heed__no_match(const char *key, const char *pattern, const heed_params *s);

/* Chooses settings by the data of a training run: calls m->choose. Called twice, before and after
 * the data is opened (d). Settings that were given, by whatever means, are kept; with `from`, all
 * except those of the kind of data are. out: adds what was chosen, begins with {0}; or NULL. */
bool heed__model_choose(const heed_model *m, heed_config *f, const heed_data *d, heed_choices *out);
uint64_t heed__model_epoch_batches(const heed_model *m, void *self, const heed_data *data,
                                   int rows);

/* ---- sum.c: the gradients of an update ---- */

/* The sum of the micro-batches from .. from + count - 1. */
typedef struct {
    uint32_t from;
    uint64_t count;
} heed__branch;
/* Branches on a stack, in the order of their numbers: one for each bit of a count, twice if it does
 * not begin at 0. */
enum { HEED__BRANCHES = 66 };
typedef struct {
    heed__branch at[HEED__BRANCHES];
    int depth;
} heed__tree;
/* Pushes a branch. Returns how many times the caller must then replace the two values on the top of
 * its own stack by their sum. Micro-batches are added in pairs, pairs in fours, and so on: always
 * the same sums, whoever computes them. */
int heed__tree_push(heed__tree *t, heed__branch b);
/* The most branches at a time while from .. to - 1 are pushed one by one. */
int heed__tree_depth(uint32_t from, uint32_t to);

/* What a pass over one micro-batch gives besides gradients. Each pass is weighted by the number of
 * items that its loss averages, so that the update does not depend on how its rows are divided. */
typedef struct {
    double loss, weight; /* loss: times weight, which is in units of `unit` items */
    double unit, items;
} heed__pass;
heed__pass heed__tree_total(const heed__pass *p, uint32_t count);

/* A parameter and its place in an array of all gradients. */
typedef struct {
    heed_param *entry;
    size_t at;
    bool final; /* its gradient is complete */
} heed__part;
/* Gradients of all parameters that are or will be trained, the last one first, as backward
 * completes them. */
typedef struct {
    heed__part *parts;
    size_t count, size; /* parts; numbers in all of them */
    heed__tree tree;
    heed_real *level[HEED__BRANCHES]; /* (size) the value of each branch */
    int levels;
} heed__gradients;
/* levels: the number of branches to hold at a time. */
bool heed__gradients_open(heed__gradients *g, heed_params *s, int levels);
void heed__gradients_free(heed__gradients *g);
/* Adds those that the parameters hold, as the next micro-batch, and sets them to zero; the last one
 * of an update leaves the sum in the parameters. */
void heed__gradients_add(heed__gradients *g, uint32_t micro, bool last);
/* The same for one parameter: its value becomes that of branch slot - merges, after it was added to
 * the `merges` branches before slot. */
void heed__gradients_merge(heed__gradients *g, const heed__part *p, int slot, int merges);
void heed__add(heed_real *y, const heed_real *x, size_t n); /* y += x */

/* ---- clock.c: the length of a training ---- */

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

/* Sets the number of steps, and what follows from it. */
bool heed__length_fix(heed_training *t, double steps);
/* --steps, --epochs and earlier plans give the length without a clock, the data's size is known.
 * The clock of a resumed training may still change its plans, but a new requested length discards
 * them. */
bool heed__length_by_data(heed_training *t);
/* --minutes give it, after `step` seconds for an update and `eval` for a batch of an evaluation
 * were measured. */
bool heed__length_by_clock(heed_training *t, double step, double eval);
/* After an update: plans the remaining steps again if they would not end on time. */
bool heed__length_again(heed_training *t);
heed_real heed__length_rate(const heed_training *t, int64_t step);
double heed__length_progress(const heed_training *t);
double heed__length_left(const heed_training *t); /* seconds */
/* Whether the last step completed one of `count` equal shares of the training or, if every > 0, as
 * the setting says, a multiple of it. by: every, or the steps of a share where no plan changes. */
bool heed__length_due(const heed_training *t, int64_t every, int64_t by, int64_t count);

/* ---- run.c: the folder ---- */

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
bool heed__state_read(heed_ctx *c, const char *path, heed__state *s);
/* Refuses settings that differ from those of the checkpoint, except those given by a flag, which
 * set *changed. */
bool heed__run_compare(heed_ctx *c, const char *dir, heed_config *f, bool *changed);

/* Completes an interrupted swap. */
bool heed__checkpoint_recover(heed_ctx *c, const char *run);
/* Writes `last`, and model.safetensors when best. If interrupted at any moment, a complete
 * checkpoint remains, and model.safetensors has the weights that it records as best. */
bool heed__checkpoint_save(const heed_training *t, bool best);
/* Loads the weights and optimizer of `last`. */
bool heed__checkpoint_load(heed_training *t);

/* The settings of f that determine the model as ";layers=4;heads=2": stored in a weights file's
 * metadata. */
bool heed__settings_text(const heed_model *m, const heed_config *f, heed_text *out);
/* The first number that is not finite; 0: there is none. */
double heed__first_nonfinite(const heed_real *x, size_t n);
/* The first parameter with a value (or gradient) that is not finite, and that number; or NULL. */
const char *heed__first_bad(const heed_params *s, bool gradient, double *found);
/* An error that names the file and the first parameter with a number that is not finite, which
 * would make every answer meaningless; digests show damage, not what was written on purpose. */
HEED_EXPORT_BEGIN
bool heed__weights_are_finite(const heed_params *s, const char *path);
HEED_EXPORT_END
/* Fills s from RUN/NAME, and verifies that the file is unchanged and its numbers are finite. */
bool heed__run_read_weights(heed_params *s, const char *run, const char *name);

/* The path of a file of a run, RUN HEED_INSIDE NAME; "", which no file has, if it is too long. */
typedef struct {
    char s[4096];
} heed__path;
heed__path heed__run_path(const char *run, const char *name);
bool heed__run_has(const char *run, const char *name); /* whether RUN/NAME exists */
/* Fails because there is no run at dir: there is nothing, a file, or another folder. */
bool heed__run_refuse(heed_ctx *c, const char *dir);

HEED_EXPORT_BEGIN
/* The settings of the run dir, of model m; those that no table has are kept as texts. Owned by c.
 */
heed_config *heed__run_config(heed_ctx *c, const heed_model *m, const char *dir);
HEED_EXPORT_END
bool heed__model_usable(const heed_model *m); /* has what every model must have */

/* The names of classes in labels.txt. */
typedef struct {
    heed_text text; /* cut into lines */
    const char **list;
    size_t capacity;
    int count;
} heed__labels;
/* A digest of the names in their order; 0 for none. */
uint64_t heed__labels_digest(const char *const *labels, int count);
bool heed__labels_write(heed_ctx *c, const char *run, const char *const *labels, int count);
/* expected: the required number, 0 for any. A run without the file has no labels. */
bool heed__labels_read(heed_ctx *c, const char *run, int expected, heed__labels *l);
void heed__labels_free(heed__labels *l);

/* metrics.csv and train.log of a run. run NULL: nothing is written. */
typedef struct {
    heed_ctx *c;
    const char *run;
    heed_text line; /* being written */
} heed__journal;
/* Removes the rows of metrics.csv after step `last` and those about the test part. */
bool heed__journal_open(heed__journal *j, heed_ctx *c, const char *run, int64_t last);
void heed__journal_close(heed__journal *j);
void heed__journal_row(heed__journal *j, const char *split, double loss, double metric,
                       const heed_report *r);
void heed__journal_report(heed__journal *j, const heed_report *r);
/* A line for each entry. */
void heed__journal_start(heed__journal *j, const heed_transfer *start);
void heed__journal_note(heed__journal *j, int64_t step, const char *note);

HEED_EXPORT_BEGIN
/* Returns a run in memory: a new model with its initial values and the settings f, from
 * heed_train_config. A custom training loop can train it and write it by heed_run_save. The run
 * takes ownership of f and tokenizer (NULL: none), also on failure. labels: names of the classes,
 * which are copied; or NULL. */
heed_run *heed__run_new(heed_ctx *c, const heed_model *m, heed_config *f, heed_tokenizer *tokenizer,
                        const char *const *labels, int label_count);
/* heed__run_new without the model, which heed__run_build builds. */
heed_run *heed__run_start(heed_ctx *c, const heed_model *m, heed_config *f,
                          heed_tokenizer *tokenizer, const char *const *labels, int label_count);
/* Builds the model by the settings, with initial weights, except those that are then taken from
 * `from`, or, from NULL, read from a file: see heed__store_expect. */
bool heed__run_build(heed_run *r, const heed_params *from);
HEED_EXPORT_END
/* A digest of both tokenizers of a run; the first one's if source is NULL, 0 if there is none. */
uint64_t heed__tokenizers_digest(const heed_tokenizer *tokenizer, const heed_tokenizer *source);
/* Refuses a run at dir that would remove the data which the settings f name. keep: it does not. */
bool heed__run_check_outside(heed_ctx *c, const char *dir, const heed_config *f, bool keep);
/* Moves a run at dir to a backup, so that a new one can be created: heed__run_commit removes the
 * backup when the new run has a checkpoint, heed__run_abandon restores it. */
bool heed__run_backup(heed_ctx *c, const char *dir);
bool heed__run_commit(heed_ctx *c, const char *dir);
/* Completes an interrupted replacement if the new run has a checkpoint, else undoes it and, if
 * resumes, fails: settings read before may be those of the other run. */
bool heed__run_recover(heed_ctx *c, const char *dir, bool resumes);
/* Writes the settings, tokenizers and labels of a new run at dir, replacing what a run left there,
 * and moves its data from `keep`, if that is not NULL. */
bool heed__run_make(const heed_run *r, const char *dir, const char *keep);
/* Removes what heed__run_make and a first checkpoint wrote. */
void heed__run_abandon(heed_ctx *c, const char *dir);
bool heed__run_write_config(heed_ctx *c, const char *dir, const heed_config *f);

/* ---- transfer.c: the run that training starts from, and adapters ---- */

/* Sets `lora-alpha`, unless it was given. */
bool heed__lora_complete(heed_config *f);
/* Adds adapters by these settings, if f has them. */
bool heed__lora_attach(heed_params *s, const heed_config *f);
/* Freezes everything except the adapters and what the patterns match; "none": nothing. */
bool heed__lora_freeze(heed_params *s, const char *patterns);
/* Replaces `lora-train = auto` by the names of the parameters that are new. */
bool heed__lora_choose(heed_training *t);
/* Notes what the adapters leave untrained although no run has trained it. */
void heed__lora_warn(heed_training *t);

/* A head for other classes than those of the run is new, so its kind, `head`, becomes the model's
 * default unless it was given. */
bool heed__start_head(const heed_run *from, const heed_run *net);
/* Whether the weights that the training begins with are the run's, except adapters and rows of new
 * tokens or positions: they are then evaluated, as the first candidate for the best ones. */
bool heed__start_is_whole(const heed_training *t);
/* Finds the run, if the training is new: sets `from`, and its record in the settings. */
bool heed__start_find(heed_training *t);
/* Takes its weights into the new store. */
bool heed__start_apply(heed_training *t);
/* At the end of a training run that started from a run: sets t->first, and writes it to train.log;
 * NAN if the two runs do not compare or the first one's data is not there. Never fails. */
void heed__start_forgotten(heed_training *t);

/* ---- evaluate.c ---- */

/* Evaluates batches 0 .. count-1 of data, which has `all`; of fewer, random ones. False if a stops
 * it, or on error. */
bool heed__evaluate(const heed_run *r, const heed_data *data, int rows, uint64_t count,
                    uint64_t all, const heed_train_args *a, heed_score *score);
/* The number of items that the loss of a batch averages. */
double heed__batch_weight(const heed_batch *b);

/* ---- cluster.c: several processes ---- */

bool heed__cluster_check(heed_ctx *c, const heed_cluster *k); /* NULL is valid: one process */
/* Sends bytes of rank 0 to all, or receives them. */
bool heed__cluster_copy(heed_ctx *c, const heed_cluster *k, void *x, size_t n);

enum { HEED__AHEAD = 2 }; /* buckets whose gradients may be on their way at a time, besides one */
typedef struct {
    const heed_cluster *k;  /* NULL: one process */
    bool joined, ended;     /* takes part in updates; no longer */
    uint32_t from, to;      /* its micro-batches */
    heed__branch *branches; /* of all ranks, in order; rank r has first[r] .. first[r + 1] - 1 */
    int *first;
    heed_real *received[HEED__AHEAD + 1]; /* for buckets in turn: branches of others */
    size_t posted,
        mark[HEED__AHEAD + 1]; /* exchanges begun: in all; up to each bucket's branches */
    size_t buckets, part;      /* begun; parts merged, in this update */
    bool merges;               /* the last micro-batch is complete */
    int slot, merge_count;     /* of it */
    unsigned char *words;      /* (ranks, word) what each rank says at the end of an update */
    size_t word, update_bytes; /* bytes of a word, and of the updates of states in a pass */
} heed__group;

/* The first micro-batch of a rank; that of rank `ranks` is micros. */
uint32_t heed__group_first(uint32_t micros, int ranks, int rank);
void heed__group_free(heed__group *g);
/* Makes the passes of this process, and ends the update together with all other processes, even
 * after an error: then every process has the sums of gradients and losses, and has updated the
 * states, or all are in error. */
bool heed__group_passes(heed_training *t);
/* Ends the training together with the others. */
void heed__group_leave(heed_training *t);
/* Bytes of the updates of states that the tape lists. */
size_t heed__group_updates(const heed_tape *t);

/* Agreements of all processes before the first step. Each also passes on errors. */
/* After rank 0 has read the run: refuses other programs, data and settings, and takes its state. */
bool heed__join_state(heed_training *t);
/* Reads the weights of a run that is resumed, for the trial. */
bool heed__join_read(heed_training *t);
/* Sets the process's share of an update, and allocates memory for its sums. */
bool heed__join_share(heed_training *t);
/* After the trial: takes rank 0's plans. */
bool heed__join_plans(heed_training *t);
/* When the run directory is ready: takes rank 0's weights. */
bool heed__join_weights(heed_training *t);

/* ---- a training ---- */

struct heed_training {
    heed__owned owned;
    heed_ctx *c;
    heed_train_args a; /* of a process that helps another one: without run, report and stop */
    heed_run net;      /* what is trained: model, settings, tokenizers, classes, weights */
    bool in_place;     /* its weights are those of a.net, and are not freed with the training */
    const heed_data *data;
    heed_config *own_config; /* these belong to the training; or NULL */
    heed_data *own_data;
    heed_run *own_from;
    heed__settings set;
    heed_optim *optim;
    heed_memory memory;
    int64_t bound[2]; /* requested bounds of the vocabulary and of the source's */

    /* its length, and what it is divided into */
    heed_schedule schedule;
    int64_t schedule_from; /* the step from which it counts */
    heed__plans plans;
    heed__clock clock;
    bool replanned;                           /* config.conf does not contain the last plan yet */
    int64_t steps, eval_every, log_every;     /* 0 while unknown */
    uint32_t micros;                          /* forward and backward passes of an update */
    uint64_t epoch_batches, evals, all_evals; /* batches of an evaluation; of the validation part */

    /* its run */
    heed__state state;
    heed__journal journal;
    heed__lock lock; /* on the run directory, held from the first write to the end */
    heed__path lock_path;
    bool fresh;             /* no checkpoint to resume from */
    bool changed;           /* a flag gave a setting that differs from the checkpoint's */
    uint64_t labels_digest; /* of the run's labels.txt; 0: it has none */
    int64_t saved_step;     /* -1: none yet */

    /* the run that it starts from */
    const heed_run *from; /* NULL: new weights, or a resume */
    heed_transfer begun;  /* what was taken from it */
    double first[2];      /* as in heed_fit_result */

    /* its course */
    bool done;
    double loss;          /* the last step's */
    double start, before; /* clock at the start; seconds of training before a resume */
    double left;          /* the clock when the last call ended; 0 during a call */
    double step_seconds, step_items, eval_seconds; /* of one; the first two smoothed */
    heed__pass *passes;                            /* (micros) of the present update */
    heed__gradients gradients;                     /* of an update in several passes */

    /* hooks: how the passes of an update are made; how the clock plans again after it, or NULL */
    bool (*make_passes)(heed_training *t);
    bool (*plan_again)(heed_training *t);
    heed__group group; /* the processes; group.k NULL: one */
};

/* Whether this is a process of several, except the first. */
static inline bool heed__helps(const heed_training *t) {
    return t->group.k && t->group.k->rank > 0;
}
/* Seconds of training, including those before a resume. */
double heed__seconds_done(const heed_training *t);
void heed__report(heed_training *t, heed_report r);
/* A report of the present state. */
heed_report heed__report_of(const heed_training *t, heed_fit_event event);
void heed__note(heed_training *t, const char *format, ...) HEED_PRINTF(2, 3);
bool heed__save(heed_training *t, bool best);
/* Evaluates, reports and saves. False if stopped or on error. */
bool heed__evaluation_make(heed_training *t);
/* Makes the pass over one micro-batch of an update, which sets t->passes[micro]; all of them. */
bool heed__pass_make(heed_training *t, uint32_t micro);
bool heed__passes_make(heed_training *t);
/* Whether nothing is left to do. */
bool heed__finished(const heed_training *t);
bool heed__write_config(heed_training *t);

/* ---- decode.c ---- */

typedef struct {
    double p;
    int32_t id;
} heed__choice;
/* One of n tokens by the temperature, top_k and top_p of a; capacity: (n). */
int32_t heed__draw(const heed_generation *a, const heed_real *logits, int n, heed_random random,
                   heed__choice *capacity);

/* ---- gradcheck.c ---- */

enum { HEED__CASE_INPUTS = 16 }; /* at most */
/* Runs one case of op, forward and backward, as heed_gradcheck does: values gets its output and the
 * gradients of its inputs, allocated on `memory`, which it begins. Returns their number, 0 on
 * error. For tests that compare instruction sets and team sizes. */
int heed__case_run(heed_ctx *c, const heed_op *op, int index, heed_tape *memory,
                   heed_tensor *values[HEED__CASE_INPUTS + 1]);

/* ---- transfer.c: the weights of a run that a training starts from ---- */

/* What the rows of a model's parameters belong to (heed_row_kind); NULL: unknown. */
typedef struct {
    const heed_tokenizer *tokenizer, *source; /* source NULL: the same for both sides */
    const char *const *labels;
    int label_count;
} heed__row_names;
/* Copies the weights of a run to the entries of a new store s, by name. The entry's `rows` decides
 * how rows are matched: tokens by their text, positions by number, classes by name if both have the
 * same ones in any order. Positions on a grid of another size are interpolated bilinearly
 * (Dosovitskiy et al. 2021, sec. 3.2). All other values keep their initial values. out lists what
 * happened to each entry; free it with heed__transfer_close, before the run. HEED_USAGE if no
 * parameter could be copied. */
bool heed__transfer_take(heed_params *s, const heed__row_names *names, const heed_run *run,
                         heed_transfer *out);
void heed__transfer_close(heed_transfer *start);

#endif
