/* lesson_conv.c -- convolutions that are dense layers: one of width 1 along a sequence is a dense
 * layer at every place, and one whose stride is its width is a dense layer of each piece, which is
 * a patch embedding. Each by two layers of the library with the same numbers. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 6, WIDTH = 3, OUT = 2, PIECE = 2, PIECES = TOKENS / PIECE };
static const char *const pieces[PIECES] = {"1-2", "3-4", "5-6"};
static const char *const places[TOKENS] = {"1", "2", "3", "4", "5", "6"};

/* x (TOKENS,WIDTH); W of the dense layers, (in,OUT) as in y = x W. */
typedef struct {
    double x[TOKENS * WIDTH], w[PIECE * WIDTH * OUT];
    int rows;                       /* of the two results */
    double dense[TOKENS * OUT];     /* heed_linear's */
    double convolved[TOKENS * OUT]; /* heed_conv's */
    double gap;                     /* largest difference */
} comparison;

static void choose(uint64_t seed, comparison *k) {
    heed_random r = heed_random_at(seed, "explain.conv", 0, 0);
    for (int i = 0; i < TOKENS * WIDTH; i++) k->x[i] = heed_random_normal(&r, (uint64_t)i);
    for (int i = 0; i < PIECE * WIDTH * OUT; i++)
        k->w[i] = heed_random_normal(&r, (uint64_t)(1000 + i));
}

/* Both layers on the same input: the dense one reads pieces of `wide` tokens, one after the other,
 * and the convolution has kernels of that width and stride. */
static bool compare(heed_ctx *c, int wide, comparison *k) {
    heed_store *s = heed_store_new(c);
    heed_tape *t = heed_tape_new(c);
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
    heed_tensor *y[2] = {NULL, NULL};
    k->rows = TOKENS / wide;
    if (heed_ctx_status(c) == HEED_OK) {
        for (int o = 0; o < OUT; o++)
            for (int u = 0; u < wide; u++)
                for (int i = 0; i < WIDTH; i++) {
                    heed_real w = (heed_real)k->w[(u * WIDTH + i) * OUT + o];
                    dense.w->x[(o * wide + u) * WIDTH + i] = w; /* (out, tokens x width) */
                    conv.w->x[(o * WIDTH + i) * wide + u] = w;  /* (out, width, tokens) */
                }
        heed_tape_begin(t, HEED_EVAL, 0);
        y[0] = heed_linear_apply(&dense, t, lesson_input(t, k->x, k->rows, wide * WIDTH));
        y[1] = heed_conv_apply(&conv, t, lesson_input(t, k->x, TOKENS, WIDTH));
    }
    for (int i = 0; y[0] && y[1] && i < k->rows * OUT; i++) {
        k->dense[i] = (double)y[0]->x[i], k->convolved[i] = (double)y[1]->x[i];
        k->gap = fmax(k->gap, fabs(k->dense[i] - k->convolved[i]));
    }
    heed_tape_free(t);
    heed_store_free(s);
    return y[0] && y[1];
}

static json_t *result_json(comparison *k) {
    return json_pack("{s:o, s:o, s:f}", "dense", lesson_grid(k->rows, OUT, k->dense), "convolved",
                     lesson_grid(k->rows, OUT, k->convolved), "largest_difference", k->gap);
}

static void draw_results(explaining *e, comparison *k, const char *const *rows) {
    lesson_columns(
        e, 2,
        (lesson_block[]){{"dense layer", lesson_matrix(k->rows, OUT, k->dense), NULL},
                         {"convolution", lesson_matrix(k->rows, OUT, k->convolved), NULL}},
        rows);
    say(e, "Largest difference: %.2g.", k->gap);
}

void explain_conv(explaining *e) {
    comparison one = {.gap = 0}, patch = {.gap = 0};
    choose(e->seed, &one);
    choose(e->seed, &patch);
    if (!compare(e->c, 1, &one) || !compare(e->c, PIECE, &patch)) return;
    if (lesson_json(e, json_pack("{s:s, s:o, s:o, s:o}", "example", "conv", "x",
                                 lesson_grid(TOKENS, WIDTH, one.x), "width_1", result_json(&one),
                                 "patches", result_json(&patch))))
        return;
    heading(e, "Convolutions that are dense layers");
    say(e,
        "A sequence x of %d tokens of width %d, and two layers of the library with the same random "
        "weights W: heed_linear, y = x W, and heed_conv along the sequence.",
        TOKENS, WIDTH);
    lesson_columns(e, 2,
                   (lesson_block[]){{"x", lesson_matrix(TOKENS, WIDTH, one.x), NULL},
                                    {"W", lesson_matrix(PIECE * WIDTH, OUT, one.w), NULL}},
                   places);
    heading(e, "1. Kernels of width 1: a dense layer at every place");
    say(e,
        "A kernel that sees one token multiplies each by the same matrix, the first %d rows of W. "
        "Look at any row: no neighbour has a part in it.",
        WIDTH);
    draw_results(e, &one, places);
    heading(e, "2. Kernels of width %d and stride %d: a patch embedding", PIECE, PIECE);
    say(e,
        "Kernels that move by their own width see each token once: the sequence is cut into pieces "
        "of %d tokens, %d numbers each, and each piece is multiplied by the whole of W. Of a "
        "picture the pieces are patches, and W is E: z E.",
        PIECE, PIECE * WIDTH);
    draw_results(e, &patch, pieces);
    lesson_try(e, "explain conv --seed 2\n"
                  "explain patches");
}
