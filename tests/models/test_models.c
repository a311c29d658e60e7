/* The models: how many parameters they have and what these start from, their heads and losses,
 * presets, and what they refuse. What all of them have in common: test_models_interface.c; values
 * and training against PyTorch: test_golden_models.c; gradients: `heed gradcheck` in double. */
#include "built.h"

#define SMALL "layers=2 heads=2 width=8 ff=16 block=6 vocab=11 "
#define DATA  "image-size=6 channels=2 classes=3 "
#define VIT   DATA "patch=2 layers=2 heads=2 width=8 ff=16 "
#define CNN   DATA "width=4 stages=2 "
#define MLP   DATA "width=8 "

static const double exact = sizeof(heed_real) == 8 ? 1e-12 : 1e-5;

/* ---- parameters ---- */

/* Numbers: PyTorch twins of the benchmark workloads, transformers' models of the same sizes, and
 * formulas by hand for each setting that adds or removes parameters. */
TEST(models_have_their_numbers_of_parameters) {
    enum {
        BLOCK = 16 + 24 * 9 + 8 * 9 + 16 + 16 * 9 + 8 * 17,
        PATCH = 8 * 2 * 4 + 8,
        HEAD = 3 * 9
    };
    enum { STEM = 4 * 2 * 9 + 8, FIRST = 2 * (4 * 4 * 9 + 8), PROJECTION = 8 * 4 + 16 };
    enum { SECOND = 8 * 4 * 9 + 16 + 8 * 8 * 9 + 16, STAGES = STEM + FIRST + SECOND + HEAD };
    static const struct {
        const heed_model *model;
        const char *preset, *settings;
        size_t count;
    } sizes[] = {
        {&heed_model_mlm, "mlm-nano", NULL, 169728},
        {&heed_model_mlm, "mlm-small", NULL, 1858304},
        {&heed_model_mlm, "nano", "vocab=100", 115108},
        {&heed_model_gpt, "nano", "vocab=100", 110592},
        {&heed_model_gpt, "gpt-tiny", NULL, 809856},
        {&heed_model_gpt, "gpt-baby", NULL, 10770816},
        {&heed_model_gpt, "gpt-llama", NULL, 734464},
        {&heed_model_gpt, "llama-nano", "vocab=79", 97536},
        {&heed_model_mlp, "mlp-mnist", NULL, 203530},
        {&heed_model_vit, "vit-tiny28", NULL, 139018},
        {&heed_model_vit, "vit-cifar", NULL, 2693578},
        {&heed_model_seq2seq, "seq2seq-small", NULL, 1982976},
        {&heed_model_rnn, "rnn-attn", NULL, 543105},
        {&heed_model_gpt, NULL, SMALL "tie=false head-bias=true bias=false",
         11 * 8 + 6 * 8 + 2 * (8 + 24 * 8 + 8 * 8 + 8 + 2 * 16 * 8) + 8 + 11 * 8 + 11},
        {&heed_model_gpt, NULL, SMALL "positions=sinusoidal attn-out=false",
         11 * 8 + 2 * (16 + 24 * 9 + 16 + 16 * 9 + 8 * 17) + 16},
        {&heed_model_mlm, NULL,
         SMALL "positions=none transform-head=false embed-norm=false token-types=0 "
               "head-bias=false key-width=3 value-width=2",
         11 * 8 + 2 * (16 + 2 * (3 + 3 + 2) * 9 + 8 * 5 + 16 + 16 * 9 + 8 * 17)},
        {&heed_model_vit, NULL, VIT, 8 + PATCH + 10 * 8 + 2 * BLOCK + 16 + HEAD},
        {&heed_model_vit, NULL, VIT "pool=mean", PATCH + 9 * 8 + 2 * BLOCK + 16 + HEAD},
        {&heed_model_vit, NULL, VIT "positions=none final-norm=false",
         8 + PATCH + 2 * BLOCK + HEAD},
        {&heed_model_vit, NULL, VIT "positions=sinusoidal", 8 + PATCH + 2 * BLOCK + 16 + HEAD},
        {&heed_model_cnn, NULL, CNN, STAGES + PROJECTION},
        {&heed_model_cnn, NULL, CNN "residual=false", STAGES},
        {&heed_model_cnn, NULL, CNN "blocks=2", STAGES + PROJECTION + FIRST + 2 * (8 * 8 * 9 + 16)},
        /* biases for gains and biases */
        {&heed_model_cnn, NULL, CNN "batch-norm=false", STAGES + PROJECTION - 4 - 8 - 16 - 8},
        {&heed_model_mlp, NULL, MLP, 72 * 8 + 16 + 8 * 8 + 16 + 27},
        {&heed_model_mlp, NULL, MLP "layers=3 batch-norm=false",
         72 * 8 + 8 + 2 * (8 * 8 + 8) + 27}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_count(sizes[i].model, sizes[i].preset, sizes[i].settings, sizes[i].count);
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

TEST(models_decay_is_of_matrices_alone) {
    built b = build(&heed_model_vit, NULL, VIT);
    CHECK(!heed_params_find(b.s, "embed.cls")->decay);
    CHECK(!heed_params_find(b.s, "embed.position.weight")->decay);
    CHECK(!heed_params_find(b.s, "embed.patch.bias")->decay);
    CHECK(!heed_params_find(b.s, "norm.weight")->decay);
    CHECK(heed_params_find(b.s, "embed.patch.weight")->decay);
    CHECK(heed_params_find(b.s, "head.weight")->decay);
    DISCARD(b);
}

TEST(pictures_patches_fit_any_size) {
    static const int sides[][2] = {{8, 2},    {16, 4},   {28, 7}, {32, 8}, {64, 8},
                                   {128, 16}, {224, 28}, {13, 1}, {30, 6}, {1, 1}};
    for (int i = 0; i < 10; i++) {
        char settings[64];
        snprintf(settings, sizeof settings, "image-size=%d channels=1 classes=2", sides[i][0]);
        built b = build(&heed_model_vit, NULL, settings);
        CHECK(param(&b, "embed.patch.weight")->shape[2] == sides[i][1]);
        DISCARD(b);
    }
}

/* Where no patch of a good size tiles the picture, there would be thousands of them. */
TEST(pictures_patches_are_never_thousands) {
    static const int sides[][2] = {{31, 30}, {61, 60}, {62, 63}, {94, 95}, {97, 96}, {17, 16}};
    for (int i = 0; i < 6; i++) {
        char settings[64], hint[32];
        snprintf(settings, sizeof settings, "image-size=%d channels=1 classes=2", sides[i][0]);
        snprintf(hint, sizeof hint, "`image-size = %d`,", sides[i][1]);
        built b = build(&heed_model_vit, NULL, settings);
        CHECK(heed_ctx_status(b.c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(b.c), hint);
        heed_clear(b.c);
        DISCARD(b);
    }
    built b = build(&heed_model_vit, NULL, "image-size=31 channels=1 classes=2 patch=1");
    CHECK(heed_ctx_status(b.c) == HEED_OK); /* asked for */
    DISCARD(b);
}

/* ---- what logits are ---- */

static const int32_t tokens[] = {3, 1, 4, 1, 5, 9};

TEST(mlm_types_default_to_zero) {
    built b = build(&heed_model_mlm, NULL, SMALL "init-std=0.5");
    heed_tape_begin(b.t, HEED_EVAL, 0);
    heed_tensor *ids = heed_ids(b.t, tokens, 1, 6);
    heed_tensor *zero = heed_ids(b.t, (int32_t[6]){0}, 1, 6);
    heed_tensor *mixed = heed_ids(b.t, (int32_t[]){0, 0, 0, 1, 1, 1}, 1, 6);
    heed_tensor *y = logits_of(&b, (heed_model_input){.x = ids});
    heed_tensor *z = logits_of(&b, (heed_model_input){.x = ids, .types = zero});
    CHECK_CLOSE(apart(y->x, z->x, y->size), 0, exact);
    z = logits_of(&b, (heed_model_input){.x = ids, .types = mixed});
    CHECK(apart(y->x, z->x, y->size) > 0.01);
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
        CHECK_CLOSE(y->x[o], sum, exact);
    }
    DISCARD(b);
}

/* A convolution of 2 layers of 3 tokens sees 5: what is said at the last token does not depend on
 * the one 5 places before it, and depends on the one 4 places before it. */
TEST(models_convolution_sees_so_far) {
    built b = build(&heed_model_textcls, NULL,
                    SMALL "classes=3 init-std=0.3 encoder=conv kernel=3 causal=true pool=last");
    int32_t x[3][6] = {{3, 5, 7, 2, 1, 8}, {4, 5, 7, 2, 1, 8}, {3, 6, 7, 2, 1, 8}};
    heed_tensor *y[3];
    heed_tape_begin(b.t, HEED_EVAL, 0);
    for (int i = 0; i < 3; i++)
        y[i] = logits_of(&b, (heed_model_input){.x = heed_ids(b.t, x[i], 1, 6)});
    CHECK(apart(y[0]->x, y[1]->x, 3) == 0 && apart(y[0]->x, y[2]->x, 3) > 0);
    DISCARD(b);
}

/* Halved by the first convolution and by each stage but the first, until 8 cells a side. */
TEST(models_caption_grids_have_at_most_eight_cells_a_side) {
    static const struct {
        const char *settings;
        int side;
    } sizes[] = {{"image-size=32", 8},           {"image-size=28", 7}, {"image-size=64", 8},
                 {"image-size=33", 5},           {"image-size=5", 3},  {"image-size=1", 1},
                 {"image-size=32 stages=1", 16}, {"image-size=48", 6}, {"image-size=224", 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char settings[96];
        snprintf(settings, sizeof settings, "channels=1 filters=1 width=8 vocab=3 %s",
                 sizes[i].settings);
        built b = build(&heed_model_caption, NULL, settings);
        heed_grid grid;
        CHECK(b.model->grid(b.self, &grid));
        CHECK(grid.rows == sizes[i].side && grid.cols == sizes[i].side && grid.first == 0);
        DISCARD(b);
    }
}

/* ---- heads and losses ---- */

enum { ROWS = 4, WIDTH = 8, NUMBERS = 6 * 6 * 2 };

static heed_real pixel(int i) { return (heed_real)sin(0.7 * i * i + 0.3 * i); }

/* ROWS pictures of noise, each of another kind; classes 0 1 2 0, or 0 1 0 1. */
static heed_batch batch_of(int classes) {
    static heed_real x[ROWS * NUMBERS];
    static int32_t labels[ROWS];
    for (int i = 0; i < ROWS * NUMBERS; i++) x[i] = pixel(i);
    for (int i = 0; i < ROWS; i++) labels[i] = i % classes;
    return (heed_batch){.rows = ROWS, .len = NUMBERS, .x = x, .labels = labels};
}

static heed_tensor *seen(const built *b) {
    heed_batch batch = batch_of(2);
    return logits_of(b,
                     (heed_model_input){.x = heed_input(b->t, batch.x, 4, (int[]){ROWS, 6, 6, 2})});
}

#define TWO "image-size=6 channels=2 classes=2 patch=2 layers=1 heads=2 width=8 init-std=0.5 "

static heed_tensor *grown(const built *b, const char *name) {
    return (heed_tensor *)(uintptr_t)param(b, name);
}

/* The one neuron's weights are the differences of the two's; everything before is equal by name. */
static void couple(const built *one, const built *two) {
    const heed_tensor *w = param(two, "head.weight"), *v = param(two, "head.bias");
    for (int j = 0; j < WIDTH; j++) grown(one, "head.weight")->x[j] = w->x[WIDTH + j] - w->x[j];
    grown(one, "head.bias")->x[0] = v->x[1] - v->x[0];
}

static double loss_and_gradient(const built *b, heed_mode mode, heed_score *score) {
    heed_batch batch = batch_of(2);
    heed_tape_begin(b->t, mode, 0);
    heed_tensor *loss = b->model->loss(b->self, b->t, &batch);
    if (mode == HEED_TRAIN) heed_backward(b->t, loss);
    if (mode == HEED_EVAL) b->model->metrics(b->self, &batch, score);
    return loss ? (double)loss->x[0] : NAN;
}

TEST(models_one_neuron_agrees_with_two) {
    for (int smooth = 0; smooth < 2; smooth++) {
        const char *settings = smooth ? TWO "smoothing=0.2" : TWO;
        char binary[256];
        snprintf(binary, sizeof binary, "%s%shead=binary", settings, smooth ? " " : "");
        built two = build(&heed_model_vit, NULL, settings);
        built one = build(&heed_model_vit, NULL, binary);
        heed_score a = {0}, b = {0};
        grown(&two, "head.bias")->x[1] = (heed_real)0.3;
        couple(&one, &two);
        CHECK_CLOSE(loss_and_gradient(&one, HEED_TRAIN, NULL),
                    loss_and_gradient(&two, HEED_TRAIN, NULL), exact);
        const heed_tensor *g = param(&one, "embed.patch.weight"),
                          *h = param(&two, "embed.patch.weight");
        CHECK(apart(g->g, h->g, g->size) <= exact);
        CHECK_CLOSE(loss_and_gradient(&one, HEED_EVAL, &a), loss_and_gradient(&two, HEED_EVAL, &b),
                    exact);
        CHECK(a.correct == b.correct && a.total == ROWS && b.total == ROWS && a.top5 == ROWS);
        CHECK_CLOSE(a.loss, b.loss, exact * ROWS);
        heed_tensor *y = seen(&one);
        heed_tensor *z = seen(&two);
        CHECK(y && z && y->shape[1] == 2 && z->shape[1] == 2);
        for (int i = 0; y && z && i < ROWS; i++)
            CHECK_CLOSE(y->x[2 * i + 1] - y->x[2 * i], z->x[2 * i + 1] - z->x[2 * i], exact);
        DISCARD(one);
        DISCARD(two);
    }
}

TEST(models_smoothing_is_of_training_alone) {
    built plain = build(&heed_model_vit, NULL, TWO),
          soft = build(&heed_model_vit, NULL, TWO "smoothing=0.2");
    heed_score a = {0}, b = {0};
    CHECK(loss_and_gradient(&plain, HEED_EVAL, &a) == loss_and_gradient(&soft, HEED_EVAL, &b));
    CHECK(fabs(loss_and_gradient(&plain, HEED_TRAIN, NULL) -
               loss_and_gradient(&soft, HEED_TRAIN, NULL)) > 1e-4);
    DISCARD(plain);
    DISCARD(soft);
}

TEST(models_one_neuron_refuses_a_third_class) {
    built b = build(&heed_model_vit, NULL, TWO "head=binary");
    heed_batch batch = batch_of(3);
    heed_tape_begin(b.t, HEED_TRAIN, 0);
    CHECK(!b.model->loss(b.self, b.t, &batch));
    CHECK(heed_ctx_status(b.c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(b.c), "found 2");
    heed_clear(b.c);
    DISCARD(b);
}

TEST(models_count_the_label_among_the_first) {
    built b = build(&heed_model_mlp, NULL,
                    "image-size=1 channels=1 layers=1 width=1 classes=7 batch-norm=false");
    heed_real *bias = heed_params_find(b.s, "head.bias")->tensor->x;
    memset(heed_params_find(b.s, "head.weight")->tensor->x, 0, 7 * sizeof *bias);
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

/* ---- threads ---- */

enum { TEXTS = 12, LEN = 40 };

/* FNV-1a over all weights after three steps on random tokens. */
static uint64_t trained_bits(const heed_model *model, int threads) {
    static int32_t ids[TEXTS * LEN], masked_positions[TEXTS];
    built b = build_on(threads, model, "nano", "vocab=200 dropout=0.1");
    heed_random r = heed_random_at(2, "ids", 0, 0);
    for (int i = 0; i < TEXTS * LEN; i++) ids[i] = (int32_t)heed_random_below(&r, (uint64_t)i, 200);
    for (int i = 0; i < TEXTS; i++) masked_positions[i] = i * LEN + i;
    heed_batch batch = {
        .rows = TEXTS, .len = LEN, .ids = ids, .labels = ids, .masked_positions = masked_positions};
    batch.masked_count = TEXTS;
    heed_optim_args rate = heed_optim_defaults(&heed_adamw);
    rate.lr = (heed_real)0.01;
    heed_optim *o = heed_optim_new(b.s, &heed_adamw, &rate);
    for (uint64_t i = 0; i < 3; i++) {
        heed_tape_begin(b.t, HEED_TRAIN, i);
        heed_backward(b.t, model->loss(b.self, b.t, &batch));
        heed_clip_grad_norm(o, 1, 1);
        heed_optim_step(o, 1);
    }
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < heed_params_count(b.s); i++) {
        const heed_tensor *x = heed_params_at(b.s, i)->tensor;
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

TEST_IN(models_preset_of_nanogpt, heed_open(NULL)) {
    heed_config *f = heed_model_config(c, &heed_model_gpt, NULL);
    CHECK(heed_preset_apply(c, f, &heed_model_gpt, "nanogpt-cpu"));
    CHECK(heed_config_int(f, "layers") == 4 && heed_config_int(f, "width") == 128);
    CHECK(heed_config_int(f, "steps") == 2000 && heed_config_int(f, "batch") == 12);
    CHECK_CLOSE(heed_config_real(f, "lr-min"), 1e-4, 1e-12);
    CHECK_CLOSE(heed_config_real(f, "beta2"), 0.99, 1e-12);
    CHECK(!heed_config_bool(f, "bias"));
}

/* A model's defaults are those of its settings, in values, in help and in files. */
TEST_IN(models_have_defaults_of_shared_settings, heed_open(NULL)) {
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

/* ---- what is refused ---- */

TEST(models_refuse_what_does_not_fit) {
    static const struct {
        const heed_model *model;
        const char *settings, *part;
    } wrong[] = {
        {&heed_model_gpt, "vocab=10 heads=7 width=64", "width 64 with 7 heads"},
        {&heed_model_gpt, "vocab=0", "`vocab`"},
        {&heed_model_gpt, "vocab=10 attn-out=false value-width=3", "`value-width`"},
        {&heed_model_gpt, "vocab=16777216 width=1048576", "memory"},
        {&heed_model_vit, "image-size=28 channels=1 classes=10 patch=5",
         "divisor of image-size 28 (1, 2, 4, 7, 14, 28), found 5; hint: `patch = 4`"},
        {&heed_model_vit, "image-size=32 channels=3 classes=10 patch=7", "hint: `patch = 8`"},
        {&heed_model_vit, "channels=1 classes=10", "`image-size = 28`"},
        {&heed_model_cnn, "image-size=28 channels=1", "found 28, 1, 0"},
        {&heed_model_mlp, "image-size=28 channels=1 classes=10 head=binary", "`head = softmax`"},
        {&heed_model_rnn, "vocab=11 bridge=copy", "`bidirectional = false`"},
        {&heed_model_seq2seq, "width=8", "expected vocab of at least 1, found 0"},
        {&heed_model_caption, "channels=3 vocab=9",
         "expected image-size, channels and vocab of at least 1"},
        {&heed_model_caption,
         "image-size=12 channels=2 vocab=11 decoder=transformer attention=none",
         "hint: `decoder = rnn`"},
        {&heed_model_textcls, SMALL "classes=3 head=binary", "expected 2 classes, found 3"},
        {&heed_model_tag, "vocab=5", "found 5 and 0; hint: `vocab`, `classes`"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        built b = build(wrong[i].model, NULL, wrong[i].settings);
        CHECK(heed_ctx_status(b.c) != HEED_OK);
        CHECK_HAS(heed_ctx_error(b.c), wrong[i].part);
        heed_clear(b.c);
        DISCARD(b);
    }
    static const int32_t many[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    built b = build(&heed_model_gpt, NULL, SMALL);
    heed_tape_begin(b.t, HEED_EVAL, 0);
    CHECK(!logits_of(&b, (heed_model_input){.x = heed_ids(b.t, many, 1, 7)}));
    CHECK_HAS(heed_ctx_error(b.c), "at most 6 positions, found 7");
    heed_clear(b.c);
    DISCARD(b);
    b = build(&heed_model_cnn, NULL, CNN);
    heed_batch batch = batch_of(2);
    batch.len = 36;
    heed_tape_begin(b.t, HEED_TRAIN, 0);
    CHECK(!b.model->loss(b.self, b.t, &batch));
    CHECK_HAS(heed_ctx_error(b.c), "6 x 6 pixels of 2 channels, found 36 numbers");
    heed_clear(b.c);
    DISCARD(b);
    b = build(&heed_model_rnn, NULL, "width=6 block=8 vocab=11");
    heed_generation a = {.source = many, .source_count = 9, .prompt = many, .prompt_count = 1};
    int32_t out[8];
    CHECK(!heed_generate(b.model, b.self, b.t, &a, out, NULL));
    CHECK_HAS(heed_ctx_error(b.c), "expected 1 to 8 tokens, found 9");
    heed_clear(b.c);
    a.source_count = 3, a.beam = 3, a.temperature = 1;
    CHECK(!heed_generate(b.model, b.self, b.t, &a, out, NULL));
    CHECK_HAS(heed_ctx_error(b.c), "found 3 with temperature 1");
    heed_clear(b.c);
    DISCARD(b);
    b = build(&heed_model_caption, NULL, "image-size=12 channels=2 vocab=11 width=8 filters=4");
    CHECK(!heed_generate(
        b.model, b.self, b.t,
        &(heed_generation){.prompt = many, .prompt_count = 1, .source = many, .source_count = 1},
        out, NULL));
    CHECK_HAS(heed_ctx_error(b.c), "picture is missing");
    heed_clear(b.c);
    DISCARD(b);
}
