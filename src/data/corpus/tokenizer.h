/* tokenizer.h -- internals of a tokenizer, shared by training, files and encoding. */
#ifndef HEED_DATA_TOKENIZER_H
#define HEED_DATA_TOKENIZER_H

#include "core/core.h"
#include "data/corpus/names.h"

#include <heed/data.h>

enum {
    HEED__VOCAB_MAX = 1 << 20,  /* a packed token of a corpus has 20 bits for the id */
    HEED__TOKEN_BYTES = 1 << 10 /* a longer token in a file is refused */
};

typedef enum { HEED__CHAR, HEED__BYTE, HEED__WORD, HEED__WORDPIECE } heed__kind;

struct heed_tokenizer {
    heed__owned owned;
    heed_ctx *c;
    heed__kind kind;
    bool lower;
    heed__names names; /* the tokens by id */
    heed_specials special;
    size_t longest; /* bytes of the longest token */
};

heed_tokenizer *heed__tokenizer_new(heed_ctx *c, heed__kind kind, bool lower);
/* Appends a token; a second one of the same text is an error. */
bool heed__tokenizer_add(heed_tokenizer *k, const char *token, size_t n);
/* Finds the special tokens among the others and checks that those that the kind requires are
 * present. from: the file, or NULL after training. */
bool heed__tokenizer_finish(heed_tokenizer *k, const char *from);
const char *heed__kind_name(heed__kind kind);
/* "a", "<0xE2>": how a byte token is written. */
void heed__byte_name(int byte, char name[8]);
/* -1 with a HEED_USAGE error if there is no such kind. */
int heed__kind_of(heed_ctx *c, const char *name);

/* Names of the special tokens in the order in which word and wordpiece vocabularies begin. */
enum { HEED__SPECIALS = 5 };
extern const char *const heed__special_names[HEED__SPECIALS];
/* Their ids in the same order, -1 where absent. */
void heed__special_ids(const heed_tokenizer *k, int32_t ids[HEED__SPECIALS]);

/* Receives the tokens of a text one by one; returns false to stop. */
typedef struct heed__sink {
    bool (*put)(struct heed__sink *sink, int32_t id, size_t begin, size_t end);
} heed__sink;
bool heed__encode(const heed_tokenizer *k, const char *text, size_t n, heed__sink *sink);
bool heed__tokens_put(heed_tokens *t, int32_t id, size_t begin, size_t end); /* appends one */

/* Words of a text with their counts, normalised as the tokenizer does. */
typedef struct {
    heed__names names;
    uint64_t *counts;
    size_t capacity;
} heed__counts;
bool heed__count_words(const heed_tokenizer *k, const char *text, size_t n, heed__counts *out);
void heed__counts_free(heed__counts *w);

/* Trains a wordpiece vocabulary of at most `bound` tokens into k, which already has the special
 * tokens. */
bool heed__wordpiece_train(heed_tokenizer *k, const heed__counts *words, size_t bound);

#endif
