/* png.c -- checks a complete PNG file (ISO/IEC 15948): the chunks and their CRCs, and that the
 * stream inflates to exactly the rows that the header states. */
#include "data/image/image.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SIGNATURE = 8, FRAME = 12 /* length, type and CRC of a chunk */ };

typedef struct {
    const heed__picture_bytes *f;
    heed__picture_info *info;
    int depth, colour, interlaced;
    uint64_t rows; /* bytes of all rows, filter bytes included */
    bool header, palette, end;
    bool data, data_over; /* IDAT seen; another chunk seen after it */
    z_stream z;
    int zlib; /* last result of inflate */
} png;

/* By colour type: the samples of a pixel, and the sum of their possible numbers of bits. */
static const struct {
    int samples, depths;
} kinds[7] = {{1, 31}, {0, 0}, {3, 24}, {1, 15}, {2, 24}, {0, 0}, {4, 24}};

static uint64_t bytes_of_rows(const png *p, int width, int height) {
    if (width < 1 || height < 1) return 0;
    uint64_t bits = (uint64_t)width * (uint64_t)(kinds[p->colour].samples * p->depth);
    return (uint64_t)height * (1 + (bits + 7) / 8);
}

/* Adam7: seven passes, each of the pixels (x0 + i dx, y0 + j dy). */
static uint64_t bytes_of_picture(const png *p) {
    static const int passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                     {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    int width = p->info->width, height = p->info->height;
    if (!p->interlaced) return bytes_of_rows(p, width, height);
    uint64_t sum = 0;
    for (int i = 0; i < 7; i++) {
        const int *q = passes[i];
        sum +=
            bytes_of_rows(p, (width - q[0] + q[2] - 1) / q[2], (height - q[1] + q[3] - 1) / q[3]);
    }
    return sum;
}

static heed_status header(png *p, const unsigned char *b, size_t n) {
    if (n != 13 || p->header) return heed__refuse(p->f, "is a damaged PNG: a wrong header");
    p->header = true;
    heed_status status = heed__check_sides(p->f, heed__big32(b), heed__big32(b + 4));
    if (status != HEED_OK) return status;
    p->info->width = (int)heed__big32(b);
    p->info->height = (int)heed__big32(b + 4);
    p->depth = b[8], p->colour = b[9], p->interlaced = b[12];
    bool one_bit = p->depth && !(p->depth & (p->depth - 1));
    if (p->colour > 6 || !one_bit || !(kinds[p->colour].depths & p->depth))
        return heed__refuse(p->f, "is a damaged PNG: colour type %d does not go with %d bits",
                            p->colour, p->depth);
    if (b[10] || b[11] || b[12] > 1)
        return heed__refuse(p->f, "is a damaged PNG: unknown compression, filter or interlacing");
    p->rows = bytes_of_picture(p);
    return HEED_OK;
}

static heed_status palette(png *p, size_t at, size_t n) {
    if (p->palette || p->data || n == 0 || n % 3 != 0 || n > 768)
        return heed__refuse(p->f, "is a damaged PNG: a wrong palette");
    p->palette = true;
    if (p->colour == 3 && n / 3 < (size_t)1 << p->depth) p->info->palette = at;
    return HEED_OK;
}

/* Inflates into a small window: only lengths and the checksum matter here. */
static heed_status data(png *p, const unsigned char *b, size_t n) {
    unsigned char window[1 << 14];
    if (p->data_over || (p->colour == 3 && !p->palette))
        return heed__refuse(p->f, "is a damaged PNG: its chunks are out of order");
    if (!p->data && inflateInit(&p->z) != Z_OK) return heed__refuse_memory(p->f);
    p->data = true;
    p->z.next_in = (z_const Bytef *)(uintptr_t)b;
    p->z.avail_in = (uInt)n;
    while (p->zlib == Z_OK) {
        p->z.next_out = window;
        p->z.avail_out = sizeof window;
        p->zlib = inflate(&p->z, Z_NO_FLUSH);
        if (p->z.total_out > p->rows)
            return heed__refuse(p->f, "is a damaged PNG: more pixels than its sides allow");
    }
    if (p->zlib == Z_BUF_ERROR) p->zlib = Z_OK; /* the chunk is used up */
    if (p->zlib == Z_OK || p->zlib == Z_STREAM_END) return HEED_OK;
    return heed__refuse(p->f, "is a damaged PNG: its pixels do not decompress (%s)",
                        p->z.msg ? p->z.msg : "zlib");
}

static heed_status chunk(png *p, size_t at, size_t n) {
    const unsigned char *type = p->f->bytes + at + 4, *b = type + 4;
    bool is_data = memcmp(type, "IDAT", 4) == 0;
    if (memcmp(type, "CgBI", 4) == 0)
        return heed__refuse(p->f, "is an Apple CgBI picture: expected JPEG, PNG or BMP; hint: "
                                  "convert it first, pngcrush -revert-iphone-optimizations");
    if (memcmp(type, "IHDR", 4) == 0) return header(p, b, n);
    if (!p->header) return heed__refuse(p->f, "is a damaged PNG: its header is not first");
    if (p->data && !is_data) p->data_over = true;
    if (is_data) return data(p, b, n);
    if (memcmp(type, "PLTE", 4) == 0) return palette(p, at, n);
    if (memcmp(type, "tRNS", 4) == 0 && p->colour == 0 && n == 2 && heed__big16(b) >> p->depth)
        return heed__refuse(p->f, "is a damaged PNG: its transparent grey is not a grey of %d bits",
                            p->depth);
    if (memcmp(type, "eXIf", 4) == 0) p->info->orientation = heed__exif_orientation(b, n);
    p->end = memcmp(type, "IEND", 4) == 0;
    if (!p->end && !(type[0] & 32))
        return heed__refuse(p->f, "is a damaged PNG: an unknown critical chunk");
    return HEED_OK;
}

static heed_status walk(png *p) {
    const heed__picture_bytes *f = p->f;
    for (size_t at = SIGNATURE; !p->end;) {
        if (f->n - at < FRAME) return heed__refuse(f, "is cut short: a PNG without its end");
        size_t n = heed__big32(f->bytes + at);
        if (n > f->n - at - FRAME) return heed__refuse(f, "is cut short: a PNG within a chunk");
        uLong crc = crc32(crc32(0, NULL, 0), f->bytes + at + 4, (uInt)n + 4);
        if (crc != heed__big32(f->bytes + at + 8 + n))
            return heed__refuse(f, "is a damaged PNG: a wrong checksum at byte %zu", at);
        heed_status status = chunk(p, at, n);
        if (status != HEED_OK) return status;
        at += FRAME + n;
    }
    if (!p->data || p->zlib != Z_STREAM_END || p->z.total_out < p->rows)
        return heed__refuse(f, "is cut short: a PNG with too few pixels");
    return HEED_OK;
}

heed_status heed__png_check(const heed__picture_bytes *f, heed__picture_info *out) {
    *out = (heed__picture_info){.orientation = 1};
    png p = {.f = f, .info = out};
    heed_status status = walk(&p);
    if (p.data) inflateEnd(&p.z);
    return status;
}

unsigned char *heed__png_fill_palette(const heed__picture_bytes *f, size_t palette, size_t *n) {
    enum { WHOLE = 768 };
    size_t length = heed__big32(f->bytes + palette), end = palette + FRAME + length;
    *n = f->n - length + WHOLE;
    unsigned char *copy = calloc(1, *n);
    if (!copy) return NULL;
    unsigned char *chunk_at = copy + palette, *after = chunk_at + FRAME + WHOLE;
    memcpy(copy, f->bytes, palette + 8 + length);
    chunk_at[2] = WHOLE >> 8, chunk_at[3] = WHOLE & 255;
    uLong crc = crc32(crc32(0, NULL, 0), chunk_at + 4, WHOLE + 4);
    for (int i = 0; i < 4; i++) after[i - 4] = (unsigned char)(crc >> (24 - 8 * i));
    memcpy(after, f->bytes + end, f->n - end);
    return copy;
}
