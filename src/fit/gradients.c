/* gradients.c -- adds the gradients of micro-batches by the tree. The gradient of each begins at
 * zero, so that the sums depend on the micro-batches alone. */
#include "fit/sum.h"

#include <string.h>

void heed__add(heed_real *restrict y, const heed_real *restrict x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] += x[i];
}

bool heed__gradients_open(heed__gradients *g, heed_store *s, int levels) {
    heed_ctx *c = heed_store_ctx(s);
    int entries = heed_store_count(s);
    g->levels = levels;
    g->parts = heed__alloc_array(c, (size_t)entries, sizeof *g->parts);
    for (int i = entries; g->parts && i-- > 0;) {
        heed_entry *e = heed_store_at(s, i);
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
    if (last) merges += heed__tree_close(&g->tree);
    for (size_t i = 0; i < g->count; i++)
        if (last)
            take(g, &g->parts[i], slot, merges);
        else
            heed__gradients_merge(g, &g->parts[i], slot, merges);
}
