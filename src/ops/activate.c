/* activate.c -- y = f(x) elementwise, f one of heed_act. GELU: x Phi(x), exact erf form, and its
 * tanh form; Hendrycks & Gimpel 2016, sec. 2. SiLU: x sigmoid(x), the same, sec. 2. */
#include "ops/shape.h"

static bool infer(heed_node *n) { return heed__takes(n, "r") && heed_out_like(n, 0); }

static bool infer_identity(heed_node *n) {
    return heed__takes(n, "r") && heed_out_view(n, 0, 0, n->in[0]->dims, n->in[0]->shape);
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

static const heed_act acts[] = {HEED_IDENTITY, HEED_RELU,    HEED_GELU, HEED_GELU_TANH, HEED_SILU,
                                HEED_TANH,     HEED_SIGMOID, HEED_EXP,  HEED_LOG,       HEED_SQRT};

#define CASE(text, f, from, to, kinks)                                                             \
    { .shapes = text, .args = &acts[f], .lo = from, .hi = to, .away = kinks }
#define CASES(f, from, to, kinks)                                                                  \
    [f] = {CASE("s", f, from, to, kinks), CASE("1", f, from, to, kinks),                           \
           CASE("3x5", f, from, to, kinks), CASE("2x3x4x7", f, from, to, kinks)}
static const heed_case cases[][5] = {
    CASES(HEED_IDENTITY, -1, 1, NULL), CASES(HEED_RELU, -1, 1, "0"),
    CASES(HEED_GELU, -6, 6, NULL),     CASES(HEED_GELU_TANH, -6, 6, NULL),
    CASES(HEED_SILU, -6, 6, NULL),     CASES(HEED_TANH, -4, 4, NULL),
    CASES(HEED_SIGMOID, -6, 6, NULL),  CASES(HEED_EXP, -3, 3, NULL),
    CASES(HEED_LOG, 0.5, 3, NULL),     CASES(HEED_SQRT, 0.5, 3, NULL)};

#define OP(name, f)                                                                                \
    { name, 1, infer, forward, backward, cases[f], sizeof(heed_act), 0 }
/* In the order of heed_act. */
const heed_op heed_ops_activate[] = {{"identity", 1, infer_identity, NULL, heed_view_backward,
                                      cases[HEED_IDENTITY], sizeof(heed_act), 0},
                                     OP("relu", HEED_RELU),
                                     OP("gelu", HEED_GELU),
                                     OP("gelu_tanh", HEED_GELU_TANH),
                                     OP("silu", HEED_SILU),
                                     OP("tanh", HEED_TANH),
                                     OP("sigmoid", HEED_SIGMOID),
                                     OP("exp", HEED_EXP),
                                     OP("log", HEED_LOG),
                                     OP("sqrt", HEED_SQRT),
                                     {0}};

heed_tensor *heed_activate(heed_tape *t, heed_tensor *x, heed_act act) {
    if ((unsigned)act > HEED_SQRT) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "activate: there is no activation %d", (int)act);
        return NULL;
    }
    return heed_push(t, &heed_ops_activate[act], &act, x);
}
heed_tensor *heed_exp(heed_tape *t, heed_tensor *x) { return heed_activate(t, x, HEED_EXP); }
heed_tensor *heed_log(heed_tape *t, heed_tensor *x) { return heed_activate(t, x, HEED_LOG); }
heed_tensor *heed_sqrt(heed_tape *t, heed_tensor *x) { return heed_activate(t, x, HEED_SQRT); }
heed_tensor *heed_tanh(heed_tape *t, heed_tensor *x) { return heed_activate(t, x, HEED_TANH); }
heed_tensor *heed_sigmoid(heed_tape *t, heed_tensor *x) {
    return heed_activate(t, x, HEED_SIGMOID);
}
heed_tensor *heed_relu(heed_tape *t, heed_tensor *x) { return heed_activate(t, x, HEED_RELU); }
heed_tensor *heed_gelu(heed_tape *t, heed_tensor *x) { return heed_activate(t, x, HEED_GELU); }
heed_tensor *heed_gelu_tanh(heed_tape *t, heed_tensor *x) {
    return heed_activate(t, x, HEED_GELU_TANH);
}
heed_tensor *heed_silu(heed_tape *t, heed_tensor *x) { return heed_activate(t, x, HEED_SILU); }
