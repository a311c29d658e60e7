/* lesson_rnn.c -- a recurrent encoder and decoder with attention, step by step, with small numbers
 * that can be followed by hand. Bahdanau et al. 2015, sec. 3. */
#include "explain/recurrence.h"

#include <math.h>

enum { INPUTS = 3, OUTPUTS = 2, WIDTH = 2, WORDS = 3 };
static const char *const inputs[] = {"the", "lion", "eats"};
static const char *const before[] = {"[CLS]", "der"};
static const char *const words[] = {"der", "Löwe", "frisst"};

/* A number of one decimal. */
static double number(const heed_random *r, uint64_t at) {
    return round(10 * heed_random_normal(r, at)) / 10;
}

static void choose(const heed_random *r, heed_store *s) {
    uint64_t at = 1000;
    for (int i = 0; i < heed_store_count(s); i++) {
        heed_tensor *x = heed_store_at(s, i)->tensor;
        for (size_t k = 0; k < x->size; k++) x->x[k] = (heed_real)number(r, at++);
    }
}

void explain_rnn(explaining *e) {
    heed_random r = heed_random_at(e->seed, "explain.rnn", 0, 0);
    double x[INPUTS * WIDTH], y[OUTPUTS * WIDTH];
    recurrent_layers l = {.fixed = false};
    heed_store *s = heed_store_new(e->c);
    heed_rnn_args cell = {.in = WIDTH, .width = WIDTH, .act = HEED_TANH, .one_bias = true};
    heed_rnn_init(&l.encoder, s, "encoder", cell);
    cell.in = 2 * WIDTH;
    heed_rnn_init(&l.decoder, s, "decoder", cell);
    heed_attend_init(&l.attend, s, "attend",
                     (heed_attend_args){.kind = HEED_ADDITIVE, .query = WIDTH, .input = WIDTH});
    heed_linear_init(&l.head, s, "head",
                     (heed_linear_args){.in = 2 * WIDTH, .out = WORDS, .no_bias = true});
    choose(&r, s);
    for (int i = 0; i < INPUTS * WIDTH; i++) x[i] = number(&r, (uint64_t)i);
    for (int i = 0; i < OUTPUTS * WIDTH; i++) y[i] = number(&r, (uint64_t)(100 + i));
    recurrence k = {.x = lesson_matrix(INPUTS, WIDTH, x), .y_in = lesson_matrix(OUTPUTS, WIDTH, y)};
    if (heed_ctx_status(e->c) == HEED_OK && recurrence_compute(e, &l, &k))
        recurrence_draw(
            e, &l, &k,
            &(recurrence_labels){
                .name = "rnn",
                .title = "A recurrence with attention, step by step",
                .words = "An encoder reads three words, a decoder writes two. All numbers are "
                         "random, of one decimal, and g is tanh.",
                .commands = "explain rnn --seed 2\n"
                            "explain rnn --precision 4\n"
                            "explain similarity\n"
                            "train rnn data/capitals.tsv -o runs/capitals --cell rnn",
                .sources = inputs,
                .tokens = before,
                .vocabulary = words,
                .parameters = true});
    heed_store_free(s);
}
