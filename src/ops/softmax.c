/* softmax.c -- over the last dim, excluding masked entries: softmax p_j = exp(beta x_j) / sum_k
 * exp(beta x_k), log-softmax log p_j, hardmax one-hot of the largest x. beta is the inverse
 * temperature: 0 gives the mean, large values the hard selection. dp_j/dx_k = beta p_j (1[j = k] -
 * p_k). The derivative of the hard selection is zero almost everywhere; its backward is defined as
 * the soft one's. */
#include "ops/shape.h"

#include <math.h>

enum { X, MASK };

/* The rows of a mask for the rows of x: dims of size 1 broadcast. */
static bool check_mask(heed_node *n) {
    const heed_tensor *x = n->in[X], *mask = n->in[MASK];
    if (!mask) return true;
    if (mask->dims > x->dims) return heed__bad_shapes(n, X, MASK, "the mask has more dims");
    for (int d = 0; d < mask->dims; d++) {
        int own = heed__from_last(mask, d), size = heed__from_last(x, d);
        if (own != size && (own != 1 || d == 0))
            return heed__bad_shapes(n, X, MASK, "mask size %d != %d", own, size);
    }
    return true;
}

/* Row r of x reads mask row (r / div) % rows if the mask's dims, except for dims of size 1 on
 * either side, equal those of x. */
static bool mask_repeats(const heed_tensor *x, const heed_tensor *mask, heed_softmax_job *a) {
    a->mask_div = a->mask_rows = 1;
    for (int d = 1; d < x->dims; d++) {
        int own = heed__from_last(mask, d), size = heed__from_last(x, d);
        bool inner = a->mask_rows == 1;
        if (own != size && inner) a->mask_div *= (size_t)size;
        if (own == size) a->mask_rows *= (size_t)size;
        if (own != size && !inner)
            for (int e = d + 1; e < x->dims; e++)
                if (heed__from_last(mask, e) != 1) return false;
        if (own != size && !inner) return true;
    }
    return true;
}

/* Expands the mask to one row for every row of x. */
static int32_t *spread_mask(heed_node *n, size_t rows) {
    const heed_tensor *x = n->in[X], *mask = n->in[MASK];
    size_t stride[HEED_DIMS], width = (size_t)heed__from_last(x, 0);
    int32_t *full = heed_scratch(n, rows * width * sizeof *full);
    heed__strides(mask, stride);
    for (size_t r = 0; full && r < rows; r++) {
        size_t left = r, at = 0;
        for (int d = 1; d < x->dims; d++) {
            at += left % (size_t)heed__from_last(x, d) * stride[HEED_DIMS - 1 - d];
            left /= (size_t)heed__from_last(x, d);
        }
        memcpy(full + r * width, mask->i + at, width * sizeof *full);
    }
    return full;
}

static bool infer(heed_node *n) {
    const heed_real *beta = n->args;
    const heed_tensor *x = n->in[X], *mask = n->in[MASK];
    if (x->dims < 1) return heed__bad_shape(n, X, "x needs at least 1 dim");
    if (!check_mask(n)) return false;
    heed_softmax_job *j = n->scratch = heed_scratch(n, sizeof *j);
    if (!j) return false;
    *j = (heed_softmax_job){.rows = heed__rows(x),
                            .n = heed__from_last(x, 0),
                            .beta = *beta,
                            .mask_div = 1,
                            .mask_rows = 1,
                            .x = x->x};
    if (mask) {
        bool repeats = mask_repeats(x, mask, j);
        j->mask = repeats ? mask->i : spread_mask(n, j->rows);
        if (!repeats) j->mask_div = 1, j->mask_rows = j->rows;
        if (!j->mask) return false;
    }
    return heed_op_output_like(n, X);
}

/* scratch: the kernel's job, with the soft values of a hard selection */
static void forward(heed_node *n) {
    heed_softmax_job *j = n->scratch;
    j->y = n->y->x;
    n->k->softmax(n->k, j);
}
static void log_forward(heed_node *n) {
    ((heed_softmax_job *)n->scratch)->log = true;
    forward(n);
}

static void backward(heed_node *n) {
    heed_softmax_job *j = n->scratch;
    j->gx = heed_grad(n, X);
    j->gy = n->y->g;
    if (j->gx) n->k->softmax_grad(n->k, j);
}

/* One-hot of the largest unmasked entry, the lowest index if tied. The sign of beta is ignored:
 * this is the limit for large positive beta. */
static void select_row(const heed_softmax_job *a, size_t row, heed_real *y, const heed_real *x) {
    const int32_t *mask =
        a->mask ? a->mask + row / a->mask_div % a->mask_rows * (size_t)a->n : NULL;
    int best = -1;
    bool numbers = true; /* a row with a NaN has no largest score */
    for (int j = 0; j < a->n; j++) {
        y[j] = 0;
        if (mask && !mask[j]) continue;
        numbers &= !isnan(x[j]);
        if (best < 0 || x[j] > x[best]) best = j;
    }
    if (best >= 0) y[best] = 1;
    for (int j = 0; !numbers && j < a->n; j++) y[j] = !mask || mask[j] ? (heed_real)NAN : 0;
}

static void hard_forward(heed_node *n) {
    heed_softmax_job *j = n->scratch;
    size_t width = (size_t)j->n;
    for (size_t r = 0; r < j->rows; r++) select_row(j, r, n->y->x + r * width, j->x + r * width);
    if (!n->recording) return;
    j->y = heed_scratch(n, n->y->size * sizeof *j->y);
    if (j->y) n->k->softmax(n->k, j);
}

static const heed_real one = 1, cold = 3, flat = 0;
static const heed_case cases[] = {{.shapes = "5 -", .args = &one},
                                  {.shapes = "1 -", .args = &one},
                                  {.shapes = "3x1 -", .args = &one},
                                  {.shapes = "3x17 -", .args = &cold, .lo = -3, .hi = 3},
                                  {.shapes = "2x3x4 -", .args = &flat},
                                  {.shapes = "3x5 m3x5", .args = &one},
                                  {.shapes = "3x5 m5", .args = &cold},
                                  {.shapes = "2x3x4x5 m4x5", .args = &one},
                                  {.shapes = "2x3x4x5 m2x1x1x5", .args = &one},
                                  {.shapes = "2x3x4x5 m2x1x4x5", .args = &one},
                                  {.shapes = "2x3x4x5 m1x3x1x5", .args = &one},
                                  {.shapes = "4x6x3 m4x1x3", .args = &one},
                                  {.shapes = "8x2 m8x2", .args = &one}, /* fully masked rows */
                                  {0}};

extern const heed_op heed_ops_softmax[4];
static const heed_surrogate soft = {heed_ops_softmax, &cold};
#define HARD(text)                                                                                 \
    { .shapes = text, .args = &cold, .surrogate = &soft }
static const heed_case hard_cases[] = {
    HARD("5 -"), HARD("1 -"), HARD("3x5 m5"), HARD("2x3x4x5 m2x1x4x5"), HARD("8x2 m8x2"), {0}};

const heed_op heed_ops_softmax[] = {
    {"softmax", "ri?", infer, forward, backward, cases, sizeof(heed_real)},
    {"log_softmax", "ri?", infer, log_forward, backward, cases, sizeof(heed_real)},
    {"hardmax", "ri?", infer, hard_forward, backward, hard_cases, sizeof(heed_real)},
    {0}};

heed_tensor *heed_softmax(heed_tape *t, heed_tensor *x, heed_real beta, heed_tensor *mask) {
    return heed_push(t, &heed_ops_softmax[0], &beta, x, mask);
}
heed_tensor *heed_log_softmax(heed_tape *t, heed_tensor *x, heed_real beta, heed_tensor *mask) {
    return heed_push(t, &heed_ops_softmax[1], &beta, x, mask);
}
heed_tensor *heed_hardmax(heed_tape *t, heed_tensor *x, heed_real beta, heed_tensor *mask) {
    return heed_push(t, &heed_ops_softmax[2], &beta, x, mask);
}
