/* png.c -- writes pictures through stb_image_write with zlib's deflate. */
#include "core/core.h"
#include "core/os.h"
#include "io/io.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* Called by stb_image_write: returns a zlib stream, which it frees; NULL if out of memory. */
static unsigned char *deflate_all(unsigned char *data, int n, int *out_n, int quality) {
    uLongf capacity = compressBound((uLong)n);
    unsigned char *out = malloc(capacity);
    if (out && compress2(out, &capacity, data, (uLong)n, quality) == Z_OK && capacity <= INT_MAX) {
        *out_n = (int)capacity;
        return out;
    }
    free(out);
    return NULL;
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#endif
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBIW_ZLIB_COMPRESS deflate_all
#if __has_include(<stb/stb_image_write.h>)
#include <stb/stb_image_write.h>
#else
#include <stb_image_write.h> /* STB_DIR */
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

enum { SIDE_LIMIT = 1 << 15, PIXEL_LIMIT = 1 << 28 };

/* A PNG file from RGB rows, to be freed; NULL: an error, which names `name`. */
static unsigned char *png_bytes(heed_ctx *c, const char *name, const unsigned char *rgb, int width,
                                int height, size_t *n) {
    int bytes = 0;
    unsigned char *png = NULL;
    if (heed__stopped(c) || !rgb) return NULL;
    if (width < 1 || height < 1 || width > SIDE_LIMIT || height > SIDE_LIMIT ||
        (int64_t)width * height > PIXEL_LIMIT)
        heed_fail(
            c, HEED_USAGE,
            "cannot write %s: expected sides from 1 to %d, of at most %d pixels, found %d x %d",
            name, SIDE_LIMIT, PIXEL_LIMIT, width, height);
    else if (!(png = stbi_write_png_to_mem(rgb, 3 * width, width, height, 3, &bytes)))
        heed_fail(c, HEED_FAILED, "cannot write %s: out of memory", name);
    *n = (size_t)bytes;
    return png;
}

bool heed__png_save(heed_ctx *c, const char *path, const unsigned char *rgb, int width,
                    int height) {
    heed__piece piece = {0};
    if (!path) return false;
    unsigned char *png = png_bytes(c, path, rgb, width, height, &piece.n);
    piece.data = png;
    bool ok = png && heed__os_write(c, path, &piece, 1);
    free(png);
    return ok;
}

bool heed__put_png(heed_text *out, const char *what, heed__pixels from) {
    size_t n = (size_t)from.width * (size_t)from.height, size = 0;
    unsigned char *rgb = heed__alloc_array(out->c, n, 3), *png = NULL;
    for (size_t i = 0; rgb && i < 3 * n; i++) rgb[i] = from.pixels[from.channels == 3 ? i : i / 3];
    if (rgb) png = png_bytes(out->c, what, rgb, from.width, from.height, &size);
    bool ok = png && heed__put_base64(out, png, size);
    heed__free(rgb);
    free(png);
    return ok;
}
