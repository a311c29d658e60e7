/* Layers: what they start from, and what differs between training and evaluation. Their values
 * stand in tests/golden/layers.safetensors, their gradients in test_gradcheck.c. */
#include "lab.h"

/* So a sample has the bits that it has alone, whatever the batch. */
TEST(nn_linear_is_rounded_to_bf16_in_training_alone) {
    enum { ROWS = 40, WIDTH = 32 };
    static const heed_mode modes[] = {HEED_EVAL, HEED_TRACE, HEED_TRAIN};
    lab l = lab_open(HEED_EVAL);
    heed_real want[ROWS * WIDTH];
    heed_linear d;
    heed_linear_init(&d, l.s, "d", (heed_linear_args){.in = WIDTH, .out = WIDTH});
    shake(l.s);
    heed_tensor *y = heed_linear_apply(&d, l.t, normal(l.t, "x", 2, SHAPE(ROWS, WIDTH)));
    if (y) memcpy(want, y->x, sizeof want);
    bool can = heed_set_precision(l.c, HEED_BF16);
    heed_clear(l.c);
    for (int i = 0; can && i < 3; i++) {
        heed_tape_begin(l.t, modes[i], 1);
        y = heed_linear_apply(&d, l.t, normal(l.t, "x", 2, SHAPE(ROWS, WIDTH)));
        CHECK(y && (memcmp(want, y->x, sizeof want) != 0) == (modes[i] == HEED_TRAIN));
    }
    CLOSE(l.c);
}

TEST(nn_linear_starts_as_pytorch) {
    lab l = lab_open(HEED_EVAL);
    heed_linear a, b, c;
    heed_linear_init(&a, l.s, "a", (heed_linear_args){.in = 400, .out = 50});
    heed_linear_init(&b, l.s, "b", (heed_linear_args){.in = 4, .out = 5, .init = "normal:0.02"});
    heed_linear_init(&c, l.s, "c", (heed_linear_args){.in = 4, .out = 5, .no_bias = true});
    double bound = 1 / sqrt(400), top = 0, top_bias = 0, squares = 0;
    for (size_t i = 0; i < a.w->size; i++) {
        top = fmax(top, fabs((double)a.w->x[i]));
        squares += (double)a.w->x[i] * (double)a.w->x[i];
    }
    for (size_t i = 0; i < a.b->size; i++) top_bias = fmax(top_bias, fabs((double)a.b->x[i]));
    CHECK(top <= bound * (1 + 1e-6) && top > 0.99 * bound);
    CHECK(top_bias <= bound * (1 + 1e-6) && top_bias > 0.8 * bound);
    CHECK_CLOSE(sqrt(squares / (double)a.w->size), bound / sqrt(3), 0.02 * bound);
    for (int i = 0; i < 5; i++) CHECK(b.b->x[i] == 0);
    CHECK(!c.b);
    CLOSE(l.c);
}

TEST(nn_drop_acts_in_training_alone) {
    lab l = lab_open(HEED_EVAL);
    heed_dropout_layer d, none;
    heed_dropout_layer_init(&d, l.s, "drop", (heed_real)0.25);
    heed_dropout_layer_init(&none, l.s, "none", 0);
    heed_tensor *x = normal(l.t, "x", 1, SHAPE(1000));
    CHECK(heed_dropout_layer_apply(&d, l.t, x) == x);
    heed_tape_begin(l.t, HEED_TRAIN, 1);
    x = normal(l.t, "x", 1, SHAPE(4000));
    CHECK(heed_dropout_layer_apply(&none, l.t, x) == x);
    heed_tensor *y = heed_dropout_layer_apply(&d, l.t, x);
    int zeros = 0;
    for (int i = 0; y && i < 4000; i++) {
        zeros += y->x[i] == 0;
        if (y->x[i] != 0) CHECK_CLOSE(y->x[i], (double)x->x[i] / 0.75, 1e-5);
    }
    CHECK(zeros > 900 && zeros < 1100);
    CLOSE(l.c);
}

TEST(nn_positions_are_of_a_known_number) {
    lab l = lab_open(HEED_TRAIN);
    heed_position p;
    heed_position_init(&p, l.s, "pos", HEED_LEARNED, 5, 2);
    CHECK(!heed_position_apply(&p, l.t, normal(l.t, "x", 3, SHAPE(1, 3, 2)), 3));
    CHECK_HAS(heed_ctx_error(l.c), "at most 5 positions, found 6");
    heed_clear(l.c);
    heed_position_init(&p, l.s, "grid", HEED_SINUSOIDAL_2D, 7, 8);
    CHECK_HAS(heed_ctx_error(l.c),
              "positions of a grid do not fit: grid: expected a square number");
    heed_close(l.c);
}
