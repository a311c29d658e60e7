/* heed/pairs.h -- lines of two texts: source and target, text and class, tokens and labels. */
#ifndef HEED_PAIRS_H
#define HEED_PAIRS_H

#include <heed/data.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HEED_TRANSLATION, /* source TAB target: sequence to sequence */
    HEED_CLASSES,     /* label TAB text: one label a text */
    HEED_TAGS /* words TAB labels, both parted by spaces, as many of one as of the other: a label a
                 word */
} heed_pair_kind;

/* The lines of a file, read but not yet tokens. TSV: source TAB target; further columns are
 * ignored, empty lines are skipped and counted; # starts no comment; spaces around a column are no
 * part of it. A first line that names the columns is skipped: one that holds a name of a source
 * (src source input from text sentence document question prompt tokens words) and one of a target
 * (tgt target output to translation answer response label labels class category tag tags), wherever
 * these columns stand, or that begins with two names of languages (eng fra, en fr, English French).
 * JSONL (by the extension .jsonl or .json): objects with src and tgt (or label and text, or tokens
 * and tags: texts or lists of words); a whole number is a label, too. Errors name file and line.
 * Owned by c. */
typedef struct heed_pairs heed_pairs;
typedef struct {
    heed_pair_kind kind;
    double val_split;     /* a seeded choice of lines; lines with the same source stay together */
    const char *val_path; /* a validation file of its own, or NULL */
    int block;            /* at most so many tokens in a source, and in a target, its [SEP] counted;
                             longer translations are left out of training and cut in evaluation,
                             longer texts of classes and tags are cut in both; all are counted */
    const char *const *labels; /* of a run, or NULL: from the data, in bytewise order */
    int label_count;
} heed_pairs_args;
HEED_API heed_pairs *heed_pairs_open(heed_ctx *c, const char *path, const heed_pairs_args *a);
HEED_API void heed_pairs_close(heed_pairs *k);

/* All sources, or all targets, of the training part, a line each: to train a tokenizer on. side: 0
 * source, 1 target; both: 2. The text is the caller's to free by heed_text_free. */
HEED_API bool heed_pairs_text(const heed_pairs *k, int side, heed_text *out);
/* Turns lines into tokens; before any batch. target is source for a shared vocabulary, NULL for
 * labels. */
HEED_API bool heed_pairs_encode(heed_pairs *k, const heed_tokenizer *source,
                                const heed_tokenizer *target);

typedef struct {
    size_t pairs, val_pairs; /* that training draws from, and that evaluation goes over: all pairs
                                where none are kept for validation */
    size_t blank, left_out, cut;
    size_t extra_columns; /* lines with further columns, or keys */
    bool header, json;    /* a first line of column names was skipped; a file of JSON objects */
    size_t overlap;       /* validation sources that stand in the training part, too */
    size_t unknown, tokens, target_unknown, target_tokens; /* of the training part */
    int longest, target_longest; /* tokens of both parts with their [SEP], uncut: the block that
                                    leaves nothing out; 0 for targets that are labels */
    int classes;
    const char *const *labels;
    uint64_t checksum;
} heed_pairs_info;
HEED_API const heed_pairs_info *heed_pairs_about(const heed_pairs *k);
/* A pair as text: line number, both sides, and of a TSV the first column that is neither, if any
 * (not zero-terminated). val: of the validation part. */
typedef struct {
    size_t line, source_n, target_n, note_n;
    const char *source, *target, *note;
} heed_pair;
HEED_API bool heed_pairs_get(const heed_pairs *k, bool val, size_t index, heed_pair *out);

/* A batch: src (B,S) and its padding, and for translation ids (B,T) = [CLS] target and their
 * padding, labels (B,T) = target [SEP], -100 at padding; for classes labels (B); for tags labels
 * (B,S), at the first token of each word, else -100. Sources end with [SEP]. items counts the
 * labels that are not -100. Pairs of like length come together: each epoch shuffles the pairs;
 * every 64 batches (fewer where an epoch has fewer) are sorted by length, and shuffled; S and T are
 * the longest of the batch. The micro-batches of a step divide its one batch, which is sorted so as
 * a whole up to 131072 rows. Evaluation in order. */
HEED_API bool heed_pair_batch(heed_pairs *k, heed_batch_at at, heed_batch *out);
HEED_API uint64_t heed_pairs_evals(const heed_pairs *k, int rows);
HEED_API uint64_t heed_pairs_epoch(const heed_pairs *k, int rows);

/* ---- how good translations are ---- */

/* Corpus BLEU of Papineni et al. 2002 as sacreBLEU counts it: tokens of the 13a rule, up to four
 * words, no smoothing but exponential for zero counts, brevity penalty. Counts add up over
 * sentences. */
typedef struct {
    size_t match[4], total[4], length, reference;
    size_t longest; /* words of the longest sentence of both: under 4, BLEU is 0 of any */
} heed_bleu;
HEED_API bool heed_bleu_add(heed_ctx *c, heed_bleu *b, const char *hypothesis,
                            const char *reference);
HEED_API double heed_bleu_of(const heed_bleu *b); /* 0 to 100 */

#ifdef __cplusplus
}
#endif
#endif
