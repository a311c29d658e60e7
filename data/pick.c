/* pick DATA FOLDER [--per-class N] [--held N] [--seed N] -- a few labelled pictures of a large set.
 *
 * DATA has IDX files, as MNIST; FOLDER gets IDX files with N training pictures of each class
 * (--per-class 10), chosen by the seed, as its training part. Its test part is that of DATA, or
 * with
 * --held N another N of DATA's training pictures, none of which any seed chooses: they are the last
 * N of the set. */
#define MAKER "pick"
#define PICTURES
#include "maker.h"

enum { CLASSES = 256 };

static void fail(const char *what, const char *path) {
    fprintf(stderr, "pick: %s: %s\n", path, what);
    exit(1);
}

static uint32_t number(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A part of a set: pictures of `bytes` bytes each, with a label. */
typedef struct {
    uint32_t count, rows, columns, bytes;
    unsigned char *pixels, *labels;
} part;

/* Opens PATH or PATH.gz and reads its header of `words` numbers, the first of which is magic. */
static gzFile read_header(const char *folder, const char *name, uint32_t magic, int words,
                          uint32_t *header) {
    char path[PATH_ROOM];
    unsigned char bytes[16];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gzFile f = gzopen(path, "rb");
    if (!f) {
        snprintf(path, sizeof path, "%s/%s.gz", folder, name);
        f = gzopen(path, "rb");
    }
    if (!f) fail("no such IDX file", path);
    if (gzread(f, bytes, (unsigned)words * 4) != words * 4 || number(bytes) != magic)
        fail("not an IDX file of bytes", path);
    for (int i = 0; i < words; i++) header[i] = number(bytes + 4 * i);
    return f;
}

static unsigned char *read_rest(gzFile f, size_t n, const char *name) {
    unsigned char *bytes = malloc(n ? n : 1);
    for (size_t at = 0; at < n;) {
        size_t left = n - at;
        int got = bytes ? gzread(f, bytes + at, left < 1 << 20 ? (unsigned)left : 1 << 20) : -1;
        if (got < 1) fail("the file is truncated, or too large", name);
        at += (size_t)got;
    }
    gzclose(f);
    return bytes;
}

static part read_part(const char *folder, const char *name) {
    char images[64], labels[64];
    uint32_t h[4], l[2];
    snprintf(images, sizeof images, "%s-images-idx3-ubyte", name);
    snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte", name);
    gzFile f = read_header(folder, images, 0x803, 4, h),
           g = read_header(folder, labels, 0x801, 2, l);
    part p = {.count = h[1], .rows = h[2], .columns = h[3], .bytes = h[2] * h[3]};
    if (l[1] != p.count || h[2] > 4096 || h[3] > 4096) fail("labels or sizes do not fit", images);
    p.pixels = read_rest(f, (size_t)p.count * p.bytes, images);
    p.labels = read_rest(g, p.count, labels);
    return p;
}

static void write_part(const char *folder, const char *name, const part *p) {
    char path[PATH_ROOM];
    FILE *f = open_idx(folder, name, true, p->count, p->rows, p->columns, path);
    if (f) fwrite(p->pixels, p->bytes, p->count, f);
    if (!finish(f, path)) exit(1);
    f = open_idx(folder, name, false, p->count, 0, 0, path);
    if (f) fwrite(p->labels, 1, p->count, f);
    if (!finish(f, path)) exit(1);
}

/* A linear congruential generator, with which the choice is the same everywhere. Knuth 1998, sec.
 * 3.3.4. */
static uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

/* The first `each` pictures of each class in an order shuffled by the seed. */
static part choose(const part *all, uint32_t each, uint64_t seed) {
    part out = *all;
    uint32_t *order = malloc((size_t)all->count * sizeof *order), left[CLASSES];
    out.pixels = malloc((size_t)all->count * all->bytes);
    out.labels = malloc(all->count);
    if (!order || !out.pixels || !out.labels) fail("out of memory", "pictures");
    uint64_t state = seed * 2654435761u + 1;
    out.count = 0;
    for (int c = 0; c < CLASSES; c++) left[c] = each;
    for (uint32_t i = 0; i < all->count; i++) order[i] = i;
    for (uint32_t i = all->count; i-- > 0;) {
        uint32_t j = draw(&state, i + 1), chosen = order[j];
        order[j] = order[i];
        if (!left[all->labels[chosen]]) continue;
        left[all->labels[chosen]]--;
        memcpy(out.pixels + (size_t)out.count * all->bytes,
               all->pixels + (size_t)chosen * all->bytes, all->bytes);
        out.labels[out.count++] = all->labels[chosen];
    }
    free(order);
    return out;
}

int main(int argc, char **argv) {
    uint64_t each = 10, held = 0, seed = 1;
    const char *folders[2];
    const flag flags[] = {{"--per-class", 1, UINT32_MAX, &each, NULL},
                          {"--held", 0, UINT32_MAX, &held, NULL},
                          {"--seed", 0, UINT64_MAX, &seed, NULL},
                          {0}};
    if (!read_arguments(argc, argv, flags, folders, 2)) {
        fputs("usage: pick DATA FOLDER [--per-class N] [--held N] [--seed N]\n", stderr);
        return 2;
    }
    part train = read_part(folders[0], "train"), test = {0};
    if (held >= train.count) fail("there are not that many pictures", folders[0]);
    if (held) {
        train.count -= (uint32_t)held;
        test = train;
        test.count = (uint32_t)held;
        test.pixels += (size_t)train.count * train.bytes;
        test.labels += train.count;
    } else
        test = read_part(folders[0], "t10k");
    part few = choose(&train, (uint32_t)each, seed);
    mkdir(folders[1], 0777);
    write_part(folders[1], "train", &few);
    write_part(folders[1], "t10k", &test);
    return 0; /* the memory is freed with the process */
}
