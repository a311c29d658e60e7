/* The models of pictures: parameters, patches, places, heads, training runs. */
#include "built.h"

static const double exact = sizeof(heed_real) == 8 ? 1e-12 : 1e-5;

#define DATA "image-size=6 channels=2 classes=3 "
#define VIT  DATA "patch=2 layers=2 heads=2 width=8 ff=16 "
#define CNN  DATA "width=4 stages=2 "
#define MLP  DATA "width=8 "

enum { ROWS = 4, NUMBERS = 6 * 6 * 2 };

static heed_real pixel(int i) { return (heed_real)sin(0.7 * i * i + 0.3 * i); }

/* ROWS pictures of noise, each of another kind; classes 0 1 2 0, or 0 1 0 1. */
static heed_batch batch_of(int classes) {
    static heed_real x[ROWS * NUMBERS];
    static int32_t labels[ROWS];
    for (int i = 0; i < ROWS * NUMBERS; i++) x[i] = pixel(i);
    for (int i = 0; i < ROWS; i++) labels[i] = i % classes;
    return (heed_batch){.rows = ROWS, .len = NUMBERS, .x = x, .labels = labels};
}

static heed_tensor *pictures(const built *b) {
    heed_batch batch = batch_of(2);
    return heed_input(b->t, batch.x, 4, (int[]){ROWS, 6, 6, 2});
}

/* ---- parameters ---- */

TEST(pictures_models_name_their_parameters) {
    static const char *const names[][8] = {
        {"embed.cls", "embed.patch.weight", "embed.position.weight", "encoder.1.attn.qkv.bias",
         "encoder.1.mlp.down.weight", "norm.weight", "head.weight", "head.bias"},
        {"stem.conv.weight", "stem.norm.running_var", "stage.0.0.conv1.weight",
         "stage.1.0.short.conv.weight", "stage.1.0.norm2.bias", "head.weight", "head.bias", NULL},
        {"hidden.0.weight", "hidden.0.norm.running_mean", "hidden.1.norm.weight", "head.bias"}};
    built b[] = {build(&heed_model_vit, NULL, VIT), build(&heed_model_cnn, NULL, CNN),
                 build(&heed_model_mlp, NULL, MLP)};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 8 && names[i][j]; j++) param(&b[i], names[i][j]);
        DISCARD(b[i]);
    }
}

/* Numbers: of the published formulas, by hand. */
TEST(pictures_models_take_every_setting) {
    int block = 16 + 24 * 9 + 8 * 9 + 16 + 16 * 9 + 8 * 17, head = 3 * 9;
    int patch = 8 * 2 * 4 + 8;
    check_count(&heed_model_vit, NULL, VIT, (size_t)(8 + patch + 10 * 8 + 2 * block + 16 + head));
    check_count(&heed_model_vit, NULL, VIT "pool=mean",
                (size_t)(patch + 9 * 8 + 2 * block + 16 + head));
    check_count(&heed_model_vit, NULL, VIT "positions=none final-norm=false",
                (size_t)(8 + patch + 2 * block + head));
    check_count(&heed_model_vit, NULL, VIT "positions=sinusoidal",
                (size_t)(8 + patch + 2 * block + 16 + head));
    int stem = 4 * 2 * 9 + 8, first = 2 * (4 * 4 * 9 + 8);
    int second = 8 * 4 * 9 + 16 + 8 * 8 * 9 + 16, projection = 8 * 4 + 16;
    check_count(&heed_model_cnn, NULL, CNN, (size_t)(stem + first + second + projection + head));
    check_count(&heed_model_cnn, NULL, CNN "residual=false",
                (size_t)(stem + first + second + head));
    check_count(&heed_model_cnn, NULL, CNN "blocks=2",
                (size_t)(stem + 2 * first + second + projection + 2 * (8 * 8 * 9 + 16) + head));
    check_count(&heed_model_cnn, NULL, CNN "batch-norm=false", /* biases for gains and biases */
                (size_t)(stem - 4 + first - 8 + second - 16 + projection - 8 + head));
    check_count(&heed_model_mlp, NULL, MLP, 72 * 8 + 16 + 8 * 8 + 16 + 27);
    check_count(&heed_model_mlp, NULL, MLP "layers=3 batch-norm=false",
                72 * 8 + 8 + 2 * (8 * 8 + 8) + 27);
}

TEST(pictures_decay_is_of_matrices_alone) {
    built b = build(&heed_model_vit, NULL, VIT);
    CHECK(!heed_store_find(b.s, "embed.cls")->decay);
    CHECK(!heed_store_find(b.s, "embed.position.weight")->decay);
    CHECK(!heed_store_find(b.s, "embed.patch.bias")->decay);
    CHECK(!heed_store_find(b.s, "norm.weight")->decay);
    CHECK(heed_store_find(b.s, "embed.patch.weight")->decay);
    CHECK(heed_store_find(b.s, "head.weight")->decay);
    DISCARD(b);
}

TEST(pictures_models_refuse_wrong_sizes) {
    static const struct {
        const heed_model *model;
        const char *settings, *part;
    } wrong[] = {
        {&heed_model_vit, "image-size=28 channels=1 classes=10 patch=5",
         "divisor of image-size 28 (1, 2, 4, 7, 14, 28), found 5; hint: `patch = 4`"},
        {&heed_model_vit, "image-size=32 channels=3 classes=10 patch=7", "hint: `patch = 8`"},
        {&heed_model_vit, "channels=1 classes=10", "`image-size = 28`"},
        {&heed_model_cnn, "image-size=28 channels=1", "found 28, 1, 0"},
        {&heed_model_mlp, "image-size=28 channels=1 classes=10 head=binary", "`head = softmax`"}};
    for (int i = 0; i < 5; i++) {
        built b = build(wrong[i].model, NULL, wrong[i].settings);
        CHECK(heed_ctx_status(b.c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(b.c), wrong[i].part);
        heed_clear(b.c);
        DISCARD(b);
    }
}

TEST(pictures_models_refuse_other_pictures) {
    built b = build(&heed_model_cnn, NULL, CNN);
    heed_batch batch = batch_of(2);
    batch.len = 36;
    heed_tape_begin(b.t, HEED_TRAIN, 0);
    CHECK(!b.model->loss(b.self, b.t, &batch));
    CHECK_HAS(heed_ctx_error(b.c), "6 x 6 pixels of 2 channels, found 36 numbers");
    heed_clear(b.c);
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

/* ---- what the output depends on ---- */

enum { GRID = 3, PATCHES = GRID * GRID, SIDE_OF_PATCH = 2, WIDTH = 8 };
static const int order[PATCHES] = {4, 7, 2, 0, 8, 1, 6, 3, 5};

static size_t pixel_at(int row, int patch, int i, int j, int channel) {
    int y = patch / GRID * SIDE_OF_PATCH + i, x = patch % GRID * SIDE_OF_PATCH + j;
    return (size_t)(((row * 6 + y) * 6 + x) * 2 + channel);
}

/* s(x): patch order[p] of x stands at p. */
static heed_tensor *permuted(heed_tape *t, const heed_tensor *x) {
    heed_tensor *y = heed_input(t, NULL, 4, x->shape);
    for (int n = 0; y && n < ROWS * NUMBERS; n++) {
        int c = n % 2, j = n / 2 % 2, i = n / 4 % 2, p = n / 8 % PATCHES, row = n / NUMBERS;
        y->x[pixel_at(row, p, i, j, c)] = x->x[pixel_at(row, order[p], i, j, c)];
    }
    return y;
}

static heed_tensor *seen(const built *b, heed_tensor *x) {
    return b->model->logits(b->self, b->t, &(heed_model_input){.x = x});
}

/* What the model makes of all positions of x, (ROWS,tokens,WIDTH): the last such op of a trace. */
static heed_tensor *encoded(const built *b, heed_tensor *x) {
    heed_tensor *y = seen(b, heed_want_grad(b->t, x));
    for (int i = y ? heed_tape_used(b->t).nodes : 0; i-- > 0;) {
        y = heed_recorded_at(b->t, i).y;
        if (y->dims == 3 && y->shape[0] == ROWS && y->shape[1] >= PATCHES) return y;
    }
    return NULL;
}

/* The largest difference between the outputs for s(x) and those for x, permuted by s. */
static double difference(const char *settings) {
    built b = build(&heed_model_vit, NULL, settings);
    heed_tape_begin(b.t, HEED_TRACE, 0);
    heed_tensor *x = pictures(&b), *y = encoded(&b, x), *z = encoded(&b, permuted(b.t, x));
    double worst = 0;
    int cls = y && y->shape[1] > PATCHES, tokens = PATCHES + cls;
    CHECK(y && z && y->shape[1] == tokens);
    for (int i = 0; y && z && i < ROWS * tokens; i++) {
        int at = i % tokens - cls, from = at < 0 ? i : i - at + order[at];
        worst = fmax(worst, apart(z->x + i * WIDTH, y->x + from * WIDTH, WIDTH));
    }
    DISCARD(b);
    return worst;
}

TEST(pictures_patches_without_positions_permute_with_the_output) {
    CHECK_CLOSE(difference(VIT "init-std=0.5 positions=none"), 0, exact);
    CHECK_CLOSE(difference(VIT "init-std=0.5 positions=none pool=mean norm=post"), 0, exact);
    CHECK(difference(VIT "init-std=0.5 positions=learned") > 0.1);
    CHECK(difference(VIT "init-std=0.5 positions=sinusoidal pool=mean") > 0.1);
}

TEST(pictures_attention_is_seen) {
    built b = build(&heed_model_vit, NULL, VIT "init-std=0.5");
    heed_probe(b.t, "encoder.*.attn.weights", false);
    heed_tape_begin(b.t, HEED_EVAL, 0);
    seen(&b, pictures(&b));
    CHECK(heed_probe_count(b.t) == 2);
    for (int layer = 0; layer < 2; layer++) {
        heed_tensor *a =
            heed_probe_find(b.t, layer ? "encoder.1.attn.weights" : "encoder.0.attn.weights");
        CHECK(a && a->dims == 4 && a->shape[0] == ROWS && a->shape[1] == 2);
        CHECK(a && a->shape[2] == PATCHES + 1 && a->shape[3] == PATCHES + 1);
        for (size_t i = 0; a && i < a->size; i += PATCHES + 1) {
            double sum = 0;
            for (int j = 0; j < PATCHES + 1; j++) sum += (double)a->x[i + (size_t)j];
            CHECK_CLOSE(sum, 1, exact);
        }
    }
    DISCARD(b);
}

/* ---- heads ---- */

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

TEST(pictures_one_neuron_agrees_with_two) {
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
        heed_tensor *y = seen(&one, pictures(&one));
        heed_tensor *z = seen(&two, pictures(&two));
        CHECK(y && z && y->shape[1] == 2 && z->shape[1] == 2);
        for (int i = 0; y && z && i < ROWS; i++)
            CHECK_CLOSE(y->x[2 * i + 1] - y->x[2 * i], z->x[2 * i + 1] - z->x[2 * i], exact);
        DISCARD(one);
        DISCARD(two);
    }
}

TEST(pictures_smoothing_is_of_training_alone) {
    built plain = build(&heed_model_vit, NULL, TWO),
          soft = build(&heed_model_vit, NULL, TWO "smoothing=0.2");
    heed_score a = {0}, b = {0};
    CHECK(loss_and_gradient(&plain, HEED_EVAL, &a) == loss_and_gradient(&soft, HEED_EVAL, &b));
    CHECK(fabs(loss_and_gradient(&plain, HEED_TRAIN, NULL) -
               loss_and_gradient(&soft, HEED_TRAIN, NULL)) > 1e-4);
    DISCARD(plain);
    DISCARD(soft);
}

TEST(pictures_one_neuron_refuses_a_third_class) {
    built b = build(&heed_model_vit, NULL, TWO "head=binary");
    heed_batch batch = batch_of(3);
    heed_tape_begin(b.t, HEED_TRAIN, 0);
    CHECK(!b.model->loss(b.self, b.t, &batch));
    CHECK(heed_ctx_status(b.c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(b.c), "found 2");
    heed_clear(b.c);
    DISCARD(b);
}

/* ---- training ---- */

static const struct {
    const heed_model *model;
    const char *settings;
} variants[] = {
    {&heed_model_vit, VIT},
    {&heed_model_vit, VIT "pool=mean positions=sinusoidal norm=post final-norm=false init-std=0.2"},
    {&heed_model_vit, VIT "positions=none attention=explicit smoothing=0.05 dropout=0.05"},
    {&heed_model_cnn, CNN},
    {&heed_model_cnn, CNN "batch-norm=false blocks=2"},
    {&heed_model_cnn, CNN "residual=false dropout=0.05"},
    {&heed_model_mlp, MLP},
    {&heed_model_mlp, MLP "batch-norm=false residual=true layers=3 activation=gelu"},
    {&heed_model_mlp, MLP "dropout=0.05"}};
enum { VARIANTS = sizeof variants / sizeof *variants };

TEST(pictures_models_learn_a_batch_by_heart) {
    for (int n = 0; n < VARIANTS; n++) {
        built b = build(variants[n].model, NULL, variants[n].settings);
        heed_batch batch = batch_of(3);
        heed_score score = {0};
        heed_optim_args rate = heed_optim_defaults(&heed_adamw);
        rate.lr = (heed_real)0.01;
        heed_optim *o = heed_optim_new(b.s, &heed_adamw, &rate);
        for (uint64_t i = 0; i < 150 && heed_ctx_status(b.c) == HEED_OK; i++) {
            heed_tape_begin(b.t, HEED_TRAIN, i);
            heed_backward(b.t, b.model->loss(b.self, b.t, &batch));
            heed_step(o, 1);
        }
        heed_tape_begin(b.t, HEED_EVAL, 0);
        b.model->loss(b.self, b.t, &batch);
        b.model->metrics(b.self, &batch, &score);
        if (score.correct != ROWS || score.loss > 0.5 * ROWS)
            test_fail(__FILE__, __LINE__, "%s %s: %g right, loss %g", b.model->name,
                      variants[n].settings, score.correct, score.loss / ROWS);
        DISCARD(b);
    }
}

TEST(pictures_every_parameter_gets_a_gradient) {
    for (int n = 0; n < VARIANTS; n++) {
        built b = build(variants[n].model, NULL, variants[n].settings);
        heed_batch batch = batch_of(3);
        shake(b.s);
        heed_tape_begin(b.t, HEED_TRAIN, 0);
        heed_backward(b.t, b.model->loss(b.self, b.t, &batch));
        for (int i = 0; i < heed_store_count(b.s); i++) {
            const heed_entry *e = heed_store_at(b.s, i);
            double most = 0;
            for (size_t j = 0; e->trained && e->tensor->g && j < e->tensor->size; j++)
                most = fmax(most, fabs((double)e->tensor->g[j]));
            if (e->trained && !(most > 0))
                test_fail(__FILE__, __LINE__, "%s %s: no gradient of %s", b.model->name,
                          variants[n].settings, e->name);
        }
        DISCARD(b);
    }
}

#ifdef HEED_F64
static heed_tensor *batch_loss(void *self, heed_tape *t) {
    const built *b = self;
    heed_batch batch = batch_of(2);
    return b->model->loss(b->self, t, &batch);
}

static void check_gradients(const heed_model *model, const char *settings) {
    built b = build(model, NULL, settings);
    shake(b.s);
    int trained = 0;
    for (int i = 0; i < heed_store_count(b.s); i++) trained += heed_store_at(b.s, i)->trained;
    heed_check check = heed_gradcheck_store(b.c, b.s, batch_loss, &b, 1 << 20);
    CHECK(check.cases == trained);
    if (!(check.error >= 0 && check.error <= 1e-6))
        test_fail(__FILE__, __LINE__, "%s: gradient off by %.3g at %s", settings, check.error,
                  check.worst);
    DISCARD(b);
}

TEST(pictures_gradients_of_vit) {
    check_gradients(&heed_model_vit, VIT "init-std=0.4");
    check_gradients(&heed_model_vit, VIT "init-std=0.4 pool=mean positions=sinusoidal norm=post "
                                         "final-norm=false dropout=0.2 smoothing=0.1");
    check_gradients(&heed_model_vit, TWO "head=binary smoothing=0.1 bias=false");
}

/* So few activations that no difference crosses the kink of one. */
TEST(pictures_gradients_of_cnn) {
    check_gradients(&heed_model_cnn, DATA "width=2 stages=2");
    check_gradients(&heed_model_cnn, DATA "width=2 stages=2 batch-norm=false dropout=0.2");
    check_gradients(&heed_model_cnn, DATA "width=2 stages=2 residual=false smoothing=0.1");
}

TEST(pictures_gradients_of_mlp) {
    check_gradients(&heed_model_mlp, MLP "activation=gelu residual=true");
    check_gradients(&heed_model_mlp, MLP "activation=tanh batch-norm=false dropout=0.2");
}
#endif
