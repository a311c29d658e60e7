/* lesson_mix.c -- attention without parameters: h = X a, tokens as columns. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { WORDS = 3, WIDTH = 2, CHOICES = 5 };
static const char *const words[] = {"lion", "zebra", "grass"};
static const char *const features[] = {"runs", "grows"};
static const double rows[] = {2, 0, 1, 0, 0, 2}; /* (WORDS,WIDTH): X' */
static const double as_it_is[] = {1, 0, 0, 1};

static const char *const choices[] = {"shares", "one of them", "the mean", "sums to 1.45",
                                      "below 0"};
static const double a[CHOICES * WORDS] = {.5,     .45, .05, 1,  0,  0,   1. / 3, 1. / 3,
                                          1. / 3, .5,  .45, .5, .5, -.5, 0};

/* The notes' example of sim(Q, K), a row for each word; its third row sums to 1.45. */
static const double printed[WORDS * WORDS] = {0, 1, 0, .7, .3, 0, .5, .45, .5};

/* The words are columns unless rows are asked for, in files and pictures, too. */
bool mix_head(explaining *e) {
    heed_attention_trace_args args = {.tokens = WORDS,
                                      .features = WIDTH,
                                      .key = WIDTH,
                                      .value = WIDTH,
                                      .x = rows,
                                      .w_q = as_it_is,
                                      .w_k = as_it_is,
                                      .w_v = as_it_is,
                                      .beta = 1};
    if (heed_config_rank(e->p->flags, "notation") == HEED_FROM_DEFAULT) e->columns = true;
    return worked_make(e, &args,
                       (worked){.example = "mix",
                                .title = "attention without parameters",
                                .tokens = words,
                                .features = features,
                                .q = features,
                                .v = features});
}

/* The sum of each row, its 1-norm and its number of nonzeros. */
static heed_matrix sizes_of(explaining *e, heed_matrix m) {
    heed_matrix s = matrix_new(e, m.rows, 3);
    for (int i = 0; s.x && i < m.rows * m.cols; i++) {
        double *size = s.x + i / m.cols * 3, x = m.x[i];
        size[0] += x, size[1] += fabs(x), size[2] += x != 0;
    }
    return s;
}

static heed_matrix sums_of(explaining *e, heed_matrix m) {
    heed_matrix s = sizes_of(e, m);
    for (int i = 0; i < s.rows; i++) s.x[i] = s.x[3 * i];
    return (heed_matrix){s.rows, 1, s.x};
}

void mix_steps(explaining *e) {
    static const char *const size[] = {"sum", "||a||_1", "||a||_0"};
    const heed_attention_trace_args *args = &e->w.lesson.args;
    heed_matrix x = matrix_of(e, WORDS, WIDTH, rows), mixed = matrix_of(e, CHOICES, WORDS, a);
    heed_matrix faulty = matrix_of(e, WORDS, WORDS, printed);
    heed_matrix divided = matrix_of(e, WORDS, WORDS, printed), sums = sums_of(e, faulty);
    if (failed(e)) return;
    for (int i = 0; i < WORDS * WORDS; i++) divided.x[i] /= sums.x[i / WORDS];
    e->title = "Attention without parameters: h = X a";
    e->words = "The words are the columns of X, and a says how much of each goes into h.";
    e->commands = "explain mix --notation rows\n"
                  "explain mix --beta 0\n"
                  "explain mix --hard";
    add_step(e, NULL, NULL, NULL);
    show(e, "", "X", x, features, words)->transposed = true;
    lesson_step *s = add_step(e, "One word", "h = X a", NULL);
    show(e, "", "a", mixed, choices, words);
    show(e, "", "size", sizes_of(e, mixed), choices, size);
    show(e, "", "h = X a", product_of(e, mixed, x), choices, features);
    s->after = "Soft attention has ||a||_1 = 1. Hard attention has one nonzero, ||a||_0 = 1: it "
               "takes one of the words. Look at the last two rows. If the sum is not 1, h is not a "
               "mean. ||a||_1 = 1 alone is not enough: it also holds if a share is below 0, and "
               "then h is a difference. Shares must be at least 0 and sum to 1, which is what "
               "softmax gives.";
    add_step(e, "Shares for every word", "A / its sums",
             "A matrix A holds such shares for every word, here a row each. This is the notes' "
             "example of sim(Q, K). Its third row, .5 .45 .5, sums to 1.45, so it is not a "
             "discrete probability distribution; divided by its sum it is one. (Perhaps .5 .45 .05 "
             "was meant, the first row of the table above.)");
    show(e, "", "A as printed", faulty, words, words);
    show(e, "", "its sums", sums, words, size);
    show(e, "", "A / its sums", divided, words, words);
    show(e, "", "their sums", sums_of(e, divided), words, size);
    const char *beta = fabs(args->beta - 1) > 0 ? text_of(e, "%.4g ", args->beta) : "";
    bool hides = args->causal || memchr(args->hide, 1, WORDS);
    s = add_step(
        e, "All words at once",
        text_of(e, "H = X A, A = %s(%sX' X) of each column", args->hard ? "hardmax" : "softmax",
                beta),
        text_of(e,
                "Where a comes from the words themselves%s%s, all of them mix at once, a column "
                "each.",
                args->hard ? ", 1 at its largest number and 0 elsewhere" : "",
                hides ? ", with 0 for words that are hidden" : ""));
    const heed_matrix *part = e->w.lesson.part;
    show(e, "", "X", part[HEED_TRACE_X], features, words)->transposed = true;
    matrix_view *v = show(e, "·", "A", part[HEED_TRACE_WEIGHTS], words, words);
    v->transposed = true;
    if (args->hard) v->marks = tie_marks(e), s->after = ties_of(e);
    show(e, "=", "H", part[HEED_TRACE_OUTPUT], features, words)->transposed = true;
}
