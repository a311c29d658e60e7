#define _DEFAULT_SOURCE /* getpid */
/* Everything in src/data that reads foreign bytes: text files, tokenizer files, training, encoding
 * and decoding, corpora. The first byte of the input chooses among them. Whatever comes, ids are of
 * the vocabulary, tokens lie in the text, and a bound on the vocabulary holds. */
#include "data/sets.h"

#include <heed/heed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const kinds[] = {"char", "byte", "word", "wordpiece", "bpe"};

static const char *write_input(const char *suffix, const uint8_t *data, size_t n) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/heed-fuzz-%d%s", (int)getpid(), suffix);
    FILE *f = fopen(path, "wb");
    if (!f) abort();
    fwrite(data, 1, n, f);
    fclose(f);
    return path;
}

static void require(bool condition) {
    if (!condition) abort();
}

/* Every token lies in the text and has an id of the vocabulary, however special ones are read. */
static void check_reading(heed_ctx *c, const heed_tokenizer *k, const char *text, size_t n,
                          bool (*encode)(const heed_tokenizer *k, const char *text, size_t n,
                                         heed_tokens *out)) {
    heed_tokens t = {0};
    heed_text back = {.c = c};
    if (!k || !encode(k, text, n, &t) || !heed_decode(k, t.ids, t.count, &back))
        require(heed_ctx_status(c) != HEED_OK);
    for (size_t i = 0; i < t.count; i++) {
        require(t.ids[i] >= 0 && t.ids[i] < heed_vocab_size(k));
        require(t.begin[i] <= t.end[i] && t.end[i] <= n);
    }
    heed_text_free(&back);
    heed_tokens_free(&t);
}

static void check_encoding(heed_ctx *c, const heed_tokenizer *k, const char *text, size_t n) {
    check_reading(c, k, text, n, heed_encode);
    check_reading(c, k, text, n, heed_encode_text);
}

static void fuzz_training(heed_ctx *c, int how, const uint8_t *data, size_t n) {
    const char *text = (const char *)data;
    heed_tokenizer_args a = {.kind = kinds[how % 5], .lower = how & 32, .specials = how & 64};
    if (how & 16) a.vocab = 4 + how;
    heed_tokenizer *k = heed_tokenizer_train(c, text, n, a);
    if (k && a.vocab) require(heed_vocab_size(k) <= a.vocab);
    check_encoding(c, k, text, n);
}

static void fuzz_opening(heed_ctx *c, int how, const uint8_t *data, size_t n) {
    size_t cut = n / 2;
    const char *path = write_input(how & 1 ? ".json" : ".txt", data, cut);
    heed_tokenizer *k = heed_tokenizer_open(c, path);
    unlink(path);
    check_encoding(c, k, (const char *)data + cut, n - cut);
}

static void fuzz_corpus(heed_ctx *c, int how, const uint8_t *data, size_t n) {
    const char *path = write_input(".txt", data, n);
    size_t length;
    char *text = heed_text_read(c, path, &length);
    heed_tokenizer *k = heed_tokenizer_train(
        c, text, length, (heed_tokenizer_args){.kind = kinds[how % 5], .specials = true});
    heed__corpus_args a = {.packing = how & 4 ? HEED_LINES : HEED_BLOCKS,
                           .bracket = how & 8,
                           .block = 3 + (how >> 6),
                           .val_split = how & 16 ? 0.3 : 0,
                           .tail = how & 32};
    heed__corpus *p = heed__corpus_open(c, path, k, a, NULL);
    heed_batch b;
    for (uint64_t i = 0; p && i < 4; i++) {
        heed_batch_at at = {.val = i & 1, .index = i / 2, .rows = 3};
        if (!(a.bracket ? heed__mlm_batch(p, at, 0.15, &b) : heed__gpt_batch(p, at, &b))) break;
        for (int j = 0; j < b.rows * b.len; j++)
            require(b.ids[j] >= 0 && b.ids[j] < heed_vocab_size(k));
        for (int j = 0; j < b.masked_count; j++)
            require(b.masked_positions[j] > 0 && b.masked_positions[j] < b.rows * b.len - 1);
        require(!a.bracket || b.masked_count >= b.rows);
    }
    free(text);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n < 3) return 0;
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .isa = "generic", .threads = 1});
    int how = data[1];
    if (data[0] % 3 == 0) fuzz_training(c, how, data + 2, n - 2);
    if (data[0] % 3 == 1) fuzz_opening(c, how, data + 2, n - 2);
    if (data[0] % 3 == 2) fuzz_corpus(c, how, data + 2, n - 2);
    heed_close(c);
    return 0;
}
