/* pipeline.h -- tokenizers as tokenizer.json describes them (Hugging Face's tokenizers): added
 * tokens, normalizers, splitters ("pre-tokenizers"), a model, decoders. */
#ifndef HEED_TOKENIZER_PIPELINE_H
#define HEED_TOKENIZER_PIPELINE_H

#include "tokenizer/pattern.h"
#include "tokenizer/tokenizer.h"

#include <jansson.h>

typedef enum {
    /* normalizers: text to text */
    HEED__CLEAN,   /* drops controls; white space becomes spaces (BERT) */
    HEED__CHINESE, /* spaces around ideographs */
    HEED__NFC,
    HEED__NFD,
    HEED__NFKC,
    HEED__NFKD,
    HEED__UNACCENT, /* drops category Mn */
    HEED__UNMARK,   /* drops categories M* */
    HEED__LOWER,
    HEED__REPLACE, /* text by with */
    HEED__PREPEND, /* text, unless the input is empty */
    HEED__PREFIX,  /* text, unless the input is empty or begins with it */
    HEED__FIRST,   /* the same at the start of the whole text only */
    HEED__TRIM,    /* white space: `left`, `right` */
    /* splitters: text to words; also HEED__REPLACE, HEED__PREFIX and HEED__FIRST, of each word */
    HEED__BY_CLASS, /* a match is a character of a class */
    HEED__BY_TEXT,
    HEED__BY_PATTERN,
    HEED__BY_GPT2,
    HEED__BY_WORDS, /* \w+|[^\w\s]+ */
    /* decoders: tokens to text */
    HEED__FROM_BYTES,    /* characters stand for bytes */
    HEED__FROM_PIECES,   /* spaces, except before `text`; with `left`, before punctuation */
    HEED__FROM_FALLBACK, /* <0x41> */
    HEED__FROM_PREFIX,   /* `text` becomes a space; with `left`, dropped at the start */
    HEED__FROM_SUFFIX,   /* `text` becomes a space, dropped at the end */
    HEED__FROM_REPLACED, /* `text` becomes `with` */
    HEED__FROM_STRIPPED, /* `text` is dropped up to `start` and `stop` times at the ends */
    HEED__FUSE           /* all tokens become one */
} heed__step_kind;

/* Of what matches: what becomes of it. */
typedef enum {
    HEED__ISOLATED,
    HEED__REMOVED,
    HEED__WITH_PREVIOUS,
    HEED__WITH_NEXT,
    HEED__CONTIGUOUS
} heed__behavior;

typedef struct {
    heed__step_kind kind;
    heed__class class;
    heed__behavior behavior;
    bool invert, left, right;
    int start, stop;
    char *text, *with; /* owned */
    size_t n, with_n;
    heed__pattern *pattern; /* owned */
} heed__step;

typedef struct {
    heed__step *of;
    size_t count, capacity;
} heed__steps;

struct heed__pipeline;
/* A token that is found in the text before it is split. */
typedef struct {
    int32_t id;
    bool single_word, lstrip, rstrip, normalized, special;
    char *text; /* owned; of a normalized one, as the normalizers leave it */
    size_t n;
    size_t number; /* in the file */
} heed__added;
/* Makes the automata that find them. Of equal ones a special one is found, or the first one. */
bool heed__added_index(struct heed__pipeline *p);

/* The automaton of Aho and Corasick (1975) for tokens in a text that is read from its end. A state
 * is a string that a token ends with: the longest one that the text begins with at this place. */
typedef struct {
    uint32_t first; /* of the states one byte longer, which end before those of the next state */
    uint32_t fail;  /* the longest other state that the string begins with; 0: the empty one */
    int32_t token;  /* number of the longest token that it begins with, or -1 */
    unsigned char byte; /* that it begins with */
} heed__state;
typedef struct {
    heed__state *of; /* shorter ones first, the empty one is 0; one more ends the list */
    size_t count, capacity;
    uint32_t of_byte[256]; /* states of one byte; 0: none */
} heed__automaton;

struct heed__pipeline {
    heed_ctx *c;
    heed__steps normalizers, splitters, decoders;
    bool bytes; /* tokens are of bytes, which characters stand for */
    heed__added *added;
    size_t added_count, added_capacity;
    heed__automaton finders[2]; /* of added tokens; [1]: of normalized ones */
    int32_t *added_of;          /* (vocabulary) the one with that id, or -1 */
    /* the model */
    char *unk_text, *prefix, *suffix; /* of later pieces of a word; of its end */
    bool fuse_unk, byte_fallback, ignore_merges;
    size_t most_chars; /* wordpiece: of a word; a longer one is unknown */
    int32_t unk;
    int32_t own;        /* the model has no token from this id on: these are added */
    heed__names merges; /* pairs of ids, by rank */
    int32_t *joined;    /* (merges) */
    size_t joined_capacity;
    int32_t byte_ids[256];
    /* texts of tokens as they are shown: of bytes, what these are */
    heed_text shown;
    size_t *shown_at, shown_capacity;
    int32_t *frame; /* ids before, then after a text, by the post-processor */
    size_t frame_capacity, before, after;
    heed_text file; /* the tokenizer.json */
};
typedef struct heed__pipeline heed__pipeline;

/* ---- bytes as characters (GPT-2) ---- */

/* The character that stands for a byte; the byte that a character stands for, or -1. */
int32_t heed__byte_char(int byte);
int heed__char_byte(int32_t character);
/* Appends n bytes as the characters that stand for them. */
bool heed__put_byte_chars(heed_text *out, const char *bytes, size_t n);
/* Appends the bytes that a token's characters stand for, if all of them do; else the token. */
bool heed__put_char_bytes(heed_text *out, const char *token, size_t n);

/* ---- normalizing ---- */

/* What a text became, and of each of its bytes, the part of the text that it was made from. */
typedef struct {
    heed_ctx *c;
    const char *s;
    size_t n, most, capacity, begin_capacity, end_capacity; /* most: n that is allowed */
    uint32_t *begin, *end;                                  /* NULL: it is the text itself */
    char *own; /* s, to be freed with the arrays; or NULL */
} heed__spelling;
/* Applies the steps to a spelling; first: it begins the whole text. The bytes by which any step
 * makes it longer are taken from *spare. Free it, also on failure. */
bool heed__respell(const heed__steps *steps, bool first, heed__spelling *s, size_t *spare);
/* The bytes by which steps may make n bytes longer. */
static inline size_t heed__spare(size_t n) { return 16 * (n + 1024); }
void heed__spelling_free(heed__spelling *s);

/* ---- splitting ---- */

typedef struct {
    size_t begin, end;
} heed__range;
typedef struct {
    heed__range *of;
    size_t count, capacity;
} heed__ranges;
bool heed__ranges_add(heed_ctx *c, heed__ranges *r, size_t begin, size_t end);
/* Applies a step to each word of a spelling, which begins at `base` of the whole text; see
 * heed__respell. */
bool heed__respell_words(const heed__step *k, size_t base, heed__spelling *s, heed__ranges *words,
                         size_t *spare);
/* Divides a spelling into words by the steps, which may make words longer. */
bool heed__presplit(const heed__steps *steps, size_t base, heed__spelling *s, size_t *spare,
                    heed__ranges *out);
/* The end of the word at `at` by GPT-2's pattern: Radford et al. 2019, encoder.py. */
size_t heed__gpt2_end(const char *s, size_t n, size_t at);

/* ---- the model ---- */

/* Finds byte_ids, and the texts that are shown. */
bool heed__model_finish(heed_tokenizer *k);
/* Divides a word; out has space for n pieces, whose `chars` are bytes of the word. */
bool heed__model_divide(const heed_tokenizer *k, const char *word, size_t n, heed__word_piece *out,
                        size_t *count);
/* Adds a merge of two tokens after those before it. Returns its rank, HEED__MERGE_ABSENT if one of
 * the tokens, or what they make, is not in the vocabulary, or HEED__MERGE_TWICE. */
enum { HEED__MERGE_ABSENT = -1, HEED__MERGE_TWICE = -2, HEED__MERGE_FAILED = -3 };
int32_t heed__merge_add(heed_tokenizer *k, const char *a, const char *b);

/* ---- all together ---- */

bool heed__pipeline_encode(const heed_tokenizer *k, heed__memo *m, heed__special_text special,
                           const char *text, size_t n, heed__sink *sink);
/* Whether a text has the text of a special token. */
bool heed__pipeline_finds_special(const heed__pipeline *p, const char *text, size_t n);
bool heed__pipeline_decode(const heed_tokenizer *k, const int32_t *ids, size_t n, heed_text *out);
/* Where texts may be cut for this tokenizer. */
heed__cutting heed__cut_of(const heed_tokenizer *k);
/* Where the text of a token that is shown begins; *n: its bytes. */
const char *heed__shown(const heed_tokenizer *k, size_t id, size_t *n);
heed__pipeline *heed__pipeline_new(heed_ctx *c);
void heed__pipeline_free(heed__pipeline *p);

/* ---- tokenizer.json ---- */

/* Appends the tokenizer.json of a tokenizer without one. merges: those of a bpe, as
 * heed__merges_train gives them. */
bool heed__put_hugging_face(const heed_tokenizer *k, const heed__names *merges, heed_text *out);
/* Reads the file at path, whose text has been parsed as `o`; and one that has not been parsed. */
heed_tokenizer *heed__from_hugging_face(heed_ctx *c, const char *path, const json_t *o,
                                        const char *text, size_t n);
heed_tokenizer *heed__parse_hugging_face(heed_ctx *c, const char *path, const heed_text *file);
/* Appends a tokenizer.json of GPT-2's kind from the text of a vocab.json, and that of its
 * merges.txt. end: the id of <|endoftext|>, or -1. */
bool heed__put_gpt2(const char *vocab, size_t n, int end, const char *merges, heed_text *out);

#endif
