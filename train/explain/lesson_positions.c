/* lesson_positions.c -- the position code E: the sinusoids that the library adds to the input.
 * Vaswani et al. 2017, sec. 3.5. */
#include "explain/explain.h"

#include <math.h>

enum { TOKENS = 12, WIDTH = 8 };

/* The largest difference of the library's table, which its layer adds to zeros; -1: an error. */
static double largest_gap(heed_ctx *c, const double *code) {
    double gap = -1;
    heed_store *s = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_position l;
    heed_position_init(&l, s, "position", HEED_SINUSOIDAL, TOKENS, WIDTH);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *y =
        heed_position_apply(&l, t, heed_input(t, NULL, 3, (int[]){1, TOKENS, WIDTH}), 0);
    for (int i = 0; y && i < TOKENS * WIDTH; i++) gap = fmax(gap, fabs((double)y->x[i] - code[i]));
    heed_tape_free(t);
    heed_store_free(s);
    return gap;
}

void explain_positions(explaining *e) {
    static const char *const words[] = {"the", "lion", "the"};
    enum { WORDS = 3 };
    double code[TOKENS * WIDTH], product[TOKENS * TOKENS] = {0};
    double x[WORDS * WIDTH], sum[WORDS * WIDTH];
    char text[TOKENS][8], units[WIDTH][8], one[256];
    const char *rows[TOKENS], *cols[WIDTH];
    for (int i = 0; i < TOKENS * WIDTH; i++) {
        double angle = i / WIDTH / pow(10000, i % WIDTH / 2 * 2.0 / WIDTH);
        code[i] = i % 2 ? cos(angle) : sin(angle);
    }
    double gap = largest_gap(e->c, code);
    if (gap < 0) return;
    for (int i = 0; i < TOKENS; i++) {
        snprintf(text[i], sizeof text[i], "%d", i);
        rows[i] = text[i];
    }
    for (int i = 0; i < WIDTH; i++) {
        snprintf(units[i], sizeof units[i], "%s %d", i % 2 ? "cos" : "sin", i / 2);
        cols[i] = units[i];
    }
    for (int i = 0; i < TOKENS * TOKENS; i++)
        for (int k = 0; k < WIDTH; k++)
            product[i] += code[i / TOKENS * WIDTH + k] * code[i % TOKENS * WIDTH + k];
    heed_random r = heed_random_at(e->seed, "explain.positions", 0, 0);
    for (int i = 0; i < WORDS * WIDTH; i++) { /* the third word is the first again */
        x[i] = heed_random_normal(&r, (uint64_t)(i % (2 * WIDTH)));
        sum[i] = x[i] + code[i];
    }
    snprintf(one, sizeof one,
             "E[3, sin 1] = sin(3 / 10000^(2/%d)) = sin(%.3g) = %.2f. Look at the columns: each is "
             "a wave, slower from pair to pair. The library's layer adds the same, to %.1g.",
             WIDTH, 3 / pow(10000, 2.0 / WIDTH), code[3 * WIDTH + 2], gap);
    heed_matrix m[] = {lesson_matrix(TOKENS, WIDTH, code), lesson_matrix(WORDS, WIDTH, x),
                       lesson_matrix(WORDS, WIDTH, code), lesson_matrix(WORDS, WIDTH, sum),
                       lesson_matrix(TOKENS, TOKENS, product)};
    const lesson_step steps[] = {
        {.title = "The code",
         .formula = "E[t, 2i] = sin(t / 10000^(2i/d)), E[t, 2i+1] = cos",
         .words = "A row for each position t, from 0. This is a fixed function; the other usual "
                  "form is a lookup table whose numbers are learned.",
         .after = one,
         .count = 1,
         .m = {{.name = "E", .m = &m[0], .row_labels = rows, .col_labels = cols}},
         .pictures = 1},
        {.title = "Added to the input",
         .formula = "X + E",
         .words = "A word occurs twice here: its rows of X are equal, those of X + E are not, so "
                  "attention can tell the two places apart.",
         .count = 3,
         .m = {{.name = "X", .m = &m[1], .row_labels = words},
               {.name = "E", .m = &m[2]},
               {.name = "X + E", .m = &m[3], .row_labels = words}},
         .between = {"", "+", "="}},
        {.title = "Dot products of positions",
         .formula = "E E'",
         .words = "Look at a diagonal: all its numbers are equal, because the product depends on "
                  "how far apart two positions are and not on where they are.",
         .count = 1,
         .m = {{.name = "E E'", .m = &m[4], .row_labels = rows, .col_labels = rows}},
         .pictures = 1}};
    lesson_steps(e,
                 &(lesson_head){"positions",
                                "The position code E",
                                "Self-attention does not know the order of its inputs, so a code "
                                "of the position is added to each.",
                                "explain positions --png positions.png\n"
                                "explain shuffle",
                                {NULL, 0}},
                 3, steps);
}
