/* heed/params.h -- an ordered list of named parameters and state, for models, optimizers,
 * checkpoints. */
#ifndef HEED_PARAMS_H
#define HEED_PARAMS_H

#include <heed/tensor.h>

HEED_EXPORT_BEGIN

/* What the rows of a parameter (its first dimension) stand for. The setting `from` of a training
 * matches the rows of two models by it. */
typedef enum {
    HEED_ROWS_UNITS,     /* units of the model */
    HEED_ROWS_TOKENS,    /* tokens of the vocabulary */
    HEED_ROWS_SOURCE,    /* tokens of the source's vocabulary */
    HEED_ROWS_POSITIONS, /* positions in a sequence */
    HEED_ROWS_GRID,      /* positions on a square grid, row by row; rows beyond the largest square
                            number precede it, such as that of [CLS] */
    HEED_ROWS_CLASSES    /* classes */
} heed_row_kind;
/* A named range of rows of a stacked weight: "q" of a projection to queries, keys and values. */
typedef struct {
    const char *name;
    int from, count;
} heed_range;
enum { HEED_RANGES = 4 }; /* ranges of a weight, at most */

typedef struct {
    const char *name;    /* "encoder.0.attn.qkv.weight": also in checkpoints and optimizer slots */
    heed_tensor *tensor; /* value and, if trained, gradient */
    bool trained;        /* false: state (running statistics) or frozen */
    bool state;          /* never trained: running statistics, counters */
    bool decay;          /* weight decay applies; by default to tensors of two or more dims */
    bool adapter;        /* belongs to an adapter of another entry: heed_lora_add */
    int64_t thaw;       /* the setting freeze-steps: frozen for this number of updates; 0: not so */
    heed_real lr_scale; /* multiplies the learning rate; 1 by default */
    heed_row_kind rows; /* HEED_ROWS_UNITS by default */
    heed_range ranges[HEED_RANGES]; /* rows with a name */
} heed_param;

/* An empty store, which the context owns. NULL: out of memory. */
heed_params *heed_params_new(heed_ctx *c);
void heed_params_free(heed_params *s); /* frees it before heed_close does */
heed_ctx *heed_params_ctx(const heed_params *s);

/* clang-format off */
/* Adds a trained parameter named by the open scopes and name ("w" in scope "block.0" is
 * "block.0.w"). init is one of
 *     "zero"  "one"  "const:V"   constants
 *     "normal:S"                 mean 0, deviation S
 *     "uniform:A"                in [-A, A)
 *     "kaiming"                  uniform in +-1/sqrt(fan_in), fan_in = product of the dims after the
 *                                first: PyTorch's linear layer
 *     "kaiming:N"                the same with fan_in = N (a bias)
 *     "xavier"                   uniform in +-sqrt(6 / (fan_in + fan_out)).
 *                                Glorot & Bengio 2010, eq. 16
 * Values depend only on (seed, full name), not on order. Two entries with the same name are an
 * error. */
/* clang-format on */
heed_tensor *heed_param_new(heed_params *s, const char *name, const char *init, int dims,
                            const int *shape);

/* The same for a value that optimizers do not change (batch-norm statistics). */
heed_tensor *heed_buffer_new(heed_params *s, const char *name, const char *init, int dims,
                             const int *shape);

/* Opens a naming scope, formatted as by printf, and returns its full name ("block.0"), which is
 * valid as long as the store and has at most 254 bytes; NULL on error. An empty string opens a
 * scope that adds nothing to names. heed_scope_pop closes the scope; it must be called as often as
 * heed_scope_push, also after one that failed. */
const char *heed_scope_push(heed_params *s, const char *format, ...) HEED_PRINTF(2, 3);
void heed_scope_pop(heed_params *s);

/* Number of entries; 0 if s is NULL. */
int heed_params_count(const heed_params *s);
heed_param *heed_params_at(const heed_params *s, int index);          /* NULL if out of range */
heed_param *heed_params_find(const heed_params *s, const char *name); /* NULL if absent */
/* The number of scalar parameters, frozen ones included, state excluded. */
size_t heed_params_numel(const heed_params *s);

/* Change the entries whose names match a pattern (see heed_match): stop training them, set whether
 * weight decay applies, the factor of their learning rate, what their rows stand for. Each returns
 * how many matched. */
int heed_freeze(heed_params *s, const char *pattern);
int heed_set_decay(heed_params *s, const char *pattern, bool decay);
int heed_set_lr_scale(heed_params *s, const char *pattern, heed_real scale);
int heed_set_rows(heed_params *s, const char *pattern, heed_row_kind rows);

/* Sets the gradients of all entries to zero. heed_optim_step does this as well. */
void heed_zero_grads(heed_params *s);

/* True if text matches pattern: '*' matches any run of characters, '?' any one character. */
bool heed_match(const char *pattern, const char *text);

HEED_EXPORT_END
#endif
