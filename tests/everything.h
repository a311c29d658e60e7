/* everything.h -- an object of each kind, and calls that are made with NULL in place of one. */
#ifndef HEED_TEST_EVERYTHING_H
#define HEED_TEST_EVERYTHING_H

#include "files.h"

#include <heed/record.h>

/* w: a parameter of shape (3,3), which is also a tensor of no use to most calls. */
typedef struct {
    heed_ctx *c;
    heed_store *s;
    heed_tape *t;
    heed_tensor *w;
    heed_tokenizer *k;
    heed_corpus *corpus;
    heed_pairs *pairs;
    heed_optim *o;
    heed_config *f;
    heed_record *record;
    heed_text text;
    heed_tokens tokens;
} everything;

static inline everything open_everything(void) {
    everything l = {.c = heed_open(&(heed_options){.threads = 1})};
    l.s = heed_store_new(l.c);
    l.w = heed_param(l.s, "w", "one", 2, (int[]){3, 3});
    l.t = heed_tape_new(l.c);
    heed_tape_begin(l.t, HEED_TRAIN, 0);
    l.k = heed_tokenizer_train(l.c, "a b c\n", 6,
                               (heed_tokenizer_args){.kind = "char", .specials = true});
    l.corpus = heed_corpus_open(l.c, text_file("a.txt", "a b c a b c\na b c a b c\n"), l.k,
                                (heed_corpus_args){.block = 8, .packing = HEED_LINES});
    l.pairs = heed_pairs_open(l.c, text_file("a.tsv", "a b\ta b\nb c\tb c\n"),
                              &(heed_pairs_args){.kind = HEED_TRANSLATION, .block = 8});
    l.o = heed_optim_new(l.s, &heed_sgd, NULL);
    l.f = heed_config_new(l.c, (const heed_option *const[]){heed_fit_options, NULL});
    l.record = heed_record_new(l.c);
    l.text.c = l.tokens.c = l.c;
    CHECK(heed_ctx_status(l.c) == HEED_OK);
    return l;
}

static inline void close_everything(everything *l) {
    heed_text_free(&l->text);
    heed_tokens_free(&l->tokens);
    CLOSE(l->c);
}

/* Memory of zeros for any struct, and arrays. */
static _Alignas(64) char zeros[1 << 16];
static int shape[4] = {3, 3, 1, 1};

/* Must not crash, whatever it answers; l is the everything at hand. */
#define CALL(call)                                                                                 \
    do {                                                                                           \
        void *zero = memset(zeros, 0, sizeof zeros);                                               \
        (void)zero;                                                                                \
        (void)call;                                                                                \
        heed_clear(l.c);                                                                           \
    } while (0)

#endif
