/* lesson_positions.c -- the position code E: the sinusoids that the library adds to the input.
 * Vaswani et al. 2017, sec. 3.5. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 12, WIDTH = 8, WORDS = 3 };

void positions_steps(explaining *e) {
    static const char *const words[] = {"the", "lion", "the"};
    static const char *const units[] = {"sin 0", "cos 0", "sin 1", "cos 1",
                                        "sin 2", "cos 2", "sin 3", "cos 3"};
    const char *const *places = numbered(e, "%d", 0, TOKENS);
    heed_matrix code = matrix_new(e, TOKENS, WIDTH);
    for (int i = 0; i < code.rows * code.cols; i++) {
        double angle = i / WIDTH / pow(10000, i % WIDTH / 2 * 2.0 / WIDTH);
        code.x[i] = i % 2 ? cos(angle) : sin(angle);
    }
    /* the library's layer adds its table to zeros */
    heed_position l;
    heed_position_init(&l, library(e), "position", HEED_SINUSOIDAL, TOKENS, WIDTH);
    heed_tape_begin(e->tape, HEED_EVAL, 0);
    heed_tensor *y = heed_position_apply(&l, e->tape, input_of(e, matrix_new(e, TOKENS, WIDTH)), 0);
    double gap = largest_gap(result_of(e, y, TOKENS, WIDTH), code);

    heed_random r = heed_random_at(e->seed, "explain.positions", 0, 0);
    uint64_t at = 0;
    heed_matrix x = matrix_random(e, &r, &at, WORDS, WIDTH);
    if (failed(e)) return;
    memcpy(x.x + 2 * WIDTH, x.x, WIDTH * sizeof *x.x); /* the third word is the first again */
    heed_matrix first = rows_of_matrix(code, 0, WORDS);

    e->title = "The position code E";
    e->words = "Self-attention does not know the order of its inputs, so a code of the position is "
               "added to each.";
    e->commands = "explain positions --png positions.png\n"
                  "explain shuffle";
    lesson_step *s =
        add_step(e, "The code", "E[t, 2i] = sin(t / 10000^(2i/d)), E[t, 2i+1] = cos",
                 "A row for each position t, from 0. This is a fixed function; the other usual "
                 "form is a lookup table whose numbers are learned.");
    show(e, "", "E", code, places, units)->picture = true;
    s->after = text_of(
        e,
        "E[3, sin 1] = sin(3 / 10000^(2/%d)) = sin(%.3g) = %.2f. Look at the columns: each is a "
        "wave, slower from pair to pair. The library's layer adds the same, to %.1g.",
        WIDTH, 3 / pow(10000, 2.0 / WIDTH), code.x[3 * WIDTH + 2], gap);
    add_step(e, "Added to the input", "X + E",
             "A word occurs twice here: its rows of X are equal, those of X + E are not, so "
             "attention can tell the two places apart.");
    show(e, "", "X", x, words, NULL);
    show(e, "+", "E", first, NULL, NULL);
    show(e, "=", "X + E", sum_of(e, x, 1, first), words, NULL);
    add_step(
        e, "Dot products of positions", "E E'",
        "Look at a diagonal: all its numbers are equal, because the product depends on how far "
        "apart two positions are and not on where they are.");
    show(e, "", "E E'", product_of(e, code, transpose_of(e, code)), places, places)->picture = true;
}
