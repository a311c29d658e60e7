#define _DEFAULT_SOURCE /* getpid */
/* Lines of pictures' files and captions: any bytes are captions or an error. The first byte says
 * how to open them; a zero byte parts the validation file from the other. Each caption of a batch
 * has ids of the vocabulary and padding only behind. */
#include "data/sets.h"
#include "images_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static heed_tokenizer *train(heed_ctx *c, const heed__pairs *k, int how) {
    static const char *const kinds[] = {"char", "byte", "word", "wordpiece"};
    heed_tokenizer_args a = {.kind = kinds[how & 3], .specials = true};
    heed_text text = {.c = c};
    heed__pairs_text(k, 1, &text);
    heed_tokenizer *t = heed_tokenizer_train(c, text.s, text.n, a);
    heed_text_free(&text);
    return t;
}

static void check_row(const heed_batch *b, int row, int block, int vocab) {
    bool padded = false;
    require(b->len <= block);
    for (int i = 0; i < b->len; i++) {
        int at = row * b->len + i;
        padded |= b->labels[at] == -100;
        require(b->ids[at] >= 0 && b->ids[at] < vocab && b->pad[at] == !padded);
        require(padded ? b->labels[at] == -100 : b->labels[at] >= 0 && b->labels[at] < vocab);
    }
}

static void check(heed_ctx *c, heed__captions *k, int block, int vocab) {
    const heed__captions_info *a = heed__captions_about(k);
    heed__captioned found;
    heed_batch b;
    size_t length, captions = 0;
    for (uint64_t i = 0; i < 6; i++) {
        heed_batch_at at = {.val = i & 1, .index = i / 2, .rows = 3};
        if (!heed__caption_batch(k, at, &b)) break;
        for (int row = 0; row < b.rows; row++) check_row(&b, row, block, vocab);
    }
    heed_clear(c); /* evaluation may have fewer batches */
    for (size_t i = 0; i < a->val_pictures; i++) {
        require(heed__captions_get(k, true, i, &found, NULL));
        captions += found.captions;
        require(found.captions >= a->fewest && found.captions <= a->most);
        require(heed__captions_text(k, true, i, found.captions - 1, &length) && length);
    }
    require(captions == a->val_captions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const uint8_t picture[54 + 16] = {
        'B', 'M', [10] = 54, [14] = 40, [18] = 2, [22] = 2, [26] = 1, [28] = 24, [54] = 99};
    if (n < 2) return 0;
    int how = data[0];
    const uint8_t *text = data + 1, *cut = memchr(text, 0, n - 1);
    size_t first = cut ? (size_t)(cut - text) : n - 1;
    const char *list = how & 1 ? "list.jsonl" : "list.tsv";
    put("a.bmp", picture, sizeof picture);
    put("b.bmp", picture, sizeof picture);
    put(list, text, first);
    if (cut) put("val.tsv", cut + 1, n - 2 - first);
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .isa = "generic", .threads = 1});
    heed__pairs_args a = {.kind = HEED_TARGET_CAPTIONS,
                          .block = 2 + (how >> 6) * 5,
                          .val_split = how & 2 ? 0.4 : 0,
                          .val_path = cut ? place("val.tsv") : NULL};
    heed__images_args pictures = {.augment = {.flip = how & 4 ? 0.5 : 0, .pad = 1}};
    heed__pairs *pairs = heed__pairs_open(c, place(list), &a);
    heed_tokenizer *t = pairs ? train(c, pairs, how >> 4) : NULL;
    heed__captions *k =
        t && heed__pairs_encode(pairs, NULL, t) ? heed__captions_open(c, pairs, &pictures) : NULL;
    require(k || heed_ctx_status(c) != HEED_OK);
    if (k) check(c, k, a.block, heed_vocab_size(t));
    heed_close(c);
    return 0;
}
