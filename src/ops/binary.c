/* binary.c -- a + b, a - b, a b, a / b, elementwise; broadcasts as NumPy does. d(a b) = b da + a
 * db; d(a / b) = da / b - a / b^2 db. */
#include "ops/shape.h"

static heed_walk walk_of(const heed_node *n) {
    heed_walk w;
    size_t step = 1;
    for (int i = HEED_DIMS - 1; i >= 0; i--) {
        w.shape[i] = heed__from_last(n->y, HEED_DIMS - 1 - i);
        w.c[i] = step;
        step *= (size_t)w.shape[i];
    }
    heed__strides(n->in[0], w.a);
    heed__strides(n->in[1], w.b);
    return w;
}

static void run(heed_node *n, heed_binary f) {
    heed_walk w = walk_of(n);
    n->k->binary(n->k, f, n->y->x, n->in[0]->x, n->in[1]->x, &w);
}

/* Adds to the gradients of both inputs, or, if it is not -1, only of input `one`. */
static void run_back_of(heed_node *n, heed_binary f, int one) {
    heed_walk w = walk_of(n);
    n->k->binary_grad(n->k, f, one == 1 ? NULL : heed_grad(n, 0), one == 0 ? NULL : heed_grad(n, 1),
                      n->in[0]->x, n->in[1]->x, n->y->g, &w);
}
static void run_back(heed_node *n, heed_binary f) { run_back_of(n, f, -1); }

static void add(heed_node *n) { run(n, HEED_BIN_ADD); }
static void add_to(heed_node *n, int i) {
    const heed_tensor *y = n->y;
    bool add;
    heed_real *g = heed_grad_into(n, i, &add);
    if (g && add) n->k->axpy(n->k, g, y->g, 1, y->size);
    if (g && !add) n->k->copy(n->k, g, y->g, y->size);
}
/* The gradient of an input that is not broadcast equals that of the sum: it takes its array. If
 * neither is broadcast, the second input reads the array of the first, if possible. */
static void add_back(heed_node *n) {
    const heed_tensor *y = n->y;
    if (n->in[0]->size != y->size || n->in[1]->size != y->size) {
        int whole = n->in[0]->size == y->size ? 0 : 1;
        bool take = heed__grad_may_take(n, whole);
        run_back_of(n, HEED_BIN_ADD, take ? 1 - whole : -1);
        if (take) heed__grad_take(n, whole);
    } else if (heed__grad_may_take(n, 0)) {
        if (!heed__grad_lend(n, 1, 0)) add_to(n, 1);
        heed__grad_take(n, 0);
    } else {
        add_to(n, 0); /* one after the other, because both may be the same tensor */
        if (heed__grad_may_take(n, 1))
            heed__grad_take(n, 1);
        else
            add_to(n, 1);
    }
}
static void sub(heed_node *n) { run(n, HEED_BIN_SUB); }
static void sub_back(heed_node *n) { run_back(n, HEED_BIN_SUB); }
static void mul(heed_node *n) { run(n, HEED_BIN_MUL); }
static void mul_back(heed_node *n) { run_back(n, HEED_BIN_MUL); }
static void divide(heed_node *n) { run(n, HEED_BIN_DIV); }
static void divide_back(heed_node *n) { run_back(n, HEED_BIN_DIV); }

static const heed_case cases[] = {{.shapes = "s s"},           {.shapes = "1 1"},
                                  {.shapes = "3x5 3x5"},       {.shapes = "3x5 5"},
                                  {.shapes = "7 2x3x7"},       {.shapes = "s 2x3"},
                                  {.shapes = "2x3 1"},         {.shapes = "2x1x4 3x1"},
                                  {.shapes = "2x3x4x5 3x1x5"}, {.shapes = "1x3x1x5 2x1x4x1"},
                                  {.shapes = "2x3x4x17 4x17"}, {0}};
static const heed_case quotients[] = {{.shapes = "s s", .lo = 0.5f, .hi = 2},
                                      {.shapes = "3x5 3x5", .lo = 0.5f, .hi = 2},
                                      {.shapes = "3x5 5", .lo = -2, .hi = -0.5f},
                                      {.shapes = "5 2x3x5", .lo = 0.5f, .hi = 2},
                                      {.shapes = "2x1x4 3x1", .lo = 0.5f, .hi = 2},
                                      {.shapes = "1x3x1x5 2x1x4x1", .lo = 0.5f, .hi = 2},
                                      {0}};

const heed_op heed_ops_binary[] = {
    {"add", "rr", heed__out_broadcast, add, add_back, cases, 0},
    {"sub", "rr", heed__out_broadcast, sub, sub_back, cases, 0},
    {"mul", "rr", heed__out_broadcast, mul, mul_back, cases, 0},
    {"div", "rr", heed__out_broadcast, divide, divide_back, quotients, 0},
    {0}};

heed_tensor *heed_add(heed_tape *t, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, &heed_ops_binary[HEED_BIN_ADD], NULL, a, b);
}
heed_tensor *heed_sub(heed_tape *t, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, &heed_ops_binary[HEED_BIN_SUB], NULL, a, b);
}
heed_tensor *heed_mul(heed_tape *t, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, &heed_ops_binary[HEED_BIN_MUL], NULL, a, b);
}
heed_tensor *heed_div(heed_tape *t, heed_tensor *a, heed_tensor *b) {
    return heed_push(t, &heed_ops_binary[HEED_BIN_DIV], NULL, a, b);
}
