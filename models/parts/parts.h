/* parts.h -- what several models share: settings, each struct with the table that is bound to it,
 * blocks, embeddings, encoders and decoders, output layers, losses and scores, choices by the data.
 */
#ifndef MODELS_PARTS_H
#define MODELS_PARTS_H

#include <heed/models.h>

#include <string.h>

/* ---- common.c ---- Code shared by all models: rows of settings, activations, scores. */

enum { MODEL_STEPS = 4096, MODEL_LAYERS = 64 }; /* tokens in a source, and in a target; blocks */

/* ---- settings that several models have: structs, each with the table that is bound to it ---- */

/* The sizes of texts. */
typedef struct {
    int block, vocab, vocab_rows;
} token_settings;
extern const heed_option heed__token_options[];
/* Cells of recurrent layers. */
typedef struct {
    const char *cell, *activation;
    bool one_bias;
} cell_settings;
extern const heed_option heed__cell_options[];

/* The choices of activations for hidden layers, and for cells, which need f' as a function of f. */
#define CHOICE_OF(act, name, setting, ...) setting
#define ACTIVATIONS                        (&(HEED_ACTIVATIONS(CHOICE_OF))[1])

static inline bool is(const char *value, const char *choice) { return strcmp(value, choice) == 0; }
heed_act heed__activation(const char *name);
heed_position_kind heed__positions(const char *name);
heed_norm_args heed__norm_args(const char *kind, int width, heed_real eps, bool bias);
heed_rnn_args heed__cells(const cell_settings *set, int in, int width, int layers,
                          heed_real dropout);

/* ---- heads and losses ---- */

/* The first member of each model's struct: the last batch's logits (...,V), and the mean loss over
 * the labels that are not negative. */
typedef struct {
    heed_tensor *logits, *loss;
} model_result;
/* Members `metrics` of heed_model: add a batch to the score, the second with its bytes. */
void heed__model_metrics(void *self, const heed_batch *b, heed_score *score);
void heed__model_text_metrics(void *self, const heed_batch *b, heed_score *score);

/* The loss of an output layer on x (...,d), whose logits are never in memory for all rows in
 * training, unless a probe asks for that. The result has logits only if they are. */
heed_tensor *heed__model_head_loss(model_result *r, heed_tape *t, const heed_linear *head,
                                   heed_tensor *x, heed_tensor *labels, heed_real smoothing);

/* The same for labels that are classes, weighted as the batch says: the sum of weighted losses
 * divided by the sum of the weights, as PyTorch's CrossEntropyLoss(weight). */
heed_tensor *heed__model_label_xent(model_result *r, heed_tape *t, heed_tensor *labels,
                                    const heed_batch *b, heed_real smoothing);

/* A head with one neuron z, for two classes. Fails for any other number of classes. */
bool heed__model_two_classes(heed_ctx *c, int classes);
/* z (B,1) -> (B,2), the logits (0, z): softmax gives (1 - sigmoid(z), sigmoid(z)). */
heed_tensor *heed__model_by_class(heed_tape *t, heed_tensor *z);

/* The loss of a classifier's neurons z, which are (B,1) if binary, else (B,classes): sets the
 * result. The target of one neuron is (1 - smoothing) label + smoothing / 2. */
heed_tensor *heed__model_class_loss(model_result *r, heed_tape *t, heed_tensor *z, bool binary,
                                    const heed_batch *b, heed_real smoothing);

/* Describes a layer of multi-head attention; beta: from the settings; -1: 1/sqrt(key width). */
void heed__model_attending(const heed_mha *l, heed_stack stack, int layer, double beta,
                           heed_attention_info *out);

/* The sizes of the keys and of the values that a cache of `len` tokens holds. */
void heed__model_cache(const heed_mha *l, int len, size_t *k, size_t *v);
/* Recurrent states (rows, size), of which each row lies `stride` numbers after the one before, as a
 * tensor, and back. */
heed_tensor *heed__model_states(heed_tape *t, const heed_real *from, size_t stride, int rows,
                                int size);
void heed__model_keep_states(const heed_tensor *x, heed_real *to, size_t stride);

/* An output layer "head": its weights are the embeddings (V,d), or separate ones of that shape. */
heed_linear heed__model_head(heed_params *s, heed_tensor *embeddings, bool tie, bool bias,
                             const char *init);
/* h of the last layer's last states, both directions concatenated: (B,width or 2 width). */
heed_tensor *heed__model_last_state(const heed_rnn *l, heed_tape *t, heed_tensor *const *last);

/* ---- stack.c ---- A stack of transformer blocks and the norm after them, for text and for
 * pictures. */

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
void heed__stack_make(block_stack *m, heed_params *s, const stack_settings *set, const char *name,
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
bool heed__stack_attending(const block_stack *m, heed_stack stack, int index,
                           heed_attention_info *out);
/* The norm after the blocks, if there is one. */
heed_tensor *heed__stack_norm(const block_stack *m, heed_tape *t, heed_tensor *x);

/* ---- text.c ---- Code shared by the models of tokens: settings, embeddings and a stack of blocks.
 */

typedef struct {
    stack_settings stack;
    token_settings tokens;
    int token_types;
    bool embed_norm; /* a row of each model */
} text_settings;
extern const heed_option heed__text_options[]; /* of the tokens, positions and token types */

/* The plain stack for benchmarks: pre-norm with biases, erf GELU, final norm, tied head. */
#define TEXT_PLAIN                                                                                 \
    "norm=pre norm-eps=1e-5 activation=gelu final-norm=true embed-norm=false token-types=0 "       \
    "transform-head=false head-bias=false scale-residual=false dropout=0 lr=1e-3 "
/* Small sizes for the gradient check. */
#define TINY "width=8 layers=2 heads=2 ff=16 block=6 vocab=13 batch=2 init-std=0.3 "

/* The embedding of tokens: token + position + segment, then a norm and dropout. */
typedef struct {
    heed_tensor *token, *type; /* (V,d), (types,d) or NULL */
    heed_position position;
    heed_norm norm; /* gain NULL: absent */
    heed_dropout_layer drop;
} token_embedding;

/* In the scope "embed". init: initial values of tokens and segments. */
void heed__embedding_init(token_embedding *e, heed_params *s, const text_settings *set,
                          const char *init, heed_position_kind positions);
/* ids (B,T) at positions [from, from+T), types (B,T) or NULL: all 0 -> (B,T,d) */
heed_tensor *heed__embedding_apply(const token_embedding *e, heed_tape *t, heed_tensor *ids,
                                   heed_tensor *types, int from);

/* x (B,S,d) -> (B,d): the mean over the tokens that are not padding, or the last such token; as
 * (B,1,S) times (B,S,d). */
heed_tensor *heed__tokens_pooled(heed_tape *t, heed_tensor *x, const heed_tensor *pad, bool last);

/* Embeddings, blocks and final norm. */
typedef struct {
    token_embedding embed;
    int vocab, len;
    block_stack stack;
} transformer;

/* name: of the blocks; NULL: none are made, and there are no positions. */
bool heed__transformer_init(transformer *m, heed_params *s, const text_settings *set,
                            const char *name, bool causal);

/* ---- image.c ---- Code shared by the picture models: settings, input, output layer, loss,
 * batches. A model adds its own settings, parameters and function from a picture to features. */

typedef struct {
    int size, channels;
} picture_settings;
extern const heed_option heed__picture_options[];
/* Of classifiers. */
typedef struct {
    picture_settings picture;
    int classes;
    const char *head;
    heed_real smoothing;
} image_settings;
extern const heed_option heed__image_options[];

/* The first member of each model's struct, so that the functions below take any of them as self. */
typedef struct picture_model picture_model;
struct picture_model {
    model_result result;
    int size, channels, classes;
    bool binary;
    heed_real smoothing;
    /* x (B,size,size,channels) -> features (B,width), for the output layer */
    heed_tensor *(*features)(const picture_model *self, heed_tape *t, heed_tensor *x);
    heed_linear head;
};

/* The batch's pictures (B,size,size,channels); NULL, with an error, if they have another size. */
heed_tensor *heed__picture_input(heed_tape *t, const heed_batch *b, int size, int channels);
/* Reads the settings; fails if the data has not filled in the sizes. */
bool heed__picture_read(picture_model *m, heed_ctx *c, const image_settings *set);
/* Makes the output layer for features of this width; init: initial values of weights, or NULL. */
void heed__picture_head(picture_model *m, heed_params *s, int width, const char *init);

/* Members of heed_model. */
heed_tensor *heed__picture_logits(const void *self, heed_tape *t, const heed_model_input *in);
heed_tensor *heed__picture_loss(void *self, heed_tape *t, const heed_batch *b);
heed_tensor *heed__picture_code(const void *self, heed_tape *t, const heed_model_input *in);
#define PICTURE_MEMBERS                                                                            \
    .data = &heed_pictures_classes, .logits = heed__picture_logits, .loss = heed__picture_loss,    \
    .metrics = heed__model_metrics, .code = heed__picture_code

/* ---- patches.c ---- A picture as a sequence of patches through a transformer's encoder: shared by
 * the models that read patches, so that the parameters of each fit the others. */

typedef struct {
    picture_settings picture; /* of the model's own rows */
    int patch;
    const char *pool;
    stack_settings stack;
} patch_settings;
extern const heed_option heed__patch_options[];

typedef struct {
    int size, channels; /* of the pictures */
    int side;           /* of a patch, in pixels */
    heed_conv patch;
    heed_tensor *cls; /* (1,1,d); NULL: the mean of the patches is read */
    heed_position position;
    heed_dropout_layer drop;
    block_stack stack;
} patch_encoder;

/* Makes the parameters embed.*, encoder.N.* and norm.*. False if the patches do not fit. */
bool heed__patches_init(patch_encoder *m, heed_params *s, const patch_settings *set);
int heed__patches_count(const patch_encoder *m); /* n */
heed_position_kind heed__patches_positions(const patch_settings *set);

/* x (B,size,size,channels) -> (B,n+1,d), or (B,n,d) without CLS: the last block's output. seen
 * (B,k): rows of the embeddings as (B (n+1), d) that pass through the blocks; NULL: all. */
heed_tensor *heed__patches_encode(const patch_encoder *m, heed_tape *t, heed_tensor *x,
                                  heed_tensor *seen);
/* That output -> (B,d): CLS, normalized alone as the others are not read (eq. 4), or the mean. */
heed_tensor *heed__patches_pool(const patch_encoder *m, heed_tape *t, heed_tensor *x);
/* The same of x (B,size,size,channels); the last block computes CLS alone, see heed__stack_rows. */
heed_tensor *heed__patches_features(const patch_encoder *m, heed_tape *t, heed_tensor *x);
bool heed__patches_grid(const patch_encoder *m, heed_grid *out);
/* Sets in f the size of a patch, whose usual value depends on the size of the pictures. */
bool heed__patches_chosen(const patch_encoder *m, heed_config *f);

/* ---- pair.c ---- Code shared by the pair models, seq2seq and rnn: settings, embeddings, loss. */

typedef struct {
    token_settings tokens;
    bool share_vocab;
    int source_vocab;
    heed_real smoothing;
} pair_settings;
extern const heed_option heed__pair_options[];

/* The plain settings of the benchmarks, and small sizes for the gradient check. */
#define PAIR_PLAIN "dropout=0 share-vocab=false lr=1e-3 "

/* The first member of each model's struct, so that the functions below take any of them as self. */
typedef struct pair_model pair_model;
struct pair_model {
    model_result result;
    int source_vocab, vocab, len;
    bool shared; /* one vocabulary and one embedding table */
    heed_real smoothing;
    const heed_linear *head; /* the output layer */
    /* source (B,S), pad (B,S) or NULL, ids (B,T) -> (B,T,d), what the output layer reads */
    heed_tensor *(*features)(const pair_model *self, heed_tape *t, heed_tensor *source,
                             heed_tensor *pad, heed_tensor *ids);
};

/* Reads the settings; fails if the data has not filled in the sizes. */
bool heed__pair_read(pair_model *m, heed_ctx *c, const pair_settings *set);
/* Embeddings of both sides, (V,width): embed.token.weight, or embed.{source target}.weight. */
void heed__pair_embeddings(const pair_model *m, heed_params *s, int width, const char *init,
                           heed_tensor **source, heed_tensor **target);

/* Members of heed_model. */
heed_tensor *heed__pair_logits(const void *self, heed_tape *t, const heed_model_input *in);
heed_tensor *heed__pair_loss(void *self, heed_tape *t, const heed_batch *b);
#define PAIR_MEMBERS                                                                               \
    .data = &heed_text_pairs, .embedding = "embed.source", .logits = heed__pair_logits,            \
    .loss = heed__pair_loss, .metrics = heed__model_text_metrics
/* The member of heed_steps. */
int heed__pair_length(const void *self);

/* ---- reader.c ---- Code shared by textcls and tag: a text encoder by attention, recurrent layers
 * or convolution, with its settings, batches and scores. */

typedef struct {
    text_settings text;
    const char *encoder, *final_norm;
    cell_settings cells;
    bool bidirectional, causal, bracket;
    int kernel, segment_token, classes;
    heed_real smoothing;
} reader_settings;
extern const heed_option heed__reader_options[];

/* Convolutions along the text, each x + drop(act(conv(norm(x)))). */
typedef struct {
    int layers; /* 0: absent */
    heed_act act;
    bool causal;
    heed_conv conv[MODEL_LAYERS];
    heed_norm norm[MODEL_LAYERS];
    heed_dropout_layer drop[MODEL_LAYERS];
} conv_stack;

/* The first member of each model's struct, so that the functions below take any of them as self. */
typedef struct {
    model_result result;
    int vocab, classes, width; /* width: of the encoder's output per token */
    heed_real smoothing;
    token_embedding embed;
    int separator;     /* the setting segment-token */
    block_stack stack; /* by attention */
    heed_rnn rnn;      /* or recurrent: layers 0: absent */
    conv_stack conv;   /* or by convolution */
    bool last;         /* textcls: classified by the last token, not by the mean of all */
    bool first;        /* textcls: by the first one, [CLS] */
    heed_linear head;
} text_model;

/* Makes the encoder; neurons: outputs of the head. Fails if the data has not filled in the sizes.
 */
bool heed__reader_init(text_model *m, heed_params *s, const reader_settings *set, int neurons);
/* x (B,S), pad and types (B,S) or NULL -> (B,S,width), and in ends, unless NULL, (B,width): h of
 * the last recurrent layer at its end, both directions concatenated; without recurrent layers, the
 * mean of all tokens, or the last one. */
heed_tensor *heed__reader_apply(const text_model *m, heed_tape *t, const heed_model_input *in,
                                heed_tensor **ends);

/* Small sizes for the gradient check. */
#define READER_SMALL                                                                               \
    "width=8 layers=2 heads=2 ff=12 block=6 vocab=11 classes=3 batch=2 init-std=0.3 "

/* Members of heed_model. */
bool heed__reader_attending(const void *self, int index, heed_attention_info *out);
#define READER_MEMBERS                                                                             \
    .embedding = "embed.token", .metrics = heed__model_metrics, .attending = heed__reader_attending

/* ---- convnet.c ---- A small residual network from a picture to a grid of features, of cnn and
 * caption: a convolution, then stages of residual blocks. He et al. 2016, sec. 3.3. */

enum { CONVNET_STAGES = 6, CONVNET_BLOCKS = 16 };

typedef struct {
    int channels, width; /* of the picture; of the first stage, each later one has twice as many */
    int stride;          /* of the first convolution */
    int stages, blocks;  /* each stage but the first halves the sides; blocks in a stage */
    bool no_norm, no_residual;
    heed_real dropout; /* inside the blocks */
} convnet_args;

typedef struct {
    heed_conv stem;
    heed_batchnorm norm; /* gain NULL: absent */
    int count, out;      /* blocks; channels of the features */
    heed_conv_block block[CONVNET_STAGES * CONVNET_BLOCKS];
} convnet;

/* Makes stem.{conv norm} and stage.S.N. */
void heed__convnet_init(convnet *m, heed_params *s, convnet_args a);
/* x (B,H,W,channels) -> (B,H',W',out), where H' is H divided by the stride, then by 2 in each stage
 * after the first, rounded up. */
heed_tensor *heed__convnet_apply(const convnet *m, heed_tape *t, heed_tensor *x);

/* ---- decoder.c ---- The recurrent decoder of rnn and caption, which attends to a memory h_1 ..
 * h_S:
 *
 *     a_t = softmax_i f_att(s_{t-1}, h_i)      c_t = sum_i a_{t,i} h_i
 *     s_t = g(y_{t-1}, s_{t-1}, c_t)
 *
 * Its output at t is a linear map of s_t and c_t. Bahdanau et al. 2015, sec. 3. Without attention c
 * is the same at every t. Cho et al. 2014, sec. 2.2. */

typedef struct {
    const char *attention;
    int attention_width;
    bool attention_biases;
    int key_width, value_width;
    bool hard;
    cell_settings cells;
    /* Rows of each model. */
    int width;
    heed_real dropout;
    double init_std;
} decoder_settings;
extern const heed_option heed__decoder_options[]; /* of the attention */

typedef struct {
    heed_tensor *target;     /* (V,d): embeddings */
    heed_dropout_layer drop; /* of embeddings */
    heed_rnn cells;
    bool fixed;          /* no attention: one fixed c for all steps */
    bool hard;           /* all weight on one h_i */
    const char *context; /* the name of that c */
    char init[32];       /* initial values; "": the layers' defaults */
    heed_attention_layer attend;
    heed_linear head;
} decoder;

/* What the decoder reads, and its state. */
typedef struct {
    heed_attention_kv memory;
    heed_tensor *context; /* (B,1,h): c, without attention */
    heed_tensor *origin;  /* (B,S) or NULL: c as weights of the memory, for probes */
    bool stepping;        /* tokens are read in several calls, each from the state after the last */
    heed_tensor *state[HEED_RNN_LAYERS]; /* (B,S): s_0, or the current s */
} decoder_reading;

/* Reads the settings; before heed__decoder_init. */
void heed__decoder_read(decoder *m, const decoder_settings *set);
/* Makes decoder.* and head: `layers` recurrent layers that attend to vectors of width `memory`, or
 * read a fixed context of that width, and a head for `vocab` tokens. */
bool heed__decoder_init(decoder *m, heed_params *s, const decoder_settings *set, int layers,
                        int memory, int vocab);
/* Initial values of the model's other parameters by the setting init-std; NULL: the default. */
const char *heed__decoder_initial(const decoder *m);
/* Sets what r holds of a memory h (B,S,d), pad (B,S) or NULL. */
void heed__decoder_attend_to(const decoder *m, heed_tape *t, heed_tensor *h, heed_tensor *pad,
                             decoder_reading *r);
/* ids (B,T) -> (B,T,..), what the head reads; advances r's state. */
heed_tensor *heed__decoder_apply(const decoder *m, heed_tape *t, heed_tensor *ids,
                                 decoder_reading *r);

/* The members `attending` and `average` of heed_model: one layer with one head, target tokens over
 * the memory. */
bool heed__decoder_attending(const decoder *m, int index, heed_attention_info *out);
void heed__decoder_average(decoder *m, bool on);

/* The members of heed_steps. heed__decoder_keep is called at the end of `read`; count: S. */
bool heed__decoder_keep(const decoder *m, const decoder_reading *r, int count, heed_source *out);
size_t heed__decoder_state(const decoder *m, const heed_source *source);
void heed__decoder_start(const decoder *m, const heed_source *source, heed_real *state);
heed_tensor *heed__decoder_next(const decoder *m, heed_tape *t, const heed_source *source,
                                heed_real *state, heed_tensor *ids);

/* ---- block_decoder.c ---- The Transformer's decoder, of seq2seq and caption: blocks with causal
 * self-attention and attention to a memory. Vaswani et al. 2017, sec. 3.1. */

typedef struct {
    heed_tensor *target; /* (V,d): embeddings */
    heed_real scale;     /* factor of the embeddings: sqrt(d), or 1 */
    heed_position place;
    heed_dropout_layer drop; /* of embeddings */
    int layers, len;
    bool recompute; /* as in block_stack */
    double beta;    /* as in block_stack */
    heed_block block[MODEL_LAYERS];
    heed_norm norm; /* pre-norm only; else gain NULL */
    heed_linear head;
} block_decoder;

/* Makes decoder.N, with attention to memory like that to the target itself except for a.cross. The
 * caller sets or makes the other fields. */
void heed__block_decoder_init(block_decoder *m, heed_params *s, heed_block_args a);
/* ids (B,T) at positions [from, from + T), memory (B,S,d), pad (B,S) or NULL -> (B,T,d), what the
 * head reads; caches: two per layer, or NULL. */
heed_tensor *heed__block_decoder_apply(const block_decoder *m, heed_tape *t, heed_tensor *memory,
                                       heed_tensor *pad, heed_tensor *ids, int from,
                                       heed_cache *caches);
/* Describes self-attention layers from index 0, then those attending to the memory. */
bool heed__block_decoder_attending(const block_decoder *m, int index, heed_attention_info *out);

/* The members of heed_steps. heed__block_decoder_keep is called at the end of `read`. */
bool heed__block_decoder_keep(const block_decoder *m, heed_tape *t, heed_tensor *memory,
                              heed_source *out);
size_t heed__block_decoder_state(const block_decoder *m);
heed_tensor *heed__block_decoder_next(const block_decoder *m, heed_tape *t,
                                      const heed_source *source, heed_real *state, int at,
                                      heed_tensor *ids);

/* ---- choose.c ---- Settings that models choose by the data of a training run: members `choose`
 * and `choices` of heed_model. */

/* Masked and causal language models. */
bool heed__choose_mlm(heed_choices *k);
bool heed__choose_gpt(heed_choices *k);

bool heed__choose_seq2seq(heed_choices *k);
bool heed__choose_rnn(heed_choices *k);

bool heed__choose_cnn(heed_choices *k);
bool heed__choose_caption(heed_choices *k);
bool heed__choose_vit(heed_choices *k);

#endif
