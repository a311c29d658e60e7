/* pairs.h -- internals of pairs: the lines of a file, their parts, tokens, and batches. */
#ifndef HEED_DATA_PAIRS_H
#define HEED_DATA_PAIRS_H

#include "data/table.h"
#include "tokenizer/tokenizer.h"

#include "data/sets.h"

enum { HEED__MOST_BLOCK = 1 << 19, HEED__NO_LABEL = -100 };

typedef struct {
    heed__cut text[HEED__SIDES], note; /* note: a further column */
    size_t line;
    int part; /* heed_part */
    bool trains;
    size_t at[HEED__SIDES]; /* the first token of each side, in its stream */
    int count[HEED__SIDES]; /* tokens, [SEP] included */
    size_t bytes;           /* bytes of the target's text that its tokens cover */
} heed__pair;

typedef struct {
    int32_t *ids;
    size_t count, capacity;
} heed__ids;

struct heed__pairs {
    heed__owned owned;
    heed_ctx *c;
    heed__pairs_args a;
    char *path[2];   /* of the file, and of val_path */
    char *file[2];   /* their texts, which pairs point into */
    char *columns;   /* the same as info's */
    char **composed; /* texts that are longer than in their file */
    size_t composed_count, composed_capacity;
    heed__pair *pairs;
    size_t count, capacity;
    size_t own;          /* number of pairs of the first file */
    size_t *train, *val; /* numbers of pairs, in order; info counts them */
    heed__names labels;
    const char **label_texts;
    bool encoded, has_val; /* has_val: evaluation reads pairs that training does not */
    const heed_tokenizer *source, *target; /* NULL: that side is no text */
    heed__ids stream[HEED__SIDES];         /* for tags, labels are parallel to the tokens */
    heed__pairs_info info;
    size_t *counts;     /* (classes): labels of the training part; NULL before they are encoded */
    heed_real *weights; /* (classes): of balanced training batches; NULL: not balanced */
    /* The latest batch's: src and src_pad in one allocation, and the others in another. */
    int32_t *src, *src_pad, *ids, *pad, *batch_labels;
    size_t src_capacity, ids_capacity;
    uint64_t *keys; /* a window of draws, sorted by length; see pairs_batch.c */
    size_t *drawn;  /* the pairs of the window, in the order of their draws */
    size_t keys_capacity, drawn_capacity;
    uint64_t window;
    int window_rows; /* 0: there is none */
};

/* The line being read. */
typedef struct {
    heed__pairs *k;
    const char *path;
    size_t number;
    char *s; /* without the line end; a reader may overwrite it */
    size_t n;
    heed__cut note;            /* the first further column, if there is one */
    int part;                  /* of the row: heed_part */
    size_t empty, first_empty; /* rows of this file without a text, and the first one's number */
    heed__table table;
} heed__line;

/* Adds the pair of a line with a JSON object, or fails with file and line. */
bool heed__pairs_json(heed__line *l);
/* Reads all sentences of tags; *is: the text is a CoNLL file, otherwise nothing is read. */
bool heed__pairs_conll(heed__line *l, char *text, size_t n, bool *is);
bool heed__pairs_add(heed__line *l, const heed__cut text[HEED__SIDES]);
/* Whether the target is a text, which a decoder reads. */
static inline bool heed__pairs_decoded(const heed__pairs *k) {
    return k->a.kind == HEED_TARGET_TEXT || k->a.kind == HEED_TARGET_CAPTIONS;
}
/* "source TAB target": the form of a line of that kind. */
const char *heed__pairs_form(heed_target_kind kind);
bool heed__pairs_wrong(const heed__line *l, const char *expected, const char *found);

/* Numbers the labels: a run's before any line is read; else the data's, sorted, afterwards. */
bool heed__pairs_labels(heed__pairs *k);
bool heed__pairs_add_labels(const heed__line *l, heed__cut target);
bool heed__pairs_sort_labels(heed__pairs *k);
/* Divides the pairs into training and validation. */
bool heed__pairs_split(heed__pairs *k, const char *path);
/* Fails because the training part is empty. */
bool heed__pairs_nothing_to_train(const heed__pairs *k);

/* Trains a tokenizer of this kind, with the settings vocab (or source-vocab) and lower, on a side
 * of the pairs: as in heed__pairs_text. */
heed_tokenizer *heed__pairs_train_tokenizer(heed_ctx *c, const heed_config *f, const heed__pairs *k,
                                            int side, const char *kind);

/* Replaces a tokenizer by one that also has a side's characters (heed_tokenizer_extend). */
bool heed__pairs_extend_tokenizer(const heed_config *f, const heed__pairs *k, int side,
                                  heed_tokenizer **t);

/* Fills the target's side of a batch (ids, pad, labels, len, items, label_bytes) with the targets
 * of the pairs of these numbers, one for each of its rows. */
bool heed__pairs_put_targets(heed__pairs *k, const int32_t *pairs, heed_batch *out);

#endif
