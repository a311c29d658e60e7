/* vmath.h -- transcendental functions on vectors. For float: polynomials (minimax fits of the
 * relative error) with an error of at most 2 ulp for exp and 4 ulp for log, tanh and erf; that of
 * the sigmoid is the error of vexp_term, that of GELU is in gelu.h. For double, used by
 * the tests: libm, lane by lane. */
#ifndef HEED_VMATH_H
#define HEED_VMATH_H

#include "isa.h"

/* Functions that are long enough to be called where the generic set is built for size. */
#if HEED__SET == 0 && defined(__OPTIMIZE_SIZE__)
#define SHARED static inline __attribute__((unused))
#else
#define SHARED INLINE
#endif

/* c[0] + c[1] x + ... + c[n-1] x^(n-1), by Horner's method. Without its mark, the loop is not
 * unrolled where code is built for size. */
INLINE vec polynomial(vec x, const heed_real *c, int n) {
    vec y = splat(c[n - 1]);
#if HEED__SET
    UNROLL
#endif
    for (int i = n - 2; i >= 0; i--) y = y * x + splat(c[i]);
    return y;
}

#if HEED__AVX512
INLINE vec vsqrt(vec x) { return (vec)_mm512_sqrt_ps((__m512)x); }
#elif HEED__AVX2
INLINE vec vsqrt(vec x) { return (vec)_mm256_sqrt_ps((__m256)x); }
#elif HEED__SET == 0 && defined(__SSE2__) && !defined(HEED_F64)
INLINE vec vsqrt(vec x) { return (vec)_mm_sqrt_ps((__m128)x); }
#elif HEED__SET == 3 && !defined(HEED_F64)
INLINE vec vsqrt(vec x) { return (vec)vsqrtq_f32((float32x4_t)x); }
#else
INLINE vec vsqrt(vec x) {
    for (int i = 0; i < VL; i++) x[i] = (heed_real)sqrt((double)x[i]); /* exact for floats, too */
    return x;
}
#endif

#ifdef HEED_F64

#define HEED__SQRT_HALF 0.70710678118654752
#define HEED__LIBM(name, f)                                                                        \
    INLINE vec name(vec x) {                                                                       \
        for (int i = 0; i < VL; i++) x[i] = f(x[i]);                                               \
        return x;                                                                                  \
    }
HEED__LIBM(vexp, exp)
HEED__LIBM(vexp_term, exp)
HEED__LIBM(vlog, log)
HEED__LIBM(vtanh, tanh)
HEED__LIBM(verf, erf)

/* Phi(x), the normal distribution function; *bell = exp(-x^2 / 2). */
SHARED vec normal(vec x, vec *bell) {
    *bell = vexp(splat(-0.5) * x * x);
    return splat(0.5) * (splat(1) + verf(x * splat(HEED__SQRT_HALF)));
}

#else

#define HEED__MAGIC splat(12582912.0f) /* 1.5 2^23: adding it rounds to an integer */

/* exp x = 2^n exp r, r = x - n log 2 in two parts, |r| <= log(2)/2. Returns exp r - 1 = r + r^2
 * P(r), and n + HEED__MAGIC as *t. */
INLINE vec exp_reduced(vec x, vec *t) {
    static const float c[] = {0.4999999403953552f, 0.1666651964187622f, 0.04166839271783829f,
                              0.008368780836462975f, 0.001381446490995586f};
    *t = x * splat(1.44269504f) + HEED__MAGIC;
    vec n = *t - HEED__MAGIC, r = x - n * splat(0.693145751953125f);
    r = r - n * splat(1.428606820309417e-06f);
    return (r * r) * polynomial(r, c, 5) + r;
}

/* 2^n y, with t = n + HEED__MAGIC; AVX2: if y and the result are normal numbers. */
#if HEED__AVX512
INLINE vec times_power(vec y, vec t) {
    return (vec)_mm512_scalef_ps((__m512)y, (__m512)(t - HEED__MAGIC));
}
#elif HEED__AVX2
INLINE vec times_power(vec y, vec t) { return (vec)((ivec)y + ((ivec)t << 23)); }
#endif

/* exp x, for x from -104. */
SHARED vec exp_of(vec x) {
    vec t, p = exp_reduced(vmin(splat(89.0f), x), &t) + splat(1.0f); /* keeps NaN */
#if HEED__AVX512
    return times_power(p, t);
#else
    ivec e = (ivec)t - (ivec)HEED__MAGIC, half = e >> 1; /* two factors: n may be out of range */
    return p * (vec)((half + 127) << 23) * (vec)((e - half + 127) << 23);
#endif
}

/* Inputs whose result rounds to 0, mostly masked scores of -inf, are handled separately: some CPUs
 * need a hundred times as long for a denormal result. */
INLINE vec vexp(vec x) {
    vmask vanishes = lt(x, splat(-104.0f));
    return pick(vanishes, splat(0), exp_of(pick(vanishes, splat(0), x)));
}

/* exp x for terms of a softmax, x at most about 0: relative error at most (2 + 2/3 |x|) 2^-23 where
 * exp x is normal (AVX2: above -87, below which it is 0).
 * 2^t = 2^floor(t) 2^r, with 2^r = 1 + r P(r). */
#if HEED__AVX512
INLINE vec vexp_term(vec x) {
    static const float c[] = {1,
                              0.6931512951850891f,
                              0.24016444385051727f,
                              0.05579991266131401f,
                              0.009017029777169228f,
                              0.001867130515165627f};
    const __m512 t = (__m512)(x * splat(1.44269504f));
    vec r = (vec)_mm512_reduce_ps(t, _MM_FROUND_TO_NEG_INF), p = splat(c[5]);
    UNROLL for (int i = 4; i >= 0; i--) p = p * r + splat(c[i]);
    return (vec)_mm512_scalef_ps((__m512)p, t);
}
#elif HEED__AVX2
INLINE vec vexp_term(vec x) {
    static const float c[] = {
        1, 0.693147004f, 0.240222424f, 0.0555073358f, 0.00967151299f, 0.00132647273f};
    const vec log2e = splat(1.44269504f);
    vec a = vmax(splat(-87.0f), x); /* keeps NaN */
    vec t = a * log2e + HEED__MAGIC, r = a * log2e - (t - HEED__MAGIC);
    vec y = polynomial(r, c, 6) * times_power(splat(1), t); /* the factor of NaN is a number */
    return (vec)(~lt(x, splat(-87.0f)) & (ivec)y);
}
#else
INLINE vec vexp_term(vec x) { return vexp(x); }
#endif

/* log x = e log 2 + log(1+f), 1+f in [sqrt(1/2), sqrt(2)); log(1+f) = f - f^2/2 + f^3 P(f). */
SHARED vec vlog(vec x) {
    static const float c[] = {0.3333331346511841f,   -0.25000008940696716f, 0.20002123713493347f,
                              -0.16668005287647247f, 0.14219450950622559f,  -0.12405343353748322f,
                              0.11888711899518967f,  -0.1167750284075737f,  0.06747682392597198f};
    vmask tiny = lt(x, splat(1.17549435e-38f)); /* denormals are scaled by 2^23 */
    vec y = pick(tiny, x * splat(8388608.0f), x);
    ivec shifted = (ivec)y - 0x3f3504f3; /* bits of sqrt(1/2) */
    vec f = (vec)((shifted & 0x7fffff) + 0x3f3504f3) - splat(1.0f), square = f * f;
    vec n = __builtin_convertvector(shifted >> 23, vec) - pick(tiny, splat(23.0f), splat(0.0f));
    vec tail = f * square * polynomial(f, c, 9) + n * splat(1.428606820309417e-06f);
    tail = tail - square * splat(0.5f);
    y = n * splat(0.693145751953125f) + (f + tail);
    const vec infinite = splat(INFINITY);
    y = pick(eq(x, infinite), infinite, y);
    y = pick(eq(x, splat(0.0f)), -infinite, y);
    return pick(ge(x, splat(0.0f)), y, splat(NAN)); /* negative, or not a number */
}

#if HEED__AVX512 || HEED__AVX2
/* (e - 1) / (e + 1) with e = exp 2|x| = 2^n (1 + q), where e - 1 = 2^n q + (2^n - 1) loses no
 * digits; with the sign of x. From 9.1 on it is 1. */
INLINE vec vtanh(vec x) {
    const ivec sign = (ivec)splat(-0.0f);
    vec a = vmin(splat(9.1f), vabs(x)), t, q = exp_reduced(a + a, &t); /* keeps NaN */
    vec power = times_power(splat(1.0f), t), e = power * q + (power - splat(1.0f));
    return (vec)((ivec)(e / (e + splat(2.0f))) | ((ivec)x & sign));
}
#else
/* |x| < 5/8: x + x^3 P(x^2); else 1 - 2 / (exp 2|x| + 1), with the sign of x, which vectors of
 * small numbers do without. */
SHARED vec vtanh(vec x) {
    static const float c[] = {-0.3333328068256378f, 0.13331441581249237f, -0.05373971164226532f,
                              0.020639078691601753f, -0.005704978480935097f};
    const ivec sign = (ivec)splat(-0.0f);
    vec a = vabs(x), s = x * x;
    vec near = x * s * polynomial(s, c, 5) + x;
    vmask small = lt(a, splat(0.625f));
    if (every(small)) return near;
    vec far = splat(1.0f) - splat(2.0f) / (exp_of(a + a) + splat(1.0f));
    far = (vec)((ivec)far | ((ivec)x & sign));
    return pick(small, near, far);
}
#endif

/* Phi(x), the normal distribution function; *bell = exp(-x^2 / 2). For a >= 0, Phi(-a) =
 * bell (1/2 + u P(u)) with u = 0.28 a / (1 + 0.28 a), exact at 0; it is 0 beyond 14. */
SHARED vec normal(vec x, vec *bell) {
    static const float c[] = {-1.4247937202453613f,  1.763978362083435f,   -1.1050387620925903f,
                              0.13692167401313782f,  0.19830431044101715f, -0.007033724803477526f,
                              -0.10284731537103653f, 0.04058366268873215f};
    const vec one = splat(1.0f), a = vmin(splat(14.0f), vabs(x)) * splat(0.28f);
    vec u = a / (one + a);
    *bell = vexp(splat(-0.5f) * x * x);
    vec tail = *bell * (u * polynomial(u, c, 8) + splat(0.5f));
    return pick(lt(x, splat(0.0f)), tail, one - tail);
}

#endif

INLINE vec vsigmoid(vec x) {
#if HEED__AVX512
    return splat(1) / (splat(1) + vexp_term(-x));
#elif HEED__AVX2
    vec e = vexp_term(-vabs(x)); /* the numerator is 1, or e for negative x: the sign selects it */
    return (vec)_mm256_blendv_ps((__m256)splat(1), (__m256)e, (__m256)x) / (splat(1) + e);
#else
    return splat(1) / (splat(1) + vexp(-x));
#endif
}

#include "gelu.h"

INLINE vec vsilu_slope(vec x) {
    vec s = vsigmoid(x);
    return s + x * s * (splat(1) - s);
}

/* f(x); f is a compile-time constant wherever this is inlined into a loop. */
SHARED vec act_value(heed_act f, vec x) {
    const vec half = splat((heed_real)0.5), one = splat(1);
    (void)half, (void)one;
    switch (f) {
#define VALUE_OF(act, name, setting, from, value, ...)                                             \
    case act:                                                                                      \
        return value;
        HEED_ACTIVATIONS(VALUE_OF)
#undef VALUE_OF
    }
    return x;
}

/* f'(x), from x or from y = f(x), as the activation requires. */
SHARED vec act_slope(heed_act f, vec x, vec y) {
    const vec half = splat((heed_real)0.5), one = splat(1);
    (void)x, (void)y;
    switch (f) {
#define SLOPE_OF(act, name, setting, from, value, slope, ...)                                      \
    case act:                                                                                      \
        return slope;
        HEED_ACTIVATIONS(SLOPE_OF)
#undef SLOPE_OF
    }
    return one;
}

/* Expands the macro ACT_BODY(f) for each activation, with f a compile-time constant. */
#define HEED__CASE_OF(act, ...)                                                                    \
    case act:                                                                                      \
        ACT_BODY(act);                                                                             \
        break;
#define HEED__EACH_ACT(f)                                                                          \
    switch (f) { HEED_ACTIVATIONS(HEED__CASE_OF) }

#endif
