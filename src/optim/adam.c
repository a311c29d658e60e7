/* adam.c -- Adam: m = beta1 m + (1 - beta1) d, v = beta2 v + (1 - beta2) d^2,
 * x -= lr m' / (sqrt(v') + eps), m' = m / (1 - beta1^t), v' = v / (1 - beta2^t), d = g + decay x.
 * Kingma & Ba 2015, alg. 1. */
#include "optim/optim.h"

#include "kernels/kernels.h"

#include <math.h>

void heed__adam_update(const heed_optim_update *u, bool decoupled, heed_real *x, heed_real *g,
                       heed_real *const *slots, size_t n) {
    double t = (double)u->step, beta1 = (double)u->args->beta1, beta2 = (double)u->args->beta2;
    u->k->adam(u->k, x, g, slots[0], slots[1],
               &(heed_update){.lr = u->lr,
                              .decay = u->decay,
                              .beta1 = u->args->beta1,
                              .beta2 = u->args->beta2,
                              .eps = u->args->eps,
                              .correction1 = (heed_real)(1 - pow(beta1, t)),
                              .correction2 = (heed_real)(1 - pow(beta2, t)),
                              .grad_scale = u->grad_scale,
                              .decoupled = decoupled},
               n);
}

static void update(const heed_optim_update *u, heed_real *x, heed_real *g, heed_real *const *slots,
                   size_t n) {
    heed__adam_update(u, false, x, g, slots, n);
}

static const heed_optim_setting settings[] = {
    HEED_OPTIM_SETTING(lr, 1e-3, 0, INFINITY),  HEED_OPTIM_SETTING(decay, 0, 0, INFINITY),
    HEED_OPTIM_SETTING(beta1, 0.9, 0, 1),       HEED_OPTIM_SETTING(beta2, 0.999, 0, 1),
    HEED_OPTIM_SETTING(eps, 1e-8, 0, INFINITY), {0}};
static const heed_optim_case cases[] = {
    {"lr=0.03",
     {0.357226133733, -0.781169145669, 0.267428481218, 1.74070954555, -0.03555333168,
      -0.554182386655, 0.863311230583, -0.538690659606}},
    {"lr=0.03 beta1=0.8 beta2=0.95 decay=0.2",
     {0.344960247659, -0.770487204727, 0.246560932243, 1.73160282812, -0.0316888704372,
      -0.545486588416, 0.866527435173, -0.527168148607}},
    {0}};

const heed_optimizer heed_adam = {.name = "adam",
                                  .help = "Adam; decay is added to the gradient",
                                  .slots = {"m", "v"},
                                  .settings = settings,
                                  .update = update,
                                  .cases = cases};
