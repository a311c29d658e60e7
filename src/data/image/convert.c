/* convert.c -- converts channels: removes alpha and colour, or repeats grey. */
#include <heed/image.h>

#include <stdlib.h>

/* v over white: v a + 255 (1 - a), with alpha 0 .. 255 as a = 0 .. 1. */
static unsigned over_white(unsigned v, unsigned alpha) {
    return (v * alpha + 255 * (255 - alpha) + 127) / 255;
}

/* ITU-R BT.601, in 2^-16: 0.299 R + 0.587 G + 0.114 B, rounded. */
static unsigned grey_of(const unsigned rgb[3]) {
    return (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + (1u << 15)) >> 16;
}

static void convert_pixel(const unsigned char *from, int before, unsigned char *to, int after) {
    bool colour = before >= 3, alpha = before % 2 == 0;
    unsigned rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = from[colour ? i : 0];
        if (alpha) rgb[i] = over_white(rgb[i], from[before - 1]);
    }
    if (after == 1)
        to[0] = (unsigned char)(colour ? grey_of(rgb) : rgb[0]);
    else
        for (int i = 0; i < 3; i++) to[i] = (unsigned char)rgb[i];
}

heed_status heed_picture_convert(heed_picture *p, int channels) {
    if (!p || !p->pixels || (channels != 1 && channels != 3)) return HEED_USAGE;
    if (p->channels == channels) return HEED_OK;
    size_t pixels = (size_t)p->width * (size_t)p->height, before = (size_t)p->channels;
    unsigned char *to = malloc(pixels * (size_t)channels);
    if (!to) return HEED_FAILED;
    for (size_t i = 0; i < pixels; i++)
        convert_pixel(p->pixels + i * before, p->channels, to + i * (size_t)channels, channels);
    free(p->pixels);
    p->pixels = to;
    p->channels = channels;
    return HEED_OK;
}
