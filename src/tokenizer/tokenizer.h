/* tokenizer.h -- a tokenizer is the pipeline that a tokenizer.json of Hugging Face's tokenizers
 * describes: added tokens, normalizers, splitters ("pre-tokenizers"), a model, a post-processor and
 * decoders. The kinds char, byte, word, wordpiece and bpe are presets of it, each with a trainer.
 */
#ifndef HEED_TOKENIZER_INTERNAL_H
#define HEED_TOKENIZER_INTERNAL_H

#include "text/classes.h"
#include "text/names.h"
#include "text/text.h"
#include "tokenizer/pattern.h"
#include "tokenizer/reading.h"

enum {
    HEED__VOCAB_MAX = 1 << 20,   /* a packed token of a corpus has 20 bits for the id */
    HEED__TOKEN_BYTES = 1 << 10, /* a longer token in a file is refused */
    HEED__WORD_CHARS = 100       /* a longer word of a preset is unknown */
};

typedef enum { HEED__CHAR, HEED__BYTE, HEED__WORD, HEED__WORDPIECE, HEED__BPE } heed__kind;
extern const char *const heed__kind_names[]; /* ended by NULL */
int heed__kind_find(const char *name);       /* -1: there is no such kind */

/* The special tokens in the order in which vocabularies of words begin with them. */
enum { HEED__SPECIALS = 5, HEED__UNK = 1 };
extern const char *const heed__special_names[HEED__SPECIALS];
extern const char heed__end_of_text[]; /* GPT-2's only special token */

/* ---- steps ---- */

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
    HEED__REPLACE,      /* text by with */
    HEED__PREPEND,      /* text, unless the input is empty */
    HEED__PREFIX,       /* text, unless the input is empty or begins with it */
    HEED__PREFIX_FIRST, /* the same at the start of the whole text only */
    HEED__TRIM,         /* white space: `left`, `right` */
    /* splitters: text to words; also HEED__REPLACE, HEED__PREFIX and HEED__PREFIX_FIRST, of each
       word */
    HEED__BY_CLASS, /* a match is a character of a class */
    HEED__BY_TEXT,
    HEED__BY_PATTERN,
    HEED__BY_GPT2,
    HEED__BY_WORDS, /* \w+|[^\w\s]+ */
    /* decoders: tokens to text */
    HEED__FROM_BYTES,    /* characters stand for bytes */
    HEED__FROM_PIECES,   /* spaces, except before `text`; with `left`, before punctuation */
    HEED__FROM_WORDS,    /* spaces where one writes them; `text` joins pieces */
    HEED__FROM_FALLBACK, /* <0x41> */
    HEED__FROM_REPLACED, /* `text` becomes `with`; `left`, `right`: dropped in the first, last one
                          */
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

/* ---- the tokenizer ---- */

/* A token that is found in the text before it is split. */
typedef struct {
    int32_t id;
    bool single_word, lstrip, rstrip, normalized, special;
    char *text; /* owned; of a normalized one, as the normalizers leave it */
    size_t n;
    size_t number; /* in the file */
} heed__added;

/* The automaton of Aho and Corasick (1975) for tokens in a text that is read from its end. A state
 * is a string that a token ends with: the longest one that the text begins with at this place. */
typedef struct {
    uint32_t first; /* of the states one byte longer, which end before those of the next state */
    uint32_t fail;  /* the longest other state that the string begins with; 0: the empty one */
    int32_t token;  /* number of the longest token that it begins with, or -1 */
    unsigned char byte; /* that it begins with */
} heed__finder_state;
typedef struct {
    heed__finder_state *of; /* shorter ones first, the empty one is 0; one more ends the list */
    size_t count, capacity;
    uint32_t of_byte[256]; /* states of one byte; 0: none */
} heed__automaton;

struct heed_tokenizer {
    heed__owned owned;
    heed_ctx *c;
    heed__kind kind;
    bool preset;       /* kind, lower and tokens say all; else tokenizer.json does */
    bool lower;        /* of a preset for words */
    heed__names names; /* the tokens by id */
    heed_specials special;
    int32_t special_ids[HEED__SPECIALS]; /* the same but for the newline; -1: absent */
    heed__steps normalizers, splitters, decoders;
    bool bytes; /* tokens are of bytes, which characters stand for */
    heed__added *added;
    size_t added_count, added_capacity;
    heed__automaton finders[2]; /* of added tokens; [1]: of normalized ones */
    bool plain_added;           /* some added tokens are not special */
    int32_t *added_of;          /* (vocabulary) the one with that id, or -1 */
    /* What splits the text into words and needs no steps: each character, each byte, or as BERT's,
     * by white space and punctuation; other text takes the steps. */
    enum { HEED__BY_STEPS, HEED__CHARACTERS, HEED__BYTES, HEED__BERT_WORDS } path;
    bool ideographs; /* each is a word */
    /* the model: HEED__WORD (whole words), HEED__WORDPIECE (longest match) or HEED__BPE (merges) */
    heed__kind model;
    char *unk_text, *prefix, *suffix; /* of later pieces of a word; of its end; or NULL */
    bool fuse_unk, byte_fallback, ignore_merges;
    size_t most_chars; /* wordpiece: of a word; a longer one is unknown */
    size_t longest;    /* bytes of the longest token */
    int32_t unk;
    int32_t own;        /* the model has no token from this id on: these are added */
    heed__names merges; /* pairs of ids, by rank */
    int32_t *joined;    /* (merges) */
    size_t joined_capacity;
    int32_t byte_ids[256];
    int32_t ascii[128]; /* the token of each character alone; -1: absent */
    /* of bytes: the texts of tokens as they are shown */
    heed_text shown;
    size_t *shown_at, shown_capacity;
    int32_t *frame; /* ids before, then after a text, by the post-processor */
    size_t frame_capacity, before, after;
    heed_text file; /* the tokenizer.json, unless it is a preset */
};

/* A preset without tokens; to be finished when it has them. */
heed_tokenizer *heed__preset_new(heed_ctx *c, heed__kind kind, bool lower);
/* Appends a token; a second one of the same text is an error. */
bool heed__tokenizer_add(heed_tokenizer *k, const char *token, size_t n);
/* Finds the special tokens among those that a preset was given; from: the file, NULL: training. */
bool heed__preset_finish(heed_tokenizer *k, const char *from);
/* The text of a token that is shown, of n bytes. */
const char *heed__shown(const heed_tokenizer *k, size_t id, size_t *n);
/* Where texts may be cut for this tokenizer. */
heed__cutting heed__cut_of(const heed_tokenizer *k);

/* ---- tokenizer.json ---- */

/* Reads the n bytes of a tokenizer.json; of a preset, only its steps and its model's settings. */
heed_tokenizer *heed__parse_tokenizer(heed_ctx *c, const char *path, const char *text, size_t n,
                                      bool preset);
/* ---- encoding ---- */

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
    uint32_t bytes; /* of the word */
} heed__word_piece;
typedef struct {
    heed__names words;
    size_t *end; /* per word: the end of its pieces */
    size_t end_capacity;
    heed__word_piece *pieces;
    size_t piece_capacity;
} heed__memo;
void heed__memo_free(heed__memo *m);
/* memo: or NULL. */
bool heed__encode_by(const heed_tokenizer *k, heed__memo *memo, heed__special_text special,
                     const char *text, size_t n, heed__sink *sink);
bool heed__tokens_put(heed_tokens *t, int32_t id, size_t begin, size_t end); /* appends one */

/* Finds what encoding needs from tokens, added tokens and steps. Of equal added tokens a special
 * one is found, or the first. */
bool heed__encode_prepare(heed_tokenizer *k);

/* The part of the text that something was made from. */
typedef struct {
    uint32_t begin, end;
} heed__origin;
/* What a text became, and of each of its bytes, the origin. */
typedef struct {
    heed_ctx *c;
    const char *s;
    size_t n, most;     /* most: n that is allowed */
    heed__origin *from; /* NULL: it is the text itself */
    char *own;          /* s, to be freed with `from`; or NULL */
    size_t capacity, from_capacity;
} heed__spelling;
/* Applies the steps to a spelling; first: it begins the whole text. The bytes by which any step
 * makes it longer are taken from *spare. Free it, also on failure. The memory of `scratch` is taken
 * over, so that it can be one that is no longer needed. */
bool heed__respell(const heed__steps *steps, bool first, heed__spelling *s, size_t *spare,
                   heed__spelling *scratch);
/* The bytes by which steps may make n bytes longer. */
static inline size_t heed__spare(size_t n) { return 16 * (n + 1024); }
void heed__spelling_free(heed__spelling *s);

typedef struct {
    size_t begin, end;
} heed__range;
typedef struct {
    heed__range *of;
    size_t count, capacity;
} heed__ranges;
bool heed__ranges_add(heed_ctx *c, heed__ranges *r, size_t begin, size_t end);
/* ---- bytes and merges ---- */

/* The character that stands for a byte (GPT-2); the byte that a character stands for, or -1. */
int32_t heed__byte_char(int byte);
int heed__char_byte(int32_t character);
/* Appends n bytes as the characters that stand for them. */
bool heed__put_byte_chars(heed_text *out, const char *bytes, size_t n);
/* Appends the bytes that a token's characters stand for, if all of them do; else the token. */
bool heed__put_char_bytes(heed_text *out, const char *token, size_t n);
/* Adds the merge of two tokens into another. False: an error, or it is there already. */
bool heed__merge_add(heed_tokenizer *k, int32_t a, int32_t b, int32_t joined);

/* ---- training ---- */

/* Distinct words, letters or lines of a text with their counts. */
enum { HEED__LETTER_PAGE = 256, HEED__LETTER_PAGES = 0x110000 / HEED__LETTER_PAGE };
typedef struct {
    heed__names names;
    uint64_t *counts;
    size_t capacity;
    uint64_t *letters[HEED__LETTER_PAGES]; /* counts by code point, until they are added */
} heed__counts;
bool heed__counts_add(heed__counts *out, const char *s, size_t n, uint64_t times);
void heed__counts_free(heed__counts *w);
/* Counts each character of a text `times` times; then adds all that were counted, if `good`. */
bool heed__count_letters(heed__counts *out, const char *text, size_t n, uint64_t times);
bool heed__letters_end(heed__counts *out, bool good);
bool heed__count_word(heed__counts *out, const char *word, size_t n);
/* Counts the words of a text as a tokenizer without added tokens divides it. */
bool heed__count_words(const heed_tokenizer *k, const char *text, size_t n, heed__counts *out);

/* A text in memory, or in a file if path is not NULL. */
typedef struct {
    const char *text;
    size_t n;
    const char *path;
    heed__watch *watch;
} heed__source;
/* heed_tokenizer_train. */
heed_tokenizer *heed__tokenizer_train(heed_ctx *c, const heed__source *text, heed_tokenizer_args a);
/* A copy of k for a new text. If k is of characters, those of the text that it does not have are
 * added after its tokens, in the order of their code points, up to `vocab` tokens (0: no limit).
 * With `specials`, missing special tokens are added as well (see heed_tokenizer_args). Tokens of k
 * keep their ids. Ownership and errors are those of heed_tokenizer_train. */
heed_tokenizer *heed__tokenizer_extend(const heed_tokenizer *k, const heed__source *text, int vocab,
                                       bool specials);

#endif
