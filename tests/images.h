/* Small sets of pictures, made in the running test's folder. */
#ifndef HEED_TEST_IMAGES_H
#define HEED_TEST_IMAGES_H

#include "files.h"
#include "pictures.h"

#include <heed/io.h>
#include <sys/stat.h>
#include <zlib.h>

enum { SIDE = 6, PIXELS = SIDE * SIDE };

static inline heed_ctx *open_images_ctx(void) {
    return heed_open(&(heed_options){.seed = 7, .threads = 1});
}

/* Of the picture that was made n-th; the first pixel tells n, up to 250. */
static inline unsigned char pixel_of(int n, int i) {
    return (unsigned char)(i ? n * 37 + i * 5 : n);
}

/* ---- IDX ---- */

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

static inline void put_idx_images(const char *name, bool zipped, int count) {
    size_t n = 16 + (size_t)count * PIXELS;
    unsigned char *bytes = calloc(1, n);
    unsigned char head[] = {0, 0, 8, 3,    0, 0, 0, (unsigned char)count,
                            0, 0, 0, SIDE, 0, 0, 0, SIDE};
    memcpy(bytes, head, sizeof head);
    for (int i = 0; i < count * PIXELS; i++) bytes[16 + i] = pixel_of(i / PIXELS, i % PIXELS);
    put_idx(name, zipped, bytes, n);
    free(bytes);
}

/* 0 1 2 3 0 1 .. */
static inline void put_idx_labels(const char *name, bool zipped, int count) {
    unsigned char bytes[8 + 256] = {0, 0, 8, 1, 0, 0, 0, (unsigned char)count};
    for (int i = 0; i < count; i++) bytes[8 + i] = (unsigned char)(i % 4);
    put_idx(name, zipped, bytes, 8 + (size_t)count);
}

static inline void put_mnist(bool zipped, int train, int test) {
    put_idx_images("train-images-idx3-ubyte", zipped, train);
    put_idx_labels("train-labels-idx1-ubyte", zipped, train);
    put_idx_images("t10k-images-idx3-ubyte", zipped, test);
    put_idx_labels("t10k-labels-idx1-ubyte", zipped, test);
}

/* ---- files ---- */

static inline void make_folder(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    for (char *p = path + strlen(test_folder()) + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        mkdir(path, 0777);
        *p = '/';
    }
    CHECK(mkdir(path, 0777) == 0);
}

/* A PNG of 1 or 3 channels, which are all alike. Its pixels are those of the n-th. */
static inline void put_png(const char *name, int width, int height, int channels, int n) {
    unsigned char pixels[64 * 64 * 3];
    int count = width * height * channels;
    for (int i = 0; i < count; i++) pixels[i] = pixel_of(n, i / channels);
    png_write(name, pixels, width, height, channels);
}

/* `count` grey pictures n, n+1, .. in folder, which is made. */
static inline void put_class(const char *folder, int count, int n) {
    make_folder(folder);
    for (int i = 0; i < count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s/%03d.png", folder, i);
        put_png(name, SIDE, SIDE, 1, n + i);
    }
}

/* The number of the picture whose row of a batch x is, with mean 0 and deviation 1. */
static inline int made_as(const heed_real *x) { return (int)lround((double)x[0] * 255); }

#endif
