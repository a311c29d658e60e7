/* message.c -- the message of an error: what is wrong, where, what was expected and found, a hint.
 */
#include "text/text.h"

#include <stdio.h>
#include <string.h>

const char *heed_quote(char out[HEED_QUOTE], const char *text, size_t n) {
    size_t used = 0, at = 0;
    out[used++] = '"';
    while (at < n) {
        int32_t c;
        size_t length = heed_utf8_read(text + at, n - at, &c);
        bool plain = c >= 32 && c != 127;
        if (used + length + sizeof "...\"" > HEED_QUOTE) break;
        memcpy(out + used, plain ? text + at : "?", plain ? length : 1);
        used += plain ? length : 1;
        at += length;
    }
    snprintf(out + used, HEED_QUOTE - used, at < n ? "...\"" : "\"");
    return out;
}

bool heed_reject(heed_ctx *c, heed_status status, heed_problem p) {
    char quoted[HEED_QUOTE], line[32] = "";
    if (!p.found && p.text) p.found = heed_quote(quoted, p.text, p.n);
    if (p.line) snprintf(line, sizeof line, ":%zu", p.line);
    return heed_fail(c, status, "%s: %s%s%sexpected %s%s%s%s%s", p.what, p.where ? p.where : "",
                     line, p.where ? ": " : "", p.expected, p.found ? ", found " : "",
                     p.found ? p.found : "", p.hint ? "; hint: " : "", p.hint ? p.hint : "");
}
