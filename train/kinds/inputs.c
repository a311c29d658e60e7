/* inputs.c -- inputs from arguments or the standard input. */
#include "kinds/inputs.h"

#include "cli/files.h"

#include <limits.h>
#include <string.h>

void print_shown(heed_ctx *c, const char *text, const char *end) {
    heed_text shown = {.c = c};
    heed_label_text(text, INT_MAX, &shown);
    heed_text_put(&shown, end, strlen(end));
    print_text(&shown);
}

static void each_line(program *p, void *user, take_input one, bool by_line) {
    heed_text line = {.c = p->c};
    if (is_terminal(stdin)) print_note("", "reading lines from the keyboard; Ctrl-D ends");
    for (p->line = 1; read_stdin_line(p->c, &line); p->line++) {
        size_t nothing = by_line ? strspn(line.s, " \t\r\v\f") : 0;
        if (line.n > nothing && heed_check_text(p->c, line.s, line.n) &&
            one(p, user, line.s, line.n))
            continue;
        if (by_line) putchar('\n');
        program_complain(p);
    }
    p->line = 0;
    heed_text_free(&line);
}

void each_input(program *p, void *user, take_input one, bool by_line) {
    if (p->argc == 1) each_line(p, user, one, by_line);
    for (int i = 1; i < p->argc; i++) {
        size_t n = strlen(p->argv[i]);
        if (strcmp(p->argv[i], "-") == 0)
            each_line(p, user, one, by_line);
        else if (!heed_check_text(p->c, p->argv[i], n) || !one(p, user, p->argv[i], n))
            program_complain(p);
    }
}
