/* Texts in files, and the corpora that they make. */
#ifndef HEED_TEST_CORPORA_H
#define HEED_TEST_CORPORA_H

#include "data/sets.h"
#include "test.h"

enum { WORDS = 4000 };

static inline heed_ctx *open_ctx(void) { return heed_open(&(heed_options){.seed = 7}); }

static const char *write_file(const char *name, const char *s, size_t n) {
    static char path[2][128];
    static int turn;
    char *p = path[turn ^= 1];
    snprintf(p, sizeof path[0], "%s/%s", test_folder(), name);
    FILE *f = fopen(p, "wb");
    if (!f || fwrite(s, 1, n, f) != n || fclose(f) != 0) exit(1);
    return p;
}

/* "w0 w1 w2 ..." : every token of the text is another one, so an id tells where it stood. */
static inline heed_text counted(heed_ctx *c, int words, int per_line) {
    heed_text t = {.c = c};
    for (int i = 0; i < words; i++) heed_text_add(&t, "w%d%s", i, (i + 1) % per_line ? " " : "\n");
    return t;
}

typedef struct {
    heed_ctx *c;
    heed_tokenizer *k;
    heed__corpus *corpus;
    int place[WORDS + 8]; /* of each id in the text */
} world;

static inline world open_world(int words, int per_line, heed__corpus_args a) {
    world w = {.c = open_ctx()};
    heed_text t = counted(w.c, words, per_line);
    w.k = heed_tokenizer_train(w.c, t.s, t.n, (heed_tokenizer_args){.kind = "word"});
    w.corpus = heed__corpus_open(w.c, write_file("w.txt", t.s, t.n), w.k, a, NULL);
    for (int id = 0; id < heed_vocab_size(w.k); id++)
        w.place[id] = heed_token_text(w.k, id)[0] == 'w' ? atoi(heed_token_text(w.k, id) + 1) : -1;
    heed_text_free(&t);
    return w;
}

#endif
