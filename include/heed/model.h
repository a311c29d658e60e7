/* heed/model.h -- what a model says about itself: one const heed_model, which is all that heed_fit,
 * the analyses, the decoder and the program know of it. */
#ifndef HEED_MODEL_H
#define HEED_MODEL_H

#include <heed/kind.h>
#include <heed/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over evaluation batches; fit divides. */
typedef struct {
    double loss, weight;   /* sum of loss * items that the loss averages over, and of those items */
    double correct, total; /* correct predictions, and all */
    double top5;           /* label among the five most probable */
    double bytes; /* text bytes, all of them predicted: bits per byte = loss / ln 2 / bytes */
} heed_score;

/* What the rows of the logits answer. */
typedef enum {
    HEED_ANSWER_INPUT,  /* (B,C): one row for the whole input, its class */
    HEED_ANSWER_MASKED, /* (n,V): a row for each masked position, the token that stands there */
    HEED_ANSWER_NEXT,   /* (B,T,V): row t is about the token after position t */
    HEED_ANSWER_SAME    /* (B,T,V): row t is about position t itself: its label, or token t of the
                           target */
} heed_answer;

/* One batch of inputs as tensors of the tape; NULL: absent. */
typedef struct {
    heed_tensor *x;      /* ids (B,T) of texts and sources, pixels (B,H,W,channels), or numbers */
    heed_tensor *pad;    /* index (B,T), 0 at padding; NULL: no padding */
    heed_tensor *types;  /* ids (B,T) of segments; NULL: all 0 */
    heed_tensor *target; /* ids (B,U) that a decoder reads: the target shifted right */
    heed_tensor *masked_positions; /* index (n), flat positions b T + t; NULL: all positions */
} heed_model_input;

/* An attention layer of a model, as its settings and parameters make it. Its probes are
 * PATH.weights (B,heads,T,S), or (B,T,S) of one head, and what else its op keeps. Queries and keys
 * are positions of x; in a model of pairs those of the decoder are positions of what it reads, and
 * cross attention has queries of the target over keys of the source. */
typedef struct {
    const char *path; /* "encoder.0.attn" */
    heed_stack stack;
    int layer;      /* from 0, within its stack */
    int heads;      /* at least 1 */
    int key, value; /* widths of a head's keys and values */
    double beta;    /* what scores are multiplied by */
    bool causal, hard;
    bool additive;          /* scores are align' tanh(q + k), not a product. Bahdanau et al. 2015 */
    bool fixed;             /* no attention: the weights with which one fixed context is made */
    const heed_real *align; /* (heads, key) of the additive form; else NULL */
} heed_attending;

/* The patches of a picture among the positions of attention. */
typedef struct {
    int rows, cols; /* from top to bottom, from left to right; row by row */
    int first;      /* the position of the first one: positions before it are no patches */
} heed_grid;

/* A source that was read, for output made step by step. What is kept is on the tape that it was
 * read on, until the next begin of that. */
enum { HEED_STEPS_KEPT = 128 };
typedef struct {
    int count;                          /* tokens of the source */
    heed_tensor *kept[HEED_STEPS_KEPT]; /* the model's own */
} heed_source;

/* Output made step by step, one hypothesis at a time. A hypothesis is the tokens so far and a state
 * of numbers, which belongs to the decoder: copied, it is another hypothesis. */
typedef struct {
    int (*length)(const void *self); /* the most tokens that a hypothesis, and a source, may have */
    /* Reads one source, ids (1,S). NULL: the model reads no source, and the source below is NULL.
     */
    bool (*read)(const void *self, heed_tape *t, heed_tensor *ids, heed_source *out);
    size_t (*state)(const void *self, const heed_source *source); /* how many numbers */
    /* The state before the first token; NULL: its values do not matter. */
    void (*start)(const void *self, const heed_source *source, heed_real *state);
    /* Logits (..., V), of which the last row is about the token after ids (1,n), the tokens at
     * positions [at, at + n); the state goes on. Within length alone. */
    heed_tensor *(*next)(const void *self, heed_tape *t, const heed_source *source,
                         heed_real *state, int at, heed_tensor *ids);
} heed_steps;

/* A named set of settings, for --preset NAME. */
typedef struct {
    const char *name, *help;
    const char *settings; /* "layers=2 heads=4 ..." */
    bool workload;        /* a benchmark: heed bench times its training steps */
} heed_preset;

/* A small model of these settings for the gradient check; its name follows the model's. */
typedef struct {
    const char *name; /* "pre-norm"; "": the model's name alone */
    const char *settings;
} heed_model_case;

typedef struct {
    const char *name, *help;
    heed_input_kind kind;  /* what the model reads */
    heed_answer answers;   /* what its logits are about */
    bool bracket;          /* texts have [CLS] before and [SEP] after them */
    const char *embedding; /* path of the node that embeds x: "embed.token"; NULL: there is none, x
                              enters as it is */
    /* The model's own settings, ended by {0}. Its kind of data needs among them: TOKENS and PAIR
     * block and vocab, LABELLED those and classes, PICTURE image-size, channels and classes. */
    const heed_option *options;
    const char *defaults; /* of these and of shared settings: "lr=0.003 best=accuracy"; or NULL */
    const heed_preset *presets;   /* ended by {0}; or NULL */
    const heed_model_case *cases; /* ended by {0}; or NULL */
    size_t size;                  /* bytes of the model's struct, zeroed before init */
    /* Makes the parameters in s by the settings. `vocab` is the tokenizer's real size. False, or an
     * error in s's ctx: refused. */
    bool (*init)(void *self, heed_store *s, const heed_config *f);
    /* The batch at a place of the data. NULL for these three: those of the kind. */
    bool (*batch)(void *self, void *data, heed_batch_at at, heed_batch *out);
    uint64_t (*eval_batches)(void *self, void *data, int rows);  /* evaluation batches */
    uint64_t (*epoch_batches)(void *self, void *data, int rows); /* training batches in an epoch */
    heed_tensor *(*logits)(const void *self, heed_tape *t, const heed_model_input *in);
    heed_tensor *(*loss)(void *self, heed_tape *t, const heed_batch *b); /* a scalar */
    void (*metrics)(void *self, const heed_batch *b,
                    heed_score *score); /* after loss, in eval mode */
    /* The attention layers, from index 0 on, those of a stack together: false after the last one.
     * NULL: none. */
    bool (*attending)(const void *self, int index, heed_attending *out);
    /* For ablation where a layer has no values per head to switch off: while on, attention weighs
     * all keys alike. NULL: values of heads are rows of PATH.qkv, or PATH.kv of cross attention. */
    void (*average)(void *self, bool on);
    bool (*grid)(const void *self, heed_grid *out); /* NULL: positions are no patches */
    const heed_steps *steps;                        /* NULL: output is not made step by step */
} heed_model;

/* What the model wants of its inputs, by the members above. */
HEED_API heed_input_spec heed_model_spec(const heed_model *m);
/* The model's batch, or that of its kind: HEED_INPUT_TOKENS a heed_corpus (next tokens),
 * HEED_INPUT_PICTURE a heed_images, HEED_INPUT_PAIR and HEED_INPUT_LABELLED a heed_pairs. */
HEED_API bool heed_model_batch(const heed_model *m, void *self, void *data, heed_batch_at at,
                               heed_batch *out);
HEED_API uint64_t heed_model_eval_batches(const heed_model *m, void *self, void *data, int rows);
HEED_API uint64_t heed_model_epoch_batches(const heed_model *m, void *self, void *data, int rows);

/* The settings of these tables (ended by NULL), which count first, then the model's and those that
 * every training shares, at the model's defaults. tables NULL: none. */
HEED_API heed_config *heed_model_config(heed_ctx *c, const heed_model *m,
                                        const heed_option *const *tables);

/* Sets what the preset of that name says of the keys that f has, at HEED_FROM_PRESET. An unknown
 * name is an error that lists those of the model. */
HEED_API bool heed_preset_apply(heed_ctx *c, heed_config *f, const heed_model *m, const char *name);

#ifdef __cplusplus
}
#endif
#endif
