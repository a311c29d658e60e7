/* completion.c -- heed completion: the scripts by which bash and zsh complete command lines, and
 * the words that those scripts ask for. */
#include "commands/shell/shell.h"

#include <stdlib.h>
#include <string.h>

/* NAME becomes the program's. Letters that no shell takes in a function's name do not matter: both
 * take those of a file's name. */
static const char bash[] =
    "# bash completion of NAME\n"
    "_NAME() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} word help files= given=()\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
    "        [ -n \"$word\" ] && [ \"$word\" != = ] && given+=(\"$word\")\n"
    "    done\n"
    "    [ \"$current\" = = ] && current=\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r word help; do\n"
    "        case $word in\n"
    "        :files) files=1 ;;\n"
    "        -*) [[ $current == -* && $word == \"$current\"* ]] && COMPREPLY+=(\"$word\") ;;\n"
    "        \"$current\"*) COMPREPLY+=(\"$word\") ;;\n"
    "        esac\n"
    "    done < <(\"${COMP_WORDS[0]}\" completion words -- \"${given[@]}\" 2>/dev/null)\n"
    "    [ -n \"$files\" ] || compopt +o default 2>/dev/null\n"
    "}\n"
    "complete -o default -F _NAME NAME\n";
static const char zsh[] =
    "#compdef NAME\n"
    "_NAME() {\n"
    "    local line word files=\n"
    "    local -a given options others\n"
    "    given=(\"${(@Q)words[2,CURRENT-1]:#}\")\n"
    "    compset -P '--*=' && given+=(\"${IPREFIX%=}\")\n"
    "    for line in \"${(@f)$(\"${(Q)words[1]}\" completion words -- $given 2>/dev/null)}\"; do\n"
    "        word=${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\n"
    "        case $line in\n"
    "        :files*) files=1 ;;\n"
    "        -*) options+=($word) ;;\n"
    "        ?*) others+=($word) ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#others )) && _describe -V word others\n"
    "    (( $#options )) && _describe -o option options\n"
    "    [[ -n $files ]] && _files\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _NAME ]; then _NAME \"$@\"; else compdef _NAME NAME; fi\n";

static void print_script(const char *script) {
    for (const char *at; (at = strstr(script, "NAME")) != NULL; script = at + 4)
        printf("%.*s%s", (int)(at - script), script, message_name());
    fputs(script, stdout);
}

/* ---- words ---- */

/* A line of the answer. :files stands for the names of files and folders. */
static void print_word(const char *word, size_t n, const char *help) {
    printf("%.*s\t%s\n", (int)n, word, help);
}
static void print_files(void) { puts(":files\t"); }

/* The commands; or, after the first word of a group, the second words. */
static void print_commands(const char *group) {
    const char *last = "";
    const command *k;
    for (int i = 0; (k = command_at(i, NULL)) != NULL; i++) {
        size_t n = strcspn(k->name, " "), m = strlen(group);
        bool grouped = k->name[n] == ' ', shown = *group == 0;
        if (shown && !(strlen(last) >= n && strncmp(last, k->name, n) == 0 && last[n] == ' '))
            print_word(k->name, n, grouped ? "several commands" : k->help);
        if (!shown && grouped && m == n && strncmp(k->name, group, m) == 0)
            print_word(k->name + n + 1, strlen(k->name + n + 1), k->help);
        last = k->name;
    }
    if (!*group) print_word("help", 4, "explain a command and all its settings");
}

static void print_tasks(const program *p) {
    for (const heed_model *const *m = p->models; *m; m++)
        print_word((*m)->name, strlen((*m)->name), (*m)->help);
}

static void print_values(const heed_option *o, const heed_model *m) {
    if (m && strcmp(o->name, "preset") == 0) {
        for (const heed_preset *k = m->presets; k && k->name; k++)
            print_word(k->name, strlen(k->name), k->help);
        return;
    }
    for (const char *s = o->choices ? o->choices : ""; *s; s += *s == '|') {
        size_t n = strcspn(s, "|");
        print_word(s, n, o->help);
        s += n;
    }
    if (o->kind == HEED_OPTION_STRING && !o->choices) print_files();
}

/* The setting "layers" of "--layers" among those of the command and the task. */
static const heed_option *setting_of(const heed_config *f, const char *flag) {
    const char *name = strcmp(flag, "-o") == 0 ? "out" : flag + 2;
    for (int i = 0; flag[0] == '-' && i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        if (strcmp(o->name, name) == 0) return o;
    }
    return NULL;
}

static void print_settings(const program *p, const heed_config *f) {
    char flag[80];
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        bool on =
            o->kind == HEED_OPTION_BOOL && strcmp(heed_config_default(f, o->name), "true") == 0;
        heed_text help = {.c = NULL};
        if (is_internal(o)) continue;
        snprintf(flag, sizeof flag, "--%s%s", on ? "no-" : "", o->name);
        add_shown(p, o->help, &help);
        print_word(flag, strlen(flag), help.s ? help.s : "");
        heed_text_free(&help);
    }
    print_word("--help", 6, "explain the command and all its settings");
    if (p->command->task_options) print_word("-c", 2, "read settings from a file");
}

/* What may follow the words argv of command p->command. */
static void print_next(program *p, int argc, char **argv) {
    const command *k = p->command;
    const char *last = argc > 0 ? argv[argc - 1] : "";
    const heed_model *m = k->task_options ? task_of(p->c, p, argc, argv) : NULL;
    heed_clear(p->c); /* the file of -c may be unreadable yet */
    heed_config *f = settings_of(p->c, k, m);
    const heed_option *o = setting_of(f, last);
    if (o && takes_value(p, last)) {
        print_values(o, m);
    } else if (strcmp(last, "-c") == 0) {
        print_files();
    } else {
        if (k->task_options && !m) print_tasks(p);
        if (k->args.most != 0 && (!k->task_options || m || k->task_or_run)) print_files();
        print_settings(p, f);
    }
    heed_config_free(f);
}

/* What may follow the words argv[0 .. argc - 1]. */
static void print_words(program *p, int argc, char **argv) {
    int used = 0;
    bool helps = argc > 0 && strcmp(argv[0], "help") == 0;
    const command *k = find_command(argc - helps, argv + helps, &used);
    program of = {.command = k, .models = p->models, .commands = p->commands, .c = p->c};
    argc -= helps, argv += helps;
    if (k && !helps)
        print_next(&of, argc - used, argv + used);
    else if (k && k->task_options && argc == used)
        print_tasks(p);
    else if (!k && argc < 2)
        print_commands(argc > 0 ? argv[0] : "");
}

/* ---- heed completion ---- */

static void completion(program *p) {
    const char *what = p->argv[0];
    if (strcmp(what, "bash") == 0)
        print_script(bash);
    else if (strcmp(what, "zsh") == 0)
        print_script(zsh);
    else if (strcmp(what, "words") == 0)
        print_words(p, p->argc - 1, p->argv + 1);
    else
        heed_fail(p->c, HEED_USAGE, "unknown shell %s: expected bash, zsh or words", what);
}

const command cmd_completion = {
    .name = "completion",
    .usage = "SHELL",
    .help = "print a script by which bash or zsh completes command lines",
    .about =
        "Prints the completion script of a SHELL, bash or zsh: commands, tasks, settings and\n"
        "their values, and names of files. `make install` puts both where the shells look for\n"
        "them. `completion words -- WORD...` prints what may follow these words, a line each\n"
        "with a tab before its explanation; :files stands for the names of files. The scripts\n"
        "ask for that, so that they always fit the program.",
    .examples = "  source <(heed completion bash)\n"
                "  heed completion zsh > ~/.zfunc/_heed\n"
                "  heed completion words -- train gpt --norm\n",
    .args = {1, -1},
    .run = completion,
};
