/* Fused attention. Vaswani et al. 2017, eq. 1. */
#include "random.h"
#include "set.h"
#include "vmath.h"

/* Plain loops, one (batch, head) at a time; rows of scores live in the scratch. */
typedef struct {
    const heed_attention_job *a;
    heed_real *scratch;
    heed__dropout drop;
    bool backward;
} head_job;

static size_t row_room(const heed_attention_job *a) { return ((size_t)a->tk + 63) / 64 * 64; }
size_t K(attention_scratch)(const heed_kernels *k, const heed_attention_job *a, bool backward) {
    (void)backward;
    return 4 * row_room(a) * sizeof(heed_real) * (size_t)k->threads;
}

static bool seen(const heed_attention_job *a, int b, int i, int j) {
    if (a->causal && j > i + a->tk - a->tq) return false;
    return !a->pad || a->pad[(size_t)b * (size_t)a->tk + (size_t)j];
}
static const heed_real *row_of(const heed_real *x, size_t ld, int b, int t, int i, int h, int w) {
    return x + ((size_t)b * (size_t)t + (size_t)i) * ld + (size_t)h * (size_t)w;
}
static heed_real *grad_row(heed_real *x, size_t ld, int b, int t, int i, int h, int w) {
    return x + ((size_t)b * (size_t)t + (size_t)i) * ld + (size_t)h * (size_t)w;
}
static heed_real dot(const heed_real *a, const heed_real *b, int n) {
    heed_real sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
static size_t at4(const heed_attention_job *a, int b, int h, int i) {
    return (((size_t)b * (size_t)a->heads + (size_t)h) * (size_t)a->tq + (size_t)i) * (size_t)a->tk;
}

static void scores_row(const heed_attention_job *a, heed_real *s, int b, int h, int i) {
    const heed_real *q = row_of(a->q, a->ldq, b, a->tq, i, h, a->key);
    for (int j = 0; j < a->tk; j++) {
        s[j] = a->beta * dot(q, row_of(a->k, a->ldk, b, a->tk, j, h, a->key), a->key);
        if (a->bias)
            s[j] += a->bias[(size_t)b * a->bias_b + (size_t)h * a->bias_h +
                            (size_t)i * (size_t)a->tk + (size_t)j];
    }
}

/* The largest score that is seen, lowest index at ties; -1: none. */
static int best_of(const heed_attention_job *a, const heed_real *s, int b, int i) {
    int best = -1;
    for (int c = 0; c < a->tk; c++)
        if (seen(a, b, i, c) && (best < 0 || s[c] > s[best])) best = c;
    return best;
}

static void forward_row(const head_job *j, heed_real *s, int b, int h, int i) {
    const heed_attention_job *a = j->a;
    size_t n = (size_t)a->tk, room = row_room(a), at = at4(a, b, h, i);
    heed_real *f = s + room, most = -INFINITY, sum = 0;
    scores_row(a, s, b, h, i);
    if (a->scores) memcpy(a->scores + at, s, n * sizeof *s);
    int best = -1;
    for (int c = 0; c < a->tk; c++) {
        if (!seen(a, b, i, c))
            s[c] = -INFINITY;
        else if (best < 0 || s[c] > most)
            most = s[c], best = c;
    }
    heed_real shift = most == -INFINITY ? 0 : most;
    for (int c = 0; c < a->tk; c++) sum += s[c] = vexp(splat(s[c] - shift))[0];
    a->lse[at / n] = shift + vlog(splat(sum))[0];
    for (int c = 0; c < a->tk; c++) s[c] = sum == 0 ? 0 : s[c] / sum;
    if (a->hard && sum == sum)
        for (int c = 0; c < a->tk; c++) s[c] = c == best && sum != 0;
    if (a->weights) memcpy(a->weights + at, s, n * sizeof *s);
    if (a->dropout > 0) {
        dropout_factors(&j->drop, f, at, n);
        for (int c = 0; c < a->tk; c++) s[c] *= f[c];
    }
    heed_real *y = grad_row(a->y, a->ldy, b, a->tq, i, h, a->value);
    memset(y, 0, (size_t)a->value * sizeof *y);
    for (int c = 0; c < a->tk; c++) {
        const heed_real *v = row_of(a->v, a->ldv, b, a->tk, c, h, a->value);
        for (int d = 0; d < a->value; d++) y[d] += s[c] * v[d];
    }
}

static void backward_row(const head_job *j, heed_real *s, int b, int h, int i) {
    const heed_attention_job *a = j->a;
    size_t n = (size_t)a->tk, room = row_room(a), at = at4(a, b, h, i);
    heed_real *f = s + room, *dp = f + room, lse = a->lse[at / n], d_sum = 0;
    const heed_real *gy = row_of(a->gy, a->ldy, b, a->tq, i, h, a->value);
    scores_row(a, s, b, h, i);
    int best = a->hard ? best_of(a, s, b, i) : -1; /* the values' gradient sees the hard weights */
    for (int c = 0; c < a->tk; c++)
        s[c] = seen(a, b, i, c) && lse != -INFINITY ? vexp(splat(s[c] - lse))[0] : 0;
    for (int c = 0; c < a->tk; c++) f[c] = 1;
    if (a->dropout > 0) dropout_factors(&j->drop, f, at, n);
    for (int c = 0; c < a->tk; c++) {
        dp[c] = f[c] * dot(gy, row_of(a->v, a->ldv, b, a->tk, c, h, a->value), a->value);
        d_sum += s[c] * dp[c];
        heed_real *gv = a->gv ? grad_row(a->gv, a->ldv, b, a->tk, c, h, a->value) : NULL;
        heed_real weight = a->hard ? c == best : s[c];
        for (int d = 0; gv && d < a->value; d++) gv[d] += weight * f[c] * gy[d];
    }
    if (a->gweights) memcpy(a->gweights + at, dp, n * sizeof *dp);
    for (int c = 0; c < a->tk; c++) dp[c] = s[c] * (dp[c] - d_sum);
    if (a->gscores) memcpy(a->gscores + at, dp, n * sizeof *dp);
    for (int c = 0; c < a->tk; c++) {
        if (a->gbias)
            a->gbias[(size_t)b * a->bias_b + (size_t)h * a->bias_h + (size_t)i * n + (size_t)c] +=
                dp[c];
        const heed_real *q = row_of(a->q, a->ldq, b, a->tq, i, h, a->key);
        const heed_real *kk = row_of(a->k, a->ldk, b, a->tk, c, h, a->key);
        heed_real *gq = a->gq ? grad_row(a->gq, a->ldq, b, a->tq, i, h, a->key) : NULL;
        heed_real *gk = a->gk ? grad_row(a->gk, a->ldk, b, a->tk, c, h, a->key) : NULL;
        for (int d = 0; gq && d < a->key; d++) gq[d] += a->beta * dp[c] * kk[d];
        for (int d = 0; gk && d < a->key; d++) gk[d] += a->beta * dp[c] * q[d];
    }
}

static void heads_part(const void *job, size_t from, size_t to, int thread) {
    const head_job *j = job;
    heed_real *s = j->scratch + (size_t)thread * 4 * row_room(j->a);
    for (size_t u = from; u < to; u++) {
        int b = (int)(u / (size_t)j->a->heads), h = (int)(u % (size_t)j->a->heads);
        for (int i = 0; i < j->a->tq; i++) {
            if (j->backward)
                backward_row(j, s, b, h, i);
            else
                forward_row(j, s, b, h, i);
        }
    }
}

void K(attention)(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    head_job j = {a, scratch, dropout_of(&a->random, a->dropout), false};
    heed__share(k, (size_t)a->batch * (size_t)a->heads, 1e6, heads_part, &j);
}
void K(attention_grad)(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    head_job j = {a, scratch, dropout_of(&a->random, a->dropout), true};
    bool clash = a->gbias && (!a->bias_b || !a->bias_h);
    heed__share(k, (size_t)a->batch * (size_t)a->heads, clash ? 0 : 1e6, heads_part, &j);
}
