/* attention_short.c -- fused attention over short rows. Lane l of every vector belongs to the l-th
 * of VL consecutive (batch, head) pairs, so no vector is padded, whatever the length of the rows,
 * and softmax needs no sum over lanes. The forward results have the same bits as those of
 * attention.c. */
#include "attention.h"
#include "set.h"

#if ATTENTION_SHORT

/* Rows and columns of a product's tile, limited by the number of registers. */
#define TALL   (HEED__SET == 2 || HEED__SET == 3 ? 4 : 2)
#define WIDE   4
#define STRIP  4                         /* queries processed at a time */
#define SELDOM __attribute__((noinline)) /* not worth the code that -O3 makes of it */

typedef struct {
    const heed_attention_job *a;
    heed_real *scratch;
    size_t each; /* reals of scratch per thread */
} job;

/* One group of VL pairs, and the scratch of its thread. Matrices have elements of VL reals. */
typedef struct {
    const heed_attention_job *a;
    heed__dropout drop;
    size_t first;                                /* pair of lane 0 */
    int lanes;                                   /* pairs that exist */
    size_t query[VL], key[VL], value[VL], y[VL]; /* each lane's first row in q, k, v and y */
    heed_lane *shown;                            /* (tk): -1 where a key is not padding, else 0 */
    heed_real *q, *k, *v, *gy; /* (tq, key), (tk, key), (tk, value), (tq, value) */
    heed_real *s;              /* (STRIP, tk): scores, then weights; backward: their gradients */
    heed_real *out;            /* (STRIP, the larger width): rows of a result */
    heed_real *gs, *dropped;   /* (tq, tk): gradients of the scores; the weights after dropout */
    heed_real *weights, *bits; /* (tq, tk) and (words): kept by forward for backward */
} group;

static size_t words_of(const heed_attention_job *a) {
    return a->dropout > 0 ? ((size_t)a->tq * (size_t)a->tk + 31) / 32 : 0;
}
static size_t groups_of(const heed_attention_job *a) {
    return ((size_t)a->batch * (size_t)a->heads + VL - 1) / VL;
}
static size_t kept_each(const heed_attention_job *a) {
    return ((size_t)a->tq * (size_t)a->tk + words_of(a)) * VL;
}

size_t K(attention_short_kept)(const heed_attention_job *a) { return groups_of(a) * kept_each(a); }

SELDOM static size_t lay_out_group(group *g, heed_real *base, bool backward) {
    const heed_attention_job *a = g->a;
    size_t tq = (size_t)a->tq, tk = (size_t)a->tk, e = (size_t)a->key, d = (size_t)a->value;
    size_t square = tq * tk, used = tk;
    struct {
        heed_real **at;
        size_t n;
    } parts[] = {{&g->q, (backward ? tq : STRIP) * e},
                 {&g->k, tk * e},
                 {&g->v, tk * d},
                 {&g->s, STRIP * tk},
                 {&g->out, STRIP * (e > d ? e : d)},
                 {&g->gy, backward ? tq * d : 0},
                 {&g->gs, backward ? square : 0},
                 {&g->dropped, backward && a->dropout > 0 ? square : 0},
                 {&g->weights, backward ? 0 : square},
                 {&g->bits, backward ? 0 : words_of(a)}};
    g->shown = (heed_lane *)(void *)base;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (base) *parts[i].at = base + used * VL;
        used += parts[i].n;
    }
    return used * VL;
}

size_t K(attention_short_scratch)(const heed_attention_job *a, bool backward) {
    group g = {.a = a};
    return lay_out_group(&g, NULL, backward);
}

static void begin_group(group *g, size_t index) {
    const heed_attention_job *a = g->a;
    size_t pairs = (size_t)a->batch * (size_t)a->heads, tq = (size_t)a->tq, tk = (size_t)a->tk;
    g->first = index * VL;
    g->lanes = pairs - g->first < VL ? (int)(pairs - g->first) : VL;
    size_t b = g->first / (size_t)a->heads, h = g->first % (size_t)a->heads;
    for (int l = 0; l < VL; l++) { /* lanes without a pair compute what the last one does */
        g->query[l] = b * tq * a->ldq + h * (size_t)a->key;
        g->key[l] = b * tk * a->ldk + h * (size_t)a->key;
        g->value[l] = b * tk * a->ldv + h * (size_t)a->value;
        g->y[l] = b * tq * a->ldy + h * (size_t)a->value;
        for (size_t j = 0; a->pad && j < tk; j++)
            g->shown[j * VL + (size_t)l] = -(a->pad[b * tk + j] != 0);
        if (l + 1 < g->lanes && ++h == (size_t)a->heads) h = 0, b++;
    }
    if (!a->kept) return;
    g->weights = a->kept + index * kept_each(a);
    g->bits = g->weights + tq * tk * VL;
}

/* ---- between rows of the arrays and lanes ---- */

/* From an element of a group to that of the next group, in an array of `tokens` rows an item; from
 * a row to a later one where groups are not whole items. */
static size_t to_next(const group *g, int tokens, size_t ld) {
    size_t heads = (size_t)g->a->heads;
    return VL % heads ? STRIP * ld : VL / heads * (size_t)tokens * ld;
}

/* out (rows, width) = rows of x, which begin at at[lane] and are ld apart. Requests what is needed
 * next, `ahead` elements further on. */
SELDOM static void gather(heed_real *out, const heed_real *x, const size_t at[VL], size_t ld,
                          int rows, int width, size_t ahead) {
    for (int r = 0; r < rows; r++, x += ld, out += (size_t)width * VL)
        for (int c = 0; c < width; c += VL) {
            vec lane[VL];
            int n = width - c < VL ? width - c : VL;
            UNROLL for (int l = 0; l < VL; l++) {
                lane[l] = get(x + at[l] + c, (size_t)n);
                __builtin_prefetch(address(x, at[l] + (size_t)c + ahead), 0, 2);
            }
            transpose(lane);
            heed_real *to = out + (size_t)c * VL;
            if (n == VL) {
                UNROLL for (int i = 0; i < VL; i++) store(to + i * VL, lane[i]);
            } else {
                heed_real all[VL * VL];
                UNROLL for (int i = 0; i < VL; i++) store(all + i * VL, lane[i]);
                memcpy(to, all, (size_t)n * VL * sizeof *all);
            }
        }
}

/* The reverse: rows of x = or += in (rows, width). */
static void scatter(const group *g, heed_real *x, const size_t at[VL], size_t ld,
                    const heed_real *in, int rows, int width, bool add) {
    for (int r = 0; r < rows; r++, x += ld, in += (size_t)width * VL)
        for (int c = 0; c < width; c += VL) {
            vec lane[VL];
            int n = width - c < VL ? width - c : VL;
            UNROLL for (int i = 0; i < VL; i++) lane[i] =
                load(in + (size_t)(c + (i < n ? i : 0)) * VL);
            transpose(lane);
            for (int l = 0; l < g->lanes; l++) {
                heed_real *to = x + at[l] + c;
                __builtin_prefetch(address(to, STRIP * ld), 1);
                put(to, add ? get(to, (size_t)n) + lane[l] : lane[l], (size_t)n);
            }
        }
}

/* For probes: the rows `first` and after of (batch, heads, tq, tk) = in (rows, tk). */
SELDOM static void show(const group *g, heed_real *out, const heed_real *in, int first, int rows) {
    size_t tk = (size_t)g->a->tk;
    for (size_t l = 0; out && l < (size_t)g->lanes; l++) {
        heed_real *to = out + ((g->first + l) * (size_t)g->a->tq + (size_t)first) * tk;
        for (size_t i = 0; i < (size_t)rows * tk; i++) to[i] = in[i * VL + l];
    }
}

/* ---- products ---- */

/* c (rows, cols) = sum over p < depth of a[i][p] b[j][p]; steps count elements. */
typedef struct {
    const heed_real *a, *b;
    size_t a_row, a_step, b_row, b_step, c_row;
    heed_real *c;
    int rows, cols, depth;
} product;

INLINE void product_tile(const product *p, int i, int j, const int rows, const int cols) {
    vec sum[TALL][WIDE];
    const heed_real *a = p->a + (size_t)i * p->a_row * VL, *b = p->b + (size_t)j * p->b_row * VL;
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int k = 0; k < cols; k++) sum[r][k] = splat(0);
    }
    for (int n = p->depth; n > 0; n--, a += p->a_step * VL, b += p->b_step * VL) {
        vec line[WIDE];
        UNROLL for (int k = 0; k < cols; k++) line[k] = load(b + (size_t)k * p->b_row * VL);
        UNROLL for (int r = 0; r < rows; r++) {
            vec x = load(a + (size_t)r * p->a_row * VL);
            UNROLL for (int k = 0; k < cols; k++) sum[r][k] += x * line[k];
        }
    }
    heed_real *c = p->c + ((size_t)i * p->c_row + (size_t)j) * VL;
    UNROLL for (int r = 0; r < rows; r++) {
        UNROLL for (int k = 0; k < cols; k++)
            store(c + ((size_t)r * p->c_row + (size_t)k) * VL, sum[r][k]);
    }
}
static void multiply(const product *p) {
    int i = 0, j;
    for (; p->rows - i >= TALL; i += TALL) {
        for (j = 0; p->cols - j >= WIDE; j += WIDE) product_tile(p, i, j, TALL, WIDE);
        for (; j < p->cols; j++) product_tile(p, i, j, TALL, 1);
    }
    for (; i < p->rows; i++) {
        for (j = 0; p->cols - j >= WIDE; j += WIDE) product_tile(p, i, j, 1, WIDE);
        for (; j < p->cols; j++) product_tile(p, i, j, 1, 1);
    }
}

/* ---- forward ---- */

/* s[j] = the scores of a query that sees n keys, as exponentials not yet divided by their sum,
 * which it returns, and 0 for the other keys up to end. */
static vec soften(const group *g, heed_real *s, int n, int end) {
    const heed_attention_job *a = g->a;
    vec top = splat(-INFINITY), lane[VL];
    for (int j = 0; j < n; j++) {
        vec x = load(s + j * VL) * splat(a->beta);
        if (a->pad) x = pick(load_mask(g->shown + j * VL), x, splat(-INFINITY));
        store(s + j * VL, x);
        top = vmax(x, top);
    }
    vec shift = pick(eq(top, splat(-INFINITY)), splat(0), top);
    for (int i = 0; i < VL; i++) lane[i] = splat(0);
    for (int j = 0; j < n; j++) {
        vec x = vexp_term(load(s + j * VL) - shift);
        store(s + j * VL, x);
        lane[j % VL] += x;
    }
    UNROLL for (int w = VL / 2; w > 0; w /= 2) { /* in the order of sum_lanes */
        UNROLL for (int i = 0; i < w; i++) lane[i] += lane[i + w];
    }
    for (int j = n; j < end; j++) store(s + j * VL, splat(0));
    return lane[0];
}

/* Draws which weights are kept: bit e of lane l decides on element e of that pair's (tq, tk). The
 * elements of the pairs follow each other. */
SELDOM static void draw_group(const group *g) {
    const heed_attention_job *a = g->a;
    uint32_t words[VL * 1024 / 32 + 1];
    size_t square = (size_t)a->tq * (size_t)a->tk, n = words_of(a);
    K(dropout_kept)(&g->drop, words, g->first * square, VL * square);
    for (size_t l = 0; l < VL; l++) {
        heed_lane *to = (heed_lane *)(void *)g->bits + l;
        for (size_t w = 0; w < n; w++) to[w * VL] = (heed_lane)bits_at(words, l * square + w * 32);
    }
}
INLINE vec factor_of(const group *g, size_t element) {
    ivec word = load_lanes((const heed_lane *)(const void *)g->bits + element / 32 * VL);
    ivec bit = word & isplat((heed_lane)((uint32_t)1 << element % 32));
    return pick(any_bit(bit), splat(g->drop.keep), splat(0));
}

/* The weights of query i, after its scores: s is left as numbers whose sum times `inverse` is 1. */
static vec weigh(const group *g, heed_real *s, int i, int end) {
    const heed_attention_job *a = g->a;
    size_t at = (size_t)i * (size_t)a->tk;
    vec sum = soften(g, s, keys_seen(a, i), a->tk);
    vec inverse = pick(eq(sum, splat(0)), splat(0), splat(1) / sum);
    if (a->kept || a->weights)
        for (int j = 0; j < a->tk; j++)
            store(g->weights + (at + (size_t)j) * VL, load(s + j * VL) * inverse);
    for (int j = 0; a->dropout > 0 && j < end; j++)
        store(s + j * VL, load(s + j * VL) * factor_of(g, at + (size_t)j));
    return inverse;
}

static void forward_strip(const group *g, int first) {
    const heed_attention_job *a = g->a;
    int rows = a->tq - first < STRIP ? a->tq - first : STRIP;
    int n = a->scores ? a->tk : keys_seen(a, first + rows - 1);
    size_t e = (size_t)a->key, d = (size_t)a->value, tk = (size_t)a->tk;
    vec inverse[STRIP];
    gather(g->q, a->q + (size_t)first * a->ldq, g->query, a->ldq, rows, a->key,
           to_next(g, a->tq, a->ldq));
    multiply(&(product){g->q, g->k, e, 1, e, 1, tk, g->s, rows, n, a->key});
    if (a->scores) {
        heed_real *s = g->weights + (size_t)first * tk * VL;
        for (size_t j = 0; j < (size_t)rows * tk; j++)
            store(s + j * VL, load(g->s + j * VL) * splat(a->beta));
        show(g, a->scores, s, first, rows);
    }
    for (int r = 0; r < rows; r++) inverse[r] = weigh(g, g->s + (size_t)r * tk * VL, first + r, n);
    if (a->weights) show(g, a->weights, g->weights + (size_t)first * tk * VL, first, rows);
    multiply(&(product){g->s, g->v, tk, 1, 1, d, d, g->out, rows, a->value, n});
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < a->value; c++) {
            heed_real *y = g->out + ((size_t)r * d + (size_t)c) * VL;
            store(y, load(y) * inverse[r]);
        }
    scatter(g, a->y + (size_t)first * a->ldy, g->y, a->ldy, g->out, rows, a->value, false);
}

static void forward_part(const void *args, size_t from, size_t to, int thread) {
    const job *j = args;
    const heed_attention_job *a = j->a;
    group g = {.a = a, .drop = dropout_of(&a->random, a->dropout)};
    lay_out_group(&g, j->scratch + (size_t)thread * j->each, false);
    for (size_t u = from; u < to; u++) {
        begin_group(&g, u);
        gather(g.k, a->k, g.key, a->ldk, a->tk, a->key, to_next(&g, a->tk, a->ldk));
        gather(g.v, a->v, g.value, a->ldv, a->tk, a->value, to_next(&g, a->tk, a->ldv));
        if (a->dropout > 0) draw_group(&g);
        for (int i = 0; i < a->tq; i += STRIP) forward_strip(&g, i);
    }
}

/* ---- backward ---- */

/* Query i's weights and the gradients of its weights after dropout, s, become the gradients of its
 * scores. */
static void scores_back(const group *g, heed_real *s, int i, int n) {
    const heed_attention_job *a = g->a;
    size_t at = (size_t)i * (size_t)a->tk;
    const heed_real *p = g->weights + at * VL;
    heed_real *gs = g->gs + at * VL;
    vec dot[2] = {splat(0), splat(0)};
    for (int j = 0; j < n; j++) {
        vec x = load(s + j * VL), w = load(p + j * VL);
        if (a->dropout > 0) {
            vec f = factor_of(g, at + (size_t)j);
            x *= f;
            store(s + j * VL, x);
            store(g->dropped + (at + (size_t)j) * VL, w * f);
        }
        dot[j % 2] += w * x;
    }
    dot[0] += dot[1];
    for (int j = 0; j < n; j++) store(gs + j * VL, load(p + j * VL) * (load(s + j * VL) - dot[0]));
    for (int j = n; j < a->tk && j < n + STRIP; j++) { /* keys_back reads whole strips of keys */
        store(gs + j * VL, splat(0));
        if (a->dropout > 0) store(g->dropped + (at + (size_t)j) * VL, splat(0));
    }
}

static void backward_strip(const group *g, int first) {
    const heed_attention_job *a = g->a;
    int rows = a->tq - first < STRIP ? a->tq - first : STRIP;
    int n = a->gweights || a->gscores ? a->tk : keys_seen(a, first + rows - 1);
    size_t e = (size_t)a->key, d = (size_t)a->value, tk = (size_t)a->tk, at = (size_t)first * tk;
    heed_real *gs = g->gs + at * VL;
    multiply(
        &(product){g->gy + (size_t)first * d * VL, g->v, d, 1, d, 1, tk, g->s, rows, n, a->value});
    for (int r = 0; r < rows; r++) scores_back(g, g->s + (size_t)r * tk * VL, first + r, n);
    show(g, a->gweights, g->s, first, rows);
    show(g, a->gscores, gs, first, rows);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < n; j++) {
            heed_real *x = gs + ((size_t)r * tk + (size_t)j) * VL;
            store(x, load(x) * splat(a->beta));
        }
    if (!a->gq) return;
    multiply(&(product){gs, g->k, tk, 1, 1, e, e, g->out, rows, a->key, n});
    scatter(g, a->gq + (size_t)first * a->ldq, g->query, a->ldq, g->out, rows, a->key, a->add[0]);
}

/* gx (tk, width) of keys or values += m' x, with m (tq, tk) and x (tq, width). */
static void keys_back(const group *g, heed_real *gx, const size_t at[VL], size_t ld,
                      const heed_real *m, const heed_real *x, int width, bool add) {
    const heed_attention_job *a = g->a;
    size_t tk = (size_t)a->tk;
    for (int j = 0; gx && j < a->tk; j += STRIP) {
        int rows = a->tk - j < STRIP ? a->tk - j : STRIP, first = 0;
        while (first < a->tq && keys_seen(a, first + STRIP - 1) <= j) first += STRIP;
        if (first > a->tq) first = a->tq;
        const heed_real *from = m + ((size_t)first * tk + (size_t)j) * VL;
        multiply(&(product){from, x + (size_t)first * (size_t)width * VL, 1, tk, 1, (size_t)width,
                            (size_t)width, g->out, rows, width, a->tq - first});
        scatter(g, gx + (size_t)j * ld, at, ld, g->out, rows, width, add);
    }
}

static void backward_part(const void *args, size_t from, size_t to, int thread) {
    const job *j = args;
    const heed_attention_job *a = j->a;
    group g = {.a = a, .drop = dropout_of(&a->random, a->dropout)};
    lay_out_group(&g, j->scratch + (size_t)thread * j->each, true);
    for (size_t u = from; u < to; u++) {
        begin_group(&g, u);
        gather(g.q, a->q, g.query, a->ldq, a->tq, a->key, to_next(&g, a->tq, a->ldq));
        gather(g.k, a->k, g.key, a->ldk, a->tk, a->key, to_next(&g, a->tk, a->ldk));
        gather(g.v, a->v, g.value, a->ldv, a->tk, a->value, to_next(&g, a->tk, a->ldv));
        gather(g.gy, a->gy, g.y, a->ldy, a->tq, a->value, to_next(&g, a->tq, a->ldy));
        for (int i = 0; i < a->tq; i += STRIP) backward_strip(&g, i);
        keys_back(&g, a->gk, g.key, a->ldk, g.gs, g.q, a->key, a->add[1]);
        keys_back(&g, a->gv, g.value, a->ldv, a->dropout > 0 ? g.dropped : g.weights, g.gy,
                  a->value, a->add[2]);
    }
}

static void run(const heed_kernels *k, const heed_attention_job *a, void *scratch, bool backward) {
    job j = {a, scratch, K(attention_short_scratch)(a, backward)};
    double each = (backward ? 4.0 : 2.0) * (a->key + a->value) + 20;
    heed__share(k, groups_of(a), each * a->batch * a->heads * (double)a->tq * a->tk,
                backward ? backward_part : forward_part, &j);
}
void K(attention_short)(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    run(k, a, scratch, false);
}
void K(attention_short_grad)(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    run(k, a, scratch, true);
}

#endif
