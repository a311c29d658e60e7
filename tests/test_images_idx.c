/* Sets of pictures in IDX files. */
#include "images.h"

#include <zlib.h>

TEST(images_idx_reads_plain_and_zipped) {
    for (int zipped = 0; zipped < 2; zipped++) {
        heed_ctx *c = open_images_ctx();
        put_mnist(zipped, 40, 10);
        heed_images *k = heed_images_open(c, test_folder(), &(heed_images_args){.val_split = 0.25});
        const heed_images_info *f = heed_images_about(k);
        CHECK(f && f->classes == 4 && f->view.size == SIDE && f->view.channels == 1);
        if (!f) break;
        CHECK_TEXT(f->kind, "idx");
        CHECK_TEXT(f->labels[3], "3");
        CHECK(f->count[HEED_TRAIN_PART] == 28 && f->count[HEED_VAL_PART] == 12);
        CHECK(f->count[HEED_TEST_PART] == 10);
        for (int label = 0; label < 4; label++)
            CHECK(heed_images_count(k, HEED_VAL_PART, label) == 3);
        heed_picture p;
        int label;
        const char *name;
        CHECK(heed_images_get(k, HEED_TEST_PART, 7, &p, &label, &name) && label == 7 % 4);
        CHECK_TEXT(name, "test 7");
        CHECK(p.pixels && p.width == SIDE && p.pixels[SIDE + 1] == pixel_of(7, SIDE + 1));
        heed_picture_free(&p);
        CLOSE(c);
    }
}
