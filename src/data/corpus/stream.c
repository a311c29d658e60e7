/* stream.c -- the tokens of a corpus: 1, 2 or 4 bytes each by the size of the vocabulary. The bytes
 * of text that a token accounts for follow from its id for characters and bytes, except unknown
 * characters and the first ones of lines; those of words vary and take 2 bytes each. */
#include "data/corpus/corpus.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

bool heed__stream_begin(heed__stream *s, const heed_tokenizer *k) {
    *s = (heed__stream){.c = k->c};
    size_t vocab = k->names.count;
    s->width = vocab <= 1 << 8 ? 1 : vocab <= 1 << 16 ? 2 : 4;
    if (k->kind >= HEED__WORD && !k->bytes) return true;
    s->usual = heed__alloc_array(s->c, vocab, sizeof *s->usual);
    for (size_t i = 0; s->usual && i < vocab; i++) {
        size_t n = 1;
        if (k->kind != HEED__BYTE || i >= 256) heed__shown(k, i, &n);
        s->usual[i] = (uint16_t)n;
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
    heed__free(s->marks);
    heed__free(s->usual);
}

static uint16_t span_of(size_t bytes) {
    return (uint16_t)(bytes < HEED__TOKEN_SPAN ? bytes : HEED__TOKEN_SPAN);
}

/* ---- runs ---- */

static bool add_mark(heed_ctx *c, heed__mark **marks, size_t *count, size_t *capacity,
                     heed__mark mark) {
    if (!heed__grow(c, marks, capacity, *count + 1, sizeof mark)) return false;
    (*marks)[(*count)++] = mark;
    return true;
}

/* Marks the next token, and makes space for HEED__CHUNK of them. */
static bool reserve(heed__run *r) {
    const heed__stream *s = r->form;
    size_t need = r->count + HEED__CHUNK;
    return add_mark(s->c, &r->marks, &r->mark_count, &r->mark_capacity,
                    (heed__mark){r->count, r->last}) &&
           heed__grow(s->c, &r->ids, &r->ids_capacity, need * s->width, 1) &&
           (s->usual || heed__grow(s->c, &r->bytes, &r->bytes_capacity, need, sizeof *r->bytes));
}

static bool add_odd(heed__run *r, uint16_t bytes) {
    if (!heed__grow(r->form->c, &r->odd, &r->odd_capacity, r->odd_count + 1, sizeof *r->odd))
        return false;
    r->odd[r->odd_count].at = (uint32_t)r->count;
    r->odd[r->odd_count++].bytes = bytes;
    return true;
}

bool heed__run_put(heed__run *r, int32_t id, size_t end) {
    const heed__stream *s = r->form;
    size_t at = r->count, bytes = end - r->last;
    if (at % HEED__CHUNK == 0 && !reserve(r)) return false;
    if (s->width == 1)
        r->ids[at] = (uint8_t)id;
    else if (s->width == 2)
        ((uint16_t *)(void *)r->ids)[at] = (uint16_t)id;
    else
        ((int32_t *)(void *)r->ids)[at] = id;
    if (at == 0)
        r->first = bytes;
    else if (!s->usual)
        r->bytes[at] = span_of(bytes);
    else if (s->usual[id] != bytes && !add_odd(r, span_of(bytes)))
        return false;
    r->last = end;
    r->count++;
    return true;
}

void heed__run_free(heed__run *r) {
    heed__free(r->ids);
    heed__free(r->bytes);
    heed__free(r->odd);
    heed__free(r->marks);
}

/* ---- filling ---- */

static bool list(heed__stream *s, heed__chunk *u) {
    u->bytes = heed__alloc_array(s->c, HEED__CHUNK, sizeof *u->bytes);
    return u->bytes != NULL;
}

static bool add_chunk(heed__stream *s) {
    size_t i = s->count >> HEED__CHUNK_BITS;
    if (!heed__grow(s->c, &s->chunks, &s->capacity, i + 1, sizeof *s->chunks)) return false;
    heed__chunk *u = &s->chunks[i];
    *u = (heed__chunk){.ids = heed__alloc_array(s->c, HEED__CHUNK, s->width)};
    if (u->ids && (s->usual || list(s, u))) return true;
    heed__free(u->ids);
    return false;
}

static void fill_usual(heed__stream *s, heed__chunk *u, size_t begin, size_t end) {
    size_t first = s->count & ~(size_t)(HEED__CHUNK - 1);
    for (size_t i = begin; i < end; i++) u->bytes[i] = s->usual[heed__stream_id(s, first + i)];
}

/* A chunk of which `end` tokens are filled has so many odd ones that all are listed. */
static bool list_odd(heed__stream *s, heed__chunk *u, size_t end) {
    if (!list(s, u)) return false;
    fill_usual(s, u, 0, end);
    for (size_t i = 0; i < u->odd_count; i++) u->bytes[u->odd[i].at] = u->odd[i].bytes;
    heed__free(u->odd);
    u->odd = NULL;
    u->odd_count = u->odd_capacity = 0;
    return true;
}

/* Sets the bytes of a token in a chunk of which `end` tokens are filled. */
static bool set_odd(heed__stream *s, heed__chunk *u, size_t end, size_t at, uint16_t bytes) {
    enum { MANY = HEED__CHUNK / 4 };
    if (!u->bytes && u->odd_count == MANY && !list_odd(s, u, end)) return false;
    if (u->bytes) {
        u->bytes[at] = bytes;
        return true;
    }
    if (!heed__grow(s->c, &u->odd, &u->odd_capacity, u->odd_count + 1, sizeof *u->odd))
        return false;
    u->odd[u->odd_count++] = (heed__odd){(uint16_t)at, bytes};
    return true;
}

/* Appends n tokens of the run from `from` on, which fit into the latest chunk. */
static bool append(heed__stream *s, const heed__run *r, size_t from, size_t n, size_t *odd) {
    heed__chunk *u = &s->chunks[s->count >> HEED__CHUNK_BITS];
    size_t at = s->count & (HEED__CHUNK - 1);
    memcpy((char *)u->ids + at * s->width, r->ids + from * s->width, n * s->width);
    if (!s->usual)
        memcpy(u->bytes + at, r->bytes + from, n * sizeof *u->bytes);
    else if (u->bytes)
        fill_usual(s, u, at, at + n);
    for (; *odd < r->odd_count && r->odd[*odd].at < from + n; ++*odd)
        if (!set_odd(s, u, at + n, at + r->odd[*odd].at - from, r->odd[*odd].bytes)) return false;
    return true;
}

/* Appends the first token, whose bytes depend on what comes before the run. */
static bool append_first(heed__stream *s, heed__run *r, size_t gap) {
    size_t odd = 0;
    uint16_t bytes = span_of(r->first + gap);
    heed__run one = {.form = s, .ids = r->ids, .bytes = r->bytes};
    if (!s->usual) r->bytes[0] = bytes;
    if (!append(s, &one, 0, 1, &odd)) return false;
    size_t at = s->count & (HEED__CHUNK - 1);
    return !s->usual || s->usual[heed__stream_id(s, s->count)] == bytes ||
           set_odd(s, &s->chunks[s->count >> HEED__CHUNK_BITS], at + 1, at, bytes);
}

bool heed__stream_append(heed__stream *s, heed__run *r, size_t byte, size_t gap) {
    size_t odd = 0;
    if (s->count + r->count >= UINT32_MAX)
        return heed_fail(s->c, HEED_DATA, "text is too large: expected fewer than 2^32 tokens");
    for (size_t i = 0; i < r->mark_count; i++) {
        heed__mark m = {s->count + r->marks[i].token, byte + r->marks[i].byte - (i ? 0 : gap)};
        if (!add_mark(s->c, &s->marks, &s->mark_count, &s->mark_capacity, m)) return false;
    }
    for (size_t i = 0, n; i < r->count; i += n) {
        size_t left = HEED__CHUNK - (s->count & (HEED__CHUNK - 1));
        n = i == 0 ? 1 : r->count - i < left ? r->count - i : left;
        if (left == HEED__CHUNK && !add_chunk(s)) return false;
        bool good = i ? append(s, r, i, n, &odd) : append_first(s, r, gap);
        s->count += n; /* also after a failure, so that the chunk is freed */
        if (!good) return false;
    }
    return true;
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

size_t heed__stream_place(const heed__stream *s, size_t token) {
    size_t low = 0, high = s->mark_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (s->marks[middle].token <= token)
            low = middle;
        else
            high = middle;
    }
    size_t byte = s->marks[low].byte;
    for (size_t i = s->marks[low].token; i < token; i++) byte += heed__stream_bytes(s, i);
    return byte;
}

static size_t count_in(const heed__stream *s, const heed__chunk *u, size_t at, size_t end,
                       int32_t id) {
    size_t count = 0;
    const uint8_t *narrow = u->ids, *last = narrow + end;
    if (s->width == 1)
        for (const uint8_t *p = narrow + at; p < last && (p = memchr(p, id, (size_t)(last - p)));
             p++)
            count++;
    else if (s->width == 2)
        for (size_t i = at; i < end; i++) count += ((const uint16_t *)u->ids)[i] == id;
    else
        for (size_t i = at; i < end; i++) count += ((const int32_t *)u->ids)[i] == id;
    return count;
}

size_t heed__stream_find(const heed__stream *s, size_t begin, size_t end, int32_t id) {
    size_t count = 0;
    for (size_t i = begin, n; id >= 0 && i < end; i += n) {
        size_t at = i & (HEED__CHUNK - 1);
        n = end - i < HEED__CHUNK - at ? end - i : HEED__CHUNK - at;
        count += count_in(s, &s->chunks[i >> HEED__CHUNK_BITS], at, at + n, id);
    }
    return count;
}
