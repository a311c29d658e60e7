/* format.c -- detects the format of a file. */
#include "data/image/image.h"
#include "text/text.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    const char *name; /* with its article */
    size_t at, n;     /* place and length of the magic */
    const char *magic;
} foreign;

static const foreign others[] = {
    {"a WebP", 8, 4, "WEBP"},
    {"a TIFF", 0, 4, "II*\0"},
    {"a TIFF", 0, 4, "MM\0*"},
    {"a BigTIFF", 0, 4, "II+\0"},
    {"a BigTIFF", 0, 4, "MM\0+"},
    {"a GIF", 0, 4, "GIF8"},
    {"a PSD", 0, 4, "8BPS"},
    {"a JPEG 2000", 0, 12, "\0\0\0\x0CjP  \r\n\x87\n"},
    {"a JPEG 2000", 0, 4, "\xFF\x4F\xFF\x51"},
    {"a JPEG XL", 0, 12, "\0\0\0\x0CJXL \r\n\x87\n"},
    {"a JPEG XL", 0, 2, "\xFF\x0A"},
    {"an AVIF", 4, 8, "ftypavif"},
    {"an HEIC", 4, 7, "ftyphei"},
    {"an HEIF", 4, 8, "ftypmif1"},
    {"an ICO", 0, 4, "\0\0\x01\0"},
};

static bool holds(const heed__picture_bytes *f, size_t at, const char *magic, size_t n) {
    return f->n >= at + n && memcmp(f->bytes + at, magic, n) == 0;
}

static bool is_pnm(const heed__picture_bytes *f) {
    return f->n > 2 && f->bytes[0] == 'P' && f->bytes[1] >= '1' && f->bytes[1] <= '7' &&
           isspace(f->bytes[2]);
}

/* Manufacturer 10, version 0 to 5, run-length coded, a common number of bits. */
static bool is_pcx(const heed__picture_bytes *f) {
    return f->n > 3 && f->bytes[0] == 10 && f->bytes[1] <= 5 && f->bytes[2] == 1 &&
           memchr("\1\2\4\x08", f->bytes[3], 4);
}

static const char *foreign_name(const heed__picture_bytes *f) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (holds(f, others[i].at, others[i].magic, others[i].n)) return others[i].name;
    return is_pnm(f) ? "a PNM" : is_pcx(f) ? "a PCX" : NULL;
}

static bool is_text(const heed__picture_bytes *f) {
    for (size_t i = 0; i < f->n && i < 256; i++)
        if (f->bytes[i] < 32 && !isspace(f->bytes[i])) return false;
    return true;
}

static void refuse_foreign(const heed__picture_bytes *f) {
    const char *name = foreign_name(f);
    if (name)
        heed__refuse(f,
                     "is %s picture: expected JPEG, PNG or BMP; hint: convert it first, "
                     "magick FILE FILE.png",
                     name);
    else if (holds(f, 1, "PN", 2) || holds(f, 2, "NG", 2))
        heed__refuse(f, "is a damaged PNG: a wrong signature, as of a transfer in text mode");
    else if (is_text(f))
        heed__refuse(f, "is not a picture: expected JPEG, PNG or BMP, found text");
    else
        heed__refuse(f,
                     "is not a picture: expected JPEG, PNG or BMP, found a file that begins "
                     "with byte 0x%02X",
                     f->bytes[0]);
}

heed__format heed__picture_format(const heed__picture_bytes *f) {
    if (holds(f, 0, "\xFF\xD8\xFF", 3)) return HEED__JPEG;
    if (holds(f, 0, "\x89PNG\r\n\x1A\n", 8)) return HEED__PNG;
    if (holds(f, 0, "BM", 2)) return HEED__BMP;
    refuse_foreign(f);
    return HEED__FOREIGN;
}
