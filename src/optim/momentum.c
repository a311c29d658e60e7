/* momentum.c -- gradient descent with momentum: v = momentum v + d, x -= lr v, d = g + decay x.
 * Polyak 1964, in the form of PyTorch's SGD. */
#include "optim/optim.h"

#include "kernels/kernels.h"

#include <math.h>

void heed__momentum_update(const heed_optim_update *u, bool nesterov, heed_real *x, heed_real *g,
                           heed_real *v, size_t n) {
    u->k->sgd(u->k, x, g, v,
              &(heed_update){.lr = u->lr,
                             .decay = u->decay,
                             .momentum = u->args->momentum,
                             .grad_scale = u->grad_scale,
                             .nesterov = nesterov},
              n);
}

static void update(const heed_optim_update *u, heed_real *x, heed_real *g, heed_real *const *slots,
                   size_t n) {
    heed__momentum_update(u, false, x, g, slots[0], n);
}

/* The default of PyTorch's SGD is 0, which is plain sgd; 0.9 is the usual value. */
const heed_optim_setting heed__momentum_settings[] = {HEED_OPTIM_SETTING(lr, 1e-3, 0, INFINITY),
                                                      HEED_OPTIM_SETTING(decay, 0, 0, INFINITY),
                                                      HEED_OPTIM_SETTING(momentum, 0.9, 0, 1),
                                                      {0}};
static const heed_optim_case cases[] = {
    {"lr=0.05 momentum=0.8",
     {0.0458337275098, -0.200986510507, 0.177914937965, 0.526926089273, -0.0463632481046,
      -0.0783730403386, 0.348338621397, -0.357988941728}},
    {"lr=0.05 decay=0.1",
     {-0.114715535281, 0.138016364529, 0.104397518668, -0.11033148365, -0.0367152834693,
      0.183896599564, 0.147666946078, -0.328777475316}},
    {"lr=0.1 momentum=0",
     {0.185894357513, -0.440147094496, 0.222291490223, 1.02017394352, -0.026919014498,
      -0.264816035855, 0.57818019295, -0.478307891034}},
    {0}};

const heed_optimizer heed_momentum = {.name = "momentum",
                                      .help = "v = momentum v + g; x -= lr v",
                                      .slots = {"v"},
                                      .settings = heed__momentum_settings,
                                      .update = update,
                                      .cases = cases};
