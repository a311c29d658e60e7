/* tree.c -- the order in which the micro-batches of an update are added: a binary tree over their
 * numbers, which depends on nothing else. A stack of branches, at most two for each bit of their
 * number, computes it from left to right, as a binary counter does. */
#include "fit/sum.h"

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

int heed__tree_close(heed__tree *t) {
    int merges = t->depth > 0 ? t->depth - 1 : 0;
    t->depth = 0;
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

uint32_t heed__tree_first(uint32_t micros, int ranks, int rank) {
    return (uint32_t)((uint64_t)micros * (uint64_t)rank / (uint64_t)ranks);
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
