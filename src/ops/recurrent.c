/* recurrent.c -- y_t = cell(gx_t, y_{t-1}), all time steps of a recurrent layer: gx_t = W_x x_t +
 * b_x is the contribution of the input to the gates, u_t = h_{t-1} W' + b that of the state.
 * Backpropagation through time: Werbos 1990. */
#include "ops/steps.h"

#include <limits.h>

enum { X, W, B, STATE, PAD };

static bool infer(heed_node *n) {
    const heed_recurrent_args *a = n->args;
    const heed_tensor *x = n->in[X], *w = n->in[W], *b = n->in[B], *pad = n->in[PAD];
    if (x->dims != 3) return heed__bad_shape(n, X, "the gates need 3 dims, (B,T,gates)");
    if (w->dims != 2 || w->shape[0] != w->shape[1] * heed__cell_gates(a->cell))
        return heed__bad_shape(n, W, "the weight is not (%d h,h)", heed__cell_gates(a->cell));
    if (x->shape[2] != w->shape[0])
        return heed__bad_shapes(n, X, W, "gates %d != %d", x->shape[2], w->shape[0]);
    if (b && (b->dims != 1 || b->shape[0] != w->shape[0]))
        return heed__bad_shapes(n, W, B, "the bias is not (%d)", w->shape[0]);
    if (pad && (pad->dims != 2 || pad->shape[0] != x->shape[0] || pad->shape[1] != x->shape[1]))
        return heed__bad_shapes(n, X, PAD, "the padding is not (%d,%d)", x->shape[0], x->shape[1]);
    int states = w->shape[1] * heed__cell_states(a->cell);
    if (x->shape[1] && states > INT_MAX / x->shape[1])
        return heed__bad_shape(n, X, "the states of a sequence are more than 2^31 - 1");
    const heed_tensor *s = n->in[STATE];
    if (s && (s->dims != 2 || s->shape[0] != x->shape[0] || s->shape[1] != states))
        return heed__bad_shapes(n, X, STATE, "the state is not (%d,%d)", x->shape[0], states);
    return heed_out(n, 3, (int[]){x->shape[0], x->shape[1], states});
}

/* Sizes, and values that forward keeps for backward: gates after their activations (T,B,G h), the
 * GRU's u_n (T,B,h), and zeros (B,S) if there is no initial state. */
typedef struct {
    int rows, steps, width, gates, states;
    heed_real *u, *kept, *zeros;
} sizes;

static bool memory(heed_node *n, sizes *z) {
    const heed_recurrent_args *a = n->args;
    z->rows = n->y->shape[0], z->steps = n->y->shape[1];
    z->width = n->in[W]->shape[1], z->gates = n->in[W]->shape[0], z->states = n->y->shape[2];
    size_t cells = (size_t)z->rows * (size_t)z->steps, first = (size_t)z->rows * (size_t)z->states;
    size_t u = cells * (size_t)z->gates, kept = a->cell == HEED_GRU ? cells * (size_t)z->width : 0;
    if (!n->scratch) n->scratch = heed_scratch(n, (u + kept + first) * sizeof *z->u);
    z->u = n->scratch;
    z->kept = kept ? z->u + u : NULL;
    z->zeros = z->u + u + kept;
    return n->scratch != NULL;
}

/* The kernel's job for step s of the rows [from, to), in the cell's order of time. */
static heed_cell_job step_job(const heed_node *n, const sizes *z, int s, int from, int to) {
    const heed_recurrent_args *a = n->args;
    size_t t = (size_t)(a->reverse ? z->steps - 1 - s : s),
           far = (size_t)z->steps * (size_t)z->states;
    size_t last = a->reverse ? t + 1 : t - 1, row = (size_t)from;
    size_t cells = (size_t)s * (size_t)z->rows + row, ldx = (size_t)z->steps * (size_t)z->gates;
    const heed_real *first = n->in[STATE] ? n->in[STATE]->x : z->zeros;
    heed_cell_job j = {.cell = a->cell,
                       .act = a->act,
                       .rows = to - from,
                       .width = z->width,
                       .x = n->in[X]->x + row * ldx + t * (size_t)z->gates,
                       .ldx = ldx,
                       .gates = z->u + cells * (size_t)z->gates,
                       .kept = z->kept ? z->kept + cells * (size_t)z->width : NULL,
                       .before = first + row * (size_t)z->states,
                       .ldbefore = (size_t)z->states,
                       .after = n->y->x + row * far + t * (size_t)z->states,
                       .ldafter = far};
    if (s > 0) j.before = n->y->x + row * far + last * (size_t)z->states, j.ldbefore = far;
    if (n->in[PAD]) {
        j.ldpad = (size_t)z->steps;
        j.pad = n->in[PAD]->i + row * j.ldpad + t;
    }
    return j;
}

/* All steps of the rows of a batch, which do not depend on one another. */
typedef struct {
    heed_node *n;
    const sizes *z;
    heed__transposed w;
    /* Backward: gradients of X, of the state's contributions (T,B,G h) and of the first state
     * (B,S), and the states before each step (T,B,h), for one product with gu at the end. */
    heed_real *gx, *gu, *carry, *before;
    bool add; /* to gx */
} pass;

/* Of a pass over all steps, for products of 2 B G h^2 and gates. */
static double work_of(const sizes *z) {
    return (double)z->steps * z->rows * z->gates * (2.0 * z->width + 20);
}

static void forward_rows(const heed_kernels *k, const void *job, int from, int to) {
    const pass *p = job;
    const sizes *z = p->z;
    for (int s = 0; s < z->steps; s++) {
        heed_cell_job j = step_job(p->n, z, s, from, to);
        k->gemm(k, &(heed_gemm){.m = j.rows,
                                .n = z->gates,
                                .k = z->width,
                                .a = j.before,
                                .lda = (int)j.ldbefore,
                                .b = p->w.b,
                                .ldb = p->w.ldb,
                                .tb = p->w.tb,
                                .c = j.gates,
                                .ldc = z->gates,
                                .bias = p->n->in[B] ? p->n->in[B]->x : NULL});
        k->cell(k, &j);
    }
}

static void forward(heed_node *n) {
    sizes z;
    if (!memory(n, &z)) return;
    n->k->fill(n->k, z.zeros, 0, (size_t)z.rows * (size_t)z.states);
    pass p = {.n = n, .z = &z};
    p.w = heed__transpose(n, n->in[W]->x, z.gates, z.width, z.width, z.steps);
    heed__share_rows(n->k, z.rows, work_of(&z), forward_rows, &p);
    heed__transpose_done(n, &p.w);
}

/* Backpropagates through time. */
static void backward_rows(const heed_kernels *k, const void *job, int from, int to) {
    const pass *p = job;
    const sizes *z = p->z;
    const heed_recurrent_args *a = p->n->args;
    heed_real *carry = p->carry + (size_t)from * (size_t)z->states;
    for (int s = z->steps - 1; s >= 0; s--) {
        heed_cell_job j = step_job(p->n, z, s, from, to);
        size_t t = (size_t)(a->reverse ? z->steps - 1 - s : s), row = (size_t)from;
        j.gy = p->n->y->g + row * j.ldafter + t * (size_t)z->states;
        j.gx = p->gx ? p->gx + row * j.ldx + t * (size_t)z->gates : NULL;
        j.gu = p->gu + ((size_t)s * (size_t)z->rows + row) * (size_t)z->gates;
        j.carry = carry;
        j.add = p->add;
        heed__gather(p->before + ((size_t)s * (size_t)z->rows + row) * (size_t)z->width, &j);
        k->cell_grad(k, &j);
        k->gemm(k, &(heed_gemm){.m = j.rows,
                                .n = z->width,
                                .k = z->gates,
                                .a = j.gu,
                                .lda = z->gates,
                                .b = p->n->in[W]->x,
                                .ldb = z->width,
                                .c = carry,
                                .ldc = z->states,
                                .add = true});
    }
}

static void backward(heed_node *n) {
    sizes z;
    if (!memory(n, &z)) return;
    size_t cells = (size_t)z.steps * (size_t)z.rows, first = (size_t)z.rows * (size_t)z.states;
    size_t gates = cells * (size_t)z.gates, states = cells * (size_t)z.width;
    size_t bytes = (gates + states + first) * sizeof(heed_real);
    heed_real *gu = heed_scratch(n, bytes), *before = gu + gates, *carry = before + states;
    if (!gu) return;
    pass p = {.n = n, .z = &z, .gu = gu, .before = before, .carry = carry};
    p.gx = heed_grad_into(n, X, &p.add);
    n->k->fill(n->k, carry, 0, first);
    heed__share_rows(n->k, z.rows, work_of(&z), backward_rows, &p);
    heed_real *gb = heed_grad(n, B), *gs = heed_grad(n, STATE);
    if (gs) n->k->axpy(n->k, gs, carry, 1, first);
    if (gb) n->k->sum_rows(n->k, gb, gu, cells, z.gates);
    heed__weight_grad(n, z.gates, gu, before, z.width, z.width, (int)cells, heed_grad(n, W),
                      z.width);
    heed_scratch_done(n, gu, bytes);
}

static const heed_recurrent_args args[] = {
    {HEED_RNN, HEED_TANH, false},    {HEED_RNN, HEED_RELU, false}, {HEED_RNN, HEED_SIGMOID, false},
    {HEED_RNN, HEED_IDENTITY, true}, {HEED_GRU, HEED_TANH, false}, {HEED_GRU, HEED_TANH, true},
    {HEED_LSTM, HEED_TANH, false},   {HEED_LSTM, HEED_TANH, true}};
static const heed_case cases[] = {
    {.shapes = "2x3x4 4x4 4 2x4 -", .args = &args[0]},
    {.shapes = "2x4x3 3x3 - - m2x4", .args = &args[0]},
    {.shapes = "1x1x1 1x1 1 1x1 -", .args = &args[0]},
    {.shapes = "2x3x4 4x4 4 2x4 -", .args = &args[1], .lo = 0.1f, .hi = 0.6f},
    {.shapes = "3x3x4 4x4 4 3x4 m3x3", .args = &args[2]},
    {.shapes = "2x3x4 4x4 4 - m2x3", .args = &args[3]},
    {.shapes = "2x3x9 9x3 9 2x3 -", .args = &args[4]},
    {.shapes = "2x4x9 9x3 - - m2x4", .args = &args[4]},
    {.shapes = "3x3x51 51x17 51 3x17 m3x3", .args = &args[5]},
    {.shapes = "2x3x12 12x3 12 2x6 -", .args = &args[6]},
    {.shapes = "2x4x12 12x3 - - m2x4", .args = &args[6]},
    {.shapes = "3x3x68 68x17 68 3x34 m3x3", .args = &args[7]},
    {0}};

const heed_op heed_ops_recurrent[] = {
    {"recurrent", "rrr?r?i?", infer, forward, backward, cases, sizeof(heed_recurrent_args)}, {0}};

heed_tensor *heed_recurrent(heed_tape *t, heed_tensor *gates, heed_tensor *w, heed_tensor *b,
                            heed_tensor *state, heed_tensor *pad, const heed_recurrent_args *a) {
    static const heed_recurrent_args usual = {HEED_RNN, HEED_TANH, false};
    if (!a) a = &usual;
    if (!heed__act_of_cell(a->act) || (unsigned)a->cell > HEED_LSTM) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "recurrent: expected a cell among rnn, gru, lstm, with tanh, relu, sigmoid or "
                  "identity");
        return NULL;
    }
    return heed_push(t, heed_ops_recurrent, a, gates, w, b, state, pad);
}
