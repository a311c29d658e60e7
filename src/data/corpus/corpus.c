/* corpus.c -- a corpus: text files, encoded and kept as tokens. The text itself is released. */
#include "data/corpus/corpus.h"
#include "data/kind.h"
#include "text/text.h"

#include <string.h>

static void corpus_free(heed__owned *object) {
    heed_corpus *k = (heed_corpus *)object;
    size_t chunks = (k->stream.count + HEED__CHUNK - 1) >> HEED__CHUNK_BITS;
    for (size_t i = 0; i < chunks; i++) heed__free(k->stream.chunks[i]);
    void *rest[] = {
        k->train.spans, k->val.spans, k->stream.chunks, k->stream.first_byte, k->lines, k->ids, k};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
}

void heed_corpus_free(heed_corpus *k) {
    if (k) heed__release(k->c, &k->owned);
}

/* ---- filling the stream ---- */

typedef struct {
    heed__sink sink;
    heed_corpus *k;
    size_t base; /* offset of the encoded part in the file */
    size_t last; /* end of the previous token in the file */
} filler;

static bool add_chunk(heed_corpus *k, size_t first_byte) {
    heed__stream *s = &k->stream;
    size_t i = s->count >> HEED__CHUNK_BITS;
    if (!heed__grow(k->c, &s->chunks, &s->chunks_capacity, i + 1, sizeof *s->chunks) ||
        !heed__grow(k->c, &s->first_byte, &s->bytes_capacity, i + 1, sizeof *s->first_byte))
        return false;
    s->chunks[i] = heed__alloc(k->c, sizeof **s->chunks * HEED__CHUNK);
    s->first_byte[i] = first_byte;
    return s->chunks[i] != NULL;
}

static bool put(heed__sink *sink, int32_t id, size_t begin, size_t end) {
    filler *f = (filler *)sink;
    heed__stream *s = &f->k->stream;
    (void)begin;
    if (s->count >= UINT32_MAX - 1)
        return heed_fail(f->k->c, HEED_DATA, "text is too large: expected fewer than 2^32 tokens");
    if (s->count % HEED__CHUNK == 0 && !add_chunk(f->k, f->last)) return false;
    size_t bytes = f->base + end - f->last;
    s->chunks[s->count >> HEED__CHUNK_BITS][s->count & (HEED__CHUNK - 1)] =
        (uint32_t)id | (uint32_t)(bytes < 4095 ? bytes : 4095) << 20;
    s->count++;
    f->last = f->base + end;
    return true;
}

static bool add_line_start(heed_corpus *k) {
    if (!heed__grow(k->c, &k->lines, &k->lines_capacity, k->line_count + 1, sizeof *k->lines))
        return false;
    k->lines[k->line_count] = (uint32_t)k->stream.count;
    return true;
}

/* Each line with at least one token becomes a unit. */
static bool fill_lines(heed_corpus *k, const char *text, size_t n, filler *f) {
    for (size_t at = 0, length; at < n; at += length + 1) {
        size_t before = k->stream.count;
        length = heed__line_length(text + at, n - at);
        f->base = at;
        if (!add_line_start(k) || !heed__encode(k->k, text + at, length, &f->sink)) return false;
        if (k->stream.count > before) k->line_count++;
    }
    return add_line_start(k);
}

/* ---- opening ---- */

static bool tokenizer_fits(heed_corpus *k) {
    heed_specials s = k->k->special;
    if (k->a.bracket && (s.pad < 0 || s.cls < 0 || s.sep < 0 || s.mask < 0))
        return heed_fail(
            k->c, HEED_USAGE,
            "tokenizer lacks special tokens: masked training needs [PAD] [CLS] [SEP] [MASK], this "
            "%s tokenizer has not all of them; hint: train it with specials",
            heed_tokenizer_kind(k->k));
    if (k->a.packing == HEED_LINES && !k->a.bracket && k->end < 0)
        return heed_fail(
            k->c, HEED_USAGE,
            "lines have no end: expected a newline or [SEP] in the vocabulary, found none, as when "
            "the text has one line and no newline; hint: `packing = blocks`");
    return true;
}

/* Rows are as long as the longest line, rounded up to a multiple of 8, but at most the block. */
static void measure_lines(heed_corpus *k) {
    size_t longest = 1, extra = k->a.bracket ? 2 : 0, block = (size_t)k->a.block;
    for (size_t i = 0; i < k->line_count; i++) {
        size_t n = k->lines[i + 1] - k->lines[i] + extra;
        if (n > longest) longest = n;
        k->info.cut_lines += n > block;
    }
    longest = (longest + 7) / 8 * 8;
    k->len = (int)(longest < block ? longest : block);
}

static bool read_and_fill(heed_corpus *k, const char *path, char **text, size_t *n) {
    *text = heed_text_read(k->c, path, n);
    if (!*text) return false;
    k->info.checksum = heed__hash64(*text, *n, k->info.checksum);
    filler f = {.sink = {put}, .k = k};
    return k->a.packing == HEED_LINES ? fill_lines(k, *text, *n, &f)
                                      : heed__encode(k->k, *text, *n, &f.sink);
}

heed_corpus *heed_corpus_open(heed_ctx *c, const char *path, const heed_tokenizer *t,
                              heed_corpus_args a) {
    if (heed__stopped(c) || !path || !t) return NULL;
    if (!heed__in_range(c, "block is", a.block, a.bracket ? 3 : 1, 1 << 24) ||
        !heed__is_share(c, a.val_split))
        return NULL;
    heed_corpus *k = heed__alloc(c, sizeof *k);
    if (!k) return NULL;
    k->c = c;
    k->k = t;
    k->a = a;
    k->end = t->special.sep >= 0 ? t->special.sep : t->special.newline;
    heed__own(c, &k->owned, corpus_free);
    char *text = NULL, *val = NULL;
    size_t n = 0, val_n = 0;
    bool good = tokenizer_fits(k) && read_and_fill(k, path, &text, &n);
    k->own_units = heed__units(k);
    good = good && (!a.val_path || read_and_fill(k, a.val_path, &val, &val_n));
    k->len = a.block;
    if (good && a.packing == HEED_LINES) measure_lines(k);
    k->content = k->len - (a.bracket ? 2 : 0);
    good = good && heed__corpus_split(k, path) && heed__corpus_count(k, text, n, val, val_n);
    heed__free(text);
    heed__free(val);
    k->a.val_path = NULL; /* belongs to the caller and is no longer needed */
    if (good) return k;
    heed_corpus_free(k);
    return NULL;
}

heed_corpus_info heed_corpus_about(const heed_corpus *k) {
    return k ? k->info : (heed_corpus_info){0};
}
