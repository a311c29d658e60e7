/* Layers: what they compute, and what they must not depend on. Their gradients: test_gradcheck.c.
 */
#include "lab.h"

/* ---- dense ---- */

TEST(nn_linear_is_x_w_plus_b) {
    lab l = lab_open(HEED_EVAL);
    heed_linear d;
    heed_linear_init(&d, l.s, "d", (heed_linear_args){.in = 3, .out = 2});
    shake(l.s);
    heed_tensor *x = normal(l.t, "x", 2, SHAPE(4, 3)), *y = heed_linear_apply(&d, l.t, x);
    for (int i = 0; y && i < 4; i++)
        for (int j = 0; j < 2; j++) {
            double sum = (double)d.b->x[j];
            for (int k = 0; k < 3; k++) sum += (double)x->x[i * 3 + k] * (double)d.w->x[j * 3 + k];
            CHECK_CLOSE(y->x[i * 2 + j], sum, tiny);
        }
    CHECK_TEXT(d.w->name, "d.weight");
    CHECK_TEXT(d.b->name, "d.bias");
    CLOSE(l.c);
}

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

/* A convolution of width 1: each position by itself. */
TEST(nn_feed_forward_treats_positions_alike) {
    lab l = lab_open(HEED_EVAL);
    heed_ff f;
    heed_ff_init(&f, l.s, "mlp", (heed_ff_args){.width = 4, .inner = 12, .act = HEED_GELU});
    shake(l.s);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 3, 4)), *y = heed_ff_apply(&f, l.t, x);
    check_same(y, heed_ff_apply(&f, l.t, heed_reshape(l.t, x, 2, SHAPE(6, 4))), tiny);
    heed_tensor *one = heed_input(l.t, x->x + 4 * 4, 2, SHAPE(1, 4));
    one = heed_ff_apply(&f, l.t, one);
    CHECK_CLOSE(apart(one->x, y->x + 4 * 4, 4), 0, tiny);
    heed_tensor *up = heed_gelu(l.t, heed_linear_apply(&f.up, l.t, x));
    check_same(y, heed_linear_apply(&f.down, l.t, up), tiny);
    CLOSE(l.c);
}

/* ---- norms and dropout ---- */

/* x / sqrt(mean(x^2) + eps) gain, by a loop in double; the mean is not taken away. */
TEST(nn_rms_norm_is_its_formula) {
    lab l = lab_open(HEED_EVAL);
    heed_norm n;
    heed_norm_init(&n, l.s, "norm",
                   (heed_norm_args){.kind = HEED_RMS_NORM, .width = 33, .eps = (heed_real)1e-3});
    CHECK(!n.bias && heed_store_count(l.s) == 1);
    shake(l.s);
    heed_tensor *x = heed_scale(l.t, normal(l.t, "x", 2, SHAPE(3, 33)), 2, 1);
    heed_tensor *y = heed_norm_apply(&n, l.t, x);
    CHECK(y != NULL);
    for (int r = 0; y && r < 3; r++) {
        double squares = 0;
        const heed_real *row = x->x + r * 33;
        for (int i = 0; i < 33; i++) squares += (double)row[i] * (double)row[i];
        double rms = sqrt(squares / 33 + 1e-3);
        for (int i = 0; i < 33; i++)
            CHECK_CLOSE(y->x[r * 33 + i], (double)row[i] / rms * (double)n.gain->x[i], 10 * tiny);
    }
    CLOSE(l.c);
}

TEST(nn_norm_gives_mean_zero_variance_one) {
    lab l = lab_open(HEED_EVAL);
    heed_norm n;
    heed_norm_init(&n, l.s, "norm", (heed_norm_args){.width = 32, .eps = (heed_real)1e-5});
    heed_tensor *y = heed_norm_apply(&n, l.t, normal(l.t, "x", 2, SHAPE(3, 32)));
    for (int r = 0; y && r < 3; r++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < 32; i++) {
            double v = (double)y->x[r * 32 + i];
            sum += v;
            squares += v * v;
        }
        CHECK_CLOSE(sum, 0, 1e-4);
        CHECK_CLOSE(squares / 32, 1, 1e-4);
    }
    CHECK(heed_store_params(l.s) == 64);
    CHECK(!heed_store_find(l.s, "norm.weight")->decay);
    CLOSE(l.c);
}

TEST(nn_batchnorm_learns_its_statistics_and_uses_them) {
    lab l = lab_open(HEED_TRAIN);
    heed_batchnorm n;
    heed_batchnorm_init(&n, l.s, "bn", 2);
    CHECK(heed_store_find(l.s, "bn.running_mean")->state);
    CHECK(heed_store_params(l.s) == 4);
    heed_real data[] = {1, 10, 3, 30, 5, 50};
    heed_batchnorm_apply(&n, l.t, heed_input(l.t, data, 2, SHAPE(3, 2)));
    CHECK_CLOSE(n.mean->x[0], 0.1 * 3, 1e-6);
    CHECK_CLOSE(n.mean->x[1], 0.1 * 30, 1e-5);
    CHECK_CLOSE(n.var->x[0], 0.9 + 0.1 * 4, 1e-6);
    heed_tape_begin(l.t, HEED_EVAL, 1);
    heed_tensor *y = heed_batchnorm_apply(&n, l.t, heed_input(l.t, data, 2, SHAPE(3, 2)));
    CHECK_CLOSE(y->x[0], (1 - 0.3) / sqrt(1.3 + 1e-5), 1e-5);
    CHECK_CLOSE(n.mean->x[0], 0.3, 1e-6);
    CLOSE(l.c);
}

TEST(nn_drop_acts_in_training_alone) {
    lab l = lab_open(HEED_EVAL);
    heed_drop d, none;
    heed_drop_init(&d, l.s, "drop", (heed_real)0.25);
    heed_drop_init(&none, l.s, "none", 0);
    heed_tensor *x = normal(l.t, "x", 1, SHAPE(1000));
    CHECK(heed_drop_apply(&d, l.t, x) == x);
    heed_tape_begin(l.t, HEED_TRAIN, 1);
    x = normal(l.t, "x", 1, SHAPE(4000));
    CHECK(heed_drop_apply(&none, l.t, x) == x);
    heed_tensor *y = heed_drop_apply(&d, l.t, x);
    int zeros = 0;
    for (int i = 0; y && i < 4000; i++) {
        zeros += y->x[i] == 0;
        if (y->x[i] != 0) CHECK_CLOSE(y->x[i], (double)x->x[i] / 0.75, 1e-5);
    }
    CHECK(zeros > 900 && zeros < 1100);
    CLOSE(l.c);
}

/* ---- positions ---- */

TEST(nn_sinusoids_are_those_of_the_paper) {
    lab l = lab_open(HEED_EVAL);
    heed_position p;
    heed_position_init(&p, l.s, "pos", HEED_SINUSOIDAL, 600, 6);
    heed_tensor *y = heed_position_apply(&p, l.t, heed_input(l.t, NULL, 3, SHAPE(2, 500, 6)), 100);
    for (int b = 0; y && b < 2; b++)
        for (int r = 0; r < 500; r += 7)
            for (int i = 0; i < 3; i++) {
                double a = (100 + r) / pow(10000, 2.0 * i / 6);
                const heed_real *row = y->x + ((size_t)b * 500 + (size_t)r) * 6;
                CHECK_CLOSE(row[2 * i], sin(a), is_double ? 1e-11 : 1e-6);
                CHECK_CLOSE(row[2 * i + 1], cos(a), is_double ? 1e-11 : 1e-6);
            }
    CHECK(heed_store_count(l.s) == 0);
    CLOSE(l.c);
}

TEST(nn_learned_positions_train_the_rows_used) {
    lab l = lab_open(HEED_TRAIN);
    heed_position p;
    heed_position_init(&p, l.s, "pos", HEED_LEARNED, 5, 2);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(3, 2, 2)), *y = heed_position_apply(&p, l.t, x, 1);
    CHECK_CLOSE(y->x[4 + 3], (double)x->x[4 + 3] + (double)p.table->x[2 * 2 + 1], tiny);
    CHECK(heed_backward(l.t, heed_sum(l.t, y)));
    for (int i = 0; i < 10; i++) CHECK(p.table->g[i] == (i >= 2 && i < 6 ? 3 : 0));
    CHECK_TEXT(p.table->name, "pos.weight");
    heed_tape_begin(l.t, HEED_EVAL, 1);
    CHECK(!heed_position_apply(&p, l.t, normal(l.t, "x", 3, SHAPE(1, 3, 2)), 3));
    CHECK_HAS(heed_ctx_error(l.c), "at most 5 positions, found 6");
    CHECK_HAS(heed_ctx_error(l.c), "`block`");
    heed_close(l.c);
}
