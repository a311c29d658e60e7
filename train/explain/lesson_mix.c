/* lesson_mix.c -- attention without parameters: h = X a, tokens as columns. */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 3, WIDTH = 2, CHOICES = 5 };
static const char *const words[] = {"lion", "zebra", "grass"};
static const char *const features[] = {"runs", "grows"};
static const double rows[] = {2, 0, 1, 0, 0, 2}; /* (WORDS,WIDTH): X' */
static const double as_it_is[] = {1, 0, 0, 1};

static const struct {
    const char *name;
    double a[WORDS];
} choices[CHOICES] = {{"shares", {.5, .45, .05}},
                      {"one of them", {1, 0, 0}},
                      {"the mean", {1. / 3, 1. / 3, 1. / 3}},
                      {"sums to 1.45", {.5, .45, .5}},
                      {"below 0", {.5, -.5, 0}}};

/* An attention matrix in rows, a row for each word. The first row is the one in the notes. */
static const double printed[WORDS * WORDS] = {.5, .45, .5, .1, .8, .1, .2, .2, .6};

/* Divides each row of the printed matrix by its sum; sum: before and after. */
static void divide_rows(double a[WORDS * WORDS], double sum[2][WORDS]) {
    for (int i = 0; i < WORDS; i++) {
        sum[0][i] = sum[1][i] = 0;
        for (int j = 0; j < WORDS; j++) sum[0][i] += printed[i * WORDS + j];
        for (int j = 0; j < WORDS; j++)
            sum[1][i] += a[i * WORDS + j] = printed[i * WORDS + j] / sum[0][i];
    }
}

/* h = X a; size: the sum of a, and ||a||_1. */
static void mix(const double *a, double h[WIDTH], double size[2]) {
    for (int k = 0; k < WIDTH; k++) {
        h[k] = 0;
        for (int j = 0; j < WORDS; j++) h[k] += rows[j * WIDTH + k] * a[j];
    }
    size[0] = size[1] = 0;
    for (int j = 0; j < WORDS; j++) {
        size[0] += a[j];
        size[1] += fabs(a[j]);
    }
}

static void draw_choices(explaining *e) {
    static const char *const size[] = {"sum", "||a||_1"};
    const char *rows_of[CHOICES];
    double a[CHOICES * WORDS], sizes[CHOICES * 2], h[CHOICES * WIDTH];
    for (int i = 0; i < CHOICES; i++) {
        rows_of[i] = choices[i].name;
        memcpy(a + i * WORDS, choices[i].a, sizeof choices[i].a);
        mix(choices[i].a, h + i * WIDTH, sizes + i * 2);
    }
    lesson_columns(e, 3,
                   (lesson_block[]){{"a", lesson_matrix(CHOICES, WORDS, a), words},
                                    {"size", lesson_matrix(CHOICES, 2, sizes), size},
                                    {"h = X a", lesson_matrix(CHOICES, WIDTH, h), features}},
                   rows_of);
}

/* The notes' faulty matrix, and the same with rows that sum to 1. */
static void draw_faulty(explaining *e) {
    static const char *const size[] = {"sum"};
    double faulty[WORDS * WORDS], a[WORDS * WORDS], sum[2][WORDS];
    memcpy(faulty, printed, sizeof printed);
    divide_rows(a, sum);
    say(e,
        "A matrix A holds such shares for every word, here a row each. The notes print its first "
        "row as .5 .45 .5, whose sum is 1.45: no shares. Divided by its sum it is a mix again, "
        "as are the others, which have the sum 1 already. (Read as .5 .45 .05, a misprint, it "
        "would be the first row of the table above.)");
    lesson_columns(e, 4,
                   (lesson_block[]){{"A as printed", lesson_matrix(WORDS, WORDS, faulty), words},
                                    {"", lesson_matrix(WORDS, 1, sum[0]), size},
                                    {"A / its sums", lesson_matrix(WORDS, WORDS, a), words},
                                    {"", lesson_matrix(WORDS, 1, sum[1]), size}},
                   words);
}

static bool open_self(explaining *e) {
    heed_lesson_args a = {.tokens = WORDS,
                          .features = WIDTH,
                          .key = WIDTH,
                          .value = WIDTH,
                          .x = rows,
                          .w_q = as_it_is,
                          .w_k = as_it_is,
                          .w_v = as_it_is,
                          .beta = 1};
    return worked_make(e, &a,
                       (worked){.example = "mix",
                                .title = "attention without parameters",
                                .tokens = words,
                                .features = features,
                                .q = features,
                                .v = features});
}

static void draw_all(explaining *e) {
    char *marks = e->w.lesson.args.hard ? tie_marks(e) : NULL;
    const heed_matrix *part = e->w.lesson.part;
    const heed_lesson_part shown[] = {HEED_LESSON_X, HEED_LESSON_WEIGHTS, HEED_LESSON_OUTPUT};
    static const char *const names[] = {"X", "A", "H"};
    matrix_view v[3];
    for (int i = 0; i < 3; i++)
        v[i] = (matrix_view){.name = names[i],
                             .m = &part[shown[i]],
                             .transposed = true,
                             .row_labels = i == 1 ? words : features,
                             .col_labels = words,
                             .marks = i == 1 ? marks : NULL};
    draw_equation(&e->out, &e->look, 3, v, (const char *[]){"", "·", "="});
    gap(e);
    if (marks) {
        bool columns = e->columns;
        e->columns = true; /* this example is written so; its files follow the settings */
        write_ties(e);
        e->columns = columns;
        gap(e);
    }
    free(marks);
}

static void own_text(explaining *e) {
    const heed_lesson_args *args = &e->w.lesson.args;
    bool hides = args->causal || memchr(args->hide, 1, WORDS);
    char beta[40] = "";
    if (args->beta < 1 || args->beta > 1) snprintf(beta, sizeof beta, "%.4g ", args->beta);
    heed_matrix m = lesson_matrix(WORDS, WIDTH, (double[WORDS * WIDTH]){0});
    memcpy(m.x, rows, sizeof rows);
    heading(e, "Attention without parameters: h = X a");
    say(e, "The words are the columns of X, and a says how much of each goes into h.");
    draw_matrix(
        &e->out, &e->look,
        &(matrix_view){
            .name = "X", .m = &m, .transposed = true, .row_labels = features, .col_labels = words});
    gap(e);
    draw_choices(e);
    say(e,
        "Look at the last two rows. With a sum that is not 1, h is not a mean but a longer vector; "
        "and ||a||_1 = 1 alone is not enough: with a share below 0 it is 1 as well, and h is a "
        "difference. Shares want a >= 0 and sum 1, which is what softmax gives.");
    draw_faulty(e);
    say(e,
        "Where a comes from the words themselves, A = %s(%sX' X) of each column%s%s, all of them "
        "mix at once: H = X A, a column each.",
        args->hard ? "hardmax" : "softmax", beta,
        args->hard ? ", 1 at its largest number and 0 elsewhere" : "",
        hides ? ", with 0 for words that are hidden" : "");
    draw_all(e);
    lesson_try(e, "explain mix --notation columns\n"
                  "explain mix --beta 0\n"
                  "explain mix --hard");
}

void explain_mix(explaining *e) {
    if (!open_self(e)) return;
    json_t *list = json_array();
    for (int i = 0; i < CHOICES; i++) {
        double h[WIDTH], size[2];
        mix(choices[i].a, h, size);
        json_array_append_new(list, json_pack("{s:s, s:o, s:f, s:f, s:o}", "name", choices[i].name,
                                              "a", lesson_list(choices[i].a, WORDS), "sum", size[0],
                                              "norm1", size[1], "h", lesson_list(h, WIDTH)));
    }
    double faulty[WORDS * WORDS], a[WORDS * WORDS], sum[2][WORDS];
    memcpy(faulty, printed, sizeof printed);
    divide_rows(a, sum);
    e->more =
        json_pack("{s:o, s:{s:o, s:o, s:o, s:o}}", "choices", list, "faulty", "A",
                  lesson_grid(WORDS, WORDS, faulty), "sums", lesson_list(sum[0], WORDS), "divided",
                  lesson_grid(WORDS, WORDS, a), "divided_sums", lesson_list(sum[1], WORDS));
    e->own_text = own_text;
    explain_worked(e);
}
