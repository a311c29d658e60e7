/* tga.c -- TGA (Truevision 1991), all kinds. Not by stb_image, which fills truncated files with
 * zeros and does not support right-to-left pictures. */
#include "data/image/image.h"

#include <string.h>

enum { HEADER = 18, PALETTE = 1, COLOUR = 2, GREY = 3, RUNS = 8 };
enum { FROM_RIGHT = 0x10, TOP_DOWN = 0x20, INTERLEAVED = 0xC0 };

typedef struct {
    const heed__picture_bytes *f;
    int kind;      /* PALETTE, COLOUR, GREY */
    bool runs;     /* run-length coded */
    size_t stored; /* bytes of a pixel in the file */
    int bits;      /* bits of a colour: of a palette's entry, or of a pixel */
    const unsigned char *palette;
    size_t first, colours; /* range of the palette's indices */
    bool opaque;           /* the fourth byte of a pixel means nothing */
    const unsigned char *at, *end;
} tga;

static heed_status damaged(const tga *t) {
    return heed__refuse(t->f,
                        "is not a picture: expected JPEG, PNG, BMP or TGA, found a file named "
                        ".tga without a TGA header");
}

/* The footer of version 2 names an extension, which holds an attributes type: 0 means no alpha. */
static bool says_opaque(const heed__picture_bytes *f) {
    enum { FOOTER = 26, TYPE = 494 };
    if (f->n < HEADER + FOOTER) return false;
    const unsigned char *footer = f->bytes + f->n - FOOTER;
    size_t extension = heed__little32(footer);
    return memcmp(footer + 8, "TRUEVISION-XFILE.", 18) == 0 && extension > 0 &&
           extension < f->n - FOOTER && f->n - extension > TYPE && f->bytes[extension + TYPE] == 0;
}

static heed_status read_header(tga *t, heed_picture *out) {
    const unsigned char *b = t->f->bytes;
    if (t->f->n < HEADER) return heed__refuse(t->f, "is cut short: a TGA's header");
    t->kind = b[2] & ~RUNS;
    t->runs = b[2] & RUNS;
    int depth = b[16];
    t->bits = t->kind == PALETTE ? b[7] : depth;
    if (b[1] > 1 || t->kind < PALETTE || t->kind > GREY || (t->kind == PALETTE && b[1] != 1))
        return damaged(t);
    bool grey = t->bits == 8 || t->bits == 16;
    bool colour = t->bits == 15 || t->bits == 16 || t->bits == 24 || t->bits == 32;
    if (t->kind == PALETTE && depth != 8 && depth != 16) return damaged(t);
    if (t->kind == PALETTE && t->bits == 8)
        return heed__refuse(t->f,
                            "is of an unsupported kind: a TGA with palette entries of 8 bits");
    if (t->kind == GREY ? !grey : !colour) return damaged(t);
    if (b[17] & INTERLEAVED)
        return heed__refuse(t->f, "is of an unsupported kind: a TGA with interleaved rows");
    t->opaque = says_opaque(t->f);
    t->stored = ((size_t)depth + 7) / 8;
    out->width = (int)heed__little16(b + 12);
    out->height = (int)heed__little16(b + 14);
    out->channels = t->bits == 32 && !t->opaque ? 4 : 3;
    if (t->kind == GREY) out->channels = t->bits == 16 ? 2 : 1;
    return heed__check_sides(t->f, out->width, out->height);
}

/* The header is followed by a text, the palette (even of a colour picture) and the pixels. */
static heed_status find_pixels(tga *t, const heed_picture *p) {
    const unsigned char *b = t->f->bytes;
    size_t entry = ((size_t)b[7] + 7) / 8, at = HEADER + (size_t)b[0];
    t->first = heed__little16(b + 3);
    t->colours = b[1] ? heed__little16(b + 5) : 0;
    size_t pixels = (size_t)p->width * (size_t)p->height;
    size_t need = t->runs ? (pixels + 127) / 128 * (1 + t->stored) : pixels * t->stored;
    if (at + t->colours * entry > t->f->n || need > t->f->n - at - t->colours * entry)
        return heed__refuse(t->f, "is cut short: a TGA with too few pixels");
    t->palette = b + at;
    t->at = t->palette + t->colours * entry;
    t->end = b + t->f->n;
    return HEED_OK;
}

/* Colours outside the palette are black. */
static void put_pixel(const tga *t, unsigned char *to, size_t channels) {
    const unsigned char *from = t->at;
    if (t->kind == GREY) {
        memcpy(to, from, channels);
        return;
    }
    if (t->kind == PALETTE) {
        size_t index = t->stored == 2 ? heed__little16(from) : from[0];
        if (index < t->first || index - t->first >= t->colours) {
            memset(to, 0, channels);
            return;
        }
        from = t->palette + (index - t->first) * (((size_t)t->bits + 7) / 8);
    }
    uint32_t pixel = heed__little16(from);
    for (int c = 0; c < 3; c++)
        to[c] =
            t->bits > 16 ? from[2 - c] : (unsigned char)((pixel >> (10 - 5 * c) & 31) * 255 / 31);
    if (channels == 4) to[3] = from[3];
}

/* A packet is 128 + repetitions - 1 and one pixel, or count - 1 and `count` pixels. */
static heed_status read_pixels(tga *t, heed_picture *out) {
    size_t channels = (size_t)out->channels, left = (size_t)out->width * (size_t)out->height;
    unsigned char *to = out->pixels;
    while (left > 0) {
        size_t count = left;
        bool repeat = false;
        if (t->runs && t->at < t->end) {
            repeat = *t->at & 128;
            count = (size_t)(*t->at++ & 127) + 1;
            if (count > left) count = left;
        }
        if ((size_t)(t->end - t->at) < (repeat ? 1 : count) * t->stored)
            return heed__refuse(t->f, "is cut short: a TGA with too few pixels");
        for (size_t i = 0; i < count; i++, to += channels) {
            put_pixel(t, to, channels);
            if (!repeat) t->at += t->stored;
        }
        if (repeat) t->at += t->stored;
        left -= count;
    }
    return HEED_OK;
}

/* The first pixel is at the lower left, unless the descriptor says otherwise. */
heed_status heed__tga_decode(const heed__picture_bytes *f, heed_picture *out) {
    tga t = {.f = f};
    heed_status status = read_header(&t, out);
    if (status == HEED_OK) status = find_pixels(&t, out);
    if (status == HEED_OK) status = heed__picture_new(f, out);
    if (status == HEED_OK) status = read_pixels(&t, out);
    if (status != HEED_OK) return status;
    int descriptor = f->bytes[17], right = descriptor & FROM_RIGHT, top = descriptor & TOP_DOWN;
    bool turned = heed__picture_turn(out, top ? (right ? 2 : 1) : (right ? 3 : 4));
    return turned ? HEED_OK : heed__refuse_memory(f);
}
