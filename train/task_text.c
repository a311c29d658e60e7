/* task_text.c -- the data of tasks on text: a tokenizer, made or opened, and a corpus. */
#include "training.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"char", "byte", "word", "wordpiece", NULL};

static bool is_kind(const char *name) {
    for (int i = 0; kinds[i]; i++)
        if (strcmp(kinds[i], name) == 0) return true;
    return false;
}

static heed_tokenizer *train_tokenizer(heed_ctx *c, const task *k, const heed_config *f,
                                       const char *kind) {
    size_t n = 0;
    char *text = heed_text_read(c, heed_config_text(f, "data"), &n);
    heed_tokenizer *made =
        heed_tokenizer_train(c, text, n,
                             (heed_tokenizer_args){.kind = kind,
                                                   .vocab = (int)heed_config_int(f, "vocab"),
                                                   .lower = heed_config_bool(f, "lower"),
                                                   .specials = k->masked});
    free(text);
    return made;
}

/* A tokenizer of a kind, trained on the data, or one that stands in a file. */
static heed_tokenizer *make_tokenizer(heed_ctx *c, const task *k, const heed_config *f) {
    const char *name = heed_config_text(f, "tokenizer");
    if (is_kind(name)) return train_tokenizer(c, k, f, name);
    if (is_file(name) || is_directory(name)) return heed_tokenizer_open(c, name);
    const char *near = closest(name, kinds);
    heed_fail(c, HEED_USAGE,
              "--tokenizer %s: expected char, byte, word, wordpiece, or the path of a run or a "
              "vocab.txt%s%s%s",
              name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return NULL;
}

static bool check_specials(heed_ctx *c, const task *k, const heed_tokenizer *tokenizer) {
    if (!k->masked || heed_tokenizer_specials(tokenizer).mask >= 0) return true;
    return heed_fail(c, HEED_USAGE,
                     "task %s needs a vocabulary with [MASK]: the %s tokenizer has none; hint: "
                     "--tokenizer wordpiece",
                     k->name, heed_tokenizer_kind(tokenizer));
}

bool text_open(heed_ctx *c, const task *k, heed_config *f, heed_tokenizer *tokenizer,
               text_data *t) {
    const char *val = heed_config_text(f, "val");
    char size[24];
    *t = (text_data){.tokenizer = tokenizer ? tokenizer : make_tokenizer(c, k, f)};
    if (!t->tokenizer || !check_specials(c, k, t->tokenizer)) return false;
    snprintf(size, sizeof size, "%d", heed_vocab_size(t->tokenizer));
    if (!heed_config_set(f, "vocab", size, "vocab", HEED_FROM_FLAG)) return false;
    t->corpus = heed_corpus_open(
        c, heed_config_text(f, "data"), t->tokenizer,
        (heed_corpus_args){.packing = strcmp(heed_config_text(f, "packing"), "lines") == 0
                                          ? HEED_LINES
                                          : HEED_BLOCKS,
                           .bracket = k->masked,
                           .block = (int)heed_config_int(f, "block"),
                           .val_split = heed_config_real(f, "val-split"),
                           .tail = strcmp(heed_config_text(f, "split"), "tail") == 0,
                           .val_path = *val ? val : NULL});
    return t->corpus != NULL;
}

void text_close(text_data *t) {
    heed_corpus_free(t->corpus);
    heed_tokenizer_free(t->tokenizer);
    *t = (text_data){0};
}
