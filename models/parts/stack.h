/* stack.h -- a stack of transformer blocks and the norm after them, for text and for pictures. */
#ifndef MODELS_STACK_H
#define MODELS_STACK_H

#include "common.h"

typedef struct {
    heed_block_args block; /* its sizes, which the rows set */
    int layers, width;
    const char *ff_kind, *norm, *norm_kind, *activation, *attention;
    heed_real rope_theta;
    double beta, init_std;
    bool attn_out, bias;
    bool recompute, all_rows; /* of every training run */
    /* Models have rows of their own for these, or leave them as they are here, 0 or false. */
    const char *positions;
    bool final_norm;
    bool scale_residual; /* projections onto the residual stream start at residual_std / sqrt(2
                            layers) */
    double residual_std; /* 0: init-std */
} stack_settings;
extern const heed_option heed__stack_options[];

/* The rows that only blocks use, for conditions; and the blocks of LLaMA. Touvron et al. 2023,
 * sec. 2.2; Ainslie et al. 2023. */
#define STACK_SETTINGS                                                                             \
    "heads kv-heads ff ff-kind key-width value-width norm rope-theta beta hard attention attn-out"
#define LLAMA "norm=pre norm-kind=rms positions=rotary ff-kind=swiglu bias=false "

typedef struct {
    int layers, width;
    bool recompute;              /* blocks are computed again in backward */
    bool all_rows;               /* of the last block, even where only some are read */
    double beta;                 /* from the settings; -1: 1/sqrt(key width) */
    char init[32], out_init[32]; /* initial values of projections; "": the layers' defaults */
    heed_norm final_norm;        /* gain NULL: absent */
    heed_block block[MODEL_LAYERS];
} block_stack;

heed_norm_args heed__stack_norm_args(const stack_settings *set, int width);
/* The arguments of one block. */
heed_block_args heed__stack_block_args(const block_stack *m, const stack_settings *set,
                                       bool causal);
/* Reads sizes and initial values; heed__stack_make adds the blocks NAME.0 .. and the norm after
 * them, after the parameters of embeddings. */
void heed__stack_read(block_stack *m, const stack_settings *set);
void heed__stack_make(block_stack *m, heed_store *s, const stack_settings *set, const char *name,
                      bool causal);
/* Initial values of the model's other parameters: by the setting init-std, or `otherwise`. */
const char *heed__stack_init_or(const block_stack *m, const char *otherwise);

/* Passes x (B,T,d) through the blocks; pad (B,T) or NULL; caches (one per layer) or NULL. */
heed_tensor *heed__stack_apply(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *pad,
                               heed_cache *caches);
/* The outputs (n,d) of some positions alone: rows, an index (n) of flat positions b T + t. The last
 * block is computed for those only, unless the setting all-rows, a probe or HEED_TRACE asks for
 * all.
 */
heed_tensor *heed__stack_rows(const block_stack *m, heed_tape *t, heed_tensor *x, heed_tensor *rows,
                              heed_tensor *pad);
/* Whether that computes all rows. */
bool heed__stack_all_rows(const block_stack *m, const heed_tape *t);
/* Describes the attention layer of block `index`. Returns false if there is none. */
bool heed__stack_attending(const block_stack *m, heed_stack stack, int index, heed_attending *out);
/* The norm after the blocks, if there is one. */
heed_tensor *heed__stack_norm(const block_stack *m, heed_tape *t, heed_tensor *x);

#endif
