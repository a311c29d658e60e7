#define _DEFAULT_SOURCE /* getpid */
/* IDX files, plain and by gzip: any bytes are a set of pictures or an error, and memory is bounded
 * by the files. The first byte says how to open, the second how the rest becomes files. */
#include "images_folder.h"

#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void put_file(const char *name, bool zipped, const uint8_t *data, size_t n) {
    char full[64];
    snprintf(full, sizeof full, "%s.gz", name);
    unlink(place(name));
    unlink(place(full));
    if (!zipped) {
        put(name, data, n);
        return;
    }
    gzFile f = gzopen(place(full), "wb1");
    require(f && gzwrite(f, data, (unsigned)n) == (int)n && gzclose(f) == Z_OK);
}

/* A right header before the bytes, so that most inputs get beyond it. */
static void put_with_header(const char *name, bool zipped, int type, int width, const uint8_t *data,
                            size_t n) {
    uint8_t bytes[16 + 4096] = {0, 0, (uint8_t)type, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2};
    size_t count = n / (4 * (size_t)width);
    if (count > 100) count = 100;
    bytes[7] = (uint8_t)count;
    memcpy(bytes + 16, data, count * 4 * (size_t)width);
    put_file(name, zipped, bytes, 16 + count * 4 * (size_t)width);
    bytes[3] = 1;
    bytes[2] = 8;
    for (size_t i = 0; i < count; i++) bytes[8 + i] = (uint8_t)(i % 3);
    put_file("train-labels-idx1-ubyte", zipped, bytes, 8 + count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const int types[][2] = {{8, 1}, {9, 1}, {0x0B, 2}, {0x0C, 4}, {0x0D, 4}, {0x0E, 8}};
    if (n < 3) return 0;
    int how = data[0], files = data[1];
    bool zipped = files & 1;
    data += 2, n -= 2;
    if (files & 2) {
        const int *type = types[(files >> 3) % 6];
        put_with_header("train-images-idx3-ubyte", zipped, type[0], type[1], data, n);
    } else {
        size_t cut = files & 4 ? n / 2 : n * 3 / 4;
        put_file("train-images-idx3-ubyte", zipped, data, cut);
        put_file("train-labels-idx1-ubyte", files & 8, data + cut, n - cut);
    }
    open_and_use(place(""), how);
    return 0;
}
