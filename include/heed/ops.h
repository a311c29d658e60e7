/* heed/ops.h -- all ops. Shapes are (rows, columns); "..." means any leading dims.
 *
 * All return a tensor that lives until the tape's next heed_tape_begin, or NULL on error
 * (HEED_USAGE for shapes that do not fit). Elementwise ops of two inputs broadcast as in NumPy.
 * Every input that wants a gradient gets one. A dim counts from 0, a negative one from the end. */
#ifndef HEED_OPS_H
#define HEED_OPS_H

#include <heed/op.h>

HEED_EXPORT_BEGIN

/* Elementwise, two inputs. */
heed_tensor *heed_add(heed_tape *t, heed_tensor *a, heed_tensor *b); /* a + b */
heed_tensor *heed_sub(heed_tape *t, heed_tensor *a, heed_tensor *b); /* a - b */
heed_tensor *heed_mul(heed_tape *t, heed_tensor *a, heed_tensor *b); /* a b */
heed_tensor *heed_div(heed_tape *t, heed_tensor *a, heed_tensor *b); /* a / b */
/* mask != 0 ? a : b; mask is an index tensor that broadcasts like the others */
heed_tensor *heed_where(heed_tape *t, heed_tensor *mask, heed_tensor *a, heed_tensor *b);

/* Elementwise, one input. */
heed_tensor *heed_scale(heed_tape *t, heed_tensor *x, heed_real scale,
                        heed_real shift);                               /* scale x + shift */
heed_tensor *heed_activate(heed_tape *t, heed_tensor *x, heed_act act); /* act(x) */
heed_tensor *heed_identity(heed_tape *t, heed_tensor *x);               /* x, as a view */
heed_tensor *heed_exp(heed_tape *t, heed_tensor *x);                    /* e^x */
heed_tensor *heed_log(heed_tape *t, heed_tensor *x);                    /* natural logarithm */
heed_tensor *heed_sqrt(heed_tape *t, heed_tensor *x); /* x >= 0; the derivative at 0 is infinite */
heed_tensor *heed_tanh(heed_tape *t, heed_tensor *x); /* 1 - 2 / (1 + exp(2 x)) */
heed_tensor *heed_sigmoid(heed_tape *t, heed_tensor *x); /* 1 / (1 + exp(-x)) */
heed_tensor *heed_relu(heed_tape *t, heed_tensor *x);    /* max(x, 0); derivative 0 at 0 */
heed_tensor *heed_gelu(heed_tape *t, heed_tensor *x);    /* x Phi(x), Phi the normal distribution */
/* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Hendrycks & Gimpel 2016, sec. 2 */
heed_tensor *heed_gelu_tanh(heed_tape *t, heed_tensor *x);
heed_tensor *heed_silu(heed_tape *t, heed_tensor *x); /* x / (1 + exp(-x)) */
heed_tensor *heed_clamp(heed_tape *t, heed_tensor *x, heed_real lo,
                        heed_real hi); /* min(max(x, lo), hi); derivative 1 in [lo, hi], else 0 */
heed_tensor *heed_stop_gradient(heed_tape *t, heed_tensor *x); /* x; no gradient flows back */

/* Products. The batch dims must be equal, or one operand has none: (m,k) x (k,n), (B,m,k) x
 * (B,k,n), (A,B,m,k) x (A,B,k,n). */
heed_tensor *heed_matmul(heed_tape *t, heed_tensor *a, heed_tensor *b); /* a b */
heed_tensor *heed_matmul_nt(heed_tape *t, heed_tensor *a,
                            heed_tensor *b); /* a b': (..,m,k) x (..,n,k) */
heed_tensor *heed_matmul_tn(heed_tape *t, heed_tensor *a,
                            heed_tensor *b); /* a' b: (..,k,m) x (..,k,n) */
/* x W' + b: x (...,in), w (out,in), b (out) or NULL -> (...,out) */
heed_tensor *heed_affine(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b);
/* act(x W' + b), one pass over the output */
heed_tensor *heed_affine_act(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                             heed_act act);

/* A low-rank change of a weight: w with scale B A added to its rows [from, from + rows). w
 * (out,in..), a (r,in), b (rows,r), in the product of all dims of w after the first -> like w. Hu
 * et al. 2022, eq. 3, on the weight instead of its output. */
heed_tensor *heed_lora(heed_tape *t, heed_tensor *w, heed_tensor *a, heed_tensor *b, int from,
                       heed_real scale);

/* Softmax over the last dim: p_j = exp(beta x_j) / sum_k exp(beta x_k) over the unmasked k. mask:
 * index, 0 at masked entries, which broadcasts over leading dims of size 1 or missing; or NULL.
 * Masked entries are 0, and a fully masked row is zeros with zero gradients. */
heed_tensor *heed_softmax(heed_tape *t, heed_tensor *x, heed_real beta, heed_tensor *mask);
heed_tensor *heed_log_softmax(heed_tape *t, heed_tensor *x, heed_real beta,
                              heed_tensor *mask); /* log of heed_softmax; masked entries are 0 */
/* One-hot of the largest unmasked entry (lowest index if tied); the backward is heed_softmax's. */
heed_tensor *heed_hardmax(heed_tape *t, heed_tensor *x, heed_real beta, heed_tensor *mask);

/* Normalisation; gain and bias (C) may be NULL. */
/* Over the last dim: (x - mean) / sqrt(var + eps) gain + bias, var biased. Ba et al. 2016, eq. 4 */
heed_tensor *heed_layer_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_tensor *bias,
                             heed_real eps);
/* Over the last dim: x / sqrt(mean(x^2) + eps) gain. Zhang & Sennrich 2019, eq. 4 */
heed_tensor *heed_rms_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_real eps);
/* Over all but the last dim (channels last): (x - m) / sqrt(v + eps) gain + bias. In training, m
 * and v are the batch's mean and biased variance, and the running statistics mean and var (C)
 * become (1 - momentum) times themselves plus momentum times the batch's (the variance unbiased, as
 * in PyTorch); a batch needs two rows. In eval, m and v are mean and var. Ioffe & Szegedy 2015,
 * alg. 1. */
heed_tensor *heed_batch_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_tensor *bias,
                             heed_tensor *mean, heed_tensor *var, heed_real eps,
                             heed_real momentum);
/* In training, each element is 0 with probability p in [0, 1) (rounded to a multiple of 1/65536),
 * else x / (1 - p); in eval, x. Srivastava et al. 2014, sec. 10, inverted. */
heed_tensor *heed_dropout(heed_tape *t, heed_tensor *x, heed_real p);
/* onto + heed_dropout(x, p), of one shape, in one pass. */
heed_tensor *heed_dropout_add(heed_tape *t, heed_tensor *onto, heed_tensor *x, heed_real p);

/* Convolution and pooling, channels last: x (B,H,W,C). This is cross-correlation, as in other deep
 * learning libraries: y[b,i,j,o] = bias[o] + sum_{u,v,c} x[b, i s - p + u d, j s - p + v d, c]
 * w[o,c,u,v]. H' = floor((H + 2p - d(k-1) - 1) / s) + 1. Weights have PyTorch's layout. LeCun et
 * al. 1989. */
typedef struct {
    int stride[2];   /* vertical, horizontal; 0 means 1, as in dilation and groups */
    int pad[2];      /* zeros added on each side */
    int dilation[2]; /* spacing of the kernel's taps */
    int groups;      /* number of groups that the channels are divided into */
    int extra[2];    /* transposed: rows and columns added at the end of the output, fewer than the
                        stride or the dilation */
} heed_conv_args;
/* x (B,H,W,C), w (O, C/groups, kh, kw), b (O) or NULL -> (B,H',W',O). a may be NULL */
heed_tensor *heed_conv2d(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                         const heed_conv_args *a);
/* Transposed convolution, the gradient of conv2d with respect to its input: x (B,H,W,C), w (C,
 * O/groups, kh, kw), b (O) or NULL -> (B,H',W',O), H' = (H-1) s - 2p + d(k-1) + extra + 1. Zeiler
 * et al. 2010 */
heed_tensor *heed_conv2d_transposed(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                                    const heed_conv_args *a);
/* The same along a sequence: x (B,T,C), w (O, C/groups, k). Only elements 1 of a are read. */
heed_tensor *heed_conv1d(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                         const heed_conv_args *a);
/* conv2d_transposed along a sequence: x (B,T,C), w (C, O/groups, k). */
heed_tensor *heed_conv1d_transposed(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                                    const heed_conv_args *a);
typedef struct {
    int size[2];   /* size of the window, at least 1: vertical, horizontal */
    int stride[2]; /* 0: the window's size */
    int pad[2];    /* padding, at most half of the window; ignored by the maximum but counted as
                      zeros by the average, as in PyTorch */
} heed_pool_args;
/* The maximum of each window: (B,H,W,C) -> (B,H',W',C), H' = floor((H + 2p - k) / s) + 1; ties: the
 * gradient goes to the first */
heed_tensor *heed_max_pool(heed_tape *t, heed_tensor *x, const heed_pool_args *a);
/* The mean of each window, of the same shape. */
heed_tensor *heed_avg_pool(heed_tape *t, heed_tensor *x, const heed_pool_args *a);
heed_tensor *heed_global_pool(heed_tape *t, heed_tensor *x); /* mean: (B,H,W,C) -> (B,C) */

/* Rows and lookup. An index out of range is HEED_USAGE. */
heed_tensor *heed_embed(heed_tape *t, heed_tensor *table,
                        heed_tensor *ids); /* rows of the table: (V,d), (...) -> (...,d) */
/* rows of x viewed as (N,d): (...,d), (n) -> (n,d) */
heed_tensor *heed_gather(heed_tape *t, heed_tensor *x, heed_tensor *rows);

/* Reductions. */
heed_tensor *heed_sum(heed_tape *t, heed_tensor *x);  /* over all elements: a scalar */
heed_tensor *heed_mean(heed_tape *t, heed_tensor *x); /* over all elements: a scalar */
heed_tensor *heed_sum_dim(heed_tape *t, heed_tensor *x,
                          int dim); /* over one dim, which is kept with size 1 */
heed_tensor *heed_mean_dim(heed_tape *t, heed_tensor *x,
                           int dim); /* over one dim, which is kept with size 1 */
/* The maximum over one dim, which is kept with size 1; ties: the gradient goes to the lowest index
 */
heed_tensor *heed_max_dim(heed_tape *t, heed_tensor *x, int dim);

/* Shape. `shape` has `dims` entries; `order` has as many as x has dims, each dim once. */
heed_tensor *heed_reshape(heed_tape *t, heed_tensor *x, int dims,
                          const int *shape); /* a view; one entry may be -1 */
heed_tensor *heed_permute(heed_tape *t, heed_tensor *x,
                          const int *order); /* y.shape[i] = x.shape[order[i]]; a copy */
/* x[0] .. x[count - 1] one after the other along a dim; their other dims must be equal */
heed_tensor *heed_concat(heed_tape *t, int dim, int count, heed_tensor *const *x);
/* [from, from + size) of a dim: a view if the elements are contiguous, else a copy */
heed_tensor *heed_slice(heed_tape *t, heed_tensor *x, int dim, int from, int size);
/* `before` and `after` entries of `value` are added at the ends of a dim */
heed_tensor *heed_pad(heed_tape *t, heed_tensor *x, int dim, int before, int after,
                      heed_real value);

/* Returns x and keeps it for probes under "NAME.value", with NAME from heed_name_scope. */
heed_tensor *heed_name_tensor(heed_tape *t, heed_tensor *x, const char *value);

/* Losses: scalars. */
typedef struct {
    int ignore; /* rows with this label are ignored; used if has_ignore, else -100 as in PyTorch */
    bool has_ignore;
    heed_real smoothing; /* eps: target (1-eps) one-hot + eps / C. Szegedy et al. 2016, sec. 7 */
    const heed_real *weights; /* (C) factors w of the classes' terms, copied; the mean is then
                                 divided by the mean w of the labels, as in PyTorch. NULL: 1 */
} heed_xent_args;
/* mean over the counted rows of -sum_c target_c w_c log softmax(logits)_c, which without args is
 * -log softmax(logits)[label]: logits (...,C), labels (...) from 0 to C-1, or ignored; another
 * label is HEED_DATA. 0 if no row is counted. args may be NULL */
heed_tensor *heed_xent(heed_tape *t, heed_tensor *logits, heed_tensor *labels,
                       const heed_xent_args *args);
/* heed_xent of the logits x W' + b, of which only a block of rows is in memory at a time: x
 * (...,in), w (C,in), b (C) or NULL, labels (...). The gradients are computed with the logits, in
 * forward. */
heed_tensor *heed_affine_xent(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                              heed_tensor *labels, const heed_xent_args *args);
/* mean of max(x,0) - x y + log(1 + exp(-|x|)): logits and targets y in [0, 1] of one shape */
heed_tensor *heed_bce(heed_tape *t, heed_tensor *logits, heed_tensor *targets);
heed_tensor *heed_mse(heed_tape *t, heed_tensor *a, heed_tensor *b); /* mean of (a - b)^2 */

/* Recurrent layers: all time steps in one op. gates (B,T,G h): the contribution of the input, W_x x
 * + b_x, for rnn (G = 1), gru (r z n) or lstm (i f g o). w (G h, h), b (G h) or NULL: the weights
 * of the state. state (B,S): the state before the first step, or NULL for zeros; S = h, for lstm 2h
 * (h, then c). pad (B,T) index or NULL: where it is 0, the state is unchanged. -> (B,T,S): the
 * state after each step.
 *   rnn  h' = act(x + h W' + b)                                 Elman 1990
 *   gru  h' = (1-z) n + z h, n = tanh(x_n + r (h W' + b)_n)     Cho et al. 2014, PyTorch's form
 *   lstm c' = s(f) c + s(i) tanh(g), h' = s(o) tanh(c')         Hochreiter & Schmidhuber 1997 */
typedef struct {
    heed_cell cell;
    heed_act act; /* for rnn: HEED_TANH, HEED_RELU, HEED_SIGMOID or HEED_IDENTITY */
    bool reverse; /* from the last step to the first */
} heed_recurrent_args;
heed_tensor *heed_recurrent(heed_tape *t, heed_tensor *gates, heed_tensor *w, heed_tensor *b,
                            heed_tensor *state, heed_tensor *pad, const heed_recurrent_args *a);

/* A recurrent decoder with additive attention, all time steps in one op: with q_t = h_{t-1} query',
 *   a_t = softmax_i(score tanh(q_t + keys_i) + shift)       c_t = sum_i a_{t,i} values_i
 *   s_t = cell([y_t ; c_t] w_in' + b_in, s_{t-1})
 * -> (B,T,S + C): s_t and c_t concatenated. Keeps weights (B,T,places) and, if probed, q (B,T,A)
 * and the scores before the mask. Bahdanau et al. 2015, sec. 3.1. */
typedef struct {
    heed_tensor *y;           /* (B,T,d): the decoder's inputs */
    heed_tensor *w_in, *b_in; /* (G h, d + C), (G h) or NULL */
    heed_tensor *w,
        *b; /* (G h, h), (G h) or NULL: the weights of the state, as in heed_recurrent */
    heed_tensor *state;         /* (B,S): the state before the first step */
    heed_tensor *keys, *values; /* (B,places,A), (B,places,C) */
    heed_tensor *query;         /* (A,h) */
    heed_tensor *score, *shift; /* (1,A), (1) or NULL */
    heed_tensor *mask;          /* (B,1,places) index, 0 at places to mask out; or NULL */
} heed_additive_attention;
heed_tensor *heed_recurrent_attention(heed_tape *t, const heed_additive_attention *l,
                                      const heed_recurrent_args *a);

/* Rotary positions: the first heads * width columns of x (...,T,C) are heads of `width` numbers;
 * the token at position p = first + t has its pairs (x_i, x_{i + width/2}) rotated by the angle p
 * theta^(-2i / width), as LLaMA in transformers does. Further columns are copied. Then the product
 * of a query and a key depends on the distance between their positions alone. Su et al. 2021, eq.
 * 15 and 34. -> (...,T,C) */
typedef struct {
    int heads, width; /* width is even */
    int first;        /* position of the first token */
    heed_real theta;
} heed_rotary_args;
heed_tensor *heed_rotary(heed_tape *t, heed_tensor *x, const heed_rotary_args *args);

/* Attention. Vaswani et al. 2017, eq. 1; per head: softmax(beta Q K' + score_bias) V. */
typedef struct {
    int heads;
    int kv_heads;   /* heads of keys and values, which divide heads: query head h reads head
                       floor(h kv_heads / heads); 0: heads. Ainslie et al. 2023, sec. 2.2 */
    int key;        /* e: width of a query and a key, per head */
    int value;      /* d2: width of a value, per head */
    heed_real beta; /* inverse temperature when has_beta; else 1/sqrt(key) */
    bool has_beta;
    bool causal; /* query i of Tq sees keys j <= i + Tk - Tq */
    bool hard;   /* one-hot of the largest score (lowest index if tied); backward: the soft one's */
    bool explicit_path; /* composed of matmul, scale, add, softmax, dropout and matmul instead of
                           the fused op: a reference */
    heed_real dropout;  /* on the weights, in training */
} heed_attention_args;

/* q (B,Tq,h e), k (B,Tk,g e), v (B,Tk,g d2) -> (B,Tq,h d2), for g key-value heads. Stacked
 * projections: v NULL: k is (B,Tk,g(e+d2)) = [k of all heads | v]; k NULL, too: q is
 * (B,T,h e + g(e+d2)) = [q of all heads | k | v]. score_bias (1|B, 1|h, Tq, Tk) or NULL. pad (B,Tk)
 * index, 0 where a key is padding, or NULL. A query that sees no key gives zeros and zero
 * gradients. Keeps q (B,h,Tq,e), k (B,g,Tk,e), v (B,g,Tk,d2), scores (after beta and bias, before
 * the mask, including masked ones) and weights (before dropout) (B,h,Tq,Tk), each computed only if
 * probed. */
heed_tensor *heed_attention(heed_tape *t, heed_tensor *q, heed_tensor *k, heed_tensor *v,
                            heed_tensor *score_bias, heed_tensor *pad,
                            const heed_attention_args *args);

HEED_EXPORT_END
#endif
