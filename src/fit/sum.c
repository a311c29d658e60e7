/* sum.c -- adds the losses and gradients of the micro-batches of an update by a binary tree over
 * their numbers, which depends on nothing else. A stack of branches, at most two for each bit of
 * their number, computes it from left to right, as a binary counter does. The gradient of each
 * micro-batch begins at zero, so that the sums depend on the micro-batches alone. */
#include "core/core.h"
#include "fit/fit.h"

#include <string.h>

int heed__tree_push(heed__tree *t, heed__branch b) {
    int merges = 0;
    t->at[t->depth++] = b;
    for (; t->depth > 1; merges++, t->depth--) {
        heed__branch *left = &t->at[t->depth - 2];
        if (left->count != left[1].count || left->from % (2 * left->count) != 0) break;
        left->count *= 2;
    }
    return merges;
}

int heed__tree_depth(uint32_t from, uint32_t to) {
    heed__tree t = {.depth = 0};
    int most = 0;
    for (uint32_t i = from; i < to; i++) {
        heed__tree_push(&t, (heed__branch){i, 1});
        if (t.depth > most) most = t.depth;
    }
    return most;
}

static void add(heed__pass *a, const heed__pass *b) {
    a->loss += b->loss;
    a->weight += b->weight;
    a->items += b->items;
}

heed__pass heed__tree_total(const heed__pass *p, uint32_t count) {
    heed__pass value[HEED__BRANCHES] = {{0}};
    heed__tree t = {.depth = 0};
    for (uint32_t i = 0; i < count; i++) {
        heed__pass *top = &value[t.depth];
        *top = p[i];
        for (int n = heed__tree_push(&t, (heed__branch){i, 1}); n > 0; n--, top--)
            add(top - 1, top);
    }
    for (int n = t.depth - 1; n > 0; n--) add(&value[n - 1], &value[n]);
    return value[0];
}

void heed__add(heed_real *restrict y, const heed_real *restrict x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] += x[i];
}

bool heed__gradients_open(heed__gradients *g, heed_params *s, int levels) {
    heed_ctx *c = heed_params_ctx(s);
    int entries = heed_params_count(s);
    g->levels = levels;
    g->parts = heed__alloc_array(c, (size_t)entries, sizeof *g->parts);
    for (int i = entries; g->parts && i-- > 0;) {
        heed_param *e = heed_params_at(s, i);
        if (!e->trained && !e->thaw) continue;
        g->parts[g->count++] = (heed__part){.entry = e, .at = g->size};
        g->size += e->tensor->size;
        if (!e->tensor->g)
            e->tensor->g = heed__alloc_array(c, e->tensor->size, sizeof *e->tensor->g);
    }
    for (int i = 0; i < levels; i++)
        g->level[i] = heed__alloc_array(c, g->size, sizeof *g->level[i]);
    return !heed__stopped(c);
}

void heed__gradients_free(heed__gradients *g) {
    for (int i = 0; i < g->levels; i++) heed__free(g->level[i]);
    heed__free(g->parts);
    *g = (heed__gradients){0};
}

/* Adds the `merges` branches before slot to what the parameter holds. */
static void take(heed__gradients *g, const heed__part *p, int slot, int merges) {
    heed_tensor *x = p->entry->tensor;
    for (int i = 1; i <= merges; i++) heed__add(x->g, g->level[slot - i] + p->at, x->size);
}

void heed__gradients_merge(heed__gradients *g, const heed__part *p, int slot, int merges) {
    heed_tensor *x = p->entry->tensor;
    take(g, p, slot, merges);
    memcpy(g->level[slot - merges] + p->at, x->g, x->size * sizeof *x->g);
    memset(x->g, 0, x->size * sizeof *x->g);
}

void heed__gradients_add(heed__gradients *g, uint32_t micro, bool last) {
    int slot = g->tree.depth, merges = heed__tree_push(&g->tree, (heed__branch){micro, 1});
    if (last) { /* the branches that are left are added, from the last to the first */
        merges += g->tree.depth - 1;
        g->tree.depth = 0;
    }
    for (size_t i = 0; i < g->count; i++)
        if (last)
            take(g, &g->parts[i], slot, merges);
        else
            heed__gradients_merge(g, &g->parts[i], slot, merges);
}
