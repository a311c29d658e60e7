/* lesson_templates.c -- templates that depend on the content: the kernel of a convolution mixes the
 * tokens of every input by the same weights, attention by weights that it computes from the input.
 */
#include "explain/explain.h"
#include "explain/hungry_lion.h"

#include <string.h>

enum { WORDS = 4, TEXTS = 2 };
/* Words of the hungry lion, by their place in it. */
static const int texts[TEXTS][WORDS] = {{0, 1, 2, 3}, {4, 2, 7, 10}};

void templates_steps(explaining *e) {
    heed_matrix kernel = matrix_new(e, WORDS, WORDS), weights[TEXTS];
    const char *const *labels[TEXTS];
    for (int i = 0; i < kernel.rows; i++) {
        kernel.x[i * WORDS + i] = 0.5;
        if (i) kernel.x[i * WORDS + i - 1] = kernel.x[(i - 1) * WORDS + i] = 0.25;
    }
    heed_matrix w_q = matrix_of(e, LION_FEATURES, LION_KEY, lion_w_q);
    heed_matrix w_k = matrix_of(e, LION_FEATURES, LION_KEY, lion_w_k);
    for (int t = 0; t < TEXTS; t++) {
        heed_matrix x = matrix_new(e, WORDS, LION_FEATURES);
        const char *words[WORDS];
        if (failed(e)) return;
        for (int i = 0; i < WORDS; i++) {
            words[i] = lion_tokens[texts[t][i]];
            memcpy(x.x + i * LION_FEATURES, lion_x + texts[t][i] * LION_FEATURES,
                   LION_FEATURES * sizeof *x.x);
        }
        labels[t] = keep_labels(e, words, WORDS);
        weights[t] = scores_of(e, product_of(e, x, w_q), product_of(e, x, w_k));
    }
    e->title = "Templates that depend on the content";
    e->words = "Two texts of four words, and two layers. Row i of a matrix is the template for "
               "output i: the weight of every word in it.";
    e->commands = "explain templates --png templates.png\n"
                  "explain recap";
    e->unit = "weight", e->hi = 1;
    add_step(e, "A convolution", "y_i = 1/4 x_(i-1) + 1/2 x_i + 1/4 x_(i+1)",
             "The template is fixed: each output mixes a word with its neighbours by the same "
             "weights, whatever the words are.");
    show(e, "", "kernel, text 1", kernel, labels[0], labels[0])->picture = true;
    show(e, "", "kernel, text 2", kernel, labels[1], labels[1])->picture = true;
    add_step(e, "Attention", "A = softmax(Q K' / sqrt(3))",
             "The template is computed from the text itself, with the W_Q and W_K of the hungry "
             "lion. Look at lion: in text 1 it attends to attacked, in text 2 to grass.");
    show(e, "", "attention, text 1", softmax_of(e, weights[0]), labels[0], labels[0])->picture =
        true;
    show(e, "", "attention, text 2", softmax_of(e, weights[1]), labels[1], labels[1])->picture =
        true;
}
