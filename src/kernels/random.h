/* random.h -- the dropout masks of a random stream, many elements at a time: Philox4x32-10 on
 * vectors. Salmon et al. 2011, sec. 4.3; the counters are those of heed__random_bits. Element i is
 * decided by 16 bits, half i % 2 of word i / 2, the low half first. */
#ifndef HEED_RANDOM_H
#define HEED_RANDOM_H

#include "isa.h"

#define HEED__LANES  (VBYTES / 8)       /* Philox blocks in a vector, one per 64-bit lane */
#define HEED__BLOCKS (2 * HEED__LANES)  /* at a time: two chains of products, which overlap */
#define HEED__WORDS  (HEED__BLOCKS / 4) /* of draws at a time: a block has 8 of 16 bits */

#if HEED__LANES == 8
#define HEED__LOW_BLOCKS  HEED__LOW_8
#define HEED__HIGH_BLOCKS HEED__HIGH_8
#define HEED__IOTA        0, 1, 2, 3, 4, 5, 6, 7
#elif HEED__LANES == 4
#define HEED__LOW_BLOCKS  HEED__LOW_4
#define HEED__HIGH_BLOCKS HEED__HIGH_4
#define HEED__IOTA        0, 1, 2, 3
#else
#define HEED__LOW_BLOCKS  HEED__LOW_2
#define HEED__HIGH_BLOCKS HEED__HIGH_2
#define HEED__IOTA        0, 1
#endif

typedef uint64_t uvec __attribute__((vector_size(VBYTES)));
typedef uint16_t hvec __attribute__((vector_size(VBYTES)));

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
    uint32_t threshold;  /* elements whose draw is at least this are kept: p 2^16, rounded */
    heed_real keep;      /* factor of kept elements: 1 / (1 - threshold / 2^16) */
} heed__dropout;

INLINE heed__dropout dropout_of(const heed_random *r, heed_real p) {
    uint32_t threshold = (uint32_t)((double)p * 65536 + 0.5);
    heed__dropout d = {.random = *r,
                       .threshold = threshold,
                       .keep = threshold < 65536 ? 65536 / (heed_real)(65536 - threshold) : 0};
    for (uint32_t i = 0; i < 10; i++) {
        d.key[i][0] = (uint32_t)(r->seed + i * 0x9E3779B9u);
        d.key[i][1] = (uint32_t)((r->seed >> 32) + i * 0xBB67AE85u);
    }
    return d;
}

/* Bit i is set if 16-bit draw i of low and high is at least the threshold. */
INLINE uint64_t at_least(uvec low, uvec high, uint32_t threshold) {
#if HEED__SET == 2
    const __m512i least = _mm512_set1_epi16((short)threshold);
    return _mm512_cmpge_epu16_mask((__m512i)low, least) |
           (uint64_t)_mm512_cmpge_epu16_mask((__m512i)high, least) << 32;
#elif HEED__SET == 1
    const hvec least = (uint16_t)threshold - (hvec){0};
    __m256i bytes =
        _mm256_packs_epi16((__m256i)((hvec)low >= least), (__m256i)((hvec)high >= least));
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(bytes, 0xd8));
#else
    hvec draws[2] = {(hvec)low, (hvec)high};
    uint64_t bits = 0;
    for (int i = 0; i < VBYTES; i++)
        bits |= (uint64_t)(draws[i / (VBYTES / 2)][i % (VBYTES / 2)] >= threshold) << i;
    return bits;
#endif
}

/* Which of the draws of HEED__BLOCKS blocks, starting at `block`, keep their elements. */
INLINE void kept_in_blocks(const heed__dropout *d, uint64_t block, uint64_t bits[2]) {
    const heed_random *r = &d->random;
    uvec c0[2], c1[2], c2[2], c3[2];
    UNROLL for (int i = 0; i < 2; i++) {
        c0[i] = usplat(block + (uint64_t)i * HEED__LANES) + (uvec){HEED__IOTA};
        c1[i] = usplat(r->site) ^ multiply_low(c0[i] >> 32, usplat(0x9E3779B9u));
        c2[i] = usplat(r->step);
        c3[i] = usplat(r->micro);
    }
    for (int round = 0; round < 10; round++) {
        UNROLL for (int i = 0; i < 2; i++) {
            uvec a = multiply_low(c0[i], usplat(0xD2511F53u));
            uvec b = multiply_low(c2[i], usplat(0xCD9E8D57u));
            c0[i] = (b >> 32) ^ c1[i] ^ usplat(d->key[round][0]);
            c1[i] = b;
            c2[i] = (a >> 32) ^ c3[i] ^ usplat(d->key[round][1]);
            c3[i] = a;
        }
    }
    UNROLL for (int i = 0; i < 2; i++) {
        uvec low = (c0[i] & 0xffffffffu) | (c1[i] << 32);
        uvec high = (c2[i] & 0xffffffffu) | (c3[i] << 32);
        bits[i] = at_least(HEED__ZIP(uvec, low, high, HEED__LOW_BLOCKS),
                           HEED__ZIP(uvec, low, high, HEED__HIGH_BLOCKS), d->threshold);
    }
}

/* Word i of those bits. */
INLINE uint32_t word_of(const uint64_t bits[2], int i) {
    return (uint32_t)(VBYTES == 16 ? bits[0] | bits[1] << 16
                                   : bits[i * 32 / VBYTES] >> i * 32 % VBYTES);
}

/* Bit i of words (bit i % 32 of words[i / 32]) is set if element at + i is kept. The last word is
 * filled whole. */
static inline void dropout_kept(const heed__dropout *d, uint32_t *words, uint64_t at, size_t n) {
    unsigned skip = (unsigned)(at % 8); /* draws of earlier elements in the first block */
    uint64_t block = at / 8, pending = 0, bits[2];
    long end = (long)((n + 31) / 32), w = skip ? -1 : 0;
    for (; w < end; block += HEED__BLOCKS) {
        kept_in_blocks(d, block, bits);
        for (int i = 0; i < HEED__WORDS && w < end; i++, w++, pending >>= 32) {
            pending |= (uint64_t)word_of(bits, i) << (32 - skip) % 32;
            if (w >= 0) words[w] = (uint32_t)pending;
        }
    }
}
void K(dropout_kept)(const heed__dropout *d, uint32_t *words, uint64_t at, size_t n); /* the same */

/* The factors of elements whose bits these are: keep or 0. */
INLINE vec kept_in(const heed__dropout *d, uint32_t bits) {
    return pick(set_bits(bits), splat(d->keep), splat(0));
}
/* The bits of the 32 elements at i and after. Reads the word after that of i, too. */
INLINE uint32_t bits_at(const uint32_t *words, size_t i) {
    uint64_t pair = words[i / 32] | (uint64_t)words[i / 32 + 1] << 32;
    return (uint32_t)(pair >> i % 32);
}
/* The factors of the elements at i and after. */
INLINE vec kept_factor(const heed__dropout *d, const uint32_t *words, size_t i) {
    return kept_in(d, bits_at(words, i));
}

#endif
