/* image.c -- reads pictures; the only file that uses stb_image, which checks neither checksums nor
 * that a file is complete: JPEG and PNG are decoded after the entire file has been checked. */
#include "data/image/image.h"
#include "core/os.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file must not abort the program: what stb_image asserts is checked before or harmless. Its
 * memory is zeroed, so that a damaged file always gives the same picture. */
#define STBI_ASSERT(x)      ((void)0)
#define STBI_MALLOC(n)      calloc(1, n)
#define STBI_REALLOC(p, n)  realloc(p, n)
#define STBI_FREE(p)        free(p)
#define STBI_MAX_DIMENSIONS (1 << 26)
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function" /* gcc checks it at the end of the file */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
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

heed_status heed__refuse(const heed__picture_bytes *f, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(f->why, HEED_WHY, format, args);
    va_end(args);
    return HEED_DATA;
}

heed_status heed__refuse_memory(const heed__picture_bytes *f) {
    heed__refuse(f, "cannot be decoded: out of memory");
    return HEED_FAILED;
}

heed_status heed__check_sides(const heed__picture_bytes *f, int64_t width, int64_t height) {
    if (width < 1 || height < 1)
        return heed__refuse(f, "is damaged: expected sides of at least 1, found %lld x %lld",
                            (long long)width, (long long)height);
    if (width > PIXEL_LIMIT / height)
        return heed__refuse(f, "is too large: expected at most %d pixels, found %lld x %lld",
                            PIXEL_LIMIT, (long long)width, (long long)height);
    return HEED_OK;
}

heed_status heed__picture_new(const heed__picture_bytes *f, heed_picture *out) {
    out->pixels = malloc((size_t)out->width * (size_t)out->height * (size_t)out->channels);
    return out->pixels ? HEED_OK : heed__refuse_memory(f);
}

static heed_status decode_stb(const heed__picture_bytes *f, const heed__picture_info *info,
                              heed_picture *out) {
    stbi__err("outofmem", "Out of memory"); /* what it means if stb_image gives no reason */
    out->pixels =
        stbi_load_from_memory(f->bytes, (int)f->n, &out->width, &out->height, &out->channels, 0);
    const char *why = stbi_failure_reason();
    /* The type of a checked file is known: stb_image does not find it when it is out of memory. */
    bool memory = strcmp(why, "outofmem") == 0 || strcmp(why, "unknown image type") == 0;
    if (!out->pixels)
        return memory ? heed__refuse_memory(f) : heed__refuse(f, "is damaged: %s", why);
    if (out->width != info->width || out->height != info->height)
        return heed__refuse(f, "is damaged: it names two sizes");
    return heed__picture_turn(out, info->orientation) ? HEED_OK : heed__refuse_memory(f);
}

/* JPEG or PNG. */
static heed_status decode_checked(const heed__picture_bytes *f, bool png, heed_picture *out) {
    heed__picture_info info;
    heed__picture_bytes whole = *f;
    unsigned char *copy = NULL;
    heed_status status = png ? heed__png_check(f, &info) : heed__jpeg_check(f, &info);
    if (status != HEED_OK) return status;
    if (info.palette) {
        copy = heed__png_fill_palette(f, info.palette, &whole.n);
        if (!copy) return heed__refuse_memory(f);
        whole.bytes = copy;
    }
    status = decode_stb(&whole, &info, out);
    free(copy);
    return status;
}

heed_status heed_picture_decode(const void *bytes, size_t n, heed_picture *out,
                                char why[HEED_WHY]) {
    char unread[HEED_WHY];
    if (!why) why = unread;
    why[0] = 0;
    if (!out) return HEED_USAGE;
    *out = (heed_picture){0};
    heed__picture_bytes f = {bytes, n, why};
    if (!bytes || n == 0)
        return heed__refuse(&f, "is empty: expected JPEG, PNG or BMP, found 0 bytes");
    if (n > FILE_LIMIT)
        return heed__refuse(&f, "is too large: expected at most %d bytes, found %zu", FILE_LIMIT,
                            n);
    heed__format format = heed__picture_format(&f);
    heed_status status = format == HEED__BMP       ? heed__bmp_decode(&f, out)
                         : format == HEED__FOREIGN ? HEED_DATA
                                                   : decode_checked(&f, format == HEED__PNG, out);
    if (status != HEED_OK) heed_picture_free(out);
    return status;
}

/* Reads all of f, up to one byte beyond the limit. False: see errno. */
static bool read_all(heed__file *f, unsigned char **bytes, size_t *n) {
    size_t capacity = 0, got = 1;
    while (got > 0 && *n <= FILE_LIMIT) {
        if (*n == capacity) {
            capacity = capacity ? 2 * capacity : 1 << 15;
            if (capacity > FILE_LIMIT) capacity = (size_t)FILE_LIMIT + 1;
            unsigned char *more = realloc(*bytes, capacity);
            if (!more) return false;
            *bytes = more;
        }
        if (!heed__file_read(NULL, f, *bytes + *n, capacity - *n, &got)) return false;
        *n += got;
    }
    return true;
}

heed_status heed_picture_read(const char *path, heed_picture *out, char why[HEED_WHY]) {
    char unread[HEED_WHY];
    if (!why) why = unread;
    why[0] = 0;
    if (!out) return HEED_USAGE;
    *out = (heed_picture){0};
    heed__picture_bytes reason = {.why = why};
    errno = 0;
    heed__file f = {.fd = -1};
    unsigned char *bytes = NULL;
    size_t n = 0;
    heed_status status;
    if (path && heed__file_open(NULL, path, &f) && read_all(&f, &bytes, &n))
        status = heed_picture_decode(bytes, n, out, why);
    else if (errno == ENOMEM)
        status = heed__refuse_memory(&reason);
    else
        status = heed__refuse(&reason, "cannot be read: %s",
                              !path            ? "no path"
                              : errno == EPIPE ? "a pipe that no process writes into"
                                               : strerror(errno));
    heed__file_close(&f);
    free(bytes);
    return status;
}

void heed_picture_free(heed_picture *p) {
    if (!p) return;
    free(p->pixels);
    *p = (heed_picture){0};
}
