/* loop.c -- heed_fit: the training loop. prepare.c prepares it, checkpoint.c saves its results. */
#include "core/core.h"
#include "core/os.h"
#include "core/tape.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- reports ---- */

/* Seconds of training, including those before a resume. */
static double seconds_done(const heed__fitting *f) {
    return f->before + heed__os_seconds() - f->start;
}

static heed_real rate_at(const heed__fitting *f, int64_t step) {
    return f->plans.count ? heed__plans_rate(&f->plans, &f->set, step)
                          : heed_schedule_at(&f->schedule, step - f->schedule_from);
}

static double progress(const heed__fitting *f) {
    if (f->plans.count) return heed__plans_progress(&f->plans, f->state.step);
    return f->steps ? (double)f->state.step / (double)f->steps : 0;
}

static double seconds_left(const heed__fitting *f) {
    if (!f->steps) return 0;
    if (f->clock.budget > 0) return fmax(0, f->clock.budget - seconds_done(f));
    double steps = (double)(f->steps - f->state.step);
    double evals = f->eval_every ? ceil(steps / (double)f->eval_every) : 0;
    return fmax(0, steps * f->step_seconds + evals * f->eval_seconds);
}

static heed_report report_of(const heed__fitting *f, heed_fit_event event) {
    const heed__state *s = &f->state;
    heed_report r = {.event = event, .step = s->step, .steps = f->steps, .loss = f->loss};
    r.progress = progress(f);
    r.epoch = (double)s->step * f->micros / (double)f->epoch_batches;
    r.val_loss = r.metric = r.bits_per_byte = NAN;
    r.lr = (double)f->set.optim.lr;
    if (f->steps && s->step > 0) r.lr *= (double)rate_at(f, s->step - 1);
    r.grad_norm = s->norm;
    r.items_per_s = f->step_seconds > 0 ? f->step_items / f->step_seconds : 0;
    r.seconds = heed__os_seconds() - f->start;
    r.seconds_left = seconds_left(f);
    r.params = heed_store_params(f->store);
    r.bytes = f->memory.total - f->memory.before;
    r.epoch_batches = f->epoch_batches;
    r.store = f->store;
    r.self = f->self;
    if (event == HEED_FIT_START && f->from) r.start = &f->begun;
    if (event == HEED_FIT_START) r.memory = &f->memory;
    return r;
}

static void pass_on(heed__fitting *f, const heed_report *r) {
    heed__journal_report(&f->journal, r);
    if (f->a->report) f->a->report(f->a->user, r);
}

void heed__fit_report(heed__fitting *f, heed_fit_event event, const char *note) {
    heed_report r = report_of(f, event);
    r.note = note;
    pass_on(f, &r);
}

void heed__fit_note(heed__fitting *f, const char *format, ...) {
    char note[320];
    va_list list;
    va_start(list, format);
    vsnprintf(note, sizeof note, format, list);
    va_end(list);
    heed__fit_report(f, HEED_FIT_NOTE, note);
}

/* A row of metrics.csv; its seconds include those before a resume. */
static void add_row(heed__fitting *f, const char *split, double loss, double metric) {
    heed_report r = report_of(f, HEED_FIT_STEP);
    r.seconds += f->before;
    heed__journal_row(&f->journal, split, loss, metric, &r);
    f->state.row_step = f->state.step;
}

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
static bool diverged(heed__fitting *f, int64_t step, const char *what, const char *tensor,
                     double found) {
    char note[640], hint[320];
    double usual = strtod(heed_config_default(f->a->config, "lr"), NULL);
    double lr = fmin((double)f->set.optim.lr / 3, usual);
    if (f->a->run && f->saved_step >= 0)
        snprintf(hint, sizeof hint,
                 "`resume %.200s` with `lr = %.2g` continues from the checkpoint of step %" PRId64,
                 f->a->run, lr, f->saved_step);
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
    heed__journal_note(&f->journal, f->state.step, note);
    return heed_fail(f->c, HEED_DIVERGED, "%s", note);
}

/* A loss that is not finite is caused by such a weight, or by the output of an op. */
static bool loss_diverged(heed__fitting *f, int64_t step, const char *what, double loss) {
    const char *bad = heed__first_bad(f->store, false, &loss);
    if (bad) return diverged(f, step, "value", bad, loss);
    bad = first_bad_output(f->tape, &loss);
    return diverged(f, step, bad ? "output" : what, bad, loss);
}

/* ---- one update ---- */

/* Items per unit of weight. A single pass has weight 1; equal passes in sequence, too. In the tree
 * the unit is known to every process. */
static double unit_of(const heed__fitting *f, uint32_t micro, double weight) {
    if (f->set.full_batch || weight <= 0) return 1;
    if (f->micros > 1 && !f->set.sequence) return f->set.rows;
    return micro == 0 ? weight : f->passes[0].unit;
}

bool heed__fit_pass(heed__fitting *f, uint32_t micro) {
    const heed_model *m = f->a->model;
    heed_batch b = {0};
    heed_batch_at at = {
        .rows = f->set.rows, .index = (uint64_t)f->state.step, .micro = micro, .micros = f->micros};
    if (f->set.full_batch) /* the epoch's batches 0, 1, ...: the same ones in every update */
        at = (heed_batch_at){.rows = f->set.rows, .index = micro, .full_batch = true};
    heed_tape_begin_micro(f->tape, HEED_TRAIN, (uint64_t)f->state.step, micro);
    if (!heed_model_batch(m, f->self, f->a->data, at, &b))
        return heed_fail(f->c, HEED_DATA, "model %s made no batch at step %" PRId64, m->name,
                         f->state.step);
    heed_tensor *y = m->loss(f->self, f->tape, &b);
    if (!y || heed__stopped(f->c))
        return heed_fail(f->c, HEED_FAILED, "model %s made no loss", m->name);
    if (y->size != 1) return heed_backward(f->tape, y); /* fails: a loss must be a scalar */
    if (!isfinite(y->x[0])) return loss_diverged(f, f->state.step + 1, "loss", (double)y->x[0]);
    double items = heed__batch_weight(&b), unit = unit_of(f, micro, items), weight = items / unit;
    f->passes[micro] = (heed__pass){.loss = weight * (double)y->x[0],
                                    .weight = weight,
                                    .unit = unit,
                                    .items = b.items ? (double)b.items : b.rows};
    return heed_backward_from(f->tape, y, &(heed_real){(heed_real)weight});
}

/* The passes of this process. With the tree, each begins with gradients of zero. */
static bool make_passes(heed__fitting *f) {
    heed__group *g = &f->group;
    bool alone = f->micros == 1 || f->set.sequence;
    for (uint32_t i = g->from; i < g->to; i++) {
        bool last = i + 1 == g->to;
        if (g->k && last) heed__group_send(f);
        if (!heed__fit_pass(f, i) || (g->k && !heed__word_keep(f, i))) return false;
        if (!alone && !(g->k && last)) heed__gradients_add(&f->gradients, i, last);
    }
    return true;
}

static heed__pass sum_of_passes(const heed__fitting *f) {
    heed__pass sum = {0};
    if (!f->set.sequence) return heed__tree_total(f->passes, f->micros);
    for (uint32_t i = 0; i < f->micros; i++) {
        sum.loss += f->passes[i].loss;
        sum.weight += f->passes[i].weight;
        sum.items += f->passes[i].items;
    }
    return sum;
}

static bool update(heed__fitting *f) {
    double start = heed__os_seconds();
    bool made = make_passes(f);
    if (f->group.k) made = heed__group_reduce(f, false);
    if (!made) return false;
    heed__pass sum = sum_of_passes(f);
    if (sum.weight <= 0) sum.weight = 1;
    double norm = heed_clip(f->optim, (heed_real)f->set.clip, 1 / (heed_real)sum.weight);
    if (!heed__stopped(f->c) && !isfinite(norm)) {
        const char *bad = heed__first_bad(f->store, true, &norm);
        return diverged(f, f->state.step + 1, "gradient", bad ? bad : "all parameters", norm);
    }
    if (!heed_step(f->optim, rate_at(f, f->state.step))) return false;
    f->state.step++;
    f->state.norm = norm;
    f->loss = sum.loss / sum.weight;
    double took = heed__os_seconds() - start, share = f->step_seconds > 0 ? 0.1 : 1;
    f->step_seconds += share * (took - f->step_seconds);
    f->step_items += share * (sum.items - f->step_items);
    return true;
}

/* ---- evaluation ---- */

static double mean(const heed__mean *m) {
    return m->count ? m->sum / (double)m->count : (double)NAN;
}

static void count(heed__mean *m, double v) {
    m->sum += v;
    m->count++;
}

static void add_train_row(heed__fitting *f) {
    heed__mean *m = &f->state.since_row;
    if (m->count) add_row(f, "train", mean(m), NAN);
    *m = (heed__mean){0};
}

heed__evaluation heed__fit_evaluation(const heed__fitting *f) {
    return (heed__evaluation){.tape = f->tape,
                              .model = f->a->model,
                              .self = f->self,
                              .data = f->a->data,
                              .rows = f->set.rows,
                              .count = f->evals,
                              .sample = f->evals < f->all_evals,
                              .stop = f->a->stop,
                              .user = f->a->user};
}

/* Ties in accuracy are decided by the lower loss; without a metric only the loss is compared. */
static bool better(const heed__fitting *f, double loss) {
    const heed__state *s = &f->state;
    if (!isfinite(s->best_loss)) return true;
    if (f->set.by_metric && s->metric != s->best_metric && isfinite(s->metric))
        return !(s->metric < s->best_metric);
    return loss < s->best_loss;
}

/* Stores the score in the state; true: a new best. Without a validation part the training loss
 * decides. */
static bool take_score(heed__fitting *f, const heed_score *score) {
    heed__state *s = &f->state;
    s->loss = mean(&s->since_eval);
    s->val_loss = score->weight > 0 ? score->loss / score->weight : (double)NAN;
    s->metric = score->total > 0 ? score->correct / score->total : (double)NAN;
    s->since_eval = (heed__mean){0};
    s->eval_step = s->step;
    bool best = better(f, f->evals ? s->val_loss : s->loss);
    s->stale = best ? 0 : s->stale + 1;
    if (!best) return false;
    s->best_loss = f->evals ? s->val_loss : s->loss;
    s->best_metric = s->metric;
    s->best_step = s->step;
    return true;
}

bool heed__fit_evaluate(heed__fitting *f) {
    heed__evaluation e = heed__fit_evaluation(f);
    if (f->state.step == 0) e.stop = NULL; /* a new run has its first checkpoint or is not made */
    heed_score score;
    double start = heed__os_seconds();
    if (!heed__evaluate(&e, &score)) return false;
    f->eval_seconds = heed__os_seconds() - start;
    if (f->evals && !(score.weight > 0 && isfinite(score.loss)))
        return loss_diverged(f, f->state.step, "validation loss", score.loss / score.weight);
    bool best = take_score(f, &score);
    add_train_row(f);
    if (f->evals) add_row(f, "val", f->state.val_loss, f->state.metric);
    heed_report r = report_of(f, HEED_FIT_EVAL);
    r.loss = f->state.loss;
    r.val_loss = f->state.val_loss;
    r.metric = f->state.metric;
    r.val_total = score.total;
    r.best = best;
    if (score.bytes > 0) r.bits_per_byte = score.loss / log(2) / score.bytes;
    pass_on(f, &r);
    if (!heed__fit_save(f, best)) return false;
    f->clock.mark = heed__os_seconds();
    f->clock.eval = 0.5 * (f->clock.eval + f->clock.mark - start);
    return true;
}

/* ---- the loop ---- */

bool heed__fit_save(heed__fitting *f, bool best) {
    if (!f->a->run) return !heed__stopped(f->c);
    double found;
    const char *bad = heed__first_bad(f->store, false, &found);
    if (bad) return diverged(f, f->state.step, "value", bad, found);
    heed__checkpoint k = {.c = f->c,
                          .run = f->a->run,
                          .store = f->store,
                          .slots = heed_optim_slots(f->optim),
                          .architecture = f->a->model->name,
                          .settings = f->settings.s,
                          .tokenizer_digest = f->state.tokenizer_digest,
                          .labels_digest = f->labels_digest,
                          .config = f->a->config,
                          .labels = f->a->labels,
                          .label_count = f->a->label_count};
    f->state.steps = f->steps;
    f->state.seconds = seconds_done(f);
    if (f->replanned && !heed__fit_write_config(f)) return false;
    f->replanned = false;
    if (!heed__checkpoint_save(&k, &f->state, best)) return false;
    f->saved_step = f->state.step;
    heed__fit_report(f, HEED_FIT_SAVED, NULL);
    return true;
}

static bool eval_due(const heed__fitting *f) {
    int64_t step = f->state.step;
    if (step == 0 || f->state.eval_step == step) return false;
    if (step >= f->steps) return true;
    return f->plans.count && !f->set.eval_every ? heed__plans_due(&f->plans, step, f->set.evals)
                                                : step % f->eval_every == 0;
}

bool heed__fit_finished(const heed__fitting *f) {
    bool patient = !f->set.patience || f->state.stale < f->set.patience;
    return (f->state.step >= f->steps || !patient) && !eval_due(f);
}

/* Plans the remaining steps again if they would not end on time. */
static bool plan_again(heed__fitting *f) {
    heed__clock *k = &f->clock;
    double now = heed__os_seconds();
    int64_t step = f->state.step;
    if (k->budget <= 0 || step >= f->steps) return true;
    heed__clock_count(k, now - k->mark);
    k->mark = now;
    int64_t left = heed__clock_plan(k, seconds_done(f), f->steps - step, progress(f));
    if (f->group.k && !heed__cluster_copy(f->c, f->group.k, &left, sizeof left)) return false;
    if (!left || !heed__plans_add(&f->plans, step, left, false)) return true;
    f->steps = step + left;
    f->replanned = true;
    return heed__fit_keep_plans(f);
}

/* Trains what `freeze` matches from update freeze-steps + 1 on. */
static void thaw(heed__fitting *f) {
    int64_t steps = f->set.freeze_steps, done = f->state.step;
    int n = steps && done >= steps ? heed_thaw(f->store, done) : 0;
    if (n && done == steps)
        heed__fit_note(f, "step %" PRId64 ": %d frozen tensor%s trained from here on", done, n,
                       n == 1 ? " is" : "s are");
}

/* An update, its report and what is due after it. */
static bool step(heed__fitting *f) {
    thaw(f);
    if (!update(f)) return false;
    int64_t done = f->state.step;
    count(&f->state.since_eval, f->loss);
    count(&f->state.since_row, f->loss);
    heed__fit_report(f, HEED_FIT_STEP, NULL);
    if (!plan_again(f)) return false;
    if (eval_due(f)) return true;
    bool planned = f->plans.count && !f->set.log_every;
    if (planned ? heed__plans_due(&f->plans, done, HEED__LOG_ROWS) : done % f->log_every == 0)
        add_train_row(f);
    if (f->set.save_every && done % f->set.save_every == 0) heed__fit_save(f, false);
    return !heed__stopped(f->c);
}

static void interrupt(heed__fitting *f) {
    if (f->saved_step != f->state.step && !heed__fit_save(f, false)) return;
    heed__journal_note(&f->journal, f->state.step, "interrupted");
    const char *run = f->a->run;
    char step[32], steps[32];
    heed_fail(f->c, HEED_INTERRUPTED, "interrupted at step %s of %s%s%s%s",
              heed_format_count(step, (uint64_t)f->state.step),
              heed_format_count(steps, (uint64_t)f->steps), run ? "; hint: `resume " : "",
              run ? run : "", run ? "`" : "");
}

static void train(heed__fitting *f) {
    bool go = true;
    while (go && !heed__fit_finished(f)) {
        if (eval_due(f))
            go = heed__fit_evaluate(f);
        else
            go = step(f) && !(f->a->stop && f->a->stop(f->a->user));
    }
    if (heed__stopped(f->c)) return;
    if (!heed__fit_finished(f)) {
        interrupt(f);
        return;
    }
    if (f->state.step < f->steps) {
        bool metric = f->set.by_metric && isfinite(f->state.best_metric);
        heed__fit_note(f,
                       "stopped early: %" PRId64 " evaluation%s without a better %s than %.6g of "
                       "step %" PRId64,
                       f->state.stale, f->state.stale == 1 ? "" : "s", metric ? "accuracy" : "loss",
                       metric ? f->state.best_metric : f->state.best_loss, f->state.best_step);
    }
    heed__fit_forgetting(f);
}

static bool complete(heed_ctx *c, const heed_fit_args *a) {
    const heed_model *m = a ? a->model : NULL;
    if (heed__stopped(c)) return false;
    if (m && a->config && heed__model_usable(m) && (m->batch || heed_model_data(m)->batch))
        return true;
    return heed_fail(c, HEED_USAGE,
                     "heed_fit: something is missing: expected settings and a model with name, "
                     "init, batch and loss");
}

heed_fit_result heed_fit(heed_ctx *c, const heed_fit_args *a) {
    heed_fit_args own = a ? *a : (heed_fit_args){0};
    bool several = own.cluster && own.cluster->ranks > 1;
    if (several && own.cluster->rank > 0) { /* the first one keeps the run, reports and decides */
        own.run = NULL;
        own.report = NULL;
        own.stop = NULL;
    }
    heed__fitting f = {.c = c, .a = &own, .saved_step = -1};
    if (several) f.group.k = own.cluster;
    f.state.loss = f.state.val_loss = f.state.metric = f.loss = NAN;
    f.state.best_loss = f.state.best_metric = f.first[0] = f.first[1] = NAN;
    if (complete(c, a)) {
        if (heed__fit_prepare(&f)) train(&f);
        if (f.group.joined && !f.group.ended) heed__group_reduce(&f, true);
        heed__fit_release(&f);
    }
    const heed__state *s = &f.state;
    return (heed_fit_result){.step = s->step,
                             .loss = s->loss,
                             .val_loss = s->val_loss,
                             .best_loss = s->best_loss,
                             .metric = s->metric,
                             .best_metric = s->best_metric,
                             .first = {f.first[0], f.first[1]},
                             .best_step = s->best_step};
}
