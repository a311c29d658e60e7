/* sgd.c -- stochastic gradient descent: x -= lr d, d = g + decay x. */
#include "optim/optim.h"

#include "kernels/kernels.h"

#include <math.h>

void heed__sgd_update(const heed_optim_update *u, heed_real *x, heed_real *g,
                      heed_real *const *slots, size_t n) {
    (void)slots;
    u->k->sgd(u->k, x, g, NULL,
              &(heed_update){.lr = u->lr, .decay = u->decay, .grad_scale = u->grad_scale}, n);
}

const heed_optim_setting heed__sgd_settings[] = {
    HEED_OPTIM_SETTING(lr, 1e-3, 0, INFINITY), HEED_OPTIM_SETTING(decay, 0, 0, INFINITY), {0}};
const heed_optim_case heed__sgd_cases[] = {
    {"lr=0.1",
     {0.185894357513, -0.440147094496, 0.222291490223, 1.02017394352, -0.026919014498,
      -0.264816035855, 0.57818019295, -0.478307891034}},
    {"lr=0.1 decay=0.05",
     {0.17242820143, -0.412009264646, 0.213355226718, 0.961579697292, -0.0264393155503,
      -0.244816029869, 0.57818019295, -0.478307891034}},
    {0}};

const heed_optimizer heed_sgd = {.name = "sgd",
                                 .help = "x -= lr g",
                                 .settings = heed__sgd_settings,
                                 .update = heed__sgd_update,
                                 .cases = heed__sgd_cases};
