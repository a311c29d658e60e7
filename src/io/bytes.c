/* bytes.c -- the bytes of files: little-endian numbers, base64 (RFC 4648, sec. 4), raw deflate. */
#include "io/io.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

uint64_t heed__little(const unsigned char *p, size_t n) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

double heed__signed_of(uint64_t bits, size_t size) {
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (double)(int64_t)((bits ^ sign) - sign);
}

/* Sign 1, exponent 5 (bias 15), fraction 10 bits. */
static double half(uint64_t h) {
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double size = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return h & 0x8000 ? -size : size;
}

double heed__real_of(uint64_t bits, size_t size) {
    float narrow;
    double wide;
    uint32_t low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return size == 2 ? half(bits) : size == 4 ? (double)narrow : wide;
}

bool heed__put_base64(heed_text *out, const unsigned char *x, size_t n) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { CHUNK = 3 * 1024 };
    char text[CHUNK / 3 * 4];
    bool ok = true;
    for (size_t at = 0; ok && at < n; at += CHUNK) {
        size_t end = n - at < CHUNK ? n : at + CHUNK, used = 0;
        for (size_t i = at; i < end; i += 3) {
            size_t left = end - i;
            uint32_t bits = (uint32_t)x[i] << 16 | (left > 1 ? (uint32_t)x[i + 1] << 8 : 0) |
                            (left > 2 ? x[i + 2] : 0);
            text[used++] = letters[bits >> 18];
            text[used++] = letters[bits >> 12 & 63];
            text[used++] = left > 1 ? letters[bits >> 6 & 63] : '=';
            text[used++] = left > 2 ? letters[bits & 63] : '=';
        }
        ok = heed_text_put(out, text, used);
    }
    return ok;
}

bool heed__inflate(const unsigned char *from, size_t n, void *to, size_t size) {
    z_stream s = {.next_in = (z_const Bytef *)(uintptr_t)from,
                  .avail_in = (uInt)n,
                  .next_out = to,
                  .avail_out = (uInt)size};
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK) return false;
    bool ok = inflate(&s, Z_FINISH) == Z_STREAM_END && s.avail_out == 0;
    inflateEnd(&s);
    return ok;
}
