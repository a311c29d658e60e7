/* heed/data.h -- text to tokens to batches. A batch is a function of (seed, step, micro-batch)
 * alone. */
#ifndef HEED_DATA_H
#define HEED_DATA_H

#include <heed/io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a model reads: numbers of its own batches, a corpus, labelled pictures, pairs of texts, or
 * labelled texts. */
typedef enum {
    HEED_INPUT_DENSE,
    HEED_INPUT_TOKENS,
    HEED_INPUT_PICTURE,
    HEED_INPUT_PAIR,
    HEED_INPUT_LABELLED
} heed_input_kind;

/* ---- tokenizers ---- */
typedef struct heed_tokenizer heed_tokenizer;
typedef struct {
    const char *kind; /* char, byte, word, wordpiece */
    int vocab;  /* upper bound, special tokens included; 0: no bound (char, word), 8192 (wordpiece)
                 */
    bool lower; /* word and wordpiece: lower-case (wordpiece: and strip accents) */
    bool specials; /* char and byte: [PAD] [CLS] [SEP] [MASK] too, which mlm needs; without, char
                      has [UNK] alone and byte none. word and wordpiece always have all five */
} heed_tokenizer_args;
typedef struct { /* special ids, -1 where the tokenizer has none */
    int pad, unk, cls, sep, mask, newline;
} heed_specials;
typedef struct {
    int32_t *ids;
    size_t *begin, *end; /* bytes of the text that the token covers; equal for inserted specials */
    size_t count, capacity;
    heed_ctx *c;
} heed_tokens;

HEED_API heed_tokenizer *heed_tokenizer_train(heed_ctx *c, const char *text, size_t n,
                                              heed_tokenizer_args a);
/* From a run or tokenizer directory (heed-tokenizer.json, else vocab.txt), or one of these files. A
 * vocab.txt is wordpiece; it lower-cases as do_lower_case in tokenizer_config.json beside it says,
 * else unless a token of it holds a capital. */
HEED_API heed_tokenizer *heed_tokenizer_open(heed_ctx *c, const char *path);
/* Writes heed-tokenizer.json into dir; for word and wordpiece also vocab.txt, a token a line, and
 * for wordpiece tokenizer_config.json, which Hugging Face's BertTokenizer reads. */
HEED_API bool heed_tokenizer_save(const heed_tokenizer *k, const char *dir);
HEED_API void heed_tokenizer_free(heed_tokenizer *k);
HEED_API const char *heed_tokenizer_kind(const heed_tokenizer *k);
HEED_API uint64_t
heed_tokenizer_digest(const heed_tokenizer *k); /* equal for equal vocabularies and rules */
HEED_API int heed_vocab_size(const heed_tokenizer *k);
HEED_API heed_specials heed_tokenizer_specials(const heed_tokenizer *k);
HEED_API int heed_token_id(const heed_tokenizer *k, const char *token); /* -1 if absent */
HEED_API const char *heed_token_text(const heed_tokenizer *k,
                                     int id); /* "##ing", "[MASK]"; newline as it is; "" outside */
/* Appends the tokens of text (no specials added; special tokens written in the text, "[MASK]", are
 * taken as such). */
HEED_API bool heed_encode(const heed_tokenizer *k, const char *text, size_t n, heed_tokens *out);
/* Back to text: char and byte exactly (bytes that make no UTF-8 as U+FFFD), words with spaces
 * between them but for those that punctuation closes up. Special tokens are written as they are. */
HEED_API bool heed_decode(const heed_tokenizer *k, const int32_t *ids, size_t n, heed_text *out);
HEED_API void heed_tokens_free(heed_tokens *t);

/* ---- text files ---- */
/* The whole file as valid UTF-8 without BOM and with LF line ends. Wrong encodings, NULs and empty
 * files are errors with file, byte offset and the command that mends it. Free with free(). */
HEED_API char *heed_text_read(heed_ctx *c, const char *path, size_t *n);

/* ---- corpora ---- */
typedef struct heed_corpus heed_corpus;
typedef enum { HEED_BLOCKS, HEED_LINES } heed_packing;
typedef struct {
    heed_packing packing; /* blocks: windows of a stream; lines: one line a row, padded; a line
                             longer than block is cut; lines without a token are left out */
    bool bracket;         /* put [CLS] .. [SEP] around each line or block (mlm; gpt has none) */
    int block;            /* T, specials included; rows of lines are shorter if no line is so long:
                             the longest, rounded up to a multiple of 8 */
    double val_split;     /* share of the text kept for validation, 0 for none: then evaluation runs
                             over the training text */
    bool tail; /* validation = the end of the file; else a random, seeded choice among 100
                  contiguous pieces, fewer if the text is short, whole lines in lines */
    const char *val_path; /* a validation file of its own instead, or NULL */
    bool eval; /* for evaluation alone, over the whole text, which may be shorter than a row */
} heed_corpus_args;
HEED_API heed_corpus *heed_corpus_open(heed_ctx *c, const char *path, const heed_tokenizer *k,
                                       heed_corpus_args a);
HEED_API void heed_corpus_free(heed_corpus *k);

typedef struct { /* of the training part; val_: of the validation part, 0 without one */
    size_t tokens, val_tokens, bytes, val_bytes;
    size_t lines, val_lines;     /* that are not blank */
    size_t unknown, val_unknown; /* tokens that are [UNK] */
    size_t cut_lines;            /* longer than the block (packing in lines) */
    size_t overlap;              /* validation lines that stand in the training part, too */
    uint64_t checksum;           /* of all text */
} heed_corpus_info;
HEED_API heed_corpus_info heed_corpus_about(const heed_corpus *k);
HEED_API const heed_tokenizer *heed_corpus_tokenizer(const heed_corpus *k);

/* One batch, owned by the corpus until its next batch. */
typedef struct {
    int rows, len;      /* B, T */
    const int32_t *ids; /* (B,T) */
    const int32_t *pad; /* (B,T), 0 at padding; NULL: no padding */
    const heed_real
        *x;      /* (B,T): dense inputs of models without tokens, with labels (B); else NULL */
    int src_len; /* S; pairs of texts: */
    const int32_t *src;              /* (B,S): the source, or the text of a label */
    const int32_t *src_pad;          /* (B,S), 0 at padding */
    const int32_t *labels;           /* mlm: (picks); gpt: (B,T), -100 at padding */
    const int32_t *masked_positions; /* mlm: flat positions b*T + t that carry the loss */
    int masked_count;
    size_t items; /* tokens, padding not counted. Without masked_positions the number that the loss
                     is the mean of: labels, pictures. 0: rows */
    size_t label_bytes; /* text bytes that the labels stand for, white space before them included
                           (bits per byte); a token counts for at most 4095 */
} heed_batch;

typedef struct {
    bool val;        /* fixed evaluation batches, in order; else random training batches */
    uint64_t index;  /* step, or number of the evaluation batch */
    uint32_t micro;  /* micro-batch within the step */
    uint32_t micros; /* micro-batches per step; 0 stands for 1 */
    int rows;        /* B; the last evaluation batch may have fewer */
    bool full_batch; /* of training: batches 0, 1, ... are the first epoch and no more, so that the
                   last one may have fewer rows, too (gradient descent) */
    bool sample;     /* of an evaluation: in a seeded order, so that its first batches are a fair
                        sample of a part that may be sorted */
} heed_batch_at;

/* Causal: labels are the next tokens. Each epoch shuffles windows that lie side by side, from a
 * random offset of its own on: a start is as likely as any other, and an epoch reads every token
 * once (but for the ends of pieces); lines are shuffled whole. Evaluation predicts every token of
 * the validation part once, but the first of each piece or line. A line is followed by its end:
 * [SEP], or a newline where the tokenizer has no [SEP]. */
HEED_API bool heed_gpt_batch(heed_corpus *k, heed_batch_at at, heed_batch *out);
/* Masked: `share` (0.15) of the non-special positions of each row, at least one; of these 80 %
 * [MASK], 10 % a random token, 10 % kept; loss on those alone. Devlin et al. 2019, sec. 3.1. Masks
 * of training are drawn by the row of the step, so that its micro-batches divide its one batch.
 * Evaluation rows cover the validation part once; their masks depend on the seed and the row. */
HEED_API bool heed_mlm_batch(heed_corpus *k, heed_batch_at at, double share, heed_batch *out);
/* How many evaluation batches of `rows` cover the validation part (or the whole text when val_split
 * is 0). */
HEED_API uint64_t heed_corpus_evals(const heed_corpus *k, int rows);
/* How many training batches of `rows` make one epoch, at least 1. */
HEED_API uint64_t heed_corpus_epoch(const heed_corpus *k, int rows);

#ifdef __cplusplus
}
#endif
#endif
