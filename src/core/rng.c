/* rng.c -- Philox4x32-10 (Salmon et al. 2011, sec. 4.3) and streams over it. Uses only IEEE
 * arithmetic (which includes sqrt), so the numbers are the same on every machine. */
#include "core/core.h"

#include <math.h>

void heed__philox(uint64_t key, const uint32_t counter[4], uint32_t out[4]) {
    if (!counter || !out) return;
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

heed_random heed_random_at(uint64_t seed, const char *site, uint64_t step, uint32_t micro) {
    uint32_t high = (uint32_t)(step >> 32) * 0x9E3779B9u;
    return (heed_random){seed, heed__hash(site ? site : ""), (uint32_t)step ^ high, micro};
}

/* Bits 4 block .. 4 block + 3. */
static void four_bits(const heed_random *r, uint64_t block, uint32_t out[4]) {
    uint32_t high = (uint32_t)(block >> 32) * 0x9E3779B9u;
    heed__philox(r->seed, (uint32_t[4]){(uint32_t)block, r->site ^ high, r->step, r->micro}, out);
}

uint32_t heed__random_bits(const heed_random *r, uint64_t index) {
    if (!r) return 0;
    uint32_t out[4];
    four_bits(r, index / 4, out);
    return out[index % 4];
}

static double uniform(uint32_t bits) { return bits * 0x1p-32; }

double heed_random_uniform(const heed_random *r, uint64_t index) {
    return uniform(heed__random_bits(r, index));
}

void heed__random_uniforms(const heed_random *r, uint64_t block, double out[4]) {
    uint32_t bits[4];
    four_bits(r, block, bits);
    for (int i = 0; i < 4; i++) out[i] = uniform(bits[i]);
}

uint32_t heed_random_below(const heed_random *r, uint64_t index, uint32_t bound) {
    return (uint32_t)(((uint64_t)heed__random_bits(r, index) * bound) >> 32);
}

/* A Feistel network over 2 * half bits, applied repeatedly until the value is below n. The domain
 * has at most 4 n values, so at most four applications on average. Black & Rogaway 2002, sec. 4. */
uint64_t heed_random_permute(const heed_random *r, uint64_t index, uint64_t n) {
    enum { ROUNDS = 6 };
    int half = 1;
    if (!r || index >= n) return 0;
    while (half < 32 && n > (uint64_t)1 << 2 * half) half++;
    uint64_t mask = ((uint64_t)1 << half) - 1, x = index;
    do {
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t left = x >> half, right = x & mask;
            left ^= heed__random_bits(r, (right * ROUNDS + (uint64_t)round) * 4) & mask;
            x = right << half | left;
        }
    } while (x >= n);
    return x;
}

/* log x = e log 2 + 2 atanh((m-1)/(m+1)), x = m 2^e, m in [sqrt(1/2), sqrt(2)): libm's result
 * differs between machines. */
static double exact_log(double x) {
    int e = 0;
    while (x < 0.70710678118654752) x *= 2, e--;
    double s = (x - 1) / (x + 1), square = s * s, sum = 0;
    for (int i = 21; i >= 1; i -= 2) sum = sum * square + 1.0 / i;
    return e * 0.69314718055994531 + 2 * s * sum;
}

/* cos x (first 0) or sin x (first 1) by Taylor's series, |x| at most pi/4. */
static double taylor(double x, int first) {
    double term = first ? x : 1, sum = term;
    for (int i = first + 1; i < 20; i += 2) {
        term *= -x * x / (i * (i + 1));
        sum += term;
    }
    return sum;
}

static double exact_cos_turn(double u) {
    const double tau = 6.283185307179586;
    if (u > 0.5) u = 1 - u;          /* cos is symmetric about pi */
    double sign = u > 0.25 ? -1 : 1; /* and antisymmetric about pi/2 */
    if (u > 0.25) u = 0.5 - u;
    return sign * (u > 0.125 ? taylor(tau * (0.25 - u), 1) : taylor(tau * u, 0));
}

/* Box and Muller 1958. */
static double normal(uint32_t a, uint32_t b) {
    return sqrt(-2 * exact_log((a + 0.5) * 0x1p-32)) * exact_cos_turn(uniform(b));
}

double heed_random_normal(const heed_random *r, uint64_t index) {
    return normal(heed__random_bits(r, 2 * index), heed__random_bits(r, 2 * index + 1));
}

void heed__random_normals(const heed_random *r, uint64_t pair, double out[2]) {
    uint32_t bits[4];
    four_bits(r, pair, bits);
    out[0] = normal(bits[0], bits[1]);
    out[1] = normal(bits[2], bits[3]);
}
