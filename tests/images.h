/* Small sets of pictures, made in the running test's folder. */
#ifndef HEED_TEST_IMAGES_H
#define HEED_TEST_IMAGES_H

#include "files.h"

#include <zlib.h>

enum { SIDE = 6, PIXELS = SIDE * SIDE };

static inline heed_ctx *open_images_ctx(void) {
    return heed_open(&(heed_options){.seed = 7, .threads = 1});
}

/* Of the picture that was made n-th. */
static inline unsigned char pixel_of(int n, int i) { return (unsigned char)(n * 37 + i * 5); }

static inline void put_zipped(const char *path, const void *bytes, size_t n) {
    gzFile f = gzopen(path, "wb");
    CHECK(f && gzwrite(f, bytes, (unsigned)n) == (int)n && gzclose(f) == Z_OK);
}

static inline void put_idx(const char *name, bool zipped, const void *bytes, size_t n) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", name, zipped ? ".gz" : "");
    if (zipped)
        put_zipped(in_folder(full), bytes, n);
    else
        put_file(in_folder(full), bytes, n);
}

/* `count` pictures of SIDE x SIDE and their labels 0 1 2 3 0 1 .. */
static inline void put_pair(const char *images, const char *labels, bool zipped, int count) {
    size_t n = (size_t)count;
    unsigned char *bytes = calloc(1, 16 + n * PIXELS);
    unsigned char head[] = {0, 0, 8, 3,    0, 0, 0, (unsigned char)count,
                            0, 0, 0, SIDE, 0, 0, 0, SIDE};
    memcpy(bytes, head, sizeof head);
    for (int i = 0; i < count * PIXELS; i++) bytes[16 + i] = pixel_of(i / PIXELS, i % PIXELS);
    put_idx(images, zipped, bytes, 16 + n * PIXELS);
    head[3] = 1;
    memcpy(bytes, head, 8);
    for (int i = 0; i < count; i++) bytes[8 + i] = (unsigned char)(i % 4);
    put_idx(labels, zipped, bytes, 8 + n);
    free(bytes);
}

static inline void put_mnist(bool zipped, int train, int test) {
    put_pair("train-images-idx3-ubyte", "train-labels-idx1-ubyte", zipped, train);
    put_pair("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", zipped, test);
}

#endif
