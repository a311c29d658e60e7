/* heed/optim.h -- optimizers, schedules and clipping. They work on a store and do not depend on any
 * model. Custom optimizers and the library's use the same interface: see examples/own_optim.c. */
#ifndef HEED_OPTIM_H
#define HEED_OPTIM_H

#include <heed/params.h>

HEED_EXPORT_BEGIN

typedef struct heed_optim heed_optim;         /* an optimizer of one store: heed_optim_new */
typedef struct heed_optimizer heed_optimizer; /* an update rule: heed_adamw, or a custom one */

enum { HEED_OPTIM_SLOTS = 4, HEED_OPTIM_EXTRA = 4, HEED_OPTIM_CASE = 8 };

/* Settings: start from heed_optim_defaults and change some. Each optimizer lists the settings that
 * it uses; the others are NAN and must remain NAN. */
typedef struct {
    const heed_optimizer *optimizer; /* written by heed_optim_defaults */
    heed_real lr;
    heed_real decay; /* weight decay, for the entries that have decay set */
    heed_real momentum, alpha, beta1, beta2, eps;
    heed_real extra[HEED_OPTIM_EXTRA]; /* for custom optimizers, which give them names */
} heed_optim_args;

/* The default settings of an optimizer: the same as PyTorch's where it has them. */
heed_optim_args heed_optim_defaults(const heed_optimizer *r);

/* An optimizer of the trained parameters of s. args NULL: the defaults. It is an error (HEED_USAGE)
 * if args does not come from heed_optim_defaults(r), if a setting is out of range, or if one is set
 * that r does not use. Freed by heed_optim_free, or with the context. */
heed_optim *heed_optim_new(heed_params *s, const heed_optimizer *r, const heed_optim_args *args);
void heed_optim_free(heed_optim *o);

/* One update with learning rate args.lr * lr_scale * entry scale; gradients are zero afterwards.
 * Fails, before any value changes, if the context is in error, if the store was freed, if a
 * parameter with a gradient was made or unfrozen after the optimizer (HEED_USAGE), or if a gradient
 * is not finite (HEED_DIVERGED, naming the parameter). */
bool heed_optim_step(heed_optim *o, heed_real lr_scale);

/* The slots ("adam.m.PARAMETER") as a separate store, which can be saved and loaded like any other;
 * it also holds the number of updates: "adam.count", and from 2^24 updates on
 * "adam.count_rounds", 2^24 updates each; and of each parameter the number of those in which it had
 * no gradient or was frozen: "adam.missed.PARAMETER", left out of files while 0. Parameters that
 * are frozen for good when the optimizer is made have no slots. */
heed_params *heed_optim_slots(heed_optim *o);

/* ---- optimizers: each is one file in src/optim, and one line here ---- */

/* d = g + decay x, where decay applies. Settings: a is alpha, mu momentum, b1 and b2 the betas. In
 * update t, m' = m / (1 - b1^t) and v' = v / (1 - b2^t). Sources are in the files. */
extern const heed_optimizer heed_gd;       /* sgd with all training data as one batch */
extern const heed_optimizer heed_sgd;      /* x -= lr d */
extern const heed_optimizer heed_momentum; /* v = mu v + d; x -= lr v */
extern const heed_optimizer heed_nesterov; /* v = mu v + d; x -= lr (d + mu v) */
extern const heed_optimizer heed_rmsprop;  /* v = a v + (1-a) d^2; x -= lr d / (sqrt(v) + eps) */
/* m = b1 m + (1-b1) d; v = b2 v + (1-b2) d^2; x -= lr m' / (sqrt(v') + eps) */
extern const heed_optimizer heed_adam;
extern const heed_optimizer heed_adamw; /* x -= lr decay x, then adam with g instead of d */
/* x -= lr (sign(b1 m + (1-b1) g) + decay x); m = b2 m + (1-b2) g */
extern const heed_optimizer heed_lion;
/* of matrices between hidden units: m = mu m + g; x -= lr (0.2 sqrt(max(rows, columns)) O + decay
 * x), O = U V', approximately, of g + mu m = U S V'; of all else: adamw */
extern const heed_optimizer heed_muon;

/* ---- the definition of an optimizer ---- */

/* A setting that an optimizer uses. A list ends with {0}. */
typedef struct {
    const char *name;       /* "beta1": also the name of the setting of a training */
    size_t at;              /* offsetof(heed_optim_args, beta1) */
    double value, min, end; /* default; min <= value < end */
} heed_optim_setting;

/* An entry for a setting that is a field of heed_optim_args. */
#define HEED_OPTIM_SETTING(name, value, min, end)                                                  \
    { #name, offsetof(heed_optim_args, name), value, min, end }

/* The inputs to the update of one parameter other than its value, gradient and slots. */
typedef struct {
    const heed_optim_args *args;
    int64_t step;            /* 1 in the first update of this parameter */
    heed_real lr, decay;     /* of this parameter at this step; decay is 0 if none applies */
    heed_real grad_scale;    /* the gradient is grad_scale g: clipping, accumulated micro-batches */
    const heed_param *entry; /* the parameter: its name, shape and what its rows stand for */
    int rows, columns;       /* of a matrix that is updated whole; else 0 */
    heed_real *scratch;      /* as many elements as the optimizer's scratch returns; else NULL */
    const heed_kernels *k;   /* the library's kernels; opaque outside it */
} heed_optim_update;

/* What heed_optim_check runs: ten updates (t = 0 to 9) of w (2,3) = 0.5 -1 0.25 2 0 -0.75, which
 * decays, and b (2) = 1 -0.5, which does not, with the gradients 0.5 x_i + cos(1.7 i + 0.9 t), i
 * from 0 to 7 through w, then b. A list ends with {0}. */
typedef struct {
    const char *settings;      /* changes to the defaults: "lr=0.1 decay=0.05" */
    double x[HEED_OPTIM_CASE]; /* the values of w and b afterwards, from another implementation */
} heed_optim_case;

struct heed_optimizer {
    const char *name;   /* in the library, also the name of its file and of its variable */
    const char *help;   /* formula and source */
    const char *prefix; /* prefix of the slots' names; NULL: name */
    const char *slots[HEED_OPTIM_SLOTS]; /* names ("m", "v"); each has its parameter's shape and
                                            starts at 0 */
    const heed_optim_setting *settings;
    /* Updates x from the gradient g and sets g to 0 in one pass. All arrays have n elements,
       consecutive ones of a parameter, and each element of x depends only on those of g and slots
       at its index; or those of a matrix that is updated whole. Several threads call it at the same
       time for different elements and matrices. */
    void (*update)(const heed_optim_update *u, heed_real *x, heed_real *g, heed_real *const *slots,
                   size_t n);
    const heed_optim_case *cases;
    bool full_batch; /* training computes every update from all training data */
    /* Optional: whether the matrices of a parameter are updated whole. These are its named ranges
       of rows (queries, keys, values), or all its rows; their columns are its other dims. */
    bool (*whole)(const heed_param *e);
    size_t (*scratch)(int rows, int columns); /* optional: elements of u->scratch for a matrix */
    int (*slot_count)(const heed_param *e);   /* optional: how many of the slots a parameter has */
};

/* The library's optimizers, ended by NULL; and the one with the given name, or NULL. */
const heed_optimizer *const *heed_optimizer_table(void);
const heed_optimizer *heed_optimizer_named(const char *name);

/* The largest difference between the values of a case and those computed, relative to values
 * above 1. The gradients are doubled (grad_scale is 0.5) and added to what the previous update left
 * in g; after five updates a second optimizer continues from the slots. An update that ignores
 * grad_scale, does not clear g or keeps state elsewhere therefore gives different values. error is
 * negative when the context is in error; an optimizer without cases is an error. worst is, for
 * example, "lr=0.1, value 3". */
heed_check heed_optim_check(heed_ctx *c, const heed_optimizer *r);

/* ---- gradients ---- */

/* The square root of the sum of the squares of all trained gradients; 0 if s is NULL. */
double heed_grad_norm(const heed_params *s);
/* Multiplies all gradients by scale (1 / number of accumulated micro-batches), then by max / (norm
 * + 1e-6) if their norm exceeds max (0: no clipping). This happens within the next heed_optim_step;
 * the arrays of gradients do not change before it. Returns the norm after scale and before
 * clipping; 0 if the context is in error. */
double heed_clip_grad_norm(heed_optim *o, heed_real max, heed_real scale);

/* ---- learning rate ---- */

/* Learning-rate schedules, after warm-up. p is the share of the steps after warm-up that is done,
 * from 0 to 1. */
typedef enum {
    HEED_SCHEDULE_CONSTANT, /* 1 */
    HEED_SCHEDULE_COSINE,   /* floor + (1 - floor) (1 + cos(pi p)) / 2 */
    HEED_SCHEDULE_LINEAR,   /* 1 - (1 - floor) p */
    HEED_SCHEDULE_INVSQRT, /* sqrt(w / (step + 1)), w = warmup, at least 1. Vaswani et al. 2017, eq.
                              3 */
    HEED_SCHEDULE_STEP     /* gamma^floor(step / every), counting the steps of the warm-up, too */
} heed_schedule_kind;
typedef struct {
    heed_schedule_kind kind;
    int64_t steps, warmup; /* all updates; those of the linear warm-up: (step + 1) / warmup */
    heed_real floor;       /* final factor of cosine and linear: lr_min / lr */
    int64_t every;         /* of HEED_SCHEDULE_STEP; 0: the factor remains 1 */
    heed_real gamma;
} heed_schedule;
/* The factor of the learning rate for update `step`, from 0. 1 if s is NULL or step negative. */
heed_real heed_schedule_at(const heed_schedule *s, int64_t step);

HEED_EXPORT_END
#endif
