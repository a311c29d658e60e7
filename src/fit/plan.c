/* plan.c -- plans of a training run whose length changes while it runs. Each plan is a step and the
 * number of steps left from there. The plans determine the progress at every step, and so the
 * learning rate and when to evaluate: the same plans give the same training. The clock makes the
 * plans. */
#include "fit/fit.h"

#include <math.h>
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
    if (h.kind == HEED_STEPS && s->step_every) begin = step;
    if (h.kind == HEED_INVSQRT) begin = end - 1;
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

bool heed__fit_plan_first(heed__fitting *f, double step) {
    const heed__state *s = &f->state;
    double seconds = f->set.minutes * 60;
    const char *plan = heed_config_text(f->a->config, "plan");
    if (s->step == 0) {
        heed__plans_add(&f->plans, 0, heed__clock_left(&f->clock, 0, step, 0), false);
        return true;
    }
    if (*plan && !heed__plans_read(f->c, plan, s->steps, &f->plans)) return false;
    if (!*plan) heed__plans_add(&f->plans, 0, s->steps, false);
    if (s->seconds > 0) step = s->seconds / (double)s->step;
    return heed__plans_add(&f->plans, s->step, llround(fmin(1e12, fmax(1, seconds / step))),
                           true) ||
           heed_fail(f->c, HEED_USAGE, "too many plans; hint: `steps` instead of `minutes`");
}
