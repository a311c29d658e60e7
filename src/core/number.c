/* number.c -- conversion between numbers and strings. strtod and printf use the locale's decimal
 * point, which may be a comma. */
#include "core/core.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The end of the digits at p. */
static const char *digits(const char *p) {
    while (*p >= '0' && *p <= '9') p++;
    return p;
}

static bool is_decimal(const char *p) {
    p += *p == '+' || *p == '-';
    const char *integer = digits(p), *end = integer;
    if (*end == '.') end = digits(end + 1);
    if (end - p - (*integer == '.') < 1) return false;
    if (*end == 'e' || *end == 'E') {
        p = end + 1;
        p += *p == '+' || *p == '-';
        end = digits(p);
        if (end == p) return false;
    }
    return *end == 0;
}

bool heed__number(const char *text, double *value) {
    char copy[128];
    size_t n = strlen(text);
    if (!is_decimal(text) || n >= sizeof copy) return false;
    memcpy(copy, text, n + 1);
    char *point = strchr(copy, '.');
    if (point) *point = *localeconv()->decimal_point;
    *value = strtod(copy, NULL);
    return isfinite(*value);
}

bool heed__same_value(const char *a, const char *b) {
    double x, y;
    return strcmp(a, b) == 0 || (heed__number(a, &x) && heed__number(b, &y) && x == y);
}

static char *shortest(char text[HEED__NUMBER], double value) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, HEED__NUMBER, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

char *heed__number_text(char text[HEED__NUMBER], double value, int digits) {
    if (digits > 0)
        snprintf(text, HEED__NUMBER, "%.*g", digits, value);
    else if (fabs(value) < 1e15 && floor(value) == value)
        snprintf(text, HEED__NUMBER, "%.0f", value);
    else
        shortest(text, value);
    char *point = strchr(text, *localeconv()->decimal_point);
    if (point) *point = '.';
    return text;
}
