/* Batches of pictures, and the threads that make them ahead. */
#include "core/os.h"
#include "data/sets.h"
#include "images.h"

#include <unistd.h>

static const heed__images_args plain = {.deviation = {1, 1, 1}};

static heed_images *open_here(heed_ctx *c, heed__images_args a) {
    return heed__images_open(c, test_folder(), &a);
}

TEST_IN(images_epoch_reads_every_picture_once, open_images_ctx()) {
    put_mnist(false, 40, 10);
    heed_images *k = open_here(c, plain);
    CHECK(heed__images_epoch_batches(k, 8) == 5 && heed__images_epoch_batches(k, 7) == 6);
    int order[2][40];
    for (uint64_t step = 0; step < 10; step++) {
        heed_batch b;
        CHECK(heed__image_batch(k, (heed_batch_at){.index = step, .rows = 8}, &b));
        CHECK(b.rows == 8 && b.len == PIXELS && b.items == 8 && !b.ids && !b.pad && b.x);
        for (int row = 0; b.x && row < 8; row++) {
            const heed_real *x = b.x + row * PIXELS;
            int which = made_as(x);
            CHECK(which >= 0 && which < 40 && b.labels[row] == which % 4);
            CHECK_CLOSE(x[PIXELS - 1] * 255, pixel_of(which, PIXELS - 1), 1e-3);
            order[step / 5][(int)(step % 5) * 8 + row] = which;
        }
    }
    for (int epoch = 0; epoch < 2; epoch++) {
        int seen[40] = {0};
        for (int i = 0; i < 40; i++) seen[order[epoch][i]]++;
        for (int i = 0; i < 40; i++) CHECK(seen[i] == 1);
    }
    CHECK(memcmp(order[0], order[1], sizeof order[0]) != 0);
}

/* The same pictures in the same order, however a step is cut into micro-batches. */
TEST_IN(images_micro_batches_share_a_step, open_images_ctx()) {
    put_mnist(false, 40, 10);
    heed_images *k = open_here(c, plain);
    heed_batch b;
    int whole[12];
    CHECK(heed__image_batch(k, (heed_batch_at){.index = 1, .rows = 12}, &b));
    for (int i = 0; b.x && i < 12; i++) whole[i] = made_as(b.x + i * PIXELS);
    for (uint32_t micro = 0; micro < 3; micro++) {
        heed_batch_at at = {.index = 1, .micro = micro, .micros = 3, .rows = 4};
        CHECK(heed__image_batch(k, at, &b));
        for (int i = 0; b.x && i < 4; i++)
            CHECK(made_as(b.x + i * PIXELS) == whole[(int)micro * 4 + i]);
    }
}

TEST_IN(images_evaluation_is_in_order, open_images_ctx()) {
    put_mnist(false, 40, 10);
    heed__images_args a = plain;
    a.augment = (heed_augment){.flip = 1, .pad = 3};
    heed_images *k = open_here(c, a);
    heed_batch b;
    CHECK(heed__images_eval_batches(k, 4) ==
          10); /* of training: the test part chooses nothing unasked */
    heed_images_set_eval_part(k, HEED_TEST_PART);
    CHECK(heed__images_eval_batches(k, 4) == 3);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(heed__image_batch(k, (heed_batch_at){.val = true, .index = i, .rows = 4}, &b));
        CHECK(b.rows == (i < 2 ? 4 : 2) && b.items == (size_t)b.rows);
        for (int row = 0; b.x && row < b.rows; row++)
            CHECK(made_as(b.x + row * PIXELS) == (int)i * 4 + row);
    }
    heed_batch_at beyond = {.val = true, .index = 3, .rows = 4};
    CHECK_FAILS(c, heed__image_batch(k, beyond, &b), HEED_USAGE, "expected less than 3");
    heed_images_set_eval_part(k, HEED_TRAIN_PART);
    CHECK(heed__images_eval_batches(k, 4) == 10);
    CHECK(heed__image_batch(k, (heed_batch_at){.val = true, .index = 9, .rows = 4}, &b));
    CHECK(b.x && made_as(b.x) == 36);
    CHECK_FAILS(c, (heed_images_set_eval_part(k, HEED_VAL_PART), false), HEED_USAGE, "no pictures");
    CHECK_FAILS(c, heed__image_batch(k, (heed_batch_at){.rows = 0}, &b), HEED_USAGE, "rows");
    CHECK_FAILS(c, heed__image_batch(k, (heed_batch_at){.rows = INT32_MAX}, &b), HEED_USAGE,
                "rows");
}

/* Pictures sorted by class: some batches of an evaluation are like all of them. */
TEST(images_evaluation_of_a_part_is_a_fair_sample) {
    char name[64];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "train/%c", 'a' + i);
        put_class(name, 2, 4 * i);
        snprintf(name, sizeof name, "val/%c", 'a' + i);
        put_class(name, 50, 50 * i);
    }
    heed_ctx *c = open_images_ctx();
    heed_images *k = open_here(c, plain);
    heed_batch b;
    int seen[200] = {0}, first[4] = {0}, again[8];
    for (uint64_t i = 0; i < 25; i++) {
        heed_batch_at at = {.val = true, .index = i, .rows = 8, .sample = true};
        CHECK(heed__image_batch(k, at, &b) && b.rows == 8);
        for (int row = 0; b.x && row < 8; row++) {
            int which = made_as(b.x + row * PIXELS);
            CHECK(which < 200 && b.labels[row] == which / 50);
            seen[which < 200 ? which : 0]++;
            first[b.labels[row]] += i < 4;
            if (i == 0) again[row] = which;
        }
    }
    for (int i = 0; i < 200; i++) CHECK(seen[i] == 1);
    for (int i = 0; i < 4; i++) CHECK(first[i] >= 3); /* of 32 */
    CHECK(heed__image_batch(k, (heed_batch_at){.val = true, .rows = 8, .sample = true}, &b));
    for (int row = 0; b.x && row < 8; row++) CHECK(made_as(b.x + row * PIXELS) == again[row]);
    CHECK(heed__image_batch(k, (heed_batch_at){.val = true, .rows = 8}, &b));
    for (int row = 0; b.x && row < 8; row++) CHECK(made_as(b.x + row * PIXELS) == row);
    CLOSE(c);
}

/* Flipped or not by (seed, epoch, index): not alike in two epochs, whatever the batch's size. */
TEST_IN(images_augmentation_depends_on_epoch_and_picture, open_images_ctx()) {
    put_mnist(false, 40, 10);
    heed__images_args a = plain;
    a.augment.flip = 0.5;
    heed_images *k = open_here(c, a);
    int flipped[2][2][40], count = 0;
    for (int size = 0; size < 2; size++)
        for (uint64_t step = 0; step < (size ? 20 : 10); step++) {
            heed_batch b;
            int rows = size ? 4 : 8;
            CHECK(heed__image_batch(k, (heed_batch_at){.index = step, .rows = rows}, &b));
            for (int row = 0; b.x && row < rows; row++) {
                const heed_real *x = b.x + row * PIXELS;
                int draw = (int)step * rows + row, label = b.labels[row];
                int right = made_as(x), left = made_as(x + SIDE - 1);
                bool whole = right < 40 && label == right % 4 &&
                             lround((double)x[1] * 255) == pixel_of(right, 1);
                flipped[size][draw / 40][whole ? right : left % 40] = !whole;
                count += !whole;
            }
        }
    CHECK(memcmp(flipped[0], flipped[1], sizeof flipped[0]) == 0);
    CHECK(memcmp(flipped[0][0], flipped[0][1], sizeof flipped[0][0]) != 0);
    CHECK(count > 40 && count < 120);
    CHECK_FAILS(c, (heed__images_augment(k, &a.augment), false), HEED_USAGE, "cannot change");
    k = open_here(c, plain);
    heed__images_augment(k, &(heed_augment){.flip = 1});
    heed_batch b;
    CHECK(heed__image_batch(k, (heed_batch_at){.rows = 1}, &b));
    CHECK(b.x && lround((double)b.x[SIDE - 2] * 255) == pixel_of(made_as(b.x + SIDE - 1), 1));
}

/* ---- workers ---- */

static uint64_t add_batch(heed_images *k, heed_batch_at at, uint64_t h) {
    heed_batch b;
    CHECK(heed__image_batch(k, at, &b));
    size_t n = b.x ? (size_t)b.rows * (size_t)b.len * sizeof *b.x : 0;
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)b.x)[i]) * 1099511628211u;
    for (int i = 0; n && i < b.rows; i++) h = (h ^ (uint64_t)b.labels[i]) * 1099511628211u;
    return h;
}

/* Training with evaluations between, jumps back and other sizes: what a run asks for, and more. */
static uint64_t walk(heed_images *k) {
    static const struct {
        bool val;
        int from, to, rows, micros;
    } legs[] = {{false, 0, 9, 8, 1}, {true, 0, 2, 8, 0}, {false, 9, 14, 8, 1}, {false, 3, 5, 8, 1},
                {false, 0, 4, 5, 3}, {true, 1, 2, 4, 0}, {false, 20, 26, 8, 2}};
    uint64_t h = 0;
    for (size_t leg = 0; leg < sizeof legs / sizeof *legs; leg++)
        for (int i = legs[leg].from; i < legs[leg].to; i++)
            for (int micro = 0; micro < (legs[leg].micros ? legs[leg].micros : 1); micro++) {
                heed_batch_at at = {.val = legs[leg].val,
                                    .index = (uint64_t)i,
                                    .micro = (uint32_t)micro,
                                    .micros = (uint32_t)legs[leg].micros,
                                    .rows = legs[leg].rows};
                h = add_batch(k, at, h);
            }
    return h;
}

TEST(images_workers_change_no_bit) {
    put_class("train/cats", 30, 0);
    put_class("train/dogs", 30, 30);
    put_class("val/cats", 7, 60);
    put_class("val/dogs", 6, 70);
    uint64_t first = 0;
    for (int i = 0; i < 6; i++) {
        static const int workers[] = {0, 1, 4};
        heed_ctx *c = heed_open(&(heed_options){.seed = 3, .threads = i % 2 ? 2 : 1});
        heed__images_args a = {.workers = workers[i / 2], .cache = i % 2 ? 20 * PIXELS : 0};
        a.augment = (heed_augment){.flip = 0.5, .pad = 2, .brightness = 0.2, .contrast = 0.2};
        heed_images *k = open_here(c, a);
        CHECK(k != NULL);
        uint64_t h = walk(k);
        if (!i) first = h;
        CHECK(h == first && walk(k) == h);
        CHECK(heed_images_waited(k) > 0);
        CLOSE(c);
    }
}

/* What the caller holds may be one of the next batches, while threads still fill the others: it
 * waits for some time, so that they are at various places. */
TEST(images_workers_serve_any_order) {
    static const uint64_t order[] = {7, 6, 5, 4, 3, 2, 1, 0, 2, 0, 1, 5, 3, 7, 5};
    enum { COUNT = sizeof order / sizeof *order };
    put_class("cats", 30, 0);
    put_class("dogs", 30, 30);
    uint64_t expected[8];
    for (int workers = 0; workers < 5; workers += 2) {
        heed_ctx *c = open_images_ctx();
        heed_images *k =
            open_here(c, (heed__images_args){.workers = workers, .size = 64, .cache = 1});
        for (uint64_t i = 0; !workers && i < 8; i++)
            expected[i] = add_batch(k, (heed_batch_at){.index = i, .rows = 9}, 0);
        for (int i = 0; i < 20 * COUNT; i++) {
            uint64_t index = order[i % COUNT];
            uint64_t sum = add_batch(k, (heed_batch_at){.index = index, .rows = 9}, 0);
            CHECK(sum == expected[index]);
            double start = heed__os_seconds(); /* at most 1.5 ms */
            while (workers && heed__os_seconds() - start < i * 37 % 1500 * 1e-6) {}
        }
        CLOSE(c);
    }
}

/* A picture that is not kept vanishes: the batch that needs it fails, others do not. */
TEST(images_workers_tell_of_lost_pictures) {
    for (int workers = 0; workers < 3; workers += 2) {
        if (!workers) put_class("cats", 10, 0);
        if (!workers) put_class("dogs", 10, 10);
        heed_ctx *c = open_images_ctx();
        heed_images *k = open_here(c, (heed__images_args){.workers = workers, .cache = 1});
        heed_batch b;
        CHECK(heed__image_batch(k, (heed_batch_at){.index = 0, .rows = 2}, &b));
        put_png("dogs/004.png", SIDE + workers, SIDE, 1, workers ? 14 : 15); /* size or pixels */
        int lost = 0;
        for (uint64_t step = 10; step < 20; step++) { /* the second epoch */
            if (heed__image_batch(k, (heed_batch_at){.index = step, .rows = 2}, &b)) continue;
            lost++;
            CHECK(heed_ctx_status(c) == HEED_DATA);
            CHECK_HAS(heed_ctx_error(c), "dogs/004.png: it has changed");
            heed_clear(c);
        }
        CHECK(lost == 1);
        put_png("dogs/004.png", SIDE, SIDE, 1, 14);
        for (uint64_t step = 10; step < 20; step++)
            CHECK(heed__image_batch(k, (heed_batch_at){.index = step, .rows = 2}, &b));
        CLOSE(c);
    }
}

TEST(images_close_with_workers_at_work) {
    put_mnist(false, 200, 10);
    for (int i = 0; i < 20; i++) {
        heed_ctx *c = open_images_ctx();
        heed_images *k = open_here(c, (heed__images_args){.workers = i % 5});
        heed_batch b;
        for (int step = 0; step < i / 5; step++)
            CHECK(heed__image_batch(k, (heed_batch_at){.index = (uint64_t)step, .rows = 64}, &b));
        if (i % 2) heed__images_close(k);
        CLOSE(c);
    }
}

TEST(images_accept_null) {
    heed_batch b;
    heed_picture p;
    CHECK(!heed__images_open(NULL, "x", &plain) && !heed_images_about(NULL));
    CHECK(!heed_images_bad(NULL, 0, NULL, NULL) &&
          heed__images_count(NULL, HEED_TRAIN_PART, 0) == 0);
    CHECK(!heed_images_get(NULL, HEED_TRAIN_PART, 0, &p, NULL, NULL));
    CHECK(!heed__image_batch(NULL, (heed_batch_at){.rows = 1}, &b) &&
          !heed__images_eval_batches(NULL, 1));
    CHECK(!heed__images_epoch_batches(NULL, 1) && heed_images_waited(NULL) == 0);
    CHECK(!heed__images_duplicate(NULL, NULL));
    heed_images_set_eval_part(NULL, HEED_TEST_PART);
    heed__images_close(NULL);
}
