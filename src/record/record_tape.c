/* record_tape.c -- blocks of a record from the probes of a tape. */
#include "core/core.h"

#include <heed/record.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WEIGHTS, SCORES, Q, K, V, PARTS };
static const char *const names[PARTS] = {"weights", "scores", "q", "k", "v"};

void heed_record_probe(heed_tape *t, const char *pattern, bool lean) {
    for (int i = 0; i < (lean ? 1 : PARTS); i++) {
        char path[HEED__PATH];
        snprintf(path, sizeof path, "%s.%s", pattern, names[i]);
        heed_probe(t, path, false);
    }
}

/* A probe is (B,h,T,n), or (B,T,n) for a layer with one head. */
typedef struct {
    const heed_real *x; /* the item's numbers; NULL: not probed */
    int heads, rows, cols;
} part;

static part part_of(const heed_tape *t, const char *layer, const char *value, int item) {
    char path[HEED__PATH];
    snprintf(path, sizeof path, "%s.%s", layer, value);
    const heed_tensor *x = heed_probe_find(t, path);
    if (!x || x->dims < 3 || item < 0 || item >= x->shape[0]) return (part){0};
    int d = x->dims;
    return (part){.x = x->x + (size_t)item * heed__extent(x, 1, d),
                  .heads = d == 4 ? x->shape[1] : 1,
                  .rows = x->shape[d - 2],
                  .cols = x->shape[d - 1]};
}

/* ---- the kept heads ---- */

typedef struct {
    heed_ctx *c;
    const heed_record_block *like;
    int heads, queries, keys;
    part part[PARTS];
} layer;

static int number_of(const layer *l, int i) { return l->like->head ? l->like->head[i] : i; }

/* The numbers of a head of the layer; keys and values may have fewer heads, which are shared. */
static const heed_real *head_of(const layer *l, part p, int head) {
    int shared = (int)((int64_t)head * p.heads / l->part[WEIGHTS].heads);
    return p.x + (size_t)shared * (size_t)p.rows * (size_t)p.cols;
}

/* Copies the kept heads of p, one after the other; NULL if p was not probed. */
static heed_real *gather(const layer *l, part p) {
    size_t each = (size_t)p.rows * (size_t)p.cols;
    if (!p.x) return NULL;
    heed_real *out = heed__alloc_array(l->c, (size_t)l->heads * each, sizeof *out);
    for (int i = 0; out && i < l->heads; i++)
        memcpy(out + (size_t)i * each, head_of(l, p, number_of(l, i)), each * sizeof *out);
    return out;
}

/* q k' of the kept heads; for the additive form, the scores themselves. */
static heed_real *products(const layer *l) {
    const part *pq = &l->part[Q], *pk = &l->part[K];
    if (l->like->additive || (!pq->x && l->part[SCORES].x)) return gather(l, l->part[SCORES]);
    if (!pq->x || !pk->x || pq->cols != pk->cols) return NULL;
    size_t tq = (size_t)l->queries, tk = (size_t)l->keys, e = (size_t)pq->cols;
    heed_real *out = heed__alloc_array(l->c, (size_t)l->heads * tq * tk, sizeof *out);
    for (size_t at = 0; out && at < (size_t)l->heads * tq * tk; at++) {
        int head = number_of(l, (int)(at / tk / tq));
        const heed_real *q = head_of(l, *pq, head) + at / tk % tq * e;
        const heed_real *k = head_of(l, *pk, head) + at % tk * e;
        double sum = 0;
        for (size_t i = 0; i < e; i++) sum += (double)q[i] * (double)k[i];
        out[at] = (heed_real)sum;
    }
    return out;
}

/* In a causal layer, query i sees keys up to i + K - Q. */
static void hide(const layer *l, heed_real *scores, const int32_t *pad) {
    for (int row = 0; scores && row < l->heads * l->queries; row++)
        for (int key = 0; key < l->keys; key++, scores++) {
            int last = row % l->queries + l->keys - l->queries;
            if ((l->like->causal && key > last) || (pad && !pad[key])) *scores = -INFINITY;
        }
}

static bool fits(const heed_record *r, const layer *l) {
    const heed_record_block *b = l->like;
    for (int i = 0; i < l->heads; i++)
        if (number_of(l, i) < 0 || number_of(l, i) >= l->part[WEIGHTS].heads)
            return heed_fail(l->c, HEED_USAGE, "no such head: %s: expected 0 to %d, found %d",
                             b->path, l->part[WEIGHTS].heads - 1, number_of(l, i));
    if (b->queries >= 0 && b->queries < r->axis_count && b->keys >= 0 && b->keys < r->axis_count &&
        r->axes[b->queries].count == l->queries && r->axes[b->keys].count == l->keys)
        return true;
    return heed_fail(l->c, HEED_USAGE,
                     "the labels do not fit the weights: %s: expected axes of %d queries and %d "
                     "keys",
                     b->path, l->queries, l->keys);
}

int heed_record_take(heed_record *r, const heed_tape *t, const heed_record_block *like, int item,
                     const int32_t *pad) {
    if (!r || !t || !like || heed__stopped(heed_tape_ctx(t))) return -1;
    layer l = {.c = heed_tape_ctx(t), .like = like};
    for (int i = 0; i < PARTS; i++) l.part[i] = part_of(t, like->path, names[i], item);
    const part *weights = &l.part[WEIGHTS];
    l.heads = like->heads ? like->heads : weights->heads;
    l.queries = weights->rows;
    l.keys = weights->cols;
    if (!weights->x || !fits(r, &l)) return -1;
    heed_record_block b = *like;
    const heed_real **to[PARTS] = {&b.weights, &b.scores, &b.q, &b.k, &b.v};
    heed_real *own[PARTS], *raw = products(&l);
    for (int i = 0; i < PARTS; i++) *to[i] = own[i] = gather(&l, l.part[i]);
    hide(&l, own[SCORES], pad);
    b.heads = l.heads;
    b.key = l.part[Q].cols;
    b.value = l.part[V].cols;
    b.raw = raw;
    b.align = b.q && b.k ? like->align : NULL;
    int index = heed__stopped(l.c) ? -1 : heed_record_add_block(r, &b);
    for (int i = 0; i < PARTS; i++) heed__free(own[i]);
    heed__free(raw);
    return index;
}
