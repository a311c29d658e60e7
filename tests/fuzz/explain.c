/* explain.c -- explain --from: any text is a head with its labels or an error, and what was read is
 * written as JSON that is read again. */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition) {
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    heed_ctx *c = heed_open(NULL);
    explaining e = {.c = c}, again = {.c = c};
    bool ok = example_parse(&e, "fuzz", (const char *)data, n);
    require(ok == (heed_ctx_status(c) == HEED_OK));
    if (ok) {
        json_t *head = worked_json(&e);
        char *text = json_dumps(head, JSON_REAL_PRECISION(17));
        require(text != NULL && example_parse(&again, "again", text, strlen(text)));
        require(again.w.lesson.args.tokens == e.w.lesson.args.tokens);
        require(again.w.lesson.args.sources == e.w.lesson.args.sources);
        json_decref(head);
        free(text);
    }
    explaining_free(&e);
    explaining_free(&again);
    heed_close(c);
    return 0;
}
