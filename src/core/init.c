/* init.c -- initial values of parameters. */
#include "core/store.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static void fill(heed_tensor *t, double v) {
    for (size_t i = 0; i < t->size; i++) t->x[i] = (heed_real)v;
}

static void uniform(const heed_random *r, heed_tensor *t, double a) {
    for (size_t i = 0; i < t->size; i++)
        t->x[i] = (heed_real)(a * (2 * heed_random_uniform(r, i) - 1));
}

static void normal(const heed_random *r, heed_tensor *t, double deviation) {
    for (size_t i = 0; i < t->size; i++)
        t->x[i] = (heed_real)(deviation * heed_random_normal(r, i));
}

static double fan_in(const heed_tensor *t) { return (double)heed_extent(t, 1, t->dims); }

/* Convolutions (out, in, k..): the kernel's size multiplies both. */
static double fan_out(const heed_tensor *t) {
    return (double)heed_extent(t, 0, 1) * (double)heed_extent(t, 2, t->dims);
}

/* The number after "word:", if init has that form. Models format it with printf, so it may have the
 * locale's decimal point. */
static bool argument(const char *init, const char *word, double *v) {
    size_t n = strlen(word);
    char number[HEED__NUMBER];
    if (strncmp(init, word, n) != 0 || init[n] != ':') return false;
    if (strlen(init + n + 1) >= sizeof number) return false;
    char *point = strchr(strcpy(number, init + n + 1), *localeconv()->decimal_point);
    if (point) *point = '.';
    return heed__number(number, v);
}

bool heed__init(heed_ctx *c, heed_tensor *t, const char *init) {
    heed_random r = heed_random_at(heed_seed(c), t->name, 0, 0);
    double v = 0;
    if (!strcmp(init, "zero")) return true;
    if (!strcmp(init, "one"))
        fill(t, 1);
    else if (argument(init, "const", &v))
        fill(t, v);
    else if (argument(init, "normal", &v))
        normal(&r, t, v);
    else if (argument(init, "uniform", &v))
        uniform(&r, t, v);
    else if (argument(init, "kaiming", &v) && v > 0)
        uniform(&r, t, 1 / sqrt(v));
    else if (!strcmp(init, "kaiming"))
        uniform(&r, t, 1 / sqrt(fan_in(t)));
    else if (!strcmp(init, "xavier"))
        uniform(&r, t, sqrt(6 / (fan_in(t) + fan_out(t))));
    else
        return heed_fail(c, HEED_USAGE,
                         "initial value of %s is wrong: expected zero, one, const:V, "
                         "normal:S, uniform:A, kaiming[:N] or xavier, found \"%s\"",
                         t->name, init);
    return true;
}
