/* What each op computes, on cases small enough to check by hand, and what it refuses: elementwise
 * ops, products, softmax, normalisation, dropout. */
#include "values.h"

/* ---- elementwise ---- */

TEST(ops_binary_broadcast_as_numpy) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *a = REALS(t, S(2, 1, 3), 1, 2, 3, 4, 5, 6), *b = REALS(t, S(2, 1), 10, 20);
    heed_tensor *y = heed_add(t, a, b);
    CHECK(y->dims == 3 && y->shape[0] == 2 && y->shape[1] == 2 && y->shape[2] == 3);
    CHECK_VALUES(y, tiny, 11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26);
    CHECK_VALUES(heed_sub(t, b, REALS(t, SCALAR, 1)), tiny, 9, 19);
    CHECK_VALUES(heed_mul(t, a, REALS(t, S(3), 1, 0, -1)), tiny, 1, 0, -3, 4, 0, -6);
    CHECK_VALUES(heed_div(t, REALS(t, S(1), 12), a), tiny, 12, 6, 4, 3, 2.4, 2);
    CLOSE(c);
}

TEST(ops_binary_gradients_sum_where_they_broadcast) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *a = heed_want_grad(t, REALS(t, S(2, 2), 1, 2, 3, 4));
    heed_tensor *b = heed_want_grad(t, REALS(t, S(2), 5, 6));
    heed_backward(t, heed_sum(t, heed_mul(t, a, b)));
    CHECK_GRADS(a, tiny, 5, 6, 5, 6);
    CHECK_GRADS(b, tiny, 4, 6);
    CLOSE(c);
}

TEST(ops_one_tensor_on_both_sides) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(2), 3, -4));
    heed_backward(t, heed_sum(t, heed_mul(t, x, x)));
    CHECK_GRADS(x, tiny, 6, -8);
    CLOSE(c);
}

TEST(ops_binary_refuse_shapes_that_do_not_broadcast) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *a = heed_input(t, NULL, S(2, 3)), *b = heed_input(t, NULL, S(4));
    REFUSED(heed_add(heed_at(t, "block.0"), a, b),
            "add at block.0: (2,3) x (4): sizes 3 and 4 do not broadcast");
    REFUSED(heed_mul(t, a, IDS(t, S(3), 1, 2, 3)), "input 1 must hold reals, not indices");
    REFUSED(heed_add(t, a, NULL), "input 1 is NULL");
    CLOSE(c);
}

TEST(ops_activations) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(3), -1, 0, 1), *p = REALS(t, S(3), 0.25, 1, 4);
    CHECK_VALUES(heed_relu(t, x), tiny, 0, 0, 1);
    CHECK_VALUES(heed_gelu(t, x), tiny, -0.158655253931457, 0, 0.841344746068543);
    CHECK_VALUES(heed_gelu_tanh(t, x), tiny, -0.15880800939172324, 0, 0.8411919906082768);
    CHECK_VALUES(heed_silu(t, x), tiny, -0.268941421369995, 0, 0.731058578630005);
    CHECK_VALUES(heed_tanh(t, x), tiny, -0.761594155955765, 0, 0.761594155955765);
    CHECK_VALUES(heed_sigmoid(t, x), tiny, 0.268941421369995, 0.5, 0.731058578630005);
    CHECK_VALUES(heed_exp(t, x), tiny, 0.367879441171442, 1, 2.718281828459045);
    CHECK_VALUES(heed_log(t, p), tiny, -1.386294361119891, 0, 1.386294361119891);
    CHECK_VALUES(heed_sqrt(t, p), tiny, 0.5, 1, 2);
    CHECK_VALUES(heed_activate(t, x, HEED_IDENTITY), 0, -1, 0, 1);
    REFUSED(heed_activate(t, x, (heed_act)77), "no activation 77");
    CLOSE(c);
}

TEST(ops_scale_clamp_where) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(4), -2, -1, 0.5, 3));
    heed_tensor *y = heed_clamp(t, x, -1, 1);
    CHECK_VALUES(y, 0, -1, -1, 0.5, 1);
    CHECK_VALUES(heed_scale(t, x, 2, 1), 0, -3, -1, 2, 7);
    heed_tensor *z = heed_where(t, IDS(t, S(2, 1), 1, 0), y, REALS(t, SCALAR, 9));
    CHECK_VALUES(z, 0, -1, -1, 0.5, 1, 9, 9, 9, 9);
    heed_backward(t, heed_sum(t, z));
    CHECK_GRADS(x, 0, 0, 1, 1, 0); /* the ends of the range are inside */
    REFUSED(heed_clamp(t, x, 1, -1), "lo 1 is above hi -1");
    REFUSED(heed_where(t, x, x, x), "input 0 must hold indices, not reals");
    CLOSE(c);
}

TEST(ops_stop_gradient) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(2), 3, 5));
    heed_tensor *still = heed_stop_gradient(heed_at(t, "cut"), x);
    CHECK_VALUES(still, 0, 3, 5);
    heed_backward(t, heed_sum(t, heed_mul(t, x, still)));
    CHECK_GRADS(x, 0, 3, 5);
    heed_tensor *only = heed_sum(t, heed_stop_gradient(t, x));
    CHECK(!heed_backward(t, only));
    CHECK_HAS(heed_ctx_error(c), "no tensor that requires a gradient");
    heed_clear(c);
    CLOSE(c);
}

/* ---- products ---- */

TEST(ops_matmul_in_three_forms) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *a = REALS(t, S(2, 3), 1, 2, 3, 4, 5, 6), *b = REALS(t, S(3, 2), 1, 0, 2, 1, 0, 3);
    CHECK_VALUES(heed_matmul(t, a, b), tiny, 5, 11, 14, 23);
    CHECK_VALUES(heed_matmul_nt(t, a, a), tiny, 14, 32, 32, 77);
    CHECK_VALUES(heed_matmul_tn(t, b, b), tiny, 5, 2, 2, 10);
    heed_tensor *batch = REALS(t, S(2, 1, 2), 1, 1, 2, -1), *one = REALS(t, S(2, 2), 1, 2, 3, 4);
    heed_tensor *y = heed_matmul(t, batch, one);
    CHECK(y->dims == 3 && y->shape[0] == 2 && y->shape[1] == 1);
    CHECK_VALUES(y, tiny, 4, 6, -1, 0);
    CHECK_VALUES(heed_matmul_nt(t, one, batch), tiny, 3, 7, 0, 2);
    CLOSE(c);
}

TEST(ops_matmul_names_what_does_not_fit) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = heed_input(t, NULL, S(16, 32, 64)), *w = heed_input(t, NULL, S(65, 128));
    REFUSED(heed_matmul(heed_at(t, "encoder.0.mlp.up"), x, w),
            "matmul at encoder.0.mlp.up: (16,32,64) x (65,128): inner 64 != 65");
    REFUSED(heed_matmul(t, x, heed_input(t, NULL, S(15, 64, 2))), "the batches differ");
    REFUSED(heed_matmul(t, x, heed_input(t, NULL, S(64))), "at least 2 dims");
    REFUSED(heed_affine(heed_at(t, "head"), x, heed_input(t, NULL, S(128, 65)), NULL),
            "affine at head: (16,32,64) x (128,65): inner 64 != 65");
    REFUSED(heed_affine(t, x, heed_input(t, NULL, S(8, 64)), heed_input(t, NULL, S(9))),
            "(8,64) x (9): the bias is not (8)");
    CLOSE(c);
}

TEST(ops_affine_act_is_affine_then_act) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    for (heed_act f = HEED_IDENTITY; f <= HEED_EXP; f++) {
        heed_tensor *in[2][3], *y[2];
        for (int k = 0; k < 2; k++) {
            in[k][0] = heed_want_grad(t, REALS(t, S(2, 2), 1, -2, 0.5, 3));
            in[k][1] = heed_want_grad(t, REALS(t, S(3, 2), 1, 0.5, -1, 2, 0.25, -0.75));
            in[k][2] = heed_want_grad(t, REALS(t, S(3), 0.1, -0.2, 0.3));
        }
        y[0] = heed_affine_act(t, in[0][0], in[0][1], in[0][2], f);
        y[1] = heed_activate(t, heed_affine(t, in[1][0], in[1][1], in[1][2]), f);
        const heed_real gy[] = {1, 2, -1, -2, 3, 1};
        for (int k = 0; k < 2; k++) CHECK(heed_backward_from(t, y[k], gy));
        for (size_t i = 0; i < 6; i++) CHECK_CLOSE(y[0]->x[i], y[1]->x[i], 10 * tiny);
        for (int k = 0; k < 3; k++)
            for (size_t i = 0; i < in[0][k]->size; i++)
                CHECK_CLOSE(in[0][k]->g[i], in[1][k]->g[i], 100 * tiny);
    }
    CLOSE(c);
}

/* Sums over many rows are computed in two halves. The gradients of two passes are added. */
TEST(ops_affine_adds_the_gradient_of_many_rows) {
    enum { ROWS = 301, IN = 20, OUT = 17 };
    heed_real first[OUT * IN] = {0};
    for (int threads = 1; threads <= 3; threads++) {
        heed_ctx *c = heed_open(&(heed_options){.seed = 4, .threads = threads});
        heed_store *s = heed_store_new(c);
        heed_tape *t = heed_tape_new(c);
        heed_tensor *w = heed_param(s, "w", "normal:1", 2, (int[]){OUT, IN});
        heed_tensor *x = heed_param(s, "x", "normal:1", 2, (int[]){ROWS, IN});
        for (int pass = 0; pass < 2; pass++) {
            heed_tape_begin(t, HEED_TRAIN, 0);
            heed_tensor *y = heed_affine(t, x, w, NULL);
            CHECK(heed_backward(t, heed_sum(t, heed_mul(t, y, y))));
        }
        for (int i = 0; i < OUT * IN; i++) {
            double want = 0;
            for (int r = 0; r < ROWS; r++) {
                double y = 0;
                for (int j = 0; j < IN; j++)
                    y += (double)x->x[r * IN + j] * (double)w->x[i / IN * IN + j];
                want += 4 * y * (double)x->x[r * IN + i % IN];
            }
            CHECK_CLOSE(w->g[i], want, 1e4 * tiny);
        }
        if (threads == 1) memcpy(first, w->g, sizeof first);
        CHECK(memcmp(first, w->g, sizeof first) == 0);
        test_close(c, __FILE__, __LINE__);
    }
}

/* ---- softmax ---- */

TEST(ops_softmax_with_temperature_and_mask) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(3), 1, 2, 3);
    CHECK_VALUES(heed_softmax(t, x, 1, NULL), tiny, 0.09003057317038, 0.244728471054798,
                 0.665240955774822);
    CHECK_VALUES(heed_softmax(t, x, 0, NULL), tiny, 1.0 / 3, 1.0 / 3, 1.0 / 3);
    CHECK_VALUES(heed_softmax(t, x, 100, NULL), tiny, 0, 0, 1);
    CHECK_VALUES(heed_softmax(t, x, 1, IDS(t, S(3), 1, 1, 0)), tiny, 0.268941421369995,
                 0.731058578630005, 0);
    CHECK_VALUES(heed_log_softmax(t, x, 1, IDS(t, S(3), 1, 1, 0)), tiny, -1.313261687518223,
                 -0.313261687518223, 0);
    heed_tensor *far = REALS(t, S(2, 2), 10000, 9999, -10000, -10001);
    CHECK_VALUES(heed_softmax(t, far, 1, NULL), tiny, 0.731058578630005, 0.268941421369995,
                 0.731058578630005, 0.268941421369995);
    REFUSED(heed_softmax(heed_at(t, "a"), far, 1, IDS(t, S(3), 1, 1, 1)),
            "softmax at a: (2,2) x (3): mask size 3 != 2");
    REFUSED(heed_softmax(t, far, 1, IDS(t, S(2, 1), 1, 1)), "mask size 1 != 2");
    CLOSE(c);
}

TEST(ops_softmax_of_a_hidden_row_is_zero_with_zero_gradient) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *(*const f[])(heed_tape *, heed_tensor *, heed_real,
                              heed_tensor *) = {heed_softmax, heed_log_softmax, heed_hardmax};
    for (int i = 0; i < 3; i++) {
        heed_tensor *x = heed_want_grad(t, REALS(t, S(2, 2), 1, 2, 3, 5));
        heed_tensor *y = f[i](t, x, 1, IDS(t, S(2, 2), 0, 0, 1, 1));
        CHECK(y->x[0] == 0 && y->x[1] == 0 && y->x[3] != y->x[2]);
        CHECK(heed_backward_from(t, y, (heed_real[]){1, 2, 3, 4}));
        CHECK(x->g[0] == 0 && x->g[1] == 0);
        CHECK(x->g[2] != 0 && x->g[3] != 0);
    }
    CLOSE(c);
}

/* A mask of any shape that broadcasts gives what its spread-out copy gives. */
TEST(ops_softmax_masks_broadcast) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    enum { A = 2, B = 3, C = 4, D = 3, ALL = A * B * C * D };
    heed_real x[ALL];
    for (int i = 0; i < ALL; i++) x[i] = (heed_real)((i * 37 % 11) / 5.0);
    heed_tensor *in = heed_input(t, x, S(A, B, C, D));
    const int shapes[][4] = {{1, 1, 1, D}, {1, 1, C, D}, {1, B, 1, D}, {A, 1, 1, D},
                             {A, B, 1, D}, {A, 1, C, D}, {1, B, C, D}, {A, B, C, D}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int *shape = shapes[s];
        int32_t small[ALL], full[ALL];
        for (int i = 0; i < ALL; i++) small[i] = (i * 29 + i / 3) % 7 > 2;
        for (int i = 0; i < ALL; i++) {
            int d = i % D, k = i / D % C, j = i / D / C % B, h = i / D / C / B;
            int at = (shape[0] > 1 ? h : 0) * shape[1] + (shape[1] > 1 ? j : 0);
            full[i] = small[(at * shape[2] + (shape[2] > 1 ? k : 0)) * D + d];
        }
        heed_tensor *a = heed_softmax(t, in, 1, heed_input_ids(t, small, 4, shape));
        heed_tensor *b = heed_softmax(t, in, 1, heed_input_ids(t, full, S(A, B, C, D)));
        CHECK(a && b && !memcmp(a->x, b->x, sizeof x));
    }
    CLOSE(c);
}

TEST(ops_hardmax_takes_the_lowest_index_at_ties) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(3, 3), 1, 3, 3, 2, 2, 2, 0, -1, 5);
    CHECK_VALUES(heed_hardmax(t, x, 2, NULL), 0, 0, 1, 0, 1, 0, 0, 0, 0, 1);
    CHECK_VALUES(heed_hardmax(t, x, 2, IDS(t, S(3), 0, 1, 1)), 0, 0, 1, 0, 0, 1, 0, 0, 0, 1);
    CLOSE(c);
}

/* ---- normalisation and dropout ---- */

TEST(ops_layer_norm) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(2, 4), 1, 2, 3, 4, 5, 5, 5, 5);
    double s = 1 / sqrt(1.25 + 1e-5);
    CHECK_VALUES(heed_layer_norm(t, x, NULL, NULL, (heed_real)1e-5), 10 * tiny, -1.5 * s, -0.5 * s,
                 0.5 * s, 1.5 * s, 0, 0, 0, 0);
    heed_tensor *gain = REALS(t, S(4), 1, 2, 3, 4), *bias = REALS(t, S(4), 10, 20, 30, 40);
    CHECK_VALUES(heed_layer_norm(t, x, gain, bias, (heed_real)1e-5), 10 * tiny, 10 - 1.5 * s,
                 20 - s, 30 + 1.5 * s, 40 + 6 * s, 10, 20, 30, 40);
    REFUSED(heed_layer_norm(heed_at(t, "ln"), x, NULL, REALS(t, S(1), 1), 1),
            "layer_norm at ln: (2,4) x (1): bias is not (4)");
    CLOSE(c);
}

TEST(ops_rms_norm) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(2, 4), 1, 2, 3, 4, -5, 5, 5, -5);
    double a = 1 / sqrt(7.5 + 1e-5), b = 5 / sqrt(25 + 1e-5);
    CHECK_VALUES(heed_rms_norm(t, x, NULL, (heed_real)1e-5), 10 * tiny, a, 2 * a, 3 * a, 4 * a, -b,
                 b, b, -b);
    heed_tensor *gain = REALS(t, S(4), 1, 2, 3, 4);
    CHECK_VALUES(heed_rms_norm(t, x, gain, (heed_real)1e-5), 10 * tiny, a, 4 * a, 9 * a, 16 * a, -b,
                 2 * b, 3 * b, -4 * b);
    REFUSED(heed_rms_norm(heed_at(t, "rms"), x, REALS(t, S(1), 1), 1),
            "rms_norm at rms: (2,4) x (1): gain is not (4)");
    CLOSE(c);
}

/* A pair (1, 0) at place p becomes (cos p, sin p) for the first pair, slower for later ones. */
TEST(ops_rotary) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(2, 5), 1, 1, 0, 0, 7, 1, 1, 0, 0, 7);
    heed_rotary_args a = {.heads = 1, .width = 4, .first = 2, .theta = 16};
    CHECK_VALUES(heed_rotary(t, x, &a), 10 * tiny, cos(2), cos(0.5), sin(2), sin(0.5), 7, cos(3),
                 cos(0.75), sin(3), sin(0.75), 7);
    a.heads = 2;
    REFUSED(heed_rotary(heed_at(t, "r"), x, &a), "rotary at r: (2,5): x is not (...,T,C)");
    a.width = 3;
    REFUSED(heed_rotary(t, x, &a), "2 heads of width 3: expected at least 1, of an even width");
    a = (heed_rotary_args){.heads = 1, .width = 2, .first = -1, .theta = 10};
    REFUSED(heed_rotary(t, x, &a), "the first position -1");
    a = (heed_rotary_args){.heads = 1, .width = 2, .theta = 0};
    REFUSED(heed_rotary(t, x, &a), "theta 0");
    REFUSED(heed_rotary(t, x, NULL), "0 heads");
    CLOSE(c);
}

/* Expected: torch.nn.functional.batch_norm, whose running variance is unbiased. */
TEST(ops_batch_norm_moves_statistics_in_training_only) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = REALS(t, S(3, 2), 1, 10, 2, 20, 6, 30);
    heed_tensor *mean = REALS(t, S(2), 1, 0), *var = REALS(t, S(2), 1, 4);
    heed_tensor *y = heed_batch_norm(t, x, NULL, NULL, mean, var, 0, (heed_real)0.1);
    double a = sqrt(14.0 / 3), b = sqrt(200.0 / 3);
    CHECK_VALUES(y, 10 * tiny, -2 / a, -10 / b, -1 / a, 0, 3 / a, 10 / b);
    CHECK_VALUES(mean, 10 * tiny, 0.9 + 0.3, 2);
    CHECK_VALUES(var, 10 * tiny, 0.9 + 0.7, 3.6 + 10);
    const heed_real m[] = {2, 0}, v[] = {4, 1};
    heed_tape_begin(t, HEED_EVAL, 0);
    x = REALS(t, S(1, 2), 4, 5);
    mean = heed_input(t, m, S(2)), var = heed_input(t, v, S(2));
    y = heed_batch_norm(t, x, REALS(t, S(2), 3, 1), REALS(t, S(2), 0, 7), mean, var, 0, 1);
    CHECK_VALUES(y, 10 * tiny, 3, 12);
    CHECK_VALUES(mean, 0, 2, 0);
    CHECK_VALUES(var, 0, 4, 1);
    heed_tape_begin(t, HEED_TRAIN, 0);
    x = REALS(t, S(1, 2), 4, 5), mean = heed_input(t, m, S(2)), var = heed_input(t, v, S(2));
    REFUSED(heed_batch_norm(t, x, NULL, NULL, mean, var, 0, 1), "training needs at least 2 rows");
    CLOSE(c);
}

/* How many of 10000 ones survive, under a name and step; every survivor is 1 / (1 - p), with p
 * rounded to 1 / 65536. */
static int survivors(heed_tape *t, const char *name, uint64_t step, heed_real *copy) {
    int kept = 0;
    heed_tape_begin(t, HEED_TRAIN, step);
    heed_tensor *x = heed_scale(t, heed_input(t, NULL, S(100, 100)), 0, 1);
    heed_tensor *y = heed_dropout(heed_at(t, name), x, (heed_real)0.2);
    for (size_t i = 0; y && i < y->size; i++) {
        CHECK(y->x[i] == 0 || fabs((double)y->x[i] - 65536.0 / 52429) < 1e-6);
        kept += y->x[i] != 0;
        copy[i] = y->x[i];
    }
    return kept;
}

TEST(ops_dropout) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    static heed_real a[10000], b[10000];
    int kept = survivors(t, "drop1", 5, a);
    CHECK(kept > 7800 && kept < 8200); /* five deviations of 40 */
    survivors(t, "drop1", 5, b);
    CHECK(!memcmp(a, b, sizeof a)); /* the same site and step draw the same */
    survivors(t, "drop1", 6, b);
    CHECK(memcmp(a, b, sizeof a) != 0);
    survivors(t, "drop2", 5, b);
    CHECK(memcmp(a, b, sizeof a) != 0);
    heed_tensor *x = REALS(t, S(2), 1, 2);
    CHECK(heed_dropout(t, x, 0)->x == x->x);
    REFUSED(heed_dropout(t, x, 1), "the probability 1 is not in [0, 1)");
    REFUSED(heed_dropout(t, x, (heed_real)NAN), "is not in [0, 1)");
    heed_tape_begin(t, HEED_EVAL, 5);
    CHECK_VALUES(heed_dropout(t, REALS(t, S(2), 1, 2), (heed_real)0.9), 0, 1, 2);
    CLOSE(c);
}

/* What dropout leaves of 64 ones: a bit for each. The layer is unnamed. */
static uint64_t kept_of(heed_tape *t, int by) {
    static heed_real ones[64 * 64];
    const heed_attention_args args = {.heads = 1, .key = 1, .value = 64, .dropout = (heed_real)0.5};
    for (int i = 0; i < 64; i++) ones[i * 65] = 1;
    heed_tensor *x = heed_scale(t, heed_input(t, NULL, S(64)), 0, 1), *y = NULL;
    heed_tensor *q = heed_input(t, NULL, S(1, 1, 1)), *k = heed_input(t, NULL, S(1, 64, 1));
    heed_tensor *v = heed_input(t, ones, S(1, 64, 64)); /* y = the weights */
    if (by == 0) y = heed_dropout(t, x, (heed_real)0.5);
    if (by == 1) y = heed_attention(t, q, k, v, NULL, NULL, &args);
    if (by == 2) y = heed_attention_explicit(t, q, k, v, NULL, NULL, &args);
    uint64_t kept = 0;
    for (size_t i = 0; y && i < 64; i++) kept |= (uint64_t)(y->x[i] != 0) << i;
    return kept;
}

/* Layers without a name draw apart from one another, in each step and micro-batch anew, and again
 * the same in the same step. */
TEST(ops_dropout_of_unnamed_layers_draws_apart) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    enum { OF_EACH = 4, KINDS = 3, ALL = OF_EACH * KINDS };
    uint64_t kept[3 * ALL];
    for (int i = 0; i < 3 * ALL; i++) {
        if (i % ALL == 0) heed_tape_begin_micro(t, HEED_TRAIN, i / ALL == 1, i / ALL == 2);
        kept[i] = kept_of(t, i % KINDS);
    }
    for (int i = 0; i < 3 * ALL; i++)
        for (int j = 0; j < i; j++) CHECK(kept[i] != kept[j]);
    heed_tape_begin(t, HEED_TRAIN, 0);
    for (int i = 0; i < ALL; i++) CHECK(kept_of(t, i % KINDS) == kept[i]);
    CLOSE(c);
}

/* One pass does what two ops do, with the same draws, forward and backward. */
TEST(ops_dropout_add_is_an_addition_of_dropout) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_real numbers[200], gx[2][200];
    for (int i = 0; i < 200; i++) numbers[i] = (heed_real)(i % 7) - 3;
    const heed_real *y[2], *gonto[2];
    for (int way = 0; way < 2; way++) {
        heed_tensor *onto = heed_want_grad(t, heed_input(t, numbers, 1, (int[]){200}));
        heed_tensor *x = heed_want_grad(t, heed_input(t, numbers, 1, (int[]){200}));
        heed_tape *at = heed_at(t, "drop");
        heed_tensor *sum = way ? heed_dropout_add(at, onto, x, (heed_real)0.3)
                               : heed_add(t, onto, heed_dropout(at, x, (heed_real)0.3));
        heed_backward(t, heed_sum(t, heed_mul(t, sum, sum)));
        y[way] = sum->x;
        gonto[way] = onto->g;
        memcpy(gx[way], x->g, sizeof gx[way]);
    }
    for (int i = 0; i < 200; i++) {
        CHECK_CLOSE(y[0][i], y[1][i], 1e-6);
        CHECK_CLOSE(gonto[0][i], gonto[1][i], 1e-5);
        CHECK_CLOSE(gx[0][i], gx[1][i], 1e-5);
    }
    CLOSE(c);
}

/* A sum's gradient array becomes that of an input: whatever else uses the inputs, and in whatever
 * order, the gradients are those of x - (-f), which shares nothing. */
static heed_tensor *term(heed_tape *t, heed_tensor *x, int kind) {
    switch (kind) {
    case 0:
        return x;
    case 1:
        return heed_scale(t, x, 3, 1);
    case 2:
        return heed_gelu(t, x);
    case 3:
        return heed_reshape(t, x, 2, (int[]){2, 3});
    case 4:
        return heed_want_grad(t, heed_mul(t, x, x));
    case 5:
        return heed_add(t, heed_scale(t, x, 2, 0), x);
    case 6:
        return heed_affine_act(t, x, REALS(t, S(3, 3), 1, 2, 3, 4, 5, 6, 7, 8, 9), NULL, HEED_GELU);
    default:
        return heed_reshape(t, heed_gelu(t, heed_scale(t, x, 2, 0)), 2, (int[]){2, 3});
    }
}
TEST(ops_sums_hand_on_their_gradient) {
    enum { KINDS = 8 };
    for (int i = 0; i < 2 * KINDS * KINDS; i++) {
        heed_real g[2][6];
        for (int way = 0; way < 2; way++) {
            heed_ctx *c;
            heed_tape *t = begin(&c, HEED_TRAIN);
            heed_tensor *in = heed_want_grad(t, REALS(t, S(2, 3), 1, -2, 3, -4, 5, -6));
            heed_tensor *x = i % 2 ? heed_gelu(t, in) : in;
            heed_tensor *a = term(t, x, i / 2 % KINDS), *b = term(t, x, i / 2 / KINDS);
            heed_tensor *s = way ? heed_sub(t, a, heed_scale(t, b, -1, 0)) : heed_add(t, a, b);
            heed_tensor *all = way ? heed_sub(t, s, heed_scale(t, heed_gelu(t, s), -1, 0))
                                   : heed_add(t, s, heed_gelu(t, s));
            heed_backward(t, heed_sum(t, heed_mul(t, all, x)));
            memcpy(g[way], in->g, sizeof g[way]);
            CLOSE(c);
        }
        for (int k = 0; k < 6; k++) CHECK_CLOSE(g[0][k], g[1][k], 1e-4 * fabs((double)g[1][k]));
    }
}
