/* Optimizers against PyTorch's trajectories, and what they leave alone. */
#include "test.h"

#include "golden/optim.h"

static const double tolerance = sizeof(heed_real) == 8 ? 1e-10 : 2e-6;

typedef struct {
    heed_ctx *c;
    heed_store *s;
    heed_tape *t;
    heed_tensor *w, *b;
} pair;

static pair open_pair(void) {
    static const double w[] = {0.5, -1, 0.25, 2, 0, -0.75}, b[] = {1, -0.5};
    pair p = {.c = heed_open(NULL)};
    p.s = heed_store_new(p.c);
    p.t = heed_tape_new(p.c);
    p.w = heed_param(p.s, "w", "zero", 2, (int[]){2, 3});
    p.b = heed_param(p.s, "b", "zero", 1, (int[]){2});
    for (int i = 0; i < 6; i++) p.w->x[i] = (heed_real)w[i];
    for (int i = 0; i < 2; i++) p.b->x[i] = (heed_real)b[i];
    return p;
}

/* Gives x the gradient 0.5 x_i + cos(1.7 i + 0.9 t), i from first, by way of the tape. */
static void give(const pair *p, heed_tensor *x, int first, int t) {
    heed_real gy[6];
    for (size_t j = 0; j < x->size; j++)
        gy[j] =
            (heed_real)(0.5 * (double)x->x[j] + cos(1.7 * (double)((size_t)first + j) + 0.9 * t));
    heed_tape_begin(p->t, HEED_TRAIN, (uint64_t)t);
    heed_tensor *y = heed_scale(p->t, x, 1, 0);
    if (x->wants_grad) heed_backward_from(p->t, y, gy);
}

static void give_both(const pair *p, int t) {
    give(p, p->w, 0, t);
    give(p, p->b, 6, t);
}

static void check_values(const pair *p, const char *name, int step, const double *x) {
    for (int i = 0; i < 8; i++) {
        double ours = (double)(i < 6 ? p->w->x[i] : p->b->x[i - 6]);
        if (!(fabs(ours - x[i]) <= tolerance))
            test_fail(__FILE__, __LINE__, "%s, step %d, value %d: %.12g, expected %.12g", name,
                      step, i, ours, x[i]);
    }
}

TEST(optim_follows_pytorch) {
    for (size_t n = 0; n < sizeof trajectories / sizeof *trajectories; n++) {
        pair p = open_pair();
        double scale = trajectories[n].scale != 0 ? trajectories[n].scale : 1;
        if (trajectories[n].frozen) CHECK(heed_freeze(p.s, "w") == 1);
        if (trajectories[n].lr_scale != 0)
            heed_set_lr_scale(p.s, "b", (heed_real)trajectories[n].lr_scale);
        heed_optim *o = heed_optim_new(p.s, trajectories[n].args);
        heed_schedule cosine = {.kind = HEED_COSINE, .steps = 10, .floor = (heed_real)0.1};
        for (int t = 0; t < 10; t++) {
            give_both(&p, t);
            double norm = heed_clip(o, (heed_real)trajectories[n].clip, (heed_real)scale);
            CHECK_CLOSE(norm, trajectories[n].norm[t], 3 * tolerance);
            heed_step(o, trajectories[n].cosine ? heed_schedule_at(&cosine, t) : 1);
            check_values(&p, trajectories[n].name, t, trajectories[n].x[t]);
        }
        CLOSE(p.c);
    }
}

TEST(optim_step_leaves_zero_gradients) {
    pair p = open_pair();
    heed_optim *o = heed_optim_new(p.s, (heed_optim_args){.kind = HEED_ADAM, .lr = 1});
    give_both(&p, 0);
    CHECK(heed_grad_norm(p.s) > 1);
    CHECK(heed_step(o, 1));
    for (int i = 0; i < 6; i++) CHECK(p.w->g[i] == 0);
    CHECK(heed_grad_norm(p.s) == 0);
    CLOSE(p.c);
}

/* A parameter that this step gave no gradient stays as it is: no momentum, no decay. */
TEST(optim_step_moves_only_what_has_a_new_gradient) {
    for (int kind = HEED_SGD; kind <= HEED_ADAMW; kind++) {
        pair p = open_pair();
        heed_optim_args args = {.kind = (heed_optim_kind)kind, .lr = 1, .decay = (heed_real)0.1};
        heed_optim *o = heed_optim_new(p.s, args);
        give_both(&p, 0);
        CHECK(heed_step(o, (heed_real)0.1));
        heed_real w[6], b[2];
        memcpy(w, p.w->x, sizeof w);
        memcpy(b, p.b->x, sizeof b);
        give(&p, p.b, 6, 1);
        CHECK(heed_step(o, (heed_real)0.1));
        CHECK(memcmp(w, p.w->x, sizeof w) == 0 && p.b->x[0] != b[0] && p.b->x[1] != b[1]);
        memcpy(b, p.b->x, sizeof b);
        CHECK(heed_step(o, (heed_real)0.1)); /* after no backward at all */
        CHECK(memcmp(w, p.w->x, sizeof w) == 0 && memcmp(b, p.b->x, sizeof b) == 0);
        CLOSE(p.c);
    }
}

/* What heed_clip found and set is of the next step alone: the one after it is as without a clip. */
TEST(optim_clip_is_for_one_step) {
    pair p = open_pair(), q = open_pair();
    heed_optim *o = heed_optim_new(p.s, (heed_optim_args){.kind = HEED_SGD, .lr = 1});
    heed_optim *plain = heed_optim_new(q.s, (heed_optim_args){.kind = HEED_SGD, .lr = 1});
    give_both(&p, 0);
    heed_clip(o, (heed_real)0.01, (heed_real)0.5);
    CHECK(heed_step(o, 1));
    memcpy(q.w->x, p.w->x, 6 * sizeof *p.w->x);
    memcpy(q.b->x, p.b->x, 2 * sizeof *p.b->x);
    give_both(&p, 1);
    give_both(&q, 1);
    CHECK(heed_step(o, 1) && heed_step(plain, 1));
    CHECK(memcmp(p.w->x, q.w->x, 6 * sizeof *p.w->x) == 0);
    CHECK(memcmp(p.b->x, q.b->x, 2 * sizeof *p.b->x) == 0);
    give_both(&p, 2);
    p.w->g[5] = (heed_real)NAN; /* nobody looked at these gradients but the step */
    CHECK(!heed_step(o, 1) && heed_ctx_status(p.c) == HEED_DIVERGED);
    heed_close(p.c);
    CLOSE(q.c);
}

TEST(optim_refuses_gradients_that_are_not_finite) {
    for (int clipped = 0; clipped < 2; clipped++) {
        pair p = open_pair();
        heed_optim *o = heed_optim_new(p.s, (heed_optim_args){.kind = HEED_ADAMW, .lr = 1});
        give_both(&p, 0);
        p.b->g[1] = (heed_real)NAN;
        if (clipped) CHECK(!isfinite(heed_clip(o, 1, 1)));
        CHECK(!heed_step(o, 1));
        CHECK(heed_ctx_status(p.c) == HEED_DIVERGED);
        CHECK_HAS(heed_ctx_error(p.c), "gradient is not finite: b at update 0");
        CHECK(p.w->x[0] == (heed_real)0.5);
        CHECK(p.b->x[0] == 1);
        heed_close(p.c);
    }
}

TEST(optim_ignores_frozen_gradients) {
    pair p = open_pair();
    heed_optim *o = heed_optim_new(p.s, (heed_optim_args){.kind = HEED_SGD, .lr = 1});
    give_both(&p, 0);
    p.w->g[0] = (heed_real)INFINITY;
    heed_freeze(p.s, "w");
    CHECK(isfinite(heed_grad_norm(p.s)));
    CHECK(heed_step(o, 1));
    CHECK(p.w->x[0] == (heed_real)0.5);
    CHECK(p.b->x[0] != 1);
    CLOSE(p.c);
}

/* Slots of the first optimizer, copied into a second one, go on as if nothing had happened. */
TEST(optim_slots_hold_all_its_state) {
    for (int kind = HEED_SGD; kind <= HEED_ADAMW; kind++) {
        heed_optim_args args = {.kind = (heed_optim_kind)kind, .lr = (heed_real)0.1};
        pair a = open_pair(), b = open_pair();
        heed_optim *o = heed_optim_new(a.s, args), *q = heed_optim_new(b.s, args);
        for (int t = 0; t < 3; t++) {
            give_both(&a, t);
            heed_step(o, 1);
        }
        heed_store *from = heed_optim_slots(o), *to = heed_optim_slots(q);
        CHECK(heed_store_count(from) == heed_store_count(to));
        for (int i = 0; i < heed_store_count(from); i++) {
            heed_tensor *x = heed_store_at(from, i)->tensor;
            memcpy(heed_store_at(to, i)->tensor->x, x->x, x->size * sizeof *x->x);
        }
        memcpy(b.w->x, a.w->x, a.w->size * sizeof *a.w->x);
        memcpy(b.b->x, a.b->x, a.b->size * sizeof *a.b->x);
        for (int t = 3; t < 6; t++) {
            give_both(&a, t);
            give_both(&b, t);
            heed_step(o, 1);
            heed_step(q, 1);
        }
        CHECK(memcmp(a.w->x, b.w->x, a.w->size * sizeof *a.w->x) == 0);
        CHECK(memcmp(a.b->x, b.b->x, a.b->size * sizeof *a.b->x) == 0);
        CLOSE(a.c);
        CLOSE(b.c);
    }
}

TEST(optim_names_slots_after_parameters) {
    pair p = open_pair();
    heed_store *slots =
        heed_optim_slots(heed_optim_new(p.s, (heed_optim_args){.kind = HEED_ADAMW}));
    static const char *const names[] = {"adam.count", "adam.m.w", "adam.v.w", "adam.m.b",
                                        "adam.v.b"};
    CHECK(heed_store_count(slots) == 5);
    for (int i = 0; i < 5; i++) CHECK(heed_store_find(slots, names[i]) != NULL);
    CHECK(heed_store_params(slots) == 0);
    CLOSE(p.c);
}

TEST(optim_names_a_parameter_made_too_late) {
    pair p = open_pair();
    heed_optim *o = heed_optim_new(p.s, (heed_optim_args){.kind = HEED_ADAM, .lr = 1});
    heed_tensor *late = heed_param(p.s, "late", "one", 1, (int[]){2});
    give(&p, late, 0, 0);
    CHECK(!heed_step(o, 1));
    CHECK_HAS(heed_ctx_error(p.c), "late");
    heed_close(p.c);
}

TEST(optim_refuses_wrong_rates_and_null) {
    heed_ctx *c = heed_open(NULL);
    heed_store *s = heed_store_new(c);
    CHECK(!heed_optim_new(s, (heed_optim_args){.lr = (heed_real)NAN}));
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    heed_clear(c);
    CHECK(!heed_optim_new(s, (heed_optim_args){.lr = 1, .decay = -1}));
    CHECK_HAS(heed_ctx_error(c), "--decay");
    CHECK(!heed_step(NULL, 1));
    CHECK(heed_clip(NULL, 1, 1) == 0);
    CHECK(heed_grad_norm(NULL) == 0);
    CHECK(!heed_optim_slots(NULL));
    heed_optim_free(NULL);
    heed_close(c);
}

TEST(optim_is_freed_before_its_context) {
    pair p = open_pair();
    heed_optim *o = heed_optim_new(p.s, (heed_optim_args){.kind = HEED_ADAM, .lr = 1});
    heed_optim_free(o);
    CLOSE(p.c);
}

static double at(heed_schedule s, int64_t step) { return (double)heed_schedule_at(&s, step); }

TEST(schedule_warms_up_and_falls) {
    const heed_schedule_kind kinds[] = {HEED_CONSTANT, HEED_COSINE, HEED_LINEAR, HEED_INVSQRT};
    for (int i = 0; i < 4; i++) {
        heed_schedule s = {.kind = kinds[i], .steps = 110, .warmup = 10, .floor = (heed_real)0.1};
        CHECK_CLOSE(at(s, 0), 0.1, 1e-7);
        CHECK_CLOSE(at(s, 4), 0.5, 1e-7);
        CHECK_CLOSE(at(s, 9), 1, 1e-7);
    }
}

TEST(schedule_shapes) {
    heed_schedule cosine = {
        .kind = HEED_COSINE, .steps = 110, .warmup = 10, .floor = (heed_real)0.1};
    CHECK_CLOSE(at(cosine, 10), 1, 1e-7);
    CHECK_CLOSE(at(cosine, 60), 0.55, 1e-7);
    CHECK_CLOSE(at(cosine, 110), 0.1, 1e-7);
    CHECK_CLOSE(at(cosine, 500), 0.1, 1e-7);
    heed_schedule linear = cosine;
    linear.kind = HEED_LINEAR;
    CHECK_CLOSE(at(linear, 35), 1 - 0.9 / 4, 1e-7);
    CHECK_CLOSE(at(linear, 110), 0.1, 1e-7);
    heed_schedule root = {.kind = HEED_INVSQRT, .warmup = 4};
    CHECK_CLOSE(at(root, 3), 1, 1e-7);
    CHECK_CLOSE(at(root, 15), 0.5, 1e-7);
    CHECK_CLOSE(at((heed_schedule){.kind = HEED_INVSQRT}, 3), 0.5, 1e-7);
    heed_schedule steps = {.kind = HEED_STEPS, .every = 3, .gamma = (heed_real)0.5};
    CHECK_CLOSE(at(steps, 2), 1, 1e-7);
    CHECK_CLOSE(at(steps, 3), 0.5, 1e-7);
    CHECK_CLOSE(at(steps, 8), 0.25, 1e-7);
    CHECK(at((heed_schedule){0}, 1000000) == 1);
    CHECK(heed_schedule_at(NULL, 3) == 1);
}

/* A schedule that is all warm-up ends at its floor, and says so at every later step. */
TEST(schedule_of_warmup_alone) {
    for (int steps = 0; steps <= 10; steps += 5)
        for (int kind = HEED_CONSTANT; kind <= HEED_INVSQRT; kind++) {
            heed_schedule s = {.kind = (heed_schedule_kind)kind,
                               .steps = steps,
                               .warmup = 10,
                               .every = 1000,
                               .floor = (heed_real)0.1};
            bool falls = kind == HEED_COSINE || kind == HEED_LINEAR;
            double end = falls ? 0.1 : kind == HEED_INVSQRT ? sqrt(10.0 / 11) : 1;
            CHECK_CLOSE(at(s, 9), 1, 1e-7);
            CHECK_CLOSE(at(s, 10), end, 1e-7);
            if (kind != HEED_INVSQRT) CHECK_CLOSE(at(s, 999), end, 1e-7);
        }
}
