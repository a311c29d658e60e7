/* A folder of files for the fuzzers of sets of pictures, and what must hold of every set that
 * opens. */
#ifndef HEED_FUZZ_IMAGES_FOLDER_H
#define HEED_FUZZ_IMAGES_FOLDER_H

#include "data/sets.h"

#include <heed/heed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void require(bool condition) {
    if (!condition) abort();
}

/* "files-PID/name" in the working folder; the folder is made. */
static inline const char *place(const char *name) {
    static char path[2][128];
    static int turn;
    char *p = path[turn ^= 1];
    snprintf(p, sizeof path[0], "files-%d", (int)getpid());
    mkdir(p, 0777);
    snprintf(p, sizeof path[0], "files-%d/%s", (int)getpid(), name);
    return p;
}

static inline void put(const char *name, const void *bytes, size_t n) {
    FILE *f = fopen(place(name), "wb");
    require(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static inline void use(heed_images *k) {
    heed_batch b;
    for (uint64_t i = 0; k && i < 6; i++) {
        heed_batch_at at = {.val = i & 1, .index = i / 2, .rows = 3};
        if (!heed__image_batch(k, at, &b)) break;
        require(b.rows >= 1 && b.rows <= 3);
        for (int j = 0; j < b.rows * b.len; j++) require(b.x[j] == b.x[j]);
        for (int j = 0; j < b.rows; j++)
            require(b.labels[j] >= 0 && b.labels[j] < heed_images_about(k)->classes);
    }
}

/* Opens what lies at path, as `how` says, and goes through some of it. */
static inline void open_and_use(const char *path, int how) {
    const char *const labels[] = {"0", "1", "2", "3"};
    heed_ctx *c = heed_open(&(heed_options){.seed = 1, .isa = "generic", .threads = 1});
    heed__images_args a = {.val_split = how & 1 ? 0.3 : 0,
                           .size = how & 2 ? 4 : 0,
                           .no_test = how & 4,
                           .channels = how & 8 ? 3 : 0,
                           .convert = how & 16,
                           .augment = {.flip = 0.5, .pad = 1}};
    if (how & 32) a.labels = labels, a.label_count = 4, a.deviation[0] = 0;
    heed_images *k = heed__images_open(c, path, &a);
    require(k || heed_ctx_status(c) != HEED_OK);
    use(k);
    heed_close(c);
}

#endif
