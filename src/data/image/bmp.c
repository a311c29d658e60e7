/* bmp.c -- uncompressed BMP with any header version: palettes of 1, 2, 4, 8 bits, and pixels of 16,
 * 24, 32 bits by masks. Does not use stb_image, which may read beyond the palette's colours and
 * reads too few of an OS/2 palette; and checking a file is most of the work of reading it. */
#include "data/image/image.h"

#include <string.h>

enum { FILE_HEADER = 14, OS2 = 12, WITH_MASKS = 52, WITH_ALPHA = 56 };
enum { RGB, RLE8, RLE4, MASKS, JPEG, PNG, MASKS_ALPHA };

typedef struct {
    const heed__picture_bytes *f;
    size_t header; /* its size identifies its version */
    int64_t width, height;
    bool top_down;
    uint32_t bits, compression, colours, offset;
    uint32_t mask[4], shift[4], most[4]; /* red, green, blue, alpha */
    unsigned char palette[256][3];       /* RGB; black if absent */
} bmp;

static heed_status unsupported(const bmp *m, const char *what) {
    return heed__refuse(
        m->f, "is of an unsupported kind: a BMP %s; hint: convert it first, magick FILE FILE.png",
        what);
}

static heed_status read_header(bmp *m) {
    const unsigned char *b = m->f->bytes;
    if (m->f->n < FILE_HEADER + OS2) return heed__refuse(m->f, "is cut short: a BMP's header");
    m->offset = heed__little32(b + 10);
    m->header = heed__little32(b + FILE_HEADER);
    b += FILE_HEADER;
    if (m->header != OS2 && (m->header < 40 || m->header > 124))
        return heed__refuse(
            m->f, "is a damaged BMP: expected a header of 12 or 40 to 124 bytes, found %zu",
            m->header);
    if (m->f->n - FILE_HEADER < m->header)
        return heed__refuse(m->f, "is cut short: a BMP's header");
    bool os2 = m->header == OS2;
    m->bits = heed__little16(b + (os2 ? 10 : 14));
    m->width = heed__little16(b + 4);
    m->height = heed__little16(b + 6);
    if (os2) return HEED_OK;
    m->width = (int32_t)heed__little32(b + 4);
    m->height = (int32_t)heed__little32(b + 8);
    m->top_down = m->height < 0;
    if (m->top_down) m->height = -m->height;
    m->compression = heed__little32(b + 16);
    m->colours = heed__little32(b + 32);
    return HEED_OK;
}

static heed_status check_kind(const bmp *m) {
    if (m->compression == RLE8 || m->compression == RLE4)
        return unsupported(m, "with run-length coding");
    if (m->compression == JPEG || m->compression == PNG)
        return unsupported(m, "with a JPEG or PNG inside");
    bool masks = m->compression == MASKS || m->compression == MASKS_ALPHA;
    if (m->compression != RGB && !masks) return unsupported(m, "with an unknown compression");
    bool deep = m->bits == 16 || m->bits == 32;
    bool known =
        deep || m->bits == 24 || m->bits == 1 || m->bits == 2 || m->bits == 4 || m->bits == 8;
    if (!known || (masks && !deep))
        return heed__refuse(
            m->f, "is a damaged BMP: expected 1, 2, 4, 8, 16, 24 or 32 bits a pixel, found %u",
            m->bits);
    return HEED_OK;
}

/* The masks are in the header from version 2 on, and behind it in older ones. */
static heed_status read_masks(bmp *m) {
    static const uint32_t usual[2][3] = {{0x7C00, 0x3E0, 0x1F}, {0xFF0000, 0xFF00, 0xFF}};
    bool given = m->compression != RGB;
    int count = !given ? 3 : m->compression == MASKS_ALPHA || m->header >= WITH_ALPHA ? 4 : 3;
    if (given && m->f->n < FILE_HEADER + 40 + 4 * (size_t)count)
        return heed__refuse(m->f, "is cut short: a BMP's masks");
    for (int i = 0; i < count; i++) {
        uint32_t mask = given ? heed__little32(m->f->bytes + FILE_HEADER + 40 + 4 * i)
                              : usual[m->bits == 32][i];
        m->mask[i] = mask;
        while (mask && !(mask >> m->shift[i] & 1)) m->shift[i]++;
        m->most[i] = mask >> m->shift[i];
        if (m->most[i] & (m->most[i] + 1) || (i < 3 && !mask))
            return heed__refuse(
                m->f, "is a damaged BMP: expected a mask of adjoining bits, found 0x%X", mask);
    }
    return HEED_OK;
}

static void read_palette(bmp *m) {
    size_t each = m->header == OS2 ? 3 : 4, at = FILE_HEADER + m->header;
    size_t count = (size_t)1 << m->bits;
    if (m->colours > 0 && m->colours < count) count = m->colours;
    if (m->offset == at)
        m->offset += (uint32_t)(count * each); /* some files give the palette's place */
    size_t end = m->offset < m->f->n ? m->offset : m->f->n;
    for (size_t i = 0; i < count && at + each <= end; i++, at += each)
        for (size_t c = 0; c < 3; c++) m->palette[i][c] = m->f->bytes[at + 2 - c];
}

static void indexed_row(const bmp *m, const unsigned char *from, unsigned char *to) {
    size_t bits = m->bits, mask = ((size_t)1 << bits) - 1;
    for (size_t x = 0; x < (size_t)m->width; x++, to += 3) {
        size_t shift = 8 - bits - x * bits % 8;
        memcpy(to, m->palette[(size_t)from[x * bits / 8] >> shift & mask], 3);
    }
}

static void masked_row(const bmp *m, const unsigned char *from, int channels, unsigned char *to) {
    size_t each = m->bits / 8;
    for (size_t x = 0; x < (size_t)m->width; x++, from += each) {
        uint32_t pixel = each == 4 ? heed__little32(from) : heed__little16(from);
        for (int c = 0; c < channels; c++) {
            uint64_t value = (pixel & m->mask[c]) >> m->shift[c];
            *to++ = (unsigned char)(value * 255 / m->most[c]);
        }
    }
}

heed_status heed__bmp_decode(const heed__picture_bytes *f, heed_picture *out) {
    bmp m = {.f = f};
    heed_status status = read_header(&m);
    if (status == HEED_OK) status = check_kind(&m);
    if (status == HEED_OK) status = heed__check_sides(f, m.width, m.height);
    if (status == HEED_OK && (m.bits == 16 || m.bits == 32)) status = read_masks(&m);
    if (status != HEED_OK) return status;
    if (m.bits <= 8) read_palette(&m);
    size_t width = (size_t)m.width, height = (size_t)m.height;
    size_t row = (width * m.bits + 7) / 8, stride = (row + 3) / 4 * 4;
    if (m.offset > f->n || f->n - m.offset < stride * (height - 1) + row)
        return heed__refuse(f, "is cut short: a BMP with too few pixels");
    *out = (heed_picture){(int)width, (int)height, m.mask[3] ? 4 : 3, NULL};
    status = heed__picture_new(f, out);
    for (size_t y = 0; y < height && status == HEED_OK; y++) {
        const unsigned char *from = f->bytes + m.offset + y * stride;
        size_t line = m.top_down ? y : height - 1 - y;
        unsigned char *to = out->pixels + line * width * (size_t)out->channels;
        if (m.bits <= 8)
            indexed_row(&m, from, to);
        else if (m.bits != 24)
            masked_row(&m, from, out->channels, to);
        else
            for (size_t i = 0; i < 3 * width; i++) to[i] = from[i + 2 - 2 * (i % 3)];
    }
    return status;
}
