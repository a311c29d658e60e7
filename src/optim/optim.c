/* optim/optim.c -- gradient descent with momentum, RMSProp, Adam and AdamW: slots, and one fused
 * pass over each parameter. The formulas stand at heed_update in kernels.h. */
#include "optim/optim.h"

#include "kernels/kernels.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    const char *name;
    const char *slots[HEED__SLOTS];
    void (*update)(const heed_kernels *k, heed_tensor *x, const heed__slots *s,
                   const heed_update *u);
} kind;

static void sgd(const heed_kernels *k, heed_tensor *x, const heed__slots *s, const heed_update *u) {
    k->sgd(k, x->x, x->g, s->at[0] ? s->at[0]->x : NULL, u, x->size);
}

static void rmsprop(const heed_kernels *k, heed_tensor *x, const heed__slots *s,
                    const heed_update *u) {
    k->rmsprop(k, x->x, x->g, s->at[0]->x, NULL, u, x->size);
}

static void adam(const heed_kernels *k, heed_tensor *x, const heed__slots *s,
                 const heed_update *u) {
    k->adam(k, x->x, x->g, s->at[0]->x, s->at[1]->x, u, x->size);
}

static const kind kinds[] = {
    [HEED_SGD] = {"sgd", {NULL}, sgd},
    [HEED_MOMENTUM] = {"momentum", {"v"}, sgd},
    [HEED_RMSPROP] = {"rmsprop", {"v"}, rmsprop},
    [HEED_ADAM] = {"adam", {"m", "v"}, adam},
    [HEED_ADAMW] = {"adam", {"m", "v"}, adam},
};

static void destroy(heed__owned *object) {
    heed_optim *o = (heed_optim *)object;
    heed__free(o->of);
    heed__free(o);
}

/* A slot "adam.m.PARAMETER" of the parameter's shape. */
static heed_tensor *slot(heed_optim *o, const char *which, const heed_tensor *x) {
    heed_scope(o->slots, "%s.%s", kinds[o->args.kind].name, which);
    heed_tensor *y = heed_state_new(o->slots, x->name, "zero", x->dims, x->shape);
    heed_unscope(o->slots);
    return y;
}

static bool make_slots(heed_optim *o) {
    const kind *k = &kinds[o->args.kind];
    o->entries = heed_store_count(o->s);
    o->of = heed__alloc_array(o->c, (size_t)o->entries, sizeof *o->of);
    heed_scope(o->slots, "%s", k->name);
    o->count = heed_state_new(o->slots, "count", "zero", 1, (int[]){1});
    heed_unscope(o->slots);
    for (int i = 0; i < o->entries && !heed__stopped(o->c); i++) {
        const heed_entry *e = heed_store_at(o->s, i);
        for (int j = 0; j < HEED__SLOTS && e->trained && k->slots[j]; j++)
            o->of[i].at[j] = slot(o, k->slots[j], e->tensor);
    }
    return !heed__stopped(o->c);
}

static void set_default(heed_real *x, double value) {
    if (*x == 0) *x = (heed_real)value;
}

static bool check_args(heed_ctx *c, const heed_optim_args *a) {
    if ((unsigned)a->kind >= sizeof kinds / sizeof *kinds)
        return heed_fail(c, HEED_USAGE, "optimizer is unknown: expected 0 to %d, found %d",
                         HEED_ADAMW, (int)a->kind);
    if (!(a->lr >= 0) || !(a->decay >= 0) || !isfinite(a->lr) || !isfinite(a->decay))
        return heed_fail(c, HEED_USAGE,
                         "optimizer's rate is wrong: expected lr and decay of at least 0, found %g "
                         "and %g; hint: --lr, --decay",
                         (double)a->lr, (double)a->decay);
    return true;
}

heed_optim *heed_optim_new(heed_store *s, heed_optim_args a) {
    heed_ctx *c = heed_store_ctx(s);
    if (!s || heed__stopped(c) || !check_args(c, &a)) return NULL;
    heed_optim *o = heed__alloc(c, sizeof *o);
    if (!o) return NULL;
    set_default(&a.momentum, 0.9);
    set_default(&a.alpha, 0.99);
    set_default(&a.beta1, 0.9);
    set_default(&a.beta2, 0.999);
    set_default(&a.eps, 1e-8);
    o->c = c;
    o->s = s;
    o->args = a;
    o->grad_scale = 1;
    heed__own(c, &o->owned, destroy);
    o->slots = heed_store_new(c);
    if (o->slots && make_slots(o)) return o;
    heed_optim_free(o);
    return NULL;
}

void heed_optim_free(heed_optim *o) {
    if (!o) return;
    heed_store_free(o->slots);
    heed__disown(o->c, &o->owned);
    destroy(&o->owned);
}

heed_store *heed_optim_slots(heed_optim *o) { return o ? o->slots : NULL; }

/* Every entry to be updated must be known, and its gradient finite, before any value changes. */
static bool check_entry(const heed_optim *o, int i) {
    const heed_entry *e = heed_store_at(o->s, i);
    const heed_kernels *k = heed__kernels_of(o->c);
    if (!heed__has_gradient(e)) return true;
    if (i >= o->entries || (kinds[o->args.kind].slots[0] && !o->of[i].at[0]))
        return heed_fail(
            o->c, HEED_USAGE,
            "optimizer does not know %s: it was made, or unfrozen, after the optimizer", e->name);
    if (!o->finite && !isfinite(k->sum_squares(k, e->tensor->g, e->tensor->size)))
        return heed_fail(
            o->c, HEED_DIVERGED,
            "gradient is not finite: %s at update %.0f; hint: a smaller --lr, a longer "
            "--warmup, or --clip 1",
            e->name, (double)o->count->x[0]);
    return true;
}

static heed_update update_of(const heed_optim *o) {
    const heed_optim_args *a = &o->args;
    double t = (double)o->count->x[0];
    return (heed_update){.beta1 = a->beta1,
                         .beta2 = a->beta2,
                         .eps = a->eps,
                         .momentum = a->momentum,
                         .alpha = a->alpha,
                         .correction1 = (heed_real)(1 - pow((double)a->beta1, t)),
                         .correction2 = (heed_real)(1 - pow((double)a->beta2, t)),
                         .grad_scale = o->grad_scale,
                         .nesterov = a->nesterov,
                         .decoupled = a->kind == HEED_ADAMW};
}

bool heed_step(heed_optim *o, heed_real lr_scale) {
    if (!o || heed__stopped(o->c)) return false;
    int n = heed_store_count(o->s);
    for (int i = 0; i < n; i++)
        if (!check_entry(o, i)) return false;
    o->count->x[0] += 1;
    heed_update u = update_of(o);
    for (int i = 0; i < n; i++) {
        const heed_entry *e = heed_store_at(o->s, i);
        if (!heed__has_gradient(e)) continue;
        u.lr = o->args.lr * lr_scale * e->lr_scale;
        u.decay = e->decay ? o->args.decay : 0;
        kinds[o->args.kind].update(heed__kernels_of(o->c), e->tensor, &o->of[i], &u);
        e->tensor->touched = false;
    }
    o->grad_scale = 1;
    o->finite = false;
    return true;
}
