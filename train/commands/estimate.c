/* estimate.c -- heed train --estimate: what a training run will take, from a few steps of it, of
 * which nothing is kept. */
#include "kinds/answers.h"

#include <math.h>

/* Fresh memory makes the first two steps and the first evaluation slower, but those that take long
 * by at most a little: they are timed. */
enum { FIRST = 2, MOST = 20 };
static const double LONG = 3; /* seconds */

/* What was measured. */
typedef struct {
    double step, evaluations, evaluation; /* seconds of a step; how many there are, and of one */
    size_t copied;                        /* bytes of inputs that become a file of the run */
} estimate;

/* The number of evaluations, and the seconds of each, from one batch. */
static void time_evaluation(const heed_train_args *a, heed_training *t, estimate *e) {
    const heed_run *net = heed_train_net(t);
    const heed_config *f = a->config;
    int rows = (int)heed_config_int(f, "batch");
    uint64_t limit = (uint64_t)heed_config_int(f, "eval-batches"), batches = 0;
    if (!a->opened->no_val) batches = heed_model_eval_batches(a->model, net->self, a->opened, rows);
    if (limit && limit < batches) batches = limit;
    heed_score score = {0};
    for (int i = 0; i < 2 && batches && e->evaluation < LONG; i++) {
        double start = now();
        heed_evaluate_batch(net->tape, a->model, net->self, a->opened,
                            (heed_batch_at){.rows = rows}, NULL, &score);
        e->evaluation = now() - start;
    }
    e->evaluation *= (double)batches;
    double every = (double)heed_config_int(f, "eval-every");
    double steps = (double)heed_train_report(t).steps;
    if (every <= 0) every = ceil(steps / (double)heed_config_int(f, "evals"));
    e->evaluations = ceil(steps / every);
}

/* The seconds of a step. */
static double time_steps(heed_training *t) {
    int64_t steps = heed_train_report(t).steps, untimed = 0, done = 0;
    double start = now(), timed = 0;
    while (done < MOST && !(done > untimed && timed > LONG) && !was_interrupted(NULL) &&
           heed_train_step(t)) {
        done = heed_train_report(t).step;
        timed = now() - start;
        if (done > FIRST || steps <= FIRST || timed > LONG) continue;
        untimed = done;
        start = now();
    }
    return timed / fmax(1, (double)(done - untimed));
}

static void print_estimate(program *p, const heed_train_args *a, const heed_report *r,
                           const estimate *e) {
    enum { AT = 14 };
    char n1[32], n2[32], text[CHOICE_TEXT], hint[256];
    const heed_memory *m = r->memory;
    double seconds = (double)r->steps * e->step + e->evaluations * e->evaluation;
    double disk = 2 * (double)m->weights + (double)m->optimizer + (double)e->copied;
    if (flag_on(p, "json")) {
        print_json(p, json_pack("{s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:o}", "steps",
                                (json_int_t)r->steps, "step_seconds", e->step, "evaluations",
                                e->evaluations, "evaluation_seconds", e->evaluation, "seconds",
                                seconds, "parameters", (json_int_t)r->params, "memory",
                                (json_int_t)m->total, "disk", (json_int_t)disk, "chosen",
                                choices_json(&p->chosen)));
        return;
    }
    for (int i = 0; i < p->chosen.count; i++)
        print_fact(AT, i ? "" : "chosen", "%s", choice_text(&p->chosen.list[i], text));
    if (reads_pictures(p->model) && are_few(p->model, a->opened, a->config, hint))
        print_fact(AT, "note", "%s", hint);
    print_fact(AT, "time", "about %s with %d thread%s", heed_format_duration(n1, seconds),
               heed_threads(p->c), heed_threads(p->c) == 1 ? "" : "s");
    print_fact(AT, "steps", "%s, each %.3g %s", heed_format_count(n1, (uint64_t)r->steps),
               e->step < 1 ? 1e3 * e->step : e->step, e->step < 1 ? "ms" : "s");
    if (e->evaluation > 0)
        print_fact(AT, "evaluations", "%.0f, each %.3g s", e->evaluations, e->evaluation);
    print_fact(AT, "parameters", "%s", heed_format_count(n1, r->params));
    print_fact(AT, "memory", "%s, of which %s are the program and its data",
               heed_format_bytes(n1, (double)m->total), heed_format_bytes(n2, (double)m->before));
    print_fact(AT, "disk", "%s in the run: weights twice, %sthe state of the optimizer%s",
               heed_format_bytes(n1, disk), e->copied ? "" : "and ",
               e->copied ? ", and the data" : "");
}

void estimate_training(program *p, const heed_train_args *args, size_t copied) {
    heed_train_args a = *args;
    estimate e = {.copied = copied};
    char bytes[32];
    double start = now();
    a.run = NULL;
    a.report = NULL;
    heed_training *t = heed_train_new(p->c, &a);
    if (!t) return;
    if (now() - start > LONG) /* what is known before the steps is said if they will take long */
        heed_message(p->c, HEED_INFO, "training needs %s of memory; its steps are timed now",
                     heed_format_bytes(bytes, (double)heed_train_report(t).memory->total));
    time_evaluation(&a, t, &e);
    e.step = time_steps(t);
    heed_report r = heed_train_report(t);
    if (heed_ctx_status(p->c) == HEED_OK && !was_interrupted(NULL)) print_estimate(p, &a, &r, &e);
    heed_train_free(t);
}
