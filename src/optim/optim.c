/* optim.c -- an optimizer of a store: its slots, and one pass over each parameter. */
#include "optim/optim.h"

#include "core/profile.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

const heed_optimizer *heed_optimizer_named(const char *name) {
    for (const heed_optimizer *const *r = heed_optimizer_table(); name && *r; r++)
        if (strcmp((*r)->name, name) == 0) return *r;
    return NULL;
}

static void destroy(heed__owned *object) {
    heed_optim *o = (heed_optim *)object;
    heed__store_release(&o->params);
    heed__store_release(&o->slots);
    heed__free(o->of);
    heed__free(o);
}

static heed_tensor *slot(heed_store *s, const char *prefix, const char *which, const char *name,
                         const heed_tensor *like) {
    heed_scope(s, "%s", prefix);
    heed_scope(s, "%s", which);
    heed_tensor *y = heed_state_new(s, name, "zero", like->dims, like->shape);
    heed_unscope(s);
    heed_unscope(s);
    return y;
}

/* Makes "adam.count" and, for each trained parameter, slots of its shape: "adam.m.PARAMETER". */
static bool make_slots(heed_optim *o) {
    const heed_optimizer *r = o->optimizer;
    const char *prefix = r->prefix ? r->prefix : r->name;
    heed_store *s = o->slots.store;
    o->entries = heed_store_count(o->params.store);
    o->of = heed__alloc_array(o->c, (size_t)o->entries, sizeof *o->of);
    o->count = slot(s, prefix, "", "count", &(heed_tensor){.dims = 1, .shape = {1}});
    for (int i = 0; i < o->entries && !heed__stopped(o->c); i++) {
        const heed_entry *e = heed_store_at(o->params.store, i);
        for (int j = 0; j < HEED_OPTIM_SLOTS && (e->trained || e->thaw) && r->slots[j]; j++)
            o->of[i].at[j] = slot(s, prefix, r->slots[j], e->name, e->tensor);
    }
    return !heed__stopped(o->c);
}

heed_optim *heed_optim_new(heed_store *s, const heed_optimizer *r, const heed_optim_args *args) {
    heed_ctx *c = heed_store_ctx(s);
    heed_optim_args a = args ? *args : heed_optim_defaults(r);
    if (!s || heed__stopped(c) || !heed__optim_check_args(c, r, &a)) return NULL;
    heed_optim *o = heed__alloc(c, sizeof *o);
    if (!o) return NULL;
    *o = (heed_optim){.c = c, .optimizer = r, .args = a, .grad_scale = 1};
    heed__own(c, &o->owned, destroy);
    heed__store_refer(&o->params, s);
    heed_store *slots = heed_store_new(c);
    if (slots) heed__store_refer(&o->slots, slots);
    if (slots && make_slots(o)) return o;
    heed_optim_free(o);
    return NULL;
}

void heed_optim_free(heed_optim *o) {
    if (!o) return;
    heed_store_free(o->slots.store);
    heed__disown(o->c, &o->owned);
    destroy(&o->owned);
}

heed_store *heed_optim_slots(heed_optim *o) { return o ? o->slots.store : NULL; }

bool heed__optim_alive(const heed_optim *o) {
    return (o->params.store && o->slots.store) ||
           heed_fail(o->c, HEED_USAGE,
                     "optimizer has lost its %s: %s: the store was freed before the optimizer",
                     o->params.store ? "slots" : "parameters", o->optimizer->name);
}

/* Before any value changes, checks that an entry to be updated has slots and a finite gradient. */
static bool check_entry(const heed_optim *o, int i) {
    const heed_entry *e = heed_store_at(o->params.store, i);
    const heed_kernels *k = heed__kernels_of(o->c);
    if (!heed__has_gradient(e)) return true;
    if (i >= o->entries || (o->optimizer->slots[0] && !o->of[i].at[0]))
        return heed_fail(
            o->c, HEED_USAGE,
            "optimizer does not know %s: it was made, or unfrozen, after the optimizer", e->name);
    if (!o->finite && !isfinite(k->sum_squares(k, e->tensor->g, e->tensor->size)))
        return heed_fail(o->c, HEED_DIVERGED,
                         "gradient is not finite: %s at update %.0f; hint: a smaller `lr`, a "
                         "longer `warmup`, or `clip = 1`",
                         e->name, (double)o->count->x[0]);
    return true;
}

static void update_entry(heed_optim *o, int i, heed_real lr) {
    const heed_entry *e = heed_store_at(o->params.store, i);
    heed_real *slots[HEED_OPTIM_SLOTS] = {NULL};
    for (int j = 0; j < HEED_OPTIM_SLOTS && o->of[i].at[j]; j++) slots[j] = o->of[i].at[j]->x;
    o->optimizer->update(&(heed_optim_update){.args = &o->args,
                                              .step = (int64_t)o->count->x[0] - e->thaw,
                                              .lr = lr * e->lr_scale,
                                              .decay = e->decay ? o->args.decay : 0,
                                              .grad_scale = o->grad_scale,
                                              .k = heed__kernels_of(o->c)},
                         e->tensor->x, e->tensor->g, slots, e->tensor->size);
    e->tensor->touched = false;
}

/* What an update reads and writes: values, gradients and slots. */
static double bytes_of(const heed_optim *o) {
    int arrays = 2;
    for (int j = 0; j < HEED_OPTIM_SLOTS && o->optimizer->slots[j]; j++) arrays++;
    return 2.0 * arrays * (double)heed_store_params(o->params.store) * sizeof(heed_real);
}

bool heed_step(heed_optim *o, heed_real lr_scale) {
    if (!o || heed__stopped(o->c) || !heed__optim_alive(o)) return false;
    int n = heed_store_count(o->params.store);
    heed_profile *profile = heed__profile_of(o->c);
    heed__profile_phase(profile, HEED_PHASE_OPTIMIZER);
    heed__profile_begin(profile, o->optimizer->name, profile ? bytes_of(o) : 0);
    for (int i = 0; i < n; i++)
        if (!check_entry(o, i)) return false;
    o->count->x[0] += 1;
    for (int i = 0; i < n; i++)
        if (heed__has_gradient(heed_store_at(o->params.store, i)))
            update_entry(o, i, o->args.lr * lr_scale);
    heed__profile_end(profile);
    heed__profile_phase(profile, HEED_PHASE_OUTSIDE);
    heed__profile_step(profile);
    o->grad_scale = 1;
    o->finite = false;
    return true;
}
