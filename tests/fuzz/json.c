/* JSON and CSV: any bytes are a value or an error; a number in a table is finite or NAN. */
#include "core/core.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void read_csv(heed_ctx *c, const uint8_t *data, size_t n) {
    char *text = heed__alloc(c, n + 1);
    if (n) memcpy(text, data, n);
    heed__csv t;
    if (!heed__csv_parse(c, "fuzz", text, n, &t)) return;
    for (size_t i = 0; i < t.rows; i++)
        for (size_t k = 0; k < t.cols; k++)
            if (isinf(heed__csv_number(&t, i, (int)k))) abort();
    heed__csv_free(&t);
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
