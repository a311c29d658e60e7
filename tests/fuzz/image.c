/* Pictures: any bytes are a picture or a reason; the picture has the size that it says, decodes to
 * the same bytes again, and any view of it is finite. The first byte chooses what the rest is: a
 * file, rows of a PNG, or changes of a JPEG, which random bytes would hardly
 * become. */

#include <heed/heed.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool condition) {
    if (!condition) abort();
}

/* A view with draws of all kinds. */
static void view(const heed_picture *p, uint64_t draw) {
    heed_image_transform v = {
        .size = 7, .channels = p->channels, .mean = {0.5, 0.5, 0.5}, .deviation = {0.5, 0.5, 0.5}};
    heed_augment a = {0.5, 2, 0.1, 2, 0.5, 0.5, 0.5};
    heed_random r = heed_random_at(1, "fuzz", draw, 0);
    heed_real out[7 * 7 * 3], *work = malloc(heed_image_transform_work(p, &v) * sizeof *work);
    require(work != NULL);
    heed_picture_transform(p, &v, draw & 1 ? &a : NULL, &r, out, work);
    for (int i = 0; i < 7 * 7 * p->channels; i++) require(isfinite(out[i]));
    free(work);
}

static void check(const uint8_t *data, size_t n) {
    heed_picture p, again;
    char why[HEED_WHY];
    heed_status status = heed_picture_decode(data, n, &p, why);
    require((status == HEED_OK) == (p.pixels != NULL) && (status == HEED_OK) == (why[0] == 0));
    if (status != HEED_OK) return;
    require(p.width > 0 && p.height > 0 && p.channels >= 1 && p.channels <= 4);
    size_t size = (size_t)p.width * (size_t)p.height * (size_t)p.channels;
    if (size < 1 << 20) {
        require(heed_picture_decode(data, n, &again, why) == HEED_OK);
        require(memcmp(p.pixels, again.pixels, size) == 0);
        heed_picture_free(&again);
        require(heed_picture_convert(&p, n & 1 ? 1 : 3) == HEED_OK);
        view(&p, n);
    }
    heed_picture_free(&p);
}

static size_t put_chunk(uint8_t *to, const char *type, const uint8_t *bytes, size_t n) {
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(n >> (24 - 8 * i));
    memcpy(to + 4, type, 4);
    if (n) memcpy(to + 8, bytes, n);
    uLong crc = crc32(0, to + 4, (uInt)n + 4);
    for (int i = 0; i < 4; i++) to[8 + n + i] = (uint8_t)(crc >> (24 - 8 * i));
    return n + 12;
}

/* Header, palette and transparency of the first bytes, rows of the rest. */
static void make_png(const uint8_t *data, size_t n) {
    uint8_t file[1 << 14] = "\x89PNG\r\n\x1A\n", packed[1 << 13];
    if (n < 8 || n > 4096) return;
    uint8_t header[13] = {0, 0, 0, data[0], 0, 0, 0, data[1], data[2], data[3], 0, 0, data[4] & 1};
    size_t colours = data[5] % 8, clear = data[6] % 8, at = 8;
    data += 7, n -= 7;
    at += put_chunk(file + at, "IHDR", header, 13);
    if (n < 3 * colours + clear) return;
    if (colours) at += put_chunk(file + at, "PLTE", data, 3 * colours);
    if (clear) at += put_chunk(file + at, "tRNS", data + 3 * colours, clear);
    uLongf capacity = sizeof packed;
    size_t used = 3 * colours + clear;
    require(compress(packed, &capacity, data + used, (uLong)(n - used)) == Z_OK);
    at += put_chunk(file + at, "IDAT", packed, capacity);
    at += put_chunk(file + at, "IEND", NULL, 0);
    check(file, at);
}

/* Three bytes a change: where, and to what. */
static void change_jpeg(const uint8_t *data, size_t n) {
    static const char *const names[] = {"baseline", "progressive", "restarts", "cmyk"};
    uint8_t copy[4096];
    char path[96];
    if (n < 1) return;
    snprintf(path, sizeof path, "../../tests/golden/pictures/%s.jpg", names[data[0] % 4]);
    FILE *f = fopen(path, "rb");
    require(f != NULL);
    size_t size = fread(copy, 1, sizeof copy, f);
    fclose(f);
    for (size_t i = 1; i + 3 <= n; i += 3)
        copy[((size_t)data[i] << 8 | data[i + 1]) % size] = data[i + 2];
    check(copy, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n < 1) return 0;
    switch (data[0] % 3) {
    case 0:
        check(data + 1, n - 1);
        break;
    case 1:
        make_png(data + 1, n - 1);
        break;
    default:
        change_jpeg(data + 1, n - 1);
    }
    return 0;
}
