#define _DEFAULT_SOURCE /* getpid */
/* Files of pairs: any bytes are pairs or an error. The first two bytes say how to open them, and
 * what to encode them with; a zero byte parts the validation file from the other. Batches hold ids
 * of the vocabulary and labels of the classes, and padding only behind. Then BLEU of the same. */
#include "data/sets.h"

#include <heed/heed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool condition) {
    if (!condition) abort();
}

static const char *write_input(char path[64], const char *suffix, const uint8_t *data, size_t n) {
    snprintf(path, 64, "/tmp/heed-fuzz-pairs-%d%s", (int)getpid(), suffix);
    FILE *f = fopen(path, "wb");
    require(f != NULL);
    fwrite(data, 1, n, f);
    fclose(f);
    return path;
}

static heed_tokenizer *train(heed_ctx *c, const heed__pairs *k, int how) {
    static const char *const kinds[] = {"char", "byte", "word", "wordpiece"};
    heed_tokenizer_args a = {.kind = kinds[how & 3], .specials = how & 4, .lower = how & 8};
    heed_text text = {.c = c};
    heed__pairs_text(k, how >> 4 & 3, &text);
    heed_tokenizer *t = heed_tokenizer_train(c, text.s, text.n, a);
    heed_text_free(&text);
    return t;
}

static void check_row(const int32_t *ids, const int32_t *pad, int len, int vocab) {
    require(pad[0] == 1);
    for (int i = 0; i < len; i++) {
        require(ids[i] >= 0 && ids[i] < vocab);
        require(pad[i] == 0 || (pad[i] == 1 && (i == 0 || pad[i - 1] == 1)));
    }
}

static void check_batch(const heed__pairs *k, const heed__pairs_args *a, const heed_batch *b,
                        int vocab) {
    int labels = b->len ? b->len : a->kind == HEED_TARGET_TAGS ? b->src_len : 1;
    int most = a->kind == HEED_TARGET_TEXT ? vocab : heed__pairs_about(k)->classes;
    size_t items = 0;
    require(b->src_len <= a->block && b->len <= a->block);
    require((b->ids != NULL) == (a->kind == HEED_TARGET_TEXT));
    for (int row = 0; row < b->rows; row++) {
        check_row(b->src + row * b->src_len, b->src_pad + row * b->src_len, b->src_len, vocab);
        if (b->ids) check_row(b->ids + row * b->len, b->pad + row * b->len, b->len, vocab);
        for (int i = 0; i < labels; i++) {
            int32_t label = b->labels[row * labels + i];
            require(label == -100 || (label >= 0 && label < most));
            items += label != -100;
        }
    }
    require(items == b->items && items >= (size_t)b->rows);
}

static void use(heed_ctx *c, heed__pairs *k, const heed__pairs_args *a, int how) {
    heed_batch b;
    heed_pair p;
    heed_tokenizer *t = train(c, k, how);
    if (!heed__pairs_encode(k, t, a->kind == HEED_TARGET_TEXT ? t : NULL)) return;
    for (uint64_t i = 0; i < 6; i++) {
        heed_batch_at at = {.val = i & 1, .index = i / 2, .rows = 1 + how % 5};
        if (!heed__pair_batch(k, at, &b)) break;
        check_batch(k, a, &b, heed_vocab_size(t));
    }
    heed_clear(c);
    require(heed__pairs_about(k)->val_pairs > 0 && heed__pairs_get(k, true, 0, &p));
    heed_bleu score = {0};
    char source[512], target[512];
    snprintf(source, sizeof source, "%.*s", (int)p.source_n, p.source);
    snprintf(target, sizeof target, "%.*s", (int)p.target_n, p.target);
    require(heed__bleu_add(c, &score, source, target) && heed__bleu_add(c, &score, target, target));
    double value = heed__bleu_of(&score);
    require(value >= 0 && value <= 100.0001);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const char *const names[] = {"b", "a", "c"};
    if (n < 3) return 0;
    int how = data[0], more = data[1];
    const uint8_t *text = data + 2, *cut = memchr(text, 0, n - 2);
    size_t first = cut ? (size_t)(cut - text) : n - 2;
    char path[64], val[64];
    const char *suffix = how & 1      ? ".jsonl"
                         : more & 128 ? ".conllu"
                         : more & 64  ? ".conll"
                                      : ".tsv";
    heed__pairs_args a = {.kind = (heed_target_kind)((how >> 1) % 3),
                          .block = 2 + (how >> 6) * 5,
                          .val_split = how & 32 ? 0.4 : 0,
                          .labels = how & 16 ? names : NULL,
                          .label_count = how & 16 ? 3 : 0};
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .isa = "generic", .threads = 1});
    write_input(path, suffix, text, first);
    if (cut)
        a.val_path = write_input(val, how & 1 ? "-val.json" : "-val.tsv", cut + 1, n - 3 - first);
    heed__pairs *k = heed__pairs_open(c, path, &a);
    require((k != NULL) == (heed_ctx_status(c) == HEED_OK));
    if (k) use(c, k, &a, more);
    unlink(path);
    if (cut) unlink(val);
    heed_close(c);
    return 0;
}
