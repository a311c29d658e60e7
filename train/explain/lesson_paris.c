/* lesson_paris.c -- "Paris is the capital of ___" in stages, for the vector z of the gap and the
 * five words X before it: raw z X' X, softmax, 1/sqrt(d), then W_q, W_k and W_v. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { WORDS = 5, WIDTH = 5, KEY = 2, VALUE = 2, STAGES = 4, ANSWERS = 4 };
static const char *const words[] = {"Paris", "is", "the", "capital", "of"};
static const char *const features[] = {"city", "country", "capital", "small", "French"};
static const char *const asks[] = {"city", "relation"};
static const char *const hands[] = {"country", "French"};
static const char *const asking[] = {"___"};

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
static const double answer[ANSWERS][VALUE] = {{1, 1}, {1, 0}, {0, 1}, {0, 0}};

static const struct {
    const char *name, *formula, *title, *words;
} stages[STAGES] = {
    {"raw", "z X' X", "1. Raw: z X' X",
     "Each word counts by its dot product with the gap. The numbers are not shares: a longer "
     "sentence would give a larger sum."},
    {"softmax", "softmax(z X') X", "2. Softmax: softmax(z X') X",
     "Now they sum to 1. Look at Paris: it has the least of all, because without "
     "parameters a word attends to what is like itself, and the gap is like capital and like "
     "the small words."},
    {"scaled", "softmax(z X' / sqrt(5)) X", "3. Scaled: softmax(z X' / sqrt(5)) X",
     "The same order, but flatter: wider vectors no longer make the choice harder."},
    {"parameters", NULL, "4. With W_q, W_k and W_v", /* its formula is that of the settings */
     "W_q turns the gap into two questions, \"which city?\" and \"what of it?\". By W_k Paris "
     "answers the first and capital the second, so the gap attends to both and hardly to the small "
     "words. By W_v the value of Paris says that the answer is French, and that of capital that it "
     "is a country: similarity no longer decides."},
};
enum { LAST = STAGES - 1 };

typedef struct {
    double rows[2][WORDS], output[WIDTH]; /* scores and weights; in the last stage VALUE numbers */
    char formula[64];
} stage;

/* Computes z X' times beta, with or without softmax, times X. */
static void without_parameters(stage *s, double beta, bool soft) {
    double *scores = s->rows[0], *weights = s->rows[1];
    for (int j = 0; j < WORDS; j++) {
        scores[j] = 0;
        for (int k = 0; k < WIDTH; k++) scores[j] += z[k] * x[j * WIDTH + k];
        weights[j] = scores[j] *= beta;
    }
    heed_matrix in = lesson_matrix(1, WORDS, scores), out = lesson_matrix(1, WORDS, weights);
    if (soft) heed_matrix_softmax(&in, false, &out);
    for (int k = 0; k < WIDTH; k++) {
        s->output[k] = 0;
        for (int j = 0; j < WORDS; j++) s->output[k] += weights[j] * x[j * WIDTH + k];
    }
}

static bool open_head(explaining *e) {
    heed_lesson_args a = {.tokens = 1,
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
    worked labels = {.example = "paris",
                     .title = "Paris is the capital of ___",
                     .tokens = asking,
                     .sources = words,
                     .features = features,
                     .memory = features,
                     .q = asks,
                     .v = hands,
                     .notes = {queries_note, offers_note, passes_note}};
    return worked_make(e, &a, labels);
}

/* The last stage is the head with the given settings. */
static void with_parameters(const explaining *e, stage *s) {
    const heed_lesson_args *a = &e->w.lesson.args;
    const heed_matrix *part = e->w.lesson.part;
    bool usual = fabs(a->beta - 1 / sqrt(KEY)) < 1e-12;
    if (a->hard)
        snprintf(s->formula, sizeof s->formula, "V[argmax q K']");
    else if (usual)
        snprintf(s->formula, sizeof s->formula, "softmax(q K' / sqrt(%d)) V", KEY);
    else
        snprintf(s->formula, sizeof s->formula, "softmax(%.4g q K') V", a->beta);
    memcpy(s->rows[0], part[HEED_LESSON_SCORES].x, sizeof s->rows[0]);
    memcpy(s->rows[1], part[HEED_LESSON_WEIGHTS].x, sizeof s->rows[1]);
    memcpy(s->output, part[HEED_LESSON_OUTPUT].x, VALUE * sizeof(double));
}

static void make_stages(const explaining *e, stage s[STAGES]) {
    for (int i = 0; i < LAST; i++) {
        snprintf(s[i].formula, sizeof s->formula, "%s", stages[i].formula);
        without_parameters(&s[i], i == 2 ? 1 / sqrt(WIDTH) : 1, i > 0);
    }
    with_parameters(e, &s[LAST]);
}

static void draw_answers(explaining *e, const double *output) {
    for (int i = 0; i < ANSWERS; i++)
        heed_text_add(&e->out, "  %-9s(%g %g) · output = %.2f\n", answers[i], answer[i][0],
                      answer[i][1], answer[i][0] * output[0] + answer[i][1] * output[1]);
    gap(e);
    say(e, "Both words are needed: without capital a baguette fits as well as France, and without "
           "Paris Japan does.");
}

static void own_text(explaining *e) {
    stage s[STAGES];
    heed_matrix all = lesson_matrix(WORDS, WIDTH, (double[WORDS * WIDTH]){0});
    heed_matrix gap_row = lesson_matrix(1, WIDTH, (double[WIDTH]){0});
    memcpy(all.x, x, sizeof x);
    memcpy(gap_row.x, z, sizeof z);
    make_stages(e, s);
    heading(e, "Paris is the capital of ___, in four stages");
    say(e, "A vector for each of the five words, the rows of X, and the gap's own vector z.");
    lesson_draw(e, "X", all, words, features);
    lesson_draw(e, "z", gap_row, asking, features);
    for (int i = 0; i < STAGES; i++) {
        heading(e, "%s", stages[i].title);
        say(e, "%s", stages[i].words);
        lesson_draw(e, "what each word counts", lesson_matrix(i ? 2 : 1, WORDS, s[i].rows[0]),
                    (const char *[]){"scores", "weights"}, words);
        lesson_draw(e, s[i].formula, lesson_matrix(1, i < LAST ? WIDTH : VALUE, s[i].output),
                    asking, i < LAST ? features : hands);
    }
    draw_answers(e, s[LAST].output);
    lesson_try(e, "explain paris --hide capital\n"
                  "explain paris --hide Paris\n"
                  "explain paris --beta 0\n"
                  "explain paris --html paris.html");
}

void explain_paris(explaining *e) {
    stage s[STAGES];
    if (!open_head(e)) return;
    make_stages(e, s);
    json_t *list = json_array();
    for (int i = 0; i < STAGES; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", stages[i].name,
                                              "formula", s[i].formula, "scores",
                                              lesson_list(s[i].rows[0], WORDS), "weights",
                                              lesson_list(s[i].rows[1], WORDS), "output",
                                              lesson_list(s[i].output, i < LAST ? WIDTH : VALUE)));
    e->more = json_pack("{s:o}", "stages", list);
    e->own_text = own_text;
    explain_worked(e);
}
