/* Fused attention, forward. Vaswani et al. 2017, eq. 1. A block of queries at a time: its scores
 * stay in cache, masked blocks are skipped, weights are written only when asked for. */
#include "attention.h"
#include "set.h"

typedef struct {
    const heed_attention_job *a;
    heed_real *scratch;
    size_t each; /* reals of scratch for a thread */
    size_t blocks;
} forward_job;

size_t K(attention_scratch)(const heed_kernels *k, const heed_attention_job *a, bool backward) {
    heed__head w = {.a = a};
    lay_out(&w, NULL, backward);
    return w.used * sizeof(heed_real) * (size_t)k->threads;
}

/* s = exp(s - max) over the n keys seen, 0 up to `end`. Returns their sum; writes log sum exp. */
static heed_real exponentials(const heed__head *w, heed_real *s, int n, int end, heed_real *lse) {
    vec most = splat(-INFINITY), sums = splat(0);
    for (int j = 0; j < n; j += VL) {
        vec x = pick(sees(w, j, n), load(s + j), splat(-INFINITY));
        store(s + j, x);
        most = vmax(x, most);
    }
    heed_real top = max_lanes(most), shift = top == -INFINITY ? 0 : top;
    int j = 0;
    for (; j < n; j += VL) {
        vec x = vexp(load(s + j) - splat(shift));
        store(s + j, x);
        sums += x;
    }
    for (; j < end; j += VL) store(s + j, splat(0));
    heed_real sum = sum_lanes(sums);
    *lse = shift + vlog(splat(sum))[0];
    return sum;
}

static void multiply(heed_real *y, const heed_real *f, int n) {
    for (int j = 0; j < n; j += VL) store(y + j, load(y + j) * load(f + j));
}

/* Weights of query i in place of its scores, not yet divided by the sum, which is returned. */
static heed_real weigh(const heed__head *w, int r, int i, int end) {
    const heed_attention_job *a = w->a;
    heed_real *s = w->s + (size_t)r * w->keys;
    size_t at = query_at(w, i), n = (size_t)a->tk;
    int seen = keys_seen(a, i);
    finish_scores(w, r, i, a->scores ? a->tk : seen);
    if (a->scores) memcpy(a->scores + at * n, s, n * sizeof *s);
    int best = a->hard ? hard_choice(w, s, seen) : -1;
    heed_real sum = exponentials(w, s, seen, end, a->lse + at);
    if (best >= 0 && sum > 0) { /* not when the row is NaN */
        memset(s, 0, (size_t)end * sizeof *s);
        s[best] = sum = 1;
    }
    if (a->weights) {
        heed_real inverse = sum == 0 ? 0 : 1 / sum;
        memset(a->weights + at * n, 0, n * sizeof *s);
        for (int j = 0; j < seen; j++) a->weights[at * n + (size_t)j] = s[j] * inverse;
    }
    if (a->dropout > 0) {
        dropout_factors(&w->drop, w->factor, at * n, (size_t)end);
        multiply(s, w->factor, end);
    }
    return sum;
}

static void forward_block(const heed__head *w, int first) {
    const heed_attention_job *a = w->a;
    int rows = a->tq - first < QUERIES ? a->tq - first : QUERIES;
    int n = a->scores ? a->tk : keys_seen(a, first + rows - 1);
    heed_real sum[QUERIES], *y = a->y + head_at(w, a->tq, first, a->ldy, a->value);
    times_turned(w, w->s, a->q + head_at(w, a->tq, first, a->ldq, a->key), a->ldq, w->kt, rows,
                 a->key, n);
    int end = (n + VL - 1) / VL * VL;
    for (int r = 0; r < rows; r++) sum[r] = weigh(w, r, first + r, end);
    times(w->s, w->keys, 1, rows, n, &w->v, y, a->ldy, false);
    for (int r = 0; r < rows; r++, y += a->ldy) {
        vec inverse = splat(1 / sum[r]);
        for (int c = 0; c < a->value; c += VL) {
            size_t left = (size_t)(a->value - c);
            put(y + c, sum[r] == 0 ? splat(0) : get(y + c, left) * inverse, left);
        }
    }
}

static void forward_part(const void *job, size_t from, size_t to, int thread) {
    const forward_job *j = job;
    const heed_attention_job *a = j->a;
    heed__head w = {.a = a, .drop = dropout_of(&a->random, a->dropout)};
    lay_out(&w, j->scratch + (size_t)thread * j->each, false);
    for (size_t u = from; u < to; u++) {
        size_t head = u / j->blocks;
        if (u == from || u % j->blocks == 0) {
            w.b = (int)(head / (size_t)a->heads);
            w.h = (int)(head % (size_t)a->heads);
            begin_head(&w);
            w.v = operand(w.vp, a->v + head_at(&w, a->tk, 0, a->ldv, a->value), a->ldv, a->tk,
                          a->value);
        }
        forward_block(&w, (int)(u % j->blocks) * QUERIES);
    }
}

void K(attention)(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    heed__head w = {.a = a};
    lay_out(&w, NULL, false);
    forward_job j = {a, scratch, w.used, ((size_t)a->tq + QUERIES - 1) / QUERIES};
    size_t heads = (size_t)a->batch * (size_t)a->heads;
    double each = 2.0 * (a->key + a->value) + 20;
    heed__share(k, heads * j.blocks, each * (double)heads * a->tq * a->tk, forward_part, &j);
}
