/* train.c -- heed train and heed resume. */
#include "cli/gather.h"
#include "cli/os_files.h"
#include "kinds/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DISPLAY "Display"
#define SHOWN                                                                                      \
    CHOICE("progress", "auto", "auto|bar|line|json|none",                                          \
           "how progress is shown, on stderr; auto: bar on a terminal, else line", DISPLAY),       \
        SWITCH("memory-report",                                                                    \
               "before training, print the memory that it takes: weights, gradients, "             \
               "optimizer, one step by op",                                                        \
               DISPLAY),                                                                           \
        SWITCH("json", "print the result as one JSON object", DISPLAY)

static const heed_option train_options[] = {
    WORDS("out", "folder of the run to make; -o for short", "Run"),
    SWITCH("force", "replace an existing run", "Run"),
    SWITCH("estimate",
           "print the time, steps, memory and disk space that training would take, measured in a "
           "few steps",
           "Run"),
    SHOWN,
    {0}};

static const applies train_applies[] = {{"edited", NULL, "from"}, {0}};

static const heed_option resume_options[] = {
    COUNT("steps", "0", 0, 1e12, "another total length; 0: the run's own", "Run"),
    NUMBER("minutes", "0", 0, 1e6,
           "continue for this time from the checkpoint, instead of the remaining steps; 0: the "
           "run's own",
           "Run"),
    COUNT("eval-every", "0", 0, 1e12,
          "steps between evaluations; 0: ten in the run; not given: the run's own", "Run"),
    COUNT(
        "save-every", "0", 0, 1e12,
        "steps between checkpoints besides those at evaluations; 0: none; not given: the run's own",
        "Run"),
    NUMBER("lr", "0", 0, 1e6, "another learning rate; 0: the run's own", "Run"),
    COUNT(
        "patience", "0", 0, 1e9,
        "stop after this many evaluations without a better one; 0: never; not given: the run's own",
        "Run"),
    WORDS("data", "where the data is now, if it was moved", "Run"),
    WORDS("val", "where the validation data is now", "Run"),
    SHOWN,
    {0}};

/* ---- a training run ---- */

typedef struct {
    heed_train_args a; /* config: the settings for config.conf */
    bool estimate;
    const gathered *inputs; /* of a new run */
} training;

/* ", NAME 1.2345, the best one 1.2000" */
static void add_measure(heed_text *out, const char *name, const char *format, double last,
                        double best) {
    if (!isfinite(last)) return;
    heed_text_add(out, ", %s ", name);
    heed_text_add(out, format, last);
    if (!isfinite(best) || best == last) return;
    heed_text_add(out, ", the best one ");
    heed_text_add(out, format, best);
}

/* Prints the loss on the data of the run that the training started from, if it was measured. */
static void print_forgotten(program *p, const training *t, const heed_fit_result *r, json_t *json) {
    const char *from = heed_config_text(t->a.config, "from");
    if (!isfinite(r->first[1])) return;
    if (json)
        json_object_set_new(json, "forgotten",
                            json_pack("{s:o, s:f, s:f}", "run", json_text(from), "before",
                                      r->first[0], "after", r->first[1]));
    else
        print_wrapped(p, "on the validation part of %s: loss %.4f before, %.4f after", from,
                      r->first[0], r->first[1]);
}

static void print_judgement(program *p, const progress *g, const heed_fit_result *r, json_t *json) {
    char text[JUDGEMENT];
    heed_text shown = {.c = NULL};
    judge_training(g, r, text);
    if (*text) add_shown(p, text, &shown);
    if (shown.s && json) json_object_set_new(json, "judgement", json_text(shown.s));
    if (shown.s && !json) print_wrapped(p, "%s", shown.s);
    heed_text_free(&shown);
}

/* Prints the results. */
static void conclude(program *p, const training *t, const heed_data *data, const progress *g,
                     const heed_fit_result *r, double seconds) {
    char word[1024];
    json_t *json = NULL;
    if (flag_on(p, "json"))
        json =
            json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "run", json_text(t->a.run), "step",
                      (json_int_t)r->step, "loss", json_number(r->loss), "val_loss",
                      json_number(r->val_loss), "best_loss", json_number(r->best_loss), "accuracy",
                      json_number(r->metric), "best_accuracy", json_number(r->best_metric));
    training_end e = {.run = t->a.run,
                      .f = t->a.config,
                      .step = r->step,
                      .seconds = seconds,
                      .trained = g->any,
                      .bar = g->mode == SHOW_BAR,
                      .json = json};
    if (!json) {
        char n[32];
        bool language = data_of(t->a.model)->perplexity;
        heed_text line = {.c = NULL};
        heed_text_add(&line, "%s: step %s", t->a.run, heed_format_count(n, (uint64_t)r->step));
        if (!isfinite(r->val_loss)) {
            add_measure(&line, "training loss", "%.4f", r->loss, r->best_loss);
            if (isfinite(r->best_loss) && r->best_step < r->step && r->best_loss != r->loss)
                heed_text_add(&line, ", of step %s, is kept",
                              heed_format_count(n, (uint64_t)r->best_step));
        }
        add_measure(&line, "validation loss", "%.4f", r->val_loss,
                    language ? fmin(r->best_loss, r->val_loss) : r->val_loss);
        if (!language)
            add_measure(&line, "accuracy", "%.2f %%", 100 * r->metric, 100 * r->best_metric);
        print_fact(0, "", "%s", line.s ? line.s : "");
        heed_text_free(&line);
    }
    print_forgotten(p, t, r, json);
    print_judgement(p, g, r, json);
    finish_training(p, data, &e);
    if (heed_ctx_status(p->c) == HEED_INTERRUPTED)
        json_decref(json);
    else if (json)
        print_json(p, json);
    else
        print_next(t->a.model, data, heed_config_text(t->a.config, "data"),
                   heed_format_shell(word, sizeof word, t->a.run));
}

/* The command that continues the run. */
static void add_resume(const program *p, const training *t, heed_text *out) {
    char word[1024];
    heed_format_shell(word, sizeof word, t->a.run);
    add_launcher(p, out);
    heed_text_add(out, "%s resume %s", program_name(), word);
}

/* One of several processes may end at any moment, and the others are then asked to end: what
 * continues the run is printed before that. */
static void prepare_to_end(const program *p, const training *t) {
    heed_text typed = {.c = NULL}, text = {.c = NULL};
    if (p->cluster.processes && is_first_process(p)) {
        add_resume(p, t, &typed);
        json_t *o = json_pack("{s:s, s:s}", "event", "ending", "note", typed.s ? typed.s : "");
        char *line = p->json_lines ? json_dumps(o, JSON_COMPACT) : NULL;
        heed_text_add(&text,
                      line ? "%s%s\n"
                           : "\n%s: asked to end; the run has its last checkpoint, and continues "
                             "with\n  %s\n",
                      line ? line : message_name(), line ? "" : typed.s);
        say_on_interrupt(text.s ? text.s : "");
        free(line);
        json_decref(o);
    }
    heed_text_free(&typed);
    heed_text_free(&text);
}

/* done: all steps were made and saved, and the results were being evaluated. */
static void interrupted(program *p, const training *t, long long step, bool done) {
    char what[80], n[32];
    heed_text typed = {.c = NULL}, text = {.c = NULL};
    add_resume(p, t, &typed);
    if (p->json_lines)
        snprintf(n, sizeof n, "%lld", step);
    else
        heed_format_count(n, (uint64_t)step);
    snprintf(what, sizeof what,
             done ? "interrupted after the last step, %s; for its scores, run"
                  : "interrupted at step %s; continue with",
             n);
    heed_text_add(&text, "%s%s%s", what, p->json_lines ? " " : "\n  ", typed.s ? typed.s : "");
    if (p->json_lines)
        print_event("interrupted", text.s ? text.s : "");
    else
        fprintf(stderr, "%s%s: %s\n", p->line_open ? "\r\033[K" : "", message_name(),
                text.s ? text.s : "");
    heed_text_free(&typed);
    heed_text_free(&text);
    p->line_open = false;
    heed_clear(p->c);
    p->status = HEED_INTERRUPTED;
}

/* After an error, such as that of a full disk: says what is left of the run. r->step: that of the
 * weights; a resumed run whose checkpoint was not read has none. */
static void failed(program *p, const training *t, const progress *g, const heed_fit_result *r) {
    char n[32], config[1100];
    heed_text typed = {.c = NULL};
    snprintf(config, sizeof config, "%.1000s/config.conf", t->a.run);
    bool there = is_file(config);
    program_complain(p);
    add_resume(p, t, &typed);
    if (there && g->saved >= 0)
        heed_message(p->c, HEED_INFO, "the run has its checkpoint of step %s; hint: `%s`",
                     heed_format_count(n, (uint64_t)g->saved), typed.s ? typed.s : "");
    else if (there && t->a.resume && r->step > 0)
        heed_message(p->c, HEED_INFO, "the run has the checkpoint that it had before; hint: `%s`",
                     typed.s ? typed.s : "");
    else if (!there && (t->a.resume || g->saved >= 0))
        heed_message(p->c, HEED_INFO,
                     "%s was removed or moved while its training was running; hint: `resume "
                     "NEW_FOLDER` if it was moved; otherwise train again%s",
                     t->a.run, t->a.resume ? "" : " with the same command");
    else if (!there && g->begun)
        heed_message(p->c, HEED_INFO, "the run had no checkpoint yet: nothing is kept of it");
    heed_text_free(&typed);
}

/* Trains on open data. */
static void fit(program *p, training *t, const heed_data *data, progress *g) {
    t->a.opened = data;
    t->a.keep = t->inputs && *t->inputs->path ? t->inputs->path : NULL;
    t->a.models = p->models;
    t->a.report = progress_report;
    t->a.stop = was_interrupted;
    t->a.user = g;
    t->a.cluster = p->cluster.processes;
    double start = now();
    catch_interrupt();
    if (t->estimate) {
        estimate_training(p, &t->a, t->inputs ? t->inputs->bytes : 0);
        return;
    }
    prepare_to_end(p, t);
    catch_broken_pipe();
    heed_fit_result r = heed_train(p->c, &t->a);
    if (p->line_open) fputc('\n', stderr);
    p->line_open = false;
    if (heed_ctx_status(p->c) != HEED_FAILED) progress_end(g);
    bool done = heed_ctx_status(p->c) == HEED_OK;
    if (done && is_first_process(p)) conclude(p, t, data, g, &r, now() - start);
    if (heed_ctx_status(p->c) == HEED_INTERRUPTED) interrupted(p, t, (long long)r.step, done);
    if (heed_ctx_status(p->c) == HEED_FAILED && is_first_process(p)) failed(p, t, g, &r);
}

static bool open_snapshots(program *p, const training *t, progress *g) {
    heed_snapshots_args a = {.run = t->a.run,
                             .count = heed_config_int(t->a.config, "snapshots"),
                             .items = (int)heed_config_int(t->a.config, "snapshot-items"),
                             .tokens = (int)heed_config_int(t->a.config, "snapshot-tokens"),
                             .input = heed_config_text(t->a.config, "snapshot-input")};
    if (a.count == 0)
        return !*a.input ||
               heed_fail(p->c, HEED_USAGE, "--snapshot-input has no effect without --snapshots N");
    if (!is_text_for(p->c, t->a.model, a.input)) return false;
    g->snapshots = heed_snapshots_open(t->a.model, g->data, t->a.config, &a);
    return g->snapshots != NULL;
}

/* Joined inputs become a file of the run. */
static void name_data(const program *p, const training *t) {
    char path[1100], bytes[32];
    size_t n = strlen(t->a.run);
    snprintf(path, sizeof path, "%.1000s%s%s", t->a.run, n && t->a.run[n - 1] == '/' ? "" : "/",
             t->inputs->name);
    heed_config_set(t->a.config, "data", path, "DATA", HEED_FROM_FLAG);
    heed_message(p->c, HEED_INFO, "%s, %s: copied to %s", p->joined_name,
                 heed_format_bytes(bytes, (double)t->inputs->bytes), path);
}

/* Opens the data, which completes the settings, and trains. */
static void open_and_fit(program *p, training *t, heed_data_args *how, progress *g) {
    reading shown = {.p = p, .bar = g->mode == SHOW_BAR};
    how->progress = show_reading;
    how->user = &shown;
    if (g->mode == SHOW_BAR) {
        fprintf(stderr, "reading %s ...", heed_config_text(t->a.config, "data"));
        p->line_open = true;
    }
    heed_data *data = heed_train_data(p->c, t->a.model, t->a.config, how, &p->chosen);
    g->data = data;
    if (data && !t->estimate && t->inputs && *t->inputs->path) name_data(p, t);
    bool outside =
        data && (t->a.resume || t->estimate || !data->tree ||
                 heed_run_path_is_outside(p->c, t->a.run, heed_config_text(t->a.config, "data")));
    if (outside && !t->estimate && is_first_process(p)) open_snapshots(p, t, g);
    if (cluster_agree(p)) fit(p, t, data, g);
    heed_snapshots_close(g->snapshots);
    heed_data_close(data);
}

static void run_training(program *p, training *t) {
    const char *run = t->a.resume ? t->a.run : NULL;
    enum { CENSUS = 1 << 24 }; /* bytes; a larger text is not read again */
    heed_data_args how = {.run = run, .cache = run, .census = t->a.resume ? 0 : CENSUS};
    progress g = {.p = p,
                  .f = t->a.config,
                  .run = t->a.run,
                  .mode = show_mode_of(flag_text(p, "progress")),
                  .saved = -1,
                  .samples = {.c = p->c},
                  .taken = {.c = p->c}};
    const char *from = heed_config_text(t->a.config, "from");
    heed_run *start = NULL;
    p->model = t->a.model;
    if (!t->a.resume && *from)
        t->a.from = start = heed_transfer_open(p->c, from, p->models, t->a.run);
    if (!start || heed_transfer_settings(t->a.config, t->a.model, start, &how, &g.taken))
        if (heed_ctx_status(p->c) == HEED_OK) open_and_fit(p, t, &how, &g);
    heed_tape_free(g.tape);
    heed_text_free(&g.samples);
    heed_text_free(&g.taken);
    heed_run_close(start);
}

/* ---- heed train ---- */

static bool check_run(program *p, const training *t) {
    const char *name = p->model->name, *data = heed_config_text(t->a.config, "data");
    bool dense = !reads_data(p->model);
    if (!settings_apply(p, NULL, "")) return false;
    if (dense && *data)
        return heed_fail(p->c, HEED_USAGE, "%s has no effect here: %s makes its own data", data,
                         name);
    if (!dense && !*data)
        return heed_fail(p->c, HEED_USAGE,
                         "missing DATA: expected %s; hint: `train %s %s -o runs/first`",
                         data_of(p->model)->noun, name, example_data(p->model));
    int files = data_of(p->model)->files, most = files ? files : p->argc;
    for (int i = 0; p->argc <= most && i < p->argc; i++) /* gather refuses more */
        if (strcmp(p->argv[i], "-") != 0 && !path_exists(p->c, p->argv[i])) return false;
    if (!data_fits(p, data)) return false;
    if (!t->estimate && !*t->a.run)
        return heed_fail(p->c, HEED_USAGE,
                         "missing -o: expected a folder for the run; hint: add -o runs/first");
    return t->estimate || heed_run_path_is_free(p->c, t->a.run, t->a.force);
}

static void train(program *p) {
    training t = {.a = {.model = p->model,
                        .config = task_config(p),
                        .run = flag_text(p, "out"),
                        .force = flag_on(p, "force")},
                  .estimate = flag_on(p, "estimate")};
    gathered inputs = {.path = ""};
    if (p->argc > 0) heed_config_set(t.a.config, "data", p->argv[0], "DATA", HEED_FROM_FLAG);
    bool ok = heed_ctx_status(p->c) == HEED_OK && check_run(p, &t);
    catch_interrupt();
    if (ok && gather(p, t.a.model, *t.a.run ? t.a.run : NULL, p->argc, p->argv, &inputs)) {
        t.inputs = &inputs;
        if (*inputs.path) heed_config_set(t.a.config, "data", inputs.path, "DATA", HEED_FROM_FLAG);
        run_training(p, &t);
    }
    gather_end(&inputs);
}

const command cmd_train = {
    .name = "train",
    .usage = "TASK DATA... -o RUN",
    .help = "train a model on a text file, on pairs of texts, or on pictures",
    .about =
        "Trains a model on DATA and writes a run: a folder with everything that the model needs.\n"
        "\n"
        "mlm and gpt read text: one or more files, folders or quoted patterns, or - for the\n"
        "standard input. Several texts, or the standard input, are copied into the run. Unless\n"
        "--tokenizer names one, a tokenizer is first trained on the text.\n"
        "\n"
        "vit, cnn and mlp read pictures: a folder with a subfolder for each class, or folders\n"
        "train, val and test that each hold such subfolders; a folder of IDX or CIFAR files;\n"
        "or a CSV file of path,label lines. autoencoder reads the same, but needs no classes.\n"
        "\n"
        "The other tasks read a file with an example on each line, in these columns.\n"
        "  seq2seq, rnn  source TAB target; or two files of parallel texts\n"
        "  textcls       label TAB text\n"
        "  tag           words TAB labels, one label for each word\n"
        "  caption       FILE TAB caption, with any number of lines for a picture; FILE is\n"
        "                relative to the folder of DATA\n"
        "A line can also be a JSON object: {src, tgt}, {label, text}, {tokens, tags} or\n"
        "{image, caption}. The file can also be CSV. --columns chooses the columns.\n"
        "A first line that names the columns is skipped. For caption, DATA can also\n"
        "be a folder of pictures with metadata.jsonl: {file_name, text}.\n"
        "\n"
        "--from RUN starts from the best weights of a run, of this or another task. Its tokenizer\n"
        "and the settings of its model are used, too, unless others are given. The output says\n"
        "what is copied, what is new and what does not fit.\n"
        "\n"
        "Ctrl-C saves and stops; `heed resume RUN` continues. In a build of `make MPI=1`,\n"
        "`mpirun -n 4 heed train ...` divides the --accumulate batches of each update among four\n"
        "processes, on one machine or several; the resulting weights are the same.",
    .examples = "  heed train gpt -c runs/book/config.conf -o runs/again --seed 2\n"
                "  heed train gpt book.txt --estimate\n"
                "  heed train gpt other.txt --from runs/book -o runs/other\n"
                "  heed train gpt part1.txt part2.txt notes/ -o runs/all\n"
                "  zcat book.txt.gz | heed train gpt - -o runs/book\n"
                "  heed train seq2seq europarl.en europarl.fr -o runs/french\n"
                "  heed train textcls reviews.tsv --from runs/mlm -o runs/reviews\n"
                "  heed train textcls reviews.csv --columns review,stars -o runs/stars\n",
    .options = train_options,
    .applies = train_applies,
    .task_options = true,
    .computes = true,
    .opens_run = true,
    .divides = true,
    .args = {0, -1},
    .run = train,
};

/* ---- heed resume ---- */

/* Overrides settings of the run by those that were given. */
static bool override(program *p, const training *t) {
    const heed_option *o = resume_options;
    for (; strcmp(o->group, DISPLAY) != 0; o++) {
        bool positive = strcmp(o->name, "steps") == 0 || strcmp(o->name, "minutes") == 0 ||
                        strcmp(o->name, "lr") == 0; /* 0: not given */
        if (!flag_given(p, o->name) || (positive && heed_config_real(p->flags, o->name) <= 0))
            continue;
        if (!heed_config_has(t->a.config, o->name))
            return heed_fail(p->c, HEED_USAGE,
                             "--%s has no effect here: a run of %s has no such setting; hint: "
                             "`info %s --config`",
                             o->name, t->a.model->name, t->a.run);
        heed_config_set(t->a.config, o->name, flag_text(p, o->name), o->name, HEED_FROM_FLAG);
    }
    return heed_ctx_status(p->c) == HEED_OK;
}

/* Whether the data that a setting names exists. The hint keeps what was given for the other one. */
static bool is_there(program *p, const training *t, const char *key, const char *other) {
    char word[1024];
    heed_text flags = {.c = NULL};
    if (*flag_text(p, key)) return path_exists(p->c, flag_text(p, key));
    if (flag_given(p, other))
        heed_text_add(&flags, "--%s %s ", other,
                      heed_format_shell(word, sizeof word, flag_text(p, other)));
    heed_text_add(&flags, "--%s ", key);
    bool there = data_exists(p, t->a.model, t->a.config, key, flags.s ? flags.s : "");
    heed_text_free(&flags);
    return there;
}

static void resume(program *p) {
    training t = {.a = {.run = p->argv[0], .resume = true}};
    if (is_first_process(p) && !heed_run_recover(p->c, t.a.run)) return;
    t.a.config = run_settings(p->c, p->models, t.a.run, &t.a.model);
    if (!t.a.config || !heed_run_check(p->c, t.a.run, t.a.config) ||
        !heed_run_resumable(p->c, t.a.run))
        return;
    if (override(p, &t) && is_there(p, &t, "data", "val") && is_there(p, &t, "val", "data"))
        run_training(p, &t);
}

const command cmd_resume = {
    .name = "resume",
    .usage = "RUN",
    .help = "continue a training run that was stopped",
    .about =
        "Continues from the last checkpoint of a run, to the same weights, bit by bit, as without\n"
        "the interruption. A finished run is not changed. Another --steps or more --minutes\n"
        "change the length of the training, and with it the schedule of the learning rate.\n"
        "--steps with --lr starts a new schedule, with its warm-up, at the step that the run has\n"
        "reached.",
    .examples = "  heed resume runs/book\n"
                "  heed resume runs/book --steps 2000\n"
                "  heed resume runs/book --steps 4000 --lr 1e-3\n"
                "  heed resume runs/book --minutes 5\n",
    .options = resume_options,
    .computes = true,
    .opens_run = true,
    .continues = true,
    .divides = true,
    .args = {1, 1},
    .run = resume,
};
