/* vmath.h -- transcendental functions on vectors. For float: polynomials (minimax fits of the
 * relative error) with an error of at most 2 ulp for exp and 4 ulp for the others. For double, used
 * by the tests: libm, lane by lane. */
#ifndef HEED_VMATH_H
#define HEED_VMATH_H

#include "isa.h"

/* Functions that are long enough to be called where the generic set is built for size. */
#if HEED__SET == 0 && defined(__OPTIMIZE_SIZE__)
#define SHARED static inline __attribute__((unused))
#else
#define SHARED INLINE
#endif

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

/* exp x = 2^n exp r, r = x - n log 2 in two parts, |r| <= log(2)/2; exp r = 1 + r + r^2 P(r), for x
 * from -104. */
SHARED vec exp_of(vec x) {
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

/* exp x for terms of a softmax, x at most about 0: relative error at most (2 + 2/3 |x|) 2^-23 where
 * exp x is normal.
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

INLINE vec vsigmoid(vec x) { return splat(1) / (splat(1) + vexp(-x)); }

#define HEED__GELU_SLOPE  ((heed_real)0.79788456080286536) /* sqrt(2/pi) */
#define HEED__GELU_CUBE   ((heed_real)0.044715)
#define HEED__NORMAL_PEAK ((heed_real)0.39894228040143268) /* 1/sqrt(2 pi) */

#if HEED__AVX512

/* A function of a >= 0 in 16 pieces of width 0.4, each a polynomial of the distance from its
 * middle; it is 0 where a has its limit of 6.16. One instruction selects the coefficients of 16
 * lanes. */
#define HEED__PIECES_END splat(6.16f)
#define HEED__TOGETHER   4 /* most vectors computed at a time, to overlap their operations */
typedef float heed__pieces[6][16];
INLINE void pieces(const heed__pieces *c, const vec *a, vec *y, const int n) {
    const vec magic = splat(12582912.0f); /* 1.5 2^23: adding it rounds to an integer */
    vec t[HEED__TOGETHER], d[HEED__TOGETHER];
    UNROLL for (int k = 0; k < n; k++) {
        vec s = a[k] * splat(2.5f);
        t[k] = s + magic;
        d[k] = s - (t[k] - magic);
    }
    UNROLL for (int i = 5; i >= 0; i--) {
        UNROLL for (int k = 0; k < n; k++) {
            vec own = (vec)_mm512_permutexvar_ps((__m512i)t[k], (__m512)load((*c)[i]));
            y[k] = i == 5 ? own : y[k] * d[k] + own;
        }
    }
    UNROLL for (int k = 0; k < n; k++) y[k] = pick(ge(a[k], HEED__PIECES_END), splat(0), y[k]);
}

/* GELU(x) / x at x = -a, which is Phi(-a), or the gate of the tanh form: relative errors of 3e-8
 * near 0 to 1e-4 at 6, or 1e-3. */
INLINE const heed__pieces *gelu_tail(heed_act f) {
    static const heed__pieces
        of_erf = {{0.5f, 0.344578266f, 0.211855412f, 0.115069672f, 0.0547992885f, 0.0227501299f,
                   0.00819753483f, 0.00255513028f, 0.000687138236f, 0.000159108837f,
                   3.16713558e-05f, 5.41258305e-06f, 7.93338302e-07f, 9.96463214e-08f,
                   1.07179225e-08f, 9.86630777e-10f},
                  {-0.159576908f, -0.147308037f, -0.115876608f, -0.0776744187f, -0.0443683453f,
                   -0.0215963982f, -0.00895781815f, -0.00316618057f, -0.000953632756f,
                   -0.000244758528f, -5.35309082e-05f, -9.97653751e-06f, -1.58438752e-06f,
                   -2.14410747e-07f, -2.47247502e-08f, -2.42948039e-09f},
                  {9.66443925e-10f, 0.0117842555f, 0.0185398497f, 0.0186417382f, 0.0141980024f,
                   0.00863873959f, 0.00429984601f, 0.00177306985f, 0.000610303017f, 0.00017620709f,
                   4.2815409e-05f, 8.77611274e-06f, 1.5201515e-06f, 2.2280696e-07f, 2.76614163e-08f,
                   2.91124125e-09f},
                  {0.00425527338f, 0.00329944189f, 0.0011122193f, -0.000911371259f, -0.00184554537f,
                   -0.00172752305f, -0.00113695743f, -0.000577518949f, -0.000235018917f,
                   -7.80982227e-05f, -2.14314296e-05f, -4.89177773e-06f, -9.33337049e-07f,
                   -1.49387688e-07f, -2.01118731e-08f, -2.28213959e-09f},
                  {-5.03267916e-09f, -0.000442064629f, -0.000578984153f, -0.00038642477f,
                   -8.47889314e-05f, 0.000113150105f, 0.000157171191f, 0.00011432774f,
                   5.91874486e-05f, 2.36421201e-05f, 7.54345137e-06f, 1.95850362e-06f,
                   4.18437224e-07f, 7.41151709e-08f, 1.09397122e-08f, 1.35073597e-09f},
                  {-0.000101262165f, -6.38283673e-05f, 1.10738092e-05f, 5.87117647e-05f,
                   5.42125708e-05f, 2.24813084e-05f, -3.25491374e-06f, -1.16768224e-05f,
                   -9.29208727e-06f, -4.76141804e-06f, -1.81158453e-06f, -5.39038922e-07f,
                   -1.28701615e-07f, -2.5029447e-08f, -4.00321465e-09f, -5.30084088e-10f}},
        of_tanh = {{0.5f, 0.344597071f, 0.21196039f, 0.115247697f, 0.0549143963f, 0.0227011498f,
                    0.00803201832f, 0.00238889037f, 0.000584239315f, 0.000114605835f,
                    1.75615951e-05f, 2.04592743e-06f, 1.76325855e-07f, 1.09381668e-08f,
                    4.75187278e-10f, 1.40650304e-11f},
                   {-0.159576908f, -0.147255898f, -0.115772046f, -0.0776579455f, -0.0445037372f,
                    -0.021760093f, -0.0090153357f, -0.00312105077f, -0.000884670357f,
                    -0.000200307099f, -3.52669085e-05f, -4.69681527e-06f, -4.60244507e-07f,
                    -3.22812426e-08f, -1.57667013e-09f, -5.21677632e-11f},
                   {1.01198883e-09f, 0.0118259657f, 0.0185358655f, 0.0185652338f, 0.0141415903f,
                    0.00866719056f, 0.00436369563f, 0.00180538499f, 0.000605393259f,
                    0.000160882919f, 3.29972972e-05f, 5.08075027e-06f, 5.71311205e-07f,
                    4.56540441e-08f, 2.52377585e-09f, 9.39745295e-11f},
                   {0.00427633058f, 0.0033002717f, 0.0010848291f, -0.000924013904f, -0.00182158861f,
                    -0.00170265592f, -0.00113892381f, -0.00059238862f, -0.000243145274f,
                    -7.78129179e-05f, -1.89797338e-05f, -3.43835723e-06f, -4.50736991e-07f,
                    -4.16781774e-08f, -2.65092637e-09f, -1.13134752e-10f},
                   {-5.26980592e-09f, -0.000450447842f, -0.000581732776f, -0.000377512624f,
                    -7.87623358e-05f, 0.000108208653f, 0.000151061569f, 0.000114137714f,
                    6.17178812e-05f, 2.4959174e-05f, 7.50690015e-06f, 1.64704909e-06f,
                    2.57692307e-07f, 2.80819474e-08f, 2.08095208e-09f, 1.02317987e-10f},
                   {-0.000103556093f, -6.43136809e-05f, 1.35833052e-05f, 5.99358282e-05f,
                    5.20601679e-05f, 2.10016333e-05f, -2.34693584e-06f, -1.06288835e-05f,
                    -9.28193367e-06f, -5.09811707e-06f, -1.94103245e-06f, -5.16269665e-07f,
                    -9.48158529e-08f, -1.18168684e-08f, -9.79626491e-10f, -5.28605111e-11f}};
    return f == HEED_GELU ? &of_erf : &of_tanh;
}
/* The slope of GELU at -a, with errors of at most 5e-8. */
INLINE const heed__pieces *gelu_slope_tail(heed_act f) {
    static const heed__pieces
        of_erf = {{0.5f, 0.197270244f, -0.0198978093f, -0.117953598f, -0.12267407f, -0.0852318183f,
                   -0.0455493368f, -0.0196081288f, -0.00694194064f, -0.00204373733f,
                   -0.000503649935f, -0.000104334671f, -1.82210715e-05f, -2.68814642e-06f,
                   -3.35521577e-07f, -3.54710075e-08f},
                  {-0.319153786f, -0.271046817f, -0.157592237f, -0.0434977002f, 0.0248462632f,
                   0.0431927852f, 0.0336813815f, 0.0184904952f, 0.00785795227f, 0.00268257619f,
                   0.000749448896f, 0.000173200649f, 3.33384269e-05f, 5.36967127e-06f,
                   7.26103622e-07f, 8.26355588e-08f},
                  {5.03120715e-15f, 0.0452500544f, 0.062292736f, 0.0477232784f, 0.0204465799f,
                   1.11882116e-06f, -0.00756752025f, -0.00680894405f, -0.00380870514f,
                   -0.00157906674f, -0.000513889012f, -0.000134832546f, -2.89507225e-05f,
                   -5.13460236e-06f, -7.56928898e-07f, -9.31605726e-08f},
                  {0.017020693f, 0.0114133693f, -0.000216897941f, -0.00829782616f, -0.00871548988f,
                   -0.00460756384f, -0.000750874635f, 0.000893736316f, 0.000945504347f,
                   0.000530304853f, 0.000211283026f, 6.4724707e-05f, 1.57809918e-05f,
                   3.12011684e-06f, 5.06012043e-07f, 6.78305554e-08f},
                  {-2.33040278e-14f, -0.00252391538f, -0.00278348289f, -0.00105362828f,
                   0.000665048021f, 0.0011398585f, 0.000697980809f, 0.000164315221f,
                   -8.02938885e-05f, -0.000101278369f, -5.61642919e-05f, -2.13144958e-05f,
                   -6.11664063e-06f, -1.38321718e-06f, -2.51929407e-07f, -3.74480678e-08f},
                  {-0.000606010261f, -0.000318920967f, 0.000202045441f, 0.000413376663f,
                   0.000230984893f, -2.53820745e-05f, -0.000120619821f, -8.07208999e-05f,
                   -2.07492722e-05f, 6.60988189e-06f, 9.04800982e-06f, 4.76554214e-06f,
                   1.67747987e-06f, 4.41450538e-07f, 9.08723194e-08f, 1.49832609e-08f}},
        of_tanh = {{0.5f, 0.197341204f, -0.0195836965f, -0.11772614f, -0.123100534f, -0.086099267f,
                    -0.0460599586f, -0.0194584578f, -0.00649313815f, -0.00168818026f,
                    -0.00033512339f, -4.96260909e-05f, -5.34861147e-06f, -4.09084493e-07f,
                    -2.16410214e-08f, -7.71601116e-10f},
                   {-0.319153786f, -0.270859063f, -0.157399014f, -0.0439238921f, 0.0241240915f,
                    0.043150045f, 0.0343326479f, 0.0190331023f, 0.00791724212f, 0.00249563158f,
                    0.000589623174f, 0.000102460865f, 1.28094734e-05f, 1.12525709e-06f,
                    6.77835459e-08f, 2.73108913e-09f},
                   {-2.88263153e-16f, 0.0453776233f, 0.0621164404f, 0.047379937f, 0.0205647387f,
                    0.000459615258f, -0.00741125317f, -0.00702439947f, -0.00401856238f,
                    -0.00161719031f, -0.00046959272f, -9.78601456e-05f, -1.44072228e-05f,
                    -1.46870252e-06f, -1.01380827e-07f, -4.62665062e-09f},
                   {0.0171049032f, 0.011382374f, -0.000349173817f, -0.00823877938f, -0.00852147583f,
                    -0.0046099145f, -0.000907615118f, 0.000830390083f, 0.000995656243f,
                    0.000578922336f, 0.000219199865f, 5.67260504e-05f, 1.0066402e-05f,
                    1.21158735e-06f, 9.72271437e-08f, 5.09647968e-09f},
                   {-1.42074967e-16f, -0.00256798812f, -0.002772131f, -0.000990445609f,
                    0.000652581919f, 0.0010774259f, 0.000694068731f, 0.000200788592f,
                    -6.67347049e-05f, -0.000110664638f, -6.39405553e-05f, -2.21657065e-05f,
                    -4.9878754e-06f, -7.39295047e-07f, -7.18301294e-08f, -4.51574556e-09f},
                   {-0.00061970012f, -0.000318728999f, 0.000220019356f, 0.000410066452f,
                    0.000211001869f, -2.21271257e-05f, -0.000106154046f, -8.04130395e-05f,
                    -2.74299109e-05f, 4.83940494e-06f, 1.05921827e-05f, 5.67605366e-06f,
                    1.69474947e-06f, 3.12649462e-07f, 3.64711319e-08f, 2.68841349e-09f}};
    return f == HEED_GELU ? &of_erf : &of_tanh;
}

/* x becomes GELU(x), or its slope. */
INLINE void gelu_values(heed_act f, vec *x, const int n) {
    const heed__pieces *tail = gelu_tail(f);
    vec a[HEED__TOGETHER], q[HEED__TOGETHER];
    UNROLL for (int k = 0; k < n; k++) a[k] = vmin(HEED__PIECES_END, vabs(x[k]));
    pieces(tail, a, q, n);
    UNROLL for (int k = 0; k < n; k++) /* x (1 - Phi(-x)) for positive x */
        x[k] = vmax(splat(0), x[k]) - a[k] * q[k];
}
INLINE void gelu_slopes(heed_act f, vec *x, const int n) {
    const heed__pieces *tail = gelu_slope_tail(f);
    vec a[HEED__TOGETHER], q[HEED__TOGETHER];
    UNROLL for (int k = 0; k < n; k++) a[k] = vmin(HEED__PIECES_END, vabs(x[k]));
    pieces(tail, a, q, n);
    UNROLL for (int k = 0; k < n; k++) x[k] = pick(lt(x[k], splat(0)), q[k], splat(1) - q[k]);
}
#define HEED__GELU_OF(name, values, f)                                                             \
    INLINE vec name(vec x) {                                                                       \
        values(f, &x, 1);                                                                          \
        return x;                                                                                  \
    }
HEED__GELU_OF(vgelu, gelu_values, HEED_GELU)
HEED__GELU_OF(vgelu_slope, gelu_slopes, HEED_GELU)
HEED__GELU_OF(vgelu_tanh, gelu_values, HEED_GELU_TANH)
HEED__GELU_OF(vgelu_tanh_slope, gelu_slopes, HEED_GELU_TANH)
#undef HEED__GELU_OF

#else

INLINE vec vgelu(vec x) {
    vec bell;
    return x * normal(x, &bell);
}
INLINE vec vgelu_slope(vec x) {
    vec bell, below = normal(x, &bell);
    return below + x * splat(HEED__NORMAL_PEAK) * bell;
}

/* (1 + tanh u) / 2 = sigmoid(2u), with u the argument of the tanh form of GELU. */
INLINE vec gelu_tanh_gate(vec x) {
    vec u = splat(HEED__GELU_SLOPE) * (x + splat(HEED__GELU_CUBE) * (x * x * x));
    return vsigmoid(u + u);
}

INLINE vec vgelu_tanh(vec x) { return x * gelu_tanh_gate(x); }
INLINE vec vgelu_tanh_slope(vec x) {
    const vec one = splat(1);
    vec s = gelu_tanh_gate(x);
    vec twice_inner = splat(2 * HEED__GELU_SLOPE) * (one + splat(3 * HEED__GELU_CUBE) * x * x);
    return s + x * s * (one - s) * twice_inner;
}

/* x becomes GELU(x), or its slope. */
INLINE void gelu_values(heed_act f, vec *x, const int n) {
    for (int k = 0; k < n; k++) x[k] = f == HEED_GELU ? vgelu(x[k]) : vgelu_tanh(x[k]);
}
INLINE void gelu_slopes(heed_act f, vec *x, const int n) {
    for (int k = 0; k < n; k++) x[k] = f == HEED_GELU ? vgelu_slope(x[k]) : vgelu_tanh_slope(x[k]);
}

#endif

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
