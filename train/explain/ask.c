/* ask.c -- --step: the reader predicts a number before it is shown. */
#include "cli/files.h"
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the line typed, or "" at the end of the input, after which nothing more is asked. */
static const char *read_answer(explaining *e, heed_text *line) {
    e->step = read_stdin_line(e->c, line);
    if (!is_terminal(stdin)) heed_text_put(&e->out, "\n", 1);
    return e->step ? line->s : "";
}

static void say(explaining *e) {
    print_text(&e->out);
    fflush(stdout);
}

/* A number as people type it, with a point or a comma. */
static bool read_number(const char *text, double *x) {
    char number[64], *comma, *end;
    snprintf(number, sizeof number, "%s", text);
    if ((comma = strchr(number, ',')) != NULL) *comma = '.';
    *x = strtod(number, &end);
    while (*end == ' ' || *end == '\t') end++;
    return end != number && !*end;
}

/* Whether a guess is right, to the digits of the number shown. */
static bool is_right(double guess, double x, int digits) {
    char a[32], b[32];
    return strcmp(number_text(a, guess, digits), number_text(b, x, digits)) == 0;
}

static void judge(explaining *e, const char *name, const char *line, double x, int digits) {
    double guess;
    char shown[32];
    number_text(shown, x, digits);
    if (!line[strspn(line, " \t\r")]) return;
    if (strcmp(line, "q") == 0) {
        e->step = false;
        return;
    }
    if (!read_number(line, &guess)) {
        draw_words(&e->out, &e->look, "That is no number: %s is %s.", name, shown);
        return;
    }
    e->asked++;
    bool right = is_right(guess, x, digits);
    e->right += right;
    if (right)
        draw_words(&e->out, &e->look, "Right: %s is %s.", name, shown);
    else
        draw_words(&e->out, &e->look, "Not this time: %s is %s.", name, shown);
}

bool ask_cell(explaining *e, heed_lesson_part part, int row, int col, int count,
              const matrix_view *given, const char *const *between) {
    char name[256];
    heed_text line = {.c = e->c};
    if (!e->step || part == HEED_LESSON_SCORES) return false;
    const heed_matrix *m = &e->w.lesson.part[part];
    int digits = matrix_digits(m, e->look.precision);
    draw_equation(&e->out, &e->look, count, given, between);
    cell_name(e, part, row, col, name, sizeof name);
    heed_text_put(&e->out, "\n", 1);
    heed_text_add(&e->out, "What is %s", name);
    if (digits) heed_text_add(&e->out, ", to %d digits", digits);
    heed_text_add(&e->out, "? ");
    say(e);
    judge(e, name, read_answer(e, &line), heed_matrix_at(m, row, col), digits);
    heed_text_put(&e->out, "\n", 1);
    heed_text_free(&line);
    return true;
}

void ask_next(explaining *e) {
    heed_text line = {.c = e->c};
    if (!e->step) return;
    heed_text_add(&e->out, "\n(Enter continues, q shows the rest) ");
    say(e);
    if (strcmp(read_answer(e, &line), "q") == 0) e->step = false;
    heed_text_free(&line);
}

void ask_end(explaining *e) {
    if (!e->asked) return;
    heed_text_put(&e->out, "\n", 1);
    draw_words(&e->out, &e->look, "%d of %d predictions were right.", e->right, e->asked);
}
