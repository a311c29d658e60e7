/* numpy.c -- NumPy's files: one array (.npy: magic, version, a Python dictionary, elements), or a
 * zip archive of them (.npz: APPNOTE.TXT 6.3, sec. 4.3, no zip64; stored, or deflated in reading).
 */
#include "core/core.h"
#include "core/os.h"
#include "io/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- writing ---- */

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

bool heed__npz_save(heed_ctx *c, const char *path, int count, const char *const *names,
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

/* ---- reading an array ---- */

/* ---- the dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ---- */

typedef struct {
    const char *at, *end;
} scanner;

static void skip(scanner *s) {
    while (s->at < s->end && strchr(" \t\r\n", *s->at)) s->at++;
}

static bool accept(scanner *s, const char *word) {
    size_t n = strlen(word);
    skip(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0) return false;
    s->at += n;
    return true;
}

static bool quoted(scanner *s, char *out, size_t capacity) {
    skip(s);
    if (s->at >= s->end || (*s->at != '\'' && *s->at != '"')) return false;
    char mark = *s->at++;
    size_t n = 0;
    while (s->at < s->end && *s->at != mark && n + 1 < capacity) out[n++] = *s->at++;
    out[n] = 0;
    return s->at < s->end && *s->at++ == mark;
}

static bool whole(scanner *s, int64_t *value) {
    enum { DIGITS = 15 };
    int digits = 0;
    skip(s);
    for (*value = 0; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (++digits > DIGITS) return false;
        *value = *value * 10 + (*s->at - '0');
    }
    return digits > 0;
}

static bool shape(scanner *s, heed__npy *a) {
    if (!accept(s, "(")) return false;
    for (a->dims = 0; !accept(s, ")"); a->dims++) {
        if (a->dims == HEED__NPY_DIMS || !whole(s, &a->shape[a->dims])) return false;
        accept(s, ",");
    }
    return true;
}

/* "<f4": byte order, kind, bytes (for text, characters). */
static bool type(const char *descr, heed__npy *a) {
    static const struct {
        char kind;
        int sizes;
    } known[] = {{'f', 2 | 4 | 8}, {'i', 1 | 2 | 4 | 8}, {'u', 1 | 2 | 4 | 8}, {'b', 1}};
    a->kind = '?';
    if (strlen(descr) < 3 || !strchr("<|=>", descr[0])) return descr[0] == '[' || descr[0] == '|';
    int n = 0;
    for (const char *p = descr + 2; *p >= '0' && *p <= '9' && n < 1 << 20; p++)
        n = n * 10 + (*p - '0');
    a->size = n;
    if (descr[0] == '>') return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == descr[1] && (n & (n - 1)) == 0 && n & known[i].sizes)
            a->kind = known[i].kind;
    if (descr[1] == 'U' || descr[1] == 'S') {
        a->kind = descr[1];
        a->size = descr[1] == 'U' ? 4 * n : n;
    }
    return true;
}

static bool dictionary(scanner *s, heed__npy *a) {
    char key[20];
    int found = 0;
    if (!accept(s, "{")) return false;
    while (!accept(s, "}")) {
        bool ok = quoted(s, key, sizeof key) && accept(s, ":");
        if (ok && strcmp(key, "descr") == 0)
            ok = quoted(s, a->type, sizeof a->type) && type(a->type, a);
        else if (ok && strcmp(key, "fortran_order") == 0)
            ok = (a->fortran = accept(s, "True")) || accept(s, "False");
        else
            ok = ok && strcmp(key, "shape") == 0 && shape(s, a);
        if (!ok || ++found > 3) return false;
        accept(s, ",");
    }
    return found == 3;
}

/* ---- the file ---- */

static bool count(heed__npy *a, size_t left) {
    a->count = 1;
    for (int i = 0; i < a->dims; i++) {
        if (a->shape[i] && a->count > ((size_t)1 << 40) / (size_t)a->shape[i]) return false;
        a->count *= (size_t)a->shape[i];
    }
    return a->kind == '?' || !a->count || !a->size || a->count <= left / (size_t)a->size;
}

static bool damaged(heed_ctx *c, const char *path, const heed__npy *a, const char *what) {
    char quote[HEED_QUOTE];
    return heed_fail(c, HEED_DATA, "array %s is damaged: %s: %s",
                     heed_quote(quote, a->name, strlen(a->name)), path, what);
}

bool heed__npy_parse(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n,
                     heed__npy *a) {
    if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return damaged(c, path, a, "expected NumPy's magic");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return damaged(c, path, a, "expected version 1.0, 2.0 or 3.0");
    size_t wide = bytes[6] >= 2 ? 4 : 2;
    size_t size = n < 8 + wide ? 0 : (size_t)heed__little(bytes + 8, wide);
    if (size > n || 8 + wide + size > n) return damaged(c, path, a, "its header has no end");
    const char *head = (const char *)bytes + 8 + wide;
    scanner s = {head, head + size};
    a->data = bytes + 8 + wide + size;
    if (!dictionary(&s, a)) return damaged(c, path, a, "its header is not a description");
    char quote[HEED_QUOTE];
    size_t left = n - 8 - wide - size;
    if (!count(a, left))
        return heed_fail(c, HEED_DATA, "array %s is cut short: %s: %zu bytes are too few",
                         heed_quote(quote, a->name, strlen(a->name)), path, n);
    return a->kind == '?' || a->count * (size_t)a->size == left ||
           damaged(c, path, a, "bytes follow its elements");
}

/* ---- elements ---- */

/* The place in memory of an index in C order. */
static size_t place(const heed__npy *a, size_t index) {
    if (!a->fortran) return index;
    size_t at = 0, stride = a->count;
    for (int i = a->dims - 1; i >= 0; i--) {
        size_t n = (size_t)a->shape[i];
        stride /= n;
        at += index % n * stride;
        index /= n;
    }
    return at;
}

double heed__npy_number(const heed__npy *a, size_t index) {
    size_t size = (size_t)a->size;
    uint64_t bits = heed__little(a->data + place(a, index) * size, size);
    if (a->kind == 'f') return heed__real_of(bits, size);
    return a->kind == 'i' ? heed__signed_of(bits, size) : (double)bits;
}

bool heed__npy_text(const heed__npy *a, size_t index, heed_text *out) {
    size_t step = a->kind == 'U' ? 4 : 1, n = (size_t)a->size;
    const unsigned char *p = a->data + place(a, index) * n;
    while (n > 0 && heed__little(p + n - step, step) == 0) n -= step;
    bool ok = heed_text_put(out, "", 0);
    for (size_t i = 0; ok && i < n; i += step) {
        uint64_t code = heed__little(p + i, step);
        char text[4] = {(char)p[i]};
        if (code == 0) code = 0x2400;
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
        bool byte = step == 1 && p[i];
        ok = heed_text_put(out, text, byte ? 1 : heed__utf8_write((int32_t)code, text));
    }
    return ok;
}

const char *heed__npy_shape(char text[HEED__SHAPE], const heed__npy *a) {
    int used = snprintf(text, HEED__SHAPE, "(");
    for (int i = 0; i < a->dims && used < HEED__SHAPE; i++)
        used += snprintf(text + used, (size_t)(HEED__SHAPE - used), "%s%lld", i ? ", " : "",
                         (long long)a->shape[i]);
    if (used < HEED__SHAPE) snprintf(text + used, (size_t)(HEED__SHAPE - used), ")");
    return text;
}

/* ---- reading an archive ---- */

static const size_t UNPACKED_LIMIT = (size_t)1 << 30;
enum { END = 22, ENTRY = 46, LOCAL = 30, MOST_NAME = 4096, MOST_ARRAYS = 4096 };

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
} entry;

static bool damaged_archive(const archive *z, const char *why) {
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

static bool read_entry(const archive *z, size_t *at, entry *m) {
    const unsigned char *p = z->bytes + *at;
    if (*at + ENTRY > z->n || memcmp(p, "PK\1\2", 4) != 0)
        return damaged_archive(z, "its directory is damaged");
    *m = (entry){.flags = (int)heed__little(p + 8, 2),
                 .method = (int)heed__little(p + 10, 2),
                 .crc = (uint32_t)heed__little(p + 16, 4),
                 .packed = heed__little(p + 20, 4),
                 .size = heed__little(p + 24, 4),
                 .name = (const char *)p + ENTRY,
                 .name_size = heed__little(p + 28, 2),
                 .offset = heed__little(p + 42, 4)};
    *at += ENTRY + m->name_size + heed__little(p + 30, 2) + heed__little(p + 32, 2);
    return *at <= z->n || damaged_archive(z, "its directory is damaged");
}

/* Where the bytes of a entry begin; NULL: see c. */
static const unsigned char *packed_bytes(const archive *z, const entry *m) {
    const unsigned char *p = z->bytes + m->offset;
    if (m->packed == 0xFFFFFFFF || m->size == 0xFFFFFFFF)
        damaged_archive(z, "expected members under 4 GB, found zip64");
    else if (m->flags & 1)
        damaged_archive(z, "expected plain members, found encrypted ones");
    else if (m->offset + LOCAL > z->n || memcmp(p, "PK\3\4", 4) != 0)
        damaged_archive(z, "a entry is not where its directory says");
    else {
        size_t start = m->offset + LOCAL + heed__little(p + 26, 2) + heed__little(p + 28, 2);
        if (start <= z->n && m->packed <= z->n - start) return z->bytes + start;
        damaged_archive(z, "a entry extends beyond the end of the file");
    }
    return NULL;
}

/* Deflate expands at most 1032 times: a larger claim is refused before memory is allocated. */
static unsigned char *unpack(archive *z, const entry *m, const unsigned char *from,
                             heed__npz *out) {
    if (m->size / 1032 > m->packed + 16 || m->size > UNPACKED_LIMIT - z->unpacked) {
        damaged_archive(z, "expected at most 1 GB unpacked");
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
    damaged_archive(z, "a entry cannot be unpacked");
    return NULL;
}

static bool add_array(archive *z, const entry *m, const unsigned char *bytes, heed__npz *out) {
    if (!heed__grow(z->c, &out->arrays, &out->capacity, out->count + 1, sizeof *out->arrays))
        return false;
    heed__npy a = {0};
    size_t n = m->name_size - 4 < HEED__NPY_NAME - 1 ? m->name_size - 4 : HEED__NPY_NAME - 1;
    memcpy(a.name, m->name, n);
    if (out->count == MOST_ARRAYS) return damaged_archive(z, "expected at most 4096 arrays");
    if (heed__npz_find(out, a.name)) return damaged_archive(z, "two arrays have one name");
    if (!heed__npy_parse(z->c, z->path, bytes, m->size, &a)) return false;
    out->arrays[out->count++] = a;
    return true;
}

static bool read_member(archive *z, const entry *m, heed__npz *out) {
    bool array = m->name_size > 4 && m->name_size < MOST_NAME &&
                 memcmp(m->name + m->name_size - 4, ".npy", 4) == 0 &&
                 !memchr(m->name, 0, m->name_size);
    if (!array) return true;
    const unsigned char *bytes = packed_bytes(z, m);
    if (!bytes) return false;
    if (m->method == 8)
        bytes = unpack(z, m, bytes, out);
    else if (m->method != 0 || m->packed != m->size)
        return damaged_archive(z, "expected stored or deflated members");
    if (!bytes) return false;
    if (crc32_z(0, bytes, m->size) != m->crc) return damaged_archive(z, "a checksum is wrong");
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
    if (at > z->n) return damaged_archive(z, "its directory is damaged");
    for (size_t i = 0; i < entries; i++) {
        entry m = {0};
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
