/* rmsprop.c -- RMSProp: v = alpha v + (1 - alpha) d^2, x -= lr d / (sqrt(v) + eps), d = g + decay
 * x. Hinton 2012, lecture 6e. */
#include "optim/optim.h"

#include "kernels/kernels.h"

#include <math.h>

static void update(const heed_optim_update *u, heed_real *x, heed_real *g, heed_real *const *slots,
                   size_t n) {
    u->k->rmsprop(u->k, x, g, slots[0], NULL,
                  &(heed_update){.lr = u->lr,
                                 .decay = u->decay,
                                 .alpha = u->args->alpha,
                                 .eps = u->args->eps,
                                 .grad_scale = u->grad_scale},
                  n);
}

static const heed_optim_setting settings[] = {HEED_OPTIM_SETTING(lr, 1e-2, 0, INFINITY),
                                              HEED_OPTIM_SETTING(decay, 0, 0, INFINITY),
                                              HEED_OPTIM_SETTING(alpha, 0.99, 0, 1),
                                              HEED_OPTIM_SETTING(eps, 1e-8, 0, INFINITY),
                                              {0}};
static const heed_optim_case cases[] = {
    {"",
     {0.307721375812, -0.644838446192, 0.252461557244, 1.58883975774, -0.0296614977381,
      -0.454746031086, 0.784992659049, -0.548405753227}},
    {"decay=0.2 alpha=0.9 eps=1e-3",
     {0.417472559309, -0.862549078641, 0.243080860982, 1.84546863397, -0.0109308184977,
      -0.631741431353, 0.922091516899, -0.520072699264}},
    {0}};

const heed_optimizer heed_rmsprop = {
    .name = "rmsprop",
    .help = "v = alpha v + (1 - alpha) g^2; x -= lr g / (sqrt(v) + eps)",
    .slots = {"v"},
    .settings = settings,
    .update = update,
    .cases = cases};
