/* tokenizer.h -- internals of a tokenizer; counts of words. */
#ifndef HEED_TOKENIZER_INTERNAL_H
#define HEED_TOKENIZER_INTERNAL_H

#include "text/names.h"
#include "tokenizer/reading.h"

enum {
    HEED__VOCAB_MAX = 1 << 20,  /* a packed token of a corpus has 20 bits for the id */
    HEED__TOKEN_BYTES = 1 << 10 /* a longer token in a file is refused */
};

typedef enum { HEED__CHAR, HEED__BYTE, HEED__WORD, HEED__WORDPIECE, HEED__BPE } heed__kind;

/* Names of the special tokens in the order in which word and wordpiece vocabularies begin. */
enum { HEED__SPECIALS = 5 };
extern const char *const heed__special_names[HEED__SPECIALS];
extern const char heed__end_of_text[]; /* GPT-2's only special token */

struct heed_tokenizer {
    heed__owned owned;
    heed_ctx *c;
    heed__kind kind;
    bool lower;
    heed__names names; /* the tokens by id */
    heed_specials special;
    int32_t special_ids[HEED__SPECIALS]; /* the same, in the order of their names; -1: absent */
    size_t longest;                      /* bytes of the longest token */
    int32_t ascii[128];                  /* the token of each character alone; -1: absent */
    struct heed__pipeline *pipeline;     /* of a tokenizer.json; NULL: its kind says all */
};

heed_tokenizer *heed__tokenizer_new(heed_ctx *c, heed__kind kind, bool lower);
/* Appends a token; a second one of the same text is an error. */
bool heed__tokenizer_add(heed_tokenizer *k, const char *token, size_t n);
/* Finds the special tokens among the others and checks that those that the kind requires are
 * present. from: the file, or NULL after training. */
bool heed__tokenizer_finish(heed_tokenizer *k, const char *from);
extern const char *const heed__kind_names[]; /* ended by NULL */
/* "a", "<0xE2>": how a byte token is written. */
void heed__byte_name(int byte, char name[8]);
/* -1 if there is no such kind; heed__kind_of adds a HEED_USAGE error. */
int heed__kind_find(const char *name);
int heed__kind_of(heed_ctx *c, const char *name);

/* Receives the tokens of a text one by one; returns false to stop. */
typedef struct heed__sink {
    bool (*put)(struct heed__sink *sink, int32_t id, size_t begin, size_t end);
} heed__sink;
/* What the text of a special token is: in data, text like any other. */
typedef enum { HEED__SPECIAL_IS_TEXT, HEED__SPECIAL_IS_TOKEN } heed__special_text;
/* The tokens of a text of data. */
bool heed__encode(const heed_tokenizer *k, const char *text, size_t n, heed__sink *sink);
/* Whether a text has the text of a special token. */
bool heed__finds_special(const heed_tokenizer *k, const char *text, size_t n);

/* The pieces of words that occurred, so that frequent words are divided once. Zero-initialise; for
 * one tokenizer and one thread. */
typedef struct {
    int32_t id;
    uint32_t chars; /* characters of the word; 0: all of it */
} heed__word_piece;
typedef struct {
    heed__names words;
    size_t *end; /* per word: the end of its pieces */
    size_t end_capacity;
    heed__word_piece *pieces;
    size_t piece_capacity;
} heed__memo;
void heed__memo_free(heed__memo *m);
/* The pieces of a word that occurred before; NULL: it did not, or m is NULL. */
const heed__word_piece *heed__memo_recall(const heed__memo *m, const char *word, size_t n,
                                          size_t *count);
/* Keeps the pieces of the word that was added to `words` last. */
bool heed__memo_keep(heed__memo *m, const heed__word_piece *pieces, size_t count);
/* memo: or NULL. */
bool heed__encode_by(const heed_tokenizer *k, heed__memo *memo, heed__special_text special,
                     const char *text, size_t n, heed__sink *sink);
bool heed__tokens_put(heed_tokens *t, int32_t id, size_t begin, size_t end); /* appends one */

/* Distinct words, letters or lines of a text with their counts. */
typedef struct {
    heed__names names;
    uint64_t *counts;
    size_t capacity;
} heed__counts;
bool heed__counts_add(heed__counts *out, const char *s, size_t n, uint64_t times);
/* Counts each character of a text `times` times. */
bool heed__count_letters(heed__counts *out, const char *text, size_t n, uint64_t times);
void heed__counts_clear(heed__counts *w); /* keeps the memory */
void heed__counts_free(heed__counts *w);

/* A text in memory, or in a file if path is not NULL. */
typedef struct {
    const char *text;
    size_t n;
    const char *path;
    heed__watch *watch;
} heed__source;
/* Counts the characters of a text, or its words as k divides it. */
bool heed__count_text(const heed__source *s, heed__counts *out);
bool heed__count_words(const heed__source *s, const heed_tokenizer *k, heed__counts *out);
/* heed_tokenizer_train and heed_tokenizer_extend. */
heed_tokenizer *heed__tokenizer_train(heed_ctx *c, const heed__source *text, heed_tokenizer_args a);
heed_tokenizer *heed__tokenizer_extend(const heed_tokenizer *k, const heed__source *text, int vocab,
                                       bool specials);

typedef struct {
    uint64_t count;
    const char *text;
} heed__ranked;
/* Those that were counted at least `least` times, the most frequent first, ties in bytewise order,
 * ended by a NULL text; free with heed__free. */
heed__ranked *heed__rank(const heed__counts *w, uint64_t least);
/* Sorts n of them bytewise: letters by code point. */
void heed__rank_by_text(heed__ranked *r, size_t n);

/* Adds the pieces of a wordpiece or bpe vocabulary of at most `bound` tokens to k's special tokens,
 * and to `merges`, unless it is NULL, the pairs of ids that were merged, in order. */
bool heed__merges_train(heed_tokenizer *k, const heed__counts *words, size_t bound,
                        heed__names *merges);

#endif
