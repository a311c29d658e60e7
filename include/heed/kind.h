/* heed/kind.h -- the kinds of data that models read: their settings, data opened by settings, and
 * one input read as a model reads it. */
#ifndef HEED_KIND_H
#define HEED_KIND_H

#include <heed/image.h>
#include <heed/pairs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a model wants of its inputs, besides its settings. */
typedef struct {
    heed_input_kind kind;
    bool bracket;  /* TOKENS: [CLS] before a row or an input, [SEP] after it */
    bool masked;   /* TOKENS: the vocabulary has [MASK] */
    bool per_word; /* LABELLED: a label for each word of a text; else one for the text */
} heed_input_spec;

/* ---- data sets ---- */

typedef struct heed_data heed_data;

/* Besides the settings. Zeros: for a training, with a tokenizer of its own. */
typedef struct {
    const char *run; /* a run's folder, whose tokenizers are opened; NULL: by the settings */
    heed_tokenizer *tokenizer, *source; /* of a run at hand, used instead; not closed with it */
    const char *const *labels;          /* of a run; NULL: from the data */
    int label_count;
    bool eval;        /* for evaluation: the settings are a run's */
    bool whole;       /* of other data than the run's: evaluation reads all of it, or its parts */
    const char *part; /* pictures, with eval: "train", "val" or "test"; NULL or "auto": the test
                         part, else validation, else training */
} heed_data_args;

/* A kind of data: what is the same for all data sets of it. */
typedef struct {
    const char *noun;           /* "a text file" */
    const char *item;           /* what rates count: "tok" */
    bool perplexity;            /* its losses are of a language */
    const heed_option *options; /* its settings, ended by {0} */
    bool (*open)(heed_data *d, heed_config *f, const heed_data_args *a);
    void (*close)(heed_data *d);
} heed_data_kind;
/* The kind that a model of such inputs reads. */
HEED_API const heed_data_kind *heed_data_kind_of(heed_input_spec spec);

/* A data set that is open. */
struct heed_data {
    heed_ctx *c;
    const heed_data_kind *kind;
    heed_input_spec spec;
    void *batches; /* for model->batch: a heed_corpus, heed_images, heed_pairs */
    heed_tokenizer *tokenizer, *source; /* source: of the source's side alone, or NULL */
    uint64_t checksum;
    bool tree;                 /* a folder of folders, whose names are the classes */
    bool no_val;               /* there is no validation part */
    heed_part part;            /* that evaluation goes over, */
    bool whole;                /* unless it goes over all there is */
    const char *const *labels; /* names of the classes, or NULL */
    int label_count;
};
/* Opens what the setting `data` names by the settings of its kind, and completes f by what is found
 * there (image-size, channels, classes, mean, std, flip). f holds the kind's options and the
 * model's. The tokenizer is made, or opened where the setting `tokenizer` is a path. Owned by c.
 * NULL: see c. */
HEED_API heed_data *heed_data_open(heed_ctx *c, heed_config *f, heed_input_spec spec,
                                   const heed_data_args *a);
HEED_API void heed_data_close(heed_data *d);

/* ---- pictures by settings ---- */

HEED_API const char *
heed_part_name(heed_part part); /* "train", "val", "test", "all" (HEED_PARTS) */
/* How a run of settings f sees a picture. False, with an error, where they lack mean and std. */
HEED_API bool heed_image_transform_of(heed_ctx *c, const heed_config *f, heed_image_transform *out);
HEED_API heed_augment heed_augment_of(const heed_config *f);
/* Whether all classes are named like digits, letters or numbers: mirrored, such a picture is
 * another one, or none. */
HEED_API bool heed_images_are_symbols(const heed_images *k);

/* ---- one input ---- */

/* What inputs are read by: of a run, its settings and tokenizers. */
typedef struct {
    heed_ctx *c;
    heed_input_spec spec;
    const heed_config *config; /* block; of pictures image-size, channels, mean and std */
    const heed_tokenizer *tokenizer, *source; /* source NULL: the same for both sides */
    bool any_length;                          /* a text may be empty, or longer than the block */
    bool cut;     /* a source or a labelled text that is too long is cut */
    bool quiet;   /* no warning of words that the vocabulary lacks */
    bool convert; /* a picture of other channels is converted */
    bool show;    /* a picture is kept as it is shown */
} heed_reader;

/* Tokens, with what they are of a text. */
typedef struct {
    heed_tokens tokens;     /* ids as the model reads them; begin and end: bytes of the text, equal
                               for tokens that were put in */
    char **labels;          /* the text of each token; of the input where the vocabulary lacks it */
    unsigned char *special; /* 1: [CLS], [SEP], [PAD] or a newline */
} heed_sequence;

/* One input. Zero-initialise; free with heed_example_free. */
typedef struct {
    heed_sequence text;   /* a text, or the source of a pair */
    heed_sequence target; /* of a pair: its tokens and, if it ended, [SEP] */
    size_t *words;        /* with a label per word: the first token of each */
    size_t word_count, word_capacity;
    heed_image_transform transform; /* of a picture: */
    heed_real *x;                   /* as the model takes it, (size,size,channels) */
    heed_picture shown; /* the square that the model sees, at most 224 pixels wide; with `show` */
} heed_example;

/* A text, or the source of a pair, as the model reads it: between [CLS] and [SEP] if it is
 * bracketed, a source and a labelled text with [SEP] at their end. Replaces what was read before.
 * HEED_DATA for a text without tokens, or longer than the block. */
HEED_API bool heed_example_text(const heed_reader *r, const char *text, size_t n,
                                heed_example *out);
/* The target of a pair: a text, or n tokens that a model made and, if they ended, [SEP]. */
HEED_API bool heed_example_target(const heed_reader *r, const char *text, size_t n,
                                  heed_example *out);
HEED_API bool heed_example_made(const heed_reader *r, const int32_t *ids, size_t n, bool ended,
                                heed_example *out);
/* Tokens of a text that are known already. */
HEED_API bool heed_example_tokens(const heed_reader *r, const int32_t *ids, size_t n,
                                  heed_example *out);
/* A picture, which is brought to the channels of the run if they agree or `convert` says so. name:
 * for errors. */
HEED_API bool heed_example_picture(const heed_reader *r, heed_picture *p, const char *name,
                                   heed_example *out);
HEED_API void heed_example_free(heed_example *e);
/* False, with an error that names the byte, for what is not UTF-8 or has a NUL. */
HEED_API bool heed_check_text(heed_ctx *c, const char *text, size_t n);

#ifdef __cplusplus
}
#endif
#endif
