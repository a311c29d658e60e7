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

/* The notes' example of sim(Q, K), a row for each word; its third row sums to 1.45. */
static const double printed[WORDS * WORDS] = {0, 1, 0, .7, .3, 0, .5, .45, .5};

/* Divides each row of the printed matrix by its sum; sum: before and after. */
static void divide_rows(double a[WORDS * WORDS], double sum[2][WORDS]) {
    for (int i = 0; i < WORDS; i++) {
        sum[0][i] = sum[1][i] = 0;
        for (int j = 0; j < WORDS; j++) sum[0][i] += printed[i * WORDS + j];
        for (int j = 0; j < WORDS; j++)
            sum[1][i] += a[i * WORDS + j] = printed[i * WORDS + j] / sum[0][i];
    }
}

/* h = X a; size: the sum of a, ||a||_1, and ||a||_0, the number of nonzeros. */
static void mix(const double *a, double h[WIDTH], double size[3]) {
    for (int k = 0; k < WIDTH; k++) {
        h[k] = 0;
        for (int j = 0; j < WORDS; j++) h[k] += rows[j * WIDTH + k] * a[j];
    }
    size[0] = size[1] = size[2] = 0;
    for (int j = 0; j < WORDS; j++) {
        size[0] += a[j];
        size[1] += fabs(a[j]);
        size[2] += a[j] != 0;
    }
}

static void draw_choices(explaining *e) {
    static const char *const size[] = {"sum", "||a||_1", "||a||_0"};
    const char *rows_of[CHOICES];
    double a[CHOICES * WORDS], sizes[CHOICES * 3], h[CHOICES * WIDTH];
    for (int i = 0; i < CHOICES; i++) {
        rows_of[i] = choices[i].name;
        memcpy(a + i * WORDS, choices[i].a, sizeof choices[i].a);
        mix(choices[i].a, h + i * WIDTH, sizes + i * 3);
    }
    lesson_columns(e, 3,
                   (lesson_block[]){{"a", lesson_matrix(CHOICES, WORDS, a), words},
                                    {"size", lesson_matrix(CHOICES, 3, sizes), size},
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
        "A matrix A holds such shares for every word, here a row each. This is the notes' example "
        "of sim(Q, K). Its third row, .5 .45 .5, sums to 1.45, so it is not a discrete probability "
        "distribution; divided by its sum it is one. (Perhaps .5 .45 .05 was meant, the first row "
        "of the table above.)");
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
        write_ties(e);
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
        "Soft attention has ||a||_1 = 1. Hard attention has one nonzero, ||a||_0 = 1: it takes one "
        "of the words. Look at the last two rows. If the sum is not 1, h is not a mean. ||a||_1 = "
        "1 alone is not enough: it also holds if a share is below 0, and then h is a difference. "
        "Shares must be at least 0 and sum to 1, which is what softmax gives.");
    draw_faulty(e);
    say(e,
        "Where a comes from the words themselves, A = %s(%sX' X) of each column%s%s, all of them "
        "mix at once: H = X A, a column each.",
        args->hard ? "hardmax" : "softmax", beta,
        args->hard ? ", 1 at its largest number and 0 elsewhere" : "",
        hides ? ", with 0 for words that are hidden" : "");
    draw_all(e);
    lesson_try(e, "explain mix --notation rows\n"
                  "explain mix --beta 0\n"
                  "explain mix --hard");
}

static json_t *own_json(const explaining *e) {
    (void)e;
    json_t *list = json_array();
    for (int i = 0; i < CHOICES; i++) {
        double h[WIDTH], size[3];
        mix(choices[i].a, h, size);
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:f, s:f, s:f, s:o}", "name", choices[i].name, "a",
                            lesson_list(choices[i].a, WORDS), "sum", size[0], "norm1", size[1],
                            "norm0", size[2], "h", lesson_list(h, WIDTH)));
    }
    double faulty[WORDS * WORDS], a[WORDS * WORDS], sum[2][WORDS];
    memcpy(faulty, printed, sizeof printed);
    divide_rows(a, sum);
    return json_pack("{s:o, s:{s:o, s:o, s:o, s:o}}", "choices", list, "faulty", "A",
                     lesson_grid(WORDS, WORDS, faulty), "sums", lesson_list(sum[0], WORDS),
                     "divided", lesson_grid(WORDS, WORDS, a), "divided_sums",
                     lesson_list(sum[1], WORDS));
}

/* The words are columns unless rows are asked for, in files and pictures, too. */
void explain_mix(explaining *e) {
    if (!open_self(e)) return;
    if (heed_config_rank(e->p->flags, "notation") == HEED_FROM_DEFAULT) e->columns = true;
    e->own_text = own_text;
    e->own_json = own_json;
    explain_worked(e);
}
