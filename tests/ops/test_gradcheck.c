/* Every op's backward against central differences, and that the check bites. In float the
 * differences themselves are good to a few digits only, so the bars are loose there: the double
 * build (make f64) is the one that decides. */
#include "fit/fit.h"
#include "test.h"

#include <pthread.h>

#ifdef HEED_F64
static const double bar = 1e-6, bar_of_store = 1e-6;
#else
static const double bar = 0.3, bar_of_store = 0.3;
#endif

/* Tensors of a few numbers: more threads would only wait for each other. */
static const heed_options one_thread = {.seed = 7, .threads = 1};

TEST(gradcheck_every_op) {
    heed_ctx *c = heed_open(&one_thread);
    int ops = 0, cases = 0;
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++, ops++) {
            heed_check r = heed_gradcheck(c, op);
            if (!(r.error >= 0 && r.error <= bar))
                test_fail(__FILE__, __LINE__, "%s: %g at %s %s", op->name, r.error, r.worst,
                          heed_ctx_error(c));
            CHECK(r.cases >= 2);
            cases += r.cases;
            heed_clear(c);
        }
    CHECK(ops >= 44);
    CHECK(cases >= 200);
    CLOSE(c);
}

#ifdef HEED_F64
/* What a spoilt op runs before it spoils: the op itself, by a copy with another backward. */
static const heed_op *original;

static heed_op with_backward(const heed_op *op, void (*backward)(heed_node *n)) {
    heed_op copy = *op;
    copy.backward = backward;
    original = op;
    return copy;
}

/* The error of the first of its cases that shows one above the bar: the others need not be run. */
static double error_above(heed_ctx *c, heed_op spoilt, double least) {
    double error = 0;
    for (const heed_case *k = spoilt.cases; k->shapes && !(error > least); k++) {
        const heed_case one[] = {*k, {0}};
        spoilt.cases = one;
        error = heed_gradcheck(c, &spoilt).error;
    }
    return error;
}

/* One percent less of every gradient. */
static void weaker(heed_node *n) {
    original->backward(n);
    for (int i = 0; i < n->inputs; i++) {
        heed_real *g = heed_grad(n, i);
        for (size_t e = 0; g && e < n->in[i]->size; e++) g[e] *= 0.99;
    }
}

TEST(gradcheck_finds_a_scaled_backward_of_every_op) {
    heed_ctx *c = heed_open(&one_thread);
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++) {
            double error = error_above(c, with_backward(op, weaker), 1e-3);
            if (!(error > 1e-3))
                test_fail(__FILE__, __LINE__, "%s: a backward scaled by 0.99 passed with %g",
                          op->name, error);
        }
    CLOSE(c);
}

/* The last element of every gradient is forgotten. */
static void shorter(heed_node *n) {
    original->backward(n);
    for (int i = 0; i < n->inputs; i++) {
        heed_real *g = heed_grad(n, i);
        if (g && n->in[i]->size) g[n->in[i]->size - 1] = 0;
    }
}

TEST(gradcheck_finds_a_forgotten_element_of_every_op) {
    heed_ctx *c = heed_open(&one_thread);
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++) {
            double error = error_above(c, with_backward(op, shorter), 1e-3);
            if (!(error > 1e-3))
                test_fail(__FILE__, __LINE__, "%s: a forgotten element passed with %g", op->name,
                          error);
        }
    CLOSE(c);
}

/* Gradients are written over those that other readers of the inputs, or an earlier pass, gave. */
static void replacing(heed_node *n) {
    for (int i = 0; i < n->inputs; i++) {
        heed_real *g = heed_grad(n, i);
        if (g) memset(g, 0, n->in[i]->size * sizeof *g);
    }
    original->backward(n);
}

TEST(gradcheck_finds_a_replaced_gradient_of_every_op) {
    heed_ctx *c = heed_open(&one_thread);
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++) {
            double error = error_above(c, with_backward(op, replacing), 1e-3);
            if (!(error > 1e-3))
                test_fail(__FILE__, __LINE__, "%s: a gradient that is replaced passed with %g",
                          op->name, error);
        }
    CLOSE(c);
}

/* Of a product the first factor's gradient alone. */
static void one_sided(heed_node *n) {
    heed_real *g = heed_grad(n, 1);
    original->backward(n);
    for (size_t e = 0; g && e < n->in[1]->size; e++) g[e] = 0;
}

/* softmax's backward without its second term: p gy instead of p (gy - sum p gy). */
static void dropped_term(heed_node *n) {
    heed_real *g = heed_grad(n, 0);
    for (size_t e = 0; g && e < n->y->size; e++) g[e] += n->y->x[e] * n->y->g[e];
}

TEST(gradcheck_finds_a_dropped_term) {
    heed_ctx *c = heed_open(&one_thread);
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++) {
            bool product = !strcmp(op->name, "matmul") || !strcmp(op->name, "mul");
            if (!product && strcmp(op->name, "softmax") != 0) continue;
            CHECK(error_above(c, with_backward(op, product ? one_sided : dropped_term), 1e-2) >
                  1e-2);
        }
    CLOSE(c);
}
#endif

static bool infer_like(heed_node *n) { return heed_op_output_like(n, 0); }
static void copy_forward(heed_node *n) {
    memcpy(n->y->x, n->in[0]->x, n->y->size * sizeof *n->y->x);
}

TEST(gradcheck_refuses_an_op_without_cases) {
    heed_ctx *c = heed_open(&one_thread);
    const heed_op none = {.name = "bare",
                          .inputs = "r",
                          .infer = infer_like,
                          .forward = copy_forward,
                          .backward = heed_view_backward};
    CHECK(heed_gradcheck(c, &none).error < 0);
    CHECK_HAS(heed_ctx_error(c), "bare: the op has no cases");
    heed_clear(c);
    const heed_case empty[] = {{0}};
    heed_op listed = none;
    listed.cases = empty;
    CHECK(heed_gradcheck(c, &listed).error < 0);
    heed_clear(c);
    CLOSE(c);
}

TEST(gradcheck_refuses_cases_that_cannot_be_read) {
    heed_ctx *c = heed_open(&one_thread);
    char endless[400]; /* "1x1x1..." */
    for (size_t i = 0; i < sizeof endless; i++) endless[i] = i % 2 ? 'x' : '1';
    endless[sizeof endless - 1] = 0;
    const char *const bad[] = {"2x", "q3", "i3", "i3:0", "2x3x4x5x6", "3 3", "-3", "3:4", endless};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const heed_case cases[] = {{.shapes = bad[i]}, {0}};
        const heed_op op = {.name = "bare",
                            .inputs = "r",
                            .infer = infer_like,
                            .forward = copy_forward,
                            .backward = heed_view_backward,
                            .cases = cases};
        CHECK(heed_gradcheck(c, &op).error < 0);
        CHECK_HAS(heed_ctx_error(c), "gradcheck of bare: case 0");
        heed_clear(c);
    }
    const heed_case crowd[] = {{.shapes = "300", .apart = true}, {0}};
    const heed_op op = {.name = "bare",
                        .inputs = "r",
                        .infer = infer_like,
                        .forward = copy_forward,
                        .backward = heed_view_backward,
                        .cases = crowd};
    CHECK(heed_gradcheck(c, &op).error < 0);
    CHECK_HAS(heed_ctx_error(c), "0.01 apart");
    heed_clear(c);
    CHECK(heed_gradcheck(NULL, &op).error < 0);
    CLOSE(c);
}

TEST(gradcheck_finds_a_backward_that_does_nothing) {
    heed_ctx *c = heed_open(&one_thread);
    const heed_case cases[] = {{.shapes = "3"}, {0}};
    const heed_op op = {.name = "idle",
                        .inputs = "r",
                        .infer = infer_like,
                        .forward = copy_forward,
                        .backward = heed_view_backward,
                        .cases = cases};
    CHECK_CLOSE(heed_gradcheck(c, &op).error, 1, 1e-9);
    CLOSE(c);
}

/* ---- a whole model ---- */

typedef struct {
    heed_tensor *table, *w, *b, *gain;
    bool wrong; /* the gradient of w does not see one use */
} toy;

static heed_tensor *toy_loss(void *user, heed_tape *t) {
    const toy *m = user;
    const int32_t ids[] = {1, 4, 2, 1, 0, 3}, labels[] = {2, 0, 1, -100, 2, 1};
    heed_tensor *x = heed_embed(t, m->table, heed_input_ids(t, ids, 1, (int[]){6}));
    x = heed_layer_norm(t, x, m->gain, NULL, (heed_real)1e-5);
    heed_tensor *w = m->wrong ? heed_stop_gradient(t, m->w) : m->w;
    x = heed_add(t, x, heed_affine_act(t, x, w, m->b, HEED_GELU));
    x = heed_dropout(heed_name_scope(t, "drop"), x, (heed_real)0.2);
    heed_tensor *logits = heed_matmul_nt(t, x, heed_slice(t, m->w, 0, 0, 3));
    return heed_xent(t, logits, heed_input_ids(t, labels, 1, (int[]){6}), NULL);
}

/* A shift of all logits changes no softmax: its gradient is rounding alone, which is measured
 * against the largest gradient of the store. */
static heed_tensor *shifted_loss(void *user, heed_tape *t) {
    heed_tensor *const *p = user;
    const int32_t labels[] = {2, 0, 1};
    heed_tensor *logits = heed_add(t, heed_mul(t, p[0], p[0]), p[1]);
    return heed_xent(t, logits, heed_input_ids(t, labels, 1, (int[]){3}), NULL);
}

TEST(gradcheck_of_a_gradient_that_vanishes) {
    heed_ctx *c = heed_open(&one_thread);
    heed_params *s = heed_params_new(c);
    heed_tensor *p[] = {heed_param_new(s, "x", "normal:1", 2, (int[]){3, 5}),
                        heed_param_new(s, "shift", "const:0.3", 1, (int[]){1})};
    heed_check r = heed_gradcheck_store(c, s, shifted_loss, p, 12);
    if (!(r.error >= 0 && r.error <= fmax(bar_of_store, 1e-3)))
        test_fail(__FILE__, __LINE__, "off by %g at %s", r.error, r.worst);
    CHECK(r.cases == 2);
    CLOSE(c);
}

TEST(gradcheck_of_a_store) {
    heed_ctx *c = heed_open(&one_thread);
    heed_params *s = heed_params_new(c);
    toy m = {heed_param_new(s, "table", "normal:0.5", 2, (int[]){9, 4}),
             heed_param_new(s, "w", "kaiming", 2, (int[]){4, 4}),
             heed_param_new(s, "b", "zero", 1, (int[]){4}),
             heed_param_new(s, "gain", "one", 1, (int[]){4}), false};
    heed_check r = heed_gradcheck_store(c, s, toy_loss, &m, 12);
    CHECK(r.error >= 0 && r.error <= bar_of_store);
    CHECK(r.cases == 4);
#ifdef HEED_F64
    m.wrong = true;
    r = heed_gradcheck_store(c, s, toy_loss, &m, 12);
    CHECK(r.error > 1e-2);
    CHECK(!strncmp(r.worst, "w, element ", 11));
#endif
    CHECK(m.w->g && m.w->g[0] == 0);
    CLOSE(c);
}

/* ---- layers ---- */

TEST(gradcheck_every_layer) {
    heed_ctx *c = heed_open(&one_thread);
    int layers = 0;
    for (const heed_layer_case *const *family = heed_layer_table(); *family; family++) {
        CHECK((*family)->name != NULL);
        for (const heed_layer_case *k = *family; k->name; k++, layers++) {
            heed_check r = heed_gradcheck_layer(c, k);
            if (!(r.error >= 0 && r.error <= bar_of_store))
                test_fail(__FILE__, __LINE__, "%s: %g at %s %s", k->name, r.error, r.worst,
                          heed_ctx_error(c));
            CHECK(r.cases >= 1);
            heed_clear(c);
        }
    }
    CHECK(layers >= 27);
    CLOSE(c);
}

/* A layer outside the library that forgets the gradient of one use of its weight. */
static void half_init(void *self, heed_params *s, const void *args) {
    (void)args;
    heed_linear_init(self, s, "half",
                     (heed_linear_args){.in = HEED_CASE_WIDTH, .out = HEED_CASE_WIDTH});
}
static heed_tensor *half_apply(const void *self, heed_tape *t, heed_tensor *x) {
    const heed_linear *l = self;
    return heed_affine(t, heed_linear_act(l, t, x, HEED_TANH), heed_stop_gradient(t, l->w), NULL);
}
static void failing_init(void *self, heed_params *s, const void *args) {
    (void)self, (void)args;
    heed_fail(heed_params_ctx(s), HEED_USAGE, "broken");
}

TEST(gradcheck_of_a_layer_outside) {
    heed_ctx *c = heed_open(&one_thread);
    const heed_layer_case half = {"half", sizeof(heed_linear), half_init, half_apply, NULL};
    heed_check r = heed_gradcheck_layer(c, &half);
    CHECK(r.error > 0.05 && r.cases == 3);
    CHECK(!strncmp(r.worst, "half.weight, element ", 21));
    const heed_layer_case failing = {"failing", 1, failing_init, half_apply, NULL};
    CHECK(heed_gradcheck_layer(c, &failing).error < 0);
    CHECK(heed_gradcheck_layer(NULL, &half).error < 0);
    heed_close(c);
}

/* ---- stack ---- */

static void *run_all_cases(void *data) {
    heed_ctx *c = data;
    heed_tape *memory = heed_tape_new(c);
    int runs = 0;
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++)
            for (int i = 0; op->cases && op->cases[i].shapes; i++) {
                heed_tensor *values[HEED__CASE_INPUTS + 1];
                runs += heed__case_run(c, op, i, memory, values) > 0;
            }
    CHECK(runs > 100);
    return NULL;
}

TEST(gradcheck_cases_need_half_a_megabyte_of_stack) {
    pthread_t thread;
    pthread_attr_t small;
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    pthread_attr_init(&small);
    CHECK(pthread_attr_setstacksize(&small, 512 << 10) == 0);
    CHECK(pthread_create(&thread, &small, run_all_cases, c) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
    CLOSE(c);
}
