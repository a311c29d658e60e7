/* Small picture files made in memory, right and wrong. */
#ifndef HEED_TEST_PICTURES_H
#define HEED_TEST_PICTURES_H

#include "test.h"

typedef struct {
    unsigned char bytes[16384];
    size_t n;
} picture_file;

void file_put(picture_file *f, const void *bytes, size_t n);
void file_little(picture_file *f, uint32_t value, int bytes);
void file_big(picture_file *f, uint32_t value, int bytes);

/* PNG: signature and header; a chunk with its CRC; the rows, filter bytes included, as IDAT. */
void png_begin(picture_file *f, uint32_t width, uint32_t height, int depth, int colour);
void png_chunk(picture_file *f, const char *type, const void *bytes, size_t n);
void png_end(picture_file *f, const void *rows, size_t n);
/* Writes a file of 1 or 3 channels, of 8 bits, in the test's folder. */
void png_write(const char *name, const unsigned char *pixels, int width, int height, int channels);

/* BMP: both headers (size 12 or 40 to 124, filled with zeros); what follows is put behind. */
typedef struct {
    uint32_t header, offset, compression, colours;
    int width, height, bits;
} bmp_header;
void bmp_begin(picture_file *f, bmp_header h);

/* An EXIF block of one orientation. */
void exif_put(picture_file *f, bool big, uint32_t orientation);
/* The JPEG with EXIF spliced in behind its start. */
void jpeg_with_exif(picture_file *f, const unsigned char *jpeg, size_t n, const picture_file *exif);

/* Decodes; the reason in refused. */
heed_status decode(const picture_file *f, heed_picture *out);
extern char refused[HEED_WHY];

/* The file is a picture of these channels and bytes. */
#define CHECK_PICTURE(f, w, h, c, ...)                                                             \
    check_picture(__FILE__, __LINE__, f, w, h, c, (const unsigned char[]){__VA_ARGS__})
void check_picture(const char *file, int line, const picture_file *f, int width, int height,
                   int channels, const unsigned char *expected);
/* The file is refused, and the reason has the part. */
#define CHECK_REFUSED(f, part)                                                                     \
    do {                                                                                           \
        heed_picture p_;                                                                           \
        CHECK(decode(f, &p_) == HEED_DATA && !p_.pixels);                                          \
        CHECK_HAS(refused, part);                                                                  \
        heed_picture_free(&p_);                                                                    \
    } while (0)
/* No beginning of the file passes for a picture. */
void check_cut(const char *file, int line, const picture_file *f);
#define CHECK_CUT(f) check_cut(__FILE__, __LINE__, f)

#endif
