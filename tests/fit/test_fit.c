/* heed_train: learning, lengths, run directories, divergence. */
#include "fit/fit.h"
#include "fit_job.h"
#include "io/io.h"

/* ---- learning and reports ---- */

TEST(fit_learns_and_reports) {
    job j;
    job_open(&j, NULL, "steps=400 lr=0.02 batch=32 hidden=16", (heed_options){.threads = 2});
    job_fit(&j);
    CHECK(j.result.step == 400);
    CHECK(j.result.val_loss < 0.15);
    CHECK(j.result.best_loss <= j.result.val_loss);
    CHECK(j.result.metric > 0.93);
    CHECK(j.result.loss < 0.3);
    CHECK(j.count[HEED_FIT_START] == 1);
    CHECK(j.count[HEED_FIT_STEP] == 400);
    CHECK(j.count[HEED_FIT_EVAL] == 10);
    CHECK(j.count[HEED_FIT_SAVED] == 0);
    const heed_report *start = &j.last[HEED_FIT_START], *end = &j.last[HEED_FIT_EVAL];
    CHECK(start->steps == 400 && start->step == 0);
    CHECK(start->params == 2 * 16 + 16 + 16 * 2 + 2);
    CHECK(start->bytes >= start->params * 4 * sizeof(heed_real));
    CHECK(start->epoch_batches == 7);
    CHECK(end->step == 400 && end->self && end->store);
    CHECK_CLOSE(end->epoch, 400.0 / 7, 1e-9);
    CHECK(end->items_per_s > 0 && end->grad_norm > 0);
    CHECK(end->seconds_left == 0);
    CHECK(isnan(end->bits_per_byte));
    CHECK(j.last[HEED_FIT_STEP].lr < 1e-4); /* cosine has come down */
    CLOSE(j.c);
}

/* AdamW keeps two numbers for every parameter, SGD without momentum none. */
typedef struct {
    heed_memory memory;
    size_t params;
} footprint;

static footprint kept;
static void keep_footprint(void *user, const heed_report *r) {
    (void)user;
    if (r->memory) kept = (footprint){*r->memory, r->params};
}

TEST(fit_memory_counts_what_the_optimizer_keeps) {
    footprint m[2] = {0};
    for (int i = 0; i < 2; i++) {
        job j;
        job_open(&j, NULL, i ? "steps=2 optimizer=adamw" : "steps=2 optimizer=sgd",
                 (heed_options){.threads = 1});
        j.args.report = keep_footprint;
        job_fit(&j);
        m[i] = kept;
        CLOSE(j.c);
    }
    size_t numbers = m[0].params * sizeof(heed_real);
    CHECK(numbers > 0 && m[1].memory.optimizer == m[0].memory.optimizer + 2 * numbers);
    CHECK(m[1].memory.weights == m[0].memory.weights && m[0].memory.weights >= numbers);
}

/* The rate of the update that led to a step: warm-up over 4 steps, then down to 0.005 at step 12.
 */
static double rate_of(int64_t step) {
    if (step <= 4) return step ? 0.02 * (double)step / 4 : 0.02;
    return 0.02 - 0.015 * (double)(step - 1 - 4) / 8;
}

static void check_rate(void *user, const heed_report *r) {
    job *j = user;
    j->count[r->event]++;
    CHECK_CLOSE(r->lr, rate_of(r->step), 1e-8);
}

TEST(fit_reports_the_rate_of_each_step) {
    job j;
    job_open(&j, "run",
             "steps=12 warmup=4 schedule=linear lr=0.02 lr-min=0.005 eval-every=3 "
             "log-every=1",
             (heed_options){.threads = 1});
    j.args.report = check_rate;
    job_fit(&j);
    CHECK(j.count[HEED_FIT_STEP] == 12 && j.count[HEED_FIT_EVAL] == 4);
    CHECK(j.count[HEED_FIT_START] == 1 && j.count[HEED_FIT_SAVED] > 0);
    size_t n;
    char *csv = slurp("run", "metrics.csv", &n), *line = csv ? strtok(csv, "\n") : NULL;
    int rows = 0;
    for (; (line = strtok(NULL, "\n")); rows++) {
        const char *field = line;
        for (int commas = 0; *field && commas < 5; field++) commas += *field == ',';
        CHECK_CLOSE(atof(field), rate_of(atoi(line)), 1e-7);
    }
    CHECK(rows == 12 + 4);
    free(csv);
    CLOSE(j.c);
}

TEST(fit_every_optimizer_and_schedule) {
    static const char *const schedules[] = {"constant", "cosine", "linear", "invsqrt", "step"};
    int i = 0;
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++, i++) {
        char settings[128];
        const char *state = (*r)->prefix ? (*r)->prefix : (*r)->name;
        snprintf(settings, sizeof settings, "steps=150 optimizer=%s lr=%s schedule=%s", (*r)->name,
                 !strcmp(state, "sgd")        ? "0.8"
                 : !strcmp(state, "momentum") ? "0.1"
                                              : "0.02",
                 schedules[i % 5]);
        job j;
        job_open(&j, NULL, settings, (heed_options){.threads = 1});
        job_fit(&j);
        if (!(j.result.val_loss < 0.6))
            test_fail(__FILE__, __LINE__, "%s: validation loss %g", settings, j.result.val_loss);
        CLOSE(j.c);
    }
}

TEST(fit_length) {
    job j;
    job_open(&j, NULL, "epochs=3 steps=50 accumulate=2", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.result.step == 11); /* 3 epochs of 7 batches, 2 a step */
    CHECK(heed_config_int(j.args.config, "steps") == 11);
    CHECK(heed_config_real(j.args.config, "epochs") == 0);
    CLOSE(j.c);
    job_open(&j, NULL, "optimizer=gd epochs=5", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.result.step == 5);
    CLOSE(j.c);
    job_open(&j, NULL, "", (heed_options){.threads = 1});
    heed_config_set(j.args.config, "steps", "5", "--steps", HEED_FROM_FLAG);
    heed_config_set(j.args.config, "epochs", "5", "--epochs", HEED_FROM_FLAG);
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(j.c), "`epochs`");
    heed_close(j.c);
}

/* Gradient descent sees the same batches in every step, all of them. */
TEST(fit_gradient_descent_is_full_batch) {
    job a, b;
    job_open(&a, "gd", "steps=5 optimizer=gd lr=0.5 batch=8", (heed_options){.threads = 1});
    a.data.per_step = 8;
    a.data.epoch = 4;
    job_fit(&a);
    job_open(&b, "whole", "steps=1 optimizer=sgd lr=0.5 batch=32 warmup=0 schedule=constant",
             (heed_options){.threads = 1});
    job_fit(&b);
    CHECK(a.last[HEED_FIT_START].epoch_batches == 4);
    CHECK_CLOSE(a.last[HEED_FIT_STEP].epoch, 5, 1e-9);
    CLOSE(a.c);
    job_open(&a, "gd1", "steps=1 optimizer=gd lr=0.5 batch=8 warmup=0 schedule=constant",
             (heed_options){.threads = 1});
    a.data.per_step = 8;
    a.data.epoch = 4;
    a.data.evals = 16;
    job_fit(&a);
    CHECK_CLOSE(a.result.loss, b.result.loss, 1e-6);
    CHECK_CLOSE(a.result.val_loss, b.result.val_loss, 1e-6);
    CLOSE(a.c);
    CLOSE(b.c);
}

TEST(fit_accumulates) {
    job a, b;
    job_open(&a, NULL, "steps=20 batch=32 lr=0.01 clip=0.1", (heed_options){.threads = 1});
    job_open(&b, NULL, "steps=20 batch=8 accumulate=4 lr=0.01 clip=0.1",
             (heed_options){.threads = 1});
    a.data.evals = b.data.evals = 0;
    job_fit(&a);
    job_fit(&b);
    CHECK_CLOSE(a.result.loss, b.result.loss, 1e-5);
    CHECK_CLOSE(a.last[HEED_FIT_STEP].loss, b.last[HEED_FIT_STEP].loss, 1e-5);
    CHECK_CLOSE(a.last[HEED_FIT_STEP].grad_norm, b.last[HEED_FIT_STEP].grad_norm, 1e-4);
    CHECK(isnan(a.result.val_loss));
    CHECK_CLOSE(a.result.best_loss, a.result.loss, 0.2); /* the training loss judges */
    CLOSE(a.c);
    CLOSE(b.c);
}

TEST(fit_evaluates_what_there_is) {
    job j;
    job_open(&j, NULL, "steps=10", (heed_options){.threads = 1});
    j.open.no_val = true;
    job_fit(&j);
    CHECK(isnan(j.result.val_loss) && isnan(j.last[HEED_FIT_EVAL].val_loss));
    CHECK(isfinite(j.result.best_loss) && j.result.best_loss <= j.result.loss);
    CLOSE(j.c);
    job_open(&j, NULL, "steps=10 eval-batches=3", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(isfinite(j.result.val_loss));
    CHECK_HAS(j.notes, "3 of the 4 validation batches");
    CHECK(j.data.samples >= 30 && j.data.others == 0);
    CLOSE(j.c);
    job_open(&j, NULL, "steps=10 eval-batches=4", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.data.samples == 0 && j.data.others >= 40 && !strstr(j.notes, "batches"));
    CLOSE(j.c);
}

TEST(fit_stops_early) {
    job j;
    job_open(&j, "early",
             "steps=1000 lr=0.5 clip=0 warmup=0 schedule=constant eval-every=5 patience=3",
             (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.result.step < 1000);
    CHECK(j.result.step % 5 == 0);
    CHECK_HAS(j.notes, "stopped early");
    CLOSE(j.c);
    int64_t step = j.result.step;
    job_open_resume(&j, "early", "", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.count[HEED_FIT_STEP] == 0); /* it is finished */
    CHECK(j.result.step == step);
    CLOSE(j.c);
}

TEST(fit_freezes_and_scales) {
    job j;
    job_open(&j, "frozen", "steps=20 freeze=hidden.* lr-scale=head.bias=0",
             (heed_options){.threads = 1});
    job_fit(&j);
    CLOSE(j.c);
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = 1});
    heed_run *r = heed_run_open(c, j.run, tiny_models, "last");
    heed_params *s = heed_params_new(c);
    tiny fresh = {0};
    CHECK(r && tiny_init(&fresh, s, r->config));
    for (int i = 0; r && i < heed_params_count(s); i++) {
        const heed_param *was = heed_params_at(s, i), *is = heed_params_find(r->store, was->name);
        bool same =
            memcmp(was->tensor->x, is->tensor->x, was->tensor->size * sizeof(heed_real)) == 0;
        CHECK(same == (strcmp(was->name, "head.weight") != 0));
    }
    CLOSE(c);
    job_open(&j, NULL, "steps=20 freeze=nothing.*", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(j.c), "nothing.*");
    heed_close(j.c);
    job_open(&j, NULL, "steps=20 lr-scale=head.*=fast", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK_HAS(heed_ctx_error(j.c), "head.*=fast");
    heed_close(j.c);
}

/* ---- run directories ---- */

TEST(fit_writes_a_run) {
    train_run("run", "steps=30 dropout=0.1");
    CHECK(exists("run", "config.conf") && exists("run", "model.safetensors"));
    CHECK(exists("run", "last/model.safetensors") && exists("run", "last/optimizer.safetensors"));
    CHECK(exists("run", "last/state.json") && exists("run", "train.log"));
    CHECK(!exists("run", "last.new") && !exists("run", "last.old"));
    CHECK(!exists("run", "last/best.safetensors"));
    size_t n;
    char *csv = slurp("run", "metrics.csv", &n), *log = slurp("run", "train.log", &n);
    CHECK(strncmp(csv, "step,epoch,split,loss,metric,lr,grad_norm,items_per_s,seconds\n", 62) == 0);
    int rows = 0, vals = 0, trains = 0;
    for (char *line = strtok(csv, "\n"); line; line = strtok(NULL, "\n")) {
        int commas = 0;
        for (const char *s = line; *s; s++) commas += *s == ',';
        CHECK(commas == 8);
        rows++;
        vals += strstr(line, ",val,") != NULL;
        trains += strstr(line, ",train,") != NULL;
    }
    CHECK(vals == 10 && trains == 30 && rows == 41);
    CHECK_HAS(log, "start");
    CHECK_HAS(log, "step 30 of 30: evaluation, loss ");
    CHECK_HAS(log, "step 30 of 30: saved");
    free(csv);
    free(log);
}

TEST(fit_config_reproduces_the_run) {
    train_run("first", "steps=25 dropout=0.2 lr=0.01 optimizer=nesterov accumulate=2 batch=16");
    job j;
    char path[256];
    job_open(&j, "second", "", (heed_options){.threads = 1});
    heed__config_read(j.args.config, path_of(path, "first", "config.conf"), HEED_FROM_FILE);
    job_fit(&j);
    CLOSE(j.c);
    CHECK(same_run("first", "second"));
    CHECK(equal_files("first", "second", "config.conf"));
}

TEST(fit_refuses_an_existing_run) {
    train_run("run", "steps=5");
    spill("run", "mine.txt", "mine", 4);
    job j;
    job_open(&j, "run", "steps=7", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(j.c), "`force`");
    heed_clear(j.c);
    j.args.force = true;
    job_fit(&j);
    CHECK(j.result.step == 7);
    CLOSE(j.c);
    CHECK(exists("run", "mine.txt"));
    size_t n;
    char *csv = slurp("run", "metrics.csv", &n);
    CHECK(csv && !strstr(csv, "\n8,") && strstr(csv, "\n7,"));
    free(csv);
}

TEST(fit_writes_nothing_before_all_is_checked) {
    job j;
    job_open(&j, "none", "steps=5", (heed_options){.threads = 1});
    j.data.poison = 0;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_DIVERGED);
    CHECK(!exists("none", ""));
    heed_close(j.c);
}

/* ---- divergence ---- */

TEST(fit_stops_before_an_update_that_is_not_finite) {
    job j;
    job_open(&j, "run", "steps=30 eval-every=5", (heed_options){.threads = 1});
    j.data.poison = 12;
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_DIVERGED);
    CHECK(j.result.step == 12);
    CHECK_HAS(heed_ctx_error(j.c), "step 13: output of hidden:");
    CHECK_HAS(heed_ctx_error(j.c), "found nan");
    CHECK_HAS(heed_ctx_error(j.c), "`resume ");
    heed_close(j.c);
    size_t n;
    char *log = slurp("run", "train.log", &n);
    CHECK_HAS(log, "diverged at step 13");
    free(log);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, j.run, tiny_models, "last");
    CHECK(r && r->step == 10);
    CLOSE(c);
    /* without the poison it goes on to where it would have come */
    resume_run("run");
    train_run("whole", "steps=30 eval-every=5");
    CHECK(same_run("run", "whole"));
}

TEST(fit_names_the_gradient_that_diverged) {
    job j;
    job_open(&j, NULL, "steps=30", (heed_options){.threads = 1});
    j.data.poison = 12;
    j.data.bad = (heed_real)INFINITY; /* tanh makes the loss finite, not the gradient */
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_DIVERGED);
    CHECK_HAS(heed_ctx_error(j.c), "step 13");
    CHECK_HAS(heed_ctx_error(j.c), "gradient of hidden.weight");
    CHECK(j.result.step == 12);
    heed_close(j.c);
}

TEST(fit_names_the_weight_that_diverged) {
    job j;
    job_open(&j, "run", "steps=50 optimizer=sgd lr=1000000 clip=0 warmup=0 freeze=hidden.*",
             (heed_options){.threads = 1});
    heed_config_set(j.args.config, "lr-scale", "head.weight=1000000", "test", HEED_FROM_FLAG);
    heed_config_set(j.args.config, "decay", "1000000", "test", HEED_FROM_FLAG);
    job_fit(&j);
    CHECK(heed_ctx_status(j.c) == HEED_DIVERGED);
    CHECK_HAS(heed_ctx_error(j.c), "head.weight");
    CHECK_HAS(heed_ctx_error(j.c), "/run` with `lr = 0.001` continues from the"); /* the default */
    heed_close(j.c);
}

TEST(fit_machine_has_a_load) {
    double load;
    int cpus;
    bool oversubscribed = heed_cpu_oversubscribed(&load, &cpus);
    CHECK(cpus >= 1 && load < 1e5 && !(oversubscribed && load < cpus));
}

/* ---- parameters without a gradient ---- */

static bool init_with_spare(void *self, heed_params *s, const void *f) {
    heed_param_new(s, "spare", "one", 1, (int[]){2});
    return tiny_init(self, s, f);
}

static void count_warnings(void *user, heed_level level, const char *message) {
    if (level == HEED_WARN && strstr(message, "spare gets no gradient")) ++*(int *)user;
}

TEST(fit_reports_a_parameter_without_gradient_once) {
    int count = 0;
    heed_model spare = tiny_model;
    spare.init = init_with_spare;
    job j;
    job_open(&j, NULL, "steps=3",
             (heed_options){.threads = 1, .log = count_warnings, .user = &count});
    j.args.model = &spare;
    job_fit(&j);
    CLOSE(j.c);
    CHECK(count == 1);
}
