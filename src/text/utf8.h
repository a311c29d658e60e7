/* UTF-8, strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef HEED_TEXT_UTF8_H
#define HEED_TEXT_UTF8_H

#include <heed/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

HEED_EXPORT_BEGIN

/* The character at s (n >= 1 bytes are left) and its length; -1 and length 1 where s is not UTF-8.
 */
size_t heed__utf8_read(const char *s, size_t n, int32_t *character);
/* Writes 1 to 4 bytes and returns how many. */
size_t heed__utf8_write(int32_t character, char out[4]);

HEED_EXPORT_END

#endif
