/* build.c -- the model of a training run, before and after it is tried. */
#include "core/core.h"
#include "core/store.h"
#include "fit/fit.h"

void heed__fit_unbuild(heed__fitting *f) {
    heed_optim_free(f->optim);
    heed_store_free(f->store);
    heed__free(f->self);
    f->optim = NULL;
    f->store = NULL;
    f->self = NULL;
}

/* Sets the parameters to those of a store of the same model. */
static void take_params(heed_store *s, const heed_store *from) {
    for (int i = 0; i < heed_store_count(s); i++) {
        heed_entry *e = heed_store_at(s, i);
        const heed_entry *known = heed_store_find(from, e->name);
        if (!e->state && known && heed_same_shape(known->tensor, e->tensor))
            heed__store_set(e, known->tensor);
    }
}

/* Initial values are drawn, except those that are known: of a checkpoint, which is read later, of
 * the run that this training starts from, or, if `tried` is not NULL, its own. */
static bool build(heed__fitting *f, const heed_store *tried) {
    const heed_model *m = f->a->model;
    bool all = !f->fresh || tried;
    f->store = heed_store_new(f->c);
    f->self = heed__alloc(f->c, m->size);
    if (!f->store || !f->self) return false;
    heed__store_expect(f->store, all || f->from, all || !f->from ? NULL : f->from->store);
    bool ok = heed_model_init(m, f->self, f->store, f->a->config);
    heed__store_expect(f->store, false, NULL);
    if (ok && tried) take_params(f->store, tried);
    ok = ok && heed__start_apply(f) && ((all && !tried) || heed__store_draw_all(f->store));
    if (!ok || !heed__lora_choose(f) || !heed__settings_apply(&f->set, f->store)) return false;
    f->optim = heed_optim_new(f->store, f->set.optim.optimizer, &f->set.optim);
    return !heed__stopped(f->c);
}

bool heed__fit_build(heed__fitting *f) { return build(f, NULL); }

bool heed__fit_build_again(heed__fitting *f) {
    heed_store *tried = f->store;
    heed__store_drop_grads(tried);
    f->store = NULL;
    heed__fit_unbuild(f);
    bool ok = build(f, tried);
    heed_store_free(tried);
    return ok;
}
