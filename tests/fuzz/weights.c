/* Attention weights: any bytes are a record that a page can be made of, or an error. The first byte
 * says whether the rest is a whole file, or one or two arrays of an archive that is sound itself.
 */
#include "record/weights.h"
#include "core/core.h"
#include "view/page.h"
#include <heed/view.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put(heed_text *out, uint32_t value, int n) {
    for (int i = 0; i < n; i++) heed_text_put(out, (const char[]){(char)(value >> 8 * i & 255)}, 1);
}

static void put_common(heed_text *out, const char *name, const uint8_t *data, size_t n) {
    put(out, 20, 2), put(out, 0, 4), put(out, 0, 4);
    put(out, (uint32_t)crc32_z(0, data, n), 4);
    put(out, (uint32_t)n, 4), put(out, (uint32_t)n, 4), put(out, (uint32_t)strlen(name), 2);
    put(out, 0, 2);
}

/* A stored member, and its line in the directory. */
static void put_member(heed_text *file, heed_text *list, const char *name, const uint8_t *data,
                       size_t n) {
    uint32_t at = (uint32_t)file->n;
    heed_text_put(file, "PK\3\4", 4);
    put_common(file, name, data, n);
    heed_text_add(file, "%s", name);
    heed_text_put(file, (const char *)data, n);
    heed_text_put(list, "PK\1\2\0\0", 6);
    put_common(list, name, data, n);
    put(list, 0, 4), put(list, 0, 4), put(list, 0, 2), put(list, at, 4);
    heed_text_add(list, "%s", name);
}

static unsigned char *make_archive(heed_ctx *c, const uint8_t *data, size_t *n) {
    static const char *const names[] = {"weights.npy", "tokens.npy", "record.npy", "dec.npy"};
    heed_text file = {.c = c}, list = {.c = c};
    int count = 1 + (data[0] & 1);
    size_t cut = count == 2 ? *n / 2 : *n;
    put_member(&file, &list, names[data[0] >> 1 & 3], data + 1, cut - 1);
    if (count == 2) put_member(&file, &list, names[(data[0] >> 3 & 3) ^ 1], data + cut, *n - cut);
    uint32_t at = (uint32_t)file.n, size = (uint32_t)list.n;
    heed_text_put(&file, list.s, list.n);
    heed_text_put(&file, "PK\5\6", 4);
    put(&file, 0, 4), put(&file, (uint32_t)count, 2), put(&file, (uint32_t)count, 2);
    put(&file, size, 4), put(&file, at, 4), put(&file, 0, 2);
    heed_text_free(&list);
    *n = file.n;
    return (unsigned char *)file.s;
}

static void make_page(heed_ctx *c, const heed_record *r) {
    heed_text data = {.c = c}, numbers = {.c = c};
    heed_page p = {.count = 1, .records = r};
    if (heed_page_size(&p) < 1e6 && heed__page_data(c, &p, &data, &numbers) &&
        strchr(strchr(data.s + 1, '<') + 1, '<')) /* but for those of its element */
        abort();
    heed_text_free(&data);
    heed_text_free(&numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n < 4) return 0;
    heed_ctx *c = heed_open(NULL);
    unsigned char *file;
    if (data[0] >= 128) {
        file = make_archive(c, data, &n);
    } else {
        file = heed__alloc(c, n);
        if (file) memcpy(file, data + 1, --n);
    }
    heed_record *r = heed__record_parse(c, "fuzz", 0, file, n);
    if (!r == (heed_ctx_status(c) == HEED_OK)) abort();
    if (r) make_page(c, r);
    heed_close(c);
    return 0;
}
