/* nesterov.c -- gradient descent with Nesterov's momentum: v = momentum v + d,
 * x -= lr (d + momentum v), d = g + decay x. Sutskever et al. 2013, sec. 2; in PyTorch's form. */
#include "optim/optim.h"

static void update(const heed_optim_update *u, heed_real *x, heed_real *g, heed_real *const *slots,
                   size_t n) {
    heed__momentum_update(u, true, x, g, slots[0], n);
}

static const heed_optim_case cases[] = {
    {"lr=0.05 decay=0.1 momentum=0.9",
     {-0.14813307595, 0.178418718757, 0.114528730552, -0.181181676525, -0.0486056090559,
      0.225120368255, 0.114376261363, -0.336431182633}},
    {0}};

const heed_optimizer heed_nesterov = {.name = "nesterov",
                                      .help = "v = momentum v + g; x -= lr (g + momentum v)",
                                      .prefix = "momentum",
                                      .slots = {"v"},
                                      .settings = heed__momentum_settings,
                                      .update = update,
                                      .cases = cases};
