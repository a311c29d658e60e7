/* JSON files through jansson: strict in, atomic out. */
#include "core/core.h"
#include "core/os.h"
#include "text/text.h"

#include <string.h>

enum { JSON_LIMIT = 1 << 28 };

/* jansson's own words quote the place ("unexpected token near '{'"); they may hold file bytes. It
 * has none when it found no memory. */
static json_t *refuse(heed_ctx *c, const char *path, const json_error_t *e) {
    char found[HEED__QUOTE];
    heed__quote(found, e->text, strlen(e->text));
    if (!*e->text) heed_fail(c, HEED_FAILED, "cannot read %s: out of memory", path);
    heed_fail(c, HEED_DATA, "%s is no valid JSON: line %d, column %d: %s", path, e->line, e->column,
              found);
    return NULL;
}

json_t *heed__json_parse(heed_ctx *c, const char *path, const char *text, size_t n) {
    if (heed__stopped(c)) return NULL;
    json_error_t e;
    json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    return value ? value : refuse(c, path, &e);
}

json_t *heed__json_read(heed_ctx *c, const char *path) {
    size_t n;
    char *text = (char *)heed__os_read(c, path, JSON_LIMIT, &n);
    json_t *value = text ? heed__json_parse(c, path, text, n) : NULL;
    heed__free(text);
    return value;
}

bool heed__json_write(heed_ctx *c, const char *path, const json_t *value) {
    if (heed__stopped(c)) return false;
    if (!value) return heed_fail(c, HEED_FAILED, "cannot write %s: out of memory", path);
    char *text = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY);
    if (!text) return heed_fail(c, HEED_FAILED, "cannot write %s: out of memory", path);
    heed__piece pieces[] = {{text, strlen(text)}, {"\n", 1}};
    bool ok = heed__os_write(c, path, pieces, 2);
    free(text);
    return ok;
}
