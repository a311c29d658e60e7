/* core.h -- what other rooms use beyond the public headers: memory, ownership, hashes. */
#ifndef HEED_CORE_H
#define HEED_CORE_H

#include <heed/ctx.h>
#include <heed/tensor.h>

HEED_EXPORT_BEGIN

/* heed_threads and heed_isa are defined in kernels/dispatch.c, which knows the kernel table.
 *
 * Memory: 64-byte aligned and zeroed; NULL and a HEED_FAILED error when out of memory. */
void *heed__alloc(heed_ctx *c, size_t bytes);
void *heed__alloc_array(heed_ctx *c, size_t count,
                        size_t each); /* fails if the product overflows */
/* The same without zeroing, for memory that is filled at once. */
void *heed__alloc_untouched(heed_ctx *c, size_t count, size_t each);
void heed__free(void *p);
char *heed__copy_text(heed_ctx *c, const char *text);

/* Grows *array, which has space for *capacity elements of `each` bytes, to at least `need`
 * elements, by half its size or more. Keeps the contents and zeroes the new elements. */
bool heed__grow(heed_ctx *c, void *array, size_t *capacity, size_t need, size_t each);

/* Ownership: an object embeds a heed__owned as its first member and is freed by heed_close unless
 * it was freed earlier. */
typedef struct heed__owned {
    struct heed__owned *prev, *next;
    void (*free)(struct heed__owned *object);
} heed__owned;
void heed__own(heed_ctx *c, heed__owned *object, void (*free)(heed__owned *object));
void heed__disown(heed_ctx *c, heed__owned *object);
/* Frees the object now. */
static inline void heed__release(heed_ctx *c, heed__owned *object) {
    heed__disown(c, object);
    object->free(object);
}

/* The next owned object after `after` (NULL: the first) that is freed by `free`; NULL if none. */
heed__owned *heed__owned_next(heed_ctx *c, const heed__owned *after, void (*free)(heed__owned *));

/* heed_options.explain; false without it. */
bool heed__ctx_explain(const heed_ctx *c, const struct heed_config *f, const char *key,
                       char text[HEED_EXPLAIN]);
/* Whether runs that were edited on purpose may be opened: heed_options.edited. */
bool heed__ctx_edited(const heed_ctx *c);

/* The context's kernels, set by heed_open. */
const heed_kernels *heed__kernels_of(const heed_ctx *c);
/* Used by heed_open (kernels/dispatch.c), which knows the size of a kernel table: allocates a
 * context with space for the table at its end. */
heed_ctx *heed__ctx_new(const heed_options *options, size_t kernels_size);
heed_kernels *heed__ctx_kernels(heed_ctx *c);
/* Whether this CPU multiplies faster in bf16 than in fp32: false for Intel's. */
bool heed__bf16_is_faster(void);
/* False if bf16 is set and no product has been rounded since: kernels/dispatch.c. */
bool heed__precision_applies(const heed_ctx *c);

/* The attached profile, or NULL; set by heed_profile_new (kernels/profile.c). */
struct heed_profile *heed__profile_of(const heed_ctx *c);
void heed__ctx_attach(heed_ctx *c, struct heed_profile *p);

/* Parses a complete string as a finite decimal number, independent of the locale:
 * [+-]digits[.digits][e[+-]digits]. */
bool heed__number(const char *text, double *value);
/* True if the values of two settings are equal as texts or as numbers. */
bool heed__same_value(const char *a, const char *b);
/* Formats a number with the given number of significant digits (up to 17; 0: the fewest that read
 * back as the same double) and a decimal point in any locale; or "inf", "-inf", "nan". */
enum { HEED__NUMBER = 40 };
char *heed__number_text(char text[HEED__NUMBER], double value, int digits);

/* What only the library reads of a tensor; every tensor of a tape or a store is the first member of
 * one. */
typedef struct heed_adapter heed_adapter;
typedef struct {
    heed_tensor t;
    bool keep_grad;    /* g is kept after backward: parameters, heed_want_grad, probes */
    bool touched;      /* parameters: backward has written g since it was last zeroed */
    int readers;       /* parameters: in backward, the ops that may still add to g */
    heed_tensor *base; /* for a view, the tensor whose gradient contains the view's; else NULL */
    size_t offset;     /* for a view, its position in base, in elements */
    bool reported;     /* parameters: a missing gradient has been reported */
    bool optional;     /* parameters: of one element, which files leave out while it is 0 */
    char *undrawn; /* parameters: the init of values that wait for those of a run, so that none are
                      drawn; NULL: x has its values */
    bool dropped;  /* of a node: x is not kept until backward */
    size_t bytes[2]; /* of its node: the step's memory taken by forward and by backward, so far */
    heed_adapter *adapter; /* parameters: computes what ops read instead of x; NULL: x itself */
    const void *owner;     /* the recording that owns it; NULL: a store */
    uint64_t begun;        /* the step of that recording that made it */
} heed__tensor;
static inline heed__tensor *heed__of(const heed_tensor *x) { return (heed__tensor *)(uintptr_t)x; }

uint32_t heed__random_bits(const heed_random *r, uint64_t index); /* uniform 32 bits */
/* Numbers 4 block .. 4 block + 3 of heed_random_uniform, and 2 pair and 2 pair + 1 of
 * heed_random_normal, for the cost of one. */
void heed__random_uniforms(const heed_random *r, uint64_t block, double out[4]);
void heed__random_normals(const heed_random *r, uint64_t pair, double out[2]);

/* Bytes for the path of a layer with the name of one of its values; longer ones are cut. */
enum { HEED__PATH = 320 };

/* FNV-1a. */
uint32_t heed__hash(const char *text);
uint64_t heed__hash64(const void *bytes, size_t n,
                      uint64_t start); /* start 0: the standard offset basis */

/* size = product of the shape; false if a dim is negative or the size in bytes overflows. */
bool heed__shape_size(int dims, const int *shape, size_t *size);

/* True if c is in error or NULL. */
static inline bool heed__stopped(const heed_ctx *c) { return heed_ctx_status(c) != HEED_OK; }

/* heed_fail with HEED_DATA for an input that was not found: heed_ctx_missing returns its path. */
bool heed__fail_missing(heed_ctx *c, const char *path, const char *format, ...) HEED_PRINTF(3, 4);

/* True if both tensors have the same dims and shape. */
bool heed__same_shape(const heed_tensor *a, const heed_tensor *b);
/* Product of the dims in [from, to): rows = heed__extent(t, 0, t->dims - 1). */
size_t heed__extent(const heed_tensor *t, int from, int to);
/* Four uniform 32-bit words from (key, counter): Philox4x32-10. Salmon et al. 2011, sec. 4.3. */
void heed__philox(uint64_t key, const uint32_t counter[4], uint32_t out[4]);

HEED_EXPORT_END

#endif
