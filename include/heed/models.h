/* models.h -- the models that the program trains, on the library's public headers alone.
 *
 * Names of parameters: embed.token.weight embed.position.weight embed.type.weight embed.norm
 * encoder.N.{attn.qkv attn.out norm1 mlp.up mlp.down norm2} (mlm) or decoder.N. ... (gpt) norm
 * (final) head.{dense norm weight bias}; vit: embed.cls embed.patch embed.position.weight and the
 * encoder's; cnn: stem.{conv norm} stage.S.N.{conv1 norm1 conv2 norm2 short} head; mlp: hidden.N
 * hidden.N.norm head; seq2seq: embed.token.weight (or embed.source.weight, embed.target.weight),
 * embed.{source_position target_position}.weight, the encoder's, decoder.N.{attn.qkv attn.out norm1
 * cross.q cross.kv cross.out norm2 mlp.up mlp.down norm3} encoder.norm decoder.norm (pre-norm)
 * head; rnn: the same embeddings, encoder.* and decoder.* as PyTorch's layers, bridge.N,
 * decoder.attend.{w u score query key value} head. Probes: encoder.N.attn.weights,
 * decoder.N.attn.weights, decoder.N.cross.weights (B,heads,T,S); rnn: decoder.attend.weights
 * (B,T,S), or decoder.context.weights of the fixed c. textcls and tag: embed.token.weight
 * embed.position.weight, encoder.* (recurrent: as PyTorch's layer) norm head. */
#ifndef MODELS_H
#define MODELS_H

#include <heed/fit.h>

HEED_EXPORT_BEGIN

typedef struct mlm mlm;
typedef struct gpt gpt;
typedef struct picture_model picture_model; /* what vit, cnn and mlp begin with */
typedef struct vit vit;
typedef struct cnn cnn;
typedef struct mlp mlp;
typedef struct pair_model pair_model; /* what seq2seq and rnn begin with */
typedef struct seq2seq seq2seq;
typedef struct rnn rnn;
typedef struct text_model text_model; /* what textcls and tag begin with */
typedef struct textcls textcls;
typedef struct tag tag;

extern const heed_model heed_model_mlm, heed_model_gpt, heed_model_vit, heed_model_cnn,
    heed_model_mlp, heed_model_seq2seq, heed_model_rnn, heed_model_textcls, heed_model_tag;

/* All of them, ended by NULL: what `heed train` and heed_run_open take. */
extern const heed_model *const heed_models[];

/* Masked language model. Devlin et al. 2019. ids (B,T), types (B,T) or NULL (all 0), pad (B,T) or
 * NULL; picks (n) flat positions b T + t, or NULL -> logits (n,V), or (B,T,V) for picks NULL. */
heed_tensor *mlm_logits(const mlm *m, heed_tape *t, heed_tensor *ids, heed_tensor *types,
                        heed_tensor *pad, heed_tensor *masked_positions);

/* Causal language model. Radford et al. 2019. ids (B,T) -> logits (B,T,V). With caches, one a
 * layer: ids (1,T) go on from what the caches hold -> logits (1,1,V) of the last position alone. */
heed_tensor *gpt_logits(const gpt *m, heed_tape *t, heed_tensor *ids, heed_cache *caches);

/* Classifier of pictures: self is a vit, a cnn or an mlp; x (B,size,size,channels) -> logits
 * (B,classes). The head of one neuron z gives (0, z). */
heed_tensor *picture_logits(const void *self, heed_tape *t, heed_tensor *x);

/* Vision transformer. Dosovitskiy et al. 2021. x (B,size,size,channels) -> (B,n+1,d), what the last
 * block gives for [CLS] and the n patches, row by row; (B,n,d) without [CLS]. */
heed_tensor *vit_encode(const vit *m, heed_tape *t, heed_tensor *x);
/* Patches from top to bottom, and from left to right. */
void vit_grid(const vit *m, int *rows, int *cols);

/* Sequence to sequence: self is a seq2seq or an rnn. Source (B,S), pad (B,S) or NULL, ids (B,T),
 * the target shifted right: [CLS] and its tokens but the last -> logits (B,T,V) of the tokens that
 * follow. Probed, the decoder's attention is the alignment of every target token. */
heed_tensor *pair_logits(const void *self, heed_tape *t, heed_tensor *source, heed_tensor *pad,
                         heed_tensor *ids);

/* How to make a target. */
typedef struct {
    int32_t begin, end;    /* [CLS], [SEP]; end is not part of what is made */
    int count;             /* tokens to make, at most; 0: the block */
    int beam;              /* hypotheses kept; 0 and 1: one, greedy */
    double length_penalty; /* alpha: hypotheses are ranked by log p / ((5 + len) / 6)^alpha. Wu et
                              al. 2016, eq. 14; 0: by log p alone */
    double temperature;    /* of sampling, with one hypothesis; 0: the most probable token */
    int top_k;             /* sampling: as in gpt_sampling */
    double top_p;
    uint64_t seed;
    uint32_t sample;
    bool uncached; /* everything anew for every token: the same target, slower */
} pair_decoding;
typedef struct {
    int count;              /* of tokens */
    bool ended;             /* by `end`, not by the count */
    double log_probability; /* of the tokens and, if ended, the end */
} pair_target;

/* Reads a source of n tokens (as batches have it, with its [SEP]) and writes the best target to
 * out, which has room for block tokens. Both n and what is made are at most the block. False on
 * error. */
bool pair_translate(const void *self, heed_tape *t, const int32_t *source, size_t n,
                    const pair_decoding *a, int32_t *out, pair_target *about);

/* Classifier of texts: ids (B,S), pad (B,S) or NULL -> logits (B,classes). The head of one neuron z
 * gives (0, z). */
heed_tensor *textcls_logits(const textcls *m, heed_tape *t, heed_tensor *ids, heed_tensor *pad);

/* A label for every token: ids (B,S), pad (B,S) or NULL -> logits (B,S,classes). */
heed_tensor *tag_logits(const tag *m, heed_tape *t, heed_tensor *ids, heed_tensor *pad);

/* How to go on from a prompt. */
typedef struct {
    int count;          /* tokens to make */
    double temperature; /* divides the logits; 0: always the most probable token */
    int top_k;          /* only the k most probable; 0: all */
    double top_p;       /* only the smallest set of most probable tokens that holds p; 0: all */
    uint64_t seed;
    uint32_t sample; /* which of several samples of one seed */
    bool uncached;   /* recompute the whole context for every token: the same tokens, slower */
    bool has_end;    /* `end` is a token that ends the text; it is not part of it */
    int32_t end;
    bool (*token)(void *user, int32_t id); /* gets each token as it is made; false stops; or NULL */
    void *user;
} gpt_sampling;

/* Continues prompt (n ids, at least one) and writes up to `count` ids to out, which may be NULL.
 * Beyond the block only the last `block` tokens are seen. Returns how many were made, -1 on error.
 */
int gpt_generate(const gpt *m, heed_tape *t, const int32_t *prompt, size_t n, const gpt_sampling *a,
                 int32_t *out);

/* The token that ends a text, by the settings of a run and its tokenizer: what stands at a line's
 * end where a model was trained line by line (packing = lines); else -1, which no token is. */
int32_t gpt_end(const heed_config *f, const heed_tokenizer *k);

HEED_EXPORT_END

#endif
