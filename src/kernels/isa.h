/* The vectors of one instruction set. Every kernel source is compiled once per set, with HEED_ISA
 * its name; this header turns that into a vector width, and K(name) into the set's own symbol. */
#ifndef HEED_ISA_H
#define HEED_ISA_H

#include "kernels.h"
#include "parallel.h"

#include <math.h>
#include <string.h>

#define HEED__PASTE(a, b) a##_##b
#define HEED__JOIN(a, b)  HEED__PASTE(a, b)
#define K(name)           HEED__JOIN(heed__##name, HEED_ISA)

#define HEED__NUMBER_generic 0
#define HEED__NUMBER_avx2    1
#define HEED__NUMBER_avx512  2
#define HEED__NUMBER_neon    3
#define HEED__SET            HEED__JOIN(HEED__NUMBER, HEED_ISA)

#if HEED__SET == 1 || HEED__SET == 2
#include <immintrin.h>
#elif HEED__SET == 0 && defined(__SSE2__)
#include <emmintrin.h>
#elif HEED__SET == 3
#include <arm_neon.h>
#endif

/* generic stays at 16 bytes whatever the compiler flags: its sums have the same order everywhere. */
#if HEED__SET == 2
#define VBYTES 64
#elif HEED__SET == 1
#define VBYTES 32
#else
#define VBYTES 16
#endif

#ifdef HEED_F64
typedef int64_t heed_lane;
#else
typedef int32_t heed_lane;
#endif
#define VL ((int)(VBYTES / sizeof(heed_real))) /* lanes of a vector */

typedef heed_real vec __attribute__((vector_size(VBYTES)));
typedef heed_lane ivec __attribute__((vector_size(VBYTES))); /* masks are 0 or -1 per lane */
typedef double dvec __attribute__((vector_size(VBYTES)));

#define INLINE static inline __attribute__((always_inline, unused))

INLINE vec splat(heed_real x) { return x - (vec){0}; }
INLINE ivec isplat(heed_lane x) { return x - (ivec){0}; }
INLINE vec load(const heed_real *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store(heed_real *p, vec v) { memcpy(p, &v, sizeof v); }

#if HEED__SET == 2 && !defined(HEED_F64)
INLINE vec load_some(const heed_real *p, size_t n) {
    return (vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
INLINE void store_some(heed_real *p, vec v, size_t n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
}
#elif HEED__SET == 1 && !defined(HEED_F64)
INLINE ivec first_lanes(size_t n) {
    return (ivec){0, 1, 2, 3, 4, 5, 6, 7} < isplat((heed_lane)n);
}
INLINE vec load_some(const heed_real *p, size_t n) {
    return (vec)_mm256_maskload_ps(p, (__m256i)first_lanes(n));
}
INLINE void store_some(heed_real *p, vec v, size_t n) {
    _mm256_maskstore_ps(p, (__m256i)first_lanes(n), (__m256)v);
}
#else
INLINE vec load_some(const heed_real *p, size_t n) {
    heed_real lanes[VL] = {0};
    for (size_t i = 0; i < n; i++) lanes[i] = p[i];
    return load(lanes);
}
INLINE void store_some(heed_real *p, vec v, size_t n) {
    heed_real lanes[VL];
    store(lanes, v);
    for (size_t i = 0; i < n; i++) p[i] = lanes[i];
}
#endif

/* At most VL elements of an array of which `left` are left; lanes beyond are 0, or not stored. */
INLINE vec get(const heed_real *p, size_t left) {
    return left >= (size_t)VL ? load(p) : load_some(p, left);
}
INLINE void put(heed_real *p, vec v, size_t left) {
    if (left >= (size_t)VL) store(p, v);
    else store_some(p, v, left);
}

INLINE vec pick(ivec mask, vec yes, vec no) {
    return (vec)((mask & (ivec)yes) | (~mask & (ivec)no));
}
INLINE vec vmax(vec a, vec b) { return pick(a > b, a, b); } /* b when a is not a number */
INLINE vec vabs(vec x) { return (vec)((ivec)x & ~(ivec)splat((heed_real)-0.0)); }

/* Lanes in a fixed tree, so that every set of one width adds in the same order. */
INLINE heed_real sum_lanes(vec v) {
    heed_real a[VL];
    store(a, v);
    for (int w = VL / 2; w > 0; w /= 2)
        for (int i = 0; i < w; i++) a[i] += a[i + w];
    return a[0];
}
INLINE heed_real max_lanes(vec v) {
    heed_real a[VL];
    store(a, v);
    for (int w = VL / 2; w > 0; w /= 2)
        for (int i = 0; i < w; i++) a[i] = a[i] > a[i + w] ? a[i] : a[i + w];
    return a[0];
}

/* -1 in the lanes whose mask entry is not 0, of which `left` are left; 0 beyond. */
INLINE ivec get_mask(const int32_t *mask, size_t left) {
    heed_lane lanes[VL] = {0};
    size_t n = left < (size_t)VL ? left : (size_t)VL;
    for (size_t i = 0; i < n; i++) lanes[i] = -(heed_lane)(mask[i] != 0);
    ivec v;
    memcpy(&v, lanes, sizeof v);
    return v;
}
/* -1 in the first `left` lanes. */
INLINE ivec get_lanes(size_t left) {
    heed_lane lanes[VL];
    for (int i = 0; i < VL; i++) lanes[i] = i;
    ivec v;
    memcpy(&v, lanes, sizeof v);
    return v < isplat((heed_lane)(left < (size_t)VL ? left : (size_t)VL));
}

#endif
