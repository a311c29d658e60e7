/* Layers of sequences: recurrent ones, attention of any similarity, the decoder block. Their values
 * stand in tests/golden/layers.safetensors. */
#include "files.h"

#define SHAPE(...) ((int[]){__VA_ARGS__})

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

static void check_same(const heed_tensor *a, const heed_tensor *b, double tolerance) {
    CHECK(a && b && a->size == b->size);
    for (size_t i = 0; a && b && a->size == b->size && i < a->size; i++)
        CHECK_CLOSE(a->x[i], b->x[i], tolerance);
}

/* ---- recurrent layers ---- */

/* W_h [x ; h] with W_h = [W_hx W_hh], one step at a time, equals the two matrices apart. */
TEST(recurrent_stacked_weight_equals_separate_ones) {
    lab l = lab_open(HEED_EVAL);
    heed_rnn r;
    heed_rnn_init(&r, l.s, "rnn",
                  (heed_rnn_args){.in = 3, .width = 4, .act = HEED_TANH, .one_bias = true});
    CHECK(!r.part[0].b && heed_store_count(l.s) == 3);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 5, 3));
    heed_tensor *y = heed_rnn_apply(&r, l.t, x, NULL, NULL, NULL);
    heed_tensor *w = heed_concat(l.t, 1, 2, (heed_tensor *[]){r.part[0].w_in, r.part[0].w});
    heed_tensor *h = heed_input(l.t, NULL, 2, SHAPE(2, 4));
    for (int i = 0; i < 5; i++) {
        heed_tensor *now = heed_reshape(l.t, heed_slice(l.t, x, 1, i, 1), 2, SHAPE(2, 3));
        now = heed_concat(l.t, 1, 2, (heed_tensor *[]){now, h});
        h = heed_affine_act(l.t, now, w, r.part[0].b_in, HEED_TANH);
        check_same(heed_slice(l.t, y, 1, i, 1), h, tiny);
    }
    CLOSE(l.c);
}

/* A padded sequence ends as it would alone, in every layer and both directions. */
TEST(recurrent_padding_changes_nothing) {
    for (heed_cell cell = HEED_RNN; cell <= HEED_LSTM; cell++) {
        lab l = lab_open(HEED_EVAL);
        heed_rnn r;
        heed_tensor *last[4], *alone[4];
        heed_rnn_init(&r, l.s, "rnn",
                      (heed_rnn_args){.in = 3,
                                      .width = 4,
                                      .cell = cell,
                                      .act = HEED_TANH,
                                      .layers = 2,
                                      .bidirectional = true});
        heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 5, 3)), *part = heed_slice(l.t, x, 1, 0, 3);
        heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0, 0}, 1, 5);
        heed_tensor *y = heed_rnn_apply(&r, l.t, x, pad, NULL, last);
        check_same(heed_slice(l.t, y, 1, 0, 3), heed_rnn_apply(&r, l.t, part, NULL, NULL, alone),
                   tiny);
        for (int i = 0; i < 4; i++) check_same(last[i], alone[i], tiny);
        CLOSE(l.c);
    }
}

/* Steps in two pieces, the state handed over. */
TEST(recurrent_state_goes_on) {
    lab l = lab_open(HEED_EVAL);
    heed_rnn r;
    heed_tensor *state[2];
    heed_rnn_init(&r, l.s, "rnn",
                  (heed_rnn_args){.in = 3, .width = 4, .cell = HEED_LSTM, .layers = 2});
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 5, 3));
    heed_tensor *y = heed_rnn_apply(&r, l.t, x, NULL, NULL, NULL);
    heed_rnn_apply(&r, l.t, heed_slice(l.t, x, 1, 0, 2), NULL, NULL, state);
    heed_tensor *rest = heed_slice(l.t, x, 1, 2, 3);
    check_same(heed_rnn_apply(&r, l.t, rest, NULL, state, NULL), heed_slice(l.t, y, 1, 2, 3), tiny);
    CLOSE(l.c);
}

TEST(recurrent_names_are_pytorchs) {
    lab l = lab_open(HEED_EVAL);
    heed_rnn r;
    heed_rnn_init(
        &r, l.s, "rnn",
        (heed_rnn_args){.in = 3, .width = 4, .cell = HEED_GRU, .layers = 2, .bidirectional = true});
    heed_entry *e = heed_store_find(l.s, "rnn.weight_ih_l1_reverse");
    CHECK(e && e->tensor->shape[0] == 12 && e->tensor->shape[1] == 8);
    CHECK(heed_store_find(l.s, "rnn.bias_hh_l0") && heed_store_count(l.s) == 16);
    CLOSE(l.c);
}

TEST(recurrent_refuses_no_size) {
    lab l = lab_open(HEED_EVAL);
    heed_rnn r;
    heed_rnn_init(&r, l.s, "rnn", (heed_rnn_args){.in = 3, .width = 4, .layers = 17});
    CHECK_HAS(heed_ctx_error(l.c), "1 to 16 layers, found in 3, width 4, layers 17");
    heed_close(l.c);
}

/* ---- attention of any similarity ---- */

static heed_tensor *use_attend(const heed_attend *l, heed_tape *t, heed_tensor *q, heed_tensor *x,
                               heed_tensor *pad) {
    heed_attention_kv m = heed_attend_kv(l, t, x, pad);
    return heed_attend_apply(l, t, q, &m);
}

/* Scaled dot products with projections of query, keys and values are one head of the transformer's
 * attention, without biases and W_h. */
TEST(attend_scaled_with_projections_is_one_head) {
    lab l = lab_open(HEED_EVAL);
    heed_attend a;
    heed_mha h;
    heed_attend_init(
        &a, l.s, "a",
        (heed_attend_args){.kind = HEED_SCALED_DOT, .query = 6, .input = 5, .key = 3, .value = 4});
    heed_mha_init(&h, l.s, "h",
                  (heed_mha_args){.width = 6,
                                  .memory_width = 5,
                                  .heads = 1,
                                  .key = 3,
                                  .value = 4,
                                  .cross = true,
                                  .no_bias = true,
                                  .no_out = true});
    memcpy(h.q.w->x, a.q.w->x, a.q.w->size * sizeof(heed_real));
    memcpy(h.kv.w->x, a.k.w->x, a.k.w->size * sizeof(heed_real));
    memcpy(h.kv.w->x + a.k.w->size, a.v.w->x, a.v.w->size * sizeof(heed_real));
    heed_tensor *q = normal(l.t, "q", 3, SHAPE(2, 3, 6)), *x = normal(l.t, "x", 3, SHAPE(2, 4, 5));
    heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0, 1, 1, 1, 1}, 2, 4);
    check_same(use_attend(&a, l.t, q, x, pad), heed_mha_apply(&h, l.t, q, x, pad, NULL), tiny);
    CLOSE(l.c);
}

/* One layer, one change of setting at a time: from the alignment network to a dot product, to a
 * scaled one, from one query to many, to keys and values apart; each equals its formula. */
TEST(attend_four_changes_are_settings) {
    lab l = lab_open(HEED_EVAL);
    heed_attend_args args = {.kind = HEED_DOT, .query = 4, .input = 4};
    heed_attend dot, scaled, apart;
    heed_attend_init(&dot, l.s, "dot", args);
    args.kind = HEED_SCALED_DOT;
    heed_attend_init(&scaled, l.s, "scaled", args);
    CHECK(heed_store_count(l.s) == 0); /* products have no parameters */
    args.key = args.value = 4;
    heed_attend_init(&apart, l.s, "apart", args);
    heed_tensor *q = normal(l.t, "q", 3, SHAPE(1, 3, 4)), *x = normal(l.t, "x", 3, SHAPE(1, 5, 4));
    heed_tensor *e = heed_matmul_nt(l.t, q, x);
    check_same(use_attend(&dot, l.t, q, x, NULL),
               heed_matmul(l.t, heed_softmax(l.t, e, 1, NULL), x), tiny);
    heed_tensor *y = use_attend(&scaled, l.t, q, x, NULL);
    check_same(y, heed_matmul(l.t, heed_softmax(l.t, e, (heed_real)0.5, NULL), x), tiny);
    for (int i = 0; i < 3; i++) /* many queries are as many times one */
        check_same(use_attend(&scaled, l.t, heed_slice(l.t, q, 1, i, 1), x, NULL),
                   heed_slice(l.t, y, 1, i, 1), tiny);
    for (int i = 0; i < 16; i++) /* W_q = W_k = 1: the same weights, other values */
        apart.q.w->x[i] = apart.k.w->x[i] = i % 5 == 0;
    heed_tensor *v = heed_affine(l.t, x, apart.v.w, NULL);
    check_same(use_attend(&apart, l.t, q, x, NULL),
               heed_matmul(l.t, heed_softmax(l.t, e, (heed_real)0.5, NULL), v), tiny);
    CLOSE(l.c);
}

/* One key per query, the first of equal ones; the gradients of its weights are those of the soft
 * ones, for the same gradient of what is computed from them. */
TEST(attend_hard_selects_one_key_and_has_the_soft_gradient) {
    lab l = lab_open(HEED_TRAIN);
    heed_attend soft, hard;
    heed_attend_args args = {.kind = HEED_ADDITIVE, .query = 4, .input = 4};
    heed_attend_init(&soft, l.s, "a", args);
    hard = soft;
    hard.args.hard = true;
    heed_real g[2][16], up[15];
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 5, 4));
    memcpy(x->x + 4 * 3, x->x + 4, 4 * sizeof *x->x); /* key 3 is key 1 */
    for (int i = 0; i < 15; i++) up[i] = (heed_real)(i % 7) - 3;
    for (int i = 0; i < 2; i++) {
        const heed_attend *a = i ? &hard : &soft;
        heed_zero_grads(l.s);
        heed_attention_kv kv = heed_attend_kv(a, l.t, x, NULL);
        heed_attended y = heed_attend_look(a, l.t, normal(l.t, "q", 3, SHAPE(1, 3, 4)), &kv);
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

/* The order of the inputs, and what stands at padding, is nothing to the context. */
TEST(attend_takes_inputs_in_any_order) {
    static const int order[] = {3, 0, 4, 2, 1};
    for (heed_similarity kind = HEED_ADDITIVE; kind <= HEED_GENERAL; kind++) {
        lab l = lab_open(HEED_EVAL);
        heed_attend a;
        heed_attend_init(&a, l.s, "a", (heed_attend_args){.kind = kind, .query = 4, .input = 4});
        heed_tensor *q = normal(l.t, "q", 3, SHAPE(1, 2, 4));
        heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 5, 4)),
                    *y = heed_input(l.t, NULL, 3, x->shape);
        for (int i = 0; i < 5; i++) memcpy(y->x + 4 * i, x->x + 4 * order[i], 4 * sizeof *y->x);
        heed_tensor *all = use_attend(&a, l.t, q, x, NULL);
        check_same(all, use_attend(&a, l.t, q, y, NULL), tiny);
        heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0, 0}, 1, 5);
        heed_tensor *three = heed_slice(l.t, x, 1, 0, 3);
        check_same(use_attend(&a, l.t, q, x, pad), use_attend(&a, l.t, q, three, NULL), tiny);
        CLOSE(l.c);
    }
}

/* One op for all steps, and the layers it is made of, step by step: values, and the gradients of
 * the weights that a probe asks for. */
TEST(recurrent_attention_equals_its_parts) {
    for (heed_cell cell = HEED_RNN; cell <= HEED_LSTM; cell++) {
        lab l = lab_open(HEED_TRAIN);
        heed_rnn r;
        heed_attend f;
        heed_rnn_init(&r, l.s, "r",
                      (heed_rnn_args){.in = 3 + 5, .width = 4, .cell = cell, .act = HEED_TANH});
        heed_attend_init(&f, l.s, "f", (heed_attend_args){.query = 4, .input = 5, .inner = 6});
        heed_tensor *y = normal(l.t, "y", 3, SHAPE(2, 3, 3)), *all[3], *a[3];
        heed_tensor *h = normal(l.t, "h", 3, SHAPE(2, 4, 5));
        heed_tensor *s = normal(l.t, "s", 2, SHAPE(2, cell == HEED_LSTM ? 8 : 4));
        heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 1, 1, 1, 0, 0}, 2, 4);
        heed_attention_kv m = heed_attend_kv(&f, l.t, h, pad);
        heed_additive_attention look = {.y = y, .w_in = r.part[0].w_in, .b_in = r.part[0].b_in};
        look.w = r.part[0].w, look.b = r.part[0].b, look.state = s, look.query = f.w.w;
        look.keys = m.keys, look.values = m.values, look.score = f.score.w, look.mask = m.mask;
        heed_probe(l.t, "f.weights", true);
        heed_recurrent_args args = {cell, HEED_TANH, false};
        heed_tensor *whole = heed_recurrent_attention(heed_at(l.t, "f"), &look, &args);
        for (int i = 0; i < 3; i++) {
            heed_tensor *q = heed_reshape(l.t, heed_slice(l.t, s, 1, 0, 4), 3, SHAPE(2, 1, 4));
            a[i] = heed_want_grad(l.t, heed_attend_look(&f, l.t, q, &m).weights);
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

TEST(recurrent_attention_refuses_what_does_not_fit) {
    lab l = lab_open(HEED_EVAL);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(2, 3, 3)), *w = normal(l.t, "w", 2, SHAPE(4, 4));
    heed_additive_attention look = {.y = x, .w_in = w, .w = w, .state = w, .query = w, .score = w};
    look.keys = look.values = x;
    CHECK_FAILS(l.c, heed_recurrent_attention(l.t, &look, &(heed_recurrent_args){0}), HEED_USAGE,
                "is not");
    heed_recurrent_args back = {HEED_GRU, HEED_TANH, true};
    CHECK_FAILS(l.c, heed_recurrent_attention(l.t, &look, &back), HEED_USAGE, "first to the last");
    CLOSE(l.c);
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
        heed_recurrent_args args = {HEED_RNN, (heed_act)act, false};
        bool good =
            act == HEED_IDENTITY || act == HEED_TANH || act == HEED_RELU || act == HEED_SIGMOID;
        CHECK((heed_recurrent(l.t, gates, w, NULL, NULL, NULL, &args) != NULL) == good);
        heed_clear(l.c);
        CHECK(!heed_recurrent_attention(l.t, &look, &args)); /* its shapes do not fit, either */
        CHECK(!!strstr(heed_ctx_error(l.c), "with tanh, relu, sigmoid or identity") == !good);
        heed_clear(l.c);
    }
    for (int cell = HEED_RNN - 1; cell <= HEED_LSTM + 1; cell++) {
        heed_recurrent_args args = {(heed_cell)cell, HEED_TANH, false};
        bool good = cell >= HEED_RNN && cell <= HEED_LSTM;
        CHECK(!heed_recurrent(l.t, gates, w, w, w, NULL, &args)); /* the bias does not fit */
        CHECK(!!strstr(heed_ctx_error(l.c), "expected a cell among rnn, gru, lstm") == !good);
        heed_clear(l.c);
        CHECK(!heed_recurrent_attention(l.t, &look, &args));
        CHECK(!!strstr(heed_ctx_error(l.c), "expected a cell among rnn, gru, lstm") == !good);
        heed_clear(l.c);
    }
    CLOSE(l.c);
}

TEST(attend_keeps_scores_and_weights) {
    lab l = lab_open(HEED_EVAL);
    heed_attend a;
    heed_attend_init(&a, l.s, "a", (heed_attend_args){.query = 3, .input = 4, .inner = 6});
    heed_probe(l.t, "a.*", false);
    heed_tape_begin(l.t, HEED_EVAL, 1);
    heed_tensor *q = normal(l.t, "q", 3, SHAPE(2, 3, 3)), *x = normal(l.t, "x", 3, SHAPE(2, 5, 4));
    use_attend(&a, l.t, q, x, NULL);
    heed_tensor *w = heed_probe_find(l.t, "a.weights");
    CHECK(heed_probe_find(l.t, "a.scores"));
    CHECK(w && w->shape[0] == 2 && w->shape[1] == 3 && w->shape[2] == 5);
    CLOSE(l.c);
}

TEST(attend_refuses_products_of_two_widths) {
    lab l = lab_open(HEED_EVAL);
    heed_attend a;
    heed_attend_init(&a, l.s, "a", (heed_attend_args){.kind = HEED_DOT, .query = 3, .input = 4});
    CHECK_HAS(heed_ctx_error(l.c), "query width = input width, found 3 and 4");
    heed_clear(l.c);
    heed_attend_init(&a, l.s, "b", (heed_attend_args){.query = 3});
    CHECK_HAS(heed_ctx_error(l.c), "found query 3, input 0");
    heed_close(l.c);
}

/* ---- decoder block ---- */

static heed_decoder_block_args decoder_args(bool pre) {
    heed_mha_args attn = {.width = 8, .heads = 2};
    return (heed_decoder_block_args){.attn = attn,
                                     .cross = attn,
                                     .mlp = {.width = 8, .inner = 12, .act = HEED_GELU},
                                     .pre_norm = pre,
                                     .eps = (heed_real)1e-5};
}

/* Token by token: keys and values of the tokens so far, and those of memory made once. */
TEST(decoder_block_cache_equals_the_whole) {
    for (int pre = 0; pre < 2; pre++) {
        lab l = lab_open(HEED_EVAL);
        heed_decoder_block b;
        heed_decoder_block_init(&b, l.s, "b", decoder_args(pre));
        heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 6, 8));
        heed_tensor *memory = normal(l.t, "memory", 3, SHAPE(1, 4, 8));
        heed_tensor *y = heed_decoder_block_apply(&b, l.t, x, NULL, memory, NULL, NULL);
        heed_real k[6 * 8], v[6 * 8], mk[4 * 8], mv[4 * 8];
        heed_cache caches[] = {{.capacity = 6, .k = k, .v = v}, {.capacity = 4, .k = mk, .v = mv}};
        for (int i = 0; i < 6; i++) {
            heed_tensor *part = heed_slice(l.t, x, 1, i, 1);
            part = heed_decoder_block_apply(&b, l.t, part, NULL, i ? NULL : memory, NULL, caches);
            check_same(part, heed_slice(l.t, y, 1, i, 1), tiny);
        }
        CHECK(caches[0].len == 6 && caches[1].len == 4);
        CLOSE(l.c);
    }
}

TEST(decoder_block_sees_no_later_token_and_no_padding) {
    lab l = lab_open(HEED_EVAL);
    heed_decoder_block b;
    heed_decoder_block_init(&b, l.s, "b", decoder_args(false));
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, 6, 8));
    heed_tensor *memory = normal(l.t, "memory", 3, SHAPE(1, 4, 8));
    heed_tensor *pad = heed_ids(l.t, (int32_t[]){1, 1, 1, 0}, 1, 4);
    heed_tensor *y = heed_decoder_block_apply(&b, l.t, x, NULL, memory, pad, NULL);
    heed_tensor *start = heed_slice(l.t, x, 1, 0, 3), *seen = heed_slice(l.t, memory, 1, 0, 3);
    check_same(heed_decoder_block_apply(&b, l.t, start, NULL, seen, NULL, NULL),
               heed_slice(l.t, y, 1, 0, 3), tiny);
    CLOSE(l.c);
}
