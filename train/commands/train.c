/* train.c -- heed train, heed resume. */
#include "cli/files.h"
#include "kinds/inputs.h"
#include "kinds/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DISPLAY "Display"
#define SHOWN                                                                                      \
    {"progress",                                                                                   \
     HEED_CHOICE,                                                                                  \
     "auto",                                                                                       \
     0,                                                                                            \
     0,                                                                                            \
     "auto|bar|line|json|none",                                                                    \
     "how progress is shown, on stderr; auto: bar on a terminal, else line",                       \
     DISPLAY},                                                                                     \
    {                                                                                              \
        "json", HEED_BOOL, "false", 0, 0, NULL, "print the result as one JSON object", DISPLAY     \
    }

static const heed_option train_options[] = {
    {"out", HEED_TEXT, "", 0, 0, NULL, "folder of the run to make; -o for short", "Run"},
    {"force", HEED_BOOL, "false", 0, 0, NULL, "replace an existing run", "Run"},
    SHOWN,
    {0}};

static const heed_option resume_options[] = {
    {"steps", HEED_INT, "0", 0, 1e12, NULL, "another total length; 0: the run's own", "Run"},
    {"minutes", HEED_REAL, "0", 0, 1e6, NULL,
     "continue for this time from the checkpoint, instead of the remaining steps; 0: the run's own",
     "Run"},
    {"eval-every", HEED_INT, "0", 0, 1e12, NULL,
     "steps between evaluations; 0: ten in the run; not given: the run's own", "Run"},
    {"save-every", HEED_INT, "0", 0, 1e12, NULL,
     "steps between checkpoints besides those at evaluations; 0: none; not given: the run's own",
     "Run"},
    {"lr", HEED_REAL, "0", 0, 1e6, NULL, "another learning rate; 0: the run's own", "Run"},
    {"patience", HEED_INT, "0", 0, 1e9, NULL,
     "stop after this many evaluations without a better one; 0: never; not given: the run's own",
     "Run"},
    {"data", HEED_TEXT, "", 0, 0, NULL, "where the data is now, if it was moved", "Run"},
    {"val", HEED_TEXT, "", 0, 0, NULL, "where the validation data is now", "Run"},
    SHOWN,
    {0}};

/* ---- a training ---- */

typedef struct {
    const heed_model *model;
    heed_config *f; /* the settings for config.conf */
    const char *run;
    bool resume, force;
} training;

static json_t *result_json(const training *t, const heed_fit_result *r) {
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "run", json_text(t->run), "step",
                     (json_int_t)r->step, "loss", json_number(r->loss), "val_loss",
                     json_number(r->val_loss), "best_loss", json_number(r->best_loss), "accuracy",
                     json_number(r->metric), "best_accuracy", json_number(r->best_metric));
}

/* ", NAME 1.2345, the best one 1.2000" */
static void print_measure(const char *name, const char *format, double last, double best) {
    if (!isfinite(last)) return;
    printf(", %s ", name);
    printf(format, last);
    if (!isfinite(best) || best == last) return;
    fputs(", the best one ", stdout);
    printf(format, best);
}

static void print_result(const training *t, const heed_fit_result *r) {
    bool language = data_of(t->model)->perplexity;
    printf("%s: step %lld", t->run, (long long)r->step);
    if (!isfinite(r->val_loss)) printf(", training loss %.4f", r->loss);
    print_measure("validation loss", "%.4f", r->val_loss,
                  language ? fmin(r->best_loss, r->val_loss) : r->val_loss);
    if (!language) print_measure("accuracy", "%.2f %%", 100 * r->metric, 100 * r->best_metric);
    putchar('\n');
}

/* Prints the results. */
static void conclude(program *p, const training *t, const heed_data *data, const progress *g,
                     const heed_fit_result *r, double seconds) {
    const data_kind *kind = kind_of(t->model);
    json_t *json = heed_config_bool(p->flags, "json") ? result_json(t, r) : NULL;
    training_end e = {.run = t->run,
                      .f = t->f,
                      .step = r->step,
                      .seconds = seconds,
                      .trained = g->any,
                      .bar = g->mode == SHOW_BAR,
                      .json = json};
    if (!json) print_result(t, r);
    if (kind->finish) kind->finish(p, data, &e);
    if (heed_ctx_status(p->c) == HEED_INTERRUPTED)
        json_decref(json);
    else if (json)
        print_json(p, json);
    else
        kind->next(t->model, heed_config_text(t->f, "data"), t->run);
}

/* done: all steps were made and saved, and the results were being evaluated. */
static void interrupted(program *p, const training *t, long long step, bool done) {
    char word[1024], what[80], text[1200];
    heed_format_shell(word, sizeof word, t->run);
    snprintf(what, sizeof what,
             done ? "interrupted after the last step, %lld; for its scores, run"
                  : "interrupted at step %lld; continue with",
             step);
    snprintf(text, sizeof text, "%s %s resume %s", what, program_name(), word);
    if (p->json_lines)
        print_event("interrupted", text);
    else
        fprintf(stderr, "%s%s: %s\n  %s resume %s\n", p->line_open ? "\r\033[K" : "",
                program_name(), what, program_name(), word);
    p->line_open = false;
    heed_clear(p->c);
    p->status = HEED_INTERRUPTED;
}

/* Trains on open data. */
static void fit(program *p, const training *t, const heed_data *data, progress *g) {
    heed_fit_args a = {.model = t->model,
                       .config = t->f,
                       .data = data->batches,
                       .data_checksum = data->checksum,
                       .tokenizer = data->tokenizer,
                       .source = data->source,
                       .labels = data->labels,
                       .label_count = data->label_count,
                       .run = t->run,
                       .no_val = data->no_val,
                       .resume = t->resume,
                       .force = t->force,
                       .report = progress_report,
                       .stop = was_interrupted,
                       .user = g};
    double start = now();
    catch_interrupt();
    catch_broken_pipe();
    heed_fit_result r = heed_fit(p->c, &a);
    if (p->line_open) fputc('\n', stderr);
    p->line_open = false;
    bool done = heed_ctx_status(p->c) == HEED_OK;
    if (done) conclude(p, t, data, g, &r, now() - start);
    if (heed_ctx_status(p->c) == HEED_INTERRUPTED) interrupted(p, t, (long long)r.step, done);
}

static bool open_snapshots(program *p, const training *t, progress *g) {
    heed_snapshots_args a = {.run = t->run,
                             .count = heed_config_int(t->f, "snapshots"),
                             .items = (int)heed_config_int(t->f, "snapshot-items"),
                             .input = heed_config_text(t->f, "snapshot-input")};
    if (a.count == 0)
        return !*a.input ||
               heed_fail(p->c, HEED_USAGE, "--snapshot-input has no effect without --snapshots N");
    if (!is_text_for(p->c, t->model, a.input)) return false;
    g->snapshots = heed_snapshots_open(t->model, g->data, t->f, &a);
    return g->snapshots != NULL;
}

static void run_training(program *p, const training *t) {
    heed_data_args how = {.run = t->resume ? t->run : NULL};
    progress g = {.p = p,
                  .f = t->f,
                  .run = t->run,
                  .mode = show_mode_of(heed_config_text(p->flags, "progress")),
                  .samples = {.c = p->c}};
    p->model = t->model;
    if (g.mode == SHOW_BAR) {
        fprintf(stderr, "reading %s ...", heed_config_text(t->f, "data"));
        p->line_open = true;
    }
    heed_data *data = heed_data_open(p->c, t->f, heed_model_spec(t->model), &how);
    g.data = data;
    bool outside = data && (t->resume || !data->tree ||
                            heed_run_outside(p->c, t->run, heed_config_text(t->f, "data")));
    if (outside && open_snapshots(p, t, &g)) fit(p, t, data, &g);
    heed_snapshots_close(g.snapshots);
    heed_tape_free(g.tape);
    heed_text_free(&g.samples);
    heed_data_close(data);
}

/* ---- heed train ---- */

/* The settings stored in the run: the task's, and the data. */
static heed_config *run_config(program *p) {
    heed_config *f = task_config(p);
    if (p->argc > 0) heed_config_set(f, "data", p->argv[0], "DATA", HEED_FROM_FLAG);
    return f;
}

enum { HINT = 1024 };

/* "; hint: `train vit flowers -o RUN`, if WHAT", with the program's first model of that kind; ""
 * if there is none. */
static const char *other_kind(const program *p, const training *t, heed_input_kind kind,
                              const char *what, char hint[HINT]) {
    const heed_model *const *m = p->models;
    while (*m && (*m)->kind != kind) m++;
    *hint = 0;
    if (*m)
        snprintf(hint, HINT, "; hint: `train %s %.400s -o %.400s`, if it %s", (*m)->name,
                 heed_config_text(t->f, "data"), t->run, what);
    return hint;
}

/* Refuses a text file where pictures are expected, or a folder where a text is. */
static bool check_kind(program *p, const training *t) {
    char hint[HINT];
    const char *data = heed_config_text(t->f, "data"), *dot = strrchr(data, '.');
    heed_input_kind kind = p->model->kind;
    bool csv = dot && strcmp(dot, ".csv") == 0;
    if (kind == HEED_INPUT_TOKENS && is_directory(data))
        return heed_fail(p->c, HEED_DATA, "%s is a folder: %s takes a text file%s", data,
                         p->model->name,
                         other_kind(p, t, HEED_INPUT_PICTURE, "holds pictures", hint));
    if (kind == HEED_INPUT_PICTURE && is_file(data) && !csv)
        return heed_fail(p->c, HEED_DATA,
                         "%s is a file: %s takes a folder of pictures, or a CSV file of "
                         "path,label lines%s",
                         data, p->model->name,
                         other_kind(p, t, HEED_INPUT_TOKENS, "is a text", hint));
    return true;
}

static bool check_run(program *p, const training *t) {
    const char *name = p->model->name, *data = heed_config_text(t->f, "data");
    bool dense = p->model->kind == HEED_INPUT_DENSE;
    if (dense && *data)
        return heed_fail(p->c, HEED_USAGE, "%s has no effect here: %s makes its own data", data,
                         name);
    if (!dense && !*data)
        return heed_fail(p->c, HEED_USAGE,
                         "missing DATA: expected %s; hint: `train %s %s -o runs/first`",
                         data_of(p->model)->noun, name, example_data(p->model));
    if (!*t->run)
        return heed_fail(p->c, HEED_USAGE,
                         "missing -o: expected a folder for the run; hint: `train %s %s -o "
                         "runs/first`",
                         name, data);
    return check_kind(p, t) && heed_run_vacant(p->c, t->run, t->force);
}

static void train(program *p) {
    training t = {.model = p->model,
                  .f = run_config(p),
                  .run = heed_config_text(p->flags, "out"),
                  .force = heed_config_bool(p->flags, "force")};
    if (heed_ctx_status(p->c) == HEED_OK && check_run(p, &t)) run_training(p, &t);
}

const command cmd_train = {
    .name = "train",
    .usage = "TASK DATA -o RUN",
    .help = "train a model on a text file, on pairs of texts, or on pictures",
    .about =
        "Trains a model on DATA and writes a run: a folder that is all of the model.\n"
        "mlm and gpt take a text file; without --tokenizer PATH a tokenizer is trained on it\n"
        "first. vit, cnn and mlp take pictures: a folder of class folders (below train, val\n"
        "and test, or at once), a folder of IDX or CIFAR files, or a CSV of path,label lines.\n"
        "seq2seq and rnn take lines of source TAB target, textcls of label TAB text, tag of words\n"
        "TAB labels, a label a word; or JSON objects, a line each: {src, tgt}, {label, text},\n"
        "{tokens, tags}. A first line that names the columns is skipped.\n"
        "Ctrl-C saves and stops; `heed resume RUN` continues.",
    .examples = "  heed train gpt -c runs/book/config.conf -o runs/again --seed 2\n",
    .options = train_options,
    .task_options = true,
    .computes = true,
    .max = 1,
    .run = train,
};

/* ---- heed resume ---- */

/* 0 means not given: it is neither a length nor a rate. */
static bool is_own(const heed_config *flags, const char *key) {
    if (heed_config_rank(flags, key) == HEED_FROM_DEFAULT) return true;
    static const char *const keys[] = {"steps", "minutes", "lr"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return heed_config_real(flags, key) <= 0;
    return false;
}

/* Overrides settings of the run by those that were given. */
static bool override(program *p, const training *t) {
    const heed_option *o = resume_options;
    for (; strcmp(o->group, DISPLAY) != 0; o++) {
        if (is_own(p->flags, o->name)) continue;
        if (!heed_config_has(t->f, o->name))
            return heed_fail(p->c, HEED_USAGE,
                             "--%s has no effect here: a run of %s has no such setting; hint: "
                             "`info %s --config`",
                             o->name, t->model->name, t->run);
        heed_config_set(t->f, o->name, heed_config_text(p->flags, o->name), o->name,
                        HEED_FROM_FLAG);
    }
    return heed_ctx_status(p->c) == HEED_OK;
}

/* False if the file that the run's setting `key` names does not exist. */
static bool data_stands(program *p, const training *t, const char *key) {
    if (!heed_config_has(t->f, key) || t->model->kind == HEED_INPUT_DENSE) return true;
    const char *path = heed_config_text(t->f, key);
    bool named = *path || strcmp(key, "data") == 0;
    return !named || is_file(path) || is_directory(path) ||
           heed_fail(p->c, HEED_DATA,
                     "the data of the run is missing: %s/config.conf: %s = %s; hint: run from the "
                     "folder that it was trained in, or `resume %s --%s PATH`",
                     t->run, key, path, t->run, key);
}

static void resume(program *p) {
    training t = {.run = p->argv[0], .resume = true};
    if (!heed_run_recover(p->c, t.run)) return;
    t.f = run_settings(p->c, p->models, t.run, &t.model);
    if (!t.f) return;
    if (override(p, &t) && data_stands(p, &t, "data") && data_stands(p, &t, "val"))
        run_training(p, &t);
}

const command cmd_resume = {
    .name = "resume",
    .usage = "RUN",
    .help = "continue a training that was stopped",
    .about =
        "Continues from the last checkpoint of a run, to the same weights bit by bit as if it\n"
        "had never stopped. A finished run is not changed. Another --steps or more --minutes\n"
        "change the length of the training and with it the schedule of the learning rate.",
    .examples = "  heed resume runs/book\n"
                "  heed resume runs/book --steps 2000\n"
                "  heed resume runs/book --minutes 5\n",
    .options = resume_options,
    .computes = true,
    .opens_run = true,
    .continues = true,
    .min = 1,
    .max = 1,
    .run = resume,
};
