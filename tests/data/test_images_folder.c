#define _DEFAULT_SOURCE /* symlink, mkfifo */
/* Sets of pictures in folders. */
#include "data/sets.h"
#include "images.h"

#include <unistd.h>

static heed_images *open_here(heed_ctx *c, heed__images_args a) {
    return heed__images_open(c, test_folder(), &a);
}

static size_t total(const heed_images *k) {
    const heed_images_info *f = heed_images_about(k);
    return f ? f->count[HEED_TRAIN_PART] + f->count[HEED_VAL_PART] + f->count[HEED_TEST_PART] : 0;
}

TEST_IN(images_folder_has_parts, open_images_ctx()) {
    put_class("train/b", 3, 0);
    put_class("train/a", 4, 10);
    put_class("train/B", 2, 20);
    put_class("valid/a", 1, 30);
    put_class("valid/b", 2, 40);
    put_class("test/B", 5, 50);
    put_class("train/.hidden", 1, 60);
    put_class("other/z", 1, 70);
    text_file("train/a/notes.txt", "no picture");
    text_file("train/a/.001.png", "hidden");
    text_file("train/readme", "no class");
    heed_images *k = open_here(c, (heed__images_args){.val_split = 0.5});
    const heed_images_info *f = heed_images_about(k);
    CHECK(f && f->classes == 3 && f->bad == 0 && f->view.channels == 1 && f->view.size == SIDE);
    if (f) {
        CHECK_TEXT(f->kind, "folder");
        CHECK_TEXT(f->labels[0], "B");
        CHECK_TEXT(f->labels[1], "a");
        CHECK_TEXT(f->labels[2], "b");
        CHECK(f->count[HEED_TRAIN_PART] == 9 && f->count[HEED_VAL_PART] == 3);
        CHECK(f->count[HEED_TEST_PART] == 5 && heed__images_count(k, HEED_TRAIN_PART, 1) == 4);
        CHECK(heed__images_count(k, HEED_TEST_PART, 0) == 5);
        CHECK(heed__images_count(k, HEED_TEST_PART, -1) == 5);
    }
    heed_picture p = {0};
    const char *name = NULL;
    int label = 0;
    CHECK(heed_images_get(k, HEED_VAL_PART, 2, &p, &label, &name) && label == 2);
    CHECK(p.pixels && p.pixels[0] == 41 && p.pixels[1] == pixel_of(41, 1));
    CHECK_HAS(name, "valid/b/001.png");
    heed_picture_free(&p);
    k = open_here(c, (heed__images_args){.no_test = true});
    CHECK(k && heed_images_about(k)->count[HEED_TEST_PART] == 0);
    CHECK(!heed_images_get(k, HEED_TEST_PART, 0, &p, NULL, NULL));
    heed_clear(c);
}

TEST_IN(images_folder_classes_that_are_numbers_have_their_order, open_images_ctx()) {
    static const char *const order[] = {"0", "2", "10", "100"};
    for (int i = 3; i >= 0; i--) put_class(order[i], 2, 10 * i);
    heed_images *k = open_here(c, (heed__images_args){.val_split = 0.5});
    for (int i = 0; k && i < 4; i++) CHECK_TEXT(heed_images_about(k)->labels[i], order[i]);
    CHECK(k != NULL);
}

TEST(images_folder_split_is_stratified_and_seeded) {
    int chosen[2][60] = {{0}};
    put_class("a", 40, 0);
    put_class("b", 19, 40);
    put_class("c", 1, 59);
    for (uint64_t seed = 0; seed < 2; seed++) {
        heed_ctx *c = heed_open(&(heed_options){.seed = seed, .threads = 1});
        heed_images *k = open_here(c, (heed__images_args){.val_split = 0.2});
        CHECK(k && heed__images_count(k, HEED_VAL_PART, 0) == 8);
        CHECK(k && heed__images_count(k, HEED_VAL_PART, 1) == 4);
        CHECK(k && heed__images_count(k, HEED_VAL_PART, 2) == 0);
        for (int part = 0; part < 2; part++)
            for (size_t i = 0; i < heed__images_count(k, (heed_part)part, -1); i++) {
                heed_picture p = {0};
                CHECK(heed_images_get(k, (heed_part)part, i, &p, NULL, NULL));
                if (p.pixels) chosen[seed][p.pixels[0]] += part ? 100 : 1;
                heed_picture_free(&p);
            }
        CLOSE(c);
    }
    for (int i = 0; i < 60; i++) CHECK(chosen[0][i] == 1 || chosen[0][i] == 100);
    CHECK(memcmp(chosen[0], chosen[1], sizeof chosen[0]) != 0);
}

TEST_IN(images_folder_refuses_what_makes_no_classes, open_images_ctx()) {
    heed__images_args a = {0};
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "expected a folder for each class");
    CHECK_FAILS(c, heed__images_open(c, in_folder("none"), &a), HEED_DATA, "No such file");
    put_class("cats", 2, 0);
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "expected at least 2, found 1, cats");
    CHECK_FAILS(c, heed__images_open(c, in_folder("cats/000.png"), &a), HEED_DATA, "CSV file");
    CHECK_FAILS(c, heed__images_open(c, in_folder("cats/"), &a), HEED_DATA,
                "name the folder above, \"/");
    make_folder("dogs");
    text_file("dogs/000.txt", "no picture");
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "class \"dogs\" has no pictures");
    put_png("dogs/1.PNG", SIDE, SIDE, 1, 9);
    CHECK(open_here(c, a));
    put_class("a\nb", 1, 0);
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "holds a control character");
    rename(in_folder("a\nb"), in_folder("caf\xE9"));
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "is not UTF-8");
}

TEST_IN(images_folder_classes_of_parts_must_agree, open_images_ctx()) {
    put_class("train/cats", 2, 0);
    put_class("train/dogs", 2, 0);
    put_class("test/birds", 2, 0);
    heed__images_args a = {0};
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "\"birds\" of the test part is not in the training");
    a.no_test = true;
    CHECK(open_here(c, a));
    a.no_test = false;
    rename(in_folder("test"), in_folder("val"));
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "\"birds\" of the validation part");
    put_class("valid/cats", 1, 0);
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "found both");
}

TEST_IN(images_folder_labels_of_a_run, open_images_ctx()) {
    const char *const labels[] = {"dogs", "birds", "cats"};
    heed__images_args a = {.labels = labels, .label_count = 3, .deviation = {1}, .channels = 1};
    put_class("test/cats", 2, 0);
    put_class("test/dogs", 3, 0);
    heed_images *k = open_here(c, a);
    const heed_images_info *f = heed_images_about(k);
    CHECK(f && f->classes == 3 && f->count[HEED_TRAIN_PART] == 0 && f->count[HEED_TEST_PART] == 5);
    CHECK(heed__images_count(k, HEED_TEST_PART, 0) == 3);
    CHECK(heed__images_count(k, HEED_TEST_PART, 1) == 0);
    CHECK(heed__images_count(k, HEED_TEST_PART, 2) == 2);
    heed_batch b;
    CHECK_FAILS(c, heed__image_batch(k, (heed_batch_at){.val = true, .rows = 8}, &b), HEED_USAGE,
                "neither a validation");
    heed_images_set_eval_part(k, HEED_TEST_PART);
    CHECK(heed__image_batch(k, (heed_batch_at){.val = true, .rows = 8}, &b) && b.rows == 5);
    CHECK(b.labels && b.labels[0] == 2 && b.labels[4] == 0);
    CHECK_FAILS(c, heed__image_batch(k, (heed_batch_at){.rows = 8}, &b), HEED_USAGE, "no training");
    a.deviation[0] = 0;
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "mean and deviation");
    a.labels = NULL;
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "no training part");
    a.labels = labels;
    a.no_test = true;
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "no pictures");
    a.label_count = 2;
    a.no_test = false;
    CHECK_FAILS(c, open_here(c, a), HEED_DATA, "class \"cats\" is unknown");
}

TEST_IN(images_folder_called_train_may_be_a_class, open_images_ctx()) {
    heed__images_args a = {0};
    put_class("train", 2, 0);
    put_class("test", 2, 0);
    CHECK_FAILS(
        c, open_here(c, a), HEED_DATA,
        "/train: expected a folder for each class, found pictures and no folder; hint: put");
    put_class("plane", 2, 0);
    heed_images *k = open_here(c, a);
    CHECK(k && heed_images_about(k)->classes == 3 && total(k) == 6);
    put_class("train/cats", 3, 0); /* now it is a part; test without classes is left out */
    put_class("train/dogs", 3, 0);
    k = open_here(c, a);
    CHECK(k && heed_images_about(k)->classes == 2 && total(k) == 6);
}

static void count_warnings(void *user, heed_level level, const char *message) {
    *(int *)user += level == HEED_WARN && strstr(message, "is left out") != NULL;
}

TEST(images_folder_knows_parts_by_other_names) {
    static const char *const names[][3] = {{"train", "validation", "Test"},
                                           {"Training", "Dev", "TESTING"}};
    int warnings = 0;
    for (int i = 0; i < 2; i++) {
        heed_ctx *c = heed_open(
            &(heed_options){.seed = 7, .threads = 1, .log = count_warnings, .user = &warnings});
        char folder[64];
        for (int part = 0; part < 3; part++)
            for (int class = 0; class < 2; class ++) {
                snprintf(folder, sizeof folder, "%d/%s/%s", i, names[i][part], class ? "b" : "a");
                put_class(folder, 3 - part, 10 * part + class);
            }
        snprintf(folder, sizeof folder, "%s/%d", test_folder(), i);
        heed_images *k = heed__images_open(c, folder, &(heed__images_args){0});
        const heed_images_info *f = heed_images_about(k);
        CHECK(f && f->count[HEED_TRAIN_PART] == 6 && f->count[HEED_VAL_PART] == 4);
        CHECK(f && f->count[HEED_TEST_PART] == 2 && f->classes == 2);
        CHECK(warnings == 0);
        CLOSE(c);
    }
}

TEST(images_folder_tells_of_folders_that_are_no_parts) {
    int warnings = 0;
    heed_ctx *c = heed_open(
        &(heed_options){.seed = 7, .threads = 1, .log = count_warnings, .user = &warnings});
    put_class("train/a", 3, 0);
    put_class("train/b", 3, 10);
    put_class("holdout/a", 3, 20);
    heed_images *k = open_here(c, (heed__images_args){0});
    CHECK(k && total(k) == 6 && warnings == 1);
    rename(in_folder("train"), in_folder("seg_train"));
    rename(in_folder("holdout"), in_folder("Test-2017"));
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "called like parts");
    rename(in_folder("Test-2017"), in_folder("testament"));
    CHECK(open_here(c, (heed__images_args){0}) != NULL);
    CLOSE(c);
}

/* ---- pictures that cannot be read ---- */

TEST_IN(images_folder_skips_and_lists_bad_pictures, open_images_ctx()) {
    put_class("cats", 3, 0);
    put_class("dogs", 3, 10);
    text_file("cats/001.png", "no picture at all, this is");
    text_file("dogs/zero.png", "");
    CHECK(symlink("nothing", in_folder("dogs/link.jpg")) == 0);
    heed_images *k = open_here(c, (heed__images_args){0});
    const heed_images_info *f = heed_images_about(k);
    CHECK(f && f->bad == 3 && f->count[HEED_TRAIN_PART] == 5);
    const char *path, *why;
    CHECK(heed_images_bad(k, 0, &path, &why) && why && *why);
    CHECK_HAS(path, "cats/001.png");
    CHECK(heed_images_bad(k, 1, &path, &why));
    CHECK_HAS(path, "dogs/link.jpg");
    CHECK_TEXT(why, "there is no such file");
    CHECK(!heed_images_bad(k, 3, &path, &why));
    CHECK_FAILS(c, open_here(c, (heed__images_args){.strict = true}), HEED_DATA, "cats/001.png");
    text_file("cats/000.png", "neither");
    text_file("cats/002.png", "nor this");
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA,
                "class \"cats\" has no picture that can be read");
}

TEST_IN(images_folder_follows_links_and_no_pipes, open_images_ctx()) {
    put_class("cats", 2, 0);
    put_class("cats/young", 2, 10);
    put_class("dogs", 2, 20);
    CHECK(symlink("..", in_folder("cats/loop")) == 0);
    CHECK(symlink("/", in_folder("cats/young/root")) == 0);
    CHECK(symlink("../../dogs", in_folder("cats/young/friends")) == 0);
    CHECK(symlink(".", in_folder("dogs/self")) == 0);
    CHECK(symlink("other.png", in_folder("dogs/other.png")) == 0);
    CHECK(mkfifo(in_folder("dogs/pipe.png"), 0666) == 0);
    heed_images *k = open_here(c, (heed__images_args){0});
    /* the young ones' friends count, what lies above does not */
    CHECK(k && heed__images_count(k, HEED_TRAIN_PART, 0) == 6);
    CHECK(k && heed__images_count(k, HEED_TRAIN_PART, 1) == 2 && heed_images_about(k)->bad == 2);
}

TEST_IN(images_folder_of_links_into_a_store, open_images_ctx()) {
    put_class("store/cats", 2, 0);
    put_class("store/dogs", 3, 10);
    CHECK(symlink("..", in_folder("store/cats/up")) == 0);
    make_folder("view");
    CHECK(symlink("../store/cats", in_folder("view/x")) == 0);
    CHECK(symlink("../store/dogs", in_folder("view/y")) == 0);
    heed_images *k = heed__images_open(c, in_folder("view"), &(heed__images_args){0});
    CHECK(k && heed__images_count(k, HEED_TRAIN_PART, 0) == 2);
    CHECK(k && heed__images_count(k, HEED_TRAIN_PART, 1) == 3);
    CHECK(symlink("..", in_folder("view/z")) == 0);
    CHECK_FAILS(c, heed__images_open(c, in_folder("view"), &(heed__images_args){0}), HEED_DATA,
                "class \"z\" has no pictures");
}

TEST_IN(images_folder_unreadable, open_images_ctx()) {
    put_class("cats", 2, 0);
    put_class("dogs", 2, 0);
    CHECK(chmod(in_folder("dogs"), 0) == 0);
    if (getuid() != 0)
        CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "Permission denied");
    CHECK(chmod(in_folder("dogs"), 0777) == 0);
}

/* ---- channels and sizes ---- */

static void keep_message(void *user, heed_level level, const char *message) {
    if (level == HEED_INFO) snprintf(user, 256, "%s", message);
}

/* Says which pictures are converted and what to, once, unless `convert` says that it is known. */
TEST(images_folder_of_mixed_channels) {
    static const char *const notes[] = {
        "3 of 4 pictures are grey: converted to colour; hint: `channels = 1` converts the others",
        "1 of 4 pictures is in colour: converted to grey", NULL,
        "3 of 4 pictures are grey: converted to colour"};
    char note[256] = "";
    heed_ctx *c =
        heed_open(&(heed_options){.seed = 7, .threads = 1, .log = keep_message, .user = note});
    put_class("cats", 2, 0);
    put_class("dogs", 2, 0);
    put_png("dogs/001.png", SIDE, SIDE, 3, 5);
    heed__images_close(open_here(c, (heed__images_args){.convert = true}));
    CHECK_TEXT(note, "");
    for (int channels = 0; channels <= 3; channels++) {
        if (channels == 2) continue;
        heed_images *k = open_here(c, (heed__images_args){.channels = channels});
        const heed_images_info *f = heed_images_about(k);
        int expected = channels ? channels : 3;
        CHECK_HAS(note, notes[channels]);
        CHECK(f && f->converted == (expected == 1 ? 1 : 3));
        double sum = 0;
        for (size_t i = 0; f && i < total(k); i++) {
            heed_picture p = {0};
            CHECK(heed_images_get(k, HEED_TRAIN_PART, i, &p, NULL, NULL));
            CHECK(p.channels == expected);
            for (int j = 0; p.pixels && j < PIXELS; j++) sum += p.pixels[j * expected] / 255.0;
            heed_picture_free(&p);
        }
        CHECK(f && f->view.channels == expected);
        if (f) CHECK_CLOSE(f->view.mean[expected - 1], sum / 4 / PIXELS, 1e-12);
    }
    CHECK_FAILS(c, open_here(c, (heed__images_args){.channels = 2}), HEED_USAGE, "channels");
    CLOSE(c);
}

TEST_IN(images_folder_of_odd_sizes, open_images_ctx()) {
    put_class("cats", 2, 0);
    put_class("dogs", 1, 0);
    put_png("dogs/001.png", 9, 12, 1, 5);
    heed_images *k = open_here(c, (heed__images_args){.size = 4});
    const heed_images_info *f = heed_images_about(k);
    CHECK(f && !f->sized && f->low_width == SIDE && f->high_width == 9 && f->high_height == 12);
    heed_batch b;
    CHECK(heed__image_batch(k, (heed_batch_at){.rows = 3}, &b) && b.len == 16);
    CHECK_FAILS(c, open_here(c, (heed__images_args){.size = -1}), HEED_USAGE, "size");
    CHECK_FAILS(c, open_here(c, (heed__images_args){.size = 5000}), HEED_USAGE, "size");
}

/* Pictures that differ in size are read in the median of their short sides, at most 64. */
TEST(images_folder_chooses_size) {
    static const int sides[][2] = {{9, 8}, {12, 12}, {15, 12}, {40, 40}, {79, 64}, {100, 64}};
    make_folder("cats");
    make_folder("dogs");
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        heed_ctx *c = open_images_ctx();
        put_png("cats/1.png", 8, 10, 1, 5);
        put_png("cats/2.png", sides[i][0] + 5, sides[i][0], 1, 6);
        put_png("dogs/1.png", 111, 110, 1, 7);
        text_file("dogs/a.txt", "no picture");
        text_file("dogs/b.txt", "nor this");
        heed_images *k = open_here(c, (heed__images_args){0});
        const heed_images_info *f = heed_images_about(k);
        CHECK(f && f->sized && f->view.size == sides[i][1]);
        CHECK(f && f->others == 2);
        if (f) CHECK_HAS(f->other, "dogs/a.txt");
        heed__images_close(k);
        k = open_here(c, (heed__images_args){.resize_to = 9});
        CHECK(k && heed_images_about(k)->view.size <= 9);
        CLOSE(c);
    }
}

/* Pictures of one size, too, are read no larger than they are resized to. */
TEST_IN(images_folder_resizes_before_it_crops, open_images_ctx()) {
    put_class("cats", 2, 0);
    put_class("dogs", 2, 10);
    heed_images *k = open_here(c, (heed__images_args){.resize_to = SIDE - 1});
    CHECK(k && heed_images_about(k)->view.size == SIDE - 1);
}

/* The checksum is of what training and validation hold, wherever the folder lies. */
TEST_IN(images_folder_checksum, open_images_ctx()) {
    put_class("train/cats", 2, 0);
    put_class("train/dogs", 2, 10);
    put_class("test/dogs", 2, 20);
    heed__images_args a = {.val_split = 0.5};
    uint64_t first = heed_images_about(open_here(c, a))->checksum;
    put_png("test/dogs/000.png", SIDE, SIDE, 1, 99);
    CHECK(heed_images_about(open_here(c, a))->checksum == first);
    put_png("train/dogs/000.png", SIDE, SIDE, 1, 99);
    CHECK(heed_images_about(open_here(c, a))->checksum != first);
    put_png("train/dogs/000.png", SIDE, SIDE, 1, 10);
    CHECK(heed_images_about(open_here(c, a))->checksum == first);
    rename(in_folder("train/dogs/000.png"), in_folder("train/cats/002.png"));
    CHECK(heed_images_about(open_here(c, a))->checksum != first);
}

TEST_IN(images_folder_overlap, open_images_ctx()) {
    put_class("train/cats", 5, 0);
    put_class("train/dogs", 5, 10);
    put_class("val/cats", 4, 3);  /* two of them are the training part's */
    put_class("test/dogs", 9, 8); /* five are */
    heed_images *k = open_here(c, (heed__images_args){0});
    CHECK(k && heed_images_about(k)->overlap[HEED_VAL_PART] == 2);
    CHECK(k && heed_images_about(k)->overlap[HEED_TEST_PART] == 5);
    heed__duplicate twin = {0};
    CHECK(heed__images_duplicate(k, &twin) && twin.part == HEED_VAL_PART);
    heed_picture one = {0}, other = {0};
    CHECK(heed_images_get(k, twin.part, twin.index, &one, NULL, NULL));
    CHECK(heed_images_get(k, HEED_TRAIN_PART, twin.trained, &other, NULL, NULL));
    CHECK(one.pixels && other.pixels && memcmp(one.pixels, other.pixels, PIXELS) == 0);
    heed_picture_free(&one);
    heed_picture_free(&other);
}

TEST(images_open_with_threads_is_the_same) {
    put_class("cats", 50, 0);
    put_class("dogs", 60, 50);
    text_file("cats/001.png", "no picture");
    heed_images_info info[2];
    for (int i = 0; i < 2; i++) {
        heed_ctx *c = heed_open(&(heed_options){.threads = i ? 4 : 1});
        heed_images *k = open_here(c, (heed__images_args){.val_split = 0.1});
        CHECK(k != NULL);
        if (k) info[i] = *heed_images_about(k);
        info[i].labels = NULL;
        CLOSE(c);
    }
    CHECK(info[0].checksum == info[1].checksum && info[0].bad == 1 && info[1].bad == 1);
    CHECK(memcmp(&info[0].view, &info[1].view, sizeof info[0].view) == 0);
}
