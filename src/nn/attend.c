/* attend.c -- single-head attention with a choice of similarity: additive attention (2015), dot
 * products, and separate keys and values. */
#include "core/tape.h"
#include "nn/nn.h"

#include <math.h>

static int key_width(const heed_attention_layer_args *a) { return a->key ? a->key : a->input; }

static bool check(heed_ctx *c, const char *name, const heed_attention_layer_args *a) {
    if (a->query < 1 || a->input < 1)
        return heed_fail(
            c, HEED_USAGE,
            "size of attention is wrong: %s: expected positive widths, found query %d, "
            "input %d",
            name, a->query, a->input);
    bool product = a->kind == HEED_DOT || a->kind == HEED_SCALED_DOT;
    if (!product || a->key || a->query == a->input) return true;
    return heed_fail(c, HEED_USAGE,
                     "dot product of two widths: %s: expected query width = input width, found %d "
                     "and %d; hint: set a key width, or use the additive or general form",
                     name, a->query, a->input);
}

static void alignment(heed_attention_layer *l, heed_params *s) {
    const heed_attention_layer_args *a = &l->args;
    int query = a->key ? a->key : a->query, key = key_width(a);
    if (a->kind == HEED_GENERAL)
        heed_linear_init(&l->w, s, "w", (heed_linear_args){key, query, true, a->init});
    if (a->kind != HEED_ADDITIVE) return;
    heed_linear_init(&l->w, s, "w", (heed_linear_args){query, a->inner, !a->all_biases, a->init});
    heed_linear_init(&l->u, s, "u", (heed_linear_args){key, a->inner, false, a->init});
    heed_linear_init(&l->score, s, "score",
                     (heed_linear_args){a->inner, 1, !a->all_biases, a->init});
}

void heed_attention_layer_init(heed_attention_layer *l, heed_params *s, const char *name,
                               heed_attention_layer_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    if (!a.inner) a.inner = a.input;
    *l = (heed_attention_layer){.name = heed_scope_push(s, "%s", name), .args = a};
    if (l->name && check(heed_params_ctx(s), l->name, &a)) {
        if (a.key) {
            heed_linear_init(&l->q, s, "query", (heed_linear_args){a.query, a.key, true, a.init});
            heed_linear_init(&l->k, s, "key", (heed_linear_args){a.input, a.key, true, a.init});
        }
        if (a.value)
            heed_linear_init(&l->v, s, "value", (heed_linear_args){a.input, a.value, true, a.init});
        alignment(l, s);
    }
    heed_scope_pop(s);
}

/* (B,S) as (B,1,S): one row of keys for every query. */
static heed_tensor *spread(const heed_attention_layer *l, heed_tape *t, const heed_tensor *pad) {
    if (!pad) return NULL;
    if (!pad->i || pad->dims != 2)
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "padding is wrong: %s: expected a mask of (B,S) from heed_ids", l->name);
    return heed_input_ids(t, pad->i, 3, (int[]){pad->shape[0], 1, pad->shape[1]});
}

/* Returns x, and keeps it under the layer's name if a probe requests it. */
static heed_tensor *keep(const heed_attention_layer *l, heed_tape *t, heed_tensor *x,
                         const char *value) {
    if (!x || !heed__is_probed(t, l->name, value)) return x;
    return heed_name_tensor(heed_name_scope(t, l->name), x, value);
}

heed_attention_kv heed_attention_layer_kv(const heed_attention_layer *l, heed_tape *t,
                                          heed_tensor *inputs, heed_tensor *pad) {
    if (!heed__layer_given(l, t)) return (heed_attention_kv){0};
    heed_attention_kv m = {.keys = inputs, .values = inputs, .mask = spread(l, t, pad)};
    if (l->k.w) m.keys = heed_linear_apply(&l->k, t, inputs);
    if (l->v.w) m.values = heed_linear_apply(&l->v, t, inputs);
    if (l->u.w)
        m.keys = heed_linear_apply(&l->u, t, m.keys);
    else if (l->w.w)
        m.keys = heed_linear_apply(&l->w, t, m.keys);
    m.keys = keep(l, t, m.keys, "k");
    m.values = keep(l, t, m.values, "v");
    return m;
}

/* The vectors that are compared with the keys; in the additive form, W q. */
static heed_tensor *queries(const heed_attention_layer *l, heed_tape *t, heed_tensor *q) {
    if (l->q.w) q = heed_linear_apply(&l->q, t, q);
    return l->args.kind == HEED_ADDITIVE ? heed_linear_apply(&l->w, t, q) : q;
}

/* v' tanh(W q + U k + b) for every pair: (B,Tq,S). Here q is W q and k is U k + b. */
static heed_tensor *additive(const heed_attention_layer *l, heed_tape *t, heed_tensor *q,
                             heed_tensor *k) {
    if (!q || !k) return NULL;
    if (q->dims != 3 || k->dims != 3) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "attention does not fit: %s: expected queries (B,T,d) and keys (B,S,d), found %d "
                  "and %d dims",
                  l->name, q->dims, k->dims);
        return NULL;
    }
    int batch = q->shape[0], tq = q->shape[1], s = k->shape[1], inner = q->shape[2];
    q = heed_reshape(t, q, 4, (int[]){batch, tq, 1, inner});
    k = heed_reshape(t, k, 4, (int[]){batch, 1, s, inner});
    heed_tensor *e = heed_tanh(t, heed_add(t, q, k));
    return heed_reshape(t, heed_linear_apply(&l->score, t, e), 3, (int[]){batch, tq, s});
}

static heed_tensor *scores(const heed_attention_layer *l, heed_tape *t, heed_tensor *q,
                           heed_tensor *k) {
    const heed_attention_layer_args *a = &l->args;
    heed_tensor *e = a->kind == HEED_ADDITIVE ? additive(l, t, q, k)
                                              : heed_matmul_nt(heed_name_scope(t, l->name), q, k);
    if (a->has_beta) return heed_scale(t, e, a->beta, 0);
    if (a->kind != HEED_SCALED_DOT) return e;
    return heed_scale(t, e, (heed_real)(1 / sqrt(key_width(a))), 0);
}

static heed_tensor *weights(const heed_attention_layer *l, heed_tape *t, heed_tensor *e,
                            heed_tensor *mask) {
    heed_tape *at = heed_name_scope(t, l->name);
    return l->args.hard ? heed_hardmax(at, e, 1, mask) : heed_softmax(at, e, 1, mask);
}

heed_attended heed_attention_layer_apply(const heed_attention_layer *l, heed_tape *t,
                                         heed_tensor *query, const heed_attention_kv *m,
                                         bool probed) {
    if (!heed__layer_given(l, t) || !m) return (heed_attended){0};
    heed_attended a = {.q = queries(l, t, query)};
    if (probed) a.q = keep(l, t, a.q, "q");
    a.scores = scores(l, t, a.q, m->keys);
    if (probed) a.scores = keep(l, t, a.scores, "scores");
    a.weights = weights(l, t, a.scores, m->mask);
    if (probed) a.weights = keep(l, t, a.weights, "weights");
    a.context = heed_matmul(t, a.weights, m->values);
    return a;
}

void heed_attention_layer_note(const heed_attention_layer *l, heed_tape *t, int steps,
                               const heed_attended *a) {
    static const char *const values[] = {"q", "scores", "weights"};
    heed_tensor *list[HEED_ATTEND_STEPS];
    if (!heed__layer_given(l, t) || !a || steps < 1) return;
    for (int i = 0; i < 3; i++) {
        if (steps > HEED_ATTEND_STEPS || !heed__is_probed(t, l->name, values[i])) continue;
        for (int k = 0; k < steps; k++)
            list[k] = i == 0 ? a[k].q : i == 1 ? a[k].scores : a[k].weights;
        keep(l, t, steps > 1 ? heed_concat(t, 1, steps, list) : list[0], values[i]);
    }
}

/* ---- check cases ---- */

typedef struct {
    heed_attention_layer attend;
    heed_tensor *inputs; /* (2,4,8) */
} attend_case;

static void case_init(void *self, heed_params *s, const void *args) {
    attend_case *l = self;
    heed_attention_layer_init(&l->attend, s, "attend", *(const heed_attention_layer_args *)args);
    l->inputs =
        heed_param_new(s, "inputs", "normal:1", 3, (int[]){HEED_CASE_ROWS, 4, HEED_CASE_WIDTH});
}

static heed_tensor *case_apply(const void *self, heed_tape *t, heed_tensor *x) {
    const attend_case *l = self;
    heed_tensor *pad = heed_ids(t, (int32_t[]){1, 1, 0, 1, 1, 1, 1, 1}, HEED_CASE_ROWS, 4);
    heed_attention_kv kv = heed_attention_layer_kv(&l->attend, t, l->inputs, pad);
    return heed_attention_layer_apply(&l->attend, t, x, &kv, true).context;
}

#define CASE(name, ...)                                                                            \
    {                                                                                              \
        name, sizeof(attend_case), case_init, case_apply, &(const heed_attention_layer_args) {     \
            .query = HEED_CASE_WIDTH, .input = HEED_CASE_WIDTH, __VA_ARGS__                        \
        }                                                                                          \
    }
const heed_layer_case heed_layers_attend[] = {
    CASE("attend additive", .kind = HEED_ADDITIVE),
    CASE("attend dot", .kind = HEED_DOT),
    CASE("attend scaled", .kind = HEED_SCALED_DOT, .key = 3, .value = 2),
    CASE("attend general", .kind = HEED_GENERAL),
    {0}};
