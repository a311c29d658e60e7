/* Optimizer updates against the formulas of PyTorch's optimizers, three steps on end. */
#include "kernel_case.h"

typedef struct {
    char kind; /* s(gd), r(msprop), a(dam) */
    size_t n;
    double momentum;
    bool nesterov, decoupled;
    double decay;
} rule;

/* out: x, first slot, second slot, gradient left behind. */
static void run_rule(const heed_kernels *k, const void *args, heed_real *out) {
    const rule *r = args;
    size_t n = r->n;
    heed_real *start = kernel_numbers(20, n), *m = out + n, *v = out + 2 * n, *g = out + 3 * n;
    heed_real *slot = r->momentum > 0 ? m : NULL;
    memcpy(out, start, n * sizeof *out);
    for (int t = 1; t <= 3; t++) {
        heed_real *fresh = kernel_numbers(20 + (uint64_t)t, n);
        memcpy(g, fresh, n * sizeof *g);
        heed_update u = {.lr = (heed_real)0.1,
                         .beta1 = (heed_real)0.9,
                         .beta2 = (heed_real)0.99,
                         .eps = (heed_real)1e-3,
                         .decay = (heed_real)r->decay,
                         .momentum = (heed_real)r->momentum,
                         .alpha = (heed_real)0.9,
                         .correction1 = (heed_real)(1 - pow(0.9, t)),
                         .correction2 = (heed_real)(1 - pow(0.99, t)),
                         .grad_scale = (heed_real)0.5,
                         .nesterov = r->nesterov,
                         .decoupled = r->decoupled};
        if (r->kind == 's') k->sgd(k, out, g, slot, &u, n);
        if (r->kind == 'r') k->rmsprop(k, out, g, v, slot, &u, n);
        if (r->kind == 'a') k->adam(k, out, g, m, v, &u, n);
    }
}

static void step(const rule *r, int t, double g, double *x, double *m, double *v) {
    double lr = 0.1, d = 0.5 * g, mu = r->momentum;
    if (r->decoupled)
        *x -= lr * r->decay * *x;
    else
        d += r->decay * *x;
    if (r->kind == 'a') {
        *m = 0.9 * *m + 0.1 * d;
        *v = 0.99 * *v + 0.01 * d * d;
        *x -= lr / (1 - pow(0.9, t)) * *m / (sqrt(*v) / sqrt(1 - pow(0.99, t)) + 1e-3);
        return;
    }
    if (r->kind == 'r') {
        *v = 0.9 * *v + 0.1 * d * d;
        d = d / (sqrt(*v) + 1e-3);
    }
    if (mu > 0) {
        *m = mu * *m + d;
        d = r->nesterov ? d + mu * *m : *m;
    }
    *x -= lr * d;
}
static void want_rule(const void *args, double *out) {
    const rule *r = args;
    heed_real *start = kernel_numbers(20, r->n);
    for (size_t i = 0; i < r->n; i++) out[i] = (double)start[i];
    for (int t = 1; t <= 3; t++) {
        heed_real *g = kernel_numbers(20 + (uint64_t)t, r->n);
        for (size_t i = 0; i < r->n; i++)
            step(r, t, (double)g[i], out + i, out + r->n + i, out + 2 * r->n + i);
    }
}
TEST(kernels_updates_follow_their_formulas) {
    static const rule rules[] = {{.kind = 's', .n = 1},
                                 {.kind = 's', .n = 65, .decay = 0.1},
                                 {.kind = 's', .n = 30001, .momentum = 0.9, .decay = 0.1},
                                 {.kind = 's', .n = 17, .momentum = 0.9, .nesterov = true},
                                 {.kind = 'r', .n = 30001, .decay = 0.1},
                                 {.kind = 'r', .n = 65, .momentum = 0.5},
                                 {.kind = 'a', .n = 3},
                                 {.kind = 'a', .n = 65, .decay = 0.1},
                                 {.kind = 'a', .n = 30001, .decay = 0.1, .decoupled = true}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        kernel_check(&(kernel_case){"update", 4 * rules[i].n, run_rule, want_rule, &rules[i], 32});
}
