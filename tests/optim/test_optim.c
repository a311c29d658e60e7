/* Optimizers against PyTorch's trajectories, and what they leave alone. */
#include "files.h"
#include "io/io.h"
#include "optim/optim.h"
#include "test.h"

#include "golden/optim.h"

static const double tolerance = sizeof(heed_real) == 8 ? 1e-10 : 2e-6;

typedef struct {
    heed_ctx *c;
    heed_params *s;
    heed_tape *t;
    heed_tensor *w, *b;
} pair;

static pair open_pair(void) {
    static const double w[] = {0.5, -1, 0.25, 2, 0, -0.75}, b[] = {1, -0.5};
    pair p = {.c = heed_open(NULL)};
    p.s = heed_params_new(p.c);
    p.t = heed_tape_new(p.c);
    p.w = heed_param_new(p.s, "w", "zero", 2, (int[]){2, 3});
    p.b = heed_param_new(p.s, "b", "zero", 1, (int[]){2});
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

static heed_optim *new_optim(const pair *p, const heed_optimizer *r, const char *settings) {
    heed_optim_args a = heed_optim_defaults(r);
    CHECK(heed__optim_read(p->c, &a, settings));
    return heed_optim_new(p->s, r, &a);
}

static void check_values(const pair *p, const char *name, const double *x) {
    for (int i = 0; i < 8; i++) {
        double ours = (double)(i < 6 ? p->w->x[i] : p->b->x[i - 6]);
        if (!(fabs(ours - x[i]) <= tolerance))
            test_fail(__FILE__, __LINE__, "%s, value %d: %.12g, expected %.12g", name, i, ours,
                      x[i]);
    }
}

TEST(optim_follows_pytorch) {
    for (size_t n = 0; n < sizeof trajectories / sizeof *trajectories; n++) {
        pair p = open_pair();
        double scale = trajectories[n].scale != 0 ? trajectories[n].scale : 1;
        if (trajectories[n].frozen) CHECK(heed_freeze(p.s, "w") == 1);
        if (trajectories[n].lr_scale != 0)
            heed_set_lr_scale(p.s, "b", (heed_real)trajectories[n].lr_scale);
        heed_optim *o = new_optim(&p, trajectories[n].optimizer, trajectories[n].settings);
        heed_schedule cosine = {.kind = HEED_SCHEDULE_COSINE, .steps = 10, .floor = (heed_real)0.1};
        for (int t = 0; t < 10; t++) {
            bool late = trajectories[n].late;
            if (!late || (t != 2 && t != 3 && t != 7)) give(&p, p.w, 0, t);
            if (!late || t >= 4) give(&p, p.b, 6, t);
            if (late && t == 5) { /* the slots go through a file */
                CHECK(heed_save(heed_optim_slots(o), in_folder("slots")));
                heed_optim_free(o);
                o = new_optim(&p, trajectories[n].optimizer, trajectories[n].settings);
                CHECK(heed_load(heed_optim_slots(o), in_folder("slots")));
            }
            double norm = heed_clip_grad_norm(o, (heed_real)trajectories[n].clip, (heed_real)scale);
            CHECK_CLOSE(norm, trajectories[n].norm[t], 3 * tolerance);
            heed_optim_step(o, trajectories[n].cosine ? heed_schedule_at(&cosine, t) : 1);
        }
        check_values(&p, trajectories[n].name, trajectories[n].x);
        CLOSE(p.c);
    }
}

TEST(optim_step_leaves_zero_gradients) {
    pair p = open_pair();
    heed_optim *o = new_optim(&p, &heed_adam, "lr=1");
    give_both(&p, 0);
    CHECK(heed_grad_norm(p.s) > 1);
    CHECK(heed_optim_step(o, 1));
    for (int i = 0; i < 6; i++) CHECK(p.w->g[i] == 0);
    CHECK(heed_grad_norm(p.s) == 0);
    CLOSE(p.c);
}

/* A parameter that this step gave no gradient stays as it is: no momentum, no decay. */
TEST(optim_step_moves_only_what_has_a_new_gradient) {
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++) {
        pair p = open_pair();
        heed_optim *o = new_optim(&p, *r, "lr=1 decay=0.1");
        give_both(&p, 0);
        CHECK(heed_optim_step(o, (heed_real)0.1));
        heed_real w[6], b[2];
        memcpy(w, p.w->x, sizeof w);
        memcpy(b, p.b->x, sizeof b);
        give(&p, p.b, 6, 1);
        CHECK(heed_optim_step(o, (heed_real)0.1));
        CHECK(memcmp(w, p.w->x, sizeof w) == 0 && p.b->x[0] != b[0] && p.b->x[1] != b[1]);
        memcpy(b, p.b->x, sizeof b);
        CHECK(heed_optim_step(o, (heed_real)0.1)); /* after no backward at all */
        CHECK(memcmp(w, p.w->x, sizeof w) == 0 && memcmp(b, p.b->x, sizeof b) == 0);
        CLOSE(p.c);
    }
}

/* What heed_clip_grad_norm found and set is of the next step alone: the one after it is as without
 * a clip. */
TEST(optim_clip_is_for_one_step) {
    pair p = open_pair(), q = open_pair();
    heed_optim *o = new_optim(&p, &heed_sgd, "lr=1");
    heed_optim *plain = new_optim(&q, &heed_sgd, "lr=1");
    give_both(&p, 0);
    heed_clip_grad_norm(o, (heed_real)0.01, (heed_real)0.5);
    CHECK(heed_optim_step(o, 1));
    memcpy(q.w->x, p.w->x, 6 * sizeof *p.w->x);
    memcpy(q.b->x, p.b->x, 2 * sizeof *p.b->x);
    give_both(&p, 1);
    give_both(&q, 1);
    CHECK(heed_optim_step(o, 1) && heed_optim_step(plain, 1));
    CHECK(memcmp(p.w->x, q.w->x, 6 * sizeof *p.w->x) == 0);
    CHECK(memcmp(p.b->x, q.b->x, 2 * sizeof *p.b->x) == 0);
    give_both(&p, 2);
    p.w->g[5] = (heed_real)NAN; /* nobody looked at these gradients but the step */
    CHECK(!heed_optim_step(o, 1) && heed_ctx_status(p.c) == HEED_DIVERGED);
    heed_close(p.c);
    CLOSE(q.c);
}

TEST(optim_refuses_gradients_that_are_not_finite) {
    for (int clipped = 0; clipped < 2; clipped++) {
        pair p = open_pair();
        heed_optim *o = new_optim(&p, &heed_adamw, "lr=1");
        give_both(&p, 0);
        p.b->g[1] = (heed_real)NAN;
        if (clipped) CHECK(!isfinite(heed_clip_grad_norm(o, 1, 1)));
        CHECK(!heed_optim_step(o, 1));
        CHECK(heed_ctx_status(p.c) == HEED_DIVERGED);
        CHECK_HAS(heed_ctx_error(p.c), "gradient is not finite: b at update 0");
        CHECK(p.w->x[0] == (heed_real)0.5);
        CHECK(p.b->x[0] == 1);
        heed_close(p.c);
    }
}

TEST(optim_ignores_frozen_gradients) {
    pair p = open_pair();
    heed_optim *o = new_optim(&p, &heed_sgd, "lr=1");
    give_both(&p, 0);
    p.w->g[0] = (heed_real)INFINITY;
    heed_freeze(p.s, "w");
    CHECK(isfinite(heed_grad_norm(p.s)));
    CHECK(heed_optim_step(o, 1));
    CHECK(p.w->x[0] == (heed_real)0.5);
    CHECK(p.b->x[0] != 1);
    CLOSE(p.c);
}

/* ---- the table ---- */

TEST_IN(optim_every_optimizer_on_its_cases, heed_open(NULL)) {
    int count = 0;
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++, count++) {
        heed_check k = heed_optim_check(c, *r);
        if (!(k.error >= 0 && k.error <= tolerance))
            test_fail(__FILE__, __LINE__, "%s: %g at %s %s", (*r)->name, k.error, k.worst,
                      heed_ctx_error(c));
        CHECK(k.cases >= 1 && (*r)->help);
        CHECK(heed_optimizer_named((*r)->name) == *r);
        CHECK(strstr(heed__optimizer_names, (*r)->name) != NULL);
    }
    CHECK(count >= 8);
    CHECK(!heed_optimizer_named("adamax") && !heed_optimizer_named(NULL));
}

/* An optimizer outside the library, by the formula alone; `wrong` is what its update forgets. */
static char wrong;
static heed_real memory[8];

static void own_update(const heed_optim_update *u, heed_real *x, heed_real *g,
                       heed_real *const *slots, size_t n) {
    heed_real *m = wrong == 's' ? memory + (n == 2 ? 6 : 0) : slots[0];
    for (size_t i = 0; i < n; i++) {
        heed_real d = (wrong == 'c' ? 1 : u->grad_scale) * g[i] + u->decay * x[i];
        m[i] = u->args->extra[0] * m[i] + d;
        x[i] -= u->lr * m[i];
        if (wrong != 'g') g[i] = 0;
    }
}

static const heed_optim_setting own_settings[] = {
    HEED_OPTIM_SETTING(lr, 1e-3, 0, INFINITY),
    HEED_OPTIM_SETTING(decay, 0, 0, INFINITY),
    {"friction", offsetof(heed_optim_args, extra[0]), 0.9, 0, 1},
    {0}};
static const heed_optim_case own_cases[] = {
    {"lr=0.05 friction=0.8",
     {0.0458337275098, -0.200986510507, 0.177914937965, 0.526926089273, -0.0463632481046,
      -0.0783730403386, 0.348338621397, -0.357988941728}},
    {0}};
static const heed_optimizer own = {.name = "own",
                                   .help = "momentum",
                                   .slots = {"v"},
                                   .settings = own_settings,
                                   .update = own_update,
                                   .cases = own_cases};

TEST(optim_check_finds_what_an_update_forgets) {
    heed_ctx *c = heed_open(NULL);
    for (const char *w = "ogcs"; *w; w++) {
        wrong = *w;
        memset(memory, 0, sizeof memory);
        double error = heed_optim_check(c, &own).error;
        /* Kept elsewhere, the memory of both problems is one: what it adds up to is wrong. */
        if (*w == 's') memory[0] = 1, error = heed_optim_check(c, &own).error;
        if (*w == 'o' ? !(error <= tolerance) : !(error > 1e-3))
            test_fail(__FILE__, __LINE__, "wrong '%c': %g", *w, error);
    }
    wrong = 0;
    heed_optimizer none = own;
    none.cases = NULL;
    CHECK(heed_optim_check(c, &none).error < 0);
    CHECK_HAS(heed_ctx_error(c), "own: it has no cases");
    heed_close(c);
}

TEST(optim_defined_outside_trains) {
    pair p = open_pair();
    heed_optim *o = new_optim(&p, &own, "lr=0.05 friction=0.8");
    for (int t = 0; t < 10; t++) {
        give_both(&p, t);
        CHECK(heed_optim_step(o, 1));
    }
    check_values(&p, "own", own_cases[0].x);
    CHECK(heed_params_find(heed_optim_slots(o), "own.v.w") != NULL);
    CLOSE(p.c);
}

TEST(optim_names_slots_after_parameters) {
    pair p = open_pair();
    heed_params *slots = heed_optim_slots(heed_optim_new(p.s, &heed_adamw, NULL));
    static const char *const names[] = {"adam.count", "adam.count_rounds", "adam.m.w",
                                        "adam.v.w",   "adam.missed.w",     "adam.m.b",
                                        "adam.v.b",   "adam.missed.b"};
    CHECK(heed_params_count(slots) == 8);
    for (int i = 0; i < 8; i++) CHECK(heed_params_find(slots, names[i]) != NULL);
    CHECK(heed_params_numel(slots) == 0);
    CLOSE(p.c);
}

static int64_t last_step;
static void step_update(const heed_optim_update *u, heed_real *x, heed_real *g,
                        heed_real *const *slots, size_t n) {
    (void)x, (void)slots;
    last_step = u->step;
    memset(g, 0, n * sizeof *g);
}

/* A float alone stops at 2^24. */
TEST(optim_counts_beyond_a_float) {
    heed_optimizer counting = own;
    counting.update = step_update;
    pair p = open_pair();
    heed_optim *o = new_optim(&p, &counting, "lr=0.05");
    heed_params *slots = heed_optim_slots(o);
    heed_params_find(slots, "own.count")->tensor->x[0] = (1 << 24) - 1;
    for (int t = 0; t < 3; t++) {
        give_both(&p, t);
        CHECK(heed_optim_step(o, 1));
        CHECK(last_step == (1 << 24) + t);
    }
    CHECK(heed_save(slots, in_folder("slots")));
    o = new_optim(&p, &counting, "lr=0.05");
    CHECK(heed_load(heed_optim_slots(o), in_folder("slots")));
    give_both(&p, 3);
    CHECK(heed_optim_step(o, 1) && last_step == (1 << 24) + 3);
    CLOSE(p.c);
}

/* A count in a file may be any number. */
TEST(optim_counts_on_from_what_is_no_count) {
    heed_optimizer counting = own;
    counting.update = step_update;
    const heed_real counts[] = {(heed_real)1e30, (heed_real)-1e30, (heed_real)NAN};
    for (int i = 0; i < 6; i++) {
        pair p = open_pair();
        heed_optim *o = new_optim(&p, &counting, "lr=0.05");
        heed_params_find(heed_optim_slots(o), i < 3 ? "own.count" : "own.missed.w")->tensor->x[0] =
            counts[i % 3];
        give_both(&p, 0);
        CHECK(heed_optim_step(o, 1) && last_step >= 1 && last_step <= 1 << 24);
        CLOSE(p.c);
    }
}

/* Below 2^24 updates a file is as earlier versions write and read it. */
TEST(optim_count_has_its_earlier_file) {
    pair p = open_pair();
    heed_optim *o = new_optim(&p, &own, "lr=0.05");
    heed_params *slots = heed_optim_slots(o);
    give_both(&p, 0);
    CHECK(heed_optim_step(o, 1) && heed_save(slots, in_folder("slots")));
    heed_safetensors *f = heed_safetensors_open(p.c, in_folder("slots"));
    CHECK(heed_safetensors_count(f) == 3 && !heed__safetensors_find(f, "own.count_rounds"));
    heed_params_find(slots, "own.count_rounds")->tensor->x[0] = 7;
    CHECK(heed_load(slots, in_folder("slots")));
    CHECK(heed_params_find(slots, "own.count")->tensor->x[0] == 1);
    CHECK(heed_params_find(slots, "own.count_rounds")->tensor->x[0] == 0);
    CLOSE(p.c);
}

TEST(optim_names_a_parameter_made_too_late) {
    pair p = open_pair();
    heed_optim *o = new_optim(&p, &heed_adam, "lr=1");
    heed_tensor *late = heed_param_new(p.s, "late", "one", 1, (int[]){2});
    give(&p, late, 0, 0);
    CHECK(!heed_optim_step(o, 1));
    CHECK_HAS(heed_ctx_error(p.c), "late");
    heed_close(p.c);
}

/* ---- settings ---- */

TEST(optim_defaults_are_pytorchs) {
    heed_optim_args a = heed_optim_defaults(&heed_adamw);
    CHECK(a.optimizer == &heed_adamw && a.lr == (heed_real)1e-3 && a.decay == (heed_real)0.01);
    CHECK(a.beta1 == (heed_real)0.9 && a.beta2 == (heed_real)0.999 && a.eps == (heed_real)1e-8);
    CHECK(isnan(a.momentum) && isnan(a.alpha) && isnan(a.extra[3]));
    CHECK(heed_optim_defaults(&heed_adam).decay == 0);
    CHECK(heed_optim_defaults(&heed_rmsprop).lr == (heed_real)0.01);
    CHECK(isnan(heed_optim_defaults(NULL).lr));
}

/* 0 is a value: momentum 0 is sgd, beta1 0 is Adam without momentum. */
TEST(optim_zero_is_a_value) {
    static const struct {
        const heed_optimizer *a, *b;
        const char *of_a, *of_b;
    } same[] = {{&heed_momentum, &heed_sgd, "lr=0.1 momentum=0", "lr=0.1"},
                {&heed_nesterov, &heed_sgd, "lr=0.1 momentum=0", "lr=0.1"},
                {&heed_adam, &heed_adamw, "lr=0.1 beta1=0 eps=0", "lr=0.1 beta1=0 eps=0 decay=0"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        pair p = open_pair(), q = open_pair();
        heed_optim *o = new_optim(&p, same[i].a, same[i].of_a);
        heed_optim *r = new_optim(&q, same[i].b, same[i].of_b);
        for (int t = 0; t < 3; t++) {
            give_both(&p, t);
            give_both(&q, t);
            CHECK(heed_optim_step(o, 1) && heed_optim_step(r, 1));
        }
        CHECK(p.w->x[0] != (heed_real)0.5);
        CHECK(memcmp(p.w->x, q.w->x, 6 * sizeof *p.w->x) == 0);
        CLOSE(p.c);
        CLOSE(q.c);
    }
    pair p = open_pair(); /* the first update of Adam is lr, whatever the gradient's size */
    heed_optim *o = new_optim(&p, &heed_adam, "lr=0.25 beta1=0 beta2=0 eps=0");
    give_both(&p, 0);
    CHECK(heed_optim_step(o, 1));
    CHECK_CLOSE(fabs((double)p.w->x[3] - 2), 0.25, 1e-6);
    CLOSE(p.c);
}

TEST(optim_refuses_wrong_settings) {
    static const struct {
        const heed_optimizer *r;
        const char *settings, *message;
    } bad[] = {{&heed_sgd, "lr=-1", "lr of sgd: expected a number of at least 0, found -1"},
               {&heed_adamw, "decay=-0.5", "decay of adamw"},
               {&heed_adamw, "beta1=1", "beta1 of adamw: expected at least 0 and below 1, found 1"},
               {&heed_adam, "beta2=1.5", "beta2 of adam"},
               {&heed_adam, "eps=-1e-8", "eps of adam"},
               {&heed_momentum, "momentum=1", "momentum of momentum"},
               {&heed_rmsprop, "alpha=-0.1", "alpha of rmsprop"},
               {&heed_lion, "beta2=1", "beta2 of lion"}};
    heed_ctx *c = heed_open(NULL);
    heed_params *s = heed_params_new(c);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        heed_optim_args a = heed_optim_defaults(bad[i].r);
        CHECK(heed__optim_read(c, &a, bad[i].settings));
        CHECK(!heed_optim_new(s, bad[i].r, &a));
        CHECK(heed_ctx_status(c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(c), bad[i].message);
        heed_clear(c);
    }
    const heed_real not_finite[] = {(heed_real)NAN, (heed_real)INFINITY};
    for (int i = 0; i < 2; i++) {
        heed_optim_args a = heed_optim_defaults(&heed_sgd);
        a.lr = not_finite[i];
        CHECK(!heed_optim_new(s, &heed_sgd, &a));
        heed_clear(c);
    }
    heed_close(c);
}

TEST(optim_refuses_settings_that_it_ignores_or_did_not_make) {
    heed_ctx *c = heed_open(NULL);
    heed_params *s = heed_params_new(c);
    heed_optim_args a = heed_optim_defaults(&heed_sgd);
    a.momentum = (heed_real)0.9;
    CHECK(!heed_optim_new(s, &heed_sgd, &a));
    CHECK_HAS(heed_ctx_error(c), "sgd has no momentum");
    heed_clear(c);
    a = heed_optim_defaults(&heed_lion);
    a.extra[3] = 0;
    CHECK(!heed_optim_new(s, &heed_lion, &a));
    CHECK_HAS(heed_ctx_error(c), "lion has no extra[3]");
    heed_clear(c);
    CHECK(!heed_optim_new(s, &heed_sgd, &(heed_optim_args){.lr = 1}));
    CHECK_HAS(heed_ctx_error(c), "not those of sgd");
    heed_clear(c);
    a = heed_optim_defaults(&heed_adam);
    CHECK(!heed_optim_new(s, &heed_adamw, &a));
    CHECK_HAS(heed_ctx_error(c), "not those of adamw: expected what heed_optim_defaults returns");
    heed_clear(c);
    CHECK(!heed_optim_new(s, NULL, NULL));
    CHECK_HAS(heed_ctx_error(c), "optimizer is incomplete: NULL");
    heed_close(c);
}

/* ---- lifetimes ---- */

TEST(optim_refuses_a_store_that_was_freed) {
    for (int which = 0; which < 2; which++) {
        pair p = open_pair();
        heed_optim *o = new_optim(&p, &heed_adamw, "lr=1");
        heed_optim *other = new_optim(&p, &heed_lion, "");
        give_both(&p, 0);
        heed_optim_free(other);
        heed_params_free(which ? heed_optim_slots(o) : p.s);
        CHECK(!heed_optim_step(o, 1));
        CHECK(heed_ctx_status(p.c) == HEED_USAGE);
        CHECK_HAS(heed_ctx_error(p.c), which ? "optimizer has lost its slots: adamw"
                                             : "optimizer has lost its parameters: adamw");
        heed_clear(p.c);
        CHECK(heed_clip_grad_norm(o, 1, 1) == 0);
        CHECK(heed_ctx_status(p.c) == HEED_USAGE);
        CHECK((heed_optim_slots(o) == NULL) == which);
        heed_clear(p.c);
        heed_optim_free(o);
        CLOSE(p.c);
    }
}

static double at(heed_schedule s, int64_t step) { return (double)heed_schedule_at(&s, step); }

TEST(schedule_warms_up_and_falls) {
    const heed_schedule_kind kinds[] = {HEED_SCHEDULE_CONSTANT, HEED_SCHEDULE_COSINE,
                                        HEED_SCHEDULE_LINEAR, HEED_SCHEDULE_INVSQRT};
    for (int i = 0; i < 4; i++) {
        heed_schedule s = {.kind = kinds[i], .steps = 110, .warmup = 10, .floor = (heed_real)0.1};
        CHECK_CLOSE(at(s, 0), 0.1, 1e-7);
        CHECK_CLOSE(at(s, 4), 0.5, 1e-7);
        CHECK_CLOSE(at(s, 9), 1, 1e-7);
    }
}

TEST(schedule_shapes) {
    heed_schedule cosine = {
        .kind = HEED_SCHEDULE_COSINE, .steps = 110, .warmup = 10, .floor = (heed_real)0.1};
    CHECK_CLOSE(at(cosine, 10), 1, 1e-7);
    CHECK_CLOSE(at(cosine, 60), 0.55, 1e-7);
    CHECK_CLOSE(at(cosine, 110), 0.1, 1e-7);
    CHECK_CLOSE(at(cosine, 500), 0.1, 1e-7);
    heed_schedule linear = cosine;
    linear.kind = HEED_SCHEDULE_LINEAR;
    CHECK_CLOSE(at(linear, 35), 1 - 0.9 / 4, 1e-7);
    CHECK_CLOSE(at(linear, 110), 0.1, 1e-7);
    heed_schedule root = {.kind = HEED_SCHEDULE_INVSQRT, .warmup = 4};
    CHECK_CLOSE(at(root, 3), 1, 1e-7);
    CHECK_CLOSE(at(root, 15), 0.5, 1e-7);
    CHECK_CLOSE(at((heed_schedule){.kind = HEED_SCHEDULE_INVSQRT}, 3), 0.5, 1e-7);
    heed_schedule steps = {.kind = HEED_SCHEDULE_STEP, .every = 3, .gamma = (heed_real)0.5};
    CHECK_CLOSE(at(steps, 2), 1, 1e-7);
    CHECK_CLOSE(at(steps, 3), 0.5, 1e-7);
    CHECK_CLOSE(at(steps, 8), 0.25, 1e-7);
    CHECK(at((heed_schedule){0}, 1000000) == 1);
    CHECK(heed_schedule_at(NULL, 3) == 1);
}

/* A schedule that is all warm-up ends at its floor, and says so at every later step. */
TEST(schedule_of_warmup_alone) {
    for (int steps = 0; steps <= 10; steps += 5)
        for (int kind = HEED_SCHEDULE_CONSTANT; kind <= HEED_SCHEDULE_INVSQRT; kind++) {
            heed_schedule s = {.kind = (heed_schedule_kind)kind,
                               .steps = steps,
                               .warmup = 10,
                               .every = 1000,
                               .floor = (heed_real)0.1};
            bool falls = kind == HEED_SCHEDULE_COSINE || kind == HEED_SCHEDULE_LINEAR;
            double end = falls ? 0.1 : kind == HEED_SCHEDULE_INVSQRT ? sqrt(10.0 / 11) : 1;
            CHECK_CLOSE(at(s, 9), 1, 1e-7);
            CHECK_CLOSE(at(s, 10), end, 1e-7);
            if (kind != HEED_SCHEDULE_INVSQRT) CHECK_CLOSE(at(s, 999), end, 1e-7);
        }
}
