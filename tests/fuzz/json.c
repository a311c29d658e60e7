/* json.c -- JSON and CSV: any bytes are a value or an error; a field that was read is shorter than
 * the limit and reads back from what heed_csv_put writes. */
#include "core/core.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

/* A field without control characters, which are written as \\x1B. What a spreadsheet would compute
 * reads back behind an apostrophe. */
static void read_back(heed_ctx *c, const char *field) {
    heed_text line = {.c = c};
    heed_csv r;
    for (const char *s = field; *s; s++)
        if ((unsigned char)*s < 32 || *s == 127) return;
    if (!heed_csv_put(&line, field) || !heed_csv_open(&r, c, "fuzz", "", line.s, line.n)) abort();
    bool row = heed_csv_next(&r);
    if (row != (*field != 0)) abort();
    bool formula = row && *r.fields[0] == '\'' && strchr("=+-@", *field);
    if (row && strcmp(r.fields[0] + formula, field) != 0) abort();
    heed_text_free(&line);
}

static void read_csv(heed_ctx *c, const uint8_t *data, size_t n) {
    char *text = heed__alloc(c, n + 1);
    heed_csv r;
    if (n) memcpy(text, data, n);
    size_t line = 0;
    bool ok = heed_csv_open(&r, c, "fuzz", "fuzz", text, n);
    while (ok && heed_csv_next(&r)) {
        if (r.line <= line || !r.count) abort();
        line = r.line;
        for (size_t i = 0; i < r.count && i < HEED_CSV_FIELDS; i++) {
            if (strlen(r.fields[i]) >= HEED_CSV_LONGEST) abort();
            read_back(c, r.fields[i]);
        }
    }
    heed__free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_ctx *c = heed_open(NULL);
    json_t *value = heed__json_parse(c, "fuzz", (const char *)data, n);
    if (!value == (heed_ctx_status(c) == HEED_OK)) abort();
    json_decref(value);
    heed_clear(c);
    read_csv(c, data, n);
    heed_close(c);
    return 0;
}
