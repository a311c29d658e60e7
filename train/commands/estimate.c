/* estimate.c -- heed train --estimate: what a training run will take, from a few steps of it, of
 * which nothing is kept. */
#include "kinds/answers.h"

#include <math.h>

typedef struct {
    program *p;
    const heed_data *data;
    const heed_train_args *a;
    heed_memory memory;
    int64_t steps, done, untimed;   /* untimed: the first ones of those done */
    size_t params, copied;          /* copied: bytes of inputs that become a file of the run */
    uint64_t eval_batches;          /* in an evaluation */
    double start, timed, eval_time; /* from the end of the untimed steps; seconds of one batch */
} estimate;

/* Fresh memory makes the first two steps and the first evaluation slower, but those that take long
 * by at most a little: they are timed. */
enum { FIRST = 2, MOST = 20 };
static const double LONG = 3; /* seconds */

/* The seconds of one evaluation batch. */
static double time_evaluation(const estimate *e, void *self) {
    heed_score score = {0};
    heed_tape *t = heed_tape_new(e->p->c);
    int rows = (int)heed_config_int(e->a->config, "batch");
    double took = 0;
    for (int i = 0; i < 2 && took < LONG; i++) {
        double start = now();
        heed_evaluate_batch(t, e->a->model, self, e->data, (heed_batch_at){.rows = rows}, NULL,
                            &score);
        took = now() - start;
    }
    heed_tape_free(t);
    return took;
}

/* What is known before the steps is said if they will take long. */
static void say_memory(const estimate *e) {
    char bytes[32];
    if (now() - e->start > LONG)
        heed_message(e->p->c, HEED_INFO, "training needs %s of memory; its steps are timed now",
                     heed_format_bytes(bytes, (double)e->memory.total));
}

static void on_report(void *user, const heed_report *r) {
    estimate *e = user;
    e->steps = r->steps;
    if (r->event == HEED_FIT_START) {
        e->memory = *r->memory;
        e->params = r->params;
        say_memory(e);
        uint64_t limit = (uint64_t)heed_config_int(e->a->config, "eval-batches");
        uint64_t all = e->data->no_val
                           ? 0
                           : heed_model_eval_batches(e->a->model, r->self, e->data,
                                                     (int)heed_config_int(e->a->config, "batch"));
        e->eval_batches = limit && limit < all ? limit : all;
        if (e->eval_batches) e->eval_time = time_evaluation(e, r->self);
        e->start = now();
    }
    if (r->event != HEED_FIT_STEP) return;
    e->done = r->step;
    e->timed = now() - e->start;
    if (e->done > FIRST || e->steps <= FIRST || e->timed > LONG) return;
    e->untimed = e->done;
    e->start = now();
}

static bool enough(void *user) {
    const estimate *e = user;
    return was_interrupted(NULL) || e->done >= MOST || (e->done > e->untimed && e->timed > LONG);
}

static double evaluations(const estimate *e) {
    double every = (double)heed_config_int(e->a->config, "eval-every"), steps = (double)e->steps;
    if (every <= 0) every = ceil(steps / (double)heed_config_int(e->a->config, "evals"));
    return ceil(steps / every);
}

static void print_estimate(const estimate *e, double step, double evals, double evaluation) {
    enum { AT = 14 };
    program *p = e->p;
    char n1[32], n2[32], text[CHOICE_TEXT], hint[256];
    double seconds = (double)e->steps * step + evals * evaluation;
    double disk = 2 * (double)e->memory.weights + (double)e->memory.optimizer + (double)e->copied;
    if (flag_on(p, "json")) {
        print_json(p, json_pack("{s:I, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:o}", "steps",
                                (json_int_t)e->steps, "step_seconds", step, "evaluations", evals,
                                "evaluation_seconds", evaluation, "seconds", seconds, "parameters",
                                (json_int_t)e->params, "memory", (json_int_t)e->memory.total,
                                "disk", (json_int_t)disk, "chosen", choices_json(&p->chosen)));
        return;
    }
    for (int i = 0; i < p->chosen.count; i++)
        print_fact(AT, i ? "" : "chosen", "%s", choice_text(&p->chosen.list[i], text));
    if (reads_pictures(p->model) && are_few(p->model, e->data, e->a->config, hint))
        print_fact(AT, "note", "%s", hint);
    print_fact(AT, "time", "about %s with %d thread%s", heed_format_duration(n1, seconds),
               heed_threads(p->c), heed_threads(p->c) == 1 ? "" : "s");
    print_fact(AT, "steps", "%s, each %.3g %s", heed_format_count(n1, (uint64_t)e->steps),
               step < 1 ? 1e3 * step : step, step < 1 ? "ms" : "s");
    if (evaluation > 0) print_fact(AT, "evaluations", "%.0f, each %.3g s", evals, evaluation);
    print_fact(AT, "parameters", "%s", heed_format_count(n1, e->params));
    print_fact(AT, "memory", "%s, of which %s are the program and its data",
               heed_format_bytes(n1, (double)e->memory.total),
               heed_format_bytes(n2, (double)e->memory.before));
    print_fact(AT, "disk", "%s in the run: weights twice, %sthe state of the optimizer%s",
               heed_format_bytes(n1, disk), e->copied ? "" : "and ",
               e->copied ? ", and the data" : "");
}

void estimate_training(program *p, const heed_train_args *args, size_t copied) {
    heed_train_args a = *args;
    estimate e = {.p = p, .data = args->opened, .a = args, .copied = copied, .start = now()};
    a.run = NULL;
    a.report = on_report;
    a.stop = enough;
    a.user = &e;
    heed_train(p->c, &a);
    if (heed_ctx_status(p->c) == HEED_INTERRUPTED && !was_interrupted(NULL)) heed_clear(p->c);
    if (heed_ctx_status(p->c) != HEED_OK) return;
    print_estimate(&e, e.timed / fmax(1, (double)(e.done - e.untimed)), evaluations(&e),
                   (double)e.eval_batches * e.eval_time);
}
