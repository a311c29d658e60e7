/* npy.c -- writes NumPy's files: one array (.npy), or a zip archive of them (.npz). */
#include "core/core.h"
#include "core/os.h"
#include "io/io.h"

#include <string.h>
#include <zlib.h>

#ifdef HEED_F64
#define REAL "<f8"
#else
#define REAL "<f4"
#endif

static heed__npz_array array_of(const char *name, const heed_tensor *t) {
    heed__npz_array a = {.name = name};
    if (!t) return a;
    a.kind = t->x ? HEED__NPZ_REAL : HEED__NPZ_INT;
    a.dims = t->dims;
    a.data = t->x ? (const void *)t->x : (const void *)t->i;
    memcpy(a.shape, t->shape, sizeof a.shape);
    return a;
}

static size_t bytes_of(const heed__npz_array *a) {
    static const size_t each[] = {sizeof(heed_real), sizeof(int32_t), 1, sizeof(int32_t)};
    size_t n = each[a->kind] * (a->width ? (size_t)a->width : 1);
    for (int i = 0; i < a->dims; i++) n *= (size_t)a->shape[i];
    return n;
}

/* Little-endian, the low n bytes of value. */
static bool put_number(heed_text *out, uint64_t value, int n) {
    char bytes[8];
    for (int i = 0; i < n; i++) bytes[i] = (char)(value >> 8 * i & 255);
    return heed_text_put(out, bytes, (size_t)n);
}

/* Magic, version 1.0, length, a Python dictionary padded with blanks to a multiple of 64 bytes. */
static bool put_header(heed_text *out, const heed__npz_array *a) {
    static const char *const types[] = {REAL, "<i4", "|u1", "<U"};
    heed_text h = {.c = out->c};
    bool ok = heed_text_add(&h, "{'descr': '%s", types[a->kind]) &&
              (!a->width || heed_text_add(&h, "%d", a->width)) &&
              heed_text_add(&h, "', 'fortran_order': False, 'shape': (");
    for (int i = 0; ok && i < a->dims; i++)
        ok = heed_text_add(&h, "%s%d%s", i ? " " : "", a->shape[i],
                           i + 1 < a->dims || a->dims == 1 ? "," : "");
    ok = ok && heed_text_add(&h, "), }");
    while (ok && (10 + h.n + 1) % 64) ok = heed_text_put(&h, " ", 1);
    ok = ok && heed_text_put(&h, "\n", 1) && heed_text_put(out, "\x93NUMPY\x01\x00", 8) &&
         put_number(out, h.n, 2) && heed_text_put(out, h.s, h.n);
    heed_text_free(&h);
    return ok;
}

bool heed_npy_save(heed_ctx *c, const char *path, const heed_tensor *t) {
    if (heed__stopped(c) || !path || !t) return false;
    heed_text header = {.c = c};
    heed__npz_array a = array_of(path, t);
    bool ok = put_header(&header, &a);
    heed__piece pieces[] = {{header.s, header.n}, {a.data, bytes_of(&a)}};
    ok = ok && heed__os_write(c, path, pieces, 2);
    heed_text_free(&header);
    return ok;
}

/* ---- zip: APPNOTE.TXT 6.3, sec. 4.3; method 0, no zip64 ---- */

enum { ZIP_LIMIT = 0x7FFF0000, ZIP_ENTRIES = 65535, NAME_LIMIT = 1000 };

typedef struct {
    heed__npz_array a;
    heed_text head; /* local file header, then the array's own header */
    uint32_t crc;
    uint64_t size, offset; /* of header and data; of head in the file */
} member;

/* The fields shared by the local header and the directory: versions, flags (names are UTF-8),
 * method, time and date (1 January 1980), checksum, sizes, length of the name. */
static bool put_common(heed_text *out, const member *m) {
    return put_number(out, 20, 2) && put_number(out, 0x800, 2) && put_number(out, 0, 2) &&
           put_number(out, 0x210000, 4) && put_number(out, m->crc, 4) &&
           put_number(out, m->size, 4) && put_number(out, m->size, 4) &&
           put_number(out, strlen(m->a.name) + 4, 2) && put_number(out, 0, 2);
}

static bool put_local(member *m, uint64_t offset) {
    heed_text npy = {.c = m->head.c};
    bool ok = put_header(&npy, &m->a);
    if (ok) {
        m->offset = offset;
        m->size = npy.n + bytes_of(&m->a);
        uLong crc = crc32_z(0, (const Bytef *)npy.s, npy.n);
        if (bytes_of(&m->a)) crc = crc32_z(crc, m->a.data, bytes_of(&m->a));
        m->crc = (uint32_t)crc;
        ok = heed_text_put(&m->head, "PK\3\4", 4) && put_common(&m->head, m) &&
             heed_text_add(&m->head, "%s.npy", m->a.name) && heed_text_put(&m->head, npy.s, npy.n);
    }
    heed_text_free(&npy);
    return ok;
}

/* Comment length, disk and attributes are always 0. */
static bool put_directory(heed_text *out, const member *m) {
    return heed_text_put(out, "PK\1\2", 4) && put_number(out, 20, 2) && put_common(out, m) &&
           put_number(out, 0, 8) && put_number(out, 0, 2) && put_number(out, m->offset, 4) &&
           heed_text_add(out, "%s.npy", m->a.name);
}

static bool refuse(heed_ctx *c, const char *path, const char *name, const char *why) {
    return heed_fail(c, HEED_USAGE, "cannot write %s: array %s: %s", path, name, why);
}

static bool add_member(heed_ctx *c, const char *path, member *members, size_t i, uint64_t *offset) {
    member *m = &members[i];
    m->head.c = c;
    if (!m->a.name || (!m->a.data && bytes_of(&m->a)))
        return refuse(c, path, m->a.name ? m->a.name : "?", "expected name and data");
    for (size_t k = 0; k < i; k++)
        if (strcmp(members[k].a.name, m->a.name) == 0)
            return refuse(c, path, m->a.name, "named twice");
    if (strlen(m->a.name) > NAME_LIMIT) return refuse(c, path, m->a.name, "its name is too long");
    if (bytes_of(&m->a) > ZIP_LIMIT || *offset > ZIP_LIMIT)
        return refuse(c, path, m->a.name, "more than 2 GB; hint: write several files");
    if (!put_local(m, *offset)) return false;
    *offset += m->head.n + bytes_of(&m->a);
    return true;
}

static bool write_archive(heed_ctx *c, const char *path, const member *members, size_t count,
                          uint64_t offset) {
    heed_text directory = {.c = c};
    heed__piece *pieces = heed__alloc_array(c, 2 * count + 1, sizeof *pieces);
    bool ok = pieces != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        const member *m = &members[i];
        pieces[2 * i] = (heed__piece){m->head.s, m->head.n};
        pieces[2 * i + 1] = (heed__piece){m->a.data, bytes_of(&m->a)};
        ok = put_directory(&directory, m);
    }
    uint64_t size = directory.n;
    ok = ok && heed_text_put(&directory, "PK\5\6", 4) && put_number(&directory, 0, 4) &&
         put_number(&directory, count, 2) && put_number(&directory, count, 2) &&
         put_number(&directory, size, 4) && put_number(&directory, offset, 4) &&
         put_number(&directory, 0, 2);
    if (ok) pieces[2 * count] = (heed__piece){directory.s, directory.n};
    ok = ok && heed__os_write(c, path, pieces, (int)(2 * count + 1));
    heed_text_free(&directory);
    heed__free(pieces);
    return ok;
}

bool heed__npz_write(heed_ctx *c, const char *path, int count, const heed__npz_array *arrays) {
    if (count < 0 || count > ZIP_ENTRIES)
        return heed_fail(c, HEED_USAGE, "cannot write %s: expected 0 to %d arrays, found %d", path,
                         ZIP_ENTRIES, count);
    member *members = heed__alloc_array(c, (size_t)count, sizeof *members);
    bool ok = members != NULL;
    uint64_t offset = 0;
    for (size_t i = 0; ok && i < (size_t)count; i++) {
        members[i] = (member){.a = arrays[i]};
        ok = add_member(c, path, members, i, &offset);
    }
    ok = ok && write_archive(c, path, members, (size_t)count, offset);
    for (size_t i = 0; members && i < (size_t)count; i++) heed_text_free(&members[i].head);
    heed__free(members);
    return ok;
}

bool heed_npz_save(heed_ctx *c, const char *path, int count, const char *const *names,
                   const heed_tensor *const *tensors) {
    if (heed__stopped(c) || !path) return false;
    if (count > 0 && (!names || !tensors)) count = -1;
    size_t n = count > 0 ? (size_t)count : 0;
    heed__npz_array *arrays = heed__alloc_array(c, n, sizeof *arrays);
    for (size_t i = 0; arrays && i < n; i++) arrays[i] = array_of(names[i], tensors[i]);
    bool ok = arrays && heed__npz_write(c, path, count, arrays);
    heed__free(arrays);
    return ok;
}
