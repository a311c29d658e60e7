/* io.h -- internal functions of io for the folders above it. */
#ifndef HEED_IO_INTERNAL_H
#define HEED_IO_INTERNAL_H

#include "text/text.h"

#include <heed/io.h>

HEED_EXPORT_BEGIN

/* ---- bytes ---- */
/* The little-endian number of n bytes, at most 8. */
uint64_t heed__little(const unsigned char *p, size_t n);
/* The value of bits: in two's complement of 1 to 8 bytes, or as an IEEE real of 2, 4 or 8. */
double heed__signed_of(uint64_t bits, size_t size);
double heed__real_of(uint64_t bits, size_t size);
/* Appends base64: RFC 4648, sec. 4, padded, without line breaks. */
bool heed__put_base64(heed_text *out, const unsigned char *bytes, size_t n);
/* Raw deflate (RFC 1951), at most 4 GB, into exactly size bytes; false: damaged, or no memory. */
bool heed__inflate(const unsigned char *from, size_t n, void *to, size_t size);

/* ---- pictures ---- */
/* A picture of (H,W,C) bytes. */
typedef struct {
    const unsigned char *pixels;
    int width, height, channels; /* 1 or 3 */
} heed__pixels;
/* Writes RGB rows of 3*width bytes; the file is written atomically. Sides are from 1 to 32,768, of
 * at most 2^28 pixels; others are HEED_USAGE. */
bool heed__png_save(heed_ctx *c, const char *path, const unsigned char *rgb, int width, int height);
/* Appends the picture as a PNG file in base64. what: named in the error if out of memory. */
bool heed__put_png(heed_text *out, const char *what, heed__pixels from);

/* Whether files have this entry of a store: optional ones while they are not 0. */
static inline bool heed__saves(const heed_param *e) {
    return !heed__of(e->tensor)->optional || e->tensor->x[0] != 0;
}

/* ---- safetensors ---- */
/* Parses the n bytes of the file at path, which are owned from now on, also on failure. */
heed_safetensors *heed__safetensors_parse(heed_ctx *c, const char *path, unsigned char *data,
                                          size_t n);
/* Opens a file without reading its tensors: their `data` is NULL, unless it is a pipe. */
heed_safetensors *heed__safetensors_head(heed_ctx *c, const char *path);
/* The array of this name, and a value of the metadata; NULL if absent. */
const heed_array *heed__safetensors_find(const heed_safetensors *f, const char *name);
const char *heed__safetensors_meta(const heed_safetensors *f, const char *key);
/* Copies the bytes of an array of f, or reads them from the file. */
bool heed__safetensors_values(const heed_safetensors *f, const heed_array *a, void *to);
/* The same as reals; an error if they are not F32, F64, F16 or BF16. */
bool heed__safetensors_reals(heed_ctx *c, const heed_safetensors *f, const heed_array *a,
                             heed_real *out);
/* heed_save with metadata: alternating keys and values, ended by NULL; or NULL. "format" is "pt"
 * unless given. */
bool heed__save_meta(const heed_params *s, const char *path, const char *const *meta);
/* heed_load from an open file. If its tensors cannot be read, some entries are already filled. */
bool heed__load_parsed(heed_params *s, const char *path, const heed_safetensors *f);

/* ---- settings ---- */
/* Fills the members of `set` that the rows of a table are bound to; other members stay as they are.
 * Texts are valid until they are set again. False with HEED_USAGE if f lacks a setting or has it of
 * another kind, or a value is too large for an int. */
bool heed__config_bind(const heed_config *f, const heed_option *table, void *set);
/* `key = value` lines in UTF-8; # starts a comment at the start of a line or after a space. A value
 * may be in double quotes, with the escapes \n \r \t \" \\, or in single quotes, without escapes. A
 * key set twice is an error. */
bool heed__config_read(heed_config *f, const char *path, heed_rank rank);
/* Like heed__config_read for a zero-terminated text, which is modified; errors name path. */
bool heed__config_parse(heed_config *f, const char *path, char *text, size_t n, heed_rank rank);
/* heed__config_read for the file of a run, which may have settings of another program: those that
 * no table has are added as texts. */
bool heed__config_read_open(heed_config *f, const char *path);

/* ---- NPZ ---- */
typedef enum { HEED__NPZ_REAL, HEED__NPZ_INT, HEED__NPZ_BYTE, HEED__NPZ_TEXT } heed__npz_kind;
typedef struct {
    const char *name;
    heed__npz_kind kind;
    int dims, shape[HEED_DIMS];
    int width; /* of texts: the characters of each, UTF-32, with zeros after them */
    const void *data;
} heed__npz_array;
/* NumPy's uncompressed archive of named arrays: np.load(path)[names[i]] is tensors[i]. */
bool heed__npz_save(heed_ctx *c, const char *path, int count, const char *const *names,
                    const heed_tensor *const *tensors);
/* heed__npz_save for arrays that are not tensors. */
bool heed__npz_write(heed_ctx *c, const char *path, int count, const heed__npz_array *arrays);

HEED_EXPORT_END

#endif
