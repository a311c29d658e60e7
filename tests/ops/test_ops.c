/* What golden values, gradient checks and random shapes (test_golden.c, test_gradcheck.c,
 * test_ops_dims.c) do not show of the ops: ties, values that are no numbers, views, what is drawn
 * at random, gradients that share memory, and what each op refuses, with its words. */
#include "values.h"

/* ---- ties, and what is no number ---- */

TEST(ops_take_the_first_of_equals) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = REALS(t, S(3, 3), 1, 3, 3, 2, 2, 2, 0, -1, 5);
    CHECK_VALUES(heed_hardmax(t, x, 2, NULL), 0, 0, 1, 0, 1, 0, 0, 0, 0, 1);
    CHECK_VALUES(heed_hardmax(t, x, 2, IDS(t, S(3), 0, 1, 1)), 0, 0, 1, 0, 0, 1, 0, 0, 0, 1);
    x = heed_want_grad(t, REALS(t, S(2, 3), 1, 5, 5, 4, 4, -6));
    heed_tensor *top = heed_max_dim(t, x, 1);
    CHECK_VALUES(top, 0, 5, 4);
    CHECK(heed_backward_from(t, top, (heed_real[]){2, 3}));
    CHECK_GRADS(x, 0, 0, 2, 0, 3, 0, 0);
    CHECK(isnan((double)heed_max_dim(t, REALS(t, S(3), 1, NAN, 2), 0)->x[0]));
    x = heed_want_grad(t, REALS(t, S(1, 2, 4, 1), 3, 1, 2, 7, 3, 3, 7, 7));
    top = heed_max_pool(t, x, &(heed_pool_args){.size = {2, 2}});
    CHECK_VALUES(top, 0, 3, 7);
    CHECK(heed_backward(t, heed_sum(t, top)));
    CHECK_GRADS(x, 0, 1, 0, 0, 1, 0, 0, 0, 0);
    x = heed_want_grad(t, REALS(t, S(1, 2, 4, 1), 1, NAN, 5, 2, 9, NAN, 4, 3));
    top = heed_max_pool(t, x, &(heed_pool_args){.size = {2, 2}});
    CHECK(isnan(top->x[0]) && top->x[1] == 5);
    CHECK(heed_backward(t, heed_sum(t, top)));
    CHECK_GRADS(x, 0, 0, 1, 1, 0, 0, 0, 0, 0);
    CLOSE(c);
}

/* A confident right answer still has a loss, exp(-40); a hidden row has none at all. */
TEST(ops_losses_at_their_ends) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(4), 1000, -1000, 0, 40));
    heed_tensor *loss = heed_bce(t, x, REALS(t, S(4), 1, 1, 0.5, 1));
    CHECK_VALUES(loss, tiny, (1000 + log(2)) / 4);
    CHECK(heed_backward(t, loss));
    CHECK_GRADS(x, tiny, 0, -0.25, 0, 0);
    heed_tensor *sure = heed_bce(t, REALS(t, S(1), 40), REALS(t, S(1), 1));
    CHECK_CLOSE(sure->x[0] / (heed_real)exp(-40), 1, 1e-5);
    x = heed_want_grad(t, REALS(t, S(2, 2), 1, 2, 3, 4));
    loss = heed_xent(t, x, IDS(t, S(2), -100, -100), NULL);
    CHECK_VALUES(loss, 0, 0);
    CHECK(heed_backward(t, loss));
    CHECK_GRADS(x, 0, 0, 0, 0, 0);
    heed_xent_args second = {.ignore = 1, .has_ignore = true}, padding = {.has_ignore = true};
    double of_first = log(1 + exp(-1));
    CHECK_VALUES(heed_xent(t, x, IDS(t, S(2), 1, 0), &padding), tiny, of_first);
    CHECK_VALUES(heed_xent(t, x, IDS(t, S(2), 1, 0), &second), tiny, of_first + 1);
    CLOSE(c);
}

/* ---- views ---- */

TEST(ops_views_share_memory) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = REALS(t, S(2, 4), 1, 2, 3, 4, 5, 6, 7, 8);
    heed_tensor *y = heed_reshape(t, x, S(-1, 2));
    CHECK(y->x == x->x && y->dims == 2 && y->shape[0] == 4 && y->shape[1] == 2);
    CHECK(heed_reshape(t, REALS(t, S(1), 4), 0, NULL)->dims == 0);
    CHECK(heed_slice(t, x, 0, 1, 1)->x == x->x + 4);
    CHECK(heed_dropout(t, x, 0)->x == x->x);
    x = heed_want_grad(t, REALS(t, S(2), 3, 5));
    heed_tensor *still = heed_stop_gradient(heed_name_scope(t, "cut"), x);
    CHECK(!heed_backward(t, heed_sum(t, still)));
    CHECK_HAS(heed_ctx_error(c), "no tensor that requires a gradient");
    heed_clear(c);
    CLOSE(c);
}

/* Views of views, their base used beside them, and all through ops that copy. */
TEST(ops_gradients_through_views_add_up) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(4), 1, 2, 3, 4));
    heed_tensor *y = heed_scale(t, x, 2, 0); /* 2 4 6 8 */
    heed_tensor *square = heed_reshape(t, y, S(2, 2)), *low = heed_slice(t, square, 0, 1, 1);
    heed_tensor *a = heed_sum(t, heed_mul(t, low, low));          /* y3^2 + y4^2 */
    heed_tensor *b = heed_sum(t, heed_mul(t, y, y));              /* sum y^2 */
    heed_tensor *d = heed_sum(t, heed_slice(t, square, 1, 0, 1)); /* y1 + y3 */
    heed_backward(t, heed_add(t, heed_add(t, a, b), d));
    CHECK_GRADS(x, tiny, 2 * (4 + 1), 2 * 8, 2 * (12 + 12 + 1), 2 * (16 + 16));
    CLOSE(c);
}

/* ---- products ---- */

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
        heed_params *s = heed_params_new(c);
        heed_tape *t = heed_tape_new(c);
        heed_tensor *w = heed_param_new(s, "w", "normal:1", 2, (int[]){OUT, IN});
        heed_tensor *x = heed_param_new(s, "x", "normal:1", 2, (int[]){ROWS, IN});
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

/* A batch may hold no masked position at all. */
TEST(ops_no_rows_are_a_loss_of_zero) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(2, 2), 1, 2, 3, 4));
    heed_tensor *w = heed_want_grad(t, REALS(t, S(3, 2), 1, 2, 3, 4, 5, 6));
    heed_tensor *none = heed_input_ids(t, (int32_t[]){0}, 1, (int[]){0});
    heed_tensor *logits = heed_affine_act(t, heed_gather(t, x, none), w, NULL, HEED_GELU);
    heed_tensor *gain = REALS(t, S(3), 1, 1, 1);
    heed_tensor *loss = heed_xent(t, heed_layer_norm(t, logits, gain, NULL, 1), none, NULL);
    CHECK_VALUES(loss, 0, 0);
    CHECK(heed_backward(t, loss));
    CHECK_GRADS(w, 0, 0, 0, 0, 0, 0, 0);
    CHECK_VALUES(heed_mean(t, logits), 0, 0);
    CHECK_VALUES(heed_sum(t, logits), 0, 0);
    CLOSE(c);
}

/* ---- statistics and dropout ---- */

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
    CLOSE(c);
}

/* How many of 10000 ones survive, under a name and step; every survivor is 1 / (1 - p), with p
 * rounded to 1 / 65536. */
static int survivors(heed_tape *t, const char *name, uint64_t step, heed_real *copy) {
    int kept = 0;
    heed_tape_begin(t, HEED_TRAIN, step);
    heed_tensor *x = heed_scale(t, heed_input(t, NULL, S(100, 100)), 0, 1);
    heed_tensor *y = heed_dropout(heed_name_scope(t, name), x, (heed_real)0.2);
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
    heed_tape_begin(t, HEED_EVAL, 5);
    CHECK_VALUES(heed_dropout(t, REALS(t, S(2), 1, 2), (heed_real)0.9), 0, 1, 2);
    CLOSE(c);
}

/* What dropout leaves of 64 ones: a bit for each. The layer is unnamed. */
static uint64_t kept_of(heed_tape *t, int by) {
    static heed_real ones[64 * 64];
    const heed_attention_args args = {
        .explicit_path = by == 2, .heads = 1, .key = 1, .value = 64, .dropout = (heed_real)0.5};
    for (int i = 0; i < 64; i++) ones[i * 65] = 1;
    heed_tensor *x = heed_scale(t, heed_input(t, NULL, S(64)), 0, 1), *y = NULL;
    heed_tensor *q = heed_input(t, NULL, S(1, 1, 1)), *k = heed_input(t, NULL, S(1, 64, 1));
    heed_tensor *v = heed_input(t, ones, S(1, 64, 64)); /* y = the weights */
    if (by == 0) y = heed_dropout(t, x, (heed_real)0.5);
    if (by > 0) y = heed_attention(t, q, k, v, NULL, NULL, &args);
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
        heed_tape *at = heed_name_scope(t, "drop");
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

/* ---- what is refused ---- */

TEST(ops_refuse_shapes_and_settings_that_do_not_fit) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_tensor *x = REALS(t, S(2, 3), 1, 2, 3, 4, 5, 6), *w = heed_input(t, NULL, S(8, 3));
    heed_tensor *b = heed_input(t, NULL, S(4)), *ids = IDS(t, S(3), 1, 2, 3);
    heed_tensor *cube = heed_input(t, NULL, S(16, 32, 64)), *one = REALS(t, S(1), 1);
    REFUSED(heed_add(heed_name_scope(t, "block.0"), x, b),
            "add at block.0: (2,3) x (4): sizes 3 and 4 do not broadcast");
    REFUSED(heed_mul(t, x, ids), "input 1 must hold reals, not indices");
    REFUSED(heed_add(t, x, NULL), "input 1 is NULL");
    REFUSED(heed_activate(t, x, (heed_act)77), "no activation 77");
    REFUSED(heed_clamp(t, x, 1, -1), "lo 1 is above hi -1");
    REFUSED(heed_where(t, x, x, x), "input 0 must hold indices, not reals");
    REFUSED(
        heed_matmul(heed_name_scope(t, "encoder.0.mlp.up"), cube, heed_input(t, NULL, S(65, 128))),
        "matmul at encoder.0.mlp.up: (16,32,64) x (65,128): inner 64 != 65");
    REFUSED(heed_matmul(t, cube, heed_input(t, NULL, S(15, 64, 2))), "the batches differ");
    REFUSED(heed_matmul(t, cube, heed_input(t, NULL, S(64))), "at least 2 dims");
    REFUSED(heed_affine(t, cube, w, NULL), "inner 64 != 3");
    REFUSED(heed_affine(t, x, w, heed_input(t, NULL, S(9))), "(8,3) x (9): the bias is not (8)");
    REFUSED(heed_softmax(heed_name_scope(t, "a"), x, 1, IDS(t, S(2), 1, 1)),
            "softmax at a: (2,3) x (2): mask size 2 != 3");
    REFUSED(heed_softmax(t, x, 1, IDS(t, S(2, 1), 1, 1)), "mask size 1 != 3");
    REFUSED(heed_layer_norm(heed_name_scope(t, "ln"), x, NULL, one, 1),
            "layer_norm at ln: (2,3) x (1): bias is not (3)");
    REFUSED(heed_rms_norm(t, x, one, 1), "gain is not (3)");
    heed_tape_begin(t, HEED_TRAIN, 0);
    x = REALS(t, S(2, 3), 1, 2, 3, 4, 5, 6), b = REALS(t, S(3), 1, 1, 1);
    REFUSED(heed_batch_norm(t, heed_slice(t, x, 0, 0, 1), NULL, NULL, b, b, 0, 1),
            "training needs at least 2 rows");
    REFUSED(heed_dropout(t, x, 1), "the probability 1 is not in [0, 1)");
    REFUSED(heed_dropout(t, x, (heed_real)NAN), "is not in [0, 1)");
    heed_rotary_args a = {.heads = 2, .width = 4, .theta = 16};
    REFUSED(heed_rotary(heed_name_scope(t, "r"), x, &a), "rotary at r: (2,3): x is not (...,T,C)");
    a.width = 3;
    REFUSED(heed_rotary(t, x, &a), "2 heads of width 3: expected at least 1, of an even width");
    a = (heed_rotary_args){.heads = 1, .width = 2, .first = -1, .theta = 10};
    REFUSED(heed_rotary(t, x, &a), "the first position -1");
    a = (heed_rotary_args){.heads = 1, .width = 2, .theta = 0};
    REFUSED(heed_rotary(t, x, &a), "theta 0");
    REFUSED(heed_rotary(t, x, NULL), "0 heads");
    REFUSED(heed_embed(heed_name_scope(t, "tok"), x, IDS(t, S(2), 1, 2)),
            "embed at tok: (2,3) x (2): index 2 at position 1 is not in 0 .. 1");
    REFUSED(heed_gather(t, x, IDS(t, S(1), -1)), "index -1 at position 0 is not in 0 .. 1");
    REFUSED(heed_embed(t, b, IDS(t, S(1), 0)), "the table needs 2 dims");
    REFUSED(heed_sum_dim(heed_name_scope(t, "pool"), x, 2),
            "sum_dim at pool: (2,3): there is no dim 2");
    REFUSED(heed_max_dim(t, x, -3), "there is no dim -3");
    REFUSED(heed_reshape(heed_name_scope(t, "flat"), x, S(4, -1)),
            "reshape at flat: (2,3): its 6 elements do not fill (4,-1)");
    REFUSED(heed_reshape(t, x, S(-1, -1)), "size -1 at dim 1");
    REFUSED(heed_reshape(t, x, S(1 << 30, 1 << 30, 1 << 30)), "do not fill");
    REFUSED(heed_reshape(t, x, S(1, 1, 1, 6, 1)), "5 dims are not in 0 .. 4");
    REFUSED(heed_permute(t, x, (int[]){1, 1}), "order[1] = 1: expected each of 0 .. 1 once");
    heed_tensor *list[] = {x, REALS(t, S(2, 1), 7, 8)};
    REFUSED(heed_concat(heed_name_scope(t, "join"), 0, 2, list),
            "concat at join: (2,3) x (2,1): they differ in more than dim 0");
    REFUSED(heed_concat(t, 0, 0, list), "the list is empty");
    REFUSED(heed_slice(t, x, 1, 2, 2), "(2,3): from 2, size 2 exceeds dim 1");
    REFUSED(heed_slice(t, x, 1, -1, 1), "exceeds dim 1");
    REFUSED(heed_slice(t, x, 0, INT32_MAX, INT32_MAX), "exceeds dim 0");
    REFUSED(heed_pad(t, x, 1, -1, 0, 9), "cannot pad dim 1 by -1 and 0");
    REFUSED(heed_pad(t, x, 1, INT32_MAX, INT32_MAX, 9), "cannot pad");
    CHECK(!heed_xent(heed_name_scope(t, "loss"), x, IDS(t, S(2), 0, 3), NULL));
    CHECK(heed_ctx_status(c) == HEED_DATA);
    REFUSED(NULL, "xent at loss: label 3 of row 1 is not in 0 .. 2");
    REFUSED(heed_xent(t, x, IDS(t, S(2), 0, -1), NULL), "label -1 of row 1");
    REFUSED(heed_xent(t, x, IDS(t, S(3), 0, 0, 0), NULL), "expected logits (...,C)");
    REFUSED(heed_xent(t, x, x, NULL), "input 1 must hold indices");
    REFUSED(heed_xent(t, x, IDS(t, S(2), 0, 0), &(heed_xent_args){.smoothing = 2}),
            "smoothing 2 is not in [0, 1]");
    REFUSED(heed_bce(t, x, REALS(t, S(1), 1)), "logits and targets differ in shape");
    REFUSED(heed_mse(t, x, b), "mse");
    CLOSE(c);
}

/* ---- after an error ---- */

TEST(ops_do_nothing_after_an_error) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_tensor *x = REALS(t, S(2, 2), 1, 2, 3, 4);
    CHECK(!heed_matmul(t, x, heed_input(t, NULL, S(3, 1))));
    heed_tensor *y = heed_add(t, heed_matmul(t, NULL, x), x);
    y = heed_softmax(t, heed_permute(t, heed_reshape(t, y, S(4)), (int[]){0}), 1, NULL);
    CHECK(!heed_concat(t, 0, 1, &y) && !heed_stop_gradient(t, y) && !heed_name_tensor(t, y, "x"));
    CHECK(!heed_attention(t, y, y, y, NULL, NULL,
                          &(heed_attention_args){.heads = 1, .explicit_path = true}));
    CHECK(!heed_xent(t, y, NULL, NULL) && !heed_backward(t, y));
    CHECK_HAS(heed_ctx_error(c), "inner 2 != 3"); /* still the first */
    CHECK(!heed_add(NULL, NULL, NULL) && !heed_relu(NULL, NULL) && !heed_reshape(NULL, x, 9, NULL));
    heed_clear(c);
    CLOSE(c);
}
