/* manual.c -- heed help --man: the man page of the program, or of a command, from the tables of
 * commands and settings, in the macros of man(7). */
#include "commands/shell/shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 16 };

/* ---- roff ---- */

/* Appends text so that roff prints it as it is. */
static void add_plain(heed_text *out, const char *text) {
    static const char special[] = "\\-`'^~";
    static const char *const escapes[] = {"\\e", "\\-", "\\(ga", "\\(aq", "\\(ha", "\\(ti"};
    bool starts = out->n == 0 || out->s[out->n - 1] == '\n';
    for (; *text; starts = *text++ == '\n') {
        const char *found = strchr(special, *text);
        if (starts && *text == '.') heed_text_add(out, "\\&");
        heed_text_add(out, "%.*s", found ? 0 : 1, text);
        if (found) heed_text_add(out, "%s", escapes[found - special]);
    }
}

/* Appends a text of lines: those that begin with a space stay as they are, others are filled, and
 * empty lines are between paragraphs. */
static void add_lines(heed_text *out, const char *text) {
    bool fixed = false;
    const char *start = text;
    for (const char *next; *text; text = next) {
        size_t n = strcspn(text, "\n");
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        next = text + n + (text[n] == '\n');
        bool was = fixed;
        if (n > 0) fixed = *line == ' ';
        if (fixed != was)
            heed_text_add(out, !fixed ? ".fi\n.PP\n" : text == start ? ".nf\n" : ".PP\n.nf\n");
        if (n == 0 && fixed && *next == ' ') heed_text_add(out, "\n");
        if (n == 0 && !fixed && *next != ' ') heed_text_add(out, ".PP\n");
        if (n == 0) continue;
        add_plain(out, line);
        heed_text_add(out, "\n");
    }
    if (fixed) heed_text_add(out, ".fi\n");
}

/* Text of the program's tables, with its name and flags as the user types them. */
static void add_words(const program *p, heed_text *out, const char *words) {
    heed_text named = {.c = NULL}, shown = {.c = NULL};
    add_help(&named, words);
    if (p->command && named.s) add_shown(p, named.s, &shown);
    add_lines(out, shown.s ? shown.s : named.s ? named.s : "");
    heed_text_free(&named);
    heed_text_free(&shown);
}

/* "heed-tokenizer-train" of "tokenizer train". */
static const char *page_name(const command *k, char name[80]) {
    snprintf(name, 80, "%s%s%s", program_name(), k ? "-" : "", k ? k->name : "");
    for (char *s = strchr(name, ' '); s; s = strchr(s, ' ')) *s = '-';
    return name;
}

static void add_item(const program *p, heed_text *out, const char *name, const char *text) {
    heed_text_add(out, ".TP\n.B ");
    add_plain(out, name);
    heed_text_add(out, "\n");
    add_words(p, out, text);
}

static void add_start(heed_text *out, const command *k, const char *help) {
    char name[80], upper[80];
    page_name(k, name);
    for (size_t i = 0; i <= strlen(name); i++) upper[i] = (char)toupper((unsigned char)name[i]);
    heed_text_add(out, ".TH \"");
    add_plain(out, upper);
    heed_text_add(out, "\" 1 \"\" \"heed " HEED_VERSION "\" \"User Commands\"\n.SH NAME\n");
    add_plain(out, name);
    heed_text_add(out, " \\- ");
    add_plain(out, help);
    heed_text_add(out, "\n.SH SYNOPSIS\n.B ");
}

/* ---- the settings of a command ---- */

/* A setting, and its default for each task that has it. */
typedef struct {
    const heed_option *o;
    const char *group;
    const char *values[TASKS]; /* NULL: this task does not have it */
    bool by_data;              /* some task chooses it from its data */
} entry;
typedef struct {
    entry *at;
    int count;
} entries;

static bool lists(const char *keys, const char *name) {
    for (size_t n; keys && *keys; keys += n + strspn(keys + n, " ")) {
        n = strcspn(keys, " ");
        if (strlen(name) == n && strncmp(keys, name, n) == 0) return true;
    }
    return false;
}

/* chosen: the settings that are chosen from the data, or NULL. */
static void add_entries(entries *list, const heed_config *f, int task, const char *chosen) {
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        int k = 0;
        if (is_internal(o)) continue;
        while (k < list->count && (strcmp(list->at[k].o->name, o->name) != 0 ||
                                   strcmp(list->at[k].o->help, o->help) != 0))
            k++;
        if (k == list->count)
            list->at[list->count++] = (entry){.o = o, .group = heed_config_group(f, i)};
        const char *value = heed_config_default(f, o->name);
        list->at[k].values[task] = value ? value : "";
        list->at[k].by_data |= lists(chosen, o->name);
    }
}

/* Appends "mlm, gpt": the tasks that have the setting, with that default unless it is NULL. */
static void add_tasks(const program *p, heed_text *out, const entry *e, const char *value) {
    const char *mark = "";
    for (int i = 0; i < TASKS && p->models[i]; i++) {
        if (!e->values[i] || (value && strcmp(value, e->values[i]) != 0)) continue;
        heed_text_add(out, "%s%s", mark, p->models[i]->name);
        mark = ", ";
    }
}

/* Appends " [chosen from the data, else 0.003; 0.001 for vit] (mlm, vit)": the defaults, and the
 * tasks if others lack it. */
static void add_defaults(const program *p, heed_text *out, const entry *e) {
    const char *first = NULL;
    bool all = true;
    heed_text text = {.c = NULL};
    for (int i = 0; i < TASKS && (i == 0 || p->models[i]); i++) {
        const char *value = e->values[i];
        bool known = !value || !*value;
        all = all && value;
        for (int j = 0; j < i && !known; j++)
            known = e->values[j] && strcmp(e->values[j], value) == 0;
        if (!known) {
            heed_text_add(&text, "%s%s%s%s", first ? "; " : " [",
                          e->by_data && !first ? "chosen from the data, else " : "", value,
                          first ? " for " : "");
            if (first) add_tasks(p, &text, e, value);
            first = value;
        }
        if (!p->command->task_options) break;
    }
    if (first) heed_text_add(&text, "]");
    if (p->command->task_options && !all) {
        heed_text_add(&text, " (");
        add_tasks(p, &text, e, NULL);
        heed_text_add(&text, ")");
    }
    heed_text_add(out, "%s", text.s ? text.s : "");
    heed_text_free(&text);
}

static void add_entry(const program *p, heed_text *out, const entry *e) {
    static const char *const values[] = {[HEED_OPTION_BOOL] = "",
                                         [HEED_OPTION_INT] = "N",
                                         [HEED_OPTION_REAL] = "X",
                                         [HEED_OPTION_STRING] = "TEXT"};
    const heed_option *o = e->o;
    bool is_bool = o->kind == HEED_OPTION_BOOL, chosen = o->choices != NULL;
    heed_text help = {.c = NULL};
    heed_text_add(out, ".TP\n\\fB\\-\\-%s", is_bool ? "[no\\-]" : "");
    add_plain(out, o->name);
    heed_text_add(out, "\\fR%s", is_bool ? "" : " \\fI");
    add_plain(out, chosen ? o->choices : values[o->kind]);
    heed_text_add(out, is_bool ? "\n" : "\\fR\n");
    heed_text_add(&help, "%s", o->help);
    add_defaults(p, &help, e);
    add_words(p, out, help.s);
    heed_text_free(&help);
}

/* By group, the groups in the order of their first settings. */
static void add_settings(const program *p, heed_text *out, entries *list) {
    for (int i = 0; i < list->count; i++) {
        const char *group = list->at[i].group;
        bool first = true;
        for (int j = 0; j < i && first; j++) first = strcmp(list->at[j].group, group) != 0;
        if (!first) continue;
        heed_text_add(out, ".SS ");
        add_plain(out, group);
        heed_text_add(out, "\n");
        for (int j = i; j < list->count; j++)
            if (strcmp(list->at[j].group, group) == 0) add_entry(p, out, &list->at[j]);
    }
}

static void add_options(program *p, heed_text *out) {
    const command *k = p->command;
    heed_config *f[TASKS] = {0};
    int tasks = 0, total = 1;
    for (; tasks < TASKS && (tasks == 0 || (k->task_options && p->models[tasks])); tasks++) {
        f[tasks] = settings_of(p->c, k, k->task_options ? p->models[tasks] : NULL);
        total += heed_config_count(f[tasks]);
    }
    entries list = {allocate(p->c, (size_t)total, sizeof *list.at, "settings"), 0};
    for (int i = 0; list.at && i < tasks; i++)
        add_entries(&list, f[i], i, k->task_options ? p->models[i]->choices : NULL);
    if (list.count > 0) heed_text_add(out, ".SH OPTIONS\n");
    if (list.at) add_settings(p, out, &list);
    for (int i = 0; i < tasks; i++) heed_config_free(f[i]);
    free(list.at);
}

/* ---- pages ---- */

static void add_command(program *p, heed_text *out) {
    const command *k = p->command;
    heed_text first = {.c = NULL};
    add_start(out, k, k->help);
    heed_text_add(out, "%s %s\n.IR \"", program_name(), k->name);
    add_plain(out, k->usage);
    heed_text_add(out, "\" \" [\\-\\-key value]\"\n.SH DESCRIPTION\n");
    add_words(p, out, k->about ? k->about : k->help);
    if (k->task_options) {
        heed_text_add(out, ".PP\n");
        add_words(p, out,
                  "-c FILE reads settings from a file. A flag overrides the file, the file "
                  "overrides --preset, and the preset overrides the default, shown in brackets.");
        heed_text_add(out, ".SH TASKS\n");
        for (int i = 0; p->models[i]; i++) add_item(p, out, p->models[i]->name, p->models[i]->help);
    }
    add_options(p, out);
    heed_text_add(out, ".SH EXAMPLES\n");
    if (strcmp(k->name, "train") == 0) add_trainings(p->models, NULL, &first);
    heed_text_add(&first, "%s", k->examples);
    add_words(p, out, first.s);
    heed_text_free(&first);
    heed_text_add(out, ".SH SEE ALSO\n.BR %s (1)\n", program_name());
}

static void add_commands(const program *p, heed_text *out) {
    const char *heading;
    char name[80];
    const command *k;
    heed_text_add(out, ".SH COMMANDS\n");
    for (int i = 0; (k = command_at(i, &heading)) != NULL; i++) {
        if (heading) heed_text_add(out, ".SS %s\n", heading);
        heed_text_add(out, ".TP\n.BR ");
        add_plain(out, page_name(k, name));
        heed_text_add(out, " (1)\n");
        add_words(p, out, k->help);
    }
}

static void add_program(const program *p, heed_text *out) {
    static const char *const parts[][3] = {
        {"FILES", NULL,
         "`heed train` writes a run, a folder that is all of the model. These are its main files."},
        {NULL, "config.conf", "all settings; `heed train -c config.conf` repeats the training"},
        {NULL, "model.safetensors", "the best weights on the validation part"},
        {NULL, "last/", "the last checkpoint, from which `heed resume` continues"},
        {NULL, "tokenizer.json, vocab.txt, labels.txt", "tokens or classes"},
        {NULL, "metrics.csv, loss.png, train.log, samples.txt", "how the training went"},
        {"ENVIRONMENT", "OMP_NUM_THREADS", "number of threads, unless --threads is given"},
        {NULL, "NO_COLOR", "if it is set, output has no colours"},
        {NULL, "COLORTERM", "truecolor or 24bit: the terminal shows all colours"},
        {NULL, "COLUMNS", "width of the output"},
        {"EXIT STATUS", "0", "success"},
        {NULL, "1", "the run failed"},
        {NULL, "2", "a command or a setting is wrong"},
        {NULL, "3", "data or a file is wrong"},
        {NULL, "4", "the training diverged"},
        {NULL, "130", "it was interrupted"}};
    heed_text first = {.c = NULL};
    add_start(out, NULL, "train small transformers and show what they attend to");
    heed_text_add(out, "%s\n.I COMMAND\n.RI [ ARGS ]\n[\\-\\-key value]\n.SH DESCRIPTION\n",
                  program_name());
    add_words(p, out,
              "Trains small transformers on texts, pictures and pairs of texts, uses them, and "
              "shows what they attend to. Results are printed on the standard output, everything "
              "else on the standard error. Every key of a settings file is an option of the same "
              "name.");
    add_commands(p, out);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i][0]) heed_text_add(out, ".SH %s\n", parts[i][0]);
        if (parts[i][1])
            add_item(p, out, parts[i][1], parts[i][2]);
        else
            add_words(p, out, parts[i][2]);
    }
    heed_text_add(out, ".SH EXAMPLES\n");
    add_first_examples(p->models, &first);
    add_lines(out, first.s ? first.s + 1 : ""); /* without its first line break */
    heed_text_free(&first);
}

bool print_manual(program *p) {
    set_program_name(message_name());
    p->c = heed_open(&(heed_options){.threads = 1});
    heed_text out = {.c = p->c};
    if (p->command)
        add_command(p, &out);
    else
        add_program(p, &out);
    bool ok = heed_ctx_status(p->c) == HEED_OK;
    if (ok)
        print_text(&out);
    else
        print_note("", heed_ctx_error(p->c));
    heed_text_free(&out);
    heed_close(p->c);
    return ok;
}
