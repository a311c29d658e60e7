/* text.c -- growing texts. */
#include "text/text.h"
#include "core/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool reserve(heed_text *t, size_t more) {
    if (more > SIZE_MAX / 4 || t->n > SIZE_MAX / 4)
        return heed_fail(t->c, HEED_FAILED, "out of memory: a text of %zu bytes more", more);
    return heed__grow(t->c, &t->s, &t->capacity, t->n + more + 1, 1);
}

bool heed_text_put(heed_text *t, const char *bytes, size_t n) {
    if (!t || (!bytes && n) || (n >= t->capacity - t->n && !reserve(t, n))) return false;
    if (n) memcpy(t->s + t->n, bytes, n);
    t->n += n;
    t->s[t->n] = 0;
    return true;
}

bool heed_text_add(heed_text *t, const char *format, ...) {
    if (!t || !format || !reserve(t, 0)) return false;
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    size_t left = t->capacity - t->n;
    int need = vsnprintf(t->s + t->n, left, format, list);
    bool ok = need >= 0;
    if (ok && (size_t)need >= left) {
        t->s[t->n] = 0;
        ok = reserve(t, (size_t)need);
        if (ok) vsnprintf(t->s + t->n, t->capacity - t->n, format, again);
    }
    if (ok) t->n += (size_t)need;
    t->s[t->n] = 0;
    va_end(again);
    va_end(list);
    return ok;
}

void heed_text_free(heed_text *t) {
    if (!t) return;
    heed__free(t->s);
    *t = (heed_text){.c = t->c};
}

bool heed_text_save(const heed_text *t, const char *path) {
    if (!t || !path || heed__stopped(t->c)) return false;
    return heed__os_write(t->c, path, &(heed__piece){t->s, t->n}, 1);
}

bool heed_text_append(const heed_text *t, const char *path) {
    if (!t || !path || heed__stopped(t->c)) return false;
    return heed__os_append(t->c, path, t->s, t->n);
}

bool heed__put_wrapped(heed_text *out, const char *text, size_t column, const char *indent,
                       size_t width) {
    bool ok = true, first = true;
    for (text += strspn(text, " \n\t"); ok && *text; text += strspn(text, " \n\t")) {
        size_t n = strcspn(text, " \n\t"), wide = heed__utf8_count(text, n);
        bool breaks = !first && column + 1 + wide > width;
        if (breaks) {
            ok = heed_text_add(out, "\n%s", indent);
            column = heed__utf8_count(indent, strlen(indent));
        } else if (!first) {
            ok = heed_text_put(out, " ", 1);
            column++;
        }
        ok = ok && heed_text_put(out, text, n);
        column += wide;
        first = false;
        text += n;
    }
    return ok;
}
