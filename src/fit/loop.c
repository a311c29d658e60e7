/* loop.c -- the steps of a training: passes over batches, the update, and what is then due:
 * evaluations and checkpoints. train.c prepares it, run.c saves. */
#include "core/core.h"
#include "core/os.h"
#include "core/params.h"
#include "core/tape.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- reports ---- */

/* Time between two calls does not count. */
static double seconds_now(const heed_training *t) {
    return (t->left > 0 ? t->left : heed__os_seconds()) - t->start;
}

double heed__seconds_done(const heed_training *t) { return t->before + seconds_now(t); }

heed_report heed__report_of(const heed_training *t, heed_fit_event event) {
    const heed__state *s = &t->state;
    heed_report r = {.event = event, .step = s->step, .steps = t->steps, .loss = t->loss};
    r.progress = heed__length_progress(t);
    r.epoch = t->epoch_batches ? (double)s->step * t->micros / (double)t->epoch_batches : 0;
    r.val_loss = r.metric = r.bits_per_byte = NAN;
    r.lr = (double)t->set.optim.lr;
    if (t->steps && s->step > 0) r.lr *= (double)heed__length_rate(t, s->step - 1);
    r.grad_norm = s->norm;
    r.items_per_s = t->step_seconds > 0 ? t->step_items / t->step_seconds : 0;
    r.seconds = seconds_now(t);
    r.seconds_left = heed__length_left(t);
    r.params = heed_params_numel(t->net.store);
    r.bytes = t->memory.total - t->memory.before;
    r.epoch_batches = t->epoch_batches;
    r.store = t->net.store;
    r.self = t->net.self;
    if (event == HEED_FIT_START && t->from) r.start = &t->begun;
    if (event == HEED_FIT_START) r.memory = &t->memory;
    return r;
}

void heed__report(heed_training *t, heed_report r) {
    heed__journal_report(&t->journal, &r);
    if (t->a.report) t->a.report(t->a.user, &r);
}

void heed__note(heed_training *t, const char *format, ...) {
    char note[320];
    va_list list;
    va_start(list, format);
    vsnprintf(note, sizeof note, format, list);
    va_end(list);
    heed_report r = heed__report_of(t, HEED_FIT_NOTE);
    r.note = note;
    heed__report(t, r);
}

/* Its seconds include those before a resume. */
static void add_row(heed_training *t, const char *split, double loss, double metric) {
    heed_report r = heed__report_of(t, HEED_FIT_STEP);
    r.seconds += t->before;
    heed__journal_row(&t->journal, split, loss, metric, &r);
    t->state.row_step = t->state.step;
}

static void add_train_row(heed_training *t) {
    heed__mean *m = &t->state.since_row;
    if (m->count) add_row(t, "train", m->sum / (double)m->count, NAN);
    *m = (heed__mean){0};
}

heed_report heed_train_report(const heed_training *t) {
    heed_report r = {.event = HEED_FIT_STEP};
    if (!t) return r;
    r = heed__report_of(t, HEED_FIT_STEP);
    r.memory = &t->memory;
    return r;
}

heed_fit_result heed_train_result(const heed_training *t) {
    static const heed__state nothing = {
        .loss = NAN, .val_loss = NAN, .best_loss = NAN, .metric = NAN, .best_metric = NAN};
    const heed__state *s = t ? &t->state : &nothing;
    return (heed_fit_result){
        .step = s->step,
        .loss = s->loss,
        .val_loss = s->val_loss,
        .best_loss = s->best_loss,
        .metric = s->metric,
        .best_metric = s->best_metric,
        .first = {t ? t->first[0] : (double)NAN, t ? t->first[1] : (double)NAN},
        .best_step = s->best_step};
}

heed_run *heed_train_net(heed_training *t) { return t ? &t->net : NULL; }

/* ---- divergence ---- */

/* The first recorded op of this step with such a number in its output. */
static const char *first_bad_output(const heed_tape *t, double *found) {
    for (size_t i = 0; i < t->r->node_count; i++) {
        const heed_tensor *y = t->r->nodes[i]->y;
        double v = y && y->x ? heed__first_nonfinite(y->x, y->size) : 0;
        if (v == 0) continue;
        *found = v;
        return t->r->nodes[i]->name;
    }
    return NULL;
}

/* Always false. what: "loss", "gradient", "validation loss" of the given step. The hint has a third
 * of the rate, or the model's default if that is lower. */
static bool diverged(heed_training *t, int64_t step, const char *what, const char *tensor,
                     double found) {
    char note[640], hint[320];
    double usual = strtod(heed_config_default(t->net.config, "lr"), NULL);
    double lr = fmin((double)t->set.optim.lr / 3, usual);
    if (t->a.run && t->saved_step >= 0)
        snprintf(hint, sizeof hint,
                 "`resume %.200s` with `lr = %.2g` continues from the checkpoint of step %" PRId64,
                 t->a.run, lr, t->saved_step);
    else
        snprintf(hint, sizeof hint, "a lower learning rate: `lr = %.2g`", lr);
    snprintf(note, sizeof note,
             "training diverged at step %" PRId64
             ": %s%s%.120s: expected a finite number, found %s; hint: %s",
             step, what, tensor ? " of " : "", tensor ? tensor : "",
             isnan(found) ? "nan"
             : found > 0  ? "inf"
                          : "-inf",
             hint);
    heed__journal_note(&t->journal, t->state.step, note);
    return heed_fail(t->c, HEED_DIVERGED, "%s", note);
}

/* A loss that is not finite is caused by such a weight, or by the output of an op. */
static bool loss_diverged(heed_training *t, int64_t step, const char *what, double loss) {
    const char *bad = heed__first_bad(t->net.store, false, &loss);
    if (bad) return diverged(t, step, "value", bad, loss);
    bad = first_bad_output(t->net.tape, &loss);
    return diverged(t, step, bad ? "output" : what, bad, loss);
}

/* ---- one update ---- */

bool heed__pass_make(heed_training *t, uint32_t micro) {
    heed_run *net = &t->net;
    heed_batch b = {0};
    heed_batch_at at = {
        .rows = t->set.rows, .index = (uint64_t)t->state.step, .micro = micro, .micros = t->micros};
    if (t->set.full_batch) /* the epoch's batches 0, 1, ...: the same ones in every update */
        at = (heed_batch_at){.rows = t->set.rows, .index = micro, .full_batch = true};
    heed_tape_begin_micro(net->tape, HEED_TRAIN, (uint64_t)t->state.step, micro);
    if (!heed_model_batch(net->model, net->self, t->data, at, &b))
        return heed_fail(t->c, HEED_DATA, "model %s made no batch at step %" PRId64,
                         net->model->name, t->state.step);
    heed_tensor *y = net->model->loss(net->self, net->tape, &b);
    if (!y || heed__stopped(t->c))
        return heed_fail(t->c, HEED_FAILED, "model %s made no loss", net->model->name);
    if (y->size != 1) return heed_backward(net->tape, y); /* fails: a loss must be a scalar */
    if (!isfinite(y->x[0])) return loss_diverged(t, t->state.step + 1, "loss", (double)y->x[0]);
    /* A single pass has weight 1; of several, the unit is known to every process. */
    double items = heed__batch_weight(&b);
    double unit = t->set.full_batch || items <= 0 ? 1 : t->micros > 1 ? t->set.rows : items;
    double weight = items / unit;
    t->passes[micro] = (heed__pass){.loss = weight * (double)y->x[0],
                                    .weight = weight,
                                    .unit = unit,
                                    .items = b.items ? (double)b.items : b.rows};
    return heed_backward_from(net->tape, y, &(heed_real){(heed_real)weight});
}

/* Of several, each begins with gradients of zero. */
bool heed__passes_make(heed_training *t) {
    for (uint32_t i = 0; i < t->micros; i++) {
        if (!heed__pass_make(t, i)) return false;
        if (t->micros > 1) heed__gradients_add(&t->gradients, i, i + 1 == t->micros);
    }
    return true;
}

static bool update(heed_training *t) {
    double start = heed__os_seconds();
    if (!t->make_passes(t)) return false;
    heed__pass sum = heed__tree_total(t->passes, t->micros);
    if (sum.weight <= 0) sum.weight = 1;
    double norm = heed_clip_grad_norm(t->optim, (heed_real)t->set.clip, 1 / (heed_real)sum.weight);
    if (!heed__stopped(t->c) && !isfinite(norm)) {
        const char *bad = heed__first_bad(t->net.store, true, &norm);
        return diverged(t, t->state.step + 1, "gradient", bad ? bad : "all parameters", norm);
    }
    if (!heed_optim_step(t->optim, heed__length_rate(t, t->state.step))) return false;
    t->state.step++;
    t->state.norm = norm;
    t->loss = sum.loss / sum.weight;
    double took = heed__os_seconds() - start, share = t->step_seconds > 0 ? 0.1 : 1;
    t->step_seconds += share * (took - t->step_seconds);
    t->step_items += share * (sum.items - t->step_items);
    return true;
}

/* ---- checkpoints ---- */

bool heed__save(heed_training *t, bool best) {
    if (!t->a.run) return !heed__stopped(t->c);
    double found;
    const char *bad = heed__first_bad(t->net.store, false, &found);
    if (bad) return diverged(t, t->state.step, "value", bad, found);
    t->state.steps = t->steps;
    t->state.seconds = heed__seconds_done(t);
    if (t->replanned && !heed__write_config(t)) return false;
    t->replanned = false;
    if (!heed__checkpoint_save(t, best)) return false;
    t->saved_step = t->state.step;
    heed__report(t, heed__report_of(t, HEED_FIT_SAVED));
    return true;
}

/* Whether the present weights are to be evaluated. */
static bool evaluation_due(const heed_training *t) {
    int64_t step = t->state.step;
    if (step == 0 || t->state.eval_step == step) return false;
    return step >= t->steps || heed__length_due(t, t->set.eval_every, t->eval_every, t->set.evals);
}

bool heed__finished(const heed_training *t) {
    bool patient = !t->set.patience || t->state.stale < t->set.patience;
    return (t->state.step >= t->steps || !patient) && !evaluation_due(t);
}

/* ---- evaluations, which choose the weights that the run keeps ---- */

/* Ties in accuracy are decided by the lower loss; without a metric only the loss is compared. */
static bool better(const heed_training *t, double loss) {
    const heed__state *s = &t->state;
    if (!isfinite(s->best_loss)) return true;
    if (t->set.by_metric && s->metric != s->best_metric && isfinite(s->metric))
        return !(s->metric < s->best_metric);
    return loss < s->best_loss;
}

/* Stores the score in the state; true: a new best. Without a validation part the training loss
 * decides. */
static bool take_score(heed_training *t, const heed_score *score) {
    heed__state *s = &t->state;
    const heed__mean *m = &s->since_eval;
    s->loss = m->count ? m->sum / (double)m->count : (double)NAN;
    s->val_loss = score->weight > 0 ? score->loss / score->weight : (double)NAN;
    s->metric = score->total > 0 ? score->correct / score->total : (double)NAN;
    s->since_eval = (heed__mean){0};
    s->eval_step = s->step;
    bool best = better(t, t->evals ? s->val_loss : s->loss);
    s->stale = best ? 0 : s->stale + 1;
    if (!best) return false;
    s->best_loss = t->evals ? s->val_loss : s->loss;
    s->best_metric = s->metric;
    s->best_step = s->step;
    return true;
}

bool heed__evaluation_make(heed_training *t) {
    heed_score score;
    double start = heed__os_seconds();
    bool first = t->state.step == 0; /* a new run has its first checkpoint or is not made */
    if (!heed__evaluate(&t->net, t->data, t->set.rows, t->evals, t->all_evals, first ? NULL : &t->a,
                        &score))
        return false;
    t->eval_seconds = heed__os_seconds() - start;
    if (t->evals && !(score.weight > 0 && isfinite(score.loss)))
        return loss_diverged(t, t->state.step, "validation loss", score.loss / score.weight);
    bool best = take_score(t, &score);
    add_train_row(t);
    if (t->evals) add_row(t, "val", t->state.val_loss, t->state.metric);
    heed_report r = heed__report_of(t, HEED_FIT_EVAL);
    r.loss = t->state.loss;
    r.val_loss = t->state.val_loss;
    r.metric = t->state.metric;
    r.val_total = score.total;
    r.best = best;
    if (score.bytes > 0) r.bits_per_byte = score.loss / log(2) / score.bytes;
    heed__report(t, r);
    if (!heed__save(t, best)) return false;
    t->clock.mark = heed__os_seconds();
    t->clock.eval = 0.5 * (t->clock.eval + t->clock.mark - start);
    return true;
}

/* ---- a step ---- */

/* Trains what `freeze` matches from update freeze-steps + 1 on. */
static void thaw(heed_training *t) {
    int64_t steps = t->set.freeze_steps, done = t->state.step;
    int n = steps && done >= steps ? heed__thaw(t->net.store, done) : 0;
    if (n && done == steps)
        heed__note(t, "step %" PRId64 ": %d frozen tensor%s trained from here on", done, n,
                   n == 1 ? " is" : "s are");
}

/* An update, its report and what is due after it, except an evaluation. */
static bool make_step(heed_training *t) {
    thaw(t);
    if (!update(t)) return false;
    t->state.since_eval.sum += t->loss;
    t->state.since_row.sum += t->loss;
    t->state.since_eval.count++;
    t->state.since_row.count++;
    heed__report(t, heed__report_of(t, HEED_FIT_STEP));
    if (t->plan_again && !t->plan_again(t)) return false;
    if (evaluation_due(t)) return true;
    if (heed__length_due(t, t->set.log_every, t->log_every, HEED__LOG_ROWS)) add_train_row(t);
    if (t->set.save_every && t->state.step % t->set.save_every == 0) heed__save(t, false);
    return !heed__stopped(t->c);
}

static void interrupt(heed_training *t) {
    if (t->saved_step != t->state.step && !heed__save(t, false)) return;
    heed__journal_note(&t->journal, t->state.step, "interrupted");
    const char *run = t->a.run;
    char step[32], steps[32];
    heed_fail(t->c, HEED_INTERRUPTED, "interrupted at step %s of %s%s%s%s",
              heed_format_count(step, (uint64_t)t->state.step),
              heed_format_count(steps, (uint64_t)t->steps), run ? "; hint: `resume " : "",
              run ? run : "", run ? "`" : "");
}

static void conclude(heed_training *t) {
    if (t->state.step < t->steps) {
        bool metric = t->set.by_metric && isfinite(t->state.best_metric);
        heed__note(t,
                   "stopped early: %" PRId64 " evaluation%s without a better %s than %.6g of step "
                   "%" PRId64,
                   t->state.stale, t->state.stale == 1 ? "" : "s", metric ? "accuracy" : "loss",
                   metric ? t->state.best_metric : t->state.best_loss, t->state.best_step);
    }
    heed__start_forgotten(t);
}

/* Times between calls are left out of the clock of the training. */
static void enter(heed_training *t) {
    double away = heed__os_seconds() - t->left;
    t->start += away;
    t->clock.mark += away;
    t->left = 0;
}

bool heed_train_step(heed_training *t) {
    if (!t || t->done || heed__stopped(t->c)) return false;
    enter(t);
    bool go = evaluation_due(t) || (make_step(t) && !(t->a.stop && t->a.stop(t->a.user)));
    if (go && evaluation_due(t)) go = heed__evaluation_make(t);
    if (!heed__stopped(t->c) && !go) interrupt(t);
    t->done = !go || heed__finished(t);
    if (go && t->done) conclude(t);
    t->left = heed__os_seconds();
    return go;
}

bool heed_train_save(heed_training *t) {
    if (!t || heed__stopped(t->c)) return false;
    enter(t);
    bool ok = t->saved_step == t->state.step || heed__save(t, false);
    t->left = heed__os_seconds();
    return ok;
}
