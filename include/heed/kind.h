/* heed/kind.h -- the data that models read: batches, the kinds of data and their settings, opening
 * data by settings, and reading one input as a model does. */
#ifndef HEED_KIND_H
#define HEED_KIND_H

#include <heed/image.h>
#include <heed/record.h>
#include <heed/tokenizer.h>

HEED_EXPORT_BEGIN

/* ---- batches ---- */

/* One batch, owned by the data until its next batch. */
typedef struct {
    int rows, len;          /* B, T */
    const int32_t *ids;     /* (B,T); for pictures with captions: what the decoder reads */
    const int32_t *pad;     /* (B,T), 0 at padding; NULL: no padding */
    const heed_real *x;     /* (B,T): inputs of models without tokens, with labels (B); pixels of
                               pictures with captions (B, size size channels); else NULL */
    int src_len;            /* S; for pairs of texts: */
    const int32_t *src;     /* (B,S): the source, or the text of a label */
    const int32_t *src_pad; /* (B,S), 0 at padding */
    const int32_t *labels;  /* mlm: (masked_count); gpt: (B,T), -100 at padding */
    const int32_t *masked_positions; /* mlm: flat positions b*T + t that carry the loss */
    int masked_count;
    const heed_real
        *class_weights; /* (classes): factors of the loss by label, in the training
                           batches of a balanced data set (the setting balance); NULL: 1 */
    int classes;
    double label_weight; /* with class_weights: their sum over the labels */
    size_t items; /* tokens without padding. Without masked_positions, the number of terms that the
                 loss averages: labels, pictures. 0: rows */
    size_t label_bytes; /* text bytes that the labels cover, including white space before them (for
                           bits per byte); at most 4095 per token */
} heed_batch;

typedef struct {
    bool val;        /* fixed evaluation batches, in order; else random training batches */
    uint64_t index;  /* step, or number of the evaluation batch */
    uint32_t micro;  /* micro-batch within the step */
    uint32_t micros; /* micro-batches per step; 0 means 1 */
    int rows;        /* B; the last evaluation batch may have fewer */
    bool full_batch; /* training: batches 0, 1, ... are the first epoch only, so the last one may
                        have fewer rows (full-batch gradient descent) */
    bool sample;  /* evaluation: in a seeded order, so that the first batches are a fair sample */
    double share; /* masked texts: of the tokens that are predicted; 0: 0.15 */
} heed_batch_at;

/* The patches of row `row` of a batch that a masked auto-encoder hides: `hidden` of 0 .. patches -
 * 1, in ascending order, each choice equally likely. They depend only on the seed and the row's
 * number in the training, or in the evaluation, where they are always the same. out (hidden) */
void heed_masked_patches(heed_ctx *c, heed_batch_at at, int row, int patches, int hidden,
                         int32_t *out);

/* ---- lines of two texts, before they are data ---- */

typedef enum {
    HEED_TARGET_TEXT,    /* source TAB target: sequence to sequence */
    HEED_TARGET_CLASSES, /* label TAB text: one label per text */
    HEED_TARGET_TAGS,    /* words TAB labels, both separated by spaces, equally many: one label per
                            word */
    HEED_TARGET_CAPTIONS /* file TAB caption: a picture's file */
} heed_target_kind;

/* A pair as text: line number, both sides, and in a TSV the first further column, if any (not
 * zero-terminated). */
typedef struct {
    size_t line, source_n, target_n, note_n;
    const char *source, *target, *note;
} heed_pair;

/* What lines are, to choose settings for them. */
typedef struct {
    size_t pairs;   /* of the training part */
    size_t several; /* sources of several words */
    int classes;    /* different labels */
    size_t longest; /* bytes of the longest of them */
    bool conll;     /* of tags: a CoNLL file */
} heed_lines;
/* Reads the lines of a file as those of a kind. columns, header: as the settings of that name; NULL
 * is as "" and "auto". texts: gets all sources and all targets, one per line, which the caller
 * frees; or NULL. False with an error if they are not of the kind. */
bool heed_lines_read(heed_ctx *c, const char *path, heed_target_kind kind, const char *columns,
                     const char *header, heed_lines *out, heed_text texts[2]);

/* ---- data sets ---- */

typedef struct heed_data heed_data;
typedef struct heed_reader heed_reader;
typedef struct heed_example heed_example;

/* What applies besides the settings. All zeros: for training, with a new tokenizer. */
typedef struct {
    const char *run; /* a run's folder, whose tokenizers are opened; NULL: as the settings say */
    heed_tokenizer *tokenizer, *source; /* of an open run, used instead; not closed with the data */
    const char *const *labels;          /* of a run; NULL: from the data */
    int label_count;
    bool eval;   /* for evaluation: the settings are a run's */
    bool all;    /* data other than the run's: evaluation reads all of it, or its parts */
    bool extend; /* characters of the data are added to a tokenizer of characters that the settings
                    name by a path */
    const char *part; /* pictures, with eval: "train", "val" or "test"; NULL or "auto": the test
                         part if there is one, else validation, else training */
    /* TOKENS: a run whose kept tokens are used if they are of this text, by checksum, and of this
     * tokenizer, by digest; or NULL. */
    const char *cache;
    /* TOKENS: of a file of at most so many bytes, also count lines, and those of validation that
     * are in the training part too, for which the files are read again; 0: of none. */
    uint64_t census;
    heed_progress progress; /* TOKENS: of reading the text; or NULL */
    void *user;
} heed_data_args;

/* A setting that was chosen by the data, with the reason. */
typedef struct {
    char what[160]; /* "packing lines, block 16" */
    char why[120];
} heed_choice;

/* A prediction of the model on an input: row `row` of its logits, about one position of an axis. */
typedef struct {
    int axis, query, row; /* query -1: about the entire input */
    char says[32];        /* what is predicted there: "token 5", "the class", "[MASK]" */
} heed_example_question;

/* ---- scores ---- */

/* How BLEU divides texts, as `--tokenize` of sacreBLEU 2.6 names it: words and marks (13a); the
 * same with every Chinese character and sign a token (zh); every character a token (char). */
typedef enum { HEED_BLEU_13A, HEED_BLEU_ZH, HEED_BLEU_CHAR } heed_bleu_tokens;

/* Corpus BLEU of Papineni et al. 2002 as sacreBLEU counts it: n-grams up to 4, exponential
 * smoothing of zero counts only, brevity penalty. Counts are summed over sentences. Zero-initialise
 * it, which means HEED_BLEU_13A. */
typedef struct {
    heed_bleu_tokens tokens;
    size_t match[4], total[4], length, reference;
    size_t longest; /* tokens of the longest sentence on either side: under 4, BLEU is always 0 */
    size_t spaced, chinese, unspaced; /* letters of the references */
} heed_bleu;

/* Sums over evaluation batches; training divides them. */
typedef struct {
    double loss, weight;    /* sums of loss * items and of items, which the loss averages over */
    double correct, total;  /* correct predictions, and all predictions */
    double top5;            /* predictions whose label is among the five most probable */
    double bytes;           /* bytes of the predicted text: bits per byte = loss / ln 2 / bytes */
    double squares, pixels; /* squared errors of pixels from 0 to 1, and numbers that they sum */
} heed_score;

/* The prediction for one item whose label is known. */
typedef struct {
    int label, predicted;
    int rank; /* classes besides the label that are at least as probable as it: 0 is correct. A tie
                 counts against the label, so rank may be above 0 where predicted is the label */
    double p, loss; /* p of the predicted class; -log p of the label */
} heed_prediction;
/* Computes it from a row of logits (classes); the lowest index wins a tie. 0 <= label < classes. */
heed_prediction heed_prediction_of(const heed_real *logits, int classes, int label);
/* Adds a prediction to a score. */
void heed_score_prediction(heed_score *s, const heed_prediction *one, bool correct);

/* What an evaluation has found. heed_scores_free frees its memory. */
typedef struct {
    const heed_data *data;
    heed_score sum;
    heed_prediction *list;              /* (count): of classes, in the order of the data */
    size_t count, capacity, *confusion; /* (classes,classes), once described: how often each
                                            class was predicted, rows by label */
    struct heed__entities *entities[2]; /* of tags: by seqeval's default mode, and strictly */
    size_t made, exact, unended;        /* targets that were made; those that did not end */
    double log_probability;             /* their sum */
    heed_bleu bleu;
    int beam;            /* 0, 1: greedy */
    int patches, hidden; /* of a picture: those that the model hides, of all */
} heed_scores;
void heed_scores_free(heed_scores *s);
/* BLEU of the targets; NAN if none has four tokens. The name of its tokens: "13a". */
double heed_scores_bleu(const heed_scores *s, const char **tokens);

/* An input as the data has it, with the targets that are right for it. Zero-initialise but for c of
 * the texts; heed_item_free. */
typedef struct {
    bool unseen;          /* the picture is not to be read */
    heed_text source;     /* the text; of a picture, the name of its file */
    heed_picture picture; /* as stored; no pixels: the input is a text */
    heed_text targets;    /* each ended by a zero byte */
    size_t count;         /* targets */
    heed_pair pair;       /* of pairs */
} heed_item;
void heed_item_free(heed_item *i);

/* ---- kinds ---- */

/* A kind of data and of what is predicted from it: all that other code knows of it. What is NULL, 0
 * or false does not apply. */
typedef struct {
    const char *noun;    /* "a text file" */
    const char *reads;   /* what one input is, in the plural: "texts" */
    const char *item;    /* the unit of rates: "tok" */
    const char *items;   /* what a batch holds: "tokens" */
    const char *label;   /* what is classified: "picture", "text", "word"; NULL: nothing is */
    const char *use;     /* the program's command for a trained model: "fill"; NULL: "eval" */
    const char *example; /* a name of such data: "book.txt"; NULL: the model makes its own data */
    int files;       /* files that are such data together: a text each, or two parallel texts; 0: as
                        many as there are */
    bool perplexity; /* losses are also shown as perplexity */
    bool mask;       /* [MASK] stands for what is predicted, texts are between [CLS] and [SEP] */
    bool split;      /* the checksum depends on what is kept for validation */
    int ahead;       /* a position's row of logits predicts the token so many positions after it */
    /* Its settings, ended by {0}. Those of texts have `tokenizer`, those of tables (CSV, TSV, JSON
     * lines) `columns`. */
    const heed_option *options;
    bool (*open)(heed_data *d, heed_config *f, const heed_data_args *a);
    void (*close)(heed_data *d);
    /* The number of items of a class in the training part; label -1: of all classes. */
    size_t (*count)(const heed_data *d, int label);
    /* One batch; how many batches an evaluation has, and an epoch. NULL: the model makes them. */
    bool (*batch)(const heed_data *d, heed_batch_at at, heed_batch *out);
    uint64_t (*eval_batches)(const heed_data *d, int rows);
    uint64_t (*epoch_batches)(const heed_data *d, int rows);
    /* Reads the target of an input: a text. NULL: inputs have none. */
    bool (*target)(const heed_reader *r, const char *text, size_t n, heed_example *out);
    /* Lists what is predicted of an input with so many positions: at most one question more than
     * these, in out. Returns their number. NULL: the input itself is predicted, not chosen. */
    int (*ask)(const heed_reader *r, const heed_example *e, int positions,
               heed_example_question *out);
    /* How many inputs the training part has, or (val) the part that evaluation reads, and one of
     * them. NULL: they are only read in batches. */
    size_t (*inputs)(const heed_data *d, bool val);
    bool (*input)(const heed_data *d, bool val, size_t index, heed_item *out);
    const char *made;                           /* "pairs translated": inputs and what is done */
    heed_images *(*images)(const heed_data *d); /* its pictures; NULL: no input is one */
    void (*begun)(const heed_data *d, const char *run); /* a run of a training was made */
    /* Adds the answers of a batch: rows of logits. NULL: the model's loss and metrics are added. */
    bool (*score)(heed_scores *s, const heed_batch *b, const heed_real *logits, size_t rows);
    /* Adds what an evaluation has found. NULL: the measures of heed_score. */
    bool (*report)(heed_scores *s, heed_facts *out);
    /* Adds what data holds and what is wrong with it. NULL: how many items the training part has.
     */
    bool (*describe)(const heed_data *d, const heed_config *f, heed_facts *out);
} heed_data_kind;

/* Texts, whose masked or next tokens are predicted; pictures with classes, or as they are; pairs of
 * texts; texts with a label each, or one for each word; pictures with captions. */
extern const heed_data_kind heed_texts_masked, heed_texts_next, heed_pictures_classes,
    heed_pictures_same, heed_text_pairs, heed_texts_labelled, heed_texts_tagged,
    heed_pictures_captioned;
/* Numbers that the model makes itself, with one prediction for all, or one for each position. */
extern const heed_data_kind heed_own_numbers, heed_own_positions;

/* An open data set. */
struct heed_data {
    heed_ctx *c;
    const heed_data_kind *kind;
    void *batches;                      /* the kind's own */
    heed_tokenizer *tokenizer, *source; /* source: a separate one for the source side, or NULL */
    uint64_t checksum;
    bool tree;                 /* a folder of folders, whose names are the classes */
    bool no_val;               /* there is no validation part */
    heed_part part;            /* the part that evaluation reads, unless `all` */
    bool all;                  /* evaluation reads all the data */
    bool is_val;               /* the data is what a run had as `val` in training: heed_run_data */
    const char *const *labels; /* names of the classes that the model predicts, or NULL */
    int label_count;
    double unknown;                 /* TOKENS: share that the vocabulary does not know */
    const char *sided;              /* heed_images_info's; NULL: not of pictures */
    const heed_real *class_weights; /* of training batches, by the setting `balance`; or NULL */
    heed_choice found;              /* a setting that opening has chosen; "": none */
};
/* Opens what the setting `data` names, by the settings of its kind, and completes f by what is
 * found there (image-size, channels, classes, mean, std, flip). f contains the options of the kind
 * and of the model. The tokenizer is trained, or opened if the setting `tokenizer` is a path. Owned
 * by c. NULL on error: see c. */
heed_data *heed_data_open(heed_ctx *c, heed_config *f, const heed_data_kind *kind,
                          const heed_data_args *a);
void heed_data_close(heed_data *d);
/* Adds what the data holds to out, by its kind. f: the settings that it was opened by. False on
 * error. */
bool heed_data_describe(const heed_data *d, const heed_config *f, heed_facts *out);
/* The number of items of a class in the training part: pictures, texts, or words with a label.
 * label -1: of all classes. */
size_t heed_data_count(const heed_data *d, int label);

/* ---- pictures by settings ---- */

const char *heed_part_name(heed_part part); /* "train", "val", "test", "all" (HEED_PARTS) */
/* The transform of pictures in a run with settings f. False, with an error, without mean and std.
 */
bool heed_image_transform_of(heed_ctx *c, const heed_config *f, heed_image_transform *out);
heed_augment heed_augment_of(const heed_config *f);
/* Appends "flip 0.5, pad 2", or "none". */
void heed_augment_text(const heed_augment *a, heed_text *out);

/* ---- one input ---- */

/* How inputs are read: a run's settings and tokenizers. */
struct heed_reader {
    heed_ctx *c;
    const heed_data_kind *kind;
    const heed_config *config; /* block; for pictures image-size, channels, mean and std */
    const heed_tokenizer *tokenizer, *source; /* source NULL: the same for both sides */
    bool any_length;                          /* a text may be empty, or longer than the block */
    bool empty; /* a text after a special token, [CLS], may be empty */
    bool cut;   /* a source that is too long is cut */
    bool quiet; /* do not warn about words that the vocabulary lacks */
    bool show;  /* keep the picture for display, in `shown` */
};

/* Tokens and the parts of a text that they cover. */
typedef struct {
    heed_tokens
        tokens;    /* as the model reads them; begin and end: bytes, equal for inserted tokens */
    char **labels; /* the text of each token; for an unknown one, the input's text */
    unsigned char *special; /* 1: [CLS], [SEP], [PAD] or a newline */
} heed_sequence;

enum { HEED_NO_TOKEN = INT32_MAX, HEED_EXAMPLE_AXES = 3 };

/* One input. Zero-initialise; free with heed_example_free. A reader fills what stands before
 * `title`; heed_run_text and the like (inspect.h) fill all, for the analyses. */
struct heed_example {
    char *title;          /* the input in one line; for a pair or a caption, "source -> target" */
    heed_sequence text;   /* a text, or the source of a pair */
    heed_sequence target; /* for a pair or a caption: its tokens and, if it ended, [SEP] */
    size_t *words;        /* with a label per word: the first token of each; HEED_NO_TOKEN: cut */
    size_t cut; /* tokens of a labelled text that are not read: it is longer than the block */
    size_t word_count, word_capacity;
    heed_image_transform transform; /* for a picture: */
    heed_real *x;                   /* pixels (1,size,size,channels), or numbers (1,T) or (1,T,d) */
    int dims, shape[HEED_DIMS];     /* of x */
    heed_picture shown; /* the square that the model sees, at most 224 pixels wide; with `show` */
    bool cropped;       /* `shown` is the centre of a picture that is not square */
    int32_t *read;      /* what the decoder reads: [CLS] and the target without its last token */
    /* "text", "picture" or "input"; for a pair, "source", "target" and "target input", of `read`;
     * for a picture with a caption, "picture" and the latter two. A picture model without a grid of
     * patches has the positions that it attends to as "input", or no axes if it does not attend. */
    heed_record_axis axes[HEED_EXAMPLE_AXES];
    int axis_count, question_count;
    heed_example_question *questions; /* of masked tokens, one for each [MASK] */
    void **owned;                     /* the memory of labels, title, axes and questions */
    size_t owned_count, owned_capacity;
};

/* Reads a text, or the source of a pair, as the model does: between [CLS] and [SEP] if bracketed; a
 * source and a labelled text end with [SEP]. Replaces what was read before. A labelled text that is
 * longer than the block is cut as in training, with a message. HEED_DATA for a text without tokens,
 * or another one longer than the block. */
bool heed_example_text(const heed_reader *r, const char *text, size_t n, heed_example *out);
/* Reads the target of a pair: a text, followed by [SEP]. */
bool heed_example_target(const heed_reader *r, const char *text, size_t n, heed_example *out);
/* Makes a target of tokens that were generated readable again: [SEP] follows if it `ended`. */
bool heed_example_made(const heed_reader *r, bool ended, heed_example *out);
/* Reads a picture, which is converted to the run's channels. name: for errors. */
bool heed_example_picture(const heed_reader *r, heed_picture *p, const char *name,
                          heed_example *out);
void heed_example_free(heed_example *e);
/* Checks that text is UTF-8 without NUL; if not, false with an error that names the byte. */
bool heed_check_text(heed_ctx *c, const char *text, size_t n);

HEED_EXPORT_END
#endif
