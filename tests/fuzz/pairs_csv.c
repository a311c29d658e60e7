#define _DEFAULT_SOURCE /* getpid */
/* CSV files of pairs: any bytes are pairs or an error, and no text holds a line end or a tab. The
 * first byte says how to open them. */
#include "data/sets.h"
#include "text/text.h"

#include <heed/heed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool condition) {
    if (!condition) abort();
}

static void check(const heed__pairs *k) {
    heed_pair p;
    const heed__pairs_info *a = heed__pairs_about(k);
    require(a->pairs > 0);
    for (size_t i = 0; i < a->pairs; i++) {
        require(heed__pairs_get(k, false, i, &p) && p.source_n > 0 && p.target_n > 0);
        require(!memchr(p.source, '\n', p.source_n) && !memchr(p.target, '\t', p.target_n));
        require(heed__utf8_valid(p.source, p.source_n) == p.source_n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const char *const columns[] = {NULL, "1,2", "2,1", "a,b"};
    if (n < 1) return 0;
    char path[64];
    snprintf(path, sizeof path, "/tmp/heed-fuzz-pairs-csv-%d.csv", (int)getpid());
    FILE *f = fopen(path, "wb");
    require(f != NULL);
    fwrite(data + 1, 1, n - 1, f);
    fclose(f);
    heed__pairs_args a = {
        .kind = (heed_target_kind)(data[0] & 3), .block = 8, .columns = columns[data[0] >> 2 & 3]};
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .isa = "generic", .threads = 1});
    heed__pairs *k = heed__pairs_open(c, path, &a);
    require((k != NULL) == (heed_ctx_status(c) == HEED_OK));
    if (k) check(k);
    unlink(path);
    heed_close(c);
    return 0;
}
