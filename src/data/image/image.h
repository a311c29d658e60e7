/* image.h -- shared by the picture readers. Each reader checks the entire file before it allocates
 * pixels: sizes, checksums, and that the file is complete. */
#ifndef HEED_DATA_IMAGE_H
#define HEED_DATA_IMAGE_H

#include <heed/image.h>

typedef struct {
    const unsigned char *bytes;
    size_t n;
    char *why; /* HEED_WHY bytes */
} heed__picture_bytes;

static inline uint32_t heed__big16(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t heed__big32(const unsigned char *p) {
    return heed__big16(p) << 16 | heed__big16(p + 2);
}
static inline uint32_t heed__little16(const unsigned char *p) { return (uint32_t)p[1] << 8 | p[0]; }
static inline uint32_t heed__little32(const unsigned char *p) {
    return heed__little16(p + 2) << 16 | heed__little16(p);
}

/* Writes the reason; returns HEED_DATA. */
heed_status heed__refuse(const heed__picture_bytes *f, const char *format, ...) HEED_PRINTF(2, 3);
heed_status
heed__refuse_memory(const heed__picture_bytes *f); /* out of memory; returns HEED_FAILED */
/* Checks that the sides are positive, with at most 2^26 pixels. */
heed_status heed__check_sides(const heed__picture_bytes *f, int64_t width, int64_t height);
/* Allocates the pixels of out, whose sides and channels are set and checked. */
heed_status heed__picture_new(const heed__picture_bytes *f, heed_picture *out);

typedef enum { HEED__JPEG, HEED__PNG, HEED__BMP, HEED__FOREIGN } heed__format;
/* The format by content. FOREIGN: the reason is written. */
heed__format heed__picture_format(const heed__picture_bytes *f);

/* The result of checking a file; orientation as in EXIF, 1 .. 8. */
typedef struct {
    int width, height, orientation;
    size_t palette; /* PNG: offset of a PLTE chunk with too few colours for all pixels, or 0 */
} heed__picture_info;
heed_status heed__jpeg_check(const heed__picture_bytes *f, heed__picture_info *out);
heed_status heed__png_check(const heed__picture_bytes *f, heed__picture_info *out);
/* A copy of the file with all 256 colours, the added ones black, to be freed; NULL: no memory. */
unsigned char *heed__png_fill_palette(const heed__picture_bytes *f, size_t palette, size_t *n);

heed_status heed__bmp_decode(const heed__picture_bytes *f, heed_picture *out);

/* The orientation in EXIF's TIFF structure, 1 if absent or damaged. CIPA DC-008, sec. 4.6.4. */
int heed__exif_orientation(const unsigned char *tiff, size_t n);
/* Turns p upright; false if out of memory. */
bool heed__picture_turn(heed_picture *p, int orientation);

/* The centre of p as v says where it has resize_to or filter: out (size,size,channels),
 * levels from 0 to 255. work: heed__resample_work numbers. */
size_t heed__resample_work(const heed_picture *p, const heed_image_transform *v);
void heed__resample(const heed_picture *p, const heed_image_transform *v, heed_real *out,
                    heed_real *work);

#endif
