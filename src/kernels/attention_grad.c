/* attention_grad.c -- fused attention, backward. With P the weights, recomputed from log sum exp,
 * and f dropout's factors: gV = (P f)' gY,  gP = f (gY V'),  gS = P (gP - rowsum(P gP)),
 * gQ = beta gS K,  gK = beta gS' Q. A hard selection uses the soft P, except for gV, which uses the
 * one-hot weights. */
#include "attention.h"
#include "set.h"

/* Units are (batch, head of keys and values) pairs; pairs that share one gbias form one unit. */
typedef struct {
    const heed_attention_job *a;
    heed_real *scratch;
    size_t each;
    bool by_batch, by_head, bf16;
} backward_job;

/* Computes s = P from the scores and d = gP; returns the sum of P gP. */
static heed_real weights_again(const heed__head *w, int r, heed_real *s, heed_real *d, int end,
                               heed_real lse) {
    const bool drops = w->a->dropout > 0;
    vec shift = splat(lse == -INFINITY ? 0 : lse), dot = splat(0);
    for (int j = 0; j < end; j += VL) {
        vec p = vexp(load(s + j) - shift), g = load(d + j);
        if (drops) {
            g *= factor(w, r, j);
            store(d + j, g);
        }
        dot += p * g;
        store(s + j, p);
    }
    return sum_lanes(dot);
}

/* The same with s = P, kept by forward. */
static heed_real weights_kept(const heed__head *w, int r, const heed_real *s, heed_real *d,
                              int end) {
    vec dot = splat(0);
    for (int j = 0; j < end; j += VL) {
        vec g = load(d + j);
        if (w->a->dropout > 0) {
            g *= factor(w, r, j);
            store(d + j, g);
        }
        dot += load(s + j) * g;
    }
    return sum_lanes(dot);
}

/* Computes s = P f (if hard, with the one-hot at `best` instead of P) and d = gS. */
static void gradients(const heed__head *w, int r, const heed_real *weights, heed_real *s,
                      heed_real *d, int end, heed_real dot, int best) {
    const bool drops = w->a->dropout > 0;
    for (int j = 0; j < end; j += VL) {
        vec p = load(weights + j);
        store(d + j, p * (load(d + j) - splat(dot)));
        if (drops) store(s + j, p * factor(w, r, j));
    }
    if (best < 0) return;
    memset(s, 0, (size_t)end * sizeof *s);
    s[best] = drops ? factor(w, r, best)[0] : 1;
}

/* Adds or copies gS of query i to where it is wanted, then multiplies it by beta for gQ and gK. */
static void spread(const heed__head *w, heed_real *d, int i, int end) {
    const heed_attention_job *a = w->a;
    size_t n = (size_t)a->tk;
    if (a->gscores) memcpy(a->gscores + query_at(w, i) * n, d, n * sizeof *d);
    heed_real *gbias = a->gbias ? a->gbias + bias_at(w, i) : NULL;
    for (int j = 0; j < end; j += VL) {
        size_t left = n - (size_t)j;
        if (gbias) put(gbias + j, get(gbias + j, left) + load(d + j), left);
        store(d + j, load(d + j) * splat(a->beta));
    }
}

/* The gradients gP of query i, d, become those of its scores; s becomes its weights after dropout,
 * unless they are kept as they are. */
static void backward_row(const heed__head *w, int r, int i, int end) {
    const heed_attention_job *a = w->a;
    heed_real *s = w->s + (size_t)r * w->keys, *d = w->d + (size_t)r * w->keys, dot;
    size_t at = query_at(w, i), tk = (size_t)a->tk;
    const heed_real *weights = s;
    int best = -1;
    if (keeps_weights(a)) {
        weights = kept_row(w, i);
        dot = weights_kept(w, r, weights, d, end);
    } else {
        heed_real top = score_row(w, s, i, end);
        if (a->hard && a->lse[at] > -INFINITY) best = hard_choice(s, top);
        dot = weights_again(w, r, s, d, end, a->lse[at]);
    }
    if (a->gweights) memcpy(a->gweights + at * tk, d, tk * sizeof *d);
    gradients(w, r, weights, s, d, end, dot, best);
    spread(w, d, i, end);
}

/* gx (tk, x.width) of keys or values = or += m' x for the n keys that this block of queries sees,
 * of which the first `seen` were seen by earlier queries. */
static void keys_back(const heed__head *w, const heed_real *m, size_t ld, int rows,
                      const heed__operand *x, heed_real *gx, size_t ldx, int seen, int n,
                      bool add) {
    int earlier = add ? n : seen;
    if (earlier > 0) head_times(w, m, 1, ld, earlier, rows, x, gx, ldx, true);
    if (earlier < n)
        head_times(w, m + earlier, 1, ld, n - earlier, rows, x, gx + (size_t)earlier * ldx, ldx,
                   false);
}

static void backward_block(const heed__head *w, int first) {
    const heed_attention_job *a = w->a;
    int each = block_rows(a), rows = a->tq - first < each ? a->tq - first : each;
    bool all = a->gweights || a->gscores;
    int n = all ? a->tk : keys_seen(a, first + rows - 1), end = (n + VL - 1) / VL * VL;
    int seen = first == 0 ? 0 : all ? a->tk : keys_seen(a, first - 1);
    bool again = !keeps_weights(a), more = w->h % a->group > 0; /* added by an earlier head */
    size_t q = head_at(w, first, a->ldq, a->key);
    size_t k = kv_at(w, a->ldk, a->key), v = kv_at(w, a->ldv, a->value);
    const heed_real *gy = a->gy + head_at(w, first, a->ldy, a->value);
    if (again) times_turned(w, w->s, a->q + q, a->ldq, a->k + k, a->ldk, w->kt, rows, a->key, n);
    times_turned(w, w->d, gy, a->ldy, a->v + v, a->ldv, w->vt, rows, a->value, n);
    if (a->dropout > 0) draw(w, first, rows, n);
    for (int r = 0; r < rows; r++) backward_row(w, r, first + r, end);
    if (a->gq) head_times(w, w->d, w->keys, 1, rows, n, &w->k, a->gq + q, a->ldq, a->add[0]);
    if (a->gk) {
        heed__operand o = head_operand(w, w->qp, a->q + q, a->ldq, rows, a->key);
        keys_back(w, w->d, w->keys, rows, &o, a->gk + k, a->ldk, seen, n, a->add[1] || more);
    }
    if (a->gv) {
        heed__operand o = head_operand(w, w->gp, gy, a->ldy, rows, a->value);
        bool kept = !again && !(a->dropout > 0);
        keys_back(w, kept ? kept_row(w, first) : w->s, kept ? row_kept(a) : w->keys, rows, &o,
                  a->gv + v, a->ldv, seen, n, a->add[2] || more);
    }
}

static void backward_head(heed__head *w) {
    const heed_attention_job *a = w->a;
    begin_head(w);
    if (!w->bf16) turn(w, w->vt, a->v + kv_at(w, a->ldv, a->value), a->ldv, a->value);
    w->k = head_operand(w, w->kp, a->k + kv_at(w, a->ldk, a->key), a->ldk, a->tk, a->key);
    for (int i = 0; i < a->tq; i += block_rows(a)) backward_block(w, i);
}

static void backward_part(const void *job, size_t from, size_t to, int thread) {
    const backward_job *j = job;
    const heed_attention_job *a = j->a;
    heed__head w = {.a = a, .drop = dropout_of(&a->random, a->dropout), .bf16 = j->bf16};
    lay_out(&w, j->scratch + (size_t)thread * j->each, true);
    int each = j->by_head ? a->group : a->heads, units = a->heads / each;
    for (size_t u = from; u < to; u++) {
        int b = (int)(u / (size_t)units), h = (int)(u % (size_t)units) * each;
        int last_b = j->by_batch ? b + 1 : a->batch, last_h = h + each;
        for (w.b = b; w.b < last_b; w.b++)
            for (w.h = h; w.h < last_h; w.h++) backward_head(&w);
    }
}

void K(attention_grad)(const heed_kernels *k, const heed_attention_job *a, void *scratch) {
    if (is_short(a)) {
        K(attention_short_grad)(k, a, scratch);
        return;
    }
    heed__head w = {.a = a};
    lay_out(&w, NULL, true);
    backward_job j = {
        a, scratch, w.used, !a->gbias || a->bias_b, !a->gbias || a->bias_h, attention_rounds(k, a)};
    size_t units =
        (j.by_batch ? (size_t)a->batch : 1) * (j.by_head ? (size_t)(a->heads / a->group) : 1);
    double each = 4.0 * (a->key + a->value) + 20;
    heed__share(k, units, each * a->batch * a->heads * (double)a->tq * a->tk, backward_part, &j);
}
