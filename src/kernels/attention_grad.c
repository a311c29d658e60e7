/* attention_grad.c -- fused attention, backward. With P the weights, kept or recomputed,
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

/* Computes s = P from the scores and what is kept of the row, and d = gP; returns the sum of P gP.
 */
static heed_real weights_again(const heed__head *w, int r, heed_real *s, heed_real *d, int end,
                               const heed_real *kept) {
    const bool drops = w->a->dropout > 0;
    vec shift = splat(kept[0]), inverse = splat(kept[1]), dot = splat(0);
    for (int j = 0; j < end; j += VL) {
        vec p = vexp_term(load(s + j) - shift) * inverse, g = load(d + j);
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
 * unless they are kept as they are. Row r of a block that sees n keys. */
static void backward_row(const heed__head *w, int r, int i, int n, heed_real *s, heed_real *d) {
    const heed_attention_job *a = w->a;
    size_t at = query_at(w, i), tk = (size_t)a->tk;
    const heed_real *weights = s;
    heed_real dot;
    int best = -1, end = (int)whole_vectors(n);
    if (keeps_weights(a)) {
        weights = kept_row(w, i);
        dot = weights_kept(w, r, weights, d, end);
    } else {
        heed_real top = score_row(w, s, i, end);
        if (a->hard && kept_row(w, i)[1] > 0) best = hard_choice(s, top);
        dot = weights_again(w, r, s, d, end, kept_row(w, i));
    }
    if (a->gweights) memcpy(a->gweights + at * tk, d, tk * sizeof *d);
    gradients(w, r, weights, s, d, end, dot, best);
    spread(w, d, i, end);
    for (int j = end; j < (int)whole_groups(n); j += VL) {
        store(s + j, splat(0));
        store(d + j, splat(0));
    }
}

/* Whether probes want gradients of masked weights, too. */
static bool probes(const heed_attention_job *a) { return a->gweights || a->gscores; }

/* Keys that the queries before `end` see. */
static int seen_before(const heed_attention_job *a, int end) {
    return end == 0 ? 0 : probes(a) ? a->tk : keys_seen(a, end - 1);
}

/* Weights, gradients of scores and of queries; s and d: the first rows of this block. */
static void backward_block(const heed__head *w, int first, int rows, heed_real *s, heed_real *d) {
    const heed_attention_job *a = w->a;
    int n = seen_before(a, first + rows);
    size_t q = head_at(w, first, a->ldq, a->key);
    const heed_real *gy = a->gy + head_at(w, first, a->ldy, a->value);
    const heed_real *k = a->k + kv_at(w, a->ldk, a->key), *v = a->v + kv_at(w, a->ldv, a->value);
    if (!keeps_weights(a)) times_turned(w, s, a->q + q, a->ldq, k, a->ldk, w->kt, rows, a->key, n);
    times_turned(w, d, gy, a->ldy, v, a->ldv, w->vt, rows, a->value, n);
    if (a->dropout > 0) draw(w, first, rows, n);
    for (int r = 0; r < rows; r++)
        backward_row(w, r, first + r, n, s + (size_t)r * w->keys, d + (size_t)r * w->keys);
    if (a->gq) head_times(w, d, w->keys, 1, rows, n, &w->k, a->gq + q, a->ldq, a->add[0]);
}

/* The queries [first, first + rows), of which earlier ones see the first `seen` keys, and these n;
 * more: gradients of keys and values are added to. */
typedef struct {
    int first, rows, seen, n;
    bool more;
} band;

/* gx (tk, x.width) of keys or values = or += m' x for the n keys. Queries that see no key of a
 * group are skipped. */
static void keys_back(const heed__head *w, const band *b, const heed_real *m, size_t ld,
                      const heed__operand *x, heed_real *gx, size_t ldx, bool add) {
    const heed_attention_job *a = w->a;
    bool groups = HEED__SET && a->causal;
    for (int j = 0, end; j < b->n; j = end) {
        bool old = j < b->seen;
        int skip = groups ? j - (a->tk - a->tq) - b->first : 0;
        heed__operand from = *x;
        end = old ? b->seen : b->n;
        if (groups) end = at_most(end, j / KEY_GROUP * KEY_GROUP + KEY_GROUP);
        skip = skip < 0 ? 0 : at_most(skip, b->rows);
        from.at += (size_t)skip * x->step;
        head_times(w, m + (size_t)skip * ld + j, 1, ld, end - j, b->rows - skip, &from,
                   gx + (size_t)j * ldx, ldx, add || old || b->more);
    }
}

static void backward_band(const heed__head *w, const band *b) {
    const heed_attention_job *a = w->a;
    int each = block_rows(a);
    for (int i = 0; i < b->rows; i += each)
        backward_block(w, b->first + i, at_most(each, b->rows - i), w->s + (size_t)i * w->keys,
                       w->d + (size_t)i * w->keys);
    if (a->gk) {
        heed__operand o = head_operand(w, w->qp, a->q + head_at(w, b->first, a->ldq, a->key),
                                       a->ldq, b->rows, a->key);
        keys_back(w, b, w->d, w->keys, &o, a->gk + kv_at(w, a->ldk, a->key), a->ldk, a->add[1]);
    }
    if (a->gv) {
        heed__operand o = head_operand(w, w->gp, a->gy + head_at(w, b->first, a->ldy, a->value),
                                       a->ldy, b->rows, a->value);
        bool kept = keeps_weights(a) && !(a->dropout > 0);
        keys_back(w, b, kept ? kept_row(w, b->first) : w->s, kept ? row_kept(a) : w->keys, &o,
                  a->gv + kv_at(w, a->ldv, a->value), a->ldv, a->add[2]);
    }
}

static void backward_head(heed__head *w) {
    const heed_attention_job *a = w->a;
    begin_head(w);
    if (!w->bf16) turn(w, w->vt, a->v + kv_at(w, a->ldv, a->value), a->ldv, a->value);
    w->k = head_operand(w, w->kp, a->k + kv_at(w, a->ldk, a->key), a->ldk, a->tk, a->key);
    for (int i = 0, each = band_rows(a); i < a->tq; i += each) {
        int rows = at_most(each, a->tq - i);
        bool more = w->h % a->group > 0; /* added by an earlier head */
        backward_band(w, &(band){i, rows, seen_before(a, i), seen_before(a, i + rows), more});
    }
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
