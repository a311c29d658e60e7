/* The fused attention against its explicit composition, its masks and selections, its probes. */
#include "values.h"

#ifdef HEED_F64
static const double agreement = 1e-12;
#else
static const double agreement = 1e-5;
#endif

/* One setting; inputs are drawn anew, the same for every path. */
typedef struct {
    int batch, tq, tk;
    int bias_batch, bias_heads; /* 0: no score bias */
    const char *pad;            /* a '1' per key that is seen, for all items in order; NULL: none */
    heed_attention_args args;
} setting;

typedef enum { FUSED, EXPLICIT, STACKED } path;

enum { Q, K, V, BIAS, INPUTS };
static const char *const value_names[] = {"q", "k", "v", "scores", "weights"};
enum { PROBES = 5 };

typedef struct {
    heed_ctx *c;
    heed_tape *t;
    heed_tensor *in[INPUTS], *y;
    heed_tensor *probe[PROBES];
} outcome;

static heed_tensor *draw(heed_tape *t, const char *name, int dims, const int *shape) {
    heed_random r = heed_random_at(11, name, 0, 0);
    heed_tensor *x = heed_input(t, NULL, dims, shape);
    for (size_t i = 0; x && i < x->size; i++)
        x->x[i] = (heed_real)(2 * heed_random_uniform(&r, i) - 1);
    return heed_want_grad(t, x);
}

static heed_tensor *pad_of(heed_tape *t, const setting *s) {
    if (!s->pad) return NULL;
    int32_t pad[256];
    for (int i = 0; i < s->batch * s->tk; i++) pad[i] = s->pad[i] == '1';
    return heed_ids(t, pad, s->batch, s->tk);
}

static heed_tensor *apply(outcome *o, const setting *s, path p, heed_tensor *pad) {
    heed_tensor **in = o->in, *qkv[] = {in[Q], in[K], in[V]};
    if (p == EXPLICIT)
        return heed_attention_explicit(heed_at(o->t, "attn"), in[Q], in[K], in[V], in[BIAS], pad,
                                       &s->args);
    if (p == FUSED)
        return heed_attention(heed_at(o->t, "attn"), in[Q], in[K], in[V], in[BIAS], pad, &s->args);
    heed_tensor *stack = heed_concat(o->t, 2, 3, qkv);
    return heed_self_attention(heed_at(o->t, "attn"), stack, in[BIAS], pad, &s->args);
}

/* Forward and backward; probes: patterns to probe with gradients, or NULL. */
static outcome run(const setting *s, path p, const char *probes) {
    const heed_attention_args *a = &s->args;
    outcome o = {.c = heed_open(&(heed_options){.seed = 5, .threads = 1})};
    o.t = heed_tape_new(o.c);
    if (probes) heed_probe(o.t, probes, true);
    heed_tape_begin(o.t, HEED_TRAIN, 9);
    o.in[Q] = draw(o.t, "q", S(s->batch, s->tq, a->heads * a->key));
    o.in[K] = draw(o.t, "k", S(s->batch, s->tk, a->heads * a->key));
    o.in[V] = draw(o.t, "v", S(s->batch, s->tk, a->heads * a->value));
    if (s->bias_batch)
        o.in[BIAS] = draw(o.t, "bias", S(s->bias_batch, s->bias_heads, s->tq, s->tk));
    o.y = apply(&o, s, p, pad_of(o.t, s));
    heed_tensor *gy = o.y ? draw(o.t, "gy", o.y->dims, o.y->shape) : NULL;
    heed_backward_from(o.t, o.y, gy ? gy->x : NULL);
    for (int i = 0; i < PROBES && probes; i++) {
        char name[32];
        snprintf(name, sizeof name, "attn.%s", value_names[i]);
        o.probe[i] = heed_probe_find(o.t, name);
    }
    return o;
}

static void check_same(const char *what, int line, const heed_real *a, const heed_real *b, size_t n,
                       double bar) {
    double most = 0, size = 0;
    for (size_t i = 0; a && b && i < n; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        size = fmax(size, fabs((double)b[i]));
        if (!isfinite((double)a[i]) || !isfinite((double)b[i])) most = INFINITY;
    }
    if (!a || !b || !(most <= bar * size))
        test_fail(__FILE__, line, "%s differ by %g of %g", what, most, size);
}

static void check_outcomes(const outcome *a, const outcome *b, double bar, int line) {
    static const char *const names[] = {"gradients of q", "gradients of k", "gradients of v",
                                        "gradients of the bias"};
    if (!a->y || !b->y) {
        test_fail(__FILE__, line, "%s%s", heed_ctx_error(a->c), heed_ctx_error(b->c));
        return;
    }
    check_same("outputs", line, a->y->x, b->y->x, b->y->size, bar);
    for (int i = 0; i < INPUTS; i++)
        if (a->in[i]) check_same(names[i], line, a->in[i]->g, b->in[i]->g, b->in[i]->size, bar);
    for (int i = 0; i < PROBES; i++) {
        if (!a->probe[i] || !b->probe[i]) continue;
        check_same(value_names[i], line, a->probe[i]->x, b->probe[i]->x, b->probe[i]->size, bar);
        check_same(value_names[i], line, a->probe[i]->g, b->probe[i]->g, b->probe[i]->size, bar);
    }
}

/* Key widths and value widths that differ, queries fewer and more than keys, rows that see nothing,
 * biases that broadcast, every switch. */
static const setting settings[] = {
    {1, 1, 1, 0, 0, NULL, {.heads = 1, .key = 1, .value = 1}},
    {2, 4, 4, 0, 0, NULL, {.heads = 2, .key = 3, .value = 5}},
    {2, 3, 7, 0, 0, NULL, {.heads = 3, .key = 4, .value = 2, .causal = true}},
    {1, 7, 3, 0, 0, NULL, {.heads = 2, .key = 4, .value = 4, .causal = true}},
    {3, 4, 4, 0, 0, "111100001010", {.heads = 2, .key = 4, .value = 3}},
    {3, 4, 4, 0, 0, "111100000101", {.heads = 2, .key = 4, .value = 3, .causal = true}},
    {2, 3, 5, 1, 1, NULL, {.heads = 2, .key = 2, .value = 3}},
    {2, 3, 5, 1, 2, NULL, {.heads = 2, .key = 2, .value = 3}},
    {2, 3, 5, 2, 1, NULL, {.heads = 2, .key = 2, .value = 3, .causal = true}},
    {2, 3, 5, 2, 2, "1101100111", {.heads = 2, .key = 2, .value = 3, .has_beta = true, .beta = 3}},
    {2, 6, 6, 0, 0, NULL, {.heads = 2, .key = 2, .value = 3, .has_beta = true, .beta = 0}},
    {2, 6, 6, 0, 0, NULL, {.heads = 2, .key = 4, .value = 4, .dropout = (heed_real)0.3}},
    {2,
     5,
     5,
     1,
     2,
     "1111000000",
     {.heads = 2, .key = 4, .value = 4, .dropout = (heed_real)0.5, .causal = true}},
    {2, 5, 6, 0, 0, NULL, {.heads = 2, .key = 4, .value = 3, .hard = true}},
    {2,
     5,
     5,
     2,
     1,
     "1110100000",
     {.heads = 2, .key = 4, .value = 3, .hard = true, .causal = true, .dropout = (heed_real)0.2}},
    {2, 70, 3, 1, 2, "101000", {.heads = 2, .key = 5, .value = 17, .causal = true}},
    {1,
     70,
     70,
     1,
     1,
     NULL,
     {.heads = 3, .key = 7, .value = 20, .causal = true, .hard = true, .dropout = (heed_real)0.2}},
    {2, 33, 65, 0, 0, NULL, {.heads = 2, .key = 16, .value = 8, .causal = true}},
    {1, 130, 130, 0, 0, NULL, {.heads = 1, .key = 32, .value = 32, .causal = true}},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

TEST(attention_fused_is_explicit) {
    for (int i = 0; i < SETTINGS; i++) {
        outcome a = run(&settings[i], FUSED, NULL), b = run(&settings[i], EXPLICIT, NULL);
        check_outcomes(&a, &b, agreement, i);
        CLOSE(a.c);
        CLOSE(b.c);
    }
}

TEST(attention_stacked_is_fused) {
    for (int i = 0; i < SETTINGS; i++) {
        if (settings[i].tq != settings[i].tk) continue;
        outcome a = run(&settings[i], STACKED, NULL), b = run(&settings[i], FUSED, NULL);
        check_outcomes(&a, &b, agreement, i);
        CLOSE(a.c);
        CLOSE(b.c);
    }
}

TEST(attention_probes_of_all_paths_agree) {
    for (int i = 0; i < SETTINGS; i++) {
        outcome a = run(&settings[i], FUSED, "attn.*"), b = run(&settings[i], EXPLICIT, "attn.*");
        for (int p = 0; p < PROBES; p++) CHECK(a.probe[p] && b.probe[p]);
        check_outcomes(&a, &b, agreement, i);
        if (settings[i].tq == settings[i].tk) {
            outcome s = run(&settings[i], STACKED, "attn.*");
            check_outcomes(&s, &a, agreement, i);
            CLOSE(s.c);
        }
        CLOSE(a.c);
        CLOSE(b.c);
    }
}

TEST(attention_probing_changes_nothing) {
    for (int i = 0; i < SETTINGS; i++)
        for (path p = FUSED; p <= (settings[i].tq == settings[i].tk ? STACKED : EXPLICIT); p++) {
            outcome a = run(&settings[i], p, "*"), b = run(&settings[i], p, NULL);
            check_outcomes(&a, &b, 0, i);
            CLOSE(a.c);
            CLOSE(b.c);
        }
}

/* In eval mode, too, the weights are there: rows sum to 1, and weights V is the output. */
TEST(attention_weights_are_the_ones_used) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_probe(t, "*.weights", false);
    heed_tape_begin(t, HEED_EVAL, 0);
    const heed_attention_args args = {.heads = 2, .key = 3, .value = 2, .dropout = (heed_real)0.5};
    heed_tensor *q = draw(t, "q", S(2, 3, 6)), *k = draw(t, "k", S(2, 5, 6));
    heed_tensor *v = draw(t, "v", S(2, 5, 4));
    heed_tensor *y = heed_attention(heed_at(t, "b.0"), q, k, v, NULL, NULL, &args);
    const heed_tensor *w = heed_probe_find(t, "b.0.weights");
    CHECK(w && heed_probe_count(t) == 1 && w->size == 2 * 2 * 3 * 5);
    for (int row = 0; row < 12; row++) {
        int item = row / 6, head = row / 3 % 2, i = row % 3;
        double sum = 0, mix[2] = {0};
        for (int j = 0; j < 5; j++) {
            double p = (double)w->x[row * 5 + j];
            sum += p;
            for (int d = 0; d < 2; d++)
                mix[d] += p * (double)v->x[(item * 5 + j) * 4 + head * 2 + d];
        }
        CHECK_CLOSE(sum, 1, 1e-6);
        for (int d = 0; d < 2; d++)
            CHECK_CLOSE(y->x[(item * 3 + i) * 4 + head * 2 + d], mix[d], 1e-6);
    }
    CLOSE(c);
}

/* What a padded or future key holds is of no consequence, and gets no gradient. */
TEST(attention_ignores_hidden_keys) {
    const setting s = {2, 3, 3, 0, 0, "110100", {.heads = 1, .key = 2, .value = 2, .causal = true}};
    outcome o = run(&s, FUSED, NULL);
    heed_real before[12];
    memcpy(before, o.y->x, sizeof before);
    for (int i = 4; i < 6; i++) /* item 0, token 2 */
        CHECK(o.in[K]->g[i] == 0 && o.in[V]->g[i] == 0);
    heed_tape_begin(o.t, HEED_TRAIN, 9);
    heed_tensor *q = draw(o.t, "q", S(2, 3, 2)), *k = draw(o.t, "k", S(2, 3, 2));
    heed_tensor *v = draw(o.t, "v", S(2, 3, 2));
    for (int i = 4; i < 6; i++) k->x[i] = v->x[i] = 50;
    heed_tensor *y = heed_attention(o.t, q, k, v, NULL, pad_of(o.t, &s), &s.args);
    check_same("outputs", __LINE__, y->x, before, 12, 0);
    CLOSE(o.c);
}

/* A query that sees no key. */
TEST(attention_of_nothing_is_zero_with_zero_gradients) {
    const setting s = {2, 2, 2, 1, 1, "1100", {.heads = 2, .key = 2, .value = 2}};
    for (path p = FUSED; p <= STACKED; p++) {
        outcome o = run(&s, p, NULL);
        for (int i = 8; i < 16; i++) {
            CHECK(o.y->x[i] == 0);
            for (int in = Q; in <= V; in++) CHECK(o.in[in]->g[i] == 0);
        }
        CHECK(o.y->x[0] != 0 && o.in[Q]->g[0] != 0);
        CLOSE(o.c);
    }
}

TEST(attention_without_temperature_is_the_mean) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    const heed_attention_args args = {.heads = 1, .key = 2, .value = 1, .has_beta = true};
    heed_tensor *q = draw(t, "q", S(1, 1, 2)), *k = draw(t, "k", S(1, 4, 2));
    heed_tensor *v = REALS(t, S(1, 4, 1), 1, 2, 3, 10);
    CHECK_VALUES(heed_attention(t, q, k, v, NULL, NULL, &args), tiny, 4);
    CLOSE(c);
}

TEST(attention_hard_takes_the_first_of_the_largest) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    const heed_attention_args args = {.heads = 1, .key = 1, .value = 1, .hard = true};
    heed_tensor *q = REALS(t, S(1, 2, 1), 1, -1), *k = REALS(t, S(1, 4, 1), 0, 2, 2, 0);
    heed_tensor *v = REALS(t, S(1, 4, 1), 10, 20, 30, 40);
    CHECK_VALUES(heed_attention(t, q, k, v, NULL, NULL, &args), 0, 20, 10);
    heed_tensor *pad = heed_ids(t, (int32_t[]){0, 0, 1, 1}, 1, 4);
    CHECK_VALUES(heed_attention(t, q, k, v, NULL, pad, &args), 0, 30, 40);
    CLOSE(c);
}

/* One score that is not a number, wherever it lies: the whole row says so, if it sees the key, and
 * the others are as without it. */
static void check_one_nan(heed_tape *t, int keys, int key, heed_attention_args args,
                          bool composed) {
    enum { QUERIES = 3, ROW = 1, WIDTH = 2 };
    heed_real y[2][QUERIES * WIDTH] = {{0}};
    for (int with = 0; with < 2; with++) {
        heed_tape_begin(t, HEED_EVAL, 0);
        heed_tensor *q = draw(t, "q", S(1, QUERIES, 2)), *k = draw(t, "k", S(1, keys, 2));
        heed_tensor *v = draw(t, "v", S(1, keys, WIDTH));
        heed_tensor *bias = draw(t, "bias", S(1, 1, QUERIES, keys));
        if (with) bias->x[ROW * keys + key] = (heed_real)NAN;
        const heed_tensor *out = composed ? heed_attention_explicit(t, q, k, v, bias, NULL, &args)
                                          : heed_attention(t, q, k, v, bias, NULL, &args);
        CHECK(out);
        if (out) memcpy(y[with], out->x, sizeof y[with]);
    }
    bool seen = !args.causal || key <= ROW + keys - QUERIES;
    for (int i = 0; i < QUERIES * WIDTH; i++) {
        bool lost = seen && i / WIDTH == ROW;
        CHECK(lost ? isnan(y[1][i]) : y[1][i] == y[0][i]);
    }
}

TEST(attention_with_one_score_that_is_not_a_number) {
    static const char *const sets[] = {"generic", "avx2", "avx512", "neon"};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        heed_ctx *c = heed_open(&(heed_options){.isa = sets[s], .threads = 1});
        if (heed_ctx_status(c) != HEED_OK && s > 0) { /* not of this machine */
            heed_close(c);
            continue;
        }
        heed_tape *t = heed_tape_new(c);
        for (int keys = 4; keys <= 36; keys += 16)
            for (int key = 0; key < keys; key++)
                for (int i = 0; i < 8; i++)
                    check_one_nan(
                        t, keys, key,
                        (heed_attention_args){
                            .heads = 1, .key = 2, .value = 2, .causal = i & 1, .hard = i & 2},
                        i & 4);
        CLOSE(c);
    }
}

/* The last query of fewer queries than keys sees every key: the cached tokens of generation. */
TEST(attention_causal_is_aligned_at_the_end) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_attention_args args = {.heads = 1, .key = 2, .value = 2, .causal = true};
    heed_tensor *q = draw(t, "q", S(1, 5, 2)), *k = draw(t, "k", S(1, 5, 2));
    heed_tensor *v = draw(t, "v", S(1, 5, 2));
    heed_tensor *all = heed_attention(t, q, k, v, NULL, NULL, &args);
    heed_tensor *two = heed_attention(t, heed_slice(t, q, 1, 3, 2), k, v, NULL, NULL, &args);
    check_same("outputs", __LINE__, two->x, all->x + 6, 4, agreement);
    args.causal = false;
    heed_tensor *last = heed_attention(t, heed_slice(t, q, 1, 4, 1), k, v, NULL, NULL, &args);
    check_same("outputs", __LINE__, last->x, all->x + 8, 2, agreement);
    CLOSE(c);
}

TEST(attention_names_what_does_not_fit) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_EVAL);
    heed_attention_args args = {.heads = 2, .key = 2, .value = 3};
    heed_tensor *q = heed_input(t, NULL, S(2, 3, 4)), *k = heed_input(t, NULL, S(2, 5, 4));
    heed_tensor *v = heed_input(t, NULL, S(2, 5, 6)), *one = heed_input(t, NULL, S(1, 5, 6));
    CHECK(heed_attention(t, q, k, v, NULL, NULL, &args));
    REFUSED(heed_attention(heed_at(t, "a"), q, k, k, NULL, NULL, &args),
            "attention at a: (2,5,4): v is not (B,T,6): 2 heads of 2 and 3");
    REFUSED(heed_attention(t, q, heed_input(t, NULL, S(2, 0, 4)), heed_input(t, NULL, S(2, 0, 6)),
                           NULL, NULL, &args),
            "(2,0,4): no keys to attend to");
    CHECK(heed_attention(t, heed_input(t, NULL, S(2, 0, 4)), k, v, NULL, NULL, &args));
    REFUSED(heed_attention(t, q, k, one, NULL, NULL, &args), "keys and values differ in number");
    REFUSED(heed_attention(t, heed_input(t, NULL, S(1, 3, 4)), k, v, NULL, NULL, &args),
            "the batches differ");
    REFUSED(heed_attention(t, q, k, v, heed_input(t, NULL, S(1, 3, 3, 5)), NULL, &args),
            "the score bias is not (1|2,1|2,3,5)");
    REFUSED(heed_attention(t, q, k, v, NULL, heed_ids(t, (int32_t[]){1, 1, 1, 1}, 2, 2), &args),
            "the padding mask is not (2,5)");
    REFUSED(heed_self_attention(heed_at(t, "a"), q, NULL, NULL, &args),
            "self_attention at a: (2,3,4): qkv is not (B,T,14)");
    REFUSED(heed_attention_explicit(heed_at(t, "a"), v, k, v, NULL, NULL, &args),
            "reshape at a: (2,5,6)");
    args.heads = 0;
    REFUSED(heed_attention(t, q, k, v, NULL, NULL, &args), "0 heads of key width 2");
    REFUSED(heed_attention_explicit(t, q, k, v, NULL, NULL, &args), "0 heads");
    REFUSED(heed_attention(t, q, k, v, NULL, NULL, NULL), "0 heads");
    args = (heed_attention_args){.heads = 2, .key = 2, .value = 3, .dropout = 1};
    REFUSED(heed_attention(t, q, k, v, NULL, NULL, &args), "dropout 1 is not in [0, 1)");
    CLOSE(c);
}

TEST(note_keeps_a_value_for_probes) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    heed_probe(t, "block.*", true);
    heed_tape_begin(t, HEED_TRAIN, 0);
    heed_tensor *x = heed_want_grad(t, REALS(t, S(2), 1, 2));
    heed_tensor *before = heed_scale(t, x, 3, 0);
    heed_tensor *y = heed_note(heed_at(t, "block.0"), before, "hidden");
    heed_tensor *beside = heed_sum(t, heed_scale(t, before, 5, 0));
    CHECK(heed_backward(t, heed_add(t, heed_sum(t, heed_mul(t, y, y)), beside)));
    heed_tensor *hidden = heed_probe_find(t, "block.0.hidden");
    CHECK_VALUES(hidden, 0, 3, 6);
    CHECK_GRADS(hidden, 0, 6, 12);
    CHECK_GRADS(x, 0, 18 + 15, 36 + 15);
    REFUSED(heed_note(t, x, "a name that is longer than any name of a value"), "letters");
    CLOSE(c);
}
