/* cluster.c -- a training by several processes. Before its first step they become one, agree on
 * what they train, and take the state of rank 0, which alone reads the run. Then gradients are
 * added by the tree: the array of gradients is cut into buckets, and each bucket into a slice for
 * every process. When backward has completed a bucket, each process sends the others its branches
 * of their slices; each adds all branches of its slice in the order of the tree, and sends the sum
 * to all: of n bytes, 2 n (ranks - 1) / ranks for each process, if its micro-batches are one
 * branch. Every process begins the same exchanges in the same order, so messages between two need
 * no names. At the end of an update each says a word to the others. */
#include "core/tape.h"
#include "fit/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool heed__cluster_check(heed_ctx *c, const heed_cluster *k) {
    if (!k || (k->ranks >= 1 && k->rank >= 0 && k->rank < k->ranks && k->exchange)) return true;
    return heed_fail(c, HEED_USAGE,
                     "cluster is wrong: expected a rank below the number of ranks, and a function "
                     "`exchange`, found rank %d of %d%s",
                     k->rank, k->ranks, k->exchange ? "" : " without one");
}

static bool lost(heed_ctx *c, const heed_cluster *k) {
    return heed_fail(c, HEED_FAILED,
                     "process %d of %d cannot reach another one; hint: did one of them end?",
                     k->rank, k->ranks);
}

/* Begins an exchange, or waits for all except the last `pending`. False, with an error: lost. */
static bool send_and_receive(heed_ctx *c, const heed_cluster *k, int to, const void *out, size_t n,
                             int from, void *in, size_t m) {
    return (!n && !m) || k->exchange(k->user, to, out, n, from, in, m) || lost(c, k);
}

static bool await(heed_ctx *c, const heed_cluster *k, size_t pending) {
    return !k->wait || k->wait(k->user, pending) || lost(c, k);
}

typedef struct {
    int32_t status;
    char why[1020];
} report;

bool heed_cluster_agree(heed_ctx *c, const heed_cluster *k) {
    if (!c || !heed__cluster_check(c, k) || !k) return c && !heed__stopped(c);
    report mine = {(int32_t)heed_ctx_status(c), ""}, first = {0}, theirs;
    int failed = k->ranks;
    snprintf(mine.why, sizeof mine.why, "%s", heed_ctx_error(c));
    for (int d = 1; d < k->ranks; d++) {
        int to = (k->rank + d) % k->ranks, from = (k->rank + k->ranks - d) % k->ranks;
        if (!send_and_receive(c, k, to, &mine, sizeof mine, from, &theirs, sizeof theirs) ||
            !await(c, k, 0))
            return false;
        if (theirs.status == HEED_OK || from > failed) continue;
        failed = from;
        first = theirs;
    }
    if (failed < k->ranks)
        heed_fail(c, (heed_status)first.status, "process %d: %.*s", failed,
                  (int)sizeof first.why - 1, first.why);
    return !heed__stopped(c);
}

/* In the n-th round those that have the bytes, 2^n processes, send them to as many others. */
bool heed__cluster_copy(heed_ctx *c, const heed_cluster *k, void *x, size_t n) {
    int me = k->rank;
    bool ok = true;
    for (int have = 1; ok && have < k->ranks; have *= 2) {
        if (me < have && me + have < k->ranks)
            ok = send_and_receive(c, k, me + have, x, n, me + have, NULL, 0);
        else if (me >= have && me < 2 * have)
            ok = send_and_receive(c, k, me - have, NULL, 0, me - have, x, n);
        ok = ok && await(c, k, 0);
    }
    return ok;
}

static bool copy(heed_training *t, void *x, size_t n) {
    return heed__cluster_copy(t->c, t->group.k, x, n);
}

/* ---- the word: whether a process failed or leaves, its losses, which parameters have a gradient,
 * and its updates of states ---- */

typedef struct {
    int32_t status, leaves;
    double norm; /* of the last update's gradient: equal everywhere */
    char why[1008];
} head;

/* An update of a state; its values follow. */
typedef struct {
    int32_t entry, size;
    double keep, scale;
} state_update;

/* A multiple of 8 bytes. */
static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static uint32_t most_micros(const heed_training *t) {
    uint32_t ranks = (uint32_t)t->group.k->ranks;
    return t->micros / ranks + (t->micros % ranks != 0);
}

/* The parts of a word, in this order: head, passes, a byte for each part, updates. */
static size_t passes_at(void) { return sizeof(head); }
static size_t touched_at(const heed_training *t) {
    return passes_at() + most_micros(t) * sizeof(heed__pass);
}
static size_t updates_at(const heed_training *t) {
    return touched_at(t) + padded(t->gradients.count);
}
static size_t word_bytes(const heed_training *t) {
    return updates_at(t) + most_micros(t) * t->group.update_bytes;
}

static unsigned char *word_of(const heed_training *t, int rank) {
    return t->group.words + (size_t)rank * t->group.word;
}

/* ---- updates of states ---- */

size_t heed__group_updates(const heed_tape *tape) {
    const heed__state_update *list;
    size_t bytes = 0, n = heed__tape_updates(tape, &list);
    for (size_t i = 0; i < n; i++)
        bytes += sizeof(state_update) + padded(list[i].of->size * sizeof(heed_real));
    return bytes;
}

static int entry_of(const heed_params *s, const heed_tensor *x) {
    int i = 0;
    while (i < heed_params_count(s) && heed_params_at(s, i)->tensor != x) i++;
    return i;
}

/* After a pass: keeps its updates of states. */
static bool keep_updates(heed_training *t, uint32_t micro) {
    heed__group *g = &t->group;
    const heed__state_update *list;
    size_t n = heed__tape_updates(t->net.tape, &list);
    if (heed__group_updates(t->net.tape) != g->update_bytes)
        return heed_fail(t->c, HEED_FAILED,
                         "model %s cannot be trained by several processes: its passes update "
                         "different states",
                         t->net.model->name);
    unsigned char *at =
        word_of(t, g->k->rank) + updates_at(t) + (micro - g->from) * g->update_bytes;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = list[i].of->size * sizeof(heed_real);
        state_update u = {entry_of(t->net.store, list[i].of), (int32_t)list[i].of->size,
                          list[i].keep, list[i].scale};
        memcpy(at, &u, sizeof u);
        memcpy(at + sizeof u, list[i].x, bytes);
        at += sizeof u + padded(bytes);
    }
    return true;
}

/* Makes the updates of one pass. */
static void make_updates(const heed_training *t, const unsigned char *at) {
    const unsigned char *end = at + t->group.update_bytes;
    while (at < end) {
        state_update u;
        memcpy(&u, at, sizeof u);
        heed_tensor *of = heed_params_at(t->net.store, u.entry)->tensor;
        const void *values = at + sizeof u;
        heed__update_state(&(heed__state_update){of, u.keep, u.scale, values});
        at += sizeof u + padded((size_t)u.size * sizeof(heed_real));
    }
}

/* ---- the whole word ---- */

static void write_word(heed_training *t, bool leaves) {
    const heed__group *g = &t->group;
    unsigned char *w = word_of(t, g->k->rank);
    head h = {.status = (int32_t)heed_ctx_status(t->c), .leaves = leaves, .norm = t->state.norm};
    snprintf(h.why, sizeof h.why, "%s", heed_ctx_error(t->c));
    memcpy(w, &h, sizeof h);
    memcpy(w + passes_at(), t->passes + g->from, (g->to - g->from) * sizeof *t->passes);
    for (size_t i = 0; i < t->gradients.count; i++)
        w[touched_at(t) + i] = heed__of(t->gradients.parts[i].entry->tensor)->touched;
}

/* Fails if any process failed, or if they do not agree. */
static bool check(heed_training *t, bool leaves) {
    for (int r = 0; r < t->group.k->ranks; r++) {
        head h;
        memcpy(&h, word_of(t, r), sizeof h);
        if (h.status != HEED_OK)
            return heed_fail(t->c, (heed_status)h.status, "process %d: %.*s", r,
                             (int)sizeof h.why - 1, h.why);
        if (h.leaves != leaves || memcmp(&h.norm, &t->state.norm, sizeof h.norm) != 0)
            return heed_fail(t->c, HEED_FAILED,
                             "processes %d and %d have come to different results at step %lld; "
                             "hint: the same program and data on every machine",
                             t->group.k->rank, r, (long long)t->state.step);
    }
    return true;
}

static bool read_words(heed_training *t, bool leaves) {
    if (!check(t, leaves)) return false;
    for (int r = 0; r < t->group.k->ranks && !leaves; r++) {
        const unsigned char *w = word_of(t, r);
        uint32_t from = heed__group_first(t->micros, t->group.k->ranks, r);
        uint32_t to = heed__group_first(t->micros, t->group.k->ranks, r + 1);
        memcpy(t->passes + from, w + passes_at(), (to - from) * sizeof *t->passes);
        for (size_t i = 0; i < t->gradients.count; i++)
            if (w[touched_at(t) + i]) heed__of(t->gradients.parts[i].entry->tensor)->touched = true;
        for (uint32_t i = from; i < to; i++)
            make_updates(t, w + updates_at(t) + (i - from) * t->group.update_bytes);
    }
    return true;
}

enum { BUCKET = 1 << 18, AREAS = HEED__AHEAD + 1 };

/* ---- what is where ---- */

typedef struct {
    size_t at, size;
} range;

static size_t bucket_count(const heed_training *t) {
    return (t->gradients.size + BUCKET - 1) / BUCKET;
}

static range slice_of(const heed_training *t, size_t bucket, int rank) {
    size_t begin = bucket * BUCKET, left = t->gradients.size - begin;
    size_t n = left < BUCKET ? left : BUCKET, ranks = (size_t)t->group.k->ranks;
    size_t from = n * (size_t)rank / ranks, to = n * ((size_t)rank + 1) / ranks;
    return (range){begin + from, to - from};
}

/* Branch number i of the own slice: in the own array, or where it is received. */
static heed_real *branch_at(const heed_training *t, size_t bucket, int i) {
    const heed__group *g = &t->group;
    int own = i - g->first[g->k->rank];
    if (own >= 0 && i < g->first[g->k->rank + 1])
        return t->gradients.level[own] + slice_of(t, bucket, g->k->rank).at;
    size_t most = BUCKET / (size_t)g->k->ranks + 1;
    return g->received[bucket % AREAS] + (size_t)i * most;
}

static int branches_of(const heed__group *g, int rank) {
    return g->first[rank + 1] - g->first[rank];
}

/* ---- a bucket ---- */

static void exchange(heed_training *t, int to, const heed_real *out, size_t n, int from,
                     heed_real *in, size_t m) {
    heed__group *g = &t->group;
    g->posted++;
    if (!g->ended)
        g->ended =
            !send_and_receive(t->c, g->k, to, out, n * sizeof *out, from, in, m * sizeof *in);
}

static void wait_for(heed_training *t, size_t pending) {
    heed__group *g = &t->group;
    if (!g->ended) g->ended = !await(t->c, g->k, pending);
}

static void send_branches(heed_training *t, size_t bucket) {
    heed__group *g = &t->group;
    int me = g->k->rank, ranks = g->k->ranks, mine = branches_of(g, me);
    for (int d = 1; d < ranks; d++) {
        int to = (me + d) % ranks, from = (me + ranks - d) % ranks, theirs = branches_of(g, from);
        range out = slice_of(t, bucket, to), in = slice_of(t, bucket, me);
        for (int i = 0; i < mine || i < theirs; i++)
            exchange(t, to, i < mine ? t->gradients.level[i] + out.at : NULL,
                     i < mine ? out.size : 0, from,
                     i < theirs ? branch_at(t, bucket, g->first[from] + i) : NULL,
                     i < theirs ? in.size : 0);
    }
    g->mark[bucket % AREAS] = g->posted;
}

/* Adds all branches of the own slice; the sum is then in the first own array. */
static void add_branches(heed_training *t, size_t bucket) {
    heed__group *g = &t->group;
    heed_real *value[HEED__BRANCHES];
    heed__tree tree = {.depth = 0};
    range slice = slice_of(t, bucket, g->k->rank);
    for (int i = 0; i < g->first[g->k->ranks]; i++) {
        int top = tree.depth;
        value[top] = branch_at(t, bucket, i);
        for (int n = heed__tree_push(&tree, g->branches[i]); n > 0; n--, top--)
            heed__add(value[top - 1], value[top], slice.size);
    }
    for (int n = tree.depth - 1; n > 0; n--) heed__add(value[n - 1], value[n], slice.size);
    heed_real *sum = t->gradients.level[0] + slice.at;
    if (value[0] != sum) memcpy(sum, value[0], slice.size * sizeof *sum);
}

static void send_sum(heed_training *t, size_t bucket) {
    const heed__group *g = &t->group;
    int me = g->k->rank, ranks = g->k->ranks;
    for (int d = 1; d < ranks; d++) {
        int to = (me + d) % ranks, from = (me + ranks - d) % ranks;
        range out = slice_of(t, bucket, me), in = slice_of(t, bucket, from);
        exchange(t, to, t->gradients.level[0] + out.at, out.size, from,
                 t->gradients.level[0] + in.at, in.size);
    }
}

static void finish_bucket(heed_training *t, size_t bucket) {
    heed__group *g = &t->group;
    wait_for(t, g->posted - g->mark[bucket % AREAS]);
    if (g->ended) return;
    add_branches(t, bucket);
    send_sum(t, bucket);
}

/* A process that is ahead waits here for the others; with HEED__AHEAD buckets it seldom has to. */
static void next_bucket(heed_training *t) {
    heed__group *g = &t->group;
    size_t bucket = g->buckets++;
    send_branches(t, bucket);
    if (bucket >= HEED__AHEAD) finish_bucket(t, bucket - HEED__AHEAD);
}

/* ---- during backward ---- */

/* Sends the buckets that are complete: those whose parameters are all final. */
static void advance(heed_training *t) {
    heed__group *g = &t->group;
    heed__gradients *all = &t->gradients;
    for (; g->part < all->count && all->parts[g->part].final; g->part++)
        if (g->merges) heed__gradients_merge(all, &all->parts[g->part], g->slot, g->merge_count);
    size_t done = g->part < all->count ? all->parts[g->part].at : all->size;
    while (g->buckets < bucket_count(t) && (done == all->size || (g->buckets + 1) * BUCKET <= done))
        next_bucket(t);
}

static void on_final(void *user, heed_tensor *x) {
    heed_training *t = user;
    heed__gradients *all = &t->gradients;
    for (size_t i = t->group.part; i < all->count; i++)
        if (all->parts[i].entry->tensor == x) all->parts[i].final = true;
    advance(t);
}

/* Before the last pass of this process: its backward sends what is complete. */
static void send_in_pass(heed_training *t) {
    heed__group *g = &t->group;
    heed__tree *tree = &t->gradients.tree;
    g->slot = tree->depth;
    g->merge_count = heed__tree_push(tree, (heed__branch){g->to - 1, 1});
    g->merges = true;
    heed__tape_on_final(t->net.tape, on_final, t);
}

/* ---- the end of an update ---- */

static void send_words(heed_training *t) {
    heed__group *g = &t->group;
    int me = g->k->rank, ranks = g->k->ranks;
    for (int d = 1; d < ranks; d++) {
        int to = (me + d) % ranks, from = (me + ranks - d) % ranks;
        if (!g->ended)
            g->ended = !send_and_receive(t->c, g->k, to, g->words + (size_t)me * g->word, g->word,
                                         from, g->words + (size_t)from * g->word, g->word);
    }
    wait_for(t, 0);
}

static void begin_update(heed_training *t) {
    heed__group *g = &t->group;
    g->posted = g->buckets = g->part = 0;
    g->merges = false;
    t->gradients.tree.depth = 0;
    for (size_t i = 0; i < t->gradients.count; i++) t->gradients.parts[i].final = false;
}

/* Ends an update, or the training if `leaves`, together with all other processes. */
static bool reduce(heed_training *t, bool leaves) {
    heed__group *g = &t->group;
    heed__gradients *all = &t->gradients;
    heed__tape_on_final(t->net.tape, NULL, NULL);
    if (heed__stopped(t->c)) g->merges = false;
    for (size_t i = g->part; i < all->count; i++) all->parts[i].final = true;
    advance(t);
    size_t n = g->buckets;
    for (size_t i = n < HEED__AHEAD ? 0 : n - HEED__AHEAD; i < n; i++) finish_bucket(t, i);
    write_word(t, leaves);
    send_words(t);
    bool ok = !g->ended && read_words(t, leaves);
    for (size_t i = 0; ok && i < all->count; i++) {
        heed_tensor *x = all->parts[i].entry->tensor;
        memcpy(x->g, all->level[0] + all->parts[i].at, x->size * sizeof *x->g);
    }
    if (!ok || leaves) g->ended = true;
    begin_update(t);
    return ok;
}

/* With the tree, each pass begins with gradients of zero. */
bool heed__group_passes(heed_training *t) {
    heed__group *g = &t->group;
    bool made = true;
    for (uint32_t i = g->from; made && i < g->to; i++) {
        bool last = i + 1 == g->to;
        if (last) send_in_pass(t);
        made = heed__pass_make(t, i) && keep_updates(t, i);
        if (made && !last) heed__gradients_add(&t->gradients, i, false);
    }
    return reduce(t, false);
}

void heed__group_leave(heed_training *t) {
    if (t->group.joined && !t->group.ended) reduce(t, true);
}

/* ---- start and end ---- */

uint32_t heed__group_first(uint32_t micros, int ranks, int rank) {
    return (uint32_t)((uint64_t)micros * (uint64_t)rank / (uint64_t)ranks);
}

static int most_branches(uint32_t micros, int ranks) {
    int n = 0;
    for (int r = 0; r < ranks; r++)
        n += heed__tree_depth(heed__group_first(micros, ranks, r),
                              heed__group_first(micros, ranks, r + 1));
    return n;
}

/* Lists the branches that each rank holds after its micro-batches. */
static void list_branches(heed_training *t) {
    heed__group *g = &t->group;
    int n = 0;
    for (int r = 0; r < g->k->ranks; r++) {
        heed__tree tree = {.depth = 0};
        uint32_t end = heed__group_first(t->micros, g->k->ranks, r + 1);
        for (uint32_t i = heed__group_first(t->micros, g->k->ranks, r); i < end; i++)
            heed__tree_push(&tree, (heed__branch){i, 1});
        g->first[r] = n;
        memcpy(g->branches + n, tree.at, (size_t)tree.depth * sizeof *tree.at);
        n += tree.depth;
    }
    g->first[g->k->ranks] = n;
}

static bool open_group(heed_training *t) {
    heed__group *g = &t->group;
    size_t ranks = (size_t)g->k->ranks;
    int branches = most_branches(t->micros, g->k->ranks);
    g->branches = heed__alloc_array(t->c, (size_t)branches, sizeof *g->branches);
    g->first = heed__alloc_array(t->c, ranks + 1, sizeof *g->first);
    if (!g->branches || !g->first) return false;
    list_branches(t);
    for (int i = 0; i < AREAS; i++)
        g->received[i] = heed__alloc_array(t->c, (size_t)g->first[ranks],
                                           (BUCKET / ranks + 1) * sizeof **g->received);
    g->word = word_bytes(t);
    g->words = heed__alloc_array(t->c, ranks, g->word);
    begin_update(t);
    return !heed__stopped(t->c);
}

void heed__group_free(heed__group *g) {
    for (int i = 0; i < AREAS; i++) heed__free(g->received[i]);
    heed__free(g->branches);
    heed__free(g->first);
    heed__free(g->words);
    *g = (heed__group){0};
}

/* ---- the same program, data and settings ---- */

enum { FACTS = 7 };
typedef struct {
    char of[FACTS][64];
} facts;
static const char *const fact_name[FACTS] = {"version", "precision", "instruction set",   "model",
                                             "data",    "tokenizer", "number of settings"};

static facts facts_of(const heed_training *t) {
    facts x = {0};
    snprintf(x.of[0], 64, "%s", HEED_VERSION);
    snprintf(x.of[1], 64, "%zu bytes", sizeof(heed_real));
    bool bf16 = strcmp(heed_config_text(t->net.config, "precision"), "bf16") == 0;
    snprintf(x.of[2], 64, "%s%s", heed_isa(t->c),
             bf16 && heed__bf16_is_faster() ? " with bf16" : "");
    snprintf(x.of[3], 64, "%.60s", t->net.model->name);
    snprintf(x.of[4], 64, "%016" PRIx64, t->data->checksum);
    snprintf(x.of[5], 64, "%016" PRIx64, heed__tokenizers_digest(t->net.tokenizer, t->net.source));
    snprintf(x.of[6], 64, "%d", heed_config_count(t->net.config));
    return x;
}

static bool same_facts(heed_training *t) {
    facts mine = facts_of(t), expected = mine;
    if (!copy(t, &expected, sizeof expected)) return false;
    for (int i = 0; i < FACTS; i++)
        if (strcmp(mine.of[i], expected.of[i]) != 0)
            return heed_fail(t->c, HEED_USAGE,
                             "%s differs from that of process 0: expected %s, found %s; hint: %s",
                             fact_name[i], expected.of[i], mine.of[i],
                             i == 2 ? "name one that all machines have, such as `isa = avx2`"
                                    : "the same program, data and settings on every machine");
    return true;
}

/* What the checkpoint decides is known to rank 0 alone. */
static bool take_setting(heed_training *t, const char *key, const char *expected) {
    static const char *const decided[] = {"steps", "plan"};
    heed_config *g = t->net.config;
    if (strcmp(heed_config_text(g, key), expected) == 0) return true;
    for (int i = 0; i < 2; i++)
        if (strcmp(key, decided[i]) == 0)
            return heed_config_set(g, key, expected, "process 0", HEED_FROM_FLAG);
    return heed_fail(t->c, HEED_USAGE,
                     "settings differ from those of process 0: `%s`: expected %s, found %s; hint: "
                     "the same settings on every machine",
                     key, *expected ? expected : "nothing",
                     *heed_config_text(g, key) ? heed_config_text(g, key) : "nothing");
}

/* All values, each ended by 0, in the order of the table. */
static bool same_settings(heed_training *t) {
    heed_config *g = t->net.config;
    heed_text all = {.c = t->c};
    const char *value;
    bool ok = true;
    for (int i = 0; ok && i < heed_config_count(g); i++) {
        heed_config_at(g, i, &value);
        ok = heed_text_put(&all, value, strlen(value) + 1);
    }
    uint64_t n = all.n;
    copy(t, &n, sizeof n);
    char *text = heed__alloc(t->c, n + 1);
    if (ok && text && t->group.k->rank == 0) memcpy(text, all.s, n);
    ok = heed_cluster_agree(t->c, t->group.k) && copy(t, text, n);
    char *at = text;
    for (int i = 0; ok && i < heed_config_count(g) && at < text + n; i++) {
        const char *key = heed_config_at(g, i, &value)->name;
        ok = take_setting(t, key, at);
        at += strlen(at) + 1;
    }
    heed__free(text);
    heed_text_free(&all);
    return ok;
}

static bool enough_batches(heed_training *t) {
    int ranks = t->group.k->ranks;
    return t->micros >= (uint32_t)ranks ||
           heed_fail(t->c, HEED_USAGE,
                     "too few batches in an update: `accumulate`: expected at least %d, one for "
                     "each process, found %" PRIu32 "; hint: `accumulate = %d` and a smaller "
                     "`batch`",
                     ranks, t->micros, ranks);
}

bool heed__join_state(heed_training *t) {
    struct {
        heed__state state;
        double before;
        bool fresh, changed;
    } x;
    if (!t->group.k) return !heed__stopped(t->c);
    if (!heed_cluster_agree(t->c, t->group.k)) return false;
    memset(&x, 0, sizeof x);
    x.state = t->state;
    x.before = t->before;
    x.fresh = t->fresh;
    x.changed = t->changed;
    same_facts(t);
    if (!heed_cluster_agree(t->c, t->group.k)) return false; /* equal settings in number */
    same_settings(t);
    if (!copy(t, &x, sizeof x) || !heed_cluster_agree(t->c, t->group.k)) return false;
    heed__tape_defer_updates(t->net.tape);
    t->state = x.state;
    t->before = x.before;
    t->fresh = x.fresh;
    t->changed = x.changed;
    return true;
}

/* ---- plans and weights ---- */

bool heed__join_share(heed_training *t) {
    heed__group *g = &t->group;
    uint32_t last = t->micros - 1;
    if (g->k) {
        g->from = heed__group_first(t->micros, g->k->ranks, g->k->rank);
        last = g->to = heed__group_first(t->micros, g->k->ranks, g->k->rank + 1);
    }
    if (t->micros == 1 && !g->k) return true;
    int levels = heed__tree_depth(g->from, last);
    bool ok = heed__gradients_open(&t->gradients, t->net.store, levels) && (!g->k || open_group(t));
    size_t bytes = (size_t)levels * t->gradients.size * sizeof(heed_real);
    t->memory.gradients += bytes;
    t->memory.total += bytes;
    return ok;
}

bool heed__join_plans(heed_training *t) {
    struct {
        heed__plans plans;
        heed__clock clock;
        int64_t evals;
        double limit;
        uint64_t micros, update_bytes, parameters;
    } *x = NULL;
    if (!t->group.k) return !heed__stopped(t->c);
    if (!heed_cluster_agree(t->c, t->group.k)) return false;
    x = heed__alloc(t->c, sizeof *x);
    if (!heed_cluster_agree(t->c, t->group.k)) {
        heed__free(x);
        return false;
    }
    x->plans = t->plans;
    x->clock = t->clock;
    x->evals = t->set.evals;
    x->limit = t->state.clock;
    x->micros = t->micros;
    x->update_bytes = t->group.update_bytes;
    x->parameters = heed_params_numel(t->net.store);
    bool ok = copy(t, x, sizeof *x);
    if (ok && (x->micros != t->micros || x->update_bytes != t->group.update_bytes ||
               x->parameters != heed_params_numel(t->net.store)))
        ok = heed_fail(t->c, HEED_USAGE,
                       "model differs from that of process 0: expected %" PRIu64
                       " parameters, found %zu",
                       x->parameters, heed_params_numel(t->net.store));
    if (ok) enough_batches(t);
    t->plans = x->plans;
    t->clock = x->clock;
    t->set.evals = x->evals;
    t->state.clock = x->limit;
    heed__free(x);
    if (t->set.minutes > 0 && heed__helps(t))
        heed__length_fix(t, (double)heed__plans_end(&t->plans));
    return heed_cluster_agree(t->c, t->group.k);
}

static bool copy_store(heed_training *t, const heed_params *s) {
    enum { MOST = 1 << 27 }; /* numbers in a message */
    bool ok = true;
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_tensor *x = heed_params_at(s, i)->tensor;
        for (size_t at = 0, n; ok && at < x->size; at += n) {
            n = x->size - at < MOST ? x->size - at : MOST;
            ok = copy(t, x->x + at, n * sizeof *x->x);
        }
    }
    return ok;
}

bool heed__join_weights(heed_training *t) {
    if (!t->group.k) return !heed__stopped(t->c);
    t->group.joined = heed_cluster_agree(t->c, t->group.k) && copy_store(t, t->net.store) &&
                      copy_store(t, heed_optim_slots(t->optim));
    return t->group.joined;
}

bool heed__join_read(heed_training *t) {
    const heed_cluster *k = t->group.k;
    bool reads = !t->fresh && !heed__stopped(t->c) && (!k || k->rank == 0);
    if (reads) heed__run_read_weights(t->net.store, t->a.run, "last/model.safetensors");
    if (t->fresh || !k) return !heed__stopped(t->c);
    return heed_cluster_agree(t->c, k) && copy_store(t, t->net.store);
}
