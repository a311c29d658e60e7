/* Safetensors files: any bytes are arrays that lie within the file, one behind the other, or an
 * error. The first byte says whether the rest is a whole file, or a header whose length is put
 * before it and as many data bytes behind it. */
#include "core/core.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

static unsigned checksum(const heed_array *a) {
    unsigned sum = 0;
    for (size_t i = 0; i < a->bytes; i++) sum += a->data[i];
    return sum;
}

static unsigned char *make_file(heed_ctx *c, const uint8_t *data, size_t *n) {
    size_t behind = data[0] < 128 ? data[0] : 0, header = *n - 1;
    bool whole = data[0] >= 128;
    unsigned char *file = heed__alloc(c, 8 + header + behind);
    uint64_t length = header;
    if (!whole) memcpy(file, &length, 8);
    memcpy(file + (whole ? 0 : 8), data + 1, header);
    *n = whole ? header : 8 + header + behind;
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (!n) return 0;
    heed_ctx *c = heed_open(NULL);
    unsigned char *file = make_file(c, data, &n);
    heed_safetensors *f = heed__safetensors_parse(c, "fuzz", file, n);
    if (!f == (heed_ctx_status(c) == HEED_OK)) abort();
    size_t bytes = 0;
    unsigned sum = 0;
    for (int i = 0; i < heed_safetensors_count(f); i++) {
        const heed_array *a = heed_safetensors_at(f, i);
        if (heed__safetensors_find(f, a->name) != a) abort();
        bytes += a->bytes;
        sum += checksum(a);
    }
    if (bytes > n || (bytes == 0 && sum)) abort();
    heed__safetensors_meta(f, "format");
    heed_close(c);
    return 0;
}
