/* Attention and blocks: what they compute, and what they must not depend on. */
#include "lab.h"

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
    heed_cache cache = {.capacity = 4, .k = k, .v = v};
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
    CHECK(heed_ctx_status(l.c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(l.c), part);
    CHECK_HAS(heed_ctx_error(l.c), other);
    CHECK(heed_store_count(l.s) == 0);
    CHECK(!heed_mha_apply(&a, l.t, NULL, NULL, NULL, NULL));
    heed_close(l.c);
}

TEST(nn_attention_refuses_sizes_that_do_not_fit) {
    refuses((heed_mha_args){.width = 64, .heads = 7}, "width 64 with 7 heads", "`key-width`");
    refuses((heed_mha_args){.width = 64, .heads = 7, .key = 9}, "width 64 with 7 heads",
            "`value-width`");
    refuses((heed_mha_args){.width = 64}, "heads 0", "encoder.0.attn");
    refuses((heed_mha_args){.width = 8, .heads = 1 << 20, .key = 1 << 20, .value = 1}, "too large",
            "`heads`");
    refuses((heed_mha_args){.width = 1 << 30, .heads = 1}, "too large", "`value-width`");
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
    CHECK(heed_ctx_status(l.c) == HEED_OK);
    args.attn.value = 3;
    heed_block_init(&b, l.s, "1", args);
    CHECK_HAS(heed_ctx_error(l.c), "width 8, found 2 x 3");
    heed_close(l.c);
}

/* ---- blocks ---- */

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
        heed_cache cache = {.capacity = 6, .k = k, .v = v};
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
    heed_cache cache = {.capacity = 2, .k = k, .v = v};
    CHECK(!heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(1, 3, 8)), NULL, NULL, &cache));
    CHECK_HAS(heed_ctx_error(l.c), "at most 2 tokens, found 0 + 3");
    heed_clear(l.c);
    CHECK(!heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(2, 1, 8)), NULL, NULL, &cache));
    CHECK_HAS(heed_ctx_error(l.c), "2 sequences");
    heed_clear(l.c);
    cache.stride = 8;
    CHECK(!heed_mha_apply(&a, l.t, heed_input(l.t, NULL, 3, SHAPE(0, 1, 8)), NULL, NULL, &cache));
    CHECK_HAS(heed_ctx_error(l.c), "expected at least one token, found 0 x 1");
    heed_clear(l.c);
    heed_cache wrong[] = {{.len = -1, .capacity = 2, .k = k, .v = v}, {.capacity = 2, .v = v}};
    for (int i = 0; i < 2; i++) {
        CHECK(!heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(1, 1, 8)), NULL, NULL, &wrong[i]));
        CHECK_HAS(heed_ctx_error(l.c), i ? "found NULL" : "a negative length");
        heed_clear(l.c);
    }
    heed_close(l.c);
}

/* ---- heads that share keys and values ---- */

/* Attention whose heads share is that of as many heads as queries, whose rows are repeated. */
static void check_repeated(heed_mha_args args) {
    lab l = lab_open(HEED_TRAIN);
    heed_mha a, b;
    heed_mha_init(&a, l.s, "a", args);
    int group = args.heads / args.kv_heads;
    args.kv_heads = 0;
    heed_mha_init(&b, l.s, "b", args);
    shake(l.s);
    for (int part = HEED_QUERIES; part <= HEED_VALUES; part++)
        for (int h = 0; h < args.heads; h++) {
            heed_rows from = heed_mha_rows(&a.args, (heed_projected)part, h);
            heed_rows to = heed_mha_rows(&b.args, (heed_projected)part, h);
            CHECK(from.count == to.count);
            CHECK(part == HEED_QUERIES ||
                  from.from ==
                      heed_mha_rows(&a.args, (heed_projected)part, h / group * group).from);
            memcpy(b.qkv.w->x + to.from * 8, a.qkv.w->x + from.from * 8,
                   (size_t)to.count * 8 * sizeof(heed_real));
            memcpy(b.qkv.b->x + to.from, a.qkv.b->x + from.from,
                   (size_t)to.count * sizeof(heed_real));
        }
    memcpy(b.out.w->x, a.out.w->x, a.out.w->size * sizeof(heed_real));
    memcpy(b.out.b->x, a.out.b->x, a.out.b->size * sizeof(heed_real));
    heed_tensor *x = heed_param(l.s, "x", "normal:1", 3, SHAPE(2, 5, 8));
    heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0, 1, 1, 1, 1, 1, 0}, 2, 5);
    heed_tensor *y = heed_mha_apply(&a, l.t, x, NULL, pad, NULL);
    check_same(y, heed_mha_apply(&b, l.t, x, NULL, pad, NULL), tiny);
    a.args.explicit_path = true;
    check_same(y, heed_mha_apply(&a, l.t, x, NULL, pad, NULL), tiny);
    CLOSE(l.c);
}

TEST(nn_shared_keys_equal_repeated_ones) {
    check_repeated((heed_mha_args){.width = 8, .heads = 4, .kv_heads = 2});
    check_repeated((heed_mha_args){.width = 8,
                                   .heads = 6,
                                   .kv_heads = 2,
                                   .key = 4,
                                   .value = 3,
                                   .causal = true,
                                   .rotary = 100});
    check_repeated(
        (heed_mha_args){.width = 8, .heads = 3, .kv_heads = 1, .key = 2, .value = 5, .hard = true});
}

/* ---- rotary positions ---- */

/* Weights depend on how far apart two tokens are, and on nothing else of their places. */
TEST(nn_rotary_scores_depend_on_the_distance) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a", (heed_mha_args){.width = 8, .heads = 2, .rotary = 10000});
    heed_tensor *x = heed_input(l.t, NULL, 3, SHAPE(1, 6, 8));
    const heed_tensor *row = normal(l.t, "row", 1, SHAPE(8));
    for (int i = 0; i < 6; i++) memcpy(x->x + 8 * i, row->x, 8 * sizeof *x->x); /* one token */
    heed_probe(l.t, "a.scores", false);
    heed_mha_apply(&a, l.t, x, NULL, NULL, NULL);
    const heed_tensor *s = heed_probe_find(l.t, "a.scores");
    CHECK(s);
    double most = 0;
    for (int h = 0; s && h < 2; h++)
        for (int i = 1; i < 6; i++)
            for (int j = 1; j < 6; j++) {
                const heed_real *at = s->x + (h * 6 + i) * 6 + j;
                CHECK_CLOSE(at[0], at[-7], 10 * tiny);
                most = fmax(most, fabs((double)at[0] - (double)at[-1]));
            }
    CHECK(most > 1e-2);
    CLOSE(l.c);
}

/* The same bits, because every token is rotated by itself, and keys are cached as rotated. */
TEST(nn_rotary_cache_gives_the_rows_of_the_whole) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a",
                  (heed_mha_args){.width = 8,
                                  .heads = 4,
                                  .kv_heads = 2,
                                  .key = 6,
                                  .value = 3,
                                  .causal = true,
                                  .rotary = 50});
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 7, 8));
    heed_tensor *y = heed_mha_apply(&a, l.t, x, NULL, NULL, NULL);
    heed_real k[7 * 12], v[7 * 6];
    heed_cache cache = {.capacity = 7, .k = k, .v = v};
    for (int i = 0; i < 7;) {
        int n = i == 2 ? 3 : 1; /* also several tokens at once */
        heed_tensor *z = heed_mha_apply(&a, l.t, heed_slice(l.t, x, 1, i, n), NULL, NULL, &cache);
        CHECK(z && apart(z->x, y->x + (size_t)i * 8, (size_t)n * 8) <= (double)tiny);
        i += n;
    }
    CHECK(cache.len == 7);
    CLOSE(l.c);
}

enum { CACHED = 7 };
/* The first n columns of indices (B,CACHED). */
static heed_tensor *first_ids(heed_tape *t, const heed_tensor *x, int n) {
    int32_t ids[3 * CACHED];
    for (int b = 0; b < x->shape[0]; b++) memcpy(ids + b * n, x->i + b * CACHED, (size_t)n * 4);
    return heed_input_ids(t, ids, 2, SHAPE(x->shape[0], n));
}

/* Three sequences, some tokens at a time, against the whole at once; options: 1 padding of each, 2
 * a bias of each head, 4 of each sequence, 8 a token at a time, 16 the explicit path. */
static void check_cached(heed_mha_args args, int options) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    args.explicit_path = options & 16;
    heed_mha_init(&a, l.s, "a", args);
    shake(l.s);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(3, CACHED, 8));
    heed_tensor *pad = heed_ids(
        l.t, (int32_t[]){1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0}, 3, CACHED);
    heed_tensor *bias =
        normal(l.t, "bias", 4, SHAPE(options & 4 ? 3 : 1, args.heads, CACHED, CACHED));
    if (!(options & 1)) pad = NULL;
    if (!(options & 6)) bias = NULL;
    heed_tensor *y = heed_mha_biased(&a, l.t, x, NULL, bias, pad, NULL);
    heed_real k[3 * CACHED * 8 + 3], v[3 * CACHED * 8 + 3];
    heed_cache cache = {.capacity = CACHED, .k = k, .v = v, .stride = CACHED * 8 + 1};
    for (int from = 0, n; y && from < CACHED; from += n) {
        n = options & 8 ? 1 : from ? 3 : 1;
        heed_tensor *some =
            bias ? heed_slice(l.t, heed_slice(l.t, bias, 2, from, n), 3, 0, from + n) : NULL;
        check_same(heed_mha_biased(&a, l.t, heed_slice(l.t, x, 1, from, n), NULL, some,
                                   pad ? first_ids(l.t, pad, from + n) : NULL, &cache),
                   heed_slice(l.t, y, 1, from, n), 10 * tiny);
    }
    CLOSE(l.c);
}
TEST(nn_cache_of_several_sequences_gives_the_rows_of_the_whole) {
    for (int options = 0; options < 32; options++) {
        heed_mha_args args = {.width = 8, .heads = 4, .causal = true, .value = 1};
        check_cached(args, options);
        args.kv_heads = 2;
        args.key = 4;
        args.rotary = 50;
        check_cached(args, options);
    }
}

/* Queries of three sequences to one memory, or to one each; options as above, and 32: causal. */
static void check_cached_memory(int memories, int options) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a",
                  (heed_mha_args){.width = 8,
                                  .heads = 4,
                                  .kv_heads = 2,
                                  .cross = true,
                                  .causal = options & 32,
                                  .explicit_path = options & 16});
    shake(l.s);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(3, 4, 8)),
                *m = normal(l.t, "m", 3, SHAPE(memories, CACHED, 8));
    heed_tensor *pad = heed_ids(
        l.t, (int32_t[]){1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0}, 3, CACHED);
    heed_tensor *bias = normal(l.t, "bias", 4, SHAPE(options & 4 ? 3 : 1, 4, 4, CACHED));
    if (!(options & 1)) pad = NULL;
    if (!(options & 6)) bias = NULL;
    heed_tensor *all = memories == 3 ? m : heed_concat(l.t, 0, 3, (heed_tensor *[]){m, m, m});
    heed_tensor *y = heed_mha_biased(&a, l.t, x, all, bias, pad, NULL);
    heed_real k[3 * CACHED * 4], v[3 * CACHED * 4];
    heed_cache cache = {
        .capacity = CACHED, .k = k, .v = v, .stride = memories == 3 ? CACHED * 4 : 0};
    for (int i = 0; i < 2; i++) /* the second time, memory is not read */
        check_same(heed_mha_biased(&a, l.t, x, i ? NULL : m, bias, pad, &cache), y, 10 * tiny);
    CLOSE(l.c);
}
TEST(nn_cached_memory_gives_the_outputs_of_the_whole) {
    for (int options = 0; options < 64; options++) {
        check_cached_memory(1, options);
        check_cached_memory(3, options);
    }
}

/* Padding at the end changes nothing before it, and later keys are not seen. */
TEST(nn_rotary_ignores_padding) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a", (heed_mha_args){.width = 8, .heads = 2, .rotary = 10000});
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 5, 8));
    heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0, 0}, 1, 5);
    heed_tensor *y = heed_mha_apply(&a, l.t, x, NULL, pad, NULL);
    heed_tensor *z = heed_mha_apply(&a, l.t, heed_slice(l.t, x, 1, 0, 3), NULL, NULL, NULL);
    CHECK(y && z && apart(y->x, z->x, 3 * 8) <= (double)tiny);
    CLOSE(l.c);
}

static void check_refused(heed_mha_args args, const char *why) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a", args);
    CHECK(heed_ctx_status(l.c) == HEED_USAGE && strstr(heed_ctx_error(l.c), why));
    heed_clear(l.c);
    CLOSE(l.c);
}

TEST(nn_attention_refuses_heads_and_widths_that_do_not_fit) {
    check_refused((heed_mha_args){.width = 8, .heads = 4, .kv_heads = 3}, "heads 4, kv-heads 3");
    check_refused((heed_mha_args){.width = 8, .heads = 2, .kv_heads = 4}, "heads 2, kv-heads 4");
    check_refused((heed_mha_args){.width = 8, .heads = 2, .kv_heads = -1}, "kv-heads -1");
    check_refused((heed_mha_args){.width = 9, .heads = 3, .rotary = 10000}, "key-width 3");
    check_refused((heed_mha_args){.width = 8, .heads = 2, .rotary = -1}, "theta -1");
    check_refused((heed_mha_args){.width = 8, .heads = 2, .rotary = 10000, .cross = true},
                  "cross attention");
}

/* ---- gated feed-forward networks ---- */

TEST(nn_gated_feed_forward_is_its_formula) {
    lab l = lab_open(HEED_EVAL);
    heed_ff a;
    heed_ff_init(&a, l.s, "mlp",
                 (heed_ff_args){.width = 4, .inner = 6, .gated = true, .act = HEED_SILU});
    shake(l.s);
    CHECK(heed_store_find(l.s, "mlp.gate.weight") && heed_store_find(l.s, "mlp.up.bias"));
    heed_tensor *x = normal(l.t, "x", 2, SHAPE(3, 4));
    heed_tensor *gate = heed_silu(l.t, heed_linear_apply(&a.gate, l.t, x));
    heed_tensor *h = heed_mul(l.t, gate, heed_linear_apply(&a.up, l.t, x));
    check_same(heed_ff_apply(&a, l.t, x), heed_linear_apply(&a.down, l.t, h), tiny);
    CLOSE(l.c);
}
