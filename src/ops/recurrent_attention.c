/* recurrent_attention.c -- all time steps of a recurrent decoder that attends to the source before
 * each step: with q_t = s_{t-1} W_q',
 *
 *     e_{t,i} = v' tanh(q_t + k_i) + shift      a_t = softmax(e_t)      c_t = sum_i a_{t,i} V_i
 *     s_t = cell([y_t ; c_t] W_in' + b_in, s_{t-1})
 *
 * Bahdanau et al. 2015, sec. 3.1. Products that do not depend on earlier steps, and all gradients
 * of weights, are computed over all steps at once. */
#include "ops/steps.h"

#include <math.h>
#include <string.h>

enum { Y, W_IN, B_IN, W, B, STATE, KEYS, VALUES, QUERY, SCORE, SHIFT, MASK };

/* ---- shapes ---- */

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

static bool infer(heed_node *n) {
    const heed_recurrent_args *a = n->args;
    const heed_tensor *y = n->in[Y], *w = n->in[W], *keys = n->in[KEYS], *values = n->in[VALUES];
    if (y->dims != 3) return heed__bad_shape(n, Y, "what is read needs 3 dims, (B,T,d)");
    if (keys->dims != 3 || values->dims != 3)
        return heed__bad_shapes(n, KEYS, VALUES, "keys and values need 3 dims, (B,S,..)");
    int width = w->dims == 2 ? w->shape[1] : 0, gates = width * heed__cell_gates(a->cell);
    int states = width * heed__cell_states(a->cell), rows = y->shape[0], steps = y->shape[1];
    int len = keys->shape[1], inner = keys->shape[2], context = values->shape[2];
    return is_shaped(n, W, "the weight", 2, (int[]){gates, width}) &&
           is_shaped(n, W_IN, "the weight", 2, (int[]){gates, y->shape[2] + context}) &&
           is_shaped(n, B_IN, "the bias", 1, &gates) && is_shaped(n, B, "the bias", 1, &gates) &&
           is_shaped(n, STATE, "the state", 2, (int[]){rows, states}) &&
           is_shaped(n, KEYS, "keys", 3, (int[]){rows, len, inner}) &&
           is_shaped(n, VALUES, "values", 3, (int[]){rows, len, context}) &&
           is_shaped(n, QUERY, "the query's weight", 2, (int[]){inner, width}) &&
           is_shaped(n, SCORE, "the score's weight", 2, (int[]){1, inner}) &&
           is_shaped(n, SHIFT, "the score's bias", 1, (int[]){1}) &&
           is_shaped(n, MASK, "places to see", 3, (int[]){rows, 1, len}) &&
           heed_out(n, 3, (int[]){rows, steps, states + context}) &&
           heed_keep(n, "weights", 3, (int[]){rows, steps, len}) &&
           (!heed_probed(n, "q") || heed_keep(n, "q", 3, (int[]){rows, steps, inner})) &&
           (!heed_probed(n, "scores") || heed_keep(n, "scores", 3, (int[]){rows, steps, len}));
}

/* ---- memory ---- */

/* Sizes, and values that forward keeps for backward: gates after their activations (T,B,G h), the
 * GRU's u_n (T,B,h), queries (T,B,A) and exp(2 keys) (B,S,A); and scratch (B,A). */
typedef struct {
    int rows, steps, len, width, gates, states, inner, context, in;
    int out; /* width of a row of the output: states and context */
    size_t cells;
    heed_real *u, *kept, *q, *ekeys, *equery;
} sizes;

static bool memory(heed_node *n, sizes *z) {
    const heed_recurrent_args *a = n->args;
    *z = (sizes){.rows = n->y->shape[0],
                 .steps = n->y->shape[1],
                 .len = n->in[KEYS]->shape[1],
                 .width = n->in[W]->shape[1],
                 .gates = n->in[W]->shape[0],
                 .states = n->in[STATE]->shape[1],
                 .inner = n->in[KEYS]->shape[2],
                 .context = n->in[VALUES]->shape[2],
                 .in = n->in[Y]->shape[2],
                 .out = n->y->shape[2]};
    z->cells = (size_t)z->rows * (size_t)z->steps;
    size_t u = z->cells * (size_t)z->gates, q = z->cells * (size_t)z->inner;
    size_t kept = a->cell == HEED_GRU ? z->cells * (size_t)z->width : 0;
    size_t keys = n->in[KEYS]->size, query = (size_t)z->rows * (size_t)z->inner;
    if (!n->scratch) n->scratch = heed_scratch(n, (u + kept + q + keys + query) * sizeof *z->u);
    z->u = n->scratch;
    z->kept = kept ? z->u + u : NULL;
    z->q = z->u + u + kept;
    z->ekeys = z->q + q;
    z->equery = z->ekeys + keys;
    return n->scratch != NULL;
}

/* ---- one step ---- */

/* For the rows [from, to); x: the contribution of the input to the gates (B,T,G h), or its
 * gradient.
 */
static heed_cell_job cell_of(const heed_node *n, const sizes *z, int t, heed_real *x, int from,
                             int to) {
    const heed_recurrent_args *a = n->args;
    size_t step = (size_t)t, row = (size_t)from, done = step * (size_t)z->rows + row;
    size_t ldx = (size_t)z->steps * (size_t)z->gates, far = (size_t)z->steps * (size_t)z->out;
    heed_cell_job j = {.cell = a->cell,
                       .act = a->act,
                       .rows = to - from,
                       .width = z->width,
                       .x = x + row * ldx + step * (size_t)z->gates,
                       .ldx = ldx,
                       .gates = z->u + done * (size_t)z->gates,
                       .kept = z->kept ? z->kept + done * (size_t)z->width : NULL,
                       .before = n->in[STATE]->x + row * (size_t)z->states,
                       .ldbefore = (size_t)z->states,
                       .after = n->y->x + row * far + step * (size_t)z->out,
                       .ldafter = far};
    if (t > 0) j.before = j.after - z->out, j.ldbefore = j.ldafter;
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

/* All steps of the rows of a batch, which do not depend on one another, and the weights read by the
 * products of every step. */
typedef struct {
    heed_node *n;
    const sizes *z;
    heed_real *x;
    heed__transposed query, w, context;
} pass;

/* Of a pass over all steps: products, gates and scores. */
static double work_of(const sizes *z) {
    double products = 2.0 * z->gates * (z->width + z->context) + 2.0 * z->width * z->inner;
    return (double)z->cells * (products + 20.0 * z->gates + 30.0 * z->len * z->inner);
}

static void step(const heed_kernels *k, const pass *p, int t, int from, int to) {
    heed_node *n = p->n;
    const sizes *z = p->z;
    heed_cell_job j = cell_of(n, z, t, p->x, from, to);
    heed_additive_attention_job look = additive_job(n, z, t, from, to);
    heed_gemm g = {.m = j.rows, .k = z->width, .a = j.before, .lda = (int)j.ldbefore};
    g.n = g.ldc = z->inner, g.b = p->query.b, g.ldb = p->query.ldb, g.tb = p->query.tb;
    g.c = z->q + ((size_t)t * (size_t)z->rows + (size_t)from) * (size_t)z->inner;
    k->gemm(k, &g);
    k->additive_attention(k, &look);
    g.n = g.ldc = z->gates, g.b = p->w.b, g.ldb = p->w.ldb, g.tb = p->w.tb, g.c = j.gates;
    g.bias = n->in[B] ? n->in[B]->x : NULL;
    k->gemm(k, &g);
    k->gemm(k, &(heed_gemm){.m = j.rows,
                            .n = z->gates,
                            .k = z->context,
                            .a = look.context,
                            .lda = (int)look.ldcontext,
                            .b = p->context.b,
                            .ldb = p->context.ldb,
                            .tb = p->context.tb,
                            .c = p->x + (size_t)from * j.ldx + (size_t)t * (size_t)z->gates,
                            .ldc = (int)j.ldx,
                            .add = true});
    k->cell(k, &j);
}

/* Rows computed at a time, through all steps: their keys and values, and the gradients of these,
 * stay in the second level of the cache. */
enum { TOGETHER = 8 };

static void forward_rows(const heed_kernels *k, const void *job, int from, int to) {
    const pass *p = job;
    for (int r = from, end; r < to; r = end) {
        end = to - r < TOGETHER ? to : r + TOGETHER;
        for (int t = 0; t < p->z->steps; t++) step(k, p, t, r, end);
    }
}

static void all_steps(heed_node *n, const sizes *z, heed_real *x) {
    const heed_real *in = n->in[W_IN]->x + z->in;
    pass p = {.n = n,
              .z = z,
              .x = x,
              .query = heed__transpose(n, n->in[QUERY]->x, z->inner, z->width, z->width, z->steps),
              .w = heed__transpose(n, n->in[W]->x, z->gates, z->width, z->width, z->steps),
              .context =
                  heed__transpose(n, in, z->gates, z->context, z->in + z->context, z->steps)};
    n->k->scale(n->k, z->ekeys, n->in[KEYS]->x, 2, 0, n->in[KEYS]->size);
    n->k->activate(n->k, HEED_EXP, z->ekeys, z->ekeys, n->in[KEYS]->size);
    heed__share_rows(n->k, z->rows, work_of(z), forward_rows, &p);
    heed__transpose_done(n, &p.context);
    heed__transpose_done(n, &p.w);
    heed__transpose_done(n, &p.query);
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

static void forward(heed_node *n) {
    sizes z;
    if (!memory(n, &z)) return;
    size_t bytes = z.cells * (size_t)z.gates * sizeof(heed_real);
    heed_real *x = heed_scratch(n, bytes);
    if (!x) return;
    n->k->gemm(n->k, &(heed_gemm){.m = (int)z.cells,
                                  .n = z.gates,
                                  .k = z.in,
                                  .a = n->in[Y]->x,
                                  .lda = z.in,
                                  .b = n->in[W_IN]->x,
                                  .ldb = z.in + z.context,
                                  .tb = true,
                                  .c = x,
                                  .ldc = z.gates,
                                  .bias = n->in[B_IN] ? n->in[B_IN]->x : NULL});
    all_steps(n, &z, x);
    heed_scratch_done(n, x, bytes);
    for (int i = 1; i < n->kept_count; i++) keep_part(n, &z, n->kept_name[i], n->kept[i]->x);
}

/* ---- backward ---- */

/* Intermediate gradients, in one allocation: of the input's contribution to the gates (B,T,G h), of
 * the state's (T,B,G h), of queries (T,B,A), of the current state (B,states), of contexts (B,T,C),
 * of scores (B,S), and each row's contribution to the gradient of v (B,A). Also the states before
 * each step (T,B,h), for products over all steps. */
typedef struct {
    heed_real *carry, *gv, *gx, *gu, *gq, *gc, *ge, *before;
    size_t bytes;
} gradients;

static bool allocate(heed_node *n, const sizes *z, gradients *g) {
    size_t rows = (size_t)z->rows, gates = z->cells * (size_t)z->gates;
    size_t q = z->cells * (size_t)z->inner, states = rows * (size_t)z->states;
    size_t context = z->cells * (size_t)z->context, inner = rows * (size_t)z->inner;
    size_t scores = rows * (size_t)z->len, before = z->cells * (size_t)z->width;
    size_t added = states + inner; /* to what is zero at first; the others are written */
    g->bytes = (added + 2 * gates + q + context + scores + before) * sizeof *g->carry;
    g->carry = heed_scratch(n, g->bytes);
    if (!g->carry) return false;
    n->k->fill(n->k, g->carry, 0, added);
    g->gv = g->carry + states;
    g->gx = g->gv + inner;
    g->gu = g->gx + gates;
    g->gq = g->gu + gates;
    g->gc = g->gq + q;
    g->ge = g->gc + context;
    g->before = g->ge + scores;
    return true;
}

/* The pass of backward. */
typedef struct {
    heed_node *n;
    const sizes *z;
    const gradients *g;
    heed_real *gkeys, *gvalues;
} pass_back;

/* For a probe: the gradient of the weights of step t, through the context computed from them. */
static void probed_weights(const heed_kernels *k, const pass_back *p, int t, int from, int to) {
    const heed_node *n = p->n;
    const sizes *z = p->z;
    heed_real *g = n->kept[0]->wants_grad ? n->kept[0]->g : NULL;
    for (int r = from; g && r < to; r++)
        k->gemm(k,
                &(heed_gemm){
                    .m = z->len,
                    .n = 1,
                    .k = z->context,
                    .a = n->in[VALUES]->x + (size_t)r * (size_t)z->len * (size_t)z->context,
                    .lda = z->context,
                    .b = p->g->gc + ((size_t)r * (size_t)z->steps + (size_t)t) * (size_t)z->context,
                    .ldb = 1,
                    .c = g + ((size_t)r * (size_t)z->steps + (size_t)t) * (size_t)z->len,
                    .ldc = 1});
}

/* The gradient of the context: what later ops and the gates of this step made of it. */
static void context_back(const heed_kernels *k, const pass_back *p, const heed_cell_job *j,
                         heed_real *gc) {
    const sizes *z = p->z;
    size_t width = (size_t)z->context, ldgc = (size_t)z->steps * width;
    for (int r = 0; r < j->rows; r++)
        memcpy(gc + (size_t)r * ldgc, j->gy + (size_t)r * j->ldafter + z->states,
               width * sizeof *gc);
    k->gemm(k, &(heed_gemm){.m = j->rows,
                            .n = z->context,
                            .k = z->gates,
                            .a = j->gx,
                            .lda = (int)j->ldx,
                            .b = p->n->in[W_IN]->x + z->in,
                            .ldb = z->in + z->context,
                            .c = gc,
                            .ldc = (int)ldgc,
                            .add = true});
}

static void step_back(const heed_kernels *k, const pass_back *p, int t, int from, int to) {
    heed_node *n = p->n;
    const sizes *z = p->z;
    const gradients *g = p->g;
    heed_cell_job j = cell_of(n, z, t, g->gx, from, to);
    heed_additive_attention_job look = additive_job(n, z, t, from, to);
    size_t row = (size_t)from, done = (size_t)t * (size_t)z->rows + row;
    size_t keys = row * (size_t)z->len * (size_t)z->inner;
    size_t ldgc = (size_t)z->steps * (size_t)z->context;
    heed_real *gc = g->gc + row * ldgc + (size_t)t * (size_t)z->context;
    j.gy = n->y->g + row * j.ldafter + (size_t)t * (size_t)z->out;
    j.gx = g->gx + row * j.ldx + (size_t)t * (size_t)z->gates;
    j.gu = g->gu + done * (size_t)z->gates;
    j.carry = g->carry + row * (size_t)z->states;
    heed__gather(g->before + done * (size_t)z->width, &j);
    k->cell_grad(k, &j);
    heed_gemm to_state = {.m = j.rows, .n = z->width, .ldb = z->width, .add = true};
    to_state.c = j.carry, to_state.ldc = z->states;
    to_state.k = to_state.lda = z->gates, to_state.a = j.gu, to_state.b = n->in[W]->x;
    k->gemm(k, &to_state);
    context_back(k, p, &j, gc);
    probed_weights(k, p, t, from, to);
    look.gcontext = gc, look.ldgcontext = ldgc, look.steps = z->steps;
    look.gscores = g->ge + row * (size_t)z->len;
    look.gv = g->gv + row * (size_t)z->inner;
    look.gquery = g->gq + done * (size_t)z->inner;
    look.gkeys = p->gkeys ? p->gkeys + keys : NULL;
    if (t == 0 && p->gvalues) /* once, of all steps */
        look.gvalues = p->gvalues + row * (size_t)z->len * (size_t)z->context;
    k->additive_attention_grad(k, &look);
    to_state.k = to_state.lda = z->inner, to_state.a = look.gquery, to_state.b = n->in[QUERY]->x;
    k->gemm(k, &to_state);
}

static void backward_rows(const heed_kernels *k, const void *job, int from, int to) {
    const pass_back *p = job;
    for (int r = from, end; r < to; r = end) {
        end = to - r < TOGETHER ? to : r + TOGETHER;
        for (int t = p->z->steps - 1; t >= 0; t--) step_back(k, p, t, r, end);
    }
}

/* W and W_q multiply the state before each step. */
static void state_weights(heed_node *n, const sizes *z, const gradients *g) {
    int cells = (int)z->cells, width = z->width;
    heed__weight_grad(n, z->gates, g->gu, g->before, width, width, cells, heed_grad(n, W), width);
    heed__weight_grad(n, z->inner, g->gq, g->before, width, width, cells, heed_grad(n, QUERY),
                      width);
}

static void input_weights(heed_node *n, const sizes *z, const gradients *g) {
    int row = z->in + z->context, cells = (int)z->cells;
    bool add;
    heed_real *gw = heed_grad(n, W_IN), *gy = heed_grad_into(n, Y, &add);
    heed__weight_grad(n, z->gates, g->gx, n->in[Y]->x, z->in, z->in, cells, gw, row);
    heed__weight_grad(n, z->gates, g->gx, n->y->x + z->states, z->context, z->out, cells,
                      gw ? gw + z->in : NULL, row);
    if (!gy) return;
    n->k->gemm(n->k, &(heed_gemm){.m = cells,
                                  .n = z->in,
                                  .k = z->gates,
                                  .a = g->gx,
                                  .lda = z->gates,
                                  .b = n->in[W_IN]->x,
                                  .ldb = row,
                                  .c = gy,
                                  .ldc = z->in,
                                  .add = add});
}

static void sum_into(heed_node *n, int input, const heed_real *x, size_t rows, int width) {
    heed_real *g = heed_grad(n, input);
    if (g) n->k->sum_rows(n->k, g, x, rows, width);
}

static void backward(heed_node *n) {
    sizes z;
    gradients g;
    if (!memory(n, &z) || !allocate(n, &z, &g)) return;
    heed__share_rows(n->k, z.rows, 2 * work_of(&z), backward_rows,
                     &(pass_back){n, &z, &g, heed_grad(n, KEYS), heed_grad(n, VALUES)});
    state_weights(n, &z, &g);
    input_weights(n, &z, &g);
    sum_into(n, B_IN, g.gx, z.cells, z.gates);
    sum_into(n, B, g.gu, z.cells, z.gates);
    sum_into(n, SCORE, g.gv, (size_t)z.rows, z.inner);
    heed_grad(n, SHIFT); /* 0: softmax ignores a common shift */
    heed_real *gs = heed_grad(n, STATE);
    if (gs) n->k->axpy(n->k, gs, g.carry, 1, (size_t)z.rows * (size_t)z.states);
    heed_scratch_done(n, g.carry, g.bytes);
}

static const heed_recurrent_args args[] = {
    {HEED_RNN, HEED_TANH, false}, {HEED_GRU, HEED_TANH, false}, {HEED_LSTM, HEED_TANH, false}};
static const heed_case cases[] = {
    {.shapes = "2x3x4 3x9 3 3x3 3 2x3 2x4x6 2x4x5 6x3 1x6 1 -", .args = &args[0]},
    {.shapes = "2x3x4 9x9 9 9x3 9 2x3 2x4x6 2x4x5 6x3 1x6 - m2x1x4", .args = &args[1]},
    {.shapes = "3x2x4 51x21 - 51x17 - 3x17 3x19x17 3x19x17 17x17 1x17 1 -", .args = &args[1]},
    {.shapes = "1x1x1 3x2 3 3x1 3 1x1 1x1x1 1x1x1 1x1 1x1 1 -", .args = &args[1]},
    {.shapes = "2x3x4 12x9 12 12x3 - 2x6 2x4x6 2x4x5 6x3 1x6 - m2x1x4", .args = &args[2]},
    {0}};

const heed_op heed_ops_recurrent_attention[] = {{"recurrent_attention", "rrr?rr?rrrrrr?i?", infer,
                                                 forward, backward, cases,
                                                 sizeof(heed_recurrent_args)},
                                                {0}};

heed_tensor *heed_recurrent_attention(heed_tape *t, const heed_additive_attention *l,
                                      const heed_recurrent_args *a) {
    if (!l || !a || !heed__act_of_cell(a->act) || (unsigned)a->cell > HEED_LSTM || a->reverse) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "recurrent_attention: expected a cell among rnn, gru, lstm, with tanh, relu, "
                  "sigmoid or identity, and steps from the first to the last");
        return NULL;
    }
    return heed_push(t, heed_ops_recurrent_attention, a, l->y, l->w_in, l->b_in, l->w, l->b,
                     l->state, l->keys, l->values, l->query, l->score, l->shift, l->mask);
}
