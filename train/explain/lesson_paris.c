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
     "Each word counts by its inner product with the gap. These numbers do not sum to 1: a longer "
     "sentence would give a larger sum."},
    {"softmax", "softmax(z X') X", "2. Softmax: softmax(z X') X",
     "The weights sum to 1. Look at Paris: it has the smallest, because without parameters a "
     "word attends to words that are like itself, and the gap is like capital and like the small "
     "words."},
    {"scaled", "softmax(z X' / sqrt(5)) X", "3. Scaled: softmax(z X' / sqrt(5)) X",
     "The same order, but more even: the width of the vectors no longer makes the choice "
     "harder."},
    {"parameters", NULL, "4. With W_q, W_k and W_v", /* its formula is that of the settings */
     "Now weights and mean are of representations: a query q, keys K and values V. W_q turns the "
     "gap into two questions, \"which city?\" and \"what of it?\". By W_k Paris answers the first "
     "and capital the second. By W_v the value of Paris says that the answer is French, and that "
     "of capital that it is a country: similarity no longer decides."},
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

/* q, K and V as products. */
static void draw_projections(explaining *e) {
    static const struct {
        heed_lesson_part product;
        const char *names[3];
    } all[] = {{HEED_LESSON_Q, {"z", "W_q", "q"}},
               {HEED_LESSON_K, {"X", "W_k", "K"}},
               {HEED_LESSON_V, {"X", "W_v", "V"}}};
    for (int i = 0; i < 3; i++) {
        matrix_view v[4];
        product_views(e, all[i].product, -1, -1, v);
        for (int k = 0; k < 3; k++) v[k].name = all[i].names[k];
        draw_equation(&e->out, &e->look, 3, v, (const char *[]){"", "·", "="});
        gap(e);
    }
}

/* Appends the names of those of n numbers that are above a threshold, with digits: their values. */
static void list_above(heed_text *out, const char *const *names, int n, const double *value,
                       double above, bool digits) {
    int count = 0, done = 0;
    for (int i = 0; i < n; i++) count += value[i] > above;
    for (int i = 0; i < n; i++) {
        if (!(value[i] > above)) continue;
        heed_text_add(out, "%s%s", !done ? "" : done == count - 1 ? " and " : ", ", names[i]);
        if (digits) heed_text_add(out, " (%.2f)", value[i]);
        done++;
    }
}

/* What the weights are with these settings. */
static void write_weights_found(explaining *e, const double *weights) {
    heed_text list = {.c = e->c};
    double most = 0, least = 1;
    for (int j = 0; j < WORDS; j++) {
        if (e->w.lesson.hidden[j]) continue;
        most = fmax(most, weights[j]);
        least = fmin(least, weights[j]);
    }
    list_above(&list, words, WORDS, weights, most - least > 1e-9 ? 1.0 / WORDS : 0, true);
    if (most <= 0)
        say(e, "All words are hidden, so that every weight is 0.");
    else if (e->w.lesson.args.hard)
        say(e, "The hard selection gives all weight to the largest score: %s.", list.s);
    else
        say(e, "The gap attends to %s%s.", list.s,
            most - least > 1e-9 ? "" : " alike: the mean of their values");
    heed_text_free(&list);
}

static void draw_answers(explaining *e, const double *output) {
    double fit[ANSWERS], most = -INFINITY;
    int count = 0;
    heed_text best = {.c = e->c};
    for (int i = 0; i < ANSWERS; i++) {
        fit[i] = answer[i][0] * output[0] + answer[i][1] * output[1];
        most = fmax(most, fit[i]);
        heed_text_add(&e->out, "  %-9s(%g %g) · output = %.2f\n", answers[i], answer[i][0],
                      answer[i][1], fit[i]);
    }
    list_above(&best, answers, ANSWERS, fit, most - 1e-9, false);
    gap(e);
    for (int i = 0; i < ANSWERS; i++) count += fit[i] > most - 1e-9;
    if (count == ANSWERS)
        say(e, "No answer fits better than another.");
    else if (count > 1)
        say(e, "These fit best, equally well: %s.", best.s);
    else
        say(e,
            "The best fit: %s. Both words are needed: without capital a baguette fits as well as "
            "France, and without Paris Japan does.",
            best.s);
    heed_text_free(&best);
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
        if (i == LAST) draw_projections(e);
        lesson_draw(e, "what each word counts", lesson_matrix(i ? 2 : 1, WORDS, s[i].rows[0]),
                    (const char *[]){"scores", "weights"}, words);
        lesson_draw(e, s[i].formula, lesson_matrix(1, i < LAST ? WIDTH : VALUE, s[i].output),
                    asking, i < LAST ? features : hands);
    }
    write_weights_found(e, s[LAST].rows[1]);
    draw_answers(e, s[LAST].output);
    lesson_try(e, "explain paris --hide capital\n"
                  "explain paris --hide Paris\n"
                  "explain paris --beta 0\n"
                  "explain paris --html paris.html");
}

static json_t *own_json(const explaining *e) {
    stage s[STAGES];
    make_stages(e, s);
    json_t *list = json_array();
    for (int i = 0; i < STAGES; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", stages[i].name,
                                              "formula", s[i].formula, "scores",
                                              lesson_list(s[i].rows[0], WORDS), "weights",
                                              lesson_list(s[i].rows[1], WORDS), "output",
                                              lesson_list(s[i].output, i < LAST ? WIDTH : VALUE)));
    return json_pack("{s:o}", "stages", list);
}

void explain_paris(explaining *e) {
    if (!open_head(e)) return;
    e->own_text = own_text;
    e->own_json = own_json;
    explain_worked(e);
}
