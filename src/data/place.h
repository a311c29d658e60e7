/* place.h -- what the kinds of data share: which rows a batch has, and which of its part they are.
 */
#ifndef HEED_PLACE_H
#define HEED_PLACE_H

#include <heed/data.h>

/* The number of the batch within the training, and of a row's draw, counted from 0. */
static inline uint64_t heed__batch_number(heed_batch_at at) {
    return at.index * (at.micros ? at.micros : 1) + at.micro;
}
static inline uint64_t heed__draw_of(heed_batch_at at, uint64_t row) {
    return heed__batch_number(at) * (uint64_t)at.rows + row;
}

/* Rows of the batch `at` when a part of `all` rows is read once: the last batch may have fewer. 0:
 * there is no such batch. */
static inline int heed__rows_of(heed_batch_at at, uint64_t all) {
    uint64_t rows = (uint64_t)at.rows;
    if (at.index > all / rows) return 0;
    uint64_t left = all - at.index * rows;
    return (int)(left < rows ? left : rows);
}

/* The row of the part for row `row` of the batch: in order or, for a sample, in a seeded order of
 * all rows, so that the first batches are drawn from the entire part. */
static inline uint64_t heed__eval_row(const heed_ctx *c, heed_batch_at at, uint64_t row,
                                      uint64_t count) {
    uint64_t number = at.index * (uint64_t)at.rows + row;
    if (!at.sample) return number;
    heed_random order = heed_random_at(heed_seed(c), "eval.sample", 0, 0);
    return heed_random_permute(&order, number, count);
}

#endif
