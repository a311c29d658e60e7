/* pairs_batch.c -- batches of pairs of similar length, which depend only on (seed, step, row of the
 * step): the micro-batches of a step divide one batch of the step.
 *
 * Training is an endless sequence of draws: each epoch draws all pairs in a new order. A window is
 * 64 batches of draws, fewer if an epoch has fewer, so that a pair rarely occurs twice; its draws
 * are sorted by length and cut into batches, which are used in random order. */
#include "data/kind.h"
#include "data/pair/pairs.h"

#include <string.h>

enum { WINDOW = 64, MOST_ROWS = 1 << 17, PLACE_BITS = 24, LENGTH_BITS = 20 };

/* ---- the order ---- */

static void swap(uint64_t *a, uint64_t *b) {
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Heapsort: it needs no memory, which qsort may ask for. Williams 1964. */
static void sink(uint64_t *key, size_t root, size_t n) {
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && key[child + 1] > key[child]) child++;
        if (key[root] >= key[child]) return;
        swap(&key[root], &key[child]);
    }
}

static void sort(uint64_t *key, size_t n) {
    for (size_t i = n / 2; i-- > 0;) sink(key, i, n);
    for (size_t i = n; i-- > 1;) {
        swap(&key[0], &key[i]);
        sink(key, 0, i);
    }
}

static size_t pair_of(const heed__pairs *k, uint64_t draw) {
    uint64_t n = k->info.pairs;
    heed_random order = heed_random_at(heed_seed(k->c), "pairs.order", draw / n, 0);
    return k->train[heed_random_permute(&order, draw % n, n)];
}

static size_t batches_in_window(const heed__pairs *k, int rows) {
    size_t batches = k->info.pairs / (size_t)rows;
    return batches < 1 ? 1 : batches > WINDOW ? WINDOW : batches;
}

/* Sorts the window's draws by source length, target length and place in the window. */
static bool sort_window(heed__pairs *k, uint64_t window, int rows) {
    if (k->window_rows == rows && k->window == window) return true;
    size_t n = batches_in_window(k, rows) * (size_t)rows;
    if (!heed__grow(k->c, &k->keys, &k->keys_capacity, n, sizeof *k->keys) ||
        !heed__grow(k->c, &k->drawn, &k->drawn_capacity, n, sizeof *k->drawn))
        return false;
    for (size_t i = 0; i < n; i++) {
        k->drawn[i] = pair_of(k, window * n + i);
        const heed__pair *p = &k->pairs[k->drawn[i]];
        uint64_t source = (uint64_t)p->count[HEED__SOURCE];
        uint64_t target = (uint64_t)p->count[HEED__TARGET];
        k->keys[i] = (source << LENGTH_BITS | target) << PLACE_BITS | i;
    }
    sort(k->keys, n);
    k->window = window;
    k->window_rows = rows;
    return true;
}

/* The batch of the complete step that `at` belongs to; *first: where the rows of `at` begin in it.
 * In a step too large to be sorted, each micro-batch is a separate batch. */
static heed_batch_at step_of(heed_batch_at at, uint64_t *first) {
    uint64_t rows = (uint64_t)at.rows * (at.micros ? at.micros : 1);
    *first = rows > MOST_ROWS ? 0 : (uint64_t)at.rows * at.micro;
    if (rows > MOST_ROWS) return (heed_batch_at){.index = heed__batch_number(at), .rows = at.rows};
    return (heed_batch_at){.index = at.index, .rows = (int)rows};
}

/* A row of a training batch, whose window is sorted. */
static const heed__pair *train_row(const heed__pairs *k, heed_batch_at at, size_t row) {
    uint64_t first;
    heed_batch_at step = step_of(at, &first);
    uint64_t batches = batches_in_window(k, step.rows);
    heed_random order = heed_random_at(heed_seed(k->c), "pairs.batches", step.index / batches, 0);
    uint64_t batch = heed_random_permute(&order, step.index % batches, batches);
    uint64_t key = k->keys[batch * (uint64_t)step.rows + first + row];
    return &k->pairs[k->drawn[key & ((1u << PLACE_BITS) - 1)]];
}

static const heed__pair *row_of(const heed__pairs *k, heed_batch_at at, size_t row) {
    if (!at.val) return train_row(k, at, row);
    return &k->pairs[k->val[heed__eval_row(k->c, at, row, k->info.val_pairs)]];
}

/* ---- memory ---- */

static size_t most_of(const heed__pairs *k, int side) {
    int longest = side == HEED__SOURCE || k->a.kind == HEED_TARGET_TAGS ? k->info.longest
                                                                        : k->info.target_longest;
    return (size_t)(longest < 1 ? 1 : longest < k->a.block ? longest : k->a.block);
}

static bool reserve(heed__pairs *k, size_t rows) {
    size_t n = rows * most_of(k, HEED__SOURCE), m = rows * most_of(k, HEED__TARGET);
    if (!heed__grow(k->c, &k->src, &k->src_capacity, 2 * n, sizeof *k->src) ||
        !heed__grow(k->c, &k->ids, &k->ids_capacity, 3 * m, sizeof *k->ids))
        return false;
    k->src_pad = k->src + n;
    k->pad = k->ids + m;
    k->batch_labels = k->pad + m;
    return true;
}

static bool begin(heed__pairs *k, heed_batch_at at, heed_batch *out) {
    if (!k->encoded)
        return heed_fail(k->c, HEED_USAGE,
                         "pairs are not encoded: expected heed__pairs_encode before");
    if (k->a.kind == HEED_TARGET_CAPTIONS)
        return heed_fail(k->c, HEED_USAGE, "pairs are captions: expected heed__caption_batch");
    size_t longest = most_of(k, HEED__SOURCE);
    if (most_of(k, HEED__TARGET) > longest) longest = most_of(k, HEED__TARGET);
    int most = INT32_MAX / (int)longest < MOST_ROWS ? INT32_MAX / (int)longest : MOST_ROWS;
    if (!at.val && !k->info.pairs) return heed__pairs_nothing_to_train(k);
    at.full_batch = false; /* training never ends */
    out->rows = heed__batch_rows(k->c, at, k->info.val_pairs, most);
    if (!out->rows) return false;
    uint64_t first;
    heed_batch_at step = step_of(at, &first);
    return reserve(k, (size_t)at.rows) &&
           (at.val || sort_window(k, step.index / batches_in_window(k, step.rows), step.rows));
}

/* ---- rows ---- */

/* Writes a row of `len`: n ids, then `end`; mask (or NULL): 1, then 0. */
static void put_row(const int32_t *from, int n, int32_t end, int32_t *to, int32_t *mask, int len) {
    memcpy(to, from, (size_t)n * sizeof *to);
    for (int i = n; i < len; i++) to[i] = end;
    for (int i = 0; mask && i < len; i++) mask[i] = i < n;
}

static void put_labels(heed__pairs *k, const heed__pair *p, size_t row, int len, heed_batch *out) {
    const int32_t *target = k->stream[HEED__TARGET].ids + p->at[HEED__TARGET];
    int n = p->count[HEED__TARGET];
    put_row(target, n, HEED__NO_LABEL, k->batch_labels + row * (size_t)len, NULL, len);
    for (int i = 0; i < n; i++) out->items += target[i] != HEED__NO_LABEL;
}

/* The decoder reads [CLS] and the target, and should predict the target and [SEP]. */
static void put_target(heed__pairs *k, const heed__pair *p, size_t row, heed_batch *out) {
    size_t at = row * (size_t)out->len;
    const int32_t *from = k->stream[HEED__TARGET].ids + p->at[HEED__TARGET];
    int n = p->count[HEED__TARGET];
    put_labels(k, p, row, out->len, out);
    k->ids[at] = k->target->special.cls;
    put_row(from, n - 1, k->target->special.pad, k->ids + at + 1, NULL, out->len - 1);
    for (int i = 0; i < out->len; i++) k->pad[at + (size_t)i] = i < n;
    out->label_bytes += p->bytes;
}

static void put_pair(heed__pairs *k, const heed__pair *p, size_t row, int labels, heed_batch *out) {
    const int32_t *source = k->stream[HEED__SOURCE].ids + p->at[HEED__SOURCE];
    size_t at = row * (size_t)out->src_len;
    put_row(source, p->count[HEED__SOURCE], k->source->special.pad, k->src + at, k->src_pad + at,
            out->src_len);
    if (k->a.kind == HEED_TARGET_TEXT)
        put_target(k, p, row, out);
    else
        put_labels(k, p, row, labels, out);
}

bool heed__pair_batch(heed__pairs *k, heed_batch_at at, heed_batch *out) {
    if (out) *out = (heed_batch){0};
    if (!k || !out || heed__stopped(k->c) || !begin(k, at, out)) return false;
    int labels = 0;
    for (size_t row = 0; row < (size_t)out->rows; row++) {
        const heed__pair *p = row_of(k, at, row);
        if (p->count[HEED__SOURCE] > out->src_len) out->src_len = p->count[HEED__SOURCE];
        if (p->count[HEED__TARGET] > labels) labels = p->count[HEED__TARGET];
    }
    bool translates = k->a.kind == HEED_TARGET_TEXT;
    out->len = translates ? labels : 0;
    for (size_t row = 0; row < (size_t)out->rows; row++)
        put_pair(k, row_of(k, at, row), row, labels, out);
    out->src = k->src;
    out->src_pad = k->src_pad;
    out->labels = k->batch_labels;
    if (!at.val)
        heed__balance_batch(k->weights, k->info.classes, (size_t)out->rows * (size_t)labels, out);
    if (translates) out->ids = k->ids;
    if (translates) out->pad = k->pad;
    return true;
}

bool heed__pairs_put_targets(heed__pairs *k, const int32_t *pairs, heed_batch *out) {
    out->len = 0;
    for (int row = 0; row < out->rows; row++) {
        int count = k->pairs[pairs[row]].count[HEED__TARGET];
        if (count > out->len) out->len = count;
    }
    out->items = 0;
    if (!reserve(k, (size_t)out->rows)) return false;
    for (int row = 0; row < out->rows; row++)
        put_target(k, &k->pairs[pairs[row]], (size_t)row, out);
    out->ids = k->ids;
    out->pad = k->pad;
    out->labels = k->batch_labels;
    return true;
}

/* ---- counts ---- */

uint64_t heed__pairs_eval_batches(const heed__pairs *k, int rows) {
    return k ? heed__batches(k->info.val_pairs, rows) : 0;
}

uint64_t heed__pairs_epoch_batches(const heed__pairs *k, int rows) {
    return k ? heed__epoch(k->info.pairs, rows) : 0;
}
