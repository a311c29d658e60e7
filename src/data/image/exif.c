/* exif.c -- reads the camera's orientation from EXIF and turns pictures upright. */
#include "data/image/image.h"

#include <stdlib.h>
#include <string.h>

static uint32_t get16(const unsigned char *p, bool big) {
    return big ? heed__big16(p) : heed__little16(p);
}
static uint32_t get32(const unsigned char *p, bool big) {
    return big ? heed__big32(p) : heed__little32(p);
}

/* An entry of the directory: tag, type, count, value. */
enum { ORIENTATION = 0x0112, SHORT = 3, LONG = 4, ENTRY = 12 };

int heed__exif_orientation(const unsigned char *bytes, size_t n) {
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
bool heed__picture_turn(heed_picture *p, int orientation) {
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
