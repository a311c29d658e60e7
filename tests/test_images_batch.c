/* Batches of pictures. */
#include "images.h"

/* A batch holds each picture's pixels under its label; an epoch holds each picture once. */
TEST(images_epoch_reads_every_picture_once) {
    heed_ctx *c = open_images_ctx();
    put_mnist(false, 40, 10);
    heed_images_args a = {.mean = {0, 0, 0}, .deviation = {1, 1, 1}};
    heed_images *k = heed_images_open(c, test_folder(), &a);
    CHECK(heed_images_epoch(k, 8) == 5 && heed_images_epoch(k, 7) == 6);
    int order[2][40];
    for (uint64_t step = 0; step < 10; step++) {
        heed_batch b;
        CHECK(heed_image_batch(k, (heed_batch_at){.index = step, .rows = 8}, &b));
        CHECK(b.rows == 8 && b.len == PIXELS && b.items == 8 && !b.ids && !b.pad && b.x);
        for (int row = 0; b.x && row < 8; row++) {
            const heed_real *x = b.x + row * PIXELS;
            int which = -1;
            for (int n = 0; n < 40; n++)
                if (fabs((double)x[1] * 255 - pixel_of(n, 1)) < 0.01) which = n;
            CHECK(which >= 0 && b.labels[row] == which % 4);
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
    CLOSE(c);
}
