/* lion.c -- Lion: x -= lr (sign(beta1 m + (1 - beta1) g) + decay x), m = beta2 m + (1 - beta2) g.
 * Chen et al. 2023, alg. 2. Every element moves by lr, so learning rates are 3 to 10 times lower
 * than AdamW's, and decay is higher by the same factor. */
#include "optim/optim.h"

#include "kernels/kernels.h"

#include <math.h>

static void update(const heed_optim_update *u, heed_real *restrict x, heed_real *restrict g,
                   heed_real *const *slots, size_t n) {
    const heed_real beta1 = u->args->beta1, beta2 = u->args->beta2;
    heed_real *restrict m = slots[0];
    for (size_t i = 0; i < n; i++) {
        heed_real d = u->grad_scale * g[i], c = beta1 * m[i] + (1 - beta1) * d;
        heed_real sign = (heed_real)((c > 0) - (c < 0));
        x[i] -= u->lr * (sign + u->decay * x[i]);
        m[i] = heed__kept(beta2 * m[i] + (1 - beta2) * d);
        g[i] = 0;
    }
}

static const heed_optim_setting settings[] = {HEED_OPTIM_SETTING(lr, 1e-4, 0, INFINITY),
                                              HEED_OPTIM_SETTING(decay, 0, 0, INFINITY),
                                              HEED_OPTIM_SETTING(beta1, 0.9, 0, 1),
                                              HEED_OPTIM_SETTING(beta2, 0.99, 0, 1),
                                              {0}};
/* Values from tests/golden/make_lion.py. */
static const heed_optim_case cases[] = {
    {"lr=0.02", {0.38, -0.84, 0.25, 1.8, -0.04, -0.63, 0.88, -0.54}},
    {"lr=0.05 beta1=0.7 beta2=0.9 decay=0.3",
     {0.14635250438, -0.39216524979, 0.214350809151, 1.25189569205, 0.000581801413322,
      -0.271366294287, 0.6, -0.6}},
    {"lr=0.02 beta1=0 beta2=0.5 decay=0.1",
     {0.411003945608, -0.901012512075, 0.245006029363, 1.80182947894, -0.0396422272453,
      -0.616207271557, 0.96, -0.54}},
    {0}};

const heed_optimizer heed_lion = {.name = "lion",
                                  .help = "steps of the size lr by the sign of the momentum",
                                  .slots = {"m"},
                                  .settings = settings,
                                  .update = update,
                                  .cases = cases};
