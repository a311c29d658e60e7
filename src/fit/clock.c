/* clock.c -- the length of a training: a number of steps, or plans that change while it runs. Each
 * plan is a step and the number of steps left from there. The plans determine the progress at every
 * step, and so the learning rate and when to evaluate: the same plans give the same training. The
 * clock makes the plans. */
#include "core/core.h"
#include "core/os.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- plans ---- */

static double progress_in(const heed__plan *p, int64_t step) {
    double share = (double)(step - p->step) / (double)p->left;
    return share >= 1 ? 1 : p->from + (1 - p->from) * share;
}

/* The plan in force at update `step`. */
static const heed__plan *plan_of(const heed__plans *p, int64_t step) {
    const heed__plan *at = &p->plan[p->count - 1];
    while (at > p->plan && at->step > step) at--;
    return at;
}

double heed__plans_progress(const heed__plans *p, int64_t step) {
    return step > 0 ? progress_in(plan_of(p, step - 1), step) : 0;
}

int64_t heed__plans_end(const heed__plans *p) {
    const heed__plan *last = &p->plan[p->count - 1];
    return last->step + last->left;
}

bool heed__plans_add(heed__plans *p, int64_t step, int64_t left, bool longer) {
    if (p->count > 0 && p->plan[p->count - 1].step == step) {
        p->count--;
        longer = longer || p->plan[p->count].longer;
    }
    if (p->count == HEED__PLANS) return false;
    double from = p->count > 0 ? heed__plans_progress(p, step) : 0;
    if (longer) from = (double)step / (double)(step + left);
    p->plan[p->count++] = (heed__plan){step, left, longer, from};
    return true;
}

bool heed__plans_due(const heed__plans *p, int64_t step, int64_t count) {
    const heed__plan *at = plan_of(p, step - 1);
    double n = (double)count;
    return floor(n * progress_in(at, step)) > floor(n * progress_in(at, step - 1));
}

bool heed__plans_write(const heed__plans *p, heed_text *out) {
    bool ok = true;
    for (int i = 0; ok && i < p->count; i++)
        ok = heed_text_add(out, "%s%lld%c%lld", i ? " " : "", (long long)p->plan[i].step,
                           p->plan[i].longer ? '+' : ':', (long long)p->plan[i].left);
    return ok;
}

/* Reads a number of at most 15 digits; -1: there is none. */
static int64_t read_count(const char **at) {
    size_t n = strspn(*at, "0123456789");
    if (n < 1 || n > 15) return -1;
    const char *begin = *at;
    *at += n;
    return strtoll(begin, NULL, 10);
}

bool heed__plans_read(heed_ctx *c, const char *text, int64_t steps, heed__plans *p) {
    int64_t last = -1;
    p->count = 0;
    for (const char *at = text; *at; at += strspn(at, " ")) {
        int64_t step = read_count(&at);
        bool longer = *at == '+';
        if (longer || *at == ':') at++;
        int64_t left = read_count(&at);
        bool first = p->count == 0;
        if (step <= last || left < 1 || (*at && *at != ' ') || (first && (step > 0 || longer)) ||
            !heed__plans_add(p, step, left, longer))
            return heed_fail(c, HEED_DATA,
                             "plan is wrong: expected STEP:LEFT or STEP+LEFT, steps rising from 0, "
                             "found %.60s; hint: remove the line, or give `steps`",
                             text);
        last = step;
    }
    return heed__plans_end(p) == steps ||
           heed_fail(c, HEED_DATA,
                     "plan does not end at the last step: expected %lld steps, found %lld; hint: "
                     "remove the line, or give `steps`",
                     (long long)heed__plans_end(p), (long long)steps);
}

/* ---- learning rate ---- */

/* The first plan is an ordinary schedule. In later plans, steps are counted as fractions of the
 * entire training, because the steps of a plan differ in size from those before it. */
heed_real heed__plans_rate(const heed__plans *p, const heed__settings *s, int64_t step) {
    static const int64_t full = 1 << 30;
    const heed__plan *at = plan_of(p, step);
    heed_schedule h = heed__settings_schedule(s, at == p->plan ? at->left : full);
    if (at == p->plan || (s->warmup >= 1 && step < h.warmup)) return heed_schedule_at(&h, step);
    if (s->warmup >= 1) h.warmup = (int64_t)(heed__plans_progress(p, h.warmup) * (double)full);
    int64_t begin = (int64_t)(progress_in(at, step) * (double)full);
    int64_t end = (int64_t)(progress_in(at, step + 1) * (double)full);
    if (begin < h.warmup) return heed_schedule_at(&h, end < h.warmup ? end - 1 : h.warmup - 1);
    if (h.kind == HEED_SCHEDULE_STEP && s->step_every) begin = step;
    if (h.kind == HEED_SCHEDULE_INVSQRT) begin = end - 1;
    return heed_schedule_at(&h, begin);
}

/* ---- the clock ---- */

/* Shares of the time: between two plans; by which a plan may miss it; of the measured rate. */
static const double BETWEEN = 0.03, MISS = 0.02, RECENT = 0.1;

void heed__clock_count(heed__clock *k, double took) {
    double keep = exp(-took / (RECENT * k->budget));
    k->recent_steps = keep * k->recent_steps + 1;
    k->recent_seconds = keep * k->recent_seconds + took;
    k->updates++;
}

static double seconds_of(const heed__clock *k, double left, double step, double evals) {
    if (k->eval_every) evals = ceil(left / (double)k->eval_every);
    return left * step + fmin(left, evals) * k->eval;
}

int64_t heed__clock_left(const heed__clock *k, double elapsed, double step, double progress) {
    double evals = (double)k->evals - floor((double)k->evals * progress);
    double have = k->budget - elapsed, left = (have - evals * k->eval) / step;
    if (k->eval_every)
        left = fmin((have - k->eval) / step, have / (step + k->eval / (double)k->eval_every));
    else if (left < evals)
        left = have / (step + k->eval);
    return left < 1 ? 1 : left > 1e12 ? (int64_t)1e12 : llround(left);
}

int64_t heed__clock_plan(heed__clock *k, double elapsed, int64_t left, double progress) {
    double step = k->recent_seconds / k->recent_steps;
    double evals = (double)k->evals - floor((double)k->evals * progress);
    bool early = (k->updates & (k->updates - 1)) == 0; /* after 1, 2, 4, ... updates */
    if (!early && elapsed - k->planned < BETWEEN * k->budget) return 0;
    double end = elapsed + seconds_of(k, (double)left, step, evals);
    if (fabs(end - k->budget) <= MISS * k->budget) return 0;
    int64_t now = heed__clock_left(k, elapsed, step, progress);
    if (now == left) return 0;
    k->planned = elapsed;
    return now;
}

/* ---- the length of a training ---- */

bool heed__length_fix(heed_training *t, double steps) {
    heed_config *f = t->net.config;
    t->steps = steps < 1 ? 1 : steps > 1e12 ? (int64_t)1e12 : (int64_t)steps;
    int64_t from = heed_config_int(f, "schedule-from");
    t->schedule_from = from < t->steps ? from : 0;
    t->schedule = heed__settings_schedule(&t->set, t->steps - t->schedule_from);
    int64_t evals = t->set.evals, rows = HEED__LOG_ROWS;
    t->eval_every = t->set.eval_every ? t->set.eval_every : (t->steps + evals - 1) / evals;
    t->log_every = t->set.log_every ? t->set.log_every : (t->steps + rows - 1) / rows;
    return heed__settings_number(f, "steps", t->steps, "length of the training") &&
           heed__settings_number(f, "epochs", 0, "length of the training") &&
           heed__settings_number(f, "minutes", 0, "length of the training");
}

/* Another length and another rate for a run that has begun: its schedule starts anew. */
static bool start_anew(heed_training *t) {
    heed_config *f = t->net.config;
    bool anew = !t->fresh && t->set.steps > t->state.step && t->set.steps != t->state.steps &&
                heed_config_rank(f, "steps") == HEED_FROM_FLAG &&
                heed_config_rank(f, "lr") == HEED_FROM_FLAG;
    if (t->fresh) return heed__settings_number(f, "schedule-from", 0, "a new run");
    return !anew || heed__settings_number(f, "schedule-from", t->state.step, "steps");
}

bool heed__length_by_data(heed_training *t) {
    heed_config *f = t->net.config;
    if (heed_config_rank(f, "steps") == HEED_FROM_FLAG ||
        heed_config_rank(f, "epochs") == HEED_FROM_FLAG || (t->set.minutes > 0 && t->fresh)) {
        t->state.clock = NAN;
        if (!heed__settings_number(f, "timed", 0, "steps") ||
            !heed_config_set(f, "plan", "", "steps", HEED_FROM_FLAG))
            return false;
    }
    const char *plan = heed_config_text(f, "plan");
    if (!start_anew(t)) return false;
    if (t->set.minutes > 0) return true;
    if (!*plan && t->set.steps) return heed__length_fix(t, (double)t->set.steps);
    if (!*plan)
        return heed__length_fix(t, ceil(t->set.epochs * (double)t->epoch_batches / t->micros));
    if (isfinite(t->state.clock))
        t->clock = (heed__clock){
            .budget = t->state.clock, .evals = t->set.evals, .eval_every = t->set.eval_every};
    return heed__plans_read(t->c, plan, heed_config_int(f, "steps"), &t->plans) &&
           heed__length_fix(t, (double)heed__plans_end(&t->plans));
}

/* Writes the plans and the resulting steps to the settings. */
static bool keep_plans(heed_training *t) {
    heed_text text = {.c = t->c};
    bool ok = heed__plans_write(&t->plans, &text) &&
              heed_config_set(t->net.config, "plan", text.s, "minutes", HEED_FROM_FLAG) &&
              heed__settings_number(t->net.config, "steps", t->steps, "minutes");
    heed_text_free(&text);
    return ok;
}

/* The first plan of a training run, or that by which a resumed one continues for more minutes, from
 * the rate so far or `step` seconds per step. */
static bool plan_first(heed_training *t, double step) {
    const heed__state *s = &t->state;
    double seconds = t->set.minutes * 60;
    const char *plan = heed_config_text(t->net.config, "plan");
    if (s->step == 0) {
        heed__plans_add(&t->plans, 0, heed__clock_left(&t->clock, 0, step, 0), false);
        return true;
    }
    if (*plan && !heed__plans_read(t->c, plan, s->steps, &t->plans)) return false;
    if (!*plan) heed__plans_add(&t->plans, 0, s->steps, false);
    if (s->seconds > 0) step = s->seconds / (double)s->step;
    return heed__plans_add(&t->plans, s->step, llround(fmin(1e12, fmax(1, seconds / step))),
                           true) ||
           heed_fail(t->c, HEED_USAGE, "too many plans; hint: `steps` instead of `minutes`");
}

/* Limits evaluations to a third of the time. */
static bool limit_evaluations(heed_training *t) {
    heed__clock *k = &t->clock;
    double most = k->eval > 0 ? floor(k->budget / 3 / k->eval) : INFINITY;
    if (k->eval_every || (double)k->evals <= most) return true;
    k->evals = t->set.evals = most < 1 ? 1 : (int64_t)most;
    heed__note(t, "an evaluation takes %.3g s: %" PRId64 " in the run", k->eval, k->evals);
    return heed__settings_number(t->net.config, "evals", k->evals, "minutes");
}

/* Seconds of an evaluation besides its batches: the checkpoint is synchronized to the disk, and the
 * curves are drawn. The clock later knows how long they take. */
static const double SAVING = 0.1;

bool heed__length_by_clock(heed_training *t, double step, double eval) {
    enum { FEW_STEPS = 20 }; /* with fewer a model learns next to nothing */
    char minutes[32], count[32];
    double seconds = t->before + t->set.minutes * 60;
    t->state.clock = seconds;
    t->clock = (heed__clock){.budget = seconds,
                             .eval = eval * (double)t->evals + (t->a.run ? SAVING : 0),
                             .evals = t->set.evals,
                             .eval_every = t->set.eval_every};
    snprintf(minutes, sizeof minutes, "%.10g", seconds / 60);
    if (!limit_evaluations(t) || !plan_first(t, step) ||
        !heed__length_fix(t, (double)heed__plans_end(&t->plans)) || !keep_plans(t) ||
        !heed_config_set(t->net.config, "timed", minutes, "minutes", HEED_FROM_FLAG))
        return false;
    int64_t left = t->steps - t->state.step;
    heed__note(t, "%g minute%s about %s step%s; the number is adjusted as the speed changes",
               t->set.minutes, t->set.minutes == 1 ? " allows" : "s allow",
               heed_format_count(count, (uint64_t)left), left == 1 ? "" : "s");
    if (left < FEW_STEPS)
        heed__note(t,
                   "warning: fewer than %d steps teach little: a step takes %.3g s, an evaluation "
                   "%.3g s; hint: a smaller model, batch or `eval-batches`, or more `minutes`",
                   FEW_STEPS, step, t->clock.eval);
    return true;
}

bool heed__length_again(heed_training *t) {
    heed__clock *k = &t->clock;
    double now = heed__os_seconds();
    int64_t step = t->state.step;
    if (step >= t->steps) return true;
    heed__clock_count(k, now - k->mark);
    k->mark = now;
    int64_t left =
        heed__clock_plan(k, heed__seconds_done(t), t->steps - step, heed__length_progress(t));
    if (t->group.k && !heed__cluster_copy(t->c, t->group.k, &left, sizeof left)) return false;
    if (!left || !heed__plans_add(&t->plans, step, left, false)) return true;
    t->steps = step + left;
    t->replanned = true;
    return keep_plans(t);
}

heed_real heed__length_rate(const heed_training *t, int64_t step) {
    return t->plans.count ? heed__plans_rate(&t->plans, &t->set, step)
                          : heed_schedule_at(&t->schedule, step - t->schedule_from);
}

double heed__length_progress(const heed_training *t) {
    if (t->plans.count) return heed__plans_progress(&t->plans, t->state.step);
    return t->steps ? (double)t->state.step / (double)t->steps : 0;
}

double heed__length_left(const heed_training *t) {
    if (!t->steps) return 0;
    if (t->clock.budget > 0) return fmax(0, t->clock.budget - heed__seconds_done(t));
    double steps = (double)(t->steps - t->state.step);
    double evals = t->eval_every ? ceil(steps / (double)t->eval_every) : 0;
    return fmax(0, steps * t->step_seconds + evals * t->eval_seconds);
}

bool heed__length_due(const heed_training *t, int64_t every, int64_t by, int64_t count) {
    return t->plans.count && !every ? heed__plans_due(&t->plans, t->state.step, count)
                                    : t->state.step % by == 0;
}
