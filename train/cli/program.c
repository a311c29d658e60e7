/* program.c -- a command's arguments become its settings and its context, and its errors an exit
 * status. */
#include "cli/program.h"

#include "cli/gather.h"
#include "cli/os_files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const heed_option compute_options[] = {
    {"threads", HEED_OPTION_INT, "0", 0, 4096, NULL,
     "threads; 0: OMP_NUM_THREADS, else all available CPUs", "Computing"},
    {"isa", HEED_OPTION_STRING, "auto", 0, 0, "auto|generic|avx2|avx512|neon",
     "instruction set; generic gives the same bits on every machine", "Computing"},
    {0}};

static const heed_option run_options[] = {
    {"edited", HEED_OPTION_BOOL, "false", 0, 0, NULL,
     "the run was edited on purpose: accept weights, tokenizer and labels as they are, and "
     "ignore changed lines of config.conf, except the seed",
     "Input"},
    {0}};

/* ---- arguments ---- */

/* "-o RUN" is "--out RUN", if the command has that option. */
static void spell_out(const command *k, int argc, char **argv) {
    static char out[] = "--out";
    if (!heed_option_find(k->options, "out")) return;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-o") == 0) argv[i] = out;
}

bool wants_help(int argc, char **argv) {
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

/* The model named by a line `task = NAME` of a settings file. */
static const heed_model *model_of_file(heed_ctx *c, const heed_model *const *models,
                                       const char *path) {
    size_t n = 0;
    char *text = heed_text_read(c, path, &n), name[64] = "";
    for (char *line = text; line; line = strchr(line, '\n')) {
        if (strncmp(line, "\xEF\xBB\xBF", 3) == 0) line += 3; /* a byte order mark */
        line += strspn(line, " \t\n");
        if (sscanf(line, "task = %63[A-Za-z0-9_-]", name) == 1) break;
        if (sscanf(line, "task = %*1[\"']%63[A-Za-z0-9_-]", name) == 1) break;
    }
    free(text);
    return find_model(models, name);
}

const heed_model *model_of_run(heed_ctx *c, const heed_model *const *models, const char *dir) {
    char path[1024];
    return is_file(heed_run_file(dir, "config.conf", path, sizeof path))
               ? model_of_file(c, models, path)
               : NULL;
}

const heed_option *find_option(const program *p, const char *name) {
    const heed_option *tables[TABLES],
        *o = p->command ? heed_option_find(p->command->options, name) : NULL;
    if (!o) o = heed_option_find(compute_options, name);
    if (!o) o = heed_option_find(run_options, name);
    for (int i = 0; !o && p->models[i]; i++) {
        model_tables(p->models[i], tables);
        for (int j = 0; !o && tables[j]; j++) o = heed_option_find(tables[j], name);
    }
    return o;
}

void with_dashes(const char *option, size_t n, char name[64]) {
    snprintf(name, 64, "%.*s", (int)n, option);
    for (char *at = name; (at = strchr(at, '_')) != NULL;) *at = '-';
}

bool takes_value(const program *p, const char *flag) {
    if (flag[1] != '-') return strcmp(flag, "-c") == 0 || strcmp(flag, "-o") == 0;
    if (strchr(flag, '=')) return false;
    char name[64];
    with_dashes(flag + 2, strlen(flag + 2), name);
    const heed_option *o = find_option(p, name);
    return o && o->kind != HEED_OPTION_BOOL;
}

/* "-l", but not "-1" or "- and more", is probably a mistyped option, not an input. */
static bool check_dash(program *p, const heed_config *f, heed_ctx *c, const char *arg) {
    char text[HEED_EXPLAIN];
    if (!isalpha((unsigned char)arg[1]) || strcmp(arg, "-c") == 0 || strpbrk(arg, " \t\n"))
        return true;
    if (heed_config_has(f, arg + 1))
        snprintf(text, sizeof text, ": did you mean -%.80s?", arg);
    else if (!explain_setting(p, f, arg + 1, text))
        snprintf(text, sizeof text,
                 ": expected two dashes, --NAME; hint: put -- before an input that begins with a "
                 "dash");
    return heed_fail(c, HEED_USAGE, "unknown option %.80s%s", arg, text);
}

/* Whether f has the option, also with _ for -; its value is checked later. */
static bool check_name(heed_config *f, char *arg) {
    char name[64];
    with_dashes(arg + 2, strcspn(arg + 2, "="), name);
    return heed_config_has(f, name) ||
           (strncmp(name, "no-", 3) == 0 && heed_config_has(f, name + 3)) ||
           heed_config_args(f, &(int){1}, (char *[]){arg, NULL});
}

/* Prints the error of every unknown option but the last, which is left as the error of c. */
static bool check_options(program *p, heed_config *f, heed_ctx *c, int argc, char **argv) {
    char last[1024] = "";
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-') continue;
        if (!(argv[i][1] == '-' ? check_name(f, argv[i]) : check_dash(p, f, c, argv[i]))) {
            if (*last) show_error(p, last);
            snprintf(last, sizeof last, "%s", heed_ctx_error(c));
            heed_clear(c);
        }
        i += takes_value(p, argv[i]);
    }
    return !*last || heed_fail(c, HEED_USAGE, "%s", last);
}

/* "epochs=10" is an option of other programs, unless it is an input. */
static bool check_equals(program *p, const heed_config *f, heed_ctx *c, int argc, char **argv) {
    char key[32], text[HEED_EXPLAIN];
    for (int i = 0; i < argc; i++) {
        size_t n = strcspn(argv[i], "=");
        if (!argv[i][n] || n >= sizeof key || strpbrk(argv[i], " \t\n") || is_file(argv[i]) ||
            is_directory(argv[i]))
            continue;
        snprintf(key, sizeof key, "%.*s", (int)n, argv[i]);
        if (heed_config_has(f, key))
            snprintf(text, sizeof text, ": did you mean --%s %.80s?", key, argv[i] + n + 1);
        else if (!explain_setting(p, f, key, text))
            continue;
        return heed_fail(c, HEED_USAGE, "options begin with two dashes: %.80s%s", argv[i], text);
    }
    return true;
}

/* The task decides which settings exist, so it is found before they are read. */
const heed_model *task_of(heed_ctx *c, const program *p, int argc, char **argv) {
    int i = 0;
    while (i < argc && argv[i][0] == '-') i += 1 + takes_value(p, argv[i]);
    const char *first = i < argc ? argv[i] : NULL;
    const heed_model *m = first ? find_model(p->models, first) : NULL;
    if (first && !m && p->command->task_or_run) m = model_of_run(c, p->models, first);
    for (i = 0; !m && i + 1 < argc; i++)
        if (strcmp(argv[i], "-c") == 0) m = model_of_file(c, p->models, argv[i + 1]);
    return m;
}

void refuse_task(heed_ctx *c, const program *p, int argc, char **argv) {
    const command *k = p->command;
    const char *names[16] = {0}, *near;
    char list[256] = "";
    for (int i = 0; p->models[i] && i < 15; i++) {
        names[i] = p->models[i]->name;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    }
    bool named = argc > 0 && argv[0][0] != '-';
    if (named && !*argv[0]) {
        heed_fail(c, HEED_USAGE,
                  "TASK is empty: expected one of %s; hint: is a variable of the shell not set?",
                  list);
        return;
    }
    near = named ? known_task(argv[0]) : NULL;
    if (near && !find_model(p->models, near)) near = NULL; /* a program with other models */
    if (named && !near && !is_file(argv[0])) near = heed_closest(argv[0], names);
    if (named && !near && k->task_or_run)
        heed_fail(
            c, is_directory(argv[0]) ? HEED_DATA : HEED_USAGE,
            "%s is neither a task nor a run: expected one of %s, or a folder with config.conf",
            argv[0], list);
    else if (near)
        heed_fail(c, HEED_USAGE, "unknown task %s: did you mean %s? (%s)", argv[0], near,
                  find_model(p->models, near)->help);
    else if (named && (is_file(argv[0]) || is_directory(argv[0])))
        heed_fail(c, HEED_USAGE, "missing TASK before %s: expected one of %s; hint: `%s %s %s`",
                  argv[0], list, k->name, likely_task(p, argv[0]), argv[0]);
    else if (named)
        heed_fail(c, HEED_USAGE, "unknown task %s: expected one of %s; hint: `help %s`", argv[0],
                  list, k->name);
    else
        heed_fail(c, HEED_USAGE, "missing TASK: expected one of %s; hint: `help %s`", list,
                  k->name);
}

/* The index-th word in capitals in a usage: "RUN [DATA]" -> "RUN", "DATA". */
static void argument_name(const char *usage, int index, char name[32]) {
    snprintf(name, 32, "argument");
    for (const char *s = usage; *s; s++) {
        bool starts = *s >= 'A' && *s <= 'Z' && (s == usage || s[-1] == ' ' || s[-1] == '[');
        if (!starts || index-- > 0) continue;
        size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        snprintf(name, 32, "%.*s", (int)n, s);
        return;
    }
}

static bool check_count(heed_ctx *c, const command *k, int argc, char **argv) {
    char name[32];
    bool takes_text = strstr(k->usage, "PROMPT") || strstr(k->usage, "INPUT");
    argument_name(k->usage, argc + k->task_options, name); /* TASK is not counted */
    if (argc < k->args.least)
        return heed_fail(c, HEED_USAGE, "missing %s: expected %s %s %s; hint: `help %s`", name,
                         program_name(), k->name, k->usage, k->name);
    if (k->args.most >= 0 && argc > k->args.most)
        return heed_fail(c, HEED_USAGE, "one argument too many: %s: expected %s %s%s%s%s",
                         argv[k->args.most], program_name(), k->name, *k->usage ? " " : "",
                         k->usage,
                         takes_text ? "; hint: put a text of several words in quotes" : "");
    for (int i = 0; i < argc; i++)
        if (!*argv[i])
            return heed_fail(c, HEED_USAGE,
                             "an argument is empty: expected %s %s %s; hint: is a variable of "
                             "the shell not set?",
                             program_name(), k->name, k->usage);
    return true;
}

/* Names of files are put together in buffers of 1,024 bytes. A long text that names nothing is an
 * input. */
static bool paths_fit(heed_ctx *c, const heed_config *f, int argc, char **argv) {
    enum { LONGEST = 960 };
    const char *path = heed_config_has(f, "out") ? heed_config_text(f, "out") : "";
    for (int i = 0; i < argc && strlen(path) <= LONGEST; i++)
        if (is_file(argv[i]) || is_directory(argv[i])) path = argv[i];
    return strlen(path) <= LONGEST ||
           heed_fail(c, HEED_USAGE,
                     "a path is too long: expected at most %d bytes, found %zu: %.60s...; hint: a "
                     "relative path, from a folder that is nearer to it",
                     LONGEST, strlen(path), path);
}

heed_config *settings_of(heed_ctx *c, const command *k, const heed_model *m) {
    const heed_option *tables[TABLES + 4] = {0};
    int n = 0;
    if (k->options) tables[n++] = k->options;
    if (m) model_tables(m, tables + n);
    while (tables[n]) n++;
    if (k->opens_run) tables[n++] = run_options;
    if (k->computes) tables[n++] = compute_options;
    heed_config *f = heed_config_new(c, tables);
    if (m) heed_config_set_list(f, m->defaults, m->name, HEED_FROM_DEFAULT);
    return f;
}

/* Sets what was given in `from`, with its rank. */
static void copy_given(heed_config *to, const heed_config *from) {
    for (int i = 0; i < heed_config_count(to); i++) {
        const char *value, *key = heed_config_at(to, i, &value)->name;
        heed_rank rank = heed_config_rank(from, key);
        if (rank != HEED_FROM_DEFAULT)
            heed_config_set(to, key, heed_config_text(from, key), key, rank);
    }
}

static void open_context(program *p, const heed_config *f) {
    heed_options o = {.seed = p->seed, .log = show_message, .explain = explain_setting, .user = p};
    const char *isa = heed_config_has(f, "isa") ? heed_config_text(f, "isa") : "auto";
    if (strcmp(isa, "auto") != 0) o.isa = isa;
    o.threads = threads_of(p, f);
    if (heed_config_has(f, "edited")) o.edited = heed_config_bool(f, "edited");
    if (heed_config_has(f, "seed")) o.seed = (uint64_t)heed_config_int(f, "seed");
    p->c = heed_open(&o);
}

/* Parses the arguments into settings in context c; positional arguments are kept in p. */
static heed_config *parse(program *p, heed_ctx *c, int argc, char **argv) {
    const command *k = p->command;
    spell_out(k, argc, argv);
    if (k->task_options && !(p->model = task_of(c, p, argc, argv))) {
        if (heed_ctx_status(c) == HEED_OK) refuse_task(c, p, argc, argv);
        return NULL;
    }
    heed_config *f = settings_of(c, k, p->model);
    if (!check_options(p, f, c, argc, argv)) return NULL;
    if (!files_are_named(c, k, f, argc, argv) || !heed_config_args(f, &argc, argv)) return NULL;
    if (p->model && !apply_preset(c, p->model, f)) return NULL;
    if (p->model && argc > 0 && strcmp(argv[0], p->model->name) == 0) argc--, argv++;
    p->argc = argc, p->argv = argv;
    if (!check_equals(p, f, c, argc, argv)) return NULL;
    bool several =
        argc != 2 || strcmp(argv[1], "-") == 0 || is_directory(argv[1]) || is_pattern(argv[1]);
    if (!check_count(c, k, argc, argv) || !paths_fit(c, f, argc, argv) ||
        !outputs_are_apart(c, p->models, f, k->numbers && several, argc, argv))
        return NULL;
    if (!k->continues) return f;
    /* a context's seed is set when it is opened, so the run's seed is read first */
    const heed_model *m;
    heed_config *run = run_settings(c, p->models, argv[0], &m);
    if (run) p->seed = (uint64_t)heed_config_int(run, "seed");
    return run ? f : NULL;
}

bool program_open(program *p, int argc, char **argv) {
    heed_ctx *c = heed_open(
        &(heed_options){.threads = 1, .log = show_message, .explain = explain_setting, .user = p});
    heed_config *f = heed_ctx_status(c) == HEED_OK ? parse(p, c, argc, argv) : NULL;
    if (!f) {
        p->c = c;
        return false;
    }
    p->json_lines =
        heed_config_has(f, "progress") && strcmp(heed_config_text(f, "progress"), "json") == 0;
    open_context(p, f);
    if (heed_ctx_status(p->c) == HEED_OK) {
        p->flags = settings_of(p->c, p->command, p->model);
        copy_given(p->flags, f);
    }
    heed_close(c);
    return heed_ctx_status(p->c) == HEED_OK;
}

heed_status end_output(heed_status status, bool json_lines) {
    static const char why[] = "cannot write to standard output";
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (json_lines)
        print_event("error", why);
    else
        print_note("", why);
    return status == HEED_OK ? HEED_FAILED : status;
}

int program_close(program *p) {
    heed_status status = heed_ctx_status(p->c) == HEED_OK ? p->status : heed_ctx_status(p->c);
    fflush(stdout);
    if (heed_ctx_status(p->c) != HEED_OK) show_error(p, heed_ctx_error(p->c));
    status = end_output(status, p->json_lines);
    heed_close(p->c);
    return status == HEED_INTERRUPTED ? 130 : (int)status;
}

heed_config *task_config(program *p) {
    heed_config *f = training_config(p->c, p->model);
    copy_given(f, p->flags);
    heed_config_set(f, "task", p->model->name, "TASK", HEED_FROM_FLAG);
    return f;
}

heed_config *run_settings(heed_ctx *c, const heed_model *const *models, const char *dir,
                          const heed_model **m) {
    char path[1024];
    if (!is_file(heed_run_file(dir, "config.conf", path, sizeof path))) {
        heed_run_close(heed_run_open(c, dir, models, NULL)); /* fails, and says what is there */
        return NULL;
    }
    if (!(*m = model_of_file(c, models, path))) {
        heed_fail(c, HEED_DATA, "%s: expected a line task = NAME with a task of this program",
                  path);
        return NULL;
    }
    heed_config *f = training_config(c, *m);
    if (!heed_run_settings(c, dir, f)) return NULL;
    return f;
}

bool data_exists(program *p, const heed_model *m, const heed_config *f, const char *key,
                 const char *option) {
    heed_text other = {.c = p->c};
    bool ok = heed_text_add(&other, "`%s %s %sPATH`, where PATH is %s", p->command->name,
                            p->argv[0], option, data_of(m)->noun) &&
              heed_run_has_data(p->c, m, p->argv[0], f, key, other.s);
    heed_text_free(&other);
    return ok;
}

static const heed_tokenizer *vocabulary_of(const heed_run *r) {
    return !r ? NULL : r->source ? r->source : r->tokenizer;
}

heed_run *open_run(program *p, const char *dir) {
    heed_run *r = heed_run_open(p->c, dir, p->models, NULL);
    p->vocabulary = vocabulary_of(r);
    if (!r || settings_apply(p, r, dir)) return r;
    close_run(p, r);
    return NULL;
}

void close_run(program *p, heed_run *r) {
    if (p->vocabulary == vocabulary_of(r)) p->vocabulary = NULL;
    heed_run_close(r);
}

bool refuse_empty_stdin(program *p) {
    return heed_fail(p->c, HEED_DATA,
                     "standard input: no lines: expected the input of %s %s %s; hint: is the file "
                     "or the pipe empty?",
                     program_name(), p->command->name, p->command->usage);
}

bool wrong_run(program *p, const char *takes, const heed_run *r) {
    const char *run = p->argv[0];
    const char *name = r->model->name, *article = strchr("aeimr", name[0]) ? "an" : "a";
    return heed_fail(p->c, HEED_USAGE, "%s requires %s: %s holds %s %s; hint: `%s %s`",
                     p->command->name, takes, run, article, name, use_of(r->model), run);
}
