#define _DEFAULT_SOURCE /* setrlimit */
#include "fit_job.h"
#include "fit/fit.h"
#include "io/io.h"

#include <stdarg.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- a model of two layers that learns XOR of two signs, with noise ---- */

static const heed_option tiny_options[] = {
    {"hidden", HEED_OPTION_INT, "16", 1, 64, NULL, "hidden width", "Model"},
    {"dropout", HEED_OPTION_REAL, "0", 0, 0.9, NULL, "of the hidden layer", "Model"},
    {0}};
static const heed_option program_options[] = {
    {"data", HEED_OPTION_STRING, "", 0, 0, NULL, "of the program", "Program"}, {0}};

bool tiny_init(void *self, heed_params *s, const void *f) {
    tiny *m = self;
    int hidden = (int)heed_config_int(f, "hidden");
    heed_linear_init(&m->hidden, s, "hidden", (heed_linear_args){.in = 2, .out = hidden});
    heed_dropout_layer_init(&m->drop, s, "drop", (heed_real)heed_config_real(f, "dropout"));
    heed_linear_init(&m->head, s, "head", (heed_linear_args){.in = hidden, .out = 2});
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

static bool tiny_batch(void *self, const heed_data *data, heed_batch_at at, heed_batch *out) {
    (void)self;
    points *p = data->batches;
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
    p->samples += at.val && at.sample;
    p->others += at.val && !at.sample;
    if (!at.val && (int64_t)at.index == p->poison) p->x[0] = p->bad;
    *out = (heed_batch){.rows = at.rows, .len = 2, .x = p->x, .labels = p->labels};
    out->items = (size_t)at.rows;
    return true;
}

static uint64_t tiny_evals(void *self, const heed_data *data, int rows) {
    (void)self, (void)rows;
    return ((points *)data->batches)->evals;
}
static uint64_t tiny_epoch(void *self, const heed_data *data, int rows) {
    (void)self, (void)rows;
    return ((points *)data->batches)->epoch;
}

static heed_tensor *tiny_loss(void *self, heed_tape *t, const heed_batch *b) {
    tiny *m = self;
    heed_tensor *x = heed_input(t, b->x, 2, (int[]){b->rows, 2});
    x = heed_dropout_layer_apply(&m->drop, t, heed_linear_act(&m->hidden, t, x, HEED_TANH));
    m->logits = heed_linear_apply(&m->head, t, x);
    m->loss = heed_xent(t, m->logits, heed_input_ids(t, b->labels, 1, &b->rows), NULL);
    return m->loss;
}

static void tiny_metrics(void *self, const heed_batch *b, heed_score *s) {
    const tiny *m = self;
    for (int i = 0; i < b->rows; i++) {
        const heed_real *y = m->logits->x + 2 * i;
        s->correct += (y[1] > y[0]) == b->labels[i];
    }
    s->total += b->rows;
    s->loss += (double)m->loss->x[0] * b->rows;
    s->weight += b->rows;
}

const heed_model tiny_model = {.name = "tiny",
                               .help = "XOR",
                               .options = tiny_options,
                               .size = sizeof(tiny),
                               .init = tiny_init,
                               .batch = tiny_batch,
                               .eval_batches = tiny_evals,
                               .epoch_batches = tiny_epoch,
                               .loss = tiny_loss,
                               .metrics = tiny_metrics};
const heed_model *const tiny_models[] = {&tiny_model, NULL};
static const heed_option *const tables[] = {tiny_options, heed_fit_options, program_options, NULL};

/* ---- a training run, set up by words ---- */

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

/* settings: "steps=40 batch=8". */
static void set_all(heed_config *f, const char *settings, heed_rank rank) {
    char copy[512];
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *s = strtok(copy, " "); s; s = strtok(NULL, " ")) {
        char *value = strchr(s, '=');
        *value++ = 0;
        heed_config_set(f, s, value, s, rank);
    }
}

/* run: NULL, or a name in the test's folder. */
void job_open(job *j, const char *run, const char *settings, heed_options o) {
    *j = (job){.data = {.seed = 5,
                        .per_step = 32,
                        .poison = -1,
                        .bad = (heed_real)NAN,
                        .evals = 4,
                        .epoch = 7}};
    if (!o.seed) o.seed = 1;
    j->c = heed_open(&o);
    heed_config *f = heed_config_new(j->c, tables);
    set_all(f, settings, HEED_FROM_FILE);
    snprintf(j->run, sizeof j->run, "%s/%s", test_folder(), run ? run : "");
    j->open =
        (heed_data){.c = j->c, .kind = &heed_own_numbers, .batches = &j->data, .checksum = 77};
    j->args = (heed_train_args){.model = &tiny_model,
                                .config = f,
                                .run = run ? j->run : NULL,
                                .report = on_report,
                                .stop = on_stop};
}

void job_fit(job *j) {
    j->args.user = j;
    j->args.opened = &j->open;
    j->result = heed_train(j->c, &j->args);
}

/* The run's own settings, as `heed resume` reads them, and others as from its flags. */
void job_open_resume(job *j, const char *run, const char *settings, heed_options o) {
    char path[192];
    job_open(j, run, "", o);
    snprintf(path, sizeof path, "%s/config.conf", j->run);
    heed__config_read(j->args.config, path, HEED_FROM_FILE);
    set_all(j->args.config, settings, HEED_FROM_FLAG);
    j->args.resume = true;
}

void train_run(const char *run, const char *settings) {
    job j;
    job_open(&j, run, settings, (heed_options){.threads = 1});
    job_fit(&j);
    CLOSE(j.c);
}

void resume_run(const char *run) {
    job j;
    job_open_resume(&j, run, "", (heed_options){.threads = 1});
    job_fit(&j);
    CLOSE(j.c);
}

/* ---- files ---- */

char *path_of(char path[256], const char *run, const char *name) {
    snprintf(path, 256, "%s/%s/%s", test_folder(), run, name);
    return path;
}

bool exists(const char *run, const char *name) {
    char path[256];
    return access(path_of(path, run, name), F_OK) == 0;
}

/* A whole file, to be freed; NULL if absent. */
char *slurp(const char *run, const char *name, size_t *n) {
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

void spill(const char *run, const char *name, const char *data, size_t n) {
    char path[256];
    FILE *f = fopen(path_of(path, run, name), "wb");
    CHECK(f && fwrite(data, 1, n, f) == n && fclose(f) == 0);
}

bool equal_files(const char *a, const char *b, const char *name) {
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

bool same_run(const char *a, const char *b) {
    char *x = metrics_of(a), *y = metrics_of(b);
    bool same = x && y && strcmp(x, y) == 0 && equal_files(a, b, "model.safetensors") &&
                equal_files(a, b, "last/model.safetensors") &&
                equal_files(a, b, "last/optimizer.safetensors");
    free(x);
    free(y);
    return same;
}

void command(const char *format, ...) {
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    CHECK(system(line) == 0);
}

void limit_files(size_t bytes) {
    struct rlimit r;
    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = bytes ? (rlim_t)bytes : r.rlim_max;
    setrlimit(RLIMIT_FSIZE, &r);
}

heed_score evaluate_all(heed_tape *t, const heed_model *m, void *self, const heed_data *data,
                        int rows) {
    heed_score score = {0};
    heed_run r = {.tape = t, .model = m, .self = self};
    uint64_t all = heed_model_eval_batches(m, self, data, rows);
    bool ok = heed__evaluate(&r, data, rows, all, all, NULL, &score);
    return ok ? score : (heed_score){0};
}
