/* Profiles: what they count, and that they change nothing. */
#include "core/profile.h"
#include "test.h"

enum { ROWS = 5, IN = 7, OUT = 3 };

typedef struct {
    heed_ctx *c;
    heed_params *s;
    heed_tape *t;
    heed_tensor *w, *b;
    heed_optim *o;
} trained;

static trained open_trained(void) {
    trained l = {.c = heed_open(&(heed_options){.seed = 3, .threads = 2})};
    heed_optim_args a = heed_optim_defaults(&heed_adamw);
    l.s = heed_params_new(l.c);
    l.t = heed_tape_new(l.c);
    l.w = heed_param_new(l.s, "w", "kaiming", 2, (int[]){OUT, IN});
    l.b = heed_param_new(l.s, "b", "zero", 1, (int[]){OUT});
    l.o = heed_optim_new(l.s, &heed_adamw, &a);
    return l;
}

static void train(const trained *l, int steps) {
    heed_real x[ROWS * IN];
    for (int i = 0; i < ROWS * IN; i++) x[i] = (heed_real)(i % 4) - 1;
    for (int i = 0; i < steps; i++) {
        heed_tape_begin(l->t, HEED_TRAIN, (uint64_t)i);
        heed_tensor *in = heed_want_grad(l->t, heed_input(l->t, x, 2, (int[]){ROWS, IN}));
        heed_tensor *y = heed_affine(l->t, in, l->w, l->b);
        heed_backward(l->t, heed_mean(l->t, y));
        heed_clip_grad_norm(l->o, 1, 1);
        heed_optim_step(l->o, 1);
    }
}

static heed_profile_row row_of(const heed_profile *p, const char *op, const char *product,
                               heed_phase phase) {
    const heed_profile_row *rows;
    for (int i = 0, n = heed_profile_rows(p, &rows); i < n; i++)
        if (rows[i].phase == phase && strcmp(rows[i].op, op) == 0 &&
            strcmp(rows[i].product ? rows[i].product : "", product) == 0)
            return rows[i];
    return (heed_profile_row){0};
}

TEST(profile_counts_ops_and_products) {
    trained l = open_trained();
    heed_profile *p = heed_profile_new(l.c);
    train(&l, 2);
    heed__profile_reset(p);
    train(&l, 3);
    CHECK(heed_profile_steps(p) == 3);
    heed_profile_row y = row_of(p, "affine", "forward", HEED_PHASE_FORWARD);
    heed_profile_row x = row_of(p, "affine", "dX", HEED_PHASE_BACKWARD);
    heed_profile_row w = row_of(p, "affine", "dW", HEED_PHASE_BACKWARD);
    heed_profile_row op = row_of(p, "affine", "", HEED_PHASE_BACKWARD);
    CHECK(y.calls == 3 && y.m == ROWS && y.n == OUT && y.k == IN);
    CHECK(x.calls == 3 && x.m == ROWS && x.n == IN && x.k == OUT);
    CHECK(w.calls == 3 && w.m == OUT && w.n == IN && w.k == ROWS);
    CHECK(y.flops == 3 * 2 * ROWS * IN * OUT);
    CHECK(op.calls == 3 && op.flops == x.flops + w.flops && op.seconds >= x.seconds + w.seconds);
    CHECK(op.bytes == 3 * sizeof(heed_real) * (ROWS * OUT + 2 * (ROWS * IN + OUT * IN + OUT)));
    CHECK(row_of(p, "clip", "", HEED_PHASE_OPTIMIZER).calls == 3);
    CHECK(row_of(p, "adamw", "", HEED_PHASE_OPTIMIZER).calls == 3);
    CHECK(heed_profile_seconds(p, HEED_PHASE_BACKWARD) >= op.seconds);
    CHECK(heed_profile_seconds(p, HEED_PHASE_FORWARD) > 0);
    CHECK(heed_profile_seconds(p, HEED_PHASES) == 0);
    CLOSE(l.c);
}

/* affine_xent computes gradients in the forward pass. */
TEST(profile_names_gradients_of_the_forward_pass) {
    trained l = open_trained();
    heed_profile *p = heed_profile_new(l.c);
    heed_real x[ROWS * IN] = {1};
    const int32_t labels[ROWS] = {0};
    heed_tape_begin(l.t, HEED_TRAIN, 0);
    heed_tensor *in = heed_want_grad(l.t, heed_input(l.t, x, 2, (int[]){ROWS, IN}));
    heed_affine_xent(l.t, in, l.w, l.b, heed_input_ids(l.t, labels, 1, (int[]){ROWS}), NULL);
    CHECK(row_of(p, "affine_xent", "forward", HEED_PHASE_FORWARD).n == OUT);
    CHECK(row_of(p, "affine_xent", "dX", HEED_PHASE_FORWARD).k == OUT);
    CHECK(row_of(p, "affine_xent", "dW", HEED_PHASE_FORWARD).m == OUT);
    CLOSE(l.c);
}

TEST(profile_changes_no_value) {
    trained plain = open_trained(), profiled = open_trained();
    heed_profile *p = heed_profile_new(profiled.c);
    train(&plain, 3);
    train(&profiled, 2);
    heed_profile_free(p);
    train(&profiled, 1);
    CHECK(memcmp(plain.w->x, profiled.w->x, OUT * IN * sizeof(heed_real)) == 0);
    CLOSE(plain.c);
    CLOSE(profiled.c);
}

TEST_IN(profile_leaves_the_precision_that_was_set_meanwhile,
        heed_open(&(heed_options){.seed = 1, .threads = 1})) {
    enum { SIZE = 64 };
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *w = heed_param_new(s, "w", "normal:1", 2, (int[]){SIZE, SIZE}), *y[2];
    heed_profile *p = heed_profile_new(c);
    if (!heed_set_precision(c, HEED_BF16)) heed_clear(c); /* not on this CPU: both are alike */
    heed_tape_begin(t, HEED_EVAL, 0);
    y[0] = heed_matmul(t, w, w);
    heed_profile_free(p);
    y[1] = heed_matmul(t, w, w);
    CHECK(y[0] && y[1] && memcmp(y[0]->x, y[1]->x, SIZE * SIZE * sizeof(heed_real)) == 0);
}

TEST_IN(profile_measures_regions, heed_open(&(heed_options){.threads = 2})) {
    enum { SIZE = 200 };
    heed_tape *t = heed_tape_new(c);
    heed_profile *p = heed_profile_new(c);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *x = heed_input(t, NULL, 2, (int[]){SIZE, SIZE});
    for (int i = 0; i < 20; i++) heed_matmul(t, x, x);
    heed_profile_row r = row_of(p, "matmul", "forward", HEED_PHASE_FORWARD);
    CHECK(r.calls == 20 && r.regions <= 20);
    CHECK(r.parallel <= r.seconds && r.uneven >= 0 && r.sync >= 0);
    CHECK(r.uneven + r.sync <= r.parallel);
#ifdef _OPENMP
    CHECK(r.regions > 0);
#endif
    CHECK(heed_peak_flops(c, 0) > 0);
}

TEST_IN(profile_is_attached_once, heed_open(NULL)) {
    heed_profile *p = heed_profile_new(c);
    CHECK(!heed_profile_new(c));
    CHECK_HAS(heed_ctx_error(c), "already attached");
    heed_clear(c);
    heed_profile_free(p);
    CHECK(heed_profile_new(c));
}
