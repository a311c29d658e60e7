/* unicode.c -- Unicode properties. Only this file and data/corpus/words.c use utf8proc. */
#include "text/text.h"

#include <utf8proc.h>

int heed__char_width(int32_t c) { return utf8proc_charwidth(c); }

bool heed__is_mark(int32_t c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_MN; }

int heed__combining_class(int32_t c) { return utf8proc_get_property(c)->combining_class; }

int32_t heed__lower(int32_t c) { return utf8proc_tolower(c); }

int heed__decompose(int32_t c, int32_t parts[HEED__DECOMPOSED]) {
    int boundary = 0;
    utf8proc_ssize_t n = c < 128 ? 0
                                 : utf8proc_decompose_char(c, parts, HEED__DECOMPOSED,
                                                           UTF8PROC_DECOMPOSE, &boundary);
    if (n >= 1 && n <= HEED__DECOMPOSED) return (int)n;
    parts[0] = c;
    return 1;
}

/* UAX #9, sec. 2. */
static bool is_direction(int32_t c) {
    return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

heed__char_kind heed__kind_of_char(int32_t c) {
    if (is_direction(c)) return HEED__DIRECTION;
    return c < 32 || (c >= 127 && c < 160) ? HEED__CONTROL : HEED__PLAIN;
}
