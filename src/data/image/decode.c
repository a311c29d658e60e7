/* decode.c -- reads pictures: JPEG, PNG and BMP. Each reader checks the entire file before it
 * allocates pixels: sizes, checksums, and that the file is complete. The only file that uses
 * stb_image, which checks neither: JPEG and PNG are decoded after that. */
#include "core/os.h"
#include "text/text.h"

#include <ctype.h>
#include <errno.h>
#include <heed/image.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

typedef struct {
    const unsigned char *bytes;
    size_t n;
    char *why; /* HEED_WHY bytes */
} file;

static inline uint32_t big16(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t big32(const unsigned char *p) { return big16(p) << 16 | big16(p + 2); }
static inline uint32_t little16(const unsigned char *p) { return (uint32_t)p[1] << 8 | p[0]; }
static inline uint32_t little32(const unsigned char *p) {
    return little16(p + 2) << 16 | little16(p);
}

typedef enum { HEED__JPEG, HEED__PNG, HEED__BMP, HEED__FOREIGN } format;
/* The result of checking a file; orientation as in EXIF, 1 .. 8. */
typedef struct {
    int width, height, orientation;
    size_t palette; /* PNG: offset of a PLTE chunk with too few colours for all pixels, or 0 */
} info;
enum { PIXEL_LIMIT = 1 << 26, FILE_LIMIT = 1 << 28 };

/* Writes the reason; returns HEED_DATA. */
static heed_status refuse(const file *f, const char *text, ...) HEED_PRINTF(2, 3);
static heed_status refuse(const file *f, const char *text, ...) {
    va_list args;
    va_start(args, text);
    vsnprintf(f->why, HEED_WHY, text, args);
    va_end(args);
    return HEED_DATA;
}

/* Returns HEED_FAILED. */
static heed_status refuse_memory(const file *f) {
    refuse(f, "cannot be decoded: out of memory");
    return HEED_FAILED;
}

/* Checks that the sides are positive, with at most 2^26 pixels. */
static heed_status check_sides(const file *f, int64_t width, int64_t height) {
    if (width < 1 || height < 1)
        return refuse(f, "is damaged: expected sides of at least 1, found %lld x %lld",
                      (long long)width, (long long)height);
    if (width > PIXEL_LIMIT / height)
        return refuse(f, "is too large: expected at most %d pixels, found %lld x %lld", PIXEL_LIMIT,
                      (long long)width, (long long)height);
    return HEED_OK;
}

/* Allocates the pixels of out, whose sides and channels are set and checked. */
static heed_status new_pixels(const file *f, heed_picture *out) {
    out->pixels = malloc((size_t)out->width * (size_t)out->height * (size_t)out->channels);
    return out->pixels ? HEED_OK : refuse_memory(f);
}

/* ---- the format by content ---- */

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

static bool holds(const file *f, size_t at, const char *magic, size_t n) {
    return f->n >= at + n && memcmp(f->bytes + at, magic, n) == 0;
}

static bool is_pnm(const file *f) {
    return f->n > 2 && f->bytes[0] == 'P' && f->bytes[1] >= '1' && f->bytes[1] <= '7' &&
           isspace(f->bytes[2]);
}

/* Manufacturer 10, version 0 to 5, run-length coded, a common number of bits. */
static bool is_pcx(const file *f) {
    return f->n > 3 && f->bytes[0] == 10 && f->bytes[1] <= 5 && f->bytes[2] == 1 &&
           memchr("\1\2\4\x08", f->bytes[3], 4);
}

static const char *foreign_name(const file *f) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (holds(f, others[i].at, others[i].magic, others[i].n)) return others[i].name;
    return is_pnm(f) ? "a PNM" : is_pcx(f) ? "a PCX" : NULL;
}

static bool is_text(const file *f) {
    for (size_t i = 0; i < f->n && i < 256; i++)
        if (f->bytes[i] < 32 && !isspace(f->bytes[i])) return false;
    return true;
}

static void refuse_foreign(const file *f) {
    const char *name = foreign_name(f);
    if (name)
        refuse(f,
               "is %s picture: expected JPEG, PNG or BMP; hint: convert it first, "
               "magick FILE FILE.png",
               name);
    else if (holds(f, 1, "PN", 2) || holds(f, 2, "NG", 2))
        refuse(f, "is a damaged PNG: a wrong signature, as of a transfer in text mode");
    else if (is_text(f))
        refuse(f, "is not a picture: expected JPEG, PNG or BMP, found text");
    else
        refuse(f,
               "is not a picture: expected JPEG, PNG or BMP, found a file that begins "
               "with byte 0x%02X",
               f->bytes[0]);
}

/* FOREIGN: the reason is written. */
static format format_of(const file *f) {
    if (holds(f, 0, "\xFF\xD8\xFF", 3)) return HEED__JPEG;
    if (holds(f, 0, "\x89PNG\r\n\x1A\n", 8)) return HEED__PNG;
    if (holds(f, 0, "BM", 2)) return HEED__BMP;
    refuse_foreign(f);
    return HEED__FOREIGN;
}

/* ---- EXIF: the orientation of the camera ---- */

static uint32_t get16(const unsigned char *p, bool big) { return big ? big16(p) : little16(p); }
static uint32_t get32(const unsigned char *p, bool big) { return big ? big32(p) : little32(p); }

/* An entry of the directory: tag, type, count, value. */
enum { ORIENTATION = 0x0112, SHORT = 3, LONG = 4, ENTRY = 12 };

/* The orientation in EXIF's TIFF structure, 1 if absent or damaged. CIPA DC-008, sec. 4.6.4. */
static int exif_orientation(const unsigned char *bytes, size_t n) {
    if (n < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) return 1;
    bool big = bytes[0] == 'M';
    size_t at = get32(bytes + 4, big);
    if (at > n - 2) return 1;
    size_t count = get16(bytes + at, big);
    for (at += 2; count > 0 && at + ENTRY <= n; count--, at += ENTRY) {
        if (get16(bytes + at, big) != ORIENTATION) continue;
        uint32_t type = get16(bytes + at + 2, big);
        uint32_t value = type == SHORT  ? get16(bytes + at + 8, big)
                         : type == LONG ? get32(bytes + at + 8, big)
                                        : 1;
        return value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

/* 5 to 8 exchange rows and columns. */
static bool turn(heed_picture *p, int orientation) {
    if (orientation <= 1) return true;
    static const bool from_right[9] = {[2] = true, [3] = true, [7] = true, [8] = true};
    static const bool from_below[9] = {[3] = true, [4] = true, [6] = true, [7] = true};
    bool swap = orientation >= 5;
    size_t width = (size_t)p->width, height = (size_t)p->height, each = (size_t)p->channels;
    unsigned char *to = malloc(width * height * each), *at = to;
    if (!to) return false;
    size_t across = swap ? height : width, down = swap ? width : height;
    for (size_t y = 0; y < down; y++)
        for (size_t x = 0; x < across; x++, at += each) {
            size_t u = swap ? y : x, v = swap ? x : y;
            if (from_right[orientation]) u = width - 1 - u;
            if (from_below[orientation]) v = height - 1 - v;
            memcpy(at, p->pixels + (v * width + u) * each, each);
        }
    free(p->pixels);
    *p = (heed_picture){(int)across, (int)down, p->channels, to};
    return true;
}

/* ---- PNG (ISO/IEC 15948): the chunks and their CRCs, and that the stream inflates to exactly the
 * rows that the header states ---- */

enum { SIGNATURE = 8, FRAME = 12 /* length, type and CRC of a chunk */ };

typedef struct {
    const file *f;
    info *info;
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

static heed_status png_header(png *p, const unsigned char *b, size_t n) {
    if (n != 13 || p->header) return refuse(p->f, "is a damaged PNG: a wrong header");
    p->header = true;
    heed_status status = check_sides(p->f, big32(b), big32(b + 4));
    if (status != HEED_OK) return status;
    p->info->width = (int)big32(b);
    p->info->height = (int)big32(b + 4);
    p->depth = b[8], p->colour = b[9], p->interlaced = b[12];
    bool one_bit = p->depth && !(p->depth & (p->depth - 1));
    if (p->colour > 6 || !one_bit || !(kinds[p->colour].depths & p->depth))
        return refuse(p->f, "is a damaged PNG: colour type %d does not go with %d bits", p->colour,
                      p->depth);
    if (b[10] || b[11] || b[12] > 1)
        return refuse(p->f, "is a damaged PNG: unknown compression, filter or interlacing");
    p->rows = bytes_of_picture(p);
    return HEED_OK;
}

static heed_status png_palette(png *p, size_t at, size_t n) {
    if (p->palette || p->data || n == 0 || n % 3 != 0 || n > 768)
        return refuse(p->f, "is a damaged PNG: a wrong palette");
    p->palette = true;
    if (p->colour == 3 && n / 3 < (size_t)1 << p->depth) p->info->palette = at;
    return HEED_OK;
}

/* Inflates into a small window: only lengths and the checksum matter here. */
static heed_status png_data(png *p, const unsigned char *b, size_t n) {
    unsigned char window[1 << 14];
    if (p->data_over || (p->colour == 3 && !p->palette))
        return refuse(p->f, "is a damaged PNG: its chunks are out of order");
    if (!p->data && inflateInit(&p->z) != Z_OK) return refuse_memory(p->f);
    p->data = true;
    p->z.next_in = (z_const Bytef *)(uintptr_t)b;
    p->z.avail_in = (uInt)n;
    while (p->zlib == Z_OK) {
        p->z.next_out = window;
        p->z.avail_out = sizeof window;
        p->zlib = inflate(&p->z, Z_NO_FLUSH);
        if (p->z.total_out > p->rows)
            return refuse(p->f, "is a damaged PNG: more pixels than its sides allow");
    }
    if (p->zlib == Z_BUF_ERROR) p->zlib = Z_OK; /* the chunk is used up */
    if (p->zlib == Z_OK || p->zlib == Z_STREAM_END) return HEED_OK;
    return refuse(p->f, "is a damaged PNG: its pixels do not decompress (%s)",
                  p->z.msg ? p->z.msg : "zlib");
}

static heed_status png_chunk(png *p, size_t at, size_t n) {
    const unsigned char *type = p->f->bytes + at + 4, *b = type + 4;
    bool is_data = memcmp(type, "IDAT", 4) == 0;
    if (memcmp(type, "CgBI", 4) == 0)
        return refuse(p->f, "is an Apple CgBI picture: expected JPEG, PNG or BMP; hint: "
                            "convert it first, pngcrush -revert-iphone-optimizations");
    if (memcmp(type, "IHDR", 4) == 0) return png_header(p, b, n);
    if (!p->header) return refuse(p->f, "is a damaged PNG: its header is not first");
    if (p->data && !is_data) p->data_over = true;
    if (is_data) return png_data(p, b, n);
    if (memcmp(type, "PLTE", 4) == 0) return png_palette(p, at, n);
    if (memcmp(type, "tRNS", 4) == 0 && p->colour == 0 && n == 2 && big16(b) >> p->depth)
        return refuse(p->f, "is a damaged PNG: its transparent grey is not a grey of %d bits",
                      p->depth);
    if (memcmp(type, "eXIf", 4) == 0) p->info->orientation = exif_orientation(b, n);
    p->end = memcmp(type, "IEND", 4) == 0;
    if (!p->end && !(type[0] & 32))
        return refuse(p->f, "is a damaged PNG: an unknown critical chunk");
    return HEED_OK;
}

static heed_status walk_png(png *p) {
    const file *f = p->f;
    for (size_t at = SIGNATURE; !p->end;) {
        if (f->n - at < FRAME) return refuse(f, "is cut short: a PNG without its end");
        size_t n = big32(f->bytes + at);
        if (n > f->n - at - FRAME) return refuse(f, "is cut short: a PNG within a chunk");
        uLong crc = crc32(crc32(0, NULL, 0), f->bytes + at + 4, (uInt)n + 4);
        if (crc != big32(f->bytes + at + 8 + n))
            return refuse(f, "is a damaged PNG: a wrong checksum at byte %zu", at);
        heed_status status = png_chunk(p, at, n);
        if (status != HEED_OK) return status;
        at += FRAME + n;
    }
    if (!p->data || p->zlib != Z_STREAM_END || p->z.total_out < p->rows)
        return refuse(f, "is cut short: a PNG with too few pixels");
    return HEED_OK;
}

static heed_status png_check(const file *f, info *out) {
    *out = (info){.orientation = 1};
    png p = {.f = f, .info = out};
    heed_status status = walk_png(&p);
    if (p.data) inflateEnd(&p.z);
    return status;
}

/* A copy of the file with all 256 colours, the added ones black, to be freed; NULL: no memory. */
static unsigned char *fill_palette(const file *f, size_t palette, size_t *n) {
    enum { WHOLE = 768 };
    size_t length = big32(f->bytes + palette), end = palette + FRAME + length;
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

/* ---- JPEG (ITU-T T.81): every segment, that every component is coded, and that the file ends with
 * its end marker ---- */

/* Markers; SOF0: baseline, extended and progressive follow. */
enum { SOF0 = 0xC0, SOF2 = 0xC2, DHT = 0xC4, SOI = 0xD8, EOI = 0xD9, SOS = 0xDA, DQT = 0xDB };
enum { DRI = 0xDD, APP1 = 0xE1, APP14 = 0xEE };
enum { SCAN_LIMIT = 100 };      /* typical progressive files have 10 */
enum { PIXELS_PER_BYTE = 512 }; /* a block of 64 needs at least a bit */

typedef struct {
    int id, across, down, table;
} component;

typedef struct {
    const file *f;
    info *info;
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
    return refuse(j->f, "is a damaged JPEG: %s", what);
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
            return refuse(j->f, "is of an unsupported kind: a JPEG whose components are "
                                "sampled at a ratio that is not a whole number");
    return HEED_OK;
}

static heed_status jpeg_frame(jpeg *j, int marker, const unsigned char *b, size_t n) {
    if (j->frame || n < 6) return damaged(j, "a wrong frame header");
    const char *kind = marker == 0xC3  ? "lossless"
                       : marker > 0xC8 ? "arithmetic-coded"
                       : marker > 0xC3 ? "hierarchical"
                       : b[0] == 12    ? "12-bit"
                                       : NULL;
    if (kind)
        return refuse(j->f,
                      "is of an unsupported kind: expected a baseline or progressive JPEG, "
                      "found a JPEG that is %s; hint: convert it first, djpeg",
                      kind);
    if (b[0] != 8) return damaged(j, "expected 8 bits a sample");
    int height = (int)big16(b + 1), width = (int)big16(b + 3);
    heed_status status = check_sides(j->f, width, height);
    if (status != HEED_OK) return status;
    j->parts = b[5];
    if (j->parts != 1 && j->parts != 3 && j->parts != 4)
        return refuse(
            j->f, "is of an unsupported kind: expected a JPEG of 1, 3 or 4 components, found %d",
            j->parts);
    if (n != 6 + 3 * (size_t)j->parts) return damaged(j, "a wrong frame header");
    if ((size_t)width * (size_t)height / PIXELS_PER_BYTE > j->f->n)
        return refuse(j->f, "is cut short: %zu bytes cannot hold %d x %d pixels", j->f->n, width,
                      height);
    j->frame = marker;
    j->info->width = width;
    j->info->height = height;
    return frame_parts(j, b + 6);
}

/* Per table: class and number, the numbers of codes of 1 to 16 bits, their values. */
static heed_status jpeg_huffman(jpeg *j, const unsigned char *b, size_t n) {
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
static uint32_t jpeg_units(const jpeg *j, int count, const component *p) {
    uint32_t width = (uint32_t)j->info->width, height = (uint32_t)j->info->height;
    uint32_t across = (uint32_t)j->across, down = (uint32_t)j->down;
    if (count > 1) return ceil_div(width, 8 * across) * ceil_div(height, 8 * down);
    return ceil_div(ceil_div(width * (uint32_t)p->across, across), 8) *
           ceil_div(ceil_div(height * (uint32_t)p->down, down), 8);
}

/* Components with their tables; first and last coefficient; bits known before, and left open. */
static heed_status jpeg_scan(jpeg *j, const unsigned char *b, size_t n) {
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
    j->restarts = j->interval ? (jpeg_units(j, count, &j->part[i]) - 1) / j->interval : 0;
    return HEED_OK;
}

static heed_status jpeg_segment(jpeg *j, int marker, const unsigned char *b, size_t n) {
    if (marker == DHT) return jpeg_huffman(j, b, n);
    if (marker == DQT) return quantization(j, b, n);
    if (marker == SOS) return jpeg_scan(j, b, n);
    if (marker >= SOF0 && marker < 0xD0 && marker != 0xC8 && marker != 0xCC)
        return jpeg_frame(j, marker, b, n);
    if (marker == DRI && n == 2) j->interval = big16(b);
    if (marker == APP1 && !j->exif && n >= 6 && memcmp(b, "Exif\0\0", 6) == 0) {
        j->exif = true;
        j->info->orientation = exif_orientation(b + 6, n - 6);
    }
    if (marker == APP14 && n >= 12 && memcmp(b, "Adobe", 5) == 0) j->adobe = b[11];
    return HEED_OK;
}

/* The next marker with a segment or that ends the picture, f->n if none; counts restart markers. */
static size_t next_marker(const file *f, size_t at, uint32_t *restarts) {
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

static heed_status walk_jpeg(jpeg *j) {
    const file *f = j->f;
    uint32_t restarts;
    for (size_t at = 2;;) {
        at = next_marker(f, at, &restarts);
        if (at == f->n) return refuse(f, "is cut short: a JPEG without its end");
        if (j->interval ? restarts < j->restarts : restarts > 0)
            return damaged(j, "restart markers are missing, or not announced");
        j->restarts = 0;
        int marker = f->bytes[at + 1];
        if (marker == EOI) return HEED_OK;
        at += 2;
        size_t n = f->n - at < 2 ? 0 : big16(f->bytes + at);
        if (n > f->n - at) return refuse(f, "is cut short: a JPEG within its header");
        if (n < 2) return damaged(j, "a segment of no length");
        heed_status status = jpeg_segment(j, marker, f->bytes + at + 2, n - 2);
        if (status != HEED_OK) return status;
        at += n;
    }
}

static heed_status jpeg_check(const file *f, info *out) {
    *out = (info){.orientation = 1};
    jpeg j = {.f = f, .info = out, .across = 1, .down = 1, .adobe = -1};
    heed_status status = walk_jpeg(&j);
    if (status != HEED_OK) return status;
    if (!j.frame || j.coded != (1u << j.parts) - 1) return damaged(&j, "a component is missing");
    for (int i = 0; i < j.parts; i++)
        if (!(j.quantum >> j.part[i].table & 1))
            return damaged(&j, "a quantization table is missing");
    if (j.parts == 4 && j.adobe != 0 && j.adobe != 2)
        return refuse(f, "is of an unsupported kind: a CMYK JPEG without Adobe's marker, "
                         "which tells its inks; hint: convert it to RGB first");
    return HEED_OK;
}

/* ---- BMP, uncompressed, with any header version: palettes of 1, 2, 4, 8 bits, and pixels of 16,
 * 24, 32 bits by masks. stb_image may read beyond the palette's colours and reads too few of an
 * OS/2 palette; and checking a file is most of the work of reading it ---- */

enum { FILE_HEADER = 14, OS2 = 12, WITH_MASKS = 52, WITH_ALPHA = 56 };
enum { RGB, RLE8, RLE4, MASKS, JPEG, PNG, MASKS_ALPHA };

typedef struct {
    const file *f;
    size_t header; /* its size identifies its version */
    int64_t width, height;
    bool top_down;
    uint32_t bits, compression, colours, offset;
    uint32_t mask[4], shift[4], most[4]; /* red, green, blue, alpha */
    unsigned char palette[256][3];       /* RGB; black if absent */
} bmp;

static heed_status unsupported(const bmp *m, const char *what) {
    return refuse(
        m->f, "is of an unsupported kind: a BMP %s; hint: convert it first, magick FILE FILE.png",
        what);
}

static heed_status read_header(bmp *m) {
    const unsigned char *b = m->f->bytes;
    if (m->f->n < FILE_HEADER + OS2) return refuse(m->f, "is cut short: a BMP's header");
    m->offset = little32(b + 10);
    m->header = little32(b + FILE_HEADER);
    b += FILE_HEADER;
    if (m->header != OS2 && (m->header < 40 || m->header > 124))
        return refuse(m->f,
                      "is a damaged BMP: expected a header of 12 or 40 to 124 bytes, found %zu",
                      m->header);
    if (m->f->n - FILE_HEADER < m->header) return refuse(m->f, "is cut short: a BMP's header");
    bool os2 = m->header == OS2;
    m->bits = little16(b + (os2 ? 10 : 14));
    m->width = little16(b + 4);
    m->height = little16(b + 6);
    if (os2) return HEED_OK;
    m->width = (int32_t)little32(b + 4);
    m->height = (int32_t)little32(b + 8);
    m->top_down = m->height < 0;
    if (m->top_down) m->height = -m->height;
    m->compression = little32(b + 16);
    m->colours = little32(b + 32);
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
        return refuse(m->f,
                      "is a damaged BMP: expected 1, 2, 4, 8, 16, 24 or 32 bits a pixel, found %u",
                      m->bits);
    return HEED_OK;
}

/* The masks are in the header from version 2 on, and behind it in older ones. */
static heed_status read_masks(bmp *m) {
    static const uint32_t usual[2][3] = {{0x7C00, 0x3E0, 0x1F}, {0xFF0000, 0xFF00, 0xFF}};
    bool given = m->compression != RGB;
    int count = !given ? 3 : m->compression == MASKS_ALPHA || m->header >= WITH_ALPHA ? 4 : 3;
    if (given && m->f->n < FILE_HEADER + 40 + 4 * (size_t)count)
        return refuse(m->f, "is cut short: a BMP's masks");
    for (int i = 0; i < count; i++) {
        uint32_t mask =
            given ? little32(m->f->bytes + FILE_HEADER + 40 + 4 * i) : usual[m->bits == 32][i];
        m->mask[i] = mask;
        while (mask && !(mask >> m->shift[i] & 1)) m->shift[i]++;
        m->most[i] = mask >> m->shift[i];
        if (m->most[i] & (m->most[i] + 1) || (i < 3 && !mask))
            return refuse(m->f, "is a damaged BMP: expected a mask of adjoining bits, found 0x%X",
                          mask);
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
        uint32_t pixel = each == 4 ? little32(from) : little16(from);
        for (int c = 0; c < channels; c++) {
            uint64_t value = (pixel & m->mask[c]) >> m->shift[c];
            *to++ = (unsigned char)(value * 255 / m->most[c]);
        }
    }
}

static heed_status bmp_decode(const file *f, heed_picture *out) {
    bmp m = {.f = f};
    heed_status status = read_header(&m);
    if (status == HEED_OK) status = check_kind(&m);
    if (status == HEED_OK) status = check_sides(f, m.width, m.height);
    if (status == HEED_OK && (m.bits == 16 || m.bits == 32)) status = read_masks(&m);
    if (status != HEED_OK) return status;
    if (m.bits <= 8) read_palette(&m);
    size_t width = (size_t)m.width, height = (size_t)m.height;
    size_t row = (width * m.bits + 7) / 8, stride = (row + 3) / 4 * 4;
    if (m.offset > f->n || f->n - m.offset < stride * (height - 1) + row)
        return refuse(f, "is cut short: a BMP with too few pixels");
    *out = (heed_picture){(int)width, (int)height, m.mask[3] ? 4 : 3, NULL};
    status = new_pixels(f, out);
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

/* ---- all ---- */

static heed_status decode_stb(const file *f, const info *of, heed_picture *out) {
    stbi__err("outofmem", "Out of memory"); /* what it means if stb_image gives no reason */
    out->pixels =
        stbi_load_from_memory(f->bytes, (int)f->n, &out->width, &out->height, &out->channels, 0);
    const char *why = stbi_failure_reason();
    /* The type of a checked file is known: stb_image does not find it when it is out of memory. */
    bool memory = strcmp(why, "outofmem") == 0 || strcmp(why, "unknown image type") == 0;
    if (!out->pixels) return memory ? refuse_memory(f) : refuse(f, "is damaged: %s", why);
    if (out->width != of->width || out->height != of->height)
        return refuse(f, "is damaged: it names two sizes");
    return turn(out, of->orientation) ? HEED_OK : refuse_memory(f);
}

/* JPEG or PNG. */
static heed_status decode_checked(const file *f, bool is_png, heed_picture *out) {
    info found;
    file whole = *f;
    unsigned char *copy = NULL;
    heed_status status = is_png ? png_check(f, &found) : jpeg_check(f, &found);
    if (status != HEED_OK) return status;
    if (found.palette) {
        copy = fill_palette(f, found.palette, &whole.n);
        if (!copy) return refuse_memory(f);
        whole.bytes = copy;
    }
    status = decode_stb(&whole, &found, out);
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
    file f = {bytes, n, why};
    if (!bytes || n == 0) return refuse(&f, "is empty: expected JPEG, PNG or BMP, found 0 bytes");
    if (n > FILE_LIMIT)
        return refuse(&f, "is too large: expected at most %d bytes, found %zu", FILE_LIMIT, n);
    format kind = format_of(&f);
    heed_status status = kind == HEED__BMP       ? bmp_decode(&f, out)
                         : kind == HEED__FOREIGN ? HEED_DATA
                                                 : decode_checked(&f, kind == HEED__PNG, out);
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
    file reason = {.why = why};
    errno = 0;
    heed__file f = {.fd = -1};
    unsigned char *bytes = NULL;
    size_t n = 0;
    heed_status status;
    if (path && heed__file_open(NULL, path, &f) && read_all(&f, &bytes, &n))
        status = heed_picture_decode(bytes, n, out, why);
    else if (errno == ENOMEM)
        status = refuse_memory(&reason);
    else
        status = refuse(&reason, "cannot be read: %s",
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
