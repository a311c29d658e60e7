/* image.h -- what the files about pictures share. Each reader judges the whole file before memory
 * is taken for its pixels: sizes, checksums, and that nothing is cut off. */
#ifndef HEED_DATA_IMAGE_H
#define HEED_DATA_IMAGE_H

#include <heed/image.h>

typedef struct {
    const unsigned char *bytes;
    size_t n;
    char *why; /* HEED_WHY bytes */
} heed__file;

static inline uint32_t heed__big16(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t heed__big32(const unsigned char *p) {
    return heed__big16(p) << 16 | heed__big16(p + 2);
}
static inline uint32_t heed__little16(const unsigned char *p) { return (uint32_t)p[1] << 8 | p[0]; }
static inline uint32_t heed__little32(const unsigned char *p) {
    return heed__little16(p + 2) << 16 | heed__little16(p);
}

/* Writes the reason; returns HEED_DATA. */
heed_status heed__refuse(const heed__file *f, const char *format, ...) HEED_PRINTF(2, 3);
/* The sides are positive, and at most 2^26 pixels. */
heed_status heed__check_sides(const heed__file *f, int64_t width, int64_t height);
/* Room for the pixels of out, whose sides and channels are set and checked. */
heed_status heed__picture_new(const heed__file *f, heed_picture *out);

typedef enum { HEED__JPEG, HEED__PNG, HEED__BMP, HEED__TGA, HEED__FOREIGN } heed__format;
/* By content; TGA, whose magic is weak, by the name too. The reason is written for a foreign one.
 */
heed__format heed__picture_format(const heed__file *f, const char *name);

/* What a check of the whole file finds; orientation as EXIF's, 1 .. 8. */
typedef struct {
    int width, height, orientation;
    size_t palette; /* PNG: where a PLTE chunk begins that lacks colours that pixels can name, or 0
                     */
} heed__picture_info;
heed_status heed__jpeg_check(const heed__file *f, heed__picture_info *out);
heed_status heed__png_check(const heed__file *f, heed__picture_info *out);
/* A copy of the file with all 256 colours, the new ones black (free); NULL without memory. */
unsigned char *heed__png_fill_palette(const heed__file *f, size_t palette, size_t *n);

heed_status heed__bmp_decode(const heed__file *f, heed_picture *out);
heed_status heed__tga_decode(const heed__file *f, heed_picture *out);

/* The orientation that EXIF's TIFF structure names, 1 if none or damaged. CIPA DC-008, sec. 4.6.4.
 */
int heed__exif_orientation(const unsigned char *tiff, size_t n);
/* Turns p upright; false without memory. */
bool heed__picture_turn(heed_picture *p, int orientation);

#endif
