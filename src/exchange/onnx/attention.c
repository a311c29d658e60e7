/* attention.c -- the ONNX form of attention, softmax and rotary positions. */
#include "exchange/onnx/onnx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef const heed__onnx_step *step;

/* ---- softmax over what is visible ---- */

/* The least float, in the place of minus infinity: a row that sees nothing is then no NaN. */
static const double LEAST = -3.4028234663852886e38;

onnx heed__onnx_softmax(heed__onnx_export *e, onnx scores, onnx visible, bool empty, const char *op,
                        const char *result) {
    if (visible) scores = ONNX(e, "Where", visible, scores, heed__onnx_real(e->g, LEAST));
    if (!visible || !empty) e->g->result = result;
    onnx p = heed__onnx_node(e->g, IN(scores), "%s axis=-1", op);
    if (!visible || !empty) return p;
    e->g->result = result;
    return ONNX(e, "Where", visible, p, heed__onnx_real(e->g, 0));
}

static onnx scaled(heed__onnx_export *e, onnx x, double by) {
    return by == 1 ? x : ONNX(e, "Mul", x, heed__onnx_real(e->g, by));
}

static onnx softmax_by(heed__onnx_export *e, step s, const char *op, bool scale) {
    const heed_real *beta = s->in[0]->args;
    onnx x = scaled(e, heed__onnx_in(e, s, 0), scale ? (double)*beta : 1);
    onnx mask = heed__onnx_in(e, s, 1);
    onnx visible = mask && *mask ? ONNX(e, "Cast to=9", mask) : NULL;
    return heed__onnx_softmax(e, x, visible, true, op, NULL);
}
static onnx softmax(heed__onnx_export *e, step s) { return softmax_by(e, s, "Softmax", true); }
static onnx log_softmax(heed__onnx_export *e, step s) {
    return softmax_by(e, s, "LogSoftmax", true);
}
static onnx hardmax(heed__onnx_export *e, step s) { return softmax_by(e, s, "Hardmax", false); }

/* ---- rotary positions ---- */

/* The cosines or sines of all angles: (rows, width / 2). */
static onnx angles(heed__onnx_export *e, const heed_rotary_args *a, int rows, bool sine) {
    int half = a->width / 2;
    onnx name =
        heed__onnx_name(e->g, "rotary.%s.%d.%g", sine ? "sin" : "cos", a->width, (double)a->theta);
    if (!name || heed__onnx_find(e->g, name)) return name;
    heed_tensor x = {.dims = 2, .shape = {rows, half}, .size = (size_t)rows * (size_t)half};
    x.x = heed__alloc_array(e->c, x.size, sizeof *x.x);
    for (size_t i = 0; x.x && i < x.size; i++) {
        double angle = (double)(i / (size_t)half) *
                       pow((double)a->theta, -2.0 * (double)(i % (size_t)half) / a->width);
        x.x[i] = (heed_real)(sine ? sin(angle) : cos(angle));
    }
    onnx y = x.x ? heed__onnx_tensor(e->g, name, &x) : NULL;
    heed__free(x.x);
    return y;
}

/* x (B,T,heads width) rotated: (B,T,heads,2,width/2) times the angles of (T,1,width/2). */
static onnx turned(heed__onnx_export *e, step s, const heed_rotary_args *a, onnx x) {
    onnx turn[2], half[2], y[2];
    int from = s->in[0]->y->shape[1], to = s->in[1]->y->shape[1];
    for (int i = 0; i < 2; i++) {
        onnx rows = angles(e, a, from == to ? from : e->longest, i);
        rows = heed__onnx_positions(e, rows, from, to);
        turn[i] = ONNX(e, "Unsqueeze", rows, heed__onnx_one(e, 1));
    }
    x = ONNX(e, "Reshape", x, INTS(e->g, 0, 0, a->heads, a->width));
    heed__onnx_nodes(e->g, IN(x), 2, half, NULL, "Split axis=3");
    for (int i = 0; i < 2; i++) {
        onnx own = ONNX(e, "Mul", half[i], turn[0]);
        onnx other = ONNX(e, "Mul", half[!i], turn[1]);
        y[i] = heed__onnx_node(e->g, IN(own, other), i ? "Add" : "Sub");
    }
    x = ONNX(e, "Concat axis=3", y[0], y[1]);
    return ONNX(e, "Reshape", x, INTS(e->g, 0, 0, a->heads * a->width));
}

static onnx rotary(heed__onnx_export *e, step s) {
    const heed_rotary_args *a = s->in[0]->args;
    const heed_tensor *y = s->in[0]->y;
    int columns = y->shape[2], end = a->heads * a->width;
    bool open = y->shape[1] != s->in[1]->y->shape[1];
    onnx part[2] = {heed__onnx_in(e, s, 0)};
    if (y->dims != 3 || a->first || (open && !e->longest))
        return heed__onnx_refuse(e, "rotary positions of another form", s->in[0]);
    if (columns == end) return turned(e, s, a, part[0]);
    heed__onnx_nodes(e->g, IN(part[0], INTS(e->g, end, columns - end)), 2, part, NULL,
                     "Split axis=2");
    return ONNX(e, "Concat axis=2", turned(e, s, a, part[0]), part[1]);
}

/* ---- attention ---- */

/* q, k, v in an op's inputs. */
static void parts(heed__onnx_export *e, step s, const heed_attention_args *a, onnx out[3]) {
    int shared = a->kv_heads ? a->kv_heads : a->heads;
    int q = a->heads * a->key, k = shared * a->key, v = shared * a->value;
    for (int i = 0; i < 3 && s->in[0]->in[i]; i++) out[i] = heed__onnx_in(e, s, i);
    if (!s->in[0]->in[1])
        heed__onnx_nodes(e->g, IN(out[0], INTS(e->g, q, k, v)), 3, out, NULL, "Split axis=2");
    else if (!s->in[0]->in[2])
        heed__onnx_nodes(e->g, IN(out[1], INTS(e->g, k, v)), 2, out + 1, NULL, "Split axis=2");
}

/* (B,T,heads width) -> (B,heads,T,width) */
static onnx by_head(heed__onnx_export *e, onnx x, int heads, int width) {
    x = ONNX(e, "Reshape", x, INTS(e->g, 0, 0, heads, width));
    return ONNX(e, "Transpose perm=[0,2,1,3]", x);
}

/* Keys and values that heads share, once for each head: (B,g,T,w) -> (B,h,T,w). */
static onnx repeated(heed__onnx_export *e, onnx x, int from, int to, int width) {
    if (from == to) return x;
    x = ONNX(e, "Unsqueeze", x, heed__onnx_one(e, 2));
    x = ONNX(e, "Expand", x, INTS(e->g, 1, 1, to / from, 1, 1));
    return ONNX(e, "Reshape", x, INTS(e->g, 0, to, -1, width));
}

/* With a cache: what it has of the tokens before, then x; an output of the model. */
static onnx cached(heed__onnx_export *e, step s, onnx x, const char *part, int heads, int width) {
    if (!e->cache || !x) return x;
    const heed_tensor *y = s->in[0]->y;
    onnx past = heed__onnx_name(e->g, "%s.%s.past", s->in[0]->name, part);
    onnx all = heed__onnx_name(e->g, "%s.%s", s->in[0]->name, part);
    int shape[] = {y->shape[0], heads, 0, width};
    heed__onnx_declare(&e->graph.inputs, 11, past, true, 4, shape,
                       (const char *[]){"batch", NULL, "past", NULL});
    heed__onnx_declare(&e->graph.outputs, 12, all, true, 4, shape,
                       (const char *[]){"batch", NULL, "total", NULL});
    e->g->result = all;
    return ONNX(e, "Concat axis=2", past, x);
}

/* The sizes of the queries and keys, for a causal mask. */
static void lengths(heed__onnx_export *e, step s, onnx out[2]) {
    for (int i = 0; i < 2; i++) {
        int k = i && s->in[0]->in[1], axis = 1;
        out[i] = heed__onnx_size(e, s->in[0]->in[k]->shape[axis], s->in[1]->in[k]->shape[axis]);
    }
    if (e->cache) out[1] = ONNX(e, "Add", heed__onnx_past(e), out[1]);
}

static onnx visible(heed__onnx_export *e, step s, const heed_attention_args *a, onnx mask) {
    onnx size[2];
    bool padded = mask && *mask;
    if (!a->causal && !padded) return NULL;
    if (a->causal) lengths(e, s, size);
    return heed__onnx_visible(e, a->causal ? size : NULL, padded ? mask : NULL);
}

static onnx attention(heed__onnx_export *e, step s) {
    const heed_attention_args *a = s->in[0]->args;
    int shared = a->kv_heads ? a->kv_heads : a->heads;
    onnx part[3];
    parts(e, s, a, part);
    if (e->cache && (!a->causal || s->in[0]->in[1]))
        return heed__onnx_refuse(e, "a cache of attention that sees later tokens", s->in[0]);
    onnx q = by_head(e, part[0], a->heads, a->key);
    onnx k = cached(e, s, by_head(e, part[1], shared, a->key), "k", shared, a->key);
    onnx v = cached(e, s, by_head(e, part[2], shared, a->value), "v", shared, a->value);
    k = ONNX(e, "Transpose perm=[0,1,3,2]", repeated(e, k, shared, a->heads, a->key));
    onnx scores = ONNX(e, "MatMul", q, k);
    scores = scaled(e, scores, a->has_beta ? (double)a->beta : 1 / sqrt(a->key));
    onnx more = heed__onnx_in(e, s, 3);
    if (more && *more) scores = ONNX(e, "Add", scores, more);
    onnx pad = heed__onnx_in(e, s, 4);
    bool empty = (pad && *pad) || s->in[0]->in[1]; /* else a token sees itself */
    onnx weights =
        heed__onnx_softmax(e, scores, visible(e, s, a, pad), empty, a->hard ? "Hardmax" : "Softmax",
                           heed__onnx_weights(e, s->in[0]));
    onnx y = ONNX(e, "MatMul", weights, repeated(e, v, shared, a->heads, a->value));
    y = ONNX(e, "Transpose perm=[0,2,1,3]", y);
    return ONNX(e, "Reshape", y, INTS(e->g, 0, 0, a->heads * a->value));
}

const heed__onnx_row heed__onnx_attention[] = {
    {"softmax", softmax},          {"log_softmax", log_softmax},
    {"hardmax", hardmax},          {"rotary", rotary},
    {"attention", attention},      {"cross_attention", attention},
    {"self_attention", attention}, {0}};
