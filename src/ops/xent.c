/* xent.c -- cross entropy of logits (...,C) with labels (...), as
 * torch.nn.functional.cross_entropy: with p = softmax(logits), target t = (1 - eps) one-hot + eps /
 * C (Szegedy et al. 2016, sec. 7) and class weights w, L = sum_rows sum_c t_c w_c (-log p_c) /
 * sum_rows w_label over the rows whose label is not `ignore`. No row, or no weight: 0, with zero
 * gradients. */
#include "core/tape.h"
#include "ops/shape.h"

enum { LOGITS, LABELS };

/* Values kept from the shape rule on. */
typedef struct {
    int ignore, classes;
    size_t rows;
    heed_real smoothing, *weights, *p; /* (C) or NULL, (rows,C) */
    heed_real share;                   /* 1 / sum of the weights of the labels, or 0 */
} state;

static bool check_shapes(heed_node *n) {
    const heed_tensor *x = n->in[LOGITS], *labels = n->in[LABELS];
    if (!heed__accepts(n, "ri")) return false;
    bool fits = x->dims == labels->dims + 1 && x->shape[x->dims - 1] > 0;
    for (int d = 0; fits && d < labels->dims; d++) fits = x->shape[d] == labels->shape[d];
    return fits || heed__bad_shapes(n, LOGITS, LABELS, "expected logits (...,C) and labels (...)");
}

static bool check_labels(heed_node *n, const state *s) {
    char where[HEED__NODE_TEXT];
    const int32_t *label = n->in[LABELS]->i;
    for (size_t r = 0; r < s->rows; r++)
        if (label[r] != s->ignore && (label[r] < 0 || label[r] >= s->classes))
            return heed__fail_at(n->ctx, HEED_DATA, n->op->name, heed__node_text(n, where),
                                 "label %d of row %zu is not in 0 .. %d, nor the ignored %d",
                                 (int)label[r], r, s->classes - 1, s->ignore);
    return true;
}

static bool copy_weights(heed_node *n, state *s, const heed_real *weights) {
    if (!weights) return true;
    size_t bytes = (size_t)s->classes * sizeof *weights;
    s->weights = heed_scratch(n, bytes);
    if (s->weights) memcpy(s->weights, weights, bytes);
    return s->weights != NULL;
}

static double counted(const heed_node *n, const state *s) {
    double sum = 0;
    for (size_t r = 0; r < s->rows; r++) {
        int32_t label = n->in[LABELS]->i[r];
        if (label != s->ignore) sum += s->weights ? (double)s->weights[label] : 1;
    }
    return sum;
}

static bool infer(heed_node *n) {
    const heed_xent_args *a = n->args;
    if (!check_shapes(n)) return false;
    if (!(a->smoothing >= 0 && a->smoothing <= 1))
        return heed_wrong(n, "the smoothing %g is not in [0, 1]", (double)a->smoothing);
    state *s = n->scratch = heed_scratch(n, sizeof *s);
    if (!s) return false;
    *s = (state){.ignore = a->has_ignore ? a->ignore : -100,
                 .smoothing = a->smoothing,
                 .classes = heed__from_last(n->in[LOGITS], 0),
                 .rows = n->in[LABELS]->size};
    if (!check_labels(n, s) || !copy_weights(n, s, a->weights)) return false;
    double sum = counted(n, s);
    s->share = sum != 0 ? (heed_real)(1 / sum) : 0;
    s->p = heed_scratch(n, n->in[LOGITS]->size * sizeof *s->p);
    return s->p && heed_out(n, 0, NULL);
}

static void forward(heed_node *n) {
    const state *s = n->scratch;
    heed_real *loss = heed_scratch(n, s->rows * sizeof *loss);
    if (!loss) return;
    n->k->xent(n->k, s->p, loss, n->in[LOGITS]->x, n->in[LABELS]->i, s->rows, s->classes, s->ignore,
               s->smoothing, s->weights);
    double sum = counted(n, s);
    n->y->x[0] = sum != 0 ? (heed_real)(n->k->sum(n->k, loss, s->rows) / sum) : 0;
    heed_scratch_done(n, loss, s->rows * sizeof *loss);
}

static void backward(heed_node *n) {
    const state *s = n->scratch;
    heed_real *gx = heed_grad(n, LOGITS);
    if (gx)
        n->k->xent_grad(n->k, gx, s->p, n->in[LABELS]->i, s->rows, s->classes, s->ignore,
                        s->smoothing, s->weights, s->share * n->y->g[0]);
}

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

const heed_op heed_ops_xent[] = {
    {"xent", 2, infer, forward, backward, cases, sizeof(heed_xent_args), 0}, {0}};

heed_tensor *heed_xent(heed_tape *t, heed_tensor *logits, heed_tensor *labels,
                       const heed_xent_args *args) {
    return heed_push(t, heed_ops_xent, args ? args : &plain, logits, labels);
}
