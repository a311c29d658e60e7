/* npz.h -- reading NumPy's files: one array (.npy), or a zip archive of them (.npz). */
#ifndef HEED_NPZ_H
#define HEED_NPZ_H

#include "io/io.h"

HEED_EXPORT_BEGIN

enum { HEED__NPY_DIMS = 6, HEED__NPY_NAME = 200 };
typedef struct {
    char name[HEED__NPY_NAME]; /* without .npy; cut if longer */
    char kind;     /* 'f' real, 'i' and 'u' integers, 'b' bool, 'U' and 'S' text, '?' other */
    char type[24]; /* as in the file: ">f4" */
    int size;      /* bytes of an element */
    int dims;
    int64_t shape[HEED__NPY_DIMS];
    size_t count; /* number of elements */
    bool fortran; /* the first index varies fastest */
    const unsigned char *data;
} heed__npy;
typedef struct {
    size_t count, capacity;
    heed__npy *arrays;
    unsigned char *bytes; /* the file */
    unsigned char **unpacked;
    size_t unpacked_count, unpacked_capacity;
} heed__npz;

/* Reads the n bytes of the file at path, which are owned from now on, also on failure. Arrays of
 * unknown kinds have the kind '?'. Everything is checked: the directory, sizes, checksums; elements
 * must be little-endian. Free with heed__npz_free, also after a failure. */
bool heed__npz_parse(heed_ctx *c, const char *path, unsigned char *bytes, size_t n, heed__npz *out);
/* Fills a, whose name is set, from the n bytes of a .npy file; a then points into them. */
bool heed__npy_parse(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n,
                     heed__npy *a);
void heed__npz_free(heed__npz *z);
const heed__npy *heed__npz_find(const heed__npz *z, const char *name);
/* The element at `index` in C order, of the kinds f, i, u and b. */
double heed__npy_number(const heed__npy *a, size_t index);
/* Appends an element of kind U or S as UTF-8; a NUL within becomes its symbol, U+2400. */
bool heed__npy_text(const heed__npy *a, size_t index, heed_text *out);
/* "(2, 3, 4)" into text, which is returned. */
enum { HEED__SHAPE = 160 };
const char *heed__npy_shape(char text[HEED__SHAPE], const heed__npy *a);

HEED_EXPORT_END

#endif
