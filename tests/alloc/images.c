/* Memory as a promise, of sets of pictures. */
#include "images.h"

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
            heed_png_save(c, path, rgb, SIDE, SIDE);
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

/* Opens, trains a little, evaluates a little. A picture is never taken for a bad one because there
 * was no memory for it: -1. */
static int whole_way(const char *dir, int kind, int workers, long *calls) {
    char path[640];
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = 1});
    heed_batch b;
    snprintf(path, sizeof path, "%s/%s", dir, kinds[kind]);
    heed_images *k = heed_images_open(c, path,
                                      &(heed_images_args){.val_split = 0.3,
                                                          .workers = workers,
                                                          .augment = {.flip = 0.5, .pad = 1}});
    for (uint64_t i = 0; k && i < 20; i++) {
        if (i == 5) *calls = alloc_calls;
        heed_image_batch(k, (heed_batch_at){.index = i, .rows = 4}, &b);
        if (i % 7 == 3) heed_image_batch(k, (heed_batch_at){.val = true, .rows = 4}, &b);
    }
    *calls = alloc_calls - *calls;
    bool ok = heed_state(c) == HEED_OK && k;
    bool lost = ok && heed_images_about(k)->bad != (kind == LIST);
    heed_close(c);
    return lost ? -1 : ok;
}

void check_images(const char *dir, void (*check)(bool ok, const char *what)) {
    char what[128];
    make_sets(dir);
    for (int kind = 0; kind < KINDS; kind++)
        for (int workers = 0; workers < 3; workers += 2) {
            long steady = 0, errors = 0, before = alloc_calls, n = 1, calls;
            bool ok = whole_way(dir, kind, workers, &steady) == 1;
            long total = alloc_calls - before;
            snprintf(what, sizeof what, "%s with %d workers: %ld allocator calls in steady batches",
                     kinds[kind], workers, steady);
            check(ok && steady == 0, what);
            for (; n <= total; n++) {
                alloc_calls = 0;
                alloc_fail_at = n;
                int end = whole_way(dir, kind, workers, &calls);
                alloc_fail_at = 0;
                errors += end == 0;
                if (end < 0) check(false, "a picture skipped for want of memory");
            }
            snprintf(what, sizeof what,
                     "%s with %d workers: %ld of %ld failed allocations ended "
                     "in an error",
                     kinds[kind], workers, errors, total);
            printf("%s\n", what);
            check(errors * 10 >= total * 9, what);
        }
}
