/* What the kinds of data share: which row of its part a row of an evaluation batch is. */
#ifndef HEED_PLACE_H
#define HEED_PLACE_H

#include <heed/data.h>

/* Of `count` rows: in order, or, for a sample, each of them once in a seeded order, so that any
 * number of batches from the first on is drawn from the whole part. */
static inline uint64_t heed__eval_row(const heed_ctx *c, heed_batch_at at, uint64_t row,
                                      uint64_t count) {
    uint64_t number = at.index * (uint64_t)at.rows + row;
    if (!at.sample) return number;
    heed_random order = heed_random_at(heed_seed(c), "eval.sample", 0, 0);
    return heed_random_permute(&order, number, count);
}

#endif
