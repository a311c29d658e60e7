/* Memory as a promise, of sets of pictures. */
#include "images.h"
#include "data/sets.h"
#include "io/io.h"

#include "failures.h"
#include "interpose.h"

#include <heed/heed.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { SIDE = 8, EACH = 5, LIST = 2, KINDS = 3 };
static const char *const kinds[KINDS] = {"folder", "idx", "folder/list.csv"};

static void make_sets(const char *dir) {
    char path[640];
    heed_ctx *c = heed_open(NULL);
    unsigned char rgb[SIDE * SIDE * 3];
    for (int class = 0; class < 2; class ++) {
        snprintf(path, sizeof path, "%s/folder", dir);
        mkdir(path, 0777);
        snprintf(path, sizeof path, "%s/folder/%d", dir, class);
        mkdir(path, 0777);
        for (int i = 0; i < EACH; i++) {
            memset(rgb, 20 * i + class, sizeof rgb);
            snprintf(path, sizeof path, "%s/folder/%d/%d.png", dir, class, i);
            heed__png_save(c, path, rgb, SIDE, SIDE);
        }
    }
    heed_close(c);
    snprintf(path, sizeof path, "%s/folder/list.csv", dir);
    FILE *f = fopen(path, "w");
    fputs("path,label\n0/0.png,a\n\"1/1.png\",b\n0/2.png,a\nmissing.png,b\n", f);
    fclose(f);
    snprintf(path, sizeof path, "%s/idx", dir);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/idx/train-images-idx3-ubyte.gz", dir);
    gzFile g = gzopen(path, "wb");
    gzwrite(g,
            "\0\0\x08\x03\0\0\0\x04\0\0\0\x02\0\0\0\x02"
            "abcdefghijklmnop",
            32);
    gzclose(g);
    snprintf(path, sizeof path, "%s/idx/train-labels-idx1-ubyte", dir);
    f = fopen(path, "wb");
    fwrite("\0\0\x0B\x01\0\0\0\x04\0\0\0\x01\0\0\0\x01", 1, 16, f);
    fclose(f);
}

typedef struct {
    const char *dir;
    int kind, workers;
    long calls; /* of the allocator, in steady batches */
    bool lost;  /* a picture taken for a bad one because there was no memory for it */
} images_job;

/* Opens, trains a little, evaluates a little. */
static bool whole_way(void *data) {
    images_job *j = data;
    char path[640];
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = 1});
    heed_batch b;
    snprintf(path, sizeof path, "%s/%s", j->dir, kinds[j->kind]);
    heed_images *k = heed__images_open(c, path,
                                       &(heed__images_args){.val_split = 0.3,
                                                            .workers = j->workers,
                                                            .augment = {.flip = 0.5, .pad = 1}});
    for (uint64_t i = 0; k && i < 20; i++) {
        if (i == 5) j->calls = alloc_calls;
        heed__image_batch(k, (heed_batch_at){.index = i, .rows = 4}, &b);
        if (i % 7 == 3) heed__image_batch(k, (heed_batch_at){.val = true, .rows = 4}, &b);
    }
    j->calls = alloc_calls - j->calls;
    bool ok = heed_ctx_status(c) == HEED_OK && k;
    j->lost |= ok && heed_images_about(k)->bad != (j->kind == LIST);
    heed_close(c);
    return ok;
}

void check_images(const char *dir, void (*check)(bool ok, const char *what)) {
    char name[128], what[128];
    make_sets(dir);
    for (int kind = 0; kind < KINDS; kind++)
        for (int workers = 0; workers < 3; workers += 2) {
            images_job j = {.dir = dir, .kind = kind, .workers = workers};
            snprintf(name, sizeof name, "%s with %d workers", kinds[kind], workers);
            bool ok = whole_way(&j);
            snprintf(what, sizeof what, "%.60s: %ld allocator calls in steady batches", name,
                     j.calls);
            check(ok && j.calls == 0, what);
            fail_each((alloc_job){name, whole_way, &j}, NULL, check);
            snprintf(what, sizeof what, "%.60s: a picture skipped for want of memory", name);
            check(!j.lost, what);
        }
}
