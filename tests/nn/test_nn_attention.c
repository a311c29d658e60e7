/* Attention: what it must not depend on, its cache, and what it refuses. Its values stand in
 * tests/golden/layers.safetensors. */
#include "lab.h"

TEST(nn_attention_ignores_padding) {
    lab l = lab_open(HEED_EVAL);
    heed_block b;
    heed_block_args args = {.attn = small, .mlp = {.width = 8, .inner = 16}, .eps = 1};
    heed_block_init(&b, l.s, "", args);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 5, 8));
    heed_tensor *head = heed_input(l.t, x->x, 3, SHAPE(1, 3, 8));
    heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0, 0}, 1, 5);
    heed_tensor *y = heed_block_apply(&b, l.t, x, &(heed_block_inputs){.pad = pad});
    heed_tensor *z = heed_block_apply(&b, l.t, head, NULL);
    CHECK_CLOSE(apart(y->x, z->x, 3 * 8), 0, tiny);
    z = heed_block_apply(&b, l.t, x, NULL);
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
    heed_tensor *y = heed_mha_apply(&a, l.t, x, NULL);
    z = heed_mha_apply(&a, l.t, z, NULL);
    CHECK(memcmp(y->x, z->x, 4 * 8 * sizeof(heed_real)) == 0);
    CHECK(apart(y->x + 4 * 8, z->x + 4 * 8, 8) > 1e-3);
    CLOSE(l.c);
}

/* With a bias other numbers than without one, fused as composed. */
TEST(nn_score_bias_is_added_to_the_scores) {
    for (int cross = 0; cross < 2; cross++) {
        lab l = lab_open(HEED_EVAL);
        heed_mha a;
        heed_mha_args args = small;
        args.causal = !(args.cross = cross);
        heed_mha_init(&a, l.s, "a", args);
        heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 4, 8)), *m = cross ? x : NULL;
        heed_tensor *bias = normal(l.t, "bias", 4, SHAPE(1, 2, 4, 4));
        heed_tensor *y =
            heed_mha_apply(&a, l.t, x, &(heed_mha_inputs){.memory = m, .score_bias = bias});
        heed_tensor *plain = heed_mha_apply(&a, l.t, x, &(heed_mha_inputs){.memory = m});
        CHECK(apart(y->x, plain->x, y->size) > 1e-3);
        check_same(heed_mha_apply(&a, l.t, x, &(heed_mha_inputs){.memory = m}), plain, 0);
        a.args.explicit_path = true;
        check_same(y,
                   heed_mha_apply(&a, l.t, x, &(heed_mha_inputs){.memory = m, .score_bias = bias}),
                   tiny);
        CLOSE(l.c);
    }
}

/* ---- what is refused ---- */

TEST(nn_attention_refuses_sizes_that_do_not_fit) {
    static const struct {
        heed_mha_args args;
        const char *why;
    } wrong[] = {{{.width = 64, .heads = 7}, "width 64 with 7 heads"},
                 {{.width = 64, .heads = 7, .key = 9}, "`value-width`"},
                 {{.width = 64}, "heads 0"},
                 {{.width = 8, .heads = 1 << 20, .key = 1 << 20, .value = 1}, "too large"},
                 {{.width = 1 << 30, .heads = 1}, "too large"},
                 {{.width = 8, .heads = 4, .kv_heads = 3}, "heads 4, kv-heads 3"},
                 {{.width = 8, .heads = 2, .kv_heads = 4}, "heads 2, kv-heads 4"},
                 {{.width = 8, .heads = 2, .kv_heads = -1}, "kv-heads -1"},
                 {{.width = 9, .heads = 3, .rotary = 10000}, "key-width 3"},
                 {{.width = 8, .heads = 2, .rotary = -1}, "theta -1"},
                 {{.width = 8, .heads = 2, .rotary = 10000, .cross = true}, "cross attention"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lab l = lab_open(HEED_EVAL);
        heed_mha a;
        heed_mha_init(&a, l.s, "encoder.0.attn", wrong[i].args);
        CHECK(heed_ctx_status(l.c) == HEED_USAGE && heed_params_count(l.s) == 0);
        CHECK_HAS(heed_ctx_error(l.c), wrong[i].why);
        CHECK(!heed_mha_apply(&a, l.t, NULL, NULL));
        heed_close(l.c);
    }
    lab l = lab_open(HEED_EVAL);
    heed_block b;
    heed_block_args args = {.attn = small, .mlp = {.width = 8, .inner = 8}, .eps = 1};
    args.attn.no_out = true;
    heed_block_init(&b, l.s, "0", args);
    CHECK(heed_ctx_status(l.c) == HEED_OK);
    args.attn.value = 3; /* without an output projection the heads must fit the stream */
    heed_block_init(&b, l.s, "1", args);
    CHECK_HAS(heed_ctx_error(l.c), "width 8, found 2 x 3");
    heed_close(l.c);
}

TEST(nn_cache_refuses_what_it_cannot_hold) {
    lab l = lab_open(HEED_EVAL);
    heed_mha a;
    heed_mha_init(&a, l.s, "a", small);
    heed_real k[16], v[16];
    heed_cache cache = {.capacity = 2, .k = k, .v = v};
    CHECK(!heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(1, 3, 8)),
                          &(heed_mha_inputs){.cache = &cache}));
    CHECK_HAS(heed_ctx_error(l.c), "at most 2 tokens, found 0 + 3");
    heed_clear(l.c);
    CHECK(!heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(2, 1, 8)),
                          &(heed_mha_inputs){.cache = &cache}));
    CHECK_HAS(heed_ctx_error(l.c), "2 sequences");
    heed_clear(l.c);
    cache.stride = 8;
    CHECK(!heed_mha_apply(&a, l.t, heed_input(l.t, NULL, 3, SHAPE(0, 1, 8)),
                          &(heed_mha_inputs){.cache = &cache}));
    CHECK_HAS(heed_ctx_error(l.c), "expected at least one token, found 0 x 1");
    heed_clear(l.c);
    heed_cache wrong[] = {{.len = -1, .capacity = 2, .k = k, .v = v}, {.capacity = 2, .v = v}};
    for (int i = 0; i < 2; i++) {
        CHECK(!heed_mha_apply(&a, l.t, normal(l.t, "x", 3, SHAPE(1, 1, 8)),
                              &(heed_mha_inputs){.cache = &wrong[i]}));
        CHECK_HAS(heed_ctx_error(l.c), i ? "found NULL" : "a negative length");
        heed_clear(l.c);
    }
    heed_close(l.c);
}

/* ---- the cache ---- */

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
    heed_tensor *y = heed_mha_apply(&a, l.t, x, &(heed_mha_inputs){.score_bias = bias, .pad = pad});
    heed_real k[3 * CACHED * 8 + 3], v[3 * CACHED * 8 + 3];
    heed_cache cache = {.capacity = CACHED, .k = k, .v = v, .stride = CACHED * 8 + 1};
    for (int from = 0, n; y && from < CACHED; from += n) {
        n = options & 8 ? 1 : from ? 3 : 1;
        heed_tensor *some =
            bias ? heed_slice(l.t, heed_slice(l.t, bias, 2, from, n), 3, 0, from + n) : NULL;
        check_same(
            heed_mha_apply(&a, l.t, heed_slice(l.t, x, 1, from, n),
                           &(heed_mha_inputs){.score_bias = some,
                                              .pad = pad ? first_ids(l.t, pad, from + n) : NULL,
                                              .cache = &cache}),
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
    heed_tensor *y = heed_mha_apply(
        &a, l.t, x, &(heed_mha_inputs){.memory = all, .score_bias = bias, .pad = pad});
    heed_real k[3 * CACHED * 4], v[3 * CACHED * 4];
    heed_cache cache = {
        .capacity = CACHED, .k = k, .v = v, .stride = memories == 3 ? CACHED * 4 : 0};
    for (int i = 0; i < 2; i++) /* the second time, memory is not read */
        check_same(heed_mha_apply(&a, l.t, x,
                                  &(heed_mha_inputs){.memory = i ? NULL : m,
                                                     .score_bias = bias,
                                                     .pad = pad,
                                                     .cache = &cache}),
                   y, 10 * tiny);
    CLOSE(l.c);
}
TEST(nn_cached_memory_gives_the_outputs_of_the_whole) {
    for (int options = 0; options < 64; options++) {
        check_cached_memory(1, options);
        check_cached_memory(3, options);
    }
}
