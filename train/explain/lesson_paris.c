/* lesson_paris.c -- "Paris is the capital of ___" in stages, for the vector z of the gap and the
 * five words X before it: raw z X' X, softmax, 1/sqrt(d), then W_q, W_k and W_v. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { WORDS = 5, WIDTH = 5, KEY = 2, VALUE = 2, ANSWERS = 4 };
static const char *const words[] = {"Paris", "is", "the", "capital", "of"};
static const char *const features[] = {"city", "country", "capital", "small", "French"};
static const char *const asks[] = {"city", "relation"};
static const char *const hands[] = {"country", "French"};
static const char *const asking[] = {"___"};
static const char *const counts[] = {"scores", "weights"};

/* clang-format off */
static const double x[] = {
    3, 0, 0, 0, 2, /* Paris */
    0, 0, 0, 2, 0, /* is */
    0, 0, 0, 2, 0, /* the */
    0, 1, 2, 0, 0, /* capital */
    0, 0, 0, 2, 0, /* of */
};
/* ___: a small gap where a country belongs, after "capital of" */
static const double z[] = {0, 1, 1, 1, 0};
static const double w_q[] = {0, 0,  3, 0,  0, 4,  0, 0,  0, 0};
static const double w_k[] = {1, 0,  0, 0,  0, 1,  0, 0,  0, 0};
static const double w_v[] = {0, 0,  0, 0,  1, 0,  0, 0,  0, 1};
/* clang-format on */
static const char *const queries_note[] = {"", "which city?", "what of it?", "", ""};
static const char *const offers_note[] = {"is a city", "", "is a relation", "", ""};
static const char *const passes_note[] = {"", "", "calls for a country", "", "is French"};

/* Candidates for the gap, described by the features country and French. */
static const char *const answers[] = {"France", "Japan", "baguette", "the"};
static const double answer[ANSWERS * VALUE] = {1, 1, 1, 0, 0, 1, 0, 0};

bool paris_head(explaining *e) {
    heed_attention_trace_args a = {.tokens = 1,
                                   .features = WIDTH,
                                   .sources = WORDS,
                                   .memory = WIDTH,
                                   .key = KEY,
                                   .value = VALUE,
                                   .x = z,
                                   .z = x,
                                   .w_q = w_q,
                                   .w_k = w_k,
                                   .w_v = w_v,
                                   .beta = (double)NAN};
    return worked_make(e, &a,
                       (worked){.example = "paris",
                                .title = "Paris is the capital of ___",
                                .tokens = asking,
                                .sources = words,
                                .features = features,
                                .memory = features,
                                .q = asks,
                                .v = hands,
                                .notes = {queries_note, offers_note, passes_note}});
}

/* A stage without parameters: z X' times beta, with softmax or without, times X. */
static void add_stage(explaining *e, const char *title, const char *formula, const char *said,
                      double beta, bool soft) {
    heed_matrix keys = matrix_of(e, WORDS, WIDTH, x);
    heed_matrix scores = product_of(e, matrix_of(e, 1, WIDTH, z), transpose_of(e, keys));
    heed_matrix both = matrix_new(e, soft ? 2 : 1, WORDS);
    if (failed(e)) return;
    for (int j = 0; j < WORDS; j++) both.x[j] = scores.x[j] *= beta;
    heed_matrix shares = soft ? softmax_of(e, scores) : scores;
    if (soft && !failed(e)) memcpy(both.x + WORDS, shares.x, WORDS * sizeof *both.x);
    add_step(e, title, formula, said);
    show(e, "", "what each word counts", both, counts, words);
    add_step(e, NULL, formula, NULL);
    show(e, "", formula, product_of(e, shares, keys), asking, features);
}

/* Appends the names of those of n numbers that are above a threshold, with digits: their values. */
static const char *list_above(explaining *e, const char *const *names, int n, const double *value,
                              double above, bool digits) {
    heed_text out = {.c = e->c};
    int count = 0, done = 0;
    for (int i = 0; i < n; i++) count += value[i] > above;
    for (int i = 0; i < n; i++) {
        if (!(value[i] > above)) continue;
        heed_text_add(&out, "%s%s", !done ? "" : done == count - 1 ? " and " : ", ", names[i]);
        if (digits) heed_text_add(&out, " (%.2f)", value[i]);
        done++;
    }
    const char *text = text_of(e, "%s", out.s ? out.s : "");
    heed_text_free(&out);
    return text;
}

/* What the weights are with these settings. */
static const char *weights_found(explaining *e, const double *weights) {
    double most = 0, least = 1;
    for (int j = 0; j < WORDS; j++) {
        if (e->w.lesson.hidden[j]) continue;
        most = fmax(most, weights[j]);
        least = fmin(least, weights[j]);
    }
    bool even = most - least <= 1e-9;
    const char *list = list_above(e, words, WORDS, weights, even ? 0 : 1.0 / WORDS, true);
    if (most <= 0) return "All words are hidden, so that every weight is 0.";
    if (e->w.lesson.args.hard)
        return text_of(e, "The hard selection gives all weight to the largest score: %s.", list);
    return text_of(e, "The gap attends to %s%s.", list,
                   even ? " alike: the mean of their values" : "");
}

static const char *best_of(explaining *e, const double *fit) {
    double most = -INFINITY;
    int count = 0;
    for (int i = 0; i < ANSWERS; i++) most = fmax(most, fit[i]);
    for (int i = 0; i < ANSWERS; i++) count += fit[i] > most - 1e-9;
    const char *best = list_above(e, answers, ANSWERS, fit, most - 1e-9, false);
    if (count == ANSWERS) return "No answer fits better than another.";
    if (count > 1) return text_of(e, "These fit best, equally well: %s.", best);
    return text_of(e,
                   "The best fit: %s. Both words are needed: without capital a baguette fits as "
                   "well as France, and without Paris Japan does.",
                   best);
}

/* The last stage is the head with the given settings. */
static void add_last(explaining *e) {
    static const struct {
        const char *left, *right, *result;
        heed_attention_trace_part parts[3];
    } all[] = {{"z", "W_q", "q", {HEED_TRACE_X, HEED_TRACE_W_Q, HEED_TRACE_Q}},
               {"X", "W_k", "K", {HEED_TRACE_Z, HEED_TRACE_W_K, HEED_TRACE_K}},
               {"X", "W_v", "V", {HEED_TRACE_Z, HEED_TRACE_W_V, HEED_TRACE_V}}};
    const heed_attention_trace_args *a = &e->w.lesson.args;
    const heed_matrix *part = e->w.lesson.part;
    const char *formula = a->hard ? "V[argmax q K']"
                          : fabs(a->beta - 1 / sqrt(KEY)) < 1e-12
                              ? "softmax(q K' / sqrt(2)) V"
                              : text_of(e, "softmax(%.4g q K') V", a->beta);
    for (int i = 0; i < 3; i++) {
        const char *names[] = {all[i].left, all[i].right, all[i].result};
        add_step(e, i ? NULL : "With W_q, W_k and W_v", i ? NULL : formula,
                 i ? NULL
                   : "Now weights and mean are of representations: a query q, keys K and values V. "
                     "W_q turns the gap into two questions, \"which city?\" and \"what of it?\". "
                     "By W_k Paris answers the first and capital the second. By W_v the value of "
                     "Paris says that the answer is French, and that of capital that it is a "
                     "country: similarity no longer decides.");
        for (int k = 0; k < 3; k++) {
            matrix_view v = worked_view(e, all[i].parts[k]);
            v.name = names[k];
            show_view(e, k == 0 ? "" : k == 1 ? "·" : "=", v);
        }
    }
    heed_matrix both = matrix_new(e, 2, WORDS);
    if (failed(e)) return;
    memcpy(both.x, part[HEED_TRACE_SCORES].x, WORDS * sizeof *both.x);
    memcpy(both.x + WORDS, part[HEED_TRACE_WEIGHTS].x, WORDS * sizeof *both.x);
    add_step(e, NULL, NULL, NULL);
    show(e, "", "what each word counts", both, counts, words);
    lesson_step *s = add_step(e, NULL, formula, NULL);
    show(e, "", formula, part[HEED_TRACE_OUTPUT], asking, hands);
    s->after = weights_found(e, part[HEED_TRACE_WEIGHTS].x);
}

void paris_steps(explaining *e) {
    heed_matrix output = e->w.lesson.part[HEED_TRACE_OUTPUT];
    heed_matrix candidates = matrix_of(e, ANSWERS, VALUE, answer);
    e->title = "Paris is the capital of ___, in four stages";
    e->words = "A vector for each of the five words, the rows of X, and the gap's own vector z.";
    e->commands = "explain paris --hide capital\n"
                  "explain paris --hide Paris\n"
                  "explain paris --beta 0\n"
                  "explain paris --html paris.html";
    add_step(e, NULL, NULL, NULL);
    show(e, "", "X", matrix_of(e, WORDS, WIDTH, x), words, features);
    show(e, "", "z", matrix_of(e, 1, WIDTH, z), asking, features);
    add_stage(e, "Raw", "z X' X",
              "Each word counts by its inner product with the gap. These numbers do not sum to 1: "
              "a longer sentence would give a larger sum.",
              1, false);
    add_stage(e, "Softmax", "softmax(z X') X",
              "The weights sum to 1. Look at Paris: it has the smallest, because without "
              "parameters a word attends to words that are like itself, and the gap is like "
              "capital and like the small words.",
              1, true);
    add_stage(e, "Scaled", "softmax(z X' / sqrt(5)) X",
              "The same order, but more even: the width of the vectors no longer makes the choice "
              "harder.",
              1 / sqrt(WIDTH), true);
    add_last(e);
    lesson_step *s =
        add_step(e, "Answers", "fit = answer output'", "How well each answer fits the output:");
    heed_matrix fit = product_of(e, candidates, transpose_of(e, output));
    show(e, "", "answer", candidates, answers, hands);
    show(e, "·", "output'", output, hands, NULL)->transposed = true;
    show(e, "=", "fit", fit, answers, NULL);
    if (fit.x) s->after = best_of(e, fit.x);
}
