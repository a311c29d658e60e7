/* inflate.c -- raw deflate, through zlib. */
#include "io/io.h"

#include <zlib.h>

bool heed__inflate(const unsigned char *from, size_t n, void *to, size_t size) {
    z_stream s = {0};
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK) return false;
    s.next_in = (z_const Bytef *)(uintptr_t)from;
    s.avail_in = (uInt)n;
    s.next_out = to;
    s.avail_out = (uInt)size;
    bool ok = inflate(&s, Z_FINISH) == Z_STREAM_END && s.avail_out == 0;
    inflateEnd(&s);
    return ok;
}
