/* Layers: what they compute, what they must not depend on, and their gradients. */
#include "test.h"

#define SHAPE(...) ((int[]){__VA_ARGS__})

static const bool is_double = sizeof(heed_real) == 8;
static const double tiny = sizeof(heed_real) == 8 ? 1e-12 : 2e-6;

typedef struct {
    heed_ctx *c;
    heed_store *s;
    heed_tape *t;
} lab;

static lab lab_open(heed_mode mode) {
    lab l = {.c = heed_open(&(heed_options){.seed = 7, .threads = 1})};
    l.s = heed_store_new(l.c);
    l.t = heed_tape_new(l.c);
    heed_tape_begin(l.t, mode, 0);
    return l;
}

/* Normal numbers that depend on the name alone. */
static heed_tensor *normal(heed_tape *t, const char *name, int dims, const int *shape) {
    heed_tensor *x = heed_input(t, NULL, dims, shape);
    heed_random r = heed_random_at(1, name, 0, 0);
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)heed_random_normal(&r, i);
    return x;
}

/* Largest difference of n values. */
static double apart(const heed_real *a, const heed_real *b, size_t n) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (!(d <= worst)) worst = d;
    }
    return worst;
}

static void check_same(const heed_tensor *a, const heed_tensor *b, double tolerance) {
    CHECK(a && b && a->size == b->size);
    if (a && b && a->size == b->size) CHECK_CLOSE(apart(a->x, b->x, a->size), 0, tolerance);
}

/* Makes every parameter differ from its neutral start, so that a forgotten bias or gain shows. */
static void shake(heed_store *s) {
    for (int i = 0; i < heed_store_count(s); i++) {
        heed_tensor *x = heed_store_at(s, i)->tensor;
        heed_random r = heed_random_at(3, x->name, 0, 0);
        for (size_t j = 0; j < x->size; j++)
            x->x[j] += (heed_real)(0.3 * heed_random_normal(&r, j));
    }
}

static const heed_mha_args small = {.width = 8, .heads = 2};

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

TEST(nn_norm_gives_mean_zero_variance_one) {
    lab l = lab_open(HEED_EVAL);
    heed_norm n;
    heed_norm_init(&n, l.s, "norm", 32, (heed_real)1e-5, true);
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
    CHECK_HAS(heed_why(l.c), "at most 5 positions, found 6");
    CHECK_HAS(heed_why(l.c), "--block");
    heed_close(l.c);
}

/* ---- attention ---- */

TEST(nn_stacked_projection_equals_separate_ones) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a, b;
    heed_mha_args args = {.width = 6, .heads = 3, .key = 4, .value = 5};
    heed_mha_init(&a, l.s, "a", args);
    args.cross = true;
    heed_mha_init(&b, l.s, "b", args);
    shake(l.s);
    size_t q = 12, kv = 12 + 15, d = 6, size = sizeof(heed_real);
    CHECK(a.qkv.w->shape[0] == (int)(q + kv) && a.qkv.w->shape[1] == 6);
    CHECK(a.out.w->shape[0] == 6 && a.out.w->shape[1] == 15);
    memcpy(b.q.w->x, a.qkv.w->x, q * d * size);
    memcpy(b.kv.w->x, a.qkv.w->x + q * d, kv * d * size);
    memcpy(b.q.b->x, a.qkv.b->x, q * size);
    memcpy(b.kv.b->x, a.qkv.b->x + q, kv * size);
    memcpy(b.out.w->x, a.out.w->x, a.out.w->size * size);
    memcpy(b.out.b->x, a.out.b->x, a.out.b->size * size);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 4, 6));
    check_same(heed_mha_apply(&a, l.t, x, NULL, NULL, NULL),
               heed_mha_apply(&b, l.t, x, x, NULL, NULL), tiny);
    CLOSE(l.c);
}

TEST(nn_cross_attention_takes_another_length_and_width) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a",
                  (heed_mha_args){.width = 6, .memory_width = 5, .heads = 2, .cross = true});
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 4, 6)), *m = normal(l.t, "m", 3, SHAPE(2, 7, 5));
    heed_tensor *y = heed_mha_apply(&a, l.t, x, m, NULL, NULL);
    CHECK(y && y->shape[0] == 2 && y->shape[1] == 4 && y->shape[2] == 6);
    CHECK(heed_store_find(l.s, "a.kv.weight")->tensor->shape[1] == 5);
    CLOSE(l.c);
}

TEST(nn_explicit_path_equals_the_fused_one) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_args args = small;
    args.causal = true;
    heed_mha_init(&a, l.s, "a", args);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 5, 8));
    heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0, 1, 1, 1, 1, 1, 0}, 2, 5);
    heed_tensor *y = heed_mha_apply(&a, l.t, x, NULL, pad, NULL);
    a.args.explicit_path = true;
    check_same(y, heed_mha_apply(&a, l.t, x, NULL, pad, NULL), tiny);
    CLOSE(l.c);
}

/* Fused, explicit, and with a cache, a token at a time. */
TEST(nn_score_bias_is_added_to_the_scores) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_args args = small;
    args.causal = true;
    heed_mha_init(&a, l.s, "a", args);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 4, 8));
    heed_tensor *bias = normal(l.t, "bias", 4, SHAPE(1, 2, 4, 4));
    heed_tensor *y = heed_mha_biased(&a, l.t, x, NULL, bias, NULL, NULL);
    heed_tensor *plain = heed_mha_apply(&a, l.t, x, NULL, NULL, NULL);
    CHECK(apart(y->x, plain->x, y->size) > 1e-3);
    check_same(heed_mha_biased(&a, l.t, x, NULL, NULL, NULL, NULL), plain, 0);
    a.args.explicit_path = true;
    check_same(y, heed_mha_biased(&a, l.t, x, NULL, bias, NULL, NULL), tiny);
    a.args.explicit_path = false;
    heed_real k[4 * 8], v[4 * 8];
    heed_cache cache = {.room = 4, .k = k, .v = v};
    for (int i = 0; i < 4; i++) {
        heed_tensor *row = heed_slice(l.t, x, 1, i, 1);
        heed_tensor *own = heed_slice(l.t, heed_slice(l.t, bias, 2, i, 1), 3, 0, i + 1);
        heed_tensor *z = heed_mha_biased(&a, l.t, row, NULL, own, NULL, &cache);
        CHECK(z && apart(z->x, y->x + (size_t)i * 8, 8) <= (double)tiny);
    }
    CLOSE(l.c);
}

TEST(nn_score_bias_of_cross_attention) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_args args = small;
    args.cross = true;
    heed_mha_init(&a, l.s, "a", args);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 3, 8)), *m = normal(l.t, "m", 3, SHAPE(2, 5, 8));
    heed_tensor *hide = heed_input(l.t, NULL, 4, SHAPE(1, 1, 3, 5)); /* the last key, of each */
    for (int i = 0; i < 3; i++) hide->x[5 * i + 4] = -1000;
    heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 1, 0, 1, 1, 1, 1, 0}, 2, 5);
    check_same(heed_mha_biased(&a, l.t, x, m, hide, NULL, NULL),
               heed_mha_apply(&a, l.t, x, m, pad, NULL), tiny);
    CLOSE(l.c);
}

/* Both draw dropout by the layer's name and the weight's place. */
TEST(nn_explicit_path_drops_the_same_weights) {
    for (int hard = 0; hard < 2; hard++) {
        lab l = lab_open(HEED_TRAIN);
        heed_mha a;
        heed_mha_args args = small;
        args.dropout = (heed_real)0.4;
        args.hard = hard;
        heed_mha_init(&a, l.s, "a", args);
        heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 5, 8));
        heed_tensor *y = heed_mha_apply(&a, l.t, x, NULL, NULL, NULL);
        a.args.explicit_path = true;
        check_same(y, heed_mha_apply(&a, l.t, x, NULL, NULL, NULL), tiny);
        a.args.dropout = 0;
        heed_tensor *z = heed_mha_apply(&a, l.t, x, NULL, NULL, NULL);
        CHECK(apart(y->x, z->x, y->size) > 1e-3);
        CLOSE(l.c);
    }
}

TEST(nn_attention_ignores_padding) {
    lab l = lab_open(HEED_EVAL);
    heed_block b;
    heed_block_args args = {.attn = small, .mlp = {.width = 8, .inner = 16}, .eps = 1};
    heed_block_init(&b, l.s, "", args);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 5, 8));
    heed_tensor *head = heed_input(l.t, x->x, 3, SHAPE(1, 3, 8));
    heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0, 0}, 1, 5);
    heed_tensor *y = heed_block_apply(&b, l.t, x, pad, NULL);
    heed_tensor *z = heed_block_apply(&b, l.t, head, NULL, NULL);
    CHECK_CLOSE(apart(y->x, z->x, 3 * 8), 0, tiny);
    z = heed_block_apply(&b, l.t, x, NULL, NULL);
    CHECK(apart(y->x, z->x, 3 * 8) > 1e-3);
    CLOSE(l.c);
}

TEST(nn_causal_attention_does_not_look_ahead) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_args args = small;
    args.causal = true;
    heed_mha_init(&a, l.s, "a", args);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 6, 8)), *z = heed_input(l.t, x->x, 3, x->shape);
    for (int i = 4 * 8; i < 6 * 8; i++) z->x[i] = -z->x[i];
    heed_tensor *y = heed_mha_apply(&a, l.t, x, NULL, NULL, NULL);
    z = heed_mha_apply(&a, l.t, z, NULL, NULL, NULL);
    CHECK(memcmp(y->x, z->x, 4 * 8 * sizeof(heed_real)) == 0);
    CHECK(apart(y->x + 4 * 8, z->x + 4 * 8, 8) > 1e-3);
    CLOSE(l.c);
}

/* Without positions and mask, attention does not know the order of its inputs. */
TEST(nn_attention_is_permutation_equivariant) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a", small);
    static const int32_t order[] = {3, 0, 2, 1};
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 4, 8));
    heed_tensor *rows = heed_input_ids(l.t, order, 1, SHAPE(4));
    heed_tensor *p = heed_reshape(l.t, heed_gather(l.t, x, rows), 3, SHAPE(1, 4, 8));
    heed_tensor *y = heed_gather(l.t, heed_mha_apply(&a, l.t, x, NULL, NULL, NULL), rows);
    check_same(heed_mha_apply(&a, l.t, p, NULL, NULL, NULL), y, tiny);
    CLOSE(l.c);
}

TEST(nn_beta_zero_gives_the_mean) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_args args = {.width = 8, .heads = 2, .has_beta = true, .no_out = true};
    heed_mha_init(&a, l.s, "a", args);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 4, 8));
    heed_tensor *v = heed_slice(l.t, heed_linear_apply(&a.qkv, l.t, x), 2, 16, 8);
    heed_tensor *mean = heed_mean_dim(l.t, v, 1), *y = heed_mha_apply(&a, l.t, x, NULL, NULL, NULL);
    for (int i = 0; i < 4; i++) CHECK_CLOSE(apart(y->x + 8 * i, mean->x, 8), 0, tiny);
    CHECK(!heed_store_find(l.s, "a.out.weight"));
    CLOSE(l.c);
}

TEST(nn_attention_is_probed_by_its_name) {
    lab l = lab_open(HEED_EVAL);
    heed_block b;
    heed_block_args args = {.attn = small, .mlp = {.width = 8, .inner = 8}, .eps = 1};
    heed_block_init(&b, l.s, "encoder.0", args);
    heed_probe(l.t, "encoder.*.weights", false);
    heed_tape_begin(l.t, HEED_EVAL, 1);
    heed_block_apply(&b, l.t, normal(l.t, "x", 3, SHAPE(1, 3, 8)), NULL, NULL);
    heed_tensor *w = heed_probe_find(l.t, "encoder.0.attn.weights");
    CHECK(w && w->dims == 4 && w->shape[1] == 2 && w->shape[3] == 3);
    for (int r = 0; w && r < 6; r++)
        CHECK_CLOSE(w->x[3 * r] + w->x[3 * r + 1] + w->x[3 * r + 2], 1, 1e-6);
    CLOSE(l.c);
}

static void refuses(heed_mha_args args, const char *part, const char *other) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "encoder.0.attn", args);
    CHECK(heed_state(l.c) == HEED_USAGE);
    CHECK_HAS(heed_why(l.c), part);
    CHECK_HAS(heed_why(l.c), other);
    CHECK(heed_store_count(l.s) == 0);
    CHECK(!heed_mha_apply(&a, l.t, NULL, NULL, NULL, NULL));
    heed_close(l.c);
}

TEST(nn_attention_refuses_sizes_that_do_not_fit) {
    refuses((heed_mha_args){.width = 64, .heads = 7}, "width 64 with 7 heads", "--key-width");
    refuses((heed_mha_args){.width = 64, .heads = 7, .key = 9}, "width 64 with 7 heads",
            "--value-width");
    refuses((heed_mha_args){.width = 64}, "heads 0", "encoder.0.attn");
    refuses((heed_mha_args){.width = 8, .heads = 1 << 20, .key = 1 << 20, .value = 1}, "too large",
            "--heads");
}

TEST(nn_attention_takes_widths_of_its_own) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a", (heed_mha_args){.width = 64, .heads = 7, .key = 9, .value = 3});
    heed_tensor *y =
        heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(2, 3, 64)), NULL, NULL, NULL);
    CHECK(y && y->shape[2] == 64);
    CHECK(a.qkv.w->shape[0] == 7 * (2 * 9 + 3));
    CLOSE(l.c);
}

TEST(nn_block_without_output_projection_must_fit) {
    lab l = lab_open(HEED_EVAL);
    heed_block b;
    heed_block_args args = {.attn = small, .mlp = {.width = 8, .inner = 8}, .eps = 1};
    args.attn.no_out = true;
    heed_block_init(&b, l.s, "0", args);
    CHECK(heed_state(l.c) == HEED_OK);
    args.attn.value = 3;
    heed_block_init(&b, l.s, "1", args);
    CHECK_HAS(heed_why(l.c), "width 8, found 2 x 3");
    heed_close(l.c);
}

/* ---- blocks ---- */

static heed_block_args block_args(bool pre) {
    return (heed_block_args){.attn = small,
                             .mlp = {.width = 8, .inner = 16, .act = HEED_GELU_TANH},
                             .pre_norm = pre,
                             .eps = (heed_real)1e-5};
}

TEST(nn_pre_norm_block_is_its_formula) {
    lab l = lab_open(HEED_EVAL);
    heed_block b;
    heed_block_init(&b, l.s, "b", block_args(true));
    shake(l.s);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 3, 8)), *h = heed_norm_apply(&b.norm1, l.t, x);
    heed_tensor *y = heed_add(l.t, x, heed_mha_apply(&b.attn, l.t, h, NULL, NULL, NULL));
    y = heed_add(l.t, y, heed_ff_apply(&b.mlp, l.t, heed_norm_apply(&b.norm2, l.t, y)));
    check_same(heed_block_apply(&b, l.t, x, NULL, NULL), y, tiny);
    CLOSE(l.c);
}

TEST(nn_post_norm_block_is_its_formula) {
    lab l = lab_open(HEED_EVAL);
    heed_block b;
    heed_block_init(&b, l.s, "b", block_args(false));
    shake(l.s);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 3, 8));
    heed_tensor *y = heed_add(l.t, x, heed_mha_apply(&b.attn, l.t, x, NULL, NULL, NULL));
    y = heed_norm_apply(&b.norm1, l.t, y);
    y = heed_norm_apply(&b.norm2, l.t, heed_add(l.t, y, heed_ff_apply(&b.mlp, l.t, y)));
    check_same(heed_block_apply(&b, l.t, x, NULL, NULL), y, tiny);
    CLOSE(l.c);
}

/* Token by token through a cache gives what all at once gives. */
TEST(nn_cache_equals_the_whole) {
    lab l = lab_open(HEED_EVAL);
    heed_block b;
    heed_block_args args = block_args(true);
    args.attn.causal = true;
    args.attn.key = 3;
    args.attn.value = 5;
    heed_block_init(&b, l.s, "b", args);
    shake(l.s);
    heed_real k[6 * 6], v[6 * 10];
    static const int steps[] = {2, 1, 3};
    for (int path = 0; path < 2; path++) {
        heed_cache cache = {.room = 6, .k = k, .v = v};
        heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 6, 8));
        heed_tensor *y = heed_block_apply(&b, l.t, x, NULL, NULL);
        for (int i = 0, from = 0; i < 3; from += steps[i++]) {
            heed_tensor *part = heed_input(l.t, x->x + from * 8, 3, SHAPE(1, steps[i], 8));
            part = heed_block_apply(&b, l.t, part, NULL, &cache);
            CHECK_CLOSE(apart(part->x, y->x + from * 8, part->size), 0, tiny);
        }
        CHECK(cache.len == 6);
        b.attn.args.explicit_path = true;
    }
    CLOSE(l.c);
}

TEST(nn_cache_refuses_what_it_cannot_hold) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a", small);
    heed_real k[16], v[16];
    heed_cache cache = {.room = 2, .k = k, .v = v};
    CHECK(!heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(1, 3, 8)), NULL, NULL, &cache));
    CHECK_HAS(heed_why(l.c), "at most 2 tokens, found 0 + 3");
    heed_clear(l.c);
    CHECK(!heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(2, 1, 8)), NULL, NULL, &cache));
    CHECK_HAS(heed_why(l.c), "2 sequences");
    heed_close(l.c);
}

/* ---- gradients ---- */

#ifdef HEED_F64
typedef struct {
    heed_tensor *x, *memory;
    heed_linear linear;
    heed_norm norm;
    heed_batchnorm batchnorm;
    heed_position position;
    heed_mha mha;
    heed_ff ff;
    heed_block block;
} parts;

static heed_tensor *use_linear(parts *p, heed_tape *t) {
    return heed_linear_act(&p->linear, t, p->x, HEED_GELU);
}
static heed_tensor *use_norm(parts *p, heed_tape *t) { return heed_norm_apply(&p->norm, t, p->x); }
static heed_tensor *use_batchnorm(parts *p, heed_tape *t) {
    return heed_batchnorm_apply(&p->batchnorm, t, p->x);
}
static heed_tensor *use_position(parts *p, heed_tape *t) {
    return heed_tanh(t, heed_position_apply(&p->position, t, p->x, 0));
}
static heed_tensor *use_ff(parts *p, heed_tape *t) { return heed_ff_apply(&p->ff, t, p->x); }
static heed_tensor *use_mha(parts *p, heed_tape *t) {
    return heed_mha_apply(&p->mha, t, p->x, p->memory, NULL, NULL);
}
static heed_tensor *use_block(parts *p, heed_tape *t) {
    heed_tensor *pad = heed_ids(t, (int32_t[]){1, 1, 0, 1, 1, 1}, 2, 3);
    return heed_block_apply(&p->block, t, p->x, pad, NULL);
}

static void make_linear(parts *p, heed_store *s) {
    heed_linear_init(&p->linear, s, "linear", (heed_linear_args){.in = 8, .out = 5});
}
static void make_norm(parts *p, heed_store *s) {
    heed_norm_init(&p->norm, s, "norm", 8, (heed_real)1e-5, true);
}
static void make_batchnorm(parts *p, heed_store *s) {
    heed_batchnorm_init(&p->batchnorm, s, "batchnorm", 8);
}
static void make_position(parts *p, heed_store *s) {
    heed_position_init(&p->position, s, "position", HEED_LEARNED, 3, 8);
}
static void make_sinusoids(parts *p, heed_store *s) {
    heed_position_init(&p->position, s, "position", HEED_SINUSOIDAL, 3, 8);
}
static void make_ff(parts *p, heed_store *s) {
    heed_ff_init(&p->ff, s, "ff", (heed_ff_args){.width = 8, .inner = 12, .act = HEED_GELU});
}
static void make_mha(parts *p, heed_store *s) {
    heed_mha_args args = {.width = 8, .heads = 2, .key = 3, .value = 5, .causal = true};
    args.dropout = (heed_real)0.2;
    heed_mha_init(&p->mha, s, "mha", args);
}
static void make_explicit(parts *p, heed_store *s) {
    make_mha(p, s);
    p->mha.args.explicit_path = true;
}
static void make_cross(parts *p, heed_store *s) {
    heed_mha_args args = {.width = 8, .memory_width = 4, .heads = 2, .cross = true};
    p->memory = heed_param(s, "memory", "normal:1", 3, SHAPE(2, 4, 4));
    heed_mha_init(&p->mha, s, "mha", args);
}
static void make_pre(parts *p, heed_store *s) {
    heed_block_args args = block_args(true);
    args.dropout = args.attn.dropout = (heed_real)0.1;
    heed_block_init(&p->block, s, "block", args);
}
static void make_post(parts *p, heed_store *s) {
    heed_block_init(&p->block, s, "block", block_args(false));
}

static const struct {
    const char *name;
    void (*make)(parts *p, heed_store *s);
    heed_tensor *(*use)(parts *p, heed_tape *t);
} layers[] = {
    {"linear", make_linear, use_linear},
    {"norm", make_norm, use_norm},
    {"batchnorm", make_batchnorm, use_batchnorm},
    {"position", make_position, use_position},
    {"sinusoids", make_sinusoids, use_position},
    {"ff", make_ff, use_ff},
    {"mha", make_mha, use_mha},
    {"explicit", make_explicit, use_mha},
    {"cross", make_cross, use_mha},
    {"pre-norm block", make_pre, use_block},
    {"post-norm block", make_post, use_block},
};

typedef struct {
    parts p;
    int layer;
} layer_case;

/* A fixed random weight on every output. */
static heed_tensor *layer_loss(void *self, heed_tape *t) {
    layer_case *l = self;
    heed_tensor *y = layers[l->layer].use(&l->p, t);
    return y ? heed_sum(t, heed_mul(t, y, normal(t, "weights", y->dims, y->shape))) : NULL;
}

TEST(nn_gradients_of_every_layer) {
    for (int i = 0; i < (int)(sizeof layers / sizeof *layers); i++) {
        lab l = lab_open(HEED_TRAIN);
        layer_case k = {.layer = i};
        k.p.x = heed_param(l.s, "x", "normal:1", 3, SHAPE(2, 3, 8));
        layers[i].make(&k.p, l.s);
        shake(l.s);
        heed_check check = heed_gradcheck_store(l.c, l.s, layer_loss, &k, 1 << 20);
        if (!(check.error >= 0 && check.error <= 1e-6) || check.cases < 1)
            test_fail(__FILE__, __LINE__, "%s: gradient off by %.3g at %s", layers[i].name,
                      check.error, check.worst);
        CLOSE(l.c);
    }
}
#endif
