/* attention.h -- shared by attention forward and backward: a thread's scratch, operands packed for
 * the product's tile, the scores of a block of queries. */
#ifndef HEED_ATTENTION_H
#define HEED_ATTENTION_H

#include "gemm_tile.h"
#include "random.h"
#include "vmath.h"

/* Queries in a block, at most: 40 with tiles of 8 rows, so that a 65th query is no block alone. */
#define QUERIES (TILE_ROWS == 8 ? 40 : (32 + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS)
/* The same where the mask is causal and rows have at most SHORT tokens: of what a block computes,
 * half the square on the diagonal is masked. */
#define CAUSAL_QUERIES ((16 + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS)
#define SHORT          256
/* Keys that are whole tiles of rows and whole vectors. */
#define KEY_GROUP (TILE_ROWS % VL == 0 ? TILE_ROWS : VL % TILE_ROWS == 0 ? VL : 3 * VL)
/* Weights of a band of queries, at most, if it has more than one block: backward sums over the
 * queries of a band at once. */
#define BAND_WEIGHTS 20480

/* One (batch, head), and the scratch of its thread. */
typedef struct {
    const heed_attention_job *a;
    heed__dropout drop;
    int b, h;
    size_t keys;        /* the row stride of s and d: see row_stride */
    heed_real *s, *d;   /* (block or band, keys): scores, then weights; their gradients */
    uint32_t *words;    /* which weights of a block dropout keeps: see draw */
    size_t row_bits;    /* between its rows */
    heed_lane *shown;   /* (keys): -1 where a key exists and is not padding, else 0 */
    heed_real *kt, *vt; /* K' (key, tk) and V' (value, tk) in panels */
    heed_real *kp, *vp; /* K (tk, key) and V (tk, value) in panels, unless read in place */
    heed_real *qp, *gp; /* the same of a band of q (rows, key) and gy */
    heed__operand k, v;
    bool bf16;   /* the products round their operands */
    size_t used; /* reals */
} heed__head;

/* Queries in each block but the last: whole tiles, divided evenly. */
INLINE int block_rows(const heed_attention_job *a) {
    int most = a->causal && a->tq <= SHORT ? CAUSAL_QUERIES : QUERIES;
    int blocks = (a->tq + most - 1) / most, each = blocks ? (a->tq + blocks - 1) / blocks : 1;
    return HEED__SET ? (each + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS : QUERIES;
}

INLINE size_t whole_groups(int n) { return ((size_t)n + KEY_GROUP - 1) / KEY_GROUP * KEY_GROUP; }
/* Between rows of weights: whole panels and groups fit, and it is not a power of 2, so that a
 * column of them stays in cache. */
INLINE size_t row_stride(const heed_attention_job *a) {
    size_t panels = whole_panels(a->tk), groups = whole_groups(a->tk);
    return HEED__SET ? (panels > groups ? panels : groups) + LINE : panels;
}

/* Queries in each band but the last: whole blocks. Generic instructions have bands of one block. */
INLINE int band_rows(const heed_attention_job *a) {
    int each = block_rows(a), blocks = (a->tq + each - 1) / each;
    int most = BAND_WEIGHTS / (int)row_stride(a) / each;
    return HEED__SET == 0 || most < 1 ? each : each * at_most(most, blocks);
}

/* The row of query i in a (batch, tq, heads * width) array for this head. */
INLINE size_t head_at(const heed__head *w, int i, size_t ld, int width) {
    return ((size_t)w->b * (size_t)w->a->tq + (size_t)i) * ld + (size_t)w->h * (size_t)width;
}
/* The row of a (batch, tk, key-value heads * width) array for this head. */
INLINE size_t kv_at(const heed__head *w, size_t ld, int width) {
    const heed_attention_job *a = w->a;
    return (size_t)w->b * (size_t)a->tk * ld + (size_t)(w->h / a->group) * (size_t)width;
}
/* The row of query i in a (batch, heads, tq) array. */
INLINE size_t query_at(const heed__head *w, int i) {
    const heed_attention_job *a = w->a;
    return ((size_t)w->b * (size_t)a->heads + (size_t)w->h) * (size_t)a->tq + (size_t)i;
}
INLINE size_t bias_at(const heed__head *w, int i) {
    const heed_attention_job *a = w->a;
    return (size_t)w->b * a->bias_b + (size_t)w->h * a->bias_h + (size_t)i * (size_t)a->tk;
}
/* The number of keys that query i may see, ignoring padding. */
INLINE int keys_seen(const heed_attention_job *a, int i) {
    if (!a->causal) return a->tk;
    int n = i + a->tk - a->tq + 1;
    return n < 0 ? 0 : n > a->tk ? a->tk : n;
}

/* The generic instructions have the one way only: they are the reference. */
#define ATTENTION_SHORT (HEED__SET != 0)

/* Whether attention_short.c serves this job: where rows fill their vectors badly. 32 keys fill
 * them, but tiles that are narrow, or half masked, are still slower. The choice does not depend on
 * the batch, so a sequence gets the same bits in every batch. */
INLINE bool is_short(const heed_attention_job *a) {
    int most = a->key < 32 || a->causal ? 32 : 31;
    return ATTENTION_SHORT && a->tk <= most && a->tq >= 8 && a->tq <= 32 && a->group == 1 &&
           !a->bias && !a->hard;
}
/* Its functions: the reals that forward keeps, the reals of scratch per thread, and the passes. */
size_t K(attention_short_kept)(const heed_attention_job *a);
size_t K(attention_short_scratch)(const heed_attention_job *a, bool backward);
void K(attention_short)(const heed_kernels *k, const heed_attention_job *a, void *scratch);
void K(attention_short_grad)(const heed_kernels *k, const heed_attention_job *a, void *scratch);

/* Whether forward keeps the weights, before dropout, for backward: (batch, heads, tq, row_kept).
 * Then backward needs neither another product nor exponentials. Else it keeps of each row what
 * makes the same weights of the same scores again: the largest, and 1 / sum exp(score - largest).
 * The logarithm of the sum would not do: added to a large score, it loses its digits. */
#define KEPT_KEYS 64
INLINE bool keeps_weights(const heed_attention_job *a) {
    return ATTENTION_SHORT && a->tk <= KEPT_KEYS && !a->hard;
}
INLINE size_t row_kept(const heed_attention_job *a) {
    return keeps_weights(a) ? whole_groups(a->tk) : 2;
}
/* What is kept of query i. */
INLINE heed_real *kept_row(const heed__head *w, int i) {
    return w->a->kept + query_at(w, i) * row_kept(w->a);
}

/* Whether dropout draws the weights row by row, only for the keys that a row's block sees. Short
 * rows are drawn together, because many draws are made at a time. */
INLINE bool draws_rows(const heed_attention_job *a) { return a->causal && a->tk > 128; }

/* Lays out the scratch from base; with base NULL, only counts its size. */
static inline void lay_out(heed__head *w, heed_real *base, bool backward) {
    const heed_attention_job *a = w->a;
    size_t panels = whole_panels(a->tk), e = whole_panels(a->key), d = whole_panels(a->value);
    size_t rows = backward ? (size_t)band_rows(a) : QUERIES, keys = row_stride(a);
    size_t tk = (size_t)a->tk, bits = draws_rows(a) ? (tk + 31) / 32 * 32 : tk;
    struct {
        heed_real **at;
        size_t n;
    } parts[] = {{&w->s, rows * keys},
                 {&w->kt, backward && keeps_weights(a) ? 0 : panels * (size_t)a->key},
                 {&w->vp, backward ? 0 : tk * d},
                 {&w->d, backward ? rows * keys : 0},
                 {&w->vt, backward ? panels * (size_t)a->value : 0},
                 {&w->kp, backward ? tk * e : 0},
                 {&w->qp, backward ? rows * e : 0},
                 {&w->gp, backward ? rows * d : 0}};
    w->keys = keys;
    w->row_bits = bits;
    w->used = keys; /* of shown, which comes first, followed by words */
    w->shown = (heed_lane *)(void *)base;
    if (base) w->words = (uint32_t *)(void *)(base + w->used);
    if (a->dropout > 0) w->used += (QUERIES * bits / 32 + 4 + 15) / 16 * 16;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (base && parts[i].n) *parts[i].at = base + w->used;
        w->used += (parts[i].n + 15) / 16 * 16;
    }
}

/* Whether the products of a job round their operands: where a head or a row of scores is narrow,
 * they are not faster for it. */
INLINE bool attention_rounds(const heed_kernels *k, const heed_attention_job *a) {
    bool yes = HEED__AVX512 && k->bf16 && a->bf16 && a->key >= 32 && a->value >= 32 && a->tk >= 64;
    if (yes) *k->bf16 = true;
    return yes;
}

/* c (rows, n) = or += a (rows, depth) b in bf16: b stored (depth, n), or (n, depth) if turned. */
static inline void times_rounded(const heed_real *a, size_t a_row, size_t a_step, int rows,
                                 int depth, const heed_real *b, size_t ldb, bool turned, int n,
                                 heed_real *c, size_t ldc, bool add) {
    heed_gemm g = heed__gemm_of(rows, n, depth, a, (int)(a_step == 1 ? a_row : a_step), b, (int)ldb,
                                c, (int)ldc);
    g.ta = a_step != 1, g.tb = turned, g.add = add;
    K(gemm_bf16)(&g, &(heed__gemm_part){0, 0, rows, 0, n});
}

/* Rows x (n, width) of stride ld as the right operand of head_times, which in bf16 packs them
 * itself. */
static inline heed__operand head_operand(const heed__head *w, heed_real *capacity,
                                         const heed_real *x, size_t ld, int n, int width) {
    if (w->bf16) return (heed__operand){x, ld, 0, width};
    return operand(capacity, x, ld, n, width);
}
/* As times, in bf16 if the products round their operands. */
static inline void head_times(const heed__head *w, const heed_real *a, size_t a_row, size_t a_step,
                              int rows, int depth, const heed__operand *x, heed_real *c, size_t ldc,
                              bool add) {
    if (HEED__AVX512 && w->bf16)
        times_rounded(a, a_row, a_step, rows, depth, x->at, x->step, false, x->width, c, ldc, add);
    else
        times(a, a_row, a_step, rows, depth, x, c, ldc, add);
}

/* x' for x (tk, width) of stride ld, in panels of keys. */
static inline void turn(const heed__head *w, heed_real *capacity, const heed_real *x, size_t ld,
                        int width) {
    for (int j = 0; j < w->a->tk; j += PANEL) {
        int n = w->a->tk - j < PANEL ? w->a->tk - j : PANEL;
        K(pack_panel)(capacity + (size_t)j * (size_t)width, x + (size_t)j * ld, ld, true, n, width);
    }
}

/* out (rows, keys) = x (rows, width) of stride ld times the transposed keys y (tk, width) of stride
 * ldy, for the first n keys, and zeros up to a whole vector; turned: y in panels of keys. */
static inline void times_turned(const heed__head *w, heed_real *out, const heed_real *x, size_t ld,
                                const heed_real *y, size_t ldy, const heed_real *turned, int rows,
                                int width, int n) {
    heed__operand o = {turned, PANEL, (size_t)width * PANEL, (int)whole_vectors(n)};
    if (!HEED__AVX512 || !w->bf16) {
        times(x, ld, 1, rows, width, &o, out, w->keys, false);
        return;
    }
    times_rounded(x, ld, 1, rows, width, y, ldy, true, n, out, w->keys, false);
    for (int r = 0; r < rows && n % VL; r++)
        memset(out + (size_t)r * w->keys + n, 0, (size_t)(VL - n % VL) * sizeof *out);
}

static inline void begin_head(heed__head *w) {
    const heed_attention_job *a = w->a;
    for (size_t j = 0; j < w->keys; j++) {
        bool there = j < (size_t)a->tk;
        if (there && a->pad) there = a->pad[(size_t)w->b * (size_t)a->tk + j] != 0;
        w->shown[j] = there ? -1 : 0;
    }
    if (w->kt && !w->bf16) turn(w, w->kt, a->k + kv_at(w, a->ldk, a->key), a->ldk, a->key);
}

/* Draws which weights of a block that sees n keys dropout keeps. */
static inline void draw(const heed__head *w, int first, int rows, int n) {
    size_t tk = (size_t)w->a->tk;
    if (!draws_rows(w->a)) {
        K(dropout_kept)(&w->drop, w->words, query_at(w, first) * tk, (size_t)rows * tk);
        return;
    }
    for (int r = 0; r < rows; r++) K(dropout_kept)
    (&w->drop, w->words + (size_t)r * w->row_bits / 32, query_at(w, first + r) * tk, (size_t)n);
}
/* The factors of keys j and after in row r of the block. */
INLINE vec factor(const heed__head *w, int r, int j) {
    return kept_factor(&w->drop, w->words, (size_t)r * w->row_bits + (size_t)j);
}

/* Mask of the lanes of keys j.. that are visible to a query which may see n keys. */
INLINE vmask sees(const heed__head *w, int j, int n) {
    return both(load_mask(w->shown + j), lanes_below(n > j ? (size_t)(n - j) : 0));
}

/* beta s + bias at key j of query i's row; bias is that row or NULL. */
INLINE vec score_at(const heed_attention_job *a, const heed_real *s, const heed_real *bias, int j) {
    vec x = load(s + j) * splat(a->beta);
    return bias ? x + get(bias + j, (size_t)(a->tk - j)) : x;
}
INLINE const heed_real *bias_row(const heed__head *w, int i) {
    return w->a->bias ? w->a->bias + bias_at(w, i) : NULL;
}

/* Replaces query i's products with the keys by its scores, with -inf at masked keys and up to
 * `end`. Returns the largest. */
static inline heed_real score_row(const heed__head *w, heed_real *s, int i, int end) {
    const heed_real *bias = bias_row(w, i);
    int seen = keys_seen(w->a, i), j = 0;
    vec most = splat(-INFINITY);
    for (; !w->a->pad && seen - j >= VL; j += VL) {
        vec x = score_at(w->a, s, bias, j);
        store(s + j, x);
        most = vmax(x, most);
    }
    for (; j < seen; j += VL) {
        vec x = pick(sees(w, j, seen), score_at(w->a, s, bias, j), splat(-INFINITY));
        store(s + j, x);
        most = vmax(x, most);
    }
    for (; j < end; j += VL) store(s + j, splat(-INFINITY));
    return max_lanes(most);
}

/* The lowest index of the largest score; -1 if no key is visible. */
static inline int hard_choice(const heed_real *s, heed_real top) {
    int j = 0;
    if (top == -INFINITY) return -1;
    while (s[j] != top) j++;
    return j;
}

#endif
