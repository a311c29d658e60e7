/* stream.c -- the tokens of a corpus: 1, 2 or 4 bytes each by the size of the vocabulary. The bytes
 * of text that a token accounts for follow from its id for characters and bytes, but for unknown
 * characters and the first ones of lines; those of words vary and have 2 bytes each. */
#include "data/corpus/corpus.h"

#include <string.h>

bool heed__stream_begin(heed__stream *s, const heed_tokenizer *k) {
    *s = (heed__stream){.c = k->c, .unknown = k->special.unk};
    size_t vocab = k->names.count;
    s->width = vocab <= 1 << 8 ? 1 : vocab <= 1 << 16 ? 2 : 4;
    if (k->kind >= HEED__WORD) return true;
    s->usual = heed__alloc_array(s->c, vocab, sizeof *s->usual);
    s->usual_count = vocab;
    for (size_t i = 0; s->usual && i < vocab; i++) {
        bool byte = k->kind == HEED__BYTE && i < 256;
        s->usual[i] = byte ? 1 : (uint16_t)heed__names_length(&k->names, i);
    }
    return s->usual != NULL;
}

void heed__stream_free(heed__stream *s) {
    size_t chunks = (s->count + HEED__CHUNK - 1) >> HEED__CHUNK_BITS;
    for (size_t i = 0; i < chunks; i++) {
        heed__free(s->chunks[i].ids);
        heed__free(s->chunks[i].bytes);
        heed__free(s->chunks[i].odd);
    }
    heed__free(s->chunks);
    heed__free(s->usual);
}

/* ---- filling ---- */

static bool add_bytes(heed__stream *s, heed__chunk *u) {
    u->bytes = heed__alloc_array(s->c, HEED__CHUNK, sizeof *u->bytes);
    return u->bytes != NULL;
}

static bool add_chunk(heed__stream *s, size_t first_byte) {
    size_t i = s->count >> HEED__CHUNK_BITS;
    if (!heed__grow(s->c, &s->chunks, &s->capacity, i + 1, sizeof *s->chunks)) return false;
    heed__chunk *u = &s->chunks[i];
    *u = (heed__chunk){.first_byte = first_byte};
    if (!s->usual && !add_bytes(s, u)) return false;
    u->ids = heed__alloc_array(s->c, HEED__CHUNK, s->width);
    if (!u->ids) heed__free(u->bytes);
    return u->ids != NULL;
}

/* The bytes of tokens before `at` in a chunk with so many odd ones that all are listed. */
static bool list_bytes(heed__stream *s, heed__chunk *u, size_t at) {
    size_t first = s->count - at;
    uint16_t *bytes = heed__alloc_array(s->c, HEED__CHUNK, sizeof *bytes);
    if (!bytes) return false;
    for (size_t i = 0; i < at; i++) bytes[i] = s->usual[heed__stream_id(s, first + i)];
    for (size_t i = 0; i < u->odd_count; i++) bytes[u->odd[i].at] = u->odd[i].bytes;
    heed__free(u->odd);
    u->bytes = bytes;
    u->odd = NULL;
    u->odd_count = u->odd_capacity = 0;
    return true;
}

static bool put_bytes(heed__stream *s, heed__chunk *u, size_t at, int32_t id, uint16_t bytes) {
    enum { MANY = HEED__CHUNK / 4 };
    if (!u->bytes && s->usual[id] == bytes) return true;
    if (!u->bytes && u->odd_count == MANY && !list_bytes(s, u, at)) return false;
    if (u->bytes) {
        u->bytes[at] = bytes;
        return true;
    }
    if (!heed__grow(s->c, &u->odd, &u->odd_capacity, u->odd_count + 1, sizeof *u->odd))
        return false;
    u->odd[u->odd_count++] = (heed__odd){(uint16_t)at, bytes};
    return true;
}

bool heed__stream_put(heed__stream *s, int32_t id, size_t bytes, size_t first_byte) {
    size_t at = s->count & (HEED__CHUNK - 1);
    if (s->count >= UINT32_MAX - 1)
        return heed_fail(s->c, HEED_DATA, "text is too large: expected fewer than 2^32 tokens");
    if (at == 0 && !add_chunk(s, first_byte)) return false;
    heed__chunk *u = &s->chunks[s->count >> HEED__CHUNK_BITS];
    if (s->width == 1)
        ((uint8_t *)u->ids)[at] = (uint8_t)id;
    else if (s->width == 2)
        ((uint16_t *)u->ids)[at] = (uint16_t)id;
    else
        ((int32_t *)u->ids)[at] = id;
    if (bytes > HEED__TOKEN_SPAN) bytes = HEED__TOKEN_SPAN;
    bool good = put_bytes(s, u, at, id, (uint16_t)bytes);
    u->unknown += id == s->unknown;
    s->count++; /* also after a failure, so that the chunk is freed */
    return good;
}

/* ---- reading ---- */

size_t heed__stream_bytes(const heed__stream *s, size_t i) {
    const heed__chunk *u = &s->chunks[i >> HEED__CHUNK_BITS];
    size_t at = i & (HEED__CHUNK - 1), low = 0, high = u->odd_count;
    if (u->bytes) return u->bytes[at];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (u->odd[middle].at == at) return u->odd[middle].bytes;
        if (u->odd[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return s->usual[heed__stream_id(s, i)];
}

size_t heed__stream_unknown(const heed__stream *s, size_t begin, size_t end) {
    size_t unknown = 0;
    for (size_t i = begin; i < end;) {
        bool whole = i % HEED__CHUNK == 0 && end - i >= HEED__CHUNK;
        unknown +=
            whole ? s->chunks[i >> HEED__CHUNK_BITS].unknown : heed__stream_id(s, i) == s->unknown;
        i += whole ? HEED__CHUNK : 1;
    }
    return unknown;
}
