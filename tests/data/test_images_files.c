/* Sets of pictures in CIFAR's files and in CSV lists. */
#include "data/sets.h"
#include "images.h"

#include <unistd.h>

static heed_images *open_here(heed_ctx *c, heed__images_args a) {
    return heed__images_open(c, test_folder(), &a);
}

/* ---- CIFAR ---- */

enum { CIFAR = 3072 };

/* Red is the record's number from `first` on, green twice that, blue 7. */
static void put_cifar(const char *name, int label_bytes, int count, int first, int classes) {
    size_t record = (size_t)label_bytes + CIFAR;
    unsigned char *bytes = calloc((size_t)count, record);
    for (int i = 0; i < count; i++) {
        unsigned char *p = bytes + (size_t)i * record;
        p[label_bytes - 1] = (unsigned char)(i % classes);
        memset(p + label_bytes, first + i, 1024);
        memset(p + label_bytes + 1024, 2 * (first + i), 1024);
        memset(p + label_bytes + 2048, 7, 1024);
        p[label_bytes + 33] = 255; /* red of row 1, column 1 */
    }
    put_file(in_folder(name), bytes, (size_t)count * record);
    free(bytes);
}

static void check_cifar(heed_ctx *c, const char *kind, int classes, size_t train, size_t test) {
    heed_images *k = open_here(c, (heed__images_args){0});
    const heed_images_info *f = heed_images_about(k);
    CHECK(f && f->classes == classes && f->view.size == 32 && f->view.channels == 3);
    if (!f) return;
    CHECK_TEXT(f->kind, kind);
    CHECK(f->count[HEED_TRAIN_PART] == train && f->count[HEED_TEST_PART] == test);
    heed_picture p = {0};
    int label;
    CHECK(heed_images_get(k, HEED_TRAIN_PART, train - 1, &p, &label, NULL));
    int last = (int)train - 1;
    CHECK(label == last % classes && p.pixels && p.pixels[0] == last % 100);
    CHECK(p.pixels && p.pixels[1] == 2 * (last % 100) && p.pixels[2] == 7);
    CHECK(p.pixels && p.pixels[(32 + 1) * 3] == 255);
    heed_picture_free(&p);
}

TEST_IN(images_cifar_10, open_images_ctx()) {
    put_cifar("data_batch_2.bin", 1, 10, 10, 10);
    put_cifar("data_batch_1.bin", 1, 10, 0, 10);
    put_cifar("test_batch.bin", 1, 4, 0, 10);
    check_cifar(c, "cifar-10", 10, 20, 4);
    text_file("batches.meta.txt", "j\ni\nh\ng\nf\ne\nd\nc\nb\na\n\n");
    heed_images *k = open_here(c, (heed__images_args){.no_test = true, .val_split = 0.5});
    const heed_images_info *f = heed_images_about(k);
    CHECK(f && f->count[HEED_TEST_PART] == 0 && f->count[HEED_VAL_PART] == 10);
    if (f) CHECK_TEXT(f->labels[0], "j"); /* the file's order is the labels' */
    k = open_here(c, (heed__images_args){.channels = 1});
    heed_picture p = {0};
    CHECK(heed_images_get(k, HEED_TRAIN_PART, 9, &p, NULL, NULL) && p.channels == 1);
    CHECK(p.pixels && p.pixels[0] == (int)(0.299 * 9 + 0.587 * 18 + 0.114 * 7 + 0.5));
    if (k) CHECK_CLOSE(heed_images_about(k)->view.mean[0] * 255, 17, 3);
    heed_picture_free(&p);
}

TEST_IN(images_cifar_100, open_images_ctx()) {
    put_cifar("train.bin", 2, 100, 0, 100);
    put_cifar("test.bin", 2, 3, 0, 100);
    check_cifar(c, "cifar-100", 100, 100, 3);
    put_cifar("test_batch.bin", 1, 10, 0, 10);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "two sets in one folder");
}

TEST_IN(images_cifar_damage_is_told, open_images_ctx()) {
    put_cifar("data_batch_1.bin", 1, 10, 0, 9);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA,
                "class \"class 9\" has no pictures");
    put_cifar("data_batch_1.bin", 1, 11, 0, 11);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "found 10 in record 10");
    put_cifar("data_batch_1.bin", 2, 10, 0, 10);
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "records of 3073 bytes");
    text_file("data_batch_1.bin", "");
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "found 0 bytes");
    put_cifar("data_batch_1.bin", 1, 10, 0, 10);
    text_file("batches.meta.txt", "a\nb\na\n");
    CHECK_FAILS(c, open_here(c, (heed__images_args){0}), HEED_DATA, "expected 10, one a line");
}

/* ---- CSV ---- */

static heed_images *open_csv(heed_ctx *c, const char *text, size_t n) {
    put_file(in_folder("list.csv"), text, n);
    return heed__images_open(c, in_folder("list.csv"), &(heed__images_args){0});
}

TEST_IN(images_csv_reads_lists, open_images_ctx()) {
    put_class("some", 3, 0);
    put_png("a, \"b\".png", SIDE, SIDE, 1, 9);
    const char *const lists[] = {
        "some/000.png,cat\nsome/001.png,dog\nsome/002.png,cat\n\"a, \"\"b\"\".png\",dog\n",
        "path,label\nsome/000.png,cat\nsome/001.png,dog\nsome/002.png,cat\n\"a, "
        "\"\"b\"\".png\",dog",
        "\xEF\xBB\xBFImage,Class\r\nsome/000.png , cat\r\n\r\n\"some/001.png\", \"dog\"\r\n"
        "some/002.png,cat\r\n\"a, \"\"b\"\".png\",dog\r\n",
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        heed_images *k = open_csv(c, lists[i], strlen(lists[i]));
        const heed_images_info *f = heed_images_about(k);
        CHECK(f && f->classes == 2 && f->count[HEED_TRAIN_PART] == 4 && f->bad == 0);
        if (!f) break;
        CHECK_TEXT(f->kind, "csv");
        CHECK_TEXT(f->labels[0], "cat");
        CHECK_TEXT(f->labels[1], "dog");
        heed_picture p = {0};
        int label;
        CHECK(heed_images_get(k, HEED_TRAIN_PART, 3, &p, &label, NULL) && label == 1);
        CHECK(p.pixels && p.pixels[0] == 9);
        heed_picture_free(&p);
    }
    char whole[512];
    snprintf(whole, sizeof whole, "%s,cat\nnone.png,dog\n/dev/zero,dog\nsome,cat\nsome/002.png,dog",
             in_folder("some/000.png"));
    heed_images *k = open_csv(c, whole, strlen(whole));
    const char *path, *why;
    CHECK(k && heed_images_about(k)->bad == 3 && heed_images_bad(k, 1, &path, &why));
    if (k) CHECK_TEXT(path, "/dev/zero");
}

TEST_IN(images_csv_errors_name_the_line, open_images_ctx()) {
    const char *const wrong[][2] = {
        {"", "text is empty"},
        {"path,label\n", "list.csv:2: expected lines"},
        {"a.png,cat\nb.png\n", "list.csv:2: expected 2 fields"},
        {"a.png,cat\n\nb.png,dog,3\n", "list.csv:3: expected 2 fields"},
        {"a.png,cat\n\"b.png,dog\nc.png,dog\n", "list.csv:2: expected a double quote"},
        {"a.png,\"cat\"s\n", "list.csv:1: expected a comma or the end"},
        {"a.png,\"c\aat\"\nb.png,dog\n", "control character"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_FAILS(c, open_csv(c, wrong[i][0], strlen(wrong[i][0])), HEED_DATA, wrong[i][1]);
    CHECK_FAILS(c, open_csv(c, "a.png,cat\nb\0.png,dog\n", 21), HEED_DATA,
                "list.csv:2: expected UTF-8 text, found 0x00");
    char *line = malloc(100000);
    memset(line, 'x', 100000);
    CHECK_FAILS(c, open_csv(c, line, 100000), HEED_DATA,
                "list.csv:1: expected a first line that names");
    free(line);
    CHECK_FAILS(c, open_csv(c, "a.png,cat\nb.png,dog\n", 20), HEED_DATA, "no picture can be read");
}

/* Fields of any length are read; a path that is too long is a picture that cannot be read. */
TEST_IN(images_csv_fields_may_be_long, open_images_ctx()) {
    put_class("some", 2, 0);
    for (int n = 4094; n <= 4097; n++)
        for (int quoted = 0; quoted < 2; quoted++) {
            char text[5000] = "some/000.png,cat\nsome/001.png,dog\n", *at = text + strlen(text);
            if (quoted) *at++ = '"';
            memset(at, 'x', (size_t)n);
            strcpy(at + n, quoted ? "\",dog\n" : ",dog\n");
            const heed_images_info *f = heed_images_about(open_csv(c, text, strlen(text)));
            CHECK(f && f->bad == 1 && f->count[HEED_TRAIN_PART] == 2);
        }
}
