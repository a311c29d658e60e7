/* json.c -- JSON files through jansson, read strictly and written atomically, and JSON texts. */
#include "core/os.h"
#include "text/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- files ---- */

enum { JSON_LIMIT = 1 << 28 };

/* jansson's messages quote the place ("unexpected token near '{'"), so they may contain bytes of
 * the file. There is no message when it is out of memory. */
json_t *heed__json_parse(heed_ctx *c, const char *path, const char *text, size_t n) {
    if (heed__stopped(c)) return NULL;
    json_error_t e;
    json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    char found[HEED_QUOTE];
    if (!value && !*e.text) heed_fail(c, HEED_FAILED, "cannot read %s: out of memory", path);
    if (!value)
        heed_fail(c, HEED_DATA, "%s is not valid JSON: line %d, column %d: %s", path, e.line,
                  e.column, heed_quote(found, e.text, strlen(e.text)));
    return value;
}

json_t *heed__json_read(heed_ctx *c, const char *path) {
    size_t n;
    char *text = (char *)heed__os_read(c, path, JSON_LIMIT, &n);
    json_t *value = text ? heed__json_parse(c, path, text, n) : NULL;
    heed__free(text);
    return value;
}

/* Real numbers with no more digits than they need, 1e-12 rather than 9.9999999999999998e-13: as
 * many as one of them needs at most. NULL: out of memory. */
static char *dumps(const json_t *value) {
    size_t most = 17;
    for (size_t digits = 6; digits < most; digits++) {
        char *text =
            json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        json_t *same = text ? json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
        bool memory = same != NULL, whole = memory && json_equal(same, value);
        json_decref(same);
        if (whole) return text;
        free(text);
        if (!memory) return NULL;
    }
    return json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(most));
}

bool heed__json_write(heed_ctx *c, const char *path, const json_t *value) {
    if (heed__stopped(c)) return false;
    char *text = value ? dumps(value) : NULL;
    if (!text) return heed_fail(c, HEED_FAILED, "cannot write %s: out of memory", path);
    heed__piece pieces[] = {{text, strlen(text)}, {"\n", 1}};
    bool ok = heed__os_write(c, path, pieces, 2);
    free(text);
    return ok;
}

/* ---- values, appended one by one ---- */

static void put_string(heed_text *out, const char *text) {
    static const char codes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    heed_text_put(out, "\"", 1);
    while (*text) {
        const char *escape = strchr(codes, *text);
        int32_t code;
        size_t n = heed_utf8_read(text, SIZE_MAX, &code);
        if (escape)
            heed_text_add(out, "\\%c", letters[escape - codes]);
        else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) /* which a terminal obeys */
            heed_text_add(out, "\\u%04x", (unsigned)code);
        else
            heed_text_put(out, text, n);
        text += n;
    }
    heed_text_put(out, "\"", 1);
}

/* Writes what comes before a value: a comma after another value, and the key. */
static void begin(heed_text *out, const char *key) {
    char last = out && out->n ? out->s[out->n - 1] : 0;
    if (isalnum((unsigned char)last) || last == '"' || last == '}' || last == ']')
        heed_text_put(out, ",", 1);
    if (!key) return;
    put_string(out, key);
    heed_text_put(out, ":", 1);
}

void heed_json_open(heed_text *out, const char *key, char bracket) {
    begin(out, key);
    heed_text_put(out, &bracket, 1);
}

void heed_json_close(heed_text *out, char bracket) { heed_text_put(out, &bracket, 1); }

void heed_json_text(heed_text *out, const char *key, const char *text) {
    size_t n = text ? strlen(text) : 0;
    begin(out, key);
    if (!text) {
        heed_text_put(out, "null", 4);
    } else if (heed__utf8_valid(text, n) == n) {
        put_string(out, text);
    } else {
        heed_text valid = {.c = out->c};
        if (heed__utf8_put(&valid, text, n)) put_string(out, valid.s);
        heed_text_free(&valid);
    }
}

void heed_json_int(heed_text *out, const char *key, int64_t value) {
    begin(out, key);
    heed_text_add(out, "%lld", (long long)value);
}

void heed_json_real(heed_text *out, const char *key, double value, int digits) {
    char text[HEED__NUMBER];
    begin(out, key);
    if (value == 0 || value == 1) /* most values of a causal layer */
        heed_text_put(out, value == 0 ? "0" : "1", 1);
    else
        heed_text_add(out, "%s", isfinite(value) ? heed__number_text(text, value, digits) : "null");
}

void heed_json_bool(heed_text *out, const char *key, bool value) {
    begin(out, key);
    heed_text_add(out, "%s", value ? "true" : "false");
}
