/* random.h -- the dropout masks of a random stream, many elements at a time: Philox4x32-10 on
 * vectors. Salmon et al. 2011, sec. 4.3; the counters are those of heed_random_bits. */
#ifndef HEED_RANDOM_H
#define HEED_RANDOM_H

#include "isa.h"

#define HEED__BLOCKS (VBYTES / 8) /* Philox blocks at a time, one per 64-bit lane */
#define HEED__DRAWS  (4 * HEED__BLOCKS)

#if HEED__BLOCKS == 8
#define HEED__LOW_BLOCKS  HEED__LOW_8
#define HEED__HIGH_BLOCKS HEED__HIGH_8
#define HEED__IOTA        0, 1, 2, 3, 4, 5, 6, 7
#elif HEED__BLOCKS == 4
#define HEED__LOW_BLOCKS  HEED__LOW_4
#define HEED__HIGH_BLOCKS HEED__HIGH_4
#define HEED__IOTA        0, 1, 2, 3
#else
#define HEED__LOW_BLOCKS  HEED__LOW_2
#define HEED__HIGH_BLOCKS HEED__HIGH_2
#define HEED__IOTA        0, 1
#endif

typedef uint64_t uvec __attribute__((vector_size(VBYTES)));

INLINE uvec usplat(uint64_t x) { return x - (uvec){0}; }

/* Products of the low halves of the lanes; the high halves are ignored. */
INLINE uvec multiply_low(uvec a, uvec b) {
#if HEED__SET == 2
    return (uvec)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif HEED__SET == 1
    return (uvec)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif HEED__SET == 0 && defined(__SSE2__)
    return (uvec)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

/* bits[0 .. HEED__DRAWS) = the draws of HEED__BLOCKS blocks, starting at `block`. */
INLINE void philox_blocks(const heed_random *r, uint64_t block, uint32_t *bits) {
    uvec c0 = usplat(block) + (uvec){HEED__IOTA}, c1 = usplat(r->site);
    uvec c2 = usplat(r->step), c3 = usplat(r->micro);
    c1 ^= multiply_low(c0 >> 32, usplat(0x9E3779B9u));
    uint32_t k0 = (uint32_t)r->seed, k1 = (uint32_t)(r->seed >> 32);
    for (int round = 0; round < 10; round++) {
        uvec a = multiply_low(c0, usplat(0xD2511F53u)), b = multiply_low(c2, usplat(0xCD9E8D57u));
        c0 = (b >> 32) ^ c1 ^ usplat(k0);
        c1 = b;
        c2 = (a >> 32) ^ c3 ^ usplat(k1);
        c3 = a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    uvec low = (c0 & 0xffffffffu) | (c1 << 32), high = (c2 & 0xffffffffu) | (c3 << 32);
    uvec out[2] = {HEED__ZIP(uvec, low, high, HEED__LOW_BLOCKS),
                   HEED__ZIP(uvec, low, high, HEED__HIGH_BLOCKS)};
    memcpy(bits, out, sizeof out);
}

typedef struct {
    heed_random random;
    uint32_t threshold; /* elements whose draw is at least this are kept */
    heed_real keep;     /* factor of kept elements: 1 / (1 - p) */
} heed__dropout;

/* heed_random_uniform = bits 2^-32 >= p exactly when bits >= ceil(p 2^32). */
INLINE heed__dropout dropout_of(const heed_random *r, heed_real p) {
    double threshold = ceil((double)p * 4294967296.0);
    bool some = threshold < 4294967296.0;
    return (heed__dropout){*r, some ? (uint32_t)threshold : 0, some ? 1 / (1 - p) : 0};
}

INLINE void factors_of(const heed__dropout *d, heed_real *f, const uint32_t *bits, size_t n) {
    for (size_t i = 0; i < n; i++) f[i] = bits[i] >= d->threshold ? d->keep : 0;
}

/* f[i] = the factor of element at + i: keep or 0. */
static inline void dropout_factors(const heed__dropout *d, heed_real *f, uint64_t at, size_t n) {
    uint32_t bits[HEED__DRAWS];
    size_t skip = (size_t)(at % 4); /* draws of earlier elements in the first block */
    for (size_t i = 0; i < n;) {
        philox_blocks(&d->random, (at + i) / 4, bits);
        size_t count = HEED__DRAWS - skip;
        if (count > n - i) count = n - i;
        for (size_t j = 0; j < count; j++) f[i + j] = bits[skip + j] >= d->threshold ? d->keep : 0;
        i += count;
        skip = 0;
    }
}

#endif
