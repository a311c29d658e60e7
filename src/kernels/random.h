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

typedef struct {
    heed_random random;
    uint64_t key[10][2]; /* of the rounds: seed + round * (0x9E3779B9, 0xBB67AE85) */
    uint32_t threshold;  /* elements whose draw is at least this are kept */
    heed_real keep;      /* factor of kept elements: 1 / (1 - p) */
} heed__dropout;

/* heed_random_uniform = bits 2^-32 >= p exactly when bits >= ceil(p 2^32). */
INLINE heed__dropout dropout_of(const heed_random *r, heed_real p) {
    double threshold = ceil((double)p * 4294967296.0);
    bool some = threshold < 4294967296.0;
    heed__dropout d = {
        .random = *r, .threshold = some ? (uint32_t)threshold : 0, .keep = some ? 1 / (1 - p) : 0};
    for (uint32_t i = 0; i < 10; i++) {
        d.key[i][0] = (uint32_t)(r->seed + i * 0x9E3779B9u);
        d.key[i][1] = (uint32_t)((r->seed >> 32) + i * 0xBB67AE85u);
    }
    return d;
}

/* Bit i is set if draw i is at least the threshold, of the HEED__DRAWS draws of low and high. */
INLINE uint32_t at_least(uvec low, uvec high, uint32_t threshold) {
#if HEED__SET == 2
    const __m512i least = _mm512_set1_epi32((int)threshold);
    return (uint32_t)_mm512_cmpge_epu32_mask((__m512i)low, least) |
           (uint32_t)_mm512_cmpge_epu32_mask((__m512i)high, least) << 16;
#else
    uint32_t draw[HEED__DRAWS], bits = 0;
    memcpy(draw, &low, sizeof low);
    memcpy(draw + HEED__DRAWS / 2, &high, sizeof high);
    for (int i = 0; i < HEED__DRAWS; i++) bits |= (uint32_t)(draw[i] >= threshold) << i;
    return bits;
#endif
}

/* Which of the draws of HEED__BLOCKS blocks, starting at `block`, keep their elements. */
INLINE uint32_t kept_in_blocks(const heed__dropout *d, uint64_t block) {
    const heed_random *r = &d->random;
    uvec c0 = usplat(block) + (uvec){HEED__IOTA}, c1 = usplat(r->site);
    uvec c2 = usplat(r->step), c3 = usplat(r->micro);
    c1 ^= multiply_low(c0 >> 32, usplat(0x9E3779B9u));
    UNROLL for (int round = 0; round < 10; round++) {
        uvec a = multiply_low(c0, usplat(0xD2511F53u)), b = multiply_low(c2, usplat(0xCD9E8D57u));
        c0 = (b >> 32) ^ c1 ^ usplat(d->key[round][0]);
        c1 = b;
        c2 = (a >> 32) ^ c3 ^ usplat(d->key[round][1]);
        c3 = a;
    }
    uvec low = (c0 & 0xffffffffu) | (c1 << 32), high = (c2 & 0xffffffffu) | (c3 << 32);
    return at_least(HEED__ZIP(uvec, low, high, HEED__LOW_BLOCKS),
                    HEED__ZIP(uvec, low, high, HEED__HIGH_BLOCKS), d->threshold);
}

/* Bit i of words (bit i % 32 of words[i / 32]) is set if element at + i is kept. The last word is
 * filled whole. */
static inline void dropout_kept(const heed__dropout *d, uint32_t *words, uint64_t at, size_t n) {
    unsigned skip = (unsigned)(at % 4); /* draws of earlier elements in the first block */
    uint64_t block = at / 4, pending = 0;
    unsigned have = 0; /* bits of pending */
    for (size_t w = 0; w < (n + 31) / 32;) {
        pending |= (uint64_t)(kept_in_blocks(d, block) >> skip) << have;
        have += HEED__DRAWS - skip;
        block += HEED__BLOCKS;
        skip = 0;
        if (have < 32) continue;
        words[w++] = (uint32_t)pending;
        pending >>= 32;
        have -= 32;
    }
}
void K(dropout_kept)(const heed__dropout *d, uint32_t *words, uint64_t at, size_t n); /* the same */

/* The factors of elements whose bits these are: keep or 0. */
INLINE vec kept_in(const heed__dropout *d, uint32_t bits) {
    return pick(set_bits(bits), splat(d->keep), splat(0));
}
/* The factors of the elements at i and after. Reads the word after that of i, too. */
INLINE vec kept_factor(const heed__dropout *d, const uint32_t *words, size_t i) {
    uint64_t pair = words[i / 32] | (uint64_t)words[i / 32 + 1] << 32;
    return kept_in(d, (uint32_t)(pair >> i % 32));
}

#endif
