/* heed/nn.h -- layers: each is a struct of parameters, an init function that makes them in a store,
 * and an apply function that records ops and returns the output, or NULL on error. Layers have no
 * hidden state. A field that is NULL after init means that this part is absent.
 *
 * Parameters belong to the store; the structs own nothing. `name` is the layer's name in the open
 * scope, as in heed_param_new; the struct keeps a pointer to the full name, which lives as long as
 * the store. Errors (a size below 1, a name that exists, no memory) are those of the context. */
#ifndef HEED_NN_H
#define HEED_NN_H

#include <heed/ops.h>

HEED_EXPORT_BEGIN

/* y = act(x W' + b). x (...,in) -> (...,out) */
typedef struct {
    const char *name;
    heed_tensor *w, *b; /* (out,in), (out) or NULL */
} heed_linear;
typedef struct {
    int in, out;
    bool no_bias;
    const char *init; /* of the weight; NULL: "kaiming" for weight and bias, as in PyTorch; else the
                         bias is initialised to zero */
} heed_linear_args;
void heed_linear_init(heed_linear *l, heed_params *s, const char *name, heed_linear_args a);
heed_tensor *heed_linear_apply(const heed_linear *l, heed_tape *t, heed_tensor *x);
/* The same with an activation: act(x W' + b). */
heed_tensor *heed_linear_act(const heed_linear *l, heed_tape *t, heed_tensor *x, heed_act act);

/* The norms over the last dim. X(enumerator, "|" and the setting, whether it has a bias, the op
 * with t, x, gain, bias and eps) */
#define HEED_NORMS(X)                                                                              \
    X(HEED_LAYER_NORM, "|layer", true, heed_layer_norm(t, x, gain, bias, eps))                     \
    X(HEED_RMS_NORM, "|rms", false, heed_rms_norm(t, x, gain, eps))
typedef enum { HEED_NORMS(HEED__ENUMERATOR) } heed_norm_kind;
typedef struct {
    heed_norm_kind kind;
    int width;
    heed_real eps; /* such as 1e-5; with 0, a row of equal numbers becomes NaN */
    bool no_bias;
} heed_norm_args;
typedef struct {
    const char *name;
    heed_norm_args args;
    heed_tensor *gain, *bias; /* stored as weight, bias (width) */
} heed_norm;
/* x (...,width) -> (...,width): heed_layer_norm or heed_rms_norm */
void heed_norm_init(heed_norm *l, heed_params *s, const char *name, heed_norm_args a);
heed_tensor *heed_norm_apply(const heed_norm *l, heed_tape *t, heed_tensor *x);

/* Batch norm over all but the last dim: heed_batch_norm with eps = 1e-5 and momentum = 0.1.
 * x (...,width) -> (...,width). running_mean and running_var are state. */
typedef struct {
    const char *name;
    heed_tensor *gain, *bias, *mean, *var;
    heed_real eps, momentum;
} heed_batchnorm;
void heed_batchnorm_init(heed_batchnorm *l, heed_params *s, const char *name, int width);
heed_tensor *heed_batchnorm_apply(const heed_batchnorm *l, heed_tape *t, heed_tensor *x);

/* Dropout with a name, from which its random numbers are drawn: heed_dropout. p in [0, 1). */
typedef struct {
    const char *name;
    heed_real p;
} heed_dropout_layer;
void heed_dropout_layer_init(heed_dropout_layer *l, heed_params *s, const char *name, heed_real p);
heed_tensor *heed_dropout_layer_apply(const heed_dropout_layer *l, heed_tape *t, heed_tensor *x);

/* Convolution, heed_conv2d and its variants. 2-d: x (B,H,W,in) -> (B,H',W',out); 1-d: x (B,T,in) ->
 * (B,T',out). */
typedef struct {
    int in, out;
    int size[2]; /* of the kernel: vertical, horizontal; 1-d if size[0] is 0 */
    heed_conv_args conv;
    bool transposed, no_bias;
    const char *init; /* of the weight; NULL: "kaiming" for weight and bias, as in PyTorch */
} heed_conv_layer_args;
typedef struct {
    const char *name;
    heed_conv_layer_args args;
    heed_tensor *w, *b; /* (out, in/groups, [kh,] kw) or, transposed, (in, out/groups, ..) */
} heed_conv;
void heed_conv_init(heed_conv *l, heed_params *s, const char *name, heed_conv_layer_args a);
heed_tensor *heed_conv_apply(const heed_conv *l, heed_tape *t, heed_tensor *x);

/* Residual block of a CNN: relu(x' + norm2(conv2(relu(norm1(conv1(x)))))), 3x3 kernels, dropout
 * before conv2; x' = x, or norm of a 1x1 convolution with the stride where the shape changes. He et
 * al. 2016, sec. 3.3. Names: conv1 norm1 conv2 norm2 short.conv short.norm. */
typedef struct {
    int in, out, stride;
    bool no_norm;     /* without batch norm; convolutions then have biases */
    bool no_residual; /* without x' */
    heed_real dropout;
} heed_conv_block_args;
typedef struct {
    heed_conv_block_args args;
    heed_conv conv1, conv2, short_conv;
    heed_batchnorm norm1, norm2, short_norm;
    heed_dropout_layer drop;
} heed_conv_block;
void heed_conv_block_init(heed_conv_block *l, heed_params *s, const char *name,
                          heed_conv_block_args a);
heed_tensor *heed_conv_block_apply(const heed_conv_block *l, heed_tape *t, heed_tensor *x);

/* Patches as tokens: a convolution of stride and size p. x (B,H,W,C) -> (B, H/p W/p, d). For one
 * patch: z = W patch + b, where patch has p p C elements. Dosovitskiy et al. 2021, eq. 1. */
void heed_patch_embed_init(heed_conv *l, heed_params *s, const char *name, int channels, int patch,
                           int width, const char *init);
heed_tensor *heed_patch_embed_apply(const heed_conv *l, heed_tape *t, heed_tensor *x);

/* Positions added to x (B,T,d): a learned table, the sinusoids of Vaswani et al. 2017, sec. 3.5,
 * those of a square grid (half of the width for the row, half for the column; if len is one more
 * than a square, the first row, for [CLS], is zeros), or nothing. */
typedef enum {
    HEED_LEARNED,
    HEED_SINUSOIDAL,
    HEED_SINUSOIDAL_2D,
    HEED_NO_POSITIONS
} heed_position_kind;
typedef struct {
    heed_position_kind kind;
    heed_tensor *table; /* (len,d): trained, or NULL */
    int len, width;
} heed_position;
void heed_position_init(heed_position *l, heed_params *s, const char *name, heed_position_kind kind,
                        int len, int width);
/* x (B,T,d) + rows [from, from+T) of the table; HEED_USAGE beyond len, except for
 * HEED_SINUSOIDAL, which is defined at every position. HEED_NO_POSITIONS: x itself. */
heed_tensor *heed_position_apply(const heed_position *l, heed_tape *t, heed_tensor *x, int from);

/* Keys and values of the tokens so far in one layer, for generation: of one sequence, or of several
 * of the same length. In cross attention they are those of one memory, which all sequences attend
 * to, computed by the first call. The caller owns k and v. */
typedef struct {
    int len, capacity; /* tokens held, and their maximum */
    heed_real *k, *v;  /* (capacity, g e), (capacity, g d2), for g key-value heads */
    size_t stride;     /* of several sequences: elements from the start of one's k to that of the
                          next, and likewise of v; 0: one sequence */
} heed_cache;

/* Multi-head attention: one stacked q,k,v projection of height h e + g(e+d2), for h heads of
 * queries and g of keys and values, and W_h (d, h d2) back to d, or no W_h. Vaswani et al. 2017,
 * sec. 3.2.2; heads that share keys and values: Ainslie et al. 2023, sec. 2.2. */
typedef struct {
    int width;             /* width of the inputs, d */
    int memory_width;      /* width of the other sequence in cross attention; 0: width */
    int heads, key, value; /* key, value 0: width / heads */
    int kv_heads;          /* heads of keys and values, which divide heads; 0: heads */
    bool cross;            /* q from x, k and v from memory: parameters q and kv instead of qkv */
    bool causal, hard, no_out;
    bool no_bias;       /* on q, k, v and out */
    bool explicit_path; /* as in heed_attention_args */
    bool has_beta;
    heed_real beta, dropout;
    heed_real rotary; /* theta of the rotary positions of q and k, see heed_rotary; 0: none. Keys
                         are cached after rotation. Not in cross attention */
    const char *init, *out_init; /* of the projections; NULL: "kaiming" */
} heed_mha_args;
typedef struct {
    const char *name, *rotary; /* names of the attention op and of heed_rotary */
    heed_mha_args args;        /* with default sizes instead of zeros */
    heed_linear qkv, q, kv, out;
} heed_mha;
void heed_mha_init(heed_mha *l, heed_params *s, const char *name, heed_mha_args a);
/* The rows of a stacked projection, weight and bias, that compute the queries, keys or values of
 * one head (queries' heads for all three: heads that share keys have the same rows), or of all
 * heads if head is -1. They are rows of qkv, or, if cross, of q for queries and of kv for the rest.
 * Of the arguments it reads heads, kv_heads, key, value and cross; key and value must be set. count
 * is 0 for a head that does not exist. */
typedef enum { HEED_QUERIES, HEED_KEYS, HEED_VALUES } heed_projected;
typedef struct {
    int from, count;
} heed_rows;
heed_rows heed_mha_rows(const heed_mha_args *a, heed_projected part, int head);
/* What attention reads besides x (B,T,d). Each may be absent. */
typedef struct {
    heed_tensor *memory;     /* (B,S,dm): the other sequence of cross attention */
    heed_tensor *score_bias; /* (1|B, 1|heads, T, S), added to the scores of heed_attention:
                                relative positions, or a custom mask */
    heed_tensor *pad;        /* (B,S) index over the keys */
    heed_tensor *rows; /* index (n) of flat positions b T + t in any order: only their outputs are
                          computed, -> (n,d), with keys and values of all positions. Dropout
                          numbers the selected rows, so it drops other weights than without. In
                          self-attention, without score bias and cache */
    heed_cache *cache; /* in eval; without a stride, memory has B = 1, and all sequences attend to
                          it. S includes the cached tokens, and the outputs are those of the same
                          tokens without a cache */
} heed_mha_inputs;
/* x (B,T,d) -> (B,T,d); in NULL: x alone. */
heed_tensor *heed_mha_apply(const heed_mha *l, heed_tape *t, heed_tensor *x,
                            const heed_mha_inputs *in);

/* Feed-forward, the same at every position (a convolution of width 1): down(act(up(x))), or, if
 * gated, down(act(gate(x)) up(x)), which with HEED_SILU is SwiGLU. Shazeer 2020, eq. 6. */
typedef struct {
    heed_linear gate, up, down; /* gate.w NULL: absent */
    heed_act act;
} heed_ff;
typedef struct {
    int width, inner;
    bool gated;
    heed_act act;
    bool no_bias;
    const char *init, *out_init;
} heed_ff_args;
void heed_ff_init(heed_ff *l, heed_params *s, const char *name, heed_ff_args a);
heed_tensor *heed_ff_apply(const heed_ff *l, heed_tape *t, heed_tensor *x);

/* Encoder block (GPT's when attn.causal), or, if cross.heads is set, decoder block: causal
 * self-attention, attention to memory, feed-forward. Each f of these is, pre-norm: x +
 * drop(f(norm(x))); post-norm: norm(x + drop(f(x))). Names: attn.qkv attn.out norm1 mlp.up mlp.down
 * norm2, and mlp.gate if mlp.gated; of a decoder attn norm1 cross norm2 mlp norm3. Vaswani et al.
 * 2017, sec. 3.1. */
typedef struct {
    heed_mha_args attn, cross;
    heed_ff_args mlp;
    bool pre_norm;
    bool norm_no_bias;
    heed_norm_kind norm;
    heed_real eps, dropout;
} heed_block_args;
typedef struct {
    heed_block_args args;
    heed_mha attn, cross;
    heed_ff mlp;
    heed_norm norm[3];
    heed_dropout_layer drop[3];
} heed_block;
void heed_block_init(heed_block *l, heed_params *s, const char *name, heed_block_args a);
/* What a block reads besides x (B,T,d). Each may be absent. */
typedef struct {
    heed_tensor *pad;                 /* (B,T) index */
    heed_tensor *rows;                /* (n) index: as in heed_mha_inputs, for a last block of which
                                         nothing else is read. Encoder blocks only */
    heed_tensor *memory, *memory_pad; /* (B,S,d) from the encoder, (B,S) index */
    heed_cache *caches; /* of the self-attention, then of the attention to memory; once that
                           is filled, memory is not read */
} heed_block_inputs;
/* x (B,T,d) -> (B,T,d), or (n,d); in NULL: x alone. */
heed_tensor *heed_block_apply(const heed_block *l, heed_tape *t, heed_tensor *x,
                              const heed_block_inputs *in);

/* y = apply(self, t, in) for up to four inputs, of which the first is required. The intermediate
 * values are not kept: backward computes them again. This gives the same bits, saves memory and
 * takes the time of one more forward pass. Dropout draws the same masks again; its ops must be
 * named (heed_name_scope) to have the same bits as without heed_recompute. Values inside are not
 * probed. self must be valid until after backward. apply must not call heed_recompute, and must not
 * update a state such as running statistics. Chen et al. 2016, sec. 3. */
enum { HEED_RECOMPUTE = 4 };
typedef heed_tensor *(*heed_recomputed)(const void *self, heed_tape *t,
                                        heed_tensor *const in[HEED_RECOMPUTE]);
heed_tensor *heed_recompute(heed_tape *t, heed_recomputed apply, const void *self,
                            heed_tensor *const in[HEED_RECOMPUTE]);

/* Stacked recurrent layers. Parameters have PyTorch's layout and names: weight_ih_l0 (G h, in),
 * weight_hh_l0 (G h, h), bias_ih_l0, bias_hh_l0, and _reverse for the other direction; with
 * one_bias there is no bias_hh: h' = g(W_hx x + W_hh h + b_h), which is W_h [x ; h] + b_h. */
enum { HEED_RNN_LAYERS = 16 };
typedef struct {
    int in, width;
    heed_cell cell;
    heed_act act;       /* of HEED_CELL_TANH, as in heed_recurrent */
    int layers;         /* 0: 1 */
    bool bidirectional; /* concatenates the outputs of both directions: 2 width */
    bool one_bias;
    heed_real dropout; /* between layers */
    const char *init;  /* of all parameters; NULL: uniform in +-1/sqrt(width), as in PyTorch */
} heed_rnn_args;
typedef struct {
    heed_tensor *w_in, *w, *b_in, *b; /* b NULL: absent */
} heed_rnn_part;
typedef struct {
    const char *name;
    heed_rnn_args args;
    heed_rnn_part part[2 * HEED_RNN_LAYERS]; /* by layer; both directions of a layer adjacent */
    heed_dropout_layer drop[HEED_RNN_LAYERS];
} heed_rnn;
void heed_rnn_init(heed_rnn *l, heed_params *s, const char *name, heed_rnn_args a);
/* x (B,T,in), pad (B,T) index or NULL -> (B,T,width or 2 width), the last layer's h. first and last
 * are NULL or arrays of layers x directions states (B,S), as in heed_recurrent: those before the
 * first step (NULL: zeros) and after the last one. */
heed_tensor *heed_rnn_apply(const heed_rnn *l, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                            heed_tensor *const *first, heed_tensor **last);

/* Single-head attention with a choice of similarity: query (B,Tq,dq), inputs (B,S,d) -> context
 * (B,Tq,d or value) = softmax(e) V.
 *   additive   e = v' tanh(W q + U k + b)            Bahdanau et al. 2015, sec. A.1.2
 *   dot        e = q' k                              Luong et al. 2015, eq. 8
 *   scaled     e = q' k / sqrt(d_k)                  Vaswani et al. 2017, eq. 1
 *   general    e = q' W k                            Luong et al. 2015, eq. 8
 * q is the query, or W_q times it. k and v are the inputs, or W_k and W_v times them. */
typedef enum { HEED_ADDITIVE, HEED_DOT, HEED_SCALED_DOT, HEED_GENERAL } heed_similarity;
typedef struct {
    heed_similarity kind;
    int query, input; /* widths dq, d */
    int inner;        /* additive: width of the alignment network; 0: input */
    int key, value; /* widths of the projections W_k and W_v of the inputs (and of W_q of the query,
                       to key); 0: no projection */
    bool all_biases; /* additive: W and v have biases, too, which make it no more expressive */
    bool hard;       /* heed_hardmax instead of the softmax: one key per query, the gradient of the
                        soft weights. Xu et al. 2015, sec. 4.1, without its sampling */
    bool has_beta;
    heed_real beta; /* multiplies e instead of the default 1 or 1/sqrt(d_k) */
    const char *init;
} heed_attention_layer_args;
typedef struct {
    const char *name;
    heed_attention_layer_args args;
    heed_linear q, k, v; /* W_q and W_k if key is set, W_v if value is */
    heed_linear w, u;    /* additive: W without bias, U with bias; general: w */
    heed_linear score;   /* additive: v, as weight (1, inner) */
} heed_attention_layer;
void heed_attention_layer_init(heed_attention_layer *l, heed_params *s, const char *name,
                               heed_attention_layer_args a);
/* The part that does not depend on the query, computed once for many steps of a decoder. */
typedef struct {
    heed_tensor *keys, *values; /* (B,S,..) */
    heed_tensor *mask;          /* (B,1,S) or NULL */
} heed_attention_kv;
/* inputs (B,S,d), pad (B,S) index or NULL */
heed_attention_kv heed_attention_layer_kv(const heed_attention_layer *l, heed_tape *t,
                                          heed_tensor *inputs, heed_tensor *pad);
typedef struct {
    heed_tensor *q, *scores, *weights; /* (B,Tq,e), for the additive form W q; (B,Tq,S), scores
                                          before the mask */
    heed_tensor *context;              /* (B,Tq,d) */
} heed_attended;
/* probed: keeps q, scores and weights for probes under the layer's name, as heed_attention_layer_kv
 * does k and v as they are compared and summed. A decoder of many steps passes false, and those of
 * all its steps to heed_attention_layer_note, which keeps them concatenated along the queries,
 * without gradients; of more than HEED_ATTEND_STEPS steps nothing is kept. */
heed_attended heed_attention_layer_apply(const heed_attention_layer *l, heed_tape *t,
                                         heed_tensor *query, const heed_attention_kv *m,
                                         bool probed);
enum { HEED_ATTEND_STEPS = 4096 };
void heed_attention_layer_note(const heed_attention_layer *l, heed_tape *t, int steps,
                               const heed_attended *a);

/* ---- LoRA ---- */

/* Adds an adapter of rank r to every weight whose name matches the pattern, and to the named rows
 * ("q", "k", "v" of attention) of other weights where NAME.ROWS matches,
 * "encoder.0.attn.qkv.weight.q": from now on, ops read W + alpha / r B A there. A (r,in) begins as
 * kaiming, B (rows,r) as zeros; they are the entries NAME.lora.a and NAME.lora.b, NAME.lora_q.a and
 * NAME.lora_q.b. The weights are still trained unless heed_freeze says otherwise. in is the product
 * of the dims after the first, so convolutions can be adapted, too. Returns the number of matches;
 * -1 with an error for a parameter of fewer than 2 dims, or with fewer rows or columns than r, or
 * if alpha is not finite. Hu et al. 2022, sec. 4.1.
 */
int heed_lora_add(heed_params *s, const char *pattern, int rank, heed_real alpha);
/* Replaces each adapted weight by W + alpha / r B A, to the same bits that ops read before, and
 * removes the entries of the adapters. There must be no optimizer of s. */
bool heed_lora_merge(heed_params *s);

/* ---- the gradient check of layers ---- */

enum { HEED_CASE_ROWS = 2, HEED_CASE_LEN = 3, HEED_CASE_WIDTH = 8 };

/* A layer to be checked by heed_gradcheck_layer. A list ends with {0}. */
typedef struct {
    const char *name;
    size_t size; /* bytes of self, zeroed before init */
    void (*init)(void *self, heed_params *s, const void *args); /* creates the parameters */
    /* x (2,3,8) -> any shape */
    heed_tensor *(*apply)(const void *self, heed_tape *t, heed_tensor *x);
    const void *args; /* passed to init */
} heed_layer_case;

/* Runs heed_gradcheck_store on the sum of all outputs, each multiplied by a fixed random weight; x
 * is one of the parameters. Gains and biases are moved away from their initial values 1 and 0. */
heed_check heed_gradcheck_layer(heed_ctx *c, const heed_layer_case *k);

/* The library's layers, ended by NULL: each a list of cases, ended by {0}, in one file. */
const heed_layer_case *const *heed_layer_table(void);

HEED_EXPORT_END
#endif
