/* Memory as a promise, of pictures with captions. */
#include "captions.h"
#include "data/sets.h"

#include "failures.h"
#include "interpose.h"

#include <heed/heed.h>
#include <stdio.h>

static void make_list(const char *dir) {
    char path[640];
    snprintf(path, sizeof path, "%s/folder/captions.tsv", dir);
    FILE *f = fopen(path, "w");
    fputs("file\tcaption\n", f);
    for (int i = 0; i < 15; i++)
        fprintf(f, "%d/%d.png\t%c on %c\n", i & 1, i % 5, 'a' + i % 3, 'a' + i % 4);
    fputs("missing.png\ta on b\n", f);
    fclose(f);
}

heed__captions *open_captions(heed_ctx *c, const char *dir, int workers, heed_tokenizer **words) {
    char path[640];
    heed_text text = {.c = c};
    snprintf(path, sizeof path, "%s/folder/captions.tsv", dir);
    heed__pairs *pairs = heed__pairs_open(
        c, path, &(heed__pairs_args){.kind = HEED_TARGET_CAPTIONS, .val_split = 0.3, .block = 8});
    heed__pairs_text(pairs, 1, &text);
    *words = heed_tokenizer_train(c, text.s, text.n, (heed_tokenizer_args){.kind = "word"});
    heed_text_free(&text);
    heed__pairs_encode(pairs, NULL, *words);
    return heed__captions_open(
        c, pairs, &(heed__images_args){.workers = workers, .augment = {.flip = 0.5, .pad = 1}});
}

typedef struct {
    const char *dir;
    int workers;
    long calls; /* of the allocator, in steady batches */
    bool lost;  /* a picture taken for a bad one because there was no memory for it */
} captions_job;

/* Opens, trains a little, evaluates a little. */
static bool whole_way(void *data) {
    captions_job *j = data;
    heed_batch b;
    heed_tokenizer *words;
    heed__captioned found;
    heed_picture picture;
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = 1});
    heed__captions *k = open_captions(c, j->dir, j->workers, &words);
    for (uint64_t i = 0; k && i < 20; i++) {
        if (i == 5) j->calls = alloc_calls;
        heed__caption_batch(k, (heed_batch_at){.index = i, .rows = 4}, &b);
        if (i % 7 == 3) heed__caption_batch(k, (heed_batch_at){.val = true, .rows = 4}, &b);
    }
    j->calls = alloc_calls - j->calls;
    if (heed__captions_get(k, true, 0, &found, &picture)) heed_picture_free(&picture);
    bool ok = heed_ctx_status(c) == HEED_OK && k;
    j->lost |= ok && heed_images_about(heed__captions_images(k))->bad > 1;
    heed_close(c);
    return ok;
}

void check_captions(const char *dir, void (*check)(bool ok, const char *what)) {
    char what[128];
    make_list(dir);
    for (int workers = 0; workers < 3; workers += 2) {
        captions_job j = {.dir = dir, .workers = workers};
        bool ok = whole_way(&j);
        snprintf(what, sizeof what, "captions: %ld allocator calls in steady batches", j.calls);
        check(ok && j.calls == 0, what);
        fail_each((alloc_job){"captions", whole_way, &j}, NULL, check);
        check(!j.lost, "captions: a picture skipped for want of memory");
    }
}
