/* lesson_conv.c -- convolutions that are dense layers: one of width 1 along a sequence is a dense
 * layer at every place, and one whose stride is its width is a dense layer of each piece, which is
 * a patch embedding. Each by two layers of the library with the same numbers. */
#include "explain/explain.h"

enum { TOKENS = 6, WIDTH = 3, OUT = 2, PIECE = 2 };

/* Shows both layers on the same input: the dense one reads pieces of `wide` tokens, one after the
 * other, and the convolution has kernels of that width and stride. */
static void compare(explaining *e, heed_matrix x, heed_matrix w, int wide,
                    const char *const *rows) {
    heed_params *s = library(e);
    heed_linear dense;
    heed_conv conv;
    heed_linear_init(&dense, s, "dense",
                     (heed_linear_args){.in = wide * WIDTH, .out = OUT, .no_bias = true});
    heed_conv_init(&conv, s, "conv",
                   (heed_conv_layer_args){.in = WIDTH,
                                          .out = OUT,
                                          .size = {0, wide},
                                          .conv = {.stride = {1, wide}},
                                          .no_bias = true});
    if (failed(e)) return;
    set_parameter(dense.w, rows_of_matrix(w, 0, wide * WIDTH), true); /* (out, tokens x width) */
    for (int i = 0; i < wide * WIDTH * OUT; i++) {                    /* (out, width, tokens) */
        int o = i % OUT, unit = i / OUT % WIDTH, token = i / OUT / WIDTH;
        conv.w->x[(o * WIDTH + unit) * wide + token] = (heed_real)w.x[i];
    }
    int n = TOKENS / wide;
    heed_tape_begin(e->tape, HEED_EVAL, 0);
    heed_matrix cut = {n, wide * WIDTH, x.x};
    heed_matrix y = result_of(e, heed_linear_apply(&dense, e->tape, input_of(e, cut)), n, OUT);
    heed_matrix z = result_of(e, heed_conv_apply(&conv, e->tape, input_of(e, x)), n, OUT);
    lesson_step *step = &e->list[e->count - 1];
    show(e, "", "dense layer", y, rows, NULL)->picture = true;
    show(e, "", "convolution", z, rows, NULL)->picture = true;
    step->after = text_of(e, "Largest difference: %.2g.", largest_gap(y, z));
}

void conv_steps(explaining *e) {
    static const char *const pieces[] = {"1-2", "3-4", "5-6"};
    const char *const *places = numbered(e, "%d", 1, TOKENS);
    heed_random r = heed_random_at(e->seed, "explain.conv", 0, 0);
    uint64_t at = 0, from = 1000;
    heed_matrix x = matrix_random(e, &r, &at, TOKENS, WIDTH);
    heed_matrix w = matrix_random(e, &r, &from, PIECE * WIDTH, OUT);
    e->title = "Convolutions that are dense layers";
    e->words = "A sequence x of 6 tokens of width 3, and two layers of the library with the same "
               "random weights W: heed_linear, y = x W, and heed_conv along the sequence.";
    e->commands = "explain conv --seed 2\n"
                  "explain patches";
    add_step(e, NULL, NULL, NULL);
    show(e, "", "x", x, places, NULL);
    show(e, "", "W", w, NULL, NULL);
    add_step(e, "Kernels of width 1", "a dense layer at every place",
             "A kernel that sees one token multiplies each by the same matrix, the first 3 rows of "
             "W. Look at any row: no neighbour has a part in it.");
    compare(e, x, w, 1, places);
    add_step(e, "Kernels of width 2 and stride 2", "a patch embedding",
             "Kernels that move by their own width see each token once: the sequence is cut into "
             "pieces of 2 tokens, 6 numbers each, and each piece is multiplied by the whole of W. "
             "Of a picture the pieces are patches, and W is E: z E.");
    compare(e, x, w, PIECE, pieces);
}
