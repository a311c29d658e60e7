/* recurrent.c -- y_t = cell(gx_t, y_{t-1}), all time steps of a recurrent layer: gx_t = W_x x_t +
 * b_x is the contribution of the input to the gates, u_t = h_{t-1} W' + b that of the state.
 * Backpropagation through time: Werbos 1990. recurrent_attention is a decoder that attends to the
 * source before each step: with q_t = s_{t-1} W_q',
 *
 *     e_{t,i} = v' tanh(q_t + k_i) + shift      a_t = softmax(e_t)      c_t = sum_i a_{t,i} V_i
 *     s_t = cell([y_t ; c_t] W_in' + b_in, s_{t-1})
 *
 * Bahdanau et al. 2015, sec. 3.1. Products that do not depend on earlier steps, and all gradients
 * of weights, are computed over all steps at once. */
#include "ops/shape.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { X, W, B, STATE, PAD }; /* recurrent */
enum {
    Y,
    W_IN,
    B_IN,
    OWN_W,
    OWN_B,
    OWN_STATE,
    KEYS,
    VALUES,
    QUERY,
    SCORE,
    SHIFT,
    MASK
}; /* with attention */

/* ---- shapes ---- */

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
    return heed_op_output(n, 3, (int[]){x->shape[0], x->shape[1], states});
}

static bool is_shaped(heed_node *n, int input, const char *name, int dims, const int *shape) {
    const heed_tensor *x = n->in[input];
    bool fits = !x || x->dims == dims;
    for (int i = 0; x && fits && i < dims; i++) fits = x->shape[i] == shape[i];
    if (fits) return true;
    return dims == 1   ? heed__bad_shape(n, input, "%s is not (%d)", name, shape[0])
           : dims == 2 ? heed__bad_shape(n, input, "%s is not (%d,%d)", name, shape[0], shape[1])
                       : heed__bad_shape(n, input, "%s are not (%d,%d,%d)", name, shape[0],
                                         shape[1], shape[2]);
}

static bool infer_attention(heed_node *n) {
    const heed_recurrent_args *a = n->args;
    const heed_tensor *y = n->in[Y], *w = n->in[OWN_W], *keys = n->in[KEYS],
                      *values = n->in[VALUES];
    if (y->dims != 3) return heed__bad_shape(n, Y, "what is read needs 3 dims, (B,T,d)");
    if (keys->dims != 3 || values->dims != 3)
        return heed__bad_shapes(n, KEYS, VALUES, "keys and values need 3 dims, (B,S,..)");
    int width = w->dims == 2 ? w->shape[1] : 0, gates = width * heed__cell_gates(a->cell);
    int states = width * heed__cell_states(a->cell), rows = y->shape[0], steps = y->shape[1];
    int len = keys->shape[1], inner = keys->shape[2], context = values->shape[2];
    return is_shaped(n, OWN_W, "the weight", 2, (int[]){gates, width}) &&
           is_shaped(n, W_IN, "the weight", 2, (int[]){gates, y->shape[2] + context}) &&
           is_shaped(n, B_IN, "the bias", 1, &gates) &&
           is_shaped(n, OWN_B, "the bias", 1, &gates) &&
           is_shaped(n, OWN_STATE, "the state", 2, (int[]){rows, states}) &&
           is_shaped(n, KEYS, "keys", 3, (int[]){rows, len, inner}) &&
           is_shaped(n, VALUES, "values", 3, (int[]){rows, len, context}) &&
           is_shaped(n, QUERY, "the query's weight", 2, (int[]){inner, width}) &&
           is_shaped(n, SCORE, "the score's weight", 2, (int[]){1, inner}) &&
           is_shaped(n, SHIFT, "the score's bias", 1, (int[]){1}) &&
           is_shaped(n, MASK, "places to see", 3, (int[]){rows, 1, len}) &&
           heed_op_output(n, 3, (int[]){rows, steps, states + context}) &&
           heed_op_save(n, "weights", 3, (int[]){rows, steps, len}) &&
           (!heed_probe_get(n, "q") || heed_op_save(n, "q", 3, (int[]){rows, steps, inner})) &&
           (!heed_probe_get(n, "scores") ||
            heed_op_save(n, "scores", 3, (int[]){rows, steps, len}));
}

/* ---- memory ---- */

/* Sizes, and values that forward keeps for backward: gates after their activations (T,B,G h), the
 * GRU's u_n (T,B,h), and zeros (B,S) for a missing state; with attention queries (T,B,A), exp(2
 * keys) (B,S,A) and scratch (B,A). */
typedef struct {
    bool attends;
    int w; /* the input that is the weight of the state; its bias and the first state follow */
    int rows, steps, len, width, gates, states, inner, context, in;
    int out; /* width of a row of the output: states and context */
    size_t cells;
    heed_real *u, *kept, *zeros, *q, *ekeys, *equery;
} sizes;

static bool memory(heed_node *n, sizes *z) {
    const heed_recurrent_args *a = n->args;
    bool attends = n->inputs > KEYS;
    int w = attends ? OWN_W : W;
    *z = (sizes){.attends = attends,
                 .w = w,
                 .rows = n->y->shape[0],
                 .steps = n->y->shape[1],
                 .width = n->in[w]->shape[1],
                 .gates = n->in[w]->shape[0],
                 .states = n->in[w]->shape[1] * heed__cell_states(a->cell),
                 .out = n->y->shape[2]};
    if (attends) {
        z->len = n->in[KEYS]->shape[1], z->inner = n->in[KEYS]->shape[2];
        z->context = n->in[VALUES]->shape[2], z->in = n->in[Y]->shape[2];
    }
    z->cells = (size_t)z->rows * (size_t)z->steps;
    size_t u = z->cells * (size_t)z->gates, q = z->cells * (size_t)z->inner;
    size_t kept = a->cell == HEED_CELL_GRU ? z->cells * (size_t)z->width : 0;
    size_t zeros = attends ? 0 : (size_t)z->rows * (size_t)z->states;
    size_t keys = attends ? n->in[KEYS]->size : 0, query = (size_t)z->rows * (size_t)z->inner;
    if (!n->scratch)
        n->scratch = heed_scratch(n, (u + kept + zeros + q + keys + query) * sizeof *z->u);
    z->u = n->scratch;
    z->kept = kept ? z->u + u : NULL;
    z->zeros = z->u + u + kept;
    z->q = z->zeros + zeros;
    z->ekeys = z->q + q;
    z->equery = z->ekeys + keys;
    return n->scratch != NULL;
}

/* Of a pass over all steps: products, gates and scores. */
static double work_of(const sizes *z) {
    double products = 2.0 * z->gates * (z->width + z->context) + 2.0 * z->width * z->inner;
    return (double)z->cells * (products + 20.0 * z->gates + 30.0 * z->len * z->inner);
}

/* ---- one step ---- */

/* The cell's job for step s, in its order of time, of the rows [from, to); x: the contribution of
 * the input to the gates (B,T,G h). */
static heed_cell_job cell_of(const heed_node *n, const sizes *z, int s, const heed_real *x,
                             int from, int to) {
    const heed_recurrent_args *a = n->args;
    const heed_tensor *first = n->in[z->w + 2], *pad = z->attends ? NULL : n->in[PAD];
    size_t t = (size_t)(a->reverse ? z->steps - 1 - s : s), row = (size_t)from;
    size_t done = (size_t)s * (size_t)z->rows + row, out = (size_t)z->out;
    size_t ldx = (size_t)z->steps * (size_t)z->gates, far = (size_t)z->steps * out;
    heed_cell_job j = {.cell = a->cell,
                       .act = a->act,
                       .rows = to - from,
                       .width = z->width,
                       .x = x + row * ldx + t * (size_t)z->gates,
                       .ldx = ldx,
                       .gates = z->u + done * (size_t)z->gates,
                       .kept = z->kept ? z->kept + done * (size_t)z->width : NULL,
                       .before = (first ? first->x : z->zeros) + row * (size_t)z->states,
                       .ldbefore = (size_t)z->states,
                       .after = n->y->x + row * far + t * out,
                       .ldafter = far};
    if (s > 0) j.before = a->reverse ? j.after + out : j.after - out, j.ldbefore = far;
    if (pad) {
        j.ldpad = (size_t)z->steps;
        j.pad = pad->i + row * j.ldpad + t;
    }
    return j;
}

static heed_additive_attention_job additive_job(const heed_node *n, const sizes *z, int t, int from,
                                                int to) {
    size_t step = (size_t)t, row = (size_t)from, len = (size_t)z->len;
    size_t ldweights = (size_t)z->steps * len, ldcontext = (size_t)z->steps * (size_t)z->out;
    return (heed_additive_attention_job){
        .rows = to - from,
        .len = z->len,
        .inner = z->inner,
        .width = z->context,
        .query = z->q + (step * (size_t)z->rows + row) * (size_t)z->inner,
        .keys = n->in[KEYS]->x + row * len * (size_t)z->inner,
        .ekeys = z->ekeys + row * len * (size_t)z->inner,
        .equery = z->equery + row * (size_t)z->inner,
        .values = n->in[VALUES]->x + row * len * (size_t)z->context,
        .v = n->in[SCORE]->x,
        .shift = n->in[SHIFT] ? n->in[SHIFT]->x[0] : 0,
        .pad = n->in[MASK] ? n->in[MASK]->i + row * len : NULL,
        .weights = n->kept[0]->x + row * ldweights + step * len,
        .ldweights = ldweights,
        .context = n->y->x + row * ldcontext + step * (size_t)z->out + z->states,
        .ldcontext = ldcontext};
}

/* True for the activations that a cell of kind rnn may have: those for hidden layers whose
 * derivative can be computed from their value, the state. */
static bool act_of_cell(heed_act f) {
#define OFFERED(act, name, setting, ...) sizeof setting > 1,
    static const bool offered[] = {HEED_ACTIVATIONS(OFFERED)};
#undef OFFERED
    return (unsigned)f < HEED_ACT_COUNT && offered[f] && heed__act_uses_value(f);
}

/* w (rows, cols) of row stride ld as a transposed right operand of many products: transposed once
 * to (cols, rows), which products of few rows read in place, if there are enough `steps` to repay
 * the cost. */
typedef struct {
    const heed_real *b;
    int ldb;
    bool tb;
    heed_real *capacity; /* NULL: not transposed */
    size_t bytes;
} transposed;

static transposed transpose(heed_node *n, const heed_real *w, int rows, int cols, int ld,
                            int steps) {
    enum { WORTH = 4, TILE = 16 };
    size_t bytes = (size_t)rows * (size_t)cols * sizeof *w;
    heed_real *capacity = steps >= WORTH ? heed_scratch(n, bytes) : NULL;
    if (!capacity) return (transposed){w, ld, true, NULL, 0};
    for (int i = 0; i < rows; i += TILE)
        for (int j = 0; j < cols; j++)
            for (int r = i; r < rows && r < i + TILE; r++)
                capacity[(size_t)j * (size_t)rows + (size_t)r] =
                    w[(size_t)r * (size_t)ld + (size_t)j];
    return (transposed){capacity, rows, false, capacity, bytes};
}

static void transpose_done(heed_node *n, transposed *w) {
    heed_scratch_done(n, w->capacity, w->bytes);
}

/* All steps of the rows of a batch, which do not depend on one another, and the weights read by the
 * products of every step. */
typedef struct {
    heed_node *n;
    const sizes *z;
    heed_real *x;
    transposed query, w, context;
} pass;

static const heed_real *bias_of(const heed_node *n, const sizes *z) {
    return heed__values(n->in[z->w + 1]);
}

static void step(const heed_kernels *k, const pass *p, int s, int from, int to) {
    const sizes *z = p->z;
    heed_cell_job j = cell_of(p->n, z, s, p->x, from, to);
    heed_gemm g = {.m = j.rows, .k = z->width, .a = j.before, .lda = (int)j.ldbefore};
    heed_additive_attention_job look;
    if (z->attends) {
        look = additive_job(p->n, z, s, from, to);
        g.n = g.ldc = z->inner, g.b = p->query.b, g.ldb = p->query.ldb, g.tb = p->query.tb;
        g.c = z->q + ((size_t)s * (size_t)z->rows + (size_t)from) * (size_t)z->inner;
        k->gemm(k, &g);
        k->additive_attention(k, &look);
    }
    g.n = g.ldc = z->gates, g.b = p->w.b, g.ldb = p->w.ldb, g.tb = p->w.tb, g.c = j.gates;
    g.bias = bias_of(p->n, z);
    k->gemm(k, &g);
    if (z->attends) {
        g = heed__gemm_of(j.rows, z->gates, z->context, look.context, (int)look.ldcontext,
                          p->context.b, p->context.ldb,
                          p->x + (size_t)from * j.ldx + (size_t)s * (size_t)z->gates, (int)j.ldx);
        g.tb = p->context.tb, g.add = true;
        k->gemm(k, &g);
    }
    k->cell(k, &j);
}

/* With attention, so many rows are computed at a time, through all steps: their keys and values,
 * and the gradients of these, stay in the second level of the cache. */
static int rows_end(const sizes *z, int row, int to) {
    enum { TOGETHER = 8 };
    return !z->attends || to - row < TOGETHER ? to : row + TOGETHER;
}

static void forward_rows(const heed_kernels *k, const void *job, int from, int to) {
    const pass *p = job;
    for (int r = from, end; r < to; r = end) {
        end = rows_end(p->z, r, to);
        for (int s = 0; s < p->z->steps; s++) step(k, p, s, r, end);
    }
}

static void all_steps(heed_node *n, const sizes *z, heed_real *x) {
    pass p = {.n = n, .z = z, .x = x};
    if (z->attends) {
        const heed_real *in = n->in[W_IN]->x + z->in;
        p.query = transpose(n, n->in[QUERY]->x, z->inner, z->width, z->width, z->steps);
        p.context = transpose(n, in, z->gates, z->context, z->in + z->context, z->steps);
        n->k->scale(n->k, z->ekeys, n->in[KEYS]->x, 2, 0, n->in[KEYS]->size);
        n->k->activate(n->k, HEED_EXP, z->ekeys, z->ekeys, n->in[KEYS]->size);
    }
    p.w = transpose(n, n->in[z->w]->x, z->gates, z->width, z->width, z->steps);
    heed__share_rows(n->k, z->rows, work_of(z), forward_rows, &p);
    transpose_done(n, &p.w);
    transpose_done(n, &p.context);
    transpose_done(n, &p.query);
}

static void forward(heed_node *n) {
    sizes z;
    if (!memory(n, &z)) return;
    n->k->fill(n->k, z.zeros, 0, (size_t)z.rows * (size_t)z.states);
    all_steps(n, &z, n->in[X]->x);
}

/* score tanh(q + k) + shift for one query and one key. */
static double score_of(const heed_node *n, const sizes *z, const heed_real *q, const heed_real *k) {
    double sum = n->in[SHIFT] ? (double)n->in[SHIFT]->x[0] : 0;
    for (int i = 0; i < z->inner; i++)
        sum += (double)n->in[SCORE]->x[i] * tanh((double)q[i] + (double)k[i]);
    return sum;
}

/* For probes: queries (T,B,A) as (B,T,A), and the scores of every pair, including masked ones. */
static void keep_part(const heed_node *n, const sizes *z, const char *name, heed_real *out) {
    size_t inner = (size_t)z->inner, len = (size_t)z->len;
    for (size_t cell = 0; cell < z->cells; cell++) {
        size_t row = cell / (size_t)z->steps, t = cell % (size_t)z->steps;
        const heed_real *q = z->q + (t * (size_t)z->rows + row) * inner;
        const heed_real *k = n->in[KEYS]->x + row * len * inner;
        if (strcmp(name, "q") == 0)
            memcpy(out + cell * inner, q, inner * sizeof *q);
        else
            for (size_t i = 0; i < len; i++)
                out[cell * len + i] = (heed_real)score_of(n, z, q, k + i * inner);
    }
}

static void forward_attention(heed_node *n) {
    sizes z;
    if (!memory(n, &z)) return;
    size_t bytes = z.cells * (size_t)z.gates * sizeof(heed_real);
    heed_real *x = heed_scratch(n, bytes);
    if (!x) return;
    heed_gemm g = heed__gemm_of((int)z.cells, z.gates, z.in, n->in[Y]->x, z.in, n->in[W_IN]->x,
                                z.in + z.context, x, z.gates);
    g.tb = true;
    g.bias = heed__values(n->in[B_IN]);
    n->k->gemm(n->k, &g);
    all_steps(n, &z, x);
    heed_scratch_done(n, x, bytes);
    for (int i = 1; i < n->kept_count; i++) keep_part(n, &z, n->kept_name[i], n->kept[i]->x);
}

/* ---- backward ---- */

/* Intermediate gradients, in one allocation: of the current state (B,states) and each row's
 * contribution to the gradient of v (B,A), which are added to; of the state's contribution to the
 * gates (T,B,G h), with attention also of the input's (B,T,G h), of queries (T,B,A), contexts
 * (B,T,C) and scores (B,S). Also the states before each step (T,B,h), for products over all steps.
 */
typedef struct {
    heed_real *carry, *gv, *gx, *gu, *gq, *gc, *ge, *before;
    size_t bytes;
    heed_real *gkeys, *gvalues;
    bool add; /* to gx */
} gradients;

static bool allocate(heed_node *n, const sizes *z, gradients *g) {
    size_t rows = (size_t)z->rows, gates = z->cells * (size_t)z->gates;
    size_t q = z->cells * (size_t)z->inner, states = rows * (size_t)z->states;
    size_t context = z->cells * (size_t)z->context, inner = rows * (size_t)z->inner;
    size_t scores = rows * (size_t)z->len, before = z->cells * (size_t)z->width;
    size_t added = states + inner; /* to what is zero at first; the others are written */
    size_t gx = z->attends ? gates : 0;
    *g = (gradients){.bytes =
                         (added + gx + gates + q + context + scores + before) * sizeof *g->carry};
    g->carry = heed_scratch(n, g->bytes);
    if (!g->carry) return false;
    n->k->fill(n->k, g->carry, 0, added);
    g->gv = g->carry + states;
    g->gx = g->gv + inner;
    g->gu = g->gx + gx;
    g->gq = g->gu + gates;
    g->gc = g->gq + q;
    g->ge = g->gc + context;
    g->before = g->ge + scores;
    if (!z->attends) g->gx = heed_grad_into(n, X, &g->add);
    if (z->attends) g->gkeys = heed_grad(n, KEYS), g->gvalues = heed_grad(n, VALUES);
    return true;
}

typedef struct {
    heed_node *n;
    const sizes *z;
    const gradients *g;
} pass_back;

/* Copies the states (rows, width) before a step. */
static void gather(heed_real *to, const heed_cell_job *j) {
    size_t width = (size_t)j->width;
    for (int r = 0; r < j->rows; r++, to += width)
        memcpy(to, j->before + (size_t)r * j->ldbefore, width * sizeof *to);
}

/* gw (m,n), with row stride ldc, += a' b over k rows. */
static void weight_grad(heed_node *n, int m, const heed_real *a, const heed_real *b, int width,
                        int ldb, int cells, heed_real *gw, int ldc) {
    if (!gw) return;
    heed_gemm g = heed__gemm_of(m, width, cells, a, m, b, ldb, gw, ldc);
    g.add = true;
    heed__grad_product(n, &g);
}

/* For a probe: the gradient of the weights of step t, through the context computed from them. */
static void probed_weights(const heed_kernels *k, const pass_back *p, int t, int from, int to) {
    const heed_node *n = p->n;
    const sizes *z = p->z;
    heed_real *g = n->kept[0]->wants_grad ? n->kept[0]->g : NULL;
    for (size_t r = (size_t)from; g && r < (size_t)to; r++) {
        size_t len = (size_t)z->len, context = (size_t)z->context,
               at = r * (size_t)z->steps + (size_t)t;
        heed_gemm product =
            heed__gemm_of(z->len, 1, z->context, n->in[VALUES]->x + r * len * context, z->context,
                          p->g->gc + at * context, 1, g + at * len, 1);
        k->gemm(k, &product);
    }
}

/* The gradient of the context: what later ops and the gates of this step made of it. */
static void context_back(const heed_kernels *k, const pass_back *p, const heed_cell_job *j,
                         heed_real *gc) {
    const sizes *z = p->z;
    size_t width = (size_t)z->context, ldgc = (size_t)z->steps * width;
    for (int r = 0; r < j->rows; r++)
        memcpy(gc + (size_t)r * ldgc, j->gy + (size_t)r * j->ldafter + z->states,
               width * sizeof *gc);
    heed_gemm g = heed__gemm_of(j->rows, z->context, z->gates, j->gx, (int)j->ldx,
                                p->n->in[W_IN]->x + z->in, z->in + z->context, gc, (int)ldgc);
    g.add = true;
    k->gemm(k, &g);
}

static void step_back(const heed_kernels *k, const pass_back *p, int s, int from, int to) {
    heed_node *n = p->n;
    const sizes *z = p->z;
    const gradients *g = p->g;
    const heed_recurrent_args *a = n->args;
    heed_cell_job j = cell_of(n, z, s, z->attends ? g->gx : n->in[X]->x, from, to);
    size_t t = (size_t)(a->reverse ? z->steps - 1 - s : s), row = (size_t)from;
    size_t done = (size_t)s * (size_t)z->rows + row;
    j.gy = n->y->g + row * j.ldafter + t * (size_t)z->out;
    j.gx = g->gx ? g->gx + row * j.ldx + t * (size_t)z->gates : NULL;
    j.gu = g->gu + done * (size_t)z->gates;
    j.carry = g->carry + row * (size_t)z->states;
    j.add = g->add;
    gather(g->before + done * (size_t)z->width, &j);
    k->cell_grad(k, &j);
    heed_gemm to_state = {.m = j.rows, .n = z->width, .ldb = z->width, .add = true};
    to_state.c = j.carry, to_state.ldc = z->states;
    to_state.k = to_state.lda = z->gates, to_state.a = j.gu, to_state.b = n->in[z->w]->x;
    k->gemm(k, &to_state);
    if (!z->attends) return;
    heed_additive_attention_job look = additive_job(n, z, s, from, to);
    size_t keys = row * (size_t)z->len * (size_t)z->inner;
    size_t ldgc = (size_t)z->steps * (size_t)z->context;
    heed_real *gc = g->gc + row * ldgc + t * (size_t)z->context;
    context_back(k, p, &j, gc);
    probed_weights(k, p, s, from, to);
    look.gcontext = gc, look.ldgcontext = ldgc, look.steps = z->steps;
    look.gscores = g->ge + row * (size_t)z->len;
    look.gv = g->gv + row * (size_t)z->inner;
    look.gquery = g->gq + done * (size_t)z->inner;
    look.gkeys = g->gkeys ? g->gkeys + keys : NULL;
    if (s == 0 && g->gvalues) /* once, of all steps */
        look.gvalues = g->gvalues + row * (size_t)z->len * (size_t)z->context;
    k->additive_attention_grad(k, &look);
    to_state.k = to_state.lda = z->inner, to_state.a = look.gquery, to_state.b = n->in[QUERY]->x;
    k->gemm(k, &to_state);
}

static void backward_rows(const heed_kernels *k, const void *job, int from, int to) {
    const pass_back *p = job;
    for (int r = from, end; r < to; r = end) {
        end = rows_end(p->z, r, to);
        for (int s = p->z->steps - 1; s >= 0; s--) step_back(k, p, s, r, end);
    }
}

static void input_weights(heed_node *n, const sizes *z, const gradients *g) {
    int row = z->in + z->context, cells = (int)z->cells;
    bool add;
    heed_real *gw = heed_grad(n, W_IN), *gy = heed_grad_into(n, Y, &add);
    weight_grad(n, z->gates, g->gx, n->in[Y]->x, z->in, z->in, cells, gw, row);
    weight_grad(n, z->gates, g->gx, n->y->x + z->states, z->context, z->out, cells,
                gw ? gw + z->in : NULL, row);
    if (!gy) return;
    heed_gemm to_y =
        heed__gemm_of(cells, z->in, z->gates, g->gx, z->gates, n->in[W_IN]->x, row, gy, z->in);
    to_y.add = add;
    n->k->gemm(n->k, &to_y);
}

static void sum_into(heed_node *n, int input, const heed_real *x, size_t rows, int width) {
    heed_real *g = heed_grad(n, input);
    if (g) n->k->sum_rows(n->k, g, x, rows, width);
}

/* W and W_q multiply the state before each step. */
static void backward(heed_node *n) {
    sizes z;
    gradients g;
    if (!memory(n, &z) || !allocate(n, &z, &g)) return;
    int cells = (int)z.cells, width = z.width;
    heed__share_rows(n->k, z.rows, (z.attends ? 2 : 1) * work_of(&z), backward_rows,
                     &(pass_back){n, &z, &g});
    heed_real *gs = heed_grad(n, z.w + 2);
    if (gs) n->k->axpy(n->k, gs, g.carry, 1, (size_t)z.rows * (size_t)z.states);
    sum_into(n, z.w + 1, g.gu, z.cells, z.gates);
    weight_grad(n, z.gates, g.gu, g.before, width, width, cells, heed_grad(n, z.w), width);
    if (z.attends) {
        weight_grad(n, z.inner, g.gq, g.before, width, width, cells, heed_grad(n, QUERY), width);
        input_weights(n, &z, &g);
        sum_into(n, B_IN, g.gx, z.cells, z.gates);
        sum_into(n, SCORE, g.gv, (size_t)z.rows, z.inner);
        heed_grad(n, SHIFT); /* 0: softmax ignores a common shift */
    }
    heed_scratch_done(n, g.carry, g.bytes);
}

static const heed_recurrent_args args[] = {
    {HEED_CELL_TANH, HEED_TANH, false},    {HEED_CELL_TANH, HEED_RELU, false},
    {HEED_CELL_TANH, HEED_SIGMOID, false}, {HEED_CELL_TANH, HEED_IDENTITY, true},
    {HEED_CELL_GRU, HEED_TANH, false},     {HEED_CELL_GRU, HEED_TANH, true},
    {HEED_CELL_LSTM, HEED_TANH, false},    {HEED_CELL_LSTM, HEED_TANH, true}};
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

static const heed_recurrent_args look_args[] = {{HEED_CELL_TANH, HEED_TANH, false},
                                                {HEED_CELL_GRU, HEED_TANH, false},
                                                {HEED_CELL_LSTM, HEED_TANH, false}};
static const heed_case look_cases[] = {
    {.shapes = "2x3x4 3x9 3 3x3 3 2x3 2x4x6 2x4x5 6x3 1x6 1 -", .args = &look_args[0]},
    {.shapes = "2x3x4 9x9 9 9x3 9 2x3 2x4x6 2x4x5 6x3 1x6 - m2x1x4", .args = &look_args[1]},
    {.shapes = "3x2x4 51x21 - 51x17 - 3x17 3x19x17 3x19x17 17x17 1x17 1 -", .args = &look_args[1]},
    {.shapes = "1x1x1 3x2 3 3x1 3 1x1 1x1x1 1x1x1 1x1 1x1 1 -", .args = &look_args[1]},
    {.shapes = "2x3x4 12x9 12 12x3 - 2x6 2x4x6 2x4x5 6x3 1x6 - m2x1x4", .args = &look_args[2]},
    {0}};

const heed_op heed_ops_recurrent[] = {
    {"recurrent", "rrr?r?i?", infer, forward, backward, cases, sizeof(heed_recurrent_args)},
    {"recurrent_attention", "rrr?rr?rrrrrr?i?", infer_attention, forward_attention, backward,
     look_cases, sizeof(heed_recurrent_args)},
    {0}};

heed_tensor *heed_recurrent(heed_tape *t, heed_tensor *gates, heed_tensor *w, heed_tensor *b,
                            heed_tensor *state, heed_tensor *pad, const heed_recurrent_args *a) {
    static const heed_recurrent_args usual = {HEED_CELL_TANH, HEED_TANH, false};
    if (!a) a = &usual;
    if (!act_of_cell(a->act) || (unsigned)a->cell > HEED_CELL_LSTM) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "recurrent: expected a cell among rnn, gru, lstm, with tanh, relu, sigmoid or "
                  "identity");
        return NULL;
    }
    return heed_push(t, heed_ops_recurrent, a, gates, w, b, state, pad);
}

heed_tensor *heed_recurrent_attention(heed_tape *t, const heed_additive_attention *l,
                                      const heed_recurrent_args *a) {
    if (!l || !a || !act_of_cell(a->act) || (unsigned)a->cell > HEED_CELL_LSTM || a->reverse) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "recurrent_attention: expected a cell among rnn, gru, lstm, with tanh, relu, "
                  "sigmoid or identity, and steps from the first to the last");
        return NULL;
    }
    return heed_push(t, &heed_ops_recurrent[1], a, l->y, l->w_in, l->b_in, l->w, l->b, l->state,
                     l->keys, l->values, l->query, l->score, l->shift, l->mask);
}
