/* norm.c -- layer norm, RMS norm and batch norm with their parameters. */
#include "nn/nn.h"

void heed_norm_init(heed_norm *l, heed_params *s, const char *name, heed_norm_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
#define HAS_BIAS(kind, setting, has_bias, op) has_bias,
    static const bool has_bias[] = {HEED_NORMS(HAS_BIAS)};
    if ((size_t)a.kind >= sizeof has_bias / sizeof *has_bias) {
        memset(l, 0, sizeof *l);
        heed_fail(heed_params_ctx(s), HEED_USAGE, "kind of norm %s is wrong: found %d", name,
                  (int)a.kind);
        return;
    }
    bool bias = has_bias[a.kind] && !a.no_bias;
    l->name = heed_scope_push(s, "%s", name);
    l->args = a;
    l->gain = heed_param_new(s, "weight", "one", 1, &a.width);
    l->bias = bias ? heed_param_new(s, "bias", "zero", 1, &a.width) : NULL;
    heed_scope_pop(s);
}

heed_tensor *heed_norm_apply(const heed_norm *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    heed_tensor *gain = l->gain, *bias = l->bias;
    heed_real eps = l->args.eps;
    t = heed_name_scope(t, l->name);
#define APPLY(kind, setting, has_bias, op)                                                         \
    case kind:                                                                                     \
        return op;
    switch (l->args.kind) { HEED_NORMS(APPLY) }
    return NULL;
}

/* eps and momentum are PyTorch's. */
void heed_batchnorm_init(heed_batchnorm *l, heed_params *s, const char *name, int width) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    l->name = heed_scope_push(s, "%s", name);
    l->gain = heed_param_new(s, "weight", "one", 1, &width);
    l->bias = heed_param_new(s, "bias", "zero", 1, &width);
    l->mean = heed_buffer_new(s, "running_mean", "zero", 1, &width);
    l->var = heed_buffer_new(s, "running_var", "one", 1, &width);
    l->eps = (heed_real)1e-5;
    l->momentum = (heed_real)0.1;
    heed_scope_pop(s);
}

heed_tensor *heed_batchnorm_apply(const heed_batchnorm *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    return heed_batch_norm(heed_name_scope(t, l->name), x, l->gain, l->bias, l->mean, l->var,
                           l->eps, l->momentum);
}

/* ---- check cases ---- */

static void norm_init(void *self, heed_params *s, const void *args) {
    heed_norm_init(self, s, "norm", *(const heed_norm_args *)args);
}
static heed_tensor *norm_apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_norm_apply(self, t, x);
}

static void batch_init(void *self, heed_params *s, const void *args) {
    (void)args;
    heed_batchnorm_init(self, s, "batchnorm", HEED_CASE_WIDTH);
}
static heed_tensor *batch_apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_batchnorm_apply(self, t, x);
}

#define CASE(kind, setting, has_bias, op)                                                          \
    {&(setting " norm")[1], sizeof(heed_norm), norm_init, norm_apply,                              \
     &(const heed_norm_args){kind, HEED_CASE_WIDTH, (heed_real)1e-5, false}},
const heed_layer_case heed_layers_norm[] = {
    HEED_NORMS(CASE){"batch norm", sizeof(heed_batchnorm), batch_init, batch_apply, NULL}, {0}};
