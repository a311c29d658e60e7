/* Classes weighed by the inverse of their frequency: counts and weights of data sets, and the
 * losses of all classifiers, of which PyTorch's values are given. */
#include "built.h"
#include "data/sets.h"
#include "files.h"
#include "images.h"

#include <math.h>

static bool close_to(double a, double b) { return fabs(a - b) < 2e-6 * fmax(1, fabs(b)); }

/* ---- data ---- */

enum { RARE = 4, COMMON = 12 };

static heed__pairs *open_texts(heed_ctx *c, heed_target_kind kind, const char *rare,
                               const char *common) {
    heed_text text = {.c = c}, all = {.c = c};
    for (int i = 0; i < RARE + COMMON; i++)
        heed_text_add(&text, "%s\n", i % 4 == 0 ? rare : common);
    heed__pairs_args a = {.kind = kind, .block = 16};
    heed__pairs *k = heed__pairs_open(c, text_file("texts.tsv", text.s), &a);
    heed__pairs_text(k, 0, &all);
    heed_tokenizer *t =
        heed_tokenizer_train(c, all.s, all.n, (heed_tokenizer_args){.kind = "word"});
    CHECK(heed__pairs_encode(k, t, NULL));
    heed_text_free(&text);
    heed_text_free(&all);
    return k;
}

TEST_IN(balanced_texts_have_weights_of_mean_1, heed_open(NULL)) {
    heed__pairs *k = open_texts(c, HEED_TARGET_CLASSES, "no\tthat was bad", "yes\tgood");
    heed_batch b, half[2];
    CHECK(heed__pair_batch(k, (heed_batch_at){.rows = 4}, &b) && !b.class_weights);
    CHECK(heed__pairs_count(k, 0) == RARE && heed__pairs_count(k, 1) == COMMON);
    CHECK(heed__pairs_count(k, -1) == RARE + COMMON && heed__pairs_count(k, 2) == 0);
    const heed_real *w = heed__pairs_balance(k);
    CHECK(w && close_to((double)w[0], 2) && close_to((double)w[1], 2.0 / 3));
    CHECK(heed__pair_batch(k, (heed_batch_at){.rows = 8, .index = 3}, &b));
    CHECK(b.class_weights == w && b.classes == 2);
    double sum = 0;
    for (int i = 0; i < b.rows; i++) sum += (double)w[b.labels[i]];
    CHECK(close_to(b.label_weight, sum));
    for (uint32_t i = 0; i < 2; i++) /* micro-batches divide the same batch */
        CHECK(heed__pair_batch(k, (heed_batch_at){.rows = 4, .index = 3, .micro = i, .micros = 2},
                               &half[i]));
    CHECK(close_to(half[0].label_weight + half[1].label_weight, b.label_weight));
    CHECK(heed__pair_batch(k, (heed_batch_at){.rows = 4, .val = true}, &b) && !b.class_weights);
}

TEST_IN(balanced_tags_count_words, heed_open(NULL)) {
    heed__pairs *k = open_texts(c, HEED_TARGET_TAGS, "the cat ran\tO N O", "it ran off\tO O O");
    CHECK(heed__pairs_count(k, 0) == RARE && heed__pairs_count(k, 1) == 2 * RARE + 3 * COMMON);
    const heed_real *w = heed__pairs_balance(k);
    CHECK(w && close_to((double)w[0] * RARE, (double)w[1] * (2 * RARE + 3 * COMMON)));
    heed_batch b;
    CHECK(heed__pair_batch(k, (heed_batch_at){.rows = RARE + COMMON}, &b));
    CHECK(b.items == 3 * (RARE + COMMON) && b.class_weights);
    double sum = 0;
    for (int i = 0; i < b.rows * b.src_len; i++)
        if (b.labels[i] >= 0) sum += (double)w[b.labels[i]];
    CHECK(close_to(sum, b.label_weight));
}

TEST_IN(balanced_pictures_have_weights_of_mean_1, heed_open(NULL)) {
    put_class("set/train/a", 6, 0);
    put_class("set/train/b", 2, 50);
    put_class("set/val/a", 1, 90);
    put_class("set/val/b", 1, 95);
    heed_images *k = heed__images_open(c, in_folder("set"), &(heed__images_args){.workers = 1});
    heed_batch b;
    CHECK(heed__image_batch(k, (heed_batch_at){.rows = 4}, &b) && !b.class_weights);
    const heed_real *w = heed__images_balance(k);
    CHECK(w && close_to((double)w[0], 8.0 / 12) && close_to((double)w[1], 2));
    CHECK(heed__image_batch(k, (heed_batch_at){.rows = 4, .index = 1}, &b) && b.classes == 2);
    double sum = 0;
    for (int i = 0; i < b.rows; i++) sum += (double)w[b.labels[i]];
    CHECK(close_to(sum, b.label_weight));
    CHECK(heed__image_batch(k, (heed_batch_at){.rows = 2, .val = true}, &b) && !b.class_weights);
}

TEST(balance_needs_labels) {
    heed_ctx *c = heed_open(NULL);
    heed__pairs *k = heed__pairs_open(c, text_file("a.tsv", "no\tbad\nyes\tgood\n"),
                                      &(heed__pairs_args){.kind = HEED_TARGET_CLASSES, .block = 8});
    CHECK(heed__pairs_count(k, 0) == 0 && !heed__pairs_balance(k));
    CHECK_HAS(heed_ctx_error(c), "pairs cannot be balanced");
    CHECK(!heed__pairs_balance(NULL) && !heed__images_balance(NULL));
    CHECK(heed__pairs_count(NULL, 0) == 0 && heed_data_count(NULL, 0) == 0);
    heed_close(c);
}

/* ---- losses ---- */

static const heed_real weights[] = {(heed_real)0.625, (heed_real)2.5};

/* The one trained number is the bias of a head without input: its logit. */
static double loss_of(const built *b, heed_batch *batch) {
    heed_tape_begin(b->t, HEED_TRAIN, 1);
    const heed_tensor *y = b->model->loss(b->self, b->t, batch);
    return y ? (double)y->x[0] : (double)NAN;
}

static void set_head(const built *b, const double *bias, int n) {
    heed_tensor *w = heed_params_find(b->s, "head.weight")->tensor;
    memset(w->x, 0, w->size * sizeof *w->x);
    for (int i = 0; i < n; i++)
        heed_params_find(b->s, "head.bias")->tensor->x[i] = (heed_real)bias[i];
}

/* torch.nn.functional.cross_entropy(tensor([[0, 0.7]] * 4), tensor([1, 0, 0, 0]),
 * weight=tensor([0.625, 2.5]), label_smoothing=s): with one neuron, the logits are (0, z). */
TEST(balanced_losses_are_those_of_pytorch) {
    static const struct {
        const heed_model *model;
        const char *settings;
        double bias[2], loss;
    } cases[] = {
        {&heed_model_mlp, "image-size=2 channels=1 classes=2 width=4", {0, 0.7}, 0.703186048885458},
        {&heed_model_mlp,
         "image-size=2 channels=1 classes=2 width=4 head=binary",
         {0.7},
         0.703186048885458},
        {&heed_model_cnn,
         "image-size=2 channels=1 classes=2 width=4 smoothing=0.1",
         {0, 0.7},
         0.710465450980549},
        {&heed_model_vit,
         "image-size=2 channels=1 classes=2 width=4 heads=2 layers=1 head=binary smoothing=0.1",
         {0.7},
         0.710465450980549}};
    static const heed_real x[4 * 4] = {1, 2, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        built b = build(cases[i].model, NULL, cases[i].settings);
        heed_batch batch = {.rows = 4,
                            .len = 4,
                            .x = x,
                            .labels = (const int32_t[]){1, 0, 0, 0},
                            .class_weights = weights,
                            .classes = 2};
        set_head(&b, cases[i].bias, strstr(cases[i].settings, "binary") ? 1 : 2);
        CHECK(close_to(loss_of(&b, &batch), cases[i].loss));
        batch.classes = 3;
        CHECK(isnan(loss_of(&b, &batch)));
        CHECK_HAS(heed_ctx_error(b.c), "balanced classes do not fit the model");
        heed_clear(b.c);
        DISCARD(b);
    }
}

/* The same for texts and words; padding does not count. */
TEST(balanced_losses_of_texts_are_those_of_pytorch) {
    static const struct {
        const heed_model *model;
        const char *settings;
        double bias[2];
    } cases[] = {{&heed_model_textcls, "classes=2", {0, 0.7}},
                 {&heed_model_textcls, "classes=2 head=binary encoder=rnn", {0.7}},
                 {&heed_model_tag, "classes=2", {0, 0.7}}};
    static const int32_t ids[8] = {1, 2, 3, 4, 5, 6, 7, 8}, pad[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[160];
        snprintf(settings, sizeof settings, "width=4 heads=2 layers=1 block=4 vocab=9 %s",
                 cases[i].settings);
        built b = build(cases[i].model, NULL, settings);
        bool words = cases[i].model == &heed_model_tag;
        heed_batch batch = {.rows = words ? 2 : 4,
                            .src_len = words ? 3 : 2,
                            .src = ids,
                            .src_pad = pad,
                            .labels = words ? (const int32_t[]){1, 0, -100, 0, 0, -100}
                                            : (const int32_t[]){1, 0, 0, 0},
                            .class_weights = weights,
                            .classes = 2};
        set_head(&b, cases[i].bias, strstr(settings, "binary") ? 1 : 2);
        CHECK(close_to(loss_of(&b, &batch), 0.703186048885458));
        DISCARD(b);
    }
}

typedef struct {
    const built *b;
    const heed_batch *batch;
} trial;

static heed_tensor *trial_loss(void *user, heed_tape *t) {
    const trial *x = user;
    return x->b->model->loss(x->b->self, t, x->batch);
}

TEST(balanced_losses_pass_the_gradient_check) {
    static const char *const settings[] = {"classes=2 smoothing=0.1", "classes=2 head=binary"};
    static const heed_real x[4 * 4] = {1, 2, 3, -1, 0, 1, 2, 0, -2, 1, 1, 3, 0, 0, 1, -1};
    for (int i = 0; i < 2; i++) {
        char text[160];
        snprintf(text, sizeof text, "image-size=2 channels=1 width=4 activation=tanh %s",
                 settings[i]); /* ReLU has a kink where batch norm centres its inputs */
        built b = build(&heed_model_mlp, NULL, text);
        heed_batch batch = {.rows = 4,
                            .len = 4,
                            .x = x,
                            .labels = (const int32_t[]){1, 0, 0, 1},
                            .class_weights = weights,
                            .classes = 2};
        trial of = {&b, &batch};
        heed_check k = heed_gradcheck_store(b.c, b.s, trial_loss, &of, 24);
        CHECK(k.error >= 0 && k.error < (sizeof(heed_real) == 8 ? 1e-6 : 0.1));
        DISCARD(b);
    }
}
