/* corpus.c -- a corpus: text files, encoded and kept as tokens. */
#include "data/corpus/corpus.h"
#include "data/kind.h"
#include "text/text.h"

#include <string.h>

static void corpus_free(heed__owned *object) {
    heed__corpus *k = (heed__corpus *)object;
    heed__stream_free(&k->stream);
    void *rest[] = {k->train.spans, k->val.spans, k->lines, k->ids, k};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) heed__free(rest[i]);
}

void heed__corpus_close(heed__corpus *k) {
    if (k) heed__release(k->c, &k->owned);
}

static bool tokenizer_fits(heed__corpus *k) {
    heed_specials s = k->k->special;
    if (k->a.bracket && (s.pad < 0 || s.cls < 0 || s.sep < 0 || s.mask < 0))
        return heed_fail(
            k->c, HEED_USAGE,
            "tokenizer lacks special tokens: masked training needs [PAD] [CLS] [SEP] [MASK], but "
            "this %s tokenizer lacks some; hint: train it with specials",
            heed_tokenizer_kind(k->k));
    if (k->a.packing == HEED_LINES && !k->a.bracket && k->end < 0)
        return heed_fail(
            k->c, HEED_USAGE,
            "lines have no end: expected a newline or [SEP] in the vocabulary, found none, as when "
            "the text has one line and no newline; hint: `packing = blocks`");
    return true;
}

/* Rows are as long as the longest line, rounded up to a multiple of 8, but at most the block. */
static void measure_lines(heed__corpus *k) {
    size_t longest = 1, extra = k->a.bracket ? 2 : 0, block = (size_t)k->a.block;
    for (size_t i = 0; i < k->line_count; i++) {
        size_t n = k->lines[i + 1] - k->lines[i] + extra;
        if (n > longest) longest = n;
        k->info.cut_lines += n > block;
    }
    longest = (longest + 7) / 8 * 8;
    k->len = (int)(longest < block ? longest : block);
}

static bool fill(heed__corpus *k, const char *path, heed__watch *watch) {
    bool good = heed__corpus_load(k, path);
    if (!good && !heed__stopped(k->c)) {
        good = heed__corpus_fill(k, path, watch);
        k->own_units = heed__units(k);
        good = good && (!k->a.val_path || heed__corpus_fill(k, k->a.val_path, watch));
    }
    k->len = k->a.block;
    if (good && k->a.packing == HEED_LINES) measure_lines(k);
    k->content = k->len - (k->a.bracket ? 2 : 0);
    return good;
}

heed__corpus *heed__corpus_open(heed_ctx *c, const char *path, const heed_tokenizer *t,
                                heed__corpus_args a, heed__watch *watch) {
    if (heed__stopped(c) || !path || !t ||
        !heed__in_range(c, "block is", a.block, a.bracket ? 3 : 1, 1 << 24) ||
        !heed__is_share(c, a.val_split))
        return NULL;
    heed__corpus *k = heed__alloc(c, sizeof *k);
    if (!k) return NULL;
    k->c = c;
    k->k = t;
    k->a = a;
    k->end = t->special.sep >= 0 ? t->special.sep : t->special.newline;
    heed__own(c, &k->owned, corpus_free);
    bool good = tokenizer_fits(k) && heed__stream_begin(&k->stream, t) && fill(k, path, watch) &&
                heed__corpus_split(k, path);
    if (good) heed__corpus_count(k);
    good = good && (!a.census || heed__corpus_census(k, path, watch));
    k->a.val_path = NULL; /* belongs to the caller and is no longer needed */
    if (good) return k;
    heed__corpus_close(k);
    return NULL;
}

heed__corpus_info heed__corpus_about(const heed__corpus *k) {
    return k ? k->info : (heed__corpus_info){0};
}
