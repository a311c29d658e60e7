/* Pictures in: the only file that knows stb_image. */
#include "data/image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file must not be able to abort the program: what stb asserts is checked before or harmless. */
#define STBI_ASSERT(x) ((void)0)
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function" /* gcc judges it at the end of the file */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#endif
#if __has_include(<stb/stb_image.h>)
#include <stb/stb_image.h>
#else
#include <stb_image.h> /* STB_DIR */
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

enum { PIXEL_LIMIT = 1 << 26, FILE_LIMIT = 1 << 28 };

heed_status heed__picture_refuse(char why[HEED_WHY], const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why, HEED_WHY, format, args);
    va_end(args);
    return HEED_DATA;
}

static heed_status no_memory(char why[HEED_WHY]) {
    heed__picture_refuse(why, "out of memory");
    return HEED_FAILED;
}

heed_status heed_picture_decode(const void *bytes, size_t n, const char *name, heed_picture *out,
                                char why[HEED_WHY]) {
    (void)name;
    *out = (heed_picture){0};
    why[0] = 0;
    if (!bytes || n == 0) return heed__picture_refuse(why, "is empty");
    if (n > FILE_LIMIT)
        return heed__picture_refuse(why, "is too large: expected at most %d bytes", FILE_LIMIT);
    int width, height, channels;
    if (!stbi_info_from_memory(bytes, (int)n, &width, &height, &channels))
        return heed__picture_refuse(why, "is not a picture: expected JPEG, PNG, BMP or TGA");
    if ((int64_t)width * height > PIXEL_LIMIT)
        return heed__picture_refuse(why, "is too large: expected at most %d pixels, found %d x %d",
                                    PIXEL_LIMIT, width, height);
    out->pixels =
        stbi_load_from_memory(bytes, (int)n, &out->width, &out->height, &out->channels, 0);
    if (out->pixels) return HEED_OK;
    if (strcmp(stbi_failure_reason(), "outofmem") == 0) return no_memory(why);
    return heed__picture_refuse(why, "is damaged: %s", stbi_failure_reason());
}

/* The whole file; NULL with the status and the reason. */
static unsigned char *read_file(const char *path, size_t *n, heed_status *status,
                                char why[HEED_WHY]) {
    FILE *f = fopen(path, "rb");
    *n = 0;
    *status = HEED_DATA;
    if (!f) {
        heed__picture_refuse(why, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    unsigned char *bytes = NULL;
    size_t room = 0;
    for (;;) {
        if (*n == room) {
            if (room > FILE_LIMIT) break;
            unsigned char *more = realloc(bytes, room = room ? 2 * room : 1 << 16);
            if (!more) {
                *status = no_memory(why);
                goto failed;
            }
            bytes = more;
        }
        size_t got = fread(bytes + *n, 1, room - *n, f);
        *n += got;
        if (got == 0) break;
    }
    if (ferror(f)) {
        heed__picture_refuse(why, "cannot be read: %s", strerror(errno));
        goto failed;
    }
    fclose(f);
    *status = HEED_OK;
    return bytes;
failed:
    fclose(f);
    free(bytes);
    return NULL;
}

heed_status heed_picture_read(const char *path, heed_picture *out, char why[HEED_WHY]) {
    *out = (heed_picture){0};
    why[0] = 0;
    size_t n;
    heed_status status;
    unsigned char *bytes = read_file(path, &n, &status, why);
    if (status != HEED_OK) return status;
    status = heed_picture_decode(bytes, n, path, out, why);
    free(bytes);
    return status;
}

void heed_picture_free(heed_picture *p) {
    if (!p) return;
    free(p->pixels);
    *p = (heed_picture){0};
}

/* Over white: v a + 255 (1 - a), a in 0 .. 255. */
static unsigned over_white(unsigned v, unsigned alpha) {
    return (v * alpha + 255 * (255 - alpha) + 127) / 255;
}

/* ITU-R BT.601, in 2^-16: 0.299 R + 0.587 G + 0.114 B, rounded. */
static unsigned grey_of(const unsigned rgb[3]) {
    return (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + (1u << 15)) >> 16;
}

static void convert_pixel(const unsigned char *from, int before, unsigned char *to, int after) {
    bool colour = before >= 3, alpha = before % 2 == 0;
    unsigned rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = from[colour ? i : 0];
        if (alpha) rgb[i] = over_white(rgb[i], from[before - 1]);
    }
    if (after == 1)
        to[0] = (unsigned char)(colour ? grey_of(rgb) : rgb[0]);
    else
        for (int i = 0; i < 3; i++) to[i] = (unsigned char)rgb[i];
}

heed_status heed_picture_convert(heed_picture *p, int channels) {
    if (!p || !p->pixels || (channels != 1 && channels != 3)) return HEED_USAGE;
    if (p->channels == channels) return HEED_OK;
    size_t pixels = (size_t)p->width * (size_t)p->height, before = (size_t)p->channels;
    unsigned char *to = malloc(pixels * (size_t)channels);
    if (!to) return HEED_FAILED;
    for (size_t i = 0; i < pixels; i++)
        convert_pixel(p->pixels + i * before, p->channels, to + i * (size_t)channels, channels);
    free(p->pixels);
    p->pixels = to;
    p->channels = channels;
    return HEED_OK;
}
