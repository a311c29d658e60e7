/* base64.c -- bytes as base64: RFC 4648, sec. 4. */
#include "io/io.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool heed__put_base64(heed_text *out, const unsigned char *x, size_t n) {
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
