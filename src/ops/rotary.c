/* rotary.c -- rotary positions, in halves: for a head of width e at position p, and the angle
 * a_i = p theta^(-2i / e), y_i = x_i cos a_i - x_{i+e/2} sin a_i and y_{i+e/2} = x_{i+e/2} cos a_i
 * + x_i sin a_i. Backward turns the gradient by -a_i. Su et al. 2021, eq. 15 and 34, which pairs
 * neighbours instead of halves: the same up to the order of the columns. */
#include "ops/shape.h"

#include <limits.h>
#include <math.h>

/* Rows of x are (item, token); each begins with heads of `width`. */
static bool infer(heed_node *n) {
    const heed_rotary_args *a = n->args;
    const heed_tensor *x = n->in[0];
    if (a->heads < 1 || a->width < 2 || a->width % 2)
        return heed_op_error(n, "%d heads of width %d: expected at least 1, of an even width",
                             a->heads, a->width);
    if (a->first < 0 || !(a->theta > 0))
        return heed_op_error(n,
                             "the first position %d and theta %g: expected at least 0, and above 0",
                             a->first, (double)a->theta);
    if (x->dims < 2 || (int64_t)a->heads * a->width > heed__from_last(x, 0))
        return heed__bad_shape(n, 0, "x is not (...,T,C) with C of at least %d heads x %d",
                               a->heads, a->width);
    if (heed__from_last(x, 1) > INT_MAX - a->first)
        return heed__bad_shape(n, 0, "positions beyond 2^31");
    return heed_op_output_like(n, 0);
}

/* The cosine and sine of each angle: (T, width / 2, 2). */
static void angles(const heed_rotary_args *a, int tokens, heed_real *turn) {
    for (int i = 0; i < a->width / 2; i++) {
        double speed = pow((double)a->theta, -2.0 * i / a->width);
        for (int t = 0; t < tokens; t++) {
            heed_real *at = turn + 2 * ((size_t)t * (size_t)(a->width / 2) + (size_t)i);
            at[0] = (heed_real)cos((a->first + t) * speed);
            at[1] = (heed_real)sin((a->first + t) * speed);
        }
    }
}

/* Rotates one head: y = x rotated, or y += x rotated; back: by the opposite angle. */
static void turn_head(const heed_real *turn, int half, bool back, bool add, const heed_real *x,
                      heed_real *y) {
    for (int i = 0; i < half; i++) {
        heed_real c = turn[2 * i], s = back ? -turn[2 * i + 1] : turn[2 * i + 1];
        heed_real low = x[i] * c - x[half + i] * s, high = x[half + i] * c + x[i] * s;
        y[i] = add ? y[i] + low : low;
        y[half + i] = add ? y[half + i] + high : high;
    }
}

static void turn_all(const heed_node *n, bool back, bool add, const heed_real *x, heed_real *y) {
    const heed_rotary_args *a = n->args;
    size_t cols = (size_t)heed__from_last(n->y, 0), tokens = (size_t)heed__from_last(n->y, 1);
    size_t width = (size_t)a->width, end = (size_t)a->heads * width;
    const heed_real *turn = n->scratch;
    for (size_t row = 0; row < heed__rows(n->y); row++, x += cols, y += cols) {
        for (size_t at = 0; at < end; at += width)
            turn_head(turn + row % tokens * width, a->width / 2, back, add, x + at, y + at);
        for (size_t i = end; i < cols; i++) y[i] = add ? y[i] + x[i] : x[i];
    }
}

/* scratch: the cosines and sines, which backward reads again. */
static void forward(heed_node *n) {
    const heed_rotary_args *a = n->args;
    int tokens = heed__from_last(n->y, 1);
    n->scratch = heed_scratch(n, (size_t)tokens * (size_t)a->width * sizeof(heed_real));
    if (!n->scratch) return;
    angles(a, tokens, n->scratch);
    turn_all(n, false, false, n->in[0]->x, n->y->x);
}

static void backward(heed_node *n) {
    bool add;
    heed_real *g = heed_grad_into(n, 0, &add);
    if (g) turn_all(n, true, add, n->y->g, g);
}

#define ARGS(...)                                                                                  \
    &(const heed_rotary_args) { __VA_ARGS__ }
static const heed_case cases[] = {
    {.shapes = "1x2", .args = ARGS(1, 2, 0, 10000)},
    {.shapes = "5x8", .args = ARGS(2, 4, 0, 10000)},
    {.shapes = "2x5x11", .args = ARGS(2, 4, 3, 100)}, /* three columns are copied */
    {.shapes = "2x2x3x12", .args = ARGS(1, 6, 1000, 500000)},
    {0}};

const heed_op heed_ops_rotary[] = {
    {"rotary", "r", infer, forward, backward, cases, sizeof(heed_rotary_args)}, {0}};

/* Missing arguments are treated as zero heads, which the shape rule rejects. */
heed_tensor *heed_rotary(heed_tape *t, heed_tensor *x, const heed_rotary_args *args) {
    static const heed_rotary_args nothing = {0};
    return heed_push(t, heed_ops_rotary, args ? args : &nothing, x);
}
