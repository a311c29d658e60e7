/* isa.h -- the vectors of one instruction set. Every kernel source is compiled once per set, with
 * HEED_ISA its name; this header defines the vector width for it, and K(name), the set's symbol for
 * a kernel. */
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

/* generic stays at 16 bytes whatever the compiler flags: its sums have one order everywhere. */
#if HEED__SET == 2
#define VBYTES 64
#elif HEED__SET == 1
#define VBYTES 32
#else
#define VBYTES 16
#endif

#ifdef HEED_F64
typedef int64_t heed_lane;
#define VL (VBYTES / 8) /* lanes per vector */
#else
typedef int32_t heed_lane;
#define VL (VBYTES / 4)
#endif
/* Intrinsics are used only for floats on x86; the double-precision build is for tests. */
#ifndef HEED_F64
#define HEED__AVX512 (HEED__SET == 2)
#define HEED__AVX2   (HEED__SET == 1)
#else
#define HEED__AVX512 0
#define HEED__AVX2   0
#endif

typedef heed_real vec __attribute__((vector_size(VBYTES)));
typedef heed_lane ivec __attribute__((vector_size(VBYTES)));
typedef double dvec __attribute__((vector_size(VBYTES)));

#define INLINE static inline __attribute__((always_inline, unused))

/* Placed before a short loop over an array of vectors, to keep the array in registers. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* The address of x[n], for a cache line that is requested, also where the array has ended: as a
 * number, because C has no such pointers. */
INLINE const void *address(const heed_real *x, size_t n) {
    return (const void *)((uintptr_t)x + n * sizeof *x);
}

INLINE vec splat(heed_real x) { return x - (vec){0}; }
INLINE ivec isplat(heed_lane x) { return x - (ivec){0}; }
INLINE vec load(const heed_real *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store(heed_real *p, vec v) { memcpy(p, &v, sizeof v); }
/* Stores past the caches; p is a multiple of a vector. */
INLINE void stream(heed_real *p, vec v) {
#if HEED__AVX512
    _mm512_stream_ps(p, (__m512)v);
#elif HEED__AVX2
    _mm256_stream_ps(p, (__m256)v);
#else
    store(p, v);
#endif
}
/* Ends a thread's streamed stores: other threads see them. */
INLINE void stream_end(void) {
#if HEED__AVX512 || HEED__AVX2
    _mm_sfence();
#endif
}
INLINE ivec load_lanes(const heed_lane *p) {
    ivec v;
    memcpy(&v, p, sizeof v);
    return v;
}

#if HEED__AVX512
INLINE vec load_some(const heed_real *p, size_t n) {
    return (vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
INLINE void store_some(heed_real *p, vec v, size_t n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
}
#elif HEED__AVX2
INLINE ivec first_lanes(size_t n) { return (ivec){0, 1, 2, 3, 4, 5, 6, 7} < isplat((heed_lane)n); }
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

/* Access up to VL elements of an array of which `left` remain; those beyond read as 0, unstored. */
INLINE vec get(const heed_real *p, size_t left) {
    return left >= (size_t)VL ? load(p) : load_some(p, left);
}
INLINE void put(heed_real *p, vec v, size_t left) {
    if (left >= (size_t)VL)
        store(p, v);
    else
        store_some(p, v, left);
}

/* Masks of lanes: results of comparisons, read by pick. */
#if HEED__AVX512
typedef __mmask16 vmask;
INLINE vmask lt(vec a, vec b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ); }
INLINE vmask ge(vec a, vec b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GE_OQ); }
INLINE vmask eq(vec a, vec b) { return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_EQ_OQ); }
INLINE vmask both(vmask a, vmask b) { return (vmask)(a & b); }
INLINE vec pick(vmask m, vec yes, vec no) {
    return (vec)_mm512_mask_blend_ps(m, (__m512)no, (__m512)yes);
}
INLINE vmask lanes_below(size_t n) { return (vmask)(n < 16 ? (1u << n) - 1 : 0xffffu); }
INLINE vmask load_mask(const heed_lane *p) { /* lanes of 0 or -1 */
    return _mm512_movepi32_mask(_mm512_loadu_si512(p));
}
#else
typedef ivec vmask;
INLINE vmask lt(vec a, vec b) { return a < b; }
INLINE vmask ge(vec a, vec b) { return a >= b; }
INLINE vmask eq(vec a, vec b) { return a == b; }
INLINE vmask both(vmask a, vmask b) { return a & b; }
INLINE vec pick(vmask m, vec yes, vec no) {
#if HEED__AVX2
    return (vec)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)m);
#else
    return (vec)((m & (ivec)yes) | (~m & (ivec)no));
#endif
}
INLINE vmask load_mask(const heed_lane *p) {
    ivec v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE vmask lanes_below(size_t n) { /* the first n lanes */
    heed_lane lanes[VL];
    for (int i = 0; i < VL; i++) lanes[i] = i;
    return load_mask(lanes) < isplat((heed_lane)(n < (size_t)VL ? n : (size_t)VL));
}
#endif

/* True only if all lanes are set; false if that is not known faster than both cases are computed.
 */
INLINE bool every(vmask m) {
#if HEED__AVX512
    return m == 0xffffu;
#elif HEED__AVX2
    return _mm256_movemask_ps((__m256)m) == 0xff;
#else
    (void)m;
    return false;
#endif
}

/* The lanes that are not 0. */
INLINE vmask any_bit(ivec x) {
#if HEED__AVX512
    return _mm512_test_epi32_mask((__m512i)x, (__m512i)x);
#else
    return x != 0;
#endif
}

/* The lanes whose bit is set. */
INLINE vmask set_bits(uint32_t bits) {
#if HEED__AVX512
    return (vmask)bits;
#else
    heed_lane lanes[VL];
    for (int i = 0; i < VL; i++) lanes[i] = (heed_lane)1 << i;
    return any_bit(load_lanes(lanes) & isplat((heed_lane)bits));
#endif
}

/* The lanes whose mask entry is not 0, of which `left` remain. */
INLINE vmask nonzero(const int32_t *mask, size_t left) {
    heed_lane lanes[VL] = {0};
    size_t n = left < (size_t)VL ? left : (size_t)VL;
    for (size_t i = 0; i < n; i++) lanes[i] = -(heed_lane)(mask[i] != 0);
    return load_mask(lanes);
}

/* a > b ? a : b and a < b ? a : b: b if either is NaN. */
#if HEED__AVX512
INLINE vec vmax(vec a, vec b) { return (vec)_mm512_max_ps((__m512)a, (__m512)b); }
INLINE vec vmin(vec a, vec b) { return (vec)_mm512_min_ps((__m512)a, (__m512)b); }
#elif HEED__AVX2
INLINE vec vmax(vec a, vec b) { return (vec)_mm256_max_ps((__m256)a, (__m256)b); }
INLINE vec vmin(vec a, vec b) { return (vec)_mm256_min_ps((__m256)a, (__m256)b); }
#else
INLINE vec vmax(vec a, vec b) { return pick(lt(b, a), a, b); }
INLINE vec vmin(vec a, vec b) { return pick(lt(a, b), a, b); }
#endif
INLINE vec vabs(vec x) { return (vec)((ivec)x & ~(ivec)splat((heed_real)-0.0)); }

/* Interleaves the low or high halves of two vectors of n lanes: a0 b0 a1 b1 ... */
#define HEED__LOW_16  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HEED__HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define HEED__LOW_8   0, 8, 1, 9, 2, 10, 3, 11
#define HEED__HIGH_8  4, 12, 5, 13, 6, 14, 7, 15
#define HEED__LOW_4   0, 4, 1, 5
#define HEED__HIGH_4  2, 6, 3, 7
#define HEED__LOW_2   0, 2
#define HEED__HIGH_2  1, 3
#ifdef __clang__
#define HEED__ZIP(mask, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define HEED__ZIP(mask, a, b, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif
#if VL == 16
#define HEED__LOW  HEED__LOW_16
#define HEED__HIGH HEED__HIGH_16
#elif VL == 8
#define HEED__LOW  HEED__LOW_8
#define HEED__HIGH HEED__HIGH_8
#elif VL == 4
#define HEED__LOW  HEED__LOW_4
#define HEED__HIGH HEED__HIGH_4
#else
#define HEED__LOW  HEED__LOW_2
#define HEED__HIGH HEED__HIGH_2
#endif
INLINE vec zip_low(vec a, vec b) { return HEED__ZIP(ivec, a, b, HEED__LOW); }
INLINE vec zip_high(vec a, vec b) { return HEED__ZIP(ivec, a, b, HEED__HIGH); }

/* The transpose of VL rows: log2 VL perfect shuffles. */
INLINE void transpose(vec r[VL]) {
    UNROLL for (int stage = VL; stage > 1; stage /= 2) {
        vec t[VL];
        UNROLL for (int i = 0; i < VL / 2; i++) {
            t[2 * i] = zip_low(r[i], r[i + VL / 2]);
            t[2 * i + 1] = zip_high(r[i], r[i + VL / 2]);
        }
        UNROLL for (int i = 0; i < VL; i++) r[i] = t[i];
    }
}

/* Reduces the lanes in a fixed tree, half onto half: all sets of one width add in the same order.
 */
#if HEED__AVX512
INLINE heed_real sum_lanes(vec v) { return _mm512_reduce_add_ps((__m512)v); }
INLINE heed_real max_lanes(vec v) { return _mm512_reduce_max_ps((__m512)v); }
#elif HEED__AVX2
#define HEED__FOLD(f)                                                                              \
    __m128 a = f(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));          \
    a = f(a, _mm_movehl_ps(a, a));                                                                 \
    return _mm_cvtss_f32(f(a, _mm_movehdup_ps(a)))
INLINE heed_real sum_lanes(vec v) { HEED__FOLD(_mm_add_ps); }
INLINE heed_real max_lanes(vec v) { HEED__FOLD(_mm_max_ps); }
#else
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
#endif

#endif
