/* trial.c -- one step and one evaluation before anything is written: do model and data work, how
 * much memory do they take, how long with a clock? */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The seconds of one batch, if less than those so far: other programs may slow some down. */
static bool evaluate_one(heed__fitting *f, double *seconds) {
    heed__evaluation e = heed__fit_evaluation(f);
    heed_score score;
    double start = heed__os_seconds();
    e.count = f->evals ? 1 : 0;
    if (!heed__evaluate(&e, &score)) return false;
    size_t bytes = heed_tape_used(f->tape).bytes, *more = &f->memory.evaluation;
    f->memory.total -= *more;
    *more = bytes > f->memory.step ? bytes - f->memory.step : 0;
    f->memory.total += *more;
    *seconds = fmin(*seconds, heed__os_seconds() - start);
    return true;
}

/* With fewer steps a model learns next to nothing, so a note says where the time goes. */
enum { FEW_STEPS = 20 };

/* The next step whose batch has the most tokens. Pairs of similar length are batched together, in
 * windows of 64 batches, and the last micro-batch of a step has the longest. Other kinds have
 * batches of one size; making one may take long. */
static int64_t largest_step(const heed__fitting *f) {
    enum { WINDOW = 64 };
    const heed_model *m = f->a->model;
    int64_t step = f->state.step, largest = step;
    bool varies = !m->batch && heed_model_data(m)->varied;
    double most = 0;
    for (int64_t i = step; varies && !f->set.full_batch && i < step + WINDOW; i++) {
        heed_batch b = {0};
        heed_batch_at at = {
            .rows = f->set.rows, .index = (uint64_t)i, .micro = f->micros - 1, .micros = f->micros};
        if (!heed_model_batch(m, f->self, f->a->data, at, &b)) return step;
        double tokens = (double)b.rows * ((double)b.len + b.src_len);
        if (tokens > most) {
            most = tokens;
            largest = i;
        }
    }
    return largest;
}

/* Tries the largest of the first batches, which takes the most memory, and, for full-batch gradient
 * descent, the last one, maybe smaller. */
static bool try_batches(heed__fitting *f) {
    int64_t step = f->state.step;
    f->state.step = largest_step(f);
    uint32_t last = f->micros - 1;
    bool ok = heed__fit_pass(f, 0) && (!last || f->set.full_batch || heed__fit_pass(f, last));
    f->state.step = step;
    if (!ok) return false;
    f->memory = heed_memory_of(f->store, f->optim, f->tape, f->memory.before);
    f->group.update_bytes = heed__word_updates(f->tape);
    return !f->set.full_batch || !last || heed__fit_pass(f, last);
}

/* The passes of this process in an update. */
static uint32_t own_micros(const heed__fitting *f) {
    return f->group.k ? heed__tree_first(f->micros, f->group.k->ranks, 1) : f->micros;
}

/* Limits evaluations to a third of the time. */
static bool limit_evaluations(heed__fitting *f) {
    heed__clock *k = &f->clock;
    double most = k->eval > 0 ? floor(k->budget / 3 / k->eval) : INFINITY;
    if (k->eval_every || (double)k->evals <= most) return true;
    k->evals = f->set.evals = most < 1 ? 1 : (int64_t)most;
    heed__fit_note(f, "an evaluation takes %.3g s: %" PRId64 " in the run", k->eval, k->evals);
    return heed__settings_number(f->a->config, "evals", k->evals, "minutes");
}

/* Measures an update by a second pass, because the first one uses fresh memory, and a step of the
 * optimizer at a rate of 0, which changes no weight; 0: an error. */
static double time_update(heed__fitting *f) {
    double start = heed__os_seconds();
    if (!heed__fit_pass(f, 0)) return 0;
    double passed = heed__os_seconds();
    heed_clip(f->optim, (heed_real)f->set.clip, 1);
    if (!heed_step(f->optim, 0)) return 0;
    return fmax(1e-9, (passed - start) * own_micros(f) + heed__os_seconds() - passed);
}

/* Seconds of an evaluation besides its batches: the checkpoint is synchronized to the disk, and the
 * curves are drawn. The clock later knows how long they take. */
static const double SAVING = 0.1;

static bool plan_by_clock(heed__fitting *f) {
    double eval = INFINITY;
    if (!try_batches(f) || !evaluate_one(f, &eval)) return false;
    double step = time_update(f);
    if (step <= 0 || !evaluate_one(f, &eval)) return false;
    double seconds = f->before + f->set.minutes * 60;
    f->state.clock = seconds;
    f->clock = (heed__clock){.budget = seconds,
                             .eval = eval * (double)f->evals + (f->a->run ? SAVING : 0),
                             .evals = f->set.evals,
                             .eval_every = f->set.eval_every};
    if (!limit_evaluations(f) || !heed__fit_plan_first(f, step) ||
        !heed__fit_fix_length(f, (double)heed__plans_end(&f->plans)) || !heed__fit_keep_plans(f))
        return false;
    char minutes[32], count[32];
    snprintf(minutes, sizeof minutes, "%.10g", seconds / 60);
    if (!heed_config_set(f->a->config, "timed", minutes, "minutes", HEED_FROM_FLAG)) return false;
    int64_t left = f->steps - f->state.step;
    heed__fit_note(f, "%g minute%s about %s step%s; the number is adjusted as the speed changes",
                   f->set.minutes, f->set.minutes == 1 ? " allows" : "s allow",
                   heed_format_count(count, (uint64_t)left), left == 1 ? "" : "s");
    if (left < FEW_STEPS)
        heed__fit_note(f,
                       "warning: fewer than %d steps teach little: a step takes %.3g s, an "
                       "evaluation %.3g s; hint: a smaller model, batch or `eval-batches`, or "
                       "more `minutes`",
                       FEW_STEPS, step, f->clock.eval);
    return true;
}

/* Refuses bf16 where no product of the trial was rounded. */
static bool check_precision(const heed__fitting *f) {
    return heed__precision_applies(f->c) ||
           heed_config_rank(f->a->config, "precision") != HEED_FROM_FLAG ||
           heed_fail(f->c, HEED_USAGE,
                     "`precision = bf16` has no effect here: expected a linear layer with at least "
                     "32 inputs, 32 outputs and 16 rows, found none; hint: leave `precision` out");
}

bool heed__fit_try(heed__fitting *f) {
    double seconds = INFINITY;
    /* a parameter without a gradient is reported by the first step, not by the trial as well */
    for (int i = 0; i < heed_store_count(f->store); i++)
        heed_store_at(f->store, i)->reported = true;
    bool timed = f->set.minutes > 0 && !heed__fit_helps(f); /* rank 0 plans for all */
    bool ok = timed ? plan_by_clock(f) : try_batches(f) && evaluate_one(f, &seconds);
    if (!ok || !check_precision(f)) return false;
    if (f->set.minutes <= 0) f->clock.eval = seconds * (double)f->evals;
    return heed__fit_build_again(f);
}
