/* settings.c -- the settings of an optimizer: their defaults, names and ranges. */
#include "optim/optim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The fields of heed_optim_args that are settings, in order. */
static const char *const names[] = {"lr",  "decay",    "momentum", "alpha",    "beta1",   "beta2",
                                    "eps", "extra[0]", "extra[1]", "extra[2]", "extra[3]"};
enum { FIRST = offsetof(heed_optim_args, lr), COUNT = sizeof names / sizeof *names };

static heed_real *field(heed_optim_args *a, size_t at) { return (void *)((char *)a + at); }

heed_optim_args heed_optim_defaults(const heed_optimizer *r) {
    heed_optim_args a = {.optimizer = r};
    for (size_t i = 0; i < COUNT; i++) *field(&a, FIRST + i * sizeof(heed_real)) = (heed_real)NAN;
    for (const heed_optim_setting *s = r ? r->settings : NULL; s && s->name; s++)
        *field(&a, s->at) = (heed_real)s->value;
    return a;
}

heed_real *heed__optim_setting(heed_optim_args *a, const char *name) {
    const heed_optim_setting *s = a->optimizer ? a->optimizer->settings : NULL;
    while (s && s->name && strcmp(s->name, name) != 0) s++;
    return s && s->name ? field(a, s->at) : NULL;
}

bool heed__optim_read(heed_ctx *c, heed_optim_args *a, const char *text) {
    char name[32], number[32];
    int used = 0;
    for (; sscanf(text, " %31[^= ]=%31s%n", name, number, &used) == 2; text += used) {
        heed_real *setting = heed__optim_setting(a, name);
        double value;
        if (!setting || !heed__number(number, &value)) break;
        *setting = (heed_real)value;
    }
    return text[strspn(text, " ")] == 0 ||
           heed_fail(c, HEED_USAGE,
                     "settings of optimizer %s cannot be read: expected NAME=NUMBER ..., found %s",
                     a->optimizer->name, text);
}

static bool in_range(heed_ctx *c, heed_optim_args *a, const heed_optim_setting *s) {
    double value = (double)*field(a, s->at);
    if (value >= s->min && value < s->end) return true;
    if (s->end == (double)INFINITY)
        return heed_fail(c, HEED_USAGE,
                         "optimizer setting is out of range: %s of %s: expected a number of at "
                         "least %g, found %g",
                         s->name, a->optimizer->name, s->min, value);
    return heed_fail(c, HEED_USAGE,
                     "optimizer setting is out of range: %s of %s: expected at least %g and below "
                     "%g, found %g",
                     s->name, a->optimizer->name, s->min, s->end, value);
}

bool heed__optim_check_args(heed_ctx *c, const heed_optimizer *r, heed_optim_args *a) {
    if (!r || !r->name || !r->update || !r->settings)
        return heed_fail(c, HEED_USAGE,
                         "optimizer is incomplete: %s: expected a name, settings and an update",
                         r && r->name ? r->name : "NULL");
    if (a->optimizer != r)
        return heed_fail(c, HEED_USAGE,
                         "optimizer settings are not those of %s: expected what "
                         "heed_optim_defaults returns for it, found %s",
                         r->name, a->optimizer ? a->optimizer->name : "a struct made otherwise");
    bool used[COUNT] = {false};
    for (const heed_optim_setting *s = r->settings; s->name; s++) {
        used[(s->at - FIRST) / sizeof(heed_real)] = true;
        if (!in_range(c, a, s)) return false;
    }
    for (size_t i = 0; i < COUNT; i++)
        if (!used[i] && !isnan(*field(a, FIRST + i * sizeof(heed_real))))
            return heed_fail(c, HEED_USAGE,
                             "optimizer setting is not used: %s has no %s; hint: leave it as "
                             "heed_optim_defaults returns it",
                             r->name, names[i]);
    return true;
}
