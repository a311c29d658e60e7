/* Small picture files made in memory, right and wrong. */
#ifndef HEED_TEST_PICTURES_H
#define HEED_TEST_PICTURES_H

#include "test.h"

typedef struct {
    unsigned char bytes[8192];
    size_t n;
} picture_file;

void file_put(picture_file *f, const void *bytes, size_t n);
void file_little(picture_file *f, uint32_t value, int bytes);
void file_big(picture_file *f, uint32_t value, int bytes);

/* PNG: signature and header; a chunk with its CRC; the rows, filter bytes included, as IDAT. */
void png_begin(picture_file *f, uint32_t width, uint32_t height, int depth, int colour);
void png_chunk(picture_file *f, const char *type, const void *bytes, size_t n);
void png_end(picture_file *f, const void *rows, size_t n);

/* BMP: both headers (size 12 or 40 to 124, filled with zeros); what follows is put behind. */
typedef struct {
    uint32_t header, offset, compression, colours;
    int width, height, bits;
} bmp_header;
void bmp_begin(picture_file *f, bmp_header h);

/* TGA: the header. */
typedef struct {
    int kind, first, colours, colour_bits, width, height, bits, descriptor;
} tga_header;
void tga_begin(picture_file *f, tga_header h);

/* An EXIF block of one orientation. */
void exif_put(picture_file *f, bool big, uint32_t orientation);
/* The JPEG with EXIF spliced in behind its start. */
void jpeg_with_exif(picture_file *f, const unsigned char *jpeg, size_t n, const picture_file *exif);

/* Decodes; the reason in why. */
heed_status decode(const picture_file *f, const char *name, heed_picture *out);
extern char why[HEED_WHY];

/* The file is a picture of these channels and bytes. */
#define CHECK_PICTURE(f, name, w, h, c, ...)                                                       \
    check_picture(__FILE__, __LINE__, f, name, w, h, c, (const unsigned char[]){__VA_ARGS__})
void check_picture(const char *file, int line, const picture_file *f, const char *name, int width,
                   int height, int channels, const unsigned char *expected);
/* The file is refused, and the reason has the part. */
#define CHECK_REFUSED(f, name, part)                                                               \
    do {                                                                                           \
        heed_picture p_;                                                                           \
        CHECK(decode(f, name, &p_) == HEED_DATA && !p_.pixels);                                    \
        CHECK_HAS(why, part);                                                                      \
        heed_picture_free(&p_);                                                                    \
    } while (0)
/* No beginning of the file passes for a picture. */
void check_cut(const char *file, int line, const picture_file *f, const char *name);
#define CHECK_CUT(f, name) check_cut(__FILE__, __LINE__, f, name)

#endif
