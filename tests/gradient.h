/* Gradients of a whole store against differences, for the double build. */
#ifndef HEED_TEST_GRADIENT_H
#define HEED_TEST_GRADIENT_H

#include "test.h"

typedef heed_tensor *(*gradient_loss)(void *self, heed_tape *t);

static double gradient_value(gradient_loss f, void *self, heed_tape *t) {
    heed_tape_begin(t, HEED_TRAIN, 4); /* always the same step: dropout draws alike */
    heed_tensor *loss = f(self, t);
    return loss ? (double)loss->x[0] : (double)NAN;
}

/* Five-point difference: exact for polynomials of degree four. */
static double gradient_difference(gradient_loss f, void *self, heed_tape *t, heed_real *x) {
    const heed_real h = (heed_real)1e-4, x0 = *x;
    double sum = 0;
    static const double weight[] = {1, -8, 8, -1};
    static const int place[] = {-2, -1, 1, 2};
    for (int i = 0; i < 4; i++) {
        *x = x0 + h * (heed_real)place[i];
        sum += weight[i] * gradient_value(f, self, t);
    }
    *x = x0;
    return sum / (12 * (double)h);
}

/* Largest |a - n| / max(|a|, |n|, 1e-3 max|g|) of one parameter. */
static double gradient_error(gradient_loss f, void *self, heed_tape *t, heed_tensor *p) {
    double top = 0, worst = 0;
    for (size_t i = 0; i < p->size; i++) top = fmax(top, fabs((double)p->g[i]));
    for (size_t i = 0; i < p->size; i++) {
        double a = (double)p->g[i], n = gradient_difference(f, self, t, &p->x[i]);
        double error = fabs(a - n) / fmax(fmax(fabs(a), fabs(n)), fmax(1e-3 * top, 1e-30));
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

/* Checks every parameter of s; each must get a gradient that is not zero. */
static void gradient_check(const char *what, heed_store *s, heed_tape *t, gradient_loss f,
                           void *self) {
    heed_zero_grads(s);
    heed_tape_begin(t, HEED_TRAIN, 4);
    heed_backward(t, f(self, t));
    for (int i = 0; i < heed_store_count(s); i++) {
        heed_entry *e = heed_store_at(s, i);
        if (e->state) continue;
        if (!e->tensor->g) {
            test_fail(__FILE__, __LINE__, "%s: %s has no gradient", what, e->name);
            continue;
        }
        double error = gradient_error(f, self, t, e->tensor);
        if (!(error <= 1e-6))
            test_fail(__FILE__, __LINE__, "%s: gradient of %s is off by %.3g", what, e->name,
                      error);
    }
}

#endif
