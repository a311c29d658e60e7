/* kernels.h -- the kernel table: loops over raw memory, one build per instruction set, chosen when
 * a context opens.
 *
 * Rules for all kernels:
 *  - the first argument is the table itself, which also holds the team size;
 *  - work is divided by its size, never by team size, and partial sums are added in a fixed order,
 *    so results are bitwise equal for every team size;
 *  - pointers named g* are gradients and are added to, never overwritten;
 *  - no kernel allocates: scratch comes from the caller, or from a bounded stack array. */
#ifndef HEED_KERNELS_H
#define HEED_KERNELS_H

#include <float.h>
#include <heed/base.h>
#include <heed/ctx.h>

/* True if f'(x) is computed from y = f(x), so that x need not be kept; else from x. */
static inline bool heed__act_uses_value(heed_act f) {
    enum { INPUT, VALUE };
#define USES(act, name, setting, from, ...) from,
    static const bool uses[] = {HEED_ACTIVATIONS(USES)};
#undef USES
    return uses[f];
}

/* Sums of n elements are at most HEED__SUMS partial sums, each over so many consecutive elements,
 * added in order. */
enum { HEED__SUMS = 256 };
static inline size_t heed__sum_step(size_t n) {
    size_t step = (n + HEED__SUMS - 1) / HEED__SUMS;
    return step < 4096 ? 4096 : step;
}

/* C (m,n) = op(A) (m,k) op(B) (k,n), or C += when add. ld*: row strides of the stored matrices. */
typedef struct {
    int m, n, k;
    const heed_real *a;
    int lda;
    bool ta; /* ta: A is stored (k,m) */
    const heed_real *b;
    int ldb;
    bool tb; /* tb: B is stored (n,k) */
    heed_real *c;
    int ldc;
    bool add;
    const heed_real *bias; /* (n), added to every row, or NULL */
    heed_act act;          /* applied after the bias */
    heed_real *pre;        /* (m,n) row stride ldc: receives the input of the activation; or NULL */
    bool bf16;             /* operands may be rounded to bf16, if the kernels are set to */
    bool gradient;         /* a gradient, though computed in the forward pass: for profiles */
    bool twin; /* the job after this one, which differs in k, add and addresses only, is computed in
                  the same region: by other threads, if there are two. Without batch */
    int batch; /* independent products; 0 means 1. */
    size_t stride_a, stride_b, stride_c; /* between them */
} heed_gemm;

/* The usual arguments in BLAS's order; the others are 0. */
static inline heed_gemm heed__gemm_of(int m, int n, int k, const heed_real *a, int lda,
                                      const heed_real *b, int ldb, heed_real *c, int ldc) {
    return (heed_gemm){
        .m = m, .n = n, .k = k, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc};
}

typedef enum { HEED_BIN_ADD, HEED_BIN_SUB, HEED_BIN_MUL, HEED_BIN_DIV } heed_binary;

/* A shape of HEED_DIMS dims with strides in elements; a broadcast dim has stride 0. */
typedef struct {
    int shape[HEED_DIMS];
    size_t a[HEED_DIMS], b[HEED_DIMS], c[HEED_DIMS];
} heed_walk;

/* Softmax of rows of n numbers. mask (mask_rows, n) or NULL: row r uses mask row (r / mask_div) %
 * mask_rows. */
typedef struct {
    size_t rows;
    int n;
    heed_real beta;
    bool log;
    const int32_t *mask;
    size_t mask_div, mask_rows;
    const heed_real *x;
    heed_real *y;
    const heed_real *gy; /* backward only */
    heed_real *gx;
} heed_softmax_job;

/* Cross entropy of rows of logits: loss = sum_c target_c w_c (-log softmax(logits)_c), target
 * smoothed. Rows whose label is ignore have loss 0; to another label that is no class, NaN. */
typedef struct {
    size_t rows;
    int c, ignore;
    const int32_t *labels;
    const heed_real *weights, *logits; /* (c), or NULL; (rows,c) */
    heed_real smoothing;
    heed_real scale;     /* of the gradient */
    heed_real *p, *loss; /* (rows,c): softmax(logits), or, in place, logits, which become the
                            gradient; (rows) */
    heed_real *gx;       /* (rows,c) */
} heed_xent_job;

/* y = (x - mean) rstd gain + bias, in rows of width c. mean and rstd are those of each row, which
 * forward writes, or, in batch norm, given for each column. */
typedef struct {
    size_t rows;
    int c;
    heed_real eps;
    const heed_real *x, *gain, *bias; /* gain, bias: (c), or NULL */
    heed_real *mean, *rstd;           /* mean NULL: RMS norm, which uses 0 */
    heed_real *y;
    /* backward only */
    const heed_real *gy;
    heed_real *gx, *ggain, *gbias; /* each may be NULL; ggain and gbias are added to */
    bool add;                      /* gx is added to, else written */
    bool batch; /* batch norm: mean and rstd come from this batch, so gradients flow through them */
} heed_norm_job;

typedef struct {
    int batch, heads, tq, tk, key, value;
    int group; /* heads that share a head of keys and values: k and v have head h / group */
    const heed_real *q, *k, *v; /* element (b,t,h,c): q[(b*tq + t)*ldq + h*key + c] */
    size_t ldq, ldk, ldv;
    const heed_real *bias;   /* element (b,h,i,j): bias[b*bias_b + h*bias_h + i*tk + j], or NULL */
    size_t bias_b, bias_h;   /* 0 if broadcast */
    const int32_t *pad;      /* (batch, tk), or NULL */
    heed_real beta, dropout; /* dropout is 0 outside training */
    bool causal, hard;
    bool bf16;          /* operands may be rounded to bf16, as in heed_gemm */
    heed_random random; /* dropout reads index ((b*heads + h)*tq + i)*tk + j */
    heed_real *y;
    size_t ldy; /* (b,t,h,c): `value` elements per head */
    heed_real
        *kept; /* attention_kept(job) reals: written by forward if not NULL, read by backward */
    heed_real *weights, *scores; /* (batch,heads,tq,tk), written if not NULL */
    /* backward only */
    const heed_real *gy;     /* like y */
    heed_real *gq, *gk, *gv; /* like q k v, same strides; NULL if not wanted */
    bool add[3];      /* whether gq, gk, gv are added to; else they are distinct, and written */
    heed_real *gbias; /* like bias, summed over broadcast dims; or NULL */
    heed_real *gweights, *gscores; /* (batch,heads,tq,tk): overwritten if not NULL (probes) */
} heed_attention_job;

/* A convolution of x (batch,h,w,c) with w (o, c/groups, kh, kw) to y (batch,oh,ow,o). Strides,
 * dilations and groups are at least 1, oh and ow follow from them and from h and w. */
typedef struct {
    int batch, h, w, c, oh, ow, o, kh, kw;
    int stride[2], pad[2], dilation[2], groups;
    heed_real *x, *y, *weight; /* the kernel defines which are read and which are written */
    const heed_real *bias;     /* a bias per channel of the array that is written, or NULL */
    bool add;                  /* added to the array that is written */
    heed_real *gw, *gb;        /* (o, c/groups, kh, kw) and (o), or NULL */
} heed_conv_job;
typedef enum { HEED_CONV, HEED_CONV_TURNED, HEED_CONV_WEIGHTS } heed_conv_pass;

/* Windows of x (batch,h,w,c), each one pixel of y (batch,oh,ow,c). */
typedef struct {
    size_t batch, c;
    int h, w, oh, ow;
    int size[2], stride[2], pad[2];
    heed_real scale;  /* of a sum: 1 / window size for an average */
    heed_real *x, *y; /* backward: the gradients, of which x's is added to */
    int32_t *from;    /* of a maximum, like y: the pixel of the image that it came from */
} heed_pool_job;

/* One time step of a recurrent layer; rows have strides ld*. States are h (rnn, gru) or h then c
 * (lstm), gates h | r z n | i f g o, as PyTorch's. */
typedef struct {
    heed_cell cell;
    heed_act act; /* for rnn */
    int rows, width;
    const heed_real *x; /* the contribution of the input to the gates */
    size_t ldx;
    heed_real *gates; /* (rows, gates): the contribution of the state; gru, lstm: the gates' values
                         afterwards */
    heed_real *kept;  /* (rows, width): gru: the contribution of the state to n; backward writes n's
                         gradient here */
    const heed_real *before;
    size_t ldbefore;
    heed_real *after;
    size_t ldafter;
    const int32_t *pad; /* 0: the state is unchanged; or NULL */
    size_t ldpad;
    /* backward only */
    const heed_real *gy; /* like after */
    heed_real *gx;       /* like x; or NULL */
    bool add;            /* gx is added to, else overwritten */
    heed_real *gu;       /* (rows, gates): gradient of the state's contribution; overwritten */
    heed_real *carry;    /* (rows, states): gradient from later steps; overwritten by the part that
                            does not pass through gu */
} heed_cell_job;

static inline int heed__cell_gates(heed_cell c) {
    return c == HEED_CELL_LSTM ? 4 : c == HEED_CELL_GRU ? 3 : 1;
}
static inline int heed__cell_states(heed_cell c) { return c == HEED_CELL_LSTM ? 2 : 1; }

/* One step of additive attention over `len` places: additive_attention.c. */
typedef struct {
    int rows, len, inner, width;
    const heed_real *query; /* (rows, inner) */
    const heed_real *keys;  /* (rows, len, inner) */
    const heed_real *ekeys; /* exp(2 keys), and scratch (rows, inner); or both NULL */
    heed_real *equery;
    const heed_real *values; /* (rows, len, width) */
    const heed_real *v;      /* (inner) */
    heed_real shift;         /* added to all scores */
    const int32_t *pad;      /* (rows, len), 0 at masked places; or NULL */
    heed_real *weights;      /* rows of len: written by forward, read by backward */
    heed_real *scores;       /* the scores, before the mask; or NULL */
    size_t ldweights;
    heed_real *context; /* rows of width: written by forward */
    size_t ldcontext;
    /* backward only */
    const heed_real *gcontext; /* rows of width */
    size_t ldgcontext;
    int steps; /* gvalues is summed over this step and the `steps - 1` after it, whose rows follow
                  in weights and gcontext; the last step is added first */
    heed_real *gscores;         /* (rows, len): overwritten */
    heed_real *gquery;          /* like query: overwritten */
    heed_real *gkeys, *gvalues; /* like keys and values, added to; or NULL */
    heed_real *gv;              /* (rows, inner), added to: each row's contribution */
} heed_additive_attention_job;

/* d = grad_scale g, plus decay x unless decoupled; decoupled: x -= lr decay x first. Then, as in
 * PyTorch,
 *   sgd      m NULL: x -= lr d; else m = momentum m + d, x -= lr (nesterov ? d + momentum m : m)
 *   rmsprop  v = alpha v + (1 - alpha) d^2, u = d / (sqrt(v) + eps);
 *            m NULL: x -= lr u; else m = momentum m + u, x -= lr m
 *   adam     m = beta1 m + (1 - beta1) d, v = beta2 v + (1 - beta2) d^2,
 *            x -= lr / correction1 m / (sqrt(v) / sqrt(correction2) + eps),
 *            with correction1 = 1 - beta1^t, correction2 = 1 - beta2^t for update t = 1, 2, ... */
typedef struct {
    heed_real lr, beta1, beta2, eps, decay, momentum, alpha, correction1, correction2, grad_scale;
    bool nesterov, decoupled;
} heed_update;

/* What a slot keeps of a value: 0 instead of numbers with fewer digits than others. Where the
 * gradient remains 0 (an unused token, a dead unit), a slot would shrink to one of those and remain
 * there, and CPUs compute several times slower with them. */
#ifdef HEED_F64
#define HEED__LEAST DBL_MIN
#else
#define HEED__LEAST FLT_MIN
#endif
static inline heed_real heed__kept(heed_real x) {
    return x > -HEED__LEAST && x < HEED__LEAST ? 0 : x;
}

typedef struct heed__team heed__team;

struct heed_kernels {
    const char *isa;
    int threads;
    heed__team *team;             /* whether to use threads now; NULL: always */
    struct heed_profile *profile; /* NULL: none */
    bool *bf16; /* bf16 of a job applies, and this becomes true where it does; NULL: it does not */
#define KERNEL(result, name, ...) result (*name)(__VA_ARGS__);
#include "list.h"
#undef KERNEL
};

/* Computes the rows [from, to) with the kernels k. */
typedef void heed__rows_part(const heed_kernels *k, const void *job, int from, int to);

/* Computes all rows, which must not depend on one another, in one region: each thread calls part
 * for a range of rows with kernels that use only this thread. Where there are too few rows for
 * that, part is called once with k. work, approximately in floating-point operations, is that of
 * all rows. Defined in dispatch.c. */
void heed__share_rows(const heed_kernels *k, int rows, double work, heed__rows_part *part,
                      const void *job);

/* Writes the table for isa (NULL: the best of this CPU) into *out, with threads set; false if this
 * CPU or build does not support it. */
bool heed__kernels_choose(heed_kernels *out, const char *isa, int threads);
/* Why these kernels cannot multiply in bf16 on this CPU; NULL: they can. */
const char *heed__kernels_bf16(const heed_kernels *k);
/* Names of the sets that this build and CPU can run, ended by NULL. */
const char *const *heed__kernels_available(void);

#endif
