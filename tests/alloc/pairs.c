/* Memory as a promise, of pairs of texts and BLEU. */
#include "pairs.h"
#include "data/sets.h"

#include "failures.h"
#include "interpose.h"

#include <heed/heed.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 40, ROWS = 4, KINDS = 3 };
static const struct {
    const char *name, *line;
} files[KINDS] = {
    [HEED_TARGET_TEXT] = {"pairs.tsv", "a%.*s\tb%.*s\n"},
    [HEED_TARGET_CLASSES] = {"classes.jsonl", "{\"text\": \"a%.*s\", \"label\": \"%.*s\"}\n"},
    [HEED_TARGET_TAGS] = {"tags.tsv", "a %.*s\tA %.*s\n"},
};

void even_pairs(const char *dir, int kind, char path[640]) {
    snprintf(path, 640, "%s/even-%d.tsv", dir, kind);
}

static void make_even_pairs(const char *dir, int kind) {
    static const char *const lines[KINDS] = {
        [HEED_TARGET_TEXT] = "%c%c%c\t%c%c%c\n",
        [HEED_TARGET_CLASSES] = "%c\t%c%c%c%c%c\n",
        [HEED_TARGET_TAGS] = "%c %c %c\t%c %c %c\n",
    };
    char path[640];
    even_pairs(dir, kind, path);
    FILE *f = fopen(path, "w");
    for (int i = 0; i < LINES; i++)
        fprintf(f, lines[kind], 'a' + i % 3, 'b' + i % 5, 'c' + i % 7, 'a' + i % 4, 'a' + i % 2,
                'c' + i % 6);
    fclose(f);
}

static void make_files(const char *dir) {
    for (int kind = 0; kind < KINDS; kind++) {
        char path[640];
        make_even_pairs(dir, kind);
        snprintf(path, sizeof path, "%s/%s", dir, files[kind].name);
        FILE *f = fopen(path, "w");
        for (int i = 0; i < LINES; i++)
            fprintf(f, files[kind].line, 1 + i % 7, "abcdefgh", 1 + i % 5, "XYZUVW");
        fclose(f);
    }
}

typedef struct {
    const char *dir;
    int kind;
    long calls; /* of the allocator, in steady batches */
} pairs_job;

/* Opens, encodes, takes batches, judges. */
static bool whole_way(void *data) {
    pairs_job *j = data;
    int kind = j->kind;
    char path[640];
    heed_batch b;
    heed_bleu score = {0};
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = 1});
    heed_text text = {.c = c};
    snprintf(path, sizeof path, "%s/%s", j->dir, files[kind].name);
    heed__pairs *k = heed__pairs_open(
        c, path,
        &(heed__pairs_args){.kind = (heed_target_kind)kind, .val_split = 0.2, .block = 16});
    heed__pairs_text(k, 2, &text);
    heed_tokenizer *t = heed_tokenizer_train(
        c, text.s, text.n, (heed_tokenizer_args){.kind = "char", .specials = true});
    heed_text_free(&text);
    heed__pairs_encode(k, t, kind == HEED_TARGET_TEXT ? t : NULL);
    for (uint64_t i = 0; k && i < 40; i++) {
        if (i == 2) j->calls = alloc_calls;
        heed__pair_batch(k, (heed_batch_at){.index = i, .rows = ROWS}, &b);
        if (i % 7 == 1) heed__pair_batch(k, (heed_batch_at){.val = true, .rows = ROWS}, &b);
    }
    j->calls = alloc_calls - j->calls;
    heed__bleu_add(c, &score, "the cat sat on the mat .", "the cat is on the mat .");
    bool ok = k && heed_ctx_status(c) == HEED_OK;
    heed_close(c);
    return ok;
}

void check_pairs(const char *dir, void (*check)(bool ok, const char *what)) {
    char what[128];
    make_files(dir);
    for (int kind = 0; kind < KINDS; kind++) {
        pairs_job j = {.dir = dir, .kind = kind};
        bool ok = whole_way(&j);
        snprintf(what, sizeof what, "%s: %ld allocator calls in steady batches", files[kind].name,
                 j.calls);
        check(ok && j.calls == 0, what);
        fail_each((alloc_job){files[kind].name, whole_way, &j}, NULL, check);
    }
}
