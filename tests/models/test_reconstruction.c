/* Auto-encoders: hidden patches, reconstructions, codes, pictures without classes. */
#include "built.h"
#include "core/core.h"
#include "data/sets.h"
#include "fit_job.h"
#include "images.h"

#include <heed/reconstruction.h>
#include <unistd.h>

/* ---- codes in a plane ---- */

enum { N = 7, ROWS = 300 };

/* Rows with variance along three axes only: 0 and 1 together, 3, and 5 against 6. */
static void make_rows(heed_real x[ROWS * N]) {
    heed_random r = heed_random_at(9, "rows", 0, 0);
    for (int i = 0; i < ROWS; i++) {
        double a = heed_random_normal(&r, (uint64_t)(3 * i)),
               b = heed_random_normal(&r, (uint64_t)(3 * i + 1)),
               c = heed_random_normal(&r, (uint64_t)(3 * i + 2));
        const double row[N] = {3 * a + 1, 3 * a, 0, 2 * b, -4, c, -c};
        for (int j = 0; j < N; j++) x[i * N + j] = (heed_real)row[j];
    }
}

TEST_IN(codes_lie_in_a_plane, heed_open(NULL)) {
    heed_real x[ROWS * N];
    double xy[2 * ROWS], share;
    make_rows(x);
    heed_codes two = {.count = 3, .width = 2, .x = x}, one = {.count = 3, .width = 1, .x = x};
    CHECK(heed_codes_plane(c, &two, xy, &share) && share == 1);
    for (int i = 0; i < 6; i++) CHECK(xy[i % 2 * 3 + i / 2] == (double)x[i]);
    CHECK(heed_codes_plane(c, &one, xy, &share));
    for (int i = 0; i < 3; i++) CHECK(xy[i] == (double)x[i] && xy[3 + i] == 0);
    heed_codes all = {.count = ROWS, .width = N, .x = x};
    CHECK(heed_codes_plane(c, &all, xy, &share));
    CHECK(share > 0.8 && share < 0.97); /* of 18, 4 and 2 */
    double sum = 0, square = 0;
    for (int i = 0; i < ROWS; i++) sum += xy[i], square += xy[i] * xy[i];
    CHECK_CLOSE(sum / ROWS, 0, 1e-4);
    CHECK(square / ROWS > 14 && square / ROWS < 22);
    double more = 0, across = 0; /* the second component: less variance, uncorrelated */
    for (int i = 0; i < ROWS; i++)
        more += xy[ROWS + i] * xy[ROWS + i], across += xy[i] * xy[ROWS + i];
    CHECK(more / ROWS > 3 && more / ROWS < 5.5);
    CHECK_CLOSE(across / ROWS, 0, 1e-3);
}

/* ---- hidden patches ---- */

TEST(hidden_patches_depend_on_the_seed_and_the_row) {
    enum { PATCHES = 16, HIDDEN = 12, DRAWS = 2000 };
    heed_ctx *c = heed_open(&(heed_options){.seed = 3}),
             *other = heed_open(&(heed_options){.seed = 4});
    int32_t a[HIDDEN], b[HIDDEN];
    int often[PATCHES] = {0}, same = 0, seeds = 0;
    for (int i = 0; i < DRAWS; i++) {
        heed_masked_patches(c, (heed_batch_at){.index = (uint64_t)i, .rows = 1}, 0, PATCHES, HIDDEN,
                            a);
        for (int j = 0; j < HIDDEN; j++) {
            CHECK(a[j] >= 0 && a[j] < PATCHES && (j == 0 || a[j] > a[j - 1]));
            often[a[j]]++;
        }
        heed_masked_patches(c, (heed_batch_at){.val = true, .index = (uint64_t)i, .rows = 1}, 0,
                            PATCHES, HIDDEN, b);
        same += memcmp(a, b, sizeof a) == 0;
        heed_masked_patches(other, (heed_batch_at){.index = (uint64_t)i, .rows = 1}, 0, PATCHES,
                            HIDDEN, b);
        seeds += memcmp(a, b, sizeof a) == 0;
    }
    for (int j = 0; j < PATCHES; j++) CHECK(abs(often[j] - DRAWS * HIDDEN / PATCHES) < 100);
    CHECK(same < 20 && seeds < 20);
    /* micro-batches of 4 rows, in any division, are the rows of a batch of 8 */
    heed_masked_patches(c, (heed_batch_at){.index = 5, .rows = 8}, 6, PATCHES, HIDDEN, a);
    heed_masked_patches(c, (heed_batch_at){.index = 5, .micro = 1, .micros = 2, .rows = 4}, 2,
                        PATCHES, HIDDEN, b);
    CHECK(memcmp(a, b, sizeof a) == 0);
    CLOSE(other);
    CLOSE(c);
}

/* ---- the masked auto-encoder ---- */

#define MASKED                                                                                     \
    "image-size=6 channels=1 kind=masked patch=2 width=8 layers=1 heads=2 ff=16 init-std=0.5 "     \
    "decoder-layers=1"
enum { PATCH_COUNT = 9, PIXEL_COUNT = 36 };

static heed_tensor *picture(const built *b, const heed_real *x, int rows) {
    return heed_input(b->t, x, 4, (int[]){rows, 6, 6, 1});
}

static heed_tensor *hide(const built *b, const int32_t *list, int count) {
    return heed_input_ids(b->t, list, 1, &count);
}

/* Pixels of patches 1 and 4, which are hidden, change nothing; those of patch 0 do. */
TEST(masked_encoder_does_not_see_hidden_patches) {
    built b = build(&heed_model_autoencoder, NULL, MASKED);
    heed_real x[PIXEL_COUNT], y[3][PIXEL_COUNT];
    const int32_t hidden[2][2] = {{1, 4}, {4, 1}};
    shake(b.s);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < PIXEL_COUNT; i++) x[i] = (heed_real)(i % 7) / 7;
        if (k == 1) x[2] = x[2 * 6 + 3] = 9; /* in patch 1 and in patch 4 */
        if (k == 3) x[0] = 9;
        heed_tape_begin(b.t, HEED_EVAL, 0);
        const heed_tensor *made =
            logits_of(&b, (heed_model_input){.x = picture(&b, x, 1),
                                             .masked_positions = hide(&b, hidden[k == 2], 2)});
        CHECK(made && made->size == PIXEL_COUNT);
        if (!made) break;
        if (k < 3) memcpy(y[k], made->x, sizeof y[k]);
        if (k == 1 || k == 2) CHECK(memcmp(y[0], y[k], sizeof y[0]) == 0);
        if (k == 3) CHECK(apart(y[0], made->x, PIXEL_COUNT) > 1e-3);
    }
    DISCARD(b);
}

/* With nothing hidden the encoder is a vit's, and [CLS] after it the code. */
TEST(masked_encoder_is_that_of_a_vit) {
    built a = build(&heed_model_autoencoder, NULL, MASKED),
          v = build(&heed_model_vit, NULL,
                    "image-size=6 channels=1 classes=3 patch=2 width=8 layers=1 heads=2 ff=16 "
                    "init-std=0.5");
    int shared = 0;
    heed_real x[PIXEL_COUNT];
    for (int i = 0; i < heed_params_count(v.s); i++) {
        const heed_param *e = heed_params_at(v.s, i), *own = heed_params_find(a.s, e->name);
        if (strncmp(e->name, "head.", 5) == 0) continue;
        CHECK(own && heed__same_shape(own->tensor, e->tensor) && own->decay == e->decay);
        if (own) memcpy(e->tensor->x, own->tensor->x, own->tensor->size * sizeof(heed_real));
        shared++;
    }
    for (int i = 0; i < heed_params_count(a.s); i++) {
        const char *name = heed_params_at(a.s, i)->name;
        if (strncmp(name, "decoder.", 8) != 0) shared--;
    }
    CHECK(shared == 0);
    for (int i = 0; i < PIXEL_COUNT; i++) x[i] = (heed_real)(i % 7) / 7;
    heed_tape_begin(a.t, HEED_EVAL, 0);
    heed_tape_begin(v.t, HEED_EVAL, 0);
    const heed_tensor *z = a.model->code(a.self, a.t, &(heed_model_input){.x = picture(&a, x, 1)}),
                      *w = v.model->code(v.self, v.t, &(heed_model_input){.x = picture(&v, x, 1)});
    CHECK(z && w && z->size == 8 && memcmp(z->x, w->x, 8 * sizeof *z->x) == 0);
    DISCARD(v);
    DISCARD(a);
}

/* The loss is the mean over the pixels of hidden patches, of pixels from 0 to 1. */
TEST(masked_loss_is_that_of_the_hidden_patches) {
    enum { ROWS_HERE = 3, HIDDEN = 7 };
    for (int norm = 0; norm < 2; norm++) {
        built b = build(&heed_model_autoencoder, NULL, norm ? MASKED " norm-target=true" : MASKED);
        heed_real x[ROWS_HERE * PIXEL_COUNT];
        int32_t list[ROWS_HERE * HIDDEN];
        heed_score score = {0};
        heed_grid g;
        shake(b.s);
        for (int i = 0; i < ROWS_HERE * PIXEL_COUNT; i++) x[i] = (heed_real)sin(i);
        heed_batch batch = {.rows = ROWS_HERE, .len = PIXEL_COUNT, .x = x};
        CHECK(b.model->grid(b.self, &g) && g.hidden == HIDDEN && g.first == 1);
        heed_tape_begin(b.t, HEED_EVAL, 0);
        const heed_tensor *loss = b.model->loss(b.self, b.t, &batch);
        b.model->metrics(b.self, &batch, &score);
        CHECK(loss && score.pixels == ROWS_HERE * HIDDEN * 4 && score.weight == ROWS_HERE);
        double error = 0;
        for (int r = 0; r < ROWS_HERE; r++) {
            heed_masked_patches(b.c, (heed_batch_at){.rows = 0}, r, PATCH_COUNT, HIDDEN,
                                list + r * HIDDEN);
            for (int i = 0; i < HIDDEN; i++) list[r * HIDDEN + i] += r * PATCH_COUNT;
        }
        const double found = loss ? (double)loss->x[0] : NAN;
        const heed_tensor *y = logits_of(
            &b, (heed_model_input){.x = picture(&b, x, ROWS_HERE),
                                   .masked_positions = hide(&b, list, ROWS_HERE * HIDDEN)});
        for (int i = 0; y && i < ROWS_HERE * HIDDEN; i++)
            for (int p = 0; p < 4; p++) {
                int patch = list[i] % PATCH_COUNT, row = list[i] / PATCH_COUNT;
                int at = row * PIXEL_COUNT + (patch / 3 * 2 + p / 2) * 6 + patch % 3 * 2 + p % 2;
                error += pow((double)(y->x[at] - x[at]), 2);
            }
        CHECK_CLOSE(score.squares, error, 1e-5 * error);
        if (!norm) CHECK_CLOSE(found, error / score.pixels, 1e-5 * found);
        if (norm) CHECK(fabs(found - error / score.pixels) > 1e-3 * found);
        DISCARD(b);
    }
}

TEST(masked_refuses_wrong_masks_and_settings) {
    static const int32_t masks[][4] = {{0, 1, 9, 9}, {0, 0, 9, 10}, {-1, 1, 9, 10}, {0, 1, 8, 10}};
    heed_real x[2 * PIXEL_COUNT] = {0};
    built b = build(&heed_model_autoencoder, NULL, MASKED);
    for (int k = 0; k < 5; k++) {
        heed_tape_begin(b.t, HEED_EVAL, 0);
        heed_tensor *mask = hide(&b, masks[k % 4], k == 4 ? 3 : 4);
        CHECK(!logits_of(&b, (heed_model_input){.x = picture(&b, x, 2), .masked_positions = mask}));
        CHECK_HAS(heed_ctx_error(b.c), "hidden patches are wrong");
        heed_clear(b.c);
    }
    DISCARD(b);
    static const char *const settings[][2] = {
        {"image-size=6 channels=1 kind=masked patch=6", "at least 2 patches"},
        {"image-size=6 channels=1 kind=masked patch=2 positions=rotary", "rotary"},
        {"image-size=6 channels=1 kind=masked patch=4", "patches do not divide"},
        {"kind=dense", "size of the model is wrong"}};
    for (int k = 0; k < 4; k++) {
        b = build(&heed_model_autoencoder, NULL, settings[k][0]);
        CHECK(heed_ctx_status(b.c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(b.c), settings[k][1]);
        heed_clear(b.c);
        DISCARD(b);
    }
}

/* ---- pictures without classes ---- */

static void check_unlabelled(heed_ctx *c, const char *path, size_t train, size_t test) {
    heed_images *k =
        heed__images_open(c, path, &(heed__images_args){.unlabelled = true, .size = SIDE});
    const heed_images_info *a = heed_images_about(k);
    CHECK(a && a->classes == 1 && a->count[HEED_TRAIN_PART] == train);
    CHECK(a && a->count[HEED_TEST_PART] == test);
    if (a) CHECK_TEXT(a->labels[0], HEED_UNLABELLED);
    heed__images_close(k);
}

TEST_IN(pictures_need_no_classes, open_images_ctx()) {
    put_class("flat", 4, 0);
    put_class("flat/more", 2, 50);
    check_unlabelled(c, in_folder("flat"), 6, 0);
    put_class("parts/train", 5, 0);
    put_class("parts/test", 3, 100);
    check_unlabelled(c, in_folder("parts"), 5, 3);
    check_unlabelled(c, text_file("list.csv", "path\nflat/000.png\nflat/001.png\n"), 2, 0);
    make_folder("empty");
    CHECK_FAILS(c,
                heed__images_open(c, in_folder("empty"), &(heed__images_args){.unlabelled = true}),
                HEED_DATA, "no pictures");
    CHECK_FAILS(c, heed__images_open(c, in_folder("flat"), &(heed__images_args){.size = SIDE}),
                HEED_DATA, "too few classes");
    put_class("named/cat", 2, 0);
    heed_images *k =
        heed__images_open(c, in_folder("named"), &(heed__images_args){.unlabelled = true});
    CHECK(k && heed_images_about(k)->classes == 1);
    if (k) CHECK_TEXT(heed_images_about(k)->labels[0], "cat");
}

TEST_IN(idx_pictures_need_no_labels, open_images_ctx()) {
    put_idx_images("train-images-idx3-ubyte", false, 20);
    put_idx_images("t10k-images-idx3-ubyte", true, 10);
    check_unlabelled(c, test_folder(), 20, 10);
    CHECK_FAILS(c, heed__images_open(c, test_folder(), &(heed__images_args){0}), HEED_DATA,
                "not complete");
    put_idx_labels("train-labels-idx1-ubyte", false, 20);
    heed_images *k = heed__images_open(c, test_folder(), &(heed__images_args){.unlabelled = true});
    CHECK(k && heed_images_about(k)->classes == 5); /* four digits, and the test pictures */
}

/* ---- a picture, and a data set ---- */

typedef struct {
    heed_run run;
    heed_data *data;
} bench;

static void open_bench(bench *b, const heed_model *m, const char *settings) {
    *b = (bench){.run = {.model = m, .step = -1}};
    heed_run *r = &b->run;
    put_class("pictures/cat", 12, 0);
    put_class("pictures/dog", 12, 60);
    r->c = heed_open(&(heed_options){.seed = 4, .threads = 1});
    r->config = heed_train_config(r->c, m);
    heed_config_set(r->config, "data", in_folder("pictures"), "test", HEED_FROM_FLAG);
    heed_config_set_list(r->config, "val-split=0.25 workers=0", "test", HEED_FROM_FLAG);
    heed_config_set_list(r->config, settings, "test", HEED_FROM_FLAG);
    b->data = heed_data_open(r->c, r->config, heed_model_data(m), NULL);
    r->store = heed_params_new(r->c);
    r->tape = heed_tape_new(r->c);
    r->self = calloc(1, m->size);
    CHECK(b->data && heed_model_init(m, r->self, r->store, r->config));
    shake(r->store);
}

static void close_bench(bench *b) {
    heed_data_close(b->data);
    free(b->run.self);
    CLOSE(b->run.c);
}

/* The error of a data set is the mean of those of its pictures, each with its hidden patches. */
static void check_errors(const char *settings, int hidden) {
    bench b;
    heed_batch batch;
    open_bench(&b, &heed_model_autoencoder, settings);
    heed_run *r = &b.run;
    heed_score all = evaluate_all(r->tape, r->model, r->self, b.data, 4);
    double sum = 0;
    for (uint64_t i = 0; i < 6; i++) {
        heed_reconstruction one;
        CHECK(heed__image_batch(b.data->batches,
                                (heed_batch_at){.val = true, .index = i, .rows = 1}, &batch));
        CHECK(heed_reconstruct_at(r, batch.x, i, &one));
        CHECK(one.size == SIDE && one.channels == 1 && one.hidden == hidden);
        int grey = 0, same = 0;
        for (int p = 0; one.pixels[0] && p < PIXELS; p++) {
            grey += one.pixels[HEED_SHOWN_SEEN][p] != one.pixels[HEED_SHOWN_INPUT][p];
            same += one.pixels[HEED_SHOWN_OFF][p] == 0;
        }
        CHECK(grey <= 4 * hidden && (grey > 0) == (hidden > 0));
        CHECK(same >= PIXELS - 4 * (hidden ? hidden : 9));
        sum += one.error;
        heed_reconstruction_free(&one);
    }
    CHECK(all.pixels > 0);
    CHECK_CLOSE(sum / 6, all.squares / all.pixels, 1e-5 * sum);
    close_bench(&b);
}

TEST(reconstruction_of_a_code) { check_errors("code=3 hidden=8 depth=1", 0); }

TEST(reconstruction_of_hidden_patches) {
    check_errors("kind=masked patch=2 width=8 layers=1 heads=2 init-std=0.3", 7);
}

TEST(codes_of_a_part_and_models_without_pictures) {
    bench b;
    heed_codes k;
    open_bench(&b, &heed_model_autoencoder, "code=3 hidden=8 depth=1");
    CHECK(heed_codes_read(&b.run, b.data->batches, HEED_TRAIN_PART, 4, &k));
    CHECK(k.count == 18 && k.width == 3 && k.label[0] >= 0 && k.label[17] <= 1);
    heed_codes_free(&k);
    heed_reconstruction one;
    b.run.model = &heed_model_gpt;
    CHECK(!heed_reconstruct_at(&b.run, (const heed_real[PIXELS]){0}, 0, &one));
    CHECK_HAS(heed_ctx_error(b.run.c), "does not predict pixels");
    heed_reconstruction_free(&one);
    heed_clear(b.run.c);
    close_bench(&b);
}
