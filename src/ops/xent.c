/* xent.c -- cross entropy of logits (...,C) with labels (...), as
 * torch.nn.functional.cross_entropy: with p = softmax(logits), target t = (1 - eps) one-hot + eps /
 * C (Szegedy et al. 2016, sec. 7) and class weights w, L = sum_rows sum_c t_c w_c (-log p_c) /
 * sum_rows w_label over the rows whose label is not `ignore`. No row, or no weight: 0, with zero
 * gradients. xent reads logits. affine_xent computes them from x W' + b, a block of rows at a time
 * with their gradient, so that there is never an array of all rows by C. */
#include "ops/shape.h"

#include <limits.h>

enum { LOGITS, X = 0, W, B };

static const heed_tensor *labels_of(const heed_node *n) { return n->in[n->inputs - 1]; }

/* scratch: the kernel's job, kept from the shape rule on; its scale is 1 / the sum of the weights
 * of the labels, or 0. */
typedef heed_xent_job state;

static bool check_shapes(heed_node *n) {
    const heed_tensor *x = n->in[LOGITS], *labels = labels_of(n);
    bool fits = x->dims == labels->dims + 1 && x->shape[x->dims - 1] > 0;
    for (int d = 0; fits && d < labels->dims; d++) fits = x->shape[d] == labels->shape[d];
    return fits ||
           heed__bad_shapes(n, LOGITS, n->inputs - 1, "expected logits (...,C) and labels (...)");
}

static bool check_labels(heed_node *n, const state *s) {
    char where[HEED__NODE_TEXT];
    const int32_t *label = labels_of(n)->i;
    for (size_t r = 0; r < s->rows; r++)
        if (label[r] != s->ignore && (label[r] < 0 || label[r] >= s->c))
            return heed__fail_at(n->ctx, HEED_DATA, n->op->name, heed__node_text(n, where),
                                 "label %d of row %zu is not in 0 .. %d, nor the ignored %d",
                                 (int)label[r], r, s->c - 1, s->ignore);
    return true;
}

static bool copy_weights(heed_node *n, state *s, const heed_real *weights) {
    if (!weights) return true;
    size_t bytes = (size_t)s->c * sizeof *weights;
    heed_real *copy = heed_scratch(n, bytes);
    if (copy) memcpy(copy, weights, bytes);
    return (s->weights = copy) != NULL;
}

static double counted(const heed_node *n, const state *s) {
    double sum = 0;
    for (size_t r = 0; r < s->rows; r++) {
        int32_t label = labels_of(n)->i[r];
        if (label != s->ignore) sum += s->weights ? (double)s->weights[label] : 1;
    }
    return sum;
}

static bool read_args(heed_node *n, state *s, int classes) {
    const heed_xent_args *a = n->args;
    if (!(a->smoothing >= 0 && a->smoothing <= 1))
        return heed_op_error(n, "the smoothing %g is not in [0, 1]", (double)a->smoothing);
    *s = (state){.ignore = a->has_ignore ? a->ignore : -100,
                 .smoothing = a->smoothing,
                 .c = classes,
                 .labels = labels_of(n)->i,
                 .rows = labels_of(n)->size};
    if (!check_labels(n, s) || !copy_weights(n, s, a->weights)) return false;
    double sum = counted(n, s);
    s->scale = sum != 0 ? (heed_real)(1 / sum) : 0;
    return true;
}

static bool infer(heed_node *n) {
    state *s = n->scratch = heed_scratch(n, sizeof *s);
    if (!s || !check_shapes(n) || !read_args(n, s, heed__from_last(n->in[LOGITS], 0))) return false;
    s->p = heed_scratch(n, n->in[LOGITS]->size * sizeof *s->p);
    return s->p && heed_op_output(n, 0, NULL);
}

static void forward(heed_node *n) {
    state *s = n->scratch;
    s->logits = n->in[LOGITS]->x;
    s->loss = heed_scratch(n, s->rows * sizeof *s->loss);
    if (!s->loss) return;
    n->k->xent(n->k, s);
    double sum = counted(n, s);
    n->y->x[0] = sum != 0 ? (heed_real)(n->k->sum(n->k, s->loss, s->rows) / sum) : 0;
    heed_scratch_done(n, s->loss, s->rows * sizeof *s->loss);
}

static void backward(heed_node *n) {
    state j = *(const state *)n->scratch;
    j.gx = heed_grad(n, LOGITS);
    j.scale *= n->y->g[0];
    if (j.gx) n->k->xent_grad(n->k, &j);
}

/* ---- with the output layer ---- */

typedef struct {
    state of;
    int width, count; /* of x; the rows that count */
    int32_t *row;     /* (count): which they are */
    int32_t *label;   /* (count) */
    heed_real *g[3];  /* the gradients of x, W and b for a loss gradient of 1, where wanted */
} layer_state;

static bool all_count(const layer_state *s) { return (size_t)s->count == s->of.rows; }

/* Rows of a block: enough to share the reading of W, few enough for the logits to stay in cache. */
static int block_rows(int classes) {
    const int numbers = 1 << 21, least = 64, most = 1 << 12;
    int rows = numbers / classes;
    return rows < least ? least : rows > most ? most : rows;
}

static bool check_layer(heed_node *n) {
    const heed_tensor *x = n->in[X], *w = n->in[W], *b = n->in[B], *labels = labels_of(n);
    if (w->dims != 2 || x->dims < 1 || heed__from_last(x, 0) != w->shape[1] || w->shape[0] < 1)
        return heed__bad_shapes(n, X, W, "expected x (...,in) and a weight (C,in)");
    if (b && (b->dims != 1 || b->shape[0] != w->shape[0]))
        return heed__bad_shapes(n, W, B, "the bias is not (%d)", w->shape[0]);
    bool fits = x->dims == labels->dims + 1;
    for (int d = 0; fits && d < labels->dims; d++) fits = x->shape[d] == labels->shape[d];
    return fits || heed__bad_shapes(n, X, n->inputs - 1, "expected x (...,in) and labels (...)");
}

static bool find_counted(heed_node *n, layer_state *s) {
    const int32_t *label = labels_of(n)->i;
    s->row = heed_scratch(n, s->of.rows * sizeof *s->row);
    s->label = heed_scratch(n, s->of.rows * sizeof *s->label);
    if (!s->row || !s->label) return false;
    for (size_t r = 0; r < s->of.rows; r++) {
        if (label[r] == s->of.ignore) continue;
        s->row[s->count] = (int32_t)r;
        s->label[s->count++] = label[r];
    }
    return true;
}

static bool infer_layer(heed_node *n) {
    layer_state *s = n->scratch = heed_scratch(n, sizeof *s);
    if (!s || !check_layer(n)) return false;
    *s = (layer_state){.width = n->in[W]->shape[1]};
    if (!read_args(n, &s->of, n->in[W]->shape[0])) return false;
    if (s->of.rows > INT_MAX) return heed__bad_shape(n, X, "x has more than 2^31 - 1 rows");
    return find_counted(n, s) && heed_op_output(n, 0, NULL);
}

/* Memory for the gradients of the inputs that want one. W's is written by the first block, x's by
 * all blocks if all rows count. */
static bool gradients(heed_node *n, layer_state *s) {
    for (int i = X; i <= B && n->recording; i++) {
        const heed_tensor *x = n->in[i];
        if (!x || !heed__wants_grad(n->tape->r, x)) continue;
        s->g[i] = heed_scratch(n, x->size * sizeof **s->g);
        if (!s->g[i]) return false;
        bool written = s->count > 0 && (i == W || (i == X && all_count(s)));
        if (!written) n->k->fill(n->k, s->g[i], 0, x->size);
    }
    return true;
}

/* One block: counted rows [from, from + rows), copied to x (rows,in) unless all count, their logits
 * z (rows,C) and losses. */
static void block(heed_node *n, const layer_state *s, int from, int rows, heed_real *copy,
                  heed_real *z, heed_real *loss) {
    const heed_tensor *w = n->in[W], *b = n->in[B];
    int in = s->width, classes = s->of.c;
    size_t at = (size_t)from * (size_t)in;
    const heed_real *x = copy ? copy : n->in[X]->x + at;
    heed_gemm logits = heed__gemm_of(rows, classes, in, x, in, w->x, in, z, classes);
    heed_gemm to_w = heed__gemm_of(classes, in, rows, z, classes, x, in, s->g[W], in);
    heed_gemm to_x = heed__gemm_of(rows, in, classes, z, classes, w->x, in, NULL, in);
    logits.tb = true, logits.bias = b ? b->x : NULL;
    to_w.add = from > 0;
    to_w.gradient = to_x.gradient = true;
    logits.bf16 = to_w.bf16 = to_x.bf16 = n->training;
    heed_xent_job entropy = s->of;
    entropy.rows = (size_t)rows;
    entropy.labels = s->label + from;
    entropy.p = z;
    entropy.loss = loss + from;
    if (copy) n->k->embed(n->k, copy, n->in[X]->x, s->row + from, (size_t)rows, in);
    n->k->gemm(n->k, &logits);
    n->k->xent_in_place(n->k, &entropy);
    if (s->g[W]) heed__grad_product(n, &to_w);
    if (s->g[B]) n->k->sum_rows(n->k, s->g[B], z, (size_t)rows, classes);
    if (!s->g[X]) return;
    to_x.c = copy ? copy : s->g[X] + at;
    n->k->gemm(n->k, &to_x);
    for (int r = 0; copy && r < rows; r++)
        memcpy(s->g[X] + (size_t)s->row[from + r] * (size_t)in, copy + (size_t)r * (size_t)in,
               (size_t)in * sizeof *copy);
}

static void forward_layer(heed_node *n) {
    layer_state *s = n->scratch;
    int most = block_rows(s->of.c);
    if (most > s->count) most = s->count;
    size_t x_bytes = all_count(s) ? 0 : (size_t)most * (size_t)s->width * sizeof(heed_real);
    size_t z_bytes = (size_t)most * (size_t)s->of.c * sizeof(heed_real);
    size_t loss_bytes = (size_t)s->count * sizeof(heed_real);
    if (!gradients(n, s)) return;
    heed_real *x = x_bytes ? heed_scratch(n, x_bytes) : NULL, *z = heed_scratch(n, z_bytes);
    heed_real *loss = heed_scratch(n, loss_bytes);
    if ((x_bytes && !x) || !z || !loss) return;
    for (int from = 0; from < s->count; from += most)
        block(n, s, from, s->count - from < most ? s->count - from : most, x, z, loss);
    double sum = counted(n, &s->of);
    n->y->x[0] = sum != 0 ? (heed_real)(n->k->sum(n->k, loss, (size_t)s->count) / sum) : 0;
    heed_scratch_done(n, loss, loss_bytes);
    heed_scratch_done(n, z, z_bytes);
    heed_scratch_done(n, x, x_bytes);
}

static void backward_layer(heed_node *n) {
    const layer_state *s = n->scratch;
    heed_real scale = n->y->g[0];
    for (int i = X; i <= B; i++) {
        bool add;
        heed_real *g = s->g[i] ? heed_grad_into(n, i, &add) : NULL;
        if (g && add) n->k->axpy(n->k, g, s->g[i], scale, n->in[i]->size);
        if (g && !add) n->k->scale(n->k, g, s->g[i], scale, 0, n->in[i]->size);
    }
}

/* ---- check cases ---- */

static const heed_real weights[] = {1, (heed_real)0.5, 2, 0, 3};
static const heed_xent_args plain = {0}, smooth = {.smoothing = (heed_real)0.1},
                            third = {.ignore = 2, .has_ignore = true},
                            weighted = {.weights = weights}, first = {.has_ignore = true},
                            all = {.ignore = 1,
                                   .has_ignore = true,
                                   .smoothing = (heed_real)0.2,
                                   .weights = weights};
static const heed_case cases[] = {{.shapes = "5 is:5", .args = &plain},
                                  {.shapes = "3x5 i3:5", .args = &plain, .lo = -4, .hi = 4},
                                  {.shapes = "2x3x17 i2x3:17", .args = &plain},
                                  {.shapes = "4x1 i4:1", .args = &plain},
                                  {.shapes = "2x3x4x5 i2x3x4:5", .args = &smooth},
                                  {.shapes = "9x5 i9:5", .args = &first},
                                  {.shapes = "9x5 i9:5", .args = &third},
                                  {.shapes = "9x5 i9:5", .args = &weighted},
                                  {.shapes = "9x5 i9:5", .args = &all},
                                  {0}};

static const heed_case layer_cases[] = {{.shapes = "3 5x3 5 is:5", .args = &plain},
                                        {.shapes = "9x4 5x4 - i9:5", .args = &plain},
                                        {.shapes = "2x3x4 17x4 17 i2x3:17", .args = &smooth},
                                        {.shapes = "9x4 5x4 5 i9:5", .args = &third},
                                        {.shapes = "9x4 5x4 5 i9:5", .args = &weighted},
                                        {.shapes = "9x4 5x4 5 i9:5", .args = &all},
                                        {.shapes = "4x3 1x3 1 i4:1", .args = &first},
                                        {0}};

const heed_op heed_ops_xent[] = {
    {"xent", "ri", infer, forward, backward, cases, sizeof(heed_xent_args)},
    {"affine_xent", "rrr?i", infer_layer, forward_layer, backward_layer, layer_cases,
     sizeof(heed_xent_args)},
    {0}};

heed_tensor *heed_xent(heed_tape *t, heed_tensor *logits, heed_tensor *labels,
                       const heed_xent_args *args) {
    return heed_push(t, heed_ops_xent, args ? args : &plain, logits, labels);
}

heed_tensor *heed_affine_xent(heed_tape *t, heed_tensor *x, heed_tensor *w, heed_tensor *b,
                              heed_tensor *labels, const heed_xent_args *args) {
    return heed_push(t, &heed_ops_xent[1], args ? args : &plain, x, w, b, labels);
}
