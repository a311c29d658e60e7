/* npz_read.c -- zip archives of arrays, stored or deflated, no zip64: APPNOTE.TXT 6.3, sec. 4.3. */
#include "core/core.h"
#include "io/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const size_t UNPACKED_LIMIT = (size_t)1 << 30;
enum { END = 22, ENTRY = 46, LOCAL = 30, NAME_LIMIT = 4096, MOST_ARRAYS = 4096 };

typedef struct {
    heed_ctx *c;
    const char *path;
    const unsigned char *bytes;
    size_t n, unpacked;
} archive;

typedef struct {
    const char *name;
    size_t name_size;
    int flags, method;
    uint32_t crc;
    size_t packed, size, offset;
} member;

static bool damaged(const archive *z, const char *why) {
    return heed_fail(z->c, HEED_DATA, "%s is not an NPZ file: %s", z->path, why);
}

/* Finds the end of the directory, backwards: it is followed by a comment of the right length. */
static const unsigned char *find_end(const archive *z) {
    size_t back = z->n < 65535 + END ? z->n : 65535 + END;
    for (size_t i = END; i <= back; i++) {
        const unsigned char *p = z->bytes + z->n - i;
        if (memcmp(p, "PK\5\6", 4) == 0 && heed__little(p + 20, 2) == i - END) return p;
    }
    return NULL;
}

static bool read_entry(const archive *z, size_t *at, member *m) {
    const unsigned char *p = z->bytes + *at;
    if (*at + ENTRY > z->n || memcmp(p, "PK\1\2", 4) != 0)
        return damaged(z, "its directory is damaged");
    *m = (member){.flags = (int)heed__little(p + 8, 2),
                  .method = (int)heed__little(p + 10, 2),
                  .crc = (uint32_t)heed__little(p + 16, 4),
                  .packed = heed__little(p + 20, 4),
                  .size = heed__little(p + 24, 4),
                  .name = (const char *)p + ENTRY,
                  .name_size = heed__little(p + 28, 2),
                  .offset = heed__little(p + 42, 4)};
    *at += ENTRY + m->name_size + heed__little(p + 30, 2) + heed__little(p + 32, 2);
    return *at <= z->n || damaged(z, "its directory is damaged");
}

/* Where the bytes of a member begin; NULL: see c. */
static const unsigned char *packed_bytes(const archive *z, const member *m) {
    const unsigned char *p = z->bytes + m->offset;
    if (m->packed == 0xFFFFFFFF || m->size == 0xFFFFFFFF)
        damaged(z, "expected members under 4 GB, found zip64");
    else if (m->flags & 1)
        damaged(z, "expected plain members, found encrypted ones");
    else if (m->offset + LOCAL > z->n || memcmp(p, "PK\3\4", 4) != 0)
        damaged(z, "a member is not where its directory says");
    else {
        size_t start = m->offset + LOCAL + heed__little(p + 26, 2) + heed__little(p + 28, 2);
        if (start <= z->n && m->packed <= z->n - start) return z->bytes + start;
        damaged(z, "a member extends beyond the end of the file");
    }
    return NULL;
}

/* Deflate expands at most 1032 times: a larger claim is refused before memory is allocated. */
static unsigned char *unpack(archive *z, const member *m, const unsigned char *from,
                             heed__npz *out) {
    if (m->size / 1032 > m->packed + 16 || m->size > UNPACKED_LIMIT - z->unpacked) {
        damaged(z, "expected at most 1 GB unpacked");
        return NULL;
    }
    if (!heed__grow(z->c, &out->unpacked, &out->unpacked_capacity, out->unpacked_count + 1,
                    sizeof *out->unpacked))
        return NULL;
    unsigned char *to = heed__alloc(z->c, m->size + 1);
    if (!to) return NULL;
    out->unpacked[out->unpacked_count++] = to;
    z->unpacked += m->size;
    if (heed__inflate(from, m->packed, to, m->size)) return to;
    damaged(z, "a member cannot be unpacked");
    return NULL;
}

static bool add_array(archive *z, const member *m, const unsigned char *bytes, heed__npz *out) {
    if (!heed__grow(z->c, &out->arrays, &out->capacity, out->count + 1, sizeof *out->arrays))
        return false;
    heed__npy a = {0};
    size_t n = m->name_size - 4 < HEED__NPY_NAME - 1 ? m->name_size - 4 : HEED__NPY_NAME - 1;
    memcpy(a.name, m->name, n);
    if (out->count == MOST_ARRAYS) return damaged(z, "expected at most 4096 arrays");
    if (heed__npz_find(out, a.name)) return damaged(z, "two arrays have one name");
    if (!heed__npy_parse(z->c, z->path, bytes, m->size, &a)) return false;
    out->arrays[out->count++] = a;
    return true;
}

static bool read_member(archive *z, const member *m, heed__npz *out) {
    bool array = m->name_size > 4 && m->name_size < NAME_LIMIT &&
                 memcmp(m->name + m->name_size - 4, ".npy", 4) == 0 &&
                 !memchr(m->name, 0, m->name_size);
    if (!array) return true;
    const unsigned char *bytes = packed_bytes(z, m);
    if (!bytes) return false;
    if (m->method == 8)
        bytes = unpack(z, m, bytes, out);
    else if (m->method != 0 || m->packed != m->size)
        return damaged(z, "expected stored or deflated members");
    if (!bytes) return false;
    if (crc32_z(0, bytes, m->size) != m->crc) return damaged(z, "a checksum is wrong");
    return add_array(z, m, bytes, out);
}

static bool read_archive(archive *z, heed__npz *out) {
    const unsigned char *end = z->n >= END ? find_end(z) : NULL;
    if (!end)
        return heed_fail(z->c, HEED_DATA,
                         "%s is not an NPZ file: expected a directory at its end, found %zu bytes "
                         "without one: it may be cut short",
                         z->path, z->n);
    size_t entries = heed__little(end + 10, 2), at = heed__little(end + 16, 4);
    if (at > z->n) return damaged(z, "its directory is damaged");
    for (size_t i = 0; i < entries; i++) {
        member m = {0};
        if (!read_entry(z, &at, &m) || !read_member(z, &m, out)) return false;
    }
    return true;
}

bool heed__npz_parse(heed_ctx *c, const char *path, unsigned char *bytes, size_t n,
                     heed__npz *out) {
    archive z = {c, path, bytes, n, 0};
    *out = (heed__npz){.bytes = bytes};
    if (n < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0) return read_archive(&z, out);
    if (!heed__grow(c, &out->arrays, &out->capacity, 1, sizeof *out->arrays)) return false;
    strcpy(out->arrays->name, "weights");
    out->count = 1;
    return heed__npy_parse(c, path, bytes, n, out->arrays);
}

void heed__npz_free(heed__npz *z) {
    for (size_t i = 0; i < z->unpacked_count; i++) heed__free(z->unpacked[i]);
    heed__free(z->unpacked);
    heed__free(z->arrays);
    heed__free(z->bytes);
    *z = (heed__npz){0};
}

const heed__npy *heed__npz_find(const heed__npz *z, const char *name) {
    for (size_t i = 0; i < z->count; i++)
        if (strcmp(z->arrays[i].name, name) == 0) return &z->arrays[i];
    return NULL;
}
