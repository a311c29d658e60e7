/* heed/data.h -- text to batches. A batch depends only on (seed, step, micro-batch). */
#ifndef HEED_DATA_H
#define HEED_DATA_H

#include <heed/tokenizer.h>

HEED_EXPORT_BEGIN

/* ---- text files ---- */
typedef struct { /* of the text as heed_text_read returns it */
    size_t bytes, characters;
    size_t lines, empty, longest; /* lines, those of no bytes, bytes of the longest */
    size_t
        continued; /* lines that begin in lower case, as those of prose that is broken at a width */
    size_t returns; /* carriage returns in the file: they are line ends, or part of one */
} heed_text_facts;
/* Reads a text file of any size; false, with an error, as heed_text_read. */
bool heed_text_survey(heed_ctx *c, const char *path, heed_text_facts *out);

/* ---- corpora ---- */
typedef struct heed_corpus heed_corpus;
typedef enum { HEED_BLOCKS, HEED_LINES } heed_packing;
typedef struct {
    heed_packing packing; /* blocks: windows of a stream; lines: one line per row, padded; a line
                             longer than block is cut, a line without a token is skipped */
    bool bracket;         /* put [CLS] .. [SEP] around each line or block, for masked batches */
    int block; /* T, specials included; with lines, the longest line rounded up to a multiple of 8
                  if that is less */
    double val_split; /* share kept for validation; 0: none, evaluation uses the training text */
    /* validation = the end of the file; else a random, seeded choice among 100 contiguous pieces
     * (fewer if the text is short); with lines, pieces are complete lines */
    bool tail;
    const char *val_path; /* a separate validation file instead, or NULL */
    bool eval;   /* for evaluation only, over the entire text, which may be shorter than a row */
    bool census; /* also count lines and overlap, for which the files are read again */
    const char *cache; /* a run's folder, whose kept tokens are used if they are of this text, by
                          checksum, and of this tokenizer, by digest; or NULL */
    bool keep;         /* heed_corpus_keep may write to a run */
} heed_corpus_args;
/* Reads the text file at path as tokens of k, which must outlive the corpus. Owned by c;
 * heed_corpus_close frees it before. NULL on error: HEED_USAGE for args out of range and for a
 * tokenizer without the special tokens that they need; HEED_DATA as for heed_text_read, and for a
 * text that is too short. */
heed_corpus *heed_corpus_open(heed_ctx *c, const char *path, const heed_tokenizer *k,
                              heed_corpus_args a);
void heed_corpus_close(heed_corpus *k);

typedef struct { /* training part; val_: validation part, 0 if there is none */
    size_t tokens, val_tokens, bytes, val_bytes;
    size_t unknown, val_unknown; /* tokens that are [UNK] */
    size_t cut_lines;            /* longer than the block (packing in lines) */
    uint64_t checksum;           /* of all text */
    size_t lines, val_lines;     /* with census: lines that are not blank */
    uint64_t kept;               /* bytes of the file that keeps the tokens in a run; 0: none */
    size_t overlap;       /* with census: validation lines that are also in the training part */
    size_t special_lines; /* with census: lines of both parts with the text of a special token,
                             "[SEP]", which is read as text */
} heed_corpus_info;
/* What the corpus holds; zeros for NULL. */
heed_corpus_info heed_corpus_about(const heed_corpus *k);
/* With `keep`, writes the tokens to tokens.bin in a run's folder if reading them will be faster
 * than making them again: for word, wordpiece and bpe and a text of 32 MB or more. The disk must
 * have as much space left afterwards. Returns true if the run has them. A failure is a warning, not
 * an error. */
bool heed_corpus_keep(heed_corpus *k, const char *run);

/* One batch, owned by the corpus until its next batch. */
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
                           batches of a balanced data set (heed_images_balance); NULL: 1 */
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
    bool sample; /* evaluation: in a seeded order, so that the first batches are a fair sample */
} heed_batch_at;

/* Causal: labels are the next tokens. Each epoch shuffles adjacent windows that begin at a random
 * offset, drawn per epoch: every start is equally likely, and an epoch reads every token once
 * (except at the ends of pieces). With lines, the lines are shuffled. Evaluation predicts every
 * token of the validation part once, except the first of each piece or line. A line is followed by
 * [SEP], or by a newline if the tokenizer has no [SEP]. */
bool heed_gpt_batch(heed_corpus *k, heed_batch_at at, heed_batch *out);
/* Masked: `share` (0.15) of the non-special positions of each row, at least one; of these 80 %
 * become [MASK], 10 % a random token, 10 % are kept; only they carry the loss. Devlin et al. 2019,
 * sec. 3.1. Training masks are drawn by the row's number within the step, so the result does not
 * depend on how micro-batches divide the step. Evaluation rows cover the validation part once;
 * their masks depend on the seed and the row. */
bool heed_mlm_batch(heed_corpus *k, heed_batch_at at, double share, heed_batch *out);
/* The number of evaluation batches of `rows`: of the validation part, or of all without one. */
uint64_t heed_corpus_eval_batches(const heed_corpus *k, int rows);
/* The number of training batches of `rows` in one epoch, at least 1. */
uint64_t heed_corpus_epoch_batches(const heed_corpus *k, int rows);

HEED_EXPORT_END
#endif
