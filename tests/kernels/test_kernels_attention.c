/* Fused attention against plain loops in double. */
#include "kernel_case.h"

typedef struct {
    int batch, heads, tq, tk, key, value;
    int group; /* heads that share keys and values; 0: 1 */
    int extra; /* unused elements at the end of each row of q, k, v, y */
    int bias;  /* 0 none, 1 full, 2 same for the batch, 3 same for the heads, 4 both */
    bool pad, causal, hard, quiet; /* quiet: no probes */
    bool large;                    /* scores near 1000, all exact: see inputs_of */
    double beta, dropout;
} shape;

typedef struct {
    size_t q, k, v, y, square, bias;
} sizes;

static int group_of(const shape *s) { return s->group ? s->group : 1; }

static sizes sizes_of(const shape *s) {
    size_t shared = (size_t)(s->heads / group_of(s));
    size_t b = (size_t)s->batch, h = (size_t)s->heads, tq = (size_t)s->tq, tk = (size_t)s->tk;
    size_t x = (size_t)s->extra, e = (size_t)s->key, d = (size_t)s->value;
    return (sizes){.q = b * tq * (h * e + x),
                   .k = b * tk * (shared * e + x),
                   .v = b * tk * (shared * d + x),
                   .y = b * tq * (h * d + x),
                   .square = b * h * tq * tk,
                   .bias = (s->bias == 1 || s->bias == 3 ? b : 1) *
                           (s->bias == 1 || s->bias == 2 ? h : 1) * tq * tk};
}
/* out: y, weights, scores, gq, gk, gv, gbias, gweights, gscores */
static size_t size_of(const shape *s) {
    sizes n = sizes_of(s);
    return n.y + 4 * n.square + n.q + n.k + n.v + n.bias;
}

typedef struct {
    heed_real *q, *k, *v, *bias, *gy;
    int32_t *pad;
} inputs;
static heed_real sixteenths(heed_real x) { return (heed_real)(rint(16 * (double)x) / 16); }
static inputs inputs_of(const shape *s) {
    sizes n = sizes_of(s);
    inputs in = {kernel_numbers(40, n.q), kernel_numbers(41, n.k),
                 kernel_numbers(42, n.v), kernel_numbers(43, n.bias),
                 kernel_numbers(44, n.y), kernel_indices(45, (size_t)(s->batch * s->tk), 3)};
    for (int j = 0; j < s->tk && s->batch > 1; j++) in.pad[s->tk + j] = 0; /* all hidden */
    for (size_t i = 0; s->large && i < n.q; i++) in.q[i] = sixteenths(in.q[i]);
    for (size_t i = 0; s->large && i < n.k; i++) in.k[i] = sixteenths(in.k[i]);
    for (size_t i = 0; s->large && i < n.bias; i++) in.bias[i] = 1000 + sixteenths(in.bias[i]);
    return in;
}
static void drop_inputs(inputs *in) {
    free(in->q);
    free(in->k);
    free(in->v);
    free(in->bias);
    free(in->gy);
    free(in->pad);
}

static heed_attention_job job_of(const shape *s, const inputs *in) {
    size_t square = (size_t)s->tq * (size_t)s->tk, x = (size_t)s->extra;
    size_t heads = (size_t)s->heads, shared = heads / (size_t)group_of(s);
    bool by_b = s->bias == 1 || s->bias == 3, by_h = s->bias == 1 || s->bias == 2;
    return (heed_attention_job){.batch = s->batch,
                                .heads = s->heads,
                                .group = group_of(s),
                                .tq = s->tq,
                                .tk = s->tk,
                                .key = s->key,
                                .value = s->value,
                                .q = in->q,
                                .k = in->k,
                                .v = in->v,
                                .ldq = heads * (size_t)s->key + x,
                                .ldk = shared * (size_t)s->key + x,
                                .ldv = shared * (size_t)s->value + x,
                                .ldy = heads * (size_t)s->value + x,
                                .bias = s->bias ? in->bias : NULL,
                                .bias_h = by_h ? square : 0,
                                .bias_b = by_b ? square * (by_h ? heads : 1) : 0,
                                .pad = s->pad ? in->pad : NULL,
                                .beta = (heed_real)s->beta,
                                .dropout = (heed_real)s->dropout,
                                .causal = s->causal,
                                .hard = s->hard,
                                .bf16 = true,
                                .random = {99, 1, 2, 3},
                                .gy = in->gy};
}

/* Full of NaN, which must not get into a result. */
static void *scratch_of(const heed_kernels *k, const heed_attention_job *a, bool backward) {
    size_t bytes = (k->attention_scratch(k, a, backward) + 63) / 64 * 64;
    void *scratch = aligned_alloc(64, bytes);
    return memset(scratch, 0xff, bytes);
}

static void run_attention(const heed_kernels *k, const void *args, heed_real *out) {
    const shape *s = args;
    sizes n = sizes_of(s);
    inputs in = inputs_of(s);
    heed_attention_job a = job_of(s, &in);
    bool probes = !s->quiet;
    a.y = out;
    a.weights = probes ? a.y + n.y : NULL;
    a.scores = probes ? a.y + n.y + n.square : NULL;
    void *scratch = scratch_of(k, &a, false);
    a.kept = aligned_alloc(64, (k->attention_kept(k, &a) * sizeof *a.kept + 63) / 64 * 64 + 64);
    k->attention(k, &a, scratch);
    free(scratch);
    a.gq = a.y + n.y + 2 * n.square;
    a.gk = a.gq + n.q;
    a.gv = a.gk + n.k;
    const size_t size[3] = {n.q, n.k, n.v};
    for (int p = 0; p < 3; p++) { /* gradients that are written replace what was there */
        a.add[p] = s->extra || (s->tk + p) % 2;
        for (size_t i = 0; !a.add[p] && i < size[p]; i++) (p ? p == 1 ? a.gk : a.gv : a.gq)[i] = 7;
    }
    a.gbias = s->bias ? a.gv + n.v : NULL;
    a.gweights = probes ? a.gv + n.v + n.bias : NULL;
    a.gscores = probes ? a.gv + n.v + n.bias + n.square : NULL;
    scratch = scratch_of(k, &a, true);
    k->attention_grad(k, &a, scratch);
    free(scratch);
    free(a.kept);
    drop_inputs(&in);
}

typedef struct {
    const shape *s;
    sizes n;
    heed_attention_job a;
    double *y, *weights, *scores, *gq, *gk, *gv, *gbias, *gweights, *gscores;
} plain;

static bool visible(const heed_attention_job *a, int b, int i, int j) {
    return !(a->causal && j > i + a->tk - a->tq) && (!a->pad || a->pad[b * a->tk + j]);
}
static size_t at(int b, int t, int i, size_t ld, int h, int w, int c) {
    return ((size_t)(b * t + i)) * ld + (size_t)(h * w + c);
}

static void plain_row(const plain *p, int b, int h, int i) {
    const heed_attention_job *a = &p->a;
    size_t row = ((size_t)b * (size_t)a->heads + (size_t)h) * (size_t)a->tq + (size_t)i;
    size_t base = row * (size_t)a->tk;
    double sum = 0, dot = 0, *w = p->weights + base, *s = p->scores + base;
    double *soft = calloc((size_t)a->tk, sizeof *soft);
    int best = -1;
    int kv = h / a->group;
    for (int j = 0; j < a->tk; j++) {
        for (int c = 0; c < a->key; c++)
            s[j] += (double)a->beta * (double)a->q[at(b, a->tq, i, a->ldq, h, a->key, c)] *
                    (double)a->k[at(b, a->tk, j, a->ldk, kv, a->key, c)];
        if (a->bias)
            s[j] +=
                (double)a
                    ->bias[(size_t)b * a->bias_b + (size_t)h * a->bias_h + (size_t)(i * a->tk + j)];
        if (!visible(a, b, i, j)) continue;
        if (best < 0 || s[j] > s[best]) best = j;
    }
    for (int j = 0; j < a->tk; j++)
        if (visible(a, b, i, j)) sum += exp(s[j] - s[best]);
    for (int j = 0; j < a->tk; j++) {
        soft[j] = visible(a, b, i, j) ? exp(s[j] - s[best]) / sum : 0;
        w[j] = a->hard ? j == best : soft[j];
        double kept = 1 / (1 - kernel_dropped((double)a->dropout));
        if (!kernel_keeps(&a->random, base + (size_t)j, (double)a->dropout)) kept = 0;
        for (int c = 0; c < a->value; c++) {
            double g = (double)a->gy[at(b, a->tq, i, a->ldy, h, a->value, c)];
            size_t v = at(b, a->tk, j, a->ldv, kv, a->value, c);
            p->y[at(b, a->tq, i, a->ldy, h, a->value, c)] += w[j] * kept * (double)a->v[v];
            p->gv[v] += w[j] * kept * g; /* the weights as they were, hard ones too */
            p->gweights[base + (size_t)j] += kept * g * (double)a->v[v];
        }
        dot += soft[j] * p->gweights[base + (size_t)j];
    }
    for (int j = 0; j < a->tk; j++) {
        double g = soft[j] * (p->gweights[base + (size_t)j] - dot);
        p->gscores[base + (size_t)j] = g;
        if (p->s->bias)
            p->gbias[(size_t)b * a->bias_b + (size_t)h * a->bias_h + (size_t)(i * a->tk + j)] += g;
        for (int c = 0; c < a->key; c++) {
            size_t q = at(b, a->tq, i, a->ldq, h, a->key, c);
            size_t k = at(b, a->tk, j, a->ldk, kv, a->key, c);
            p->gq[q] += (double)a->beta * g * (double)a->k[k];
            p->gk[k] += (double)a->beta * g * (double)a->q[q];
        }
    }
    free(soft);
}

static void want_attention(const void *args, double *out) {
    const shape *s = args;
    inputs in = inputs_of(s);
    plain p = {.s = s, .n = sizes_of(s), .a = job_of(s, &in), .y = out};
    p.weights = p.y + p.n.y;
    p.scores = p.weights + p.n.square;
    p.gq = p.scores + p.n.square;
    p.gk = p.gq + p.n.q;
    p.gv = p.gk + p.n.k;
    p.gbias = p.gv + p.n.v;
    p.gweights = p.gbias + p.n.bias;
    p.gscores = p.gweights + p.n.square;
    for (int b = 0; b < s->batch; b++)
        for (int h = 0; h < s->heads; h++)
            for (int i = 0; i < s->tq; i++) plain_row(&p, b, h, i);
    if (s->quiet) { /* what was not asked for stays as it was */
        memset(p.weights, 0, 2 * p.n.square * sizeof *out);
        memset(p.gweights, 0, 2 * p.n.square * sizeof *out);
    }
    drop_inputs(&in);
}

static void check_attention(shape s) {
    kernel_check(&(kernel_case){"attention", size_of(&s), run_attention, want_attention, &s, 32});
}

TEST(kernels_attention_shapes) {
    static const int t[] = {1, 3, 17, 65}, w[] = {1, 3, 16, 40};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            check_attention((shape){.batch = 2,
                                    .heads = 3,
                                    .tq = t[i],
                                    .tk = t[j],
                                    .key = w[j],
                                    .value = w[(i + j) % 4],
                                    .extra = i,
                                    .beta = 0.7,
                                    .quiet = (i + j) % 2});
}
static shape shape_of(int batch, int heads, int tq, int tk, int key, int value, double beta) {
    return (shape){.batch = batch,
                   .heads = heads,
                   .tq = tq,
                   .tk = tk,
                   .key = key,
                   .value = value,
                   .beta = beta};
}

TEST(kernels_attention_long) {
    shape s = shape_of(1, 2, 200, 333, 33, 70, 0.3);
    s.causal = true;
    check_attention(s);
    const int lengths[][2] = {{128, 128}, {64, 64}, {37, 61}, {150, 170}, {300, 300}};
    for (int i = 0; i < 5; i++) {
        s = shape_of(2, 2, lengths[i][0], lengths[i][1], 32, 20, 0.2);
        s.causal = s.quiet = true;
        check_attention(s);
    }
}
TEST(kernels_attention_masks) {
    for (int i = 0; i < 4; i++) {
        shape s = shape_of(3, 2, 33, i == 3 ? 17 : 50, 8, 12, 1);
        s.pad = i != 1;
        s.causal = i != 0;
        s.quiet = i == 2;
        check_attention(s);
    }
}
TEST(kernels_attention_biases) {
    for (int bias = 1; bias <= 4; bias++) {
        shape s = shape_of(3, 4, 40, 37, 8, 8, 1);
        s.bias = bias;
        s.pad = bias % 2;
        s.causal = bias > 2;
        check_attention(s);
    }
}
TEST(kernels_attention_of_shared_keys) {
    for (int bias = 0; bias <= 4; bias++) {
        shape s = shape_of(3, 6, 35, 41, 5, 9, 1);
        s.group = bias % 2 ? 6 : 3;
        s.bias = bias;
        s.causal = s.quiet = bias > 1;
        s.dropout = bias == 2 ? 0.3 : 0;
        s.extra = bias;
        check_attention(s);
    }
}
TEST(kernels_attention_hard) {
    shape s = shape_of(2, 2, 20, 35, 16, 8, 3);
    s.hard = s.pad = true;
    check_attention(s);
    s.pad = false;
    s.causal = true;
    s.dropout = 0.25;
    check_attention(s);
    s = shape_of(2, 1, 5, 70, 4, 4, 0); /* every score ties: the lowest visible index is chosen */
    s.hard = s.pad = true;
    check_attention(s);
}
/* However large the scores are: where they are exact, so are weights and gradients. The weights of
 * 50 keys are kept for backward, those of 90 are computed again. */
TEST(kernels_attention_of_large_scores) {
    for (int i = 0; i < 16; i++) {
        shape s = shape_of(2, 2, 40, i & 1 ? 90 : 50, 4, 8, 2);
        s.large = s.quiet = true;
        s.bias = 1 + i % 4;
        s.causal = i & 2;
        s.pad = i & 4;
        s.hard = i == 9;
        s.dropout = i & 8 ? 0.3 : 0;
        check_attention(s);
    }
}
TEST(kernels_attention_dropout) {
    shape s = shape_of(2, 3, 33, 47, 16, 16, 0.5);
    s.dropout = 0.3;
    s.causal = true;
    check_attention(s);
    s = shape_of(2, 3, 64, 64, 16, 16, 0.5);
    s.dropout = 0.1;
    s.quiet = true;
    check_attention(s);
}
/* More queries than keys: the first blocks of queries see none. */
TEST(kernels_attention_of_blocks_without_keys) {
    for (int i = 0; i < 16; i++) {
        shape s = shape_of(2, 2, 70, 5, 3, 4, 1);
        s.causal = true;
        s.quiet = i & 1;
        s.pad = i & 2;
        s.hard = i & 4;
        s.bias = i & 8 ? 1 : 0;
        check_attention(s);
        s.dropout = 0.4;
        check_attention(s);
    }
}
TEST(kernels_attention_shows_nan) {
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        heed_kernels k;
        heed__kernels_choose(&k, *isa, 1);
        heed_real q[2] = {NAN, 1}, x[2] = {1, 2}, y[2];
        heed_attention_job a = {.batch = 1,
                                .heads = 1,
                                .tq = 2,
                                .tk = 2,
                                .key = 1,
                                .value = 1,
                                .group = 1,
                                .q = q,
                                .k = x,
                                .v = x,
                                .ldq = 1,
                                .ldk = 1,
                                .ldv = 1,
                                .ldy = 1,
                                .beta = 1,
                                .y = y};
        void *scratch = aligned_alloc(64, (k.attention_scratch(&k, &a, false) + 63) / 64 * 64);
        k.attention(&k, &a, scratch);
        CHECK(isnan(y[0]) && isfinite(y[1]));
        a.hard = true;
        k.attention(&k, &a, scratch);
        CHECK(isnan(y[0]) && y[1] == 2);
        free(scratch);
    }
}

/* ---- additive attention: numbers that are near, far keys in row 1, a far query in row 2 ---- */

enum { ROWS = 3, LEN = 5, INNER = 19, WIDTH = 7, PLACES = ROWS * LEN };
typedef struct {
    heed_real *q, *keys, *values, *v, *gc;
} additive;

static additive additive_inputs(void) {
    additive in = {kernel_numbers(50, ROWS * INNER), kernel_numbers(51, PLACES * INNER),
                   kernel_numbers(52, PLACES * WIDTH), kernel_numbers(53, INNER),
                   kernel_numbers(54, ROWS * WIDTH)};
    for (int i = 0; i < LEN * INNER; i++) in.keys[LEN * INNER + i] *= 60;
    in.q[2 * INNER + 3] = 70;
    in.keys[2 * LEN * INNER + 3] = -69;
    return in;
}
static void drop_additive(additive *in) {
    free(in->q);
    free(in->keys);
    free(in->values);
    free(in->v);
    free(in->gc);
}

/* out: weights, context, gq, gkeys, gvalues, gv */
static void run_additive(const heed_kernels *k, const void *args, heed_real *out) {
    additive in = additive_inputs();
    heed_real ekeys[PLACES * INNER], equery[ROWS * INNER], ge[PLACES];
    heed_real *context = out + PLACES, *gq = context + ROWS * WIDTH, *gk = gq + ROWS * INNER;
    heed_additive_attention_job j = {.rows = ROWS,
                                     .len = LEN,
                                     .inner = INNER,
                                     .width = WIDTH,
                                     .query = in.q,
                                     .keys = in.keys,
                                     .ekeys = *(const bool *)args ? ekeys : NULL,
                                     .equery = *(const bool *)args ? equery : NULL,
                                     .values = in.values,
                                     .v = in.v,
                                     .weights = out,
                                     .ldweights = LEN,
                                     .context = context,
                                     .ldcontext = WIDTH,
                                     .gcontext = in.gc,
                                     .ldgcontext = WIDTH,
                                     .steps = 1,
                                     .gscores = ge,
                                     .gquery = gq,
                                     .gkeys = gk,
                                     .gvalues = gk + PLACES * INNER,
                                     .gv = gk + PLACES * (INNER + WIDTH)};
    k->scale(k, ekeys, in.keys, 2, 0, PLACES * INNER);
    k->activate(k, HEED_EXP, ekeys, ekeys, PLACES * INNER);
    k->additive_attention(k, &j);
    k->additive_attention_grad(k, &j);
    drop_additive(&in);
}

static void plain_additive_row(const additive *in, int r, double *out) {
    double *w = out + r * LEN, *c = out + PLACES + r * WIDTH;
    double *gq = out + PLACES + ROWS * WIDTH + r * INNER;
    double *gk = out + PLACES + ROWS * (WIDTH + INNER), *gvalues = gk + PLACES * INNER;
    double *gv = gvalues + PLACES * WIDTH + r * INNER, sum = 0, dot = 0, ga[LEN] = {0};
    for (int s = 0; s < LEN; s++) {
        double e = 0;
        for (int i = 0; i < INNER; i++)
            e += (double)in->v[i] *
                 tanh((double)in->q[r * INNER + i] + (double)in->keys[(r * LEN + s) * INNER + i]);
        sum += w[s] = exp(e);
    }
    for (int s = 0; s < LEN; s++) {
        w[s] /= sum;
        for (int i = 0; i < WIDTH; i++) {
            double g = (double)in->gc[r * WIDTH + i];
            double v = (double)in->values[(r * LEN + s) * WIDTH + i];
            c[i] += w[s] * v;
            ga[s] += g * v;
            gvalues[(r * LEN + s) * WIDTH + i] = w[s] * g;
        }
        dot += w[s] * ga[s];
    }
    for (int s = 0; s < LEN; s++)
        for (int i = 0; i < INNER; i++) {
            int at = (r * LEN + s) * INNER + i;
            double t = tanh((double)in->q[r * INNER + i] + (double)in->keys[at]);
            double ge = w[s] * (ga[s] - dot), g = ge * (double)in->v[i] * (1 - t * t);
            gv[i] += ge * t;
            gq[i] += g;
            gk[at] = g;
        }
}
static void want_additive(const void *args, double *out) {
    additive in = additive_inputs();
    (void)args;
    for (int r = 0; r < ROWS; r++) plain_additive_row(&in, r, out);
    drop_additive(&in);
}

TEST(kernels_additive_attention) {
    size_t size = PLACES + ROWS * (WIDTH + 2 * INNER) + PLACES * (INNER + WIDTH);
    for (int with = 0; with < 2; with++)
        kernel_check(&(kernel_case){"additive_attention", size, run_additive, want_additive,
                                    &(const bool){with}, 16});
}

/* ---- products in bf16 ---- */

/* Each array within a few roundings of the result in fp32, with the same bits for all threads. */
static void check_rounded(const shape *s, const heed_kernels *bf16) {
    sizes n = sizes_of(s);
    size_t all = size_of(s), from = 0;
    const size_t arrays[] = {n.y, n.square, n.square, n.q, n.k, n.v, n.bias, n.square, n.square};
    heed_kernels fp32 = *bf16, team = *bf16;
    heed_real *want = calloc(3 * all, sizeof *want), *got = want + all, *other = got + all;
    fp32.bf16 = NULL;
    team.threads = 3;
    run_attention(&fp32, s, want);
    run_attention(bf16, s, got);
    run_attention(&team, s, other);
    CHECK(memcmp(got, other, all * sizeof *got) == 0);
    CHECK(memcmp(got, want, all * sizeof *got) != 0); /* it does round */
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; from += arrays[a++]) {
        double most = 0, worst = 0;
        for (size_t i = from; i < from + arrays[a]; i++) {
            if (got[i] == want[i]) continue; /* -inf, too */
            double error = fabs((double)got[i] - (double)want[i]);
            most = fmax(most, fabs((double)want[i]));
            if (!(error <= worst)) worst = error;
        }
        CHECK(worst <= 0.02 * most);
    }
    free(want);
}

TEST(attention_in_bf16_is_near_that_in_fp32) {
    heed_kernels k;
    bool rounded = false;
    heed__kernels_choose(&k, NULL, 1);
    if (heed__kernels_bf16(&k)) return;
    k.bf16 = &rounded;
    static const shape shapes[] = {
        {2, 2, 70, 70, 32, 32, .causal = true, .beta = 0.17},
        {2, 2, 41, 97, 40, 33, .pad = true, .bias = 1, .extra = 3, .beta = 0.17},
        {1, 4, 64, 64, 32, 64, .group = 2, .dropout = 0.2, .beta = 0.17},
        {1, 1, 90, 66, 32, 32, .causal = true, .beta = 0.17}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) check_rounded(&shapes[i], &k);
    CHECK(rounded);
}
