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
    heed_rollout_args args;
    int tokens, heads;
    double *layer, *so_far, *product; /* (T,T) each */
    item *items;                      /* (T) */
} work;

static void fuse_row(const work *w, const heed_real *weights, int row, double *out) {
    size_t n = (size_t)w->tokens;
    memset(out, 0, n * sizeof *out);
    for (int h = 0; h < w->heads; h++) {
        const heed_real *x = weights + ((size_t)h * n + (size_t)row) * n;
        for (size_t i = 0; i < n; i++)
            out[i] = w->args.max ? fmax(out[i], (double)x[i]) : out[i] + (double)x[i] / w->heads;
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
    int dropped = (int)floor(w->args.discard * w->tokens + 1e-9);
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

static bool is_followed(const heed_record_block *b) {
    return b->stack != HEED_CROSS && b->queries == 0 && b->keys == 0;
}

/* The first layer that is followed; all have its heads. NULL: see c. */
static const heed_record_block *first_of(heed_ctx *c, const heed_record *all, double discard) {
    const heed_record_block *first = NULL;
    for (int i = 0; i < all->block_count; i++) {
        const heed_record_block *b = &all->blocks[i];
        if (!is_followed(b) || !b->weights) continue;
        if (!first) first = b;
        if (b->heads != first->heads)
            heed_fail(c, HEED_USAGE,
                      "rollout: expected as many heads in every layer, found %d in %s and %d in %s",
                      first->heads, first->path, b->heads, b->path);
    }
    if (!first)
        heed_fail(c, HEED_USAGE, "the model has no self-attention to follow: %s",
                  all->task ? all->task : "record");
    if (!(discard >= 0 && discard < 1))
        heed_fail(c, HEED_USAGE,
                  "rollout: the share to discard: expected at least 0 and less than 1, found %g",
                  discard);
    return heed__stopped(c) ? NULL : first;
}

#define FOLLOWED                                                                                   \
    "attention of all layers followed back to the input, half of each layer the token itself"

bool heed_rollout(heed_ctx *c, const heed_record *all, const heed_rollout_args *args,
                  heed_record *record) {
    work w = {.args = args ? *args : (heed_rollout_args){.max = false}};
    if (heed__stopped(c) || !all || !record) return false;
    const heed_record_block *first = first_of(c, all, w.args.discard);
    if (!first) return false;
    w.tokens = all->axes[0].count;
    w.heads = first->heads;
    size_t n = (size_t)w.tokens, square = n * n;
    double *matrices = heed__alloc_array(c, 3 * n, n * sizeof *matrices);
    heed_real *out = heed__alloc_array(c, n, n * sizeof *out);
    w.items = heed__alloc_array(c, n, sizeof *w.items);
    bool ok = matrices && out && w.items;
    if (ok) w.layer = matrices, w.so_far = matrices + square, w.product = matrices + 2 * square;
    for (size_t i = 0; ok && i < n; i++) w.so_far[i * n + i] = 1;
    for (int l = 0; ok && l < all->block_count; l++) {
        const heed_record_block *b = &all->blocks[l];
        if (!is_followed(b) || !b->weights) continue;
        for (int i = 0; i < w.tokens; i++) {
            double *row = w.layer + (size_t)i * n;
            fuse_row(&w, b->weights, i, row);
            discard_weakest(&w, row);
            with_residual(&w, row, i);
        }
        multiply(&w);
    }
    for (size_t i = 0; ok && i < square; i++) out[i] = (heed_real)w.so_far[i];
    heed_record_map m = {.name = "rollout",
                         .help = first->causal ? FOLLOWED
                                     "; of a causal model it gathers on token 1, whatever "
                                     "that is"
                                 : all->axis_count > 1 ? FOLLOWED
                                     ", of the encoder: source over source, rows sum to "
                                     "1; the cross attention and the decoder are not "
                                     "followed"
                                                       : FOLLOWED ": rows sum to 1",
                         .layer = -1,
                         .head = -1,
                         .stack = first->stack,
                         .values = out};
    ok = ok && heed_record_add_map(record, &m) >= 0;
    heed__free(matrices);
    heed__free(out);
    heed__free(w.items);
    return ok;
}

bool heed_rollout_add(const heed_run *r, const heed_example *e, const heed_rollout_args *args,
                      heed_record *record) {
    heed_record *all = heed_capture(r, e, &(heed_capture_args){.lean = true, .most = 1e9});
    bool ok = all && heed_rollout(r->c, all, args, record);
    heed_record_free(all);
    return ok;
}
