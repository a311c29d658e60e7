/* The last block computed for the rows alone that the loss reads, against all rows, and the output
 * layer in blocks of rows, against all logits at once. */
#include "built.h"

#include "core/tape.h"

enum { ROWS = 3, LEN = 6, PIXELS = 6 * 6 * 2 };
static const double rounding = sizeof(heed_real) == 8 ? 1e-12 : 1e-5;

#define SIZES "layers=2 heads=2 width=8 ff=16 init-std=0.4 "
#define TEXT  SIZES "block=6 vocab=11 "
#define IMAGE SIZES "image-size=6 channels=2 patch=2 "

static const struct {
    const heed_model *model;
    const char *settings;
} models[] = {
    {&heed_model_mlm, TEXT},
    {&heed_model_mlm, TEXT "norm=pre final-norm=true tie=false layers=1"},
    {&heed_model_mlm, TEXT "positions=rotary kv-heads=1 ff-kind=swiglu norm-kind=rms bias=false"},
    {&heed_model_mlm, TEXT "attention=explicit attn-out=false"},
    {&heed_model_vit, IMAGE "classes=3"},
    {&heed_model_vit, IMAGE "classes=3 norm=post final-norm=false hard=true"},
    {&heed_model_textcls, TEXT "classes=3 pool=last"},
    {&heed_model_textcls, TEXT "classes=3 pool=last causal=true"},
    {&heed_model_textcls, TEXT "classes=3 pool=last causal=true attention=explicit"},
    {&heed_model_autoencoder, IMAGE "kind=masked decoder-width=8"},
    {&heed_model_autoencoder, IMAGE "kind=masked pool=mean decoder-layers=1"},
};
enum { MODELS = sizeof models / sizeof *models };

/* Texts of 6, 4 and 2 tokens, of which the second has no masked one, and pictures. */
static heed_batch batch_of(const heed_model *m) {
    static const int32_t ids[ROWS * LEN] = {1, 5, 2, 9, 4, 7, 3, 3, 8, 10, 0, 0, 6, 2};
    static const int32_t pad[ROWS * LEN] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1};
    static const int32_t masked[] = {1, 3, 4, 13};
    static const int32_t labels[ROWS * LEN] = {2, 0, 1, 2, 1, 0, 2, 1, 0, 0, 1, 2};
    static const int32_t hidden[] = {8, 2, 9 + 0, 9 + 4, 18 + 7, 18 + 5};
    static heed_real x[ROWS * PIXELS];
    heed_random r = heed_random_at(2, "x", 0, 0);
    for (size_t i = 0; i < ROWS * PIXELS; i++) x[i] = (heed_real)heed_random_normal(&r, i);
    heed_batch b = {.rows = ROWS, .len = LEN, .ids = ids, .pad = pad, .labels = labels, .items = 1};
    b.src = ids, b.src_pad = pad, b.src_len = LEN;
    if (m->data->images && !m->data->target) b.x = x, b.len = PIXELS;
    if (m->data->mask) b.masked_positions = masked, b.masked_count = 4;
    if (!m->data->ask) b.masked_positions = hidden, b.masked_count = 6;
    return b;
}

static built build_case(const heed_model *m, const char *settings, const char *key, bool on) {
    char text[512];
    snprintf(text, sizeof text, "%s=%s %s", key, on ? "true" : "false", settings);
    built b = build(m, NULL, text);
    if (heed_ctx_status(b.c) != HEED_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", text, heed_ctx_error(b.c));
    shake(b.s);
    return b;
}

static heed_real loss_of(built *b, heed_mode mode, bool backward) {
    heed_batch batch = batch_of(b->model);
    heed_tape_begin(b->t, mode, 0);
    heed_tensor *loss = b->model->loss(b->self, b->t, &batch);
    if (backward) heed_backward(b->t, loss);
    if (heed_ctx_status(b->c) != HEED_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", b->model->name, heed_ctx_error(b->c));
    return loss ? loss->x[0] : (heed_real)NAN;
}

static double largest(const heed_real *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs((double)x[i]));
    return most;
}

static void check_gradients(const char *settings, const built *a, const built *b) {
    double scale = 0;
    for (int e = 0; e < heed_params_count(a->s); e++) {
        const heed_tensor *x = heed_params_at(a->s, e)->tensor;
        if (x->g) scale = fmax(scale, largest(x->g, x->size));
    }
    for (int e = 0; e < heed_params_count(a->s); e++) {
        const heed_tensor *x = heed_params_at(a->s, e)->tensor,
                          *y = heed_params_at(b->s, e)->tensor;
        CHECK((x->g != NULL) == (y->g != NULL));
        if (x->g && y->g && !(apart(x->g, y->g, x->size) <= rounding * scale))
            test_fail(__FILE__, __LINE__, "%s %s: the gradient of %s is off by %g of %g",
                      a->model->name, settings, x->name, apart(x->g, y->g, x->size), scale);
    }
}

TEST(rows_read_by_the_loss_are_enough) {
    for (int i = 0; i < MODELS; i++) {
        const heed_model *m = models[i].model;
        built all = build_case(m, models[i].settings, "all-rows", true);
        built few = build_case(m, models[i].settings, "all-rows", false);
        heed_real a = loss_of(&all, HEED_TRAIN, true), b = loss_of(&few, HEED_TRAIN, true);
        CHECK_CLOSE(b, a, rounding * fabs((double)a));
        check_gradients(models[i].settings, &all, &few);
        CHECK(heed__tape_used(few.t).nodes > heed__tape_used(all.t).nodes); /* gathers */
        CHECK_CLOSE(loss_of(&few, HEED_EVAL, false), loss_of(&all, HEED_EVAL, false),
                    rounding * fabs((double)a));
        DISCARD(all);
        DISCARD(few);
    }
}

/* What is attended to is known of every row, to the same bits. */
TEST(rows_are_all_computed_for_probes) {
    for (int i = 0; i < MODELS; i++) {
        const heed_model *m = models[i].model;
        built all = build_case(m, models[i].settings, "all-rows", true);
        built few = build_case(m, models[i].settings, "all-rows", false);
        const char *last = m == &heed_model_autoencoder ? "decoder.*" : "encoder.*";
        heed_real loss[2];
        heed_tensor *weights[2] = {NULL, NULL};
        built *both[] = {&all, &few};
        for (int k = 0; k < 2; k++) {
            char pattern[64];
            snprintf(pattern, sizeof pattern, "%s.weights", last);
            heed_probe(both[k]->t, pattern, false);
            loss[k] = loss_of(both[k], HEED_EVAL, false);
            int count = heed_probe_count(both[k]->t);
            CHECK(count > 0);
            if (count > 0) weights[k] = heed_probe_at(both[k]->t, count - 1, NULL);
        }
        CHECK(loss[0] == loss[1]);
        CHECK(weights[0] && weights[1] && weights[0]->size == weights[1]->size);
        if (weights[0] && weights[1])
            CHECK(apart(weights[0]->x, weights[1]->x, weights[0]->size) == 0);
        DISCARD(all);
        DISCARD(few);
    }
}

/* Any order, a row twice, and none at all. */
TEST(rows_come_in_any_order) {
    heed_ctx *c = heed_open(&(heed_options){.seed = 7, .threads = 1});
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_block block;
    heed_block_init(&block, s, "block",
                    (heed_block_args){.attn = {.width = 8, .heads = 2, .causal = true},
                                      .mlp = {.width = 8, .inner = 12, .act = HEED_GELU},
                                      .eps = (heed_real)1e-5});
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *x = heed_input(t, NULL, 3, (int[]){2, 4, 8});
    heed_random r = heed_random_at(1, "x", 0, 0);
    for (size_t i = 0; i < x->size; i++) x->x[i] = (heed_real)heed_random_normal(&r, i);
    const int32_t rows[] = {7, 0, 2, 7, 1};
    heed_tensor *few = heed_block_apply(
        &block, t, x, &(heed_block_inputs){.rows = heed_input_ids(t, rows, 1, (int[]){5})});
    const heed_tensor *all = heed_block_apply(&block, t, x, NULL);
    CHECK(few && all && few->dims == 2 && few->shape[0] == 5);
    for (int i = 0; few && all && i < 5; i++)
        CHECK_CLOSE(apart(few->x + 8 * i, all->x + 8 * rows[i], 8), 0, rounding);
    heed_tensor *none = heed_block_apply(
        &block, t, x, &(heed_block_inputs){.rows = heed_input_ids(t, rows, 1, (int[]){0})});
    CHECK(none && none->size == 0);
    CHECK(!heed_block_apply(
        &block, t, x,
        &(heed_block_inputs){.rows = heed_input_ids(t, (int32_t[]){8}, 1, (int[]){1})}));
    CHECK_HAS(heed_ctx_error(c), "expected 0 to 7, found 8");
    heed_clear(c);
    test_close(c, __FILE__, __LINE__);
}

/* ---- the output layer ---- */

TEST(logits_in_blocks_are_enough) {
    static const struct {
        const heed_model *model;
        const char *settings;
    } cases[] = {
        {&heed_model_mlm, TEXT},
        {&heed_model_gpt, TEXT "head-bias=true"},
        {&heed_model_gpt, TEXT "tie=false cell=gru"},
        {&heed_model_seq2seq, TEXT "smoothing=0.1"},
        {&heed_model_rnn, "width=8 block=6 vocab=11 smoothing=0.1"},
        {&heed_model_rnn, "width=8 block=6 vocab=11 attention=none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const heed_model *m = cases[i].model;
        built all = build_case(m, cases[i].settings, "all-rows", false);
        built few = build_case(m, cases[i].settings, "all-rows", false);
        heed_probe(all.t, "nothing", false); /* all logits, and all values are kept */
        heed_real a = loss_of(&all, HEED_TRAIN, true), b = loss_of(&few, HEED_TRAIN, true);
        CHECK_CLOSE(b, a, rounding * fabs((double)a));
        check_gradients(cases[i].settings, &all, &few);
        CHECK(loss_of(&few, HEED_EVAL, false) == loss_of(&all, HEED_EVAL, false));
        DISCARD(all);
        DISCARD(few);
    }
}

/* No array of rows by classes, and a second layer in the step reuses the memory of the first. */
TEST(logits_in_blocks_need_little_memory) {
    enum { N = 8192, C = 1024, D = 8 };
    heed_ctx *c = heed_open(&(heed_options){.seed = 7, .threads = 2});
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "normal:1", 2, (int[]){C, D});
    heed_tensor *x = heed_param_new(s, "x", "normal:1", 2, (int[]){N, D});
    int32_t labels[N];
    for (int i = 0; i < N; i++) labels[i] = i % 5 ? i % C : -100;
    heed_real loss[2] = {0};
    for (int k = 0; k < 2; k++) {
        heed_tape_begin(t, HEED_TRAIN, 0);
        heed_tensor *ids = heed_input_ids(t, labels, 1, (int[]){N});
        if (k) heed_affine_xent(t, x, w, NULL, ids, NULL);
        heed_tensor *y = k ? heed_affine_xent(t, x, w, NULL, ids, NULL)
                           : heed_xent(t, heed_affine(t, x, w, NULL), ids, NULL);
        CHECK(heed_backward(t, y));
        if (y) loss[k] = y->x[0];
        if (k) CHECK(heed__tape_used(t).bytes < (size_t)N * C * sizeof(heed_real) / 2);
        for (int d = 0; k && d < D; d++) CHECK(x->g[6 * D + d] != 0 && x->g[5 * D + d] == 0);
        heed_zero_grads(s);
    }
    CHECK_CLOSE(loss[1], loss[0], 1e-5);
    test_close(c, __FILE__, __LINE__);
}

/* The gradients of two calls of backward in one step are added. */
TEST(a_second_backward_through_the_output_layer_adds_as_much) {
    enum { N = 5, C = 7, D = 3 };
    heed_ctx *c = heed_open(&(heed_options){.seed = 7});
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "normal:1", 2, (int[]){C, D});
    heed_tensor *x = heed_param_new(s, "x", "normal:1", 2, (int[]){N, D});
    const int32_t labels[N] = {0, 6, 2, 3, 1};
    heed_real g[2] = {0};
    for (int fused = 0; fused < 2; fused++) {
        heed_tape_begin(t, HEED_TRAIN, 0);
        heed_tensor *ids = heed_input_ids(t, labels, 1, (int[]){N}), *h = heed_gelu(t, x);
        heed_tensor *y = fused ? heed_affine_xent(t, h, w, NULL, ids, NULL)
                               : heed_xent(t, heed_affine(t, h, w, NULL), ids, NULL);
        y = heed_scale(t, y, 2, 0);
        CHECK(heed_backward(t, y) && heed_backward(t, y));
        g[fused] = x->g[0];
        heed_zero_grads(s);
    }
    CHECK_CLOSE(g[1], g[0], 1e-5);
    test_close(c, __FILE__, __LINE__);
}

/* ---- blocks computed again in backward ---- */

TEST(recomputed_blocks_give_the_same_bits) {
    static const struct {
        const heed_model *model;
        const char *settings, *frozen;
    } cases[] = {
        {&heed_model_gpt, TEXT "layers=6 dropout=0.2", NULL},
        {&heed_model_gpt, TEXT "layers=6 tie=false", "embed*"}, /* the first block's input */
        {&heed_model_mlm, TEXT "layers=6 dropout=0.2", NULL},
        {&heed_model_vit, IMAGE "layers=6 classes=3 pool=mean dropout=0.2", NULL},
        {&heed_model_seq2seq, TEXT "layers=6 dropout=0.2", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const heed_model *m = cases[i].model;
        built kept = build_case(m, cases[i].settings, "recompute", false);
        built again = build_case(m, cases[i].settings, "recompute", true);
        if (cases[i].frozen) CHECK(heed_freeze(kept.s, cases[i].frozen) > 0);
        if (cases[i].frozen) CHECK(heed_freeze(again.s, cases[i].frozen) > 0);
        CHECK(loss_of(&again, HEED_TRAIN, true) == loss_of(&kept, HEED_TRAIN, true));
        for (int e = 0; e < heed_params_count(kept.s); e++) {
            const heed_tensor *x = heed_params_at(kept.s, e)->tensor;
            const heed_tensor *y = heed_params_at(again.s, e)->tensor;
            CHECK((x->g != NULL) == (y->g != NULL));
            if (x->g && y->g && memcmp(x->g, y->g, x->size * sizeof *x->g) != 0)
                test_fail(__FILE__, __LINE__, "%s: the gradient of %s has other bits", m->name,
                          x->name);
        }
        CHECK(heed__tape_used(again.t).bytes < heed__tape_used(kept.t).bytes);
        DISCARD(kept);
        DISCARD(again);
    }
}

/* ---- values that are let go and computed again in backward ---- */

static const char *const stacks[] = {
    TEXT,
    TEXT "norm=post dropout=0.2 activation=gelu",
    TEXT "activation=relu attn-out=false",
    TEXT "activation=identity attention=explicit",
    TEXT "ff-kind=swiglu norm-kind=rms positions=rotary kv-heads=1 bias=false",
    TEXT "lora=2 lora-targets=*.mlp.*.weight init-std=0.3"};

/* Small values are kept, unless none counts as small. */
TEST(values_computed_again_have_the_same_bits) {
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        built kept = build_case(&heed_model_gpt, stacks[i], "all-rows", false);
        built less = build_case(&heed_model_gpt, stacks[i], "all-rows", false);
        CHECK(less.t->r->cheap > 0);
        less.t->r->cheap = 0;
        CHECK(loss_of(&less, HEED_TRAIN, true) == loss_of(&kept, HEED_TRAIN, true));
        CHECK(heed__tape_used(less.t).bytes < heed__tape_used(kept.t).bytes);
        for (int e = 0; e < heed_params_count(kept.s); e++) {
            const heed_tensor *x = heed_params_at(kept.s, e)->tensor;
            const heed_tensor *y = heed_params_at(less.s, e)->tensor;
            CHECK((x->g != NULL) == (y->g != NULL));
            CHECK(!x->g || !y->g || memcmp(x->g, y->g, x->size * sizeof *x->g) == 0);
        }
        heed_probe(kept.t, "nothing", false); /* which keeps all values */
        CHECK(loss_of(&less, HEED_EVAL, false) == loss_of(&kept, HEED_EVAL, false));
        CHECK(heed__tape_used(less.t).bytes < heed__tape_used(kept.t).bytes);
        DISCARD(kept);
        DISCARD(less);
    }
}

static size_t bytes_of_step(size_t cheap) {
    built b = build_case(&heed_model_gpt, TEXT, "all-rows", false);
    CHECK(b.t->r->cheap == 4 << 20);
    if (cheap != SIZE_MAX) b.t->r->cheap = cheap;
    loss_of(&b, HEED_TRAIN, true);
    size_t bytes = heed__tape_used(b.t).bytes;
    DISCARD(b);
    return bytes;
}

/* The largest of them, the activation of each block, has width 16, the others 8. Larger ones than
 * the limit are kept until they have 16 times its memory. */
TEST(values_of_at_most_4_mb_are_kept) {
    size_t inner = ROWS * LEN * 16 * sizeof(heed_real), by_default = bytes_of_step(SIZE_MAX);
    CHECK(bytes_of_step(inner) == by_default);
    CHECK(bytes_of_step(inner - 1) == by_default);
    CHECK(bytes_of_step(inner / 16) < by_default);
    CHECK(bytes_of_step(0) < bytes_of_step(inner / 16));
}

static heed_tensor *refuses(const void *self, heed_tape *t, heed_tensor *const in[HEED_RECOMPUTE]) {
    (void)self;
    return heed_add(t, in[0], in[1]);
}

static heed_tensor *updates(const void *self, heed_tape *t, heed_tensor *const in[HEED_RECOMPUTE]) {
    return heed_batchnorm_apply(self, t, in[0]);
}

TEST(recomputed_parts_update_no_state) {
    heed_ctx *c = heed_open(&(heed_options){.seed = 7, .threads = 1});
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_batchnorm norm;
    heed_batchnorm_init(&norm, s, "norm", 3);
    heed_tape_begin(t, HEED_TRAIN, 0);
    heed_tensor *in[HEED_RECOMPUTE] = {heed_input(t, NULL, 2, (int[]){2, 3})};
    CHECK(!heed_recompute(t, updates, &norm, in));
    CHECK_HAS(heed_ctx_error(c), "a part that is computed again cannot update a state");
    heed_clear(c);
    test_close(c, __FILE__, __LINE__);
}

TEST(recompute_says_what_is_missing) {
    heed_ctx *c = heed_open(&(heed_options){.seed = 7, .threads = 1});
    heed_tape *t = heed_tape_new(c);
    heed_tape_begin(t, HEED_TRAIN, 0);
    heed_tensor *in[HEED_RECOMPUTE] = {heed_input(t, NULL, 1, (int[]){3})};
    CHECK(!heed_recompute(t, NULL, NULL, in));
    CHECK_HAS(heed_ctx_error(c), "expected a function");
    heed_clear(c);
    CHECK(!heed_recompute(t, refuses, NULL, in));
    CHECK_HAS(heed_ctx_error(c), "input 1 is NULL");
    heed_clear(c);
    test_close(c, __FILE__, __LINE__);
}
