#define _DEFAULT_SOURCE /* getpid */
/* state.c -- state.json of a checkpoint, and the settings that resume compares with it: any text
 * whose check sum holds is a state or an error. A file without that sum is an error at once, so
 * that it is put behind the text here. */
#include "core/core.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char dir[64], path[96];
    heed__state s = {0};
    bool changed = false;
    if (n > 0 && (data[n - 1] == '}' || data[n - 1] == '\n')) n--;
    snprintf(dir, sizeof dir, "/tmp/heed-fuzz-state-%d", (int)getpid());
    snprintf(path, sizeof path, "%s/last", dir);
    mkdir(dir, 0700);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/last/state.json", dir);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n) abort();
    fprintf(f, "  \"check\": \"%016" PRIx64 "\"\n}\n", heed__hash64(data, n, 0));
    if (fclose(f) != 0) abort();
    heed_ctx *c = heed_open(NULL);
    heed_config *g = heed_config_new(c, (const heed_option *const[]){heed_fit_options, NULL});
    bool ok = heed__state_read(c, path, &s);
    if (ok != (heed_ctx_status(c) == HEED_OK)) abort();
    if (ok && (s.step < 0 || s.best_step < 0 || s.row_step < 0)) abort();
    heed_clear(c);
    ok = heed__run_compare(c, dir, g, &changed);
    if (ok != (heed_ctx_status(c) == HEED_OK)) abort();
    unlink(path);
    heed_close(c);
    return 0;
}
