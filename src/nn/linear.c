/* linear.c -- dense layer y = act(x W' + b). */
#include "nn/nn.h"

#include <stdio.h>

void heed_linear_init(heed_linear *l, heed_params *s, const char *name, heed_linear_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    char fan_in[32];
    snprintf(fan_in, sizeof fan_in, "kaiming:%d", a.in);
    l->name = heed_scope_push(s, "%s", name);
    l->w = heed_param_new(s, "weight", a.init ? a.init : "kaiming", 2, (int[]){a.out, a.in});
    l->b = NULL;
    if (!a.no_bias) l->b = heed_param_new(s, "bias", a.init ? "zero" : fan_in, 1, (int[]){a.out});
    heed_scope_pop(s);
}

heed_tensor *heed_linear_apply(const heed_linear *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    return heed_affine(heed_name_scope(t, l->name), x, l->w, l->b);
}

heed_tensor *heed_linear_act(const heed_linear *l, heed_tape *t, heed_tensor *x, heed_act act) {
    if (!heed__layer_given(l, t)) return NULL;
    return heed_affine_act(heed_name_scope(t, l->name), x, l->w, l->b, act);
}

/* ---- check cases ---- */

static void init(void *self, heed_params *s, const void *args) {
    heed_linear_init(self, s, "linear", *(const heed_linear_args *)args);
}
static heed_tensor *apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_linear_act(self, t, x, HEED_GELU);
}

const heed_layer_case heed_layers_linear[] = {
    {"dense", sizeof(heed_linear), init, apply,
     &(const heed_linear_args){.in = HEED_CASE_WIDTH, .out = 5}},
    {0}};
