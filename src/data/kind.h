/* kind.h -- what the kinds of data share. */
#ifndef HEED_KIND_INTERNAL_H
#define HEED_KIND_INTERNAL_H

#include "data/sets.h"

/* The tokenizer in a folder of a run, "" or this one; NULL: there is no such folder, or an error.
 */
#define HEED__SOURCE_FOLDER "source-tokenizer"
heed_tokenizer *heed__tokenizer_in(heed_ctx *c, const char *run, const char *folder);
/* What the setting `tokenizer` may name, besides a run. */
#define HEED__TOKENIZER_FILES "tokenizer.json, a vocab.json beside its merges.txt, or a vocab.txt"
/* Opens the tokenizer at a path given by the setting `key`. */
heed_tokenizer *heed__tokenizer_at(heed_ctx *c, const char *key, const char *name);
/* Fails if `data` or `val` names a pipe, as training reads its text repeatedly; warns if both are
 * the same file. */
bool heed__texts_last(heed_ctx *c, const heed_config *f);

/* Members `ask` of kinds (example.c): the class of the input, each [MASK], the token after each,
 * each token of the target, the label of each word. */
int heed__ask_class(const heed_reader *r, const heed_example *e, int positions,
                    heed_example_question *out);
int heed__ask_masks(const heed_reader *r, const heed_example *e, int positions,
                    heed_example_question *out);
int heed__ask_next(const heed_reader *r, const heed_example *e, int positions,
                   heed_example_question *out);
int heed__ask_target(const heed_reader *r, const heed_example *e, int positions,
                     heed_example_question *out);
int heed__ask_words(const heed_reader *r, const heed_example *e, int positions,
                    heed_example_question *out);

/* Room for `count` elements and one more, zeros, which is freed with the example. */
void *heed__example_room(heed_ctx *c, heed_example *e, size_t count, size_t each);
/* The same of p, memory of heed__alloc or NULL; returns p, or NULL after an error. */
void *heed__example_own(heed_ctx *c, heed_example *e, void *p);

/* Uses the given tokens as the text; without a tokenizer their ids are their labels. HEED_DATA if
 * there are none, or more than the block. */
bool heed__example_tokens(const heed_reader *r, const int32_t *ids, size_t n, heed_example *out);

/* Adds what is to be said of the classes: in brief their names and weights, and a note if they are
 * uneven. */
void heed__describe_classes(const heed_data *d, heed_facts *out);
/* Adds to text a hint that the largest class has many times the items of the smallest one. Returns
 * whether it has. */
bool heed__data_uneven(const heed_data *d, heed_text *out);
/* Adds a note if lines have the text of a special token. */
void heed__describe_specials(size_t lines, heed_facts *out);
/* Adds notes on what counts do not show (kind_pairs.c); says what is not read of long texts. */
void heed__pairs_notes(const heed_data *d, const heed__pairs *k, const heed_config *f,
                       heed_facts *out);
void heed__pairs_cut_text(const heed__pairs_info *a, const heed__pairs_cut *cut, heed_text *out);
static inline double heed__percent(size_t part, size_t all) {
    return all ? 100 * (double)part / (double)all : 0;
}

/* ---- scores (scores.c) ---- */

/* Counts how often each class was predicted for each label: (classes,classes), rows by label,
 * columns by prediction; others than 0 .. classes - 1 are left out. The caller frees the result
 * with free(). NULL: out of memory. */
size_t *heed__confusion(heed_ctx *c, const heed_prediction *list, size_t count, int classes);
/* One class of such a table. */
typedef struct {
    size_t count, predicted, correct; /* items of the class, predictions of it, correct ones */
    double recall, precision;         /* correct / count, correct / predicted; NAN: 0 / 0 */
} heed__class_score;
heed__class_score heed__confusion_class(const size_t *confusion, int classes, int label);

/* Adds what an evaluation has found. */
bool heed__scores_describe(heed_scores *s, const heed_data_kind *kind, heed_facts *out);
/* Members `score` and `report` of kinds with labels; texts: NULL of pictures. */
bool heed__score_classes(heed_scores *s, const heed_batch *b, const heed_real *logits, size_t rows);
bool heed__score_tags(heed_scores *s, const heed_batch *b, const heed_real *logits, size_t rows);
bool heed__report_classes(heed_scores *s, const heed__pairs *texts, heed_facts *out);
/* Of kinds with targets. */
bool heed__report_targets(const heed_scores *s, const heed__pairs *pairs, heed_facts *out);
/* Of entities, by both modes (entities.c): lines, then the table of their types. */
void heed__report_entities(heed__entities *const e[2], heed_facts *out);
void heed__table_entities(heed__entities *e, heed_facts *out);

/* ---- settings of tables ---- */

#define HEED__COLUMNS(which, group)                                                                \
    {"columns",                                                                                    \
     HEED_OPTION_STRING,                                                                           \
     "",                                                                                           \
     0,                                                                                            \
     0,                                                                                            \
     NULL,                                                                                         \
     "columns of CSV and TSV, or keys of JSON objects: " which                                     \
     ", by name or by number from 1; without it, by their usual names",                            \
     group},                                                                                       \
    {                                                                                              \
        "header", HEED_OPTION_STRING, "auto", 0, 0, "auto|yes|no",                                 \
            "whether the first line of CSV and TSV names the columns; auto: if it has known "      \
            "names, and if it is unlike the others this is asked for",                             \
            group                                                                                  \
    }
#define HEED__VAL_COLUMNS(group)                                                                   \
    {                                                                                              \
        "val-columns", HEED_OPTION_STRING, "", 0, 0, NULL, "columns of `val`; none: as `columns`", \
            group                                                                                  \
    }

/* ---- texts longer than the block ---- */

/* Of the `most` tokens that a text keeps, those from its beginning, by the setting `truncate`
 * (NULL: head); the others are from its end. Sun et al. 2019, sec. 5.3.1. */
static inline size_t heed__front(const char *truncate, size_t most) {
    if (!truncate || truncate[0] == 'h') return truncate && truncate[4] ? (most + 1) / 2 : most;
    return 0;
}

/* ---- balanced classes (balance.c) ---- */

#define HEED__BALANCE(group)                                                                       \
    {                                                                                              \
        "balance", HEED_OPTION_BOOL, "false", 0, 0, NULL,                                          \
            "weigh classes in the training loss by the inverse of their frequency", group          \
    }

/* The weights of classes with these counts, in memory of heed__alloc; NULL: out of memory. */
heed_real *heed__balance(heed_ctx *c, size_t (*count)(const void *data, int label),
                         const void *data, int classes);
/* Gives the weights (NULL: none) to a training batch of n labels; negative ones do not count. */
void heed__balance_batch(const heed_real *weights, int classes, size_t n, heed_batch *out);

/* ---- arguments: each false with an error ---- */

/* what: with its verb, "block is". */
bool heed__in_range(heed_ctx *c, const char *what, int value, int low, int high);
bool heed__is_share(heed_ctx *c, double val_split);

/* ---- which rows a batch has, and which of its part they are ---- */

/* The number of the batch within the training, and of a row's draw, counted from 0. */
static inline uint64_t heed__batch_number(heed_batch_at at) {
    return at.index * (at.micros ? at.micros : 1) + at.micro;
}
static inline uint64_t heed__draw_of(heed_batch_at at, uint64_t row) {
    return heed__batch_number(at) * (uint64_t)at.rows + row;
}

/* Rows of the batch `at`. An evaluation or a full epoch reads `all` rows once, fewer of them in its
 * last batch; 0: it has no such batch. */
static inline int heed__rows_of(heed_batch_at at, uint64_t all) {
    uint64_t rows = (uint64_t)at.rows;
    if (!at.val && !at.full_batch) return at.rows;
    if (at.index > all / rows) return 0;
    uint64_t left = all - at.index * rows;
    return (int)(left < rows ? left : rows);
}
/* The same; 0 with an error also if there are none, or more than `most`. */
int heed__batch_rows(heed_ctx *c, heed_batch_at at, uint64_t all, int most);

/* The row of the part for row `row` of the batch: in order or, for a sample, in a seeded order of
 * all rows, so that the first batches are drawn from the entire part. */
static inline uint64_t heed__eval_row(const heed_ctx *c, heed_batch_at at, uint64_t row,
                                      uint64_t count) {
    uint64_t number = at.index * (uint64_t)at.rows + row;
    if (!at.sample) return number;
    heed_random order = heed_random_at(heed_seed(c), "eval.sample", 0, 0);
    return heed_random_permute(&order, number, count);
}

/* The batches that read a part of `all` rows once; 0 if rows is less than 1. */
static inline uint64_t heed__batches(uint64_t all, int rows) {
    return rows < 1 ? 0 : (all + (uint64_t)rows - 1) / (uint64_t)rows;
}
static inline uint64_t heed__epoch(uint64_t all, int rows) { /* at least 1 */
    uint64_t batches = heed__batches(all, rows);
    return batches || rows < 1 ? batches : 1;
}

#endif
