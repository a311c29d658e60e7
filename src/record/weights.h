/* weights.h -- shared by the records: the arrays of a block; weights from files, as numbers in
 * lists or arrays, and the records made from them. */
#ifndef HEED_WEIGHTS_H
#define HEED_WEIGHTS_H

#include "io/npz.h"

#include <heed/record.h>

/* An array of a block, (heads, rows, cols), as it is named in files. */
typedef struct {
    const char *name;
    int rows, cols;
    const heed_real **x; /* where the block keeps it */
} heed__array;
enum { HEED__ARRAYS = 7 };
/* Lists the arrays of a block over these axes, the weights first. */
void heed__block_arrays(const heed_record_axis *axes, heed_record_block *b,
                        heed__array out[HEED__ARRAYS]);

/* Appends the first table that has a name as CSV. */
void heed__table_csv(const heed_record *r, heed_text *out);

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

/* Reads arrays of other programs into r. */
bool heed__weights_foreign(const heed__source *s, heed_record *r);
/* The stack that the object names under "stack"; none: the encoder. */
heed_stack heed__stack_of(const json_t *v);
/* Reads a file of heed_record_json or heed_record_npz; meta is the JSON object. */
bool heed__weights_own(const heed__source *s, const json_t *meta, heed_record *r);
/* Like heed_record_read_line, from n bytes, which it frees (heed__free), also on failure. */
heed_record *heed__record_parse(heed_ctx *c, const char *path, int line, unsigned char *bytes,
                                size_t n);

#endif
