/* attention.c -- fused attention, forward. Vaswani et al. 2017, eq. 1. Queries are processed in
 * blocks: a block's scores stay in cache, masked blocks are skipped, and weights are written only
 * if requested. */
#include "attention.h"
#include "set.h"

typedef struct {
    const heed_attention_job *a;
    heed_real *scratch;
    size_t each; /* reals of scratch per thread */
    size_t blocks;
    bool bf16;
} forward_job;

static size_t scratch_each(const heed_attention_job *a, bool backward) {
    if (is_short(a)) return K(attention_short_scratch)(a, backward);
    heed__head w = {.a = a};
    lay_out(&w, NULL, backward);
    return w.used;
}
size_t K(attention_scratch)(const heed_kernels *k, const heed_attention_job *a, bool backward) {
    return scratch_each(a, backward) * sizeof(heed_real) * (size_t)k->threads;
}
size_t K(attention_kept)(const heed_kernels *k, const heed_attention_job *a) {
    (void)k;
    if (is_short(a)) return K(attention_short_kept)(a);
    return (size_t)a->batch * (size_t)a->heads * (size_t)a->tq * row_kept(a);
}

/* s = exp(s - shift) over the n visible keys, then 0 up to `end`; returns the sum. */
static heed_real exponentials(heed_real *s, heed_real shift, int n, int end) {
    vec sums = splat(0);
    int j = 0;
    for (; j < n; j += VL) {
        vec x = vexp_term(load(s + j) - splat(shift));
        store(s + j, x);
        sums += x;
    }
    for (; j < end; j += VL) store(s + j, splat(0));
    return sum_lanes(sums);
}

/* Scores for a probe, including those of masked keys. */
static void keep_scores(const heed__head *w, const heed_real *s, int i) {
    const heed_attention_job *a = w->a;
    heed_real *out = a->scores + query_at(w, i) * (size_t)a->tk;
    for (int j = 0; j < a->tk; j += VL)
        put(out + j, score_at(a, s, bias_row(w, i), j), (size_t)(a->tk - j));
}
static void keep_weights(const heed__head *w, const heed_real *s, int i, heed_real sum) {
    const heed_attention_job *a = w->a;
    heed_real *out = a->weights + query_at(w, i) * (size_t)a->tk, inverse = sum == 0 ? 0 : 1 / sum;
    int seen = keys_seen(a, i);
    for (int j = 0; j < a->tk; j++) out[j] = j < seen ? s[j] * inverse : 0;
}

/* Keeps the weights of the n keys that a block sees, and as many zeros as backward reads. */
static void keep_row(const heed_attention_job *a, heed_real *out, const heed_real *s, heed_real sum,
                     int n) {
    vec inverse = splat(sum == 0 ? 0 : 1 / sum);
    int j = 0, end = (int)whole_groups(a->weights || a->scores ? a->tk : n);
    for (; j < n; j += VL) store(out + j, load(s + j) * inverse);
    for (; j < end; j += VL) store(out + j, splat(0));
}

/* Replaces query i's products with the keys by its weights, not yet divided by their sum, which it
 * returns. */
static heed_real weigh(const heed__head *w, int r, int i, int end) {
    const heed_attention_job *a = w->a;
    heed_real *s = w->s + (size_t)r * w->keys;
    if (a->scores) keep_scores(w, s, i);
    heed_real top = score_row(w, s, i, end), shift = top == -INFINITY ? 0 : top;
    int best = a->hard ? hard_choice(s, top) : -1;
    heed_real sum = exponentials(s, shift, keys_seen(a, i), end);
    if (a->kept && !keeps_weights(a)) {
        kept_row(w, i)[0] = shift;
        kept_row(w, i)[1] = sum == 0 ? 0 : 1 / sum;
    }
    if (best >= 0 && sum > 0) { /* the sum is NaN if the row is */
        memset(s, 0, (size_t)end * sizeof *s);
        s[best] = sum = 1;
    }
    if (a->weights) keep_weights(w, s, i, sum);
    if (a->kept && keeps_weights(a)) keep_row(a, kept_row(w, i), s, sum, end);
    for (int j = 0; a->dropout > 0 && j < end; j += VL) store(s + j, load(s + j) * factor(w, r, j));
    return sum;
}

static void forward_block(const heed__head *w, int first) {
    const heed_attention_job *a = w->a;
    int each = block_rows(a), rows = a->tq - first < each ? a->tq - first : each;
    int n = a->scores ? a->tk : keys_seen(a, first + rows - 1), end = (n + VL - 1) / VL * VL;
    heed_real *y = a->y + head_at(w, first, a->ldy, a->value);
    heed_real sums[QUERIES];
    times_turned(w, w->s, a->q + head_at(w, first, a->ldq, a->key), a->ldq,
                 a->k + kv_at(w, a->ldk, a->key), a->ldk, w->kt, rows, a->key, n);
    if (a->dropout > 0) draw(w, first, rows, n);
    for (int r = 0; r < rows; r++) sums[r] = weigh(w, r, first + r, end);
    head_times(w, w->s, w->keys, 1, rows, n, &w->v, y, a->ldy, false);
    for (int r = 0; r < rows; r++, y += a->ldy) {
        vec inverse = splat(1 / sums[r]);
        for (int c = 0; c < a->value; c += VL) {
            size_t left = (size_t)(a->value - c);
            put(y + c, sums[r] == 0 ? splat(0) : get(y + c, left) * inverse, left);
        }
    }
}

static void forward_part(const void *job, size_t from, size_t to, int thread) {
    const forward_job *j = job;
    const heed_attention_job *a = j->a;
    heed__head w = {.a = a, .drop = dropout_of(&a->random, a->dropout), .bf16 = j->bf16};
    lay_out(&w, j->scratch + (size_t)thread * j->each, false);
    for (size_t u = from; u < to; u++) {
        size_t head = u / j->blocks;
        if (u == from || u % j->blocks == 0) {
            w.b = (int)(head / (size_t)a->heads);
            w.h = (int)(head % (size_t)a->heads);
            begin_head(&w);
            w.v =
                head_operand(&w, w.vp, a->v + kv_at(&w, a->ldv, a->value), a->ldv, a->tk, a->value);
        }
        forward_block(&w, (int)(u % j->blocks) * block_rows(a));
    }
}

void K(attention)(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    if (is_short(a)) {
        K(attention_short)(k, a, scratch);
        return;
    }
    size_t rows = (size_t)block_rows(a);
    forward_job j = {a, scratch, scratch_each(a, false), ((size_t)a->tq + rows - 1) / rows,
                     attention_rounds(k, a)};
    size_t heads = (size_t)a->batch * (size_t)a->heads;
    double each = 2.0 * (a->key + a->value) + 20;
    heed__share(k, heads * j.blocks, each * (double)heads * a->tq * a->tk, forward_part, &j);
}
