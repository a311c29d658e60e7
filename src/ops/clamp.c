/* clamp.c -- y = min(max(x, lo), hi); dy/dx = 1 for lo <= x <= hi, else 0. NaN stays NaN. */
#include "ops/args.h"
#include "ops/shape.h"

static bool infer(heed_node *n) {
    const heed__clamp_args *r = n->args;
    if (!(r->lo <= r->hi))
        return heed_op_error(n, "lo %g is above hi %g", (double)r->lo, (double)r->hi);
    return heed_op_output_like(n, 0);
}

static void forward(heed_node *n) {
    const heed__clamp_args *r = n->args;
    const heed_real *x = n->in[0]->x;
    for (size_t i = 0; i < n->y->size; i++)
        n->y->x[i] = x[i] < r->lo ? r->lo : x[i] > r->hi ? r->hi : x[i];
}

static void backward(heed_node *n) {
    const heed__clamp_args *r = n->args;
    const heed_real *x = n->in[0]->x;
    heed_real *gx = heed_grad(n, 0);
    for (size_t i = 0; gx && i < n->y->size; i++)
        if (x[i] >= r->lo && x[i] <= r->hi) gx[i] += n->y->g[i];
}

static const heed__clamp_args unit = {-1, 1}, above = {0, 9};
static const heed_case cases[] = {
    {.shapes = "3x5", .lo = -2, .hi = 2, .away = "-1 1", .args = &unit},
    {.shapes = "s", .args = &above, .away = "0"},
    {.shapes = "2x3x4x5", .args = &above, .away = "0"},
    {0}};

const heed_op heed_ops_clamp[] = {
    {"clamp", "r", infer, forward, backward, cases, sizeof(heed__clamp_args)}, {0}};

heed_tensor *heed_clamp(heed_tape *t, heed_tensor *x, heed_real lo, heed_real hi) {
    return heed_push(t, heed_ops_clamp, &(heed__clamp_args){lo, hi}, x);
}
