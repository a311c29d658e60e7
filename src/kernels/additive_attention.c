/* additive_attention.c -- one time step of a decoder with additive attention: for each row of a
 * batch
 *
 *     e_i = v' tanh(q + k_i) + shift     a = softmax(e)     c = sum_i a_i V_i
 *
 * Nothing of size (S,A) is kept for a step: backward recomputes tanh. As exp(2 k) is the same in
 * all steps, tanh(q + k) = 1 - 2 / (1 + exp(2 q) exp(2 k)) takes a division only. Bahdanau et al.
 * 2015, sec. A.1.2. */
#include "set.h"
#include "vmath.h"

/* The vector at index i, of which `left` lanes are valid. */
#define EACH(i, n) for (size_t i = 0, left = (n); i < (n); i += (size_t)VL, left = (n)-i)

/* With queries below this, exp(2 q) exp(2 k) is never 0 times infinity. */
#define NEAR ((heed_real)20)

typedef struct {
    const heed_real *q, *keys, *ekeys, *values, *v, *gc;
    const int32_t *pad;
    heed_real *a, *e, *c, *eq, *gq, *gkeys, *gvalues, *gv;
    heed_real *ge; /* of the scores */
    size_t len, inner, width, steps;
} row;

static row row_of(const heed_additive_attention_job *j, size_t r) {
    size_t len = (size_t)j->len, inner = (size_t)j->inner, width = (size_t)j->width;
    return (row){.q = j->query + r * inner,
                 .keys = j->keys + r * len * inner,
                 .ekeys = j->ekeys ? j->ekeys + r * len * inner : NULL,
                 .eq = j->equery ? j->equery + r * inner : NULL,
                 .values = j->values + r * len * width,
                 .v = j->v,
                 .gc = j->gcontext ? j->gcontext + r * j->ldgcontext : NULL,
                 .pad = j->pad ? j->pad + r * len : NULL,
                 .a = j->weights + r * j->ldweights,
                 .e = j->scores ? j->scores + r * j->ldweights : NULL,
                 .c = j->context + r * j->ldcontext,
                 .gq = j->gquery ? j->gquery + r * inner : NULL,
                 .gkeys = j->gkeys ? j->gkeys + r * len * inner : NULL,
                 .gvalues = j->gvalues ? j->gvalues + r * len * width : NULL,
                 .gv = j->gv ? j->gv + r * inner : NULL,
                 .ge = j->gscores ? j->gscores + r * len : NULL,
                 .len = len,
                 .inner = inner,
                 .width = width,
                 .steps = (size_t)j->steps};
}

/* e = exp(2 x); false if a number is large, or not one. */
static bool double_exp(heed_real *e, const heed_real *x, size_t n) {
    vec far = {0};
    EACH(i, n) {
        vec v = get(x + i, left);
        far += pick(lt(vabs(v), splat(NEAR)), splat(0), splat(1));
        put(e + i, vexp(v + v), left);
    }
    return sum_lanes(far) == 0;
}

/* Whether tanh is computed from exponentials. The generic instructions are the reference. */
static bool is_near(const row *a) {
    return HEED__SET != 0 && a->ekeys && double_exp(a->eq, a->q, a->inner);
}

/* 1 / x for x > 0, within 1 ulp. A division of 16 lanes takes as long as 20 multiplications: the
 * first guess is within 6 %, the second within 0.13 %. */
INLINE vec inverse(vec x) {
#if HEED__AVX512
    x = vmin(splat(0x1p125f), x); /* keeps NaN */
    vec y = (vec)(0x7ef33000 - (ivec)x);
    y = y * (splat(2.001275f) - x * y);
    vec e = splat(1) - x * y;
    return y * (e * e + e) + y;
#else
    return splat(1) / x;
#endif
}

/* tanh(q + k) at element i and place s. */
INLINE vec tanh_at(const row *a, bool near, size_t s, size_t i, size_t left) {
    size_t at = s * a->inner + i;
    if (!near) return vtanh(get(a->q + i, left) + get(a->keys + at, left));
    return splat(1) -
           splat(2) * inverse(splat(1) + get(a->eq + i, left) * get(a->ekeys + at, left));
}

INLINE void score(const row *a, bool near, heed_real shift) {
    for (size_t s = 0; s < a->len; s++) {
        vec sum = {0};
        EACH(i, a->inner) sum += get(a->v + i, left) * tanh_at(a, near, s, i, left);
        a->a[s] = sum_lanes(sum) + shift;
    }
    if (a->e) memcpy(a->e, a->a, a->len * sizeof *a->e);
}

INLINE vec shown_score(const row *a, size_t i, size_t left) {
    vmask there = a->pad ? nonzero(a->pad + i, left) : lanes_below(left);
    return pick(there, get(a->a + i, left), splat(-INFINITY));
}

/* A row that sees no place is zeros. */
static void soften(const row *a) {
    vec top = splat(-INFINITY), sums = {0};
    EACH(i, a->len) top = vmax(shown_score(a, i, left), top);
    heed_real most = max_lanes(top);
    if (most == -INFINITY) most = 0;
    EACH(i, a->len) {
        vec e = vexp_term(shown_score(a, i, left) - splat(most));
        sums += e;
        put(a->a + i, e, left);
    }
    heed_real sum = sum_lanes(sums);
    vec inverse = splat(sum == 0 ? 0 : 1 / sum);
    EACH(i, a->len) put(a->a + i, get(a->a + i, left) * inverse, left);
}

static void gather(const row *a) {
    EACH(i, a->width) {
        vec sum = {0};
        for (size_t s = 0; s < a->len; s++)
            sum += splat(a->a[s]) * get(a->values + s * a->width + i, left);
        put(a->c + i, sum, left);
    }
}

static void forward_row(const void *job, size_t r) {
    const heed_additive_attention_job *j = job;
    row a = row_of(j, r);
    if (is_near(&a))
        score(&a, true, j->shift);
    else
        score(&a, false, j->shift);
    soften(&a);
    gather(&a);
}
HEED__PART(forward_part, forward_row)

/* gV_i += sum over steps of a_i gc */
static void values_back(const row *a) {
    enum { PLACES = 4 };
    size_t s = 0, w = a->width;
    for (; HEED__SET && w % VL == 0 && a->len - s >= PLACES; s += PLACES)
        for (size_t i = 0; i < w; i += VL) {
            heed_real *gv = a->gvalues + s * w + i;
            vec sum[PLACES];
            UNROLL for (size_t p = 0; p < PLACES; p++) sum[p] = load(gv + p * w);
            for (size_t t = a->steps; t-- > 0;) {
                vec g = load(a->gc + t * w + i);
                const heed_real *weight = a->a + t * a->len + s;
                UNROLL for (size_t p = 0; p < PLACES; p++) sum[p] += splat(weight[p]) * g;
            }
            UNROLL for (size_t p = 0; p < PLACES; p++) store(gv + p * w, sum[p]);
        }
    for (; s < a->len; s++) EACH(i, w) {
            vec sum = get(a->gvalues + s * w + i, left);
            for (size_t t = a->steps; t-- > 0;)
                sum += splat(a->a[t * a->len + s]) * get(a->gc + t * w + i, left);
            put(a->gvalues + s * w + i, sum, left);
        }
}

/* ga_i = gc' V_i, ge_i = a_i (ga_i - sum a ga) */
static void weigh_back(const row *a) {
    heed_real dot = 0;
    if (a->gvalues) values_back(a);
    for (size_t s = 0; s < a->len; s++) {
        const heed_real *v = a->values + s * a->width;
        vec sum = {0};
        EACH(i, a->width) sum += get(a->gc + i, left) * get(v + i, left);
        a->ge[s] = sum_lanes(sum);
        dot += a->a[s] * a->ge[s];
    }
    for (size_t s = 0; s < a->len; s++) a->ge[s] = a->a[s] * (a->ge[s] - dot);
}

/* With t = tanh(q + k_i): gv += ge_i t, and ge_i v (1 - t t) flows to q and k_i. */
INLINE void score_back(const row *a, bool near) {
    EACH(i, a->inner) {
        vec v = get(a->v + i, left), gq = {0}, gv = {0};
        for (size_t s = 0; s < a->len; s++) {
            vec t = tanh_at(a, near, s, i, left), g = splat(a->ge[s]);
            gv += g * t;
            g = g * v * (splat(1) - t * t);
            gq += g;
            heed_real *gk = a->gkeys ? a->gkeys + s * a->inner + i : NULL;
            if (gk) put(gk, get(gk, left) + g, left);
        }
        put(a->gq + i, gq, left);
        put(a->gv + i, get(a->gv + i, left) + gv, left);
    }
}

static void backward_row(const void *job, size_t r) {
    const heed_additive_attention_job *j = job;
    row a = row_of(j, r);
    weigh_back(&a);
    if (is_near(&a))
        score_back(&a, true);
    else
        score_back(&a, false);
}
HEED__PART(backward_part, backward_row)

static double work_of(const heed_additive_attention_job *j) {
    return (30.0 * j->inner + 2.0 * j->width) * j->rows * j->len;
}

void K(additive_attention)(const heed_kernels *k, const heed_additive_attention_job *j) {
    heed__share(k, (size_t)j->rows, work_of(j), forward_part, j);
}

void K(additive_attention_grad)(const heed_kernels *k, const heed_additive_attention_job *j) {
    heed__share(k, (size_t)j->rows, 2 * work_of(j), backward_part, j);
}
