/* conv.c -- convolution and its transpose, channels last: y[b,i,j,o] = bias[o] + sum_{u,v,c} x[b, i
 * s - p + u d, j s - p + v d, c] w[o,c,u,v]. The transpose maps y's positions back to x's with the
 * same weights: <conv x, y> = <x, transposed y>, so each is the other's gradient. LeCun et al.
 * 1989; Zeiler et al. 2010. */
#include "ops/shape.h"

enum { X, W, B };
#define MOST (1 << 20) /* of a setting */

static bool check_args(heed_node *n) {
    const heed_conv_args *a = n->args;
    static const char *const names[] = {"stride", "pad", "dilation", "extra"};
    const int *const pairs[] = {a->stride, a->pad, a->dilation, a->extra};
    for (int i = 0; i < 4; i++)
        for (int d = 0; d < 2; d++)
            if (pairs[i][d] < (i == 1 || i == 3 ? 0 : 1) || pairs[i][d] > MOST)
                return heed_op_error(n, "%s %d is not in %d .. %d", names[i], pairs[i][d],
                                     i == 1 || i == 3 ? 0 : 1, MOST);
    return (a->groups >= 1 && a->groups <= MOST) ||
           heed_op_error(n, "%d groups are not in 1 .. %d", a->groups, MOST);
}

/* from: the number of channels in w's first dim; to: the number on the other side. */
static bool check_weight(heed_node *n, int from, int to, int bias) {
    const heed_conv_args *a = n->args;
    const heed_tensor *w = n->in[W], *b = n->in[B];
    if (from % a->groups || to % a->groups)
        return heed__bad_shapes(n, X, W, "%d groups do not divide the channels", a->groups);
    if (w->shape[2] < 1 || w->shape[3] < 1)
        return heed__bad_shape(n, W, "a kernel needs at least 1 row and 1 column");
    if ((double)w->shape[1] * w->shape[2] * w->shape[3] > INT32_MAX)
        return heed__bad_shape(n, W, "the kernel is too large");
    if (b && (b->dims != 1 || b->shape[0] != bias))
        return heed__bad_shapes(n, W, B, "the bias is not (%d)", bias);
    return true;
}

static bool check_dims(heed_node *n) {
    if (!check_args(n)) return false;
    if (n->in[X]->dims != 4) return heed__bad_shape(n, X, "x needs 4 dims, (B,H,W,C)");
    return n->in[W]->dims == 4 || heed__bad_shapes(n, X, W, "the weight needs 4 dims, (O,C,kh,kw)");
}

/* The rows (d = 0) or columns that a dilated kernel covers. */
static long long reach(const heed_node *n, int d) {
    const heed_conv_args *a = n->args;
    return (long long)a->dilation[d] * (n->in[W]->shape[2 + d] - 1) + 1;
}

/* Pixels of an image are counted in 32 bits. */
static bool check_size(heed_node *n, const int shape[4]) {
    return (double)shape[1] * shape[2] <= INT32_MAX ||
           heed__bad_shapes(n, X, W, "the output has too many pixels");
}

static bool infer(heed_node *n) {
    const heed_conv_args *a = n->args;
    if (!check_dims(n)) return false;
    const heed_tensor *x = n->in[X], *w = n->in[W];
    if ((long long)w->shape[1] * a->groups != x->shape[3])
        return heed__bad_shapes(n, X, W, "%d channels are not %d groups of %d", x->shape[3],
                                a->groups, w->shape[1]);
    if (!check_weight(n, w->shape[0], x->shape[3], w->shape[0])) return false;
    int shape[4] = {x->shape[0], 0, 0, w->shape[0]};
    for (int d = 0; d < 2; d++) {
        long long padded = (long long)x->shape[1 + d] + 2LL * a->pad[d];
        if (padded > INT32_MAX || padded < reach(n, d))
            return heed__bad_shapes(n, X, W, "a kernel that covers %lld %s does not fit %lld",
                                    reach(n, d), d ? "columns" : "rows", padded);
        shape[1 + d] = (int)((padded - reach(n, d)) / a->stride[d]) + 1;
    }
    return check_size(n, shape) && heed_op_output(n, 4, shape);
}

static bool infer_transposed(heed_node *n) {
    const heed_conv_args *a = n->args;
    if (!check_dims(n)) return false;
    const heed_tensor *x = n->in[X], *w = n->in[W];
    long long out = (long long)w->shape[1] * a->groups;
    if (w->shape[0] != x->shape[3])
        return heed__bad_shapes(n, X, W, "inner %d != %d", x->shape[3], w->shape[0]);
    if (out > INT32_MAX) return heed__bad_shape(n, W, "the weight has too many channels");
    if (!check_weight(n, w->shape[0], (int)out, (int)out)) return false;
    int shape[4] = {x->shape[0], 0, 0, (int)out};
    for (int d = 0; d < 2; d++) {
        long long size =
            (x->shape[1 + d] - 1LL) * a->stride[d] - 2LL * a->pad[d] + reach(n, d) + a->extra[d];
        if (a->extra[d] >= a->stride[d] && a->extra[d] >= a->dilation[d])
            return heed_op_error(n, "extra %d is not below the stride %d or the dilation %d",
                                 a->extra[d], a->stride[d], a->dilation[d]);
        if (x->shape[1 + d] < 1 || size < 1 || size + 2LL * a->pad[d] > INT32_MAX)
            return heed__bad_shapes(n, X, W, "the output would have %lld %s", size,
                                    d ? "columns" : "rows");
        shape[1 + d] = (int)size;
    }
    return check_size(n, shape) && heed_op_output(n, 4, shape);
}

/* The convolution from `big` to `small`: the op itself, or the one whose transpose the op is. */
static heed_conv_job job_of(const heed_node *n, const heed_tensor *big, const heed_tensor *small) {
    const heed_conv_args *a = n->args;
    const heed_tensor *w = n->in[W];
    return (heed_conv_job){.batch = big->shape[0],
                           .h = big->shape[1],
                           .w = big->shape[2],
                           .c = big->shape[3],
                           .oh = small->shape[1],
                           .ow = small->shape[2],
                           .o = small->shape[3],
                           .kh = w->shape[2],
                           .kw = w->shape[3],
                           .stride = {a->stride[0], a->stride[1]},
                           .pad = {a->pad[0], a->pad[1]},
                           .dilation = {a->dilation[0], a->dilation[1]},
                           .groups = a->groups,
                           .weight = w->x};
}

static void run(heed_node *n, const heed_conv_job *j, heed_conv_pass pass) {
    size_t bytes = n->k->conv_scratch(n->k, j, pass);
    void *capacity = heed_scratch(n, bytes);
    if (!capacity) return;
    n->k->conv(n->k, j, pass, capacity);
    heed_scratch_done(n, capacity, bytes);
}

static void forward(heed_node *n) {
    heed_conv_job j = job_of(n, n->in[X], n->y);
    j.x = n->in[X]->x;
    j.y = n->y->x;
    j.bias = n->in[B] ? n->in[B]->x : NULL;
    run(n, &j, HEED_CONV);
}

static void backward(heed_node *n) {
    heed_conv_job j = job_of(n, n->in[X], n->y);
    j.add = true;
    j.y = n->y->g;
    j.x = heed_grad(n, X);
    if (j.x) run(n, &j, HEED_CONV_TURNED);
    j.x = n->in[X]->x;
    j.gw = heed_grad(n, W);
    j.gb = heed_grad(n, B);
    if (j.gw || j.gb) run(n, &j, HEED_CONV_WEIGHTS);
}

static void forward_transposed(heed_node *n) {
    heed_conv_job j = job_of(n, n->y, n->in[X]);
    j.x = n->y->x;
    j.y = n->in[X]->x;
    j.bias = n->in[B] ? n->in[B]->x : NULL;
    run(n, &j, HEED_CONV_TURNED);
}

static void backward_transposed(heed_node *n) {
    heed_conv_job j = job_of(n, n->y, n->in[X]);
    heed_real *gb = heed_grad(n, B);
    j.add = true;
    j.x = n->y->g;
    j.y = heed_grad(n, X);
    if (j.y) run(n, &j, HEED_CONV);
    j.y = n->in[X]->x;
    j.gw = heed_grad(n, W);
    if (j.gw) run(n, &j, HEED_CONV_WEIGHTS);
    if (gb) n->k->sum_rows(n->k, gb, n->y->g, heed__extent(n->y, 0, 3), n->y->shape[3]);
}

static const heed_conv_args plain = {{1, 1}, {0, 0}, {1, 1}, 1, {0, 0}},
                            same = {{1, 1}, {1, 1}, {1, 1}, 1, {0, 0}},
                            strided = {{2, 3}, {1, 0}, {1, 1}, 1, {0, 0}},
                            spread = {{1, 2}, {2, 1}, {2, 3}, 1, {0, 0}},
                            grouped = {{2, 1}, {1, 1}, {1, 2}, 2, {0, 0}},
                            deep = {{1, 1}, {1, 1}, {1, 1}, 3, {0, 0}},
                            patches = {{4, 4}, {0, 0}, {1, 1}, 1, {0, 0}},
                            extended = {{2, 3}, {1, 0}, {1, 1}, 1, {1, 2}},
                            apart = {{3, 2}, {1, 1}, {2, 1}, 2, {2, 0}};
static const heed_case cases[] = {{.shapes = "2x5x4x3 4x3x3x3 4", .args = &same},
                                  {.shapes = "1x3x3x1 2x1x3x3 -", .args = &plain},
                                  {.shapes = "2x3x4x5 6x5x1x1 6", .args = &plain},
                                  {.shapes = "1x7x8x2 3x2x3x2 3", .args = &strided},
                                  {.shapes = "1x6x9x2 3x2x3x2 -", .args = &spread},
                                  {.shapes = "2x5x6x4 6x2x2x3 6", .args = &grouped},
                                  {.shapes = "1x4x3x3 3x1x3x3 3", .args = &deep},
                                  {.shapes = "1x8x8x1 5x1x4x4 5", .args = &patches},
                                  {.shapes = "1x4x5x17 3x17x3x3 3", .args = &same},
                                  {.shapes = "1x1x1x2 2x2x3x3 2", .args = &same},
                                  {0}};
static const heed_case transposed_cases[] = {{.shapes = "2x3x4x3 3x4x3x3 4", .args = &plain},
                                             {.shapes = "1x5x4x2 2x3x3x3 -", .args = &same},
                                             {.shapes = "2x3x4x5 5x6x1x1 6", .args = &plain},
                                             {.shapes = "1x3x3x2 2x3x3x2 3", .args = &extended},
                                             {.shapes = "1x3x3x4 4x3x3x2 6", .args = &apart},
                                             {.shapes = "1x2x2x3 3x1x4x4 1", .args = &patches},
                                             {0}};

const heed_op heed_ops_conv[] = {
    {"conv2d", "rrr?", infer, forward, backward, cases, sizeof(heed_conv_args)},
    {"conv2d_transposed", "rrr?", infer_transposed, forward_transposed, backward_transposed,
     transposed_cases, sizeof(heed_conv_args)},
    {0}};

/* Replaces 0 in stride, dilation and groups by 1. */
static heed_conv_args given(const heed_conv_args *a) {
    heed_conv_args all = a ? *a : (heed_conv_args){.groups = 0};
    for (int d = 0; d < 2; d++) {
        if (!all.stride[d]) all.stride[d] = 1;
        if (!all.dilation[d]) all.dilation[d] = 1;
    }
    if (!all.groups) all.groups = 1;
    return all;
}

heed_tensor *heed_conv2d(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                         const heed_conv_args *a) {
    heed_conv_args all = given(a);
    return heed_push(t, &heed_ops_conv[0], &all, x, w, b);
}
heed_tensor *heed_conv2d_transposed(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                                    const heed_conv_args *a) {
    heed_conv_args all = given(a);
    return heed_push(t, &heed_ops_conv[1], &all, x, w, b);
}

/* Views a sequence as an image of one row: x (B,T,C) as (B,1,T,C), w (O,C,k) as (O,C,1,k). */
static heed_tensor *along_a_row(heed_tape *t, const heed_op *op, heed_tensor *x, heed_tensor *w,
                                heed_tensor *b, const heed_conv_args *a) {
    const char *name = heed__take_name(t);
    heed_conv_args all = given(a);
    if (!x || !w) return NULL;
    if (x->dims != 3 || w->dims != 3) {
        char left[64], right[64];
        heed__fail_at(
            heed_tape_ctx(t), HEED_USAGE, op == heed_ops_conv ? "conv1d" : "conv1d_transposed",
            name, "%s x %s: a sequence needs 3 dims, (B,T,C), and its weight 3, (O,C,k)",
            heed_shape_text(x, left, sizeof left), heed_shape_text(w, right, sizeof right));
        return NULL;
    }
    all.stride[0] = all.dilation[0] = 1;
    all.pad[0] = all.extra[0] = 0;
    x = heed_reshape(t, x, 4, (int[]){x->shape[0], 1, x->shape[1], x->shape[2]});
    w = heed_reshape(t, w, 4, (int[]){w->shape[0], w->shape[1], 1, w->shape[2]});
    heed_tensor *y = heed_push(name ? heed_name_scope(t, name) : t, op, &all, x, w, b);
    return y ? heed_reshape(t, y, 3, (int[]){y->shape[0], y->shape[2], y->shape[3]}) : NULL;
}
heed_tensor *heed_conv1d(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                         const heed_conv_args *a) {
    return along_a_row(t, &heed_ops_conv[0], x, w, b, a);
}
heed_tensor *heed_conv1d_transposed(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                                    const heed_conv_args *a) {
    return along_a_row(t, &heed_ops_conv[1], x, w, b, a);
}
