/* heed/model.h -- the description of a model: one const heed_model, which is all that heed_train,
 * the analyses, the decoder and the program know about it. */
#ifndef HEED_MODEL_H
#define HEED_MODEL_H

#include <heed/kind.h>
#include <heed/nn.h>

HEED_EXPORT_BEGIN

/* One batch of inputs as tensors on the tape; NULL: absent. */
typedef struct {
    heed_tensor *x; /* ids (B,T) of texts and sources, pixels (B,H,W,channels), or dense numbers */
    heed_tensor *pad;              /* index (B,T), 0 at padding; NULL: no padding */
    heed_tensor *types;            /* ids (B,T) of segments; NULL: all 0 */
    heed_tensor *target;           /* ids (B,U) that a decoder reads: the target shifted right */
    heed_tensor *masked_positions; /* index (n), flat positions b T + t: the tokens to predict; of
                                      pictures, the patches to hide, as many of each. NULL: all
                                      positions; of pictures, none */
} heed_model_input;

/* An attention layer of a model, by its settings and parameters. Its probes are PATH.weights
 * (B,heads,T,S), or (B,T,S) for one head, and whatever else its op keeps. Queries and keys are
 * positions of x. In a model of pairs or captions, those of the decoder are positions of its input,
 * and cross attention has target queries and keys of the source, which for a picture are the cells
 * of the grid. */
typedef struct {
    const char *path; /* "encoder.0.attn" */
    heed_stack stack;
    int layer;      /* from 0, within its stack */
    int heads;      /* at least 1 */
    int kv_heads;   /* heads of keys and values, see heed_mha_args; 0: heads */
    int key, value; /* widths of a head's keys and values */
    double rotary;  /* theta of the rotary positions of queries and keys; 0: none */
    double beta;    /* factor of the scores */
    bool causal, hard;
    bool additive;          /* scores are align' tanh(q + k), not a product. Bahdanau et al. 2015 */
    bool fixed;             /* not attention: the fixed weights that form a single context */
    const heed_real *align; /* (heads, key) of the additive form; else NULL */
} heed_attention_info;

/* The patches of a picture among the positions of attention. */
typedef struct {
    int rows, cols; /* patches in row-major order */
    int first;      /* position of the first patch; earlier positions are not patches */
    int hidden;     /* patches of a picture that training and evaluation hide, those of
                       heed_masked_patches; 0: none */
} heed_grid;

/* An encoded source, for output generated step by step. The kept tensors live on the tape that
 * encoded it, until that tape's next begin. An op in `next`, which has another tape, takes
 * heed_wrap(t, kept->x, kept->dims, kept->shape). */
enum { HEED_STEPS_KEPT = 128 };
typedef struct {
    int count;                          /* tokens of the source, or cells of the grid */
    heed_tensor *kept[HEED_STEPS_KEPT]; /* for the model's use */
} heed_source;

/* Output generated step by step, one hypothesis at a time or several. A hypothesis is the tokens so
 * far and a state, an array of numbers that the decoder owns and copies to branch. */
typedef struct {
    int (*length)(const void *self); /* the most tokens that a hypothesis, and a source, may have */
    /* Reads one source: ids (1,S), or a picture (1,H,W,channels). NULL: it reads no source, and the
     * source below is NULL. */
    bool (*read)(const void *self, heed_tape *t, heed_tensor *source, heed_source *out);
    size_t (*state)(const void *self, const heed_source *source); /* numbers in the state */
    /* The state before the first token; NULL: its values do not matter. */
    void (*start)(const void *self, const heed_source *source, heed_real *state);
    /* Logits (..., V) whose last row predicts the token after ids (1,n), the tokens at positions
     * [at, at + n), which must be within length; the state is advanced. */
    heed_tensor *(*next)(const void *self, heed_tape *t, const heed_source *source,
                         heed_real *state, int at, heed_tensor *ids);
    /* next also accepts B hypotheses of the same length: ids (B,n), their states one after the
     * other -> logits (B, ..., V), of which the last row of each predicts its next token. The bits
     * of a hypothesis must not depend on the others. */
    bool batched;
} heed_steps;

/* A named set of settings, for --preset NAME. */
typedef struct {
    const char *name, *help;
    const char *settings; /* "layers=2 heads=4 ..." */
    bool workload;        /* a benchmark: heed bench times its training steps */
} heed_preset;

/* A small model with these settings for the gradient check; its name is appended to the model's. */
typedef struct {
    const char *name; /* "pre-norm"; "": the model's name alone */
    const char *settings;
} heed_model_case;

/* Settings chosen by the data, in groups that have one reason. */
enum { HEED_CHOICES = 12 };
typedef struct {
    heed_config *config;
    const heed_data *data;   /* NULL: it is not open yet */
    const heed_option *only; /* of a training run that starts from a run: settings that may be
                                chosen; NULL: all */
    heed_choice list[HEED_CHOICES];
    int count;
} heed_choices;
/* For `choose` of a model: sets those of "packing=lines block=16" that were not given, at
 * HEED_FROM_PRESET, and notes those that differ from the default, with the reason. */
bool heed_choose(heed_choices *k, const char *settings, const char *why, ...) HEED_PRINTF(3, 4);

typedef struct {
    const char *name, *help;
    /* What the model reads and predicts; NULL: heed_own_numbers. Rows of its logits: of classes,
     * (B,C); of masked tokens, (n,V), one per masked position; of next tokens, (B,T,V); of labels
     * of words and of targets, (B,T,V), where row t is about position t; of pictures as they are,
     * (B,H,W,channels), normalised as the input. */
    const heed_data_kind *data;
    const char *embedding; /* path of the node that embeds x: "embed.token"; NULL: there is none.
                              A model may lack the node where its grid is false */
    /* The model's settings, ended by {0}. Its kind of data requires: block and vocab of texts; also
     * classes of those with labels; image-size, channels and classes of pictures; block and vocab,
     * too, of their captions. */
    const heed_option *options;
    size_t set;           /* bytes of the struct that they are bound to */
    const char *defaults; /* of these and of shared settings: "lr=0.003 best=accuracy"; or NULL */
    const heed_preset *presets;   /* ended by {0}; or NULL */
    const heed_model_case *cases; /* ended by {0}; or NULL */
    size_t size;                  /* bytes of the model's struct, zeroed before init */
    /* Creates the parameters in s as the settings say: set is the bound struct, valid until init
     * returns. `vocab` is the tokenizer's actual size. The model is refused by false or by an error
     * in s's context. */
    bool (*init)(void *self, heed_params *s, const void *set);
    /* Makes the batch at `at`. If these three are NULL, those of the kind of data are used. data:
     * that of heed_train_args. */
    bool (*batch)(void *self, const heed_data *data, heed_batch_at at, heed_batch *out);
    uint64_t (*eval_batches)(void *self, const heed_data *data, int rows); /* evaluation batches */
    uint64_t (*epoch_batches)(void *self, const heed_data *data,
                              int rows); /* training batches in an epoch */
    heed_tensor *(*logits)(const void *self, heed_tape *t, const heed_model_input *in);
    heed_tensor *(*loss)(void *self, heed_tape *t, const heed_batch *b); /* a scalar */
    /* Adds to score; called after loss, in eval mode. */
    void (*metrics)(void *self, const heed_batch *b, heed_score *score);
    /* Describes attention layer `index`, from 0; those of a stack are adjacent. False after the
     * last. NULL: none. */
    bool (*attending)(const void *self, int index, heed_attention_info *out);
    /* For ablation of layers whose values are not rows of the parameter PATH.qkv, or PATH.kv for
     * cross attention (see heed_mha_rows): while on, their attention weighs all keys equally. NULL:
     * there are none. Heads that share values have columns of PATH.out. */
    void (*average)(void *self, bool on);
    bool (*grid)(const void *self, heed_grid *out); /* NULL: positions are not patches */
    /* Sets in f the sizes that init chose by the data where the setting is 0, for a training run
     * that starts from these weights with other data. NULL: it chooses none. */
    bool (*chosen)(const void *self, heed_config *f);
    /* Chooses settings by the data of a new training run, by heed_choose: before the data is opened
     * those that opening needs, by the file that the setting `data` names, and afterwards, with
     * k->data, the others. NULL: it chooses none. */
    bool (*choose)(heed_choices *k);
    const char *choices;     /* the settings that `choose` may set: "packing block"; or NULL */
    const heed_steps *steps; /* NULL: output is not generated step by step */
    /* What the model makes of each input as (B,k): a classifier's features, an auto-encoder's code.
     * NULL: there is no such layer. */
    heed_tensor *(*code)(const void *self, heed_tape *t, const heed_model_input *in);
    const struct heed_hf_map *published; /* how others publish it: exchange.h; or NULL */
} heed_model;

/* m->data; heed_own_numbers if that or m is NULL. */
const heed_data_kind *heed_model_data(const heed_model *m);
/* Creates the parameters of m in s by its init and, if f has the setting `lora` above 0, adapters
 * of that rank at the weights that `lora-targets` names. self: m->size bytes of zeros. False with
 * an error if the model refuses its settings, or a target matches nothing. */
bool heed_model_init(const heed_model *m, void *self, heed_params *s, const heed_config *f);
/* The model's batch, or that of its kind of data; the same of how many there are. */
bool heed_model_batch(const heed_model *m, void *self, const heed_data *data, heed_batch_at at,
                      heed_batch *out);
uint64_t heed_model_eval_batches(const heed_model *m, void *self, const heed_data *data, int rows);

/* The settings of these tables (ended by NULL), then the model's and those that every training run
 * shares, at the model's defaults. If a name is in several, the first applies. tables NULL: none.
 */
heed_config *heed_model_config(heed_ctx *c, const heed_model *m, const heed_option *const *tables);

/* Applies the named preset to the keys that f has, at HEED_FROM_PRESET. An unknown name is an error
 * that lists the model's presets. */
bool heed_preset_apply(heed_ctx *c, heed_config *f, const heed_model *m, const char *name);

HEED_EXPORT_END
#endif
