/* help.c -- the help of a command: what it does, its settings with the common ones first, and
 * examples. */
#include "cli/program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

/* Lines that are empty or begin with a space are printed as they are; others may be rewrapped. */
static bool is_fixed(const char *line) { return *line == ' ' || *line == '\n' || !*line; }

/* Prints the text as it is; if a line is wider than the terminal, paragraphs are rewrapped. */
static void print_about(const char *about) {
    int width = terminal_width() < 100 ? terminal_width() : 100;
    bool fits = true;
    heed_text named = {.c = NULL};
    add_help(&named, about);
    const char *text = named.s ? named.s : "";
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n')
        fits = fits && (is_fixed(s) || (int)strcspn(s, "\n") <= width);
    heed_text words = {.c = NULL}, out = {.c = NULL};
    for (const char *s = text, *next; *s; s = next) {
        size_t n = strcspn(s, "\n");
        bool whole = fits || is_fixed(s);
        next = s + n + (s[n] == '\n');
        heed_text_put(whole ? &out : &words, s, n);
        if (!whole && !is_fixed(next)) {
            heed_text_put(&words, " ", 1);
            continue;
        }
        if (!whole) heed_label_words(words.s, 0, width, &out);
        heed_text_free(&words);
        heed_text_put(&out, "\n", 1);
    }
    print_text(&out);
    heed_text_free(&named);
}

/* ---- settings ---- */

/* The most common settings of training; a task's help begins with the first ten that it has. */
static const char *const common[] = {
    "out",       "minutes", "steps",      "batch", "lr",   "layers", "heads", "width", "block",
    "tokenizer", "patch",   "image-size", "flip",  "from", "val",    "seed",  NULL};

bool is_internal(const heed_option *o) {
    bool named = strcmp(o->name, "task") == 0 || strcmp(o->name, "data") == 0;
    return named || strncmp(o->help, "recorded in config.conf", 23) == 0;
}

/* "nano: 2 layers, 4 heads; tiny: ...", without those of benchmarks, unless `all`. */
static void add_presets(heed_text *out, const heed_model *m, bool all) {
    heed_text_add(out, "a set of settings, each of which can be overridden");
    const char *mark = ". ";
    for (const heed_preset *k = m->presets; k && k->name; k++) {
        if (k->workload && !all) continue;
        heed_text_add(out, "%s%s: %s", mark, k->name, k->help);
        mark = "; ";
    }
}

typedef struct {
    heed_option *rows;
    int count;
} rows;

/* Adds the setting unless it is listed already, with its default for the task. */
static void add_row(rows *list, const heed_config *f, const heed_option *o, const char *group) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].name, o->name) == 0) return;
    heed_option *row = &list->rows[list->count++];
    *row = *o;
    row->group = group;
    row->value = heed_config_default(f, o->name);
}

/* The settings of f as rows for the help of task m: the common ones, then the others. */
static void list_rows(rows *list, const heed_config *f, const heed_model *m, const char *presets,
                      bool all) {
    int count = heed_config_count(f);
    for (const char *const *name = common; *name && list->count < 10; name++)
        for (int i = 0; i < count; i++) {
            const heed_option *o = heed_config_at(f, i, NULL);
            if (strcmp(o->name, *name) == 0) add_row(list, f, o, "Common settings");
        }
    for (int i = 0; i < count; i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        heed_option with = *o;
        if (m && strcmp(o->name, "preset") == 0) with.help = presets;
        if (all || !is_internal(o)) add_row(list, f, &with, heed_config_group(f, i));
    }
}

/* Prints the settings that the table's rows give; true if there are any. */
static bool print_table_of(heed_ctx *c, const program *p, const heed_config *f) {
    int width = terminal_width() < 100 ? terminal_width() : 100;
    heed_text text = {.c = c}, shown = {.c = c};
    bool any = heed_config_count(f) > 0 && heed_config_help(f, &text, width);
    if (any) {
        add_shown(p, text.s, &shown);
        print_text(&shown);
        putchar('\n');
    }
    heed_text_free(&text);
    return any;
}

static void print_settings(heed_ctx *c, const program *p, const heed_model *m, bool all) {
    heed_config *f = settings_of(c, p->command, m);
    heed_text presets = {.c = c};
    rows list = {
        .rows = m ? allocate(c, (size_t)heed_config_count(f) + 1, sizeof *list.rows, "settings")
                  : NULL};
    if (!m) {
        print_table_of(c, p, f);
    } else if (list.rows) {
        const heed_option *tables[] = {list.rows, NULL};
        add_presets(&presets, m, all);
        list_rows(&list, f, m, presets.s, all);
        heed_config *ordered = heed_config_new(c, tables);
        heed_config_by_data(ordered, m->choices);
        print_table_of(c, p, ordered);
        heed_config_free(ordered);
        heed_text about = {.c = NULL};
        heed_text_add(&about,
                      "`heed %s %s --help all` also lists what runs record, and presets of "
                      "benchmarks.\n\n",
                      p->command->name, m->name);
        if (!all) print_about(about.s);
        heed_text_free(&about);
    }
    heed_config_free(f);
    heed_text_free(&presets);
    free(list.rows);
}

/* ---- examples ---- */

void add_trainings(const heed_model *const *models, const heed_model *m, heed_text *out) {
    char flags[96];
    for (; *models; models++)
        if (!m || m == *models)
            heed_text_add(out, "  %s train %s %s%s%s\n", program_name(), (*models)->name,
                          example_data(*models), *example_data(*models) ? " " : "",
                          example_flags(*models, flags));
}

/* For a task: the command's examples that name it, or a generated one. */
static void print_examples(const program *p, const heed_model *m) {
    const command *k = p->command;
    char word[40];
    bool trains = strcmp(k->name, "train") == 0, found = false;
    heed_text examples = {.c = NULL}, runs = {.c = NULL};
    puts("Examples:");
    if (trains) add_trainings(p->models, m, &runs);
    print_text(&runs);
    add_help(&examples, k->examples);
    if (!m) fputs(examples.s ? examples.s : "", stdout);
    snprintf(word, sizeof word, " %s ", m ? m->name : "");
    for (const char *s = examples.s; m && s && *s; s += strcspn(s, "\n") + 1) {
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(s, "\n"), s);
        if (!strstr(line, word)) continue;
        puts(line);
        found = true;
    }
    if (m && !found && !trains)
        printf("  %s %s %s %s\n", program_name(), k->name, m->name,
               k->task_example ? k->task_example : example_data(m));
    heed_text_free(&examples);
}

/* "--help all", or "help train gpt all". */
static bool wants_all(int argc, char **argv) {
    return argc > 0 && strcmp(argv[argc - 1], "all") == 0;
}

/* Whether help is asked for a task that does not exist; then c has the error. */
static bool asks_unknown(heed_ctx *c, const program *p, const heed_model *m, int argc,
                         char **argv) {
    bool named = p->command->task_options && !m && argc > 0 && argv[0][0] != '-' &&
                 strcmp(argv[0], "all") != 0 && !is_file(argv[0]) && !is_directory(argv[0]);
    if (named) refuse_task(c, p, argc, argv);
    return named;
}

heed_status print_help(program *p, int argc, char **argv) {
    const command *k = p->command;
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    const heed_model *m = k->task_options ? task_of(c, p, argc, argv) : NULL;
    heed_clear(c);
    if (asks_unknown(c, p, m, argc, argv)) {
        show_error(p, heed_ctx_error(c));
        heed_close(c);
        return HEED_USAGE;
    }
    print_fact(7, "Usage:", "%s %s %s%s[--key value]", program_name(), k->name, k->usage,
               *k->usage ? " " : "");
    putchar('\n');
    if (k->about)
        print_about(k->about);
    else
        print_fact(0, "", "%c%s.", toupper((unsigned char)k->help[0]), k->help + 1);
    putchar('\n');
    if (k->task_options) {
        print_about(
            "-c FILE reads settings from a file. A flag overrides the file, the file "
            "overrides\n--preset, and the preset overrides the default, shown in brackets.");
        putchar('\n');
    }
    if (k->task_options && !m) {
        char name[40];
        puts("Tasks:");
        for (int i = 0; p->models[i]; i++) {
            snprintf(name, sizeof name, "  %s", p->models[i]->name);
            print_fact(21, name, "%s", p->models[i]->help);
        }
        putchar('\n');
        print_fact(0, "", "`%s %s %s --help` lists the settings of a task.", program_name(),
                   k->name, p->models[0]->name);
        putchar('\n');
    }
    print_settings(c, p, m, wants_all(argc, argv));
    print_examples(p, m);
    if (heed_ctx_status(c) != HEED_OK) print_note("", heed_ctx_error(c));
    heed_status status = heed_ctx_status(c) == HEED_OK ? HEED_OK : HEED_FAILED;
    heed_close(c);
    return status;
}
