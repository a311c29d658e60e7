/* nn/norm.c -- layer norm and batch norm with their parameters. */
#include "nn/nn.h"

void heed_norm_init(heed_norm *l, heed_store *s, const char *name, int width, heed_real eps,
                    bool bias) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    l->name = heed_scope(s, "%s", name);
    l->gain = heed_param(s, "weight", "one", 1, &width);
    l->bias = bias ? heed_param(s, "bias", "zero", 1, &width) : NULL;
    l->eps = eps;
    heed_unscope(s);
}

heed_tensor *heed_norm_apply(const heed_norm *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    return heed_layer_norm(heed_at(t, l->name), x, l->gain, l->bias, l->eps);
}

/* eps and momentum are PyTorch's. */
void heed_batchnorm_init(heed_batchnorm *l, heed_store *s, const char *name, int width) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    l->name = heed_scope(s, "%s", name);
    l->gain = heed_param(s, "weight", "one", 1, &width);
    l->bias = heed_param(s, "bias", "zero", 1, &width);
    l->mean = heed_state_new(s, "running_mean", "zero", 1, &width);
    l->var = heed_state_new(s, "running_var", "one", 1, &width);
    l->eps = (heed_real)1e-5;
    l->momentum = (heed_real)0.1;
    heed_unscope(s);
}

heed_tensor *heed_batchnorm_apply(const heed_batchnorm *l, heed_tape *t, heed_tensor *x) {
    if (!heed__layer_given(l, t)) return NULL;
    return heed_batch_norm(heed_at(t, l->name), x, l->gain, l->bias, l->mean, l->var, l->eps,
                           l->momentum);
}
