/* The models: names and counts of parameters, what logits depend on, generation, presets. */
#include "built.h"

static const double tiny = sizeof(heed_real) == 8 ? 1e-12 : 5e-6;

#define SMALL "layers=2 heads=2 width=8 ff=16 block=6 vocab=11 "

/* ---- parameters ---- */

/* Numbers: PyTorch twins of the benchmark workloads. */
TEST(models_of_the_benchmarks_have_their_sizes) {
    check_count(&heed_model_mlm, "mlm-nano", NULL, 169728);
    check_count(&heed_model_mlm, "mlm-nano-all", NULL, 169728);
    check_count(&heed_model_mlm, "mlm-small", NULL, 1858304);
    check_count(&heed_model_gpt, "gpt-tiny", NULL, 809856);
    check_count(&heed_model_gpt, "gpt-baby", NULL, 10770816);
    /* 65 x 128, 4 (128 x 256 + 128 x 128 + 3 x 344 x 128 + 2 x 128), 128 */
    check_count(&heed_model_gpt, "gpt-llama", NULL, 734464);
    check_count(&heed_model_gpt, "llama-nano", "vocab=79", 97536);
    check_count(&heed_model_mlp, "mlp-mnist", NULL, 203530);
    check_count(&heed_model_vit, "vit-tiny28", NULL, 139018);
    check_count(&heed_model_vit, "vit-cifar", NULL, 2693578);
}

/* Numbers: BertForMaskedLM and GPT2LMHeadModel of transformers with these sizes. */
TEST(models_have_the_sizes_of_bert_and_gpt2) {
    check_count(&heed_model_mlm, "nano", "vocab=100", 115108);
    check_count(&heed_model_gpt, "nano", "vocab=100", 110592);
}

TEST(models_name_their_parameters) {
    static const char *const mlm_names[] = {"embed.token.weight",
                                            "embed.position.weight",
                                            "embed.type.weight",
                                            "embed.norm.bias",
                                            "encoder.0.attn.qkv.weight",
                                            "encoder.1.attn.out.bias",
                                            "encoder.1.norm1.weight",
                                            "encoder.1.mlp.up.weight",
                                            "encoder.1.mlp.down.weight",
                                            "encoder.1.norm2.bias",
                                            "head.dense.weight",
                                            "head.norm.weight",
                                            "head.bias",
                                            NULL};
    static const char *const gpt_names[] = {"embed.token.weight",
                                            "embed.position.weight",
                                            "decoder.0.attn.qkv.bias",
                                            "decoder.1.mlp.down.bias",
                                            "norm.weight",
                                            "norm.bias",
                                            NULL};
    built m = build(&heed_model_mlm, NULL, SMALL), g = build(&heed_model_gpt, NULL, SMALL);
    for (int i = 0; mlm_names[i]; i++) param(&m, mlm_names[i]);
    for (int i = 0; gpt_names[i]; i++) param(&g, gpt_names[i]);
    CHECK(!heed_store_find(m.s, "head.weight") && !heed_store_find(g.s, "head.bias"));
    CHECK(!heed_store_find(m.s, "norm.weight"));
    DISCARD(m);
    DISCARD(g);
}

static double deviation(const heed_tensor *x) {
    double sum = 0;
    for (size_t i = 0; x && i < x->size; i++) sum += (double)x->x[i] * (double)x->x[i];
    return x ? sqrt(sum / (double)x->size) : 0;
}

TEST(models_start_as_published) {
    const char *sizes = "layers=4 heads=4 width=128 ff=512 block=64 vocab=65";
    built g = build(&heed_model_gpt, NULL, sizes), m = build(&heed_model_mlm, NULL, sizes);
    double scaled = 0.02 / sqrt(8);
    CHECK_CLOSE(deviation(param(&g, "embed.token.weight")), 0.02, 0.0008);
    CHECK_CLOSE(deviation(param(&g, "embed.position.weight")), 0.02, 0.0008);
    CHECK_CLOSE(deviation(param(&g, "decoder.3.attn.qkv.weight")), 0.02, 0.0004);
    CHECK_CLOSE(deviation(param(&g, "decoder.3.attn.out.weight")), scaled, 0.0002);
    CHECK_CLOSE(deviation(param(&g, "decoder.3.mlp.down.weight")), scaled, 0.0002);
    CHECK_CLOSE(deviation(param(&g, "decoder.3.mlp.up.weight")), 0.02, 0.0004);
    CHECK(deviation(param(&g, "decoder.0.attn.qkv.bias")) == 0);
    CHECK_CLOSE(deviation(param(&g, "decoder.0.norm1.weight")), 1, 0);
    CHECK_CLOSE(deviation(param(&m, "encoder.3.mlp.down.weight")), 0.02, 0.0004);
    CHECK_CLOSE(deviation(param(&m, "head.dense.weight")), 0.02, 0.0004);
    CHECK(deviation(param(&m, "head.bias")) == 0);
    CHECK(apart(param(&g, "decoder.0.mlp.up.weight")->x, param(&g, "decoder.1.mlp.up.weight")->x,
                128) > 0.01);
    DISCARD(g);
    DISCARD(m);
}

TEST(models_take_every_setting) {
    check_count(&heed_model_gpt, NULL, SMALL "tie=false head-bias=true bias=false",
                0 + 11 * 8 + 6 * 8 + 2 * (8 + 24 * 8 + 8 * 8 + 8 + 2 * 16 * 8) + 8 + 11 * 8 + 11);
    check_count(&heed_model_gpt, NULL, SMALL "positions=sinusoidal attn-out=false",
                11 * 8 + 2 * (16 + 24 * 9 + 16 + 16 * 9 + 8 * 17) + 16);
    check_count(&heed_model_mlm, NULL,
                SMALL "positions=none transform-head=false embed-norm=false token-types=0 "
                      "head-bias=false key-width=3 value-width=2",
                11 * 8 + 2 * (16 + 2 * (3 + 3 + 2) * 9 + 8 * 5 + 16 + 16 * 9 + 8 * 17));
}

/* ---- logits ---- */

static const int32_t tokens[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};

TEST(mlm_head_on_picks_equals_head_on_all) {
    built b = build(&heed_model_mlm, NULL, SMALL "init-std=0.5");
    int32_t masked_positions[] = {2, 7, 11};
    heed_tape_begin(b.t, HEED_EVAL, 0);
    heed_tensor *ids = heed_ids(b.t, tokens, 2, 6);
    heed_tensor *all = logits_of(&b, (heed_model_input){.x = ids});
    heed_tensor *rows = heed_input_ids(b.t, masked_positions, 1, (int[]){3});
    heed_tensor *some = logits_of(&b, (heed_model_input){.x = ids, .masked_positions = rows});
    CHECK(all && all->dims == 3 && all->shape[1] == 6 && all->shape[2] == 11);
    CHECK(some && some->dims == 2 && some->shape[0] == 3);
    for (int i = 0; some && i < 3; i++)
        CHECK_CLOSE(apart(some->x + 11 * i, all->x + 11 * masked_positions[i], 11), 0, tiny);
    DISCARD(b);
}

TEST(mlm_types_default_to_zero) {
    built b = build(&heed_model_mlm, NULL, SMALL "init-std=0.5");
    heed_tape_begin(b.t, HEED_EVAL, 0);
    heed_tensor *ids = heed_ids(b.t, tokens, 1, 6);
    heed_tensor *zero = heed_ids(b.t, (int32_t[6]){0}, 1, 6);
    heed_tensor *mixed = heed_ids(b.t, (int32_t[]){0, 0, 0, 1, 1, 1}, 1, 6);
    heed_tensor *y = logits_of(&b, (heed_model_input){.x = ids});
    heed_tensor *z = logits_of(&b, (heed_model_input){.x = ids, .types = zero});
    CHECK_CLOSE(apart(y->x, z->x, y->size), 0, tiny);
    z = logits_of(&b, (heed_model_input){.x = ids, .types = mixed});
    CHECK(apart(y->x, z->x, y->size) > 0.01);
    DISCARD(b);
}

TEST(mlm_ignores_padding) {
    built b = build(&heed_model_mlm, NULL, SMALL "init-std=0.5");
    heed_tape_begin(b.t, HEED_EVAL, 0);
    heed_tensor *pad = heed_ids(b.t, (int32_t[]){1, 1, 1, 1, 0, 0}, 1, 6);
    heed_tensor *y =
        logits_of(&b, (heed_model_input){.x = heed_ids(b.t, tokens, 1, 6), .pad = pad});
    heed_tensor *z = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, tokens, 1, 4)});
    CHECK_CLOSE(apart(y->x, z->x, 4 * 11), 0, 4 * tiny);
    DISCARD(b);
}

TEST(gpt_does_not_look_ahead) {
    built b = build(&heed_model_gpt, NULL, SMALL "init-std=0.5");
    heed_tape_begin(b.t, HEED_EVAL, 0);
    int32_t other[6] = {3, 1, 4, 1, 7, 0};
    heed_tensor *y = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, tokens, 1, 6)});
    heed_tensor *z = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, other, 1, 6)});
    CHECK(memcmp(y->x, z->x, 4 * 11 * sizeof(heed_real)) == 0);
    CHECK(apart(y->x + 4 * 11, z->x + 4 * 11, 11) > 1e-3);
    DISCARD(b);
}

TEST(gpt_refuses_more_than_its_block) {
    built b = build(&heed_model_gpt, NULL, SMALL);
    heed_tape_begin(b.t, HEED_EVAL, 0);
    CHECK(!logits_of(&b, (heed_model_input){.x = heed_ids(b.t, tokens, 1, 7)}));
    CHECK_HAS(heed_ctx_error(b.c), "at most 6 positions, found 7");
    heed_clear(b.c);
    DISCARD(b);
}

TEST(mlp_is_two_layers) {
    built b = build(&heed_model_mlp, NULL,
                    "image-size=1 channels=3 layers=1 width=4 classes=2 batch-norm=false");
    heed_tape_begin(b.t, HEED_EVAL, 0);
    heed_real x[] = {1, -2, 3};
    heed_tensor *y =
        logits_of(&b, (heed_model_input){.x = heed_input(b.t, x, 4, (int[]){1, 1, 1, 3})});
    const heed_tensor *w = param(&b, "hidden.0.weight"), *v = param(&b, "head.weight");
    const heed_tensor *wb = param(&b, "hidden.0.bias"), *vb = param(&b, "head.bias");
    for (int o = 0; o < 2; o++) {
        double sum = (double)vb->x[o];
        for (int h = 0; h < 4; h++) {
            double a = (double)wb->x[h];
            for (int i = 0; i < 3; i++) a += (double)(x[i] * w->x[h * 3 + i]);
            sum += fmax(a, 0) * (double)v->x[o * 4 + h];
        }
        CHECK_CLOSE(y->x[o], sum, tiny);
    }
    DISCARD(b);
}

/* ---- loss, metrics, training ---- */

static const int32_t gpt_labels[] = {1, 4, 1, 5, 9, -100, 6, 5, 3, 5, 8, -100};
static const int32_t mlm_picks[] = {1, 4, 8}, mlm_labels[] = {7, 2, 10};

static heed_batch batch_of(const built *b) {
    heed_batch batch = {.rows = 2, .len = 6, .ids = tokens, .label_bytes = 10};
    bool causal = b->model == &heed_model_gpt;
    batch.labels = causal ? gpt_labels : mlm_labels;
    batch.masked_positions = causal ? NULL : mlm_picks;
    batch.masked_count = causal ? 0 : 3;
    return batch;
}

static void check_learns(const heed_model *model, const char *settings, heed_score *score) {
    built b = build(model, NULL, settings);
    heed_batch batch = batch_of(&b);
    heed_optim_args rate = heed_optim_defaults(&heed_adamw);
    rate.lr = (heed_real)0.01;
    heed_optim *o = heed_optim_new(b.s, &heed_adamw, &rate);
    for (uint64_t i = 0; i < 150 && heed_ctx_status(b.c) == HEED_OK; i++) {
        heed_tape_begin(b.t, HEED_TRAIN, i);
        heed_backward(b.t, model->loss(b.self, b.t, &batch));
        heed_step(o, 1);
    }
    heed_tape_begin(b.t, HEED_EVAL, 0);
    model->loss(b.self, b.t, &batch);
    model->metrics(b.self, &batch, score);
    DISCARD(b);
}

TEST(models_learn_a_batch_by_heart) {
    heed_score m = {0}, g = {0};
    check_learns(&heed_model_mlm, SMALL, &m);
    CHECK(m.correct == 3 && m.total == 3 && m.top5 == 3 && m.weight == 3 && m.bytes == 0);
    CHECK(m.loss < 0.1 * 3);
    check_learns(&heed_model_gpt, SMALL "dropout=0.05", &g);
    CHECK(g.correct == 10 && g.total == 10 && g.weight == 10 && g.bytes == 10);
    CHECK(g.loss < 0.5 * 10);
}

TEST(models_learn_with_other_settings) {
    static const char *const settings[] = {
        SMALL "norm=pre final-norm=true tie=false positions=sinusoidal activation=relu",
        SMALL "attention=explicit key-width=3 value-width=5 beta=2 init-std=0",
        SMALL "hard=true activation=silu bias=false", SMALL "attn-out=false activation=tanh"};
    for (int i = 0; i < 4; i++) {
        heed_score score = {0};
        check_learns(&heed_model_mlm, settings[i], &score);
        CHECK(score.correct == 3);
    }
}

enum { ROWS = 12, LEN = 40 };

/* FNV-1a over all weights after three steps on random tokens. */
static uint64_t trained_bits(const heed_model *model, int threads) {
    static int32_t ids[ROWS * LEN], masked_positions[ROWS];
    built b = build_on(threads, model, "nano", "vocab=200 dropout=0.1");
    heed_random r = heed_random_at(2, "ids", 0, 0);
    for (int i = 0; i < ROWS * LEN; i++) ids[i] = (int32_t)heed_random_below(&r, (uint64_t)i, 200);
    for (int i = 0; i < ROWS; i++) masked_positions[i] = i * LEN + i;
    heed_batch batch = {
        .rows = ROWS, .len = LEN, .ids = ids, .labels = ids, .masked_positions = masked_positions};
    batch.masked_count = ROWS;
    heed_optim_args rate = heed_optim_defaults(&heed_adamw);
    rate.lr = (heed_real)0.01;
    heed_optim *o = heed_optim_new(b.s, &heed_adamw, &rate);
    for (uint64_t i = 0; i < 3; i++) {
        heed_tape_begin(b.t, HEED_TRAIN, i);
        heed_backward(b.t, model->loss(b.self, b.t, &batch));
        heed_clip(o, 1, 1);
        heed_step(o, 1);
    }
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < heed_store_count(b.s); i++) {
        const heed_tensor *x = heed_store_at(b.s, i)->tensor;
        const unsigned char *bytes = (const unsigned char *)x->x;
        for (size_t j = 0; j < x->size * sizeof *x->x; j++)
            hash = (hash ^ bytes[j]) * 1099511628211u;
    }
    DISCARD(b);
    return hash;
}

TEST(models_train_to_the_same_bits_at_any_thread_count) {
    const heed_model *const both[] = {&heed_model_mlm, &heed_model_gpt};
    for (int i = 0; i < 2; i++) {
        uint64_t one = trained_bits(both[i], 1);
        CHECK(trained_bits(both[i], 2) == one);
        CHECK(trained_bits(both[i], 3) == one);
    }
}

TEST(models_count_the_label_among_the_first) {
    built b = build(&heed_model_mlp, NULL,
                    "image-size=1 channels=1 layers=1 width=1 classes=7 batch-norm=false");
    heed_real *bias = heed_store_find(b.s, "head.bias")->tensor->x;
    memset(heed_store_find(b.s, "head.weight")->tensor->x, 0, 7 * sizeof *bias);
    for (int i = 0; i < 7; i++) bias[i] = (heed_real)(i == 6 ? 5 : 7 - i); /* ranks 7 6 5 4 3 2 5 */
    int32_t labels[] = {0, 2, 5, 6, 4};
    heed_real x[5] = {0};
    heed_batch batch = {.rows = 5, .len = 1, .x = x, .labels = labels};
    heed_score score = {0};
    heed_tape_begin(b.t, HEED_EVAL, 0);
    b.model->loss(b.self, b.t, &batch);
    b.model->metrics(b.self, &batch, &score);
    /* places 0, 2, 6, 3 (a tie behind class 2), 5 */
    CHECK(score.correct == 1 && score.top5 == 3 && score.total == 5);
    DISCARD(b);
}

/* ---- presets ---- */

TEST(models_presets_are_well_formed) {
    for (int i = 0; heed_models[i]; i++)
        for (const heed_preset *p = heed_models[i]->presets; p && p->name; p++) {
            heed_ctx *c = heed_open(NULL);
            heed_config *f = heed_model_config(c, heed_models[i], NULL);
            CHECK(heed_preset_apply(c, f, heed_models[i], p->name));
            CHECK(heed_config_rank(f, "batch") == HEED_FROM_PRESET);
            CLOSE(c);
        }
}

TEST(models_preset_of_nanogpt) {
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_model_config(c, &heed_model_gpt, NULL);
    CHECK(heed_preset_apply(c, f, &heed_model_gpt, "nanogpt-cpu"));
    CHECK(heed_config_int(f, "layers") == 4 && heed_config_int(f, "width") == 128);
    CHECK(heed_config_int(f, "steps") == 2000 && heed_config_int(f, "batch") == 12);
    CHECK_CLOSE(heed_config_real(f, "lr-min"), 1e-4, 1e-12);
    CHECK_CLOSE(heed_config_real(f, "beta2"), 0.99, 1e-12);
    CHECK(!heed_config_bool(f, "bias"));
    CLOSE(c);
}

/* A model's defaults are those of its settings, in values, in help and in files. */
TEST(models_have_defaults_of_shared_settings) {
    heed_ctx *c = heed_open(NULL);
    heed_text help = {.c = c}, file = {.c = c};
    heed_config *g = heed_model_config(c, &heed_model_gpt, NULL);
    heed_config *m = heed_model_config(c, &heed_model_mlm, NULL);
    CHECK_CLOSE(heed_config_real(g, "lr"), 3e-3, 1e-12);
    CHECK_CLOSE(heed_config_real(m, "lr"), 1e-3, 1e-12);
    CHECK_CLOSE(heed_config_real(m, "init-std"), 0.05, 1e-12);
    CHECK(heed_config_rank(g, "lr") == HEED_FROM_DEFAULT);
    CHECK(strcmp(heed_config_default(g, "lr"), "0.003") == 0);
    heed_config_set(g, "lr", "0.5", "test", HEED_FROM_FLAG);
    CHECK(strcmp(heed_config_default(g, "lr"), "0.003") == 0);
    CHECK(heed_config_help(g, &help, 100) && heed_config_write(g, &file, true));
    CHECK_HAS(help.s, "peak learning rate [0.003]");
    CHECK_HAS(file.s, "default 0.003)\nlr = 0.5\n");
    heed_text_free(&help);
    heed_text_free(&file);
    CLOSE(c);
}

TEST(models_preset_unknown) {
    heed_ctx *c = heed_open(NULL);
    heed_config *f = heed_model_config(c, &heed_model_mlm, NULL);
    CHECK(!heed_preset_apply(c, f, &heed_model_mlm, "gpt-tiny"));
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(c), "nano, tiny, small, mlm-nano");
    heed_clear(c);
    CHECK(!heed_preset_apply(c, f, &heed_model_tag, "nano"));
    CHECK_HAS(heed_ctx_error(c), "no presets");
    heed_close(c);
}

TEST(models_refuse_wrong_sizes) {
    static const struct {
        const char *settings, *part;
    } wrong[] = {{"vocab=10 heads=7 width=64", "width 64 with 7 heads"},
                 {"vocab=0", "`vocab`"},
                 {"vocab=10 attn-out=false value-width=3", "`value-width`"},
                 {"vocab=16777216 width=1048576", "memory"}};
    for (int i = 0; i < 4; i++) {
        built b = build(&heed_model_gpt, NULL, wrong[i].settings);
        CHECK(heed_ctx_status(b.c) != HEED_OK);
        CHECK_HAS(heed_ctx_error(b.c), wrong[i].part);
        heed_clear(b.c);
        DISCARD(b);
    }
}

/* ---- gradients ---- */

#ifdef HEED_F64
static heed_tensor *batch_loss(void *self, heed_tape *t) {
    const built *b = self;
    heed_batch batch = batch_of(b);
    return b->model->loss(b->self, t, &batch);
}

static void check_gradients(const heed_model *model, const char *settings) {
    built b = build(model, NULL, settings);
    shake(b.s);
    heed_check check = heed_gradcheck_store(b.c, b.s, batch_loss, &b, 1 << 20);
    CHECK(check.cases == heed_store_count(b.s));
    if (!(check.error >= 0 && check.error <= 1e-6))
        test_fail(__FILE__, __LINE__, "%s: gradient off by %.3g at %s", settings, check.error,
                  check.worst);
    DISCARD(b);
}

TEST(models_gradients_of_mlm) {
    check_gradients(&heed_model_mlm, SMALL "init-std=0.4");
    check_gradients(&heed_model_mlm, SMALL "init-std=0.4 norm=pre final-norm=true dropout=0.2 "
                                           "tie=false positions=sinusoidal beta=1.5");
}

TEST(models_gradients_of_gpt) {
    check_gradients(&heed_model_gpt, SMALL "init-std=0.4");
    check_gradients(&heed_model_gpt,
                    SMALL "init-std=0.4 norm=post activation=silu bias=false dropout=0.1 "
                          "key-width=3 value-width=5 head-bias=true embed-norm=true");
    check_gradients(&heed_model_gpt, SMALL "init-std=0 attention=explicit attn-out=false");
}
#endif
