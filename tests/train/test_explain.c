/* The worked example: one head of attention in double precision. */
#include "explain/hungry_lion.h"
#include "golden.h"
#include "lab.h"
#include <heed/lesson.h>

static heed_attention_trace make(heed_ctx *c, heed_attention_trace_args a) {
    heed_attention_trace l;
    CHECK(heed_attention_trace_make(c, &a, &l));
    return l;
}

static double worst(const heed_matrix *m, const double *numbers) {
    double most = 0;
    for (int i = 0; i < m->rows * m->cols; i++)
        if (m->x[i] != numbers[i]) most = fmax(most, fabs(m->x[i] - numbers[i]));
    return most;
}

static double apart_from(const heed_matrix *m, const char *name) {
    return worst(m, golden_numbers(NULL, name, (size_t)(m->rows * m->cols)));
}

TEST(explain_lion_is_numpys_to_1e_12) {
    heed_ctx *c = heed_open(NULL);
    heed_attention_trace l = make(c, lion_args(lion_x));
    const struct {
        heed_attention_trace_part part;
        const char *name;
    } parts[] = {{HEED_TRACE_Q, "lesson.q"},
                 {HEED_TRACE_K, "lesson.k"},
                 {HEED_TRACE_V, "lesson.v"},
                 {HEED_TRACE_RAW, "lesson.raw"},
                 {HEED_TRACE_SCALED, "lesson.scores"},
                 {HEED_TRACE_SCORES, "lesson.scores"},
                 {HEED_TRACE_WEIGHTS, "lesson.weights"},
                 {HEED_TRACE_OUTPUT, "lesson.output"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        CHECK_CLOSE(apart_from(&l.part[parts[i].part], parts[i].name), 0, 1e-12);
    l.args.causal = true;
    heed_attention_trace_compute(&l);
    CHECK_CLOSE(apart_from(&l.part[HEED_TRACE_WEIGHTS], "lesson.causal_weights"), 0, 1e-12);
    CHECK_CLOSE(apart_from(&l.part[HEED_TRACE_OUTPUT], "lesson.causal_output"), 0, 1e-12);
    heed_attention_trace_free(&l);
    CLOSE(c);
}

TEST(explain_gradients_are_numpys_to_1e_12) {
    heed_ctx *c = heed_open(NULL);
    heed_attention_trace l = make(c, lion_args(lion_x));
    heed_attention_trace_gradient g;
    CHECK(heed_attention_trace_backward(c, &l, l.part[HEED_TRACE_OUTPUT].x, NULL, &g));
    CHECK_CLOSE(apart_from(&g.part[HEED_TRACE_SCORES], "lesson.dscores"), 0, 1e-12);
    CHECK_CLOSE(apart_from(&g.part[HEED_TRACE_W_Q], "lesson.dw_q"), 0, 1e-11);
    CHECK_CLOSE(apart_from(&g.part[HEED_TRACE_W_K], "lesson.dw_k"), 0, 1e-11);
    CHECK_CLOSE(apart_from(&g.part[HEED_TRACE_W_V], "lesson.dw_v"), 0, 1e-11);
    CHECK_CLOSE(apart_from(&g.part[HEED_TRACE_X], "lesson.dx"), 0, 1e-11);
    heed_attention_trace_gradient_free(&g);
    heed_attention_trace_free(&l);
    CLOSE(c);
}

/* ---- every cell against finite differences ---- */

enum { T = 3, S = 4, D = 2, M = 3, E = 2, D2 = 3 };

/* L = sum of co times what the head ends with, its output or what the layer makes of it, and of a
 * head the sum of ce times its weights. */
static double loss(const heed_attention_trace *l, const double *co, const double *ce) {
    const heed_matrix *p = l->part, *w = &p[HEED_TRACE_WEIGHTS];
    const heed_matrix *y = &p[p[HEED_TRACE_NORMED].x ? HEED_TRACE_NORMED
                              : p[HEED_TRACE_ALL].x  ? HEED_TRACE_ALL
                                                     : HEED_TRACE_OUTPUT];
    double sum = 0;
    for (int i = 0; i < y->rows * y->cols; i++) sum += co[i] * y->x[i];
    for (int i = 0; !p[HEED_TRACE_W_H].x && i < w->rows * w->cols; i++) sum += ce[i] * w->x[i];
    return sum;
}

static double slope(heed_attention_trace *l, double *x, double change, const double *co,
                    const double *ce) {
    double was = *x;
    *x = was + change;
    heed_attention_trace_compute(l);
    *x = was;
    return loss(l, co, ce) / (2 * change);
}

/* Of every given part but X of a layer, to which ways lead past the head. Returns how many cells.
 */
static int check_gradients(heed_attention_trace_args a, const double *n) {
    static const heed_attention_trace_part list[] = {
        HEED_TRACE_W_Q,  HEED_TRACE_W_K,  HEED_TRACE_W_V,   HEED_TRACE_B_Q, HEED_TRACE_B_K,
        HEED_TRACE_B_V,  HEED_TRACE_X,    HEED_TRACE_Z,     HEED_TRACE_W_H, HEED_TRACE_B_O,
        HEED_TRACE_GAIN, HEED_TRACE_BIAS, HEED_TRACE_OTHERS};
    heed_ctx *c = heed_open(NULL);
    heed_attention_trace l = make(c, a);
    heed_attention_trace_gradient g;
    const double *co = n + 70, *ce = n + 90;
    int checked = 0;
    CHECK(a.w_h ? heed_attention_trace_backward_layer(c, &l, co, &g)
                : heed_attention_trace_backward(c, &l, co, ce, &g));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        heed_matrix *m = &l.part[list[i]];
        if ((list[i] == HEED_TRACE_Z && l.self) || (list[i] == HEED_TRACE_X && a.w_h)) continue;
        for (int k = 0; m->x && k < m->rows * m->cols; k++, checked++) {
            double up = slope(&l, &m->x[k], 1e-5, co, ce),
                   down = slope(&l, &m->x[k], -1e-5, co, ce);
            CHECK_CLOSE(g.part[list[i]].x[k], up + down, 1e-8);
        }
    }
    heed_attention_trace_compute(&l);
    const heed_matrix *w = &l.part[HEED_TRACE_WEIGHTS];
    for (int i = 0; i < w->rows * w->cols; i++) CHECK(!l.hidden[i % w->cols] || w->x[i] == 0);
    heed_attention_trace_gradient_free(&g);
    heed_attention_trace_free(&l);
    CLOSE(c);
    return checked;
}

/* Self-attention; keys and values of a memory, with biases and masks; W_h, the other heads and the
 * layer's bias behind it; and a norm behind those. */
TEST(explain_gradients_are_finite_differences) {
    double n[128];
    heed_random r = heed_random_at(5, "test", 0, 0);
    for (size_t i = 0; i < 128; i++) n[i] = heed_random_normal(&r, i);
    heed_attention_trace_args self = {.tokens = T,
                                      .features = D,
                                      .key = E,
                                      .value = D2,
                                      .x = n,
                                      .w_q = n + 18,
                                      .w_k = n + 22,
                                      .w_v = n + 28,
                                      .beta = (double)NAN};
    heed_attention_trace_args memory = self;
    memory.sources = S, memory.memory = M, memory.z = n + 6;
    memory.b_q = n + 37, memory.b_k = n + 39, memory.b_v = n + 41;
    memory.beta = 0.7, memory.causal = true, memory.hide = (const unsigned char[]){0, 1, 0, 0};
    heed_attention_trace_args layer = memory;
    layer.width = D, layer.w_h = n + 44, layer.b_o = n + 50, layer.others = n + 52;
    heed_attention_trace_args norm = layer;
    norm.gain = n + 58, norm.norm_bias = n + 60, norm.eps = 0.01;
    CHECK(check_gradients(self, n) == 27);
    CHECK(check_gradients(memory, n) == 44);
    CHECK(check_gradients(layer, n) == 52);
    CHECK(check_gradients(norm, n) == 56);
}

/* ---- the same head as a layer, with a backward pass ---- */

/* Rows of a stacked weight (out,in) as the lesson has them, (in,count). */
static void turn(const heed_real *w, int count, int in, double *out) {
    for (int i = 0; i < count * in; i++) out[i] = (double)w[i % count * in + i / count];
}

/* The largest difference to the layer's gradient, by the largest of that. */
static void check_same_gradient(const heed_matrix *d, const heed_real *g, bool turned) {
    double most = 0, off = 0;
    for (int i = 0; i < d->rows; i++)
        for (int j = 0; j < d->cols; j++) {
            double want = (double)g[turned ? j * d->rows + i : i * d->cols + j];
            most = fmax(most, fabs(want));
            off = fmax(off, fabs(want - heed_matrix_at(d, i, j)));
        }
    CHECK(most > 1e-3);
    CHECK_CLOSE(off / most, 0, is_double ? 1e-12 : 1e-5);
}

enum { WIDTH = 4, HALF = 2 }; /* two heads of two */

/* Head h's rows of part k (queries, keys, values) of a stacked projection. */
static const heed_real *rows_of(const heed_real *w, int k, int h, int cols) {
    return w + (k * WIDTH + h * HALF) * cols;
}

/* Columns of head h of an output projection (out,in), as the lesson has them: (HALF,WIDTH). */
static void turn_columns(const heed_real *w, int h, double *out) {
    for (int i = 0; i < HALF * WIDTH; i++)
        out[i] = (double)w[i % WIDTH * WIDTH + h * HALF + i / WIDTH];
}

/* The numbers of head h, except for what the other one adds. */
static heed_attention_trace make_head(heed_ctx *c, const heed_mha *m, const heed_norm *norm, int h,
                                      const double *x) {
    double n[5][HALF * WIDTH], b[3][HALF], wide[3][WIDTH];
    for (int k = 0; k < 3; k++) {
        turn(rows_of(m->qkv.w->x, k, h, WIDTH), HALF, WIDTH, n[k]);
        turn(rows_of(m->qkv.b->x, k, h, 1), 1, HALF, b[k]);
    }
    turn_columns(m->out.w->x, h, n[3]);
    const heed_real *const vectors[] = {m->out.b->x, norm->gain->x, norm->bias->x};
    for (int k = 0; k < 3; k++) turn(vectors[k], 1, WIDTH, wide[k]);
    return make(c, (heed_attention_trace_args){.tokens = T,
                                               .features = WIDTH,
                                               .key = HALF,
                                               .value = HALF,
                                               .width = WIDTH,
                                               .x = x,
                                               .w_q = n[0],
                                               .w_k = n[1],
                                               .w_v = n[2],
                                               .b_q = b[0],
                                               .b_k = b[1],
                                               .b_v = b[2],
                                               .w_h = n[3],
                                               .b_o = wide[0],
                                               .gain = wide[1],
                                               .norm_bias = wide[2],
                                               .eps = (double)norm->args.eps,
                                               .beta = (double)NAN});
}

/* Attention with two heads, W_h, add and norm, by the library's layers: the same numbers, and the
 * same gradients of 1/2 sum (y - x)^2, as a head by head computation. */
TEST(explain_a_layer_is_the_trained_one_with_its_gradients) {
    lab l = lab_open(HEED_TRAIN);
    heed_mha m;
    heed_norm norm;
    heed_mha_init(&m, l.s, "attn", (heed_mha_args){.width = WIDTH, .heads = 2});
    heed_norm_init(&norm, l.s, "norm", (heed_norm_args){.width = WIDTH, .eps = (heed_real)1e-5});
    shake(l.s);
    heed_tensor *x = normal(l.t, "x", 3, SHAPE(1, T, WIDTH)), *d = normal(l.t, "d", 1, SHAPE(12));
    heed_tensor *y =
        heed_norm_apply(&norm, l.t, heed_add(l.t, x, heed_mha_apply(&m, l.t, x, NULL)));
    double in[T * WIDTH], dy[T * WIDTH], columns[HALF * WIDTH];
    for (int i = 0; i < T * WIDTH; i++) {
        d->x[i] = y->x[i] - x->x[i];
        in[i] = (double)x->x[i];
    }
    CHECK(heed_backward_from(l.t, y, d->x));
    heed_attention_trace head[2];
    for (int h = 0; h < 2; h++) head[h] = make_head(l.c, &m, &norm, h, in);
    for (int h = 0; h < 2; h++) {
        memcpy(head[h].part[HEED_TRACE_OTHERS].x, head[1 - h].part[HEED_TRACE_SHARE].x, sizeof in);
        heed_attention_trace_compute(&head[h]);
        const double *normed = head[h].part[HEED_TRACE_NORMED].x;
        for (int i = 0; i < T * WIDTH; i++) {
            CHECK_CLOSE(normed[i], (double)y->x[i], is_double ? 1e-12 : 1e-5);
            dy[i] = normed[i] - in[i];
        }
        heed_attention_trace_gradient g;
        CHECK(heed_attention_trace_backward_layer(l.c, &head[h], dy, &g));
        check_same_gradient(&g.part[HEED_TRACE_GAIN], norm.gain->g, false);
        check_same_gradient(&g.part[HEED_TRACE_BIAS], norm.bias->g, false);
        check_same_gradient(&g.part[HEED_TRACE_B_O], m.out.b->g, false);
        check_same_gradient(&g.part[HEED_TRACE_W_Q], rows_of(m.qkv.w->g, 0, h, WIDTH), true);
        check_same_gradient(&g.part[HEED_TRACE_W_K], rows_of(m.qkv.w->g, 1, h, WIDTH), true);
        check_same_gradient(&g.part[HEED_TRACE_W_V], rows_of(m.qkv.w->g, 2, h, WIDTH), true);
        turn_columns(m.out.w->g, h, columns);
        CHECK_CLOSE(worst(&g.part[HEED_TRACE_W_H], columns), 0, is_double ? 1e-12 : 1e-5);
        heed_attention_trace_gradient_free(&g);
    }
    for (int h = 0; h < 2; h++) heed_attention_trace_free(&head[h]);
    CLOSE(l.c);
}

/* ---- hard selection and hidden rows ---- */

TEST(explain_hard_takes_the_first_of_equal_scores) {
    heed_ctx *c = heed_open(NULL);
    heed_attention_trace_args a = lion_args(lion_x);
    int first;
    a.hard = true;
    heed_attention_trace l = make(c, a);
    const heed_matrix *w = &l.part[HEED_TRACE_WEIGHTS];
    CHECK(heed_attention_trace_ties(&l, 6, &first) == 2 &&
          first == 3); /* zebra: attacked and itself */
    CHECK(heed_matrix_at(w, 6, 3) == 1 && heed_matrix_at(w, 6, 6) == 0);
    CHECK(heed_attention_trace_ties(&l, 0, &first) == LION_TOKENS && first == 0);
    CHECK(heed_attention_trace_ties(&l, 2, &first) == 1 && first == 3);
    for (int i = 0; i < w->rows; i++) {
        double sum = 0;
        for (int j = 0; j < w->cols; j++) sum += heed_matrix_at(w, i, j);
        CHECK(sum == 1);
    }
    memset(l.hidden, 1, LION_TOKENS);
    heed_attention_trace_compute(&l);
    CHECK(heed_attention_trace_ties(&l, 4, &first) == 0);
    CHECK(heed_matrix_at(w, 4, 0) == 0 && heed_matrix_at(&l.part[HEED_TRACE_OUTPUT], 4, 0) == 0);
    heed_attention_trace_free(&l);
    CLOSE(c);
}

TEST(explain_a_head_without_keys_gives_zeros_and_no_gradient) {
    heed_ctx *c = heed_open(NULL);
    heed_attention_trace_args a = lion_args(lion_x);
    unsigned char hide[LION_TOKENS];
    memset(hide, 1, sizeof hide);
    a.hide = hide;
    heed_attention_trace l = make(c, a);
    heed_attention_trace_gradient g;
    CHECK(heed_attention_trace_backward(c, &l, lion_x, NULL, &g));
    for (int i = 0; i < LION_TOKENS * LION_FEATURES; i++) CHECK(g.part[HEED_TRACE_X].x[i] == 0);
    for (int i = 0; i < LION_TOKENS * LION_VALUE; i++) CHECK(l.part[HEED_TRACE_OUTPUT].x[i] == 0);
    heed_attention_trace_gradient_free(&g);
    heed_attention_trace_free(&l);
    CLOSE(c);
}

TEST(explain_refuses_sizes) {
    heed_ctx *c = heed_open(NULL);
    heed_attention_trace_args a = lion_args(lion_x);
    heed_attention_trace l;
    a.key = 0;
    CHECK(!heed_attention_trace_make(c, &a, &l));
    CHECK_HAS(heed_ctx_error(c), "W_Q");
    heed_attention_trace_free(&l);
    heed_clear(c);
    a = lion_args(lion_x);
    a.tokens = 1 << 20;
    CHECK(!heed_attention_trace_make(c, &a, &l));
    CHECK_HAS(heed_ctx_error(c), "found 1048576x10");
    heed_attention_trace_free(&l);
    heed_clear(c);
    heed_attention_trace_gradient g;
    l = make(c, lion_args(lion_x));
    CHECK(!heed_attention_trace_backward_layer(c, &l, lion_x, &g));
    CHECK_HAS(heed_ctx_error(c), "without W_h");
    heed_attention_trace_free(&l);
    heed_clear(c);
    a = lion_args(lion_x);
    a.width = LION_FEATURES - 1, a.w_h = a.gain = lion_x;
    CHECK(!heed_attention_trace_make(c, &a, &l));
    CHECK_HAS(heed_ctx_error(c), "10 columns of X, found 9");
    heed_attention_trace_free(&l);
    heed_clear(c);
    CLOSE(c);
}

static heed_tensor *input(heed_tape *t, const double *x, int rows, int cols) {
    heed_real copy[LION_TOKENS * LION_FEATURES];
    for (int i = 0; i < rows * cols; i++) copy[i] = (heed_real)x[i];
    return heed_input(t, copy, 3, (int[]){1, rows, cols});
}

/* The same head by the library's ops. */
TEST(explain_lion_is_the_attention_op) {
    heed_ctx *c = heed_open(NULL);
    heed_tape *t = heed_tape_new(c);
    heed_probe(t, "lion.weights", false);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *x = input(t, lion_x, LION_TOKENS, LION_FEATURES);
    heed_tensor *q = heed_matmul(t, x, input(t, lion_w_q, LION_FEATURES, LION_KEY));
    heed_tensor *k = heed_matmul(t, x, input(t, lion_w_k, LION_FEATURES, LION_KEY));
    heed_tensor *v = heed_matmul(t, x, input(t, lion_w_v, LION_FEATURES, LION_VALUE));
    heed_attention_args a = {.heads = 1, .key = LION_KEY, .value = LION_VALUE};
    heed_tensor *y = heed_attention(heed_name_scope(t, "lion"), q, k, v, NULL, NULL, &a);
    heed_tensor *w = heed_probe_find(t, "lion.weights");
    double tolerance = sizeof(heed_real) == sizeof(double) ? 1e-12 : 1e-5;
    CHECK(y && y->size == LION_TOKENS * LION_VALUE && w);
    const double *out = golden_numbers(NULL, "lesson.output", LION_TOKENS * LION_VALUE);
    const double *weights = golden_numbers(NULL, "lesson.weights", LION_TOKENS * LION_TOKENS);
    for (size_t i = 0; y && i < y->size; i++) CHECK_CLOSE(y->x[i], out[i], 4 * tolerance);
    for (size_t i = 0; w && i < w->size; i++) CHECK_CLOSE(w->x[i], weights[i], tolerance);
    CLOSE(c);
}
