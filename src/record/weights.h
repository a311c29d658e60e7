/* weights.h -- weights from files: numbers in lists or arrays, labels, and what becomes of them. */
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

/* A file that is open: JSON or an archive, one of them. */
typedef struct {
    heed_ctx *c;
    const char *path;
    json_t *json; /* NULL: the archive */
    heed__npz npz;
} heed__source;

/* Nested lists of numbers, all of one shape; null is `missing`. Fails where they are none. */
bool heed__numbers_json(const heed__source *s, const char *name, const json_t *v, double missing,
                        heed__numbers *out);
bool heed__numbers_npy(const heed__source *s, const heed__npy *a, heed__numbers *out);
/* The shape as "(2, 3)" into text, which is returned. */
const char *heed__numbers_shape(char text[HEED__SHAPE], const heed__numbers *n);

/* The picture in a file of foreign arrays, into r, and its patches; rows 0: they are a square. */
typedef struct {
    bool there;
    int rows, cols;
} heed__patches;
bool heed__weights_picture(const heed__source *s, heed_record *r, heed__patches *out);
/* An axis of so many tokens, the last of which are its patches, for an array; -1: see s->c. */
int heed__patch_axis(const heed__source *s, heed_record *r, const heed__patches *p, int size,
                     const char *array);
/* Anybody's arrays, into r. */
bool heed__weights_foreign(const heed__source *s, heed_record *r);
/* What heed_record_json and heed_record_npz wrote; meta is the JSON object. */
bool heed__weights_own(const heed__source *s, const json_t *meta, heed_record *r);
/* heed_record_read of n bytes, which it frees (heed__free), also on failure. */
heed_record *heed__record_parse(heed_ctx *c, const char *path, unsigned char *bytes, size_t n);

#endif
