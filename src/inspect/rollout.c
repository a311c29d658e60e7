/* rollout.c -- attention rollout. Abnar & Zuidema 2020, sec. 4: the product of all layers, each
 * averaged with the identity. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double value;
    int at;
} item;

typedef struct {
    const heed_rollout_args *args;
    int tokens;
    double *layer, *so_far, *product; /* (T,T) each */
    item *items;                      /* (T) */
} work;

static void fuse_row(const work *w, const heed_real *weights, int row, double *out) {
    size_t n = (size_t)w->tokens;
    memset(out, 0, n * sizeof *out);
    for (int h = 0; h < w->args->heads; h++) {
        const heed_real *x = weights + ((size_t)h * n + (size_t)row) * n;
        for (size_t i = 0; i < n; i++)
            out[i] =
                w->args->max ? fmax(out[i], (double)x[i]) : out[i] + (double)x[i] / w->args->heads;
    }
}

/* In a tie, the last one goes first. */
static int by_weakness(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->at < y->at) - (x->at > y->at);
}

/* Works on single rows, so that none becomes empty: the largest weight always stays. */
static void discard_weakest(const work *w, double *row) {
    int dropped = (int)floor(w->args->discard * w->tokens + 1e-9);
    if (dropped == 0) return;
    for (int i = 0; i < w->tokens; i++) w->items[i] = (item){row[i], i};
    qsort(w->items, (size_t)w->tokens, sizeof *w->items, by_weakness);
    for (int i = 0; i < dropped; i++) row[w->items[i].at] = 0;
}

/* (row / its sum + row of I) / 2; a row without weight becomes the row of I. */
static void with_residual(const work *w, double *row, int self) {
    double sum = 0;
    for (int i = 0; i < w->tokens; i++) sum += row[i];
    for (int i = 0; i < w->tokens; i++) row[i] = sum > 0 ? row[i] / sum / 2 : 0;
    row[self] += sum > 0 ? 0.5 : 1;
}

/* so_far = layer so_far */
static void multiply(work *w) {
    size_t n = (size_t)w->tokens;
    memset(w->product, 0, n * n * sizeof *w->product);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double share = w->layer[i * n + k];
            const double *from = w->so_far + k * n;
            double *to = w->product + i * n;
            for (size_t j = 0; share > 0 && j < n; j++) to[j] += share * from[j];
        }
    double *swap = w->so_far;
    w->so_far = w->product;
    w->product = swap;
}

static bool check(heed_ctx *c, const heed_rollout_args *a) {
    bool full = a && a->layers > 0 && a->heads > 0 && a->tokens > 0 && a->weights;
    for (int l = 0; full && l < a->layers; l++) full = a->weights[l] != NULL;
    if (!full)
        return heed_fail(c, HEED_USAGE,
                         "rollout: expected the weights of one layer or more, each of one head and "
                         "one token or more");
    if (!(a->discard >= 0 && a->discard < 1))
        return heed_fail(c, HEED_USAGE,
                         "rollout: the share to discard: expected at least 0 and less than 1, "
                         "found %g",
                         a->discard);
    return true;
}

bool heed_rollout(heed_ctx *c, const heed_rollout_args *a, heed_real *out) {
    if (heed__stopped(c) || !out || !check(c, a)) return false;
    size_t n = (size_t)a->tokens, square = n * n;
    double *matrices = heed__alloc_array(c, 3 * n, n * sizeof *matrices);
    work w = {a, a->tokens, matrices, matrices + square, matrices + 2 * square, NULL};
    w.items = heed__alloc_array(c, n, sizeof *w.items);
    bool ok = matrices && w.items;
    for (size_t i = 0; ok && i < n; i++) w.so_far[i * n + i] = 1;
    for (int l = 0; ok && l < a->layers; l++) {
        for (int i = 0; i < w.tokens; i++) {
            double *row = w.layer + (size_t)i * n;
            fuse_row(&w, a->weights[l], i, row);
            discard_weakest(&w, row);
            with_residual(&w, row, i);
        }
        multiply(&w);
    }
    for (size_t i = 0; ok && i < square; i++) out[i] = (heed_real)w.so_far[i];
    heed__free(matrices);
    heed__free(w.items);
    return ok;
}

/* ---- the map of an example ---- */

#define FOLLOWED                                                                                   \
    "attention of all layers followed back to the input, half of each layer the token itself"

/* all: a record of every layer; the layers of self-attention over the first axis are used. */
static bool roll_record(const heed_inspection *s, heed_rollout_args a, const heed_record *all,
                        heed_record *record) {
    heed_ctx *c = s->run->c;
    const heed_record_block *first = NULL;
    a.tokens = s->axes[0].count;
    const heed_real **weights = heed__alloc_array(c, (size_t)all->block_count + 1, sizeof *weights);
    heed_real *out = heed__alloc_array(c, (size_t)a.tokens, (size_t)a.tokens * sizeof *out);
    a.weights = weights;
    for (int i = 0; weights && i < all->block_count; i++) {
        const heed_record_block *b = &all->blocks[i];
        if (b->stack == HEED_CROSS || b->queries != 0 || b->keys != 0) continue;
        weights[a.layers++] = b->weights;
        if (!first) first = b;
        if (b->heads != first->heads)
            heed_fail(c, HEED_USAGE,
                      "rollout: expected as many heads in every layer, found %d in %s and %d in %s",
                      first->heads, first->path, b->heads, b->path);
    }
    bool ok = weights && out;
    if (ok && !first)
        ok = heed_fail(c, HEED_USAGE, "the model has no self-attention to follow: %s",
                       s->run->model->name);
    if (ok) a.heads = first->heads;
    ok = ok && heed_rollout(c, &a, out);
    heed_record_map m = {.name = "rollout", .layer = -1, .head = -1, .values = out};
    if (ok) {
        m.help = first->causal ? FOLLOWED
                     "; of a causal model it gathers on token 1, whatever that "
                     "is"
                 : s->read ? FOLLOWED ", of the encoder: source over source, rows sum to 1; the "
                                      "cross attention and the decoder are not followed"
                           : FOLLOWED ": rows sum to 1";
        m.stack = first->stack;
        ok = heed_record_add_map(record, &m) >= 0;
    }
    heed__free(weights);
    heed__free(out);
    return ok;
}

bool heed_rollout_add(const heed_inspection *s, const heed_rollout_add_args *args,
                      heed_record *record) {
    heed_rollout_args a = {.max = args && args->max, .discard = args ? args->discard : 0};
    heed_record *all = heed_capture(s, &(heed_capture_args){.lean = true, .most = 1e9});
    bool ok = all && roll_record(s, a, all, record);
    heed_record_free(all);
    return ok;
}
