/* prepare.c -- prepares heed_fit's first step: settings, the length of the training, the run
 * directory or the checkpoint to resume from. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- settings ---- */

/* Initial values and batches are drawn with the context's seed; config.conf must agree. */
static bool agree_on_seed(heed__fitting *f) {
    uint64_t seed = heed_seed(f->c);
    heed_config *g = f->a->config;
    char number[24];
    if ((uint64_t)heed_config_int(g, "seed") == seed) return true;
    if (heed_config_rank(g, "seed") != HEED_FROM_DEFAULT)
        return heed_fail(f->c, HEED_USAGE,
                         "seed of the settings is not that of the context: expected %" PRIu64
                         ", found %" PRId64
                         "; hint: open the context with the seed of the settings",
                         seed, heed_config_int(g, "seed"));
    snprintf(number, sizeof number, "%" PRIu64, seed);
    return heed_config_set(g, "seed", number, "seed of the context", HEED_FROM_FLAG);
}

/* What the model must know about the data. config.conf keeps the requested bound of the vocabulary,
 * with which training the tokenizer again gives the same one. */
static bool set_vocab(heed__fitting *f, int64_t size, int64_t source) {
    heed_config *g = f->a->config;
    return !f->a->tokenizer ||
           (heed__settings_number(g, "vocab", size, "tokenizer") &&
            heed__settings_number(g, "source-vocab", source, "source's tokenizer"));
}

/* Sets the actual sizes: 0 for a source without a separate vocabulary. */
static bool set_real_vocab(heed__fitting *f) {
    const heed_fit_args *a = f->a;
    return set_vocab(f, heed__settings_rows(a->config, a->tokenizer),
                     a->source ? heed_vocab_size(a->source) : 0);
}

static int64_t bound_of(const heed_config *g, const char *key) {
    return heed_config_has(g, key) ? heed_config_int(g, key) : 0;
}

static bool set_precision(heed__fitting *f) {
    if (strcmp(heed_config_text(f->a->config, "precision"), "bf16") != 0)
        return heed_set_precision(f->c, HEED_FP32);
    if (!heed_set_precision(f->c, HEED_BF16_IF_FASTER)) return false;
    if (!heed_bf16_is_faster())
        heed__fit_note(f, "`precision = bf16`: products are computed in fp32, which is faster than "
                          "bf16 on this CPU");
    return true;
}

static bool read_settings(heed__fitting *f) {
    const heed_fit_args *a = f->a;
    f->settings.c = f->c;
    if (!heed__cluster_check(f->c, a->cluster) || !heed__start_head(a)) return false;
    if (!heed_config_check(a->config) || !heed__settings_read(f->c, a->config, &f->set) ||
        !agree_on_seed(f))
        return false;
    f->bound[0] = bound_of(a->config, "vocab");
    f->bound[1] = bound_of(a->config, "source-vocab");
    return set_precision(f) && set_real_vocab(f) && heed__lora_complete(a->config) &&
           (!a->labels || heed__settings_number(a->config, "classes", a->label_count, "labels")) &&
           heed__settings_text(a->model, a->config, &f->settings);
}

static bool count_batches(heed__fitting *f) {
    const heed_model *m = f->a->model;
    int rows = f->set.rows;
    uint64_t evals = f->a->no_val ? 0 : heed_model_eval_batches(m, f->self, f->a->data, rows);
    uint64_t limit = (uint64_t)f->set.eval_batches;
    f->evals = limit && limit < evals ? limit : evals;
    f->all_evals = evals;
    f->epoch_batches = heed_model_epoch_batches(m, f->self, f->a->data, rows);
    if (f->epoch_batches < 1) f->epoch_batches = 1;
    uint64_t micros = f->set.full_batch ? f->epoch_batches : (uint64_t)f->set.accumulate;
    if (micros > UINT32_MAX)
        return heed_fail(f->c, HEED_USAGE,
                         "too many batches in an epoch of gradient descent: %" PRIu64, micros);
    f->micros = f->group.to = (uint32_t)micros;
    f->passes = heed__alloc_array(f->c, micros, sizeof *f->passes);
    return !heed__stopped(f->c);
}

/* ---- length ---- */

bool heed__fit_fix_length(heed__fitting *f, double steps) {
    f->steps = steps < 1 ? 1 : steps > 1e12 ? (int64_t)1e12 : (int64_t)steps;
    int64_t from = heed_config_int(f->a->config, "schedule-from");
    f->schedule_from = from < f->steps ? from : 0;
    f->schedule = heed__settings_schedule(&f->set, f->steps - f->schedule_from);
    int64_t evals = f->set.evals, rows = HEED__LOG_ROWS;
    f->eval_every = f->set.eval_every ? f->set.eval_every : (f->steps + evals - 1) / evals;
    f->log_every = f->set.log_every ? f->set.log_every : (f->steps + rows - 1) / rows;
    heed_config *g = f->a->config;
    return heed__settings_number(g, "steps", f->steps, "length of the training") &&
           heed__settings_number(g, "epochs", 0, "length of the training") &&
           heed__settings_number(g, "minutes", 0, "length of the training");
}

bool heed__fit_keep_plans(heed__fitting *f) {
    heed_text text = {.c = f->c};
    bool ok = heed__plans_write(&f->plans, &text) &&
              heed_config_set(f->a->config, "plan", text.s, "minutes", HEED_FROM_FLAG) &&
              heed__settings_number(f->a->config, "steps", f->steps, "minutes");
    heed_text_free(&text);
    return ok;
}

/* Another length and another rate for a run that has begun: its schedule starts anew. */
static bool start_anew(heed__fitting *f) {
    heed_config *g = f->a->config;
    bool anew = !f->fresh && f->set.steps > f->state.step && f->set.steps != f->state.steps &&
                heed_config_rank(g, "steps") == HEED_FROM_FLAG &&
                heed_config_rank(g, "lr") == HEED_FROM_FLAG;
    if (f->fresh) return heed__settings_number(g, "schedule-from", 0, "a new run");
    if (!anew) return true;
    return heed__settings_number(g, "schedule-from", f->state.step, "steps");
}

/* --steps, --epochs and earlier plans give the length without a clock. The clock of a resumed
 * training run may still change its plans, but a new requested length discards them. */
static bool fix_by_data(heed__fitting *f) {
    heed_config *g = f->a->config;
    if (heed_config_rank(g, "steps") == HEED_FROM_FLAG ||
        heed_config_rank(g, "epochs") == HEED_FROM_FLAG || (f->set.minutes > 0 && f->fresh)) {
        f->state.clock = NAN;
        if (!heed__settings_number(g, "timed", 0, "steps") ||
            !heed_config_set(g, "plan", "", "steps", HEED_FROM_FLAG))
            return false;
    }
    const char *plan = heed_config_text(g, "plan");
    if (!start_anew(f)) return false;
    if (f->set.minutes > 0) return true;
    if (!*plan && f->set.steps) return heed__fit_fix_length(f, (double)f->set.steps);
    if (!*plan)
        return heed__fit_fix_length(f, ceil(f->set.epochs * (double)f->epoch_batches / f->micros));
    if (isfinite(f->state.clock))
        f->clock = (heed__clock){
            .budget = f->state.clock, .evals = f->set.evals, .eval_every = f->set.eval_every};
    return heed__plans_read(f->c, plan, heed_config_int(g, "steps"), &f->plans) &&
           heed__fit_fix_length(f, (double)heed__plans_end(&f->plans));
}

/* ---- run directory ---- */

static uint64_t tokenizer_digest(const heed_fit_args *a) {
    return a->tokenizer ? heed__tokenizers_digest(a->tokenizer, a->source) : a->tokenizer_digest;
}

static void begin_state(heed__fitting *f) {
    heed__state *s = &f->state;
    *s = (heed__state){.seed = heed_seed(f->c),
                       .data_checksum = f->a->data_checksum,
                       .tokenizer_digest = tokenizer_digest(f->a)};
    s->best_loss = s->best_metric = s->loss = s->val_loss = s->metric = s->norm = s->clock = NAN;
    f->labels_digest = heed__labels_digest(f->a->labels, f->a->label_count);
    f->fresh = true;
}

static bool same(heed__fitting *f, const char *what, uint64_t was, uint64_t now, const char *hint) {
    return was == now || heed_fail(f->c, HEED_DATA,
                                   "cannot resume %s: the %s has changed: expected %016" PRIx64
                                   ", found %016" PRIx64 "; hint: %s",
                                   f->a->run, what, was, now, hint);
}

/* The digest of the labels that the checkpoint was trained with; `digest` if it does not say. */
static uint64_t trained_labels(heed__fitting *f, uint64_t digest) {
    heed_text path = {.c = f->c};
    heed_safetensors *k =
        heed__safetensors_head(f->c, heed__run_path(&path, f->a->run, "last/model.safetensors"));
    const char *labels = k ? heed_safetensors_meta(k, "labels") : NULL;
    if (labels) sscanf(labels, "%16" SCNx64, &digest);
    heed_safetensors_close(k);
    heed_text_free(&path);
    return digest;
}

/* labels.txt must list the classes of the data, in the order that the checkpoint was trained with.
 */
static bool check_labels(heed__fitting *f) {
    const heed_fit_args *a = f->a;
    heed__labels l;
    bool ok = heed__labels_read(f->c, a->run, a->label_count, &l);
    uint64_t of_data = heed__labels_digest(a->labels, a->label_count);
    f->labels_digest = heed__labels_digest(l.list, l.count);
    heed__labels_free(&l);
    return ok &&
           (heed__ctx_edited(f->c) ||
            same(f, "file labels.txt", trained_labels(f, of_data), f->labels_digest,
                 "restore a copy of it, or resume with `edited` if it was edited on purpose"));
}

/* The checksum is that of all files of the data. */
static bool check_data(heed__fitting *f) {
    const heed_config *g = f->a->config;
    const char *data = heed_config_has(g, "data") ? heed_config_text(g, "data") : "",
               *val = heed_config_has(g, "val") ? heed_config_text(g, "val") : "";
    heed_text what = {.c = f->c};
    bool ok =
        heed_text_add(&what, "data%s%s%s%s", *data ? " " : "", data, *val ? " or " : "", val) &&
        same(f, what.s, f->state.data_checksum, f->a->data_checksum,
             "restore the data that the run began with, or start a new run from its weights "
             "with `from`");
    heed_text_free(&what);
    return ok;
}

/* A tokenizer that was edited on purpose becomes the run's. */
static bool agrees(heed__fitting *f) {
    heed__state *s = &f->state;
    if (heed__ctx_edited(f->c)) s->tokenizer_digest = tokenizer_digest(f->a);
    return check_data(f) &&
           same(f, "tokenizer", s->tokenizer_digest, tokenizer_digest(f->a),
                "restore the tokenizer's files in the run directory, or resume with `edited` if "
                "they were edited on purpose") &&
           (!f->a->labels || check_labels(f)) &&
           same(f, "seed", s->seed, heed_seed(f->c), "resume without `seed`");
}

/* A run that died before its first checkpoint has only settings, and starts again. */
static bool read_checkpoint(heed__fitting *f) {
    const char *run = f->a->run;
    heed_text path = {.c = f->c};
    bool found = heed__run_has(f->c, run, "last/state.json");
    bool begun = heed__run_has(f->c, run, "config.conf"), ok = begun;
    if (!begun)
        heed__run_refuse(f->c, run);
    else if (found)
        ok = heed__state_read(f->c, heed__run_path(&path, run, "last/state.json"), &f->state) &&
             heed__state_settings(f->c, path.s, f->a->config, &f->changed) && agrees(f);
    else
        ok = heed_run_resumable(f->c, run);
    f->fresh = !found;
    f->before = f->state.seconds;
    heed_text_free(&path);
    return ok;
}

/* Two training runs in one folder would overwrite each other's files. */
static bool lock_run(heed__fitting *f) {
    long holder = 0;
    char who[40] = "";
    if (f->lock.held) return true;
    if (heed__os_lock(&f->lock, f->lock_path.s, &holder)) {
        heed__os_sweep(f->a->run);
        return heed__run_recover(f->c, f->a->run, f->a->resume);
    }
    if (holder) snprintf(who, sizeof who, " (process %ld)", holder);
    return heed_fail(
        f->c, HEED_FAILED,
        "another training run is active in %s%s; hint: wait until it ends, or stop it first",
        f->a->run, who);
}

/* A folder that does not exist yet is locked when it is created. */
static bool open_run(heed__fitting *f) {
    const heed_fit_args *a = f->a;
    begin_state(f);
    if (!a->run) return true;
    f->lock_path.c = f->c;
    if (!heed__run_path(&f->lock_path, a->run, ".lock")[0]) return false;
    if (!a->resume &&
        !(heed_run_vacant(f->c, a->run, a->force) && heed__run_check_outside(f->c, a)))
        return false;
    if (heed__os_is_dir(a->run) && !lock_run(f)) return false;
    return !a->resume || (heed__checkpoint_recover(f->c, a->run) && read_checkpoint(f));
}

static void note_finished(heed__fitting *f) {
    char n1[32], n2[32];
    int64_t step = f->state.step;
    heed_format_count(n1, (uint64_t)step);
    heed_format_count(n2, (uint64_t)f->steps);
    if (step > f->steps)
        heed__fit_note(f,
                       "the run is at step %s, beyond the %s asked for: nothing is trained; hint: "
                       "a larger `steps`",
                       n1, n2);
    else if (step == f->steps)
        heed__fit_note(f,
                       "the run is finished at step %s: nothing is left to do; hint: `steps = "
                       "%" PRId64 "` continues it; `lr` beside it starts a new schedule",
                       n1, 2 * step);
    else
        heed__fit_note(f,
                       "the run is finished: it was stopped early at step %s of %s by `patience = "
                       "%" PRId64 "`; hint: `patience = 0` continues to the end",
                       n1, n2, f->set.patience);
}

static void note_changes(heed__fitting *f) {
    const heed__state *s = &f->state;
    char step[32], steps[32], was[32];
    heed_format_count(step, (uint64_t)s->step);
    heed_format_count(steps, (uint64_t)f->steps);
    if (s->step > 0 && f->schedule_from == s->step)
        heed__fit_note(f,
                       "the schedule of the learning rate starts anew at step %s: warm-up to %g, "
                       "then the schedule to step %s",
                       step, (double)f->set.optim.lr, steps);
    else if (s->steps != f->steps)
        heed__fit_note(f,
                       "steps are now %s, not %s: the learning rate follows the new schedule from "
                       "step %s on",
                       steps, heed_format_count(was, (uint64_t)s->steps), step);
    if (strcmp(s->isa, heed_isa(f->c)) != 0)
        heed__fit_note(f,
                       "warning: the checkpoint was made with %s, this is %s: the results will "
                       "agree to rounding, not bit by bit; hint: `isa = %s`",
                       s->isa, heed_isa(f->c), s->isa);
    if (strcmp(s->version, HEED_VERSION) != 0)
        heed__fit_note(f, "the checkpoint was made by heed %s, this is %s", s->version,
                       HEED_VERSION);
}

static void note_start(heed__fitting *f) {
    heed__lora_warn(f);
    if (f->set.freeze_steps >= f->steps)
        heed__fit_note(f,
                       "warning: `freeze-steps = %" PRId64 "` is not below the %" PRId64
                       " steps: what `freeze` matches is never trained; hint: `freeze-steps = "
                       "%" PRId64 "`",
                       f->set.freeze_steps, f->steps, f->steps / 2);
    int64_t steps = f->steps - f->schedule_from;
    if (f->set.warmup > (double)steps &&
        heed_config_rank(f->a->config, "warmup") > HEED_FROM_PRESET)
        heed__fit_note(f,
                       "warning: `warmup = %.10g` is longer than the %" PRId64
                       " steps of the schedule: the learning rate only rises; hint: `warmup = 0.1`",
                       f->set.warmup, steps);
    if (f->evals != f->all_evals)
        heed__fit_note(
            f,
            "an evaluation uses %" PRIu64 " of the %" PRIu64
            " validation batches, the same random ones each time; hint: `eval-batches = 0` "
            "uses all",
            f->evals, f->all_evals);
}

bool heed__fit_write_config(heed__fitting *f) {
    return set_vocab(f, f->bound[0], f->bound[1]) && heed__run_write_config(f->c, f->a) &&
           set_real_vocab(f);
}

static bool resume_run(heed__fitting *f) {
    heed__checkpoint k = {.c = f->c, .run = f->a->run, .store = f->store};
    k.slots = heed_optim_slots(f->optim);
    f->saved_step = f->state.step;
    if (!heed__checkpoint_load(&k) ||
        !heed__journal_open(&f->journal, f->c, f->a->run, f->state.row_step))
        return false;
    note_changes(f);
    return heed__fit_write_config(f);
}

/* Makes the folder ready for writing: it exists and is locked, no run has been created there
 * meanwhile, and a run to be replaced is in backup. */
static bool claim_run(heed__fitting *f) {
    const heed_fit_args *a = f->a;
    return heed__os_make_dir(f->c, a->run) && lock_run(f) &&
           (a->resume || heed_run_vacant(f->c, a->run, a->force)) &&
           heed__run_check_outside(f->c, a) && (a->resume || heed__run_backup(f->c, a->run));
}

/* A new run is created with its first checkpoint or not at all; a checkpoint records the settings
 * of config.conf. */
static bool begin(heed__fitting *f) {
    heed__state *s = &f->state;
    const char *run = f->a->run;
    bool made = run && !heed__os_exists(run);
    bool claimed = run && (!f->fresh || claim_run(f));
    bool ok = !run || claimed;
    if (claimed && f->fresh)
        ok = heed__run_make(f->c, f->a) && heed__fit_write_config(f) &&
             heed__journal_open(&f->journal, f->c, run, 0);
    else if (claimed)
        ok = resume_run(f);
    if (f->group.k) ok = heed__join_weights(f);
    snprintf(s->version, sizeof s->version, "%s", HEED_VERSION);
    snprintf(s->isa, sizeof s->isa, "%s", heed_isa(f->c));
    f->start = f->clock.mark = heed__os_seconds();
    f->clock.planned = f->before;
    if (ok) heed__fit_report(f, HEED_FIT_START, NULL);
    if (ok && f->from) heed__journal_start(&f->journal, &f->begun);
    if (ok) note_start(f);
    if (ok && f->evals && heed__start_is_whole(f))
        ok = heed__fit_evaluate(f);
    else if (ok && (f->fresh || f->changed))
        ok = heed__fit_save(f, f->fresh);
    ok = ok && !heed__stopped(f->c);
    if (!ok && claimed && !f->a->resume) {
        heed__run_abandon(f->c, run);
        if (made) heed__os_unlock_folder(&f->lock, run, f->lock_path.s);
    }
    return ok && (!run || !f->fresh || heed__run_commit(f->c, run));
}

bool heed__fit_prepare(heed__fitting *f) {
    f->start = heed__os_seconds();
    f->tape = heed_tape_new(f->c);
    if (read_settings(f)) open_run(f);
    if (!heed__join_state(f)) return false;
    f->set.sequence = !strcmp(heed_config_text(f->a->config, "accumulate-order"), "sequence");
    bool ok = heed__start_find(f);
    f->memory.before = heed_memory_resident();
    ok = ok && heed__fit_build(f) && count_batches(f) && fix_by_data(f);
    if (ok && !f->fresh && f->steps && (f->state.step > f->steps || heed__fit_finished(f))) {
        note_finished(f);
        return false;
    }
    ok = heed__join_read(f) && ok;
    if (ok && heed__fit_try(f)) heed__join_share(f);
    if (!heed__join_plans(f)) return false;
    if (f->set.minutes > 0 && heed__fit_helps(f))
        heed__fit_fix_length(f, (double)heed__plans_end(&f->plans));
    return begin(f);
}

void heed__fit_release(heed__fitting *f) {
    heed__journal_close(&f->journal);
    heed_text_free(&f->settings);
    heed_tape_free(f->tape);
    heed__group_free(&f->group);
    heed__gradients_free(&f->gradients);
    heed__free(f->passes);
    heed__fit_unbuild(f);
    heed_start_free(&f->begun);
    heed_run_close(f->opened);
    if (f->lock.held) heed__os_unlock(&f->lock, f->lock_path.s);
    heed_text_free(&f->lock_path);
}
