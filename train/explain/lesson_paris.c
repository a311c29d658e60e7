/* lesson_paris.c -- "Paris is the capital of ___" in stages: raw z X' X, softmax, 1/sqrt(d), then
 * W_q, W_k and W_v. */
#include "explain/lesson.h"

#include <math.h>
#include <string.h>

enum { WORDS = 6, WIDTH = 5, KEY = 2, VALUE = 2, STAGES = 4, BLANK = 5, COUNTRIES = 3 };
static const char *const words[] = {"Paris", "is", "the", "capital", "of", "___"};
static const char *const features[] = {"city", "country", "capital", "small", "French"};
static const char *const asks[] = {"a city", "capital"};
static const char *const hands[] = {"country", "French"};
static const char *const asking[] = {"___"};

/* clang-format off */
static const double x[] = {
    3, 0, 0, 0, 2, /* Paris */
    0, 0, 0, 2, 0, /* is */
    0, 0, 0, 2, 0, /* the */
    0, 1, 2, 0, 0, /* capital */
    0, 0, 0, 2, 0, /* of */
    0, 1, 1, 1, 0, /* ___: a small gap where a country belongs, after "capital of" */
};
static const double w_q[] = {0, 0,  2, 0,  0, 1,  0, 0,  0, 0};
static const double w_k[] = {1, 0,  0, 0,  0, 1,  0, 0,  0, 0};
static const double w_v[] = {1, 0,  0, 0,  0, 0,  0, 0,  0, 1};
/* clang-format on */
static const char *const queries_note[] = {"", "a country is found by its city", "asks for itself",
                                           "", ""};
static const char *const offers_note[] = {"is a city", "", "is capital", "", ""};
static const char *const passes_note[] = {"has a country", "", "", "", "is French"};

/* Candidates for the gap, described by the features country and French. */
static const char *const countries[] = {"France", "Japan", "the"};
static const double country[COUNTRIES][VALUE] = {{1, 1}, {1, 0}, {0, 0}};

typedef struct {
    const char *name, *formula;
    double scores[WORDS], weights[WORDS], output[WIDTH]; /* in the last stage: VALUE numbers */
} stage;

static void mix(stage *s) {
    for (int k = 0; k < WIDTH; k++) {
        s->output[k] = 0;
        for (int j = 0; j < WORDS; j++) s->output[k] += s->weights[j] * x[j * WIDTH + k];
    }
}

/* Computes z X' times beta, with or without softmax, times X. */
static void without_parameters(stage *s, double beta, bool soft) {
    for (int j = 0; j < WORDS; j++) {
        s->scores[j] = 0;
        for (int k = 0; k < WIDTH; k++) s->scores[j] += x[BLANK * WIDTH + k] * x[j * WIDTH + k];
        s->scores[j] *= beta;
    }
    memcpy(s->weights, s->scores, sizeof s->scores);
    heed_matrix in = lesson_matrix(1, WORDS, s->scores), out = lesson_matrix(1, WORDS, s->weights);
    if (soft) heed_matrix_softmax(&in, false, &out);
    mix(s);
}

static bool open_head(explaining *e) {
    heed_lesson_args a = {.tokens = 1,
                          .features = WIDTH,
                          .sources = WORDS,
                          .memory = WIDTH,
                          .key = KEY,
                          .value = VALUE,
                          .x = x + BLANK * WIDTH,
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
static void take_head(const explaining *e, stage *s, char formula[64]) {
    const heed_lesson_args *a = &e->w.lesson.args;
    const heed_matrix *part = e->w.lesson.part;
    bool usual = fabs(a->beta - 1 / sqrt(KEY)) < 1e-12;
    if (a->hard)
        snprintf(formula, 64, "V[argmax q K']");
    else if (usual)
        snprintf(formula, 64, "softmax(q K' / sqrt(%d)) V", KEY);
    else
        snprintf(formula, 64, "softmax(%.4g q K') V", a->beta);
    s->name = "parameters", s->formula = formula;
    memcpy(s->scores, part[HEED_LESSON_SCORES].x, sizeof s->scores);
    memcpy(s->weights, part[HEED_LESSON_WEIGHTS].x, sizeof s->weights);
    memcpy(s->output, part[HEED_LESSON_OUTPUT].x, VALUE * sizeof(double));
}

static json_t *stages_json(const stage *s) {
    json_t *list = json_array();
    for (int i = 0; i < STAGES; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", s[i].name, "formula",
                                        s[i].formula, "scores", lesson_list(s[i].scores, WORDS),
                                        "weights", lesson_list(s[i].weights, WORDS), "output",
                                        lesson_list(s[i].output, i < STAGES - 1 ? WIDTH : VALUE)));
    return list;
}

/* Draws the weight of each word for the gap, and the resulting output. */
static void draw_stage(explaining *e, const stage *s, int number, bool soft) {
    double rows[2][WORDS];
    const char *const both[] = {"scores", "weights"}, *const gap[] = {"___"};
    memcpy(rows[0], s->scores, sizeof rows[0]);
    memcpy(rows[1], s->weights, sizeof rows[1]);
    double out[WIDTH];
    memcpy(out, s->output, sizeof out);
    lesson_draw(e, "what each word counts", lesson_matrix(soft ? 2 : 1, WORDS, rows[0]), both,
                words);
    lesson_draw(e, s->formula, lesson_matrix(1, number < STAGES ? WIDTH : VALUE, out), gap,
                number < STAGES ? features : hands);
}

static void draw_answers(explaining *e, const stage *s) {
    for (int i = 0; i < COUNTRIES; i++)
        heed_text_add(&e->out, "  %-7s(%g %g) · output = %.2f\n", countries[i], country[i][0],
                      country[i][1], country[i][0] * s->output[0] + country[i][1] * s->output[1]);
    heed_text_put(&e->out, "\n", 1);
}

static void draw_stages(explaining *e, stage *s) {
    heed_matrix all = lesson_matrix(WORDS, WIDTH, (double[WORDS * WIDTH]){0});
    memcpy(all.x, x, sizeof x);
    lesson_say(e, "A vector for each word, and the gap's own vector z = the last row.");
    lesson_draw(e, "X", all, words, features);
    draw_heading(&e->out, &e->look, "1. Raw: z X' X");
    lesson_say(e, "Each word counts by its dot product with the gap. The numbers are no shares: a "
                  "longer sentence would give a larger sum.");
    draw_stage(e, &s[0], 1, false);
    draw_heading(&e->out, &e->look, "2. Softmax: softmax(z X') X");
    lesson_say(e, "Now they sum to 1. Look at Paris: it has the least of all, for without "
                  "parameters a word attends to what is like itself, and the gap is like itself, "
                  "like capital and like the small words.");
    draw_stage(e, &s[1], 2, true);
    draw_heading(&e->out, &e->look, "3. Scaled: softmax(z X' / sqrt(5)) X");
    lesson_say(e, "The same order, but flatter: wider vectors no longer make the choice harder.");
    draw_stage(e, &s[2], 3, true);
    draw_heading(&e->out, &e->look, "4. With W_q, W_k and W_v");
    lesson_say(e,
               "W_q turns \"a country is missing\" into \"I look for a city\", W_k lets Paris "
               "say \"I am one\", and W_v hands over its country: being alike no longer decides.");
    draw_stage(e, &s[3], 4, true);
    draw_answers(e, &s[3]);
}

static void make_stages(const explaining *e, stage s[STAGES], char formula[64]) {
    s[0] = (stage){.name = "raw", .formula = "z X' X"};
    s[1] = (stage){.name = "softmax", .formula = "softmax(z X') X"};
    s[2] = (stage){.name = "scaled", .formula = "softmax(z X' / sqrt(5)) X"};
    without_parameters(&s[0], 1, false);
    without_parameters(&s[1], 1, true);
    without_parameters(&s[2], 1 / sqrt(WIDTH), true);
    take_head(e, &s[3], formula);
}

static void tell(explaining *e) {
    stage s[STAGES];
    char formula[64];
    make_stages(e, s, formula);
    draw_heading(&e->out, &e->look, "Paris is the capital of ___, in four stages");
    draw_stages(e, s);
    lesson_try(e,
               (const char *[]){"explain paris --beta 0", "explain paris --hard",
                                "explain paris --html paris.html"},
               3);
}

void explain_paris(explaining *e) {
    stage s[STAGES];
    char formula[64];
    if (!open_head(e)) return;
    make_stages(e, s, formula);
    e->more = json_pack("{s:o}", "stages", stages_json(s));
    e->tell = tell;
    explain_worked(e);
}
