/* Additive attention against plain loops in double. Dot products: tests/ops/test_attention.c. */
#include "kernel_case.h"

/* Numbers that are near, far keys in row 1, a far query in row 2. */

enum { ROWS = 3, LEN = 5, INNER = 19, WIDTH = 7, PLACES = ROWS * LEN };
typedef struct {
    heed_real *q, *keys, *values, *v, *gc;
} additive;

static additive additive_inputs(void) {
    additive in = {kernel_numbers(50, ROWS * INNER), kernel_numbers(51, PLACES * INNER),
                   kernel_numbers(52, PLACES * WIDTH), kernel_numbers(53, INNER),
                   kernel_numbers(54, ROWS * WIDTH)};
    for (int i = 0; i < LEN * INNER; i++) in.keys[LEN * INNER + i] *= 60;
    in.q[2 * INNER + 3] = 70;
    in.keys[2 * LEN * INNER + 3] = -69;
    return in;
}
/* out: weights, context, gq, gkeys, gvalues, gv */
static void run_additive(const heed_kernels *k, const void *args, heed_real *out) {
    additive in = additive_inputs();
    heed_real ekeys[PLACES * INNER], equery[ROWS * INNER], ge[PLACES];
    heed_real *context = out + PLACES, *gq = context + ROWS * WIDTH, *gk = gq + ROWS * INNER;
    heed_additive_attention_job j = {.rows = ROWS,
                                     .len = LEN,
                                     .inner = INNER,
                                     .width = WIDTH,
                                     .query = in.q,
                                     .keys = in.keys,
                                     .ekeys = *(const bool *)args ? ekeys : NULL,
                                     .equery = *(const bool *)args ? equery : NULL,
                                     .values = in.values,
                                     .v = in.v,
                                     .weights = out,
                                     .ldweights = LEN,
                                     .context = context,
                                     .ldcontext = WIDTH,
                                     .gcontext = in.gc,
                                     .ldgcontext = WIDTH,
                                     .steps = 1,
                                     .gscores = ge,
                                     .gquery = gq,
                                     .gkeys = gk,
                                     .gvalues = gk + PLACES * INNER,
                                     .gv = gk + PLACES * (INNER + WIDTH)};
    k->scale(k, ekeys, in.keys, 2, 0, PLACES * INNER);
    k->activate(k, HEED_EXP, ekeys, ekeys, PLACES * INNER);
    k->additive_attention(k, &j);
    k->additive_attention_grad(k, &j);
}

static void plain_additive_row(const additive *in, int r, double *out) {
    double *w = out + r * LEN, *c = out + PLACES + r * WIDTH;
    double *gq = out + PLACES + ROWS * WIDTH + r * INNER;
    double *gk = out + PLACES + ROWS * (WIDTH + INNER), *gvalues = gk + PLACES * INNER;
    double *gv = gvalues + PLACES * WIDTH + r * INNER, sum = 0, dot = 0, ga[LEN] = {0};
    for (int s = 0; s < LEN; s++) {
        double e = 0;
        for (int i = 0; i < INNER; i++)
            e += (double)in->v[i] *
                 tanh((double)in->q[r * INNER + i] + (double)in->keys[(r * LEN + s) * INNER + i]);
        sum += w[s] = exp(e);
    }
    for (int s = 0; s < LEN; s++) {
        w[s] /= sum;
        for (int i = 0; i < WIDTH; i++) {
            double g = (double)in->gc[r * WIDTH + i];
            double v = (double)in->values[(r * LEN + s) * WIDTH + i];
            c[i] += w[s] * v;
            ga[s] += g * v;
            gvalues[(r * LEN + s) * WIDTH + i] = w[s] * g;
        }
        dot += w[s] * ga[s];
    }
    for (int s = 0; s < LEN; s++)
        for (int i = 0; i < INNER; i++) {
            int at = (r * LEN + s) * INNER + i;
            double t = tanh((double)in->q[r * INNER + i] + (double)in->keys[at]);
            double ge = w[s] * (ga[s] - dot), g = ge * (double)in->v[i] * (1 - t * t);
            gv[i] += ge * t;
            gq[i] += g;
            gk[at] = g;
        }
}
static void want_additive(const void *args, double *out) {
    additive in = additive_inputs();
    (void)args;
    for (int r = 0; r < ROWS; r++) plain_additive_row(&in, r, out);
}

TEST(kernels_additive_attention) {
    size_t size = PLACES + ROWS * (WIDTH + 2 * INNER) + PLACES * (INNER + WIDTH);
    for (int with = 0; with < 2; with++)
        kernel_check(&(kernel_case){"additive_attention", size, run_additive, want_additive,
                                    &(const bool){with}, 16});
}
