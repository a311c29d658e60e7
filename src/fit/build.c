/* build.c -- the model of a training run, before and after it is tried. */
#include "core/core.h"
#include "core/os.h"
#include "core/store.h"
#include "fit/fit.h"

#include <string.h>

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

/* Initial values of parameters that are expected are not drawn: they are those of `from` or, if it
 * is NULL, come later. */
static bool make_model(heed__fitting *f, bool expects, const heed_store *from) {
    f->store = heed_store_new(f->c);
    f->self = heed__alloc(f->c, f->a->model->size);
    if (!f->store || !f->self) return false;
    heed__store_expect(f->store, expects, from);
    bool ok = heed_model_init(f->a->model, f->self, f->store, f->a->config);
    heed__store_expect(f->store, false, NULL);
    return ok;
}

/* Initial values are drawn, except those that are known: of a checkpoint, which is read later, of
 * the run that this training starts from, or, if `tried` is not NULL, its own. */
static bool build(heed__fitting *f, const heed_store *tried) {
    bool all = !f->fresh || tried;
    bool ok = make_model(f, all || f->from, all || !f->from ? NULL : f->from->store);
    if (ok && tried) take_params(f->store, tried);
    ok = ok && heed__start_apply(f) && ((all && !tried) || heed__store_draw_all(f->store));
    if (!ok || !heed__lora_choose(f) || !heed__settings_apply(&f->set, f->store)) return false;
    f->optim = heed_optim_new(f->store, f->set.optim.optimizer, &f->set.optim);
    return !heed__stopped(f->c);
}

/* The least bytes of a step on blocks of a text, whose tokens become vectors. Other batches may be
 * short: 0. */
static double least_step(const heed__fitting *f) {
    const heed_config *k = f->a->config;
    if (!heed_config_has(k, "packing") || !heed_config_has(k, "width") ||
        strcmp(heed_config_text(k, "packing"), "lines") == 0)
        return 0;
    return sizeof(heed_real) * (double)(f->set.rows * heed_config_int(k, "block")) *
           (double)heed_config_int(k, "width");
}

/* The sizes alone, before any value is drawn, say whether weights, gradients and a step fit. What
 * is not trained has no gradients: then only the weights are counted. */
static bool check_memory(heed__fitting *f) {
    enum { LARGE = 20000000 };
    char count[32], bytes[32], all[32];
    bool ok = make_model(f, true, NULL);
    int64_t params = (int64_t)heed_store_params(f->store);
    double arrays = f->set.lora || *f->set.freeze ? 1 : 2, limit = (double)heed__os_memory_limit();
    double need = arrays * sizeof(heed_real) * (double)params, step = least_step(f);
    heed__fit_unbuild(f);
    heed_format_count(count, (uint64_t)params);
    if (ok && need + step > limit)
        return heed_fail(f->c, HEED_FAILED,
                         "training is too large: %s parameters and a step need at least %s of "
                         "memory, expected at most %s; hint: a smaller `batch` or `width` needs "
                         "less",
                         count, heed_format_bytes(bytes, need + step),
                         heed_format_bytes(all, limit));
    if (ok && params >= LARGE)
        heed_message(f->c, HEED_INFO,
                     "%s parameters need at least %s of memory; a step is tried to measure how "
                     "much more",
                     count, heed_format_bytes(bytes, need));
    return ok;
}

bool heed__fit_build(heed__fitting *f) { return check_memory(f) && build(f, NULL); }

bool heed__fit_build_again(heed__fitting *f) {
    heed_store *tried = f->store;
    heed__store_drop_grads(tried);
    f->store = NULL;
    heed__fit_unbuild(f);
    bool ok = build(f, tried);
    heed_store_free(tried);
    return ok;
}
