/* jpeg.c -- checks a complete JPEG file (ITU-T T.81): every segment, that every component is coded,
 * and that the file ends with its end marker. stb_image decodes the pixels. */
#include "data/image/image.h"

#include <string.h>

/* Markers; SOF0: baseline, extended and progressive follow. */
enum { SOF0 = 0xC0, SOF2 = 0xC2, DHT = 0xC4, SOI = 0xD8, EOI = 0xD9, SOS = 0xDA, DQT = 0xDB };
enum { DRI = 0xDD, APP1 = 0xE1, APP14 = 0xEE };
enum { SCAN_LIMIT = 100 };      /* typical progressive files have 10 */
enum { PIXELS_PER_BYTE = 512 }; /* a block of 64 needs at least a bit */

typedef struct {
    int id, across, down, table;
} component;

typedef struct {
    const heed__picture_bytes *f;
    heed__picture_info *info;
    int frame; /* the marker of the frame's header, 0 before it */
    component part[4];
    int parts, across, down;      /* the largest sampling factors */
    unsigned huffman[2], quantum; /* a bit per table that is defined; huffman of DC, AC */
    unsigned coded;               /* a bit per component that a scan has begun */
    uint32_t interval;            /* MCUs between restart markers, 0: none */
    uint32_t restarts;            /* those that the current scan needs */
    int scans, adobe;             /* adobe: the colour transform that its segment names, -1: none */
    bool exif;
} jpeg;

static heed_status damaged(const jpeg *j, const char *what) {
    return heed__refuse(j->f, "is a damaged JPEG: %s", what);
}

static heed_status frame_parts(jpeg *j, const unsigned char *b) {
    for (int i = 0; i < j->parts; i++, b += 3) {
        component *p = &j->part[i];
        *p = (component){b[0], b[1] >> 4, b[1] & 15, b[2]};
        if (p->across < 1 || p->across > 4 || p->down < 1 || p->down > 4 || p->table > 3)
            return damaged(j, "a wrong component");
        if (p->across > j->across) j->across = p->across;
        if (p->down > j->down) j->down = p->down;
    }
    for (int i = 0; i < j->parts; i++)
        if (j->across % j->part[i].across != 0 || j->down % j->part[i].down != 0)
            return heed__refuse(j->f, "is of an unsupported kind: a JPEG whose components are "
                                      "sampled at a ratio that is not a whole number");
    return HEED_OK;
}

static heed_status frame(jpeg *j, int marker, const unsigned char *b, size_t n) {
    if (j->frame || n < 6) return damaged(j, "a wrong frame header");
    const char *kind = marker == 0xC3  ? "lossless"
                       : marker > 0xC8 ? "arithmetic-coded"
                       : marker > 0xC3 ? "hierarchical"
                       : b[0] == 12    ? "12-bit"
                                       : NULL;
    if (kind)
        return heed__refuse(j->f,
                            "is of an unsupported kind: expected a baseline or progressive JPEG, "
                            "found a JPEG that is %s; hint: convert it first, djpeg",
                            kind);
    if (b[0] != 8) return damaged(j, "expected 8 bits a sample");
    int height = (int)heed__big16(b + 1), width = (int)heed__big16(b + 3);
    heed_status status = heed__check_sides(j->f, width, height);
    if (status != HEED_OK) return status;
    j->parts = b[5];
    if (j->parts != 1 && j->parts != 3 && j->parts != 4)
        return heed__refuse(
            j->f, "is of an unsupported kind: expected a JPEG of 1, 3 or 4 components, found %d",
            j->parts);
    if (n != 6 + 3 * (size_t)j->parts) return damaged(j, "a wrong frame header");
    if ((size_t)width * (size_t)height / PIXELS_PER_BYTE > j->f->n)
        return heed__refuse(j->f, "is cut short: %zu bytes cannot hold %d x %d pixels", j->f->n,
                            width, height);
    j->frame = marker;
    j->info->width = width;
    j->info->height = height;
    return frame_parts(j, b + 6);
}

/* Per table: class and number, the numbers of codes of 1 to 16 bits, their values. */
static heed_status huffman(jpeg *j, const unsigned char *b, size_t n) {
    while (n >= 17) {
        size_t codes = 0;
        for (int i = 1; i <= 16; i++) codes += b[i];
        if (b[0] >> 4 > 1 || (b[0] & 15) > 3 || codes > 255 || codes > n - 17) break;
        j->huffman[b[0] >> 4] |= 1u << (b[0] & 15);
        b += 17 + codes;
        n -= 17 + codes;
    }
    return n == 0 ? HEED_OK : damaged(j, "a wrong Huffman table");
}

static heed_status quantization(jpeg *j, const unsigned char *b, size_t n) {
    while (n > 0) {
        size_t length = b[0] >> 4 ? 129 : 65;
        if (b[0] >> 4 > 1 || (b[0] & 15) > 3 || n < length) break;
        j->quantum |= 1u << (b[0] & 15);
        b += length;
        n -= length;
    }
    return n == 0 ? HEED_OK : damaged(j, "a wrong quantization table");
}

static uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

/* MCUs of a scan: the blocks of a single component, else the picture's MCUs. T.81, sec. A.2. */
static uint32_t units(const jpeg *j, int count, const component *p) {
    uint32_t width = (uint32_t)j->info->width, height = (uint32_t)j->info->height;
    uint32_t across = (uint32_t)j->across, down = (uint32_t)j->down;
    if (count > 1) return ceil_div(width, 8 * across) * ceil_div(height, 8 * down);
    return ceil_div(ceil_div(width * (uint32_t)p->across, across), 8) *
           ceil_div(ceil_div(height * (uint32_t)p->down, down), 8);
}

/* Components with their tables; first and last coefficient; bits known before, and left open. */
static heed_status scan(jpeg *j, const unsigned char *b, size_t n) {
    int count = n > 0 ? b[0] : 0, i = 0;
    if (!j->frame || count < 1 || count > j->parts || n != 4 + 2 * (size_t)count)
        return damaged(j, "a wrong scan header");
    if (++j->scans > SCAN_LIMIT) return damaged(j, "more than 100 scans");
    const unsigned char *tail = b + 1 + 2 * count;
    bool progressive = j->frame == SOF2, dc = !progressive || tail[0] == 0;
    bool first = !progressive || tail[2] >> 4 == 0, ac = !progressive || tail[0] > 0;
    for (int k = 0; k < count; k++) {
        for (i = 0; i < j->parts && j->part[i].id != b[1 + 2 * k];) i++;
        unsigned tables = b[2 + 2 * k];
        if (i == j->parts) return damaged(j, "a scan of an unknown component");
        if ((dc && first && !(j->huffman[0] >> (tables >> 4) & 1)) ||
            (ac && !(j->huffman[1] >> (tables & 15) & 1)))
            return damaged(j, "a scan without its Huffman table");
        if (dc && first) j->coded |= 1u << i;
        if (!(j->coded >> i & 1)) return damaged(j, "scans out of order");
    }
    if (progressive && (tail[1] > 63 || tail[0] > tail[1] || (ac && count > 1)))
        return damaged(j, "a wrong scan header");
    j->restarts = j->interval ? (units(j, count, &j->part[i]) - 1) / j->interval : 0;
    return HEED_OK;
}

static heed_status segment(jpeg *j, int marker, const unsigned char *b, size_t n) {
    if (marker == DHT) return huffman(j, b, n);
    if (marker == DQT) return quantization(j, b, n);
    if (marker == SOS) return scan(j, b, n);
    if (marker >= SOF0 && marker < 0xD0 && marker != 0xC8 && marker != 0xCC)
        return frame(j, marker, b, n);
    if (marker == DRI && n == 2) j->interval = heed__big16(b);
    if (marker == APP1 && !j->exif && n >= 6 && memcmp(b, "Exif\0\0", 6) == 0) {
        j->exif = true;
        j->info->orientation = heed__exif_orientation(b + 6, n - 6);
    }
    if (marker == APP14 && n >= 12 && memcmp(b, "Adobe", 5) == 0) j->adobe = b[11];
    return HEED_OK;
}

/* The next marker with a segment or that ends the picture, f->n if none; counts restart markers. */
static size_t next_marker(const heed__picture_bytes *f, size_t at, uint32_t *restarts) {
    *restarts = 0;
    while (at + 1 < f->n) {
        const unsigned char *b = memchr(f->bytes + at, 0xFF, f->n - 1 - at);
        if (!b) break;
        at = (size_t)(b - f->bytes);
        if (b[1] >= 0xD0 && b[1] <= 0xD7)
            ++*restarts;
        else if (b[1] != 0 && b[1] != 0xFF && b[1] != SOI && b[1] != 1)
            return at;
        at += b[1] == 0xFF ? 1 : 2;
    }
    return f->n;
}

static heed_status walk(jpeg *j) {
    const heed__picture_bytes *f = j->f;
    uint32_t restarts;
    for (size_t at = 2;;) {
        at = next_marker(f, at, &restarts);
        if (at == f->n) return heed__refuse(f, "is cut short: a JPEG without its end");
        if (j->interval ? restarts < j->restarts : restarts > 0)
            return damaged(j, "restart markers are missing, or not announced");
        j->restarts = 0;
        int marker = f->bytes[at + 1];
        if (marker == EOI) return HEED_OK;
        at += 2;
        size_t n = f->n - at < 2 ? 0 : heed__big16(f->bytes + at);
        if (n > f->n - at) return heed__refuse(f, "is cut short: a JPEG within its header");
        if (n < 2) return damaged(j, "a segment of no length");
        heed_status status = segment(j, marker, f->bytes + at + 2, n - 2);
        if (status != HEED_OK) return status;
        at += n;
    }
}

heed_status heed__jpeg_check(const heed__picture_bytes *f, heed__picture_info *out) {
    *out = (heed__picture_info){.orientation = 1};
    jpeg j = {.f = f, .info = out, .across = 1, .down = 1, .adobe = -1};
    heed_status status = walk(&j);
    if (status != HEED_OK) return status;
    if (!j.frame || j.coded != (1u << j.parts) - 1) return damaged(&j, "a component is missing");
    for (int i = 0; i < j.parts; i++)
        if (!(j.quantum >> j.part[i].table & 1))
            return damaged(&j, "a quantization table is missing");
    if (j.parts == 4 && j.adobe != 0 && j.adobe != 2)
        return heed__refuse(f, "is of an unsupported kind: a CMYK JPEG without Adobe's marker, "
                               "which tells its inks; hint: convert it to RGB first");
    return HEED_OK;
}
