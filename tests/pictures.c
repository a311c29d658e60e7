#include "pictures.h"

#include "files.h"

#include <zlib.h>

char refused[HEED_WHY];

void file_put(picture_file *f, const void *bytes, size_t n) {
    CHECK(n <= sizeof f->bytes - f->n);
    if (n > sizeof f->bytes - f->n) return;
    if (n) memcpy(f->bytes + f->n, bytes, n);
    f->n += n;
}

void file_little(picture_file *f, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        file_put(f, &(unsigned char){(unsigned char)(value >> 8 * i)}, 1);
}

void file_big(picture_file *f, uint32_t value, int bytes) {
    while (bytes-- > 0) file_put(f, &(unsigned char){(unsigned char)(value >> 8 * bytes)}, 1);
}

void png_chunk(picture_file *f, const char *type, const void *bytes, size_t n) {
    file_big(f, (uint32_t)n, 4);
    size_t from = f->n;
    file_put(f, type, 4);
    file_put(f, bytes, n);
    file_big(f, (uint32_t)crc32(0, f->bytes + from, (uInt)(n + 4)), 4);
}

void png_begin(picture_file *f, uint32_t width, uint32_t height, int depth, int colour) {
    picture_file header = {.n = 0};
    file_big(&header, width, 4);
    file_big(&header, height, 4);
    file_put(&header, (unsigned char[]){(unsigned char)depth, (unsigned char)colour, 0, 0, 0}, 5);
    f->n = 0;
    file_put(f, "\x89PNG\r\n\x1A\n", 8);
    png_chunk(f, "IHDR", header.bytes, header.n);
}

void png_end(picture_file *f, const void *rows, size_t n) {
    unsigned char packed[sizeof f->bytes];
    uLongf capacity = sizeof packed;
    CHECK(compress2(packed, &capacity, rows, (uLong)n, 9) == Z_OK);
    png_chunk(f, "IDAT", packed, capacity);
    png_chunk(f, "IEND", NULL, 0);
}

void png_write(const char *name, const unsigned char *pixels, int width, int height, int channels) {
    picture_file f, rows = {.n = 0};
    size_t row = (size_t)(width * channels);
    for (int y = 0; y < height; y++) {
        file_put(&rows, "", 1); /* the row is not filtered */
        file_put(&rows, pixels + (size_t)y * row, row);
    }
    png_begin(&f, (uint32_t)width, (uint32_t)height, 8, channels == 1 ? 0 : 2);
    png_end(&f, rows.bytes, rows.n);
    put_file(in_folder(name), f.bytes, f.n);
}

void bmp_begin(picture_file *f, bmp_header h) {
    f->n = 0;
    file_put(f, "BM", 2);
    file_little(f, 0, 4); /* the size of the file, which nobody reads */
    file_little(f, 0, 4);
    file_little(f, h.offset, 4);
    file_little(f, h.header, 4);
    int side = h.header == 12 ? 2 : 4;
    file_little(f, (uint32_t)h.width, side);
    file_little(f, (uint32_t)h.height, side);
    file_little(f, 1, 2);
    file_little(f, (uint32_t)h.bits, 2);
    if (h.header == 12) return;
    file_little(f, h.compression, 4);
    for (int i = 0; i < 3; i++) file_little(f, 0, 4);
    file_little(f, h.colours, 4);
    file_little(f, 0, 4);
}

void exif_put(picture_file *f, bool big, uint32_t orientation) {
    void (*put)(picture_file *, uint32_t, int) = big ? file_big : file_little;
    file_put(f, big ? "MM" : "II", 2);
    put(f, 42, 2);
    put(f, 8, 4);
    put(f, 2, 2);
    put(f, 0x0100, 2), put(f, 4, 2), put(f, 1, 4), put(f, 7, 4); /* another entry: width */
    put(f, 0x0112, 2), put(f, 3, 2), put(f, 1, 4), put(f, orientation, 2), put(f, 0, 2);
    put(f, 0, 4);
}

void jpeg_with_exif(picture_file *f, const unsigned char *jpeg, size_t n,
                    const picture_file *exif) {
    f->n = 0;
    file_put(f, jpeg, 2);
    file_put(f, "\xFF\xE1", 2);
    file_big(f, (uint32_t)(2 + 6 + exif->n), 2);
    file_put(f, "Exif\0\0", 6);
    file_put(f, exif->bytes, exif->n);
    file_put(f, jpeg + 2, n - 2);
}

/* In memory of its very size, so that reading beyond it is found. */
heed_status decode(const picture_file *f, heed_picture *out) {
    unsigned char *bytes = malloc(f->n ? f->n : 1);
    memcpy(bytes, f->bytes, f->n);
    heed_status status = heed_picture_decode(bytes, f->n, out, refused);
    free(bytes);
    CHECK((status == HEED_OK) == (refused[0] == 0));
    return status;
}

void check_picture(const char *file, int line, const picture_file *f, int width, int height,
                   int channels, const unsigned char *expected) {
    heed_picture p;
    if (decode(f, &p) != HEED_OK)
        test_fail(file, line, "refused: %s", refused);
    else if (p.width != width || p.height != height || p.channels != channels)
        test_fail(file, line, "%d x %d x %d", p.width, p.height, p.channels);
    else
        for (int i = 0; i < width * height * channels; i++)
            if (p.pixels[i] != expected[i])
                test_fail(file, line, "byte %d is %d, expected %d", i, p.pixels[i], expected[i]);
    heed_picture_free(&p);
}

void check_cut(const char *file, int line, const picture_file *f) {
    picture_file part = *f;
    for (part.n = 0; part.n < f->n; part.n++) {
        heed_picture p;
        if (decode(&part, &p) == HEED_OK)
            test_fail(file, line, "a picture of %zu of %zu bytes", part.n, f->n);
        heed_picture_free(&p);
    }
}
