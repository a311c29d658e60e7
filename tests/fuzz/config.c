/* Config files: any bytes are settings or an error, and what was read is written and read again to
 * the same. */
#include "core/core.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"layers", HEED_OPTION_INT, "4", 1, 96, NULL, "blocks", "Model"},
    {"lr", HEED_OPTION_REAL, "1e-3", 0, 10, NULL, "rate", "Training"},
    {"tie", HEED_OPTION_BOOL, "true", 0, 0, NULL, "share", "Model"},
    {"norm", HEED_OPTION_STRING, "post", 0, 0, "pre|post", "where", "Model"},
    {"val", HEED_OPTION_STRING, "", 0, 0, NULL, "file", "Data"},
    {"any", HEED_OPTION_REAL, "", 0, 0, NULL, "any number", "Data"},
    {0}};

static void check_same(const heed_config *a, const heed_config *b) {
    for (int i = 0; i < heed_config_count(a); i++) {
        const char *x, *y;
        heed_config_at(a, i, &x);
        heed_config_at(b, i, &y);
        if (strcmp(x, y) != 0) abort();
    }
}

static bool parse(heed_config *f, const void *bytes, size_t n, heed_ctx *c) {
    char *text = heed__alloc(c, n + 1);
    if (n) memcpy(text, bytes, n);
    bool ok = heed__config_parse(f, "fuzz", text, n, HEED_FROM_FILE);
    heed__free(text);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_ctx *c = heed_open(NULL);
    const heed_option *const tables[] = {options, NULL};
    heed_config *f = heed_config_new(c, tables), *g = heed_config_new(c, tables);
    if (parse(f, data, n, c)) {
        heed_text out = {.c = c};
        if (!heed_config_write(f, &out, n % 2) || !parse(g, out.s, out.n, c)) abort();
        check_same(f, g);
        heed_text_free(&out);
    }
    heed_close(c);
    return 0;
}
