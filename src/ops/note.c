/* note.c -- y = x, a view, which is kept for probes under a name. Fused ops keep their own values;
 * compositions of ops, such as heed_attention_explicit below, keep theirs with this op. */
#include "core/tape.h"
#include "ops/shape.h"
#include <math.h>

typedef struct {
    char value[32];
} note_args;

static bool infer(heed_node *n) {
    const note_args *a = n->args;
    const heed_tensor *x = n->in[0];
    if (!heed__accepts(n, "r") || !heed_out_view(n, 0, 0, x->dims, x->shape)) return false;
    if (!heed_probed(n, a->value)) return true;
    n->kept[n->kept_count] = n->y;
    n->kept_name[n->kept_count++] = a->value;
    return true;
}

static const note_args hidden = {"hidden"};
static const heed_case cases[] = {
    {.shapes = "3x5", .args = &hidden}, {.shapes = "s", .args = &hidden}, {0}};

const heed_op heed_ops_note[] = {
    {"note", 1, infer, NULL, heed_view_backward, cases, sizeof(note_args), 0}, {0}};

heed_tensor *heed_note(heed_tape *t, heed_tensor *x, const char *name) {
    note_args a = {{0}};
    if (name && strlen(name) < sizeof a.value) {
        memcpy(a.value, name, strlen(name));
        return heed_push(t, heed_ops_note, &a, x);
    }
    if (name)
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "note: the name \"%s\" has more than %zu letters",
                  name, sizeof a.value - 1);
    else
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "note: expected a name, found NULL");
    return NULL;
}

/* ---- attention composed of other ops, all under the name set by heed_at ---- */

static const int by_head[] = {0, 2, 1, 3};

/* (B,T,h c) -> (B,h,T,c) */
static heed_tensor *split_heads(heed_tape *t, const char *name, heed_tensor *x, int heads,
                                int width, const char *value) {
    if (!x) return NULL;
    int shape[] = {x->shape[0], x->shape[1], heads, width};
    heed_tensor *y = heed_reshape(heed_at(t, name), x, 4, shape);
    y = heed_permute(heed_at(t, name), y, by_head);
    return heed_note(heed_at(t, name), y, value);
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
    return heed_reshape(heed_at(t, name), x, 4, shape);
}

/* What is wrong with the inputs; NULL: nothing. */
static const char *problem(const heed_tensor *const qkv[3], const heed_tensor *pad,
                           const heed_attention_args *a) {
    for (int i = 0; i < 3; i++) {
        if (!qkv[i]) return "q, k or v is NULL";
        if (qkv[i]->dims != 3) return "q, k or v is not (B,T,width)";
    }
    if (!a || a->heads < 1 || a->key < 1 || a->value < 1) return "0 heads, or heads of width 0";
    if (a->kv_heads < 0 || (a->kv_heads && a->heads % a->kv_heads))
        return "the heads do not share the heads of keys and values equally";
    const int *keys = qkv[1]->shape;
    if (pad && (!pad->i || pad->dims != 2 || pad->shape[0] != keys[0] || pad->shape[1] != keys[1]))
        return "the padding mask is not (B,Tk)";
    return NULL;
}

heed_tensor *heed_attention_explicit(heed_tape *t, heed_tensor *q, heed_tensor *k, heed_tensor *v,
                                     heed_tensor *score_bias, heed_tensor *pad,
                                     const heed_attention_args *a) {
    const char *name = heed_take_name(t);
    const char *wrong = problem((const heed_tensor *const[]){q, k, v}, pad, a);
    if (wrong) heed__fail_at(heed_tape_ctx(t), HEED_USAGE, "attention", name, "%s", wrong);
    if (wrong) return NULL;
    heed_real beta = a->has_beta ? a->beta : (heed_real)(1 / sqrt(a->key));
    int shape[] = {q->shape[0], q->shape[1], a->heads * a->value};
    int heads = a->heads, shared = a->kv_heads ? a->kv_heads : heads;
    q = split_heads(t, name, q, heads, a->key, "q");
    k = split_heads(t, name, k, shared, a->key, "k");
    v = split_heads(t, name, v, shared, a->value, "v");
    heed_tensor *s = heed_matmul_nt(heed_at(t, name), regroup(t, name, q, heads, shared), k);
    s = regroup(t, name, s, shared, heads);
    s = heed_scale(heed_at(t, name), s, beta, 0);
    if (score_bias) s = heed_add(heed_at(t, name), s, score_bias);
    s = heed_note(heed_at(t, name), s, "scores");
    heed_tensor *mask = seen(t, s, pad, a->causal);
    heed_tensor *w = a->hard ? heed_hardmax(heed_at(t, name), s, 1, mask)
                             : heed_softmax(heed_at(t, name), s, 1, mask);
    w = heed_note(heed_at(t, name), w, "weights");
    w = heed_dropout(heed_at(t, name), w, a->dropout);
    heed_tensor *y = heed_matmul(heed_at(t, name), regroup(t, name, w, heads, shared), v);
    y = regroup(t, name, y, shared, heads);
    y = heed_permute(heed_at(t, name), y, by_head);
    return heed_reshape(heed_at(t, name), y, 3, shape);
}
