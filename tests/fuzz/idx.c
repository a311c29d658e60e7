#define _DEFAULT_SOURCE /* getpid */
/* IDX files, plain and by gzip: any bytes are a set of pictures or an error, and memory is bounded
 * by the files. The first byte says how to open, the second and third how the rest becomes
 * files. */
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

typedef struct {
    const char *images, *labels;
    int type, width; /* of an element, and its bytes */
    bool zipped, colour;
} pair;
static const pair train = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", 0, 0, 0, 0},
                  t10k = {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", 0, 0, 0, 0};

/* Right headers before the bytes, so that most inputs get beyond them: pictures of 2 x 2. */
static void put_with_header(pair p, const uint8_t *data, size_t n) {
    uint8_t bytes[20 + 100 * 12 * 8] = {
        0, 0, (uint8_t)p.type, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3};
    size_t header = p.colour ? 20 : 16, size = (p.colour ? 12 : 4) * (size_t)p.width;
    size_t count = n / size < 100 ? n / size : 100;
    bytes[3] = p.colour ? 4 : 3;
    bytes[7] = (uint8_t)count;
    memcpy(bytes + header, data, count * size);
    put_file(p.images, p.zipped, bytes, header + count * size);
    bytes[3] = 1;
    bytes[2] = 8;
    for (size_t i = 0; i < count; i++) bytes[8 + i] = (uint8_t)(i % 3);
    put_file(p.labels, p.zipped, bytes, 8 + count);
}

/* A part of its own kind: p with the rest filled in. */
static void put_part(pair p, int kind, bool zipped, const uint8_t *data, size_t n) {
    static const int types[][2] = {{8, 1}, {9, 1}, {0x0B, 2}, {0x0C, 4}, {0x0D, 4}, {0x0E, 8}};
    p.type = types[kind % 6][0];
    p.width = types[kind % 6][1];
    p.zipped = zipped;
    p.colour = kind / 6 % 2;
    put_with_header(p, data, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n < 4) return 0;
    int how = data[0], files = data[1], kinds = data[2];
    bool zipped = files & 1;
    data += 3, n -= 3;
    if (files & 2) {
        bool test = files & 4;
        size_t cut = test ? n / 2 : n;
        put_part(train, kinds % 12, zipped, data, cut);
        unlink(place(t10k.images));
        unlink(place(t10k.labels));
        unlink(place("t10k-images-idx3-ubyte.gz"));
        unlink(place("t10k-labels-idx1-ubyte.gz"));
        if (test) put_part(t10k, kinds / 12, zipped, data + cut, n - cut);
    } else {
        size_t cut = files & 4 ? n / 2 : n * 3 / 4;
        put_file(train.images, zipped, data, cut);
        put_file(train.labels, files & 8, data + cut, n - cut);
    }
    open_and_use(place(""), how);
    return 0;
}
