#define _DEFAULT_SOURCE /* truncate */
/* Sets of pictures in IDX files. */
#include "data/sets.h"
#include "images.h"

#include <unistd.h>

static heed_images *open_here(heed_ctx *c, heed__images_args a) {
    return heed__images_open(c, test_folder(), &a);
}

TEST(images_idx_reads_plain_and_zipped) {
    uint64_t checksum[2] = {0, 1};
    for (int zipped = 0; zipped < 2; zipped++) {
        heed_ctx *c = open_images_ctx();
        if (zipped) unlink(in_folder("train-images-idx3-ubyte"));
        put_mnist(zipped, 40, 10);
        heed_images *k = open_here(c, (heed__images_args){.val_split = 0.25});
        const heed_images_info *f = heed_images_about(k);
        CHECK(f && f->classes == 4 && f->view.size == SIDE && f->view.channels == 1);
        if (!f) break;
        CHECK_TEXT(f->kind, "idx");
        CHECK_TEXT(f->labels[3], "3");
        CHECK(f->count[HEED_TRAIN_PART] == 28 && f->count[HEED_VAL_PART] == 12);
        CHECK(f->count[HEED_TEST_PART] == 10 && f->bad == 0);
        for (int label = 0; label < 4; label++)
            CHECK(heed__images_count(k, HEED_VAL_PART, label) == 3);
        heed_picture p;
        int label;
        const char *name;
        CHECK(heed_images_get(k, HEED_TEST_PART, 7, &p, &label, &name) && label == 7 % 4);
        CHECK_TEXT(name, "test 7");
        CHECK(p.pixels && p.width == SIDE && p.pixels[SIDE + 1] == pixel_of(7, SIDE + 1));
        checksum[zipped] = f->checksum;
        heed_picture_free(&p);
        CLOSE(c);
    }
    CHECK(checksum[0] == checksum[1]);
}

static void rename_file(const char *from, const char *to) {
    char old[300];
    snprintf(old, sizeof old, "%s", in_folder(from));
    CHECK(rename(old, in_folder(to)) == 0);
}

/* EMNIST: its names, and pictures whose rows and columns are exchanged. */
TEST_IN(images_idx_of_emnist, open_images_ctx()) {
    static const char *const forms[] = {"images-idx3-ubyte", "labels-idx1-ubyte"};
    for (int zipped = 0; zipped < 2; zipped++) {
        put_mnist(zipped, 40, 10);
        for (int i = 0; i < 4; i++) {
            const char *form = forms[i & 1], *end = zipped ? ".gz" : "";
            char from[64], to[64];
            snprintf(from, sizeof from, "%s-%s%s", i < 2 ? "train" : "t10k", form, end);
            snprintf(to, sizeof to, "emnist-letters-%s-%s%s", i < 2 ? "train" : "test", form, end);
            rename_file(from, to);
        }
        heed_images *k = open_here(c, (heed__images_args){0});
        const heed_images_info *f = heed_images_about(k);
        CHECK(f && f->count[HEED_TRAIN_PART] == 40 && f->count[HEED_TEST_PART] == 10);
        heed_picture p = {0};
        CHECK(heed_images_get(k, HEED_TEST_PART, 7, &p, NULL, NULL));
        CHECK(p.pixels && p.pixels[2 * SIDE + 1] == pixel_of(7, 1 * SIDE + 2));
        heed_picture_free(&p);
        heed__images_close(k);
        put_mnist(zipped, 4, 2);
        CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "several sets");
        char command[200];
        snprintf(command, sizeof command, "rm -f '%s'/*ubyte*", test_folder());
        CHECK(system(command) == 0);
    }
}

/* Labels 0 to 3: of the digits' list the classes are 1, B, 3; the letters' list has both cases, and
 * no class 0, which the data has. */
TEST_IN(images_idx_of_emnist_with_letters, open_images_ctx()) {
    static const struct {
        const char *list, *names[4], *why;
    } cases[] = {{"0 49\n1 66 98\r\n2 51\n3 233\n", {"1", "B", "3", "\xC3\xA9"}, NULL},
                 {"1\t65\t97\n3 67 99", {"class 0", "A", "class 2", "C"}, NULL},
                 {"0 65\n1 65\n", {0}, "mapping.txt:2: expected a class above"},
                 {"0 65\n0 66\n", {0}, "mapping.txt:2: expected a class above"},
                 {"0 A\n", {0}, "mapping.txt:1: expected a class above"},
                 {"0 55296\n", {0}, "mapping.txt:1: expected a class above"},
                 {"4294967295 65\n", {0}, "mapping.txt:1: expected a class above"},
                 {"0 65\n1 66\n", {0}, "expected less than 2"}};
    put_mnist(false, 40, 10);
    for (int i = 0; i < 4; i++) {
        char from[64], to[64];
        const char *form = i & 1 ? "images-idx3-ubyte" : "labels-idx1-ubyte";
        snprintf(from, sizeof from, "%s-%s", i < 2 ? "train" : "t10k", form);
        snprintf(to, sizeof to, "emnist-x-%s-%s", i < 2 ? "train" : "test", form);
        rename_file(from, to);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_file("emnist-x-mapping.txt", cases[i].list);
        heed_images *k = open_here(c, (heed__images_args){0});
        const heed_images_info *f = heed_images_about(k);
        if (cases[i].why) CHECK_FAILS(c, k, HEED_DATA, cases[i].why);
        for (int label = 0; !cases[i].why && f && label < 4; label++)
            CHECK_TEXT(f->labels[label], cases[i].names[label]);
        CHECK(!k == !!cases[i].why);
        heed__images_close(k);
    }
}

TEST_IN(images_idx_labels_have_the_names_of_labels_txt, open_images_ctx()) {
    put_mnist(false, 40, 10);
    text_file("labels.txt", "shirt\nblue coat\nbag\nboot\nunused\n");
    const heed_images_info *f = heed_images_about(open_here(c, (heed__images_args){0}));
    CHECK(f && f->classes == 4);
    if (f) CHECK_TEXT(f->labels[1], "blue coat");
    text_file("labels.txt", "shirt\nbag\n");
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA,
                "expected less than 2, as the list of classes beside it ends, found 3");
    text_file("labels.txt", "7\n2\n1\n0\n4\n1\n"); /* the labels of pictures */
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA,
                "labels.txt:6: expected one that is in no earlier line, found 1; hint: rename");
    text_file("labels.txt", "shirt\n\nbag\nboot\n");
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "labels.txt:2: ");
    unlink(in_folder("labels.txt"));
}

TEST_IN(images_idx_without_a_test_part_and_unread_tests, open_images_ctx()) {
    put_mnist(false, 40, 10);
    text_file("t10k-images-idx3-ubyte", "damaged");
    heed_images *k = open_here(c, (heed__images_args){.no_test = true});
    CHECK(k && heed_images_about(k)->count[HEED_TEST_PART] == 0);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "t10k-images-idx3-ubyte");
    unlink(in_folder("t10k-images-idx3-ubyte"));
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "not complete");
    unlink(in_folder("t10k-labels-idx1-ubyte"));
    k = open_here(c, (heed__images_args){0});
    CHECK(k && heed_images_about(k)->count[HEED_TEST_PART] == 0);
    CHECK(k && heed__images_eval_batches(k, 8) == 5); /* over the training part */
}

TEST_IN(images_idx_normalises_by_the_training_part, open_images_ctx()) {
    put_mnist(false, 40, 10);
    heed_images *k = open_here(c, (heed__images_args){.val_split = 0.25});
    double sum = 0, square = 0, n = 28 * PIXELS;
    for (size_t i = 0; i < 28; i++) {
        heed_picture p;
        CHECK(heed_images_get(k, HEED_TRAIN_PART, i, &p, NULL, NULL));
        for (int j = 0; p.pixels && j < PIXELS; j++) {
            sum += p.pixels[j] / 255.0;
            square += p.pixels[j] / 255.0 * (p.pixels[j] / 255.0);
        }
        heed_picture_free(&p);
    }
    const heed_image_transform *v = &heed_images_about(k)->view;
    CHECK_CLOSE(v->mean[0], sum / n, 1e-12);
    CHECK_CLOSE(v->deviation[0], sqrt(square / n - sum / n * (sum / n)), 1e-12);
    k = open_here(c, (heed__images_args){.mean = {0.25}, .deviation = {2}, .channels = 1});
    CHECK(k && heed_images_about(k)->view.mean[0] == 0.25);
    CHECK(k && heed_images_about(k)->view.deviation[0] == 2);
}

/* Grey pictures for training and coloured ones for the test become one kind, in memory of their
 * own. */
TEST_IN(images_idx_converts_parts_of_other_channels, open_images_ctx()) {
    unsigned char bytes[20 + 2 * PIXELS * 3] = {0, 0,    8, 4, 0, 0,    0, 2, 0, 0,
                                                0, SIDE, 0, 0, 0, SIDE, 0, 0, 0, 3};
    for (int i = 0; i < 2 * PIXELS * 3; i++) bytes[20 + i] = (unsigned char)(100 + i % 3);
    put_mnist(false, 40, 2);
    put_file(in_folder("t10k-images-idx3-ubyte"), bytes, sizeof bytes);
    for (int channels = 0; channels <= 3; channels += channels + 1) { /* 0, 1, 3 */
        heed_images *k = open_here(c, (heed__images_args){.channels = channels});
        heed_picture grey = {0}, colour = {0};
        int wanted = channels ? channels : 3;
        CHECK(heed_images_get(k, HEED_TRAIN_PART, 5, &grey, NULL, NULL));
        CHECK(heed_images_get(k, HEED_TEST_PART, 1, &colour, NULL, NULL));
        CHECK(grey.pixels && grey.channels == wanted && grey.pixels[wanted - 1] == 5);
        CHECK(colour.pixels && colour.channels == wanted &&
              colour.pixels[0] == 100 + (wanted == 1));
        heed_picture_free(&grey);
        heed_picture_free(&colour);
        heed__images_close(k);
    }
}

/* ---- types ---- */

/* Two pictures of 1 x 1 and their labels, of any type; values as they lie in the file. */
static void put_pixels(int type, int width, const char *a, const char *b) {
    unsigned char bytes[64] = {0, 0, (unsigned char)type, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(bytes + 16, a, (size_t)width);
    memcpy(bytes + 16 + width, b, (size_t)width);
    put_file(in_folder("train-images-idx3-ubyte"), bytes, 16 + 2 * (size_t)width);
}

static void check_pixels(int type, int width, const char *a, const char *b, int x, int y) {
    heed_ctx *c = open_images_ctx();
    put_pixels(type, width, a, b);
    put_idx_labels("train-labels-idx1-ubyte", false, 2);
    heed_images *k = open_here(c, (heed__images_args){0});
    int expected[] = {x, y};
    for (size_t i = 0; i < 2; i++) {
        heed_picture p;
        CHECK(heed_images_get(k, HEED_TRAIN_PART, i, &p, NULL, NULL));
        if (p.pixels && p.pixels[0] != expected[i])
            test_fail(__FILE__, __LINE__, "type %d: pixel %zu is %d, expected %d", type, i,
                      p.pixels[0], expected[i]);
        heed_picture_free(&p);
    }
    CLOSE(c);
}

TEST(images_idx_pictures_of_every_type) {
    check_pixels(0x08, 1, "\x03", "\xFE", 3, 254);
    check_pixels(0x09, 1, "\x03", "\x7F", 3, 127);
    check_pixels(0x09, 1, "\x80", "\x7F", 0, 255);                             /* -128, 127 */
    check_pixels(0x0B, 2, "\x00\x07", "\x00\xFF", 7, 255);                     /* 7, 255 */
    check_pixels(0x0B, 2, "\x03\xE8", "\x07\xD0", 0, 255);                     /* 1000, 2000 */
    check_pixels(0x0C, 4, "\x00\x00\x00\x09", "\x00\x00\x00\xC8", 9, 200);     /* 9, 200 */
    check_pixels(0x0C, 4, "\xFF\xFF\xFF\xFE", "\x00\x00\x00\x02", 0, 255);     /* -2, 2 */
    check_pixels(0x0D, 4, "\x3F\x00\x00\x00", "\x3F\x80\x00\x00", 128, 255);   /* 0.5, 1 */
    check_pixels(0x0D, 4, "\x40\x80\x00\x00", "\x43\x48\x00\x00", 4, 200);     /* 4, 200 */
    check_pixels(0x0E, 8, "\x3F\xE0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\0", 128, 0); /* 0.5, 0 */
    heed_ctx *c = open_images_ctx();
    put_pixels(0x0D, 4, "\x7F\xC0\0\0", "\0\0\0\0"); /* not a number */
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "finite");
    CLOSE(c);
}

TEST_IN(images_idx_scales_the_test_part_like_the_training_part, open_images_ctx()) {
    put_pixels(0x0B, 2, "\x00\x00", "\x07\xD0"); /* 0, 2000 */
    rename(in_folder("train-images-idx3-ubyte"), in_folder("t10k-images-idx3-ubyte"));
    put_pixels(0x0B, 2, "\x00\x00", "\x03\xE8"); /* 0, 1000 */
    put_idx_labels("train-labels-idx1-ubyte", false, 2);
    put_idx_labels("t10k-labels-idx1-ubyte", false, 2);
    put_pixels(0x0B, 2, "\x00\x00", "\x03\xE8");
    heed_images *k = open_here(c, (heed__images_args){0});
    heed_picture p = {0};
    CHECK(heed_images_get(k, HEED_TEST_PART, 1, &p, NULL, NULL) && p.pixels[0] == 255);
    heed_picture_free(&p);
}

TEST_IN(images_idx_labels_of_any_whole_number, open_images_ctx()) {
    put_pixels(0x08, 1, "\x03", "\xFE");
    put_file(in_folder("train-labels-idx1-ubyte"), "\0\0\x0C\x01\0\0\0\x02\0\0\x03\xE8\0\0\0\x14",
             16); /* 1000, 20 */
    heed_images *k = open_here(c, (heed__images_args){0});
    CHECK(k && heed_images_about(k)->classes == 2);
    if (k) CHECK_TEXT(heed_images_about(k)->labels[0], "20");
    if (k) CHECK_TEXT(heed_images_about(k)->labels[1], "1000");
    int label = 0;
    CHECK(heed_images_get(k, HEED_TRAIN_PART, 0, NULL, &label, NULL) && label == 1);
    put_file(in_folder("train-labels-idx1-ubyte"), "\0\0\x09\x01\0\0\0\x02\x01\xFF", 10);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "found -1 at picture 1");
    put_file(in_folder("train-labels-idx1-ubyte"), "\0\0\x0D\x01\0\0\0\x02\0\0\0\0\x40\x40\0\0",
             16); /* 0.0, 3.0 */
    k = open_here(c, (heed__images_args){0});
    if (k) CHECK_TEXT(heed_images_about(k)->labels[1], "3");
    put_file(in_folder("train-labels-idx1-ubyte"), "\0\0\x0D\x01\0\0\0\x02\0\0\0\0\x3F\0\0\0", 16);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "found 0.5 at picture 1");
    put_file(in_folder("train-labels-idx1-ubyte"), "\0\0\x0D\x01\0\0\0\x02\0\0\0\0\x7F\xC0\0\0",
             16);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "at picture 1");
}

/* ---- damage ---- */

static void check_damage(const void *bytes, size_t n, bool zipped, const char *why) {
    heed_ctx *c = open_images_ctx();
    put_mnist(false, 4, 4);
    unlink(in_folder("train-images-idx3-ubyte"));
    put_idx("train-images-idx3-ubyte", zipped, bytes, n);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, why);
    if (zipped) unlink(in_folder("train-images-idx3-ubyte.gz"));
    CLOSE(c);
}

TEST(images_idx_damage_is_told) {
    for (int zipped = 0; zipped < 2; zipped++) {
        check_damage("", 0, zipped, "IDX file is wrong");
        check_damage("hello, world", 12, zipped, "IDX file is wrong");
        check_damage("\0\0\x08\x03\0\0", 6, zipped, "an end");
        check_damage("\0\0\x07\x03\0\0\0\x04\0\0\0\x06\0\0\0\x06", 16, zipped, "a type");
        check_damage("\0\0\x08\xFF\0\0\0\x04\0\0\0\x06\0\0\0\x06", 16, zipped, "dimensions");
        check_damage("\0\0\x08\x03\0\0\0\x04\0\0\0\x06\0\0\0\x06....", 20, zipped, "160 bytes");
        check_damage("\0\0\x08\x01\0\0\0\x04....", 12, zipped, "(pictures, height, width)");
        check_damage("\0\0\x08\x03\0\0\0\0\0\0\0\x06\0\0\0\x06", 16, zipped, "none");
        check_damage("\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x01..", 18, zipped, "more than 17");
        check_damage("\0\0\x08\x03\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 16, zipped,
                     "fit in memory");
        check_damage("\0\0\x08\x03\0\x10\0\0\0\0\x10\0\0\0\x10\0", 16, zipped,
                     zipped ? "by gzip cannot hold" : "17592186044432");
    }
}

/* A header of one picture before a gigabyte of zeros: no more is unzipped than it says. */
TEST_IN(images_idx_bombs_are_bounded, open_images_ctx()) {
    put_mnist(false, 4, 4);
    unlink(in_folder("train-images-idx3-ubyte"));
    gzFile f = gzopen(in_folder("train-images-idx3-ubyte.gz"), "wb");
    gzwrite(f, "\0\0\x08\x03\0\0\0\x01\0\0\0\x06\0\0\0\x06", 16);
    static const char zeros[1 << 20];
    for (int i = 0; i < 64; i++) gzwrite(f, zeros, sizeof zeros);
    gzclose(f);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "found more than 52");
}

TEST(images_idx_truncated_gzip) {
    put_mnist(true, 40, 10);
    const char *path = in_folder("train-images-idx3-ubyte.gz");
    struct stat st;
    CHECK(stat(path, &st) == 0);
    for (off_t n = st.st_size - 1; n > 0; n -= st.st_size / 7) {
        heed_ctx *c = open_images_ctx();
        CHECK(truncate(path, n) == 0);
        CHECK(!open_here(c, (heed__images_args){0}));
        CHECK(heed_ctx_status(c) == HEED_DATA);
        heed_close(c);
    }
}

TEST_IN(images_idx_counts_must_agree, open_images_ctx()) {
    put_mnist(false, 40, 10);
    put_idx_labels("train-labels-idx1-ubyte", false, 39);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "expected 40 labels");
}
