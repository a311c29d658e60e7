/* test_ops_dims.c -- ops that broadcast, or work along one dim, on tensors of every number of dims
 * up to four, each of another size: values and gradients against plain loops over coordinates. */
#include "values.h"

typedef struct {
    heed_random r;
    uint64_t drawn;
} dice;

static uint32_t below(dice *d, uint32_t bound) {
    return heed_random_below(&d->r, d->drawn++, bound);
}

static heed_tensor *draw(dice *d, heed_tape *t, int dims, const int *shape) {
    heed_tensor *x = heed_input(t, NULL, dims, shape);
    for (size_t i = 0; x && i < x->size; i++)
        x->x[i] = (heed_real)(0.5 + heed_random_uniform(&d->r, d->drawn++));
    return heed_want_grad(t, x);
}

static heed_tensor *draw_mask(dice *d, heed_tape *t, int dims, const int *shape) {
    int32_t ids[120];
    for (int i = 0; i < 120; i++) ids[i] = (int32_t)below(d, 3) - 1; /* -1 is true, too */
    return heed_input_ids(t, ids, dims, shape);
}

static const int sizes[HEED_DIMS] = {2, 3, 4, 5};
enum { MOST = 300 }; /* elements of a tensor of these, padded by up to 3 */

/* Up to four of the sizes, the last ones, some of them 1. */
static int any_shape(dice *d, int shape[HEED_DIMS]) {
    int dims = (int)below(d, HEED_DIMS + 1);
    for (int i = 0; i < dims; i++) shape[i] = below(d, 3) ? sizes[HEED_DIMS - dims + i] : 1;
    return dims;
}

/* The coordinates of an element, by the last dim first; beyond the first dim 0. */
static void coordinates(const heed_tensor *x, size_t element, int at[HEED_DIMS]) {
    for (int i = 0; i < HEED_DIMS; i++) {
        int size = i < x->dims ? x->shape[x->dims - 1 - i] : 1;
        at[i] = (int)(element % (size_t)size);
        element /= (size_t)size;
    }
}

/* The element there, where sizes of 1 stand for any. */
static size_t element_at(const heed_tensor *x, const int at[HEED_DIMS]) {
    size_t element = 0;
    for (int i = x->dims - 1; i >= 0; i--) {
        int size = x->shape[x->dims - 1 - i];
        element = element * (size_t)size + (size_t)(size == 1 ? 0 : at[i]);
    }
    return element;
}

static void check(const char *what, int line, const heed_real *x, const double *want, size_t n) {
    if (!x) test_fail(__FILE__, line, "%s is absent", what);
    for (size_t i = 0; x && i < n; i++)
        if (!(fabs((double)x[i] - want[i]) <= 20 * tiny * fmax(1, fabs(want[i])))) {
            test_fail(__FILE__, line, "%s[%zu] = %.9g, expected %.9g", what, i, (double)x[i],
                      want[i]);
            return;
        }
}

/* ---- broadcasting ---- */

enum { ADD, SUB, MUL, DIV, WHERE, BROADCASTS };
static const char *const names[] = {"add", "sub", "mul", "div", "where"};

/* One element's value, and its derivatives by a and b. */
static double value_of(int op, double a, double b, bool mask, double by[2]) {
    by[0] = op == MUL ? b : op == DIV ? 1 / b : op == WHERE ? mask : 1;
    by[1] = op == MUL ? a : op == DIV ? -a / b / b : op == WHERE ? !mask : op == SUB ? -1 : 1;
    return op == ADD   ? a + b
           : op == SUB ? a - b
           : op == MUL ? a * b
           : op == DIV ? a / b
           : mask      ? a
                       : b;
}

static heed_tensor *apply(heed_tape *t, int op, heed_tensor *mask, heed_tensor *a, heed_tensor *b) {
    switch (op) {
    case ADD:
        return heed_add(t, a, b);
    case SUB:
        return heed_sub(t, a, b);
    case MUL:
        return heed_mul(t, a, b);
    case DIV:
        return heed_div(t, a, b);
    default:
        return heed_where(t, mask, a, b);
    }
}

static void try_broadcast(dice *d, heed_tape *t, int op) {
    int of_a[HEED_DIMS], of_b[HEED_DIMS], of_mask[HEED_DIMS];
    int dims_a = any_shape(d, of_a), dims_b = any_shape(d, of_b), dims_m = any_shape(d, of_mask);
    heed_tensor *a = draw(d, t, dims_a, of_a), *b = draw(d, t, dims_b, of_b);
    heed_tensor *mask = draw_mask(d, t, dims_m, of_mask), *y = apply(t, op, mask, a, b);
    CHECK(y);
    if (!y) return;
    heed_tensor *gy = draw(d, t, y->dims, y->shape);
    double out[120], ga[120] = {0}, gb[120] = {0};
    for (size_t i = 0; i < y->size; i++) {
        int at[HEED_DIMS];
        double by[2];
        coordinates(y, i, at);
        size_t in_a = element_at(a, at), in_b = element_at(b, at), in_mask = element_at(mask, at);
        out[i] = value_of(op, (double)a->x[in_a], (double)b->x[in_b], mask->i[in_mask], by);
        ga[in_a] += by[0] * (double)gy->x[i];
        gb[in_b] += by[1] * (double)gy->x[i];
    }
    for (int i = 0; i < HEED_DIMS; i++) { /* of each dim the largest */
        int size = i < y->dims ? y->shape[y->dims - 1 - i] : 1, most = 1;
        const heed_tensor *in[] = {a, b, op == WHERE ? mask : a};
        for (int k = 0; k < 3; k++)
            if (i < in[k]->dims && in[k]->shape[in[k]->dims - 1 - i] > most)
                most = in[k]->shape[in[k]->dims - 1 - i];
        CHECK(size == most);
    }
    CHECK(heed_backward_from(t, y, gy->x));
    check(names[op], __LINE__, y->x, out, y->size);
    check(names[op], __LINE__, a->g, ga, a->size);
    check(names[op], __LINE__, b->g, gb, b->size);
}

TEST(ops_broadcast_over_every_dim) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    for (int op = 0; op < BROADCASTS; op++)
        for (uint64_t i = 0; i < 150; i++) {
            dice d = {heed_random_at(1, names[op], i, 0), 0};
            heed_tape_begin(t, HEED_TRAIN, i);
            try_broadcast(&d, t, op);
        }
    CLOSE(c);
}

/* ---- masks of a softmax ---- */

static void try_masked(dice *d, heed_tape *t, bool logs) {
    int dims = 1 + (int)below(d, HEED_DIMS), *shape = (int[HEED_DIMS]){0}, of_mask[HEED_DIMS];
    for (int i = 0; i < dims; i++) shape[i] = sizes[HEED_DIMS - dims + i];
    int skip = (int)below(d, (uint32_t)dims), left = dims - skip;
    for (int i = 0; i < left; i++) of_mask[i] = i == left - 1 || below(d, 2) ? shape[skip + i] : 1;
    heed_tensor *x = draw(d, t, dims, shape), *mask = draw_mask(d, t, left, of_mask);
    heed_tensor *y = logs ? heed_log_softmax(t, x, 2, mask) : heed_softmax(t, x, 2, mask);
    heed_tensor *gy = draw(d, t, dims, shape);
    CHECK(y && heed_backward_from(t, y, gy->x));
    if (!y) return;
    double out[120], gx[120];
    size_t n = (size_t)shape[dims - 1];
    for (size_t row = 0; row < x->size / n; row++) {
        double sum = 0, dot = 0, of_gy = 0, p[5];
        bool seen[5];
        for (size_t j = 0; j < n; j++) {
            int at[HEED_DIMS];
            coordinates(x, row * n + j, at);
            seen[j] = mask->i[element_at(mask, at)];
            sum += p[j] = seen[j] ? exp(2 * (double)x->x[row * n + j]) : 0;
        }
        for (size_t j = 0; j < n; j++) {
            p[j] = sum > 0 ? p[j] / sum : 0;
            dot += p[j] * (double)gy->x[row * n + j];
            of_gy += seen[j] ? (double)gy->x[row * n + j] : 0;
        }
        for (size_t j = 0; j < n; j++) {
            double g = (double)gy->x[row * n + j];
            out[row * n + j] = !logs ? p[j] : seen[j] ? log(p[j]) : 0;
            gx[row * n + j] = !logs ? 2 * p[j] * (g - dot) : seen[j] ? 2 * (g - p[j] * of_gy) : 0;
        }
    }
    check("softmax", __LINE__, y->x, out, y->size);
    check("the gradient of softmax", __LINE__, x->g, gx, x->size);
}

TEST(ops_softmax_masks_broadcast_over_every_dim) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    for (uint64_t i = 0; i < 300; i++) {
        dice d = {heed_random_at(1, "masks", i, 0), 0};
        heed_tape_begin(t, HEED_TRAIN, i);
        try_masked(&d, t, i % 2);
    }
    CLOSE(c);
}

/* ---- along one dim ---- */

/* Element of x whose coordinate in a dim (from the first) is changed. */
static size_t moved(const heed_tensor *x, const int at[HEED_DIMS], int dim, int to) {
    int there[HEED_DIMS];
    memcpy(there, at, sizeof there);
    there[x->dims - 1 - dim] = to;
    return element_at(x, there);
}

/* y's element i must be x's element from[i], and gradients must go there; -1: from no element. */
static void check_moves(dice *d, heed_tape *t, const char *what, const heed_tensor *x,
                        heed_tensor *y, const long *from, double otherwise) {
    double out[MOST], gx[120] = {0};
    heed_tensor *gy = y ? draw(d, t, y->dims, y->shape) : NULL;
    CHECK(y && heed_backward_from(t, y, gy->x));
    for (size_t i = 0; y && i < y->size; i++) {
        out[i] = from[i] < 0 ? otherwise : (double)x->x[from[i]];
        if (from[i] >= 0) gx[from[i]] += (double)gy->x[i];
    }
    if (y) check(what, __LINE__, y->x, out, y->size);
    if (y) check(what, __LINE__, x->g, gx, x->size);
}

static void try_reductions(dice *d, heed_tape *t, int dims, int dim) {
    const int *shape = sizes + HEED_DIMS - dims, n = shape[dim];
    static const char *const of[] = {"sum_dim", "mean_dim", "max_dim"};
    for (int op = 0; op < 3; op++) {
        heed_tensor *x = draw(d, t, dims, shape);
        heed_tensor *y = op == 0   ? heed_sum_dim(t, x, dim)
                         : op == 1 ? heed_mean_dim(t, x, dim)
                                   : heed_max_dim(t, x, dim);
        heed_tensor *gy = y ? draw(d, t, y->dims, y->shape) : NULL;
        CHECK(y && y->dims == dims && y->shape[dim] == 1 && heed_backward_from(t, y, gy->x));
        double out[120] = {0}, gx[120] = {0};
        for (size_t i = 0; y && i < y->size; i++) {
            int at[HEED_DIMS];
            coordinates(y, i, at);
            size_t best = moved(x, at, dim, 0);
            for (int k = 0; k < n; k++) {
                size_t from = moved(x, at, dim, k);
                if (x->x[from] > x->x[best]) best = from;
                out[i] += (double)x->x[from] / (op == 1 ? n : 1);
                gx[from] = op == 2 ? 0 : (double)gy->x[i] / (op == 1 ? n : 1);
            }
            if (op == 2) out[i] = (double)x->x[best], gx[best] = (double)gy->x[i];
        }
        if (y) check(of[op], __LINE__, y->x, out, y->size);
        if (y) check(of[op], __LINE__, x->g, gx, x->size);
    }
}

static void try_pad_and_slice(dice *d, heed_tape *t, int dims, int dim) {
    const int *shape = sizes + HEED_DIMS - dims, n = shape[dim];
    int before = (int)below(d, 3), after = (int)below(d, 2), at[HEED_DIMS];
    int first = (int)below(d, (uint32_t)n), size = 1 + (int)below(d, (uint32_t)(n - first));
    long from[MOST];
    heed_tensor *x = draw(d, t, dims, shape);
    heed_tensor *y = heed_pad(t, x, dim, before, after, (heed_real)-2.5);
    CHECK(y && y->shape[dim] == n + before + after);
    for (size_t i = 0; y && i < y->size; i++) {
        coordinates(y, i, at);
        int k = at[dims - 1 - dim] - before;
        from[i] = k >= 0 && k < n ? (long)moved(x, at, dim, k) : -1;
    }
    check_moves(d, t, "pad", x, y, from, -2.5);
    x = draw(d, t, dims, shape);
    y = heed_slice(t, x, dim, first, size);
    CHECK(y && y->shape[dim] == size);
    for (size_t i = 0; y && i < y->size; i++) {
        coordinates(y, i, at);
        from[i] = (long)moved(x, at, dim, first + at[dims - 1 - dim]);
    }
    check_moves(d, t, "slice", x, y, from, 0);
}

/* Two slices of one tensor, put together in the other order with a third in front. */
static void try_concat(dice *d, heed_tape *t, int dims, int dim) {
    const int *shape = sizes + HEED_DIMS - dims, n = shape[dim];
    int cut = 1 + (int)below(d, (uint32_t)n - 1), at[HEED_DIMS];
    long from[MOST];
    heed_tensor *x = draw(d, t, dims, shape);
    heed_tensor *part[] = {heed_slice(t, x, dim, n - 1, 1), heed_slice(t, x, dim, cut, n - cut),
                           heed_slice(t, x, dim, 0, cut)};
    heed_tensor *y = heed_concat(t, dim, 3, part);
    CHECK(y && y->shape[dim] == n + 1);
    for (size_t i = 0; y && i < y->size; i++) {
        coordinates(y, i, at);
        int k = at[dims - 1 - dim] - 1;
        from[i] = (long)moved(x, at, dim, k < 0 ? n - 1 : k < n - cut ? cut + k : k - (n - cut));
    }
    check_moves(d, t, "concat", x, y, from, 0);
}

TEST(ops_along_every_dim) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    for (int dims = 1; dims <= HEED_DIMS; dims++)
        for (int dim = 0; dim < dims; dim++)
            for (uint64_t i = 0; i < 4; i++) {
                dice d = {heed_random_at(1, "along", (uint64_t)(dims * HEED_DIMS + dim), 0),
                          100000 * i};
                heed_tape_begin(t, HEED_TRAIN, 0);
                try_reductions(&d, t, dims, dim);
                try_pad_and_slice(&d, t, dims, dim);
                try_concat(&d, t, dims, dim);
            }
    CLOSE(c);
}

TEST(ops_permute_in_every_order) {
    heed_ctx *c;
    heed_tape *t = begin(&c, HEED_TRAIN);
    for (int dims = 1; dims <= HEED_DIMS; dims++)
        for (int code = 0; code < 256; code++) {
            int order[HEED_DIMS], seen = 0, at[HEED_DIMS], there[HEED_DIMS];
            for (int i = 0; i < dims; i++) seen |= 1 << (order[i] = code >> 2 * i & 3);
            if (seen != (1 << dims) - 1 || code >> 2 * dims) continue;
            dice d = {heed_random_at(1, "permute", (uint64_t)code, 0), 0};
            heed_tape_begin(t, HEED_TRAIN, 0);
            heed_tensor *x = draw(&d, t, dims, sizes + HEED_DIMS - dims);
            heed_tensor *y = heed_permute(t, x, order);
            long from[120];
            for (size_t i = 0; y && i < y->size; i++) {
                coordinates(y, i, at);
                for (int k = 0; k < dims; k++) there[dims - 1 - order[k]] = at[dims - 1 - k];
                from[i] = (long)element_at(x, there);
            }
            check_moves(&d, t, "permute", x, y, from, 0);
        }
    CLOSE(c);
}
