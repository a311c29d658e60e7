/* corpus.h -- internals of a corpus: its tokens, and its training and validation parts. */
#ifndef HEED_DATA_CORPUS_H
#define HEED_DATA_CORPUS_H

#include "data/sets.h"
#include "tokenizer/tokenizer.h"

enum { HEED__PIECES = 100, HEED__CHUNK_BITS = 16, HEED__CHUNK = 1 << HEED__CHUNK_BITS };

/* The most bytes that a token accounts for. */
enum { HEED__TOKEN_SPAN = 4095 };

/* A token that accounts for other bytes of text than usual ones of its id. */
typedef struct {
    uint16_t at; /* in its chunk */
    uint16_t bytes;
} heed__odd;

typedef struct {
    void *ids;       /* HEED__CHUNK numbers of as many bytes as the stream's width */
    uint16_t *bytes; /* of text, per token; NULL: those of its id, except the odd ones, ascending */
    heed__odd *odd;
    size_t odd_count, odd_capacity;
} heed__chunk;

/* Where the text begins that a token accounts for. */
typedef struct {
    size_t token, byte;
} heed__mark;

/* Tokens in chunks, so that memory grows without copies. A token accounts for the bytes of text
 * from the previous token's end to its own, at most HEED__TOKEN_SPAN. */
typedef struct {
    heed_ctx *c;
    heed__chunk *chunks;
    size_t count, capacity; /* tokens; chunks */
    heed__mark *marks;      /* ascending, at most HEED__CHUNK tokens apart */
    size_t mark_count, mark_capacity;
    unsigned width;  /* 1, 2 or 4 bytes an id, by the size of the vocabulary */
    uint16_t *usual; /* bytes by id for characters and bytes; NULL: they vary */
} heed__stream;

/* Tokens to be appended, with other bytes than usual (or all bytes, where they vary) and marks,
 * counted from the first of them and the place where that begins. */
typedef struct {
    const heed__stream *form; /* whose width and usual bytes it has */
    unsigned char *ids;
    uint16_t *bytes;
    struct {
        uint32_t at;
        uint16_t bytes;
    } * odd;
    heed__mark *marks;
    size_t count, odd_count, mark_count;
    size_t ids_capacity, bytes_capacity, odd_capacity, mark_capacity;
    size_t first, last; /* bytes that the first token accounts for; where the latest one ends */
} heed__run;

bool heed__stream_begin(heed__stream *s, const heed_tokenizer *k);
/* Adds a token that ends at `end`. */
bool heed__run_put(heed__run *r, int32_t id, size_t end);
void heed__run_free(heed__run *r);
/* Appends the tokens of a run that begins at `byte`; gap: the bytes between it and the end of the
 * token before it. */
bool heed__stream_append(heed__stream *s, heed__run *r, size_t byte, size_t gap);
size_t heed__stream_bytes(const heed__stream *s, size_t i);
/* The byte where the text begins that a token of the first file accounts for. */
size_t heed__stream_place(const heed__stream *s, size_t token);
/* How many tokens from begin to end have the id. */
size_t heed__stream_find(const heed__stream *s, size_t begin, size_t end, int32_t id);
void heed__stream_free(heed__stream *s);

static inline int32_t heed__stream_id(const heed__stream *s, size_t i) {
    const void *ids = s->chunks[i >> HEED__CHUNK_BITS].ids;
    i &= HEED__CHUNK - 1;
    if (s->width == 1) return ((const uint8_t *)ids)[i];
    return s->width == 2 ? ((const uint16_t *)ids)[i] : ((const int32_t *)ids)[i];
}

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

struct heed__corpus {
    heed__owned owned;
    heed_ctx *c;
    const heed_tokenizer *k;
    heed__corpus_args a;
    int len;     /* T of every batch */
    int content; /* tokens of text in a row: T without [CLS] and [SEP] */
    int32_t end; /* what ends a line of a causal row */
    heed__stream stream;
    uint32_t *lines; /* first token of each line, then the end of the last */
    size_t line_count, lines_capacity;
    bool line_begun;             /* the latest line has tokens */
    size_t own_units;            /* units of the first file; later ones are from val_path */
    size_t own_bytes, val_bytes; /* of text in the first file, and in val_path */
    heed__part train, val;
    heed__corpus_info info;
    int32_t *ids, *pad, *labels, *masked_positions; /* the latest batch's, in one allocation */
    size_t capacity;                                /* of all four */
};

/* The number of units of all files, and the token where a unit begins. */
static inline size_t heed__units(const heed__corpus *k) {
    return k->a.packing == HEED_LINES ? k->line_count : k->stream.count;
}
static inline size_t heed__unit_token(const heed__corpus *k, size_t unit) {
    return k->a.packing == HEED_LINES ? k->lines[unit] : unit;
}
/* Cuts the units into training and validation parts; checks that both are long enough. */
bool heed__corpus_split(heed__corpus *k, const char *path);
/* Appends the tokens of a file, and of its lines where they are the units. */
bool heed__corpus_fill(heed__corpus *k, const char *path, heed__watch *watch);
/* Takes the tokens of all files from the run that args.cache names, if it keeps those of this text
 * and tokenizer, whole; false: it does not, or the text has an error. */
bool heed__corpus_load(heed__corpus *k, const char *path);
/* Counts tokens and bytes of each part. */
void heed__corpus_count(heed__corpus *k);
/* Counts the lines of each part, and the overlap: reads the files again. */
bool heed__corpus_census(heed__corpus *k, const char *path, heed__watch *watch);

#endif
