/* corpus.h -- internals of a corpus: its tokens, and its training and validation parts. */
#ifndef HEED_DATA_CORPUS_H
#define HEED_DATA_CORPUS_H

#include "data/corpus/tokenizer.h"

enum { HEED__PIECES = 100, HEED__CHUNK_BITS = 16, HEED__CHUNK = 1 << HEED__CHUNK_BITS };

/* Tokens in chunks, so that memory grows without copies: the id in the low 20 bits and, above it,
 * the bytes of text from the previous token's end to this one's, at most 4095. */
typedef struct {
    uint32_t **chunks;
    size_t *first_byte; /* per chunk: where its first token begins in the text */
    size_t count, chunks_capacity, bytes_capacity;
} heed__stream;

/* A run of units (tokens for blocks, lines for lines); windows do not cross its ends. */
typedef struct {
    size_t begin, end;
    size_t before; /* windows (training) or rows (evaluation) of the spans before it */
} heed__span;

typedef struct {
    heed__span *spans; /* at most HEED__PIECES */
    size_t count;
    size_t total; /* windows, or rows */
} heed__part;

struct heed_corpus {
    heed__owned owned;
    heed_ctx *c;
    const heed_tokenizer *k;
    heed_corpus_args a;
    int len;     /* T of every batch */
    int content; /* tokens of text in a row: T without [CLS] and [SEP] */
    int32_t end; /* what ends a line of a causal row */
    heed__stream stream;
    uint32_t *lines; /* first token of each line, then the end of the last */
    size_t line_count, lines_capacity;
    size_t own_units; /* units of the first file; later ones are from val_path */
    heed__part train, val;
    heed_corpus_info info;
    int32_t *ids, *pad, *labels, *masked_positions; /* the latest batch's, in one allocation */
    size_t capacity;                                /* of all four */
};

static inline uint32_t heed__token_at(const heed__stream *s, size_t i) {
    return s->chunks[i >> HEED__CHUNK_BITS][i & (HEED__CHUNK - 1)];
}
static inline int32_t heed__token_id(uint32_t token) {
    return (int32_t)(token & (HEED__VOCAB_MAX - 1));
}
static inline size_t heed__token_bytes(uint32_t token) { return token >> 20; }

/* The number of units of all files, and the token where a unit begins. */
static inline size_t heed__units(const heed_corpus *k) {
    return k->a.packing == HEED_LINES ? k->line_count : k->stream.count;
}
static inline size_t heed__unit_token(const heed_corpus *k, size_t unit) {
    return k->a.packing == HEED_LINES ? k->lines[unit] : unit;
}
/* Cuts the units into training and validation parts; checks that both are long enough. */
bool heed__corpus_split(heed_corpus *k, const char *path);
/* Counts lines, bytes and overlap from the texts of the file and of val_path (or NULL). */
bool heed__corpus_count(heed_corpus *k, const char *text, size_t n, const char *val, size_t val_n);

#endif
