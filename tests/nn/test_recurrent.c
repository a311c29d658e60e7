/* Layers of sequences: recurrent ones, attention of any similarity, the cache of the decoder block.
 * Their values stand in tests/golden/layers.safetensors. */
#include "lab.h"

static heed_tensor *use_attend(const heed_attention_layer *l, heed_tape *t, heed_tensor *q,
                               heed_tensor *x, heed_tensor *pad) {
    heed_attention_kv m = heed_attention_layer_kv(l, t, x, pad);
    return heed_attention_layer_apply(l, t, q, &m, true).context;
}

/* One key per query, the first of equal ones; the gradients of its weights are those of the soft
 * ones, for the same gradient of what is computed from them. */
TEST(attend_hard_selects_one_key_and_has_the_soft_gradient) {
    lab l = lab_open(HEED_TRAIN);
    heed_attention_layer soft, hard;
    heed_attention_layer_args args = {.kind = HEED_ADDITIVE, .query = 4, .input = 4};
    heed_attention_layer_init(&soft, l.s, "a", args);
    hard = soft;
    hard.args.hard = true;
    heed_real g[2][16], up[15];
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 5, 4));
    memcpy(x->x + 4 * 3, x->x + 4, 4 * sizeof *x->x); /* key 3 is key 1 */
    for (int i = 0; i < 15; i++) up[i] = (heed_real)(i % 7) - 3;
    for (int i = 0; i < 2; i++) {
        const heed_attention_layer *a = i ? &hard : &soft;
        heed_zero_grads(l.s);
        heed_attention_kv kv = heed_attention_layer_kv(a, l.t, x, NULL);
        heed_attended y =
            heed_attention_layer_apply(a, l.t, normal(l.t, "q", 3, SHAPE(1, 3, 4)), &kv, false);
        CHECK(y.weights && heed_backward_from(l.t, y.weights, up));
        memcpy(g[i], a->w.w->g, sizeof g[i]);
        for (int q = 0; i && y.weights && q < 3; q++) {
            const heed_real *e = y.scores->x + 5 * q, *w = y.weights->x + 5 * q;
            int best = 0;
            for (int k = 1; k < 5; k++)
                if (e[k] > e[best]) best = k;
            for (int k = 0; k < 5; k++) CHECK(w[k] == (k == best));
            CHECK(best != 3);
        }
    }
    for (int i = 0; i < 16; i++) CHECK_CLOSE(g[0][i], g[1][i], tiny);
    CHECK(fabs((double)g[0][0]) > 1e-4);
    CLOSE(l.c);
}

/* One op for all steps, and the layers it is made of, step by step: values, and the gradients of
 * the weights that a probe asks for. */
TEST(recurrent_attention_equals_its_parts) {
    for (heed_cell cell = HEED_CELL_TANH; cell <= HEED_CELL_LSTM; cell++) {
        lab l = lab_open(HEED_TRAIN);
        heed_rnn r;
        heed_attention_layer f;
        heed_rnn_init(&r, l.s, "r",
                      (heed_rnn_args){.in = 3 + 5, .width = 4, .cell = cell, .act = HEED_TANH});
        heed_attention_layer_init(&f, l.s, "f",
                                  (heed_attention_layer_args){.query = 4, .input = 5, .inner = 6});
        heed_tensor *y = normal(l.t, "y", 3, SHAPE(2, 3, 3)), *all[3], *a[3];
        heed_tensor *h = normal(l.t, "h", 3, SHAPE(2, 4, 5));
        heed_tensor *s = normal(l.t, "s", 2, SHAPE(2, cell == HEED_CELL_LSTM ? 8 : 4));
        heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 1, 1, 1, 0, 0}, 2, 4);
        heed_attention_kv m = heed_attention_layer_kv(&f, l.t, h, pad);
        heed_additive_attention look = {.y = y, .w_in = r.part[0].w_in, .b_in = r.part[0].b_in};
        look.w = r.part[0].w, look.b = r.part[0].b, look.state = s, look.query = f.w.w;
        look.keys = m.keys, look.values = m.values, look.score = f.score.w, look.mask = m.mask;
        heed_probe(l.t, "f.weights", true);
        heed_recurrent_args args = {cell, HEED_TANH, false};
        heed_tensor *whole = heed_recurrent_attention(heed_name_scope(l.t, "f"), &look, &args);
        for (int i = 0; i < 3; i++) {
            heed_tensor *q = heed_reshape(l.t, heed_slice(l.t, s, 1, 0, 4), 3, SHAPE(2, 1, 4));
            a[i] = heed_want_grad(l.t, heed_attention_layer_apply(&f, l.t, q, &m, false).weights);
            heed_tensor *c = heed_matmul(l.t, a[i], m.values);
            heed_tensor *x =
                heed_concat(l.t, 2, 2, (heed_tensor *[]){heed_slice(l.t, y, 1, i, 1), c});
            heed_rnn_apply(&r, l.t, x, NULL, &s, &s);
            heed_tensor *now = heed_reshape(l.t, s, 3, SHAPE(2, 1, s->shape[1]));
            all[i] = heed_concat(l.t, 2, 2, (heed_tensor *[]){now, c});
        }
        heed_tensor *parts = heed_concat(l.t, 1, 3, all), *w = heed_probe_find(l.t, "f.weights");
        check_same(whole, parts, tiny);
        check_same(w, heed_concat(l.t, 1, 3, a), tiny);
        heed_tensor *gy = normal(l.t, "gy", 3, whole->shape);
        CHECK(heed_backward_from(l.t, whole, gy->x) && heed_backward_from(l.t, parts, gy->x));
        for (int i = 0; i < 2 * 3 * 4; i++)
            CHECK_CLOSE(w->g[i], a[i / 4 % 3]->g[i / 12 * 4 + i % 4], 10 * tiny);
        CLOSE(l.c);
    }
}

/* Each wrong setting alone, of both ops: an activation whose slope is none of its value, a cell
 * that is none, and steps backwards where attention goes forwards. */
TEST(recurrent_refuses_each_wrong_setting) {
    lab l = lab_open(HEED_EVAL);
    heed_tensor *gates = normal(l.t, "gates", 3, SHAPE(2, 3, 4));
    heed_tensor *w = normal(l.t, "w", 2, SHAPE(4, 4));
    heed_additive_attention look = {.y = gates, .w_in = w, .w = w, .state = w, .query = w};
    look.score = w, look.keys = look.values = gates;
    for (int act = HEED_IDENTITY; act <= HEED_SQRT; act++) {
        heed_recurrent_args args = {HEED_CELL_TANH, (heed_act)act, false};
        bool good =
            act == HEED_IDENTITY || act == HEED_TANH || act == HEED_RELU || act == HEED_SIGMOID;
        CHECK((heed_recurrent(l.t, gates, w, NULL, NULL, NULL, &args) != NULL) == good);
        heed_clear(l.c);
        CHECK(!heed_recurrent_attention(l.t, &look, &args)); /* its shapes do not fit, either */
        CHECK(!!strstr(heed_ctx_error(l.c), "with tanh, relu, sigmoid or identity") == !good);
        heed_clear(l.c);
    }
    for (int cell = HEED_CELL_TANH - 1; cell <= HEED_CELL_LSTM + 1; cell++) {
        heed_recurrent_args args = {(heed_cell)cell, HEED_TANH, false};
        bool good = cell >= HEED_CELL_TANH && cell <= HEED_CELL_LSTM;
        CHECK(!heed_recurrent(l.t, gates, w, w, w, NULL, &args)); /* the bias does not fit */
        CHECK(!!strstr(heed_ctx_error(l.c), "expected a cell among rnn, gru, lstm") == !good);
        heed_clear(l.c);
        CHECK(!heed_recurrent_attention(l.t, &look, &args));
        CHECK(!!strstr(heed_ctx_error(l.c), "expected a cell among rnn, gru, lstm") == !good);
        heed_clear(l.c);
    }
    CLOSE(l.c);
}

TEST(recurrent_refuses_what_does_not_fit) {
    lab l = lab_open(HEED_EVAL);
    heed_rnn r;
    heed_attention_layer a;
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 3, 3)), *w = normal(l.t, "w", 2, SHAPE(4, 4));
    heed_additive_attention look = {.y = x, .w_in = w, .w = w, .state = w, .query = w, .score = w};
    heed_recurrent_args back = {HEED_CELL_GRU, HEED_TANH, true};
    look.keys = look.values = x;
    CHECK(!heed_recurrent_attention(l.t, &look, &(heed_recurrent_args){0}));
    CHECK_HAS(heed_ctx_error(l.c), "is not");
    heed_clear(l.c);
    CHECK(!heed_recurrent_attention(l.t, &look, &back));
    CHECK_HAS(heed_ctx_error(l.c), "first to the last");
    heed_clear(l.c);
    heed_rnn_init(&r, l.s, "rnn", (heed_rnn_args){.in = 3, .width = 4, .layers = 17});
    CHECK_HAS(heed_ctx_error(l.c), "1 to 16 layers, found in 3, width 4, layers 17");
    heed_clear(l.c);
    heed_attention_layer_init(
        &a, l.s, "a", (heed_attention_layer_args){.kind = HEED_DOT, .query = 3, .input = 4});
    CHECK_HAS(heed_ctx_error(l.c), "query width = input width, found 3 and 4");
    heed_clear(l.c);
    heed_attention_layer_init(&a, l.s, "b", (heed_attention_layer_args){.query = 3});
    CHECK_HAS(heed_ctx_error(l.c), "found query 3, input 0");
    heed_close(l.c);
}

TEST(attend_keeps_scores_and_weights) {
    lab l = lab_open(HEED_EVAL);
    heed_attention_layer a;
    heed_attention_layer_init(&a, l.s, "a",
                              (heed_attention_layer_args){.query = 3, .input = 4, .inner = 6});
    heed_probe(l.t, "a.*", false);
    heed_tape_begin(l.t, HEED_EVAL, 1);
    heed_tensor *q = normal(l.t, "q", 3, SHAPE(2, 3, 3)), *x = normal(l.t, "x", 3, SHAPE(2, 5, 4));
    use_attend(&a, l.t, q, x, NULL);
    heed_tensor *w = heed_probe_find(l.t, "a.weights");
    CHECK(heed_probe_find(l.t, "a.scores"));
    CHECK(w && w->shape[0] == 2 && w->shape[1] == 3 && w->shape[2] == 5);
    CLOSE(l.c);
}

/* ---- decoder block ---- */

static heed_block_args decoder_args(bool pre) {
    heed_mha_args attn = {.width = 8, .heads = 2};
    return (heed_block_args){.attn = attn,
                             .cross = attn,
                             .mlp = {.width = 8, .inner = 12, .act = HEED_GELU},
                             .pre_norm = pre,
                             .eps = (heed_real)1e-5};
}

/* Token by token: keys and values of the tokens so far, and those of memory made once. */
TEST(decoder_block_cache_equals_the_whole) {
    for (int pre = 0; pre < 2; pre++) {
        lab l = lab_open(HEED_EVAL);
        heed_block b;
        heed_block_init(&b, l.s, "b", decoder_args(pre));
        heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 6, 8));
        heed_tensor *memory = normal(l.t, "memory", 3, SHAPE(1, 4, 8));
        heed_tensor *y = heed_block_apply(&b, l.t, x, &(heed_block_inputs){.memory = memory});
        heed_real k[6 * 8], v[6 * 8], mk[4 * 8], mv[4 * 8];
        heed_cache caches[] = {{.capacity = 6, .k = k, .v = v}, {.capacity = 4, .k = mk, .v = mv}};
        for (int i = 0; i < 6; i++) {
            heed_tensor *part = heed_slice(l.t, x, 1, i, 1);
            part = heed_block_apply(
                &b, l.t, part, &(heed_block_inputs){.memory = i ? NULL : memory, .caches = caches});
            check_same(part, heed_slice(l.t, y, 1, i, 1), tiny);
        }
        CHECK(caches[0].len == 6 && caches[1].len == 4);
        CLOSE(l.c);
    }
}
