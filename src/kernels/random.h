/* The dropout decisions of a random stream, many at a time. */
#ifndef HEED_RANDOM_H
#define HEED_RANDOM_H

#include "isa.h"

typedef struct {
    heed_random random;
    uint64_t threshold; /* bits at or above it keep the element */
    heed_real keep;     /* what a kept element is multiplied by: 1 / (1 - p) */
} heed__dropout;

/* heed_random_uniform = bits 2^-32 >= p exactly when bits >= ceil(p 2^32). */
INLINE heed__dropout dropout_of(const heed_random *r, heed_real p) {
    return (heed__dropout){*r, (uint64_t)ceil((double)p * 4294967296.0),
                           p < 1 ? 1 / (1 - p) : 0};
}

/* f[i] = the factor of element first + i: keep or 0. */
static inline void dropout_factors(const heed__dropout *d, heed_real *f, uint64_t first,
                                   size_t n) {
    uint32_t bits[4];
    for (size_t i = 0; i < n; i++) {
        uint64_t e = first + i, block = e / 4;
        if (i == 0 || e % 4 == 0) {
            uint32_t high = (uint32_t)(block >> 32) * 0x9E3779B9u;
            uint32_t counter[4] = {(uint32_t)block, d->random.site ^ high, d->random.step,
                                   d->random.micro};
            heed_philox(d->random.seed, counter, bits);
        }
        f[i] = bits[e % 4] >= d->threshold ? d->keep : 0;
    }
}

#endif
