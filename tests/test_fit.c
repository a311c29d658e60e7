#define _GNU_SOURCE /* fork, setrlimit, syscall */
#include "test.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a model of two layers that learns XOR of two signs, with noise ---- */

typedef struct {
    heed_linear hidden, head;
    heed_drop drop;
    heed_tensor *logits, *loss;
} tiny;

/* The data: a batch is a function of its place. */
typedef struct {
    uint64_t seed;
    int per_step;   /* examples that one step sees, by whatever micro-batches */
    int64_t poison; /* in this step an input is `bad`; -1: never */
    heed_real bad;
    uint64_t evals, epoch;
    heed_real x[512];
    int32_t labels[256];
} points;

static const heed_option tiny_options[] = {
    {"hidden", HEED_INT, "16", 1, 64, NULL, "hidden width", "Model"},
    {"dropout", HEED_REAL, "0", 0, 0.9, NULL, "of the hidden layer", "Model"},
    {0}};
static const heed_option program_options[] = {
    {"data", HEED_TEXT, "", 0, 0, NULL, "of the program", "Program"}, {0}};

static bool tiny_init(void *self, heed_store *s, const heed_config *f) {
    tiny *m = self;
    int hidden = (int)heed_config_int(f, "hidden");
    heed_linear_init(&m->hidden, s, "hidden", (heed_linear_args){.in = 2, .out = hidden});
    heed_drop_init(&m->drop, s, "drop", (heed_real)heed_config_real(f, "dropout"));
    heed_linear_init(&m->head, s, "head", (heed_linear_args){.in = hidden, .out = 2});
    return heed_state(heed_store_ctx(s)) == HEED_OK;
}

static bool tiny_batch(void *self, void *data, heed_batch_at at, heed_batch *out) {
    (void)self;
    points *p = data;
    uint64_t from = at.val ? 1000000 + at.index * (uint64_t)at.rows
                           : at.index * (uint64_t)p->per_step + at.micro * (uint64_t)at.rows;
    heed_random r = heed_random_at(p->seed, "points", 0, 0);
    for (int i = 0; i < at.rows; i++) {
        uint64_t n = (from + (uint64_t)i) * 2;
        double a = 2 * heed_random_uniform(&r, n) - 1, b = 2 * heed_random_uniform(&r, n + 1) - 1;
        p->x[2 * i] = (heed_real)a;
        p->x[2 * i + 1] = (heed_real)b;
        p->labels[i] = (a > 0) != (b > 0);
    }
    if (!at.val && (int64_t)at.index == p->poison) p->x[0] = p->bad;
    *out = (heed_batch){.rows = at.rows, .len = 2, .x = p->x, .labels = p->labels};
    out->items = (size_t)at.rows;
    return true;
}

static uint64_t tiny_evals(void *self, void *data, int rows) {
    (void)self, (void)rows;
    return ((points *)data)->evals;
}
static uint64_t tiny_epoch(void *self, void *data, int rows) {
    (void)self, (void)rows;
    return ((points *)data)->epoch;
}

static heed_tensor *tiny_loss(void *self, heed_tape *t, const heed_batch *b) {
    tiny *m = self;
    heed_tensor *x = heed_input(t, b->x, 2, (int[]){b->rows, 2});
    x = heed_drop_apply(&m->drop, t, heed_linear_act(&m->hidden, t, x, HEED_TANH));
    m->logits = heed_linear_apply(&m->head, t, x);
    m->loss = heed_xent(t, m->logits, heed_input_ids(t, b->labels, 1, &b->rows), NULL);
    return m->loss;
}

static void tiny_metrics(void *self, const heed_batch *b, heed_score *s) {
    const tiny *m = self;
    for (int i = 0; i < b->rows; i++) {
        const heed_real *y = m->logits->x + 2 * i;
        s->right += (y[1] > y[0]) == b->labels[i];
    }
    s->judged += b->rows;
    s->loss += (double)m->loss->x[0] * b->rows;
    s->weight += b->rows;
}

static const heed_model tiny_model = {.name = "tiny",
                                      .help = "XOR",
                                      .options = tiny_options,
                                      .size = sizeof(tiny),
                                      .init = tiny_init,
                                      .batch = tiny_batch,
                                      .evals = tiny_evals,
                                      .epoch = tiny_epoch,
                                      .loss = tiny_loss,
                                      .metrics = tiny_metrics};
static const heed_model *const models[] = {&tiny_model, NULL};
static const heed_option *const tables[] = {tiny_options, heed_fit_options, program_options, NULL};

/* ---- a training, set up by words ---- */

typedef struct {
    heed_ctx *c;
    points data;
    heed_fit_args args;
    heed_fit_result result;
    int count[5]; /* of events */
    heed_report last[5];
    int64_t stop_at; /* step after which to stop; 0: never */
    char notes[2048], run[128];
} job;

static void on_report(void *user, const heed_report *r) {
    job *j = user;
    j->count[r->event]++;
    j->last[r->event] = *r;
    size_t n = strlen(j->notes);
    if (r->event == HEED_FIT_NOTE) snprintf(j->notes + n, sizeof j->notes - n, "%s\n", r->note);
}

static bool on_stop(void *user) {
    job *j = user;
    return j->stop_at && j->last[HEED_FIT_STEP].step >= j->stop_at;
}

/* settings: "steps=40 batch=8". run: NULL, or a name in the test's folder. */
static void job_open(job *j, const char *run, const char *settings, heed_options o) {
    *j = (job){.data = {.seed = 5,
                        .per_step = 32,
                        .poison = -1,
                        .bad = (heed_real)NAN,
                        .evals = 4,
                        .epoch = 7}};
    if (!o.seed) o.seed = 1;
    j->c = heed_open(&o);
    heed_config *f = heed_config_new(j->c, tables);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *s = strtok(copy, " "); s; s = strtok(NULL, " ")) {
        char *value = strchr(s, '=');
        *value++ = 0;
        heed_config_set(f, s, value, s, HEED_FROM_FILE);
    }
    snprintf(j->run, sizeof j->run, "%s/%s", test_folder(), run ? run : "");
    j->args = (heed_fit_args){.model = &tiny_model,
                              .config = f,
                              .data = &j->data,
                              .data_checksum = 77,
                              .run = run ? j->run : NULL,
                              .report = on_report,
                              .stop = on_stop};
}

static void job_fit(job *j) {
    j->args.user = j;
    j->result = heed_fit(j->c, &j->args);
}

/* The run's own settings, as `heed resume` reads them. */
static void job_open_resume(job *j, const char *run, const char *settings, heed_options o) {
    char path[192];
    job_open(j, run, settings, o);
    snprintf(path, sizeof path, "%s/config.conf", j->run);
    heed_config_read(j->args.config, path, HEED_FROM_PRESET);
    j->args.resume = true;
}

static void train(const char *run, const char *settings) {
    job j;
    job_open(&j, run, settings, (heed_options){.threads = 1});
    job_fit(&j);
    CLOSE(j.c);
}

static void resume(const char *run) {
    job j;
    job_open_resume(&j, run, "", (heed_options){.threads = 1});
    job_fit(&j);
    CLOSE(j.c);
}

/* ---- files ---- */

static char *path_of(char path[256], const char *run, const char *name) {
    snprintf(path, 256, "%s/%s/%s", test_folder(), run, name);
    return path;
}

static bool exists(const char *run, const char *name) {
    char path[256];
    return access(path_of(path, run, name), F_OK) == 0;
}

/* A whole file, to be freed; NULL if absent. */
static char *slurp(const char *run, const char *name, size_t *n) {
    char path[256];
    FILE *f = fopen(path_of(path, run, name), "rb");
    *n = 0;
    if (!f) return NULL;
    char *data = malloc(1 << 20);
    *n = fread(data, 1, (1 << 20) - 1, f);
    data[*n] = 0;
    fclose(f);
    return data;
}

static void spill(const char *run, const char *name, const char *data, size_t n) {
    char path[256];
    FILE *f = fopen(path_of(path, run, name), "wb");
    CHECK(f && fwrite(data, 1, n, f) == n && fclose(f) == 0);
}

static bool same_file(const char *a, const char *b, const char *name) {
    size_t n, m;
    char *x = slurp(a, name, &n), *y = slurp(b, name, &m);
    bool same = x && y && n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

/* metrics.csv without its last two columns, which tell of time. */
static char *metrics_of(const char *run) {
    size_t n;
    char *text = slurp(run, "metrics.csv", &n), *out = text, *line = text;
    while (line && *line) {
        char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
        for (int commas = 0; end > line && commas < 2;) commas += *--end == ',';
        memmove(out, line, (size_t)(end - line));
        out += end - line;
        *out++ = '\n';
        line = next;
    }
    if (out) *out = 0;
    return text;
}

static bool same_run(const char *a, const char *b) {
    char *x = metrics_of(a), *y = metrics_of(b);
    bool same = x && y && strcmp(x, y) == 0 && same_file(a, b, "model.safetensors") &&
                same_file(a, b, "last/model.safetensors") &&
                same_file(a, b, "last/optimizer.safetensors");
    free(x);
    free(y);
    return same;
}

static void command(const char *format, ...) {
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    CHECK(system(line) == 0);
}

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

TEST(fit_every_optimizer_and_schedule) {
    static const char *const names[] = {"gd",      "sgd",  "momentum", "nesterov",
                                        "rmsprop", "adam", "adamw"};
    static const char *const schedules[] = {"constant", "cosine", "linear", "invsqrt", "step"};
    for (int i = 0; i < 7; i++) {
        char settings[128];
        bool adaptive = i >= 4;
        snprintf(settings, sizeof settings, "steps=150 optimizer=%s lr=%s schedule=%s", names[i],
                 adaptive ? "0.02"
                 : i < 2  ? "0.8"
                          : "0.1",
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
    CHECK(heed_state(j.c) == HEED_USAGE);
    CHECK_HAS(heed_why(j.c), "--epochs");
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

TEST(fit_minutes_becomes_steps) {
    job j;
    job_open(&j, "timed", "minutes=0.02 log-every=1000000", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.result.step > 1);
    CHECK(heed_config_int(j.args.config, "steps") == j.result.step);
    CHECK(j.last[HEED_FIT_START].steps == j.result.step);
    CHECK_HAS(j.notes, "--steps");
    CLOSE(j.c);
    size_t n;
    char *text = slurp("timed", "config.conf", &n);
    CHECK_HAS(text, "\nsteps = ");
    CHECK_HAS(text, "minutes = 0\n");
    spill(".", "again.conf", text, n);
    free(text);
    /* the settings of the timed run give it again */
    job_open(&j, "again", "", (heed_options){.threads = 1});
    char path[256];
    heed_config_read(j.args.config, path_of(path, ".", "again.conf"), HEED_FROM_FILE);
    job_fit(&j);
    CLOSE(j.c);
    CHECK(same_run("timed", "again"));
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
    heed_run *r = heed_run_open(c, j.run, models, "last");
    heed_store *s = heed_store_new(c);
    tiny fresh = {0};
    CHECK(r && tiny_init(&fresh, s, r->config));
    for (int i = 0; r && i < heed_store_count(s); i++) {
        const heed_entry *was = heed_store_at(s, i), *is = heed_store_find(r->store, was->name);
        bool same =
            memcmp(was->tensor->x, is->tensor->x, was->tensor->size * sizeof(heed_real)) == 0;
        CHECK(same == (strcmp(was->name, "head.weight") != 0));
    }
    CLOSE(c);
    job_open(&j, NULL, "steps=20 freeze=nothing.*", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(heed_state(j.c) == HEED_USAGE);
    CHECK_HAS(heed_why(j.c), "nothing.*");
    heed_close(j.c);
    job_open(&j, NULL, "steps=20 lr-scale=head.*=fast", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK_HAS(heed_why(j.c), "head.*=fast");
    heed_close(j.c);
}

/* ---- run directories ---- */

TEST(fit_writes_a_run) {
    train("run", "steps=30 dropout=0.1");
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
    train("first", "steps=25 dropout=0.2 lr=0.01 optimizer=nesterov accumulate=2 batch=16");
    job j;
    char path[256];
    job_open(&j, "second", "", (heed_options){.threads = 1});
    heed_config_read(j.args.config, path_of(path, "first", "config.conf"), HEED_FROM_FILE);
    job_fit(&j);
    CLOSE(j.c);
    CHECK(same_run("first", "second"));
    CHECK(same_file("first", "second", "config.conf"));
}

TEST(fit_refuses_an_existing_run) {
    train("run", "steps=5");
    spill("run", "mine.txt", "mine", 4);
    job j;
    job_open(&j, "run", "steps=7", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(heed_state(j.c) == HEED_USAGE);
    CHECK_HAS(heed_why(j.c), "--force");
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
    CHECK(heed_state(j.c) == HEED_DIVERGED);
    CHECK(!exists("none", ""));
    heed_close(j.c);
}

/* ---- resume ---- */

static void split_run(const char *run, const char *settings, int64_t at, int threads) {
    job j;
    job_open(&j, run, settings, (heed_options){.threads = 1});
    j.stop_at = at;
    job_fit(&j);
    CHECK(heed_state(j.c) == HEED_INTERRUPTED);
    CHECK(j.result.step == at);
    CHECK_HAS(heed_why(j.c), "heed resume");
    heed_close(j.c);
    job_open_resume(&j, run, "", (heed_options){.threads = threads});
    job_fit(&j);
    CHECK(j.result.step > at);
    CLOSE(j.c);
}

TEST(fit_resume_is_exact) {
    static const char settings[] =
        "steps=40 dropout=0.2 lr=0.02 eval-every=8 save-every=3 log-every=5 accumulate=2 batch=16";
    train("whole", settings);
    for (int at = 1; at < 40; at += 7) { /* 8 among them: an evaluation was due */
        char run[16];
        snprintf(run, sizeof run, "at%d", at);
        split_run(run, settings, at, at % 3 + 1);
        if (!same_run("whole", run)) test_fail(__FILE__, __LINE__, "stopped at %d", at);
    }
    split_run("last", settings, 24, 2);
    CHECK(same_run("whole", "last"));
}

TEST(fit_resume_of_every_optimizer) {
    static const char *const names[] = {"gd",      "sgd",  "momentum", "nesterov",
                                        "rmsprop", "adam", "adamw"};
    for (int i = 0; i < 7; i++) {
        char settings[64], whole[16], split[16];
        snprintf(settings, sizeof settings, "steps=12 optimizer=%s", names[i]);
        snprintf(whole, sizeof whole, "whole%d", i);
        snprintf(split, sizeof split, "split%d", i);
        train(whole, settings);
        split_run(split, settings, 5, 1);
        if (!same_run(whole, split)) test_fail(__FILE__, __LINE__, "%s", names[i]);
    }
}

TEST(fit_resume_of_a_finished_run_changes_nothing) {
    train("run", "steps=10");
    command("cp -rp %s/run %s/copy", test_folder(), test_folder());
    job j;
    job_open_resume(&j, "run", "", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.count[HEED_FIT_STEP] == 0 && j.count[HEED_FIT_SAVED] == 0);
    CHECK(j.result.step == 10 && isfinite(j.result.val_loss) && isfinite(j.result.best_loss));
    CHECK_HAS(j.notes, "finished");
    CLOSE(j.c);
    command("diff -r %s/run %s/copy", test_folder(), test_folder());
}

TEST(fit_resume_with_more_steps) {
    train("run", "steps=10");
    job j;
    job_open_resume(&j, "run", "steps=20", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.result.step == 20 && j.count[HEED_FIT_STEP] == 10);
    CHECK_HAS(j.notes, "steps are now 20, not 10");
    CLOSE(j.c);
    size_t n;
    char *text = slurp("run", "config.conf", &n);
    CHECK_HAS(text, "\nsteps = 20\n");
    free(text);
    resume("run");
}

TEST(fit_resume_refuses_what_has_changed) {
    train("run", "steps=10");
    static const char *const parts[] = {"data", "tokenizer", "seed"};
    for (int i = 0; i < 3; i++) {
        job j;
        job_open_resume(&j, "run", i == 2 ? "steps=20 seed=9" : "steps=20",
                        (heed_options){.threads = 1, .seed = i == 2 ? 9 : 1});
        if (i == 0) j.args.data_checksum++;
        if (i == 1) j.args.tokenizer_digest++;
        job_fit(&j);
        CHECK(heed_state(j.c) == HEED_DATA);
        CHECK_HAS(heed_why(j.c), parts[i]);
        CHECK_HAS(heed_why(j.c), "hint");
        heed_close(j.c);
    }
    job j;
    job_open(&j, "nowhere", "", (heed_options){.threads = 1});
    j.args.resume = true;
    job_fit(&j);
    CHECK(heed_state(j.c) == HEED_DATA);
    CHECK(!exists("nowhere", ""));
    heed_close(j.c);
}

TEST(fit_resume_warns_on_another_instruction_set) {
    heed_ctx *c = heed_open(NULL);
    bool plain = strcmp(heed_isa(c), "generic") == 0;
    CLOSE(c);
    job j;
    job_open(&j, "run", "steps=10", (heed_options){.threads = 1, .isa = "generic"});
    j.stop_at = 5;
    job_fit(&j);
    heed_close(j.c);
    job_open_resume(&j, "run", "", (heed_options){.threads = 1});
    job_fit(&j);
    CHECK(j.result.step == 10);
    CHECK(plain || strstr(j.notes, "generic"));
    CLOSE(j.c);
}

/* ---- divergence ---- */

TEST(fit_stops_before_an_update_that_is_not_finite) {
    job j;
    job_open(&j, "run", "steps=30 eval-every=5", (heed_options){.threads = 1});
    j.data.poison = 12;
    job_fit(&j);
    CHECK(heed_state(j.c) == HEED_DIVERGED);
    CHECK(j.result.step == 12);
    CHECK_HAS(heed_why(j.c), "step 13");
    CHECK_HAS(heed_why(j.c), "heed resume");
    heed_close(j.c);
    size_t n;
    char *log = slurp("run", "train.log", &n);
    CHECK_HAS(log, "diverged at step 13");
    free(log);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, j.run, models, "last");
    CHECK(r && r->step == 10);
    CLOSE(c);
    /* without the poison it goes on to where it would have come */
    resume("run");
    train("whole", "steps=30 eval-every=5");
    CHECK(same_run("run", "whole"));
}

TEST(fit_names_the_gradient_that_diverged) {
    job j;
    job_open(&j, NULL, "steps=30", (heed_options){.threads = 1});
    j.data.poison = 12;
    j.data.bad = (heed_real)INFINITY; /* tanh makes the loss finite, not the gradient */
    job_fit(&j);
    CHECK(heed_state(j.c) == HEED_DIVERGED);
    CHECK_HAS(heed_why(j.c), "step 13");
    CHECK_HAS(heed_why(j.c), "gradient of hidden.weight");
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
    CHECK(heed_state(j.c) == HEED_DIVERGED);
    CHECK_HAS(heed_why(j.c), "head.weight");
    CHECK_HAS(heed_why(j.c), "--lr");
    heed_close(j.c);
}

/* ---- dying at any moment ---- */

#ifdef __linux__
#include <fcntl.h>
#include <sys/syscall.h>

/* Calls that change files, counted by a child process: at the chosen one it dies. */
static long calls_left = -1; /* -1: not counting */
static void spend(void) {
    if (calls_left >= 0 && calls_left-- == 0) _exit(9);
}
int rename(const char *from, const char *to) {
    spend();
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
int mkdir(const char *path, mode_t mode) {
    spend();
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
int remove(const char *path) {
    spend();
    int r = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    return r == 0 ? 0 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
/* What a power cut loses no test can see, and to wait for the disk takes minutes. */
int fsync(int fd) {
    (void)fd;
    spend();
    return 0;
}
ssize_t write(int fd, const void *bytes, size_t n) {
    if (calls_left == 0 && n > 1) n = (size_t)syscall(SYS_write, fd, bytes, n / 2);
    spend();
    return syscall(SYS_write, fd, bytes, n);
}

static const char killed_settings[] = "steps=6 eval-every=2 dropout=0.1 lr=0.05 log-every=1";

/* True if the child came to its end. */
static bool train_and_die(const char *run, bool go_on, long calls) {
    test_folder();
    pid_t child = fork();
    if (child == 0) {
        job j;
        if (go_on)
            job_open_resume(&j, run, "", (heed_options){.threads = 1});
        else
            job_open(&j, run, killed_settings, (heed_options){.threads = 1});
        calls_left = calls;
        job_fit(&j);
        calls_left = -1;
        _exit(heed_state(j.c) == HEED_OK ? 0 : 1);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9);
    return WEXITSTATUS(status) == 0;
}

/* What stands there opens, or says clearly that it is no run yet. */
static void check_opens(const char *run, bool begun) {
    static const char *const which[] = {"best", "last"};
    for (int i = 0; i < 2; i++) {
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        char path[256];
        heed_run *r = heed_run_open(c, path_of(path, run, ""), models, which[i]);
        CHECK(r || (!begun && heed_state(c) == HEED_DATA));
        heed_close(c);
    }
}

TEST(fit_survives_death_at_any_moment) {
    train("whole", killed_settings);
    long calls = 0;
    for (bool done = false; !done && calls < 2000; calls++) {
        command("rm -rf %s/run", test_folder());
        done = train_and_die("run", false, calls);
        bool begun = exists("run", "model.safetensors");
        check_opens("run", begun);
        if (exists("run", "config.conf"))
            resume("run");
        else
            train("run", killed_settings);
        if (!same_run("whole", "run")) {
            test_fail(__FILE__, __LINE__, "killed at call %ld", calls);
            return;
        }
        CHECK(!exists("run", "last.new") && !exists("run", "last.old"));
    }
    CHECK(calls > 50); /* the count bites */
}

/* Killed again and again, each time a little later. */
TEST(fit_survives_many_deaths) {
    train("whole", killed_settings);
    bool done = false;
    for (long calls = 5; !done && calls < 2000; calls += 9)
        done = train_and_die("run", exists("run", "config.conf"), calls);
    CHECK(done);
    CHECK(same_run("whole", "run"));
}
#endif

/* ---- no space ---- */

static void limit_files(size_t bytes) {
    struct rlimit r;
    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = bytes ? (rlim_t)bytes : r.rlim_max;
    setrlimit(RLIMIT_FSIZE, &r);
}

TEST(fit_full_disk_keeps_the_checkpoint) {
    train("whole", "steps=20 hidden=40 eval-every=5");
    job j;
    job_open(&j, "run", "steps=20 hidden=40 eval-every=5", (heed_options){.threads = 1});
    j.stop_at = 7;
    job_fit(&j);
    CHECK(heed_state(j.c) == HEED_INTERRUPTED);
    heed_close(j.c);
    void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t bytes = 1; bytes < 3000; bytes += 97) {
        job_open_resume(&j, "run", "", (heed_options){.threads = 1});
        limit_files(bytes);
        job_fit(&j);
        limit_files(0);
        bool ok = heed_state(j.c) == HEED_OK;
        if (!ok) CHECK_HAS(heed_why(j.c), "large");
        CHECK(ok || heed_state(j.c) == HEED_FAILED);
        CHECK(!exists("run", "last.new") || exists("run", "last"));
        heed_close(j.c);
        if (ok) break;
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        heed_run *r = heed_run_open(c, j.run, models, "last");
        CHECK(r && r->step >= 7);
        CLOSE(c);
    }
    signal(SIGXFSZ, was);
    resume("run");
    CHECK(same_run("whole", "run"));
}

/* ---- opening ---- */

TEST(run_opens_with_its_settings) {
    job j;
    job_open(&j, "run", "steps=300 hidden=24 lr=0.02", (heed_options){.threads = 1});
    heed_config_set(j.args.config, "data", "some file # 1.txt", "test", HEED_FROM_FLAG);
    job_fit(&j);
    heed_fit_result result = j.result;
    CLOSE(j.c);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_run *r = heed_run_open(c, j.run, models, "last");
    CHECK(r && r->model == &tiny_model && r->step == 300 && !r->tokenizer);
    CHECK(r && heed_config_int(r->config, "hidden") == 24);
    CHECK(r && heed_config_int(r->config, "steps") == 300);
    if (r) CHECK_TEXT(heed_config_text(r->config, "data"), "some file # 1.txt");
    points data = {.seed = 5, .per_step = 32, .poison = -1, .evals = 4};
    heed_score s = heed_evaluate(r ? r->tape : NULL, &tiny_model, r ? r->self : NULL, &data, 32);
    CHECK(s.judged == 128 && s.weight == 128);
    CHECK_CLOSE(s.loss / s.weight, result.val_loss, 1e-12);
    CHECK_CLOSE(s.right / s.judged, result.metric, 1e-12);
    heed_run_close(r);
    heed_run *best = heed_run_open(c, j.run, models, NULL);
    s = heed_evaluate(best ? best->tape : NULL, &tiny_model, best ? best->self : NULL, &data, 32);
    CHECK_CLOSE(s.loss / s.weight, result.best_loss, 1e-12);
    CLOSE(c);
}

TEST(run_null_and_error_states) {
    heed_run_close(NULL);
    CHECK(!heed_run_open(NULL, "x", models, NULL));
    heed_score s = heed_evaluate(NULL, NULL, NULL, NULL, 1);
    CHECK(s.weight == 0);
    heed_fit(NULL, NULL);
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_fit(c, NULL);
    CHECK(heed_state(c) == HEED_USAGE);
    heed_clear(c);
    CHECK(!heed_run_open(c, "/nonexistent/run", models, NULL));
    CHECK(heed_state(c) == HEED_DATA);
    CHECK_HAS(heed_why(c), "hint");
    heed_clear(c);
    CHECK(!heed_run_open(c, test_folder(), models, "middle"));
    CHECK_HAS(heed_why(c), "middle");
    heed_close(c);
}

/* Every way in to a run; each must end in success or in a message, never in a crash. False if one
 * succeeded that should not have. */
static bool all_fail(const char *run, const char *why) {
    static const char *const which[] = {"best", "last"};
    int failures = 0;
    for (int i = 0; i < 2; i++) {
        heed_ctx *c = heed_open(&(heed_options){.threads = 1});
        char path[256];
        if (!heed_run_open(c, path_of(path, run, ""), models, which[i])) {
            CHECK(heed_state(c) == HEED_DATA || heed_state(c) == HEED_USAGE);
            if (why) CHECK_HAS(heed_why(c), why);
            failures++;
        }
        heed_close(c);
    }
    job j;
    job_open_resume(&j, run, "steps=12", (heed_options){.threads = 1});
    job_fit(&j);
    if (heed_state(j.c) != HEED_OK) failures++;
    heed_close(j.c);
    return failures > 0;
}

TEST(run_damaged_files_are_errors) {
    static const char *const files[] = {"last/state.json", "last/model.safetensors",
                                        "last/optimizer.safetensors", "model.safetensors",
                                        "config.conf"};
    train("whole", "steps=10");
    for (int i = 0; i < 5; i++) {
        size_t n;
        char *data = slurp("whole", files[i], &n), path[256];
        command("rm -rf %s/run; cp -r %s/whole %s/run", test_folder(), test_folder(),
                test_folder());
        unlink(path_of(path, "run", files[i]));
        if (!all_fail("run", NULL)) test_fail(__FILE__, __LINE__, "missing %s", files[i]);
        for (size_t cut = 0; cut < n && i < 4; cut += n / 7 + 1) {
            command("rm -rf %s/run; cp -r %s/whole %s/run", test_folder(), test_folder(),
                    test_folder());
            spill("run", files[i], data, cut);
            if (!all_fail("run", NULL))
                test_fail(__FILE__, __LINE__, "%s cut to %zu bytes", files[i], cut);
        }
        for (size_t at = 0; at < n; at += n / 40 + 1) {
            command("rm -rf %s/run; cp -r %s/whole %s/run", test_folder(), test_folder(),
                    test_folder());
            data[at] ^= 4;
            spill("run", files[i], data, n);
            bool failed = all_fail("run", NULL);
            data[at] ^= 4;
            /* what describes the weights in the header may be lost without harm; config.conf may
             * hold other settings */
            bool counts = i == 0 || (i < 4 && at >= 8 + (unsigned char)data[0] +
                                                        256u * (unsigned char)data[1]);
            if (!failed && counts)
                test_fail(__FILE__, __LINE__, "%s with byte %zu flipped", files[i], at);
        }
        free(data);
    }
}
