/* ask.c -- --step: the reader predicts a number before it is shown. */
#include "cli/os_files.h"
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shows what was written so far and returns the line typed, or "" at the end of the input, after
 * which nothing more is asked. */
static const char *read_answer(explaining *e, heed_text *line) {
    print_text(&e->out);
    fflush(stdout);
    e->step = read_stdin_line(e->c, line);
    if (!is_terminal(stdin)) gap(e);
    return e->step ? line->s : "";
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

/* Reports whether the number typed is x, to the digits shown. */
static void evaluate(explaining *e, const char *name, const char *line, double x, int digits) {
    double guess;
    char shown[32], guessed[32];
    number_text(shown, x, digits);
    if (!line[strspn(line, " \t\r")]) return;
    if (strcmp(line, "q") == 0) {
        e->step = false;
        return;
    }
    if (!read_number(line, &guess)) {
        put_words(e, "That is not a number: %s is %s.", name, shown);
        return;
    }
    bool right = strcmp(number_text(guessed, guess, digits), shown) == 0;
    e->asked++;
    e->right += right;
    put_words(e, "%s: %s is %s.", right ? "Right" : "Not this time", name, shown);
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
    gap(e);
    heed_text_add(&e->out, "What is %s", name);
    if (digits) heed_text_add(&e->out, ", to %d digits", digits);
    heed_text_add(&e->out, "? ");
    evaluate(e, name, read_answer(e, &line), heed_matrix_at(m, row, col), digits);
    gap(e);
    heed_text_free(&line);
    return true;
}

void ask_next(explaining *e) {
    heed_text line = {.c = e->c};
    if (!e->step) return;
    heed_text_add(&e->out, "\n(Enter continues, q shows the rest) ");
    if (strcmp(read_answer(e, &line), "q") == 0) e->step = false;
    heed_text_free(&line);
}

void ask_end(explaining *e) {
    if (!e->asked) return;
    gap(e);
    put_words(e, "%d of %d predictions were right.", e->right, e->asked);
}
