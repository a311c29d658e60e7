/* inputs.c -- inputs from arguments or the standard input, and as the analyses of heed/inspect.h
 * read them. */
#include "kinds/inputs.h"

#include "cli/choice.h"
#include "cli/os_files.h"
#include "kinds/answers.h"
#include "kinds/records.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void print_shown(heed_ctx *c, const char *text, const char *end) {
    heed_text shown = {.c = c};
    heed_label_text(text, INT_MAX, &shown);
    heed_text_put(&shown, end, strlen(end));
    print_text(&shown);
}

static bool is_control(int32_t code) {
    return (code >= 0 && code < ' ' && code != '\n' && code != '\t') ||
           (code >= 0x7F && code < 0xA0);
}

void print_made(const char *text, size_t n) {
    bool terminal = is_terminal(stdout);
    heed_text shown = {.c = NULL};
    for (size_t i = 0, length; i < n; i += length) {
        int32_t code;
        char one[5] = "";
        length = heed_utf8_read(text + i, n - i, &code);
        memcpy(one, text + i, length);
        if (terminal && is_control(code))
            heed_label_text(one, 1, &shown);
        else
            heed_text_put(&shown, one, length);
    }
    print_text(&shown);
}

static void each_line(program *p, void *user, take_input one, int how) {
    heed_text line = {.c = p->c};
    bool any = false;
    if (is_terminal(stdin)) print_note("", "reading lines from the keyboard; Ctrl-D ends");
    for (p->line = 1; read_stdin_line(p->c, &line); p->line++) {
        size_t nothing = how & BY_LINE ? strspn(line.s, " \t\r\v\f") : 0;
        bool is_input = line.n > nothing || how & EMPTY_LINES;
        any = any || is_input || how & BY_LINE;
        if (is_input && heed_check_text(p->c, line.s, line.n) && one(p, user, line.s, line.n))
            continue;
        if (how & BY_LINE) putchar('\n');
        program_complain(p);
    }
    p->line = 0;
    heed_text_free(&line);
    if (!any) refuse_empty_stdin(p);
    program_complain(p);
}

/* Reads the next line that is not blank. */
static bool next_line(program *p, heed_text *line) {
    while (read_stdin_line(p->c, line))
        if (line->s[strspn(line->s, " \t\r\v\f")]) return true;
    return false;
}

const char *one_input(program *p, const heed_run *r, const char *argument, heed_text *line) {
    heed_text more = {.c = p->c};
    bool picture = sees_pictures(r->model);
    if (picture && !argument)
        heed_fail(p->c, HEED_USAGE, "missing INPUT: expected the file of a picture");
    if (picture || line->s || (argument && strcmp(argument, "-") != 0))
        return line->s ? line->s : argument;
    if (is_terminal(stdin)) print_note("", "reading a line from the keyboard; Ctrl-D ends");
    line->c = p->c;
    if (!next_line(p, line)) {
        if (heed_ctx_status(p->c) == HEED_OK) refuse_empty_stdin(p);
    } else if (next_line(p, &more))
        heed_fail(p->c, HEED_DATA,
                  "standard input has several lines: %s shows one input; hint: head -n 1",
                  p->command->name);
    heed_text_free(&more);
    if (heed_ctx_status(p->c) == HEED_OK) heed_check_text(p->c, line->s, line->n);
    return heed_ctx_status(p->c) == HEED_OK ? line->s : NULL;
}

void note_file(heed_ctx *c, const char *argument, const program *p) {
    bool file = is_file(argument);
    heed_text hint = {.c = NULL};
    if (p && file)
        heed_text_add(&hint, "; hint: `%s %s - < %s` reads the lines of the file", p->command->name,
                      p->argv[0], argument);
    if (file || is_directory(argument))
        heed_message(c, HEED_INFO, "note: %s is read as the text, though a %s has this name%s",
                     argument, file ? "file" : "folder", hint.s ? hint.s : "");
    heed_text_free(&hint);
}

void each_input(program *p, void *user, take_input one, int how) {
    if (p->argc == 1) each_line(p, user, one, how);
    for (int i = 1; i < p->argc; i++) {
        size_t n = strlen(p->argv[i]);
        if (strcmp(p->argv[i], "-") == 0) {
            each_line(p, user, one, how);
            continue;
        }
        bool ok = heed_check_text(p->c, p->argv[i], n) && one(p, user, p->argv[i], n);
        program_complain(p);
        if (ok || !is_picture_name(p->argv[i])) note_file(p->c, p->argv[i], p);
    }
}

/* ---- texts or pictures ---- */

typedef struct {
    void *user;
    take_given one;
} taker;

static bool take_text(program *p, void *user, const char *text, size_t n) {
    const taker *k = user;
    return k->one(p, k->user, &(given_input){text, n, NULL});
}

static bool take_picture_of(program *p, void *user, const char *name, heed_picture *picture) {
    const taker *k = user;
    return k->one(p, k->user, &(given_input){name, 0, picture});
}

void each_given(program *p, const heed_run *r, void *user, take_given one, int how) {
    taker k = {user, one};
    if (sees_pictures(r->model))
        each_picture(p, r, &k, take_picture_of);
    else
        each_input(p, &k, take_text, how);
}

bool read_given(const heed_reader *r, const given_input *in, heed_example *out) {
    return in->picture ? heed_example_picture(r, in->picture, in->name, out)
                       : heed_example_text(r, in->name, in->n, out);
}

/* ---- for the analyses ---- */

/* Numbers separated by spaces or commas; a semicolon separates positions: "1 0; 0.5 1". */
static bool read_numbers(heed_ctx *c, const char *text, heed_real *x, int *rows, int *width) {
    const char *at = text;
    for (*rows = 0; *at; ++*rows) {
        int n = 0;
        for (char *end;; n++, at = end) {
            at += strspn(at, " \t,");
            *x = (heed_real)strtod(at, &end);
            if (end == at) break;
            x++;
        }
        if (*at && *at != ';')
            return heed_fail(c, HEED_USAGE,
                             "the input is not numbers: expected some as in \"1 0; 0.5 1\", found "
                             "%.40s",
                             at);
        if (n == 0 || (*rows > 0 && n != *width))
            return heed_fail(c, HEED_USAGE,
                             "position %d has the wrong width: expected %d numbers, found %d",
                             *rows + 1, *rows ? *width : 1, n);
        *width = n;
        at += *at == ';';
    }
    return *rows > 0 || heed_fail(c, HEED_USAGE, "the input is empty: expected numbers");
}

bool is_text_for(heed_ctx *c, const heed_model *m, const char *text) {
    return !has_tokenizer(m) || !is_picture_name(text) || !is_file(text) ||
           heed_fail(c, HEED_USAGE, "%s is a picture: the run reads texts (%s); hint: a run of vit",
                     text, m->name);
}

bool example_of_given(const heed_run *r, const given_input *in, const char *target,
                      heed_example *out) {
    if (in->picture) return heed_run_picture(r, in->picture, in->name, target, out);
    if (!is_text_for(r->c, r->model, in->name)) return false;
    if (has_tokenizer(r->model) || sees_pictures(r->model))
        return heed_run_text(r, in->name, in->n, target, out);
    int rows, width = 0;
    heed_real *x = malloc((in->n + 1) * sizeof *x);
    if (!x) return heed_fail(r->c, HEED_FAILED, "no memory for %zu numbers", in->n);
    bool ok = read_numbers(r->c, in->name, x, &rows, &width);
    int shape[] = {1, rows > 1 ? rows : width, width}; /* of one row, each number is a position */
    ok = ok && heed_run_numbers(r, x, rows > 1 ? 3 : 2, shape, in->name, out);
    free(x);
    return ok;
}

bool inspect_advance(void *user, uint64_t done, uint64_t all) {
    const inspect_progress *g = user;
    if (!g->p->json_lines) eval_loop_progress(g->p, g->what, done, all);
    return !was_interrupted(NULL);
}

/* ---- guesses ---- */

static int by_probability(const void *a, const void *b) {
    const guess *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

void guesses_of(const heed_real *logits, int n, guess *g) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++) {
        g[i] = (guess){exp((double)logits[i] - top), i};
        sum += g[i].p;
    }
    for (int i = 0; i < n; i++) g[i].p /= sum;
    qsort(g, (size_t)n, sizeof *g, by_probability);
}

void print_guesses(const char *const *labels, const double *p, int count) {
    bool color = has_color(stdout);
    int width = 8;
    char number[16];
    for (int i = 0; i < count; i++) {
        int n = heed_label_columns(labels[i]);
        if (n > width && n < 40) width = n;
    }
    for (int i = 0; i < count; i++) {
        int n = heed_label_columns(labels[i]), taken = width > n ? width : n;
        int left = line_width(stdout) - taken - 12, cells = left < 0 ? 0 : left < 24 ? left : 24;
        int length = (int)lround(cells * p[i]);
        fputs("  ", stdout);
        print_name(labels[i], width, 0);
        printf(" %7s", probability_text(number, p[i], PROBABILITY_COLUMN));
        if (length > 0) fputs(color ? "  \033[36m" : "  ", stdout);
        for (int k = 0; k < length; k++) fputs(color ? "\xe2\x96\x88" : "#", stdout);
        if (length > 0 && color) fputs("\033[0m", stdout);
        putchar('\n');
    }
}

/* ---- layers and heads ---- */

bool layer_index(const heed_run *r, const heed_config *flags, int *index) {
    int count, most = 0;
    heed_record_block *list = heed_attention_layers(r, &count);
    for (int i = 0; i < count; i++)
        if (list[i].layer >= most) most = list[i].layer + 1;
    free(list);
    if (!list) return false;
    *index = chosen_layer(r->c, flags, most, "") - 1;
    return *index >= 0;
}
