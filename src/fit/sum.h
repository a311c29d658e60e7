/* sum.h -- shared by the files of this folder that add up the micro-batches of an update: the order
 * of the additions, the gradients, and the processes that share the work. */
#ifndef HEED_FIT_SUM_H
#define HEED_FIT_SUM_H

#include "core/core.h"

#include <heed/fit.h>

typedef struct heed__fitting heed__fitting;

/* ---- tree.c ---- */

/* The sum of the micro-batches from .. from + count - 1. */
typedef struct {
    uint32_t from;
    uint64_t count;
} heed__branch;
/* Branches on a stack, in the order of their numbers: one for each bit of a count, twice if it does
 * not begin at 0. */
enum { HEED__BRANCHES = 66 };
typedef struct {
    heed__branch at[HEED__BRANCHES];
    int depth;
} heed__tree;
/* Pushes a branch. Returns how many times the caller must then replace the two values on the top of
 * its own stack by their sum. Micro-batches are added in pairs, pairs in fours, and so on: always
 * the same sums, whoever computes them. */
int heed__tree_push(heed__tree *t, heed__branch b);
/* The same after the last branch: adds those left, from the last to the first, and empties t. */
int heed__tree_close(heed__tree *t);
/* The most branches at a time while from .. to - 1 are pushed one by one. */
int heed__tree_depth(uint32_t from, uint32_t to);
/* The first micro-batch of a rank; that of rank `ranks` is micros. */
uint32_t heed__tree_first(uint32_t micros, int ranks, int rank);

/* What a pass over one micro-batch gives besides gradients. Each pass is weighted by the number of
 * items that its loss averages, so that the update does not depend on how its rows are divided. */
typedef struct {
    double loss, weight; /* loss: times weight, which is in units of `unit` items */
    double unit, items;
} heed__pass;
heed__pass heed__tree_total(const heed__pass *p, uint32_t count);

/* ---- gradients.c ---- */

/* A parameter and its place in an array of all gradients. */
typedef struct {
    heed_entry *entry;
    size_t at;
    bool final; /* its gradient is complete */
} heed__part;
/* Gradients of all parameters that are or will be trained, the last one first, as backward
 * completes them. */
typedef struct {
    heed__part *parts;
    size_t count, size; /* parts; numbers in all of them */
    heed__tree tree;
    heed_real *level[HEED__BRANCHES]; /* (size) the value of each branch */
    int levels;
} heed__gradients;
/* levels: the number of branches to hold at a time. */
bool heed__gradients_open(heed__gradients *g, heed_store *s, int levels);
void heed__gradients_free(heed__gradients *g);
/* Adds those that the parameters hold, as the next micro-batch, and sets them to zero; the last one
 * of an update leaves the sum in the parameters. */
void heed__gradients_add(heed__gradients *g, uint32_t micro, bool last);
/* The same for one parameter: its value becomes that of branch slot - merges, after it was added to
 * the `merges` branches before slot. */
void heed__gradients_merge(heed__gradients *g, const heed__part *p, int slot, int merges);
void heed__add(heed_real *y, const heed_real *x, size_t n); /* y += x */

/* ---- cluster.c ---- */

/* Begins an exchange, or waits for all except the last `pending`. False, with an error: lost. */
bool heed__cluster_exchange(heed_ctx *c, const heed_cluster *k, int to, const void *out, size_t n,
                            int from, void *in, size_t m);
bool heed__cluster_wait(heed_ctx *c, const heed_cluster *k, size_t pending);
/* Sends bytes of rank 0 to all, or receives them. */
bool heed__cluster_copy(heed_ctx *c, const heed_cluster *k, void *x, size_t n);
bool heed__cluster_check(heed_ctx *c, const heed_cluster *k); /* NULL is valid: one process */

/* ---- exchange.c ---- */

enum { HEED__AHEAD = 2 }; /* buckets whose gradients may be on their way at a time, besides one */
typedef struct {
    const heed_cluster *k; /* NULL: one process */
    bool joined, ended;    /* takes part in updates; no longer */
    uint32_t from, to;     /* its micro-batches */
    uint32_t micros;
    heed__branch *branches; /* of all ranks, in order; rank r has first[r] .. first[r + 1] - 1 */
    int *first;
    heed_real *received[HEED__AHEAD + 1]; /* for buckets in turn: branches of others */
    size_t posted,
        mark[HEED__AHEAD + 1]; /* exchanges begun: in all; up to each bucket's branches */
    size_t buckets, part;      /* begun; parts merged, in this update */
    bool merges;               /* the last micro-batch is complete */
    int slot, merge_count;     /* of it */
    unsigned char *words;      /* (ranks, word) what each rank says at the end of an update */
    size_t word, update_bytes; /* bytes of a word, and of the updates of states in a pass */
} heed__group;

/* Prepares the exchange of gradients; they then belong to f. */
bool heed__group_open(heed__fitting *f);
void heed__group_free(heed__group *g);
/* Before the last pass of this process: its backward sends what is complete. */
void heed__group_send(heed__fitting *f);
/* Ends an update, or the training if `leaves`, together with all other processes, even after an
 * error: then every process has the sums of gradients and losses, and has updated the states, or
 * all are in error. */
bool heed__group_reduce(heed__fitting *f, bool leaves);

/* ---- word.c ---- */

/* Bytes of a word, and of the updates of states that the tape lists. */
size_t heed__word_bytes(const heed__fitting *f);
size_t heed__word_updates(const heed_tape *t);
/* After a pass: keeps its updates of states. */
bool heed__word_keep(heed__fitting *f, uint32_t micro);
/* Writes the word of this process; reads those of all. */
void heed__word_write(heed__fitting *f, bool leaves);
bool heed__word_read(heed__fitting *f, bool leaves);

#endif
