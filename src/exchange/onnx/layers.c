/* layers.c -- the ONNX form of ops with weights: products, norms, convolutions, pooling. heed's
 * pictures have their channels last, ONNX's first: each such node stands between two transposes,
 * which runtimes remove in pairs. */
#include "exchange/onnx/onnx.h"
#include "ops/args.h"

#include <stdio.h>

typedef const heed__onnx_step *step;
static const void *args_of(step s) { return s->in[0]->args; }
static const heed_tensor *of(step s, int k) { return s->in[0]->in[k]; }

/* ---- products ---- */

/* A parameter is transposed once, outside loops. */
onnx heed__onnx_transposed(heed__onnx_export *e, onnx w) {
    char key[400];
    snprintf(key, sizeof key, "transposed %s", w ? w : "");
    onnx known = heed__onnx_find(e->g, key);
    if (known || !w) return known;
    heed__onnx_graph *g = heed_store_find(e->r->store, w) ? &e->graph : e->g;
    return heed__onnx_keep(g, key, heed__onnx_node(g, IN(w), "Transpose perm=[1,0]"));
}

static onnx affine(heed__onnx_export *e, step s) {
    const heed_act *act = args_of(s);
    onnx x = heed__onnx_in(e, s, 0), w = heed__onnx_in(e, s, 1), b = heed__onnx_in(e, s, 2), y;
    if (b && !*b) b = NULL;
    if (of(s, 0)->dims == 2)
        y = ONNX(e, "Gemm transB=1", x, w, b);
    else {
        y = ONNX(e, "MatMul", x, heed__onnx_transposed(e, w));
        if (b) y = ONNX(e, "Add", y, b);
    }
    return heed__onnx_activate(e, y, *act);
}

/* The last two dims exchanged. */
static onnx flipped(heed__onnx_export *e, onnx x, int dims) {
    static const char *const perm[] = {"", "", "[1,0]", "[0,2,1]", "[0,1,3,2]"};
    return heed__onnx_node(e->g, IN(x), "Transpose perm=%s", perm[dims]);
}

static onnx product(heed__onnx_export *e, step s, bool flip_a, bool flip_b) {
    onnx a = heed__onnx_in(e, s, 0), b = heed__onnx_in(e, s, 1);
    if (flip_a) a = flipped(e, a, of(s, 0)->dims);
    if (flip_b) b = flipped(e, b, of(s, 1)->dims);
    return ONNX(e, "MatMul", a, b);
}
static onnx matmul(heed__onnx_export *e, step s) { return product(e, s, false, false); }
static onnx matmul_nt(heed__onnx_export *e, step s) { return product(e, s, false, true); }
static onnx matmul_tn(heed__onnx_export *e, step s) { return product(e, s, true, false); }

/* w with scale B A added to the rows from `from` on. */
static onnx lora(heed__onnx_export *e, step s) {
    const heed__lora_args *a = args_of(s);
    const heed_tensor *w = of(s, 0);
    int rows = of(s, 2)->shape[0], dims = w->dims;
    int64_t ends[2 * HEED_DIMS] = {a->from},
                     shape[] = {rows, w->shape[1], w->shape[2], w->shape[3]};
    ends[dims] = w->shape[0] - a->from - rows;
    onnx y = ONNX(e, "MatMul", heed__onnx_in(e, s, 2), heed__onnx_in(e, s, 1));
    y = ONNX(e, "Mul", y, heed__onnx_real(e->g, (double)a->scale));
    y = ONNX(e, "Reshape", y, heed__onnx_ints(e->g, dims, shape));
    y = ONNX(e, "Pad", y, heed__onnx_ints(e->g, 2 * dims, ends));
    return ONNX(e, "Add", heed__onnx_in(e, s, 0), y);
}

/* ---- norms ---- */

/* A gain or bias that is absent: `value` for each column. */
static onnx or_all(heed__onnx_export *e, onnx x, int width, double value) {
    if (!x || *x) return x;
    onnx shape = heed__onnx_one(e, width);
    return ONNX(e, "Expand", heed__onnx_real(e->g, value), shape);
}

static onnx layer_norm(heed__onnx_export *e, step s) {
    const heed_real *eps = args_of(s);
    const heed_tensor *x = of(s, 0);
    onnx gain = or_all(e, heed__onnx_in(e, s, 1), x->shape[x->dims - 1], 1);
    onnx bias = heed__onnx_in(e, s, 2);
    return heed__onnx_node(e->g, IN(heed__onnx_in(e, s, 0), gain, bias && *bias ? bias : NULL),
                           "LayerNormalization axis=-1 epsilon=%.9gf", (double)*eps);
}

static onnx rms_norm(heed__onnx_export *e, step s) {
    const heed_real *eps = args_of(s);
    onnx x = heed__onnx_in(e, s, 0), gain = heed__onnx_in(e, s, 1);
    onnx y = ONNX(e, "Mul", x, x);
    y = ONNX(e, "ReduceMean axes=[-1]", y);
    y = ONNX(e, "Add", y, heed__onnx_real(e->g, (double)*eps));
    y = ONNX(e, "Div", x, ONNX(e, "Sqrt", y));
    return gain && *gain ? ONNX(e, "Mul", y, gain) : y;
}

/* ---- channels ---- */

static onnx channels_first(heed__onnx_export *e, onnx x) {
    return ONNX(e, "Transpose perm=[0,3,1,2]", x);
}
static onnx channels_last(heed__onnx_export *e, onnx x) {
    return ONNX(e, "Transpose perm=[0,2,3,1]", x);
}

static onnx batch_norm(heed__onnx_export *e, step s) {
    const heed__batch_norm_args *a = args_of(s);
    const heed_tensor *x = of(s, 0);
    int width = x->shape[x->dims - 1];
    onnx y = heed__onnx_in(e, s, 0);
    if (x->dims == 3) return heed__onnx_refuse(e, "batch_norm of a sequence", s->in[0]);
    if (x->dims == 4) y = channels_first(e, y);
    onnx gain = or_all(e, heed__onnx_in(e, s, 1), width, 1);
    onnx bias = or_all(e, heed__onnx_in(e, s, 2), width, 0);
    y = heed__onnx_node(e->g, IN(y, gain, bias, heed__onnx_in(e, s, 3), heed__onnx_in(e, s, 4)),
                        "BatchNormalization epsilon=%.9gf", (double)a->eps);
    return x->dims == 4 ? channels_last(e, y) : y;
}

static onnx convolution(heed__onnx_export *e, step s, bool transposed) {
    const heed_conv_args *a = args_of(s);
    char extra[64] = "";
    onnx x = channels_first(e, heed__onnx_in(e, s, 0)), b = heed__onnx_in(e, s, 2);
    if (transposed)
        snprintf(extra, sizeof extra, " output_padding=[%d,%d]", a->extra[0], a->extra[1]);
    x = heed__onnx_node(e->g, IN(x, heed__onnx_in(e, s, 1), b && *b ? b : NULL),
                        "Conv%s strides=[%d,%d] pads=[%d,%d,%d,%d] dilations=[%d,%d] group=%d%s",
                        transposed ? "Transpose" : "", a->stride[0], a->stride[1], a->pad[0],
                        a->pad[1], a->pad[0], a->pad[1], a->dilation[0], a->dilation[1], a->groups,
                        extra);
    return channels_last(e, x);
}
static onnx conv2d(heed__onnx_export *e, step s) { return convolution(e, s, false); }
static onnx conv2d_transposed(heed__onnx_export *e, step s) { return convolution(e, s, true); }

static onnx pool(heed__onnx_export *e, step s, const char *op) {
    const heed_pool_args *a = args_of(s);
    onnx x = channels_first(e, heed__onnx_in(e, s, 0));
    x = heed__onnx_node(e->g, IN(x), "%s kernel_shape=[%d,%d] strides=[%d,%d] pads=[%d,%d,%d,%d]%s",
                        op, a->size[0], a->size[1], a->stride[0], a->stride[1], a->pad[0],
                        a->pad[1], a->pad[0], a->pad[1], *op == 'A' ? " count_include_pad=1" : "");
    return channels_last(e, x);
}
static onnx max_pool(heed__onnx_export *e, step s) { return pool(e, s, "MaxPool"); }
static onnx avg_pool(heed__onnx_export *e, step s) { return pool(e, s, "AveragePool"); }
static onnx global_pool(heed__onnx_export *e, step s) {
    return ONNX(e, "ReduceMean axes=[1,2] keepdims=0", heed__onnx_in(e, s, 0));
}

const heed__onnx_row heed__onnx_layers[] = {{"affine", affine},
                                            {"matmul", matmul},
                                            {"matmul_nt", matmul_nt},
                                            {"matmul_tn", matmul_tn},
                                            {"lora", lora},
                                            {"layer_norm", layer_norm},
                                            {"rms_norm", rms_norm},
                                            {"batch_norm", batch_norm},
                                            {"conv2d", conv2d},
                                            {"conv2d_transposed", conv2d_transposed},
                                            {"max_pool", max_pool},
                                            {"avg_pool", avg_pool},
                                            {"global_pool", global_pool},
                                            {0}};
