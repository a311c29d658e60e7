/* norm.c -- y = (x - mean) / sqrt(var + eps) gain + bias, var biased. layer_norm: over the last
 * dim, Ba, Kiros & Hinton 2016, eq. 4; with h = (x - mean) rstd and gh = gy gain: gx = rstd (gh -
 * mean(gh) - h mean(gh h)). rms_norm: the same with mean 0 and without bias, Zhang & Sennrich 2019,
 * eq. 4. batch_norm: per column, over all but the last dim (channels last), Ioffe & Szegedy 2015,
 * alg. 1: in training, mean and var are the batch's, and the running statistics are updated:
 * running = (1 - momentum) running + momentum batch, with the unbiased var, as in PyTorch; in eval,
 * they are used. */
#include "ops/args.h"
#include "ops/shape.h"

#include <math.h>

enum { X, GAIN, BIAS, MEAN, VAR };

static bool infer(heed_node *n) {
    static const char *const names[] = {"x", "gain", "bias", "running mean", "running var"};
    if (n->in[X]->dims < 1) return heed__bad_shape(n, X, "x needs at least 1 dim");
    int width = heed__from_last(n->in[X], 0);
    for (int i = 1; i < n->inputs; i++)
        if (n->in[i] && (n->in[i]->dims != 1 || n->in[i]->shape[0] != width))
            return heed__bad_shapes(n, X, i, "%s is not (%d)", names[i], width);
    return heed_op_output_like(n, X);
}

static bool infer_batch(heed_node *n) {
    if (!infer(n)) return false;
    return !n->training || heed__rows(n->y) >= 2 ||
           heed__bad_shape(
               n, X, "training needs at least 2 rows to have a variance; hint: another `batch`");
}

static bool is_batch(const heed_node *n) { return n->inputs > VAR; }
static bool is_rms(const heed_node *n) { return n->inputs <= BIAS; }

/* scratch: mean, but for rms_norm, and rstd of each row, or of each column */
static size_t statistics(const heed_node *n) {
    return is_batch(n) ? (size_t)heed__from_last(n->y, 0) : heed__rows(n->y);
}
static heed_norm_job job_of(const heed_node *n) {
    heed_real *first = n->scratch;
    return (heed_norm_job){.rows = heed__rows(n->y),
                           .c = heed__from_last(n->y, 0),
                           .eps = *(const heed_real *)n->args,
                           .x = n->in[X]->x,
                           .gain = heed__values(n->in[GAIN]),
                           .bias = is_rms(n) ? NULL : heed__values(n->in[BIAS]),
                           .mean = is_rms(n) ? NULL : first,
                           .rstd = is_rms(n) ? first : first + statistics(n),
                           .y = n->y->x,
                           .batch = n->training};
}
static bool keep_statistics(heed_node *n) {
    n->scratch = heed_scratch(n, (is_rms(n) ? 1 : 2) * statistics(n) * sizeof(heed_real));
    return n->scratch != NULL;
}

static void compute(heed_node *n) {
    heed_norm_job j = job_of(n);
    n->k->layer_norm(n->k, &j);
}
static void again(heed_node *n) {
    n->y->x = heed_scratch(n, n->y->size * sizeof *n->y->x);
    if (n->y->x) compute(n);
}
static void forward(heed_node *n) {
    if (keep_statistics(n)) compute(n);
    n->again = again;
}

static void forward_batch(heed_node *n) {
    const heed__batch_norm_args *a = n->args;
    if (!keep_statistics(n)) return;
    heed_norm_job j = job_of(n);
    size_t bytes = (size_t)j.c * sizeof *j.mean;
    heed_real *var = j.rstd; /* at first */
    if (n->training) {
        n->k->column_stats(n->k, j.mean, var, j.x, j.rows, j.c);
        double m = (double)a->momentum, unbiased = (double)j.rows / (double)(j.rows - 1);
        heed_update_state(n, MEAN, 1 - m, m, j.mean);
        heed_update_state(n, VAR, 1 - m, m * unbiased, var);
    } else {
        memcpy(j.mean, n->in[MEAN]->x, bytes);
        memcpy(var, n->in[VAR]->x, bytes);
    }
    for (int i = 0; i < j.c; i++) j.rstd[i] = (heed_real)(1 / sqrt((double)(var[i] + a->eps)));
    n->k->batch_norm(n->k, &j);
}

static void backward(heed_node *n) {
    heed_norm_job j = job_of(n);
    j.gy = n->y->g;
    j.gx = heed_grad_into(n, X, &j.add);
    j.ggain = heed_grad(n, GAIN);
    j.gbias = is_rms(n) ? NULL : heed_grad(n, BIAS);
    (is_batch(n) ? n->k->batch_norm_grad : n->k->layer_norm_grad)(n->k, &j);
}

static const heed_real bert = (heed_real)1e-5, large = (heed_real)0.1;
static const heed_case layer_cases[] = {{.shapes = "3x5 5 5", .args = &bert},
                                        {.shapes = "3x5 - -", .args = &bert},
                                        {.shapes = "3x5 5 -", .args = &bert},
                                        {.shapes = "3x5 - 5", .args = &bert},
                                        {.shapes = "7 7 7", .args = &large},
                                        {.shapes = "4x1 1 1", .args = &large},
                                        {.shapes = "2x3x33 33 33", .args = &bert},
                                        {.shapes = "2x2x3x4 4 4", .args = &large},
                                        {0}};
static const heed_case rms_cases[] = {{.shapes = "3x5 5", .args = &bert},
                                      {.shapes = "3x5 -", .args = &bert},
                                      {.shapes = "7 7", .args = &large},
                                      {.shapes = "4x1 1", .args = &large},
                                      {.shapes = "2x3x33 33", .args = &bert},
                                      {.shapes = "2x2x3x4 4", .args = &large},
                                      {0}};
static const heed__batch_norm_args usual = {(heed_real)1e-5, (heed_real)0.1},
                                   wide = {(heed_real)0.1, 1};
#define CASE(text, a, mode)                                                                        \
    { .shapes = text, .args = &(a), .lo = 0.5f, .hi = 2, .eval = mode, .fixed = 3u << 3 }
static const heed_case batch_cases[] = {CASE("6x3 3 3 3 3", usual, false),
                                        CASE("2x1 1 1 1 1", wide, false),
                                        CASE("2x3x4 4 - 4 4", usual, false),
                                        CASE("2x2x3x17 17 17 17 17", usual, false),
                                        CASE("9x5 - 5 5 5", wide, false),
                                        CASE("6x3 3 3 3 3", usual, true),
                                        CASE("4 4 4 4 4", usual, true),
                                        CASE("2x3x4 - - 4 4", wide, true),
                                        {0}};

const heed_op heed_ops_norm[] = {
    {"layer_norm", "rr?r?", infer, forward, backward, layer_cases, sizeof(heed_real)},
    {"rms_norm", "rr?", infer, forward, backward, rms_cases, sizeof(heed_real)},
    {"batch_norm", "rr?r?rr", infer_batch, forward_batch, backward, batch_cases,
     sizeof(heed__batch_norm_args)},
    {0}};

heed_tensor *heed_layer_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_tensor *bias,
                             heed_real eps) {
    return heed_push(t, &heed_ops_norm[0], &eps, x, gain, bias);
}
heed_tensor *heed_rms_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_real eps) {
    return heed_push(t, &heed_ops_norm[1], &eps, x, gain);
}
heed_tensor *heed_batch_norm(heed_tape *t, heed_tensor *x, heed_tensor *gain, heed_tensor *bias,
                             heed_tensor *mean, heed_tensor *var, heed_real eps,
                             heed_real momentum) {
    return heed_push(t, &heed_ops_norm[2], &(heed__batch_norm_args){eps, momentum}, x, gain, bias,
                     mean, var);
}
