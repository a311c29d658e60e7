/* core.h -- what the rooms above core may use of it beyond the public headers: memory, ownership,
 * hashes. */
#ifndef HEED_CORE_H
#define HEED_CORE_H

#include <heed/ctx.h>
#include <heed/tensor.h>

HEED_EXPORT_BEGIN

/* heed_threads and heed_isa stand in kernels/dispatch.c, which knows the table.
 *
 * Memory: 64-byte aligned and zeroed; NULL and a HEED_FAILED error when there is none. */
void *heed__alloc(heed_ctx *c, size_t bytes);
void *heed__alloc_array(heed_ctx *c, size_t count,
                        size_t each); /* refuses a product that overflows */
void heed__free(void *p);
char *heed__copy_text(heed_ctx *c, const char *text);

/* Makes room for `need` elements of `each` bytes in *array, which holds *room; grows by half, keeps
 * contents, zeroes what is new. */
bool heed__grow(heed_ctx *c, void *array, size_t *capacity, size_t need, size_t each);

/* Ownership: an object embeds a heed__owned as its first member and is freed by heed_close unless
 * it was freed before. */
typedef struct heed__owned {
    struct heed__owned *prev, *next;
    void (*free)(struct heed__owned *object);
} heed__owned;
void heed__own(heed_ctx *c, heed__owned *object, void (*free)(heed__owned *object));
void heed__disown(heed_ctx *c, heed__owned *object);

/* The next owned object after `after` (NULL: the first) that is freed by `free`; NULL if none. */
heed__owned *heed__owned_next(heed_ctx *c, const heed__owned *after, void (*free)(heed__owned *));

/* Whether runs that were edited on purpose are opened: heed_options.edited. */
bool heed__ctx_edited(const heed_ctx *c);

/* The context's kernels, set by heed_open. */
const heed_kernels *heed__kernels_of(const heed_ctx *c);
/* Used by heed_open (kernels/dispatch.c), which knows how large a kernel table is: room for it at
 * the context's end. */
heed_ctx *heed__ctx_new(const heed_options *options, size_t kernels_size);
heed_kernels *heed__ctx_kernels(heed_ctx *c);

/* A decimal number, whole text, finite, whatever the locale: [+-]digits[.digits][e[+-]digits]. */
bool heed__number(const char *text, double *value);
/* The number with so many significant digits (up to 17; 0: the fewest that read back to the same
 * double), with a point whatever the locale; "inf", "-inf", "nan". Returns text. */
enum { HEED__NUMBER = 40 };
char *heed__number_text(char text[HEED__NUMBER], double value, int digits);

/* FNV-1a. */
uint32_t heed__hash(const char *text);
uint64_t heed__hash64(const void *bytes, size_t n,
                      uint64_t start); /* start 0: the standard offset basis */

/* size = product of the shape; false when a dim is negative or the bytes overflow. */
bool heed__shape_size(int dims, const int *shape, size_t *size);

/* True if something failed already, or c is NULL. */
static inline bool heed__stopped(const heed_ctx *c) { return heed_ctx_status(c) != HEED_OK; }

HEED_EXPORT_END

#endif
