/* vmath.h -- transcendental functions on vectors. For float: polynomials (minimax fits of the
 * relative error) with an error of at most 2 ulp for exp and 4 ulp for the others. For double, used
 * by the tests: libm, lane by lane. */
#ifndef HEED_VMATH_H
#define HEED_VMATH_H

#include "isa.h"

/* c[0] + c[1] x + ... + c[n-1] x^(n-1), by Horner's method. */
INLINE vec polynomial(vec x, const heed_real *c, int n) {
    vec y = splat(c[n - 1]);
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
HEED__LIBM(vlog, log)
HEED__LIBM(vtanh, tanh)
HEED__LIBM(verf, erf)

/* Phi(x), the normal distribution function; *bell = exp(-x^2 / 2). */
INLINE vec normal(vec x, vec *bell) {
    *bell = vexp(splat(-0.5) * x * x);
    return splat(0.5) * (splat(1) + verf(x * splat(HEED__SQRT_HALF)));
}

#else

/* exp x = 2^n exp r, r = x - n log 2 in two parts, |r| <= log(2)/2; exp r = 1 + r + r^2 P(r), for x
 * from -104. */
INLINE vec exp_of(vec x) {
    static const float c[] = {0.4999999403953552f, 0.1666651964187622f, 0.04166839271783829f,
                              0.008368780836462975f, 0.001381446490995586f};
    const vec magic = splat(12582912.0f); /* 1.5 2^23: adding it rounds to an integer */
    x = vmin(splat(89.0f), x);            /* keeps NaN */
    vec t = x * splat(1.44269504f) + magic, n = t - magic;
    vec r = x - n * splat(0.693145751953125f);
    r = r - n * splat(1.428606820309417e-06f);
    vec p = (r * r) * polynomial(r, c, 5) + r;
    p = p + splat(1.0f);
#if HEED__AVX512
    return (vec)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
    ivec e = (ivec)t - (ivec)magic, half = e >> 1; /* 2^n in two factors: n may be out of range */
    return p * (vec)((half + 127) << 23) * (vec)((e - half + 127) << 23);
#endif
}

/* Inputs whose result rounds to 0, mostly masked scores of -inf, are handled separately: some CPUs
 * need a hundred times as long for a denormal result. */
INLINE vec vexp(vec x) {
    vmask vanishes = lt(x, splat(-104.0f));
    return pick(vanishes, splat(0), exp_of(pick(vanishes, splat(0), x)));
}

/* log x = e log 2 + log(1+f), 1+f in [sqrt(1/2), sqrt(2)); log(1+f) = f - f^2/2 + f^3 P(f). */
INLINE vec vlog(vec x) {
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

/* |x| < 5/8: x + x^3 P(x^2); else 1 - 2 / (exp 2|x| + 1), with the sign of x, which vectors of
 * small numbers do without. */
INLINE vec vtanh(vec x) {
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

/* Phi(x), the normal distribution function; *bell = exp(-x^2 / 2). For a >= 0, Phi(-a) =
 * bell (1/2 + u P(u)) with u = 0.28 a / (1 + 0.28 a), exact at 0; it is 0 beyond 14. */
INLINE vec normal(vec x, vec *bell) {
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

INLINE vec vsigmoid(vec x) { return splat(1) / (splat(1) + vexp(-x)); }

#define HEED__GELU_SLOPE  ((heed_real)0.79788456080286536) /* sqrt(2/pi) */
#define HEED__GELU_CUBE   ((heed_real)0.044715)
#define HEED__NORMAL_PEAK ((heed_real)0.39894228040143268) /* 1/sqrt(2 pi) */

/* (1 + tanh u) / 2 = sigmoid(2u), with u the argument of the tanh form of GELU. */
INLINE vec gelu_tanh_gate(vec x) {
    vec u = splat(HEED__GELU_SLOPE) * (x + splat(HEED__GELU_CUBE) * (x * x * x));
    return vsigmoid(u + u);
}

INLINE vec gelu_tanh_slope(vec x) {
    const vec one = splat(1);
    vec s = gelu_tanh_gate(x);
    vec twice_inner = splat(2 * HEED__GELU_SLOPE) * (one + splat(3 * HEED__GELU_CUBE) * x * x);
    return s + x * s * (one - s) * twice_inner;
}

INLINE vec vgelu(vec x) {
    vec bell;
    return x * normal(x, &bell);
}
INLINE vec vgelu_slope(vec x) {
    vec bell, below = normal(x, &bell);
    return below + x * splat(HEED__NORMAL_PEAK) * bell;
}

INLINE vec vsilu_slope(vec x) {
    vec s = vsigmoid(x);
    return s + x * s * (splat(1) - s);
}

/* f(x); f is a compile-time constant wherever this is inlined into a loop. */
INLINE vec act_value(heed_act f, vec x) {
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
INLINE vec act_slope(heed_act f, vec x, vec y) {
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
