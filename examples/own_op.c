/* A custom op, y = sin(x), with the same abilities as the library's: recorded, differentiated and
 * checked against finite differences.
 *     cc own_op.c $(pkg-config --cflags --libs heed) -o own_op */
#include <heed/heed.h>
#include <math.h>
#include <stdio.h>

static bool infer(heed_node *n) { return heed_op_output_like(n, 0); }

static void forward(heed_node *n) {
    for (size_t i = 0; i < n->y->size; i++) n->y->x[i] = (heed_real)sin((double)n->in[0]->x[i]);
}

/* dL/dx += cos(x) dL/dy. heed_grad is NULL if x needs no gradient. */
static void backward(heed_node *n) {
    heed_real *g = heed_grad(n, 0);
    for (size_t i = 0; g && i < n->y->size; i++)
        g[i] += (heed_real)cos((double)n->in[0]->x[i]) * n->y->g[i];
}

static const heed_case cases[] = {{.shapes = "3x5"}, {.shapes = "7", .lo = -6, .hi = 6}, {0}};
static const heed_op sine[] = {{.name = "sine",
                                .inputs = "r",
                                .infer = infer,
                                .forward = forward,
                                .backward = backward,
                                .cases = cases},
                               {0}};

static heed_tensor *own_sine(heed_tape *t, heed_tensor *x) { return heed_push(t, sine, NULL, x); }

int main(void) {
    heed_ctx *c = heed_open(NULL);
    heed_tape *t = heed_tape_new(c);
    heed_tape_begin(t, HEED_TRAIN, 0);
    const heed_real values[] = {0, 1, 2};
    const int shape[] = {3};
    heed_tensor *x = heed_want_grad(t, heed_input(t, values, 1, shape));
    heed_tensor *y = own_sine(t, x);
    heed_backward(t, heed_sum(t, y));
    for (int i = 0; y && x->g && i < 3; i++)
        printf("sin(%.0f) = %6.4f   derivative %7.4f\n", (double)x->x[i], (double)y->x[i],
               (double)x->g[i]);
    heed_check check = heed_gradcheck(c, sine);
    printf("gradient check of %d cases: largest disagreement %.0e\n", check.cases, check.error);
    bool ok =
        heed_ctx_status(c) == HEED_OK && check.cases == 2 && check.error >= 0 && check.error < 0.05;
    if (heed_ctx_status(c) != HEED_OK) fprintf(stderr, "own_op: %s\n", heed_ctx_error(c));
    heed_close(c);
    return ok ? 0 : 1; /* single precision makes differences coarse; the double build uses 1e-6 */
}
