/* lesson_recap.c -- who sees whom: the windows of a convolution, the recurrence that hands on a
 * state, attention from any to any, as the norms of d y_t / d x_s of three layers of the library.
 * Vaswani et al. 2017, table 1. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 12, WIDTH = 8, KERNEL = 5, LAYERS = 3 };

typedef struct {
    heed_conv conv;
    heed_rnn rnn;
    heed_mha attention;
} layers;

static heed_tensor *apply(const layers *l, int layer, heed_tape *t, heed_tensor *x) {
    return layer == 0   ? heed_conv_apply(&l->conv, t, x)
           : layer == 1 ? heed_rnn_apply(&l->rnn, t, x, NULL, NULL, NULL)
                        : heed_mha_apply(&l->attention, t, x, NULL);
}

/* Fills row t of `norms`: |d y_t / d x_s| for each s. The batch holds the same input WIDTH times,
 * and its row i the gradient of element i of y_t. */
static bool row(explaining *e, const layers *l, int layer, const heed_real *in, int at,
                double *norms) {
    heed_real direction[WIDTH * TOKENS * WIDTH] = {0};
    for (int i = 0; i < WIDTH; i++) direction[(i * TOKENS + at) * WIDTH + i] = 1;
    heed_tape_begin(e->tape, HEED_TRACE, 0);
    heed_tensor *x =
        heed_want_grad(e->tape, heed_input(e->tape, in, 3, (int[]){WIDTH, TOKENS, WIDTH}));
    heed_tensor *y = apply(l, layer, e->tape, x);
    if (!y || !heed_backward_from(e->tape, y, direction)) return false;
    for (int s = 0; s < TOKENS; s++) {
        double square = 0;
        for (int i = 0; i < WIDTH; i++)
            for (int k = 0; k < WIDTH; k++) {
                double g = (double)x->g[(i * TOKENS + s) * WIDTH + k];
                square += g * g;
            }
        norms[s] = sqrt(square);
    }
    return true;
}

static bool measure(explaining *e, heed_matrix norms[LAYERS]) {
    heed_real in[WIDTH * TOKENS * WIDTH];
    heed_random r = heed_random_at(e->seed, "explain.recap", 0, 0);
    for (int i = 0; i < WIDTH * TOKENS * WIDTH; i++)
        in[i] = (heed_real)heed_random_normal(&r, (uint64_t)(i % (TOKENS * WIDTH)));
    heed_params *s = library(e);
    layers l;
    heed_conv_init(
        &l.conv, s, "conv",
        (heed_conv_layer_args){
            .in = WIDTH, .out = WIDTH, .size = {0, KERNEL}, .conv = {.pad = {0, KERNEL / 2}}});
    heed_rnn_init(&l.rnn, s, "rnn", (heed_rnn_args){.in = WIDTH, .width = WIDTH, .act = HEED_TANH});
    heed_mha_init(&l.attention, s, "attn", (heed_mha_args){.width = WIDTH, .heads = 2});
    bool ok = heed_ctx_status(e->c) == HEED_OK;
    for (int k = 0; k < LAYERS; k++) {
        norms[k] = matrix_new(e, TOKENS, TOKENS);
        ok = ok && norms[k].x;
        for (int at = 0; ok && at < TOKENS; at++)
            ok = row(e, &l, k, in, at, norms[k].x + at * TOKENS);
    }
    return ok;
}

void recap_steps(explaining *e) {
    static const struct {
        const char *title, *name, *words;
    } kinds[LAYERS] = {
        {"Convolution, 5 wide", "convolution",
         "It has windows, a band about the diagonal, which the border cuts. y_t sees 5 inputs; "
         "from "
         "s to t it takes 1 layer per 2 tokens. All tokens are computed at once."},
        {"Recurrence", "recurrence",
         "It hands a state from one token to the next, so each token sees all before it, the "
         "farther the fainter. From s to t it takes as many steps as there are tokens between, and "
         "T operations wait for each other."},
        {"Attention", "attention",
         "Any token sees any other, in 1 step. All tokens are computed at once."}};
    static const char *const names[] = {"convolution", "recurrence", "attention"};
    static const char *const of_seen[] = {"not 0"};
    const char *const *tokens = numbered(e, "%d", 1, TOKENS);
    heed_matrix norms[LAYERS], seen = matrix_new(e, LAYERS, 1);
    if (!measure(e, norms)) return;
    e->title = "Who sees whom";
    e->words = "Look at the shapes: three layers of the library with random weights, each on the "
               "same 12 random tokens "
               "of width 8. Row t, column s: the norm of d y_t / d x_s, by backward passes. In the "
               "picture of --png a cell without a number is exactly 0.";
    e->commands = "explain recap --png recap.png\n"
                  "explain recap --seed 2\n"
                  "explain shuffle";
    e->unit = "norm of d y_t / d x_s";
    for (int k = 0; k < LAYERS; k++) {
        add_step(e, kinds[k].title, NULL, kinds[k].words);
        matrix_view *v = show(e, "", kinds[k].name, norms[k], tokens, tokens);
        v->picture = v->heat = true;
        for (int i = 0; seen.x && i < TOKENS * TOKENS; i++) seen.x[k] += norms[k].x[i] > 0;
    }
    add_step(e, "Seen", "cells that are not 0, of 144", NULL);
    show(e, "", "seen", seen, names, of_seen);
}
