/* heed_program.c -- the table of commands, the overview and the version. */
#include "commands/shell/shell.h"

#include <heed/program.h>

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *heading; /* heading of this row and of those below */
    const command *command;
} table[] = {
    {"Prepare", &cmd_init},
    {NULL, &cmd_data_check},
    {NULL, &cmd_tokenizer_train},
    {NULL, &cmd_tokenizer_encode},
    {NULL, &cmd_tokenizer_decode},
    {NULL, &cmd_tokenizer_info},
    {"Train", &cmd_train},
    {NULL, &cmd_resume},
    {NULL, &cmd_merge},
    {"Exchange", &cmd_import},
    {NULL, &cmd_export},
    {"Use", &cmd_fill},
    {NULL, &cmd_generate},
    {NULL, &cmd_classify},
    {NULL, &cmd_translate},
    {NULL, &cmd_caption},
    {NULL, &cmd_reconstruct},
    {NULL, &cmd_embed},
    {NULL, &cmd_predict},
    {NULL, &cmd_eval},
    {"Look", &cmd_attend},
    {NULL, &cmd_heads},
    {NULL, &cmd_ablate},
    {NULL, &cmd_view},
    {NULL, &cmd_plot},
    {NULL, &cmd_compare},
    {NULL, &cmd_info},
    {NULL, &cmd_explain},
    {NULL, &cmd_influence},
    {NULL, &cmd_snapshots},
    {NULL, &cmd_graph},
    {"Check", &cmd_gradcheck},
    {NULL, &cmd_bench},
    {NULL, &cmd_doctor},
    {NULL, &cmd_completion},
};
enum { COMMANDS = sizeof table / sizeof *table, NAMES = COMMANDS + 2 };

const command *command_at(int index, const char **heading) {
    if (index < 0 || index >= COMMANDS) return NULL;
    if (heading) *heading = table[index].heading;
    return table[index].command;
}

static const char *const *list_commands(const char *names[NAMES]) {
    for (int i = 0; i < COMMANDS; i++) names[i] = table[i].command->name;
    names[COMMANDS] = "help";
    names[COMMANDS + 1] = NULL;
    return names;
}

/* Commands that train that model, and use it. */
static void add_first(const heed_model *const *models, bool (*fits)(const heed_model *m),
                      const char *heading, heed_text *out) {
    char flags[96];
    const heed_model *m = first_of(models, fits);
    if (!m) return;
    const char *use = use_of(m), *input = "";
    if (strcmp(use, "fill") == 0) input = " \"The king went to the [MASK] .\"";
    if (strcmp(use, "generate") == 0) input = " --prompt \"The king went\"";
    if (strcmp(use, "classify") == 0) input = " rose.jpg";
    if (strcmp(use, "translate") == 0) input = " \"March 5, 1999\" --attention";
    if (strcmp(use, "caption") == 0) input = " photo.jpg";
    heed_text_add(out, "\n%s:\n  %s train %s %s %s\n  %s %s runs/%s%s\n", heading, program_name(),
                  m->name, example_data(m), example_flags(m, flags), program_name(), use, m->name,
                  input);
}

void add_first_examples(const heed_model *const *models, heed_text *out) {
    const heed_model *from = first_of(models, reads_text);
    const heed_model *to = first_of(models, names_texts);
    add_first(models, reads_text, "A first model, and a question to it", out);
    add_first(models, reads_pictures, "A model of pictures in a folder per class", out);
    add_first(models, reads_pairs, "A model of pairs of texts, a line each with a tab between them",
              out);
    add_first(models, writes_captions,
              "A model of captions, a picture's file, a tab and its caption in a line", out);
    if (from && to)
        heed_text_add(out,
                      "\nA model that starts from what another one has learned:\n"
                      "  %s train %s %s --from runs/%s -o runs/%s\n",
                      program_name(), to->name, example_data(to), from->name, to->name);
}

/* Prints the lines, of which only those of commands may be wider than the terminal. */
static void print_examples(const char *s) {
    for (int n; s && *s; s += n + (s[n] != 0)) {
        n = (int)strcspn(s, "\n");
        if (*s == ' ' || n == 0)
            printf("%.*s\n", n, s);
        else
            print_fact(0, "", "%.*s", n, s);
    }
}

static void print_overview(const heed_model *const *models) {
    char name[40];
    print_fact(0, "",
               "heed " HEED_VERSION ": trains small transformers on texts or pictures and shows "
               "what they attend to");
    printf("\nUsage: %s COMMAND [ARGS] [--key value]\n", program_name());
    for (int i = 0; i < COMMANDS; i++) {
        if (table[i].heading) printf("\n%s:\n", table[i].heading);
        snprintf(name, sizeof name, "  %s", table[i].command->name);
        print_fact(21, name, "%s", table[i].command->help);
    }
    heed_text first = {.c = NULL};
    add_first_examples(models, &first);
    print_examples(first.s);
    heed_text_free(&first);
    putchar('\n');
    print_fact(0, "", "`%s help COMMAND` explains a command and all its settings.", program_name());
}

/* How many words of argv name the command: 2, 1, which may be quoted as messages quote it, "data
 * check", or 0 if they name another. */
static int words_of(const command *k, int argc, char **argv) {
    const char *space = strchr(k->name, ' ');
    if (argc > 0 && strcmp(argv[0], k->name) == 0) return 1;
    if (!space) return 0;
    size_t n = (size_t)(space - k->name);
    return argc > 1 && strlen(argv[0]) == n && strncmp(argv[0], k->name, n) == 0 &&
                   strcmp(argv[1], space + 1) == 0
               ? 2
               : 0;
}

const command *find_command(int argc, char **argv, int *words) {
    for (int i = 0; i < COMMANDS; i++)
        if ((*words = words_of(table[i].command, argc, argv)) > 0) return table[i].command;
    return NULL;
}

/* "tokenizer" without a second word names a group, whose commands are printed. */
static int print_family(const char *word, FILE *out) {
    size_t n = strlen(word);
    int found = 0;
    for (int i = 0; i < COMMANDS; i++) {
        const command *k = table[i].command;
        if (strncmp(k->name, word, n) != 0 || k->name[n] != ' ') continue;
        if (found++ == 0) fprintf(out, "Usage: %s %s COMMAND [ARGS]\n\n", program_name(), word);
        fprintf(out, "  %s %s %s\n      %s\n", program_name(), k->name, k->usage, k->help);
    }
    return found;
}

static bool is_family(const char *word) {
    size_t n = strlen(word);
    for (int i = 0; i < COMMANDS; i++)
        if (strncmp(table[i].command->name, word, n) == 0 && table[i].command->name[n] == ' ')
            return true;
    return false;
}

static const char *help_of(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(table[i].command->name, name) == 0) return table[i].command->help;
    return "explain a command";
}

/* The model of the run that an argument names, where the word means a use of some run; or NULL. */
static const heed_model *model_to_use(const heed_model *const *models, const char *near, int argc,
                                      char **argv) {
    static const char *const uses[] = {"fill",      "generate", "classify",
                                       "translate", "caption",  "reconstruct"};
    const heed_model *m = NULL;
    bool is_use = false;
    for (size_t i = 0; near && i < sizeof uses / sizeof *uses; i++)
        is_use |= strcmp(near, uses[i]) == 0;
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    for (int i = 1; is_use && !m && i < argc; i++) m = model_of_run(c, models, argv[i]);
    heed_close(c);
    return m;
}

/* What to say of a word that is a task, maybe by the name that other programs give it. */
static const char *task_note(const heed_model *const *models, const char *word, char text[160]) {
    const char *task = known_task(word);
    const heed_model *m = find_model(models, word);
    if (!m && task) m = find_model(models, task);
    if (!m) return NULL;
    snprintf(text, 160, "`train %s --help` explains the task, `train %s %s` trains a model of it",
             m->name, m->name, *example_data(m) ? "DATA -o RUN" : "-o RUN");
    return text;
}

static int unknown_command(int argc, char **argv, const heed_model *const *models) {
    char typed[128], why[512], task[160], other[160];
    const char *names[NAMES], *note = NULL;
    program p = {.models = models, .commands = list_commands(names)};
    heed_text shown = {.c = NULL};
    bool two = argc > 1 && is_family(argv[0]);
    snprintf(typed, sizeof typed, "%s%s%s", argv[0], two ? " " : "", two ? argv[1] : "");
    const char *near = known_command(typed, &note);
    const heed_model *m = model_to_use(models, near, argc, argv);
    bool vague = note != NULL; /* the word may mean the use of any run */
    if (m && vague) near = use_of(m), note = NULL;
    if (!near && !note) note = task_note(models, typed, task);
    if (!near && !note) near = heed_closest(typed, names);
    *other = 0;
    if (m && !vague && strcmp(near, use_of(m)) != 0)
        snprintf(other, sizeof other, "; hint: a run of %s has `%s` instead", m->name, use_of(m));
    if (!*typed)
        snprintf(why, sizeof why,
                 "the command is empty; hint: is a variable of the shell not set?");
    else if (note)
        snprintf(why, sizeof why, "unknown command %s; hint: %s", typed, note);
    else if (near)
        snprintf(why, sizeof why, "unknown command %s: did you mean %s? (%s)%s", typed, near,
                 help_of(near), other);
    else
        snprintf(why, sizeof why, "unknown command %s; hint: `%s --help` lists all", typed,
                 program_name());
    add_shown(&p, why, &shown);
    print_note("", shown.s ? shown.s : why);
    heed_text_free(&shown);
    return HEED_USAGE;
}

static int explain_command(program *p, int argc, char **argv) {
    return (int)end_output(print_help(p, argc, argv), false);
}

/* heed help, heed help COMMAND; with --man before it, as a man page. */
static int help(int argc, char **argv, const heed_model *const *models) {
    int words = 0;
    bool manual = argc > 0 && strcmp(argv[0], "--man") == 0;
    argc -= manual, argv += manual;
    while (argc > 0 && strcmp(argv[0], "help") == 0) argc--, argv++;
    if (argc == 0 && !manual) return print_overview(models), (int)end_output(HEED_OK, false);
    const command *k = find_command(argc, argv, &words);
    const char *names[NAMES];
    program p = {.command = k, .models = models, .commands = list_commands(names)};
    if (manual && (k || argc == 0))
        return (int)end_output(print_manual(&p) ? HEED_OK : HEED_FAILED, false);
    if (k) return explain_command(&p, argc - words, argv + words);
    return print_family(argv[0], stdout) ? (int)end_output(HEED_OK, false)
                                         : unknown_command(1, argv, models);
}

/* Errors of one process are those of all. */
static int finish(program *p) {
    cluster_agree(p);
    return program_close(p);
}

static int run_command(const command *k, int argc, char **argv, const heed_model *const *models,
                       cluster processes) {
    const char *names[NAMES];
    program p = {.command = k,
                 .models = models,
                 .commands = list_commands(names),
                 .started = now(),
                 .cluster = processes};
    char **words = calloc((size_t)argc + 1, sizeof *words); /* parsing changes argv */
    if (words) memcpy(words, argv, (size_t)argc * sizeof *words);
    p.words = words;
    whole_json();
    int status;
    if (wants_help(argc, argv)) {
        status = explain_command(&p, argc, argv);
    } else {
        if (program_open(&p, argc, argv)) {
            if (!processes.processes || k->divides)
                k->run(&p);
            else
                heed_fail(p.c, HEED_USAGE,
                          "`%s` runs in one process: found %d; hint: start it without mpirun",
                          k->name, processes.processes->ranks);
        }
        status = finish(&p);
    }
    free(words);
    return status;
}

static int run_program(int argc, char **argv, const heed_model *const *models, cluster processes) {
    int words = 0;
    if (argc == 0 || strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
        return help(0, NULL, models);
    if (strcmp(argv[0], "--version") == 0)
        return puts("heed " HEED_VERSION), (int)end_output(HEED_OK, false);
    if (strcmp(argv[0], "help") == 0) return help(argc - 1, argv + 1, models);
    const command *k = find_command(argc, argv, &words);
    if (k) return run_command(k, argc - words, argv + words, models, processes);
    if (argc > 1 && wants_help(1, argv + 1)) return help(1, argv, models);
    if (argc == 1 && print_family(argv[0], stderr)) return HEED_USAGE;
    return unknown_command(argc, argv, models);
}

int heed_program(int argc, char **argv, const heed_model *const *models) {
    cluster processes;
    if (!argv || !models || argc < 1) return HEED_USAGE;
    set_program_name(argv[0]);
    ignore_file_limit();
    if (!cluster_open(&processes)) return HEED_USAGE;
    int status = run_program(argc - 1, argv + 1, models, processes);
    cluster_close(&processes);
    return status;
}
