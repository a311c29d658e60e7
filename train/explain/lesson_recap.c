/* lesson_recap.c -- who sees whom: the windows of a convolution, the recurrence that hands on a
 * state, attention from any to any, as the norms of d y_t / d x_s of three layers of the library.
 * Vaswani et al. 2017, table 1. */
#include "explain/explain.h"

#include <heed/view.h>
#include <math.h>
#include <string.h>

enum { TOKENS = 12, WIDTH = 8, KERNEL = 5, LAYERS = 3 };

typedef struct {
    heed_conv conv;
    heed_rnn rnn;
    heed_mha attention;
} layers;

typedef heed_tensor *(*apply)(const layers *l, heed_tape *t, heed_tensor *x); /* (B,T,d), same */

static heed_tensor *convolve(const layers *l, heed_tape *t, heed_tensor *x) {
    return heed_conv_apply(&l->conv, t, x);
}

static heed_tensor *recur(const layers *l, heed_tape *t, heed_tensor *x) {
    return heed_rnn_apply(&l->rnn, t, x, NULL, NULL, NULL);
}

static heed_tensor *attend(const layers *l, heed_tape *t, heed_tensor *x) {
    return heed_mha_apply(&l->attention, t, x, NULL, NULL, NULL);
}

static const struct {
    const char *name, *title, *reach, *steps, *serial;
    apply apply;
} kinds[LAYERS] = {
    {"convolution", "convolution, 5 wide", "5 inputs", "1 layer per 2 tokens", "1", convolve},
    {"recurrence", "recurrence", "all before", "as many as tokens", "T", recur},
    {"attention", "attention", "all", "1", "1", attend},
};

static void make(layers *l, heed_store *s) {
    heed_conv_init(
        &l->conv, s, "conv",
        (heed_conv_layer_args){
            .in = WIDTH, .out = WIDTH, .size = {0, KERNEL}, .conv = {.pad = {0, KERNEL / 2}}});
    heed_rnn_init(&l->rnn, s, "rnn",
                  (heed_rnn_args){.in = WIDTH, .width = WIDTH, .act = HEED_TANH});
    heed_mha_init(&l->attention, s, "attn", (heed_mha_args){.width = WIDTH, .heads = 2});
}

/* Fills row t of `norms`: |d y_t / d x_s| for each s. The batch holds the same input WIDTH times,
 * and its row i the gradient of element i of y_t. */
static bool row(const layers *l, apply f, heed_tape *t, const heed_real *in, int at,
                double norms[TOKENS]) {
    heed_real direction[WIDTH * TOKENS * WIDTH] = {0};
    for (int i = 0; i < WIDTH; i++) direction[(i * TOKENS + at) * WIDTH + i] = 1;
    heed_tape_begin(t, HEED_TRACE, 0);
    heed_tensor *x = heed_want_grad(t, heed_input(t, in, 3, (int[]){WIDTH, TOKENS, WIDTH}));
    heed_tensor *y = f(l, t, x);
    if (!y || !heed_backward_from(t, y, direction)) return false;
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

static bool measure(explaining *e, double norms[LAYERS][TOKENS * TOKENS]) {
    heed_real in[WIDTH * TOKENS * WIDTH];
    heed_random r = heed_random_at(e->seed, "explain.recap", 0, 0);
    for (int i = 0; i < TOKENS * WIDTH; i++) in[i] = (heed_real)heed_random_normal(&r, (uint64_t)i);
    for (int i = 1; i < WIDTH; i++)
        memcpy(in + i * TOKENS * WIDTH, in, TOKENS * WIDTH * sizeof *in);
    heed_store *s = heed_store_new(e->c);
    heed_tape *t = heed_tape_new(e->c);
    layers l;
    make(&l, s);
    bool ok = heed_ctx_status(e->c) == HEED_OK;
    for (int k = 0; k < LAYERS; k++)
        for (int at = 0; ok && at < TOKENS; at++)
            ok = row(&l, kinds[k].apply, t, in, at, norms[k] + at * TOKENS);
    heed_tape_free(t);
    heed_store_free(s);
    return ok;
}

static int count_seen(const double *norms) {
    int seen = 0;
    for (int i = 0; i < TOKENS * TOKENS; i++) seen += norms[i] > 0;
    return seen;
}

static json_t *as_json(double norms[LAYERS][TOKENS * TOKENS]) {
    json_t *list = json_array();
    for (int k = 0; k < LAYERS; k++)
        json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "name", kinds[k].name, "seen",
                                              count_seen(norms[k]), "norms",
                                              lesson_grid(TOKENS, TOKENS, norms[k])));
    return json_pack("{s:s, s:i, s:o}", "example", "recap", "tokens", TOKENS, "layers", list);
}

static void draw_map(explaining *e, const char *title, const double *norms,
                     const char *const *labels) {
    heed_real share[TOKENS * TOKENS];
    double top = 0;
    for (int i = 0; i < TOKENS * TOKENS; i++) top = fmax(top, norms[i]);
    for (int i = 0; i < TOKENS * TOKENS; i++) share[i] = (heed_real)(norms[i] / top);
    heed_heatmap_text(&(heed_heatmap){.title = title,
                                      .rows = TOKENS,
                                      .cols = TOKENS,
                                      .values = share,
                                      .row_labels = labels,
                                      .col_labels = labels,
                                      .hi = 1,
                                      .unit = "percent of the largest",
                                      .percent = true,
                                      .terminal = terminal_kind(stdout),
                                      .width = e->look.width},
                      &e->out);
    gap(e);
}

static void draw(explaining *e, double norms[LAYERS][TOKENS * TOKENS], const char *const *labels) {
    heading(e, "Who sees whom");
    say(e,
        "Three layers of the library with random weights, each on the same %d random tokens of "
        "width %d. Row t, column s: the norm of d y_t / d x_s, by backward passes. In the picture "
        "of --png a cell without a number is exactly 0.",
        TOKENS, WIDTH);
    for (int k = 0; k < LAYERS; k++) draw_map(e, kinds[k].title, norms[k], labels);
    say(e, "Look at the shapes: a convolution has windows, a band about the diagonal, which the "
           "border "
           "cuts; a recurrence hands a state from one token to the next, so each token sees all "
           "before it, the farther the fainter; with attention any token sees any other.");
    heed_text_add(&e->out, "  %-12s %5s  %-11s %-21s %s\n", "", "seen", "y_t sees",
                  "steps from s to t", "in sequence");
    for (int k = 0; k < LAYERS; k++)
        heed_text_add(&e->out, "  %-12s %5d  %-11s %-21s %s\n", kinds[k].name, count_seen(norms[k]),
                      kinds[k].reach, kinds[k].steps, kinds[k].serial);
    gap(e);
    aside(e, "seen: cells that are not 0, of %d. In sequence: operations that wait for each other.",
          TOKENS * TOKENS);
    gap(e);
    lesson_try(e, "explain recap --png recap.png\n"
                  "explain recap --seed 2\n"
                  "explain shuffle");
}

void explain_recap(explaining *e) {
    double norms[LAYERS][TOKENS * TOKENS];
    char text[TOKENS][8];
    const char *labels[TOKENS];
    heed_matrix m[LAYERS];
    matrix_view v[LAYERS];
    if (!measure(e, norms)) return;
    for (int i = 0; i < TOKENS; i++) {
        snprintf(text[i], sizeof text[i], "%d", i + 1);
        labels[i] = text[i];
    }
    for (int k = 0; k < LAYERS; k++) {
        m[k] = lesson_matrix(TOKENS, TOKENS, norms[k]);
        v[k] = (matrix_view){
            .name = kinds[k].title, .m = &m[k], .row_labels = labels, .col_labels = labels};
    }
    if (!lesson_maps(e, (lesson_scale){"norm of d y_t / d x_s", 0}, LAYERS, v)) return;
    if (!lesson_json(e, as_json(norms))) draw(e, norms, labels);
}
