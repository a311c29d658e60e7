/* adamw.c -- Adam with decoupled weight decay: x -= lr decay x, then Adam's update with the
 * gradient only. Loshchilov & Hutter 2019, alg. 2. */
#include "optim/optim.h"

#include <math.h>

static void update(const heed_optim_update *u, heed_real *x, heed_real *g, heed_real *const *slots,
                   size_t n) {
    heed__adam_update(u, true, x, g, slots, n);
}

static const heed_optim_setting settings[] = {
    HEED_OPTIM_SETTING(lr, 1e-3, 0, INFINITY),  HEED_OPTIM_SETTING(decay, 0.01, 0, INFINITY),
    HEED_OPTIM_SETTING(beta1, 0.9, 0, 1),       HEED_OPTIM_SETTING(beta2, 0.999, 0, 1),
    HEED_OPTIM_SETTING(eps, 1e-8, 0, INFINITY), {0}};
static const heed_optim_case cases[] = {
    {"lr=0.03 decay=0.1",
     {0.345343096201, -0.75576997183, 0.25951082462, 1.68603339137, -0.0346451312617,
      -0.535821177621, 0.863311230583, -0.538690659606}},
    {"lr=0.03 decay=0.1 beta2=0.99 eps=0.01",
     {0.346553129116, -0.757835244905, 0.259387338598, 1.68730537726, -0.0343001236451,
      -0.537438659088, 0.864117850749, -0.538045419258}},
    {0}};

const heed_optimizer heed_adamw = {.name = "adamw",
                                   .help = "Adam with decoupled weight decay",
                                   .prefix = "adam",
                                   .slots = {"m", "v"},
                                   .settings = settings,
                                   .update = update,
                                   .cases = cases};
