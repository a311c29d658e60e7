/* lesson_templates.c -- templates that depend on the content: the kernel of a convolution mixes the
 * tokens of every input by the same weights, attention by weights that it computes from the input.
 */
#include "explain/explain.h"
#include "explain/hungry_lion.h"

#include <string.h>

enum { WORDS = 4, TEXTS = 2 };
/* Words of the hungry lion, by their place in it. */
static const int texts[TEXTS][WORDS] = {{0, 1, 2, 3}, {4, 2, 7, 10}};

/* A layer's y = M x for all tokens: M of a kernel of width 3 with equal weights. */
static void kernel(double *m) {
    for (int i = 0; i < WORDS * WORDS; i++) {
        int apart = i / WORDS - i % WORDS;
        m[i] = apart >= -1 && apart <= 1 ? (apart ? 0.25 : 0.5) : 0;
    }
}

static bool weights(heed_ctx *c, const int *text, double *out) {
    double x[WORDS * LION_FEATURES];
    heed_lesson l;
    for (int i = 0; i < WORDS; i++)
        memcpy(x + i * LION_FEATURES, lion_x + text[i] * LION_FEATURES, LION_FEATURES * sizeof *x);
    heed_lesson_args a = lion_args(x);
    a.tokens = WORDS;
    bool ok = heed_lesson_make(c, &a, &l);
    if (ok) memcpy(out, l.part[HEED_LESSON_WEIGHTS].x, WORDS * WORDS * sizeof *out);
    heed_lesson_free(&l);
    return ok;
}

void explain_templates(explaining *e) {
    static const char *const names[2][TEXTS] = {{"kernel, text 1", "kernel, text 2"},
                                                {"attention, text 1", "attention, text 2"}};
    double fixed[WORDS * WORDS], changing[TEXTS][WORDS * WORDS];
    const char *labels[TEXTS][WORDS];
    heed_matrix m[2][TEXTS];
    lesson_step steps[2] = {
        {.title = "A convolution",
         .formula = "y_i = 1/4 x_(i-1) + 1/2 x_i + 1/4 x_(i+1)",
         .words = "The template is fixed: each output mixes a word with its neighbours by the same "
                  "weights, whatever the words are."},
        {.title = "Attention",
         .formula = "A = softmax(Q K' / sqrt(3))",
         .words =
             "The template is computed from the text itself, with the W_Q and W_K of the hungry "
             "lion. Look at lion: in text 1 it attends to attacked, in text 2 to grass."}};
    kernel(fixed);
    for (int i = 0; i < TEXTS; i++) {
        if (!weights(e->c, texts[i], changing[i])) return;
        for (int k = 0; k < WORDS; k++) labels[i][k] = lion_tokens[texts[i][k]];
    }
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < TEXTS; i++) {
            m[k][i] = lesson_matrix(WORDS, WORDS, k ? changing[i] : fixed);
            steps[k].m[i] = (matrix_view){.name = names[k][i],
                                          .m = &m[k][i],
                                          .row_labels = labels[i],
                                          .col_labels = labels[i]};
        }
        steps[k].count = TEXTS;
        steps[k].between[1] = "  ";
        steps[k].pictures = TEXTS;
    }
    lesson_steps(e,
                 &(lesson_head){"templates",
                                "Templates that depend on the content",
                                "Two texts of four words, and two layers. Row i of a matrix is "
                                "the template for output i: the weight of every word in it.",
                                "explain templates --png templates.png\n"
                                "explain recap",
                                {"weight", 1}},
                 2, steps);
}
