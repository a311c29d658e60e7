/* own_optim.c -- a custom optimizer, Adagrad, with the same abilities as the library's: settings,
 * slots in checkpoints, a check against known values. Duchi, Hazan & Singer 2011.
 *     cc own_optim.c $(pkg-config --cflags --libs heed) -lm -o own_optim */
#include <heed/heed.h>
#include <math.h>
#include <stdio.h>

/* v += g^2; x -= lr g / (sqrt(v) + eps) */
static void update(const heed_optim_update *u, heed_real *x, heed_real *g, heed_real *const *slots,
                   size_t n) {
    heed_real *v = slots[0];
    for (size_t i = 0; i < n; i++) {
        heed_real d = u->grad_scale * g[i] + u->decay * x[i];
        v[i] += d * d;
        x[i] -= u->lr * d / ((heed_real)sqrt((double)v[i]) + u->args->eps);
        g[i] = 0;
    }
}

static const heed_optim_setting settings[] = {HEED_OPTIM_SETTING(lr, 1e-2, 0, INFINITY),
                                              HEED_OPTIM_SETTING(decay, 0, 0, INFINITY),
                                              HEED_OPTIM_SETTING(eps, 1e-10, 0, INFINITY),
                                              {0}};
/* The values are those of torch.optim.Adagrad. */
static const heed_optim_case cases[] = {
    {"lr=0.05 decay=0.1",
     {0.390401788489, -0.808074019746, 0.246578294643, 1.784717471, -0.0166175583328,
      -0.588194022163, 0.887986643408, -0.529032014816}},
    {0}};
static const heed_optimizer adagrad = {.name = "adagrad",
                                       .help = "v += g^2; x -= lr g / (sqrt(v) + eps)",
                                       .slots = {"v"},
                                       .settings = settings,
                                       .update = update,
                                       .cases = cases};

int main(void) {
    heed_options options = {.seed = 1};
    const int shape[] = {3};
    heed_ctx *c = heed_open(&options);
    heed_params *s = heed_params_new(c);
    heed_tape *t = heed_tape_new(c);
    heed_tensor *x = heed_param_new(s, "x", "const:2", 1, shape);
    heed_optim_args args = heed_optim_defaults(&adagrad);
    args.lr = 0.5f;
    heed_optim *o = heed_optim_new(s, &adagrad, &args);
    double first = 0, last = 0;
    for (uint64_t step = 0; step < 50 && heed_ctx_status(c) == HEED_OK; step++) {
        heed_tape_begin(t, HEED_TRAIN, step);
        heed_tensor *loss = heed_sum(t, heed_mul(t, x, x));
        heed_backward(t, loss);
        last = loss ? (double)loss->x[0] : 0;
        if (step == 0) first = last;
        heed_optim_step(o, 1);
    }
    printf("sum of squares %.1f, after 50 updates %.1e\n", first, last);
    heed_check check = heed_optim_check(c, &adagrad);
    printf("check of %d case%s: largest difference %.0e\n", check.cases,
           check.cases == 1 ? "" : "s", check.error);
    if (heed_ctx_status(c) != HEED_OK) fprintf(stderr, "own_optim: %s\n", heed_ctx_error(c));
    bool ok = last < 0.01 * first && check.error >= 0 && check.error < 1e-5;
    heed_close(c);
    return ok ? 0 : 1;
}
