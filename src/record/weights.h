/* weights.h -- weights from files: numbers in lists or arrays, labels, and the records made from
 * them. */
#ifndef HEED_WEIGHTS_H
#define HEED_WEIGHTS_H

#include "io/npz.h"

#include <heed/record.h>

/* Numbers in C order with their shape. */
typedef struct {
    int dims;
    int64_t shape[HEED__NPY_DIMS];
    size_t count;
    heed_real *x; /* heed__free */
} heed__numbers;

/* An open file: either JSON or an archive. */
typedef struct {
    heed_ctx *c;
    const char *path;
    json_t *json; /* NULL: an archive */
    heed__npz npz;
} heed__source;

/* Reads nested lists of numbers of a regular shape; null becomes `missing`. Fails for anything
 * else. */
bool heed__numbers_json(const heed__source *s, const char *name, const json_t *v, double missing,
                        heed__numbers *out);
bool heed__numbers_npy(const heed__source *s, const heed__npy *a, heed__numbers *out);
/* Writes the shape as "(2, 3)" to text and returns it. */
const char *heed__numbers_shape(char text[HEED__SHAPE], const heed__numbers *n);

/* Reads the picture in a file of foreign arrays into r, and its patches; rows 0: they form a
 * square. */
typedef struct {
    bool there;
    int rows, cols;
} heed__patches;
bool heed__weights_picture(const heed__source *s, heed_record *r, heed__patches *out);
/* Adds an axis of `size` tokens, the last of which are the patches, for an array. Returns its
 * index, or -1 on error. */
int heed__patch_axis(const heed__source *s, heed_record *r, const heed__patches *p, int size,
                     const char *array);
/* Reads arrays of other programs into r. */
bool heed__weights_foreign(const heed__source *s, heed_record *r);
/* Reads a file of heed_record_json or heed_record_npz; meta is the JSON object. */
bool heed__weights_own(const heed__source *s, const json_t *meta, heed_record *r);
/* Like heed_record_read, from n bytes, which it frees (heed__free), also on failure. */
heed_record *heed__record_parse(heed_ctx *c, const char *path, unsigned char *bytes, size_t n);

#endif
