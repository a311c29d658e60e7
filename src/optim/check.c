/* check.c -- checks an optimizer on its cases: a small problem solved by another implementation. */
#include "optim/optim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { UPDATES = 10, W = 6, N = HEED_OPTIM_CASE };

typedef struct {
    heed_store *s;
    heed_tensor *of[2]; /* w and b */
    heed_optim *o;
} problem;

static heed_real *value(const problem *p, int i) { return &p->of[i >= W]->x[i % W]; }

static bool problem_new(problem *p, heed_ctx *c, const heed_optimizer *r, const char *settings) {
    static const double start[N] = {0.5, -1, 0.25, 2, 0, -0.75, 1, -0.5};
    heed_optim_args a = heed_optim_defaults(r);
    *p = (problem){.s = heed_store_new(c)};
    p->of[0] = heed_param(p->s, "w", "zero", 2, (int[]){2, 3});
    p->of[1] = heed_param(p->s, "b", "zero", 1, (int[]){2});
    if (heed__stopped(c) || !heed__optim_read(c, &a, settings)) return false;
    for (int i = 0; i < N; i++) *value(p, i) = (heed_real)start[i];
    for (int j = 0; j < 2; j++)
        p->of[j]->g = heed__alloc_array(c, p->of[j]->size, sizeof(heed_real));
    p->o = heed_optim_new(p->s, r, &a);
    return !heed__stopped(c);
}

static void problem_free(problem *p) {
    heed_optim_free(p->o);
    heed_store_free(p->s);
}

/* Gradients are doubled, and added to what the last update left. */
static void update(problem *p, int t) {
    for (int i = 0; i < N; i++) {
        double g = 0.5 * (double)*value(p, i) + cos(1.7 * i + 0.9 * t);
        p->of[i >= W]->g[i % W] += (heed_real)(2 * g);
        p->of[i >= W]->touched = true;
    }
    heed_clip(p->o, 0, (heed_real)0.5);
    heed_step(p->o, 1);
}

static void copy(heed_store *to, const heed_store *from) {
    for (int i = 0; i < heed_store_count(from); i++) {
        const heed_tensor *x = heed_store_at(from, i)->tensor;
        memcpy(heed_store_at(to, i)->tensor->x, x->x, x->size * sizeof *x->x);
    }
}

static void run_case(heed_ctx *c, const heed_optimizer *r, const heed_optim_case *k,
                     heed_check *check) {
    problem first, p;
    bool ok = problem_new(&first, c, r, k->settings);
    ok = problem_new(&p, c, r, k->settings) && ok; /* both are freed below */
    for (int t = 0; ok && t < UPDATES / 2; t++) update(&first, t);
    if (ok) copy(p.s, first.s);
    if (ok) copy(heed_optim_slots(p.o), heed_optim_slots(first.o));
    for (int t = UPDATES / 2; ok && t < UPDATES; t++) update(&p, t);
    for (int i = 0; ok && i < N; i++) {
        double error = fabs((double)*value(&p, i) - k->x[i]) / fmax(1, fabs(k->x[i]));
        if (error <= check->error) continue;
        check->error = isfinite(error) ? error : (double)INFINITY;
        snprintf(check->worst, sizeof check->worst, "%.70s, value %d", k->settings, i);
    }
    check->cases++;
    problem_free(&first);
    problem_free(&p);
}

heed_check heed_optim_check(heed_ctx *c, const heed_optimizer *r) {
    heed_check check = {.error = 0};
    if (!heed__stopped(c) && (!r || !r->cases || !r->cases[0].settings))
        heed_fail(c, HEED_USAGE, "check of optimizer %s: it has no cases",
                  r && r->name ? r->name : "NULL");
    for (const heed_optim_case *k = heed__stopped(c) ? NULL : r->cases; k && k->settings; k++)
        run_case(c, r, k, &check);
    if (heed__stopped(c)) check.error = -1;
    return check;
}
