/* ops.c -- the ONNX form of ops that are one or a few nodes. Source: the operator schemas of opset
 * 17. */
#include "exchange/onnx/onnx.h"
#include "ops/args.h"

#include <math.h>
#include <string.h>

typedef const heed__onnx_step *step;
static const void *args_of(step s) { return s->in[0]->args; }
static const heed_tensor *of(step s, int k) { return s->in[0]->in[k]; }
static int from_zero(const heed_tensor *x, int dim) { return dim < 0 ? dim + x->dims : dim; }

/* ---- elementwise ---- */

static onnx binary(heed__onnx_export *e, step s, const char *op) {
    return heed__onnx_node(e->g, IN(heed__onnx_in(e, s, 0), heed__onnx_in(e, s, 1)), "%s", op);
}
static onnx add(heed__onnx_export *e, step s) { return binary(e, s, "Add"); }
static onnx sub(heed__onnx_export *e, step s) { return binary(e, s, "Sub"); }
static onnx mul(heed__onnx_export *e, step s) { return binary(e, s, "Mul"); }
static onnx divide(heed__onnx_export *e, step s) { return binary(e, s, "Div"); }

static onnx where(heed__onnx_export *e, step s) {
    onnx mask = ONNX(e, "Cast to=9", heed__onnx_in(e, s, 0));
    return ONNX(e, "Where", mask, heed__onnx_in(e, s, 1), heed__onnx_in(e, s, 2));
}

static onnx times(heed__onnx_export *e, onnx x, double by) {
    return ONNX(e, "Mul", x, heed__onnx_real(e->g, by));
}
static onnx plus(heed__onnx_export *e, onnx x, double more) {
    return ONNX(e, "Add", x, heed__onnx_real(e->g, more));
}

/* x (1 + f) / 2: GELU by f = erf(x / sqrt 2), or by tanh. */
static onnx gelu(heed__onnx_export *e, onnx x, bool by_tanh) {
    onnx f;
    if (by_tanh) {
        f = ONNX(e, "Pow", x, heed__onnx_real(e->g, 3));
        f = ONNX(e, "Add", x, times(e, f, 0.044715));
        f = ONNX(e, "Tanh", times(e, f, sqrt(2 / acos(-1))));
    } else
        f = ONNX(e, "Erf", times(e, x, sqrt(0.5)));
    return ONNX(e, "Mul", times(e, x, 0.5), plus(e, f, 1));
}

onnx heed__onnx_activate(heed__onnx_export *e, onnx x, heed_act act) {
    static const char *const nodes[HEED_ACT_COUNT] = {
        [HEED_RELU] = "Relu", [HEED_TANH] = "Tanh", [HEED_SIGMOID] = "Sigmoid",
        [HEED_EXP] = "Exp",   [HEED_LOG] = "Log",   [HEED_SQRT] = "Sqrt"};
    if (act == HEED_IDENTITY) return x;
    if (act == HEED_GELU || act == HEED_GELU_TANH) return gelu(e, x, act == HEED_GELU_TANH);
    if (act != HEED_SILU) return heed__onnx_node(e->g, IN(x), "%s", nodes[act]);
    return ONNX(e, "Mul", x, ONNX(e, "Sigmoid", x));
}

static onnx activate(heed__onnx_export *e, step s) {
    const heed_act *act = args_of(s);
    return heed__onnx_activate(e, heed__onnx_in(e, s, 0), *act);
}

static onnx scale(heed__onnx_export *e, step s) {
    const heed__scale_args *a = args_of(s);
    onnx x = heed__onnx_in(e, s, 0);
    if (a->scale != 1) x = times(e, x, (double)a->scale);
    return a->shift != 0 ? plus(e, x, (double)a->shift) : x;
}

static onnx clamp(heed__onnx_export *e, step s) {
    const heed__clamp_args *a = args_of(s);
    return ONNX(e, "Clip", heed__onnx_in(e, s, 0), heed__onnx_real(e->g, (double)a->lo),
                heed__onnx_real(e->g, (double)a->hi));
}

/* Views, and dropout in evaluation. */
static onnx same(heed__onnx_export *e, step s) { return heed__onnx_in(e, s, 0); }

/* ---- shape ---- */

static onnx reshape(heed__onnx_export *e, step s) {
    const heed_tensor *from[2] = {s->in[0]->in[0], s->in[1]->in[0]};
    const heed_tensor *to[2] = {s->in[0]->y, s->in[1]->y};
    return heed__onnx_reshape(e, heed__onnx_in(e, s, 0), from, to);
}

static onnx permute(heed__onnx_export *e, step s) {
    const int *o = ((const heed__permute_args *)args_of(s))->order;
    heed_text text = {.c = e->c};
    onnx y = NULL;
    if (of(s, 0)->dims == 0) return same(e, s);
    heed_text_add(&text, "[");
    for (int i = 0; i < of(s, 0)->dims; i++) heed_text_add(&text, i ? ",%d" : "%d", o[i]);
    if (heed_text_add(&text, "]"))
        y = heed__onnx_node(e->g, IN(heed__onnx_in(e, s, 0)), "Transpose perm=%s", text.s);
    heed_text_free(&text);
    return y;
}

static onnx concat(heed__onnx_export *e, step s) {
    int inputs = s->in[0]->inputs, dim = *(const int *)args_of(s);
    onnx *in = heed__alloc_array(e->c, (size_t)inputs + 1, sizeof *in), y = NULL;
    for (int i = 0; in && i < inputs; i++) in[i] = heed__onnx_in(e, s, i);
    if (in) y = heed__onnx_node(e->g, in, "Concat axis=%d", from_zero(of(s, 0), dim));
    heed__free(in);
    return y;
}

/* Whether x is a table with a row for each position, of which rows from the first are read. */
static bool is_positions(const heed__onnx_export *e, const heed_tensor *x) {
    const heed_entry *p = x->name ? heed_store_find(e->r->store, x->name) : NULL;
    return p && p->rows == HEED_ROWS_POSITIONS;
}

/* An end of a range that is a and b in the recordings, of a dim of size na and nb. */
static onnx end_of(heed__onnx_export *e, int a, int b, int na, int nb) {
    if (a == na && b == nb) return heed__onnx_one(e, INT32_MAX);
    return a != b && na - a == nb - b ? heed__onnx_one(e, a - na) : heed__onnx_size(e, a, b);
}

static onnx slice(heed__onnx_export *e, step s) {
    const heed__slice_args *a = s->in[0]->args, *b = s->in[1]->args;
    int axis = from_zero(of(s, 0), a->dim);
    int na = s->in[0]->in[0]->shape[axis], nb = s->in[1]->in[0]->shape[axis];
    onnx x = heed__onnx_in(e, s, 0);
    if (a->from == 0 && b->from == 0 && axis == 0 && a->size != b->size &&
        is_positions(e, of(s, 0)))
        return heed__onnx_positions(e, x, a->size, b->size);
    onnx from =
        a->from == b->from ? heed__onnx_one(e, a->from) : end_of(e, a->from, b->from, na, nb);
    onnx to = end_of(e, a->from + a->size, b->from + b->size, na, nb);
    return heed__onnx_node(e->g, IN(x, from, to, heed__onnx_one(e, axis)), "Slice");
}

static onnx pad(heed__onnx_export *e, step s) {
    const heed__pad_args *a = args_of(s);
    int64_t ends[2 * HEED_DIMS] = {0};
    int dims = of(s, 0)->dims, axis = from_zero(of(s, 0), a->dim);
    ends[axis] = a->before;
    ends[dims + axis] = a->after;
    return ONNX(e, "Pad", heed__onnx_in(e, s, 0), heed__onnx_ints(e->g, 2 * dims, ends),
                heed__onnx_real(e->g, (double)a->value));
}

static onnx embed(heed__onnx_export *e, step s) {
    return ONNX(e, "Gather axis=0", heed__onnx_in(e, s, 0), heed__onnx_in(e, s, 1));
}

static onnx gather(heed__onnx_export *e, step s) {
    const heed_tensor *x = of(s, 0);
    onnx rows = ONNX(e, "Reshape", heed__onnx_in(e, s, 0), INTS(e->g, -1, x->shape[x->dims - 1]));
    return ONNX(e, "Gather axis=0", rows, heed__onnx_in(e, s, 1));
}

/* ---- reductions ---- */

static onnx sum_dim(heed__onnx_export *e, step s) {
    int dim = *(const int *)args_of(s);
    return ONNX(e, "ReduceSum", heed__onnx_in(e, s, 0), INTS(e->g, from_zero(of(s, 0), dim)));
}
static onnx reduced(heed__onnx_export *e, step s, const char *op) {
    int dim = *(const int *)args_of(s);
    return heed__onnx_node(e->g, IN(heed__onnx_in(e, s, 0)), "%s axes=[%d]", op,
                           from_zero(of(s, 0), dim));
}
static onnx mean_dim(heed__onnx_export *e, step s) { return reduced(e, s, "ReduceMean"); }
static onnx max_dim(heed__onnx_export *e, step s) { return reduced(e, s, "ReduceMax"); }
static onnx sum(heed__onnx_export *e, step s) {
    return ONNX(e, "ReduceSum keepdims=0", heed__onnx_in(e, s, 0));
}
static onnx mean(heed__onnx_export *e, step s) {
    return ONNX(e, "ReduceMean keepdims=0", heed__onnx_in(e, s, 0));
}

/* In the order of heed_act. */
#define ACTIVATION(act, name, ...) {#name, activate},
const heed__onnx_row heed__onnx_plain[] = {{"add", add},
                                           {"sub", sub},
                                           {"mul", mul},
                                           {"div", divide},
                                           {"where", where},
                                           {"scale", scale},
                                           {"clamp", clamp},
                                           {"note", same},
                                           {"dropout", same},
                                           {"dropout_add", add},
                                           {"reshape", reshape},
                                           {"permute", permute},
                                           {"concat", concat},
                                           {"slice", slice},
                                           {"pad", pad},
                                           {"embed", embed},
                                           {"gather", gather},
                                           {"sum_dim", sum_dim},
                                           {"mean_dim", mean_dim},
                                           {"max_dim", max_dim},
                                           {"sum", sum},
                                           {"mean", mean},
                                           HEED_ACTIVATIONS(ACTIVATION){0}};
