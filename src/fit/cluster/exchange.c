/* exchange.c -- adds gradients of several processes by the tree. The array of gradients is cut into
 * buckets, and each bucket into a slice for every process. When backward has completed a bucket,
 * each process sends the others its branches of their slices; each adds all branches of its slice
 * in the order of the tree, and sends the sum to all: of n bytes, 2 n (ranks - 1) / ranks for each
 * process, if its micro-batches are one branch. Every process begins the same exchanges in the same
 * order, so messages between two need no names. */
#include "core/tape.h"
#include "fit/fit.h"

#include <string.h>

enum { BUCKET = 1 << 18, AREAS = HEED__AHEAD + 1 };

/* ---- what is where ---- */

typedef struct {
    size_t at, size;
} range;

static size_t bucket_count(const heed__fitting *f) {
    return (f->gradients.size + BUCKET - 1) / BUCKET;
}

static range slice_of(const heed__fitting *f, size_t bucket, int rank) {
    size_t begin = bucket * BUCKET, left = f->gradients.size - begin;
    size_t n = left < BUCKET ? left : BUCKET, ranks = (size_t)f->group.k->ranks;
    size_t from = n * (size_t)rank / ranks, to = n * ((size_t)rank + 1) / ranks;
    return (range){begin + from, to - from};
}

/* Branch number i of the own slice: in the own array, or where it is received. */
static heed_real *branch_at(const heed__fitting *f, size_t bucket, int i) {
    const heed__group *g = &f->group;
    int own = i - g->first[g->k->rank];
    if (own >= 0 && i < g->first[g->k->rank + 1])
        return f->gradients.level[own] + slice_of(f, bucket, g->k->rank).at;
    size_t most = BUCKET / (size_t)g->k->ranks + 1;
    return g->received[bucket % AREAS] + (size_t)i * most;
}

static int branches_of(const heed__group *g, int rank) {
    return g->first[rank + 1] - g->first[rank];
}

/* ---- a bucket ---- */

static void exchange(heed__fitting *f, int to, const heed_real *out, size_t n, int from,
                     heed_real *in, size_t m) {
    heed__group *g = &f->group;
    g->posted++;
    if (!g->ended)
        g->ended =
            !heed__cluster_exchange(f->c, g->k, to, out, n * sizeof *out, from, in, m * sizeof *in);
}

static void wait_for(heed__fitting *f, size_t pending) {
    heed__group *g = &f->group;
    if (!g->ended) g->ended = !heed__cluster_wait(f->c, g->k, pending);
}

static void send_branches(heed__fitting *f, size_t bucket) {
    heed__group *g = &f->group;
    int me = g->k->rank, ranks = g->k->ranks, mine = branches_of(g, me);
    for (int d = 1; d < ranks; d++) {
        int to = (me + d) % ranks, from = (me + ranks - d) % ranks, theirs = branches_of(g, from);
        range out = slice_of(f, bucket, to), in = slice_of(f, bucket, me);
        for (int i = 0; i < mine || i < theirs; i++)
            exchange(f, to, i < mine ? f->gradients.level[i] + out.at : NULL,
                     i < mine ? out.size : 0, from,
                     i < theirs ? branch_at(f, bucket, g->first[from] + i) : NULL,
                     i < theirs ? in.size : 0);
    }
    g->mark[bucket % AREAS] = g->posted;
}

/* Adds all branches of the own slice; the sum is then in the first own array. */
static void add_branches(heed__fitting *f, size_t bucket) {
    heed__group *g = &f->group;
    heed_real *value[HEED__BRANCHES];
    heed__tree t = {.depth = 0};
    range slice = slice_of(f, bucket, g->k->rank);
    for (int i = 0; i < g->first[g->k->ranks]; i++) {
        int top = t.depth;
        value[top] = branch_at(f, bucket, i);
        for (int n = heed__tree_push(&t, g->branches[i]); n > 0; n--, top--)
            heed__add(value[top - 1], value[top], slice.size);
    }
    for (int n = t.depth - 1; n > 0; n--) heed__add(value[n - 1], value[n], slice.size);
    heed_real *sum = f->gradients.level[0] + slice.at;
    if (value[0] != sum) memcpy(sum, value[0], slice.size * sizeof *sum);
}

static void send_sum(heed__fitting *f, size_t bucket) {
    const heed__group *g = &f->group;
    int me = g->k->rank, ranks = g->k->ranks;
    for (int d = 1; d < ranks; d++) {
        int to = (me + d) % ranks, from = (me + ranks - d) % ranks;
        range out = slice_of(f, bucket, me), in = slice_of(f, bucket, from);
        exchange(f, to, f->gradients.level[0] + out.at, out.size, from,
                 f->gradients.level[0] + in.at, in.size);
    }
}

static void finish_bucket(heed__fitting *f, size_t bucket) {
    heed__group *g = &f->group;
    wait_for(f, g->posted - g->mark[bucket % AREAS]);
    if (g->ended) return;
    add_branches(f, bucket);
    send_sum(f, bucket);
}

/* A process that is ahead waits here for the others; with HEED__AHEAD buckets it seldom has to. */
static void next_bucket(heed__fitting *f) {
    heed__group *g = &f->group;
    size_t bucket = g->buckets++;
    send_branches(f, bucket);
    if (bucket >= HEED__AHEAD) finish_bucket(f, bucket - HEED__AHEAD);
}

/* ---- during backward ---- */

/* Sends the buckets that are complete: those whose parameters are all final. */
static void advance(heed__fitting *f) {
    heed__group *g = &f->group;
    heed__gradients *all = &f->gradients;
    for (; g->part < all->count && all->parts[g->part].final; g->part++)
        if (g->merges) heed__gradients_merge(all, &all->parts[g->part], g->slot, g->merge_count);
    size_t done = g->part < all->count ? all->parts[g->part].at : all->size;
    while (g->buckets < bucket_count(f) && (done == all->size || (g->buckets + 1) * BUCKET <= done))
        next_bucket(f);
}

static void on_final(void *user, heed_tensor *x) {
    heed__fitting *f = user;
    heed__gradients *all = &f->gradients;
    for (size_t i = f->group.part; i < all->count; i++)
        if (all->parts[i].entry->tensor == x) all->parts[i].final = true;
    advance(f);
}

void heed__group_send(heed__fitting *f) {
    heed__group *g = &f->group;
    heed__tree *t = &f->gradients.tree;
    g->slot = t->depth;
    g->merge_count = heed__tree_push(t, (heed__branch){g->to - 1, 1});
    g->merges = true;
    heed__tape_on_final(f->tape, on_final, f);
}

/* ---- the end of an update ---- */

static void send_words(heed__fitting *f) {
    heed__group *g = &f->group;
    int me = g->k->rank, ranks = g->k->ranks;
    for (int d = 1; d < ranks; d++) {
        int to = (me + d) % ranks, from = (me + ranks - d) % ranks;
        if (!g->ended)
            g->ended =
                !heed__cluster_exchange(f->c, g->k, to, g->words + (size_t)me * g->word, g->word,
                                        from, g->words + (size_t)from * g->word, g->word);
    }
    wait_for(f, 0);
}

static void begin_update(heed__fitting *f) {
    heed__group *g = &f->group;
    g->posted = g->buckets = g->part = 0;
    g->merges = false;
    f->gradients.tree.depth = 0;
    for (size_t i = 0; i < f->gradients.count; i++) f->gradients.parts[i].final = false;
}

bool heed__group_reduce(heed__fitting *f, bool leaves) {
    heed__group *g = &f->group;
    heed__gradients *all = &f->gradients;
    heed__tape_on_final(f->tape, NULL, NULL);
    if (heed__stopped(f->c)) g->merges = false;
    for (size_t i = g->part; i < all->count; i++) all->parts[i].final = true;
    advance(f);
    size_t n = g->buckets;
    for (size_t i = n < HEED__AHEAD ? 0 : n - HEED__AHEAD; i < n; i++) finish_bucket(f, i);
    heed__word_write(f, leaves);
    send_words(f);
    bool ok = !g->ended && heed__word_read(f, leaves);
    for (size_t i = 0; ok && i < all->count; i++) {
        heed_tensor *x = all->parts[i].entry->tensor;
        memcpy(x->g, all->level[0] + all->parts[i].at, x->size * sizeof *x->g);
    }
    if (!ok || leaves) g->ended = true;
    begin_update(f);
    return ok;
}

/* ---- start and end ---- */

static int most_branches(uint32_t micros, int ranks) {
    int n = 0;
    for (int r = 0; r < ranks; r++)
        n += heed__tree_depth(heed__tree_first(micros, ranks, r),
                              heed__tree_first(micros, ranks, r + 1));
    return n;
}

/* Lists the branches that each rank holds after its micro-batches. */
static void list_branches(heed__group *g) {
    int n = 0;
    for (int r = 0; r < g->k->ranks; r++) {
        heed__tree t = {.depth = 0};
        uint32_t end = heed__tree_first(g->micros, g->k->ranks, r + 1);
        for (uint32_t i = heed__tree_first(g->micros, g->k->ranks, r); i < end; i++)
            heed__tree_push(&t, (heed__branch){i, 1});
        g->first[r] = n;
        memcpy(g->branches + n, t.at, (size_t)t.depth * sizeof *t.at);
        n += t.depth;
    }
    g->first[g->k->ranks] = n;
}

bool heed__group_open(heed__fitting *f) {
    heed__group *g = &f->group;
    size_t ranks = (size_t)g->k->ranks;
    int branches = most_branches(f->micros, g->k->ranks);
    g->branches = heed__alloc_array(f->c, (size_t)branches, sizeof *g->branches);
    g->first = heed__alloc_array(f->c, ranks + 1, sizeof *g->first);
    if (!g->branches || !g->first) return false;
    list_branches(g);
    for (int i = 0; i < AREAS; i++)
        g->received[i] = heed__alloc_array(f->c, (size_t)g->first[ranks],
                                           (BUCKET / ranks + 1) * sizeof **g->received);
    g->word = heed__word_bytes(f);
    g->words = heed__alloc_array(f->c, ranks, g->word);
    begin_update(f);
    return !heed__stopped(f->c);
}

void heed__group_free(heed__group *g) {
    for (int i = 0; i < AREAS; i++) heed__free(g->received[i]);
    heed__free(g->branches);
    heed__free(g->first);
    heed__free(g->words);
    *g = (heed__group){0};
}
