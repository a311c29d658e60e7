/* attention.c -- fused multi-head scaled dot-product attention. Vaswani et al. 2017, eq. 1, per
 * head: S = beta Q K' + score_bias, W = softmax(S over the visible keys), Y = dropout(W) V.
 * Backward, with gW = dropout'(gY V') and gS = W (gW - rowsum(gW W)): gQ = beta gS K,
 * gK = beta gS' Q, gV = dropout(W)' gY, gbias = gS summed where it broadcasts. A hard selection
 * uses the one-hot instead of W in Y and gV; its gS is the soft one's. Heads that share keys and
 * values add to the same gK and gV. */
#include "ops/shape.h"
#include <math.h>

enum { Q, K, V, BIAS, PAD };

/* Where q, k and v are: their inputs, first elements, and distances between tokens. Without an
 * input v, k holds both, and without k, q holds all three. */
typedef struct {
    int input[3];
    size_t offset[3], stride[3];
} layout;

static int kv_heads(const heed_attention_args *a) { return a->kv_heads ? a->kv_heads : a->heads; }

static layout layout_of(const heed_node *n) {
    const heed_attention_args *a = n->args;
    size_t queries = (size_t)a->heads * (size_t)a->key;
    size_t keys = (size_t)kv_heads(a) * (size_t)a->key;
    size_t values = (size_t)kv_heads(a) * (size_t)a->value, all = queries + keys + values;
    if (n->in[V]) return (layout){{Q, K, V}, {0}, {queries, keys, values}};
    if (n->in[K]) return (layout){{Q, K, K}, {0, 0, keys}, {queries, keys + values, keys + values}};
    return (layout){{0}, {0, queries, queries + keys}, {all, all, all}};
}

/* ---- shapes ---- */

static bool check_args(heed_node *n) {
    const heed_attention_args *a = n->args;
    if (a->heads < 1 || a->key < 1 || a->value < 1 || a->heads > (1 << 20) || a->key > (1 << 20) ||
        a->value > (1 << 20))
        return heed_op_error(n, "%d heads of key width %d and value width %d: each must be 1 .. %d",
                             a->heads, a->key, a->value, 1 << 20);
    if (a->kv_heads < 0 || a->heads % kv_heads(a))
        return heed_op_error(n, "%d heads do not share %d heads of keys and values equally",
                             a->heads, a->kv_heads);
    if (!(a->dropout >= 0 && a->dropout < 1))
        return heed_op_error(n, "the dropout %g is not in [0, 1)", (double)a->dropout);
    return n->in[K] || !n->in[V] || heed_op_error(n, "there are values, but no keys");
}

static bool check_extras(heed_node *n, int batch, int tq, int tk) {
    const heed_attention_args *a = n->args;
    const heed_tensor *bias = n->in[BIAS], *pad = n->in[PAD];
    if (bias && (bias->dims != 4 || (bias->shape[0] != 1 && bias->shape[0] != batch) ||
                 (bias->shape[1] != 1 && bias->shape[1] != a->heads) || bias->shape[2] != tq ||
                 bias->shape[3] != tk))
        return heed__bad_shape(n, BIAS, "the score bias is not (1|%d,1|%d,%d,%d)", batch, a->heads,
                               tq, tk);
    if (pad && (pad->dims != 2 || pad->shape[0] != batch || pad->shape[1] != tk))
        return heed__bad_shape(n, PAD, "the padding mask is not (%d,%d)", batch, tk);
    return true;
}

static bool check_parts(heed_node *n, const layout *l) {
    const char *const names[] = {n->in[K] ? "q" : "qkv", n->in[V] ? "k" : "kv", "v"};
    const heed_attention_args *a = n->args;
    for (int i = 0; i < 3 && n->in[i]; i++) {
        const heed_tensor *x = n->in[i];
        if (x->dims != 3 || (size_t)x->shape[2] != l->stride[i])
            return heed__bad_shape(n, i, "%s is not (B,T,%zu): %d heads of %d and %d", names[i],
                                   l->stride[i], i ? kv_heads(a) : a->heads, a->key, a->value);
    }
    const heed_tensor *q = n->in[l->input[0]], *k = n->in[l->input[1]], *v = n->in[l->input[2]];
    if (q->shape[0] != k->shape[0]) return heed__bad_shapes(n, 0, 1, "the batches differ");
    if (k->shape[0] != v->shape[0] || k->shape[1] != v->shape[1])
        return heed__bad_shapes(n, l->input[1], l->input[2], "keys and values differ in number");
    return k->shape[1] > 0 || heed__bad_shape(n, l->input[1], "no keys to attend to");
}

/* ---- the kernel's job ---- */

static heed_tensor *kept(const heed_node *n, const char *name) {
    for (int i = 0; i < n->kept_count; i++)
        if (!strcmp(n->kept_name[i], name)) return n->kept[i];
    return NULL;
}

static heed_attention_job job_of(const heed_node *n) {
    const heed_attention_args *a = n->args;
    layout l = layout_of(n);
    const heed_tensor *q = n->in[l.input[0]], *k = n->in[l.input[1]], *v = n->in[l.input[2]];
    const heed_tensor *bias = n->in[BIAS], *pad = n->in[PAD];
    size_t square = (size_t)q->shape[1] * (size_t)k->shape[1];
    heed_attention_job j = {.batch = q->shape[0],
                            .heads = a->heads,
                            .tq = q->shape[1],
                            .tk = k->shape[1],
                            .key = a->key,
                            .value = a->value,
                            .group = a->heads / kv_heads(a),
                            .q = q->x + l.offset[0],
                            .k = k->x + l.offset[1],
                            .v = v->x + l.offset[2],
                            .ldq = l.stride[0],
                            .ldk = l.stride[1],
                            .ldv = l.stride[2],
                            .pad = pad ? pad->i : NULL,
                            .dropout = n->training ? a->dropout : 0,
                            .beta = a->has_beta ? a->beta : (heed_real)(1 / sqrt(a->key)),
                            .causal = a->causal,
                            .hard = a->hard,
                            .bf16 = n->training,
                            .random = heed_node_random(n),
                            .y = n->y->x,
                            .ldy = (size_t)a->heads * (size_t)a->value,
                            .kept = n->scratch};
    const heed_tensor *weights = kept(n, "weights"), *scores = kept(n, "scores");
    if (weights) j.weights = weights->x;
    if (scores) j.scores = scores->x;
    if (bias) {
        j.bias = bias->x;
        j.bias_h = bias->shape[1] > 1 ? square : 0;
        j.bias_b = bias->shape[0] > 1 ? square * (size_t)bias->shape[1] : 0;
    }
    return j;
}

/* ---- values for probes ---- */

static const char *const part_names[] = {"q", "k", "v"};

static bool keep_probed(heed_node *n, int batch, int tq, int tk) {
    const heed_attention_args *a = n->args;
    int square[] = {batch, a->heads, tq, tk};
    for (int i = 0; i < 3; i++) {
        int part[] = {batch, i ? kv_heads(a) : a->heads, i ? tk : tq, i < 2 ? a->key : a->value};
        if (heed_probe_get(n, part_names[i]) && !heed_op_save(n, part_names[i], 4, part))
            return false;
    }
    if (heed_probe_get(n, "scores") && !heed_op_save(n, "scores", 4, square)) return false;
    return !heed_probe_get(n, "weights") || heed_op_save(n, "weights", 4, square);
}

/* to (B,h,T,c) = from (B,T,h c), whose tokens are stride apart */
static void split_heads(const heed_tensor *like, heed_real *to, const heed_real *from,
                        size_t stride) {
    size_t heads = (size_t)like->shape[1], len = (size_t)like->shape[2],
           width = (size_t)like->shape[3];
    for (size_t row = 0; row < like->size / (width ? width : 1); row++) {
        size_t token = row % len, head = row / len % heads, item = row / len / heads;
        memcpy(to + row * width, from + (item * len + token) * stride + head * width,
               width * sizeof *to);
    }
}

/* ---- forward and backward ---- */

static bool infer(heed_node *n) {
    const heed_attention_args *a = n->args;
    if (!check_args(n)) return false;
    layout l = layout_of(n);
    if (!check_parts(n, &l)) return false;
    int batch = n->in[Q]->shape[0], tq = n->in[Q]->shape[1], tk = n->in[l.input[K]]->shape[1];
    if (!check_extras(n, batch, tq, tk) || !keep_probed(n, batch, tq, tk)) return false;
    return heed_op_output(n, 3, (int[]){batch, tq, a->heads * a->value});
}

static void forward(heed_node *n) {
    heed_attention_job j = job_of(n);
    if (n->recording) {
        j.kept = n->scratch = heed_scratch(n, n->k->attention_kept(n->k, &j) * sizeof *j.kept);
        if (!j.kept) return;
    }
    size_t bytes = n->k->attention_scratch(n->k, &j, false);
    void *capacity = heed_scratch(n, bytes);
    if (!capacity) return;
    n->k->attention(n->k, &j, capacity);
    heed_scratch_done(n, capacity, bytes);
    layout l = layout_of(n);
    for (int i = 0; i < 3; i++) {
        const heed_tensor *part = kept(n, part_names[i]);
        if (part) split_heads(part, part->x, n->in[l.input[i]]->x + l.offset[i], l.stride[i]);
    }
}

/* The array to which the kernel adds the gradient of input i. If a part of it is probed, that is
 * separate memory, because a probe wants the gradient of this op alone. */
static heed_real *grad_target(heed_node *n, const layout *l, int i, bool *apart, bool *add) {
    *apart = *add = false;
    for (int p = 0; p < 3; p++) {
        const heed_tensor *part = kept(n, part_names[p]);
        if (l->input[p] == i && part && part->g) *apart = true;
    }
    size_t size = n->in[i]->size;
    heed_real *g = *apart ? heed_scratch(n, size * sizeof *g) : heed_grad_into(n, i, add);
    return g;
}

static void hand_on(heed_node *n, const layout *l, heed_real *const target[3],
                    const bool apart[3]) {
    for (int p = 0; p < 3; p++) {
        const heed_tensor *part = kept(n, part_names[p]);
        if (part && part->g)
            split_heads(part, part->g, target[l->input[p]] + l->offset[p], l->stride[p]);
    }
    for (int i = 0; i < BIAS; i++) {
        heed_real *g = apart[i] ? heed_grad(n, i) : NULL;
        if (g) n->k->axpy(n->k, g, target[i], 1, n->in[i]->size);
    }
}

static void backward(heed_node *n) {
    heed_attention_job j = job_of(n);
    layout l = layout_of(n);
    heed_real *target[3] = {NULL};
    bool apart[3] = {false}, old[3] = {false};
    for (int i = 0; i < BIAS && n->in[i]; i++) {
        target[i] = grad_target(n, &l, i, &apart[i], &old[i]);
        if (apart[i] && !target[i]) return;
    }
    /* If all arrays are new, they are distinct, and the kernel writes every element. */
    bool write = n->y->size > 0 && !old[0] && !old[1] && !old[2];
    for (int i = 0; i < BIAS && !write; i++)
        if (target[i] && !old[i]) n->k->fill(n->k, target[i], 0, n->in[i]->size);
    for (int p = 0; p < 3; p++) j.add[p] = !write;
    heed_real **part[] = {&j.gq, &j.gk, &j.gv};
    for (int p = 0; p < 3; p++)
        if (target[l.input[p]]) *part[p] = target[l.input[p]] + l.offset[p];
    const heed_tensor *weights = kept(n, "weights"), *scores = kept(n, "scores");
    j.gy = n->y->g;
    j.gbias = heed_grad(n, BIAS);
    j.gweights = weights ? weights->g : NULL;
    j.gscores = scores ? scores->g : NULL;
    size_t bytes = n->k->attention_scratch(n->k, &j, true);
    void *capacity = heed_scratch(n, bytes);
    if (!capacity) return;
    n->k->attention_grad(n->k, &j, capacity);
    heed_scratch_done(n, capacity, bytes);
    hand_on(n, &l, target, apart);
}

/* ---- check cases; the gradient of v uses the hard weights, so a surrogate case omits v ---- */

extern const heed_op heed_ops_attention[4];

#define ARGS(h, e, d, ...)                                                                         \
    &(const heed_attention_args) { .heads = h, .key = e, .value = d, __VA_ARGS__ }
#define PLAIN     .hard = false
#define CAUSAL    .causal = true
#define HALF      .dropout = (heed_real)0.5
#define BETA      .has_beta = true, .beta
#define SHARED(n) .kv_heads = (n)
static const heed_case cases[] = {
    {.shapes = "1x1x1 1x1x1 1x1x1 - -", .args = ARGS(1, 1, 1, PLAIN)},
    {.shapes = "2x3x4 2x5x4 2x5x6 - -", .args = ARGS(2, 2, 3, PLAIN)},
    {.shapes = "2x3x4 2x5x4 2x5x2 - -", .args = ARGS(2, 2, 1, CAUSAL)},
    {.shapes = "1x5x3 1x3x3 1x3x2 - -", .args = ARGS(1, 3, 2, CAUSAL)}, /* two queries see no key */
    {.shapes = "3x4x4 3x4x4 3x4x4 - m3x4", .args = ARGS(2, 2, 2, PLAIN)},
    {.shapes = "8x2x4 8x2x4 8x2x4 - m8x2",
     .args = ARGS(2, 2, 2, CAUSAL)}, /* some queries see none */
    {.shapes = "2x3x4 2x5x4 2x5x6 2x2x3x5 -", .args = ARGS(2, 2, 3, PLAIN)},
    {.shapes = "2x3x4 2x5x4 2x5x6 1x2x3x5 m2x5", .args = ARGS(2, 2, 3, PLAIN)},
    {.shapes = "2x3x4 2x5x4 2x5x6 2x1x3x5 -", .args = ARGS(2, 2, 3, CAUSAL)},
    {.shapes = "2x3x4 2x5x4 2x5x6 1x1x3x5 -", .args = ARGS(2, 2, 3, BETA = 2)},
    {.shapes = "2x3x4 2x5x4 2x5x6 - -", .args = ARGS(2, 2, 3, BETA = 0)},
    {.shapes = "2x3x4 2x5x4 2x5x6 - -", .args = ARGS(2, 2, 3, HALF)},
    {.shapes = "2x9x6 2x9x6 2x9x3 1x3x9x9 m2x9", .args = ARGS(3, 2, 1, HALF, CAUSAL)},
    {.shapes = "1x9x4 1x17x4 1x17x4 - -", .args = ARGS(1, 4, 4, PLAIN)},
    {.shapes = "2x3x8 2x5x4 2x5x6 - m2x5", .args = ARGS(4, 2, 3, SHARED(2))},
    {.shapes = "2x5x6 2x5x2 2x5x1 1x3x5x5 -", .args = ARGS(3, 2, 1, SHARED(1), HALF, CAUSAL)},
    {.shapes = "2x3x8 2x5x4 2x5x6 1x1x3x5 -", .args = ARGS(4, 2, 3, SHARED(2))},
    {.shapes = "2x3x4 2x5x4 2x5x6 2x2x3x5 m2x5",
     .args = ARGS(2, 2, 3, .hard = true),
     .surrogate = &(const heed_surrogate){heed_ops_attention, ARGS(2, 2, 3, PLAIN)},
     .fixed = 1u << 2},
    {0}};
static const heed_case cross_cases[] = {
    {.shapes = "1x1x1 1x1x2 - - -", .args = ARGS(1, 1, 1, PLAIN)},
    {.shapes = "2x3x4 2x5x10 - 2x2x3x5 m2x5", .args = ARGS(2, 2, 3, PLAIN)},
    {.shapes = "2x3x4 2x5x6 - - -", .args = ARGS(2, 2, 1, CAUSAL, HALF)},
    {.shapes = "2x0x4 2x5x10 - - -", .args = ARGS(2, 2, 3, PLAIN)},
    {.shapes = "2x3x8 2x5x10 - - m2x5", .args = ARGS(4, 2, 3, SHARED(2))},
    {0}};
static const heed_case self_cases[] = {
    {.shapes = "1x1x3 - - - -", .args = ARGS(1, 1, 1, PLAIN)},
    {.shapes = "2x3x14 - - - -", .args = ARGS(2, 2, 3, PLAIN)},
    {.shapes = "2x5x10 - - - m2x5", .args = ARGS(2, 2, 1, CAUSAL)},
    {.shapes = "2x5x14 - - 1x2x5x5 -", .args = ARGS(2, 2, 3, CAUSAL)},
    {.shapes = "2x5x14 - - 2x1x5x5 m2x5", .args = ARGS(2, 2, 3, HALF)},
    {.shapes = "1x17x24 - - - -", .args = ARGS(2, 4, 4, CAUSAL)},
    {.shapes = "2x5x18 - - 1x4x5x5 m2x5", .args = ARGS(4, 2, 3, SHARED(2), CAUSAL)},
    {0}};

const heed_op heed_ops_attention[] = {
    {"attention", "rrrr?i?", infer, forward, backward, cases, sizeof(heed_attention_args)},
    {"cross_attention", "rrr?r?i?", infer, forward, backward, cross_cases,
     sizeof(heed_attention_args)},
    {"self_attention", "rr?r?r?i?", infer, forward, backward, self_cases,
     sizeof(heed_attention_args)},
    {0}};

/* ---- attention composed of other ops, all under the name set by heed_name_scope ---- */

static const int by_head[] = {0, 2, 1, 3};

/* (B,T,h c) -> (B,h,T,c) */
static heed_tensor *by_heads(heed_tape *t, const char *name, heed_tensor *x, int heads, int width,
                             const char *value) {
    if (!x) return NULL;
    int shape[] = {x->shape[0], x->shape[1], heads, width};
    heed_tensor *y = heed_reshape(heed_name_scope(t, name), x, 4, shape);
    y = heed_permute(heed_name_scope(t, name), y, by_head);
    return heed_name_tensor(heed_name_scope(t, name), y, value);
}

/* 1 where query i of item b sees key j: (B or 1, 1, Tq, Tk); NULL: every query sees every key. */
static heed_tensor *seen(heed_tape *t, const heed_tensor *scores, const heed_tensor *pad,
                         bool causal) {
    if (!scores || (!pad && !causal)) return NULL;
    int batch = pad ? scores->shape[0] : 1, tq = scores->shape[2], tk = scores->shape[3];
    heed_tensor *mask = heed_input(t, NULL, 4, (int[]){batch, 1, tq, tk});
    if (!mask) return NULL;
    int32_t *m = mask->i = (void *)mask->x; /* a real is at least as large */
    mask->x = NULL;
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < tq; i++)
            for (int j = 0; j < tk; j++)
                *m++ = (!causal || j <= i + tk - tq) && (!pad || pad->i[b * tk + j]);
    return mask;
}

/* (B,h,T,c) <-> (B,g,h/g T,c), a view: the queries of heads that share keys are the rows of one
 * matrix. Without sharing, x. */
static heed_tensor *regroup(heed_tape *t, const char *name, heed_tensor *x, int from, int to) {
    if (!x || from == to) return x;
    int shape[] = {x->shape[0], to, x->shape[2] * from / to, x->shape[3]};
    return heed_reshape(heed_name_scope(t, name), x, 4, shape);
}

/* What is wrong with the inputs; NULL: nothing. */
static const char *problem(heed_tensor *const qkv[3], const heed_tensor *pad,
                           const heed_attention_args *a) {
    for (int i = 0; i < 3; i++)
        if (qkv[i] && qkv[i]->dims != 3) return "q, k or v is not (B,T,width)";
    if (!qkv[Q] || (qkv[V] && !qkv[K])) return "q, k or v is NULL";
    if (a->heads < 1 || a->key < 1 || a->value < 1) return "0 heads, or heads of width 0";
    if (a->kv_heads < 0 || a->heads % kv_heads(a))
        return "the heads do not share the heads of keys and values equally";
    const int *keys = qkv[qkv[K] ? K : Q]->shape;
    if (pad && (!pad->i || pad->dims != 2 || pad->shape[0] != keys[0] || pad->shape[1] != keys[1]))
        return "the padding mask is not (B,Tk)";
    return NULL;
}

static heed_tensor *composed(heed_tape *t, heed_tensor *x[3], heed_tensor *score_bias,
                             heed_tensor *pad, const heed_attention_args *a) {
    const char *name = heed__take_name(t), *wrong = problem(x, pad, a);
    if (wrong) heed__fail_at(heed_tape_ctx(t), HEED_USAGE, "attention", name, "%s", wrong);
    if (wrong) return NULL;
    static const char *const values[] = {"q", "k", "v"};
    heed_real beta = a->has_beta ? a->beta : (heed_real)(1 / sqrt(a->key));
    int shape[] = {x[Q]->shape[0], x[Q]->shape[1], a->heads * a->value};
    int heads = a->heads, shared = kv_heads(a), width[] = {a->key, a->key, a->value};
    heed_tensor *stack = x[V] ? NULL : x[K] ? x[K] : x[Q];
    for (int i = x[K] ? K : Q, from = 0; stack && i < 3; i++) {
        int columns = (i == Q ? heads : shared) * width[i];
        x[i] = heed_slice(t, stack, 2, from, columns);
        from += columns;
    }
    for (int i = 0; i < 3; i++)
        x[i] = by_heads(t, name, x[i], i == Q ? heads : shared, width[i], values[i]);
    heed_tensor *s =
        heed_matmul_nt(heed_name_scope(t, name), regroup(t, name, x[Q], heads, shared), x[K]);
    s = regroup(t, name, s, shared, heads);
    s = heed_scale(heed_name_scope(t, name), s, beta, 0);
    if (score_bias) s = heed_add(heed_name_scope(t, name), s, score_bias);
    s = heed_name_tensor(heed_name_scope(t, name), s, "scores");
    heed_tensor *mask = seen(t, s, pad, a->causal);
    heed_tensor *w = a->hard ? heed_hardmax(heed_name_scope(t, name), s, 1, mask)
                             : heed_softmax(heed_name_scope(t, name), s, 1, mask);
    w = heed_name_tensor(heed_name_scope(t, name), w, "weights");
    w = heed_dropout(heed_name_scope(t, name), w, a->dropout);
    heed_tensor *y =
        heed_matmul(heed_name_scope(t, name), regroup(t, name, w, heads, shared), x[V]);
    y = regroup(t, name, y, shared, heads);
    y = heed_permute(heed_name_scope(t, name), y, by_head);
    return heed_reshape(heed_name_scope(t, name), y, 3, shape);
}

/* Missing arguments are treated as zero heads, which the shape rule rejects. */
heed_tensor *heed_attention(heed_tape *t, heed_tensor *q, heed_tensor *k, heed_tensor *v,
                            heed_tensor *score_bias, heed_tensor *pad,
                            const heed_attention_args *a) {
    static const heed_attention_args nothing = {0};
    if (!a) a = &nothing;
    if (a->explicit_path) return composed(t, (heed_tensor *[]){q, k, v}, score_bias, pad, a);
    return heed_push(t, &heed_ops_attention[v ? 0 : k ? 1 : 2], a, q, k, v, score_bias, pad);
}
