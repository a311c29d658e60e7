/* explain_ask.c -- --step: the reader predicts a number before it is shown. */
#include "explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One line of standard input without its end; false: there is none. */
static bool read_line(char *line, size_t size) {
    if (!fgets(line, (int)size, stdin)) return false;
    size_t n = strcspn(line, "\n");
    for (int rest = line[n] ? '\n' : getchar(); rest != '\n' && rest != EOF;) rest = getchar();
    line[n] = 0;
    return true;
}

static void say(explaining *e) {
    print_text(&e->out);
    fflush(stdout);
}

/* A number as people type it, with a point or a comma. */
static bool read_number(char *text, double *x) {
    char *comma = strchr(text, ','), *end;
    if (comma) *comma = '.';
    *x = strtod(text, &end);
    while (*end == ' ' || *end == '\t' || *end == '\r') end++;
    return end != text && !*end;
}

/* As exact as the number is shown. */
static bool is_right(double guess, double x, int digits) {
    char a[32], b[32];
    return strcmp(number_text(a, guess, digits), number_text(b, x, digits)) == 0;
}

static void judge(explaining *e, const char *name, char *line, double x, int digits) {
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
    char name[256], line[128] = "";
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
    e->step = read_line(line, sizeof line);
    if (!is_terminal(stdin)) heed_text_put(&e->out, "\n", 1);
    judge(e, name, line, heed_matrix_at(m, row, col), digits);
    heed_text_put(&e->out, "\n", 1);
    return true;
}

void ask_next(explaining *e) {
    char line[128];
    if (!e->step) return;
    heed_text_add(&e->out, "\n(Enter goes on, q shows the rest) ");
    say(e);
    if (!read_line(line, sizeof line) || strcmp(line, "q") == 0) e->step = false;
    if (!is_terminal(stdin)) heed_text_put(&e->out, "\n", 1);
}

void ask_end(explaining *e) {
    if (!e->asked) return;
    heed_text_put(&e->out, "\n", 1);
    draw_words(&e->out, &e->look, "%d of %d predictions were right.", e->right, e->asked);
}
