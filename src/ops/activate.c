/* activate.c -- y = f(x) elementwise, where f is one of heed_act: heed/activations.h as ops. */
#include "ops/shape.h"

static bool infer_view(heed_node *n) {
    return heed_op_output_view(n, 0, 0, n->in[0]->dims, n->in[0]->shape);
}

static void forward(heed_node *n) {
    const heed_act *f = n->args;
    n->k->activate(n->k, *f, n->y->x, n->in[0]->x, n->y->size);
}

static void backward(heed_node *n) {
    const heed_act *f = n->args;
    const heed_tensor *y = n->y;
    size_t bytes = y->size * sizeof(heed_real);
    bool add;
    heed_real *gx = heed_grad_into(n, 0, &add), *own = add && gx ? heed_scratch(n, bytes) : gx;
    if (!own) return;
    n->k->activate_grad(n->k, *f, own, n->in[0]->x, y->x, y->g, y->size);
    if (!add) return;
    n->k->axpy(n->k, gx, own, 1, y->size);
    heed_scratch_done(n, own, bytes);
}

#define CASE(text, act, from, to, kinks)                                                           \
    { .shapes = text, .args = &(const heed_act){act}, .lo = from, .hi = to, .away = kinks }
#define CASES(act, name, setting, slope_from, value, slope, from, to, kinks)                       \
    [act] = {CASE("s", act, from, to, kinks), CASE("1", act, from, to, kinks),                     \
             CASE("3x5", act, from, to, kinks), CASE("2x3x4x7", act, from, to, kinks)},
static const heed_case cases[][5] = {HEED_ACTIVATIONS(CASES)};

#define VIEW(act) ((act) == HEED_IDENTITY)
#define OP(act, name, ...)                                                                         \
    {#name,                                                                                        \
     "r",                                                                                          \
     VIEW(act) ? infer_view : NULL,                                                                \
     VIEW(act) ? NULL : forward,                                                                   \
     VIEW(act) ? heed_view_backward : backward,                                                    \
     cases[act],                                                                                   \
     sizeof(heed_act)},
/* In the order of heed_act. */
const heed_op heed_ops_activate[] = {HEED_ACTIVATIONS(OP){0}};

heed_tensor *heed_activate(heed_tape *t, heed_tensor *x, heed_act act) {
    if ((unsigned)act >= HEED_ACT_COUNT) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "activate: there is no activation %d", (int)act);
        return NULL;
    }
    return heed_push(t, &heed_ops_activate[act], &act, x);
}

/* Defines heed_relu(t, x) and so on. */
#define CONSTRUCTOR(act, name, ...)                                                                \
    heed_tensor *heed_##name(heed_tape *t, heed_tensor *x) { return heed_activate(t, x, act); }
HEED_ACTIVATIONS(CONSTRUCTOR)
