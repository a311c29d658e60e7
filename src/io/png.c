/* png.c -- writes pictures as PNG (W3C, PNG specification, third edition) with zlib's deflate. */
#include "core/core.h"
#include "core/os.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SIDE_LIMIT = 1 << 15, PIXEL_LIMIT = 1 << 28, PIXEL = 3, HEADER = 13, AROUND = 12 };

/* ---- rows (section 9) ---- */

static unsigned char paeth(int left, int up, int corner) {
    int by_left = abs(up - corner), by_up = abs(left - corner),
        by_both = abs(left + up - 2 * corner);
    return (unsigned char)(by_left <= by_up && by_left <= by_both ? left
                           : by_up <= by_both                     ? up
                                                                  : corner);
}

/* Most pixels are equal to the ones before them: deflate does best on such a row as it is. */
static bool is_drawn(const unsigned char *row, size_t n) {
    size_t equal = 0;
    for (size_t i = PIXEL; i < n; i++) equal += row[i] == row[i - PIXEL];
    return 2 * equal >= n;
}

/* Writes a row of n bytes behind the type of its filter. */
static void filter_row(unsigned char *to, const unsigned char *row, const unsigned char *above,
                       size_t n) {
    enum { NONE, UP = 2, PAETH = 4 };
    if (memcmp(row, above, n) == 0) {
        *to = UP;
        memset(to + 1, 0, n);
    } else if (is_drawn(row, n)) {
        *to = NONE;
        memcpy(to + 1, row, n);
    } else {
        *to++ = PAETH;
        for (size_t i = 0; i < n; i++)
            to[i] = (unsigned char)(row[i] - (i < PIXEL ? above[i]
                                                        : paeth(row[i - PIXEL], above[i],
                                                                above[i - PIXEL])));
    }
}

/* ---- chunks (section 5) ---- */

static void put_32(unsigned char *to, size_t value) {
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Encloses n bytes of data, which lie 8 bytes behind `at`; returns the end. */
static unsigned char *enclose(unsigned char *at, const char type[4], size_t n) {
    put_32(at, n);
    memcpy(at + 4, type, 4);
    put_32(at + 8 + n, crc32_z(0, at + 4, n + 4));
    return at + AROUND + n;
}

/* Writes the file, which ends at what is returned; NULL: out of memory. */
static unsigned char *encode(unsigned char *png, const unsigned char *rows, uLong n, int width,
                             int height) {
    static const unsigned char signature[8] = {137, 'P', 'N', 'G', '\r', '\n', 26, '\n'},
                               depth_and_type[5] = {8, 2, 0, 0, 0}; /* 8 bits, RGB */
    memcpy(png, signature, sizeof signature);
    unsigned char *at = png + sizeof signature;
    put_32(at + 8, (size_t)width);
    put_32(at + 12, (size_t)height);
    memcpy(at + 16, depth_and_type, sizeof depth_and_type);
    at = enclose(at, "IHDR", HEADER);
    uLongf size = compressBound(n);
    if (compress2(at + 8, &size, rows, n, Z_DEFAULT_COMPRESSION) != Z_OK) return NULL;
    at = enclose(at, "IDAT", size);
    return enclose(at, "IEND", 0);
}

/* A PNG file from RGB rows, to be freed; NULL: an error, which names `name`. */
static unsigned char *png_bytes(heed_ctx *c, const char *name, const unsigned char *rgb, int width,
                                int height, size_t *n) {
    if (heed__stopped(c) || !rgb) return NULL;
    if (width < 1 || height < 1 || width > SIDE_LIMIT || height > SIDE_LIMIT ||
        (int64_t)width * height > PIXEL_LIMIT) {
        heed_fail(
            c, HEED_USAGE,
            "cannot write %s: expected sides from 1 to %d, of at most %d pixels, found %d x %d",
            name, SIDE_LIMIT, PIXEL_LIMIT, width, height);
        return NULL;
    }
    size_t row = PIXEL * (size_t)width, bytes = (row + 1) * (size_t)height;
    unsigned char *blank = heed__alloc(c, row), *rows = heed__alloc_untouched(c, bytes, 1),
                  *png =
                      heed__alloc_untouched(c, 8 + 3 * AROUND + HEADER + compressBound(bytes), 1),
                  *end = NULL;
    for (int y = 0; blank && rows && y < height; y++)
        filter_row(rows + (size_t)y * (row + 1), rgb + (size_t)y * row,
                   y ? rgb + (size_t)(y - 1) * row : blank, row);
    if (blank && rows && png) end = encode(png, rows, (uLong)bytes, width, height);
    if (!end && !heed__stopped(c))
        heed_fail(c, HEED_FAILED, "cannot write %s: out of memory", name);
    heed__free(blank);
    heed__free(rows);
    if (!end) {
        heed__free(png);
        return NULL;
    }
    *n = (size_t)(end - png);
    return png;
}

bool heed_png_save(heed_ctx *c, const char *path, const unsigned char *rgb, int width, int height) {
    heed__piece piece = {0};
    if (!path) return false;
    unsigned char *png = png_bytes(c, path, rgb, width, height, &piece.n);
    piece.data = png;
    bool ok = png && heed__os_write(c, path, &piece, 1);
    heed__free(png);
    return ok;
}

bool heed__put_png(heed_text *out, const char *what, heed__pixels from) {
    size_t n = (size_t)from.width * (size_t)from.height, size = 0;
    unsigned char *rgb = heed__alloc_array(out->c, n, 3), *png = NULL;
    for (size_t i = 0; rgb && i < 3 * n; i++) rgb[i] = from.pixels[from.channels == 3 ? i : i / 3];
    if (rgb) png = png_bytes(out->c, what, rgb, from.width, from.height, &size);
    bool ok = png && heed__put_base64(out, png, size);
    heed__free(rgb);
    heed__free(png);
    return ok;
}
