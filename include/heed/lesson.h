/* heed/lesson.h -- one attention head computed in double precision, with every matrix kept under
 * its name, for worked examples on paper, on screen and in code. It uses plain loops and no tape.
 * Rows are tokens: Q = X W_Q + b_Q, K = Z W_K + b_K, V = Z W_V + b_V; with rotary positions, Q_R
 * and K_R are Q and K with each row rotated by its place (heed_rotary); raw = Q K', or Q_R K_R';
 * scaled = beta raw; scores = scaled, or -inf where a key is hidden; weights = softmax of each row
 * of scores; output = weights V. Vaswani et al. 2017, eq. 1. If W_h is given, the lesson also holds
 * the rest of the layer: share = output W_h; all = share + others + B_O, where `others` is the sum
 * over the other heads; and, if a norm follows, normed = LN(X + all). Ibid., sec. 3.1 and 3.2.2. */
#ifndef HEED_TRACE_H
#define HEED_TRACE_H

#include <heed/ctx.h>

HEED_EXPORT_BEGIN

/* What a lesson holds, in the order of the computation. */
typedef enum {
    HEED_TRACE_X,       /* (T,d) input of the queries */
    HEED_TRACE_Z,       /* (S,d') input of the keys and values; X unless given */
    HEED_TRACE_W_Q,     /* (d,e) */
    HEED_TRACE_W_K,     /* (d',e) */
    HEED_TRACE_W_V,     /* (d',d2) */
    HEED_TRACE_B_Q,     /* (1,e), 0 unless given */
    HEED_TRACE_B_K,     /* (1,e) */
    HEED_TRACE_B_V,     /* (1,d2) */
    HEED_TRACE_Q,       /* (T,e) */
    HEED_TRACE_K,       /* (S,e) */
    HEED_TRACE_V,       /* (S,d2) */
    HEED_TRACE_Q_R,     /* (T,e) with rotary positions; else x is NULL, also below */
    HEED_TRACE_K_R,     /* (S,e) */
    HEED_TRACE_RAW,     /* (T,S) */
    HEED_TRACE_SCALED,  /* (T,S) */
    HEED_TRACE_SCORES,  /* (T,S) */
    HEED_TRACE_WEIGHTS, /* (T,S) rows sum to 1; 0 in a row whose keys are all hidden */
    HEED_TRACE_OUTPUT,  /* (T,d2) */
    /* from here on, x is NULL without W_h; for parts of the norm, also without its gain */
    HEED_TRACE_W_H,    /* (d2,w) the head's part of the layer's output projection */
    HEED_TRACE_B_O,    /* (1,w) the layer's bias, 0 unless given */
    HEED_TRACE_OTHERS, /* (T,w) sum over the other heads, 0 unless given */
    HEED_TRACE_GAIN,   /* (1,w) of the norm; w = d */
    HEED_TRACE_BIAS,   /* (1,w) 0 unless given */
    HEED_TRACE_SHARE,  /* (T,w) */
    HEED_TRACE_ALL,    /* (T,w) */
    HEED_TRACE_NORMED, /* (T,w) */
    HEED_TRACE_COUNT
} heed_attention_trace_part;

typedef struct {
    int rows, cols;
    double *x; /* row-major */
} heed_matrix;

typedef struct {
    int tokens, features; /* T, d */
    int sources, memory;  /* S, d' of z; unused if z is NULL */
    int key, value;       /* e, d2 */
    const double *x, *z;  /* z NULL: keys and values are computed from x, too */
    const double *w_q, *w_k, *w_v;
    const double *b_q, *b_k, *b_v; /* or NULL */
    double beta;                   /* NAN: 1 / sqrt(e) */
    double rotary;                 /* theta of rotary positions; 0: none. Without z, e even */
    bool causal;                   /* a query sees no key after it */
    bool hard;                     /* all weight on the largest score; the first one wins a tie */
    const unsigned char *hide;     /* (S) 1: a key that no query sees; or NULL */
    /* the rest of the layer */
    int width;                      /* w; unused without w_h */
    const double *w_h;              /* (d2,w) or NULL */
    const double *b_o, *others;     /* (w), (T,w) or NULL */
    const double *gain, *norm_bias; /* (w) of the norm after the head; NULL: none */
    double eps;                     /* of the norm */
} heed_attention_trace_args;

typedef struct {
    heed_attention_trace_args args; /* beta is the value used; the arrays are copies */
    bool self;                      /* keys are computed from x */
    unsigned char *hidden;          /* (S), may be changed: args.hide, or zeros */
    heed_matrix part[HEED_TRACE_COUNT];
    double *memory; /* storage of all parts */
} heed_attention_trace;

/* Returns the name of a part: "X", "W_Q", "raw". */
const char *heed_attention_trace_name(heed_attention_trace_part part);

/* Copies the arrays of a and computes all parts. Free with heed_attention_trace_free, also after a
 * failure. Sizes below 1, parts of more than 2^20 numbers, a norm of another width than X's are
 * errors. */
bool heed_attention_trace_make(heed_ctx *c, const heed_attention_trace_args *a,
                               heed_attention_trace *out);
/* Computes again, after a change to args.beta, causal, hard, eps, hidden or any given part. */
void heed_attention_trace_compute(heed_attention_trace *l);
void heed_attention_trace_free(heed_attention_trace *l);

/* The gradients of a loss with respect to each part, of the part's shape, given that with respect
 * to the output: dP = dO V' of the weights, dS = P (dP - rowsum(P dP)) of the scores, d raw = beta
 * dS, dQ = d raw K, dK = d raw' Q (of rotated queries and keys these are Q_R and K_R, from which Q
 * and K are rotated back), dV = P' dO; dW_Q = X' dQ, dW_K = Z' dK, dW_V = Z' dV; of a bias the sums
 * of the rows of dQ, dK, dV; dX = dQ W_Q' (+ dK W_K' + dV W_V'), dZ = dK W_K' + dV W_V', not filled
 * if Z is X. A hard selection has the gradient of the soft one. From the end of a layer also dU of
 * `all`, which is that of X + all, of the norm's gain and bias, dW_h = output' dU, the sums of the
 * rows of dU of B_O, and dU of `share` and `others`. That of `scaled` is not filled.
 */
typedef struct {
    heed_matrix part[HEED_TRACE_COUNT]; /* x NULL where the lesson's is */
    double *memory;
} heed_attention_trace_gradient;

/* d_output (T,d2) is copied. d_weights (T,S) is added to the gradient with respect to the weights,
 * or NULL. Free with heed_attention_trace_gradient_free, also after a failure. */
bool heed_attention_trace_backward(heed_ctx *c, const heed_attention_trace *l,
                                   const double *d_output, const double *d_weights,
                                   heed_attention_trace_gradient *out);
/* The same from the end of the layer, for a lesson with W_h: d_end (T,w) is the loss's gradient
 * with respect to normed or, without a norm, to all. The gradient of X then covers the path through
 * this head only: neither dU of the residual connection nor the other heads are included. */
bool heed_attention_trace_backward_layer(heed_ctx *c, const heed_attention_trace *l,
                                         const double *d_end, heed_attention_trace_gradient *out);
void heed_attention_trace_gradient_free(heed_attention_trace_gradient *g);

/* Returns how many keys of row `query` have the row's largest score, and stores the first of them
 * in *first. Returns 0 if all keys are hidden. */
int heed_attention_trace_ties(const heed_attention_trace *l, int query, int *first);

/* ---- matrices: sizes are checked by assertions only ---- */
double heed_matrix_at(const heed_matrix *m, int row, int col);
/* out = a b, a' b or a b'; with add, the product is added to out. */
typedef struct {
    bool left_transposed, right_transposed, add;
} heed_matmul_how;
void heed_matrix_product(const heed_matrix *a, const heed_matrix *b, heed_matmul_how how,
                         heed_matrix *out);
/* Writes each row's softmax to out or, with hard, a single 1 at the row's first largest entry. An
 * entry of -inf gets weight 0. out may be scores. */
void heed_matrix_softmax(const heed_matrix *scores, bool hard, heed_matrix *out);

HEED_EXPORT_END
#endif
