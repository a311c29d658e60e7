#define _DEFAULT_SOURCE /* getpid */
/* labels.c -- labels.txt of a run: any bytes are names of classes or an error, and what was read is
 * written and read again to the same. */
#include "core/core.h"
#include "fit/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char dir[64], path[80];
    heed__labels first, again;
    snprintf(dir, sizeof dir, "/tmp/heed-fuzz-labels-%d", (int)getpid());
    snprintf(path, sizeof path, "%s/labels.txt", dir);
    mkdir(dir, 0700);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) abort();
    heed_ctx *c = heed_open(NULL);
    bool ok = heed__labels_read(c, dir, 0, &first);
    if (ok != (heed_ctx_status(c) == HEED_OK)) abort();
    if (ok) {
        if (!heed__labels_write(c, dir, first.list, first.count)) abort();
        if (!heed__labels_read(c, dir, first.count, &again)) abort();
        if (heed__labels_digest(first.list, first.count) !=
            heed__labels_digest(again.list, again.count))
            abort();
        heed__labels_free(&again);
    }
    heed__labels_free(&first);
    unlink(path);
    rmdir(dir);
    heed_close(c);
    return 0;
}
