/* The fused attention against its explicit composition, its masks and selections, its probes. */
#include "kernels/kernels.h"
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
    bool pad;                   /* about a third of the keys is hidden, of the last item all */
    heed_attention_args args;
    bool large; /* scores near 1000, all exact: multiples of 1/16, and a bias */
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

static void make_exact(heed_tensor *x, heed_real add) {
    for (size_t i = 0; x && i < x->size; i++)
        x->x[i] = add + (heed_real)(rint(16 * (double)x->x[i]) / 16);
}

static heed_tensor *pad_of(heed_tape *t, const setting *s) {
    if (!s->pad) return NULL;
    heed_tensor *pad = heed_input_ids(t, NULL, 2, (int[]){s->batch, s->tk});
    heed_random r = heed_random_at(11, "pad", 0, 0);
    for (int i = 0; pad && i < s->batch * s->tk; i++)
        pad->i[i] =
            heed_random_below(&r, (uint64_t)i, 3) && (s->batch == 1 || i / s->tk < s->batch - 1);
    return pad;
}

static heed_tensor *apply(outcome *o, const setting *s, path p, heed_tensor *pad) {
    heed_tensor **in = o->in, *qkv[] = {in[Q], in[K], in[V]};
    heed_tape *at = heed_name_scope(o->t, "attn");
    heed_attention_args a = s->args;
    a.explicit_path = p == EXPLICIT;
    if (p == EXPLICIT || p == FUSED)
        return heed_attention(at, in[Q], in[K], in[V], in[BIAS], pad, &a);
    heed_tensor *stack = heed_concat(o->t, 2, 3, qkv);
    return heed_attention(at, stack, NULL, NULL, in[BIAS], pad, &a);
}

/* Forward and backward; probes: all values are probed with gradients. */
static bool in_bf16;
static outcome run(const setting *s, path p, bool probes, const char *isa, int threads) {
    const heed_attention_args *a = &s->args;
    int shared = a->kv_heads ? a->kv_heads : a->heads;
    outcome o = {.c = heed_open(&(heed_options){.seed = 5, .isa = isa, .threads = threads})};
    if (in_bf16) heed_set_precision(o.c, HEED_BF16);
    o.t = heed_tape_new(o.c);
    if (probes) heed_probe(o.t, "attn.*", true);
    heed_tape_begin(o.t, HEED_TRAIN, 9);
    o.in[Q] = draw(o.t, "q", S(s->batch, s->tq, a->heads * a->key));
    o.in[K] = draw(o.t, "k", S(s->batch, s->tk, shared * a->key));
    o.in[V] = draw(o.t, "v", S(s->batch, s->tk, shared * a->value));
    if (s->bias_batch)
        o.in[BIAS] = draw(o.t, "bias", S(s->bias_batch, s->bias_heads, s->tq, s->tk));
    if (s->large) {
        make_exact(o.in[Q], 0);
        make_exact(o.in[K], 0);
        make_exact(o.in[BIAS], 1000);
    }
    o.y = apply(&o, s, p, pad_of(o.t, s));
    heed_tensor *gy = o.y ? draw(o.t, "gy", o.y->dims, o.y->shape) : NULL;
    heed_backward_from(o.t, o.y, gy ? gy->x : NULL);
    for (int i = 0; i < PROBES && probes; i++) {
        char name[32];
        snprintf(name, sizeof name, "attn.%s", value_names[i]);
        o.probe[i] = heed_probe_find(o.t, name);
        CHECK(o.probe[i]);
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

/* Of a setting (its number is said where something differs): fused as composed, of one stacked
 * tensor as of three, probed to the bit as not probed, and the same bits for every team. */
static void check_paths(const setting *s, int number, const char *isa) {
    outcome e = run(s, EXPLICIT, true, isa, 1), probed = run(s, FUSED, true, isa, 1);
    outcome plain = run(s, FUSED, false, isa, 1), composed = run(s, EXPLICIT, false, isa, 1);
    check_outcomes(&probed, &e, agreement, number);
    check_outcomes(&plain, &probed, 0, number);
    check_outcomes(&composed, &e, 0, number);
    for (int threads = 2; threads <= 8; threads += threads == 2 ? 1 : 5) {
        outcome team = run(s, FUSED, threads == 3, isa, threads);
        check_outcomes(&team, &probed, 0, number);
        CLOSE(team.c);
    }
    for (int probes = 0; probes < 2 && s->tq == s->tk; probes++) {
        outcome stacked = run(s, STACKED, probes, isa, 1);
        check_outcomes(&stacked, &probed, agreement, number);
        CLOSE(stacked.c);
    }
    CLOSE(e.c);
    CLOSE(probed.c);
    CLOSE(plain.c);
    CLOSE(composed.c);
}

/* Key widths and value widths that differ, queries fewer and more than keys, rows that see nothing,
 * biases that broadcast, every switch; blocks of several sizes, of which the first may see no key.
 */
#define D(x) ((heed_real)(x))
static const setting settings[] = {
    {1, 1, 1, 0, 0, false, {.heads = 1, .key = 1, .value = 1}},
    {2, 4, 4, 0, 0, false, {.heads = 2, .key = 3, .value = 5}},
    {2, 3, 7, 0, 0, false, {.heads = 3, .key = 4, .value = 2, .causal = true}},
    {1, 7, 3, 0, 0, false, {.heads = 2, .key = 4, .value = 4, .causal = true}},
    {3, 4, 4, 0, 0, true, {.heads = 2, .key = 4, .value = 3}},
    {3, 4, 4, 0, 0, true, {.heads = 2, .key = 4, .value = 3, .causal = true}},
    {2, 3, 5, 1, 1, false, {.heads = 2, .key = 2, .value = 3}},
    {2, 3, 5, 1, 2, false, {.heads = 2, .key = 2, .value = 3}},
    {2, 3, 5, 2, 1, false, {.heads = 2, .key = 2, .value = 3, .causal = true}},
    {2, 3, 5, 2, 2, true, {.heads = 2, .key = 2, .value = 3, .has_beta = true, .beta = 3}},
    {2, 6, 6, 0, 0, false, {.heads = 2, .key = 2, .value = 3, .has_beta = true, .beta = 0}},
    {2, 6, 6, 0, 0, false, {.heads = 2, .key = 4, .value = 4, .dropout = D(0.3)}},
    {2, 5, 5, 1, 2, true, {.heads = 2, .key = 4, .value = 4, .dropout = D(0.5), .causal = true}},
    {2, 5, 6, 0, 0, false, {.heads = 2, .key = 4, .value = 3, .hard = true}},
    {2, 70, 3, 1, 2, true, {.heads = 2, .key = 5, .value = 17, .causal = true}},
    {2, 33, 65, 0, 0, false, {.heads = 2, .key = 16, .value = 8, .causal = true}},
    {1, 130, 130, 0, 0, false, {.heads = 1, .key = 32, .value = 32, .causal = true}},
    {1, 200, 333, 0, 0, false, {.heads = 2, .key = 33, .value = 70, .causal = true}},
    {2, 64, 64, 0, 0, false, {.heads = 2, .key = 32, .value = 20, .causal = true}},
    {2, 150, 170, 0, 0, false, {.heads = 2, .key = 32, .value = 20, .causal = true}},
    {1, 300, 300, 0, 0, false, {.heads = 2, .key = 32, .value = 20, .causal = true}},
    {2, 64, 64, 0, 0, false, {.heads = 3, .key = 16, .value = 16, .dropout = D(0.1)}},
    {2, 1, 65, 0, 0, false, {.heads = 3, .key = 3, .value = 40}},
    {2, 65, 17, 0, 0, false, {.heads = 3, .key = 40, .value = 1}},
    {3, 33, 50, 0, 0, true, {.heads = 2, .key = 8, .value = 12, .causal = true}},
    {3, 35, 41, 3, 6, false, {.heads = 6, .kv_heads = 1, .key = 5, .value = 9}},
    {3,
     35,
     41,
     1,
     6,
     false,
     {.heads = 6, .kv_heads = 2, .key = 5, .value = 9, .causal = true, .dropout = D(0.3)}},
    {2, 20, 35, 0, 0, true, {.heads = 2, .key = 16, .value = 8, .hard = true}},
    {2,
     20,
     35,
     0,
     0,
     false,
     {.heads = 2, .key = 16, .value = 8, .hard = true, .causal = true, .dropout = D(0.25)}},
    {2,
     5,
     70,
     0,
     0,
     true,
     {.heads = 1, .key = 4, .value = 4, .hard = true, .has_beta = true, .beta = 0}},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

TEST(attention_paths_probes_and_teams_agree) {
    for (const char *const *isa = heed__kernels_available(); *isa; isa++) {
        for (int i = 0; i < SETTINGS; i++) check_paths(&settings[i], i, *isa);
        for (int i = 0; i < 16; i++) { /* the first blocks of queries see no key */
            setting s = {
                2, 70, 5, i & 1, 2, i & 2, {.heads = 2, .key = 3, .value = 4, .causal = true}};
            s.args.hard = i & 4;
            s.args.dropout = i & 8 ? D(0.4) : 0;
            check_paths(&s, 100 + i, *isa);
        }
        for (int i = 0; i < 16; i++) { /* weights of 50 keys are kept for backward, of 90 not */
            setting s = {2,
                         40,
                         i & 1 ? 90 : 50,
                         1 + i % 2,
                         1 + i / 2 % 2,
                         i & 4,
                         {.heads = 2, .key = 4, .value = 8},
                         true};
            s.args.causal = i & 2;
            s.args.hard = i == 9;
            s.args.dropout = i & 8 ? D(0.3) : 0;
            s.args.has_beta = true, s.args.beta = 2;
            check_paths(&s, 200 + i, *isa);
        }
    }
}

/* In bf16 each array is within a few roundings of the result in fp32, and does round. */
TEST(attention_in_bf16_is_near_that_in_fp32) {
    static const setting shapes[] = {
        {2, 70, 70, 0, 0, false, {.heads = 2, .key = 32, .value = 32, .causal = true}},
        {2, 41, 97, 2, 2, true, {.heads = 2, .key = 40, .value = 33}},
        {1,
         64,
         64,
         0,
         0,
         false,
         {.heads = 4, .kv_heads = 2, .key = 32, .value = 64, .dropout = D(0.2)}},
        {1, 90, 66, 0, 0, false, {.heads = 1, .key = 32, .value = 32, .causal = true}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const setting *s = &shapes[i];
        outcome want = run(s, FUSED, false, NULL, 1), got[2];
        if (!heed_set_precision(want.c, HEED_BF16)) { /* not on this CPU */
            heed_close(want.c);
            return;
        }
        for (int team = 0; team < 2; team++) {
            in_bf16 = true;
            got[team] = run(s, FUSED, false, NULL, team ? 3 : 1);
            in_bf16 = false;
        }
        check_outcomes(&got[0], &want, 0.02, (int)i);
        check_outcomes(&got[1], &got[0], 0, (int)i);
        CHECK(memcmp(got[0].y->x, want.y->x, want.y->size * sizeof(heed_real)) != 0);
        CLOSE(got[0].c);
        CLOSE(got[1].c);
        CLOSE(want.c);
    }
}

/* What a padded or future key holds is of no consequence, and gets no gradient. */
TEST(attention_ignores_hidden_keys) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    const heed_attention_args args = {.heads = 1, .key = 2, .value = 2, .causal = true};
    heed_tensor *y[2], *pad = heed_ids(t, (int32_t[]){1, 1, 0, 1, 0, 0}, 2, 3);
    for (int changed = 0; changed < 2; changed++) {
        heed_tensor *q = draw(t, "q", S(2, 3, 2)), *k = draw(t, "k", S(2, 3, 2));
        heed_tensor *v = draw(t, "v", S(2, 3, 2));
        for (int i = 4; i < 6 && changed; i++) k->x[i] = v->x[i] = 50; /* item 0, token 2 */
        y[changed] = heed_attention(t, q, k, v, NULL, pad, &args);
        CHECK(heed_backward_from(t, y[changed], draw(t, "gy", S(2, 3, 2))->x));
        for (int i = 4; i < 6; i++) CHECK(k->g[i] == 0 && v->g[i] == 0);
    }
    check_same("outputs", __LINE__, y[1]->x, y[0]->x, 12, 0);
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
    args.explicit_path = composed;
    heed_real y[2][QUERIES * WIDTH] = {{0}};
    for (int with = 0; with < 2; with++) {
        heed_tape_begin(t, HEED_EVAL, 0);
        heed_tensor *q = draw(t, "q", S(1, QUERIES, 2)), *k = draw(t, "k", S(1, keys, 2));
        heed_tensor *v = draw(t, "v", S(1, keys, WIDTH));
        heed_tensor *bias = draw(t, "bias", S(1, 1, QUERIES, keys));
        if (with) bias->x[ROW * keys + key] = (heed_real)NAN;
        const heed_tensor *out = heed_attention(t, q, k, v, bias, NULL, &args);
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
    REFUSED(heed_attention(heed_name_scope(t, "a"), q, k, k, NULL, NULL, &args),
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
    REFUSED(heed_attention(heed_name_scope(t, "a"), q, NULL, NULL, NULL, NULL, &args),
            "self_attention at a: (2,3,4): qkv is not (B,T,14)");
    args.explicit_path = true;
    REFUSED(heed_attention(heed_name_scope(t, "a"), v, k, v, NULL, NULL, &args),
            "reshape at a: (2,5,6)");
    args.explicit_path = false;
    args.heads = 0;
    REFUSED(heed_attention(t, q, k, v, NULL, NULL, &args), "0 heads of key width 2");
    args.explicit_path = true;
    REFUSED(heed_attention(t, q, k, v, NULL, NULL, &args), "0 heads");
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
    heed_tensor *y = heed_name_tensor(heed_name_scope(t, "block.0"), before, "hidden");
    heed_tensor *beside = heed_sum(t, heed_scale(t, before, 5, 0));
    CHECK(heed_backward(t, heed_add(t, heed_sum(t, heed_mul(t, y, y)), beside)));
    heed_tensor *hidden = heed_probe_find(t, "block.0.hidden");
    CHECK_VALUES(hidden, 0, 3, 6);
    CHECK_GRADS(hidden, 0, 6, 12);
    CHECK_GRADS(x, 0, 18 + 15, 36 + 15);
    REFUSED(heed_name_tensor(t, x, "a name that is longer than any name of a value"), "letters");
    CLOSE(c);
}
