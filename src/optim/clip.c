/* clip.c -- the global norm of the gradients, and clipping to a maximum norm. Pascanu et al. 2013,
 * alg. 1. */
#include "optim/optim.h"

#include "core/profile.h"
#include "kernels/kernels.h"

#include <math.h>

double heed_grad_norm(const heed_store *s) {
    double sum = 0;
    if (!s) return 0;
    const heed_kernels *k = heed__kernels_of(heed_store_ctx(s));
    for (int i = 0; i < heed_store_count(s); i++) {
        const heed_entry *e = heed_store_at(s, i);
        if (heed__has_gradient(e)) sum += k->sum_squares(k, e->tensor->g, e->tensor->size);
    }
    return sqrt(sum);
}

/* The same from the optimizer's pieces, with the same bits. */
static double norm_of(heed_optim *o) {
    double sum = 0;
    size_t piece = 0;
    heed__optim_squares(o);
    for (int i = 0; i < o->entries; i++) sum += heed__optim_entry_squares(o, i, &piece);
    return sqrt(sum);
}

/* 1e-6 as in PyTorch's clip_grad_norm_. */
double heed_clip(heed_optim *o, heed_real max, heed_real scale) {
    if (!o || heed__stopped(o->c) || !heed__optim_alive(o)) return 0;
    heed_profile *profile = heed__profile_of(o->c);
    heed__profile_phase(profile, HEED_PHASE_OPTIMIZER);
    heed__profile_begin(profile, "clip", (double)heed_store_params(o->params.store) * sizeof scale);
    double norm = norm_of(o) * fabs((double)scale);
    heed__profile_end(profile);
    heed__profile_phase(profile, HEED_PHASE_OUTSIDE);
    double factor = max > 0 ? (double)max / (norm + 1e-6) : 1;
    o->grad_scale = factor < 1 ? (heed_real)(factor * (double)scale) : scale;
    o->finite = isfinite(norm);
    return norm;
}
